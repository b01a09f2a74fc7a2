"""JSON text that strains a decoder: odd types under known names, names twice, what RFC 8259 forbids."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from loopscan.decode import canonical
from loopscan.model import MISSING, Event, Turn

Texts = st.SearchStrategy[str]

_ODD = (
    "null", "true", "3", "-0.0", "1e400", "NaN", "-Infinity", "123456789012345678901234567890", '""', '"1"',
    '"assistant"', '"\\ud83d"', '"\\u0041"', '"na\\u00efve \\n"', "[]", "{}", '[{"type":"text","text":"words"}]',
    '["words"]', "[[1],2]", '{"type":"text"}', '{"a":{"b":null}}', "01", "", '"\x01"',
)  # fmt: skip
_SELDOM = 70
ODD: Texts = st.sampled_from(_ODD)


def word(*words: str) -> Texts:
    """One of some strings."""
    return st.sampled_from([json.dumps(w) for w in words])


def array(item: Texts, most: int = 4, least: int = 0) -> Texts:
    sizes = st.sampled_from(range(least, most + 1))
    return sizes.flatmap(lambda size: st.lists(item, min_size=size, max_size=size)).map(
        lambda items: f"[{','.join(items)}]"
    )


def thing(usual: Mapping[str, Texts], rare: Mapping[str, Texts]) -> Texts:
    """An object: the usual fields are nearly always there and of their types, the rare ones seldom."""
    odd, turn_up = st.sampled_from((*usual, *rare, "else")), st.integers(0, _SELDOM)

    @st.composite
    def build(draw: st.DrawFn) -> str:
        fields = [(name, draw(value)) for name, value in usual.items() if draw(turn_up) != 17]
        fields += [(name, draw(value)) for name, value in rare.items() if draw(turn_up) == 17]
        if draw(turn_up) == 17:
            fields.insert(draw(st.integers(0, len(fields))), (draw(odd), draw(ODD)))
        return "{" + ",".join(f"{json.dumps(name)}:{value}" for name, value in fields) + "}"

    return build()


def lines(line: Texts) -> st.SearchStrategy[bytes]:
    """A file of such lines, a byte of it broken now and then."""
    text = st.lists(line, min_size=1, max_size=6).map(lambda found: ("\n".join(found) + "\n").encode("utf-8"))
    return st.tuples(text, st.integers(0, 4000), st.sampled_from((*[b""] * 9, b"\xff", b'"', b"\xc3"))).map(_broken)


def _broken(parts: tuple[bytes, int, bytes]) -> bytes:
    data, at, byte = parts
    return data[: at % len(data)] + byte + data[at % len(data) + len(byte) :] if byte else data


def shown(event: Event) -> Any:
    """All that an event says, results that are left as JSON decoded, 1 and 1.0 and true told apart."""
    fields = {name: getattr(event, name) for name in event.__struct_fields__ if name != "calls"}
    if isinstance(event, Turn):
        fields["fault"] = None if event.fault is MISSING else canonical(event.fault)
        fields["usage"] = repr(event.usage)
        fields["calls"] = [
            (c.name, canonical(c.args), "-" if c.result is MISSING else canonical(c.result), c.error, c.id)
            for c in event.calls
        ]
    return fields
