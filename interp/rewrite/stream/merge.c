/* merge.c - merge: streams between the same two instances become one, along an axis of their array
 * or from a list of arrays. Legal where both ends move the tokens of all of them in one order: what
 * each instance does to streams is followed without data, and the orders of the ends are compared
 * token by token. Then every get finds the token that it found before. */
#include "analysis/net/ends.h"
#include "rewrite/stream/stream.h"

enum { STREAM, AXIS, FACTOR, DEPTH };
enum { MOST_TOKENS = 1 << 24 };

/* A token that an end moves: which of the merged streams it was of, and the statement. */
typedef struct Token {
  uint32_t chan;
  const TdStmt *stmt;
} Token;

/* The streams that become one, and the order of their tokens at both ends. */
typedef struct Group {
  uint32_t first; /* of its streams, which names it to the user */
  uint32_t end[2];
  TD_VEC(Token) put, get;
  TD_VEC(Token) slot; /* buffers in the order in which they are taken */
} Group;

typedef struct Merge {
  TdRewrite *r;
  const TdUnit *design;
  TD_VEC(const TdStream *) stream; /* the first stays */
  int axis;                        /* along which streams become one, or -1 */
  int64_t factor;                  /* so many neighbours; 0: all, and the axis goes */
  int64_t depth;
  TdTraffic *net;
  const TdEnds *ends;
  uint32_t *group_of; /* of each channel of the net; NONE: not merged */
  TD_VEC(Group) group;
  uint64_t tokens; /* that were followed */
} Merge;

static bool refuse(const Merge *m, TdDiagKind kind, const char *code, TdLoc loc, const char *why) {
  td_util_refuse(m->r, kind, code, loc, "'%s' %s", m->stream.at[0]->sym->name, why);
  return false;
}

/* ---- which streams ---- */

static bool is_merged(const Merge *m, TdSym sym) {
  for (size_t i = 0; i < m->stream.n; i++)
    if (m->stream.at[i]->sym == sym) return true;
  return false;
}

/* Whether two streams carry the same tokens in arrays of the same extents. */
static bool is_alike(const Merge *m, const TdType *x, const TdType *y) {
  bool same = x->block == y->block && x->elem == y->elem && x->rank == y->rank;
  for (int d = 0; same && d < x->rank; d++) {
    int64_t less;
    same = td_lin_diff(m->r->session, x->dim[d], y->dim[d], &less) && less == 0;
  }
  return same;
}

/* Finds the streams by name; the first of them tells the design. */
static bool find_streams(Merge *m) {
  TdRewrite *r = m->r;
  const TdArgValue *v = &r->arg[STREAM], *axis = &r->arg[AXIS];
  TdLoc none = {0};
  for (size_t i = 0; i < v->n; i++) {
    TdStreamAt at;
    if (!td_stream_find(r, v->names[i], &at)) return false;
    const TdStream *s = &at.design->stream[at.at];
    if (is_merged(m, s->sym)) return refuse(m, TD_USAGE, "names", s->loc, "is named twice");
    if (i > 0 && (at.design != m->design || !is_alike(m, m->stream.at[0]->type, s->type))) {
      td_util_refuse(r, TD_ILLEGAL, "type", s->loc,
                     "'%s' and '%s' are not arrays of one shape, of tokens of one type",
                     m->stream.at[0]->sym->name, s->sym->name);
      return false;
    }
    m->design = at.design;
    td_vec_push(r->arena, &m->stream, s);
  }
  if (!m->stream.n || (m->stream.n == 1 && !axis->given)) {
    td_util_refuse(r, TD_USAGE, "axis", none, "one stream is merged along an axis of its array");
    td_diag_help(r->diag, "merge(\"Z\", {axis = 0}), or merge({\"Z\", \"Y\"})");
    return false;
  }
  return true;
}

/* ---- whose ends are whose ---- */

/* Reads along which axis, and how many; the array has streams. */
static bool find_axis(Merge *m) {
  TdRewrite *r = m->r;
  const TdStream *s = m->stream.at[0];
  const TdArgValue *axis = &r->arg[AXIS], *factor = &r->arg[FACTOR];
  int64_t n = 0;
  if (axis->given && (axis->integer < 0 || axis->integer >= s->type->rank)) {
    td_util_refuse(r, TD_USAGE, "axis", s->loc, "'%s' has %d axes, from 0 on", s->sym->name,
                   s->type->rank);
    return false;
  }
  m->axis = axis->given ? (int)axis->integer : -1;
  if (!factor->given) return true;
  if (!axis->given) return refuse(m, TD_USAGE, "axis", s->loc, "has neighbours along an axis");
  if (td_unit_value(m->design, s->type->dim[m->axis], &n) && factor->integer >= 1 &&
      n % factor->integer == 0) {
    m->factor = factor->integer == n ? 0 : factor->integer;
    return true;
  }
  td_util_refuse(r, TD_USAGE, "factor", s->loc, "%lld does not divide the axis of '%s', %lld",
                 (long long)factor->integer, s->sym->name, (long long)n);
  return false;
}

/* The number of an array's element among those that are left. */
static int64_t key_of(const Merge *m, const TdType *array, int64_t ordinal) {
  int64_t inner = 1, extent = 1;
  if (m->axis < 0) return ordinal;
  for (int d = array->rank; d-- > m->axis;) {
    inner *= extent;
    td_type_extent(array, d, &extent);
  }
  int64_t by = m->factor ? m->factor : extent, at = ordinal / inner;
  return at / extent * (extent / by) * inner + at % extent / by * inner + ordinal % inner;
}

/* Refuses where an end of channel c is not at the instance that has those of its group. */
static bool refuse_end(const Merge *m, const Group *g, uint32_t c, bool put) {
  TdArena *a = m->r->diag->arena;
  uint32_t at[2] = {g->first, c};
  td_util_refuse(m->r, TD_ILLEGAL, "ends", m->stream.at[0]->loc, "%s and %s have different %s",
                 td_traffic_chan_name(a, m->net, at[0]), td_traffic_chan_name(a, m->net, at[1]),
                 put ? "producers" : "consumers");
  for (int i = 0; i < 2; i++) {
    const TdEnds *e = &m->ends[at[i]];
    uint32_t inst = put ? e->producer : e->consumer;
    td_diag_note(m->r->diag, td_traffic_stmt(m->net, inst, at[i], put)->loc, "%s %s %s here",
                 td_traffic_inst_name(a, m->net, inst), put ? "puts to" : "gets from",
                 td_traffic_chan_name(a, m->net, at[i]));
  }
  return false;
}

/* Puts the channels that become one into groups; each group has its ends at two instances. */
static bool find_groups(Merge *m) {
  TdArena *a = m->r->arena;
  TdTraffic *n = m->net;
  TdMap group = {0};
  m->group_of = TD_NEWN(a, uint32_t, n->chan.n + 1);
  for (uint32_t c = 0; c < n->chan.n; c++) {
    const TdLine *line = &n->line.at[n->chan.at[c].line];
    uint64_t at;
    m->group_of[c] = TD_TRAFFIC_NONE;
    if (n->chan.at[c].group != 0 || !is_merged(m, line->sym)) continue;
    m->depth = line->depth > m->depth ? line->depth : m->depth;
    if (m->ends[c].producer == TD_TRAFFIC_NONE) continue;
    uint64_t key = (uint64_t)key_of(m, line->type, n->chan.at[c].ordinal);
    if (!td_map_get(&group, key, &at)) {
      Group g = {.first = c, .end = {m->ends[c].producer, m->ends[c].consumer}};
      at = m->group.n;
      td_map_put(a, &group, key, at);
      td_vec_push(a, &m->group, g);
    }
    const Group *g = &m->group.at[at];
    if (m->ends[c].producer != g->end[0]) return refuse_end(m, g, c, true);
    if (m->ends[c].consumer != g->end[1]) return refuse_end(m, g, c, false);
    m->group_of[c] = (uint32_t)at;
  }
  return true;
}

/* ---- the order of tokens ---- */

static bool touches(const Merge *m, const TdMove *x) {
  for (size_t i = 0; i < x->ncount; i++)
    if (m->group_of[x->count[i].channel] != TD_TRAFFIC_NONE) return true;
  return false;
}

static bool note_move(Merge *m, const TdMove *x) {
  TdArena *a = m->net->arena;
  uint32_t at = m->group_of[x->at];
  if (at == TD_TRAFFIC_NONE) return true;
  Group *g = &m->group.at[at];
  Token t = {x->at, x->stmt};
  if (++m->tokens > MOST_TOKENS)
    return refuse(m, TD_LIMIT, "order", x->stmt->loc, "has more tokens than are followed");
  if (x->kind == TD_MOVE_PUT || x->kind == TD_MOVE_HAND) td_vec_push(a, &g->put, t);
  if (x->kind == TD_MOVE_PUT || x->kind == TD_MOVE_SLOT) td_vec_push(a, &g->slot, t);
  if (x->kind == TD_MOVE_GET || x->kind == TD_MOVE_HOLD) td_vec_push(a, &g->get, t);
  return true;
}

static const TdStmt *first_stmt(const TdMove *x) {
  while (!x->stmt && x->n) x = x->kid[0];
  return x->stmt;
}

/* Notes what x moves of the merged streams, in its order. */
static bool follow(Merge *m, const TdMove *x) {
  td_ctx_tick(m->r->session->ctx, 1);
  if (x->kind < TD_MOVE_JOIN) return note_move(m, x);
  if (!touches(m, x)) return true;
  if (x->kind == TD_MOVE_SEQ) {
    for (uint32_t i = 0; i < x->n; i++)
      if (!follow(m, x->kid[i])) return false;
    return true;
  }
  if (x->kind == TD_MOVE_REPEAT && x->lo == x->hi) {
    for (int64_t i = 0; i < x->lo; i++)
      if (!follow(m, x->kid[0])) return false;
    return true;
  }
  const TdStmt *s = first_stmt(x);
  return refuse(m, TD_ILLEGAL, "data", s ? s->loc : m->stream.at[0]->loc,
                x->kind == TD_MOVE_FORK ? "is moved in a design of its own"
                                        : "is moved in an order that the data decides");
}

/* Refuses two orders of one group at their first difference. */
static bool refuse_order(const Merge *m, size_t n, const Token *x, const Token *y,
                         const char *verb) {
  TdArena *a = m->r->diag->arena;
  const TdTraffic *net = m->net;
  td_util_refuse(m->r, TD_ILLEGAL, "order", y->stmt->loc,
                 "token %zu that is put goes to %s, and token %zu that is %s is of %s", n,
                 td_traffic_chan_name(a, net, x->chan), n, verb,
                 td_traffic_chan_name(a, net, y->chan));
  td_diag_note(m->r->diag, x->stmt->loc, "it is put here");
  return false;
}

/* Whether both ends of each group move its tokens in one order. */
static bool check_order(Merge *m) {
  for (uint32_t i = 0; i < m->net->group.at[0].n; i++)
    if (!follow(m, m->net->inst.at[i].move)) return false;
  for (size_t k = 0; k < m->group.n; k++) {
    const Group *g = &m->group.at[k];
    for (size_t i = 0; i < g->put.n && i < g->get.n; i++)
      if (g->put.at[i].chan != g->get.at[i].chan)
        return refuse_order(m, i, &g->put.at[i], &g->get.at[i], "got");
    for (size_t i = 0; i < g->put.n && i < g->slot.n; i++)
      if (g->put.at[i].chan != g->slot.at[i].chan)
        return refuse_order(m, i, &g->put.at[i], &g->slot.at[i], "begun");
  }
  return true;
}

/* ---- the step ---- */

/* e, an index at statement `at` of unit u, by the factor: what is less than it falls away. */
static const TdExpr *over_factor(const Merge *m, const TdUnit *u, const TdStmt *at,
                                 const TdExpr *e) {
  TdSession *ss = m->r->session;
  TdArena *a = m->r->store->arena;
  TdLin all = td_lin_of(ss, a, e), whole = {0}, rest = {.constant = all.constant};
  TdAsk q = td_util_ask(m->r, u);
  int64_t lo, hi;
  whole.term = TD_NEWN(a, TdTerm, all.n + 1);
  rest.term = TD_NEWN(a, TdTerm, all.n + 1);
  for (size_t i = 0; i < all.n; i++) {
    TdLin *to = all.term[i].coef % m->factor ? &rest : &whole;
    to->term[to->n++] = all.term[i];
  }
  if (!td_range_of(&q, at, td_lin_expr(ss, a, &rest, e->loc), &lo, &hi) || lo < 0 ||
      lo / m->factor != hi / m->factor)
    return td_lin_floordiv(ss, a, e, m->factor);
  for (size_t i = 0; i < whole.n; i++) whole.term[i].coef /= m->factor;
  whole.constant = lo / m->factor;
  return td_lin_expr(ss, a, &whole, e->loc);
}

/* Statement s, an end of one of the streams, as one of the one stream. */
static const TdStmt *one_end(const Merge *m, const TdUnit *u, const TdStmt *s) {
  const TdExpr *was = s->expr[0], *kid[TD_MAX_RANK], *list[2];
  TdViewDim dim[TD_MAX_RANK];
  int n = 0;
  for (uint32_t d = 0; d < was->nkid; d++) {
    bool along = (int)d == m->axis;
    if (along && !m->factor) continue;
    kid[n] = along ? over_factor(m, u, s, was->kid[d]) : was->kid[d];
    dim[n++] = was->u.dim[d];
  }
  for (uint32_t i = 0; i < s->nexpr; i++) list[i] = s->expr[i];
  list[0] =
      td_expr_view(m->r->store->arena, m->stream.at[0]->sym, was->type, kid, dim, n, was->loc);
  return td_stmt_with_exprs(m->r->store, s, list, s->nexpr);
}

/* A search for the ends in a unit. */
typedef struct Ends {
  const Merge *m;
  TD_VEC(const TdStmt *) at;
} Ends;

static bool look_end(void *ud, const TdStmt *s) {
  Ends *e = ud;
  bool end = s->kind == TD_STMT_GET || s->kind == TD_STMT_PUT || s->kind == TD_STMT_SLOT;
  if (end && is_merged(e->m, s->expr[0]->sym)) td_vec_push(e->m->r->arena, &e->at, s);
  return true;
}

/* The design with the one stream. */
static const TdUnit *design_with(const Merge *m) {
  TdRewrite *r = m->r;
  TdUnit *u = td_unit_copy(r->store, m->design);
  TdStream *stream = TD_NEWN(r->store->arena, TdStream, u->nstream);
  const TdExpr *dim[TD_MAX_RANK];
  int n = 0;
  u->nstream = 0;
  for (size_t i = 0; i < m->design->nstream; i++) {
    const TdStream *s = &m->design->stream[i];
    if (is_merged(m, s->sym) && s != m->stream.at[0]) continue;
    TdStream *now = &stream[u->nstream++];
    *now = *s;
    if (s != m->stream.at[0]) continue;
    for (int d = 0; d < s->type->rank; d++) {
      int64_t extent = 0;
      if (d == m->axis && !m->factor) continue;
      td_unit_value(m->design, s->type->dim[d], &extent);
      dim[n++] = d == m->axis ? td_util_const(r, extent / m->factor) : s->type->dim[d];
    }
    now->type = td_type_port(r->session, s->type->elem, n, dim, s->type->block);
    now->depth = td_util_const(r, m->depth);
  }
  u->stream = stream;
  return u;
}

/* Whether unit u moves tokens of the streams, and does nothing else with them. */
static bool check_uses(const Merge *m, const TdUnit *u) {
  for (size_t i = 0; i < m->stream.n; i++) {
    TdLoc loc;
    if (td_stream_is_only_moved(m->r, u, m->stream.at[i]->sym, &loc)) continue;
    td_util_refuse(m->r, TD_UNSUPPORTED, "ends", loc, "'%s' is handed to a call, or meant in part",
                   m->stream.at[i]->sym->name);
    return false;
  }
  return true;
}

/* The program with the one stream; what the order of its tokens takes of the sizes is assumed. */
static const TdProg *put(const Merge *m) {
  TdRewrite *r = m->r;
  const TdProg *p = r->prog;
  const TdUnit *design = td_util_assume_sizes(r, design_with(m), m->design);
  TdMap done = {0};
  for (size_t i = 0; i < m->design->nrun; i++) {
    const TdUnit *u = td_prog_unit(r->prog, m->design->run[i].unit);
    if (!u->body || td_map_getp(&done, u)) continue;
    td_map_putp(r->arena, &done, u, r);
    if (!check_uses(m, u)) return NULL;
    Ends e = {.m = m};
    td_walk_stmt(r->session->ctx, u->body, look_end, &e);
    const TdStmt *body = u->body;
    for (size_t k = 0; k < e.at.n; k++) {
      const TdStmt *now = one_end(m, u, e.at.at[k]);
      body = td_edit_replace(r->store, body, now->uid, &now, 1);
    }
    if (!e.at.n) continue;
    design = td_util_assume_sizes(r, design, u);
    p = td_prog_with(p, td_unit_with_body(r->store, u, body));
  }
  return td_prog_with(p, design);
}

/* What the instances do to the streams of the design. */
static bool find_net(Merge *m) {
  TdRewrite *r = m->r;
  const TdProg *p = r->prog;
  size_t at = 0;
  while (p->unit[at] != m->design) at++;
  p = td_prog_prune(td_prog_new(r->store, p->unit, at + 1));
  m->net = td_traffic_of(r->arena, p, r->diag);
  if (!m->net) return false;
  if (m->net->open) return refuse(m, TD_UNSUPPORTED, "open", m->design->loc, m->net->open);
  m->ends = td_ends_of(r->arena, m->net, r->diag);
  return m->ends != NULL;
}

static const TdProg *apply(TdRewrite *r) {
  Merge m = {.r = r};
  const TdArgValue *depth = &r->arg[DEPTH];
  if (!find_streams(&m) || !find_axis(&m)) return NULL;
  if (depth->given && depth->integer < 1) {
    td_util_refuse(r, TD_USAGE, "depth", m.stream.at[0]->loc,
                   "'%s' holds at least 1 token, not %lld", m.stream.at[0]->sym->name,
                   (long long)depth->integer);
    return NULL;
  }
  if (!find_net(&m) || !find_groups(&m) || !check_order(&m)) return NULL;
  if (depth->given) m.depth = depth->integer;
  return put(&m);
}

const TdPrim td_prim_merge = {
    .name = "merge",
    .on = "stream",
    .summary = "Let one stream carry the tokens of several between the same two instances.",
    .args = {{"streams", TD_ARG_NAMES, TD_ARG_NEEDED,
              "a stream, or a list of streams of one shape, of which the first stays", "stream"},
             {"axis", TD_ARG_INT, TD_ARG_OPTION, "the axis of the array that goes", NULL},
             {"factor", TD_ARG_INT, TD_ARG_OPTION,
              "only so many neighbours along the axis become one, which stays; all by default",
              NULL},
             {"depth", TD_ARG_INT, TD_ARG_OPTION,
              "tokens that the one holds; as many as the deepest of them if it is not given",
              NULL}},
    .rewrite = "for j: Z[j]:put(x)  |  for j: y = Z[j]:get()  =>  "
               "for j: Z:put(x)  |  for j: y = Z:get()",
    .legal = "all that become one have one producing and one consuming instance, which put and get "
             "their tokens in one order, whatever the data",
    .errors =
        "no-stream ambiguous-stream names axis factor type depth ends order data open deadlock "
        "producers consumers no-producer no-consumer stream-range",
    .example = "s:buffer_at(\"A\", \"j\"):unfold(\"PE\"); s:relay(\"A_j\", \"PE\", {axis = 1}); "
               "s:bundle(\"PE\", {axis = 0}):bundle(\"A_feed\", {axis = 0}); "
               "s:merge(\"A_j\", {axis = 0})",
    .apply = apply,
};
