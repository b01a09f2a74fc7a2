"""The closing lines of every report for people: what all runs come to, the policy, and what is not in the sums."""

from __future__ import annotations

from loopscan.auto import AUTO_RUNS, healthy
from loopscan.render._money import amount, mark, money_lines
from loopscan.render._text import cents, clean, money, plural, short
from loopscan.report import Report
from loopscan.summary import Suggested, stuck_tools, suggested

_TOOLS = 5


def _counts(counts: dict[str, int], skip: str = "") -> str:
    return ", ".join(f"{n:,} {name}" for name, n in counts.items() if name != skip and n)


def summary(report: Report) -> list[str]:
    """The closing lines: states and verdicts, money, first exits, caps, what was skipped."""
    totals, runs = report.totals(), report.runs
    if not runs:
        return ["no run found", *left_out(report)]
    verdicts = _counts(totals["verdicts"], skip="clean") or "no repetition"
    line = f"{plural(len(runs), 'run')}: {_counts(totals['states'])} · {verdicts}"
    about = mark(*runs)
    if totals["usd"] is None:
        tokens = sum(r.tokens for r in runs)
        line += f" · {f'{about}{short(tokens)} tokens, ' if tokens else ''}unpriced (give --p-in and --p-out)"
    else:
        usd, wasted = sum(r.usd for r in runs), sum(r.wasted.usd for r in runs)
        waiting = sum(r.waiting.usd for r in runs)
        line += f" · {about}{cents(usd)}, of it {about}{cents(wasted)} wasted, {about}{cents(waiting)} spent waiting"
    exits = totals["first_exits"]
    counted = [_counts(exits)] if exits else []
    fired = "first exit: " + "; ".join([*counted, f"none in {len(runs) - sum(exits.values()):,}"])
    unseen = f"{totals['blind']:,} blind, {plural(totals['unpriced_sends'], 'unpriced send')}, "
    unseen += f"{plural(report.skipped.total, 'skipped record')}"
    lines = [line, fired, caps_line(report), _suggestion(report), *_stuck(report), unseen]
    return [*lines, *money_lines(report), *left_out(report)]


def _suggestion(report: Report) -> str:
    """The caps that the done runs suggest, and what each would have cost."""
    caps, good = suggested(report), len(healthy(report.runs))
    if not caps:
        return f"caps suggested: none yet, {AUTO_RUNS} healthy done runs are needed, there {_are(good)}"
    parts = ", ".join(f"{s.exit} {_cap(s)} (would stop {s.would_stop:,})" for s in caps)
    return f"caps suggested by {good:,} healthy done runs (2 x p95): {parts}"


def _are(count: int) -> str:
    return "is 1" if count == 1 else f"are {count:,}"


def _cap(cap: Suggested) -> str:
    return money(cap.cap) if cap.exit == "cost_cap" else f"{cap.cap:,}"


def _stuck(report: Report) -> list[str]:
    tools = stuck_tools(report.runs)
    if not tools:
        return []
    shown = [
        f"{clean(t.name, 40)} ({plural(t.runs, 'run')}, {plural(t.turns, 'turn')}"
        f"{f', {mark(*report.runs)}{amount(t.usd)}' if t.usd else ''})"
        for t in tools[:_TOOLS]
    ]
    more = f" and {len(tools) - _TOOLS} more" if len(tools) > _TOOLS else ""
    return [f"tools in stuck blocks: {', '.join(shown)}{more}"]


def caps_line(report: Report) -> str:
    """The policy that the exits follow."""
    caps, auto = report.caps, report.settings.get("auto", [])
    shown = {
        "turn_cap": None if caps.turns is None else f"{caps.turns:,}",
        "token_cap": None if caps.tokens is None else f"{caps.tokens:,}",
        "cost_cap": None if caps.usd is None else money(caps.usd),
        "time_cap": None if caps.seconds is None else f"{caps.seconds:,.0f} s",
    }
    parts = [f"{name} {value or 'off'}{' (auto)' if name in auto and value else ''}" for name, value in shown.items()]
    line = f"window {report.settings['window']}, copies {report.settings['copies']}, {', '.join(parts)}"
    advised = report.settings.get("advised_window")
    if advised is not None and advised < report.settings["window"]:
        line += f" · window {advised} is enough: a longer cycle cannot play twice before the turn cap"
    return line


def left_out(report: Report) -> list[str]:
    """What the report does not hold: one line per kind."""
    skips, lines = report.skipped, list[str]()
    if report.stopped:
        lines.append(f"stopped: what was being read is there in part, {report.unread:,} more were not read")
    if skips.total:
        reasons = ", ".join(f"{n:,} {clean(r, 60)}" for r, n in skips.by_reason.most_common(5))
        lines.append(f"skipped {plural(skips.total, 'record')}: {reasons}")
    for reason, count in skips.barren.most_common(5):
        lines.append(f"{plural(count, 'file')} with nothing to audit: {clean(reason, 60)}")
    if skips.copies:
        lines.append(f"dropped {plural(skips.copies, 'log copy').replace('copys', 'copies')}")
    if skips.unknown:
        kinds = ", ".join(clean(k, 40) for k, _ in skips.unknown.most_common(5))
        lines.append(f"ignored {plural(sum(skips.unknown.values()), 'record')} of unknown types: {kinds}")
    since, until = report.settings.get("since"), report.settings.get("until")
    if since or until:
        ends = " ".join([f"since {since}"] * bool(since) + [f"before {until}"] * bool(until))
        files = f", {plural(report.unopened, 'file')} left unread" if report.unopened else ""
        lines.append(f"runs that ended {ends}; outside that span {plural(report.outside, 'run')}{files}")
    if report.untimed:
        lines.append(f"{plural(report.untimed, 'run')} without times, counted whatever the span")
    if report.not_logs:
        lines.append(f"{plural(len(report.not_logs), 'file')} in the folders hold no known log")
    return lines
