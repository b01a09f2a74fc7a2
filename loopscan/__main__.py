"""`python -m loopscan` and the `loopscan` command."""

from __future__ import annotations

import sys
from contextlib import suppress


def main() -> None:
    """Run the command line. `--version` alone is answered before anything heavy is imported."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from loopscan._version import __version__

        with suppress(OSError):  # else said by the long way
            print(f"loopscan {__version__}", flush=True)
            return
    from loopscan.garbage import leave, seldom_collected

    with seldom_collected():
        from loopscan.cli import run

        code = run()
        leave()
    sys.exit(code)


if __name__ == "__main__":
    main()
