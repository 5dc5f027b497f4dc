/* maestro.h - DataMaestro (arXiv 2504.14091): streamers between a banked memory and an array. What
 * a system is, what its registers say, and what a run of them takes. All bounds are in iterations,
 * all strides and addresses in bytes. */
#ifndef TD_MAESTRO_H
#define TD_MAESTRO_H

#include "ir/desc.h"
#include "ir/type.h"

enum {
  TD_MAESTRO_DIMS = 3,      /* spatial bounds of a streamer */
  TD_MAESTRO_LOOPS = 8,     /* its temporal dimensions */
  TD_MAESTRO_CHANNELS = 64, /* a channel is a bit of a word */
  TD_MAESTRO_STREAMERS = 16,
  TD_MAESTRO_BANKS = 128,
  TD_MAESTRO_LATENCY = 4,
  TD_MAESTRO_MODES = 8,
  TD_MAESTRO_EXTS = 6,
  TD_MAESTRO_COLUMNS = 64, /* of an array, each with a multiplier of the quantiser */
  TD_MAESTRO_ARGS = 4      /* of an extension, and its registers */
};

/* ---- the system, fixed when it is designed ---- */

/* An addressing mode: banks that addresses are interleaved over, before they go to the next group.
 */
typedef struct TdMaestroMode {
  const char *name;
  int64_t banks;
} TdMaestroMode;

typedef struct TdMaestroMemory {
  int64_t banks, word, rows, latency;
  TdMaestroMode mode[TD_MAESTRO_MODES];
  int nmode;
} TdMaestroMemory;

/* The kinds of extensions, ext.def. */
typedef enum {
#define TD_MAESTRO_EXT(id, name, args, regs, stem, summary) TD_MAESTRO_EXT_##id,
#include "backends/maestro/ext.def"
  TD_MAESTRO_EXT_KINDS
} TdMaestroExtKind;

struct TdMaestroExt;
/* A line of ext.def. `fits` settles the widths of an extension behind a word of so many
 * bits; NULL, or what is wrong. `beat` makes beats out of beats, of `in` and `out` bits. */
typedef struct TdMaestroExtInfo {
  const char *name, *args, *regs, *summary;
  const char *(*fits)(struct TdMaestroExt *x, int64_t bits);
  void (*beat)(const struct TdMaestroExt *x, const int64_t *reg, const uint8_t *in, uint8_t *out);
} TdMaestroExtInfo;
extern const TdMaestroExtInfo td_maestro_ext_info[TD_MAESTRO_EXT_KINDS];

struct TdMaestroUser;
/* A datapath extension between FIFO and array. */
typedef struct TdMaestroExt {
  uint8_t kind; /* TdMaestroExtKind */
  int64_t arg[TD_MAESTRO_ARGS];
  const TdType *type; /* of its elements, or NULL */
  int64_t in, out;    /* bits of a beat */
  int64_t take, give; /* beats that it gathers, and that it makes of them */
  bool counts;        /* its first register says how many it gathers */
  int64_t wait;       /* cycles between the last beat that it gathers and the first that it gives */
  const struct TdMaestroUser *user; /* user.h: a kernel, or NULL */
} TdMaestroExt;
/* Beats that it gathers when its registers are these. */
int64_t td_maestro_ext_takes(const TdMaestroExt *x, const int64_t *reg);
/* Whether every beat becomes one beat at once. */
bool td_maestro_ext_is_wire(const TdMaestroExt *x);

/* A streamer: a reader, or a writer. */
typedef struct TdMaestroStreamer {
  const char *name;
  bool writer, mask, byte_mask;
  bool addr_full, data_full; /* a full queue does not accept in the cycle in which it is popped */
  int nlane;
  int64_t lane[TD_MAESTRO_DIMS]; /* spatial bounds, the first varies fastest */
  int64_t channels, loops, depth, addr_depth;
  int shares; /* the streamer whose ports it uses, or -1 */
  int from;   /* a writer: the reader whose words it takes past the array, or -1 */
  int first;  /* its first port */
  TdMaestroExt ext[TD_MAESTRO_EXTS];
  int next;
  int64_t width; /* bits of a word at the array */
} TdMaestroStreamer;

/* The output-stationary array and its quantiser. */
typedef struct TdMaestroArray {
  bool here;
  int64_t m, n, k, lanes;
  const TdType *a, *b, *acc;
} TdMaestroArray;

typedef struct TdMaestroSystem {
  TdMaestroMemory memory;
  TdMaestroArray array;
  TdMaestroStreamer at[TD_MAESTRO_STREAMERS]; /* by name */
  int n, ports;
  bool priority; /* readers A and B go first */
  bool front;    /* words come and go outside: from and to streams of a design */
} TdMaestroSystem;

/* The streamer of a name, or -1. */
int td_maestro_system_find(const TdMaestroSystem *s, const char *name);
/* Completes ports and widths; false with d filled when the fields do not fit together. */
bool td_maestro_system_check(TdMaestroSystem *s, TdDiag *d);
/* Bytes of the memory. */
int64_t td_maestro_system_bytes(const TdMaestroMemory *m);

/* ---- what the registers of a streamer say ---- */

typedef struct TdMaestroPattern {
  bool used;
  int64_t base;
  int64_t lane_stride[TD_MAESTRO_DIMS];
  int64_t bound[TD_MAESTRO_LOOPS], stride[TD_MAESTRO_LOOPS]; /* the innermost first */
  int mode;
  uint64_t mask;  /* channels that access memory */
  uint32_t bytes; /* of a word that are written */
  uint32_t ext;   /* extensions that are on, one bit each */
  int64_t reg[TD_MAESTRO_EXTS][TD_MAESTRO_ARGS];
} TdMaestroPattern;

/* The quantiser: clamp(((sum - zp_in) * mult >> shift) + zp_out), from lo to hi. */
typedef struct TdMaestroScale {
  int64_t zp_in, mult, shift, zp_out, lo, hi;
} TdMaestroScale;

/* What the quantiser multiplies a column of results by, and how far it shifts it. */
typedef struct TdMaestroColumn {
  int64_t mult, shift;
} TdMaestroColumn;

/* Columns whose values a kernel is given with a call: of which of its parameters multipliers and
 * shifts are, plus one (0: known before), and the elements of the columns. */
typedef struct TdMaestroGiven {
  int mult, shift;
  int64_t first, step, n;
} TdMaestroGiven;

/* What the array does: `steps` products for each of `tiles` results. */
typedef struct TdMaestroWork {
  int64_t steps, tiles;
  bool with_c, quantised;
  TdMaestroScale scale; /* if quantised */
  TdMaestroColumn column[TD_MAESTRO_COLUMNS];
  TdMaestroGiven given;
  bool path;    /* words go from a reader to a writer, past the array */
  int from, to; /* those two */
} TdMaestroWork;

/* agu.c: address generation, by the two counters of each dimension. */
typedef struct TdMaestroAgu {
  const TdMaestroPattern *p;
  int first, nloop; /* loops that it runs: not the first, where words are repeated */
  int64_t index[TD_MAESTRO_LOOPS], offset[TD_MAESTRO_LOOPS];
  int64_t address; /* of channel 0 without its own offset */
  bool busy;
} TdMaestroAgu;

/* Starts; a bound of 0 means that the streamer is off. */
TdMaestroAgu td_maestro_agu_start(const TdMaestroStreamer *s, const TdMaestroPattern *p);
/* The next vector of addresses; not busy after the last. */
void td_maestro_agu_tick(TdMaestroAgu *g);
/* The offset of a channel. */
int64_t td_maestro_agu_lane(const TdMaestroStreamer *s, const TdMaestroPattern *p, int channel);
/* How often a reader hands a word over: the innermost bound, if its stride is 0; else 1. */
int64_t td_maestro_agu_repeats(const TdMaestroStreamer *s, const TdMaestroPattern *p);
/* How many wide words it hands over or takes. */
int64_t td_maestro_agu_count(const TdMaestroStreamer *s, const TdMaestroPattern *p);
/* The remapper of a mode: bits of a byte in the row of a group, of the row, of a byte in a row of
 * all banks; the last address. */
typedef struct TdMaestroRemap {
  int low, row, high;
  uint64_t last;
} TdMaestroRemap;
/* That of a memory. */
TdMaestroRemap td_maestro_agu_remap(const TdMaestroMemory *m, int mode);
/* Where a logical address lies in a mode; addresses are taken modulo the memory. */
int64_t td_maestro_agu_place(const TdMaestroRemap *r, int64_t address);
int64_t td_maestro_agu_physical(const TdMaestroMemory *m, int mode, int64_t address);
/* The same map as a descriptor of (group, row in group, byte). */
TdDesc td_maestro_agu_mode(const TdMaestroMemory *m, int mode);

/* place.c: bytes [base, base + bytes) of logical addresses in a mode, for one operand. */
typedef struct TdMaestroRegion {
  int64_t base, bytes;
  int mode, role; /* role: of a job's operand */
} TdMaestroRegion;
/* The place behind all of a list that lies in the banks of a group of a mode. */
int64_t td_maestro_region_behind(const TdMaestroMemory *m, const TdMaestroRegion *list, int count,
                                 int mode, int64_t group);
/* Whether two of them have a place in common. */
bool td_maestro_region_meets(const TdMaestroMemory *m, const TdMaestroRegion *x,
                             const TdMaestroRegion *y);

/* ---- a run ---- */

/* chain.c: the extensions of a streamer under way. One that gathers beats holds those that it made
 * until they are taken; between neighbours there is a queue of two. */
typedef struct TdMaestroChain {
  const TdMaestroStreamer *s;
  const TdMaestroPattern *p;
  int64_t in[TD_MAESTRO_EXTS], left[TD_MAESTRO_EXTS]; /* beats gathered, beats to give */
  int64_t wait[TD_MAESTRO_EXTS];                      /* cycles until there are beats to give */
  int link[TD_MAESTRO_EXTS], start[TD_MAESTRO_EXTS]; /* between k and k + 1; at the cycle's start */
} TdMaestroChain;
/* Begins a cycle; whether an extension computes. */
bool td_maestro_chain_tick(TdMaestroChain *c);
/* Whether beats are in it. */
bool td_maestro_chain_is_under_way(const TdMaestroChain *c);
/* A reader: whether a beat is there for the array, when `word` says that one is at the FIFO. */
bool td_maestro_chain_valid(const TdMaestroChain *c, bool word);
/* Takes it; whether a word leaves the FIFO. */
bool td_maestro_chain_take(TdMaestroChain *c);
/* Moves beats on inside of the chain, once the array has taken; whether a word leaves the FIFO. */
bool td_maestro_chain_pull(TdMaestroChain *c, bool word);
/* A writer: beats move on to a FIFO with room; whether one comes there. Before the array gives. */
bool td_maestro_chain_drain(TdMaestroChain *c, bool room);
/* Whether a beat may come, and that it comes; whether it is at the FIFO at once. */
bool td_maestro_chain_ready(const TdMaestroChain *c, bool room);
bool td_maestro_chain_give(TdMaestroChain *c);

/* Why the array waits. */
typedef enum {
#define TD_MAESTRO_STALL(id, name, summary) TD_MAESTRO_STALL_##id,
#include "backends/maestro/stall.def"
  TD_MAESTRO_STALLS
} TdMaestroStall;

typedef struct TdMaestroCount {
  int64_t accesses, conflicts, shared; /* words; requests that another streamer, that their own
                                        * streamer's writer had to wait for */
  int64_t occupancy, most;             /* words in its FIFOs, summed over cycles; at most */
} TdMaestroCount;

typedef struct TdMaestroReport {
  int64_t cycles, fires, first, last;
  TdMaestroCount streamer[TD_MAESTRO_STREAMERS];
  int64_t bank[TD_MAESTRO_BANKS], bank_conflicts[TD_MAESTRO_BANKS];
  int64_t stall[TD_MAESTRO_STALLS];
} TdMaestroReport;

/* One cycle of a run, as it is seen before its end. */
typedef struct TdMaestroCycle {
  int64_t cycle;
  uint64_t request[TD_MAESTRO_STREAMERS], grant[TD_MAESTRO_STREAMERS];
  uint64_t access[TD_MAESTRO_STREAMERS]; /* grants of memory */
  uint8_t bank[TD_MAESTRO_BANKS];        /* banks that work */
  int64_t words[TD_MAESTRO_STREAMERS];   /* of the channel that has most in its FIFO */
  int64_t in[TD_MAESTRO_STREAMERS], out[TD_MAESTRO_STREAMERS]; /* wide words that came, that left,
                                                                * of all cycles before */
  bool fire;
  int stall; /* TdMaestroStall, if it did not fire */
} TdMaestroCycle;
typedef void (*TdMaestroWatch)(void *ud, const TdMaestroCycle *c);

/* A job behind others, each streamer of which starts when it is done with the one before. */
typedef struct TdMaestroNext {
  const TdMaestroPattern *pattern;
  TdMaestroWork work;
  bool sums; /* its C is what D wrote before */
} TdMaestroNext;

/* A run whose words go to and come from what the caller steps (front.c), in place of the array. */
typedef struct TdMaestroModel TdMaestroModel;
typedef struct TdMaestroOuter {
  void *ud;
  /* Moves words of readers, then of writers, in this cycle; whether any moved. */
  bool (*words)(void *ud, TdMaestroModel *m, bool writers);
} TdMaestroOuter;

typedef struct TdMaestroRun {
  TdCtx *ctx;
  TdArena *arena; /* scratch */
  const TdMaestroSystem *system;
  const TdMaestroPattern *pattern; /* of each streamer */
  TdMaestroWork work;
  const TdMaestroNext *next;
  size_t nnext;
  const TdMaestroOuter *outer; /* or NULL: the array, or a path */
  int *last;            /* of each bank, the port that it granted last: from run to run; or NULL */
  int64_t tiles;        /* only the first so many are made; 0: all */
  TdMaestroWatch watch; /* or NULL */
  void *ud;
} TdMaestroRun;

/* Runs the registers, without data, cycle by cycle; false with d filled when nothing moves on. */
bool td_maestro_model_run(const TdMaestroRun *r, TdMaestroReport *out, TdDiag *d);

/* The same step by step: before the first cycle; runs one, and says whether anything moved; whether
 * addresses are left. Everything is in r's arena. */
TdMaestroModel *td_maestro_model_new(const TdMaestroRun *r, TdMaestroReport *out);
bool td_maestro_model_cycle(TdMaestroModel *m);
bool td_maestro_model_is_busy(const TdMaestroModel *m);
/* The cycle that is run next, or runs. */
int64_t td_maestro_model_now(const TdMaestroModel *m);
/* In the caller's part of a cycle: whether a word of a reader is there, takes it; whether a writer
 * has room for one, gives it. */
bool td_maestro_model_has_word(const TdMaestroModel *m, int streamer);
void td_maestro_model_take(TdMaestroModel *m, int streamer);
bool td_maestro_model_has_room(const TdMaestroModel *m, int streamer);
void td_maestro_model_give(TdMaestroModel *m, int streamer);

/* predict.c: cycles by the law start + tiles * (steps + lost) + drain, where what a tile loses is
 * that of the first tiles; in cycles of the run and of the MAC window. */
typedef struct TdMaestroLaw {
  double cycles, window, lost;
  bool exact; /* so few tiles that all of them were run */
} TdMaestroLaw;
bool td_maestro_predict(const TdMaestroRun *r, TdMaestroLaw *out, TdDiag *d);

/* trace.c: a run with its events, as tasks and streams of a run with a clock. */
struct TdTimed;
const struct TdTimed *td_maestro_trace(const TdMaestroRun *r, const char *name,
                                       TdMaestroReport *out, TdArena *a, TdDiag *d);

#endif
