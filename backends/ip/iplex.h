/* iplex.h - C++ behind its preprocessor as a list of tokens. */
#ifndef TD_IP_IPLEX_H
#define TD_IP_IPLEX_H

#include "base/base.h"

typedef struct TdIplexToken {
  const char *text; /* one token, ended; strings and characters are "" */
  uint32_t file, line, col, len;
  bool word;
} TdIplexToken;

typedef struct TdIplex {
  TD_VEC(TdIplexToken) token;
} TdIplex;

/* The tokens of a text that come from some files, owned by a: those that its lines `# 1 "path"`
 * name, numbered as in path[0 .. n). What no call depends on is left out: attributes, `volatile`,
 * `__restrict`. The last token is "". */
TdIplex td_iplex_of(TdArena *a, const char *text, const char *const *path, size_t n);
/* An integer literal of C++, suffixes included; false if it is none. */
bool td_iplex_number(const char *s, int64_t *v);

#endif
