"""Big files read in parts: wherever they are cut, what comes of them is what comes of the whole."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopscan.blob import Blob
from loopscan.chunks import Chunk, Lines, Stretch
from loopscan.crew import Crew
from loopscan.cuts import Places
from loopscan.cuts import places as places_of
from loopscan.engine import Audit
from loopscan.formats import Scan
from loopscan.gather import Gathered
from loopscan.money import Unpriced
from loopscan.parcel import unpacked
from loopscan.portion import Portion
from loopscan.records import document
from loopscan.report import Report
from loopscan.scan import Inputs, Reading, run
from loopscan.settings import Settings
from loopscan.shares import Files, Share, task
from loopscan.skips import Skips
from loopscan.spill import Spill
from tests.bench.fuzz import log
from tests.conftest import native
from tests.several import FIGURES
from tests.test_jobs import same, turn

Told = tuple[dict[str, Any], list[str]]


@pytest.fixture(autouse=True)
def everything_is_big(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small inputs are cut, too."""
    for module, name, value in FIGURES:
        monkeypatch.setattr(module, name, value)


class Here:
    """Reads shares in this process."""

    def __init__(self, inputs: Inputs, asked: Settings) -> None:
        self.task = task(inputs, asked, Unpriced())
        self.read: list[Share] = []

    def results(self, shares: Mapping[int, Share]) -> Iterator[tuple[int, bytes]]:
        """What comes of each."""
        for number, share in shares.items():
            self.read.append(share)
            yield number, share.read(self.task)


def whole(paths: list[Path], asked: Settings) -> Told:
    """What one process makes of files, and what it says."""
    said: list[str] = []
    report = run(Inputs(list(map(str, paths)), say=said.append, tell=said.append), asked, Unpriced())
    return document(report), said


def in_parts(paths: list[Path], asked: Settings, places: list[list[int]]) -> tuple[Told, list[Share]]:
    """The same of their parts, cut at these bytes, and what was read for it."""
    said: list[str] = []
    inputs = Inputs(list(map(str, paths)), say=said.append, tell=said.append)
    crew: Any = Here(inputs, asked)
    items = inputs.items()
    found, chunks = Gathered(items, [0] * len(items), inputs), list[Files | Chunk]()
    for number, cut in enumerate(places):
        ends = [*cut, None]
        chunks += [Chunk(number, items[number], s, e) for s, e in zip([0, *cut], ends, strict=True)]
    found.first(crew, chunks)
    found.join(crew)
    found.tie(crew)
    engine = Audit(asked, Unpriced(), Scan(inputs.skips(), asked.exact))
    reading = Reading(inputs, asked.span, engine)
    found.place(reading, engine)
    report: Report = engine.finish()
    return (document(report), said), crew.read


def line_starts(path: Path) -> list[int]:
    """Where lines begin with a bracket, but the first."""
    data = path.read_bytes()
    return [k + 1 for k in range(len(data) - 1) if data[k] == 10 and data[k + 1] in b"{["]


def check(
    *paths: Path, asked: Settings | None = None, parts: int = 3, tries: int = 12, again: bool = False
) -> list[Share]:
    """Cut files at many places; what was read for the last of them. `again`: the parts may not tell the whole."""
    chosen, chance, want = asked or Settings(), Random(5), whole([*paths], asked or Settings())
    read = list[Share]()
    for _ in range(tries):
        places = [sorted(chance.sample(s, min(parts - 1, len(s)))) for s in map(line_starts, paths)]
        got, read = in_parts([*paths], chosen, places)
        assert got == want, places
        assert again or not any(isinstance(share, Files) for share in read), places
    return read


def runs(*names: str, turns: int = 5) -> list[dict[str, Any]]:
    """Runs one after the other."""
    return [turn(name, k) for name in names for k in range(1, turns + 1)]


def test_runs_one_after_the_other(tmp_path: Path) -> None:
    read = check(native(tmp_path / "a.jsonl", *runs(*"abcdefgh")))
    assert sum(isinstance(share, Chunk) for share in read) == 3


def test_runs_side_by_side(tmp_path: Path) -> None:
    lines = runs(*"abcdefgh", turns=7)
    Random(3).shuffle(names := [line["run_id"] for line in lines])
    queues = {n: [line for line in lines if line["run_id"] == n] for n in names}
    check(native(tmp_path / "a.jsonl", *(queues[n].pop(0) for n in names)), parts=5)


def test_a_turn_that_is_cut(tmp_path: Path) -> None:
    """Parallel calls, on lines of their own, with other runs between."""
    lines = [turn(run, k, name=f"t{call}") for k in (1, 2, 3) for call in range(4) for run in "ab"]
    check(native(tmp_path / "a.jsonl", *lines), tries=30)


def test_runs_of_one_turn_begin_at_the_end(tmp_path: Path) -> None:
    lines = [turn("z", 1), *runs("a", turns=4), turn("y", 1), *runs("b", turns=4), turn("x", 1), turn("x", 2)]
    check(native(tmp_path / "a.jsonl", *lines), tries=30)


def test_what_is_skipped_keeps_its_line(tmp_path: Path) -> None:
    odd: list[dict[str, Any] | str] = [
        "{broken",
        '{"a": "cut',
        "",
        "  ",
        "[1]",
        "7",
        {"run_id": "a", "state": "odd"},
        '{"run_id":',
        "\r",
    ]
    lines = [part for k, line in enumerate(runs(*"abcdef")) for part in (line, odd[k % len(odd)])]
    check(native(tmp_path / "a.jsonl", *lines), tries=30)


def test_all_that_is_skipped_is_said_where_that_is_asked_for(tmp_path: Path) -> None:
    lines = [part for line in runs(*"abcdef") for part in (line, "{broken", "7 8")]
    check(native(tmp_path / "a.jsonl", *lines))


def test_values_over_lines_and_several_on_one(tmp_path: Path) -> None:
    spread = json.dumps(turn("s", 1), indent=1)
    lines = [*runs("a", "b"), spread, *runs("c"), "{", *runs("d"), json.dumps(turn("e", 1)) + json.dumps(turn("f", 1))]
    check(native(tmp_path / "a.jsonl", *lines), tries=30, again=True)


def test_ends_and_what_comes_after_them(tmp_path: Path) -> None:
    lines = runs("a", "b")
    lines += [
        {"run_id": "a", "state": "done"},
        *runs("c"),
        {"run_id": "b", "state": "error", "note": "x"},
        turn("b", 9),
    ]
    check(native(tmp_path / "a.jsonl", *lines, {"run_id": "new", "state": "aborted"}), tries=30, again=True)


@pytest.mark.parametrize(
    "asked", [Settings(exact=True), Settings(idle=2.0), Settings(per="session"), Settings(window=4)]
)
def test_under_settings(tmp_path: Path, asked: Settings) -> None:
    lines = [turn(run, k, result="same", args={}) for run in "abcd" for k in (1, 2, 9, 11, 12)]
    check(native(tmp_path / "a.jsonl", *lines), asked=asked, again=True)


@pytest.mark.parametrize(
    "more",
    [
        [turn("a", 2)],  # a copy of a line
        [turn("a", 2, result="other")],  # a lower number
        [turn("a#1", 1, prompt=1), turn("a#2", 1, prompt=2)],
        [{"turn": 1, "name": "x", "result": 1}],  # no run: the file is one
    ],
)
def test_what_only_the_whole_file_tells(tmp_path: Path, more: list[dict[str, Any]]) -> None:
    check(native(tmp_path / "a.jsonl", *runs("a", "b", "c"), *more, *runs("d"), *more), tries=20, again=True)


def chats(ids: list[Any]) -> list[dict[str, Any]]:
    """Runs, one on each line, as lists of messages."""
    lines = []
    for number, name in enumerate(ids):
        messages: list[dict[str, Any]] = [{"role": "user", "content": f"do {number}"}]
        for k in range(3):
            call = {"id": f"c{k}", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": f"c{k}", "content": f"seen {number}"})
        lines.append({"messages": messages, **({} if name is None else {"id": name})})
    return lines


@pytest.mark.parametrize("ids", [range(9), [None] * 9, [1, 2, 1, 3, 1, 2, 5, None, 5]])
def test_message_lists(tmp_path: Path, ids: list[Any]) -> None:
    check(native(tmp_path / "a.jsonl", *chats(list(ids)), "{broken", *chats(["x", "y"])), again=True)


def test_requests_that_continue_each_other_are_not_cut(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "go"}]
    lines = []
    for k in range(40):
        reply = {"role": "assistant", "content": f"step {k} " + "word " * 20}
        response = {"id": f"r{k}", "choices": [{"message": reply}]}
        lines.append({"request": {"model": "gpt-4o", "messages": list(messages)}, "response": response})
        messages += [reply, {"role": "user", "content": "on"}]
    path = native(tmp_path / "a.jsonl", *lines)
    assert places_of(Inputs([str(path)]).items()[0], path.stat().st_size, 4, Inputs([str(path)])) is None


def test_places_of_cuts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = native(tmp_path / "a.jsonl", *runs(*"abcdefgh", turns=20))
    inputs, size = Inputs([str(path)]), path.stat().st_size
    item = inputs.items()[0]
    found = places_of(item, size, 4, inputs)
    assert found is not None
    assert (found.format, found.starts[0], len(found.starts), found.run) == ("loopscan", 0, 4, False)
    assert set(found.starts[1:]) <= set(line_starts(path))
    assert places_of(item, size, 4, Inputs([str(path)], field_map={"name": "x"})) is None
    monkeypatch.setattr("loopscan.cuts.SAMPLE", 300)
    monkeypatch.setattr("loopscan.cuts.STRETCH", 1)
    assert places_of(item, size, 4, inputs) == found
    native(path, *runs("one", turns=160))
    monkeypatch.setattr("loopscan.cuts.STRETCH", 4)
    assert places_of(item, path.stat().st_size, 4, inputs) is None
    assert places_of(item, path.stat().st_size, 1, inputs) == Places("loopscan", [0])


@pytest.mark.parametrize("data", [b"", b"x\n", b'{"a": 1}', b"{\n", b"\x1f\x8b" + b"x" * 9, b"\xff\xfe{\x00}\x00"])
def test_other_files_are_not_cut(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a"
    path.write_bytes(data)
    assert places_of(Inputs([str(path)]).items()[0], 1 << 20, 4, Inputs([str(path)])) is None


def test_lines_and_marks_of_a_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loopscan.portion.STEP", 500)
    path = native(tmp_path / "a.jsonl", *runs(*"abcd"), "", *runs("e"))
    with Blob(str(path), path) as blob:
        want = dict(blob.lines(Skips()))
    starts = [0, *line_starts(path)]
    for start, end in ((0, None), (starts[3], starts[17]), (starts[9], None)):
        before = path.read_bytes()[:start].count(b"\n")
        with Portion(str(path), (start, before), end) as part:
            got = {number: line.rstrip(b"\n") for number, line in part.lines(Skips())}
            marks = part.marks
            assert part.passed == path.read_bytes()[:end].count(b"\n")
        assert got == {number: want[number] for number in got}
        for place, lines in marks:
            assert path.read_bytes()[:place].count(b"\n") == lines
    with Portion(str(path), (starts[9], 0)) as part:
        assert len(part.head.values) == len(want)


def test_a_part_of_a_file_that_is_gone(tmp_path: Path) -> None:
    path = native(tmp_path / "a.jsonl", turn("a", 1))
    inputs = Inputs([str(path)])
    item = inputs.items()[0]
    path.unlink()
    lines = unpacked(Chunk(0, item, 0, None).read(task(inputs, Settings(), Unpriced())), Spill())
    assert isinstance(lines, Lines)
    assert lines.odd


def days(folder: Path, *more: dict[str, Any]) -> list[Path]:
    """Logs of three days: some runs of each, one of all, and some that go on the next day."""
    found = []
    for day in range(3):
        lines = [turn(f"night-{day - 1}", k) for k in (4, 5, 6)] + runs(f"a{day}", f"b{day}", f"c{day}", turns=6)
        lines += [turn("always", 10 * day + k) for k in (1, 2)] + runs(f"d{day}")
        lines += [turn(f"one-{day}", 1)] + [turn(f"night-{day}", k) for k in (1, 2, 3)]
        found.append(native(folder / f"{day}.jsonl", *lines, *more))
    return found


def test_runs_that_go_on_in_the_next_file(tmp_path: Path) -> None:
    paths = days(tmp_path)
    read = check(*paths, parts=4, tries=20)
    assert any(isinstance(share, Stretch) and len(share.segments) == 3 for share in read)
    check(*paths, parts=1, tries=1)


def test_damaged_lines_in_such_files(tmp_path: Path) -> None:
    check(*days(tmp_path, {"run_id": "always", "state": "odd"}, {"state": 1}), parts=3, tries=20)


def test_copies_in_such_files(tmp_path: Path) -> None:
    check(*days(tmp_path, turn("always", 2), {"run_id": "a0", "state": "done"}), parts=3, again=True)


def test_such_files_by_the_command_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    days(tmp_path, *runs(*"xyz", turns=15))
    same(capfd, str(tmp_path), "-f", "json", "-v")


def test_by_the_command_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = native(tmp_path / "a.jsonl", *runs(*"abcdefgh", turns=20), "{broken", *runs(*"ijk", turns=20))
    native(tmp_path / "b.jsonl", *runs("b", "x"))
    for paths in ([str(path)], [str(tmp_path)]):
        for form in ("json", "table"):
            same(capfd, *paths, "-f", form, "-v")


ODD = st.sampled_from(["{", "{broken", "[]", '  "x"', "}", "", "7 8", '{"run_id":"a","state":"done"}', "null"])
LINES = st.lists(
    st.one_of(
        st.builds(
            lambda run, number, name, stamped: json.dumps(
                {"run_id": run, "name": name, "args": 1, "result": number // 2, "turn": number}
                | ({"ts": number} if stamped else {})
            ),
            st.sampled_from("abcdef"), st.integers(1, 9), st.sampled_from("tu"), st.booleans(),
        ),
        ODD,
    ),
    min_size=2, max_size=30,
)  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=LINES, seed=st.integers(0, 99), exact=st.booleans())
def test_random_lines(tmp_path: Path, lines: list[str], seed: int, exact: bool) -> None:
    path = native(tmp_path / "a.jsonl", turn("first", 1), *lines, turn("last", 1))
    starts, chance, asked = line_starts(path), Random(seed), Settings(exact=exact)
    places = sorted(chance.sample(starts, min(chance.randint(1, 4), len(starts))))
    got, _ = in_parts([path], asked, [places])
    assert got == whole([path], asked)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=st.lists(LINES, min_size=2, max_size=4), seed=st.integers(0, 99))
def test_random_lines_in_files(tmp_path: Path, files: list[list[str]], seed: int) -> None:
    chance, paths, places = Random(seed), [], []
    for k, lines in enumerate(files):
        stamped = [line.replace('"ts": ', f'"ts": {k}').replace('"turn": ', f'"turn": {k}') for line in lines]
        paths.append(native(tmp_path / f"{k}.jsonl", turn(f"first-{k}", 1), *stamped, turn("last", 10 * k + 1)))
        starts = line_starts(paths[-1])
        places.append(sorted(chance.sample(starts, min(chance.randint(0, 3), len(starts)))))
    got, _ = in_parts(paths, Settings(), places)
    assert got == whole(paths, Settings())


@pytest.mark.parametrize("seed", range(6))
def test_nasty_json(tmp_path: Path, seed: int) -> None:
    lines = "\n".join(log(Random(seed), 40)).encode("utf-8", "surrogatepass")
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines + b"\n")
    check(path, tries=3)


def test_a_crew_of_real_processes(tmp_path: Path) -> None:
    path = native(tmp_path / "a.jsonl", *runs(*"abcdefgh"))
    inputs = Inputs([str(path)])
    with Crew(2, task(inputs, Settings(), Unpriced())) as crew:
        shares = {k: Chunk(0, inputs.items()[0], place, None) for k, place in enumerate(line_starts(path)[:5])}
        assert sorted(number for number, _ in crew.results(shares)) == list(shares)
