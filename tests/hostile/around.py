"""Good runs of a sample's own format, in its own file, before and after what is damaged.

They are the sample itself under other ids. Not every format can hold several runs in a file: whether the copies are
read as runs of their own beside the sample is tried with the undamaged one, and where not there are no neighbours.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from tests.hostile.mutation import documents, nodes
from tests.hostile.scanning import Outcome

_ID: Final = re.compile(r"(id|uuid|session|thread|trace|run|hash)s?$", re.IGNORECASE)
_NO_ID: Final = re.compile(r"model|tool_?name|provider|operation", re.IGNORECASE)
_HEX: Final = re.compile(r"[0-9a-fA-F-]{8,}")
_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]{4}){2,}[A-Za-z0-9+/]{2}(==|[A-Za-z0-9+/]=)")
_DEPTH: Final = 3
_LISTS: Final = 6

Scan = Callable[[bytes], Outcome]


@dataclass(slots=True)
class Around:
    """What stands round the damaged part, and the outlines of its runs, those of `after` apart.

    `at`: the keys that lead to the list whose elements are the runs; None where the lines are. `named`: the runs have
    ids of their own, not the number of their line. `headed`: their id stands in their first lines only.
    """

    before: list[Any]
    after: list[Any]
    outlines: Counter[Any]
    outlines_after: Counter[Any]
    at: tuple[Any, ...] | None = None
    named: bool = True
    headed: bool = False

    def lines(self, middle: bytes, both: bool) -> tuple[bytes, Counter[Any]]:
        """A line log with the damaged lines in it, and what must be read of it.

        Runs that stand before go on where damage took the only line that tells the next from them.
        """
        both = both and self.named and not self.headed
        parts = [_lines(self.before)] if both else []
        want = self.outlines + self.outlines_after if both else self.outlines_after
        return b"".join([*parts, middle, b"\n", _lines(self.after)]), want

    def middle(self, whole: Any) -> list[Any]:
        """The elements of a document that may be damaged."""
        return _found(whole, self.at or ())

    def document(self, whole: Any, middle: list[Any]) -> tuple[Any, Counter[Any]]:
        """A document with damaged elements between good ones, and what must be read of it."""
        before, want = (self.before, self.outlines + self.outlines_after) if self.named else ([], self.outlines_after)
        return _replaced(whole, self.at or (), [*before, *middle, *self.after]), want

    def lost(self, got: Outcome, want: Counter[Any]) -> list[Any]:
        """The good runs that are not there as they should be."""
        first = 0 if self.named else 1
        return list(
            (Counter(o[first:] for o in want.elements()) - Counter(o[first:] for o in _outlines(got))).elements()
        )


def _outlines(outcome: Outcome) -> list[Any]:
    return [_hashable(o) for o in outcome.outlines]


def _hashable(outline: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*outline[:-1], tuple(outline[-1]))


def _lines(values: list[Any]) -> bytes:
    return "".join(json.dumps(v) + "\n" for v in values).encode()


def ids(values: list[Any]) -> list[str]:
    """The texts that look like ids of something, longest first."""
    found = set()
    for holder, key in nodes(values):
        name, held = key, holder[key]
        if key == "value" and isinstance(
            holder, dict
        ):  # an attribute of a span: {"key": …, "value": {"stringValue": …}}
            name = holder.get("key", key)
            held = next(iter(held.values()), None) if isinstance(held, dict) else held
        if isinstance(name, str) and _ID.search(name) and not _NO_ID.search(name):
            found |= {text for text in (held if isinstance(held, list) else [held]) if isinstance(text, str)}
    return sorted((t for t in found if 1 < len(t) < 200 and not t.isspace()), key=lambda t: (-len(t), t))


def renamed(values: list[Any], salt: str, retold: bool) -> list[Any]:
    """The same values under other ids of the same shape; `retold`: their texts end in another letter, too."""
    values, names = deepcopy(values), ids(values)
    for holder, key in nodes(values) if retold else ():
        if isinstance(text := holder[key], str) and " " in text and text[-1].isalpha() and text not in names:
            holder[key] = text[:-1] + salt[-1]
    if not names:
        return values
    pattern = re.compile(
        rf"(?<![A-Za-z0-9])({'|'.join(re.escape(json.dumps(n)[1:-1]) for n in names)})(?![A-Za-z0-9=])"
    )
    made: list[Any] = json.loads(pattern.sub(lambda m: _other(m[0], salt), json.dumps(values)))
    return made


def _other(name: str, salt: str) -> str:
    if name.endswith("=") and _BASE64.fullmatch(name):
        made = hashlib.sha512(f"{salt}{name}".encode()).digest()
        return base64.b64encode(made[: len(base64.b64decode(name))]).decode()
    if not _HEX.fullmatch(name):
        return f"{name}{salt}"
    digits = iter(hashlib.sha256(f"{salt}{name}".encode()).hexdigest() * 4)
    return "".join("-" if c == "-" else next(digits) for c in name)


def around(sample: Path, data: bytes, scan: Scan) -> Around | None:
    """Neighbours for a sample; None where its file can hold no others. `scan` audits bytes in its place."""
    values = documents(data)
    if values is None:
        return None
    plain = scan(data)
    for retold in (True, False):
        if len(values) > 1 or sample.suffix == ".jsonl":
            found = Around(renamed(values, "7b", retold), renamed(values, "9a", retold), Counter(), Counter())
            if _settled(found, plain, lambda parts: scan(_lines(parts)), values):
                return found
            continue
        for path in islice(_lists(values[0]), _LISTS):
            inner = _found(values[0], path)
            found = Around(renamed(inner, "7b", retold), renamed(inner, "9a", retold), Counter(), Counter(), path)
            if _settled(found, plain, lambda p, path=path: scan(_lines([_replaced(values[0], path, p)])), inner):
                return found
    return None


def _settled(found: Around, plain: Outcome, scan: Callable[[list[Any]], Outcome], values: list[Any]) -> bool:
    """Whether the neighbours are runs of their own; notes their outlines."""
    mine = Counter(_outlines(plain))
    both = Counter(_outlines(scan([*found.before, *values])))
    all_ = Counter(_outlines(scan([*found.before, *values, *found.after])))
    found.outlines, found.outlines_after = both - mine, all_ - both
    figures = sorted(o[1:] for o in mine.elements())
    told = [sorted(o[1:] for o in c.elements()) for c in (found.outlines, found.outlines_after)]
    found.named = Counter(_outlines(scan(found.after))) == found.outlines_after
    found.headed = any(found.outlines - Counter(_outlines(scan([*found.before, *values[n:]]))) for n in (1, 2, 3))
    if not found.named and any("#" in o[0] for o in mine):
        return False  # prompts of the one session of a file
    return bool(figures) and told == [figures, figures] and all_.total() == 3 * mine.total()


def _lists(value: Any) -> Iterator[tuple[Any, ...]]:
    """Where the lists of objects are, the outer ones first."""
    todo: list[tuple[tuple[Any, ...], Any]] = [((), value)]
    while todo:
        path, inner = todo.pop(0)
        if isinstance(inner, list) and any(isinstance(v, dict) for v in inner):
            yield path
        if len(path) < _DEPTH:
            pairs = inner.items() if isinstance(inner, dict) else enumerate(inner) if isinstance(inner, list) else ()
            todo += [((*path, key), v) for key, v in list(pairs)[:20] if isinstance(v, (dict, list))]


def _found(value: Any, path: tuple[Any, ...]) -> list[Any]:
    for key in path:
        value = value[key]
    return list(value)


def _replaced(value: Any, path: tuple[Any, ...], new: list[Any]) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _replaced(value[path[0]], path[1:], new)
    return copy
