/* layout.h - a descriptor (desc.h) with names: coordinates on the side of its ordinals, each some
 * of the digits, and axes on the side of its places, such as instance, bank, address and lane.
 *
 * A place is one number, the axes' values in mixed radix, outermost axis first. Ordinals are the
 * coordinates in mixed radix, outermost coordinate first. The algebra is CuTe's, with digits
 * written outermost first where CuTe writes the fastest mode first. */
#ifndef TD_LAYOUT_H
#define TD_LAYOUT_H

#include "ir/desc.h"

#define TD_LAYOUT_RANK 12
#define TD_LAYOUT_AXES 8
#define TD_LAYOUT_NAME 12

/* What enumeration of places may take. */
#define TD_LAYOUT_MOST (INT64_C(1) << 22)

typedef struct TdLayoutAxis {
  char name[TD_LAYOUT_NAME]; /* "p0": an axis of a map; "bank", "bank1", "address", "lane" */
  int64_t n;
} TdLayoutAxis;

typedef struct TdLayout {
  TdDesc at; /* the digits of a coordinate together, its largest first */
  int rank;
  int first[TD_LAYOUT_RANK + 1]; /* coordinate r has digits first[r] .. first[r + 1] - 1 */
  int naxis;                     /* 0: a place is an address */
  TdLayoutAxis axis[TD_LAYOUT_AXES];
} TdLayout;

/* Each digit of d as a coordinate of its own; false when there are too many. */
bool td_layout_of_desc(const TdDesc *d, TdLayout *out);
/* Values of coordinate r. */
int64_t td_layout_extent(const TdLayout *l, int r);
/* How many ordinals there are: at most 2^62, since whoever makes a layout sees to that. */
int64_t td_layout_count(const TdLayout *l);
/* The value of axis k of a place. */
int64_t td_layout_on(const TdLayout *l, int64_t place, int k);
/* Least and greatest place; the layout is not empty. */
void td_layout_range(const TdLayout *l, int64_t *least, int64_t *most);

/* How one dimension of a tensor lies. */
typedef enum { TD_LIES_WHOLE, TD_LIES_BLOCK, TD_LIES_CYCLIC, TD_LIES_COMPLETE } TdLies;
typedef struct TdLayoutPart {
  TdLies how;
  int64_t n;        /* BLOCK, CYCLIC: into so many */
  const char *axis; /* that it is spread over; not of WHOLE */
  int place;        /* of the axis among the others, outermost first */
} TdLayoutPart;
/* A row-major tensor, spread over axes by dimension; its last dimension in words of `lanes`. False
 * with *why. */
bool td_layout_spread(TdArena *a, const int64_t *extent, int rank, const TdLayoutPart *part,
                      int64_t lanes, TdLayout *out, const char **why);

/* The functions below make a layout, or return false with *why in words, owned by a. */
/* l without digits that merge; each digit left is a coordinate. */
bool td_layout_normal(TdArena *a, const TdLayout *l, TdLayout *out, const char **why);
/* From places, by the axes of l, to ordinals. */
bool td_layout_inverse(TdArena *a, const TdLayout *l, TdLayout *out, const char **why);
/* l after m: coordinates of m, axes of l. */
bool td_layout_compose(TdArena *a, const TdLayout *l, const TdLayout *m, TdLayout *out,
                       const char **why);
/* The same by coordinate: coordinate r of l after m[r], of which there are n. */
bool td_layout_compose_each(TdArena *a, const TdLayout *l, const TdLayout *const *m, int n,
                            TdLayout *out, const char **why);
/* Coordinate k of the result is coordinate order[k] of l; order holds each once. */
bool td_layout_permute(TdArena *a, const TdLayout *l, const int64_t *order, int n, TdLayout *out,
                       const char **why);
/* Coordinates from lo[r] to hi[r]; one that is kept[r] false is at lo[r] and goes. */
bool td_layout_slice(TdArena *a, const TdLayout *l, const int64_t *lo, const int64_t *hi,
                     const bool *kept, TdLayout *out, const char **why);
/* Tiles of size[r], in coordinates of the tiles, then those inside; size 1 .. extent divides. */
bool td_layout_tile(TdArena *a, const TdLayout *l, const int64_t *size, TdLayout *out,
                    const char **why);
/* The places below n that l leaves out, in order, as offsets of copies of l: l and it together
 * reach each place below n once. */
bool td_layout_complement(TdArena *a, const TdLayout *l, int64_t n, TdLayout *out,
                          const char **why);
/* l in parts: of ordinals (tile, where in the tile), the tile being what m reaches. */
bool td_layout_divide(TdArena *a, const TdLayout *l, const TdLayout *m, TdLayout *out,
                      const char **why);
/* As many copies of l as m has ordinals, in its order. */
bool td_layout_product(TdArena *a, const TdLayout *l, const TdLayout *m, TdLayout *out,
                       const char **why);

/* Whether they are the same function of the ordinal, to the same axes. */
bool td_layout_same(const TdLayout *l, const TdLayout *m);

/* Two ordinals of one place. */
typedef struct TdLayoutMeet {
  int64_t left, right, place;
} TdLayoutMeet;
typedef enum { TD_LAYOUT_NO, TD_LAYOUT_YES, TD_LAYOUT_TOO_LARGE } TdLayoutAnswer;
/* Whether l and m reach a common place, the first in l's order; scratch in a. */
TdLayoutAnswer td_layout_overlap(TdArena *a, const TdLayout *l, const TdLayout *m,
                                 TdLayoutMeet *out);

/* Accesses of one cycle that meet in a bank. */
typedef struct TdLayoutConflict {
  int64_t cycle, bank, cycles; /* the worst cycle, and how many have a conflict */
  int64_t ways;                /* words of one bank in that cycle */
  int64_t lane[2], place[2];   /* two of them */
} TdLayoutConflict;
/* Whether, in a cycle of `lanes` ordinals in a row, two reach different words of a bank: the bank
 * axes of l where banks is 0, else word p // word modulo `banks`. */
TdLayoutAnswer td_layout_conflict(TdArena *a, const TdLayout *l, int64_t lanes, int64_t banks,
                                  int64_t word, TdLayoutConflict *out);

/* The argument of tide.layout that gives l: "{{8, 128}, {{4, 8}, {2, 4}}, offset = 3}". */
void td_layout_print(TdText *out, const TdLayout *l);

#endif
