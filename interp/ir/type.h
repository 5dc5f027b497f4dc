/* type.h - interned types: equal types are equal pointers. Shapes are canonical index expressions
 * over sizes. Source of the arithmetic: docs/numbers.md. */
#ifndef TD_TYPE_H
#define TD_TYPE_H

#include "base/base.h"

typedef struct TdExpr TdExpr;
typedef struct TdType TdType;

typedef enum {
  TD_T_INT,
  TD_T_UINT,
  TD_T_FIXED,
  TD_T_UFIXED,
  TD_T_FLOAT,
  TD_T_BOOL,
  TD_T_INDEX,
  TD_T_TENSOR,
  TD_T_PORT
} TdTypeKind;

struct TdType {
  uint8_t kind;
  bool saturate, nearest; /* what a cast into the type does; else wrap, floor */
  bool brain;             /* bf16 rather than f16 */
  uint16_t w;             /* bits of a scalar; index is 64 */
  int16_t f;              /* fraction bits of fixed point */
  bool block;             /* of a port: block stream */
  uint8_t rank;           /* of a tensor (>= 1) or of a port's array of streams (>= 0) */
  uint32_t id;            /* in order of making */
  const TdType *elem;     /* element of a tensor, token of a port */
  const TdExpr *dim[];    /* rank extents */
};

#define TD_MAX_BITS 1024
#define TD_MAX_RANK 8

typedef struct TdTypes TdTypes;

/* What a whole session shares: one per Lua state, everything in one arena. */
struct TdProg;

typedef struct TdSession {
  TdCtx *ctx;
  TdArena *arena;
  TdNames *names;
  TdSources *sources;
  TdTypes *types;
  /* Hears of each program that a pass of lower/ makes; NULL: nobody listens. */
  void (*passed)(void *listener, const char *pass, const struct TdProg *made);
  void *listener;
  const struct TdForeignHost *foreign; /* who calls foreign functions; NULL: nobody */
  const struct TdForeignBack *back;    /* who runs what they call back; NULL: nobody */
  struct TdLibraries *libraries;       /* that are open (backends/host/foreign.c) */
  struct TdProofs *proofs;             /* that comparisons came to (eval/proved.c) */
  bool is_broken;                      /* foreign code faulted: memory may hold anything */
} TdSession;

/* Returns a session that draws on c; the caller frees it. */
TdSession *td_session_new(TdCtx *c);
void td_session_free(TdSession *s);

/* Scalars. Widths must be in 1..TD_MAX_BITS, |f| <= 1024 (asserted; frontends check first). */
const TdType *td_type_int(TdSession *s, int w);
const TdType *td_type_uint(TdSession *s, int w);
const TdType *td_type_fixed(TdSession *s, bool is_signed, int w, int f);
const TdType *td_type_float(TdSession *s, int w);
const TdType *td_type_bf16(TdSession *s);
const TdType *td_type_bool(TdSession *s);
const TdType *td_type_index(TdSession *s);
/* The same scalar with another mode of casting into it. */
const TdType *td_type_with(TdSession *s, const TdType *t, bool saturate, bool nearest);
/* t without mode: the type that operators give. */
const TdType *td_type_plain(TdSession *s, const TdType *t);

/* elem[dim0]..[dimN-1]; dims are made canonical. Ports: streams of token in an array of rank >= 0.
 */
const TdType *td_type_tensor(TdSession *s, const TdType *elem, int rank, const TdExpr *const *dim);
const TdType *td_type_tensor_of(TdSession *s, const TdType *elem, int rank, const int64_t *extent);
const TdType *td_type_port(TdSession *s, const TdType *token, int rank, const TdExpr *const *dim,
                           bool block);
/* The same shape over another element. */
const TdType *td_type_reshape(TdSession *s, const TdType *shape, const TdType *elem);

/* Predicates and measures; scalar() of a tensor is its element, of a scalar itself. */
bool td_type_is_integer(const TdType *t); /* int, uint */
bool td_type_is_fixed(const TdType *t);   /* fixed, ufixed */
bool td_type_is_signed(const TdType *t);  /* int, fixed */
bool td_type_is_scalar(const TdType *t);
bool td_type_is_number(const TdType *t); /* a scalar other than bool */
const TdType *td_type_scalar(const TdType *t);
/* Bytes of an element in memory: 1, 2, 4, 8, then multiples of 8. */
size_t td_type_bytes(const TdType *t);
/* Extent d as a constant, or false if it depends on sizes. */
bool td_type_extent(const TdType *t, int d, int64_t *extent);
/* Elements of a tensor (1 for a scalar), or false if symbolic or beyond 2^62. */
bool td_type_count(const TdType *t, int64_t *count);

/* The type as Lua: "i8[M][2 * K]", "tide.int(5)", "u8:with {overflow = \"saturate\"}". */
void td_type_print(TdText *out, const TdType *t);
const char *td_type_str(TdArena *a, const TdType *t);

/* promote.c: the result of operator op (TdOp) on n operand types (scalars), or NULL with d filled
 * (place loc). */
const TdType *td_promote_op(TdSession *s, int op, const TdType *const *t, int n, TdLoc loc,
                            TdDiag *d);
/* The same where the type depends on constants: x << count; tide.bits(x, lo, hi), whose check
 * serves with_bits too. */
const TdType *td_promote_shl(TdSession *s, const TdType *t, int64_t count, TdLoc loc, TdDiag *d);
const TdType *td_promote_bits(TdSession *s, const TdType *t, int64_t lo, int64_t hi, TdLoc loc,
                              TdDiag *d);
/* Whether tide.bitcast(to, x), or the cast to(x), of an x of type `from` is defined; scalars. */
bool td_promote_bitcast(const TdType *to, const TdType *from, TdLoc loc, TdDiag *d);
bool td_promote_cast(TdSession *s, const TdType *to, const TdType *from, TdLoc loc, TdDiag *d);
/* The common type of two values that join (min, max, select, branches). */
const TdType *td_promote_join(TdSession *s, const TdType *a, const TdType *b);
/* Whether a store may cast from to to by itself: within a class and upward (int, fixed, float in
 * that order). */
bool td_promote_can_store(const TdType *to, const TdType *from);
/* Whether every value of `from` is a value of `to`. */
bool td_promote_holds(const TdType *to, const TdType *from);
/* The least integer type that holds v; whether t is that type for a value of bits v. */
const TdType *td_promote_literal(TdSession *s, int64_t v);
bool td_promote_is_least(const TdType *t, uint64_t v);
/* The same for a literal v that is shifted left by what is not constant: i32, or the least that
 * holds it. */
const TdType *td_promote_shifted(TdSession *s, int64_t v);
bool td_promote_is_shifted(const TdType *t, uint64_t v);
/* The accumulator of matmul and reduce on elements of type t when none is asked for: i32 (i64 from
 * 32 bits up), f32, f64 for f64, bool; NULL for fixed point, which must ask. */
const TdType *td_promote_accumulator(TdSession *s, const TdType *t);

#endif
