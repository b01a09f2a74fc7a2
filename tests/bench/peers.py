"""The same job in other tools: per run the turns, the tokens and the first turn of the period rule at window 20.

`python -m tests.bench.peers TOOL PATH` prints a digest of these rows; equal digests are equal results. Native logs
only: the schema is given by hand, as these tools need it. ccusage counts the tokens of Claude Code sessions.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Final

WINDOW: Final = 20
Row = tuple[str, int, int, int | None]
"""Run, turns, tokens, the turn at which the rule fired."""

_FILTERS: Final = 'STRUCT(since VARCHAR, tags VARCHAR[], "limit" BIGINT)'
_COLUMNS: Final = {
    "run_id": "VARCHAR", "turn": "BIGINT", "tool": "VARCHAR",
    "args": f'STRUCT(id BIGINT, "full" BOOLEAN, q VARCHAR, filters {_FILTERS})',
    "result": "VARCHAR", "input_tokens": "BIGINT", "output_tokens": "BIGINT",
}  # fmt: skip


def digest(rows: Iterable[Row]) -> str:
    """One line for the rows of a log, in any order."""
    text = "\n".join(json.dumps(row) for row in sorted(rows))
    return hashlib.sha256(text.encode()).hexdigest()


def sql(path: str, key: str) -> str:
    """The job in SQL: a lag per period, and a windowed sum per period over the equalities of the keys of turns."""
    periods = range(1, WINDOW // 2 + 1)
    columns = ", ".join(f"{name!r}: {kind!r}" for name, kind in _COLUMNS.items())
    same = ", ".join(f"coalesce(k = lag(k, {p}) OVER w, false)::INT AS s{p}" for p in periods)
    spans = ", ".join(
        f"sum(s{p}) OVER (PARTITION BY run_id ORDER BY turn ROWS {p - 1} PRECEDING) = {p} AS f{p}" for p in periods
    )
    any_of = " OR ".join(f"f{p}" for p in periods)
    return f"""
        WITH log AS (SELECT run_id, turn, input_tokens + output_tokens AS tokens, {key} AS k
            FROM read_ndjson('{path}', columns = {{{columns}}})),
        pairs AS (SELECT run_id, turn, tokens, {same} FROM log WINDOW w AS (PARTITION BY run_id ORDER BY turn)),
        fires AS (SELECT run_id, turn, tokens, {spans} FROM pairs)
        SELECT run_id, count(*), sum(tokens)::BIGINT, min(turn) FILTER ({any_of}) FROM fires GROUP BY run_id"""


def duckdb(path: str) -> list[Row]:
    """DuckDB, with as many threads as it likes; turns are equal where what they hold is."""
    return list(import_module("duckdb").sql(sql(path, "row(tool, args, result)")).fetchall())


def duckdb_hashes(path: str) -> list[Row]:
    """The same by hashes of 64 bits, as our own keys are, which takes DuckDB less than half."""
    return list(import_module("duckdb").sql(sql(path, "hash(tool, args, result)")).fetchall())


def polars(path: str) -> list[Row]:
    """polars, lazily, with as many threads as it likes."""
    pl = import_module("polars")
    filters = pl.Struct({"since": pl.String, "tags": pl.List(pl.String), "limit": pl.Int64})
    args = pl.Struct({"id": pl.Int64, "full": pl.Boolean, "q": pl.String, "filters": filters})
    schema = {
        "run_id": pl.String, "turn": pl.Int64, "tool": pl.String, "args": args, "result": pl.String,
        "input_tokens": pl.Int64, "output_tokens": pl.Int64,
    }  # fmt: skip
    key = pl.struct("tool", "args", "result").hash()
    log = pl.scan_ndjson(path, schema=schema).select(
        "run_id", "turn", (pl.col("input_tokens") + pl.col("output_tokens")).alias("tokens"), key.alias("k")
    )
    log = log.sort("run_id", "turn", maintain_order=True)
    fires = pl.any_horizontal(
        [
            (pl.col("k") == pl.col("k").shift(p)).over("run_id").fill_null(False).cast(pl.Int32)
            .rolling_sum(p).over("run_id") == p
            for p in range(1, WINDOW // 2 + 1)
        ]
    )  # fmt: skip
    rows = (
        log.with_columns(fires.alias("fires"))
        .group_by("run_id")
        .agg(
            pl.len().cast(pl.Int64), pl.col("tokens").sum(), pl.col("turn").filter(pl.col("fires")).min().alias("fired")
        )
    )
    return list(rows.collect(engine="streaming").rows())


def loopscan(path: str) -> list[Row]:
    """Our own answer, from the records of an audit."""
    from loopscan import audit

    return [(run.run, run.turns, run.tokens, run.fired) for run in audit(path).runs]


PEERS: Final[dict[str, Callable[[str], list[Row]]]] = {
    "duckdb": duckdb, "duckdb-hashes": duckdb_hashes, "polars": polars, "loopscan": loopscan,
}  # fmt: skip


def installed(name: str) -> bool:
    """Whether a peer can be run by this interpreter."""
    return find_spec(name) is not None


def main() -> None:
    """Print the digest of a peer's rows."""
    name, path = sys.argv[1:]
    print(digest(PEERS[name](path)))


if __name__ == "__main__":
    main()
