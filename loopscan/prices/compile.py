"""Writes the built-in price snapshot from an installed genai-prices: `python -m loopscan.prices.compile [DATE]`.

For maintainers. Prints what changed against the snapshot it replaces. DATE is the day the prices are of, today
if left out.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version

from loopscan.prices import genai, snapshot
from loopscan.prices.table import Table


def main(day: str) -> None:
    """Compile the snapshot of `day` (YYYY-MM-DD)."""
    models, aliases = genai.entries(import_module("genai_prices.data").providers)
    bare = Table.of("", models, {})
    needed = {alias: name for alias, name in aliases.items() if bare.match(alias) != name}
    before = json.loads(snapshot.PATH.read_bytes())["models"] if snapshot.PATH.exists() else {}
    content = {
        "date": day,
        "source": f"genai-prices {version('genai-prices')} (MIT), https://github.com/pydantic/genai-prices",
        "models": models,
        "aliases": needed,
    }
    lines = (f" {json.dumps(key)}:{_block(value)}" for key, value in content.items())
    snapshot.PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    changed = sorted(name for name in models if name in before and before[name] != models[name])
    print(f"{len(models)} models, {len(needed)} aliases, {snapshot.PATH.stat().st_size:,} bytes")
    print("new:", *sorted(models.keys() - before.keys()))
    print("gone:", *sorted(before.keys() - models.keys()))
    print("changed:", *changed)


def _block(value: object) -> str:
    """JSON with one model a line, so that a new snapshot reads as a diff."""
    if not isinstance(value, dict):
        return json.dumps(value)
    lines = (f"{json.dumps(key)}:{json.dumps(item, separators=(',', ':'))}" for key, item in value.items())
    return "{\n" + ",\n".join(lines) + "}"


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else datetime.now(UTC).date().isoformat())
