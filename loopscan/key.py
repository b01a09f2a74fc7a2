"""The key of a turn: what decides whether two turns are the same (DESIGN: canonical JSON of its calls).

A key has two halves. The *ident* is the action: names and arguments (or the text of a turn without calls). The
*outcome* is the action with its results. The outcome costs more, so the detector asks for it only where an ident
came back inside its window.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import msgspec
import orjson

from loopscan import volatile
from loopscan.decode import canonical, embedded
from loopscan.ignored import Ignored, ignored
from loopscan.model import JSON, MISSING, Call, Turn
from loopscan.settings import ToolSettings
from loopscan.spelling import PATHS, one_spelling

_NONE: Mapping[str, frozenset[str]] = {}


class Action(msgspec.Struct, gc=False):
    """A turn as the detector sees it.

    `ident`: hash of what was done, None if the turn equals nothing (a result was not recorded, content was not
    captured). `calls`: the turn's calls; `idents`: one per call (the text's for a turn without calls).
    """

    ident: int | None
    idents: tuple[int, ...]
    calls: list[Call]
    text: str | None
    fault: JSON = MISSING
    error: bool = False
    """Every call of the turn failed, or the model call did."""
    args: JSON = None
    """Arguments of a turn's only call, text that holds an object read as one."""
    turn: int = 0
    """Its place in a detector's window; what follows is worked out there."""
    before: Action | None = None
    """The nearest earlier turn of the window with the same ident."""
    key: int | None = None
    rough: int | None = None
    """Hash of the turn with digits and random words masked (`loopscan.rules.masked`)."""

    def keyed(self, keyer: Keyer) -> int:
        """The turn's key, worked out when its action comes back."""
        if self.key is None:
            self.key = keyer.outcome(self)
        return self.key


@dataclass(slots=True)
class Keyer:
    """Makes the keys of one format's turns.

    `exact`: literally as recorded (arguments given as text stay text, nothing is stripped). `cosmetic`: tool name
    ("*" = every) -> argument names that say nothing about the action. `unwrap`: the format's `clean_result`. `tools`:
    what the user knows of tools, by name.
    """

    exact: bool = False
    cosmetic: Mapping[str, frozenset[str]] = field(default_factory=dict)
    unwrap: Callable[[str, JSON], JSON] | None = None
    tools: Mapping[str, ToolSettings] = field(default_factory=dict)
    _ignored: dict[str, Ignored] = field(init=False, default_factory=dict)
    _everywhere: frozenset[str] = field(init=False, default=frozenset())
    special: bool = field(init=False, default=False)
    """Whether plain arguments of every tool have to be looked through; else those of the tools in `cosmetic` have."""

    def __post_init__(self) -> None:
        if self.tools and not self.exact:
            self._ignored = ignored(self.tools)
        self._everywhere = self.cosmetic.get("*", frozenset())
        if self._everywhere:
            self.cosmetic = {name: drop | self._everywhere for name, drop in self.cosmetic.items()}
        self.special = bool(self.exact or self._everywhere or self._ignored)

    def action(self, turn: Turn) -> Action:
        """The action of a turn."""
        calls = turn.calls
        if not calls:
            return self._wordy(turn)
        if len(calls) == 1:
            call = calls[0]
            name, args = call.name, call.args
            if type(args) is not dict or self.special or name in self.cosmetic or not PATHS.isdisjoint(args):
                args = self.read(name, args)
            try:  # as `canonical` does: this runs once a turn
                text = orjson.dumps(args, None, orjson.OPT_SORT_KEYS)
            except orjson.JSONEncodeError:
                text = canonical(args)
            ident = hash((name, text))
            return Action(
                ident if (type(call) is not Call and call.answered) or call.result is not MISSING else None,
                (ident,), calls, turn.text, MISSING, call.error, args,
            )  # fmt: skip
        idents = tuple(self.call_ident(c.name, c.args) for c in calls)
        known = all(c.result is not MISSING for c in calls)
        return Action(
            hash(("calls", *sorted(idents))) if known else None,
            idents,
            calls,
            turn.text,
            error=all(c.error for c in calls),
        )

    def _wordy(self, turn: Turn) -> Action:
        """A turn without calls: the model's text, or a model call that failed."""
        if turn.failed:
            ident = hash(("failed",))
            known = turn.fault is not MISSING
            return Action(ident if known else None, (ident,), turn.calls, turn.text, turn.fault, error=True)
        ident = hash(("", turn.text))
        return Action(None if turn.text is None else ident, (ident,), turn.calls, turn.text)

    def call_ident(self, name: str, args: JSON) -> int:
        """Hash of a call's name and canonical arguments."""
        return hash((name, canonical(self.read(name, args))))

    def read(self, name: str, args: JSON) -> JSON:
        """Arguments without what is cosmetic; text that holds an object or array is read as one."""
        if self.exact:
            return args
        if type(args) is str:
            inner = embedded(args)
            args = args if inner is None else inner
        if type(args) is dict:
            drop = self.cosmetic.get(name, self._everywhere)
            if drop and not drop.isdisjoint(args):
                args = {k: v for k, v in args.items() if k not in drop}
            if not PATHS.isdisjoint(args):
                args = one_spelling(args)
        if self._ignored and (left_out := self._ignored.get(name, self._ignored.get("*"))) is not None:
            args = left_out.of_args(args)
        return args

    def result_hash(self, name: str, result: JSON) -> int:
        """Hash of a result without its wrapper and volatile parts (literally under `exact`)."""
        if self.exact:
            return volatile.literal(result)
        return volatile.stable_hash(self.unwrapped(name, result))

    def unwrapped(self, name: str, result: JSON) -> JSON:
        """A result without the format's wrapper and without what the user says means nothing."""
        if self.unwrap is not None:
            result = self.unwrap(name, result)
        if self._ignored and (left_out := self._ignored.get(name, self._ignored.get("*"))) is not None:
            result = left_out.of_result(result)
        return result

    def call_outcome(self, ident: int, call: Call) -> int:
        """Hash of a call with its result; of one that is gone (`loopscan.late.Late`), one that no other call has."""
        if call.result is MISSING:
            return hash((ident, os.urandom(16)))  # not its address: that is another call's once this one is dropped
        return hash((ident, self.result_hash(call.name, call.result)))

    def outcome(self, action: Action) -> int:
        """Hash of the whole key. Only for actions whose ident is not None."""
        calls = action.calls
        if not calls:
            if action.fault is MISSING:
                return action.idents[0]
            return hash((action.ident, self.result_hash("", action.fault)))
        if len(calls) == 1:
            return self.call_outcome(action.idents[0], calls[0])
        return hash(("calls", *sorted(self.call_outcome(i, c) for i, c in zip(action.idents, calls, strict=True))))
