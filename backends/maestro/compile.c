/* compile.c - a kernel for a system: roles from the nest, loops across the array and in
 * time, registers, bases; checked against the nest before it is returned. */
#include "backends/maestro/job.h"
#include "backends/maestro/user.h"

#include <stdio.h>
#include <string.h>

const char *const td_maestro_role_name[TD_MAESTRO_ROLES] = {"A", "B", "C", "D", "E", "", "", ""};

typedef struct Compile {
  TdMaestroJob *j;
  const TdMaestroSystem *s;
  const TdMaestroAsk *ask;
  TdArena *a;
  TdDiag *d;
  bool cut[TD_MAESTRO_NEST_LOOPS]; /* loops of which other jobs run iterations */
} Compile;

/* The names of the nest's loops, for help. */
static const char *all_loops(const Compile *c) {
  TdText t = td_text_new(c->a);
  for (int i = 0; i < c->j->nest.nloop; i++)
    td_text_putf(&t, "%s%s", i ? ", " : "", c->j->nest.loop[i].name);
  return td_text_str(&t);
}

/* The loop that an option names. */
static bool find_loop(Compile *c, const char *option, const char *name, int *loop) {
  *loop = td_maestro_nest_find(&c->j->nest, name);
  if (*loop >= 0) return true;
  td_diag_set(c->d, TD_USAGE, "maestro-loop", (TdLoc){0}, "%s: the nest has no loop '%s'", option,
              name);
  td_diag_help(c->d, "its loops are %s", all_loops(c));
  return false;
}

/* Cuts the nest down to the part that is asked for. */
static bool take_part(Compile *c) {
  TdMaestroNest *n = &c->j->nest;
  TdMaestroPart part = {.sums = c->ask->sums};
  for (int l = 0; l < n->nloop; l++) part.n[l] = n->loop[l].extent;
  for (size_t i = 0; i < c->ask->nparts; i++) {
    int l;
    if (!find_loop(c, "part", c->ask->part[i], &l)) return false;
    if (c->ask->lo[i] < 0 || c->ask->n[i] < 1 || c->ask->lo[i] + c->ask->n[i] > part.n[l])
      return td_diag_set(c->d, TD_USAGE, "maestro-loop", n->loop[l].loc,
                         "part: loop '%s' has %lld iterations", n->loop[l].name,
                         (long long)part.n[l]);
    c->cut[l] = c->ask->n[i] < part.n[l];
    part.lo[l] = c->ask->lo[i];
    part.n[l] = c->ask->n[i];
  }
  if (c->ask->nparts) td_maestro_nest_cut(n, &part);
  return true;
}

/* Has `tile` iterations of a loop go across m, n or k (which). */
static bool put_across(Compile *c, int which, const char *name, int64_t tile, int *loop) {
  static const char *const option[3] = {"m", "n", "k"};
  TdMaestroJob *j = c->j;
  if (!find_loop(c, option[which], name, loop)) return false;
  if (j->nest.loop[*loop].reduces != (which == 2) || j->tile[*loop] != 1)
    return td_diag_set(c->d, TD_USAGE, "maestro-spatial", j->nest.loop[*loop].loc,
                       which == 2 ? "%s = '%s' does not reduce" : "%s = '%s' reduces, or is taken",
                       option[which], j->nest.loop[*loop].name);
  j->tile[*loop] = tile;
  return true;
}

/* Two loops across m or k, "y%2 x%4": blocks of the first outside of those of the second. */
static bool take_two(Compile *c, int which, const char *text, int64_t across) {
  char name[2][64];
  int n[2], end = 0;
  bool read =
      sscanf(text, "%63[^% ]%%%d %63[^% ]%%%d %n", name[0], &n[0], name[1], &n[1], &end) == 4;
  if (read && which != 1 && !text[end] && n[0] > 0 && n[1] > 0 && (int64_t)n[0] * n[1] == across)
    return put_across(c, which, name[0], n[0], &c->j->outer[which]) &&
           put_across(c, which, name[1], n[1], &c->j->spatial[which]);
  td_diag_set(c->d, TD_USAGE, "maestro-spatial", (TdLoc){0}, "%c = \"%s\": %s", "mnk"[which], text,
              which == 1 ? "one loop goes across n" : "no two parts of loops that fill the array");
  td_diag_help(c->d,
               "m = \"y%%2 x%%4\" has blocks of 2 rows of 4 on an array of 8: the product is %lld",
               (long long)across);
  return false;
}

/* The loops across m, n and k. */
static bool take_spatial(Compile *c) {
  TdMaestroJob *j = c->j;
  const int64_t across[3] = {c->s->array.m, c->s->array.n, c->s->array.k};
  for (int l = 0; l < j->nest.nloop; l++) j->tile[l] = 1;
  for (int i = 0; i < 3; i++) {
    const char *text = c->ask->spatial[i];
    j->spatial[i] = j->outer[i] = -1;
    if (text && !(strchr(text, '%') ? take_two(c, i, text, across[i])
                                    : put_across(c, i, text, across[i], &j->spatial[i])))
      return false;
  }
  return true;
}

/* All loops in time, outermost first: as the user says, else as the kernel has them. */
static bool take_temporal(Compile *c) {
  TdMaestroJob *j = c->j;
  bool seen[TD_MAESTRO_NEST_LOOPS] = {false};
  int n = 0;
  for (size_t i = 0; i < c->ask->nloop; i++) {
    int l;
    if (!find_loop(c, "loops", c->ask->loop[i], &l)) return false;
    if (seen[l])
      return td_diag_set(c->d, TD_USAGE, "maestro-loop", (TdLoc){0}, "loops names '%s' twice",
                         c->ask->loop[i]);
    seen[l] = true;
    j->temporal[n++] = l;
  }
  for (int l = 0; l < j->nest.nloop; l++) {
    if (seen[l]) continue;
    if (c->ask->nloop && td_maestro_job_trips(j, l) > 1)
      return td_diag_set(c->d, TD_USAGE, "maestro-loop", j->nest.loop[l].loc,
                         "loops lacks '%s', which runs %lld times", j->nest.loop[l].name,
                         (long long)td_maestro_job_trips(j, l));
    j->temporal[n++] = l;
  }
  return true;
}

/* Sums stay in the array until they are done: what reduces is inside of what does not. */
static bool check_stationary(Compile *c) {
  const TdMaestroJob *j = c->j;
  int sum = -1;
  for (int i = 0; i < j->nest.nloop; i++) {
    const TdMaestroLoop *l = &j->nest.loop[j->temporal[i]];
    if (td_maestro_job_trips(j, j->temporal[i]) == 1) continue;
    if (l->reduces) sum = j->temporal[i];
    if (l->reduces || sum < 0) continue;
    td_diag_set(c->d, TD_UNSUPPORTED, "maestro-stationary", l->loc,
                "loop '%s' is inside of '%s', which reduces: the array keeps one tile of results",
                l->name, j->nest.loop[sum].name);
    TdText t = td_text_new(c->a);
    for (int pass = 0; pass < 2; pass++)
      for (int k = 0; k < j->nest.nloop; k++)
        if (j->nest.loop[j->temporal[k]].reduces == (pass == 1))
          td_text_putf(&t, "%s\"%s\"", t.n ? ", " : "", j->nest.loop[j->temporal[k]].name);
    td_diag_help(c->d, "loops = {%s}", td_text_str(&t));
    return false;
  }
  return true;
}

/* Whether sums of a type are the same in every order, with products of zeros among them. */
static bool associates(const TdType *t) {
  return td_type_is_integer(t) && !t->saturate;
}

/* Sums that round or saturate are made in the kernel's order. */
static bool check_sums(Compile *c) {
  const TdMaestroJob *j = c->j;
  const TdMaestroNest *n = &j->nest;
  if (associates(n->acc)) return true;
  if (j->outer[2] >= 0)
    return td_diag_set(c->d, TD_UNSUPPORTED, "maestro-sums", n->loop[j->outer[2]].loc,
                       "sums of %s are not the same in another order: two loops go across k",
                       td_type_str(c->a, n->acc));
  int before = -1, k = j->spatial[2];
  for (int i = 0; i < n->nloop; i++) {
    int l = j->temporal[i];
    if (!n->loop[l].reduces || n->loop[l].extent == 1) continue;
    bool late = (before >= 0 && l < before) || (k >= 0 && l > k) || (c->cut[l] && before >= 0);
    if (late) {
      td_diag_set(c->d, TD_UNSUPPORTED, "maestro-sums", n->loop[l].loc,
                  "sums of %s are not the same in another order: loop '%s' comes %s '%s'",
                  td_type_str(c->a, n->acc), n->loop[l].name,
                  c->cut[l]         ? "in parts inside of"
                  : l > k && k >= 0 ? "inside of"
                                    : "behind",
                  n->loop[l > k && k >= 0 && l != before ? k : before].name);
      td_diag_help(c->d, "loops in the kernel's order, and k = the innermost that reduces");
      return false;
    }
    before = l;
  }
  if (k < 0 || n->loop[k].extent % j->tile[k] == 0) return true;
  return td_diag_set(c->d, TD_UNSUPPORTED, "maestro-sums", n->loop[k].loc,
                     "sums of %s are not the same with products of zeros among them: loop '%s' "
                     "runs %lld times, and the array takes %lld products",
                     td_type_str(c->a, n->acc), n->loop[k].name, (long long)n->loop[k].extent,
                     (long long)j->tile[k]);
}

/* Which factor is A: the one that m, else not n, moves. */
static bool assign_roles(Compile *c) {
  TdMaestroJob *j = c->j;
  TdMaestroOperand *f = j->nest.factor;
  bool uses[2][3];
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 3; k++)
      uses[i][k] = (j->spatial[k] >= 0 && td_maestro_nest_uses(&f[i], j->spatial[k])) ||
                   (j->outer[k] >= 0 && td_maestro_nest_uses(&f[i], j->outer[k]));
  int a = uses[0][0] || uses[1][1] ? 0 : uses[1][0] || uses[0][1] ? 1 : 0;
  for (int k = 0; k < 2; k++) {
    int wrong = k == 0 ? !a : a;
    if (!uses[wrong][k]) continue;
    td_diag_set(c->d, TD_UNSUPPORTED, "maestro-role", f[wrong].loc,
                "loop '%s' goes across %s of the array and moves both '%s' and '%s': each row of "
                "the array takes one element of A, each column one of B",
                j->nest.loop[j->spatial[k]].name, k ? "n" : "m", f[a].sym->name, f[!a].sym->name);
    td_diag_help(c->d, "a loop that moves only one of them; one that moves both (a group, a depth) "
                       "runs in time");
    return false;
  }
  j->stream[TD_MAESTRO_A].x = &f[a];
  j->stream[TD_MAESTRO_B].x = &f[!a];
  if (j->nest.init.used) j->stream[TD_MAESTRO_C].x = &j->nest.init;
  j->stream[j->work.quantised ? TD_MAESTRO_E : TD_MAESTRO_D].x = &j->nest.result;
  return true;
}

/* Whether two accesses are to the same element in every iteration. */
static bool is_same(const TdMaestroNest *n, const TdMaestroOperand *x, const TdMaestroOperand *y) {
  for (int k = 0; k < x->rank; k++) {
    if (x->start[k] + x->origin[k] != y->start[k] + y->origin[k]) return false;
    for (int l = 0; l < n->nloop; l++)
      if (x->coef[k][l] != y->coef[k][l]) return false;
  }
  return true;
}

/* Whether two operands have no element in common: their indices of a dimension do not meet. */
static bool is_apart(const TdMaestroNest *n, const TdMaestroOperand *x, const TdMaestroOperand *y) {
  for (int k = 0; k < x->rank; k++) {
    int64_t lo[2], hi[2];
    for (int i = 0; i < 2; i++) {
      const TdMaestroOperand *o = i ? y : x;
      lo[i] = hi[i] = o->start[k] + o->origin[k];
      for (int l = 0; l < n->nloop; l++) {
        int64_t far = o->coef[k][l] * (n->loop[l].extent - 1);
        *(far < 0 ? &lo[i] : &hi[i]) += far;
      }
    }
    if (hi[0] < lo[1] || hi[1] < lo[0]) return true;
  }
  return false;
}

/* Results that are read in the same run: streamers run ahead, so only the sum that goes on there
 * may. */
static bool check_alias(Compile *c) {
  const TdMaestroNest *n = &c->j->nest;
  const TdMaestroOperand *all[] = {&n->factor[0], &n->factor[1], &n->init};
  for (int i = 0; i < 3; i++) {
    const TdMaestroOperand *x = all[i];
    if (!x->used || x->param != n->result.param || is_apart(n, x, &n->result)) continue;
    if ((i == 2 || !n->product) && is_same(n, x, &n->result)) continue;
    td_diag_set(c->d, TD_UNSUPPORTED, "maestro-kernel", x->loc,
                "'%s' is read where other iterations write it: streamers run ahead of each other",
                x->sym->name);
    td_diag_help(c->d, "a tensor of its own for the results, or sums that go on from the element "
                       "that they are stored in");
    return false;
  }
  return true;
}

/* Whether the array computes with these types. */
static bool check_type(Compile *c, int role, const TdType *want) {
  const TdMaestroOperand *x = c->j->stream[role].x;
  if (!x || td_type_scalar(x->elem) == want) return true;
  return td_diag_set(c->d, TD_UNSUPPORTED, "maestro-type", x->loc,
                     "streamer %s: '%s' is %s, and the array takes %s", td_maestro_role_name[role],
                     x->sym->name, td_type_str(c->a, x->elem), td_type_str(c->a, want));
}

/* Zeros for C: a word without memory, repeated. */
static void give_zeros(Compile *c, int streamer, int64_t tiles) {
  TdMaestroPattern *p = &c->j->pattern[streamer];
  *p = (TdMaestroPattern){.used = true, .bytes = UINT32_MAX};
  for (int d = 0; d < c->s->at[streamer].loops; d++) p->bound[d] = 1;
  p->bound[0] = tiles;
}

/* What the array does. */
static void count_work(TdMaestroJob *j) {
  j->work.steps = j->work.tiles = 1;
  for (int l = 0; l < j->nest.nloop; l++)
    *(j->nest.loop[l].reduces ? &j->work.steps : &j->work.tiles) *= td_maestro_job_trips(j, l);
}

/* The order of a role's operand and the registers for it: as the user says, or with room for whole
 * tiles. */
static bool settle_order(Compile *c, int role) {
  TdMaestroStream *x = &c->j->stream[role];
  const char *said = c->ask->order ? c->ask->order[x->x->param] : NULL, *text = NULL;
  TdDiag why = {.arena = c->d->arena};
  for (int how = 0; how < TD_MAESTRO_TRIES; how++) {
    TdDiag d = {.arena = c->d->arena};
    bool fits = td_maestro_order_read(c->j, role, said, (TdMaestroTry)how, c->a, &d) &&
                td_maestro_map_stream(c->j, role, NULL, c->a, &d);
    x->padded = how > 0;
    if (fits) return true;
    bool carried = how == TD_MAESTRO_PADDED && strcmp(why.code, "maestro-carry") == 0 &&
                   strcmp(d.code, "maestro-order") != 0;
    if (how == TD_MAESTRO_AS_SAID || carried) why = d, text = x->text;
  }
  x->text = text;
  *c->d = why;
  return false;
}

/* The streamer of a role and its registers. */
static bool map_role(Compile *c, int role) {
  TdMaestroStream *x = &c->j->stream[role];
  x->streamer = td_maestro_system_find(c->s, td_maestro_role_name[role]);
  if (!x->x && role != TD_MAESTRO_C) return true;
  if (x->streamer < 0)
    return !x->x || td_diag_set(c->d, TD_UNSUPPORTED, "maestro-streamer", x->x->loc,
                                "'%s' needs a streamer %s, which the system does not have",
                                x->x->sym->name, td_maestro_role_name[role]);
  if (!x->x) {
    c->j->work.with_c = c->s->at[x->streamer].mask;
    if (c->j->work.with_c) give_zeros(c, x->streamer, c->j->work.tiles);
    return true;
  }
  x->used = true;
  if (role == TD_MAESTRO_C) c->j->work.with_c = true;
  return settle_order(c, role);
}

/* All of them; of tensors only what the nest touches, where tiles do not begin with theirs. */
static bool map_roles(Compile *c) {
  TdDiag *d = c->d, first = {.arena = d->arena}, other = {.arena = d->arena};
  for (c->d = &first;; c->d = &other) {
    int role = 0;
    while (role < TD_MAESTRO_FROM && map_role(c, role)) role++;
    if (role == TD_MAESTRO_FROM) break;
    if (strcmp(first.code, "maestro-carry") == 0 && td_maestro_pads_trim(c->j)) continue;
    *d = first;
    c->d = d;
    return false;
  }
  c->d = d;
  return true;
}

/* Refuses what the array cannot start with or end in. */
static bool check_ends(Compile *c) {
  const TdMaestroNest *n = &c->j->nest;
  if (!n->init.used && n->init_value)
    return td_diag_set(
        c->d, TD_UNSUPPORTED, "maestro-init", n->result.loc,
        "sums begin with a number that is not 0: C has elements of a tensor or zeros");
  const TdExpr *e = n->post;
  while (e != n->post_acc && e->kind == TD_EXPR_CAST && e->type == n->acc) e = e->kid[0];
  if (e == n->post_acc) return true;
  if (!td_maestro_scale_read(n, c->j->spatial[1], c->s->array.n, &c->j->work, c->d)) return false;
  c->j->work.quantised = true;
  return true;
}

static bool check_types(Compile *c) {
  const TdMaestroArray *x = &c->s->array;
  return check_type(c, TD_MAESTRO_A, x->a) && check_type(c, TD_MAESTRO_B, x->b) &&
         check_type(c, TD_MAESTRO_C, x->acc) && check_type(c, TD_MAESTRO_D, x->acc);
}

/* Turns on the kernels that the user names: what they give takes the place of what they take. */
static bool turn_on(Compile *c) {
  for (int i = 0; c->ask->ext && i < c->s->n; i++)
    for (int k = 0; k < c->s->at[i].next; k++) {
      const TdMaestroExt *x = &c->s->at[i].ext[k];
      if (!(c->ask->ext[i] >> k & 1) || !c->j->pattern[i].used) continue;
      int64_t words = td_maestro_agu_count(&c->s->at[i], &c->j->pattern[i]);
      if (words % x->take)
        return td_diag_set(c->d, TD_UNSUPPORTED, "maestro-beats", (TdLoc){0},
                           "ext: a call of '%s' takes %lld words, and streamer %s has %lld of them",
                           x->user->name, (long long)x->take, c->s->at[i].name, (long long)words);
      if (x->take != x->give)
        return td_diag_set(c->d, TD_UNSUPPORTED, "maestro-field", (TdLoc){0},
                           "ext: kernel '%s' of streamer %s makes %lld words of %lld",
                           x->user->name, c->s->at[i].name, (long long)x->give, (long long)x->take);
      c->j->pattern[i].ext |= UINT32_C(1) << k;
    }
  return true;
}

/* A nest that moves words from a reader to a writer. */
static bool compile_path(Compile *c) {
  TdMaestroJob *j = c->j;
  if (!take_part(c)) return false;
  for (int l = 0; l < j->nest.nloop; l++) {
    j->tile[l] = 1;
    j->temporal[l] = l;
  }
  return check_alias(c) && td_maestro_path_compile(j, c->ask, c->a, c->d) && turn_on(c) &&
         td_maestro_job_place(j, c->ask, c->d) && td_maestro_job_check(j, td_arena_ctx(c->a), c->d);
}

bool td_maestro_job_compile(const TdMaestroSystem *s, const TdAsk *q, const TdMaestroAsk *ask,
                            TdMaestroJob *out, TdDiag *d) {
  Compile c = {.j = out, .s = s, .ask = ask, .a = q->arena, .d = d};
  *out = (TdMaestroJob){.system = s, .sums = ask->sums};
  for (int role = 0; role < TD_MAESTRO_ROLES; role++) out->stream[role].streamer = -1;
  if (td_maestro_nest_moves(q))
    return td_maestro_nest_read_path(q, &out->nest, d) && compile_path(&c);
  if (!s->array.here)
    return td_diag_set(d, TD_UNSUPPORTED, "maestro-array", (TdLoc){0}, "the system has no array");
  if (!td_maestro_nest_read(q, &out->nest, d) || !take_part(&c) || !take_spatial(&c) ||
      !take_temporal(&c) || !check_stationary(&c) || !check_sums(&c) || !check_ends(&c) ||
      !assign_roles(&c) || !check_types(&c) || !td_maestro_order_complete(out, d) ||
      !td_maestro_pads_settle(out, d) || !check_alias(&c))
    return false;
  count_work(out);
  return map_roles(&c) && turn_on(&c) && td_maestro_job_place(out, ask, d) &&
         td_maestro_job_check(out, td_arena_ctx(c.a), d);
}
