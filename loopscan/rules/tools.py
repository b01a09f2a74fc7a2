"""What a tool does, told by its name and, for shells, by the command: reads, writes, sends, runs a shell.

Only for the rules that make episodes, never for the key of a turn. `[tools.NAME] mutates` overrides the guess.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from loopscan.decode import embedded
from loopscan.model import JSON, Call
from loopscan.spelling import PATHS

READS: Final = 1
WRITES: Final = 2
SENDS: Final = 4
SHELL: Final = 8
HOUSE: Final = 16
"""Keeps house in the context: compaction."""

_READ: Final = frozenset(
    "read get list ls search find grep glob query fetch lookup view show cat describe select status check inspect "
    "browse visit recall load scan analyze analyse count stat head tail retrieve poll probe sql".split()
)
_WRITE: Final = frozenset(
    "write edit create delete remove update replace patch insert append move rename set add save commit put upload "
    "apply modify fix mkdir touch cp mv rm multiedit".split()
)
_ALTER: Final = frozenset("write edit insert append replace patch modify fix multiedit".split())
_SEND: Final = frozenset("send post reply notify tweet publish forward".split())
_SEND_ALONE: Final = frozenset("message email mail sms comment".split())
_HOUSE: Final = frozenset("compact compaction compress compression condense condenser condensation".split())
_SHELL: Final = frozenset("bash shell exec terminal cmd powershell sh zsh".split())
COMMANDS: Final = ("command", "cmd", "script", "code", "input")

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_QUOTED: Final = re.compile(r"'[^'\n]*'|\"[^\"\n$`]*\"")
_SEGMENTS: Final = re.compile(r"\s*(?:&&|\|\||[;|\n])\s*")
_LOOKS: Final = frozenset(
    "ls cat head tail grep rg egrep find fd pwd which whereis type git sed wc stat file tree ps df du env printenv "
    "whoami date id hostname uname sort uniq cut awk jq less more diff cmp echo printf true : test cd open goto "
    "scroll_up scroll_down search_dir search_file find_file sleep column nl tac basename dirname realpath "
    "readlink".split()
)
_GIT_LOOKS: Final = frozenset(
    "status log diff show branch ls-files grep rev-parse blame remote describe reflog".split()
)
_SCRIPT: Final = 2000
_IDLE: Final = frozenset(("echo", "printf", "true", ":", "#", "sleep"))
_FINDS: Final = frozenset("search find lookup query grep glob retrieve".split())
_EDITORS: Final = frozenset("edit insert append create str_replace submit".split())


KINDS: Final[dict[str, int]] = {}
"""Kinds of the tools met so far, for those who cannot wait."""
_MOST_TOOLS: Final = 10_000


def kind(name: str) -> int:
    """One of `READS`, `WRITES`, `SENDS`, `SHELL`, `HOUSE` for a tool's name; 0 = not told by the name."""
    known = KINDS.get(name)
    if known is None:
        if len(KINDS) >= _MOST_TOOLS:
            KINDS.clear()
        known = KINDS[name] = _kind(name)
    return known


def _kind(name: str) -> int:
    words = [w.lower() for w in _WORDS.findall(name)]
    if not words:
        return 0
    if not _HOUSE.isdisjoint(words):
        return HOUSE
    if not _SHELL.isdisjoint(words) or words[:2] == ["run", "command"]:
        return SHELL
    if not _SEND.isdisjoint(words) or words[0] in _SEND_ALONE:
        return READS if words[0] in _READ else SENDS
    for word in words:
        if word in _READ:
            return READS
        if word in _WRITE:
            return WRITES
    return 0


def arguments(call: Call) -> JSON:
    """The arguments of a call; text that holds an object is read as one."""
    return _parsed(call.args) if type(call.args) is str else call.args


@lru_cache(maxsize=256)
def _parsed(args: str) -> JSON:
    inner = embedded(args)
    return args if inner is None else inner


def finds(name: str) -> bool:
    """Whether a tool looks for something: that it worked is no answer of it."""
    return kind(name) == READS and not _FINDS.isdisjoint(w.lower() for w in _WORDS.findall(name))


def command(args: JSON) -> str | None:
    """The command line of a shell call."""
    if isinstance(args, str):
        return args
    if isinstance(args, dict):
        for name in COMMANDS:
            value = args.get(name)
            if isinstance(value, str):
                return value
            if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
                return " ".join(value)
    return None


TWO_WORDS: Final = frozenset("git npm npx yarn pnpm bun cargo go docker kubectl pip apt gh make mvn ./mvnw".split())


def label(name: str, line: str) -> str:
    """A shell's name with the command that it runs: `bash grep`, `bash git status`."""
    head = line[:400].lstrip()
    while head.startswith("cd ") and "&&" in head:
        head = head.partition("&&")[2].lstrip()
    words = head.split(None, 2)
    if words and ("=" in words[0] or words[0] == "sudo"):
        words = head.split(None, 4)
    while words and ("=" in words[0] or words[0] == "sudo"):
        words = words[1:]
    return " ".join([name, *words[: 2 if words and words[0] in TWO_WORDS else 1]])


def is_of(call: Call, tool: str | None) -> bool:
    """Whether a call is one of a tool, or of a shell's command (`label`)."""
    if tool is None or call.name == tool:
        return tool is not None
    if not tool.startswith(call.name + " "):
        return False
    line = command(arguments(call))
    return line is not None and label(call.name, line) == tool


def _verbs(line: str) -> list[tuple[str, str]]:
    """First word and rest of each command of a line, assignments and `sudo` skipped."""
    found = []
    for segment in _SEGMENTS.split(_QUOTED.sub("quoted", line.strip())):
        words = segment.split()
        while words and ("=" in words[0] or words[0] in ("sudo", "time", "command", "timeout")):
            words = words[1:]
        if words:
            found.append((words[0], " ".join(words[1:])))
    return found


def only_looks(line: str) -> bool:
    """Whether a command line changes nothing, as far as its words tell; a long one is a script."""
    if len(line) > _SCRIPT or re.search(r"(?<![0-9&])>(?!&|\s*/dev/null)", line):
        return False
    for verb, rest in _verbs(line):
        if verb not in _LOOKS:
            return False
        if verb == "git" and rest.partition(" ")[0] not in _GIT_LOOKS:
            return False
        if (verb == "sed" and re.search(r"(^|\s)-\w*i", rest)) or (
            verb == "find" and re.search(r"-(delete|exec)", rest)
        ):
            return False
    return True


def says_only(line: str) -> bool:
    """Whether a command line does nothing but say something (`echo`, `true`, `:`)."""
    if len(line) > _SCRIPT or ">" in line or "$(" in line or "`" in line or "$" in line:
        return False
    verbs = [verb for verb, _ in _verbs(line)]
    return all(verb in _IDLE or verb[0] == "#" for verb in verbs) and any(verb != "sleep" for verb in verbs)


def reads(call: Call) -> bool:
    """Whether a call asks for something and changes nothing."""
    what = kind(call.name)
    if what & SHELL:
        line = command(arguments(call))
        return line is not None and only_looks(line)
    if what & READS:
        return True
    return _views(call)


def _views(call: Call) -> bool:
    args = arguments(call)
    return isinstance(args, dict) and args.get("command") == "view"


def alters(call: Call) -> bool:
    """Whether a call changes the text of a file: a part of what `edits` holds, without creating, adding, deleting."""
    if kind(call.name) & SHELL:
        return edits(call)
    return edits(call) and not _ALTER.isdisjoint(w.lower() for w in _WORDS.findall(call.name))


def edits(call: Call) -> bool:
    """Whether a call edits what it is pointed at: a writing tool, or an editor's command in a shell."""
    what = kind(call.name)
    if what & WRITES:
        return not _views(call)
    if what & SHELL:
        line = command(arguments(call))
        return line is not None and line.partition(" ")[0] in _EDITORS
    return False


def path_of(args: JSON) -> str | None:
    """The file that arguments name."""
    if isinstance(args, dict):
        for name in args:
            if name in PATHS and type(value := args[name]) is str:
                return value
    return None
