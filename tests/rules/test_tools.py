"""What tools do, by name and command."""

from __future__ import annotations

import pytest

from loopscan.model import Call
from loopscan.rules.tools import (
    HOUSE,
    READS,
    SENDS,
    SHELL,
    WRITES,
    edits,
    is_of,
    kind,
    label,
    only_looks,
    reads,
    says_only,
)

KINDS = {
    "read_file": READS, "get_order": READS, "mcp__fs__list_dir": READS, "WebSearch": READS, "grep": READS,
    "get_message": READS, "write_file": WRITES, "Edit": WRITES, "str_replace_editor": WRITES, "create_ticket": WRITES,
    "send_message": SENDS, "message": SENDS, "postComment": SENDS, "Bash": SHELL, "run_shell_command": SHELL,
    "execute_bash": SHELL, "context_compaction": HOUSE, "compress_context": HOUSE, "pop_message": 0, "think": 0,
    "sequentialthinking": 0, "": 0,
}  # fmt: skip


@pytest.mark.parametrize(("name", "want"), KINDS.items(), ids=KINDS)
def test_kind(name: str, want: int) -> None:
    assert kind(name) == want


LOOKS = {
    "ls -la src": True, "cd x && grep -rn a . | head -3": True, "git status --short": True, "sed -n '1,9p' a.py": True,
    "cat a 2>/dev/null": True, "find . -name '*.py'": True, "git commit -m x": False, "sed -i s/a/b/ f": False,
    "echo x > f": False, "python t.py": False, "find . -delete": False, "cat <<EOF > f\nx\nEOF": False, "rm a": False,
}  # fmt: skip


@pytest.mark.parametrize(("line", "want"), LOOKS.items(), ids=LOOKS)
def test_only_looks(line: str, want: bool) -> None:
    assert only_looks(line) == want


SAYS = {"echo done": True, "true": True, ":": True, "printf 'x\\n'": True, "echo a && true": True, "echo $HOME": False,
        "echo x > f": False, "echo `date`": False, "ls": False}  # fmt: skip


@pytest.mark.parametrize(("line", "want"), SAYS.items(), ids=SAYS)
def test_says_only(line: str, want: bool) -> None:
    assert says_only(line) == want


def test_labels_name_the_command_of_a_shell() -> None:
    assert label("bash", "cd /w && FOO=1 grep -rn x src") == "bash grep"
    assert label("bash", "sudo git status --short") == "bash git status"
    assert is_of(Call("bash", {"command": "grep y"}), "bash grep")
    assert not is_of(Call("bash", {"command": "ls"}), "bash grep")
    assert is_of(Call("read", {}), "read")
    assert not is_of(Call("read", {}), None)


def test_an_editor_that_views_reads() -> None:
    view = Call("str_replace_editor", {"command": "view", "path": "a"})
    assert reads(view)
    assert not edits(view)
    assert edits(Call("str_replace_editor", {"command": "create", "path": "a"}))
    assert edits(Call("bash", {"command": "edit 3:4\nx\nend_of_edit"}))
    assert reads(Call("bash", '{"command":"ls"}'))
