"""Usage of the sends of an OpenHands SDK conversation: listed by reply, or differences of running totals."""

from __future__ import annotations

from loopscan.formats._fields import count, dollars, identity, items, mapping
from loopscan.formats._openhands import difference, usage_fields
from loopscan.model import JSON, Turn, Usage


class Stats:
    """The agent's entry of `usage_to_metrics`, from the state of a conversation and from its updates."""

    def __init__(self, state: dict[str, JSON]) -> None:
        metrics = _agent(mapping(state.get("stats")))
        listed = [mapping(u) for u in items(metrics.get("token_usages"))]
        costs = [dollars(mapping(c).get("cost")) for c in items(metrics.get("costs"))]
        self._usages = {i: u for u in listed if (i := identity(u.get("response_id")))}
        self._costs: dict[str, float | None] = {}
        if len(costs) == len(listed):
            self._costs = {i: c for u, c in zip(listed, costs, strict=True) if (i := identity(u.get("response_id")))}
        self._model = identity(metrics.get("model_name"))
        self._total: Usage | None = None
        self._spent = 0.0
        self._next: Usage | None = None
        self._window: int | None = None

    def bill(self, turn: Turn, reply: str | None) -> None:
        """Give a turn its model and the usage of its reply."""
        turn.model, turn.window = self._model, self._window
        listed = self._usages.get(reply or "")
        if listed is not None:
            turn.usage = usage_fields(listed)
            turn.model = identity(listed.get("model")) or turn.model
            turn.window = count(listed.get("context_window")) or None
            usd = self._costs.get(reply or "")
            if turn.usage is not None and usd:
                turn.usage.usd = usd
        else:
            turn.usage, self._next = self._next, None

    def update(self, stats: dict[str, JSON]) -> None:
        """Take the next running totals."""
        metrics = _agent(stats)
        record = mapping(metrics.get("accumulated_token_usage"))
        total, spent = usage_fields(record), dollars(metrics.get("accumulated_cost")) or 0.0
        if total is None:
            return
        self._model = identity(metrics.get("model_name")) or self._model
        self._window = count(record.get("context_window")) or None
        before = self._total
        if before is None and (total.input or 0) + (total.output or 0) == count(record.get("per_turn_token")):
            before = Usage(0, 0, 0, 0)  # the first totals are those of one send
        if before is not None and (grown := difference(total, before)) is not None:
            grown.usd = spent - self._spent if spent > self._spent else None
            self._next = grown
        self._total, self._spent = total, spent


def _agent(stats: dict[str, JSON]) -> dict[str, JSON]:
    """The metrics of the agent's own model, not of the condenser's."""
    by_use = mapping(stats.get("usage_to_metrics"))
    for name in ("agent", "default", *(n for n in by_use if n != "condenser")):
        if name in by_use:
            return mapping(by_use[name])
    return {}
