/* type.c - the session and its table of types: extents and types are interned, printed and measured
 * here. */
#include "ir/type.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/text/print.h"

#define TD_COUNT_MAX ((int64_t)1 << 62)
#define FRACTION_MAX 1024

/* What has one hash; equality decides among them. */
typedef struct Chain {
  const void *at;
  const struct Chain *next;
} Chain;

/* Every extent and every type of a session, each once, so that types compare field by field. */
struct TdTypes {
  TdMap extents; /* hash -> Chain of const TdExpr */
  TdMap types;   /* hash -> Chain of const TdType */
  uint32_t made;
};

TdSession *td_session_new(TdCtx *c) {
  TdArena *a = td_arena_scratch(c);
  TdSession *s = TD_NEW(a, TdSession);
  s->ctx = c;
  s->arena = a;
  s->names = td_names_new(a);
  s->sources = td_sources_new(a);
  s->types = TD_NEW(a, TdTypes);
  td_arena_keep(a);
  return s;
}

void td_session_free(TdSession *s) {
  if (s) td_arena_free(s->arena);
}

/* The chain under a hash, or NULL. */
static const Chain *chain_of(const TdMap *m, uint64_t hash) {
  uint64_t at;
  return td_map_get(m, hash, &at) ? (const Chain *)(uintptr_t)at : NULL;
}

/* Puts x, owned by the session, in front of the chain under its hash. */
static void chain_put(TdSession *s, TdMap *m, uint64_t hash, const void *x) {
  Chain *c = TD_NEW(s->arena, Chain);
  *c = (Chain){.at = x, .next = chain_of(m, hash)};
  td_map_put(s->arena, m, hash, (uint64_t)(uintptr_t)c);
}

/* A hash that expressions share when they are equal. */
static uint64_t hash_expr(TdSession *s, const TdExpr *e) {
  td_ctx_enter(s->ctx);
  uint64_t h = td_map_mix(e->kind, e->op);
  if (e->kind == TD_EXPR_LIT) h = td_map_mix(h, e->u.bits);
  if (e->kind == TD_EXPR_SIZE) h = td_map_mix(h, td_map_hash(e->u.name, strlen(e->u.name)));
  for (uint32_t i = 0; i < e->nkid; i++) h = td_map_mix(h, hash_expr(s, e->kid[i]));
  td_ctx_leave(s->ctx);
  return h;
}

/* A deep copy of e without places, owned by the session. */
static const TdExpr *keep_expr(TdSession *s, const TdExpr *e) {
  td_ctx_enter(s->ctx);
  TdExpr *copy = td_arena_copy(s->arena, e, sizeof *e + e->nkid * sizeof *e->kid);
  copy->loc = (TdLoc){0};
  for (uint32_t i = 0; i < e->nkid; i++) copy->kid[i] = keep_expr(s, e->kid[i]);
  td_ctx_leave(s->ctx);
  return copy;
}

/* The session's one copy of a canonical expression. */
static const TdExpr *intern_expr(TdSession *s, const TdExpr *e) {
  uint64_t hash = hash_expr(s, e);
  for (const Chain *c = chain_of(&s->types->extents, hash); c; c = c->next)
    if (td_equal_expr(c->at, e)) return c->at;
  const TdExpr *kept = keep_expr(s, e);
  chain_put(s, &s->types->extents, hash, kept);
  return kept;
}

/* The session's one expression of a constant extent. */
static const TdExpr *constant_extent(TdSession *s, int64_t v) {
  TdExpr e = {.kind = TD_EXPR_LIT, .type = td_type_index(s), .u.bits = (uint64_t)v};
  return intern_expr(s, &e);
}

/* The session's one expression of an extent, after simplification. */
static const TdExpr *extent_of(TdSession *s, const TdExpr *e) {
  int64_t v;
  if (td_expr_is_const(e, &v)) return constant_extent(s, v);
  TdArena *scratch = td_arena_scratch(s->ctx);
  const TdExpr *kept = intern_expr(s, td_lin_sorted(s, scratch, e));
  td_arena_free(scratch);
  return kept;
}

/* Whether t has the fields of head (id aside) and these interned extents. */
static bool same_type(const TdType *t, const TdType *head, const TdExpr *const *dim) {
  return t->kind == head->kind && t->saturate == head->saturate && t->nearest == head->nearest &&
         t->brain == head->brain && t->w == head->w && t->f == head->f && t->block == head->block &&
         t->rank == head->rank && t->elem == head->elem &&
         (!t->rank || memcmp(t->dim, dim, t->rank * sizeof *dim) == 0);
}

/* The session's one type with the fields of head and these interned extents. */
static const TdType *intern(TdSession *s, const TdType *head, const TdExpr *const *dim) {
  uint64_t flags = (uint64_t)head->saturate | (uint64_t)head->nearest << 1 |
                   (uint64_t)head->brain << 2 | (uint64_t)head->block << 3;
  uint64_t hash = head->kind | flags << 8 | (uint64_t)head->rank << 16 | (uint64_t)head->w << 32 |
                  (uint64_t)(uint16_t)head->f << 48;
  hash = td_map_mix(hash, head->elem ? head->elem->id : UINT64_MAX);
  for (int d = 0; d < head->rank; d++) hash = td_map_mix(hash, (uint64_t)(uintptr_t)dim[d]);
  for (const Chain *c = chain_of(&s->types->types, hash); c; c = c->next)
    if (same_type(c->at, head, dim)) return c->at;
  TdType *t = td_arena_alloc(s->arena, sizeof *t + head->rank * sizeof *dim);
  *t = *head;
  t->id = s->types->made++;
  if (head->rank) memcpy(t->dim, dim, head->rank * sizeof *dim);
  chain_put(s, &s->types->types, hash, t);
  return t;
}

/* A scalar of w bits, f of them of the fraction. */
static const TdType *scalar(TdSession *s, TdTypeKind kind, int w, int f) {
  assert(w >= 1 && w <= TD_MAX_BITS && abs(f) <= FRACTION_MAX);
  return intern(s, &(TdType){.kind = (uint8_t)kind, .w = (uint16_t)w, .f = (int16_t)f}, NULL);
}

const TdType *td_type_int(TdSession *s, int w) {
  return scalar(s, TD_T_INT, w, 0);
}

const TdType *td_type_uint(TdSession *s, int w) {
  return scalar(s, TD_T_UINT, w, 0);
}

const TdType *td_type_fixed(TdSession *s, bool is_signed, int w, int f) {
  return scalar(s, is_signed ? TD_T_FIXED : TD_T_UFIXED, w, f);
}

const TdType *td_type_float(TdSession *s, int w) {
  assert(w == 16 || w == 32 || w == 64);
  return scalar(s, TD_T_FLOAT, w, 0);
}

const TdType *td_type_bf16(TdSession *s) {
  return intern(s, &(TdType){.kind = TD_T_FLOAT, .w = 16, .brain = true}, NULL);
}

const TdType *td_type_bool(TdSession *s) {
  return scalar(s, TD_T_BOOL, 1, 0);
}

const TdType *td_type_index(TdSession *s) {
  return scalar(s, TD_T_INDEX, 64, 0);
}

const TdType *td_type_with(TdSession *s, const TdType *t, bool saturate, bool nearest) {
  assert(td_type_is_scalar(t));
  TdType head = *t;
  head.saturate = saturate && (td_type_is_integer(t) || td_type_is_fixed(t));
  head.nearest = nearest && td_type_is_fixed(t);
  return intern(s, &head, NULL);
}

const TdType *td_type_plain(TdSession *s, const TdType *t) {
  return t->saturate || t->nearest ? td_type_with(s, t, false, false) : t;
}

/* The shaped type with the fields of head and this rank; dims are made canonical. */
static const TdType *shaped(TdSession *s, TdType *head, int rank, const TdExpr *const *dim) {
  assert(rank >= 0 && rank <= TD_MAX_RANK);
  const TdExpr *kept[TD_MAX_RANK];
  for (int d = 0; d < rank; d++) kept[d] = extent_of(s, dim[d]);
  head->rank = (uint8_t)rank;
  return intern(s, head, kept);
}

const TdType *td_type_tensor(TdSession *s, const TdType *elem, int rank, const TdExpr *const *dim) {
  assert(rank >= 1 && td_type_is_scalar(elem));
  return shaped(s, &(TdType){.kind = TD_T_TENSOR, .elem = elem}, rank, dim);
}

const TdType *td_type_tensor_of(TdSession *s, const TdType *elem, int rank, const int64_t *extent) {
  assert(rank >= 1 && rank <= TD_MAX_RANK && td_type_is_scalar(elem));
  const TdExpr *dim[TD_MAX_RANK];
  for (int d = 0; d < rank; d++) dim[d] = constant_extent(s, extent[d]);
  return intern(s, &(TdType){.kind = TD_T_TENSOR, .elem = elem, .rank = (uint8_t)rank}, dim);
}

const TdType *td_type_port(TdSession *s, const TdType *token, int rank, const TdExpr *const *dim,
                           bool block) {
  assert(token->kind != TD_T_PORT);
  return shaped(s, &(TdType){.kind = TD_T_PORT, .elem = token, .block = block}, rank, dim);
}

const TdType *td_type_reshape(TdSession *s, const TdType *shape, const TdType *elem) {
  assert(!td_type_is_scalar(shape));
  TdType head = *shape;
  head.elem = elem;
  return intern(s, &head, shape->dim);
}

bool td_type_is_integer(const TdType *t) {
  return t->kind == TD_T_INT || t->kind == TD_T_UINT;
}

bool td_type_is_fixed(const TdType *t) {
  return t->kind == TD_T_FIXED || t->kind == TD_T_UFIXED;
}

bool td_type_is_signed(const TdType *t) {
  return t->kind == TD_T_INT || t->kind == TD_T_FIXED;
}

bool td_type_is_scalar(const TdType *t) {
  return t->kind < TD_T_TENSOR;
}

bool td_type_is_number(const TdType *t) {
  return td_type_is_scalar(t) && t->kind != TD_T_BOOL;
}

const TdType *td_type_scalar(const TdType *t) {
  while (t->elem) t = t->elem;
  return t;
}

size_t td_type_bytes(const TdType *t) {
  size_t w = td_type_scalar(t)->w;
  if (w > 64) return (w + 63) / 64 * 8;
  return w <= 8 ? 1 : w <= 16 ? 2 : w <= 32 ? 4 : 8;
}

bool td_type_extent(const TdType *t, int d, int64_t *extent) {
  assert(d >= 0 && d < t->rank);
  return td_expr_is_const(t->dim[d], extent);
}

bool td_type_count(const TdType *t, int64_t *count) {
  int64_t n = 1, extent[TD_MAX_RANK];
  for (int d = 0; d < t->rank; d++) {
    if (!td_type_extent(t, d, &extent[d]) || extent[d] < 0) return false;
    if (extent[d] == 0) n = 0;
  }
  for (int d = 0; n && d < t->rank; d++) {
    if (extent[d] > TD_COUNT_MAX / n) return false;
    n *= extent[d];
  }
  *count = n;
  return true;
}

/* Whether Lua has a word for integers of w bits. */
static bool has_word(int w) {
  return w == 8 || w == 16 || w == 32 || w == 64;
}

/* A scalar without its mode. */
static void print_scalar(TdText *out, const TdType *t) {
  bool u = t->kind == TD_T_UINT || t->kind == TD_T_UFIXED;
  switch (t->kind) {
  case TD_T_INT:
  case TD_T_UINT:
    if (has_word(t->w))
      td_text_putf(out, "%c%d", u ? 'u' : 'i', t->w);
    else
      td_text_putf(out, "tide.%s(%d)", u ? "uint" : "int", t->w);
    break;
  case TD_T_FIXED:
  case TD_T_UFIXED: td_text_putf(out, "tide.%s(%d, %d)", u ? "ufixed" : "fixed", t->w, t->f); break;
  case TD_T_FLOAT: td_text_putf(out, "%s%d", t->brain ? "bf" : "f", t->w); break;
  case TD_T_BOOL: td_text_puts(out, "bool"); break;
  default: td_text_puts(out, "index");
  }
}

/* ":with {...}" of a type that has a mode. */
static void print_mode(TdText *out, const TdType *t) {
  if (!t->saturate && !t->nearest) return;
  td_text_putf(out, ":with {%s%s%s}", t->saturate ? "overflow = \"saturate\"" : "",
               t->saturate && t->nearest ? ", " : "", t->nearest ? "rounding = \"nearest\"" : "");
}

void td_type_print(TdText *out, const TdType *t) {
  if (td_type_is_scalar(t)) {
    print_scalar(out, t);
    print_mode(out, t);
    return;
  }
  bool port = t->kind == TD_T_PORT;
  if (port) td_text_puts(out, "tide.stream(");
  td_type_print(out, t->elem);
  if (port) td_text_puts(out, t->block ? ", {block = true})" : ")");
  for (int d = 0; d < t->rank; d++) {
    int64_t extent;
    td_text_putc(out, '[');
    if (td_type_extent(t, d, &extent))
      td_text_putf(out, "%" PRId64, extent);
    else
      td_print_expr(out, t->dim[d]);
    td_text_putc(out, ']');
  }
}

const char *td_type_str(TdArena *a, const TdType *t) {
  TdText text = td_text_new(a);
  td_type_print(&text, t);
  return td_arena_strdup(a, td_text_str(&text));
}
