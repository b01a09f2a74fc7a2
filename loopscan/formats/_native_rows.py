"""A decoder for the usual lines of one native log: only what is used, straight into typed fields.

Which names a log uses for run, tool, arguments and result is told by its beginning. A line that is not as usual
(another name of ours, another type, damage) raises and is left to the general path, which knows them all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Final

import msgspec

from loopscan.blob import Head
from loopscan.formats._native_line import ARGS, NAME, RESULT, RUN
from loopscan.model import MISSING, Usage
from loopscan.row import Never, Usual
from loopscan.terms import PLAIN

Row = Any
"""A line as a struct: `run`, `name`, `args`, `result` under whichever names, the other fields under their own."""

SKIPPED: Final = "skipped"
"""The role of a name that means nothing to us."""

_Field = tuple[str, str, Any, Any]
"""Key in the log, attribute, type, default."""

_COUNT: Final = Annotated[int, msgspec.Meta(ge=0, lt=1 << 53)] | None
_DOLLARS: Final = Annotated[float, msgspec.Meta(ge=0, lt=1e12)] | None
_ID: Final = Annotated[str, msgspec.Meta(min_length=1)] | None

_ALWAYS: Final[dict[str, tuple[Any, Any]]] = {
    "turn": (int | None, None),
    "ts": (str | int | float | None, None),
    "text": (str | None, msgspec.UNSET),
    "error": (bool | None, None),
    "model": (str | None, None),
    "input_tokens": (_COUNT, None),
    "output_tokens": (_COUNT, None),
    "cache_read_tokens": (_COUNT, None),
    "cache_write_tokens": (_COUNT, None),
    "cache_write_1h_tokens": (_COUNT, None),
    "usd": (_DOLLARS, None),
}
_WHERE_USED: Final[dict[str, tuple[Any, Any]]] = {
    "parent": (_ID, None),
    "session": (_ID, None),
    "labels": (dict[str, str] | None, None),
    "context_window": (_COUNT, None),
    "written": (_COUNT, None),
    "compacted": (bool, False),
}
"""Read where the beginning of the log has them."""
_FILLS: Final = {"context_window": "window"}
_RARE: Final = ("calls", "state", "prompt")
_KEYS: Final = 100
"""A line with more names than that is read the general way."""
_WHOLE: Final = Annotated[int, msgspec.Meta(ge=0, le=PLAIN)]
_USUAL: Final[dict[str, tuple[str, Any, Any]]] = {
    "run": ("run", Annotated[str, msgspec.Meta(min_length=1)], msgspec.NODEFAULT),
    "name": ("name", str, msgspec.NODEFAULT),
    "args": ("args", Any, None),
    "result": ("result", Any, msgspec.NODEFAULT),
    "turn": ("number", int, msgspec.NODEFAULT),
    "ts": ("ts", str, msgspec.NODEFAULT),
    "error": ("error", bool | None, None),
    "model": ("model", str | None, None),
    "input_tokens": ("sent", _WHOLE, msgspec.NODEFAULT),
    "output_tokens": ("output", _WHOLE, msgspec.NODEFAULT),
}
"""The fields of a line that holds a usual turn; every other one of ours makes it unusual."""


@dataclass(slots=True, frozen=True)
class Rows:
    """How the usual lines of one log are decoded.

    `anonymous`: the log names no runs. `more`: fields read beside the usual ones, and those of a turn that they fill.
    """

    decode: Callable[[bytes], Row]
    anonymous: bool
    more: tuple[tuple[str, str], ...]
    usual: Callable[[bytes], Row]
    """For lines that hold a usual turn (`loopscan.row`); raises on any other."""
    roles: tuple[tuple[str, str], ...]
    """What `usual` makes of each name, in the order of the log: a field of such a turn; none (a line that has it is not
    usual); of those that the beginning of the log has beside them: nothing."""


def rows_of(head: Head) -> Rows | None:
    """The decoder for a log that begins so; None where its lines are best read the general way."""
    keys: dict[str, None] = {}
    for line in head.objects:
        keys.update(dict.fromkeys(line))
    return _made(tuple(keys)) if len(keys) <= _KEYS else None


@lru_cache(maxsize=64)
def _made(keys: tuple[str, ...]) -> Rows | None:
    fields = _run_fields(keys)
    for name, names, kind, default in (
        ("name", NAME, str | None, None),
        ("args", ARGS, Any, None),
        ("result", RESULT, Any, MISSING),
    ):
        used = [n for n in names if n in keys] or [names[0]]
        if len(used) > 1:
            return None
        fields += [(n, name, kind, default) if n in used else _never(n) for n in names]
    fields += [(n, n, *how) for n, how in _ALWAYS.items()]
    fields += [(n, n, *how) if n in keys else _never(n) for n, how in _WHERE_USED.items()]
    fields += [_never(n) for n in _RARE]
    places = {key: place for place, key in enumerate(keys)}
    fields.sort(key=lambda f: places.get(f[0], len(places)))  # in the order of the log each is found at once
    row = msgspec.defstruct(
        "Row", [(a, kind, default) for _, a, kind, default in fields], rename={a: k for k, a, _, _ in fields}, gc=False
    )
    more = tuple((n, _FILLS.get(n, n)) for n in _WHERE_USED if n in keys)
    usual, roles = _usual(fields, "ts" in keys)
    ours = {key for key, _ in roles}
    roles += tuple((key, SKIPPED) for key in keys if key not in ours)
    roles = tuple(sorted(roles, key=lambda role: places.get(role[0], len(places))))
    return Rows(msgspec.json.Decoder(row).decode, not any(n in keys for n in RUN), more, usual, roles)


def _usual(fields: list[_Field], timed: bool) -> tuple[Callable[[bytes], Row], tuple[tuple[str, str], ...]]:
    mine = [(key, *_USUAL.get(name, (f"no_{key}", Never, None))) for key, name, _, _ in fields]
    if not timed:
        mine = [(key, name, Never, None) if name == "ts" else (key, name, kind, how) for key, name, kind, how in mine]
    row = msgspec.defstruct(
        "Usual",
        [(name, kind, default) for _, name, kind, default in mine],
        bases=(Usual,),
        rename={name: key for key, name, _, _ in mine},
        gc=False,
        kw_only=True,
    )
    return msgspec.json.Decoder(row).decode, tuple((key, "" if kind is Never else name) for key, name, kind, _ in mine)


def _run_fields(keys: tuple[str, ...]) -> list[_Field]:
    """The name under which the log has its runs. Those of lower rank may stand beside it and say nothing."""
    used = next((n for n in RUN if n in keys), None)
    if used is None:
        return [("run_id", "run", str | int | None, None), *map(_never, RUN[1:])]
    return [*map(_never, RUN[: RUN.index(used)]), (used, "run", str | int | None, None)]


def _never(key: str) -> _Field:
    return key, f"no_{key}", Never, None


def is_plain(row: Row) -> bool:
    """Whether the line says what happened as most do."""
    return type(row.name) is str or (type(row.text) is str and not row.error)


def usage_of(row: Row) -> Usage | None:
    """The tokens of a line."""
    read_, write, hour, usd = row.cache_read_tokens, row.cache_write_tokens, row.cache_write_1h_tokens, row.usd
    given, output = row.input_tokens, row.output_tokens
    if given is None and output is None and read_ is None and write is None and hour is None and usd is None:
        return None
    return Usage(given, output, read_, write, hour, usd)
