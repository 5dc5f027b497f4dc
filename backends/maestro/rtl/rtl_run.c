/* rtl_run.c - jobs in a simulator, one behind the other: their image and registers, the model's
 * cycles, the results. */
#include <string.h>

#include "backends/maestro/rtl/rtl.h"

/* What runs, and the memory before. */
typedef struct Jobs {
  const TdMaestroSim *x;
  TdMaestroBed bed;
  uint8_t *memory, *touched;
} Jobs;

static int64_t bytes_of(const Jobs *s) {
  return td_maestro_system_bytes(&s->x->system->memory);
}

/* The compiled system; made if it is not kept. */
static bool compile(Jobs *s) {
  size_t n;
  TdArena *a = s->bed.tool.arena;
  const TdFile *file = td_maestro_rtl_files(s->x->system, s->x->axi, a, &n, s->bed.tool.diag);
  return file && td_maestro_bed_compile(&s->bed, file, n,
                                        td_maestro_rtl_bench(s->x->system, s->x->axi, NULL, a));
}

/* Adds a job's operands to the memory, but for what jobs before it write. */
static void add_image(Jobs *s, const TdMaestroSimJob *j, uint8_t *results) {
  TdArena *a = s->bed.tool.arena;
  int64_t bytes = bytes_of(s);
  uint8_t *memory = TD_NEWN(a, uint8_t, bytes), *touched = TD_NEWN(a, uint8_t, bytes);
  if (!j->param) return;
  td_maestro_data_image(j->job, a, j->param, memory, touched);
  for (int64_t at = 0; at < bytes; at++) {
    if (!touched[at] || results[at]) continue;
    s->memory[at] = memory[at];
    s->touched[at] = 1;
  }
  td_maestro_data_results(j->job, a, j->param, results);
}

/* The words of the operands that the memory holds before, and those of the results. */
static bool write_memory(Jobs *s) {
  uint8_t *results = TD_NEWN(s->bed.tool.arena, uint8_t, bytes_of(s));
  s->memory = TD_NEWN(s->bed.tool.arena, uint8_t, bytes_of(s));
  s->touched = TD_NEWN(s->bed.tool.arena, uint8_t, bytes_of(s));
  for (size_t i = 0; i < s->x->n; i++) add_image(s, &s->x->at[i], results);
  return td_maestro_bed_image(&s->bed, s->memory, s->touched) &&
         td_maestro_bed_reads(&s->bed, results);
}

/* The registers of all jobs, or what a host writes: a line of number and value for each. */
static bool write_registers(Jobs *s) {
  TdText t = td_text_new(s->bed.tool.arena);
  if (s->x->writes) td_text_puts(&t, s->x->writes);
  for (size_t i = 0; !s->x->writes && i < s->x->n; i++) {
    const TdMaestroSimJob *j = &s->x->at[i];
    TdMaestroWork work = j->job->work;
    if (j->param && !td_maestro_scale_fill(j->job, j->param, &work, s->bed.tool.diag)) return false;
    td_maestro_bed_registers(&s->bed, &t, &work, j->job->pattern);
  }
  return td_maestro_bed_writes(&s->bed, &t);
}

/* The results, to the tensors. */
static bool read_results(Jobs *s) {
  uint8_t *written = TD_NEWN(s->bed.tool.arena, uint8_t, bytes_of(s));
  if (!td_maestro_bed_back(&s->bed, s->memory, written)) return false;
  for (size_t i = 0; i < s->x->n; i++)
    if (s->x->at[i].param)
      td_maestro_data_take(s->x->at[i].job, s->bed.tool.arena, s->x->at[i].param, s->memory,
                           written);
  return true;
}

static void watch(void *ud, const TdMaestroCycle *c) {
  td_maestro_bed_row(ud, c, NULL, 0);
}

/* All jobs in the model; arbiters go on from where they were. */
static bool run_model(Jobs *s) {
  int last[TD_MAESTRO_BANKS];
  TdMaestroReport *r = TD_NEW(s->bed.tool.arena, TdMaestroReport);
  for (int b = 0; b < s->x->system->memory.banks; b++) last[b] = s->x->system->ports - 1;
  s->bed.trace = td_text_new(s->bed.tool.arena);
  for (size_t i = 0; i < s->x->n; i++) {
    TdMaestroRun run = {.ctx = td_arena_ctx(s->bed.tool.arena),
                        .arena = s->bed.tool.arena,
                        .system = s->x->system,
                        .pattern = s->x->at[i].job->pattern,
                        .work = s->x->at[i].job->work,
                        .last = last,
                        .watch = s->x->check ? watch : NULL,
                        .ud = &s->bed};
    if (!td_maestro_model_run(&run, r, s->bed.tool.diag)) return false;
    s->bed.cycles += r->cycles;
  }
  return true;
}

/* Whether the kernel's products and sums are the array's: of floats all in one type, exact where
 * sums that saturate show it. */
static bool check_products(const TdMaestroSim *x, TdDiag *d) {
  for (size_t i = 0; i < x->n; i++) {
    const TdMaestroNest *n = &x->at[i].job->nest;
    const TdMaestroArray *r = &x->system->array;
    if (x->at[i].job->work.path) continue;
    bool real = n->acc->kind == TD_T_FLOAT;
    if (real ? n->product == n->acc && n->sum == n->acc
             : !n->acc->saturate || n->product->w >= r->a->w + r->b->w)
      continue;
    return td_diag_set(d, TD_UNSUPPORTED, "maestro-rtl", n->result.loc,
                       "products are cut to %s, and the array's module has them %s",
                       td_type_str(d->arena, n->product), real ? "in the sums' type" : "exact");
  }
  return true;
}

bool td_maestro_sim_run(const TdMaestroSim *x, int64_t *cycles, TdDiag *d) {
  if (!check_products(x, d)) return false;
  Jobs s = {.x = x};
  TdArena *scratch = td_arena_scratch(td_arena_ctx(x->arena));
  s.bed = (TdMaestroBed){.system = x->system,
                         .tool = td_simulator_new(scratch, x->sim, d),
                         .seconds = x->seconds,
                         .check = x->check};
  bool ok = td_simulator_open(&s.bed.tool) && run_model(&s) && compile(&s) && write_memory(&s) &&
            write_registers(&s) && td_maestro_bed_run(&s.bed, cycles) && read_results(&s);
  td_arena_free(s.bed.tool.arena);
  return ok;
}
