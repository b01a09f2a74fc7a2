"""ATIF trajectories (Agent Trajectory Interchange Format, v1.0 to v1.8), `agent/trajectory.json` of a Harbor trial.

One turn = one agent step; steps copied from an earlier file (`is_copied_context`) and steps without a model call
(`llm_call_count` 0) are none. An agent without function calling writes its commands into `message`: with an
observation that is one call named `message`. One run = one `session_id`; sub-agents (embedded, or files with a
`parent_session_id`) are runs of their own. A trajectory goes on in the file that `continued_trajectory_ref` names,
which is read with it and yields nothing by itself. Usage = `metrics` of a step. The end of a run is not inside: it
comes from the trial's `result.json` beside the folder, else from a finishing call.
Format: https://github.com/laude-institute/harbor, `docs/rfcs/0001-trajectory-format.md`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.decode import canonical, embedded, word
from loopscan.formats import Scan
from loopscan.formats import _harbor as harbor
from loopscan.formats._fields import count, dollars, identity, items, mapping, result_of_blocks, text_of_blocks, when
from loopscan.formats._harness import Names, answer, spoken
from loopscan.model import JSON, Call, End, Event, Turn, Usage

TITLE = "ATIF trajectories (Harbor, Terminal-Bench 2)"
WHERE: tuple[str, ...] = ("jobs",)
LACKS = "error flags of calls; the end of a run, where no trial result lies beside it"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {
    "message": frozenset({"analysis", "plan", "explanation", "state_analysis"}),
    "*": frozenset({"security_risk"}),
}
"""Of a message that is a JSON command, the parts that only explain it."""

_FINISHING: Final = frozenset({"finish", "submit", "task_complete", "mark_task_complete"})


def sniff(head: Head) -> bool:
    """A document whose `schema_version` says so."""
    return any(word(o.get("schema_version")).startswith("ATIF-") for o in head.objects[:3])


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of a trajectory and of those that continue it."""
    names = Names(blob.name, scan, "atif")
    for number, doc in blob.values(scan.skips):
        if not isinstance(doc, dict) or not isinstance(doc.get("steps"), list):
            scan.skips.add(blob.name, number, "no steps: a trajectory is an object with a list of steps")
        elif blob.path is not None and harbor.continues_another(blob.path):
            scan.skips.copies += 1
        else:
            agent = mapping(mapping(doc.get("agent")).get("extra"))
            run = identity(doc.get("session_id")) or identity(doc.get("trajectory_id")) or names.run(None)
            reading = _Reading(run, number, scan, identity(agent.get("parent_session_id")))
            yield from reading.document(doc)
            for part in harbor.continuations(blob, doc, scan.skips):
                yield from reading.document(part)
            end = reading.end(harbor.trial_end(blob.path) if blob.path is not None else None)
            if end is not None:
                yield end


class _Reading:
    """One run, over one or more documents."""

    def __init__(self, run: str, number: int, scan: Scan, parent: str | None) -> None:
        self.run, self.number, self.scan, self.parent = run, number, scan, parent
        self.last: Turn | None = None
        self.open = False
        self.compacted = False

    def document(self, doc: dict[str, JSON]) -> Iterator[Event]:
        """The turns of a document, then those of the sub-agents embedded in it."""
        steps = [s for s in items(doc.get("steps")) if isinstance(s, dict)]
        if steps and self.scan.copy_of("atif", self.run, len(steps), canonical(steps[-1])):
            return
        agent = mapping(doc.get("agent"))
        self.compacted = self.compacted or bool(mapping(agent.get("extra")).get("continuation_index"))
        for step in steps:
            managed = mapping(mapping(step.get("extra")).get("context_management"))
            self.compacted = self.compacted or managed.get("type") == "compaction"
            if _is_send(step):
                yield self._turn(step, agent)
        self.open = isinstance(doc.get("continued_trajectory_ref"), str)
        for k, inner in enumerate(map(mapping, items(doc.get("subagent_trajectories"))), 1):
            name = identity(inner.get("trajectory_id")) or f"{self.run}/sub{k}"
            child = _Reading(name, self.number, self.scan, self.run)
            yield from child.document(inner)
            if (end := child.end(None)) is not None:
                yield end

    def _turn(self, step: dict[str, JSON], agent: dict[str, JSON]) -> Turn:
        text = text_of_blocks(step.get("message"))
        calls = [
            Call(word(c.get("function_name")), c.get("arguments"), id=identity(c.get("tool_call_id")))
            for c in map(mapping, items(step.get("tool_calls")))
        ]
        results = [mapping(r) for r in items(mapping(step.get("observation")).get("results"))]
        wrote = spoken(calls, text, step.get("reasoning_content"))
        if not calls and any(r.get("content") is not None for r in results):
            calls = [Call("message", text)]
        turn = Turn(self.run, calls, text, line=self.number, parent=self.parent, written=wrote)
        for result in results:
            delegated = result.get("content") is None and result.get("subagent_trajectory_ref")
            if "content" in result and not delegated:
                answer(turn, identity(result.get("source_call_id")), result_of_blocks(result.get("content")))
        turn.usage = _usage(mapping(step.get("metrics")))
        turn.model = identity(step.get("model_name")) or identity(agent.get("model_name"))
        turn.time = when(step.get("timestamp"))
        turn.compacted, self.compacted = self.compacted, False
        self.last = turn
        return turn

    def end(self, trial: tuple[str, str] | None) -> End | None:
        """The end as the trial states it, else as the agent's last step does."""
        if trial is not None:
            return End(self.run, trial[0], trial[1], self.number, final=True)
        words = _finish(self.last) if self.last is not None and not self.open else None
        return End(self.run, "done", words, self.number, final=True) if words is not None else None


def _is_send(step: dict[str, JSON]) -> bool:
    """Whether a step is a model call of this run."""
    own = step.get("source") == "agent" and step.get("is_copied_context") is not True
    return own and step.get("llm_call_count") != 0


def _usage(metrics: dict[str, JSON]) -> Usage | None:
    """Cached tokens are a part of the prompt; zero dollars mean that nobody knew the price."""
    prompt, output = count(metrics.get("prompt_tokens")), count(metrics.get("completion_tokens"))
    usd = dollars(metrics.get("cost_usd")) or None
    if prompt is None and output is None and usd is None:
        return None
    extra = mapping(metrics.get("extra"))
    return Usage(
        prompt, output, count(metrics.get("cached_tokens")), count(extra.get("cache_creation_input_tokens")), usd=usd
    )


def _finish(turn: Turn) -> str | None:
    """The words by which the last step says that the agent is done."""
    for call in turn.calls:
        if call.name in _FINISHING:
            return call.name
    text = turn.text or ""
    if "<function=finish>" in text:
        return "<function=finish>"
    return "task_complete" if mapping(embedded(text)).get("task_complete") is True else None


def clean_result(name: str, result: JSON) -> JSON:
    """Results hold what the tool printed; nothing round it."""
    return result
