"""Stuck: something moves in every copy (a number, an id, the order, the file), nothing is gained."""

from __future__ import annotations

import random

from tests.cases.build import bash, call, stuck

_R = random.Random(7)
_WORDS = "amber birch cedar delta ember fjord grove heron ivory jade kelp lotus maple north onyx".split()
_HITS = ["src/a.rs:12 open_port", "src/b.rs:40 open_port", "src/c.rs:7 open_port", "lib/d.rs:91 open_port"]
_PERMUTED = (
    "rg -n open_port src lib",
    "rg open_port -n lib src",
    "rg -n 'open_port' lib src",
    "rg --line-number open_port src lib",
    "rg -n open_port lib src",
    "rg open_port src lib -n",
    'rg -n "open_port" src lib',
    "rg -n open_port ./src ./lib",
)


def _shuffled() -> str:
    return "\n".join(_R.sample(_HITS, len(_HITS)))


def _hex(size: int) -> str:
    return f"{_R.getrandbits(size * 4):0{size}x}"


def _stamp(n: int) -> str:
    return f"2026-06-17T10:{n:02}:{_R.randrange(60):02}Z"


_PLAN = [{"content": "port tests", "status": "in_progress"}, {"content": "update docs", "status": "pending"}]

CASES = [
    stuck(
        "volres-stamps",
        3,
        bash("ls", "a"),
        *(
            bash(
                "./sync.sh",
                f"[{_stamp(n)}] attempt {n} pid={_R.randrange(9999)}: connect ECONNREFUSED 127.0.0.1:5432",
                error=True,
            )
            for n in range(1, 9)
        ),
    ),
    stuck(
        "volres-wrapper",
        3,
        call("browser", {"action": "open", "url": "shop.example"}, "opened"),
        *(
            call(
                "browser",
                {"action": "act", "kind": "click", "ref": "submit"},
                f'<external id="{_hex(16)}">Form not sent: field e-mail is missing</external id="{_hex(16)}">',
            )
            for _ in range(9)
        ),
    ),
    stuck(
        "volres-footer",
        3,
        call("grep", {"q": "x"}, "a:1"),
        *(
            call(
                "read_file", {"path": "core.rs"}, f"fn main() {{}}\n\n[note: this file was read {n} times in this run]"
            )
            for n in range(1, 10)
        ),
    ),
    stuck("volres-order", 3, bash("ls", "src lib"), *(bash(c, _shuffled()) for c in _PERMUTED)),
    stuck(
        "volres-session",
        3,
        bash("ls", "x"),
        *(
            call(
                "exec",
                {"command": "make sync"},
                {
                    "status": "ok",
                    "exitCode": 0,
                    "durationMs": 800 + _R.randrange(99),
                    "sessionId": _hex(8),
                    "text": "0 changed",
                },
            )
            for _ in range(9)
        ),
    ),
    stuck(
        "volres-line",
        3,
        bash("pwd", "/w"),
        *(bash("dc /testbed", f"bash: line {113 + n}: dc: command not found") for n in range(9)),
    ),
    stuck(
        "volres-picture",
        4,
        call("navigate", {"url": "https://a.example"}, "ok"),
        *(
            call(
                "visit",
                {"url": f"https://a.example/{w}"},
                "Access to this page has been denied. Reference: "
                f'{_hex(24)} <img src="data:image/png;base64,{_hex(120)}">',
            )
            for w in _WORDS[:8]
        ),
    ),
    stuck(
        "volarg-ref",
        3,
        call("open", {"url": "a.example"}, "page"),
        *(
            call("click", {"ref": f"e{100 + 7 * n}", "name": "Accept all"}, "clicked; the page did not change")
            for n in range(9)
        ),
    ),
    stuck(
        "volarg-word",
        5,
        bash("ls", "x"),
        bash("cat x", "y"),
        *(bash(f"echo {w}; ./wait-for-review.sh", f"{w}\nreview is pending") for w in _WORDS[:12]),
    ),
    stuck(
        "volarg-flag",
        3,
        call("read", {"path": "a"}, "1"),
        *(
            call("todo", {"todos": _PLAN, "merge": n % 2 == 0}, "2 tasks (1 in progress)" if n < 5 else "[2 tasks]")
            for n in range(10)
        ),
    ),
    stuck(
        "volarg-depth",
        4,
        call("read", {"path": "a"}, "1"),
        *(
            call("analyze", {"path": "src", "max_depth": n}, "src: 3 files, 120 lines; main -> run -> stop")
            for n in range(2, 12)
        ),
    ),
    stuck(
        "volarg-label", 2, *(call("shell", {"command": "echo noop", "label": f"noop {n}"}, "noop") for n in range(12))
    ),
    stuck(
        "volarg-why",
        3,
        bash("ls", "x"),
        *(
            call(
                "run",
                {"command": "git status --short", "thought": f"Now I {w} check whether the {v} file is there."},
                " M a.py",
            )
            for w, v in zip(_WORDS, reversed(_WORDS), strict=True)
        ),
    ),
    stuck(
        "compact-numbers",
        5,
        bash("make", "ok"),
        *(
            turn
            for n in range(7)
            for turn in (
                call(
                    "compaction",
                    {"trigger": "auto"},
                    f"tokens {190_000 - _R.randrange(900)} -> {171_000 + _R.randrange(900)}",
                ),
                call("read_file", {"path": "build.log"}, "<large log>"),
            )
        ),
    ),
    stuck(
        "compact-nine",
        20,
        call("plan", {}, "ok"),
        call("plan", {"n": 2}, "ok 2"),
        *(
            turn
            for _ in range(5)
            for turn in (
                call("compaction", {}, f"kept {_R.randrange(4, 9)}, tokens {190_000 - _R.randrange(5000)}"),
                *(call("read_file", {"path": f"src/{w}.ts"}, f"export const {w} = 1") for w in _WORDS[:8]),
            )
        ),
    ),
    stuck(
        "longcycle-restart",
        24,
        *(
            turn
            for _ in range(4)
            for turn in (
                *(call("step", {"n": w}, f"{w} done") for w in _WORDS[:11]),
                call("finish", {}, "output parser failed: retrying", True),
            )
        ),
    ),
]
