"""What files of a scan have in common, as hashes of whatever one could take from another.

Two files share a run, a record that is a copy, or a name that is given once in a scan. Files that share nothing are
read apart with the same result; the others are read together, in their order.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import cast

from loopscan.engine import Audit
from loopscan.formats import Scan
from loopscan.model import JSON
from loopscan.skips import KINDS

_EACH = (" ids", " runs", " numbers")
"""Endings of the names of what readers keep by id: an id that another file does not have is no matter to it."""
_NATIVE = "loopscan"
_ON_DISK = "tau2-bench models"
"""Only what other files of a folder say: whoever reads them finds the same."""


@dataclass(slots=True)
class Ties:
    """What one file, or several read together, could have in common with others.

    `ids`: hashes, comparable where `probe` is equal. `wide`: what a reader keeps of all files of its format, and
    whether it kept anything. `all`: something that only the scan as a whole can tell.
    """

    ids: array[int] = field(default_factory=lambda: array("q"))
    wide: dict[str, bool] = field(default_factory=dict)
    all: bool = False
    probe: int = field(default_factory=lambda: hash(("ties", None)))


@cache
def salt(format_name: str) -> int:
    """What the hashes of runs of a format have in common."""
    return hash(("run", format_name))


def run_hash(format_name: str, run: str) -> int:
    """The hash of a run."""
    return hash(run) ^ salt(format_name)


def ties_of(engine: Audit, scan: Scan, begun: array[int] | None = None) -> Ties:
    """What a scan had, before its runs are closed. `begun`: their hashes, where those are known."""
    found, wide = scan.seen, dict[str, bool]()
    runs = array("q", {run_hash(*run) for run in engine.begun}) if begun is None else begun
    more = {run_hash(*run) for run in engine.loose}
    for key, kept in scan.memory.items():
        each = () if isinstance(kept, set) and f"{key} ids" in scan.memory else _each(key, kept)
        if each is None:
            wide[key] = bool(getattr(kept, "threads", kept))
        elif key == _NATIVE:
            more.update([run_hash(key, cast(str, run)) for run in each])
        else:
            more.update([hash(("kept", key, own)) for own in each])
    more.difference_update(runs)  # there are few of them
    ids = array("q", found)
    for some in (runs, more):
        ids.extend([number for number in some if number not in found] if found else some)
    return Ties(ids, wide, len(scan.skips.unknown) >= KINDS)


def _each(key: str, kept: JSON) -> Iterable[Hashable] | None:
    """The ids by which a reader keeps what it keeps; None where it is of another kind."""
    if key == _NATIVE:
        runs: Iterable[str] = kept.by_id
        return runs
    if key == _ON_DISK:
        return ()
    if key.endswith(_EACH) or key == "goose":
        ids: Iterable[Hashable] = kept
        return ids
    return None


def groups(ties: dict[int, Ties]) -> list[list[int]]:
    """Those that have something in common, together, smallest first; each of them in one list."""
    if len(ties) < 2:
        return [[node] for node in ties]
    above = {node: node for node in ties}

    def top(node: int) -> int:
        while above[node] != node:
            above[node] = node = above[above[node]]
        return node

    def tie(nodes: Iterable[int]) -> None:
        tops = sorted({top(node) for node in nodes})
        for node in tops[1:]:
            above[node] = tops[0]

    for nodes in _sharing(ties):
        tie(nodes)
    found: dict[int, list[int]] = {}
    for node in sorted(ties):
        found.setdefault(top(node), []).append(node)
    return list(found.values())


def _sharing(ties: dict[int, Ties]) -> Iterable[list[int]]:
    """Sets of those that share one thing."""
    nodes = list(ties)
    if any(t.all for t in ties.values()):
        yield nodes
    kinds = {key for t in ties.values() for key, kept in t.wide.items() if kept}
    for key in kinds:
        yield [n for n in nodes if key in ties[n].wide]
    if len({t.probe for t in ties.values()}) > 1:  # processes whose hashes differ can tell nothing apart
        yield [n for n in nodes if ties[n].ids]
        return
    met, common = set[int](), set[int]()
    for t in ties.values():
        if not met.isdisjoint(t.ids):
            common |= met.intersection(t.ids)
        met.update(t.ids)
    del met
    owners: dict[int, list[int]] = {}
    for node, t in ties.items():
        for shared in common.intersection(t.ids):
            owners.setdefault(shared, []).append(node)
    yield from owners.values()
