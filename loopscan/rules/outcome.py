"""What a result says: that it failed, that nothing is there, that it worked; and whether its numbers move on.

Word lists in English, small on purpose; read only for results that already look the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from loopscan.compiled import compiled
from loopscan.decode import embedded
from loopscan.model import JSON

FAULTS: Final = tuple(
    "error|exception|traceback|failed|failure|fails|failing|fatal|cannot|can't|could not|couldn't|unable|not found|"
    "no such|denied|refused|forbidden|unauthorized|unauthorised|invalid|timed out|time out|timeout|rejected|blocked|"
    "limit of|unknown command|missing|did not|didn't|does not|doesn't|unexpected|unsupported|too much|not allowed|"
    "overloaded|killed|not installed|no replacement".split("|")
)
_NO: Final = ("0", "no", "without", "zero")
_CODE: Final = re.compile(r"E[A-Z]{5,}\b")
_EXIT: Final = re.compile(
    r"(?:exit[_ ]?(?:code|status)|returncode|exited? with(?: code| status)?|\[exit)\W{0,3}(-?\d+)"
)
_SILENT: Final = re.compile(r"\b(?:not? produced?|no|without|any)(?: any)? (?:output|content)\b|\(no content\)")
_WRAPPING: Final = re.compile(
    r"</?(?:returncode|output|result|stdout|stderr|error|system)>|(?<=returncode>)\d+|bash-\$|"
    r"\(open file: [^)\n]*\)|\(current directory: [^)\n]*\)|"
    r"\[?(?:the command completed with )?(?:exit code|returncode)\W{0,2}\d+\.?\]?",
    re.I,
)
"""What harnesses put round the output of a command."""
_NOTHING: Final = re.compile(
    r"\W*(?:no|none|nothing|null|nil|undefined|0|zero|empty|not found|without)\b.{0,80}|"
    r"\W*\(?(?:no output|nothing|empty)\b.{0,60}|"
    r".{0,40}\b(?:0|no) (?:matches|results?|hits|rows|files?|items?|entries)\b.{0,40}",
    re.I | re.S,
)
_WORKED: Final = re.compile(
    r"\W*(?:ok|okay|done|success\w*|true|yes|saved?|written|wrote|created?|updated?|edited|applied|added|deleted|"
    r"removed|moved|renamed|sent|started|queued|scheduled|armed|accepted|completed?|finished|passed|clean|healthy|up|"
    r"valid|stored|recorded|posted|replaced|inserted|committed|pushed|installed|copied|clicked|typed|pressed|selected|"
    r"scrolled|opened|closed|navigated|filled|all)\b|"
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
_COUNTS: Final = ("total", "count", "totalCount", "total_count", "num_results")


def failing(text: str) -> bool:
    """Whether a result reads like a failure: by its exit code, else by its beginning and its end."""
    part = text if len(text) <= _HEAD + _TAIL else text[:_HEAD] + "\n" + text[-_TAIL:]
    low = part.lower()
    if ("exit" in low or "returncode" in low) and (status := _EXIT.search(low)) is not None:
        return status[1] != "0"
    if ("output" in low or "content" in low) and _SILENT.search(low) is not None:
        return False
    if says_fault(low):
        return True
    code = _CODE.search(part)
    return code is not None and not part[code.start() - 1 : code.start()].isalnum()


def says_fault(text: str) -> bool:
    """Whether one of the words stands in a text, of small letters, that tell of a failure."""
    made = compiled()
    told = None if made is None else made.says_one(text, FAULTS)
    return any(fault in text and _stands(fault, text) for fault in FAULTS) if told is None else told


def _stands(fault: str, text: str) -> bool:
    """Whether a word stands in a text as a word (a plural counts), and not as "no errors"."""
    at = text.find(fault)
    while at >= 0:
        end = at + len(fault)
        end += text[end : end + 1] == "s"
        if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
            before = text[max(0, at - 9) : at].split()
            if not before or before[-1] not in _NO:
                return True
        at = text.find(fault, end)
    return False


def nothing(text: str) -> bool:
    """Whether a result says that nothing is there: blank, an empty list, "no matches"."""
    if len(text) > 2 * _SHORT:
        return False
    bare = _WRAPPING.sub("", text).strip("<>()[]{}\"' \r\n\t")
    if not bare or (len(bare) < _SHORT and _SILENT.search(bare.lower()) is not None):
        return True
    value = embedded(text)
    if value is not None:
        return _hollow(value)
    return _NOTHING.fullmatch(text) is not None


def _hollow(value: JSON, depth: int = 0) -> bool:
    if isinstance(value, list):
        return depth < 5 and all(isinstance(v, (dict, list)) and _hollow(v, depth + 1) for v in value)
    lists = [v for v in value.values() if isinstance(v, list)]
    if lists:
        return not any(lists) and not any(v for v in value.values() if type(v) is int)
    return any(value.get(k) == 0 for k in _COUNTS)


def worked(text: str) -> bool:
    """Whether a short result only says that it worked."""
    if len(text) > _SHORT or failing(text) or _NEGATED.search(text):
        return False
    return _WORKED.match(text.strip("\"'{}[] \n")) is not None


_EPOCH: Final = re.compile(r"1[4-9]\d{8}(?:\d{3}|\d{6})?")
_TRIES: Final = re.compile(
    r"\b(?:attempt|try|retry|tries|call|read|request|visit|time|round)s?\W{0,2}#?\d+|"
    r"\b\d+(?:st|nd|rd|th)?\W{0,2}(?:times?|attempts?|tries|retries|calls?|reads?|[x×])(?!\w)(?! ?(?:/|of|out))",
    re.I,
)
"""Counts of the call's own repetitions: they go up however little happens."""
_DIGITS: Final = re.compile(r"\d+")
_FILE: Final = re.compile(r"[A-Za-z].*[/\\]|[/\\].*[A-Za-z]|\.[A-Za-z][A-Za-z0-9]{0,4}$")
_NAMED: Final = re.compile(r"[\w./\\~-]*\d[\w./\\~-]*")
_HEX: Final = frozenset("0123456789abcdef")
_LETTERS: Final = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
_LONG_WORD: Final = 60
_NEAR: Final = 80
_PRECISE: Final = 15
"""Digits of a number that are looked at."""


def _words_with_digits(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each word of letters, digits and underscores that holds a digit."""
    reached = 0
    for match in _DIGITS.finditer(text):
        start, end = match.span()
        if start < reached:
            continue
        while start > reached and (text[start - 1].isalnum() or text[start - 1] == "_"):
            start -= 1
        while end < len(text) and (text[end].isalnum() or text[end] == "_"):
            end += 1
        reached = end
        yield start, end


def _random(word: str) -> bool:
    """Whether a word looks drawn at random: hexadecimal, or going to and fro between letters and digits."""
    if len(word) < 6 or word.isdigit():
        return False
    if _HEX.issuperset(word) and not word.isalpha():
        return True
    kinds = [c.isdigit() for c in word if c != "_"]
    return sum(a != b for a, b in pairwise(kinds)) >= 3


def _in_path(text: str, start: int, end: int) -> bool:
    return text[start - 1 : start] in ("/", "\\", ".", "-") or (
        text[end : end + 1] in ("/", "\\", "-") or (text[end : end + 1] == "." and text[end + 1 : end + 2].isalpha())
    )


def masked(text: str, failed: bool = False) -> str:
    """Text without digits, random words and encoded pictures; of a failure without every word that holds a digit."""
    return masked_as(text, failed or failing(text))


def masked_as(text: str, failed: bool) -> str:
    """The same of what is known to be a failure, or none."""
    parts, at = [], 0
    for start, end in _words_with_digits(text):
        if start < at:
            continue
        word = text[start:end]
        picture = text.rfind("base64,", max(at, start - _NEAR), start)
        if picture >= 0 or len(word) >= _LONG_WORD:
            start = picture + 7 if picture >= 0 else start
            while end < len(text) and (text[end].isalnum() or text[end] in "+/="):
                end += 1
            word = ""
        elif failed or (_random(word) and not _in_path(text, start, end)):
            word = ""
        parts += [text[at:start], "".join(c for c in word if not c.isdigit())]
        at = end
    return "".join(parts) + text[at:]


def one_skeleton(first: str, second: str) -> bool:
    """Cheap: whether the same stands between the words of two texts, as it does where only numbers and ids differ."""
    a, b = (t.encode("utf-8", "surrogatepass").translate(None, _LETTERS) for t in (first, second))
    return a == b or "base64," in first


def names_files_apart(first: str, second: str) -> bool:
    """Whether two texts that are equal but for digits name different files: those are different outcomes."""
    pairs = zip(_NAMED.findall(first), _NAMED.findall(second), strict=False)
    return any(a != b and (_FILE.search(a) or _FILE.search(b)) for a, b in pairs)


def numbers(text: str, said: frozenset[float] = frozenset()) -> list[float]:
    """The numbers of a result, in order; times, counts of tries, random words, and what the arguments said left out."""
    text = _TRIES.sub("", text)
    found: list[float] = []
    for start, end in _words_with_digits(text):
        word = text[start:end]
        if not _random(word) and _EPOCH.fullmatch(word) is None:
            if text[start - 1 : start] == "." and found and text[start - 2 : start - 1].isdigit():
                found[-1] += float(f"0.{_DIGITS.findall(word)[0][:_PRECISE]}")
            else:
                found += (float(digits[:_PRECISE]) for digits in _DIGITS.findall(word))
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
