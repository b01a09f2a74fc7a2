/* Strings of JSON in place: where they end, what stands in them, and whether all of it is what it should be. */

#ifndef LOOPSCAN_QUOTED_H
#define LOOPSCAN_QUOTED_H

#include "characters.h"

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

/* Whether two runs of bytes are the same; names are short, and a call costs more than to compare them. */
static inline bool bytes_equal(const void *a, const void *b, Py_ssize_t size) {
    const char *first = a, *second = b;
    if (size > 16)
        return !memcmp(first, second, (size_t)size);
    if (size >= 8) {
        uint64_t parts[4];
        memcpy(&parts[0], first, 8);
        memcpy(&parts[1], second, 8);
        memcpy(&parts[2], first + size - 8, 8);
        memcpy(&parts[3], second + size - 8, 8);
        return parts[0] == parts[1] && parts[2] == parts[3];
    }
    for (Py_ssize_t i = 0; i < size; i++)
        if (first[i] != second[i])
            return false;
    return true;
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

/* What was met of a string so far. */
typedef struct {
    Place at;
    Py_ssize_t escapes; /* bytes of escapes beyond one for each */
    bool escaped, wide, foreign;
} Met;

/* Pass over an escape; ODD where it is none. */
static inline int pass_escape(Met *met, Place end) {
    int size = end - met->at >= 2 && SHORT[met->at[1]] ? 2 : escape_size(met->at, end);
    met->escaped = true;
    met->foreign |= size > 2 || (size && met->at[1] == '/');
    met->escapes += size - 1;
    met->at += size;
    return size;
}

#ifdef __SSE2__
/* A bit for each of 64 bytes that ends a run of plain characters, and for each that is beyond ASCII. */
static inline uint64_t ends_in(Place at, uint64_t *high) {
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), space = _mm_set1_epi8(0x1F);
    uint64_t found = 0, wide = 0;
    for (int i = 0; i < 4; i++) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)at + i);
        __m128i ends = _mm_or_si128(
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, slash)),
            _mm_cmpeq_epi8(_mm_min_epu8(bytes, space), bytes));
        found |= (uint64_t)_mm_movemask_epi8(ends) << 16 * i;
        wide |= (uint64_t)_mm_movemask_epi8(bytes) << 16 * i;
    }
    *high = wide;
    return found;
}

/* Pass over whole blocks of a string of which the end is not near; what is left is less than a block, or the end. */
static inline int pass_blocks(Met *met, Place end) {
    while (end - met->at >= 64) {
        Place from = met->at;
        uint64_t high, ends = ends_in(from, &high);
        met->at = from + 64;
        while (ends) {
            int i = __builtin_ctzll(ends);
            if (from[i] == '"' || i == 63 || !SHORT[from[i + 1]] || from[i] != '\\') {
                met->wide |= (high & ((1ull << i) - 1)) != 0;
                met->at = from + i;
                if (from[i] == '"' || from[i] < 0x20)
                    return FINE;
                high = 0;
                if (!pass_escape(met, end))
                    return ODD;
                break;
            }
            met->escaped = true;
            met->foreign |= from[i + 1] == '/';
            met->escapes++;
            ends &= ~(3ull << i);
        }
        met->wide |= high != 0;
    }
    return FINE;
}
#endif

/* Whether there is a faster way for strings of which the end is not near, and what it is. */
bool have_long(void);
int scan_long(Cursor *c, Text *text);
extern bool use_long;

/* A string, behind its opening quote. */
static inline int scan_text(Cursor *c, Text *text) {
    Place end = c->end;
    Met met = {.at = c->at};
    met.at = plain_end(met.at, end - met.at > 16 ? met.at + 16 : end, &met.wide);
    if (met.at < end && *met.at == '"' && !met.wide) { /* as nearly all are */
        *text = (Text){.from = c->at, .size = met.at - c->at, .chars = met.at - c->at};
        c->at = met.at + 1;
        return FINE;
    }
    if (use_long)
        return scan_long(c, text);
#ifdef __SSE2__
    if (!pass_blocks(&met, end))
        return ODD;
#endif
    for (;;) {
        met.at = plain_end(met.at, end, &met.wide);
        if (met.at >= end || *met.at < 0x20)
            return ODD;
        if (*met.at == '"')
            break;
        if (!pass_escape(&met, end))
            return ODD;
    }
    *text = (Text){c->at, met.at - c->at, 0, met.escaped, met.wide, met.foreign};
    Py_ssize_t rest = text->wide ? utf8_rest(text->from, met.at) : 0;
    if (rest < 0)
        return ODD;
    text->chars = text->size - met.escapes - rest;
    c->at = met.at + 1;
    return FINE;
}

#endif
