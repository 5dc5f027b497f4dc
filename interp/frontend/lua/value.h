/* value.h - compile-time values: what an upvalue, a field or a literal is when a kernel is
 * captured. */
#ifndef TD_FRONTEND_LUA_VALUE_H
#define TD_FRONTEND_LUA_VALUE_H

#include "frontend/lua/ast.h"
#include "ir/ir.h"
#include "ir/tensor.h"

typedef enum {
#define TD_WORD(id, paths) TD_WORD_##id,
#include "frontend/lua/words.def"
  TD_WORD_FIRST_OP /* TD_WORD_FIRST_OP + TdOp: an operator of ops.def */
} TdWord;

typedef enum {
  TD_C_NIL,
  TD_C_BOOL,
  TD_C_INT,
  TD_C_FLOAT,
  TD_C_STRING,
  TD_C_TYPE,
  TD_C_TENSOR,   /* constant table */
  TD_C_STATE,    /* made by tide.state */
  TD_C_UNIT,     /* kernel, design, extern */
  TD_C_STREAM,   /* of the design under construction */
  TD_C_TABLE,    /* Lua table */
  TD_C_FUNCTION, /* Lua function */
  TD_C_WORD,     /* a function of words.def */
  TD_C_SIZE,     /* a tide.size: a name without a value */
  TD_C_LAYOUT,   /* a layout that has a text, in u.string */
  TD_C_OTHER
} TdConstKind;

/* One value. Integers may carry the index expression over sizes that they are the value of. */
typedef struct TdConst {
  TdConstKind kind;
  union {
    bool boolean;
    int64_t integer;
    double number;
    struct {
      const char *at;
      size_t n;
    } string;
    const TdType *type;
    const TdTensor *tensor; /* TENSOR, STATE */
    const TdProg *prog;     /* UNIT */
    int word;               /* WORD */
    const char *what;       /* OTHER, and any kind for messages: "a file" */
  } u;
  const TdExpr *size;  /* INT */
  const TdType *typed; /* INT, FLOAT, BOOL: type of a local bound to it, or NULL for a bare value */
  /* Identity in the host: TABLE, FUNCTION, STATE, UNIT, TENSOR; number of a STREAM. */
  uintptr_t handle;
} TdConst;

/* The number of a stream that is not one of the design under construction. */
#define TD_FOREIGN_STREAM UINTPTR_MAX

/* Names, in an arena. */
typedef struct TdNameList {
  const char **at;
  size_t n;
} TdNameList;

/* How the frontend asks for values of the Lua program. Implementations read raw and never run user
 * code. */
typedef struct TdHost {
  void *ud;
  /* Upvalue number `index` (from 0) of Lua function fn; false if there is none. */
  bool (*upvalue)(void *ud, uintptr_t fn, int index, TdConst *out);
  /* A global as function fn sees it (a field of its _ENV); NIL if unset. */
  bool (*global)(void *ud, uintptr_t fn, const char *name, TdConst *out);
  /* table[key] for a string key, or for an integer key when name is NULL. */
  bool (*field)(void *ud, uintptr_t table, const char *name, int64_t key, TdConst *out);
  /* The texts among the keys of a table, or of what function `of` sees as globals, in alphabetical
   * order. */
  TdNameList (*keys)(void *ud, uintptr_t of, bool globals, TdArena *a);
  /* #table of a list. */
  int64_t (*length)(void *ud, uintptr_t table);
  /* Lua function fn in its chunk; false, with d filled, when its source is not known. */
  bool (*source)(void *ud, uintptr_t fn, const TdAst **ast, const TdAstFn **source, TdDiag *d);
  /* Keeps Lua function fn for the session; the number that it goes by from now on. */
  int (*keep)(void *ud, uintptr_t fn);
} TdHost;

/* A Lua integer, boolean or float. */
TdConst td_value_int(int64_t v);
TdConst td_value_bool(bool v);
TdConst td_value_float(double v);

/* How messages name a value: "nil", "a table", "a kernel". */
const char *td_value_words(const TdConst *c);
bool td_value_is_number(const TdConst *c);
/* Lua's truth. */
bool td_value_truth(const TdConst *c);
/* x op y (or op x when y is NULL) as Lua computes on numbers, strings and booleans; false when Lua
 * would raise. */
bool td_value_binary(TdArena *a, TdAstBinary op, const TdConst *x, const TdConst *y, TdConst *out);
bool td_value_unary(TdAstUnary op, const TdConst *x, TdConst *out);

#endif
