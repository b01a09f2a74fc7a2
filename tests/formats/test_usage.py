"""Usage objects of the providers: which tokens are inside which."""

from __future__ import annotations

from typing import Any

import pytest

from loopscan.formats._usage import usage_of
from loopscan.model import Usage

CASES: list[tuple[Any, Usage | None]] = [
    ({"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}, Usage(9, 2)),
    (
        {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2}},
        Usage(9, None, 4, 2),
    ),
    ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": None, "cost": 0.5}, Usage(9, 2, usd=0.5)),
    ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 6, "prompt_cache_miss_tokens": 3}, Usage(9, None, 6)),
    (
        {
            "prompt_tokens": 100,
            "completion_tokens": 5,
            "cache_creation_input_tokens": 30,
            "prompt_tokens_details": {
                "cached_tokens": 50,
                "cache_creation_tokens": 30,
                "cache_creation_token_details": {"ephemeral_1h_input_tokens": 10},
            },
        },
        Usage(100, 5, 50, 30, 10),
    ),
    ({"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 2}, Usage(9, 2, 4)),
    ({"input_tokens": 9, "output_tokens": 2}, Usage(9, 2)),
    ({"input_tokens": 1, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3}, Usage(9, None, 5, 3)),
    ({"input_tokens": 1, "cache_read_input_tokens": None, "output_tokens": 2}, Usage(1, 2)),
    ({"output_tokens": 2, "cache_read_input_tokens": 5}, Usage(None, 2, 5)),
    ({"prompt_tokens": "many", "completion_tokens": -1}, None),
    ({"input_tokens": None, "cache_read_input_tokens": 4}, None),
    ({"total_tokens": 5}, None),
    ([], None),
    (None, None),
]


@pytest.mark.parametrize(("value", "want"), CASES)
def test_usage(value: Any, want: Usage | None) -> None:
    assert usage_of(value) == want
