/* signature.h - signatures of C functions as Lua values: f64(f64, f64), tide.void(i32[8]). */
#ifndef TD_BIND_SIGNATURE_H
#define TD_BIND_SIGNATURE_H

#include "bind/bind.h"

#define TD_CLASS_SIGNATURE "tide.signature"

/* A parameter: a number or an array by its type, or a function that is called back. */
typedef struct TdSignature TdSignature;
typedef struct TdSignatureParam {
  const TdType *type;
  const TdSignature *back;
} TdSignatureParam;
struct TdSignature {
  const TdType *result; /* NULL: nothing */
  const TdSignatureParam *param;
  size_t nparam;
};

/* Whether what stands from slot `first` on makes a type a signature, and not a conversion. */
bool td_signature_is_meant(lua_State *L, int first);
/* Pushes the signature of a result (NULL: nothing) and the types from slot `first` on, or raises
 * what C has no word for. */
int td_signature_push(lua_State *L, const TdType *result, int first);
/* The signature at idx, which lives as long as the session, or NULL. */
const TdSignature *td_signature_test(lua_State *L, int idx);

#endif
