/* front_sim.c - streamers and a design as one text in a simulator: the arguments in the banked
 * memory, those that no streamer has in memories of the bench; each cycle, and the results, against
 * the run with a clock. */
#include "backends/maestro/front/front.h"

#include "backends/maestro/rtl/rtl.h"
#include "ir/num/num.h"

typedef struct Whole {
  TdMaestroFrontSim *x;
  const TdMaestroFront *f;
  TdMaestroBed bed;
  TdMaestroFrontText text;
  TdMaestroFrontRun model;
  size_t nparam;
  uint8_t *memory, *mine; /* mine: bytes of regions */
} Whole;

/* Moves an argument between its tensor and the memory. */
static void move(Whole *s, int i, bool out, const uint8_t *written) {
  const TdMaestroFeed *f = &s->f->feed[i];
  TdTensor *t = s->x->arg[f->param].tensor;
  const TdMaestroMemory *m = &s->f->system.memory;
  int64_t index[TD_MAX_RANK] = {0}, e = 0;
  do {
    int64_t at = f->region + td_maestro_front_byte(f, e++);
    uint64_t word = out ? 0 : td_num_word(f->elem, td_tensor_get(t, index));
    bool came = true;
    for (int64_t b = 0; b < f->size; b++) {
      int64_t place = td_maestro_agu_physical(m, s->f->pattern[i].mode, at + b);
      if (out) {
        word |= (uint64_t)s->memory[place] << (8 * b);
        came = came && written[place];
      } else {
        s->memory[place] = (uint8_t)(word >> (8 * b));
      }
    }
    if (f->elem->w < 64) word &= (UINT64_C(1) << f->elem->w) - 1;
    if (out && came) td_tensor_put(t, index, td_num_of_word(f->elem, word));
  } while (td_tensor_next(t, index));
}

/* Marks the bytes of the regions of readers and writers, or of writers alone. */
static uint8_t *mark(const Whole *s, bool readers) {
  const TdMaestroMemory *m = &s->f->system.memory;
  uint8_t *mark = TD_NEWN(s->bed.tool.arena, uint8_t, td_maestro_system_bytes(m));
  for (int i = 0; i < s->f->system.n; i++)
    for (int64_t b = 0; b < s->f->feed[i].bytes && (readers || s->f->system.at[i].writer); b++)
      mark[td_maestro_agu_physical(m, s->f->pattern[i].mode, s->f->feed[i].region + b)] = 1;
  return mark;
}

static const TdCallArg *call_args(const Whole *s, const TdEvalArg *arg) {
  TdCallArg *list = TD_NEWN(s->bed.tool.arena, TdCallArg, s->nparam + 1);
  for (size_t i = 0; i < s->nparam; i++) list[i] = (TdCallArg){arg[i].tensor, arg[i].scalar, NULL};
  return list;
}

static void watch(void *ud, const TdMaestroCycle *c, const uint8_t *moves, int nmove) {
  Whole *s = ud;
  s->bed.cycles = c->cycle + 1;
  td_maestro_bed_row(&s->bed, c, moves, nmove);
}

/* The run with a clock, on copies of the tensors; cycles after the last word are told, too. */
static bool run_model(Whole *s) {
  TdArena *a = s->bed.tool.arena;
  TdEvalArg *arg = TD_NEWN(a, TdEvalArg, s->nparam + 1);
  for (size_t i = 0; i < s->nparam; i++) {
    arg[i] = s->x->arg[i];
    if (!arg[i].tensor) continue;
    arg[i].tensor = td_tensor_new(a, arg[i].tensor->type, false);
    td_tensor_copy(td_arena_ctx(a), arg[i].tensor, s->x->arg[i].tensor);
  }
  s->model = (TdMaestroFrontRun){.front = s->f, .times = s->x->times, .arg = arg};
  if (s->x->check) s->model.watch = watch;
  s->model.ud = s;
  if (!td_maestro_front_run(&s->model, a, s->bed.tool.diag)) return false;
  uint8_t *still = TD_NEWN(a, uint8_t, s->text.moves + 1);
  TdMaestroCycle idle = {0};
  for (; s->x->check && s->bed.cycles < s->model.timed->cycles; s->bed.cycles++)
    td_maestro_bed_row(&s->bed, &idle, still, s->text.moves);
  s->bed.cycles = s->model.timed->cycles;
  return true;
}

/* What goes in: the text, the memory, the registers, the other arguments. */
static bool prepare(Whole *s) {
  TdText registers = td_text_new(s->bed.tool.arena);
  TdMaestroWork none = {0};
  s->memory = TD_NEWN(s->bed.tool.arena, uint8_t, td_maestro_system_bytes(&s->f->system.memory));
  for (int i = 0; i < s->f->system.n; i++) move(s, i, false, NULL);
  td_maestro_bed_registers(&s->bed, &registers, &none, s->f->pattern);
  return td_maestro_bed_compile(&s->bed, s->text.file, s->text.nfile, s->text.bench) &&
         td_maestro_bed_image(&s->bed, s->memory, mark(s, true)) &&
         td_maestro_bed_writes(&s->bed, &registers) &&
         td_maestro_bed_reads(&s->bed, mark(s, false)) &&
         td_verilog_run_write(s->bed.tool.arena, s->text.design, s->bed.tool.folder,
                              call_args(s, s->x->arg), s->bed.tool.diag);
}

/* What comes out, to the tensors. */
static bool read_results(Whole *s) {
  uint8_t *written =
      TD_NEWN(s->bed.tool.arena, uint8_t, td_maestro_system_bytes(&s->f->system.memory));
  if (!td_maestro_bed_back(&s->bed, s->memory, written)) return false;
  for (int i = 0; i < s->f->system.n; i++)
    if (s->f->system.at[i].writer) move(s, i, true, written);
  return td_verilog_run_read(s->bed.tool.arena, s->text.design, s->bed.tool.folder,
                             call_args(s, s->x->arg), s->bed.tool.diag);
}

/* Whether the results are those of the run with a clock. */
static bool compare(const Whole *s) {
  const TdUnit *u = td_prog_root(s->f->prog);
  for (size_t i = 0; i < s->nparam; i++) {
    const TdTensor *got = s->x->arg[i].tensor, *want = s->model.arg[i].tensor;
    int64_t index[TD_MAX_RANK] = {0};
    if (!got || !td_tensor_count(got)) continue;
    do {
      if (td_tensor_get(got, index) != td_tensor_get(want, index))
        return td_diag_set(s->bed.tool.diag, TD_BUG, "maestro-differs", (TdLoc){0},
                           "'%s' has other values in the simulation than in the run with a clock",
                           u->param[i].sym->name);
    } while (td_tensor_next(got, index));
  }
  return true;
}

bool td_maestro_front_sim(TdMaestroFrontSim *x, TdArena *a, TdDiag *d) {
  Whole s = {.x = x, .f = x->front, .nparam = td_prog_root(x->front->prog)->nparam};
  TdArena *scratch = td_arena_scratch(td_arena_ctx(a));
  s.bed = (TdMaestroBed){.system = &x->front->system,
                         .tool = td_simulator_new(scratch, x->sim, d),
                         .seconds = x->seconds,
                         .check = x->check};
  s.bed.trace = td_text_new(s.bed.tool.arena);
  bool ok =
      td_maestro_front_text(s.f, x->target, x->affine, x->axi, s.bed.tool.arena, &s.text, d) &&
      td_simulator_open(&s.bed.tool) && run_model(&s) && prepare(&s) &&
      td_maestro_bed_run(&s.bed, &x->cycles) && read_results(&s) && (!x->check || compare(&s));
  td_arena_free(s.bed.tool.arena);
  return ok;
}
