/* relay_stage.c - between two stages of a kernel: the write becomes a put, the first read a get
 * into a register. */
#include "ir/printer.h"
#include "rewrite/elements.h"
#include "rewrite/relay.h"
#include "rewrite/relay_order.h"
#include "rewrite/stages.h"

/* One of the two stages. */
typedef struct End {
  uint32_t stage;   /* uid of the statement of the kernel's body */
  const char *name; /* in messages */
  TdSym unit, sym;  /* where the array is used, and as what: a stage that calls uses it there */
  size_t arg;       /* of the call */
  bool call;
  uint32_t mark; /* uid of the statement that writes, or reads into a register */
  TdSym value;   /* the register */
} End;

typedef struct Relay {
  const TdRelay *ask;
  TdRewrite *r;
  const TdProg *prog; /* as far as it was rewritten */
  TdSym kernel, array;
  const TdType *type; /* of the array */
  End writer, reader;
} Relay;

static bool refuse(const Relay *q, TdDiagKind kind, const char *code, TdLoc loc, const char *who,
                   const char *why) {
  td_util_refuse(q->r, kind, code, loc, "'%s' %s '%s'", who, why, q->array->name);
  return false;
}

static const TdUnit *kernel_of(const Relay *q) {
  return td_prog_unit(q->prog, q->kernel);
}

static const TdStmt *stage_of(const Relay *q, const End *e) {
  return td_edit_find(q->r->session->ctx, kernel_of(q)->body, e->stage);
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

/* How a statement of the kernel uses the array. */
static const TdEffect *effect_on(const Relay *q, const TdStmt *s) {
  TdAsk ask = td_util_ask(q->r, kernel_of(q));
  const TdEffect *e;
  size_t n = td_effects_of(&ask, s, &e);
  return td_effects_find(e, n, q->array);
}

static bool is_consumer(const Relay *q, const TdStmt *s) {
  return q->ask->loop ? s == q->ask->loop : s->kind == TD_STMT_CALL && s->sym == q->ask->to->sym;
}

static const char *stage_name(const Relay *q, const TdStmt *s) {
  return s->kind == TD_STMT_CALL || s->kind == TD_STMT_FOR ? s->sym->name : q->kernel->name;
}

/* Finds the one stage that writes the array and the one, after it, that reads it. */
static bool find_stages(Relay *q) {
  const TdStmt *body = kernel_of(q)->body;
  for (uint32_t i = 0; i < body->nkid; i++) {
    const TdStmt *s = body->kid[i];
    if (s->kind == TD_STMT_LOCAL || !td_walk_uses(q->r->session->ctx, s, q->array)) continue;
    const TdEffect *x = effect_on(q, s);
    End *e = is_consumer(q, s) ? &q->reader : &q->writer;
    bool good = x && (e == &q->writer ? x->write && !q->reader.stage : !x->write);
    if (e->stage || !good)
      return refuse(q, TD_ILLEGAL, "stage", s->loc, stage_name(q, s),
                    "is not the one stage that writes, or after it reads,");
    e->stage = s->uid;
    e->name = stage_name(q, s);
  }
  if (q->writer.stage && q->reader.stage) return true;
  return refuse(q, TD_ILLEGAL, "stage", body->loc, q->kernel->name,
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
  e->unit = q->kernel;
  e->sym = q->array;
  if (!to) return true;
  const TdExpr *whole = td_expr_whole(q->r->session, q->r->arena, q->array, q->type, s->loc);
  for (uint32_t i = 0; i < s->nexpr; i++) {
    if (!td_walk_uses_expr(s->expr[i], q->array)) continue;
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
  const TdStmt *set, *store;
  size_t stores;
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
  if (stores) u->store = s, u->stores++;
  return true;
}

static Uses uses_at(const Relay *q, const End *e) {
  Uses u = {.sym = e->sym};
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

static bool find_write(Relay *q) {
  End *e = &q->writer;
  if (!spell_out(q, e)) return false;
  Uses u = uses_at(q, e);
  TdLoc loc = u.store ? u.store->loc : stage_of(q, e)->loc;
  if (u.stores != 1 || u.loads || u.views) {
    refuse(q, TD_ILLEGAL, "order", loc, e->name,
           u.loads ? "reads back what it writes to" : "has not one statement that writes");
    td_diag_help(q->r->diag, "buffer_at gives '%s' a buffer that is written back once", e->name);
    return false;
  }
  e->mark = u.store->uid;
  return true;
}

/* The reads of the array at the consumer's end: all the same element, under one loop. */
typedef struct Reads {
  const Relay *q;
  const TdStmt *root;  /* the body of the unit */
  const TdExpr *first; /* the element */
  const TdStmt *loop;  /* the innermost loop that it depends on */
  const TdStmt *at;    /* the statement of that loop's body that holds the first read */
  const TdStmt *stmt;  /* under look */
  bool same;
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

static bool look_read(void *ud, const TdExpr *e) {
  Reads *k = ud;
  if (e->kind != TD_EXPR_LOAD || e->sym != k->q->reader.sym) return true;
  for (uint32_t d = 0; d < e->nkid; d++) k->same &= td_walk_expr(e->kid[d], is_data, NULL);
  TdPath p = td_edit_path(k->q->r->arena, k->root, k->stmt->uid);
  const TdStmt *loop = NULL, *at = NULL;
  for (size_t i = 0; i + 2 < p.n; i++)
    if (p.at[i]->kind == TD_STMT_FOR && uses_index(e, p.at[i]->sym))
      loop = p.at[i], at = p.at[i + 2];
  if (k->first)
    k->same &= td_equal_expr(e, k->first) && loop == k->loop;
  else
    k->first = e, k->loop = loop, k->at = at;
  return true;
}

static bool look_reads(void *ud, const TdStmt *s) {
  Reads *k = ud;
  k->stmt = s;
  for (uint32_t i = 0; i < s->nexpr; i++) td_walk_expr(s->expr[i], look_read, k);
  return true;
}

static const TdExpr *to_register(void *ud, const TdExpr *e) {
  const Relay *q = ud;
  if (e->kind != TD_EXPR_LOAD || e->sym != q->reader.sym) return e;
  return td_expr_load(q->r->store->arena, q->reader.value, e->type, NULL, 0, e->loc);
}

/* Reads each element into a register, in the innermost loop that it depends on. */
static bool find_read(Relay *q) {
  End *e = &q->reader;
  TdStore *st = q->r->store;
  if (!spell_out(q, e)) return false;
  const TdUnit *u = td_prog_unit(q->prog, e->unit);
  Reads k = {.q = q, .root = u->body, .same = true};
  td_walk_stmt(q->r->session->ctx, root_of(q, e), look_reads, &k);
  if (uses_at(q, e).views || !k.first)
    return refuse(q, TD_UNSUPPORTED, "stage", stage_of(q, e)->loc, e->name,
                  "does not read element by element");
  if (!k.same || !k.loop) {
    refuse(q, TD_ILLEGAL, "order", k.at ? k.at->loc : stage_of(q, e)->loc, e->name,
           "does not read one element at a time, as its loops decide, of");
    td_diag_help(q->r->diag, "buffer_at or reuse_at keeps what is used again in a local buffer");
    return false;
  }
  const char *name = td_edit_fresh_name(st, u, q->array->name);
  e->value = td_store_sym(st, name, TD_SYM_LOCAL);
  const TdStmt *local =
      td_stmt_local(st, e->value, k.first->type, TD_INIT_VALUE, k.first, k.at->loc);
  e->mark = local->uid;
  const TdStmt *body = td_walk_map(st, td_for_body(k.loop), to_register, q);
  body = td_edit_insert(st, body, k.at->uid, false, &local, 1);
  edit(q, e, td_for_body(k.loop)->uid, &body, 1);
  return true;
}

/* Whether the order is right; what that takes of the sizes becomes an assumption. */
static bool check_order(Relay *q) {
  bool at_values;
  const TdUnit *u = kernel_of(q);
  TdRelayOrder o = {.r = q->r,
                    .prog = q->prog,
                    .unit = u,
                    .writer = stage_of(q, &q->writer),
                    .reader = stage_of(q, &q->reader),
                    .by = {q->writer.name, q->reader.name},
                    .array = q->array};
  if (!td_relay_order_holds(&o, &at_values)) return false;
  q->r->used_value |= at_values;
  for (size_t i = 0; at_values && i < u->nsize; i++) {
    TdLoc none = {0};
    const TdSize *z = &u->size[i];
    if (!z->known) continue;
    const TdExpr *size = td_expr_size(q->r->session, q->r->store->arena, z->name, none);
    const TdExpr *fact = td_expr_op2(q->r->store->arena, TD_OP_EQ, td_type_bool(q->r->session),
                                     size, td_util_const(q->r, z->value));
    q->prog = td_prog_with(q->prog, td_util_assume(q->r, kernel_of(q), fact));
  }
  return true;
}

/* At one end, the stream instead of the array: `s` takes the place of the marked statement, and a
 * kernel that is called gets the stream as its parameter. */
static void connect(Relay *q, const End *e, TdSym stream, TdSym port, const TdStmt *s) {
  TdRewrite *r = q->r;
  edit(q, e, e->mark, &s, 1);
  if (!e->call) return;
  TdUnit *u = td_unit_copy(r->store, td_prog_unit(q->prog, e->unit));
  TdParam *param = td_arena_copy(r->store->arena, u->param, u->nparam * sizeof *param);
  param[e->arg] = (TdParam){.sym = port,
                            .type = td_type_port(r->session, q->type->elem, 0, NULL, false),
                            .loc = param[e->arg].loc};
  u->param = param;
  q->prog = td_prog_with(q->prog, td_lift_tidy(r, u));
  const TdStmt *call = stage_of(q, e);
  const TdExpr **arg = td_arena_copy(r->arena, call->expr, call->nexpr * sizeof *arg);
  arg[e->arg] = td_relay_end(r, stream, q->type->elem, NULL, 0, call->loc);
  const TdStmt *now = td_stmt_with_exprs(r->store, call, arg, call->nexpr);
  const TdStmt *body = td_edit_replace(r->store, kernel_of(q)->body, call->uid, &now, 1);
  q->prog = td_prog_with(q->prog, td_unit_with_body(r->store, kernel_of(q), body));
}

/* The stream that a statement of an end names: the design's, or the port of what is called. */
static TdSym stream_at(const Relay *q, const End *e, TdSym stream) {
  return e->call ? td_store_sym(q->r->store, e->sym->name, TD_SYM_STREAM) : stream;
}

static void connect_writer(Relay *q, TdSym stream) {
  const End *e = &q->writer;
  TdSym port = stream_at(q, e, stream);
  const TdStmt *w = td_edit_find(q->r->session->ctx, root_of(q, e), e->mark);
  const TdExpr *end = td_relay_end(q->r, port, q->type->elem, NULL, 0, w->loc);
  connect(q, e, stream, port, td_stmt_put(q->r->store, end, w->expr[1], w->loc));
}

static void connect_reader(Relay *q, TdSym stream) {
  const End *e = &q->reader;
  TdSym port = stream_at(q, e, stream);
  const TdStmt *l = td_edit_find(q->r->session->ctx, root_of(q, e), e->mark);
  const TdExpr *end = td_relay_end(q->r, port, q->type->elem, NULL, 0, l->loc);
  connect(q, e, stream, port, td_stmt_get(q->r->store, end, e->value, l->type, NULL, l->loc));
}

/* The stages from the writer to the reader as a design. */
static const TdProg *make_design(Relay *q, const TdStream *stream) {
  const TdStmt *body = kernel_of(q)->body;
  TdStages s = {.r = q->r, .unit = kernel_of(q), .block = body, .stream = stream, .nstream = 1};
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
  Relay q = {.ask = ask, .r = ask->r, .prog = ask->r->prog, .kernel = a->unit->sym};
  q.array = a->sym;
  bool local = a->stmt && a->stmt->kind == TD_STMT_LOCAL && a->stmt->cls == TD_LOCAL_AUTO &&
               a->stmt->type->kind == TD_T_TENSOR && a->unit->kind == TD_UNIT_KERNEL;
  if (!local)
    return td_util_refuse(ask->r, TD_USAGE, "stage", loc, "'%s' is no local tensor of a kernel",
                          a->sym->name);
  q.type = a->stmt->type;
  if (!find_stages(&q) || !enter(&q, &q.writer) || !enter(&q, &q.reader)) return NULL;
  if (!find_write(&q) || !find_read(&q) || !check_order(&q)) return NULL;
  const TdUnit *u = kernel_of(&q);
  const TdStmt *body = td_edit_replace(ask->r->store, u->body, a->stmt->uid, NULL, 0);
  q.prog = td_prog_with(q.prog, td_unit_with_body(ask->r->store, u, body));
  TdStream s = td_relay_stream(ask, kernel_of(&q), q.array, q.type->elem, 0, NULL);
  connect_writer(&q, s.sym);
  connect_reader(&q, s.sym);
  return make_design(&q, &s);
}
