/* vectorize.c - vectorize: a stream carries the elements of an innermost loop as one token, T[n].
 * Each end gets its token into a local before its loop, or puts the local that it fills there
 * behind it. */
#include "rewrite/stream/stream.h"

enum { STREAM, LANES };

/* A loop with ends of the stream in it: what it gets, what it puts. */
typedef struct Lanes {
  const TdUnit *unit;
  const TdStmt *loop, *end[2]; /* get, put; NULL: none */
} Lanes;

typedef struct Vectorize {
  TdRewrite *r;
  const TdUnit *design, *unit; /* unit: looked at */
  const TdStream *stream;
  const TdType *token;
  int64_t n;  /* 0: not known yet */
  bool asked; /* n is the user's */
  TD_VEC(Lanes) lanes;
  bool fits;
} Vectorize;

enum { GET, PUT };

static bool refuse(const Vectorize *v, TdDiagKind kind, TdLoc loc, const char *why) {
  td_util_refuse(v->r, kind, "lanes", loc, "'%s' %s", v->stream->sym->name, why);
  return false;
}

/* The loop around an end that runs innermost, and how often it does. */
static const TdStmt *lane_loop(Vectorize *v, const TdStmt *end) {
  TdPath p = td_edit_path(v->r->arena, v->unit->body, end->uid);
  size_t i = p.n;
  int64_t lo, hi;
  while (i > 0 && p.at[i - 1]->kind != TD_STMT_FOR) {
    const TdStmt *s = p.at[--i];
    if (s->kind == TD_STMT_WHILE) break;
  }
  const TdStmt *loop = i > 0 && p.at[i - 1]->kind == TD_STMT_FOR ? p.at[i - 1] : NULL;
  bool fixed = loop && loop->step == 1 && td_unit_value(v->unit, td_for_lo(loop), &lo) &&
               td_unit_value(v->unit, td_for_hi(loop), &hi) && hi > lo;
  if (!fixed || td_util_leaves_by_break(td_for_body(loop))) {
    refuse(v, TD_ILLEGAL, end->loc,
           "does not move in an innermost loop of a known number of lanes");
    return NULL;
  }
  if (v->n ? (hi - lo) % v->n != 0 || (!v->asked && hi - lo != v->n) : false) {
    refuse(v, TD_ILLEGAL, loop->loc,
           v->asked ? "moves in a loop that so many lanes do not divide"
                    : "moves in loops of different numbers of lanes");
    return NULL;
  }
  if (!v->n) v->n = hi - lo;
  return loop;
}

/* Whether no lane decides which stream an end is, nor whether it moves. */
static bool check_end(Vectorize *v, const TdStmt *loop, const TdStmt *end) {
  TdPath p = td_edit_path(v->r->arena, td_for_body(loop), end->uid);
  const TdExpr *e = end->expr[0];
  bool same = true;
  for (uint32_t d = 0; d < e->nkid; d++)
    same &= td_util_is_steady(e->kid[d]) && !td_walk_uses_expr(e->kid[d], loop->sym);
  for (size_t i = 0; i + 1 < p.n; i++) {
    if (p.at[i]->kind == TD_STMT_BLOCK) continue;
    same &= p.at[i]->kind == TD_STMT_IF && td_util_is_steady(p.at[i]->expr[0]) &&
            !td_walk_uses_expr(p.at[i]->expr[0], loop->sym);
  }
  return same || refuse(v, TD_ILLEGAL, end->loc, "does not move in all lanes alike");
}

static bool look(void *ud, const TdStmt *s) {
  Vectorize *v = ud;
  bool put = s->kind == TD_STMT_PUT, get = s->kind == TD_STMT_GET;
  if ((!put && !get && s->kind != TD_STMT_SLOT) || s->expr[0]->sym != v->stream->sym) return true;
  const TdStmt *loop = lane_loop(v, s);
  v->fits = loop && check_end(v, loop, s);
  if (!v->fits) return false;
  size_t i = 0;
  while (i < v->lanes.n && v->lanes.at[i].loop != loop) i++;
  if (i == v->lanes.n) td_vec_push(v->r->arena, &v->lanes, ((Lanes){v->unit, loop, {NULL, NULL}}));
  const TdStmt **end = &v->lanes.at[i].end[put ? PUT : GET];
  v->fits = !*end || refuse(v, TD_UNSUPPORTED, s->loc, "moves twice in a lane");
  *end = s;
  return v->fits;
}

/* The loop, which runs from lo on to before hi, as one around n lanes. */
static const TdStmt *strip(const Vectorize *v, const TdUnit *u, const TdStmt *loop, int64_t lo,
                           int64_t hi) {
  TdRewrite *r = v->r;
  TdArena *a = r->store->arena;
  TdSym lane = td_util_loop_var(r, u, td_text_fmt(r->arena, "%s_lane", loop->sym->name));
  const TdExpr *at = td_lin_times(r->session, a, td_util_var(r, loop->sym), v->n);
  at = td_lin_plus(r->session, a, at, td_util_var(r, lane));
  TdSubst sub = td_subst_new(r->store);
  td_subst_expr(&sub, loop->sym, td_lin_plus(r->session, a, at, td_util_const(r, lo)));
  const TdStmt *body = td_subst_in_stmt(&sub, td_for_body(loop));
  const TdStmt *lanes =
      td_stmt_for(r->store, lane, td_util_const(r, 0), td_util_const(r, v->n), 1, body, loop->loc);
  return td_util_reloop(r, loop, loop->sym, td_util_const(r, 0), td_util_const(r, (hi - lo) / v->n),
                        1, td_util_block1(r, lanes));
}

/* The unit with a loop around ends as one of n iterations, by constants: sizes that bound it have
 * their values. */
static const TdUnit *settle(const Vectorize *v, const TdUnit *u, const TdStmt *loop) {
  TdRewrite *r = v->r;
  int64_t end[2] = {0, 0}, fixed;
  const TdExpr *as[2];
  bool same = true;
  for (int k = 0; k < 2; k++) {
    bool known = td_unit_value(u, loop->expr[k], &end[k]);
    as[k] = td_util_const(r, end[k]);
    if (!known || td_expr_is_const(loop->expr[k], &fixed)) continue;
    r->used_value = true;
    same = false;
    u = td_util_assume(
        r, u,
        td_expr_op2(r->store->arena, TD_OP_EQ, td_type_bool(r->session), loop->expr[k], as[k]));
  }
  if (end[1] - end[0] == v->n && same) return u;
  const TdStmt *now = end[1] - end[0] == v->n
                          ? td_util_reloop(r, loop, loop->sym, as[0], as[1], 1, td_for_body(loop))
                          : strip(v, u, loop, end[0], end[1]);
  return td_unit_with_body(r->store, u, td_edit_replace(r->store, u->body, loop->uid, &now, 1));
}

/* The program whose loops around ends have n iterations, where they had a multiple of it. */
static const TdProg *settle_all(const Vectorize *v) {
  const TdProg *p = v->r->prog;
  for (size_t i = 0; i < v->lanes.n; i++) {
    const TdUnit *u = td_prog_unit(p, v->lanes.at[i].unit->sym);
    const TdUnit *now = settle(v, u, v->lanes.at[i].loop);
    if (now != u) p = td_prog_with(p, now);
  }
  return p;
}

/* Finds the ends in all tasks. */
static bool find_ends(Vectorize *v) {
  TdRewrite *r = v->r;
  if (v->stream->type->block || v->stream->type->elem->kind == TD_T_TENSOR)
    return refuse(v, TD_USAGE, v->stream->loc, "has tokens of several elements already");
  v->fits = true;
  for (size_t i = 0; i < v->design->nrun && v->fits; i++) {
    bool again = false;
    for (size_t k = 0; k < i; k++) again |= v->design->run[k].unit == v->design->run[i].unit;
    v->unit = td_prog_unit(r->prog, v->design->run[i].unit);
    for (size_t b = 0; b < v->design->run[i].nbind; b++)
      if (v->design->run[i].bind[b].arg == v->stream->sym)
        return refuse(v, TD_UNSUPPORTED, v->design->run[i].loc, "is an argument of a task");
    TdLoc loc;
    if (!v->unit->body || again) continue;
    if (!td_stream_is_only_moved(r, v->unit, v->stream->sym, &loc))
      return refuse(v, TD_UNSUPPORTED, loc, "is handed to a call");
    td_walk_stmt(r->session->ctx, v->unit->body, look, v);
  }
  return v->fits && (v->lanes.n || refuse(v, TD_USAGE, v->stream->loc, "is not used"));
}

/* s under the conditions that stand in the loop around an end. */
static const TdStmt *under(const Vectorize *v, const Lanes *l, const TdStmt *end, const TdStmt *s) {
  TdStore *st = v->r->store;
  TdPath p = td_edit_path(v->r->arena, td_for_body(l->loop), end->uid);
  for (size_t i = p.n - 1; i-- > 0;) {
    if (p.at[i]->kind != TD_STMT_IF) continue;
    const TdStmt *in = td_util_block1(v->r, s), *none = td_stmt_block(st, NULL, 0, s->loc);
    bool then = p.at[i]->kid[0] == p.at[i + 1];
    s = td_stmt_if(st, p.at[i]->expr[0], then ? in : none, then ? NULL : in, s->loc);
  }
  return s;
}

/* The stream of an end, of whole tokens. */
static const TdExpr *stream_of(const Vectorize *v, const TdStmt *end) {
  const TdExpr *e = end->expr[0];
  const TdType *t = td_type_port(v->r->session, v->token, 0, NULL, false);
  return td_expr_view(v->r->store->arena, e->sym, t, e->kid, e->u.dim, (int)e->nkid, e->loc);
}

/* Element `lane` of the local that stands for a token. */
static const TdExpr *element(const Vectorize *v, const Lanes *l, TdSym local) {
  TdRewrite *r = v->r;
  TdArena *a = r->store->arena;
  const TdExpr *lane =
      td_lin_minus(r->session, a, td_util_var(r, l->loop->sym), td_for_lo(l->loop));
  return td_expr_load(a, local, v->token->elem, &lane, 1, l->loop->loc);
}

/* The end of a loop without its lanes: what stands in the loop, before it, and behind it. */
static const TdStmt *in_lane(const Vectorize *v, const Lanes *l, const TdStmt *end, TdSym local) {
  TdStore *st = v->r->store;
  const TdExpr *e = element(v, l, local);
  if (end->kind == TD_STMT_PUT) return td_stmt_store(st, e, end->expr[1], end->loc);
  if (end->sym) return td_stmt_local(st, end->sym, end->type, TD_INIT_VALUE, e, end->loc);
  return td_stmt_store(st, end->expr[1], e, end->loc);
}

static bool is_no_loop(void *ud, const TdStmt *s) {
  (void)ud;
  return s->kind != TD_STMT_FOR && s->kind != TD_STMT_WHILE;
}

/* Unit u with the loop's tokens whole. */
static const TdUnit *with_tokens(const Vectorize *v, const Lanes *l, const TdUnit *u) {
  TdRewrite *r = v->r;
  TdStore *st = r->store;
  const TdStmt *loop = l->loop, *list[5];
  size_t n = 0;
  TdSym local[2];
  TdAttr all = {.kind = TD_ATTR_UNROLL, .arg = {{.i = 0}}};
  for (int k = 0; k < 2; k++) {
    const TdStmt *end = l->end[k];
    if (!end) continue;
    const char *want = td_text_fmt(r->arena, "%s_%s", v->stream->sym->name, k ? "out" : "in");
    local[k] = td_store_sym(st, td_edit_fresh_name(st, u, want), TD_SYM_LOCAL);
    const TdStmt *lane = in_lane(v, l, end, local[k]);
    loop = td_edit_replace(st, loop, end->uid, &lane, 1);
    const TdType *t = v->token;
    const TdExpr *whole = td_expr_whole(r->session, st->arena, local[k], t, end->loc);
    bool plain = !k && under(v, l, end, end) == end;
    if (!plain) list[n++] = td_stmt_local(st, local[k], t, TD_INIT_NONE, NULL, end->loc);
    const TdStmt *get = k       ? NULL
                        : plain ? td_stmt_get(st, stream_of(v, end), local[k], t, NULL, end->loc)
                                : td_stmt_get(st, stream_of(v, end), NULL, t, whole, end->loc);
    if (get) list[n++] = under(v, l, end, get);
  }
  bool innermost = td_walk_stmt(r->session->ctx, td_for_body(loop), is_no_loop, NULL);
  list[n++] = innermost ? td_util_mark(r, loop, all) : loop;
  if (l->end[PUT]) {
    const TdStmt *end = l->end[PUT];
    const TdExpr *whole = td_expr_whole(r->session, st->arena, local[PUT], v->token, end->loc);
    list[n++] = under(v, l, end, td_stmt_put(st, stream_of(v, end), whole, end->loc));
  }
  return td_unit_with_body(st, u, td_edit_replace(st, u->body, l->loop->uid, list, n));
}

static const TdProg *apply(TdRewrite *r) {
  TdStreamAt f;
  if (!td_stream_find(r, r->arg[STREAM].text, &f)) return NULL;
  Vectorize v = {.r = r, .design = f.design, .stream = &f.design->stream[f.at]};
  v.asked = r->arg[LANES].given;
  v.n = v.asked ? r->arg[LANES].integer : 0;
  if (v.asked && v.n < 1) {
    refuse(&v, TD_USAGE, v.stream->loc, "has at least one lane");
    return NULL;
  }
  if (!find_ends(&v)) return NULL;
  const TdProg *p = settle_all(&v);
  if (p != r->prog) {
    r->prog = p;
    v.lanes.n = 0;
    if (!find_ends(&v)) return NULL;
  }
  const TdExpr *n = td_util_const(r, v.n);
  const TdType *t = v.stream->type;
  v.token = td_type_tensor(r->session, t->elem, 1, &n);
  for (size_t i = 0; i < v.lanes.n; i++)
    p = td_prog_with(p, with_tokens(&v, &v.lanes.at[i], td_prog_unit(p, v.lanes.at[i].unit->sym)));
  TdUnit *u = td_unit_copy(r->store, f.design);
  TdStream *stream = td_arena_copy(r->store->arena, u->stream, u->nstream * sizeof *stream);
  stream[f.at].type = td_type_port(r->session, v.token, t->rank, t->dim, false);
  u->stream = stream;
  return td_prog_with(p, u);
}

const TdPrim td_prim_vectorize = {
    .name = "vectorize",
    .on = "stream",
    .summary = "Send the elements of the innermost loops around a stream's ends as one token.",
    .args = {{"stream", TD_ARG_STREAM, TD_ARG_NEEDED, "the stream, of scalars", NULL},
             {"lanes", TD_ARG_INT, TD_ARG_OPTION,
              "elements of a token; those of the innermost loops, which have equal ranges", NULL}},
    .rewrite = "for l = 0, 3: S:put(x[l])  |  for l = 0, 3: y = S:get()  =>  "
               "local v = T[4](); for l: v[l] = x[l]; S:put(v)  |  "
               "local w = S:get(); for l: y = w[l]",
    .legal =
        "each end is in an innermost loop of the same known number of iterations, all of which "
        "move a token or none does, on the same stream: no lane decides",
    .errors = "no-stream ambiguous-stream lanes deadlock",
    .example = "s:buffer_at(\"A\", \"j\"):unfold(\"PE\"); s:relay(\"A_j\", \"PE\", {axis = 1}); "
               "s:vectorize(\"A_j\")",
    .apply = apply,
};
