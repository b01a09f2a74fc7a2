"""Made-up text: prose, and code with the escapes and the few non-Latin characters that real tool results hold."""

from __future__ import annotations

import json
from random import Random
from typing import Final

_VOCABULARY: Final = (
    "account agent answer archive batch branch buffer build cache call case change check class client close "
    "cluster column commit config context copy count cursor data deploy depth digest draft edge entry error event "
    "export field file filter flag folder frame function graph group handler header image import index input "
    "invoice issue item job key label layer limit line list loader lock log loop market message metric mode model "
    "module name node note number object offset option order output owner page parser part path patch payment "
    "plan point policy pool port price probe process profile project query queue range rate reader record refund "
    "region release report request result return review role route rule run sample scope score script search "
    "segment series server service session set shard share shipment signal site size slice socket source span "
    "stack stage start state status step store stream string table target task team template tenant test text "
    "thread ticket token tool topic trace type unit update user value vector version view volume window worker "
    "zone"
).split()


def words(chance: Random, n: int) -> str:
    """`n` words."""
    return " ".join(chance.choices(_VOCABULARY, k=n))


def word(chance: Random) -> str:
    """One word."""
    return chance.choice(_VOCABULARY)


def prose(chance: Random, size: int) -> str:
    """Words of about `size` characters in all."""
    return words(chance, size // 5 + 1)[:size].rstrip()


def code(chance: Random, size: int) -> str:
    """Lines of code: indents, quotes, tabs; one line in ten holds characters outside Latin-1."""
    lines: list[str] = []
    left = size
    while left > 0:
        kind, said = chance.random(), words(chance, chance.randint(3, 8))
        if kind < 0.25:
            line = f'{word(chance)} = "{said}"'
        elif kind < 0.35:
            line = f"# {said} — naïve"
        elif kind < 0.4:
            line = f"\t{said}"
        else:
            line = said
        lines.append("    " * chance.randint(0, 3) + line)
        left -= len(lines[-1]) + 1
    return "\n".join(lines)[:size]


def escaped(text: str) -> str:
    """The text as it stands between the quotes of a JSON string, characters beyond ASCII kept."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def cut(text: str, size: int) -> str:
    """The beginning of an escaped text, never in the middle of an escape (the texts hold two-character escapes)."""
    return text[:size].rstrip("\\")
