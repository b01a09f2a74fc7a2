"""The options of every command, once; `loopscan.cli_given` holds what they were given."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from loopscan.limits import MOST_WINDOW


class PerChoice(StrEnum):
    """What one run of an interactive log is."""

    prompt = "prompt"
    session = "session"


class FormatChoice(StrEnum):
    """The outputs."""

    table = "table"
    json = "json"
    jsonl = "jsonl"
    csv = "csv"
    markdown = "markdown"
    junit = "junit"
    prometheus = "prometheus"


class CostFormatChoice(StrEnum):
    """The outputs of `loopscan cost`."""

    table = "table"
    json = "json"
    jsonl = "jsonl"
    csv = "csv"


class CostChoice(StrEnum):
    """Where the dollars of a send come from."""

    computed = "computed"
    recorded = "recorded"


class ListChoice(StrEnum):
    """The outputs of a plain list."""

    table = "table"
    json = "json"


class HistoryFormatChoice(StrEnum):
    """The outputs of `loopscan history` and `loopscan replay`."""

    table = "table"
    json = "json"
    csv = "csv"


class VerdictChoice(StrEnum):
    """The verdicts."""

    stuck = "stuck"
    suspect = "suspect"
    waited = "waited"
    recovered = "recovered"
    clean = "clean"


def _opt(*names: str, help: str, metavar: str | None = None, **more: Any) -> Any:  # noqa: A002
    return typer.Option(*names, help=help, metavar=metavar, show_default=False, **more)


Paths = Annotated[
    list[str] | None,
    typer.Argument(help="Files, globs, folders, or - for standard input.", metavar="[PATH]...", show_default=False),
]
RunId = Annotated[
    str,
    typer.Argument(help="A run id as reported, or a part of it that fits one run.", metavar="RUN", show_default=False),
]
All = Annotated[bool, _opt("--all", help="Show every turn, not only those around what repeats.")]
Window = Annotated[int, _opt("--window", help="Turns the detector looks back (20).", min=1, max=MOST_WINDOW)]
Copies = Annotated[int, _opt("--copies", help="Copies of a block that count as repetition (2).", min=2)]
Exact = Annotated[bool, _opt("--exact", help="Compare turns literally: strip, parse and drop nothing.")]
RepeatLimit = Annotated[
    int, _opt("--repeat-limit", help="The same action K times in a row counts, whatever its results (off).", min=0)
]
Ignore = Annotated[
    list[str] | None,
    _opt("--ignore", help="A part that equal turns may differ in; repeatable.", metavar="TOOL:result.PATH|args.PATH"),
]
RulesOn = Annotated[
    str, _opt("--rules", help="Rules beside the period rule: all, none or names (all).", metavar="NAMES")
]
NoRule = Annotated[list[str] | None, _opt("--no-rule", help="Switch a rule off; repeatable.", metavar="NAME")]
TurnCap = Annotated[str, _opt("--turn-cap", help="Turns, auto or off (auto).", metavar="N|auto|off")]
TokenCap = Annotated[
    str, _opt("--token-cap", help="Input and output tokens, auto or off (auto).", metavar="N|auto|off")
]
CostCap = Annotated[str, _opt("--cost-cap", help="USD, auto or off (auto).", metavar="USD|auto|off")]
TimeCap = Annotated[str, _opt("--time-cap", help="Seconds, or 90s, 10m, 2h; auto or off (auto).", metavar="T|auto|off")]
ContextWindow = Annotated[int | None, _opt("--context-window", help="The model's context window in tokens.", min=1)]
PIn = Annotated[str | None, _opt("--p-in", help="USD per million input tokens.", metavar="USD")]
POut = Annotated[str | None, _opt("--p-out", help="USD per million output tokens.", metavar="USD")]
PCacheRead = Annotated[
    str | None, _opt("--p-cache-read", help="USD per million tokens read from cache (0.1 x p-in).", metavar="USD")
]
PCacheWrite = Annotated[
    str | None, _opt("--p-cache-write", help="USD per million tokens written to cache (1.25 x p-in).", metavar="USD")
]
PCacheWrite1h = Annotated[
    str | None, _opt("--p-cache-write-1h", help="The same for one-hour writes (2 x p-in).", metavar="USD")
]
PriceFile = Annotated[str | None, _opt("--prices", help="Your own prices by model, TOML or JSON.", metavar="FILE")]
PriceDate = Annotated[
    str, _opt("--price-date", help="Prices of each send's day, of today, or of a day (run).", metavar="run|today|DAY")
]
CostFrom = Annotated[
    CostChoice, _opt("--cost", help="Dollars computed from tokens, or recorded where the log has them (computed).")
]
CharsPerToken = Annotated[
    str | None, _opt("--chars-per-token", help="For logs without usage (by model family, else 4).", metavar="N")
]
FailOn = Annotated[
    list[str] | None,
    _opt(
        "--fail-on",
        help="Exit with 1: a verdict, unpriced, new:stuck, 'wasted_usd>5', 'rate:stuck>2%'; repeatable.",
        metavar="RULE",
    ),
]
Cached = Annotated[bool, _opt("--cache", help="Work out the model with a prompt cache that stays warm.")]
CompactAt = Annotated[
    int | None,
    _opt("--compact-at", help="Work out the model with a history summed up at N tokens.", metavar="N", min=1),
]
Summary = Annotated[
    int, _opt("--summary", help="Tokens of the summary that stays after a compaction (2,000).", metavar="N", min=0)
]
Base = Annotated[int | None, _opt("--base", help="Input tokens of the first turn, where usage is missing.", min=0)]
Growth = Annotated[int, _opt("--growth", help="Input tokens each turn adds, where usage is missing (500).", min=0)]
Out = Annotated[int, _opt("--out", help="Output tokens of a turn, where usage is missing (0).", min=0)]
From = Annotated[str | None, _opt("--from", help="Read as this log format; no sniffing.", metavar="FORMAT")]
Map = Annotated[
    list[str] | None,
    _opt("--map", help="Your field names: name=tool.function,args=tool.params.", metavar="OURS=PATH,..."),
]
Per = Annotated[PerChoice, _opt("--per", help="What a run of an interactive log is: prompt or session (prompt).")]
Idle = Annotated[str | None, _opt("--idle", help="Close a run after this much log time without a record.", metavar="T")]
Only = Annotated[list[VerdictChoice] | None, _opt("--only", help="Show only runs of this verdict; repeatable.")]
Limit = Annotated[
    int | None, _opt("--limit", help="Rows shown of the table, 0 = all (20 on a terminal, else all).", min=0)
]
Detail = Annotated[int, _opt("--detail", help="Worst runs shown with a table of exits (3).", min=0)]
Format = Annotated[
    FormatChoice, _opt("--format", "-f", help="table, json, jsonl, csv, markdown, junit or prometheus (table).")
]
CostFormat = Annotated[CostFormatChoice, _opt("--format", "-f", help="table, json, jsonl or csv (table).")]
ListFormat = Annotated[ListChoice, _opt("--format", "-f", help="table or json (table).")]
Output = Annotated[str | None, _opt("--output", "-o", help="Write the report to this file.", metavar="FILE")]
Strict = Annotated[bool, _opt("--strict", help="Exit with 4 when any record or input was skipped.")]
NoProgressAt = Annotated[int, _opt("--no-progress", help="Turn at which the detector fires (3).", min=1)]
Normal = Annotated[int, _opt("--normal", help="Turns of a normal run (6).", min=1)]
Since = Annotated[
    str | None, _opt("--since", help="Only runs that ended since: 7d, 12h ago, or a date.", metavar="AGO|DATE")
]
Until = Annotated[
    str | None, _opt("--until", help="Only runs that ended before: 1d ago, or a date (left out).", metavar="AGO|DATE")
]
Zone = Annotated[str | None, _opt("--tz", help="Where days begin: Europe/Berlin, local (UTC).", metavar="ZONE")]
StoreFile = Annotated[
    str | None, _opt("--store", help="Keep each run in this SQLite file, for loopscan history.", metavar="FILE")
]
By = Annotated[
    str | None, _opt("--by", help="A row for each agent, model, tool, format or label:NAME.", metavar="WHAT")
]
Weeks = Annotated[int, _opt("--weeks", help="ISO weeks shown, up to the newest run (8).", min=1)]
PolicyGiven = Annotated[
    list[str] | None,
    _opt(
        "--policy",
        help="audit, seed, controller, coding, key=value,… or a TOML file; repeatable (all of those).",
        metavar="POLICY",
    ),
]
Outcomes = Annotated[
    str | None, _opt("--outcomes", help="CSV of run id, solved or not; done may not mean solved.", metavar="FILE")
]
HealthyHit = Annotated[
    str, _opt("--healthy-hit", help="Share of healthy runs that the best caps may stop (1%).", metavar="SHARE")
]
HistoryFormat = Annotated[HistoryFormatChoice, _opt("--format", "-f", help="table, json or csv (table).")]
Redact = Annotated[bool, _opt("--redact", help="Hash arguments, texts and paths; names and figures stay.")]
Jobs = Annotated[
    int | None,
    _opt("--jobs", "-j", help="Processes that read at once (one for each core).", metavar="N", min=1),
]
Quiet = Annotated[bool, _opt("--quiet", "-q", help="Nothing on standard error but errors and tripped rules.")]
Verbose = Annotated[bool, _opt("--verbose", "-v", help="Say how each file was read, and every skipped record.")]
