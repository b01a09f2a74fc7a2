/* loopscan._compiled.Native: what takes the lines of one native log. */

#include "states.h"

static void release(PyObject *self) {
    Layout *layout = &((Native *)self)->layout;
    PyTypeObject *type = Py_TYPE(self);
    for (int i = 0; i < layout->count; i++)
        PyMem_Free(layout->fields[i].member);
    PyMem_Free(layout->fields);
    for (int i = 0; i < AHEAD; i++)
        Py_XDECREF(((Native *)self)->batch.states[i]);
    drop_states(&((Native *)self)->table);
    Py_XDECREF(((Native *)self)->first);
    type->tp_free(self);
    Py_DECREF(type);
}

static bool add_field(Layout *layout, PyObject *pair) {
    const char *key;
    Py_ssize_t size;
    int role;
    if (!PyArg_ParseTuple(pair, "s#i", &key, &size, &role))
        return false;
    Field *field = &layout->fields[layout->count];
    field->member = PyMem_Malloc((size_t)size + 3);
    if (!field->member || role < 0 || role > ROLES)
        return PyErr_NoMemory() && false;
    field->member[0] = field->member[size + 1] = '"';
    field->member[size + 2] = ':';
    memcpy(field->member + 1, key, (size_t)size);
    field->plain = true;
    for (Py_ssize_t i = 0; i < size; i++)
        field->plain = field->plain && key[i] >= ' ' && key[i] < 0x7F && key[i] != '"' && key[i] != '\\';
    field->size = size;
    field->role = (Role)role;
    layout->count++;
    return true;
}

static PyObject *create(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(named)) {
    PyObject *pairs;
    int needed;
    if (!PyArg_ParseTuple(args, "O!i", &PyList_Type, &pairs, &needed))
        return NULL;
    Native *self = (Native *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->layout.needed = (unsigned)needed;
    self->layout.fields = PyMem_Calloc((size_t)PyList_GET_SIZE(pairs) + 1, sizeof(Field));
    bool made = self->layout.fields != NULL;
    for (Py_ssize_t i = 0; made && i < PyList_GET_SIZE(pairs); i++)
        made = add_field(&self->layout, PyList_GET_ITEM(pairs, i));
    if (!made) {
        if (!PyErr_Occurred())
            PyErr_NoMemory();
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static PyMethodDef methods[] = {
    {"take", (PyCFunction)(void (*)(void))take, METH_FASTCALL, take_doc},
    {"more", (PyCFunction)(void (*)(void))more, METH_FASTCALL, more_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot parts[] = {
    {Py_tp_new, create},
    {Py_tp_dealloc, release},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec native_spec = {
    .name = "loopscan._compiled.Native",
    .basicsize = sizeof(Native),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = parts,
};
