"""Who&When failure logs: Magentic-One runs (hand-crafted half) and AG2 group chats (algorithm-generated half).

One JSON document per run, `history` in order. Magentic-One: one turn = one instruction of the orchestrator, a call of
the agent it names, and that agent's reply; an instruction without a reply equals nothing. Plans and ledgers are no
turns (each costs a model call of its own that is not recorded), but what the ledgers say of `is_in_loop` goes into
the note. AG2: one turn = one speech, the speaker is part of it. Neither half records usage, times or models.
Data: https://github.com/mingyin1/Agents_Failure_Attribution, `Who&When/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from loopscan.blob import Blob, Head
from loopscan.decode import embedded, word
from loopscan.formats import Scan
from loopscan.formats._fields import identity, items, mapping, text_of_blocks
from loopscan.formats._harness import Names, answer, note
from loopscan.model import JSON, Call, End, Event, Turn

TITLE = "Magentic-One and AG2 logs of the Who&When data set"
WHERE: tuple[str, ...] = ()
LACKS = "usage, times and models"
COSMETIC_ARGS: Mapping[str, frozenset[str]] = {}

_INSTRUCTION: Final = re.compile(r"Orchestrator \(-> (.+)\)")
_ORCHESTRATOR: Final = "Orchestrator ("
_TERMINATION: Final = "Orchestrator (termination condition)"
_CRASH: Final = "Error processing publish message"
_STOPS: Final = (
    ("max rounds", "turn_cap"),
    ("max time", "time_cap"),
    ("replan counter", "no_progress"),
    ("satisfied", "done"),
)
_LAST_THOUGHTS: Final = ("Request satisfied", "Replan counter exceeded")


def sniff(head: Head) -> bool:
    """A question or a labelled mistake, with a `history` of speeches."""
    for doc in head.objects[:3]:
        first = mapping(next(iter(items(doc.get("history"))), None))
        if {"role", "content"} <= first.keys() and ("mistake_step" in doc or "question" in doc):
            return True
    return False


def read(blob: Blob, scan: Scan) -> Iterator[Event]:
    """The turns and the end of every log in a file."""
    names = Names(blob.name, scan, "magentic-who-and-when")
    for number, doc in blob.values(scan.skips):
        if not isinstance(doc, dict) or not isinstance(doc.get("history"), list):
            scan.skips.add(blob.name, number, "no history: a log is an object with a list of speeches")
            continue
        run = names.run(identity(doc.get("question_ID")), None if identity(doc.get("question_ID")) else number)
        speeches = [m for m in doc["history"] if isinstance(m, dict)]
        led = any(word(m.get("role")).startswith(_ORCHESTRATOR) for m in speeches)
        yield from _led(speeches, run, number) if led else _chat(speeches, run, number)


def _led(speeches: list[dict[str, JSON]], run: str, number: int) -> Iterator[Event]:
    """A Magentic-One run: instructions and replies."""
    turn: Turn | None = None
    turns = 0
    loops: list[str] = []
    stop = ""
    for speech in speeches:
        role, text = word(speech.get("role")), text_of_blocks(speech.get("content"))
        if instruction := _INSTRUCTION.fullmatch(role):
            if turn is not None:
                yield turn
            turns += 1
            turn = Turn(run, [Call(instruction.group(1), text)], line=number, written=len(text))
        elif role.startswith(_ORCHESTRATOR):
            if _CRASH in text or text.startswith(_LAST_THOUGHTS) or (role == _TERMINATION and not stop):
                stop = text
            if mapping(mapping(_ledger(text)).get("is_in_loop")).get("answer") is True:
                loops.append(word(turns))
        elif turn is not None and role == turn.calls[0].name:
            answer(turn, None, text, text.startswith("Error"))
    if turn is not None:
        yield turn
    ledger = f"ledger: in loop after turns {', '.join(loops)}" if loops else None
    if stop or ledger:
        yield End(run, _stop_state(stop), note(_summary(stop), ledger), number, final=True)


def _ledger(text: str) -> JSON:
    return embedded(text.removeprefix("Updated Ledger:")) if text.startswith("Updated Ledger:") else None


def _stop_state(stop: str) -> str:
    if _CRASH in stop:
        return "error"
    lowered = stop.lower()
    return next((state for sign, state in _STOPS if sign in lowered), "cut")


def _summary(stop: str) -> str:
    """The words of a stop; of a crash its first and its last line."""
    if _CRASH not in stop:
        return stop
    lines = stop[stop.index(_CRASH) :].strip().splitlines()
    return lines[0] if len(lines) == 1 else f"{lines[0]}: {lines[-1].strip()}"


def _chat(speeches: list[dict[str, JSON]], run: str, number: int) -> Iterator[Event]:
    """A group chat: every speech is a turn of its speaker."""
    text = ""
    for speech in speeches:
        if speech.get("role") in ("human", "system"):
            continue
        text = text_of_blocks(speech.get("content"))
        speaker = identity(speech.get("name")) or identity(speech.get("role"))
        yield Turn(run, [], f"{speaker}: {text}", line=number, written=len(text))
    done = text.rstrip().rstrip("*.").endswith("TERMINATE")
    words = "TERMINATE" if done else "the chat just ends"
    yield End(run, "done" if done else "cut", words, number, final=True)


def clean_result(name: str, result: JSON) -> JSON:
    """Replies are words; nothing stands round them."""
    return result
