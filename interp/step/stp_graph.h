/* stp_graph.h - graphs of STeP: nodes (operators) joined by streams of tiles, buffers, selectors
 * and tuples. A graph is immutable once made; a step makes another version of the same lineage,
 * whose nodes keep their uids.
 *
 * A stream is a list of lists: dim[0] is the innermost dimension. Its elements carry stop levels:
 * level s says that the element is the last of its s innermost lists; the outermost list ends with
 * the stream. Where a list is empty, or an element went without its stop, an element "nothing,
 * levels e to s" closes lists, without data, cost or place in a FIFO: stp_run.h. */
#ifndef TD_STP_GRAPH_H
#define TD_STP_GRAPH_H

#include "ir/at.h"
#include "ir/tensor.h"
#include "step/stp_expr.h"

typedef enum {
#define TD_STP_OP(NAME, ...) TD_STP_##NAME,
#include "step/stp_ops.def"
  TD_STP_OPS
} TdStpOp;

typedef enum {
#define TD_STP_FN(NAME, ...) TD_STP_FN_##NAME,
#include "step/stp_fns.def"
  TD_STP_FN_KERNEL, /* a kernel on tiles */
  TD_STP_FNS
} TdStpFnKind;

/* Rows of the tables. */
typedef struct TdStpOpRow {
  const char *name, *group, *args, *options, *shape, *meaning, *cycles, *bytes, *help;
} TdStpOpRow;
typedef struct TdStpFnRow {
  const char *name;
  int parts;
  const char *place, *flops, *help;
} TdStpFnRow;
extern const TdStpOpRow td_stp_ops[TD_STP_OPS];
extern const TdStpFnRow td_stp_fns[TD_STP_FNS];

/* Options with a number, by name. */
#define TD_STP_KEY_LIST(X)                                                                         \
  X(RANK, rank)                                                                                    \
  X(N, n)                                                                                          \
  X(CHUNK, chunk)                                                                                  \
  X(AT, at)                                                                                        \
  X(BW, bw)                                                                                        \
  X(WRITE_BACK, write_back)                                                                        \
  X(BASE, base)                                                                                    \
  X(PORTS, ports)                                                                                  \
  X(AHEAD, ahead)                                                                                  \
  X(DEPTH, depth)                                                                                  \
  X(OUTER, outer)                                                                                  \
  X(ORDER, order)                                                                                  \
  X(ACK, ack)                                                                                      \
  X(EMIT, emit)                                                                                    \
  X(TIME, time)                                                                                    \
  X(DEVICE, device)
typedef enum {
#define TD_STP_KEY(NAME, name) TD_STP_KEY_##NAME,
  TD_STP_KEY_LIST(TD_STP_KEY)
#undef TD_STP_KEY
      TD_STP_KEYS
} TdStpKey;
/* The key of a name, or TD_STP_KEYS; and the name. */
TdStpKey td_stp_key_find(const char *name);
const char *td_stp_key_name(TdStpKey k);

#define TD_STP_RANK 8      /* most dimensions of a stream */
#define TD_STP_PARTS 8     /* most parts of a tuple */
#define TD_STP_AHEAD 65536 /* most tiles of a load under way */

typedef enum { TD_STP_TILE, TD_STP_BUFFER, TD_STP_SELECTOR, TD_STP_TUPLE } TdStpKind;

typedef struct TdStpDim {
  /* Of a regular dimension its extent; of a ragged one the sum of its extents, over all outer
   * dimensions. */
  const TdStpExpr *extent;
  bool ragged;
} TdStpDim;

typedef struct TdStpType {
  TdStpKind kind;
  const TdType *elem;                  /* of a tile */
  const TdStpExpr *rows, *cols;        /* of a tile */
  int64_t ways;                        /* of a selector; 0: any */
  const struct TdStpType *const *part; /* of a tuple; of a buffer its elements */
  size_t nparts;
  int ndim; /* of a buffer */
  TdStpDim dim[TD_STP_RANK];
} TdStpType;

typedef struct TdStpStream {
  const TdStpType *type;
  int ndim;
  TdStpDim dim[TD_STP_RANK];
} TdStpStream;

/* Output `out` of node `uid`. */
typedef struct TdStpRef {
  uint32_t uid;
  uint16_t out;
} TdStpRef;

/* A function: of step.fn with its number, or a kernel. */
typedef struct TdStpFn {
  TdStpFnKind kind;
  int64_t n;          /* of addresses, cache_addresses, cache_slot */
  const TdProg *prog; /* of a kernel: its program, and the parameter that is the result */
  int result;
  const char *name; /* as Lua: "fn.matmul" */
} TdStpFn;

/* A tensor argument: its type, and its data or NULL. */
typedef struct TdStpTensor {
  const TdType *type;
  TdTensor *data;
  uint32_t id;                  /* of one without data: its number in the graph, from 1 */
  const struct TdStpTile *tile; /* of one that a step made: the tiles that it holds */
} TdStpTensor;

/* Tile `number` of a tensor. */
typedef struct TdStpTile {
  const TdStpTensor *of;
  int64_t number;
} TdStpTile;

/* Selectors of a list: row-major, entry i selects index[first[i]] .. index[first[i + 1] - 1],
 * ascending. */
typedef struct TdStpSelectors {
  int ndim;
  int64_t extent[TD_STP_RANK]; /* outermost first */
  size_t n;
  const uint32_t *first;
  const int32_t *index;
  const char *text; /* as Lua */
} TdStpSelectors;

typedef struct TdStpNode {
  uint32_t uid;
  uint32_t was; /* while a step makes a graph: 1 + its uid in the one before, 0 where it is new */
  TdStpOp op;
  const char *name; /* of the family */
  uint32_t ordinal; /* n of name#n, from 1; 0: it is alone */
  uint32_t site;    /* of the call: nodes of one site are a family */
  TdLoc loc;
  const TdStpRef *in;
  size_t nin;
  TdStpStream *out;
  size_t nout;
  bool drops_second; /* nobody takes the second output */
  int64_t opt[TD_STP_KEYS];
  uint32_t has; /* bit k: opt[k] was given */
  bool has_ref, has_valid, has_shape, is_empty_init;
  int64_t lo, hi;     /* flatten */
  int64_t rows, cols; /* tile = of a load */
  /* Of a load, -1 where a size without a value decides; times of streamify. */
  int64_t shape[TD_STP_RANK], stride[TD_STP_RANK];
  int nshape;
  int64_t view[TD_STP_RANK]; /* of streamify: the extents of an affine read, by stride */
  int nview;
  const char *place;         /* of bufferize: its scratchpad, or NULL */
  TdStpStream assumed;       /* assume_shape */
  TdStpTensor tensor, extra; /* extra: pad, init */
  TdStpFn fn;
  const TdStpSelectors *sel;
} TdStpNode;

/* A symbol that shapes name: the number of elements at dimension dim of a stream (over all outer
 * dimensions if it is ragged); dim -1, -2: the most rows, columns of its tiles. */
typedef struct TdStpSymbol {
  const char *name;
  TdStpRef of;
  int dim;
  bool ragged;
} TdStpSymbol;

typedef struct TdStpGraph {
  TdArena *arena;
  TdSession *session;
  TdStpExprs *exprs;
  TD_VEC(const TdStpNode *) node; /* in order of calls */
  TD_VEC(const TdStpNode *) by_uid;
  TD_VEC(TdStpRef) output;
  TD_VEC(TdStpSymbol) symbol;
  TdMap control; /* from a selector stream to its first symbol */
  uint32_t nroute, nfresh, ntensor;
  TdMap work;                      /* operations of kernels at sizes */
  const struct TdStpGraph *before; /* while a step makes this one: symbols of nodes stay */
} TdStpGraph;

/* An empty graph in arena a. */
TdStpGraph *td_stp_graph_new(TdArena *a, TdSession *s, TdStpExprs *x);
/* A copy of a finished graph; tensors' data are shared. */
TdStpGraph *td_stp_graph_copy(TdArena *a, const TdStpGraph *g);
/* A new symbol for dimension dim of output `out` of node n, named letter and *count, which goes up;
 * of a node that was there before, the name that it had. */
const char *td_stp_graph_symbol(TdStpGraph *g, const TdStpNode *n, const char *letter,
                                uint32_t *count, TdStpSymbol of);
/* Adds a node, whose uid and outputs it sets; false with d filled where its shapes do not fit. The
 * node is copied. */
const TdStpNode *td_stp_graph_add(TdStpGraph *g, const TdStpNode *n, TdDiag *d);
/* Closes a feedback: y is what it is. */
bool td_stp_graph_close(TdStpGraph *g, uint32_t uid, TdStpRef y, TdLoc loc, TdDiag *d);
/* Ends building: names settled, every stream read, no cycle without an eager_merge. */
bool td_stp_graph_finish(TdStpGraph *g, TdDiag *d);

/* A node of a tensor some of whose extents have no value; NULL: there is none. */
const TdStpNode *td_stp_graph_open(const TdStpGraph *g);

/* A node by its uid; the stream of an output. */
const TdStpNode *td_stp_graph_node(const TdStpGraph *g, uint32_t uid);
const TdStpStream *td_stp_graph_stream(const TdStpGraph *g, TdStpRef r);
/* What a stream is read as: assume_shape and feedback stand for their inputs. */
TdStpRef td_stp_graph_source(const TdStpGraph *g, TdStpRef r);
/* "tile#3"; "" for a node without a name. */
const char *td_stp_graph_name(TdArena *a, const TdStpNode *n);

/* Option k of n, or `otherwise`. */
static inline int64_t td_stp_opt(const TdStpNode *n, TdStpKey k, int64_t otherwise) {
  return n->has >> k & 1 ? n->opt[k] : otherwise;
}

/* stp_shape.c: fills n->out from its inputs. */
bool td_stp_shape_of(TdStpGraph *g, TdStpNode *n, TdDiag *d);
/* How many elements a stream has in all, as an expression; dim: lists of that dimension. */
const TdStpExpr *td_stp_shape_count(TdStpGraph *g, const TdStpStream *s, int dim);
/* "[D0, 4] of [1, 64] f32". */
const char *td_stp_shape_str(TdArena *a, const TdStpStream *s);
/* Whether elements of both types may pass one stream: extents that data decides may be equal. */
bool td_stp_shape_agrees(const TdStpType *a, const TdStpType *b);
void td_stp_shape_print_type(TdText *out, const TdStpType *t);
/* Elements of a tile. */
const TdStpExpr *td_stp_shape_elements(TdStpGraph *g, const TdStpType *t);

/* stp_tensor.c: the number of the tile that a load reads as its i-th; where element i, j of a tile
 * of rows x cols lies, whose place in the tensor is in index; a tensor of n such tiles, one below
 * the other, with data where all have some. */
int64_t td_stp_tensor_number(const TdStpNode *load, int64_t i);
unsigned char *td_stp_tensor_at(const TdTensor *t, int64_t rows, int64_t cols, int64_t number,
                                int64_t i, int64_t j, int64_t *index);
TdStpTensor td_stp_tensor_gather(TdArena *a, TdSession *s, const TdStpTile *tile, int64_t n,
                                 int64_t rows, int64_t cols);

/* stp_fn.c: the type of what a function makes of parts (a fold: state NULL at first). */
const TdStpType *td_stp_fn_type(TdStpGraph *g, const TdStpNode *n, const TdStpStream *in,
                                TdDiag *d);

#endif
