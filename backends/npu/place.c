/* place.c - cores for tasks without a mark. What counts first is that no tile has more streams by
 * DMA than channels: neighbours need none; then how far streams lead. Up to EXACT tasks all places
 * are tried, with those left out that cost more than the best so far even without the rest (branch
 * and bound); beyond, places are exchanged as long as that helps, from several starts. */
#include "backends/npu/plan.h"

enum { EXACT = 8, EXCESS = 1000, STARTS = 24, STEPS = 1 << 22 };

/* A stream between two tasks, or between one and a place. */
typedef struct Edge {
  uint32_t from, to;      /* numbers of tasks to place, or NONE */
  int64_t col[2], row[2]; /* of an end that has its place; row 0: any column */
} Edge;

typedef struct Place {
  TdNpuPlan *p;
  size_t n, ntile;
  uint32_t *inst; /* to place */
  TD_VEC(Edge) edge;
  int64_t *col, *row; /* of free tiles */
  size_t *at, *best;  /* of each task, its tile */
  int64_t best_cost;
  uint64_t steps, seed;
  int64_t (*use)[2]; /* scratch: streams to and from each core by DMA */
} Place;

static bool is_taken(const TdNpuForm *f, int64_t col, int64_t row, const TdNpuInst *but) {
  for (size_t i = 0; i < f->inst.n; i++) {
    const TdNpuInst *x = &f->inst.at[i];
    if (x != but && x->role != TD_NPU_HOST && x->placed && x->col == col && x->row == row)
      return true;
  }
  return false;
}

/* Whether a mark names a tile that the device has, and no other task's. */
static bool check_place(const TdNpuForm *f, const TdDevice *v, const TdNpuInst *x) {
  if (x->col < 0 || x->col >= v->cols || x->row < 1 || x->row >= v->rows) {
    td_diag_set(f->diag, TD_UNSUPPORTED, "npu-place", x->run->loc,
                "%s is placed at column %lld, row %lld; %s has columns 0 to %d, rows 1 to %d",
                x->name, (long long)x->col, (long long)x->row, v->name, v->cols - 1, v->rows - 1);
    return false;
  }
  if (x->role == TD_NPU_MEM || !is_taken(f, x->col, x->row, x)) return true;
  td_diag_set(f->diag, TD_ILLEGAL, "npu-place", x->run->loc,
              "%s is placed at column %lld, row %lld, where another task is: a core runs one",
              x->name, (long long)x->col, (long long)x->row);
  return false;
}

bool td_npu_place_check(const TdNpuForm *f, const TdDevice *device) {
  for (size_t i = 0; i < f->inst.n; i++) {
    const TdNpuInst *x = &f->inst.at[i];
    if (x->placed && x->role != TD_NPU_HOST && !check_place(f, device, x)) return false;
  }
  return true;
}

/* ---- cost ---- */

/* The place of end i of a stream. */
static void end_at(const Place *k, const Edge *e, const size_t *at, int i, int64_t *col,
                   int64_t *row) {
  uint32_t task = i ? e->to : e->from;
  *col = task == TD_NPU_NONE ? e->col[i] : k->col[at[task]];
  *row = task == TD_NPU_NONE ? e->row[i] : k->row[at[task]];
}

static int64_t distance(int64_t x, int64_t y) {
  return x > y ? x - y : y - x;
}

/* The number of a core in `use`. */
static size_t number(const Place *k, int64_t col, int64_t row) {
  return (size_t)(col * k->p->device->rows + row);
}

/* What the places of the first n tasks cost: streams beyond channels, and ways. */
static int64_t cost_of(Place *k, const size_t *at, size_t n) {
  const TdTileInfo *core = &td_tiles[TD_TILE_CORE];
  int64_t cost = 0;
  size_t cells = (size_t)(k->p->device->cols * k->p->device->rows);
  for (size_t i = 0; i < cells; i++) k->use[i][0] = k->use[i][1] = 0;
  for (size_t i = 0; i < k->edge.n; i++) {
    const Edge *e = &k->edge.at[i];
    int64_t col[2], row[2];
    if ((e->from != TD_NPU_NONE && e->from >= n) || (e->to != TD_NPU_NONE && e->to >= n)) continue;
    for (int s = 0; s < 2; s++) end_at(k, e, at, s, &col[s], &row[s]);
    int64_t way = distance(row[0], row[1]);
    if (row[0] && row[1]) way += distance(col[0], col[1]);
    bool cores = row[0] > 1 && row[1] > 1;
    if (cores && way == 1) continue;
    cost += 1 + way;
    if (row[0] > 1) cost += ++k->use[number(k, col[0], row[0])][1] > core->mm2s ? EXCESS : 0;
    if (row[1] > 1) cost += ++k->use[number(k, col[1], row[1])][0] > core->s2mm ? EXCESS : 0;
  }
  return cost;
}

/* ---- all places ---- */

static void keep(Place *k, int64_t cost) {
  if (cost >= k->best_cost) return;
  k->best_cost = cost;
  for (size_t i = 0; i < k->n; i++) k->best[i] = k->at[i];
}

/* Tries all places of the tasks from number i on; false: that takes too long. */
static bool try_all(Place *k, size_t i, uint64_t taken) {
  td_ctx_tick(td_arena_ctx(k->p->form->arena), 1);
  if (i == k->n) {
    keep(k, cost_of(k, k->at, k->n));
    return true;
  }
  for (size_t t = 0; t < k->ntile; t++) {
    if (taken >> t & 1) continue;
    if (k->steps++ > STEPS) return false;
    k->at[i] = t;
    if (cost_of(k, k->at, i + 1) >= k->best_cost) continue;
    if (!try_all(k, i + 1, taken | (uint64_t)1 << t)) return false;
  }
  return true;
}

/* ---- exchanges ---- */

static uint64_t next(Place *k) {
  k->seed = k->seed * 6364136223846793005u + 1442695040888963407u;
  return k->seed >> 33;
}

/* Exchanges the places of task i with tile t, or with the task there. */
static void exchange(Place *k, size_t i, size_t t) {
  for (size_t j = 0; j < k->n; j++)
    if (k->at[j] == t) k->at[j] = k->at[i];
  k->at[i] = t;
}

/* Makes the places better as long as one exchange does; returns their cost. */
static int64_t improve(Place *k) {
  int64_t cost = cost_of(k, k->at, k->n);
  for (bool better = true; better;) {
    better = false;
    for (size_t i = 0; i < k->n; i++)
      for (size_t t = 0; t < k->ntile; t++) {
        size_t was = k->at[i];
        if (t == was) continue;
        td_ctx_tick(td_arena_ctx(k->p->form->arena), 1);
        exchange(k, i, t);
        int64_t now = cost_of(k, k->at, k->n);
        if (now < cost) {
          cost = now;
          better = true;
        } else {
          exchange(k, i, was);
        }
      }
  }
  return cost;
}

/* Starts: each task where it costs least beside those before it, then at random. */
static void start(Place *k, int number) {
  for (size_t i = 0; i < k->n; i++) {
    int64_t least = INT64_MAX;
    size_t best = 0;
    for (size_t t = 0; t < k->ntile; t++) {
      bool free = true;
      for (size_t j = 0; j < i; j++) free &= k->at[j] != t;
      if (!free) continue;
      k->at[i] = t;
      int64_t cost = number ? (int64_t)next(k) : cost_of(k, k->at, i + 1);
      if (cost >= least) continue;
      least = cost;
      best = t;
    }
    k->at[i] = best;
  }
}

/* ---- the tasks and the streams between them ---- */

/* The number of an instance among those to place, or NONE. */
static uint32_t task_of(const Place *k, uint32_t inst) {
  for (uint32_t i = 0; i < k->n; i++)
    if (k->inst[i] == inst) return i;
  return TD_NPU_NONE;
}

static void add_edges(Place *k) {
  const TdNpuForm *f = k->p->form;
  for (size_t i = 0; i < f->chan.n; i++) {
    const TdNpuChan *c = &f->chan.at[i];
    if (c->from == TD_NPU_NONE || c->to == TD_NPU_NONE) continue;
    Edge e = {.from = task_of(k, c->from), .to = task_of(k, c->to)};
    for (int s = 0; s < 2; s++) {
      const TdNpuInst *x = &f->inst.at[s ? c->to : c->from];
      e.col[s] = x->role == TD_NPU_HOST ? 0 : x->col;
      e.row[s] = x->role == TD_NPU_HOST ? 0 : x->row;
    }
    td_vec_push(f->arena, &k->edge, e);
  }
}

/* Tasks in an order in which each has streams to those before it, where some has. */
static void sort_tasks(Place *k, uint32_t *todo, size_t n) {
  const TdNpuForm *f = k->p->form;
  k->inst = TD_NEWN(f->arena, uint32_t, n + 1);
  while (k->n < n) {
    size_t best = 0, most = 0;
    for (size_t i = 0; i < n - k->n; i++) {
      size_t links = 0;
      for (size_t c = 0; c < f->chan.n; c++) {
        const TdNpuChan *x = &f->chan.at[c];
        uint32_t other = x->from == todo[i] ? x->to : x->to == todo[i] ? x->from : TD_NPU_NONE;
        if (other == TD_NPU_NONE) continue;
        links += f->inst.at[other].placed || task_of(k, other) != TD_NPU_NONE;
      }
      if (links <= most) continue;
      most = links;
      best = i;
    }
    k->inst[k->n++] = todo[best];
    for (size_t i = best; i + 1 < n - k->n + 1; i++) todo[i] = todo[i + 1];
  }
}

/* Places what has no mark. */
bool td_npu_place(TdNpuPlan *p) {
  TdNpuForm *f = p->form;
  TdArena *a = f->arena;
  size_t cells = (size_t)(p->device->cols * p->device->rows), n = 0;
  uint32_t *todo = TD_NEWN(a, uint32_t, f->inst.n + 1);
  Place k = {.p = p, .best_cost = INT64_MAX, .seed = 1};
  for (uint32_t i = 0; i < f->inst.n; i++)
    if (f->inst.at[i].role != TD_NPU_HOST && !f->inst.at[i].placed) todo[n++] = i;
  if (!n) return true;
  k.col = TD_NEWN(a, int64_t, cells);
  k.row = TD_NEWN(a, int64_t, cells);
  for (int64_t col = 0; col < p->device->cols; col++)
    for (int64_t row = 2; row < p->device->rows; row++) {
      if (is_taken(p->form, col, row, NULL)) continue;
      k.col[k.ntile] = col;
      k.row[k.ntile++] = row;
    }
  if (n > k.ntile) {
    const TdNpuInst *x = &f->inst.at[todo[k.ntile]];
    td_diag_set(f->diag, TD_UNSUPPORTED, "npu-place", x->run->loc, "%s: there is no core left",
                x->name);
    td_diag_help(f->diag, "%s has %d: bundle and chain make fewer tasks", p->device->name,
                 p->device->cols * (p->device->rows - 2));
    return false;
  }
  sort_tasks(&k, todo, n);
  add_edges(&k);
  k.at = TD_NEWN(a, size_t, n);
  k.best = TD_NEWN(a, size_t, n);
  k.use = td_arena_alloc(a, cells * sizeof *k.use);
  for (int i = 0; i < STARTS && k.best_cost > 0; i++) {
    start(&k, i);
    keep(&k, improve(&k));
  }
  if (n <= EXACT) try_all(&k, 0, 0);
  for (size_t i = 0; i < n; i++) {
    TdNpuInst *x = &f->inst.at[k.inst[i]];
    x->placed = true;
    x->col = k.col[k.best[i]];
    x->row = k.row[k.best[i]];
  }
  return true;
}
