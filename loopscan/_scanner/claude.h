/* A line of a Claude Code session of a usual kind, as it stands in the log: what loopscan.formats._claude_line reads. */

#ifndef LOOPSCAN_CLAUDE_H
#define LOOPSCAN_CLAUDE_H

#include "claude_message.h"

enum {
    PARENT, SIDE, USER, FOLDER, SESSION, VERSION, BRANCH, MESSAGE, REQUEST, TYPE, UUID, STAMP, RESULT, AGENT, META, SUMMARY,
    FAILED, COST, SUBTYPE, DATA, IN_LINE
};

/* In the order in which they stand in most lines, so that each is looked for where it is. */
static const Known LINE[IN_LINE] = {
    KEY("parentUuid", WORD), KEY("isSidechain", FLAG), KEY("userType", ANY), KEY("cwd", ANY), KEY("sessionId", OWN),
    KEY("version", ANY), KEY("gitBranch", OWN), KEY("message", OWN), KEY("requestId", WORD), KEY("type", OWN),
    KEY("uuid", WORD), KEY("timestamp", OWN), KEY("toolUseResult", OWN), KEY("agentId", OWN), KEY("isMeta", FLAG),
    KEY("isCompactSummary", FLAG), KEY("isApiErrorMessage", OFF), KEY("costUSD", GONE), KEY("subtype", OWN),
    KEY("data", OWN),
};
static const Known A_PROGRESS[1] = {KEY("agentId", GONE)};

/* Pass over a value, at once where it is text, or a list, that is known. */
static inline int pass_again(Cursor *c, Cursor known, int depth) {
    Py_ssize_t size = known.end - known.at;
    if (size && c->end - c->at >= size && (*c->at == '"' || *c->at == '[') && !memcmp(c->at, known.at, (size_t)size)) {
        c->at += size;
        return FINE;
    }
    return skip_value(c, depth);
}

/* Pass over what the client keeps of a result: of much of it, the result itself again. */
static inline int pass_result(Cursor *c, Cursor known) {
    Text key;
    if (*c->at != '{')
        return pass_again(c, known, 1);
    c->at++;
    skip_white(c);
    if (next_is(c, '}'))
        return FINE;
    for (int more = 1; more;)
        if (!scan_key(c, &key) || !pass_again(c, known, 2) || (more = goes_on(c, '}')) < 0)
            return ODD;
    return FINE;
}

static inline int take_nothing(Cursor *Py_UNUSED(c), int Py_UNUSED(at), void *Py_UNUSED(into)) {
    return ODD;
}

/* Pass over what is as in the lines before. */
static inline bool is_like(Cursor *c, Entry *entry) {
    const unsigned told = 1u << SESSION | 1u << BRANCH;
    const Like *like = entry->like;
    entry->side = c->at;
    entry->before = entry->line;
    if (!like->size || entry->line & told || c->end - c->at < like->size || memcmp(c->at, like->bytes, (size_t)like->size))
        return false;
    c->at += like->size;
    entry->line |= told;
    entry->session = like->session;
    entry->aside = like->aside;
    entry->inside = like->inside;
    return true;
}

/* Keep what may be so in the lines behind. */
static inline void keep_like(const Cursor *c, const Entry *entry) {
    Like *like = entry->like;
    Py_ssize_t size = c->at - entry->side;
    if (!entry->side || entry->line != (entry->before | 1u << SESSION | 1u << BRANCH) || entry->before >> SESSION & 1 ||
        c->at[-1] != '"' || size > LIKE_MOST)
        return;
    memcpy(like->bytes, entry->side, (size_t)size);
    like->size = size;
    like->session = entry->session;
    like->session.from = like->bytes + (entry->session.from - entry->side);
    like->aside = entry->aside;
    like->inside = entry->inside;
}

static inline int take_line(Cursor *c, int at, void *into) {
    Entry *entry = into;
    unsigned seen;
    switch (at) {
    case SIDE:
        if (is_like(c, entry))
            return FINE;
        entry->aside = *c->at == 't';
        entry->inside = *c->at == 'f';
        break;
    case AGENT:
        return *c->at == 'n' ? scan_word(c, "null", 4) : read_id(c, &entry->agent);
    case SUBTYPE:
        return *c->at == 'n' ? scan_word(c, "null", 4) : read_id(c, &entry->subtype);
    case DATA:
        return *c->at == 'n' ? scan_word(c, "null", 4) : read_object(c, A_PROGRESS, 1, take_nothing, NULL, &seen);
    case SESSION:
        return read_id(c, &entry->session);
    case TYPE:
        return read_id(c, &entry->type);
    case STAMP:
        return read_id(c, &entry->stamp);
    case BRANCH:
        if (!skip_value(c, 1))
            return ODD;
        keep_like(c, entry);
        return FINE;
    case RESULT:
        return pass_result(c, entry->answers ? entry->answer.content : (Cursor){0});
    case MESSAGE:
        return read_object(c, IN_THE_MESSAGE, IN_MESSAGE, take_message, entry, &entry->message);
    default:
        break;
    }
    return (*c->at == 't' || *c->at == 'f') && skip_value(c, 1); /* a flag */
}

/* Pass over the end of a line behind its value; ODD where anything else stands there. */
static inline int end_line(Cursor *c) {
    skip_white(c);
    return c->at == c->end || next_is(c, '\n');
}

/* A line, up to its end; ODD where it is not of a usual kind. */
static inline int read_entry(Cursor *c, Arguments *input, Like *like, Entry *entry) {
    memset(entry, 0, offsetof(Entry, use));
    for (int i = 0; i < IN_USAGE; i++)
        entry->tokens[i] = -1;
    entry->long_write = -1;
    entry->input = input;
    entry->like = like;
    skip_white(c);
    return read_object(c, LINE, IN_LINE, take_line, entry, &entry->line) && end_line(c);
}

#endif
