/* ffi.c - signatures for libffi, and what crosses: cells of numbers, pointers, structs of words. */
#include "backends/host/ffi.h"

#include <ffi.h>
#include <string.h>

#include "gen/version.h"

struct TdFfi {
  ffi_cif cif;
  const TdType *result;
};

bool td_ffi_has(const TdType *t) {
  bool whole = t->w == 8 || t->w == 16 || t->w == 32 || t->w == 64;
  switch (t->kind) {
  case TD_T_INT:
  case TD_T_UINT: return whole && !t->saturate;
  case TD_T_FLOAT: return t->w >= 32;
  case TD_T_BOOL:
  case TD_T_INDEX: return true;
  default: return false;
  }
}

/* How the cell of a number is passed. */
static ffi_type *number_of(const TdType *t) {
  static ffi_type *const with_sign[] = {&ffi_type_sint8, &ffi_type_sint16, &ffi_type_sint32,
                                        &ffi_type_sint64};
  static ffi_type *const without[] = {&ffi_type_uint8, &ffi_type_uint16, &ffi_type_uint32,
                                      &ffi_type_uint64};
  if (t->kind == TD_T_FLOAT && t->w >= 32) return t->w == 32 ? &ffi_type_float : &ffi_type_double;
  size_t bytes = td_type_bytes(t);
  int i = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
  return td_type_is_signed(t) || t->kind == TD_T_INDEX ? with_sign[i] : without[i];
}

/* A struct of n 64-bit words. */
static ffi_type *struct_of(TdArena *a, unsigned n) {
  ffi_type *t = TD_NEW(a, ffi_type);
  ffi_type **word = TD_NEWN(a, ffi_type *, n + 1);
  for (unsigned i = 0; i < n; i++) word[i] = &ffi_type_uint64;
  *t = (ffi_type){.type = FFI_TYPE_STRUCT, .elements = word};
  return t;
}

static ffi_type *type_of(TdArena *a, TdFfiType t) {
  if (t.words) return struct_of(a, t.words);
  if (!t.number) return &ffi_type_pointer;
  return t.number->w > 64 ? struct_of(a, ((unsigned)t.number->w + 63) / 64) : number_of(t.number);
}

TdFfi *td_ffi_new(TdArena *a, const TdType *result, const TdFfiType *arg, size_t n) {
  TdFfi *f = TD_NEW(a, TdFfi);
  ffi_type **type = TD_NEWN(a, ffi_type *, n + 1);
  for (size_t i = 0; i < n; i++) type[i] = type_of(a, arg[i]);
  f->result = result;
  ffi_prep_cif(&f->cif, FFI_DEFAULT_ABI, (unsigned)n, result ? number_of(result) : &ffi_type_void,
               type);
  return f;
}

/* Whether a result is widened to a register, as libffi has integers of fewer bits. */
static bool is_widened(const TdType *t) {
  return t->kind != TD_T_FLOAT && td_type_bytes(t) < sizeof(ffi_arg);
}

void td_ffi_call(TdFfi *f, const void *address, void *result, void *const *arg) {
  union {
    const void *from;
    void *list;
  } at = {arg};
  ffi_arg wide = 0;
  bool widened = f->result && is_widened(f->result);
  ffi_call(&f->cif, FFI_FN(address), widened ? &wide : result, at.list);
  if (widened) td_num_store(f->result, result, wide);
}

/* A function made here. */
typedef struct Function {
  ffi_closure *closure;
  TdFfi *ffi;
  TdFfiBack fn;
  void *ud;
} Function;

/* Called by C code. */
static void enter(ffi_cif *cif, void *result, void **arg, void *function) {
  const Function *f = function;
  const TdType *t = f->ffi->result;
  uint64_t cell = 0;
  (void)cif;
  f->fn(f->ud, &cell, arg);
  if (!t) return;
  if (!is_widened(t)) {
    memcpy(result, &cell, td_type_bytes(t));
    return;
  }
  ffi_arg wide = (ffi_arg)td_num_load(t, &cell);
  memcpy(result, &wide, sizeof wide);
}

static void free_closure(void *closure) {
  ffi_closure_free(closure);
}

const void *td_ffi_function(TdArena *a, TdFfi *f, TdFfiBack fn, void *ud) {
  void *code = NULL;
  Function *x = TD_NEW(a, Function);
  *x = (Function){ffi_closure_alloc(sizeof(ffi_closure), &code), f, fn, ud};
  if (!x->closure) return NULL;
  td_arena_defer(a, free_closure, x->closure);
  return ffi_prep_closure_loc(x->closure, &f->cif, enter, x, code) == FFI_OK ? code : NULL;
}

const char *td_ffi_version(void) {
  return TIDE_FFI;
}
