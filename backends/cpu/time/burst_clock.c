/* burst_clock.c - the clock of a burst: events of its iterations as a few maxima each. */
#include <inttypes.h>

#include "backends/cpu/time/burst.h"

static bool is_pipe(const TdCpuBurst *b) {
  return b->time->kind == TD_TIME_PIPE;
}

static const TdFiring *firing_of(const TdCpuBurst *b) {
  return &b->leaf->firing[0];
}

/* Finds how a design's stream moves tokens; false for a stream that is a parameter. */
static bool find_speed(const TdCpuProg *p, TdCpuEnd *e) {
  for (size_t i = 0; i < p->w->prog->nunit; i++) {
    const TdUnit *u = p->w->prog->unit[i];
    const TdStream *s = td_unit_stream(u, e->stmt->expr[0]->sym);
    if (!s) continue;
    const TdAttr *latency = td_attrs_get(s->attrs, TD_ATTR_LATENCY);
    e->latency = latency && latency->arg[0].i > 1 ? latency->arg[0].i : 1;
    e->beats = td_unit_beats(u, s->attrs, s->type->elem);
    return true;
  }
  return false;
}

bool td_cpu_burst_clock_takes(const TdCpuProg *p, TdCpuBurst *b) {
  b->time = td_times_of(p->times, b->loop);
  if (!b->time || b->time->lanes != 1 || b->time->rewind) return false;
  b->leaf = is_pipe(b) ? b->time : b->time->body;
  if (!b->leaf || b->leaf->nfiring != 1) return false;
  for (int i = 0; i < b->n; i++)
    if (!find_speed(p, &b->end[i])) return false;
  return true;
}

/* Whether gets follow each other by a cycle unless the task stalls. */
static bool is_steady(const TdCpuBurst *b) {
  const TdFiring *f = firing_of(b);
  return is_pipe(b) && b->time->ii == 1 && f->from == f->at;
}

static bool has_beats(const TdCpuBurst *b) {
  for (int i = 0; i < b->n; i++)
    if (b->end[i].beats > 1) return true;
  return false;
}

const char *td_cpu_burst_clock_last(TdCpuProg *p, const TdCpuEnd *e, bool put) {
  const char *at = td_text_fmt(p->w->arena, "%s->%s", e->name, put ? "in" : "out");
  return td_text_fmt(p->w->arena, "%s_time[%s%s(%s ? %s : %s) - 1]", e->name, put ? "" : e->depth,
                     put ? "" : " + ", at, at, e->depth);
}

/* The clock of one end, in variables that begin with its name: the cycles of puts, then those of
 * gets, of the places; and its last one. */
static void open_end(TdCpuProg *p, const TdCpuBurst *b, const TdCpuEnd *e) {
  TdText *out = &p->w->out;
  const char *n = e->name, *time = td_text_fmt(p->w->arena, "%s->time", n);
  td_text_line(out, "int64_t *%s_time = %s;", n, td_cpu_burst_there(p, e, time));
  if (td_cpu_burst_line_crowds(b, e))
    td_text_line(out, "int64_t %s_last = %s;", n,
                 td_cpu_burst_there(p, e, td_cpu_burst_clock_last(p, e, e->put)));
}

/* What the recurrence follows beside that: the most tokens of a stream, or its last get. */
static void open_count(TdCpuProg *p, const TdCpuEnd *e) {
  TdText *out = &p->w->out;
  const char *n = e->name, *most = td_text_fmt(p->w->arena, "%s->most", n);
  td_cpu_burst_cursor(p, e);
  if (e->put)
    td_text_line(out, "int64_t %s_seen = %s;", n,
                 td_cpu_burst_there(p, e, td_cpu_burst_clock_last(p, e, false)));
  else
    td_text_line(out, "int64_t %s_most = %s;", n, td_cpu_burst_there(p, e, most));
  if (e->each > 1) td_text_line(out, "int64_t %s_moved = 0;", n);
}

/* Lines before all iterations: what the clock knows, in variables. */
static void put_open(TdCpuProg *p, const TdCpuBurst *b) {
  TdText *out = &p->w->out;
  td_text_line(out, "struct td_clock *td_c = me->clock;");
  td_text_line(out, "if (td_c->phase) TD_TIMED->settle(td_c);");
  if (!is_pipe(b)) {
    td_text_line(out, "int td_open = td_c->leaf != 0;");
    td_text_line(out, "if (!td_open) TD_TIMED->iterate(td_c, %s, 0);",
                 td_cpu_clock_known(p, b->time));
  }
  td_text_line(out, "int64_t td_base = td_c->base, td_done = td_c->done, td_it = td_c->iteration;");
  if (is_pipe(b)) td_text_line(out, "if (td_it < 0) td_base -= %" PRId64 ";", b->time->ii);
  if (is_pipe(b) && firing_of(b)->skid)
    td_text_line(out, "int64_t *td_skid = td_c->waiting + %" PRId64 ";", firing_of(b)->first);
  for (int i = 0; i < b->n; i++) open_end(p, b, &b->end[i]);
}

/* "if (td_p2) ", for an end that need not be there. */
static const char *guard(TdCpuProg *p, const TdCpuEnd *e) {
  return e->nest ? td_text_fmt(p->w->arena, "if (%s) ", e->name) : "";
}

/* Lines after all iterations. */
static void put_close(TdCpuProg *p, const TdCpuBurst *b) {
  TdText *out = &p->w->out;
  td_text_line(out, "td_c->base = td_base, td_c->done = td_done;");
  const char *count = td_cpu_burst_count(p, b), *more = "(td_n - !td_open)";
  if (is_pipe(b)) td_text_line(out, "td_c->iteration = td_it + %s;", more = count);
  td_text_line(out, "td_c->multiplies += %s * %" PRId64 ", td_c->ran[%" PRIu32 "] += %s;", more,
               b->leaf->multiplies, b->leaf->number, more);
  if (is_pipe(b) && firing_of(b)->skid) td_text_line(out, "*td_skid += %s;", count);
  if (is_pipe(b) && firing_of(b)->skid == 1) td_text_line(out, "td_skid[1] = td_done;");
  for (int i = 0; i < b->n; i++) {
    const TdCpuEnd *e = &b->end[i];
    td_text_line(out, "%s%s->%s += %s * %" PRId64 ";", guard(p, e), e->name,
                 e->put ? "puts" : "gots", count, e->each);
  }
}

/* "x is at least y, which has a cause." */
static void put_raise(TdCpuProg *p, const char *x, const char *y, const char *cause,
                      const char *why) {
  td_text_line(&p->w->out, "if (%s > %s) %s = %s, %s = %s;", y, x, x, y, cause, why);
}

/* The firing starts, once all gets are over. */
static void put_start(TdCpuProg *p, const TdCpuBurst *b) {
  TdText *out = &p->w->out;
  const TdFiring *f = firing_of(b);
  td_text_line(out, "int64_t td_due = td_base + %" PRId64 ", td_start = td_due, td_cause = 0;",
               f->at);
  if (b->last_get) put_raise(p, "td_start", "td_over", "td_cause", "td_late");
  if (is_pipe(b) && f->skid == 1) {
    put_raise(p, "td_start", "td_done + 1", "td_cause", "td_held");
  } else if (is_pipe(b) && f->skid) {
    td_text_line(out, "int64_t *td_turn = td_skid + 1 + (*td_skid + td_i) %% %" PRId64 ";",
                 f->skid);
    put_raise(p, "td_start", "*td_turn + 1", "td_cause", "td_held");
  }
  if (b->leaf->shares)
    td_text_line(
        out, "td_start = td_due + (td_start - td_due + %" PRId64 ") / %" PRId64 " * %" PRId64 ";",
        b->leaf->ii - 1, b->leaf->ii, b->leaf->ii);
  td_text_line(out, "if (td_start > td_due) {");
  td_text_line(out, "  TD_TIMED->charge(td_c, td_due, td_start - td_due, td_cause);");
  td_text_line(out, "  td_base += td_start - td_due;");
  td_text_line(out, "}");
  td_text_line(out, "td_at = td_over = td_start + %" PRId64 ";", f->latency);
}

/* At the start of each. */
static void put_iterate(TdCpuProg *p, const TdCpuBurst *b) {
  TdText *out = &p->w->out;
  if (is_pipe(b)) {
    td_text_line(out, "td_base += %" PRId64 ";", b->time->ii);
  } else {
    td_text_line(out, "if (td_i || td_open) {");
    td_text_line(out, "  int64_t td_end = td_base + %" PRId64 ";", b->leaf->length);
    td_text_line(out, "  if (td_done + 1 > td_end) {");
    td_text_line(out, "    TD_TIMED->charge(td_c, td_end, td_done + 1 - td_end, td_held);");
    td_text_line(out, "    td_end = td_done + 1;");
    td_text_line(out, "  }");
    td_text_line(out, "  td_base = td_end + %" PRId64 ";", b->time->again);
    td_text_line(out, "  if (td_base - 1 > td_done) td_done = td_base - 1;");
    td_text_line(out, "}");
  }
  td_text_line(out, "td_at = td_over = td_base + %" PRId64 ";", firing_of(b)->from);
  if (!b->last_get) put_start(p, b);
}

/* At the end of each. */
static void put_end(TdCpuProg *p, const TdCpuBurst *b) {
  TdText *out = &p->w->out;
  td_text_line(out, "if (td_over > td_done) td_done = td_over;");
  if (is_steady(b)) td_text_line(out, "td_looks = td_start > td_due;");
  if (is_pipe(b) && firing_of(b)->skid > 1) td_text_line(out, "*td_turn = td_done;");
}

/* The event of a token at td_at, kept at its place. */
static void put_event(TdCpuProg *p, const TdCpuBurst *b, const TdCpuEnd *e) {
  TdText *out = &p->w->out;
  const char *n = e->name;
  const char *last =
      td_cpu_burst_line_crowds(b, e) ? td_text_fmt(p->w->arena, "%s_last = ", n) : "";
  td_text_line(out, "%s%s_time[%s%s%s_at] = td_at;", last, n, e->put ? "" : e->depth,
               e->put ? "" : " + ", n);
  if (!has_beats(b))
    td_text_line(out, "td_over = td_at;");
  else
    td_text_line(out, "if (td_at + %" PRId64 " > td_over) td_over = td_at + %" PRId64 ";",
                 e->beats - 1, e->beats - 1);
}

/* The most tokens of a stream, now that one is got. As long as gets follow each other by a cycle,
 * and puts by at least one, nothing is new. */
static void put_most(TdCpuProg *p, const TdCpuEnd *e) {
  TdText *out = &p->w->out;
  const char *n = e->name, *left = td_text_fmt(p->w->arena, "%s->fill - td_i", n);
  if (e->each > 1) left = td_text_fmt(p->w->arena, "%s->fill - %s_moved++", n, n);
  td_text_line(out, "%sfor (int64_t td_left = %s; %s_most < td_left; %s_most++) {",
               e->each > 1 ? "" : "if (td_looks) ", left, n, n);
  td_text_line(out, "  int64_t td_k = %s_at + %s_most;", n, n);
  td_text_line(out, "  if (%s_time[td_k < %s ? td_k : td_k - %s] >= td_at) break;", n, e->depth,
               e->depth);
  td_text_line(out, "}");
}

/* After the token before it on its stream. */
static void put_turn(TdCpuProg *p, const TdCpuBurst *b, const TdCpuEnd *e) {
  const char *n = e->name;
  if (!td_cpu_burst_line_crowds(b, e)) return;
  td_text_line(&p->w->out, "if (%s_last + %" PRId64 " > td_at) td_at = %s_last + %" PRId64 "%s;", n,
               e->beats, n, e->beats, e->put ? "" : ", td_looks = 1");
}

static void put_get(TdCpuProg *p, const TdCpuBurst *b, const TdCpuEnd *e) {
  TdArena *a = p->w->arena;
  const char *n = e->name;
  const char *why = td_text_fmt(a, "%s->number * 4 + %d", n, TD_STALL_EMPTY);
  put_turn(p, b, e);
  put_raise(p, "td_at",
            td_text_fmt(a, "%s_time[%s_at] + %" PRId64, n, n, e->beats - 1 + e->latency),
            "td_looks = 1, td_late", why);
  put_event(p, b, e);
  put_most(p, e);
}

static void put_put(TdCpuProg *p, const TdCpuBurst *b, const TdCpuEnd *e) {
  TdText *out = &p->w->out;
  TdArena *a = p->w->arena;
  const char *n = e->name;
  const char *why = td_text_fmt(a, "%s->number * 4 + %d", n, TD_STALL_FULL);
  if (is_pipe(b) && firing_of(b)->skid > 1)
    td_text_line(out, "if (td_done > td_at) td_at = td_done;");
  put_turn(p, b, e);
  put_raise(p, "td_at", td_text_fmt(a, "%s_time[%s + %s_at] + %" PRId64, n, e->depth, n, e->beats),
            "td_held", why);
  put_event(p, b, e);
  const char *number = e->each > 1 ? td_text_fmt(a, "%s_moved", n) : "td_i";
  td_text_line(out, "if (%s_seen > td_at)", n);
  td_text_line(out, "  TD_TIMED->count(TD_TIMED->wire[%s->number], %s->puts + %s);", n, n, number);
  if (e->each > 1) td_text_line(out, "%s++;", number);
}

/* An event of each iteration. */
static void put_moved(TdCpuProg *p, const TdCpuBurst *b, const TdCpuEvent *x) {
  TdText *out = &p->w->out;
  const TdCpuEnd *e = &b->end[x->end];
  if (e->nest) td_text_line(out, "if (%s) {", e->name);
  out->indent += e->nest != 0;
  if (e->put)
    put_put(p, b, e);
  else
    put_get(p, b, e);
  td_cpu_burst_next(p, e);
  out->indent -= e->nest != 0;
  if (e->nest) td_text_line(out, "}");
  if (x->stmt == b->last_get) put_start(p, b);
}

/* The recurrence itself. */
static void put_events(TdCpuProg *p, const TdCpuBurst *b) {
  TdText *out = &p->w->out;
  td_text_line(out, "int64_t td_late = td_c->late, td_held = td_c->held, td_at, td_over;");
  td_text_line(out, "int td_looks = 1;");
  for (int i = 0; i < b->n; i++) open_count(p, &b->end[i]);
  td_text_line(out, "for (int64_t td_i = 0; td_i < td_n; td_i++) {");
  out->indent++;
  put_iterate(p, b);
  for (int i = 0; i < b->nevent; i++) put_moved(p, b, &b->event[i]);
  put_end(p, b);
  out->indent--;
  td_text_line(out, "}");
  td_text_line(out, "td_c->late = td_late, td_c->held = td_held;");
  for (int i = 0; i < b->n; i++)
    if (!b->end[i].put)
      td_text_line(out, "%s%s->most = %s_most;", guard(p, &b->end[i]), b->end[i].name,
                   b->end[i].name);
}

void td_cpu_burst_clock_put(TdCpuProg *p, const TdCpuBurst *b) {
  TdText *out = &p->w->out;
  td_text_line(out, "{");
  out->indent++;
  put_open(p, b);
  if (td_cpu_burst_line_is(b)) {
    td_cpu_burst_line_look(p, b);
    td_text_line(out, "if (!td_waits) {");
    out->indent++;
    td_cpu_burst_line_put(p, b);
    out->indent--;
    td_text_line(out, "} else {");
  } else {
    td_text_line(out, "{");
  }
  out->indent++;
  put_events(p, b);
  out->indent--;
  td_text_line(out, "}");
  put_close(p, b);
  out->indent--;
  td_text_line(out, "}");
}

void td_cpu_burst_clock_whole(TdCpuProg *p, const TdCpuBurst *b) {
  put_open(p, b);
  td_cpu_burst_line_look(p, b);
  td_text_line(&p->w->out, "td_whole = !td_waits;");
  td_text_line(&p->w->out, "if (td_whole) {");
  p->w->out.indent++;
  td_cpu_burst_line_put(p, b);
  put_close(p, b);
}
