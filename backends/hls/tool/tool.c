/* tool.c - the vendor's tool, where it is on PATH: run in the folder of a build, for a limited
 * time; its errors and its report. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/host/cache.h"
#include "backends/host/child.h"
#include "backends/hls/option.h"

/* How each program is called, and where it leaves its report. */
static const struct Tool {
  const char *name, *command, *report;
} tools[] = {{"vitis_hls", "vitis_hls -f run.tcl", "hls/solution/syn/report/csynth.xml"},
             {"v++", "v++ --compile --mode hls --config hls_config.cfg --work_dir hls",
              "hls/hls/syn/report/csynth.xml"}};
enum { TOOLS = sizeof tools / sizeof *tools };

/* The first lines of the log that tell of errors, as notes. */
static void note_errors(TdDiag *d, const char *log) {
  int n = 0;
  for (const char *s = log ? log : ""; (s = strstr(s, "ERROR")) && n < 5; n++) {
    size_t len = strcspn(s, "\n");
    td_diag_note(d, (TdLoc){0}, "%.*s", len < 200 ? (int)len : 200, s);
    s += len;
  }
}

/* Runs the tool in the folder; false with the diagnostic filled unless it succeeds. */
static bool run(const TdBuild *b, const struct Tool *t, const char *folder) {
  TdArena *a = b->arena;
  const char *script = td_text_fmt(a, "cd \"$1\" && exec %s", t->command);
  const char *const word[] = {"sh", "-c", script, "sh", folder, NULL};
  const char *log = td_text_fmt(a, "%s/vitis.log", folder);
  int status, seconds = (int)strtol(td_hls_option(b, TD_HLS_SECONDS), NULL, 10);
  switch (td_child_run(td_arena_ctx(a), word, log, seconds, &status)) {
  case TD_CHILD_DONE: return true;
  case TD_CHILD_LATE:
    return td_diag_set(b->diag, TD_LIMIT, "tool-time", (TdLoc){0},
                       "%s did not end within %d s; its log is %s", t->name, seconds, log);
  case TD_CHILD_STOPPED:
    return td_diag_set(b->diag, TD_LIMIT, "interrupted", (TdLoc){0}, "interrupted");
  default: break;
  }
  td_diag_set(b->diag, TD_ILLEGAL, "tool-failed", (TdLoc){0},
              "%s failed (status %d); its log is %s", t->name, status, log);
  note_errors(b->diag, td_cache_read_file(a, log));
  return false;
}

/* The lines of tool t's report in the folder, or NULL. */
static const char *report_in(TdArena *a, const struct Tool *t, const char *folder) {
  const char *xml = td_cache_read_file(a, td_text_fmt(a, "%s/%s", folder, t->report));
  const char *source = td_cache_read_file(a, td_text_fmt(a, "%s/kernel.cpp", folder));
  return xml ? td_hls_report_of(a, xml, source ? source : "") : NULL;
}

const char *td_hls_tool_report(TdArena *a, const char *folder) {
  const char *lines = NULL;
  for (int i = 0; i < TOOLS && !lines; i++) lines = report_in(a, &tools[i], folder);
  return lines;
}

bool td_hls_tool_run(const TdBuild *b, const char *folder, const char **said, const char **report) {
  TdArena *a = b->arena;
  const struct Tool *t = NULL;
  bool wanted = strcmp(td_hls_option(b, TD_HLS_TOOL), "true") == 0;
  for (int i = TOOLS; i-- > 0 && wanted;)
    if (td_child_find(a, tools[i].name)) t = &tools[i];
  *report = NULL;
  if (!t) {
    *said = td_text_fmt(a, "%sto synthesise, run `%s` in %s",
                        wanted ? "vitis_hls is not on PATH: " : "", tools[0].command, folder);
    return true;
  }
  unlink(td_text_fmt(a, "%s/%s", folder, t->report));
  if (!run(b, t, folder)) return false;
  *report = report_in(a, t, folder);
  *said = td_text_fmt(a, "%s ran in %s%s", t->name, folder,
                      *report ? "" : ", and left no report of a synthesis");
  return true;
}
