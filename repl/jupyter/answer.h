/* answer.h - the requests that a kernel answers, and how. */
#ifndef TD_REPL_JUPYTER_ANSWER_H
#define TD_REPL_JUPYTER_ANSWER_H

#include "repl/jupyter/server.h"

typedef struct TdAnswer {
  const char *request, *reply;
  const char *needs; /* a string that the content must have, or NULL */
  /* The content of the reply, a new reference, or NULL: there is none. NULL: the worker answers. */
  json_t *(*make)(TdServer *s, TdArena *a, const TdMessage *m);
} TdAnswer;

/* The answer to a request of that type, or NULL. */
const TdAnswer *td_answer_find(const char *request);

#endif
