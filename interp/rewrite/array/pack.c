/* pack.c - pack: n elements of a local array in a row become one word, or (n = 1) a word's
 * parts become elements again. */
#include "rewrite/copied.h"
#include "rewrite/array/local.h"

enum { ARRAY, DIM, COUNT };

typedef struct Pack {
  TdLocalArray l;
  int dim;
  int64_t n;          /* elements of a word */
  const TdType *elem; /* of the array when it is not packed */
  const TdType *word; /* when it is */
  const char *why;    /* a use that cannot be unpacked, or NULL */
} Pack;

static const TdProg *refuse(const Pack *p, TdDiagKind kind, const char *code, const char *why) {
  td_util_refuse(p->l.r, kind, code, p->l.decl->loc, "'%s' %s", p->l.sym->name, why);
  return NULL;
}

/* Whether a cast between two types of one width keeps the bits. */
static bool keeps_bits(const TdType *to, const TdType *from) {
  return td_type_is_integer(to) && td_type_is_integer(from) && !to->saturate;
}

/* The word's bits as an element, and an element as bits. */
static const TdExpr *as_type(const Pack *p, const TdType *to, const TdExpr *e) {
  TdArena *a = p->l.r->store->arena;
  e = td_util_written(a, e);
  if (e->type == to) return e;
  e = keeps_bits(to, e->type) ? td_expr_cast(a, to, e, false)
                              : td_expr_op(a, TD_OP_BITCAST, to, &e, 1, e->loc);
  return td_expr_fold(p->l.r->session, a, e);
}

static const TdType *bits_type(const Pack *p) {
  return td_type_uint(p->l.r->session, p->elem->w);
}

/* Where element k of a word begins. */
static const TdExpr *bit(const Pack *p, const TdExpr *k, int64_t more) {
  TdRewrite *r = p->l.r;
  const TdExpr *at = td_lin_times(r->session, r->store->arena, k, p->elem->w);
  return td_lin_plus(r->session, r->store->arena, at, td_util_const(r, more));
}

/* The word that holds the element `load`, and (lo, hi) its bits there. */
static const TdExpr *word_of(const Pack *p, const TdExpr *load, const TdExpr **lo,
                             const TdExpr **hi) {
  TdRewrite *r = p->l.r;
  TdArena *a = r->store->arena;
  const TdExpr *index[TD_MAX_RANK];
  const TdExpr *inside = td_lin_mod(r->session, a, load->kid[p->dim], p->n);
  for (uint32_t d = 0; d < load->nkid; d++) index[d] = load->kid[d];
  index[p->dim] = td_lin_floordiv(r->session, a, load->kid[p->dim], p->n);
  *lo = bit(p, inside, 0);
  *hi = bit(p, inside, p->elem->w);
  return td_expr_load(a, load->sym, p->word, index, (int)load->nkid, load->loc);
}

static const TdExpr *pack_load(void *ud, const TdExpr *e) {
  const Pack *p = ud;
  const TdExpr *kid[3];
  if (e->kind != TD_EXPR_LOAD || e->sym != p->l.sym) return e;
  kid[0] = word_of(p, e, &kid[1], &kid[2]);
  for (int i = 0; i < 3; i++) td_copied_note(p->l.r, kid[i]);
  TdArena *a = p->l.r->store->arena;
  return as_type(p, p->elem, td_expr_op(a, TD_OP_GETBITS, bits_type(p), kid, 3, e->loc));
}

/* `word` with bits [lo, hi) replaced by an element's. */
static const TdExpr *with_element(const Pack *p, const TdExpr *word, const TdExpr *lo,
                                  const TdExpr *hi, const TdExpr *value) {
  const TdExpr *kid[] = {word, lo, hi, as_type(p, bits_type(p), value)};
  TdArena *a = p->l.r->store->arena;
  return td_expr_fold(p->l.r->session, a, td_expr_op(a, TD_OP_SETBITS, p->word, kid, 4, word->loc));
}

/* The stores of the array below a statement. */
typedef struct Stores {
  TdArena *arena;
  TdSym of;
  TD_VEC(const TdStmt *) at;
  const TdStmt *other; /* that writes an element otherwise */
} Stores;

static bool look_store(void *ud, const TdStmt *s) {
  Stores *k = ud;
  if (s->kind == TD_STMT_STORE && s->expr[0]->sym == k->of) td_vec_push(k->arena, &k->at, s);
  if (s->kind == TD_STMT_GET && s->nexpr > 1 && s->expr[1]->sym == k->of) k->other = s;
  return true;
}

/* The stores; false if something else writes elements. */
static bool find_stores(const Pack *p, Stores *k) {
  *k = (Stores){.arena = p->l.r->arena, .of = p->l.sym};
  td_walk_stmt(p->l.r->session->ctx, p->l.unit->body, look_store, k);
  if (!k->other) return true;
  td_util_refuse(p->l.r, TD_UNSUPPORTED, "token", k->other->loc,
                 "'%s' is filled by tokens of a stream", p->l.sym->name);
  return false;
}

/* Puts each store of the array back in order after loads were mapped: a store of an element became
 * one into what it reads, and is turned into a store of the word. */
static const TdProg *put_stores(const Pack *p, const TdProg *prog, const Stores *k) {
  TdRewrite *r = p->l.r;
  const TdUnit *u = td_prog_unit(prog, p->l.unit->sym);
  for (size_t i = 0; i < k->at.n; i++) {
    const TdStmt *s = td_edit_find(r->session->ctx, u->body, k->at.at[i]->uid);
    const TdExpr *bits = s->expr[0];
    while (bits->op != TD_OP_GETBITS || bits->kind != TD_EXPR_OP) bits = bits->kid[0];
    const TdExpr *e[] = {bits->kid[0],
                         with_element(p, bits->kid[0], bits->kid[1], bits->kid[2], s->expr[1])};
    const TdStmt *now = td_stmt_with_exprs(r->store, s, e, 2);
    u = td_unit_with_body(r->store, u, td_edit_replace(r->store, u->body, s->uid, &now, 1));
  }
  return td_prog_with(prog, u);
}

/* A word of n copies of the first value, or of zeros. */
static const TdExpr *fill_of(const Pack *p) {
  TdArena *a = p->l.r->store->arena;
  const TdStmt *d = p->l.decl;
  const TdExpr *zero = td_expr_lit(a, p->word, 0, d->loc), *e = zero;
  bool empty = d->init == TD_INIT_NONE;
  if (empty || (d->expr[0]->kind == TD_EXPR_LIT && !d->expr[0]->u.bits)) return zero;
  for (int64_t k = 0; k < p->n; k++)
    e = with_element(p, e, td_util_const(p->l.r, k * p->elem->w),
                     td_util_const(p->l.r, (k + 1) * p->elem->w), d->expr[0]);
  return e;
}

/* The array's type with words (or elements) of t, dimension dim being `extent`. */
static const TdType *shape_with(const Pack *p, const TdType *t, const TdExpr *extent) {
  const TdExpr *dim[TD_MAX_RANK];
  for (int d = 0; d < p->l.type->rank; d++) dim[d] = d == p->dim ? extent : p->l.type->dim[d];
  return td_type_tensor(p->l.r->session, t, p->l.type->rank, dim);
}

/* Whether the n elements of a word fit one, and n divides the extent; what that takes of sizes is
 * assumed. */
static bool check_words(Pack *p) {
  TdRewrite *r = p->l.r;
  const TdExpr *rest = td_lin_mod(r->session, r->store->arena, p->l.type->dim[p->dim], p->n);
  int64_t left;
  if (!td_type_is_number(p->elem) || p->elem->kind == TD_T_INDEX)
    return refuse(p, TD_UNSUPPORTED, "element", "has elements that are no numbers");
  if (p->n * p->elem->w > TD_MAX_BITS)
    return refuse(p, TD_USAGE, "too-wide",
                  td_text_fmt(r->arena, "would have words of %lld bits: at most %d",
                              (long long)p->n * p->elem->w, TD_MAX_BITS));
  if (!td_unit_value(p->l.unit, rest, &left) || left)
    return refuse(p, TD_ILLEGAL, "not-divisible",
                  td_text_fmt(r->arena, "has %s elements in dimension %d, no multiple of %lld",
                              td_print_expr_str(r->arena, p->l.type->dim[p->dim]), p->dim,
                              (long long)p->n));
  if (!td_expr_is_const(rest, &left)) {
    const TdExpr *zero = td_util_const(r, 0);
    p->l.unit = td_util_assume(
        r, p->l.unit, td_expr_op2(r->store->arena, TD_OP_EQ, td_type_bool(r->session), rest, zero));
    r->used_value = true;
  }
  return true;
}

/* The array's attributes without partitions into more banks than a dimension of t has words. */
static TdAttrs fewer_banks(const Pack *p, const TdType *t) {
  TdRewrite *r = p->l.r;
  TdAttrs kept = {0};
  for (size_t i = 0; i < p->l.decl->attrs.n; i++) {
    TdAttr x = p->l.decl->attrs.at[i];
    int64_t extent;
    if (x.kind == TD_ATTR_PARTITION && td_type_extent(t, (int)x.arg[0].i, &extent) &&
        x.arg[2].i > extent)
      td_util_note(r, "'%s' loses its %s", p->l.sym->name, td_attrs[x.kind].name);
    else
      kept = td_attrs_add(r->store->arena, kept, x);
  }
  return kept;
}

static const TdProg *pack(Pack *p) {
  TdRewrite *r = p->l.r;
  Stores k;
  p->elem = td_type_scalar(p->l.type);
  if (!check_words(p) || !find_stores(p, &k)) return NULL;
  p->word = td_type_uint(r->session, (int)(p->n * p->elem->w));
  const TdExpr *extent = td_lin_floordiv(r->session, r->store->arena, p->l.type->dim[p->dim], p->n);
  const TdType *words = shape_with(p, p->word, extent);
  td_local_note_unwritten(&p->l);
  const TdProg *now = td_local_put(&p->l, words, fill_of(p), fewer_banks(p, words), pack_load, p);
  return put_stores(p, now, &k);
}

/* e as parts of words of the array: bits [lo, hi) of one. */
static bool is_part(const Pack *p, const TdExpr *e) {
  return e->kind == TD_EXPR_OP && e->op == TD_OP_GETBITS && e->kid[0]->kind == TD_EXPR_LOAD &&
         e->kid[0]->sym == p->l.sym && e->kid[0]->type == p->word;
}

/* Whether e is the bits of x in another type of the same width. */
static bool is_retyped(const TdExpr *e) {
  bool cast = (e->kind == TD_EXPR_CAST && !e->implicit && keeps_bits(e->type, e->kid[0]->type)) ||
              (e->kind == TD_EXPR_OP && e->op == TD_OP_BITCAST);
  return cast && td_type_is_number(e->type) && e->type->w == e->kid[0]->type->w;
}

/* A part seen as an element of type t (NULL: not known): all must agree. */
static void see_type(Pack *p, const TdType *t) {
  const TdType *bits = p->word;
  if (!p->elem) p->elem = t;
  if (p->elem != t) p->elem = td_type_uint(p->l.r->session, (int)(bits->w / p->n));
}

/* Notes the part [lo, hi) of a word: all are of one width, which divides where they begin. */
static void see_part(Pack *p, const TdExpr *lo, const TdExpr *hi) {
  TdRewrite *r = p->l.r;
  int64_t w = 0, rest;
  bool fixed = td_lin_diff(r->session, hi, lo, &w) && w > 0;
  if (fixed && !p->n && p->word->w % w == 0) p->n = p->word->w / w;
  const TdExpr *odd = fixed ? td_lin_mod(r->session, r->store->arena, lo, w) : lo;
  if (!fixed || !p->n || p->n * w != p->word->w || !td_expr_is_const(odd, &rest) || rest)
    p->why = "is read or written in parts that are not all of one width, side by side";
}

static void see_expr(Pack *p, const TdExpr *e);

/* The indices of a word that was seen, and where a part of it begins. */
static void see_indices(Pack *p, const TdExpr *word, const TdExpr *lo) {
  for (uint32_t d = 0; d < word->nkid; d++) see_expr(p, word->kid[d]);
  see_expr(p, lo);
}

/* Looks at all uses of the array in e. */
static void see_expr(Pack *p, const TdExpr *e) {
  const TdExpr *part = is_retyped(e) ? e->kid[0] : e;
  td_ctx_enter(p->l.r->session->ctx);
  if (is_part(p, part)) {
    see_part(p, part->kid[1], part->kid[2]);
    if (p->n) see_type(p, e->type);
    see_indices(p, part->kid[0], part->kid[1]);
  } else {
    if (e->kind == TD_EXPR_LOAD && e->sym == p->l.sym) p->why = "is used as whole words";
    for (uint32_t i = 0; i < e->nkid; i++) see_expr(p, e->kid[i]);
  }
  td_ctx_leave(p->l.r->session->ctx);
}

/* Looks at the uses in a statement: a store replaces a part of the word that it stores. */
static bool see_stmt(void *ud, const TdStmt *s) {
  Pack *p = ud;
  bool stores = s->kind == TD_STMT_STORE && s->expr[0]->sym == p->l.sym;
  const TdExpr *v = stores ? s->expr[1] : NULL;
  if (stores &&
      (v->kind != TD_EXPR_OP || v->op != TD_OP_SETBITS || !td_equal_expr(v->kid[0], s->expr[0]))) {
    p->why = "is written in whole words";
    return false;
  }
  if (stores) {
    see_part(p, v->kid[1], v->kid[2]);
    if (p->n) see_type(p, is_retyped(v->kid[3]) ? v->kid[3]->kid[0]->type : v->kid[3]->type);
    see_indices(p, v->kid[0], v->kid[1]);
    see_expr(p, v->kid[3]);
  }
  for (uint32_t i = 0; !stores && i < s->nexpr; i++) see_expr(p, s->expr[i]);
  return !p->why;
}

/* The x of the one term `x op n` of e, or NULL. */
static const TdExpr *divided(const Pack *p, const TdExpr *e, TdOp op) {
  TdLin l = td_lin_of(p->l.r->session, p->l.r->store->arena, e);
  int64_t by;
  for (size_t i = 0; i < l.n; i++) {
    const TdExpr *x = l.term[i].atom;
    if (l.term[i].coef == 1 && x->kind == TD_EXPR_OP && x->op == op &&
        td_expr_is_const(x->kid[1], &by) && by == p->n)
      return x->kid[0];
  }
  return NULL;
}

/* n * word + part, as x where they are its quotient and its rest. */
static const TdExpr *joined(const Pack *p, const TdExpr *word, const TdExpr *part) {
  TdSession *s = p->l.r->session;
  TdArena *a = p->l.r->store->arena;
  const TdExpr *x = divided(p, part, TD_OP_MOD);
  int64_t more;
  if (x && td_lin_diff(s, word, td_lin_floordiv(s, a, x, p->n), &more)) {
    part = td_lin_minus(s, a, part, td_lin_mod(s, a, x, p->n));
    word = td_util_const(p->l.r, more);
    part = td_lin_plus(s, a, x, part);
  }
  return td_lin_plus(s, a, td_lin_times(s, a, word, p->n), part);
}

/* The extent of the elements: n * (x // n) is x where n is known to divide it. */
static const TdExpr *extent_of(const Pack *p) {
  TdRewrite *r = p->l.r;
  TdAsk q = td_util_ask(r, p->l.unit);
  const TdExpr *words = p->l.type->dim[p->dim], *x = divided(p, words, TD_OP_FLOORDIV);
  int64_t more;
  if (x && td_lin_diff(r->session, words, td_lin_floordiv(r->session, r->arena, x, p->n), &more) &&
      !more) {
    const TdExpr *rest = td_lin_mod(r->session, r->arena, x, p->n);
    const TdExpr *even =
        td_expr_op2(r->arena, TD_OP_EQ, td_type_bool(r->session), rest, td_util_const(r, 0));
    if (td_range_holds(&q, p->l.decl, even, false) == TD_YES) return x;
  }
  return td_lin_times(r->session, r->store->arena, words, p->n);
}

/* The element that bits from `lo` on of a word are. */
static const TdExpr *element_of(const Pack *p, const TdExpr *word, const TdExpr *lo) {
  TdRewrite *r = p->l.r;
  TdArena *a = r->store->arena;
  const TdExpr *index[TD_MAX_RANK];
  for (uint32_t d = 0; d < word->nkid; d++) index[d] = word->kid[d];
  index[p->dim] = joined(p, index[p->dim], td_lin_floordiv(r->session, a, lo, p->elem->w));
  return td_expr_load(a, word->sym, p->elem, index, (int)word->nkid, word->loc);
}

static const TdExpr *unpack_load(void *ud, const TdExpr *e) {
  const Pack *p = ud;
  if (is_part(p, e)) return as_type(p, e->type, element_of(p, e->kid[0], e->kid[1]));
  bool back = is_retyped(e) && is_retyped(e->kid[0]) && e->type == e->kid[0]->kid[0]->type &&
              e->kid[0]->kid[0]->sym == p->l.sym;
  return back ? e->kid[0]->kid[0] : e;
}

/* Turns the stores of parts into stores of elements. */
static const TdProg *unpack_stores(const Pack *p, const TdProg *prog, const Stores *k) {
  TdRewrite *r = p->l.r;
  const TdUnit *u = td_prog_unit(prog, p->l.unit->sym);
  for (size_t i = 0; i < k->at.n; i++) {
    const TdStmt *s = td_edit_find(r->session->ctx, u->body, k->at.at[i]->uid);
    const TdExpr *set = s->expr[1], *v = set->kid[3];
    bool back = is_retyped(v) && v->kid[0]->type == p->elem;
    const TdExpr *e[] = {element_of(p, set->kid[0], set->kid[1]),
                         back ? v->kid[0] : as_type(p, p->elem, v)};
    const TdStmt *now = td_stmt_with_exprs(r->store, s, e, 2);
    u = td_unit_with_body(r->store, u, td_edit_replace(r->store, u->body, s->uid, &now, 1));
  }
  return td_prog_with(prog, u);
}

static const TdProg *unpack(Pack *p) {
  TdRewrite *r = p->l.r;
  TdArena *a = r->store->arena;
  const TdStmt *d = p->l.decl;
  Stores k;
  p->n = 0;
  p->word = td_type_scalar(p->l.type);
  if (p->word->kind != TD_T_UINT) return refuse(p, TD_USAGE, "words", "has no words to unpack");
  td_walk_stmt(r->session->ctx, p->l.unit->body, see_stmt, p);
  if (p->why || !p->elem)
    return refuse(p, TD_ILLEGAL, "words", p->why ? p->why : "is not used in parts");
  if (!find_stores(p, &k)) return NULL;
  bool zero = d->init == TD_INIT_FILL && d->expr[0]->kind == TD_EXPR_LIT && !d->expr[0]->u.bits;
  if (d->init == TD_INIT_FILL && !zero)
    return refuse(p, TD_UNSUPPORTED, "words", "starts with words that are not 0");
  const TdExpr *extent = extent_of(p);
  const TdExpr *fill = zero ? td_expr_lit(a, p->elem, 0, d->loc) : NULL;
  const TdProg *now =
      td_local_put(&p->l, shape_with(p, p->elem, extent), fill, d->attrs, unpack_load, p);
  return unpack_stores(p, now, &k);
}

static const TdProg *apply(TdRewrite *r) {
  Pack p = {0};
  if (!td_local_find(&p.l, r, ARRAY)) return NULL;
  int64_t dim = r->arg[DIM].integer;
  if (dim < 0 || dim >= p.l.type->rank)
    return refuse(&p, TD_USAGE, "dimension",
                  td_text_fmt(r->arena, "has no dimension %lld (dimensions: 0 to %d)",
                              (long long)dim, p.l.type->rank - 1));
  p.dim = (int)dim;
  p.n = r->arg[COUNT].integer;
  if (p.n < 1)
    return refuse(&p, TD_USAGE, "count", "needs at least 2 elements to a word, or 1 to unpack");
  return p.n == 1 ? unpack(&p) : pack(&p);
}

const TdPrim td_prim_pack = {
    .name = "pack",
    .on = "array",
    .summary = "Keep n elements of a local array in one word; n = 1 takes words apart again.",
    .args = {{"array", TD_ARG_ARRAY, TD_ARG_NEEDED, "a local array", "local"},
             {"dim", TD_ARG_INT, TD_ARG_NEEDED, "the dimension, from 0, along which they lie",
              NULL},
             {"n", TD_ARG_INT, TD_ARG_NEEDED, "elements to a word", NULL}},
    .rewrite = "local T = i8[16](); T[i] = x; y = T[j]  =>  local T = u32[4](0); "
               "T[i // 4] = tide.with_bits(T[i // 4], 8 * (i % 4), 8 * (i % 4) + 8, u8(x)); "
               "y = i8(tide.bits(T[j // 4], 8 * (j % 4), 8 * (j % 4) + 8))",
    .legal =
        "n divides the extent, and n elements fit a word of 1024 bits; the array is a local of "
        "which only elements are used. Unpacked is what is used in parts of one width",
    .errors = "not-an-array interface class whole elements dimension count element too-wide "
              "not-divisible token words",
    .example = "s:buffer_at(\"A\", \"i\"); s:pack(\"A_i\", 0, 4)",
    .apply = apply,
};
