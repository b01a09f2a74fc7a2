/* What a call asked for, as loopscan.key reads it, and whether its result can be like another. */

#include "turns.h"

/* What the name of an argument says; -1 with an exception. */
long says_of(PyObject *name) {
    if (!PyUnicode_CheckExact(name))
        return 0;
    Key *key = &shared.known[((uintptr_t)name >> 4) % KEYS_KEPT];
    if (key->name == name)
        return key->says;
    PyObject *says = PyDict_GetItemWithError(shared.words, name);
    long told = says ? PyLong_AsLong(says) : 0;
    if (PyErr_Occurred())
        return -1;
    if (PyUnicode_GET_LENGTH(name) < 32) {
        Py_XSETREF(key->name, Py_NewRef(name));
        key->says = told;
    }
    return told;
}

/* Look through the names of arguments: what they say, and the file that is named first. False with an exception. */
static bool look_through(Now *now) {
    PyObject *name, *value;
    Py_ssize_t place = 0;
    now->says = 0, now->path = NULL;
    while (PyDict_Next(now->args, &place, &name, &value)) {
        long says = says_of(name);
        if (says < 0)
            return false;
        if (says & PATH && !now->path && PyUnicode_CheckExact(value))
            now->path = value;
        now->says |= says;
    }
    return true;
}

/* Whether a path may be spelt in another way. */
static bool is_odd_path(PyObject *path) {
    Py_ssize_t size;
    const char *text = PyUnicode_IS_COMPACT_ASCII(path) ? PyUnicode_AsUTF8AndSize(path, &size) : NULL;
    if (!text)
        return true;
    if (size && text[size - 1] == '/')
        return true;
    for (Py_ssize_t i = 0; i < size; i++)
        if (text[i] == '\\' || (text[i] == '/' && i && (text[i - 1] == '/' || text[i - 1] == '.')))
            return true;
    return false;
}

/* Whether one of the paths of arguments may be spelt in another way. */
static bool has_odd_path(PyObject *args) {
    PyObject *name, *value;
    Py_ssize_t place = 0;
    while (PyDict_Next(args, &place, &name, &value))
        if (says_of(name) & PATH && PyUnicode_CheckExact(value) && is_odd_path(value))
            return true;
    return false;
}

/* Leave out the arguments that are called so. False with an exception. */
static bool leave_out(Now *now, PyObject *names) {
    PyObject *kept = NULL, *name, *value;
    Py_ssize_t place = 0;
    int dropped = 0;
    while (dropped >= 0 && PyDict_Next(now->args, &place, &name, &value))
        if ((dropped = PySet_Contains(names, name)))
            break;
    if (dropped <= 0)
        return dropped == 0;
    if (!(kept = PyDict_New()))
        return false;
    for (place = 0; PyDict_Next(now->args, &place, &name, &value);) {
        dropped = PySet_Contains(names, name);
        if (dropped < 0 || (!dropped && PyDict_SetItem(kept, name, value) < 0)) {
            Py_DECREF(kept);
            return false;
        }
    }
    Py_SETREF(now->args, kept);
    return true;
}

static bool set_args(Now *now, PyObject *args) {
    if (args)
        Py_XSETREF(now->args, args);
    return args != NULL;
}

/* Arguments that are text: read as an object where they hold one. False with an exception. */
static bool read_worded(PyObject *keyer, Now *now) {
    if (!PyUnicode_GET_LENGTH(now->args) || PyUnicode_READ_CHAR(now->args, 0) != '{')
        return true;
    PyObject *args = PyObject_CallOneArg(shared.fast, now->args);
    if (args)
        return set_args(now, args);
    if (!PyErr_ExceptionMatches(shared.fast_errors))
        return false;
    PyErr_Clear();
    return set_args(now, PyObject_CallMethod(keyer, "read", "OO", now->name, now->args));
}

/* The arguments of a call as its ident has them. False with an exception. */
bool read_args(PyObject *keyer, Now *now) {
    now->args = Py_NewRef(get(now->call, in.call.args));
    now->says = 0, now->path = NULL;
    if (PyUnicode_CheckExact(now->args) && !read_worded(keyer, now))
        return false;
    PyObject *cosmetic = get(keyer, in.keyer.cosmetic), *names = NULL;
    bool plain = PyDict_CheckExact(now->args) && PyDict_CheckExact(cosmetic);
    if (plain && (names = PyDict_GetItemWithError(cosmetic, now->name)))
        plain = PyAnySet_Check(names);
    if (PyErr_Occurred())
        return false;
    if (!plain || get(keyer, in.keyer.special) != Py_False) {
        if (!set_args(now, PyObject_CallMethod(keyer, "read", "OO", now->name, now->args)))
            return false;
        return !PyDict_CheckExact(now->args) || look_through(now);
    }
    if ((names && !leave_out(now, names)) || !look_through(now))
        return false;
    if (!(now->says & PATH) || !has_odd_path(now->args))
        return true;
    return set_args(now, PyObject_CallOneArg(shared.spelt, now->args)) && look_through(now);
}

/* The ident of a call. False with an exception. */
bool tell_ident(Now *now) {
    if (now->late && now->args == get(now->call, in.call.args)) {
        PyObject *ident = get(now->call, in.late.ident);
        if (ident != Py_None) {
            now->ident = Py_NewRef(ident);
            return true;
        }
    }
    PyObject *const given[] = {now->args, Py_None, shared.sorted};
    PyObject *text = PyObject_Vectorcall(shared.dumps, given, 3, NULL);
    if (text && PyBytes_CheckExact(text)) {
        Py_hash_t name = PyObject_Hash(now->name), form = hash_of(PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text));
        now->ident = PyLong_FromSsize_t(hash_of_two(name, form));
    } else if (text || PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        now->ident = PyObject_CallFunctionObjArgs(shared.hashed, now->name, now->args, NULL);
    }
    Py_XDECREF(text);
    return now->ident != NULL;
}

static bool same_bytes(PyObject *one, PyObject *other) {
    Py_ssize_t size = PyBytes_GET_SIZE(one);
    return size == PyBytes_GET_SIZE(other) && !memcmp(PyBytes_AS_STRING(one), PyBytes_AS_STRING(other), (size_t)size);
}

static bool is_quoted(PyObject *head) {
    return PyBytes_GET_SIZE(head) && *PyBytes_AS_STRING(head) == '"';
}

/* The characters of a result that is text and was not looked at yet; -1 = it is none, or they are not told. */
static Py_ssize_t raw_chars(PyObject *call) {
    PyObject *raw = get(call, in.late.raw);
    Text text;
    if (!PyBytes_CheckExact(raw))
        return -1;
    Cursor c = {(Place)PyBytes_AS_STRING(raw), (Place)PyBytes_AS_STRING(raw) + PyBytes_GET_SIZE(raw)};
    return next_is(&c, '"') && scan_text(&c, &text) && c.at == c.end ? text.chars : -1;
}

/* LateCall.unlike: told by the JSON alone; of the same size, by the characters that it stands for. */
static bool late_unlike(PyObject *before, PyObject *call) {
    PyObject *head = get(before, in.late.head), *other = get(call, in.late.head);
    PyObject *tail = get(before, in.late.tail), *end = get(call, in.late.tail);
    int64_t size, length;
    if (!PyBytes_CheckExact(head) || !PyBytes_CheckExact(other) || !PyBytes_CheckExact(tail) || !PyBytes_CheckExact(end))
        return false;
    if (!is_quoted(head) || !is_quoted(other) || same_bytes(head, other) || same_bytes(tail, end) ||
        !integer(get(before, in.late.size), &size) || !integer(get(call, in.late.size), &length))
        return false;
    if (size != length || size > 12 * given.listed + 1)
        return true;
    Py_ssize_t chars = raw_chars(call);
    if (chars >= given.listed)
        return true;
    return chars >= 0 && (size = raw_chars(before)) >= 0 && size != chars;
}

/* Whether parts of two texts are the same, which begin so far from their start. */
static bool same_part(PyObject *one, Py_ssize_t from, PyObject *other, Py_ssize_t at, Py_ssize_t size) {
    for (Py_ssize_t i = 0; i < size; i++)
        if (PyUnicode_READ_CHAR(one, from + i) != PyUnicode_READ_CHAR(other, at + i))
            return false;
    return true;
}

static inline Py_ssize_t least(Py_ssize_t a, Py_ssize_t b) {
    return a < b ? a : b;
}

/* loopscan.rules.likeness.unlike of two texts. */
static bool texts_unlike(PyObject *one, PyObject *other) {
    Py_ssize_t size = PyUnicode_GET_LENGTH(one), length = PyUnicode_GET_LENGTH(other);
    Py_ssize_t head = least(size, HEAD), tail = least(size, TAIL);
    return (size != length || size >= given.listed) &&
           (head != least(length, HEAD) || !same_part(one, 0, other, 0, head)) &&
           (tail != least(length, TAIL) || !same_part(one, size - tail, other, length - tail, tail));
}

/* loopscan.rules.likeness.unlike: whether the results of two calls are so; -1 with an exception. */
int unlike(PyObject *before, PyObject *call) {
    if (is_a(before, shared.LateCall) && is_a(call, shared.LateCall) && late_unlike(before, call))
        return 1;
    if (is_a(before, shared.Call) && is_a(call, shared.Call)) {
        PyObject *one = get(before, in.call.result), *other = get(call, in.call.result);
        return PyUnicode_CheckExact(one) && PyUnicode_CheckExact(other) && texts_unlike(one, other);
    }
    PyObject *told = PyObject_CallFunctionObjArgs(shared.unlike, before, call, NULL);
    int is_so = told ? PyObject_IsTrue(told) : -1;
    Py_XDECREF(told);
    return is_so;
}
