/* What the sends of usual turns cost. */

#include "stretch.h"

/* Characters: those that are told, else those that a function finds in the turn. -1 with an exception. */
static int64_t characters(PyObject *told, PyObject *turn, PyObject *find) {
    PyObject *found = told != Py_None ? Py_NewRef(told) : PyObject_CallOneArg(find, turn);
    int64_t size = -1;
    if (found && !integer(found, &size))
        size = (int64_t)1 << 40;
    Py_XDECREF(found);
    return size;
}

static int64_t rounded_up(int64_t characters, int64_t n, int64_t d) {
    return (characters * n + d - 1) / d;
}

/* Characters of the result of a turn's call; those that the reader counted need no look at it. */
static int64_t got_by(const Now *now) {
    int64_t size;
    if (now->late && counted(get(now->call, in.late.chars), &size))
        return size;
    PyObject *result = PyObject_GetAttrString(now->call, "result");
    if (!result)
        return -1;
    size = PyUnicode_CheckExact(result) ? PyUnicode_GET_LENGTH(result) : characters(Py_None, now->turn, shared.got);
    Py_DECREF(result);
    return size;
}

/* What a send that says nothing of its usage costs: 1, 0 or -1 as everywhere. */
static int pay_bare(Stretch *s, Now *now) {
    int64_t size = got_by(now);
    if (PyErr_Occurred())
        return -1;
    int64_t written = characters(get(now->turn, in.turn.written), now->turn, shared.written);
    if (PyErr_Occurred())
        return -1;
    if (size < 0 || written < 0 || size > 1 << 30 || written > 1 << 30)
        return 0;
    now->sent = s->sent + s->grown;
    now->output = s->fixed + rounded_up(written, s->out_n, s->out_d);
    if (now->sent < 0 || now->sent > s->most || now->output > given.plain)
        return 0;
    now->usd = now->sent * s->rate_in;
    s->sent = now->sent;
    s->grown = s->step + rounded_up(written, s->own_n, s->own_d) + rounded_up(size, s->got_n, s->got_d);
    return 1;
}

static int64_t count_or_none(PyObject *value) {
    int64_t count = 0;
    return value == Py_None ? 0 : counted(value, &count) ? count : -1;
}

/* loopscan.cold.Warmth.goes_on, else `send`. False with an exception. */
static bool keep_warm(Stretch *s, const Now *now, int64_t fresh, int64_t read, int64_t write, int64_t hour) {
    PyObject *warmth = get(s->ledger, in.ledger.warmth), *prompts = get(warmth, in.warmth.last);
    int64_t tokens;
    if (!s->prompt)
        s->prompt = PyDict_GetItemWithError(prompts, s->model);
    if (!s->prompt && PyErr_Occurred())
        return false;
    if (s->prompt && get(s->prompt, in.prompt.cached) == Py_True && counted(get(s->prompt, in.prompt.tokens), &tokens) &&
        2 * read >= (now->sent < tokens ? now->sent : tokens)) {
        set_to(s->prompt, in.prompt.tokens, get(now->usage, in.usage.input));
        set_to(s->prompt, in.prompt.time, get(now->turn, in.turn.time));
        return true;
    }
    PyObject *cold = get(get(s->ledger, in.ledger.money), in.money.cold);
    PyObject *taken = PyObject_CallMethod(warmth, "send", "O(LLLL)OO", now->turn, (long long)fresh, (long long)read,
                                          (long long)(write - hour), (long long)hour, get(s->terms, in.terms.price), cold);
    Py_XDECREF(taken);
    return taken != NULL;
}

/* loopscan.ledger.Ledger.cached: 1, 0 or -1. */
static int pay_cached(Stretch *s, Now *now) {
    PyObject *usage = now->usage, *reads = get(usage, in.usage.read), *writes = get(usage, in.usage.write);
    PyObject *hours = get(usage, in.usage.hour);
    if (reads == Py_None && writes == Py_None && hours == Py_None) {
        now->usd = now->sent * s->rate_in;
        return 1;
    }
    int64_t read = count_or_none(reads), write = count_or_none(writes), hour = count_or_none(hours);
    int64_t fresh = now->sent - read - write;
    if (!s->cached || read < 0 || write < 0 || hour < 0 || fresh < 0 || hour > write)
        return 0;
    if (reads != Py_None && !keep_warm(s, now, fresh, read, write, hour))
        return -1;
    s->reads += read, s->writes += write, s->hours += hour;
    s->classes |= (reads != Py_None) + 2 * (writes != Py_None) + 4 * (hours != Py_None);
    now->usd = fresh * s->rate_in + read * s->rate_read + (write - hour) * s->rate_write + hour * s->rate_hour;
    return 1;
}

/* The price of a send that may take the short way of a ledger: 1, 0 or -1. */
int pay(Stretch *s, Now *now) {
    int paid = s->bare ? pay_bare(s, now) : pay_cached(s, now);
    if (paid > 0)
        now->usd += now->output * s->rate_out;
    return paid;
}

static bool add_to(PyObject *array, const void *numbers, int count) {
    PyObject *bytes = PyBytes_FromStringAndSize(numbers, 8 * (Py_ssize_t)count);
    PyObject *added = bytes ? PyObject_CallMethodOneArg(array, shared.frombytes, bytes) : NULL;
    Py_XDECREF(bytes);
    Py_XDECREF(added);
    return added != NULL;
}

static bool add_number(PyObject *object, Where place, int64_t more) {
    if (!more)
        return true;
    PyObject *addend = PyLong_FromLongLong(more), *sum = addend ? PyNumber_Add(get(object, place), addend) : NULL;
    Py_XDECREF(addend);
    if (sum)
        set_field(object, place, sum);
    return sum != NULL;
}

/* Write down what the turns so far cost. False with an exception. */
bool flush(Stretch *s) {
    PyObject *tally = s->tally, *plain = s->plain;
    int count = s->count;
    int64_t classes;
    if (!count)
        return true;
    s->count = 0;
    if (!integer(get(plain, in.plain.classes), &classes))
        classes = 0;
    bool fine = add_to(get(tally, in.tally.input), s->input, count) && add_to(get(tally, in.tally.output), s->output, count) &&
                add_to(get(tally, in.tally.usd), s->usd, count) && add_to(get(tally, in.tally.elapsed), s->elapsed, count) &&
                add_number(plain, in.plain.reads, s->reads) && add_number(plain, in.plain.writes, s->writes) &&
                add_number(plain, in.plain.hours, s->hours) && set_number(plain, in.plain.classes, (long)(classes | s->classes));
    s->reads = s->writes = s->hours = 0;
    return fine;
}
