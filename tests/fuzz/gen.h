/* gen.h - random kernels as Lua text: well typed, free of faults in all likelihood (the oracle runs
 * them before use). */
#ifndef FUZZ_GEN_H
#define FUZZ_GEN_H

#include "tests/fuzz/fuzz.h"

/* Sizes of a kernel are called M, N, K and are at least LEAST_SIZE at all points of the oracle. */
enum { SIZE_NAMES = 3, LEAST_SIZE = 5, MOST_SIZE = 8 };
/* Parameters that control loops, jumps and places have names that begin so: the oracle keeps them
 * concrete. */
#define CONTROL_PREFIX 'c'

/* The values of an index: from lo to hi, plus the value of a size when size >= 0. */
typedef struct Range {
  int64_t lo, hi;
  int size;
} Range;

enum { GEN_THINGS = 24, GEN_RANK = 3, GEN_LOOPS = 8, GEN_TYPES = 6 };

/* A scalar type under its name in the chunk. */
typedef struct NamedType {
  const char *name;
  const TdType *type;
} NamedType;

/* An array or a scalar in scope; rank 0 is a scalar. */
typedef struct Thing {
  const char *name;
  NamedType of;
  int rank;
  Range extent[GEN_RANK]; /* hi (and size) is the extent */
  bool writable;
} Thing;

typedef struct LoopVar {
  const char *name;
  Range range;
} LoopVar;

enum { GEN_PARAMS = 5, GEN_CALLEES = 4 };

/* A kernel that may be called. Its last parameter may be an index, which it uses as a place. */
typedef struct Callee {
  const char *name;
  Thing param[GEN_PARAMS];
  int nparam;
  bool indexed;
  Range index; /* its values */
} Callee;

/* What a kernel is about besides the rest; one may be about several. */
typedef enum {
  ABOUT_MEMORY, /* control that the body moves */
  ABOUT_STATE,
  ABOUT_INDEX,  /* callees with an index parameter, and what they assume of it */
  ABOUT_SHARED, /* calls with several parts of one array */
  ABOUT_FAULT,
  ABOUT_WIDE,  /* words of more than 64 bits */
  ABOUT_TILES, /* tasks that move blocks, and streams between tasks */
  ABOUTS
} About;

/* A kernel under construction. */
typedef struct Gen {
  Rng rng;
  TdSession *session;
  TdArena *arena;
  TdText out;
  Thing thing[GEN_THINGS];
  int nthing;
  LoopVar loop[GEN_LOOPS];
  int nloop;
  NamedType type[GEN_TYPES];
  Callee callee[GEN_CALLEES];
  int ncallee;
  bool about[ABOUTS];
  Callee twin[2];      /* kernels for rows of two arrays, if has_twins */
  const char *rows[2]; /* those arrays */
  bool has_twins;
  Range usual[2]; /* extents that come often */
  bool has_usual;
  bool sized;     /* extents are mostly sizes */
  int names;      /* made so far, for fresh ones */
  int64_t work;   /* executions of the place under construction, at most */
  int statements; /* that may still be made */
  bool has[FEATURES];
} Gen;

/* gen.c: the Lua text of kernel `number` at its `attempt`, and its features. */
const char *gen_kernel(TdSession *s, TdArena *a, Rng rng, bool *has);

/* Whether kernels are affine, and every store depends on its iteration: what is equal then was in
 * the right order. For measures of refusals. */
extern bool gen_distinct;
/* Names of what all kernels are about, separated by commas; empty: drawn for each. */
extern const char *gen_about;
/* Names of what none is about. */
extern const char *gen_not_about;

/* gen_type.c */
void gen_types(Gen *g);
NamedType gen_pick_type(Gen *g);
Range gen_extent(Gen *g);
const char *gen_extent_text(const Gen *g, Range r);
/* "i8[M][4]". */
const char *gen_shape_text(const Gen *g, const Thing *t);
const char *gen_fresh_name(Gen *g, const char *stem);
/* A random thing in scope that satisfies `fits`, or NULL. */
const Thing *gen_find(Gen *g, bool (*fits)(const Thing *t));
bool gen_is_array(const Thing *t);
bool gen_is_target(const Thing *t);
bool gen_is_control(const Thing *t);
/* Control that the kernel may write. */
bool gen_is_moved(const Thing *t);
/* Whether things of these extents have one shape. */
bool gen_same_extents(const Range *x, const Range *y, int rank);

/* gen_index.c */
/* Whether all values of r are indices of a dimension of this extent. */
bool gen_is_inside(Range r, Range extent);
/* "[i][j + 1]": indices of a dimension, within its extent. */
const char *gen_index(Gen *g, Range extent);
/* An index from control, within the extent, or NULL. */
const char *gen_data_index(Gen *g, Range extent);
/* "[i][j + 1]": a place of t within its extents, wherever it stands. */
const char *gen_place(Gen *g, const Thing *t);
/* The same by the innermost loops, in order; *own: each iteration has its own place. */
const char *gen_own_place(Gen *g, const Thing *t, bool *own);
/* A condition on loop variables; "true" in words when there are none. */
const char *gen_affine_condition(Gen *g);
/* A condition on control parameters or loop variables. */
const char *gen_control_condition(Gen *g);
/* A number below `most` from a control parameter, or NULL. */
const char *gen_control_count(Gen *g, int most);
/* Opens a loop (two for a grid) that multiplies g->work; false when that is too much. */
bool gen_open_loop(Gen *g);
/* Opens a loop over all of an extent but `less` at either end. */
void gen_open_over(Gen *g, Range extent, int less);
/* Opens a loop up to an expression whose values are below `most`. */
void gen_open_to(Gen *g, const char *last, int most);

/* gen_expr.c */
typedef struct Val {
  const char *text;
  const TdType *type;
} Val;
/* A value that may be stored in type t (an explicit cast is part of the text where needed). */
const char *gen_value(Gen *g, NamedType t, int depth);
/* The same as an accumulation: a combination of `old`, a value of that type, with another. */
const char *gen_accumulation(Gen *g, NamedType t, const char *old);
/* The same from the value `of`, which a cast to t takes. */
const char *gen_use(Gen *g, NamedType t, const char *of);
const char *gen_data_condition(Gen *g);

/* gen_stmt.c: statements at the place under construction. */
void gen_body(Gen *g, int phases);
void gen_statements(Gen *g, int n);
/* A value that no other statement or iteration stores, from any, when kernels are distinct. */
const char *gen_tagged(Gen *g, NamedType t, const char *value);
/* gen_nest.c: nests of loops, and the statements that hold others. */
/* What goes out of scope at the end of a block. */
typedef struct Scope {
  int nthing, nloop, indent;
  int64_t work;
} Scope;
Scope gen_open_scope(const Gen *g);
void gen_close_scope(Gen *g, Scope s);
/* Ends the loops that were opened in a scope. */
void gen_close_loops(Gen *g, Scope s);
void gen_nest(Gen *g, int depth);
void gen_pair(Gen *g);
void gen_while(Gen *g);
void gen_buffer(Gen *g);
/* Nests that hand arrays on, element by element, from the first to the last. */
void gen_stages(Gen *g);
/* A nest in which each iteration reads neighbours of its element of an array. */
void gen_window(Gen *g);
/* gen_call.c: kernels to call, calls of them, tensor statements. */
void gen_callee(Gen *g);
bool gen_call(Gen *g);
/* Two kernels that take the same, and calls of them on one row after the other. */
void gen_twins(Gen *g);
void gen_twin_calls(Gen *g);
bool gen_set(Gen *g);
/* gen_about.c: what kernels are about. */
void gen_draw_about(Gen *g);
/* A state in scope from here on. */
void gen_state(Gen *g);
/* One more of what the kernel is about, as a part of its body; false when there is none. */
bool gen_about_phase(Gen *g);
/* Writes control, if the kernel moves any. */
bool gen_move(Gen *g);
/* gen_design.c: the text of a design. */
void gen_design(Gen *g);
/* gen_wide.c: words of more than 64 bits, in local arrays: hosts have none. */
void gen_wide(Gen *g);

#endif
