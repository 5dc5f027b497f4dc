/* stages.c - statements to tasks: who writes what, who reads it, and the stream between them. */
#include "rewrite/task/stages.h"

/* A statement that becomes a task. */
typedef struct Stage {
  const TdStmt *stmt;
  const TdEffect *effect;
  size_t neffect;
} Stage;

/* A local tensor that only these stages use. */
typedef struct Link {
  const TdStmt *decl;
  size_t writer; /* a stage; the number of stages if none writes it */
  size_t users;
  const TdExpr **end; /* for each stage: the stream that it reads it from, or NULL */
} Link;

typedef struct Split {
  const TdStages *ask;
  TdRewrite *r;
  TD_VEC(Stage) stage;
  TD_VEC(Link) link;
  TD_VEC(TdStream) stream;
  TD_VEC(const TdStmt *) gone; /* the statements that the design replaces */
  TdPart *part;
} Split;

static bool refuse(const Split *s, const char *code, TdLoc loc, TdSym what, const char *why) {
  td_util_refuse(s->r, TD_ILLEGAL, code, loc, "'%s' %s", what->name, why);
  return false;
}

/* Whether a statement of the block outside the stages uses sym. */
static bool is_used_outside(const Split *s, TdSym sym) {
  const TdStages *q = s->ask;
  for (size_t i = 0; i < q->block->nkid; i++) {
    bool decl = q->block->kid[i]->kind == TD_STMT_LOCAL && q->block->kid[i]->sym == sym;
    if ((i < q->lo || i >= q->hi) && !decl &&
        td_walk_uses(s->r->session->ctx, q->block->kid[i], sym))
      return true;
  }
  return false;
}

/* Whether k declares what it gets, and another statement of the block uses that. */
static bool is_got(const Split *s, const TdStmt *k) {
  const TdStmt *block = s->ask->block;
  if ((k->kind != TD_STMT_GET && k->kind != TD_STMT_SLOT) || !k->sym) return false;
  for (uint32_t i = 0; i < block->nkid; i++)
    if (block->kid[i] != k && td_walk_uses(s->r->session->ctx, block->kid[i], k->sym)) return true;
  return false;
}

static void add_stage(Split *s, const TdStmt *stmt) {
  Stage g = {.stmt = stmt};
  td_vec_push(s->r->arena, &s->stage, g);
}

/* A declaration with a first value is a stage that writes it. */
static void add_array(Split *s, const TdStmt *decl) {
  TdRewrite *r = s->r;
  Link k = {.decl = decl};
  td_vec_push(r->arena, &s->link, k);
  td_vec_push(r->arena, &s->gone, decl);
  if (decl->init != TD_INIT_VALUE) return;
  const TdExpr *all = td_expr_whole(r->session, r->store->arena, decl->sym, decl->type, decl->loc);
  add_stage(s, td_stmt_set(r->store, all, decl->expr[0], decl->loc));
}

/* Finds the stages and the arrays that are theirs alone. */
static bool find_stages(Split *s) {
  const TdStages *q = s->ask;
  for (size_t i = 0; i < q->hi; i++) {
    const TdStmt *k = q->block->kid[i];
    bool local = k->kind == TD_STMT_LOCAL && k->cls == TD_LOCAL_AUTO;
    bool tensor = local && k->type->kind == TD_T_TENSOR;
    if (tensor && !is_used_outside(s, k->sym) && (i >= q->lo || k->init != TD_INIT_VALUE))
      add_array(s, k);
    else if (local && i >= q->lo)
      return refuse(s, "scalar", k->loc, k->sym,
                    "is a scalar, or used elsewhere: make it a tensor between stages");
    else if (i >= q->lo && is_got(s, k))
      return refuse(s, "scalar", k->loc, k->sym,
                    "comes from a stream and is used elsewhere: get it where it is used");
    else if (i >= q->lo && k->kind != TD_STMT_LOCAL) {
      add_stage(s, k);
      td_vec_push(s->r->arena, &s->gone, k);
    }
  }
  if (s->stage.n) return true;
  td_util_refuse(s->r, TD_USAGE, "stages", q->block->loc, "there is nothing to make tasks of");
  return false;
}

static Link *link_of(Split *s, TdSym sym) {
  for (size_t i = 0; i < s->link.n; i++)
    if (s->link.at[i].decl->sym == sym) return &s->link.at[i];
  return NULL;
}

static const TdEffect *effect_on(const Stage *g, TdSym sym) {
  for (size_t i = 0; i < g->neffect; i++)
    if (g->effect[i].sym == sym && !g->effect[i].inside) return &g->effect[i];
  return NULL;
}

/* Whether sym is a stream that the stages were given. */
static bool is_given(const Split *s, TdSym sym) {
  for (size_t i = 0; i < s->ask->nstream; i++)
    if (s->ask->stream[i].sym == sym) return true;
  return false;
}

/* Whether what stage n does with e->sym, not an array between stages, leaves all others alone. */
static bool check_shared(const Split *s, size_t n, const TdEffect *e) {
  for (size_t i = n + 1; i < s->stage.n; i++) {
    const TdEffect *x = effect_on(&s->stage.at[i], e->sym);
    if (!x || !(x->write || e->write)) continue;
    refuse(s, "shared", s->stage.at[i].stmt->loc, e->sym,
           "is written by one stage and used by another");
    td_diag_note(s->r->diag, s->stage.at[n].stmt->loc, "the other one");
    td_diag_help(s->r->diag, "put it through a local tensor");
    return false;
  }
  return true;
}

/* Finds what each stage does, who writes each array, and that readers come later. */
static bool find_links(Split *s) {
  TdAsk q = td_util_ask(s->r, s->ask->unit);
  for (size_t i = 0; i < s->stage.n; i++) {
    Stage *g = &s->stage.at[i];
    g->neffect = td_effects_of(&q, g->stmt, &g->effect);
  }
  for (size_t k = 0; k < s->link.n; k++) {
    s->link.at[k].writer = s->stage.n;
    s->link.at[k].end = TD_NEWN(s->r->arena, const TdExpr *, s->stage.n);
  }
  for (size_t i = 0; i < s->stage.n; i++)
    for (size_t e = 0; e < s->stage.at[i].neffect; e++) {
      const TdEffect *x = &s->stage.at[i].effect[e];
      Link *k = link_of(s, x->sym);
      if (x->inside || is_given(s, x->sym)) continue;
      if (!k && !check_shared(s, i, x)) return false;
      if (!k) continue;
      k->users++;
      if (x->write && (k->writer < s->stage.n || k->users > 1))
        return refuse(s, "shared", s->stage.at[i].stmt->loc, x->sym,
                      k->writer < s->stage.n ? "is written by two stages"
                                             : "is written by a stage that comes after a reader");
      if (x->write) k->writer = i;
    }
  return true;
}

static const TdType *block_port(const Split *s, const TdType *t) {
  return td_type_port(s->r->session, t, 0, NULL, true);
}

static bool is_stream_name(const Split *s, const char *name) {
  for (size_t i = 0; i < s->stream.n; i++)
    if (s->stream.at[i].sym->name == name) return true;
  return false;
}

/* A new stream of blocks for an array. */
static const TdExpr *new_stream(Split *s, const TdStmt *decl) {
  TdRewrite *r = s->r;
  const char *name = td_text_fmt(r->arena, "%s_s", decl->sym->name);
  const char *free = td_edit_fresh_name(r->store, s->ask->unit, name);
  for (int i = 1; is_stream_name(s, free); i++)
    free = td_edit_fresh_name(r->store, s->ask->unit, td_text_fmt(r->arena, "%s_%d", name, i));
  TdStream q = {.sym = td_store_sym(r->store, free, TD_SYM_STREAM),
                .uid = td_store_uid(r->store),
                .loc = decl->loc,
                .type = block_port(s, decl->type),
                .depth = td_util_const(r, 2)};
  td_vec_push(r->store->arena, &s->stream, q);
  td_util_made(r, free);
  return td_expr_whole(r->session, r->store->arena, q.sym, q.type, decl->loc);
}

/* The statements of a task under construction: before and after those of the stage. */
typedef struct Body {
  TdSubst sub; /* arrays become the task's own */
  TD_VEC(const TdStmt *) before;
  TD_VEC(const TdStmt *) after;
} Body;

/* What gets or makes a buffer that stands for an array, laid out as that is. */
static const TdStmt *laid_out(Split *s, const TdStmt *buffer, const TdStmt *decl) {
  return td_stmt_with_attrs(s->r->store, buffer, decl->attrs);
}

/* The task's own symbol for an array. */
static TdSym own(Split *s, Body *b, const TdStmt *decl) {
  TdSym sym = td_store_sym(s->r->store, decl->sym->name, TD_SYM_LOCAL);
  td_subst_sym(&b->sub, decl->sym, sym);
  return sym;
}

/* What a fresh buffer starts with. */
static void add_fill(Split *s, Body *b, const TdStmt *decl, TdSym sym) {
  TdRewrite *r = s->r;
  if (decl->init != TD_INIT_FILL) return;
  const TdExpr *all = td_expr_whole(r->session, r->store->arena, sym, decl->type, decl->loc);
  td_vec_push(r->arena, &b->before, td_stmt_set(r->store, all, decl->expr[0], decl->loc));
}

/* An array that is the stage's own. */
static void add_private(Split *s, Body *b, const TdStmt *decl) {
  TdStore *st = s->r->store;
  if (decl->init == TD_INIT_VALUE)
    decl = td_stmt_with_attrs(
        st, td_stmt_local(st, decl->sym, decl->type, TD_INIT_NONE, NULL, decl->loc), decl->attrs);
  const TdStmt *copy = td_walk_copy(st, decl, NULL);
  td_subst_sym(&b->sub, decl->sym, copy->sym);
  td_vec_push(s->r->arena, &b->before, copy);
}

/* The writer fills a buffer of the reader's stream; of several readers each gets a copy. */
static void add_writer(Split *s, Body *b, Link *k) {
  TdRewrite *r = s->r;
  const TdStmt *decl = k->decl;
  bool alone = k->users == 2;
  if (!alone) add_private(s, b, decl);
  TdSym sym = alone ? own(s, b, decl) : b->before.at[b->before.n - 1]->sym;
  const TdExpr *all = td_expr_whole(r->session, r->store->arena, sym, decl->type, decl->loc);
  for (size_t i = k->writer + 1; i < s->stage.n; i++) {
    if (!effect_on(&s->stage.at[i], decl->sym)) continue;
    const TdExpr *end = k->end[i] = new_stream(s, decl);
    const TdStmt *slot = td_stmt_slot(r->store, end, sym, decl->type, decl->loc);
    if (alone) td_vec_push(r->arena, &b->before, laid_out(s, slot, decl));
    td_vec_push(r->arena, &b->after, td_stmt_put(r->store, end, all, decl->loc));
  }
  if (alone) add_fill(s, b, decl, sym);
}

/* The arrays of stage n: where they come from, where they go. */
static void add_arrays(Split *s, size_t n, Body *b) {
  TdRewrite *r = s->r;
  for (size_t i = 0; i < s->link.n; i++) {
    Link *k = &s->link.at[i];
    const TdStmt *decl = k->decl;
    if (!effect_on(&s->stage.at[n], decl->sym)) continue;
    if (k->writer == n && k->users > 1) {
      add_writer(s, b, k);
    } else if (k->end[n]) {
      TdSym sym = own(s, b, decl);
      const TdStmt *get = td_stmt_get(r->store, k->end[n], sym, decl->type, NULL, decl->loc);
      td_vec_push(r->arena, &b->before, laid_out(s, get, decl));
    } else {
      add_private(s, b, decl);
    }
  }
}

/* The statements in the loop of the stages: each task runs it for itself. */
static const TdStmt *in_loop(const Split *s, const TdStmt *body) {
  TdStore *st = s->r->store;
  const TdStmt *loop = s->ask->loop;
  TdSubst sub = td_subst_new(st);
  TdSym v = td_store_sym_ordinal(st, loop->sym->name, TD_SYM_LOOP, loop->sym->ordinal);
  td_subst_expr(&sub, loop->sym, td_util_var(s->r, v));
  const TdStmt *copy = td_stmt_for(st, v, td_for_lo(loop), td_for_hi(loop), loop->step,
                                   td_subst_in_stmt(&sub, body), loop->loc);
  return td_stmt_with_attrs(st, copy, loop->attrs);
}

/* What a stage is called after: what it calls, its band, what it writes. */
static const char *stage_name(const Split *s, const TdStmt *stmt) {
  const char *unit = s->ask->unit->sym->name;
  const TdAttr *band = td_attrs_get(stmt->attrs, TD_ATTR_BAND);
  if (stmt->kind == TD_STMT_CALL) return stmt->sym->name;
  if (band) return band->arg[0].s;
  TdSym sym = stmt->kind == TD_STMT_FOR ? stmt->sym : stmt->nexpr ? stmt->expr[0]->sym : NULL;
  return td_text_fmt(s->r->arena, "%s_%s", unit, sym ? sym->name : "stage");
}

/* A name for the kernel of task n: as its own, as a chunk that is loaded names it. */
static const char *kernel_name(const Split *s, size_t n, const char *want) {
  const char *name = td_lift_unit_name(s->r, s->r->prog, want);
  for (int i = 1;; i++) {
    bool taken = false;
    for (size_t k = 0; k < n; k++) taken |= s->part[k].lifted.unit->sym->name == name;
    if (!taken) return name;
    name = td_lift_unit_name(s->r, s->r->prog, td_text_fmt(s->r->arena, "%s_%d", want, i));
  }
}

/* Whether a unit other than what the stage calls has this name. */
static bool is_other_unit(const Split *s, const Stage *g, const char *name) {
  const TdUnit *u = td_prog_find(s->r->prog, name);
  return u && !(g->stmt->kind == TD_STMT_CALL && g->stmt->sym == u->sym);
}

static bool make_part(Split *s, size_t n) {
  TdRewrite *r = s->r;
  const Stage *g = &s->stage.at[n];
  Body b = {.sub = td_subst_new(r->store)};
  add_arrays(s, n, &b);
  const TdStmt **list = TD_NEWN(r->arena, const TdStmt *, b.before.n + 1 + b.after.n);
  size_t k = 0;
  for (size_t i = 0; i < b.before.n; i++) list[k++] = b.before.at[i];
  list[k++] = td_subst_in_stmt(&b.sub, g->stmt);
  for (size_t i = 0; i < b.after.n; i++) list[k++] = b.after.at[i];
  if (s->ask->loop) {
    list[0] = in_loop(s, td_stmt_block(r->store, list, k, g->stmt->loc));
    k = 1;
  }
  const char *want = stage_name(s, g->stmt);
  if (is_other_unit(s, g, want)) want = td_lift_unit_name(r, r->prog, want);
  s->part[n].name = td_network_task_name(r, s->part, n, want);
  const char *name = kernel_name(s, n, s->part[n].name);
  if (!td_lift(r, s->ask->unit, list, k, name, &s->part[n].lifted)) return false;
  td_util_made(r, s->part[n].name);
  return true;
}

const TdProg *td_stages_put(const TdStages *ask) {
  Split s = {.ask = ask, .r = ask->r};
  if (!find_stages(&s) || !find_links(&s)) return NULL;
  s.part = TD_NEWN(ask->r->arena, TdPart, s.stage.n);
  for (size_t i = 0; i < ask->nstream; i++)
    td_vec_push(ask->r->store->arena, &s.stream, ask->stream[i]);
  for (size_t i = 0; i < s.stage.n; i++)
    if (!make_part(&s, i)) return NULL;
  TdNetworkPlan plan = {.unit = ask->unit,
                        .stmt = ask->loop ? &ask->loop : s.gone.at,
                        .n = ask->loop ? 1 : s.gone.n,
                        .part = s.part,
                        .nparts = s.stage.n,
                        .stream = s.stream.at,
                        .nstream = s.stream.n};
  plan.name = td_text_fmt(ask->r->arena, "%s_stages", ask->unit->sym->name);
  return td_network_put(ask->r, &plan);
}
