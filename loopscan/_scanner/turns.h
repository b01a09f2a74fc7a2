/* Turns, and what a run keeps of them: where the fields of these objects stand, and what is asked of Python. */

#ifndef LOOPSCAN_TURNS_H
#define LOOPSCAN_TURNS_H

#include "names.h"

/* What the name of an argument says (loopscan.usual). */
enum { PATH = 1, ASKED = 2, OLD = 4, NEW = 8, WHOLE = 16, BACK = 32, OFFSET = 64, RANGE = 128 };
enum { KEYS_KEPT = 256, OUTCOMES = 64 };

/* More than any number of a log that is worked with. */
#define PLENTY ((int64_t)1 << 40)

typedef Py_ssize_t Where;

typedef struct {
    struct { Where calls, text, failed, usage, model, time, session, parent, labels, window, written, compacted; } turn;
    struct { Where name, args, result, error; } call;
    struct { Where ident, raw, head, tail, size, chars; } late;
    struct { Where input, output, read, write, hour, usd; } usage;
    struct { Where ident, calls, args, turn, before; } action;
    struct {
        Where progress, ledger, session, parent, labels, model, turns, started, ended, gap, state, last, full, limit;
    } run;
    struct { Where tracker, keyer; } progress;
    struct { Where detector, watch, turn, open, unleft, waited; } tracker;
    struct { Where ring, newest, reach, runs, turn, last; } detector;
    struct { Where trails, turn, shells, reading, writing; } watch;
    struct { Where first, last, period, idents, keys; } episode;
    struct { Where special, cosmetic; } keyer;
    struct { Where tally, model, since, until, terms, plain, warmth, money; } ledger;
    struct { Where price, most, input, output, read, write, hour, cached; } terms;
    struct { Where source, reads, writes, hours, classes; } plain;
    struct { Where input, output, usd, elapsed; } tally;
    struct { Where last; } warmth;
    struct { Where tokens, time, cached; } prompt;
    struct { Where cold; } money;
    struct { Where last; } idle;
    struct { Where line, first, times; } growth;
    struct { Where files, episode; } undo;
    struct { Where whole, same, crossed; } file;
    struct { Where files, path, last, turns; } sweep;
    struct { Where path, wrote, rounds, turn, first; } back;
} Places;

extern Places in;

/* A name of an argument, by its object: most of them are a few objects that come again and again. */
typedef struct {
    PyObject *name;
    long says;
} Key;

/* The key of an action by the hash of its ident and of the bytes of its result. */
typedef struct {
    Py_hash_t hash;
    PyObject *keyer, *key;
} Outcome;

/* What `share` was given: types, functions, values. */
typedef struct {
    PyObject *Run, *Turn, *Call, *LateCall, *Action, *Idle, *Growth, *Undo, *File, *Sweep, *ReadBack, *Episode, *Trail;
    PyObject *Usage, *missing, *usual, *words, *kinds, *says, *recorded, *sorted, *commands, *offset, *limit;
    PyObject *kind, *fast, *fast_errors, *dumps, *hashed, *spelt, *unlike, *alike, *label, *filled, *written, *got, *frombytes, *outcome;
    Words pairs;
    long stale, files, ranges, ratio, times, digest, reads, writes;
    Key known[KEYS_KEPT];
    Outcome outcomes[OUTCOMES];
} Shared;

extern Shared shared;

/* The turn that is looked at. `args` and `ident` are its own references. */
typedef struct {
    PyObject *turn, *calls, *call, *name, *usage, *args, *ident, *path, *last;
    long what, says, number;
    int64_t sent, output, usd;
    double time;
    bool timed, late, failed, alike;
} Now;

static inline PyObject *get(PyObject *object, Where place) {
    return *field_at(object, place);
}

static inline bool set_number(PyObject *object, Where place, long number) {
    PyObject *value = PyLong_FromLong(number);
    if (value)
        set_field(object, place, value);
    return value != NULL;
}

static inline void set_to(PyObject *object, Where place, PyObject *value) {
    set_field(object, place, Py_NewRef(value));
}

static inline bool is_a(PyObject *object, PyObject *type) {
    return (PyObject *)Py_TYPE(object) == type;
}

/* An integer of a field that holds one of a size that integers of a log have; false where it does not. */
static inline bool integer(PyObject *value, int64_t *number) {
    int beyond = 0;
    if (!value || !PyLong_CheckExact(value))
        return false;
    *number = PyLong_AsLongLongAndOverflow(value, &beyond);
    return !beyond;
}

/* A count: 0 to 10^9. */
static inline bool counted(PyObject *value, int64_t *number) {
    return integer(value, number) && *number >= 0 && *number <= 1000000000;
}

/* Whether two texts (or None) are equal; -1 with an exception. */
static inline int same(PyObject *one, PyObject *other) {
    return one == other ? 1 : PyObject_RichCompareBool(one, other, Py_EQ);
}

/* Forget the oldest entry of a dict that holds more than so many. False with an exception. */
static inline bool at_most(PyObject *dict, Py_ssize_t most) {
    PyObject *key, *value;
    Py_ssize_t place = 0;
    if (PyDict_GET_SIZE(dict) <= most || !PyDict_Next(dict, &place, &key, &value))
        return true;
    Py_INCREF(key);
    int done = PyDict_DelItem(dict, key);
    Py_DECREF(key);
    return done == 0;
}

/* Tell Python which turn it is. False with an exception. */
static inline bool tell_turn(PyObject *tracker, long number) {
    return set_number(tracker, in.tracker.turn, number) &&
           set_number(get(tracker, in.tracker.detector), in.detector.turn, number) &&
           set_number(get(tracker, in.tracker.watch), in.watch.turn, number);
}

/* What is shown to the rules. */
typedef struct {
    PyObject *tracker, *watch, *action, *line;
    const Now *now;
} Shown;

static inline bool done(PyObject *value) {
    Py_XDECREF(value);
    return value != NULL;
}

long says_of(PyObject *name);
bool read_args(PyObject *keyer, Now *now);
bool tell_ident(Now *now);
int unlike(PyObject *before, PyObject *call);
bool show(PyObject *tracker, const Now *now, PyObject *action);
bool show_file(const Shown *s);
bool undo(const Shown *s, PyObject *rule);
PyObject *share(PyObject *self, PyObject *args);
PyObject *take_usual(PyObject *self, PyObject *const *args, Py_ssize_t count);

#endif
