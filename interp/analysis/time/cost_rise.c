/* cost_rise.c - why an estimate is above another: loop by loop, what holds each back now. */
#include <string.h>

#include "analysis/time/cost.h"

enum { MOST_REASONS = 5 };

/* The loop of a name in an estimate, or NULL. */
static const TdCostLoop *find(const TdCost *c, const char *name) {
  for (size_t i = 0; i < c->loop.n; i++)
    if (strcmp(c->loop.at[i].name, name) == 0) return &c->loop.at[i];
  return NULL;
}

static const char *words(const TdCostLoop *l, const char *otherwise) {
  return l->why ? l->why : otherwise;
}

/* Puts a rise of a number: ", II 1 -> 8". */
static void put_change(TdText *out, const char *what, int64_t from, int64_t to) {
  td_text_putf(out, "%s %lld -> %lld", what, (long long)from, (long long)to);
}

/* Puts what costs more of a loop that both have; false: nothing that it tells. */
static bool put_worse(TdText *out, const TdCostLoop *was, const TdCostLoop *now) {
  if (was->pipelined && !now->pipelined) {
    td_text_puts(out, words(now, "not pipelined"));
  } else if (now->pipelined && was->pipelined && now->ii > was->ii) {
    put_change(out, "II", was->ii, now->ii);
    td_text_putf(out, ", %s%s%s", now->by == TD_BY_ASKED ? "" : td_cost_by(now->by),
                 now->by == TD_BY_ASKED ? "" : ": ", words(now, "as asked"));
  } else if (was->flat && !now->flat && !now->pipelined) {
    td_text_puts(out, words(now, "not flattened"));
  } else if (now->most > was->most) {
    put_change(out, "iterations", was->most, now->most);
  } else if (now->pipelined && was->pipelined && now->depth > was->depth) {
    put_change(out, "depth", was->depth, now->depth);
  } else {
    return false;
  }
  return true;
}

/* Puts why loop `now` costs more than it did, or that it did not exist; false: it does not. */
static bool put_reason(TdText *out, const TdCost *before, const TdCostLoop *now) {
  const TdCostLoop *was = find(before, now->name);
  TdText t = td_text_new(out->arena);
  if (!was && now->cycles > 0) {
    td_text_putf(&t, "is new, %lld cycles", (long long)now->cycles);
    if (now->why && !(now->pipelined && now->by == TD_BY_ASKED))
      td_text_putf(&t, "; %s%s%s", now->pipelined ? td_cost_by(now->by) : "",
                   now->pipelined ? ": " : "", now->why);
  } else if (!was || !put_worse(&t, was, now)) {
    return false;
  }
  bool places = now->why && strstr(td_text_str(&t), now->why) && now->at.line;
  td_text_putf(out, "   %s: %s", now->name, td_text_str(&t));
  if (places) td_text_putf(out, ", line %u", (unsigned)now->at.line);
  td_text_putc(out, '\n');
  return true;
}

bool td_cost_print_rise(TdText *out, const TdCost *before, const TdCost *now) {
  int said = 0;
  if (now->cycles <= before->cycles) return false;
  td_text_putf(out, "rose from %lld cycles:\n", (long long)before->cycles);
  for (size_t i = 0; i < now->loop.n && said < MOST_REASONS; i++)
    said += put_reason(out, before, &now->loop.at[i]);
  for (size_t i = 0; i < now->loop.n && !said; i++) {
    const TdCostLoop *l = &now->loop.at[i], *was = find(before, l->name);
    if (!was || l->cycles <= was->cycles) continue;
    td_text_putf(out, "   %s: ", l->name);
    put_change(out, "cycles", was->cycles, l->cycles);
    td_text_putc(out, '\n');
    said++;
  }
  return true;
}
