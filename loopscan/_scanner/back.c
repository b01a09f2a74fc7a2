/* Calls that come back with another result: what loopscan.rules.apart says of most of them, and what becomes of their
   links. */

#include "back.h"

enum { NEXT = 2 }; /* turns at which a rule may see what its tool changed */

LateAt late_at;

bool setup_back(PyObject *late) {
    const struct {
        const char *name;
        Py_ssize_t *place;
    } fields[] = {
        {"turn", &late_at.turn}, {"source", &late_at.source}, {"place", &late_at.place}, {"head", &late_at.head},
        {"tail", &late_at.tail}, {"size", &late_at.size}, {"before", &late_at.before},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if ((*fields[i].place = field_place(late, fields[i].name)) < 0)
            return false;
    return true;
}

/* Whether fewer turns than the shortest period came back just before. */
static bool begins(const Window *window, long gap) {
    for (long back = 1; back < gap; back++) {
        PyObject *seen = PyList_GET_ITEM(window->ring, (window->turn - back) % window->reach);
        if (seen == Py_None)
            return true;
        if (!is_late(seen))
            return false;
        if (whole_in(seen, late_at.turn) != window->turn - back || *field_at(seen, late_at.before) == Py_None)
            return true;
    }
    return false;
}

/* How many of its marks the result of a turn has. */
static int marks_in(PyObject *late, const Marks *marks) {
    return (whole_in(late, late_at.head) == marks->head) + (whole_in(late, late_at.tail) == marks->tail) +
           (whole_in(late, late_at.size) == marks->size);
}

/* Whether a result is sure to be another one than those of all turns of its call in the window, and no rule to make
   anything of it; else Python is to tell. `before`: the nearest of them; `shut`: nobody asks any more how results of
   this tool differ. */
bool has_another(const Window *window, PyObject *before, bool shut, const Text *result, const Marks *marks) {
    if (!is_late(before))
        return false;
    long gap = window->turn - whole_in(before, late_at.turn);
    if (gap <= NEXT || gap > window->reach || !begins(window, gap) || (marks_in(before, marks) && !shut))
        return false;
    for (PyObject *earlier = before; earlier != Py_None; earlier = *field_at(earlier, late_at.before)) {
        if (!is_late(earlier))
            return false;
        if (whole_in(earlier, late_at.turn) <= window->turn - window->reach)
            break;
        if (marks_in(earlier, marks) == 3)
            return false;
    }
    return is_steady_text(result);
}

/* Link a turn with the one before of its call, and forget the links to turns up to number `least`. False where Python
   is to do that, as they are of other kinds. */
bool link_back(PyObject *late, PyObject *before, long least) {
    set_field(late, late_at.before, Py_NewRef(before));
    for (PyObject *seen = late; is_late(seen); seen = *field_at(seen, late_at.before)) {
        PyObject *earlier = *field_at(seen, late_at.before);
        if (earlier == Py_None)
            return true;
        if (is_late(earlier) && whole_in(earlier, late_at.turn) <= least) {
            set_field(seen, late_at.before, Py_NewRef(Py_None));
            return true;
        }
    }
    return false;
}
