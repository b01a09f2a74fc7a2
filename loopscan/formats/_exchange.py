"""One request with its response, as proxies and client wrappers log them: a record to a `Send`.

Shapes: `{"request": {…}, "response": {…}}` (also with `request_body`, `response_body`, and with the payload under
`body` or as JSON text), `{"messages": […], "response": …}`, `{"input": …, "output": …}`. The response may be of OpenAI
chat, OpenAI Responses or Anthropic; a missing one, an `error` or a status from 400 on is a failed send.
"""

from __future__ import annotations

from typing import Final

from loopscan.decode import embedded
from loopscan.formats._chat import REPLY_ROLES, add_reply, add_text
from loopscan.formats._dialogue import Dialogue
from loopscan.formats._fields import count, dollars, identity, items, mapping, when
from loopscan.formats._stitch import Send, looks_fresh
from loopscan.formats._stops import end_of
from loopscan.formats._usage import usage_of
from loopscan.model import JSON, MISSING, Turn, Usage

REQUESTS: Final = ("request", "request_body", "requestBody")
RESPONSES: Final = ("response", "response_body", "responseBody")
_RUNS: Final = ("run_id", "session_id", "conversation_id", "thread_id")
_TIMES: Final = ("timestamp", "time", "ts", "created_at", "start_time", "startTime", "started_at")
_COSTS: Final = ("usd", "cost", "cost_usd", "response_cost", "total_cost")


def split(record: dict[str, JSON]) -> tuple[dict[str, JSON], JSON] | None:
    """The request and the response of a record; None where it is no exchange. MISSING = no response recorded."""
    for key in REQUESTS:
        if key in record:
            request, response = _body(record[key]), _first(record, RESPONSES)
            has_history = isinstance(request, dict) and ("messages" in request or "input" in request)
            return (request, _body(response)) if has_history else None
    if isinstance(record.get("messages"), list) and any(k in record for k in RESPONSES):
        return record, _body(_first(record, RESPONSES))
    if isinstance(record.get("input"), (list, str)) and is_response(_body(record.get("output"))):
        return record, _body(record["output"])
    return None


def _first(record: dict[str, JSON], keys: tuple[str, ...]) -> JSON:
    return next((record[k] for k in keys if k in record), MISSING)


def _body(value: JSON) -> JSON:
    """A payload without its envelope: JSON text decoded, `{"status_code": …, "body": …}` opened."""
    if isinstance(value, str):
        inner = embedded(value)
        value = value if inner is None else inner
    if isinstance(value, dict) and isinstance(value.get("body"), (dict, str)):
        return _body(value["body"])
    return value


def is_response(value: JSON) -> bool:
    """Whether a value looks like what a provider's language model answers (an embedding does not)."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(mapping(v).get("type"), str) for v in value)
    body = mapping(value)
    if "choices" in body or isinstance(body.get("output"), list) or body.get("role") in REPLY_ROLES:
        return True
    return mapping(body.get("message")).get("role") in REPLY_ROLES


def history(request: dict[str, JSON]) -> list[JSON]:
    """The messages or items of a request, without reasoning items: clients may drop them from later requests."""
    value = request.get("messages", request.get("input"))
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    return [m for m in items(value) if not (isinstance(m, dict) and m.get("type") == "reasoning")]


def send_of(record: dict[str, JSON], line: int) -> Send | None:
    """The send that a record holds; None where it is no exchange."""
    parts = split(record)
    if parts is None:
        return None
    request, response = parts
    body = mapping(response)
    turn = Turn("", line=line, written=0)
    turn.model = identity(body.get("model")) or identity(request.get("model"))
    turn.time = next((t for k in _TIMES if (t := when(record.get(k))) is not None), when(body.get("created")))
    turn.usage = usage_of(body.get("usage")) or usage_of(record.get("usage"))
    usd = next((d for k in _COSTS if (d := dollars(record.get(k))) is not None), None)
    if usd is not None:
        turn.usage = turn.usage or Usage()
        turn.usage.usd = usd
    fault = fault_of(record, response)
    if fault is None and not isinstance(response, str) and not is_response(response):
        return None
    end = None
    if fault is not None:
        turn.failed, turn.fault, turn.text = True, fault, None
    else:
        end = end_of(turn, fill(turn, response), final=False)
    run = next((i for r in (record, request) for k in _RUNS if (i := identity(r.get(k))) is not None), None)
    talk, trace = request.get("conversation"), identity(record.get("trace_id"))
    run = run or identity(talk.get("id") if isinstance(talk, dict) else talk)
    if run is None and trace is not None and not looks_fresh(trace):
        run = trace
    after = identity(request.get("previous_response_id"))
    partial = after is not None or talk is not None
    return Send(history(request), turn, end, run, trace, partial, after, identity(body.get("id")), line)


def fault_of(record: dict[str, JSON], response: JSON) -> JSON:
    """The error of a failed send (MISSING where it is not told), None for one that was answered."""
    body = mapping(response)
    error = body.get("error") or record.get("error")
    status = count(record.get("status")) or count(record.get("status_code"))
    status = status or count(mapping(_first(record, RESPONSES)).get("status_code"))
    if error or body.get("type") == "error" or (status or 0) >= 400:
        return error or response or MISSING
    return None if response else MISSING


def fill(turn: Turn, response: JSON) -> JSON:
    """Put what a provider answered into a turn; returns why the reply stopped, as the provider says it."""
    if isinstance(response, str):
        add_text(turn, response)
        return None
    body = mapping(response)
    if "choices" in body:
        return _fill_chat(turn, items(body["choices"]))
    output = response if isinstance(response, list) else body.get("output")
    if isinstance(output, list):
        echo = Dialogue(turn.run, turn.line)
        echo.feed_all(output)
        for part in echo.turns:
            turn.calls += part.calls
            turn.written = (turn.written or 0) + (part.written or 0)
            turn.text = "\n".join(t for t in (turn.text, part.text) if t)
        detail = mapping(body.get("incomplete_details")).get("reason")
        return detail or body.get("status")
    add_reply(turn, body if "content" in body or "tool_calls" in body else mapping(body.get("message")))
    return body.get("stop_reason") or body.get("finish_reason") or body.get("done_reason")


def _fill_chat(turn: Turn, choices: list[JSON]) -> JSON:
    """The first choice is the reply; the others are samples that no agent goes on with."""
    choice = mapping(choices[0]) if choices else {}
    if "message" not in choice and "text" not in choice:
        turn.text = None
    if isinstance(choice.get("text"), str):
        add_text(turn, choice["text"])
    add_reply(turn, mapping(choice.get("message")))
    return choice.get("finish_reason")
