/* spelling.h - operations as dialect.def spells them: its rows, taken apart. */
#ifndef TD_NPU_SPELLING_H
#define TD_NPU_SPELLING_H

#include "backends/npu/mlir/mlir.h"

/* A piece of a row: words as they stand, or what is between angle brackets. */
typedef struct TdSpelled {
  const char *text; /* as it stands, or NULL */
  size_t n;
  char kind[16], name[40], more[2][24]; /* of the brackets */
} TdSpelled;

typedef struct TdSpelling {
  int from, to;
  const char *op, *text;
} TdSpelling;

/* The version of a form; the row of an operation, of one that begins with a word. */
int td_spelling_version(TdMlirForm form);
const TdSpelling *td_spelling_of(int version, const char *op);
const TdSpelling *td_spelling_find(int version, const char *word);
/* The piece at *at, which moves behind it; false at the end. */
bool td_spelling_next(const char **at, TdSpelled *out);
/* The numbers of a piece "set", whose brackets end at `end`: how many. */
enum { TD_SPELLED_SET = 8 };
size_t td_spelling_set(const TdSpelled *x, const char *end, int64_t *out);
/* The word of a number of an attribute, or NULL; and back, false: there is none. */
const char *td_spelling_word(int version, const char *name, int64_t number);
bool td_spelling_number(int version, const char *name, const char *word, int64_t *number);

#endif
