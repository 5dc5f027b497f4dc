/* state.c - states in native runs: a state belongs to a path of calls there too, though Lua has
 * one tensor for all. The tensor holds what belongs to the path that used it last; the rest is kept
 * beside it. */
#include <string.h>

#include "bind/value/tensor.h"
#include "bind/program/unit.h"

/* What a state holds for a path that did not use it last. */
struct TdTensorKept {
  const char *path;
  TdTensor *tensor;
  TdTensorKept *next;
};

const char *td_bind_state_path(TdBind *b, const char *outer, const void *unit) {
  uint64_t up = (uint64_t)(uintptr_t)outer, here = (uint64_t)(uintptr_t)unit;
  char path[2 * sizeof up];
  memcpy(path, &up, sizeof up);
  memcpy(path + sizeof up, &here, sizeof here);
  return td_names_of(b->session->names, path, sizeof path);
}

/* What is kept for a path, made to hold what a state starts with if need be. */
static TdTensorKept *kept_for(lua_State *L, TdTensorBox *box, const char *path) {
  TdTensorKept *k = box->kept;
  while (k && k->path != path) k = k->next;
  if (k) return k;
  k = TD_NEW(box->memory->arena, TdTensorKept);
  *k = (TdTensorKept){path, td_tensor_new(box->memory->arena, box->tensor->type, false), box->kept};
  td_tensor_copy(td_bind_enter(L)->ctx, k->tensor, box->restored);
  box->kept = k;
  return k;
}

void td_bind_state_turn(lua_State *L, TdTensorBox *box) {
  TdBind *b = td_bind_enter(L);
  if (!b->native || box->path == b->native) return;
  if (box->path) {
    td_tensor_copy(b->ctx, kept_for(L, box, box->path)->tensor, box->tensor);
    td_tensor_copy(b->ctx, box->tensor, kept_for(L, box, b->native)->tensor);
    td_bind_account(L);
  }
  box->path = b->native;
}

void td_bind_state_reset(lua_State *L, TdTensorBox *box) {
  TdBind *b = td_bind_enter(L);
  td_tensor_copy(b->ctx, box->tensor, box->restored);
  if (b->native) return;
  box->path = NULL;
  for (TdTensorKept *k = box->kept; k; k = k->next)
    td_tensor_copy(b->ctx, k->tensor, box->restored);
}
