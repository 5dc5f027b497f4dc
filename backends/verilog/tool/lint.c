/* lint.c - m:lint(): what Verilator, yosys and Icarus find in a text, without waivers. */
#include <string.h>

#include "backends/verilog/tool/ask.h"

/* A tool: its command up to the top module's name, and from there to the files. */
typedef struct Linter {
  const char *name, *before, *after;
} Linter;

static const Linter linters[] = {
    {"verilator", "verilator --lint-only -Wall --top-module ", ""},
    {"yosys", "yosys -q -f 'verilog -sv' -p 'hierarchy -check -top ", "; proc; check -assert'"},
    {"icarus", "iverilog -g2012 -Wall -Wno-timescale -t null -s ", ""},
};
enum { LINTERS = sizeof linters / sizeof *linters };

/* Lines that are no findings: yosys tells how it reads an array that is less than a memory. */
static bool is_finding(const char *line, size_t n) {
  static const char note[] = "Warning: Replacing memory ";
  return n && !(n >= sizeof note - 1 && memcmp(line, note, sizeof note - 1) == 0);
}

/* Adds the lines of findings in what a tool said, to the answer and to `out`; how many. */
static size_t put_findings(TdVlogAsk *k, const Linter *x, const char *said, TdText *out) {
  size_t count = 0;
  for (const char *s = said; *s;) {
    size_t n = strcspn(s, "\n");
    if (is_finding(s, n)) {
      td_text_putf(&k->lines, "findings.%s.%zu %.*s\n", x->name, ++count, (int)n, s);
      td_text_putf(out, "  %.*s\n", (int)n, s);
    }
    s += n + (s[n] == '\n');
  }
  return count;
}

/* Asks one tool; whether it found nothing. */
static bool lint(TdVlogAsk *k, const Linter *x) {
  const char *command =
      td_text_fmt(k->arena, "%s%s%s%s", x->before, k->text->top->name, x->after, td_ask_files(k));
  TdChildEnd end = td_ask_run(k, command, x->name);
  if (end == TD_CHILD_ABSENT) {
    td_text_putf(&k->lines, "%s absent\n", x->name);
    td_text_putf(&k->out, "%-10s not on PATH; after m:write(dir) run there: %s\n", x->name,
                 command);
    return false;
  }
  TdText found = td_text_new(k->arena);
  size_t n = put_findings(k, x, td_ask_read(k, x->name), &found);
  const char *word = end == TD_CHILD_LATE ? "late"
                     : n                  ? "warns"
                                          : (end == TD_CHILD_DONE ? "clean" : "fails");
  td_text_putf(&k->lines, "%s %s\n", x->name, word);
  td_text_putf(&k->out, "%-10s %s\n%s", x->name, word, td_text_str(&found));
  return end == TD_CHILD_DONE && n == 0;
}

static bool lint_all(TdVlogAsk *k) {
  size_t clean = 0;
  for (size_t i = 0; i < LINTERS; i++) clean += lint(k, &linters[i]);
  td_text_putf(&k->lines, "clean %s\n", clean == LINTERS ? "true" : "false");
  return true;
}

static bool ask(const TdQuestion *q, const TdBuild *b, const char *const *value, TdAnswer *answer) {
  return td_ask(q, b, value, answer, lint_all);
}

const TdQuestion td_verilog_lint = {
    .name = "lint",
    .ask = ask,
};
