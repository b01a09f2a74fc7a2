"""The outputs for programs, CI and dashboards: golden files, and what reads them takes them."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from prometheus_client.parser import text_string_to_metric_families

from loopscan import audit
from loopscan.exits import ORDER
from loopscan.model import STATES
from loopscan.prices import from_options
from loopscan.render import Options
from loopscan.render.markdown import ROOM, cell, code, plain
from loopscan.report import Report
from tests.conftest import SAMPLES, loopscan, native
from tests.render.fixed import NOW, check, report, written

GOLDEN = {"markdown": "md", "junit": "xml", "prometheus": "prom", "csv": "csv", "jsonl": "jsonl"}
EVIL = "a|b`c``d\\|e <img src=x> [x](y) *z* _w_ &amp; \x1b[31m\u202e\ufffe\ud800 #1 @me"


@pytest.fixture(scope="module")
def samples() -> Report:
    return audit(SAMPLES, prices=from_options(3, 15))


@pytest.fixture
def evil(tmp_path: Path) -> Report:
    line = {"run_id": EVIL, "name": EVIL, "args": {}, "result": EVIL, "model": EVIL, "input_tokens": 9}
    lines = [line] * 5 + [{"run_id": EVIL, "state": "aborted"}, {"run_id": "b", "name": "t", "args": 1}] * 2
    return audit(native(tmp_path / "t.jsonl", *[json.dumps(part) for part in lines]))


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name: str) -> None:
    check(f"report.{GOLDEN[name]}", written(name, report()))


def table(text: str, title: str) -> list[list[str]]:
    """The cells of the first table under a heading, as a renderer of GitHub's Markdown shows them."""
    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    _, _, rest = html.partition(title)
    body = rest.partition("<table>")[2].partition("</table>")[0]
    return [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.S) for row in re.findall(r"<tr>(.*?)</tr>", body, re.S)]


def test_markdown_renders_as_a_table(samples: Report) -> None:
    rows = table(written("markdown", samples, Options()), "<h2>loopscan</h2>")
    assert rows[0] == ["run", "state", "turns", "verdict", "no progress at", "first exit", "wasted", "cost"]
    assert len(rows) == len(samples.runs) + 1
    assert {len(row) for row in rows} == {8}
    assert rows[1][0] == "<code>deploy-0412</code>"


def test_markdown_of_hostile_names(evil: Report) -> None:
    text = written("markdown", evil)
    rows = table(text, "<h2>loopscan</h2>")
    assert {len(row) for row in rows} == {8}
    html = MarkdownIt("commonmark").enable("table").render(text)
    assert not re.search(r"<(img|a|em|del)\b", html)
    assert "\x1b" not in text
    assert any("&lt;img src=x&gt; [x](y) *z* _w_ &amp;amp;" in row[0] for row in rows)


CODE = {"a": "`a`", "`": "`` ` ``", "a`b": "``a`b``", "``": "``` `` ```", "": "` `"}
CELLS = {"a|b": "a\\|b", "a\\|b": "a\\\\\\|b", "|": "\\|", "a\\b": "a\\b"}


def test_code_spans_and_cells() -> None:
    assert {text: code(text) for text in CODE} == CODE
    assert {text: cell(text) for text in CELLS} == CELLS
    assert plain("get_a_b, _x_ <$0.0001 ~2 a|b") == "get_a_b, \\_x\\_ \\<$0.0001 \\~2 a\\|b"


def test_markdown_fits_a_summary_page(tmp_path: Path) -> None:
    lines = [{"run_id": f"{i:05}" + "x" * 200, "name": "t", "args": {}, "result": 1} for i in range(8000)]
    many = audit(native(tmp_path / "t.jsonl", *lines))
    text = written("markdown", many)
    assert len(text.encode()) < 1 << 20
    assert re.search(r"… [\d,]+ more runs than fit on a summary page\n", text)
    shown = text.count("\n| `")
    assert f"{8000 - shown:,} more runs" in text
    assert len(written("markdown", many, Options(limit=5)).encode()) < ROOM / 100


def test_limit_of_markdown(samples: Report) -> None:
    text = written("markdown", samples, Options(limit=3, detail=1))
    assert f"… {len(samples.runs) - 3:,} more runs (--limit 0 shows all)" in text
    assert len(table(text, "<h2>loopscan</h2>")) == 4
    assert text.count("\n### ") == 1


TOKEN, DECIMAL, WHOLE = r"\S.*", r"\d+\.\d{3}", r"\d+"
SUITE = {
    "id": WHOLE, "package": TOKEN, "name": TOKEN, "timestamp": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", "hostname": TOKEN,
    "tests": WHOLE, "failures": WHOLE, "errors": WHOLE, "skipped": WHOLE, "time": DECIMAL,
}  # fmt: skip
ATTRIBUTES = {
    "testsuites": {}, "testsuite": SUITE, "properties": {}, "property": {"name": TOKEN, "value": ".*"},
    "testcase": {"classname": TOKEN, "name": ".+", "time": DECIMAL}, "failure": {"type": TOKEN, "message": TOKEN},
    "skipped": {}, "system-out": {}, "system-err": {},
}  # fmt: skip
CHILDREN = {
    "testsuites": "(testsuite )*", "testsuite": "properties (testcase )*system-out system-err ",
    "properties": "(property )*", "testcase": "((skipped|failure) )?",
}  # fmt: skip
"""What the schemas of Ant's junitreport and of Jenkins' xUnit plugin have in common."""


def check_junit(text: str) -> ElementTree.Element:
    root = ElementTree.fromstring(text)
    for element in root.iter():
        allowed = ATTRIBUTES[element.tag]
        assert set(element.attrib) == set(allowed), element.tag
        assert all(re.fullmatch(allowed[k], v) for k, v in element.attrib.items()), element.attrib
        inside = "".join(f"{child.tag} " for child in element)
        assert re.fullmatch(CHILDREN.get(element.tag, ""), inside), (element.tag, inside)
    return root


def test_junit_keeps_to_the_schema(samples: Report) -> None:
    root = check_junit(written("junit", samples))
    cases = root.findall(".//testcase")
    assert [c.get("name") for c in cases] == [r.run for r in samples.runs]
    failed = [c.get("name") for c in cases if c.find("failure") is not None]
    assert failed == [r.run for r in samples.runs if r.verdict == "stuck"]
    suite = root.find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == (str(len(cases)), str(len(failed)))


def test_junit_of_hostile_names(evil: Report) -> None:
    root = check_junit(written("junit", evil))
    assert {c.get("name") for c in root.iter("testcase")} == {
        "a|b`c``d\\|e <img src=x> [x](y) *z* _w_ &amp; ␛[31m\\u202e\\ufffe\\ud800 #1 @me",
        "b",
    }
    assert root.find(".//testcase[@name='b']/skipped") is not None  # blind


def families(text: str) -> dict[str, dict[tuple[str, ...], float]]:
    """Every gauge, parsed by Prometheus' own client, and what promtool would complain of."""
    found = {}
    for family in text_string_to_metric_families(text):
        assert (family.type, bool(family.documentation)) == ("gauge", True)
        assert re.fullmatch(r"loopscan_[a-z_]+(?<!_total)(?<!_count)(?<!_sum)(?<!_bucket)", family.name)
        assert all(sample.timestamp is None for sample in family.samples)
        found[family.name] = {tuple(s.labels.values()): s.value for s in family.samples}
    return found


def test_prometheus(samples: Report) -> None:
    text = written("prometheus", samples)
    gauges = families(text)
    totals = samples.totals()
    assert sum(gauges["loopscan_runs"].values()) == totals["runs"]
    assert set(gauges["loopscan_runs"]) == {(s, f) for f in {r.format for r in samples.runs} for s in STATES}
    assert gauges["loopscan_first_exit"] == {(e,): totals["first_exits"].get(e, 0) for e in ORDER}
    assert gauges["loopscan_wasted_usd"] == {(): totals["wasted_usd"]}
    assert gauges["loopscan_wasted_turns"] == {(): totals["wasted_turns"]}
    assert gauges["loopscan_skipped_records"] == {(): samples.skipped.total}
    assert gauges["loopscan_last_success_timestamp_seconds"] == {(): NOW}
    assert len(re.findall("^# TYPE (.*)$", text, re.M)) == len(set(re.findall("^# TYPE (.*)$", text, re.M)))


def test_prometheus_has_no_run_ids_and_no_unknown_dollars(evil: Report) -> None:
    gauges = families(written("prometheus", evil))
    assert gauges["loopscan_runs"][("aborted", "loopscan")] == 1
    assert "loopscan_wasted_usd" not in gauges
    assert gauges["loopscan_unpriced_sends"][()] > 0
    assert "x](y)" not in written("prometheus", evil)


def test_prometheus_of_nothing() -> None:
    empty = replace(report(), runs=[])
    assert families(written("prometheus", empty))["loopscan_usd"] == {(): 0}


def test_csv_is_rectangular(samples: Report, evil: Report) -> None:
    for scan in (samples, evil):
        rows: list[dict[str, Any]] = list(csv.DictReader(io.StringIO(written("csv", scan))))
        assert len(rows) == len(scan.runs)
        assert all(None not in row and None not in row.values() for row in rows)


def test_output_is_put_in_place_whole(tmp_path: Path) -> None:
    target = tmp_path / "loopscan.prom"
    target.write_text("old")
    target.chmod(0o640)
    link = tmp_path / "link.prom"
    link.symlink_to(target)
    done = loopscan("audit", str(SAMPLES / "loopscan"), "-f", "prometheus", "--output", str(link))
    assert (done.returncode, done.stdout) == (0, "")
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert families(target.read_text())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.prom", "loopscan.prom"]


def test_output_to_a_device(tmp_path: Path) -> None:
    done = loopscan("audit", str(SAMPLES / "loopscan"), "-f", "markdown", "--output", "/dev/stdout")
    assert done.stdout.startswith("## loopscan")
    assert loopscan("audit", str(SAMPLES / "loopscan"), "--output", str(tmp_path)).returncode == 2
