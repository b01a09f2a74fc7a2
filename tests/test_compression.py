"""The swift way through gzip gives what zlib gives: the same bytes, and the same words about damage."""

from __future__ import annotations

import gzip
import io
import random
from collections.abc import Callable

import pytest

from loopscan.compression import swift_module, unpacked
from loopscan.stream import Plain

TEXT = b"".join(b'{"n":%d,"x":"%s"}\n' % (i, random.Random(i).randbytes(40).hex().encode()) for i in range(9000))
PACKED = gzip.compress(TEXT, mtime=0)
NAMED = io.BytesIO()
with gzip.GzipFile("name.jsonl", "wb", fileobj=NAMED, mtime=1) as _file:
    _file.write(TEXT)


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]


DAMAGE: dict[str, bytes] = {
    "whole": PACKED,
    "with a name": NAMED.getvalue(),
    "nothing in it": gzip.compress(b""),
    "two members": gzip.compress(TEXT[:100_000]) + gzip.compress(TEXT[100_000:]),
    "members and zeros": PACKED + bytes(700) + gzip.compress(b"{}\n") + bytes(3),
    "a second member that is none": PACKED + b"garbage behind it",
    "a second member that is cut": PACKED + PACKED[:50_000],
    "gzip in gzip": gzip.compress(PACKED),
    "gzip in gzip, the inner one damaged": gzip.compress(flipped(PACKED, 200_000)),
    "the check sum": flipped(PACKED, len(PACKED) - 6),
    "the length": flipped(PACKED, len(PACKED) - 2),
    "the method": flipped(PACKED, 2),
    "an extra field": PACKED[:3] + b"\x04" + PACKED[4:10] + b"\x03\0abc" + PACKED[10:],
    "a check sum of the header that is wrong": PACKED[:3] + b"\x02" + PACKED[4:10] + b"\x01\x02" + PACKED[10:],
    "a second member of another method": PACKED + flipped(PACKED, 2),
    "very many members": b"".join(gzip.compress(TEXT[i : i + 7]) for i in range(0, 7000, 7)),
    "flags without a meaning": PACKED[:3] + b"\x80" + PACKED[4:],
    "flags": flipped(PACKED, 3),
    "many zeros": gzip.compress(bytes(1 << 20)) * 3,
    **{f"cut at {at}": PACKED[:at] for at in (2, 3, 4, 9, 10, 11, 500, 70_000, len(PACKED) - 8, len(PACKED) - 1)},
    **{f"flipped at {at}": flipped(PACKED, at) for at in random.Random(5).sample(range(10, len(PACKED)), 25)},
}


def read(data: bytes, size: int, swift: bool, into: bool = False) -> tuple[bytes, list[str], bool]:
    raw, faults = io.BytesIO(data), list[str]()

    def again() -> Plain:
        raw.seek(0)
        return Plain(raw, faults.append, False)

    stream, ahead, packed = unpacked(Plain(raw, faults.append, False), faults.append, again if swift else None)
    parts, buffer = [ahead], memoryview(bytearray(size))
    while data := bytes(buffer[: stream.readinto(buffer)]) if into else stream.read(size):
        assert len(data) <= size or not swift
        parts.append(data)
    return b"".join(parts), faults, packed


@pytest.mark.parametrize("data", DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("size", [1 << 20, 4096])
def test_both_ways(data: bytes, size: int) -> None:
    found = read(data, size, False)
    assert read(data, size, True) == found
    assert read(data, size, True, True) == found


@pytest.mark.parametrize("pack", [gzip.compress, lambda data: gzip.compress(gzip.compress(data))])
def test_the_swift_way_is_taken(pack: Callable[[bytes], bytes]) -> None:
    if swift_module() is None:
        pytest.skip("isal is not there")
    raw = io.BytesIO(pack(TEXT))
    taken: list[str] = []

    def again() -> Plain:
        taken.append("zlib")
        return Plain(raw, taken.append, False)

    stream, _, _ = unpacked(Plain(raw, taken.append, False), taken.append, again)
    while stream.read(1 << 20):
        pass
    assert taken == []
