"""One run for people: why the verdict is what it is, then its turns, copies of a block marked."""

from __future__ import annotations

from typing import Final, TextIO

from loopscan.episodes import Episode
from loopscan.fired import Fired
from loopscan.recall import Said
from loopscan.render import Options
from loopscan.render._grid import Column, Grid, cells
from loopscan.render._money import amount, cost_cell, mark
from loopscan.render._text import clean, folded, money, plural, short
from loopscan.render.table import block_names
from loopscan.report import RunReport, iso
from loopscan.view import Step, View, place
from loopscan.why import what, why

_STYLES: Final = {"stuck": "bold red", "suspect": "yellow", "recovered": "cyan", "waited": "blue"}
_ARGS: Final = 2
_RESULT: Final = 3
"""Lines that arguments and a result may take on a terminal."""
_LOOSE: Final = 12
"""Cells at the end of a line that may stay empty, so that it breaks at a space."""
_PIPED: Final = 400
"""Characters of them where no terminal folds them."""
_BRIEF: Final = 40
"""A result of so few characters is repeated."""


def render(view: View, out: TextIO, options: Options) -> None:
    """Write the head, the turns, and how to see more."""
    for line in _head(view):
        for part in folded(line, options.width):
            out.writelines(piece + "\n" for piece in _wrapped(part, options.width, len(part)))
    out.write("\n")
    if view.steps or view.run.turns:
        _Turns(view, options).grid().write(out, options.width, options.color)
    hidden = sum(last - first + 1 for first, last in view.left_out())
    if hidden:
        out.write(f"\n{plural(hidden, 'turn')} not shown (--all shows them)\n")


def _head(view: View) -> list[str]:
    run = view.run
    inferred = " (inferred)" if run.state_source == "inferred" else ""
    cost = "" if run.unpriced or not run.spent.sends else f", {cost_cell(run)}"
    lines = [f"{clean(run.run)}: {run.state}{inferred}, {plural(run.turns, 'turn')}, {plural(run.calls, 'call')}{cost}"]
    lines.append(clean(why(view)))
    lines += [_marked(view, e) for e in view.marked]
    if len(run.episodes) > len(view.marked):
        lines.append(f"  {plural(len(run.episodes) - len(view.marked), 'more episode')} not marked")
    first = run.first_exit
    lines.append(f"first exit: {_exit(first, run)}" if first else "first exit: none fired")
    for word, waste in (("wasted", run.wasted), ("waiting", run.waiting)):
        if waste.turns:
            lines.append(f"{word}: {plural(waste.turns, 'turn')}{_price(waste.usd, run)}")
    known = [run.source, run.format, run.model, iso(run.started), f"part of {run.parent}" if run.parent else None]
    lines.append(clean(", ".join(k for k in known if k)))
    return lines + [f"note: {clean(note, 300)}" for note in run.notes]


def _marked(view: View, episode: Episode) -> str:
    """A legend line: what the letter of an episode stands for."""
    other = "" if episode is view.run.headline else f" {episode.verdict}: {what(episode)};"
    return f"  {view.label(episode)} [{episode.rule}]{other} {block_names(episode)}, seen from turn {episode.turn:,} on"


def _exit(fired: Fired, run: RunReport) -> str:
    healthy = "; but the run went on to be done" if fired.false_stop and fired.saved_turns else ""
    return f"{fired.exit} at turn {fired.turn:,}: {_saved(fired, run)}{healthy}"


def _saved(fired: Fired, run: RunReport) -> str:
    if not fired.saved_turns:
        return "the run was over by then"
    return f"a stop would have saved {plural(fired.saved_turns, 'turn')}{_price(fired.saved_usd, run)}"


def _price(usd: int, run: RunReport) -> str:
    return "" if run.unpriced else f", {mark(run)}{amount(usd)}"


class _Turns:
    """The turns as rows: turn, marks, cost, and what was called and came back."""

    def __init__(self, view: View, options: Options) -> None:
        self.view, self.run = view, view.run
        self.shown = {s.turn for s in view.steps}
        self.said: dict[int, list[str]] = {}
        self.marks = {s.turn: _marks(view, s) for s in view.steps}
        self.costs = {s.turn: self._cost(s.turn, s.turn) for s in view.steps}
        self.gaps = {last + 1: (first, last) for first, last in view.left_out()}
        self.titles = ["turn", "loop", f"{mark(self.run)}{'tokens' if self.run.unpriced else 'cost'}"]
        self.room = None if options.width is None else max(20, options.width - self._taken())

    def _taken(self) -> int:
        """Cells that the columns beside the last one take, with the gaps before it."""
        gaps = [self._cost(*gap) for gap in self.gaps.values()]
        columns = ([f"{self.run.turns:,}"], self.marks.values(), [*self.costs.values(), *gaps])
        return sum(2 + max(map(cells, [title, *texts])) for title, texts in zip(self.titles, columns, strict=True))

    def grid(self) -> Grid:
        """The rows."""
        titles = [Column(self.titles[0], right=True), Column(self.titles[1]), Column(self.titles[2], right=True)]
        grid = Grid([*titles, Column("call and result")])
        for step in self.view.steps:
            self._gap(grid, step.turn)
            self._step(grid, step)
        self._gap(grid, self.run.turns + 1)
        return grid

    def _gap(self, grid: Grid, turn: int) -> None:
        gap = self.gaps.get(turn)
        if gap is None:
            return
        first, last = gap
        inside = next((e for e in self.view.marked if e.first <= first and last <= e.last), None)
        words = plural(last - first + 1, "more turn")
        if inside is not None:
            words += f" of the same {'block' if inside.count is None else 'loop'}"
        grid.add(["…", "", self._cost(first, last), f"… {words} …"], dict.fromkeys(range(4), "dim"))

    def _step(self, grid: Grid, step: Step) -> None:
        lines = [line for said in step.said for line in self._lines(said, step.turn)]
        if step.more:
            lines.append(f"+ {plural(step.more, 'more call')}")
        style = next((_STYLES.get(e.verdict, "") for e in self.view.marked if place(e, step)), "")
        first, *rest = lines or ["nothing recorded"]
        grid.add([f"{step.turn:,}", self.marks[step.turn], self.costs[step.turn], first], {1: style})
        for line in rest:
            grid.add(["", "", "", line])
        for line in self._events(step.turn):
            for part in _wrapped(line, self.room, _RESULT):
                grid.add(["", "", "", part], {3: "bold"})

    def _events(self, turn: int) -> list[str]:
        """What is to be said at a turn: an exit fires, an episode is seen, one is left."""
        first, lines = self.run.first_exit, []
        for episode in self.view.marked:
            letter = self.view.label(episode)
            if episode.turn == turn:
                lines.append(f"<- {letter} is seen here")
            if episode.left_at == turn:
                lines.append(f"<- {letter} is left here" if episode.left else f"<- {letter} is left here, for a while")
        if first is not None and first.turn == turn:
            saved = f": saves {plural(first.saved_turns, 'turn')}{_price(first.saved_usd, self.run)}"
            lines.append(f"<- first exit, {first.exit}{saved if first.saved_turns else ''}")
        return lines

    def _lines(self, said: Said, turn: int) -> list[str]:
        """A call and its result in lines."""
        order = " (keys in another order)" if said.reordered else ""
        times = f" ({said.times:,} times)" if said.times > 1 else ""
        if said.name is None and not said.error:
            again = f" (as in turn {said.same:,})" if said.same in self.shown else ""
            words = f'"{clean(said.args, _PIPED)}"' if said.args else "no text recorded"
            return _wrapped(f"{words}{again}", self.room, _RESULT)
        called = f"{clean(said.name, 80)} {clean(said.args, _PIPED)}{order}{times}"
        head = "model call failed" if said.name is None else called.rstrip()
        lines = _wrapped(head, self.room, 1 if said.same in self.shown and said.same != turn else _ARGS)
        cut = cells(head) > (_PIPED if self.room is None else self.room * _ARGS)
        if cut and said.differs and said.same is None and said.unlike in self.shown:
            lines.append(f"    other arguments than turn {said.unlike:,}:")
            lines += [p for c in said.differs for p in _wrapped(f"      {clean(c)}", self.room, 2)]
        return lines + self._result(said, turn)

    def _result(self, said: Said, turn: int) -> list[str]:
        fault = "error: " if said.error and not (said.result or "").lower().startswith("error") else ""
        if said.result is None:
            return [f"  → {fault}no result recorded"]
        text = clean(said.result, _PIPED) or "(empty)"
        since = said.same if said.same is not None else said.akin
        if since is not None and since in self.shown and since < turn:
            again = f"same result as turn {since:,}"
            brief = f"  → {fault}{text}, {again}"
            fits = len(text) <= _BRIEF and (self.room is None or cells(brief) <= self.room)
            return [brief if fits else f"  → {fault.replace(':', ',')}{again}"]
        if said.before is not None and said.changes:
            than = f"turn {said.before:,}" if said.before < turn else "the one above"
            line = f"  → {fault}other result than {than}:"
            brief = f"{line} {clean(said.changes[0])}"
            if len(said.changes) == 1 and (self.room is None or cells(brief) <= self.room):
                return [brief]
            return [line] + [p for c in said.changes for p in _wrapped(f"      {clean(c)}", self.room, 2)]
        return _wrapped(f"  → {fault}{text}", self.room, _RESULT)

    def _cost(self, first: int, last: int) -> str:
        usd = self.view.usd(first, last)
        if usd is None:
            tokens = sum(self.view.tokens(first, last))
            return short(tokens) if tokens else "-"
        return money(usd) if usd or self.run.series.sends(last) > self.run.series.sends(first - 1) else "-"


def _marks(view: View, step: Step) -> str:
    """`A3.1`: copy 3 of the block of episode A, its first turn; `A` where copies have no fixed place."""
    found = []
    for episode in view.marked:
        where = place(episode, step)
        if where is None:
            continue
        copy, position = where
        number = "" if not copy else f"{copy:,}" if episode.period == 1 else f"{copy:,}.{position}"
        found.append(f"{view.label(episode)}{number}")
    return " ".join(found[:3])


def _wrapped(text: str, room: int | None, most: int) -> list[str]:
    """Text in lines of `room` cells, `most` of them; as it is without a limit."""
    if room is None or cells(text) <= room:
        return [text]
    indent = " " * (len(text) - len(text.lstrip(" ")) + 2)
    lines: list[str] = []
    while text:
        used, end = 0, 0
        while end < len(text) and (used := used + cells(text[end])) <= room:
            end += 1
        if end == len(text):
            return [*lines, text]
        if len(lines) == most - 1:
            return [*lines, text[: max(1, end - 1)] + "…"]
        space = text.rfind(" ", end - _LOOSE, end + 1)
        end = space if space > len(indent) else end
        lines.append(text[:end])
        text = indent + text[end:].lstrip(" ")
    return lines
