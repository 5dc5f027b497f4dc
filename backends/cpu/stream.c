/* stream.c - get, put, slot, and calls of units that do these: each is a place where the task
 * goes on. Tokens are copied whole; a block stream's are buffers that change hands. */
#include <inttypes.h>
#include <string.h>

#include "backends/cpu/text.h"

const char *td_cpu_stream_ring(TdCpuProg *p, const TdExpr *e) {
  TdCWriter *w = p->w;
  const TdCName *name = td_cname_of(w, e->sym);
  TdPiece index[TD_MAX_RANK];
  for (uint32_t d = 0; d < e->nkid; d++) {
    int64_t extent = 1;
    td_type_extent(name->type, (int)d, &extent);
    index[d] = td_cexpr_index(w, e->kid[d], extent, e->loc);
  }
  return e->nkid ? td_text_fmt(w->arena, "&%s", td_cexpr_at(w, name, index).text) : name->text;
}

/* A new point to go on from; begins a block with td_r, the ring or pool of a stream. */
static int begin(TdCpuProg *p, const TdStmt *s, bool block) {
  TdCWriter *w = p->w;
  const char *ring = td_cpu_stream_ring(p, s->expr[0]);
  int point = ++p->task->points;
  td_text_line(&w->out, "case %d: {", point);
  w->out.indent++;
  td_text_line(&w->out, "struct td_%s *td_r = %s;", block ? "pool" : "ring", ring);
  return point;
}

static void end(TdCpuProg *p) {
  td_text_line(&p->w->out, "td_moved = 1;");
  p->w->out.indent--;
  td_text_line(&p->w->out, "}");
}

/* Waits unless `ready`; `ring` is what is waited for. */
static void wait(TdCpuProg *p, int point, TdLoc loc, const char *ready, const char *ring) {
  td_text_line(&p->w->out, "if (!(%s)) TD_WAIT(%d, %d, %s);", ready, point,
               td_cpu_unit_place(p, loc), ring);
}

/* "int8_t (*td_token)[4] = td_r->token;": the tokens of r, or the buffers of a pool, as an array
 * named `name`. */
static void put_tokens(TdCpuProg *p, TdSym sym, const TdType *t, const char *name,
                       const char *where) {
  TdCWriter *w = p->w;
  const char *array = td_cstmt_array(w, sym, t, "(*)");
  const char *dims = strchr(array, ')') + 1;
  td_text_line(&w->out, "%s (*%s)%s = %s;", w->target->cell(w, sym, td_type_scalar(t)), name, dims,
               where);
}

/* A fresh symbol for the token of type t in the text. */
static const TdExpr *token(TdCpuProg *p, const TdType *t, const char *text) {
  TdCWriter *w = p->w;
  TdSym sym = td_store_sym(w->store, "token", TD_SYM_LOCAL);
  td_cname_put(w, sym, text, td_cfamily_type(w, t), NULL);
  return td_expr_whole(w->session, w->arena, sym, t, (TdLoc){0});
}

/* Sets view to value, as a statement that cannot stop. */
static void set(TdCpuProg *p, const TdExpr *view, const TdExpr *value) {
  TdCWriter *w = p->w;
  const TdStmt *s = td_stmt_set(w->store, view, value, view->loc);
  const TdCTarget *own = w->target;
  w->target = &td_cpu_unit_target;
  td_cstmt_put(w, td_stmt_block(w->store, &s, 1, view->loc));
  w->target = own;
}

/* The type of the tokens of a stream expression. */
static const TdType *token_type(const TdExpr *e) {
  return e->type->elem;
}

/* The cells of a ring's tokens of type t, as an array `name` that is indexed by their number. */
void td_cpu_stream_tokens(TdCpuProg *p, const TdType *t, const char *name, const char *where) {
  if (td_type_is_scalar(t))
    td_text_line(&p->w->out, "%s *%s = %s;", p->w->target->cell(p->w, NULL, t), name, where);
  else
    put_tokens(p, NULL, t, name, where);
}

/* A token at `from` into what s declares, or into a place or view. */
static void get_token(TdCpuProg *p, const TdStmt *s, const char *from) {
  TdCWriter *w = p->w;
  const TdType *t = token_type(s->expr[0]);
  const TdExpr *to = s->nexpr > 1 ? s->expr[1] : NULL;
  size_t names = td_cname_mark(w);
  if (td_type_is_scalar(t)) {
    const char *place = to ? td_cexpr_touch(w, to, true).text : td_cname_of(w, s->sym)->text;
    td_text_line(&w->out, "%s = %s;", place, from);
    return;
  }
  const TdExpr *e = token(p, t, from);
  set(p, to ? to : td_expr_whole(w->session, w->arena, s->sym, t, s->loc), e);
  td_cname_release(w, names);
}

/* The value of a put into a token at `to`. */
static void put_token(TdCpuProg *p, const TdStmt *s, const char *to) {
  TdCWriter *w = p->w;
  const TdType *t = token_type(s->expr[0]);
  size_t names = td_cname_mark(w);
  if (td_type_is_scalar(t))
    td_text_line(&w->out, "%s = %s;", to, w->target->value(w, s->expr[1]).text);
  else
    set(p, token(p, t, to), s->expr[1]);
  td_cname_release(w, names);
}

void td_cpu_stream_move(TdCpuProg *p, const TdStmt *s, const char *token) {
  TdCWriter *w = p->w;
  if (s->kind == TD_STMT_PUT) {
    put_token(p, s, token);
    return;
  }
  if (s->nexpr < 2) {
    const TdType *t = token_type(s->expr[0]);
    const TdStmt *local = td_stmt_local(w->store, s->sym, t, TD_INIT_NONE, NULL, s->loc);
    td_cstmt_put(w, td_stmt_block(w->store, &local, 1, s->loc));
  }
  get_token(p, s, token);
}

/* Declares what a get brings. */
static void declare(TdCpuProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  const TdType *t = token_type(s->expr[0]);
  if (s->nexpr > 1) return;
  if (t->kind == TD_T_TENSOR) {
    const TdStmt *local = td_stmt_local(w->store, s->sym, t, TD_INIT_NONE, NULL, s->loc);
    td_cpu_unit_field(p, local);
    return;
  }
  const char *name = td_cname_declare(w, s->sym);
  td_cpu_task_keep(p, td_text_fmt(w->arena, "%s %s", w->target->cell(w, s->sym, t), name), name,
                   false);
}

const char *td_cpu_stream_depth(TdCpuProg *p, const TdExpr *e, const char *ring) {
  for (size_t i = 0; i < p->w->prog->nunit; i++) {
    const TdUnit *d = p->w->prog->unit[i];
    const TdStream *s = td_unit_stream(d, e->sym);
    int64_t depth;
    if (s && td_unit_value(d, s->depth, &depth)) return td_text_fmt(p->w->arena, "%" PRId64, depth);
  }
  return td_text_fmt(p->w->arena, "%s->depth", ring);
}

static void put_get(TdCpuProg *p, const TdStmt *s) {
  declare(p, s);
  int point = begin(p, s, false);
  wait(p, point, s->loc, "td_r->fill", "td_r");
  td_cpu_stream_tokens(p, token_type(s->expr[0]), "td_token", "td_r->token");
  get_token(p, s, "td_token[td_r->out]");
  td_cpu_clock_move(p, s, "get", "td_r", "0");
  td_text_line(&p->w->out, "td_got(td_r, %s);", td_cpu_stream_depth(p, s->expr[0], "td_r"));
  end(p);
}

static void put_put(TdCpuProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  int point = begin(p, s, false);
  const char *depth = td_cpu_stream_depth(p, s->expr[0], "td_r");
  wait(p, point, s->loc, td_text_fmt(w->arena, "td_r->fill < %s", depth), "td_r");
  td_cpu_stream_tokens(p, token_type(s->expr[0]), "td_token", "td_r->token");
  put_token(p, s, "td_token[td_r->in]");
  td_cpu_clock_move(p, s, "put", "td_r", "0");
  td_text_line(&w->out, "td_put(td_r, %s);", depth);
  end(p);
}

/* Takes a buffer of a block stream, full (get) or free (slot), under the name that s declares. */
static void hold(TdCpuProg *p, const TdStmt *s, const char *which) {
  TdCWriter *w = p->w;
  const TdType *t = token_type(s->expr[0]);
  const char *name = td_cname_fresh(w, s->sym->name);
  td_cname_put(w, s->sym, name, td_cfamily_type(w, t), NULL);
  const char *number = td_text_fmt(w->arena, "%s_buffer", name);
  const char *pool = td_text_fmt(w->arena, "%s_pool", name);
  td_cpu_task_keep(p, td_cstmt_pointer(w, s->sym, t, name, false), name, false);
  td_cpu_task_keep(p, td_text_fmt(w->arena, "int64_t %s", number), number, false);
  td_cpu_task_keep(p, td_text_fmt(w->arena, "struct td_pool *%s", pool), pool, false);
  int point = begin(p, s, true);
  wait(p, point, s->loc, td_text_fmt(w->arena, "td_r->%s.fill", which),
       td_text_fmt(w->arena, "&td_r->%s", which));
  td_text_line(&w->out, "%s = td_r;", pool);
  td_text_line(&w->out, "%s = td_take(&td_r->%s);", number, which);
  put_tokens(p, s->sym, t, "td_buffer", "td_r->data");
  td_text_line(&w->out, "%s = (void *)td_buffer[%s];", name, number);
  bool slot = s->kind == TD_STMT_SLOT;
  td_cpu_clock_move(p, s, slot ? "slot" : "get", "(&td_r->full)", slot ? NULL : "1");
  end(p);
  td_vec_push(w->arena, &p->task->held,
              ((TdCpuHeld){s->sym, slot ? s->expr[0] : NULL, number, pool, p->task->loops}));
}

/* The slot that a value is all of, or NULL. */
static const TdCpuHeld *slot_of(TdCpuProg *p, const TdExpr *value) {
  for (size_t i = p->task->held.n; i-- > 0;) {
    const TdCpuHeld *h = &p->task->held.at[i];
    if (h->slot && td_expr_keeps_dims(value, h->sym)) return h;
  }
  return NULL;
}

/* Hands over slot h, whose stream is td_r. */
static void hand_over(TdCpuProg *p, const TdStmt *s, const TdCpuHeld *h) {
  td_text_line(&p->w->out, "if (%s >= 0) td_give(&td_r->full, %s);", h->buffer, h->buffer);
  td_cpu_clock_move(p, s, "put", "(&td_r->full)", "1");
  td_text_line(&p->w->out, "%s = -1;", h->buffer);
}

/* Puts a copy of the value in a buffer taken for it. */
static void put_copy(TdCpuProg *p, const TdStmt *s, int point) {
  TdCWriter *w = p->w;
  const TdType *t = token_type(s->expr[0]);
  wait(p, point, s->loc, "td_r->spare.fill", "&td_r->spare");
  size_t names = td_cname_mark(w);
  td_text_line(&w->out, "int64_t td_number = td_take(&td_r->spare);");
  put_tokens(p, NULL, t, "td_buffer", "td_r->data");
  set(p, token(p, t, "td_buffer[td_number]"), s->expr[1]);
  td_cname_release(w, names);
  td_text_line(&w->out, "td_give(&td_r->full, td_number);");
  td_cpu_clock_move(p, s, "put", "(&td_r->full)", "0");
}

/* Puts a value on a block stream: a slot of it as it is, anything else as a copy. Which stream a
 * slot is of is asked at run time, unless both are one name without indices. */
static void put_block(TdCpuProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  const TdExpr *to = s->expr[0];
  const TdCpuHeld *h = slot_of(p, s->expr[1]);
  bool known = h && h->slot->sym == to->sym && to->nkid == 0;
  int point = begin(p, s, true);
  if (h && !known) {
    td_text_line(&w->out, "if (%s == td_r) {", h->pool);
    w->out.indent++;
  }
  if (h) hand_over(p, s, h);
  if (h && !known) {
    w->out.indent--;
    td_text_line(&w->out, "} else {");
    w->out.indent++;
  }
  if (!known) put_copy(p, s, point);
  if (h && !known) {
    w->out.indent--;
    td_text_line(&w->out, "}");
  }
  end(p);
}

void td_cpu_stream_release(TdCpuProg *p, size_t mark) {
  for (size_t i = p->task->held.n; i-- > mark;) {
    const TdCpuHeld *h = &p->task->held.at[i];
    td_text_line(&p->w->out, "if (%s >= 0) {", h->buffer);
    p->w->out.indent++;
    td_text_line(&p->w->out, "td_give(&%s->spare, %s);", h->pool, h->buffer);
    td_cpu_clock_free(p, td_text_fmt(p->w->arena, "(&%s->full)", h->pool));
    p->w->out.indent--;
    td_text_line(&p->w->out, "}");
  }
}

/* A call of a unit that stops: its frame is a field of the caller's. */
static void put_call(TdCpuProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  const TdCpuUnit *f = td_cpu_param_unit(p, s->sym);
  int point = ++p->task->points;
  const char *me = td_text_fmt(w->arena, "me->call%d", point);
  td_text_line(&p->room.at[0].fields, "struct %s_frame call%d;", f->name, point);
  td_text_line(&w->out, "%s.task.at = 0;", me);
  if (p->times) td_text_line(&w->out, "%s.clock = me->clock, %s.level = me->level + 256;", me, me);
  for (uint32_t i = 0; i < s->nexpr; i++) td_cpu_arg_fill(p, f, me, i, s->expr[i]);
  for (size_t i = 0; i < f->outer.n; i++)
    td_text_line(&w->out, "%s.%s = %s;", me, f->outer_field.at[i],
                 td_cname_of(w, f->outer.at[i])->text);
  td_text_line(&w->out, "case %d: {", point);
  const char *state = td_cpu_unit_state_of(p, f);
  td_text_line(&w->out, "  int td_did = %s(run, &%s%s%s);", f->name, me, *state ? ", " : "", state);
  td_text_line(&w->out, "  td_moved |= td_did & 1;");
  td_text_line(&w->out, "  if (!(td_did & 2)) TD_WAIT(%d, %s.task.place, %s.task.ring);", point, me,
               me);
  td_text_line(&w->out, "}");
}

void td_cpu_stream_put(TdCpuProg *p, const TdStmt *s) {
  bool block = s->kind != TD_STMT_CALL && s->expr[0]->type->block;
  switch (s->kind) {
  case TD_STMT_GET:
    if (!block) {
      put_get(p, s);
    } else if (s->nexpr > 1) {
      td_cfamily_refuse(p->w, "block-into-place", s->loc, "name the buffer: local b = Z:get()",
                        "a get from a block stream into memory that is there");
    } else {
      hold(p, s, "full");
    }
    break;
  case TD_STMT_SLOT: hold(p, s, "spare"); break;
  case TD_STMT_PUT: block ? put_block(p, s) : put_put(p, s); break;
  default: put_call(p, s);
  }
}
