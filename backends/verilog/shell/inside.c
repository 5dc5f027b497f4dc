/* inside.c - memories of states inside the top: after each reset a memory writes what the state
 * holds before the first call, a word a cycle, while the top is busy. */
#include <inttypes.h>

#include "backends/verilog/shell/shell.h"

static int bits_below(int64_t n) {
  int w = 1;
  while (w < 62 && (n - 1) >> w) w++;
  return w;
}

/* Moves an index on in an array; false at the end. */
static bool next_index(const TdVlogArray *x, int64_t *index) {
  for (int d = x->rank; d-- > 0; index[d] = 0)
    if (++index[d] < x->extent[d]) return true;
  return false;
}

/* The words of each bank before the first call; those that no element has are 0. */
static uint64_t **words_of(TdArena *a, const TdVlogArray *x) {
  uint64_t **w = TD_NEWN(a, uint64_t *, x->nbank);
  for (int64_t b = 0; b < x->nbank; b++) w[b] = TD_NEWN(a, uint64_t, x->depth);
  const TdType *e = td_type_scalar(x->state->type);
  uint64_t mask = x->width >= 64 ? UINT64_MAX : (UINT64_C(1) << x->width) - 1;
  int64_t index[TD_MAX_RANK] = {0}, b, place;
  const char *from = x->state->data;
  do {
    td_verilog_locate(x, index, &b, &place);
    w[b][place] = td_num_word(e, td_num_load(e, from)) & mask;
    from += td_type_bytes(e);
  } while (next_index(x, index));
  return w;
}

/* "S_at[3].state.mem". */
static const char *memory(TdArena *a, const char *bank, int64_t copy) {
  return td_text_fmt(a, "%s_at[%" PRId64 "].state.mem", bank, copy);
}

void td_inside_peek(TdArena *a, const TdVlogArray *x, int64_t b, bool load, TdText *out) {
  const char *n = td_vunit_bank(a, x, b);
  for (int64_t c = 0; c < x->copies; c++) {
    const char *inside = td_text_fmt(a, "dut.%s[k]", memory(a, n, c));
    const char *own = td_text_fmt(a, "%s_mem[%" PRId64 " + k]", n, c * x->depth);
    td_text_putf(out, "      for (k = 0; k < %" PRId64 "; k = k + 1) %s = %s;\n", x->depth,
                 load ? inside : own, load ? own : inside);
  }
}

/* The words of a bank as a parameter: one where all are equal, else each, the last one first. */
static const char *words_text(TdArena *a, const TdVlogArray *x, const uint64_t *word) {
  int64_t n = x->depth;
  while (n > 1 && word[n - 1] == word[0]) n--;
  n = n == 1 ? 1 : x->depth;
  TdText t = td_text_new(a);
  td_text_putf(&t, ".I(%" PRId64 "), .WORDS({", n);
  for (int64_t i = n; i-- > 0;)
    td_text_putf(&t, "%d'h%" PRIx64 "%s", x->width, word[i], i ? ", " : "");
  td_text_puts(&t, "})");
  return td_text_str(&t);
}

/* The ports of a bank as one word of copy G, from the highest port down. */
static const char *ports(TdArena *a, const char *n, const char *what, size_t count, int64_t bits) {
  TdText t = td_text_new(a);
  if (!count) return td_text_fmt(a, "{%" PRId64 "{1'b0}}", bits);
  for (size_t i = count; i-- > 0;)
    td_text_putf(&t, "%s%s[G*%" PRId64 " +: %" PRId64 "]", t.n ? ", " : "{",
                 td_vunit_pin(a, n, what, i), bits, bits);
  td_text_puts(&t, "}");
  return td_text_str(&t);
}

/* A wire for each pin of ports of the core. */
static void put_wires(const TdVlogArray *x, int64_t b, TdText *o, TdText *connect) {
  TdArena *a = o->arena;
  const char *n = td_vunit_bank(a, x, b);
  const struct {
    const char *word;
    int64_t bits;
    size_t count;
  } way[] = {{"re", 1, x->latency ? x->reads[b] : 0},
             {"raddr", bits_below(x->depth), x->reads[b]},
             {"q", x->width, x->reads[b]},
             {"we", 1, x->writes[b]},
             {"waddr", bits_below(x->depth), x->writes[b]},
             {"d", x->width, x->writes[b]}};
  for (size_t k = 0; k < sizeof way / sizeof *way; k++)
    for (size_t i = 0; i < way[k].count; i++) {
      const char *pin = td_vunit_pin(a, n, way[k].word, i);
      td_text_line(o, "wire [%" PRId64 ":0] %s;", x->copies * way[k].bits - 1, pin);
      td_text_putf(connect, ",\n    .%s(%s)", pin, pin);
    }
}

void td_inside_put(const TdVlogArray *x, TdText *o, TdText *connect, TdText *fills) {
  TdArena *a = o->arena;
  uint64_t **word = words_of(a, x);
  int aw = bits_below(x->depth), w = x->width;
  for (int64_t b = 0; b < x->nbank; b++) {
    const char *n = td_vunit_bank(a, x, b);
    size_t r = x->reads[b], k = x->writes[b];
    put_wires(x, b, o, connect);
    td_text_line(o, "wire [%" PRId64 ":0] %s_fills;", x->copies - 1, n);
    td_text_putf(fills, " || (|%s_fills)", n);
    td_shell_loop(o, x->copies, n, "at");
    td_text_line(o, "  wire [%d:0] q;", (int)(r ? r : 1) * w - 1);
    for (size_t i = 0; i < r; i++)
      td_text_line(o, "  assign %s[G*%d +: %d] = q[%d +: %d];", td_vunit_pin(a, n, "q", i), w, w,
                   (int)i * w, w);
    td_text_line(o, "  tide_state #(.W(%d), .D(%" PRId64 "), .A(%d), .R(%zu), .N(%zu), .L(%d),", w,
                 x->depth, aw, r ? r : 1, k ? k : 1, x->latency);
    td_text_line(o, "      %s) state (.clk(clk), .rst(rst),", words_text(a, x, word[b]));
    td_text_line(o, "      .re(%s),",
                 x->latency ? ports(a, n, "re", r, 1) : td_text_fmt(a, "{%zu{1'b1}}", r ? r : 1));
    td_text_line(o, "      .raddr(%s), .q(q),", ports(a, n, "raddr", r, aw));
    td_text_line(o, "      .we(%s), .waddr(%s),", ports(a, n, "we", k, 1),
                 ports(a, n, "waddr", k, aw));
    td_text_line(o, "      .d(%s), .fills(%s_fills[G]));", ports(a, n, "d", k, w), n);
    if (!r) td_text_line(o, "  wire unused_ok = &{1'b0, q};");
    td_text_line(o, "end endgenerate");
  }
}
