"""Why the verdict on a run is what it is, in one sentence that its turns bear out."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from loopscan.rules import RULES

if TYPE_CHECKING:
    from loopscan.episodes import Episode
    from loopscan.recall import Said
    from loopscan.report import RunReport
    from loopscan.view import View

_PERIOD: Final = "the same calls with the same results, block after block"


def why(view: View) -> str:
    """The verdict and its reason."""
    run, episode = view.run, view.run.headline
    if run.verdict is None:
        return "blind: the results of most calls were not recorded, so nobody can tell whether it repeats itself"
    if episode is None:
        return "clean: no block of turns came twice in a row, and no rule found a loop"
    return f"{run.verdict}: {what(episode)}{_then(view, episode, run)}"


def what(episode: Episode) -> str:
    """What repeated, how often, and where."""
    span = f"turn {episode.first:,}" if episode.first == episode.last else f"turns {episode.first:,}-{episode.last:,}"
    if episode.rule == "period":
        block = "same turn" if episode.period == 1 else f"same {episode.period}-turn block"
        return f"the {block} was played {episode.copies:,} times, {span}"
    return f"{meaning(episode.rule)}; {episode.copies:,} times, {span}"


def meaning(rule: str) -> str:
    """A rule in words: the first sentence of its module."""
    if rule not in RULES:
        return _PERIOD
    words = (import_module(RULES[rule].partition(":")[0]).__doc__ or rule).partition("\n\n")[0]
    return " ".join(words.removeprefix(f"{rule}:").split()).rstrip(".")


def _then(view: View, episode: Episode, run: RunReport) -> str:
    """What came after it."""
    if episode.left:
        return _left(view, episode)
    if episode.left_at is not None:
        return f"; left at turn {episode.left_at:,}, but the same loop with the same results came again"
    few = "" if episode.verdict == "stuck" else f" ({episode.sure} copies would be stuck)"
    if episode.last == run.turns:
        return f", and the run ended in it{few}"
    rest = run.turns - episode.last
    after = f"turn {run.turns:,}" if rest == 1 else f"turns {episode.last + 1:,}-{run.turns:,}"
    return f", and never left: {after} {_no_way_out(view, episode)}{few}"


def _no_way_out(view: View, episode: Episode) -> str:
    said = next((s.said for s in view.steps if s.turn == episode.last + 1), [])
    if view.run.turns > episode.last + 1 or not said:
        return "brought nothing new"
    if said[0].name is None:
        return "is a failed model call" if said[0].error else "is only a closing text"
    return "failed" if all(s.error for s in said) else "brought nothing new"


def _left(view: View, episode: Episode) -> str:
    step = next((s for s in view.steps if s.turn == episode.left_at), None)
    said = step.said if step is not None else []
    if episode.verdict == "waited" and view.changed_at is None:
        return f"; its tools are polls, and turn {episode.left_at:,} went on"
    if view.changed_at is not None and (episode.verdict == "waited" or view.changed_at == episode.left_at):
        return f"; turn {view.changed_at:,} made the same call and got another result"
    return f"; turn {episode.left_at:,} {_did(said, episode)}"


def _did(said: list[Said], episode: Episode) -> str:
    good = next((s for s in said if not s.error), None)
    if good is None:
        return "left it"
    if good.name is None:
        talk = all(entry["name"] is None for entry in episode.block)
        return "wrote something else" if talk else "is a text, without a call"
    if good.before is not None:
        return f"called {good.name} and got another result"
    known = any(entry["name"] == good.name for entry in episode.block)
    return f"called {good.name} with other arguments" if known else f"called {good.name}, which is not part of it"
