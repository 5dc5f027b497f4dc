/* accept.c - what a rewrite breaks, in words; of a stream, the orders of both its sides. */
#include "rewrite/accept.h"

#include <string.h>

/* A stream and the ports that it is passed as. */
typedef struct Names {
  const TdProg *prog;
  TdArena *arena;
  TD_VEC(TdSym) at;
  bool grown;
} Names;

static bool has(const Names *q, TdSym sym) {
  for (size_t i = 0; i < q->at.n; i++)
    if (q->at.at[i] == sym) return true;
  return false;
}

/* Adds y if x is one of them. */
static void join(Names *q, TdSym x, TdSym y) {
  if (!has(q, x) || has(q, y)) return;
  td_vec_push(q->arena, &q->at, y);
  q->grown = true;
}

static bool take_call(void *ud, const TdStmt *s) {
  Names *q = ud;
  const TdUnit *callee = s->kind == TD_STMT_CALL ? td_prog_unit(q->prog, s->sym) : NULL;
  for (uint32_t i = 0; callee && i < s->nexpr; i++) {
    if (s->expr[i]->kind != TD_EXPR_VIEW) continue;
    join(q, s->expr[i]->sym, callee->param[i].sym);
    join(q, callee->param[i].sym, s->expr[i]->sym);
  }
  return true;
}

static Names names_of(TdArena *a, const TdProg *p, TdSym stream) {
  Names q = {.prog = p, .arena = a, .grown = true};
  td_vec_push(a, &q.at, stream);
  while (q.grown) {
    q.grown = false;
    for (size_t i = 0; i < p->nunit; i++)
      if (p->unit[i]->body) td_walk_stmt(p->store->session->ctx, p->unit[i]->body, take_call, &q);
  }
  return q;
}

/* A side of a stream: a kernel's first put to it, or get from it. */
typedef struct Side {
  const Names *names;
  bool puts;
  const TdUnit *unit;
  const TdStmt *move;
} Side;

static bool is_other(void *ud, const TdStmt *s) {
  Side *q = ud;
  bool moves = q->puts ? s->kind == TD_STMT_PUT : s->kind == TD_STMT_GET;
  if (moves && has(q->names, s->expr[0]->sym)) q->move = s;
  return !q->move;
}

/* That side in p; without a move if it is none of p's kernels. */
static Side find(const TdProg *p, const Names *names, bool puts) {
  Side q = {.names = names, .puts = puts};
  for (size_t i = 0; i < p->nunit && !q.move; i++) {
    q.unit = p->unit[i];
    if (q.unit->body) td_walk_stmt(p->store->session->ctx, q.unit->body, is_other, &q);
  }
  return q;
}

/* The loops around it: "j, i". */
static const char *order(TdArena *a, const Side *q) {
  const TdStmt *const *loop;
  size_t n = td_edit_loops(a, td_edit_path(a, q->unit->body, q->move->uid), &loop);
  TdText t = td_text_new(a);
  for (size_t i = 0; i < n; i++) td_text_putf(&t, "%s%s", i ? ", " : "", loop[i]->sym->name);
  return n ? td_text_str(&t) : "no loop";
}

/* Adds to the message of r->diag, which refuses to turn r->prog into `now` because of a stream,
 * both sides and their orders; nothing where a side is not known by name. */
static void tell_orders(TdRewrite *r, const TdProg *now, TdSym stream) {
  TdArena *a = r->diag->arena;
  const char *text[2];
  Names names = names_of(a, r->prog, stream);
  for (int puts = 0; puts < 2; puts++) {
    Side was = find(r->prog, &names, puts), will = find(now, &names, puts);
    if (!was.move || !will.move) return;
    bool other = strcmp(order(a, &was), order(a, &will)) != 0;
    const char *verb = puts ? other ? "would put" : "puts" : other ? "would get" : "gets";
    text[puts] = td_text_fmt(a, "'%s' %s %s over %s", will.unit->sym->name, verb,
                             puts ? "its elements" : "them", order(a, &will));
  }
  r->diag->message = td_text_fmt(a, "%s: %s, and %s", r->diag->message, text[1], text[0]);
}

bool td_accept_rewrite(TdRewrite *r, const TdVerdict *v, bool reassociate, TdLoc loc,
                       const char *what, const TdProg *now) {
  if (!td_verdict_accept(v, reassociate, r->diag, loc, what)) {
    if (v->kind == TD_VERDICT_ILLEGAL && v->stream) tell_orders(r, now, v->stream);
    return false;
  }
  if (v->kind == TD_VERDICT_REASSOC)
    td_util_note(r, "legal because '%s' is associative", td_ops[v->op].lua);
  return true;
}
