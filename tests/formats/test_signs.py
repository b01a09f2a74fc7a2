"""A reader is loaded to tell a format only where the log shows a sign of it: every log that it claims must."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest

from loopscan.blob import Blob, Head
from loopscan.formats import _SIGNS, FORMATS, detect, load
from tests.formats.test_contract import REAL_FILES, SAMPLE_FILES, is_text, name_of

_LINES = 20


def heads(path: Path) -> list[Head]:
    """What a file, each of its first lines, and the file without them begin with."""
    raw = path.read_bytes()
    lines = raw.splitlines(keepends=True) if is_text(path) else []
    parts = [part for i in range(min(len(lines), _LINES)) for part in (lines[i], b"".join(lines[i : i + _LINES]))]
    return [Blob(path.name, stream=BytesIO(part)).head for part in (raw, *parts)]


@pytest.mark.parametrize("path", SAMPLE_FILES + REAL_FILES, ids=name_of)
def test_what_a_reader_claims_shows_a_sign_of_it(path: Path) -> None:
    for head in heads(path):
        claims = [name for name in FORMATS if load(name).sniff(head)]
        signs = {name: any(sign in head.raw for sign in _SIGNS.get(name, (b"",))) for name in claims}
        assert head.document or all(signs.values()), f"{signs} of {head.raw[:200]!r}"
        assert detect(head) == next(iter(claims), None)


NATIVE = (
    b'{"run_id":"r","turn":1,"ts":1,"name":"t","args":{"q":"x"},"result":"ok","input_tokens":9,"model":"m"}\n',
    b'{"run_id":"r","tool":"t","result":"message, trace, request, response, type, output","span":{"trace_id":"6"}}\n',
)


@pytest.mark.parametrize("line", NATIVE)
def test_a_native_log_needs_one_reader(line: bytes) -> None:
    assert [name for name, signs in _SIGNS.items() if any(sign in line for sign in signs)] == []
