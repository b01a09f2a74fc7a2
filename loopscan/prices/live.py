"""Prices of an installed genai-prices (extra `prices`), for models that the built-in snapshot does not know.

Nothing is fetched: a newer package is a newer table. Names are matched by our rules, as its own match by prefix.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from loopscan.prices.table import Table


@cache
def table() -> Table | None:
    """The table of the installed package, labelled `live:` and its version; None without the package."""
    try:
        label = f"live:genai-prices {version('genai-prices')}"
        providers = import_module("genai_prices.data").providers
    except (PackageNotFoundError, ImportError):
        return None
    from loopscan.prices import genai

    return Table.of(label, *genai.entries(providers))
