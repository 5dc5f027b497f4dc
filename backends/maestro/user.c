/* user.c - a user's kernel as an extension. How many tokens a call moves, and in how many cycles,
 * is measured by calls on several inputs, with a clock; a kernel that branches is refused. */
#include "backends/maestro/user.h"

#include <string.h>

#include "ir/walk.h"

enum { MOST_TOKENS = 1024 };

static bool refuse(const TdMaestroUser *u, const char *why, TdDiag *d) {
  const TdUnit *k = td_prog_root(u->prog);
  td_diag_set(d, TD_UNSUPPORTED, "maestro-field", k->loc, "ext: kernel '%s': %s", k->sym->name,
              why);
  td_diag_help(d,
               "a kernel of one stream in and one out, X = tide.stream(i8[64]), that moves as many "
               "tokens in every call");
  return false;
}

/* Whether a statement may run or not, by data. */
static bool is_plain(void *ud, const TdStmt *s) {
  *(bool *)ud &= s->kind != TD_STMT_IF && s->kind != TD_STMT_WHILE && s->kind != TD_STMT_BREAK;
  return true;
}

/* The stream of parameter i, without its tokens in a call. */
static bool read_stream(const TdMaestroUser *u, size_t i, TdMaestroTokens *x, TdDiag *d) {
  const TdUnit *k = td_prog_root(u->prog);
  const TdType *t = td_unit_type(u->prog->store->session, k, k->param[i].type);
  if (!t || t->kind != TD_T_PORT || t->rank || t->block)
    return refuse(u, "its parameters are two streams", d);
  *x = (TdMaestroTokens){.param = i, .name = k->param[i].sym->name, .token = t->elem};
  int64_t n = 1, extent;
  for (int r = 0; t->elem->kind == TD_T_TENSOR && r < t->elem->rank; r++)
    n *= td_type_extent(t->elem, r, &extent) ? extent : 0;
  const TdType *e = td_type_scalar(t->elem);
  x->bits = n * e->w;
  if (n < 1 || e->w % 8 || (int64_t)td_type_bytes(e) * 8 != e->w)
    return refuse(u, "its tokens have elements of 8, 16, 32 or 64 bits", d);
  return true;
}

/* The type of n tokens. */
static const TdType *list_of(const TdMaestroUser *u, const TdType *token, int64_t n) {
  int64_t extent[TD_MAX_RANK] = {n};
  int rank = token->kind == TD_T_TENSOR ? token->rank : 0;
  for (int r = 0; r < rank; r++) (void)td_type_extent(token, r, &extent[r + 1]);
  return td_type_tensor_of(u->prog->store->session, td_type_scalar(token), rank + 1, extent);
}

/* A call on n tokens, drawn by a seed: those that it got, those that it put. */
static bool measure(const TdMaestroUser *u, const TdTimes *times, int seed, TdArena *a,
                    TdEvalPort *port, int64_t *cycles, TdDiag *d) {
  TdEvalArg arg[2] = {{.port = &port[0]}, {.port = &port[1]}};
  TdEvalOptions o = {.times = times};
  TdEvalResult r;
  const TdMaestroTokens *both[2] = {&u->in, &u->out};
  for (int i = 0; i < 2; i++) {
    TdTensor *t = td_tensor_new(a, list_of(u, both[i]->token, MOST_TOKENS), false);
    uint64_t state = (uint64_t)seed;
    for (int64_t b = 0; seed && b < MOST_TOKENS * both[i]->bits / 8; b++) {
      state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      t->data[b] = (unsigned char)(state >> 57);
    }
    port[i] = (TdEvalPort){.in = t};
  }
  if (!td_eval_run(a, u->prog, arg, 2, &o, d, &r)) return false;
  *cycles = r.timed ? r.timed->cycles : 0;
  return true;
}

bool td_maestro_user_read(TdMaestroUser *u, const TdTimes *times, TdArena *a, TdDiag *d) {
  const TdUnit *k = td_prog_root(u->prog);
  bool plain = true;
  u->name = k->sym->name;
  if (k->kind != TD_UNIT_KERNEL || k->nparam != 2)
    return refuse(u, "its parameters are two streams", d);
  (void)td_walk_stmt(td_arena_ctx(a), k->body, is_plain, &plain);
  if (!plain) return refuse(u, "it branches, so that its cycles may depend on data", d);
  if (!read_stream(u, 0, &u->in, d) || !read_stream(u, 1, &u->out, d)) return false;
  for (int seed = 0; seed < 3; seed++) {
    TdEvalPort port[2];
    int64_t cycles;
    if (!measure(u, times, seed, a, port, &cycles, d)) return false;
    int in = port[0].consumed ? 0 : 1;
    int64_t got = port[in].consumed, put = port[!in].out ? port[!in].out->extent[0] : 0;
    if (!got || !put || port[in].out || port[!in].consumed || got == MOST_TOKENS)
      return refuse(u, "it gets from one stream and puts to the other", d);
    if (seed && (got != u->in.n || put != u->out.n || cycles != u->cycles))
      return refuse(u, "what it moves, or its cycles, depend on data", d);
    if (!seed && in) {
      TdMaestroTokens was = u->in;
      u->in = u->out;
      u->out = was;
    }
    u->in.n = got;
    u->out.n = put;
    u->cycles = cycles;
  }
  u->in.all = list_of(u, u->in.token, u->in.n);
  u->out.all = list_of(u, u->out.token, u->out.n);
  return true;
}

const char *td_maestro_user_fits(TdMaestroExt *x, int64_t bits) {
  enum { BESIDE = 3 }; /* cycles of the start, and of the last token that is put */
  const TdMaestroUser *u = x->user;
  int64_t in = u->in.n * u->in.bits, out = u->out.n * u->out.bits;
  if (in % bits || out % bits) return "the tokens of a call are no multiple of the word";
  x->in = x->out = bits;
  x->take = in / bits;
  x->give = out / bits;
  x->wait = u->cycles + BESIDE;
  return x->take > 255 || x->give > 255 ? "a call moves more than 255 words" : NULL;
}

bool td_maestro_user_run(const TdMaestroExt *x, TdArena *a, const uint8_t *in, uint8_t *out,
                         TdDiag *d) {
  const TdMaestroUser *u = x->user;
  TdArena *work = td_arena_scratch(td_arena_ctx(a));
  TdTensor *t = td_tensor_new(work, u->in.all, false);
  memcpy(t->data, in, (size_t)(x->in / 8 * x->take));
  TdEvalPort from = {.in = t}, to = {0};
  TdEvalArg arg[2] = {{0}};
  arg[u->in.param].port = &from;
  arg[u->out.param].port = &to;
  TdEvalOptions o = {0};
  TdEvalResult r;
  bool ok = td_eval_run(work, u->prog, arg, 2, &o, d, &r);
  if (ok) memcpy(out, to.out->data, (size_t)(x->out / 8 * x->give));
  td_arena_free(work);
  return ok;
}
