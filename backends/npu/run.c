/* run.c - a design run from its texts: the MLIR read back, the kernels compiled and loaded. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/host/cache.h"
#include "backends/host/compiler.h"
#include "backends/npu/clock.h"
#include "backends/npu/kernel.h"
#include "backends/npu/launch.h"
#include "backends/npu/npu.h"
#include "base/home.h"

enum { COMPILE_SECONDS = 120 };
#define HEADERS "backends/npu/include"

struct TdNpuRun {
  TdArena *arena;
  const TdMlir *m;
  TdNpuStarts start; /* launches, in order */
  const char *kernels;
  const TdType *const *scalar; /* types of arguments, or NULL: scalars are words of 32 bits */
  TdMap state;                 /* buffer that begins with values -> what is in it between calls */
  void *library;               /* NULL: not compiled yet */
  const TdTimed *timed;
  bool ran;
};

static const TdCompiler cxx = {"C++", "g++", "TIDE_CXX", COMPILE_SECONDS};

/* A wrapper of a kernel for calls by a list of pointers. */
static void put_wrapper(TdText *out, const TdMlirOp *op) {
  const TdMlirAttr *name = td_mlir_get(op, "sym_name"), *type = td_mlir_get(op, "function_type");
  const TdMlirType *t = type && type->kind == TD_MLIR_A_TYPE ? type->type : NULL;
  if (!name || !t || t->kind != TD_MLIR_FUNCTION) return;
  td_text_putf(out, "void %s(", name->s);
  for (size_t i = 0; i < t->nin; i++)
    td_text_putf(out, "%s%s", i ? ", " : "", t->in[i]->kind == TD_MLIR_MEMREF ? "void *" : "int");
  td_text_putf(out, ");\nvoid tide_call_%s(void *const *a) {\n  (void)a;\n  %s(", name->s, name->s);
  for (size_t i = 0; i < t->nin; i++)
    td_text_putf(out, "%s%sa[%zu]", i ? ", " : "",
                 t->in[i]->kind == TD_MLIR_MEMREF ? "" : "*(const int *)", i);
  td_text_puts(out, ");\n}\n");
}

static const char *wrappers_of(TdArena *a, const TdMlir *m) {
  TdText t = td_text_new(a);
  td_text_puts(&t, "extern \"C\" {\n");
  const TdMlirBlock *top = td_mlir_body(m->module);
  TdMap known = {0};
  for (size_t k = 0; top && k < top->op.n; k++) {
    const TdMlirBlock *b = td_mlir_body(top->op.at[k]);
    for (size_t i = 0; b && i < b->op.n; i++) {
      const TdMlirAttr *name = td_mlir_get(b->op.at[i], "sym_name");
      if (strcmp(b->op.at[i]->name, "func.func") != 0 || !name) continue;
      uint64_t hash = td_map_hash(name->s, strlen(name->s)), seen;
      if (td_map_get(&known, hash, &seen)) continue;
      td_map_put(a, &known, hash, 1);
      put_wrapper(&t, b->op.at[i]);
    }
  }
  td_text_puts(&t, "}\n");
  return td_text_str(&t);
}

static void close_library(void *library) {
  dlclose(library);
}

/* The command that compiles two files to a library. */
static const char *const *command(TdArena *a, const char *one, const char *two, const char *to) {
  static const char *const flags[] = {"-std=c++17", "-O2",     "-ffp-contract=off",
                                      "-w",         "-shared", "-fPIC"};
  char home[4096];
  size_t n, nflag = sizeof flags / sizeof *flags;
  const char **word = td_child_words(a, getenv("TIDE_CXX"), "g++", nflag + 7, &n);
  for (size_t i = 0; i < nflag; i++) word[n++] = flags[i];
  if (td_home_find(HEADERS, home, sizeof home)) {
    word[n++] = "-I";
    word[n++] = td_text_fmt(a, "%s/" HEADERS, home);
  }
  word[n++] = "-o";
  word[n++] = to;
  word[n++] = one;
  word[n++] = two;
  word[n] = NULL;
  return word;
}

/* Compiles the kernels with their wrappers, unless that was done before; NULL with d filled. */
static void *library_of(TdArena *a, const char *kernels, const char *wrappers, TdDiag *d) {
  TdCache cache;
  if (!td_cache_open(&cache, a, d)) return NULL;
  const char *key = td_text_fmt(a, "npu 1\n%s%s", kernels, wrappers);
  const char *path = td_cache_path(&cache, key, strlen(key), ".so");
  if (!td_cache_has(&cache, path)) {
    const char *folder = td_cache_aside(&cache);
    if (!folder) return NULL;
    const char *one = td_text_fmt(a, "%s/kernels.cc", folder),
               *two = td_text_fmt(a, "%s/calls.cc", folder),
               *log = td_text_fmt(a, "%s/log", folder),
               *made = td_text_fmt(a, "%s/made.so", folder);
    if (!td_cache_write_file(one, kernels) || !td_cache_write_file(two, wrappers)) {
      td_cache_fail(&cache, "cannot write", one);
      return NULL;
    }
    TdChildEnd end = td_compiler_run(td_arena_ctx(a), &cxx, command(a, one, two, made), log, d);
    if (end == TD_CHILD_FAILED) {
      const char *said = td_cache_read_file(a, log);
      td_compiler_complain(&cxx, said ? said : "", one, kernels, d);
    }
    if (end != TD_CHILD_DONE || !td_cache_keep(&cache, made, path)) return NULL;
  }
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library)
    td_arena_defer(a, close_library, library);
  else
    td_diag_set(d, TD_LIMIT, "npu-load", (TdLoc){0}, "cannot load the kernels: %s", dlerror());
  return library;
}

/* The version that a text says it is for; NULL: it says none. */
static const char *dialect_of(const char *text) {
  return strncmp(text, TD_NPU_DIALECT, strlen(TD_NPU_DIALECT)) == 0 ? text + strlen(TD_NPU_DIALECT)
                                                                    : NULL;
}

/* Whether a device's number means the same in all versions, or the text names its version. */
static bool is_device_known(const TdNpuMachine *x, uint32_t source, const char *design, TdDiag *d) {
  const char *dialect = dialect_of(design);
  if (x->device->number < 8 || (dialect && *dialect == '3')) return true;
  td_diag_set(d, TD_UNSUPPORTED, "npu-text", (TdLoc){source, 1, 1, 1},
              "device %d is another one in other versions of the dialect", x->device->number);
  td_diag_help(d, "a first line '" TD_NPU_DIALECT "3' tells that %d is %s", x->device->number,
               x->device->name);
  return false;
}

TdNpuRun *td_npu_run_new(TdArena *a, uint32_t source, const char *design, const char *kernels,
                         TdDiag *d) {
  TdNpuRun *r = TD_NEW(a, TdNpuRun);
  r->arena = a;
  r->m = td_mlir_read(a, source, design, strlen(design), d);
  r->kernels = td_arena_strdup(a, kernels);
  if (!r->m || !td_npu_starts_of(a, r->m, &r->start, d)) return NULL;
  for (size_t i = 0; i < r->start.n; i++) {
    TdNpuMachine *x = td_npu_machine_new(a, r->start.at[i].device, d);
    if (!x || !is_device_known(x, source, design, d) || !td_npu_verify(x, x->device, d))
      return NULL;
  }
  return r;
}

const char *td_npu_run_text(const TdNpuRun *r, TdArena *a, TdMlirForm form) {
  TdText t = td_text_new(a);
  td_mlir_print(&t, r->m, form);
  return td_text_str(&t);
}

bool td_npu_run_agrees(const TdNpuRun *r, uint32_t source, const char *pretty, TdDiag *d) {
  const char *dialect = dialect_of(pretty);
  if (dialect && *dialect != '3') return true;
  const TdMlir *m = td_mlir_read(r->arena, source, pretty, strlen(pretty), d);
  if (!m || td_mlir_same(m, r->m)) return m != NULL;
  td_diag_set(d, TD_USAGE, "npu-text", (TdLoc){0},
              "'" TD_NPU_TEXT "' and '" TD_NPU_GENERIC "' are not the same design");
  td_diag_help(d, "change both, or let a build write them");
  return false;
}

/* The wrapper of a kernel, or NULL. */
static void *kernel(void *ud, const char *name) {
  const TdNpuRun *r = ud;
  char symbol[512];
  int n = snprintf(symbol, sizeof symbol, "tide_call_%s", name);
  return n > 0 && (size_t)n < sizeof symbol ? dlsym(r->library, symbol) : NULL;
}

/* The memory of a tensor, row-major: its own where it lies so. */
static unsigned char *memory_of(TdArena *a, const TdTensor *t) {
  size_t cell = td_type_bytes(td_type_scalar(t->type));
  if (td_tensor_is_dense(t)) return t->data;
  unsigned char *p = TD_NEWN(a, unsigned char, (size_t)td_tensor_count(t) * cell), *to = p;
  int64_t index[TD_MAX_RANK] = {0};
  do {
    memcpy(to, td_tensor_at(t, index), cell);
    to += cell;
  } while (td_tensor_next(t, index));
  return p;
}

/* Brings back what lies row-major elsewhere; all of a tensor counts as written. */
static void bring_back(TdTensor *t, const unsigned char *from) {
  size_t cell = td_type_bytes(td_type_scalar(t->type));
  int64_t index[TD_MAX_RANK] = {0};
  if (from == t->data) return;
  do {
    memcpy(td_tensor_at(t, index), from, cell);
    from += cell;
  } while (td_tensor_next(t, index));
}

/* The kernels of a machine by what they take. */
typedef struct Costs {
  TdArena *arena;
  TdMap known; /* interned by text: hash -> TdNpuCost */
} Costs;

static const TdNpuCost *cost_of(void *ud, const char *name) {
  Costs *c = ud;
  return td_map_getp(&c->known, (const void *)(uintptr_t)td_map_hash(name, strlen(name)));
}

/* Reads what each kernel's line says. */
static void read_costs(Costs *c, const char *text, int generation) {
  for (const char *s = text; (s = strstr(s, TD_NPU_COST)); s++) {
    s += strlen(TD_NPU_COST);
    size_t n = strcspn(s, ":\n");
    TdNpuCost *x = TD_NEW(c->arena, TdNpuCost);
    if (s[n] != ':') continue;
    td_npu_cost_read(s + n + 1, generation, x);
    td_map_putp(c->arena, &c->known, (const void *)(uintptr_t)td_map_hash(s, n), x);
  }
}

/* Adds the times of one launch to those of the others before it. */
static const TdTimed *add_times(TdArena *a, const TdTimed *all, const TdTimed *x) {
  TdTimed *t = td_arena_copy(a, x, sizeof *x);
  if (!all || !x) return t;
  TdTimedTask *task = TD_NEWN(a, TdTimedTask, all->ntask + x->ntask + 1);
  TdTimedStream *stream = TD_NEWN(a, TdTimedStream, all->nstream + x->nstream + 1);
  for (size_t i = 0; i < all->ntask + x->ntask; i++)
    task[i] = i < all->ntask ? all->task[i] : x->task[i - all->ntask];
  for (size_t i = 0; i < all->nstream + x->nstream; i++)
    stream[i] = i < all->nstream ? all->stream[i] : x->stream[i - all->nstream];
  t->cycles = all->cycles + x->cycles;
  t->utilisation =
      t->cycles ? (all->utilisation * (double)all->cycles + x->utilisation * (double)x->cycles) /
                      (double)t->cycles
                : 0;
  t->task = task;
  t->ntask += all->ntask;
  t->stream = stream;
  t->nstream += all->nstream;
  return t;
}

const TdTimed *td_npu_run_times(TdNpuRun *r, TdDiag *d) {
  if (r->timed) return r->timed;
  TdArena *a = td_arena_scratch(td_arena_ctx(r->arena));
  const TdTimed *all = NULL;
  for (size_t i = 0; i < r->start.n; i++) {
    TdNpuMachine *x = td_npu_machine_new(a, r->start.at[i].device, d);
    Costs costs = {.arena = a};
    if (!x) break;
    read_costs(&costs, r->kernels, x->device->generation);
    x->cost = cost_of;
    x->ud = &costs;
    const TdTimed *t = td_npu_clock(r->arena, x);
    all = t ? add_times(r->arena, all, t) : NULL;
    if (!t) break;
  }
  r->timed = all;
  td_arena_free(a);
  return r->timed;
}

const TdTimed *td_npu_run_timed(const TdNpuRun *r) {
  TdDiag quiet = {.arena = r->arena};
  return r->ran ? td_npu_run_times((TdNpuRun *)(uintptr_t)r, &quiet) : r->timed;
}

/* Brings what buffers that begin with values hold to the machine of a call, or back. */
static void move_states(TdNpuRun *r, const TdNpuMachine *x, bool to) {
  const TdMlirBlock *b = x->sequence->block;
  for (size_t i = 0; i < b->op.n; i++) {
    const TdMlirOp *op = b->op.at[i];
    if (strcmp(op->name, "aie.buffer") != 0 || !td_mlir_get(op, "initial_value")) continue;
    size_t n = (size_t)td_npu_machine_bytes(op->result.at[0]->type);
    unsigned char *now = td_map_getp(&x->buffer, op->result.at[0]),
                  *kept = td_map_getp(&r->state, op);
    if (!to && !kept) td_map_putp(r->arena, &r->state, op, kept = td_arena_alloc(r->arena, n));
    if (kept) memcpy(to ? now : kept, to ? kept : now, n);
  }
}

void td_npu_run_reset(TdNpuRun *r) {
  r->state = (TdMap){0};
}

void td_npu_run_set_types(TdNpuRun *r, const TdType *const *type) {
  r->scalar = type;
}

/* The memory of the host: arguments that are given, and arrays of its own, which hold what was in
 * them. */
typedef struct Host {
  size_t n;
  unsigned char **memory;
  int64_t *bytes;
} Host;

static Host host_of(TdArena *a, const TdNpuRun *r, const TdCallArg *arg, size_t narg) {
  const TdMlirBlock *b = r->start.sequence ? td_mlir_body(r->start.sequence) : NULL;
  size_t n = b && b->arg.n > narg && r->start.at[0].arg ? b->arg.n : narg;
  Host h = {n, TD_NEWN(a, unsigned char *, n + 1), TD_NEWN(a, int64_t, n + 1)};
  for (size_t i = 0; i < n; i++) {
    if (i >= narg) {
      h.bytes[i] = td_npu_machine_bytes(b->arg.at[i]->type);
      h.memory[i] = TD_NEWN(a, unsigned char, h.bytes[i] + 8);
      memset(h.memory[i], TD_NPU_JUNK, (size_t)h.bytes[i]);
    } else if (arg[i].tensor) {
      h.memory[i] = memory_of(a, arg[i].tensor);
      h.bytes[i] = td_tensor_count(arg[i].tensor) *
                   (int64_t)td_type_bytes(td_type_scalar(arg[i].tensor->type));
    } else {
      h.bytes[i] = 4;
      h.memory[i] = TD_NEWN(a, unsigned char, 8);
      if (r->scalar)
        td_num_store(r->scalar[i], h.memory[i], arg[i].scalar);
      else
        memcpy(h.memory[i], &arg[i].scalar, 4);
    }
  }
  return h;
}

/* One launch. */
static bool launch(TdArena *a, TdNpuRun *r, const TdNpuStart *s, const Host *h, TdDiag *d) {
  TdNpuMachine *x = td_npu_machine_new(a, s->device, d);
  size_t n = s->arg ? s->n : h->n;
  unsigned char **memory = TD_NEWN(a, unsigned char *, n + 1);
  int64_t *bytes = TD_NEWN(a, int64_t, n + 1);
  if (!x) return false;
  for (size_t i = 0; i < n; i++) {
    memory[i] = h->memory[s->arg ? s->arg[i] : i];
    bytes[i] = h->bytes[s->arg ? s->arg[i] : i];
  }
  x->kernel = kernel;
  x->ud = r;
  move_states(r, x, true);
  if (!td_npu_machine_run(x, memory, bytes, n)) return false;
  move_states(r, x, false);
  return true;
}

bool td_npu_run_call(TdNpuRun *r, const TdCallArg *arg, size_t narg, TdDiag *d) {
  if (!r->library) r->library = library_of(r->arena, r->kernels, wrappers_of(r->arena, r->m), d);
  if (!r->library) return false;
  r->ran = true;
  TdArena *a = td_arena_scratch(td_arena_ctx(r->arena));
  Host h = host_of(a, r, arg, narg);
  bool ok = true;
  for (size_t i = 0; i < r->start.n && ok; i++) ok = launch(a, r, &r->start.at[i], &h, d);
  for (size_t i = 0; ok && i < narg; i++)
    if (arg[i].tensor) bring_back(arg[i].tensor, h.memory[i]);
  if (!ok) {
    d->message = td_arena_strdup(d->arena, d->message ? d->message : "");
    for (size_t i = 0; i < d->notes.n; i++)
      d->notes.at[i].text = td_arena_strdup(d->arena, d->notes.at[i].text);
  }
  td_arena_free(a);
  return ok;
}
