/* sign.h - signatures of messages: HMAC-SHA256 of their parts, in hexadecimal digits. */
#ifndef TD_REPL_JUPYTER_SIGN_H
#define TD_REPL_JUPYTER_SIGN_H

#include "base/arena.h"
#include "repl/jupyter/frames.h"

enum { TD_SIGN_DIGITS = 64, TD_SIGN_PARTS = 4 };

typedef struct TdSigner TdSigner;

/* A signer with that key, owned by a; without a key nothing is signed or refused. NULL when
 * libcrypto has no HMAC. */
TdSigner *td_signer_new(TdArena *a, TdBytes key);

/* Puts the signature of the parts, ended by NUL. */
void td_signer_sign(TdSigner *s, const TdBytes *part, char digits[TD_SIGN_DIGITS + 1]);

/* Why a message with these parts and that signature is not to be heard: it is wrong, or was heard
 * before. NULL: it may be, once. */
const char *td_signer_refuse(TdSigner *s, const TdBytes *part, TdBytes signature);

#endif
