"""Policies: one setting of all exits each, from presets, from text, from TOML files. What is not named is off."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, Literal, TypeVar

from loopscan.cli_values import cap, cap_count, cap_usd, duration, value
from loopscan.errors import UsageError
from loopscan.limits import MOST_WINDOW
from loopscan.settings import CapSettings, Detection
from loopscan.small import text_of

_T = TypeVar("_T")

PRESETS: Final[dict[str, dict[str, str]]] = {
    "audit": {
        "window": "20", "copies": "2", "turn_cap": "auto", "token_cap": "auto", "cost_cap": "auto", "time_cap": "auto",
    },
    "seed": {"window": "6", "turn_cap": "15", "token_cap": "100000"},
    "controller": {
        "repeat_limit": "3", "turn_cap": "10", "token_cap": "50000", "cost_cap": "0.50", "time_cap": "60",
    },
    "coding": {"turn_cap": "76", "cost_cap": "5", "per": "prompt"},
}  # fmt: skip
"""`audit`: what an audit does by default. `seed`: a support bot's loop. `controller`: a common stop controller.
`coding`: a supervised coding agent, each user prompt on its own."""

KEYS: Final = (
    "name", "window", "copies", "repeat_limit", "exact", "turn_cap", "token_cap", "cost_cap", "time_cap", "per"
)  # fmt: skip


@dataclass(slots=True, frozen=True)
class Policy:
    """A setting of the exits. `detection` None: no_progress is off. `per`: the runs it is made for, None = any."""

    name: str
    detection: Detection | None
    caps: CapSettings
    per: str | None = None


def policies(texts: list[str]) -> list[Policy]:
    """The policies of `--policy` texts: a preset, `key=value,…`, or a TOML file. Raises UsageError."""
    found = [policy for text in texts for policy in _read(text.strip())]
    names = [policy.name for policy in found]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"--policy {name!r} is given twice: tell them apart with name=…")
    return found


def _read(text: str) -> list[Policy]:
    if text in PRESETS:
        return [_policy(text, PRESETS[text])]
    if "=" in text and not os.path.isfile(text):
        return [_policy(text, _pairs(text))]
    if os.path.isfile(text):
        return _file(text)
    near = get_close_matches(text, PRESETS, 1)
    hint = f"did you mean {near[0]}?" if near else f"presets are {', '.join(PRESETS)}; else key=value,… or a TOML file"
    raise UsageError(f"--policy {text!r}: no such preset or file: {hint}")


def _pairs(text: str) -> dict[str, str]:
    found = {}
    for pair in text.split(","):
        key, equals, said = pair.partition("=")
        if not equals or not said.strip():
            raise UsageError(f"--policy {text!r}: write key=value,key=value, for example window=6,turn_cap=25")
        found[key.strip()] = said.strip()
    return found


def _file(path: str) -> list[Policy]:
    """The policies of a TOML file: a table each, or the whole file is one."""
    try:
        table = tomllib.loads(text_of(path))
    except (OSError, ValueError, RecursionError) as err:
        raise UsageError(f"--policy {path}: no valid TOML: {err}") from None
    name = os.path.splitext(os.path.basename(path))[0]
    tables = {k: v for k, v in table.items() if isinstance(v, dict)}
    if not table or (tables and len(tables) < len(table)):
        raise UsageError(f"--policy {path}: either keys of one policy or a table [NAME] for each are wanted")
    return [_policy(key, entries) for key, entries in (tables or {name: table}).items()]


def _policy(name: str, entries: Mapping[str, Any]) -> Policy:
    """A policy from its keys; `-` in a key counts as `_`. Raises UsageError."""
    said = {key.replace("-", "_"): _text(entry) for key, entry in entries.items()}
    for key in said:
        if key not in KEYS:
            near = get_close_matches(key, KEYS, 1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(KEYS)}"
            raise UsageError(f"--policy {name!r}: no such key {key!r}: {hint}")
    if said.get("per", "prompt") not in ("prompt", "session"):
        raise UsageError(f"--policy {name!r}: per is prompt or session")

    def read(key: str, parse: Callable[[str, str], _T | None]) -> _T | None:
        return parse(f"--policy {name!r}: {key}", said[key]) if key in said else None

    caps = CapSettings(
        read("turn_cap", cap_count),
        read("token_cap", cap_count),
        read("cost_cap", cap_usd),
        read("time_cap", _seconds),
    )
    return Policy(said.get("name", name), _detection(name, said), caps, said.get("per"))


def _seconds(title: str, text: str) -> float | Literal["auto"] | None:
    return cap(title, text, duration)


def _detection(name: str, said: Mapping[str, str]) -> Detection | None:
    """The detector of a policy: the period rule is on where its window or copies are named."""

    def number(key: str, default: int, least: int, most: int | None = None) -> int:
        if said.get(key, "off") in ("off", "false"):
            return default
        title = f"--policy {name!r}: {key}"
        return value(title, said[key], lambda text: _number(text, least, most))

    period = said.get("window") != "off" and ("window" in said or "copies" in said)
    window = number("window", 20, 1, MOST_WINDOW) if period else 0
    repeat_limit = number("repeat_limit", 0, 0)
    if said.get("exact", "false") not in ("true", "false"):
        raise UsageError(f"--policy {name!r}: exact is true or false")
    if not window and not repeat_limit:
        return None
    return Detection(window, number("copies", 2, 2), repeat_limit, said.get("exact") == "true")


def _number(text: str, least: int, most: int | None) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < least or (most is not None and int(text) > most):
        raise ValueError(f"a whole number from {least}{f' to {most:,}' if most else ''} is wanted")
    return int(text)


def _text(entry: object) -> str:
    return str(entry).lower() if isinstance(entry, bool) else str(entry)
