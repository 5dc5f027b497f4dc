/* wire.c - wire: the statements of a kernel become tasks, the arrays between them streams of rows;
 * or an argument of a design, which tasks read row by row, comes from a task that loads it. */
#include "rewrite/stream/wire.h"

#include <string.h>

enum { ARRAY, ALSO, LOOPS, NAMES, DEPTH, TURNS };

/* A statement of the kernel that becomes a task. */
typedef struct Stage {
  const TdStmt *stmt, *body; /* before; with streams */
  const TdStmt *kept;        /* a local that holds several statements together, or NULL */
  TdSym axis[TD_MAX_RANK];
  const TdExpr *extent[TD_MAX_RANK], *lo[TD_MAX_RANK];
  int rank;
} Stage;

/* The rows that one end writes: a stream for each. */
typedef struct Rows {
  TdSym array;
  const TdExpr *fixed[TD_MAX_RANK]; /* by dimension of the array; NULL: an index of the streams */
  uint32_t rank, token;
  size_t writer; /* the stage */
  TdStream stream;
} Rows;

typedef struct Wire {
  TdRewrite *r;
  const TdUnit *unit; /* the kernel, or the design */
  TD_VEC(Stage) stage;
  TD_VEC(const TdStmt *) array; /* declarations */
  TD_VEC(const TdStmt *) axis;  /* loops */
  TD_VEC(Rows) rows;
  TD_VEC(TdStream) stream;
  uint32_t token; /* of the array at hand */
} Wire;

static bool refuse(const Wire *w, const char *code, TdLoc loc, TdSym sym, const char *why) {
  td_util_refuse(w->r, TD_ILLEGAL, code, loc, "'%s' %s", sym->name, why);
  return false;
}

/* ---- stages ---- */

static bool is_named(const Wire *w, const TdStmt *loop) {
  for (size_t i = 0; i < w->axis.n; i++)
    if (w->axis.at[i] == loop) return true;
  return false;
}

/* Finds the loops that are named. */
static bool find_loops(Wire *w) {
  const TdArgValue *v = &w->r->arg[LOOPS];
  for (size_t i = 0; i < v->n; i++) {
    TdPlace at;
    if (!td_cursor_loop(w->r->arena, w->r->prog, v->names[i], &at, w->r->diag)) return false;
    td_vec_push(w->r->arena, &w->axis, at.stmt);
  }
  return true;
}

/* The outer loops of a stage that are named: its axes, whose iterations are independent. */
static bool find_axes(Wire *w, Stage *g) {
  TdAsk q = td_util_ask(w->r, w->unit);
  q.arena = w->r->store->arena;
  const TdStmt *s = g->stmt;
  while (s->kind == TD_STMT_FOR && is_named(w, s)) {
    const TdExpr *trip = td_range_trip_expr(&q, s);
    if (!trip || s->step != 1 || td_util_varies(trip))
      return refuse(w, "extent", s->loc, s->sym,
                    "does not run a number of times that only sizes decide");
    TdVerdict v = td_loop_carried_loop(&q, s);
    const char *what = td_text_fmt(w->r->arena, "wire of %s", s->sym->name);
    if (!td_verdict_accept(&v, false, w->r->diag, s->loc, what)) return false;
    g->axis[g->rank] = s->sym;
    g->lo[g->rank] = td_for_lo(s);
    g->extent[g->rank++] = trip;
    s = td_for_body(s)->nkid == 1 ? td_for_body(s)->kid[0] : td_for_body(s);
  }
  return true;
}

static bool is_own(const Wire *w, const TdStmt *s) {
  return td_wire_is_own(s, w->array.at, w->array.n);
}

/* Checks that no statement outside kid[from..to] uses a local declared there. */
static bool check_private(Wire *w, uint32_t from, uint32_t to) {
  const TdStmt *root = w->unit->body;
  for (uint32_t l = from; l < to; l++)
    for (uint32_t i = 0; is_own(w, root->kid[l]) && i < root->nkid; i++)
      if ((i < from || i > to) && td_walk_uses(w->r->session->ctx, root->kid[i], root->kid[l]->sym))
        return refuse(w, "shared", root->kid[l]->loc, root->kid[l]->sym,
                      "is no stream yet: name it too");
  return true;
}

/* Takes the stage of the statements kid[at..end]: with the locals from kid[from] on, which they
 * alone use. */
static bool add_stage(Wire *w, uint32_t from, uint32_t at, uint32_t end, const TdStmt *kept) {
  const TdStmt *root = w->unit->body;
  const TdStmt **list = TD_NEWN(w->r->store->arena, const TdStmt *, end - from + 1);
  size_t n = 0, own = 0;
  for (uint32_t i = from; i <= end; i++) {
    const TdStmt *s = root->kid[i];
    if (s->kind == TD_STMT_LOCAL && !is_own(w, s)) continue;
    own += s->kind == TD_STMT_LOCAL;
    list[n++] = s;
  }
  for (uint32_t i = at; own && i <= end; i++)
    if (root->kid[i]->kind == TD_STMT_FOR && is_named(w, root->kid[i]))
      return refuse(w, "shared", list[0]->loc, list[0]->sym,
                    "is kept by all iterations of an axis");
  const TdStmt *s = root->kid[at];
  const TdStmt *all = n == 1 ? s : td_stmt_block(w->r->store, list, n, s->loc);
  Stage g = {.stmt = all, .body = all, .kept = kept};
  if (!find_axes(w, &g)) return false;
  td_vec_push(w->r->arena, &w->stage, g);
  return true;
}

static bool find_stages(Wire *w) {
  const TdStmt *root = w->unit->body;
  uint32_t from = 0;
  for (uint32_t i = 0; i < root->nkid; i++) {
    if (root->kid[i]->kind == TD_STMT_LOCAL) continue;
    const TdStmt *kept = NULL;
    uint32_t end = td_wire_stage_end(w->r, root, from, i, w->array.at, w->array.n, &kept);
    if (!check_private(w, from, end) || !add_stage(w, from, i, end, kept)) return false;
    from = end + 1;
    i = end;
  }
  return check_private(w, from, root->nkid);
}

/* Whether stages a and b, a < b, leave alone what the other writes, but for the wired arrays. */
static bool check_apart(const Wire *w, size_t a, size_t b) {
  return td_wire_check_apart(w->r, w->unit, w->stage.at[a].stmt, w->stage.at[b].stmt, w->array.at,
                             w->array.n);
}

/* ---- rows ---- */

/* The first use that writes, or NULL. */
static const TdWireUse *written(const TdWireEnd *e) {
  for (size_t i = 0; i < e->use.n; i++)
    if (e->use.at[i].write) return &e->use.at[i];
  return NULL;
}

/* Whether index d of a use is a loop from 0 to the extent, more than once for all that is known. */
static bool goes_through(const Wire *w, const TdWireUse *u, uint32_t d, const TdExpr *extent) {
  TdPath p = td_edit_path(w->r->arena, w->unit->body, u->stmt->uid);
  const TdStmt *const *loop;
  size_t n = td_edit_loops(w->r->arena, p, &loop);
  int64_t by, one;
  for (size_t i = 0; i < n; i++)
    if (u->at->kid[d]->kind == TD_EXPR_VAR && u->at->kid[d]->sym == loop[i]->sym)
      return td_expr_is_const(td_for_lo(loop[i]), &by) && by == 0 &&
             td_lin_diff(w->r->session, td_for_hi(loop[i]), extent, &by) && by == 0 &&
             !(td_expr_is_const(extent, &one) && one == 1);
  return false;
}

/* The streams for the rows that a stage writes: an index that is a number is none of theirs. */
static bool make_rows(Wire *w, const TdWireEnd *e, const TdType *type, Rows *z) {
  TdRewrite *r = w->r;
  TdAsk q = td_util_ask(r, w->unit);
  const TdWireUse *u = written(e);
  const TdExpr *dim[TD_MAX_RANK];
  int n = 0;
  *z = (Rows){.array = e->array, .rank = u->at->nkid, .token = w->token};
  for (uint32_t d = 0; d < u->at->nkid; d++) {
    int64_t lo, hi;
    if (d == w->token) continue;
    for (size_t i = 0; i < e->use.n; i++)
      if (!e->use.at[i].write)
        continue;
      else if (!td_lin_diff(r->session, e->use.at[i].at->kid[d], u->at->kid[d], &lo) || lo)
        return refuse(w, "elements", u->stmt->loc, e->array, "has two rows written at a time");
    if (goes_through(w, u, d, type->dim[d])) {
      dim[n++] = type->dim[d];
      continue;
    }
    if (!td_range_of(&q, u->stmt, u->at->kid[d], &lo, &hi) || lo < 0)
      return refuse(w, "extent", u->stmt->loc, e->array,
                    "has rows of which the number is not known");
    int64_t all;
    bool whole = td_unit_value(w->unit, type->dim[d], &all) && all == hi + 1;
    if (lo == hi && !(whole && hi == 0))
      z->fixed[d] = td_util_const(r, lo);
    else
      dim[n++] = whole ? type->dim[d] : td_util_const(r, hi + 1);
    r->used_value |= !whole;
  }
  const char *name = e->array->name;
  for (int i = 1;; i++) {
    bool taken = false;
    for (size_t k = 0; k < w->stream.n; k++) taken |= w->stream.at[k].sym->name == name;
    if (!taken) break;
    name = td_edit_fresh_name(r->store, w->unit, td_text_fmt(r->arena, "%s_%d", e->array->name, i));
  }
  int64_t depth = r->arg[DEPTH].given ? r->arg[DEPTH].integer : 2;
  z->stream = (TdStream){.sym = td_store_sym(r->store, name, TD_SYM_STREAM),
                         .uid = td_store_uid(r->store),
                         .loc = u->stmt->loc,
                         .type = td_type_port(r->session, u->at->type, n, dim, false),
                         .depth = td_util_const(r, depth)};
  td_util_made(r, name);
  td_vec_push(r->store->arena, &w->stream, z->stream);
  return true;
}

/* The rows that a use is of. */
static const Rows *rows_of(const Wire *w, const TdUnit *at, const TdWireUse *u) {
  TdAsk q = td_util_ask(w->r, at);
  for (size_t i = 0; i < w->rows.n; i++) {
    const Rows *z = &w->rows.at[i];
    bool same = z->rank == u->at->nkid && z->array == u->at->sym;
    for (uint32_t d = 0; same && d < z->rank; d++) {
      int64_t lo, hi, at_;
      if (!z->fixed[d]) continue;
      same = td_range_of(&q, u->stmt, u->at->kid[d], &lo, &hi) && lo == hi &&
             td_expr_is_const(z->fixed[d], &at_) && at_ == lo;
    }
    if (same) return z;
  }
  return NULL;
}

/* A body whose uses get their streams. */
typedef struct Streams {
  const Wire *w;
  const TdUnit *unit;
} Streams;

static const TdExpr *stream_of(void *ud, const TdWireUse *u) {
  const Streams *s = ud;
  TdRewrite *r = s->w->r;
  const Rows *z = rows_of(s->w, s->unit, u);
  const TdExpr *index[TD_MAX_RANK];
  TdViewDim dim[TD_MAX_RANK];
  int n = 0;
  for (uint32_t d = 0; d < z->rank; d++) {
    if (d == z->token || z->fixed[d]) continue;
    index[n] = u->at->kid[d];
    dim[n++] = (TdViewDim){.step = 1, .out = -1};
  }
  const TdType *t = td_type_port(r->session, u->at->type, 0, NULL, false);
  return td_expr_view(r->store->arena, z->stream.sym, t, index, dim, n, u->stmt->loc);
}

/* The dimension of an array that counts tokens at all ends. */
static bool find_token(Wire *w, TdWireEnd *end, size_t n, TdSym array, TdLoc loc) {
  uint32_t rank = 0;
  for (size_t i = 0; i < n; i++)
    if (end[i].use.n) rank = end[i].use.at[0].at->nkid;
  if (!rank)
    return refuse(w, "elements", loc, array,
                  "has no element that is used: there is nothing to send");
  for (uint32_t d = rank; d-- > 0;) {
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) ok = td_wire_is_ordered(&end[i], d, false);
    w->token = d;
    if (ok) return true;
  }
  for (uint32_t d = rank; d-- > 0;)
    for (size_t i = 0; i < n; i++)
      if (!td_wire_is_ordered(&end[i], d, true)) return false;
  return false;
}

/* ---- a kernel's arrays ---- */

/* One array: its ends in the stages, the streams of its rows. */
static bool wire_array(Wire *w, const TdStmt *decl) {
  TdRewrite *r = w->r;
  size_t n = w->stage.n;
  TdWireEnd *end = TD_NEWN(r->arena, TdWireEnd, n + 1);
  for (size_t i = 0; i < n; i++) {
    end[i] = (TdWireEnd){.r = r, .unit = w->unit, .body = w->stage.at[i].stmt, .array = decl->sym};
    if (!td_wire_find(&end[i])) return false;
  }
  if (!find_token(w, end, n, decl->sym, decl->loc)) return false;
  size_t first = w->rows.n;
  for (size_t i = 0; i < n; i++) {
    Rows z;
    if (!written(&end[i])) continue;
    if (!make_rows(w, &end[i], decl->type, &z)) return false;
    z.writer = i;
    td_vec_push(r->arena, &w->rows, z);
  }
  for (size_t i = 0; i < n; i++) {
    Streams s = {w, w->unit};
    for (size_t k = 0; k < end[i].use.n; k++) {
      const Rows *of = rows_of(w, w->unit, &end[i].use.at[k]);
      if (of && (of->writer == i) == end[i].use.at[k].write) continue;
      const TdStmt *kept = w->stage.at[i].kept;
      if (of && kept)
        return refuse(w, "shared", kept->loc, kept->sym, "is no stream yet: name it too");
      if (of)
        return refuse(w, "elements", end[i].use.at[k].stmt->loc, decl->sym,
                      "has a row that one stage writes and reads");
      {
        refuse(w, "elements", end[i].use.at[k].stmt->loc, decl->sym,
               "is read at rows that no one stage writes");
        td_diag_help(r->diag,
                     "unroll the loops over stages of rows: unroll(loop, {replace = true})");
        return false;
      }
    }
    if (first == w->rows.n && end[i].use.n)
      return refuse(w, "elements", decl->loc, decl->sym, "is written by no stage");
    TdWireEnd now = end[i];
    now.body = w->stage.at[i].body;
    if (end[i].use.n) w->stage.at[i].body = td_wire_body(&now, stream_of, &s);
  }
  return true;
}

/* The task of a stage: its body with coordinates for its axes. */
static bool make_part(Wire *w, size_t n, TdPart *part) {
  TdRewrite *r = w->r;
  Stage *g = &w->stage.at[n];
  TdSubst sub = td_subst_new(r->store);
  TdSym coord[TD_MAX_RANK];
  const TdStmt *body = g->body;
  const TdArgValue *names = &r->arg[NAMES];
  for (int a = 0; a < g->rank; a++) {
    coord[a] = td_store_sym(r->store, g->axis[a]->name, TD_SYM_COORD);
    td_subst_expr(&sub, g->axis[a],
                  td_lin_plus(r->session, r->store->arena, td_util_var(r, coord[a]), g->lo[a]));
    part[n].map[a] = g->extent[a];
    body = td_for_body(body)->nkid == 1 && a + 1 < g->rank ? td_for_body(body)->kid[0]
                                                           : td_for_body(body);
  }
  part[n].rank = (uint8_t)g->rank;
  body = td_subst_in_stmt(&sub, body);
  const char *want =
      n < names->n ? names->names[n] : td_text_fmt(r->arena, "%s_%zu", w->unit->sym->name, n + 1);
  part[n].name = td_network_task_name(r, part, n, want);
  const char *unit = td_lift_unit_name(r, r->prog, part[n].name);
  bool block = body->kind == TD_STMT_BLOCK;
  TdTaskIds ids = {coord, (size_t)g->rank};
  td_util_made(r, part[n].name);
  return td_lift_task(r, w->unit, block ? body->kid : &body, block ? body->nkid : 1, unit, ids,
                      &part[n].lifted);
}

static const TdProg *wire_kernel(Wire *w) {
  TdRewrite *r = w->r;
  const TdStmt *root = w->unit->body;
  if (w->unit->ncoord || td_prog_is_task(r->prog, w->unit->sym) ||
      td_prog_root(r->prog) != w->unit) {
    refuse(w, "stage", w->unit->loc, w->unit->sym, "is not what is called");
    return NULL;
  }
  if (!find_loops(w) || !find_stages(w)) return NULL;
  for (size_t b = 0; b < w->stage.n; b++)
    for (size_t a = 0; a < b; a++)
      if (!check_apart(w, a, b)) return NULL;
  for (size_t i = 0; i < w->array.n; i++)
    if (!wire_array(w, w->array.at[i])) return NULL;
  TdPart *part = TD_NEWN(r->arena, TdPart, w->stage.n);
  const TdStmt **gone = TD_NEWN(r->arena, const TdStmt *, root->nkid);
  size_t n = 0;
  for (uint32_t i = 0; i < root->nkid; i++)
    if (root->kid[i]->kind != TD_STMT_LOCAL || root->kid[i]->cls == TD_LOCAL_AUTO)
      gone[n++] = root->kid[i];
  for (size_t i = 0; i < w->stage.n; i++)
    if (!make_part(w, i, part)) return NULL;
  TdNetworkPlan plan = {.unit = w->unit,
                        .stmt = gone,
                        .n = n,
                        .part = part,
                        .nparts = w->stage.n,
                        .stream = w->stream.at,
                        .nstream = w->stream.n};
  plan.name = td_text_fmt(r->arena, "%s_net", w->unit->sym->name);
  return td_network_put(r, &plan);
}

/* ---- a design's argument ---- */

/* The task that puts all rows: row by row, or (turns) a token of each in turn. */
static bool make_loader(Wire *w, const TdParam *p, TdPart *part) {
  TdRewrite *r = w->r;
  TdStore *st = r->store;
  const Rows *z = &w->rows.at[0];
  const TdExpr *index[TD_MAX_RANK];
  TdSym v[TD_MAX_RANK];
  for (uint32_t d = 0; d < z->rank; d++) {
    const char *want = d == z->token ? "token" : "row";
    v[d] = td_store_sym(st, td_util_name(r, w->unit, NULL, want), TD_SYM_LOOP);
    index[d] = td_util_var(r, v[d]);
  }
  const TdExpr *from = td_expr_load(st->arena, p->sym, p->type->elem, index, (int)z->rank, p->loc);
  TdWireUse use = {.at = from};
  TdViewDim dim[TD_MAX_RANK];
  const TdExpr *at[TD_MAX_RANK];
  int n = 0;
  for (uint32_t d = 0; d < z->rank; d++) {
    if (d == z->token) continue;
    at[n] = index[d];
    dim[n++] = (TdViewDim){.step = 1, .out = -1};
  }
  const TdType *port = td_type_port(r->session, use.at->type, 0, NULL, false);
  const TdExpr *to = td_expr_view(st->arena, z->stream.sym, port, at, dim, n, p->loc);
  const TdStmt *s = td_stmt_put(st, to, from, p->loc);
  bool turns = r->arg[TURNS].integer;
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t d = z->rank; d-- > 0;) {
      if ((d == z->token) != (pass == (turns ? 1 : 0))) continue;
      s = td_stmt_for(st, v[d], td_util_const(r, 0), p->type->dim[d], 1, td_util_block1(r, s),
                      p->loc);
    }
  TdUnit *k = TD_NEW(st->arena, TdUnit);
  const char *want =
      r->arg[NAMES].n ? r->arg[NAMES].names[0] : td_text_fmt(r->arena, "%s_load", p->sym->name);
  part->name = td_lift_unit_name(r, r->prog, want);
  *k = (TdUnit){.kind = TD_UNIT_KERNEL, .loc = p->loc, .size = w->unit->size};
  TdParam *own = TD_NEW(st->arena, TdParam);
  *own = *p;
  own->sym = td_store_sym(st, p->sym->name, (TdSymKind)p->sym->kind);
  TdSubst sub = td_subst_new(st);
  td_subst_sym(&sub, p->sym, own->sym);
  k->sym = td_store_sym(st, part->name, TD_SYM_UNIT);
  k->uid = td_store_uid(st);
  k->param = own;
  k->nparam = 1;
  k->nsize = w->unit->nsize;
  k->body = td_util_block1(r, td_subst_in_stmt(&sub, s));
  part->lifted.unit = td_lift_tidy(r, k);
  return true;
}

/* A task without the parameter that stood for the argument. */
static const TdUnit *without(Wire *w, const TdUnit *k, TdSym param, const TdStmt *body) {
  TdUnit *u = td_unit_copy(w->r->store, td_unit_with_body(w->r->store, k, body));
  TdParam *list = TD_NEWN(w->r->store->arena, TdParam, u->nparam);
  size_t n = 0;
  for (size_t i = 0; i < u->nparam; i++)
    if (u->param[i].sym != param) list[n++] = u->param[i];
  u->param = list;
  u->nparam = n;
  return td_lift_tidy(w->r, u);
}

/* A task's end at the argument. */
static bool find_end(Wire *w, const TdRun *run, TdSym arg, TdWireEnd *e) {
  *e = (TdWireEnd){.r = w->r};
  for (size_t b = 0; b < run->nbind; b++) {
    if (run->bind[b].arg != arg) continue;
    e->unit = td_prog_unit(w->r->prog, run->unit);
    e->body = e->unit->body;
    e->array = run->bind[b].param;
    if (run->bind[b].layout || !e->body || !td_wire_find(e)) break;
    if (written(e))
      return refuse(w, "shared", run->loc, arg, "is written: only what is read is loaded");
    return true;
  }
  return !e->unit || td_diag_failed(w->r->diag)
             ? !td_diag_failed(w->r->diag)
             : refuse(w, "layout", run->loc, arg, "has a layout, or its task no text");
}

static const TdProg *wire_argument(Wire *w, const TdParam *p) {
  TdRewrite *r = w->r;
  TdStore *st = r->store;
  const TdUnit *d = w->unit;
  TdWireEnd *end = TD_NEWN(r->arena, TdWireEnd, d->nrun);
  for (size_t i = 0; i < d->nrun; i++)
    if (!find_end(w, &d->run[i], p->sym, &end[i])) return NULL;
  if (!find_token(w, end, d->nrun, p->sym, p->loc)) return NULL;
  Rows z = {.array = p->sym, .rank = p->type->rank, .token = w->token};
  const TdExpr *dim[TD_MAX_RANK];
  int n = 0;
  for (uint32_t k = 0; k < p->type->rank; k++)
    if (k != w->token) dim[n++] = p->type->dim[k];
  const char *name = td_edit_fresh_name(st, d, td_text_fmt(r->arena, "%s_s", p->sym->name));
  z.stream = (TdStream){.sym = td_store_sym(st, name, TD_SYM_STREAM),
                        .uid = td_store_uid(st),
                        .loc = p->loc,
                        .type = td_type_port(r->session, p->type->elem, n, dim, false),
                        .depth = td_util_const(r, r->arg[DEPTH].given ? r->arg[DEPTH].integer : 2)};
  const TdProg *prog = r->prog;
  TdUnit *now = td_unit_copy(st, d);
  TdRun *run = TD_NEWN(st->arena, TdRun, d->nrun + 1);
  TdStream *stream = TD_NEWN(st->arena, TdStream, d->nstream + 1);
  TdPart part = {0};
  td_vec_push(r->arena, &w->rows, z);
  if (!make_loader(w, p, &part)) return NULL;
  td_util_made(r, part.name);
  td_util_made(r, name);
  TdRunArg *bind = TD_NEW(st->arena, TdRunArg);
  *bind = (TdRunArg){.param = part.lifted.unit->param[0].sym, .arg = p->sym};
  run[0] = (TdRun){.sym = td_store_sym(st, part.name, TD_SYM_RUN),
                   .unit = part.lifted.unit->sym,
                   .uid = td_store_uid(st),
                   .loc = p->loc,
                   .bind = bind,
                   .nbind = 1};
  prog = td_prog_insert(prog, part.lifted.unit, d->sym);
  for (size_t i = 0; i < d->nrun; i++) {
    run[i + 1] = d->run[i];
    if (!end[i].use.n) continue;
    w->rows.at[0].array = end[i].array;
    Streams s = {w, end[i].unit};
    prog = td_prog_with(
        prog, without(w, end[i].unit, end[i].array, td_wire_body(&end[i], stream_of, &s)));
    TdRunArg *list = TD_NEWN(st->arena, TdRunArg, d->run[i].nbind);
    size_t k = 0;
    for (size_t b = 0; b < d->run[i].nbind; b++)
      if (d->run[i].bind[b].param != end[i].array) list[k++] = d->run[i].bind[b];
    run[i + 1].bind = list;
    run[i + 1].nbind = k;
  }
  for (size_t i = 0; i < d->nstream; i++) stream[i] = d->stream[i];
  stream[d->nstream] = z.stream;
  now->stream = stream;
  now->nstream = d->nstream + 1;
  now->run = run;
  now->nrun = d->nrun + 1;
  return td_lift_in_order(r, td_prog_with(prog, td_lift_tidy(r, now)));
}

/* Adds a local array that is wired. */
static bool add_array(Wire *w, const char *name) {
  TdPlace at;
  if (!td_cursor_array(w->r->arena, w->r->prog, name, w->unit, &at, w->r->diag)) return false;
  if (at.unit == w->unit && at.stmt && at.stmt->kind == TD_STMT_LOCAL &&
      at.stmt->type->kind == TD_T_TENSOR && at.stmt->cls == TD_LOCAL_AUTO) {
    td_vec_push(w->r->arena, &w->array, at.stmt);
    return true;
  }
  return refuse(w, "not-an-array", at.stmt ? at.stmt->loc : w->unit->loc, at.sym,
                "is no local array of the kernel");
}

static const TdProg *apply(TdRewrite *r) {
  Wire w = {.r = r, .unit = td_prog_root(r->prog)};
  TdLoc none = {0};
  if (r->arg[DEPTH].given && r->arg[DEPTH].integer < 1)
    return td_util_refuse(r, TD_USAGE, "depth", none, "a stream holds at least 1 token, not %lld",
                          (long long)r->arg[DEPTH].integer);
  for (size_t i = 0; i < r->arg[NAMES].n; i++) {
    TdArgValue name = {.given = true, .text = r->arg[NAMES].names[i]};
    bool taken = td_prog_find(r->prog, name.text) != NULL;
    if (!taken && !td_lift_check_name(r, &name)) return NULL;
  }
  if (w.unit->kind == TD_UNIT_DESIGN) {
    TdPlace at;
    if (!td_cursor_array(r->arena, r->prog, r->arg[ARRAY].text, w.unit, &at, r->diag)) return NULL;
    const TdParam *p = at.unit == w.unit ? td_unit_param(w.unit, at.sym) : NULL;
    if (p && p->type->kind == TD_T_TENSOR) return wire_argument(&w, p);
    refuse(&w, "not-an-array", w.unit->loc, at.sym, "is no argument of the design");
    return NULL;
  }
  if (!add_array(&w, r->arg[ARRAY].text)) return NULL;
  for (size_t i = 0; i < r->arg[ALSO].n; i++)
    if (!add_array(&w, r->arg[ALSO].names[i])) return NULL;
  return wire_kernel(&w);
}

const TdPrim td_prim_wire = {
    .name = "wire",
    .on = "array",
    .summary = "Make arrays that are gone through in order streams between tasks.",
    .args = {{"array", TD_ARG_ARRAY, TD_ARG_NEEDED,
              "a local array of the kernel, or an argument of the design", "local"},
             {"also", TD_ARG_NAMES, TD_ARG_OPTION, "other local arrays between the statements",
              "array"},
             {"loops", TD_ARG_NAMES, TD_ARG_OPTION,
              "outer loops of statements that are axes of their tasks", "loop"},
             {"names", TD_ARG_NAMES, TD_ARG_OPTION,
              "of the tasks, in the order of the statements; or of the one that loads", NULL},
             {"depth", TD_ARG_INT, TD_ARG_OPTION, "tokens that each stream holds; 2", NULL},
             {"turns", TD_ARG_FLAG, TD_ARG_OPTION,
              "the task that loads takes a token of each row in turn", NULL}},
    .rewrite = "f writes X[m][0], X[m][1], ..; g reads X[m][0], X[m][1], ..  =>  task f: "
               "X[m]:put(..); task g: X[m]:get()",
    .legal = "every use of an array goes through each row from its first element on, each element "
             "once: by a loop, or by a counter that begins at 0 and is moved on right after. A row "
             "is written by one statement of the kernel and read by one. A local goes with the "
             "statement that uses it, or with all that do, if no stream is between these. As many "
             "are taken as are put: where data decides that, a run tells",
    .errors =
        "not-an-array stage elements order shared extent dependence depth layout name deadlock",
    .example = "blur:buffer_at(\"A\", \"y\"):unfold(\"y\", {loops = {\"y\"}, name = \"row\"}); "
               "blur:wire(\"A\")",
    .apply = apply,
};
