"""The fuzz targets for a short while: no input may raise, hang, or harm a run read before or after it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from msgspec.structs import astuple

from loopscan import audit
from loopscan.blob import Blob
from loopscan.formats import FORMATS, Scan, load
from loopscan.model import Turn
from tests.fuzz import Reader, fuzz, targets
from tests.hostile.mutation import documents, dumped, nodes
from tests.hostile.nasty import DEEP
from tests.hostile.scanning import SAMPLE_FILES, scanned, shown

INPUTS = 15
PLACES = 5


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_bytes_and_values_of_other_types(name: str, tmp_path: Path) -> None:
    (reader,) = fuzz([name], tmp_path, INPUTS, seconds=60, seed=len(name))
    assert not reader.found
    assert reader.inputs == INPUTS


def test_the_same_seed_makes_the_same_inputs(tmp_path: Path) -> None:
    def made(seed: int) -> list[bytes]:
        found = []
        reader = Reader("messages", targets("messages", tmp_path / f"{seed}-{len(list(tmp_path.iterdir()))}"))
        for number in range(12):
            reader.take(seed, number, reader.targets)
            found.append(reader.targets[number % len(reader.targets)].path.read_bytes())
        return found

    once = made(5)
    assert once == made(5)
    assert once != made(6)
    assert len(set(once)) == len(once)


@pytest.mark.parametrize("name", FORMATS)
def test_values_nested_to_the_limit(name: str, tmp_path: Path) -> None:
    """What is just not too deep for the decoder may be too deep for whoever walks it."""
    deepest = [key for key, (_, depth) in DEEP.items() if depth >= 800]
    for target in targets(name, tmp_path, among=False)[:2]:
        docs = documents(target.data)
        places = list(nodes([docs])) if docs else []
        for i, (holder, key) in enumerate(places[len(name) % 7 :: max(1, len(places) // PLACES)]):
            before, holder[key] = holder[key], deepest[i % len(deepest)]
            target.path.write_text("\n".join(map(dumped, docs or [])) + "\n")
            shown(scanned(target.path, name).report)
            holder[key] = before


@pytest.mark.parametrize("name", FORMATS)
def test_a_turn_that_was_handed_on_is_not_changed_any_more(name: str, tmp_path: Path) -> None:
    """Not when its results are missing, nor when they come late, nor when lines stand in another order."""
    chance = random.Random(name)
    for target in targets(name, tmp_path, among=False):
        lines = target.data.splitlines(keepends=True) if target.values and len(target.values) > 1 else [target.data]
        for _ in range(4 if len(lines) > 1 else 1):
            kept = [line for line in lines if chance.random() < 0.7]
            head, rest = kept[:2], kept[2:]
            chance.shuffle(rest)
            target.path.write_bytes(b"".join([*head, *rest, *chance.sample(rest, len(rest)), *rest]))
            with Blob(str(target.path), target.path) as blob:
                met = [(e, repr(e)) for e in load(name).read(blob, Scan()) if isinstance(e, Turn)]
            assert [repr(turn) for turn, _ in met] == [then for _, then in met], target.sample
            used = [u for turn, _ in met if (u := turn.usage) is not None]
            assert min((n for u in used for n in astuple(u) if n is not None), default=0) >= 0


def test_good_runs_of_a_file_stand_round_the_damage_wherever_a_file_can_hold_several(tmp_path: Path) -> None:
    """What is asked of neighbours is worth nothing where there are none."""
    made = {name: targets(name, tmp_path) for name in FORMATS}
    assert {name: [target.sample for target in mine] for name, mine in made.items()} == SAMPLE_FILES
    alone = {name for name, mine in made.items() if not any(target.around for target in mine)}
    one_session_a_file = {
        "opencode", "goose", "amp", "atif", "openhands-sdk", "sweagent", "mini-swe-agent", "magentic-who-and-when",
        "agentlab", "cline", "codex", "kimi", "cursor", "otel-console",
    }  # fmt: skip
    assert alone <= one_session_a_file | {"mlflow"}  # whose trace ids are written in three ways


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
