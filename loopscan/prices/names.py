"""What a model is called in logs, made comparable with what price tables call it.

Names are only ever taken apart (a router in front, a date or a variant behind), most exact first, and what is
left must be in the table: there is no matching by prefix, so an unknown `claude-opus-5-9` never takes the price
of `claude-opus-5`. Amazon Bedrock ids keep their vendor and region ("regional.anthropic.claude-opus-5"), as
regional endpoints cost more: https://aws.amazon.com/bedrock/pricing/.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUTERS: Final = frozenset(
    [
        "aws",
        "azure",
        "azure_ai",
        "azure-ai",
        "bedrock",
        "bedrock_converse",
        "converse",
        "copilot",
        "gateway",
        "github",
        "github_copilot",
        "github-copilot",
        "google-gla",
        "google-vertex",
        "invoke",
        "litellm",
        "litellm_proxy",
        "models",
        "openai_compatible",
        "opencode",
        "openhands",
        "openrouter",
        "vertex",
        "vertex_ai",
        "vertexai",
        "vertex_ai_beta",
    ]
)
"""Words in front of a name that say who passed the request on; the price is the vendor's."""

LABS: Final = frozenset(
    [
        "anthropic",
        "claude",
        "cohere",
        "cursor",
        "deepseek",
        "deepseek-ai",
        "gemini",
        "google",
        "meta",
        "minimax",
        "minimaxai",
        "mistral",
        "mistralai",
        "moonshot",
        "moonshot-ai",
        "moonshotai",
        "openai",
        "vertex_ai-anthropic_models",
        "x-ai",
        "xai",
        "z-ai",
        "zai",
        "zai-org",
    ]
)
"""Words in front of a name that say who made the model, which the name itself says again."""

_HOSTS: Final = {
    "accounts/fireworks/models": "fireworks",
    "accounts/fireworks/routers": "fireworks",
    "fireworks_ai": "fireworks",
    "fireworks_ai/accounts/fireworks/models": "fireworks",
    "together_ai": "together",
    "togethercomputer": "together",
}
"""What hosts are called in logs -> what they are called in the tables."""

_MILLION: Final = "[1m]"
_DIGIT_DOT: Final = re.compile(r"(?<=\d)\.(?=\d)")
_REGION: Final = re.compile(r"^(?:us|eu|apac|au|jp|ca|in|sa|me|af|il|mx|us-gov)\.(?=[a-z0-9-]+\.)")
_BEDROCK: Final = re.compile(r"^(?:global|regional)\.")
_REVISION: Final = re.compile(r"(?:-v\d+)?:\d+$|(?<=\d)-v\d$")
_DATE: Final = re.compile(r"-20\d\d(?:0[1-9]|1[0-2])[0-3]\d$|-20\d\d-\d\d-\d\d$")
_PREVIEW: Final = re.compile(r"-(?:preview|exp)(?:-\d\d-\d\d(?:\d\d)?|-\d\d\d\d)?$")
_VARIANT: Final = re.compile(r"[-:]thinking$|-latest$")
_EFFORT: Final = re.compile(r"^((?:gpt-\d|o\d|claude-).*)-(?:minimal|low|medium|high|xhigh)$")
_CLAUDE: Final = re.compile(r"^claude-(\d(?:-\d)?)-(fable|haiku|mythos|opus|sonnet)(?=-|$)")


def fold(name: str) -> str:
    """One spelling for `Claude-Opus-4.5`, `claude-opus-4-5` and `claude-opus-4@5`."""
    return _DIGIT_DOT.sub("-", name.strip().lower().replace("@", "-"))


def is_million(name: str) -> bool:
    """Whether the name asks for the 1,000,000 token window, as Claude Code writes it: `claude-sonnet-4-5[1m]`."""
    return name.strip().lower().endswith(_MILLION)


def candidates(name: str) -> Iterator[str]:
    """The folded names to look up, most exact first, without repeats."""
    seen: set[str] = set()
    for form in _forms(name.strip().lower().removesuffix(_MILLION)):
        for candidate in _looser(fold(form)):
            if candidate and candidate not in seen:
                seen.add(candidate)
                yield candidate


def dateless(name: str) -> str:
    """The folded name without the date of its snapshot."""
    return _DATE.sub("", name)


def bedrock_id(name: str) -> str:
    """A Bedrock id without the revision behind it."""
    return _REVISION.sub("", name)


def _forms(name: str) -> Iterator[str]:
    """The name as it is, without its routers, and without its vendor."""
    yield name
    if name.startswith("arn:"):
        name = name.rpartition("/")[2]
    name = _without(name, ROUTERS)
    yield name
    host, _, hosted = name.rpartition("/")
    if host in _HOSTS:
        yield f"{_HOSTS[host]}/{hosted}"
    bare = _without(name, ROUTERS | LABS)
    yield bare
    regional = _REGION.sub("regional.", bare)
    yield regional
    if _BEDROCK.match(regional):
        # A model with one price for all regions is listed without any.
        if regional.startswith("regional."):
            yield regional.removeprefix("regional.")
    elif "." in bare:
        yield f"regional.{bare}"


def _without(name: str, words: frozenset[str]) -> str:
    while True:
        cut = min((i for i in (name.find("/"), name.find(":")) if i > 0), default=0)
        if not cut or name[:cut] not in words:
            return name
        name = name[cut + 1 :]


def _looser(name: str) -> Iterator[str]:
    """The name, then with one more of its endings off at each step."""
    yield name
    # Some clients put the version first: claude-4.5-sonnet.
    turned = _CLAUDE.sub(r"claude-\2-\1", name)
    if turned != name:
        yield from _looser(turned)
    for ending in (_REVISION, _VARIANT, _EFFORT, _DATE, _VARIANT, _PREVIEW):
        shorter = ending.sub(r"\1" if ending.groups else "", name)
        if shorter != name:
            name = shorter
            yield name
    if not name.endswith("-preview"):
        # Tables keep a model under the name it was announced by: gemini-3-pro-preview.
        yield f"{name}-preview"
