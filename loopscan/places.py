"""Where agents write their logs by default, for `--from NAME` without a path."""

from __future__ import annotations

import os
import re
from glob import glob

from loopscan.errors import InputError
from loopscan.formats import load


def default_paths(format_name: str) -> list[str]:
    """The folders and files of a format's agent that exist here. Raises InputError when none does."""
    places = candidates(load(format_name).WHERE)
    found = [match for place in places for match in ([place] if os.path.exists(place) else sorted(glob(place)))]
    if not found:
        looked = f"looked in {', '.join(places)}" if places else "it has no usual place"
        raise InputError(f"--from {format_name} without a path: {looked}; name a file or a folder")
    return found


def candidates(where: tuple[str, ...]) -> list[str]:
    """The places with `~` and environment variables filled in; those of unset variables left out.

    A variable may hold several folders, separated by commas.
    """
    places: list[str] = []
    for place in where:
        names = re.findall(r"\$(\w+)", place)
        if any(not os.environ.get(name) for name in names):
            continue
        variants = [place]
        for name in names:
            values = [v.strip() for v in os.environ[name].split(",") if v.strip()]
            variants = [v.replace(f"${name}", value) for v in variants for value in values]
        places += [os.path.expanduser(v) for v in variants]
    return list(dict.fromkeys(places))
