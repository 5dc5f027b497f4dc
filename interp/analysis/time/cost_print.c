/* cost_print.c - an estimate as a table. */
#include "analysis/time/cost.h"

#include <string.h>

const char *td_cost_by(TdSchedBy by) {
  static const char *const name[] = {"asked", "recurrence", "ports", "operator"};
  return name[by];
}

/* n / 10^digits with that many digits after the point. */
static void put_decimal(TdText *out, int64_t n, int digits) {
  int64_t scale = 1;
  for (int i = 0; i < digits; i++) scale *= 10;
  td_text_putf(out, "%lld.%0*lld", (long long)(n / scale), digits, (long long)(n % scale));
}

/* "DSP 160 of 9024", or without the whole. */
static void put_part(TdText *out, const char *name, int64_t n, int64_t of) {
  if (!of && !n) return;
  td_text_putf(out, "   %s %lld", name, (long long)n);
  if (of) td_text_putf(out, " of %lld", (long long)of);
}

static void put_total(TdText *out, const TdCost *c) {
  const TdTarget *t = c->target;
  td_text_putf(out, "%s at %lld MHz%s: %lld cycles, ", t->name,
               (long long)((1000000 + c->clock / 2) / c->clock), c->reported ? ", as reported" : "",
               (long long)c->cycles);
  put_decimal(out, (int64_t)(c->ms * 1e6 + 0.5), 6);
  td_text_puts(out, " ms\n");
  if (!t->dsp) return;
  put_part(out, "DSP", c->area.dsp, t->dsp);
  put_part(out, "BRAM", c->area.bram, t->bram);
  if (c->area.uram) put_part(out, "URAM", c->area.uram, t->uram);
  put_part(out, "FF", c->area.ff, t->ff);
  put_part(out, "LUT", c->area.lut, t->lut);
  td_text_putc(out, '\n');
}

/* The name of a loop, indented. */
static const char *label(TdText *out, const TdCostLoop *l) {
  return td_text_fmt(out->arena, "%*s%s%s", 2 * l->level, "", l->name, l->flat ? " +" : "");
}

static const char *trips(TdText *out, const TdCostLoop *l) {
  TdText t = td_text_new(out->arena);
  if (l->least < 0) return "-";
  td_text_putf(&t, "%lld", (long long)l->least);
  if (l->most != l->least) td_text_putf(&t, "..%lld", (long long)l->most);
  if (l->lanes > 1) td_text_putf(&t, " / %lld", (long long)l->lanes);
  return td_text_str(&t);
}

static const char *text_of(TdText *out, int64_t n, bool there) {
  return there ? td_text_fmt(out->arena, "%lld", (long long)n) : "";
}

/* What bounds a loop, with the line. */
static void put_reason(TdText *out, const TdCostLoop *l) {
  if (!l->why) return;
  td_text_puts(out, "  ");
  if (l->pipelined && l->by != TD_BY_ASKED) td_text_putf(out, "%s: ", td_cost_by(l->by));
  td_text_puts(out, l->why);
  if (l->at.line && (l->by != TD_BY_ASKED || !l->pipelined))
    td_text_putf(out, ", line %u", (unsigned)l->at.line);
}

static void put_loop(TdText *out, const TdCostLoop *l, int wide) {
  TdText line = td_text_new(out->arena);
  td_text_putf(&line, "%-*s  %11s  %4s  %6s  %12s", wide, label(out, l), trips(out, l),
               text_of(out, l->ii, l->pipelined), text_of(out, l->depth, l->pipelined),
               text_of(out, l->cycles, l->least >= 0));
  put_reason(&line, l);
  td_text_putf(out, "%s\n", td_text_str(&line));
}

void td_cost_print(TdText *out, const TdCost *c) {
  int wide = 4;
  put_total(out, c);
  for (size_t i = 0; i < c->stage.n; i++) {
    const TdCostStage *s = &c->stage.at[i];
    td_text_putf(out, "task %s: %lld instance%s, %lld cycles\n", s->name, (long long)s->instances,
                 s->instances == 1 ? "" : "s", (long long)s->cycles);
  }
  for (size_t i = 0; i < c->loop.n; i++) {
    int n = (int)strlen(label(out, &c->loop.at[i]));
    if (n > wide) wide = n;
  }
  if (c->loop.n)
    td_text_putf(out, "%-*s  %11s  %4s  %6s  %12s  %s\n", wide, "loop", "iterations", "II", "depth",
                 "cycles", "II is bound by");
  for (size_t i = 0; i < c->loop.n; i++) put_loop(out, &c->loop.at[i], wide);
}
