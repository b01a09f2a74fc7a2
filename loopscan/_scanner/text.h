/* Strings of a line as Python has them: text, hashes, and the marks that are held of a result. */

#ifndef LOOPSCAN_TEXT_H
#define LOOPSCAN_TEXT_H

#include "scan.h"

enum { BYTE = 255, HEAD = 8, TAIL = 10 };

/* What is held of a result (loopscan.late.Late). */
typedef struct {
    uint8_t head, tail, size;
} Marks;

/* Bytes that grow; `failed`: there was no memory for them. */
typedef struct {
    uint8_t *data;
    Py_ssize_t size, room;
    bool failed;
} Bytes;

static inline bool make_room(Bytes *bytes, Py_ssize_t more) {
    if (bytes->size + more > bytes->room) {
        Py_ssize_t room = 2 * (bytes->size + more) + 256;
        uint8_t *data = PyMem_Realloc(bytes->data, (size_t)room);
        if (!data)
            return !(bytes->failed = true);
        bytes->data = data;
        bytes->room = room;
    }
    return true;
}

static inline void put(Bytes *bytes, const void *data, Py_ssize_t size) {
    if (size && make_room(bytes, size)) {
        memcpy(bytes->data + bytes->size, data, (size_t)size);
        bytes->size += size;
    }
}

static inline void put_byte(Bytes *bytes, uint8_t byte) {
    put(bytes, &byte, 1);
}

/* A character as UTF-8: its bytes. */
static inline int utf8_of(uint32_t point, uint8_t out[4]) {
    if (point < 0x80) {
        out[0] = (uint8_t)point;
        return 1;
    }
    if (point < 0x800) {
        out[0] = (uint8_t)(0xC0 | point >> 6);
        out[1] = (uint8_t)(0x80 | (point & 0x3F));
        return 2;
    }
    int size = point < 0x10000 ? 3 : 4;
    out[0] = (uint8_t)(size == 3 ? 0xE0 | point >> 12 : 0xF0 | point >> 18);
    for (int i = 1; i < size; i++)
        out[i] = (uint8_t)(0x80 | (point >> 6 * (size - 1 - i) & 0x3F));
    return size;
}

/* The character of an escape that scan_text found to be one. */
static inline uint32_t escaped_point(Place at) {
    switch (at[1]) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'u': break;
    default: return at[1];
    }
    uint32_t unit = (uint32_t)unit_of(at + 2);
    if (unit < 0xD800 || unit > 0xDFFF)
        return unit;
    return 0x10000 + ((unit - 0xD800) << 10) + ((uint32_t)unit_of(at + 8) - 0xDC00);
}

/* Part of a string that was scanned, from one boundary of characters to another, without its escapes. */
static inline void put_text(Bytes *bytes, Place at, Place end) {
    while (at < end) {
        Place slash = memchr(at, '\\', (size_t)(end - at));
        put(bytes, at, (slash ? slash : end) - at);
        if (!slash)
            return;
        uint8_t utf8[4];
        put(bytes, utf8, utf8_of(escaped_point(slash), utf8));
        at = slash + escape_size(slash, end);
    }
}

/* An ASCII string of short escapes as Python has it. */
static inline PyObject *ascii_of(const Text *text) {
    PyObject *object = PyUnicode_New(text->chars, 127);
    if (!object)
        return NULL;
    Place at = text->from, end = at + text->size;
    for (uint8_t *to = PyUnicode_1BYTE_DATA(object);; at += 2) {
        Place slash = memchr(at, '\\', (size_t)(end - at));
        Py_ssize_t plain = (slash ? slash : end) - at;
        memcpy(to, at, (size_t)plain);
        if (!slash)
            return object;
        to += plain;
        *to++ = (uint8_t)escaped_point(slash);
        at = slash;
    }
}

/* A string without escapes as Python has it. */
static inline PyObject *plain_of(const Text *text) {
    if (text->wide)
        return PyUnicode_DecodeUTF8((const char *)text->from, text->size, "strict");
    PyObject *object = PyUnicode_New(text->size, 127);
    if (object && text->size)
        memcpy(PyUnicode_1BYTE_DATA(object), text->from, (size_t)text->size);
    return object;
}

/* The string as Python has it; NULL with an exception. */
static inline PyObject *object_of(const Text *text, Bytes *spare) {
    if (!text->escaped)
        return plain_of(text);
    if (!text->wide && !text->foreign && text->chars)
        return ascii_of(text);
    spare->size = 0;
    put_text(spare, text->from, text->from + text->size);
    return spare->failed ? PyErr_NoMemory() : PyUnicode_DecodeUTF8((const char *)spare->data, spare->size, "strict");
}

/* Python's hash of bytes, and of the text of the same ASCII characters. */
static inline Py_hash_t hash_of(const void *data, Py_ssize_t size) {
    static Py_hash_t (*of)(const void *, Py_ssize_t);
    if (!size)
        return 0;
    if (!of)
        of = PyHash_GetFuncDef()->hash;
    Py_hash_t hash = of(data, size);
    return hash == -1 ? -2 : hash;
}

/* Python's hash of a tuple of two things of these hashes. */
static inline Py_hash_t hash_of_two(Py_hash_t first, Py_hash_t second) {
    const uint64_t one = 11400714785074694791u, two = 14029467366897019727u, five = 2870177450012600261u;
    uint64_t sum = five, lanes[2] = {(uint64_t)first, (uint64_t)second};
    for (int i = 0; i < 2; i++) {
        sum += lanes[i] * two;
        sum = sum << 31 | sum >> 33;
        sum *= one;
    }
    sum += 2 ^ (five ^ 3527539u);
    return sum == (uint64_t)-1 ? 1546275796 : (Py_hash_t)sum;
}

/* Whether an odd number of backslashes stands before a place: what is there is escaped. */
static inline bool is_escaped(Place from, Place at) {
    Place slash = at;
    while (slash > from && slash[-1] == '\\')
        slash--;
    return (at - slash) & 1;
}

/* Where the character before a boundary of characters begins. */
static inline Place back(Place from, Place at) {
    Place last = at - 1;
    if (*last >= 0x80) {
        while (last > from && (*last & 0xC0) == 0x80)
            last--;
        return last;
    }
    int unit = at - from >= 6 && at[-5] == 'u' ? unit_of(at - 4) : -1;
    if (unit >= 0 && is_escaped(from, at - 5))
        return unit >= 0xDC00 && unit <= 0xDFFF ? at - 12 : at - 6;
    return is_escaped(from, last) ? at - 2 : last;
}

/* The low byte of the hash of a part of a string. -1 with an exception. */
static inline int part_hash(Place from, Place to, Bytes *spare) {
    bool plain = true;
    for (Place at = from; at < to && plain; at++)
        plain = *at != '\\' && *at < 0x80;
    if (plain)
        return (int)(hash_of(from, to - from) & BYTE);
    spare->size = 0;
    put_text(spare, from, to);
    PyObject *part = spare->failed ? PyErr_NoMemory()
                                   : PyUnicode_DecodeUTF8((const char *)spare->data, spare->size, "strict");
    if (!part)
        return -1;
    Py_hash_t hash = PyObject_Hash(part);
    Py_DECREF(part);
    return (int)(hash & BYTE);
}

/* Where the first and the last characters of a string that are looked at end and begin. */
static inline void ends_of(const Text *text, Place *head, Place *tail) {
    Place from = text->from, end = from + text->size, to = from, at = end;
    if (!text->escaped && !text->wide) {
        to = text->size > HEAD ? from + HEAD : end;
        at = text->size > TAIL ? end - TAIL : from;
    } else {
        for (int i = 0; i < HEAD && to < end; i++)
            to += *to == '\\' ? escape_size(to, end) : *to < 0x80 ? 1 : utf8_size(to, end);
        for (int i = 0; i < TAIL && at > from; i++)
            at = back(from, at);
    }
    *head = to;
    *tail = at;
}

/* What is held of a string. False with an exception. */
static inline bool marks_of(const Text *text, Bytes *spare, Marks *marks) {
    Place from = text->from, end = from + text->size, to, tail;
    ends_of(text, &to, &tail);
    int first = part_hash(from, to, spare), last = first < 0 ? -1 : part_hash(tail, end, spare);
    *marks = (Marks){(uint8_t)first, (uint8_t)last, (uint8_t)(text->chars & BYTE)};
    return last >= 0;
}

#endif
