"""Which send of an OpenHands V0 run cost what: lists by reply, lists in order, or running totals."""

from __future__ import annotations

from loopscan.formats._fields import dollars, identity, items, mapping
from loopscan.formats._openhands import difference, usage_fields
from loopscan.model import JSON, Turn, Usage


class Bill:
    """The `metrics` of a row, and the running totals met so far."""

    def __init__(self, metrics: dict[str, JSON]) -> None:
        listed = [mapping(u) for u in items(metrics.get("token_usages"))]
        self._by_reply = {i: u for u in listed if (i := identity(u.get("response_id")))}
        costs = [dollars(mapping(c).get("cost") if isinstance(c, dict) else c) for c in items(metrics.get("costs"))]
        self._costs = costs
        self._cost_of = {}
        if len(costs) == len(listed):
            self._cost_of = {i: c for u, c in zip(listed, costs, strict=True) if (i := identity(u.get("response_id")))}
        self._total: Usage | None = None
        self._spent: float | None = None

    def of(self, reply: str | None) -> Usage | None:
        """The listed usage of a reply."""
        return usage_fields(self._by_reply[reply]) if reply in self._by_reply else None

    def running(self, turn: Turn, total: Usage | None, metrics: dict[str, JSON]) -> None:
        """Running totals stood at a turn: what they grew by is its usage, unless that is known."""
        spent = dollars(metrics.get("accumulated_cost"))
        if total is not None:
            before = self._total or Usage(0, 0, 0, 0)
            grown = difference(total, before)
            if turn.usage is None and grown is not None:
                turn.usage = grown
            self._total = total
        if spent is not None:
            step = spent - (self._spent or 0.0)
            if turn.usage is not None and step > 0:
                turn.usage.usd = step
            self._spent = spent

    def settle(self, turns: list[Turn], replies: list[str | None]) -> None:
        """Put the listed dollars to the turns: by reply, or in order where there is one for each turn."""
        for position, (turn, reply) in enumerate(zip(turns, replies, strict=True)):
            usd = self._cost_of.get(reply or "")
            if usd is None and len(self._costs) == len(turns):
                usd = self._costs[position]
            if usd and (turn.usage is None or turn.usage.usd is None):
                turn.usage = turn.usage or Usage()
                turn.usage.usd = usd
