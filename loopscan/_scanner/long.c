/* Strings that are not short, 64 bytes at a time, on machines that have AVX2: what scan_text does without. */

#include "quoted.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define WIDE __attribute__((target("avx2,bmi,popcnt")))

bool have_long(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
}

/* A bit for each of 64 bytes that is a quote, a backslash, a control character, one beyond ASCII, and a character whose
   escape is common and short. */
typedef struct {
    uint64_t quote, slash, control, high, common;
} Bits;

WIDE static inline uint64_t bits_of(__m256i low, __m256i high) {
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

WIDE static inline Bits look(Place at) {
    const __m256i quote = _mm256_set1_epi8('"'), slash = _mm256_set1_epi8('\\'), control = _mm256_set1_epi8(0x1F);
    const __m256i end = _mm256_set1_epi8('n'), tab = _mm256_set1_epi8('t');
    __m256i a = _mm256_loadu_si256((const __m256i *)at), b = _mm256_loadu_si256((const __m256i *)(at + 32));
    Bits bits = {
        .quote = bits_of(_mm256_cmpeq_epi8(a, quote), _mm256_cmpeq_epi8(b, quote)),
        .slash = bits_of(_mm256_cmpeq_epi8(a, slash), _mm256_cmpeq_epi8(b, slash)),
        .control = bits_of(_mm256_cmpeq_epi8(_mm256_min_epu8(a, control), a),
                           _mm256_cmpeq_epi8(_mm256_min_epu8(b, control), b)),
        .high = bits_of(a, b),
        .common = bits_of(_mm256_or_si256(_mm256_cmpeq_epi8(a, end), _mm256_cmpeq_epi8(a, tab)),
                          _mm256_or_si256(_mm256_cmpeq_epi8(b, end), _mm256_cmpeq_epi8(b, tab))),
    };
    bits.common |= bits.quote | bits.slash;
    return bits;
}

/* What is known of a string so far. `carry`: the next byte is escaped; `inside`: so many of the next bytes belong to a
   character that was seen; `past`: up to where escapes were looked at. */
typedef struct {
    Place past;
    Py_ssize_t escapes, rest;
    uint64_t carry;
    int inside;
    bool foreign;
} Story;

/* The bytes that are escaped, where backslashes follow one another. */
static uint64_t escaped_among(uint64_t slash, uint64_t carry) {
    uint64_t escaped = carry;
    for (slash &= ~carry; slash; slash &= slash - 1) {
        uint64_t next = (slash & -slash) << 1;
        escaped |= next;
        slash &= ~next;
    }
    return escaped;
}

/* Escapes of which most texts have none; `bits` are those of the bytes behind their backslashes. */
static int look_closer(Place at, uint64_t bits, Place end, Story *story) {
    for (; bits; bits &= bits - 1) {
        Place slash = at + __builtin_ctzll(bits) - 1;
        if (slash < story->past)
            continue; /* the second of two surrogates */
        int size = escape_size(slash, end);
        if (!size)
            return ODD;
        story->foreign |= size > 2 || slash[1] == '/';
        story->escapes += size == 12 ? 9 : size - 2;
        story->past = slash + size;
    }
    return FINE;
}

/* Characters beyond ASCII; ODD where there is none. */
static int look_beyond(Place at, uint64_t bits, Place end, Story *story) {
    bits &= ~(((uint64_t)1 << story->inside) - 1);
    story->inside = 0;
    while (bits) {
        int from = __builtin_ctzll(bits), size = utf8_size(at + from, end);
        if (!size)
            return ODD;
        story->rest += size - 1;
        if (from + size >= 64) {
            story->inside = from + size - 64;
            return FINE;
        }
        bits &= ~((((uint64_t)1 << size) - 1) << from);
    }
    return FINE;
}

/* Bytes of a string from `at` on: where it ends among them, 64 where it does not, ODD (-1) where it is none. */
WIDE static inline int look_at(Place at, Place data, Place end, Story *story, Text *text) {
    Bits bits = look(data);
    uint64_t escaped = bits.slash << 1 | story->carry;
    if (bits.slash & escaped)
        escaped = escaped_among(bits.slash, story->carry);
    uint64_t ends = (bits.quote & ~escaped) | bits.control;
    int size = 64;
    if (ends) {
        uint64_t before = (ends & -ends) - 1;
        size = __builtin_ctzll(ends);
        if (bits.control >> size & 1)
            return -1;
        escaped &= before;
        bits.high &= before;
    }
    story->carry = (bits.slash & ~escaped) >> 63;
    if (escaped) {
        text->escaped = true;
        story->escapes += __builtin_popcountll(escaped);
        if (escaped & ~bits.common && !look_closer(at, escaped & ~bits.common, end, story))
            return -1;
    }
    if (bits.high | (uint64_t)story->inside) {
        text->wide = true;
        if (!look_beyond(at, bits.high, end, story))
            return -1;
    }
    return size;
}

WIDE int scan_long(Cursor *c, Text *text) {
    Place at = c->at, end = c->end;
    Story story = {0};
    *text = (Text){.from = at};
    for (int size = 64; size == 64; at += size) {
        uint8_t last[64];
        Place data = at;
        if (end - at < 64) { /* what is behind the end is a control character */
            memset(last, 0, sizeof last);
            memcpy(last, at, (size_t)(end - at));
            data = last;
        }
        if ((size = look_at(at, data, end, &story, text)) < 0)
            return ODD;
    }
    text->size = at - text->from;
    text->chars = text->size - story.escapes - story.rest;
    text->foreign = story.foreign;
    c->at = at + 1;
    return FINE;
}
#else
bool have_long(void) {
    return false;
}

int scan_long(Cursor *Py_UNUSED(c), Text *Py_UNUSED(text)) {
    return ODD;
}
#endif
