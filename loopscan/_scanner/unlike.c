/* Whether the result of a turn may be like that of the last call of its tool, where marks alone do not tell: what
   loopscan.rules.likeness.may_be_alike asks first, of the two lines. */

#include "quiet.h"

enum { AT_PLACE = 8 };

static bool differ(Place from, Place to, Place other, Place end) {
    return to - from != end - other || memcmp(from, other, (size_t)(to - from)) != 0;
}

static bool holds(const Text *text, Place part, Py_ssize_t size) {
    Place at = text->from, last = text->from + text->size - size;
    while (at <= last && (at = memchr(at, *part, (size_t)(last - at + 1)))) {
        if (!memcmp(at, part, (size_t)size))
            return true;
        at++;
    }
    return false;
}

/* Whether the first line of a string is sure not to stand in another one: what of it stands before an escape does not. */
static bool lacks_line(const Text *text, const Text *other) {
    Place slash = memchr(text->from, '\\', (size_t)text->size), cut = slash ? slash : text->from + text->size;
    return cut > text->from && !holds(other, text->from, cut - text->from);
}

/* Whether a result is sure not to be like an earlier one, of a call that asks for nothing in prose. Strings that escape
   no more than they must are the same where their bytes are. */
static bool are_apart(const Text *before, const Text *result) {
    Place head, tail, head_before, tail_before;
    if (before->foreign || result->foreign)
        return false;
    ends_of(result, &head, &tail);
    ends_of(before, &head_before, &tail_before);
    return differ(result->from, head, before->from, head_before) &&
           differ(tail, result->from + result->size, tail_before, before->from + before->size) &&
           (before->chars != result->chars || result->chars >= given.listed || lacks_line(result, before));
}

/* The line at a place of the log; `*held` is to be released then. False with an exception. */
static bool line_at(PyObject *source, const Block *block, int64_t place, Cursor *line, PyObject **held) {
    int64_t back = block->place - place;
    if (back >= 0 && back <= block->here - block->first) {
        Block earlier = {.here = block->here - back, .end = block->end};
        *line = line_of(&earlier);
        return true;
    }
    *held = PyObject_CallMethod(source, "line", "L", (long long)place);
    if (*held && PyBytes_Check(*held))
        *line = (Cursor){(Place)PyBytes_AS_STRING(*held), (Place)PyBytes_AS_STRING(*held) + PyBytes_GET_SIZE(*held)};
    return *held != NULL;
}

/* Whether the result of a line is sure not to be like that of an earlier turn, which asks for nothing in prose, either:
   0 = Python is to tell; -1 with an exception. `place`: of the line of that turn in the same log, `known`: of its result. */
int are_unlike(const Layout *layout, PyObject *source, int64_t place, const Marks *known, const Row *row,
               const Block *block) {
    Row before = {.plain = row->plain};
    Cursor line = {0};
    Marks marks;
    PyObject *held = NULL;
    if (!line_at(source, block, place, &line, &held))
        return -1;
    int apart = line.at && read_row(layout, line, &before) && before.worded && are_apart(&before.result, &row->result);
    if (apart && !marks_of(&before.result, &given.spare, &marks))
        apart = -1;
    else if (apart) /* else it is another one since it was read */
        apart = known->head == marks.head && known->tail == marks.tail && known->size == marks.size;
    Py_XDECREF(held);
    return apart;
}

/* The same of turn `last` of a quiet run. */
int is_unlike(const Work *work, PyObject *turns, long last, const Row *row, const Block *block) {
    int64_t place;
    const uint8_t *record = (const uint8_t *)PyByteArray_AS_STRING(turns) + (last - 1) * RECORD;
    const Marks known = {record[RECORD - 3], record[RECORD - 2], record[RECORD - 1]};
    memcpy(&place, record + AT_PLACE, sizeof place);
    return are_unlike(&work->native->layout, work->source, place, &known, row, block);
}
