/* relay_stage.c - between two stages of a kernel, or two tasks that hand over the whole array: each
 * write becomes a put, the first read of each element a get into a register. */
#include "ir/text/printer.h"
#include "rewrite/array/elements.h"
#include "rewrite/stream/keep_sizes.h"
#include "rewrite/stream/relay.h"
#include "rewrite/stream/relay_first.h"
#include "rewrite/stream/relay_order.h"
#include "rewrite/task/stages.h"

/* A statement that writes an element, or reads it into a register. */
typedef struct Mark {
  uint32_t uid;
  TdSym value; /* the register */
} Mark;

/* One of the two stages. */
typedef struct End {
  TdSym home, held; /* the kernel or task that the stage stands in, and the array there */
  uint32_t stage;   /* uid of the statement of its body */
  const char *name; /* in messages */
  TdSym unit, sym;  /* where the array is used, and as what: a stage that calls uses it there */
  size_t arg;       /* of the call */
  bool call;
  TD_VEC(Mark) mark;
} End;

typedef struct Relay {
  const TdRelay *ask;
  TdRewrite *r;
  const TdProg *prog; /* as far as it was rewritten */
  TdSym array;
  const TdType *type; /* of the array */
  TdLoc loc;
  End writer, reader;
} Relay;

static bool refuse(const Relay *q, TdDiagKind kind, const char *code, TdLoc loc, const char *who,
                   const char *why) {
  td_util_refuse(q->r, kind, code, loc, "'%s' %s '%s'", who, why, q->array->name);
  return false;
}

static const TdUnit *home_of(const Relay *q, const End *e) {
  return td_prog_unit(q->prog, e->home);
}

static const TdStmt *stage_of(const Relay *q, const End *e) {
  return td_edit_find(q->r->session->ctx, home_of(q, e)->body, e->stage);
}

/* The statements that use the array at one end: the stage, or what it calls. */
static const TdStmt *root_of(const Relay *q, const End *e) {
  return e->call ? td_prog_unit(q->prog, e->unit)->body : stage_of(q, e);
}

/* Replaces a statement at one end by n others. */
static void edit(Relay *q, const End *e, uint32_t uid, const TdStmt *const *s, size_t n) {
  const TdUnit *u = td_prog_unit(q->prog, e->unit);
  const TdStmt *body = td_edit_replace(q->r->store, u->body, uid, s, n);
  q->prog = td_prog_with(q->prog, td_unit_with_body(q->r->store, u, body));
}

/* How a statement where an end stands uses the array. */
static const TdEffect *effect_on(const Relay *q, const End *at, const TdStmt *s) {
  TdAsk ask = td_util_ask(q->r, home_of(q, at));
  const TdEffect *e;
  size_t n = td_effects_of(&ask, s, &e);
  return td_effects_find(e, n, at->held);
}

static bool is_consumer(const Relay *q, const TdStmt *s) {
  return q->ask->loop ? s == q->ask->loop : s->kind == TD_STMT_CALL && s->sym == q->ask->to->sym;
}

static const char *stage_name(const End *e, const TdStmt *s) {
  return s->kind == TD_STMT_CALL || s->kind == TD_STMT_FOR ? s->sym->name : e->home->name;
}

/* Takes s as the one stage of an end, which writes the array, or reads it. */
static bool take_stage(const Relay *q, End *e, const TdStmt *s, bool in_turn) {
  const TdEffect *x = effect_on(q, e, s);
  bool good = x && (e == &q->writer ? x->write : !x->write);
  if (e->stage || !good || !in_turn)
    return refuse(q, TD_ILLEGAL, "stage", s->loc, stage_name(e, s),
                  "is not the one stage that writes, or after it reads,");
  e->stage = s->uid;
  e->name = stage_name(e, s);
  return true;
}

/* Finds the one stage that writes the array and the one, after it, that reads it. */
static bool find_stages(Relay *q) {
  const TdStmt *body = home_of(q, &q->writer)->body;
  for (uint32_t i = 0; i < body->nkid; i++) {
    const TdStmt *s = body->kid[i];
    if (s->kind == TD_STMT_LOCAL || !td_walk_uses(q->r->session->ctx, s, q->array)) continue;
    End *e = is_consumer(q, s) ? &q->reader : &q->writer;
    if (!take_stage(q, e, s, e == &q->reader || !q->reader.stage)) return false;
  }
  if (q->writer.stage && q->reader.stage) return true;
  return refuse(q, TD_ILLEGAL, "stage", body->loc, q->writer.home->name,
                "has no two stages of which one writes and the other reads");
}

/* Whether the unit is called once in all of the program, and not run as a task. */
static bool is_single(const Relay *q, TdSym unit) {
  size_t n = 0;
  for (size_t i = 0; i < q->prog->nunit; i++) {
    const TdStmt *body = q->prog->unit[i]->body;
    if (body) n += td_lift_calls(q->r, body, unit);
  }
  return n == 1 && !td_prog_is_task(q->prog, unit);
}

/* Goes to the kernel that a stage calls, where the array is a parameter. */
static bool enter(const Relay *q, End *e) {
  const TdStmt *s = stage_of(q, e);
  const TdUnit *to = s->kind == TD_STMT_CALL ? td_prog_unit(q->prog, s->sym) : NULL;
  size_t uses = 0;
  e->unit = e->home;
  e->sym = e->held;
  if (!to) return true;
  const TdExpr *whole = td_expr_whole(q->r->session, q->r->arena, e->held, q->type, s->loc);
  for (uint32_t i = 0; i < s->nexpr; i++) {
    if (!td_walk_uses_expr(s->expr[i], e->held)) continue;
    e->arg = td_equal_expr(s->expr[i], whole) ? i : e->arg;
    uses += td_equal_expr(s->expr[i], whole) ? 1 : 2;
  }
  if (uses != 1 || to->kind != TD_UNIT_KERNEL)
    return refuse(q, TD_UNSUPPORTED, "stage", s->loc, e->name, "is not simply passed");
  if (!is_single(q, to->sym)) {
    refuse(q, TD_UNSUPPORTED, "shared", s->loc, e->name, "is called elsewhere too, without");
    td_diag_help(q->r->diag, "give this call a kernel of its own: %s:as \"name\"", e->name);
    return false;
  }
  e->call = true;
  e->unit = to->sym;
  e->sym = to->param[e->arg].sym;
  return true;
}

/* A search for statements that use a symbol in one of some ways. */
typedef struct Uses {
  TdSym sym;
  TdArena *arena;
  const TdStmt *set;
  TD_VEC(const TdStmt *) store;
  bool loads, views;
} Uses;

static bool look_expr(void *ud, const TdExpr *e) {
  Uses *u = ud;
  u->loads |= e->kind == TD_EXPR_LOAD && e->sym == u->sym;
  u->views |= e->kind == TD_EXPR_VIEW && e->sym == u->sym;
  return true;
}

static bool look_stmt(void *ud, const TdStmt *s) {
  Uses *u = ud;
  bool stores = s->kind == TD_STMT_STORE && s->expr[0]->sym == u->sym;
  for (uint32_t i = 0; i < s->nexpr; i++) {
    if (s->kind == TD_STMT_SET && td_walk_uses_expr(s->expr[i], u->sym)) u->set = s;
    for (uint32_t k = 0; stores && i == 0 && k < s->expr[0]->nkid; k++)
      td_walk_expr(s->expr[0]->kid[k], look_expr, u);
    if (!stores || i > 0) td_walk_expr(s->expr[i], look_expr, u);
  }
  if (stores) td_vec_push(u->arena, &u->store, s);
  return true;
}

static Uses uses_at(const Relay *q, const End *e) {
  Uses u = {.sym = e->sym, .arena = q->r->arena};
  td_walk_stmt(q->r->session->ctx, root_of(q, e), look_stmt, &u);
  return u;
}

/* Spells out the tensor statements on the array. */
static bool spell_out(Relay *q, const End *e) {
  for (Uses u = uses_at(q, e); u.set; u = uses_at(q, e)) {
    const TdStmt *loops = td_elements_of(q->r, td_prog_unit(q->prog, e->unit), u.set);
    if (!loops) return false;
    edit(q, e, u.set->uid, &loops, 1);
  }
  return true;
}

/* Drops statement `uid` at an end, and the loops that do nothing else. */
static void drop_at(Relay *q, const End *e, uint32_t uid) {
  TdPath p = td_edit_path(q->r->arena, td_prog_unit(q->prog, e->unit)->body, uid);
  size_t i = p.n - 1;
  while (i >= 2 && p.at[i - 1]->kind == TD_STMT_BLOCK && p.at[i - 1]->nkid == 1 &&
         p.at[i - 2]->kind == TD_STMT_FOR)
    i -= 2;
  edit(q, e, p.at[i]->uid, NULL, 0);
}

/* Where the stage reads only the value that the array holds first, that value takes the place of
 * the reads; stores of it that are overwritten go. */
static void use_first_value(Relay *q) {
  End *e = &q->writer;
  const TdStmt *decl = q->ask->array.stmt;
  bool filled = decl && decl->sym == q->array && decl->init == TD_INIT_FILL;
  TdRelayFirst f = {.r = q->r,
                    .prog = q->prog,
                    .unit = home_of(q, e),
                    .stage = stage_of(q, e),
                    .array = e->held,
                    .fill = filled ? decl->expr[0] : NULL};
  if (!td_relay_first(&f)) return;
  const TdStmt *now = td_relay_first_put(&f, root_of(q, e), e->sym);
  edit(q, e, now->uid, &now, 1);
  for (size_t i = 0; i < f.dead.n; i++) drop_at(q, e, f.dead.at[i]);
}

static bool find_write(Relay *q) {
  End *e = &q->writer;
  if (!spell_out(q, e)) return false;
  use_first_value(q);
  Uses u = uses_at(q, e);
  TdLoc loc = u.store.n ? u.store.at[0]->loc : stage_of(q, e)->loc;
  if (!u.store.n || u.loads || u.views) {
    refuse(q, TD_ILLEGAL, "order", loc, e->name,
           u.loads ? "reads back what it writes to" : "does not write element by element");
    td_diag_help(q->r->diag, "buffer_at gives '%s' a buffer that is written back once", e->name);
    return false;
  }
  for (size_t i = 0; i < u.store.n; i++)
    td_vec_push(q->r->arena, &e->mark, (Mark){.uid = u.store.at[i]->uid});
  return true;
}

/* Where the array is read at the consumer's end: each place reads one element, in the innermost
 * loop that it depends on. */
typedef struct Read {
  const TdExpr *element;
  const TdStmt *block; /* the body of that loop, or (it depends on none) of the kernel called */
  const TdStmt *at;    /* the statement of the block that holds the first read */
  const TdStmt *own;   /* the statement that reads it */
  bool once;           /* that alone does */
} Read;

typedef struct Reads {
  const Relay *q;
  const TdStmt *root; /* the body of the unit */
  const TdStmt *stmt; /* under look */
  const TdStmt *bad;  /* one where data or no loop decides what is read */
  TD_VEC(Read) at;
} Reads;

static bool is_data(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_LOAD && e->kind != TD_EXPR_TENSOR;
}

static bool uses_index(const TdExpr *load, TdSym v) {
  for (uint32_t d = 0; d < load->nkid; d++)
    if (td_walk_uses_expr(load->kid[d], v)) return true;
  return false;
}

/* A read of element e, without a block where nothing around the stage could hold it. */
static Read read_of(const Reads *k, const TdExpr *e) {
  Read read = {.element = e, .own = k->stmt, .once = true};
  TdPath p = td_edit_path(k->q->r->arena, k->root, k->stmt->uid);
  if (k->q->reader.call) read.block = k->root, read.at = p.at[1];
  for (size_t i = 0; i + 2 < p.n; i++)
    if (p.at[i]->kind == TD_STMT_FOR && uses_index(e, p.at[i]->sym))
      read.block = p.at[i + 1], read.at = p.at[i + 2];
  return read;
}

static bool look_read(void *ud, const TdExpr *e) {
  Reads *k = ud;
  if (e->kind != TD_EXPR_LOAD || e->sym != k->q->reader.sym) return true;
  Read read = read_of(k, e);
  bool good = read.block != NULL;
  for (uint32_t d = 0; d < e->nkid; d++) good = good && td_walk_expr(e->kid[d], is_data, NULL);
  if (!good && !k->bad) k->bad = k->stmt;
  for (size_t i = 0; i < k->at.n; i++)
    if (td_equal_expr(e, k->at.at[i].element) && k->at.at[i].block == read.block) {
      k->at.at[i].once &= k->at.at[i].own == k->stmt;
      return true;
    }
  td_vec_push(k->q->r->arena, &k->at, read);
  return true;
}

static bool look_reads(void *ud, const TdStmt *s) {
  Reads *k = ud;
  k->stmt = s;
  for (uint32_t i = 0; i < s->nexpr; i++) td_walk_expr(s->expr[i], look_read, k);
  return true;
}

/* A register that stands for an element. */
typedef struct Register {
  const Relay *q;
  const TdExpr *element;
  TdSym value;
} Register;

static const TdExpr *to_register(void *ud, const TdExpr *e) {
  const Register *g = ud;
  if (e->kind != TD_EXPR_LOAD || e->sym != g->element->sym || !td_equal_expr(e, g->element))
    return e;
  return td_expr_load(g->q->r->store->arena, g->value, e->type, NULL, 0, e->loc);
}

/* Reads an element into a register before statement `at`. */
static void put_in_register(Relay *q, const Read *read, const TdStmt *at) {
  End *e = &q->reader;
  TdStore *st = q->r->store;
  const TdUnit *u = td_prog_unit(q->prog, e->unit);
  const TdStmt *block = td_edit_find(q->r->session->ctx, u->body, read->block->uid);
  const char *name = td_edit_fresh_name(st, u, q->array->name);
  Register g = {q, read->element, td_store_sym(st, name, TD_SYM_LOCAL)};
  const TdStmt *local =
      td_stmt_local(st, g.value, read->element->type, TD_INIT_VALUE, read->element, at->loc);
  td_vec_push(q->r->arena, &e->mark, ((Mark){local->uid, g.value}));
  const TdStmt *now = td_walk_map(st, block, to_register, &g);
  now = td_edit_insert(st, now, at->uid, false, &local, 1);
  edit(q, e, block->uid, &now, 1);
}

/* Reads each element into a register, in the innermost loop that it depends on; or, if `inside`,
 * where that is done, under the conditions there: false without a word if no place has any. */
static bool find_read(Relay *q, bool inside) {
  End *e = &q->reader;
  if (!spell_out(q, e)) return false;
  const TdUnit *u = td_prog_unit(q->prog, e->unit);
  Reads k = {.q = q, .root = u->body};
  bool any = false;
  e->mark.n = 0;
  td_walk_stmt(q->r->session->ctx, root_of(q, e), look_reads, &k);
  if (uses_at(q, e).views || !k.at.n)
    return refuse(q, TD_UNSUPPORTED, "stage", stage_of(q, e)->loc, e->name,
                  "does not read element by element");
  if (k.bad) {
    refuse(q, TD_ILLEGAL, "order", k.bad->loc, e->name,
           "does not read one element at a time, as its loops decide, of");
    td_diag_help(q->r->diag, "buffer_at or reuse_at keeps what is used again in a local buffer");
    return false;
  }
  for (size_t i = 0; i < k.at.n; i++) {
    const Read *read = &k.at.at[i];
    bool in = inside && read->once && read->own != read->at;
    put_in_register(q, read, in ? read->own : read->at);
    any |= in;
  }
  return any || !inside;
}

/* Assumes in the unit of an end that its sizes have their values. */
static void assume_sizes(Relay *q, const End *e) {
  TdRewrite *r = q->r;
  const TdUnit *u = home_of(q, e);
  for (size_t i = 0; i < u->nsize; i++) {
    const TdSize *z = &u->size[i];
    if (!z->known) continue;
    const TdExpr *size = td_expr_size(r->session, r->store->arena, z->name, (TdLoc){0});
    const TdExpr *fact = td_expr_op2(r->store->arena, TD_OP_EQ, td_type_bool(r->session), size,
                                     td_util_const(r, z->value));
    q->prog = td_prog_with(q->prog, td_util_assume(r, home_of(q, e), fact));
  }
}

/* Whether the order is right, both stages being statements of u, where the array is the writer's;
 * what that takes of the sizes becomes an assumption. */
static bool check_order(Relay *q, const TdUnit *u, const TdStmt *reader) {
  bool at_values;
  TdRelayOrder o = {.r = q->r,
                    .prog =
                        td_prog_unit(q->prog, u->sym) ? q->prog : td_prog_insert(q->prog, u, NULL),
                    .unit = u,
                    .writer = stage_of(q, &q->writer),
                    .reader = reader,
                    .by = {q->writer.name, q->reader.name},
                    .array = q->writer.held};
  if (!td_relay_order_holds(&o, &at_values)) return false;
  q->r->used_value |= at_values;
  if (at_values) assume_sizes(q, &q->writer);
  if (at_values && q->reader.home != q->writer.home) assume_sizes(q, &q->reader);
  return true;
}

/* Both stages as statements of one kernel, in which the array is a local: what the order is asked
 * of. *reader is the reader's stage there. */
static const TdUnit *side_by_side(const Relay *q, const TdStmt **reader) {
  TdRewrite *r = q->r;
  TdArena *a = r->store->arena;
  const TdUnit *x = home_of(q, &q->writer), *y = home_of(q, &q->reader);
  TdUnit *u = td_unit_copy(r->store, x);
  TdSubst sub = td_subst_new(r->store);
  td_subst_sym(&sub, q->reader.held, q->writer.held);
  *reader = td_subst_in_stmt(&sub, stage_of(q, &q->reader));
  const TdStmt *local =
      td_stmt_local(r->store, q->writer.held, q->type, TD_INIT_NONE, NULL, q->loc);
  const TdStmt *part[] = {local, stage_of(q, &q->writer), *reader};
  TdParam *param = TD_NEWN(a, TdParam, x->nparam + y->nparam);
  TdSize *size = TD_NEWN(a, TdSize, x->nsize + y->nsize);
  for (size_t i = 0; i < x->nparam + y->nparam; i++)
    param[i] = i < x->nparam ? x->param[i] : y->param[i - x->nparam];
  u->nsize = 0;
  for (size_t i = 0; i < x->nsize; i++) size[u->nsize++] = x->size[i];
  for (size_t i = 0; i < y->nsize; i++)
    if (!td_unit_size(x, y->size[i].name)) size[u->nsize++] = y->size[i];
  u->sym = td_store_sym(r->store, x->sym->name, TD_SYM_UNIT);
  u->param = param;
  u->nparam = x->nparam + y->nparam;
  u->size = size;
  u->body = td_stmt_block(r->store, part, 3, q->loc);
  return u;
}

/* The kernel in which the order of the two ends is looked at, and the reader's stage there. */
static const TdUnit *both_ends(const Relay *q, const TdStmt **reader) {
  if (q->writer.home != q->reader.home) return side_by_side(q, reader);
  *reader = stage_of(q, &q->reader);
  return home_of(q, &q->writer);
}

/* Finds the read and that it is in order. Where a condition keeps it from what is not there, it
 * stays under that. */
static bool read_in_order(Relay *q) {
  const TdProg *before = q->prog;
  const TdStmt *reader;
  if (!find_read(q, false)) return false;
  const TdUnit *u = both_ends(q, &reader);
  if (check_order(q, u, reader)) return true;
  TdDiag why = *q->r->diag;
  *q->r->diag = (TdDiag){.arena = why.arena};
  q->prog = before;
  bool ok = find_read(q, true);
  if (ok) u = both_ends(q, &reader);
  ok = ok && check_order(q, u, reader);
  if (!ok) *q->r->diag = why;
  return ok;
}

/* At an end, the stream instead of the array, where a kernel is called that does what the end is
 * for: it gets the stream as its parameter. */
static void connect_call(Relay *q, const End *e, TdSym stream, TdSym port) {
  TdRewrite *r = q->r;
  TdUnit *u = td_unit_copy(r->store, td_prog_unit(q->prog, e->unit));
  TdParam *param = td_arena_copy(r->store->arena, u->param, u->nparam * sizeof *param);
  const TdType *was = param[e->arg].type;
  param[e->arg] = (TdParam){.sym = port,
                            .type = td_type_port(r->session, q->type->elem, 0, NULL, false),
                            .loc = param[e->arg].loc};
  u->param = param;
  q->prog = td_prog_with(q->prog, td_lift_tidy(r, td_keep_sizes(r, u, was, q->type)));
  const TdStmt *call = stage_of(q, e);
  const TdExpr **arg = td_arena_copy(r->arena, call->expr, call->nexpr * sizeof *arg);
  arg[e->arg] = td_relay_end(r, stream, q->type->elem, NULL, 0, call->loc);
  const TdStmt *now = td_stmt_with_exprs(r->store, call, arg, call->nexpr);
  const TdStmt *body = td_edit_replace(r->store, home_of(q, e)->body, call->uid, &now, 1);
  q->prog = td_prog_with(q->prog, td_unit_with_body(r->store, home_of(q, e), body));
}

/* The stream that a statement of an end names: the design's, or the port of what is called. */
static TdSym stream_at(const Relay *q, const End *e, TdSym stream) {
  return e->call ? td_store_sym(q->r->store, e->sym->name, TD_SYM_STREAM) : stream;
}

/* Turns what an end does to elements into puts or gets of a stream. */
static void connect(Relay *q, const End *e, TdSym stream) {
  TdSym port = stream_at(q, e, stream);
  TdStore *st = q->r->store;
  for (size_t i = 0; i < e->mark.n; i++) {
    const Mark *m = &e->mark.at[i];
    const TdStmt *was = td_edit_find(q->r->session->ctx, root_of(q, e), m->uid);
    const TdExpr *end = td_relay_end(q->r, port, q->type->elem, NULL, 0, was->loc);
    const TdStmt *now = e == &q->writer ? td_stmt_put(st, end, was->expr[1], was->loc)
                                        : td_stmt_get(st, end, m->value, was->type, NULL, was->loc);
    edit(q, e, m->uid, &now, 1);
  }
  if (e->call) connect_call(q, e, stream, port);
}

/* The stages from the writer to the reader as a design. */
static const TdProg *make_design(Relay *q, const TdStream *stream) {
  const TdStmt *body = home_of(q, &q->writer)->body;
  TdStages s = {
      .r = q->r, .unit = home_of(q, &q->writer), .block = body, .stream = stream, .nstream = 1};
  for (size_t i = 0; i < body->nkid; i++) {
    if (body->kid[i]->uid == q->writer.stage) s.lo = i;
    if (body->kid[i]->uid == q->reader.stage) s.hi = i + 1;
  }
  const TdProg *before = q->r->prog;
  q->r->prog = q->prog;
  const TdProg *p = td_stages_put(&s);
  q->r->prog = before;
  return p;
}

const TdProg *td_relay_stage(const TdRelay *ask) {
  const TdPlace *a = &ask->array;
  TdLoc loc = a->stmt ? a->stmt->loc : a->unit->loc;
  End end = {.home = a->unit->sym, .held = a->sym};
  Relay q = {
      .ask = ask, .r = ask->r, .prog = ask->r->prog, .array = a->sym, .writer = end, .reader = end};
  bool local = a->stmt && a->stmt->kind == TD_STMT_LOCAL && a->stmt->cls == TD_LOCAL_AUTO &&
               a->stmt->type->kind == TD_T_TENSOR && a->unit->kind == TD_UNIT_KERNEL;
  if (!local)
    return td_util_refuse(ask->r, TD_USAGE, "stage", loc, "'%s' is no local tensor of a kernel",
                          a->sym->name);
  q.type = a->stmt->type;
  if (!find_stages(&q) || !enter(&q, &q.writer) || !enter(&q, &q.reader)) return NULL;
  if (!find_write(&q) || !read_in_order(&q)) return NULL;
  const TdUnit *u = home_of(&q, &q.writer);
  const TdStmt *body = td_edit_replace(ask->r->store, u->body, a->stmt->uid, NULL, 0);
  q.prog = td_prog_with(q.prog, td_unit_with_body(ask->r->store, u, body));
  TdStream s = td_relay_stream(ask, home_of(&q, &q.writer), q.array, q.type->elem, 0, NULL);
  connect(&q, &q.writer, s.sym);
  connect(&q, &q.reader, s.sym);
  return make_design(&q, &s);
}

/* The statement of a task's body that takes the whole array from, or hands it to, the stream. */
static const TdStmt *handing(const TdUnit *task, TdStmtKind kind, TdSym stream) {
  for (uint32_t i = 0; task->body && i < task->body->nkid; i++) {
    const TdStmt *s = task->body->kid[i];
    if (s->kind == kind && s->nexpr && s->expr[0]->sym == stream) return s;
  }
  return NULL;
}

/* Finds the one stage of a task that uses the array, besides taking it (`in`) and handing it over
 * (`out`, or NULL). */
static bool find_stage_in(Relay *q, End *e, const TdStmt *in, const TdStmt *out) {
  const TdStmt *body = home_of(q, e)->body;
  for (uint32_t i = 0; i < body->nkid; i++) {
    const TdStmt *s = body->kid[i];
    if (s == in || s == out || !td_walk_uses(q->r->session->ctx, s, e->held)) continue;
    if (!take_stage(q, e, s, true)) return false;
  }
  return e->stage ||
         refuse(q, TD_ILLEGAL, "stage", body->loc, e->home->name, "has no stage that uses");
}

/* The unit of an end without statement s of its body. */
static void drop(Relay *q, const End *e, const TdStmt *s) {
  const TdStmt *body = td_edit_replace(q->r->store, home_of(q, e)->body, s->uid, NULL, 0);
  q->prog = td_prog_with(q->prog, td_unit_with_body(q->r->store, home_of(q, e), body));
}

const TdProg *td_relay_token(const TdRelay *ask, const TdUnit *design, TdSym stream,
                             const TdUnit *from, const TdUnit *to) {
  TdRewrite *r = ask->r;
  const TdStmt *slot = handing(from, TD_STMT_SLOT, stream), *got = handing(to, TD_STMT_GET, stream);
  const TdStmt *put = handing(from, TD_STMT_PUT, stream);
  bool whole = slot && put && td_expr_keeps_dims(put->expr[1], slot->sym);
  if (!whole || !got || !got->sym || slot->type->kind != TD_T_TENSOR)
    return td_util_refuse(r, TD_UNSUPPORTED, "stage", to->loc,
                          "'%s' is not simply handed over, once, from '%s' to '%s'", stream->name,
                          from->sym->name, to->sym->name);
  Relay q = {.ask = ask,
             .r = r,
             .prog = r->prog,
             .array = got->sym,
             .type = slot->type,
             .loc = slot->loc,
             .writer = {.home = from->sym, .held = slot->sym},
             .reader = {.home = to->sym, .held = got->sym}};
  if (!find_stage_in(&q, &q.writer, slot, put) || !find_stage_in(&q, &q.reader, got, NULL))
    return NULL;
  if (!enter(&q, &q.writer) || !enter(&q, &q.reader)) return NULL;
  if (!find_write(&q) || !read_in_order(&q)) return NULL;
  drop(&q, &q.writer, slot);
  drop(&q, &q.writer, put);
  drop(&q, &q.reader, got);
  TdUnit *u = td_unit_copy(r->store, td_prog_unit(q.prog, design->sym));
  TdStream *list = td_arena_copy(r->store->arena, u->stream, u->nstream * sizeof *list);
  TdStream s = td_relay_stream(ask, design, q.array, q.type->elem, 0, NULL);
  list[td_unit_stream(u, stream) - u->stream] = s;
  u->stream = list;
  q.prog = td_prog_with(q.prog, u);
  connect(&q, &q.writer, s.sym);
  connect(&q, &q.reader, s.sym);
  return q.prog;
}
