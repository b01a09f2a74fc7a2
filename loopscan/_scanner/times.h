/* ISO 8601 times of UTC as epoch seconds: what loopscan.clock makes of them. */

#ifndef LOOPSCAN_TIMES_H
#define LOOPSCAN_TIMES_H

#include "scan.h"

static inline int two_digits(Place at) {
    unsigned tens = at[0] - '0', ones = at[1] - '0';
    return tens > 9 || ones > 9 ? -1 : (int)(10 * tens + ones);
}

/* Days from 1970-01-01 to a day of the Gregorian calendar. */
static inline int64_t days_to(int year, int month, int day) {
    int shifted = year - (month <= 2);
    int era = shifted / 400, of_era = shifted - era * 400;
    int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return (int64_t)era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* A time such as 2026-11-30T09:30:00.125Z: fraction and zone (Z, +00:00) may be left out. ODD for any other. */
static inline int time_of(const Text *text, double *time) {
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    Place at = text->from, end = at + text->size;
    if (text->size < 19 || at[4] != '-' || at[7] != '-' || at[10] != 'T' || at[13] != ':' || at[16] != ':')
        return ODD;
    int century = two_digits(at), rest = two_digits(at + 2), month = two_digits(at + 5), day = two_digits(at + 8);
    int hour = two_digits(at + 11), minute = two_digits(at + 14), second = two_digits(at + 17);
    if (century < 19 || rest < 0 || month < 1 || month > 12 || day < 1)
        return ODD;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
        return ODD;
    int year = 100 * century + rest;
    bool leap = year % 4 == 0 && (year % 100 || year % 400 == 0);
    if (year < 1970 || year > 2200 || day > lengths[month - 1] + (month == 2 && leap))
        return ODD;
    int64_t micros = 0;
    at += 19;
    if (at < end && *at == '.') {
        Place digits = ++at;
        while (at < end && at - digits < 6 && *at >= '0' && *at <= '9')
            micros = 10 * micros + (*at++ - '0');
        if (at - digits != 3 && at - digits != 6)
            return ODD;
        if (at - digits == 3)
            micros *= 1000;
    }
    Py_ssize_t zone = end - at;
    if (zone && !(zone == 1 && *at == 'Z') && !(zone == 6 && !memcmp(at, "+00:00", 6)))
        return ODD;
    int64_t whole = days_to(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    *time = (double)(whole * 1000000 + micros) / 1e6; /* exact below 2^53: rounded once */
    return FINE;
}

#endif
