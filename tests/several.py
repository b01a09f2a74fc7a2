"""The program as if every input were big: `python -m tests.several audit PATH --jobs 2` hands out small parts."""

from __future__ import annotations

import sys

from loopscan import cli, cuts, joined, parallel

FIGURES = (
    (parallel, "ENOUGH", 0),
    (parallel, "MOST", 2.0),
    (cuts, "LEAST", 1500),
    (cuts, "STRETCH", 0),
    (joined, "AGAIN", 0),
)
"""Module, name and value: everything is handed out, cut, and pieced together where that is possible at all."""


def main() -> int:
    """Run the command line."""
    for module, name, value in FIGURES:
        setattr(module, name, value)
    return cli.run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
