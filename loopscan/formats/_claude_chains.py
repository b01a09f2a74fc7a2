"""The runs of a Claude Code session file: the session itself, sub-agents by id, sub-agents that stand inline."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePath

from loopscan.formats._assembly import Held
from loopscan.formats._claude_line import Line
from loopscan.model import Turn


@dataclass(slots=True)
class Chain:
    """One run of the file while it is read: which prompt it answers and which messages it has open."""

    run: str
    session: str
    parent: str | None = None
    prompt: str | None = None
    compacted: bool = False
    messages: dict[str, Turn | None] = field(default_factory=dict)
    """The newest messages: those of its turns in their order, the newest of which are held; turns of their own take
    what goes nowhere: further lines of copies and of turns that were given out."""
    held: Held = field(default_factory=Held)


@dataclass(slots=True)
class Chains:
    """All runs of one file. `path`: where it lies, as the folders of a session name it."""

    path: PurePath
    open: dict[str, Chain] = field(default_factory=dict)
    _sidechain_of: dict[str, str] = field(default_factory=dict)

    def session(self, line: Line) -> str:
        """The session a line names."""
        return line.sessionId or self.path.stem

    def of(self, line: Line) -> Chain:
        """The run a line belongs to, made known on its first line."""
        session, agent = self.session(line), line.agentId
        if agent and line.isSidechain is not False:
            run = agent if agent.startswith("agent-") else f"agent-{agent}"
            parent: str | None = session if session != run else self._folder_session()
        elif line.isSidechain is True:
            run, parent = self._sidechain(line), session
        else:
            run, parent = session, None
        if run not in self.open:
            self.open[run] = Chain(run, session, parent, None if parent is not None else "")
        return self.open[run]

    def _folder_session(self) -> str | None:
        """`<session>/subagents/agent-x.jsonl`: the session that the folders name."""
        parts = self.path.parts
        return parts[parts.index("subagents") - 1] if "subagents" in parts[1:] else None

    def _sidechain(self, line: Line) -> str:
        """Inline sub-agents have no id: a run is the chain of records that starts at a root record."""
        uuid = line.uuid or ""
        run = self._sidechain_of.get(line.parentUuid or "") or f"sidechain@{uuid[:8]}"
        self._sidechain_of[uuid] = run
        return run
