/* text.c - a whole program as C: its units, callees first, and the entry that a caller knows.
 */
#include "backends/cpu/text.h"

#include <inttypes.h>

#include "lower/lower.h"

/* One name for each unit. */
static void name_units(TdCpuProg *p) {
  TdCWriter *w = p->w;
  for (size_t i = 0; i < w->prog->nunit; i++) {
    TdCpuUnit *u = &p->unit[i];
    const TdUnit *unit = w->prog->unit[i];
    u->unit = unit;
    u->param = TD_NEWN(w->arena, TdCpuParam, unit->nparam);
    bool taken = td_prelude_has(unit->sym->name);
    const char *own = taken ? td_text_fmt(w->arena, "%s_", unit->sym->name) : unit->sym->name;
    u->name = td_cname_fresh(w, own);
    td_cname_put(w, unit->sym, u->name, NULL, NULL);
  }
}

/* Names the units of runs that never stop, and so are functions twice. */
static void name_tasks(TdCpuProg *p) {
  TdCWriter *w = p->w;
  for (size_t i = 0; i < w->prog->nunit; i++)
    for (size_t r = 0; r < w->prog->unit[i]->nrun; r++) {
      TdCpuUnit *u = td_cpu_param_unit(p, w->prog->unit[i]->run[r].unit);
      if (u->task || u->unit->kind != TD_UNIT_KERNEL) continue;
      u->task = td_cname_fresh(w, td_text_fmt(w->arena, "%s_task", u->name));
      td_cname_put(w, NULL, u->task, NULL, NULL);
    }
}

/* The number of a foreign unit among those of the program. */
static int number_of(const TdCpuProg *p, const TdCpuUnit *u) {
  int n = 0;
  for (const TdCpuUnit *v = p->unit; v < u; v++) n += v->unit->kind == TD_UNIT_EXTERN;
  return n;
}

/* "((double (*)(double, void *))run->fn[0])", the types of C behind a result of its own. */
static const char *callee_of(const TdCpuProg *p, const TdUnit *u, int number) {
  TdCWriter *w = p->w;
  TdText types = td_text_new(w->arena);
  size_t given = u->foreign->returns;
  const TdParam *to = given ? &u->param[0] : NULL;
  for (size_t i = given; i < u->nparam; i++) {
    const TdType *t = u->param[i].type;
    bool number_ = td_type_is_scalar(t);
    td_text_putf(&types, "%s%s", i > given ? ", " : "",
                 number_ ? w->target->cell(w, u->param[i].sym, t) : "void *");
  }
  return td_text_fmt(w->arena, "((%s (*)(%s))run->fn[%d])",
                     to ? w->target->cell(w, to->sym, td_type_scalar(to->type)) : "void",
                     types.n ? td_text_str(&types) : "void", number);
}

/* A foreign unit as a function that calls it: at its address, or by the host. */
static void put_foreign(TdCpuProg *p, TdCpuUnit *u, TdText *out) {
  TdCWriter *w = p->w;
  const TdUnit *f = u->unit;
  int number = number_of(p, u);
  bool host = f->foreign->process || f->foreign->ncallback;
  td_cfamily_enter(w, f, NULL);
  for (size_t i = 0; i < f->nparam; i++)
    if (f->param[i].type->kind == TD_T_TENSOR && !u->param[i].dense)
      td_cfamily_refuse(w, "strided-extern", f->loc, "copy it into a local first",
                        "foreign %s is given a view that does not lie row-major", u->name);
  const char *params = td_cpu_arg_params(p, u);
  TdText args = td_text_new(w->arena);
  for (size_t i = host ? 0 : f->foreign->returns; i < f->nparam; i++)
    td_text_putf(&args, "%s%s%s", args.n ? ", " : "",
                 host && td_type_is_scalar(f->param[i].type) ? "&" : "",
                 td_cname_of(w, f->param[i].sym)->text);
  td_text_line(out, "static void %s(struct td_run *run%s%s) {", u->name, *params ? ", " : "",
               params);
  td_text_line(out, "  run->callee = %d;", number);
  if (host)
    td_text_line(out, "  run->call(run, (void *[]){%s});", f->nparam ? td_text_str(&args) : "0");
  else
    td_text_line(out, "  %s%s%s%s(%s);", f->foreign->returns ? "*" : "",
                 f->foreign->returns ? td_cname_of(w, f->param[0].sym)->text : "",
                 f->foreign->returns ? " = " : "", callee_of(p, f, number), td_text_str(&args));
  td_text_line(out, "}");
}

/* The size of the root's room or state, 0 if it takes none: one whose arrays are all empty, as of a
 * task without instances, is still an argument. */
static void put_bytes(const TdCpuUnit *u, const char *what, bool has, TdText *out) {
  if (has)
    td_text_line(out, "const uint64_t td_%s_bytes = sizeof(struct %s_%s) + 1;", what, u->name,
                 what);
  else
    td_text_line(out, "const uint64_t td_%s_bytes = 0;", what);
}

/* What a caller finds: the root, its memory, and how its state starts. */
static void put_entry(const TdCpuUnit *u, TdText *out) {
  put_bytes(u, "room", u->has_room, out);
  put_bytes(u, "state", u->has_state, out);
  td_text_line(out, "void td_reset(struct td_run *run, void *state) {");
  if (u->has_state)
    td_text_line(out, "  %s_reset(run, state);", u->name);
  else
    td_text_line(out, "  (void)run, (void)state;");
  td_text_line(out, "}");
  td_text_line(out, "void *const td_root = (void *)%s;", u->name);
}

/* How the root is called: the run, its memory and state where it has them, then its parameters. */
static const TdFfiType *signature_of(const TdCpuProg *p, const TdCpuUnit *u) {
  TdArena *a = p->w->arena;
  size_t n = 1u + u->has_room + u->has_state;
  TdFfiType *type = TD_NEWN(a, TdFfiType, n + u->unit->nparam);
  for (size_t i = 0; i < u->unit->nparam; i++) {
    const TdParam *x = &u->unit->param[i];
    if (!td_type_is_scalar(x->type)) continue;
    if (p->taint && td_cpu_taint_has(p->taint, x->sym))
      type[n + i].words = 2;
    else
      type[n + i].number = x->type;
  }
  return type;
}

/* The result, from what was written. */
static const TdCpuText *finished(TdCpuProg *p, const TdCpuUnit *root, const char *text) {
  TdArena *a = p->w->arena;
  TdCpuText *t = TD_NEW(a, TdCpuText);
  bool *written = TD_NEWN(a, bool, root->unit->nparam);
  for (size_t i = 0; i < root->unit->nparam; i++) written[i] = root->param[i].written;
  *t = (TdCpuText){.prog = p->w->prog,
                   .text = td_prelude_add(a, text),
                   .place = p->place.at,
                   .nplace = p->place.n,
                   .apart = p->apart.at,
                   .table = p->table.at,
                   .known = p->known.at,
                   .written = written,
                   .signature = signature_of(p, root),
                   .narg = 1u + root->has_room + root->has_state + root->unit->nparam,
                   .work = root->work,
                   .bytes = p->bytes,
                   .moves = p->moves && !p->computes && !p->times && !*td_prelude_word_text(text),
                   .narrows = p->w->narrows,
                   .squares = td_cpu_square_is_in(a, p->w->prog),
                   .watch = p->watch,
                   .design = p->design.at,
                   .ndesign = p->design.n};
  return t;
}

void td_cpu_text_begin(TdCpuProg *p, TdArena *a, const TdProg *prog, const TdCTarget *target,
                       TdDiag *d) {
  p->w = td_cfamily_new(a, prog, target, p, d);
  p->unit = TD_NEWN(a, TdCpuUnit, prog->nunit);
}

/* Whether some design runs the unit as a task. */
static bool is_run(const TdProg *p, TdSym unit) {
  for (size_t i = 0; i < p->nunit; i++)
    for (size_t k = 0; k < p->unit[i]->nrun; k++)
      if (p->unit[i]->run[k].unit == unit) return true;
  return false;
}

static bool has_ports(const TdUnit *u) {
  for (size_t i = 0; i < u->nparam; i++)
    if (u->param[i].type->kind == TD_T_PORT) return true;
  return false;
}

/* Whether a unit is given streams, or moves tokens of some that it knows. */
static bool takes_streams(const TdCpuProg *p, const TdUnit *u) {
  return has_ports(u) || (u->body && td_cpu_task_may_stop(p, u->body));
}

/* Finds the units that stop. False: a design in another, whose tasks have no clocks of their own.
 */
static bool find_stopping(TdCpuProg *p) {
  const TdProg *prog = p->w->prog;
  size_t designs = 0;
  for (size_t i = 0; i < prog->nunit; i++) {
    TdCpuUnit *u = &p->unit[i];
    bool timed = u->unit->kind == TD_UNIT_KERNEL && p->times;
    u->streams = takes_streams(p, u->unit) || is_run(prog, u->unit->sym) || timed;
    if (u->streams) u->task = u->name;
    designs += u->unit->kind == TD_UNIT_DESIGN;
  }
  return !p->times || designs < 2 ||
         td_cfamily_refuse(p->w, "nested-design", td_prog_root(prog)->loc,
                           "leave it to the evaluator",
                           "a compiled run with a clock of a design in a task");
}

const TdCpuText *td_cpu_text_end(TdCpuProg *p, const char *prelude) {
  TdCWriter *w = p->w;
  name_units(p);
  if (!find_stopping(p)) return NULL;
  name_tasks(p);
  if (!td_cpu_param_find(p)) return NULL;
  TdText out = td_text_new(w->arena);
  td_text_puts(&out, prelude);
  for (size_t i = 0; i < w->prog->nunit && !td_diag_failed(w->diag); i++) {
    TdCpuUnit *u = &p->unit[i];
    if (u->unit->kind == TD_UNIT_EXTERN)
      put_foreign(p, u, &out);
    else if (u->unit->kind == TD_UNIT_DESIGN)
      td_cpu_design_put(p, u, &out);
    else if (!u->streams)
      td_cpu_unit_put(p, u, &out);
    if (u->task && u->unit->kind == TD_UNIT_KERNEL) td_cpu_task_put(p, u, &out);
  }
  if (td_diag_failed(w->diag)) return NULL;
  const TdCpuUnit *root = &p->unit[w->prog->nunit - 1];
  if (root->streams && p->times && !has_ports(root->unit)) {
    td_cfamily_refuse(w, "timed-kernel", root->unit->loc,
                      "leave out `tier`, or run it as a task of a design",
                      "%s, a kernel, runs with a clock in the evaluator only", root->name);
    return NULL;
  }
  if (root->streams) {
    td_cfamily_refuse(w, "no-streams", root->unit->loc, "run it as a task of a design",
                      "%s takes streams, which a plain call cannot give it", root->name);
    return NULL;
  }
  put_entry(root, &out);
  return finished(p, root, td_text_str(&out));
}

const TdCpuText *td_cpu_text_of(TdArena *a, const TdProg *prog, TdCpuExtra extra, TdDiag *d) {
  TdCpuProg p = {.times = extra.times, .watch = extra.watch};
  const TdProg *plain = td_lower_collectives(a, prog);
  if (extra.times && plain != prog) {
    td_diag_set(d, TD_UNSUPPORTED, "timed-allreduce", td_prog_root(prog)->loc,
                "an allreduce with a clock is left to the evaluator");
    return NULL;
  }
  td_cpu_text_begin(&p, a, plain, &td_cpu_unit_target, d);
  return td_cpu_text_end(&p, "");
}
