/* stp_machine.h - the state of a run: values, channels, machines. Seen by the files of a run. */
#ifndef TD_STP_MACHINE_H
#define TD_STP_MACHINE_H

#include "step/stp_run.h"

/* ---- values: a pool of counted records ---- */

typedef uint32_t TdStpVal; /* 0: none */

typedef struct TdStpItem {
  int64_t time;
  TdStpVal val;       /* 0 where from > 0 */
  int16_t stop, from; /* from > 0: nothing, closes levels from .. stop */
} TdStpItem;

/* Where a tile lies: in a memory unit of its reader's, in scratchpad k (TD_STP_MU_PAD + k). */
enum { TD_STP_MU_OWN = 1, TD_STP_MU_PAD };

typedef struct TdStpRecord {
  uint32_t refs, next; /* next free */
  uint8_t kind;
  uint16_t mu; /* whoever reads it loads it: from a memory unit of its own, or a scratchpad */
  uint8_t size_class; /* of data */
  const TdType *elem; /* of a tile */
  int64_t rows, cols, vrows, vcols;
  int64_t number;       /* of an integer [1, 1] tile */
  const int32_t *index; /* of a selector */
  unsigned char *data;  /* of a tile, dense */
  TdStpItem *item;      /* of a buffer; of a tuple its parts */
  uint32_t nitem, cap;
} TdStpRecord;

/* ---- channels ---- */

typedef struct TdStpChan {
  TdStpItem *item; /* a ring */
  uint32_t cap, head, count;
  int64_t *credit; /* a ring by number of element: when its place was free */
  uint32_t ccap;
  int64_t put, got, most, depth;
  uint32_t from, to; /* machines */
  bool closed;
  int64_t closed_at;
  TD_VEC(int64_t) put_at, got_at; /* kept events */
} TdStpChan;

/* Where a machine puts: a channel, or none; counts what passes. */
typedef struct TdStpPort {
  uint32_t chan;                 /* UINT32_MAX: none */
  int64_t seen[TD_STP_RANK + 1]; /* elements; lists of level l closed */
  int64_t most_rows, most_cols;
  int64_t *open; /* of an assumed shape: elements of each open list; NULL: none */
  const TdStpNode *assumed;
  TdStpOutput *tap;
} TdStpPort;

typedef enum { TD_STP_EMPTY, TD_STP_FULL, TD_STP_BY_MEMORY, TD_STP_BY_ARRIVAL } TdStpWhy;

typedef struct TdStpRun TdStpRun;
typedef struct TdStpMachine TdStpMachine;

/* An access to a tile: requests that are left to be handed over, asks without an answer, the cycles
 * in which it was asked for, answered (-1: not yet) and given. */
typedef struct TdStpFlight {
  TdStpItem item;
  int64_t number, left, waits, at, asked, answered, given;
  bool valid; /* how many of its rows are valid is known */
} TdStpFlight;

/* A scratchpad: when its ports are free. An access of one: its port and cycles. */
typedef struct TdStpPad {
  const char *name;
  int64_t free[2]; /* to read, to write */
} TdStpPad;
typedef struct TdStpPadUse {
  int64_t *port, cycles;
} TdStpPadUse;
typedef enum { TD_STP_TURN_NONE, TD_STP_TURN_ASKS, TD_STP_TURN_HAS } TdStpTurn;

/* An operator at run, or the broadcast of a stream with several readers. */
struct TdStpMachine {
  const TdStpNode *n;
  void (*step)(TdStpRun *r, TdStpMachine *m);
  uint32_t id;
  uint32_t nin, nout;
  uint32_t *in;    /* channels */
  TdStpPort *port; /* nout of them */
  bool queued, over, is_merge, held;
  int phase;
  int64_t clock, busy, begin;
  int64_t stall[4], cause[4]; /* by TdStpWhy; cause: last channel */
  TdStpWhy why;               /* of its wait, and where: an input or a port */
  uint32_t where;
  /* what operators keep */
  TdStpItem hold, sel;
  TdStpVal acc, fixed;
  int64_t i, k, n_left, at;
  int64_t *order, *arrival;
  TdStpItem *list;
  uint32_t nlist, caplist;
  int64_t flops, useful; /* on whole tiles; on what is valid of them */
  uint8_t *written;
  /* the memory's: a ring of tiles under way, and the one that was asked for last */
  TdStpFlight *flight, *latest;
  uint32_t window, oldest, nflight;
  int64_t asks; /* the clock of what asks, where it runs ahead of what gives */
  int64_t next, per_cycle;
  int64_t from, pitch, each, handed; /* where the tile lies */
  /* the scratchpads': 1 + the one that it fills, what its access takes, when that ends */
  uint16_t pad;
  TdStpTurn turn;
  TD_VEC(TdStpPadUse) use;
  int64_t granted;
};

struct TdStpRun {
  TdArena *arena, *kept;
  TdCtx *ctx;
  const TdStpGraph *g;
  TdStpGraph *graph; /* the same, whose expressions grow */
  const TdStpOptions *o;
  const TdStpCalls *calls;
  TdDiag *d;
  bool failed;
  TdStpMachine *machine;
  uint32_t nmachine;
  TdStpChan *chan;
  uint32_t nchan;
  uint32_t *queue; /* a ring of machines to be run */
  uint32_t qhead, qcount;
  TD_VEC(TdStpRecord) val;
  TdStpVal free;
  void *block[64];         /* free data by size class */
  const int32_t *identity; /* 0, 1, 2, .. for one-hot selectors */
  /* the memory */
  uint32_t *active; /* machines with requests to be handed over, in order of ports */
  uint32_t nactive;
  void *memory; /* the state of o->memory */
  TdMap base;   /* tensors -> where they lie */
  int64_t place, now, moved, pending;
  int64_t steady; /* the cycle in which the memory is asked to skip periods; -1: ports changed */
  int64_t traffic;
  TD_VEC(TdStpPad) pad;
  TD_VEC(uint32_t) turn; /* machines that wait for scratchpads */
  uint64_t ticks, turns;
  TdMap cells;
  TD_VEC(TdStpCell) cell; /* of a run on fingerprints: what was stored */
  bool keep;              /* events, while they are not too many */
  int64_t events;
};

/* ---- stp_value.c ---- */

/* An empty value, owned once; what keeps one more owner, and what drops one. */
TdStpVal td_stp_value_new(TdStpRun *r, TdStpKind kind);
static inline TdStpRecord *td_stp_value(TdStpRun *r, TdStpVal v) {
  return &r->val.at[v];
}
static inline TdStpVal td_stp_value_keep(TdStpRun *r, TdStpVal v) {
  if (v) r->val.at[v].refs++;
  return v;
}
/* Gives up one owner. */
void td_stp_value_drop(TdStpRun *r, TdStpVal v);
/* Whether such tiles have data: all in a run with data, numbers always, since they may control. */
bool td_stp_value_has_data(const TdStpRun *r, const TdType *elem, int64_t rows, int64_t cols);
/* Bytes of a row of such a tile's data. */
size_t td_stp_value_row(const TdStpRun *r, const TdType *elem, int64_t rows, int64_t cols);
/* A tile, all of it valid; with data (zeros) where it has some. */
TdStpVal td_stp_value_tile(TdStpRun *r, const TdType *elem, int64_t rows, int64_t cols);
TdStpVal td_stp_value_number(TdStpRun *r, const TdType *elem, int64_t n);
TdStpVal td_stp_value_selector(TdStpRun *r, const int32_t *index, int64_t n);
/* A copy of a tile's record and data, to be changed. */
TdStpVal td_stp_value_copy(TdStpRun *r, TdStpVal v);
/* Bytes that a value takes on the way; of an element of a type. */
int64_t td_stp_value_bytes(TdStpRun *r, TdStpVal v);
int64_t td_stp_element_bytes(const TdStpOptions *o, const TdType *elem);

/* ---- stp_channel.c ---- */

typedef enum { TD_STP_WAIT, TD_STP_OVER, TD_STP_HAVE } TdStpLook;

/* Whether input i has an element; notes what the machine waits for. */
TdStpLook td_stp_look(TdStpRun *r, TdStpMachine *m, uint32_t i);
static inline TdStpItem *td_stp_head(TdStpRun *r, TdStpMachine *m, uint32_t i) {
  TdStpChan *c = &r->chan[m->in[i]];
  return &c->item[c->head];
}
/* Lets the clock go on to t. */
static inline void td_stp_until(TdStpMachine *m, int64_t t, TdStpWhy why, uint32_t where) {
  if (t <= m->clock) return;
  m->stall[why] += t - m->clock;
  m->cause[why] = where;
  m->clock = t;
}
static inline void td_stp_work(TdStpMachine *m, int64_t cycles) {
  m->clock += cycles;
  m->busy += cycles;
}
/* Lets the clock go on to when input i's head is visible. */
void td_stp_see(TdStpRun *r, TdStpMachine *m, uint32_t i);
/* Takes the head of input i; its value is the caller's. */
TdStpItem td_stp_take(TdStpRun *r, TdStpMachine *m, uint32_t i);
/* Puts "nothing, from .. stop" before what input i holds. */
void td_stp_unread(TdStpRun *r, TdStpMachine *m, uint32_t i, int from, int stop, int64_t time);
/* Whether port p has a place; notes what the machine waits for. */
bool td_stp_room(TdStpRun *r, TdStpMachine *m, uint32_t p);
/* Puts it (its value is given away), requested for time t; false: no place yet. */
bool td_stp_give(TdStpRun *r, TdStpMachine *m, uint32_t p, TdStpItem it, int64_t t);
/* When a place of port p is free. */
int64_t td_stp_free_at(TdStpRun *r, TdStpMachine *m, uint32_t p);
/* The machine is done: its channels close. */
void td_stp_finish(TdStpRun *r, TdStpMachine *m);
void td_stp_wake(TdStpRun *r, uint32_t machine);
/* The run fails at the machine's node. */
void td_stp_fail(TdStpRun *r, TdStpMachine *m, TdDiagKind kind, const char *code, const char *fmt,
                 ...) TD_PRINTF(5, 6);

/* Inputs 0 .. n - 1 side by side. HAVE: it has data, or nothing, at all of them; `it` has the least
 * stop, and from. Then td_stp_consume takes them; what closes more on one side stays. */
TdStpLook td_stp_meet(TdStpRun *r, TdStpMachine *m, uint32_t n, TdStpItem *it);
void td_stp_consume(TdStpRun *r, TdStpMachine *m, uint32_t n, TdStpItem it);

static inline TdStpItem td_stp_nothing(int from, int stop) {
  return (TdStpItem){.stop = (int16_t)stop, .from = (int16_t)from};
}
static inline TdStpItem td_stp_item(TdStpVal v, int stop) {
  return (TdStpItem){.val = v, .stop = (int16_t)stop};
}

/* ---- stp_apply.c: functions on values ---- */

/* The result of node n's function on the values of part (a fold: the state first, or 0 at the
 * start), and its FLOPs; *cycles where its cost is constant, else -1. 0: it failed. */
TdStpVal td_stp_apply(TdStpRun *r, TdStpMachine *m, const TdStpVal *part, size_t n, int64_t *flops,
                      int64_t *cycles);
/* The start of a fold whose first element has this value. */
TdStpVal td_stp_apply_sum(TdStpRun *r, TdStpMachine *m, TdStpVal state, TdStpVal x);
/* Element i of what flat_map's function makes of part; their number. */
int64_t td_stp_apply_count(TdStpRun *r, TdStpMachine *m, const TdStpVal *part);
TdStpVal td_stp_apply_element(TdStpRun *r, TdStpMachine *m, const TdStpVal *part, int64_t i);

/* ---- stp_memory.c ---- */

/* Room for the tiles that a machine asks for. */
void td_stp_memory_open(TdStpRun *r, TdStpMachine *m);
/* Asks for tile f->number of the node's tensor, from m->clock on: f->answered tells when it is
 * there. */
void td_stp_memory_ask(TdStpRun *r, TdStpMachine *m, TdStpFlight *f, int64_t bytes);
/* The first cycle with a request, or INT64_MAX. */
int64_t td_stp_memory_next(const TdStpRun *r);
/* Serves requests until a tile is complete, or cycle `until` comes. */
void td_stp_memory_serve(TdStpRun *r, int64_t until);

/* ---- stp_scratch.c: scratchpads, whose buffers take turns ---- */

/* Cycles in which m reads values from memory units, those of its own one after the other, those of
 * each scratchpad beside them, in turn; waits count as stalls. -1: its turn has not come. */
int64_t td_stp_scratch_read(TdStpRun *r, TdStpMachine *m, const TdStpVal *v, size_t n);
/* Lets *v lie in the scratchpad of m's node, if it has one; false: its turn has not come. */
bool td_stp_scratch_write(TdStpRun *r, TdStpMachine *m, TdStpVal *v);
/* The cycle of the earliest access that waits for its turn, or INT64_MAX; lets it take place. */
int64_t td_stp_scratch_next(const TdStpRun *r);
void td_stp_scratch_serve(TdStpRun *r);
/* The scratchpads of the graph's nodes. */
void td_stp_scratch_open(TdStpRun *r);

/* ---- the operators: stp_exec_*.c ---- */

/* Let a machine go on as far as it can. */
void td_stp_exec_load(TdStpRun *r, TdStpMachine *m);
void td_stp_exec_store(TdStpRun *r, TdStpMachine *m);
void td_stp_exec_store_at(TdStpRun *r, TdStpMachine *m);
void td_stp_exec_selectors(TdStpRun *r, TdStpMachine *m);
void td_stp_exec_values(TdStpRun *r, TdStpMachine *m);
void td_stp_exec_sink(TdStpRun *r, TdStpMachine *m);
void td_stp_exec_bufferize(TdStpRun *r, TdStpMachine *m);
void td_stp_exec_streamify(TdStpRun *r, TdStpMachine *m);
void td_stp_exec_partition(TdStpRun *r, TdStpMachine *m);
void td_stp_exec_reassemble(TdStpRun *r, TdStpMachine *m);
void td_stp_exec_eager_merge(TdStpRun *r, TdStpMachine *m);
void td_stp_exec_parallelize(TdStpRun *r, TdStpMachine *m);
void td_stp_exec_zip(TdStpRun *r, TdStpMachine *m);
void td_stp_exec_map(TdStpRun *r, TdStpMachine *m);
void td_stp_exec_accum(TdStpRun *r, TdStpMachine *m);
void td_stp_exec_scan(TdStpRun *r, TdStpMachine *m);
void td_stp_exec_flat_map(TdStpRun *r, TdStpMachine *m);
void td_stp_exec_flatten(TdStpRun *r, TdStpMachine *m);
void td_stp_exec_reshape(TdStpRun *r, TdStpMachine *m);
void td_stp_exec_promote(TdStpRun *r, TdStpMachine *m);
void td_stp_exec_expand(TdStpRun *r, TdStpMachine *m);
void td_stp_exec_rep(TdStpRun *r, TdStpMachine *m);
void td_stp_exec_broadcast(TdStpRun *r, TdStpMachine *m);

/* stp_stuck.c: tells why the run cannot go on. */
void td_stp_stuck(TdStpRun *r);

#endif
