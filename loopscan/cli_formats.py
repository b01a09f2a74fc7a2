"""`loopscan formats` and `loopscan convert`: what can be read, and any of it as native JSON Lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from loopscan.cli_output import identity, opened, options
from loopscan.formats import FORMATS, load
from loopscan.render._grid import Column, Grid

if TYPE_CHECKING:
    from loopscan.cli_given import Given


def formats_command(given: Given) -> int:
    """List the formats."""
    rows = [(name, load(name)) for name in FORMATS]
    with opened(given.output) as out:
        if given.format.value == "json":
            listed = [{"name": n, "title": r.TITLE, "where": list(r.WHERE), "lacks": r.LACKS or None} for n, r in rows]
            out.write(json.dumps(listed, indent=2, ensure_ascii=False) + "\n")
            return 0
        grid = Grid([Column("format"), Column("what it is", least=20), Column("where it lies by default", least=16),
                     Column("what it lacks", least=12)])  # fmt: skip
        for name, reader in rows:
            grid.add([name, reader.TITLE, ", ".join(reader.WHERE) or "-", reader.LACKS or "-"])
        shown = options(given, out)
        grid.write(out, shown.width, shown.color)
    return 0


def convert_command(given: Given) -> int:
    """Write the runs of the inputs as native JSON Lines."""
    from loopscan.cli_settings import inputs, settings
    from loopscan.convert import NativeWriter
    from loopscan.formats import Scan
    from loopscan.scan import read_all

    wanted = inputs(given)
    scan = Scan(wanted.skips(), given.exact, wanted.field_map)
    with opened(given.output) as out:
        wanted.own = identity(out)
        writer = NativeWriter(out, scan, given.per.value)
        read_all(wanted, settings(given).span, scan, writer)
        writer.finish()
    return 0
