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

/* A script without step k. */
static Script without_step(const Script *s, int k) {
  Script x = *s;
  memmove(&x.step[k], &x.step[k + 1], (size_t)(x.nstep - k - 1) * sizeof *x.step);
  x.nstep--;
  return x;
}

/* Drops single steps, the last first; true when one went. */
static bool drop_steps(Shrink *s) {
  bool any = false;
  for (int k = s->script->nstep; k-- > 0;) {
    Script x = without_step(s->script, k);
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

/* A text without its n-th line, which is *line; NULL past the last. */
static const char *without_line(TdArena *a, const char *text, int n, const char **line) {
  const char *at = text;
  while (n-- > 0 && *at) at += strcspn(at, "\n"), at += *at == '\n';
  if (!*at) return NULL;
  size_t length = strcspn(at, "\n");
  *line = td_arena_strndup(a, at, length);
  return td_text_fmt(a, "%.*s%s", (int)(at - text), text, at + length + (at[length] == '\n'));
}

/* Drops lines of the kernel's text: what no cut of the program takes, as a size's value. */
static void drop_lines(Shrink *s) {
  const char *line, *text;
  for (int n = 0; (text = without_line(s->arena, s->script->kernel, n, &line)); n++) {
    Script x = *s->script;
    x.kernel = text;
    if (*line && try(s, &x)) n--;
  }
}

Outcome shrink_script(Script *script, Outcome out, int probes, TdArena *a) {
  Shrink s = {.script = script, .out = out, .probes = probes, .arena = a};
  Outcome again = case_probe(script, a);
  if (again.wrong != out.wrong) return out;
  while (drop_steps(&s)) continue;
  drop_options(&s);
  while (cut_kernel(&s)) continue;
  drop_lines(&s);
  while (drop_steps(&s)) continue;
  return s.out;
}

/* ---- is it smallest? ---- */

/* Whether x goes wrong as s does; counts the try. */
static bool is_same(Shrink *s, const Script *x) {
  s->probes++;
  return case_probe(x, s->arena).wrong == s->out.wrong;
}

/* An option of step k that it goes wrong without, or NULL. */
static const char *spare_option(Shrink *s, int k) {
  const TdArgSpec *spec = s->script->step[k].prim->args;
  for (int i = 0; i < TD_PRIM_ARGS && spec[i].kind != TD_ARG_END; i++) {
    Script x = *s->script;
    if (spec[i].place != TD_ARG_OPTION || !x.step[k].arg[i].given) continue;
    x.step[k].arg[i] = (TdArgValue){0};
    if (is_same(s, &x)) return td_text_fmt(s->arena, "option %s of step %d", spec[i].name, k + 1);
  }
  return NULL;
}

/* A line of the kernel that it goes wrong without, or NULL. */
static const char *spare_line(Shrink *s) {
  Script x = *s->script;
  const char *line;
  for (int n = 0; (x.kernel = without_line(s->arena, s->script->kernel, n, &line)); n++)
    if (*line && is_same(s, &x)) return td_text_fmt(s->arena, "line %d: %s", n + 1, line);
  return NULL;
}

const char *shrink_smaller(const Script *script, Outcome out, int *tries, TdArena *a) {
  Script own = *script;
  Shrink s = {.script = &own, .out = out, .arena = a};
  const char *spare = NULL;
  for (int k = 0; k < own.nstep && !spare; k++) {
    Script x = without_step(&own, k), y = own;
    if (y.step[k].nsub) y.step[k].nsub--;
    if (is_same(&s, &x))
      spare = td_text_fmt(a, "step %d", k + 1);
    else if (own.step[k].nsub && is_same(&s, &y))
      spare = td_text_fmt(a, "the last step of the schedule of step %d", k + 1);
    else
      spare = spare_option(&s, k);
  }
  if (!spare) spare = spare_line(&s);
  *tries = s.probes;
  return spare;
}
