/* message.h - messages of the protocol, version 5.3: from frames, and to frames. */
#ifndef TD_REPL_JUPYTER_MESSAGE_H
#define TD_REPL_JUPYTER_MESSAGE_H

#include <jansson.h>

#include "repl/jupyter/sign.h"

/* A message that came. Owned by the arena it was read into. */
typedef struct TdMessage {
  TdFrames from;  /* the identities of who sent it */
  TdBytes header; /* as it was sent: the parent of what answers it */
  const char *type;
  json_t *content; /* an object */
} TdMessage;

/* Who writes: what all its messages have. */
typedef struct TdAuthor {
  TdSigner *signer;
  char session[33];
  uint64_t written;
} TdAuthor;

/* Gives an author a session of its own. */
void td_author_begin(TdAuthor *author, TdSigner *signer);

/* Reads a message; NULL, or why it is none. */
const char *td_message_read(TdArena *a, TdSigner *signer, const TdFrames *frames, TdMessage *out);

/* The frames of a message to who has these identities; parent is a header, or empty. */
TdFrames td_message_write(TdArena *a, TdAuthor *author, const TdFrames *to, const char *type,
                          TdBytes parent, const json_t *content);

#endif
