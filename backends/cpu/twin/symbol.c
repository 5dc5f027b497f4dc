/* symbol.c - the target of fingerprints: what is computed from symbolic values is written as
 * one statement for each operator, on values of type td_sym; all else as numbers. */
#include <inttypes.h>
#include <string.h>

#include "backends/cpu/twin/twin_text.h"

static const TdCpuTaint *taint_of(const TdCWriter *w) {
  return ((const TdCpuProg *)w->ud)->taint;
}

static bool is_symbolic(const TdCWriter *w, const TdExpr *e) {
  return td_cpu_taint_reaches(taint_of(w), e);
}

static bool not_here(TdCWriter *w, TdLoc loc, const char *what) {
  return td_cfamily_refuse(w, "not-here", loc, "verify with this input concrete",
                           "%s depends on symbolic values", what);
}

uint64_t td_cpu_symbol_key(int op, const TdType *to, const TdType *const *of, int n) {
  uint64_t key = td_map_mix((uint64_t)op, td_domain_type_key(to, op == TD_SYMBOL_CAST));
  for (int i = 0; i < n; i++) key = td_map_mix(key, td_domain_type_key(of[i], false));
  return key;
}

int td_cpu_symbol_kind(const TdType *t) {
  if (t->kind == TD_T_FLOAT) return 2;
  return td_type_is_signed(t) || t->kind == TD_T_INDEX;
}

/* What was made so in this statement; no text: nothing. */
static TdPiece known(const TdCpuProg *p, const char *how, const char *what) {
  for (size_t i = 0; i < p->made.n; i++)
    if (strcmp(p->made.at[i].how, how) == 0 && strcmp(p->made.at[i].what, what) == 0)
      return p->made.at[i].piece;
  return (TdPiece){0};
}

/* Writes "MACRO(fresh, key, arguments);", once in a statement; the piece is what it declares. */
static TdPiece made(TdCWriter *w, const char *macro, uint64_t key, const char *fmt, ...)
    TD_PRINTF(4, 5);
static TdPiece made(TdCWriter *w, const char *macro, uint64_t key, const char *fmt, ...) {
  TdCpuProg *p = w->ud;
  va_list ap;
  va_start(ap, fmt);
  const char *text = td_text_vfmt(w->arena, fmt, ap);
  va_end(ap);
  const char *what = td_text_fmt(w->arena, "0x%016" PRIx64 "u, %s", key, text);
  TdPiece r = known(p, macro, what);
  if (r.text) return r;
  r = td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "td_%d", ++p->symbols);
  td_text_line(&w->out, "%s(%s, %s);", macro, r.text, what);
  td_vec_push(w->arena, &p->made, ((TdCpuMade){.how = macro, .what = what, .piece = r}));
  return r;
}

/* A number as a symbolic value: hashed with its type. */
static TdPiece lifted_here(TdCWriter *w, const TdExpr *e) {
  TdPiece p = td_cnum_exact(w, e);
  const char *bits = e->type->kind == TD_T_FLOAT ? td_text_fmt(w->arena, "td_bits_f64(%s)", p.text)
                                                 : td_cexpr_cast(w, p, TD_C_U64).text;
  return made(w, "TD_LIFT", td_cpu_symbol_key(TD_SYMBOL_CONSTANT, e->type, NULL, 0), "%s, %d, %d",
              bits, td_cpu_symbol_kind(e->type), td_type_is_fixed(e->type) ? e->type->f : 0);
}

/* The same; a literal is lifted once, at the start of its unit. */
static TdPiece lifted(TdCWriter *w, const TdExpr *e) {
  TdCpuProg *p = w->ud;
  if (e->kind != TD_EXPR_LIT) return lifted_here(w, e);
  for (size_t i = 0; i < p->lift.n; i++)
    if (p->lift.at[i].type == e->type && p->lift.at[i].bits == e->u.bits)
      return p->lift.at[i].piece;
  TdText body = w->out;
  size_t made_here = p->made.n;
  w->out = p->lifts;
  TdPiece piece = lifted_here(w, e);
  p->lifts = w->out;
  p->made.n = made_here;
  w->out = body;
  td_vec_push(w->arena, &p->lift, ((TdCpuLift){e->type, e->u.bits, piece}));
  return piece;
}

unsigned td_cpu_symbol_width(const TdType *t) {
  int width = t->w - t->f;
  bool wraps = t->kind != TD_T_FLOAT && t->kind != TD_T_BOOL && !t->saturate;
  return wraps && width > 0 && width <= 64 ? (unsigned)width : 0;
}

/* How a cast changes a number, for the algebras: see td_cast in the run time. A float in a wider
 * one is another number: what was computed of it was rounded. */
static int way_of_cast(const TdType *to, const TdType *from) {
  bool exact = td_promote_holds(to, from) && from->kind != TD_T_FLOAT;
  bool wraps = from->kind != TD_T_FLOAT && to->f >= from->f && td_cpu_symbol_width(to);
  return wraps * 2 + exact;
}

/* x, of type `from`, in type `to`. */
static TdPiece cast(TdCWriter *w, const TdType *to, const TdType *from, TdPiece x) {
  if (to == from) return x;
  int way = way_of_cast(to, from);
  unsigned width = way & 2 ? td_cpu_symbol_width(to) : 0;
  uint64_t key = td_cpu_symbol_key(TD_SYMBOL_CAST, to, &from, 1);
  const char *macro = to->kind == TD_T_FLOAT || from->kind == TD_T_FLOAT ? "TD_FLOATED" : "TD_CAST";
  return made(w, macro, key, "%s, %d, %u, 0x%" PRIx64 "u", x.text, way, width,
              td_domain_type_key(to, false));
}

/* Operand i of e: in the type of a float result, where it is one. */
static TdPiece operand(TdCWriter *w, const TdExpr *e, uint32_t i, const TdType **type) {
  const TdExpr *x = e->kid[i];
  bool joins =
      e->type->kind == TD_T_FLOAT && (e->op != TD_OP_SELECT || i > 0) && e->op != TD_OP_BITCAST;
  TdPiece p = td_cpu_symbol_value(w, x);
  *type = joins ? e->type : x->type;
  return cast(w, *type, x->type, p);
}

/* The value that a condition on numbers chooses. */
static TdPiece chosen(TdCWriter *w, const TdExpr *e) {
  TdCpuProg *p = w->ud;
  TdPiece c = td_cnum_exact(w, e->kid[0]);
  TdPiece x = cast(w, e->type, e->kid[1]->type, td_cpu_symbol_value(w, e->kid[1]));
  TdPiece y = cast(w, e->type, e->kid[2]->type, td_cpu_symbol_value(w, e->kid[2]));
  TdPiece r = td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "td_%d", ++p->symbols);
  td_text_line(&w->out, "td_sym %s = %s ? %s : %s;", r.text, td_cexpr_operand(w, c, TD_BIND_OROR),
               x.text, y.text);
  return r;
}

/* Whether swapping the operands of op never changes a bit. */
static bool is_symmetric(int op) {
  return td_ops[op].symmetric && op != TD_OP_MIN && op != TD_OP_MAX;
}

static const char *macro_of(int op, uint32_t n) {
  switch (op) {
  case TD_OP_ADD: return "TD_ADD";
  case TD_OP_SUB: return "TD_SUB";
  case TD_OP_MUL: return "TD_MUL";
  case TD_OP_NEG: return "TD_NEG";
  case TD_OP_SELECT: return "TD_SELECT";
  default: break;
  }
  if (n == 2) return is_symmetric(op) ? "TD_SYM2" : "TD_OP2";
  return n == 1 ? "TD_OP1" : "TD_OP3";
}

static TdPiece operator(TdCWriter *w, const TdExpr *e) {
  const TdType *of[4];
  TdPiece x[4];
  if (e->op == TD_OP_SELECT && !is_symbolic(w, e->kid[0])) return chosen(w, e);
  for (uint32_t i = 0; i < e->nkid; i++) x[i] = operand(w, e, i, &of[i]);
  uint64_t key = td_cpu_symbol_key(e->op, e->type, of, (int)e->nkid);
  const char *macro = macro_of(e->op, e->nkid);
  const TdOpInfo *op = &td_ops[e->op];
  if (op->associative && op->symmetric && e->op != TD_OP_ADD && e->op != TD_OP_MUL)
    return made(w, is_symmetric(e->op) ? "TD_GROUP_SYM" : "TD_GROUP", key, "%d, %s, %s, %d", e->op,
                x[0].text, x[1].text, !op->commutes);
  if (e->nkid == 4) {
    x[0] = made(w, "TD_OP2", key, "%s, %s", x[0].text, x[3].text);
    macro = "TD_OP3";
  }
  TdText args = td_text_new(w->arena);
  for (uint32_t i = 0; i < e->nkid && i < 3; i++)
    td_text_putf(&args, "%s%s", i ? ", " : "", x[i].text);
  return made(w, macro, key, "%s", td_text_str(&args));
}

/* The cell that e names, which is written `place`, by an address that this statement has; no text:
 * it has none from which the distance is known. */
static TdPiece addressed(TdCWriter *w, const TdExpr *e, const char *place) {
  const TdCpuProg *p = w->ud;
  int64_t n;
  TdPiece r = known(p, "", place);
  if (r.text) return r;
  for (size_t i = 0; i < p->made.n; i++)
    if (p->made.at[i].base && td_cexpr_distance(w, p->made.at[i].base, e, &n))
      return td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "%s[%" PRId64 "]", p->made.at[i].pointer,
                            n);
  return (TdPiece){0};
}

/* The symbolic value in memory that e reads; its address is computed once. */
static TdPiece loaded(TdCWriter *w, const TdExpr *e) {
  TdCpuProg *p = w->ud;
  TdPiece place = td_cexpr_place(w, e);
  if (!e->nkid) return place;
  TdPiece r = addressed(w, e, place.text);
  if (r.text) return r;
  TdCpuMade m = {.how = "", .what = place.text, .base = e};
  m.pointer = td_text_fmt(w->arena, "td_%d", ++p->symbols);
  m.piece = td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "(*%s)", m.pointer);
  td_text_line(&w->out, "td_sym *const %s = (td_sym *)&%s;", m.pointer, place.text);
  td_vec_push(w->arena, &p->made, m);
  return m.piece;
}

TdPiece td_cpu_symbol_value(TdCWriter *w, const TdExpr *e) {
  if (!is_symbolic(w, e)) return lifted(w, e);
  for (uint32_t i = 0; e->kind == TD_EXPR_LOAD && i < e->nkid; i++)
    if (is_symbolic(w, e->kid[i])) not_here(w, e->loc, "an index");
  td_ctx_enter(w->session->ctx);
  TdPiece p;
  switch (e->kind) {
  case TD_EXPR_VAR:
    p = td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "%s", td_cname_of(w, e->sym)->text);
    break;
  case TD_EXPR_LOAD: p = loaded(w, e); break;
  case TD_EXPR_CAST:
    p = cast(w, e->type, e->kid[0]->type, td_cpu_symbol_value(w, e->kid[0]));
    break;
  default: p = operator(w, e);
  }
  td_ctx_leave(w->session->ctx);
  return p;
}

static const char *cell(TdCWriter *w, TdSym sym, const TdType *t) {
  return td_cpu_taint_has(taint_of(w), sym) ? "td_sym" : td_cnum_cell(w, sym, t);
}

TdPiece td_cpu_symbol_argument(TdCWriter *w, const TdExpr *e, TdSym param) {
  return td_cpu_taint_has(taint_of(w), param) ? td_cpu_symbol_value(w, e) : td_cnum_value(w, e);
}

static TdPiece number(TdCWriter *w, const TdExpr *e) {
  if (is_symbolic(w, e)) not_here(w, e->loc, "an index, bound or condition");
  return td_cnum_exact(w, e);
}

/* Writes the assignment of a symbolic value. */
static void put_cell(TdCWriter *w, const TdExpr *place, TdPiece value) {
  const char *plain = td_cexpr_place(w, place).text;
  TdPiece cell = addressed(w, place, plain);
  td_text_line(&w->out, "TD_PUT(%s, %s);", cell.text ? cell.text : plain, value.text);
}

/* Whether the places of stores in an arm are written once, and not read after. */
static bool is_simple(TdCWriter *w, const TdStmt *arm) {
  for (uint32_t i = 0; i < arm->nkid; i++) {
    const TdStmt *s = arm->kid[i];
    if (s->kind != TD_STMT_STORE) return false;
    for (uint32_t k = 0; k < i; k++)
      if (td_walk_uses(w->session->ctx, s, arm->kid[k]->expr[0]->sym)) return false;
  }
  return true;
}

/* The store of an arm to the same place, or NULL; *clash if another may be. */
static const TdStmt *store_to(const TdStmt *arm, const TdExpr *place, bool *clash) {
  for (uint32_t i = 0; arm && i < arm->nkid; i++) {
    const TdExpr *other = arm->kid[i]->expr[0];
    if (other->sym != place->sym) continue;
    if (td_equal_expr(other, place)) return arm->kid[i];
    *clash = true;
  }
  return NULL;
}

/* The stores of two arms as one each, of what the condition selects. */
typedef struct Merge {
  const TdExpr *place;
  TdPiece value;
} Merge;

/* select(c, then, otherwise) of a place; an arm that does not store there keeps what was. */
static Merge merged(TdCWriter *w, TdPiece c, const TdExpr *place, const TdStmt *then,
                    const TdStmt *otherwise) {
  const TdType *t = place->type, *of[] = {td_type_bool(w->session), t, t};
  TdPiece x = td_cpu_symbol_value(w, then ? then->expr[1] : place);
  TdPiece y = td_cpu_symbol_value(w, otherwise ? otherwise->expr[1] : place);
  return (Merge){place, made(w, "TD_SELECT", td_cpu_symbol_key(TD_OP_SELECT, t, of, 3),
                             "%s, %s, %s", c.text, x.text, y.text)};
}

/* An if on a symbolic condition: all values are computed before any is stored. */
static void merge(TdCWriter *w, const TdStmt *s) {
  const TdStmt *arm[] = {s->kid[0], s->nkid > 1 ? s->kid[1] : NULL};
  if (!is_simple(w, arm[0]) || (arm[1] && !is_simple(w, arm[1]))) {
    not_here(w, s->loc, "this if");
    return;
  }
  TdPiece c = td_cpu_symbol_value(w, s->expr[0]);
  TD_VEC(Merge) all = {0};
  bool clash = false;
  for (int k = 0; k < 2; k++)
    for (uint32_t i = 0; arm[k] && i < arm[k]->nkid; i++) {
      const TdStmt *own = arm[k]->kid[i], *other = store_to(arm[!k], own->expr[0], &clash);
      if (k && other) continue;
      Merge m = merged(w, c, own->expr[0], k ? other : own, k ? own : other);
      td_vec_push(w->arena, &all, m);
    }
  if (clash) not_here(w, s->loc, "which element this if writes");
  for (size_t i = 0; i < all.n; i++) put_cell(w, all.at[i].place, all.at[i].value);
}

/* The symbolic value of all that a statement computes. */
static TdPiece whole(TdCWriter *w, const TdExpr *e) {
  TdPiece p = td_cpu_term_value(w, e);
  return p.text ? p : td_cpu_symbol_value(w, e);
}

/* A local scalar or a store that is symbolic. */
static void put_scalar(TdCWriter *w, const TdStmt *s) {
  if (s->kind == TD_STMT_STORE) {
    TdPiece x = whole(w, s->expr[1]);
    put_cell(w, s->expr[0], x);
    return;
  }
  TdPiece x = {"{0, 0}", TD_BIND_ATOM, TD_C_OTHER};
  if (s->nexpr) x = whole(w, s->expr[0]);
  td_text_line(&w->out, "td_sym %s = %s;", td_cname_declare(w, s->sym), x.text);
}

static bool stmt(TdCWriter *w, const TdStmt *s) {
  ((TdCpuProg *)w->ud)->made.n = 0;
  TdSym sym = s->kind == TD_STMT_STORE ? s->expr[0]->sym : s->sym;
  bool here = td_cpu_taint_has(taint_of(w), sym);
  switch (s->kind) {
  case TD_STMT_STORE: break;
  case TD_STMT_LOCAL:
    if (s->cls == TD_LOCAL_STATE) not_here(w, s->loc, "a state, perhaps,");
    if (s->type->kind == TD_T_TENSOR) return td_cpu_unit_stmt(w, s);
    break;
  case TD_STMT_IF:
    if (is_symbolic(w, s->expr[0])) merge(w, s);
    return is_symbolic(w, s->expr[0]);
  default: return td_cpu_unit_stmt(w, s);
  }
  if (here) put_scalar(w, s);
  return here;
}

TdCTarget td_cpu_symbol_target(void) {
  TdCTarget t = td_cpu_unit_target;
  t.cell = cell;
  t.index = number;
  t.truth = number;
  t.stmt = stmt;
  return t;
}
