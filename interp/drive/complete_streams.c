/* complete_streams.c - as few streams as can be: equal blocks are sent once and neighbours'
 * together (coalesce), streams between the same two tasks are one (merge), operands of one type
 * that the host sends come by one stream (chain, merge), and what a core has no port for comes by
 * way of a neighbour, whose memory it shares (isolate). */
#include "analysis/net/devices.h"
#include "drive/complete_step.h"

#include <string.h>

/* Puts tasks that hand blocks out beside each other: an instance a column. */
static void spread(TdComplete *c, int columns) {
  const TdUnit *d = td_complete_unit(c, c->design);
  int64_t next = 0;
  for (size_t i = 0; i < d->nrun; i++) {
    const TdAttr *mark = td_attrs_get(d->run[i].attrs, TD_ATTR_PLACE);
    int64_t instances = 1, extent = 0;
    for (int k = 0; k < d->run[i].rank; k++)
      instances *= td_unit_value(d, d->run[i].map[k], &extent) ? extent : 0;
    if (!mark || mark->arg[1].i != 1 || instances > columns) continue;
    if (d->run[i].rank > 1 && instances > 1) continue;
    if (next + instances > columns) next = 0;
    int64_t at[] = {next, 1}, by[2 * TD_MAX_RANK] = {1};
    next += instances;
    size_t axes = (size_t)d->run[i].rank;
    TdArgValue arg[TD_PRIM_ARGS] = {{.given = true, .text = d->run[i].sym->name},
                                    {.given = true, .ints = at, .n = 2},
                                    {.given = axes > 0, .ints = by, .n = 2 * axes}};
    TdSchedule before = c->s;
    if (at[0] == mark->arg[0].i) continue;
    if (!td_complete_apply(c, "place", arg)) c->s = before;
  }
}

/* Has one stream carry what several between the same two tasks do, along axes of their arrays. */
static void merge_all(TdComplete *c) {
  const TdUnit *d = td_complete_unit(c, c->design);
  for (size_t i = 0; i < d->nstream; i++)
    for (int axis = d->stream[i].type->rank; axis-- > 0;) {
      const char *const *made;
      TdSchedule before = c->s;
      if (!td_complete_step(c, "merge", d->stream[i].sym->name, NULL,
                            axis ? axis : TD_COMPLETE_ZERO, &made))
        c->s = before;
    }
}

/* The axis along which a task on the host moves the same blocks, or the last; -1: it has none. */
static int equal_axis(const TdUnit *d, const TdRun *run) {
  const char *layout = run->nbind ? run->bind[0].layout : NULL;
  for (int axis = 0; axis < run->rank; axis++) {
    int64_t n = 0;
    char word[] = {'S', (char)('0' + axis), 0};
    if (layout && !strstr(layout, word) && td_unit_value(d, run->map[axis], &n) && n > 1)
      return axis;
  }
  return run->rank - 1;
}

/* How many neighbours a memory tile has channels for, of an extent: all, or a factor. */
static int64_t neighbours(const TdUnit *d, const TdExpr *e, int64_t *extent) {
  int64_t most = td_tiles[TD_TILE_MEM].mm2s;
  if (!td_unit_value(d, e, extent)) *extent = 1;
  if (*extent <= most) return *extent;
  while (*extent % most) most--;
  return most;
}

/* The dimensions of the blocks that a task on the host moves. */
static bool look_block(void *ud, const TdStmt *s) {
  int *rank = ud;
  if (s->kind == TD_STMT_SLOT || s->kind == TD_STMT_GET) *rank = s->type->rank;
  return true;
}

static int block_rank(const TdComplete *c, TdSym unit) {
  int rank = -1;
  td_walk_stmt(td_arena_ctx(c->arena), td_complete_unit(c, unit)->body, look_block, &rank);
  return rank;
}

/* Has instances of a task on the host move one block for all of them along an axis; where blocks
 * differ, for as many as a memory tile has channels for. */
static void coalesce(TdComplete *c, const TdUnit *d, const TdRun *run) {
  const char *const *made, *name = run->sym->name;
  int axis = td_complete_is_host(run) ? equal_axis(d, run) : -1,
      rank = axis < 0 ? 0 : block_rank(c, run->unit);
  TdSchedule before = c->s;
  if (axis < 0 ||
      !td_complete_step(c, "coalesce", name, NULL, axis ? axis : TD_COMPLETE_ZERO, &made))
    return;
  int64_t extent, group = neighbours(d, run->map[axis], &extent);
  if (group == extent || block_rank(c, run->unit) == rank) return;
  TdArgValue arg[TD_PRIM_ARGS] = {{.given = true, .text = name},
                                  {.given = true, .integer = axis},
                                  {.given = true, .integer = group}};
  c->s = before;
  if (!td_complete_apply(c, "coalesce", arg)) c->s = before;
}

/* Has instances of each task on the host move one block for all of them along an axis. */
static void coalesce_all(TdComplete *c) {
  const TdUnit *d = td_complete_unit(c, c->design);
  for (size_t i = 0; i < d->nrun; i++) coalesce(c, d, &d->run[i]);
}

/* ---- what cores have ports for ---- */

/* The streams that a unit gets from, or puts to. */
typedef struct Ends {
  TdArena *arena;
  TdStmtKind kind;
  TD_VEC(TdSym) at;
} Ends;

static bool look_end(void *ud, const TdStmt *s) {
  Ends *e = ud;
  bool known = s->kind != e->kind;
  for (size_t i = 0; i < e->at.n && !known; i++) known = e->at.at[i] == s->expr[0]->sym;
  if (!known) td_vec_push(e->arena, &e->at, s->expr[0]->sym);
  return true;
}

static Ends ends_of(const TdComplete *c, const TdRun *run, TdStmtKind kind) {
  Ends e = {.arena = c->arena, .kind = kind};
  const TdUnit *u = td_complete_unit(c, run->unit);
  if (u->body) td_walk_stmt(td_arena_ctx(c->arena), u->body, look_end, &e);
  return e;
}

/* The task at the end of a stream of that kind, or NULL. */
static const TdRun *end_at(const TdComplete *c, TdSym stream, TdStmtKind kind) {
  const TdUnit *d = td_complete_unit(c, c->design);
  for (size_t i = 0; i < d->nrun; i++) {
    Ends e = ends_of(c, &d->run[i], kind);
    for (size_t k = 0; k < e.at.n; k++)
      if (e.at.at[k] == stream) return &d->run[i];
  }
  return NULL;
}

static bool is_core(const TdRun *run) {
  const TdAttr *mark = td_attrs_get(run->attrs, TD_ATTR_PLACE);
  return !td_complete_is_host(run) && !(mark && mark->arg[1].i == 1);
}

static int64_t depth_of(const TdComplete *c, TdSym stream) {
  const TdUnit *d = td_complete_unit(c, c->design);
  int64_t depth = 1;
  td_unit_value(d, td_unit_stream(d, stream)->depth, &depth);
  return depth;
}

/* Has one task on the host send what two do, by one stream; false: nothing changed. */
static bool join_two(TdComplete *c, TdSym x, TdSym y) {
  TdSchedule before = c->s;
  const TdRun *from[2] = {end_at(c, x, TD_STMT_PUT), end_at(c, y, TD_STMT_PUT)};
  const char *const *made, *name[2] = {x->name, y->name};
  if (!from[0] || !from[1] || from[0] == from[1]) return false;
  if (!td_complete_is_host(from[0]) || !td_complete_is_host(from[1])) return false;
  TdArgValue arg[TD_PRIM_ARGS] = {{.given = true, .names = name, .n = 2}};
  arg[3] = (TdArgValue){.given = true, .integer = depth_of(c, x) + depth_of(c, y)};
  bool done = td_complete_step(c, "chain", from[0]->sym->name, from[1]->sym->name, 0, &made) &&
              td_complete_apply(c, "merge", arg);
  if (!done) c->s = before;
  return done;
}

/* Joins two operands of a task on cores; false: none can be. */
static bool join_some(TdComplete *c) {
  const TdUnit *d = td_complete_unit(c, c->design);
  for (size_t n = 0; n < d->nrun; n++) {
    Ends e = ends_of(c, &d->run[n], TD_STMT_GET);
    for (size_t i = 0; i < e.at.n && is_core(&d->run[n]); i++)
      for (size_t k = 0; k < e.at.n; k++)
        if (i != k && join_two(c, e.at.at[i], e.at.at[k])) return true;
  }
  return false;
}

/* Has streams of a task go by way of a core beside it that its tile has no channels for: of kind
 * GET those that come, PUT those that leave. */
static void pass_on(TdComplete *c, const TdRun *run, TdStmtKind kind) {
  const TdTileInfo *tile = &td_tiles[TD_TILE_CORE];
  Ends e = ends_of(c, run, kind);
  int64_t left = kind == TD_STMT_GET ? tile->s2mm : tile->mm2s;
  for (size_t i = 0; i < e.at.n; i++) {
    const TdRun *other = end_at(c, e.at.at[i], kind == TD_STMT_GET ? TD_STMT_PUT : TD_STMT_GET);
    const char *name = e.at.at[i]->name;
    if (!other || is_core(other) || left-- > 0) continue;
    TdArgValue arg[TD_PRIM_ARGS] = {
        {.given = true, .text = name},
        {.given = true, .text = td_text_fmt(c->arena, "%s_pass", name)},
        {.given = true, .text = "device"},
    };
    TdSchedule before = c->s;
    if (!td_complete_apply(c, "isolate", arg)) c->s = before;
  }
}

static void pass_all(TdComplete *c) {
  const TdUnit *d = td_complete_unit(c, c->design);
  for (size_t i = 0; i < d->nrun; i++) {
    if (!is_core(&d->run[i])) continue;
    pass_on(c, &d->run[i], TD_STMT_GET);
    pass_on(c, &d->run[i], TD_STMT_PUT);
  }
}

void td_complete_streams(TdComplete *c) {
  while (c->way.join && join_some(c)) {
  }
  coalesce_all(c);
  merge_all(c);
  if (c->way.pass) pass_all(c);
  spread(c, c->way.columns);
}
