"""AgentLab run summaries, `<study>/<run>/summary_info.json` (BrowserGym, WebArena, WorkArena).

The steps of a run lie beside it as pickles (`step_N.pkl.gz`). A pickle runs code when it is opened, so they are
never read: there is no run to judge, and what the summary says (state, steps, totals) is told as a message.
`truncated` is the step cap.
Format: https://github.com/ServiceNow/AgentLab, `src/agentlab/experiments/loop.py` (save_summary_info).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopscan.blob import Blob, Head
from loopscan.formats import Scan
from loopscan.formats._fields import count
from loopscan.formats._harness import Names, no_turns, note, totals
from loopscan.model import JSON, End, Event

TITLE = "AgentLab run summaries (totals only)"
WHERE: tuple[str, ...] = ("$AGENTLAB_EXP_ROOT", "~/agentlab_results")
LACKS = "turns: the steps are pickles, which are never opened"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}


def sniff(head: Head) -> bool:
    """A summary: the number of steps and the reward collected."""
    return any({"n_steps", "cum_reward"} <= o.keys() for o in head.objects[:3])


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """How the run ended; no turns."""
    names = Names(blob.name, scan, "agentlab")
    for number, summary in blob.values(scan.skips):
        if not isinstance(summary, dict) or "n_steps" not in summary:
            scan.skips.add(blob.name, number, "no summary: it is an object with n_steps and cum_reward")
            continue
        state, words = _state(summary)
        told = note(words, f"{count(summary['n_steps'])} steps", _totals(summary))
        no_turns(scan.skips, blob.name, "agentlab:steps are pickles", told or state)
        yield End(names.run(None), state, told, number)


def _state(summary: dict[str, JSON]) -> tuple[str, str]:
    if isinstance(error := summary.get("err_msg"), str) and error:
        return "error", error
    if summary.get("truncated") is True:
        return "turn_cap", "truncated"
    if summary.get("terminated") is True:
        return "done", "terminated"
    return "cut", "neither terminated nor truncated"


def _totals(summary: dict[str, JSON]) -> str | None:
    """Tokens and dollars of the whole run; the names of the counters vary by agent."""

    def found(*ends: str) -> JSON:
        names = (k for k in summary if k.startswith("stats.cum_") and k.endswith(ends))
        return next((summary[k] for k in sorted(names) if summary[k]), None)

    given, output = found("prompt_tokens", "input_tokens"), found("completion_tokens", "output_tokens")
    return totals(None, given, output, found("total_cost", "_cost"))


def clean_result(name: str, result: JSON) -> JSON:
    """There are no results."""
    return result
