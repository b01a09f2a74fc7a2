"""The table of outputs: one module per output, each with `render(report, out, options)`.

A renderer sees a finished `Report`, never turns, and writes text. A new output is one module and one line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Final, Protocol, TextIO, cast

from loopscan.report import Report

RENDERERS: Final = {
    "table": "loopscan.render.table",
    "json": "loopscan.render.json",
    "jsonl": "loopscan.render.jsonl",
    "csv": "loopscan.render.csv",
}
"""Name (the value of `--format`) -> module."""

COST_RENDERERS: Final = {
    "table": "loopscan.render.cost",
    "json": "loopscan.render.cost_json",
    "jsonl": "loopscan.render.cost_jsonl",
    "csv": "loopscan.render.cost_csv",
}
"""The same for `loopscan cost`."""


@dataclass(slots=True, frozen=True)
class Options:
    """How to render. `limit`: rows shown of table and markdown, 0 = all. `detail`: worst runs with a table of exits.

    `width` and `color` describe the terminal; width None = not a terminal, nothing is cut.
    """

    limit: int = 0
    detail: int = 3
    width: int | None = None
    color: bool = False


class Renderer(Protocol):
    """What an output module must hold."""

    def render(self, report: Report, out: TextIO, options: Options) -> None:
        """Write the report to `out`."""


def load(name: str, renderers: Mapping[str, str] = RENDERERS) -> Renderer:
    """The renderer of a name in `RENDERERS` (or in another such table)."""
    return cast(Renderer, import_module(renderers[name]))
