"""One spelling for the paths in a call's arguments: `./src//a.py`, `src/a.py` and `src\\a.py` are one file."""

from __future__ import annotations

from typing import Final

from loopscan.model import JSON

PATHS: Final = frozenset(
    "path file_path filepath file filename file_name notebook_path target_file dir directory folder cwd".split()
)
"""Arguments that name a file or a folder."""


def one_spelling(args: dict[str, JSON]) -> dict[str, JSON]:
    """Arguments with their paths spelt in one way. Addresses stay as they are."""
    for name in args:
        if (
            name in PATHS
            and type(value := args[name]) is str
            and ("\\" in value or "//" in value or "./" in value or value[-1:] == "/")
        ):
            args = {**args, name: _spelt(value)}
    return args


def _spelt(path: str) -> str:
    if "://" in path:
        return path
    slashes = path.replace("\\", "/")
    parts = [part for i, part in enumerate(slashes.split("/")) if (part or not i) and part != "."]
    return "/".join(parts) or ("/" if slashes.startswith("/") else ".")
