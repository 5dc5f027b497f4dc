/* merge_tasks.c - one kernel of two: parameters, coordinates, sizes, bodies, and streams between
 * them.
 *
 * Tasks share nothing but streams, so statements of the second may run before any of the first that
 * do not feed them: loops that hand over as many tokens in each turn become one loop. */
#include "rewrite/task/merge_tasks.h"

#include "analysis/net/banks.h"
#include "ir/text/printer.h"
#include "rewrite/stream/local_stream.h"

typedef struct Sequence {
  const TdSequence *ask;
  TdRewrite *r;
  TdUnit *unit;   /* the new kernel */
  TdUnit *design; /* the new design */
  TdSubst sub;    /* what is the second's as the first's */
  TD_VEC(TdParam) param;
  TD_VEC(TdRunArg) bind;
  const TdStmt *x, *y; /* blocks: what the two do, without their data */
  TD_VEC(TdLocalStream) link;
  bool open;    /* a stream between the two stays one */
  bool alike;   /* TdSequence.alike */
  size_t woven; /* loops that become one: of each, outermost first */
  TD_VEC(const TdStmt *) lx;
  TD_VEC(const TdStmt *) ly;
} Sequence;

/* ---- parameters ---- */

/* The parameter of the first that is bound as b is, or NULL. */
static TdParam *same_param(const Sequence *s, const TdRunArg *b, const TdType *t) {
  for (size_t i = 0; i < s->bind.n; i++) {
    const TdRunArg *x = &s->bind.at[i];
    if (x->arg == b->arg && x->layout == b->layout && s->param.at[i].type == t)
      return &s->param.at[i];
  }
  return NULL;
}

static bool is_param_name(const Sequence *s, const char *name) {
  for (size_t i = 0; i < s->param.n; i++)
    if (s->param.at[i].sym->name == name) return true;
  for (size_t i = 0; i < s->unit->ncoord; i++)
    if (s->unit->coord[i]->name == name) return true;
  return false;
}

static void add_param(Sequence *s, const TdRunArg *b) {
  TdRewrite *r = s->r;
  TdParam p = *td_unit_param(s->ask->kernel[1], b->param);
  TdParam *same = same_param(s, b, p.type);
  const char *name = b->param->name;
  for (int i = 1; !same && is_param_name(s, name); i++)
    name = td_names_str(r->session->names, td_text_fmt(r->arena, "%s_%d", b->param->name, i));
  p.sym = same ? same->sym : td_store_sym(r->store, name, (TdSymKind)p.sym->kind);
  td_subst_sym(&s->sub, b->param, p.sym);
  if (p.type->kind != TD_T_TENSOR && p.type->kind != TD_T_PORT)
    td_subst_expr(&s->sub, b->param, td_expr_var(r->store->arena, p.sym, p.type, p.loc));
  if (same) {
    same->attrs = td_banks_join(r->store->arena, r->session->names, same->attrs, p.attrs, p.type);
    return;
  }
  td_vec_push(r->store->arena, &s->param, p);
  td_vec_push(r->store->arena, &s->bind, ((TdRunArg){p.sym, b->arg, b->layout}));
}

static void join_params(Sequence *s) {
  const TdSequence *q = s->ask;
  TdArena *a = s->r->store->arena;
  for (size_t i = 0; i < q->kernel[0]->nparam; i++) {
    const TdParam *p = &q->kernel[0]->param[i];
    td_vec_push(a, &s->param, *p);
    for (size_t k = 0; k < q->first->nbind; k++)
      if (q->first->bind[k].param == p->sym) td_vec_push(a, &s->bind, q->first->bind[k]);
  }
  for (size_t i = 0; i < q->second->nbind; i++) add_param(s, &q->second->bind[i]);
  s->unit->param = s->param.at;
  s->unit->nparam = s->param.n;
}

/* The ids of the first are those of the second. */
static void join_coords(Sequence *s) {
  const TdUnit *x = s->ask->kernel[0], *y = s->ask->kernel[1];
  if (x->ncoord == 0) {
    s->unit->coord = y->coord;
    s->unit->ncoord = y->ncoord;
    return;
  }
  for (size_t i = 0; i < y->ncoord; i++)
    td_subst_expr(&s->sub, y->coord[i], td_util_var(s->r, x->coord[i]));
}

static void join_sizes(Sequence *s) {
  const TdUnit *x = s->ask->kernel[0], *y = s->ask->kernel[1];
  TdArena *a = s->r->store->arena;
  TdSize *size = TD_NEWN(a, TdSize, x->nsize + y->nsize);
  const TdExpr **fact = TD_NEWN(a, const TdExpr *, x->nassert + y->nassert);
  size_t n = 0, m = 0;
  for (; n < x->nsize; n++) size[n] = x->size[n];
  for (size_t i = 0; i < y->nsize; i++)
    if (!td_unit_size(x, y->size[i].name)) size[n++] = y->size[i];
  for (; m < x->nassert; m++) fact[m] = x->assert_[m];
  for (size_t i = 0; i < y->nassert; i++) {
    const TdExpr *e = td_subst_in_expr(&s->sub, y->assert_[i]);
    bool known = false;
    for (size_t k = 0; k < m; k++) known |= td_equal_expr(fact[k], e);
    if (!known) fact[m++] = e;
  }
  s->unit->size = size;
  s->unit->nsize = n;
  s->unit->assert_ = fact;
  s->unit->nassert = m;
}

/* ---- streams between the two ---- */

/* The instance of a node, or NULL outside. */
static const TdInst *inst_of(const TdGraph *g, uint32_t node) {
  return node == TD_TRAFFIC_NONE ? NULL : &g->net->inst.at[g->node.at[node].inst];
}

/* Whether an edge goes from an instance of the first run to its partner in the second. */
static bool is_between(const Sequence *s, const TdGraphEdge *e) {
  const TdGraph *g = &s->ask->m->graph;
  const TdInst *x = inst_of(g, e->from), *y = inst_of(g, e->to);
  bool partners = x && y && x->run == s->ask->first && y->run == s->ask->second;
  for (int d = 0; partners && d < x->rank; d++) partners = x->id[d] == y->id[d];
  return partners;
}

static TdSym stream_of(const Sequence *s, const TdGraphEdge *e) {
  const TdTraffic *n = s->ask->m->graph.net;
  return n->line.at[n->chan.at[e->chan].line].sym;
}

/* The statements that move tokens at one end of an edge. */
static TdNetStmts ends_of(const Sequence *s, const TdGraphEdge *e, bool put) {
  const TdGraph *g = &s->ask->m->graph;
  return td_traffic_stmts(s->r->arena, g->net, g->node.at[put ? e->from : e->to].inst, e->chan,
                          put);
}

static bool holds(const TdNetStmts *list, const TdStmt *s) {
  for (size_t i = 0; i < list->n; i++)
    if (list->at[i]->uid == s->uid) return true;
  return false;
}

/* An edge between partners, and the statements that move its tokens. */
typedef struct Way {
  TdSym stream;
  TdNetStmts put, get;
} Way;

typedef TD_VEC(Way) Ways;

/* Whether both ends of a link move the tokens of the same ways, and nothing else moves any there.
 */
static bool is_whole(const Ways *ways, const TdLocalStream *z) {
  for (size_t i = 0; i < ways->n; i++) {
    const Way *w = &ways->at[i];
    if (w->stream != z->stream->sym) continue;
    bool put = holds(&w->put, z->put.stmt), get = holds(&w->get, z->get.stmt);
    if (put != get || (put && (w->put.n > 1 || w->get.n > 1))) return false;
  }
  return true;
}

/* The number of the link that moves the tokens of a way, or the number of links. */
static size_t link_of(const Sequence *s, const Way *w) {
  size_t i = 0;
  while (i < s->link.n &&
         !(s->link.at[i].stream->sym == w->stream && holds(&w->put, s->link.at[i].put.stmt) &&
           holds(&w->get, s->link.at[i].get.stmt)))
    i++;
  return i;
}

/* Adds the link for a way between two statements, if there is none yet. */
static void add_link(Sequence *s, const TdStream *stream, const Ways *ways, const Way *w) {
  TdLocalStream z = {.r = s->r, .unit = s->unit, .stream = stream};
  if (w->stream != stream->sym || w->put.n != 1 || w->get.n != 1) return;
  if (link_of(s, w) < s->link.n) return;
  if (td_local_stream_find(&z, s->x, w->put.at[0]->uid, s->y, w->get.at[0]->uid) &&
      is_whole(ways, &z))
    td_vec_push(s->r->arena, &s->link, z);
}

/* Finds the streams that become buffers. */
static void find_links(Sequence *s) {
  const TdUnit *d = s->ask->m->design;
  const TdGraph *g = &s->ask->m->graph;
  Ways ways = {0};
  for (size_t i = 0; i < g->edge.n; i++) {
    const TdGraphEdge *e = &g->edge.at[i];
    if (!is_between(s, e)) continue;
    Way w = {stream_of(s, e), ends_of(s, e, true), ends_of(s, e, false)};
    td_vec_push(s->r->arena, &ways, w);
  }
  for (size_t i = 0; i < d->nstream; i++)
    for (size_t k = 0; k < ways.n; k++) add_link(s, &d->stream[i], &ways, &ways.at[k]);
  for (size_t k = 0; k < ways.n; k++) s->open |= link_of(s, &ways.at[k]) == s->link.n;
}

static bool match_all(Sequence *s, size_t n) {
  for (size_t i = 0; i < s->link.n; i++)
    if (!td_local_stream_match(&s->link.at[i], n)) return false;
  return true;
}

/* Whether loops x and y, inside those so far, make the same turns. */
static bool turn_alike(const Sequence *s, const TdStmt *x, const TdStmt *y) {
  TdSubst sub = td_subst_new(s->r->store);
  for (size_t i = 0; i < s->lx.n; i++)
    td_subst_expr(&sub, s->ly.at[i]->sym, td_util_var(s->r, s->lx.at[i]->sym));
  bool breaks = td_util_leaves_by_break(td_for_body(x)) || td_util_leaves_by_break(td_for_body(y));
  return !breaks && x->step == y->step &&
         td_equal_expr(td_for_lo(x), td_subst_in_expr(&sub, td_for_lo(y))) &&
         td_equal_expr(td_for_hi(x), td_subst_in_expr(&sub, td_for_hi(y)));
}

static void add_loops(Sequence *s, const TdStmt *x, const TdStmt *y) {
  td_vec_push(s->r->arena, &s->lx, x);
  td_vec_push(s->r->arena, &s->ly, y);
}

/* Whether loop n around each end is one loop for all streams, with the same turns on both sides;
 * adds it. */
static bool add_same_loop(Sequence *s, size_t n) {
  const TdLocalStream *first = &s->link.at[0];
  for (size_t i = 0; i < s->link.n; i++) {
    const TdLocalStream *z = &s->link.at[i];
    if (z->put.nloop <= n || z->get.nloop <= n) return false;
    if (z->put.loop[n] != first->put.loop[n] || z->get.loop[n] != first->get.loop[n]) return false;
  }
  if (!turn_alike(s, first->put.loop[n], first->get.loop[n])) return false;
  add_loops(s, first->put.loop[n], first->get.loop[n]);
  return true;
}

/* The one loop of a block, or NULL. */
static const TdStmt *only_loop(const TdStmt *block) {
  const TdStmt *loop = NULL;
  for (uint32_t i = 0; i < block->nkid; i++) {
    if (block->kid[i]->kind != TD_STMT_FOR) continue;
    if (loop) return NULL;
    loop = block->kid[i];
  }
  return loop;
}

/* Counts the loops that do not run a number of times that stands there. */
static bool count_loop(void *ud, const TdStmt *s) {
  int64_t v;
  bool known = s->kind == TD_STMT_FOR && td_expr_is_const(td_for_lo(s), &v) &&
               td_expr_is_const(td_for_hi(s), &v);
  *(size_t *)ud += !known && (s->kind == TD_STMT_FOR || s->kind == TD_STMT_WHILE);
  return true;
}

static bool is_no_move(void *ud, const TdStmt *s) {
  (void)ud;
  return s->kind != TD_STMT_GET && s->kind != TD_STMT_PUT && s->kind != TD_STMT_CALL;
}

/* Whether something in s may move tokens. */
static bool may_move(const Sequence *s, const TdStmt *x) {
  return !td_walk_stmt(s->r->session->ctx, x, is_no_move, NULL);
}

/* Adds the loops of two tasks that hand over nothing, as far as each is the one of its block: what
 * others get of both may come turn by turn. Loops that move nothing stay apart, where others do. */
static void add_alike_loops(Sequence *s) {
  const TdStmt *x = only_loop(s->x), *y = only_loop(s->y);
  bool some = may_move(s, s->x) || may_move(s, s->y);
  for (; x && y && turn_alike(s, x, y); s->woven++) {
    if (some && !may_move(s, x) && !may_move(s, y)) break;
    add_loops(s, x, y);
    const TdStmt *bx = td_for_body(x), *by = td_for_body(y);
    x = only_loop(bx);
    y = only_loop(by);
  }
  size_t nx = 0, ny = 0;
  if (!s->woven) return;
  td_walk_stmt(s->r->session->ctx, td_for_body(s->lx.at[s->woven - 1]), count_loop, &nx);
  td_walk_stmt(s->r->session->ctx, td_for_body(s->ly.at[s->woven - 1]), count_loop, &ny);
  s->alike = nx + ny == 0;
}

/* Decides how many loops become one; streams for which no nest tells the tokens stay streams. */
static void choose_loops(Sequence *s) {
  size_t n = 0, best = 0;
  bool weave = s->ask->weave && !s->open && s->link.n;
  for (size_t i = 0; i < s->link.n; i++)
    weave &= s->link.at[i].put.plain && s->link.at[i].get.plain;
  for (; weave && add_same_loop(s, n); n++)
    if (match_all(s, n + 1)) best = n + 1;
  s->woven = best;
  if (s->ask->weave && !s->open && !s->link.n) add_alike_loops(s);
  size_t kept = 0;
  for (size_t i = 0; i < s->link.n; i++) {
    TdLocalStream z = s->link.at[i];
    if (td_local_stream_match(&z, best)) s->link.at[kept++] = z;
  }
  s->link.n = kept;
}

/* ---- the body ---- */

/* Whether links were all that used a stream. */
static bool is_gone(const Sequence *s, TdSym stream) {
  const TdGraph *g = &s->ask->m->graph;
  bool linked = false;
  for (size_t i = 0; i < s->link.n; i++) linked |= s->link.at[i].stream->sym == stream;
  if (!linked || td_walk_uses(s->r->session->ctx, s->unit->body, stream)) return false;
  for (size_t i = 0; i < g->edge.n; i++)
    if (stream_of(s, &g->edge.at[i]) == stream && !is_between(s, &g->edge.at[i])) return false;
  return true;
}

/* The place in a block of the statement of that uid. */
static uint32_t place_of(const TdStmt *block, uint32_t uid) {
  uint32_t i = 0;
  while (block->kid[i]->uid != uid) i++;
  return i;
}

typedef TD_VEC(const TdStmt *) Stmts;

static void append(Sequence *s, Stmts *to, const TdStmt *block, uint32_t lo, uint32_t hi) {
  for (uint32_t i = lo; i < hi; i++) td_vec_push(s->r->arena, to, block->kid[i]);
}

/* The two blocks with loop n, and those inside it, as one; `first` comes before the innermost. */
static const TdStmt *weave(Sequence *s, size_t n, const TdStmt *x, const TdStmt *y,
                           const Stmts *first) {
  TdRewrite *r = s->r;
  Stmts out = {0};
  if (n == s->woven) {
    for (size_t i = 0; i < first->n; i++) td_vec_push(r->arena, &out, first->at[i]);
    append(s, &out, x, 0, x->nkid);
    append(s, &out, y, 0, y->nkid);
    return td_stmt_with_kids(r->store, x, out.at, out.n);
  }
  uint32_t i = place_of(x, s->lx.at[n]->uid), k = place_of(y, s->ly.at[n]->uid);
  const TdStmt *lx = x->kid[i], *ly = y->kid[k];
  TdSubst sub = td_subst_new(r->store);
  td_subst_expr(&sub, ly->sym, td_util_var(r, lx->sym));
  const TdStmt *inner = td_subst_in_stmt(&sub, td_for_body(ly));
  const TdStmt *body = weave(s, n + 1, td_for_body(lx), inner, first);
  append(s, &out, x, 0, i);
  append(s, &out, y, 0, k);
  td_vec_push(r->arena, &out, td_stmt_with_kids(r->store, lx, &body, 1));
  append(s, &out, x, i + 1, x->nkid);
  append(s, &out, y, k + 1, y->nkid);
  return td_stmt_with_kids(r->store, x, out.at, out.n);
}

typedef struct Moves {
  TdSym stream;
  int kind; /* GET or PUT */
  size_t n;
} Moves;

static bool count_move(void *ud, const TdStmt *s) {
  Moves *m = ud;
  m->n += s->kind == m->kind && s->expr[0]->sym == m->stream;
  return true;
}

/* The name of a link's buffer: the stream's, unless that stays for other statements. */
static const char *buffer_name(const Sequence *s, const TdLocalStream *z) {
  TdCtx *ctx = s->r->session->ctx;
  Moves put = {z->stream->sym, TD_STMT_PUT, 0}, get = {z->stream->sym, TD_STMT_GET, 0};
  td_walk_stmt(ctx, s->x, count_move, &put);
  td_walk_stmt(ctx, s->y, count_move, &get);
  const char *name = z->stream->sym->name;
  if (put.n <= 1 && get.n <= 1) return name;
  name = td_text_fmt(s->r->arena, "%s_1", name);
  return td_edit_fresh_name(s->r->store, s->ask->kernel[1], name);
}

/* Constants and states of both, then what they do. */
static void join_bodies(Sequence *s) {
  TdRewrite *r = s->r;
  const TdStmt *x = s->ask->kernel[0]->body,
               *y = td_subst_in_stmt(&s->sub, s->ask->kernel[1]->body);
  uint32_t dx = (uint32_t)td_stmt_preamble(x), dy = (uint32_t)td_stmt_preamble(y);
  Stmts out = {0}, first = {0};
  s->x = td_edit_slice(r->store, x, dx, x->nkid);
  s->y = td_edit_slice(r->store, y, dy, y->nkid);
  find_links(s);
  choose_loops(s);
  for (size_t i = 0; i < s->link.n; i++) {
    TdLocalStream *z = &s->link.at[i];
    bool direct = z->put.nloop == s->woven;
    const TdStmt *local = td_local_stream_declare(z, buffer_name(s, z), direct);
    if (local) td_vec_push(r->arena, &first, local);
    s->x = td_local_stream_puts(z, s->x, direct);
    s->y = td_local_stream_gets(z, s->y);
  }
  const TdStmt *both = weave(s, 0, s->x, s->y, &first);
  append(s, &out, x, 0, dx);
  append(s, &out, y, 0, dy);
  append(s, &out, both, 0, both->nkid);
  s->unit->body = td_stmt_with_kids(r->store, x, out.at, out.n);
}

/* The design without the second task and the streams that are buffers now. */
static void join_runs(Sequence *s) {
  const TdUnit *d = s->ask->m->design;
  TdArena *a = s->r->store->arena;
  TdRun *run = TD_NEWN(a, TdRun, d->nrun);
  TdStream *stream = TD_NEWN(a, TdStream, d->nstream);
  s->design->nrun = s->design->nstream = 0;
  for (size_t i = 0; i < d->nrun; i++) {
    if (&d->run[i] == s->ask->second) continue;
    TdRun *to = &run[s->design->nrun++];
    *to = d->run[i];
    if (&d->run[i] != s->ask->first) continue;
    to->bind = s->bind.at;
    to->nbind = s->bind.n;
  }
  for (size_t i = 0; i < d->nstream; i++)
    if (!is_gone(s, d->stream[i].sym)) stream[s->design->nstream++] = d->stream[i];
  s->design->run = run;
  s->design->stream = stream;
}

/* ---- what does not go ---- */

/* Units that a body calls, and what they call. */
typedef struct Calls {
  const TdProg *prog;
  TdCtx *ctx;
  TdArena *arena;
  TdMap seen;         /* of the first */
  const TdUnit *both; /* with a state, called by both */
  bool second, state;
} Calls;

static bool look_call(void *ud, const TdStmt *s) {
  Calls *c = ud;
  const TdUnit *u = s->kind == TD_STMT_CALL ? td_prog_unit(c->prog, s->sym) : NULL;
  if (s->kind == TD_STMT_LOCAL) c->state |= s->cls == TD_LOCAL_STATE;
  if (!u || !u->body) return true;
  c->state = false;
  td_walk_stmt(c->ctx, u->body, look_call, c);
  if (c->second && c->state && td_map_getp(&c->seen, u)) c->both = u;
  if (!c->second) td_map_putp(c->arena, &c->seen, u, c);
  return true;
}

/* A unit with a state that both bodies call: they would share it. */
static const TdUnit *shared_state(const TdSequence *q) {
  TdRewrite *r = q->m->r;
  Calls c = {.prog = r->prog, .ctx = r->session->ctx, .arena = r->arena};
  td_walk_stmt(c.ctx, q->kernel[0]->body, look_call, &c);
  c.second = true;
  td_walk_stmt(c.ctx, q->kernel[1]->body, look_call, &c);
  return c.both;
}

bool td_merge_tasks_check(TdSequence *q) {
  TdRewrite *r = q->m->r;
  q->kernel[0] = td_mapping_kernel(q->m, q->first);
  q->kernel[1] = q->kernel[0] ? td_mapping_kernel(q->m, q->second) : NULL;
  if (!q->kernel[1]) return false;
  const char *x = q->first->sym->name, *y = q->second->sym->name;
  if (td_mapping_returns(r, q->kernel[0])) {
    td_util_refuse(r, TD_UNSUPPORTED, "return", q->first->loc,
                   "'%s' returns: what '%s' does would be lost", x, y);
    return false;
  }
  const TdUnit *u = shared_state(q);
  if (!u) return true;
  td_util_refuse(r, TD_UNSUPPORTED, "state", u->loc,
                 "'%s' and '%s' both call '%s', which keeps a state for each", x, y, u->sym->name);
  return false;
}

const TdProg *td_merge_tasks_put(TdSequence *q) {
  TdRewrite *r = q->m->r;
  Sequence s = {.ask = q, .r = r, .sub = td_subst_new(r->store)};
  s.unit = td_unit_copy(r->store, q->kernel[0]);
  s.design = td_unit_copy(r->store, q->m->design);
  join_coords(&s);
  join_params(&s);
  join_sizes(&s);
  join_bodies(&s);
  q->alike = s.alike;
  join_runs(&s);
  const TdUnit *kernel = td_lift_tidy(r, s.unit);
  return td_mapping_put(q->m, s.design, &kernel, 1);
}
