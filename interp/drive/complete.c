/* complete.c - adds what moves data, by the steps of a schedule: statements on tensors become loops
 * (expand), an argument is reached through a local in the outermost loop that leaves it small
 * enough (buffer_at), and the local's copies become a task (isolate). Steps that do not
 * lead to a task are taken back; calls that are given an argument are written out (inline). Before
 * that, tasks that other tokens than blocks go between become one (bundle, chain); after it, when
 * it is asked for, streams become fewer. */
#include <string.h>

#include "analysis/order/effects.h"
#include "drive/complete_step.h"

enum { MOST_BYTES = 1 << 14, MOST_STEPS = 256 };
enum { WORD = 4 }; /* bytes that a DMA moves */

/* ---- sizes ---- */

static const TdExpr *value_of(TdStore *st, const TdUnit *u, const TdExpr *e) {
  int64_t v;
  return td_unit_value(u, e, &v) ? td_expr_index(st->session, st->arena, v, e->loc) : e;
}

/* A unit whose sizes are numbers. */
static const TdUnit *sized_unit(TdStore *st, const TdUnit *u) {
  TdUnit *c = td_unit_copy(st, u);
  TdSubst sub = td_subst_new(st);
  for (size_t i = 0; i < u->nsize; i++)
    if (u->size[i].known)
      td_subst_size(&sub, u->size[i].name,
                    td_expr_index(st->session, st->arena, u->size[i].value, u->loc));
  TdParam *param = td_arena_copy(st->arena, u->param, u->nparam * sizeof *param);
  TdStream *stream = td_arena_copy(st->arena, u->stream, u->nstream * sizeof *stream);
  TdRun *run = td_arena_copy(st->arena, u->run, u->nrun * sizeof *run);
  for (size_t i = 0; i < u->nparam; i++) param[i].type = td_subst_in_type(&sub, param[i].type);
  for (size_t i = 0; i < u->nstream; i++) {
    stream[i].type = td_subst_in_type(&sub, stream[i].type);
    stream[i].depth = value_of(st, u, stream[i].depth);
  }
  for (size_t i = 0; i < u->nrun; i++)
    for (int d = 0; d < run[i].rank; d++) run[i].map[d] = value_of(st, u, run[i].map[d]);
  c->param = param;
  c->stream = stream;
  c->run = run;
  c->nsize = c->nassert = 0;
  if (u->body) c->body = td_subst_in_stmt(&sub, u->body);
  return c;
}

/* Whether each size has a value. */
static bool has_sizes(const TdProg *p) {
  for (size_t i = 0; i < p->nunit; i++)
    for (size_t k = 0; k < p->unit[i]->nsize; k++)
      if (!p->unit[i]->size[k].known) return false;
  return true;
}

static const TdProg *sized(TdStore *st, const TdProg *p) {
  for (size_t i = 0; i < p->nunit; i++)
    if (p->unit[i]->nsize) p = td_prog_with(p, sized_unit(st, p->unit[i]));
  return p;
}

/* ---- steps ---- */

static bool take(TdComplete *c, const char *prim, const TdArgValue *arg, const char *const **made) {
  TdDiag quiet = {.arena = c->arena};
  size_t n;
  return td_schedule_apply(&c->s, c->affine, td_prim_find(prim), arg, made, &n, &quiet);
}

bool td_complete_apply(TdComplete *c, const char *prim, const TdArgValue *arg) {
  const char *const *made;
  return take(c, prim, arg, &made);
}

bool td_complete_step(TdComplete *c, const char *prim, const char *one, const char *two,
                      int64_t number, const char *const **made) {
  TdArgValue arg[TD_PRIM_ARGS] = {{0}};
  arg[0] = (TdArgValue){.given = true, .text = one, .names = &one, .n = 1};
  if (number == TD_COMPLETE_ZERO)
    arg[1] = (TdArgValue){.given = true};
  else if (two || number)
    arg[1] = (TdArgValue){.given = true, .text = two, .integer = number};
  return take(c, prim, arg, made);
}

const TdUnit *td_complete_unit(const TdComplete *c, TdSym sym) {
  return td_prog_unit(c->s.now->prog, sym);
}

static const char *in_unit(const TdComplete *c, const TdUnit *u, const char *name) {
  return td_text_fmt(c->arena, "%s:%s", u->sym->name, name);
}

/* The locals of a unit. */
typedef struct Locals {
  TdArena *arena;
  TD_VEC(const TdStmt *) at;
} Locals;

static bool look_local(void *ud, const TdStmt *s) {
  Locals *l = ud;
  if (s->kind == TD_STMT_LOCAL && s->cls == TD_LOCAL_AUTO && s->type->kind == TD_T_TENSOR)
    td_vec_push(l->arena, &l->at, s);
  return true;
}

/* Isolates what is a local with a copy already; whether there was one. */
static bool isolate_locals(TdComplete *c, TdSym unit) {
  Locals l = {.arena = c->arena};
  const char *const *made;
  td_walk_stmt(td_arena_ctx(c->arena), td_complete_unit(c, unit)->body, look_local, &l);
  for (size_t i = 0; i < l.at.n; i++) {
    const char *name = in_unit(c, td_complete_unit(c, unit), l.at.at[i]->sym->name);
    if (td_complete_step(c, "isolate", name, NULL, 0, &made)) return true;
  }
  return false;
}

/* How a parameter goes through a local. */
typedef struct Buffer {
  TdSym unit;
  const char *param;
  bool words;    /* the local is of whole words */
  int64_t depth; /* a core holds so many of it beside others */
  bool tensor;   /* it may be of one element */
} Buffer;

/* Whether a local of a unit is as it is to be. */
static bool is_block(const TdComplete *c, const Buffer *b, const char *name) {
  Locals l = {.arena = c->arena};
  int64_t n;
  td_walk_stmt(td_arena_ctx(c->arena), td_complete_unit(c, b->unit)->body, look_local, &l);
  for (size_t i = 0; i < l.at.n; i++) {
    const TdType *t = l.at.at[i]->type;
    if (strcmp(l.at.at[i]->sym->name, name) != 0) continue;
    if (!td_type_count(t, &n)) return false;
    n *= (int64_t)td_type_bytes(td_type_scalar(t));
    return n * b->depth <= MOST_BYTES && (!b->words || n % WORD == 0);
  }
  return false;
}

/* Puts a parameter through a local in a loop, out of it where each turn has the same, or in all of
 * the unit, and isolates that; false: nothing changed. */
static bool buffer(TdComplete *c, const Buffer *b, const char *loop) {
  TdSchedule before = c->s;
  const char *const *made, *name;
  const char *param = in_unit(c, td_complete_unit(c, b->unit), b->param);
  TdArgValue at[TD_PRIM_ARGS] = {{.given = true, .text = param}, {.given = true, .text = loop}};
  at[3] = (TdArgValue){.given = b->tensor, .integer = b->tensor};
  if (take(c, "buffer_at", at, &made)) {
    name = made[0];
    if (!is_block(c, b, name)) {
      c->s = before;
      return false;
    }
    const char *local = in_unit(c, td_complete_unit(c, b->unit), name);
    TdArgValue arg[TD_PRIM_ARGS] = {{.given = true, .text = local}};
    arg[3] = (TdArgValue){.given = b->depth == 1, .integer = b->depth};
    if (strcmp(loop, b->unit->name) != 0) td_complete_step(c, "hoist", local, loop, 0, &made);
    if (td_complete_apply(c, "isolate", arg)) return true;
  }
  c->s = before;
  return false;
}

/* The loops of a unit, outermost first. */
static size_t loops_of(const TdComplete *c, TdSym unit, const char ***specs) {
  const TdProg *p = c->s.now->prog;
  const char *const *all;
  size_t n = td_cursor_list_loops(c->arena, p, &all), k = 0;
  *specs = TD_NEWN(c->arena, const char *, n + 1);
  for (size_t i = 0; i < n; i++) {
    TdPlace at;
    TdDiag quiet = {.arena = c->arena};
    if (td_cursor_loop(c->arena, p, all[i], &at, &quiet) && at.unit->sym == unit)
      (*specs)[k++] = all[i];
  }
  return k;
}

/* The turns of a loop, or 0 where they are no number. */
static int64_t turns_of(const TdComplete *c, const char *loop) {
  TdPlace at;
  TdDiag quiet = {.arena = c->arena};
  int64_t lo, hi;
  bool known = td_cursor_loop(c->arena, c->s.now->prog, loop, &at, &quiet) &&
               td_expr_is_const(td_for_lo(at.stmt), &lo) &&
               td_expr_is_const(td_for_hi(at.stmt), &hi);
  return known ? hi - lo : 0;
}

/* Puts one parameter through a local: in some loop, in one around a part of a loop, or in the whole
 * unit, which comes first where that is asked for; last, where a core holds it but once. */
static bool buffer_param(TdComplete *c, TdSym unit, const char *param, bool words) {
  const char **loop, *const *made;
  Buffer b = {unit, param, words, 2, false};
  size_t n = loops_of(c, unit, &loop);
  if (c->way.whole && buffer(c, &b, unit->name)) return true;
  for (size_t i = 0; i < n; i++)
    if (buffer(c, &b, loop[i])) return true;
  for (size_t i = 0; i < n; i++) {
    TdSchedule before = c->s;
    int64_t turns = turns_of(c, loop[i]);
    for (int64_t f = turns; f > 1; f--) {
      if (turns % f || !td_complete_step(c, "split", loop[i], NULL, f, &made)) continue;
      if (buffer(c, &b, in_unit(c, td_complete_unit(c, unit), made[0]))) return true;
      c->s = before;
    }
  }
  if (buffer(c, &b, unit->name)) return true;
  b.tensor = true;
  if (buffer(c, &b, unit->name)) return true;
  b.depth = 1;
  return buffer(c, &b, unit->name);
}

/* A search for a call that is given a parameter. */
typedef struct Calls {
  const TdUnit *unit;
  TdSym callee;
} Calls;

static bool look_call(void *ud, const TdStmt *s) {
  Calls *k = ud;
  for (uint32_t i = 0; s->kind == TD_STMT_CALL && i < s->nexpr; i++)
    if (td_unit_param(k->unit, s->expr[i]->sym)) k->callee = s->sym;
  return !k->callee;
}

/* Writes out a call that moves elements of an argument; false: there is none. */
static bool inline_call(TdComplete *c, const TdUnit *u) {
  Calls k = {.unit = u};
  const char *const *made;
  td_walk_stmt(td_arena_ctx(c->arena), u->body, look_call, &k);
  return k.callee && td_complete_step(c, "inline", in_unit(c, u, k.callee->name), NULL, 0, &made);
}

/* Takes one step more for a task on a core; false: none is left, or helps. */
static bool improve(TdComplete *c, const TdRun *run) {
  const TdUnit *u = td_complete_unit(c, run->unit);
  const char *const *made;
  if (td_attrs_get(run->attrs, TD_ATTR_HOST) || u->kind != TD_UNIT_KERNEL || !u->nparam)
    return false;
  if (isolate_locals(c, u->sym)) return true;
  TdSchedule before = c->s;
  bool expands = td_complete_step(c, "expand", u->sym->name, NULL, 0, &made);
  for (int words = 1; words >= 0; words--)
    for (size_t i = 0; i < u->nparam; i++)
      if (buffer_param(c, u->sym, u->param[i].sym->name, words)) return true;
  if (expands && isolate_locals(c, u->sym)) return true;
  c->s = before;
  return inline_call(c, u);
}

/* ---- collectives ---- */

bool td_complete_is_host(const TdRun *run) {
  return td_attrs_get(run->attrs, TD_ATTR_HOST) != NULL;
}

/* Chains a task with some other, with an axis of its map done in turn where that is needed. */
static bool chain(TdComplete *c, const TdRun *first) {
  const char *const *made, *name = first->sym->name;
  for (int axis = -1; axis < first->rank; axis++) {
    TdSchedule before = c->s;
    if (axis >= 0 &&
        !td_complete_step(c, "bundle", name, NULL, axis ? axis : TD_COMPLETE_ZERO, &made))
      continue;
    const TdUnit *d = td_complete_unit(c, c->design);
    for (size_t k = 0; k < d->nrun; k++)
      if (d->run[k].sym != first->sym && !td_complete_is_host(&d->run[k]) &&
          td_complete_step(c, "chain", name, d->run[k].sym->name, 0, &made))
        return true;
    c->s = before;
  }
  return false;
}

static bool is_no_allreduce(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_TENSOR || e->op != TD_OP_ALLREDUCE;
}

/* Whether a design has streams of other tokens than blocks, or sums over instances, which make
 * some. */
static bool has_scalar_streams(const TdComplete *c, const TdUnit *d) {
  bool has = false;
  for (size_t i = 0; i < d->nstream; i++) has |= d->stream[i].type->elem->kind != TD_T_TENSOR;
  for (size_t i = 0; i < d->nrun; i++) {
    const TdUnit *u = td_complete_unit(c, d->run[i].unit);
    has |= u->body && !td_walk_exprs(td_arena_ctx(c->arena), u->body, is_no_allreduce, NULL);
  }
  return has;
}

/* Chains two tasks on cores, if some stream is not of blocks; false: nothing changed. */
static bool chain_some(TdComplete *c) {
  const TdUnit *d = td_complete_unit(c, c->design);
  if (!has_scalar_streams(c, d)) return false;
  for (size_t i = 0; i < d->nrun; i++)
    if (!td_complete_is_host(&d->run[i]) && chain(c, &d->run[i])) return true;
  return false;
}

/* Whether tasks of a design on cores touch arguments. */
static bool lacks(const TdUnit *d) {
  bool some = false;
  for (size_t i = 0; i < d->nrun; i++) some |= d->run[i].nbind && !td_complete_is_host(&d->run[i]);
  return some;
}

/* Adds what the design lacks. */
static void complete(TdComplete *c) {
  for (int n = 0; n < MOST_STEPS && chain_some(c); n++) {
  }
  for (int n = 0; n < MOST_STEPS; n++) {
    const TdUnit *d = td_complete_unit(c, c->design);
    bool better = false;
    for (size_t i = 0; i < d->nrun && !better; i++) better = improve(c, &d->run[i]);
    if (!better) break;
  }
  if (!c->way.columns) return;
  td_complete_streams(c);
}

/* The designs that a program is, or that its root calls one after the other. */
typedef struct Designs {
  TdArena *arena;
  const TdProg *prog;
  TD_VEC(TdSym) sym;
} Designs;

static bool look_design(void *ud, const TdStmt *s) {
  Designs *k = ud;
  const TdUnit *u = s->kind == TD_STMT_CALL ? td_prog_unit(k->prog, s->sym) : NULL;
  bool known = !u || u->kind != TD_UNIT_DESIGN || !lacks(u);
  for (size_t i = 0; i < k->sym.n && !known; i++) known = k->sym.at[i] == s->sym;
  if (!known) td_vec_push(k->arena, &k->sym, s->sym);
  return true;
}

static Designs designs_of(TdArena *a, const TdProg *p) {
  const TdUnit *root = td_prog_root(p);
  Designs k = {.arena = a, .prog = p};
  if (root->kind != TD_UNIT_DESIGN)
    td_walk_stmt(td_arena_ctx(a), root->body, look_design, &k);
  else if (lacks(root))
    td_vec_push(a, &k.sym, root->sym);
  return k;
}

const TdProg *td_complete_prog(TdArena *a, const TdProg *p, TdCompleteWay way, const char **steps) {
  *steps = "";
  if (!designs_of(a, p).sym.n || !has_sizes(p)) return p;
  TdStore *st = td_store_inner(a, p->store->session);
  TdComplete c = {.arena = a,
                  .s = td_schedule_new(st, &td_prim_kind, p),
                  .affine = td_affine_new(a),
                  .way = way};
  TdVersion *first = td_arena_copy(st->arena, c.s.now, sizeof *first);
  first->prog = sized(st, first->prog);
  first->next_uid = st->next_uid;
  first->next_sym = st->next_sym;
  c.s.now = first;
  Designs designs = designs_of(a, first->prog);
  for (size_t i = 0; i < designs.sym.n; i++) {
    c.design = designs.sym.at[i];
    complete(&c);
  }
  TdText t = td_text_new(a);
  td_schedule_log(&t, &c.s);
  *steps = td_text_str(&t);
  return c.s.now->prog;
}
