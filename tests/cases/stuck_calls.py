"""Stuck: the same or nearly the same call, what comes back says nothing new."""

from __future__ import annotations

from tests.cases.build import bash, call, failed, stuck

_SSH = (
    "ssh deploy@10.0.0.5 uptime",
    "ssh -i ~/.ssh/id_rsa deploy@10.0.0.5 uptime",
    "ssh -i ~/.ssh/id_ed25519 deploy@10.0.0.5 uptime",
    "ssh -o StrictHostKeyChecking=no deploy@10.0.0.5 uptime",
    "ssh -o BatchMode=yes deploy@10.0.0.5 'uptime'",
    "ssh -A deploy@10.0.0.5 uptime",
    "ssh -v deploy@10.0.0.5 uptime 2>&1 | tail -1",
    "ssh -p 22 deploy@10.0.0.5 uptime",
    "ssh -4 deploy@10.0.0.5 uptime",
    "ssh -o PasswordAuthentication=no deploy@10.0.0.5 uptime",
)
_DENIED = "deploy@10.0.0.5: Permission denied (publickey)."
_QUERIES = (
    "quarterly churn of the northern region",
    "northern region churn per quarter",
    "churn north quarterly report",
    "customer churn northern region quarterly figures",
    "report: quarterly churn, northern region",
    "how high is the churn in the northern region per quarter",
    "north churn quarter",
    "quarterly northern churn rate",
    "region north churn rate by quarter",
)
_PASSAGE = "Churn is reported per segment only (handbook, page 12). Regions were dropped from the report in March."
_QUOTING = (
    """python3 -c "print("a")" """,
    """python3 -c 'print('"a"')' "x""",
    """python3 -c "print(\\"a)" """,
    """bash -c "python3 -c 'print(\\"a\\")" """,
    """python3 -c $'print("a")' \"""",
    """echo "print('a')\\" | python3""",
    """python3 -c "import sys; print('a)" """,
    """python3 - <<< "print('a')""",
    """python3 -c "exec('print(1)')""",
)
_EOF = "bash: -c: line {}: unexpected EOF while looking for matching `\"'"

CASES = [
    stuck("sameout-ssh", 3, *(bash(c, _DENIED, error=True) for c in _SSH)),
    stuck(
        "sameout-media",
        4,
        call("list_players", {}, "tv, kitchen"),
        *(
            call("search_media", {"query": q}, {"hits": [], "total": 0})
            for q in ("dune", "dune movie", "dune 2021", "movie dune", "film dune part one")
        ),
    ),
    stuck("sameout-web", 3, *(call("web_search", {"query": q}, f'No results found for "{q}".') for q in _QUERIES)),
    stuck("sameout-passages", 3, *(call("search_handbook", {"q": q}, _PASSAGE) for q in _QUERIES)),
    stuck(
        "sameout-404",
        4,
        call("list_spaces", {}, "docs, wiki"),
        *(
            call("get_page", {"page_id": f"DOC-{n}"}, "404 Not Found", error=True)
            for n in (17, 4, 99, 23, 51, 8, 77, 31, 12)
        ),
    ),
    stuck(
        "sameout-tools",
        3,
        *(
            call("tool_search", {"query": q}, '{"results":[],"note":"no matching tool"}')
            for q in (
                "edit file",
                "file edit",
                "patch file",
                "modify a file",
                "apply patch",
                "write to file",
                "change file",
                "update file contents",
            )
        ),
    ),
    stuck(
        "sameout-quoting",
        4,
        bash("ls", "a.py"),
        *(bash(c, _EOF.format(i), error=True) for i, c in enumerate(_QUOTING, 1)),
    ),
    stuck(
        "sameout-anchor",
        6,
        *(
            turn
            for n in range(6)
            for turn in (
                call("read_file", {"path": "src/app.ts"}, "export const app = 1"),
                call(
                    "apply_patch",
                    {"path": "src/app.ts", "anchor": ("const app", "export const", "app = 1")[n % 3], "insert": "x"},
                    "anchor not found in src/app.ts",
                    error=True,
                ),
            )
        ),
    ),
    stuck(
        "sameout-empty",
        5,
        bash("git status", "clean"),
        bash("make", "ok"),
        *(
            bash(f"find . -name '{n}*'", "")
            for n in ("config", "cfg", "settings", "conf", "options", "setup", "prefs", "params", "env")
        ),
    ),
    stuck(
        "sameout-scope",
        4,
        call("list_targets", {}, "app.example"),
        *(
            call("scan", {"host": f"10.{n}.0.{n * 7 % 50}"}, "blocked: target is out of scope", error=True)
            for n in range(1, 11)
        ),
    ),
    stuck(
        "retry-overloaded",
        3,
        call("read", {"path": "a"}, "1"),
        *(failed(f"529 overloaded_error (request id: req_{n * 7919:06x}a)") for n in range(1, 9)),
    ),
    stuck(
        "retry-hook",
        3,
        call("read", {"path": "a"}, "1"),
        *(call("edit", {"path": "a", "new": "2"}, "denied by hook: protected path", error=True) for _ in range(9)),
    ),
    stuck(
        "inter-success",
        8,
        *(
            turn
            for n in range(7)
            for turn in (
                call("get_weather", {"city": f"city {n}"}, f"{n * 3 + 1} C, wind {n}"),
                call("fetch_rates", {"base": "EUR"}, "upstream error: bad gateway", error=True),
                call("get_time", {"zone": f"zone {n}"}, f"{n + 2} o'clock"),
            )[: 3 if n % 2 else 2]
        ),
    ),
    stuck(
        "inter-search",
        5,
        *(
            turn
            for n in range(8)
            for turn in (
                call("memory_search", {"q": "deploy key"}, "nothing found"),
                call(
                    (
                        "list_dir",
                        "read_file",
                        "get_env",
                        "list_tasks",
                        "read_note",
                        "get_user",
                        "list_jobs",
                        "read_log",
                    )[n],
                    {"n": n},
                    f"entry {n}: {'abcdefgh'[n] * 5}",
                ),
            )
        ),
    ),
    stuck(
        "inter-hunt",
        11,
        *(
            turn
            for n in range(4)
            for turn in (
                call("list_files", {"path": "src"}, "api core"),
                call("read_file", {"path": "src/conf.ts"}, "no such file", True),
                call("list_files", {"path": f"src/api/{n}"}, f"x{n}.ts"),
                call("list_files", {"path": "src/core"}, "bus.ts"),
                call("read_file", {"path": f"src/core/{n}"}, "no such file", True),
            )
        ),
    ),
    stuck(
        "sidefx-post",
        3,
        call("get_thread", {}, "thanks!"),
        *(
            call("post_message", {"channel": "help", "text": "You're welcome!"}, {"ok": True, "id": 4400 + n * n})
            for n in range(7)
        ),
    ),
    stuck(
        "sidefx-cart",
        3,
        call("find_item", {"q": "tea"}, "sku 77"),
        *(call("add_to_cart", {"sku": 77}, f"cart now holds {n} items") for n in range(1, 9)),
    ),
    stuck(
        "osc-growing",
        2,
        *(
            call(
                "insert_lines", {"path": "a.py", "at": 3, "text": "import os"}, "a.py:\n" + "import os\n" * n + "x = 1"
            )
            for n in range(1, 9)
        ),
    ),
    stuck(
        "parallel-same",
        2,
        call("read", {"path": "a"}, "1"),
        [call("shell", {"command": "npm test"}, f"12 passed in {3 + n / 10} s") for n in range(9)],
    ),
]
