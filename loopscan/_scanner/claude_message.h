/* The message of a line of a Claude Code session, and what is told of the line. */

#ifndef LOOPSCAN_CLAUDE_MESSAGE_H
#define LOOPSCAN_CLAUDE_MESSAGE_H

#include "canon.h"
#include "members.h"

enum { MODEL, ID, M_TYPE, ROLE, CONTENT, STOP, STOPPED_BY, USAGE, IN_MESSAGE };
enum { B_TYPE, B_ID, B_NAME, B_INPUT, B_TEXT, B_ASKED, B_CONTENT, B_ERROR, B_THINKING, IN_BLOCK };
enum { FRESH, WRITE, READ, SPLIT, OUTPUT, TIER, IN_USAGE };

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
static const Known THE_SPLIT[2] = {KEY("ephemeral_5m_input_tokens", ANY), KEY("ephemeral_1h_input_tokens", OWN)};

typedef struct {
    Text type, id, name, text, asked, thinking;
    Cursor content;
    Arguments *input;
    unsigned seen;
    bool error;
} Block;

enum { LIKE_MOST = 1000 };

/* What most lines of a session have alike: their bytes from the value of `isSidechain` to that of `gitBranch`, both of
   them included, between which only the session stands of what says something. */
typedef struct {
    uint8_t bytes[LIKE_MOST];
    Py_ssize_t size;
    Text session;
    bool aside, inside;
} Like;

/* A line. `uses`, `says`, `thinks`, `answers`: blocks of each kind; the last one of each is the one that is held.
   Counts of tokens are -1 where they are not recorded. `line`, `message`: a bit for each key that stands there. */
typedef struct {
    Text type, session, agent, stamp, subtype, id, model, thought;
    int uses, says, thinks, answers;
    int64_t tokens[IN_USAGE], long_write;
    unsigned line, message;
    bool aside, inside, split, spent; /* aside, inside: isSidechain is true, is false */
    Arguments *input; /* room for those of the call */
    Like *like;       /* of the lines before */
    Place side;       /* where the value of isSidechain stands, and what stood there up to it, where they are another */
    unsigned before;
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

#endif
