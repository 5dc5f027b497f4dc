/* region.c - designs as dataflow regions: their networks, written as calls. */
#include "lower/net/region.h"

/* The program under way: units that are done, then those that are not. */
typedef struct Regions {
  TdArena *arena;
  TdStore *store;
  TdDiag *diag;
  TdNetRegions *out;
  TD_VEC(const TdUnit *) done;
} Regions;

/* The streams of which the dimensions in `fixed` have the indices `at`, for parameter k of a class.
 */
static const TdExpr *part_of(const TdNet *n, const TdNetClass *c, size_t k, const int64_t *at,
                             uint32_t fixed) {
  TdArena *a = n->store->arena;
  const TdStream *s = td_net_find(n, c->arg.at[k].sym);
  const TdExpr *lo[TD_MAX_RANK];
  TdViewDim dim[TD_MAX_RANK];
  for (int d = 0, out = 0; d < s->type->rank; d++) {
    bool one = fixed >> d & 1;
    lo[d] = td_expr_index(n->store->session, a, one ? at[d] : 0, s->loc);
    dim[d] = (TdViewDim){.step = 1, .out = one ? -1 : out++};
  }
  return td_expr_view(a, s->sym, c->kernel->param[k].type, lo, dim, s->type->rank, s->loc);
}

/* What instance i of a class is given for its parameter k; of listed streams the first. */
static const TdExpr *argument(const TdNet *n, const TdNetClass *c, uint32_t i, size_t k) {
  TdSession *s = n->store->session;
  TdArena *a = n->store->arena;
  const TdNetArg *x = &c->arg.at[k];
  const TdStream *stream = td_net_find(n, x->sym);
  if (!stream) {
    const TdParam *p = td_unit_param(n->design, x->sym);
    if (p->type->kind != TD_T_TENSOR) return td_expr_var(a, p->sym, p->type, p->loc);
    return td_expr_whole(s, a, p->sym, p->type, p->loc);
  }
  size_t at = (size_t)i * (x->listed ? x->listed : 1) * (size_t)stream->type->rank;
  return part_of(n, c, k, x->at + at, x->listed ? UINT32_MAX : x->fixed);
}

/* A call: the arguments, then the coordinates. */
static const TdStmt *call_of(const TdNet *n, const TdNetCall *call) {
  const TdNetClass *c = n->cls.at[call->cls];
  const TdUnit *k = c->kernel;
  const TdExpr **arg = TD_NEWN(n->arena, const TdExpr *, k->nparam + k->ncoord + 1);
  for (size_t i = 0; i < k->nparam; i++) arg[i] = argument(n, c, call->instance, i);
  for (size_t i = 0; i < k->ncoord; i++)
    arg[k->nparam + i] = td_expr_index(n->store->session, n->store->arena,
                                       c->coord[call->instance * k->ncoord + i], k->loc);
  return td_stmt_call(n->store, k->sym, arg, k->nparam + k->ncoord, k->loc);
}

/* The streams that a call lists. */
static TdNetGiven *given_of(const TdNet *n, const TdNetCall *call) {
  const TdNetClass *c = n->cls.at[call->cls];
  TdNetGiven *all = TD_NEWN(n->arena, TdNetGiven, c->arg.n + 1);
  for (size_t k = 0; k < c->arg.n; k++) {
    const TdNetArg *x = &c->arg.at[k];
    if (!x->listed) continue;
    size_t rank = (size_t)td_net_find(n, x->sym)->type->rank;
    all[k] = (TdNetGiven){x->listed, TD_NEWN(n->arena, const TdExpr *, x->listed)};
    for (uint32_t i = 0; i < x->listed; i++)
      all[k].at[i] =
          part_of(n, c, k, x->at + (call->instance * (size_t)x->listed + i) * rank, UINT32_MAX);
  }
  return all;
}

/* A unit that may be called. */
typedef struct Called {
  TdSym sym;
  bool other; /* nothing calls it */
} Called;

static bool is_other(void *ud, const TdStmt *s) {
  Called *c = ud;
  if (s->kind == TD_STMT_CALL && s->sym == c->sym) c->other = false;
  return c->other;
}

/* Whether a task calls no region with state, itself or through kernels: each of its instances would
 * need its own. */
static bool check_state(TdNet *n, const TdNetRegions *known, const TdNetClass *c, const TdStmt *s) {
  const TdNetRegion *r = s->kind == TD_STMT_CALL ? td_map_getp(&known->region, s->sym) : NULL;
  if (r && r->is_stateful)
    return td_net_refuse(n, "inner-state", s->loc, "keep the state in the task that calls it",
                         "%s runs a design whose tasks have state", c->task);
  const TdUnit *f = s->kind == TD_STMT_CALL && !r ? td_prog_unit(n->prog, s->sym) : NULL;
  td_ctx_enter(n->store->session->ctx);
  bool ok = !f || !f->body || check_state(n, known, c, f->body);
  for (uint32_t i = 0; i < s->nkid && ok; i++) ok = check_state(n, known, c, s->kid[i]);
  td_ctx_leave(n->store->session->ctx);
  return ok;
}

/* How many units of p call the unit of a symbol, of which one is told. */
static int callers(TdNet *n, const TdProg *p, TdSym sym, const TdUnit **one) {
  int count = 0;
  for (size_t i = 0; i < p->nunit; i++) {
    Called c = {sym, true};
    if (p->unit[i]->body) td_walk_stmt(n->store->session->ctx, p->unit[i]->body, is_other, &c);
    if (!c.other) count++, *one = p->unit[i];
  }
  return count;
}

/* Whether the region that `design` is, which has state, is called by one path of kernels alone: its
 * states are those of one function. */
static bool check_paths(TdNet *n) {
  const TdUnit *u = n->design;
  for (int count; (count = callers(n, n->prog, u->sym, &u)) > 0;)
    if (count > 1)
      return td_net_refuse(n, "inner-state", n->design->loc, "call it from one kernel",
                           "%s has state, and more than one kernel leads to it",
                           n->design->sym->name);
  return true;
}

/* The parameters of the design, each with the latency of its memory as tasks say it. */
static const TdParam *params_of(const TdNet *n) {
  const TdUnit *d = n->design;
  TdArena *a = n->store->arena;
  TdParam *list = td_arena_copy(a, d->param, d->nparam * sizeof *list);
  for (size_t r = 0; r < d->nrun; r++) {
    const TdUnit *k = td_prog_unit(n->prog, d->run[r].unit);
    for (size_t b = 0; b < d->run[r].nbind; b++) {
      const TdRunArg *bind = &d->run[r].bind[b];
      const TdAttr *own = td_attrs_get(td_unit_param(k, bind->param)->attrs, TD_ATTR_LATENCY);
      for (size_t i = 0; own && i < d->nparam; i++)
        if (list[i].sym == bind->arg && !td_attrs_get(list[i].attrs, TD_ATTR_LATENCY))
          list[i].attrs = td_attrs_add(a, list[i].attrs, *own);
    }
  }
  return list;
}

/* The network as a unit, after the kernels that it calls. */
static void finish(Regions *r, TdNet *n) {
  TdNetRegion *out = TD_NEW(r->arena, TdNetRegion);
  const TdStmt **call = TD_NEWN(r->arena, const TdStmt *, n->call.n + 1);
  out->label = TD_NEWN(r->arena, const char *, n->call.n + 1);
  out->given = TD_NEWN(r->arena, TdNetGiven *, n->call.n + 1);
  for (size_t i = 0; i < n->cls.n; i++) {
    TdNetClass *c = n->cls.at[i];
    td_map_putp(r->arena, &r->out->task, c->kernel->sym, c);
    out->is_stateful |= c->is_stateful;
    td_vec_push(r->arena, &r->done, c->kernel);
  }
  for (size_t i = 0; i < n->call.n; i++) {
    call[i] = call_of(n, &n->call.at[i]);
    out->given[i] = given_of(n, &n->call.at[i]);
    out->label[i] = td_net_label(r->arena, n->cls.at[n->call.at[i].cls], n->call.at[i].instance);
  }
  TdUnit *u = td_unit_copy(r->store, n->design);
  u->kind = TD_UNIT_KERNEL;
  u->param = params_of(n);
  u->stream = td_arena_copy(r->store->arena, n->stream.at, n->stream.n * sizeof *u->stream);
  u->nstream = n->stream.n;
  u->nrun = 0;
  u->body = td_stmt_block(r->store, call, n->call.n, u->loc);
  out->feedback = n->feedback.at;
  out->nfeedback = n->feedback.n;
  td_map_putp(r->arena, &r->out->region, u->sym, out);
  td_vec_push(r->arena, &r->done, u);
}

/* Whether the streams of the design have extents, and none comes from outside. */
static bool check_streams(TdNet *n) {
  const TdUnit *u = n->design;
  for (size_t i = 0; i < u->nparam; i++)
    if (u->param[i].type->kind == TD_T_PORT && !n->outside)
      return td_net_refuse(n, "no-streams", u->param[i].loc, "give it arrays",
                           "%s takes streams from outside", u->sym->name);
  for (size_t i = 0; i < u->nstream; i++) {
    int64_t depth;
    if (!td_unit_type(n->store->session, u, u->stream[i].type) ||
        !td_unit_value(u, u->stream[i].depth, &depth))
      return td_net_refuse(n, "unbound-size", u->stream[i].loc,
                           td_unit_help_sizes(n->store->arena, u), "stream %s has no extents",
                           u->stream[i].sym->name);
  }
  return true;
}

/* Makes the network of n's design. */
static bool make_network(void *ud, TdNet *n) {
  Regions *r = ud;
  if (!check_streams(n)) return false;
  td_net_open(n);
  td_net_cut(n);
  for (size_t i = 0; i < n->design->nstream; i++)
    td_vec_push(r->arena, &n->stream, n->design->stream[i]);
  td_net_banks(n);
  for (size_t i = 0; i < n->design->nrun; i++)
    if (!td_net_class_add(n, &n->design->run[i])) return false;
  for (size_t i = 0; i < n->cls.n; i++)
    if (!check_state(n, r->out, n->cls.at[i], n->cls.at[i]->kernel->body)) return false;
  bool stateful = false;
  for (size_t i = 0; i < n->cls.n; i++) stateful |= n->cls.at[i]->is_stateful;
  return (!stateful || check_paths(n)) && td_net_share(n) && td_net_order(n);
}

/* Fills n, which says what it is of: the classes of its design alone, each end of a stream held by
 * one instance. */
static bool make_classes(void *ud, TdNet *n) {
  (void)ud;
  if (!check_streams(n)) return false;
  for (size_t i = 0; i < n->design->nparam && n->outside; i++) {
    const TdParam *p = &n->design->param[i];
    if (p->type->kind != TD_T_PORT) continue;
    TdStream x = {.sym = p->sym, .loc = p->loc, .type = p->type, .attrs = p->attrs};
    td_vec_push(n->arena, &n->stream, x);
  }
  for (size_t i = 0; i < n->design->nstream; i++)
    td_vec_push(n->arena, &n->stream, n->design->stream[i]);
  for (size_t i = 0; i < n->design->nrun; i++)
    if (!td_net_class_add(n, &n->design->run[i])) return false;
  return td_net_ends(n);
}

/* Makes a network of what `of` says. What one does not tell apart is looked at more closely in the
 * next; false: refused. */
static bool settle(const TdNet *of, bool (*make)(void *ud, TdNet *n), void *ud, TdNet *out) {
  TdMap closer = {0};
  do {
    *out = *of;
    out->closer = &closer;
    if (make(ud, out)) return true;
  } while (out->again);
  return false;
}

bool td_net_classes(TdNet *n) {
  const TdNet of = *n;
  return settle(&of, make_classes, NULL, n);
}

/* Makes a region of design u; the designs that it calls are regions in `prog`. */
static bool lower(Regions *r, const TdProg *prog, const TdUnit *u) {
  const TdNet of = {
      .store = r->store, .arena = r->arena, .prog = prog, .design = u, .diag = r->diag};
  TdNet n;
  if (!settle(&of, make_network, r, &n)) return false;
  finish(r, &n);
  return true;
}

const TdProg *td_net_region_prog(TdArena *a, const TdProg *p, TdNetRegions *out, TdDiag *d) {
  Regions r = {.arena = a, .store = p->store, .diag = d, .out = out};
  for (size_t i = 0; i < p->nunit; i++) {
    if (p->unit[i]->kind != TD_UNIT_DESIGN) {
      td_vec_push(a, &r.done, p->unit[i]);
      continue;
    }
    const TdUnit **all = TD_NEWN(a, const TdUnit *, r.done.n + p->nunit - i);
    size_t n = 0;
    for (size_t k = 0; k < r.done.n; k++) all[n++] = r.done.at[k];
    for (size_t k = i; k < p->nunit; k++) all[n++] = p->unit[k];
    if (!lower(&r, td_prog_new(p->store, all, n), p->unit[i])) return NULL;
  }
  return td_prog_new(p->store, r.done.at, r.done.n);
}
