/* vstream.c - the streams of a design: a scope with its wires and its FIFO for each, which the ends
 * of instances are connected to by its number; rows of them through vectors. */
#include <inttypes.h>
#include <string.h>

#include "backends/verilog/vdesign.h"
#include "backends/verilog/vname.h"

/* The number of a stream in its box. */
static int64_t number_of(const TdVdStream *w, const int64_t *at) {
  int64_t n = 0;
  for (int d = 0; d < w->rank; d++) n = n * w->n[d] + at[d] - w->lo[d];
  return n;
}

/* The streams that argument k of a class is given. */
static int64_t count_of(const TdVdDesign *d, const TdNetArg *x, const TdStream *s) {
  int64_t n = 1, extent;
  if (x->listed) return x->listed;
  for (int r = 0; r < s->type->rank; r++)
    if (!(x->fixed >> r & 1) && td_unit_value(d->net->design, s->type->dim[r], &extent))
      n *= extent;
  return n;
}

/* The indices of stream number m of those that instance i is given. */
static void indices_of(const TdVdDesign *d, const TdNetArg *x, const TdStream *s, uint32_t i,
                       int64_t m, int64_t *at) {
  size_t rank = (size_t)s->type->rank;
  const int64_t *known =
      x->listed ? x->at + ((size_t)i * x->listed + (size_t)m) * rank : x->at + (size_t)i * rank;
  for (size_t r = rank; r-- > 0;) {
    int64_t extent = 1;
    at[r] = known[r];
    if (x->listed || x->fixed >> r & 1) continue;
    td_unit_value(d->net->design, s->type->dim[r], &extent);
    at[r] = m % extent;
    m /= extent;
  }
}

/* Puts the box around the streams of an array that some class holds. */
static void bound(TdVdDesign *d, TdVdStream *w) {
  int64_t at[TD_MAX_RANK], hi[TD_MAX_RANK];
  bool any = false;
  for (size_t c = 0; c < d->net->cls.n; c++)
    for (size_t k = 0; k < d->net->cls.at[c]->arg.n; k++) {
      const TdNetClass *x = d->net->cls.at[c];
      if (x->arg.at[k].sym != w->stream->sym || x->arg.at[k].dead) continue;
      int64_t count = count_of(d, &x->arg.at[k], w->stream);
      for (uint32_t i = 0; i < x->n; i++)
        for (int64_t m = 0; m < count; m++) {
          indices_of(d, &x->arg.at[k], w->stream, i, m, at);
          for (int r = 0; r < w->rank; r++) {
            if (!any || at[r] < w->lo[r]) w->lo[r] = at[r];
            if (!any || at[r] > hi[r]) hi[r] = at[r];
          }
          any = true;
        }
    }
  for (int r = 0; r < w->rank && any; r++) w->n[r] = hi[r] - w->lo[r] + 1;
  for (int r = 0; r < w->rank && any && w->outside; r++)
    if (td_unit_value(d->net->design, w->stream->type->dim[r], &w->n[r])) w->lo[r] = 0;
  w->count = any;
  for (int r = 0; r < w->rank && any; r++) w->count *= w->n[r];
  for (int end = 0; end < 2; end++) {
    w->used[end] = TD_NEWN(d->arena, bool, w->count + 1);
    w->end[end] = TD_NEWN(d->arena, int32_t, w->count + 1);
    memset(w->end[end], -1, (size_t)w->count * sizeof *w->end[end]);
  }
}

enum { MOST_BEAT = 4096, MOST_TOKEN = 1 << 16 };

/* What moves at once, and how often for a token. */
static bool take_shape(TdVdDesign *d, TdVdStream *w) {
  const TdStream *s = w->stream;
  const TdType *token = s->type->elem;
  const TdAttr *latency = td_attrs_get(s->attrs, TD_ATTR_LATENCY);
  const TdAttr *lanes = td_attrs_get(s->attrs, TD_ATTR_LANES);
  int64_t n = 1, extent, element = td_type_scalar(s->type)->w;
  if (s->type->block) return td_vblock_shape(d, w);
  for (int i = 0; token->kind == TD_T_TENSOR && i < token->rank; i++)
    if (td_unit_value(d->net->design, token->dim[i], &extent) && n <= MOST_TOKEN) n *= extent;
  w->beats = w->outside ? 1 : td_unit_beats(d->net->design, s->attrs, token);
  int64_t beat = element * (w->beats > 1 ? lanes->arg[0].i : n);
  if (beat > MOST_BEAT) {
    td_diag_set(d->diag, TD_UNSUPPORTED, "not-built", s->loc,
                "Verilog of tokens that move more than 4,096 bits in a cycle is not built");
    td_diag_help(d->diag, "--@ lanes(%" PRId64 ") on the stream has them move in several beats",
                 MOST_BEAT / element);
    return false;
  }
  if (n * element > MOST_TOKEN)
    return td_vdesign_refuse(d, s->loc, "tokens of more than 65,536 bits");
  w->width = (int)beat;
  w->elements = n;
  w->latency = latency && latency->arg[0].i > 1 ? latency->arg[0].i : 1;
  return true;
}

/* Whether some task puts to a stream. */
static bool is_put(const TdVdDesign *d, TdSym sym) {
  bool put = false;
  for (size_t c = 0; c < d->net->cls.n; c++)
    for (size_t k = 0; k < d->net->cls.at[c]->arg.n; k++)
      put |= d->net->cls.at[c]->arg.at[k].sym == sym && d->net->cls.at[c]->arg.at[k].put;
  return put;
}

/* In place of a FIFO the pins of the design. */
static void put_outside(TdVdDesign *d, const TdVdStream *w) {
  const char *n = td_vname_plain(d->arena, w->stream->sym->name), *i = w->name;
  TdText *o = &d->out;
  td_vdesign_pin(d, td_text_fmt(d->arena, "%s_%s", n, w->put ? "put" : "take"), w->count, false);
  td_vdesign_pin(d, td_text_fmt(d->arena, "%s_%s", n, w->put ? "room" : "valid"), w->count, true);
  td_vdesign_pin(d, td_text_fmt(d->arena, "%s_data", n), w->count * w->width, !w->put);
  if (w->put) {
    td_text_line(o, "  assign %s_put[%s_i] = put, room = %s_room[%s_i];", n, i, n, i);
    td_text_line(o, "  assign %s_data[%s_i*%d +: %d] = in;", n, i, w->width, w->width);
    td_text_line(o, "  assign valid = 1'b0, out = in, take = 1'b0;");
    td_text_line(o, "  wire unused_ok = &{1'b0, valid, out, take};");
  } else {
    td_text_line(o, "  assign %s_take[%s_i] = take, valid = %s_valid[%s_i];", n, i, n, i);
    td_text_line(o, "  assign out = %s_data[%s_i*%d +: %d];", n, i, w->width, w->width);
    td_text_line(o, "  assign room = 1'b0, put = 1'b0, in = out;");
    td_text_line(o, "  wire unused_ok = &{1'b0, room, in, put};");
  }
  td_text_line(o, "end endgenerate");
}

void td_vstream_ends(TdVdDesign *d, TdVlogModule *out) {
  TD_VEC(TdVlogPort) list = {0};
  const TdUnit *own = d->net->design;
  for (size_t i = 0; i < d->stream.n; i++) {
    const TdVdStream *w = &d->stream.at[i];
    if (!w->outside) continue;
    size_t k = 0;
    while (own->param[k].sym != w->stream->sym) k++;
    TdVlogPort p = {.sym = out->unit->param[k].sym, .put = w->put, .width = w->width};
    p.name = td_vname_plain(d->arena, w->stream->sym->name);
    p.count = w->count;
    td_vec_push(d->arena, &list, p);
  }
  out->port = list.at;
  out->nport = list.n;
  TD_VEC(TdVlogStream) inside = {0};
  for (size_t i = 0; i < d->stream.n; i++) {
    const TdVdStream *w = &d->stream.at[i];
    TdVlogStream s = {.scope = w->name, .name = w->stream->sym->name, .loc = w->stream->loc};
    s.rank = w->rank;
    s.depth = w->depth;
    s.count = w->count;
    if (!w->stream->type->block) {
      s.element = td_type_scalar(w->stream->type);
      s.elements = w->elements;
      s.in_beat = w->width / s.element->w;
    }
    for (int r = 0; r < w->rank; r++) {
      s.lo[r] = w->lo[r];
      s.n[r] = w->n[r];
    }
    if (!w->outside) td_vec_push(d->arena, &inside, s);
  }
  out->stream = inside.at;
  out->nstream = inside.n;
}

bool td_vstream_note(TdVdDesign *d, const TdStream *s) {
  TdVdStream w = {.stream = s, .rank = s->type->rank, .outside = !s->depth};
  if (s->depth) td_unit_value(d->net->design, s->depth, &w.depth);
  if (!take_shape(d, &w)) return false;
  w.put = is_put(d, s->sym);
  bound(d, &w);
  if (!w.count) return true;
  w.name = td_text_fmt(d->arena, "%s_%s", td_vname_plain(d->arena, s->sym->name), "streams");
  td_vec_push(d->arena, &d->stream, w);
  return true;
}

/* Which of a box of streams are delay lines, as an expression of the number i: all, none, those
 * that are not the first along a dimension, or a bit each of a parameter, which is printed. */
static const char *lines_of(TdVdDesign *d, const TdVdStream *w, const char *i) {
  int64_t n = 0, below = w->count;
  for (int64_t k = 0; k < w->count && w->line; k++) n += w->line[k];
  if (n == 0 || n == w->count) return n ? "1" : "0";
  for (int r = 0; r < w->rank; r++) {
    bool fits = true;
    below /= w->n[r];
    for (int64_t k = 0; k < w->count && fits; k++) fits = w->line[k] == (k / below % w->n[r] != 0);
    if (fits)
      return td_text_fmt(d->arena, "%s / %" PRId64 " %% %" PRId64 " != 0", i, below, w->n[r]);
  }
  TdText t = td_text_new(d->arena);
  for (int64_t k = w->count; k-- > 0;) td_text_putc(&t, w->line[k] ? '1' : '0');
  td_text_line(&d->out, "localparam [%" PRId64 ":0] %s_line = %" PRId64 "'b%s;", w->count - 1,
               w->name, w->count, td_text_str(&t));
  return td_text_fmt(d->arena, "%s_line[%s]", w->name, i);
}

/* The FIFO of a stream, or what holds tokens of several beats or that are long on their way. Where
 * control is static a latch stands behind it, for what is there before it is used. */
static void put_fifo(TdVdDesign *d, const TdVdStream *w) {
  TdText *o = &d->out;
  const char *valid = "valid", *take = "take", *out = "out";
  if (d->is_static) {
    td_text_line(o, "wire there, took;");
    td_text_line(o, "wire [%d:0] token;", w->width - 1);
    td_text_line(o, "tide_hold #(.W(%d)) hold (", w->width);
    td_text_line(o, "    .clk(clk), .rst(rst), .there(there), .took(took), .token(token),");
    td_text_line(o, "    .valid(valid), .take(take), .done(done), .out(out));");
    valid = "there", take = "took", out = "token";
  }
  if (w->beats == 1 && w->latency == 1)
    td_text_line(o, "tide_fifo #(.W(%d), .D(%" PRId64 ")) fifo (", w->width, w->depth);
  else
    td_text_line(o, "tide_link #(.W(%d), .D(%" PRId64 "), .B(%" PRId64 "), .L(%" PRId64 ")) fifo (",
                 w->width, w->depth, w->beats, w->latency);
  td_text_line(o, "    .clk(clk), .rst(rst), .put(put), .room(room), .in(in),");
  td_text_line(o, "    .valid(%s), .take(%s), .out(%s));", valid, take, out);
}

static void put_line(TdVdDesign *d, const TdVdStream *w) {
  TdText *o = &d->out;
  td_text_line(o, "tide_line #(.W(%d), .L(%" PRId64 ")) line (", w->width, w->stay);
  td_text_line(o, "    .clk(clk), .rst(rst), .put(put), .in(in), .valid(valid), .out(out));");
  td_text_line(o, "assign room = 1'b1;");
  td_text_line(o, "wire unused_ok = &{1'b0, room, take, done};");
}

void td_vstream_put(TdVdDesign *d, const TdVdStream *w) {
  TdText *o = &d->out;
  const char *n = w->name, *i = td_text_fmt(d->arena, "%s_i", n);
  td_text_line(o, "// streams %s", w->stream->sym->name);
  const char *lines = lines_of(d, w, i);
  td_text_line(o, "genvar %s;", i);
  td_text_line(o, "generate for (%s = 0; %s < %" PRId64 "; %s = %s + 1) begin : %s", i, i, w->count,
               i, i, n);
  td_text_line(o, "  wire put, room, valid, take%s;", d->is_static ? ", done" : "");
  td_text_line(o, "  wire [%d:0] in, out;", w->width - 1);
  if (w->outside) {
    put_outside(d, w);
    return;
  }
  bool all = strcmp(lines, "1") == 0, none = strcmp(lines, "0") == 0;
  o->indent++;
  if (!all && !none) td_text_line(o, "if (%s) begin : way", lines);
  o->indent += !all && !none;
  if (!none) put_line(d, w);
  o->indent -= !all && !none;
  if (!all && !none) td_text_line(o, "end else begin : way");
  o->indent += !all && !none;
  if (!all) put_fifo(d, w);
  o->indent -= !all && !none;
  if (!all && !none) td_text_line(o, "end");
  o->indent--;
  if (w->stream->type->block) td_vblock_put(d, w);
  td_text_line(o, "end endgenerate");
}

TdVdStream *td_vstream_of(TdVdDesign *d, TdSym sym) {
  for (size_t i = 0; i < d->stream.n; i++)
    if (d->stream.at[i].stream->sym == sym) return &d->stream.at[i];
  return NULL;
}

/* The names of an end's wires: in a task's module, and in the scope of the stream. */
typedef struct Wire {
  const char *pin, *scope;
  bool out; /* of the task */
  int width;
} Wire;

/* The numbers of streams m of the instances of a box, as an expression; notes that they are held.
 */
static bool numbers(TdVdDesign *d, const TdNetClass *c, const TdVdBox *b, const TdNetArg *x,
                    TdVdStream *w, int64_t m, bool put, const char **at) {
  int64_t *number = TD_NEWN(d->arena, int64_t, b->count), index[TD_MAX_RANK];
  for (uint32_t i = 0; i < b->count; i++) {
    indices_of(d, x, w->stream, b->first + i, m, index);
    number[i] = number_of(w, index);
  }
  if (!td_vdesign_fit(d, c, b, number, at)) return false;
  for (uint32_t i = 0; i < b->count; i++) w->used[put][number[i]] = true;
  return true;
}

/* A vector for each wire of a row, whose members are connected one by one. */
static void put_member(const TdVdStream *w, const TdVlogPort *p, const Wire *x, const char *at,
                       const char *m, TdText *t) {
  const char *n = td_text_fmt(t->arena, "%s_%s", p->name, x->pin);
  const char *part = td_text_fmt(t->arena, "%s[(%s)*%d +: %d]", n, m, x->width, x->width);
  const char *scope = td_text_fmt(t->arena, "%s[%s].%s", w->name, at, x->scope);
  td_text_putf(t, "  assign %s = %s;\n", x->out ? scope : part, x->out ? part : scope);
}

/* A wire of an end whose uses never take place. */
static void put_dead(const TdVlogPort *p, const Wire *x, TdText *before, TdText *pins) {
  const char *n = td_text_fmt(pins->arena, "%s_%s", p->name, x->pin);
  if (!x->out) {
    td_text_putf(pins, ",\n      .%s({%d{1'b0}})", n, x->width);
    return;
  }
  td_text_putf(before, "  wire [%d:0] %s;\n  wire unused_%s = &{1'b0, %s};\n", x->width - 1, n, n,
               n);
  td_text_putf(pins, ",\n      .%s(%s)", n, n);
}

void td_vstream_hold(TdVdDesign *d, const TdNetClass *c, const TdVlogPort *p, int32_t first) {
  const TdNetArg *x = &c->arg.at[td_vdesign_param(c, p->sym)];
  TdVdStream *w = td_vstream_of(d, x->sym);
  int64_t index[TD_MAX_RANK];
  for (uint32_t i = 0; i < c->n && !x->dead; i++) {
    indices_of(d, x, w->stream, i, 0, index);
    w->end[p->put][number_of(w, index)] = first + (int32_t)i;
  }
}

bool td_vstream_connect(TdVdDesign *d, const TdNetClass *c, const TdVdBox *b, const TdVlogModule *m,
                        const TdVlogPort *p, TdText *before, TdText *pins) {
  size_t k = td_vdesign_param(c, p->sym);
  const TdNetArg *x = &c->arg.at[k];
  TdVdStream *w = td_vstream_of(d, x->sym);
  size_t back = td_vblock_back(m, p);
  const char *puts_in = p->spare ? td_text_fmt(d->arena, "given%zu", back) : "in";
  const char *puts_on = p->spare ? td_text_fmt(d->arena, "back%zu", back) : "put";
  const Wire puts[] = {
      {"put", puts_on, true, 1}, {"room", "room", false, 1}, {"data", puts_in, true, p->width}};
  const Wire gets[] = {{"take", p->spare ? "claim" : "take", true, 1},
                       {"valid", p->spare ? "free" : "valid", false, 1},
                       {"data", p->spare ? "spare" : "out", false, p->width},
                       {"done", "done", true, 1}};
  const Wire free[] = {{"put", "put", true, 1}, {"data", "in", true, p->width}};
  const Wire *wire = p->free ? free : p->put ? puts : gets;
  int nwire = p->free ? 2 : p->held ? 4 : 3;
  bool side = p->put != p->spare;
  const char *at;
  if (x->dead) {
    for (int i = 0; i < nwire; i++) put_dead(p, &wire[i], before, pins);
    return true;
  }
  for (int64_t i = 0; i < p->count && p->block && !p->spare; i++) {
    if (!numbers(d, c, b, x, w, i, side, &at)) return false;
    td_vblock_connect(d, w, m, p, i, at, before, pins);
  }
  if (p->count == 1) {
    if (!numbers(d, c, b, x, w, 0, side, &at)) return false;
    for (int i = 0; i < nwire; i++)
      td_text_putf(pins, ",\n      .%s_%s(%s[%s].%s)", p->name, wire[i].pin, w->name, at,
                   wire[i].scope);
    return true;
  }
  for (int i = 0; i < nwire; i++) {
    td_text_putf(before, "  wire [%" PRId64 ":0] %s_%s;\n", p->count * wire[i].width - 1, p->name,
                 wire[i].pin);
    td_text_putf(pins, ",\n      .%s_%s(%s_%s)", p->name, wire[i].pin, p->name, wire[i].pin);
  }
  for (int64_t n = 0; n < p->count; n++) {
    if (!numbers(d, c, b, x, w, n, side, &at)) return false;
    if (n && !x->listed) continue;
    const char *of = td_text_fmt(d->arena, x->listed ? "%" PRId64 : "M", n);
    const char *first = x->listed ? at : td_text_fmt(d->arena, "%s + M", at);
    if (!x->listed)
      td_text_putf(before, "  for (genvar M = 0; M < %" PRId64 "; M = M + 1) begin : %s_%s_row\n",
                   p->count, p->name, p->put ? "put" : "get");
    for (int i = 0; i < nwire; i++) put_member(w, p, &wire[i], first, of, before);
    if (!x->listed) td_text_puts(before, "  end\n");
  }
  return true;
}

/* The number of a stream in its whole array, of number k in its box. */
static int64_t ordinal_of(const TdVdDesign *d, const TdVdStream *w, int64_t k) {
  int64_t at[TD_MAX_RANK], n = 0, extent = 1;
  for (int r = w->rank; r-- > 0; k /= w->n[r]) at[r] = w->lo[r] + k % w->n[r];
  for (int r = 0; r < w->rank; r++) {
    td_unit_value(d->net->design, w->stream->type->dim[r], &extent);
    n = n * extent + at[r];
  }
  return n;
}

/* Pins for an end of streams that no task holds. */
static void open_end(TdVdDesign *d, const TdVdStream *w, int end) {
  TdVlogOpen o = {.stream = (size_t)(w->stream - d->net->design->stream), .name = w->name};
  o.put = end;
  o.width = w->width;
  o.beats = w->beats;
  o.ordinal = TD_NEWN(d->arena, int64_t, w->count);
  for (int64_t k = 0; k < w->count; k++)
    if (!w->used[end][k]) o.ordinal[o.count++] = ordinal_of(d, w, k);
  if (!o.count) return;
  const char *const pin[] = {end ? "put" : "take", end ? "room" : "valid", end ? "in" : "out"};
  const bool in[] = {true, false, end};
  for (int i = 0; i < 3; i++)
    td_vdesign_pin(d, td_text_fmt(d->arena, "%s_%s", w->name, pin[i]),
                   o.count * (i == 2 ? w->width : 1), in[i]);
  for (int64_t k = 0, at = 0; k < w->count; k++) {
    if (w->used[end][k]) continue;
    for (int i = 0; i < 3; i++) {
      int64_t wide = i == 2 ? w->width : 1;
      const char *own = td_text_fmt(d->arena, "%s[%" PRId64 "].%s", w->name, k, pin[i]);
      const char *all = td_text_fmt(d->arena, "%s_%s[%" PRId64 " +: %" PRId64 "]", w->name, pin[i],
                                    at * wide, wide);
      td_text_line(&d->out, "assign %s = %s;", in[i] ? own : all, in[i] ? all : own);
    }
    at++;
  }
  td_vec_push(d->arena, &d->open, o);
}

/* Ties an end of streams [from, to). */
static void tie(TdVdDesign *d, const TdVdStream *w, int end, int64_t from, int64_t to) {
  const char *label =
      td_text_fmt(d->arena, "%s_%s_%" PRId64, w->name, end ? "no_put" : "no_get", from);
  TdText *o = &d->out;
  td_text_line(o, "genvar %s_i;", label);
  td_text_line(o,
               "generate for (%s_i = %" PRId64 "; %s_i < %" PRId64 "; %s_i = %s_i + 1) begin : %s",
               label, from, label, to, label, label, label);
  if (end) {
    td_text_line(o, "  assign %s[%s_i].put = 1'b0;", w->name, label);
    td_text_line(o, "  assign %s[%s_i].in = {%d{1'b0}};", w->name, label, w->width);
    td_text_line(o, "  wire unused_ok = &{1'b0, %s[%s_i].room};", w->name, label);
  } else {
    td_text_line(o, "  assign %s[%s_i].take = 1'b0;", w->name, label);
    if (d->is_static) td_text_line(o, "  assign %s[%s_i].done = 1'b0;", w->name, label);
    td_text_line(o, "  wire unused_ok = &{1'b0, %s[%s_i].valid, %s[%s_i].out};", w->name, label,
                 w->name, label);
  }
  if (w->stream->type->block) td_vblock_tie(d, w, end, label);
  td_text_line(o, "end endgenerate");
}

void td_vstream_tie(TdVdDesign *d) {
  for (size_t i = 0; i < d->stream.n; i++)
    for (int end = 0; end < 2; end++) {
      const TdVdStream *w = &d->stream.at[i];
      if (w->outside && (end == 1) != w->put) continue;
      if (d->p->without && !w->outside && !w->stream->type->block) {
        open_end(d, w, end);
        continue;
      }
      for (int64_t k = 0, from; k < w->count;) {
        for (from = k; k < w->count && !w->used[end][k];) k++;
        if (k > from) tie(d, w, end, from, k);
        k += k == from;
      }
    }
}
