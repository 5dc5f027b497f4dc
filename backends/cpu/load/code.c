/* code.c - compiled programs: symbols found, faults told. */
#include "backends/cpu/load/code.h"

#include <inttypes.h>
#include <string.h>

#include "backends/host/foreign.h"
#include "eval/eval.h"

/* Copies the address of a symbol into a function pointer; whether it is there. */
static bool function(TdCpuFind find, void *handle, const char *name, void *to) {
  void *p = find(handle, name);
  if (p) memcpy(to, &p, sizeof p);
  return p;
}

bool td_cpu_code_link(TdCpuCode *code, TdCpuFind find, void *handle) {
  const uint64_t *room = find(handle, "td_room_bytes"), *state = find(handle, "td_state_bytes");
  if (!room || !state) return false;
  code->room_bytes = *room;
  code->state_bytes = *state;
  function(find, handle, "td_lift_all", &code->lift);
  function(find, handle, "td_input_all", &code->input);
  function(find, handle, "td_settle_all", &code->settle);
  const void *const *root = find(handle, "td_root");
  if (!root) return false;
  code->root = *root;
  return function(find, handle, "td_reset", &code->reset);
}

/* A call of the root. */
typedef struct Call {
  const void *root;
  TdFfi *signature;
  void *const *arg;
} Call;

static void enter(void *call) {
  const Call *k = call;
  td_ffi_call(k->signature, k->root, NULL, k->arg);
}

/* Notes how a foreign call ended, at the place of that call. */
static void note_foreign(struct td_run *run, TdForeignEnd end) {
  if (run->fault) return;
  run->fault = TD_CPU_FOREIGN;
  run->place = run->foreign - 1;
  run->value[0] = end.how;
  run->value[1] = end.code;
}

/* Calls the foreign function `callee` on what lies there. */
static void call_foreign(struct td_run *run, void *const *at) {
  if (run->fault) return;
  TdForeignEnd end = td_foreign_host.call(run->callees[run->callee], at, NULL);
  if (end.how) note_foreign(run, end);
}

void td_cpu_code_run(const TdCpuCode *code, TdFfi *signature, struct td_run *run,
                     void *const *arg) {
  run->host = &td_cpu_net_host;
  run->call = call_foreign;
  TdGuardEnd end = td_guard_call(enter, &(Call){code->root, signature, arg}, &run->foreign);
  if (!end.how) return;
  if (run->foreign) {
    note_foreign(run, (TdForeignEnd){TD_FOREIGN_CRASHED, end.how});
    return;
  }
  run->fault = TD_CPU_CRASH;
  run->value[0] = end.how;
}

const char *td_cpu_code_instance(TdArena *a, const TdUnit *d, const TdRun *r, int64_t i) {
  int64_t id[TD_MAX_RANK], n = 1;
  TdText t = td_text_new(a);
  for (int k = r->rank - 1; k >= 0; k--) {
    td_unit_value(d, r->map[k], &n);
    id[k] = i % n;
    i /= n;
  }
  td_text_puts(&t, r->sym->name);
  for (int k = 0; k < r->rank; k++) td_text_putf(&t, "[%" PRId64 "]", id[k]);
  return td_text_str(&t);
}

/* A stream of a design by its number among all of them, which becomes that in its array. */
static const TdStream *find_stream(TdSession *s, const TdUnit *d, int64_t *number,
                                   const TdType **type) {
  for (size_t i = 0; i < d->nstream; i++) {
    int64_t n = 1, extent;
    *type = td_unit_type(s, d, d->stream[i].type);
    for (int k = 0; k < (*type)->rank; k++)
      if (td_type_extent(*type, k, &extent)) n *= extent;
    if (*number < n) return &d->stream[i];
    *number -= n;
  }
  return NULL;
}

const char *td_cpu_code_stream(TdArena *a, TdSession *s, const TdUnit *d, int64_t number) {
  const TdType *t;
  const TdStream *stream = find_stream(s, d, &number, &t);
  int64_t at[TD_MAX_RANK], extent = 1;
  if (!stream) return "a stream";
  for (int k = t->rank - 1; k >= 0; k--) {
    td_type_extent(t, k, &extent);
    at[k] = number % extent;
    number /= extent;
  }
  TdText text = td_text_new(a);
  td_text_puts(&text, stream->sym->name);
  for (int k = 0; k < t->rank; k++) td_text_putf(&text, "[%" PRId64 "]", at[k]);
  return td_text_str(&text);
}

/* The last design whose first run, or stream, is not after this number. */
static const TdCpuDesign *design_of(const TdCpuText *text, bool stream, int64_t number) {
  const TdCpuDesign *d = text->design;
  for (size_t i = 1; i < text->ndesign; i++)
    if ((stream ? text->design[i].stream : text->design[i].run) <= number) d = &text->design[i];
  return d;
}

/* The name of a stream by its number among those of all designs. */
static const char *name_of(const TdCpuText *text, TdSession *s, int64_t number, TdArena *a) {
  const TdCpuDesign *d = design_of(text, true, number);
  return td_cpu_code_stream(a, s, d->unit, number - d->stream);
}

/* A note of what stream i of those that hold something does, as far as there is room. */
static void tell_contents(const TdCpuText *program, TdSession *s, const struct td_run *run, int i,
                          TdDiag *out) {
  enum { MOST = 8 };
  const int64_t *h = run->hold[i];
  const TdCpuDesign *d = design_of(program, true, h[0]);
  int64_t number = h[0] - d->stream, shown = 0;
  const TdType *t;
  TdText text = td_text_new(out->arena);
  if (run->key || !find_stream(s, d->unit, &number, &t)) return;
  TdTensor *token = td_tensor_new(out->arena, t->elem, false);
  const int64_t n = td_tensor_count(token),
                size = n * (int64_t)td_type_bytes(td_type_scalar(t->elem));
  for (int64_t k = 0; k < h[1] && shown <= MOST; k++) {
    int64_t index[TD_MAX_RANK] = {0}, at = (h[2] + k) % h[3];
    if (run->buffer[i]) at = run->buffer[i][at];
    memcpy(token->data, (const char *)run->token[i] + at * size, (size_t)size);
    do {
      if (shown == MOST) td_text_puts(&text, ", ...");
      if (++shown > MOST) break;
      td_text_puts(&text, shown > 1 ? ", " : "");
      td_num_print(&text, td_type_scalar(t->elem), td_tensor_get(token, index));
    } while (td_tensor_next(token, index));
  }
  td_diag_note(out, (TdLoc){0}, "%s holds %s", name_of(program, s, h[0], out->arena),
               td_text_str(&text));
}

/* A note for each task that waits, and one of a circle. */
static void tell_waits(const TdCpuText *text, TdSession *s, const struct td_run *run, TdDiag *out) {
  int told = run->blocked < 16 ? run->blocked : 16;
  TdCpuWait wait[16];
  bool full = false;
  for (int i = 0; i < told; i++) {
    const int64_t *w = run->wait[i];
    const TdCpuDesign *d = design_of(text, false, w[0]);
    const TdRun *r = &d->unit->run[w[0] - d->run];
    const char *who = td_cpu_code_instance(out->arena, d->unit, r, w[1]);
    const char *of = name_of(text, s, w[3] < 0 ? ~w[3] : w[3], out->arena);
    wait[i] = (TdCpuWait){who, of, w[3] >= 0 && !w[4]};
    full |= !wait[i].gets;
    if (w[3] < 0)
      td_diag_note(out, text->place[w[2]], "%s waits for a free buffer of %s (%" PRId64 " in all)",
                   who, of, w[5]);
    else
      td_diag_note(out, text->place[w[2]], "%s waits to %s %s (%" PRId64 " of %" PRId64 ")", who,
                   w[4] ? "put to" : "get from", of, w[4], w[5]);
  }
  if (run->blocked > told)
    td_diag_note(out, (TdLoc){0}, "and %d more tasks wait", run->blocked - told);
  const char *cycle = td_cpu_cycle(out->arena, text->prog, wait, told);
  if (cycle) td_diag_note(out, (TdLoc){0}, "wait cycle: %s", cycle);
  if (full) td_diag_help(out, "%s", TD_EVAL_DEPTHS_HELP);
}

/* Fills out with two instances whose copies of a block differ. */
static bool tell_copies(const TdCpuText *text, const struct td_run *run, TdLoc loc, TdDiag *out) {
  const TdCpuDesign *d = design_of(text, false, run->value[0]);
  const char *who = td_cpu_code_instance(out->arena, d->unit, &d->unit->run[run->value[0] - d->run],
                                         run->value[1]);
  return td_diag_set(out, TD_ILLEGAL, "copies-differ", loc,
                     "%s and the first instance with its block hold different values at the end",
                     who);
}

/* The foreign unit of a number. */
static const TdUnit *foreign_of(const TdProg *p, int number) {
  size_t i = 0;
  while (p->unit[i]->kind != TD_UNIT_EXTERN || number-- > 0) i++;
  return p->unit[i];
}

bool td_cpu_code_tell(const TdCpuText *text, TdSession *s, const TdUnit *root,
                      const struct td_run *run, TdDiag *d) {
  TdLoc loc = text->place[run->place];
  switch (run->fault) {
  case TD_CPU_ZERO_DIVISION:
    return td_diag_set(d, TD_ILLEGAL, "zero-division", loc, "division by zero");
  case TD_CPU_INDEX:
    return td_diag_set(d, TD_ILLEGAL, "index-out-of-range", loc,
                       "index out of range: %" PRId64 " of %" PRId64, run->value[0], run->value[1]);
  case TD_CPU_DEADLOCK:
    td_diag_set(d, TD_ILLEGAL, "deadlock", loc, "deadlock: %" PRId64 " tasks of %s wait",
                run->value[0], text->design[run->value[1]].unit->sym->name);
    tell_waits(text, s, run, d);
    for (int i = 0; i < run->held; i++) tell_contents(text, s, run, i, d);
    return false;
  case TD_CPU_LEFTOVER:
    td_diag_set(d, TD_ILLEGAL, "leftover", loc, "%" PRId64 " tokens are left in %s", run->value[1],
                name_of(text, s, run->value[0], d->arena));
    for (int i = 0; i < run->held; i++) tell_contents(text, s, run, i, d);
    if (run->blocked > run->held)
      td_diag_note(d, (TdLoc){0}, "and %d more streams hold tokens", run->blocked - run->held);
    return false;
  case TD_CPU_COPIES: return tell_copies(text, run, loc, d);
  case TD_CPU_RACE: return td_cpu_watch_tell(text, s, run, d);
  case TD_CPU_ASSUME:
    return td_diag_set(
        d, TD_ILLEGAL, "assume", loc, "%s",
        td_unit_assumes(d->arena, text->prog->unit[run->value[0]], (size_t)run->value[1]));
  case TD_CPU_OVERLAP:
    return td_diag_set(d, TD_ILLEGAL, "overlap", loc, "%s", text->apart[run->value[0]]);
  case TD_CPU_FOREIGN:
    return td_foreign_host.tell(s, foreign_of(text->prog, run->callee),
                                (TdForeignEnd){(TdForeignHow)run->value[0], (int)run->value[1]},
                                loc, d);
  case TD_CPU_CRASH:
    return td_diag_set(d, TD_BUG, "crash", root->loc, "the compiled %s %s", root->sym->name,
                       td_guard_text(d->arena, (TdGuardEnd){(int)run->value[0]}));
  default: return td_diag_set(d, TD_BUG, "fault", loc, "the run failed in an unknown way");
  }
}
