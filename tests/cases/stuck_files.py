"""Stuck: one file written to and fro, or read over and over."""

from __future__ import annotations

import random

from tests.cases.build import bash, call, stuck

_R = random.Random(11)


def _stamp(n: int) -> str:
    return f"2026-06-17T10:{n:02}:{_R.randrange(60):02}Z"


CASES = [
    stuck(
        "osc-revert",
        6,
        *(
            turn
            for n in range(6)
            for turn in (
                call(
                    "edit",
                    {"path": "a.ts", "old": "let x" if n % 2 else "const x", "new": "const x" if n % 2 else "let x"},
                    f"a.ts edited ({40 + n} ms)",
                ),
                bash("npm run lint", ("error: prefer const", "error: x is assigned")[n % 2], error=True),
            )
        ),
    ),
    stuck(
        "osc-rewrite",
        5,
        *(
            call(
                "write_file",
                {"path": "gen.py", "content": ("import a\nrun(a)", "import b\nrun(b)")[n % 2]},
                f"wrote 16 bytes (rev {n + 3})",
            )
            for n in range(9)
        ),
    ),
    stuck(
        "osc-noop",
        3,
        call("read", {"path": "a"}, "x"),
        *(
            call("replace", {"path": "a", "search": "x = 1", "replace": "x = 1"}, f"ok: true, saved at {_stamp(n)}")
            for n in range(6)
        ),
    ),
    stuck(
        "osc-breaks",
        8,
        *(
            turn
            for n in range(8)
            for turn in (
                call(
                    "edit",
                    {"path": "p.py", "old": "strict" if n % 2 else "loose", "new": "loose" if n % 2 else "strict"},
                    "ok",
                ),
                bash(
                    "pytest -q", ("FAILED test_x", "FAILED test_y")[n % 2] + f" in {_R.randrange(9)}.{n} s", error=True
                ),
            )
        ),
    ),
    stuck(
        "sweep-lines",
        7,
        *(
            call("read_file", {"path": "big.rs", "offset": o, "limit": 100}, f"lines {o}..{o + 99} fn f{o}")
            for o in (0, 100, 200, 300, 50, 150, 20, 210, 110, 90, 180, 60, 130, 230)
        ),
    ),
    stuck(
        "sweep-grow",
        4,
        bash("ls", "a"),
        *(bash(" && ".join(["cargo check"] * n), "Finished dev\n" * n) for n in range(1, 10)),
    ),
    stuck(
        "sweep-view",
        6,
        *(
            call("view", {"path": "a.py", "view_range": [a, b]}, f"{a}-{b}: def f{a}")
            for a, b in (
                (1, 200),
                (150, 320),
                (1, 100),
                (50, 150),
                (100, 200),
                (20, 80),
                (200, 300),
                (10, 90),
                (160, 240),
                (30, 60),
            )
        ),
    ),
    stuck(
        "osc-guess",
        9,
        bash("cat task.md", "find the number"),
        *(
            turn
            for n in range(7)
            for turn in (
                call("write_file", {"path": "guess.txt", "content": f"guess {n * 577}"}, "written"),
                call("read_file", {"path": "guess.txt"}, f"guess {n * 577}\nmd5 {_R.getrandbits(64):016x}"),
            )
        ),
    ),
]
