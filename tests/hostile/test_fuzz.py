"""The fuzz targets for a short while: no input may raise, hang, or harm a run read before or after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopscan import audit
from loopscan.formats import FORMATS
from tests.fuzz import targets
from tests.hostile.mutation import documents, dumped, nodes
from tests.hostile.nasty import DEEP
from tests.hostile.scanning import SAMPLE_FILES, scanned, shown

EXAMPLES = 6
PLACES = 10


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_bytes_and_values_of_other_types(name: str, tmp_path: Path) -> None:
    for target in targets([name], tmp_path):
        for kind in target.kinds():
            kind(EXAMPLES, salt=len(name))


@pytest.mark.parametrize("name", FORMATS)
def test_values_nested_to_the_limit(name: str, tmp_path: Path) -> None:
    """What is just not too deep for the decoder may be too deep for whoever walks it."""
    deepest = [key for key, (_, depth) in DEEP.items() if depth >= 800]
    for target in targets([name], tmp_path)[:2]:
        docs = documents(target.data)
        places = list(nodes([docs])) if docs else []
        for i, (holder, key) in enumerate(places[len(name) % 7 :: max(1, len(places) // PLACES)]):
            before, holder[key] = holder[key], deepest[i % len(deepest)]
            target.path.write_text("\n".join(map(dumped, docs or [])) + "\n")
            shown(scanned(target.path, name).report)
            holder[key] = before


def test_every_sample_of_a_format_is_a_target(tmp_path: Path) -> None:
    assert all(SAMPLE_FILES.values())
    assert len(targets(list(FORMATS), tmp_path)) == sum(map(len, SAMPLE_FILES.values()))


CRASHES: dict[str, tuple[str, str]] = {
    "a session id that is a path": (
        "cline/1.messages.json",
        '{"sessionId": "/dev/zero", "messages": [], "version": 1}',
    ),
    "a session id too long for a name": (
        "cline/2.messages.json",
        '{"sessionId": "%s", "messages": [], "version": 1}' % ("é" * 300),
    ),
    "a session file at the top of the disk": ("x.json", '{"id":"s","directory":"/","time":{"created":1,"updated":2}}'),
    "an integer of two signs": (
        "spans.jsonl",
        (
            '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"s","name":"chat","attributes":'
            '[{"key":"gen_ai.usage.input_tokens","value":{"intValue":"--1"}},{"key":"gen_ai.operation.name",'
            '"value":{"stringValue":"chat"}}]}]}]}]}'
        ),
    ),
    "a continuation too long for a name": (
        "trajectory.json",
        '{"schema_version":"ATIF-v1.4","session_id":"s","steps":[],"continued_trajectory_ref":"%s"}' % ("x" * 5000),
    ),
}
"""What fuzzing found once."""


@pytest.mark.parametrize(("file", "text"), CRASHES.values(), ids=CRASHES)
def test_what_fuzzing_found(file: str, text: str, tmp_path: Path) -> None:
    target = tmp_path / file
    target.parent.mkdir(exist_ok=True)
    target.write_text(text)
    shown(scanned(target).report)
    audit(str(tmp_path))
