"""Spans made in one line, in OTLP JSON, and reading them back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loopscan.formats import Scan, detect, load
from loopscan.model import MISSING, Call, End, Turn
from loopscan.source import Input, open_input

T0 = 1_790_000_000


def typed(value: Any) -> dict[str, Any]:
    """A value as OTLP's AnyValue (integers as text, as Python writes them)."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(v) for v in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": k, "value": typed(v)} for k, v in value.items()]}}
    return {"stringValue": value}


def attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": k, "value": typed(v)} for k, v in values.items() if v is not None]


def span(
    own: str,
    parent: str | None,
    at: float,
    values: dict[str, Any],
    *,
    trace: str = "t1",
    error: str | None = None,
    events: Sequence[tuple[str, dict[str, Any]]] = (),
    lasts: float | None = 0.5,
    name: str = "span",
) -> dict[str, Any]:
    """One span of OTLP JSON; `error` sets its status, `lasts` None leaves it unfinished."""
    made: dict[str, Any] = {
        "traceId": trace,
        "spanId": own,
        "name": name,
        "startTimeUnixNano": str(int((T0 + at) * 1e9)),
        "attributes": attributes(values),
        "status": {} if error is None else {"code": 2, "message": error},
        "events": [{"name": n, "attributes": attributes(a)} for n, a in events],
    }
    if parent is not None:
        made["parentSpanId"] = parent
    if lasts is not None:
        made["endTimeUnixNano"] = str(int((T0 + at + lasts) * 1e9))
    return made


def batch(*spans: dict[str, Any], service: str = "desk") -> dict[str, Any]:
    """One line of an OTLP file."""
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": attributes({"service.name": service})},
                "scopeSpans": [{"scope": {"name": "test"}, "spans": list(spans)}],
            }
        ]
    }


def asks(*calls: tuple[str, str, Any], text: str | None = None) -> str:
    """gen_ai.output.messages: (id, name, arguments) of each call, or a text."""
    parts: list[dict[str, Any]] = [{"type": "tool_call", "id": i, "name": n, "arguments": a} for i, n, a in calls]
    if text is not None:
        parts.append({"type": "text", "content": text})
    return json.dumps([{"role": "assistant", "parts": parts}])


def chat(own: str, parent: str | None, at: float, output: str | None, **more: Any) -> dict[str, Any]:
    """A model span; keyword names with `__` for dots are further attributes."""
    values = {"gen_ai.operation.name": "chat", "gen_ai.response.model": "m-1", "gen_ai.output.messages": output}
    extra = {k.replace("__", "."): more.pop(k) for k in list(more) if "__" in k}
    return span(own, parent, at, values | extra, **more)


def tool(own: str, parent: str | None, at: float, name: str, result: Any = None, **more: Any) -> dict[str, Any]:
    """A tool span; `id` and `args` may be given."""
    values = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": more.pop("id", None),
        "gen_ai.tool.call.arguments": more.pop("args", None),
        "gen_ai.tool.call.result": result,
    }
    return span(own, parent, at, values, **more)


def agent(own: str, parent: str | None, at: float, name: str = "desk", **more: Any) -> dict[str, Any]:
    values = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    return span(own, parent, at, values | more.pop("values", {}), lasts=more.pop("lasts", 60), **more)


def read(path: Path, *values: Any, name: str | None = None, scan: Scan | None = None) -> list[Turn | End]:
    """Write values as JSON lines and read them with the reader that claims them."""
    if values:
        path.write_text("".join(v if isinstance(v, str) else json.dumps(v) + "\n" for v in values))
    with open_input(Input(str(path), named=True)) as blob:
        found = detect(blob.head)
        assert found is not None
        assert name is None or found == name
        return list(load(found).read(blob, scan or Scan()))


def told(call: Call) -> str:
    result = "-" if call.result is MISSING else str(call.result)
    return f"{call.name}({call.args})={result}{'!' if call.error else ''}"


def story(events: list[Turn | End]) -> list[str]:
    """Each event in a few words: `run: call(args)=result` (`!` = error, `-` = no result), text, fault or end."""
    lines = []
    for event in events:
        if isinstance(event, End):
            lines.append(f"{event.run}: <{event.state}>")
        elif event.failed:
            lines.append(f"{event.run}: FAILED {event.fault}")
        else:
            what = " ".join(map(told, event.calls)) or repr(event.text)
            lines.append(f"{event.run}: {what}")
    return lines


def turns(events: list[Turn | End]) -> list[Turn]:
    return [e for e in events if isinstance(e, Turn)]


def ends(events: list[Turn | End]) -> list[End]:
    return [e for e in events if isinstance(e, End)]
