"""The built-in prices: a snapshot compiled from genai-prices (MIT), read when the first price is asked for.

It has past prices with their start dates, retired models, and announced prices that count from their day on.
Written by `python -m loopscan.prices.compile`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

import orjson

from loopscan.prices.table import Table

PATH: Final = Path(__file__).with_name("snapshot.json")


@cache
def table() -> Table:
    """The snapshot, labelled `builtin:` and its date."""
    content = orjson.loads(PATH.read_bytes())
    return Table.of(f"builtin:{content['date']}", content["models"], content["aliases"])
