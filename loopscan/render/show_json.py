"""One run as a JSON document: its record, why the verdict is what it is, and its turns."""

from __future__ import annotations

from typing import Any, TextIO

from loopscan.recall import Said
from loopscan.records import SCHEMA, record
from loopscan.render.jsonl import dumps
from loopscan.report import dollars, iso
from loopscan.view import Step, View, place
from loopscan.why import meaning, why


def render(view: View, out: TextIO) -> None:
    """Write the document, indented."""
    document = {
        "schema": SCHEMA,
        "run": record(view.run),
        "why": why(view),
        "marked": [
            {"label": view.label(e), "rule": e.rule, "meaning": meaning(e.rule), "turn": e.turn, "first": e.first,
             "last": e.last, "period": e.period, "copies": e.copies, "verdict": e.verdict}
            for e in view.marked
        ],
        "turns": [_step(view, step) for step in view.steps],
        "left_out": [{"first": first, "last": last} for first, last in view.left_out()],
    }  # fmt: skip
    out.write(dumps(document, indent=True) + "\n")


def _step(view: View, step: Step) -> dict[str, Any]:
    sent, written = view.tokens(step.turn, step.turn)
    return {
        "turn": step.turn,
        "line": step.line or None,
        "time": iso(step.time),
        "marks": [_mark(view.label(e), at) for e in view.marked if (at := place(e, step)) is not None],
        "usd": dollars(view.usd(step.turn, step.turn)),
        "input_tokens": sent,
        "output_tokens": written,
        "calls": [_said(said) for said in step.said],
        "more_calls": step.more,
    }


def _mark(label: str, at: tuple[int, int]) -> dict[str, Any]:
    copy, position = at
    return {"label": label, "copy": copy or None, "position": position or None}


def _said(said: Said) -> dict[str, Any]:
    words = said.name is None
    return {
        "name": said.name,
        "args": None if words else said.args,
        "text": said.args if words and not said.error else None,
        "result": said.result,
        "error": said.error,
        "args_changed_from": said.unlike,
        "args_changes": said.differs,
        "times": said.times,
        "reordered": said.reordered,
        "same_as": said.same,
        "akin_to": said.akin,
        "changed_from": said.before,
        "changes": said.changes,
    }
