/* carried.h - values that the axes of an unfold carry, and operands that instances share, as
 * streams between instances; what comes from outside the grid as streams from a driver. */
#ifndef TD_REWRITE_TASK_CARRIED_H
#define TD_REWRITE_TASK_CARRIED_H

#include "rewrite/task/network.h"

#define TD_CARRIED_LOOPS 16

/* A distance between iterations: so many along each loop of the nest. */
typedef struct TdStride {
  int64_t by[TD_CARRIED_LOOPS];
} TdStride;

/* A stream array over those coordinates that get from it: n[a] along axis a, from lo[a] on. An axis
 * along which it has one is no dimension of it. */
typedef struct TdCarriedStream {
  TdStream stream;
  const TdExpr *lo[TD_MAX_RANK], *n[TD_MAX_RANK];
} TdCarriedStream;

/* Where a value comes from: the iteration `shift` before, if that is in the domain. */
typedef struct TdSource {
  TdStride shift;
  int64_t dir[TD_MAX_RANK]; /* along the axes, as elements of the array lie */
  bool link;                /* in another instance */
  bool wraps;               /* past the edge of the grid, a step of an outer loop later */
  bool now;           /* what goes back, for the next iteration: the driver gets it in this one */
  const TdExpr *cond; /* whether it is in the domain; NULL: always */
  TdCarriedStream *stream; /* NULL: none, or the driver's */
} TdSource;

/* Instances that get a value from the driver: those of the stream, while `cond` (NULL: always)
 * holds there, and `here` tells them from all others. */
typedef struct TdFace {
  const TdExpr *cond, *here;
  TdCarriedStream *stream;
} TdFace;

/* A dimension in which a value comes from elsewhere: its sources as far as this one decides. */
typedef struct TdCarriedDim {
  int axis;             /* that one of its loops is; -1: none; -2: several */
  bool straight;        /* no other loop decides whether it is across the edge */
  const TdExpr *beyond; /* whether, in a box, no iteration is there; NULL: never */
  TD_VEC(TdSource) part;
} TdCarriedDim;

/* An element that the body reads, in the iterations of which some get it by stream. */
typedef struct TdCarriedValue {
  const TdExpr *load;
  TdSym local;
  bool own;   /* the element that the iteration writes */
  bool ahead; /* further along some dimension than that */
  TD_VEC(TdSource) source;
  TD_VEC(TdCarriedDim) dim;
  TD_VEC(TdFace) face;
} TdCarriedValue;

/* An array of which values travel: one that the nest writes in one place, or only reads. */
typedef struct TdCarriedArray {
  TdSym sym;
  const TdType *elem;
  const TdStmt *decl; /* NULL: a parameter */
  const TdType *type;
  const TdExpr *place; /* the element that an iteration writes; NULL: an operand */
  TdSym local;         /* stands for it in an instance, or NULL */
  bool stays;          /* some values come from earlier iterations of the same instance */
  TD_VEC(TdCarriedValue) value;
  TD_VEC(TdSource) back;              /* what goes back to the driver */
  const TdExpr *const *result;        /* the one element that is read after the nest, or NULL */
  const TdExpr *at[TD_CARRIED_LOOPS]; /* the iteration that writes it */
  size_t by_back;                     /* what goes back and carries it: its number + 1, or 0 */
  bool all;                           /* all are read after it */
  TdCarriedStream *out;               /* the stream of results, or NULL */
} TdCarriedArray;

/* A way that values of an array go: an entry of the user's lists. */
typedef struct TdWay {
  TdCarriedArray *array;
  int64_t by[TD_MAX_RANK];
  bool used;
} TdWay;

typedef struct TdCarried {
  TdRewrite *r;
  const TdUnit *unit;
  const TdStmt *loop[TD_CARRIED_LOOPS]; /* the perfect nest */
  int axis[TD_CARRIED_LOOPS];           /* of the task, or -1 */
  size_t nloop;
  const TdStmt *body;  /* of the innermost loop, within its guard */
  const TdExpr *guard; /* a clamp: what holds of an iteration holds of those before; or NULL */
  int rank;
  const TdExpr *extent[TD_MAX_RANK];
  size_t of_axis[TD_MAX_RANK]; /* its loop */
  const char *driver;          /* the name of the task outside the grid, or NULL */
  TD_VEC(TdCarriedArray *) array;
  TD_VEC(TdWay) way;
  TD_VEC(TdStream) stream;
} TdCarried;

/* Finds the values of the named arrays that travel, and the ways `by` (rank numbers each; NULL: all
 * there are). False with r->diag filled. */
bool td_carried_find(TdCarried *c, const char *const *name, size_t n, const int64_t *by,
                     size_t nby);

/* Whether the nest is a box; if not, *at is a loop whose bounds use others. */
bool td_carried_is_box(const TdCarried *c, const TdStmt **at);

/* Makes the streams; the nest is a statement of the unit's body. False with r->diag filled. */
bool td_carried_streams(TdCarried *c, const TdStmt *nest);

/* Settles in which order the nest runs a source, and what kind it is; carried.c. */
typedef enum { TD_SAME, TD_LATER, TD_EARLIER, TD_TURNED } TdCarriedOrder;
TdCarriedOrder td_carried_settle(const TdCarried *c, TdSource *s);
/* The one iteration whose element is `by` (a number for each dimension) behind that of another: its
 * distance, solved where digits do not tell it. MANY: it is not known that there is just one; NONE:
 * no iteration writes it. *again: the place leaves some loop out. carried_affine.c. */
typedef enum { TD_SOLVED_ONE, TD_SOLVED_NONE, TD_SOLVED_MANY } TdCarriedSolved;
TdCarriedSolved td_carried_affine(const TdCarried *c, const TdCarriedArray *a, const int64_t *by,
                                  TdStride *out, bool *again);
/* The iteration that writes the element at `index`: an expression for each loop. False: not found
 * digit by digit. */
bool td_carried_solve(const TdCarried *c, const TdCarriedArray *a, const TdExpr *const *index,
                      const TdExpr **at);

/* The statements of an iteration with values from and to streams, and what an instance declares
 * before its loops (NULL: nothing). */
const TdStmt *td_carried_body(const TdCarried *c);
const TdStmt *td_carried_declare(const TdCarried *c);

/* The statements of the driver: those of the unit, with its side of the streams for the nest. */
const TdStmt *td_carried_driver(const TdCarried *c, const TdStmt *nest);

/* carried_way.c: expressions about iterations and ends of streams. */

/* carried_clamp.c: u with the conditions between the loops of a nest inside loop `last`; NULL: the
 * innermost. */
const TdUnit *td_carried_sink(TdRewrite *r, const TdUnit *u, const TdStmt *first,
                              const TdStmt *last);
/* Finds the body of the nest, and its guard. */
void td_carried_find_guard(TdCarried *c);

/* Whether an iteration `shift` later is there to get a value. */
const TdExpr *td_carried_goes_on(const TdCarried *c, const TdStride *shift);
/* Whether the iteration `sign` times shift away is in the box; NULL: it always is. */
const TdExpr *td_carried_inside(const TdCarried *c, const TdStride *shift, int sign);
/* The same, where the instance is in the grid. */
const TdExpr *td_carried_in_time(const TdCarried *c, const TdStride *shift, int sign);
/* x and y; either may be NULL. */
const TdExpr *td_carried_and(const TdCarried *c, const TdExpr *x, const TdExpr *y);
const TdExpr *td_carried_not(const TdCarried *c, const TdExpr *x);
/* The coordinate along an axis, by its loop's variable. */
const TdExpr *td_carried_at(const TdCarried *c, int axis);
/* e of the iteration `sign` times shift away. */
const TdExpr *td_carried_moved(const TdCarried *c, const TdExpr *e, const TdStride *shift,
                               int sign);
/* The end at the instance `shift` (NULL: none) after this one. */
const TdExpr *td_carried_end(const TdCarried *c, const TdCarriedStream *s, const TdStride *shift,
                             const TdType *token);
/* Whether an iteration writes the element that is the array's result. */
const TdExpr *td_carried_is_result(const TdCarried *c, const TdCarriedArray *a);
/* Whether an element of a load has equal indices. */
bool td_carried_same(const TdCarried *c, const TdExpr *x, const TdExpr *y);
/* if cond then s; s without a condition. */
const TdStmt *td_carried_if(const TdCarried *c, const TdExpr *cond, const TdStmt *s);

#endif
