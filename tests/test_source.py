"""From bytes to values: line logs, documents, compression, damage at the beginning."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

from loopscan.blob import Blob
from loopscan.skips import Skips
from loopscan.source import Input, expand, open_input

DOC = json.dumps({"a": [1, {"b": "x\\ny"}], "c": {"d": None}}, indent=2).encode()
LINES = b'{"a":1}\n{"b":2}\n\n{"c":3}\n'

READ = {
    "lines": (LINES, [(1, {"a": 1}), (2, {"b": 2}), (4, {"c": 3})], 0),
    "no newline at the end": (b'{"a":1}\n{"b":2}', [(1, {"a": 1}), (2, {"b": 2})], 0),
    "one document over lines": (DOC, [(1, json.loads(DOC))], 0),
    "documents one after another": (DOC + b"\n" + DOC, [(1, json.loads(DOC)), (2, json.loads(DOC))], 0),
    "an array with an object per line": (b'[\n{"a":1},\n {"b":2}\n]\n', [(1, [{"a": 1}, {"b": 2}])], 0),
    "two values on a line": (b'{"a":1} {"b":2}\n{"c":3}\n', [(1, {"a": 1}), (1, {"b": 2}), (2, {"c": 3})], 0),
    "a first line cut in a string": (b'{"a":"x\n' + LINES, [(2, {"a": 1}), (3, {"b": 2}), (5, {"c": 3})], 1),
    "a first line cut after a colon": (b'{"a":\n{"b":2}\n{"c":3}\n', [(2, {"b": 2}), (3, {"c": 3})], 1),
    "two lines, the first cut after a colon": (b'{"a":\n{"b":2}\n', [(2, {"b": 2})], 1),
    "a document cut short": (DOC[:-9], [(1, {"a": [1, {"b": "x\\ny"}]})], 1),
    "garbage": (b"\x00\xff\x01\n\x02\n", [], 2),
    "byte order mark": (b"\xef\xbb\xbf" + LINES, [(1, {"a": 1}), (2, {"b": 2}), (4, {"c": 3})], 0),
    "carriage returns": (LINES.replace(b"\n", b"\r\n"), [(1, {"a": 1}), (2, {"b": 2}), (4, {"c": 3})], 0),
    "nothing": (b"", [], 0),
    "blank lines first": (
        b"\n" * 999 + b" \t\n" * 99_999 + LINES,
        [(100_999, {"a": 1}), (101_000, {"b": 2}), (101_002, {"c": 3})],
        0,
    ),
    "white space": (b"\n \n\t\n", [], 0),
}


def values(data: bytes) -> tuple[list, int]:
    skips = Skips()
    with Blob("x", None, io.BytesIO(data)) as blob:
        return list(blob.values(skips)), skips.total


@pytest.mark.parametrize(("data", "want", "skipped"), READ.values(), ids=READ)
def test_values(data: bytes, want: list, skipped: int) -> None:
    assert values(data) == (want, skipped)


@pytest.mark.parametrize("data", [LINES, DOC], ids=["lines", "document"])
def test_gzip_by_content(data: bytes) -> None:
    assert values(gzip.compress(data)) == values(data)


def test_a_cut_gzip_keeps_what_was_read() -> None:
    data = b"".join(b'{"n":%d,"x":"%d"}\n' % (i, i * 7919) for i in range(50_000))
    found, skipped = values(gzip.compress(data)[:-5000])
    assert 1000 < len(found) < 50_000
    assert [v["n"] for _, v in found[:3]] == [0, 1, 2]
    assert skipped in (1, 2)


def test_a_long_first_line_and_many_after_it() -> None:
    data = b'{"x":"' + b"y" * 3_000_000 + b'"}\n' + LINES
    found, skipped = values(data)
    assert [n for n, _ in found] == [1, 2, 3, 5]
    assert skipped == 0


def test_expand_walks_folders_sorted_and_once(tmp_path: Path) -> None:
    for name in ("b/2.jsonl", "a/1.jsonl", "a/notes.txt", "a/history.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    got = [str(Path(i.path).relative_to(tmp_path)) for i in expand([str(tmp_path), str(tmp_path / "a")])]
    assert [g for g in got if "loop" not in g] == ["a/1.jsonl", "a/notes.txt", "b/2.jsonl"]
    assert len(got) <= 6


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("/", "a link to a folder above, not followed"),
        ("..", "a link to a folder above, not followed"),
        (".", None),
        ("../beside", None),
        ("/proc", "a link to /proc, not followed"),
        ("/proc/self/task", "a link to /proc, not followed"),
        ("/dev", "a link to /dev, not followed"),
    ],
)
def test_a_link_does_not_lead_to_all_there_is(tmp_path: Path, target: str, why: str | None) -> None:
    top, beside = tmp_path / "logs", tmp_path / "beside"
    for folder in (top / "in", beside):
        folder.mkdir(parents=True)
        (folder / "1.jsonl").write_text("{}")
    link = top / "link"
    link.symlink_to(target)
    got = expand([str(top)])
    assert [i.problem for i in got if i.path == str(link)] == ([why] if why else [])
    assert len(got) == (2 if target == "../beside" or why else 1)
    if target in ("..", "../beside"):
        assert len(expand([str(link)])) > 0, "what is named is read wherever it leads"


def test_expand_globs(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("{}")
    assert expand([str(tmp_path / "*.jsonl")]) == [Input(str(tmp_path / "x.jsonl"), named=False)]


def test_a_directory_with_a_dangling_link(tmp_path: Path) -> None:
    gone = tmp_path / "gone.jsonl"
    gone.symlink_to(tmp_path / "nowhere")
    assert expand([str(tmp_path)]) == [Input(str(gone), named=False, problem="a link that leads nowhere")]


@pytest.mark.parametrize("more", [b'2}\n{"a":3}\n', b"2}", b'\n{"a":3}\n'])
@pytest.mark.parametrize("lines", [0, 1, 100_000])
def test_a_file_that_grows_is_read_up_to_where_it_ended(tmp_path: Path, lines: int, more: bytes) -> None:
    """And to the end of the line that was being written."""
    log = tmp_path / "x.jsonl"
    cut = more.startswith(b"2")
    log.write_bytes(b'{"a":1}\n' * lines + (b'{"a":' if cut else b'{"a":2}'))
    with Blob(str(log), log) as blob, log.open("ab", buffering=0) as writer:
        found = [0, 0]
        for _, value in blob.values(Skips()):
            found[0] += 1
            found[1] += value["a"]
            if lines and found[0] < 50:
                writer.write(more if found[0] == 1 else b'\n{"a":4}' * 1000)
    whole = lines or not cut
    assert found == ([lines + 1, lines + 2] if whole else [0, 0])


def test_a_file_of_the_system_holds_more_than_it_says() -> None:
    log = Path("/proc/self/environ")
    if log.exists():
        assert log.stat().st_size == 0
        with Blob(str(log), log) as blob:
            assert len(blob.head.raw) > 0


def test_a_head_is_sniffed_without_losing_it(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(LINES)
    with open_input(Input(str(tmp_path / "x.jsonl"), named=True)) as blob:
        assert blob.head.values == [{"a": 1}, {"b": 2}, {"c": 3}]
        assert len(list(blob.values(Skips()))) == 3
