/* Tokens of the sends of a run by the characters of its turns: what loopscan.fill.Filling.all makes of them. */

#include "names.h"

enum { NUMBERS = 10, LARGEST = 1 << 30 };

/* Numbers of a `Filling`, and the most tokens of a send. Characters are given as (tokens, characters). */
typedef struct {
    int64_t base, step, fixed, own, per_own, got, per_got, out, per_out, most;
} Way;

/* Read one; false where a number is none that fits, or with an exception. */
static bool read_way(PyObject *const *args, Way *way) {
    int64_t *const to[NUMBERS] = {&way->base, &way->step,   &way->fixed, &way->own,     &way->per_own,
                                  &way->got,  &way->per_got, &way->out,   &way->per_out, &way->most};
    for (int i = 0; i < NUMBERS; i++) {
        int beyond;
        *to[i] = PyLong_AsLongLongAndOverflow(args[i], &beyond);
        if (beyond || *to[i] < 0 || *to[i] > LARGEST)
            return false;
    }
    return way->per_own && way->per_got && way->per_out;
}

static inline int64_t tokens_of(uint32_t chars, int64_t tokens, int64_t per) {
    return (chars * tokens + per - 1) / per;
}

static uint32_t number_at(const char *data, Py_ssize_t i) {
    uint32_t number;
    memcpy(&number, data + i * (Py_ssize_t)sizeof number, sizeof number);
    return number;
}

/* Fill in the sends; false where one has too many tokens. */
static bool fill(const Way *way, const char *written, const char *got, Py_ssize_t turns, uint32_t *out,
                 int64_t sums[2]) {
    int64_t sent = way->base;
    bool alike = way->own == way->out && way->per_own == way->per_out && !way->fixed;
    for (Py_ssize_t i = 0; i < turns; i++) {
        uint32_t chars = number_at(written, i);
        int64_t again = tokens_of(chars, way->own, way->per_own);
        int64_t output = alike ? again : way->fixed + tokens_of(chars, way->out, way->per_out);
        if (sent > way->most || output > given.plain)
            return false;
        out[i] = (uint32_t)sent;
        out[turns + i] = (uint32_t)output;
        sums[0] += sent;
        sums[1] += output;
        sent += way->step + again + tokens_of(number_at(got, i), way->got, way->per_got);
    }
    return true;
}

PyObject *filled(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t count) {
    Way way;
    int64_t sums[2] = {0, 0};
    if (count != 2 + NUMBERS || !PyBytes_Check(args[0]) || !PyBytes_Check(args[1]) ||
        PyBytes_GET_SIZE(args[0]) != PyBytes_GET_SIZE(args[1])) {
        PyErr_SetString(PyExc_TypeError, "filled");
        return NULL;
    }
    Py_ssize_t size = PyBytes_GET_SIZE(args[0]), turns = size / (Py_ssize_t)sizeof(uint32_t);
    if (!read_way(args + 2, &way)) {
        if (PyErr_Occurred())
            return NULL;
        Py_RETURN_NONE;
    }
    PyObject *data = PyBytes_FromStringAndSize(NULL, 2 * turns * (Py_ssize_t)sizeof(uint32_t));
    if (!data)
        return NULL;
    uint32_t *out = (uint32_t *)(void *)PyBytes_AS_STRING(data);
    if (!fill(&way, PyBytes_AS_STRING(args[0]), PyBytes_AS_STRING(args[1]), turns, out, sums)) {
        Py_DECREF(data);
        Py_RETURN_NONE;
    }
    return Py_BuildValue("(LL)N", (long long)sums[0], (long long)sums[1], data);
}
