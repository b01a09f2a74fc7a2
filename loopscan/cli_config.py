"""The configuration as defaults of the options, and `loopscan config`, which shows where each value comes from.

One table serves flags, environment and file: the options of the commands themselves.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from loopscan.config import PREFIX, Config, Entry, Value, load
from loopscan.errors import UsageError

if TYPE_CHECKING:
    from loopscan.cli_given import Given

OWN: Final = "config"
"""The command that shows the configuration is not configured by it."""


def apply(context: typer.Context) -> Config:
    """Make the configuration the defaults of every command under `context`. Raises UsageError."""
    config = load(_options, _here(), os.environ)
    defaults: dict[str, dict[str, Any]] = {}
    for key, entry in config.entries.items():
        for command, parameter, value in _accepted(context, _options()[key], key, entry):
            defaults.setdefault(command, {})[parameter.name] = value
    context.default_map = defaults
    context.obj = config
    return config


def _here() -> Path | None:
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None


@cache
def _options() -> dict[str, list[tuple[str, Any]]]:
    """Key -> the commands that have such an option, and the option."""
    found: dict[str, list[tuple[str, Any]]] = {}
    for command, body in _commands().items():
        for parameter in body.params:
            if parameter.param_type_name == "option":
                found.setdefault(_key(parameter), []).append((command, parameter))
    return found


@cache
def _commands() -> dict[str, Any]:
    """All commands that are configured, not only the one that was asked for."""
    from loopscan.cli import app

    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    return {name: body for name, body in commands.items() if name != OWN}


def _key(parameter: Any) -> str:
    """`--fail-on` as `fail_on`."""
    longest: str = max(parameter.opts, key=len)
    return longest.lstrip("-").replace("-", "_")


def _accepted(
    context: typer.Context, options: list[tuple[str, Any]], key: str, entry: Entry
) -> list[tuple[str, Any, Any]]:
    """The commands that take this value, the option and what to give it. Raises UsageError when none does."""
    fitting, refusal = [], ""
    for command, parameter in options:
        try:
            value = _shaped(parameter, key, entry)
            parameter.type_cast_value(context, value)
        except (typer.BadParameter, ValueError) as err:
            refusal = refusal or f"{entry.origin}: {key}: {err}"
        else:
            fitting.append((command, parameter, value))
    if not fitting:
        raise UsageError(refusal)
    return fitting


def _shaped(parameter: Any, key: str, entry: Entry) -> Value:
    """The value in the form that the option wants: one, several, or yes and no. Raises ValueError."""
    value = entry.value
    if isinstance(value, bool) or parameter.is_flag:
        if not parameter.is_flag or isinstance(value, list) or (entry.folder is not None and isinstance(value, str)):
            raise ValueError("true or false is wanted" if parameter.is_flag else "a value is wanted, not true or false")
        return value
    if parameter.multiple:
        listed = value if isinstance(value, list) else value.split(",") if entry.folder is None else [value]
        return [item.strip() for item in listed if item.strip()]
    if isinstance(value, list):
        raise ValueError("one value is wanted, not a list")
    if parameter.metavar == "FILE" and entry.folder is not None and value != "-":
        return _placed(key, value, entry.folder)
    return value


def _placed(key: str, value: str, folder: Path) -> str:
    """A path of the file, which is meant from where the file lies. A report is written only below it.

    A configuration comes with a folder that may be somebody else's. Raises ValueError.
    """
    path = folder / Path(value).expanduser()
    if key in ("output", "store") and not path.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"{value} lies outside {folder}: name it with --{key} or {PREFIX}{key.upper()}")
    return str(path)


def config_command(context: typer.Context, given: Given) -> int:
    """Print the value that holds for each option, given the flags in `context.args`, and where it comes from."""
    from loopscan.cli_output import opened, options
    from loopscan.render._grid import Column, Grid
    from loopscan.render._text import clean
    from loopscan.render.jsonl import dumps

    config: Config = context.obj
    rows = _effective(context, config)
    with opened(given.output) as out:
        if given.format.value == "json":
            values = {key: {"value": value, "from": source} for key, (value, source) in rows.items()}
            tools = {name: _said(tool) for name, tool in config.tools.items()}
            shown = {"file": None if config.file is None else str(config.file), "values": values, "tools": tools}
            out.write(dumps(shown, indent=True) + "\n")
            return 0
        grid = Grid([Column("option"), Column("value", least=12), Column("from", least=12)])
        for key, (value, source) in rows.items():
            grid.add([key, clean(_text(value)), clean(source)], {} if source == "default" else {2: "cyan"})
        for name, tool in config.tools.items():
            for key, value in _said(tool).items():
                grid.add([clean(f"tools.{name}.{key}"), clean(_text(value)), str(config.file)], {2: "cyan"})
        grid.write(out, options(given, out).width, options(given, out).color)
    return 0


def _effective(context: typer.Context, config: Config) -> dict[str, tuple[Any, str]]:
    """Key -> value and its source: `flag`, a variable, a file, `default`. Flags are those of `loopscan audit`."""
    found: dict[str, tuple[Any, str]] = {}
    root = context.parent
    assert root is not None
    for name, body in sorted(_commands().items(), key=lambda item: item[0] != "audit"):
        flags = list(context.args) if name == "audit" else []
        with body.make_context(name, flags, parent=root) as inner:
            for parameter in body.params:
                key = _key(parameter)
                if parameter.param_type_name != "option" or key in found:
                    continue
                source = inner.get_parameter_source(parameter.name).name
                origin = "flag" if source == "COMMANDLINE" else "default"
                if source == "DEFAULT_MAP":
                    origin = config.entries[key].origin
                found[key] = (_plain(inner.params[parameter.name]), origin)
    return found


def _plain(value: Any) -> Any:
    """A value of an option as JSON has it."""
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return getattr(value, "value", value)


def _said(tool: Any) -> dict[str, Any]:
    named = ((name, getattr(tool, name)) for name in tool.__dataclass_fields__)
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in named if value not in (None, ())
    }


def _text(value: Any) -> str:
    if value is None or value == []:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
