/* watch.c - what a run tells those who look on. */
#include "eval/watch.h"

#include <string.h>

#include "eval/machine.h"
#include "ir/walk.h"

enum { MOST_SIDE = 12, MOST_TOKENS = 8, MOST_STREAMS = 64, MOST_TASKS = 64 };

const char *td_watch_task(const TdWatched *w) {
  return td_fault_task_name(w->task);
}

const char *td_watch_loops(const TdWatched *w) {
  return td_fault_loops(w->task);
}

size_t td_watch_depth(const TdWatched *w) {
  return w->task->stack.n;
}

/* ---- cells ---- */

static void put_value(TdText *out, const TdType *type, TdValue v) {
  if (td_value_is_concrete(v))
    td_num_print(out, type, v.lo);
  else
    td_text_putc(out, '?');
}

void td_watch_put_cell(TdText *out, const TdWatchCell *c) {
  put_value(out, c->type, *(const TdValue *)c->cell);
}

bool td_watch_target(const TdWatched *w, TdWatchCell *out) {
  const TdStmt *s = w->stmt;
  TdTask *t = w->task;
  if (s->kind != TD_STMT_STORE) return false;
  const TdExpr *place = s->expr[0];
  if (!place->nkid) {
    *out = (TdWatchCell){place->sym->name, &td_scalar_slot(t, place->sym)->value, place->type};
    return true;
  }
  const TdView *v;
  int64_t offset;
  if (!td_scalar_place(t, place, &v, &offset) || !v->memory) return false;
  *out = (TdWatchCell){td_fault_element(t->machine->arena, v->memory, offset),
                       &v->memory->cell[offset], v->memory->elem};
  return true;
}

/* ---- variables ---- */

/* A variable of a unit, and the type of its scalar. */
typedef struct Variable {
  TdSym sym;
  const TdType *type;
} Variable;

/* Those of a unit in the order of its text. */
typedef struct Variables {
  TdArena *arena;
  const TdType *index;
  TD_VEC(Variable) list;
} Variables;

static bool add_declared(void *ud, const TdStmt *s) {
  Variables *n = ud;
  bool local = s->kind == TD_STMT_LOCAL || s->kind == TD_STMT_GET || s->kind == TD_STMT_SLOT;
  bool has = !s->sym || (!local && s->kind != TD_STMT_FOR);
  for (size_t i = 0; i < n->list.n && !has; i++) has = n->list.at[i].sym == s->sym;
  if (!has) td_vec_push(n->arena, &n->list, ((Variable){s->sym, local ? s->type : n->index}));
  return true;
}

static Variables variables_of(const TdWatched *w) {
  const TdUnit *u = w->task->frame->plan->unit;
  TdSession *session = w->task->machine->session;
  Variables n = {.arena = w->task->machine->arena, .index = td_type_index(session)};
  for (size_t i = 0; i < u->nparam; i++)
    td_vec_push(n.arena, &n.list, ((Variable){u->param[i].sym, u->param[i].type}));
  for (size_t i = 0; i < u->ncoord; i++)
    td_vec_push(n.arena, &n.list, ((Variable){u->coord[i], n.index}));
  if (u->body) td_walk_stmt(session->ctx, u->body, add_declared, &n);
  return n;
}

/* The slot of a variable, or NULL. */
static const TdSlot *slot_of(const TdWatched *w, TdSym sym) {
  const TdUnitPlan *p = w->task->frame->plan;
  return p->slot[sym->id] ? &w->task->frame->slot[p->slot[sym->id] - 1] : NULL;
}

/* The variable of a name that has a slot, the last one declared; sym NULL: there is none. */
static Variable find(const TdWatched *w, const char *name) {
  Variables n = variables_of(w);
  Variable found = {NULL, NULL};
  for (size_t i = 0; i < n.list.n; i++)
    if (strcmp(n.list.at[i].sym->name, name) == 0 && slot_of(w, n.list.at[i].sym))
      found = n.list.at[i];
  return found;
}

/* Puts row `d` and below of a tensor, its elements in braces. */
static void put_box(TdText *out, const TdView *v, int d, int64_t at) {
  if (d == v->rank) {
    put_value(out, v->memory->elem, v->memory->cell[at]);
    return;
  }
  td_text_putc(out, '{');
  for (int64_t i = 0; i < v->extent[d]; i++) {
    if (i == MOST_SIDE) {
      td_text_puts(out, ", ..");
      break;
    }
    if (i) td_text_puts(out, ", ");
    put_box(out, v, d + 1, at + i * v->stride[d]);
  }
  td_text_putc(out, '}');
}

/* Puts a tensor: rows of the last dimension under each other. */
static void put_tensor(TdText *out, const TdView *v) {
  bool rows = v->rank > 1;
  for (int64_t i = 0; rows && i < v->extent[0] && i < MOST_SIDE; i++) {
    td_text_putf(out, "\n  [%lld] ", (long long)i);
    put_box(out, v, 1, v->base + i * v->stride[0]);
  }
  if (rows && v->extent[0] > MOST_SIDE) td_text_puts(out, "\n  ..");
  if (!rows) put_box(out, v, 0, v->base);
}

/* The stream of an array, in short: what it holds. */
static void put_channel(TdText *out, const TdChannel *c) {
  td_text_putf(out, "%u of %u token%s", (unsigned)c->full.n, (unsigned)c->full.cap,
               c->full.cap == 1 ? "" : "s");
  for (uint32_t i = 0; i < c->full.n && i < MOST_TOKENS; i++) {
    const TdMemory *token = &c->buffer[c->full.at[(c->full.first + i) % c->full.cap]];
    td_text_puts(out, i ? ", " : ": ");
    if (token->count) put_value(out, token->elem, token->cell[0]);
    if (token->count > 1) td_text_puts(out, "..");
  }
  if (c->full.n > MOST_TOKENS) td_text_puts(out, ", ..");
}

bool td_watch_put(TdText *out, const TdWatched *w, const char *name, const int64_t *index, int n) {
  Variable x = find(w, name);
  if (!x.sym) return false;
  const TdSlot *slot = slot_of(w, x.sym);
  if (!slot->view) {
    if (n == 0) put_value(out, x.type, slot->value);
    return n == 0;
  }
  TdView v = *slot->view;
  if (n > v.rank) return false;
  for (int d = 0; d < n; d++) {
    if (index[d] < 0 || index[d] >= v.extent[d]) return false;
    v.base += index[d] * v.stride[d];
  }
  v.rank -= n;
  memmove(v.extent, v.extent + n, (size_t)v.rank * sizeof *v.extent);
  memmove(v.stride, v.stride + n, (size_t)v.rank * sizeof *v.stride);
  if (v.channel && v.rank) return false;
  if (v.channel)
    put_channel(out, &v.channel[v.base]);
  else
    put_tensor(out, &v);
  return true;
}

bool td_watch_integer(const TdWatched *w, const char *name, int64_t *v) {
  Variable x = find(w, name);
  const TdSlot *slot = x.sym ? slot_of(w, x.sym) : NULL;
  if (!slot || slot->view || !td_value_is_concrete(slot->value)) return false;
  *v = (int64_t)slot->value.lo;
  return true;
}

void td_watch_put_all(TdText *out, const TdWatched *w) {
  Variables n = variables_of(w);
  for (size_t i = 0; i < n.list.n; i++) {
    const char *name = n.list.at[i].sym->name;
    const TdSlot *slot = slot_of(w, n.list.at[i].sym);
    if (!slot || (slot->view && slot->view->channel)) continue;
    if (!slot->view && !td_value_is_concrete(slot->value)) continue;
    td_text_putf(out, "%s = ", name);
    td_watch_put(out, w, name, NULL, 0);
    td_text_putc(out, '\n');
  }
}

/* ---- streams and tasks ---- */

const char *td_watch_stream(const TdWatched *w) {
  const TdStmt *s = w->stmt;
  bool uses = s->kind == TD_STMT_GET || s->kind == TD_STMT_PUT || s->kind == TD_STMT_SLOT;
  TdView v;
  if (!uses || s->expr[0]->kind != TD_EXPR_VIEW || !td_scalar_view(w->task, s->expr[0], &v))
    return NULL;
  return v.channel ? td_fault_channel_name(w->task->machine->arena, &v.channel[v.base]) : NULL;
}

void td_watch_put_streams(TdText *out, const TdWatched *w) {
  const TdMachine *m = w->task->machine;
  for (size_t i = 0; i < m->channel.n; i++) {
    const TdChannel *c = m->channel.at[i];
    if (i == MOST_STREAMS) {
      td_text_putf(out, "and %zu more\n", m->channel.n - i);
      return;
    }
    td_text_putf(out, "%s holds ", td_fault_channel_name(out->arena, c));
    put_channel(out, c);
    td_text_putf(out, "; %llu put, %llu got\n", (unsigned long long)c->put,
                 (unsigned long long)c->got);
  }
  if (!m->channel.n) td_text_puts(out, "no streams\n");
}

void td_watch_put_tasks(TdText *out, const TdWatched *w) {
  static const char *const waits[] = {[TD_WAITS_NOT] = "",
                                      [TD_WAITS_GET] = "get",
                                      [TD_WAITS_PUT] = "put",
                                      [TD_WAITS_SLOT] = "slot"};
  const TdMachine *m = w->task->machine;
  for (size_t i = 0; i < m->task.n; i++) {
    const TdTask *t = m->task.at[i];
    if (i == MOST_TASKS) {
      td_text_putf(out, "  and %zu more\n", m->task.n - i);
      return;
    }
    td_text_putf(out, "%s %s", t == w->task ? "*" : " ", td_fault_task_name(t));
    const TdStmt *at = t == w->task ? w->stmt : t->again ? t->stopped : NULL;
    if (at) td_text_putf(out, ", line %u", (unsigned)at->loc.line);
    if (t != w->task && t->again && t->waits != TD_WAITS_NOT)
      td_text_putf(out, ": waits for %s:%s", td_fault_channel_name(out->arena, t->channel),
                   waits[t->waits]);
    td_text_putc(out, '\n');
  }
}
