"""The public record of a run: the keys of DESIGN section 6, in their order, absent = null."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from loopscan.bill import priced_as
from loopscan.episodes import Episode
from loopscan.fired import Fired
from loopscan.money import Checked, Money, Spent
from loopscan.report import Report, RunReport, dollars, iso
from loopscan.series import Series
from loopscan.skips import Skips
from loopscan.summary import figures
from loopscan.waste import wasted_by

SCHEMA = 1

Dollars = Callable[["int | None"], "float | None"]
"""Picodollars of a run as dollars; None where the run has no price."""


def record(report: RunReport) -> dict[str, Any]:
    """One run as a JSON object."""
    money, series, usd = report.money, report.series, _nothing if report.unpriced else dollars
    episodes = [_episode(e, series, usd) for e in report.episodes]
    first = next((e for e in episodes if e["rule"] == "period"), None)
    exits = [_fired(f, usd) for f in report.exits]
    return {
        "state": report.state,
        "state_source": report.state_source,
        "run": report.run,
        "session": report.session,
        "parent": report.parent,
        "source": report.source,
        "format": report.format,
        "model": report.model,
        "labels": report.labels,
        "started": iso(report.started),
        "ended": iso(report.ended),
        "turns": report.turns,
        "calls": report.calls,
        "verdict": report.verdict,
        "blind": report.blind,
        "no_progress": first and {**first},
        "episodes": episodes,
        "first_exit": exits[0] if exits else None,
        "exits": exits,
        "wasted": {
            "turns": report.wasted.turns,
            "input_tokens": report.wasted.input_tokens,
            "output_tokens": report.wasted.output_tokens,
            "usd": usd(report.wasted.usd),
            "history_tokens": report.wasted.history_tokens,
            "own_growth_tokens": report.wasted.own_growth_tokens,
        },
        "waiting": {"turns": report.waiting.turns, "usd": usd(report.waiting.usd)},
        "usage": _usage(money),
        "cost": _cost(report, money),
        "notes": report.notes,
    }


def _usage(money: Money) -> dict[str, Any]:
    """Tokens as recorded (or modelled), and what was estimated apart from them."""
    spent, guessed = money.spent, money.guessed
    estimated = bool(spent.usage_sources.get("estimated"))
    return {
        "sends": spent.sends,
        "input_tokens": spent.input,
        "cache_read_tokens": spent.cache_read,
        "cache_write_tokens": spent.cache_write,
        "cache_write_1h_tokens": spent.cache_write_1h,
        "output_tokens": spent.output,
        "source": _source(spent),
        "estimated_input_tokens": guessed.input if estimated else None,
        "estimated_output_tokens": (spent.output or 0) + guessed.more_output
        if guessed.placeholders
        else guessed.output
        if estimated
        else None,
        "placeholder_sends": guessed.placeholders,
    }


def _cost(report: RunReport, money: Money) -> dict[str, Any]:
    """Dollars, where they come from, and what is known of them beside."""
    spent, cold, children, usd = money.spent, money.cold, report.children, report.priced_usd
    return {
        "usd": dollars(usd),
        "price": max(spent.prices, key=spent.prices.__getitem__, default=None),
        "source": _source(spent),
        "unpriced_sends": spent.unpriced,
        "times_normal": report.times_normal,
        "priced_as": priced_as(money.bills),
        "estimated_usd": dollars(usd + money.guessed.more_usd)
        if money.guessed.placeholders and usd is not None
        else None,
        **stated(money.checked),
        "cold_sends": cold.sends,
        "cold_usd": None if usd is None else dollars(cold.usd),
        "children_usd": None if children is None else dollars(children.priced_usd),
        "total_usd": dollars(usd if children is None else report.total_usd),
    }


def stated(checked: Checked) -> dict[str, Any]:
    """The dollars that the log states, for how many sends, and what prices make of the same sends if all have one."""
    sends = checked.sends + checked.alone_sends
    return {
        "recorded_usd": dollars(checked.recorded + checked.alone) if sends else None,
        "recorded_sends": sends,
        "computed_usd": dollars(checked.computed) if sends and not checked.alone_sends else None,
    }


def _source(spent: Spent) -> str | None:
    """Where the tokens come from: the weakest source that was used."""
    sources = spent.usage_sources
    if len(sources) == 1:
        return next(iter(sources))
    return next((s for s in ("estimated", "modelled", "recorded") if sources.get(s)), None)


def _nothing(_: int | None) -> None:
    """The dollars of a run without a price."""


def _episode(episode: Episode, series: Series, usd: Dollars) -> dict[str, Any]:
    waste = wasted_by(episode, series)
    return {
        "turn": episode.turn,
        "period": episode.period,
        "copies": episode.copies,
        "rule": episode.rule,
        "first": episode.first,
        "last": episode.last,
        "left_at": episode.left_at if episode.left else None,
        "terminal": episode.terminal,
        "block": episode.block,
        "verdict": episode.verdict,
        "wasted_turns": waste.turns,
        "wasted_usd": usd(waste.usd),
    }


def _fired(fired: Fired, usd: Dollars) -> dict[str, Any]:
    return {
        "exit": fired.exit,
        "turn": fired.turn,
        "paid_sends": fired.paid_sends,
        "usd": usd(fired.usd),
        "saved_turns": fired.saved_turns,
        "saved_usd": usd(fired.saved_usd),
        "false_stop": fired.false_stop,
        "closing_usd": usd(fired.closing_usd),
        **({"rule": fired.rule} if fired.rule else {}),
    }


def skipped(skips: Skips) -> dict[str, Any]:
    """What was left out, counted."""
    return {
        "records": skips.total,
        "reasons": dict(skips.by_reason.most_common()),
        "files": dict(skips.by_file.most_common(100)),
        "unknown_types": dict(skips.unknown.most_common(100)),
        **({"files_without_runs": dict(skips.barren)} if skips.barren else {}),
        "copies": skips.copies,
        "reopened": skips.reopened,
    }


def document(report: Report) -> dict[str, Any]:
    """The whole scan as one JSON object."""
    return frame(report) | {"runs": [record(r) for r in report.runs]}


def frame(report: Report) -> dict[str, Any]:
    """The same without the records of its runs."""
    return {
        "schema": SCHEMA,
        "runs": [],
        "totals": report.totals() | figures(report),
        "skipped": skipped(report.skipped) | ({"unread_inputs": report.unread} if report.stopped else {}),
        "settings": report.settings,
    }
