/* What the compiled part has of the Python one: names of tools, fields of structs, sets of words. */

#ifndef LOOPSCAN_NAMES_H
#define LOOPSCAN_NAMES_H

#include "canon.h"

enum { TOOLS_KEPT = 512, WORDS_MOST = 64 };

/* A tool by the bytes of its name. `kind`: as loopscan.rules.tools.kind tells it. */
typedef struct {
    PyObject *name;
    Py_hash_t hash;
    long kind;
} Tool;

/* Words by their length: whether a key is one of them is asked for every member of every argument. */
typedef struct {
    char word[WORDS_MOST][24];
    uint8_t size[WORDS_MOST];
    uint32_t sizes; /* a bit for each length that there is */
    int count;
} Words;

/* What `setup` was given. */
typedef struct {
    PyObject *kind, *seconds, *ident, *late;
    Words paths, asked;
    long shell, gap, tools, part, listed, plain;
    Tool known[TOOLS_KEPT];
    Bytes spare, canon;
    Arguments arguments;
} Given;

extern Given given;

bool read_words(PyObject *given_words, Words *words);

static inline bool has_word(const Words *words, const Text *key) {
    if (key->size > 23 || !(words->sizes >> key->size & 1))
        return false;
    for (int i = 0; i < words->count; i++)
        if (words->size[i] == key->size && bytes_equal(words->word[i], key->from, key->size))
            return true;
    return false;
}

/* Where a field of a msgspec struct stands in its objects; -1 with an exception. */
static inline Py_ssize_t field_place(PyObject *type, const char *name) {
    PyObject *member = PyObject_GetAttrString(type, name);
    if (!member)
        return -1;
    Py_ssize_t place = -1;
    if (Py_IS_TYPE(member, &PyMemberDescr_Type) && ((PyMemberDescrObject *)member)->d_member->offset > 0)
        place = ((PyMemberDescrObject *)member)->d_member->offset;
    else
        PyErr_Format(PyExc_TypeError, "%s is no field", name);
    Py_DECREF(member);
    return place;
}

static inline PyObject **field_at(PyObject *object, Py_ssize_t place) {
    return (PyObject **)((char *)object + place);
}

/* Put a value, of which a reference is taken over, into a field. */
static inline void set_field(PyObject *object, Py_ssize_t place, PyObject *value) {
    PyObject **field = field_at(object, place), *old = *field;
    *field = value;
    Py_XDECREF(old);
}

/* The tool of a name; NULL with an exception. */
static inline const Tool *tool_of(const Text *text) {
    uint64_t slot = (uint64_t)text->size;
    for (Py_ssize_t i = 0; i < text->size; i++)
        slot = (slot ^ text->from[i]) * 1099511628211u;
    Tool *tool = &given.known[(slot ^ slot >> 32) % TOOLS_KEPT];
    if (tool->name) {
        Py_ssize_t size;
        const char *known = PyUnicode_AsUTF8AndSize(tool->name, &size);
        if (!known)
            return NULL;
        if (is_text(text, known, size))
            return tool;
    }
    PyObject *name = PyUnicode_DecodeUTF8((const char *)text->from, text->size, "strict");
    if (!name)
        return NULL;
    PyUnicode_InternInPlace(&name);
    PyObject *kind = PyObject_CallOneArg(given.kind, name);
    long number = kind ? PyLong_AsLong(kind) : -1;
    Py_XDECREF(kind);
    if (number == -1 && PyErr_Occurred()) {
        Py_DECREF(name);
        return NULL;
    }
    Py_XSETREF(tool->name, name);
    tool->hash = PyObject_Hash(name);
    tool->kind = number;
    return tool;
}

/* What the members of arguments are called. `odd`: they are no object, or one of unusual names. */
typedef struct {
    bool odd, paths, asked;
} Named;

static inline Named names_of(Cursor c) {
    Named named = {0};
    Text key;
    if (!next_is(&c, '{'))
        return (Named){.odd = true};
    skip_white(&c);
    if (next_is(&c, '}'))
        return named;
    for (int more = 1; more;) {
        if (!scan_key(&c, &key) || key.escaped)
            return (Named){.odd = true};
        named.paths |= has_word(&given.paths, &key);
        named.asked |= has_word(&given.asked, &key);
        if (!skip_value(&c, 2) || (more = goes_on(&c, '}')) < 0)
            return (Named){.odd = true};
    }
    return named;
}

/* The same of arguments whose canonical text is made on the way, where that can be: then `formed`. */
static inline Named read_names(Cursor args, bool *formed) {
    Arguments *read = &given.arguments;
    *formed = read_arguments(&args, read) && read->count >= 0;
    if (!*formed)
        return names_of(read->whole);
    Named named = {0};
    for (int i = 0; i < read->count; i++) {
        named.paths |= has_word(&given.paths, &read->each[i].key);
        named.asked |= has_word(&given.asked, &read->each[i].key);
    }
    return named;
}

/* The ident of a call of arguments (loopscan.key). False with an exception. */
static inline bool ident_of(const Tool *tool, Cursor args, int64_t *ident) {
    Cursor c = args;
    given.canon.size = 0;
    given.canon.failed = false;
    if (put_canonical(&given.canon, &c, 0)) {
        *ident = hash_of_two(tool->hash, hash_of(given.canon.data, given.canon.size));
        return true;
    }
    PyObject *found = PyObject_CallFunction(given.ident, "Oy#", tool->name, args.at, args.end - args.at);
    if (!found)
        return false;
    *ident = PyLong_AsLongLong(found);
    Py_DECREF(found);
    return *ident != -1 || !PyErr_Occurred();
}

/* The same of arguments that were read last by `read_names`. */
static inline bool ident_read(const Tool *tool, Cursor args, bool formed, int64_t *ident) {
    if (!formed)
        return ident_of(tool, args, ident);
    *ident = hash_of_two(tool->hash, hash_of(given.arguments.form.data, given.arguments.form.size));
    return true;
}

#endif
