/* bind.h - Lua on one side, the core on the other. Only here, in the other files of bind and in
 * main.c is lua.h seen. Rules: core code never calls Lua and never raises; a C function of bind
 * checks its arguments, makes the owner of what it will make (a userdata, a to-be-closed arena),
 * calls the core, then pushes results or raises. */
#ifndef TD_BIND_H
#define TD_BIND_H

#include <lauxlib.h>
#include <lua.h>

#include "affine/affine.h"
#include "frontend/capture.h"
#include "frontend/lua/walk_ast.h"
#include "ir/ir.h"
#include "ir/tensor.h"

/* The setting CHECK: steps are followed by an equivalence check never, where it is quick, always.
 */
typedef enum { TD_CHECK_OFF, TD_CHECK_QUICK, TD_CHECK_ON } TdBindCheck;

/* What :set sets; values are places among the words of settings.def. */
typedef enum {
#define TD_SETTING(NAME, name, words, initial, summary) TD_SET_##NAME,
#include "bind/prompt/settings.def"
  TD_SETTINGS
} TdSettingName;

/* One per Lua state, kept in the registry. */
typedef struct TdBind {
  TdCtx *ctx;
  TdSession *session;
  TdAffine *affine;
  lua_State *L;     /* the running state; refreshed at every entry, because coroutines change it */
  size_t told;      /* bytes of C memory that the collector was told about */
  TdMap asts;       /* source id -> const TdAst * */
  uint32_t designs; /* made so far */
  uint32_t design;  /* being captured, 0: none */
  int setting[TD_SETTINGS];
  uint64_t checked;            /* steps that were proved since checking began */
  uint64_t changes;            /* of schedules: steps taken and taken back */
  const struct TdWatch *watch; /* NULL, or runs are by the evaluator, and this looks on */
  const char *native; /* NULL, or a native run is under way: kernels called run as Lua, and this is
                       * the path of calls that leads to the one that runs, interned */
} TdBind;

/* bind.c: the state, entries, errors, memory. */
/* The TdBind of L, whose escape hook raises in L from now on. Every function of bind that calls the
 * core starts so. */
TdBind *td_bind_enter(lua_State *L);
/* Pushes a fresh arena that is freed when the calling C function returns or fails (a to-be-closed
 * value). */
TdArena *td_bind_arena(lua_State *L);
/* The same, and an operation of work.def that lasts as long. */
TdArena *td_bind_work(lua_State *L, TdWorkKind kind);
/* Does fn(ud), work of the core that cannot fail, within so many seconds (INFINITY: any). False:
 * the time was not enough, and fn was left in the middle. Other escapes go on. */
bool td_bind_within(lua_State *L, double seconds, void (*fn)(void *ud), void *ud);
/* lua_settop to a lower top, where arenas may lie above it: lua_settop of Lua 5.4.4 closes them
 * with a pointer into a stack that may have moved. */
void td_bind_settop(lua_State *L, int top);
/* A diagnostic to fill, whose strings live in arena a. */
TdDiag td_bind_diag(TdArena *a);
/* Raises d as a Lua error table: kind, code, message, file, line, col, prim, notes, help, witness;
 * never returns. The place of the Lua call is added when d has none. */
int td_bind_raise(lua_State *L, const TdDiag *d);
/* Raises a usage error at the Lua call: code, message. */
int td_bind_fail(lua_State *L, const char *code, const char *fmt, ...) TD_PRINTF(3, 4);
/* Pushes nil and the error table of d (for s:can and d:check). */
int td_bind_push_failure(lua_State *L, const TdDiag *d);
/* Tells the collector how much C memory came since it was last told. */
void td_bind_account(lua_State *L);
/* set.c: sets a field of the table on top; a NULL string is no field. */
void td_bind_set_integer(lua_State *L, const char *key, int64_t v);
void td_bind_set_number(lua_State *L, const char *key, double v);
void td_bind_set_boolean(lua_State *L, const char *key, bool v);
void td_bind_set_string(lua_State *L, const char *key, const char *v);
/* Has `require(name)` call a loader. */
void td_bind_set_module(lua_State *L, const char *name, lua_CFunction loader);
/* show.c: tide.show, of the module on top of the stack; and, in the program, print of tables. */
void td_show_open(lua_State *L);
/* stdlib.c: the modules' own environment. */
/* Keeps the globals as they are now for stdlib. */
void td_stdlib_open(lua_State *L);
/* Registers the module tide.globals, which makes tide's names global. */
void td_stdlib_open_globals(lua_State *L);
/* Pushes what a global was when Tide was opened; a module, required by what `require` was. */
void td_stdlib_push_global(lua_State *L, const char *name);
void td_stdlib_push_module(lua_State *L, const char *name);
/* Gives the chunk on top of the stack that environment. */
void td_stdlib_enclose(lua_State *L);
/* Registers methods of a class under a metatable name; leaves the metatable on the stack. */
void td_bind_class(lua_State *L, const char *name, const luaL_Reg *meta, const luaL_Reg *methods);
/* Has completion and errors know the fields, divided by blanks, of the class whose metatable is on
 * top. */
void td_bind_class_fields(lua_State *L, const char *fields);
/* The string field `key` of the table at idx, or NULL; a boolean with a default; an integer, if
 * there is one: false where there is something else. */
const char *td_bind_opt_string(lua_State *L, int idx, const char *key);
bool td_bind_opt_integer(lua_State *L, int idx, const char *key, int64_t *v);
/* The depth of a stream in the options at idx: a number, or an expression over sizes. */
void td_bind_opt_depth(lua_State *L, int idx, int64_t *depth, const TdExpr **of_sizes);
bool td_bind_opt_boolean(lua_State *L, int idx, const char *key, bool otherwise);

/* refuse.c: refusals of what a caller gave. */
/* Raises an error of any kind at the Lua call; help may be NULL. */
int td_bind_refuse(lua_State *L, TdDiagKind kind, const char *code, const char *help,
                   const char *fmt, ...) TD_PRINTF(5, 6);
/* Raises that `what` ("a schedule") is expected at idx; tells of the colon that a call may lack. */
int td_bind_expect(lua_State *L, int idx, const char *what);
/* Raises that a documented function takes `what`, not the value at idx; the help is its usage. */
int td_bind_misuse(lua_State *L, int idx, const char *function, const char *what);
/* Raises unless the value at idx is absent or an option table all of whose keys are among the
 * NULL-terminated names; returns whether it is there. */
bool td_bind_check_options(lua_State *L, int idx, const char *const *names);
/* The place of option `key` among the NULL-terminated words, or `otherwise` when it is not given.
 */
int td_bind_opt_word(lua_State *L, int idx, const char *key, const char *const *words,
                     int otherwise);

/* Tells of something that still works, at the line of the user, on stderr. */
void td_bind_warn(lua_State *L, const char *message);

/* write.c: writes a file whole (base/file.h) or raises; returns 0. */
int td_bind_write(lua_State *L, const char *path, const char *text, size_t n);

/* How messages name the Lua value at idx: "an integer", "a tensor". */
const char *td_bind_words(lua_State *L, int idx);

/* type.c: types are one userdata each, so == works. */
#define TD_CLASS_TYPE "tide.type"
/* The type at idx: check raises where there is none, test returns NULL. */
void td_bind_push_type(lua_State *L, const TdType *t);
const TdType *td_bind_check_type(lua_State *L, int idx);
const TdType *td_bind_test_type(lua_State *L, int idx);
/* Pushes the one userdata of a class that stands for p, which lives as long as the session. */
void td_bind_push_unique(lua_State *L, const char *class, const void *p);

/* size.c: tide.size, a name without value, and the index expressions made of it. */
#define TD_CLASS_SIZE "tide.size"
/* An extent: a non-negative integer, or a tide.size; raises otherwise. Session-owned. */
const TdExpr *td_bind_check_extent(lua_State *L, int idx);
/* The index expression of the tide.size at idx, or NULL. */
const TdExpr *td_bind_test_size(lua_State *L, int idx);

/* layout.c: layouts as values (value/layout.h); T:layout "S0R" among them, how a task's parameter
 * lies over the task's map. */
#define TD_CLASS_LAYOUT "tide.layout"
typedef struct TdLayoutBox TdLayoutBox;
/* The layout at idx, or NULL. */
const TdLayoutBox *td_bind_test_layout(lua_State *L, int idx);
/* The text of the string or the layout at idx; NULL: it is neither. Raises for a layout without. */
const char *td_bind_layout_text(lua_State *L, int idx);
/* Raises if the layout at idx is of a tensor of other extents than t; a text fits any. */
void td_bind_check_layout_fits(lua_State *L, int idx, const TdType *t);
/* Raises unless text is a layout of type t; returns the session's copy. */
const char *td_bind_check_layout(lua_State *L, const TdType *t, const char *text);

/* tensor.c: a tensor and its views have as their first user value what owns their memory, as
 * their second the views of their rows that t[i] made. */
#define TD_CLASS_TENSOR "tide.tensor"
typedef struct TdTensorMemory {
  TdArena *arena; /* NULL once it was closed */
  int64_t rows;   /* views of rows that may still be kept for as long as it lives */
} TdTensorMemory;
typedef struct TdTensorKept TdTensorKept;
typedef struct TdTensorBox {
  TdTensorMemory *memory; /* of the owner */
  TdTensor *tensor;
  int order;                /* 0, or 1 for a state made by tide.state */
  int above;                /* dimensions that t[i] took away */
  const TdType *row;        /* of t[i]; NULL until it is asked for */
  const TdTensor *restored; /* of a state: what :reset() brings back */
  const char *path;   /* of a state: the path of a native run whose contents it holds, or NULL */
  TdTensorKept *kept; /* of a state: what it holds for other paths (state.c) */
} TdTensorBox;
/* A new tensor of constant type t on the stack. */
TdTensor *td_bind_push_tensor(lua_State *L, const TdType *t, bool declared);
TdTensor *td_bind_check_tensor(lua_State *L, int idx);
TdTensorBox *td_bind_test_tensor(lua_State *L, int idx);

/* scalar.c: elements as Lua values. Integers are Lua integers (u64 from 2^63 up is negative,
 * as Lua's own operators see it), fixed point and floats are Lua floats. */
/* A Lua number or boolean as bits of scalar type t (converted as a cast does), or false if it is
 * neither, or a number for bool. */
bool td_bind_to_bits(lua_State *L, int idx, const TdType *t, uint64_t *bits);
/* Bits of scalar type t as a Lua number or boolean. */
void td_bind_push_bits(lua_State *L, const TdType *t, uint64_t bits);

/* source.c: every chunk that Lua loads is kept; asts are parsed once. */
/* Replaces load, loadfile, dofile and the searcher of require so that sources are kept. */
void td_bind_open_source(lua_State *L);
/* Keeps a chunk; returns its source id. */
uint32_t td_bind_keep_source(lua_State *L, const char *chunkname, const char *text, size_t n);
/* The tree of source id, parsed at its first use; NULL if it does not parse. */
const TdAst *td_bind_ast(lua_State *L, uint32_t id);
/* The same, with d filled if it does not parse. */
const TdAst *td_bind_parse(lua_State *L, uint32_t id, TdDiag *d);
/* The tree and function of the Lua function at idx; false with d filled (no source, edited,
 * ambiguous). */
bool td_bind_function(lua_State *L, int idx, const TdAst **ast, const TdAstFn **fn, TdDiag *d);
/* Place of the Lua code that called the running C function: the call's own token if it can be
 * found. */
TdLoc td_bind_caller(lua_State *L);
/* The same, but code of stdlib is passed over: the place of the user's call. */
TdLoc td_bind_user(lua_State *L);
/* The source of the Lua function at a level of the stack, or 0. */
uint32_t td_bind_level_source(lua_State *L, int level);
/* The place of the call that it is making, or its line; source 0: no such function, or stdlib's. */
TdLoc td_bind_level_call(lua_State *L, int level);
/* The call of what is called `name` on a line of a chunk, or NULL. */
const TdAstExpr *td_bind_find_call(const TdAst *ast, uint32_t line, const char *name);
/* The place of field or method `key` in that code. */
TdLoc td_bind_caller_key(lua_State *L, const char *key);
/* The tree of that call and of its chunk; NULL when it cannot be found. */
const TdAstExpr *td_bind_call_expr(lua_State *L, const TdAst **ast);
/* The same place, pointing at the string literal `text` among that call's arguments when there is
 * one. */
TdLoc td_bind_caller_argument(lua_State *L, const char *text);

/* host.c: values of the Lua program as the frontend asks for them. */
/* A host whose function handles are made by td_bind_handle; valid during one C call. The stack slot
 * `anchor` must hold a table, in which the functions and tables that the frontend meets are kept.
 */
TdHost td_bind_host(lua_State *L, int anchor);
uintptr_t td_bind_handle(lua_State *L, int anchor, int idx);
/* Learns which functions of the module on top of the stack (and of Lua) are words of the frontend.
 */
void td_bind_note_words(lua_State *L);

/* unit.c: kernels, designs and externs are one class; the store is kept alive by a user value.
 */
#define TD_CLASS_UNIT "tide.unit"
#define TD_CLASS_STORE "tide.store"
typedef struct TdUnitBox {
  const TdProg *prog;
} TdUnitBox;
/* Pushes an empty store owned by Lua. */
TdStore *td_bind_push_store(lua_State *L);
/* Pushes a unit of the store at stack slot `store`. */
void td_bind_push_unit(lua_State *L, int store, const TdProg *p);
const TdProg *td_bind_check_unit(lua_State *L, int idx);
const TdProg *td_bind_test_unit(lua_State *L, int idx);

/* method_call.c: the call that is being made of x:name(..), or NULL; *ast is its chunk. `calls`
 * counts those seen, by line and first letter of the name, in arena a. */
const TdAstExpr *td_bind_method_call(lua_State *L, TdArena *a, TdMap *calls, const char *name,
                                     const TdAst **ast, uint32_t *source);

/* design.c: the stream at idx as a compile-time value; false if it is none. */
bool td_bind_test_stream(lua_State *L, int idx, TdConst *out);

/* Whether the builder of a design runs. */
bool td_bind_is_building(lua_State *L);

/* setting.c: gives each setting its value at the start. */
void td_setting_reset(TdBind *b);

/* schedule.c */
#define TD_CLASS_SCHEDULE "tide.schedule"
#define TD_CLASS_STP_SCHEDULE "tide.step.schedule" /* of a graph of STeP */
/* The program of the schedule, of a kernel or design, at idx as it is now, or NULL. */
const TdProg *td_bind_test_schedule(lua_State *L, int idx);
/* The schedule of a STeP graph at idx, or NULL. */
const struct TdSchedule *td_bind_test_graph_schedule(lua_State *L, int idx);
/* Pushes the schedule at idx as it was when it was asked so last, or before its last step, and as
 * it is; false: it has no step. */
bool td_bind_push_compared(lua_State *L, int idx);
/* Writes what changed in the schedule at idx since it was shown last; false when nothing did. */
bool td_bind_show_step(lua_State *L, int idx, TdText *out);

/* version.c */
/* Notes from which file another Lua loaded the module, so that Tide's own files are found, and has
 * require look for stdlib there. */
void td_version_note_module(lua_State *L, const char *file);
/* Whether another Lua loaded the module. */
bool td_version_is_module(lua_State *L);

/* graph.c: the program that the graph at idx is of, or NULL. */
const TdProg *td_bind_test_graph(lua_State *L, int idx);

/* Openers; each leaves the stack as it was, with the module table at the top. */
void td_bind_open_type(lua_State *L);
void td_bind_open_size(lua_State *L);
void td_bind_open_layout(lua_State *L);
void td_bind_open_tensor(lua_State *L);
void td_bind_open_unit(lua_State *L);
void td_bind_open_design(lua_State *L);
void td_bind_open_extern(lua_State *L);
void td_bind_open_signature(lua_State *L);
void td_bind_open_schedule(lua_State *L);
void td_bind_open_build(lua_State *L);
void td_bind_open_verify(lua_State *L);
void td_bind_open_estimate(lua_State *L);
void td_bind_open_graph(lua_State *L);
void td_bind_open_arrays(lua_State *L);
void td_bind_open_timed(lua_State *L);
void td_bind_open_registry(lua_State *L);
void td_bind_open_session(lua_State *L);
void td_bind_open_front(lua_State *L);
void td_bind_open_jupyter(lua_State *L);
void td_bind_open_view(lua_State *L);
void td_bind_open_job(lua_State *L);
void td_bind_open_write(lua_State *L);
void td_bind_open_maestro(lua_State *L);
void td_bind_open_npu(lua_State *L);
void td_bind_open_refuse(lua_State *L);
void td_bind_open_version(lua_State *L);
void td_bind_open_stp(lua_State *L);
void td_bind_open_rows(lua_State *L);

#endif
