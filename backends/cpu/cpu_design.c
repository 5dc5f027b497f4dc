/* cpu_design.c - a design as a function: streams and frames made ready, then every instance in
   turn, run by run and in the order of coordinates, each until it stops; a turn in which nothing
   moves is a deadlock. A design that takes streams stops itself then, and goes on later. */
#include <inttypes.h>

#include "backends/cpu/cpu_text.h"

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
  TdText fields;
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

/* Memory of a stream array: its rings or pools, and their tokens; and the lines that open it. */
static void put_stream(Net *n, const TdStream *s, const char *name) {
  TdCWriter *w = n->p->w;
  const TdType *t = td_cfamily_type(w, s->type), *token = t->elem;
  int64_t count = extents(t), depth = td_cfamily_size(w, s->depth), size = extents(token);
  int64_t number = n->p->streams + n->streams;
  const char *cell = w->target->cell(w, NULL, td_type_scalar(token));
  td_text_line(&n->fields, "struct td_%s %s[%" PRId64 "];", t->block ? "pool" : "ring", name,
               count);
  td_text_line(&n->fields, "%s %s_token[%" PRId64 "][%" PRId64 "];", cell, name, count,
               depth * size);
  td_text_line(n->out, "  for (int64_t td_i = 0; td_i < %" PRId64 "; td_i++)", count);
  if (t->block) {
    td_text_line(&n->fields, "int64_t %s_list[%" PRId64 "][%" PRId64 "];", name, count, 2 * depth);
    td_text_line(n->out,
                 "    td_open_pool(&me->%s[td_i], me->%s_token[td_i], me->%s_list[td_i], %" PRId64
                 ", td_i + %" PRId64 ");",
                 name, name, name, depth, number);
  } else {
    td_text_line(n->out,
                 "    td_open(&me->%s[td_i], me->%s_token[td_i], %" PRId64 ", td_i + %" PRId64 ");",
                 name, name, depth, number);
    if (n->p->times)
      td_text_line(n->out,
                   "  for (int64_t td_i = 0; td_i < %" PRId64 "; td_i++)\n"
                   "    me->%s[td_i].time = TD_TIMED->open(TD_TIMED->wire[td_i + %" PRId64
                   "], &me->%s[td_i].puts);",
                   count, name, n->streams, name);
  }
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

/* One turn of all instances of a run. */
static void put_turn(Net *n, const TdRun *r, const char *name) {
  const TdCpuUnit *u = td_cpu_param_unit(n->p, r->unit);
  const char *state = u->has_state ? td_text_fmt(n->p->w->arena, ", &state->%s[td_i]", name) : "";
  td_text_line(n->out, "    for (int64_t td_i = 0; td_i < %" PRId64 "; td_i++) {", instances(n, r));
  td_text_line(n->out, "      if (me->%s_task[td_i].task.at < 0) continue;", name);
  td_text_line(n->out, "      int td_did = %s(run, &me->%s_task[td_i]%s);", u->task, name, state);
  td_text_line(n->out, "      td_moved |= td_did & 1, td_more -= td_did >> 1;");
  td_text_line(n->out, "    }");
}

/* Lines that note which instances wait. */
static void put_blocked(Net *n) {
  for (size_t i = 0; i < n->d->nrun; i++)
    td_text_line(n->out,
                 "    for (int64_t td_i = 0; td_i < %" PRId64 "; td_i++) td_blocked(run, %" PRId64
                 ", td_i, &me->%s_task[td_i].task);",
                 instances(n, &n->d->run[i]), n->p->runs + (int64_t)i, n->run[i]);
}

/* Lines that note what streams hold. */
static void put_contents(Net *n) {
  for (size_t i = 0; i < n->d->nstream; i++) {
    const TdType *t = td_cfamily_type(n->p->w, n->d->stream[i].type);
    const char *data = td_text_fmt(n->p->w->arena, "me->%s[td_i].data", n->stream[i]);
    td_text_line(n->out,
                 "    for (int64_t td_i = 0; td_i < %" PRId64
                 "; td_i++) td_holds(run, &me->%s[td_i]%s, %s);",
                 extents(t), n->stream[i], t->block ? ".full" : "", t->block ? data : "0");
  }
}

/* Lines that look whether streams are empty at the end. */
static void put_left(Net *n) {
  for (size_t i = 0; i < n->d->nstream; i++) {
    const TdStream *s = &n->d->stream[i];
    const TdType *t = td_cfamily_type(n->p->w, s->type);
    td_text_line(
        n->out,
        "  for (int64_t td_i = 0; td_i < %" PRId64 "; td_i++) td_left(run, %d, &me->%s[td_i]%s);",
        extents(t), td_cpu_unit_place(n->p, s->loc), n->stream[i], t->block ? ".full" : "");
  }
}

/* Lines that store what instances hold copies of. */
static void put_copies(Net *n) {
  for (size_t i = 0; i < n->copied.n; i++) {
    const Copied *c = &n->copied.at[i];
    td_text_line(n->out, "  for (int64_t td_i = 0; !run->fault && td_i < %" PRId64 "; td_i++) {",
                 instances(n, c->run));
    td_cpu_block_store(n->p, c->run, &c->block, c->copies, n->p->runs + (c->run - n->d->run),
                       n->out);
    td_text_line(n->out, "  }");
  }
}

/* The loop of turns, and what may have gone wrong. A caller's own turn goes on as it was. */
static void put_turns(Net *n, int64_t all) {
  td_text_line(n->out, "  int64_t td_more = %" PRId64 ";", all);
  td_text_line(n->out, "  int td_slow = run->slow;");
  td_text_line(n->out, "  run->slow = 0;");
  td_text_line(n->out, "  for (int td_moved = 1; td_more && !td_stopped(run);) {");
  td_text_line(n->out, "    if (!td_moved && run->slow == 2) break;");
  td_text_line(n->out, "    run->slow = td_moved ? 0 : run->slow + 1;");
  td_text_line(n->out, "    td_moved = 0;");
  for (size_t i = 0; i < n->d->nrun; i++) put_turn(n, &n->d->run[i], n->run[i]);
  td_text_line(n->out, "  }");
  td_text_line(n->out, "  run->slow = td_slow;");
  td_text_line(n->out, "  if (td_more && !td_stopped(run)) {");
  put_blocked(n);
  td_text_line(n->out, "    td_fault(run, 3, %d, td_more, %zu);",
               td_cpu_unit_place(n->p, n->d->loc), n->p->design.n - 1);
  td_text_line(n->out, "  }");
  td_text_line(n->out, "  if (td_more == 0) {");
  put_left(n);
  put_copies(n);
  td_text_line(n->out, "  }");
  td_text_line(n->out, "  if (run->fault) {");
  put_contents(n);
  td_text_line(n->out, "  }");
}

/* One turn of a design that takes streams; in the one that finds a deadlock it tells its part. */
static void put_visit(Net *n, int64_t all) {
  td_text_line(&n->p->room.at[0].fields, "int64_t more;");
  td_text_line(n->out, "  me->task.at = 1, me->more = %" PRId64 ", me->task.ring = 0;", all);
  td_text_line(n->out, "  }");
  td_text_line(n->out, "  int64_t td_more = me->more;");
  for (size_t i = 0; i < n->d->nrun; i++) put_turn(n, &n->d->run[i], n->run[i]);
  td_text_line(n->out, "  me->more = td_more;");
  td_text_line(n->out, "  if (td_more) {");
  td_text_line(n->out, "    if (td_moved || run->slow < 2) goto wait;");
  put_blocked(n);
  put_contents(n);
  td_text_line(n->out, "    goto wait;");
  td_text_line(n->out, "  }");
  put_left(n);
  put_copies(n);
}

/* Lines that make streams and frames ready; returns the number of instances. */
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
    all += instances(n, r);
    u->work += td_cpu_param_unit(n->p, r->unit)->work * (double)instances(n, r);
  }
  return all;
}

/* A design that takes streams: as a task, it stops and goes on. */
static void put_stopping(TdCpuProg *p, TdCpuUnit *u, Net *n, TdText *out) {
  TdCpuTask task;
  td_cpu_task_enter(p, u, &task, out);
  td_text_line(n->out, "  if (!me->task.at) {");
  put_visit(n, put_ready(n, u));
  td_text_puts(&p->room.at[0].fields, td_text_str(&n->fields));
  td_cpu_task_leave(p, u, td_text_str(n->out), out);
}

/* A design that is called and has ended when it returns. */
static void put_called(TdCpuProg *p, TdCpuUnit *u, Net *n, TdText *out) {
  td_cpu_unit_enter(p, u, "room->", out);
  const char *params = td_cpu_arg_params(p, u);
  put_turns(n, put_ready(n, u));
  u->has_room = td_cpu_unit_put_struct(out, u->name, "room", &n->fields);
  td_cpu_unit_put_state(p, u, out);
  td_text_putf(out, "static void %s(struct td_run *run", u->name);
  if (u->has_room) td_text_putf(out, ", struct %s_room *me", u->name);
  if (u->has_state) td_text_putf(out, ", struct %s_state *state", u->name);
  td_text_putf(out, "%s%s) {\n%s}\n\n", *params ? ", " : "", params, td_text_str(n->out));
}

void td_cpu_design_put(TdCpuProg *p, TdCpuUnit *u, TdText *out) {
  TdArena *a = p->w->arena;
  TdText text = td_text_new(a);
  Net n = {.p = p, .d = u->unit, .out = &text, .fields = td_text_new(a)};
  n.fields.indent = 1;
  td_vec_push(a, &p->design, ((TdCpuDesign){u->unit, p->runs, p->streams}));
  if (u->streams)
    put_stopping(p, u, &n, out);
  else
    put_called(p, u, &n, out);
  p->runs += (int64_t)u->unit->nrun;
  p->streams += n.streams;
}
