/* class.c - the classes of a run as kernels: what is left of the body, with a port for each
 * stream that it touches and parameters for what it reads and writes. */
#include "analysis/net/classes.h"
#include "analysis/order/effects.h"
#include "lower/net/net.h"
#include "lower/specialise.h"

enum { MOST_CALLS = 1 << 14 };

/* A place where the body names a stream of the design. */
typedef struct Use {
  const TdExpr *view;
  bool passed;    /* to a call */
  uint32_t fixed; /* dimensions whose index is known for each instance */
  int64_t *at;    /* rank indices of each instance in turn; those known */
} Use;

/* A class being made. */
typedef struct Making {
  TdNet *n;
  const TdRun *run;
  TdNetClass *c;
  TdNetFacts facts;
  size_t skip; /* ids that the kernel does not take */
  TD_VEC(Use) use;
  TdMap port;     /* VIEW of a stream -> symbol of the port */
  TdMap place;    /* VIEW of a listed stream -> which of the list it is */
  uint32_t fixed; /* of the stream being closed */
  bool in_call;
} Making;

static const int64_t *ids(const TdNetClass *c, uint32_t i) {
  return c->id + (size_t)i * (size_t)c->rank;
}

/* Sets the indices of use u that are the same number wherever the view stands. */
static void fix_indices(Making *m, Use *u) {
  const TdExpr *e = u->view;
  u->at = TD_NEWN(m->n->arena, int64_t, m->c->n * e->nkid + 1);
  u->fixed = (1u << e->nkid) - 1;
  for (uint32_t i = 0; i < m->c->n; i++)
    for (uint32_t d = 0; d < e->nkid; d++) {
      TdSpan x = {.lo = 0, .hi = 1};
      if (e->u.dim[d].out < 0) x = td_net_facts_span(&m->facts, ids(m->c, i) + m->skip, e->kid[d]);
      if (!td_span_is_one(x)) u->fixed &= ~(1u << d);
      u->at[i * e->nkid + d] = x.lo;
    }
}

/* Whether the dimensions of a view that are not fixed are indices, then whole. */
static bool is_row(Making *m, const TdExpr *e, const TdType *t) {
  bool whole = false;
  for (uint32_t d = 0; d < e->nkid; d++) {
    int64_t lo, all, some;
    if (m->fixed >> d & 1 || (e->u.dim[d].out < 0 && !whole)) continue;
    whole = true;
    if (e->u.dim[d].out < 0 || e->u.dim[d].step != 1) return false;
    if (!td_unit_value(m->n->design, t->dim[d], &all)) return false;
    if (!td_unit_value(m->c->kernel, e->type->dim[e->u.dim[d].out], &some)) return false;
    if (!td_expr_is_const(e->kid[d], &lo) || lo != 0 || all != some) return false;
  }
  return true;
}

/* Whether the streams of use u, which are no row, can be listed: there are few, and the body itself
 * moves their tokens. */
static bool is_list(Making *m, const Use *u, const TdStream *s) {
  int64_t count = 1, extent;
  for (uint32_t d = 0; d < u->view->nkid; d++)
    if (!(m->fixed >> d & 1) && td_unit_value(m->n->design, s->type->dim[d], &extent))
      count *= extent;
  return !u->passed && !s->type->block && u->view->type->rank == 0 && count <= TD_NET_MOST_LISTED;
}

static bool note_use(void *ud, const TdExpr *e) {
  Making *m = ud;
  if (e->kind != TD_EXPR_VIEW || e->sym->kind != TD_SYM_STREAM) return true;
  if (td_unit_param(m->c->kernel, e->sym)) return true;
  Use u = {.view = e, .passed = m->in_call};
  fix_indices(m, &u);
  td_vec_push(m->n->arena, &m->use, u);
  return true;
}

static bool note_uses(void *ud, const TdStmt *s) {
  Making *m = ud;
  m->in_call = s->kind == TD_STMT_CALL;
  for (uint32_t i = 0; i < s->nexpr; i++) td_walk_expr(s->expr[i], note_use, m);
  return true;
}

/* Whether two uses of one stream are given the same part of it. */
static bool is_same_part(const Making *m, const Use *x, const Use *y) {
  uint32_t rank = x->view->nkid;
  for (uint32_t i = 0; i < m->c->n; i++)
    for (uint32_t d = 0; d < rank; d++)
      if (m->fixed >> d & 1 && x->at[i * rank + d] != y->at[i * rank + d]) return false;
  return true;
}

/* The streams of a part, whose known indices are x->at, one by one, as t has them. */
static void list_part(Making *m, TdNetArg *x, const TdType *t) {
  size_t rank = (size_t)t->rank, at = 0;
  int64_t extent = 1;
  const int64_t *known = x->at;
  x->listed = 1;
  for (size_t d = 0; d < rank; d++)
    if (!(x->fixed >> d & 1) && td_type_extent(t, (int)d, &extent)) x->listed *= (uint32_t)extent;
  x->at = TD_NEWN(m->n->arena, int64_t, m->c->n * x->listed * rank);
  for (uint32_t i = 0; i < m->c->n; i++)
    for (uint32_t k = 0; k < x->listed; k++, at += rank) {
      uint32_t rest = k;
      for (size_t d = rank; d-- > 0;) {
        x->at[at + d] = known[i * rank + d];
        if (x->fixed >> d & 1 || !td_type_extent(t, (int)d, &extent)) continue;
        x->at[at + d] = rest % (uint32_t)extent;
        rest /= (uint32_t)extent;
      }
    }
}

/* A port for the part of its stream that use u is given: a row, or a list. */
static TdSym add_port(Making *m, const Use *u, const TdStream *s, bool list) {
  TdNet *n = m->n;
  const TdType *t = td_unit_type(n->store->session, n->design, s->type);
  const TdExpr *dim[TD_MAX_RANK];
  TdNetArg x = {.sym = s->sym, .fixed = m->fixed, .at = u->at};
  int rank = 0;
  for (int d = 0; d < t->rank; d++)
    if (!(m->fixed >> d & 1)) dim[rank++] = t->dim[d];
  const TdType *part = td_type_port(n->store->session, t->elem, rank, dim, t->block);
  if (list) list_part(m, &x, t);
  return td_net_port(n, m->c, part, x);
}

/* Whether each instance uses all streams of the row that it is given. */
static bool uses_all(const Making *m, const TdNetLists *l, const TdStream *s) {
  int64_t count = 1, extent;
  for (int d = 0; d < s->type->rank; d++)
    if (!(m->fixed >> d & 1) && td_unit_value(m->n->design, s->type->dim[d], &extent))
      count *= extent;
  return (m->fixed & (m->fixed + 1)) == 0 && l->list.n == 1 && l->list.at[0].listed == count;
}

/* Ports for the streams of s one by one, where that is asked for and they can be told. */
static bool close_listed(Making *m, const TdStream *s) {
  TdNet *n = m->n;
  TdNetLists l = {0};
  for (size_t i = 0; i < m->use.n; i++)
    if (m->use.at[i].view->sym == s->sym &&
        (m->use.at[i].passed || m->use.at[i].view->type->rank || s->type->block))
      return false;
  if (!td_net_list_find(n, m->c, m->skip, s, &l) || uses_all(m, &l, s)) return false;
  TdSym *port = TD_NEWN(n->arena, TdSym, l.list.n + 1);
  for (size_t i = 0; i < l.list.n; i++) {
    TdNetArg x = l.list.at[i];
    const TdExpr *count = td_expr_index(n->store->session, n->store->arena, x.listed, s->loc);
    int rank = x.listed > 1;
    const TdType *token = td_unit_type(n->store->session, n->design, s->type)->elem;
    x.fixed = x.listed > 1 ? 0 : (1u << s->type->rank) - 1;
    if (!rank) x.listed = 0;
    port[i] = td_net_port(n, m->c, td_type_port(n->store->session, token, rank, &count, false), x);
  }
  for (size_t i = 0; i < l.use.n; i++) {
    td_map_putp(n->arena, &m->port, l.use.at[i].view, (void *)(uintptr_t)port[l.use.at[i].list]);
    td_map_putp(n->arena, &m->place, l.use.at[i].view, (void *)(uintptr_t)l.use.at[i].place);
  }
  return true;
}

/* Refuses a use that names no stream of s for some instance, where it never runs: no stream can be
 * given for it. */
static bool check_inside(Making *m, const Use *u, const TdStream *s) {
  TdNet *n = m->n;
  uint32_t rank = u->view->nkid;
  for (uint32_t i = 0; i < m->c->n; i++)
    for (uint32_t d = 0; d < rank; d++) {
      int64_t at = u->at[i * rank + d], extent;
      if (!(m->fixed >> d & 1) || !td_unit_value(n->design, s->type->dim[d], &extent)) continue;
      if (at >= 0 && at < extent) continue;
      return td_net_refuse(n, "stream-slice", u->view->loc,
                           "guard it by an if on the ids alone, so that the task does without it",
                           "%s never comes here, where its index of %s would be %lld",
                           td_net_label(n->arena, m->c, i), s->sym->name, (long long)at);
    }
  return true;
}

/* Ports for the uses of stream s. */
static bool close_stream(Making *m, const TdStream *s) {
  m->fixed = (1u << s->type->rank) - 1;
  for (size_t i = 0; i < m->use.n; i++)
    if (m->use.at[i].view->sym == s->sym) m->fixed &= m->use.at[i].fixed;
  bool list = (m->fixed & (m->fixed + 1)) != 0;
  if (td_net_is_closer(m->n, s->sym) && close_listed(m, s)) return true;
  for (size_t i = 0; i < m->use.n; i++) {
    const Use *u = &m->use.at[i];
    if (u->view->sym != s->sym) continue;
    if (list ? !is_list(m, u, s) : !is_row(m, u->view, s->type))
      return td_net_refuse(
          m->n, "stream-slice", u->view->loc, "pass one stream, or whole rows of the array",
          "%s is given a part of the streams %s that is neither", m->run->sym->name, s->sym->name);
    TdSym port = NULL;
    for (size_t k = 0; k < i && !port; k++)
      if (m->use.at[k].view->sym == s->sym && is_same_part(m, u, &m->use.at[k]))
        port = td_map_getp(&m->port, m->use.at[k].view);
    if (!port && !check_inside(m, u, s)) return false;
    if (!port) port = add_port(m, u, s, list);
    td_map_putp(m->n->arena, &m->port, u->view, (void *)(uintptr_t)port);
  }
  return true;
}

/* The view of a port in place of that of a stream. */
static const TdExpr *to_port(void *ud, const TdExpr *e) {
  Making *m = ud;
  TdSym port = e->kind == TD_EXPR_VIEW ? td_map_getp(&m->port, e) : NULL;
  if (!port) return e;
  const TdExpr *lo[TD_MAX_RANK] = {td_map_getp(&m->place, e)};
  TdViewDim dim[TD_MAX_RANK] = {{.step = 1, .out = -1}};
  int rank = 0;
  if (lo[0]) return td_expr_view(m->n->store->arena, port, e->type, lo, dim, 1, e->loc);
  for (size_t i = 0; i < m->c->kernel->nparam; i++)
    if (m->c->kernel->param[i].sym == port) m->fixed = m->c->arg.at[i].fixed;
  for (uint32_t d = 0; d < e->nkid; d++) {
    if (m->fixed >> d & 1) continue;
    lo[rank] = e->kid[d];
    dim[rank++] = e->u.dim[d];
  }
  return td_expr_view(m->n->store->arena, port, e->type, lo, dim, rank, e->loc);
}

/* s without the scalars that nothing uses any more: the indices of streams that ports stand for. */
static const TdStmt *without_unused(TdStore *st, const TdStmt *s) {
  TdCtx *c = st->session->ctx;
  const TdStmt **kid = TD_NEWN(st->arena, const TdStmt *, s->nkid + 1);
  uint32_t to = s->nkid;
  td_ctx_enter(c);
  for (uint32_t i = s->nkid; i-- > 0;) {
    const TdStmt *k = s->kid[i];
    bool local = k->kind == TD_STMT_LOCAL && k->cls == TD_LOCAL_AUTO && td_type_is_scalar(k->type);
    for (uint32_t r = to; r < s->nkid && local; r++) local = !td_walk_uses(c, kid[r], k->sym);
    if (s->kind != TD_STMT_BLOCK || !local) kid[--to] = without_unused(st, k);
  }
  td_ctx_leave(c);
  bool same = to == 0;
  for (uint32_t i = 0; i < s->nkid && same; i++) same = kid[i] == s->kid[i];
  return same ? s : td_stmt_with_kids(st, s, kid + to, s->nkid - to);
}

/* Notes what body s, a copy of `of`, names where it takes place. */
static void note_live(Making *m, const TdStmt *s, const TdStmt *of) {
  uint64_t fate = TD_FATE_STAYS;
  td_map_get(&m->c->fate, of->uid, &fate);
  if (fate == TD_FATE_GONE) return;
  td_ctx_enter(m->n->store->session->ctx);
  note_uses(m, s);
  for (uint32_t i = 0; i < s->nkid; i++) {
    bool arm = fate == TD_FATE_STAYS || (fate == TD_FATE_ELSE) == (i == 1);
    if (arm) note_live(m, s->kid[i], of->kid[i]);
  }
  td_ctx_leave(m->n->store->session->ctx);
}

/* A port without a stream for a use that never takes place. */
static bool close_dead(void *ud, const TdExpr *e) {
  Making *m = ud;
  TdNet *n = m->n;
  bool stream = e->kind == TD_EXPR_VIEW && e->sym->kind == TD_SYM_STREAM;
  if (!stream || td_unit_param(m->c->kernel, e->sym) || td_map_getp(&m->port, e)) return true;
  if (e->type->rank || e->type->block)
    return td_net_refuse(n, "stream-slice", e->loc, "guard it by an if on the ids alone",
                         "no part of %s can be given for this", e->sym->name);
  const TdType *token = td_unit_type(n->store->session, n->design, td_net_find(n, e->sym)->type);
  TdNetArg x = {.sym = e->sym, .dead = true, .fixed = UINT32_MAX};
  x.at = TD_NEWN(n->arena, int64_t, m->c->n * TD_MAX_RANK);
  TdSym port =
      td_net_port(n, m->c, td_type_port(n->store->session, token->elem, 0, NULL, false), x);
  td_map_putp(n->arena, &m->port, e, (void *)(uintptr_t)port);
  return true;
}
static bool close_all_dead(void *ud, const TdStmt *s) {
  Making *m = ud;
  for (uint32_t i = 0; i < s->nexpr; i++) td_walk_expr(s->expr[i], close_dead, m);
  return !td_diag_failed(m->n->diag);
}

/* Closes the body over the streams of the design. */
static bool close_streams(Making *m) {
  TdNet *n = m->n;
  TdUnit *u = m->c->kernel;
  if (m->c->kept)
    note_live(m, u->body, m->c->kept);
  else
    td_walk_stmt(n->store->session->ctx, u->body, note_uses, m);
  for (size_t i = 0; i < n->design->nstream; i++)
    if (!close_stream(m, &n->design->stream[i])) return false;
  if (m->c->kept && !td_walk_stmt(n->store->session->ctx, u->body, close_all_dead, m)) return false;
  const TdStmt *body = td_walk_map(n->store, u->body, to_port, m);
  u->body = body == u->body || m->c->kept ? body : without_unused(n->store, body);
  return true;
}

static const TdRunArg *bound(const TdRun *r, TdSym param) {
  for (size_t i = 0; i < r->nbind; i++)
    if (r->bind[i].param == param) return &r->bind[i];
  return NULL;
}

/* Keeps the parameters that the body uses, each with the argument that it is bound to. */
static bool keep_params(Making *m) {
  TdNet *n = m->n;
  TdUnit *u = m->c->kernel;
  TdParam *list = TD_NEWN(n->store->arena, TdParam, u->nparam + 1);
  size_t count = 0;
  for (size_t i = 0; i < u->nparam; i++) {
    const TdParam *x = &u->param[i];
    const TdRunArg *b = bound(m->run, x->sym);
    if (!td_walk_uses(n->store->session->ctx, u->body, x->sym)) continue;
    if (!b || (x->type->kind == TD_T_PORT && !n->outside))
      return td_net_refuse(n, "unbound-parameter", x->loc, "bind it to an argument of the design",
                           "parameter %s of %s has no argument", x->sym->name, m->run->sym->name);
    list[count++] = *x;
    TdNetArg arg = {.sym = b->arg, .layout = b->layout};
    if (x->type->kind == TD_T_PORT) arg.at = TD_NEWN(n->arena, int64_t, m->c->n * TD_MAX_RANK);
    td_vec_push(n->arena, &m->c->arg, arg);
  }
  u->param = list;
  u->nparam = count;
  return true;
}

/* Whether state belongs to body s of a kernel or to what it calls. */
static bool has_state(TdNet *n, const TdStmt *s) {
  bool found = s->kind == TD_STMT_LOCAL && s->cls == TD_LOCAL_STATE;
  const TdUnit *f = s->kind == TD_STMT_CALL ? td_prog_unit(n->prog, s->sym) : NULL;
  td_ctx_enter(n->store->session->ctx);
  if (f && f->body) found = has_state(n, f->body);
  for (size_t i = 0; f && i < f->nrun && !found; i++)
    found = has_state(n, td_prog_unit(n->prog, f->run[i].unit)->body);
  for (uint32_t i = 0; i < s->nkid && !found; i++) found = has_state(n, s->kid[i]);
  td_ctx_leave(n->store->session->ctx);
  return found;
}

/* Gives the kernel a coordinate for each id, with their values. */
static void add_coords(Making *m) {
  TdNet *n = m->n;
  TdUnit *u = m->c->kernel;
  size_t rank = (size_t)m->c->rank;
  TdSym *list = TD_NEWN(n->store->arena, TdSym, rank + 1);
  for (size_t d = 0; d < rank; d++)
    list[d] = d >= m->skip
                  ? u->coord[d - m->skip]
                  : td_store_sym(n->store, td_text_fmt(n->arena, "id%zu", d), TD_SYM_COORD);
  u->coord = list;
  u->ncoord = rank;
  m->c->coord = m->c->id;
}

/* What the body of kernel u does to its memory and streams. */
static size_t effects_of(TdNet *n, const TdUnit *u, const TdEffect **e) {
  TdAsk q = {.affine = td_affine_new(n->arena), .arena = n->arena, .prog = n->prog, .unit = u};
  return td_effects_of(&q, u->body, e);
}

/* Tells each argument what the class does to it. */
static void note_effects(Making *m, uint64_t replica) {
  const TdUnit *u = m->c->kernel;
  const TdEffect *e;
  size_t ne = effects_of(m->n, u, &e);
  for (size_t i = 0; i < u->nparam; i++) {
    TdNetArg *x = &m->c->arg.at[i];
    for (size_t k = 0; k < ne; k++) {
      if (e[k].sym != u->param[i].sym) continue;
      x->put |= e[k].kind == TD_CELL_PUT || (e[k].kind == TD_CELL_MEMORY && e[k].write);
      x->get |= e[k].kind == TD_CELL_GET || (e[k].kind == TD_CELL_MEMORY && e[k].read);
    }
    if (x->dead) x->put = x->get = false;
    const TdRunArg *b = bound(m->run, u->param[i].sym);
    x->stored = x->put && !(b && replica >> (b - m->run->bind) & 1);
  }
}

/* A run, its classes, and where each instance goes. */
typedef struct Split {
  const TdRun *run;
  TdClasses x;
  uint64_t written; /* one bit for each bind whose parameter is written */
  uint64_t *mask;   /* of each instance: the binds whose blocks another instance stores */
  uint64_t *shape;  /* of each instance: a hash of the extents of what it writes in, or 0 */
  uint32_t *cls, *place;
} Split;

/* The binds whose parameters the kernel writes. */
static uint64_t written_binds(TdNet *n, const TdRun *r) {
  const TdEffect *e;
  size_t ne = effects_of(n, td_prog_unit(n->prog, r->unit), &e);
  uint64_t written = 0;
  for (size_t i = 0; i < r->nbind && i < 64; i++) {
    const TdEffect *f = td_effects_find(e, ne, r->bind[i].param);
    if (f && f->write) written |= (uint64_t)1 << i;
  }
  return written;
}

/* The written blocks of which instance `id` holds a copy that the first of its like stores. */
static uint64_t replicas(const Split *s, const int64_t *id) {
  const TdRun *r = s->run;
  uint64_t mask = 0;
  for (size_t i = 0; i < r->nbind && i < 64; i++) {
    unsigned named = 0;
    const char *word = r->bind[i].layout;
    if (!word || !(s->written >> i & 1)) continue;
    for (; *word; word++)
      if (*word >= '0' && *word <= '9') named |= 1u << (*word - '0');
    for (int k = 0; k < r->rank; k++)
      if (!(named >> k & 1) && id[k] != 0) mask |= (uint64_t)1 << i;
  }
  return mask;
}

/* Whether two instances of a class are served by one function. */
static bool is_alike(const Split *s, uint32_t i, uint32_t k) {
  return s->mask[i] == s->mask[k] && s->shape[i] == s->shape[k];
}

/* Whether the instances of class c have few shapes. */
static bool has_few_shapes(const Split *s, uint32_t c) {
  enum { MOST_SHAPES = 16 };
  uint64_t seen[MOST_SHAPES];
  size_t n = 0, k;
  for (uint32_t i = s->x.first[c]; i != UINT32_MAX; i = td_classes_next(&s->x, c, i)) {
    for (k = 0; k < n && seen[k] != s->shape[i];) k++;
    if (k == MOST_SHAPES) return false;
    if (k == n) seen[n++] = s->shape[i];
  }
  return true;
}

/* Tells apart instances of class c that write in boxes of other extents, as at the ragged end of an
 * argument that boxes of one size do not tell apart. */
static void find_shapes(TdNet *n, Split *s, uint32_t c) {
  const TdRun *r = s->run;
  TdUnit *u = td_unit_copy(n->store, td_prog_unit(n->prog, r->unit));
  u->body = td_specialise_body(n->arena, n->prog, n->design, r, s->x.first[c]);
  TdNetFacts f = td_net_facts_of(n->arena, n->store->session, u);
  size_t skip = (size_t)r->rank > u->ncoord ? (size_t)r->rank - u->ncoord : 0;
  for (size_t b = 0; b < r->nbind && b < 64; b++) {
    bool asked = s->written >> b & 1 && !r->bind[b].layout;
    if (!asked || !td_net_is_closer(n, r->bind[b].arg)) continue;
    const TdType *t = td_unit_type(n->store->session, u, td_unit_param(u, r->bind[b].param)->type);
    if (!t || t->kind != TD_T_TENSOR) continue;
    for (uint32_t i = s->x.first[c]; i != UINT32_MAX; i = td_classes_next(&s->x, c, i)) {
      int64_t id[TD_MAX_RANK];
      TdNetBox box = {.step = {0}};
      td_classes_ids(n->design, r, i, id);
      bool any = td_net_box_of(n, &f, r->bind[b].param, t, id + skip, &box);
      for (int d = 0; d < t->rank; d++)
        s->shape[i] = td_map_mix(s->shape[i], any ? (uint64_t)(box.hi[d] - box.lo[d]) + 1 : 0);
    }
  }
  if (has_few_shapes(s, c)) return;
  for (uint32_t i = s->x.first[c]; i != UINT32_MAX; i = td_classes_next(&s->x, c, i))
    s->shape[i] = 0;
}

/* Makes a class of the instances of class c, from `first` on, that are like `first`. */
static bool make(TdNet *n, Split *s, uint32_t c, uint32_t first) {
  const TdRun *r = s->run;
  Making m = {.n = n, .run = r, .c = TD_NEW(n->arena, TdNetClass)};
  const TdUnit *of = td_prog_unit(n->prog, r->unit);
  TdNetClass *k = m.c;
  int64_t *id = TD_NEWN(n->arena, int64_t, s->x.count[c] * (size_t)r->rank + 1);
  *k = (TdNetClass){.task = r->sym->name, .rank = r->rank, .id = id};
  for (uint32_t i = first; i != UINT32_MAX; i = td_classes_next(&s->x, c, i)) {
    if (!is_alike(s, i, first)) continue;
    td_classes_ids(n->design, r, i, id + k->n * (uint32_t)r->rank);
    s->cls[i] = (uint32_t)n->cls.n;
    s->place[i] = k->n++;
  }
  k->kernel = td_unit_copy(n->store, of);
  k->kernel->sym = td_store_sym(n->store, r->sym->name, TD_SYM_UNIT);
  if (n->keep && n->keep[n->cls.n]) k->kept = of->body;
  if (!td_classes_fates(n->arena, n->prog, n->design, r, first, &k->fate)) return false;
  const TdStmt *body =
      k->kept ? k->kept : td_specialise_body(n->arena, n->prog, n->design, r, first);
  k->kernel->body = td_walk_copy(n->store, body, NULL);
  m.facts = td_net_facts_of(n->arena, n->store->session, k->kernel);
  m.skip = (size_t)r->rank > of->ncoord ? (size_t)r->rank - of->ncoord : 0;
  if (!keep_params(&m) || !close_streams(&m)) return false;
  k->is_stateful = has_state(n, k->kernel->body);
  add_coords(&m);
  td_net_settle(n, k);
  note_effects(&m, s->mask[first]);
  td_vec_push(n->arena, &n->cls, k);
  return true;
}

/* Makes the classes of the network that class c falls into. */
static bool make_all(TdNet *n, Split *s, uint32_t c) {
  for (uint32_t i = s->x.first[c]; i != UINT32_MAX; i = td_classes_next(&s->x, c, i))
    if (s->cls[i] == UINT32_MAX && !make(n, s, c, i)) return false;
  return true;
}

bool td_net_class_add(TdNet *n, const TdRun *r) {
  Split s = {.run = r};
  if (!td_classes_of(n->arena, n->prog, n->design, r, &s.x))
    return td_net_refuse(n, "unbound-size", r->loc, td_unit_help_sizes(n->store->arena, n->design),
                         "the map of %s has no extents", r->sym->name);
  if (n->call.n + s.x.instances > MOST_CALLS)
    return td_net_refuse(n, "instances", r->loc, "fold the map: bundle, or a smaller grid",
                         "%s has more instances than a region may call", r->sym->name);
  s.written = written_binds(n, r);
  s.cls = TD_NEWN(n->arena, uint32_t, s.x.instances);
  s.place = TD_NEWN(n->arena, uint32_t, s.x.instances);
  s.mask = TD_NEWN(n->arena, uint64_t, s.x.instances);
  s.shape = TD_NEWN(n->arena, uint64_t, s.x.instances);
  for (uint32_t i = 0; i < s.x.instances; i++) {
    int64_t id[TD_MAX_RANK];
    td_classes_ids(n->design, r, i, id);
    s.mask[i] = replicas(&s, id);
    s.cls[i] = UINT32_MAX;
  }
  for (uint32_t c = 0; c < s.x.n; c++) {
    find_shapes(n, &s, c);
    if (!make_all(n, &s, c)) return false;
  }
  for (uint32_t i = 0; i < s.x.instances; i++)
    if (s.x.of[i] != TD_CLASSES_EMPTY)
      td_vec_push(n->arena, &n->call, ((TdNetCall){s.cls[i], s.place[i]}));
  return true;
}
