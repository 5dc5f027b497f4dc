/* vdesign.c - a design: a module for each class of instances, generate loops over boxes of them,
 * and a scope with its wires and its FIFO for each stream. The text does not grow with the grid. */
#include <inttypes.h>
#include <string.h>

#include "backends/verilog/vdesign.h"
#include "backends/verilog/vname.h"

bool td_vdesign_refuse(TdVdDesign *d, TdLoc loc, const char *what) {
  td_diag_set(d->diag, TD_UNSUPPORTED, "not-built", loc, "Verilog of %s is not built yet", what);
  td_diag_help(d->diag, "build it for the CPU, timed");
  return false;
}

void td_vdesign_pin(TdVdDesign *d, const char *name, int64_t bits, bool in) {
  td_vec_push(d->arena, &d->pin, ((TdVlogPin){name, bits, in}));
}

static const int64_t *ids(const TdNetClass *c, uint32_t i) {
  return c->id + (size_t)i * (size_t)c->rank;
}

/* Digit of dimension r of instance number k of a box. */
static int64_t digit(const TdVdBox *b, int rank, int r, int64_t k) {
  for (int d = rank; --d > r;) k /= b->n[d];
  return k % b->n[r];
}

/* Whether instances from b->first on are the box that b says. */
static bool is_box(const TdNetClass *c, const TdVdBox *b) {
  for (uint32_t k = 0; k < b->count; k++)
    for (int r = 0; r < c->rank; r++)
      if (ids(c, b->first + k)[r] != b->lo[r] + b->step[r] * digit(b, c->rank, r, k)) return false;
  return true;
}

/* The box around instances [first, first + count), if they fill one. */
static bool box_of(const TdNetClass *c, uint32_t first, uint32_t count, TdVdBox *b) {
  int64_t all = 1;
  *b = (TdVdBox){.first = first, .count = count};
  for (int r = 0; r < c->rank; r++) {
    int64_t lo = ids(c, first)[r], hi = ids(c, first + count - 1)[r], step = 0;
    for (uint32_t k = 1; k < count; k++) {
      int64_t gap = ids(c, first + k)[r] - lo;
      if (gap > 0 && (!step || gap < step)) step = gap;
    }
    b->lo[r] = lo;
    b->step[r] = step ? step : 1;
    b->n[r] = (hi - lo) / b->step[r] + 1;
    if (hi < lo || b->n[r] > count) return false;
    all *= b->n[r];
  }
  return all == count && is_box(c, b);
}

bool td_vdesign_fit(TdVdDesign *d, const TdNetClass *c, const TdVdBox *b, const int64_t *of,
                    const char **out) {
  TdText t = td_text_new(d->arena);
  int64_t by[TD_MAX_RANK], stride = b->count;
  td_text_putf(&t, "%" PRId64, of[0]);
  for (int r = 0; r < c->rank; r++) {
    stride /= b->n[r];
    by[r] = b->n[r] > 1 ? of[stride] - of[0] : 0;
    if (by[r]) td_text_putf(&t, " + %" PRId64 "*D%d", by[r], r);
  }
  for (uint32_t k = 0; k < b->count; k++) {
    int64_t v = of[0];
    for (int r = 0; r < c->rank; r++) v += by[r] * digit(b, c->rank, r, k);
    if (v != of[k]) return false;
  }
  *out = td_text_str(&t);
  return true;
}

size_t td_vdesign_param(const TdNetClass *c, TdSym sym) {
  size_t k = 0;
  while (k < c->kernel->nparam && c->kernel->param[k].sym != sym) k++;
  return k;
}

/* A pin of `bits` bits of each instance, out of a vector of the design's. */
static void connect_pin(TdVdDesign *d, TdText *t, const char *own, const char *pin, int64_t bits,
                        const TdVdBox *b, const char *all) {
  (void)d;
  td_text_putf(t, ",\n      .%s(%s_%s[(%u + G)*%" PRId64 " +: %" PRId64 "])", pin, all, own,
               b->first, bits, bits);
}

static int bits_below(int64_t n) {
  int w = 1;
  while (w < 62 && (n - 1) >> w) w++;
  return w;
}

/* A pin of an array: an output of the design unless it is read data. */
typedef struct Pin {
  const char *what;
  int64_t bits;
  bool in;
} Pin;

/* Calls for each pin of each bank of an array; b NULL: the design's. */
static void array_pins(TdVdDesign *d, const TdVlogArray *x, const char *all, const TdVdBox *b,
                       TdText *t) {
  int w = bits_below(x->depth);
  const Pin reads[] = {{"re", 1, false}, {"raddr", w, false}, {"q", x->width, true}};
  const Pin writes[] = {{"we", 1, false}, {"waddr", w, false}, {"d", x->width, false}};
  for (int64_t bank = 0; bank < x->nbank; bank++)
    for (int write = 0; write < 2; write++) {
      size_t n = write ? x->writes[bank] : x->reads[bank];
      for (size_t i = 0; i < n; i++)
        for (int k = write || x->latency ? 0 : 1; k < 3; k++) {
          const Pin *p = write ? &writes[k] : &reads[k];
          const char *pin = td_vunit_pin(d->arena, td_vunit_bank(d->arena, x, bank), p->what, i);
          if (b)
            connect_pin(d, t, pin, pin, p->bits, b, all);
          else
            td_vdesign_pin(d, td_text_fmt(d->arena, "%s_%s", all, pin), p->bits * x->copies, p->in);
        }
    }
}

/* What the timed run calls the instances of a box: "pe[0][1]". */
static const char *const *names_of(TdVdDesign *d, const TdNetClass *c, const TdVdBox *b) {
  const char **name = TD_NEWN(d->arena, const char *, b->count);
  for (uint32_t i = 0; i < b->count; i++) {
    TdText t = td_text_new(d->arena);
    td_text_puts(&t, c->task);
    for (int r = 0; r < c->rank; r++) td_text_putf(&t, "[%" PRId64 "]", ids(c, b->first + i)[r]);
    name[i] = td_text_str(&t);
  }
  return name;
}

/* The instances of a box. False where a port is no affine function of the ids. */
static bool put_box(TdVdDesign *d, const TdNetClass *c, const TdVlogModule *m, const TdVdBox *b) {
  TdText t = td_text_new(d->arena), before = td_text_new(d->arena);
  const char *label = td_text_fmt(d->arena, "%s_at_%u", m->name, b->first);
  for (size_t i = 0; i < m->nport; i++)
    if (!td_vstream_connect(d, c, b, m, &m->port[i], &before, &t)) return false;
  for (size_t i = 0; i < m->ninput; i++) {
    const char *at = NULL;
    for (size_t k = 0; k < c->kernel->ncoord; k++) {
      int64_t *v = TD_NEWN(d->arena, int64_t, b->count);
      if (c->kernel->coord[k] != m->input[i].sym) continue;
      for (uint32_t j = 0; j < b->count; j++)
        v[j] = c->coord[(b->first + j) * c->kernel->ncoord + k];
      if (!td_vdesign_fit(d, c, b, v, &at)) return false;
      at = td_text_fmt(d->arena, "%d'(%s)", m->input[i].width, at);
    }
    size_t k = td_vdesign_param(c, m->input[i].sym);
    if (!at) at = td_vname_scalar(d->arena, c->arg.at[k].sym->name);
    td_text_putf(&t, ",\n      .%s(%s)", m->input[i].name, at);
  }
  for (size_t i = 0; i < m->narray; i++) array_pins(d, &m->array[i], m->name, b, &t);
  TdText *o = &d->out;
  td_text_line(o, "genvar %s_i;", label);
  td_text_line(o, "generate for (%s_i = 0; %s_i < %u; %s_i = %s_i + 1) begin : %s", label, label,
               b->count, label, label, label);
  td_text_line(o, "  localparam G = %s_i;", label);
  int64_t below = b->count;
  const char *text = td_text_fmt(d->arena, "%s%s", td_text_str(&before), td_text_str(&t));
  for (int r = 0; r < c->rank; r++) {
    below /= b->n[r];
    if (strstr(text, td_text_fmt(d->arena, "*D%d", r)))
      td_text_line(o, "  localparam D%d = G / %" PRId64 " %% %" PRId64 ";", r, below, b->n[r]);
  }
  td_text_puts(o, td_text_str(&before));
  td_text_line(o, "  %s task_ (.clk(clk), .rst(rst), .start(start), .busy(%s_busy[%u + G])%s);",
               m->name, m->name, b->first, td_text_str(&t));
  td_text_puts(o, "`ifdef TIDE_EVENTS\n");
  td_text_line(o, "  tide_watch watch (.clk(clk), .rst(rst), .busy(%s_busy[%u + G]));", m->name,
               b->first);
  td_text_puts(o, "`endif\n");
  td_text_line(o, "end endgenerate");
  td_vec_push(d->arena, &d->task, ((TdVlogTask){label, names_of(d, c, b), b->count}));
  return true;
}

/* All instances of a class, in as few boxes as are found. */
static bool put_instances(TdVdDesign *d, const TdNetClass *c, const TdVlogModule *m) {
  TdVdBox b;
  if (box_of(c, 0, c->n, &b)) {
    size_t n = d->out.n;
    if (put_box(d, c, m, &b)) return true;
    d->out.n = n;
  }
  for (uint32_t i = 0; i < c->n && !td_diag_failed(d->diag); i++)
    if (!box_of(c, i, 1, &b) || !put_box(d, c, m, &b)) return false;
  return !td_diag_failed(d->diag);
}

/* Where the block that instance i is given of an argument begins. */
static void block_begin(const TdVdDesign *d, const TdNetClass *c, size_t k, uint32_t i,
                        int64_t *lo) {
  const TdType *t = c->kernel->param[k].type;
  const char *word = c->arg.at[k].layout;
  for (int r = 0; r < t->rank; r++) {
    int64_t extent = 0;
    lo[r] = 0;
    if (!word) continue;
    if (*word == 'S' && td_unit_value(d->net->design, t->dim[r], &extent))
      lo[r] = ids(c, i)[word[1] - '0'] * extent;
    word += *word == 'S' ? 2 : 1;
  }
}

/* Moves lo on to where the box that instance i touches of array x begins in its block. */
static void box_begin(const TdNetClass *c, const TdVlogArray *x, uint32_t i, int64_t *lo) {
  size_t n = c->kernel->ncoord;
  for (int d = 0; x->by && d < x->rank; d++) {
    lo[d] += x->from[d];
    for (size_t q = 0; q < n; q++) lo[d] += x->by[(size_t)d * n + q] * c->coord[i * n + q];
  }
}

/* The memories that the instances of a class have of their own. */
static void note_arrays(TdVdDesign *d, const TdNetClass *c, TdVlogModule *m) {
  for (size_t i = 0; i < m->narray; i++) {
    TdVlogArray x = m->array[i];
    size_t k = td_vdesign_param(c, x.sym);
    int64_t *lo = TD_NEWN(d->arena, int64_t, c->n * (size_t)x.rank + 1);
    for (uint32_t j = 0; j < c->n && !x.state; j++) {
      block_begin(d, c, k, j, lo + j * (size_t)x.rank);
      box_begin(c, &x, j, lo + j * (size_t)x.rank);
    }
    x.copies = c->n;
    x.lo = lo;
    if (!x.state) x.sym = c->arg.at[k].sym;
    ((TdVlogArray *)m->array)[i].copies = c->n;
    array_pins(d, &m->array[i], m->name, NULL, NULL);
    x.name = td_text_fmt(d->arena, "%s_%s", m->name, x.name);
    td_vec_push(d->arena, &d->array, x);
  }
}

/* The parameters of a class are as fast as the arguments that they are given, or as they say. */
static void mark_params(TdVdDesign *d, const TdNetClass *c) {
  static const TdAttrKind speed[] = {TD_ATTR_LATENCY, TD_ATTR_BANDWIDTH};
  TdUnit *u = c->kernel;
  const TdUnit *design = d->net->design;
  TdParam *list = td_arena_copy(d->arena, u->param, u->nparam * sizeof *list);
  for (size_t k = 0; k < u->nparam; k++) {
    const TdParam *arg = td_unit_param(design, c->arg.at[k].sym);
    for (size_t i = 0; i < 2 && arg && list[k].type->kind == TD_T_TENSOR; i++) {
      const TdAttr *own = td_attrs_get(list[k].attrs, speed[i]);
      const TdAttr *given = td_attrs_get(arg->attrs, speed[i]);
      if (!given && !own) continue;
      TdAttr x = given ? *given : *own;
      if (speed[i] == TD_ATTR_BANDWIDTH) x.arg[TD_TRACE_TURNS].i = td_trace_users(design, arg->sym);
      list[k].attrs = td_attrs_set(d->arena, list[k].attrs, x);
    }
  }
  u->param = list;
}

/* Whether a module is called so already, or the design is. */
static bool is_module(const TdVdDesign *d, const char *name) {
  bool taken = strcmp(name, td_vname_module(d->arena, d->net->design->sym->name)) == 0 ||
               (d->p->top && strcmp(name, d->p->top) == 0) ||
               (d->p->around && strcmp(name, d->p->around) == 0);
  for (size_t i = 0; i < d->module.n; i++) taken |= strcmp(d->module.at[i], name) == 0;
  return taken;
}

TdVlogProg td_vdesign_own(TdVdDesign *d, const TdNetClass *c) {
  const TdProg *p = d->net->prog;
  mark_params(d, c);
  const TdUnit **unit = TD_NEWN(d->arena, const TdUnit *, p->nunit + 1);
  for (size_t i = 0; i < p->nunit; i++) unit[i] = p->unit[i];
  unit[p->nunit] = c->kernel;
  const TdProg *own = td_prog_new(d->net->store, unit, p->nunit + 1);
  TdSched *s = TD_NEW(d->arena, TdSched);
  *s = (TdSched){d->p->sched->affine, d->arena, own, d->p->sched->target, {0}};
  TdVlogProg q = *d->p;
  q.prog = own;
  q.sched = s;
  q.times = td_firing_times(s->affine, d->arena, own, s->target, d->diag);
  return q;
}

/* The module of a class. */
static TdVlogModule *module_of(TdVdDesign *d, const TdNetClass *c, size_t number, bool waits) {
  bool other = false;
  for (size_t i = 0; i < d->net->cls.n; i++)
    other |= i != number && strcmp(d->net->cls.at[i]->task, c->task) == 0;
  TdVlogProg q = td_vdesign_own(d, c);
  q.held = d->is_static;
  q.free = d->is_static && !waits;
  q.boxes = true;
  const char *task = td_vname_module(d->arena, c->task);
  q.top = other ? td_text_fmt(d->arena, "%s_%zu", task, number) : task;
  while (is_module(d, q.top)) q.top = td_text_fmt(d->arena, "%s_task", q.top);
  td_vec_push(d->arena, &d->module, q.top);
  return q.times ? (TdVlogModule *)td_vunit_kernel(&q, c->kernel, d->diag) : NULL;
}

/* "input wire [15:0] a" of the design's scalars. */
static void put_scalars(TdVdDesign *d, TdVlogModule *out) {
  const TdUnit *u = d->net->design;
  TD_VEC(TdVlogInput) list = {0};
  for (size_t i = 0; i < u->nparam; i++) {
    const TdType *t = u->param[i].type;
    if (t->kind == TD_T_TENSOR || t->kind == TD_T_PORT) continue;
    TdVlogInput x = {u->param[i].sym, td_vname_scalar(d->arena, u->param[i].sym->name), t->w};
    td_vdesign_pin(d, x.name, x.width, true);
    td_vec_push(d->arena, &list, x);
  }
  out->input = list.at;
  out->ninput = list.n;
}

bool td_vdesign_net(const TdVdDesign *d, TdStore *store, const TdProg *prog, const bool *keep,
                    TdNet *out) {
  *out = (TdNet){.store = store,
                 .arena = d->arena,
                 .prog = prog,
                 .design = td_prog_root(prog),
                 .diag = d->diag,
                 .outside = true,
                 .keep = keep};
  return td_net_classes(out);
}

/* The modules of all classes; `waits`: NULL, or those that may wait with puts. */
static TdVlogModule **modules_of(TdVdDesign *d, const bool *waits) {
  TdVlogModule **m = TD_NEWN(d->arena, TdVlogModule *, d->net->cls.n);
  d->module.n = 0;
  for (size_t i = 0; i < d->net->cls.n; i++)
    if (!(m[i] = module_of(d, d->net->cls.at[i], i, waits && waits[i]))) return NULL;
  return m;
}

/* The same, without handshakes where control can be, and is to be, static. */
static TdVlogModule **settle(TdVdDesign *d) {
  TdVlogModule **m = modules_of(d, NULL);
  bool *waits = TD_NEWN(d->arena, bool, d->net->cls.n);
  TdDiag why = {.arena = d->diag->arena};
  if (!m || strcmp(d->p->control, "handshake") == 0) return m;
  d->is_static = td_vpace_settle(d, (const TdVlogModule *const *)m, waits, &why);
  if (!d->is_static && strcmp(d->p->control, "static") == 0) {
    *d->diag = why;
    return NULL;
  }
  return d->is_static ? modules_of(d, waits) : m;
}

/* The pins as ports of the module. */
static const char *ports_of(const TdVdDesign *d) {
  TdText t = td_text_new(d->arena);
  for (size_t i = 0; i < d->pin.n; i++)
    td_text_putf(&t, ",\n  %s wire [%" PRId64 ":0] %s", d->pin.at[i].in ? "input " : "output",
                 d->pin.at[i].bits - 1, d->pin.at[i].name);
  return td_text_str(&t);
}

/* The symbol of the design of which the copy u has s. */
static TdSym own_sym(const TdUnit *u, const TdUnit *design, TdSym s) {
  for (size_t k = 0; k < u->nparam; k++)
    if (u->param[k].sym == s) return design->param[k].sym;
  return s;
}

/* Takes the runs that take place outside from a copy of the program. */
static void leave_out(const TdProg *prog, const bool *without) {
  TdUnit *root = (TdUnit *)td_prog_root(prog);
  TdRun *run = (TdRun *)root->run;
  size_t n = 0;
  for (size_t i = 0; i < root->nrun; i++)
    if (!without[i]) run[n++] = run[i];
  root->nrun = n;
}

const TdVlogModule *td_vdesign_module(const TdVlogProg *p, TdVlogFiles *files, TdDiag *diag) {
  TdArena *a = p->arena;
  TdStore *store = td_store_inner(a, p->prog->store->session);
  const TdProg *prog = td_clone_prog(store, p->prog, true);
  TdNet net;
  TdVdDesign d = {.p = p, .arena = a, .net = &net, .diag = diag};
  d.out = td_text_new(a);
  d.out.indent = 1;
  if (p->without) leave_out(prog, p->without);
  if (!td_vdesign_net(&d, store, prog, NULL, &net) || !td_vkeep_settle(&d)) return NULL;
  for (size_t i = 0; i < net.design->nstream; i++)
    if (!td_vstream_note(&d, &net.design->stream[i])) return NULL;
  for (size_t i = 0; i < net.stream.n; i++)
    if (td_unit_param(net.design, net.stream.at[i].sym) && !td_vstream_note(&d, &net.stream.at[i]))
      return NULL;
  TdVlogModule *out = TD_NEW(a, TdVlogModule), **module = settle(&d);
  if (!module) return NULL;
  TdText busy = td_text_new(a), decl = td_text_new(a);
  put_scalars(&d, out);
  for (size_t i = 0; i < net.cls.n; i++)
    if (!td_vblock_note(&d, net.cls.at[i], module[i])) return NULL;
  for (size_t i = 0; i < d.stream.n; i++) td_vstream_put(&d, &d.stream.at[i]);
  for (size_t i = 0; i < net.cls.n; i++) {
    TdVlogModule *m = module[i];
    td_vec_push(a, &files->at, ((TdFile){td_text_fmt(a, "%s.sv", m->name), m->text}));
    td_text_putf(&decl, "  wire [%u:0] %s_busy;\n", net.cls.at[i]->n - 1, m->name);
    td_text_putf(&busy, "%s|%s_busy", i ? " || " : "", m->name);
    note_arrays(&d, net.cls.at[i], m);
    if (!put_instances(&d, net.cls.at[i], m)) return NULL;
  }
  td_vstream_tie(&d);
  out->name = p->top && *p->top ? p->top : td_vname_module(a, net.design->sym->name);
  out->unit = td_prog_root(p->prog);
  for (size_t i = 0; i < d.array.n; i++)
    d.array.at[i].sym = own_sym(net.design, out->unit, d.array.at[i].sym);
  for (size_t i = 0; i < out->ninput; i++)
    ((TdVlogInput *)out->input)[i].sym = own_sym(net.design, out->unit, out->input[i].sym);
  td_vstream_ends(&d, out);
  out->array = d.array.at;
  out->narray = d.array.n;
  out->task = d.task.at;
  out->ntask = d.task.n;
  out->open = d.open.at;
  out->nopen = d.open.n;
  out->pin = d.pin.at;
  out->npin = d.pin.n;
  out->text =
      td_text_fmt(a,
                  "// %s: a design of %zu classes of tasks, for %s\n"
                  "module %s (\n"
                  "  input  wire clk,\n  input  wire rst,\n  input  wire start,\n"
                  "  output wire busy%s\n);\n%s  assign busy = %s;\n%sendmodule\n",
                  net.design->sym->name, net.cls.n, p->sched->target->name, out->name, ports_of(&d),
                  td_text_str(&decl), td_text_str(&busy), td_text_str(&d.out));
  return out;
}
