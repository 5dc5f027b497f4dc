/* backend.h - what a target of a build is: facts about itself, and three functions. */
#ifndef TD_BACKEND_H
#define TD_BACKEND_H

#include "ir/ir.h"
#include "ir/tensor.h"

/* What a user may say to a build, by name. */
typedef enum { TD_OPTION_BOOL, TD_OPTION_INT, TD_OPTION_NUMBER, TD_OPTION_WORD } TdOptionKind;
typedef struct TdOption {
  const char *name;
  TdOptionKind kind;
  /* As text; of a WORD the words that may be said, by '|', the default first. */
  const char *initial;
  const char *help;
} TdOption;

/* The values of a backend's options, parallel to its table; NULL: not said. */
typedef struct TdBuild {
  const TdProg *prog;
  const char *const *value;
  TdArena *arena; /* owns what is made */
  TdDiag *diag;
} TdBuild;

/* A file that a build writes. */
typedef struct TdFile {
  const char *name; /* path below the folder that the user names */
  const char *text;
} TdFile;

/* An argument of a run: a tensor, or a scalar as num.h keeps it. */
typedef struct TdCallArg {
  TdTensor *tensor;
  uint64_t scalar;
} TdCallArg;

/* A backend. validate says in d what it refuses and, as help, which primitive would change that;
 * emit returns the files of a build, the main one first. Both fill b->diag on failure. */
typedef struct TdBackend {
  const char *name, *summary;
  const TdOption *option;
  size_t noption;
  bool (*validate)(const TdBuild *b);
  const TdFile *(*emit)(const TdBuild *b, size_t *nfile);
} TdBackend;

/* The value of option i of backend x in build b: what was said, or the default. */
static inline const char *td_backend_option(const TdBackend *x, const TdBuild *b, size_t i) {
  return b->value && b->value[i] ? b->value[i] : x->option[i].initial;
}

#endif
