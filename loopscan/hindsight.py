"""What became of an episode: whether the run got out of it (DESIGN section 3).

A loop is left when a later call outside it is no error; a closing text alone leaves it only below four copies, and two
other texts leave a loop of texts. A loop with other work in between is left when it has been silent for longer than it
ever was while it went on.
"""

from __future__ import annotations

from typing import Final

from loopscan.episode import STUCK_COPIES, Episode
from loopscan.key import Action, Keyer
from loopscan.model import MISSING
from loopscan.rules.tools import is_of

FORGET: Final = 40
"""Turns after which an episode that was left is no longer expected to go on."""


def leaves(episode: Episode, turn: int, action: Action, keyer: Keyer) -> bool:
    """Whether a later turn leaves the episode for good; notes the turn in it."""
    if not action.calls:
        closing = not action.error and action.idents[0] not in episode.idents
        talk = all(entry["name"] is None for entry in episode.block)
        episode.texts += closing and talk
        if closing and episode.left_at is None and (episode.copies < STUCK_COPIES or episode.texts > 1):
            episode.left_at = turn
        return closing and episode.left
    if episode.rule == "period":
        return _other_outcome(episode, turn, action, keyer)
    return _silent(episode, turn, action)


def _other_outcome(episode: Episode, turn: int, action: Action, keyer: Keyer) -> bool:
    for ident, call in zip(action.idents, action.calls, strict=False):
        if call.error:
            continue
        inside = episode.outcomes.get(ident)
        if inside is None or (call.result is not MISSING and keyer.call_outcome(ident, call) not in inside):
            episode.left_at = turn
            return True
    return False


def _silent(episode: Episode, turn: int, action: Action) -> bool:
    """For episodes of the other rules: a good call of the loop's own tool, or silence longer than its pauses."""
    if episode.left_at is not None:
        return turn - episode.last > FORGET
    for ident, call in zip(action.idents, action.calls, strict=False):
        if call.error or call.result is MISSING:
            continue
        own = ident in episode.idents
        if own or is_of(call, episode.tool) or turn - episode.last > episode.pause:
            episode.changed |= own
            episode.left_at = turn
    return False
