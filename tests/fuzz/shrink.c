/* shrink.c - a failure made small: what can be dropped while the same goes wrong is dropped. */
#include "tests/fuzz/shrink.h"

#include <string.h>

#include "tests/fuzz/cut.h"

typedef struct Shrink {
  Script *script;
  Outcome out;
  int probes; /* left */
  TdArena *arena;
} Shrink;

/* Takes a smaller script when it goes wrong in the same way. */
static bool try(Shrink *s, const Script *smaller) {
  if (s->probes-- <= 0) return false;
  Outcome out = case_probe(smaller, s->arena);
  if (out.wrong != s->out.wrong) return false;
  *s->script = *smaller;
  s->out = out;
  return true;
}

/* Drops single steps, the last first; true when one went. */
static bool drop_steps(Shrink *s) {
  bool any = false;
  for (int k = s->script->nstep; k-- > 0;) {
    Script x = *s->script;
    memmove(&x.step[k], &x.step[k + 1], (size_t)(x.nstep - k - 1) * sizeof *x.step);
    x.nstep--;
    any |= try(s, &x);
  }
  return any;
}

/* Drops options that steps do not need, and the last steps of schedules that they take. */
static void drop_options(Shrink *s) {
  for (int k = 0; k < s->script->nstep; k++)
    for (Script x = *s->script; x.step[k].nsub > 0; x = *s->script) {
      x.step[k].nsub--;
      if (!try(s, &x)) break;
    }
  for (int k = 0; k < s->script->nstep; k++)
    for (int i = 0; i < TD_PRIM_ARGS && s->script->step[k].prim->args[i].kind != TD_ARG_END; i++) {
      Script x = *s->script;
      if (x.step[k].prim->args[i].place != TD_ARG_OPTION || !x.step[k].arg[i].given) continue;
      x.step[k].arg[i] = (TdArgValue){0};
      try(s, &x);
    }
}

/* The n-th cut of a kernel's text. */
typedef struct Smaller {
  Side side;
  const char *text, *cut; /* cut: NULL past the last, "" when it cannot be printed */
  int n;
  TdArena *arena;
} Smaller;

static void make_smaller(void *ud) {
  Smaller *x = ud;
  const char *why;
  const TdProg *p = side_load(&x->side, x->text, &why);
  const TdProg *q = p ? cut_program(p, x->n) : NULL;
  if (!q) return;
  TdText t = td_text_new(x->arena);
  TdDiag d = {.arena = x->arena};
  x->cut = "";
  if (!td_verify_prog(q, &d)) return;
  td_print_prog(&t, q);
  if (side_load(&x->side, td_text_str(&t), &why)) x->cut = td_text_str(&t);
}

static const char *smaller_text(Shrink *s, int n) {
  Smaller x = {.text = s->script->kernel, .n = n, .arena = s->arena};
  const char *why;
  x.side = side_open();
  if (!side_protect(&x.side, make_smaller, &x, &why) && !x.cut) x.cut = "";
  side_close(&x.side);
  return x.cut;
}

/* One pass over all cuts; true when one was taken. */
static bool cut_kernel(Shrink *s) {
  bool any = false;
  int n = 0;
  for (const char *text; s->probes > 0 && (text = smaller_text(s, n));) {
    Script x = *s->script;
    x.kernel = text;
    bool same = !*text || strcmp(text, s->script->kernel) == 0;
    if (!same && try(s, &x))
      any = true;
    else
      n++;
  }
  return any;
}

Outcome shrink_script(Script *script, Outcome out, int probes, TdArena *a) {
  Shrink s = {.script = script, .out = out, .probes = probes, .arena = a};
  Outcome again = case_probe(script, a);
  if (again.wrong != out.wrong) return out;
  while (drop_steps(&s)) continue;
  drop_options(&s);
  while (cut_kernel(&s)) continue;
  while (drop_steps(&s)) continue;
  return s.out;
}
