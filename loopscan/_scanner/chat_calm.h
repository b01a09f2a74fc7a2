/* Runs of chat messages in which nothing happens: what loopscan.calm finds of them in Python. */

#ifndef LOOPSCAN_CHAT_CALM_H
#define LOOPSCAN_CHAT_CALM_H

#include "chat_args.h"
#include "chat_line.h"

enum { TURNS = 4096, TRAILS = 64, HEAD_BYTES = 4 * HEAD, TAIL_BYTES = 4 * TAIL };

/* The first and the last characters of a result, without escapes, and how many it has. */
typedef struct {
    Py_ssize_t chars;
    uint8_t head_size, tail_size, head[HEAD_BYTES], tail[TAIL_BYTES];
} Ends;

/* The last call of a tool in a run. */
typedef struct {
    Text name;
    long kind;
    int last;
    Ends ends;
} Trail;

/* A run that is read. `reach`: among so many calls none comes back; `most`: from how many characters on last words are
   looked at; `restless`: it was left as something happens in it. */
typedef struct {
    Taker taker;
    long reach, most;
    bool restless;
    int turns, calls, trails, guess;
    uint32_t written[TURNS], chars[TURNS];
    uint64_t sums[TURNS];
    Trail trail[TRAILS];
} Calm;

static inline uint8_t plain_bytes(Place at, Place end, uint8_t *out) {
    uint8_t *from = out;
    while (at < end) {
        if (*at == '\\') {
            out += utf8_of(escaped_point(at), out);
            at += escape_size(at, end);
        } else {
            *out++ = *at++;
        }
    }
    return (uint8_t)(out - from);
}

static inline Ends ends_held(const Text *text) {
    Ends ends = {.chars = text->chars};
    Place head, tail;
    ends_of(text, &head, &tail);
    ends.head_size = plain_bytes(text->from, head, ends.head);
    ends.tail_size = plain_bytes(tail, text->from + text->size, ends.tail);
    return ends;
}

/* Whether two results cannot be alike (loopscan.rules.likeness.unlike). */
static inline bool are_unlike(const Ends *one, const Ends *other) {
    return (one->head_size != other->head_size || memcmp(one->head, other->head, one->head_size)) &&
           (one->tail_size != other->tail_size || memcmp(one->tail, other->tail, one->tail_size)) &&
           (one->chars != other->chars || one->chars >= given.listed);
}

/* The trail of a tool in the run; NULL where there are too many, or with an exception. */
static inline Trail *trail_of(Calm *run, const Text *name) {
    for (int i = 0; i < run->trails; i++) {
        int at = run->guess + i < run->trails ? run->guess + i : run->guess + i - run->trails;
        Trail *trail = &run->trail[at];
        if (trail->name.size == name->size && !memcmp(trail->name.from, name->from, (size_t)name->size)) {
            run->guess = at;
            return trail;
        }
    }
    const Tool *tool = run->trails < TRAILS ? tool_of(name) : NULL;
    if (!tool)
        return NULL;
    run->guess = run->trails;
    Trail *trail = &run->trail[run->trails++];
    trail->name = *name;
    trail->kind = tool->kind;
    trail->last = -1;
    return trail;
}

/* Whether an action was one of the last `reach` ones. */
static inline bool came_back(const Calm *run, uint64_t sum) {
    for (int i = run->calls >= run->reach ? run->calls - (int)run->reach + 1 : 0; i < run->calls; i++)
        if (run->sums[i] == sum)
            return true;
    return false;
}

/* Note a call and its answer: ODD where they are no usual ones. */
static inline int take_call(Taker *taker, const Message *reply, const Message *answer) {
    Calm *run = (Calm *)taker;
    Args args;
    const Text *name = &reply->name, *result = &answer->content;
    Trail *trail = trail_of(run, name);
    if (!trail || (run->restless = trail->kind & given.shell) || !read_args(&reply->args, &args) || args.paths)
        return ODD;
    int number = run->calls;
    uint64_t sum = mixed(args.sum, (uint64_t)(trail - run->trail));
    if (run->turns >= TURNS - 1 || result->chars > UINT32_MAX || (run->restless = came_back(run, sum)))
        return ODD;
    Ends ends = ends_held(result);
    if (trail->last >= 0 && number - trail->last <= given.gap &&
        !((trail->kind || !args.asked) && are_unlike(&trail->ends, &ends)))
        return ODD;
    trail->ends = ends;
    trail->last = number;
    run->sums[number] = sum;
    run->chars[number] = (uint32_t)result->chars;
    run->written[number] = (uint32_t)(name->chars + reply->args.chars + reply->content.chars);
    run->calls = ++run->turns;
    return FINE;
}

/* Note the last words: ODD where they are looked at, or there are too many turns. */
static inline int take_words(Taker *taker, const Message *last) {
    Calm *run = (Calm *)taker;
    if (last && last->content.chars >= run->most)
        return ODD;
    if (last) {
        run->chars[run->turns] = 0;
        run->written[run->turns++] = (uint32_t)last->content.chars;
    }
    return run->turns < given.part;
}

#endif
