/* unit.h - what the files about kernels and schedules share: user values, arguments, runs. */
#ifndef TD_BIND_PROGRAM_UNIT_H
#define TD_BIND_PROGRAM_UNIT_H

#include "bind/bind.h"
#include "drive/check.h"

/* User values of a unit. */
enum { TD_UNIT_STORE = 1, TD_UNIT_FUNCTION, TD_UNIT_STATE, TD_UNIT_USER_VALUES = TD_UNIT_STATE };

/* program.c: whether the root of p, or the tasks of a design, keep to what can be decided now:
 * structure, bounds, indices as data, aliasing, directions of streams. What a root calls was
 * checked when it was made. */
bool td_bind_check_program(TdBind *b, const TdProg *p, TdDiag *d);

/* foreign/extern.c: calls the foreign function at p's root, which is the extern at slot 1, on the
 * arguments from slot 2 on; pushes what it gives and returns how many that are. */
int td_bind_call_extern(lua_State *L, const TdProg *p);

/* check.c */
/* Raises when the design on top of the stack, whose program is p, is refused; the error's field
 * `design` is the design. */
void td_bind_check_design(lua_State *L, const TdProg *p);
/* d:check(): true, and what is left to the run (or nil); else nil and the error. */
int td_bind_check_again(lua_State *L);
/* d:depths(): least depths by stream, and the bits that they take; nil and the error if there are
 * none, or data decides. */
int td_bind_check_depths(lua_State *L);

/* dump.c: writes p to the next file, where --dump-ir asks for it: after the step `call` of the
 * primitive `prim`. */
void td_bind_dump(lua_State *L, const TdProg *p, const char *prim, const char *call);

struct TdPrim;
/* step.c: the Lua arguments from slot `first` to `top` as values for prim's specs, in arena a,
 * or raises a usage error. */
struct TdArgValue *td_bind_take_step(lua_State *L, TdArena *a, const struct TdPrim *prim, int first,
                                     int top);
/* schedule.c: the schedule of a kernel or design at idx, or raises. */
const struct TdSchedule *td_bind_check_schedule(lua_State *L, int idx);

/* state.c: the path of a native call of a unit, known by an address, from `outer` (NULL: from
 * Lua). */
const char *td_bind_state_path(TdBind *b, const char *outer, const void *unit);

/* estimate.c: s:estimate {target =}, k:estimate {target =}. */
int td_bind_estimate(lua_State *L);

/* arrays.c: k:arrays(), s:arrays(). */
int td_bind_arrays(lua_State *L);

/* run.c: the ends outside of an argument of stream type t, from a list of tokens, or of lists for
 * an array of streams; then what was put, added to its lists. */
struct TdEvalPort *td_bind_ports_of(lua_State *L, TdArena *a, const TdType *t, int idx);
void td_bind_return_tokens(lua_State *L, const TdType *t, const struct TdEvalPort *port, int idx);

/* foreign/ip.c: a C or C++ function as it is asked for, with the types that its table gives. */
typedef struct TdBindIp {
  const char *path, *symbol;
  bool cxx;
  const TdParam *param; /* in no order */
  size_t nparam;
} TdBindIp;
/* Its parameters, owned by st; compiles C++ and fills *out. Raises what is wrong with it. */
const TdParam *td_bind_ip(lua_State *L, TdStore *st, const TdBindIp *in, size_t *n, TdForeign *out);

/* rates.c: d:rates {device =}, d:fifos {device =, args =}, and of schedules. */
int td_bind_rates(lua_State *L);
int td_bind_fifos(lua_State *L);

/* nests.c: s:nests(). */
int td_bind_nests(lua_State *L);

/* graph.c: d:graph(), s:graph(); s:tasks(), the names of its nodes. */
int td_bind_graph(lua_State *L);
int td_bind_tasks(lua_State *L);
/* Pushes the drawing that stdlib makes, by its function `how`, of what is on top of the stack. */
int td_bind_draw(lua_State *L, const char *how);

/* timed.c: pushes what a run with a clock told, of the build at idx. */
struct TdTimed;
void td_bind_push_timed(lua_State *L, const struct TdTimed *t, int idx);
/* What keeps the events of a run that no build made. */
#define TD_CLASS_TIMED_OWNER "tide.timed.owner"
typedef struct TdTimedOwner {
  TdArena *arena;
  const struct TdTimed *timed;
} TdTimedOwner;
/* build.c: what the last run of the build at idx told, or NULL. */
const struct TdTimed *td_bind_build_timed(lua_State *L, int idx);

/* The build at idx; the values of options that the table at idx says, as text, owned by a; sets in
 * the table on top of the stack what a line "path value" says. */
struct TdModule *td_bind_check_build(lua_State *L, int idx);
struct TdOption;
const char **td_bind_option_values(lua_State *L, int idx, TdArena *a, const struct TdOption *o,
                                   size_t n);
void td_bind_set_path(lua_State *L, const char *line, size_t n);
/* math.c: p with functions of floats in integers, owned by a, where a build for x with these values
 * of its options asks for that; else p. */
struct TdBackend;
const TdProg *td_bind_expand_math(lua_State *L, TdArena *a, const TdProg *p,
                                  const struct TdBackend *x, const char *const *value);
/* question.c: adds a method for each question of a backend to the class of builds, whose metatable
 * is on top of the stack. */
void td_bind_add_questions(lua_State *L);

/* verify.c */
int td_bind_verify_schedule(lua_State *L);
/* s:verify() of a schedule of a graph: does it store and return what it began with? */
int td_bind_verify_graph_schedule(lua_State *L);
/* How long a comparison may take, and since when (td_alarm_now). */
typedef struct TdBindTime {
  double seconds, since;
} TdBindTime;
/* What it takes where nobody says: longer than one waits at the prompt. */
#define TD_BIND_VERIFY_SECONDS 60
/* td_check_same within that time, on fingerprints of a seed of their own. */
TdCheck td_bind_check_same(lua_State *L, TdArena *a, const TdProg *x, const TdProg *y,
                           const TdEvalArg *concrete, TdEvalOptions o, TdBindTime time);

/* run.c */
/* Spreads arguments given by name ({A = a}) from slot `first` on over the parameters' order. */
void td_bind_name_arguments(lua_State *L, const TdProg *p, int first);
/* Raises unless the arguments from slot `first` on fit the parameters of p. */
void td_bind_check_arguments(lua_State *L, const TdProg *p, int first);
/* Sizes of a table {M = 5} at idx, sorted by name. */
TdSize *td_bind_read_sizes(lua_State *L, TdArena *a, int idx, size_t *n);
/* The arguments from slot `first` on for the evaluator, and p at the sizes that they give; raises
 * where they do not fit. */
struct TdEvalArg *td_bind_eval_arguments(lua_State *L, const TdProg *p, int first,
                                         const TdProg **at);
/* Runs p on the arguments from slot `first` on; state lasts with the userdata at slot `owner`. */
void td_bind_run(lua_State *L, const TdProg *p, int owner, int first);
/* k:reference(..): runs p on the arguments from slot 2 on in the evaluator, all checks on. */
int td_bind_reference(lua_State *L, const TdProg *p);
/* k:reset(): state starts again. */
int td_bind_reset(lua_State *L);
/* Pushes method `key` of a class, or raises naming the nearest. */
int td_bind_method(lua_State *L, const char *class, const char *key);
/* Pushes the large constants of p as tensors; returns how many. */
int td_bind_push_constants(lua_State *L, const TdProg *p);

/* Calls the kernel at slot 1 with arguments by name at slot 2 if sizes are among them: at these. */
bool td_bind_call_sized(lua_State *L, const TdProg *p);

/* npu.c: s:search {device =} at slots 1 and 2, where the device is an NPU: done by tide.npu, the
 * schedule alone on the stack. False: it is another step or device. */
bool td_bind_npu_search(lua_State *L, const struct TdPrim *prim);

/* npu_open.c: tide.npu.open(folder), and its class. */
int td_bind_npu_open(lua_State *L);
void td_bind_open_npu_run(lua_State *L);

#endif
