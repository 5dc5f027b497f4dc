/* design.c - a design as a function: tables of its streams and instances, which the run time
 * (net.c) opens and gives their turns, and frames made ready. A design that takes streams stops
 * itself where none can go on, and goes on later. */
#include <inttypes.h>

#include "backends/cpu/text.h"

#define MOST_ROOM 0x1p40 /* bytes of a stream array; 1 TiB */

/* Copies of a block that instances of a run write. */
typedef struct Copied {
  const TdRun *run;
  TdCpuBlock block;
  const char *copies;
} Copied;

/* One design being written. */
typedef struct Net {
  TdCpuProg *p;
  const TdUnit *d;
  TdText *out;
  TdText fields, part, rings; /* of its room; of the tables */
  const char **run, **stream; /* their names */
  int64_t streams;            /* numbered so far */
  int64_t tasks;              /* that have a clock so far */
  TD_VEC(Copied) copied;
} Net;

static int64_t extents(const TdType *t) {
  int64_t n = 1, extent;
  for (int d = 0; d < t->rank; d++)
    if (td_type_extent(t, d, &extent)) n *= extent;
  return n;
}

/* Whether the tokens of a stream array take less than MOST_ROOM; refuses others. */
static bool fits(TdCpuProg *p, const TdStream *s, int64_t count, int64_t depth, int64_t size) {
  TdDiag *d = p->w->diag;
  double token = (double)size * (double)td_type_bytes(td_type_scalar(s->type->elem));
  double bytes = (double)count * (double)depth * (token + 2 * sizeof(int64_t));
  p->bytes += bytes;
  if (bytes < MOST_ROOM) return true;
  if (td_diag_failed(d)) return false;
  td_diag_set(d, TD_LIMIT, "memory", s->loc, "stream %s, %" PRId64 " deep, takes 1 TiB or more",
              s->sym->name, depth);
  td_diag_help(d, "use a smaller depth; d:depths() says which are needed");
  return false;
}

/* Memory of a stream array: its rings or pools, and their tokens; and its line of the table. */
static void put_stream(Net *n, const TdStream *s, const char *name) {
  TdCWriter *w = n->p->w;
  const TdType *t = td_cfamily_type(w, s->type), *token = t->elem;
  int64_t count = extents(t), depth = td_cfamily_size(w, s->depth), size = extents(token);
  if (!fits(n->p, s, count, depth, size)) return;
  const char *cell = w->target->cell(w, NULL, td_type_scalar(token));
  td_text_line(&n->fields, "struct td_%s %s[%" PRId64 "];", t->block ? "pool" : "ring", name,
               count);
  td_text_line(&n->fields, "%s %s_token[%" PRId64 "][%" PRId64 "];", cell, name, count,
               depth * size);
  if (t->block)
    td_text_line(&n->fields, "int64_t %s_list[%" PRId64 "][%" PRId64 "];", name, count, 2 * depth);
  td_text_line(&n->rings,
               "  {%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
               ", %d, me->%s, sizeof *me->%s, sizeof(struct td_ring), me->%s_token,"
               " sizeof *me->%s_token, %s%s},",
               count, n->p->streams + n->streams, n->streams, depth,
               td_cpu_unit_place(n->p, s->loc), name, name, name, name,
               t->block ? td_text_fmt(w->arena, "*me->%s", name) : "0", t->block ? "_list" : "");
  n->streams += count;
}

/* The instances of a run. */
static int64_t instances(Net *n, const TdRun *r) {
  int64_t count = 1;
  for (int k = 0; k < r->rank; k++) count *= td_cfamily_size(n->p->w, r->map[k]);
  return count;
}

/* The argument of the design that a parameter is bound to. */
static const TdRunArg *bound(const TdRun *r, TdSym param) {
  for (size_t i = 0; i < r->nbind; i++)
    if (r->bind[i].param == param) return &r->bind[i];
  return NULL;
}

/* Gives an instance its parameter i: a number, or the block of an argument that its layout names.
 */
static void put_argument(Net *n, const TdRun *r, const char *run, const TdCpuUnit *u, size_t i) {
  TdCWriter *w = n->p->w;
  const TdParam *x = &u->unit->param[i];
  const TdRunArg *b = bound(r, x->sym);
  const TdParam *arg = b ? td_unit_param(n->d, b->arg) : NULL;
  if (!arg) {
    td_cfamily_refuse(w, "unbound-parameter", r->loc, "bind it to an argument of the design",
                      "parameter %s of task %s has no argument", x->sym->name, r->sym->name);
    return;
  }
  const char *name = td_cname_of(w, arg->sym)->text;
  const TdType *t = td_cfamily_type(w, arg->type);
  if (t->kind != TD_T_TENSOR) {
    td_text_line(n->out, "    td_t->%s = %s;", u->field[i], name);
    return;
  }
  TdCpuBlock block = td_cpu_block_of(n->p, r, b);
  if (u->param[i].written && td_cpu_block_is_shared(n->p, r, b)) {
    const char *copies = td_text_fmt(w->arena, "%s_%zu_copy", run, i);
    td_text_line(&n->fields, "%s %s[%" PRId64 "][%" PRId64 "];",
                 w->target->cell(w, NULL, block.cell), copies, instances(n, r), block.count);
    copies = td_text_fmt(w->arena, "me->%s", copies);
    td_cpu_block_load(n->p, &block, copies, n->out);
    td_text_line(n->out, "    td_t->%s = (void *)%s[td_i];", u->field[i], copies);
    td_vec_push(w->arena, &n->copied, ((Copied){r, block, copies}));
    int64_t inner = block.count;
    for (int d = 0; d < block.rank; d++) {
      inner /= block.extent[d] ? block.extent[d] : 1;
      block.stride[d] = td_text_fmt(w->arena, "%" PRId64, inner);
    }
  } else {
    td_text_line(n->out, "    td_t->%s = (void *)(%s);", u->field[i], block.at);
  }
  for (int d = 0; d < t->rank; d++) {
    const char *stride = u->stride[i * TD_MAX_RANK + (size_t)d];
    if (stride) td_text_line(n->out, "    td_t->%s = %s;", stride, block.stride[d]);
  }
}

/* Frames of a run, and the lines that make them ready. */
static void put_run(Net *n, const TdRun *r, const char *name) {
  const TdCpuUnit *u = td_cpu_param_unit(n->p, r->unit);
  int64_t count = instances(n, r);
  td_text_line(&n->fields, "struct %s_frame %s_task[%" PRId64 "];", u->name, name, count);
  if (u->has_state) {
    td_text_line(&n->p->states, "struct %s_state %s[%" PRId64 "];", u->name, name, count);
    td_text_line(&n->p->resets,
                 "for (int64_t td_i = 0; td_i < %" PRId64
                 "; td_i++) %s_reset(run, &state->%s[td_i]);",
                 count, u->name, name);
  }
  td_text_line(n->out, "  for (int64_t td_i = 0; td_i < %" PRId64 "; td_i++) {", count);
  td_text_line(n->out, "    struct %s_frame *td_t = &me->%s_task[td_i];", u->name, name);
  td_text_line(n->out, "    td_t->task.at = 0;");
  if (n->p->times)
    td_text_line(n->out, "    td_t->clock = TD_TIMED->clock[td_i + %" PRId64 "], td_t->level = 0;",
                 n->tasks);
  n->tasks += count;
  for (size_t i = 0; i < u->unit->nparam; i++) put_argument(n, r, name, u, i);
  size_t first = u->unit->ncoord < r->rank ? u->unit->ncoord : r->rank;
  for (size_t k = 0; k < first; k++)
    td_text_line(n->out, "    td_t->%s = %s;", u->id[k], td_cpu_block_id(n->p, r, (int)k));
  for (size_t i = 0; i < u->outer.n; i++)
    td_text_line(n->out, "    td_t->%s = me->%s;", u->outer_field.at[i],
                 td_cname_of(n->p->w, u->outer.at[i])->text);
  td_text_line(n->out, "  }");
}

/* The line of a run in the table. */
static void put_part(Net *n, const TdRun *r, size_t i) {
  const TdCpuUnit *u = td_cpu_param_unit(n->p, r->unit);
  const char *name = n->run[i];
  td_text_putf(&n->part, "    {%" PRId64 ", %" PRId64 ", me->%s_task, sizeof *me->%s_task, ",
               instances(n, r), n->p->runs + (int64_t)i, name, name);
  if (u->has_state)
    td_text_putf(&n->part, "state->%s, td_turn_%s},\n", name, u->task);
  else
    td_text_putf(&n->part, "0, td_turn_%s},\n", u->task);
}

/* A table of the design, if it has lines; returns what stands for it. */
static const char *put_table(TdText *out, const char *type, const char *name, const TdText *lines) {
  if (!lines->n) return "0";
  td_text_putf(out, "  const struct %s %s[] = {\n%s  };\n", type, name, td_text_str(lines));
  return name;
}

/* A line for each argument that instances write; how many. */
static size_t put_spans(Net *n, TdText *out) {
  TdCWriter *w = n->p->w;
  const TdCpuUnit *u = td_cpu_param_unit(n->p, n->d->sym);
  size_t count = 0;
  for (size_t i = 0; i < n->d->nparam; i++) {
    const TdCName *name = td_cname_of(w, n->d->param[i].sym);
    if (!u->param[i].written || n->d->param[i].type->kind != TD_T_TENSOR) continue;
    const char *cell = w->target->cell(w, name->sym, td_type_scalar(name->type));
    td_text_putf(out, "    {%s, sizeof(%s) * (1", name->text, cell);
    for (int d = 0; d < name->type->rank; d++) {
      int64_t extent = 1;
      td_type_extent(name->type, d, &extent);
      td_text_putf(out, " + %" PRId64 " * (%s)", extent - 1,
                   td_cpu_arg_stride(w, name, (uint32_t)d, 1));
    }
    td_text_putf(out, "), sizeof(%s), %zu},\n", cell, i);
    count++;
  }
  return count;
}

/* The design as the run time sees it, which opens its streams, with the place of what its instances
 * are numbered from. */
static void put_net(Net *n, TdText *out, int64_t all, const char *first) {
  TdText spans = td_text_new(n->p->w->arena);
  size_t nspan = n->p->watch ? put_spans(n, &spans) : 0;
  const char *span = put_table(out, "td_span", "td_spans", &spans);
  const char *part = put_table(out, "td_part", "td_parts", &n->part);
  const char *rings = put_table(out, "td_rings", "td_streams", &n->rings);
  td_text_putf(out, "  const struct td_net td_self = {%s, %zu, %s, %zu, %" PRId64 ", %d, %zu", part,
               n->d->nrun, rings, n->d->nstream, all, td_cpu_unit_place(n->p, n->d->loc),
               n->p->design.n - 1);
  td_text_line(out, n->p->watch ? ", %s, %zu, %s};" : "};", span, nspan, first);
}

/* Lines that store what instances hold copies of. */
static void put_copies(Net *n, TdText *out) {
  for (size_t i = 0; i < n->copied.n; i++) {
    const Copied *c = &n->copied.at[i];
    td_text_line(out, "  for (int64_t td_i = 0; !run->fault && td_i < %" PRId64 "; td_i++) {",
                 instances(n, c->run));
    td_cpu_block_store(n->p, c->run, &c->block, c->copies, n->p->runs + (c->run - n->d->run), out);
    td_text_line(out, "  }");
  }
}

/* Tables, and lines that make frames ready; returns the number of instances. */
static int64_t put_ready(Net *n, TdCpuUnit *u) {
  TdCWriter *w = n->p->w;
  int64_t all = 0;
  n->run = TD_NEWN(w->arena, const char *, u->unit->nrun);
  n->stream = TD_NEWN(w->arena, const char *, u->unit->nstream);
  for (size_t i = 0; i < u->unit->nstream; i++) {
    n->stream[i] = td_cname_declare(w, u->unit->stream[i].sym);
    put_stream(n, &u->unit->stream[i], n->stream[i]);
  }
  u->work = 0;
  for (size_t i = 0; i < u->unit->nrun; i++) {
    const TdRun *r = &u->unit->run[i];
    n->run[i] = td_cname_declare(w, r->sym);
    put_run(n, r, n->run[i]);
    put_part(n, r, i);
    all += instances(n, r);
    u->work += td_cpu_param_unit(n->p, r->unit)->work * (double)instances(n, r);
  }
  return all;
}

/* Lines that check what u assumes of what it is given. */
static const char *put_assumed(TdCpuProg *p, const TdCpuUnit *u) {
  TdText before = p->w->out;
  p->w->out = td_text_new(p->w->arena);
  p->w->out.indent = 1;
  td_cpu_check_assumed(p, u);
  const char *text = td_text_str(&p->w->out);
  p->w->out = before;
  return text;
}

/* A design that takes streams: as a task, it stops and goes on. */
static void put_stopping(TdCpuProg *p, TdCpuUnit *u, Net *n, TdText *out) {
  TdCpuTask task;
  TdText text = td_text_new(p->w->arena);
  td_cpu_task_enter(p, u, &task, out);
  const char *assumed = put_assumed(p, u);
  int64_t all = put_ready(n, u);
  td_text_puts(&p->room.at[0].fields, td_text_str(&n->fields));
  td_text_line(&p->room.at[0].fields, "int64_t more;");
  if (p->watch) td_text_line(&p->room.at[0].fields, "int64_t first;");
  put_net(n, &text, all, "&me->first");
  td_text_line(&text, "  if (!me->task.at) {");
  td_text_puts(&text, assumed);
  td_text_line(&text, "  run->host->open(run, &td_self);");
  td_text_puts(&text, td_text_str(n->out));
  td_text_line(&text, "  me->task.at = 1, me->more = %" PRId64 ", me->task.ring = 0;", all);
  td_text_line(&text, "  }");
  td_text_line(&text, "  td_moved = run->host->visit(run, &td_self, &me->more);");
  td_text_line(&text, "  if (me->more) goto wait;");
  put_copies(n, &text);
  td_cpu_task_leave(p, u, td_text_str(&text), out);
}

/* A design that is called and has ended when it returns. */
static void put_called(TdCpuProg *p, TdCpuUnit *u, Net *n, TdText *out) {
  td_cpu_unit_enter(p, u, "room->", out);
  const char *params = td_cpu_arg_params(p, u), *assumed = put_assumed(p, u);
  int64_t all = put_ready(n, u);
  u->has_room = td_cpu_unit_put_struct(out, u->name, "room", &n->fields);
  td_cpu_unit_put_state(p, u, out);
  td_text_putf(out, "static TD_COLD void %s(struct td_run *run", u->name);
  if (u->has_room) td_text_putf(out, ", struct %s_room *me", u->name);
  if (u->has_state) td_text_putf(out, ", struct %s_state *state", u->name);
  td_text_putf(out, "%s%s) {\n", *params ? ", " : "", params);
  td_text_puts(out, assumed);
  if (p->watch) td_text_line(out, "  int64_t td_first;");
  put_net(n, out, all, "&td_first");
  td_text_line(out, "  run->host->open(run, &td_self);");
  td_text_putf(out, "%s  if (!run->host->run(run, &td_self)) return;\n", td_text_str(n->out));
  put_copies(n, out);
  td_text_line(out, "}\n");
}

void td_cpu_design_put(TdCpuProg *p, TdCpuUnit *u, TdText *out) {
  TdArena *a = p->w->arena;
  TdText text = td_text_new(a);
  Net n = {.p = p, .d = u->unit, .out = &text, .fields = td_text_new(a)};
  n.part = n.rings = td_text_new(a);
  n.fields.indent = 1;
  td_vec_push(a, &p->design, ((TdCpuDesign){u->unit, p->runs, p->streams}));
  if (u->streams)
    put_stopping(p, u, &n, out);
  else
    put_called(p, u, &n, out);
  p->runs += (int64_t)u->unit->nrun;
  p->streams += n.streams;
}
