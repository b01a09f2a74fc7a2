"""Several policies over the same runs: what each would have saved in runs that failed, and which healthy ones it stops.

One pass reads the logs; the detector runs once for each distinct setting, all caps are looked up in the one series of a
run. A run failed if it is not done, or stuck; where outcomes are known, if it did not solve its task.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from loopscan.auto import healthy, resolve, typical
from loopscan.exits import Caps
from loopscan.fired import Fired, evaluate
from loopscan.policy import Policy
from loopscan.report import Report, RunReport
from loopscan.settings import Detection, Settings

if TYPE_CHECKING:
    from loopscan.settings import Typical

PHYSICAL = "context_full"
"""The exit that is no limit one sets: it is never a policy's own."""


@dataclass(slots=True)
class Saving:
    """What stopping saves in a set of runs: how many are stopped, the turns and picodollars after the stops."""

    runs: int = 0
    turns: int = 0
    usd: int = 0


@dataclass(slots=True)
class Played:
    """A policy played over the runs. `caps`: with `auto` worked out. `seen`: the runs as its detector sees them.

    `stops`: per run the policy's own exit that fires first, None where it lets the run go on. `first`: per run the
    exit that fires first of all, as an audit under this policy would say.
    """

    policy: Policy
    caps: Caps
    seen: list[RunReport]
    stops: list[Fired | None]
    first: list[Fired | None]

    def saving(self, among: Iterable[int]) -> Saving:
        """What the policy saves in some of the runs."""
        stops = [stop for i in among if (stop := self.stops[i]) is not None]
        return Saving(len(stops), sum(s.saved_turns for s in stops), sum(s.saved_usd for s in stops))

    def stopped(self, among: Iterable[int]) -> list[int]:
        """Those of some runs that the policy stops."""
        return [i for i in among if self.stops[i] is not None]


@dataclass(slots=True)
class Replay:
    """The runs, which of them were healthy or failed (indices), and the policies played over them.

    `outcomes`: how many runs were judged by a known outcome, None where none were given.
    """

    runs: list[RunReport]
    healthy: list[int]
    failed: list[int]
    played: list[Played]
    outcomes: int | None = None


@dataclass(slots=True)
class Overlap:
    """Two policies: failed and healthy runs that both stop, only the first, only the second; saved with both on."""

    one: str
    other: str
    failed: tuple[int, int, int]
    healthy: tuple[int, int, int]
    together: Saving


@dataclass(slots=True)
class Flip:
    """A run whose verdict differs between the detectors of two policies."""

    run: RunReport
    one: str
    other: str
    verdicts: tuple[str | None, str | None]


def watched(settings: Settings, policies: Sequence[Policy]) -> Settings:
    """The settings of one pass that serves all policies: literal where every detector is, each detector once."""
    wanted = [p.detection for p in policies if p.detection is not None]
    if wanted and all(d.exact for d in wanted):
        settings = replace(settings, exact=True)
    own = own_detection(settings)
    return replace(settings, watched=tuple(dict.fromkeys(d for d in wanted if d != own)))


def own_detection(settings: Settings) -> Detection:
    """The detector that the scan itself judges runs by."""
    return Detection(settings.window, settings.copies, settings.repeat_limit, settings.exact)


def replay(
    report: Report, settings: Settings, policies: Sequence[Policy], solved: Mapping[str, bool] | None = None
) -> Replay:
    """Play policies over a report that was made under `watched(settings, policies)`; its exits are overwritten.

    `solved`: run id -> whether it solved its task; runs that are not in it are judged by their state and verdict.
    """
    runs, known = report.runs, solved or {}
    good = {i for i, run in enumerate(runs) if known.get(run.run, run.state == "done" and run.verdict != "stuck")}
    found = Replay(
        runs,
        sorted(good),
        [i for i in range(len(runs)) if i not in good],
        [],
        None if solved is None else sum(run.run in known for run in runs),
    )
    for policy in policies:
        seen = _seen(runs, settings, policy.detection)
        judges = seen if policy.detection is not None and policy.detection.window else runs
        sample = [judges[i] for i in range(len(runs)) if known.get(runs[i].run, True)]
        caps = _caps(policy, settings.typical, [r.altered(state="done") if r.run in known else r for r in sample])
        found.played.append(play(policy, caps, seen))
    return found


def _caps(policy: Policy, before: Typical, sample: list[RunReport]) -> Caps:
    return resolve(policy.caps, before, typical(healthy(sample)))


def _seen(runs: list[RunReport], settings: Settings, detection: Detection | None) -> list[RunReport]:
    """The runs as a detector sees them."""
    if detection is None:
        return [run.altered(fired=None, rule=None) for run in runs]
    if detection == own_detection(settings):
        return runs
    at = settings.watched.index(detection)
    return [run.variants[at] for run in runs]


def play(policy: Policy, caps: Caps, seen: list[RunReport]) -> Played:
    """Stop every run where a policy would."""
    stops: list[Fired | None] = []
    first: list[Fired | None] = []
    for run in seen:
        evaluate(run, caps)
        first.append(run.first_exit)
        stops.append(next((fired for fired in run.exits if fired.exit != PHYSICAL), None))
    return Played(policy, caps, seen, stops, first)


def overlaps(found: Replay) -> list[Overlap]:
    """Each two policies: what they stop alike."""
    made = []
    for one, other in combinations(found.played, 2):
        both = Saving()
        for i in found.failed:
            stops = [s for s in (one.stops[i], other.stops[i]) if s is not None]
            if stops:
                both.runs += 1
                both.turns += max(s.saved_turns for s in stops)
                both.usd += max(s.saved_usd for s in stops)
        names = one.policy.name, other.policy.name
        made.append(Overlap(*names, _shared(one, other, found.failed), _shared(one, other, found.healthy), both))
    return made


def _shared(one: Played, other: Played, among: list[int]) -> tuple[int, int, int]:
    mine, its = set(one.stopped(among)), set(other.stopped(among))
    return len(mine & its), len(mine - its), len(its - mine)


def flips(found: Replay) -> list[Flip]:
    """Runs whose verdict depends on which of two policies' detectors looks at them."""
    looking = [p for p in found.played if p.policy.detection is not None and p.policy.detection.window]
    return [
        Flip(run, one.policy.name, other.policy.name, (one.seen[i].verdict, other.seen[i].verdict))
        for one, other in combinations(looking, 2)
        if one.policy.detection != other.policy.detection
        for i, run in enumerate(found.runs)
        if one.seen[i].verdict != other.seen[i].verdict
    ]
