/* The usual turns of one run that is not quiet, straight from the lines of a native log: what loopscan.rows does. */

#include "awake.h"

/* Where the fields of loopscan.rows.Look stand. */
static struct {
    Py_ssize_t ring, newest, reach, trails, number, model, most, since, until, started, ended, gap, last;
} at;

bool setup_awake(PyObject *look, PyObject *late) {
    const struct {
        const char *name;
        Py_ssize_t *place;
    } fields[] = {
        {"ring", &at.ring}, {"newest", &at.newest}, {"reach", &at.reach}, {"trails", &at.trails},
        {"number", &at.number}, {"model", &at.model}, {"most", &at.most}, {"since", &at.since}, {"until", &at.until},
        {"started", &at.started}, {"ended", &at.ended}, {"gap", &at.gap}, {"last", &at.last},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if ((*fields[i].place = field_place(look, fields[i].name)) < 0)
            return false;
    return setup_back(late);
}

static double real_in(PyObject *object, Py_ssize_t place) {
    return PyFloat_AsDouble(*field_at(object, place));
}

/* False with an exception. */
static bool begin(Awake *run, PyObject *look, PyObject *source, PyObject *doubts) {
    PyObject *started = *field_at(look, at.started), *ended = *field_at(look, at.ended);
    *run = (Awake){
        .look = look, .source = source, .doubts = doubts, .shut = PyObject_GetAttrString(doubts, "shut"),
        .ring = *field_at(look, at.ring), .newest = *field_at(look, at.newest),
        .trails = *field_at(look, at.trails), .model = *field_at(look, at.model), .reach = whole_in(look, at.reach),
        .number = whole_in(look, at.number), .most = real_in(look, at.most), .since = real_in(look, at.since),
        .until = real_in(look, at.until), .times = {.has_started = started != Py_None, .has_ended = ended != Py_None},
    };
    if (run->times.has_started)
        run->times.started = PyFloat_AsDouble(started);
    if (run->times.has_ended)
        run->times.ended = PyFloat_AsDouble(ended);
    if (!PyErr_Occurred())
        PyArg_ParseTuple(*field_at(look, at.gap), "dl", &run->times.gap, &run->times.gap_turn);
    run->end = run->number + given.part - run->number % given.part;
    if (!PyErr_Occurred() && (!PyAnySet_Check(run->shut) || !PyList_Check(run->ring) || !PyDict_Check(run->newest) || !PyDict_Check(run->trails)))
        PyErr_SetString(PyExc_TypeError, "more");
    return !PyErr_Occurred() && run->reach > 0 && PyList_GET_SIZE(run->ring) == run->reach;
}

/* Whether the turn that a tool made last leaves the next one a usual one, which has no result like it. */
static bool is_apart(const Awake *run, PyObject *last, const Marks *marks, Py_ssize_t chars, bool told) {
    if (!is_late(last))
        return false;
    if (run->number + 1 - whole_in(last, late_at.turn) > given.gap)
        return true;
    return told && whole_in(last, late_at.head) != marks->head && whole_in(last, late_at.tail) != marks->tail &&
           (whole_in(last, late_at.size) != marks->size || chars >= given.listed);
}

/* The turn of an ident that stands in the window; NULL where there is none, or with an exception. */
static PyObject *back_of(const Awake *run, PyObject *ident) {
    PyObject *before = PyDict_GetItemWithError(run->newest, ident);
    if (!before)
        return NULL;
    PyObject *turn = is_late(before) ? Py_NewRef(*field_at(before, late_at.turn)) : PyObject_GetAttrString(before, "turn");
    long number = turn ? PyLong_AsLong(turn) : -1;
    Py_XDECREF(turn);
    return number > run->number + 1 - run->reach ? before : NULL;
}

/* Whether a turn whose result may be like that of the last one of its tool is not. -1 with an exception. */
static int is_unlike(const Awake *run, PyObject *last, const Cursor *line, const Row *row, bool told,
                     const Block *block) {
    if (told && is_late(last) && *field_at(last, late_at.source) == run->source) {
        const Marks known = {(uint8_t)whole_in(last, late_at.head), (uint8_t)whole_in(last, late_at.tail),
                             (uint8_t)whole_in(last, late_at.size)};
        int64_t place = PyLong_AsLongLong(*field_at(last, late_at.place));
        int apart = PyErr_Occurred() ? -1 : are_unlike(run->layout, run->source, place, &known, row, block);
        if (apart)
            return apart;
    }
    return told_by(PyObject_CallMethod(run->doubts, "unlike", "Oy#", last, line->at, line->end - line->at));
}

/* Whether a turn that comes back has another result than those before it. -1 with an exception. */
static int differs(const Awake *run, PyObject *before, const Cursor *line, const Tool *tool, const Row *row,
                   const Marks *marks, bool told) {
    const Window window = {run->ring, run->reach, run->number + 1};
    int shut = PySet_Contains(run->shut, tool->name);
    if (shut < 0 || (told && has_another(&window, before, shut, &row->result, marks)))
        return shut < 0 ? -1 : 1;
    return told_by(PyObject_CallMethod(run->doubts, "apart", "Oy#l(iii)l", before, line->at, line->end - line->at,
                                       tool->kind, marks->head, marks->tail, marks->size, run->number + 1));
}

/* Take a turn of a tool: 1, or 0 where it is no usual one; -1 with an exception. */
static int take_call(Awake *run, const Row *row, const Tool *tool, bool told, const Moment *moment, const Block *block) {
    Marks marks;
    int64_t hash;
    Cursor line = {block->here, line_of(block).end};
    PyObject *last = PyDict_GetItemWithError(run->trails, tool->name);
    if ((!last && PyErr_Occurred()) || !marks_of(&row->result, &given.spare, &marks) ||
        !ident_of(tool, row->args, &hash))
        return -1;
    PyObject *ident = PyLong_FromLongLong(hash), *before = ident ? back_of(run, ident) : NULL;
    int taken = PyErr_Occurred() ? -1 : before ? differs(run, before, &line, tool, row, &marks, told) : 1;
    if (taken > 0 && last && !is_apart(run, last, &marks, row->result.chars, told))
        taken = is_unlike(run, last, &line, row, told, block);
    Py_XINCREF(before);
    if (taken > 0 && !note(run, tool, ident, row, &marks, block->place, moment, !last))
        taken = -1;
    if (taken > 0 && before)
        taken = came_back(run, tool, before);
    Py_XDECREF(before);
    Py_XDECREF(ident);
    return taken;
}

/* Take the turn of a line: 1, or 0 where it is for Python to tell what it is; -1 with an exception. */
static int take_turn(Awake *run, const Row *row, const Block *block) {
    Moment moment;
    int same = is_told(row) ? same_text(run->model, &row->model, row->has_model) : 0;
    if (same <= 0 || row->sent > run->most)
        return same < 0 ? -1 : 0;
    if (!moment_of(row, &moment.time, &moment.known))
        return -1;
    if (moment.time < run->since || moment.time >= run->until)
        return 0;
    Named named = names_of(row->args);
    const Tool *tool = named.odd || named.paths ? NULL : tool_of(&row->name);
    if (!tool || tool->kind & given.shell)
        return PyErr_Occurred() ? -1 : 0;
    return take_call(run, row, tool, tool->kind || !named.asked, &moment, block);
}

/* Write down how the run stands. False with an exception. */
static bool end(Awake *run) {
    PyObject *number = PyLong_FromLong(run->number), *gap = Py_BuildValue("(dl)", run->times.gap, run->times.gap_turn);
    PyObject *started = run->times.has_started ? PyFloat_FromDouble(run->times.started) : Py_NewRef(Py_None);
    PyObject *ended = run->times.has_ended ? PyFloat_FromDouble(run->times.ended) : Py_NewRef(Py_None);
    if (!number || !gap || !started || !ended) {
        Py_XDECREF(number);
        Py_XDECREF(gap);
        Py_XDECREF(started);
        Py_XDECREF(ended);
        return false;
    }
    set_field(run->look, at.number, number);
    set_field(run->look, at.gap, gap);
    set_field(run->look, at.started, started);
    set_field(run->look, at.ended, ended);
    if (run->last)
        set_field(run->look, at.last, Py_NewRef(run->last));
    return true;
}

/* Take the turns of one run in a row, but for the last one, which the next line may be part of. False with an
   exception. */
static bool take_all(const Layout *layout, Awake *run, Block *block, int64_t *highest) {
    Row rows[2] = {{.plain = (uint32_t)given.plain}, {.plain = (uint32_t)given.plain}};
    Cursor c = line_of(block);
    int now = 0;
    if (!read_row(layout, c, &rows[now]) || rows[now].number <= *highest)
        return true;
    while (run->number < run->end && PyDict_GET_SIZE(run->newest) <= run->most_known && c.end < block->end) {
        Block next = *block;
        step(&next, c.end);
        c = line_of(&next);
        Row *row = &rows[now], *behind = &rows[!now];
        if (!read_row(layout, c, behind) || behind->number <= row->number || behind->run.size != row->run.size ||
            memcmp(behind->run.from, row->run.from, (size_t)row->run.size))
            return true;
        int taken = take_turn(run, row, block);
        if (taken <= 0)
            return !taken;
        *highest = row->number;
        *block = next;
        now = !now;
    }
    return true;
}

const char more_doc[] =
    "more(look, source, doubts, rate_in, rate_out, most_known, highest, data, at, end, line, place, first)"
    " -> (at, line, place, highest, sent, output, usd, waits)\n\n"
    "Take the usual turns of one run from byte `at` to byte `end` of some data, and behind number `highest`; their columns.";

PyObject *more(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    Block block;
    Awake run;
    if (count != 13) {
        PyErr_SetString(PyExc_TypeError, "more");
        return NULL;
    }
    if (!read_block(&block, args + 7))
        return NULL;
    if (!begin(&run, args[0], args[1], args[2])) {
        Py_XDECREF(run.shut);
        PyBuffer_Release(&block.bytes);
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "more");
    }
    int64_t highest = PyLong_AsLongLong(args[6]);
    run.rates[0] = PyLong_AsLongLong(args[3]);
    run.rates[1] = PyLong_AsLongLong(args[4]);
    run.most_known = PyLong_AsSsize_t(args[5]);
    run.layout = &((Native *)self)->layout;
    bool fine = !PyErr_Occurred() && take_all(&((Native *)self)->layout, &run, &block, &highest);
    fine = fine && end(&run);
    PyObject *found = NULL;
    if (fine)
        found = Py_BuildValue("nlLLy#y#y#y#", block.here - block.from, block.line, (long long)block.place,
                              (long long)highest, (char *)run.sent.data, run.sent.size, (char *)run.output.data,
                              run.output.size, (char *)run.usd.data, run.usd.size, (char *)run.waits.data,
                              run.waits.size);
    PyBuffer_Release(&block.bytes);
    PyMem_Free(run.sent.data);
    PyMem_Free(run.output.data);
    PyMem_Free(run.usd.data);
    PyMem_Free(run.waits.data);
    Py_XDECREF(run.last);
    Py_DECREF(run.shut);
    return found;
}
