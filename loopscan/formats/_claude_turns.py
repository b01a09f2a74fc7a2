"""Turns of a Claude Code session: what the lines of a model message add to its turn, and the results of its calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, Raw
from orjson import OPT_SORT_KEYS, JSONEncodeError, dumps

from loopscan.decode import canonical, word
from loopscan.formats import Scan
from loopscan.formats._assembly import HOLD, Assembly
from loopscan.formats._claude_chains import Chain
from loopscan.formats._claude_line import Block, Line, Message
from loopscan.formats._claude_results import result_of
from loopscan.formats._fields import result_of_blocks, when
from loopscan.model import JSON, MISSING, Call, Event, LateCall, Turn

_USES: Final = ("tool_use", "server_tool_use")


def send(chain: Chain, line: Line, message: Message, number: int, scan: Scan, assembly: Assembly) -> Sequence[Event]:
    """Take a line of a model message; returns the turns that are now complete."""
    messages, held = chain.messages, chain.held
    key = message.id or line.requestId or line.uuid or f"line {number}"
    if key in messages:
        _go_on(chain, key, line, message)
        return ()
    if scan.copy_of("claude-code", key):
        messages[key] = Turn(chain.run)  # takes the further lines of the copy, goes nowhere
        return ()
    turn = _begun(chain, line, message, number)
    messages[key] = None
    if len(messages) > 2 * HOLD:
        del messages[next(iter(messages))]
    ready: Sequence[Event]
    if held.turns:
        ready = held.complete()
    else:
        ready = assembly.settled(chain.run, held, number)
        assembly.begin(chain.run, held)
    held.turns.append(turn)
    for call in turn.calls:
        held.waiting[call.id or ""] = call
    if not turn.calls and message.content:
        _content(turn, message, chain)
    return ready


def _go_on(chain: Chain, key: str, line: Line, message: Message) -> None:
    """Take a further line of a message."""
    messages = chain.messages
    turn = messages[key]
    if turn is None:
        open_ = (k for k in reversed(messages) if messages[k] is None)
        turn = next((t for k, t in zip(open_, reversed(chain.held.turns), strict=False) if k == key), None)
    if turn is None:
        turn = messages[key] = Turn(chain.run)  # what comes of it now is lost to its turn, which was given out
    _usage(turn, message, line.costUSD)
    _content(turn, message, chain)


def _begun(chain: Chain, line: Line, message: Message, number: int) -> Turn:
    """The turn of a message's first line, with its calls and words where they are all that the line holds.

    Else without them: what is left to `_content` may join a result to a call that waits.
    """
    calls: list[Call] = []
    text, written = "", 0
    content = message.content
    for block in content if type(content) is list else ():
        kind = block.type
        if kind == "tool_use" and type(name := block.name) is str and block.id and not calls:
            args = block.input
            try:  # as `canonical` does: this runs once a turn
                form = dumps(args, None, OPT_SORT_KEYS)
            except JSONEncodeError:
                form = canonical(args)
            calls.append(LateCall(name, args, MISSING, False, block.id, result_of, hash((name, form))))
            written += len(form) + len(name)
        elif kind == "text":
            words = block.text
            if words is not None and words not in text:
                text = f"{text}\n{words}" if text else words
                written += len(words)
        else:
            calls, text, written = [], "", 0
            break
    compacted, chain.compacted = chain.compacted, False
    return Turn(
        chain.run, calls, text, False, MISSING, message.spent(line.costUSD), message.model or None,
        when(line.timestamp), number, chain.prompt, chain.session, chain.parent, None, None, written, compacted,
    )  # fmt: skip


def _usage(turn: Turn, message: Message, usd: float | None) -> None:
    model, usage = message.model or None, message.spent(usd)
    if turn.usage is None or (model == turn.model and usage is not None):
        turn.model = turn.model or model
        if turn.usage is None:
            turn.usage = usage
        elif usage is not None:
            turn.usage.merge(usage)
    elif usage is not None and (usage.output or 0) > (turn.usage.output or 0):
        turn.model, turn.usage = model, usage  # another model took the message over: never mix the two


def _content(turn: Turn, message: Message, chain: Chain) -> None:
    content = message.content
    if isinstance(content, str):
        _say(turn, content)
    for block in content if isinstance(content, list) else ():
        _block(turn, block, chain)


def _block(turn: Turn, block: Block, chain: Chain) -> None:
    kind = block.type
    if kind in _USES:
        name, form = word(block.name), canonical(block.input)
        call = LateCall(name, block.input, id=block.id or None, decode=result_of, ident=hash((name, form)))
        if call.id is None or all(c.id != call.id for c in turn.calls):
            turn.calls.append(call)
            if call.id is not None:
                chain.held.waiting[call.id] = call
            turn.written = (turn.written or 0) + len(form) + len(name)
    elif kind == "text":
        if block.text is not None:
            _say(turn, block.text)
    elif kind == "thinking":
        turn.written = (turn.written or 0) + len(word(block.thinking or ""))
    elif block.tool_use_id is not UNSET:  # the result of a server tool stands in the message itself
        chain.held.result(block.tool_use_id or None, block.value)


def _say(turn: Turn, text: str) -> None:
    """Add words to a turn, unless it has them."""
    if text not in (turn.text or ""):
        turn.text = f"{turn.text}\n{text}" if turn.text else text
        turn.written = (turn.written or 0) + len(text)


def answer(chain: Chain, block: Block) -> None:
    """Join a tool result to its call."""
    held = chain.held
    content: JSON = block.content
    asked = block.tool_use_id or None
    if type(content) is not Raw:
        held.result(asked, result_of_blocks(content), block.is_error is True)
        return
    call = held.waiting.pop(asked, None) if asked is not None else held.call(None)
    if type(call) is LateCall:
        call.answer(bytes(content), block.is_error is True)
        if asked is None and call.id is not None:
            held.waiting.pop(call.id, None)
