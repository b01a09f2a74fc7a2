"""What takes the usual lines of a session file, a block at a time."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from loopscan.compiled import compiled
from loopscan.formats import Scan
from loopscan.formats._assembly import Held
from loopscan.formats._claude_chains import Chain
from loopscan.formats._claude_results import result_of
from loopscan.ids import RECENT
from loopscan.model import MISSING, Call, LateCall, Turn, Usage

if TYPE_CHECKING:
    from loopscan._compiled import Claude


def claude_of(runs: dict[str, Chain], beside: Collection[str], scan: Scan) -> Claude | None:
    """What takes the usual lines of one file; None where it was not compiled. `beside`: kinds that say nothing."""
    part = compiled()
    if part is None:
        return None
    types = Chain, Held, Turn, Call, LateCall, Usage, result_of, MISSING
    claude: Claude = part.Claude(runs, None if scan.exact else scan.seen, beside, types, RECENT)
    return claude
