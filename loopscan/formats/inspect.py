"""Inspect AI evaluation logs, `logs/<time>_<task>_<id>.eval` (a zip) or `.json`.

One run = one sample and epoch; a sub-agent (an agent span inside another agent or a tool) is a run of its own, model
calls of scorers and graders are left out. One turn = one `model` event, results join from `tool` events by call id;
a sample without events is read from its `messages`. Long texts are `attachment://<hash>` references, resolved here.
Usage = `output.usage` of the event: cached tokens are inside `input_tokens` where `total_tokens` says so, else apart.
A reply from Inspect's own cache costs nothing. A sample's `limit` or `error` tells how the run ended.
Format: https://inspect.aisi.org.uk/eval-logs.html.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.decode import word
from loopscan.formats import Scan
from loopscan.formats import _eval_archive as archive
from loopscan.formats._fields import identity, items, mapping, when
from loopscan.formats._harness import Names, no_turns, note, stop_state
from loopscan.formats._inspect_sample import Sample
from loopscan.model import JSON, End, Event

TITLE = "Inspect AI evaluation logs (.eval, .json)"
WHERE: tuple[str, ...] = ("$INSPECT_LOG_DIR", "logs")
LACKS = "usage, in samples without events"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}

_LIMITS: Final = {
    "context": "context_full",
    "time": "time_cap",
    "working": "time_cap",
    "message": "turn_cap",
    "turn": "turn_cap",
    "token": "token_cap",
    "cost": "cost_cap",
    "operator": "aborted",
}
"""Any other limit (`custom`) is an error: somebody's own rule stopped the run."""


def sniff(head: Head) -> bool:
    """An archive of samples, or a log document."""
    if archive.is_archive(head.raw):
        return True
    doc = head.first
    return {"version", "status", "eval"} <= doc.keys() and isinstance(doc["eval"], dict)


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and ends of every sample."""
    names = Names(blob.name, scan, "inspect")
    if archive.is_archive(blob.head.raw):
        for number, log, sample in archive.samples(blob, scan.skips):
            yield from _sample(log, sample, names, number, scan)
        return
    for number, log in blob.values(scan.skips):
        if not isinstance(log, dict) or not isinstance(log.get("eval"), dict):
            scan.skips.add(blob.name, number, "no eval: a log is an object with eval, status and samples")
            continue
        for sample in map(mapping, items(log.get("samples"))):
            yield from _sample(log, sample, names, number, scan)


def _sample(log: dict[str, JSON], sample: dict[str, JSON], names: Names, number: int, scan: Scan) -> Iterator[Event]:
    own = identity(sample.get("uuid"))
    if own is not None and scan.copy_of("inspect", own):
        return  # a retried evaluation takes over the samples that were done
    spec = mapping(log.get("eval"))
    parts = (identity(spec.get("run_id")), identity(sample.get("id")), identity(sample.get("epoch")))
    run = names.run("/".join(p for p in parts if p) or None, number)
    labels = {k: v for k in ("task", "solver") if (v := identity(spec.get(k)))}
    sent = False
    for turn in Sample(run, number, sample, scan).turns():
        turn.session, turn.labels = identity(spec.get("eval_id")), labels or None
        sent = True
        yield turn
    state, words = _ending(sample, word(log.get("status")))
    if state is not None:
        final = sent or state != "done"
        if not final:
            no_turns(scan.skips, f"{names.file}: sample {run}", "inspect:samples without a model call", words or state)
        yield End(run, state, words, number, final=final, time=when(sample.get("completed_at")))


def _ending(sample: dict[str, JSON], status: str) -> tuple[str | None, str | None]:
    """How a sample ended, in its own words or else in those of the whole log."""
    limit, error = mapping(sample.get("limit")), sample.get("error")
    if limit:
        kind = word(limit.get("type"))
        words = note(f"{kind} limit {limit.get('limit')}", limit.get("reason"))
        return _LIMITS.get(kind, "error"), words
    if error:
        words = note(mapping(error).get("message") or word(error)) or "error"
        return ("aborted" if "cancel" in words.lower() else stop_state(words)), words
    if status == "success" or sample.get("completed_at") or sample.get("scores"):
        return "done", note(f"log {status}")
    return {"cancelled": "aborted", "started": "cut"}.get(status), note(f"log {status}")


def clean_result(name: str, result: JSON) -> JSON:
    """Results hold what the tool returned; nothing round it."""
    return result
