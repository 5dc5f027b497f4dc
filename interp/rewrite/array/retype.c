/* retype.c - retype: another type for an array or scalar; operators on it compute in the types
 * that follow, and the rest is cast as a store casts. What comes after is compared with that. */
#include <string.h>

#include "ir/mixed.h"
#include "rewrite/array/call_aliases.h"

enum { NAME, TYPE };

typedef struct Retype {
  TdRewrite *r;
  TdPassed of;
  const TdType *elem;
  const TdProg *prog; /* so far: parameters have their types, bodies perhaps not yet */
  const TdUnit *unit;
  const TdStmt *at; /* the statement in hand */
} Retype;

/* Whether a symbol gets the new type. */
static bool is_named(const Retype *k, TdSym sym) {
  for (size_t i = 0; sym && i < k->of.array.n; i++)
    if (k->of.array.at[i].sym == sym) return true;
  return false;
}

/* t with the new elements. */
static const TdType *turned(const Retype *k, const TdType *t) {
  return t->kind == TD_T_TENSOR ? td_type_reshape(k->r->session, t, k->elem) : k->elem;
}

static const TdExpr *refuse(const Retype *k, const char *why) {
  if (td_diag_failed(k->r->diag)) return NULL;
  td_util_refuse(k->r, TD_ILLEGAL, "type", k->at ? k->at->loc : (TdLoc){0}, "'%s' cannot be %s: %s",
                 k->of.array.at[0].sym->name, td_type_str(k->r->arena, k->elem), why);
  return NULL;
}

/* Notes what a line does otherwise than before, once. */
static void report(const Retype *k, const char *what, const TdType *now, const TdType *was) {
  TdArena *a = k->r->arena;
  const char *note = td_text_fmt(a, "line %u: %s %s, was %s", k->at->loc.line, what,
                                 td_type_str(a, now), td_type_str(a, was));
  for (size_t i = 0; i < k->r->note.n; i++)
    if (strcmp(k->r->note.at[i], note) == 0) return;
  td_vec_push(a, &k->r->note, note);
}

/* Whether operands of e count bits: literals among them are integers, whatever is beside them. */
static bool counts_bits(const TdExpr *e) {
  switch (td_ops[e->op].rule) {
  case TD_RULE_GETBITS:
  case TD_RULE_SETBITS:
  case TD_RULE_SHL:
  case TD_RULE_SHR:
  case TD_RULE_ASR: return true;
  default: return false;
  }
}

/* The float type that literals beside the operands of e have, or NULL. */
static const TdType *float_beside(const TdExpr *e) {
  const TdExpr *const *kid = e->kid;
  for (uint32_t i = 0; i < e->nkid && !counts_bits(e); i++) {
    const TdType *t = td_type_scalar(kid[i]->type);
    if (kid[i]->kind != TD_EXPR_LIT && t->kind == TD_T_FLOAT) return t;
  }
  return NULL;
}

/* Literal e in type t; e itself if it has no value there. */
static const TdExpr *literal_in(const Retype *k, const TdExpr *e, const TdType *t) {
  TdFault fault = TD_FAULT_NONE;
  uint64_t bits = td_num_cast(t, e->type, e->u.bits, &fault);
  return fault == TD_FAULT_NONE ? td_expr_lit(k->r->store->arena, t, bits, e->loc) : e;
}

/* What operator e gives on scalars of types t. */
static const TdType *result_of(const Retype *k, const TdExpr *e, const TdType *const *t) {
  TdSession *s = k->r->session;
  TdDiag why = {.arena = k->r->arena};
  const TdType *r;
  int64_t lo, n;
  if (e->op == TD_OP_SHL && td_expr_is_const(e->kid[1], &n))
    r = td_promote_shl(s, t[0], n, e->loc, &why);
  else if (e->op == TD_OP_GETBITS || e->op == TD_OP_SETBITS) {
    bool fixed = td_expr_is_const(e->kid[1], &lo);
    td_lin_diff(s, e->kid[2], e->kid[1], &n);
    if (!fixed) lo = 0;
    r = td_promote_bits(s, t[0], lo, lo + n, e->loc, &why);
    if (r && e->op == TD_OP_SETBITS) r = td_promote_op(s, e->op, t, 4, e->loc, &why);
  } else if (e->op == TD_OP_BITCAST)
    r = td_promote_bitcast(td_type_scalar(e->type), t[0], e->loc, &why) ? td_type_scalar(e->type)
                                                                        : NULL;
  else
    r = td_promote_op(s, e->op, t, (int)e->nkid, e->loc, &why);
  if (!r) refuse(k, why.message);
  return r;
}

/* Whether a slice e of a word that `was` had before is still in it: at a place that the data or a
 * loop tells, a narrower word might not have the bits. */
static bool check_slice(const Retype *k, const TdExpr *e, const TdExpr *was) {
  int64_t lo;
  bool slice = e->op == TD_OP_GETBITS || e->op == TD_OP_SETBITS;
  const TdType *now = td_type_scalar(e->kid[0]->type), *old = td_type_scalar(was->kid[0]->type);
  if (!slice || now->w >= old->w || td_expr_is_const(e->kid[1], &lo)) return true;
  return refuse(k, "it might not have the bits that a variable counts") != NULL;
}

/* Operator e, of which some operand has another type now than it has in `before`. */
static const TdExpr *turn_op(const Retype *k, const TdExpr *e, const TdExpr *before) {
  if (!check_slice(k, e, before)) return e;
  TdArena *a = k->r->store->arena;
  const TdExpr *kid[4];
  const TdType *t[4], *beside = float_beside(e);
  bool logic = td_ops[e->op].rule == TD_RULE_LOGIC;
  for (uint32_t i = 0; i < e->nkid; i++) {
    bool literal = beside && e->kid[i]->kind == TD_EXPR_LIT && td_type_is_number(e->kid[i]->type);
    kid[i] = literal ? literal_in(k, e->kid[i], beside) : e->kid[i];
  }
  if (e->op != TD_OP_GETBITS && e->op != TD_OP_SETBITS)
    td_mixed_operands(k->r->session, a, (TdOp)e->op, kid, e->op == TD_OP_SELECT, (int)e->nkid);
  for (uint32_t i = 0; i < e->nkid; i++) t[i] = td_type_scalar(kid[i]->type);
  const TdType *r = logic ? e->type : result_of(k, e, t), *was = td_type_scalar(e->type);
  if (!r) return e;
  if (!td_promote_holds(r, was))
    report(k, td_text_fmt(k->r->arena, "'%s' gives", td_ops[e->op].lua), r, was);
  const TdType *now = e->type->kind == TD_T_TENSOR ? td_type_reshape(k->r->session, e->type, r) : r;
  return td_expr_op(a, (TdOp)e->op, now, kid, (int)e->nkid, e->loc);
}

/* Whether places that take an index still have one; else refuses. */
static bool check_indices(const Retype *k, const TdExpr *const *index, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (index[i]->type->kind != TD_T_INDEX)
      return refuse(k, "it is an index, or a loop's bound") != NULL;
  return true;
}

/* A cast whose operand has another type now: what a store made of it, its statement makes anew. */
static const TdExpr *turn_cast(const Retype *k, const TdExpr *e) {
  const TdExpr *x = e->kid[0];
  const TdType *to = td_type_scalar(e->type), *from = td_type_scalar(x->type);
  TdDiag why = {.arena = k->r->arena};
  if (to->kind == TD_T_INDEX && !(td_type_is_integer(from) && from->w <= 64)) {
    refuse(k, "it is an index, or a loop's bound");
    return e;
  }
  if (to->kind == TD_T_INDEX || !e->implicit) {
    if (!td_promote_cast(k->r->session, to, from, e->loc, &why)) refuse(k, why.message);
    return e->type == x->type ? x : e;
  }
  return x;
}

/* Whether the kids of e have the types that they had. */
static bool is_settled(const TdExpr *e, const TdExpr *was) {
  for (uint32_t i = 0; i < e->nkid; i++)
    if (e->kid[i]->type != was->kid[i]->type) return false;
  return true;
}

/* e after the change; its type follows. */
static const TdExpr *turn(const Retype *k, const TdExpr *e) {
  TdArena *a = k->r->store->arena;
  const TdExpr *kid[TD_MAX_RANK];
  td_ctx_enter(k->r->session->ctx);
  bool same = true;
  for (uint32_t i = 0; i < e->nkid && i < TD_MAX_RANK; i++) {
    kid[i] = turn(k, e->kid[i]);
    same &= kid[i] == e->kid[i];
  }
  td_ctx_leave(k->r->session->ctx);
  const TdExpr *now = same ? e : td_expr_with_kids(a, e, kid);
  bool part = e->kind == TD_EXPR_LOAD || e->kind == TD_EXPR_VIEW || e->kind == TD_EXPR_VAR;
  if (part && !check_indices(k, now->kid, now->nkid)) return e;
  if (part && is_named(k, e->sym)) {
    TdExpr *copy = td_arena_copy(a, now, sizeof *now + now->nkid * sizeof *now->kid);
    copy->type = turned(k, e->type);
    return copy;
  }
  if (is_settled(now, e)) return now;
  if (e->kind == TD_EXPR_OP) return turn_op(k, now, e);
  if (e->kind == TD_EXPR_CAST) return turn_cast(k, now);
  if (e->kind == TD_EXPR_TENSOR) refuse(k, "a whole expression sums it up in a type of its own");
  return now;
}

/* e as type t, cast as a store casts, or in so many words: where a store would not do it, and where
 * (`spelt`) the type of a local is that of its first value. */
static const TdExpr *as_type(const Retype *k, const TdExpr *e, const TdType *t, bool spelt) {
  const TdType *to = td_type_scalar(t), *from = td_type_scalar(e->type);
  while (e->kind == TD_EXPR_CAST && e->implicit && td_type_scalar(e->kid[0]->type) != from &&
         from->kind != TD_T_INDEX && td_type_scalar(e->kid[0]->type)->kind != TD_T_INDEX) {
    e = e->kid[0];
    from = td_type_scalar(e->type);
  }
  if (to == from) return e;
  if (e->kind == TD_EXPR_LIT && td_type_is_number(from)) {
    const TdExpr *same = literal_in(k, e, to);
    return same != e ? same : refuse(k, "a number that it is given has no value there");
  }
  TdDiag why = {.arena = k->r->arena};
  if (!td_promote_cast(k->r->session, to, from, e->loc, &why)) return refuse(k, why.message);
  if (!td_promote_holds(to, from) && e->kind != TD_EXPR_LIT) report(k, "a value becomes", to, from);
  const TdType *now =
      e->type->kind == TD_T_TENSOR ? td_type_reshape(k->r->session, e->type, to) : to;
  return td_expr_cast(k->r->store->arena, now, e, !spelt && td_promote_can_store(to, from));
}

/* The type that operand i of statement s must have; NULL: any. first: its operand 0 as it is. */
static const TdType *wanted(const Retype *k, const TdStmt *s, uint32_t i, const TdExpr *first) {
  const TdUnit *callee = s->kind == TD_STMT_CALL ? td_prog_unit(k->prog, s->sym) : NULL;
  bool stored = (s->kind == TD_STMT_STORE || s->kind == TD_STMT_SET) && i == 1;
  if (stored) return td_type_scalar(first->type);
  if (s->kind == TD_STMT_LOCAL) return td_type_scalar(s->type);
  if (s->kind == TD_STMT_PUT && i == 1) return td_type_scalar(first->type->elem);
  if (callee && td_type_is_scalar(callee->param[i].type)) return callee->param[i].type;
  return NULL;
}

/* Statement s and those below it. */
static const TdStmt *turn_stmt(Retype *k, const TdStmt *s) {
  TdStore *st = k->r->store;
  const TdStmt **kid = TD_NEWN(st->arena, const TdStmt *, s->nkid);
  const TdExpr **e = TD_NEWN(st->arena, const TdExpr *, s->nexpr);
  bool changed = false, declares = s->kind == TD_STMT_LOCAL && is_named(k, s->sym);
  if (declares) {
    TdStmt *copy = td_arena_copy(st->arena, s, sizeof *s);
    copy->type = turned(k, s->type);
    s = copy;
  }
  k->at = s;
  for (uint32_t i = 0; i < s->nexpr && !td_diag_failed(k->r->diag); i++) {
    e[i] = turn(k, s->expr[i]);
    bool settled = e[i] == s->expr[i] && e[0] == s->expr[0] && !declares && s->kind != TD_STMT_CALL;
    const TdType *t = settled ? NULL : wanted(k, s, i, e[0]);
    bool spelt = s->kind == TD_STMT_LOCAL && s->init == TD_INIT_VALUE;
    if (t && (e[i] != s->expr[i] || td_type_scalar(e[i]->type) != t))
      e[i] = as_type(k, e[i], t, spelt);
    changed |= e[i] != s->expr[i];
  }
  if (s->kind == TD_STMT_GET && s->nexpr > 1 && is_named(k, s->expr[1]->sym))
    refuse(k, "it holds tokens as they come");
  if (td_diag_failed(k->r->diag)) return s;
  if (s->kind == TD_STMT_FOR && !check_indices(k, e, s->nexpr)) return s;
  if (changed) s = td_stmt_with_exprs(st, s, e, s->nexpr);
  changed = false;
  for (uint32_t i = 0; i < s->nkid; i++) {
    kid[i] = turn_stmt(k, s->kid[i]);
    changed |= kid[i] != s->kid[i];
  }
  return changed ? td_stmt_with_kids(st, s, kid, s->nkid) : s;
}

/* Whether a name can have another type at all: no stream, slot, constant or state. */
static bool check_place(const Retype *k, const TdPlace *p) {
  bool local = p->stmt && p->stmt->kind == TD_STMT_LOCAL && p->stmt->cls == TD_LOCAL_AUTO;
  bool param = !p->stmt && p->unit->kind != TD_UNIT_EXTERN;
  if (local || (param && td_call_aliases_type(p)->kind != TD_T_PORT)) return true;
  td_util_refuse(k->r, TD_ILLEGAL, "class", p->stmt ? p->stmt->loc : (TdLoc){0},
                 "'%s' is a constant, a state, a token, or of foreign code", p->sym->name);
  return false;
}

/* Gives parameter p its new type in k->prog. */
static void turn_param(Retype *k, const TdPlace *p) {
  TdStore *st = k->r->store;
  const TdUnit *u = td_prog_unit(k->prog, p->unit->sym);
  TdUnit *copy = td_unit_copy(st, u);
  TdParam *param = td_arena_copy(st->arena, u->param, u->nparam * sizeof *param);
  TdParam *own = &param[td_unit_param(u, p->sym) - u->param];
  own->type = turned(k, own->type);
  copy->param = param;
  k->prog = td_prog_with(k->prog, copy);
}

static const TdProg *apply(TdRewrite *r) {
  Retype k = {.r = r, .elem = r->arg[TYPE].type, .prog = r->prog};
  if (!td_call_aliases_find_parts(&k.of, r, NAME)) return NULL;
  const TdPlace *first = &k.of.array.at[0];
  if (!td_type_is_number(k.elem) || k.elem->kind == TD_T_INDEX)
    return td_util_refuse(r, TD_USAGE, "scalar", (TdLoc){0}, "%s is no type of a number",
                          td_type_str(r->arena, k.elem));
  if (td_type_scalar(td_call_aliases_type(first)) == k.elem)
    return td_util_refuse(r, TD_USAGE, "same-type", (TdLoc){0}, "'%s' is %s already",
                          first->sym->name, td_type_str(r->arena, k.elem));
  for (size_t i = 0; i < k.of.array.n; i++) {
    if (!check_place(&k, &k.of.array.at[i])) return NULL;
    if (!k.of.array.at[i].stmt) turn_param(&k, &k.of.array.at[i]);
  }
  for (size_t i = 0; i < k.prog->nunit; i++) {
    k.unit = k.prog->unit[i];
    if (!k.unit->body) continue;
    const TdStmt *body = turn_stmt(&k, k.unit->body);
    if (td_diag_failed(r->diag)) return NULL;
    if (body != k.unit->body)
      k.prog = td_prog_with(k.prog, td_unit_with_body(r->store, k.unit, body));
  }
  const char *what = td_text_fmt(r->arena, "retype %s %s -> %s", first->sym->name,
                                 td_type_str(r->arena, td_type_scalar(td_call_aliases_type(first))),
                                 td_type_str(r->arena, k.elem));
  td_vec_push(r->arena, &r->relative, what);
  for (size_t i = 1; i < k.of.array.n; i++)
    td_util_note(r, "'%s' of '%s' too", k.of.array.at[i].sym->name,
                 k.of.array.at[i].unit->sym->name);
  return td_wide_check(k.prog, r->diag) ? k.prog : NULL;
}

const TdPrim td_prim_retype = {
    .name = "retype",
    .on = "array",
    .summary = "Give an array or scalar another type; later steps are compared with the result.",
    .args = {{"name", TD_ARG_ARRAY, TD_ARG_NEEDED, "the array, local or parameter", NULL},
             {"type", TD_ARG_TYPE, TD_ARG_NEEDED, "the type of its elements", NULL}},
    .rewrite = "C = f32[M][N]; C[i][j] = C[i][j] + x  =>  C = f16[M][N]; "
               "C[i][j] = f16(C[i][j] + x)",
    .legal = "it changes the numbers: the notes say on which lines values or operators lose "
             "precision. The new types must be defined for what is done: no index, no bits of a "
             "float, nor of fewer bits at a variable place",
    .errors = "class type scalar same-type too-wide",
    .example = "s:retype(\"C\", tide.f16)",
    .apply = apply,
    .new_reference = true,
};
