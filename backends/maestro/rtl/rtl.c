/* rtl.c - the top module of a system: streamers with their extensions, the array, the crossbar with
 * its banks, the registers. */
#include <string.h>

#include "backends/maestro/csr.h"
#include "backends/maestro/rtl/rtl.h"
#include "backends/verilog/vtree.h"

/* Beats that one gives and another takes: valid, the word, and whether it is taken. */
typedef struct Beats {
  const TdVl *valid, *word;
  TdVlSig *ready;
} Beats;

typedef struct Top {
  const TdMaestroSystem *s;
  TdMaestroShape shape;
  const TdMaestroCsrs *map;
  TdArena *a;
  TdVlModule *m;
  TdVlSig *clk, *rst, *go, *value; /* value: of all registers */
  Beats out[TD_MAESTRO_STREAMERS]; /* readers: behind the extensions */
  TdVlSig *in_valid[TD_MAESTRO_STREAMERS], *in_word[TD_MAESTRO_STREAMERS],
      *in_ready[TD_MAESTRO_STREAMERS]; /* writers: before the extensions */
  TdVlSig *request[TD_MAESTRO_STREAMERS], *place[TD_MAESTRO_STREAMERS],
      *grant[TD_MAESTRO_STREAMERS], *data[TD_MAESTRO_STREAMERS];
  TdVlSig *busy[TD_MAESTRO_STREAMERS], *words[TD_MAESTRO_STREAMERS];
  bool axi;         /* registers are written by AXI4-Lite */
  const TdVl *path; /* the register that names a writer, plus one; 0: the array */
} Top;

static const TdVl *sig(Top *t, TdVlSig *s) {
  return td_vtree_sig(t->m, s);
}

static const char *named(Top *t, int i, const char *what) {
  return td_text_fmt(t->a, "%s_%s", t->s->at[i].name, what);
}

static const TdVl *bit(Top *t, uint64_t v) {
  return td_vtree_const(t->m, 1, v);
}

static const TdVl *zeros(Top *t, int64_t width) {
  return td_vtree_const(t->m, (int)width, 0);
}

/* The low bits of a register by its name. */
static const TdVl *reg(Top *t, const char *name, int width) {
  const TdMaestroCsrs *list[2] = {t->map, td_maestro_csr_extra(t->s, t->a)};
  int at = 0;
  for (int k = 0; k < 2; k++)
    for (size_t i = 0; i < list[k]->n; i++, at++)
      if (strcmp(list[k]->at[i].name, name) == 0)
        return td_vtree_slice(t->m, sig(t, t->value), 32 * at, width);
  return zeros(t, width);
}

/* `count` registers of a streamer side by side, the first lowest. */
static const TdVl *regs(Top *t, int i, const char *field, int64_t count, int width) {
  const TdVl *x = NULL;
  for (int64_t k = 0; k < count; k++) {
    const TdVl *y =
        reg(t, td_text_fmt(t->a, "%s.%s%lld", t->s->at[i].name, field, (long long)k), width);
    x = x ? td_vtree_cat(t->m, y, x) : y;
  }
  return x;
}

static void connect_clock(Top *t, TdVlItem *x) {
  td_vtree_connect(t->m, x, "clk", sig(t, t->clk));
  td_vtree_connect(t->m, x, "rst", sig(t, t->rst));
}

/* ---- streamers ---- */

static void set_params(Top *t, int i, TdVlItem *x) {
  const TdMaestroStreamer *s = &t->s->at[i];
  const struct {
    const char *name;
    int64_t value;
  } list[] = {{"AW", t->shape.address},
              {"WB", t->shape.word},
              {"W", t->shape.width},
              {"CH", s->channels},
              {"L0", s->lane[0]},
              {"L1", s->nlane > 1 ? s->lane[1] : 1},
              {"LOOPS", s->loops},
              {"D", s->depth},
              {"A", s->addr_depth},
              {"APIPE", !s->addr_full},
              {"DPIPE", !s->data_full},
              {"HIGH", t->shape.high},
              {"MODES", t->s->memory.nmode},
              {"LOWS", t->shape.lows},
              {"MW", t->shape.mode},
              {"C", t->shape.count}};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++)
    td_vtree_param(t->m, x, list[k].name, list[k].value);
  if (!s->writer) td_vtree_param(t->m, x, "LAT", t->s->memory.latency);
}

/* The mask of channels, the most significant register first. */
static const TdVl *mask_of(Top *t, int i) {
  const TdMaestroStreamer *s = &t->s->at[i];
  if (!s->mask) return td_vtree_const(t->m, (int)s->channels, UINT64_MAX);
  if (s->channels <= 32) return reg(t, td_text_fmt(t->a, "%s.mask", s->name), (int)s->channels);
  const TdVl *low = reg(t, td_text_fmt(t->a, "%s.mask1", s->name), 32);
  const TdVl *high = reg(t, td_text_fmt(t->a, "%s.mask0", s->name), (int)s->channels - 32);
  return td_vtree_cat(t->m, high, low);
}

/* The registers of a streamer to its ports. */
static void connect_registers(Top *t, int i, TdVlItem *x) {
  const TdMaestroStreamer *s = &t->s->at[i];
  int w = t->shape.address;
  const TdVl *lane = regs(t, i, "lane_stride", s->nlane, w);
  if (s->nlane < TD_MAESTRO_DIMS)
    lane = td_vtree_cat(t->m, zeros(t, (TD_MAESTRO_DIMS - s->nlane) * w), lane);
  connect_clock(t, x);
  td_vtree_connect(t->m, x, "start", sig(t, t->go));
  td_vtree_connect(t->m, x, "base", reg(t, td_text_fmt(t->a, "%s.base_lo", s->name), w));
  td_vtree_connect(t->m, x, "lane", lane);
  td_vtree_connect(t->m, x, "bound", regs(t, i, "bound", s->loops, 32));
  td_vtree_connect(t->m, x, "stride", regs(t, i, "stride", s->loops, w));
  td_vtree_connect(t->m, x, "mode", reg(t, td_text_fmt(t->a, "%s.mode", s->name), t->shape.mode));
  td_vtree_connect(t->m, x, "mask", mask_of(t, i));
}

/* Signals between a streamer, the crossbar and what is told of a cycle. */
static void declare_streamer(Top *t, int i) {
  int ch = (int)t->s->at[i].channels;
  t->request[i] = td_vtree_wire(t->m, named(t, i, "request"), ch);
  t->place[i] = td_vtree_wire(t->m, named(t, i, "place"), ch * t->shape.place);
  t->grant[i] = td_vtree_wire(t->m, named(t, i, "grant"), ch);
  t->data[i] = td_vtree_wire(t->m, named(t, i, "data"), ch * (int)t->shape.width);
  t->busy[i] = td_vtree_wire(t->m, named(t, i, "busy"), 1);
  t->words[i] = td_vtree_wire(t->m, named(t, i, "words"), (int)t->shape.count);
}

static void connect_memory(Top *t, int i, TdVlItem *x) {
  td_vtree_connect(t->m, x, "busy", sig(t, t->busy[i]));
  td_vtree_connect(t->m, x, "request", sig(t, t->request[i]));
  td_vtree_connect(t->m, x, "place", sig(t, t->place[i]));
  td_vtree_connect(t->m, x, "grant", sig(t, t->grant[i]));
  td_vtree_connect(t->m, x, "data", sig(t, t->data[i]));
  td_vtree_connect(t->m, x, "words", sig(t, t->words[i]));
}

/* ---- extensions ---- */

/* The registers of extension k, four words. */
static const TdVl *ext_registers(Top *t, int i, int k) {
  const TdVl *x = NULL;
  const char *at = td_maestro_ext_info[t->s->at[i].ext[k].kind].regs;
  for (int r = 0; r < TD_MAESTRO_ARGS; r++) {
    size_t n = strcspn(at, " ");
    const TdVl *y =
        n ? reg(t, td_text_fmt(t->a, "%s.ext%d.%.*s", t->s->at[i].name, k, (int)n, at), 32)
          : zeros(t, 32);
    at += n + (at[n] == ' ');
    x = x ? td_vtree_cat(t->m, y, x) : y;
  }
  return x;
}

/* The ports that beats come and go by. */
static Beats pass(Top *t, TdVlItem *x, Beats in, const char *name, int width) {
  Beats out = {.ready = td_vtree_wire(t->m, td_text_fmt(t->a, "%s_ready", name), 1)};
  TdVlSig *valid = td_vtree_wire(t->m, td_text_fmt(t->a, "%s_valid", name), 1);
  TdVlSig *word = td_vtree_wire(t->m, td_text_fmt(t->a, "%s_word", name), width);
  out.valid = sig(t, valid);
  out.word = sig(t, word);
  connect_clock(t, x);
  td_vtree_connect(t->m, x, "valid", in.valid);
  td_vtree_connect(t->m, x, "ready", sig(t, in.ready));
  td_vtree_connect(t->m, x, "word", in.word);
  td_vtree_connect(t->m, x, "out_valid", out.valid);
  td_vtree_connect(t->m, x, "out_ready", sig(t, out.ready));
  td_vtree_connect(t->m, x, "out", out.word);
  return out;
}

/* Beats through extension k of a streamer. */
static Beats through(Top *t, int i, int k, Beats in) {
  const TdMaestroExt *x = &t->s->at[i].ext[k];
  const char *name = td_text_fmt(t->a, "%s_ext%d", t->s->at[i].name, k);
  TdVlItem *item = td_vtree_instance(t->m, "", name);
  item->module = td_maestro_rtl_ext_module(t->m, x, item);
  const TdVl *on =
      td_vtree_slice(t->m, reg(t, td_text_fmt(t->a, "%s.ext", t->s->at[i].name), 32), k, 1);
  td_vtree_connect(t->m, item, "on", on);
  td_vtree_connect(t->m, item, "regs", ext_registers(t, i, k));
  return pass(t, item, in, name, (int)x->out);
}

/* Beats through all of them, in the order in which they pass, with links between. */
static Beats chain(Top *t, int i, Beats b) {
  const TdMaestroStreamer *s = &t->s->at[i];
  for (int n = 0; n < s->next; n++) {
    int k = s->writer ? s->next - 1 - n : n;
    if (n > 0) {
      TdVlItem *link =
          td_vtree_instance(t->m, "tide_dm_link", td_text_fmt(t->a, "%s_link%d", s->name, n));
      td_vtree_param(t->m, link, "W", b.word->width);
      b = pass(t, link, b, td_text_fmt(t->a, "%s_link%d", s->name, n), b.word->width);
    }
    b = through(t, i, k, b);
  }
  return b;
}

/* A reader, up to the end of its extensions. */
static void put_reader(Top *t, int i, const TdVl *hold) {
  const TdMaestroStreamer *s = &t->s->at[i];
  TdVlItem *x = td_vtree_instance(t->m, "tide_dm_reader", named(t, i, "reader"));
  Beats b = {.ready = td_vtree_wire(t->m, named(t, i, "ready"), 1)};
  TdVlSig *valid = td_vtree_wire(t->m, named(t, i, "valid"), 1);
  TdVlSig *word = td_vtree_wire(t->m, named(t, i, "word"), (int)(s->channels * t->shape.width));
  set_params(t, i, x);
  connect_registers(t, i, x);
  connect_memory(t, i, x);
  b.valid = sig(t, valid);
  b.word = sig(t, word);
  td_vtree_connect(t->m, x, "hold", hold);
  td_vtree_connect(t->m, x, "valid", b.valid);
  td_vtree_connect(t->m, x, "word", b.word);
  td_vtree_connect(t->m, x, "take", td_vtree_and(t->m, b.valid, sig(t, b.ready)));
  t->out[i] = chain(t, i, b);
}

/* A writer, from the beginning of its extensions. */
static void put_writer(Top *t, int i) {
  const TdMaestroStreamer *s = &t->s->at[i];
  t->in_valid[i] = td_vtree_wire(t->m, named(t, i, "in_valid"), 1);
  t->in_ready[i] = td_vtree_wire(t->m, named(t, i, "in_ready"), 1);
  t->in_word[i] = td_vtree_wire(t->m, named(t, i, "in_word"), (int)s->width);
  Beats b = {sig(t, t->in_valid[i]), sig(t, t->in_word[i]), t->in_ready[i]};
  b = chain(t, i, b);
  TdVlItem *x = td_vtree_instance(t->m, "tide_dm_writer", named(t, i, "writer"));
  set_params(t, i, x);
  connect_registers(t, i, x);
  connect_memory(t, i, x);
  td_vtree_connect(t->m, x, "ready", sig(t, b.ready));
  td_vtree_connect(t->m, x, "word", b.word);
  td_vtree_connect(t->m, x, "put", td_vtree_and(t->m, b.valid, sig(t, b.ready)));
}

/* ---- the crossbar ---- */

/* The writer that uses the ports of a reader, or -1. */
static int sharer(const TdMaestroSystem *s, int i) {
  for (int k = 0; k < s->n; k++)
    if (s->at[k].shares == i) return k;
  return -1;
}

/* The bytes of a word that a writer writes. */
static const TdVl *bytes_of(Top *t, int i) {
  int n = (int)t->shape.width / 8;
  if (!t->s->at[i].byte_mask) return td_vtree_const(t->m, n, UINT64_MAX);
  return reg(t, td_text_fmt(t->a, "%s.byte_mask", t->s->at[i].name), n);
}

static const TdVl *repeated(Top *t, const TdVl *x, int64_t times) {
  const TdVl *r = x;
  for (int64_t i = 1; i < times; i++) r = td_vtree_cat(t->m, x, r);
  return r;
}

/* What the ports of one owner say, of all fields of the crossbar. */
typedef struct Lines {
  const TdVl *request, *low, *place, *write, *data, *bytes;
} Lines;

static Lines lines_of(Top *t, int i) {
  const TdMaestroStreamer *s = &t->s->at[i];
  int w = s->writer ? i : sharer(t->s, i);
  int64_t ch = s->channels;
  bool first = strcmp(s->name, "A") == 0 || strcmp(s->name, "B") == 0;
  Lines x = {.request = sig(t, t->request[i]), .place = sig(t, t->place[i])};
  x.low = td_vtree_const(t->m, (int)ch, t->s->priority && !first ? UINT64_MAX : 0);
  x.data = w >= 0 ? sig(t, t->data[w]) : zeros(t, ch * t->shape.width);
  x.bytes = w >= 0 ? repeated(t, bytes_of(t, w), ch) : zeros(t, ch * t->shape.width / 8);
  x.write = td_vtree_const(t->m, (int)ch, s->writer ? UINT64_MAX : 0);
  if (s->writer || w < 0) return x;
  const TdVl *hold = td_vtree_unary(t->m, "|", 1, sig(t, t->request[w]));
  x.request = td_vtree_binary(t->m, "|", (int)ch, x.request, sig(t, t->request[w]));
  x.place = td_vtree_pick(t->m, hold, sig(t, t->place[w]), x.place);
  x.write = td_vtree_fit(t->m, hold, (int)ch, true);
  return x;
}

/* Puts y above x. */
static const TdVl *above(Top *t, const TdVl *y, const TdVl *x) {
  return x ? td_vtree_cat(t->m, y, x) : y;
}

/* What the crossbar grants and answers, to the streamers. */
static void spread(Top *t, TdVlSig *grant, TdVlSig *q) {
  for (int i = 0; i < t->s->n; i++) {
    const TdMaestroStreamer *s = &t->s->at[i];
    int ch = (int)s->channels, w = (int)t->shape.width;
    const TdVl *here = td_vtree_slice(t->m, sig(t, grant), s->first, ch);
    if (s->shares >= 0 || sharer(t->s, i) >= 0)
      here = td_vtree_binary(t->m, "&", ch, here, sig(t, t->request[i]));
    td_vtree_assign(t->m, t->grant[i], here);
    if (!s->writer)
      td_vtree_assign(t->m, t->data[i], td_vtree_slice(t->m, sig(t, q), s->first * w, ch * w));
  }
}

/* Ports in their order. */
static Lines all_lines(Top *t) {
  Lines all = {0};
  for (int port = 0; port < t->s->ports;) {
    int i = 0;
    while (t->s->at[i].shares >= 0 || t->s->at[i].first != port) i++;
    Lines x = lines_of(t, i);
    all = (Lines){above(t, x.request, all.request), above(t, x.low, all.low),
                  above(t, x.place, all.place),     above(t, x.write, all.write),
                  above(t, x.data, all.data),       above(t, x.bytes, all.bytes)};
    port += (int)t->s->at[i].channels;
  }
  return all;
}

static void put_crossbar(Top *t, TdVlSig *running) {
  TdVlModule *m = t->m;
  const TdMaestroMemory *mem = &t->s->memory;
  int p = t->s->ports, w = (int)t->shape.width;
  TdVlSig *grant = td_vtree_output(m, "trace_grant", p), *q = td_vtree_wire(m, "q", p * w);
  TdVlSig *used = td_vtree_output(m, "trace_bank", (int)mem->banks);
  TdVlItem *x = td_vtree_instance(m, "tide_dm_crossbar", "crossbar");
  const struct {
    const char *name;
    int64_t value;
  } list[] = {{"P", p},
              {"N", t->shape.port},
              {"B", mem->banks},
              {"LB", t->shape.banks},
              {"PW", t->shape.place},
              {"W", w},
              {"R", mem->rows},
              {"RW", t->shape.rows ? t->shape.rows : 1},
              {"LAT", mem->latency}};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++)
    td_vtree_param(m, x, list[k].name, list[k].value);
  Lines all = all_lines(t);
  connect_clock(t, x);
  td_vtree_connect(m, x, "request", all.request);
  td_vtree_connect(m, x, "low", all.low);
  td_vtree_connect(m, x, "place", all.place);
  td_vtree_connect(m, x, "write", all.write);
  td_vtree_connect(m, x, "data", all.data);
  td_vtree_connect(m, x, "bytes", all.bytes);
  td_vtree_connect(m, x, "grant", sig(t, grant));
  td_vtree_connect(m, x, "q", sig(t, q));
  td_vtree_connect(m, x, "used", sig(t, used));
  const TdVl *host = sig(t, td_vtree_input(m, "host", 1));
  td_vtree_connect(m, x, "host", td_vtree_and(m, host, td_vtree_not(m, sig(t, running))));
  td_vtree_connect(m, x, "host_write", sig(t, td_vtree_input(m, "host_write", 1)));
  td_vtree_connect(m, x, "host_place", sig(t, td_vtree_input(m, "host_place", t->shape.place)));
  td_vtree_connect(m, x, "host_data", sig(t, td_vtree_input(m, "host_data", w)));
  td_vtree_connect(m, x, "host_q", sig(t, td_vtree_output(m, "host_q", w)));
  spread(t, grant, q);
}

/* ---- the array, and words past it ---- */

static int role(Top *t, int r) {
  return t->s->array.here ? td_maestro_system_find(t->s, td_maestro_role_name[r]) : -1;
}

/* Whether words go to writer i past the array. */
static const TdVl *takes_path(Top *t, int i) {
  return td_vtree_binary(t->m, "==", 1, t->path, td_vtree_const(t->m, 32, (uint64_t)i + 1));
}

/* What a reader's beats are taken by: the array, and the writers of its paths. */
static void join_reader(Top *t, int i, const TdVl *by_array) {
  const TdVl *ready = by_array ? by_array : bit(t, 0);
  for (int w = 0; w < t->s->n; w++)
    if (t->s->at[w].from == i)
      ready =
          td_vtree_or(t->m, ready, td_vtree_and(t->m, takes_path(t, w), sig(t, t->in_ready[w])));
  td_vtree_assign(t->m, t->out[i].ready, ready);
}

/* What a writer's beats come from. */
static void join_writer(Top *t, int i, const TdVl *put, const TdVl *word) {
  int from = t->s->at[i].from;
  const TdVl *valid = put ? put : bit(t, 0);
  if (!word) word = zeros(t, t->s->at[i].width);
  if (from >= 0) {
    const TdVl *mine = takes_path(t, i);
    valid = td_vtree_or(t->m, td_vtree_and(t->m, mine, t->out[from].valid), valid);
    word = td_vtree_pick(t->m, mine, t->out[from].word, word);
  }
  td_vtree_assign(t->m, t->in_valid[i], valid);
  td_vtree_assign(t->m, t->in_word[i], word);
}

/* What the array has of a reader: its beats, or none. */
static void connect_reader(Top *t, TdVlItem *x, int i, int64_t width, const char *port,
                           const TdVl *idle) {
  td_vtree_connect(t->m, x, td_text_fmt(t->a, "%s_valid", port),
                   i < 0 ? bit(t, 0) : td_vtree_and(t->m, t->out[i].valid, idle));
  td_vtree_connect(t->m, x, port, i < 0 ? zeros(t, width) : t->out[i].word);
}

/* What the array says to its streamers. */
typedef struct Joint {
  const TdVl *ab_take, *c_take, *d_put, *d, *e_put, *e;
} Joint;

/* Joins it, and the paths, to all streamers. */
static void join_array(Top *t, const int *at, const Joint *j) {
  int d = at[TD_MAESTRO_D], e = at[TD_MAESTRO_E];
  for (int i = 0; i < t->s->n; i++) {
    if (t->s->at[i].writer)
      join_writer(t, i,
                  i == d   ? j->d_put
                  : i == e ? j->e_put
                           : NULL,
                  i == d   ? j->d
                  : i == e ? j->e
                           : NULL);
    else
      join_reader(t, i,
                  i == at[TD_MAESTRO_A] || i == at[TD_MAESTRO_B] ? j->ab_take
                  : i == at[TD_MAESTRO_C]                        ? j->c_take
                                                                 : NULL);
  }
}

/* The registers `name`0 .. side by side; of the last what is left of `width` bits, if fewer. */
static const TdVl *columns_of(Top *t, const char *name, int64_t count, int width) {
  const TdVl *x = NULL;
  for (int64_t k = 0; k < count; k++) {
    int left = width == 32 ? 32 : width - 32 * (int)k;
    const char *one = td_text_fmt(t->a, "%s%lld", name, (long long)k);
    x = above(t, reg(t, one, left < 32 ? left : 32), x);
  }
  return x;
}

static void put_array(Top *t, TdVlSig *fire) {
  TdVlModule *m = t->m;
  const TdMaestroArray *x = &t->s->array;
  const TdVl *idle = td_vtree_binary(m, "==", 1, t->path, zeros(t, 32));
  int at[TD_MAESTRO_FROM];
  for (int r = 0; r < TD_MAESTRO_FROM; r++) at[r] = role(t, r);
  TdVlItem *item = td_vtree_instance(m, "tide_dm_array", "array");
  const struct {
    const char *name;
    int64_t value;
  } list[] = {{"M", x->m},
              {"N", x->n},
              {"K", x->k},
              {"AB", x->a->w},
              {"BB", x->b->w},
              {"SB", x->acc->w},
              {"ASIGN", td_type_is_signed(x->a)},
              {"BSIGN", td_type_is_signed(x->b)},
              {"SSIGN", td_type_is_signed(x->acc)},
              {"SAT", x->acc->saturate},
              {"LANES", x->lanes < x->m * x->n ? x->lanes : x->m * x->n}};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++)
    td_vtree_param(m, item, list[k].name, list[k].value);
  connect_clock(t, item);
  td_vtree_connect(m, item, "start", sig(t, t->go));
  static const char *const word[] = {"steps", "tiles", "zp_in", "zp_out", "lo", "hi"};
  for (size_t k = 0; k < sizeof word / sizeof *word; k++)
    td_vtree_connect(m, item, word[k], reg(t, word[k], 32));
  td_vtree_connect(m, item, "mult", columns_of(t, "mult", x->n, 32));
  td_vtree_connect(m, item, "shift", columns_of(t, "shift", (x->n + 3) / 4, 8 * (int)x->n));
  td_vtree_connect(m, item, "with_c", reg(t, "with_c", 1));
  td_vtree_connect(m, item, "quantised", reg(t, "quantised", 1));
  connect_reader(t, item, at[TD_MAESTRO_A], x->m * x->k * x->a->w, "a", idle);
  connect_reader(t, item, at[TD_MAESTRO_B], x->n * x->k * x->b->w, "b", idle);
  connect_reader(t, item, at[TD_MAESTRO_C], x->m * x->n * x->acc->w, "c", idle);
  TdVlSig *ab = td_vtree_wire(m, "ab_take", 1), *c = td_vtree_wire(m, "c_take", 1);
  TdVlSig *d = td_vtree_wire(m, "sums", (int)(x->m * x->n * x->acc->w));
  TdVlSig *e = td_vtree_wire(m, "quantised_sums", (int)(x->m * x->n * 8));
  TdVlSig *d_put = td_vtree_wire(m, "d_put", 1), *e_put = td_vtree_wire(m, "e_put", 1);
  int di = at[TD_MAESTRO_D], ei = at[TD_MAESTRO_E];
  td_vtree_connect(m, item, "ab_take", sig(t, ab));
  td_vtree_connect(m, item, "c_take", sig(t, c));
  td_vtree_connect(m, item, "d_ready", di < 0 ? bit(t, 1) : sig(t, t->in_ready[di]));
  td_vtree_connect(m, item, "d", sig(t, d));
  td_vtree_connect(m, item, "d_put", sig(t, d_put));
  td_vtree_connect(m, item, "e_ready", ei < 0 ? bit(t, 1) : sig(t, t->in_ready[ei]));
  td_vtree_connect(m, item, "e", sig(t, e));
  td_vtree_connect(m, item, "e_put", sig(t, e_put));
  td_vtree_connect(m, item, "fire", sig(t, fire));
  Joint j = {sig(t, ab), sig(t, c), sig(t, d_put), sig(t, d), sig(t, e_put), sig(t, e)};
  join_array(t, at, &j);
}

/* A system without an array: only paths. A beat that moves is what fires. */
static void put_paths(Top *t, TdVlSig *fire) {
  const TdVl *any = NULL;
  for (int i = 0; i < t->s->n; i++) {
    if (!t->s->at[i].writer) {
      join_reader(t, i, NULL);
      continue;
    }
    join_writer(t, i, NULL, NULL);
    any =
        td_vtree_or(t->m, any, td_vtree_and(t->m, sig(t, t->in_valid[i]), sig(t, t->in_ready[i])));
  }
  td_vtree_assign(t->m, fire, any ? any : bit(t, 0));
}

/* Words of all streamers, as ports: front_rtl.c joins them to streams. */
static void put_outside(Top *t) {
  TdVlModule *m = t->m;
  for (int i = 0; i < t->s->n; i++) {
    int w = (int)t->s->at[i].width;
    if (t->s->at[i].writer) {
      td_vtree_assign(m, t->in_valid[i], sig(t, td_vtree_pin(m, named(t, i, "put"), 1, false)));
      td_vtree_assign(m, t->in_word[i], sig(t, td_vtree_pin(m, named(t, i, "from"), w, false)));
      td_vtree_assign(m, td_vtree_pin(m, named(t, i, "room"), 1, true), sig(t, t->in_ready[i]));
    } else {
      td_vtree_assign(m, td_vtree_pin(m, named(t, i, "here"), 1, true), t->out[i].valid);
      td_vtree_assign(m, td_vtree_pin(m, named(t, i, "to"), w, true), t->out[i].word);
      td_vtree_assign(m, t->out[i].ready, sig(t, td_vtree_pin(m, named(t, i, "take"), 1, false)));
    }
  }
}

/* ---- the top ---- */

static void put_registers(Top *t, TdVlSig *running) {
  TdVlModule *m = t->m;
  TdVlItem *x = td_vtree_instance(m, "tide_dm_csr", "csr");
  td_vtree_param(m, x, "N", t->shape.registers);
  td_vtree_param(m, x, "EXTRA", t->shape.extra);
  td_vtree_param(m, x, "FIRST", TD_MAESTRO_CSR_FIRST);
  connect_clock(t, x);
  TdVlItem *bus = td_maestro_rtl_bus(m, x, t->axi);
  if (bus) connect_clock(t, bus);
  td_vtree_connect(m, x, "busy", sig(t, running));
  td_vtree_connect(m, x, "go", sig(t, t->go));
  td_vtree_connect(m, x, "value", sig(t, t->value));
}

static void put_top(Top *t) {
  TdVlModule *m = t->m;
  t->clk = td_vtree_input(m, "clk", 1);
  t->rst = td_vtree_input(m, "rst", 1);
  t->go = td_vtree_wire(m, "go", 1);
  t->value = td_vtree_wire(m, "value", 32 * (t->shape.registers + t->shape.extra));
  TdVlSig *running = td_vtree_output(m, "busy", 1);
  put_registers(t, running);
  t->path = reg(t, "path", 32);
  for (int i = 0; i < t->s->n; i++) declare_streamer(t, i);
  const TdVl *any = NULL, *words = NULL;
  for (int i = 0; i < t->s->n; i++) {
    int w = sharer(t->s, i);
    if (t->s->at[i].writer)
      put_writer(t, i);
    else
      put_reader(t, i, w < 0 ? bit(t, 0) : td_vtree_unary(m, "|", 1, sig(t, t->request[w])));
    any = td_vtree_or(m, any, sig(t, t->busy[i]));
    words = above(t, sig(t, t->words[i]), words);
  }
  if (t->s->front) {
    td_vtree_assign(m, td_vtree_output(m, "started", 1), sig(t, t->go));
    any = td_vtree_or(m, any, sig(t, td_vtree_input(m, "others_busy", 1)));
  }
  td_vtree_assign(m, running, any);
  td_vtree_assign(m, td_vtree_output(m, "trace_words", words->width), words);
  put_crossbar(t, running);
  if (t->s->front) {
    put_outside(t);
    return;
  }
  TdVlSig *fire = td_vtree_output(m, "trace_fire", 1);
  if (t->s->array.here)
    put_array(t, fire);
  else
    put_paths(t, fire);
}

const char *td_maestro_rtl_top(const TdMaestroSystem *s, bool axi, TdArena *a) {
  Top t = {.s = s, .axi = axi, .shape = td_maestro_rtl_shape(s, a), .a = a};
  t.map = td_maestro_csr_map(s, a);
  t.m = td_vtree_module(a, "tide_dm_system");
  put_top(&t);
  TdText text = td_text_new(a);
  td_text_puts(&text, "// Streamers between banked memory and an array.\n");
  td_vprint_module(&text, t.m);
  return td_text_str(&text);
}
