"""`loopscan replay` for people: what each policy saves and stops, how two differ, the best caps."""

from __future__ import annotations

from fractions import Fraction
from typing import TextIO

from loopscan.best_cap import BestCap, best_caps
from loopscan.exits import Caps
from loopscan.render import Options
from loopscan.render._grid import Column, Grid
from loopscan.render._money import amount
from loopscan.render._summary import left_out
from loopscan.render._text import clean, folded, money, plural
from loopscan.replay import Played, Replay, flips, overlaps
from loopscan.report import Report

_NARROW = 110


def render(found: Replay, share: Fraction, report: Report, out: TextIO, options: Options) -> None:
    """Write the tables."""
    if not found.runs:
        out.write("\n".join(["no run found", *left_out(report)]) + "\n")
        return
    _lines([_title(found), ""], out, options)
    priced = any(not run.unpriced for run in found.runs)
    _policies(found, priced).write(out, options.width, options.color)
    _lines(["", *(f"{clean(p.policy.name)}: {exits(p)}" for p in found.played)], out, options)
    for part in (_stopped(found, options), _pairs(found, priced, options), _flipped(found, options)):
        _section(part, out, options)
    _section(_best(found, share, priced), out, options)
    rest = left_out(report)
    _lines(["", *rest] if rest else [], out, options)


def _lines(lines: list[str], out: TextIO, options: Options) -> None:
    out.writelines(part + "\n" for line in lines for part in folded(line, options.width) or [""])


_Part = tuple[str, Grid, int] | None
"""A heading, a table, and how many rows of it are not shown."""


def _section(part: _Part, out: TextIO, options: Options) -> None:
    if part is None:
        return
    heading, grid, more = part
    out.write(f"\n{heading}\n")
    grid.write(out, options.width, options.color)
    if more:
        out.write(f"… {more:,} more (--limit 0 shows all)\n")


def _title(found: Replay) -> str:
    runs = [found.runs[i] for i in found.failed]
    usd = sum(r.usd for r in runs)
    spent = f" ({amount(usd)})" if usd else ""
    text = f"{plural(len(found.runs), 'run')}: {len(found.healthy):,} healthy, {len(runs):,} failed"
    text += f", with {plural(sum(r.turns for r in runs), 'turn')}{spent} in those"
    if found.outcomes is None:
        return f"{text}; failed: not done, or stuck"
    rest = len(found.runs) - found.outcomes
    judged = f"{text}; failed: task not solved"
    return f"{judged}, or for {plural(rest, 'run')} without an outcome not done, or stuck" if rest else judged


def _policies(found: Replay, priced: bool) -> Grid:
    titles = [Column("policy", least=10), Column("failed stopped", right=True), Column("turns saved", right=True)]
    titles += [Column("saved", right=True)] if priced else []
    grid = Grid([*titles, Column("healthy stopped", right=True)])
    for played in found.played:
        saving, hits = played.saving(found.failed), len(played.stopped(found.healthy))
        row = [clean(played.policy.name), f"{saving.runs:,}", f"{saving.turns:,}"]
        row += [amount(saving.usd)] if priced else []
        share = f" ({hits / len(found.healthy):.1%})" if hits else ""
        grid.add([*row, f"{hits:,}{share}"], {len(row): "yellow"} if hits else {})
    return grid


def exits(played: Played) -> str:
    """The exits of a policy that are on."""
    parts, policy = [], played.policy
    if policy.detection is not None:
        watch = policy.detection
        parts += [f"window {watch.window} x{watch.copies}"] if watch.window else []
        parts += [f"repeat_limit {watch.repeat_limit}"] if watch.repeat_limit else []
        parts += ["exact"] if watch.exact else []
    auto = policy.caps
    asked = {"turn_cap": auto.turns, "token_cap": auto.tokens, "cost_cap": auto.usd, "time_cap": auto.seconds}
    for name, value in caps_of(played.caps).items():
        if value is not None:
            parts.append(f"{name} {cap_text(name, value)}{' (auto)' if asked[name] == 'auto' else ''}")
        elif asked[name] == "auto":
            parts.append(f"{name} off (auto)")
    return ", ".join(parts) or "none"


def caps_of(caps: Caps) -> dict[str, int | float | None]:
    """The caps by name."""
    return {"turn_cap": caps.turns, "token_cap": caps.tokens, "cost_cap": caps.usd, "time_cap": caps.seconds}


def cap_text(name: str, value: int | float) -> str:
    """A cap with its unit."""
    if name == "cost_cap":
        return money(int(value))
    return f"{value:,.0f} s" if name == "time_cap" else f"{value:,}"


def _stopped(found: Replay, options: Options) -> _Part:
    """The healthy runs that a policy stops, by name: by what, and at which turn."""
    rows = [i for i in found.healthy if any(played.stops[i] for played in found.played)]
    shown = rows[: options.limit] if options.limit else rows
    narrow = options.width is not None and options.width < _NARROW
    titles = [Column(clean(played.policy.name), least=6) for played in found.played]
    grid = Grid([Column("run", least=12), Column("turns", right=True), Column("verdict"), *titles])
    for i in shown:
        run, stops = found.runs[i], [played.stops[i] for played in found.played]
        cut = [f"{'' if narrow else stop.exit} @ {stop.turn:,}".strip() if stop else "-" for stop in stops]
        grid.add([clean(run.run), f"{run.turns:,}", run.verdict or "blind", *cut])
    heading = f"{plural(len(rows), 'healthy run')} stopped, by policy"
    return (heading, grid, len(rows) - len(shown)) if rows else None


def _pairs(found: Replay, priced: bool, options: Options) -> _Part:
    """What two policies stop alike, and what both would save."""
    titles = [Column("policies", least=16), *(Column(t, right=True) for t in ("both", "first only", "second only"))]
    titles += [Column("turns saved", right=True)] + ([Column("saved", right=True)] if priced else [])
    narrow = options.width is not None and options.width < _NARROW
    titles += [] if narrow else [Column(t, right=True) for t in ("healthy: both", "first", "second")]
    grid = Grid(titles)
    made = overlaps(found)
    for pair in made:
        row = [f"{clean(pair.one)} + {clean(pair.other)}", *(f"{n:,}" for n in pair.failed), f"{pair.together.turns:,}"]
        row += [amount(pair.together.usd)] if priced else []
        grid.add(row if narrow else [*row, *(f"{n:,}" for n in pair.healthy)])
    return ("failed runs stopped by two policies, and saved with both on", grid, 0) if made else None


def _flipped(found: Replay, options: Options) -> _Part:
    """Runs whose verdict depends on the detector."""
    rows = flips(found)
    shown = rows[: options.limit] if options.limit else rows
    grid = Grid([Column("run", least=12), Column("policy", least=10), Column("verdict"), Column("policy", least=10),
                 Column("verdict")])  # fmt: skip
    for flip in shown:
        one, other = (v or "blind" for v in flip.verdicts)
        grid.add([clean(flip.run.run), clean(flip.one), one, clean(flip.other), other])
    return ("verdicts that differ", grid, len(rows) - len(shown)) if rows else None


def _best(found: Replay, share: Fraction, priced: bool) -> _Part:
    caps = best_caps(found, share)
    if not caps:
        return None
    grid = Grid([Column("exit"), Column("smallest", right=True), Column("healthy stopped", right=True),
                 Column("failed stopped", right=True), Column("turns", right=True),
                 *([Column("saved", right=True)] if priced else []), Column("")])  # fmt: skip
    for i, cap in enumerate(caps):
        row = [
            cap.exit,
            cap_text(cap.exit, cap.value),
            f"{cap.hits:,}",
            f"{cap.saving.runs:,}",
            f"{cap.saving.turns:,}",
        ]
        row += [amount(cap.saving.usd)] if priced else []
        grid.add([*row, "<- most" if not i and _saves(cap) else ""], {} if i else {0: "bold"})
    limit = int(share * len(found.healthy))
    most = f"at most {float(share):.2%}".replace(".00%", "%")
    return (f"best caps that stop {most} ({limit:,} of {len(found.healthy):,}) of the healthy runs", grid, 0)


def _saves(cap: BestCap) -> bool:
    return cap.saving.turns > 0
