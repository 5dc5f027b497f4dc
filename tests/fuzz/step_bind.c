/* step_bind.c - arguments of steps that belong to one Lua state: types, and schedules of callees.
 */
#include "tests/fuzz/step.h"

#include <string.h>

#include "rewrite/prim.h"

/* The type that a number stands for. */
static const TdType *type_of(TdSession *s, int64_t n) {
  static const int width[] = {8, 16, 32, 64, 5};
  switch (n) {
  case 5: return td_type_float(s, 32);
  case 6: return td_type_float(s, 64);
  case 7: return td_type_uint(s, 8);
  default: return td_type_int(s, width[n]);
  }
}

const TdProg *step_callee(const TdProg *p, const char *name) {
  size_t n = 0;
  while (n < p->nunit && strcmp(p->unit[n]->sym->name, name) != 0) n++;
  return n < p->nunit ? td_prog_prune(td_prog_new(p->store, p->unit, n + 1)) : NULL;
}

/* A schedule of a callee of the kernel, with the steps that it takes; as long as the chain. */
static const TdVersion *schedule_of(Chain *c, const Step *s) {
  TdStore *st = td_store_new(c->side->session);
  td_vec_push(c->arena, &c->other, st);
  TdSchedule sub = td_schedule_new(st, &td_prim_kind, step_callee(c->kernel, s->of));
  for (int k = 0; k < s->nsub; k++) {
    TdArgValue arg[TD_PRIM_ARGS];
    TdDiag quiet = {.arena = c->scratch};
    const char *const *made;
    size_t n;
    if (!step_bind(c, &s->sub[k], arg)) continue;
    td_schedule_apply(&sub, c->side->affine, s->sub[k].prim, arg, &made, &n, &quiet);
  }
  return sub.now;
}

bool step_bind(Chain *c, const Step *s, TdArgValue *arg) {
  memcpy(arg, s->arg, sizeof s->arg);
  for (int i = 0; i < TD_PRIM_ARGS && s->prim->args[i].kind != TD_ARG_END; i++) {
    if (!arg[i].given) continue;
    if (s->prim->args[i].kind == TD_ARG_TYPE)
      arg[i].type = type_of(c->side->session, arg[i].integer);
    if (s->prim->args[i].kind == TD_ARG_SCHEDULE) arg[i].schedule = schedule_of(c, s);
    if (s->prim->args[i].kind != TD_ARG_KERNEL) continue;
    const char *why;
    arg[i].prog = side_load(c->side, arg[i].text, &why);
    arg[i].text = NULL;
    if (!arg[i].prog) return false;
  }
  return true;
}

const char *step_library_name(TdArena *a, const char *chunk) {
  const char *last = chunk;
  for (const char *at = chunk; (at = strstr(at, "return ")); at++) last = at + strlen("return ");
  return td_arena_strndup(a, last, strcspn(last, "\n"));
}

/* A version that has a name and nothing else. */
static const TdVersion *named_version(TdArena *a, const char *name) {
  TdSymbol *sym = TD_NEW(a, TdSymbol);
  TdUnit *u = TD_NEW(a, TdUnit);
  TdProg *p = TD_NEW(a, TdProg);
  TdVersion *v = TD_NEW(a, TdVersion);
  const TdUnit **list = TD_NEWN(a, const TdUnit *, 1);
  sym->name = name;
  u->sym = sym;
  list[0] = u;
  *p = (TdProg){.unit = list, .nunit = 1};
  v->prog = p;
  v->kind = &td_prim_kind;
  return v;
}

const char *step_text(TdArena *a, const Step *s) {
  TdSession *session = td_session_new(td_arena_ctx(a));
  TdArgValue arg[TD_PRIM_ARGS];
  memcpy(arg, s->arg, sizeof s->arg);
  for (int i = 0; i < TD_PRIM_ARGS && s->prim->args[i].kind != TD_ARG_END; i++) {
    if (s->prim->args[i].kind == TD_ARG_TYPE) arg[i].type = type_of(session, arg[i].integer);
    if (s->prim->args[i].kind == TD_ARG_KERNEL)
      arg[i].prog = named_version(a, step_library_name(a, arg[i].text))->prog;
    if (s->of) arg[i].schedule = named_version(a, s->of);
  }
  TdText t = td_text_new(a);
  td_schedule_call(&t, s->prim, arg);
  const char *text = td_text_str(&t);
  td_session_free(session);
  return text;
}
