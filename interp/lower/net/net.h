/* net.h - a design as a network of calls: one kernel for each class of instances, closed over
 * the streams and arguments that it touches, and who is given which of them. */
#ifndef TD_LOWER_NET_H
#define TD_LOWER_NET_H

#include "analysis/range/span.h"
#include "ir/ir.h"

/* What each instance of a class is given for a parameter of its kernel. */
typedef struct TdNetArg {
  TdSym sym;          /* a stream, or an argument, of the design */
  const char *layout; /* of an argument: NULL for all of it */
  bool stored;        /* of a block that the class writes: it goes back */
  bool put, get;      /* of a stream: which ends the class holds */
  bool dead;          /* of a stream: it stands for uses that never take place */
  uint32_t fixed;     /* of a stream: dimensions whose index is known, one bit each */
  uint32_t listed;    /* streams that are no row of an array: how many each instance is given */
  int64_t *at;        /* as many indices of each instance in turn as there are dimensions; of each
                       * listed stream of it */
} TdNetArg;

/* Instances of a task that one function serves. */
typedef struct TdNetClass {
  const char *task;
  TdUnit *kernel; /* its coordinates are those that the body reads */
  uint32_t n;
  int rank;             /* ids of an instance */
  const int64_t *id;    /* rank ids of each instance in turn */
  const int64_t *coord; /* kernel->ncoord values of each */
  bool is_stateful;
  bool numbered;        /* ids that the body reads became numbers */
  TdMap fate;           /* of the task's statements, by uid (analysis/net/classes.h) */
  const TdStmt *kept;   /* the task's body, where the class has all of it; or NULL */
  TD_VEC(TdNetArg) arg; /* parallel to the kernel's parameters */
} TdNetClass;

typedef struct TdNetCall {
  uint32_t cls, instance;
} TdNetCall;

typedef struct TdNet {
  TdStore *store;
  TdArena *arena; /* scratch */
  const TdProg *prog;
  const TdUnit *design;
  TdDiag *diag;
  TD_VEC(TdStream) stream;
  TD_VEC(TdNetClass *) cls;
  TD_VEC(TdNetCall) call; /* in the order of the text */
  TD_VEC(TdSym) feedback; /* streams that lead to an earlier call */
  TdMap *closer;          /* streams and arguments of which more has to be known than boxes tell */
  bool again;             /* one more of them was found: the network is made anew */
  bool outside;           /* streams that the design takes are streams of it, too */
  const bool *keep;       /* NULL, or the classes by number that keep what ids decide */
} TdNet;

/* The most streams of a list. */
enum { TD_NET_MOST_LISTED = 64 };

/* net.c: refuses, returning false. */
bool td_net_refuse(TdNet *n, const char *code, TdLoc loc, const char *help, const char *fmt, ...)
    TD_PRINTF(5, 6);
/* Whether a stream or an argument of the design is looked at more closely, as td_net_look asks
 * for: true if that may help, the network being made anew. */
bool td_net_is_closer(const TdNet *n, TdSym sym);
bool td_net_look(TdNet *n, TdSym sym);
/* "pe[0][1]". */
const char *td_net_label(TdArena *a, const TdNetClass *c, uint32_t instance);
/* A new stream of the design: tokens of a type with constant extents, an array of `count` (0: no
 * array) of some depth. */
TdSym td_net_stream(TdNet *n, const char *name, const TdType *token, int64_t count, int64_t depth,
                    TdLoc loc);
/* Extents and depth of a stream, at the design's sizes. */
const TdStream *td_net_find(const TdNet *n, TdSym sym);
/* Adds a port of stream `sym` to a class, as a parameter of its kernel, which has the least depth
 * and the lanes of the stream; returns its symbol. */
TdSym td_net_port(TdNet *n, TdNetClass *c, const TdType *type, TdNetArg arg);
/* Takes parameter k from a class. */
void td_net_drop(TdNet *n, TdNetClass *c, size_t k);
/* Takes the coordinates from a class that its body does not read; those that are the same number in
 * all instances become it. State needs all of them. */
void td_net_settle(TdNet *n, TdNetClass *c);
/* The dimension from which the rest of t fits a word of a stream; its rank: an element does. */
int td_net_word(const TdType *t);

/* open.c: opens the calls by which tasks hand on what is looked at more closely. */
void td_net_open(TdNet *n);

/* banks.c: gives block streams the banks that their buffers ask for. */
void td_net_banks(TdNet *n);

/* list.c: what a use of a stream array, a view, is given: a list of streams, and which of them
 * it names. */
typedef struct TdNetListed {
  const TdExpr *view, *place; /* place: NULL if the list has one stream */
  size_t list;
} TdNetListed;
typedef struct TdNetLists {
  TD_VEC(TdNetListed) use;
  TD_VEC(TdNetArg) list; /* without direction */
} TdNetLists;
/* The streams of s that the body of a class names, one by one; uses that share a stream share a
 * list. False where the loops around them do not tell which they are. The kernel takes the ids from
 * number `skip` on. */
bool td_net_list_find(TdNet *n, const TdNetClass *c, size_t skip, const TdStream *s,
                      TdNetLists *out);

/* cut.c: gives the arrays of streams shapes of which calls can pass what belongs to a task. */
void td_net_cut(TdNet *n);

/* region.c: the classes of n's design, each end of its streams held by one instance, its arguments
 * as they are, for who gives each instance its part of them. n says what it is of: store, arena,
 * prog, design, diag, and outside and keep. */
bool td_net_classes(TdNet *n);

/* class.c: the classes of run r, appended. False with the diagnostic filled. */
bool td_net_class_add(TdNet *n, const TdRun *r);

/* share.c: gives arguments that several instances touch to tasks that load and store them. */
bool td_net_share(TdNet *n);

/* cover.c: whether the body of u writes each element of a block of `array` before it reads any;
 * all that it touches of the array is in a block of these extents, whose elements lie these steps
 * apart. */
bool td_net_cover(TdNet *n, const TdUnit *u, TdSym array, const int64_t *extent,
                  const int64_t *step, int rank);

/* return.c: a body without returns, where what follows one moves into the other arm of its
 * `if`; NULL: one is in a loop, or both arms go on. */
const TdStmt *td_net_return_straight(TdStore *st, const TdStmt *body);

/* order.c: the calls, producers first where that can be; each stream has one of either. */
bool td_net_order(TdNet *n);
/* That each stream has one task at either end, alone. */
bool td_net_ends(TdNet *n);

/* facts.c: index expressions of a body at an instance. */
typedef struct TdNetFacts {
  TdArena *arena;
  TdSession *session;
  const TdUnit *unit;
  TdMap decl;        /* FOR, and LOCAL of a table or a scalar that keeps its value, by symbol */
  TdMap coord;       /* number + 1 */
  const int64_t *at; /* values of coordinates */
} TdNetFacts;
TdNetFacts td_net_facts_of(TdArena *a, TdSession *s, const TdUnit *u);
TdSpan td_net_facts_span(TdNetFacts *f, const int64_t *at, const TdExpr *e);
/* An index expression of u with the values of its sizes. */
const TdExpr *td_net_facts_index(TdStore *st, const TdUnit *u, const TdExpr *e);
/* A number of which all differences of e's values are multiples; 0: e has one value. */
int64_t td_net_facts_stride(TdNetFacts *f, const int64_t *at, const TdExpr *e);
int64_t td_net_facts_gcd(int64_t x, int64_t y);

/* box.c: the elements of an array that a body touches. */
typedef struct TdNetBox {
  int64_t lo[TD_MAX_RANK], hi[TD_MAX_RANK]; /* the first and the last index in each dimension */
  int64_t step[TD_MAX_RANK]; /* apart, in this box and those put here before; 0: one element */
} TdNetBox;
/* Puts the box around what the body of f's unit touches of an array with constant extents where its
 * coordinates are `at`; false: it touches nothing. */
bool td_net_box_of(TdNet *n, TdNetFacts *f, TdSym array, const TdType *t, const int64_t *at,
                   TdNetBox *box);

#endif
