/* unit.h - kernels, designs, externs, and the program that holds them. docs/ir.md, Units.
 * Immutable. */
#ifndef TD_UNIT_H
#define TD_UNIT_H

#include "ir/stmt.h"

typedef enum {
#define TD_NODE_UNIT(id, name) TD_UNIT_##id,
#include "ir/nodes.def"
  TD_UNIT_KINDS
} TdUnitKind;

/* A parameter: tensor, scalar, or port. */
typedef struct TdParam {
  TdSym sym;
  const TdType *type;
  TdAttrs attrs;
  TdLoc loc;
} TdParam;

/* A size: a name with, usually, a value. */
typedef struct TdSize {
  const char *name; /* interned */
  bool known;
  int64_t value;
} TdSize;

/* A stream, or an array of streams, of a design. */
typedef struct TdStream {
  TdSym sym;
  uint32_t uid;
  TdLoc loc;
  const TdType *type;  /* the port type: token, array extents, block */
  const TdExpr *depth; /* tokens, an index expression over sizes */
  TdAttrs attrs;
} TdStream;

/* A parameter of a task's kernel bound to an argument of the design. */
typedef struct TdRunArg {
  TdSym param, arg;
  const char *layout; /* "S1R": S<axis of map> or R for each dimension; NULL: the argument itself */
} TdRunArg;

/* A task: a kernel run over a grid; its last `rank` coordinates are the ids (or it takes none). */
typedef struct TdRun {
  TdSym sym, unit;
  uint32_t uid;
  TdLoc loc;
  uint8_t rank;
  const TdExpr *map[TD_MAX_RANK];
  const TdRunArg *bind;
  size_t nbind;
  TdAttrs attrs;
} TdRun;

/* How a C++ function takes a parameter. */
typedef enum {
  TD_IP_VALUE,
  TD_IP_REFERENCE, /* to a scalar: an array of one element here */
  TD_IP_ARRAY,
  TD_IP_BOUND /* a reference to an array */
} TdIpPass;
typedef struct TdIpParam {
  const char *type; /* of its elements, in C++: "ap_int<5>" */
  uint8_t pass;     /* TdIpPass */
  bool constant;    /* it is not written */
} TdIpParam;

/* A file of C++: the source, or what it includes by a name in quotes. */
typedef struct TdIpFile {
  const char *name, *text;
} TdIpFile;

/* An external IP: a C++ function, called through a wrapper that is the extern's library. */
typedef struct TdIp {
  const char *source, *symbol; /* path as given; with namespaces: "dsp::mac" */
  const char *path;            /* from the root */
  const TdIpParam *param;      /* parallel to the unit's */
  const TdIpFile *file;        /* the source first */
  size_t nfile;
} TdIp;

/* A function that foreign code calls back: numbers and arrays in, a number or nothing out. */
typedef struct TdCallback {
  size_t at;            /* its place among the arguments of C */
  const TdType *result; /* NULL: nothing */
  const TdType *const *param;
  size_t nparam;
  int fn; /* the Lua function, by the number that it is kept under; 0: each call gives one */
} TdCallback;

/* Where the code of an extern comes from and what it may be assumed to do. */
typedef struct TdForeign {
  const char *library, *source, *symbol; /* library or source is NULL */
  bool pure;
  bool process;   /* it runs in a process of its own */
  bool signature; /* it was given as one: its parameters have no names */
  bool returns;   /* its first parameter is one element, which C has as its value */
  const TdCallback *callback;
  size_t ncallback;
  TdSym model;    /* the kernel that defines its meaning, or NULL */
  const TdIp *ip; /* of C++, or NULL */
} TdForeign;

/* A kernel, design or extern; what its kind does not have is empty. */
typedef struct TdUnit {
  uint8_t kind; /* TdUnitKind */
  TdSym sym;
  uint32_t uid;
  TdLoc loc;
  const TdParam *param;
  size_t nparam;
  const TdSym *coord; /* of a kernel run as a task: its trailing ids */
  size_t ncoord;
  const TdSize *size;
  size_t nsize;
  const TdExpr *const *assert_; /* bool expressions over sizes and index parameters */
  size_t nassert;
  TdAttrs attrs;
  const char *stem;       /* the name it was captured under, if another unit had that; or NULL */
  const char *instance;   /* of `k:as "FFN1"`: it and its callees are not shared; or NULL */
  const TdStmt *body;     /* KERNEL: a block; first its constants and states, then the statements */
  const TdStream *stream; /* DESIGN */
  size_t nstream;
  const TdRun *run;
  size_t nrun;
  const TdForeign *foreign; /* EXTERN */
} TdUnit;

/* A version of a program: its units in dependency order (callees first), the last one is the root.
 */
typedef struct TdProg {
  TdStore *store;
  const TdUnit *const *unit;
  size_t nunit;
} TdProg;

/* The unit that the program is of: what is called. */
const TdUnit *td_prog_root(const TdProg *p);
/* The unit of a symbol, or of a name; NULL if absent. */
const TdUnit *td_prog_unit(const TdProg *p, TdSym sym);
const TdUnit *td_prog_find(const TdProg *p, const char *name);
/* Whether some design of p runs the unit of a symbol as a task. */
bool td_prog_is_task(const TdProg *p, TdSym unit);
/* Whether something lasts from call to call: in a unit's body, in some unit of p. */
bool td_unit_has_state(TdCtx *c, const TdUnit *u);
bool td_prog_has_state(const TdProg *p);
/* A program of n units; the array is copied. */
const TdProg *td_prog_new(TdStore *st, const TdUnit *const *unit, size_t n);
/* p with the unit of u's symbol replaced by u (pointer-equal p when it already is u). */
const TdProg *td_prog_with(const TdProg *p, const TdUnit *u);
/* p with u put before the unit `before` (NULL: before the root). */
const TdProg *td_prog_insert(const TdProg *p, const TdUnit *u, TdSym before);
/* p without the units that the root does not reach, each after those that it calls, in the order of
 * the first calls. */
const TdProg *td_prog_prune(const TdProg *p);
/* u with another body. */
const TdUnit *td_unit_with_body(TdStore *st, const TdUnit *u, const TdStmt *body);
/* A shallow copy to fill in; owned by the store. */
TdUnit *td_unit_copy(TdStore *st, const TdUnit *u);

/* The parameter of a symbol, or NULL. */
const TdParam *td_unit_param(const TdUnit *u, TdSym sym);
/* The kind of symbol that a parameter of this type has. */
TdSymKind td_unit_param_kind(const TdType *t);
/* The stream of a symbol, or NULL. */
const TdStream *td_unit_stream(const TdUnit *u, TdSym sym);
/* Cycles that a token of this type, at u's sizes, takes on a stream with these attributes: one,
 * unless lanes(n) says how many elements move side by side. */
int64_t td_unit_beats(const TdUnit *u, TdAttrs stream, const TdType *token);
/* The size of a name, or NULL. */
const TdSize *td_unit_size(const TdUnit *u, const char *name);

/* Extents and other index expressions over sizes at the values that unit u gives them; false if one
 * has none. */
bool td_unit_value(const TdUnit *u, const TdExpr *e, int64_t *v);
/* The constant type that t is at u's sizes, or NULL if a size has no value. */
const TdType *td_unit_type(TdSession *s, const TdUnit *u, const TdType *t);

/* clone.c: a deep copy of all units into another store: fresh symbols and uids in a fixed order.
 * `keep` copies uids and symbol ids as they are (the destination store must be new). Names of units
 * are made unique in `into`. */
const TdProg *td_clone_prog(TdStore *into, const TdProg *p, bool keep);

/* Why arguments i, `written` or not, and k of a call of u may not share elements, as "is written
 * and"; NULL: they may. */
const char *td_unit_is_apart(const TdUnit *u, size_t i, size_t k, bool written);
/* "f assumes n < 8": what is said where assumption i of u does not hold. Owned by a. */
const char *td_unit_assumes(TdArena *a, const TdUnit *u, size_t i);

/* What to write for those sizes of u to have a value that have none. Owned by a. */
const char *td_unit_help_sizes(TdArena *a, const TdUnit *u);

#endif
