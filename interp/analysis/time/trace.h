/* trace.h - statements with all loops inside them laid out side by side, as a graph of operations:
 * what one iteration of a pipelined loop does, or a stretch of straight code. Values are computed
 * once, elements are read once while nothing may have changed them, and a store that another one
 * hides is none. */
#ifndef TD_ANALYSIS_TIME_TRACE_H
#define TD_ANALYSIS_TIME_TRACE_H

#include "affine/access.h"
#include "analysis/time/flow.h"
#include "analysis/time/target.h"

/* A value: affine over the columns of the trace, there from the start; or what a node gives. */
typedef struct TdTraceValue {
  uint32_t node; /* 0 if affine */
  bool affine;
  TdAff form;
} TdTraceValue;

/* How a column of an index changes from one iteration of the loop to the next. */
typedef enum { TD_COLUMN_STILL, TD_COLUMN_STEPS, TD_COLUMN_WILD } TdColumnKind;

typedef struct TdColumn {
  TdColumnKind kind;
  uint32_t node;      /* what computes it, or 0 */
  TdSym sym;          /* what it stands for; or NULL */
  const TdStmt *loop; /* whose iterations it counts, or NULL: the variable is lo + step * it */
  const TdStmt *low;  /* whose first index it is, which data decides, or NULL */
  /* What it is the quotient of by a constant, or (`rest`) the remainder; by is 0: neither. */
  TdAff of;
  int64_t by;
  bool rest;
} TdColumn;

/* An element of an array, as the trace names it. */
typedef struct TdSpot {
  const TdAff *at;  /* one form for each dimension */
  uint32_t line;    /* the spots whose forms differ in constants only */
  bool known, kept; /* `now` is its value; its last store was read from memory */
  bool hoisted;     /* the same in all iterations: a register while the loop runs */
  int64_t turn[2];  /* then: its number, from 1, among those loaded, and those stored */
  TdTraceValue now;
  uint32_t store; /* number of its last store, or (a stream) token in reach[], plus 1 */
} TdSpot;

typedef enum { TD_PART_NONE, TD_PART_CYCLIC, TD_PART_BLOCK, TD_PART_COMPLETE } TdPlacedPart;

/* An array, a scalar, or one end of a stream. */
typedef struct TdPlaced {
  TdSym sym;
  TdCellKind kind; /* MEMORY, GET, PUT */
  const TdStmt *decl;
  int rank;
  int64_t extent[TD_MAX_RANK];
  TdPlacedPart part[TD_MAX_RANK];
  int64_t banks[TD_MAX_RANK];
  int64_t ports;         /* of one bank; 0: any number */
  int32_t read;          /* cycles of a read */
  int64_t bytes;         /* that an argument's port moves in a cycle; 0: any number */
  int64_t users;         /* instances that take turns at it */
  int width;             /* bits of an element */
  const TdType *element; /* of a stream: of its tokens */
  int64_t tokens;        /* elements of one of its tokens */
  uint32_t number;       /* in placed[] */
  int64_t turns[2];      /* hoisted elements that are loaded, and stored */
  bool fresh;            /* made in the trace */
  bool buffer;           /* of a block stream, got or taken in the trace: shared memory */
  bool registers, written, filled;
  bool token;   /* fill is a tensor that was got, not one value for all */
  bool partial; /* and a condition may have left what the array held before */
  bool handed;  /* by a stream of blocks, as it is: no element moves */
  TdTraceValue fill;
  uint32_t filler; /* the node of that write, or what a buffer is got by; or 0 */
  TD_VEC(TdSpot) spot;
  TD_VEC(uint32_t) line; /* first spot of each */
} TdPlaced;

/* In place of a spot: all elements. */
#define TD_TRACE_ALL UINT32_MAX

/* An access that reaches a memory or a stream. Which port of which bank it takes is in the uses of
 * its node. */
typedef struct TdReach {
  TdPlaced *array;
  uint32_t spot, node;
  bool write, dead; /* dead: hidden by a later store, or in a register after all */
  bool slot;        /* takes a buffer of a block stream */
  bool token;       /* writes a tensor that was got */
  int64_t beats;    /* how often it takes a port of a bank */
  const TdStmt *stmt;
  bool hidden;                  /* by a later store */
  uint32_t guard;               /* the condition under which it happens: a node, or 0 */
  TdTraceValue value;           /* what is written */
  TD_VEC(TdTraceValue) element; /* of a put of a tensor that is known element by element */
  uint32_t before;              /* a token: number of the one before it in its spot, plus 1 */
  const TdFlowArm *arm;
} TdReach;

/* What a node computes, for those who build it. Operands are values of whatever type they have: a
 * cast that changes a value is a node of its own. */
typedef enum {
  TD_TRACE_JOIN,      /* nothing: it waits */
  TD_TRACE_LITERAL,   /* `literal` */
  TD_TRACE_PARAMETER, /* `sym`, a scalar that is no whole number */
  TD_TRACE_OPERATOR,  /* op of x[0].. x[n - 1] */
  TD_TRACE_CONVERT,   /* x[0] as `type` */
  TD_TRACE_CHOOSE,    /* x[1] if x[0], else x[2] */
  TD_TRACE_FROM_ZERO, /* 0 + x[0] of floats, which takes the sign of -0 away */
  TD_TRACE_BOTH,      /* conditions: x[0] and x[1], x[0] or x[1], not x[0] */
  TD_TRACE_EITHER,
  TD_TRACE_NOT,
  TD_TRACE_ACCESS,  /* reach[reach]: what is read or got there */
  TD_TRACE_ELEMENT, /* of x[0], a tensor that was got: the one at `at` of `array` */
  TD_TRACE_FOREIGN
} TdTraceWhat;
typedef struct TdTraceCell {
  TdTraceWhat what;
  uint8_t op, n; /* op: TdOp */
  const TdType *type;
  int bits; /* of the value that are right: the low ones */
  TdTraceValue x[4];
  uint64_t literal;
  uint32_t reach;
  TdSym sym;
  const struct TdPlaced *array;
  const TdAff *at;
  const TdStmt *stmt; /* that it is of */
} TdTraceCell;

/* What a run meets, in the order of the program: a token, or (reach 0) copy number `copy` of an
 * unrolled body, or a call, that tokens lie in. */
typedef struct TdTraceEvent {
  const TdStmt *stmt;
  int64_t copy;
  uint32_t reach, firing; /* reach: number, plus 1 */
} TdTraceEvent;

/* A firing: gets that follow each other and none of which needs another, what is computed of them,
 * and the puts that follow. */
typedef struct TdTraceFiring {
  uint32_t start;       /* node: without gets */
  TD_VEC(uint32_t) get; /* numbers in reach[] */
  TD_VEC(uint32_t) put;
} TdTraceFiring;

/* The condition under which a BREAK or RETURN has been met: a node, or (`always`) any. */
typedef struct TdTraceLeft {
  bool any, always;
  uint32_t when;
} TdTraceLeft;

/* An operator at a node. */
typedef struct TdTraceOp {
  TdOperator op;
  uint32_t node;
  const TdStmt *stmt;
} TdTraceOp;

typedef struct TdTrace {
  const TdAsk *ask;
  const TdTarget *target;
  const TdStmt *loop; /* the loop that it is an iteration of, or NULL */
  int64_t stride;     /* by which its variable moves on */
  TdArena *arena;
  TdSession *session;
  TdSpace *space; /* columns; column[] tells about them */
  TdFlow flow;
  TD_VEC(TdColumn) column;
  TD_VEC(TdTraceCell) cell; /* parallel to flow.node */
  TD_VEC(TdTraceOp) op;
  TD_VEC(TdReach) reach;
  TD_VEC(TdPlaced *) placed;
  TD_VEC(TdTraceEvent) event;
  TD_VEC(TdTraceFiring) firing;
  TD_VEC(TdTraceValue) result;  /* of tests: what each expression is worth */
  TdTraceLeft broken, returned; /* BREAK of a loop around, and RETURN of the unit */
  uint32_t jump;                /* of a pipelined loop: after both are known; or 0 */
  uint64_t spent;               /* on questions about distances */
  /* while it is made */
  const TdUnit *unit; /* whose statements are laid out now */
  const TdStmt *stmt;
  uint32_t guard; /* the condition under which they run, or 0 */
  const TdFlowArm *arm;
  uint32_t conditions; /* how many were laid out */
  TdMap bound;         /* TdSym -> TdTraceBound * */
  TdMap same;          /* hash of an operation or a column -> its number */
  TdMap spots;         /* hash of array and forms -> spot */
  TdDiag *diag;
  /* hoisted elements: what entering and leaving the loop moves */
  int64_t loads, stores;
  bool reloads;       /* none: what stays is read in each iteration, as loops around run on */
  int64_t multiplies; /* products of two values that are not known */
} TdTrace;

/* What a trace is of: n statements; an iteration of `loop`, `lanes` of them side by side, or of
 * nothing (NULL, and one lane). */
typedef struct TdTraced {
  const TdStmt *loop;
  int64_t lanes;
  const TdStmt *const *s;
  size_t n;
} TdTraced;

/* A trace of statements of q->unit. All of it is in q->arena. False: it cannot be laid out, and d
 * says why. */
bool td_trace_of(const TdAsk *q, const TdTarget *t, TdTraced what, TdTrace *out, TdDiag *d);
/* The same for one element of what a SET, a local with a tensor as its value, or a PUT computes;
 * for a PUT without what it computes, which is result[0] of the first. */
bool td_trace_of_element(const TdAsk *q, const TdTarget *t, const TdStmt *s, TdTrace *out,
                         TdDiag *d);
bool td_trace_of_token(const TdAsk *q, const TdTarget *t, const TdStmt *s, TdTrace *out, TdDiag *d);
/* The same for the expressions of s alone, whose values are in result[]: the test of an IF or
 * WHILE, the bounds of a FOR, of a CALL its scalar arguments and the indices of its views, whose
 * arrays are in placed[]. */
bool td_trace_of_tests(const TdAsk *q, const TdTarget *t, const TdStmt *s, TdTrace *out, TdDiag *d);
/* How many instances of tasks of design d are given an argument. A kernel that stands for some of
 * them alone says it in this argument of bytes_per_cycle. */
int64_t td_trace_users(const TdUnit *d, TdSym arg);
enum { TD_TRACE_TURNS = 1 };
/* The memory of a constant table or a state of q->unit. */
const TdPlaced *td_trace_storage(const TdAsk *q, const TdTarget *t, const TdStmt *decl);

/* ---- while a trace is made ---- */

/* What a symbol stands for: a value, or a part of an array. */
typedef struct TdTraceBound {
  TdTraceValue value;
  TdPlaced *array; /* or NULL */
  int rank;        /* of the array; how it is addressed is as in a VIEW, lo instead of kids */
  const TdAff *lo;
  const TdViewDim *dim;
} TdTraceBound;

/* trace.c */
/* trace_op.c */
/* A constant, and node n. */
TdTraceValue td_trace_const(int64_t v);
TdTraceValue td_trace_node(uint32_t n);
/* The form of a value as an index: a column of its own if it is not affine. */
TdAff td_trace_form(TdTrace *t, TdTraceValue v);
/* Notes what the node just made computes. */
void td_trace_note(TdTrace *t, uint32_t node, TdTraceCell what);
/* A condition of one or two others: nodes. */
uint32_t td_trace_condition(TdTrace *t, TdTraceWhat what, uint32_t x, uint32_t y);
/* BREAK or RETURN: what follows does not happen where they do. Whether it may happen at all, and
 * the condition under which it does: `outer`, and nothing was left. */
void td_trace_leave(TdTrace *t, TdTraceLeft *left);
bool td_trace_goes_on(const TdTrace *t);
uint32_t td_trace_rest(TdTrace *t, uint32_t outer);
/* What computes a value, or the index that it stands for: a node, or 0. */
uint32_t td_trace_source(const TdTrace *t, TdTraceValue v);
/* The column of a key, made as `what` if it is new. */
TdTraceValue td_trace_column(TdTrace *t, const void *key, TdColumn what);
/* A scalar parameter that is no whole number; a literal; an operator of kids x, on as many bits as
 * matter. */
TdTraceValue td_trace_parameter(TdTrace *t, TdSym sym, const TdType *type);
TdTraceValue td_trace_literal(TdTrace *t, const TdType *type, uint64_t bits);
/* What a reduction by op has after its first term x: sums start at 0. */
TdTraceValue td_trace_first_term(TdTrace *t, TdOp op, const TdType *type, TdTraceValue x);
TdTraceValue td_trace_op(TdTrace *t, const TdExpr *e, int want, const TdTraceValue *x);
TdTraceValue td_trace_cast(TdTrace *t, const TdExpr *e, TdTraceValue x);
/* A choice between two values, b bits wide. */
TdTraceValue td_trace_mux(TdTrace *t, uint32_t cond, TdTraceValue x, TdTraceValue y,
                          const TdType *type);
/* Equal values have equal hashes, and 64 bits keep others apart. */
uint64_t td_trace_hash(TdTraceValue v);

/* trace_memory.c */
/* What `sym` is declared as, made if it is met for the first time: from outside the trace. */
TdTraceBound *td_trace_array(TdTrace *t, TdSym sym, TdCellKind kind);
void td_trace_bind(TdTrace *t, TdSym sym, TdCellKind kind, TdTraceBound *b);
/* A new array for a local declared here. */
TdTraceBound *td_trace_declare(TdTrace *t, TdSym sym, const TdType *type, const TdStmt *decl);
/* The forms of an element of what b stands for, index vector x; into at, one for each dimension. */
void td_trace_address(TdTrace *t, const TdTraceBound *b, const TdTraceValue *x, TdAff *at);
TdTraceValue td_trace_load(TdTrace *t, TdPlaced *p, const TdAff *at);
void td_trace_store(TdTrace *t, TdPlaced *p, const TdAff *at, TdTraceValue v, const TdType *type);
/* One token, `beats` cycles long, at an end of a stream, of a value; or a slot for one. */
typedef enum { TD_TOKEN_GET, TD_TOKEN_SLOT, TD_TOKEN_PUT } TdTokenKind;
TdTraceValue td_trace_token(TdTrace *t, TdPlaced *p, TdTokenKind kind, const TdAff *at,
                            int64_t beats, TdTraceValue value);
/* Writes all of an array, as fast as its banks take it: a value, or (`token`) a tensor's. */
void td_trace_fill(TdTrace *t, TdPlaced *p, TdTraceValue v, bool token);
/* Element `at` of a tensor v that was got, as large as p. */
TdTraceValue td_trace_element(TdTrace *t, const TdPlaced *p, TdTraceValue v, const TdAff *at);
/* Reads all elements of a view of p, or false: where they have to be read one by one, since some
 * have a value of their own or lie in banks of which the view has a part. */
bool td_trace_drain(TdTrace *t, TdPlaced *p, const TdExpr *view, TdTraceValue *v);
/* p is a buffer of a block stream, there once `node` was got or taken; the put of one, the newest
 * node, waits for what is written to it. */
void td_trace_take(TdPlaced *p, uint32_t node);
void td_trace_hand(TdTrace *t, TdSym buffer);
/* The put just made is of a tensor of n elements, for which it waits. */
void td_trace_compose(TdTrace *t, TdTraceValue *x, size_t n);
/* All of an array is what v is: foreign code perhaps wrote it. */
void td_trace_forget(TdPlaced *p, TdTraceValue v);
/* Whether two spots are different elements, in every iteration (`always`) or in each one. */
bool td_trace_is_apart(const TdTrace *t, const TdPlaced *p, const TdSpot *x, const TdSpot *y,
                       bool always);

/* trace_firing.c */
/* The firing of the next get (or put), which waits for n nodes: the last one, or a new one. */
uint32_t td_trace_firing(TdTrace *t, bool get, const uint32_t *after, size_t n);
/* Adds the token that reach[] ends with to it, in order after those before it. */
void td_trace_join(TdTrace *t, uint32_t firing);
/* A copy, or a call, begins, where events are n; then forgets it again if no token came. */
size_t td_trace_mark(TdTrace *t, const TdStmt *s, int64_t copy);
void td_trace_unmark(TdTrace *t, size_t n);
/* Has what is computed wait for all gets of its firing, puts for all their values, and iterations
 * for each other. */
void td_trace_fire(TdTrace *t);
/* A firing as settled: the cycle of its first get, its start, and its first put and the end of its
 * last one after that. */
typedef struct TdFiringTimes {
  int64_t from, at, latency, span;
} TdFiringTimes;
/* The times of firing k; the cycles of the leaf, in the last of which something ends. */
TdFiringTimes td_trace_times(const TdTrace *t, size_t k);
int64_t td_trace_length(const TdTrace *t);

/* trace_carry.c */
/* Arrays that are made in the trace and never read from memory are no memories. */
void td_trace_trim(TdTrace *t);
/* Does that, takes invariant elements out of the loop, and makes iterations wait for what earlier
 * ones store; the loop runs at most `trip` times. */
void td_trace_carry(TdTrace *t, int64_t trip);
/* What stays is loaded before the loop, or stored after it, through the ports of one bank for each
 * array: the cycle of an element, from 0; how many cycles there are. */
int64_t td_trace_turn(const TdReach *r);
int64_t td_trace_turns(const TdTrace *t, bool write);

/* A statement that reads what may be written in the same cycle, which takes no time on `ideal`
 * alone; or NULL. */
const TdStmt *td_trace_reads_at_once(const TdTrace *t);
/* trace_hazard.c: as settled, adds waits of writes for accesses before them that they would
 * overtake; whether there were any. The last cycle in which each node may begin for what is written
 * after it. */
bool td_trace_hazards(TdTrace *t);
int64_t *td_trace_latest(const TdTrace *t);

/* ---- questions about a trace ---- */

/* trace_query.c */
/* The loops that count iterations, outermost first, and what one step of each counts; the last is
 * the trace's own. */
typedef struct TdTraceNest {
  const TdStmt *const *loop;
  const int64_t *weight;
  size_t n;
} TdTraceNest;
/* The least number of iterations from a store of line `from` of p to a read of line `to`, in a
 * later iteration of the outermost of the loops; 0: never. */
int64_t td_trace_distance(TdTrace *t, const TdPlaced *p, uint32_t from, uint32_t to,
                          const TdTraceNest *nest);
/* The least and greatest value of a form. */
bool td_trace_range(TdTrace *t, TdAff f, int64_t *lo, int64_t *hi);

/* trace_ports.c: the cycles that the ports of the busiest bank need; *busy is an access there and
 * *count how many there are, *busy NULL if none is needed. */
int64_t td_trace_ports(TdTrace *t, const TdReach **busy, int64_t *count);
/* Has accesses take ports of the banks that they may reach. */
void td_trace_place(TdTrace *t);

#endif
