/* deadlock.c - when nothing can go on: who waits where for what, what the streams hold, the cycle.
 */
#include "eval/machine.h"

enum { SHOWN_TASKS = 16, SHOWN_STREAMS = 8, SHOWN_VALUES = 8 };

/* The tokens of a stream, as far as there is room. */
static void put_contents(TdText *out, const TdChannel *c) {
  int64_t shown = 0;
  for (uint32_t i = 0; i < c->full.n; i++) {
    const TdMemory *token = &c->buffer[c->full.at[(c->full.first + i) % c->full.cap]];
    for (int64_t k = 0; k < token->count; k++, shown++) {
      if (shown == SHOWN_VALUES) {
        td_text_puts(out, ", ...");
        return;
      }
      td_text_puts(out, shown ? ", " : "");
      if (td_value_is_concrete(token->cell[k]))
        td_num_print(out, token->elem, token->cell[k].lo);
      else
        td_text_putc(out, '?');
    }
  }
}

/* Whether an index can be told from t's ids and scalar arguments alone. */
static bool is_fixed(void *ud, const TdExpr *e) {
  (void)ud;
  if (e->kind == TD_EXPR_VAR) return e->sym->kind == TD_SYM_COORD || e->sym->kind == TD_SYM_SCALAR;
  return e->kind != TD_EXPR_LOAD && e->kind != TD_EXPR_VIEW && e->kind != TD_EXPR_TENSOR;
}

/* Whether the stream expression e of t's own unit may be c. */
static bool may_be(TdTask *t, const TdExpr *e, const TdChannel *c) {
  TdFrame *now = t->frame;
  t->frame = t->base;
  const TdView *v = td_scalar_symbol(t, e->sym, e->loc);
  bool known = v && v->channel, may = known && v->channel == c - c->ordinal;
  int64_t at = known ? v->base : 0;
  for (uint32_t d = 0; may && d < e->nkid; d++) {
    known &= e->u.dim[d].out < 0 && td_walk_expr(e->kid[d], is_fixed, NULL);
    int64_t i = 0;
    if (known) known = td_scalar_index(t, e->kid[d], "an index", &i);
    at += i * v->stride[d];
  }
  t->frame = now;
  return may && (!known || at == c->ordinal);
}

typedef struct Search {
  TdTask *task;
  const TdChannel *channel;
  bool consumer, found;
} Search;

/* Looks for a statement that uses the wanted end of the stream; a call that gets it may. */
static bool uses_end(void *ud, const TdStmt *s) {
  Search *q = ud;
  bool get = s->kind == TD_STMT_GET, put = s->kind == TD_STMT_PUT || s->kind == TD_STMT_SLOT;
  uint32_t n = s->kind == TD_STMT_CALL ? s->nexpr : (q->consumer ? get : put) ? 1 : 0;
  for (uint32_t i = 0; i < n && !q->found; i++)
    q->found = s->expr[i]->kind == TD_EXPR_VIEW && s->expr[i]->type->kind == TD_T_PORT &&
               may_be(q->task, s->expr[i], q->channel);
  return !q->found;
}

/* The task that t waits for: the holder of the other end of its stream, or NULL. */
static TdTask *other_end(TdMachine *m, const TdTask *t) {
  const TdChannel *c = t->channel;
  bool consumer = t->waits != TD_WAITS_GET;
  if (c->end[consumer]) return c->end[consumer];
  for (size_t i = 0; i < m->task.n; i++) {
    Search q = {m->task.at[i], c, consumer, false};
    td_walk_stmt(m->session->ctx, q.task->base->plan->unit->body, uses_end, &q);
    if (q.found) return q.task;
  }
  return NULL;
}

/* "func0 -> sBA -> func1 -> sAB -> func0", or NULL when t's chain does not end in a cycle. */
static const char *cycle_from(TdMachine *m, const TdTask *t) {
  for (size_t i = 0; i < m->task.n && t; i++) t = t->waits ? other_end(m, t) : NULL;
  if (!t || !t->waits) return NULL;
  TdText text = td_text_new(m->arena);
  const TdTask *first = t;
  td_text_puts(&text, td_fault_task_name(t));
  do {
    const char *stream = td_fault_channel_name(m->arena, t->channel);
    t = other_end(m, t);
    td_text_putf(&text, " -> %s -> %s", stream, td_fault_task_name(t));
  } while (t != first);
  return td_text_str(&text);
}

/* ", which holds 1 of 2 tokens", or, where a buffer is waited for, how those there are are used. */
static const char *fill(TdArena *a, const TdTask *t) {
  const TdChannel *c = t->channel;
  uint32_t full = c->full.n, cap = c->full.cap;
  if (t->waits != TD_WAITS_SLOT) return td_text_fmt(a, ", which holds %u of %u tokens", full, cap);
  return td_text_fmt(a, " (%u in all: %u full, %u taken)", cap, full, cap - full - c->free.n);
}

/* What t waits for. */
static void note_task(TdMachine *m, const TdTask *t) {
  static const char *const how[] = {"", "to get from", "to put to", "for a free buffer of"};
  const char *name = td_fault_task_name(t), *loops = td_fault_loops(t);
  const char *at = *loops ? " at " : "";
  if (t->meeting) {
    td_diag_note(m->diag, t->stopped->loc, "%s%s%s waits in an allreduce", name, at, loops);
    return;
  }
  const TdChannel *c = t->channel;
  const char *stream = td_fault_channel_name(m->arena, c);
  const TdTask *other = c->outside ? NULL : other_end(m, t);
  const char *why = c->outside            ? ": the argument has no more tokens"
                    : !other              ? ": no task is left to do its part"
                    : other->stack.n == 0 ? ": the task at the other end has ended"
                                          : "";
  td_diag_note(m->diag, t->stopped->loc, "%s%s%s waits %s %s%s%s", name, at, loops, how[t->waits],
               stream, fill(m->arena, t), why);
}

/* What the streams hold that somebody waits at. */
static void note_contents(TdMachine *m) {
  size_t shown = 0;
  for (size_t i = 0; i < m->channel.n && shown < SHOWN_STREAMS; i++) {
    const TdChannel *c = m->channel.at[i];
    if (!c->full.n) continue;
    TdText text = td_text_new(m->arena);
    put_contents(&text, c);
    td_diag_note(m->diag, (TdLoc){0}, "%s holds %s", td_fault_channel_name(m->arena, c),
                 td_text_str(&text));
    shown++;
  }
}

bool td_deadlock_report(TdMachine *m) {
  const char *cycle = NULL;
  size_t blocked = 0, full = 0;
  TdLoc loc = {0};
  for (size_t i = 0; i < m->task.n; i++) {
    const TdTask *t = m->task.at[i];
    if (t->awaits) continue;
    if (!blocked++) loc = t->stopped->loc;
    if (!cycle && t->waits) cycle = cycle_from(m, t);
    full += t->waits == TD_WAITS_PUT || t->waits == TD_WAITS_SLOT;
  }
  td_diag_set(m->diag, TD_ILLEGAL, "deadlock", loc, "deadlock: none of %zu tasks can go on",
              blocked);
  size_t shown = 0;
  for (size_t i = 0; i < m->task.n && shown < SHOWN_TASKS; i++) {
    if (m->task.at[i]->awaits) continue;
    note_task(m, m->task.at[i]);
    shown++;
  }
  if (blocked > shown)
    td_diag_note(m->diag, (TdLoc){0}, "and %zu more tasks wait", blocked - shown);
  if (cycle) td_diag_note(m->diag, (TdLoc){0}, "wait cycle: %s", cycle);
  note_contents(m);
  if (full) td_diag_help(m->diag, "%s", TD_EVAL_DEPTHS_HELP);
  m->failed = true;
  return false;
}

bool td_deadlock_leftovers(TdMachine *m, const TdNetwork *n) {
  const TdUnit *u = n->frame->plan->unit;
  size_t left = 0;
  for (size_t i = 0; i < u->nstream; i++) {
    const TdChannel *c = n->frame->slot[u->nparam + i].view->channel;
    for (int64_t k = 0; k < td_channel_count(c); k++) {
      if (!c[k].full.n) continue;
      const char *name = td_fault_channel_name(m->arena, &c[k]);
      if (!left++)
        td_diag_set(m->diag, TD_ILLEGAL, "leftover", u->stream[i].loc,
                    "%s is not empty at the end: %llu tokens were put, %llu were got", name,
                    (unsigned long long)c[k].put, (unsigned long long)c[k].got);
      if (left > SHOWN_STREAMS) continue;
      TdText text = td_text_new(m->arena);
      put_contents(&text, &c[k]);
      td_diag_note(m->diag, (TdLoc){0}, "%s holds %s", name, td_text_str(&text));
    }
  }
  if (left > SHOWN_STREAMS)
    td_diag_note(m->diag, (TdLoc){0}, "and %zu more streams hold tokens", left - SHOWN_STREAMS);
  m->failed |= left > 0;
  return !left;
}
