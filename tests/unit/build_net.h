/* build_net.h - designs of one argument and one result, for tests of networks. */
#ifndef BUILD_NET_H
#define BUILD_NET_H

#include "build_ir.h"

/* A design of one argument A and one result R, both rows of n, whose tasks are added one by one. */
typedef struct Net {
  TdUnit *d;
  TdSym A, R;
  const TdType *row;
  const TdUnit *unit[16];
  size_t n;
} Net;

static inline Net net(const TdType *row) {
  Net x = {.A = arg("A"), .R = arg("R"), .row = row};
  x.d = UNIT(DESIGN, "top", P(x.A, x.row), P(x.R, x.row));
  return x;
}

/* Adds kernel k as a task over the map, with its first two parameters bound by the layout. */
static inline void task(Net *x, TdUnit *k, int rank, const int64_t *map, const char *layout) {
  x->unit[x->n++] = k;
  add_run(x->d, k, rank, map,
          BIND({k->param[0].sym, x->A, layout}, {k->param[1].sym, x->R, layout}));
}

static inline const TdProg *program(Net *x) {
  x->unit[x->n++] = x->d;
  return prog(x->n, x->unit);
}

#endif
