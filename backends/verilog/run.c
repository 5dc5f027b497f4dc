/* run.c - simulations of a build: files of its arguments, a run, what it leaves. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backends/verilog/tool/simulator.h"
#include "backends/verilog/verilog.h"
#include "eval/time/ready.h"
#include "eval/time/timed.h"

typedef struct Words Words;
struct TdVlogRun {
  TdArena *arena;
  const TdVlogText *text;
  const char *sim, *device, *design;
  TdSession *session;
  int seconds;
  const char *most;      /* cycles */
  Words **state;         /* of each of the top, bank by bank, after a call; NULL: none was */
  TdReady *const *ready; /* of each parameter; NULL: always */
  TdTimed *report;
};

TdVlogRun *td_verilog_run_new(const TdBuild *b) {
  TdVlogRun *r = TD_NEW(b->arena, TdVlogRun);
  *r = (TdVlogRun){.arena = b->arena, .text = td_verilog_text(b, b->diag)};
  r->session = b->prog->store->session;
  r->sim = td_verilog_option(b, TD_VERILOG_SIM);
  r->device = td_verilog_option(b, TD_VERILOG_DEVICE);
  r->design = td_prog_root(b->prog)->sym->name;
  r->seconds = (int)strtol(td_verilog_option(b, TD_VERILOG_SECONDS), NULL, 10);
  r->most = td_text_fmt(b->arena, "+most=%s", td_verilog_option(b, TD_VERILOG_MOST));
  const char *ready = td_verilog_option(b, TD_VERILOG_READY);
  if (ready) r->ready = td_ready_read(b->arena, b->prog, ready, b->diag);
  return r->text && (r->ready || !ready) ? r : NULL;
}

void td_verilog_run_reset(TdVlogRun *r) {
  r->report = NULL;
  r->state = NULL;
}

const TdTimed *td_verilog_run_timed(const TdVlogRun *r) {
  return r->report;
}

/* A call under way. */
typedef struct Job {
  TdVlogRun *r;
  TdArena *arena;
  TdSimulator sim;
  TdDiag *diag;
} Job;

/* All modules as one text. */
static const char *design_of(Job *j) {
  TdText t = td_text_new(j->arena);
  for (size_t i = 0; i < j->r->text->nfile; i++) td_text_puts(&t, j->r->text->file[i].text);
  return td_text_str(&t);
}

/* The words of a bank in order. */
struct Words {
  uint64_t *at;
};

static uint64_t mask(int width) {
  return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

/* Moves an index on in an array; false at the end. */
static bool next_index(const TdVlogArray *x, int64_t *index) {
  for (int d = x->rank; d-- > 0; index[d] = 0)
    if (++index[d] < x->extent[d]) return true;
  return false;
}

/* Goes over the elements of x's copies that lie in tensor t: into the banks' words, or out of them
 * where they changed. */
static void move(const TdVlogArray *x, TdTensor *t, Words *bank, const Words *was) {
  const TdType *e = td_type_scalar(t->type);
  for (int64_t copy = 0; copy < x->copies; copy++) {
    int64_t index[TD_MAX_RANK] = {0}, at[TD_MAX_RANK], b, place;
    for (bool more = true; more;) {
      bool inside = true;
      for (int d = 0; d < x->rank; d++) {
        at[d] = index[d] + x->lo[copy * x->rank + d];
        inside = inside && at[d] >= 0 && at[d] < t->extent[d];
      }
      td_verilog_locate(x, index, &b, &place);
      uint64_t *word = &bank[b].at[copy * x->depth + place];
      if (inside && !was) *word = td_num_word(e, td_tensor_get(t, at)) & mask(x->width);
      if (inside && was && *word != was[b].at[copy * x->depth + place])
        td_tensor_put(t, at, td_num_of_word(e, *word));
      more = next_index(x, index);
    }
  }
}

static Words *new_words(TdArena *a, const TdVlogArray *x) {
  Words *w = TD_NEWN(a, Words, x->nbank);
  for (int64_t b = 0; b < x->nbank; b++) w[b].at = TD_NEWN(a, uint64_t, x->depth * x->copies);
  return w;
}

/* The argument that is an array of the top. */
static TdTensor *tensor_of(Job *j, const TdVlogArray *x, const TdCallArg *arg) {
  const TdUnit *u = j->r->text->top->unit;
  for (size_t i = 0; i < u->nparam; i++)
    if (u->param[i].sym == x->sym) return arg[i].tensor;
  return NULL;
}

static const char *bank_file(Job *j, const TdVlogArray *x, int64_t b, const char *suffix) {
  return td_text_fmt(j->arena, "%s%s", td_vunit_bank(j->arena, x, b), suffix);
}

/* The bits of a scalar argument by its symbol. */
static uint64_t scalar_of(Job *j, TdSym sym, const TdCallArg *arg) {
  const TdUnit *u = j->r->text->top->unit;
  for (size_t i = 0; i < u->nparam; i++)
    if (u->param[i].sym == sym) return td_num_word(u->param[i].type, arg[i].scalar);
  return 0;
}

static bool lost(Job *j, const char *file) {
  return td_diag_set(j->diag, TD_BUG, "verilog-tool", (TdLoc){0},
                     "the simulation ended before it wrote %s", file);
}

/* The number of the parameter that a port of the top is. */
static size_t param_of(const Job *j, const TdVlogPort *p) {
  const TdUnit *u = j->r->text->top->unit;
  size_t i = 0;
  while (i < u->nparam && u->param[i].sym != p->sym) i++;
  return i;
}

/* Token number k of a list in hexadecimal, element 0 lowest. */
static void put_token(TdText *out, const TdTensor *in, int64_t k, int width) {
  const TdType *e = td_type_scalar(in->type);
  int64_t index[TD_MAX_RANK] = {k}, n = width / e->w;
  int digits = (width + 3) / 4;
  char *text = td_arena_alloc(out->arena, (size_t)digits + 1);
  memset(text, 0, (size_t)digits + 1);
  for (int64_t i = 0; i < n; i++, td_tensor_next(in, index)) {
    uint64_t word = td_num_word(e, td_tensor_get(in, index)) & mask(e->w);
    for (int bit = 0; bit < e->w; bit++)
      if (word >> bit & 1) {
        int64_t at = i * e->w + bit;
        text[digits - 1 - at / 4] |= (char)(1 << at % 4);
      }
  }
  for (int d = 0; d < digits; d++) text[d] = "0123456789abcdef"[(int)text[d]];
  td_text_puts(out, text);
}

/* When the tokens of a port may move, and what comes in. */
static bool write_ends(Job *j, const TdCallArg *arg) {
  const TdVlogModule *top = j->r->text->top;
  for (size_t i = 0; i < top->nport; i++)
    for (int64_t m = 0; m < top->port[i].count; m++) {
      const TdVlogPort *p = &top->port[i];
      const TdReady *r = j->r->ready ? j->r->ready[param_of(j, p)] : NULL;
      const TdEvalPort *end = &arg[param_of(j, p)].port[m];
      int64_t listed = r && m < r->streams ? r->n[m] : 0;
      int64_t n = p->put ? listed : end->in ? end->in->extent[0] : 0;
      TdText t = td_text_new(j->arena);
      for (int64_t k = 0; k < n; k++) {
        td_text_putf(&t, "%" PRId64 " ", k < listed ? r->cycle[m][k] : 0);
        if (!p->put) put_token(&t, end->in, k, p->width);
        td_text_putc(&t, '\n');
      }
      const char *name = td_text_fmt(j->arena, "%s_%" PRId64 ".ready", p->name, m);
      if (!td_simulator_write(&j->sim, name, td_text_str(&t))) return false;
    }
  return true;
}

/* The tokens that were put to a port, which a file lists beside their cycles. */
static TdTensor *read_tokens(Job *j, const TdParam *p, const char *text, int64_t n) {
  TdArena *a = j->r->arena;
  const TdType *token = p->type->elem, *e = td_type_scalar(token);
  int64_t extent[TD_MAX_RANK] = {n}, each = 1, index[TD_MAX_RANK] = {0};
  int rank = token->kind == TD_T_TENSOR ? token->rank : 0;
  for (int d = 0; d < rank; d++) {
    td_unit_value(j->r->text->top->unit, token->dim[d], &extent[d + 1]);
    each *= extent[d + 1];
  }
  TdTensor *out = td_tensor_new(a, td_type_tensor_of(j->r->session, e, rank + 1, extent), false);
  for (int64_t k = 0; k < n; k++, text += strcspn(text, "\n") + 1) {
    const char *digit = text + strcspn(text, " ") + 1;
    for (int64_t i = 0; i < each; i++, td_tensor_next(out, index))
      td_tensor_put(out, index,
                    td_num_of_word(e, td_verilog_element(digit, strcspn(digit, "\n"), i, e->w)));
  }
  return out;
}

/* What moved at the ports. */
static bool read_ends(Job *j, const TdCallArg *arg) {
  const TdVlogModule *top = j->r->text->top;
  for (size_t i = 0; i < top->nport; i++)
    for (int64_t m = 0; m < top->port[i].count; m++) {
      const TdVlogPort *p = &top->port[i];
      TdEvalPort *end = &arg[param_of(j, p)].port[m];
      const char *file = td_text_fmt(j->arena, "%s_%" PRId64 ".moved", p->name, m);
      const char *text = td_cache_read_file(j->arena, td_simulator_path(&j->sim, file));
      int64_t n = 0;
      if (!text) return lost(j, file);
      for (const char *c = text; *c; c++) n += *c == '\n';
      end->out = NULL;
      end->consumed = p->put ? 0 : n;
      if (p->put && n) end->out = read_tokens(j, &top->unit->param[param_of(j, p)], text, n);
    }
  return true;
}

static bool write_banks(Job *j, const TdVlogArray *x, const Words *w) {
  for (int64_t b = 0; b < x->nbank; b++) {
    TdText t = td_text_new(j->arena);
    for (int64_t k = 0; k < x->depth * x->copies; k++)
      td_text_putf(&t, "%" PRIx64 "\n", w[b].at[k]);
    if (!td_simulator_write(&j->sim, bank_file(j, x, b, ".hex"), td_text_str(&t))) return false;
  }
  return true;
}

static bool write_arguments(Job *j, const TdCallArg *arg) {
  const TdVlogModule *top = j->r->text->top;
  for (size_t i = 0; i < top->ninput; i++) {
    const TdVlogInput *p = &top->input[i];
    uint64_t v = scalar_of(j, p->sym, arg) & mask(p->width);
    if (!td_simulator_write(&j->sim, td_text_fmt(j->arena, "%s.hex", p->name),
                            td_text_fmt(j->arena, "%" PRIx64 "\n", v)))
      return false;
  }
  for (size_t i = 0; i < top->narray; i++) {
    const TdVlogArray *x = &top->array[i];
    Words *w = new_words(j->arena, x);
    move(x, tensor_of(j, x, arg), w, NULL);
    if (!write_banks(j, x, w)) return false;
  }
  for (size_t i = 0; i < top->nstate && j->r->state; i++)
    if (!write_banks(j, &top->state[i], j->r->state[i])) return false;
  return true;
}

/* The words of a file that $writememh wrote. */
static bool take_words(const char *text, uint64_t *at, int64_t n) {
  int64_t i = 0;
  while (*text && i < n) {
    while (*text == ' ' || *text == '\n') text++;
    if (strncmp(text, "//", 2) == 0) {
      text += strcspn(text, "\n");
      continue;
    }
    char *end;
    if (!*text) break;
    at[i] = strtoull(text, &end, 16);
    if (end == text)
      text += strcspn(text, " \n");
    else
      text = end;
    i++;
  }
  return i == n;
}

/* What an array held before, and holds now; NULL: nothing was written. */
typedef struct Result {
  Words *was, *now;
} Result;

/* The words of a bank as the simulation wrote them. */
static bool read_bank(Job *j, const TdVlogArray *x, int64_t b, Words *w) {
  const char *file = bank_file(j, x, b, ".out");
  const char *text = td_cache_read_file(j->arena, td_simulator_path(&j->sim, file));
  return (text && take_words(text, w[b].at, x->depth * x->copies)) || lost(j, file);
}

static bool read_array(Job *j, const TdVlogArray *x, TdTensor *t, Result *r) {
  Words *now = new_words(j->arena, x), *was = new_words(j->arena, x);
  move(x, t, now, NULL);
  move(x, t, was, NULL);
  for (int64_t b = 0; b < x->nbank; b++) {
    if (!x->writes[b]) continue;
    *r = (Result){was, now};
    if (!read_bank(j, x, b, now)) return false;
  }
  return true;
}

static bool read_states(Job *j) {
  const TdVlogModule *top = j->r->text->top;
  TdArena *a = j->r->arena;
  if (!j->r->state) {
    j->r->state = TD_NEWN(a, Words *, top->nstate + 1);
    for (size_t i = 0; i < top->nstate; i++) j->r->state[i] = new_words(a, &top->state[i]);
  }
  for (size_t i = 0; i < top->nstate; i++)
    for (int64_t b = 0; b < top->state[i].nbank; b++)
      if (!read_bank(j, &top->state[i], b, j->r->state[i])) return false;
  return true;
}

static bool read_arguments(Job *j, const TdCallArg *arg) {
  const TdVlogModule *top = j->r->text->top;
  Result *r = TD_NEWN(j->arena, Result, top->narray + 1);
  for (size_t i = 0; i < top->narray; i++)
    if (!read_array(j, &top->array[i], tensor_of(j, &top->array[i], arg), &r[i])) return false;
  for (size_t i = 0; i < top->narray; i++)
    if (r[i].now) move(&top->array[i], tensor_of(j, &top->array[i], arg), r[i].now, r[i].was);
  return read_states(j);
}

/* The cycles that the bench counted. */
static bool read_cycles(Job *j) {
  const char *text = td_cache_read_file(j->arena, td_simulator_path(&j->sim, "cycles"));
  if (!text)
    return td_diag_set(j->diag, TD_LIMIT, "verilog-hangs", (TdLoc){0},
                       "%s did not end in the cycles that '%s' says", j->r->design, "most");
  TdVlogRun *r = j->r;
  TdTimedTask *task = TD_NEW(r->arena, TdTimedTask);
  r->report = TD_NEW(r->arena, TdTimed);
  *task = (TdTimedTask){.name = r->design, .run = r->design};
  task->end = task->busy = strtoll(text, NULL, 10);
  *r->report = (TdTimed){.design = r->design, .target = r->device, .task = task, .ntask = 1};
  const char *said = td_cache_read_file(j->arena, td_simulator_path(&j->sim, "log"));
  if (j->sim.icarus && said) td_verilog_events_read(r->arena, r->text->top, said, r->report);
  td_timed_sum(r->report);
  return true;
}

static bool simulate(Job *j) {
  const char *word[] = {j->r->most, j->r->state ? "+later" : NULL, NULL};
  return td_simulator_run(&j->sim, word, j->r->seconds);
}

bool td_verilog_run_call(TdVlogRun *r, const TdCallArg *arg, TdDiag *d) {
  Job j = {.r = r, .arena = td_arena_scratch(td_arena_ctx(r->arena)), .diag = d};
  j.sim = td_simulator_new(j.arena, r->sim, d);
  bool ok = td_simulator_open(&j.sim) &&
            td_simulator_compile(&j.sim, design_of(&j), r->text->bench, r->text->main) &&
            write_arguments(&j, arg) && write_ends(&j, arg) && simulate(&j) && read_cycles(&j) &&
            read_arguments(&j, arg) && read_ends(&j, arg);
  td_arena_free(j.arena);
  return ok;
}

bool td_verilog_run_write(TdArena *a, const TdVlogModule *top, const char *folder,
                          const TdCallArg *arg, TdDiag *d) {
  TdVlogText text = {.top = top};
  TdVlogRun r = {.arena = a, .text = &text};
  Job j = {.r = &r, .arena = a, .sim = {.arena = a, .folder = folder, .diag = d}, .diag = d};
  j.sim.cache = (TdCache){.arena = a, .diag = d};
  return write_arguments(&j, arg);
}

bool td_verilog_run_read(TdArena *a, const TdVlogModule *top, const char *folder,
                         const TdCallArg *arg, TdDiag *d) {
  TdVlogText text = {.top = top};
  TdVlogRun r = {.arena = a, .text = &text};
  Job j = {.r = &r, .arena = a, .sim = {.arena = a, .folder = folder, .diag = d}, .diag = d};
  return read_arguments(&j, arg);
}
