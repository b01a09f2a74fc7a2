"""Healthy: edit and test, batches over distinct items."""

from __future__ import annotations

from tests.cases.build import bash, call, healthy, text

_FILES = "auth billing cart docs events files grants hooks index jobs keys logs".split()

CASES = [
    healthy(
        "edittest-counts",
        *(
            turn
            for n in range(6)
            for turn in (
                call("edit", {"path": f"{_FILES[n]}.py", "new": f"x={n}"}, "ok"),
                bash("pytest -q", f"{6 - n} failed, {n} passed", n < 5),
            )
        ),
    ),
    healthy(
        "edittest-lint",
        *(
            turn
            for f in _FILES[:7]
            for turn in (call("edit", {"path": f"{f}.ts", "new": f}, "ok"), bash("npm run lint", "0 problems"))
        ),
        text("All linted."),
    ),
    healthy(
        "edittest-green",
        *(
            turn
            for f in _FILES[:6]
            for turn in (
                call("write", {"path": f"{f}.py", "content": f}, "ok"),
                bash("make test", "All 12 tests passed"),
            )
        ),
    ),
    healthy(
        "edittest-reread",
        *(
            turn
            for n, f in enumerate(_FILES[:6])
            for turn in (
                call("edit", {"path": "plugin.kt", "old": f, "new": f.upper()}, "applied"),
                call(
                    "read_file",
                    {"path": "plugin.kt"},
                    "class Plugin " + " ".join([*map(str.upper, _FILES[: n + 1]), *_FILES[n + 1 :]]),
                ),
            )
        ),
    ),
    healthy(
        "edittest-fixed",
        *(
            turn
            for n in range(4)
            for turn in (
                call("edit", {"path": "a.py", "new": f"try {n}"}, "ok"),
                bash("pytest -q", "FAILED test_a: 3 != 4", True),
            )
        ),
        call("edit", {"path": "b.py", "new": "y"}, "ok"),
        bash("pytest -q", "12 passed"),
        text("Fixed in b.py."),
    ),
    healthy(
        "edittest-probe",
        *(
            turn
            for n in range(6)
            for turn in (
                call("write", {"path": "probe.py", "content": f"probe({n})"}, "wrote"),
                bash("python probe.py", f"probe {n}: {90 - 13 * n} ms"),
            )
        ),
    ),
    healthy(
        "edittest-regions",
        *(call("Edit", {"file": "d.py", "region": f"def f{n}"}, "ok") for n in (0, 1, 2, 3, 2, 4, 5, 6, 7)),
        bash("python d.py", "ok"),
    ),
    healthy(
        "edittest-install",
        *(
            turn
            for m in ("numpy", "pandas", "scipy", "torch", "tqdm")
            for turn in (
                bash("python run.py", f"ModuleNotFoundError: No module named '{m}'", True),
                bash(f"pip install {m}", f"installed {m}"),
            )
        ),
        bash("python run.py", "ready"),
    ),
    healthy(
        "edittest-one-revert",
        call("edit", {"path": "a", "old": "1", "new": "2"}, "ok"),
        bash("t", "fails: A", True),
        call("edit", {"path": "a", "old": "2", "new": "1"}, "ok"),
        call("edit", {"path": "b", "old": "7", "new": "8"}, "ok"),
        bash("t", "passes"),
        text("The fault was in b."),
    ),
    healthy("batch-move", *(bash(f"git mv src/{f}.ts lib/{f}.ts", "") for f in _FILES)),
    healthy("batch-writes", *(call("write_file", {"path": f"out/{f}.md", "content": f"# {f}"}, "") for f in _FILES)),
    healthy(
        "batch-events",
        *(call("create_event", {"title": f"Talk {f}", "day": n}, "created") for n, f in enumerate(_FILES)),
        text("12 events."),
    ),
    healthy("batch-lint-files", *(bash(f"eslint src/{f}.ts", "no problems") for f in _FILES[:9])),
    healthy(
        "batch-refusals",
        *(
            call("probe", {"path": p}, "403 Forbidden", True)
            for p in ("/admin", "/users", "/export", "/keys", "/audit", "/debug")
        ),
        text("All six endpoints refuse anonymous access."),
    ),
    healthy(
        "batch-orders",
        *(call("get_order", {"id": n}, {"id": n, "status": "shipped"}) for n in (17, 4, 23, 9, 31, 12, 40, 2)),
        text("All shipped."),
    ),
    healthy(
        "batch-status", *(call("check_host", {"host": f"{f}.example"}, "healthy") for f in _FILES), text("All up.")
    ),
    healthy(
        "batch-fetch",
        *(
            call("fetch", {"url": f"https://e.example/{f}"}, f"<h1>{f}</h1>" if f != "docs" else "404", f == "docs")
            for f in _FILES
        ),
        text("Eleven pages."),
    ),
    healthy(
        "batch-tasks",
        *(
            call("task", {"prompt": f"Port the tests of module {f} and report what is missing."}, "started")
            for f in _FILES[:5]
        ),
        *(call("read", {"path": f"out/{f}.txt"}, f"{f}: done") for f in _FILES[:5]),
        text("Ported."),
    ),
    healthy(
        "batch-summaries",
        *(
            call(
                "summarise",
                {"instruction": f"Summarise the contract {f}.pdf and list all parties and dates."},
                f"The contract {f} names two parties and is dated {n + 3} May.",
            )
            for n, f in enumerate(_FILES[:8])
        ),
        text("Done."),
    ),
    healthy(
        "batch-rows",
        *(call("update_row", {"id": n, "field": "state", "value": "done"}, {"updated": 1}) for n in range(10)),
    ),
    healthy(
        "batch-rename",
        *(
            turn
            for f in _FILES[:5]
            for turn in (
                call("search", {"pattern": f"ui/{f}"}, f"{len(f)} uses"),
                call("replace", {"pattern": f"ui/{f}", "to": f"lib/{f}"}, f"{len(f)} replaced"),
            )
        ),
    ),
]
