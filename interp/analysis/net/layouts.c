/* layouts.c - layouts and pending reductions of tensor expressions, task by task. */
#include "analysis/net/layouts.h"

#include <string.h>

#include "analysis/net/travel.h"

enum { WHOLE = -1, UNKNOWN = -2 }; /* instead of an axis: all of the dimension; nobody knows */

/* What is known of a value in the hands of one instance. */
typedef struct Shard {
  uint8_t rank;
  int8_t axis[TD_MAX_RANK]; /* of the map, along which the dimension is cut */
  bool open;                /* depends on what has no known layout */
  const TdType *type;       /* of a place: of all of it */
  bool argument, bound;     /* of a place: an argument of the design; it has a layout */
  uint32_t pending;         /* axes over which it is still to be combined, one bit each */
  TdOp op;                  /* by which, if pending */
  TdLoc loc;                /* and where it became so */
} Shard;

typedef struct Layouts {
  const TdProg *prog;
  TdCtx *ctx;
  TdArena *arena;
  TdDiag *diag;
  const TdRun *run;
  uint32_t parallel; /* axes with more than one instance */
  bool travels;      /* parts may be stored: their ways are looked at afterwards */
  uint32_t stored;   /* axes of those that are */
  TdMap at;          /* TdSym -> Shard * */
  TdMap axes;        /* allreduce -> axes over which its operand is pending */
} Layouts;

static const Shard *find(const Layouts *l, TdSym sym) {
  return td_map_getp(&l->at, sym);
}

static void assign(Layouts *l, TdSym sym, Shard s) {
  td_map_putp(l->arena, &l->at, sym, td_arena_copy(l->arena, &s, sizeof s));
}

/* A value of type t of which nothing is known. */
static Shard nothing_known(const TdType *t) {
  Shard s = {.type = t, .rank = t->kind == TD_T_TENSOR ? t->rank : 0, .open = true};
  for (int d = 0; d < s.rank; d++) s.axis[d] = UNKNOWN;
  return s;
}

/* "axis 0", "axes 0 and 2". */
static const char *axes_text(const Layouts *l, uint32_t axes) {
  TdText t = td_text_new(l->diag->arena);
  int n = 0;
  for (int d = 0; d < TD_MAX_RANK; d++)
    if (axes >> d & 1) td_text_putf(&t, "%s%d", n++ ? " and " : "", d);
  return td_text_fmt(l->diag->arena, "%s %s of the map of '%s'", n > 1 ? "axes" : "axis",
                     td_text_str(&t), l->run->sym->name);
}

static const char *kind_of(const Shard *s) {
  return s->op == TD_OP_ADD ? "sum" : td_ops[s->op].lua;
}

/* All of an array, as its name. */
static const TdExpr *by_name(void *ud, const TdExpr *e) {
  const Layouts *l = ud;
  const Shard *s = e->kind == TD_EXPR_VIEW ? find(l, e->sym) : NULL;
  return s && s->type == e->type ? td_expr_var(l->arena, e->sym, e->type, e->loc) : e;
}

/* Refuses what would treat a part of s as if it were whole; help: the call that makes it whole. */
static bool refuse_pending(Layouts *l, const Shard *s, TdLoc loc, const TdExpr *e,
                           const char *what) {
  TdArena *a = l->diag->arena;
  td_diag_set(l->diag, TD_ILLEGAL, "pending-sum", loc, "a pending %s over %s %s", kind_of(s),
              axes_text(l, s->pending), what);
  td_diag_note(l->diag, s->loc, "each instance has a part of it from here");
  e = td_walk_map_expr(l->arena, e, by_name, l);
  const char *text = td_print_expr_str(a, e);
  if (e->type->kind != TD_T_TENSOR)
    text = td_text_fmt(a, "%s[1](%s)", td_type_str(a, e->type), text);
  td_diag_help(l->diag, "write tide.allreduce(%s, \"%s\")", text, td_ops[s->op].lua);
  return false;
}

/* "a dimension cut along axis 1", "a whole dimension". */
static const char *cut_text(const Layouts *l, int axis) {
  return axis < 0 ? "a whole dimension"
                  : td_text_fmt(l->diag->arena, "a dimension cut along axis %d", axis);
}

/* Refuses axes x and y in one dimension: "matmul contracts .. with ..". */
static bool refuse_layout(Layouts *l, TdLoc loc, const char *does, int x, const char *with, int y) {
  return td_diag_set(l->diag, TD_ILLEGAL, "layout-mismatch", loc, "%s %s %s %s of the map of '%s'",
                     does, cut_text(l, x), with, cut_text(l, y), l->run->sym->name);
}

/* The layout of both operands of an elementwise operator. */
static bool join_axes(Layouts *l, const TdExpr *e, Shard *x, const Shard *y) {
  if (!x->rank) {
    x->rank = y->rank;
    for (int d = 0; d < y->rank; d++) x->axis[d] = y->axis[d];
    return true;
  }
  for (int d = 0; d < x->rank && d < y->rank; d++) {
    if (x->axis[d] >= 0 && y->axis[d] >= 0 && x->axis[d] != y->axis[d])
      return refuse_layout(l, e->loc, td_text_fmt(l->diag->arena, "'%s' joins", td_ops[e->op].lua),
                           x->axis[d], "with", y->axis[d]);
    if (y->axis[d] >= 0 || (y->axis[d] == UNKNOWN && x->axis[d] == WHOLE)) x->axis[d] = y->axis[d];
  }
  return true;
}

/* Whether an operator of two operands acts on each part as on the whole: x is pending. */
static bool distributes(const TdExpr *e, const Shard *x, const Shard *y, bool left) {
  bool same = y->pending == x->pending && y->op == x->op;
  switch (e->op) {
  case TD_OP_ADD:
  case TD_OP_SUB: return x->op == TD_OP_ADD && (y->pending ? same : y->open);
  case TD_OP_MUL: return x->op == TD_OP_ADD && !y->pending;
  case TD_OP_DIV: return x->op == TD_OP_ADD && !y->pending && left;
  case TD_OP_MIN:
  case TD_OP_MAX: return x->op == e->op && (!y->pending || same);
  default: return false;
  }
}

static bool shard_of(Layouts *l, const TdExpr *e, Shard *out);

/* An operator, element by element. */
static bool operator_shard(Layouts *l, const TdExpr *e, Shard *out) {
  *out = (Shard){0};
  for (uint32_t i = 0; i < e->nkid; i++) {
    Shard k;
    if (!shard_of(l, e->kid[i], &k)) return false;
    if (!join_axes(l, e, out, &k)) return false;
    const Shard *part = k.pending ? &k : out, *other = k.pending ? out : &k;
    bool first = i == 0, binary = e->nkid == 2;
    bool fits = !part->pending || (first && (binary || e->op == TD_OP_NEG)) ||
                (binary && distributes(e, part, other, part == out));
    if (!fits) {
      const TdExpr *which = k.pending ? e->kid[i] : e->kid[0];
      return refuse_pending(l, part, e->loc, which,
                            td_text_fmt(l->diag->arena,
                                        "goes through '%s', which does not act on "
                                        "each part as on the whole",
                                        td_ops[e->op].lua));
    }
    if (k.pending && !out->pending) out->pending = k.pending, out->op = k.op, out->loc = k.loc;
    out->open |= k.open;
  }
  return true;
}

/* A cast keeps a sum if it rounds nothing but floats, and cuts nothing but high bits. */
static bool cast_shard(Layouts *l, const TdExpr *e, Shard *out) {
  if (!shard_of(l, e->kid[0], out)) return false;
  const TdType *to = td_type_scalar(e->type), *from = td_type_scalar(e->kid[0]->type);
  bool wraps = td_type_is_integer(to) && td_type_is_integer(from) && !to->saturate;
  if (!out->pending || out->op != TD_OP_ADD || wraps || to->kind == TD_T_FLOAT) return true;
  return refuse_pending(l, out, e->loc, e->kid[0],
                        td_text_fmt(l->diag->arena, "is converted to %s before it is complete",
                                    td_type_str(l->diag->arena, to)));
}

/* Makes out pending over one more axis by op; false: it is pending by another operator. */
static bool add_pending(Shard *out, int axis, TdOp op, TdLoc loc) {
  if (out->pending && out->op != op) return false;
  if (axis < 0) return true;
  if (!out->pending) out->loc = loc;
  out->op = op;
  out->pending |= 1u << axis;
  return true;
}

/* Rows of the left operand, columns of the right one; what is contracted must be cut alike. */
static bool matmul_shard(Layouts *l, const TdExpr *e, Shard *out) {
  Shard x, y;
  if (!shard_of(l, e->kid[0], &x) || !shard_of(l, e->kid[1], &y)) return false;
  if (x.pending && y.pending)
    return refuse_pending(l, &y, e->loc, e->kid[1], "is multiplied by another pending one");
  const Shard *part = x.pending ? &x : &y;
  if (part->pending && part->op != TD_OP_ADD)
    return refuse_pending(l, part, e->loc, e->kid[x.pending ? 0 : 1], "goes into a matmul");
  int k = x.axis[x.rank - 1], k2 = y.axis[0];
  bool known = k != UNKNOWN && k2 != UNKNOWN;
  if (known && k != k2) return refuse_layout(l, e->loc, "matmul contracts", k, "with", k2);
  *out = nothing_known(e->type);
  int n = 0;
  for (int d = 0; d + 1 < x.rank; d++) out->axis[n++] = x.axis[d];
  for (int d = 1; d < y.rank && n < out->rank; d++) out->axis[n++] = y.axis[d];
  out->open = x.open || y.open;
  out->pending = part->pending, out->op = part->op, out->loc = part->loc;
  return add_pending(out, known ? k : UNKNOWN, TD_OP_ADD, e->loc);
}

static bool reduce_shard(Layouts *l, const TdExpr *e, Shard *out) {
  Shard x;
  if (!shard_of(l, e->kid[0], &x)) return false;
  *out = x;
  int axis = x.axis[e->axis];
  for (int d = e->axis; d + 1 < x.rank; d++) out->axis[d] = x.axis[d + 1];
  out->rank = e->type->kind == TD_T_TENSOR ? e->type->rank : 0;
  if (!add_pending(out, axis, (TdOp)e->reduce, e->loc) || (x.pending && x.op != (TdOp)e->reduce))
    return refuse_pending(l, &x, e->loc, e->kid[0], "is reduced by another operator");
  return true;
}

static bool tensor_shard(Layouts *l, const TdExpr *e, Shard *out) {
  if (e->op == TD_OP_MATMUL) return matmul_shard(l, e, out);
  if (e->op == TD_OP_REDUCE) return reduce_shard(l, e, out);
  if (!shard_of(l, e->kid[0], out)) return false;
  if (out->pending && out->op != (TdOp)e->reduce)
    return refuse_pending(l, out, e->loc, e->kid[0], "meets an allreduce by another operator");
  if (out->pending) td_map_put(l->arena, &l->axes, (uint64_t)(uintptr_t)e, out->pending);
  out->pending = 0;
  return true;
}

/* A part of an array: the dimensions that are left. */
static Shard view_shard(const Layouts *l, const TdExpr *e) {
  const Shard *base = find(l, e->sym);
  Shard s = nothing_known(e->type);
  if (!base) return s;
  for (uint32_t d = 0; d < e->nkid && d < base->rank; d++)
    if (e->u.dim[d].out >= 0) s.axis[e->u.dim[d].out] = base->axis[d];
  s.open = base->open, s.argument = base->argument, s.bound = base->bound;
  s.pending = base->pending, s.op = base->op, s.loc = base->loc;
  return s;
}

static bool shard_of(Layouts *l, const TdExpr *e, Shard *out) {
  const Shard *base;
  switch (e->kind) {
  case TD_EXPR_LIT:
  case TD_EXPR_SIZE: *out = (Shard){0}; return true;
  case TD_EXPR_VIEW: *out = view_shard(l, e); return true;
  case TD_EXPR_OP: return operator_shard(l, e, out);
  case TD_EXPR_CAST: return cast_shard(l, e, out);
  case TD_EXPR_TENSOR: return tensor_shard(l, e, out);
  case TD_EXPR_LOAD:
    *out = nothing_known(e->type);
    base = find(l, e->sym);
    if (base) out->pending = base->pending, out->op = base->op, out->loc = base->loc;
    return true;
  default: *out = nothing_known(e->type); return true;
  }
}

/* A value goes to a place: an argument takes no parts, and no other layout than its own. */
static bool write_place(Layouts *l, const TdStmt *s, const TdExpr *place, const TdExpr *value) {
  const Shard *base = find(l, place->sym);
  Shard v, to = place->kind == TD_EXPR_VIEW ? view_shard(l, place) : nothing_known(place->type);
  if (!shard_of(l, value, &v)) return false;
  if (!base || !base->argument) {
    bool all = place->kind == TD_EXPR_VIEW && base && to.rank == base->rank;
    Shard next = all || !base ? v : *base;
    if (v.pending) next.pending |= v.pending, next.op = v.op, next.loc = v.loc;
    next.open = true;
    next.type = base ? base->type : NULL;
    if (place->kind == TD_EXPR_VIEW || base) assign(l, place->sym, next);
    return true;
  }
  if (v.pending && l->travels && v.op == TD_OP_ADD)
    l->stored |= v.pending;
  else if (v.pending)
    return refuse_pending(l, &v, s->loc, value,
                          td_text_fmt(l->diag->arena, "is stored in '%s'", place->sym->name));
  for (int d = 0; base->bound && d < to.rank && d < v.rank; d++)
    if (v.axis[d] >= 0 && to.axis[d] != v.axis[d])
      return refuse_layout(l, s->loc, td_text_fmt(l->diag->arena, "'%s' takes", place->sym->name),
                           v.axis[d], "into", to.axis[d]);
  return true;
}

static bool check(Layouts *l, const TdStmt *s);

/* A call: the callee's parameters are what is passed; parts that it leaves in locals are there. */
static bool check_call(Layouts *l, const TdStmt *s) {
  const TdUnit *u = td_prog_unit(l->prog, s->sym);
  if (!u || u->kind != TD_UNIT_KERNEL) return true;
  for (uint32_t i = 0; i < s->nexpr; i++)
    if (s->expr[i]->kind == TD_EXPR_VIEW && s->expr[i]->type->kind == TD_T_TENSOR)
      assign(l, u->param[i].sym, view_shard(l, s->expr[i]));
  if (!check(l, u->body)) return false;
  for (uint32_t i = 0; i < s->nexpr; i++) {
    const Shard *after = find(l, u->param[i].sym), *own = find(l, s->expr[i]->sym);
    if (s->expr[i]->kind != TD_EXPR_VIEW || !after || !after->pending || !own || own->argument)
      continue;
    Shard next = *own;
    next.pending |= after->pending, next.op = after->op, next.loc = after->loc;
    assign(l, s->expr[i]->sym, next);
  }
  return true;
}

static bool check_local(Layouts *l, const TdStmt *s) {
  Shard v = nothing_known(s->type);
  if (s->cls == TD_LOCAL_AUTO && s->nexpr && !shard_of(l, s->expr[0], &v)) return false;
  v.argument = v.bound = false;
  v.type = s->type;
  v.open = true;
  assign(l, s->sym, v);
  return true;
}

/* The bodies of loops twice, for what one turn leaves to the next. */
static bool check_kind(Layouts *l, const TdStmt *s) {
  Shard v;
  int turns = s->kind == TD_STMT_FOR || s->kind == TD_STMT_WHILE ? 2 : 1;
  switch (s->kind) {
  case TD_STMT_LOCAL: return check_local(l, s);
  case TD_STMT_STORE:
  case TD_STMT_SET: return write_place(l, s, s->expr[0], s->expr[1]);
  case TD_STMT_PUT: return shard_of(l, s->expr[1], &v);
  case TD_STMT_GET:
    if (s->sym) assign(l, s->sym, nothing_known(s->type));
    return true;
  case TD_STMT_CALL: return check_call(l, s);
  default: break;
  }
  for (int turn = 0; turn < turns; turn++)
    for (uint32_t i = 0; i < s->nkid; i++)
      if (!check(l, s->kid[i])) return false;
  return true;
}

static bool check(Layouts *l, const TdStmt *s) {
  td_ctx_tick(l->ctx, 1);
  td_ctx_enter(l->ctx);
  bool ok = check_kind(l, s);
  td_ctx_leave(l->ctx);
  return ok;
}

/* The layout of a parameter: "S1R"; without one it is the argument itself. */
static Shard param_shard(const Layouts *l, const TdType *t, const char *layout) {
  Shard s = {.type = t, .rank = t->rank, .argument = true, .bound = layout != NULL};
  for (int d = 0; d < s.rank; d++) {
    s.axis[d] = WHOLE;
    if (!layout || *layout++ != 'S') continue;
    int axis = *layout++ - '0';
    if (l->parallel >> axis & 1) s.axis[d] = (int8_t)axis;
  }
  return s;
}

static bool check_run(Layouts *l, const TdUnit *design, const TdRun *r) {
  const TdUnit *k = td_prog_unit(l->prog, r->unit);
  bool any = false;
  if (!k || !k->body) return true;
  l->run = r;
  l->parallel = 0;
  l->at = (TdMap){0};
  for (int d = 0; d < r->rank; d++) {
    int64_t n = 2;
    td_unit_value(design, r->map[d], &n);
    l->parallel |= (uint32_t)(n > 1) << d;
  }
  for (size_t i = 0; i < r->nbind; i++) {
    const TdParam *p = td_unit_param(k, r->bind[i].param);
    if (p->type->kind != TD_T_TENSOR) continue;
    any |= r->bind[i].layout != NULL;
    assign(l, p->sym, param_shard(l, p->type, r->bind[i].layout));
  }
  return !any || check(l, k->body);
}

TdMap td_layouts_axes(TdArena *a, const TdProg *p) {
  TdDiag quiet = {.arena = a};
  const TdUnit *u = td_prog_root(p);
  Layouts l = {.prog = p, .ctx = p->store->session->ctx, .arena = a, .diag = &quiet};
  for (size_t r = 0; r < u->nrun; r++) check_run(&l, u, &u->run[r]);
  return l.axes;
}

/* Whether a tensor operation gives a part of a sum over the axis, its operands being whole. */
static bool is_part(void *ud, const TdExpr *e, int axis) {
  Layouts *l = ud;
  Shard s;
  return shard_of(l, e, &s) && s.op == TD_OP_ADD && (s.pending >> axis & 1);
}

/* After a refusal of r because a part is stored: whether all such sums are complete where they are
 * stored, since their parts travel there by streams. Then there is no refusal. */
static bool arrives_whole(Layouts *l, const TdUnit *design, const TdRun *r) {
  if (!l->diag->code || strcmp(l->diag->code, "pending-sum") != 0) return false;
  TdDiag *refusal = l->diag, tried = {.arena = l->arena};
  l->diag = &tried;
  l->travels = true;
  l->stored = 0;
  bool whole = check_run(l, design, r) && l->stored;
  for (int d = 0; whole && d < r->rank; d++)
    if (l->stored >> d & 1) whole = td_travel_complete(l->arena, l->prog, design, r, d, is_part, l);
  l->travels = false;
  l->diag = refusal;
  if (whole) *refusal = (TdDiag){.arena = refusal->arena};
  return whole;
}

bool td_layouts_check(const TdProg *p, TdDiag *d) {
  TdCtx *c = p->store->session->ctx;
  TdArena *a = td_arena_scratch(c);
  const TdUnit *u = td_prog_root(p);
  Layouts l = {.prog = p, .ctx = c, .arena = a, .diag = d};
  bool ok = true;
  for (size_t r = 0; r < u->nrun && ok; r++)
    ok = check_run(&l, u, &u->run[r]) || arrives_whole(&l, u, &u->run[r]);
  td_arena_free(a);
  return ok;
}
