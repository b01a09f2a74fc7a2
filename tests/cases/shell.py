"""Coding agents with one shell for everything, as harnesses record them: results in wrappers, no error flags."""

from __future__ import annotations

from tests.cases.build import bash, healthy, stuck

_PROSE = (
    "I need to look at the parser first.",
    "Let me think about what the test expects.",
    "The problem is in the tokenizer, so I will fix it.",
    "Now we should run the tests again.",
    "To fix this issue we have to change the grammar.",
    "First, open the file Parser.java.",
    "It seems that the file does not exist.",
    "We can try another approach here.",
    "Since the build fails, check the imports.",
    "Finally, submit the change.",
)
_SILENT = "Your command ran successfully and did not produce any output."
_WRAPPED = "<returncode>0</returncode>\n<output>\n{}</output>"
_LINT = (
    "Your proposed edit has introduced new syntax error(s). Please understand the errors and retry your edit.\n\n"
    "ERRORS:\n- E999 IndentationError: unexpected indent\n\nThis is how your edit would have looked if applied\n{}"
)
_BUILD = (
    "[INFO] Scanning for projects...\n[INFO] Building core 2.1\n[INFO] Running org.example.ParserTest\n"
    "[ERROR] Tests run: 12, Failures: 1, Errors: 0, Skipped: 0\n[ERROR] ParserTest.nested expected:<3> but was:<4>\n"
    "[INFO] BUILD FAILURE\n"
)
_NAMES = "parser lexer token grammar emit link pack scope types macro visitor symbols".split()


def _edit(n: int) -> str:
    return f"edit {10 + n}:{12 + n}\n    return self.{_NAMES[n % 12]}(node, {n})\nend_of_edit"


CASES = [
    stuck(
        "errdrift-prose",
        4,
        bash("ls", "src"),
        *(bash(p, f"bash: line {40 + n}: {p.split()[0].rstrip(',')}: command not found") for n, p in enumerate(_PROSE)),
    ),
    stuck(
        "errdrift-search",
        4,
        bash("ls", "src"),
        *(bash(f'search_dir "{n}Visitor" src', f'No matches found for "{n}Visitor" in /repo/src') for n in _NAMES),
    ),
    stuck(
        "errdrift-lint",
        6,
        bash("open a.py", "[File: a.py]"),
        *(
            turn
            for n in range(9)
            for turn in (
                bash(_edit(n), _LINT.format(f"{10 + n}: return self.{_NAMES[n]}" * (n + 2))),
                bash(f"goto {10 * n}", f"{n} lines"),
            )
        ),
    ),
    stuck(
        "errdrift-javac",
        3,
        bash("ls", "src"),
        *(
            bash(f"javac -d out src/{n.title()}.java", f"bash: line {9 + i}: javac: command not found")
            for i, n in enumerate(_NAMES[:9])
        ),
    ),
    stuck(
        "growing-edit",
        3,
        bash("open a.py", "[File: a.py]"),
        *(bash("edit 3:3\nimport os\nend_of_edit", "[File: a.py]\n1:x = 1\n" + "import os\n" * n) for n in range(1, 9)),
    ),
    stuck(
        "empty-find",
        5,
        bash("ls", "src"),
        bash("make", "ok"),
        *(bash(f"find . -name '*{n}*'", _SILENT) for n in _NAMES[:10]),
    ),
    stuck(
        "noeffect-build",
        8,
        bash("ls", "src"),
        bash("mvn test", _BUILD),
        *(
            turn
            for n in range(7)
            for turn in (
                bash(_edit(n), f"[File: Parser.java ({200 + n} lines total)]\n{n}: {_NAMES[n]}"),
                bash("mvn test", _BUILD),
            )
        ),
    ),
    stuck(
        "volatile-cd",
        3,
        bash("ls", "src"),
        *(bash("cd/testbed", f"bash: line {113 + n}: cd/testbed: No such file or directory") for n in range(12)),
    ),
    healthy(
        "shell-silent",
        *(
            bash(c, _WRAPPED.format(""))
            for c in (
                "cat <<'EOF' > a.py\nx = 1\nEOF",
                "sed -i 's/1/2/' a.py",
                "cat <<'EOF' > b.py\ny = 1\nEOF",
                "sed -i 's/y/z/' b.py",
                "sed -i '3d' b.py",
                "mv b.py c.py",
                "rm a.py",
                "sed -i 's/z/w/' c.py",
                "git add -A",
            )
        ),
        bash("python c.py", _WRAPPED.format("w = 1\n")),
    ),
    healthy("shell-makes", *(bash(f"mkdir -p src/{n}", _SILENT) for n in _NAMES[:9]), bash("ls src", "lexer parser")),
    healthy(
        "shell-greps",
        *(bash(f"grep -rn '{n}_rule' src", _WRAPPED.format("").replace(">0<", ">1<")) for n in _NAMES[:5]),
        bash("grep -rn rule_ src", _WRAPPED.format("src/a.py:3: rule_x\n")),
        bash("cat src/a.py", _WRAPPED.format("x")),
    ),
    healthy(
        "shell-lint",
        *(bash(_edit(n), _LINT.format(n)) for n in range(3)),
        bash(_edit(5), "[File: a.py]"),
        bash("python t.py", "ok 3"),
        bash("submit", "diff --git a b"),
    ),
    healthy(
        "shell-scroll",
        *(bash("scroll_down", f"[{100 * n} lines above]\n{_NAMES[n] * 9}") for n in range(6)),
        bash("scroll_down", "[600 lines above]\nend"),
        bash("scroll_down", "[600 lines above]\nend"),
        bash("edit 3:3\nx\nend_of_edit", "[File: a.py]"),
        bash("submit", "diff"),
    ),
    healthy(
        "shell-probe",
        *(
            turn
            for n in range(5)
            for turn in (
                bash(_edit(n), f"[File: a.py ({90 + n} lines total)]"),
                bash("python reproduce.py", f"case {n}: {_NAMES[n]} fails"),
            )
        ),
        bash("python reproduce.py", "all good"),
        bash("submit", "diff"),
    ),
    healthy(
        "shell-twice",
        bash("python reproduce.py", "Traceback\nValueError: x"),
        bash("cat a.py", "x = 1"),
        bash("python reproduce.py", "Traceback\nValueError: x"),
        bash(_edit(1), "[File: a.py]"),
        bash("python reproduce.py", "Traceback\nValueError: x"),
        bash(_edit(2), "[File: a.py]"),
        bash("python reproduce.py", "fine"),
        bash("submit", "diff"),
    ),
    stuck(
        "errdrift-broken",
        4,
        bash("open a.py", "[File: a.py]"),
        *(
            bash(_edit(n), "[File: a.py (90 lines total)]")
            if n in (4, 7)
            else bash(_edit(n), _LINT.format("x" * n * 9))
            for n in range(11)
        ),
    ),
    healthy(
        "shell-repaired",
        *(bash(_edit(n), _LINT.format("x" * n * 9)) for n in range(5)),
        bash(_edit(5), "[File: a.py (90 lines total)]"),
        bash(_edit(6), _LINT.format("y")),
        bash(_edit(7), "[File: a.py (91 lines total)]"),
        bash("python t.py", "ok"),
        bash("submit", "diff"),
    ),
]
