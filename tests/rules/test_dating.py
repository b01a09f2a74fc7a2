"""The turn at which a streak of one outcome is dated: a reader calls new attempts tries, and old ones a loop."""

from __future__ import annotations

from typing import Any

import pytest

from tests.eval.cases import audited

SAME = "The change was written; running the tests on it gave: 3 failed, 40 passed"
WORDS = ("alpha", "bravo", "charlie", "delta", "echo", "fox", "golf", "hotel", "india", "juliet", "kilo", "lima")


def _run(tool: str, attempts: str, between: int = 0) -> list[dict[str, Any]]:
    """A call a letter; the same letter is the same call. `between`: look-ups of other kinds after each."""
    lines: list[dict[str, Any]] = []
    for n, letter in enumerate(attempts):
        word = WORDS[ord(letter) - ord("a")]
        lines.append({"name": tool, "args": {"change": f"{word} goes to {word[::-1]} at {letter * 3}"}, "result": SAME})
        lines += [
            {"name": f"look_{n}_{k}", "args": {"n": n}, "result": f"{WORDS[n % 12]} {n} {k}"} for k in range(between)
        ]
    return lines


@pytest.mark.parametrize(
    ("tool", "attempts", "between", "want"),
    [
        ("write_fix", "abcdefgh", 0, 3),
        ("write_fix", "abcdefgha", 0, 3),
        ("write_fix", "abcdaecfg", 0, 7),
        ("write_fix", "abcdefghab", 0, 10),
        ("write_fix", "abcabcd", 0, 5),
        ("update_page", "abcdaecfg", 0, 7),
        ("write_fix", "abcdaecfg", 1, 13),
        ("write_fix", "abcdefghab", 2, 7),
        ("search_code", "abcdaecfg", 0, 3),
        ("probe", "abcdaecfg", 0, 3),
    ],
    ids=["all new", "one made before", "two made before", "late", "in order", "another tool", "work between",
         "beyond 20 turns", "a look-up", "any tool"],
)  # fmt: skip
def test_attempts_count_once_they_come_back(tool: str, attempts: str, between: int, want: int) -> None:
    run = audited({"r": _run(tool, attempts, between)})["r"]
    assert [e.turn for e in run.episodes if e.rule == "same-outcome"] == [want]


def test_a_later_date_changes_no_verdict() -> None:
    runs = audited({name: _run("write_fix", name) for name in ("abcdefghi", "abcdaecfg")})
    assert {run.verdict for run in runs.values()} == {"stuck"}
    assert all(e.first == 1 and e.last == 9 for r in runs.values() for e in r.episodes if e.rule == "same-outcome")
