"""Markdown (GitHub's tables) for a CI summary page, a ticket or a mail: the summary, a row per run, the worst exits.

Names and words of logs stand in code spans, where nothing is markup, mention or link.
"""

from __future__ import annotations

import re
from typing import Final, TextIO

from loopscan.render import Options
from loopscan.render._exits import exit_grid
from loopscan.render._summary import summary
from loopscan.render._text import clean, plural
from loopscan.render.table import cost_of, ranked, repeating, wasted_of, worst_runs
from loopscan.report import Report, RunReport

ROOM: Final = 900_000
"""Bytes of rows: a page of GitHub's step summary holds 1 MiB."""

_LONGEST: Final = 300
"""Characters of a name; a longer one would push all others off the page."""
_COLUMNS: Final = ("run", "state", "turns", "verdict", "no progress at", "first exit", "wasted", "cost")
_RIGHT: Final = {"turns", "turn", "paid", "cost"}


def render(report: Report, out: TextIO, options: Options) -> None:
    """Write the document."""
    lines = summary(report)
    out.write(f"## loopscan\n\n**{plain(lines[0])}**\n\n")
    runs = report.runs
    if runs:
        _runs(runs, out, options)
    for run in worst_runs(runs, options.detail):
        out.write(f"### {code(run.run)}\n\n")
        grid = exit_grid(run, None)
        titles = tuple(column.title for column in grid.columns[1:])
        _table(titles, [[plain(text) for text in row[1:]] for row in grid.rows], out)
    out.writelines(f"- {plain(line)}\n" for line in lines[1:])


def _runs(runs: list[RunReport], out: TextIO, options: Options) -> None:
    shown, rows, size = ranked(runs, options.limit), [], 0
    for run in shown:
        row = _row(run)
        size += sum(len(cell.encode(errors="replace")) + 3 for cell in row)
        if size > ROOM:
            break
        rows.append(row)
    _table(_COLUMNS, rows, out)
    if len(rows) < len(runs):
        hint = " (--limit 0 shows all)" if len(rows) == len(shown) else " than fit on a summary page"
        out.write(f"… {plural(len(runs) - len(rows), 'more run')}{hint}\n\n")


def _row(run: RunReport) -> list[str]:
    first, verdict = run.first_exit, run.verdict or "blind"
    return [
        cell(code(run.run)),
        run.state,
        f"{run.turns:,}",
        f"**{verdict}**" if verdict == "stuck" else verdict,
        cell(code(repeating(run))) if run.headline else "-",
        f"{first.exit} @ {first.turn}" if first else "-",
        plain(wasted_of(run)),
        plain(cost_of(run)),
    ]


def _table(titles: tuple[str, ...], rows: list[list[str]], out: TextIO) -> None:
    rule = ["---:" if title in _RIGHT else "---" for title in titles]
    out.writelines(f"| {' | '.join(row)} |\n" for row in [list(titles), rule, *rows])
    out.write("\n")


def code(text: str) -> str:
    """Untrusted text as a code span, whatever backticks it holds."""
    text = clean(text, _LONGEST) or " "
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    edge = " " if "`" in (text[0], text[-1]) else ""
    return f"{fence}{edge}{text}{edge}{fence}"


def cell(text: str) -> str:
    """A text for a cell of a table: a pipe, and backslashes before it, escaped."""
    return re.sub(r"(\\*)\|", r"\1\1\\|", text)


def plain(text: str) -> str:
    """Our own words, in which names of tools and models may stand, with nothing in them that is markup."""
    text = re.sub(r"([\\`*\[\]<>|~#])", r"\\\1", text)
    text = re.sub(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])", r"\\_", text).replace("&", "&amp;")
    return text.replace("@", "&#64;").replace("://", "&#58;//").replace("www.", "www&#46;")
