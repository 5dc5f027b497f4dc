/* stmt.h - statements: everything that writes, moves a token or jumps. Immutable; named by uid.
 * docs/ir.md, Statements and Identity. */
#ifndef TD_STMT_H
#define TD_STMT_H

#include "ir/expr.h"

typedef enum {
#define TD_NODE_STMT(id, name) TD_STMT_##id,
#include "ir/nodes.def"
  TD_STMT_KINDS
} TdStmtKind;

/* How elements go to banks, and what may hold an array. */
#define TD_WORDS_BANKS "complete|cyclic|block"
#define TD_WORDS_MEMORY "bram|uram|lutram|register"

typedef enum {
#define TD_ATTR(id, name, args, words, on, split, summary) TD_ATTR_##id,
#include "ir/attrs.def"
  TD_ATTRS
} TdAttrKind;

typedef struct TdAttrInfo {
  const char *name, *args, *words, *on;
  char split; /* 'i' inner, 'b' both, '-' */
  const char *summary;
} TdAttrInfo;
extern const TdAttrInfo td_attrs[TD_ATTRS];
/* The kind of a name, or -1. */
int td_attr_find(const char *name);
/* Whether a letter of `args` is that of an integer. */
bool td_attr_is_integer(char letter);

#define TD_ATTR_ARGS 3
typedef struct TdAttrInts {
  size_t n;
  const int64_t *at;
} TdAttrInts;
typedef union TdAttrArg {
  int64_t i;
  const TdAttrInts *ints; /* NULL: none */
  const char *s;          /* words and strings, interned */
  TdSym sym;
} TdAttrArg;
typedef struct TdAttr {
  uint8_t kind; /* TdAttrKind */
  TdAttrArg arg[TD_ATTR_ARGS];
} TdAttr;
/* A counted list, immutable like the node that carries it. */
typedef struct TdAttrs {
  const TdAttr *at;
  size_t n;
} TdAttrs;

/* The first of a kind, or NULL. */
const TdAttr *td_attrs_get(TdAttrs l, TdAttrKind k);
/* l with x behind it, with x in place of those of its kind, and without those of a kind. */
TdAttrs td_attrs_add(TdArena *a, TdAttrs l, TdAttr x);
TdAttrs td_attrs_set(TdArena *a, TdAttrs l, TdAttr x);
TdAttrs td_attrs_drop(TdArena *a, TdAttrs l, TdAttrKind k);
/* Those whose split letter is in `splits`. */
TdAttrs td_attrs_keep(TdArena *a, TdAttrs l, const char *splits);
bool td_attrs_equal(TdAttrs x, TdAttrs y);
/* A list of integers as an argument. */
const TdAttrInts *td_attr_ints(TdArena *a, const int64_t *at, size_t n);

/* What a symbol stands for; TdSymbol.kind. */
typedef enum {
  TD_SYM_LOOP,   /* index, read-only */
  TD_SYM_COORD,  /* task id: index, read-only */
  TD_SYM_SCALAR, /* scalar parameter, read-only */
  TD_SYM_TENSOR, /* tensor parameter, design argument */
  TD_SYM_LOCAL,  /* local scalar or tensor, state, constant table, got token or slot */
  TD_SYM_STREAM, /* stream of a design, or port parameter */
  TD_SYM_RUN,
  TD_SYM_UNIT
} TdSymKind;

typedef enum { TD_LOCAL_AUTO, TD_LOCAL_CONST, TD_LOCAL_STATE } TdLocalClass;
typedef enum { TD_INIT_NONE, TD_INIT_FILL, TD_INIT_VALUE } TdLocalInit;

/* Elements of a constant table or of the start of a state, in memory format (num.h), row-major. */
typedef struct TdBlob {
  const TdType *type; /* tensor of constant extents */
  int64_t count;
  const void *data;
} TdBlob;

/* One statement. Its slots by kind:
 *          expr                    kid
 * FOR      lo, hi                  body block   half open, step > 0, bounds are read once; sym is
 *                                               the variable
 * WHILE    condition               body block   post: the test comes after the body (repeat)
 * IF       condition               then block, else block or nothing (nkid 1 or 2)
 * LOCAL    fill, value or nothing               sym, type, cls, init; blob for CONST and STATE
 * STORE    place (LOAD), value                  the value has the type of the place
 * SET      view, tensor expression              equal scalar types; equal shapes, or a scalar: fill
 * GET      stream, [place or view]              without a place it declares sym of type
 * SLOT     stream                               declares sym: an empty buffer of a block stream
 * PUT      stream, value                        of the token type: a scalar, a tensor expression,
 *                                               or the VIEW of a slot
 * CALL     arguments in order                   sym is the unit; tensors and streams are VIEWs
 * BREAK                                         leaves the innermost loop
 * RETURN                                        leaves the unit
 * BLOCK                            statements */
typedef struct TdStmt TdStmt;
struct TdStmt {
  uint8_t kind;         /* TdStmtKind */
  uint8_t cls;          /* LOCAL: TdLocalClass */
  uint8_t init;         /* LOCAL: TdLocalInit */
  bool post;            /* WHILE */
  uint32_t uid, origin; /* origin: uid it was copied from, or 0 */
  uint32_t nexpr, nkid;
  TdLoc loc;
  TdSym sym;
  const TdType *type;
  int64_t step;
  const TdBlob *blob;
  TdAttrs attrs;
  const TdExpr *const *expr;
  const TdStmt *const *kid;
};

/* A store owns everything of one lineage: arena, counters of uids and symbols. */
typedef struct TdStore {
  TdSession *session;
  TdArena *arena;
  uint32_t next_uid, next_sym;
  TdMap at; /* programs at sizes of arguments: of td_at_arguments */
} TdStore;

/* Returns a new store; the caller frees it. */
TdStore *td_store_new(TdSession *s);
/* Returns a new store that is freed with a. */
TdStore *td_store_inner(TdArena *a, TdSession *s);
void td_store_free(TdStore *st);
/* A fresh symbol of kind k (TdSymKind). */
TdSym td_store_sym(TdStore *st, const char *name, TdSymKind k);
TdSym td_store_sym_ordinal(TdStore *st, const char *name, TdSymKind k, int ordinal);
uint32_t td_store_uid(TdStore *st);

/* Constructors: fresh uid each; arrays are copied. */
const TdStmt *td_stmt_for(TdStore *st, TdSym v, const TdExpr *lo, const TdExpr *hi, int64_t step,
                          const TdStmt *body, TdLoc loc);
const TdStmt *td_stmt_while(TdStore *st, const TdExpr *cond, const TdStmt *body, bool post,
                            TdLoc loc);
const TdStmt *td_stmt_if(TdStore *st, const TdExpr *cond, const TdStmt *then,
                         const TdStmt *otherwise, TdLoc loc);
const TdStmt *td_stmt_local(TdStore *st, TdSym v, const TdType *t, TdLocalInit init,
                            const TdExpr *value, TdLoc loc);
const TdStmt *td_stmt_data(TdStore *st, TdSym v, TdLocalClass cls, const TdBlob *blob, TdLoc loc);
/* How many statements at the start of a unit's body are constants and states: all of them are, and
 * print before the unit. */
size_t td_stmt_preamble(const TdStmt *body);
const TdStmt *td_stmt_store(TdStore *st, const TdExpr *place, const TdExpr *value, TdLoc loc);
const TdStmt *td_stmt_set(TdStore *st, const TdExpr *view, const TdExpr *value, TdLoc loc);
const TdStmt *td_stmt_get(TdStore *st, const TdExpr *stream, TdSym declares, const TdType *t,
                          const TdExpr *place, TdLoc loc);
const TdStmt *td_stmt_slot(TdStore *st, const TdExpr *stream, TdSym declares, const TdType *t,
                           TdLoc loc);
const TdStmt *td_stmt_put(TdStore *st, const TdExpr *stream, const TdExpr *value, TdLoc loc);
const TdStmt *td_stmt_call(TdStore *st, TdSym unit, const TdExpr *const *arg, size_t n, TdLoc loc);
const TdStmt *td_stmt_jump(TdStore *st, TdStmtKind break_or_return, TdLoc loc);
const TdStmt *td_stmt_block(TdStore *st, const TdStmt *const *kid, size_t n, TdLoc loc);

/* Path copies: the same uid, other contents. */
const TdStmt *td_stmt_with_kids(TdStore *st, const TdStmt *s, const TdStmt *const *kid, size_t n);
const TdStmt *td_stmt_with_exprs(TdStore *st, const TdStmt *s, const TdExpr *const *e, size_t n);
const TdStmt *td_stmt_with_attrs(TdStore *st, const TdStmt *s, TdAttrs attrs);

/* What is said of a CALL, arguments i and k of which share memory that is written, and of a SET, an
 * operand of which overlaps the target. Owned by a. */
const char *td_stmt_overlap(TdArena *a, const TdStmt *call, uint32_t i, uint32_t k);
#define TD_STMT_OVERLAP "%s overlaps what the statement writes"

/* Accessors that assert the kind. */
static inline const TdExpr *td_for_lo(const TdStmt *s) {
  return s->expr[0];
}
static inline const TdExpr *td_for_hi(const TdStmt *s) {
  return s->expr[1];
}
static inline const TdStmt *td_for_body(const TdStmt *s) {
  return s->kid[0];
}

#endif
