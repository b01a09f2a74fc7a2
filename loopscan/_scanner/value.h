/* Values of a line as Python has them: what loopscan.decode.fast makes of the same JSON. */

#ifndef LOOPSCAN_VALUE_H
#define LOOPSCAN_VALUE_H

#include "canon.h"

enum { NAMES_KEPT = 256 };

/* Short strings that come again and again, so that there is one object for each: NULL where none was met. */
typedef struct {
    PyObject *kept[NAMES_KEPT];
} Names;

static inline void forget_names(Names *names) {
    for (int i = 0; i < NAMES_KEPT; i++)
        Py_CLEAR(names->kept[i]);
}

/* A new reference to a string without escapes; NULL with an exception. */
static inline PyObject *name_of(Names *names, const Text *text) {
    if (text->wide || text->size > 64)
        return PyUnicode_DecodeUTF8((const char *)text->from, text->size, "strict");
    uint32_t slot = (uint32_t)text->size;
    for (Py_ssize_t i = 0; i < text->size; i++)
        slot = (slot ^ text->from[i]) * 16777619u;
    PyObject **kept = &names->kept[(slot ^ slot >> 15) % NAMES_KEPT];
    if (*kept && is_text(text, (const char *)PyUnicode_1BYTE_DATA(*kept), PyUnicode_GET_LENGTH(*kept)))
        return Py_NewRef(*kept);
    PyObject *name = PyUnicode_DecodeASCII((const char *)text->from, text->size, "strict");
    if (name)
        Py_XSETREF(*kept, Py_NewRef(name));
    return name;
}

static PyObject *value_of(Cursor *c, Names *names, Bytes *spare);

static inline PyObject *object_in(Cursor *c, Names *names, Bytes *spare) {
    PyObject *found = PyDict_New();
    Text key;
    skip_white(c);
    if (!found || next_is(c, '}'))
        return found;
    for (int more = 1; more > 0;) {
        PyObject *name = NULL, *value = NULL;
        if (scan_key(c, &key) && (name = name_of(names, &key)))
            value = value_of(c, names, spare);
        bool added = value && PyDict_SetItem(found, name, value) == 0;
        Py_XDECREF(name);
        Py_XDECREF(value);
        if (!added || (more = goes_on(c, '}')) < 0) {
            Py_DECREF(found);
            return NULL;
        }
    }
    return found;
}

static inline PyObject *array_in(Cursor *c, Names *names, Bytes *spare) {
    PyObject *found = PyList_New(0);
    skip_white(c);
    if (!found || next_is(c, ']'))
        return found;
    for (int more = 1; more > 0;) {
        skip_white(c);
        PyObject *value = value_of(c, names, spare);
        bool added = value && PyList_Append(found, value) == 0;
        Py_XDECREF(value);
        if (!added || (more = goes_on(c, ']')) < 0) {
            Py_DECREF(found);
            return NULL;
        }
    }
    return found;
}

static inline PyObject *number_in_text(Cursor *c) {
    char digits[32];
    bool whole;
    Place from = c->at;
    if (!scan_number(c, &whole) || c->at - from >= (Py_ssize_t)sizeof digits)
        return NULL;
    memcpy(digits, from, (size_t)(c->at - from));
    digits[c->at - from] = 0;
    if (whole && c->at - from < 18) {
        int64_t number = 0;
        for (const char *digit = digits + (*from == '-'); *digit; digit++)
            number = 10 * number + (*digit - '0');
        return PyLong_FromLongLong(*from == '-' ? -number : number);
    }
    if (whole)
        return PyLong_FromString(digits, NULL, 10);
    double number = PyOS_string_to_double(digits, NULL, NULL);
    return number == -1.0 && PyErr_Occurred() ? NULL : PyFloat_FromDouble(number);
}

/* A value of which there is a canonical text (put_canonical was FINE with it); NULL with an exception. */
static PyObject *value_of(Cursor *c, Names *names, Bytes *spare) {
    Text text;
    if (c->at >= c->end)
        return NULL;
    switch (*c->at) {
    case '"':
        c->at++;
        return scan_text(c, &text) ? object_of(&text, spare) : NULL;
    case '{':
        c->at++;
        return object_in(c, names, spare);
    case '[':
        c->at++;
        return array_in(c, names, spare);
    case 't':
        return scan_word(c, "true", 4) ? Py_NewRef(Py_True) : NULL;
    case 'f':
        return scan_word(c, "false", 5) ? Py_NewRef(Py_False) : NULL;
    case 'n':
        return scan_word(c, "null", 4) ? Py_NewRef(Py_None) : NULL;
    default:
        return number_in_text(c);
    }
}

/* Arguments that were read; NULL with an exception. */
static inline PyObject *arguments_of(const Arguments *arguments, Names *names, Bytes *spare) {
    Cursor whole = arguments->whole;
    if (arguments->count < 0)
        return value_of(&whole, names, spare);
    PyObject *found = PyDict_New();
    for (int i = 0; found && i < arguments->count; i++) {
        const Argument *argument = &arguments->each[i];
        Cursor c = argument->value;
        PyObject *name = name_of(names, &argument->key);
        PyObject *value = argument->worded ? object_of(&argument->text, spare) : value_of(&c, names, spare);
        if (!name || !value || PyDict_SetItem(found, name, value) < 0)
            Py_CLEAR(found);
        Py_XDECREF(name);
        Py_XDECREF(value);
    }
    return found;
}

#endif
