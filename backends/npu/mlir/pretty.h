/* pretty.h - operations as dialect.def spells them, printed and read; what the printers share. */
#ifndef TD_MLIR_PRETTY_H
#define TD_MLIR_PRETTY_H

#include "backends/npu/mlir/mlir.h"
#include "backends/npu/mlir/parse.h"
#include "backends/npu/mlir/spelling.h"

/* pretty.c: prints an operation; false: no row of it says all, nothing was printed. */
bool td_mlir_pretty_op(TdText *out, const TdMlirOp *op, TdMlirForm form, int depth);
/* pretty_read.c: what follows the word of an operation; *result: the types of its n results,
 * as far as the row tells. */
bool td_mlir_pretty_read(TdMlirParse *p, TdMlirOp *op, const TdSpelling *row, TdMap *blocks,
                         size_t n, const TdMlirType **result);

/* print.c. A block: with its label, and with its last operation, or without. */
void td_mlir_print_type(TdText *out, const TdMlirType *t, TdMlirForm form);
void td_mlir_print_attr(TdText *out, const TdMlirAttr *a, TdMlirForm form);
void td_mlir_print_symbol(TdText *out, const char *s, size_t n);
void td_mlir_print_dims(TdText *out, const TdMlirAttr *a, TdMlirForm form);
void td_mlir_print_block(TdText *out, const TdMlirBlock *b, TdMlirForm form, int depth, bool label,
                         bool last);

#endif
