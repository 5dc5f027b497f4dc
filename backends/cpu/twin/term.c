/* term.c - all that a statement computes as one operator, a term, on what it reads. Programs
 * that are equal when nothing is known of their terms are equal whatever these compute; those that
 * are not may be equal, and are compared operator by operator. */
#include <inttypes.h>
#include <string.h>

#include "backends/cpu/twin/twin_text.h"

/* What a term is made of; `key` tells it from others, in two words. */
typedef struct Term {
  TdCWriter *w;
  TD_VEC(const TdExpr *) leaf; /* no two equal */
  size_t ops;
  TdHash key;
} Term;

/* What is fed first, besides operators. */
enum { LITERAL = TD_SYMBOL_INPUT + 1, LEAF };

/* Whether e is an operator on symbolic values. */
static bool is_inner(const Term *t, const TdExpr *e) {
  const TdCpuTaint *taint = ((const TdCpuProg *)t->w->ud)->taint;
  bool op =
      e->kind == TD_EXPR_OP && (e->op != TD_OP_SELECT || td_cpu_taint_reaches(taint, e->kid[0]));
  return (op || e->kind == TD_EXPR_CAST) && td_cpu_taint_reaches(taint, e);
}

static bool is_too_long(const Term *t) {
  return t->leaf.n > TD_PRELUDE_TERM_KEYS;
}

/* The number of e among the leaves, which end where the term is too long. */
static size_t leaf(Term *t, const TdExpr *e) {
  size_t i = 0;
  while (i < t->leaf.n && !is_too_long(t) && !td_equal_expr(t->leaf.at[i], e)) i++;
  if (i == t->leaf.n) td_vec_push(t->w->arena, &t->leaf, e);
  return i;
}

static void feed(Term *t, uint64_t what, const TdType *type, uint64_t more) {
  t->key = td_hash_feed(td_hash_feed(t->key, what), td_domain_type_key(type, true));
  t->key = td_hash_feed(t->key, more);
}

/* Adds e to the term. */
static void take(Term *t, const TdExpr *e) {
  if (e->kind == TD_EXPR_LIT && e->type->w <= 64) {
    feed(t, LITERAL, e->type, e->u.bits);
  } else if (!is_inner(t, e)) {
    feed(t, LEAF, e->type, leaf(t, e));
  } else {
    t->ops++;
    feed(t, e->kind == TD_EXPR_CAST ? TD_SYMBOL_CAST : e->op, e->type, e->nkid);
    td_ctx_enter(t->w->session->ctx);
    for (uint32_t i = 0; i < e->nkid; i++) take(t, e->kid[i]);
    td_ctx_leave(t->w->session->ctx);
  }
}

/* Whether the term takes less than its operators, each of which multiplies and mixes. */
static bool saves(const Term *t) {
  return 2 * t->ops > t->leaf.n + 2 && !is_too_long(t);
}

/* Declares the keys of n operands in the unit. */
static void need_keys(TdCpuProg *p, size_t n) {
  for (; p->keys < n; p->keys++)
    td_text_line(&p->lifts, "const uint64_t td_lo%zu = run->key[%zu], td_hi%zu = run->key[%zu];",
                 p->keys, TD_PRELUDE_TERM_KEY + 2 * p->keys, p->keys,
                 TD_PRELUDE_TERM_KEY + 2 * p->keys + 1);
}

/* One half of the sum of products of n values, two by two. */
static const char *sum(TdArena *a, const TdPiece *x, size_t n, const char *half, const char *odd) {
  TdText s = td_text_new(a);
  for (size_t i = 0; i < n; i++) {
    const char *join = i % 2 ? " * " : i ? " + " : "";
    if (i + 1 < n || i % 2)
      td_text_putf(&s, "%s(%s.%s + td_%s%zu)", join, x[i].text, half, half, i);
    else
      td_text_putf(&s, "%s%s.%s * %s", join, x[i].text, half, odd);
  }
  return td_text_str(&s);
}

TdPiece td_cpu_term_value(TdCWriter *w, const TdExpr *e) {
  TdCpuProg *p = w->ud;
  Term t = {.w = w, .key = {TD_SYMBOL_CONSTANT, TD_SYMBOL_INPUT}};
  if (!p->opaque) return (TdPiece){0};
  take(&t, e);
  if (!saves(&t)) return (TdPiece){0};
  TdPiece *x = TD_NEWN(w->arena, TdPiece, t.leaf.n);
  for (size_t i = 0; i < t.leaf.n; i++) x[i] = td_cpu_symbol_value(w, t.leaf.at[i]);
  need_keys(p, t.leaf.n);
  p->terms++;
  TdPiece r = td_cexpr_piece(w, TD_BIND_ATOM, TD_C_OTHER, "td_%d", ++p->symbols);
  td_text_line(&w->out, "TD_TERM(%s, 0x%016" PRIx64 "u, 0x%016" PRIx64 "u, %s, %s);", r.text,
               t.key.lo, t.key.hi, sum(w->arena, x, t.leaf.n, "lo", "td_k0"),
               sum(w->arena, x, t.leaf.n, "hi", "td_k2"));
  return r;
}
