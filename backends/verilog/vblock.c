/* vblock.c - block streams of a design. A scope has a FIFO of the numbers of full buffers, a pool
 * of those of free ones, and the banks of a memory of as many buffers as the stream is deep, with
 * ports for the task at either end. */
#include <inttypes.h>

#include "backends/verilog/vdesign.h"

static int bits_below(int64_t n) {
  int w = 1;
  while (w < 62 && (n - 1) >> w) w++;
  return w;
}

bool td_vblock_shape(TdVdDesign *d, TdVdStream *w) {
  const TdAttr *latency = td_attrs_get(w->stream->attrs, TD_ATTR_LATENCY);
  if (w->outside) return td_vdesign_refuse(d, w->stream->loc, "streams of blocks of the top");
  w->beats = 1;
  w->width = bits_below(w->depth);
  w->latency = latency && latency->arg[0].i > 1 ? latency->arg[0].i : 1;
  return true;
}

/* The banks of one stream of those that an end has side by side. */
static int64_t banks_of(const TdVlogArray *x, int64_t count) {
  return x->nbank / count;
}

/* Whether two ends see the same words in the same banks. */
static bool is_alike(const TdVlogArray *x, const TdVlogArray *y) {
  bool same = x->rank == y->rank && x->latency == y->latency && x->depth == y->depth;
  for (int r = 1; r < x->rank && same; r++)
    same = x->extent[r] == y->extent[r] && x->banks[r] == y->banks[r] &&
           (x->banks[r] == 1 || x->block[r] == y->block[r]);
  return same;
}

/* What one end of a module asks the memories of its streams for. */
static bool note_end(TdVdDesign *d, TdVdStream *w, const TdVlogPort *p) {
  const TdVlogArray *x = p->memory;
  if (!x) return true;
  if (!w->memory) {
    TdVlogArray *one = td_arena_copy(d->arena, x, sizeof *x);
    one->nbank = banks_of(x, p->count);
    w->memory = one;
  }
  if (!is_alike(w->memory, x)) {
    td_vdesign_refuse(d, w->stream->loc, "block streams whose ends have other banks");
    td_diag_help(d->diag, "the same partition of what is got and of the slot");
    return false;
  }
  for (int64_t b = 0; b < x->nbank; b++) {
    size_t *most = w->ports[p->put];
    if (x->reads[b] > most[0]) most[0] = x->reads[b];
    if (x->writes[b] > most[1]) most[1] = x->writes[b];
  }
  return true;
}

size_t td_vblock_back(const TdVlogModule *m, const TdVlogPort *p) {
  size_t n = 0;
  for (const TdVlogPort *x = m->port; x < p; x++) n += x->sym == p->sym && x->put && x->spare;
  return n;
}

bool td_vblock_note(TdVdDesign *d, const TdNetClass *c, const TdVlogModule *m) {
  for (size_t i = 0; i < m->nport; i++) {
    const TdVlogPort *p = &m->port[i];
    if (!p->block) continue;
    TdVdStream *w = td_vstream_of(d, c->arg.at[td_vdesign_param(c, p->sym)].sym);
    size_t back = td_vblock_back(m, p) + 1;
    if (p->put && p->spare && back > w->backs) w->backs = back;
    if (!note_end(d, w, p)) return false;
  }
  return true;
}

/* A pin of a port of a bank, beside who gets or puts. */
typedef struct Pin {
  const char *what;
  int bits;
  bool in; /* of the task */
} Pin;
enum { PINS = 3 };

static const Pin *pins_of(TdVdDesign *d, const TdVlogArray *x, bool write) {
  int a = bits_below(x->depth), w = x->width;
  const Pin reads[PINS] = {{"re", 1, false}, {"raddr", a, false}, {"q", w, true}};
  const Pin writes[PINS] = {{"we", 1, false}, {"waddr", a, false}, {"d", w, false}};
  return td_arena_copy(d->arena, write ? writes : reads, sizeof reads);
}

/* "put0_we1": of bank b beside who puts. */
static const char *wire_of(TdVdDesign *d, bool put, int64_t b, const char *what, size_t i) {
  return td_vunit_pin(d->arena, td_text_fmt(d->arena, "%s%" PRId64, put ? "put" : "get", b), what,
                      i);
}

/* The wires of a bank, as a list from the highest port down. */
static const char *list_of(TdVdDesign *d, const TdVdStream *w, int64_t b, const char *what,
                           bool write) {
  TdText t = td_text_new(d->arena);
  const char *between = "{";
  for (int end = 1; end >= 0; end--)
    for (size_t i = w->ports[end][write]; i-- > 0; between = ", ")
      td_text_putf(&t, "%s%s", between, wire_of(d, end == 1, b, what, i));
  td_text_putc(&t, '}');
  return td_text_str(&t);
}

/* Declares the wires of both ends of a bank; what no memory reads is gathered. */
static void put_wires(TdVdDesign *d, const TdVdStream *w, int64_t b) {
  bool used = w->ports[0][0] + w->ports[1][0] > 0;
  for (int end = 0; end < 2; end++)
    for (int write = 0; write < 2; write++)
      for (size_t i = 0; i < w->ports[end][write]; i++)
        for (int k = write || w->memory->latency ? 0 : 1; k < PINS; k++) {
          const Pin *p = &pins_of(d, w->memory, write)[k];
          const char *name = wire_of(d, end == 1, b, p->what, i);
          td_text_line(&d->out, "  wire [%d:0] %s;", p->bits - 1, name);
          if (!used) td_text_line(&d->out, "  wire unused_%s = &{1'b0, %s};", name, name);
        }
}

/* A bank of the memory. */
static void put_bank(TdVdDesign *d, const TdVdStream *w, int64_t b) {
  const TdVlogArray *x = w->memory;
  size_t reads = w->ports[0][0] + w->ports[1][0], writes = w->ports[0][1] + w->ports[1][1];
  TdText *o = &d->out;
  put_wires(d, w, b);
  if (!reads) return;
  td_text_line(o, "  %s #(.W(%d), .D(%" PRId64 "), .A(%d), .R(%zu), .N(%zu)) bank%" PRId64 " (",
               x->latency ? "tide_ram" : "tide_regs", x->width, x->depth, bits_below(x->depth),
               reads, writes ? writes : 1, b);
  td_text_line(o, "      .clk(clk),%s%s%s .raddr(%s),", x->latency ? " .re(" : "",
               x->latency ? list_of(d, w, b, "re", false) : "", x->latency ? ")," : "",
               list_of(d, w, b, "raddr", false));
  if (writes)
    td_text_line(o, "      .we(%s), .waddr(%s), .d(%s),", list_of(d, w, b, "we", true),
                 list_of(d, w, b, "waddr", true), list_of(d, w, b, "d", true));
  else
    td_text_line(o, "      .we(1'b0), .waddr(%d'd0), .d(%d'd0),", bits_below(x->depth), x->width);
  if (!x->latency) td_text_line(o, "      .fill(1'b0), .filler(%d'd0),", x->width);
  td_text_line(o, "      .q(%s));", list_of(d, w, b, "q", false));
}

void td_vblock_put(TdVdDesign *d, const TdVdStream *w) {
  TdText *o = &d->out, back = td_text_new(d->arena), given = td_text_new(d->arena);
  td_text_line(o, "  wire claim, free;");
  td_text_line(o, "  wire [%d:0] spare;", w->width - 1);
  for (size_t i = w->backs; i-- > 0;) {
    td_text_line(o, "  wire back%zu;", i);
    td_text_line(o, "  wire [%d:0] given%zu;", w->width - 1, i);
    td_text_putf(&back, "back%zu%s", i, i ? ", " : "");
    td_text_putf(&given, "given%zu%s", i, i ? ", " : "");
  }
  td_text_line(o, "  tide_pool #(.W(%d), .D(%" PRId64 "), .G(%zu)) pool (", w->width, w->depth,
               w->backs ? w->backs : 1);
  if (w->backs)
    td_text_line(o, "      .clk(clk), .rst(rst), .back({%s}), .given({%s}),", td_text_str(&back),
                 td_text_str(&given));
  else
    td_text_line(o, "      .clk(clk), .rst(rst), .back(1'b0), .given(%d'd0),", w->width);
  td_text_line(o, "      .free(free), .claim(claim), .spare(spare));");
  for (int64_t b = 0; w->memory && b < w->memory->nbank; b++) put_bank(d, w, b);
}

/* Ties what an end drives of port i of bank b, and gathers what it is given. */
static void tie_port(TdVdDesign *d, const TdVdStream *w, const char *at, bool put, bool write,
                     int64_t b, size_t i, TdText *t) {
  for (int k = write || w->memory->latency ? 0 : 1; k < PINS; k++) {
    const Pin *p = &pins_of(d, w->memory, write)[k];
    const char *name = wire_of(d, put, b, p->what, i);
    if (p->in)
      td_text_putf(t, "  wire unused_%s_%s = &{1'b0, %s[%s].%s};\n", w->name, name, w->name, at,
                   name);
    else
      td_text_putf(t, "  assign %s[%s].%s = %d'd0;\n", w->name, at, name, p->bits);
  }
}

static void tie_back(const TdVdStream *w, const char *at, size_t i, TdText *t) {
  td_text_putf(t, "  assign %s[%s].back%zu = 1'b0, %s[%s].given%zu = %d'd0;\n", w->name, at, i,
               w->name, at, i, w->width);
}

void td_vblock_connect(TdVdDesign *d, const TdVdStream *w, const TdVlogModule *m,
                       const TdVlogPort *p, int64_t member, const char *at, TdText *before,
                       TdText *pins) {
  const TdVlogArray *x = p->memory;
  size_t own = 0;
  for (size_t i = 0; i < m->nport; i++)
    own += m->port[i].sym == p->sym && m->port[i].put && m->port[i].spare;
  for (size_t i = own; i < w->backs && !p->put; i++) tie_back(w, at, i, before);
  for (int64_t b = 0; w->memory && b < w->memory->nbank; b++)
    for (int write = 0; write < 2; write++) {
      int64_t bank = member * w->memory->nbank + b;
      size_t n = !x ? 0 : write ? x->writes[bank] : x->reads[bank];
      for (size_t i = n; i < w->ports[p->put][write]; i++)
        tie_port(d, w, at, p->put, write, b, i, before);
      for (size_t i = 0; i < n; i++)
        for (int k = write || x->latency ? 0 : 1; k < PINS; k++) {
          const char *what = pins_of(d, x, write)[k].what;
          td_text_putf(pins, ",\n      .%s(%s[%s].%s)",
                       td_vunit_pin(d->arena, td_vunit_bank(d->arena, x, bank), what, i), w->name,
                       at, wire_of(d, p->put, b, what, i));
        }
    }
}

void td_vblock_tie(TdVdDesign *d, const TdVdStream *w, int end, const char *label) {
  const char *at = td_text_fmt(d->arena, "%s_i", label);
  TdText t = td_text_new(d->arena);
  for (size_t i = 0; i < w->backs && !end; i++) tie_back(w, at, i, &t);
  if (end)
    td_text_putf(&t,
                 "  assign %s[%s].claim = 1'b0;\n"
                 "  wire unused_free = &{1'b0, %s[%s].free, %s[%s].spare};\n",
                 w->name, at, w->name, at, w->name, at);
  for (int64_t b = 0; w->memory && b < w->memory->nbank; b++)
    for (int write = 0; write < 2; write++)
      for (size_t i = 0; i < w->ports[end][write]; i++)
        tie_port(d, w, at, end == 1, write, b, i, &t);
  td_text_puts(&d->out, td_text_str(&t));
}
