"""Words of arguments, results and texts: whether two are the same words, the same thing in other words, or neither."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, zip_longest
from typing import Final

from loopscan.decode import embedded
from loopscan.model import JSON

_WORD: Final = re.compile(r"\w+")
_PART: Final = re.compile(r"[\w./:@~-]+")
"""A word of an argument; a path or an address is one."""
_MOST: Final = 4000
_ARGUMENTS: Final = 1500
_NO_WORDS: Final = frozenset(("true", "false", "null", "none"))

COUNTERS: Final = frozenset(
    "thoughtnumber thought_number totalthoughts total_thoughts step_number stepnumber attempt attempts iteration round "
    "retry retries try nonce seed timestamp ts request_id requestid call_id callid tool_call_id toolcallid "
    "next_thought_needed nextthoughtneeded".split()
)
"""Arguments that count or stamp the call itself."""
WHYS: Final = frozenset(
    "reason explanation thought thoughts thinking rationale justification monologue intent purpose label description "
    "ref toolsummary summary_of_action security_risk max_depth depth timeout timeout_ms max_results top_k "
    "verbose".split()
)
"""Arguments that say why, how deep, or under which passing handle something is done: they count only alone."""

STOP: Final = frozenset(
    "a an the and or but if of to in on at by for with from as is are was were be been being it its this that these "
    "those i i'm i'll we you he she they me my our your will would shall should can could may might must do does did "
    "done now then so just also too again please let us go going have has had not no yes there here what which who "
    "when where how whether ll s t m re ve d".split()
)


def _leaves(value: JSON) -> Iterator[str]:
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            todo += [item[key] for key in sorted(item, reverse=True)]
        elif isinstance(item, list):
            todo += reversed(item)
        elif item is not None and not isinstance(item, bool):
            yield str(item)


def said(args: JSON) -> tuple[str, ...] | None:
    """The words of a call's arguments in order, without those that say nothing of the action; None if they are long.

    A passing handle alone (`ref`) says nothing.
    """
    if isinstance(args, str):
        inner = embedded(args) if len(args) < _ARGUMENTS else None
        args = args if inner is None else inner
    if isinstance(args, dict):
        if len(args) == 1 and "ref" in args:
            return ()
        kept = {k: v for k, v in args.items() if k.lower() not in COUNTERS}
        bare = {k: v for k, v in kept.items() if k.lower() not in WHYS}
        args = bare or kept or args
    found: list[str] = []
    size = 0
    for leaf in _leaves(args):
        size += len(leaf)
        if size > _ARGUMENTS:
            return None
        found += [w for part in _PART.findall(leaf.lower()) if (w := part.strip("./:-~"))]
    return tuple(found)


SAME_COUNTS: Final = 3
SAME_WORDS: Final = 2
REWORDED: Final = 1


def kin(first: tuple[str, ...] | None, second: tuple[str, ...] | None) -> int:
    """`SAME_COUNTS` (order, punctuation and flags apart), `SAME_WORDS` (copies too), `REWORDED`, or 0 for other things.

    One word in the place of another is no rewording: that is how a batch goes through its items.
    """
    if first is None or second is None:
        return 0
    a, b = set(first) - _NO_WORDS, set(second) - _NO_WORDS
    if a == b:
        if not a:
            return SAME_WORDS
        counts = (sorted(w for w in said if w not in _NO_WORDS) for said in (first, second))
        return SAME_COUNTS if next(counts) == next(counts) else SAME_WORDS
    if not a or not b or 2 * len(a & b) < min(len(a), len(b)):
        return 0
    if len(first) == len(second) and 3 * sum(x != y for x, y in zip(first, second, strict=True)) <= len(first) + 2:
        return 0
    return REWORDED


def words(text: str) -> list[str]:
    """The words of a text, lower case."""
    return _WORD.findall(text[:_MOST].lower())


def content(text: str) -> frozenset[str]:
    """The words of a text that carry its meaning."""
    return frozenset(w for w in words(text) if w not in STOP and not w.isdigit())


def close(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether two sets of content words say the same: they are equal, or most of the smaller is in the larger."""
    if first == second:
        return bool(first)
    small = min(len(first), len(second))
    return small >= 3 and 5 * len(first & second) >= 3 * small


def echo_free(first: str, second: str, args: tuple[str, ...] | None, others: tuple[str, ...] | None) -> bool:
    """Whether two results are the same but for the words of their arguments."""
    if args is None or others is None:
        return False
    mine, its = ({piece for word in said for piece in _WORD.findall(word)} for said in (args, others))
    one, other = _others(first, mine | its), _others(second, mine | its)
    if any(a != b for a, b in zip_longest(one, other)):  # most differ from the beginning on
        return False
    if len(list(islice(_others(first, mine | its), 2))) == 2:
        return True
    one, other = _others(first, mine ^ its), _others(second, mine ^ its)
    left = list(one)
    return len(left) >= 2 and left == list(other)


def _others(text: str, own: set[str]) -> Iterator[str]:
    """The words of a text that are none of some."""
    return (word for match in _WORD.finditer(text[:_MOST].lower()) if (word := match[0]) not in own)
