/* Runs of chat messages, a line each: read to know that nothing happens in them, or made calls of. */

#include "chat_calm.h"
#include "chat_play.h"

PyObject *filled(PyObject *self, PyObject *const *args, Py_ssize_t count);

typedef struct {
    PyObject_HEAD
    Words speaking;
    Makings makings;
    Calm calm;
} Chat;

PyDoc_STRVAR(heard_doc,
    "heard(line, reach) -> (beside, calls, written, chars) | False | None\n\n"
    "A calm run: what stands beside its messages, how many calls it has, the characters that each turn wrote and\n"
    "those of each result (unsigned int). False where something happens in it, None where that is for Python to tell.");

static PyObject *heard(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    Calm *run = &((Chat *)self)->calm;
    Beside beside;
    if (count != 2 || !PyBytes_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "heard");
        return NULL;
    }
    run->reach = PyLong_AsLong(args[1]);
    run->turns = run->calls = run->trails = run->guess = 0;
    run->restless = false;
    if (PyErr_Occurred() || !read_line(cursor_of(args[0]), &run->taker, &beside)) {
        if (PyErr_Occurred())
            return NULL;
        return run->restless ? Py_NewRef(Py_False) : Py_NewRef(Py_None);
    }
    Py_ssize_t size = run->turns * (Py_ssize_t)sizeof(uint32_t);
    PyObject *other = beside_of(&beside);
    if (!other)
        return NULL;
    return Py_BuildValue("Niy#y#", other, run->calls, (char *)run->written, size, (char *)run->chars, size);
}

PyDoc_STRVAR(play_doc,
    "play(line) -> (beside, calls, texts, written) | None\n\n"
    "A run in its simplest shape: what stands beside its messages, its calls, texts and written characters.");

static PyObject *play(PyObject *self, PyObject *line) {
    Played played = {.makings = &((Chat *)self)->makings};
    if (!PyBytes_Check(line)) {
        PyErr_SetString(PyExc_TypeError, "play");
        return NULL;
    }
    return play_line(&played, &((Chat *)self)->speaking, cursor_of(line));
}

static PyObject *create(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(named)) {
    PyObject *speaking, *late, *missing, *decode;
    long most;
    if (!PyArg_ParseTuple(args, "OlOOO", &speaking, &most, &late, &missing, &decode))
        return NULL;
    Chat *self = (Chat *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->makings = (Makings){Py_NewRef(late), Py_NewRef(missing), Py_NewRef(decode)};
    self->calm.taker = (Taker){&self->speaking, take_call, take_words};
    self->calm.most = most;
    if (!read_words(speaking, &self->speaking))
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void release(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    Makings *makings = &((Chat *)self)->makings;
    Py_XDECREF(makings->late);
    Py_XDECREF(makings->missing);
    Py_XDECREF(makings->decode);
    type->tp_free(self);
    Py_DECREF(type);
}

PyDoc_STRVAR(filled_doc,
    "filled(written, chars, base, growth, output, *history, *results, *written, most) -> (sums, tokens) | None\n\n"
    "Tokens of the sends of a run by the characters of its turns, see loopscan.fill.Filling: the sums of input and\n"
    "output, and each as an unsigned int. None where a send has more tokens than `most`.");

static PyMethodDef methods[] = {
    {"filled", (PyCFunction)(void (*)(void))filled, METH_FASTCALL | METH_STATIC, filled_doc},
    {"heard", (PyCFunction)(void (*)(void))heard, METH_FASTCALL, heard_doc},
    {"play", play, METH_O, play_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot parts[] = {
    {Py_tp_new, create},
    {Py_tp_dealloc, release},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec chat_spec = {
    .name = "loopscan._compiled.Chat",
    .basicsize = sizeof(Chat),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = parts,
};
