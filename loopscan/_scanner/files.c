/* Reads and writes of files as loopscan.rules take note of them, where nothing comes of it. */

#include "turns.h"

static bool whole_file(const Shown *s) {
    return tell_turn(s->tracker, s->now->number) &&
           done(PyObject_CallMethod(s->watch, "file", "lOO", s->now->what, s->now->args, s->action));
}

static bool rule_file(const Shown *s, PyObject *rule, const char *method) {
    return tell_turn(s->tracker, s->now->number) &&
           done(PyObject_CallMethod(rule, method, "OOOO", s->now->path, s->now->args, s->action, s->watch));
}

/* Whether a number of a rule is that of a turn. */
static bool is_turn(PyObject *rule, Where place, long turn) {
    int64_t number;
    return integer(get(rule, place), &number) && number == turn;
}

/* loopscan.rules.read_back: a read that is not of the file that was just written. */
static bool read_back(const Shown *s, PyObject *rule) {
    int near = is_turn(rule, in.back.turn, s->now->number - 1);
    if (near)
        near = same(get(rule, in.back.path), s->now->path);
    return near > 0 ? rule_file(s, rule, "reading") : near == 0;
}

/* The first and the last line that a call asks for, where it says so by an offset and a limit; 1, 0 = it does not,
   -1 = it says it in another way. */
static int lines_of(const Now *now, int64_t *first, int64_t *last) {
    if (!(now->says & (OFFSET | RANGE)))
        return 0;
    PyObject *offset = PyDict_GetItemWithError(now->args, shared.offset);
    PyObject *limit = PyDict_GetItemWithError(now->args, shared.limit);
    if (now->says & RANGE || !offset || !PyLong_CheckExact(offset))
        return -1;
    if (!limit || !PyLong_CheckExact(limit))
        return 0;
    if (!integer(offset, first) || !counted(limit, last) || *first > PLENTY || *first < -PLENTY)
        return -1;
    *last += *first - 1;
    return *last >= *first;
}

/* loopscan.rules.sweep: a read of a part of another file, of which nothing was read before. */
static bool sweep(const Shown *s, PyObject *rule) {
    int64_t first, last;
    int asked = lines_of(s->now, &first, &last);
    if (asked <= 0)
        return asked == 0 || rule_file(s, rule, "reading");
    PyObject *files = get(rule, in.sweep.files), *path = s->now->path;
    int seen = PyDict_Contains(files, path);
    if (seen == 0)
        seen = same(get(rule, in.sweep.path), path);
    if (seen)
        return seen > 0 && rule_file(s, rule, "reading");
    PyObject *lines = Py_BuildValue("[(LL)]", (long long)first, (long long)last), *turns = PyList_New(0);
    bool fine = lines && turns && PyDict_SetItem(files, path, lines) == 0 && at_most(files, shared.ranges);
    Py_XDECREF(lines);
    if (!fine) {
        Py_XDECREF(turns);
        return false;
    }
    set_to(rule, in.sweep.path, path);
    set_field(rule, in.sweep.turns, turns);
    return set_number(rule, in.sweep.last, s->now->number);
}

static bool sweep_off(const Shown *s, PyObject *rule) {
    PyObject *files = get(rule, in.sweep.files);
    int seen = PyDict_Contains(files, s->now->path);
    return seen > 0 ? PyDict_DelItem(files, s->now->path) == 0 : seen == 0;
}

/* The hash of short arguments without digits, 0 of long ones; -1 = it is for Python to tell. */
static Py_hash_t digest_of(PyObject *args) {
    PyObject *name, *value;
    Py_ssize_t place = 0, size = 0, kept = 0;
    while (PyDict_Next(args, &place, &name, &value))
        size += PyUnicode_Check(value) ? PyUnicode_GET_LENGTH(value) : 0;
    if (size >= shared.digest)
        return 0;
    PyObject *const asked[] = {args, Py_None, shared.sorted}, *text = PyObject_Vectorcall(shared.dumps, asked, 3, NULL);
    if (!text || !PyBytes_CheckExact(text) || !make_room(&given.spare, PyBytes_GET_SIZE(text))) {
        Py_XDECREF(text);
        PyErr_Clear();
        return -1;
    }
    const char *from = PyBytes_AS_STRING(text);
    for (Py_ssize_t i = 0; i < PyBytes_GET_SIZE(text); i++) {
        given.spare.data[kept] = (uint8_t)from[i];
        kept += from[i] < '0' || from[i] > '9';
    }
    Py_DECREF(text);
    return hash_of(given.spare.data, kept);
}

/* loopscan.rules.read_back: a write. */
static bool write_back(const Shown *s, PyObject *rule) {
    given.spare.size = 0;
    Py_hash_t wrote = s->now->failed ? 0 : digest_of(s->now->args);
    if (wrote == -1)
        return rule_file(s, rule, "writing");
    int64_t before;
    int again = wrote && is_turn(rule, in.back.turn, s->now->number - 1);
    if (again)
        again = integer(get(rule, in.back.wrote), &before) && before == wrote;
    if (again)
        again = same(get(rule, in.back.path), s->now->path);
    if (again < 0)
        return false;
    if (!again) {
        PyObject *hash = PyLong_FromSsize_t(wrote);
        if (!hash || !set_number(rule, in.back.rounds, 0) || !set_number(rule, in.back.first, s->now->number)) {
            Py_XDECREF(hash);
            return false;
        }
        set_to(rule, in.back.path, s->now->path);
        set_field(rule, in.back.wrote, hash);
    }
    return set_number(rule, in.back.turn, s->now->number);
}

/* A rule on files: of a read, or of a write. */
static bool show_file_to(const Shown *s, PyObject *rule, bool read) {
    if (is_a(rule, shared.ReadBack))
        return read ? read_back(s, rule) : write_back(s, rule);
    if (is_a(rule, shared.Sweep))
        return read ? sweep(s, rule) : sweep_off(s, rule);
    if (is_a(rule, shared.Undo) && !read && !(s->now->says & BACK))
        return undo(s, rule);
    return rule_file(s, rule, read ? "reading" : "writing");
}

/* loopscan.rules.watch.Watch.file. False with an exception. */
bool show_file(const Shown *s) {
    const Now *now = s->now;
    if (!now->path)
        return true;
    bool read = now->what & shared.reads;
    if (!read) {
        PyObject *command = PyDict_GetItemWithError(now->args, PyTuple_GET_ITEM(shared.commands, 0));
        if (PyErr_Occurred())
            return false;
        if (command)
            return whole_file(s);
        if (!(now->what & shared.writes))
            return true;
    }
    PyObject *rules = get(s->watch, read ? in.watch.reading : in.watch.writing);
    if (!PyList_CheckExact(rules))
        return whole_file(s);
    bool fine = true;
    for (Py_ssize_t i = 0; fine && i < PyList_GET_SIZE(rules); i++)
        fine = show_file_to(s, PyList_GET_ITEM(rules, i), read);
    return fine;
}
