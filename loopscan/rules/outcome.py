"""What a result says: that it failed, that nothing is there, that it worked; and whether its numbers move on.

Word lists in English, small on purpose; read only for results that already came back the same.
"""

from __future__ import annotations

import re
from typing import Final

from loopscan.decode import embedded
from loopscan.model import JSON

_FAILED: Final = re.compile(
    r"\b(errors?|exception|traceback|fail(?:ed|ure|s|ing)?|fatal|cannot|can't|could ?n[o']t|unable|not found|no such|"
    r"denied|refused|forbidden|unauthori[sz]ed|invalid|timed? ?out|rejected|blocked|limit of|unknown command|missing|"
    r"did ?n[o']t|does ?n[o']t|unexpected|unsupported|too much|not allowed|overloaded|killed|not installed|"
    r"no replacement)\b|(?-i:\bE[A-Z]{5,}\b)",
    re.I,
)
_NO_FAULT: Final = re.compile(
    r"\b(?:0|no|without|zero) (?:errors?|fail(?:ures?|ed)|problems?|issues?|warnings?)\b", re.I
)
_NOTHING: Final = re.compile(
    r"\W*(?:no|none|nothing|null|nil|undefined|0|zero|empty|not found|without)\b.{0,80}|"
    r"\W*\(?(?:no output|nothing|empty)\b.{0,60}|"
    r".{0,40}\b(?:0|no) (?:matches|results?|hits|rows|files?|items?|entries)\b.{0,40}",
    re.I | re.S,
)
_WORKED: Final = re.compile(
    r"\W*(?:ok|okay|done|success\w*|true|yes|saved?|written|wrote|created?|updated?|edited|applied|added|deleted|"
    r"removed|moved|renamed|sent|started|queued|scheduled|armed|accepted|completed?|finished|passed|clean|healthy|up|"
    r"valid|stored|recorded|posted|replaced|inserted|committed|pushed|installed|copied|all)\b|"
    r".{0,60}\bsuccess|"
    r".{0,40}\b(?:\d+ (?:passed|replaced|changed?|updated|inserted|added|removed)|up to date|"
    r"no (?:problems|errors|issues|warnings|changes)|0 (?:problems|errors|issues|warnings|failed))\b|"
    r".{0,50}\b(?:updated|created|saved|written|added|applied|stored|set|recorded|logged|noted|moved|posted|sent|ok|done)"
    r"\W*$",
    re.I | re.S,
)
_NEGATED: Final = re.compile(r"\b(?:not|never|nothing|un(?:able|changed|known))\b|n't\b", re.I)
_HEAD: Final = 400
_TAIL: Final = 300
_SHORT: Final = 120
_LISTS: Final = ("results", "hits", "items", "data", "matches", "rows", "candidates", "records", "entries", "documents")
_COUNTS: Final = ("total", "count", "totalcount", "total_count", "num_results")


def failing(text: str) -> bool:
    """Whether a result reads like a failure: by its beginning and its end."""
    part = text if len(text) <= _HEAD + _TAIL else text[:_HEAD] + "\n" + text[-_TAIL:]
    return _FAILED.search(_NO_FAULT.sub("", part)) is not None


def nothing(text: str) -> bool:
    """Whether a result says that nothing is there: blank, an empty list, "no matches"."""
    if len(text) > 2 * _SHORT:
        return False
    bare = text.strip().strip("<>()[]{}\"' ")
    if not bare:
        return True
    value = embedded(text)
    if value is not None:
        return _hollow(value)
    return _NOTHING.fullmatch(text) is not None


def _hollow(value: JSON) -> bool:
    if isinstance(value, list):
        return not value or all(isinstance(v, (dict, list)) and _hollow(v) for v in value)
    named = {k.lower(): v for k, v in value.items()}
    lists = [named[k] for k in _LISTS if k in named]
    if lists:
        return all(not v for v in lists)
    return any(named.get(k) == 0 for k in _COUNTS)


def worked(text: str) -> bool:
    """Whether a short result only says that it worked."""
    if len(text) > _SHORT or failing(text) or _NEGATED.search(text):
        return False
    return _WORKED.match(text.strip("\"'{}[] \n")) is not None


_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_EPOCH: Final = re.compile(r"(?<!\d)1[4-9]\d{8}(?:\d{3}|\d{6}|\.\d+)?(?!\d)")
_TRIES: Final = re.compile(
    r"\b(?:attempt|try|retry|tries|call|read|request|visit|time|round)s?\W{0,2}#?\d+|"
    r"\b\d+(?:st|nd|rd|th)?\W{0,2}(?:times?|attempts?|tries|retries|calls?|reads?|x)\b(?! ?(?:/|of|out))",
    re.I,
)
"""Counts of the call's own repetitions: they go up however little happens."""
_NAMED: Final = re.compile(r"[\w./\\~-]*\d[\w./\\~-]*")
_FILE: Final = re.compile(r"[A-Za-z].*[/\\]|[/\\].*[A-Za-z]|\.[A-Za-z][A-Za-z0-9]{0,4}$")
_TOKEN: Final = re.compile(
    r"(?<![\w/.\\-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{6,}(?![\w/\\-])(?!\.\w)|[A-Za-z0-9+/]{60,}={0,2}"
)
_NO_DIGITS: Final = dict.fromkeys(map(ord, "0123456789"))


def masked(text: str) -> str:
    """Text without digits, random hexadecimal words and encoded pictures."""
    return _TOKEN.sub("", text).translate(_NO_DIGITS)


def names_files_apart(first: str, second: str) -> bool:
    """Whether two texts that are equal but for digits name different files: those are different outcomes."""
    pairs = zip(_NAMED.findall(first), _NAMED.findall(second), strict=False)
    return any(a != b and (_FILE.search(a) or _FILE.search(b)) for a, b in pairs)


def numbers(text: str, said: frozenset[float] = frozenset()) -> list[float]:
    """The numbers of a result, in order; times, counts of tries, and what the arguments said (`said`) left out."""
    text = _TRIES.sub("", _EPOCH.sub("", _TOKEN.sub("", text)))
    found = [float(n) for n in _NUMBER.findall(text)]
    return [n for n in found if n not in said] if said else found


def moving(series: list[list[float]]) -> bool:
    """Whether one of the numbers moves one way through all results: then something goes on."""
    width = min((len(row) for row in series), default=0)
    if any(len(row) != width for row in series):
        return False
    for column in zip(*series, strict=True):
        if len(set(column)) > 1 and (list(column) == sorted(column) or list(column) == sorted(column, reverse=True)):
            return True
    return False
