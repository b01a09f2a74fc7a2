/* Records of runs (loopscan.render.jsonl): the text that all of a kind have, and the figures of each between. */

#include "settle.h"

enum { PICO_DIGITS = 12, MILLION = 1000000 };
static const long long pico = 1000000000000, least_pico = 100000000, most_pico = 1000000000000000;
static const double most_time = 253402300800.0;

static void put_digits(Bytes *out, unsigned long long number, int least) {
    char digits[24];
    int size = 0;
    for (; number || size < least; number /= 10)
        digits[23 - size++] = (char)('0' + number % 10);
    put(out, digits + 24 - size, size);
}

static bool put_count(Bytes *out, PyObject *value) {
    int beyond = 0;
    if (!PyLong_CheckExact(value))
        return false;
    long long number = PyLong_AsLongLongAndOverflow(value, &beyond);
    if (beyond || number < 0)
        return false;
    put_digits(out, (unsigned long long)number, 1);
    return true;
}

/* Picodollars as dollars. Up to 15 digits are what Python and orjson make of the nearest float. */
static bool put_dollars(Bytes *out, PyObject *value) {
    int beyond = 0;
    if (!PyLong_CheckExact(value))
        return false;
    long long number = PyLong_AsLongLongAndOverflow(value, &beyond);
    if (beyond || number < 0 || (number && number < least_pico) || number >= most_pico)
        return false;
    put_digits(out, (unsigned long long)(number / pico), 1);
    put_byte(out, '.');
    Py_ssize_t least = out->size + 1;
    put_digits(out, (unsigned long long)(number % pico), PICO_DIGITS);
    while (!out->failed && out->size > least && out->data[out->size - 1] == '0')
        out->size--;
    return true;
}

/* A figure of one digit behind the point. */
static bool put_figure(Bytes *out, PyObject *value) {
    if (!PyFloat_CheckExact(value))
        return false;
    double figure = PyFloat_AS_DOUBLE(value);
    if (!(figure >= 0.05 && figure < 1e13))
        return false;
    unsigned long long tenths = (unsigned long long)(figure * 10.0 + 0.5);
    if ((double)tenths / 10.0 != figure)
        return false;
    put_digits(out, tenths / 10, 1);
    put_byte(out, '.');
    put_digits(out, tenths % 10, 1);
    return true;
}

/* Year, month and day of a day since 1970: years begin in March here, so that the odd day is the last. */
static void put_day(Bytes *out, unsigned long day) {
    unsigned long from_march = day + 719468, era = from_march / 146097, in_era = from_march % 146097;
    unsigned long year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    unsigned long in_year = in_era - (365 * year + year / 4 - year / 100), month = (5 * in_year + 2) / 153;
    put_digits(out, year + era * 400 + (month >= 10), 4);
    put_byte(out, '-');
    put_digits(out, month < 10 ? month + 3 : month - 9, 2);
    put_byte(out, '-');
    put_digits(out, in_year - (153 * month + 2) / 5 + 1, 2);
}

/* Epoch seconds as loopscan.report.iso writes them: to the nearest microsecond, cut to milliseconds. */
static bool put_time(Bytes *out, PyObject *value) {
    if (!PyFloat_CheckExact(value))
        return false;
    double time = PyFloat_AS_DOUBLE(value);
    if (!(time >= 0.0 && time < most_time - 1))
        return false;
    unsigned long long seconds = (unsigned long long)time;
    double exact = (time - (double)seconds) * MILLION;
    unsigned long micros = (unsigned long)exact;
    double rest = exact - (double)micros;
    micros += rest > 0.5 || (rest == 0.5 && (micros & 1));
    if (micros >= MILLION) {
        micros -= MILLION;
        seconds++;
    }
    unsigned long in_day = (unsigned long)(seconds % 86400);
    put_byte(out, '"');
    put_day(out, (unsigned long)(seconds / 86400));
    put_byte(out, 'T');
    put_digits(out, in_day / 3600, 2);
    put_byte(out, ':');
    put_digits(out, in_day / 60 % 60, 2);
    put_byte(out, ':');
    put_digits(out, in_day % 60, 2);
    if (micros) {
        put_byte(out, '.');
        put_digits(out, micros / 1000, 3);
    }
    put(out, "Z\"", 2);
    return true;
}

/* A string that stands in JSON as it is. */
static bool put_name(Bytes *out, PyObject *value) {
    if (!PyUnicode_CheckExact(value) || PyUnicode_READY(value) < 0 || !PyUnicode_IS_COMPACT_ASCII(value))
        return false;
    const Py_UCS1 *text = PyUnicode_1BYTE_DATA(value);
    Py_ssize_t size = PyUnicode_GET_LENGTH(value);
    for (Py_ssize_t i = 0; i < size; i++)
        if (text[i] < 0x20 || text[i] > 0x7E || text[i] == '"' || text[i] == '\\')
            return false;
    put_byte(out, '"');
    put(out, text, size);
    put_byte(out, '"');
    return true;
}

static bool put_piece(Bytes *out, PyObject *value) {
    Py_ssize_t size;
    const char *text = PyUnicode_CheckExact(value) ? PyUnicode_AsUTF8AndSize(value, &size) : NULL;
    if (text)
        put(out, text, size);
    return text != NULL;
}

static bool put_value(Bytes *out, char role, PyObject *value) {
    if (value == Py_None) {
        put(out, "null", 4);
        return true;
    }
    switch (role) {
    case 'n': return put_count(out, value);
    case 'd': return put_dollars(out, value);
    case 'f': return put_figure(out, value);
    case 't': return put_time(out, value);
    case 's': return put_name(out, value);
    case 'j': return put_piece(out, value);
    default: return false;
    }
}

bool put_filled(Bytes *out, PyObject *pieces, PyObject *roles, PyObject *const *values) {
    bool usual = put_piece(out, PyTuple_GET_ITEM(pieces, 0));
    for (Py_ssize_t i = 0; usual && i < PyBytes_GET_SIZE(roles); i++)
        usual = put_value(out, PyBytes_AS_STRING(roles)[i], values[i]) && put_piece(out, PyTuple_GET_ITEM(pieces, i + 1));
    return usual && !out->failed;
}

/* fill(pieces, roles, values) -> the text with the values between its pieces; None where one of them is unusual. */
PyObject *fill(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t count) {
    if (count != 3 || !PyTuple_CheckExact(args[0]) || !PyBytes_CheckExact(args[1]) || !PyTuple_CheckExact(args[2]) ||
        PyTuple_GET_SIZE(args[2]) != PyBytes_GET_SIZE(args[1]) ||
        PyTuple_GET_SIZE(args[0]) != PyBytes_GET_SIZE(args[1]) + 1) {
        PyErr_SetString(PyExc_TypeError, "pieces, roles and values");
        return NULL;
    }
    Bytes *out = &given.spare;
    out->size = 0;
    bool usual = put_filled(out, args[0], args[1], &PyTuple_GET_ITEM(args[2], 0));
    if (out->failed) {
        out->failed = false;
        return PyErr_NoMemory();
    }
    if (!usual) {
        if (PyErr_Occurred())
            return NULL;
        Py_RETURN_NONE;
    }
    return PyUnicode_DecodeUTF8((const char *)out->data, out->size, "strict");
}
