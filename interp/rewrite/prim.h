/* prim.h - a primitive is one const struct: what it is called, takes, means and does. Everything
 * else (Lua methods, argument checks, completion, help, the log) reads that struct. One file per
 * primitive; build/gen/prims.gen.h lists them. */
#ifndef TD_PRIM_H
#define TD_PRIM_H

#include "affine/affine.h"
#include "ir/ir.h"

/* What an argument names or is. */
typedef enum {
  TD_ARG_END,
  TD_ARG_LOOP,   /* a loop of the schedule, by name */
  TD_ARG_BAND,   /* a band, or a loop */
  TD_ARG_ARRAY,  /* a parameter or local */
  TD_ARG_UNIT,   /* a callee or task */
  TD_ARG_STREAM, /* a stream of the design */
  TD_ARG_NAME,   /* a new name */
  TD_ARG_INT,
  TD_ARG_NUMBER,
  TD_ARG_INTS,   /* an integer or a list of them */
  TD_ARG_NAMES,  /* a list of new names */
  TD_ARG_WORD,   /* one of `words` */
  TD_ARG_DEVICE, /* a row of targets.def */
  TD_ARG_FLAG,   /* a boolean */
  TD_ARG_TYPE,
  TD_ARG_COUNTS,   /* integers by name, of `words` */
  TD_ARG_SCHEDULE, /* another schedule, as it is now */
  TD_ARG_KERNEL    /* another kernel */
} TdArgKind;
typedef enum { TD_ARG_NEEDED, TD_ARG_OPTIONAL, TD_ARG_REST, TD_ARG_OPTION } TdArgPlace;

#define TD_PRIM_ARGS 8
typedef struct TdArgSpec {
  const char *name;
  TdArgKind kind;
  TdArgPlace place; /* OPTION: a field of the last table, by name; REST: one or more of them */
  const char *help;
  /* WORD: "guard|cut|perfect", the first is the default; COUNTS: the names; UNIT, NAMES: which of
   * "kernel|task|instance|loop" it can name (NULL: a kernel or task, new names), where an instance
   * is a task of one too; ARRAY: which of "local|stream" (NULL: any array). */
  const char *words;
} TdArgSpec;

/* A value given for a spec. */
typedef struct TdArgValue {
  bool given;
  const char *text;         /* LOOP, BAND, ARRAY, UNIT, STREAM, NAME, WORD, DEVICE */
  int64_t integer;          /* INT, FLAG */
  double number;            /* NUMBER */
  const int64_t *ints;      /* COUNTS: one for each of the words, -1 where none is given */
  const char *const *names; /* NAMES, and REST of names */
  size_t n;                 /* of ints or names */
  const TdType *type;
  const struct TdVersion *schedule;
  const TdProg *prog; /* KERNEL */
} TdArgValue;

/* The names that a unit has and those that a step has given out in it. */
typedef struct TdNaming {
  TdSym unit;        /* NULL: none asked yet */
  TdMap taken, last; /* interned names; of a stem, the last suffix */
} TdNaming;

/* A primitive with what it is given. */
typedef struct TdPrimStep {
  const struct TdPrim *prim;
  const TdArgValue *arg; /* parallel to the specs */
  /* Of a step that is part of another: the program before it, and the names that it made. */
  const TdProg *before;
  const char *const *made;
  size_t nmade;
} TdPrimStep;

/* A primitive at work. */
typedef struct TdRewrite {
  const TdProg *prog;
  const struct TdVersion *since; /* the version that prog belongs to */
  TdStore *store;
  TdSession *session;
  TdArena *arena; /* scratch, gone when the step is over */
  TdAffine *affine;
  const TdArgValue *arg; /* parallel to the specs */
  TdDiag *diag;
  TD_VEC(const char *) made;     /* names for the caller, in the documented order */
  TD_VEC(TdPrimStep) did;        /* of a composite step: those that it was made of, for the log */
  TD_VEC(const TdExpr *) copied; /* what it evaluates again (copied.h) */
  TD_VEC(const char *) relative; /* what made it another program: "retype C i32 -> i16" */
  TD_VEC(const char *) note;     /* what the user should know: "adds tide.assume(K % 8 == 0)" */
  bool replays;                  /* a step of another schedule: what holds already is no mistake */
  bool used_value; /* the step holds at these sizes only (parametric answers say so) */
  TdNaming naming; /* of td_util_name */
} TdRewrite;

/* Returns the new program, or NULL with r->diag filled; never changes the old one. */
typedef const TdProg *(*TdPrimApply)(TdRewrite *r);

typedef struct TdPrim {
  const char *name;    /* as in s:name(...) */
  const char *on;      /* "loop", "array", "kernel", "task", "stream" */
  const char *summary; /* one line */
  TdArgSpec args[TD_PRIM_ARGS];
  const char *rewrite; /* before => after, as a picture */
  const char *legal;   /* when it is legal */
  const char *errors;  /* codes, separated by blanks */
  const char *example; /* Lua that runs: s is a schedule of gemm, blur of sums of neighbours
                        * (tests/prim/examples.lua) */
  TdPrimApply apply;
  bool new_reference; /* the result is another program, with which later steps are compared */
} TdPrim;

/* All primitives, NULL at the end. */
extern const TdPrim *const td_prims[];
const TdPrim *td_prim_find(const char *name);

#endif
