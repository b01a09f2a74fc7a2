"""Any log as loopscan's own JSON Lines: the events of a reader to native lines.

Reading the lines with `loopscan.formats.native` gives the same runs: a session's prompts are runs of their own,
numbered as the engine numbers them; parallel calls are consecutive lines with one turn number. Lost are only line
numbers, call ids and which later result text belonged to which message.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TextIO

import orjson

from loopscan.blob import Blob
from loopscan.decode import embedded
from loopscan.formats import Reader, Scan, held_back
from loopscan.hidden import escaped
from loopscan.model import JSON, MISSING, Call, End, Event, Turn, Usage

_USAGE = (
    ("input_tokens", "input"),
    ("cache_read_tokens", "cache_read"),
    ("cache_write_tokens", "cache_write"),
    ("cache_write_1h_tokens", "cache_write_1h"),
    ("output_tokens", "output"),
    ("usd", "usd"),
)


def to_native(events: Iterable[Event], reader: Reader | None = None, per: str = "prompt") -> Iterator[dict[str, JSON]]:
    """The native lines of a stream of events, in its order.

    `reader`: the format's own; with it, cosmetic arguments and the wrappers of results are left out, so that an
    audit of the lines finds what an audit of the log does. Without it everything is kept as recorded. `per`: as
    `Settings.per`; under "session" prompts are not told apart.
    """
    return _Converter(reader, per == "prompt").lines(events)


@dataclass(slots=True)
class NativeWriter:
    """Writes every input it is given as native lines to `out`."""

    out: TextIO
    scan: Scan
    per: str = "prompt"
    _converters: dict[str, _Converter] = field(default_factory=dict)

    def read(self, blob: Blob, format_name: str, reader: Reader) -> None:
        """Convert a whole input of a known format."""
        converter = self._converters.setdefault(format_name, _Converter(reader, self.per == "prompt"))
        self._write(converter.lines(reader.read(blob, self.scan)))

    def finish(self) -> None:
        """Write what readers held back to the end."""
        for converter in self._converters.values():
            if converter.reader is not None:
                self._write(converter.lines(held_back(converter.reader, self.scan)))

    def _write(self, lines: Iterable[dict[str, JSON]]) -> None:
        for line in lines:
            self.out.write(escaped(dumps(line).decode("utf-8", "replace")) + "\n")


def dumps(line: dict[str, JSON]) -> bytes:
    """One native line as JSON text, without a newline."""
    try:
        return orjson.dumps(line)
    except orjson.JSONEncodeError:  # integers beyond 64 bits, lone surrogates, nesting that orjson refuses
        return json.dumps(line, separators=(",", ":")).encode()


@dataclass(slots=True)
class _Run:
    """A run of the log: the prompt it is at, the number of that prompt, and the turns since it began."""

    prompt: str | int | None = None
    split: bool = False
    number: int = 0
    turns: int = 0

    def place(self, run: str) -> dict[str, JSON]:
        """The native run: its id, and the number of its prompt."""
        return {"run_id": f"{run}#{self.number}", "prompt": self.number} if self.split else {"run_id": run}


@dataclass(slots=True)
class _Converter:
    reader: Reader | None
    per_prompt: bool
    runs: dict[str, _Run] = field(default_factory=dict)

    def lines(self, events: Iterable[Event]) -> Iterator[dict[str, JSON]]:
        """The native lines of events, in their order."""
        for event in events:
            if isinstance(event, Turn):
                yield from self.turn(event)
            elif (line := self.end(event)) is not None:
                yield line

    def turn(self, turn: Turn) -> Iterator[dict[str, JSON]]:
        """The lines of a turn: one per call, what is said of the send on the first."""
        run = self.runs.setdefault(turn.run, _Run())
        split = self.per_prompt and turn.prompt is not None
        if split and (run.prompt != turn.prompt or run.number == 0):
            run.number, run.turns = run.number + 1, 0
        run.prompt, run.split, run.turns = turn.prompt, split, run.turns + 1
        head: dict[str, JSON] = {**run.place(turn.run), "turn": run.turns}
        about = _about(turn)
        if not turn.calls:
            yield {**head, **self._silent(turn), **about}
        for i, call in enumerate(turn.calls):
            line = {**head, **self._call(call)}
            yield line if i else {**line, **({} if turn.text == "" else {"text": turn.text}), **about}

    def end(self, end: End) -> dict[str, JSON] | None:
        """The line of an end; None where the engine would not take it (an end of nothing, or of another prompt)."""
        run = self.runs.get(end.run)
        if run is None:
            if not end.final:
                return None
        elif end.prompt is not None and end.prompt != run.prompt:
            return None
        line: dict[str, JSON] = {**(run or _Run()).place(end.run), "state": end.state}
        if end.time is not None:
            line["ts"] = end.time
        if end.note is not None:
            line["note"] = end.note
        return line

    def _silent(self, turn: Turn) -> dict[str, JSON]:
        """A turn without calls: a text, or a failed model call and its error."""
        if not turn.failed:
            return {"text": turn.text}
        line: dict[str, JSON] = {"error": True}
        if turn.fault is not MISSING:
            line["result"] = self._cleaned("", turn.fault)
        return line if turn.text is None else {**line, "text": turn.text}

    def _call(self, call: Call) -> dict[str, JSON]:
        line: dict[str, JSON] = {"name": call.name}
        if call.args is not None:
            line["args"] = self._essential(call)
        if call.result is not MISSING:
            line["result"] = self._cleaned(call.name, call.result)
        if call.error:
            line["error"] = True
        return line

    def _cleaned(self, name: str, result: JSON) -> JSON:
        return result if self.reader is None else self.reader.clean_result(name, result)

    def _essential(self, call: Call) -> JSON:
        """The arguments without the format's cosmetic ones."""
        cosmetic = {} if self.reader is None else self.reader.COSMETIC_ARGS
        drop = cosmetic.get(call.name, frozenset()) | cosmetic.get("*", frozenset()) if cosmetic else frozenset()
        if not drop:
            return call.args
        args = embedded(call.args) if isinstance(call.args, str) else call.args
        return {k: v for k, v in args.items() if k not in drop} if isinstance(args, dict) else call.args


def _about(turn: Turn) -> dict[str, JSON]:
    """What is said of a send besides its content."""
    usage = turn.usage or Usage()
    line: dict[str, JSON] = {
        "ts": turn.time,
        "model": turn.model,
        **{name: getattr(usage, attribute) for name, attribute in _USAGE},
        "parent": turn.parent,
        "session": turn.session,
        "labels": turn.labels or None,
        "context_window": turn.window,
        "written": turn.written,
        "compacted": turn.compacted or None,
    }
    return {k: v for k, v in line.items() if v is not None}
