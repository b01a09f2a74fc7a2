/* The report of a run that was quiet to its end (loopscan.settle): what the records of its turns come to. */

#include "quiet.h"
#include "seen.h"
#include "settle.h"

enum { TIME_AT = 16, SENT_AT = 24, OUTPUT_AT = 28, KEPT_AT_ONCE = 500 };

/* What is shared with loopscan.settle; the price of the run before. */
static struct {
    PyObject *keep_all, *rate_in, *rate_out, *price, *codes[2][2];
    PyObject *terms, *rates, *price_of_terms;
    int64_t rate[2];
} with;
SettleAt settle_at;

static bool set_places(PyObject *settled, PyObject *part, PyObject *fired) {
    SettleAt *at = &settle_at;
    const struct {
        PyObject *type;
        const char *name;
        Where *place;
    } fields[] = {
        {settled, "run", &at->settled.run}, {settled, "source", &at->settled.source},
        {settled, "format", &at->settled.format}, {settled, "model", &at->settled.model},
        {settled, "started", &at->settled.started}, {settled, "ended", &at->settled.ended},
        {settled, "gap", &at->settled.gap}, {settled, "part", &at->settled.part},
        {settled, "price", &at->settled.price}, {settled, "spill", &at->settled.spill},
        {settled, "exits", &at->settled.exits}, {settled, "times_normal", &at->settled.times_normal},
        {settled, "children", &at->settled.children}, {part, "turns", &at->part.turns}, {part, "input", &at->part.input},
        {part, "output", &at->part.output}, {part, "usd", &at->part.usd},
        {part, "elapsed", &at->part.elapsed}, {part, "codes", &at->part.codes}, {part, "size", &at->part.size},
        {part, "kept", &at->part.kept}, {part, "rates", &at->part.rates}, {fired, "exit", &at->fired.exit},
        {fired, "turn", &at->fired.turn}, {fired, "paid_sends", &at->fired.paid_sends}, {fired, "usd", &at->fired.usd},
        {fired, "saved_turns", &at->fired.saved_turns}, {fired, "saved_usd", &at->fired.saved_usd},
        {fired, "false_stop", &at->fired.false_stop}, {fired, "rule", &at->fired.rule},
        {fired, "closing_usd", &at->fired.closing_usd},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if ((*fields[i].place = field_place(fields[i].type, fields[i].name)) < 0)
            return false;
    return true;
}

PyObject *settle_with(PyObject *Py_UNUSED(self), PyObject *args) {
    PyObject *settled, *part, *fired, *none, *no_gap;
    if (!PyArg_ParseTuple(args, "O!OOOO", &PyType_Type, &settled, &part, &fired, &none, &no_gap) ||
        !set_places(settled, part, fired))
        return NULL;
    Py_XSETREF(settle_at.type, Py_NewRef(settled));
    Py_XSETREF(settle_at.no_gap, Py_NewRef(no_gap));
    Py_XSETREF(settle_at.part_type, Py_NewRef(part));
    Py_XSETREF(settle_at.fired_type, Py_NewRef(fired));
    Py_XSETREF(settle_at.none, Py_NewRef(none));
    Py_XSETREF(with.keep_all, PyUnicode_InternFromString("keep_all"));
    Py_XSETREF(with.rate_in, PyUnicode_InternFromString("input"));
    Py_XSETREF(with.rate_out, PyUnicode_InternFromString("output"));
    Py_XSETREF(with.price, PyUnicode_InternFromString("price"));
    const char *codes[2][2] = {{"II--", "II-d"}, {"II=-", "II=d"}};
    for (int i = 0; i < 4; i++)
        Py_XSETREF(with.codes[i / 2][i % 2], PyUnicode_InternFromString(codes[i / 2][i % 2]));
    if (!with.keep_all || !with.rate_in || !with.rate_out || !with.price || PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

/* Add up turns; their columns as `loopscan.part.of_columns` has them. */
static void add_up(PyObject *turns, char *columns, Sums *sums) {
    const char *record = PyByteArray_AS_STRING(turns);
    Py_ssize_t count = PyByteArray_GET_SIZE(turns) / RECORD;
    char *output_at = columns + 4 * count, *wait_at = output_at + 4 * count;
    *sums = (Sums){.turns = count};
    for (Py_ssize_t i = 0; i < count; i++, record += RECORD) {
        uint32_t sent, output;
        double time;
        memcpy(&time, record + TIME_AT, 8);
        memcpy(&sent, record + SENT_AT, 4);
        memcpy(&output, record + OUTPUT_AT, 4);
        sums->sent += sent;
        sums->output += output;
        double wait = see(&sums->times, time == time, time, (long)i + 1);
        sums->longest = wait > sums->longest ? wait : sums->longest;
        memcpy(columns + 4 * i, &sent, 4);
        memcpy(output_at + 4 * i, &output, 4);
        memcpy(wait_at + 8 * i, &wait, 8);
    }
    sums->size = count * (sums->longest != 0.0 ? COLUMNS : COLUMNS / 2);
}

/* Look the price of a run up. False with an exception. */
static bool priced(PyObject *terms) {
    if (terms == with.terms)
        return true;
    PyObject *in = PyObject_GetAttr(terms, with.rate_in), *out = PyObject_GetAttr(terms, with.rate_out);
    PyObject *price = PyObject_GetAttr(terms, with.price), *rates = in && out ? PyTuple_Pack(2, in, out) : NULL;
    if (rates && price) {
        with.rate[0] = PyLong_AsLongLong(in);
        with.rate[1] = PyLong_AsLongLong(out);
        Py_XSETREF(with.rates, Py_NewRef(rates));
        Py_XSETREF(with.price_of_terms, Py_NewRef(price));
        Py_XSETREF(with.terms, PyErr_Occurred() ? NULL : Py_NewRef(terms));
    }
    Py_XDECREF(in);
    Py_XDECREF(out);
    Py_XDECREF(price);
    Py_XDECREF(rates);
    return !PyErr_Occurred();
}

int sums_of(PyObject *state, char *columns, Sums *sums, PyObject *shared[SHARES]) {
    int64_t paid;
    if (!priced(*field_at(state, quiet_at.terms)))
        return -1;
    add_up(*field_at(state, quiet_at.turns), columns, sums);
    if (__builtin_mul_overflow(sums->sent, with.rate[0], &sums->usd) ||
        __builtin_mul_overflow(sums->output, with.rate[1], &paid) || __builtin_add_overflow(sums->usd, paid, &sums->usd))
        return 0;
    shared[OF_SOURCE] = *field_at(state, quiet_at.name);
    shared[OF_FORMAT] = *field_at(state, quiet_at.format);
    shared[OF_MODEL] = *field_at(state, quiet_at.model);
    shared[OF_PRICE] = with.price_of_terms;
    shared[OF_CODES] = with.codes[sums->usd != 0][sums->longest != 0.0];
    shared[OF_RATES] = with.rates;
    return 1;
}

/* The part of a run; NULL with an exception. */
static PyObject *part_of(const Sums *sums, PyObject *const shared[SHARES], PyObject *kept) {
    PyObject *fields[] = {
        PyLong_FromLongLong(sums->turns), PyLong_FromLongLong(sums->sent), PyLong_FromLongLong(sums->output),
        PyLong_FromLongLong(sums->usd), PyFloat_FromDouble(sums->longest), Py_NewRef(shared[OF_CODES]),
        PyLong_FromLongLong(sums->size), kept, Py_NewRef(shared[OF_RATES]),
    };
    enum { COUNT = sizeof fields / sizeof *fields };
    bool made = true;
    for (int i = 0; i < COUNT; i++)
        made = made && fields[i];
    PyObject *part = made ? PyObject_Vectorcall(settle_at.part_type, fields, COUNT, NULL) : NULL;
    for (int i = 0; i < COUNT; i++)
        Py_XDECREF(fields[i]);
    return part;
}

static PyObject *time_or_none(bool known, double time) {
    return known ? PyFloat_FromDouble(time) : Py_NewRef(Py_None);
}

/* Of gaps of less than a minute, as nearly all are, nothing is said. */
static PyObject *gap_of(const Seen *times) {
    return times->gap < 60 ? Py_NewRef(settle_at.no_gap) : Py_BuildValue("(dl)", times->gap, times->gap_turn);
}

PyObject *report_with(const Sums *sums, PyObject *const shared[SHARES], PyObject *run, PyObject *kept, PyObject *spill) {
    PyTypeObject *type = (PyTypeObject *)settle_at.type;
    PyObject *part = part_of(sums, shared, kept), *report = part && run ? type->tp_alloc(type, 0) : NULL;
    const struct {
        Where place;
        PyObject *value;
    } fields[] = {
        {settle_at.settled.run, run}, {settle_at.settled.source, Py_NewRef(shared[OF_SOURCE])},
        {settle_at.settled.format, Py_NewRef(shared[OF_FORMAT])}, {settle_at.settled.model, Py_NewRef(shared[OF_MODEL])},
        {settle_at.settled.started, time_or_none(sums->times.has_started, sums->times.started)},
        {settle_at.settled.ended, time_or_none(sums->times.has_ended, sums->times.ended)},
        {settle_at.settled.gap, gap_of(&sums->times)}, {settle_at.settled.part, part},
        {settle_at.settled.price, Py_NewRef(shared[OF_PRICE])}, {settle_at.settled.spill, Py_NewRef(spill)},
        {settle_at.settled.exits, Py_NewRef(settle_at.none)}, {settle_at.settled.times_normal, Py_NewRef(Py_None)},
        {settle_at.settled.children, Py_NewRef(Py_None)},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (report)
            set_field(report, fields[i].place, fields[i].value);
        else
            Py_XDECREF(fields[i].value);
    if (PyErr_Occurred())
        Py_CLEAR(report);
    return report;
}

/* The report of a run; NULL where its sums are absurd, or with an exception. */
static PyObject *settled(PyObject *state, PyObject *spill) {
    Sums sums;
    PyObject *shared[SHARES];
    Py_ssize_t turns = PyByteArray_GET_SIZE(*field_at(state, quiet_at.turns)) / RECORD;
    PyObject *columns = PyBytes_FromStringAndSize(NULL, turns * COLUMNS);
    int fine = columns ? sums_of(state, PyBytes_AS_STRING(columns), &sums, shared) : -1;
    if (fine > 0 && _PyBytes_Resize(&columns, (Py_ssize_t)sums.size) < 0)
        return NULL;
    if (fine > 0)
        return report_with(&sums, shared, Py_NewRef(*field_at(state, quiet_at.run)), columns, spill);
    Py_XDECREF(columns);
    return NULL;
}

/* Have the columns of some parts kept. False with an exception. */
static bool keep_all(PyObject *spill, PyObject *parts) {
    PyObject *done = PyObject_CallMethodOneArg(spill, with.keep_all, parts);
    Py_XDECREF(done);
    return done && PyList_SetSlice(parts, 0, PyList_GET_SIZE(parts), NULL) == 0;
}

/* settle(runs, spill) -> the numbers of the runs that were not replaced by their reports */
PyObject *settle(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t count) {
    if (count != 2 || !PyList_CheckExact(args[0]) || !settle_at.type) {
        PyErr_SetString(PyExc_TypeError, "runs and spill");
        return NULL;
    }
    PyObject *others = PyList_New(0), *parts = PyList_New(0);
    bool fine = others && parts;
    for (Py_ssize_t i = 0; fine && i < PyList_GET_SIZE(args[0]); i++) {
        PyObject *run = PyList_GET_ITEM(args[0], i), *report = is_quiet(run) ? settled(run, args[1]) : NULL;
        if (report) {
            fine = PyList_Append(parts, *field_at(report, settle_at.settled.part)) == 0 &&
                   PyList_SetItem(args[0], i, report) == 0 &&
                   (PyList_GET_SIZE(parts) < KEPT_AT_ONCE || keep_all(args[1], parts));
            continue;
        }
        PyObject *number = PyErr_Occurred() ? NULL : PyLong_FromSsize_t(i);
        fine = number && PyList_Append(others, number) == 0;
        Py_XDECREF(number);
    }
    if (!fine || !keep_all(args[1], parts))
        Py_CLEAR(others);
    Py_XDECREF(parts);
    return others;
}
