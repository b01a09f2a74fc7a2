"""Tokens estimated from characters, where a log has text but no (or no believable) usage.

Constants: a regression over 17,594 turn-to-turn differences of real Claude Code sessions (R2 0.988) and 45
gpt-5-mini runs; those of newer Claude models are derived from their tokenizer's ratio, not measured. No tokenizer
is bundled: none is public for Claude, and o200k is 18 % low there. Every figure from here is marked `~`. The base
(system prompt and tools) stands in no log, so without `--base` an estimated input is a lower bound.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from loopscan.decode import canonical
from loopscan.model import MISSING, LateCall

if TYPE_CHECKING:
    from loopscan.model import JSON, Call, Turn


@dataclass(slots=True, frozen=True)
class Family:
    """Models that share a tokenizer, near enough.

    `per_turn`: tokens a turn adds beside its text. Characters per token of what the model wrote once it is read
    again as `history`, of tool `results`, and of `output` as it is billed when written.
    """

    name: str
    per_turn: int
    history: Fraction
    results: Fraction
    output: Fraction


CLAUDE: Final = Family("claude up to 4.6", 115, Fraction(345, 100), Fraction(287, 100), Fraction(3))
CLAUDE_NEW: Final = Family("claude from 4.7", 115, Fraction(25, 10), Fraction(208, 100), Fraction(22, 10))
OTHER: Final = Family("gpt, gemini and others", 115, Fraction(35, 10), Fraction(35, 10), Fraction(35, 10))
UNNAMED: Final = Family("no model named", 0, Fraction(4), Fraction(4), Fraction(4))

PLACEHOLDER_RATIO: Final = 8
"""Characters per output token beyond which a recorded output is no measurement; real text has about 3."""

_CLAUDE: Final = re.compile(r"claude-(?:[a-z]+-)?(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?")


@lru_cache(maxsize=1024)
def family(model: str | None, chars_per_token: Fraction | None = None) -> Family:
    """The family of a model id; `chars_per_token` (`--chars-per-token`) overrides what is known of it."""
    if chars_per_token is not None:
        return Family("as told", 0, chars_per_token, chars_per_token, chars_per_token)
    if not model:
        return UNNAMED
    name = model.lower()
    if "claude" not in name:
        return OTHER
    version = _CLAUDE.search(name)
    newest = version is not None and (int(version[1]), int(version[2] or 0)) >= (4, 7)
    return CLAUDE_NEW if newest else CLAUDE


def growth(kind: Family, written: int, results: int) -> int:
    """Tokens that a turn adds to the input of every later send.

    `written`: characters the model wrote, `results`: characters of the tool results.
    """
    return kind.per_turn + _tokens(written, kind.history) + _tokens(results, kind.results)


def output(kind: Family, written: int) -> int:
    """Output tokens of a turn in which the model wrote so many characters (text, tool arguments, thinking)."""
    return _tokens(written, kind.output)


def _tokens(characters: int, per_token: Fraction) -> int:
    return -(-characters * per_token.denominator // per_token.numerator)


def is_placeholder(recorded: int, written: int) -> bool:
    """Whether a recorded output is implausibly small against the characters written.

    Claude Code wrote the counter of the stream's start (1 to 9 tokens) instead of its end in 2.0.76 to 2.1.42.
    """
    return recorded * PLACEHOLDER_RATIO < written


def written_chars(turn: Turn) -> int:
    """Characters the model wrote in a turn: as the reader counted them, else text, tool names and arguments."""
    if turn.written is not None:
        return turn.written
    return len(turn.text or "") + sum(len(call.name) + characters(call.args) for call in turn.calls)


def result_chars(turn: Turn) -> int:
    """Characters of the tool results of a turn that were recorded."""
    return sum([_result_of(call) for call in turn.calls])


def _result_of(call: Call) -> int:
    if type(call) is LateCall and call.chars >= 0:
        return call.chars
    return 0 if call.result is MISSING else characters(call.result)


def characters(value: JSON) -> int:
    """Characters of a value as a model reads it."""
    if value is None:
        return 0
    return len(value) if isinstance(value, str) else len(canonical(value).decode(errors="replace"))
