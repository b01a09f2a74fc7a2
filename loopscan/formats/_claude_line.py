"""A line of a Claude Code session as a struct: decoded as one, or picked from a value of any shape."""

from __future__ import annotations

from typing import Annotated, Any, Final, cast

import msgspec
from msgspec import UNSET, UnsetType

from loopscan.decode import loads
from loopscan.formats._fields import count, dollars, identity, mapping
from loopscan.model import JSON, Usage

_COUNT = Annotated[int, msgspec.Meta(ge=0, lt=1 << 53)]


_NOTHING: Final = msgspec.Raw(b"null")


class Block(msgspec.Struct, gc=False):
    """A content block. `tool_use_id` is unset where the block has none; `input` may be anything.

    `content`: as JSON; of a line that was decoded already, the value.
    """

    type: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    text: str | None = None
    tool_use_id: str | UnsetType | None = UNSET
    content: msgspec.Raw = _NOTHING
    is_error: bool | None = None
    thinking: Any = None

    @property
    def value(self) -> JSON:
        """The content."""
        content: JSON = self.content
        return loads(bytes(content)) if type(content) is msgspec.Raw else content


class _Split(msgspec.Struct, gc=False):
    ephemeral_1h_input_tokens: _COUNT | None = None


class _Tokens(msgspec.Struct, gc=False):
    input_tokens: _COUNT | None = None
    cache_creation_input_tokens: _COUNT | None = None
    cache_read_input_tokens: _COUNT | None = None
    cache_creation: _Split | None = None
    output_tokens: _COUNT | None = None


class Message(msgspec.Struct, gc=False):
    """A message. `content`: its blocks, or its text."""

    model: str | None = None
    id: str | None = None
    content: str | list[Block] | None = None
    usage: _Tokens | None = None

    @property
    def blocks(self) -> list[Block]:
        """Its blocks; none where the content is text."""
        return self.content if isinstance(self.content, list) else []

    @property
    def text(self) -> str:
        """Its text, or that of its blocks joined by newlines."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join([b.text for b in self.content or () if b.text is not None])

    def spent(self, usd: float | None) -> Usage | None:
        """Anthropic counts uncached input, cache reads and cache writes apart; the send's input is their sum.

        `usd`: stated by old versions only, on every line of a message.
        """
        tokens = self.usage
        if tokens is None or (tokens.input_tokens is None and tokens.output_tokens is None):
            return None
        read, write, split = tokens.cache_read_input_tokens, tokens.cache_creation_input_tokens, tokens.cache_creation
        return Usage(
            (tokens.input_tokens or 0) + (read or 0) + (write or 0),
            tokens.output_tokens,
            read,
            write,
            None if split is None else split.ephemeral_1h_input_tokens,
            usd,
        )


class Progress(msgspec.Struct, gc=False):
    """What a progress line tells: a line of a sub-agent, if `message` is one."""

    agentId: str | None = None
    message: Any = None


class Line(msgspec.Struct, gc=False):
    """A line. An id that is null or empty counts as none; a flag that is neither true nor false counts as not given."""

    parentUuid: str | None = None
    isSidechain: bool | None = None
    sessionId: str | None = None
    message: Message | None = None
    requestId: str | None = None
    type: str | None = None
    uuid: str | None = None
    timestamp: str | float | None = None
    agentId: str | None = None
    isMeta: bool | None = None
    isCompactSummary: bool | None = None
    isApiErrorMessage: bool | None = None
    costUSD: Annotated[float, msgspec.Meta(ge=0, lt=1e12)] | None = None
    subtype: str | None = None
    data: Progress | None = None


decode: Final = msgspec.json.Decoder(Line).decode
"""Decodes a line of the usual types; raises on any other."""


def line_of(record: dict[str, JSON]) -> Line:
    """A line of any types."""
    kind, subtype = record.get("type"), record.get("subtype")
    data = mapping(record.get("data"))
    return Line(
        identity(record.get("parentUuid")),
        _flag(record.get("isSidechain")),
        identity(record.get("sessionId")),
        _message_of(mapping(record.get("message"))),
        identity(record.get("requestId")),
        kind if isinstance(kind, str) else None,
        identity(record.get("uuid")),
        record.get("timestamp"),
        identity(record.get("agentId")),
        _flag(record.get("isMeta")),
        _flag(record.get("isCompactSummary")),
        _flag(record.get("isApiErrorMessage")),
        dollars(record.get("costUSD")),
        subtype if isinstance(subtype, str) else None,
        Progress(identity(data.get("agentId")), data.get("message")),
    )


def _flag(value: JSON) -> bool | None:
    return value if isinstance(value, bool) else None


def _message_of(message: dict[str, JSON]) -> Message:
    content, usage = message.get("content"), mapping(message.get("usage"))
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    fresh, write, read = (count(usage.get(name)) for name in names)
    split = _Split(count(mapping(usage.get("cache_creation")).get("ephemeral_1h_input_tokens")))
    return Message(
        identity(message.get("model")),
        identity(message.get("id")),
        [_block_of(b) for b in content] if isinstance(content, list) else content if isinstance(content, str) else None,
        _Tokens(fresh, write, read, split, count(usage.get("output_tokens"))),
    )


def _block_of(value: JSON) -> Block:
    block = {"text": value} if isinstance(value, str) else mapping(value)
    kind, text = block.get("type"), block.get("text")
    return Block(
        kind if isinstance(kind, str) else None,
        identity(block.get("id")),
        block.get("name"),
        block.get("input"),
        text if isinstance(text, str) else None,
        identity(block["tool_use_id"]) if "tool_use_id" in block else UNSET,
        cast(msgspec.Raw, block.get("content")),
        _flag(block.get("is_error")),
        block.get("thinking"),
    )
