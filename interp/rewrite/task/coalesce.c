/* coalesce.c - coalesce: the instances of a task on the host that lie along an axis become one, or
 * groups of neighbours do, whose blocks a task in the row of the memories hands out, or joins.
 *
 * Where all of them move the same blocks, one of each is sent and goes to all (a multicast). Where
 * each moves its own, the block of them all is sent, of one more dimension, and its parts go to
 * each, or come from each. A task that moves several blocks, one after the other, does so with all
 * of them; each stream goes by a task of its own. */
#include "analysis/order/effects.h"
#include "rewrite/task/coalesce.h"

enum { TASK, AXIS, FACTOR };

static const TdProg *refuse(const TdCoalesce *c, TdDiagKind kind, const char *code, TdLoc loc,
                            const char *why) {
  return td_util_refuse(c->r, kind, code, loc, "'%s' %s", c->run->sym->name, why);
}

/* ---- what the task does ---- */

/* A search for the statements that move blocks. */
typedef struct Ends {
  const TdStmt *take;
  size_t takes, puts;
} Ends;

static bool look_end(void *ud, const TdStmt *s) {
  Ends *e = ud;
  bool take = s->kind == TD_STMT_SLOT || s->kind == TD_STMT_GET;
  if (take) e->take = s, e->takes++;
  e->puts += s->kind == TD_STMT_PUT;
  return true;
}

/* Whether a stream is named by the ids in their order. */
static bool is_own(const TdCoalesce *c, const TdExpr *stream) {
  bool own = stream->kind == TD_EXPR_VIEW && stream->nkid == c->run->rank;
  for (uint32_t d = 0; own && d < stream->nkid; d++)
    own = stream->kid[d]->kind == TD_EXPR_VAR && stream->kid[d]->sym == c->kernel->coord[d];
  return own;
}

/* The number of the way of a slot or get; false: it is not by a stream of blocks that each instance
 * has one of. */
static bool find_way(TdCoalesce *c, const TdStmt *take, size_t *at) {
  const TdStream *s = take->sym && is_own(c, take->expr[0])
                          ? td_unit_stream(c->m.design, take->expr[0]->sym)
                          : NULL;
  if (!s || !s->type->block || s->type->rank != c->run->rank) return false;
  for (*at = 0; *at < c->way.n; ++*at)
    if (c->way.at[*at].was == s) return c->way.at[*at].out == (take->kind == TD_STMT_GET);
  TdCoalesceWay w = {.was = s, .out = take->kind == TD_STMT_GET, .same = true};
  td_vec_push(c->r->arena, &c->way, w);
  return true;
}

/* Whether what stands between a slot or get and the next has to do with its block alone; a slot is
 * put once. */
static bool is_apart(const TdCoalesce *c, const TdCoalesceMove *m) {
  size_t puts = 0;
  for (size_t i = m->lo; i < m->hi; i++) {
    const TdStmt *s = c->cut.block->kid[i];
    bool put = s->kind == TD_STMT_PUT;
    if (put && s->expr[1]->sym != m->take->sym) return false;
    puts += put;
    for (size_t k = 0; k < c->move.n; k++) {
      const TdStmt *other = c->move.at[k].take;
      if (other != m->take && s != other && td_walk_uses(c->r->session->ctx, s, other->sym))
        return false;
    }
  }
  return puts == (m->take->kind == TD_STMT_SLOT);
}

/* Finds the blocks that the task moves, in one block of statements. */
static bool list_moves(TdCoalesce *c) {
  Ends e = {0};
  td_walk_stmt(c->r->session->ctx, c->kernel->body, look_end, &e);
  if (!e.takes) return false;
  TdPath p = td_edit_path(c->r->arena, c->kernel->body, e.take->uid);
  c->cut.path = (TdPath){p.at, p.n - 1};
  c->cut.block = p.at[p.n - 2];
  size_t puts = 0;
  for (size_t i = 0; i < c->cut.block->nkid; i++) {
    const TdStmt *s = c->cut.block->kid[i];
    TdCoalesceMove m = {.take = s, .lo = c->move.n ? i : 0};
    puts += s->kind == TD_STMT_PUT;
    if (s->kind == TD_STMT_SLOT || s->kind == TD_STMT_GET) {
      if (!find_way(c, s, &m.way)) return false;
      td_vec_push(c->r->arena, &c->move, m);
    }
    if (c->move.n) c->move.at[c->move.n - 1].hi = i + 1;
  }
  bool all = c->move.n == e.takes && puts == e.puts;
  for (size_t k = 0; k < c->move.n; k++) all = all && is_apart(c, &c->move.at[k]);
  return all;
}

static bool find_moves(TdCoalesce *c) {
  if (list_moves(c)) return true;
  refuse(c, TD_ILLEGAL, "not-a-copy", c->run->loc,
         "does not move one block at a time, by one stream for each instance");
  td_diag_help(c->r->diag, "isolate makes tasks that do");
  return false;
}

/* Whether all instances along the axis move the same. */
static bool is_same(const TdCoalesce *c, const TdCoalesceMove *m) {
  for (size_t i = m->lo; i < m->hi; i++) {
    const TdStmt *s = c->cut.block->kid[i];
    if (td_coalesce_is_end(m, s)) continue;
    if (td_walk_uses(c->r->session->ctx, s, c->coord)) return false;
    for (size_t k = 0; k < c->kernel->nparam; k++)
      if (td_coalesce_cut_dim(c, c->kernel->param[k].sym) >= 0 &&
          td_walk_uses(c->r->session->ctx, s, c->kernel->param[k].sym))
        return false;
  }
  return true;
}

/* Whether all that some stream carries is the same; refused where the task writes that. */
static bool find_same(TdCoalesce *c) {
  for (size_t i = 0; i < c->move.n; i++)
    c->way.at[c->move.at[i].way].same &= is_same(c, &c->move.at[i]);
  for (size_t i = 0; i < c->way.n; i++) {
    const TdCoalesceWay *w = &c->way.at[i];
    if (w->same && w->out)
      refuse(c, TD_ILLEGAL, "copies", c->run->loc, "writes the same elements in each instance");
    else if (!w->same && w->was->type->elem->rank == TD_MAX_RANK)
      refuse(c, TD_UNSUPPORTED, "rank", c->run->loc, "moves blocks of too many dimensions");
    else
      continue;
    return false;
  }
  return true;
}

/* Whether s, but for statement `but` below it, names a symbol. */
static bool names(const TdCoalesce *c, const TdStmt *s, const TdStmt *but, TdSym sym) {
  for (uint32_t i = 0; i < s->nexpr; i++)
    if (td_walk_uses_expr(s->expr[i], sym)) return true;
  for (uint32_t i = 0; i < s->nkid; i++)
    if (s->kid[i] != but && td_walk_uses(c->r->session->ctx, s->kid[i], sym)) return true;
  return false;
}

/* Whether what s does, but for statement `but`, is not what another instance would do. */
static bool differs(const TdCoalesce *c, const TdStmt *s, const TdStmt *but) {
  if (names(c, s, but, c->coord)) return true;
  for (size_t k = 0; k < c->kernel->nparam; k++) {
    TdSym arg = c->kernel->param[k].sym;
    if (td_coalesce_cut_dim(c, arg) >= 0 && names(c, s, but, arg)) return true;
  }
  return false;
}

/* Whether only the block of the move differs from instance to instance, and leaves no trace: what
 * is around it is done once for all of them. */
static bool check_around(const TdCoalesce *c) {
  for (size_t i = 0; i + 1 < c->cut.path.n; i++) {
    if (!differs(c, c->cut.path.at[i], c->cut.path.at[i + 1])) continue;
    refuse(c, TD_ILLEGAL, "access", c->cut.path.at[i]->loc,
           "does more in each instance than move a block");
    td_diag_help(c->r->diag, "say it in the statements next to the block's");
    return false;
  }
  TdAsk q = td_util_ask(c->r, c->kernel);
  const TdEffect *e;
  bool same = true;
  for (size_t i = 0; i < c->way.n; i++) same &= c->way.at[i].same;
  size_t n = same ? 0 : td_effects_of(&q, c->cut.block, &e);
  for (size_t i = 0; i < n; i++) {
    bool kept = e[i].write && !e[i].inside && e[i].sym->kind != TD_SYM_STREAM &&
                !td_unit_param(c->kernel, e[i].sym);
    if (!kept) continue;
    td_util_refuse(c->r, TD_ILLEGAL, "access", c->move.at[0].take->loc,
                   "each instance of '%s' has its own '%s'", c->run->sym->name, e[i].sym->name);
    return false;
  }
  return true;
}

/* ---- the step ---- */

/* The runs of the design: those in the row of the memories stand before the host's task where it
 * gets from them, else behind it. */
static size_t new_runs(const TdCoalesce *c, const TdLifted *l, TdRun *run) {
  size_t n = 0;
  for (size_t i = 0; i < c->m.design->nrun; i++) {
    bool here = &c->m.design->run[i] == c->run;
    for (size_t k = 0; here && k < c->way.n; k++)
      if (c->way.at[k].out) run[n++] = td_coalesce_memory_run(c, &l[k]);
    run[n++] = here ? td_coalesce_host_run(c) : c->m.design->run[i];
    for (size_t k = 0; here && k < c->way.n; k++)
      if (!c->way.at[k].out) run[n++] = td_coalesce_memory_run(c, &l[k]);
  }
  return n;
}

static const TdProg *put(TdCoalesce *c) {
  TdRewrite *r = c->r;
  TdLifted *l = TD_NEWN(r->arena, TdLifted, c->way.n);
  const TdUnit *host = td_coalesce_host_kernel(c);
  TdUnit *d = c->design;
  TdStream *stream = TD_NEWN(r->store->arena, TdStream, d->nstream + c->way.n);
  TdRun *run = TD_NEWN(r->store->arena, TdRun, d->nrun + c->way.n);
  const TdProg *p = r->prog;
  for (size_t i = 0; i < d->nstream; i++) stream[i] = d->stream[i];
  for (size_t i = 0; i < c->way.n; i++) {
    if (!td_coalesce_memory_task(c, i, &l[i])) return NULL;
    stream[d->nstream++] = c->way.at[i].now;
    td_util_made(r, l[i].unit->sym->name);
    td_util_made(r, c->way.at[i].now.sym->name);
    p = td_prog_insert(p, l[i].unit, c->kernel->sym);
  }
  d->nrun = new_runs(c, l, run);
  d->stream = stream;
  d->run = run;
  p = td_prog_with(td_prog_with(p, host), td_lift_tidy(r, d));
  return td_lift_in_order(r, p);
}

/* The stream of a way between the host's task and the new one. */
static TdStream new_stream(const TdCoalesce *c, const TdCoalesceWay *w) {
  TdRewrite *r = c->r;
  const TdExpr *dim[TD_MAX_RANK + 1], *map[TD_MAX_RANK];
  const TdType *t = w->was->type->elem;
  int64_t depth = 2;
  int n = td_coalesce_keep_map(c, map);
  dim[0] = td_util_const(r, c->n);
  for (int d = 0; d < t->rank; d++) dim[d + 1] = t->dim[d];
  if (!w->same) t = td_type_tensor(r->session, t->elem, t->rank + 1, dim);
  td_unit_value(c->m.design, w->was->depth, &depth);
  TdCut cut = c->cut;
  cut.depth = depth;
  const TdType *port = td_type_port(r->session, t, n, map, true);
  return td_cut_stream(&cut, w->was->sym->name, port, w->was->loc);
}

/* How many instances become one; the axis goes where that is all of them. */
static bool choose(TdCoalesce *c) {
  const TdArgValue *factor = &c->r->arg[FACTOR];
  int64_t all = td_mapping_block(&c->m, c->m.design, c->run->map[c->axis], c->design);
  c->n = factor->given ? factor->integer : all;
  if (c->n < 1 || all % c->n) {
    refuse(c, TD_USAGE, "factor", c->run->loc,
           td_text_fmt(c->r->arena, "has %lld instances along axis %d: %lld do not divide that",
                       (long long)all, c->axis, (long long)c->n));
    return false;
  }
  c->groups = all / c->n;
  return true;
}

static const TdProg *apply(TdRewrite *r) {
  TdCoalesce c = {.r = r, .axis = r->arg[AXIS].given ? (int)r->arg[AXIS].integer : 0};
  TdLoc none = {0};
  c.run = td_mapping_open(r, r->arg[TASK].text, &c.m);
  if (!c.run) return NULL;
  if (!td_attrs_get(c.run->attrs, TD_ATTR_HOST))
    return refuse(&c, TD_ILLEGAL, "not-a-copy", c.run->loc, "is no task on the host");
  if (c.axis < 0 || c.axis >= c.run->rank)
    return td_util_refuse(r, TD_USAGE, "axis", none, "'%s' has %d axes", c.run->sym->name,
                          c.run->rank);
  c.kernel = td_mapping_kernel(&c.m, c.run);
  if (!c.kernel || td_mapping_returns(r, c.kernel))
    return c.kernel ? refuse(&c, TD_ILLEGAL, "return", c.run->loc, "may return before") : NULL;
  c.cut = (TdCut){.r = r, .design = c.m.design, .task = c.kernel, .run = c.run};
  td_cut_name_ids(&c.cut);
  c.kernel = c.cut.task;
  c.coord = c.kernel->coord[c.axis];
  c.design = td_unit_copy(r->store, c.m.design);
  if (!choose(&c) || !find_moves(&c) || !find_same(&c) || !check_around(&c)) return NULL;
  for (size_t i = 0; i < c.way.n; i++) c.way.at[i].now = new_stream(&c, &c.way.at[i]);
  return put(&c);
}

const TdPrim td_prim_coalesce = {
    .name = "coalesce",
    .on = "task",
    .summary = "Merge the instances of a task that moves blocks; a memory tile splits or joins the "
               "blocks.",
    .args = {{"task", TD_ARG_UNIT, TD_ARG_NEEDED,
              "a task that moves blocks, one at a time, between arguments and streams", "task"},
             {"axis", TD_ARG_INT, TD_ARG_OPTION, "of its map: instances along it become one; 0",
              NULL},
             {"factor", TD_ARG_INT, TD_ARG_OPTION,
              "so many neighbours along the axis become one; all of them", NULL}},
    .rewrite = "task A_in(y, z): a[y][z]:put(A[y])  =>  task A_in(y): a_1[y]:put(A[y])  |  task "
               "A_in_mem(y): local t = a_1[y]:get(); for z: a[y][z]:put(t);  of blocks that "
               "differ, a_1 has all of them side by side",
    .legal = "the task moves one block at a time, by streams of its own ids, all in one place; "
             "what it does "
             "around the blocks, and how often, does not depend on the place along the axis",
    .errors = "axis factor not-a-copy access copies return rank not-a-design no-task "
              "ambiguous-task shared "
              "state open",
    .example = "s:buffer_at(\"A\", \"j\"); s:unfold(\"PE\"); s:isolate(\"A_j\"); "
               "s:coalesce(\"A_in\", {axis = 1})",
    .apply = apply,
};
