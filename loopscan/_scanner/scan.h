/* JSON in place: where the values of a line begin and end, and whether all of it is what it should be.

   Everything here is strict. What is damaged, or unusual in a way that only a few logs are (numbers with exponents,
   lone surrogates, deep nesting), is ODD, and left to the decoders of loopscan.decode, which know what to make of it. */

#ifndef LOOPSCAN_SCAN_H
#define LOOPSCAN_SCAN_H

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

/* What is left of a line. */
typedef struct {
    Place at, end;
} Cursor;

/* A string between its quotes. */
typedef struct {
    Place from;
    Py_ssize_t size;  /* bytes as they stand in the line */
    Py_ssize_t chars; /* characters it stands for */
    bool escaped;     /* holds escapes */
    bool wide;        /* holds bytes beyond ASCII */
    bool foreign;     /* holds escapes that the canonical form writes in another way */
} Text;

enum { ODD = 0, FINE = 1 };
enum { DEEPEST = 64, DIGITS = 15 };

static inline void skip_white(Cursor *c) {
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t' || *c->at == '\r'))
        c->at++;
}

static inline bool next_is(Cursor *c, uint8_t wanted) {
    if (c->at < c->end && *c->at == wanted) {
        c->at++;
        return true;
    }
    return false;
}

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

/* The first byte from `at` on that ends a run of plain characters: a quote, a backslash, a control character. */
static inline Place plain_end(Place at, Place end, bool *wide) {
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), space = _mm_set1_epi8(0x1F);
    while (end - at >= 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)at);
        __m128i ends = _mm_or_si128(
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, slash)),
            _mm_cmpeq_epi8(_mm_min_epu8(bytes, space), bytes));
        int found = _mm_movemask_epi8(ends), high = _mm_movemask_epi8(bytes);
        if (found) {
            int skipped = __builtin_ctz((unsigned)found);
            *wide |= (high & ((1 << skipped) - 1)) != 0;
            return at + skipped;
        }
        *wide |= high != 0;
        at += 16;
    }
#endif
    while (at < end && *at != '"' && *at != '\\' && *at >= 0x20)
        *wide |= *at++ >= 0x80;
    return at;
}

/* The bytes of well-formed UTF-8 that go on a character, -1 where it is not well-formed. */
static inline Py_ssize_t utf8_rest(Place at, Place end) {
    Py_ssize_t rest = 0;
    while (at < end) {
#ifdef __SSE2__
        if (end - at >= 16 && !_mm_movemask_epi8(_mm_loadu_si128((const __m128i *)at))) {
            at += 16;
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

/* A string, behind its opening quote. */
static inline int scan_text(Cursor *c, Text *text) {
    Place at = c->at;
    Py_ssize_t escapes = 0;
    *text = (Text){.from = at};
    for (;;) {
        at = plain_end(at, c->end, &text->wide);
        if (at >= c->end || *at < 0x20)
            return ODD;
        if (*at == '"')
            break;
        int size = escape_size(at, c->end);
        if (!size)
            return ODD;
        text->escaped = true;
        text->foreign |= size > 2 || at[1] == '/';
        escapes += size - 1;
        at += size;
    }
    text->size = at - text->from;
    Py_ssize_t rest = text->wide ? utf8_rest(text->from, at) : 0;
    if (rest < 0)
        return ODD;
    text->chars = text->size - escapes - rest;
    c->at = at + 1;
    return FINE;
}

/* A number without an exponent. `whole`: whether it is an integer. */
static inline int scan_number(Cursor *c, bool *whole) {
    Place at = c->at, end = c->end;
    if (at < end && *at == '-')
        at++;
    Place digits = at;
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    if (at == digits || (*digits == '0' && at - digits > 1) || at - digits > 300)
        return ODD;
    *whole = true;
    if (at < end && *at == '.') {
        Place decimals = ++at;
        while (at < end && *at >= '0' && *at <= '9')
            at++;
        if (at == decimals || at - decimals > 300)
            return ODD;
        *whole = false;
    }
    if (at < end && (*at == 'e' || *at == 'E'))
        return ODD;
    c->at = at;
    return FINE;
}

static inline int scan_word(Cursor *c, const char *word, Py_ssize_t size) {
    if (c->end - c->at < size || memcmp(c->at, word, (size_t)size))
        return ODD;
    c->at += size;
    return FINE;
}

/* The key of a member and its colon, where an object goes on. */
static inline int scan_key(Cursor *c, Text *key) {
    skip_white(c);
    if (!next_is(c, '"') || !scan_text(c, key))
        return ODD;
    skip_white(c);
    if (!next_is(c, ':'))
        return ODD;
    skip_white(c);
    return FINE;
}

/* Behind a value: whether the container goes on (1), ends (0), or neither (-1). */
static inline int goes_on(Cursor *c, uint8_t close) {
    skip_white(c);
    if (next_is(c, ','))
        return 1;
    return next_is(c, close) ? 0 : -1;
}

/* Any value, passed over. */
static int skip_value(Cursor *c, int depth) {
    Text text;
    bool whole;
    if (c->at >= c->end || depth > DEEPEST)
        return ODD;
    switch (*c->at) {
    case '"':
        c->at++;
        return scan_text(c, &text);
    case 't':
        return scan_word(c, "true", 4);
    case 'f':
        return scan_word(c, "false", 5);
    case 'n':
        return scan_word(c, "null", 4);
    case '{':
    case '[': {
        uint8_t close = *c->at == '{' ? '}' : ']';
        c->at++;
        skip_white(c);
        if (next_is(c, close))
            return FINE;
        for (int more = 1; more;) {
            if (close == '}') {
                if (!scan_key(c, &text))
                    return ODD;
            } else {
                skip_white(c);
            }
            if (!skip_value(c, depth + 1) || (more = goes_on(c, close)) < 0)
                return ODD;
        }
        return FINE;
    }
    default:
        return scan_number(c, &whole);
    }
}

static inline bool is_text(const Text *text, const char *other, Py_ssize_t size) {
    return text->size == size && !memcmp(text->from, other, (size_t)size);
}

#endif
