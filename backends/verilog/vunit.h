/* vunit.h - a kernel on its way to a module: the schedule's leaves as datapaths, its loops as
 * counters and states, arrays as memories with ports. */
#ifndef TD_VUNIT_H
#define TD_VUNIT_H

#include "analysis/time/firing.h"
#include "analysis/time/sched.h"
#include "backends/verilog/verilog.h"
#include "backends/verilog/vop.h"

typedef struct TdVkLeaf TdVkLeaf;
typedef struct TdVkPort TdVkPort;

/* The bits of a leaf's number; above them is that of what runs on beside it. */
enum { TD_VK_PATH = 20 };

/* An access to a port of one bank: what drives the port while `on`. */
typedef struct TdVkSite {
  const TdVl *on, *at, *data; /* data: NULL of reads */
  size_t port;
  uint64_t leaf;
  int64_t slot; /* cycle of the leaf, or of its interval */
} TdVkSite;

/* One bank. */
typedef struct TdVkBank {
  TD_VEC(TdVkSite) site[2]; /* reads, writes */
  size_t ports[2];
  TD_VEC(TdVlSig *) q; /* what each read port gives */
} TdVkBank;

/* A write of a scalar, by leaf number `leaf`. */
typedef struct TdVkSet {
  uint64_t leaf;
  const TdVl *on, *data;
} TdVkSet;

/* What an instance touches of an argument: in dimension d from lo[d] to hi[d], moved by by[d][i]
 * times its coordinate number i; or the whole of it. */
typedef struct TdVkBox {
  bool whole[TD_MAX_RANK];
  int64_t *by[TD_MAX_RANK], lo[TD_MAX_RANK], hi[TD_MAX_RANK];
} TdVkBox;

/* Storage of a symbol: a register, or banks of a memory. */
typedef struct TdVkStore {
  TdSym sym;
  const char *name;
  const TdType *element;
  bool outside;          /* an argument: the memory is whoever's that calls */
  const TdVkBox *box;    /* then: of which it is a part; or NULL */
  const TdVkPort *block; /* buffers of a block stream, beside that end of it */
  bool scalar;
  const TdStmt *decl;        /* of a local, a table, a state */
  bool read;                 /* of a scalar: something needs it to be kept */
  TdVlSig *reg;              /* of a scalar */
  TD_VEC(TdVkSet) set;       /* what sets it, in program order */
  const TdBlob *table;       /* of a constant: what it holds */
  bool side;                 /* read and written as a whole, by tokens */
  TdVlSig *whole;            /* then: all of it, element 0 lowest */
  const TdVl *load, *loaded; /* and it becomes `loaded` while `load` */
  const TdVl *fill, *filler; /* of registers: all become `filler` while `fill` */
  int latency;               /* cycles of a read; of a local array at most 1, registers behind it */
  int rank;
  int64_t extent[TD_MAX_RANK], banks[TD_MAX_RANK], each[TD_MAX_RANK];
  TdPlacedPart part[TD_MAX_RANK];
  int64_t depth, nbank;
  TdVkBank *bank;
} TdVkStore;

/* A register that holds an element while a loop runs, and what sets it; where conditions decide
 * whether anything does, whether something did. */
typedef struct TdVkKept {
  uint64_t key;
  TdVlSig *reg, *set;
  TdVlDo *act;
} TdVkKept;

/* What a parameter of a kernel that is called stands for: a stream, or in dimension d of a store
 * base[d] + step[d] * index[out[d]]; out -1: the base alone, whose e may be NULL: 0. */
typedef struct TdVkView {
  TdSym sym, stream;
  TdVkStore *store;
  TdVlNum base[TD_MAX_RANK];
  int64_t step[TD_MAX_RANK];
  int out[TD_MAX_RANK];
} TdVkView;

/* A kernel that runs: the top, or one that is called in a place of another. */
typedef struct TdVkFrame {
  const TdUnit *unit;
  TdAsk ask;
  TD_VEC(TdVkView) view;
} TdVkFrame;

/* A call: what its last cycle hands over. */
typedef struct TdVkCall {
  const TdVkLeaf *leaf;
  const TdStmt *stmt;
  TdVkFrame *callee;
} TdVkCall;

/* A loop that runs: n counts its iterations from 0. */
typedef struct TdVkCounter {
  const void *key; /* the loop; of elements the column's place */
  const TdVkFrame *frame;
  const char *name;
  TdVlSig *n;
  int64_t trip;            /* 0: it depends */
  const TdVkLeaf *bounds;  /* what computes them, as the loop is entered; or NULL */
  TdVlNum now[2], kept[2]; /* then: first index and end, and as they stay */
  const TdStmt *loop;
  int64_t stride; /* by which its variable moves on */
} TdVkCounter;

/* A pipelined loop begins iterations, or ends those under way. */
typedef enum { TD_VK_STAY, TD_VK_RUN, TD_VK_DRAIN } TdVkStateKind;
typedef struct TdVkState {
  const char *name, *label;
  const char *note;
  int64_t length;
  const TdVkLeaf *leaf;
  bool waits; /* its last cycle is one more, for puts that are left */
  TdVkStateKind kind;
} TdVkState;

/* A step of control: docs of vplan.c. */
typedef enum {
  TD_VK_CLEAR,
  TD_VK_STATE,
  TD_VK_BRANCH,
  TD_VK_NEXT,
  TD_VK_JUMP,
  TD_VK_FREE,
  TD_VK_END
} TdVkOpKind;
/* What a branch tests: what is given; a loop has no iteration, or none more; a test is false; a
 * BREAK or RETURN was met. */
typedef enum {
  TD_VK_GIVEN,
  TD_VK_EMPTY,
  TD_VK_OVER,
  TD_VK_FALSE,
  TD_VK_BROKEN,
  TD_VK_RETURNED
} TdVkWhen;
typedef struct TdVkOp {
  TdVkOpKind kind;
  TdVkWhen when;
  size_t counter, state, target;
  const TdVl *test;
  const TdVkLeaf *leaf; /* BRANCH: it has no puts left, if nothing else is said */
  const TdStmt *stmt;   /* FREE: what got the buffer */
  const TdVkFrame *frame;
} TdVkOp;
/* Operations that lead to one place. */
typedef TD_VEC(size_t) TdVkExits;

/* What moves a token of an end of streams in which cycle; which: NULL of a single one. */
typedef struct TdVkDrive {
  const TdVl *on, *which, *data;
} TdVkDrive;
/* An end of a stream, or of `count` of them side by side. Of tokens of several beats `ready`,
 * `data` and `last` (the last beat is now, or none is under way) are what gathers or spreads them
 * says, `move` and `given` what it is told. */
struct TdVkPort {
  TdSym sym;
  const char *name;
  bool put;
  bool block, spare; /* of a block stream: tokens are numbers of buffers, full or free ones */
  int64_t depth;     /* so many of them */
  TdVkStore *memory; /* of full ones: that of their elements */
  int width, part;   /* of a token, of a beat */
  int64_t count, beats;
  TdVlSig *ready, *data, *last, *move, *given;
  const TdVl *done; /* of held tokens: what was got is used */
  TD_VEC(TdVkDrive) drive;
};

/* A buffer of a block stream that a statement got or took: its number, and its stream's in a row
 * (NULL: there is one), from the cycle on in which it comes. */
typedef struct TdVkBuffer {
  const TdStmt *stmt;
  const TdVkFrame *frame;
  TdVkPort *from, *back; /* back: of a GET */
  TdVlSig *latch, *number, *which, *member;
  TdVlSig *held, *over; /* of a GET: it holds one; its scope ended in the cycle before */
} TdVkBuffer;

/* A get of a firing: whether it happened while others still wait, and its token then (NULL: a
 * buffer, which has a latch of its own). */
typedef struct TdVkGot {
  const TdReach *reach;
  TdVlSig *flag, *latch, *begun; /* begun: of tokens of several beats, that the first one came */
  const TdVl *on, *which;        /* its condition, or NULL; which of a row of streams */
  const TdVl *take, *now;        /* it begins in this cycle; its token is there in this cycle */
} TdVkGot;
typedef struct TdVkFiring {
  const TdFiring *time;
  TD_VEC(TdVkGot) got;
  TD_VEC(const TdReach *) put;
  const TdVl **fixed;      /* of each put: the stream of a row, where it is known */
  TdVlSig *credit, *fired; /* fired: it started, and its stage still stands */
  const TdVl *takes;       /* it needs a credit in this iteration; NULL: always */
  const TdVl *some;        /* it has an entry in this iteration; NULL: always */
  const TdVl *start;
  TdVkLeaf *path; /* what it computes, which runs on where a later firing waits; or NULL */
} TdVkFiring;

/* Straight code, or a pipelined loop. */
struct TdVkLeaf {
  size_t number;
  const TdSchedStep *step;
  TdVkFrame *frame;
  const TdTrace *t;
  const TdTime *time;
  const char *name;
  bool pipe, fills;
  int64_t ii;
  size_t state;   /* in which it runs */
  const TdVl *go; /* of PIPE: an iteration begins in this cycle */
  TD_VEC(const TdVl *) valid;
  TD_VEC(size_t) nest; /* counters that move while it runs, innermost last */
  size_t element;      /* first counter of its columns without a name, plus 1 */
  size_t nelement;     /* how many they are */
  TdMap value;         /* node and cycle -> TdVl * */
  TD_VEC(TdVkKept) kept;
  TdVlDo *wait; /* registers between cycles */
  TD_VEC(TdVkFiring *) firing;
  int64_t front;    /* the last cycle in which a firing may be held up */
  TdVlSig *stall;   /* it is; NULL: it never is */
  TdVlSig *pending; /* puts are left after this cycle */
  TdVlSig *left;    /* of PIPE: BREAK or RETURN is met, or NULL; then */
  int64_t left_at;  /* in which cycle of an iteration */
  /* Of a path: the leaf, of whose cycle `root` it goes on when `go` is. */
  TdVkLeaf *main;
  int64_t root;
  /* The token that it computes element by element; that it puts, which another leaf computed. */
  const TdPlaced *makes, *computed;
};

typedef struct TdVkUnit {
  TdArena *arena;
  TdVlModule *m;
  const TdProg *prog;
  const TdUnit *unit; /* the module's */
  TdVkFrame *frame;   /* at hand */
  TdSched *sched;
  const TdTimes *times;
  TdDiag *diag;
  bool placeless, held, free, boxes; /* as TdVlogProg says */
  TD_VEC(TdVkStore *) store;
  TD_VEC(TdVkCounter) counter;
  TD_VEC(TdVkCall) call;
  TD_VEC(TdSym) side;    /* arrays that tokens read or write as a whole */
  TD_VEC(int64_t) early; /* calls, and (below 0) counters with bounds, in the order of the plan */
  TD_VEC(TdVkState) state;
  TD_VEC(TdVkOp) op;
  TD_VEC(TdVkLeaf *) leaf;
  TD_VEC(TdVkPort *) port;
  TD_VEC(TdVkBuffer *) buffer;
  const TdStmt *scope;                   /* the block whose statements are planned */
  int64_t holds, holds_loop, holds_unit; /* buffers that scopes hold; around the loop, the unit */
  TdVkExits *breaks, *returns;           /* of the loop and the unit at hand */
  TdMap scalar;                          /* symbol -> TdVlSig * of parameters and coordinates */
  TdMap handed; /* symbol -> TdVlDo * that sets the register of a called kernel's parameter */
  TdVlSig *clk, *rst, *start, *busy, *at, *tick;
  int tick_width, at_width;
} TdVkUnit;

/* Refuses, returning false. */
bool td_vunit_refuse(TdVkUnit *k, const char *code, TdLoc loc, const char *help, const char *fmt,
                     ...) TD_PRINTF(5, 6);
/* "file.lua:12" */
const char *td_vunit_place(const TdVkUnit *k, TdLoc loc);

/* vform.c: numbers of indices. The counter of a loop, made if it is new. */
size_t td_vform_counter(TdVkUnit *k, const void *key, const char *name, const TdStmt *loop,
                        int64_t trip, int64_t most, int64_t stride);
/* A form of the trace of leaf l in a cycle, modulo 2^width; as an exact number. */
const TdVl *td_vform_bits(TdVkUnit *k, TdVkLeaf *l, TdAff f, int64_t cycle, int width);
TdVlNum td_vform_num(TdVkUnit *k, TdVkLeaf *l, TdAff f, int64_t cycle);
/* First index and end of a loop, as it is entered or while it runs. False: refused. */
bool td_vform_bounds(TdVkUnit *k, const TdVkCounter *c, bool first, TdVlNum *lo, TdVlNum *hi);

/* vdata.c: a value in a cycle of leaf l, from its start on. e NULL with the diagnostic filled. */
TdVlNum td_vdata_value(TdVkUnit *k, TdVkLeaf *l, TdTraceValue v, int64_t cycle);
/* x of cycle `from` when it is needed in cycle `to`. */
const TdVl *td_vdata_delay(TdVkUnit *k, TdVkLeaf *l, const char *name, const TdVl *x, int64_t from,
                           int64_t to, uint64_t key);
/* Element `at` of a tensor as large as p that was got. */
TdVlNum td_vdata_element(TdVkUnit *k, TdVkLeaf *l, TdTraceValue x, const TdPlaced *p,
                         const TdAff *at, int64_t cycle);
/* All that leaf l writes. */
bool td_vdata_writes(TdVkUnit *k, TdVkLeaf *l);

/* Whether an iteration stands in cycle c; whether it goes on from there. */
const TdVl *td_vdata_there(TdVkUnit *k, TdVkLeaf *l, int64_t c);
const TdVl *td_vdata_moves(TdVkUnit *k, TdVkLeaf *l, int64_t c);

/* vlocal.c: whether an array is made anew by each iteration of a leaf; what read r of it, which
 * begins in a cycle, gives then. */
bool td_vlocal_is(const TdVkLeaf *l, const TdPlaced *p);
TdVlNum td_vlocal_read(TdVkUnit *k, TdVkLeaf *l, const TdReach *r, int64_t cycle);

/* vtask.c: what moves tokens. Whether a trace has any; the firings of a leaf, before and after its
 * datapath is asked for; what a get gives, from when on; the ports in the end. */
int64_t td_vtask_start(const TdVkLeaf *l, const TdReach *r);
/* Notes the arrays that leaf l hands over as a whole. */
void td_vtask_find_side(TdVkUnit *k, const TdVkLeaf *l);
bool td_vtask_has_tokens(const TdTrace *t);
bool td_vtask_open(TdVkUnit *k, TdVkLeaf *l);
bool td_vtask_leaf(TdVkUnit *k, TdVkLeaf *l);
TdVlNum td_vtask_got(TdVkUnit *k, TdVkLeaf *l, const TdReach *r);
/* The condition of an access in a cycle: NULL is always. False: refused. */
bool td_vtask_guard(TdVkUnit *k, TdVkLeaf *l, const TdReach *r, int64_t cycle, const TdVl **out);

/* vpace.c: when the module's tokens move. */
TdVlogPace td_vpace_unit(const TdVkUnit *k);

/* vput.c: the put units of a leaf; adds whether puts are left after this cycle to *pending. */
bool td_vput_leaf(TdVkUnit *k, TdVkLeaf *l, const TdVl **pending);

/* vport.c: an end of streams that leaf l names, made if it is new. Of a row, the number of the
 * stream that r names in a cycle (NULL: there is one); whether a token may move there, the token
 * that is there, whether the last beat of one is now or none is under way (NULL: tokens have one
 * beat). Whether two numbers are the same (NULL: they are). */
TdVkPort *td_vport_of(TdVkUnit *k, const TdVkLeaf *l, const TdReach *r);
const TdVl *td_vport_which(TdVkUnit *k, TdVkLeaf *l, const TdReach *r, int64_t cycle);
const TdVl *td_vport_ready(TdVkUnit *k, const TdVkPort *p, const TdVl *which);
const TdVl *td_vport_data(TdVkUnit *k, const TdVkPort *p, const TdVl *which);
const TdVl *td_vport_last(TdVkUnit *k, const TdVkPort *p, const TdVl *which);
const TdVl *td_vport_same(TdVkUnit *k, const TdVl *x, const TdVl *y);
/* A new end through which buffers that come from `port` are given back. */
TdVkPort *td_vport_back(TdVkUnit *k, const TdVkPort *port);
/* Their pins, once all that moves tokens is known. */
void td_vport_finish(TdVkUnit *k);

/* vbuffer.c: what the statements of all leaves get of block streams, as views of memories; false:
 * refused. What got a buffer, or NULL; whether a reach does; notes one that is got or taken. */
bool td_vbuffer_open(TdVkUnit *k);
TdVkBuffer *td_vbuffer_of(TdVkUnit *k, const TdVkFrame *f, const TdStmt *s);
bool td_vbuffer_is(const TdReach *r);
void td_vbuffer_take(TdVkUnit *k, TdVkBuffer *b, const TdVkGot *got);
/* The number of the buffer that a put of leaf l hands over. NULL: refused. */
const TdVl *td_vbuffer_handed(TdVkUnit *k, const TdVkLeaf *l, const TdReach *r);
/* What each cycle of control begins with; the end of a buffer's scope, as the next cycle begins;
 * gives back what was held, in the end. */
void td_vbuffer_begin(TdVkUnit *k, TdVlDo *out);
void td_vbuffer_end(TdVkUnit *k, const TdVkOp *op, TdVlDo *out);
void td_vbuffer_finish(TdVkUnit *k);

/* vbox.c: the box of an argument that all leaves touch, NULL: the whole; index f, in it. */
TdVkBox *td_vbox_of(TdVkUnit *k, const TdPlaced *p);
TdAff td_vbox_inside(const TdVkUnit *k, const TdVkBox *x, const TdTrace *t, int d, TdAff f);

/* vstore.c: the storage of what a trace names; reads and writes of it. */
TdVkStore *td_vstore_of(TdVkUnit *k, const TdVkFrame *f, const TdPlaced *p);
/* The memory beside an end of block streams, whose buffers are as p; NULL: refused. */
TdVkStore *td_vstore_block(TdVkUnit *k, TdVkPort *port, const TdPlaced *p, TdLoc loc);
/* What a parameter of a called kernel stands for; NULL: itself. */
const TdVkView *td_vstore_view(const TdVkFrame *f, TdSym sym);
TdVlNum td_vstore_read(TdVkUnit *k, TdVkLeaf *l, const TdPlaced *p, const TdAff *at, int64_t cycle,
                       const TdVl *on, int64_t slot);
void td_vstore_write(TdVkUnit *k, TdVkLeaf *l, const TdPlaced *p, const TdAff *at, int64_t cycle,
                     const TdVl *on, int64_t slot, TdVlNum v);
/* Writes data to word `at` of all banks (NULL: to all elements, or the only word) while `on`. */
void td_vstore_fill(TdVkUnit *k, TdVkLeaf *l, const TdPlaced *p, const TdVl *on, const TdVl *at,
                    const TdVl *data);
/* All of an array that is kept side by side, element 0 lowest; has it become `all` while `on`. */
TdVlNum td_vstore_whole(TdVkUnit *k, TdVkLeaf *l, const TdPlaced *p);
void td_vstore_load(TdVkUnit *k, TdVkLeaf *l, const TdPlaced *p, const TdVl *on, const TdVl *all);
/* The number of an element of p in row-major order, in a cycle. */
const TdVl *td_vstore_number(TdVkUnit *k, TdVkLeaf *l, const TdPlaced *p, const TdAff *at,
                             int64_t cycle);
/* Ports, memories and registers, once all accesses are known. */
void td_vstore_finish(TdVkUnit *k);

/* vcall.c: what a call hands over. */
bool td_vcall_open(TdVkUnit *k, const TdVkCall *c);

/* vplan.c: the unit's steps as operations. */
bool td_vplan_unit(TdVkUnit *k, const TdSchedStep *x);

/* vjump.c: BREAK and RETURN in pipelined loops: when one is met; what control does then, where
 * operation `next` follows the loop; whether it was left by RETURN, in its last cycle. */
void td_vjump_open(TdVkUnit *k, TdVkLeaf *l);
bool td_vjump_leaf(TdVkUnit *k, TdVkLeaf *l);
TdVlDo *td_vjump_act(TdVkUnit *k, const TdVkLeaf *l, size_t next);
const TdVl *td_vjump_returned(TdVkUnit *k, TdVkLeaf *l);

/* vcontrol.c: what happens from operation `at` on until the next state. */
void td_vcontrol_walk(TdVkUnit *k, size_t at, TdVlDo *out);
/* The registers of control, after which states may be referred to; then what branches
 * test; and what each state does, in the end. */
bool td_vcontrol_open(TdVkUnit *k);
bool td_vcontrol_tests(TdVkUnit *k);
void td_vcontrol_finish(TdVkUnit *k);

#endif
