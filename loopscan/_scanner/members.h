/* Objects of which some members say something; all others are passed over. */

#ifndef LOOPSCAN_MEMBERS_H
#define LOOPSCAN_MEMBERS_H

#include "scan.h"

/* What may stand under a key. WORD: text or null. FLAG: true, false or null. OFF: false or null. GONE: null. */
typedef enum { WORD, FLAG, OFF, GONE, OWN } Kind;

/* A key that says something; all others are passed over. */
typedef struct {
    const char *key;
    uint8_t size;
    uint8_t kind;
} Known;

#define KEY(word, kind) {word, sizeof word - 1, kind}

typedef int (*Take)(Cursor *c, int at, void *into);

/* An object: what stands under its known keys goes to `take`. */
static inline int read_object(Cursor *c, const Known *known, int count, Take take, void *into, unsigned *seen) {
    Text key, text;
    int guess = 0;
    *seen = 0;
    if (!next_is(c, '{'))
        return ODD;
    skip_white(c);
    if (next_is(c, '}'))
        return FINE;
    for (int more = 1; more;) {
        if (!scan_key(c, &key) || key.escaped || c->at >= c->end)
            return ODD;
        int at = -1;
        for (int i = 0; i < count && at < 0; i++, guess = guess + 1 < count ? guess + 1 : 0)
            if (is_text(&key, known[guess].key, known[guess].size))
                at = guess;
        int kind = at < 0 ? OWN : known[at].kind;
        if (at >= 0 && *seen >> at & 1)
            return ODD;
        *seen |= at < 0 ? 0 : 1u << at;
        if (at < 0 || (*c->at == 'n' && kind != OWN)) {
            if (!skip_value(c, 1))
                return ODD;
        } else if (kind == WORD) {
            if (!next_is(c, '"') || !scan_text(c, &text))
                return ODD;
        } else if (kind == GONE || (kind == OFF && *c->at != 'f') || !take(c, at, into)) {
            return ODD;
        }
        if ((more = goes_on(c, '}')) < 0)
            return ODD;
    }
    return FINE;
}

/* A string that is not empty, without escapes. */
static inline int read_id(Cursor *c, Text *text) {
    return next_is(c, '"') && scan_text(c, text) && text->size && !text->escaped;
}

/* A count of tokens; -1 for null. */
static inline int read_count(Cursor *c, int64_t *count) {
    Place from = c->at;
    bool whole;
    *count = -1;
    if (from < c->end && *from == 'n')
        return scan_word(c, "null", 4);
    if (!scan_number(c, &whole) || !whole || *from == '-' || c->at - from > DIGITS)
        return ODD;
    *count = 0;
    for (Place at = from; at < c->at; at++)
        *count = 10 * *count + (*at - '0');
    return FINE;
}

#endif
