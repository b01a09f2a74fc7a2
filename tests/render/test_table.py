"""The table at fixed widths, against committed text."""

from __future__ import annotations

import pytest

from loopscan.render import Options
from tests.render.fixed import check, report, written

WIDTHS = {"piped": None, "80": 80, "140": 140}


@pytest.mark.parametrize("name", WIDTHS)
def test_table(name: str) -> None:
    width = WIDTHS[name]
    got = written("table", report(), Options(width=width))
    check(f"table-{name}.txt", got)
    if width:
        assert max(map(len, got.splitlines())) <= width
