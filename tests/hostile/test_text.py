"""Text that attacks what shows it, in every field that reaches an output; every output is looked at byte by byte."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from prometheus_client.parser import text_string_to_metric_families

from loopscan import audit
from loopscan.cli import run
from loopscan.render import COST_RENDERERS, RENDERERS, Options
from loopscan.report import Report
from tests.conftest import native
from tests.hostile.nasty import TEXTS
from tests.render.fixed import written
from tests.test_terminal import seen

UNSEEN = {
    0x34F,
    0x115F,
    0x1160,
    0x17B4,
    0x17B5,
    0x2800,
    0x3164,
    0xFFA0,
    *range(0x180B, 0x1810),
    *range(0xE0000, 0xE1000),
}
SEEN = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
STYLE = re.compile(r"\x1b\[[0-9;]*m")
WIDTH = 100


def harmful(text: str) -> set[str]:
    """The characters of a text that no output may hold; told by Unicode's own categories."""
    used = set(text) - {"\n"}
    bad = {char for char in used if _acts(char)}
    marks = "".join(char for char in used if unicodedata.category(char) in ("Mn", "Me"))
    return bad | ({"pile of marks"} if marks and re.search(f"[{marks}]{{4}}", text) else set())


def _acts(char: str) -> bool:
    code = ord(char)
    if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return code not in SEEN
    return code in UNSEEN or code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF or 0xFFF0 <= code <= 0xFFF8


def hostile(text: str) -> list[dict[str, Any]]:
    """A stuck run, a run that failed and a run beside it with this text in every field."""
    about = {"model": text, "labels": {text: text}, "parent": text, "session": text, "usd": 0.5, "input_tokens": 10}
    call = {"run_id": text, "name": text, "args": {text: text}, "result": text, "text": text, **about}
    return [
        *[call] * 6,
        {"run_id": text, "state": "error", "note": text},
        *[{"run_id": f"{text}2", "text": text, **about}] * 5,
        {"run_id": f"{text}3", "error": text, "result": text, **about},
        {"run_id": text, "state": text},
        {"run_id": "plain", "name": "t", "args": {}, "result": 1},
    ]


@pytest.fixture(scope="module", params=TEXTS)
def evil(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Report, Report]:
    """The text, a report full of it, and the same report with a harmless text."""
    log = tmp_path_factory.mktemp("evil") / "x.jsonl"
    text = TEXTS[request.param]
    evil, plain = (audit(native(log, *hostile(t), "not JSON")) for t in (text, "text"))
    return text, evil, plain


def test_no_output_holds_a_harmful_byte_or_a_line_too_many(evil: tuple[str, Report, Report]) -> None:
    _, report, harmless = evil
    shapes = [Options(now=1), Options(now=1, width=WIDTH, color=True, limit=20), Options(now=1, width=40, color=True)]
    for name in RENDERERS:
        for options in shapes:
            page = written(name, report, options)
            assert harmful(STYLE.sub("", page)) == set(), name
            assert options.color or not STYLE.search(page), name
        if name != "table":  # labels are sorted by their text
            assert page.count("\n") == written(name, harmless, shapes[-1]).count("\n"), name
    assert len(written("table", report).splitlines()) == len(written("table", harmless).splitlines())


def test_json_holds_the_very_text(evil: tuple[str, Report, Report]) -> None:
    text, report, _ = evil
    document = json.loads(written("json", report))
    lines = [json.loads(line) for line in written("jsonl", report).splitlines()]
    assert document["runs"] == lines
    assert lines[0]["run"] == text
    assert lines[0]["labels"] == {text: text}
    assert lines[0]["no_progress"]["block"][0] == {"name": text, "args": {text: text}}
    assert lines[0]["notes"][0] == f"ended: {text}"


def test_csv_is_taken_apart_into_the_same_cells(evil: tuple[str, Report, Report]) -> None:
    _, report, _ = evil
    rows = list(csv.reader(io.StringIO(written("csv", report))))
    assert {len(row) for row in rows} == {len(rows[0])}
    assert len(rows) == len(report.runs) + 1
    for cell in [c for row in rows[1:] for c in row if c]:
        assert cell[0] not in "=+-@＝＋－＠\t\r\n" or re.fullmatch(r"-?[\d.e+-]+", cell), cell


def test_markdown_is_one_table_and_no_markup(evil: tuple[str, Report, Report]) -> None:
    _, report, _ = evil
    parser = MarkdownIt("commonmark").enable("table").enable("strikethrough")
    page = written("markdown", report)
    kinds, links = set(), re.findall(r"(?<!&#58;)://|www\.|(?<![`\w])@\w", re.sub("(`+).*?[^`]\\1(?!`)", "", page))
    for token in parser.parse(page):
        kinds |= {token.type, *(c.type for c in token.children or ())}
    assert not kinds & {"html_inline", "html_block", "link_open", "image", "em_open", "s_open", "fence", "code_block"}
    assert not links
    html = parser.render(page)
    rows = re.findall(r"<tr>(.*?)</tr>", html.partition("</table>")[0], re.DOTALL)
    assert {len(re.findall("<t[dh]", row)) for row in rows} == {8}
    assert len(rows) == len(report.runs) + 1


def test_junit_is_the_same_tree(evil: tuple[str, Report, Report]) -> None:
    _, report, harmless = evil

    def tree(page: str) -> list[tuple[str, int, int]]:
        return [(e.tag, len(e), len(e.attrib)) for e in ElementTree.fromstring(page.encode()).iter()]

    assert tree(written("junit", report)) == tree(written("junit", harmless))


def test_prometheus_has_the_same_samples(evil: tuple[str, Report, Report]) -> None:
    _, report, harmless = evil

    def samples(page: str) -> list[tuple[str, dict[str, str], float]]:
        return [(s.name, s.labels, s.value) for f in text_string_to_metric_families(page) for s in f.samples]

    assert samples(written("prometheus", report, Options(now=1))) == samples(
        written("prometheus", harmless, Options(now=1))
    )


COMMANDS = [
    *(["audit", "-f", name] for name in RENDERERS),
    *(["audit", "--redact", "-f", name] for name in RENDERERS),
    *(["cost", "-f", name] for name in COST_RENDERERS),
    *(["replay", "-f", name] for name in ("table", "json", "csv")),
    ["convert"],
    ["audit", "--verbose", "--fail-on", "stuck"],
    ["audit", "--exact"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command(command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "\x1b[31m\u202e[b]\n"
    folder.mkdir()
    log = native(folder / "\x1b]0;x\x07.jsonl", *[line for text in TEXTS.values() for line in hostile(text)], "no JSON")
    (folder / "\x1b[7mempty").write_bytes(b"\x1b[31m not a log\n")
    run([*command, str(folder), str(log), "\x1b[1mmissing\n"])
    shown = capsys.readouterr()
    assert harmful(shown.out) == set()
    assert harmful(shown.err) == set()
    assert all(line.startswith("loopscan: ") for line in shown.err.splitlines())
    assert len(shown.out) > 100


@pytest.mark.parametrize("by", ["agent", "model", "tool", "format"])
def test_history(by: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [{"ts": 1793491200, **line} for text in TEXTS.values() for line in hostile(text)]
    log, store = native(tmp_path / "x.jsonl", *lines), str(tmp_path / "s.db")
    run(["audit", str(log), "--store", store, "-q"])
    capsys.readouterr()
    for name in ("table", "json", "csv"):
        run(["history", "--store", store, "--by", by, "-f", name])
        shown = capsys.readouterr()
        assert harmful(shown.out + shown.err) == set()
        assert len(shown.out) > 100


@pytest.mark.parametrize("columns", [40, 120])
def test_a_terminal_gets_our_colours_only(columns: int, tmp_path: Path) -> None:
    log = native(tmp_path / "\x1b[31m.jsonl", *[line for text in TEXTS.values() for line in hostile(text)], "no JSON")
    for command in (["audit", "--limit", "0", "--detail", "50"], ["cost"]):
        page = seen(*command, str(log), columns=columns)
        assert STYLE.search(page)
        assert harmful(STYLE.sub("", page)) == set()
    messages = seen("audit", str(log), "\x1b[2Jmissing", columns=columns, stderr=True)
    assert "missing" in messages
    assert harmful(messages) == set()


def test_a_name_that_is_spelt_like_an_option_of_a_shell_is_a_name(tmp_path: Path) -> None:
    (tmp_path / "-o x.jsonl").write_text('{"run_id":"r","name":"t","args":{},"result":1}\n')
    assert [r.run for r in audit(str(tmp_path)).runs] == ["r"]
