/* state.c - tensors that last from call to call and from run to run, by the path of their instance.
 */
#include "eval/machine.h"

#include <string.h>

typedef struct StateTensor {
  const char *path;
  TdTensor *tensor;
} StateTensor;

struct TdEvalState {
  TdArena *arena;
  TD_VEC(StateTensor) tensor;
};

TdEvalState *td_state_new(TdArena *a) {
  TdEvalState *s = TD_NEW(a, TdEvalState);
  s->arena = a;
  return s;
}

void td_state_reset(TdEvalState *s) {
  s->tensor.n = 0;
}

/* The tensor kept under a path, or NULL. */
static TdTensor *find(const TdEvalState *s, const char *path) {
  for (size_t i = 0; s && i < s->tensor.n; i++)
    if (!strcmp(s->tensor.at[i].path, path)) return s->tensor.at[i].tensor;
  return NULL;
}

/* "top.pe[0].mm": the units and instances from the top down to f. */
static void put_path(TdText *out, const TdFrame *f) {
  if (f->up) {
    put_path(out, f->up);
    td_text_putc(out, '.');
  }
  const TdTask *t = f->task;
  if (!t || !t->run) {
    td_text_puts(out, f->plan->unit->sym->name);
    return;
  }
  td_text_puts(out, t->run->sym->name);
  for (int d = 0; d < t->run->rank; d++) td_text_putf(out, "[%lld]", (long long)t->id[d]);
}

/* What the call before left under a path, or NULL. */
static const TdMemory *left_by(const TdMachine *m, const char *path, const TdType *t) {
  for (size_t i = 0; m && i < m->state.n; i++)
    if (m->state.at[i].type == t && !strcmp(m->state.at[i].path, path))
      return m->state.at[i].memory;
  return NULL;
}

TdMemory *td_state_open(TdMachine *m, const TdFrame *f, const TdStmt *local) {
  TdText path = td_text_new(m->arena);
  put_path(&path, f);
  td_text_putf(&path, ".%s", local->sym->name);
  TdMemory *x = td_memory_new(m->arena, local->type, local->sym->name);
  const TdTensor *kept = find(m->options->state, td_text_str(&path));
  const TdMemory *left = left_by(m->before, td_text_str(&path), local->type);
  if (left)
    memcpy(x->cell, left->cell, (size_t)x->count * sizeof *x->cell);
  else if (kept && kept->type == local->type)
    td_memory_load(m->arena, x, kept);
  else
    td_memory_load_blob(m->arena, x, local->blob);
  td_vec_push(m->arena, &m->state, ((TdStateMemory){td_text_str(&path), x, local->type}));
  return x;
}

void td_state_keep(TdMachine *m) {
  TdEvalState *s = m->options->state;
  for (size_t i = 0; s && i < m->state.n; i++) {
    const TdStateMemory *x = &m->state.at[i];
    TdTensor *t = find(s, x->path);
    if (!t || t->type != x->type) {
      t = td_tensor_new(s->arena, x->type, false);
      const char *path = td_arena_strdup(s->arena, x->path);
      td_vec_push(s->arena, &s->tensor, ((StateTensor){path, t}));
    }
    td_memory_save(x->memory, t);
  }
}
