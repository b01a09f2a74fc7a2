"""`loopscan history` for people (a column per week, or a row per group), as JSON and as CSV."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TextIO

from loopscan.model import STATES
from loopscan.render import Options
from loopscan.render._grid import Column, Grid, cells
from loopscan.render._history_rows import COLUMNS, SEEN, flat, rows
from loopscan.render._money import amount
from loopscan.render._spark import spark
from loopscan.render._text import clean, plural, short
from loopscan.render.csv import cell
from loopscan.render.jsonl import dumps
from loopscan.weeks import History, Tally

SCHEMA: Final = 1
_NARROW: Final = 110
_BAD: Final = ("stuck", "suspect", "error", "context_full")
_ALWAYS: Final = ("stuck", "suspect", "recovered")


def render(found: History, zone: str, form: str, out: TextIO, options: Options) -> None:
    """Write the weeks as `form`: table, json or csv."""
    if form == "json":
        document = {"schema": SCHEMA, "by": found.by, "tz": zone, "weeks": list(rows(found)), "untimed": found.untimed}
        document["outside"] = found.outside
        out.write(dumps(document, indent=True) + "\n")
    elif form == "csv":
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([cell(row[name]) for name in COLUMNS] for row in map(flat, rows(found)))
    elif not found.weeks:
        out.write("no run in the store yet\n")
    else:
        _title(found, zone, out)
        (_by_week if found.by is None else _by_group)(found, out, options)
        _notes(found, out)


def _title(found: History, zone: str, out: TextIO) -> None:
    by = "" if found.by is None else f" by {clean(found.by)}"
    last, text = found.last, f"{plural(len(found.weeks), 'week')} to {found.weeks[-1].name}{by}, days of {clean(zone)}"
    if last:
        text += f"; change: {found.weeks[last].name} against {found.weeks[last - 1].name}"
    out.write(text + "\n\n")


@dataclass(slots=True, frozen=True)
class _Row:
    """A figure of every week. `value`: how one is written. `bad`: more of it is worse."""

    title: str
    figure: Callable[[Tally], int]
    value: Callable[[int], str] = "{:,}".format
    bad: bool = False

    def cells(self, tallies: Sequence[Tally], last: int) -> list[str]:
        """The title, the weeks, the change and the course."""
        values = [self.figure(t) for t in tallies]
        change = (self.change(values, last) or "=") if last else "-"
        return [self.title, *map(self.value, values), change, spark(values)]

    def change(self, values: Sequence[int], last: int) -> str:
        """The last whole week less the one before, nothing where they are equal."""
        more = values[last] - values[last - 1] if last else 0
        if not more:
            return ""
        return ("+" if more > 0 else "-") + self.value(abs(more))

    def style(self, values: Sequence[int], last: int) -> str:
        """Red where what is bad grew, green where it fell."""
        if not self.bad or not last or values[last] == values[last - 1]:
            return ""
        return "red" if values[last] > values[last - 1] else "green"


def _ended(state: str) -> Callable[[Tally], int]:
    return lambda tally: tally.states[state]


def _seen(verdict: str) -> Callable[[Tally], int]:
    return lambda tally: tally.verdicts[verdict]


def _rows(found: History) -> list[_Row]:
    """The figures worth a row."""
    states = [s for s in STATES if any(t.states[s] for t in found.whole)]
    seen = [v for v in SEEN if v != "clean" and (v in _ALWAYS or any(t.verdicts[v] for t in found.whole))]
    waits = any(t.waiting_turns for t in found.whole)
    lines = [_Row("runs", lambda t: t.runs)]
    lines += [_Row(f"  {s}", _ended(s), bad=s in _BAD) for s in states]
    lines += [_Row(v, _seen(v), bad=v in _BAD) for v in seen]
    lines.append(_Row("wasted turns", lambda t: t.wasted_turns, bad=True))
    lines += [_Row("waiting turns", lambda t: t.waiting_turns)] if waits else []
    if any(t.runs > t.unpriced for t in found.whole):
        lines.append(_Row("wasted", lambda t: t.wasted_usd, amount, bad=True))
        lines += [_Row("waiting", lambda t: t.waiting_usd, amount)] if waits else []
        lines.append(_Row("cost", lambda t: t.usd, amount))
    lines.append(_Row("tokens", lambda t: t.tokens, short))
    return lines


def _by_week(found: History, out: TextIO, options: Options) -> None:
    """A column for each week; as many of the newest as fit."""
    names = [f"{w.name[5:]}{'*' if i == found.current else ''}" for i, w in enumerate(found.weeks)]
    lines = _rows(found)
    table = [["", *names, "change", "course"], *(row.cells(found.whole, found.last) for row in lines)]
    first = _first_column(table, len(names), options.width)
    titles = table[0][first:]
    grid = Grid([Column(""), *(Column(t, right=True) for t in titles[:-1]), Column(titles[-1])])
    for row, cut in zip(lines, table[1:], strict=True):
        style = row.style([row.figure(t) for t in found.whole], found.last)
        grid.add([cut[0], *cut[first:]], {len(titles) - 1: style} if style else {})
    grid.write(out, options.width, options.color)


def _first_column(table: list[list[str]], weeks: int, width: int | None) -> int:
    """The column of the oldest week that fits into `width` beside all newer ones; two always stay."""
    sizes = [max(cells(row[i]) for row in table) + 2 for i in range(len(table[0]))]
    first = 1
    while width is not None and first < weeks - 1 and sizes[0] + sum(sizes[first:]) - 2 > width:
        first += 1
    return first


def _by_group(found: History, out: TextIO, options: Options) -> None:
    """A row for each group: the last whole week and how it differs from the one before."""
    narrow = options.width is not None and options.width < _NARROW
    priced = any(t.runs > t.unpriced for t in found.whole)
    lines = [_Row("runs", lambda t: t.runs), _Row("stuck", _seen("stuck"), bad=True)]
    if not narrow:
        lines += [_Row(v, _seen(v)) for v in ("suspect", "recovered")]
    if priced:
        lines += [_Row("wasted", lambda t: t.wasted_usd, amount, bad=True), _Row("cost", lambda t: t.usd, amount)]
    else:
        lines.append(_Row("wasted turns", lambda t: t.wasted_turns, bad=True))
    course = next(row for row in lines if row.title.startswith("wasted"))
    columns = [Column(clean(found.by or ""), least=10)]
    for row in lines:
        columns += [Column(row.title, right=True), Column("", right=True)]
    grid = Grid([*columns, Column(f"{course.title} by week")], gap=1)
    recent = slice(max(found.last - 1, 0), None)
    names = [n for n in found.ranked() if any(t.runs for t in found.groups[n][recent])]
    shown = names[: options.limit] if options.limit else names
    for name, tallies in [*((n, found.groups[n]) for n in shown), ("all runs", found.whole)]:
        line, styles = [clean(name)], {}
        for row in lines:
            values = [row.figure(t) for t in tallies]
            line += [row.value(values[found.last]), row.change(values, found.last)]
            styles[len(line) - 1] = row.style(values, found.last)
        grid.add([*line, spark([course.figure(t) for t in tallies])], styles)
    grid.write(out, options.width, options.color)
    if len(shown) < len(names):
        out.write(f"… {plural(len(names) - len(shown), 'more group')} (--limit 0 shows all)\n")
    if len(names) < len(found.groups):
        out.write(f"{plural(len(found.groups) - len(names), 'group')} without a run in these weeks\n")


def _notes(found: History, out: TextIO) -> None:
    unpriced, lines = sum(t.unpriced for t in found.whole), []
    if found.current == len(found.weeks) - 1:
        lines.append(f"{found.weeks[-1].name} goes on{'' if found.by else ' (*)'}")
    if found.by == "tool":
        lines.append("a run counts under each tool that it repeated; its cost is that of the whole run")
    if found.untimed:
        lines.append(f"{plural(found.untimed, 'run')} without times count in the week of their first audit")
    if found.outside:
        lines.append(f"{plural(found.outside, 'run')} of other weeks")
    if unpriced:
        lines.append(f"{plural(unpriced, 'run')} without a price, not in the dollars")
    if lines:
        out.write("\n" + "".join(f"{line}\n" for line in lines))
