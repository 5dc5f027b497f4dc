/* run.c - arguments from Lua to a run, and what comes back. */
#include <string.h>

#include "bind/prompt/prompt.h"
#include "bind/value/tensor.h"
#include "bind/program/unit.h"
#include "backends/cpu/cpu.h"
#include "eval/eval.h"
#include "ir/at.h"
#include "drive/admit.h"

/* Whether the table at idx gives arguments by name; an empty one is the list of a stream end where
 * u takes just that. */
static bool is_by_name(lua_State *L, const TdUnit *u, int idx) {
  if (!lua_istable(L, idx) || lua_rawlen(L, idx)) return false;
  lua_pushnil(L);
  if (!lua_next(L, idx)) return u->nparam != 1 || u->param[0].type->kind != TD_T_PORT;
  lua_pop(L, 2);
  return true;
}

bool td_bind_call_sized(lua_State *L, const TdProg *p) {
  const TdUnit *u = td_prog_root(p);
  if (lua_gettop(L) != 2 || !is_by_name(L, u, 2)) return false;
  lua_newtable(L); /* 3: sizes, 4: arguments */
  lua_newtable(L);
  bool sized = false;
  for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1)) {
    const TdSize *z = lua_type(L, -2) == LUA_TSTRING ? td_unit_size(u, lua_tostring(L, -2)) : NULL;
    if (z && z->known && !(lua_isinteger(L, -1) && lua_tointeger(L, -1) == z->value))
      td_bind_fail(L, "argument", "size '%s' of '%s' is %d, not %s", z->name, u->sym->name,
                   (int)z->value, luaL_tolstring(L, -1, NULL));
    sized |= z != NULL;
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, z ? 3 : 4);
  }
  if (sized) {
    lua_getfield(L, 1, "at");
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 3);
    lua_call(L, 2, 1);
    lua_pushvalue(L, 4);
    lua_call(L, 1, 0);
  }
  lua_settop(L, 2);
  return sized;
}

void td_bind_name_arguments(lua_State *L, const TdProg *p, int first) {
  const TdUnit *u = td_prog_root(p);
  if (lua_gettop(L) != first || !is_by_name(L, u, first)) return;
  luaL_checkstack(L, (int)u->nparam + 8, "arguments");
  for (size_t i = 0; i < u->nparam; i++) lua_getfield(L, first, u->param[i].sym->name);
  lua_pushnil(L);
  while (lua_next(L, first)) {
    bool found = false;
    for (size_t i = 0; i < u->nparam; i++)
      found |=
          lua_type(L, -2) == LUA_TSTRING && strcmp(lua_tostring(L, -2), u->param[i].sym->name) == 0;
    if (!found)
      td_bind_fail(L, "argument", "'%s' has no parameter '%s'", u->sym->name,
                   luaL_tolstring(L, -2, NULL));
    lua_pop(L, 1);
  }
  lua_remove(L, first);
}

/* Whether the value at idx fits parameter i, whose type at the unit's sizes is t. */
static bool fits(lua_State *L, const TdType *t, int idx) {
  uint64_t bits;
  if (td_type_is_scalar(t)) return td_bind_to_stored(L, idx, t, &bits);
  if (t->kind == TD_T_PORT) return lua_istable(L, idx);
  TdTensorBox *box = td_bind_test_tensor(L, idx);
  return box && box->tensor->type == t;
}

/* p with its missing sizes taken from the arguments. */
static const TdProg *resolve_sizes(lua_State *L, const TdProg *p, int first) {
  TdArena *a = td_bind_arena(L);
  TdDiag d = td_bind_diag(a);
  size_t n = td_prog_root(p)->nparam;
  const TdType **t = TD_NEWN(a, const TdType *, n);
  for (size_t i = 0; i < n; i++) {
    TdTensorBox *box = td_bind_test_tensor(L, first + (int)i);
    t[i] = box ? box->tensor->type : NULL;
  }
  const TdProg *at = td_at_arguments(p, t, n, &d);
  if (!at) td_bind_raise(L, &d);
  return at;
}

/* "gemm(A, B, C)". */
static const char *call_of(TdArena *a, const TdUnit *u) {
  TdText t = td_text_new(a);
  td_text_putf(&t, "%s(", u->sym->name);
  for (size_t i = 0; i < u->nparam; i++)
    td_text_putf(&t, "%s%s", i ? ", " : "", u->param[i].sym->name);
  td_text_putc(&t, ')');
  return td_text_str(&t);
}

/* What would help where argument i of u, of which `at` has the sizes, does not fit: its own place,
 * or a tensor made of a list. */
static const char *argument_help(lua_State *L, const TdUnit *u, const TdUnit *at, size_t i,
                                 int first) {
  TdArena *a = td_bind_arena(L);
  TdSession *s = td_bind_enter(L)->session;
  const TdType *t = td_unit_type(s, at, u->param[i].type);
  for (size_t k = 0; t && k < u->nparam; k++) {
    const TdType *other = td_unit_type(s, at, u->param[k].type);
    if (k != i && other && other != t && fits(L, other, first + (int)i) &&
        fits(L, t, first + (int)k))
      return td_text_fmt(a, "'%s' and '%s' seem to have changed places: %s", u->param[i].sym->name,
                         u->param[k].sym->name, call_of(a, u));
  }
  if (u->param[i].type->kind == TD_T_TENSOR && lua_istable(L, first + (int)i))
    return td_text_fmt(a, "tide.tensor(%s, list) makes a tensor of a list",
                       td_type_str(a, t ? t : u->param[i].type));
  return NULL;
}

static int wrong_argument(lua_State *L, const TdUnit *u, const TdUnit *at, size_t i, int first) {
  const TdType *t = u->param[i].type;
  int idx = first + (int)i;
  const char *name = u->param[i].sym->name;
  TdArena *a = td_bind_arena(L);
  uint64_t bits;
  if (lua_isnil(L, idx))
    return td_bind_refuse(L, TD_USAGE, "argument-type", call_of(a, u),
                          "argument '%s' of '%s' is missing: %s is expected", name, u->sym->name,
                          td_type_str(a, t));
  if (td_type_is_scalar(t) && td_bind_to_bits(L, idx, t, &bits)) {
    const char *where = lua_pushfstring(L, "argument '%s' of '%s': ", name, u->sym->name);
    return td_bind_fail_stored(L, idx, t, where);
  }
  TdTensorBox *box = td_bind_test_tensor(L, idx);
  return td_bind_refuse(L, TD_USAGE, "argument-type", argument_help(L, u, at, i, first),
                        "argument '%s' of '%s' is %s, not %s", name, u->sym->name,
                        td_type_str(a, t),
                        box ? td_type_str(a, box->tensor->type) : td_bind_words(L, idx));
}

/* Raises that n arguments were given: which lack, by name. */
static int wrong_count(lua_State *L, const TdUnit *u, size_t n) {
  TdArena *a = td_bind_arena(L);
  TdText help = td_text_new(a);
  td_text_puts(&help, call_of(a, u));
  if (n < u->nparam) td_text_puts(&help, "; there is no ");
  for (size_t i = n; i < u->nparam; i++)
    td_text_putf(&help, "%s%s (%s)", i > n ? ", " : "", u->param[i].sym->name,
                 td_type_str(a, u->param[i].type));
  return td_bind_refuse(L, TD_USAGE, "arguments", td_text_str(&help),
                        "'%s' takes %d argument%s, not %d", u->sym->name, (int)u->nparam,
                        u->nparam == 1 ? "" : "s", (int)n);
}

void td_bind_check_arguments(lua_State *L, const TdProg *p, int first) {
  TdBind *b = td_bind_enter(L);
  const TdUnit *u = td_prog_root(p);
  size_t n = (size_t)(lua_gettop(L) - first + 1);
  if (n != u->nparam) wrong_count(L, u, n);
  const TdUnit *at = td_prog_root(resolve_sizes(L, p, first));
  for (size_t i = 0; i < n; i++) {
    const TdType *t = td_unit_type(b->session, at, u->param[i].type);
    if (!t || !fits(L, t, first + (int)i)) wrong_argument(L, u, at, i, first);
  }
}

/* The tokens of a list as a tensor T[n].. in arena a. */
static TdTensor *tokens_of_list(lua_State *L, TdArena *a, const TdType *token, int idx) {
  TdBind *b = td_bind_enter(L);
  int64_t n = (int64_t)lua_rawlen(L, idx), extent[TD_MAX_RANK] = {n};
  const TdType *elem = td_type_scalar(token);
  int rank = token->kind == TD_T_TENSOR ? token->rank : 0;
  for (int d = 0; d < rank; d++) td_type_extent(token, d, &extent[d + 1]);
  TdTensor *t = td_tensor_new(a, td_type_tensor_of(b->session, elem, rank + 1, extent), false);
  for (int64_t i = 0; i < n; i++) {
    lua_rawgeti(L, idx, i + 1);
    TdTensorBox *box = td_bind_test_tensor(L, -1);
    uint64_t bits = 0;
    if (rank && box && box->tensor->type == token) {
      TdTensor row = *t;
      row.type = token;
      row.data += (size_t)(i * t->stride[0]) * td_type_bytes(elem);
      memmove(row.extent, t->extent + 1, (size_t)rank * sizeof *row.extent);
      memmove(row.stride, t->stride + 1, (size_t)rank * sizeof *row.stride);
      td_tensor_copy(td_bind_enter(L)->ctx, &row, box->tensor);
    } else if (!rank && td_bind_to_stored(L, -1, elem, &bits)) {
      td_tensor_put(t, &i, bits);
    } else {
      td_bind_fail(L, "argument-type", "token %d of the list is not %s", (int)(i + 1),
                   td_type_str(a, token));
    }
    lua_pop(L, 1);
  }
  return t;
}

/* Appends the tokens of tensor t (T[n]..) to the list at idx. */
static void append_tokens(lua_State *L, const TdType *token, const TdTensor *t, int idx) {
  lua_Integer at = (lua_Integer)lua_rawlen(L, idx);
  for (int64_t i = 0; i < t->extent[0]; i++) {
    if (token->kind != TD_T_TENSOR) {
      td_bind_push_bits(L, token, td_tensor_get(t, &i));
    } else {
      TdTensor row = *t;
      row.type = token;
      row.data += (size_t)(i * t->stride[0]) * td_type_bytes(token->elem);
      memmove(row.extent, t->extent + 1, (size_t)token->rank * sizeof *row.extent);
      memmove(row.stride, t->stride + 1, (size_t)token->rank * sizeof *row.stride);
      td_tensor_copy(td_bind_enter(L)->ctx, td_bind_push_tensor(L, token, false), &row);
    }
    lua_rawseti(L, idx, at + i + 1);
  }
}

TdEvalPort *td_bind_ports_of(lua_State *L, TdArena *a, const TdType *t, int idx) {
  int64_t n = 1, extent;
  for (int d = 0; d < t->rank; d++) n *= td_type_extent(t, d, &extent) ? extent : 1;
  TdEvalPort *port = TD_NEWN(a, TdEvalPort, n);
  for (int64_t i = 0; i < n; i++) {
    if (t->rank) lua_rawgeti(L, idx, i + 1);
    int list = t->rank ? lua_gettop(L) : idx;
    if (!lua_istable(L, list)) td_bind_fail(L, "argument-type", "a list of tokens is expected");
    port[i].in = tokens_of_list(L, a, t->elem, list);
    if (t->rank) lua_pop(L, 1);
  }
  return port;
}

void td_bind_return_tokens(lua_State *L, const TdType *t, const TdEvalPort *port, int idx) {
  int64_t n = 1, extent;
  for (int d = 0; d < t->rank; d++) n *= td_type_extent(t, d, &extent) ? extent : 1;
  for (int64_t i = 0; i < n; i++) {
    if (!port[i].out) continue;
    if (t->rank) lua_rawgeti(L, idx, i + 1);
    append_tokens(L, t->elem, port[i].out, t->rank ? lua_gettop(L) : idx);
    if (t->rank) lua_pop(L, 1);
  }
}

/* A program, and what it was compiled to; NULL: it does not run compiled. */
typedef struct Made {
  const TdProg *prog;
  TdCpu *cpu;
} Made;

/* What runs a unit or schedule, made at its first run and kept with it: its states last there. */
typedef struct Runner {
  TdArena *arena;
  TdEvalState *state;
  const TdProg *of; /* of which `made` are, at sizes of arguments */
  TD_VEC(Made) made;
  TdCpu *cpu; /* the last; NULL: it does not run compiled */
} Runner;

static int l_runner_gc(lua_State *L) {
  Runner *r = lua_touserdata(L, 1);
  td_arena_free(r->arena);
  r->arena = NULL;
  return 0;
}

static Runner *runner_of(lua_State *L, int owner) {
  static const luaL_Reg meta[] = {{"__gc", l_runner_gc}, {NULL, NULL}};
  lua_getiuservalue(L, owner, TD_UNIT_STATE);
  Runner *r = lua_touserdata(L, -1);
  lua_pop(L, 1);
  if (r) return r;
  r = lua_newuserdatauv(L, sizeof *r, 0);
  memset(r, 0, sizeof *r);
  td_bind_class(L, "tide.runner", meta, NULL);
  lua_setmetatable(L, -2);
  r->arena = td_arena_new(td_bind_enter(L)->ctx);
  r->state = td_state_new(r->arena);
  lua_setiuservalue(L, owner, TD_UNIT_STATE);
  return r;
}

int td_bind_reset(lua_State *L) {
  Runner *r = runner_of(L, 1);
  td_state_reset(r->state);
  if (r->cpu) td_cpu_reset(r->cpu);
  lua_settop(L, 1);
  return 1;
}

/* What r made of `at`, which is compiled unless only the evaluator runs it. Other failures raise.
 */
static TdCpu *compiled(lua_State *L, Runner *r, const TdProg *at) {
  for (size_t i = 0; i < r->made.n; i++)
    if (r->made.at[i].prog == at) return r->made.at[i].cpu;
  TdArena *a = td_bind_arena(L);
  TdCpuOptions o = {.tier = TD_TIER_AUTO, .extra.watch = td_admit_needs_watch(a, at)};
  TdDiag d = td_bind_diag(a);
  TdCpu *cpu = td_cpu_new(r->arena, at, &o, &d);
  if (!cpu && d.kind != TD_UNSUPPORTED) td_bind_raise(L, &d);
  td_vec_push(r->arena, &r->made, ((Made){at, cpu}));
  return cpu;
}

/* Has r hold `at` compiled, which is p at the sizes of arguments. States go on from the run before,
 * unless that was of another program. */
static void prepare(lua_State *L, Runner *r, const TdProg *p, const TdProg *at) {
  if (r->of != p) r->made.n = 0, r->cpu = NULL;
  r->of = p;
  TdCpu *cpu = compiled(L, r, at);
  if (cpu && r->cpu && cpu != r->cpu) td_cpu_take_state(cpu, r->cpu);
  r->cpu = cpu;
}

/* The Lua arguments from slot `first` on, for the root of p. Ports get room for what comes out. */
static TdEvalArg *collect(lua_State *L, TdArena *a, const TdProg *p, int first, bool *ports) {
  TdBind *b = td_bind_enter(L);
  const TdUnit *u = td_prog_root(p);
  TdEvalArg *arg = TD_NEWN(a, TdEvalArg, u->nparam);
  *ports = false;
  for (size_t i = 0; i < u->nparam; i++) {
    int idx = first + (int)i;
    const TdType *t = td_unit_type(b->session, u, u->param[i].type);
    if (t->kind == TD_T_PORT) {
      arg[i].port = td_bind_ports_of(L, a, t, idx);
      *ports = true;
    } else if (t->kind == TD_T_TENSOR) {
      arg[i].tensor = td_bind_check_tensor(L, idx);
    } else {
      td_bind_to_bits(L, idx, t, &arg[i].scalar);
      arg[i].has_scalar = true;
    }
  }
  return arg;
}

/* One run by the evaluator. */
static void run_reference(lua_State *L, const TdProg *p, TdEvalArg *arg, TdEvalOptions *o,
                          int first) {
  TdBind *b = td_bind_enter(L);
  const TdUnit *u = td_prog_root(p);
  TdArena *a = td_bind_work(L, TD_WORK_REFERENCE);
  TdDiag d = td_bind_diag(a);
  TdEvalResult result;
  if (!td_eval_run(a, p, arg, u->nparam, o, &d, &result)) td_bind_raise(L, &d);
  for (size_t i = 0; i < u->nparam; i++)
    if (arg[i].port)
      td_bind_return_tokens(L, td_unit_type(b->session, u, u->param[i].type), arg[i].port,
                            first + (int)i);
  if (!result.noverflow) return;
  const TdEvalOverflow *x = &result.overflow[0];
  td_diag_set(&d, TD_ILLEGAL, "overflow", x->loc, "%s does not fit %s (%llu time%s in this run)",
              x->value, td_type_str(a, x->type), (unsigned long long)x->count,
              x->count == 1 ? "" : "s");
  td_bind_raise(L, &d);
}

void td_bind_run(lua_State *L, const TdProg *p, int owner, int first) {
  td_bind_name_arguments(L, p, first);
  td_bind_check_arguments(L, p, first);
  const TdProg *at = resolve_sizes(L, p, first);
  TdArena *a = td_bind_work(L, TD_WORK_RUN);
  bool ports;
  TdEvalArg *arg = collect(L, a, at, first, &ports);
  Runner *r = runner_of(L, owner);
  const struct TdWatch *watch = td_bind_enter(L)->watch;
  if (!ports && !watch) prepare(L, r, p, at);
  if (ports || watch || !r->cpu) {
    TdEvalOptions o = {.state = r->state, .watch = watch};
    run_reference(L, at, arg, &o, first);
    return;
  }
  TdDiag d = td_bind_diag(a);
  size_t n = td_prog_root(at)->nparam;
  TdCallArg *call = TD_NEWN(a, TdCallArg, n);
  for (size_t i = 0; i < n; i++)
    call[i] = (TdCallArg){.tensor = arg[i].tensor, .scalar = arg[i].scalar};
  if (!td_cpu_call(r->cpu, call, n, &d)) td_bind_raise(L, &d);
}

TdEvalArg *td_bind_eval_arguments(lua_State *L, const TdProg *p, int first, const TdProg **at) {
  bool ports;
  td_bind_name_arguments(L, p, first);
  td_bind_check_arguments(L, p, first);
  *at = resolve_sizes(L, p, first);
  return collect(L, td_bind_arena(L), *at, first, &ports);
}

/* k:reference(..): one run by the evaluator with every check on; a last table {overflow = true}
 * also reports stores that change an integer. */
int td_bind_reference(lua_State *L, const TdProg *p) {
  bool overflow = false;
  int top = lua_gettop(L);
  if (top > 2 && lua_istable(L, top) && lua_getfield(L, top, "overflow") != LUA_TNIL) {
    overflow = lua_toboolean(L, -1) != 0;
    top--;
  }
  lua_settop(L, top);
  const TdProg *at;
  TdEvalArg *arg = td_bind_eval_arguments(L, p, 2, &at);
  TdEvalOptions o = {
      .state = runner_of(L, 1)->state, .overflow = overflow, .watch = td_bind_enter(L)->watch};
  run_reference(L, at, arg, &o, 2);
  return 0;
}

typedef TD_VEC(const char *) Names;

/* Adds the words of a text. */
static void add_words(TdArena *a, Names *names, const char *text) {
  for (size_t n; *text; text += n + (text[n] == ' ')) {
    n = strcspn(text, " ");
    td_vec_push(a, names, td_arena_strndup(a, text, n));
  }
}

int td_bind_method(lua_State *L, const char *class, const char *key) {
  luaL_getmetatable(L, class);
  lua_getfield(L, -1, "methods");
  lua_getfield(L, -1, key);
  if (!lua_isnil(L, -1)) return 1;
  lua_pop(L, 1);
  TdArena *a = td_bind_arena(L);
  Names names = {0};
  lua_pushnil(L);
  while (lua_next(L, -3)) {
    td_vec_push(a, &names, lua_tostring(L, -2));
    lua_pop(L, 1);
  }
  if (lua_getfield(L, -3, "fields") == LUA_TSTRING) add_words(a, &names, lua_tostring(L, -1));
  for (size_t i = 1; i < names.n; i++)
    for (size_t m = i; m && strcmp(names.at[m - 1], names.at[m]) > 0; m--) {
      const char *t = names.at[m];
      names.at[m] = names.at[m - 1];
      names.at[m - 1] = t;
    }
  TdDiag d = td_bind_diag(a);
  const char *near = td_text_nearest(key, names.at, names.n), *origin, *owner;
  const char *words = td_help_class(class, &origin);
  td_diag_set(&d, TD_USAGE, "no-method", td_bind_caller_key(L, key),
              "%s has no method or field '%s'", words ? words : "this value", key);
  if (!near && td_help_field(key))
    td_diag_help(&d, "%s: %s", key, td_help_field(key));
  else if (near)
    td_diag_help(&d, "did you mean '%s'?", near);
  else if ((owner = td_help_owner(key, &origin)))
    td_diag_help(&d, "%s has it: %s", owner, origin);
  return td_bind_raise(L, &d);
}
