/* proved.c - comparisons that came out equal, by the texts of both programs: a search injects the
 * same kernel for the same nest again and again, and a proof does not change. */
#include <string.h>

#include "eval/eval.h"
#include "ir/text/print.h"

enum { MOST_BYTES = 1 << 23 }; /* of texts that a session remembers */

typedef struct Proof {
  const char *text;
  size_t n;
  struct Proof *next;
} Proof;

struct TdProofs {
  TdMap of; /* hash of the text -> Proof */
  size_t bytes;
};

/* Whether the text of p is all of it. */
static bool is_text(TdArena *a, const TdProg *p) {
  const TdBlob *const *blob;
  for (size_t i = 0; i < p->nunit; i++)
    if (p->unit[i]->foreign) return false;
  return td_print_constants(a, p, &blob) == 0;
}

static const Proof *find(const struct TdProofs *s, const TdText *t) {
  uint64_t at;
  if (!td_map_get(&s->of, td_map_hash(t->at, t->n), &at)) return NULL;
  const Proof *p = (const Proof *)(uintptr_t)at;
  while (p && (p->n != t->n || memcmp(p->text, t->at, t->n) != 0)) p = p->next;
  return p;
}

static void keep(TdSession *s, const TdText *t) {
  TdArena *a = s->arena;
  struct TdProofs *all = s->proofs;
  uint64_t hash = td_map_hash(t->at, t->n), at = 0;
  if (t->n > MOST_BYTES - all->bytes) return;
  all->bytes += t->n;
  td_map_get(&all->of, hash, &at);
  Proof *p = TD_NEW(a, Proof);
  *p = (Proof){td_arena_copy(a, t->at, t->n), t->n, (Proof *)(uintptr_t)at};
  td_map_put(a, &all->of, hash, (uint64_t)(uintptr_t)p);
}

TdEvalAnswer td_eval_prove(TdArena *a, const TdProg *x, const TdProg *y, TdLevel level,
                           const TdEvalOptions *o) {
  TdSession *s = x->store->session;
  if (!is_text(a, x) || !is_text(a, y)) return td_eval_compare(a, x, y, level, NULL, o);
  if (!s->proofs) s->proofs = TD_NEW(s->arena, struct TdProofs);
  TdText t = td_text_new(a);
  td_text_putf(&t, "%d %d %u\n", (int)level, (int)o->drops_faults, o->call);
  td_print_prog(&t, x);
  td_text_puts(&t, "\n--\n");
  td_print_prog(&t, y);
  if (find(s->proofs, &t)) return (TdEvalAnswer){.verdict = TD_EVAL_EQUAL};
  TdEvalAnswer answer = td_eval_compare(a, x, y, level, NULL, o);
  if (answer.verdict == TD_EVAL_EQUAL && !answer.has_state) keep(s, &t);
  return answer;
}
