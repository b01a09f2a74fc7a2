/* Texts of results that are looked through once and no more: whether anything in them is to be looked at again. */

#include "back.h"
#include "turns.h"

enum { LONGEST = 4096 };

/* A text, character by character; 0 beyond its ends. */
typedef struct {
    int kind;
    const void *data;
    Py_ssize_t size;
} Chars;

static inline Py_UCS4 at(const Chars *text, Py_ssize_t i) {
    return i >= 0 && i < text->size ? PyUnicode_READ(text->kind, text->data, i) : 0;
}

static inline bool is_hex(Py_UCS4 c) {
    return c < 128 && hex_of((uint8_t)c) >= 0;
}

static inline bool is_sign(Py_UCS4 c) {
    return c == '=' || c == ':';
}

static bool is_here(const Chars *text, Py_ssize_t i, const char *word) {
    for (; *word; word++, i++)
        if (at(text, i) != (Py_UCS4)*word)
            return false;
    return true;
}

/* Whether a name ends here behind which a volatile value may stand. */
static bool names_one(const Chars *text, Py_ssize_t i, Py_UCS4 c) {
    Py_UCS4 before = at(text, i - 1), next = at(text, i + 1);
    if (c == 'f')
        return before == 'e' && at(text, i - 2) == 'r' && is_sign(next);
    if (before == 'I' || c == 'D')
        return before == 'I' && is_sign(next);
    return before == 'i' && (is_sign(next) || next == '"' || next == '\'' || (next == ' ' && is_sign(at(text, i + 2))));
}

/* Whether something volatile may begin or end here (loopscan.volatile.stable_text). */
static inline bool is_volatile(const Chars *text, Py_ssize_t i) {
    Py_UCS4 c = at(text, i);
    switch (c) {
    case '-':
        return is_hex(at(text, i + 1)) && is_hex(at(text, i + 2)) && is_hex(at(text, i + 3)) &&
               is_hex(at(text, i + 4)) && at(text, i + 5) == '-';
    case ':':
        return Py_UNICODE_ISDECIMAL(at(text, i + 1)) && Py_UNICODE_ISDECIMAL(at(text, i + 2));
    case '0':
        return at(text, i + 1) == 'x';
    case 't':
        return at(text, i + 1) == 'm' && at(text, i + 2) == 'p';
    case '/':
        return is_here(text, i, "/var/folders/");
    case 'd': case 'D': case 'f':
        return names_one(text, i, c);
    default:
        return false;
    }
}

/* Characters with which something volatile may begin or end. */
static const bool signs[128] = {
    ['-'] = true, [':'] = true, ['0'] = true, ['t'] = true, ['/'] = true, ['d'] = true, ['D'] = true, ['f'] = true,
};

/* Made for each kind of text. */
static inline __attribute__((always_inline)) bool all_steady(Chars text, const int kind) {
    text.kind = kind;
    for (Py_ssize_t i = 0; i < text.size; i++) {
        Py_UCS4 c = PyUnicode_READ(kind, text.data, i);
        if (c < 128 && signs[c] && is_volatile(&text, i))
            return false;
    }
    return true;
}

/* is_steady(text): whether nothing in a text can be volatile. */
PyObject *is_steady(PyObject *Py_UNUSED(self), PyObject *value) {
    if (!PyUnicode_Check(value))
        return PyErr_Format(PyExc_TypeError, "no text");
    const Chars text = {PyUnicode_KIND(value), PyUnicode_DATA(value), PyUnicode_GET_LENGTH(value)};
    const bool steady = text.kind == PyUnicode_1BYTE_KIND   ? all_steady(text, PyUnicode_1BYTE_KIND)
                        : text.kind == PyUnicode_2BYTE_KIND ? all_steady(text, PyUnicode_2BYTE_KIND)
                                                            : all_steady(text, PyUnicode_4BYTE_KIND);
    return PyBool_FromLong(steady);
}

/* Whether a result as it stands in its line is sure to be no JSON and to hold nothing volatile
   (loopscan.volatile.steady): escapes, and digits beyond ASCII, are none of what is looked for but where they are told
   apart here. */
bool is_steady_text(const Text *text) {
    const Chars bytes = {PyUnicode_1BYTE_KIND, text->from, text->size};
    Py_UCS4 first = at(&bytes, 0);
    if (text->foreign || first <= ' ' || first >= 128 || first == '\\' || first == '{' || first == '[')
        return false;
    for (Py_ssize_t i = 0; i < text->size; i++) {
        uint8_t c = text->from[i];
        if (c == '<')
            return false;
        if (c >= 128 || !signs[c])
            continue;
        Py_UCS4 next = at(&bytes, i + 1);
        if (c == ':' ? next >= 128 || at(&bytes, i + 2) >= 128 : (c == 'd' || c == 'D') && next == '\\')
            return false;
        if (is_volatile(&bytes, i))
            return false;
    }
    return true;
}

/* A character as far as words are told by it: letters and digits beyond ASCII are all one, and so are spaces. */
static char plain_char(Py_UCS4 c) {
    if (c < 128)
        return c >= 0x1C && c < 0x20 ? ' ' : (char)c;
    return Py_UNICODE_ISSPACE(c) ? ' ' : Py_UNICODE_ISALNUM(c) ? (char)0x80 : (char)0x81;
}

static bool is_wordly(char c) {
    return c == (char)0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_white(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Whether the word before a place says that there is none of what follows. */
static bool is_denied(const char *text, const char *here) {
    static const char *const none[] = {"0", "no", "without", "zero"};
    const char *from = here - text > 9 ? here - 9 : text, *end = here, *word;
    while (end > from && is_white(end[-1]))
        end--;
    for (word = end; word > from && !is_white(word[-1]);)
        word--;
    for (int i = 0; i < 4; i++)
        if ((size_t)(end - word) == strlen(none[i]) && !memcmp(word, none[i], (size_t)(end - word)))
            return true;
    return false;
}

/* Whether a word stands here as a word of its own (a plural counts), and is not denied. */
static bool stands(const char *text, const char *here, const char *end, const char *word, Py_ssize_t size) {
    if (end - here < size || memcmp(here, word, (size_t)size))
        return false;
    const char *next = here + size;
    next += next < end && *next == 's';
    return !(next < end && is_wordly(*next)) && !is_denied(text, here);
}

/* says_one(text, words): whether one of some words of small letters stands in a text; None = it is too long to tell. */
PyObject *says_one(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t count) {
    char text[LONGEST];
    if (count != 2 || !PyUnicode_Check(args[0]) || !PyTuple_Check(args[1]))
        return PyErr_Format(PyExc_TypeError, "no text and words");
    const Chars given_text = {PyUnicode_KIND(args[0]), PyUnicode_DATA(args[0]), PyUnicode_GET_LENGTH(args[0])};
    if (given_text.size > LONGEST)
        Py_RETURN_NONE;
    for (Py_ssize_t i = 0; i < given_text.size; i++)
        text[i] = plain_char(at(&given_text, i));
    const char *end = text + given_text.size;
    for (const char *here = text; here < end; here++) {
        if (*here < 'a' || *here > 'z' || (here > text && is_wordly(here[-1])))
            continue;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args[1]); i++) {
            PyObject *word = PyTuple_GET_ITEM(args[1], i);
            if (!PyUnicode_Check(word) || !PyUnicode_IS_COMPACT_ASCII(word))
                return PyErr_Format(PyExc_TypeError, "a word is plain text");
            const char *letters = (const char *)PyUnicode_1BYTE_DATA(word);
            if (*letters == *here && stands(text, here, end, letters, PyUnicode_GET_LENGTH(word)))
                Py_RETURN_TRUE;
        }
    }
    Py_RETURN_FALSE;
}
