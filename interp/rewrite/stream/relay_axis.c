/* relay_axis.c - along an axis of a task: each instance hands on to its neighbour what it got
 * (propagate: all get the same; scatter: each keeps its own and passes the rest), or adds its own
 * to what it got (gather). */
#include "rewrite/stream/relay.h"

#include "rewrite/stream/relay_guard.h"
#include "rewrite/stream/relay_own.h"

typedef struct Chain {
  TdRewrite *r;
  const TdRelay *ask;
  const TdUnit *design, *task;
  const TdRun *run;
  int axis;
  TdSym coord;
  const TdExpr *extent;
  const TdStmt *move; /* buffer[..] = argument[..], or the reverse */
  int by;             /* the next instance along the axis: 1, or -1 */
  bool gather, varies;
  const TdExpr *outer, *inner; /* the element of the argument; of the buffer (NULL: all of it) */
  TdPath path;
  size_t nest; /* path.at[nest] and below hold nothing but the move */
  TdStream stream;
} Chain;

static bool refuse(const Chain *c, TdDiagKind kind, const char *code, TdLoc loc, const char *why) {
  td_util_refuse(c->r, kind, code, loc, "'%s' %s", c->ask->array.sym->name, why);
  return false;
}

/* The design that runs the task, and its axis. */
static bool find_run(Chain *c) {
  const TdProg *p = c->r->prog;
  size_t runs = 0;
  for (size_t i = 0; i < p->nunit; i++)
    for (size_t k = 0; k < p->unit[i]->nrun; k++)
      if (p->unit[i]->run[k].unit == c->task->sym) {
        c->design = p->unit[i];
        c->run = &p->unit[i]->run[k];
        runs++;
      }
  if (runs != 1 || c->ask->array.unit != c->task || !c->ask->array.stmt)
    return refuse(c, TD_USAGE, "not-a-task", c->task->loc,
                  "is not a local array of a task that runs once: unfold first");
  if (c->task->ncoord != c->run->rank) c->axis = c->run->rank;
  if (c->ask->apart && c->axis < c->run->rank) return true;
  if (c->ask->axis < 0 && c->run->rank == 1) c->axis = 0;
  if (c->axis < 0 || c->axis >= c->run->rank || c->task->ncoord != c->run->rank) {
    td_util_refuse(c->r, TD_USAGE, "axis", c->run->loc, "'%s' has the axes 0 to %d: say which",
                   c->run->sym->name, c->run->rank - 1);
    return false;
  }
  c->coord = c->task->coord[c->axis];
  c->extent = c->run->map[c->axis];
  return true;
}

static bool is_argument(const Chain *c, const TdExpr *e) {
  return e->kind == TD_EXPR_LOAD && td_unit_param(c->task, e->sym);
}

static bool is_buffer(const Chain *c, const TdExpr *e) {
  return e->kind == TD_EXPR_LOAD && e->sym == c->ask->array.sym;
}

/* A search for the moves between the buffer and arguments. */
typedef struct Moves {
  const Chain *c;
  const TdStmt *in, *out; /* the last of each kind */
  size_t nin, nout;
  bool set; /* the buffer is written otherwise, too */
} Moves;

static bool look_move(void *ud, const TdStmt *s) {
  Moves *m = ud;
  const Chain *c = m->c;
  bool local = s == c->ask->array.stmt && s->kind == TD_STMT_LOCAL && s->init == TD_INIT_VALUE;
  bool store = s->kind == TD_STMT_STORE;
  bool in = (local && is_argument(c, s->expr[0])) ||
            (store && is_buffer(c, s->expr[0]) && is_argument(c, s->expr[1]));
  bool out = store && is_argument(c, s->expr[0]) && is_buffer(c, s->expr[1]);
  for (uint32_t i = 0; i < s->nexpr && !in && !out; i++) {
    bool place = store ? i == 0 : s->kind == TD_STMT_GET ? i == 1 : false;
    m->set |= s->expr[i]->sym == c->ask->array.sym && (place || s->expr[i]->kind == TD_EXPR_VIEW);
  }
  if (in) m->in = s, m->nin++;
  if (out) m->out = s, m->nout++;
  return true;
}

/* The argument that a move copies from or to. */
static const TdExpr *outer_of(const TdStmt *move, bool in) {
  return move->expr[move->kind != TD_STMT_LOCAL && in];
}

/* Finds the one move between the buffer and an argument. What is only loaded from one may be stored
 * to others; what is computed may come from others, too. */
static bool find_move(Chain *c) {
  Moves m = {.c = c};
  td_walk_stmt(c->r->session->ctx, c->task->body, look_move, &m);
  bool both = m.in && m.out && outer_of(m.in, true)->sym == m.out->expr[0]->sym;
  bool in = m.in && !(m.out && m.set);
  const TdStmt *s = in ? m.in : m.out;
  if (s) {
    bool local = s->kind == TD_STMT_LOCAL;
    c->move = s;
    c->gather = !in;
    c->outer = outer_of(s, in);
    c->inner = local ? NULL : s->expr[in ? 0 : 1];
  }
  if (!both && (in ? m.nin : m.nout) == 1) return true;
  refuse(c, TD_ILLEGAL, "not-a-buffer", c->ask->array.stmt->loc,
         both ? "is both loaded from and stored to arguments, and a stream goes one way"
         : s  ? "is copied from or to an argument in several places"
              : "is not copied from or to an argument, element by element");
  if (both)
    td_diag_help(c->r->diag, "where the kernel sets '%s' before it reads it, buffer_at only stores",
                 td_print_expr_str(c->r->arena, m.out->expr[0]));
  else if (!s)
    td_diag_help(c->r->diag, "buffer_at makes such a buffer");
  return false;
}

static bool is_data(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_LOAD && e->kind != TD_EXPR_TENSOR;
}

/* Notes how e, which says which elements move or whether, depends on the axis; data may not. */
static bool weigh(Chain *c, const TdExpr *e, bool inside) {
  if (!td_walk_expr(e, is_data, NULL)) {
    td_util_refuse(c->r, TD_ILLEGAL, "access", c->move->loc, "'%s' is moved as data decides: '%s'",
                   td_print_expr_str(c->r->arena, c->outer), td_print_expr_str(c->r->arena, e));
    return false;
  }
  bool uses = c->coord && td_walk_uses_expr(e, c->coord);
  c->varies |= uses;
  if (!uses || inside) return true;
  td_util_refuse(c->r, TD_ILLEGAL, "access", c->move->loc,
                 "'%s' is moved under '%s', which differs from neighbour to neighbour",
                 td_print_expr_str(c->r->arena, c->outer), td_print_expr_str(c->r->arena, e));
  return false;
}

/* The loops and conditions around the move: which of them hold nothing else, and whether neighbours
 * agree on those that do. */
static bool measure(Chain *c) {
  c->path = td_edit_path(c->r->arena, c->task->body, c->move->uid);
  c->nest = c->path.n - 1;
  while (c->nest >= 2 && c->path.at[c->nest - 1]->nkid == 1 &&
         (c->path.at[c->nest - 2]->kind == TD_STMT_FOR ||
          (c->path.at[c->nest - 2]->kind == TD_STMT_IF && c->path.at[c->nest - 2]->nkid == 1)))
    c->nest -= 2;
  for (size_t i = 0; i + 1 < c->path.n; i++) {
    const TdStmt *s = c->path.at[i];
    if (s->kind == TD_STMT_BLOCK) continue;
    if (s->kind == TD_STMT_WHILE || td_util_leaves_by_break(s->kid[0]))
      return refuse(c, TD_ILLEGAL, "access", s->loc, "is moved as often as data decides");
    for (uint32_t k = 0; k < s->nexpr; k++)
      if (!weigh(c, s->expr[k], i >= c->nest)) return false;
  }
  for (uint32_t d = 0; d < c->outer->nkid; d++)
    if (!weigh(c, c->outer->kid[d], true)) return false;
  return true;
}

/* Whether the feeder or drain has an axis of the task as its own. */
static bool keeps_axis(const Chain *c, int d) {
  const TdRelay *q = c->ask;
  for (size_t i = 0; q->keep && i < q->nkeep; i++)
    if (q->keep[i] == d) return d != c->axis;
  return !q->keep && d != c->axis;
}

/* Whether the task that feeds or drains can say what stands around the nest. */
static bool check_around(const Chain *c, const TdRelayGuard *q) {
  for (size_t i = 0; i < c->nest; i++)
    for (uint32_t k = 0; k < c->path.at[i]->nexpr; k++) {
      const TdExpr *e = c->path.at[i]->expr[k];
      if (!td_relay_differs(q, e)) continue;
      td_util_refuse(
          c->r, TD_ILLEGAL, "access", c->move->loc,
          "'%s' is moved under '%s', which differs along an axis that its other end does "
          "not have",
          td_print_expr_str(c->r->arena, c->outer), td_print_expr_str(c->r->arena, e));
      return false;
    }
  return true;
}

/* Takes an operand, or a result, out of conditions and loops that differ from instance to instance,
 * as far as may be. */
static bool leave_guards(Chain *c) {
  TdSym coord[TD_MAX_RANK];
  const TdExpr *extent[TD_MAX_RANK];
  TdRelayGuard q = {.move = c->move,
                    .load = c->outer,
                    .gather = c->gather,
                    .axis = c->coord,
                    .coord = coord,
                    .extent = extent};
  for (int d = 0; d < c->run->rank; d++)
    if (!keeps_axis(c, d)) {
      coord[q.ncoord] = c->task->coord[d];
      extent[q.ncoord++] = c->run->map[d];
    }
  const TdUnit *task = td_relay_unguard(c->r, &q, c->task);
  bool changed = task != c->task;
  c->task = task;
  if (changed && !find_move(c)) return false;
  return measure(c) && check_around(c, &q);
}

/* The stream that ends at position `along` of the axis. */
static const TdExpr *end_at(const Chain *c, const TdExpr *along) {
  const TdExpr *index[TD_MAX_RANK];
  for (int d = 0; d < c->run->rank; d++)
    index[d] = d == c->axis ? along : td_util_var(c->r, c->task->coord[d]);
  return td_relay_end(c->r, c->stream.sym, c->outer->type, index, c->run->rank, c->move->loc);
}

static const TdExpr *beside(const Chain *c, TdSym coord, int64_t by) {
  TdRewrite *r = c->r;
  return td_lin_plus(r->session, r->store->arena, td_util_var(r, coord), td_util_const(r, by));
}

/* The nest with s in the place of the move. */
static const TdStmt *nest_with(const Chain *c, const TdStmt *const *s, size_t n) {
  const TdStmt *nest = c->path.at[c->nest];
  const TdStmt *block = td_stmt_block(c->r->store, s, n, c->move->loc);
  if (nest == c->move) return block;
  const TdStmt *now = td_edit_replace(c->r->store, nest, c->move->uid, s, n);
  return td_util_block1(c->r, now);
}

/* Copies of the nest, with s in the place of the move, for positions lo to hi of the axis. In s,
 * `me` stands for the coordinate. */
static const TdStmt *for_others(const Chain *c, TdSym me, const TdStmt *const *s, size_t n,
                                const TdExpr *lo, const TdExpr *hi) {
  TdRewrite *r = c->r;
  const char *want = td_text_fmt(r->arena, "%s_of", c->coord->name);
  TdSym p = td_store_sym(r->store, td_edit_fresh_name(r->store, c->task, want), TD_SYM_LOOP);
  TdSubst sub = td_subst_new(r->store);
  td_subst_expr(&sub, c->coord, td_util_var(r, p));
  td_subst_expr(&sub, me, td_util_var(r, c->coord));
  const TdStmt *body = td_walk_copy(r->store, nest_with(c, s, n), &sub);
  return td_stmt_for(r->store, p, lo, hi, 1, body, c->move->loc);
}

/* The first or the last position along the axis. */
static const TdExpr *edge(const Chain *c, bool last) {
  TdRewrite *r = c->r;
  const TdExpr *one = td_util_const(r, 1);
  return last ? td_lin_minus(r->session, r->store->arena, c->extent, one) : td_util_const(r, 0);
}

/* Whether an instance deals with its own elements before those of others: always in the order of
 * the axis, as the feeder puts and the drain gets them. */
static bool own_first(const Chain *c) {
  return c->gather == (c->by < 0);
}

static const TdExpr *own_range(const Chain *c, bool hi) {
  const TdExpr *here = td_util_var(c->r, c->coord);
  if (own_first(c)) return hi ? c->extent : here;
  return hi ? beside(c, c->coord, 1) : td_util_const(c->r, 0);
}

/* The token that goes through an instance, got from the neighbour before. */
static const TdStmt *get_token(const Chain *c, TdSym me, TdSym token) {
  const TdExpr *from = beside(c, me, c->gather ? -c->by : 0);
  return td_stmt_get(c->r->store, end_at(c, from), token, c->outer->type, NULL, c->move->loc);
}

static const TdStmt *put_token(const Chain *c, TdSym me, TdSym token) {
  const TdExpr *to = beside(c, me, c->gather ? 0 : c->by);
  const TdExpr *value =
      td_expr_load(c->r->store->arena, token, c->outer->type, NULL, 0, c->move->loc);
  return td_stmt_put(c->r->store, end_at(c, to), value, c->move->loc);
}

static TdSym token_sym(const Chain *c) {
  const char *name = td_edit_fresh_name(c->r->store, c->task, "token");
  return td_store_sym(c->r->store, name, TD_SYM_LOCAL);
}

/* What an instance adds to the tokens of others: its own, which it may have to get. */
static const TdStmt *put_own(const Chain *c, TdSym me, const TdStmt *get) {
  TdStore *st = c->r->store;
  const TdStmt *put = td_stmt_put(st, end_at(c, td_util_var(c->r, me)), c->inner, c->move->loc),
               *s[] = {put, put};
  if (!get) return put;
  TdSubst sub = td_subst_new(st);
  td_subst_expr(&sub, c->coord, td_util_var(c->r, me));
  const TdExpr *from = td_subst_in_expr(&sub, get->expr[0]);
  s[0] = td_stmt_get(st, from, c->inner->sym, c->inner->type, NULL, get->loc);
  return td_stmt_block(st, s, 2, c->move->loc);
}

/* The loop over an instance's own elements and those of others: keeps its own and passes on the
 * rest, or puts its own among those that come. One loop: a token a cycle. */
static const TdStmt *link(const Chain *c, const TdStmt *got) {
  TdRewrite *r = c->r;
  TdStore *st = r->store;
  TdSym me = td_store_sym(st, c->coord->name, TD_SYM_COORD), token = token_sym(c);
  const TdStmt *get = get_token(c, me, token), *put = put_token(c, me, token), *own;
  if (c->gather) {
    own = put_own(c, me, got);
    const TdStmt *s[] = {get, put};
    put = td_stmt_block(st, s, 2, c->move->loc);
  } else {
    const TdExpr *value = td_expr_load(st->arena, token, c->outer->type, NULL, 0, c->move->loc);
    own = td_stmt_store(st, c->inner, value, c->move->loc);
    put = td_util_block1(r, put);
  }
  const TdExpr *mine = td_expr_op2(st->arena, TD_OP_EQ, td_type_bool(r->session),
                                   td_util_var(r, c->coord), td_util_var(r, me));
  const TdExpr *others = td_expr_op2(st->arena, TD_OP_LT, td_type_bool(r->session),
                                     own_first(c) ? beside(c, me, 1) : td_util_const(r, 0),
                                     own_first(c) ? c->extent : td_util_var(r, me));
  put = td_util_block1(r, td_stmt_if(st, others, put, NULL, c->move->loc));
  if (own->kind != TD_STMT_BLOCK) own = td_util_block1(r, own);
  const TdStmt *which = td_stmt_if(st, mine, own, put, c->move->loc);
  const TdStmt *s[] = {get, which};
  return c->gather ? for_others(c, me, &which, 1, own_range(c, false), own_range(c, true))
                   : for_others(c, me, s, 2, own_range(c, false), own_range(c, true));
}

/* The loop that passes on the tokens of others, where an instance's own is a local of its own. */
static const TdStmt *pass_on(const Chain *c) {
  TdRewrite *r = c->r;
  TdSym me = td_store_sym(r->store, c->coord->name, TD_SYM_COORD), token = token_sym(c);
  const TdStmt *s[] = {get_token(c, me, token), put_token(c, me, token)};
  const TdExpr *here = td_util_var(r, c->coord);
  return own_first(c) ? for_others(c, me, s, 2, beside(c, c->coord, 1), c->extent)
                      : for_others(c, me, s, 2, td_util_const(r, 0), here);
}

/* "if there is a neighbour after this one, it gets the element too". */
static const TdStmt *put_onward(const Chain *c) {
  TdRewrite *r = c->r;
  TdArena *a = r->store->arena;
  const TdExpr *value =
      c->inner ? c->inner : td_expr_load(a, c->move->sym, c->outer->type, NULL, 0, c->move->loc);
  const TdExpr *next = beside(c, c->coord, c->by);
  const TdStmt *put = td_stmt_put(r->store, end_at(c, next), value, c->move->loc);
  const TdType *bool_ = td_type_bool(r->session);
  const TdExpr *cond =
      c->by < 0 ? td_expr_op2(a, TD_OP_LT, bool_, td_util_const(r, 0), td_util_var(r, c->coord))
                : td_expr_op2(a, TD_OP_LT, bool_, next, c->extent);
  return td_stmt_if(r->store, cond, td_util_block1(r, put), NULL, c->move->loc);
}

/* The body of the task after the relay. */
static const TdStmt *task_body(const Chain *c) {
  TdStore *st = c->r->store;
  const TdExpr *end = end_at(c, c->coord ? td_util_var(c->r, c->coord) : NULL);
  const TdStmt *nest = c->path.at[c->nest], *s[2];
  if (c->coord && (c->gather || c->varies) && c->inner) {
    const TdStmt *block = c->path.at[c->nest ? c->nest - 1 : 0];
    bool alone = c->gather && nest == c->move && block->kind == TD_STMT_BLOCK;
    TdRelayOwn own = {0};
    if (alone) own = td_relay_own(c->r->session->ctx, block, c->move, c->inner);
    s[0] = link(c, own.get);
    const TdStmt *now = td_edit_replace(st, c->task->body, nest->uid, s, 1);
    return own.get ? td_relay_without(st, now, &own) : now;
  }
  TdSym declares = c->inner ? NULL : c->move->sym;
  s[0] = c->gather ? td_stmt_put(st, end, c->inner, c->move->loc)
                   : td_stmt_get(st, end, declares, c->outer->type, c->inner, c->move->loc);
  bool propagates = !c->varies && c->coord;
  if (propagates) s[1] = put_onward(c);
  const TdStmt *body = td_edit_replace(st, c->task->body, c->move->uid, s, propagates ? 2 : 1);
  if (!c->varies) return body;
  const TdStmt *pass = pass_on(c);
  return td_edit_insert(st, body, nest == c->move ? s[0]->uid : nest->uid, own_first(c), &pass, 1);
}

/* s under the loops and conditions that surround the nest. */
static const TdStmt *surround(const Chain *c, const TdStmt *s) {
  TdStore *st = c->r->store;
  for (size_t i = c->nest; i-- > 0;) {
    const TdStmt *up = c->path.at[i], *kid[2] = {s, s};
    if (up->kind == TD_STMT_BLOCK) continue;
    if (s->kind != TD_STMT_BLOCK) kid[0] = kid[1] = td_util_block1(c->r, s);
    for (uint32_t k = 0; k < up->nkid; k++)
      if (up->kid[k] != c->path.at[i + 1]) kid[k] = td_stmt_block(st, NULL, 0, up->loc);
    s = td_stmt_with_kids(st, up, kid, up->nkid);
  }
  return s;
}

/* s, which moves one element, in its nest; for all positions along the axis if they differ; in
 * loops over the axes that the new task has not. */
static const TdStmt *end_nest(const Chain *c, const TdStmt *s) {
  TdRewrite *r = c->r;
  TdSym me = c->coord ? td_store_sym(r->store, c->coord->name, TD_SYM_COORD) : NULL;
  const TdStmt *all =
      c->varies ? for_others(c, me, &s, 1, edge(c, false), c->extent) : nest_with(c, &s, 1);
  for (int d = c->run->rank - 1; d >= 0; d--) {
    if (d == c->axis || keeps_axis(c, d)) continue;
    const char *name = td_edit_fresh_name(r->store, c->task, c->task->coord[d]->name);
    TdSym v = td_store_sym(r->store, name, TD_SYM_LOOP);
    TdSubst sub = td_subst_new(r->store);
    td_subst_expr(&sub, c->task->coord[d], td_util_var(r, v));
    all = td_subst_in_stmt(&sub, all);
    if (all->kind != TD_STMT_BLOCK) all = td_util_block1(r, all);
    all = td_stmt_for(r->store, v, td_util_const(r, 0), c->run->map[d], 1, all, c->move->loc);
  }
  return all;
}

/* The task that feeds the first instance of each row, or drains the last. */
static bool make_end(const Chain *c, TdPart *part) {
  TdRewrite *r = c->r;
  TdStore *st = r->store;
  TdSubst sub = td_subst_new(st);
  TdSym coord[TD_MAX_RANK];
  for (int d = 0; d < c->run->rank; d++) {
    if (!keeps_axis(c, d)) continue;
    coord[part->rank] = td_store_sym(st, c->task->coord[d]->name, TD_SYM_COORD);
    td_subst_expr(&sub, c->task->coord[d], td_util_var(r, coord[part->rank]));
    part->map[part->rank++] = c->run->map[d];
  }
  const TdExpr *end = end_at(c, c->coord ? edge(c, c->gather == (c->by > 0)) : NULL);
  const TdStmt *s = c->gather ? td_stmt_get(st, end, NULL, c->outer->type, c->outer, c->move->loc)
                              : td_stmt_put(st, end, c->outer, c->move->loc);
  const TdStmt *all = td_walk_copy(st, surround(c, end_nest(c, s)), &sub);
  const char *want =
      td_text_fmt(r->arena, "%s_%s", c->outer->sym->name, c->gather ? "drain" : "feed");
  part->name = td_lift_unit_name(r, r->prog, c->ask->name ? c->ask->name : want);
  const TdStmt *const *body = all->kind == TD_STMT_BLOCK ? all->kid : &all;
  size_t n = all->kind == TD_STMT_BLOCK ? all->nkid : 1;
  TdTaskIds ids = {coord, (size_t)part->rank};
  return td_lift_task(r, c->task, body, n, part->name, ids, &part->lifted);
}

/* Whether other tasks leave the argument alone, as far as its new owner needs it. */
static bool check_owner(const Chain *c, TdSym arg) {
  for (size_t i = 0; i < c->design->nrun; i++) {
    const TdRun *run = &c->design->run[i];
    const TdUnit *k = td_prog_unit(c->r->prog, run->unit);
    for (size_t b = 0; run != c->run && b < run->nbind; b++) {
      TdAsk q = td_util_ask(c->r, k);
      const TdEffect *e;
      if (run->bind[b].arg != arg) continue;
      size_t n = td_effects_of(&q, k->body, &e);
      const TdEffect *x = td_effects_find(e, n, run->bind[b].param);
      if (!x || !(x->write || (c->gather && x->read))) continue;
      td_util_refuse(c->r, TD_ILLEGAL, "shared", c->move->loc, "the task '%s' %s '%s' too",
                     run->sym->name, x->write ? "writes" : "reads", arg->name);
      return false;
    }
  }
  return true;
}

/* The entry of the run that binds a parameter of the task. */
static const TdRunArg *bind_of(const Chain *c, TdSym param) {
  const TdRunArg *b = c->run->bind;
  while (b->param != param) b++;
  return b;
}

/* The body with the buffer declared first in its block: the loops that fill and use it can then be
 * neighbours, and be fused. */
static const TdStmt *declare_first(const Chain *c, const TdStmt *body) {
  TdStore *st = c->r->store;
  TdPath p = td_edit_path(c->r->arena, body, c->ask->array.stmt->uid);
  if (p.n < 2 || p.at[p.n - 1]->kind != TD_STMT_LOCAL || p.at[p.n - 1]->init != TD_INIT_NONE)
    return body;
  const TdStmt *block = p.at[p.n - 2], *decl = p.at[p.n - 1];
  const TdStmt **kid = TD_NEWN(c->r->arena, const TdStmt *, block->nkid);
  size_t lead = 0, n = 0;
  while (block->kid[lead]->kind == TD_STMT_LOCAL && block->kid[lead] != decl) lead++;
  for (size_t i = 0; i < lead; i++) kid[n++] = block->kid[i];
  kid[n++] = decl;
  for (size_t i = lead; i < block->nkid; i++)
    if (block->kid[i] != decl) kid[n++] = block->kid[i];
  const TdStmt *now = td_stmt_with_kids(st, block, kid, n);
  return td_edit_replace(st, body, block->uid, &now, 1);
}

/* The first element or view of an array. */
typedef struct Use {
  TdSym array;
  const TdExpr *at;
} Use;

static bool look_for_use(void *ud, const TdExpr *e) {
  Use *k = ud;
  if (e->sym == k->array) k->at = e;
  return !k->at;
}

/* The task without the parameter that the stream replaces, or NULL: it is used otherwise too. */
static const TdUnit *make_task(const Chain *c) {
  TdRewrite *r = c->r;
  const TdStmt *body = declare_first(c, task_body(c));
  TdUnit *u = td_unit_copy(r->store, td_unit_with_body(r->store, c->task, body));
  TdParam *param = TD_NEWN(r->store->arena, TdParam, u->nparam);
  size_t n = 0;
  Use other = {.array = c->outer->sym};
  if (!td_walk_exprs(r->session->ctx, u->body, look_for_use, &other)) {
    td_util_refuse(r, TD_ILLEGAL, "access", other.at->loc,
                   "the task uses '%s' in other ways too: '%s'", other.array->name,
                   td_print_expr_str(r->arena, other.at));
    return NULL;
  }
  for (size_t i = 0; i < u->nparam; i++)
    if (u->param[i].sym != c->outer->sym) param[n++] = u->param[i];
  u->param = param;
  u->nparam = n;
  return td_lift_tidy(r, u);
}

/* The run of the new task, in the terms of the design. */
static TdRun end_run(const Chain *c, const TdPart *part) {
  TdStore *st = c->r->store;
  const TdUnit *k = part->lifted.unit;
  TdRunArg *bind = TD_NEWN(st->arena, TdRunArg, k->nparam);
  for (size_t i = 0; i < k->nparam; i++)
    bind[i] = (TdRunArg){.param = k->param[i].sym, .arg = bind_of(c, part->lifted.was[i])->arg};
  TdRun run = {.sym = td_store_sym(st, part->name, TD_SYM_RUN),
               .unit = k->sym,
               .uid = td_store_uid(st),
               .loc = c->move->loc,
               .rank = part->rank,
               .bind = bind,
               .nbind = k->nparam};
  for (int d = 0; d < part->rank; d++) run.map[d] = part->map[d];
  return run;
}

/* The run of the task without the parameter. */
static TdRun task_run(const Chain *c) {
  TdRun run = *c->run;
  TdRunArg *bind = TD_NEWN(c->r->store->arena, TdRunArg, run.nbind);
  size_t n = 0;
  for (size_t i = 0; i < run.nbind; i++)
    if (run.bind[i].param != c->outer->sym) bind[n++] = run.bind[i];
  run.bind = bind;
  run.nbind = n;
  return run;
}

/* The design with the stream and the new task: a feeder runs before the task, a drain after it. */
static const TdUnit *make_design(const Chain *c, const TdPart *part) {
  TdArena *a = c->r->store->arena;
  TdUnit *d = td_unit_copy(c->r->store, c->design);
  TdStream *stream = TD_NEWN(a, TdStream, d->nstream + 1);
  TdRun *run = TD_NEWN(a, TdRun, d->nrun + 1);
  size_t n = 0;
  for (size_t i = 0; i < d->nstream; i++) stream[i] = d->stream[i];
  stream[d->nstream++] = c->stream;
  for (size_t i = 0; i < c->design->nrun; i++) {
    bool here = &c->design->run[i] == c->run;
    if (here && !c->gather) run[n++] = end_run(c, part);
    run[n++] = here ? task_run(c) : c->design->run[i];
    if (here && c->gather) run[n++] = end_run(c, part);
  }
  d->stream = stream;
  d->run = run;
  d->nrun = n;
  return td_lift_tidy(c->r, d);
}

const TdProg *td_relay_axis(const TdRelay *ask) {
  TdRewrite *r = ask->r;
  Chain c = {.r = r, .ask = ask, .task = ask->to, .axis = (int)ask->axis, .by = ask->back ? -1 : 1};
  TdPart part = {0};
  if (!find_run(&c) || !find_move(&c) || !leave_guards(&c)) return NULL;
  if (bind_of(&c, c.outer->sym)->layout) {
    refuse(&c, TD_UNSUPPORTED, "layout", c.move->loc, "is a buffer of an argument with a layout");
    return NULL;
  }
  if (!check_owner(&c, bind_of(&c, c.outer->sym)->arg)) return NULL;
  c.stream = td_relay_stream(ask, c.design, ask->array.sym, c.outer->type, c.run->rank, c.run->map);
  const TdUnit *task = make_task(&c);
  if (!task || !make_end(&c, &part)) return NULL;
  td_util_made(r, part.name);
  const TdProg *p = td_prog_insert(r->prog, part.lifted.unit, c.task->sym);
  p = td_prog_with(td_prog_with(p, task), make_design(&c, &part));
  return td_lift_in_order(r, p);
}
