/* prim.h - a primitive is one const struct: what it is called, takes, means and does. Everything
 * else (Lua methods, argument checks, completion, help, the log) reads that struct. One file per
 * primitive; build/gen lists those of each kind of programs. */
#ifndef TD_HISTORY_PRIM_H
#define TD_HISTORY_PRIM_H

#include "ir/ir.h"

struct TdRewrite;
struct TdStpRewrite;
struct TdStpGraph;

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
  TD_ARG_PAIRS,  /* a list of pairs of integers: ints[2 * i], ints[2 * i + 1] */
  TD_ARG_NAMES,  /* a list of new names */
  TD_ARG_WORD,   /* one of `words` */
  TD_ARG_DEVICE, /* a row of targets.def */
  TD_ARG_FLAG,   /* a boolean */
  TD_ARG_TYPE,
  TD_ARG_COUNTS,   /* integers by name, of `words` */
  TD_ARG_SCHEDULE, /* another schedule, as it is now */
  TD_ARG_KERNEL,   /* another kernel */
  TD_ARG_NODE,     /* a node of a graph: tile#3 */
  TD_ARG_FAMILY    /* a node, or all of one name */
} TdArgKind;
typedef enum { TD_ARG_NEEDED, TD_ARG_OPTIONAL, TD_ARG_REST, TD_ARG_OPTION } TdArgPlace;

#define TD_PRIM_ARGS 8
typedef struct TdArgSpec {
  const char *name;
  TdArgKind kind;
  TdArgPlace place; /* OPTION: a field of the last table, by name; REST: one or more of them */
  const char *help;
  /* WORD: "guard|cut|perfect", the first is the default; INT: words that may stand for a number;
   * COUNTS: the names; UNIT, NAMES: which of "kernel|task|instance|loop|array" it can name (NULL: a
   * kernel or task, new names), where an instance is a task of one too; ARRAY: which of
   * "local|stream" (NULL: any array). */
  const char *words;
} TdArgSpec;

/* A value given for a spec. */
typedef struct TdArgValue {
  bool given;
  const char *text;         /* LOOP to NAME, WORD, DEVICE, NODE, FAMILY; INT that is a word */
  int64_t integer;          /* INT, FLAG */
  double number;            /* NUMBER */
  const int64_t *ints;      /* COUNTS: one for each of the words, -1 where none is given */
  const char *const *names; /* NAMES, and REST of names */
  size_t n;                 /* of ints or names */
  const TdType *type;
  const struct TdVersion *schedule;
  const TdProg *prog; /* KERNEL */
} TdArgValue;

/* A primitive with what it is given. */
typedef struct TdPrimStep {
  const struct TdPrim *prim;
  const TdArgValue *arg; /* parallel to the specs */
  /* Of a step that is part of another: the program before it, and the names that it made. */
  const void *before;
  const char *const *made;
  size_t nmade;
} TdPrimStep;

/* Returns the new program, or NULL with the reason told; never changes the old one. */
typedef const TdProg *(*TdPrimApply)(struct TdRewrite *r);
typedef const struct TdStpGraph *(*TdPrimRewire)(struct TdStpRewrite *r);

typedef struct TdPrim {
  const char *name;    /* as in s:name(...) */
  const char *on;      /* "loop", "array", "kernel", "task", "stream", "graph" */
  const char *summary; /* one line */
  TdArgSpec args[TD_PRIM_ARGS];
  const char *rewrite; /* before => after, as a picture */
  const char *legal;   /* when it is legal */
  const char *errors;  /* codes, separated by blanks */
  const char *example; /* Lua that runs: s is a schedule of gemm, blur of sums of neighbours
                        * (tests/prim/examples.lua) */
  union {              /* by the kind of its programs */
    TdPrimApply apply;
    TdPrimRewire rewire;
  };
  bool new_reference; /* the result is another program, with which later steps are compared */
} TdPrim;

#endif
