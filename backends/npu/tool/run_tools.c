/* run_tools.c - the vendor's tools, where they are on PATH: called by the Makefile of a build, for
 * a limited time. Lines of their errors that name the design or the kernels are told by the user's
 * lines that they were made from. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/host/cache.h"
#include "backends/host/child.h"
#include "backends/npu/npu.h"
#include "backends/npu/tool/files.h"

/* Who is there by which word on PATH, what it makes, in order. */
static const struct Tool {
  const char *name, *goal, *said;
} tools[] = {{"aiecc.py", "design.xclbin", "aiecc.py made design.xclbin"},
             {"xrt-smi", "run", "the card gave the bits that are wanted"}};
enum { TOOLS = sizeof tools / sizeof *tools, NOTES = 5 };

/* ---- whose lines ---- */

/* The user's place of the operation that line `line` of the design's text is, in trees that are the
 * same: `as` was read from the text. */
static bool find_line(const TdMlirOp *user, const TdMlirOp *as, uint32_t line, TdLoc *loc) {
  if (user->loc.line) *loc = user->loc;
  if (as->loc.line == line) return true;
  for (size_t r = 0; r < as->region.n; r++)
    for (size_t b = 0; b < as->region.at[r]->block.n; b++) {
      const TdMlirBlock *x = user->region.at[r]->block.at[b], *y = as->region.at[r]->block.at[b];
      for (size_t i = 0; i < y->op.n; i++) {
        TdLoc inner = *loc;
        if (!find_line(x->op.at[i], y->op.at[i], line, &inner)) continue;
        *loc = inner;
        return true;
      }
    }
  return false;
}

/* The user's place of a line of design.mlir, {0}: none. */
static TdLoc design_place(const TdNpuMade *m, uint32_t line) {
  TdArena *a = m->build->arena;
  TdDiag quiet = {.arena = a};
  TdLoc loc = {0};
  const TdMlir *as = td_mlir_read(a, 0, m->pretty, strlen(m->pretty), &quiet);
  return as && find_line(m->tree->module, as->module, line, &loc) ? loc : (TdLoc){0};
}

/* The user's place of a line of kernels.cc: of the last kernel that begins before it. */
static TdLoc kernel_place(const TdNpuMade *m, uint32_t line) {
  TdLoc loc = {0};
  uint32_t at = 1;
  for (const char *s = m->text; *s && at <= line; s += strcspn(s, "\n"), s += *s == '\n', at++)
    for (size_t i = 0; i < m->kernels->kernel.n; i++) {
      const TdNpuKernel *k = &m->kernels->kernel.at[i];
      size_t n = strlen(k->name);
      if (strncmp(s, "void ", 5) == 0 && strncmp(s + 5, k->name, n) == 0 && s[5 + n] == '(')
        loc = k->loc;
    }
  return loc;
}

/* The place that a line of a log names, "file:line:", by the user's lines. */
static TdLoc place_of(const TdNpuMade *m, const char *s, size_t n) {
  static const char *const file[] = {TD_NPU_TEXT ":", TD_NPU_KERNELS ":"};
  const char *text = td_arena_strndup(m->build->arena, s, n);
  for (int i = 0; i < 2; i++) {
    const char *at = strstr(text, file[i]);
    uint32_t line = at ? (uint32_t)strtoul(at + strlen(file[i]), NULL, 10) : 0;
    if (line) return i ? kernel_place(m, line) : design_place(m, line);
  }
  return (TdLoc){0};
}

/* The first lines of a log that tell of errors: notes, the first place of which is the error's. */
static void note_errors(const TdNpuMade *m, const char *log) {
  TdDiag *d = m->build->diag;
  int n = 0;
  for (const char *s = log ? log : ""; *s && n < NOTES; s += strcspn(s, "\n"), s += *s == '\n') {
    size_t len = strcspn(s, "\n");
    const char *line = td_arena_strndup(m->build->arena, s, len);
    if (!strstr(line, "error") && !strstr(line, "ERROR")) continue;
    TdLoc loc = place_of(m, s, len);
    if (loc.line && !d->loc.line) d->loc = loc;
    td_diag_note(d, loc, "%.*s", len < 200 ? (int)len : 200, s);
    n++;
  }
}

/* ---- runs ---- */

static bool run(const TdNpuMade *m, const struct Tool *t, const char *folder, int seconds) {
  TdArena *a = m->build->arena;
  TdDiag *d = m->build->diag;
  const char *const word[] = {"make", "-C", folder, t->goal, NULL};
  const char *log = td_text_fmt(a, "%s/%s.log", folder, t->name);
  int status;
  switch (td_child_run(td_arena_ctx(a), word, log, seconds, &status)) {
  case TD_CHILD_DONE: return true;
  case TD_CHILD_LATE:
    return td_diag_set(d, TD_LIMIT, "tool-time", (TdLoc){0},
                       "%s did not end within %d s; its log is %s", t->name, seconds, log);
  case TD_CHILD_STOPPED: return td_diag_set(d, TD_LIMIT, "interrupted", (TdLoc){0}, "interrupted");
  default: break;
  }
  td_diag_set(d, TD_ILLEGAL, "tool-failed", (TdLoc){0}, "%s failed (status %d); its log is %s",
              t->name, status, log);
  note_errors(m, td_cache_read_file(a, log));
  return false;
}

bool td_npu_run_tools(const TdNpuMade *m, const char *folder, int seconds, const char **said) {
  TdArena *a = m->build->arena;
  *said = NULL;
  for (int i = 0; i < TOOLS && td_child_find(a, tools[i].name); i++) {
    if (!run(m, &tools[i], folder, seconds)) return false;
    *said = *said ? td_text_fmt(a, "%s; %s", *said, tools[i].said) : tools[i].said;
  }
  if (!*said)
    *said = td_text_fmt(a,
                        "no tool of the vendor ran: aiecc.py is not on PATH; `make -C %s run` "
                        "calls them all",
                        folder);
  return true;
}
