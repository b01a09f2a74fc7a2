/* A line of a native log that holds a usual turn (loopscan.row), as it stands in the log. */

#ifndef LOOPSCAN_ROW_H
#define LOOPSCAN_ROW_H

#include "canon.h"

/* What a member of a line says. NEVER: a usual line has none of that name; ROLES: nothing. */
typedef enum { RUN, NAME, ARGS, RESULT, TURN, TS, ERROR, MODEL, SENT, OUTPUT, NEVER, ROLES } Role;

typedef struct {
    uint8_t *member; /* as most lines begin it: quotes and colon about the key */
    Py_ssize_t size; /* of the key */
    Role role;
    bool plain; /* the key stands for itself */
} Field;

/* The members of the lines of one log. `needed`: a bit for each role that a usual line must have. */
typedef struct {
    Field *fields;
    int count;
    unsigned needed;
} Layout;

typedef struct {
    Text run, name, result, ts, model;
    Cursor args;
    bool has_model, has_ts, error, worded; /* worded: the result is text */
    int64_t number;
    uint32_t sent, output;
    uint32_t plain; /* the most tokens of a usual turn */
} Row;

/* The role of a member; `*guess` is where it is looked for first. */
static inline Role role_of(const Layout *layout, const Text *key, int *guess) {
    for (int i = 0; i < layout->count; i++) {
        int at = *guess + i < layout->count ? *guess + i : *guess + i - layout->count;
        const Field *field = &layout->fields[at];
        if (field->size == key->size && bytes_equal(field->member + 1, key->from, key->size)) {
            *guess = at + 1 < layout->count ? at + 1 : 0;
            return field->role;
        }
    }
    return ROLES;
}

static inline int read_text(Cursor *c, Text *text) {
    return next_is(c, '"') && scan_text(c, text);
}

/* An integer of at most 18 digits. */
static inline int read_integer(Cursor *c, int64_t *value) {
    Place from = c->at;
    bool whole, minus = from < c->end && *from == '-';
    if (!scan_number(c, &whole) || !whole || c->at - from > 18)
        return ODD;
    int64_t sum = 0;
    for (Place at = from + minus; at < c->at; at++)
        sum = 10 * sum + (*at - '0');
    *value = minus ? -sum : sum;
    return FINE;
}

static inline int read_tokens(Cursor *c, const Row *row, uint32_t *tokens) {
    int64_t value;
    if (!read_integer(c, &value) || value < 0 || value > row->plain)
        return ODD;
    *tokens = (uint32_t)value;
    return FINE;
}

static inline bool is_null(Cursor *c) {
    return c->at < c->end && *c->at == 'n';
}

static inline int read_member(Cursor *c, Row *row, Role role) {
    switch (role) {
    case RUN:
        return read_text(c, &row->run) && row->run.size;
    case NAME:
        return read_text(c, &row->name);
    case ARGS:
        row->args.at = c->at;
        if (!skip_value(c, 1))
            return ODD;
        row->args.end = c->at;
        return FINE;
    case RESULT:
        row->worded = c->at < c->end && *c->at == '"';
        return row->worded ? read_text(c, &row->result) : skip_value(c, 1);
    case TURN:
        return read_integer(c, &row->number);
    case TS:
        row->has_ts = true;
        return read_text(c, &row->ts);
    case ERROR:
        row->error = c->at < c->end && *c->at == 't';
        return c->at < c->end && strchr("tfn", *c->at) && skip_value(c, 1);
    case MODEL:
        row->has_model = !is_null(c);
        return row->has_model ? read_text(c, &row->model) : skip_value(c, 1);
    case SENT:
        return read_tokens(c, row, &row->sent);
    case OUTPUT:
        return read_tokens(c, row, &row->output);
    case ROLES:
        return skip_value(c, 1);
    default:
        return ODD;
    }
}

/* The key of the next member, and its role; ODD where that cannot be told. */
static inline int read_role(const Layout *layout, Cursor *c, int *guess, Role *role) {
    const Field *field = &layout->fields[*guess];
    Text key;
    skip_white(c);
    if (field->plain && c->end - c->at > field->size + 3 && bytes_equal(field->member, c->at, field->size + 3)) {
        c->at += field->size + 3;
        *guess = *guess + 1 < layout->count ? *guess + 1 : 0;
        *role = field->role;
        skip_white(c);
        return FINE;
    }
    if (!scan_key(c, &key) || key.escaped)
        return ODD;
    *role = role_of(layout, &key, guess);
    return FINE;
}

/* A line; ODD where it holds no usual turn, or one that is told in an unusual way. */
static inline int read_row(const Layout *layout, Cursor c, Row *row) {
    unsigned seen = 0;
    int guess = 0;
    Role role;
    uint32_t plain = row->plain;
    *row = (Row){.plain = plain};
    skip_white(&c);
    if (!next_is(&c, '{'))
        return ODD;
    for (int more = 1; more;) {
        if (!read_role(layout, &c, &guess, &role))
            return ODD;
        if ((role < ROLES && seen & 1u << role) || !read_member(&c, row, role))
            return ODD;
        seen |= 1u << role;
        if ((more = goes_on(&c, '}')) < 0)
            return ODD;
    }
    skip_white(&c);
    return c.at == c.end && (seen & layout->needed) == layout->needed;
}

#endif
