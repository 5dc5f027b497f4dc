/* ffi.h - calls of C functions known by an address and a signature, and C functions made of other
 * code, by libffi. */
#ifndef TD_HOST_FFI_H
#define TD_HOST_FFI_H

#include "ir/ir.h"

/* What is passed: a number as the cell of its type, a struct of so many 64-bit words, or a pointer
 * where there is neither. */
typedef struct TdFfiType {
  const TdType *number;
  unsigned words;
} TdFfiType;

/* A signature, prepared. */
typedef struct TdFfi TdFfi;
/* One that takes arg[0 .. n) and gives `result` (NULL: nothing), owned by a. Prepared in place of
 * arena memory, so that no call allocates. */
TdFfi *td_ffi_new(TdArena *a, const TdType *result, const TdFfiType *arg, size_t n);
/* Calls the function at `address`; arg[i] points to argument i, *result becomes a cell. */
void td_ffi_call(TdFfi *f, const void *address, void *result, void *const *arg);

/* What a C function made here does: arguments as above; *result is a cell to fill. */
typedef void (*TdFfiBack)(void *ud, void *result, void *const *arg);
/* The address of such a function, which goes with a; NULL: the system gives no memory for code. */
const void *td_ffi_function(TdArena *a, TdFfi *f, TdFfiBack fn, void *ud);

/* Whether a value of scalar type t is one of C: what such a function may take and give. */
bool td_ffi_has(const TdType *t);
/* "libffi 3.4.4" without its name. */
const char *td_ffi_version(void);

#endif
