/* verify_route.c - whether all streams by DMA find ways through the switches of the tiles: a switch
 * has so many ports to each neighbour, and a stream takes one of each switch that it leaves; one to
 * several tiles takes it once.
 *
 * Ways are found one by one, the shortest at prices that ports have; those that too many take get
 * dearer from round to round, until none is taken too often (negotiated congestion). */
#include <string.h>

#include "backends/npu/verify.h"

enum { ROUNDS = 48, FREE = 64 };

/* One stream: where it begins and ends, and the ports that it takes. */
typedef struct Net {
  const TdNpuLine *line;
  bool *port; /* of all tiles */
} Net;

typedef struct Route {
  TdArena *arena;
  const TdNpuMachine *x;
  int cols, rows;
  TD_VEC(Net) net;
  int64_t *use, *price; /* of each port: nets, what was paid for too many */
} Route;

static const struct {
  int col, row;
  const char *name;
} ways[TD_WAYS] = {
    [TD_WAY_NORTH] = {0, 1, "north"},
    [TD_WAY_SOUTH] = {0, -1, "south"},
    [TD_WAY_EAST] = {1, 0, "east"},
    [TD_WAY_WEST] = {-1, 0, "west"},
};

static size_t cell_of(const Route *r, size_t tile) {
  const TdMlirOp *op = r->x->tile.at[tile];
  return (size_t)(td_npu_int(op, "row", 0) * r->cols + td_npu_int(op, "col", 0));
}

static int ports_of(const Route *r, size_t cell, int way) {
  return td_tiles[td_device_row((int64_t)cell / r->cols)].ports[way];
}

/* The cell that lies that way, or SIZE_MAX. */
static size_t neighbour(const Route *r, size_t cell, int way) {
  int col = (int)cell % r->cols + ways[way].col, row = (int)cell / r->cols + ways[way].row;
  bool there = col >= 0 && col < r->cols && row >= 0 && row < r->rows && ports_of(r, cell, way);
  return there ? (size_t)(row * r->cols + col) : SIZE_MAX;
}

/* What a net pays for a port that it does not have. */
static int64_t price_of(const Route *r, size_t cell, int way) {
  size_t at = cell * TD_WAYS + (size_t)way;
  int64_t over = r->use[at] + 1 - ports_of(r, cell, way);
  return FREE + r->price[at] + (over > 0 ? over * FREE * 8 : 0);
}

/* Adds the cheapest way from the cells that a net reaches to one more. */
static void reach(Route *r, Net *n, bool *reached, size_t to) {
  size_t cells = (size_t)(r->cols * r->rows);
  int64_t *cost = TD_NEWN(r->arena, int64_t, cells);
  int *from = TD_NEWN(r->arena, int, cells);
  bool *done = TD_NEWN(r->arena, bool, cells);
  for (size_t i = 0; i < cells; i++) cost[i] = reached[i] ? 0 : INT64_MAX;
  for (size_t turn = 0; turn < cells; turn++) {
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < cells; i++)
      if (!done[i] && cost[i] < INT64_MAX && (best == SIZE_MAX || cost[i] < cost[best])) best = i;
    if (best == SIZE_MAX || best == to) break;
    done[best] = true;
    for (int way = 0; way < TD_WAYS; way++) {
      size_t next = neighbour(r, best, way);
      if (next == SIZE_MAX || reached[next]) continue;
      int64_t sum = cost[best] + price_of(r, best, way);
      if (sum >= cost[next]) continue;
      cost[next] = sum;
      from[next] = way;
    }
  }
  while (!reached[to]) {
    int way = from[to];
    size_t back = (size_t)((int64_t)to - ways[way].row * r->cols - ways[way].col);
    reached[to] = true;
    n->port[back * TD_WAYS + (size_t)way] = true;
    r->use[back * TD_WAYS + (size_t)way]++;
    to = back;
  }
}

/* Finds the ways of a net anew. */
static void route(Route *r, Net *n) {
  size_t cells = (size_t)(r->cols * r->rows);
  bool *reached = TD_NEWN(r->arena, bool, cells);
  for (size_t i = 0; i < cells * TD_WAYS; i++) {
    r->use[i] -= n->port[i];
    n->port[i] = false;
  }
  reached[cell_of(r, n->line->from_tile)] = true;
  for (size_t i = 0; i < n->line->nto; i++) reach(r, n, reached, cell_of(r, n->line->to_tile[i]));
}

/* The port that is asked for most beyond what there is; SIZE_MAX: none is. */
static size_t worst(Route *r) {
  size_t cells = (size_t)(r->cols * r->rows), at = SIZE_MAX;
  int64_t most = 0;
  for (size_t i = 0; i < cells * TD_WAYS; i++) {
    int64_t over = r->use[i] - ports_of(r, i / TD_WAYS, (int)(i % TD_WAYS));
    if (over > 0) r->price[i] += over * FREE;
    if (over <= most) continue;
    most = over;
    at = i;
  }
  return at;
}

/* Refuses for want of ports, with the streams that meet there. */
static bool refuse(const Route *r, size_t port, TdDiag *d) {
  TdText who = td_text_new(d->arena);
  const TdMlirOp *last = NULL;
  size_t cell = port / TD_WAYS;
  int way = (int)(port % TD_WAYS);
  for (size_t i = 0; i < r->net.n; i++) {
    if (!r->net.at[i].port[port]) continue;
    td_text_putf(&who, "%s'%s'", last ? ", " : "", r->net.at[i].line->name);
    last = r->net.at[i].line->op;
  }
  td_diag_set(d, TD_UNSUPPORTED, "npu-route", last->loc,
              "no ways were found for all streams: %lld leave the tile at column %d, row %d to the "
              "%s, which has %d ports: %s",
              (long long)r->use[port], (int)cell % r->cols, (int)cell / r->cols, ways[way].name,
              ports_of(r, cell, way), td_text_str(&who));
  td_diag_help(d, "place tasks nearer to those that they have streams to, hand blocks out in "
                  "several columns, or coalesce");
  return false;
}

bool td_npu_verify_route(const TdNpuMachine *x, TdDiag *d) {
  TdArena *a = td_arena_scratch(td_arena_ctx(x->arena));
  Route r = {.arena = a, .x = x, .cols = x->device->cols, .rows = x->device->rows};
  size_t ports = (size_t)(r.cols * r.rows) * TD_WAYS, bad = 0;
  r.use = TD_NEWN(a, int64_t, ports);
  r.price = TD_NEWN(a, int64_t, ports);
  for (size_t i = 0; i < x->line.n; i++) {
    if (td_npu_verify_shared(x, &x->line.at[i])) continue;
    Net n = {&x->line.at[i], TD_NEWN(a, bool, ports)};
    td_vec_push(a, &r.net, n);
  }
  for (int round = 0; round < ROUNDS && bad != SIZE_MAX; round++) {
    td_ctx_tick(td_arena_ctx(x->arena), 1);
    for (size_t i = 0; i < r.net.n; i++) route(&r, &r.net.at[i]);
    bad = worst(&r);
  }
  bool ok = bad == SIZE_MAX || refuse(&r, bad, d);
  td_arena_free(a);
  return ok;
}
