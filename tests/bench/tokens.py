"""Token totals of a folder of Claude Code sessions: ours, and those of ccusage."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.bench.measure import audit

Tokens = tuple[int, int, int, int]
"""Uncached input, output, cache writes, cache reads."""


def our_tokens(path: Path) -> Tokens:
    """The sums over the records of an audit."""
    done = subprocess.run(audit(path), capture_output=True, check=True)
    usages = [json.loads(line)["usage"] for line in done.stdout.splitlines()]

    def total(name: str) -> int:
        return sum(u[name] or 0 for u in usages)

    read, write = total("cache_read_tokens"), total("cache_write_tokens")
    return total("input_tokens") - read - write, total("output_tokens"), write, read


def ccusage_tokens() -> Tokens:
    """The totals of `ccusage session`, which looks in `$CLAUDE_CONFIG_DIR/projects`."""
    done = subprocess.run(["ccusage", "session", "--json", "--offline"], capture_output=True, check=True)
    totals = json.loads(done.stdout)["totals"]
    return (
        totals["inputTokens"],
        totals["outputTokens"],
        totals["cacheCreationTokens"],
        totals["cacheReadTokens"],
    )
