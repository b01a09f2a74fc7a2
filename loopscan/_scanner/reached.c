/* The turns at which the caps of a policy are reached, and sums by a turn, from the columns of a run (loopscan.part). */

#include "reached.h"

/* The columns of a run and its rates. `waits`: NULL where it has no times. */
typedef struct {
    const char *sent, *output, *waits;
    Py_ssize_t turns;
    long long rate_in, rate_out;
} Columns;

static uint32_t count_at(const char *column, Py_ssize_t turn) {
    uint32_t count;
    memcpy(&count, column + 4 * turn, 4);
    return count;
}

static void look_up(const Columns *columns, const Caps *caps, Reach places[CAPS]) {
    long long sums[3] = {0, 0, 0};
    int left = caps->held[0] + caps->held[1] + caps->held[2] + caps->held[3];
    for (Py_ssize_t i = 0; i < columns->turns && left; i++) {
        uint32_t sent = count_at(columns->sent, i), output = count_at(columns->output, i);
        double wait = 0.0;
        if (columns->waits)
            memcpy(&wait, columns->waits + 8 * i, 8);
        sums[0]++;
        sums[1] += (long long)sent + output;
        sums[2] += sent * columns->rate_in + output * columns->rate_out;
        for (int cap = 0; cap < CAPS; cap++) {
            bool reached = cap == 3 ? wait > caps->seconds : sums[cap] >= caps->most[cap];
            if (!caps->held[cap] || places[cap].turn || !reached)
                continue;
            places[cap] = (Reach){.turn = i + 1, .usd = sums[2]};
            if (i + 1 < columns->turns) {
                places[cap].sent = count_at(columns->sent, i + 1);
                places[cap].output = count_at(columns->output, i + 1);
            }
            left--;
        }
    }
}

/* False with an exception. A cap beyond 64 bits is never reached. */
bool read_caps(PyObject *const given[CAPS], Caps *caps) {
    for (int cap = 0; cap < CAPS; cap++) {
        caps->held[cap] = given[cap] != Py_None;
        if (!caps->held[cap])
            continue;
        int beyond = 0;
        if (cap == 3)
            caps->seconds = PyFloat_AsDouble(given[cap]);
        else
            caps->most[cap] = PyLong_AsLongLongAndOverflow(given[cap], &beyond);
        if (PyErr_Occurred()) {
            if (!PyErr_ExceptionMatches(PyExc_OverflowError))
                return false;
            PyErr_Clear();
            beyond = 1;
        }
        if (beyond < 0)
            caps->most[cap] = 0;
        caps->held[cap] = beyond <= 0;
    }
    return true;
}

/* Look the caps up in the columns of a run whose sums fit 64 bits; false where these are none of so many turns. */
bool look_for(const char *data, Py_ssize_t size, Py_ssize_t turns, const long long rates[2], const Caps *caps,
              Reach places[CAPS]) {
    bool timed = turns >= 0 && size / 16 == turns && size % 16 == 0;
    if (!timed && (turns < 0 || size / 8 != turns || size % 8))
        return false;
    Columns columns = {data, data + 4 * turns, timed ? data + 8 * turns : NULL, turns, rates[0], rates[1]};
    look_up(&columns, caps, places);
    return true;
}

/* The number of a turn in a column of a code. */
static uint64_t number_at(char code, const char *column, Py_ssize_t turn) {
    uint64_t number = 0;
    if (code == 'q')
        memcpy(&number, column + 8 * turn, 8);
    return code == 'I' ? count_at(column, turn) : number;
}

static Py_ssize_t width_of(char code) {
    return code == 'I' ? 4 : code == 'q' || code == 'd' ? 8 : code == '-' || code == '=' ? 0 : -1;
}

/* Where each of the columns begins; false where they are not of that size. */
static bool lay_out(const char *data, Py_ssize_t size, Py_ssize_t turns, const char *codes, const char *columns[CAPS]) {
    for (int i = 0; i < CAPS; i++) {
        Py_ssize_t width = width_of(codes[i]);
        if (width < 0 || (codes[i] == 'd') != (i == 3 && codes[i] != '-') || (codes[i] == '=' && i != 2))
            return false;
        columns[i] = data;
        if (width && turns > size / width)
            return false;
        data += width * turns;
        size -= width * turns;
    }
    return size == 0;
}

/* summed_to(columns, turns, codes, rates, turn) -> input, output, picodollars and longest seconds by the end of a turn. */
PyObject *summed_to(PyObject *Py_UNUSED(self), PyObject *args) {
    const char *data, *codes, *columns[CAPS];
    Py_ssize_t size, turns, codes_size, last;
    long long rate_in, rate_out;
    if (!PyArg_ParseTuple(args, "y#ns#(LL)n", &data, &size, &turns, &codes, &codes_size, &rate_in, &rate_out, &last))
        return NULL;
    if (codes_size != CAPS || turns < 0 || last < 0 || last > turns || !lay_out(data, size, turns, codes, columns)) {
        PyErr_SetString(PyExc_ValueError, "no columns of so many turns");
        return NULL;
    }
    uint64_t sent = 0, output = 0, usd = 0;
    double longest = 0.0;
    for (Py_ssize_t i = 0; i < last; i++) {
        sent += number_at(codes[0], columns[0], i);
        output += number_at(codes[1], columns[1], i);
        usd += number_at(codes[2], columns[2], i);
        double wait = 0.0;
        if (codes[3] == 'd')
            memcpy(&wait, columns[3] + 8 * i, 8);
        longest = wait > longest ? wait : longest;
    }
    if (codes[2] == '=')
        usd = sent * (uint64_t)rate_in + output * (uint64_t)rate_out;
    return Py_BuildValue("LLLd", (long long)sent, (long long)output, (long long)usd, longest);
}
