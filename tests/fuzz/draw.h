/* draw.h - a random call under way: the loops of the program, and what is near one of them. */
#ifndef FUZZ_DRAW_H
#define FUZZ_DRAW_H

#include "tests/fuzz/chain.h"

enum { NONSENSE = 4, MOST_LOOPS = 64, MOST_NAMES = 96, MOST_ROW = 4 };

/* A loop of the program, and where it stands. */
typedef struct Site {
  const TdUnit *unit;
  const TdStmt *loop, *block; /* block: the one that holds it */
  int parent;                 /* the loop around it, or -1 */
} Site;

typedef struct Draw {
  Rng *rng;
  TdArena *arena;
  TdAffine *affine;
  const TdProg *prog;
  Site site[MOST_LOOPS];
  int nsite;
  int focus;          /* the loop that the call is about, or -1 */
  int second;         /* the loop that a second loop argument is to be, or -1 */
  int loops;          /* loop arguments drawn so far */
  const char *array;  /* the array that the call is about, or NULL */
  const TdUnit *unit; /* where that is */
} Draw;

/* draw_loop.c */
/* The loops of p; the focus is one of them. */
Draw draw_start(Rng *rng, TdArena *a, TdAffine *affine, const TdProg *p);
/* The name that finds a loop. */
const char *draw_spec(const Draw *d, int site);
/* A name that fits nowhere, or not here. */
const char *draw_nonsense(Draw *d);
/* The focus or, as a second loop, one that is near it. */
const char *draw_loop(Draw *d);
/* The names of a band, or of a loop; *rank loops. */
const char *draw_band(Draw *d, int *rank);
/* Two loops or more, as a list that takes the rest of the arguments; `reorders`: mostly one inside
 * the other, in another order. */
void draw_loops(Draw *d, bool reorders, TdArgValue *v);
/* Moves the focus to a nest that computes what a later one, the second loop, uses; d->array is
 * that. */
void draw_producer(Draw *d);
bool draw_has_producer(const Draw *d);

/* draw_known.c: primitives whose arguments are drawn all together. */
bool draw_is_known(const TdPrim *prim);
/* Fills the arguments of one; false when the program has nothing that it is for. */
bool draw_known(Draw *d, const TdPrim *prim, TdArgValue *arg);

/* draw_stream.c: of these, those on what moves through designs. */
bool draw_expand(Draw *d, TdArgValue *arg);
bool draw_isolate(Draw *d, TdArgValue *arg);
bool draw_hoist(Draw *d, TdArgValue *arg);
bool draw_coalesce(Draw *d, TdArgValue *arg);
bool draw_deal(Draw *d, TdArgValue *arg);
bool draw_merge(Draw *d, TdArgValue *arg);
bool draw_vectorize(Draw *d, TdArgValue *arg);
bool draw_wire(Draw *d, TdArgValue *arg);

/* A divisor of n from 2 on, or 2. */
int64_t draw_divisor(Draw *d, int64_t n);

/* draw_library.c */
/* A kernel of a library for the nest of a loop, as the Lua text that returns it; false when the
 * nest cannot be one. */
bool draw_library(Draw *d, int site, TdArgValue *v);
/* One for no nest in particular. */
extern const char *const draw_foreign_library;

/* draw_name.c */
/* An array, mostly one that the focus uses. */
const char *draw_array(Draw *d);
/* A local array that one statement of its unit's body hands to another, or one of a task; d->array
 * and d->unit are that. */
const char *draw_passed(Draw *d);
bool draw_has_passed(const Draw *d);
/* The stage or task that reads d->array. */
const char *draw_reader(Draw *d);
/* A callee or task. */
const char *draw_unit(Draw *d);
/* A stream. */
const char *draw_stream(Draw *d);

#endif
