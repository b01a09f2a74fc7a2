"""Whether two readings of one run stand at the same point: whatever comes, they go on alike.

One of them read the run from its beginning, the other only the last turns before the point. What they counted differs
and says nothing; all else is compared, field by field, so that whoever adds a field need not know of this. What lies
too far back to be looked at any more is left out.
"""

from __future__ import annotations

from collections import deque
from functools import cache
from typing import Any, Final

from loopscan.detector import Detector
from loopscan.episodes import Tracker
from loopscan.key import Action, Keyer
from loopscan.late import Source
from loopscan.row import Plain
from loopscan.rules.streaks import GAP, RESUMED, Trail
from loopscan.rules.watch import Watch
from loopscan.run import Run

RUN: Final = frozenset(
    ("models", "_since", "gap", "full", "compactions", "notes", "unseen", "_more", "_silent", "progress", "ledger")
)
LEDGER: Final = frozenset(("money", "tally", "_bills", "rates", "current", "plain", "_filling", "_series"))
"""What a run, and its ledger once its sums are made, only counts: `loopscan.spliced` adds it up."""
_PROGRESS: Final = frozenset(("fired", "rule", "tracker"))
_TRACKER: Final = frozenset(("episodes", "dropped", "detector", "watch", "_waited"))
_DETECTOR: Final = frozenset(("ring", "newest", "_floor"))
_WATCH: Final = frozenset(("detector", "book", "trails", "told", "_live", "blind"))
_LINES: Final = frozenset(("log", "since"))
_SHARED: Final = (Keyer, Source)
"""What both have, each as an object of its own."""


def alike(one: Run, other: Run) -> bool:
    """Whether two runs stand at the same point. The episodes of `other` must be the last ones of `one`."""
    first, second = one.progress, other.progress
    return (
        _fields(one, other, RUN)
        and _fields(one.ledger, other.ledger, LEDGER | {"history"})
        and _same(_sent(one), _sent(other))
        and _fields(first, second, _PROGRESS)
        and _trackers(first.tracker, second.tracker)
    )


def _sent(run: Run) -> list[Any]:
    """What is known of the newest send, in whatever shape its turn is kept."""
    history, turn = run.ledger.history, run.ledger.history.before
    last = None if turn is None else [_calls(turn), turn.text, getattr(turn, "written", None)]
    return [history.input, history.measured, last]


def same_lines(one: object, other: object) -> bool:
    """Whether two readings of the lines of a run (`formats._native_runs.Run`) stand at the same point."""
    return _fields(one, other, _LINES)


def _trackers(one: Tracker, other: Tracker) -> bool:
    count = len(other.episodes)
    return (
        not (one.dropped or other.dropped)
        and _fields(one, other, _TRACKER)
        and _same(one.episodes[len(one.episodes) - count :] if count else [], other.episodes)
        and _same(_waited(one), _waited(other))
        and _detectors(one.detector, other.detector)
        and _watches(one.watch, other.watch)
    )


def _waited(tracker: Tracker) -> dict[int, Any]:
    return {ident: episodes for ident, episodes in tracker._waited.items() if episodes}


def _detectors(one: Detector, other: Detector) -> bool:
    return _fields(one, other, _DETECTOR) and _same(_window(one), _window(other))


def _window(detector: Detector) -> list[Any]:
    """What is still in reach of a detector."""
    turn, reach = detector.turn, detector.reach
    newest = {i: a.turn for i, a in detector.newest.items() if a.turn > turn - reach}
    stood = [detector.at(t) for t in range(turn - reach + 1, turn + 1)] if reach else []
    return [stood, sorted(newest.items()), max(detector._floor, turn - detector.window)]


def _watches(one: Watch | None, other: Watch | None) -> bool:
    if one is None or other is None:
        return one is other
    first, second = _trails(one), _trails(other)
    return (
        _fields(one, other, _WATCH)
        and _same(one.detector.missed(one.told), other.detector.missed(other.told))
        and first.keys() == second.keys()
        and all(_same(trail, second[name]) for name, trail in first.items())
        and all(_rules(rule, one, other) for rule in one._live.keys() | other._live.keys())
    )


def _trails(watch: Watch) -> dict[str, Any]:
    """The trails that the next call of their tool may go on with, or may not as something waits to be resumed."""
    return {n: t for n, t in watch.trails.items() if t.turn > watch.turn - GAP or _waits(t)}


def _waits(trail: Any) -> bool:
    if not isinstance(trail, Trail):
        return False
    return trail.lapsed is not None or (trail.streak is not None and trail.streak.count >= RESUMED)


def _rules(rule: Any, one: Watch, other: Watch) -> bool:
    """Whether a rule stands at the same point in both; one that was not asked yet is as good as a new one."""
    first, second = one._live.get(rule), other._live.get(rule)
    if first is None or second is None:
        if rule.AFTER_READING or rule.AFTER_WRITING:
            return False
        first, second = first or rule(), second or rule()
    if not _same(_going(first, one), _going(second, other)):
        return False
    if first.past(one.turn) and second.past(other.turn):
        return True
    return _fields(first, second, frozenset(("episode",)))


def _going(rule: Any, watch: Watch) -> Any:
    """The episode of a rule that may still go on: no pause is longer than the window."""
    episode = rule.episode
    return None if episode is None or episode.last < watch.turn - 2 * watch.detector.reach else episode


@cache
def _names(kind: Any) -> tuple[str, ...]:
    """The fields of a struct or of an object with slots."""
    names: tuple[str, ...] | None = getattr(kind, "__struct_fields__", None)
    if names is not None:
        return names
    slots = [c.__dict__.get("__slots__", ()) for c in kind.__mro__]
    return tuple(n for own in slots for n in ((own,) if isinstance(own, str) else own))


def _fields(one: Any, other: Any, but: frozenset[str]) -> bool:
    kind: Any = type(one)
    names, met = _names(kind), set[tuple[int, int]]()
    return kind is type(other) and all(
        _same(getattr(one, n, None), getattr(other, n, None), met) for n in names if n not in but
    )


def _same(one: Any, other: Any, met: set[tuple[int, int]] | None = None) -> bool:
    """Whether two values are of one shape and content. `met`: pairs that are being compared."""
    if one is other:
        return True
    if isinstance(one, (Action, Plain)) and isinstance(other, (Action, Plain)):
        return _same(_shown(one), _shown(other))
    if type(one) is not type(other):
        return False
    if isinstance(one, _SHARED):
        return True
    met = set() if met is None else met
    if (id(one), id(other)) in met:
        return True
    met.add((id(one), id(other)))
    if isinstance(one, dict):
        return len(one) == len(other) and _same(list(one.items()), list(other.items()), met)
    if isinstance(one, (list, tuple, deque)):
        return len(one) == len(other) and all(_same(a, b, met) for a, b in zip(one, other, strict=True))
    kind: Any = type(one)
    names = _names(kind)
    if names:
        return all(_same(getattr(one, n, None), getattr(other, n, None), met) for n in names)
    return bool(one == other)


def _shown(turn: Any) -> list[Any]:
    """What a turn in the window holds, in whatever shape it stands there."""
    links, before = [], turn.before
    while before is not None:
        links.append(before.turn)
        before = before.before
    return [turn.ident, turn.turn, list(turn.idents), _calls(turn), turn.text, turn.fault, turn.error, links]


def _calls(turn: Any) -> list[tuple[Any, ...]]:
    return [(c.name, c.args, c.result, c.error) for c in turn.calls]
