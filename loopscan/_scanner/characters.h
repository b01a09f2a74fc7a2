/* Characters as they stand in strings of JSON: escapes, and UTF-8 beyond ASCII. */

#ifndef LOOPSCAN_CHARACTERS_H
#define LOOPSCAN_CHARACTERS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef const uint8_t *Place;

static inline int hex_of(uint8_t c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The number of four hexadecimal digits, -1 where they are none. */
static inline int unit_of(Place at) {
    int unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_of(at[i]);
        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

/* Letters of short escapes. */
static const bool SHORT[256] = {['"'] = 1, ['\\'] = 1, ['/'] = 1, ['b'] = 1, ['f'] = 1, ['n'] = 1, ['r'] = 1, ['t'] = 1};

/* An escape, from its backslash on: its bytes, 0 where it is none. A pair of surrogates is one. */
static inline int escape_size(Place at, Place end) {
    if (end - at < 2)
        return 0;
    switch (at[1]) {
    case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't':
        return 2;
    case 'u':
        break;
    default:
        return 0;
    }
    int unit = end - at < 6 ? -1 : unit_of(at + 2);
    if (unit < 0 || (unit >= 0xDC00 && unit <= 0xDFFF))
        return 0;
    if (unit < 0xD800 || unit > 0xDBFF)
        return 6;
    if (end - at < 12 || at[6] != '\\' || at[7] != 'u')
        return 0;
    unit = unit_of(at + 8);
    return unit >= 0xDC00 && unit <= 0xDFFF ? 12 : 0;
}

/* The bytes of one character of UTF-8 beyond ASCII, 0 where they are none (RFC 3629). */
static inline int utf8_size(Place at, Place end) {
    uint8_t a = at[0];
    Py_ssize_t left = end - at;
    if (a >= 0xC2 && a <= 0xDF)
        return left >= 2 && (at[1] & 0xC0) == 0x80 ? 2 : 0;
    if (left < 3 || (at[1] & 0xC0) != 0x80 || (at[2] & 0xC0) != 0x80)
        return 0;
    if ((a & 0xF0) == 0xE0)
        return (a == 0xE0 && at[1] < 0xA0) || (a == 0xED && at[1] > 0x9F) ? 0 : 3;
    if (a < 0xF0 || a > 0xF4 || left < 4 || (at[3] & 0xC0) != 0x80)
        return 0;
    return (a == 0xF0 && at[1] < 0x90) || (a == 0xF4 && at[1] > 0x8F) ? 0 : 4;
}

/* The bytes of well-formed UTF-8 that go on a character, -1 where it is not well-formed. */
static inline Py_ssize_t utf8_rest(Place at, Place end) {
    Py_ssize_t rest = 0;
    while (at < end) {
#ifdef __SSE2__
        if (end - at >= 16) {
            int high = _mm_movemask_epi8(_mm_loadu_si128((const __m128i *)at));
            at += high ? __builtin_ctz((unsigned)high) : 16;
            if (!high)
                continue;
        }
#endif
        if (*at < 0x80) {
            at++;
            continue;
        }
        int size = utf8_size(at, end);
        if (!size)
            return -1;
        rest += size - 1;
        at += size;
    }
    return rest;
}

#endif
