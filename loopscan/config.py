"""The configuration: `loopscan.toml` or `[tool.loopscan]` of `pyproject.toml`, then the environment (`LOOPSCAN_…`).

The file is the nearest one upward from the working directory. Keys are the names of the options. What a value may be
is for the options to say; here it is text, a list of texts, or true and false, with the place it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from loopscan.errors import UsageError
from loopscan.settings import ToolSettings
from loopscan.small import text_of

PREFIX: Final = "LOOPSCAN_"
_TYPO: Final = 0.75
"""Other programs may own a variable of our prefix (a service called loopscan): only what is spelt much like an option
is taken for one."""

Value = str | bool | list[str]


@dataclass(slots=True, frozen=True)
class Entry:
    """A configured value. `origin`: the file or the variable; `folder`: where the file lies, None for a variable."""

    value: Value
    origin: str
    folder: Path | None = None


@dataclass(slots=True)
class Config:
    """Values by option name, what is known of tools, and the file that was found."""

    entries: dict[str, Entry] = field(default_factory=dict)
    tools: dict[str, ToolSettings] = field(default_factory=dict)
    file: Path | None = None


def load(names: Callable[[], Iterable[str]], folder: Path | None, environ: Mapping[str, str]) -> Config:
    """The configuration that holds in a folder. Raises UsageError for a key that is none of `names`.

    These are asked for only where something is configured.
    """
    config = Config()
    found = None if folder is None else nearest(folder)
    variables = [(name, text) for name, text in environ.items() if name.startswith(PREFIX) and text]
    if found is None and not variables:
        return config
    known = list(names())
    if found is not None:
        config.file, table = found
        origin = str(config.file)
        for key, value in table.items():
            name = key.replace("-", "_")
            if name == "tools":
                config.tools = _tools(origin, value)
            elif name in known:
                config.entries[name] = Entry(_value(origin, key, value), origin, config.file.parent)
            else:
                raise UsageError(unknown(origin, key, [*known, "tools"]))
    for variable, text in variables:
        name = variable.removeprefix(PREFIX).lower()
        if name in known:
            config.entries[name] = Entry(text, variable)
        elif near := get_close_matches(name, known, 1, _TYPO):
            raise UsageError(f"{variable}: no such option: did you mean {PREFIX}{near[0].upper()}?")
    return config


def unknown(origin: str, key: str, known: Iterable[str]) -> str:
    """The line about a key that does not exist, with the nearest one that does."""
    names = sorted(known)
    near = get_close_matches(key.replace("-", "_"), names, 1, 0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(names)}"
    return f"{origin}: unknown key {key!r}: {hint}"


def nearest(folder: Path) -> tuple[Path, dict[str, Any]] | None:
    """The nearest file with a configuration, from `folder` upward, and its table. Raises UsageError."""
    for place in (folder, *folder.parents):
        own, project = place / "loopscan.toml", place / "pyproject.toml"
        if own.is_file():
            return own, _parsed(own, _text(own))
        if project.is_file() and "loopscan" in (text := _text(project)):
            table = _parsed(project, text).get("tool", {}).get("loopscan")
            if isinstance(table, dict):
                return project, table
    return None


def _text(path: Path) -> str:
    try:
        return text_of(path)
    except (OSError, ValueError) as err:
        raise UsageError(f"{path}: cannot be read: {err}") from None


def _parsed(path: Path, text: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as err:
        raise UsageError(f"{path}: no valid TOML: {err}") from None


def _value(origin: str, key: str, value: object) -> Value:
    """A value of the file as an option would be given it. Raises UsageError."""
    if isinstance(value, bool):
        return value
    if isinstance(value, dict) and key == "map":
        return [f"{ours}={path}" for ours, path in value.items()]
    if isinstance(value, list) and not any(isinstance(item, (dict, list, bool)) for item in value):
        return [str(item) for item in value]
    if isinstance(value, (dict, list)):
        raise UsageError(f"{origin}: {key}: a single value is wanted, or a list of them")
    return str(value)


def _tools(origin: str, table: object) -> dict[str, ToolSettings]:
    """`[tools.NAME]` by name. Raises UsageError."""
    if not isinstance(table, dict) or not all(isinstance(t, dict) for t in table.values()):
        raise UsageError(f"{origin}: tools: write a table for each tool, as [tools.NAME]")
    return {name: _tool(f"{origin}: tools.{name}", settings) for name, settings in table.items()}


def _tool(origin: str, table: dict[str, Any]) -> ToolSettings:
    known = [f.name for f in fields(ToolSettings)]
    for key, value in table.items():
        if key not in known:
            raise UsageError(unknown(origin, key, known))
        if key == "ignore":
            if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
                raise UsageError(f'{origin}.ignore: a list is wanted, as ["result.path"]')
        elif not isinstance(value, bool):
            raise UsageError(f"{origin}.{key}: true or false is wanted")
    ignore = tuple(table.get("ignore", ()))
    return ToolSettings(ignore, table.get("poll"), table.get("mutates"), table.get("unordered"))
