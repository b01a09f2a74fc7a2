"""The floor: one process that parses every line of the files it is given with the fastest general JSON parser."""

from __future__ import annotations

import sys

import orjson


def main() -> None:
    """Parse each line of each file, keep nothing."""
    for path in sys.argv[1:]:
        with open(path, "rb", 1 << 20) as file:
            for line in file:
                orjson.loads(line)


if __name__ == "__main__":
    main()
