/* bench.c - the test bench: a main that reads arguments from files, calls the top function, and
 * compares or keeps what it wrote. */
#include <string.h>

#include "backends/hls/option.h"

const char *td_hls_bench_apart(TdArena *a, const TdHlsText *t, const char *name) {
  for (size_t i = 0; i < t->nparam; i++)
    if (strcmp(t->param[i].name, name) == 0)
      return td_hls_bench_apart(a, t, td_text_fmt(a, "%s_", name));
  return name;
}

/* C++ has no empty arrays, and one element stands for none. */
bool td_hls_bench_is_there(const TdHlsParam *p) {
  int64_t n = 1;
  return !td_type_count(p->type, &n) || n > 0;
}

/* Keeps what was written, for whoever started the program. */
static void put_keep(TdText *out, const TdHlsText *t, const char *data) {
  for (size_t i = 0; i < t->nparam; i++)
    if (t->param[i].written && td_hls_bench_is_there(&t->param[i]))
      td_text_line(out, "%s.write(\"%s.got\", %s);", data, t->param[i].name, t->param[i].name);
  for (size_t i = 0; i < t->nstate; i++)
    td_text_line(out, "%s.write(\"%s.state\", %s);", data, t->state[i].name, t->state[i].text);
  td_text_line(out, "return 0;");
}

/* Compares what was written. */
static void put_compare(TdText *out, const TdHlsText *t, const char *data, const char *wrong) {
  td_text_line(out, "long %s = 0;", wrong);
  for (size_t i = 0; i < t->nparam; i++)
    if (t->param[i].written && td_hls_bench_is_there(&t->param[i]))
      td_text_line(out, "%s += %s.compare(\"%s.want\", %s);", wrong, data, t->param[i].name,
                   t->param[i].name);
  td_text_line(out, "return %s != 0;", wrong);
}

void td_hls_bench_put(TdText *out, const TdHlsText *t, bool again) {
  TdArena *a = out->arena;
  const char *data = td_hls_bench_apart(a, t, "data"), *argc = td_hls_bench_apart(a, t, "argc"),
             *argv = td_hls_bench_apart(a, t, "argv");
  td_text_line(out, "int main(int %s, char **%s) {", argc, argv);
  out->indent++;
  td_text_line(out, "tide::Data %s(%s > 1 ? %s[1] : \"data\");", data, argc, argv);
  for (size_t i = 0; i < t->nparam; i++) {
    td_text_line(out, "static %s;", t->param[i].text);
    if (td_hls_bench_is_there(&t->param[i]))
      td_text_line(out, "%s.read(\"%s\", %s);", data, t->param[i].name, t->param[i].name);
  }
  for (size_t i = 0; again && i < t->nstate; i++)
    td_text_line(out, "%s.read_if_there(\"%s.state\", %s);", data, t->state[i].name,
                 t->state[i].text);
  td_text_putf(out, "  %s(", t->top);
  for (size_t i = 0; i < t->nparam; i++) td_text_putf(out, "%s%s", i ? ", " : "", t->param[i].name);
  td_text_puts(out, ");\n");
  if (again)
    put_keep(out, t, data);
  else
    put_compare(out, t, data, td_hls_bench_apart(a, t, "wrong"));
  out->indent--;
  td_text_line(out, "}");
}
