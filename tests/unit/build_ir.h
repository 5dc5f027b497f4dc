/* build_ir.h - programs by constructors, for tests of what runs or rewrites the IR. One program
 * lives at a time, in the global `B`; every place is line B.line of a source "=test". */
#ifndef BUILD_IR_H
#define BUILD_IR_H

#include <stdlib.h>

#include "ir/ir.h"
#include "tap.h"

typedef struct Build {
  TdCtx *ctx;
  TdSession *s;
  TdStore *st;
  TdArena *a;
  uint32_t line;
  const TdType *bit, *idx, *i8, *i16, *i32, *i64, *f32;
} Build;
static Build B;

static inline void bail(void *ud, TdWhy why) {
  (void)ud;
  printf("Bail out! escape %d\n", (int)why);
  exit(1);
}

/* Opens an empty store; build_close frees all that was built. */
static inline void build_open(void) {
  B = (Build){.ctx = td_ctx_new(), .line = 1};
  td_ctx_set_escape(B.ctx, bail, NULL);
  B.s = td_session_new(B.ctx);
  B.st = td_store_new(B.s);
  B.a = B.st->arena;
  B.bit = td_type_bool(B.s), B.idx = td_type_index(B.s), B.f32 = td_type_float(B.s, 32);
  B.i8 = td_type_int(B.s, 8), B.i16 = td_type_int(B.s, 16);
  B.i32 = td_type_int(B.s, 32), B.i64 = td_type_int(B.s, 64);
  const char *text = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
  td_sources_add(B.s->sources, "=test", text, strlen(text));
}

static inline void build_close(void) {
  td_store_free(B.st);
  td_session_free(B.s);
  td_ctx_free(B.ctx);
}

static inline TdLoc here(void) {
  return (TdLoc){1, B.line, 1, 3};
}

/* Types and symbols. */
static inline const TdType *tensor(const TdType *t, int rank, const int64_t *extent) {
  return td_type_tensor_of(B.s, t, rank, extent);
}
#define COUNT(T, ...) (sizeof((T[]){__VA_ARGS__}) / sizeof(T))
#define T(elem, ...) tensor(elem, (int)COUNT(int64_t, __VA_ARGS__), (int64_t[]){__VA_ARGS__})
static inline TdSym sym(const char *name, TdSymKind k) {
  return td_store_sym(B.st, name, k);
}
static inline TdSym loop(const char *name) {
  return sym(name, TD_SYM_LOOP);
}
static inline TdSym coord(const char *name) {
  return sym(name, TD_SYM_COORD);
}
static inline TdSym arg(const char *name) {
  return sym(name, TD_SYM_TENSOR);
}
static inline TdSym scalar(const char *name) {
  return sym(name, TD_SYM_SCALAR);
}
static inline TdSym local(const char *name) {
  return sym(name, TD_SYM_LOCAL);
}
static inline TdSym stream(const char *name) {
  return sym(name, TD_SYM_STREAM);
}

/* Expressions; operators have the type that promotion gives. */
static inline const TdExpr *lit(const TdType *t, int64_t v) {
  uint64_t bits = t->kind == TD_T_FLOAT ? td_num_of_double((double)v) : (uint64_t)v;
  return td_expr_lit(B.a, t, bits, here());
}
static inline const TdExpr *num(int64_t v) {
  return lit(B.idx, v);
}
static inline const TdExpr *var(TdSym v) {
  return td_expr_var(B.a, v, B.idx, here());
}
static inline const TdExpr *load(TdSym v, const TdType *t, int n, const TdExpr *const *index) {
  return td_expr_load(B.a, v, t, index, n, here());
}
#define EXPRS(...)                                                                                 \
  (const TdExpr *[]) {                                                                             \
    __VA_ARGS__                                                                                    \
  }
#define LD(v, t, ...) load(v, t, (int)COUNT(const TdExpr *, __VA_ARGS__), EXPRS(__VA_ARGS__))
static inline const TdExpr *get(TdSym v, const TdType *t) {
  return load(v, t, 0, NULL);
}
static inline const TdExpr *op(TdOp o, int n, const TdExpr *const *kid) {
  const TdType *t[4] = {0};
  TdDiag d = {.arena = B.a};
  for (int i = 0; i < n; i++) t[i] = td_type_scalar(kid[i]->type);
  const TdType *type = td_promote_op(B.s, (int)o, t, n, here(), &d);
  if (!type) printf("Bail out! %s\n", d.message), exit(1);
  for (int i = 0; i < n; i++)
    if (kid[i]->type->kind == TD_T_TENSOR) {
      type = td_type_reshape(B.s, kid[i]->type, type);
      break;
    }
  return td_expr_op(B.a, o, type, kid, n, here());
}
#define OP(o, ...) op(TD_OP_##o, (int)COUNT(const TdExpr *, __VA_ARGS__), EXPRS(__VA_ARGS__))
static inline const TdExpr *cast(const TdType *t, const TdExpr *x) {
  return x->type == t ? x : td_expr_cast(B.a, t, x, true);
}
/* All of a tensor or of an array of streams; one stream; a row of a matrix. */
static inline const TdExpr *whole(TdSym v, const TdType *t) {
  return td_expr_whole(B.s, B.a, v, t, here());
}
static inline const TdExpr *element_of(TdSym v, const TdType *port, const TdExpr *i) {
  const TdType *one = td_type_port(B.s, port->elem, 0, NULL, port->block);
  return td_expr_view(B.a, v, one, &i, &(TdViewDim){1, -1}, port->rank, here());
}
static inline const TdExpr *part(TdSym v, const TdType *t, const TdExpr *lo, int64_t step) {
  return td_expr_view(B.a, v, t, &lo, &(TdViewDim){step, 0}, 1, here());
}
static inline const TdExpr *row(TdSym v, const TdType *t, const TdExpr *i) {
  const TdViewDim dim[] = {{1, -1}, {1, 0}};
  return td_expr_view(B.a, v, t, EXPRS(i, num(0)), dim, 2, here());
}

/* Statements. */
static inline const TdStmt *block(size_t n, const TdStmt *const *s) {
  return td_stmt_block(B.st, s, n, here());
}
#define BLOCK(...) block(COUNT(const TdStmt *, __VA_ARGS__), (const TdStmt *[]){__VA_ARGS__})
#define FOR(v, lo, hi, ...) td_stmt_for(B.st, v, lo, hi, 1, BLOCK(__VA_ARGS__), here())
#define IF(c, ...) td_stmt_if(B.st, c, BLOCK(__VA_ARGS__), NULL, here())
#define WHILE(c, ...) td_stmt_while(B.st, c, BLOCK(__VA_ARGS__), false, here())
#define REPEAT(c, ...) td_stmt_while(B.st, c, BLOCK(__VA_ARGS__), true, here())
static inline const TdStmt *store(const TdExpr *place, const TdExpr *value) {
  return td_stmt_store(B.st, place, cast(place->type, value), here());
}
static inline const TdStmt *declare(TdSym v, const TdType *t, const TdExpr *value) {
  if (value && t->kind != TD_T_TENSOR) value = cast(t, value);
  TdLocalInit init = !value ? TD_INIT_NONE : TD_INIT_VALUE;
  return td_stmt_local(B.st, v, t, init, value, here());
}
static inline const TdStmt *set(const TdExpr *view, const TdExpr *value) {
  return td_stmt_set(B.st, view, value, here());
}
static inline const TdStmt *state(TdSym v, const TdType *t, const void *data, int64_t count) {
  TdBlob *b = TD_NEW(B.a, TdBlob);
  *b = (TdBlob){t, count, data};
  return td_stmt_data(B.st, v, TD_LOCAL_STATE, b, here());
}
static inline const TdStmt *put(const TdExpr *s, const TdExpr *v) {
  const TdType *t = s->type->elem;
  return td_stmt_put(B.st, s, t->kind == TD_T_TENSOR ? v : cast(t, v), here());
}
static inline const TdStmt *take(TdSym v, const TdExpr *s) {
  return td_stmt_get(B.st, s, v, s->type->elem, NULL, here());
}
static inline const TdStmt *slot(TdSym v, const TdExpr *s) {
  return td_stmt_slot(B.st, s, v, s->type->elem, here());
}
#define CALL(u, ...)                                                                               \
  td_stmt_call(B.st, (u)->sym, EXPRS(__VA_ARGS__), COUNT(const TdExpr *, __VA_ARGS__), here())
static inline const TdStmt *jump(TdStmtKind k) {
  return td_stmt_jump(B.st, k, here());
}

/* Units and programs. */
static inline TdUnit *unit(TdUnitKind kind, const char *name, size_t n, const TdParam *p) {
  TdUnit *u = TD_NEW(B.a, TdUnit);
  u->kind = (uint8_t)kind;
  u->sym = sym(name, TD_SYM_UNIT);
  u->uid = td_store_uid(B.st);
  u->loc = here();
  u->param = td_arena_copy(B.a, p, n * sizeof *p);
  u->nparam = n;
  return u;
}
#define P(v, t)                                                                                    \
  (TdParam) {                                                                                      \
    .sym = (v), .type = (t), .loc = { 1, 1, 1, 1 }                                                 \
  }
#define UNIT(kind, name, ...)                                                                      \
  unit(TD_UNIT_##kind, name, COUNT(TdParam, __VA_ARGS__), (TdParam[]){__VA_ARGS__})
static inline TdUnit *with_body(TdUnit *u, const TdStmt *body) {
  u->body = body;
  return u;
}
#define KERNEL(name, body, ...) with_body(UNIT(KERNEL, name, __VA_ARGS__), body)
/* A kernel without parameters, with ids. */
static inline TdUnit *with_ids(TdUnit *u, size_t n, const TdSym *id) {
  u->coord = td_arena_copy(B.a, id, n * sizeof *id);
  u->ncoord = n;
  return u;
}
#define IDS(u, ...) with_ids(u, COUNT(TdSym, __VA_ARGS__), (TdSym[]){__VA_ARGS__})
static inline const TdProg *prog(size_t n, const TdUnit *const *u) {
  return td_prog_new(B.st, u, n);
}
#define PROG(...) prog(COUNT(const TdUnit *, __VA_ARGS__), (const TdUnit *[]){__VA_ARGS__})

/* A design's streams and runs, appended. */
static inline const TdType *add_stream(TdUnit *d, TdSym v, const TdType *token, int64_t n,
                                       int64_t depth, bool block_stream) {
  const TdExpr *dim = num(n);
  const TdType *port = td_type_port(B.s, token, 1, &dim, block_stream);
  TdStream *list = TD_NEWN(B.a, TdStream, d->nstream + 1);
  if (d->nstream) memcpy(list, d->stream, d->nstream * sizeof *list);
  list[d->nstream++] = (TdStream){.sym = v, .loc = here(), .type = port, .depth = num(depth)};
  d->stream = list;
  return port;
}
static inline void add_run(TdUnit *d, const TdUnit *k, int rank, const int64_t *map, size_t n,
                           const TdRunArg *bind) {
  TdRun *list = TD_NEWN(B.a, TdRun, d->nrun + 1);
  if (d->nrun) memcpy(list, d->run, d->nrun * sizeof *list);
  TdRun *r = &list[d->nrun++];
  *r = (TdRun){.sym = sym(k->sym->name, TD_SYM_RUN), .unit = k->sym, .loc = here()};
  r->rank = (uint8_t)rank;
  for (int i = 0; i < rank; i++) r->map[i] = num(map[i]);
  r->bind = td_arena_copy(B.a, bind, n * sizeof *bind);
  r->nbind = n;
  d->run = list;
}
#define MAP(...)                                                                                   \
  (int)COUNT(int64_t, __VA_ARGS__), (int64_t[]) {                                                  \
    __VA_ARGS__                                                                                    \
  }
#define BIND(...)                                                                                  \
  COUNT(TdRunArg, __VA_ARGS__), (TdRunArg[]) {                                                     \
    __VA_ARGS__                                                                                    \
  }

#endif
