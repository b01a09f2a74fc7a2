/* What the loops over turns have of Python: given once by loopscan.usual. */

#include "turns.h"

Places in;
Shared shared;

static const struct {
    const char *type, *field;
    Where *place;
} fields[] = {
    {"Turn", "calls", &in.turn.calls}, {"Turn", "text", &in.turn.text}, {"Turn", "failed", &in.turn.failed},
    {"Turn", "usage", &in.turn.usage}, {"Turn", "model", &in.turn.model}, {"Turn", "time", &in.turn.time},
    {"Turn", "session", &in.turn.session}, {"Turn", "parent", &in.turn.parent}, {"Turn", "labels", &in.turn.labels},
    {"Turn", "window", &in.turn.window}, {"Turn", "written", &in.turn.written},
    {"Turn", "compacted", &in.turn.compacted}, {"Call", "name", &in.call.name}, {"Call", "args", &in.call.args},
    {"Call", "result", &in.call.result}, {"Call", "error", &in.call.error}, {"LateCall", "ident", &in.late.ident},
    {"LateCall", "raw", &in.late.raw}, {"LateCall", "head", &in.late.head}, {"LateCall", "tail", &in.late.tail},
    {"LateCall", "size", &in.late.size}, {"LateCall", "chars", &in.late.chars},
    {"Usage", "input", &in.usage.input}, {"Usage", "output", &in.usage.output},
    {"Usage", "cache_read", &in.usage.read}, {"Usage", "cache_write", &in.usage.write},
    {"Usage", "cache_write_1h", &in.usage.hour}, {"Usage", "usd", &in.usage.usd},
    {"Action", "ident", &in.action.ident}, {"Action", "calls", &in.action.calls}, {"Action", "args", &in.action.args},
    {"Action", "turn", &in.action.turn}, {"Action", "before", &in.action.before},
    {"Episode", "first", &in.episode.first}, {"Episode", "last", &in.episode.last},
    {"Episode", "period", &in.episode.period}, {"Episode", "idents", &in.episode.idents},
    {"Episode", "keys", &in.episode.keys}, {"Run", "progress", &in.run.progress}, {"Run", "ledger", &in.run.ledger},
    {"Run", "session", &in.run.session}, {"Run", "parent", &in.run.parent}, {"Run", "labels", &in.run.labels},
    {"Run", "model_now", &in.run.model}, {"Run", "turns", &in.run.turns}, {"Run", "started", &in.run.started},
    {"Run", "ended", &in.run.ended}, {"Run", "gap", &in.run.gap}, {"Run", "state", &in.run.state},
    {"Run", "last", &in.run.last}, {"Run", "full", &in.run.full}, {"Run", "limit", &in.run.limit},
    {"Progress", "tracker", &in.progress.tracker}, {"Progress", "keyer", &in.progress.keyer},
    {"Tracker", "detector", &in.tracker.detector}, {"Tracker", "watch", &in.tracker.watch},
    {"Tracker", "turn", &in.tracker.turn}, {"Tracker", "_open", &in.tracker.open},
    {"Tracker", "_unleft", &in.tracker.unleft}, {"Tracker", "_waited", &in.tracker.waited},
    {"Detector", "ring", &in.detector.ring}, {"Detector", "newest", &in.detector.newest},
    {"Detector", "reach", &in.detector.reach}, {"Detector", "runs", &in.detector.runs},
    {"Detector", "turn", &in.detector.turn}, {"Detector", "last", &in.detector.last},
    {"Watch", "trails", &in.watch.trails}, {"Watch", "turn", &in.watch.turn}, {"Watch", "_shells", &in.watch.shells},
    {"Watch", "_reading", &in.watch.reading}, {"Watch", "_writing", &in.watch.writing},
    {"Keyer", "special", &in.keyer.special}, {"Keyer", "cosmetic", &in.keyer.cosmetic},
    {"Ledger", "tally", &in.ledger.tally}, {"Ledger", "model", &in.ledger.model},
    {"Ledger", "since", &in.ledger.since}, {"Ledger", "until", &in.ledger.until},
    {"Ledger", "terms", &in.ledger.terms}, {"Ledger", "plain", &in.ledger.plain},
    {"Ledger", "warmth", &in.ledger.warmth}, {"Ledger", "money", &in.ledger.money},
    {"Terms", "price", &in.terms.price}, {"Terms", "most", &in.terms.most}, {"Terms", "input", &in.terms.input},
    {"Terms", "output", &in.terms.output}, {"Terms", "read", &in.terms.read}, {"Terms", "write", &in.terms.write},
    {"Terms", "hour", &in.terms.hour}, {"Terms", "cached", &in.terms.cached},
    {"Unsummed", "source", &in.plain.source}, {"Unsummed", "reads", &in.plain.reads},
    {"Unsummed", "writes", &in.plain.writes}, {"Unsummed", "hours", &in.plain.hours},
    {"Unsummed", "classes", &in.plain.classes}, {"Tally", "input", &in.tally.input},
    {"Tally", "output", &in.tally.output}, {"Tally", "usd", &in.tally.usd}, {"Tally", "elapsed", &in.tally.elapsed},
    {"Warmth", "_last", &in.warmth.last}, {"Prompt", "tokens", &in.prompt.tokens},
    {"Prompt", "time", &in.prompt.time}, {"Prompt", "cached", &in.prompt.cached}, {"Money", "cold", &in.money.cold},
    {"Idle", "_last", &in.idle.last}, {"Growth", "_line", &in.growth.line}, {"Growth", "_first", &in.growth.first},
    {"Growth", "_times", &in.growth.times}, {"Undo", "_files", &in.undo.files}, {"Undo", "episode", &in.undo.episode},
    {"File", "whole", &in.file.whole}, {"File", "same", &in.file.same}, {"File", "crossed", &in.file.crossed},
    {"Sweep", "_files", &in.sweep.files}, {"Sweep", "_path", &in.sweep.path}, {"Sweep", "_last", &in.sweep.last},
    {"Sweep", "_turns", &in.sweep.turns}, {"ReadBack", "_path", &in.back.path},
    {"ReadBack", "_wrote", &in.back.wrote}, {"ReadBack", "_rounds", &in.back.rounds},
    {"ReadBack", "_turn", &in.back.turn}, {"ReadBack", "_first", &in.back.first},
};

static bool find_places(PyObject *types) {
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        PyObject *type = PyDict_GetItemString(types, fields[i].type);
        if (!type) {
            PyErr_Format(PyExc_KeyError, "%s", fields[i].type);
            return false;
        }
        if ((*fields[i].place = field_place(type, fields[i].field)) < 0)
            return false;
    }
    return true;
}

static bool keep(PyObject *from, const char *name, PyObject **to) {
    PyObject *value = PyDict_GetItemString(from, name);
    if (!value)
        PyErr_Format(PyExc_KeyError, "%s", name);
    else
        Py_XSETREF(*to, Py_NewRef(value));
    return value != NULL;
}

static bool keep_types(PyObject *types) {
    return keep(types, "Run", &shared.Run) && keep(types, "Turn", &shared.Turn) && keep(types, "Call", &shared.Call) &&
           keep(types, "LateCall", &shared.LateCall) && keep(types, "Usage", &shared.Usage) &&
           keep(types, "Action", &shared.Action) && keep(types, "Idle", &shared.Idle) &&
           keep(types, "Growth", &shared.Growth) && keep(types, "Undo", &shared.Undo) &&
           keep(types, "File", &shared.File) && keep(types, "Sweep", &shared.Sweep) &&
           keep(types, "ReadBack", &shared.ReadBack) && keep(types, "Episode", &shared.Episode) &&
           keep(types, "Trail", &shared.Trail);
}

static bool keep_things(PyObject *things) {
    const struct {
        const char *name;
        PyObject **to;
    } all[] = {
        {"missing", &shared.missing}, {"usual", &shared.usual}, {"words", &shared.words}, {"kinds", &shared.kinds},
        {"says", &shared.says}, {"recorded", &shared.recorded}, {"sorted", &shared.sorted},
        {"commands", &shared.commands}, {"offset", &shared.offset}, {"limit", &shared.limit},
        {"kind", &shared.kind}, {"fast", &shared.fast}, {"fast_errors", &shared.fast_errors},
        {"dumps", &shared.dumps}, {"hashed", &shared.hashed}, {"spelt", &shared.spelt}, {"unlike", &shared.unlike},
        {"alike", &shared.alike}, {"label", &shared.label}, {"filled", &shared.filled},
        {"written", &shared.written}, {"got", &shared.got}, {"frombytes", &shared.frombytes},
        {"outcome", &shared.outcome},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!keep(things, all[i].name, all[i].to))
            return false;
    return true;
}

PyObject *share(PyObject *Py_UNUSED(self), PyObject *args) {
    PyObject *types, *things, *pairs;
    if (!PyArg_ParseTuple(args, "O!O!O(llllllll)", &PyDict_Type, &types, &PyDict_Type, &things, &pairs, &shared.stale,
                          &shared.files, &shared.ranges, &shared.ratio, &shared.times, &shared.digest, &shared.reads,
                          &shared.writes))
        return NULL;
    if (!find_places(types) || !keep_types(types) || !keep_things(things) || !read_words(pairs, &shared.pairs))
        return NULL;
    Py_RETURN_NONE;
}
