/* A line of a Claude Code session of a usual kind, as it stands in the log: what loopscan.formats._claude_line reads. */

#ifndef LOOPSCAN_CLAUDE_H
#define LOOPSCAN_CLAUDE_H

#include "canon.h"
#include "members.h"

enum {
    PARENT, SIDE, USER, FOLDER, SESSION, VERSION, BRANCH, MESSAGE, REQUEST, TYPE, UUID, STAMP, RESULT, AGENT, META, SUMMARY,
    FAILED, COST, SUBTYPE, DATA, IN_LINE
};
enum { MODEL, ID, M_TYPE, ROLE, CONTENT, STOP, STOPPED_BY, USAGE, IN_MESSAGE };
enum { B_TYPE, B_ID, B_NAME, B_INPUT, B_TEXT, B_ASKED, B_CONTENT, B_ERROR, B_THINKING, IN_BLOCK };
enum { FRESH, WRITE, READ, SPLIT, OUTPUT, TIER, IN_USAGE };

/* In the order in which they stand in most lines, so that each is looked for where it is. */
static const Known LINE[IN_LINE] = {
    KEY("parentUuid", WORD), KEY("isSidechain", FLAG), KEY("userType", ANY), KEY("cwd", ANY), KEY("sessionId", OWN),
    KEY("version", ANY), KEY("gitBranch", ANY), KEY("message", OWN), KEY("requestId", WORD), KEY("type", OWN),
    KEY("uuid", WORD), KEY("timestamp", OWN), KEY("toolUseResult", ANY), KEY("agentId", OWN), KEY("isMeta", FLAG),
    KEY("isCompactSummary", FLAG), KEY("isApiErrorMessage", OFF), KEY("costUSD", GONE), KEY("subtype", OWN),
    KEY("data", OWN),
};
static const Known IN_THE_MESSAGE[IN_MESSAGE] = {
    KEY("model", OWN), KEY("id", OWN), KEY("type", ANY), KEY("role", ANY), KEY("content", OWN), KEY("stop_reason", ANY),
    KEY("stop_sequence", ANY), KEY("usage", OWN),
};
static const Known A_BLOCK[IN_BLOCK] = {
    KEY("type", OWN), KEY("id", OWN), KEY("name", OWN), KEY("input", OWN), KEY("text", OWN), KEY("tool_use_id", OWN),
    KEY("content", OWN), KEY("is_error", FLAG), KEY("thinking", OWN),
};
static const Known THE_USAGE[IN_USAGE] = {
    KEY("input_tokens", OWN), KEY("cache_creation_input_tokens", OWN), KEY("cache_read_input_tokens", OWN),
    KEY("cache_creation", OWN), KEY("output_tokens", OWN), KEY("service_tier", ANY),
};
static const Known A_PROGRESS[1] = {KEY("agentId", GONE)};
static const Known THE_SPLIT[2] = {KEY("ephemeral_5m_input_tokens", ANY), KEY("ephemeral_1h_input_tokens", OWN)};

typedef struct {
    Text type, id, name, text, asked, thinking;
    Cursor content;
    Arguments *input;
    unsigned seen;
    bool error;
} Block;

/* A line. `uses`, `says`, `thinks`, `answers`: blocks of each kind; the last one of each is the one that is held.
   Counts of tokens are -1 where they are not recorded. `line`, `message`: a bit for each key that stands there. */
typedef struct {
    Text type, session, agent, stamp, subtype, id, model, thought;
    int uses, says, thinks, answers;
    int64_t tokens[IN_USAGE], long_write;
    unsigned line, message;
    bool aside, inside, split, spent; /* aside, inside: isSidechain is true, is false */
    Arguments *input; /* room for those of the call */
    Block use, say, answer; /* where there is one */
} Entry;

static inline int take_split(Cursor *c, int Py_UNUSED(at), void *into) {
    return read_count(c, &((Entry *)into)->long_write);
}

static inline int take_usage(Cursor *c, int at, void *into) {
    Entry *entry = into;
    unsigned seen;
    if (at != SPLIT)
        return read_count(c, &entry->tokens[at]);
    if (*c->at == 'n')
        return scan_word(c, "null", 4);
    entry->split = true;
    return read_object(c, THE_SPLIT, 2, take_split, entry, &seen);
}

static inline int take_block(Cursor *c, int at, void *into) {
    Block *block = into;
    switch (at) {
    case B_TYPE:
        return read_id(c, &block->type);
    case B_ID:
        return read_id(c, &block->id);
    case B_NAME:
        return read_id(c, &block->name);
    case B_ASKED:
        return read_id(c, &block->asked);
    case B_TEXT:
        return next_is(c, '"') && scan_text(c, &block->text);
    case B_INPUT:
        return read_arguments(c, block->input);
    case B_CONTENT:
        block->content.at = c->at;
        return skip_value(c, 2) && (block->content.end = c->at);
    case B_ERROR:
        block->error = *c->at == 't';
        return (*c->at == 't' || *c->at == 'f') && skip_value(c, 1);
    case B_THINKING:
        return next_is(c, '"') && scan_text(c, &block->thinking);
    default:
        return ODD;
    }
}

/* A block of a message, to where it belongs. */
static inline int read_block(Cursor *c, Entry *entry) {
    Block block;
    block.input = entry->input;
    block.error = false;
    block.type.size = 0;
    if (!read_object(c, A_BLOCK, IN_BLOCK, take_block, &block, &block.seen))
        return ODD;
    unsigned seen = block.seen & ~(1u << B_ERROR);
    if (is_text(&block.type, "tool_use", 8) && block.seen == (1 << B_TYPE | 1 << B_ID | 1 << B_NAME | 1 << B_INPUT)) {
        entry->use = block;
        entry->uses++;
    } else if (is_text(&block.type, "text", 4) && block.seen == (1 << B_TYPE | 1 << B_TEXT)) {
        entry->say = block;
        entry->says++;
    } else if (is_text(&block.type, "thinking", 8) && block.seen == (1 << B_TYPE | 1 << B_THINKING)) {
        entry->thought = block.thinking;
        entry->thinks++;
    } else if (is_text(&block.type, "tool_result", 11) && seen == (1 << B_TYPE | 1 << B_ASKED | 1 << B_CONTENT)) {
        entry->answer = block;
        entry->answers++;
    } else {
        return ODD;
    }
    return FINE;
}

static inline int take_message(Cursor *c, int at, void *into) {
    Entry *entry = into;
    unsigned seen;
    switch (at) {
    case MODEL:
        return read_id(c, &entry->model);
    case ID:
        return read_id(c, &entry->id);
    case USAGE:
        entry->spent = *c->at != 'n';
        if (!entry->spent)
            return scan_word(c, "null", 4);
        return read_object(c, THE_USAGE, IN_USAGE, take_usage, entry, &seen);
    default:
        break;
    }
    int more = 1;
    if (!next_is(c, '['))
        return ODD;
    while (more > 0) {
        skip_white(c);
        if (!read_block(c, entry) || (more = goes_on(c, ']')) < 0)
            return ODD;
    }
    return FINE;
}

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

static inline int take_line(Cursor *c, int at, void *into) {
    Entry *entry = into;
    unsigned seen;
    switch (at) {
    case SIDE:
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
static inline int read_entry(Cursor *c, Arguments *input, Entry *entry) {
    memset(entry, 0, offsetof(Entry, use));
    for (int i = 0; i < IN_USAGE; i++)
        entry->tokens[i] = -1;
    entry->long_write = -1;
    entry->input = input;
    skip_white(c);
    return read_object(c, LINE, IN_LINE, take_line, entry, &entry->line) && end_line(c);
}

#endif
