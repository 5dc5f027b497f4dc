/* job.h - a kernel compiled for a system: what each streamer's registers say, and where the
 * operands lie. */
#ifndef TD_MAESTRO_JOB_H
#define TD_MAESTRO_JOB_H

#include "ir/order.h"
#include "ir/tensor.h"
#include "backends/maestro/maestro.h"
#include "backends/maestro/nest.h"

/* What streamers are to the array; the names of those that it has. */
typedef enum {
  TD_MAESTRO_A,
  TD_MAESTRO_B,
  TD_MAESTRO_C,
  TD_MAESTRO_D,
  TD_MAESTRO_E,
  TD_MAESTRO_FROM,  /* past the array: what is read, */
  TD_MAESTRO_OTHER, /* what is added to it, word by word, by the same streamer, */
  TD_MAESTRO_TO,    /* and what is written */
  TD_MAESTRO_ROLES
} TdMaestroRole;
extern const char *const td_maestro_role_name[TD_MAESTRO_ROLES];

/* What the user says of a job; NULL and -1: not said. */
typedef struct TdMaestroAsk {
  const char *spatial[3];  /* loops across m, n and k of the array: "x", or "y%2 x%4" */
  const char *const *loop; /* temporal loops, outermost first */
  size_t nloop;
  const char *const *order; /* of each parameter of the kernel */
  const int *mode;          /* of each streamer */
  const int64_t *base;      /* of each streamer */
  const int64_t *group;     /* of banks, in its mode, of each streamer */
  const uint32_t *ext;      /* kernels that are on, a bit each, of each streamer; or NULL */
  const char *const *part;  /* loops of which only some iterations run: their names .. */
  const int64_t *lo, *n;    /* .. those iterations */
  size_t nparts;
  bool sums; /* sums go on from the result */
} TdMaestroAsk;

/* A digit of a path: n values of a loop, `step` apart. */
typedef struct TdMaestroWalk {
  int loop;
  int64_t n, step;
} TdMaestroWalk;

/* One operand under one streamer. */
typedef struct TdMaestroStream {
  bool used;
  int streamer;
  const TdMaestroOperand *x; /* NULL: zeros, without memory */
  const char *text;          /* its order */
  bool padded;               /* it has room for whole tiles that the user's text has not */
  TdOrderBytes order;
  TdDesc nest;     /* bytes from the operand's first, of each element that the nest touches, in the
                    * order in which the array takes them */
  int64_t base;    /* logical address of the operand's first byte */
  int64_t element; /* bytes */
  TdMaestroWalk walk[TD_DESC_DIGITS]; /* of a path, outermost first */
  int nwalk;
  bool swapped, copied; /* tiles arrive transposed; one row of a tile arrives, for all rows */
} TdMaestroStream;

typedef struct TdMaestroJob {
  const TdMaestroSystem *system;
  TdMaestroNest nest;
  bool made[3];                        /* loops across m, n, k that the kernel does not have */
  int spatial[3];                      /* loops across the array, -1: none */
  int outer[3];                        /* those whose blocks stand outside of theirs, -1: none */
  int temporal[TD_MAESTRO_NEST_LOOPS]; /* all loops, outermost first */
  int64_t tile[TD_MAESTRO_NEST_LOOPS]; /* of each loop: 1, or as many as go across the array */
  TdMaestroStream stream[TD_MAESTRO_ROLES];
  TdMaestroPattern pattern[TD_MAESTRO_STREAMERS];
  TdMaestroWork work;
  bool sums;    /* they go on from the result */
  bool trimmed; /* of each tensor only what the nest touches is in memory */
} TdMaestroJob;

/* Compiles the nest that q's program is; false with d filled. */
bool td_maestro_job_compile(const TdMaestroSystem *s, const TdAsk *q, const TdMaestroAsk *ask,
                            TdMaestroJob *out, TdDiag *d);
/* Whether the operand of a role is read from memory, not written. */
bool td_maestro_job_reads(int role);
/* Times that a loop is run one after the other. */
int64_t td_maestro_job_trips(const TdMaestroJob *j, int loop);
/* Modes and bases again; what `ask` says of them. */
bool td_maestro_job_place(TdMaestroJob *j, const TdMaestroAsk *ask, TdDiag *d);
/* Whether the operand of a role lies where that of an earlier one does: they are one tensor. */
bool td_maestro_job_shares(const TdMaestroJob *j, int role);
/* The banks of a group that a streamer's addresses touch in a mode, the most words of one vector in
 * one bank (the cycles that it takes by itself), and whether a group has room for the operand.
 * Looks at the first vectors of a long stream. */
typedef struct TdMaestroSpread {
  int64_t lo, hi, cycles;
  bool fits;
} TdMaestroSpread;
/* Measures that. */
TdMaestroSpread td_maestro_job_spread(const TdMaestroJob *j, int streamer, int mode);
/* check.c: whether each streamer's addresses are those of the nest, in order. */
bool td_maestro_job_check(const TdMaestroJob *j, TdCtx *ctx, TdDiag *d);

/* order.c */
/* Which loop of m, n, k goes across the rows and which across the columns of an operand's tile. */
typedef struct TdMaestroTile {
  uint8_t row, column;
} TdMaestroTile;
extern const TdMaestroTile td_maestro_tile[TD_MAESTRO_ROLES];
/* How many of loops m, n or k (0, 1, 2) go across the array. */
int64_t td_maestro_order_across(const TdMaestroJob *j, int which);
/* Gives the nest a loop of one iteration for each of m, n, k that none goes across, and the
 * operands of its tiles a dimension of one. */
bool td_maestro_order_complete(TdMaestroJob *j, TdDiag *d);
/* An order of the operand of a role whose tiles fill words and channels, with room for those that
 * stick out. Its dimensions are called as in `names`, or d0, d1 .. */
const char *td_maestro_order_fitting(const TdMaestroJob *j, int role, const TdOrder *names,
                                     TdArena *a);
/* How much of what the user says of an order may be changed until whole tiles fit. */
typedef enum {
  TD_MAESTRO_AS_SAID,
  TD_MAESTRO_PADDED, /* dimensions get room for whole tiles */
  TD_MAESTRO_TILED,  /* that, and the last dimension is blocked where rows are made */
  TD_MAESTRO_TRIES
} TdMaestroTry;
/* The order of an operand: what the user says (NULL: one that fits). */
bool td_maestro_order_read(TdMaestroJob *j, int role, const char *said, TdMaestroTry how,
                           TdArena *a, TdDiag *d);

/* pads.c: cuts operands to what the nest touches where pads of whole tiles need that; refuses those
 * that would count. */
bool td_maestro_pads_settle(TdMaestroJob *j, TdDiag *d);
/* Cuts operands to what the nest touches; false: they are. */
bool td_maestro_pads_trim(TdMaestroJob *j);

/* map.c: the registers of the streamer of a role, but for base and mode; into *p, if it is given.
 */
bool td_maestro_map_stream(TdMaestroJob *j, int role, TdMaestroPattern *p, TdArena *a, TdDiag *d);

/* path.c: a nest that moves words: its reader, writer, extensions, registers. */
bool td_maestro_path_compile(TdMaestroJob *j, const TdMaestroAsk *ask, TdArena *a, TdDiag *d);

/* scale.c: the quantiser that what is stored asks for, with a multiplier and shift for each of
 * `columns` columns, of which loop `across` is; false with d filled. */
bool td_maestro_scale_read(const TdMaestroNest *n, int across, int64_t columns, TdMaestroWork *w,
                           TdDiag *d);
/* What the array does in a call on these tensors: its columns have their values. False with d
 * filled: the quantiser cannot multiply or shift by one. */
bool td_maestro_scale_fill(const TdMaestroJob *j, TdTensor *const *param, TdMaestroWork *w,
                           TdDiag *d);
/* The registers of rescale_down for which it makes e of `value`; false: none are. */
bool td_maestro_scale_registers(const TdUnit *u, const TdExpr *e, const TdExpr *value,
                                int64_t *reg);
/* What it makes of a sum. */
uint64_t td_maestro_scale_of(const TdMaestroScale *s, TdMaestroColumn c, int64_t sum);

/* data.c: runs a job on the tensors of the kernel's parameters. */
bool td_maestro_data_run(const TdMaestroJob *j, TdArena *a, TdTensor *const *param, TdDiag *d);
/* Puts what a job reads where it lies, and marks its bytes and the pads between; both by physical
 * address. */
void td_maestro_data_image(const TdMaestroJob *j, TdArena *a, TdTensor *const *param,
                           uint8_t *memory, uint8_t *touched);
/* Marks the bytes of its results; takes those that were written into the tensors. */
void td_maestro_data_results(const TdMaestroJob *j, TdArena *a, TdTensor *const *param,
                             uint8_t *marked);
void td_maestro_data_take(const TdMaestroJob *j, TdArena *a, TdTensor *const *param,
                          uint8_t *memory, uint8_t *written);

#endif
