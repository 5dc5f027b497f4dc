/* rfactor.c - rfactor: a sum over two loops or more becomes one for each iteration of the inner
 * one, side by side in an array, which are added up behind them (rfactor of Halide). */
#include "affine/access.h"
#include "rewrite/copied.h"
#include "rewrite/util.h"

enum { LOOP, REASSOCIATE };
enum { MOST_PARTS = 4096 };

typedef struct Rfactor {
  TdRewrite *r;
  const TdUnit *unit;
  const TdStmt *loop;  /* which gets a part for each iteration */
  const TdStmt *outer; /* the outermost loop that adds to the same place */
  const TdStmt *sum;   /* place = place + e */
  size_t nsum;         /* such statements in the loop */
  bool ring;           /* no order changes a value */
  int64_t n;           /* iterations of the loop */
  bool assumes;
  TdSym part; /* the array */
} Rfactor;

static bool refuse(const Rfactor *f, const char *code, const TdStmt *at, const char *why) {
  td_util_refuse(f->r, TD_ILLEGAL, code, at->loc, "'%s' %s", f->loop->sym->name, why);
  return false;
}

/* ---- the sum, and the loops that it goes over ---- */

/* A look at what a statement declares, and how often it uses an array or scalar. */
typedef struct Uses {
  TdMap declared;
  TdArena *arena;
  TdSym sym;
  size_t n;
} Uses;

static bool look_declared(void *ud, const TdStmt *s) {
  Uses *u = ud;
  if (s->sym && s->kind != TD_STMT_CALL) td_map_putp(u->arena, &u->declared, s->sym, u);
  return true;
}

static bool look_use(void *ud, const TdExpr *e) {
  Uses *u = ud;
  u->n += e->sym == u->sym;
  return true;
}

static bool is_outside(void *ud, const TdExpr *e) {
  const Uses *u = ud;
  return !e->sym || !td_map_getp(&u->declared, e->sym);
}

/* Whether all turns of a loop add to the one place of s, and nothing else in it uses what that is
 * in. */
static bool adds_to_one(const Rfactor *f, const TdStmt *loop, const TdStmt *s) {
  TdCtx *ctx = f->r->session->ctx;
  Uses in = {.arena = f->r->arena, .sym = s->expr[0]->sym}, own = in;
  td_walk_stmt(ctx, loop, look_declared, &in);
  td_walk_exprs(ctx, loop, look_use, &in);
  td_walk_exprs(ctx, s, look_use, &own);
  bool steady = true;
  for (uint32_t d = 0; d < s->expr[0]->nkid; d++) steady &= td_util_is_steady(s->expr[0]->kid[d]);
  return steady && own.n == 2 && in.n == own.n && td_walk_expr(s->expr[0], is_outside, &in);
}

static bool look_sum(void *ud, const TdStmt *s) {
  Rfactor *f = ud;
  bool ring;
  if (s->kind != TD_STMT_STORE ||
      td_access_accumulates(s->expr[1], s->expr[0], &ring) != TD_OP_ADD ||
      !adds_to_one(f, f->loop, s))
    return true;
  f->nsum++;
  f->sum = s;
  f->ring = ring;
  return true;
}

static bool find_sum(Rfactor *f) {
  td_walk_stmt(f->r->session->ctx, td_for_body(f->loop), look_sum, f);
  if (f->nsum == 1) return true;
  if (f->nsum)
    refuse(f, "several", f->loop, "adds up several sums");
  else
    refuse(f, "no-sum", f->loop, "adds up nothing that all its iterations share");
  return false;
}

/* Finds the outermost loop around that adds to the same place. */
static bool find_outer(Rfactor *f) {
  TdPath p = td_edit_path(f->r->arena, f->unit->body, f->loop->uid);
  for (size_t i = p.n - 1; i-- > 0;) {
    const TdStmt *s = p.at[i];
    if (s->kind == TD_STMT_BLOCK) continue;
    if (s->kind != TD_STMT_FOR || !adds_to_one(f, s, f->sum)) break;
    f->outer = s;
  }
  if (!f->outer) {
    refuse(f, "not-a-nest", f->loop, "is in no loop that adds up the same sum");
    td_diag_help(f->r->diag, "split it first: the inner loop's iterations get a sum each");
    return false;
  }
  return !td_walk_leaves(f->outer) ||
         refuse(f, "leaves", f->outer, "is in a loop that may be left by return");
}

/* ---- whether it may be read where it was not ---- */

static bool is_not_filled(void *ud, const TdStmt *s) {
  return s->kind != TD_STMT_LOCAL || s->sym != ud || s->init == TD_INIT_NONE;
}

/* Whether all between the outer loop and the sum runs whenever that is reached. */
static bool check_runs(Rfactor *f) {
  TdRewrite *r = f->r;
  TdAsk q = td_util_ask(r, f->unit);
  void *sym = (void *)(uintptr_t)f->sum->expr[0]->sym;
  if (!td_walk_stmt(r->session->ctx, f->unit->body, is_not_filled, sym)) return true;
  TdPath p = td_edit_path(r->arena, f->outer, f->sum->uid);
  for (size_t i = 0; i + 1 < p.n; i++) {
    const TdStmt *s = p.at[i];
    if (s->kind == TD_STMT_BLOCK || (s->kind == TD_STMT_FOR && td_range_runs(&q, s, false)))
      continue;
    if (s->kind != TD_STMT_FOR || !td_range_runs(&q, s, true))
      return refuse(f, "may-fault", s,
                    "adds up what may have no value where nothing is added to it");
    f->assumes = true;
  }
  return true;
}

static bool check_order(const Rfactor *f) {
  if (f->ring || (f->r->arg[REASSOCIATE].given && f->r->arg[REASSOCIATE].integer)) return true;
  refuse(f, "reassociation", f->sum, "adds up floats, which would be added in another order");
  td_diag_help(f->r->diag, "give reassociate = true to allow it");
  return false;
}

static bool check_count(Rfactor *f) {
  TdAsk q = td_util_ask(f->r, f->unit);
  if (!td_range_trip(&q, f->loop, &f->n))
    return refuse(f, "count", f->loop, "does not always run as often");
  if (f->n > 1 && f->n <= MOST_PARTS && f->loop->step == 1) return true;
  td_util_refuse(
      f->r, TD_ILLEGAL, "count", f->loop->loc,
      "'%s' runs %lld times by steps of %lld, where a sum for each is made of 2 to %d by "
      "steps of 1",
      f->loop->sym->name, (long long)f->n, (long long)f->loop->step, MOST_PARTS);
  return false;
}

/* ---- the step ---- */

/* Element `at` of the parts. */
static const TdExpr *part(const Rfactor *f, const TdExpr *at) {
  return td_expr_load(f->r->store->arena, f->part, f->sum->expr[0]->type, &at, 1, f->sum->loc);
}

/* Puts a part in the place of the sum. */
typedef struct Turn {
  const TdExpr *place, *now;
} Turn;

static const TdExpr *turn(void *ud, const TdExpr *e) {
  const Turn *t = ud;
  return td_equal_expr(e, t->place) ? t->now : e;
}

/* The parts, which begin with what adds nothing: of floats that is -0.0. */
static const TdStmt *declare(Rfactor *f) {
  TdRewrite *r = f->r;
  const TdExpr *place = f->sum->expr[0];
  const TdType *type = place->type, *t = td_type_tensor_of(r->session, type, 1, &f->n);
  const char *want = td_text_fmt(r->arena, "%s_%s", place->sym->name, f->loop->sym->name);
  uint64_t none = type->kind == TD_T_FLOAT ? (uint64_t)1 << 63 : 0;
  f->part = td_store_sym(r->store, td_util_name(r, f->unit, NULL, want), TD_SYM_LOCAL);
  td_util_made(r, f->part->name);
  return td_stmt_local(r->store, f->part, t, TD_INIT_FILL,
                       td_expr_lit(r->store->arena, type, none, f->sum->loc), f->sum->loc);
}

static bool is_implicit(const TdExpr *e) {
  return e->kind == TD_EXPR_CAST && e->implicit;
}

/* The loop that adds the parts to the sum. */
static const TdStmt *add_up(const Rfactor *f) {
  TdRewrite *r = f->r;
  TdArena *a = r->store->arena;
  const TdExpr *place = f->sum->expr[0];
  TdSym v = td_util_loop_var(r, f->unit, f->loop->sym->name);
  const TdExpr *x = part(f, td_util_var(r, v));
  const TdType *two[] = {place->type, place->type};
  const TdType *t = td_promote_op(r->session, TD_OP_ADD, two, 2, f->sum->loc, r->diag);
  const TdExpr *value = td_expr_op2(a, TD_OP_ADD, t, place, x);
  if (t != place->type) value = td_expr_cast(a, place->type, value, is_implicit(f->sum->expr[1]));
  const TdStmt *s = td_stmt_store(r->store, place, value, f->sum->loc);
  return td_stmt_for(r->store, v, td_util_const(r, 0), td_util_const(r, f->n), 1,
                     td_util_block1(r, s), f->sum->loc);
}

/* The nest that adds to the parts. */
static const TdStmt *add_parts(const Rfactor *f) {
  TdRewrite *r = f->r;
  const TdExpr *at =
      td_lin_minus(r->session, r->store->arena, td_util_var(r, f->loop->sym), td_for_lo(f->loop));
  Turn k = {f->sum->expr[0], part(f, at)};
  const TdExpr *e[] = {k.now, td_walk_map_expr(r->store->arena, f->sum->expr[1], turn, &k)};
  const TdStmt *s = td_stmt_with_exprs(r->store, f->sum, e, 2);
  return td_edit_replace(r->store, f->outer, f->sum->uid, &s, 1);
}

static const TdProg *apply(TdRewrite *r) {
  TdPlace at;
  if (!td_util_loop(r, LOOP, &at)) return NULL;
  Rfactor f = {.r = r, .unit = at.unit, .loop = at.stmt};
  if (!find_sum(&f) || !find_outer(&f) || !check_count(&f) || !check_runs(&f) || !check_order(&f) ||
      !td_copied_bounds(r, f.unit, f.loop, false))
    return NULL;
  const TdStmt *all[] = {declare(&f), add_parts(&f), add_up(&f)};
  const TdExpr *fact[] = {td_for_lo(f.loop), td_for_hi(f.loop)};
  TdUnit sizes = {.assert_ = fact, .nassert = 2};
  const TdUnit *u = td_util_assume_sizes(r, f.unit, f.assumes ? f.unit : &sizes);
  const TdStmt *body = td_edit_replace(r->store, u->body, f.outer->uid, all, 3);
  const TdProg *p = td_prog_with(r->prog, td_unit_with_body(r->store, u, body));
  td_util_note(r, "legal because '+' is associative");
  return p;
}

const TdPrim td_prim_rfactor = {
    .name = "rfactor",
    .on = "loop",
    .summary = "Add up a part of a sum for each iteration of an inner loop, then the parts.",
    .args = {{"loop", TD_ARG_LOOP, TD_ARG_NEEDED, "the inner loop, inside one that sums too", NULL},
             {"reassociate", TD_ARG_FLAG, TD_ARG_OPTION, "accept another order of a sum of floats",
              NULL}},
    .rewrite = "for o: for i in 0..n: s = s + A[o][i]  =>  local s_i = T[n](0); for o: for i: "
               "s_i[i] = s_i[i] + A[o][i]; for i: s = s + s_i[i]",
    .legal =
        "the loop and at least one around it add to one place that nothing else in them uses; "
        "the loop runs 2 to 4096 times, as often each time; no loop is left by return; sums of "
        "floats need reassociate",
    .errors = "no-sum several not-a-nest leaves count may-fault bound-written reassociation",
    .example = "s:split(\"k\", 2, {tail = \"perfect\"}):rfactor(\"k_i\", {reassociate = true})",
    .apply = apply,
};
