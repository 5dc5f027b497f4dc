/* burst_line.c - the clock of iterations that do not wait: iteration k of a pipeline has its
 * gets at t + k and its puts at u + k, which one comparison for each stream tells. */
#include <inttypes.h>

#include "backends/cpu/time/burst.h"

bool td_cpu_burst_line_crowds(const TdCpuBurst *b, const TdCpuEnd *e) {
  const TdFiring *f = &b->leaf->firing[0];
  if (e->beats > 1 || e->each > 1) return true;
  return e->put ? b->time->kind == TD_TIME_PIPE && f->skid > 1 : f->from < f->at;
}

bool td_cpu_burst_line_is(const TdCpuBurst *b) {
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
  const char *waits = f->skid == 1 ? "td_done >= td_t" : f->skid ? "td_done > td_u" : "0";
  td_text_line(out, "int td_waits = %s;", waits);
  for (int i = 0; i < b->n; i++)
    if (td_cpu_burst_line_crowds(b, &b->end[i]))
      td_text_line(out, "td_waits |= %s_last >= %s;", b->end[i].name,
                   b->end[i].put ? "td_u" : "td_t");
  if (f->skid < 2) return;
  td_text_line(out, "for (int64_t td_i = 0; td_i < td_n && td_i < %" PRId64 "; td_i++)", f->skid);
  td_text_line(out, "  td_waits |= td_skid[1 + (*td_skid + td_i) %% %" PRId64 "] >= td_t + td_i;",
               f->skid);
}

/* Where the cycles of puts, or of gets, of an end begin: "4 + ". */
static const char *half(TdCpuProg *p, const TdCpuEnd *e, bool put) {
  return put ? "" : td_text_fmt(p->w->arena, "%s + ", e->depth);
}

/* Whether the tokens (or places) of an end are there in time. Those of a stream come a cycle apart
 * at least, so the last of them tells. */
static void put_check(TdCpuProg *p, const TdCpuBurst *b, const TdCpuEnd *e) {
  TdText *out = &p->w->out;
  const char *n = e->name, *last = "td_last";
  td_text_line(out, e->nest ? "if (%s) {" : "{", n);
  if (b->is_whole) {
    last = td_text_fmt(p->w->arena, "%" PRId64, b->whole - 1);
  } else {
    td_text_line(out, "int64_t td_last = %s->%s + td_n - 1;", n, e->put ? "in" : "out");
    td_text_line(out, "if (td_last >= %s) td_last -= %s;", e->depth, e->depth);
  }
  td_text_line(out, "td_waits |= %s_time[%s%s] + %" PRId64 " >= %s + %s;", n, half(p, e, !e->put),
               last, e->put ? e->beats : e->latency, e->put ? "td_u" : "td_t",
               td_cpu_burst_count(p, b));
  td_text_line(out, "}");
}

/* The cycle of the token of iteration td_i of an end. */
static void put_cycle(TdCpuProg *p, const TdCpuBurst *b, const TdCpuEnd *e) {
  td_text_line(&p->w->out, "%s_time[%s%s] = %s + td_i;", e->name, half(p, e, e->put),
               td_cpu_burst_place(p, b, e), e->put ? "td_u" : "td_t");
}

/* The cycles of the tokens of all ends: of few, in one loop; of a known number, as vectors. */
static void put_cycles(TdCpuProg *p, const TdCpuBurst *b) {
  TdText *out = &p->w->out;
  const char *each = td_text_fmt(p->w->arena, "for (int64_t td_i = 0; td_i < %s; td_i++)",
                                 td_cpu_burst_count(p, b));
  if (!b->is_whole) {
    td_text_line(out, "{");
    for (int i = 0; i < b->n; i++) td_cpu_burst_cursor(p, &b->end[i]);
    td_text_line(out, "%s {", each);
  }
  for (int i = 0; i < b->n; i++) {
    const TdCpuEnd *e = &b->end[i];
    td_text_line(out, e->nest ? "if (%s) {" : "{", e->name);
    if (b->is_whole) td_text_line(out, "%s", each);
    put_cycle(p, b, e);
    if (!b->is_whole) td_cpu_burst_next(p, e);
    td_text_line(out, "}");
  }
  if (!b->is_whole) td_text_line(out, "}\n}");
}

/* The most tokens of a stream, which only the first get, or a put before what was got, can raise.
 * The last put of a whole ring comes after the last get, until which a put a cycle adds as much as
 * gets take away: the next get finds no fewer tokens. */
static void put_most(TdCpuProg *p, const TdCpuBurst *b, const TdCpuEnd *e) {
  TdText *out = &p->w->out;
  const char *n = e->name, *at = td_text_fmt(p->w->arena, "%s->most", n);
  if (e->put) {
    const char *last = td_cpu_burst_clock_last(p, e, false);
    if (b->is_whole) return;
    td_text_line(out, "if (%s%s%s > td_u)", e->nest ? n : "", e->nest ? " && " : "", last);
    td_text_line(out, "  for (int64_t td_i = 0; td_i < td_n && %s > td_u + td_i; td_i++)", last);
    td_text_line(out, "    TD_TIMED->count(TD_TIMED->wire[%s->number], %s->puts + td_i);", n, n);
    return;
  }
  if (e->nest) td_text_line(out, "if (%s)", n);
  td_text_line(out, "for (; %s->most < %s->fill; %s->most++) {", n, n, n);
  if (!b->is_whole) {
    td_text_line(out, "  int64_t td_k = %s->out + %s->most;", n, n);
    at = td_text_fmt(p->w->arena, "td_k < %s ? td_k : td_k - %s", e->depth, e->depth);
  }
  td_text_line(out, "  if (%s_time[%s] >= td_t) break;", n, at);
  td_text_line(out, "}");
}

void td_cpu_burst_line_look(TdCpuProg *p, const TdCpuBurst *b) {
  put_before(p, b);
  for (int i = 0; i < b->n; i++) put_check(p, b, &b->end[i]);
}

void td_cpu_burst_line_put(TdCpuProg *p, const TdCpuBurst *b) {
  TdText *out = &p->w->out;
  const TdFiring *f = &b->leaf->firing[0];
  const char *n = td_cpu_burst_count(p, b);
  put_cycles(p, b);
  for (int i = 0; i < b->n; i++) put_most(p, b, &b->end[i]);
  if (f->skid > 1)
    td_text_line(
        out,
        "for (int64_t td_i = 0; td_i < td_n; td_i++) td_skid[1 + (*td_skid + td_i) %% %" PRId64
        "] = td_u + td_i;",
        f->skid);
  td_text_line(out, "td_base += %s, td_done = td_u + %s - 1;", n, n);
}
