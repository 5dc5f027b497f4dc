/* math.c - the option `math` of builds: kernels of tide.core in place of functions of floats. */
#include "lower/math.h"

#include <string.h>

#include "backends/backend.h"
#include "bind/program/unit.h"

/* Whether a build for x with these options computes functions in integers. */
static bool is_core(const TdBackend *x, const char *const *value) {
  for (size_t i = 0; i < x->noption; i++) {
    if (strcmp(x->option[i].name, TD_MATH_OPTION) != 0) continue;
    const char *said = value[i] ? value[i] : x->option[i].initial;
    return strncmp(said, "core", strlen("core")) == 0;
  }
  return false;
}

/* Pushes tide.core's `call` (name, type) of a use. */
static void push_of(lua_State *L, const char *call, const TdMathUse *u) {
  td_stdlib_push_module(L, "tide.core");
  lua_getfield(L, -1, call);
  lua_remove(L, -2);
  lua_pushstring(L, td_ops[u->op].lua);
  td_bind_push_type(L, u->type);
  lua_call(L, 2, 1);
}

/* Gives a use its kernel, which tide.core keeps. */
static void take_kernel(lua_State *L, TdMathUse *u, TdDiag *d) {
  push_of(L, "kernel", u);
  if (!lua_isnil(L, -1)) u->kernel = td_prog_root(td_bind_check_unit(L, -1));
  lua_pop(L, 1);
  if (u->kernel) return;
  push_of(L, "is_known", u);
  if (lua_toboolean(L, -1)) {
    TdText t = td_text_new(d->arena);
    td_type_print(&t, u->type);
    td_diag_set(d, TD_UNSUPPORTED, "not-built", u->loc, "'%s' of %s in integers is not built",
                td_ops[u->op].lua, td_text_str(&t));
    td_diag_help(d, "compute it in f32");
    td_bind_raise(L, d);
  }
  lua_pop(L, 1);
}

const TdProg *td_bind_expand_math(lua_State *L, TdArena *a, const TdProg *p, const TdBackend *x,
                                  const char *const *value) {
  if (!is_core(x, value)) return p;
  TdMathUses uses = td_math_uses(a, p);
  TdDiag d = td_bind_diag(a);
  bool any = false;
  for (size_t i = 0; i < uses.n; i++) {
    take_kernel(L, &uses.at[i], &d);
    any |= uses.at[i].kernel != NULL;
  }
  if (any) p = td_math_expand(a, p, &uses, &d);
  if (!p) td_bind_raise(L, &d);
  return p;
}
