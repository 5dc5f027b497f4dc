/* fault.c - how a run fails: diagnostics that say what, where, and in which task and iteration. */
#include "eval/machine.h"

#include <string.h>

/* Marks the machine as failed. */
static bool failed(TdMachine *m) {
  m->failed = true;
  return false;
}

/* Adds "in pe[0][1] at i = 1, k = 3". */
static void note_where(TdTask *t) {
  const char *loops = td_fault_loops(t);
  const char *at = *loops ? " at " : "";
  if (t->network || *loops)
    td_diag_note(t->machine->diag, (TdLoc){0}, "in %s%s%s", td_fault_task_name(t), at, loops);
}

bool td_fault_set(TdTask *t, const char *code, TdLoc loc, const char *fmt, ...) {
  TdMachine *m = t->machine;
  if (m->failed) return false;
  va_list ap;
  va_start(ap, fmt);
  const char *text = td_text_vfmt(m->arena, fmt, ap);
  va_end(ap);
  if (m->speculative)
    return td_fault_undecided(t, loc, "behind a condition on symbolic values: %s", text);
  td_diag_set(m->diag, TD_ILLEGAL, code, loc, "%s", text);
  note_where(t);
  return failed(m);
}

bool td_fault_undecided(TdTask *t, TdLoc loc, const char *fmt, ...) {
  TdMachine *m = t->machine;
  if (m->failed) return false;
  va_list ap;
  va_start(ap, fmt);
  const char *text = td_text_vfmt(m->arena, fmt, ap);
  va_end(ap);
  td_diag_set(m->diag, TD_UNSUPPORTED, "not-decided", loc, "%s", text);
  note_where(t);
  return failed(m);
}

/* Parameters under way: those of a root that an expression names, in a task of a design by the name
 * that they share, or all that are integers. */
typedef struct Names {
  TdText text;
  const TdUnit *root;
} Names;

static void put_name(Names *n, const TdParam *p) {
  td_text_putf(&n->text, "%s\"%s\"", n->text.n ? ", " : "", p->sym->name);
}

static bool put_parameter(void *ud, const TdExpr *e) {
  Names *n = ud;
  bool names = e->kind == TD_EXPR_VAR || e->kind == TD_EXPR_LOAD;
  for (size_t i = 0; names && i < n->root->nparam; i++)
    if (strcmp(n->root->param[i].sym->name, e->sym->name) == 0) put_name(n, &n->root->param[i]);
  return true;
}

bool td_fault_symbolic(TdTask *t, TdLoc loc, const TdExpr *e, const char *what) {
  TdMachine *m = t->machine;
  const TdFrame *f = t->frame;
  if (m->failed) return false;
  while (f->up) f = f->up;
  Names n = {td_text_new(m->arena), f->plan->unit};
  td_walk_expr(e, put_parameter, &n);
  bool is_named = n.text.n > 0;
  for (size_t i = 0; !is_named && i < n.root->nparam; i++) {
    const TdType *type = n.root->param[i].type;
    if (type->kind != TD_T_PORT && td_type_is_integer(td_type_scalar(type)))
      put_name(&n, &n.root->param[i]);
  }
  td_fault_undecided(t, loc, "%s symbolic values", what);
  if (n.text.n)
    td_diag_help(m->diag, "verify with what decides this at numbers: {concrete = {%s}}",
                 td_text_str(&n.text));
  return false;
}

/* Ends the run because of a budget. */
static bool spent(TdMachine *m, TdLoc loc, const char *what) {
  if (m->failed) return false;
  td_diag_set(m->diag, TD_LIMIT, "limit", loc, "limit of %s", what);
  td_diag_help(m->diag, "compare the programs at smaller sizes: k:at {..}");
  return failed(m);
}

bool td_fault_tick(TdMachine *m, uint64_t n) {
  const TdEvalOptions *o = m->options;
  td_ctx_tick(m->session->ctx, n);
  m->steps += n;
  if (o->steps && m->steps > o->steps) return spent(m, (TdLoc){0}, "steps");
  if (o->bytes && td_arena_bytes(m->arena) - m->bytes_before > o->bytes)
    return spent(m, (TdLoc){0}, "memory");
  return true;
}

bool td_fault_room(TdMachine *m, int64_t cells, TdLoc loc) {
  const TdEvalOptions *o = m->options;
  size_t used = td_arena_bytes(m->arena) - m->bytes_before;
  if (cells < 0 || (uint64_t)cells > SIZE_MAX / 64) return spent(m, loc, "memory");
  if (o->bytes && ((size_t)cells > o->bytes / sizeof(TdValue) || used > o->bytes))
    return spent(m, loc, "memory");
  return true;
}

const char *td_fault_task_name(const TdTask *t) {
  TdText text = td_text_new(t->machine->arena);
  if (t->network && t->network->frame->up) {
    const TdFrame *f = t->network->frame->up;
    while (!f->task) f = f->up;
    if (f->task->network) td_text_putf(&text, "%s:", td_fault_task_name(f->task));
  }
  td_text_puts(&text, t->run ? t->run->sym->name : t->base->plan->unit->sym->name);
  for (int d = 0; t->run && d < t->run->rank; d++)
    td_text_putf(&text, "[%lld]", (long long)t->id[d]);
  return td_text_str(&text);
}

const char *td_fault_channel_name(TdArena *a, const TdChannel *c) {
  TdText text = td_text_new(a);
  td_domain_put_element(&text, &c->name, c->ordinal);
  return td_text_str(&text);
}

const char *td_fault_element(TdArena *a, const TdMemory *x, int64_t offset) {
  TdText text = td_text_new(a);
  td_domain_put_element(&text, &x->name, offset);
  return td_text_str(&text);
}

const char *td_fault_loops(const TdTask *t) {
  TdText text = td_text_new(t->machine->arena);
  for (size_t i = 0; i < t->stack.n; i++) {
    const TdCursor *c = &t->stack.at[i];
    if (c->stmt->kind != TD_STMT_FOR || c->frame != t->frame) continue;
    td_text_putf(&text, "%s%s = %lld", text.n ? ", " : "", c->stmt->sym->name,
                 (long long)(c->value - c->stmt->step));
  }
  return td_text_str(&text);
}
