/* Turns that the rules on shells and files look at: what loopscan.rules.watch shows them, and what they make of most. */

#include "turns.h"

static bool whole_shell(const Shown *s) {
    return tell_turn(s->tracker, s->now->number) &&
           done(PyObject_CallMethod(s->watch, "shell", "OOO", s->now->call, s->action, s->action));
}

/* The command line of a shell call (loopscan.rules.tools.command); `odd`: it is none of text. */
static PyObject *command_of(PyObject *args, bool *odd) {
    if (PyUnicode_CheckExact(args))
        return args;
    for (Py_ssize_t i = 0; PyDict_CheckExact(args) && i < PyTuple_GET_SIZE(shared.commands); i++) {
        PyObject *value = PyDict_GetItemWithError(args, PyTuple_GET_ITEM(shared.commands, i));
        if (value && PyUnicode_CheckExact(value))
            return value;
        *odd |= value && PyList_Check(value);
    }
    return NULL;
}

static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1C && c <= 0x1F);
}

static Text word_at(Place *at, Place end) {
    while (*at < end && is_space((char)**at))
        ++*at;
    Text word = {.from = *at};
    while (*at < end && !is_space((char)**at))
        ++*at;
    word.size = *at - word.from;
    return word;
}

/* loopscan.rules.tools.label of a plain line; a new reference, NULL where it is none, or with an exception. */
static PyObject *label_of(PyObject *name, PyObject *line) {
    char label[256];
    if (!PyUnicode_IS_COMPACT_ASCII(line) || !PyUnicode_IS_COMPACT_ASCII(name) || PyUnicode_GET_LENGTH(name) > 64)
        return NULL;
    Place at = PyUnicode_1BYTE_DATA(line), end = at + PyUnicode_GET_LENGTH(line);
    if (end - at > 400)
        end = at + 400;
    Py_ssize_t size = PyUnicode_GET_LENGTH(name);
    memcpy(label, PyUnicode_1BYTE_DATA(name), (size_t)size);
    Text first = word_at(&at, end), second = word_at(&at, end);
    if (first.size > 64 || second.size > 64 || memchr(first.from, '=', (size_t)first.size) ||
        is_text(&first, "sudo", 4) || (is_text(&first, "cd", 2)))
        return NULL;
    if (first.size) {
        label[size++] = ' ';
        memcpy(label + size, first.from, (size_t)first.size);
        size += first.size;
    }
    if (second.size && has_word(&shared.pairs, &first)) {
        label[size++] = ' ';
        memcpy(label + size, second.from, (size_t)second.size);
        size += second.size;
    }
    return PyUnicode_FromStringAndSize(label, size);
}

/* loopscan.rules.watch.Watch.shell's part on the last call of the same command. False with an exception. */
static bool show_trail(const Shown *s, PyObject *name) {
    PyObject *trails = get(s->watch, in.watch.trails), *last = PyDict_GetItemWithError(trails, name);
    if (!last)
        return !PyErr_Occurred() && PyDict_SetItem(trails, name, s->action) == 0 && at_most(trails, given.tools);
    if (is_a(last, shared.Action)) {
        int other = unlike(PyList_GET_ITEM(get(last, in.action.calls), 0), s->now->call);
        if (other)
            return other > 0 && PyDict_SetItem(trails, name, s->action) == 0;
    }
    PyObject *method = tell_turn(s->tracker, s->now->number) ? PyUnicode_FromString("_alike") : NULL;
    bool fine = method && done(PyObject_CallMethodObjArgs(s->watch, method, name, last, s->now->call, s->action, NULL));
    Py_XDECREF(method);
    return fine;
}

static bool rule_shell(const Shown *s, PyObject *rule) {
    return tell_turn(s->tracker, s->now->number) &&
           done(PyObject_CallMethod(rule, "shell", "OOO", s->line, s->action, s->watch));
}

/* loopscan.rules.idle: a line that does not begin as one that only says something. */
static bool show_idle(const Shown *s, PyObject *rule) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shared.says); i++) {
        PyObject *word = PyTuple_GET_ITEM(shared.says, i);
        if (PyUnicode_READ_CHAR(s->line, 0) == PyUnicode_READ_CHAR(word, 0) &&
            PyUnicode_Tailmatch(s->line, word, 0, PY_SSIZE_T_MAX, -1))
            return rule_shell(s, rule);
    }
    return set_number(rule, in.idle.last, 0);
}

/* loopscan.rules.growth: a line that is not the one before with more behind it. */
static bool show_growth(const Shown *s, PyObject *rule) {
    PyObject *before = get(rule, in.growth.line);
    if (!PyUnicode_CheckExact(before) ||
        (PyUnicode_GET_LENGTH(before) && PyUnicode_GET_LENGTH(s->line) > PyUnicode_GET_LENGTH(before) &&
         PyUnicode_Tailmatch(s->line, before, 0, PY_SSIZE_T_MAX, -1)))
        return rule_shell(s, rule);
    set_to(rule, in.growth.line, s->line);
    return set_number(rule, in.growth.times, 1) && set_number(rule, in.growth.first, s->now->number);
}

static bool show_shell(Shown *s) {
    PyObject *rules = get(s->watch, in.watch.shells);
    bool odd = false;
    s->line = command_of(s->now->args, &odd);
    if (PyErr_Occurred())
        return false;
    if (rules == Py_None || !PyList_CheckExact(rules) || odd)
        return whole_shell(s);
    if (!s->line || !PyUnicode_GET_LENGTH(s->line))
        return true;
    PyObject *name = label_of(s->now->name, s->line);
    if (!name && !PyErr_Occurred())
        name = PyObject_CallFunctionObjArgs(shared.label, s->now->name, s->line, NULL);
    bool fine = name && show_trail(s, name);
    Py_XDECREF(name);
    for (Py_ssize_t i = 0; fine && i < PyList_GET_SIZE(rules); i++) {
        PyObject *rule = PyList_GET_ITEM(rules, i);
        fine = is_a(rule, shared.Idle)     ? show_idle(s, rule)
               : is_a(rule, shared.Growth) ? show_growth(s, rule)
                                           : rule_shell(s, rule);
    }
    return fine;
}

/* Show a turn to the rules on shells, files and failures. False with an exception. */
bool show(PyObject *tracker, const Now *now, PyObject *action) {
    Shown s = {tracker, get(tracker, in.tracker.watch), action, NULL, now};
    if (now->what & given.shell ? !show_shell(&s) : now->what && now->says & PATH && !show_file(&s))
        return false;
    return !now->failed ||
           (tell_turn(tracker, now->number) && done(PyObject_CallMethod(s.watch, "failed", "O", action)));
}
