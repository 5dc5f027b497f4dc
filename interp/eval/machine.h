/* machine.h - the state of a run: memory, frames, tasks, streams. Only files of eval/ see it.
 *
 * A frame is one unit at one place in the tree of runs and calls; there is no recursion, so it is
 * made once, and keeps its locals' memory and its states from call to call. A task is an instance
 * of a run: a stack of cursors into statements, so that it can stop at any get, put or slot. */
#ifndef TD_MACHINE_H
#define TD_MACHINE_H

#include "eval/time/clock.h"
#include "eval/eval.h"
#include "eval/reliance.h"
#include "eval/value/slice.h"
#include "eval/value/word.h"

typedef struct TdMachine TdMachine;
typedef struct TdTask TdTask;
typedef struct TdFrame TdFrame;
typedef struct TdChannel TdChannel;
typedef struct TdNetwork TdNetwork;

/* The cells of one tensor, row-major. */
typedef struct TdMemory {
  TdValue *cell;
  int64_t count;
  const TdType *elem;
  TdInputName name; /* of the declared thing, with its extents */
  bool outside;     /* an argument of the root: off the chip, from byte `place` on */
  int64_t place;
} TdMemory;

/* Who touched an element of a design's argument first: writer, reader, another reader. */
typedef struct TdTouch {
  uint32_t who[3]; /* number of the instance + 1; 0: nobody */
  bool may[3];     /* it did so behind a condition on symbolic values */
  const TdLoc *at[3];
} TdTouch;

/* The touches of one memory (or array of streams) while a design runs. */
typedef struct TdShadow {
  const void *of;
  TdTouch *at;
  int64_t count;
  TdNetwork *network;
} TdShadow;

/* Through whose hands a view came: an instance of a design, then one of the design around it. */
typedef struct TdGuard {
  TdShadow *shadow;
  uint32_t who;
  const struct TdGuard *up;
} TdGuard;

/* A box of elements of a memory, or of streams. */
typedef struct TdView {
  TdMemory *memory;
  TdChannel *channel; /* first of the array of streams */
  const TdGuard *guard;
  int64_t base;
  int rank;
  int64_t extent[TD_MAX_RANK], stride[TD_MAX_RANK];
} TdView;

/* A declared thing of a unit in a frame: the value of a scalar, or a view. */
typedef struct TdSlot {
  TdValue value;
  TdView *view;  /* NULL: not there now */
  TdView *room;  /* what view points to when it points to anything */
  TdMemory *own; /* memory of a local, kept for its next declaration */
} TdSlot;

/* Facts about a unit that are found once. Slots: parameters, coordinates, then what it declares. */
typedef struct TdUnitPlan {
  const TdUnit *unit;
  size_t nslot;
  uint32_t *slot; /* of each symbol by id, from 1; 0: not declared here */
  bool *written;  /* of each parameter: whether running the unit may write it */
} TdUnitPlan;

typedef struct TdPlan {
  const TdProg *prog;
  TdUnitPlan *unit; /* parallel to prog->unit */
  bool meets;       /* some statement holds an allreduce */
} TdPlan;

struct TdFrame {
  const TdUnitPlan *plan;
  TdFrame *up;        /* caller, or design */
  const TdTask *task; /* the instance that this is the outermost frame of, or NULL */
  TdSlot *slot;
  TdView *stream;     /* of such a frame: the design's streams as this instance sees them */
  TdGuard *guard;     /* of such a frame: of its parameters, then of these streams */
  TdMap callee;       /* unit -> frame */
  TdNetwork *network; /* of a design */
};

/* A statement under way. */
typedef struct TdCursor {
  const TdStmt *stmt;
  TdFrame *frame;
  uint32_t at;        /* BLOCK: the next statement; WHILE: 0 test, 1 run the body first */
  uint64_t left;      /* FOR: iterations to come */
  int64_t value;      /* FOR: the next value */
  const TdTime *time; /* of a loop that the clock counts, or NULL */
  uint64_t count;     /* and its iterations so far */
} TdCursor;

/* A buffer of a block stream that a task holds until the end of a scope. */
typedef struct TdHeld {
  TdChannel *channel;
  TdSlot *slot;
  uint32_t buffer;
  size_t depth; /* of the cursor stack, at the block that declares it */
  bool empty;   /* taken by slot, not yet put */
} TdHeld;

typedef enum { TD_WAITS_NOT, TD_WAITS_GET, TD_WAITS_PUT, TD_WAITS_SLOT } TdWaits;

struct TdTask {
  TdMachine *machine;
  TdFrame *base, *frame; /* outermost and innermost */
  TdNetwork *network;    /* the design whose instance this is, or NULL */
  const TdRun *run;
  uint32_t who; /* number in the network + 1 */
  int64_t id[TD_MAX_RANK];
  TD_VEC(TdCursor) stack;
  TD_VEC(TdHeld) held;
  TdWaits waits;
  TdChannel *channel;        /* that it waits for */
  const TdStmt *stopped;     /* and where */
  const TdStmt *doing;       /* the statement that runs */
  TdNetwork *awaits;         /* a design that it called */
  TdClock *clock;            /* NULL: none */
  bool again;                /* what it does next has begun before it was blocked */
  struct TdMeeting *meeting; /* an allreduce that it waits in */
};

/* Numbers in a ring, by which buffers travel. */
typedef struct TdQueue {
  uint32_t *at;
  uint32_t first, n, cap;
} TdQueue;

/* One stream: its buffers are either free, or full, or in somebody's hands. */
struct TdChannel {
  TdInputName name;    /* of the array it belongs to */
  int64_t ordinal;     /* in that array */
  const TdType *token; /* with constant extents */
  bool block;
  TdMemory *buffer;
  TdQueue free, full;
  uint64_t put, got, hash;
  TdTask *end[2];            /* who put, and who got, or tried to */
  struct TdOutside *outside; /* of a port of the root, or NULL */
  TdWire *wire;              /* NULL: no clock */
};

/* A design under way: its instances and what they share. */
struct TdNetwork {
  TdFrame *frame;
  TdTask *task;
  size_t ntask, left;  /* instances, and those that have not ended */
  int64_t ended;       /* the cycle after the last one ended */
  int64_t began, over; /* of a call: numbers of its beginning and its end (td_clock_wait) */
  TD_VEC(TdShadow *) shadow;
  TD_VEC(struct TdCopy *) copy;
};

/* Cells written under a symbolic condition, with what they held before. */
typedef struct TdOldCell {
  TdValue *cell;
  const TdType *type;
  TdValue old, then;
} TdOldCell;
typedef struct TdJournal {
  TD_VEC(TdOldCell) cell;
  TdMap seen; /* cell -> index + 1 */
} TdJournal;

typedef struct TdStateMemory {
  const char *path; /* "top.pe[0].count" */
  TdMemory *memory;
  const TdType *type;
} TdStateMemory;

struct TdMachine {
  TdArena *arena, *scratch; /* scratch is marked and released around a statement */
  TdSession *session;
  const TdPlan *plan;
  const TdDomain *domain; /* NULL: exact */
  void *domain_self;
  const TdEvalOptions *options;
  const TdMachine *before; /* the call before, of which states are taken; NULL: none */
  unsigned back;           /* how many calls come after this one */
  TdDiag *diag;
  bool failed;
  uint64_t steps;
  uint64_t choices; /* elements among which symbolic indices chose */
  TdReliances reliances;
  size_t bytes_before;
  int speculative;         /* above 0: what runs may not be reached; its faults decide nothing */
  TdJournal *journal;      /* of the innermost arm that is run to be merged */
  const TdExpr *condition; /* of that arm */
  TD_VEC(TdJournal *) journals; /* empty ones, to be used again */
  TD_VEC(TdTask *) task;        /* instances that have not ended */
  TdSlices slices;              /* of symbolic words */
  TD_VEC(TdEvalOverflow) overflow;
  TD_VEC(TdChannel *) channel; /* of all designs, in order of making */
  TD_VEC(TdStateMemory) state;
  TD_VEC(struct TdMeeting *) meeting;
  TdMap constant;           /* symbol -> memory of a constant table */
  TdNetwork *top;           /* of the root, if that is a design */
  TD_VEC(TdTask *) clocked; /* all instances, in order of making, if there are clocks */
  int64_t now;              /* when instances that are started now begin */
  int64_t ports;            /* of the memory off the chip */
  int64_t place;            /* in it: behind the arguments so far */
};

typedef enum { TD_RAN, TD_BLOCKED, TD_FAILED } TdRan;

/* plan.c: the plan of p, owned by a. */
TdPlan *td_plan_new(TdArena *a, const TdProg *p);
/* The unit of a symbol; of an extern its model, or NULL if it has none. */
const TdUnitPlan *td_plan_unit(const TdPlan *plan, TdSym unit);

/* fault.c: how a run fails; all return false (TD_FAILED is theirs to return). A fault is an illegal
 * program; in a place that a symbolic condition may not reach it is only not decided. */
bool td_fault_set(TdTask *t, const char *code, TdLoc loc, const char *fmt, ...) TD_PRINTF(4, 5);
bool td_fault_undecided(TdTask *t, TdLoc loc, const char *fmt, ...) TD_PRINTF(3, 4);
/* Fails because `what` depends on the symbolic value of e, and says which arguments to keep at
 * numbers. */
bool td_fault_symbolic(TdTask *t, TdLoc loc, const TdExpr *e, const char *what);
/* Counts n steps; false when a budget is spent. */
bool td_fault_tick(TdMachine *m, uint64_t n);
/* Whether room for so many cells is in the budget. */
bool td_fault_room(TdMachine *m, int64_t cells, TdLoc loc);
/* "gemm[0][1]", "Z[2]", "C[0][1]" of the element at an offset. Owned by the machine's arena. */
const char *td_fault_task_name(const TdTask *t);
const char *td_fault_channel_name(TdArena *a, const TdChannel *c);
const char *td_fault_element(TdArena *a, const TdMemory *x, int64_t offset);
/* "i = 1, k = 3" of the loops that t is in, innermost frame; "" outside loops. */
const char *td_fault_loops(const TdTask *t);

/* memory.c: cells and views. */
TdMemory *td_memory_new(TdArena *a, const TdType *t, const char *name);
void td_memory_clear(TdMemory *x);
/* All of x; and one element of a box by its index vector. */
TdView td_memory_view(TdMemory *x);
int64_t td_memory_offset(const TdView *v, const int64_t *index);
int64_t td_memory_count(const TdView *v);
/* Advances an index vector row-major; false at the end, when it is all zeros again. */
bool td_memory_next(const TdView *v, int64_t *index);
bool td_memory_overlap(const TdView *x, const TdView *y);
/* Whether two views of one memory are the same elements in the same order. */
bool td_memory_same_box(const TdView *x, const TdView *y);
/* Element at an offset: faults when it was never written, or on a race. Undefined: it failed. */
TdValue td_memory_read(TdTask *t, const TdView *v, int64_t offset, const TdLoc *loc);
bool td_memory_write(TdTask *t, const TdView *v, int64_t offset, TdValue x, const TdLoc *loc);
/* Writes a scalar's cell of that type, so that a merge can take it back. */
void td_memory_assign(TdMachine *m, TdValue *cell, const TdType *type, TdValue x);
/* Records that instance `who` of the guard's design wrote (or read) the element. */
bool td_memory_touch(TdTask *t, const TdGuard *g, const TdMemory *x, int64_t offset, bool write,
                     const TdLoc *loc);
/* Values of a blob, or of a tensor argument, into memory; and back. */
void td_memory_load_blob(TdArena *a, TdMemory *x, const TdBlob *b);
void td_memory_load(TdArena *a, TdMemory *x, const TdTensor *from);
void td_memory_save(const TdMemory *x, TdTensor *to);

/* scalar.c: expressions. An undefined value means that the machine failed. */
TdValue td_scalar_eval(TdTask *t, const TdExpr *e);
TdValue td_scalar_apply(TdTask *t, const TdApply *x);
TdValue td_scalar_cast(TdTask *t, const TdType *to, const TdType *from, TdValue v, TdLoc loc);
/* A concrete index, or false: failed, or not decided because it is symbolic (`what` it is for). */
bool td_scalar_index(TdTask *t, const TdExpr *e, const char *what, int64_t *v);
/* The offset of a LOAD's element in its view. */
bool td_scalar_place(TdTask *t, const TdExpr *load, const TdView **view, int64_t *offset);
/* The view that a symbol stands for, or NULL with a fault. */
const TdView *td_scalar_symbol(TdTask *t, TdSym sym, TdLoc loc);
/* The part of it that a VIEW denotes. */
bool td_scalar_view(TdTask *t, const TdExpr *e, TdView *out);
TdSlot *td_scalar_slot(const TdTask *t, TdSym sym);

/* bulk.c: tensor expressions. Writes value, a tensor or a scalar for every element, to target. */
bool td_bulk_set(TdTask *t, const TdView *target, const TdExpr *value, const TdLoc *loc);
/* The value of a TENSOR expression of scalar type. */
TdValue td_bulk_scalar(TdTask *t, const TdExpr *e);

/* The next value of an accumulator of type `type` that takes in x of type `of`. */
TdValue td_bulk_accumulate(TdTask *t, int op, const TdType *type, TdValue acc, TdValue x,
                           const TdType *of, TdLoc loc);
/* What it starts from; undefined: from the first element. */
TdValue td_bulk_start(int op);

/* meeting.c: allreduce. Blocks until every instance of the run brought its part to each allreduce
 * in statement s; from then until td_meeting_leave, td_meeting_result has what they make. */
TdRan td_meeting_join(TdTask *t, const TdStmt *s);
TdMemory *td_meeting_result(const TdTask *t, const TdExpr *allreduce);
void td_meeting_leave(TdTask *t, const TdStmt *s);

/* frame.c: the tree of frames. */
TdFrame *td_frame_new(TdMachine *m, const TdUnitPlan *u, TdFrame *up);
TdFrame *td_frame_callee(TdMachine *m, TdFrame *caller, const TdUnitPlan *u);
/* Checks the unit's assertions with its parameters bound. */
bool td_frame_check(TdTask *t, TdFrame *f);
/* Declares s->sym of s->type (of a LOCAL, GET or SLOT): fresh memory for a tensor. */
bool td_frame_declare(TdTask *t, const TdStmt *s);
/* Has a slot show v. */
void td_frame_show(TdMachine *m, TdSlot *s, const TdView *v);
/* The constant type of t at the sizes of u, or NULL with d saying which has no value. */
const TdType *td_frame_type(TdMachine *m, const TdUnit *u, const TdType *t, TdLoc loc);
bool td_frame_value(const TdUnit *u, const TdExpr *e, int64_t *v);

/* state.c: a state's memory at a frame, as the last run left it or as declared; kept when a run
 * ends well. */
TdMemory *td_state_open(TdMachine *m, const TdFrame *f, const TdStmt *local);
void td_state_keep(TdMachine *m);

/* call_out.c: a call of a foreign function without a model. */
bool td_call_out_run(TdTask *t, const TdStmt *s);

/* exec.c: statements. Enters the body of a kernel's frame. */
void td_exec_enter(TdTask *t, TdFrame *f);
/* Runs t until it blocks, ends (its stack is empty) or fails; *progress is set if anything ran. */
TdRan td_exec_run(TdTask *t, bool *progress);
/* Where a FOR begins, and how often it runs. */
bool td_exec_range(TdTask *t, const TdStmt *s, int64_t *lo, uint64_t *trips);
/* Executes a LOCAL, STORE or SET. */
TdRan td_exec_plain(TdTask *t, const TdStmt *s);

/* merge.c: an `if` on a symbolic condition. */
TdRan td_merge_if(TdTask *t, const TdStmt *s, TdValue cond);

/* channel.c: streams. An array of streams of a constant port type; false when there is no room. */
bool td_channel_array(TdMachine *m, TdSym sym, const TdType *port, int64_t depth, TdLoc loc,
                      TdView *out);
int64_t td_channel_count(const TdChannel *first);
void td_channel_reset(TdChannel *c);
TdRan td_channel_get(TdTask *t, const TdStmt *s);
TdRan td_channel_put(TdTask *t, const TdStmt *s);
TdRan td_channel_slot(TdTask *t, const TdStmt *s);
/* Gives back the buffers held at stack depths above `depth`. */
void td_channel_release(TdTask *t, size_t depth);
/* Whether what t waits for is there. */
bool td_channel_is_ready(const TdTask *t);
uint32_t td_channel_take(TdQueue *q);
void td_channel_give(TdQueue *q, uint32_t buffer);

/* outside.c: the other end of the root's ports. port: one for each stream, or NULL (symbolic). */
void td_outside_open(TdMachine *m, const TdView *array, unsigned param, TdEvalPort *port);
/* Makes the next token of outside ready, if there is one; takes away what was put. */
void td_outside_refill(TdMachine *m, TdChannel *c);
void td_outside_drain(TdMachine *m, TdChannel *c);
/* What was put, element by element, and how many tokens were got. */
const TdValue *td_outside_put(const TdChannel *c, int64_t *elements);
int64_t td_outside_got(const TdChannel *c);
void td_outside_save(TdMachine *m, const TdChannel *c, TdEvalPort *port);

/* network.c: designs. Starts the design of frame f, whose slots hold its arguments. */
bool td_network_start(TdMachine *m, TdFrame *f, TdTask *caller);
/* Runs all tasks until none is left; deadlock and leftovers fail. */
bool td_network_run(TdMachine *m);

/* copies.c: parameters with a layout. The block of t's instance, guarded; where other instances
 * hold the same block and write it, a copy. */
bool td_copies_bind(TdTask *t, const TdRunArg *b, const TdView *arg, bool written, TdGuard *guard,
                    TdView *out);
/* Stores what the copies hold at the end, which must be the same in all. */
bool td_copies_store(TdMachine *m, TdNetwork *n);

/* timed.c: gives a task, and the streams of an array that s declares (NULL: ports of the root),
 * their clocks, if the run has any; what they say at the end. */
void td_timed_task(TdMachine *m, TdTask *t);
/* Places an argument of the root in memory; notes that t reads or writes an element of one. */
void td_timed_place(TdMachine *m, TdMemory *x);
void td_timed_access(TdTask *t, const TdMemory *x, int64_t offset, bool write);
int64_t td_timed_sync(TdMachine *m);
/* Keeps the hash of a token that was put to c. */
void td_timed_token(TdMachine *m, TdChannel *c, const TdMemory *token);
void td_timed_streams(TdMachine *m, const TdView *array, const TdUnit *u, const TdStream *s);
const TdTimed *td_timed_of(TdMachine *m, const TdUnit *root);

/* deadlock.c: fails: which tasks wait for what, and the cycle; whether nobody left tokens in the
 * streams of a design, which else are told. */
bool td_deadlock_report(TdMachine *m);
bool td_deadlock_leftovers(TdMachine *m, const TdNetwork *n);

#endif
