/* signature.c - signatures of C functions: made by calling a type with types. */
#include "bind/foreign/signature.h"

#include <string.h>

#include "backends/host/ffi.h"
#include "backends/host/foreign.h"

const TdSignature *td_signature_test(lua_State *L, int idx) {
  const TdSignature *const *box = luaL_testudata(L, idx, TD_CLASS_SIGNATURE);
  return box ? *box : NULL;
}

bool td_signature_is_meant(lua_State *L, int first) {
  int top = lua_gettop(L);
  for (int i = first; i <= top; i++)
    if (td_bind_test_type(L, i) || td_signature_test(L, i)) return true;
  return top < first;
}

/* Raises that the type of `what` is none of C. */
static void refuse_type(lua_State *L, const char *what, const TdType *t) {
  const char *help = "C has i8 .. i64, u8 .. u64, f32, f64, bool and index";
  TdArena *a = td_bind_arena(L);
  if (t->kind == TD_T_FLOAT)
    help = "pass its bits as u16, by tide.bitcast";
  else if (t->kind == TD_T_PORT)
    help = "pass an array of its tokens";
  td_bind_refuse(L, TD_USAGE, "signature", help, "%s is %s, which is no type of C", what,
                 td_type_str(a, t));
}

/* Raises what a parameter that is no type stands for. */
static void refuse_param(lua_State *L, int idx, int number) {
  const char *word = lua_type(L, idx) == LUA_TSTRING ? lua_tostring(L, idx) : "";
  if (strcmp(word, "...") == 0)
    td_bind_refuse(L, TD_UNSUPPORTED, "signature",
                   "give the types of the arguments of one kind of call, if a wrapper in C takes "
                   "just those",
                   "a function of any number of arguments (...) cannot be called");
  if (strstr(word, "**"))
    td_bind_refuse(L, TD_UNSUPPORTED, "signature", "an array of any rank is one pointer: f64[4][8]",
                   "parameter %d is a pointer to pointers, which no array lies behind", number);
  if (lua_istable(L, idx) || strncmp(word, "struct", 6) == 0)
    td_bind_refuse(L, TD_UNSUPPORTED, "signature",
                   "pass its fields one by one, or an array of them, through a wrapper in C",
                   "parameter %d is a struct, which cannot be passed", number);
  td_bind_refuse(L, TD_USAGE, "signature", "f64(f64, i32[8]) has types, T[n] for an array",
                 "parameter %d of a signature is %s, not a type", number, td_bind_words(L, idx));
}

/* The parameter at idx. */
static TdSignatureParam param_at(lua_State *L, int idx, int number) {
  const TdType *t = td_bind_test_type(L, idx);
  const TdSignature *back = td_signature_test(L, idx);
  const char *what = lua_pushfstring(L, "parameter %d", number);
  if (!t && !back) refuse_param(L, idx, number);
  if (t && (t->kind == TD_T_PORT || !td_ffi_has(td_type_scalar(t))))
    refuse_type(L, what, td_type_is_scalar(t) || t->kind == TD_T_PORT ? t : td_type_scalar(t));
  for (size_t i = 0; back && i < back->nparam; i++)
    if (back->param[i].back)
      td_bind_refuse(L, TD_UNSUPPORTED, "signature", NULL,
                     "%s takes a function itself, which a Lua function cannot be given", what);
  lua_pop(L, 1);
  return (TdSignatureParam){t, back};
}

int td_signature_push(lua_State *L, const TdType *result, int first) {
  TdBind *b = td_bind_enter(L);
  int n = lua_gettop(L) - first + 1;
  if (result && !td_type_is_scalar(result))
    td_bind_refuse(L, TD_USAGE, "signature", "make the array a parameter, and the result tide.void",
                   "a function of C gives a number, not %s", td_type_str(td_bind_arena(L), result));
  if (result && !td_ffi_has(result)) refuse_type(L, "the result", result);
  if (n > TD_FOREIGN_MOST)
    td_bind_fail(L, "signature", "a signature has at most %d parameters", (int)TD_FOREIGN_MOST);
  TdSignatureParam *param = TD_NEWN(b->session->arena, TdSignatureParam, n + 1);
  for (int i = 0; i < n; i++) param[i] = param_at(L, first + i, i + 1);
  TdSignature *s = TD_NEW(b->session->arena, TdSignature);
  *s = (TdSignature){result, param, (size_t)n};
  const TdSignature **box = lua_newuserdatauv(L, sizeof *box, 0);
  *box = s;
  luaL_setmetatable(L, TD_CLASS_SIGNATURE);
  return 1;
}

/* Writes "f64(f64, i32[8])". */
static void print(TdText *out, const TdSignature *s) {
  td_text_puts(out, s->result ? td_type_str(out->arena, s->result) : "tide.void");
  for (size_t i = 0; i < s->nparam; i++) {
    td_text_puts(out, i ? ", " : "(");
    if (s->param[i].back)
      print(out, s->param[i].back);
    else
      td_text_puts(out, td_type_str(out->arena, s->param[i].type));
  }
  td_text_puts(out, s->nparam ? ")" : "()");
}

static int l_tostring(lua_State *L) {
  const TdSignature *s = td_signature_test(L, 1);
  TdText out = td_text_new(td_bind_arena(L));
  if (s) print(&out, s);
  lua_pushstring(L, td_text_str(&out));
  return 1;
}

/* tide.void(T, ..): of a function that gives nothing. */
static int l_void(lua_State *L) {
  return td_signature_push(L, NULL, 1);
}

void td_bind_open_signature(lua_State *L) {
  static const luaL_Reg meta[] = {{"__tostring", l_tostring}, {NULL, NULL}};
  td_bind_class(L, TD_CLASS_SIGNATURE, meta, NULL);
  lua_pop(L, 1);
  lua_pushcfunction(L, l_void);
  lua_setfield(L, -2, "void");
}
