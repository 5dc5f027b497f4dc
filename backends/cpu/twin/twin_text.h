/* twin_text.h - what the writer of twins and its run time share. */
#ifndef TD_CPU_TWIN_TWIN_TEXT_H
#define TD_CPU_TWIN_TWIN_TEXT_H

#include "backends/cpu/text.h"
#include "backends/cpu/twin/twin.h"
#include "eval/value/domain.h"

/* prelude_twin.c: the run time of a level. Those of algebras are told two keys, at 3 whether the
 * wider of two widths is kept, what 1 is, the words of the ring's prime (eval/prime.h) and, from
 * TD_PRELUDE_FIRST on, the words of a bijection for each operator: what it adds, two factors, and
 * their inverses. */
enum { TD_PRELUDE_FIRST = 8, TD_PRELUDE_WORDS = 5 };
const char *td_prelude_twin_text(TdArena *a, TdTwinLevel level);
/* The first word that operands of terms are told, of this many pairs. */
enum { TD_PRELUDE_TERM_KEY = 6, TD_PRELUDE_TERM_KEYS = 32 };

/* symbol.c: the target of fingerprints: the unit's, with symbolic cells. */
TdCTarget td_cpu_symbol_target(void);
TdPiece td_cpu_symbol_argument(TdCWriter *w, const TdExpr *e, TdSym param);
/* The symbolic value of e; its statements are written. */
TdPiece td_cpu_symbol_value(TdCWriter *w, const TdExpr *e);
/* A word that tells operators and types apart, the same in every run. */
uint64_t td_cpu_symbol_key(int op, const TdType *to, const TdType *const *of, int n);
/* Keys of what is no operator, and the kind of number that lifting takes. */
enum { TD_SYMBOL_CAST = TD_OPS, TD_SYMBOL_CONSTANT, TD_SYMBOL_INPUT };
int td_cpu_symbol_kind(const TdType *t);
/* The bits that a cast into t of what does not fit keeps; 0: it does not wrap. */
unsigned td_cpu_symbol_width(const TdType *t);

/* term.c: the value of e as one operator on all that it reads, where the program asks for that
 * and it saves work; no text: not so. */
TdPiece td_cpu_term_value(TdCWriter *w, const TdExpr *e);

#endif
