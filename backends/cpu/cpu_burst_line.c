/* cpu_burst_line.c - the clock of iterations that do not wait: iteration k of a pipeline has its
   gets at t + k and its puts at u + k, which one comparison for each stream tells. */
#include <inttypes.h>

#include "backends/cpu/cpu_burst.h"

bool td_cpu_burst_line_crowds(const TdCpuBurst *b, const TdCpuEnd *e) {
  const TdFiring *f = &b->leaf->firing[0];
  if (e->beats > 1 || e->each > 1) return true;
  return e->put ? b->time->kind == TD_TIME_PIPE && f->skid > 1 : f->from < f->at;
}

/* Whether the loop is a pipeline that begins each cycle, and takes what it gets at once. */
static bool is_straight(const TdCpuBurst *b) {
  const TdFiring *f = &b->leaf->firing[0];
  bool straight = b->time->kind == TD_TIME_PIPE && b->time->ii == 1 && f->from == f->at;
  for (int i = 0; i < b->n; i++) straight &= b->end[i].beats == 1 && b->end[i].each == 1;
  return straight;
}

/* Whether the first iteration waits for what was before it. */
static void put_before(TdCpuProg *p, const TdCpuBurst *b) {
  TdText *out = &p->w->out;
  const TdFiring *f = &b->leaf->firing[0];
  td_text_line(out, "int64_t td_t = td_base + %" PRId64 ", td_u = td_t + %" PRId64 ";", 1 + f->at,
               f->latency);
  td_text_line(out,
               f->skid == 1 ? "int td_waits = td_done >= td_t;" : "int td_waits = td_done > td_u;");
  for (int i = 0; i < b->n; i++)
    if (td_cpu_burst_line_crowds(b, &b->end[i]))
      td_text_line(out, "td_waits |= %s_last >= %s;", b->end[i].name,
                   b->end[i].put ? "td_u" : "td_t");
  if (f->skid < 2) return;
  td_text_line(out, "for (int64_t td_i = 0; td_i < td_n; td_i++) {");
  td_text_line(out, "  int64_t td_turn = td_it + 1 + td_i;");
  td_text_line(out, "  if (td_turn < %" PRId64 " || td_i >= %" PRId64 ") continue;", f->skid,
               f->skid);
  td_text_line(out,
               "  td_waits |= td_c->waiting[%" PRId64 " + td_turn %% %" PRId64 "] >= td_t + td_i;",
               f->first, f->skid);
  td_text_line(out, "}");
}

/* Whether the tokens (or places) of an end are there in time. Those of a stream come a cycle apart
   at least, so the last of them tells. */
static void put_check(TdCpuProg *p, const TdCpuEnd *e) {
  TdText *out = &p->w->out;
  const char *n = e->name;
  td_text_line(out, e->nest ? "if (%s) {" : "{", n);
  td_text_line(out, "int64_t td_last = %s->%s + td_n - 1;", n, e->put ? "in" : "out");
  td_text_line(out, "if (td_last >= %s) td_last -= %s;", e->depth, e->depth);
  td_text_line(out, "td_waits |= %s_time[%s%std_last] + %" PRId64 " >= %s + td_n;", n,
               e->put ? e->depth : "", e->put ? " + " : "", e->put ? e->beats : e->latency,
               e->put ? "td_u" : "td_t");
  td_text_line(out, "}");
}

/* The cycles of the tokens of all ends, in one loop: bursts are short. */
static void put_cycles(TdCpuProg *p, const TdCpuBurst *b) {
  TdText *out = &p->w->out;
  td_text_line(out, "{");
  for (int i = 0; i < b->n; i++) td_cpu_burst_cursor(p, &b->end[i]);
  td_text_line(out, "for (int64_t td_i = 0; td_i < td_n; td_i++) {");
  for (int i = 0; i < b->n; i++) {
    const TdCpuEnd *e = &b->end[i];
    const char *n = e->name;
    td_text_line(out, e->nest ? "if (%s) {" : "{", n);
    td_text_line(out, "%s_time[%s%s%s_at] = %s + td_i;", n, e->put ? "" : e->depth,
                 e->put ? "" : " + ", n, e->put ? "td_u" : "td_t");
    td_cpu_burst_next(p, e);
    td_text_line(out, "}");
  }
  td_text_line(out, "}");
  td_text_line(out, "}");
}

/* The most tokens of a stream, which only the first get, or a put before what was got, can raise.
 */
static void put_most(TdCpuProg *p, const TdCpuEnd *e) {
  TdText *out = &p->w->out;
  const char *n = e->name;
  if (e->nest) td_text_line(out, "if (%s)", n);
  if (e->put) {
    td_text_line(out, "for (int64_t td_i = 0; td_i < td_n && %s > td_u + td_i; td_i++)",
                 td_cpu_burst_clock_last(p, e, false));
    td_text_line(out, "  TD_TIMED->count(TD_TIMED->wire[%s->number], %s->puts + td_i);", n, n);
    return;
  }
  td_text_line(out, "for (; %s->most < %s->fill; %s->most++) {", n, n, n);
  td_text_line(out, "  int64_t td_k = %s->out + %s->most;", n, n);
  td_text_line(out, "  if (%s_time[td_k < %s ? td_k : td_k - %s] >= td_t) break;", n, e->depth,
               e->depth);
  td_text_line(out, "}");
}

bool td_cpu_burst_line_put(TdCpuProg *p, const TdCpuBurst *b) {
  TdText *out = &p->w->out;
  const TdFiring *f = &b->leaf->firing[0];
  if (!is_straight(b)) return false;
  put_before(p, b);
  for (int i = 0; i < b->n; i++) put_check(p, &b->end[i]);
  td_text_line(out, "if (!td_waits) {");
  put_cycles(p, b);
  for (int i = 0; i < b->n; i++) put_most(p, &b->end[i]);
  if (f->skid > 1)
    td_text_line(out,
                 "for (int64_t td_i = 0; td_i < td_n; td_i++) td_c->waiting[%" PRId64
                 " + (td_it + 1 + td_i) %% %" PRId64 "] = td_u + td_i;",
                 f->first, f->skid);
  td_text_line(out, "td_base += td_n, td_done = td_u + td_n - 1;");
  td_text_line(out, "}");
  return true;
}
