"""The table of outputs: one module per output, each with `render(report, out, options)`.

A renderer sees a finished `Report`, never turns, and writes text. A new output is one module and one line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from time import time
from typing import Final, Protocol, TextIO, cast

from loopscan.report import Report

RENDERERS: Final = {
    "table": "loopscan.render.table",
    "json": "loopscan.render.json",
    "jsonl": "loopscan.render.jsonl",
    "csv": "loopscan.render.csv",
    "markdown": "loopscan.render.markdown",
    "junit": "loopscan.render.junit",
    "prometheus": "loopscan.render.prometheus",
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

    `width` and `color` describe the terminal; width None = not a terminal, nothing is cut. `now`: when the report
    is written, in epoch seconds.
    """

    limit: int = 0
    detail: int = 3
    width: int | None = None
    color: bool = False
    now: float = field(default_factory=time)


class Renderer(Protocol):
    """What an output module must hold."""

    def render(self, report: Report, out: TextIO, options: Options) -> None:
        """Write the report to `out`."""


def load(name: str, renderers: Mapping[str, str] = RENDERERS) -> Renderer:
    """The renderer of a name in `RENDERERS` (or in another such table)."""
    return cast(Renderer, import_module(renderers[name]))
