/* text.h - what the files that write a program for the CPU share. */
#ifndef TD_CPU_TEXT_H
#define TD_CPU_TEXT_H

#include "affine/affine.h"
#include "backends/c/cfamily.h"
#include "backends/cpu/cpu.h"
#include "backends/c/runtime/runtime.h"
#include "eval/time/clock.h"

/* A parameter of a unit, over all its calls. Strides in elements; the dense ones are row-major. */
typedef struct TdCpuParam {
  bool written;
  bool dense;
  bool known[TD_MAX_RANK]; /* the stride is the same in all calls */
  int64_t stride[TD_MAX_RANK];
} TdCpuParam;

/* A unit as a C function. */
typedef struct TdCpuUnit {
  const TdUnit *unit;
  const char *name;
  TdCpuParam *param;
  bool called, has_room, has_state;
  int64_t map[TD_MAX_RANK]; /* most instances along each axis, where it is a task */
  bool streams;     /* it puts or gets, or is a design that takes streams: a function that stops and
                     * goes on, and only that */
  const char *task; /* the name of that function; NULL: it is none */
  const char **field;  /* such a one's parameters in its frame */
  const char **stride; /* and those strides of each that differ between calls, or NULL */
  const char **id;     /* and its coordinates */
  TD_VEC(TdSym) outer; /* streams of the design that it names */
  TD_VEC(const char *) outer_field;
  double work; /* statements of a call, estimated */
} TdCpuUnit;

/* Memory that is not on the stack: fields of a struct, reached by a prefix as "room->". */
typedef struct TdCpuRoom {
  const char *prefix;
  TdText fields;
  TD_VEC(const void *) callee; /* units whose room is a field */
  TdMap field;                 /* by symbol: what its field is called in the text */
} TdCpuRoom;

/* A literal as a symbolic value: what it is called in its unit. */
typedef struct TdCpuLift {
  const TdType *type;
  uint64_t bits;
  TdPiece piece;
} TdCpuLift;

/* A symbolic value, or address of one (how is ""), made in the current statement. */
typedef struct TdCpuMade {
  const char *how, *what;
  TdPiece piece;
  const TdExpr *base;  /* of an address in a variable: the load that it is of; else NULL */
  const char *pointer; /* that variable */
} TdCpuMade;

/* The program being written: what the hooks reach by the writer's ud. */
typedef struct TdCpuProg {
  TdCWriter *w;
  TdCpuUnit *unit;               /* parallel to prog->unit */
  TdMap size;                    /* name -> value, declared at the top of the text */
  TdText states;                 /* fields of the state of the current unit */
  TdText resets;                 /* statements that give it its first values */
  TD_VEC(const void *) stateful; /* units whose state is a field of it */
  TD_VEC(TdCpuRoom) room;        /* innermost last */
  int rooms;                     /* made in the current unit */
  const TdStmt *cut[2]; /* the loop over chunks that was made last, and that over a chunk */
  int parallel;         /* parallel loops around */
  const char *first;    /* line that begins every function, or NULL */
  const struct TdCpuTaint *taint; /* of a twin; NULL: numbers */
  int symbols;                    /* made so far */
  double bytes;                   /* of large arrays and streams so far */
  bool moves, computes;           /* it has loops that move tokens; and some that move none */
  TdText lifts;                   /* of the literals and keys of the current unit */
  TD_VEC(TdCpuLift) lift;
  bool opaque;  /* expressions of statements are operators (term.c) */
  size_t terms; /* so many are */
  size_t keys;  /* of operands, declared in the current unit */
  TD_VEC(TdCpuMade) made;
  /* What a call gives a scalar parameter. NULL: the target's value. */
  TdPiece (*argument)(TdCWriter *w, const TdExpr *e, TdSym param);
  const char *stop;       /* how the function being written ends early */
  struct TdCpuTask *task; /* the one being written, or NULL */
  const TdTimes *times;   /* of runs with a clock; or NULL */
  TdAffine *affine;       /* for proofs; NULL: not asked yet */
  bool watch;             /* as TdCpuExtra */
  TD_VEC(TdLoc) place;
  TD_VEC(const char *) apart; /* what is said of views that meet */
  TD_VEC(const void *) table;
  TD_VEC(const void *) known; /* times and statements that the text names */
  TD_VEC(TdCpuDesign) design;
  int64_t runs, streams; /* of the designs so far */
} TdCpuProg;

/* text.c: begins the text of prog in p; writes it, after `prelude`. */
void td_cpu_text_begin(TdCpuProg *p, TdArena *a, const TdProg *prog, const TdCTarget *target,
                       TdDiag *d);
const TdCpuText *td_cpu_text_end(TdCpuProg *p, const char *prelude);

/* taint.c: the symbols that hold symbolic values. */
typedef struct TdCpuTaint {
  TdArena *arena;
  TdMap symbol;
  bool grows; /* something was added */
} TdCpuTaint;
bool td_cpu_taint_has(const TdCpuTaint *t, TdSym sym);
bool td_cpu_taint_reaches(const TdCpuTaint *t, const TdExpr *e);
/* Adds all that is computed from what is there, in every unit of p. */
void td_cpu_taint_spread(TdCpuTaint *t, const TdProg *p);

/* square.c: whether some product of an integer with itself comes back to it, in loops or calls. */
bool td_cpu_square_is_in(TdArena *a, const TdProg *p);

/* carry.c: whether a loop must be kept from becoming vectors: elements go from one iteration to
 * another that stands behind it in the text. */
bool td_cpu_carry_is_in(TdCpuProg *p, const TdStmt *loop);

/* param.c: what is written, and the strides of views, for all units. False: w->diag is filled.
 */
bool td_cpu_param_find(TdCpuProg *p);
/* The unit of a symbol. */
TdCpuUnit *td_cpu_param_unit(const TdCpuProg *p, TdSym unit);

/* unit.c: the target of numbers; the number of a place; a unit as a function. */
extern const TdCTarget td_cpu_unit_target;
bool td_cpu_unit_stmt(TdCWriter *w, const TdStmt *s); /* its hook */
int td_cpu_unit_place(TdCpuProg *p, TdLoc loc);
void td_cpu_unit_put(TdCpuProg *p, TdCpuUnit *u, TdText *out);
/* Its parts: a unit begun, with memory reached by a prefix; a struct "f_what", unless it has no
 * fields; the state of u, with its reset. */
void td_cpu_unit_enter(TdCpuProg *p, TdCpuUnit *u, const char *prefix, TdText *out);
bool td_cpu_unit_put_struct(TdText *out, const char *unit, const char *what, const TdText *fields);
void td_cpu_unit_put_state(TdCpuProg *p, TdCpuUnit *u, TdText *out);

/* "&room->f" and "&state->f", with the fields made, for a call of f; "" where f needs none. */
const char *td_cpu_unit_room_of(TdCpuProg *p, const TdCpuUnit *f);
const char *td_cpu_unit_state_of(TdCpuProg *p, const TdCpuUnit *f);

/* The name of a parameter's or local's memory in the innermost room. */
void td_cpu_unit_field(TdCpuProg *p, const TdStmt *s);

/* task.c: a unit that puts or gets, as a function that stops and goes on; whether a statement
 * of such a unit may stop; a variable of it, kept while it waits (`fixed`: it never changes). */
typedef struct TdCpuTask {
  TdText declare, save; /* variables */
  int points;           /* where it goes on */
  int loops;            /* around the statement being written */
  TD_VEC(struct TdCpuHeld) held;
  const struct TdCpuBurst *burst; /* being written, or NULL */
} TdCpuTask;
typedef struct TdCpuHeld {
  TdSym sym;
  const TdExpr *slot;        /* the stream of a slot; NULL: the buffer was got */
  const char *buffer, *pool; /* its number, and the stream it goes back to, as text */
  int loops;                 /* around its declaration */
} TdCpuHeld;
void td_cpu_task_put(TdCpuProg *p, TdCpuUnit *u, TdText *out);
/* Begins u as such a function, with its parameters and coordinates; ends one that holds `text`,
 * which goes to `done` or `wait`. */
void td_cpu_task_enter(TdCpuProg *p, TdCpuUnit *u, TdCpuTask *task, TdText *out);
void td_cpu_task_leave(TdCpuProg *p, TdCpuUnit *u, const char *text, TdText *out);
bool td_cpu_task_may_stop(const TdCpuProg *p, const TdStmt *s);
void td_cpu_task_keep(TdCpuProg *p, const char *declaration, const char *name, bool fixed);

/* stream.c: statements that may stop. */
void td_cpu_stream_put(TdCpuProg *p, const TdStmt *s);
/* Gives back the buffers held since `mark`. */
void td_cpu_stream_release(TdCpuProg *p, size_t mark);

/* The ring or pool of a stream expression, and the depth of a ring, as text. */
const char *td_cpu_stream_ring(TdCpuProg *p, const TdExpr *e);
const char *td_cpu_stream_depth(TdCpuProg *p, const TdExpr *e, const char *ring);
/* Declares `name`, the tokens of type t that lie at `where`, by number; moves the token `token` as
 * the get or put s does. */
void td_cpu_stream_tokens(TdCpuProg *p, const TdType *t, const char *name, const char *where);
void td_cpu_stream_move(TdCpuProg *p, const TdStmt *s, const char *token);

/* burst.c: inside of a loop, with variable v that runs to `end`, and its time: iterations for
 * which all tokens and places are there, if it can be told beforehand. */
void td_cpu_burst_put(TdCpuProg *p, const TdStmt *loop, const char *v, const char *end,
                      const char *time);

/* clock.c: lines for the clock of a task, none where there is none (eval/clock.h). Before a
 * statement; around a loop, whose time is then in the variable returned (NULL: it has none); in an
 * iteration; at a return; around a loop that has no other times inside. */
void td_cpu_clock_begin(TdCpuProg *p, const TdStmt *s);
const char *td_cpu_clock_enter(TdCpuProg *p, const TdStmt *loop, const char *v);
void td_cpu_clock_iterate(TdCpuProg *p, const TdStmt *loop, const char *time);
void td_cpu_clock_leave(TdCpuProg *p, const TdStmt *loop, const char *time);
void td_cpu_clock_return(TdCpuProg *p);
void td_cpu_clock_pass(TdCpuProg *p, const TdStmt *loop);
/* A token of td_r moves: `what` is get, slot or put, `how` its last argument or NULL. */
void td_cpu_clock_move(TdCpuProg *p, const TdStmt *s, const char *what, const char *ring,
                       const char *how);
void td_cpu_clock_free(TdCpuProg *p, const char *ring);
/* Whether statements inside s have times. */
bool td_cpu_clock_is_inside(const TdCpuProg *p, const TdStmt *s);
/* A time, or a statement, in the table of those, as text. */
const char *td_cpu_clock_known(TdCpuProg *p, const void *t);

/* block.c: the block of an argument that an instance is given; id k of instance td_i as text;
 * whether other instances of the run hold the same block. */
typedef struct TdCpuBlock {
  int rank;
  int64_t extent[TD_MAX_RANK], count;
  const char *stride[TD_MAX_RANK]; /* of the argument */
  const char *at;                  /* its first element */
  const TdType *cell;
  unsigned named; /* axes of the map that the layout names, one bit each */
} TdCpuBlock;
const char *td_cpu_block_id(TdCpuProg *p, const TdRun *r, int k);
bool td_cpu_block_is_shared(TdCpuProg *p, const TdRun *r, const TdRunArg *b);
TdCpuBlock td_cpu_block_of(TdCpuProg *p, const TdRun *r, const TdRunArg *b);
/* Lines that fill instance td_i's own of `copies`; and that compare it with the first like it,
 * which is stored. `number` is of the run, among those of all designs. */
void td_cpu_block_load(TdCpuProg *p, const TdCpuBlock *b, const char *copies, TdText *out);
void td_cpu_block_store(TdCpuProg *p, const TdRun *r, const TdCpuBlock *b, const char *copies,
                        int64_t number, TdText *out);

/* check.c: lines that end the run where u, which is entered, assumes what does not hold; none
 * for what its calls prove. */
void td_cpu_check_assumed(TdCpuProg *p, const TdCpuUnit *u);
/* A hook: the head of a block around s that is entered if views that may not meet do not. */
bool td_cpu_check_apart(TdCWriter *w, const TdStmt *s);

/* design.c: a design as a function that runs its tasks in turn, until they end or, if it takes
 * streams, until nothing moves. */
void td_cpu_design_put(TdCpuProg *p, TdCpuUnit *u, TdText *out);

/* arg.c: a call of a unit, as a statement; the parameters of a unit as C declares them, and
 * their names put in scope. */
void td_cpu_arg_call(TdCpuProg *p, const TdStmt *s);
const char *td_cpu_arg_params(TdCpuProg *p, TdCpuUnit *u);
/* Lines that give parameter i of f, a function that stops, its argument in a frame. */
void td_cpu_arg_fill(TdCpuProg *p, const TdCpuUnit *f, const char *frame, size_t i,
                     const TdExpr *e);
/* The strides of a parameter as texts: numbers, or fresh names, which are listed in `fresh` (others
 * are NULL there). The stride of dimension d of an array, times step. */
const char *const *td_cpu_arg_strides(TdCpuProg *p, const TdCpuParam *x, int rank, const char *name,
                                      const char **fresh);
const char *td_cpu_arg_stride(TdCWriter *w, const TdCName *base, uint32_t d, int64_t step);

#endif
