"""The lines of a session file by blocks: the usual ones are taken by the compiled part, the others one by one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from loopscan.compiled import compiled
from loopscan.formats import Scan
from loopscan.formats._assembly import Held
from loopscan.formats._claude_chains import Chain
from loopscan.formats._claude_results import result_of
from loopscan.ids import RECENT
from loopscan.model import MISSING, Call, LateCall, Turn, Usage

if TYPE_CHECKING:
    from mmap import mmap

    from loopscan._compiled import Claude
    from loopscan.lines import Block


class Blocks:
    """The lines of blocks that are not blank, for who takes most of them by himself.

    `data`, `end`: where the present block is; `at`: its first byte that is not taken; `number`: the lines before it.
    """

    def __init__(self, blocks: Iterator[Block]) -> None:
        self._blocks = blocks
        self.data: bytes | mmap = b""
        self.at = self.end = self.number = 0

    def more(self) -> bool:
        """Whether anything is left, in the present block or in the next one, which then is the present one."""
        while self.at >= self.end:
            block = next(self._blocks, None)
            if block is None:
                return False
            self.number, _, self.data, self.at, self.end = block
        return True

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        return self

    def __next__(self) -> tuple[int, bytes]:
        while self.more():
            start, end = self.at, self.data.find(b"\n", self.at, self.end) + 1 or self.end
            self.at, self.number = end, self.number + 1
            line = self.data[start:end]
            if not line.isspace():
                return self.number, line
        raise StopIteration


def claude_of(runs: dict[str, Chain], beside: Collection[str], scan: Scan) -> Claude | None:
    """What takes the usual lines of one file; None where it was not compiled. `beside`: kinds that say nothing."""
    part = compiled()
    if part is None:
        return None
    types = Chain, Held, Turn, Call, LateCall, Usage, result_of, MISSING
    claude: Claude = part.Claude(runs, None if scan.exact else scan.seen, beside, types, RECENT)
    return claude
