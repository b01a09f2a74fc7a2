"""The closing lines on money that every report for people ends with: where dollars come from, and what they lack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from loopscan.bill import Bill
from loopscan.money import CLOSING_OUTPUT, Checked, apart
from loopscan.render._text import cents, clean, money, plural
from loopscan.report import Report, RunReport

_USUAL = {"cache_read": "0.1x input", "cache_write": "1.25x input", "cache_write_1h": "2x input"}
FEES = "fees for web searches and other services are not in the sums"


def money_lines(report: Report) -> list[str]:
    """One line per kind, only where it says something."""
    runs = report.runs
    lines = [_basis(report), *(part(runs) for part in _PARTS)]
    return [line for line in lines if line]


def amount(usd: int) -> str:
    """To the cent, unless that would show nothing."""
    return money(usd) if 0 < abs(usd) < 10**10 else cents(usd)


def mark(*runs: RunReport) -> str:
    """`~` before a figure that was not measured in all of these runs."""
    told = (run.spent.usage_sources for run in runs if not run.plain)
    return "~" if any(source != "recorded" for sources in told for source in sources) else ""


def cost_cell(run: RunReport, narrow: bool = False) -> str:
    """What a run cost: `~` where it was not measured; in brackets with output placeholders estimated (not narrow)."""
    more = 0 if narrow or run.plain else run.money.guessed.more_usd
    est = f" (~{amount(run.usd + more)})" if more and amount(run.usd + more) != amount(run.usd) else ""
    return f"{mark(run)}{amount(run.usd)}{est}"


def _bills(runs: list[RunReport]) -> Iterator[Bill]:
    return (bill for run in runs for bill in run.money.bills)


def _basis(report: Report) -> str:
    sources: Counter[str] = Counter()
    for run in report.runs:
        for source, sends in run.spent.prices.items():
            sources[source] += sends
    if not sources:
        return ""
    day = report.settings.get("price_date", "run")
    at = {"run": "at each send's date", "today": "as of today"}.get(day, f"as of {day}")
    table = any(name.partition(":")[0] in ("builtin", "file", "live") for name in sources)
    stated = sources.pop("recorded", 0)
    names = ", ".join(clean(name, 60) for name, _ in sources.most_common())
    parts = [f"{names}{f' {at}' if table else ''}"] if names else []
    parts += [f"{plural(stated, 'send')} as the log states it"] if stated else []
    return f"prices: {', '.join(parts)}; {FEES}"


def _assumed(runs: list[RunReport]) -> str:
    """The classes that the price source does not state, where tokens of them were paid."""
    found = {
        (name, bill.price.source.startswith(("builtin", "live")))
        for bill in _bills(runs)
        if bill.price is not None
        for name in bill.price.assumed
        if getattr(bill, name)
    }
    words = [
        f"{name} {'like cache_write' if table else usual}"
        for name, usual in _USUAL.items()
        for table in (False, True)
        if (name, table) in found
    ]
    return f"assumed: {', '.join(words)}" if words else ""


def _checked(runs: list[RunReport]) -> str:
    total = Checked()
    told = [run.money.checked for run in runs if not run.plain]
    for checked in told:
        total.join(checked)
    if not total.sends:
        return ""
    words = apart(total) or "within 1%"
    off = sum(apart(checked) is not None for checked in told)
    more = f"; {plural(off, 'run')} over 1% apart, see notes" if off else ""
    return (
        f"check: the logs state {amount(total.recorded)} for {plural(total.sends, 'send')}, "
        f"computed {amount(total.computed)}: {words}{more}"
    )


def _guessed(runs: list[RunReport]) -> str:
    told = [run.money for run in runs if not run.plain]
    sends = {s: sum(m.spent.usage_sources.get(s, 0) for m in told) for s in ("modelled", "estimated")}
    if not any(sends.values()):
        return ""
    usd, baseless = sum(m.guessed.usd for m in told), sum(m.guessed.baseless for m in told)
    how = " and ".join(f"{plural(n, 'send')} {source}" for source, n in sends.items() if n)
    price = f" ~{amount(usd)}" if usd else ""
    lack = f"; {baseless:,} of them without the base, a lower bound (give --base)" if baseless else ""
    return f"not recorded:{price} for {how}{' from text' if sends['estimated'] else ''}{lack}"


def _placeholders(runs: list[RunReport]) -> str:
    guessed = [run.money.guessed for run in runs if not run.plain]
    sends = sum(g.placeholders for g in guessed)
    if not sends:
        return ""
    usd, more = sum(r.usd for r in runs), sum(g.more_usd for g in guessed)
    price = f": ~{amount(usd + more)} with it estimated, {amount(usd)} as recorded" if more else ""
    return f"output of {plural(sends, 'send')} is recorded as a placeholder{price}"


def _unpriced(runs: list[RunReport]) -> str:
    reasons: Counter[str] = Counter()
    for bill in _bills(runs):
        if bill.unpriced:
            reasons[_reason(bill)] += bill.unpriced
    if not reasons:
        return ""
    shown = ", ".join(f"{count:,} {reason}" for reason, count in reasons.most_common(5))
    more = f" and {len(reasons) - 5} more reasons" if len(reasons) > 5 else ""
    return f"unpriced sends: {shown}{more} (--prices FILE or --p-in and --p-out price them)"


def _reason(bill: Bill) -> str:
    if bill.price is not None:
        return f"of {clean(bill.model or 'no named model', 60)} without tokens"
    if not bill.model:
        return "without a model name"
    return f"of {clean(bill.model, 60)}"


def _closing(runs: list[RunReport]) -> str:
    known = any(fired.closing_usd is not None for run in runs for fired in run.exits)
    return f"closing: one last summary of {CLOSING_OUTPUT:,} tokens after the exit, beside its saving" if known else ""


def _cold(runs: list[RunReport]) -> str:
    cold = [run.money.cold for run in runs if not run.plain]
    sends = sum(c.sends for c in cold)
    if not sends:
        return ""
    kinds = (
        (sum(c.after_pause for c in cold), "after a pause over 5 minutes"),
        (sum(c.after_compaction for c in cold), "after a compaction"),
    )
    why = ", ".join(f"{n:,} {words}" for n, words in kinds if n)
    usd = sum(c.usd for c in cold)
    price = f" cost {amount(usd)} more than warm ones" if usd else ""
    return f"{plural(sends, 'cold send')}{f' ({why})' if why else ''}{price}"


def _children(runs: list[RunReport]) -> str:
    below = [run for run in runs if run.parent is not None]
    usd = sum(run.usd for run in below)
    return f"sub-agents: {amount(usd)} of it in {plural(len(below), 'run')} that others started" if usd else ""


_PARTS = (_assumed, _checked, _guessed, _placeholders, _unpriced, _closing, _cold, _children)
