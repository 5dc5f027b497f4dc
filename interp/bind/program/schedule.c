/* schedule.c - schedules in Lua: one method for each primitive, read from its struct; steps,
 * undo, log. */
#include <stdio.h>
#include <string.h>

#include "base/alarm.h"
#include "bind/prompt/prompt.h"
#include "bind/step/stp.h"
#include "bind/history/primitive.h"
#include "bind/program/unit.h"
#include "rewrite/prim.h"
#include "step/stp_kind.h"

typedef struct ScheduleBox {
  TdSchedule s;
  const TdVersion *shown; /* the version that the prompt showed last */
  TdEvalVerdict verdict;  /* of the check that followed the last step */
  TdLevel level;
  const TdVersion *proved;    /* the version that it was about, or NULL */
  const TdVersion *estimated; /* the version that was estimated last, or NULL */
} ScheduleBox;

/* The class of schedules of a kind. */
static const char *class_of(const TdKind *kind) {
  return kind == &td_prim_kind ? TD_CLASS_SCHEDULE : TD_CLASS_STP_SCHEDULE;
}

/* The schedule, of a program of any kind, at idx, or NULL. */
static ScheduleBox *test_schedule(lua_State *L, int idx) {
  ScheduleBox *box = luaL_testudata(L, idx, TD_CLASS_SCHEDULE);
  return box ? box : luaL_testudata(L, idx, TD_CLASS_STP_SCHEDULE);
}

static ScheduleBox *check_schedule(lua_State *L, int idx) {
  ScheduleBox *box = test_schedule(L, idx);
  if (!box) td_bind_expect(L, idx, "a schedule");
  return box;
}

const TdSchedule *td_bind_check_schedule(lua_State *L, int idx) {
  ScheduleBox *box = check_schedule(L, idx);
  if (box->s.now->kind != &td_prim_kind) td_bind_expect(L, idx, "a schedule of a kernel or design");
  return &box->s;
}

const TdProg *td_bind_test_schedule(lua_State *L, int idx) {
  ScheduleBox *box = luaL_testudata(L, idx, TD_CLASS_SCHEDULE);
  return box ? box->s.now->prog : NULL;
}

const TdSchedule *td_bind_test_graph_schedule(lua_State *L, int idx) {
  ScheduleBox *box = luaL_testudata(L, idx, TD_CLASS_STP_SCHEDULE);
  return box ? &box->s : NULL;
}

/* The last version that two have in common, or NULL. */
static const TdVersion *common_version(const TdVersion *x, const TdVersion *y) {
  while (x && y && x != y) {
    if (x->step >= y->step)
      x = x->parent;
    else
      y = y->parent;
  }
  return x && y ? x : NULL;
}

/* Puts what was said of the steps after `from`, and how the last one was proved. */
static void put_said(TdText *out, const ScheduleBox *box, const TdVersion *from) {
  for (int n = from->step + 1; n <= box->s.now->step; n++)
    for (size_t i = 0; i < td_schedule_at(&box->s, n)->nnote; i++)
      td_text_putf(out, "note: %s\n", td_schedule_at(&box->s, n)->note[i]);
  if (box->proved == box->s.now && box->verdict == TD_EVAL_EQUAL)
    td_text_putf(out, "proved: %s\n", td_domain_level_name(box->level));
}

bool td_bind_show_step(lua_State *L, int idx, TdText *out) {
  ScheduleBox *box = check_schedule(L, idx);
  const TdVersion *shown = box->shown, *now = box->s.now;
  const TdVersion *common = shown ? common_version(shown, now) : NULL;
  box->shown = now;
  if (!common || shown == now) return false;
  const TdVersion *from = common == now ? shown : common;
  TdText diff = td_text_new(out->arena);
  td_schedule_diff(&diff, from->kind, from->prog, now->kind, now->prog);
  td_show_diff(out, td_text_str(&diff));
  if (from == common) put_said(out, box, from);
  for (; from != common; from = from->parent) td_text_putf(out, "taken back: s:%s\n", from->call);
  return true;
}

/* Pushes a schedule on the store at the top of the stack, which it replaces; the Lua function comes
 * from `of`. */
static ScheduleBox *push_schedule(lua_State *L, TdSchedule s, int of) {
  ScheduleBox *box = lua_newuserdatauv(L, sizeof *box, TD_UNIT_USER_VALUES);
  *box = (ScheduleBox){.s = s, .shown = s.now};
  lua_insert(L, -2);
  lua_setiuservalue(L, -2, TD_UNIT_STORE);
  lua_getiuservalue(L, of, TD_UNIT_FUNCTION);
  lua_setiuservalue(L, -2, TD_UNIT_FUNCTION);
  if (s.now->kind == &td_stp_kind && td_bind_test_graph_schedule(L, of)) {
    lua_getiuservalue(L, of, TD_UNIT_STATE);
    lua_setiuservalue(L, -2, TD_UNIT_STATE);
  }
  luaL_setmetatable(L, class_of(s.now->kind));
  td_bind_account(L);
  return box;
}

/* A schedule of the graph at slot 1, which it keeps for the sake of its tensors. */
static int schedule_graph(lua_State *L, const TdStpGraph *g) {
  TdStore *st = td_bind_push_store(L);
  push_schedule(L, td_schedule_new(st, &td_stp_kind, g), 1);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, TD_UNIT_FUNCTION);
  if (lua_istable(L, 2)) td_stp_set_settings(L, 2);
  return 1;
}

/* tide.schedule(kernel, design or graph): a schedule on a copy of it. */
static int l_schedule(lua_State *L) {
  const TdStpGraph *g = td_stp_test_program(L, 1);
  if (g) return schedule_graph(L, g);
  const TdProg *p = td_bind_check_unit(L, 1);
  TdStore *st = td_bind_push_store(L);
  push_schedule(L, td_schedule_new(st, &td_prim_kind, p), 1);
  td_bind_dump(L, p, "captured", "as captured");
  return 1;
}

/* The first string among the arguments that the message quotes: errors point there. */
static TdLoc place_of_argument(lua_State *L, const TdPrim *prim, const TdArgValue *arg,
                               const TdDiag *d) {
  for (int i = 0; i < TD_PRIM_ARGS && prim->args[i].kind != TD_ARG_END; i++) {
    size_t n = arg[i].text ? 1 : arg[i].names ? arg[i].n : 0;
    for (size_t k = 0; k < n; k++) {
      const char *text = arg[i].text ? arg[i].text : arg[i].names[k];
      char quoted[80];
      snprintf(quoted, sizeof quoted, "'%.70s'", text);
      if (strstr(d->message, quoted)) return td_bind_caller_argument(L, text);
    }
  }
  return td_bind_caller(L);
}

/* A refusal shows the user's call first, then the loop nest that it met. */
static void explain_refusal(lua_State *L, const ScheduleBox *box, const TdPrim *prim,
                            const TdArgValue *arg, TdDiag *d) {
  TdLoc inside = d->loc;
  d->loc = place_of_argument(L, prim, arg, d);
  const TdVersion *now = box->s.now;
  if (inside.source && (inside.line != d->loc.line || inside.source != d->loc.source))
    td_diag_note(d, inside, "in '%s'", now->kind->title(now->prog));
  if (d->kind == TD_USAGE || !now->kind->print_root) return;
  TdText t = td_text_new(d->arena);
  now->kind->print_root(&t, now->prog);
  if (t.n < 4000) d->state = td_text_str(&t);
}

/* Work that a quick check may do: well under 100 ms. Its time is that of the slowest machine; it
 * ends what counts no steps. */
#define QUICK_STEPS 8000000
#define QUICK_SECONDS 2

/* Compares the last step, unless it was to change what is computed, with the version before it. A
 * difference is Tide's own bug: the step is taken back and told. */
static void check_last_step(lua_State *L, ScheduleBox *box) {
  TdBind *b = td_bind_enter(L);
  if (b->setting[TD_SET_CHECK] == TD_CHECK_OFF) return;
  if (td_schedule_reference(&box->s) == box->s.now) return;
  if (box->s.now->kind != &td_prim_kind) return;
  TdArena *a = td_bind_work(L, TD_WORK_VERIFY);
  const TdVersion *before = box->s.now->parent;
  bool quick = b->setting[TD_SET_CHECK] == TD_CHECK_QUICK;
  TdEvalOptions o = {.steps = quick ? QUICK_STEPS : 0,
                     .bytes = (size_t)2 << 30,
                     .drops_faults = true,
                     .at_values = box->s.now->used_value};
  TdBindTime time = {quick ? QUICK_SECONDS : TD_BIND_VERIFY_SECONDS, td_alarm_now()};
  TdCheck c = td_bind_check_same(L, a, before->prog, box->s.now->prog, NULL, o, time);
  box->verdict = c.verdict;
  box->level = c.level;
  box->proved = box->s.now;
  if (c.verdict == TD_EVAL_EQUAL) b->checked++;
  if (c.verdict != TD_EVAL_DIFFERS) return;
  const char *call = box->s.now->call;
  box->s.now = before;
  TdDiag d = td_bind_diag(a);
  TdLoc none = {0};
  td_diag_set(&d, TD_BUG, "wrong-step", none,
              "%s gives another program (it was taken back): %s\n%s", call, c.element, c.shown);
  td_bind_raise(L, &d);
}

/* Prints the step that was taken last, as :trace asks for it. */
static void trace_step(lua_State *L, ScheduleBox *box) {
  if (td_bind_enter(L)->setting[TD_SET_TRACE] == 0) return;
  TdText t = td_text_new(td_bind_arena(L));
  td_text_putf(&t, "%s: step %d: %s\n", box->s.now->kind->title(box->s.now->prog), box->s.now->step,
               box->s.now->call);
  box->shown = box->s.now->parent;
  td_bind_show_step(L, 1, &t);
  fwrite(td_text_str(&t), 1, t.n, stdout);
}

/* What steps of the schedule ask. */
static void *tools_of(lua_State *L, const ScheduleBox *box) {
  TdBind *b = td_bind_enter(L);
  return box->s.now->kind == &td_prim_kind ? (void *)b->affine : td_stp_push_tools(L, box->s.now);
}

/* s:<primitive>(...): the primitive is upvalue 1. Returns the schedule, then the names made. */
static int l_apply(lua_State *L) {
  const TdPrim *prim = lua_touserdata(L, lua_upvalueindex(1));
  ScheduleBox *box = check_schedule(L, 1);
  if (td_bind_npu_search(L, prim)) return 1;
  int top = lua_gettop(L);
  TdBind *b = td_bind_enter(L);
  TdArena *a = td_bind_work(L, TD_WORK_LEGALITY);
  TdDiag d = td_bind_diag(a);
  TdArgValue *arg = td_bind_take_step(L, a, prim, 2, top);
  const char *const *made;
  size_t n;
  if (!td_schedule_apply(&box->s, tools_of(L, box), prim, arg, &made, &n, &d)) {
    explain_refusal(L, box, prim, arg, &d);
    return td_bind_raise(L, &d);
  }
  td_prompt_answered(L);
  td_bind_account(L);
  if (box->s.now->kind == &td_prim_kind && box->s.now->prog != box->s.now->parent->prog)
    td_bind_dump(L, box->s.now->prog, prim->name, box->s.now->call);
  check_last_step(L, box);
  b->changes++;
  trace_step(L, box);
  luaL_checkstack(L, (int)n + 2, "names");
  lua_pushvalue(L, 1);
  for (size_t i = 0; i < n; i++) lua_pushstring(L, made[i]);
  return (int)n + 1;
}

/* A step that is asked for by name. */
typedef struct AskedStep {
  TdArena *arena;
  const TdKind *kind;
  const TdPrim *prim;
  TdArgValue *arg;
} AskedStep;

/* Fills the step (1, light) from a name and its arguments (from 2 on), or raises. */
static int l_read_step(lua_State *L) {
  AskedStep *q = lua_touserdata(L, 1);
  int top = lua_gettop(L);
  if (lua_type(L, 2) != LUA_TSTRING)
    return td_bind_fail(L, "argument", "can needs the name of a primitive, and what that takes");
  q->prim = td_kind_find(q->kind, lua_tostring(L, 2));
  if (!q->prim)
    return td_bind_fail(L, "no-method", "there is no primitive '%s'", lua_tostring(L, 2));
  q->arg = td_bind_take_step(L, q->arena, q->prim, 3, top);
  return 0;
}

/* Whether the value on top is an error in what the user gave. */
static bool is_usage_error(lua_State *L) {
  bool is = lua_istable(L, -1) && lua_getfield(L, -1, "kind") == LUA_TSTRING &&
            strcmp(lua_tostring(L, -1), "usage") == 0;
  if (lua_istable(L, -2)) lua_pop(L, 1);
  return is;
}

/* s:can(name, ...): true, or nil and the error, also of arguments that the step does not take. */
static int l_can(lua_State *L) {
  ScheduleBox *box = check_schedule(L, 1);
  int n = lua_gettop(L);
  td_bind_enter(L);
  AskedStep q = {.arena = td_bind_work(L, TD_WORK_LEGALITY), .kind = box->s.now->kind};
  TdDiag d = td_bind_diag(q.arena);
  luaL_checkstack(L, n + 2, "arguments");
  lua_pushcfunction(L, l_read_step);
  lua_pushlightuserdata(L, &q);
  for (int i = 2; i <= n; i++) lua_pushvalue(L, i);
  if (lua_pcall(L, n, 0, 0) != LUA_OK) {
    if (!is_usage_error(L)) return lua_error(L);
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
  }
  if (td_schedule_can(&box->s, tools_of(L, box), q.prim, q.arg, &d)) {
    lua_pushboolean(L, 1);
    return 1;
  }
  explain_refusal(L, box, q.prim, q.arg, &d);
  return td_bind_push_failure(L, &d);
}

static int l_undo(lua_State *L) {
  ScheduleBox *box = check_schedule(L, 1);
  lua_Integer n = luaL_optinteger(L, 2, 1);
  const TdVersion *v =
      n < 0 || n > box->s.now->step ? NULL : td_schedule_at(&box->s, box->s.now->step - (int)n);
  if (!v)
    return td_bind_fail(L, "step", "cannot undo %d steps: there are %d", (int)n, box->s.now->step);
  box->shown = box->s.now;
  box->s.now = v;
  td_bind_enter(L)->changes++;
  lua_settop(L, 1);
  return 1;
}

/* The version after the step at slot idx, or an error. */
static const TdVersion *check_step(lua_State *L, const ScheduleBox *box, int idx,
                                   lua_Integer otherwise) {
  lua_Integer n = luaL_optinteger(L, idx, otherwise);
  const TdVersion *v = n >= 0 && n <= box->s.now->step ? td_schedule_at(&box->s, (int)n) : NULL;
  if (!v) td_bind_fail(L, "step", "there is no step %d (steps: 0 to %d)", (int)n, box->s.now->step);
  return v;
}

/* A schedule that shares the store of the one at slot 1. */
static int push_sibling(lua_State *L, TdSchedule s) {
  lua_getiuservalue(L, 1, TD_UNIT_STORE);
  push_schedule(L, s, 1);
  return 1;
}

bool td_bind_push_compared(lua_State *L, int idx) {
  ScheduleBox *box = check_schedule(L, idx);
  const TdVersion *now = box->s.now, *was = box->estimated;
  if (!was || was == now || common_version(was, now) != was) was = now->parent;
  box->estimated = now;
  if (!was) return false;
  push_sibling(L, (TdSchedule){box->s.store, was});
  push_sibling(L, box->s);
  return true;
}

static int l_at(lua_State *L) {
  ScheduleBox *box = check_schedule(L, 1);
  const TdVersion *v = check_step(L, box, 2, box->s.now->step);
  return push_sibling(L, (TdSchedule){box->s.store, v});
}

static int l_fork(lua_State *L) {
  ScheduleBox *box = check_schedule(L, 1);
  return push_sibling(L, box->s);
}

static int l_log(lua_State *L) {
  ScheduleBox *box = check_schedule(L, 1);
  TdText t = td_text_new(td_bind_arena(L));
  td_schedule_log(&t, &box->s);
  lua_pushlstring(L, td_text_str(&t), t.n);
  return 1;
}

/* A program and its kind. */
typedef struct Program {
  const TdKind *kind;
  const void *prog;
} Program;

/* Pushes the lines that differ from one program to another. */
static int push_diff(lua_State *L, Program from, Program to) {
  TdText t = td_text_new(td_bind_arena(L));
  td_schedule_diff(&t, from.kind, from.prog, to.kind, to.prog);
  lua_pushlstring(L, td_text_str(&t), t.n);
  return 1;
}

/* What the schedule, kernel, design or graph at idx is, or raises. */
static Program check_program(lua_State *L, int idx) {
  const ScheduleBox *box = test_schedule(L, idx);
  if (box) return (Program){box->s.now->kind, box->s.now->prog};
  const TdStpGraph *g = td_stp_test_program(L, idx);
  if (g) return (Program){&td_stp_kind, g};
  const TdProg *p = td_bind_test_unit(L, idx);
  if (!p)
    td_bind_fail(L, "argument", "a schedule, kernel or design is expected, not %s",
                 td_bind_words(L, idx));
  return (Program){&td_prim_kind, p};
}

/* s:diff(n): since step n; s:diff(x): from another schedule, a kernel or a design. */
static int l_diff(lua_State *L) {
  ScheduleBox *box = check_schedule(L, 1);
  Program now = {box->s.now->kind, box->s.now->prog};
  int last = box->s.now->step > 0 ? box->s.now->step - 1 : 0;
  if (lua_isuserdata(L, 2)) return push_diff(L, check_program(L, 2), now);
  return push_diff(L, (Program){now.kind, check_step(L, box, 2, last)->prog}, now);
}

/* tide.diff(a, b): lines that differ from a to b. */
static int l_compare(lua_State *L) {
  return push_diff(L, check_program(L, 1), check_program(L, 2));
}

static int l_loops(lua_State *L) {
  ScheduleBox *box = check_schedule(L, 1);
  const char *const *specs;
  size_t n = td_cursor_list_loops(td_bind_arena(L), box->s.now->prog, &specs);
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    lua_pushstring(L, specs[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* s:steps(): a list of the steps as values (taken.c). */
static int l_steps(lua_State *L) {
  ScheduleBox *box = check_schedule(L, 1);
  lua_createtable(L, box->s.now->step, 0);
  for (int n = 1; n <= box->s.now->step; n++) {
    td_bind_push_taken(L, 1, td_schedule_at(&box->s, n));
    lua_rawseti(L, -2, n);
  }
  return 1;
}

static int l_schedule_tostring(lua_State *L) {
  ScheduleBox *box = check_schedule(L, 1);
  TdText t = td_text_new(td_bind_arena(L));
  box->s.now->kind->print(&t, box->s.now->prog);
  lua_pushlstring(L, td_text_str(&t), t.n);
  return 1;
}

static int l_schedule_constants(lua_State *L) {
  return td_bind_push_constants(L, check_schedule(L, 1)->s.now->prog);
}

static int l_schedule_call(lua_State *L) {
  ScheduleBox *box = check_schedule(L, 1);
  td_bind_run(L, box->s.now->prog, 1, 2);
  return 0;
}

static int l_schedule_reference(lua_State *L) {
  return td_bind_reference(L, check_schedule(L, 1)->s.now->prog);
}

/* tide.check(on): whether each step is followed by an equivalence check; returns how many were
 * proved since the last call. */
static int l_check(lua_State *L) {
  TdBind *b = td_bind_enter(L);
  b->setting[TD_SET_CHECK] = lua_toboolean(L, 1) ? TD_CHECK_ON : TD_CHECK_OFF;
  lua_pushinteger(L, (lua_Integer)b->checked);
  b->checked = 0;
  return 1;
}

static int l_schedule_index(lua_State *L) {
  const char *class = class_of(check_schedule(L, 1)->s.now->kind);
  return td_bind_method(L, class, luaL_checkstring(L, 2));
}

/* A class of schedules: what all have, one method for each primitive, and `methods`. */
static void open_kind(lua_State *L, const TdKind *kind, const luaL_Reg *methods) {
  static const luaL_Reg meta[] = {
      {"__index", l_schedule_index}, {"__tostring", l_schedule_tostring}, {NULL, NULL}};
  static const luaL_Reg all[] = {{"undo", l_undo}, {"at", l_at},     {"fork", l_fork},
                                 {"log", l_log},   {"diff", l_diff}, {"steps", l_steps},
                                 {"can", l_can},   {NULL, NULL}};
  td_bind_class(L, class_of(kind), meta, all);
  lua_getfield(L, -1, "methods");
  luaL_setfuncs(L, methods, 0);
  for (int i = 0; kind->prims[i]; i++) {
    lua_pushlightuserdata(L, (void *)(uintptr_t)kind->prims[i]);
    lua_pushcclosure(L, l_apply, 1);
    lua_setfield(L, -2, kind->prims[i]->name);
  }
  lua_pop(L, 1);
}

void td_bind_open_schedule(lua_State *L) {
  static const luaL_Reg methods[] = {{"loops", l_loops},
                                     {"reference", l_schedule_reference},
                                     {"reset", td_bind_reset},
                                     {"verify", td_bind_verify_schedule},
                                     {"constants", l_schedule_constants},
                                     {"estimate", td_bind_estimate},
                                     {"arrays", td_bind_arrays},
                                     {"fifos", td_bind_fifos},
                                     {"graph", td_bind_graph},
                                     {"nests", td_bind_nests},
                                     {"rates", td_bind_rates},
                                     {"tasks", td_bind_tasks},
                                     {NULL, NULL}};
  open_kind(L, &td_prim_kind, methods);
  lua_pushcfunction(L, l_schedule_call);
  lua_setfield(L, -2, "__call");
  lua_pop(L, 1);
  open_kind(L, &td_stp_kind, td_stp_methods);
  lua_getfield(L, -1, "methods");
  luaL_setfuncs(L, td_stp_schedule_methods, 0);
  lua_pop(L, 2);
  lua_pushcfunction(L, l_schedule);
  lua_setfield(L, -2, "schedule");
  lua_pushcfunction(L, l_check);
  lua_setfield(L, -2, "check");
  lua_pushcfunction(L, l_compare);
  lua_setfield(L, -2, "diff");
  td_bind_note_words(L);
}
