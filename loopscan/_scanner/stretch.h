/* A run while its usual turns are taken. */

#ifndef LOOPSCAN_STRETCH_H
#define LOOPSCAN_STRETCH_H

#include "seen.h"
#include "turns.h"

enum { ROOM = 128 };

/* A run while its turns are taken. References are borrowed: all of these live as long as the run does. */
typedef struct {
    PyObject *run, *tracker, *detector, *watch, *ledger, *keyer, *terms, *plain, *tally;
    PyObject *model, *session, *parent, *labels, *prompt, *source;
    PyObject *open; /* the repetition that goes on; NULL = there is none */
    PyObject *done, *action; /* the last turn that was taken; its own references */
    int64_t most, rate_in, rate_out, rate_read, rate_write, rate_hour;
    int64_t sent, fixed, step, grown, out_n, out_d, own_n, own_d, got_n, got_d;
    int64_t reads, writes, hours, classes, last_sent;
    double since, until;
    Seen times;
    long number, seen, reach; /* seen: the last turn that is in the window */
    bool bare, cached, begun;
    int count;
    int64_t input[ROOM], output[ROOM], usd[ROOM];
    double elapsed[ROOM];
} Stretch;

int real_or_none(PyObject *value, double *real);
int begin(Stretch *s, PyObject *run, PyObject *first);
int look_at(const Stretch *s, Now *now);
int is_new(const Stretch *s, const Now *now);
int is_another(const Stretch *s, Now *now);
int plays_on(const Stretch *s, const Now *now, PyObject *action);
bool judge(const Stretch *s, const Now *now, PyObject *action);
long kind_of(PyObject *name);
int pay(Stretch *s, Now *now);
bool flush(Stretch *s);

#endif
