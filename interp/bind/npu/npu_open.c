/* npu_open.c - tide.npu.open(folder): a design that runs, and is timed, from the files that a build
 * for an NPU wrote. */
#include <string.h>

#include "backends/host/cache.h"
#include "backends/npu/npu.h"
#include "bind/program/unit.h"

#define CLASS_RUN "tide.npu.run"

typedef struct RunBox {
  TdArena *arena;
  TdNpuRun *run;
} RunBox;

static int l_gc(lua_State *L) {
  RunBox *box = lua_touserdata(L, 1);
  td_arena_free(box->arena);
  box->arena = NULL;
  return 0;
}

static TdNpuRun *check_run(lua_State *L) {
  RunBox *box = luaL_testudata(L, 1, CLASS_RUN);
  if (!box || !box->run) td_bind_expect(L, 1, "a design that tide.npu.open gave");
  return box->run;
}

/* The text of a file in a folder. */
static const char *read(lua_State *L, TdArena *a, const char *folder, const char *name) {
  const char *path = td_text_fmt(a, "%s/%s", folder, name);
  const char *text = td_cache_read_file(a, path);
  if (!text)
    td_bind_refuse(L, TD_USAGE, "npu-files",
                   "m:write(folder) of a build {target = \"npu\"} writes it",
                   "there is no file '%s'", path);
  return text;
}

/* The number of a file's text as a source, by which errors show its lines. */
static uint32_t source_of(lua_State *L, TdArena *a, const char *folder, const char *name,
                          const char *text) {
  return td_bind_keep_source(L, td_text_fmt(a, "@%s/%s", folder, name), text, strlen(text));
}

int td_bind_npu_open(lua_State *L) {
  const char *folder = luaL_checkstring(L, 1);
  RunBox *box = lua_newuserdatauv(L, sizeof *box, 0);
  *box = (RunBox){0};
  luaL_setmetatable(L, CLASS_RUN);
  box->arena = td_arena_new(td_bind_enter(L)->ctx);
  const char *pretty = read(L, box->arena, folder, TD_NPU_TEXT),
             *design = read(L, box->arena, folder, TD_NPU_GENERIC),
             *kernels = read(L, box->arena, folder, TD_NPU_KERNELS);
  TdDiag d = td_bind_diag(box->arena);
  uint32_t first = source_of(L, box->arena, folder, TD_NPU_GENERIC, design),
           second = source_of(L, box->arena, folder, TD_NPU_TEXT, pretty);
  box->run = td_npu_run_new(box->arena, first, design, kernels, &d);
  if (!box->run || !td_npu_run_agrees(box->run, second, pretty, &d)) return td_bind_raise(L, &d);
  td_bind_account(L);
  return 1;
}

/* m(A, B, 3): tensors and words of scalars, in the order of the design's arguments. */
static int l_call(lua_State *L) {
  TdNpuRun *r = check_run(L);
  size_t n = (size_t)lua_gettop(L) - 1;
  TdArena *a = td_bind_work(L, TD_WORK_RUN);
  TdCallArg *arg = TD_NEWN(a, TdCallArg, n + 1);
  for (size_t i = 0; i < n; i++)
    if (lua_isinteger(L, (int)i + 2))
      arg[i].scalar = (uint64_t)lua_tointeger(L, (int)i + 2);
    else
      arg[i].tensor = td_bind_check_tensor(L, (int)i + 2);
  TdDiag d = td_bind_diag(a);
  if (!td_npu_run_call(r, arg, n, &d)) return td_bind_raise(L, &d);
  td_bind_account(L);
  return 0;
}

static int push_times(lua_State *L, const TdTimed *t) {
  td_bind_push_timed(L, t, 1);
  return 1;
}

static int l_simulate(lua_State *L) {
  TdDiag d = td_bind_diag(td_bind_work(L, TD_WORK_RUN));
  const TdTimed *t = td_npu_run_times(check_run(L), &d);
  return t ? push_times(L, t) : td_bind_raise(L, &d);
}

/* m:text(form): "generic", "pretty", or "check", which mlir-opt takes with --irdl-file. */
static int l_text(lua_State *L) {
  static const char *const form[] = {"generic", "check", "pretty", NULL};
  const TdNpuRun *r = check_run(L);
  int i = luaL_checkoption(L, 2, "pretty", form);
  lua_pushstring(L, td_npu_run_text(r, td_bind_work(L, TD_WORK_RUN), (TdMlirForm)i));
  return 1;
}

static int l_index(lua_State *L) {
  const char *key = luaL_checkstring(L, 2);
  if (strcmp(key, "report") != 0) return td_bind_method(L, CLASS_RUN, key);
  const TdTimed *t = td_npu_run_timed(check_run(L));
  if (t) return push_times(L, t);
  lua_pushnil(L);
  return 1;
}

void td_bind_open_npu_run(lua_State *L) {
  static const luaL_Reg meta[] = {
      {"__gc", l_gc}, {"__call", l_call}, {"__index", l_index}, {NULL, NULL}};
  static const luaL_Reg methods[] = {{"simulate", l_simulate}, {"text", l_text}, {NULL, NULL}};
  td_bind_class(L, CLASS_RUN, meta, methods);
  td_bind_class_fields(L, "report");
  lua_pop(L, 1);
}
