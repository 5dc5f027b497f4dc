/* ask.c - questions to tools: the folder, the commands. */
#include "backends/verilog/tool/ask.h"

#include <stdlib.h>
#include <string.h>

/* What was said, without its last line's end. */
static const char *text_of(TdArena *a, const TdText *t) {
  size_t n = t->n;
  while (n && t->at[n - 1] == '\n') n--;
  return td_arena_strndup(a, t->n ? t->at : "", n);
}

/* The folder and the files in it. */
static bool open_folder(TdVlogAsk *k) {
  k->text = td_verilog_text(k->build, k->diag);
  if (!k->text || !td_cache_open(&k->cache, k->arena, k->diag)) return false;
  k->folder = td_cache_aside(&k->cache);
  if (!k->folder) return false;
  for (size_t i = 0; i < k->text->nfile; i++)
    if (!td_ask_write(k, k->text->file[i].name, k->text->file[i].text)) return false;
  return true;
}

bool td_ask(const TdQuestion *q, const TdBuild *b, const char *const *value, TdAnswer *answer,
            bool (*fn)(TdVlogAsk *k)) {
  TdArena *scratch = td_arena_scratch(td_arena_ctx(b->arena));
  TdVlogAsk k = {.build = b, .question = q, .value = value, .arena = scratch, .diag = b->diag};
  k.seconds = (int)strtol(td_verilog_option(b, TD_VERILOG_SECONDS), NULL, 10);
  k.lines = td_text_new(b->arena);
  k.out = td_text_new(b->arena);
  bool ok = open_folder(&k) && fn(&k);
  if (ok) *answer = (TdAnswer){td_text_str(&k.lines), text_of(b->arena, &k.out)};
  td_arena_free(scratch);
  return ok;
}

const char *td_ask_option(const TdVlogAsk *k, size_t i) {
  const char *said = k->value[i] ? k->value[i] : k->question->option[i].initial;
  return td_arena_strndup(k->arena, said, strcspn(said, "|"));
}

static const char *path(TdVlogAsk *k, const char *name) {
  return td_text_fmt(k->arena, "%s/%s", k->folder, name);
}

bool td_ask_write(TdVlogAsk *k, const char *name, const char *text) {
  const char *file = path(k, name);
  return td_cache_write_file(file, text) || td_cache_fail(&k->cache, "cannot write", file);
}

const char *td_ask_read(TdVlogAsk *k, const char *name) {
  const char *text = td_cache_read_file(k->arena, path(k, name));
  return text ? text : "";
}

const char *td_ask_files(TdVlogAsk *k) {
  TdText t = td_text_new(k->arena);
  for (size_t i = 0; i < k->text->nfile; i++) td_text_putf(&t, " %s", k->text->file[i].name);
  return td_text_str(&t);
}

TdChildEnd td_ask_run(TdVlogAsk *k, const char *command, const char *log) {
  int status;
  const char *tool = td_arena_strndup(k->arena, command, strcspn(command, " "));
  if (!td_child_find(k->arena, tool)) return TD_CHILD_ABSENT;
  const char *line = td_text_fmt(k->arena, "cd \"$0\" && exec %s", command);
  const char *word[] = {"sh", "-c", line, k->folder, NULL};
  return td_child_run(td_arena_ctx(k->arena), word, path(k, log), k->seconds, &status);
}

bool td_ask_need(TdVlogAsk *k, const char *command, const char *log) {
  TdChildEnd end = td_ask_run(k, command, log);
  const char *tool = td_arena_strndup(k->arena, command, strcspn(command, " "));
  if (end == TD_CHILD_DONE) return true;
  if (end == TD_CHILD_ABSENT) {
    td_diag_set(k->diag, TD_UNSUPPORTED, "no-tool", (TdLoc){0}, "%s is not on PATH", tool);
    td_diag_help(k->diag, "m:write(dir) writes the files; there run: %s", command);
    return false;
  }
  if (end == TD_CHILD_LATE)
    return td_diag_set(k->diag, TD_LIMIT, "verilog-time", (TdLoc){0},
                       "%s did not end in %d s; 'seconds' of the build says how long it may take",
                       tool, k->seconds);
  if (end == TD_CHILD_STOPPED)
    return td_diag_set(k->diag, TD_LIMIT, "interrupted", (TdLoc){0}, "interrupted");
  const char *said = td_ask_read(k, log), *error = strstr(said, "ERROR");
  return td_diag_set(k->diag, TD_BUG, "verilog-tool", (TdLoc){0}, "%s: %.300s", tool,
                     error ? error : said);
}
