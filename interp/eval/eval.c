/* eval.c - runs: arguments in, tasks to their end, results out; two runs compared or explained. */
#include "eval/bits.h"
#include "eval/machine.h"
#include "ir/text/unfuse.h"

/* Tokens of a block stream of the outside that a kernel may hold at a time. */
enum { PORT_DEPTH = 16 };

/* How a run is set up. */
typedef struct Setup {
  TdArena *arena;
  const TdProg *prog;
  const TdDomain *domain; /* NULL: exact */
  void *self;
  const TdEvalOptions *options;
  TdDiag *diag;
  TdBits *bits; /* what decides whether values of the graph are equal; NULL: the domain */
} Setup;

/* A run that ended well: its machine, and the frame with its arguments. */
typedef struct Run {
  TdMachine *machine;
  TdFrame *root;
} Run;

static const TdEvalOptions default_options;

/* A machine with nothing in it yet. */
static TdMachine *new_machine(const Setup *s) {
  TdMachine *m = TD_NEW(s->arena, TdMachine);
  m->arena = s->arena;
  m->scratch = td_arena_inner(s->arena);
  m->session = s->prog->store->session;
  m->plan = td_plan_new(s->arena, s->prog);
  m->domain = s->domain;
  m->domain_self = s->self;
  m->slices = (TdSlices){s->arena, m->session, s->domain, s->self, {0}, {0}};
  m->options = s->options;
  m->diag = s->diag;
  m->bytes_before = td_arena_bytes(s->arena);
  return m;
}

static bool refuse(TdMachine *m, const char *code, const TdParam *p, const char *what) {
  td_diag_set(m->diag, TD_USAGE, code, p->loc, "argument %s: %s", p->sym->name, what);
  m->failed = true;
  return false;
}

/* Whether a tensor has the parameter's element type and extents. */
static bool fits(const TdTensor *x, const TdType *t) {
  if (td_type_scalar(x->type) != td_type_scalar(t) || td_tensor_rank(x) != t->rank) return false;
  for (int d = 0; d < t->rank; d++) {
    int64_t n;
    if (!td_type_extent(t, d, &n) || n != x->extent[d]) return false;
  }
  return true;
}

/* Loads tensor argument i: its elements, or symbols for them. */
static bool open_tensor(TdMachine *m, TdSlot *slot, unsigned i, const TdParam *p,
                        const TdType *type, const TdEvalArg *arg) {
  int64_t count;
  if (!m->domain && (!arg || !arg->tensor)) return refuse(m, "argument", p, "a tensor is missing");
  if (arg && arg->tensor && !fits(arg->tensor, type))
    return refuse(m, "shape", p, "the tensor has another type or shape");
  if (!td_type_count(type, &count) || !td_fault_room(m, count, p->loc)) return false;
  slot->own = td_memory_new(m->arena, type, p->sym->name);
  td_timed_place(m, slot->own);
  TdView v = td_memory_view(slot->own);
  td_frame_show(m, slot, &v);
  if (arg && arg->tensor) {
    td_memory_load(m->arena, slot->own, arg->tensor);
    return true;
  }
  for (int64_t k = 0; k < count; k++)
    slot->own->cell[k] = m->domain->input(m->domain_self, i, k, slot->own->elem);
  return true;
}

/* Loads argument n of the root; each call has symbols of its own. */
static bool open_argument(TdMachine *m, TdFrame *f, unsigned n, const TdEvalArg *arg) {
  const TdParam *p = &f->plan->unit->param[n];
  TdSlot *slot = &f->slot[n];
  unsigned i = n + m->back * (unsigned)f->plan->unit->nparam;
  const TdType *type = td_frame_type(m, f->plan->unit, p->type, p->loc);
  if (!type) return false;
  if (type->kind == TD_T_TENSOR) return open_tensor(m, slot, i, p, type, arg);
  if (type->kind == TD_T_PORT) {
    TdView v;
    if (!m->domain && (!arg || !arg->port)) return refuse(m, "argument", p, "tokens are missing");
    if (!td_channel_array(m, p->sym, type, PORT_DEPTH, p->loc, &v)) return false;
    td_outside_open(m, &v, i, arg ? arg->port : NULL);
    td_timed_streams(m, &v, NULL, NULL);
    for (int64_t k = 0; arg && m->options->times && k < td_channel_count(v.channel); k++) {
      v.channel[k].wire->ready = arg->port[k].ready;
      v.channel[k].wire->nready = arg->port[k].nready;
    }
    td_frame_show(m, slot, &v);
    return true;
  }
  bool symbolic = m->domain && (!arg || !arg->has_scalar);
  slot->value = symbolic ? m->domain->input(m->domain_self, i, 0, type)
                         : td_value_of(td_num_wrap(type, arg ? arg->scalar : 0));
  return true;
}

/* Argument tensors that are written may share memory with no other, nor may those that are said to
 * be apart. */
static bool check_sharing(TdMachine *m, const TdFrame *f, const TdEvalArg *arg, size_t n) {
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < i; k++) {
      bool written = f->plan->written[i] || f->plan->written[k];
      const char *why = td_unit_is_apart(f->plan->unit, i, k, written);
      if (why && arg[i].tensor && arg[k].tensor &&
          td_tensor_overlap(arg[i].tensor, arg[k].tensor)) {
        TdLoc call = {0};
        td_diag_set(m->diag, TD_ILLEGAL, "overlap", call,
                    "arguments %s and %s share memory, and %s", f->plan->unit->param[k].sym->name,
                    f->plan->unit->param[i].sym->name,
                    written ? "one of them is written" : "are assumed to be apart");
        td_diag_note(m->diag, f->plan->unit->param[i].loc, "declared here");
        m->failed = true;
        return false;
      }
    }
  return true;
}

/* Starts the root: a design's instances, or one task for a kernel. */
static bool start_root(TdMachine *m, TdFrame *f) {
  TdTask *t = TD_NEW(m->arena, TdTask);
  *t = (TdTask){.machine = m, .base = f, .frame = f};
  f->task = t;
  if (!td_frame_check(t, f)) return false;
  if (f->plan->unit->kind == TD_UNIT_DESIGN) return td_network_start(m, f, NULL);
  td_timed_task(m, t);
  if (t->clock) td_clock_start(t->clock, 0);
  td_exec_enter(t, f);
  td_vec_push(m->arena, &m->task, t);
  return true;
}

/* Runs a call of the program of s to its end, after the call `before` and `back` calls before the
 * last. */
static bool run_call(const Setup *s, const TdEvalArg *arg, size_t narg, unsigned back,
                     const TdMachine *before, Run *out) {
  TdMachine *m = new_machine(s);
  m->back = back;
  m->before = before;
  const TdUnit *u = td_prog_root(s->prog);
  const TdUnitPlan *plan = td_plan_unit(m->plan, u->sym);
  if (!plan)
    return td_diag_set(s->diag, TD_UNSUPPORTED, "opaque", u->loc, "%s is foreign and has no model",
                       u->sym->name);
  if (arg && narg != u->nparam)
    return td_diag_set(s->diag, TD_USAGE, "arguments", u->loc, "%s takes %zu arguments, not %zu",
                       u->sym->name, u->nparam, narg);
  *out = (Run){m, td_frame_new(m, plan, NULL)};
  for (size_t i = 0; i < plan->unit->nparam; i++)
    if (!open_argument(m, out->root, (unsigned)i, arg ? &arg[i] : NULL)) return false;
  if (arg && !check_sharing(m, out->root, arg, narg)) return false;
  return start_root(m, out->root) && td_network_run(m) && !m->failed;
}

/* Runs the program of s, after the calls that its options ask for. */
static bool run(const Setup *s, const TdEvalArg *arg, size_t narg, Run *out) {
  const TdMachine *before = NULL;
  for (unsigned back = s->options->call; back; back--, before = out->machine)
    if (!run_call(s, arg, narg, back, before, out)) return false;
  return run_call(s, arg, narg, 0, before, out);
}

/* Copies results to the arguments. */
static void save_arguments(const Run *r, TdEvalArg *arg) {
  const TdUnitPlan *plan = r->root->plan;
  for (size_t i = 0; i < plan->unit->nparam; i++) {
    const TdSlot *slot = &r->root->slot[i];
    if (slot->own && plan->written[i]) td_memory_save(slot->own, arg[i].tensor);
    if (!slot->view || !slot->view->channel) continue;
    int64_t n = td_channel_count(slot->view->channel);
    for (int64_t k = 0; k < n; k++)
      td_outside_save(r->machine, &slot->view->channel[k], &arg[i].port[k]);
  }
}

/* What passed through the streams. */
static void report_streams(TdMachine *m, TdEvalResult *result) {
  TdEvalStream *list = TD_NEWN(m->arena, TdEvalStream, m->channel.n);
  for (size_t i = 0; i < m->channel.n; i++) {
    const TdChannel *c = m->channel.at[i];
    list[i] = (TdEvalStream){td_fault_channel_name(m->arena, c), c->put, c->hash};
  }
  result->stream = list;
  result->nstream = m->channel.n;
}

bool td_eval_run(TdArena *a, const TdProg *p, TdEvalArg *arg, size_t narg, const TdEvalOptions *o,
                 TdDiag *d, TdEvalResult *result) {
  Setup s = {a, p, NULL, NULL, o ? o : &default_options, d, NULL};
  Run r;
  *result = (TdEvalResult){0};
  if (!run(&s, arg, narg, &r)) return false;
  save_arguments(&r, arg);
  td_state_keep(r.machine);
  result->steps = r.machine->steps;
  result->overflow = r.machine->overflow.at;
  result->noverflow = r.machine->overflow.n;
  if (s.options->log) report_streams(r.machine, result);
  if (s.options->times) result->timed = td_timed_of(r.machine, td_prog_root(p));
  return true;
}

/* The setup of symbolic runs of p that can be compared with each other. */
static Setup symbolic(TdArena *a, const TdProg *p, TdLevel level, const TdEvalOptions *o,
                      TdDiag *d) {
  if (!o) o = &default_options;
  bool hashed = level <= TD_LEVEL_FUSED;
  Setup s = {a, p, hashed ? &td_finger_domain : &td_algebra_domain, NULL, o, d, NULL};
  s.self = hashed ? td_finger_new(a, o->seed) : td_algebra_new(a, level, o->wide, o->seed);
  if (level >= TD_LEVEL_FUSED) s.prog = td_unfuse_prog(a, p);
  return s;
}

/* A symbolic value that is the same word for all values of type t that are equal. */
static TdValue settled(const Setup *s, const TdType *t, TdValue v) {
  TdValue lifted = s->domain->lift(s->self, t, v);
  return s->domain->apply(s->self, &(TdApply){TD_APPLY_CAST, 1, t, &t, &lifted, {0}});
}

bool td_eval_symbolic(TdArena *a, const TdProg *p, TdLevel level, const TdEvalArg *concrete,
                      const TdEvalOptions *o, const TdValue **cell, TdDiag *d) {
  Setup s = symbolic(a, p, level, o, d);
  Run r;
  size_t n = td_prog_root(p)->nparam;
  if (!run(&s, concrete, n, &r)) return false;
  for (size_t i = 0; i < n; i++) {
    TdMemory *own = r.root->slot[i].own;
    cell[i] = own ? own->cell : NULL;
    for (int64_t k = 0; own && level > TD_LEVEL_FUSED && k < own->count; k++)
      own->cell[k] = settled(&s, own->elem, own->cell[k]);
  }
  return true;
}

bool td_eval_through(TdArena *a, const TdProg *p, const TdDomain *domain, void *self,
                     const TdEvalOptions *o, const TdValue **cell, TdDiag *d) {
  Setup s = {a, p, domain, NULL, o, d, NULL};
  Run r;
  s.self = self;
  size_t n = td_prog_root(p)->nparam;
  if (!run(&s, NULL, n, &r)) return false;
  for (size_t i = 0; i < n; i++) cell[i] = r.root->slot[i].own ? r.root->slot[i].own->cell : NULL;
  return true;
}

/* Whether two values of type t are one at the level of s. */
static bool equal(const Setup *s, const TdType *t, TdValue x, TdValue y) {
  if (td_value_same(x, y)) return true;
  if (td_value_is_concrete(x) && td_value_is_concrete(y) && t->w <= 64)
    return td_domain_bits(t, x.lo) == td_domain_bits(t, y.lo);
  if (s->bits)
    return td_bits_same(s->bits, s->domain->lift(s->self, t, x), s->domain->lift(s->self, t, y));
  return td_value_same(settled(s, t, x), settled(s, t, y));
}

/* Whether the two roots take the same arguments at their sizes. */
static bool same_parameters(const Run *x, const Run *y, TdDiag *d) {
  const TdUnit *u = x->root->plan->unit, *v = y->root->plan->unit;
  bool same = u->nparam == v->nparam;
  for (size_t i = 0; same && i < u->nparam; i++) {
    const TdSlot *a = &x->root->slot[i], *b = &y->root->slot[i];
    const TdChannel *c = a->view ? a->view->channel : NULL, *e = b->view ? b->view->channel : NULL;
    same = !a->own == !b->own && !c == !e;
    if (same && a->own) same = a->own->count == b->own->count && a->own->elem == b->own->elem;
    if (same && c) same = c->token == e->token && td_channel_count(c) == td_channel_count(e);
  }
  return same ||
         td_diag_set(d, TD_USAGE, "parameters", v->loc, "%s and %s do not take the same arguments",
                     u->sym->name, v->sym->name);
}

/* Notes the first difference, at an element of tensor argument i. */
static bool tensors_agree(const Setup *s, const Run *x, const Run *y, unsigned i,
                          TdEvalAnswer *answer) {
  const TdMemory *a = x->root->slot[i].own, *b = y->root->slot[i].own;
  if (!x->root->plan->written[i] && !y->root->plan->written[i]) return true;
  for (int64_t k = 0; k < a->count; k++) {
    if (equal(s, a->elem, a->cell[k], b->cell[k])) continue;
    answer->param = i;
    answer->index = k;
    answer->element = td_fault_element(s->arena, a, k);
    return false;
  }
  return true;
}

/* The same for what was put to, and how much was got from, stream a; answer->index is where its
 * elements begin. */
static bool streams_agree(const Setup *s, const TdChannel *a, const TdChannel *b,
                          TdEvalAnswer *answer) {
  int64_t n, k;
  const TdValue *x = td_outside_put(a, &n), *y = td_outside_put(b, &k);
  const TdMemory *token = &a->buffer[0];
  const char *name = td_fault_channel_name(s->arena, a);
  if (td_outside_got(a) != td_outside_got(b))
    answer->element = td_text_fmt(s->arena, "%s: tokens got", name);
  else if (n != k)
    answer->element = td_text_fmt(s->arena, "%s: tokens put", name);
  for (int64_t e = 0; e < n && !answer->element; e++) {
    if (equal(s, token->elem, x[e], y[e])) continue;
    answer->index += e;
    answer->element = td_text_fmt(s->arena, "%s: token %lld, element %lld", name,
                                  (long long)(e / token->count), (long long)(e % token->count));
  }
  if (answer->element && n != k) answer->index = -1;
  if (!answer->element) answer->index += n;
  return !answer->element;
}

/* Finds the first argument whose contents differ. */
static bool arguments_agree(const Setup *s, const Run *x, const Run *y, TdEvalAnswer *answer) {
  for (unsigned i = 0; i < x->root->plan->unit->nparam; i++) {
    const TdSlot *a = &x->root->slot[i], *b = &y->root->slot[i];
    if (a->own && !tensors_agree(s, x, y, i, answer)) return false;
    if (a->own || !a->view) continue;
    int64_t n = td_channel_count(a->view->channel);
    answer->param = i;
    answer->index = 0;
    for (int64_t k = 0; k < n; k++)
      if (!streams_agree(s, &a->view->channel[k], &b->view->channel[k], answer)) return false;
  }
  return true;
}

/* Whether y relies on nothing not to fault on which x does not. */
static bool relies_on_no_more(const Run *x, const Run *y, bool second, TdEvalAnswer *answer) {
  static const char *const what[] = {"an index, which data decide, may be out of range",
                                     "a divisor, which data decide, may be 0",
                                     "the count of a shift, which data decide, may be negative"};
  const TdReliance *r = td_reliance_beyond(&y->machine->reliances, &x->machine->reliances);
  if (!r) return true;
  answer->may_fault = second ? 2 : 1;
  return td_diag_set(&answer->diag, TD_UNSUPPORTED, "not-decided", r->loc,
                     "%s: the %s program has no such %s", what[r->kind],
                     second ? "first" : "second", r->kind == TD_RELY_INDEX ? "index" : "operand");
}

/* Whether two runs fault alike, as far as data decide; the second may do without what the first
 * relies on where o says so. */
static bool reliances_agree(const Run *x, const Run *y, const TdEvalOptions *o,
                            TdEvalAnswer *answer) {
  return relies_on_no_more(x, y, true, answer) &&
         (o->drops_faults || relies_on_no_more(y, x, false, answer));
}

/* Runs the program of s and y, and compares what they leave. */
static TdEvalAnswer compare_runs(Setup *s, const TdProg *y, const TdEvalArg *concrete) {
  TdEvalAnswer answer = {.verdict = TD_EVAL_NOT_DECIDED, .diag = {.arena = s->arena}};
  size_t n = td_prog_root(s->prog)->nparam;
  Run r[2];
  s->diag = &answer.diag;
  Setup second = *s;
  second.prog = y;
  if (!run(s, concrete, n, &r[0])) return answer;
  if (!run(&second, concrete, n, &r[1])) return answer;
  if (!same_parameters(&r[0], &r[1], &answer.diag)) return answer;
  bool same = arguments_agree(s, &r[0], &r[1], &answer);
  if (same && !reliances_agree(&r[0], &r[1], s->options, &answer)) return answer;
  answer.verdict = same ? TD_EVAL_EQUAL : TD_EVAL_DIFFERS;
  answer.has_state = r[0].machine->state.n || r[1].machine->state.n;
  return answer;
}

/* One comparison, in one way of keeping sums. */
static TdEvalAnswer compare(TdArena *a, const TdProg *x, const TdProg *y, TdLevel level,
                            const TdEvalArg *concrete, const TdEvalOptions *o) {
  Setup s = symbolic(a, x, level, o, NULL);
  return compare_runs(&s, level >= TD_LEVEL_FUSED ? td_unfuse_prog(a, y) : y, concrete);
}

TdEvalAnswer td_eval_decide(TdArena *a, const TdProg *x, const TdProg *y, const TdEvalArg *concrete,
                            const TdEvalOptions *o) {
  void *graph = td_intern_new(a);
  if (!o) o = &default_options;
  Setup s = {a, x, &td_intern_domain, graph, o, NULL, td_bits_new(a, graph)};
  return compare_runs(&s, y, concrete);
}

TdEvalAnswer td_eval_compare(TdArena *a, const TdProg *x, const TdProg *y, TdLevel level,
                             const TdEvalArg *concrete, const TdEvalOptions *o) {
  TdEvalAnswer answer = compare(a, x, y, level, concrete, o);
  if (answer.verdict != TD_EVAL_DIFFERS || level <= TD_LEVEL_FUSED) return answer;
  TdEvalOptions other = o ? *o : default_options;
  other.wide = !other.wide;
  TdEvalAnswer again = compare(a, x, y, level, concrete, &other);
  return again.verdict == TD_EVAL_EQUAL ? again : answer;
}

/* The value at `index` of argument `param` after a run, and its type; false if there is none. A
 * port is indexed through all its streams. */
static bool value_at(const Run *r, unsigned param, int64_t index, TdValue *v, const TdType **t) {
  const TdSlot *slot = &r->root->slot[param];
  if (slot->own) {
    if (index < 0 || index >= slot->own->count) return false;
    *v = slot->own->cell[index];
    *t = slot->own->elem;
    return true;
  }
  if (!slot->view || index < 0) return false;
  const TdChannel *c = slot->view->channel;
  int64_t streams = td_channel_count(c), n;
  for (int64_t k = 0; k < streams; k++, index -= n) {
    const TdValue *put = td_outside_put(&c[k], &n);
    if (index >= n) continue;
    *v = put[index];
    *t = td_type_scalar(c->token);
    return true;
  }
  return false;
}

/* How the elements of the arguments are called, those of the calls before after those of the last.
 */
static const TdInputName *input_names(TdArena *a, const Run *r, unsigned calls) {
  const TdUnit *u = r->root->plan->unit;
  TdInputName *names = TD_NEWN(a, TdInputName, u->nparam * (calls + 1));
  for (size_t i = 0; i < u->nparam * (calls + 1); i++) {
    size_t n = i % u->nparam, back = i / u->nparam;
    const TdMemory *own = r->root->slot[n].own;
    bool port = u->param[n].type->kind == TD_T_PORT;
    names[i] = own ? own->name : (TdInputName){u->param[n].sym->name, port, {port ? INT64_MAX : 0}};
    if (back) names[i].name = td_text_fmt(a, "(%s of call %zu)", names[i].name, calls - back + 1);
  }
  return names;
}

bool td_eval_explain(TdArena *a, TdText *out, const TdEvalElement *e, TdDiag *d) {
  void *graph = td_intern_new(a);
  const TdEvalOptions *o = e->options ? e->options : &default_options;
  Setup first = {a, e->x, &td_intern_domain, graph, o, d, NULL}, second = first;
  second.prog = e->y;
  Run r[2];
  TdValue v[2];
  const TdType *t;
  size_t n = td_prog_root(e->x)->nparam;
  if (!run(&first, e->concrete, n, &r[0])) return false;
  td_intern_side(graph, 1);
  if (!run(&second, e->concrete, n, &r[1])) return false;
  if (!same_parameters(&r[0], &r[1], d)) return false;
  for (int i = 0; i < 2; i++)
    if (!value_at(&r[i], e->param, e->index, &v[i], &t))
      return td_diag_set(d, TD_USAGE, "no-element", (TdLoc){0}, "there is no such element");
  const TdInputName *names = input_names(a, &r[0], first.options->call);
  td_domain_put_element(out, &names[e->param], e->index);
  td_text_puts(out, " is computed as\n");
  td_intern_explain(out, graph, t, v[0], v[1], names, e->x->store->session->sources);
  return true;
}
