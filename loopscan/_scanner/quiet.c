/* The usual turns of quiet runs, straight from the lines of a native log: what loopscan.quiets does in Python. */

#include "ahead.h"
#include "quiet.h"

enum { SLOTS = 127 };

QuietAt quiet_at;

static bool set_places(PyObject *quiet) {
    QuietAt *at = &quiet_at;
    const struct {
        const char *name;
        Py_ssize_t *place;
    } fields[] = {
        {"run", &at->run}, {"name", &at->name}, {"source", &at->source}, {"terms", &at->terms}, {"model", &at->model},
        {"most", &at->most}, {"since", &at->since}, {"until", &at->until}, {"reach", &at->reach}, {"first", &at->first},
        {"log", &at->log}, {"line", &at->line}, {"told", &at->told}, {"format", &at->format}, {"highest", &at->highest}, {"turns", &at->turns}, {"slots", &at->slots},
        {"trails", &at->trails},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if ((*fields[i].place = field_place(quiet, fields[i].name)) < 0)
            return false;
    Py_XSETREF(at->type, Py_NewRef(quiet));
    return true;
}

bool setup_quiet(PyObject *quiet) {
    return set_places(quiet);
}

/* Whether the price of a run holds at a moment, too. -1 with an exception. */
static int is_priced(const Work *work, PyObject *state, double moment) {
    if (moment >= number_in(state, quiet_at.since) && moment < number_in(state, quiet_at.until))
        return true;
    PyObject *answer = PyObject_CallMethod(state, "priced_at", "dO", moment, work->prices);
    int priced = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return priced;
}

/* Whether one of the turns from a byte on has an ident. */
static bool came_back(PyObject *turns, int64_t ident, Py_ssize_t from) {
    const char *data = PyByteArray_AS_STRING(turns);
    for (Py_ssize_t i = from > 0 ? from : 0; i < PyByteArray_GET_SIZE(turns); i += RECORD)
        if (!memcmp(data + i, &ident, sizeof ident))
            return true;
    return false;
}

typedef struct {
    int64_t ident, place;
    double time;
    uint32_t sent, output;
    uint16_t last;
    Marks marks;
} Record;

/* Add a turn: loopscan.quiet.TURN. */
static bool add_turn(PyObject *turns, const Record *record) {
    Py_ssize_t size = PyByteArray_GET_SIZE(turns);
    if (PyByteArray_Resize(turns, size + RECORD) < 0)
        return false;
    char *to = PyByteArray_AS_STRING(turns) + size;
    memcpy(to, &record->ident, 8);
    memcpy(to + 8, &record->place, 8);
    memcpy(to + 16, &record->time, 8);
    memcpy(to + 24, &record->sent, 4);
    memcpy(to + 28, &record->output, 4);
    memcpy(to + 32, &record->last, 2);
    to[34] = (char)record->marks.head;
    to[35] = (char)record->marks.tail;
    to[36] = (char)record->marks.size;
    return true;
}

/* Note a turn in the tables of its run. */
static bool note(PyObject *state, const Tool *tool, long number, uint16_t *slot, int64_t highest, long line,
                 PyObject *log) {
    PyObject *turn = PyLong_FromLong(number), *high = PyLong_FromLongLong(highest), *row = PyLong_FromLong(line);
    if (!turn || !high || !row || PyDict_SetItem(*field_at(state, quiet_at.trails), tool->name, turn) < 0) {
        Py_XDECREF(turn);
        Py_XDECREF(high);
        Py_XDECREF(row);
        return false;
    }
    Py_DECREF(turn);
    *slot = (uint16_t)number;
    set_field(state, quiet_at.highest, high);
    set_field(state, quiet_at.line, row);
    set_field(state, quiet_at.log, Py_NewRef(log));
    return true;
}

/* The last turn of a tool in a run, 0 = none; -1 with an exception. */
static long last_of(PyObject *state, const Tool *tool) {
    PyObject *last = PyDict_GetItemWithError(*field_at(state, quiet_at.trails), tool->name);
    return last ? PyLong_AsLong(last) : PyErr_Occurred() ? -1 : 0;
}

/* Whether a result may be alike to that of the last call of its tool. */
static bool may_be_alike(PyObject *turns, long last, const Marks *marks, Py_ssize_t chars, bool told) {
    const uint8_t *held = (const uint8_t *)PyByteArray_AS_STRING(turns) + last * RECORD - 3;
    return held[0] == marks->head || held[1] == marks->tail || (held[2] == marks->size && chars < given.listed) || !told;
}

/* Take a turn of a quiet run: 1, or 0 where it is for Python to tell what it is; -1 with an exception. */
static int take_turn(const Work *work, PyObject *state, const Row *row, const Block *block, double moment, bool timed) {
    int same = same_text(*field_at(state, quiet_at.model), &row->model, row->has_model);
    if (same <= 0 || row->number <= number_in(state, quiet_at.highest) || row->sent > number_in(state, quiet_at.most) ||
        *field_at(state, quiet_at.source) != work->source)
        return PyErr_Occurred() ? -1 : 0;
    bool formed;
    Named named = read_names(row->args, &formed);
    if (named.odd || named.paths)
        return 0;
    int priced = is_priced(work, state, moment);
    const Tool *tool = priced > 0 ? tool_of(&row->name) : NULL;
    Record record = {.place = block->place, .time = timed ? moment : Py_NAN, .sent = row->sent, .output = row->output};
    if (!tool || !ident_read(tool, row->args, formed, &record.ident))
        return PyErr_Occurred() ? -1 : 0;
    PyObject *turns = *field_at(state, quiet_at.turns);
    Py_ssize_t end = PyByteArray_GET_SIZE(turns);
    if (tool->kind & given.shell || end == given.part * RECORD)
        return 0;
    long number = (long)(end / RECORD) + 1, reach = (long)number_in(state, quiet_at.reach), last = last_of(state, tool);
    Py_buffer slots;
    if (last < 0 || !marks_of(&row->result, &given.spare, &record.marks) ||
        PyObject_GetBuffer(*field_at(state, quiet_at.slots), &slots, PyBUF_WRITABLE) < 0)
        return -1;
    uint16_t *slot = (uint16_t *)slots.buf + (record.ident & SLOTS);
    int taken = 0;
    bool back = *slot && *slot > number - reach && came_back(turns, record.ident, end - (reach - 1) * RECORD);
    bool room = last || PyDict_GET_SIZE(*field_at(state, quiet_at.trails)) < given.tools;
    bool near = last && number - last <= given.gap, told = tool->kind || !named.asked;
    work->native->back = back;
    if (!back && room && near && may_be_alike(turns, last, &record.marks, row->result.chars, told))
        taken = told ? is_unlike(work, turns, last, row, block) : 0;
    else if (!back && room)
        taken = 1;
    if (taken > 0) {
        record.last = (uint16_t)last;
        taken = add_turn(turns, &record) && note(state, tool, number, slot, row->number, block->line, work->log) ? 1 : -1;
    }
    PyBuffer_Release(&slots);
    return taken;
}

/* Take the turn of a line whose run is not quiet: as `take_turn`. */
static int take_in_episode(const Work *work, const Row *row, int64_t place) {
    if (!PyDict_GET_SIZE(work->going))
        return 0;
    PyObject *run = PyUnicode_DecodeUTF8((const char *)row->run.from, row->run.size, "strict");
    PyObject *going = run ? PyDict_GetItemWithError(work->going, run) : NULL;
    Py_XDECREF(run);
    return going ? take_going(going, work->source, row, place) : PyErr_Occurred() ? -1 : 0;
}

/* Tell that the first turn of a run is over, and that its line says so. False with an exception. */
static bool tell(const Work *work, PyObject *state) {
    PyObject *run = *field_at(state, quiet_at.run);
    int fresh = PyDict_Contains(work->fresh, run);
    if (fresh > 0)
        set_field(state, quiet_at.told, Py_NewRef(*field_at(state, quiet_at.line)));
    return !fresh || (fresh > 0 && PyDict_DelItem(work->fresh, run) == 0 && PyList_Append(work->begun, state) == 0);
}

/* Take the turn of a line: as `take_turn`. `state`: that of the line before; from then on that of this one. `held`: the
   same, where it is known and was not let go of since. */
static int take_row(const Work *work, const Row *row, PyObject *held, PyObject **state, const Block *block) {
    double moment;
    bool timed;
    if (!is_told(row))
        return 0;
    if (!moment_of(row, &moment, &timed))
        return -1;
    int same = 0;
    if (held && *field_at(held, quiet_at.source) == work->source) {
        Py_XSETREF(*state, Py_NewRef(held));
    } else if (*state && (same = same_text(*field_at(*state, quiet_at.run), &row->run, true)) <= 0) {
        Py_CLEAR(*state);
    }
    if (same >= 0 && !*state && (*state = state_of(work, row, moment, timed, block->line)))
        keep_state(&work->native->table, &row->run, *state);
    if (same >= 0 && !*state && !PyErr_Occurred())
        return take_in_episode(work, row, block->place);
    if (same < 0 || !*state)
        return -1;
    int taken = take_turn(work, *state, row, block, moment, timed);
    if (taken > 0 && PyByteArray_GET_SIZE(*field_at(*state, quiet_at.turns)) == 2 * RECORD && !tell(work, *state))
        taken = -1;
    return taken;
}

const char take_doc[] =
    "take(states, fresh, source, log, prices, begin, begun, going, known, full, data, at, end, line, place,"
    " first) -> (at, line, place, back)\n\n"
    "Take the usual turns of quiet runs from byte `at` to byte `end` of some data; where the first line is that is none, and"
    " whether it is known to come back.";

PyObject *take(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    Block block;
    if (count != 16 || !PyDict_Check(args[0]) || !PyDict_Check(args[1]) || !PyList_Check(args[6]) || !PyDict_Check(args[7]) ||
        !PyDict_Check(args[8]) || (args[9] != Py_None && !PyDict_Check(args[9]))) {
        PyErr_SetString(PyExc_TypeError, "take");
        return NULL;
    }
    if (!read_block(&block, args + 10))
        return NULL;
    Native *native = (Native *)self;
    Work work = {
        args[0], args[1], args[2], args[3], args[4], args[5], args[6], args[7], args[8], args[9], native,
    };
    PyObject *state = NULL;
    Batch *batch = &native->batch;
    const Fields fields = {quiet_at.run, quiet_at.source, quiet_at.highest, quiet_at.line, quiet_at.turns, quiet_at.slots, quiet_at.trails};
    int taken = 1;
    while (block.here < block.end) {
        native->back = false;
        int i = line_in(native, &block, work.source, &fields);
        if (batch->usual[i])
            taken = take_row(&work, &batch->rows[i], batch->states[i], &state, &block);
        else
            taken = is_blank(batch->lines[i]);
        if (taken <= 0)
            break;
        step(&block, batch->lines[i].end);
    }
    Py_XDECREF(state);
    PyBuffer_Release(&block.bytes);
    return taken < 0 ? NULL : Py_BuildValue("nlLN", block.here - block.from, block.line, (long long)block.place,
                                             PyBool_FromLong(native->back && block.here < block.end));
}
