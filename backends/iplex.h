/* iplex.h - C++ as a list of tokens, comments and directives left out. */
#ifndef TD_IPLEX_H
#define TD_IPLEX_H

#include "base/base.h"

typedef struct TdIplexToken {
  const char *text; /* one token, ended; strings and characters are "" */
  uint32_t line, col, len;
  bool word;
} TdIplexToken;

/* A name for an integer: by #define, or (ipsig.c) a constant. */
typedef struct TdIplexNumber {
  const char *name;
  int64_t value;
} TdIplexNumber;

typedef struct TdIplex {
  TD_VEC(TdIplexToken) token;
  TD_VEC(TdIplexNumber) number;
} TdIplex;

/* The tokens of a text, owned by a; the last is "". */
TdIplex td_iplex_of(TdArena *a, const char *text);
/* An integer literal of C++, suffixes included; false if it is none. */
bool td_iplex_number(const char *s, int64_t *v);

#endif
