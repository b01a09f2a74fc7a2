"""The labelled sets, each case audited once: what every rule said of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from loopscan import Settings, audit
from loopscan.report import RunReport
from loopscan.rules import RULES
from tests.cases import CASES
from tests.conftest import SHARED

POSITIVE = ("stuck", "suspect")


@dataclass(slots=True)
class Judged:
    """One case: its label, its run, and for each rule the firing turns and whether it ended stuck or suspect.

    `kind`: the class of a case: the word its id begins with, for real runs the word its description begins with.
    """

    id: str
    kind: str
    stuck: bool
    since: int | None
    run: RunReport
    turns: dict[str, list[int]] = field(default_factory=dict)
    found: set[str] = field(default_factory=set)

    def positive(self, rules: Iterable[str]) -> bool:
        """Whether the verdict is stuck or suspect with these rules on."""
        return not self.found.isdisjoint(rules)

    def dated(self, rules: Iterable[str]) -> bool:
        """Whether a firing turn is the one that the label names."""
        return any(self.since in self.turns.get(rule, ()) for rule in rules)


def audited(runs: Mapping[str, list[dict[str, Any]]], settings: Settings | None = None) -> dict[str, RunReport]:
    """The reports of runs given as native lines, by id: all in one log, as a fleet of agents would write it."""
    with TemporaryDirectory() as folder:
        log = Path(folder) / "cases.jsonl"
        with log.open("w", encoding="utf-8") as out:
            for run, lines in runs.items():
                out.writelines(json.dumps({**line, "run_id": run}) + "\n" for line in lines)
        return {run.run: run for run in audit(log, settings, format="loopscan").runs}


def judged(run: RunReport, stuck: bool, since: int | None, why: str = "") -> Judged:
    """What each rule said of a run. Rules do not depend on each other: any set of them can be told from one audit."""
    kind = why.partition(":")[0] if run.run.startswith("real") else run.run.partition("-")[0]
    found = Judged(run.run, kind, stuck, since, run)
    for episode in run.episodes:
        found.turns.setdefault(episode.rule, []).append(episode.turn)
        if episode.verdict in POSITIVE:
            found.found.add(episode.rule)
    return found


def shared(name: str) -> list[Judged]:
    """A labelled set of ../shared/cases; empty where it is not there."""
    path = Path(SHARED) / "cases" / f"{name}.jsonl"
    if not path.is_file():
        return []
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    runs = audited({c["id"]: c["turns"] for c in cases})
    return [judged(runs[c["id"]], c["label"] == "stuck", c["stuck_from"], c["why"]) for c in cases]


def made() -> list[Judged]:
    """The cases made here."""
    runs = audited({c.id: c.turns for c in CASES.values()})
    return [judged(runs[c.id], c.label == "stuck", c.stuck_from) for c in CASES.values()]


ALL = ("period", *RULES)
