/* What loopscan.ids does with its sorted arrays. */

#include "ids.h"

const char any_holds_doc[] = "any_holds(arrays, number) -> whether one of the sorted arrays holds a number.";
const char apart_doc[] = "apart(hashes, places, before, left) -> numbers, the other places as bytes, whether they rise.";
const char in_several_doc[] = "in_several(arrays) -> the numbers that are in more than one of them; none holds one twice.";
const char merged_doc[] = "merged(one, other) -> the numbers of two sorted arrays in their order, as bytes.";

PyObject *any_holds_of(PyObject *Py_UNUSED(self), PyObject *args) {
    PyObject *arrays, *sought;
    int beyond;
    if (!PyArg_ParseTuple(args, "O!O", &PyList_Type, &arrays, &sought))
        return NULL;
    long long number = PyLong_AsLongLongAndOverflow(sought, &beyond);
    if (number == -1 && PyErr_Occurred())
        return NULL;
    int there = beyond ? 0 : any_holds(arrays, number);
    return there < 0 ? NULL : PyBool_FromLong(there);
}

/* Put the numbers of an array into a table that has room for them, and into a list those that are in there already. 0
   stands for an empty slot: it is never told of. False with an exception. */
static bool put_numbers(Recent *table, PyObject *array, PyObject *there) {
    Py_buffer buffer;
    if (PyObject_GetBuffer(array, &buffer, PyBUF_SIMPLE) < 0)
        return false;
    const int64_t *numbers = buffer.buf, *end = numbers + buffer.len / (Py_ssize_t)sizeof *numbers;
    bool fine = true;
    for (; fine && numbers < end; numbers++) {
        int64_t *slot = slot_of(table, *numbers);
        PyObject *known = *slot ? PyLong_FromLongLong(*numbers) : NULL;
        fine = !*slot || (known && PyList_Append(there, known) == 0);
        Py_XDECREF(known);
        *slot = *numbers;
    }
    PyBuffer_Release(&buffer);
    return fine;
}

PyObject *in_several(PyObject *Py_UNUSED(self), PyObject *arrays) {
    Recent table = {.room = LEAST_ROOM};
    PyObject *there = PyList_New(0);
    Py_ssize_t count = 0, size = 0;
    bool fine = there && (PyList_Check(arrays) || PyErr_Format(PyExc_TypeError, "arrays") != NULL);
    for (Py_ssize_t i = 0; fine && i < PyList_GET_SIZE(arrays); i++, count += size)
        fine = (size = PyObject_Size(PyList_GET_ITEM(arrays, i))) >= 0;
    while (slots_of(&table) < 2 * count)
        table.room++;
    if (fine && !(table.slots = PyMem_Calloc((size_t)slots_of(&table), sizeof *table.slots)))
        fine = PyErr_NoMemory() != NULL;
    for (Py_ssize_t i = 0; fine && i < PyList_GET_SIZE(arrays); i++)
        fine = put_numbers(&table, PyList_GET_ITEM(arrays, i), there);
    PyMem_Free(table.slots);
    if (!fine)
        Py_CLEAR(there);
    return there;
}

/* What `apart` looks at. `others`: where the places go. */
typedef struct {
    const int64_t *hashes, *places, *left;
    int64_t *others;
    Py_ssize_t count, left_count;
} Places;

/* Put the places of all that is not left out, moved; whether they rise. `there`: the numbers of what is left out. False
   with an exception. */
static bool put_places(const Places *all, int64_t before, PyObject *there, Py_ssize_t *size, bool *rise) {
    for (Py_ssize_t i = 0; i < all->count; i++) {
        if (!holds_number(all->left, all->left_count, all->hashes[i])) {
            all->others[*size] = all->places[i] + before;
            *rise = *rise && (!*size || all->others[*size] > all->others[*size - 1]);
            ++*size;
            continue;
        }
        PyObject *number = PyLong_FromSsize_t(i);
        bool fine = number && PyList_Append(there, number) == 0;
        Py_XDECREF(number);
        if (!fine)
            return false;
    }
    return true;
}

PyObject *apart(PyObject *Py_UNUSED(self), PyObject *args) {
    Py_buffer hashes, places, left;
    long long before;
    if (!PyArg_ParseTuple(args, "y*y*Ly*", &hashes, &places, &before, &left))
        return NULL;
    PyObject *there = PyList_New(0), *others = PyBytes_FromStringAndSize(NULL, places.len), *found = NULL;
    Py_ssize_t size = 0;
    bool rise = true, fine = hashes.len == places.len;
    if (!fine)
        PyErr_SetString(PyExc_ValueError, "as many hashes as places");
    if (fine && there && others) {
        Places all = {hashes.buf, places.buf, left.buf, (int64_t *)PyBytes_AS_STRING(others), hashes.len / 8, left.len / 8};
        fine = put_places(&all, before, there, &size, &rise) && _PyBytes_Resize(&others, 8 * size) == 0;
        found = fine ? Py_BuildValue("OOO", there, others, rise ? Py_True : Py_False) : NULL;
    }
    Py_XDECREF(there);
    Py_XDECREF(others);
    PyBuffer_Release(&hashes);
    PyBuffer_Release(&places);
    PyBuffer_Release(&left);
    return found;
}

/* Sort numbers with the help of as many others: byte by byte from the last one on. */
static void sort_numbers(int64_t *numbers, int64_t *others, Py_ssize_t count) {
    for (int shift = 0; shift < 64; shift += 8) {
        Py_ssize_t places[256] = {0}, sum = 0;
        const unsigned flip = shift == 56 ? 128 : 0; /* those below 0 come first */
        for (Py_ssize_t i = 0; i < count; i++)
            places[((uint64_t)numbers[i] >> shift & 255) ^ flip]++;
        for (int i = 0; i < 256; i++) {
            Py_ssize_t here = places[i];
            places[i] = sum;
            sum += here;
        }
        for (Py_ssize_t i = 0; i < count; i++)
            others[places[((uint64_t)numbers[i] >> shift & 255) ^ flip]++] = numbers[i];
        int64_t *sorted = others;
        others = numbers;
        numbers = sorted;
    }
}

static PyObject *sorted_of(PyObject *self, PyObject *marks) {
    const Recent *recent = (Recent *)self;
    if (!PyByteArray_CheckExact(marks))
        return PyErr_Format(PyExc_TypeError, "marks");
    PyObject *sorted = PyBytes_FromStringAndSize(NULL, recent->count * (Py_ssize_t)sizeof(int64_t));
    int64_t *others = PyMem_New(int64_t, recent->count + 1);
    if (sorted && others) {
        int64_t *numbers = (int64_t *)PyBytes_AS_STRING(sorted);
        Py_ssize_t count = 0;
        if (recent->none)
            numbers[count++] = 0;
        for (Py_ssize_t i = 0; i < slots_of(recent); i++)
            if (recent->slots[i])
                numbers[count++] = recent->slots[i];
        sort_numbers(numbers, others, count);
        for (Py_ssize_t i = 0; PyByteArray_GET_SIZE(marks) && i < count; i++)
            *mark_of(marks, numbers[i]) |= bit_of(numbers[i]);
    } else {
        Py_CLEAR(sorted);
        PyErr_NoMemory();
    }
    PyMem_Free(others);
    return sorted;
}

static PyObject *add_one(PyObject *self, PyObject *added) {
    Recent *recent = (Recent *)self;
    long long number = PyLong_AsLongLong(added);
    if (number == -1 && PyErr_Occurred())
        return NULL;
    if (!is_recent(recent, number)) {
        if (recent->count >= 1 << (MOST_ROOM - 1))
            return PyErr_Format(PyExc_ValueError, "more numbers than there is room for");
        if (!add_recent(recent, number))
            return NULL;
    }
    Py_RETURN_NONE;
}

static int holds_one(PyObject *self, PyObject *sought) {
    int beyond;
    long long number = PyLong_AsLongLongAndOverflow(sought, &beyond);
    if (number == -1 && PyErr_Occurred())
        return -1;
    return !beyond && is_recent((Recent *)self, number);
}

static Py_ssize_t count_all(PyObject *self) {
    return ((Recent *)self)->count;
}

static PyObject *new_recent(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(named)) {
    Recent *recent = (Recent *)type->tp_alloc(type, 0);
    if (recent && !(recent->slots = PyMem_Calloc((size_t)1 << LEAST_ROOM, sizeof *recent->slots))) {
        Py_DECREF(recent);
        return PyErr_NoMemory();
    }
    if (recent)
        recent->room = LEAST_ROOM;
    return (PyObject *)recent;
}

void free_recent(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyMem_Free(((Recent *)self)->slots);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"add", add_one, METH_O, "add(number)"},
    {"sorted", sorted_of, METH_O, "sorted(marks) -> the numbers in their order, as bytes; each is marked by its last bits."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot parts[] = {
    {Py_tp_new, new_recent}, {Py_tp_dealloc, free_recent}, {Py_sq_contains, holds_one}, {Py_sq_length, count_all},
    {Py_tp_methods, methods}, {0, NULL},
};

PyType_Spec recent_spec = {
    .name = "loopscan._compiled.Recent",
    .basicsize = sizeof(Recent),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = parts,
};

PyObject *merged(PyObject *Py_UNUSED(self), PyObject *args) {
    Py_buffer one, other;
    if (!PyArg_ParseTuple(args, "y*y*", &one, &other))
        return NULL;
    PyObject *both = PyBytes_FromStringAndSize(NULL, one.len / 8 * 8 + other.len / 8 * 8);
    if (both) {
        const int64_t *a = one.buf, *b = other.buf, *last_a = a + one.len / 8, *last_b = b + other.len / 8;
        int64_t *to = (int64_t *)PyBytes_AS_STRING(both);
        while (a < last_a && b < last_b)
            *to++ = *b < *a ? *b++ : *a++;
        memcpy(to, a, (size_t)(last_a - a) * sizeof *a);
        memcpy(to + (last_a - a), b, (size_t)(last_b - b) * sizeof *b);
    }
    PyBuffer_Release(&one);
    PyBuffer_Release(&other);
    return both;
}
