/* wave.h - the events of a run with a clock as waves and pictures. */
#ifndef TD_EVAL_TIME_WAVE_H
#define TD_EVAL_TIME_WAVE_H

#include "eval/time/timed.h"

/* How far columns and rows go at most. */
enum { TD_WAVE_WIDTH = 72, TD_WAVE_ROWS = 48 };

/* A value change dump: a unit of time is a cycle; the tokens in each stream at the beginning of a
 * cycle, the state of each task in it (0 not running, 1 busy, 2 waits for a token, 3 for room, 4
 * in an allreduce). Names as "Z_0_1" for Z[0][1]. t->kept is assumed, here and below. */
void td_wave_vcd(TdText *out, const TdTimed *t);
/* wave_rows.c: rows of `width` columns, one for each task: what it did most of the cycles of each.
 */
void td_wave_timeline(TdText *out, const TdTimed *t, int width);
/* The same, cycle by cycle as far as points go, as a picture with the fill of streams below. */
void td_wave_svg(TdText *out, const TdTimed *t, int64_t from, int64_t to);

#endif
