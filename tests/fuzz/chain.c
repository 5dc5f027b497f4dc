/* chain.c - a case under way: steps on its schedule, and the checks after each of them. */
#include "tests/fuzz/step.h"

#include <stdio.h>
#include <string.h>

uint64_t chain_cc = 1;
bool chain_show;

static const Outcome fine = {WRONG_NOTHING, NULL};

bool chain_open(Chain *c, Side *side, Counts *counts, const TdProg *kernel, uint64_t seed,
                const char **why) {
  TdCtx *ctx = side->session->ctx;
  *c = (Chain){.side = side, .counts = counts, .kernel = kernel};
  c->arena = td_arena_new(ctx);
  c->scratch = td_arena_new(ctx);
  c->store = td_store_new(side->session);
  TdDiag d = {.arena = c->arena};
  *why = NULL;
  if (!point_start(&c->points, c->arena, kernel, seed, &d)) {
    *why = d.message;
    return false;
  }
  c->schedule = td_schedule_new(c->store, &td_prim_kind, kernel);
  c->version[0] = c->schedule.now->prog;
  c->promise = promise_all;
  return true;
}

void chain_close(Chain *c) {
  for (size_t i = 0; i < c->other.n; i++) td_store_free(c->other.at[i]);
  td_store_free(c->store);
  td_arena_free(c->scratch);
  td_arena_free(c->arena);
}

/* The number of a primitive in the table. */
static int number_of(const TdPrim *prim) {
  int i = 0;
  while (td_prims[i] != prim) i++;
  return i;
}

/* The count of refusals of a primitive under a code; NULL when the table is full. */
static Reason *reason_of(Counts *n, const TdPrim *prim, const TdDiag *d) {
  int p = number_of(prim);
  const char *code = d->code ? d->code : "-";
  for (uint64_t i = 0; i < n->nreason; i++)
    if (n->reason[i].prim == p && n->reason[i].kind == d->kind &&
        strncmp(n->reason[i].code, code, sizeof n->reason[i].code - 1) == 0)
      return &n->reason[i];
  if (n->nreason == REASONS) return NULL;
  Reason *r = &n->reason[n->nreason++];
  *r = (Reason){.prim = (uint8_t)p, .kind = (uint8_t)d->kind};
  snprintf(r->code, sizeof r->code, "%s", code);
  return r;
}

/* A schedule at one moment, to see whether anything changed. */
typedef struct Snapshot {
  const TdVersion *now;
  uint32_t next_uid, next_sym;
} Snapshot;

static Snapshot snapshot(const Chain *c) {
  return (Snapshot){c->schedule.now, c->schedule.now->next_uid, c->schedule.now->next_sym};
}

static bool is_unchanged(const Chain *c, Snapshot x) {
  return c->schedule.now == x.now && c->store->next_uid == x.next_uid &&
         c->store->next_sym == x.next_sym;
}

/* Whether a step is asked to change values: by `reassociate`. */
static bool reassociates(const TdPrimStep *s) {
  for (int i = 0; i < TD_PRIM_ARGS && s->prim->args[i].kind != TD_ARG_END; i++)
    if (strcmp(s->prim->args[i].name, "reassociate") == 0 && s->arg[i].given && s->arg[i].integer)
      return true;
  return false;
}

/* What an accepted step promises of the program after it: its notes say when accumulations change
 * their order or a fault is no more, and only `reassociate` and `fma` may change values. */
static void note_promise(Chain *c) {
  const TdVersion *v = c->schedule.now;
  for (size_t i = 0; i < v->nnote; i++) {
    if (strstr(v->note[i], "is associative")) c->promise.level = TD_LEVEL_RING;
    if (strstr(v->note[i], "no longer checked") || strstr(v->note[i], "fault"))
      c->promise.faults = false;
  }
  for (size_t i = 0; i < v->ndid; i++) {
    if (strcmp(v->did[i].prim->name, "fma") == 0) {
      c->promise.values = false;
      if (c->promise.level < TD_LEVEL_FUSED) c->promise.level = TD_LEVEL_FUSED;
    }
    if (reassociates(&v->did[i])) c->promise.values &= c->promise.level == TD_LEVEL_STRICT;
  }
}

/* Prints a refusal of what is right, to see why. */
static void show_refusal(Chain *c, const Step *s, const TdDiag *d) {
  TdText t = td_text_new(c->scratch);
  td_text_putf(&t, "---- refused though right (%s): ", d->code);
  td_schedule_call(&t, s->prim, s->arg);
  td_text_putf(&t, "\n%s\n", d->message);
  for (size_t i = 0; i < d->notes.n; i++) td_text_putf(&t, "%s\n", d->notes.at[i].text);
  td_print_prog(&t, c->schedule.now->prog);
  fputs(td_text_str(&t), stderr);
}

/* A refused step: nothing may have changed; refusals are counted and, when illegal, forced. */
static Outcome check_refusal(Chain *c, const Step *s, Snapshot before, const TdDiag *d) {
  c->counts->refused++;
  if (!is_unchanged(c, before)) return (Outcome){WRONG_REFUSED_DIRTY, d->message};
  if (d->kind == TD_BUG) return (Outcome){WRONG_REFUSED_BUG, d->message};
  Reason *r = reason_of(c->counts, s->prim, d);
  if (!r) return fine;
  r->n++;
  bool same, chance;
  if (d->kind != TD_ILLEGAL || !force_step(c, s, &same, &chance)) return fine;
  r->forced++;
  r->same += same;
  r->chance += chance;
  if (same && !chance && chain_show) show_refusal(c, s, d);
  return fine;
}

/* An accepted step: the new program against the kernel. What the checks put into the store goes
 * again. */
static Outcome check_program(Chain *c) {
  const TdProg *p = c->schedule.now->prog;
  Snapshot after = snapshot(c);
  note_promise(c);
  TdMark mark = td_arena_mark(c->store->arena);
  Oracle o = {c->side, c->scratch, &c->points, c->counts};
  Outcome out = oracle_program(&o, p, c->promise);
  if (!out.wrong && c->promise.values) out = oracle_compiled(&o, p, c->promise, false);
  if (!out.wrong) out = oracle_round_trip(&o, p, c->promise);
  td_arena_release(c->store->arena, mark);
  c->store->next_uid = after.next_uid;
  c->store->next_sym = after.next_sym;
  return out;
}

Outcome chain_start(Chain *c) {
  Oracle o = {c->side, c->scratch, &c->points, c->counts};
  Outcome out = oracle_round_trip(&o, c->kernel, c->promise);
  return out.wrong ? out : oracle_compiled(&o, c->kernel, c->promise, false);
}

/* Whether can() left no trace and told what the step itself then did. */
static Outcome check_can(Chain *c, const Step *s, bool *can) {
  Snapshot before = snapshot(c);
  TdDiag d = {.arena = c->scratch};
  *can = td_schedule_can(&c->schedule, c->side->affine, s->prim, s->arg, &d);
  return is_unchanged(c, before) ? fine : (Outcome){WRONG_CAN, "can() changed the schedule"};
}

/* Compares with the program from here on, if the last step was to change what it computes; false
 * when it faults then. */
static bool keeps_reference(Chain *c) {
  const TdVersion *now = c->schedule.now;
  if (td_schedule_reference(&c->schedule) != now) return true;
  TdDiag quiet = {.arena = c->scratch};
  Points points;
  TdStore *own = td_store_inner(c->arena, c->side->session);
  const TdProg *p = td_clone_prog(own, now->prog, true);
  if (!point_start(&points, c->arena, p, c->points.seed, &quiet)) return false;
  c->points = points;
  c->promise = promise_all;
  return true;
}

Outcome chain_step(Chain *c, const Step *drawn) {
  td_arena_free(c->scratch);
  c->scratch = td_arena_new(c->side->session->ctx);
  Step bound = *drawn, *s = &bound;
  if (drawn->of && !step_callee(c->kernel, drawn->of)) return fine;
  if (!step_bind(c, drawn, bound.arg)) return fine;
  TdDiag d = {.arena = c->scratch};
  const char *const *made;
  size_t n;
  bool can = false, asked = (c->counts->accepted + c->counts->refused) % 4 == 0;
  Outcome out = asked ? check_can(c, s, &can) : fine;
  if (out.wrong) return out;
  Snapshot before = snapshot(c);
  c->counts->prim_tried[number_of(s->prim)]++;
  bool took = td_schedule_apply(&c->schedule, c->side->affine, s->prim, s->arg, &made, &n, &d);
  if (asked && took != can)
    return (Outcome){WRONG_CAN, took ? "can() refuses what the step does"
                                     : "can() allows what the step refuses"};
  if (!took) return check_refusal(c, s, before, &d);
  if (!keeps_reference(c)) {
    c->schedule.now = before.now;
    return fine;
  }
  c->counts->accepted++;
  c->counts->prim_accepted[number_of(s->prim)]++;
  int k = c->schedule.now->step;
  c->step[k - 1] = *s;
  c->version[k] = c->schedule.now->prog;
  return check_program(c);
}

/* The printed form, in the scratch arena. */
static const char *printed(Chain *c, const TdProg *p) {
  TdText t = td_text_new(c->scratch);
  td_print_prog(&t, p);
  return td_text_str(&t);
}

/* Every version is still what it was; half the steps taken back and made again give the same. */
static Outcome check_undo(Chain *c) {
  const TdVersion *last = c->schedule.now;
  int steps = last->step, back = steps / 2;
  for (int k = 0; k <= steps; k++) {
    const TdVersion *v = td_schedule_at(&c->schedule, k);
    if (!v || v->prog != c->version[k])
      return (Outcome){WRONG_UNDO, td_text_fmt(c->arena, "step %d is another program", k)};
  }
  const char *want = printed(c, last->prog);
  c->schedule.now = td_schedule_at(&c->schedule, steps - back);
  for (int k = steps - back; k < steps; k++) {
    TdDiag d = {.arena = c->scratch};
    const char *const *made;
    size_t n;
    const Step *s = &c->step[k];
    if (!td_schedule_apply(&c->schedule, c->side->affine, s->prim, s->arg, &made, &n, &d))
      return (Outcome){WRONG_UNDO, d.message};
  }
  if (strcmp(want, printed(c, c->schedule.now->prog)) != 0)
    return (Outcome){WRONG_UNDO, "steps made again after undo give another program"};
  c->schedule.now = last;
  return fine;
}

/* The log on a fresh schedule of the kernel, by Lua. */
static Outcome check_replay(Chain *c) {
  TdText log = td_text_new(c->scratch);
  td_schedule_log(&log, &c->schedule);
  const char *why = NULL;
  const char *again = side_replay(c->side, c->scratch, c->kernel, td_text_str(&log), &why);
  if (!again) return (Outcome){WRONG_REPLAY, why};
  if (strcmp(again, printed(c, c->schedule.now->prog)) == 0) return fine;
  return (Outcome){WRONG_REPLAY, "the log gives another program"};
}

Outcome chain_end(Chain *c) {
  if (c->schedule.now->step == 0) return fine;
  Outcome out = check_undo(c);
  if (!out.wrong) out = check_replay(c);
  Oracle o = {c->side, c->scratch, &c->points, c->counts};
  bool cc = chain_cc && c->promise.values && c->points.seed % chain_cc == 0;
  if (!out.wrong && cc) out = oracle_compiled(&o, c->schedule.now->prog, c->promise, true);
  return out;
}
