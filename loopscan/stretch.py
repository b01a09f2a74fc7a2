"""Turns of one run in a row: the usual ones for the least that a turn can cost, the others one by one.

A usual turn makes one call that was not made before in the window, of a tool whose last result was another, and gets
a result; its usage is input and output tokens under the price of the send before, or not recorded at all; and nothing
that went before is still to be judged. Such a turn can neither fire a rule nor end an episode: it is only noted, and
shown to the rules on shells, files and failures where it is of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import orjson

from loopscan.decode import FAST_ERRORS, canonical, fast
from loopscan.detector import STALE
from loopscan.estimate import PLACEHOLDER_RATIO, result_chars, written_chars
from loopscan.fill import COUNTED
from loopscan.key import Action
from loopscan.model import MISSING, LateCall
from loopscan.rules import tools
from loopscan.rules.likeness import ASKED, may_be_alike, unlike
from loopscan.rules.streaks import GAP
from loopscan.rules.watch import TOOLS
from loopscan.run import USUAL
from loopscan.series import PART
from loopscan.spelling import PATHS, one_spelling
from loopscan.terms import PLAIN
from loopscan.usual import usual as compiled_loop

if TYPE_CHECKING:
    from loopscan.model import Turn
    from loopscan.money import PriceBook
    from loopscan.run import Run

_SORTED: Final = orjson.OPT_SORT_KEYS
_SHELL: Final = tools.SHELL


def take(run: Run, turns: list[Turn], prices: PriceBook) -> None:
    """Take the next turns of a run."""
    at, count = 0, len(turns)
    usual = compiled_loop() or _usual
    while at < count:
        if run.quick:
            start, at = at, usual(run, turns, at)
            if at > start and not run.turns % PART:
                run.ledger.pack()
                continue
            if at < count and run.ledger.moves_on(turns[at], prices):
                continue
        if at < count:
            run.push(turns[at], prices)
            at += 1


def _usual(run: Run, turns: list[Turn], at: int) -> int:
    """Take the usual turns from number `at` on; the number of the first that is not, or of the one after a full part.

    Longer than other functions, and in places what others do better: it runs for every turn of every log, and a call or
    a field of an object costs more here than what is done with it. `Run.push` does the same for turns of any kind.
    """
    tracker, ledger, keyer = run.progress.tracker, run.ledger, run.progress.keyer
    detector, watch, tally, model = tracker.detector, tracker.watch, ledger.tally, run.model_now
    if watch is None or not tracker.calm() or model != ledger.model:
        return at
    ring, newest, reach, trails, kinds = detector.ring, detector.newest, detector.reach, watch.trails, tools.KINDS
    since, until, terms = ledger.since, ledger.until, ledger.terms
    most, rate_in, rate_out = terms.most, terms.input, terms.output
    bare, source, grown = turns[at].usage is None, "recorded", 0
    if bare:
        way = ledger.filling()
        source, sent, fixed, step = way.source, way.next_input(ledger.history, len(tally)), way.output, way.growth
        (out_n, out_d), (own_n, own_d), (got_n, got_d) = way.written, way.history, way.results
    if run.full is None and run.limit is not None and run.limit <= most and source in COUNTED:
        most = run.limit - 1
    session, parent, labels, special = run.session, run.parent, run.labels, keyer.special
    cosmetic = keyer.cosmetic
    number, started, ended, gap = run.turns, run.started, run.ended, run.gap
    add_in, add_out, add_usd, add_time = tally.input.append, tally.output.append, tally.usd.append, tally.elapsed.append
    begun = False
    action: Action | None = None
    done: Turn | None = None
    for turn in turns[at:] if at else turns:
        calls, usage, time = turn.calls, turn.usage, turn.time
        if len(calls) != 1 or (usage is None) is not bare or turn.model != model:
            break
        call = calls[0]
        name, args = call.name, call.args
        if usage is not None:
            if usage.input is None or usage.output is None:
                break
            sent, output = usage.input, usage.output
            if sent > most or output > PLAIN or usage.usd is not None:
                break
        if (
            not since <= (time or 0.0) < until
            or (turn.window is not None and (bare or sent >= turn.window))
            or turn.failed
            or turn.compacted
            or (session is None and turn.session is not None)
            or (parent is None and turn.parent is not None)
            or (turn.labels and not turn.labels.keys() <= labels.keys())
            or (call.raw or call.result if type(call) is LateCall else call.result) is MISSING
        ):
            break
        if type(args) is str and args[:1] == "{":  # as `embedded` does
            try:
                args = fast(args)
            except FAST_ERRORS:
                args = keyer.read(name, args)
        if type(args) is dict and not special and name not in cosmetic:
            files = not PATHS.isdisjoint(args)
            if files:
                args = one_spelling(args)
        else:
            args = keyer.read(name, args)
            files = type(args) is dict and not PATHS.isdisjoint(args)
        if type(call) is LateCall and call.ident is not None and args is call.args:
            ident = call.ident
        else:
            try:
                ident = hash((name, orjson.dumps(args, None, _SORTED)))
            except orjson.JSONEncodeError:
                ident = hash((name, canonical(args)))
        number += 1
        before, last = newest.get(ident), trails.get(name)
        what = kinds.get(name)
        if what is None:
            what = tools.kind(name)
        if before is not None and before.turn > number - reach:
            break
        if last is not None:
            if type(last) is not Action:
                break
            if number - last.turn <= GAP:
                earlier = last.calls[0]
                quiet = what or (type(args) is dict and ASKED.isdisjoint(args))
                if not (quiet and unlike(earlier, call)) and may_be_alike(earlier, call):
                    break
        if usage is None:
            written, chars = turn.written, call.chars if type(call) is LateCall else -1
            if written is None:
                written = written_chars(turn)
            if chars < 0:
                chars = len(call.result) if type(call.result) is str else result_chars(turn)
            sent, output = sent + grown, fixed - (-written * out_n // out_d)
            if not 0 <= sent <= most or output > PLAIN:
                break
            usd, grown = sent * rate_in, step - (-written * own_n // own_d) - (-chars * got_n // got_d)
        elif usage.cache_read is usage.cache_write is usage.cache_write_1h is None:
            usd = sent * rate_in
        elif (paid := ledger.cached(turn, usage, sent)) is not None:
            usd = paid
        else:
            break
        # nothing is changed above (but what `cached` notes), everything below: the turn is a usual one
        action = Action(ident, (ident,), calls, turn.text, MISSING, call.error, args, number)
        done = turn
        ring[number % reach] = newest[ident] = trails[name] = action
        if last is None and len(trails) > TOOLS:
            del trails[next(iter(trails))]
        elapsed = 0.0
        if time is not None:
            if started is None:
                started = time
            else:
                elapsed = time - started
                if ended is not None and time - ended > gap[0]:
                    gap = (time - ended, number)
            if not ended or time > ended:
                ended = time
        if not begun:
            if ledger.plain.source != source:
                ledger.begin(source)
            begun = True
        add_in(sent)
        add_out(output)
        add_usd(usd + output * rate_out)
        add_time(elapsed)
        if usage is not None and turn.written and output * PLACEHOLDER_RATIO < turn.written:
            ledger.doubt(turn.written, output, terms.price)
        if files or what & _SHELL or call.error:
            tracker.turn = detector.turn = watch.turn = number
            if what & _SHELL:
                watch.shell(call, action, action)
            elif what and files:
                watch.file(what, args, action)
            if call.error:
                watch.failed(action)
            if not tracker.calm():
                break
        if not number % PART:
            break
    if done is None or action is None:
        return at
    at += action.turn - run.turns
    run.turns = tracker.turn = detector.turn = watch.turn = action.turn
    run.started, run.ended, run.gap, run.state, run.last = started, ended, gap, None, USUAL
    detector.last = action
    ledger.remember(done, tally.input[-1])
    if len(newest) > STALE * reach:
        detector.forget()
    return at
