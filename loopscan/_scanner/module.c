/* loopscan._compiled: the loops that run once a line, for machines on which they could be compiled. */

#include "names.h"

Given given;
bool use_long;

extern PyType_Spec native_spec, claude_spec, chat_spec, recent_spec;
PyObject *settle_with(PyObject *self, PyObject *args);
PyObject *settle(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *summed_to(PyObject *self, PyObject *args);
PyObject *fill(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *parcel(PyObject *self, PyObject *reports);
PyObject *unparcel(PyObject *self, PyObject *args);
PyObject *stands(PyObject *self, PyObject *args);
PyObject *stop(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *told(PyObject *self, PyObject *const *args, Py_ssize_t count);
bool setup_quiet(PyObject *quiet);
bool setup_going(PyObject *going);
bool setup_awake(PyObject *look, PyObject *late);
PyObject *share(PyObject *self, PyObject *args);
PyObject *any_holds_of(PyObject *self, PyObject *args);
PyObject *apart(PyObject *self, PyObject *args);
PyObject *in_several(PyObject *self, PyObject *arrays);
PyObject *merged(PyObject *self, PyObject *args);
extern const char any_holds_doc[], apart_doc[], in_several_doc[], merged_doc[];
PyObject *take_usual(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *is_steady(PyObject *self, PyObject *value);
PyObject *says_one(PyObject *self, PyObject *const *args, Py_ssize_t count);

bool read_words(PyObject *given_words, Words *words) {
    PyObject *list = PySequence_List(given_words);
    if (!list)
        return false;
    *words = (Words){0};
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        Py_ssize_t size;
        const char *word = PyUnicode_AsUTF8AndSize(PyList_GET_ITEM(list, i), &size);
        if (!word || size > 23 || words->count == WORDS_MOST) {
            if (word)
                PyErr_SetString(PyExc_ValueError, "a word too many");
            Py_DECREF(list);
            return false;
        }
        memcpy(words->word[words->count], word, (size_t)size);
        words->size[words->count++] = (uint8_t)size;
        words->sizes |= 1u << size;
    }
    Py_DECREF(list);
    return true;
}

/* Whether hashes are what Python makes of the same: idents of both parts must meet. */
static bool hashes_are_pythons(void) {
    PyObject *pair = Py_BuildValue("(sy)", "search", "{\"q\":1}"), *text = PyUnicode_FromString("{\"q\":1}");
    bool same = pair && text && hash_of("{\"q\":1}", 7) == PyObject_Hash(text) &&
                hash_of_two(hash_of("search", 6), hash_of("{\"q\":1}", 7)) == PyObject_Hash(pair);
    Py_XDECREF(pair);
    Py_XDECREF(text);
    return same;
}

PyDoc_STRVAR(setup_doc, "setup(quiet, going, look, late, kind, seconds, ident, paths, asked, limits): what is shared with Python.");

static PyObject *setup(PyObject *Py_UNUSED(self), PyObject *args) {
    PyObject *quiet, *going, *look, *late, *kind, *seconds, *ident, *paths, *asked;
    if (!PyArg_ParseTuple(args, "OOOOOOOOO(llllll)", &quiet, &going, &look, &late, &kind, &seconds, &ident, &paths, &asked,
                          &given.shell, &given.gap, &given.tools, &given.part, &given.listed, &given.plain))
        return NULL;
    if (!read_words(paths, &given.paths) || !read_words(asked, &given.asked) || !setup_quiet(quiet) ||
        !setup_going(going) || !setup_awake(look, late))
        return NULL;
    Py_XSETREF(given.late, Py_NewRef(late));
    Py_XSETREF(given.kind, Py_NewRef(kind));
    Py_XSETREF(given.seconds, Py_NewRef(seconds));
    Py_XSETREF(given.ident, Py_NewRef(ident));
    Py_RETURN_NONE;
}

/* How many ends of lines there are. */
static Py_ssize_t ends_in_block(const char *at, const char *end) {
    Py_ssize_t lines = 0;
#ifdef __SSE2__
    const __m128i newline = _mm_set1_epi8('\n'), zero = _mm_setzero_si128();
    while (end - at >= 16) {
        __m128i sums = zero;
        for (int round = 0; round < 255 && end - at >= 16; round++, at += 16)
            sums = _mm_sub_epi8(sums, _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)at), newline));
        sums = _mm_sad_epu8(sums, zero);
        lines += _mm_extract_epi16(sums, 0) + _mm_extract_epi16(sums, 4);
    }
#endif
    for (; at < end; at++)
        lines += *at == '\n';
    return lines;
}

/* Lines are counted for every block, and bytes.count is slow at that. */
static PyObject *lines_in(PyObject *Py_UNUSED(self), PyObject *args) {
    Py_buffer bytes;
    Py_ssize_t from, to;
    if (!PyArg_ParseTuple(args, "y*nn", &bytes, &from, &to))
        return NULL;
    const char *data = bytes.buf;
    bool within = from >= 0 && from <= to && to <= bytes.len;
    PyObject *lines = PyLong_FromSsize_t(within ? ends_in_block(data + from, data + to) : 0);
    PyBuffer_Release(&bytes);
    return lines;
}

PyDoc_STRVAR(share_doc, "share(types, things, pairs, limits): what the loops over turns have of Python.");
PyDoc_STRVAR(says_one_doc, "says_one(text, words): whether one of them stands in it as a word; None = too long.");
PyDoc_STRVAR(settle_with_doc, "settle_with(Settled, Part, Fired, none, no_gap): what reports of quiet runs are made of.");
PyDoc_STRVAR(settle_doc, "settle(runs, spill) -> the numbers of the runs that were not replaced by their reports.");
PyDoc_STRVAR(summed_to_doc, "summed_to(columns, turns, codes, rates, turn) -> sums by the end of a turn.");
PyDoc_STRVAR(parcel_doc, "parcel(runs) -> bytes, columns, what they share, the numbers of those that are not among them.");
PyDoc_STRVAR(unparcel_doc, "unparcel(bytes, columns, shared, spill, place) -> the reports.");
PyDoc_STRVAR(stands_doc, "stands(runs, format, salt, told, waits) -> hashes, places, first and last lines, numbers of the others.");
PyDoc_STRVAR(stop_doc, "stop(reports, turns, tokens, usd, seconds) -> the numbers of those whose exits Python is to find.");
PyDoc_STRVAR(told_doc, "told(reports, at, moulds) -> lines of reports, number of the first that is not among them.");
PyDoc_STRVAR(fill_doc, "fill(pieces, roles, values) -> the text of a record; None where a value is unusual.");
PyDoc_STRVAR(take_usual_doc, "take_usual(run, turns, at) -> the number of the first turn that is not usual.");

static PyMethodDef functions[] = {
    {"any_holds", any_holds_of, METH_VARARGS, any_holds_doc},
    {"apart", apart, METH_VARARGS, apart_doc},
    {"in_several", in_several, METH_O, in_several_doc},
    {"lines_in", lines_in, METH_VARARGS, "lines_in(data, begin, end) -> how many ends of lines there are."},
    {"merged", merged, METH_VARARGS, merged_doc},
    {"settle_with", settle_with, METH_VARARGS, settle_with_doc},
    {"settle", (PyCFunction)(void (*)(void))settle, METH_FASTCALL, settle_doc},
    {"fill", (PyCFunction)(void (*)(void))fill, METH_FASTCALL, fill_doc},
    {"told", (PyCFunction)(void (*)(void))told, METH_FASTCALL, told_doc},
    {"parcel", parcel, METH_O, parcel_doc},
    {"unparcel", unparcel, METH_VARARGS, unparcel_doc},
    {"stands", stands, METH_VARARGS, stands_doc},
    {"stop", (PyCFunction)(void (*)(void))stop, METH_FASTCALL, stop_doc},
    {"summed_to", summed_to, METH_VARARGS, summed_to_doc},
    {"setup", setup, METH_VARARGS, setup_doc},
    {"is_steady", is_steady, METH_O, "is_steady(text): whether nothing in it can be volatile."},
    {"says_one", (PyCFunction)(void (*)(void))says_one, METH_FASTCALL, says_one_doc},
    {"share", share, METH_VARARGS, share_doc},
    {"take_usual", (PyCFunction)(void (*)(void))take_usual, METH_FASTCALL, take_usual_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "loopscan._compiled",
    .m_doc = "The loops that run once a line.",
    .m_size = -1,
    .m_methods = functions,
};

static bool add_type(PyObject *to, const char *name, PyType_Spec *spec) {
    PyObject *type = PyType_FromSpec(spec);
    bool added = type && PyModule_AddObjectRef(to, name, type) == 0;
    Py_XDECREF(type);
    return added;
}

PyMODINIT_FUNC PyInit__compiled(void) {
    if (!hashes_are_pythons()) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ImportError, "this Python makes other hashes");
        return NULL;
    }
    use_long = have_long();
    PyObject *made = PyModule_Create(&module);
    if (made && !(add_type(made, "Native", &native_spec) && add_type(made, "Claude", &claude_spec) &&
                  add_type(made, "Chat", &chat_spec) && add_type(made, "Recent", &recent_spec)))
        Py_CLEAR(made);
    return made;
}
