/* isolate.c - isolate: the copy that fills or empties a local array of a task becomes a task of its
 * own, and the array the token that passes between the two; the tokens of a stream get a task on
 * their way. */
#include "lower/collective.h"
#include "rewrite/stream/stream.h"
#include "rewrite/task/isolate_cut.h"

enum { WHAT, NAME, PLACE, DEPTH };

static const TdStmt *kid(const TdCut *c, size_t i) {
  return c->block->kid[i];
}

static bool refuse(const TdCut *c, TdDiagKind kind, const char *code, TdLoc loc, const char *why) {
  td_util_refuse(c->r, kind, code, loc, "'%s' %s", c->decl->sym->name, why);
  return false;
}

/* The one run of a unit, and the design that has it; NULL: there is none, or there are several. */
static const TdRun *run_of(const TdProg *p, TdSym unit, const TdUnit **design) {
  const TdRun *found = NULL;
  for (size_t i = 0; i < p->nunit; i++)
    for (size_t k = 0; k < p->unit[i]->nrun; k++) {
      if (p->unit[i]->run[k].unit != unit) continue;
      if (found) return NULL;
      found = &p->unit[i]->run[k];
      *design = p->unit[i];
    }
  return found;
}

/* ---- what moves ---- */

static bool is_tensor(const TdStmt *s) {
  return s && s->kind == TD_STMT_LOCAL && s->cls == TD_LOCAL_AUTO && s->type->kind == TD_T_TENSOR;
}

/* Whether a value is that of one element, or part, of an array, or (*literal) the same for all. */
static bool is_moved(const TdExpr *e, bool *literal) {
  while (e->kind == TD_EXPR_CAST && e->implicit) e = e->kid[0];
  *literal = e->kind == TD_EXPR_LIT;
  return *literal || e->kind == TD_EXPR_VIEW || (e->kind == TD_EXPR_LOAD && e->nkid);
}

/* A look at statements that may do nothing but copy between the local and parameters. */
typedef struct Copies {
  const TdCut *c;
  size_t in, out;
  TdSym from, to; /* the first parameter of either kind */
  const TdStmt *bad;
} Copies;

static bool look_copy(void *ud, const TdStmt *s) {
  Copies *k = ud;
  TdSym local = k->c->decl->sym;
  bool literal = false, moves = s->kind == TD_STMT_STORE || s->kind == TD_STMT_SET;
  if (s->kind == TD_STMT_FOR || s->kind == TD_STMT_IF || s->kind == TD_STMT_BLOCK) return true;
  bool good = moves && is_moved(s->expr[1], &literal);
  const TdExpr *value = good ? s->expr[1] : NULL;
  while (good && value->kind == TD_EXPR_CAST) value = value->kid[0];
  const TdUnit *u = k->c->task;
  TdSym to = good ? s->expr[0]->sym : NULL, from = good && !literal ? value->sym : NULL;
  good = good && (to == local || (td_unit_param(u, to) && from == local)) &&
         (!from || from == local || (td_unit_param(u, from) && to == local)) && to != from;
  if (!good) {
    k->bad = s;
    return false;
  }
  if (to == local && from) k->from = k->from ? k->from : from;
  if (to != local) k->to = to;
  k->in += to == local && from;
  k->out += to != local;
  return true;
}

/* What statements [lo, hi) copy; bad is one that does something else. */
static Copies copies_in(const TdCut *c, size_t lo, size_t hi) {
  Copies k = {.c = c};
  for (size_t i = lo; i < hi && !k.bad; i++)
    td_walk_stmt(c->r->session->ctx, kid(c, i), look_copy, &k);
  return k;
}

static bool uses_local(const TdCut *c, const TdStmt *s) {
  return td_walk_uses(c->r->session->ctx, s, c->decl->sym);
}

/* Whether a statement writes the local. */
static bool writes_local(const TdCut *c, const TdStmt *s) {
  TdAsk q = td_util_ask(c->r, c->task);
  const TdEffect *e;
  size_t n = td_effects_of(&q, s, &e);
  const TdEffect *x = td_effects_find(e, n, c->decl->sym);
  return x && x->write;
}

/* The number of the first statement behind i that uses the local, or of the last before i. */
static size_t next_use(const TdCut *c, size_t i) {
  while (i < c->block->nkid && !uses_local(c, kid(c, i))) i++;
  return i;
}

/* Finds the copies that fill the local: the first uses, which nothing but reads follow. Which
 * statement writes it later, in *late. */
static bool find_fill(TdCut *c, const TdStmt **late) {
  c->lo = next_use(c, c->at + 1);
  for (c->hi = c->lo; c->hi < c->block->nkid && !copies_in(c, c->lo, c->hi + 1).bad;) c->hi++;
  Copies k = copies_in(c, c->lo, c->hi);
  while (c->hi > c->lo && k.out) k = copies_in(c, c->lo, --c->hi);
  if (!k.in) return false;
  c->other = k.from;
  *late = NULL;
  for (size_t i = c->hi; i < c->block->nkid && !*late; i++)
    if (writes_local(c, kid(c, i))) *late = kid(c, i);
  return true;
}

/* Finds the copies that empty the local: the last uses. */
static bool find_drain(TdCut *c) {
  for (c->hi = c->block->nkid; c->hi > c->at + 1 && !uses_local(c, kid(c, c->hi - 1));) c->hi--;
  for (c->lo = c->hi; c->lo > c->at + 1; c->lo--) {
    Copies k = copies_in(c, c->lo - 1, c->hi);
    if (k.bad || k.in || !k.out || writes_local(c, kid(c, c->lo - 1))) break;
    c->other = k.to;
  }
  return c->lo < c->hi;
}

/* Whether what fills the local writes all of it. */
static bool fills_all(const TdCut *c) {
  if (c->decl->init == TD_INIT_FILL) return true;
  TdAsk q = td_util_ask(c->r, c->task);
  const TdStmt *fill = td_edit_slice(c->r->store, c->block, c->lo, c->hi);
  const TdType *t = c->decl->type;
  TdFootprint f;
  bool all = td_footprint_of(&q, fill, c->decl->sym, t, &f) && f.filled;
  for (int d = 0; all && d < t->rank; d++) {
    int64_t lo, less;
    all = td_expr_is_const(f.box.lo[d], &lo) && !lo &&
          td_lin_diff(c->r->session, f.box.extent[d], t->dim[d], &less) && !less;
  }
  return all;
}

/* Has the local of which find_fill found the copies stay, and what empties it to an argument that
 * they read move with them. */
static void find_keep(TdCut *c) {
  TdCut d = *c;
  c->keep = true;
  c->use = next_use(c, c->hi);
  if (!find_drain(&d) || d.lo < c->hi) return;
  for (size_t i = c->lo; i < c->hi; i++)
    if (td_walk_uses(c->r->session->ctx, kid(c, i), d.other)) c->back_lo = d.lo, c->back_hi = d.hi;
}

/* Decides which statements move. */
static bool find_moves(TdCut *c) {
  const TdStmt *late = NULL;
  if (c->decl->init == TD_INIT_VALUE)
    return refuse(c, TD_UNSUPPORTED, "not-a-copy", c->decl->loc, "is declared with its value");
  bool fill = find_fill(c, &late);
  if (fill && !late) return true;
  if (fill && fills_all(c)) {
    find_keep(c);
    return true;
  }
  TdSym filled = fill ? c->other : NULL;
  c->out = find_drain(c);
  if (c->out && !fill) return true;
  if (fill) {
    refuse(c, TD_ILLEGAL, "written", late->loc, "is written after a part of it was filled");
    td_diag_note(c->r->diag, c->decl->loc, "filled from '%s'", filled->name);
    td_diag_help(c->r->diag, "let the copy fill all of it, or give it a value first: T(0)");
    return false;
  }
  refuse(c, TD_ILLEGAL, "not-a-copy", c->decl->loc,
         "is not filled, or emptied at last, by a copy in the block that declares it");
  td_diag_help(c->r->diag, "buffer_at makes a local that is");
  return false;
}

/* ---- whether it may ---- */

static bool is_data(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_LOAD && e->kind != TD_EXPR_TENSOR;
}

/* Whether loops and ids alone decide how often the block runs. */
static bool check_control(const TdCut *c) {
  for (size_t i = 0; i + 1 < c->path.n; i++) {
    const TdStmt *s = c->path.at[i];
    bool fixed = s->kind != TD_STMT_WHILE &&
                 !(s->kind == TD_STMT_FOR && td_util_leaves_by_break(td_for_body(s)));
    for (uint32_t k = 0; k < s->nexpr; k++) fixed &= td_walk_expr(s->expr[k], is_data, NULL);
    if (!fixed) return refuse(c, TD_ILLEGAL, "access", s->loc, "moves as often as data decides");
  }
  return !td_mapping_returns(c->r, c->task) ||
         refuse(c, TD_ILLEGAL, "return", c->task->loc, "is of a task that may return before");
}

/* The body without what moves. */
static const TdStmt *rest_of_body(const TdCut *c) {
  const TdStmt *body = c->task->body;
  for (size_t i = c->lo; i < c->hi; i++)
    body = td_edit_replace(c->r->store, body, kid(c, i)->uid, NULL, 0);
  for (size_t i = c->back_lo; i < c->back_hi; i++)
    body = td_edit_replace(c->r->store, body, kid(c, i)->uid, NULL, 0);
  return body;
}

/* Whether statement s, which moves, touches nothing but the local, parameters and what it declares,
 * and what it writes none of the n others touches; nor do these write what it reads. */
static bool check_effect(const TdCut *c, const TdStmt *s, const TdEffect *rest, size_t nrest) {
  TdAsk q = td_util_ask(c->r, c->task);
  const TdEffect *e;
  size_t n = td_effects_of(&q, s, &e);
  for (size_t k = 0; k < n; k++) {
    const TdEffect *x = td_effects_find(rest, nrest, e[k].sym);
    if (e[k].inside || e[k].sym == c->decl->sym) continue;
    const TdParam *p = td_unit_param(c->task, e[k].sym);
    if (p && !(x && (x->write || e[k].write))) continue;
    td_util_refuse(c->r, TD_ILLEGAL, p ? "shared" : "access", s->loc,
                   p ? "the task %s '%s' otherwise too" : "the copy%.0s depends on '%s'",
                   x && x->write ? "writes" : "reads", e[k].sym->name);
    return false;
  }
  return true;
}

/* Whether all that moves may. */
static bool check_effects(const TdCut *c) {
  TdAsk q = td_util_ask(c->r, c->task);
  const TdEffect *rest;
  size_t n = td_effects_of(&q, rest_of_body(c), &rest);
  for (size_t i = c->lo; i < c->hi; i++)
    if (!check_effect(c, kid(c, i), rest, n)) return false;
  for (size_t i = c->back_lo; i < c->back_hi; i++)
    if (!check_effect(c, kid(c, i), rest, n)) return false;
  return true;
}

/* What the step was asked for. */
static TdCut cut_of(TdRewrite *r) {
  const TdArgValue *place = &r->arg[PLACE];
  return (TdCut){.r = r,
                 .name = r->arg[NAME].given ? r->arg[NAME].text : NULL,
                 .mem = place->given && place->text[0] == 'm',
                 .device = place->given && place->text[0] == 'd',
                 .depth = r->arg[DEPTH].given ? r->arg[DEPTH].integer : 2};
}

static bool check_options(TdRewrite *r) {
  TdLoc none = {0};
  if (r->arg[DEPTH].given && r->arg[DEPTH].integer < 1)
    td_util_refuse(r, TD_USAGE, "depth", none, "a stream holds at least 1 token, not %lld",
                   (long long)r->arg[DEPTH].integer);
  else
    return td_lift_check_name(r, &r->arg[NAME]);
  return false;
}

/* ---- a local, a stream ---- */

/* The run of the unit, and that its tasks have ids. */
static bool find_run(TdCut *c, const char *what, TdLoc loc) {
  c->run = run_of(c->r->prog, c->task->sym, &c->design);
  if (c->run) {
    td_cut_name_ids(c);
    return true;
  }
  td_util_refuse(c->r, TD_USAGE, "not-a-task", loc, "'%s' is not of a task that runs once", what);
  td_diag_help(c->r->diag, "`unfold` and `dataflow` make tasks");
  return false;
}

/* The block that declares the local, or takes the token. */
static void find_block(TdCut *c) {
  TdPath p = td_edit_path(c->r->arena, c->task->body, c->decl->uid);
  c->path = (TdPath){p.at, p.n - 1};
  c->block = p.at[p.n - 2];
  while (kid(c, c->at) != c->decl) c->at++;
}

/* The body of the old task with another block. */
static const TdStmt *body_with(const TdCut *c, const TdStmt *now) {
  if (c->block == c->task->body) return now;
  return td_edit_replace(c->r->store, c->task->body, c->block->uid, &now, 1);
}

static const TdProg *isolate_local(TdRewrite *r, const TdPlace *at) {
  TdCut c = cut_of(r);
  TdLoc loc = at->stmt ? at->stmt->loc : at->unit->loc;
  TdLifted l;
  if (!is_tensor(at->stmt))
    return td_util_refuse(r, TD_USAGE, "not-an-array", loc, "'%s' is no local tensor of a task",
                          at->sym->name);
  c.task = at->unit;
  c.decl = at->stmt;
  if (!find_run(&c, at->sym->name, loc)) return NULL;
  find_block(&c);
  if (!find_moves(&c) || !check_control(&c) || !check_effects(&c)) return NULL;
  const char *name = c.decl->sym->name, *like = td_text_fmt(r->arena, "%s_s", name);
  const TdType *port = td_type_port(r->session, c.decl->type, c.run->rank, c.run->map, true);
  c.stream = td_cut_stream(&c, like, port, loc);
  if (c.back_hi) c.back = td_cut_stream(&c, td_text_fmt(r->arena, "%s_back_s", name), port, loc);
  const char *suffix = c.out ? "out" : c.back_hi ? "io" : "in";
  if (!td_cut_lift(&c, td_cut_new_block(&c), c.other, suffix, &l)) return NULL;
  return td_cut_put(&c, body_with(&c, td_cut_old_block(&c)), &l, c.out);
}

/* A search for the statements that get from a stream. */
typedef struct Gets {
  TdSym stream;
  const TdStmt *one;
  size_t n;
} Gets;

static bool look_get(void *ud, const TdStmt *s) {
  Gets *g = ud;
  if (s->kind == TD_STMT_GET && s->expr[0]->sym == g->stream) g->one = s, g->n++;
  return true;
}

/* Finds the one statement of the one task that gets from the stream. */
static bool find_get(TdCut *c, const TdStreamAt *at) {
  const TdStream *s = &at->design->stream[at->at];
  Gets g = {.stream = s->sym};
  for (size_t i = 0; i < at->design->nrun; i++) {
    const TdUnit *u = td_prog_unit(c->r->prog, at->design->run[i].unit);
    size_t before = g.n;
    if (u->body) td_walk_stmt(c->r->session->ctx, u->body, look_get, &g);
    if (g.n > before) c->task = u;
  }
  c->decl = g.one;
  if (g.n == 1) return find_run(c, s->sym->name, g.one->loc);
  td_util_refuse(c->r, TD_UNSUPPORTED, "ends", s->loc,
                 g.n ? "%zu statements get from '%s'" : "no task gets from '%.0zu%s' itself", g.n,
                 s->sym->name);
  return false;
}

/* The statements of a task that takes a token from one stream and puts it to the next: of a stream
 * of blocks, copied. Returns how many. */
static size_t pass_on(const TdCut *c, const TdType *port, const TdExpr *from, const TdExpr *to,
                      const TdStmt **s) {
  TdStore *st = c->r->store;
  TdSession *ss = c->r->session;
  const TdType *t = port->elem;
  TdLoc loc = c->decl->loc;
  TdSym got = td_store_sym(st, td_edit_fresh_name(st, c->task, "token"), TD_SYM_LOCAL);
  TdSym slot = td_store_sym(st, td_edit_fresh_name(st, c->task, "copy"), TD_SYM_LOCAL);
  bool tensor = t->kind == TD_T_TENSOR;
  const TdExpr *value = tensor ? td_expr_whole(ss, st->arena, got, t, loc)
                               : td_expr_load(st->arena, got, t, NULL, 0, loc);
  size_t n = 0;
  s[n++] = td_stmt_get(st, from, got, t, NULL, loc);
  if (port->block) {
    const TdExpr *all = td_expr_whole(ss, st->arena, slot, t, loc);
    s[n++] = td_stmt_slot(st, to, slot, t, loc);
    s[n++] = td_stmt_set(st, all, value, loc);
    value = all;
  }
  s[n++] = td_stmt_put(st, to, value, loc);
  return n;
}

static const TdProg *isolate_stream(TdRewrite *r, const TdStreamAt *at) {
  TdCut c = cut_of(r);
  TdStore *st = r->store;
  const TdStream *was = &at->design->stream[at->at];
  TdLifted l;
  if (!find_get(&c, at)) return NULL;
  find_block(&c);
  if (!check_control(&c)) return NULL;
  c.stream = td_cut_stream(&c, was->sym->name, was->type, c.decl->loc);
  TdSubst to = td_subst_new(st), hide = td_subst_new(st), show = td_subst_new(st);
  TdSym hidden = td_store_sym(st, was->sym->name, TD_SYM_STREAM);
  td_subst_sym(&to, was->sym, c.stream.sym);
  td_subst_sym(&hide, was->sym, hidden);
  td_subst_sym(&show, hidden, was->sym);
  const TdExpr *port = td_subst_in_expr(&hide, c.decl->expr[0]);
  const TdStmt *s[4];
  size_t n = pass_on(&c, was->type, port, td_subst_in_expr(&to, c.decl->expr[0]), s);
  const TdStmt *block = td_stmt_with_kids(st, c.block, s, n);
  if (!td_cut_lift(&c, block, was->sym, c.mem ? "mem" : "host", &l)) return NULL;
  l.unit = td_unit_with_body(st, l.unit, td_subst_in_stmt(&show, l.unit->body));
  const TdStmt *now = td_subst_in_stmt(&to, c.decl);
  const TdStmt *body = td_edit_replace(st, c.task->body, c.decl->uid, &now, 1);
  return td_cut_put(&c, body, &l, false);
}

static const TdProg *apply(TdRewrite *r) {
  TdDiag *diag = r->diag, no_stream = {.arena = r->arena};
  TdStreamAt stream;
  TdPlace at;
  if (!check_options(r)) return NULL;
  r->prog = td_collective_expand(r->prog);
  r->diag = &no_stream;
  bool found = td_stream_find(r, r->arg[WHAT].text, &stream);
  r->diag = diag;
  if (found) return isolate_stream(r, &stream);
  if (!td_cursor_array(r->arena, r->prog, r->arg[WHAT].text, NULL, &at, r->diag)) return NULL;
  return isolate_local(r, &at);
}

const TdPrim td_prim_isolate = {
    .name = "isolate",
    .on = "array",
    .summary = "Make the copy that fills or empties a local a task of its own.",
    .args = {{"what", TD_ARG_ARRAY, TD_ARG_NEEDED,
              "a local tensor of a task that one copy fills or empties, or a stream, whose tokens "
              "then come by way of the new task",
              "local|stream"},
             {"name", TD_ARG_NAME, TD_ARG_OPTIONAL, "of the task; A_in or C_out after the argument",
              NULL},
             {"place", TD_ARG_WORD, TD_ARG_OPTION,
              "where the task runs: on the host, in the row of the memories, or beside the others",
              "host|mem|device"},
             {"depth", TD_ARG_INT, TD_ARG_OPTION, "blocks that the stream holds; 2", NULL}},
    .rewrite = "task f: local a = T(); for r: a[r] = A[i + r]; S(a)  =>  "
               "task A_in: local a = a_s:slot(); for r: a[r] = A[i + r]; a_s:put(a)  |  "
               "task f: local a = a_s:get(); S(a)",
    .legal = "the copy is in the block that declares the local, moves elements as they are, and is "
             "the first use of it, or the last; where writes follow one that fills it, it fills "
             "all, its tokens are copied to the local, and a copy back to the same argument moves "
             "with it, by a stream of its own; loops and ids alone decide how often it runs; "
             "nothing else in the task touches what it writes, or writes what it reads",
    .errors = "not-an-array not-a-task not-a-copy written access return shared depth name ends "
              "state deadlock",
    .example = "s:buffer_at(\"A\", \"j\"); s:unfold(\"PE\"); s:isolate(\"A_j\")",
    .apply = apply,
};
