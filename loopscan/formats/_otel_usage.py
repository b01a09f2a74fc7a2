"""The tokens and dollars of one model span."""

from __future__ import annotations

from loopscan.formats import _otel_attributes as names
from loopscan.formats._fields import count, dollars
from loopscan.formats._otel_attributes import Attributes, first
from loopscan.model import Usage


def usage_of(attributes: Attributes) -> Usage | None:
    """Tokens and dollars of one send, the input with its cached part.

    Most producers count cached tokens inside the input. Those that do not are told by their own total, or by
    an input smaller than its part.
    """
    usage = Usage(
        count(first(attributes, names.TOKENS_IN)),
        count(first(attributes, names.TOKENS_OUT)),
        count(first(attributes, names.TOKENS_READ)),
        count(first(attributes, names.TOKENS_WRITE)),
        usd=dollars(first(attributes, names.USD)),
    )
    if usage == Usage():
        return None
    cached = (usage.cache_read or 0) + (usage.cache_write or 0)
    uncached, total = count(attributes.get(names.TOKENS_UNCACHED)), count(first(attributes, names.TOKENS_TOTAL))
    if usage.input is not None and cached:
        apart = total is not None and total == usage.input + cached + (usage.output or 0)
        if apart or usage.input < cached:
            usage.input += cached
    if uncached is not None:
        usage.input = uncached + cached
    return usage
