"""Healthy: exploration, status checks between pieces of work, parallel calls, questions."""

from __future__ import annotations

from tests.cases.build import bash, call, healthy, text

_FILES = "auth billing cart docs events files grants hooks index jobs keys logs".split()

CASES = [
    healthy(
        "explore-none",
        call("ls", {"path": "src"}, "api core"),
        call("grep", {"pattern": "TODO"}, "none"),
        call("grep", {"pattern": "FIXME"}, "none"),
        call("read", {"path": "src/api"}, "listen"),
        call("grep", {"pattern": "skip"}, "none"),
        call("ls", {"path": "db"}, "a.sql"),
        call("grep", {"pattern": "eval"}, "none"),
        call("read", {"path": "db/a.sql"}, "create"),
    ),
    healthy(
        "explore-reread",
        call("read", {"path": "a"}, "1"),
        call("grep", {"q": "x"}, "a:1"),
        call("read", {"path": "b"}, "2"),
        call("read", {"path": "a"}, "1"),
        call("read", {"path": "c"}, "3"),
        call("read", {"path": "a"}, "1"),
        call("edit", {"path": "a", "new": "4"}, "ok"),
        bash("make test", "8 passed"),
    ),
    healthy(
        "explore-shell",
        *(
            bash(c, r)
            for c, r in (
                ("pwd", "/w"),
                ("ls", "a b"),
                ("cat a", "1"),
                ("cat b", "2"),
                ("wc -l a", "1 a"),
                ("git log -1", "abc"),
                ("echo $HOME", "/root"),
                ("which node", "/usr/bin/node"),
                ("node -v", "v22"),
                ("make", "ok"),
            )
        ),
    ),
    healthy(
        "between-commits",
        *(
            turn
            for n in range(5)
            for turn in (
                call("write", {"path": f"ch{n}.md"}, "ok"),
                bash(f"git commit -qam 'chapter {n}'", ""),
                bash("git status --short", ""),
            )
        ),
    ),
    healthy(
        "between-todo",
        *(
            turn
            for n, f in enumerate(_FILES[:6])
            for turn in (
                call("edit", {"path": f"{f}.py"}, "ok"),
                call("todo_write", {"done": _FILES[: n + 1]}, "todos updated"),
            )
        ),
    ),
    healthy("parallel-reads", [call("read", {"path": f}, f) for f in _FILES[:6]], text("Read.")),
    healthy(
        "parallel-denied",
        [call("bash", {"command": f"rm {f}"}, "denied by policy", True) for f in _FILES[:5]],
        text("I am not allowed to remove files."),
    ),
    healthy(
        "parallel-twice",
        [call("get", {"c": "Oslo"}, "-2")] * 2 + [call("get", {"c": "Bergen"}, "4")],
        call("save", {}, "ok"),
        text("ok"),
    ),
    healthy(
        "parallel-queries",
        [call("sql", {"q": f"select count(*) from {f}"}, "0") for f in _FILES[:6]],
        text("All empty."),
    ),
    healthy(
        "explore-chat",
        text("Which order is it?"),
        text("Thanks. Could you confirm the e-mail address?"),
        call("get_order", {"id": 5}, "shipped"),
        text("It was shipped. Anything else?"),
        text("You are welcome. Goodbye!"),
    ),
    healthy(
        "batch-probes",
        *(
            call("http", {"method": "GET", "url": f"https://api.example{p}"}, "403 Forbidden", True)
            for p in ("/users", "/admin/export", "/keys", "/audit/log/full", "/debug/vars", "/env")
        ),
        text("Every endpoint refuses anonymous access."),
    ),
    healthy(
        "between-plan",
        *(
            turn
            for n in range(4)
            for turn in (
                call("edit", {"path": f"{_FILES[n]}.py"}, "ok"),
                call(
                    "TodoWrite",
                    {
                        "todos": [
                            {
                                "content": f,
                                "status": "completed" if i <= n else "in_progress" if i == n + 1 else "pending",
                            }
                            for i, f in enumerate(_FILES[:7])
                        ]
                    },
                    "Todos have been modified successfully.",
                ),
            )
        ),
        text("Four modules are done."),
    ),
    healthy(
        "explore-asks",
        text("I'll need your user id to look up the reservation."),
        text("Thanks. Let me check the reservation: which one is it?"),
        text("I will look at the reservation. Could you tell me the reason for the change?"),
        text("Let me confirm: you want to change the reservation to May 4?"),
        call("update_reservation", {"id": "X1", "date": "05-04"}, "updated"),
        text("It is changed."),
    ),
    healthy(
        "explore-clicks",
        *(call("click", {"ref": f"e{n}"}, "clicked") for n in (12, 15, 19, 22, 31)),
        call("snapshot", {}, "Order placed"),
        text("Ordered."),
    ),
]
