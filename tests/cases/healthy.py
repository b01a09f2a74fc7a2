"""Healthy: waiting that ends, retries that end, paging, counters that move, copies in the log."""

from __future__ import annotations

from tests.cases.build import bash, call, failed, healthy, text

_RUN = "Process still running ({} s)"

CASES = [
    healthy(
        "poll-ci",
        bash("git push", "pushed"),
        *(
            turn
            for s in ("queued", "queued", "queued", "running", "running", "running", "running", "success")
            for turn in (bash("sleep 30", ""), bash("gh run view 7 --json status", s))
        ),
        text("CI is green."),
    ),
    healthy(
        "poll-elapsed",
        bash("make -j8 &", "started"),
        *(bash("", _RUN.format(10 * n)) for n in range(1, 9)),
        bash("", "Linking app\n[exit 0]"),
        bash("./app --version", "app 2.0"),
    ),
    healthy(
        "poll-progress-cut",
        bash("./train.sh &", "started"),
        *(call("get_job", {"id": 7}, {"state": "running", "progress": p}) for p in (4, 9, 15, 21, 26, 33, 39, 45)),
    ),
    healthy(
        "poll-stalls",
        *(call("get_export", {"id": 3}, f"{p} % written") for p in (10, 10, 10, 40, 40, 40, 40, 90, 100)),
        call("download", {"id": 3}, "ok"),
        text("Exported."),
    ),
    healthy(
        "poll-board",
        call("task_create", {"t": "port"}, "T9"),
        *(
            call("task_list", {}, s)
            for s in ("T9 open", "T9 open", "T9 open", "T9 open", "T9 claimed", "T9 claimed", "T9 claimed", "T9 done")
        ),
        call("read_file", {"path": "port.py"}, "def port(): ..."),
        text("Ported."),
    ),
    healthy(
        "poll-wait",
        call("click", {"name": "Export"}, "clicked"),
        *(call("wait", {"seconds": 5}, "waited") for _ in range(6)),
        call("snapshot", {}, "Export is ready"),
        call("done", {"text": "exported"}, "ok"),
    ),
    healthy(
        "poll-output",
        bash("npm run build &", "job 4"),
        *(call("bash_output", {"id": 4}, f"compiled module {m}") for m in "parser lexer ast emit link pack".split()),
        call("bash_output", {"id": 4}, "build finished"),
        text("Built."),
    ),
    healthy(
        "poll-stdin",
        call("exec_command", {"cmd": "pytest tests/slow"}, "session 3 running"),
        *(call("write_stdin", {"session_id": 3, "chars": ""}, "") for _ in range(7)),
        call("write_stdin", {"session_id": 3, "chars": ""}, "9 passed in 61.20s"),
        text("All slow tests pass."),
    ),
    healthy(
        "recover-429",
        call("read", {"path": "a"}, "1"),
        *(failed("429 rate limited, retry later") for _ in range(4)),
        call("edit", {"path": "a"}, "ok"),
        text("Done."),
    ),
    healthy(
        "recover-kill",
        *(bash("make all", "Killed: time limit of 60 s", error=True) for _ in range(4)),
        bash("make all -j8", "done in 41 s"),
        bash("make test", "55 passed"),
        text("Builds with -j8."),
    ),
    healthy(
        "recover-slip",
        call("search", {}, "missing field: query", error=True),
        call("search", {}, "missing field: query", error=True),
        call("search", {"query": "x"}, "3 hits"),
        text("Found it."),
    ),
    healthy(
        "recover-syntax",
        *(bash("python3 gen.py", "SyntaxError: invalid syntax (gen.py, line 4)", error=True) for _ in range(3)),
        call("write", {"path": "gen.py", "content": "x"}, "ok"),
        bash("python3 gen.py", "written 4 files"),
        text("Done."),
    ),
    healthy(
        "recover-fallback",
        *(
            call("fetch", {"url": f"https://m{n}.example/x.tgz"}, "503 Service Unavailable", error=True)
            for n in range(5)
        ),
        call("fetch", {"url": "https://mirror.example/x.tgz"}, "4.1 MB saved"),
        text("Fetched."),
    ),
    healthy(
        "page-head-tail",
        call("read_file", {"path": "m.rs", "offset": 1, "limit": 80}, "1: use std;"),
        call("read_file", {"path": "m.rs", "offset": 400, "limit": 80}, "400: impl Port"),
        call("read_file", {"path": "m.rs", "offset": 60, "limit": 80}, "60: struct Port"),
        call("read_file", {"path": "m.rs", "offset": 430, "limit": 40}, "430: fn open"),
        call("edit", {"path": "m.rs", "old": "a", "new": "b"}, "ok"),
        text("Fixed."),
    ),
    healthy(
        "page-cursor",
        *(
            call("list_orders", {"cursor": f"c{n}"}, {"items": [n * 3, n * 3 + 1], "next": f"c{n + 1}"})
            for n in range(12)
        ),
        text("36 orders."),
    ),
    healthy(
        "page-numbers",
        *(call("read_page", {"doc": "law.pdf", "page": n}, f"page {n} of 14: article {n * 2}") for n in range(1, 13)),
    ),
    healthy(
        "page-down",
        *(bash("scroll_down", f"lines {n * 100}-{n * 100 + 99}: {'abcdefghij'[n] * 9}") for n in range(9)),
        text("Read."),
    ),
    healthy(
        "page-prefix",
        *(
            call(
                "fetch_doc",
                {"n": n},
                "Terms of use of the example service, version 4. All rights reserved. "
                "This page is part of the manual. Section " + "alpha beta gamma delta epsilon zeta".split()[n],
            )
            for n in range(6)
        ),
    ),
    healthy(
        "counter-ticket",
        *(
            call("create_ticket", {"title": f"Port module {w}"}, f"created #{n}")
            for n, w in enumerate("auth billing cart docs events files".split(), 204)
        ),
        text("Six tickets."),
    ),
    healthy("counter-step", *(call("next_step", {}, f"step {n} of 9 done") for n in range(1, 8))),
    healthy(
        "counter-picture",
        *(call("generate_image", {"prompt": "a red boat"}, f"out/img_{n * 77777:08x}.png") for n in range(1, 7)),
        text("Six versions."),
    ),
    healthy(
        "counter-queue", *(call("pop_message", {"queue": "mail"}, {"id": 900 + n, "left": 40 - n}) for n in range(9))
    ),
    healthy("counter-dice", *(call("roll", {"sides": 20}, n) for n in (3, 17, 9, 12, 1, 20)), text("Sum 62.")),
    healthy(
        "logdup-stream",
        *([call("Read", {"file_path": f"{n}.py"}, f"x={n}", ts=f"2026-04-24T08:0{n}:30Z")] * 4 for n in range(1, 5)),
    ),
    healthy(
        "resume-user",
        bash("pytest -q", "3 passed"),
        text("All pass."),
        bash("pytest -q", "3 passed"),
        text("Still all pass."),
    ),
]
