/* mlir_pretty.h - operations as dialect.def spells them: its rows, taken apart, and what the two
 * printers share. */
#ifndef TD_MLIR_PRETTY_H
#define TD_MLIR_PRETTY_H

#include "backends/npu/mlir.h"
#include "backends/npu/mlir_parse.h"

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

/* The version of a form; the row of an operation, or of a word that begins one: of n bytes. */
int td_mlir_version(TdMlirForm form);
const TdSpelling *td_mlir_spelling(int version, const char *op);
const TdSpelling *td_mlir_spelled(int version, const char *word);
/* The piece at *at, which moves behind it; false at the end. */
bool td_mlir_spelled_next(const char **at, TdSpelled *out);
/* The numbers of a piece "set", whose brackets end at `end`: how many. */
enum { TD_SPELLED_SET = 8 };
size_t td_mlir_spelled_set(const TdSpelled *x, const char *end, int64_t *out);
/* The word of a number of an attribute, or NULL; the number of a word, false: there is none. */
const char *td_mlir_word(int version, const char *name, int64_t number);
bool td_mlir_number(int version, const char *name, const char *word, int64_t *number);

/* mlir_pretty.c: prints an operation; false: no row of it says all, nothing was printed. */
bool td_mlir_pretty_op(TdText *out, const TdMlirOp *op, TdMlirForm form, int depth);
/* mlir_pretty_read.c: what follows the word of an operation; *result: the types of its n results,
 * as far as the row tells. */
bool td_mlir_pretty_read(TdMlirParse *p, TdMlirOp *op, const TdSpelling *row, TdMap *blocks,
                         size_t n, const TdMlirType **result);

/* mlir_print.c. A block: with its label, and with its last operation, or without. */
void td_mlir_print_type(TdText *out, const TdMlirType *t, TdMlirForm form);
void td_mlir_print_attr(TdText *out, const TdMlirAttr *a, TdMlirForm form);
void td_mlir_print_symbol(TdText *out, const char *s, size_t n);
void td_mlir_print_dims(TdText *out, const TdMlirAttr *a, TdMlirForm form);
void td_mlir_print_op(TdText *out, const TdMlirOp *op, TdMlirForm form, int depth);
void td_mlir_print_block(TdText *out, const TdMlirBlock *b, TdMlirForm form, int depth, bool label,
                         bool last);

#endif
