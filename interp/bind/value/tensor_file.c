/* tensor_file.c - tide.load and t:save: .npy files. */
#include "bind/value/tensor.h"
#include "ir/text/npy.h"

/* The file name at idx, or raises. */
static const char *check_path(lua_State *L, int idx) {
  size_t n = 0;
  const char *path = lua_type(L, idx) == LUA_TSTRING ? lua_tolstring(L, idx, &n) : NULL;
  if (!path)
    td_bind_fail(L, "arguments", "a file name is expected here, not %s", td_bind_words(L, idx));
  for (size_t i = 0; i < n; i++)
    if (!path[i]) td_bind_fail(L, "arguments", "a file name has no zero bytes");
  return path;
}

/* tide.load("x.npy", T): T, a scalar or tensor type, is what the file must hold. */
static int l_load(lua_State *L) {
  const char *path = check_path(L, 1);
  const TdType *want = lua_isnoneornil(L, 2) ? NULL : td_bind_check_type(L, 2);
  TdBind *b = td_bind_enter(L);
  TdDiag d = td_bind_diag(td_bind_work(L, TD_WORK_FILE));
  if (want && want->kind == TD_T_PORT)
    td_bind_fail(L, "arguments", "a file holds a tensor, not a stream");
  TdTensorBox *box = td_bind_push_owner(L);
  box->tensor = td_npy_read(b->session, box->memory->arena, path, want, &d);
  if (!box->tensor) td_bind_raise(L, &d);
  td_bind_account(L);
  return 1;
}

/* t:save "x.npy" */
int td_bind_tensor_save(lua_State *L) {
  const TdTensor *t = td_bind_check_tensor(L, 1);
  const char *path = check_path(L, 2);
  TdDiag d = td_bind_diag(td_bind_work(L, TD_WORK_FILE));
  if (!td_npy_write(td_bind_enter(L)->session, path, t, &d)) td_bind_raise(L, &d);
  return 0;
}

void td_bind_open_file(lua_State *L) {
  lua_pushcfunction(L, l_load);
  lua_setfield(L, -2, "load");
}
