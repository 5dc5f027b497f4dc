/* backend.h - what a target of a build is: facts about itself, and functions. Everything that a
 * user sees of a target (build options, completion, help, messages) reads this struct; a target is
 * a folder that defines one `const TdBackend td_backend_<name>`, which the Makefile lists. */
#ifndef TD_BACKEND_H
#define TD_BACKEND_H

#include "ir/ir.h"
#include "ir/tensor.h"

/* lower/lower.h, eval/time/timed.h */
typedef struct TdLowered TdLowered;
typedef struct TdTimed TdTimed;
typedef struct TdEvalPort TdEvalPort; /* eval/eval.h */

/* What a user may say to a build, by name. */
typedef enum {
  TD_OPTION_BOOL,
  TD_OPTION_INT,
  TD_OPTION_NUMBER,
  TD_OPTION_WORD,
  TD_OPTION_MEMORY, /* of runs with a clock: TdBuild.memory */
  TD_OPTION_CYCLES  /* lists of whole numbers by name, as eval/time/ready.h reads them */
} TdOptionKind;
typedef struct TdOption {
  const char *name;
  TdOptionKind kind;
  /* As text; of a WORD the words that may be said, by '|', the default first. */
  const char *initial;
  const char *help;
} TdOption;

/* The option by which functions of floats are computed: who builds (interp/bind) reads it, and
 * hands targets the program that it means. */
#define TD_MATH_OPTION "math"
#define TD_MATH_HELP "exp, log, sin, cos, tanh of f16, bf16, f32: in integers (core: tide.core)"

/* A program that is built, and what is said of it. */
typedef struct TdBuild {
  const TdProg *prog;             /* as the user sees it */
  const TdLowered *lowered;       /* by the backend's passes; NULL while it validates */
  const char *steps;              /* that led from prog to what was lowered, as Lua; "": none */
  const char *const *value;       /* of the options, parallel to their table; NULL: not said */
  const struct TdOffchip *memory; /* as an option of that kind says; NULL: not said */
  bool watch;                     /* only runs tell who touches which element: they must look */
  TdArena *arena;                 /* owns what is made */
  TdDiag *diag;
} TdBuild;

/* A file that a build writes. */
typedef struct TdFile {
  const char *name; /* path below the folder that the user names */
  const char *text;
} TdFile;

/* An argument of a run: a tensor, a scalar as num.h keeps it, or the ends outside of streams. */
typedef struct TdCallArg {
  TdTensor *tensor;
  uint64_t scalar;
  TdEvalPort *port;
} TdCallArg;

/* What is found of a question: lines of "path value", and how it prints. */
typedef struct TdAnswer {
  const char *lines, *text;
} TdAnswer;
/* Something that is asked of a build, m:lint(): of its text, by other tools. The values of the
 * options are parallel to their table; NULL: not said. False with b->diag filled. */
typedef struct TdQuestion TdQuestion;
struct TdQuestion {
  const char *name;
  const TdOption *option;
  size_t noption;
  bool (*ask)(const TdQuestion *q, const TdBuild *b, const char *const *value, TdAnswer *answer);
};

/* A backend. Functions that fail return NULL or false and fill the diagnostic; all but `validate`
 * and `emit` may be NULL. Results are owned by b->arena. */
typedef struct TdBackend {
  const char *name, *summary;
  const TdOption *option;
  size_t noption;
  unsigned passes;          /* of lower/lower.h, that the text starts from */
  const char *check_option; /* boolean: its runs are held against the timed run; NULL: none */
  bool looks;               /* its runs find copies that differ; else the build has to */

  /* Where tasks touch no argument, and the build adds tasks that copy: the columns of the array,
   * over which those are spread that hand blocks out. */
  int (*columns)(const TdBuild *b);
  /* Says what it refuses and, as help, which primitive would change that. */
  bool (*validate)(const TdBuild *b);
  /* The files of a build, the main one first. */
  const TdFile *(*emit)(const TdBuild *b, size_t *nfile);

  /* The files of a test bench for arguments before and after a run, and the boolean option that
   * asks for one. */
  const TdFile *(*data)(const TdBuild *b, const TdCallArg *before, const TdCallArg *after,
                        size_t *nfile);
  const char *data_option;
  /* Runs the vendor's tool in a folder that holds the files, if it is on PATH and b asks for it.
   * *said is a sentence about what was done, or what to do; *report are lines of "path value", NULL
   * where there is none. */
  bool (*tool)(const TdBuild *b, const char *folder, const char **said, const char **report);
  /* The lines of the report that the tool left in such a folder; NULL: none that can be read. */
  const char *(*read_report)(TdArena *a, const char *folder);

  /* A run here, with its state; the arguments of a call fit the parameters. */
  void *(*open)(const TdBuild *b);
  bool (*call)(void *run, const TdCallArg *arg, size_t narg, TdDiag *d);
  void (*reset)(void *run);
  /* What the last call told: lines of "path value", and its times; NULL: nothing. */
  const char *(*report)(const void *run);
  const TdTimed *(*timed)(const void *run);
  /* The times of a run without data. */
  const TdTimed *(*simulate)(void *run, TdDiag *d);
  /* What may be asked of a build, NULL-ended; NULL: nothing. */
  const TdQuestion *const *question;
} TdBackend;

/* All targets, NULL at the end, the default first. */
extern const TdBackend *const td_backends[];

/* The value of option i of backend x in build b: what was said, or the default. */
static inline const char *td_backend_option(const TdBackend *x, const TdBuild *b, size_t i) {
  return b->value && b->value[i] ? b->value[i] : x->option[i].initial;
}

#endif
