/* npu_text_test.c - texts as machines: the one of a build is read; those that differ from it in one
 * word, and say something else than a machine does, are refused with their operation. */
#include <stdio.h>
#include <string.h>

#include "backends/npu/machine.h"
#include "tap.h"

static TdCtx *ctx;

static const char *text_of(TdArena *a, const char *path) {
  TdText t = td_text_new(a);
  FILE *f = fopen(path, "rb");
  for (int c; f && (c = fgetc(f)) != EOF;) td_text_putc(&t, (char)c);
  if (f) fclose(f);
  return td_text_str(&t);
}

/* The text with the first `from` as `to`. */
static const char *changed(TdArena *a, const char *text, const char *from, const char *to) {
  const char *at = strstr(text, from);
  if (!at) return NULL;
  TdText t = td_text_new(a);
  td_text_putn(&t, text, (size_t)(at - text));
  td_text_putf(&t, "%s%s", to, at + strlen(from));
  return td_text_str(&t);
}

/* Whether a text is read as MLIR and as a machine; *d says why not. */
static bool is_machine(TdArena *a, const char *text, TdDiag *d) {
  *d = (TdDiag){.arena = a};
  const TdMlir *m = td_mlir_read(a, 0, text, strlen(text), d);
  const TdMlirBlock *top = m ? td_mlir_body(m->module) : NULL;
  return top && top->op.n && td_npu_machine_new(a, top->op.at[0], d);
}

int main(void) {
  static const char *const words[][3] = {
      {"\"aie.device\"", "\"aie.devices\"", "is no device"},
      {"\"aie.objectfifo\"", "\"aie.objectqueue\"", "is not known here"},
      {"col = 0", "col = -1", "has no place"},
      {"sym_name = \"Y\"", "sym_name = \"Z\"", "two objectFIFOs have one name"},
      {"\"aie.runtime_sequence\"", "\"func.func\"", "has no runtime sequence"}};
  ctx = td_ctx_new();
  TdArena *a = td_arena_new(ctx);
  const char *good = text_of(a, "tests/npu/line.mlir");
  TdDiag d;
  ok(is_machine(a, good, &d), "the text of a build");
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    const char *bad = changed(a, good, words[i][0], words[i][1]);
    bool refused = bad && !is_machine(a, bad, &d) && d.code && strcmp(d.code, "npu-text") == 0;
    ok(refused && strstr(d.message, words[i][2]), words[i][2]);
  }
  td_arena_free(a);
  td_ctx_free(ctx);
  return done_testing();
}
