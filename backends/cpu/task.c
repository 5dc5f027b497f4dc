/* task.c - a unit that puts or gets, as a function that can stop at any of them: its variables
 * are kept in a frame while it waits, and a switch leads back to where it was. It returns whether
 * it moved anything (1) and whether it ended (2). */
#include <inttypes.h>

#include "backends/cpu/text.h"

bool td_cpu_task_may_stop(const TdCpuProg *p, const TdStmt *s) {
  if (s->kind == TD_STMT_GET || s->kind == TD_STMT_PUT || s->kind == TD_STMT_SLOT) return true;
  if (td_cpu_clock_is_inside(p, s)) return true;
  if (s->kind == TD_STMT_WHILE && p->times) return true;
  if (s->kind == TD_STMT_CALL) {
    const TdCpuUnit *u = td_cpu_param_unit(p, s->sym);
    return u && u->streams;
  }
  for (uint32_t i = 0; i < s->nkid; i++)
    if (td_cpu_task_may_stop(p, s->kid[i])) return true;
  return false;
}

void td_cpu_task_keep(TdCpuProg *p, const char *declaration, const char *name, bool fixed) {
  TdCpuTask *t = p->task;
  td_text_line(&p->room.at[0].fields, "%s;", declaration);
  td_text_line(&t->declare, "%s = me->%s;", declaration, name);
  if (!fixed) td_text_line(&t->save, "me->%s = %s;", name, name);
}

/* A fresh scalar of the task that stands for sym. */
static const char *scalar(TdCpuProg *p, TdSym sym, const char *type, bool fixed) {
  const char *name = td_cname_declare(p->w, sym);
  td_cpu_task_keep(p, td_text_fmt(p->w->arena, "%s %s", type, name), name, fixed);
  return name;
}

/* The statements of a body; buffers that it declared are given back. */
static void body(TdCWriter *w, const TdStmt *s) {
  TdCpuProg *p = w->ud;
  size_t held = p->task->held.n;
  w->out.indent++;
  td_cstmt_put(w, s);
  td_cpu_stream_release(p, held);
  p->task->held.n = held;
  w->out.indent--;
}

/* What loop v ends before: the bound itself where that is the same in all iterations, else a
 * variable that it is put into here. */
static const char *put_bound(TdCpuProg *p, const TdExpr *hi, const char *v) {
  TdCWriter *w = p->w;
  TdPiece bound = w->target->index(w, hi);
  if (!td_cstmt_is_once(hi)) return td_cexpr_operand(w, bound, TD_BIND_UNARY);
  TdSym sym = td_store_sym(w->store, td_text_fmt(w->arena, "%s_end", v), TD_SYM_LOOP);
  const char *end = scalar(p, sym, "int64_t", false);
  td_text_line(&w->out, "%s = %s;", end, bound.text);
  return end;
}

/* A loop that may stop: its variable is the task's. */
static void put_for(TdCpuProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  size_t known = td_crange_mark(w);
  TdPiece lo = w->target->index(w, td_for_lo(s));
  const char *v = scalar(p, s->sym, "int64_t", false), *end = put_bound(p, td_for_hi(s), v);
  const char *time = td_cpu_clock_enter(p, s, v);
  td_text_line(&w->out, "for (%s = %s; %s < %s; %s) {", v, lo.text, v, end,
               td_cstmt_step(w, s, v, end));
  td_crange_push_loop(w, s->sym, td_for_lo(s), td_for_hi(s));
  p->task->loops++;
  p->moves = true;
  w->out.indent++;
  td_cpu_burst_put(p, s, v, end, time);
  td_cpu_clock_iterate(p, s, time);
  w->out.indent--;
  body(w, td_for_body(s));
  p->task->loops--;
  td_text_line(&w->out, "}");
  td_cpu_clock_leave(p, s, time);
  td_crange_release(w, known);
}

/* Leaves a WHILE where its test is false, which takes its time. */
static void put_test(TdCWriter *w, TdPiece go, const char *time) {
  const char *text = td_cexpr_operand(w, go, TD_BIND_UNARY);
  if (time)
    td_text_line(&w->out, "if (!%s) {\n  if (%s) TD_TIMED->test(me->clock, %s);\n  break;\n}", text,
                 time, time);
  else
    td_text_line(&w->out, "if (!%s) break;", text);
}

/* As the family's, but what the body holds is given back. */
static void put_while(TdCpuProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  TdPiece cond = s->post ? (TdPiece){0} : w->target->truth(w, s->expr[0]);
  const char *time = td_cpu_clock_enter(p, s, "while");
  td_text_line(&w->out, "while (%s) {", s->post || time ? "1" : cond.text);
  if (!s->post && time) put_test(w, cond, time);
  p->task->loops++;
  p->moves = true;
  size_t held = p->task->held.n;
  w->out.indent++;
  td_text_line(&w->out, "if (td_stopped(run)) goto wait;");
  td_cpu_clock_iterate(p, s, time);
  td_cstmt_put(w, s->kid[0]);
  td_cpu_stream_release(p, held);
  p->task->held.n = held;
  if (s->post) put_test(w, w->target->truth(w, s->expr[0]), time);
  w->out.indent--;
  p->task->loops--;
  td_text_line(&w->out, "}");
  td_cpu_clock_leave(p, s, time);
}

/* A statement that cannot stop: as in any kernel. */
static void put_plain(TdCpuProg *p, const TdStmt *s) {
  const TdCTarget *own = p->w->target;
  size_t names = td_cname_mark(p->w);
  p->w->target = &td_cpu_unit_target;
  td_cstmt_put_one(p->w, s);
  p->w->target = own;
  if (s->kind != TD_STMT_LOCAL) td_cname_release(p->w, names);
}

/* A local that lives across stops. */
static void put_local(TdCpuProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  if (s->cls != TD_LOCAL_AUTO) {
    put_plain(p, s);
  } else if (s->type->kind == TD_T_TENSOR) {
    td_cpu_unit_field(p, s);
  } else {
    const char *value = td_cstmt_initial(w, s);
    const char *name = scalar(p, s->sym, w->target->cell(w, s->sym, s->type), false);
    td_text_line(&w->out, "%s = %s;", name, value);
  }
}

/* Leaves the innermost loop, or the unit. */
static void put_jump(TdCpuProg *p, const TdStmt *s) {
  bool all = s->kind == TD_STMT_RETURN;
  size_t held = p->task->held.n;
  while (held && (all || p->task->held.at[held - 1].loops >= p->task->loops)) held--;
  td_cpu_stream_release(p, held);
  if (all) td_cpu_clock_return(p);
  td_text_line(&p->w->out, all ? "goto done;" : "break;");
}

static bool stmt(TdCWriter *w, const TdStmt *s) {
  TdCpuProg *p = w->ud;
  bool stops = td_cpu_task_may_stop(p, s);
  switch (s->kind) {
  case TD_STMT_LOCAL: put_local(p, s); return true;
  case TD_STMT_BREAK:
  case TD_STMT_RETURN: put_jump(p, s); return true;
  case TD_STMT_FOR:
    if (stops) put_for(p, s);
    break;
  case TD_STMT_WHILE:
    if (stops) put_while(p, s);
    break;
  case TD_STMT_IF: td_cstmt_put_if(w, s, body); return true;
  case TD_STMT_BLOCK:
    td_text_line(&w->out, "{");
    body(w, s);
    td_text_line(&w->out, "}");
    return true;
  default:
    if (stops) td_cpu_stream_put(p, s);
  }
  if (!stops && p->times && td_times_of(p->times, s) && s->kind == TD_STMT_FOR)
    td_cpu_clock_pass(p, s);
  if (!stops) put_plain(p, s);
  return true;
}

static void begin(TdCWriter *w, const TdStmt *s) {
  td_cpu_clock_begin(w->ud, s);
}

/* The target of a task: the unit's, with statements that may stop. */
static TdCTarget target_of_tasks(void) {
  TdCTarget t = td_cpu_unit_target;
  t.stmt = stmt;
  t.begin = begin;
  return t;
}

/* The strides, as text, of an array of streams that lies row-major. */
static const char *const *stream_strides(TdCWriter *w, const TdType *t) {
  const char **stride = TD_NEWN(w->arena, const char *, TD_MAX_RANK);
  int64_t n = 1, extent = 1;
  for (int d = t->rank - 1; d >= 0; d--, n *= extent) {
    stride[d] = td_text_fmt(w->arena, "%" PRId64, n);
    td_type_extent(t, d, &extent);
  }
  return stride;
}

/* Those of tensor parameter i, kept in the frame where they differ between calls. */
static const char *const *kept_strides(TdCpuProg *p, TdCpuUnit *u, size_t i, const char *name) {
  int rank = u->unit->param[i].type->rank;
  const char **fresh = u->stride + i * TD_MAX_RANK;
  const char *const *stride = td_cpu_arg_strides(p, &u->param[i], rank, name, fresh);
  for (int d = 0; d < rank; d++)
    if (fresh[d])
      td_cpu_task_keep(p, td_text_fmt(p->w->arena, "int64_t %s", fresh[d]), fresh[d], true);
  return stride;
}

/* A parameter of u in its frame and as a variable; streams are pointers to rings or pools. */
static const char *put_param(TdCpuProg *p, TdCpuUnit *u, size_t i) {
  TdCWriter *w = p->w;
  const TdParam *x = &u->unit->param[i];
  const TdType *t = td_cfamily_type(w, x->type);
  if (td_type_is_scalar(t)) return scalar(p, x->sym, w->target->cell(w, x->sym, t), true);
  const char *name = td_cname_fresh(w, x->sym->name), *declaration;
  const char *const *stride = NULL;
  if (t->kind == TD_T_PORT) {
    declaration = td_text_fmt(w->arena, "struct td_%s *%s", t->block ? "pool" : "ring", name);
    stride = stream_strides(w, t);
  } else if (u->param[i].dense) {
    declaration = td_cstmt_pointer(w, x->sym, x->type, name, !u->param[i].written);
  } else {
    declaration =
        td_text_fmt(w->arena, "%s *restrict %s", w->target->cell(w, x->sym, t->elem), name);
    stride = kept_strides(p, u, i, name);
  }
  td_cname_put(w, x->sym, name, t, stride);
  td_cpu_task_keep(p, declaration, name, true);
  return name;
}

typedef struct Visit {
  TdCpuProg *p;
  TdCpuUnit *u;
} Visit;

/* Notes a stream of the design that the unit names, as if it were a parameter. */
static bool note_stream(void *ud, const TdExpr *e) {
  Visit *v = ud;
  if (e->kind != TD_EXPR_VIEW || e->sym->kind != TD_SYM_STREAM) return true;
  if (td_unit_param(v->u->unit, e->sym)) return true;
  for (size_t i = 0; i < v->u->outer.n; i++)
    if (v->u->outer.at[i] == e->sym) return true;
  td_vec_push(v->p->w->arena, &v->u->outer, e->sym);
  return true;
}

/* The unit that declares a stream, with the stream. */
static const TdUnit *design_of(const TdCpuProg *p, TdSym sym, const TdStream **stream) {
  for (size_t i = 0; i < p->w->prog->nunit; i++)
    if ((*stream = td_unit_stream(p->w->prog->unit[i], sym))) return p->w->prog->unit[i];
  return NULL;
}

/* Declares the design's streams that u names. */
static void put_outer(TdCpuProg *p, TdCpuUnit *u) {
  TdCWriter *w = p->w;
  Visit v = {p, u};
  td_walk_exprs(w->session->ctx, u->unit->body, note_stream, &v);
  for (size_t i = 0; i < u->outer.n; i++) {
    const TdStream *s;
    const TdUnit *d = design_of(p, u->outer.at[i], &s);
    const TdType *t = d ? td_unit_type(w->session, d, s->type) : NULL;
    if (!t) {
      td_cfamily_refuse(w, "unbound-size", u->unit->loc,
                        td_unit_help_sizes(w->arena, d ? d : u->unit), "stream %s has no extents",
                        u->outer.at[i]->name);
      return;
    }
    const char *name = td_cname_fresh(w, u->outer.at[i]->name);
    td_cname_put(w, u->outer.at[i], name, t, stream_strides(w, t));
    td_vec_push(w->arena, &u->outer_field, name);
    td_cpu_task_keep(p, td_text_fmt(w->arena, "struct td_%s *%s", t->block ? "pool" : "ring", name),
                     name, true);
  }
}

/* Declares parameters, coordinates and streams as variables of the frame. */
static void put_names(TdCpuProg *p, TdCpuUnit *u) {
  TdArena *a = p->w->arena;
  u->field = TD_NEWN(a, const char *, u->unit->nparam);
  u->stride = TD_NEWN(a, const char *, u->unit->nparam *TD_MAX_RANK);
  u->id = TD_NEWN(a, const char *, u->unit->ncoord);
  for (size_t i = 0; i < u->unit->nparam; i++) u->field[i] = put_param(p, u, i);
  for (size_t i = 0; i < u->unit->ncoord; i++)
    u->id[i] = scalar(p, u->unit->coord[i], "int64_t", true);
  if (u->unit->body) put_outer(p, u);
}

/* The leading constants and states of a body, which come before the switch; returns how many. */
static uint32_t put_constants(TdCpuProg *p, const TdStmt *b) {
  uint32_t n = 0;
  for (; n < b->nkid && b->kid[n]->kind == TD_STMT_LOCAL && b->kid[n]->cls != TD_LOCAL_AUTO; n++)
    td_cstmt_put_one(p->w, b->kid[n]);
  return n;
}

void td_cpu_task_enter(TdCpuProg *p, TdCpuUnit *u, TdCpuTask *task, TdText *out) {
  *task = (TdCpuTask){.declare = td_text_new(p->w->arena), .save = td_text_new(p->w->arena)};
  task->declare.indent = task->save.indent = 1;
  p->task = task;
  td_cpu_unit_enter(p, u, "me->", out);
  td_text_line(&p->room.at[0].fields, "struct td_task task;");
  if (p->times) td_text_line(&p->room.at[0].fields, "struct td_clock *clock;\n  int64_t level;");
  p->stop = "return 0";
  put_names(p, u);
}

/* The function that has all instances of a run go on. */
static void put_turn(const TdCpuProg *p, const TdCpuUnit *u, TdText *out) {
  const char *of_state = u->has_state ? ", &state[td_i]" : "";
  td_text_line(out, "static int64_t td_turn_%s(struct td_run *run, const struct td_part *td_p) {",
               u->task);
  td_text_line(out, "  struct %s_frame *me = td_p->frame;", u->name);
  if (u->has_state) td_text_line(out, "  struct %s_state *state = td_p->memory;", u->name);
  td_text_line(out, "  int64_t td_moved = 0, td_ended = 0;");
  if (p->watch) td_text_line(out, "  const int64_t td_first = run->who;");
  td_text_line(out, "  for (int64_t td_i = 0; td_i < td_p->n; td_i++) {");
  td_text_line(out, "    if (me[td_i].task.at < 0) continue;");
  if (p->watch) td_text_line(out, "    run->who = td_first + td_i;");
  td_text_line(out, "    int td_did = %s(run, &me[td_i]%s);", u->task, of_state);
  td_text_line(out, "    td_moved |= td_did & 1, td_ended += td_did >> 1;");
  td_text_line(out, "  }");
  td_text_line(out, "  return td_moved | td_ended << 1;");
  td_text_line(out, "}");
}

void td_cpu_task_leave(TdCpuProg *p, TdCpuUnit *u, const char *text, TdText *out) {
  const TdCpuTask *task = p->task;
  p->task = NULL;
  td_cpu_unit_put_struct(out, u->name, "frame", &p->room.at[0].fields);
  td_cpu_unit_put_state(p, u, out);
  td_text_line(out, "static int %s(struct td_run *run, struct %s_frame *restrict me%s%s%s) {",
               u->task, u->name, u->has_state ? ", struct " : "", u->has_state ? u->name : "",
               u->has_state ? "_state *restrict state" : "");
  td_text_putf(out, "  int td_moved = 0;\n%s%s", td_text_str(&task->declare), text);
  td_text_putf(out, "  goto done;\ndone:\n  me->task.at = -1;\n  return td_moved | 3;\n");
  td_text_putf(out, "wait:\n%s  return td_moved;\n}\n\n", td_text_str(&task->save));
  put_turn(p, u, out);
}

void td_cpu_task_put(TdCpuProg *p, TdCpuUnit *u, TdText *out) {
  TdCWriter *w = p->w;
  TdCpuTask task;
  const TdCTarget own = target_of_tasks(), *before = w->target;
  w->target = &own;
  td_cpu_task_enter(p, u, &task, out);
  u->work = td_crange_work(w, u->unit->body);
  uint32_t first = put_constants(p, u->unit->body);
  td_text_line(&w->out, "switch (me->task.at) {");
  td_text_line(&w->out, "case 0:;");
  td_cpu_check_assumed(p, u);
  for (uint32_t i = 0; i < first; i++) td_cpu_clock_begin(p, u->unit->body->kid[i]);
  const TdStmt *rest = td_stmt_block(w->store, u->unit->body->kid + first,
                                     u->unit->body->nkid - first, u->unit->loc);
  td_cstmt_put(w, rest);
  td_cpu_stream_release(p, 0);
  td_text_line(&w->out, "}");
  w->target = before;
  td_cpu_task_leave(p, u, td_text_str(&w->out), out);
}
