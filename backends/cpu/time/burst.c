/* burst.c - loops that move tokens, many iterations at a visit: as many as the streams have
 * tokens and places for, without looking at them again. What is left is done operation by
 * operation, once no task can go on in this way. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/time/burst.h"
#include "ir/text/print.h"

typedef struct Scan {
  TdCpuProg *p;
  TdCpuBurst *b;
  const TdExpr *cond[4];
  bool truth[4];
  int nest;
} Scan;

/* Whether e is the same in all iterations of the loop: made of sizes, ids and outer variables. */
static bool is_fixed(const Scan *s, const TdExpr *e) {
  if (e->kind == TD_EXPR_LOAD || e->kind == TD_EXPR_TENSOR) return false;
  if (e->kind == TD_EXPR_VAR && e->sym == s->b->loop->sym) return false;
  for (uint32_t i = 0; i < e->nkid; i++)
    if (!is_fixed(s, e->kid[i])) return false;
  return true;
}

static bool same_conditions(const Scan *s, const TdCpuEnd *e) {
  if (s->nest != e->nest) return false;
  for (int i = 0; i < s->nest; i++)
    if (s->cond[i] != e->cond[i] || s->truth[i] != e->truth[i]) return false;
  return true;
}

/* Whether two stream expressions are one, by their text. */
static bool is_same_end(const TdExpr *x, const TdExpr *y) {
  if (x->sym != y->sym || x->nkid != y->nkid) return false;
  for (uint32_t i = 0; i < x->nkid; i++)
    if (!td_equal_expr(x->kid[i], y->kid[i])) return false;
  return true;
}

/* Adds a get or put; false if it does not fit in a burst. */
static bool add_end(Scan *s, const TdStmt *stmt) {
  const TdExpr *e = stmt->expr[0];
  if (e->type->block || !is_fixed(s, e)) return false;
  bool put = stmt->kind == TD_STMT_PUT;
  if (!put) s->b->last_get = stmt;
  if (s->b->nevent == TD_CPU_MOST_EVENTS) return false;
  TdCpuEvent *event = &s->b->event[s->b->nevent++];
  *event = (TdCpuEvent){stmt, s->b->n};
  for (int i = 0; i < s->b->n; i++) {
    TdCpuEnd *x = &s->b->end[i];
    if (x->put != put || !is_same_end(x->stmt->expr[0], e)) continue;
    x->each++;
    event->end = i;
    return same_conditions(s, x);
  }
  if (s->b->n == TD_CPU_MOST_ENDS) return false;
  TdCpuEnd *x = &s->b->end[s->b->n++];
  *x = (TdCpuEnd){.stmt = stmt, .put = put, .each = 1, .nest = s->nest};
  memcpy(x->cond, s->cond, sizeof x->cond);
  memcpy(x->truth, s->truth, sizeof x->truth);
  return true;
}

/* Finds the ends that s uses; false if a burst cannot hold it. */
static bool scan(Scan *s, const TdStmt *stmt) {
  bool stops = td_cpu_task_may_stop(s->p, stmt), ok = true;
  switch (stmt->kind) {
  case TD_STMT_BREAK:
  case TD_STMT_RETURN:
  case TD_STMT_WHILE: return false;
  case TD_STMT_GET:
  case TD_STMT_PUT: return add_end(s, stmt);
  case TD_STMT_BLOCK:
    for (uint32_t i = 0; ok && i < stmt->nkid; i++) ok = scan(s, stmt->kid[i]);
    return ok;
  case TD_STMT_IF:
    if (stops && (s->nest == 4 || !is_fixed(s, stmt->expr[0]))) return false;
    for (uint32_t i = 0; ok && i < stmt->nkid; i++) {
      s->cond[s->nest] = stmt->expr[0];
      s->truth[s->nest++] = i == 0;
      ok = scan(s, stmt->kid[i]);
      s->nest--;
    }
    return ok;
  default: return !stops && stmt->kind != TD_STMT_CALL;
  }
}

/* Opens a block for the conditions of an end; returns how many lines close it. */
static void push_conditions(TdCpuProg *p, const TdCpuEnd *e) {
  for (int i = 0; i < e->nest; i++) {
    const char *truth = p->w->target->truth(p->w, e->cond[i]).text;
    td_text_line(&p->w->out, e->truth[i] ? "if (%s) {" : "if (!(%s)) {", truth);
    td_crange_push_cond(p->w, e->cond[i], e->truth[i]);
    p->w->out.indent++;
  }
}

static void pop_conditions(TdCpuProg *p, const TdCpuEnd *e) {
  for (int i = 0; i < e->nest; i++) {
    p->w->out.indent--;
    td_text_line(&p->w->out, "}");
  }
}

/* The pointer to a ring, and what it leaves of td_n iterations. */
static void put_end(TdCpuProg *p, TdCpuEnd *e, int number) {
  TdCWriter *w = p->w;
  size_t known = td_crange_mark(w);
  e->name = td_text_fmt(w->arena, "td_%s%d", e->put ? "p" : "g", number);
  td_text_line(&w->out, "struct td_ring *%s = 0;", e->name);
  push_conditions(p, e);
  e->ring = td_cpu_stream_ring(p, e->stmt->expr[0]);
  td_text_line(&w->out, "%s = %s;", e->name, e->ring);
  e->depth = td_cpu_stream_depth(p, e->stmt->expr[0], e->name);
  const char *room = e->put ? td_text_fmt(w->arena, "%s - %s->fill", e->depth, e->name)
                            : td_text_fmt(w->arena, "%s->fill", e->name);
  if (e->each > 1) room = td_text_fmt(w->arena, "(%s) / %" PRId64, room, e->each);
  td_text_line(&w->out, "if (%s < td_n) td_n = %s;", room, room);
  pop_conditions(p, e);
  td_crange_release(w, known);
}

/* What e is but for a constant that is added, which goes to *more. */
static const TdExpr *without_constant(const TdExpr *e, int64_t *more) {
  int64_t v;
  *more = 0;
  bool adds = e->kind == TD_EXPR_OP && (e->op == TD_OP_ADD || e->op == TD_OP_SUB);
  if (!adds || e->type->kind != TD_T_INDEX || !td_expr_is_const(e->kid[1], &v)) return e;
  *more = e->op == TD_OP_ADD ? v : -v;
  return e->kid[0];
}

/* Whether two streams of an array are never the same: z[j] and z[j + 1]. */
static bool is_other(const TdExpr *x, const TdExpr *y) {
  for (uint32_t i = 0; i < x->nkid && i < y->nkid; i++) {
    int64_t a, b;
    if (td_equal_expr(without_constant(x->kid[i], &a), without_constant(y->kid[i], &b)) && a != b)
      return true;
  }
  return false;
}

/* Two names of one stream would each move it on. */
static void put_distinct(TdCpuProg *p, const TdCpuBurst *b) {
  for (int i = 0; i < b->n; i++)
    for (int k = 0; k < i; k++)
      if (b->end[i].stmt->expr[0]->sym == b->end[k].stmt->expr[0]->sym &&
          !is_other(b->end[i].stmt->expr[0], b->end[k].stmt->expr[0]))
        td_text_line(&p->w->out, "if (%s && %s == %s) td_n = 0;", b->end[i].name, b->end[i].name,
                     b->end[k].name);
}

const char *td_cpu_burst_there(TdCpuProg *p, const TdCpuEnd *e, const char *text) {
  return e->nest ? td_text_fmt(p->w->arena, "%s ? %s : 0", e->name, text) : text;
}

const char *td_cpu_burst_count(TdCpuProg *p, const TdCpuBurst *b) {
  return b->is_whole ? td_text_fmt(p->w->arena, "%" PRId64, b->whole) : "td_n";
}

const char *td_cpu_burst_place(TdCpuProg *p, const TdCpuBurst *b, const TdCpuEnd *e) {
  return b->is_whole ? "td_i" : td_text_fmt(p->w->arena, "%s_at", e->name);
}

void td_cpu_burst_cursor(TdCpuProg *p, const TdCpuEnd *e) {
  const char *at = td_text_fmt(p->w->arena, "%s->%s", e->name, e->put ? "in" : "out");
  td_text_line(&p->w->out, "int64_t %s_at = %s;", e->name, td_cpu_burst_there(p, e, at));
}

/* The same and the tokens, kept beside the ring while the burst lasts. */
static void put_cursor(TdCpuProg *p, const TdCpuBurst *b, const TdCpuEnd *e) {
  TdCWriter *w = p->w;
  const TdType *t = e->stmt->expr[0]->type->elem;
  if (!b->is_whole) td_cpu_burst_cursor(p, e);
  td_cpu_stream_tokens(p, t, td_text_fmt(w->arena, "%s_token", e->name),
                       td_cpu_burst_there(p, e, td_text_fmt(w->arena, "%s->token", e->name)));
}

/* After as many as its ring holds, an end is where it was. */
static void keep_cursor(TdCpuProg *p, const TdCpuBurst *b, const TdCpuEnd *e) {
  TdArena *a = p->w->arena;
  const char *n = e->name, *guard = e->nest ? td_text_fmt(a, "if (%s) ", n) : "";
  const char *at = td_text_fmt(a, "%s->%s = %s_at, ", n, e->put ? "in" : "out", n);
  td_text_line(&p->w->out, "%s%s%s->fill %s %s * %" PRId64 ";", guard, b->is_whole ? "" : at, n,
               e->put ? "+=" : "-=", td_cpu_burst_count(p, b), e->each);
}

static const TdCpuEnd *end_of(const TdCpuBurst *b, const TdStmt *s) {
  for (int i = 0; i < b->n; i++)
    if (b->end[i].put == (s->kind == TD_STMT_PUT) &&
        is_same_end(b->end[i].stmt->expr[0], s->expr[0]))
      return &b->end[i];
  return NULL;
}

void td_cpu_burst_next(TdCpuProg *p, const TdCpuEnd *e) {
  char *rest;
  int64_t depth = strtoll(e->depth, &rest, 10);
  bool mask = !*rest && (depth & (depth - 1)) == 0;
  const char *n = e->name;
  if (mask)
    td_text_line(&p->w->out, "%s_at = (%s_at + 1) & %" PRId64 ";", n, n, depth - 1);
  else
    td_text_line(&p->w->out, "%s_at = %s_at + 1 == %s ? 0 : %s_at + 1;", n, n, e->depth, n);
}

/* A get or put of a burst. */
static bool stmt(TdCWriter *w, const TdStmt *s) {
  TdCpuProg *p = w->ud;
  if (s->kind != TD_STMT_GET && s->kind != TD_STMT_PUT) return td_cpu_unit_stmt(w, s);
  const TdCpuBurst *b = p->task->burst;
  const TdCpuEnd *e = end_of(b, s);
  const char *at = td_cpu_burst_place(p, b, e);
  td_cpu_stream_move(p, s, td_text_fmt(w->arena, "%s_token[%s]", e->name, at));
  if (!b->is_whole) td_cpu_burst_next(p, e);
  return true;
}

/* The iterations themselves, as of a loop that cannot stop. */
static void put_body(TdCpuProg *p, TdCpuBurst *b, const char *v) {
  TdCWriter *w = p->w;
  size_t names = td_cname_mark(w), known = td_crange_mark(w);
  const TdCTarget *own = w->target;
  TdCTarget burst = td_cpu_unit_target;
  burst.stmt = stmt;
  w->target = &burst;
  p->task->burst = b;
  td_text_line(&w->out, "for (int64_t td_i = 0; td_i < %s; td_i++, %s += %" PRId64 ") {",
               td_cpu_burst_count(p, b), v, b->loop->step);
  w->out.indent++;
  td_cstmt_put(w, td_for_body(b->loop));
  w->out.indent--;
  td_text_line(&w->out, "}");
  p->task->burst = NULL;
  w->target = own;
  td_crange_release(w, known);
  td_cname_release(w, names);
}

/* The tokens and the values: of td_n iterations, with all ends where they are then. */
static void put_tokens(TdCpuProg *p, TdCpuBurst *b, const char *v) {
  for (int i = 0; i < b->n; i++) put_cursor(p, b, &b->end[i]);
  put_body(p, b, v);
  for (int i = 0; i < b->n; i++) keep_cursor(p, b, &b->end[i]);
}

/* Whether s is short: no loops, and no tensors of its own. */
static bool is_short(const TdStmt *s) {
  if (s->kind == TD_STMT_FOR || s->kind == TD_STMT_WHILE) return false;
  if (s->kind == TD_STMT_LOCAL && s->type->kind == TD_T_TENSOR) return false;
  for (uint32_t i = 0; i < s->nkid; i++)
    if (!is_short(s->kid[i])) return false;
  return true;
}

/* The depth that all ends have, where so many iterations are worth a text of their own; or 0. */
static int64_t whole_of(const TdCpuProg *p, const TdCpuBurst *b) {
  if (!p->times || !td_cpu_burst_line_is(b) || !is_short(td_for_body(b->loop))) return 0;
  char *rest;
  int64_t depth = strtoll(b->end[0].depth, &rest, 10);
  if (*rest || depth < 2 || depth > TD_CPU_MOST_WHOLE) return 0;
  for (int i = 0; i < b->n; i++)
    if (strcmp(b->end[i].depth, b->end[0].depth) != 0 ||
        !td_type_is_scalar(b->end[i].stmt->expr[0]->type->elem))
      return 0;
  return depth;
}

/* Iterations that find all rings full, or empty, and begin at their first place: most of a design
 * whose depths are equal, and all that they do is known. What follows is for others. */
static void put_whole(TdCpuProg *p, TdCpuBurst *b, const char *v) {
  TdText *out = &p->w->out, at = td_text_new(p->w->arena);
  for (int i = 0; i < b->n; i++) {
    const TdCpuEnd *e = &b->end[i];
    const char *place = td_text_fmt(p->w->arena, "%s->%s", e->name, e->put ? "in" : "out");
    td_text_putf(&at, i ? " | (%s)" : "(%s)", td_cpu_burst_there(p, e, place));
  }
  td_text_line(out, "int td_whole = td_n == %" PRId64 " && !(%s);", b->whole, td_text_str(&at));
  td_text_line(out, "if (td_whole) {");
  out->indent++;
  b->is_whole = true;
  td_cpu_burst_clock_whole(p, b);
  put_tokens(p, b, v);
  b->is_whole = false;
  td_text_line(out, "}");
  out->indent -= 2;
  td_text_line(out, "}");
}

/* td_n iterations, of which there are some. */
static void put_iterations(TdCpuProg *p, TdCpuBurst *b, const char *v) {
  TdText *out = &p->w->out;
  if (b->whole) put_whole(p, b, v);
  if (b->whole) td_text_line(out, "if (!td_whole) {");
  out->indent += b->whole != 0;
  if (p->times) td_cpu_burst_clock_put(p, b);
  put_tokens(p, b, v);
  out->indent -= b->whole != 0;
  if (b->whole) td_text_line(out, "}");
}

void td_cpu_burst_put(TdCpuProg *p, const TdStmt *loop, const char *v, const char *end,
                      const char *time) {
  TdCWriter *w = p->w;
  TdCpuBurst b = {.loop = loop};
  Scan s = {.p = p, .b = &b};
  if (p->taint || !scan(&s, td_for_body(loop)) || !b.n) return;
  if (p->times && !td_cpu_burst_clock_takes(p, &b)) return;
  int point = ++p->task->points;
  td_text_line(&w->out, "case %d: {", point);
  w->out.indent++;
  td_text_line(&w->out, "int64_t td_n = (%s - %s + %" PRId64 ") / %" PRId64 ";", end, v,
               loop->step - 1, loop->step);
  for (int i = 0; i < b.n; i++) put_end(p, &b.end[i], i);
  put_distinct(p, &b);
  if (p->times) td_text_line(&w->out, "if (!%s) td_n = 0;", time);
  td_text_line(&w->out, "if (td_n > 0) {");
  w->out.indent++;
  b.whole = whole_of(p, &b);
  put_iterations(p, &b, v);
  td_text_line(&w->out, "td_moved = 1;");
  td_text_line(&w->out, "if (%s >= %s) break;", v, end);
  w->out.indent--;
  td_text_line(&w->out, "}");
  td_text_line(&w->out, "if (!run->slow) TD_WAIT(%d, %d, 0);", point,
               td_cpu_unit_place(p, loop->loc));
  w->out.indent--;
  td_text_line(&w->out, "}");
}
