"""Tokens and dollars of a Langfuse observation.

`usageDetails` maps usage types to counts. Types whose name begins with `input` or `cache` add up to the input and
those beginning with `output` to the output, as Langfuse sums them, but some integrations write details that are
contained in `input` or `output`: then only `total` tells. Dotted details (`prompt_details.cache_read`) always are
contained. https://langfuse.com/docs/observability/features/token-and-cost-tracking
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loopscan.formats._fields import count, dollars, mapping
from loopscan.formats._reply import decoded
from loopscan.model import Usage

if TYPE_CHECKING:
    from loopscan.model import JSON

_INPUT: Final = ("input", "input_tokens", "prompt_tokens", "promptTokens", "prompt")
_OUTPUT: Final = ("output", "output_tokens", "completion_tokens", "completionTokens", "completion")
_TOTAL: Final = ("total", "total_tokens", "totalTokens")


def usage_of(row: dict[str, JSON]) -> Usage | None:
    """Tokens and dollars of an observation; None where nothing was counted."""
    counts: dict[str, int] = {}
    for name in ("usageDetails", "usage_details", "usage"):
        counts = counts or {k: n for k, v in mapping(decoded(row.get(name))).items() if (n := count(v)) is not None}
    usage = _tokens(counts) if counts else None
    usd = _dollars(row)
    if usd is not None:
        usage = usage or Usage()
        usage.usd = usd
    return usage


def _tokens(counts: dict[str, int]) -> Usage | None:
    base_in = next((counts[k] for k in _INPUT if k in counts), None)
    base_out = next((counts[k] for k in _OUTPUT if k in counts), None)
    total = next((counts[k] for k in _TOTAL if k in counts), None)
    details = {k: n for k, n in counts.items() if k not in (*_INPUT, *_OUTPUT, *_TOTAL) and "." not in k}
    more_out = sum(n for k, n in details.items() if k.startswith(("output", "completion", "reasoning")))
    more_in = sum(n for k, n in details.items() if k.startswith(("input", "prompt", "cache")))
    if base_in is None and base_out is None and not more_in + more_out:
        return None if total is None else Usage(total)
    contained = total is not None and total == (base_in or 0) + (base_out or 0) and more_in <= (base_in or 0)
    if not contained:
        base_in, base_out = (base_in or 0) + more_in, (base_out or 0) + more_out
    read = [n for k, n in counts.items() if "cache" in k and not _is_write(k)]
    write = [n for k, n in counts.items() if "cache" in k and _is_write(k)]
    hour = [n for k, n in counts.items() if "cache" in k and _is_write(k) and "1h" in k]
    return Usage(
        base_in,
        base_out,
        sum(read) if read else None,
        sum(write) if write else None,
        sum(hour) if hour else None,
    )


def _is_write(name: str) -> bool:
    return "creation" in name or "write" in name


def _dollars(row: dict[str, JSON]) -> float | None:
    """The cost Langfuse states; where it knew no price it writes 0 without details."""
    for name in ("costDetails", "cost_details"):
        total = dollars(mapping(decoded(row.get(name))).get("total"))
        if total is not None:
            return total
    for name in ("totalCost", "total_cost", "calculatedTotalCost"):
        if usd := dollars(row.get(name)):
            return usd
    return None
