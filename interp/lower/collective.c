/* collective.c - an allreduce becomes streams to and from a task that combines the parts. */
#include "lower/collective.h"

#include <string.h>

#include "analysis/net/layouts.h"

/* One allreduce, where it stands, and what is made of it. */
typedef struct Collective {
  TdStore *store;
  TdSession *session;
  TdArena *arena; /* the store's */
  const TdProg *prog;
  const TdUnit *design, *task; /* the task's kernel */
  const TdRun *run;
  const TdStmt *stmt; /* the statement that holds it */
  const TdExpr *e;
  TdPath path; /* from the kernel's body to stmt */
  TdLoc loc;
  TdSym coord[TD_MAX_RANK]; /* of the task, one for each axis */
  TdSym id[TD_MAX_RANK];    /* of the collector: ids of its map, loops over the others */
  TdStream part, sum;       /* from and to the instances */
  const TdRunArg *sink;     /* the argument that the task ends by storing to, or NULL */
} Collective;

/* Whether the allreduce combines over an axis of the map. */
static bool is_over(const Collective *c, int axis) {
  return !c->e->axis || (c->e->axis >> axis & 1);
}

/* ---- which allreduce ---- */

/* Notes an allreduce; those further inside come later. */
static bool note_allreduce(void *ud, const TdExpr *e) {
  const TdExpr **found = ud;
  if (e->kind == TD_EXPR_TENSOR && e->op == TD_OP_ALLREDUCE && e->type->kind == TD_T_TENSOR)
    *found = e;
  return true;
}

/* The innermost allreduce of a statement's own expressions, or NULL. */
static const TdExpr *allreduce_of(const TdStmt *s) {
  const TdExpr *found = NULL;
  for (uint32_t i = 0; i < s->nexpr; i++) td_walk_expr(s->expr[i], note_allreduce, &found);
  return found;
}

/* Whether an expression is known where the collector runs: sizes and loops around. */
static bool is_known(void *ud, const TdExpr *e) {
  const Collective *c = ud;
  if (e->kind == TD_EXPR_LOAD) return false;
  if (e->kind != TD_EXPR_VAR) return true;
  for (int d = 0; d < c->run->rank; d++)
    if (e->sym == c->coord[d]) return !is_over(c, d);
  return e->sym->kind == TD_SYM_LOOP;
}

/* Whether all that stands around the statement are blocks and loops that the collector can run, and
 * that nothing leaves. */
static bool is_countable(Collective *c) {
  if (td_walk_leaves(c->task->body)) return false;
  for (size_t i = 0; i + 1 < c->path.n; i++) {
    const TdStmt *s = c->path.at[i];
    if (s->kind == TD_STMT_BLOCK) continue;
    if (s->kind != TD_STMT_FOR || !td_walk_expr(td_for_lo(s), is_known, c) ||
        !td_walk_expr(td_for_hi(s), is_known, c) || td_walk_leaves(td_for_body(s)))
      return false;
  }
  return true;
}

typedef struct Search {
  const TdStmt *stmt;
  const TdExpr *e;
} Search;

static bool find_allreduce(void *ud, const TdStmt *s) {
  Search *f = ud;
  f->e = allreduce_of(s);
  f->stmt = s;
  return !f->e;
}

/* A coordinate for each axis: the kernel's own are the last of them. */
static void name_coords(Collective *c) {
  static const char *const names[TD_MAX_RANK] = {"x", "y", "z"};
  size_t own = c->task->ncoord < c->run->rank ? c->task->ncoord : c->run->rank;
  size_t before = c->run->rank - own;
  for (size_t d = 0; d < c->run->rank; d++) {
    const char *want = names[d] ? names[d] : td_text_fmt(c->arena, "x%zu", d);
    c->coord[d] = d >= before ? c->task->coord[c->task->ncoord - own + d - before]
                              : td_store_sym(c->store, td_edit_fresh_name(c->store, c->task, want),
                                             TD_SYM_COORD);
  }
}

/* Whether only this run has the kernel. */
static bool is_alone(const Collective *c) {
  size_t n = 0;
  for (size_t i = 0; i < c->prog->nunit; i++)
    for (size_t r = 0; r < c->prog->unit[i]->nrun; r++)
      n += c->prog->unit[i]->run[r].unit == c->run->unit;
  return n == 1;
}

/* Finds an allreduce that can be made explicit in the run of a design. */
static bool find(Collective *c) {
  TdCtx *ctx = c->session->ctx;
  Search f = {0};
  c->task = td_prog_unit(c->prog, c->run->unit);
  if (!c->task || c->task->kind != TD_UNIT_KERNEL || !c->run->rank || !is_alone(c)) return false;
  if (td_walk_stmt(ctx, c->task->body, find_allreduce, &f)) return false;
  c->stmt = f.stmt;
  c->e = f.e;
  c->loc = f.e->loc;
  c->path = td_edit_path(c->arena, c->task->body, f.stmt->uid);
  name_coords(c);
  return is_countable(c);
}

/* ---- nodes ---- */

static const TdExpr *var(const Collective *c, TdSym s) {
  return td_expr_var(c->arena, s, td_type_index(c->session), c->loc);
}

/* The stream of an array at ids. */
static const TdExpr *stream_at(const Collective *c, const TdStream *s, const TdSym *id) {
  const TdExpr *lo[TD_MAX_RANK];
  TdViewDim dim[TD_MAX_RANK];
  for (int d = 0; d < c->run->rank; d++) {
    lo[d] = var(c, id[d]);
    dim[d] = (TdViewDim){.step = 0, .out = -1};
  }
  const TdType *t = td_type_port(c->session, s->type->elem, 0, NULL, false);
  return td_expr_view(c->arena, s->sym, t, lo, dim, c->run->rank, c->loc);
}

/* An array of streams like the map, of tokens t. */
static TdStream streams_of(const Collective *c, const char *suffix, const TdType *t) {
  const char *want = td_text_fmt(c->arena, "%s_%s", c->run->sym->name, suffix);
  const char *name = td_edit_fresh_name(c->store, c->design, want);
  return (TdStream){.sym = td_store_sym(c->store, name, TD_SYM_STREAM),
                    .uid = td_store_uid(c->store),
                    .loc = c->loc,
                    .type = td_type_port(c->session, t, c->run->rank, c->run->map, false),
                    .depth = td_expr_index(c->session, c->arena, 2, c->loc)};
}

typedef struct Swap {
  const TdExpr *from, *to;
} Swap;

static const TdExpr *swap(void *ud, const TdExpr *e) {
  const Swap *w = ud;
  return e == w->from ? w->to : e;
}

/* The statement with its allreduce replaced by `to`. */
static const TdStmt *with_value(const Collective *c, const TdExpr *to) {
  const TdExpr **e = TD_NEWN(c->arena, const TdExpr *, c->stmt->nexpr);
  Swap w = {c->e, to};
  for (uint32_t i = 0; i < c->stmt->nexpr; i++)
    e[i] = td_walk_map_expr(c->arena, c->stmt->expr[i], swap, &w);
  return td_stmt_with_exprs(c->store, c->stmt, e, c->stmt->nexpr);
}

/* ---- the task's side ---- */

/* Whether only `param` and constants are used beside the allreduce. */
static bool is_only(void *param, const TdExpr *e) {
  if (e->kind == TD_EXPR_VIEW || e->kind == TD_EXPR_LOAD) return e->sym == *(const TdSym *)param;
  return e->kind != TD_EXPR_VAR && e->kind != TD_EXPR_TENSOR;
}

/* The argument that the task ends by storing the sum to, if the collector can do that: it lies
 * whole along the axes combined over, and nothing else of the task uses it. */
static const TdRunArg *find_sink(Collective *c) {
  const TdStmt *s = c->stmt, *body = c->task->body;
  if (s->kind != TD_STMT_SET || c->path.n != 2 || body->kid[body->nkid - 1] != s) return NULL;
  const TdRunArg *b = NULL;
  for (size_t i = 0; i < c->run->nbind; i++)
    if (c->run->bind[i].param == s->expr[0]->sym && c->run->bind[i].layout) b = &c->run->bind[i];
  for (const char *l = b ? b->layout : ""; *l; l++)
    if (*l >= '0' && *l <= '9' && is_over(c, *l - '0')) return NULL;
  if (!b) return NULL;
  const TdExpr *zero = td_expr_lit(c->arena, td_type_scalar(c->e->type), 0, c->loc);
  const TdStmt *rest = with_value(c, zero);
  TdSym param = b->param;
  for (uint32_t i = 0; i < rest->nexpr; i++)
    if (!td_walk_expr(rest->expr[i], is_only, &param)) return NULL;
  if (td_walk_uses_expr(c->e, b->param)) return NULL;
  for (uint32_t i = 0; i + 1 < body->nkid; i++)
    if (td_walk_uses(c->session->ctx, body->kid[i], b->param)) return NULL;
  return b;
}

/* Whether the statement declares a local that holds the sum and nothing else. */
static bool is_local(const Collective *c) {
  return c->stmt->kind == TD_STMT_LOCAL && c->stmt->nexpr == 1 && c->stmt->expr[0] == c->e &&
         c->stmt->type == c->e->type && !c->stmt->attrs.n;
}

/* The kernel of the task: it puts its part, and takes the sum unless the collector stores that. */
static const TdUnit *sender(Collective *c) {
  TdUnit *u = td_unit_copy(c->store, c->task);
  TD_VEC(const TdStmt *) with = {0};
  const TdExpr *out = stream_at(c, &c->part, c->coord), *in = stream_at(c, &c->sum, c->coord);
  td_vec_push(c->arena, &with, td_stmt_put(c->store, out, c->e->kid[0], c->loc));
  if (!c->sink && is_local(c)) {
    td_vec_push(c->arena, &with, td_stmt_get(c->store, in, c->stmt->sym, c->e->type, NULL, c->loc));
  } else if (!c->sink) {
    TdSym got = td_store_sym(c->store, td_edit_fresh_name(c->store, u, "sum"), TD_SYM_LOCAL);
    td_vec_push(c->arena, &with, td_stmt_get(c->store, in, got, c->e->type, NULL, c->loc));
    td_vec_push(c->arena, &with,
                with_value(c, td_expr_whole(c->session, c->arena, got, c->e->type, c->loc)));
  }
  u->body = td_edit_replace(c->store, u->body, c->stmt->uid, with.at, with.n);
  u->coord = td_arena_copy(c->arena, c->coord, c->run->rank * sizeof *c->coord);
  u->ncoord = c->run->rank;
  if (!c->sink) return u;
  TdParam *param = td_arena_copy(c->arena, u->param, u->nparam * sizeof *param);
  size_t n = 0;
  for (size_t i = 0; i < u->nparam; i++)
    if (u->param[i].sym != c->sink->param) param[n++] = u->param[i];
  u->param = param;
  u->nparam = n;
  return u;
}

/* ---- the collector's side ---- */

/* s in loops over the axes that are combined over. */
static const TdStmt *over_axes(const Collective *c, const TdStmt *s) {
  const TdExpr *zero = td_expr_index(c->session, c->arena, 0, c->loc);
  for (int d = c->run->rank; d-- > 0;) {
    if (!is_over(c, d)) continue;
    if (s->kind != TD_STMT_BLOCK) s = td_stmt_block(c->store, &s, 1, c->loc);
    s = td_stmt_for(c->store, c->id[d], zero, c->run->map[d], 1, s, c->loc);
  }
  return s;
}

/* Whether this is the first instance, as an expression over the loops. */
static const TdExpr *is_first(const Collective *c) {
  const TdType *b = td_type_bool(c->session);
  const TdExpr *all = NULL, *zero = td_expr_index(c->session, c->arena, 0, c->loc);
  for (int d = 0; d < c->run->rank; d++) {
    if (!is_over(c, d)) continue;
    const TdExpr *first = td_expr_op2(c->arena, TD_OP_EQ, b, var(c, c->id[d]), zero);
    all = all ? td_expr_op2(c->arena, TD_OP_AND, b, all, first) : first;
  }
  return all;
}

/* x as type t. */
static const TdExpr *as(const Collective *c, const TdExpr *x, const TdType *t) {
  return x->type == t ? x : td_expr_cast(c->arena, t, x, true);
}

/* Takes a part and combines it with the local `acc`: as interp/eval does, + from 0, another
 * operator from the first part. */
static const TdStmt *combine(const Collective *c, const TdExpr *acc) {
  TdDiag none = {.arena = c->arena};
  TdSym got = td_store_sym(c->store, "got", TD_SYM_LOCAL);
  const TdType *from = c->part.type->elem, *to = c->e->type;
  const TdExpr *x = td_expr_whole(c->session, c->arena, got, from, c->loc);
  if (td_type_scalar(from)->kind == TD_T_FLOAT) x = as(c, x, to);
  const TdType *both[] = {td_type_scalar(to), td_type_scalar(x->type)};
  const TdExpr *kid[] = {acc, x};
  const TdType *t = td_promote_op(c->session, c->e->reduce, both, 2, c->loc, &none);
  t = td_type_tensor(c->session, t, to->rank, to->dim);
  const TdExpr *v = as(c, td_expr_op(c->arena, (TdOp)c->e->reduce, t, kid, 2, c->loc), to);
  const TdStmt *s = td_stmt_set(c->store, acc, v, c->loc);
  if (c->e->reduce != TD_OP_ADD) {
    const TdStmt *set = td_stmt_set(c->store, acc, as(c, x, to), c->loc);
    s = td_stmt_if(c->store, is_first(c), td_stmt_block(c->store, &set, 1, c->loc),
                   td_stmt_block(c->store, &s, 1, c->loc), c->loc);
  }
  const TdExpr *in = stream_at(c, &c->part, c->id);
  const TdStmt *list[] = {td_stmt_get(c->store, in, got, from, NULL, c->loc), s};
  return td_stmt_block(c->store, list, 2, c->loc);
}

/* One round: all parts are taken, and the sum is sent to all or stored. */
static const TdStmt *round_of(const Collective *c) {
  bool from_zero = c->e->reduce == TD_OP_ADD;
  TdSym sym = td_store_sym(c->store, "acc", TD_SYM_LOCAL);
  const TdExpr *acc = td_expr_whole(c->session, c->arena, sym, c->e->type, c->loc);
  const TdExpr *zero = td_expr_lit(c->arena, td_type_scalar(c->e->type), 0, c->loc);
  const TdStmt *list[3];
  list[0] = td_stmt_local(c->store, sym, c->e->type, from_zero ? TD_INIT_FILL : TD_INIT_NONE,
                          from_zero ? zero : NULL, c->loc);
  list[1] = over_axes(c, combine(c, acc));
  list[2] = c->sink
                ? with_value(c, acc)
                : over_axes(c, td_stmt_put(c->store, stream_at(c, &c->sum, c->id), acc, c->loc));
  return td_stmt_block(c->store, list, 3, c->loc);
}

/* The rounds: the loops that stand around the allreduce in the task. */
static const TdStmt *all_rounds(const Collective *c) {
  const TdStmt *s = round_of(c);
  for (size_t i = c->path.n - 1; i-- > 1;) {
    const TdStmt *loop = c->path.at[i];
    if (loop->kind != TD_STMT_FOR) continue;
    if (s->kind != TD_STMT_BLOCK) s = td_stmt_block(c->store, &s, 1, c->loc);
    s = td_stmt_for(c->store, loop->sym, td_for_lo(loop), td_for_hi(loop), loop->step, s, c->loc);
  }
  return s->kind == TD_STMT_BLOCK ? s : td_stmt_block(c->store, &s, 1, c->loc);
}

/* The kernel of the collector: the task's without its parameters, but with the one it stores to. */
static const TdUnit *collector(Collective *c) {
  TdUnit *u = td_unit_copy(c->store, c->task);
  const char *want = td_text_fmt(c->arena, "%s_allreduce", c->run->sym->name);
  const char *name = td_edit_fresh_name(c->store, c->design, want);
  TdSym *coord = TD_NEWN(c->arena, TdSym, TD_MAX_RANK);
  TdSubst to = td_subst_new(c->store);
  u->ncoord = 0;
  for (int d = 0; d < c->run->rank; d++) {
    c->id[d] =
        td_store_sym(c->store, c->coord[d]->name, is_over(c, d) ? TD_SYM_LOOP : TD_SYM_COORD);
    if (!is_over(c, d)) coord[u->ncoord++] = c->id[d];
    if (!is_over(c, d)) td_subst_expr(&to, c->coord[d], var(c, c->id[d]));
  }
  u->sym = td_store_sym(c->store, name, TD_SYM_UNIT);
  u->uid = td_store_uid(c->store);
  u->coord = coord;
  u->nparam = 0;
  if (c->sink) {
    TdParam *p = td_arena_copy(c->arena, td_unit_param(c->task, c->sink->param), sizeof *p);
    p->sym = td_store_sym(c->store, p->sym->name, TD_SYM_TENSOR);
    td_subst_sym(&to, c->sink->param, p->sym);
    u->param = p;
    u->nparam = 1;
  }
  u->body = td_walk_copy(c->store, all_rounds(c), &to);
  return u;
}

/* A layout without the axes combined over. */
static const char *narrow_layout(const Collective *c, const char *layout) {
  char *s = td_arena_strdup(c->arena, layout);
  for (char *at = s; *at; at++) {
    if (*at < '0' || *at > '9') continue;
    int axis = *at - '0', below = 0;
    for (int d = 0; d < axis; d++) below += is_over(c, d);
    *at = (char)('0' + axis - below);
  }
  return s;
}

static TdRun collector_run(const Collective *c, const TdUnit *u) {
  TdRun r = {.sym = td_store_sym(c->store, u->sym->name, TD_SYM_RUN),
             .unit = u->sym,
             .uid = td_store_uid(c->store),
             .loc = c->run->loc};
  for (int d = 0; d < c->run->rank; d++)
    if (!is_over(c, d)) r.map[r.rank++] = c->run->map[d];
  if (!c->sink) return r;
  TdRunArg *b = td_arena_copy(c->arena, c->sink, sizeof *b);
  b->param = u->param[0].sym;
  b->layout = narrow_layout(c, b->layout);
  r.bind = b;
  r.nbind = 1;
  return r;
}

/* The task's run; without the argument that the collector stores to. */
static TdRun sender_run(const Collective *c) {
  TdRun r = *c->run;
  if (!c->sink) return r;
  TdRunArg *b = TD_NEWN(c->arena, TdRunArg, r.nbind);
  size_t n = 0;
  for (size_t i = 0; i < r.nbind; i++)
    if (&r.bind[i] != c->sink) b[n++] = r.bind[i];
  r.bind = b;
  r.nbind = n;
  return r;
}

/* The design with the collector behind the task, and the streams between them. */
static const TdUnit *new_design(const Collective *c, const TdUnit *collects) {
  TdUnit *d = td_unit_copy(c->store, c->design);
  TdRun *run = TD_NEWN(c->arena, TdRun, d->nrun + 1);
  TdStream *stream = TD_NEWN(c->arena, TdStream, d->nstream + 2);
  size_t n = 0;
  for (size_t i = 0; i < d->nrun; i++) {
    run[n++] = &d->run[i] == c->run ? sender_run(c) : d->run[i];
    if (&d->run[i] == c->run) run[n++] = collector_run(c, collects);
  }
  memcpy(stream, d->stream, d->nstream * sizeof *stream);
  d->run = run;
  d->nrun = n;
  d->stream = stream;
  stream[d->nstream++] = c->part;
  if (!c->sink) stream[d->nstream++] = c->sum;
  return d;
}

/* p with one allreduce made explicit, or p. */
static const TdProg *expand_one(const TdProg *p) {
  for (size_t i = 0; i < p->nunit; i++) {
    const TdUnit *d = p->unit[i];
    for (size_t r = 0; r < d->nrun; r++) {
      Collective c = {.store = p->store,
                      .session = p->store->session,
                      .arena = p->store->arena,
                      .prog = p,
                      .design = d,
                      .run = &d->run[r]};
      if (!find(&c)) continue;
      c.sink = find_sink(&c);
      c.part = streams_of(&c, "part", c.e->kid[0]->type);
      c.sum = streams_of(&c, "sum", c.e->type);
      const TdUnit *collects = collector(&c);
      const TdUnit *design = new_design(&c, collects);
      p = td_prog_with(p, sender(&c));
      p = td_prog_insert(p, collects, d->sym);
      return td_prog_with(p, design);
    }
  }
  return p;
}

/* The axes of allreduces, and who owns what is made. */
typedef struct Told {
  TdArena *arena;
  TdMap axes;
} Told;

/* Tells an allreduce its axes. */
static const TdExpr *tell_axes(void *ud, const TdExpr *e) {
  const Told *t = ud;
  uint64_t axes;
  if (!td_map_get(&t->axes, (uint64_t)(uintptr_t)e, &axes) || axes == e->axis) return e;
  return td_expr_tensor(t->arena, TD_OP_ALLREDUCE, e->type, e->kid, 1, (TdOp)e->reduce, (int)axes,
                        e->loc);
}

/* Tells all allreduces of p their axes, but those around others that change. */
static const TdProg *settle_once(const TdProg *p) {
  TdArena *a = td_arena_scratch(p->store->session->ctx);
  Told t = {p->store->arena, td_layouts_axes(a, p)};
  for (size_t i = 0; i < p->nunit && t.axes.n; i++) {
    const TdStmt *body = p->unit[i]->body;
    if (body) body = td_walk_map(p->store, body, tell_axes, &t);
    if (body != p->unit[i]->body)
      p = td_prog_with(p, td_unit_with_body(p->store, p->unit[i], body));
  }
  td_arena_free(a);
  return p;
}

const TdProg *td_collective_settle(const TdProg *p) {
  for (const TdProg *next = settle_once(p); next != p; next = settle_once(p)) p = next;
  return p;
}

const TdProg *td_collective_expand(const TdProg *p) {
  const TdProg *from = td_collective_settle(p), *first = from;
  for (const TdProg *next = expand_one(from); next != from; next = expand_one(from)) from = next;
  return from == first ? p : from;
}

static bool has_none(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_TENSOR || e->op != TD_OP_ALLREDUCE;
}

bool td_collective_is_in(const TdProg *p) {
  bool none = true;
  for (size_t i = 0; i < p->nunit; i++)
    none &= !p->unit[i]->body ||
            td_walk_exprs(p->store->session->ctx, p->unit[i]->body, has_none, NULL);
  return !none;
}
