/* sym.h - interned names (pointer-equal when equal) and unique symbols that carry one. */
#ifndef TD_SYM_H
#define TD_SYM_H

#include "base/arena.h"

/* A declared thing: parameter, local, loop variable, stream, run, unit. Identity is the pointer;
 * `name` prints. */
typedef struct TdSymbol {
  const char *name; /* interned print name, settled when the symbol is made */
  uint32_t id;      /* unique in its store, drawn in order */
  uint16_t ordinal; /* n of `name#n` when two things were captured under one name, else 0 */
  uint16_t kind;    /* a TdSymKind of ir.h */
} TdSymbol;
typedef const TdSymbol *TdSym;

/* Table of interned names; lives as long as its arena. */
typedef struct TdNames TdNames;
TdNames *td_names_new(TdArena *a);

/* Returns the one copy of the n bytes at s (NUL-terminated). Equal names are equal pointers. */
const char *td_names_of(TdNames *t, const char *s, size_t n);
const char *td_names_str(TdNames *t, const char *s);

#endif
