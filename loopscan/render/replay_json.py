"""`loopscan replay` as one JSON document, and as CSV with a line per policy."""

from __future__ import annotations

import csv
from collections import Counter
from fractions import Fraction
from typing import Any, Final, TextIO

from loopscan.best_cap import best_caps
from loopscan.exits import ORDER
from loopscan.records import skipped
from loopscan.render.csv import cell
from loopscan.render.jsonl import dumps
from loopscan.render.replay import caps_of
from loopscan.replay import Overlap, Played, Replay, flips, overlaps
from loopscan.report import Report, dollars

SCHEMA: Final = 1


def render(found: Replay, share: Fraction, report: Report, out: TextIO) -> None:
    """Write the document."""
    usd = any(not run.unpriced for run in found.runs)
    failed = [found.runs[i] for i in found.failed]
    document = {
        "schema": SCHEMA,
        "runs": len(found.runs),
        "healthy": len(found.healthy),
        "failed": len(failed),
        "failed_turns": sum(r.turns for r in failed),
        "failed_usd": dollars(sum(r.usd for r in failed)) if usd else None,
        "outcomes": found.outcomes,
        "policies": [{**figures(played, found, usd), "stopped": _stopped(played, found)} for played in found.played],
        "overlaps": [_overlap(pair, usd) for pair in overlaps(found)],
        "flips": [
            {"run": f.run.run, "format": f.run.format, "policies": [f.one, f.other], "verdicts": list(f.verdicts)}
            for f in flips(found)
        ],
        "healthy_hit": float(share),
        "best_caps": [
            {
                "exit": cap.exit,
                "cap": dollars(cap.value) if cap.exit == "cost_cap" else cap.value,
                "healthy_stopped": cap.hits,
                "failed_stopped": cap.saving.runs,
                "saved_turns": cap.saving.turns,
                "saved_usd": dollars(cap.saving.usd) if usd else None,
            }
            for cap in best_caps(found, share)
        ],
        "skipped": skipped(report.skipped),
        "settings": report.settings,
    }
    out.write(dumps(document, indent=True) + "\n")


def _overlap(pair: Overlap, priced: bool) -> dict[str, Any]:
    which = ("both", "first_only", "second_only")
    return {
        "policies": [pair.one, pair.other],
        **{f"failed_{k}": n for k, n in zip(which, pair.failed, strict=True)},
        **{f"healthy_{k}": n for k, n in zip(which, pair.healthy, strict=True)},
        "saved_turns": pair.together.turns,
        "saved_usd": dollars(pair.together.usd) if priced else None,
    }


def figures(played: Played, found: Replay, priced: bool) -> dict[str, Any]:
    """A policy and what it comes to."""
    watch, asked = played.policy.detection, played.policy.caps
    caps = caps_of(played.caps)
    saving, hits = played.saving(found.failed), len(played.stopped(found.healthy))
    auto = {"turn_cap": asked.turns, "token_cap": asked.tokens, "cost_cap": asked.usd, "time_cap": asked.seconds}
    first = Counter(fired.exit for fired in played.first if fired is not None)
    return {
        "policy": played.policy.name,
        "window": watch.window or None if watch else None,
        "copies": watch.copies if watch and watch.window else None,
        "repeat_limit": watch.repeat_limit or None if watch else None,
        "exact": bool(watch and watch.exact),
        **caps,
        "cost_cap": dollars(played.caps.usd),
        "auto": [name for name, value in auto.items() if value == "auto"],
        "failed_stopped": saving.runs,
        "saved_turns": saving.turns,
        "saved_usd": dollars(saving.usd) if priced else None,
        "healthy_stopped": hits,
        "healthy_share": hits / len(found.healthy) if found.healthy else None,
        "first_exits": {name: first[name] for name in ORDER if name in first},
    }


def _stopped(played: Played, found: Replay) -> list[dict[str, Any]]:
    """The runs that a policy stops."""
    healthy = set(found.healthy)
    return [
        {
            "run": run.run,
            "format": run.format,
            "healthy": i in healthy,
            "exit": stop.exit,
            "turn": stop.turn,
            "paid_sends": stop.paid_sends,
            "saved_turns": stop.saved_turns,
            "saved_usd": None if run.unpriced else dollars(stop.saved_usd),
        }
        for i, (run, stop) in enumerate(zip(found.runs, played.stops, strict=True))
        if stop is not None
    ]


def render_csv(found: Replay, out: TextIO) -> None:
    """Write a header and a line per policy; the healthy runs it stops are named in the last column."""
    usd = any(not run.unpriced for run in found.runs)
    writer = csv.writer(out, lineterminator="\n")
    for i, played in enumerate(found.played):
        row = {
            **{k: v for k, v in figures(played, found, usd).items() if not isinstance(v, (list, dict))},
            "healthy_names": "; ".join(found.runs[k].run for k in played.stopped(found.healthy)),
        }
        if not i:
            writer.writerow(row)
        writer.writerow([cell(value) for value in row.values()])
