"""One spelling for the paths in a call's arguments: `./src//a.py`, `src/a.py` and `src\\a.py` are one file."""

from __future__ import annotations

from typing import Final

from loopscan.model import JSON

PATHS: Final = frozenset(
    "path file_path filepath file filename file_name notebook_path target_file dir directory folder cwd".split()
)
"""Arguments that name a file or a folder."""

_SIGNS: Final = ("\\", "//", "./", "/.")


def one_spelling(args: dict[str, JSON]) -> dict[str, JSON]:
    """Arguments with their paths spelt in one way. Addresses stay as they are."""
    changed = {
        name: spelt
        for name, value in args.items()
        if name in PATHS and isinstance(value, str) and (spelt := _spelt(value)) != value
    }
    return {**args, **changed} if changed else args


def _spelt(path: str) -> str:
    if "://" in path or not (any(sign in path for sign in _SIGNS) or path.endswith("/")):
        return path
    slashes = path.replace("\\", "/")
    parts = [part for i, part in enumerate(slashes.split("/")) if (part or not i) and part != "."]
    return "/".join(parts) or ("/" if slashes.startswith("/") else ".")
