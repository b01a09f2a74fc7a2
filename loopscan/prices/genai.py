"""Turns the data of the genai-prices package (MIT, https://github.com/pydantic/genai-prices) into table entries.

Taken: models that read and write text, of the labs and of the hosts named below. A lab's model goes by its bare
name, a host's with the host in front, as hosts ask different prices for the same open model. Only names that
genai-prices itself resolves to the model become aliases.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from loopscan.prices.names import bedrock_id, candidates, fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from loopscan.prices.table import Entry, Row

LABS: Final = (
    "anthropic",
    "openai",
    "google",
    "deepseek",
    "x-ai",
    "mistral",
    "moonshotai",
    "zai",
    "minimax",
    "meta",
    "cohere",
    "aws",
    "cursor",
)
HOSTS: Final = {
    "groq": "groq/",
    "cerebras": "cerebras/",
    "together": "together/",
    "fireworks": "fireworks/",
    "openrouter": "",
}
"""Host -> what goes before its names; OpenRouter's own carry the vendor."""

CLASSES: Final = ("input", "output", "cache_read", "cache_write", "cache_write_1h")
_NO_TEXT: Final = re.compile(
    r"embed|tts|whisper|transcribe|audio|realtime|image|vision-preview|moderation|ocr|-live|voice|speech"
    r"|guard|sonic|ft[:.-]|orpheus|robotics|nano-banana|omni-"
)


def entries(providers: Iterable[Any]) -> tuple[dict[str, Entry], dict[str, str]]:
    """(entries by model id, ids by alias) of genai-prices' providers."""
    by_id = {provider.id: provider for provider in providers}
    models: dict[str, Entry] = {}
    aliases: dict[str, str] = {}
    for lab in LABS:
        for model in _text_models(by_id, lab):
            if lab == "aws":
                models.setdefault(bedrock_id(model.id), model.entry)
            # Vertex AI sells Claude under the names that Anthropic's own prices go by.
            elif lab != "google" or not model.id.startswith("claude"):
                models.setdefault(model.id, model.entry)
                for alias in model.aliases:
                    aliases.setdefault(alias, model.id)
    labs = {fold(name) for name in (*models, *aliases)}
    for host, prefix in HOSTS.items():
        for model in _text_models(by_id, host):
            # A lab's own price is the one to take for its models, whoever passes them on.
            if prefix or ("/" in model.id and ":" not in model.id and labs.isdisjoint(candidates(model.id))):
                models.setdefault(prefix + model.id, model.entry)
    return models, aliases


@dataclass(slots=True, frozen=True)
class _Model:
    id: str
    entry: Entry
    aliases: list[str]


def _text_models(providers: dict[str, Any], name: str) -> Iterator[_Model]:
    """The models of a provider that read and write text and have a price."""
    if name not in providers:
        return
    provider = providers[name]
    for model in provider.models:
        if _NO_TEXT.search(model.id.lower()):
            continue
        rows = list(_rows(model.prices))
        if rows:
            words = (word for word in _words(model.match) if fold(word) != fold(model.id))
            aliases = [word for word in words if provider.find_model(word) is model]
            yield _Model(model.id, [model.context_window or 0, *rows], aliases)


def _rows(prices: Any) -> Iterator[Row]:
    """The rows of a model that has an input and an output price, by time, without such as change nothing."""
    last: Row = []
    for conditional in prices if isinstance(prices, list) else [prices]:
        condition: Any = getattr(conditional, "constraint", None)
        price: Any = getattr(conditional, "prices", conditional)
        if price.input_mtok is None or price.output_mtok is None:
            continue
        start = getattr(condition, "start_date", None)
        row = [start.isoformat() if start else "", *_rates(price)]
        if hasattr(condition, "start_time"):
            row.append({"utc": [_minutes(condition.start_time), _minutes(condition.end_time)]})
        if row[1:] != last[1:]:
            yield row
            last = row


def _minutes(time: Any) -> int:
    return int(time.hour * 60 + time.minute)


def _rates(price: Any) -> Iterator[list[Any]]:
    values = [getattr(price, f"{name}_mtok") for name in CLASSES]
    yield _numbers([getattr(value, "base", value) for value in values])
    for above in sorted({tier.start for value in values for tier in getattr(value, "tiers", ())}):
        yield [above, *_numbers([_at(value, above + 1) for value in values])]


def _at(value: Any, prompt: int) -> Any:
    chosen = getattr(value, "base", value)
    for tier in getattr(value, "tiers", ()):
        if prompt > tier.start:
            chosen = tier.price
    return chosen


def _numbers(values: list[Any]) -> list[float | int | None]:
    while values[-1] is None:
        values.pop()
    return [None if v is None else int(v) if v == int(v) else float(v) for v in values]


def _words(clause: Any) -> Iterator[str]:
    """The words that a match clause of genai-prices compares a name with, where they may be whole names."""
    for part in (*getattr(clause, "or_", ()), *getattr(clause, "and_", ())):
        yield from _words(part)
    for kind in ("equals", "starts_with", "contains", "ends_with"):
        word = getattr(clause, kind, None)
        if isinstance(word, str) and len(word) > 3:
            yield word.rstrip("-@:.")
