/* verify.c - tide.verify and s:verify in Lua: are two programs the same?
 *
 * Options: concrete = {"len"} keeps arguments at numbers instead of symbols, for programs whose
 * control depends on them; concrete = {len = v} says which numbers. What is not said is drawn a few
 * times: integers from 0 up to the least extent of the program's arrays, so that they may be
 * indices. seconds = n is how long it may take in all. */
#include <math.h>
#include <string.h>

#include "base/alarm.h"
#include "bind/value/tensor.h"
#include "bind/program/unit.h"
#include "bind/step/stp.h"
#include "rewrite/prim.h"
#include "step/stp_same.h"

#define CLASS_VERDICT "tide.verdict"

/* How often numbers are drawn for concrete arguments. */
#define DRAWS 4

/* A comparison under way. */
typedef struct Same {
  TdArena *arena;
  const TdProg *x, *y;
  const TdEvalArg *concrete;
  TdEvalOptions o;
  TdCheck check;
} Same;

static void check_same(void *same) {
  Same *s = same;
  s->check = td_check_same(s->arena, s->x, s->y, s->concrete, &s->o);
}

TdCheck td_bind_check_same(lua_State *L, TdArena *a, const TdProg *x, const TdProg *y,
                           const TdEvalArg *concrete, TdEvalOptions o, TdBindTime time) {
  double now = td_alarm_now(), left = time.since + time.seconds - now;
  o.seed = td_map_mix((uint64_t)now, (uint64_t)(fmod(now, 1) * 1e9));
  Same s = {a, x, y, concrete, o, {0}};
  bool done = left > 0 && td_bind_within(L, left, check_same, &s);
  return done ? s.check : td_check_late(a, time.seconds);
}

/* The program of a kernel or schedule at idx. */
static const TdProg *check_program(lua_State *L, int idx) {
  const TdProg *p = td_bind_test_schedule(L, idx);
  return p ? p : td_bind_check_unit(L, idx);
}

/* Arguments that stay concrete, under way. */
typedef struct Concrete {
  lua_State *L;
  TdArena *arena;
  const TdProg *prog;
  TdEvalArg *arg; /* one a parameter; NULL while there are none */
  uint64_t seed, span;
  TdText drawn; /* the names of those that are drawn */
} Concrete;

/* The least extent from `from` on of the array parameters of u, or 1. */
static uint64_t least_extent(const TdUnit *u, int64_t from) {
  uint64_t least = 0;
  for (size_t i = 0; i < u->nparam; i++) {
    const TdType *t = u->param[i].type;
    for (int d = 0; t->kind == TD_T_TENSOR && d < t->rank; d++) {
      int64_t n;
      if (td_unit_value(u, t->dim[d], &n) && n >= from && (!least || (uint64_t)n < least))
        least = (uint64_t)n;
    }
  }
  return least ? least : 1;
}

static uint64_t draw(Concrete *c, const TdType *t) {
  c->seed = td_map_mix(c->seed, 1);
  if (t->kind != TD_T_FLOAT) return td_num_wrap(t, c->seed % c->span);
  return td_num_of_double(td_num_round(t, ldexp((double)(c->seed >> 42), -21) - 1));
}

/* The tensor at the top of the stack as the values of a parameter of type t. */
static TdTensor *given_tensor(Concrete *c, const char *name, const TdType *t) {
  TdTensorBox *box = luaL_testudata(c->L, -1, TD_CLASS_TENSOR);
  if (!box || box->tensor->type != t)
    td_bind_fail(c->L, "argument", "concrete.%s: a tensor of type %s is expected, not %s", name,
                 td_type_str(c->arena, t), td_bind_words(c->L, -1));
  td_bind_check_written(c->L, box->tensor);
  return box->tensor;
}

static TdTensor *drawn_tensor(Concrete *c, const TdType *t) {
  TdTensor *x = td_tensor_new(c->arena, t, false);
  unsigned char *p = x->data;
  for (int64_t n = td_tensor_count(x); n > 0; n--, p += td_type_bytes(t))
    td_num_store(t->elem, p, draw(c, t->elem));
  return x;
}

/* Makes the argument `name` concrete: with the value at the top of the stack, or a drawn one. */
static void take_argument(Concrete *c, const char *name, bool given) {
  const TdUnit *u = td_prog_root(c->prog);
  size_t i = 0;
  while (i < u->nparam && strcmp(u->param[i].sym->name, name) != 0) i++;
  if (i == u->nparam)
    td_bind_fail(c->L, "argument", "concrete: '%s' has no argument '%s'", u->sym->name, name);
  const TdType *t = td_unit_type(c->prog->store->session, u, u->param[i].type);
  if (!given) td_text_putf(&c->drawn, "%s%s", c->drawn.n ? ", " : "", name);
  if (!t || (t->kind == TD_T_TENSOR && !td_type_count(t, &(int64_t){0})))
    td_bind_fail(c->L, "argument", "concrete: the shape of '%s' needs sizes with values: k:at {..}",
                 name);
  if (t->kind == TD_T_TENSOR) {
    c->arg[i].tensor = given ? given_tensor(c, name, t) : drawn_tensor(c, t);
    return;
  }
  if (t->kind == TD_T_PORT)
    td_bind_fail(c->L, "argument", "concrete: '%s' is a stream, which stays symbolic", name);
  c->arg[i].has_scalar = true;
  if (!given)
    c->arg[i].scalar = draw(c, t);
  else if (!td_bind_to_stored(c->L, lua_gettop(c->L), t, &c->arg[i].scalar))
    td_bind_fail_stored(c->L, lua_gettop(c->L), t, "");
}

/* The option `concrete` of the table at idx; what is not said is drawn for the `round`-th time. */
static Concrete read_concrete(lua_State *L, int idx, TdArena *a, const TdProg *p, unsigned round) {
  Concrete c = {.L = L, .arena = a, .prog = p, .seed = round + 1, .drawn = td_text_new(a)};
  if (lua_isnoneornil(L, idx)) return c;
  int type = lua_getfield(L, idx, "concrete");
  if (type == LUA_TNIL) return c;
  if (type != LUA_TTABLE)
    td_bind_fail(L, "argument", "concrete is a list of arguments, {\"len\"} or {len = v}, not %s",
                 td_bind_words(L, -1));
  int list = lua_gettop(L);
  const TdUnit *u = td_prog_root(p);
  c.arg = TD_NEWN(a, TdEvalArg, u->nparam + 1);
  c.span = least_extent(u, round + 1 < DRAWS ? 2 : 1);
  for (lua_pushnil(L); lua_next(L, list); lua_pop(L, 1)) {
    bool given = lua_type(L, -2) == LUA_TSTRING;
    if (!given && lua_type(L, -1) != LUA_TSTRING)
      td_bind_fail(L, "argument", "concrete holds names of arguments, not %s",
                   td_bind_words(L, -1));
    take_argument(&c, lua_tostring(L, given ? -2 : -1), given);
  }
  return c;
}

/* A comparison: of one check, or of several that differ in what was drawn. */
typedef struct Answer {
  TdCheck check;
  bool stepwise;        /* steps that are legal at all sizes led from one program to the other */
  bool concrete;        /* arguments were kept at numbers, */
  unsigned draws;       /* which were drawn so often for those of these names */
  const char *drawn;    /* "": for none */
  const char *relative; /* steps that made another program on purpose; "": none */
} Answer;

/* Whether an equality holds for all sizes, too. */
static bool is_for_all_sizes(const Answer *x) {
  return x->stepwise && !x->concrete && x->check.verdict == TD_EVAL_EQUAL;
}

/* Writes of what an equality was proved. */
static void put_scope(TdText *t, const Answer *x) {
  bool all = is_for_all_sizes(x);
  td_text_putf(t, all ? ", all sizes; run at %s" : ", at %s", x->check.sizes);
  if (x->check.calls) td_text_putf(t, "; in the first %u calls, as states last", x->check.calls);
  if (x->concrete && *x->drawn)
    td_text_putf(t, "; for %u random values of %s", x->draws, x->drawn);
  else if (x->concrete)
    td_text_puts(t, "; for the given numbers");
  if (*x->relative) td_text_putf(t, "; relative to %s", x->relative);
}

/* The text of a verdict: "proved: strict ...", "differs: ...", "not decided: ...". */
static const char *verdict_text(TdArena *a, const Answer *x, TdBind *b) {
  const TdCheck *c = &x->check;
  TdText t = td_text_new(a);
  if (c->verdict == TD_EVAL_EQUAL) {
    td_text_putf(&t, "proved: %s", td_domain_level_name(c->level));
    put_scope(&t, x);
  } else if (c->verdict == TD_EVAL_DIFFERS) {
    td_text_putf(&t, "differs: %s%s%s\n%s", c->element, *c->at ? " at " : "", c->at, c->shown);
  } else {
    TdText why = td_text_new(a);
    td_diag_print(&why, &c->diag, b->session->sources);
    td_text_putf(&t, "not decided: %s", c->diag.message);
    td_text_putf(&t, "\n%s", td_text_str(&why));
  }
  return td_text_str(&t);
}

/* Pushes the level or nil, then the verdict. */
static int push_verdict(lua_State *L, TdArena *a, const Answer *x) {
  TdBind *b = td_bind_enter(L);
  const TdCheck *c = &x->check;
  if (c->verdict == TD_EVAL_EQUAL)
    lua_pushstring(L, td_domain_level_name(c->level));
  else
    lua_pushnil(L);
  lua_createtable(L, 0, 6);
  if (c->verdict == TD_EVAL_EQUAL) {
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, "level");
    lua_pushstring(L, c->sizes);
    lua_setfield(L, -2, "sizes");
    lua_pushboolean(L, is_for_all_sizes(x));
    lua_setfield(L, -2, "all_sizes");
  }
  if (c->verdict == TD_EVAL_DIFFERS) {
    lua_createtable(L, 0, 2);
    lua_pushstring(L, c->element);
    lua_setfield(L, -2, "element");
    lua_pushstring(L, c->shown);
    lua_setfield(L, -2, "shown");
    lua_setfield(L, -2, "witness");
  }
  lua_pushstring(L, verdict_text(a, x, b));
  lua_setfield(L, -2, "text");
  luaL_setmetatable(L, CLASS_VERDICT);
  return 2;
}

/* Folds a check on other numbers into an answer: what is not decided on some says nothing. */
static void fold(Answer *x, const TdCheck *c) {
  bool was_equal = x->draws && x->check.verdict == TD_EVAL_EQUAL;
  bool equal = c->verdict == TD_EVAL_EQUAL;
  if (was_equal && equal && c->level > x->check.level) x->check.level = c->level;
  if (!was_equal && (equal || !x->check.diag.message)) x->check = *c;
  if (c->verdict == TD_EVAL_DIFFERS) x->check = *c;
  x->draws += equal;
}

/* The option `seconds` of the table at idx, once it is known that all options there exist. */
static double read_seconds(lua_State *L, int idx) {
  static const char *const options[] = {"concrete", "seconds", NULL};
  double seconds = TD_BIND_VERIFY_SECONDS;
  if (!td_bind_check_options(L, idx, options)) return seconds;
  if (lua_getfield(L, idx, "seconds") == LUA_TNUMBER)
    seconds = lua_tonumber(L, -1);
  else if (!lua_isnil(L, -1))
    seconds = 0;
  if (!(seconds > 0))
    td_bind_fail(L, "argument", "seconds is a number above 0, not %s",
                 lua_type(L, -1) == LUA_TNUMBER ? lua_tostring(L, -1) : td_bind_words(L, -1));
  lua_pop(L, 1);
  return seconds;
}

/* Where a program comes from that is compared with another. */
typedef struct Origin {
  bool steps;           /* steps led from one to the other; they tell of faults that they drop */
  bool stepwise;        /* and those are legal at all sizes */
  bool at_values;       /* or at its own */
  const char *relative; /* what made one of them another program on purpose */
} Origin;

/* Compares x and y under the options at idx. */
static int compare(lua_State *L, const TdProg *x, const TdProg *y, int idx, Origin from) {
  TdArena *a = td_bind_work(L, TD_WORK_VERIFY);
  Answer answer = {.stepwise = from.stepwise, .drawn = "", .relative = from.relative};
  TdBindTime time = {read_seconds(L, idx), td_alarm_now()};
  int top = lua_gettop(L);
  for (unsigned round = 0; round < (*answer.drawn ? DRAWS : 1); round++) {
    Concrete given = read_concrete(L, idx, a, x, round);
    lua_settop(L, top);
    answer.concrete = given.arg;
    answer.drawn = td_text_str(&given.drawn);
    TdEvalOptions o = {
        .bytes = (size_t)4 << 30, .drops_faults = from.steps, .at_values = from.at_values};
    TdCheck c = td_bind_check_same(L, a, x, y, given.arg, o, time);
    fold(&answer, &c);
    if (c.verdict == TD_EVAL_DIFFERS) break;
  }
  return push_verdict(L, a, &answer);
}

/* s:verify(options): is the schedule still the kernel it began as, or that a step made another
 * on purpose? */
int td_bind_verify_schedule(lua_State *L) {
  lua_settop(L, 2);
  const TdSchedule *s = td_bind_check_schedule(L, 1);
  bool stepwise = !s->now->used_value && td_prog_root(s->now->prog)->nsize > 0;
  const char *relative = td_schedule_relative(td_bind_work(L, TD_WORK_VERIFY), s);
  return compare(L, td_schedule_reference(s)->prog, s->now->prog, 2,
                 (Origin){true, stepwise, s->now->used_value, relative});
}

/* Pushes what is known of two graphs. */
static int compare_graphs(lua_State *L, TdStpGraph *g, TdStpGraph *h, const char *relative) {
  TdArena *a = td_bind_work(L, TD_WORK_VERIFY);
  td_stp_calls(L, g, false);
  TdStpCalls calls = td_stp_calls(L, h, false);
  TdStpProver prover = td_stp_prover(L);
  TdStpSame same = td_stp_same_compare(a, g, h, &calls, &prover);
  Answer answer = {.drawn = "", .relative = relative};
  TdCheck *c = &answer.check;
  c->verdict = same.verdict == TD_STP_EQUAL     ? TD_EVAL_EQUAL
               : same.verdict == TD_STP_DIFFERS ? TD_EVAL_DIFFERS
                                                : TD_EVAL_NOT_DECIDED;
  c->level = same.level;
  const char *drawn = same.routings ? td_text_fmt(a, " and %u drawn", same.routings) : "";
  c->sizes = td_text_fmt(a, "this control%s, any order of arrival, by %s", drawn,
                         same.by_rows ? "rows" : "elements");
  c->element = same.element ? same.element : "";
  c->shown = same.shown ? same.shown : "";
  c->at = "";
  c->diag = same.diag;
  return push_verdict(L, a, &answer);
}

int td_bind_verify_graph_schedule(lua_State *L) {
  const TdSchedule *s = td_bind_test_graph_schedule(L, 1);
  if (!s) td_bind_expect(L, 1, "a schedule of a STeP graph");
  lua_settop(L, 1);
  const char *relative = td_schedule_relative(td_bind_work(L, TD_WORK_VERIFY), s);
  return compare_graphs(L, (TdStpGraph *)(uintptr_t)td_schedule_reference(s)->prog,
                        (TdStpGraph *)(uintptr_t)s->now->prog, relative);
}

/* tide.verify(a, b, options). */
static int l_verify(lua_State *L) {
  lua_settop(L, 3);
  TdStpGraph *g = td_stp_test_program(L, 1), *h = td_stp_test_program(L, 2);
  if (g || h) return compare_graphs(L, td_stp_check_program(L, 1), td_stp_check_program(L, 2), "");
  return compare(L, check_program(L, 1), check_program(L, 2), 3, (Origin){.relative = ""});
}

static int l_tostring(lua_State *L) {
  lua_getfield(L, 1, "text");
  return 1;
}

void td_bind_open_verify(lua_State *L) {
  static const luaL_Reg meta[] = {{"__tostring", l_tostring}, {NULL, NULL}};
  td_bind_class(L, CLASS_VERDICT, meta, NULL);
  lua_pop(L, 1);
  lua_pushcfunction(L, l_verify);
  lua_setfield(L, -2, "verify");
}
