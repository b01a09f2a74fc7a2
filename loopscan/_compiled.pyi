from array import array
from collections.abc import Callable, Collection
from mmap import mmap
from typing import Any, Literal

from loopscan.ids import Ids
from loopscan.model import Turn
from loopscan.price import Price
from loopscan.report import RunReport
from loopscan.spill import Spill

def setup(
    quiet: type,
    going: type,
    look: type,
    late: type,
    kind: Callable[[str], int],
    seconds: Callable[[str], float | None],
    ident: Callable[[str, bytes], int],
    paths: Collection[str],
    asked: Collection[str],
    limits: tuple[int, int, int, int, int, int],
    /,
) -> None: ...
def lines_in(data: bytes | mmap, begin: int, end: int, /) -> int: ...
def settle_with(settled: type, part: type, fired: type, none: list[Any], no_gap: tuple[float, int], /) -> None: ...
def settle(runs: list[Any], spill: Spill, /) -> list[int]: ...
def summed_to(
    columns: bytes, turns: int, codes: str, rates: tuple[int, int], turn: int, /
) -> tuple[int, int, int, float]: ...
def fill(pieces: tuple[str, ...], roles: bytes, values: tuple[Any, ...], /) -> str | None: ...
def parcel(runs: list[Any], /) -> tuple[bytes, bytes, list[Any], list[int]]: ...
def unparcel(data: bytes, columns: bytes, shared: list[Any], spill: Spill, place: int, /) -> list[RunReport]: ...
def stands(
    runs: list[Any], format_name: str, salt: int, told: int, waits: int, /
) -> tuple[bytes, bytes, bytes, bytes, list[int]]: ...
def stop(
    reports: list[RunReport], turns: int | None, tokens: int | None, usd: int | None, seconds: float | None, /
) -> list[int]: ...
def told(
    reports: list[RunReport],
    at: int,
    moulds: list[tuple[str, str | None, Price | None, tuple[str, ...], tuple[str, ...], bytes]],
    /,
) -> tuple[str, int]: ...
def share(
    types: dict[str, type], things: dict[str, Any], pairs: Collection[str], limits: tuple[int, ...], /
) -> None: ...
def is_steady(text: str, /) -> bool: ...
def says_one(text: str, words: tuple[str, ...], /) -> bool | None: ...
def take_usual(run: Any, turns: list[Any], at: int, /) -> int: ...
def any_holds(arrays: list[array[int]], number: int, /) -> bool: ...
def apart(
    hashes: array[int], places: array[int], before: int, left: array[int], /
) -> tuple[list[int], bytes, bool]: ...
def in_several(arrays: list[array[int]], /) -> list[int]: ...
def merged(one: array[int], other: array[int], /) -> bytes: ...

class Recent:
    def __contains__(self, number: int, /) -> bool: ...
    def __len__(self) -> int: ...
    def add(self, number: int, /) -> None: ...
    def sorted(self, marks: bytearray, /) -> bytes: ...

class Chat:
    def __new__(
        cls, speaking: Collection[str], words: int, late: type, missing: Any, decode: Callable[[bytes], Any], /
    ) -> Chat: ...
    def heard(self, line: bytes, reach: int, /) -> tuple[bytes, int, bytes, bytes] | Literal[False] | None: ...
    def play(self, line: bytes, /) -> tuple[bytes, list[Any], list[str], list[int]] | None: ...
    @staticmethod
    def filled(
        written: bytes,
        chars: bytes,
        base: int,
        growth: int,
        output: int,
        history: int,
        per_history: int,
        results: int,
        per_results: int,
        tokens: int,
        per_tokens: int,
        most: int,
        /,
    ) -> tuple[tuple[int, int], bytes] | None: ...

class Native:
    def __new__(cls, fields: list[tuple[str, int]], needed: int, /) -> Native: ...
    def take(
        self,
        states: dict[str, Any],
        fresh: dict[str, Any],
        source: Any,
        log: int,
        prices: Any,
        begin: Callable[[str, str | None, float | None, int], Any],
        begun: list[Any],
        going: dict[str, Any],
        known: dict[str, Any],
        full: dict[str, Any] | None,
        data: bytes | mmap,
        at: int,
        end: int,
        line: int,
        place: int,
        first: int,
        /,
    ) -> tuple[int, int, int, bool]: ...
    def more(
        self,
        look: Any,
        source: Any,
        doubts: Any,
        rate_in: int,
        rate_out: int,
        most_known: int,
        highest: int,
        data: bytes | mmap,
        at: int,
        end: int,
        line: int,
        place: int,
        first: int,
        /,
    ) -> tuple[int, int, int, int, bytes | None, bytes | None, bytes | None, bytes | None]: ...

class Claude:
    def __new__(
        cls,
        runs: dict[str, Any],
        seen: Ids | None,
        beside: Collection[str],
        types: tuple[type, type, type, type, type, type, Callable[[bytes], Any], Any],
        most: int,
        /,
    ) -> Claude: ...
    def take(self, data: bytes | mmap, at: int, end: int, line: int, /) -> tuple[list[Turn], int, int, bool]: ...
