"""What results say, in tables."""

from __future__ import annotations

import pytest

from loopscan.rules.outcome import failing, masked, moving, names_files_apart, nothing, numbers, worked

FAILING = {
    "Error: no such file": True,
    "3 errors found": True,
    "bash: line 4: dc: command not found": True,
    "connect ECONNREFUSED 127.0.0.1:5432": True,
    "<returncode>1</returncode>\n<output>\n</output>": True,
    '{"status":"completed","exitCode":2,"text":""}': True,
    "0 errors, 0 warnings": False,
    "no problems": False,
    "export const a = 1": False,
    "terrors of the deep": False,
    "<returncode>0</returncode>\n<output>\ngrep found: error\n</output>": False,
    "Your command ran successfully and did not produce any output.": False,
}


@pytest.mark.parametrize(("text", "want"), FAILING.items(), ids=FAILING)
def test_failing(text: str, want: bool) -> None:
    assert failing(text) == want


def test_failing_looks_at_both_ends_of_a_long_text() -> None:
    assert failing("x" * 9000 + "\nFATAL: disk full")
    assert not failing("x" * 500 + " error " + "x" * 9000)


NOTHING = {
    "": True,
    "[]": True,
    "{}": True,
    "none": True,
    "No matches found": True,
    "(nothing stored)": True,
    '{"hits":[],"total":0}': True,
    '{"results":[],"note":"no matching tool"}': True,
    "Your command ran successfully and did not produce any output.": True,
    "<returncode>0</returncode>\n<output>\n</output>": True,
    "0 results": True,
    '{"issues":[],"warnings":[]}': True,
    '{"issues":[],"open":3}': False,
    "north: 3 rows": False,
    '{"hits":[1],"total":1}': False,
    "src/a.py:3: none": False,
}


@pytest.mark.parametrize(("text", "want"), NOTHING.items(), ids=NOTHING)
def test_nothing(text: str, want: bool) -> None:
    assert nothing(text) == want


WORKED = {
    "ok": True,
    "done": True,
    "wrote 16 bytes": True,
    "File created successfully at: a.py": True,
    "todos updated": True,
    "9 passed in 0.2s": True,
    "0 problems": True,
    "healthy": True,
    "recorded as partial; keep working": True,
    "the page did not change": False,
    "not saved": False,
    "shipped": False,
    "3 failed, 9 passed": False,
    "x" * 200: False,
}


@pytest.mark.parametrize(("text", "want"), WORKED.items(), ids=[w[:20] for w in WORKED])
def test_worked(text: str, want: bool) -> None:
    assert worked(text) == want


MASKED = {
    ("tokens 167981 -> 167548", "tokens 167948 -> 167437"): True,
    ("bash: line 113: dc: not found", "bash: line 114: dc: not found"): True,
    ('<r id="0a25da1c77">x</r>', '<r id="f8bb5e3209">x</r>'): True,
    ("overloaded (request id: req_001eefa)", "overloaded (request id: req_0077abb)"): True,
    ("job x7Kq9TzPq2 queued", "job b4Lm2RtYw8 queued"): True,
    ("ref 7F3K9Q seen", "ref 2B8M4T seen"): True,
    ("uses sha256", "uses utf8"): False,
    ("page 3: alpha", "page 4: beta"): False,
    ("files/img_0a25da1c.png", "files/img_f8bb5e32.png"): False,
    ("hello ana", "hello bob"): False,
}


@pytest.mark.parametrize(("pair", "same"), MASKED.items(), ids=[p[0] for p in MASKED])
def test_masked(pair: tuple[str, str], same: bool) -> None:
    assert (masked(pair[0]) == masked(pair[1])) == same


def test_numbered_files_are_different_outcomes() -> None:
    assert names_files_apart("out/img_0001.png", "out/img_0002.png")
    assert not names_files_apart("CHANGED:47/47", "CHANGED:46/46")


NUMBERS = {
    "tokens 10 -> 9 (0.4% saved)": [10, 9, 0.4],
    "read 3 times, line 5": [5],
    "attempt 4: code 7": [7],
    "at 1772600000340, 12 left": [12],
    "id b9259063, 3 rows": [3],
    "step 2 of 9": [2, 9],
    "9" * 400: [float("9" * 15)],
}


@pytest.mark.parametrize(("text", "want"), NUMBERS.items(), ids=[t[:20] for t in NUMBERS])
def test_numbers(text: str, want: list[float]) -> None:
    assert numbers(text) == want
    assert numbers(text, frozenset(want)) == []


@pytest.mark.parametrize(
    ("series", "want"),
    [([[1, 5], [2, 5], [3, 5]], True), ([[3], [3], [1]], True), ([[1], [2], [1]], False), ([[1], [1]], False),
     ([[1], [2, 3]], False), ([], False)],
)  # fmt: skip
def test_moving(series: list[list[float]], want: bool) -> None:
    assert moving(series) == want
