/* front_rtl.c - streamers and the rest of a design as one text: words are dealt out to the streams
 * that the design's module leaves open, or gathered of their tokens, in the cycles of front_run.c.
 */
#include "backends/maestro/front/front.h"

#include <string.h>

#include "backends/maestro/rtl/rtl.h"

/* Tokens are numbered in the word at hand, as many as `group` or what is left of TOKENS. Token t of
 * stream k, element e, has the E low bits of slot (row * EACH + e) of S bits. */
static const char streams[] =
    "// A word of a reader, dealt out a token a cycle to each of N streams; it leaves with its "
    "last "
    "token.\n"
    "module tide_dm_deal #(parameter N = 1, GROUP = 1, TOKENS = 1, EACH = 1, E = 8, S = 8, IN = "
    "0,\n"
    "                      BACK = 0) (\n"
    "  input  wire                      clk,\n"
    "  input  wire                      rst,\n"
    "  input  wire                      start,\n"
    "  output wire                      busy,\n"
    "  input  wire                      here,\n"
    "  input  wire [N*GROUP*EACH*S-1:0] word,\n"
    "  output wire                      take,\n"
    "  input  wire [N-1:0]              room,\n"
    "  output wire [N-1:0]              put,\n"
    "  output wire [N*EACH*E-1:0]       in\n"
    ");\n"
    "  reg [31:0] left;\n"
    "  wire [31:0] now = left < GROUP ? left : GROUP;\n"
    "  wire [N-1:0] over;\n"
    "  assign busy = left != 0;\n"
    "  assign take = here && busy && &over;\n"
    "  always @(posedge clk)\n"
    "    if (rst) left <= 0;\n"
    "    else if (start) left <= TOKENS;\n"
    "    else if (take) left <= left - now;\n"
    "  genvar k, e, g;\n"
    "  generate for (k = 0; k < N; k = k + 1) begin : stream\n"
    "    reg [31:0] dealt;\n"
    "    wire [31:0] at = BACK != 0 ? GROUP - 1 - dealt : dealt;\n"
    "    wire [GROUP*EACH*E-1:0] row;\n"
    "    assign put[k] = here && dealt < now && room[k];\n"
    "    assign over[k] = dealt + {31'd0, put[k]} == now;\n"
    "    assign in[k*EACH*E +: EACH*E] = row[at*EACH*E +: EACH*E];\n"
    "    for (g = 0; g < GROUP; g = g + 1) begin : token\n"
    "      for (e = 0; e < EACH; e = e + 1) begin : element\n"
    "        assign row[(g*EACH+e)*E +: E] =\n"
    "          word[((IN != 0 ? g*N + k : k*GROUP + g)*EACH + e)*S +: E];\n"
    "      end\n"
    "    end\n"
    "    always @(posedge clk)\n"
    "      if (rst || start || take) dealt <= 0;\n"
    "      else if (put[k]) dealt <= dealt + 1;\n"
    "  end endgenerate\n"
    "endmodule\n"
    "\n"
    "// A word of a writer, gathered of a token a cycle from each of N streams; it is put with its "
    "last\n"
    "// token, or when there is room.\n"
    "module tide_dm_gather_streams #(parameter N = 1, GROUP = 1, TOKENS = 1, EACH = 1, E = 8, S = "
    "8,\n"
    "                                IN = 0, BACK = 0) (\n"
    "  input  wire                      clk,\n"
    "  input  wire                      rst,\n"
    "  input  wire                      start,\n"
    "  output wire                      busy,\n"
    "  input  wire [N-1:0]              valid,\n"
    "  output wire [N-1:0]              take,\n"
    "  input  wire [N*EACH*E-1:0]       out,\n"
    "  input  wire                      room,\n"
    "  output wire                      put,\n"
    "  output wire [N*GROUP*EACH*S-1:0] word\n"
    ");\n"
    "  reg [31:0] left;\n"
    "  wire [31:0] now = left < GROUP ? left : GROUP;\n"
    "  wire [N-1:0] over;\n"
    "  wire goes = put && room;\n"
    "  assign busy = left != 0;\n"
    "  assign put = busy && &over;\n"
    "  always @(posedge clk)\n"
    "    if (rst) left <= 0;\n"
    "    else if (start) left <= TOKENS;\n"
    "    else if (goes) left <= left - now;\n"
    "  genvar k, e, g;\n"
    "  generate for (k = 0; k < N; k = k + 1) begin : stream\n"
    "    reg [31:0] got;\n"
    "    wire [31:0] at = BACK != 0 ? GROUP - 1 - got : got;\n"
    "    assign take[k] = got < now && valid[k];\n"
    "    assign over[k] = got + {31'd0, take[k]} == now;\n"
    "    always @(posedge clk)\n"
    "      if (rst || start || goes) got <= 0;\n"
    "      else if (take[k]) got <= got + 1;\n"
    "    for (g = 0; g < GROUP; g = g + 1) begin : token\n"
    "      reg [EACH*E-1:0] kept;\n"
    "      wire mine = take[k] && at == g;\n"
    "      wire [EACH*E-1:0] value = mine ? out[k*EACH*E +: EACH*E] : kept;\n"
    "      always @(posedge clk)\n"
    "        if (rst) kept <= 0;\n"
    "        else if (mine) kept <= value;\n"
    "      for (e = 0; e < EACH; e = e + 1) begin : element\n"
    "        wire [S-1:0] slot;\n"
    "        assign slot[E-1:0] = value[e*E +: E];\n"
    "        if (S > E) assign slot[S-1:E] = 0;\n"
    "        assign word[((IN != 0 ? g*N + k : k*GROUP + g)*EACH + e)*S +: S] = slot;\n"
    "      end\n"
    "    end\n"
    "  end endgenerate\n"
    "endmodule\n";

typedef struct Joint {
  const TdMaestroFront *f;
  const TdVlogModule *design;
  TdArena *a;
  TdVlModule *m;
  TdVlSig *clk, *rst, *start;
  TdVlItem *system;
  /* of each feed: of its streams side by side, those that move, and what comes or goes */
  TdVlSig *moves[TD_MAESTRO_STREAMERS], *data[TD_MAESTRO_STREAMERS];
  const TdVl *can[TD_MAESTRO_STREAMERS], *out[TD_MAESTRO_STREAMERS]; /* may move; what comes out */
  const TdVl *fire, *busy, *told; /* told: all that moves, the first lowest */
} Joint;

static const TdVl *sig(Joint *j, TdVlSig *s) {
  return td_vtree_sig(j->m, s);
}

static const TdVl *above(Joint *j, const TdVl *y, const TdVl *x) {
  return x ? td_vtree_cat(j->m, y, x) : y;
}

static bool is_writer(const Joint *j, int i) {
  return j->f->system.at[i].writer;
}

/* The pins of end k of feed i, and its number among them; NULL: it has none. */
static const TdVlogOpen *open_of(const Joint *j, int i, int64_t k, int64_t *number) {
  const TdMaestroEnd *end = &j->f->feed[i].end[k];
  for (size_t o = 0; o < j->design->nopen; o++) {
    const TdVlogOpen *x = &j->design->open[o];
    if (x->stream != end->stream || x->put == is_writer(j, i)) continue;
    for (*number = 0; *number < x->count; ++*number)
      if (x->ordinal[*number] == end->ordinal) return x;
  }
  return NULL;
}

/* The feed and end that pin `number` of o is of; false: none. */
static bool end_of(const Joint *j, const TdVlogOpen *o, int64_t number, int *feed, int64_t *end) {
  for (int i = 0; i < j->f->system.n; i++)
    for (int64_t k = 0; is_writer(j, i) != o->put && k < j->f->feed[i].nend; k++) {
      const TdMaestroEnd *e = &j->f->feed[i].end[k];
      if (e->stream != o->stream || e->ordinal != o->ordinal[number]) continue;
      *feed = i;
      *end = k;
      return true;
    }
  return false;
}

static int64_t bits_of(const Joint *j, int i) {
  return j->f->feed[i].each * j->f->feed[i].elem->w;
}

/* Refuses what is not built of a feed. */
static bool check_feed(const Joint *j, int i, TdDiag *d) {
  int64_t number;
  const char *name = j->f->system.at[i].name;
  for (int64_t k = 0; k < j->f->feed[i].nend; k++) {
    const TdVlogOpen *o = open_of(j, i, k, &number);
    if (!o || o->beats > 1 || o->width != bits_of(j, i))
      return td_diag_set(d, TD_UNSUPPORTED, "maestro-rtl", j->f->feed[i].loc,
                         "streamer %s: Verilog of a stream %s is not built", name,
                         o ? "whose tokens move in several beats" : "that no task uses");
  }
  return true;
}

static void connect_clock(Joint *j, TdVlItem *x) {
  td_vtree_connect(j->m, x, "clk", sig(j, j->clk));
  td_vtree_connect(j->m, x, "rst", sig(j, j->rst));
}

/* A wire between the system and what deals or gathers. */
static const TdVl *between(Joint *j, int i, const char *pin, int width, TdVlItem *x,
                           const char *other) {
  const char *name = td_text_fmt(j->a, "%s_%s", j->f->system.at[i].name, pin);
  const TdVl *s = sig(j, td_vtree_wire(j->m, name, width));
  td_vtree_connect(j->m, j->system, name, s);
  td_vtree_connect(j->m, x, other, s);
  return s;
}

/* What deals out the words of reader i, or gathers those of a writer. */
static void put_feed(Joint *j, int i) {
  const TdMaestroFeed *f = &j->f->feed[i];
  const char *name = j->f->system.at[i].name;
  bool w = is_writer(j, i);
  TdVlItem *x = td_vtree_instance(j->m, w ? "tide_dm_gather_streams" : "tide_dm_deal",
                                  td_text_fmt(j->a, "%s_%s", name, w ? "gather" : "deal"));
  const struct {
    const char *name;
    int64_t value;
  } list[] = {{"N", f->nend},    {"GROUP", f->group}, {"TOKENS", f->tokens}, {"EACH", f->each},
              {"E", f->elem->w}, {"S", 8 * f->size},  {"IN", f->streams_in}, {"BACK", f->backward}};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++)
    td_vtree_param(j->m, x, list[k].name, list[k].value);
  connect_clock(j, x);
  td_vtree_connect(j->m, x, "start", sig(j, j->start));
  TdVlSig *busy = td_vtree_wire(j->m, td_text_fmt(j->a, "%s_left", name), 1);
  td_vtree_connect(j->m, x, "busy", sig(j, busy));
  int width = (int)j->f->system.at[i].width;
  const TdVl *gives = between(j, i, w ? "put" : "take", 1, x, w ? "put" : "take");
  const TdVl *may = between(j, i, w ? "room" : "here", 1, x, w ? "room" : "here");
  between(j, i, w ? "from" : "to", width, x, "word");
  const char *moves = w ? "take" : "put";
  j->moves[i] = td_vtree_wire(j->m, td_text_fmt(j->a, "%s_moves", name), (int)f->nend);
  td_vtree_connect(j->m, x, moves, sig(j, j->moves[i]));
  td_vtree_connect(j->m, x, w ? "valid" : "room", j->can[i]);
  if (w) {
    td_vtree_connect(j->m, x, "out", j->out[i]);
  } else {
    j->data[i] =
        td_vtree_wire(j->m, td_text_fmt(j->a, "%s_tokens", name), (int)(f->nend * bits_of(j, i)));
    td_vtree_connect(j->m, x, "in", sig(j, j->data[i]));
  }
  j->busy = td_vtree_or(j->m, j->busy, sig(j, busy));
  j->fire = td_vtree_or(j->m, j->fire, td_vtree_unary(j->m, "|", 1, sig(j, j->moves[i])));
  j->fire = td_vtree_or(j->m, j->fire, w ? td_vtree_and(j->m, gives, may) : gives);
  j->told = above(j, sig(j, j->moves[i]), j->told);
}

/* What the design says of the streams of feed i, side by side. */
static void find_ends(Joint *j, int i, TdVlSig *const *may, TdVlSig *const *out) {
  for (int64_t k = 0, at; k < j->f->feed[i].nend; k++) {
    const TdVlogOpen *o = open_of(j, i, k, &at);
    size_t n = (size_t)(o - j->design->open);
    j->can[i] = above(j, td_vtree_slice(j->m, sig(j, may[n]), (int)at, 1), j->can[i]);
    if (is_writer(j, i))
      j->out[i] =
          above(j, td_vtree_slice(j->m, sig(j, out[n]), (int)at * o->width, o->width), j->out[i]);
  }
}

/* What the streams behind pins o are told; ends of no feed never move. */
static void drive(Joint *j, const TdVlogOpen *o, TdVlSig *moves, TdVlSig *in) {
  const TdVl *all = NULL, *data = NULL;
  for (int64_t n = 0; n < o->count; n++) {
    int i = 0;
    int64_t k = 0;
    bool fed = end_of(j, o, n, &i, &k);
    const TdVl *one =
        fed ? td_vtree_slice(j->m, sig(j, j->moves[i]), (int)k, 1) : td_vtree_const(j->m, 1, 0);
    all = above(j, one, all);
    if (!o->put) continue;
    one = fed ? td_vtree_slice(j->m, sig(j, j->data[i]), (int)k * o->width, o->width)
              : td_vtree_const(j->m, o->width, 0);
    data = above(j, one, data);
  }
  td_vtree_assign(j->m, moves, all);
  if (o->put) td_vtree_assign(j->m, in, data);
}

/* Whether a pin of the design is of an open end. */
static bool is_open(const Joint *j, const char *pin) {
  for (size_t o = 0; o < j->design->nopen; o++) {
    size_t n = strlen(j->design->open[o].name);
    if (strncmp(pin, j->design->open[o].name, n) == 0 && pin[n] == '_') return true;
  }
  return false;
}

/* The design, its other pins as ports, and what deals and gathers. */
static void put_design(Joint *j) {
  size_t n = j->design->nopen;
  TdVlItem *x = td_vtree_instance(j->m, j->design->name, "design");
  TdVlSig **moves = TD_NEWN(j->a, TdVlSig *, n + 1), **may = TD_NEWN(j->a, TdVlSig *, n + 1);
  TdVlSig **data = TD_NEWN(j->a, TdVlSig *, n + 1);
  connect_clock(j, x);
  td_vtree_connect(j->m, x, "start", sig(j, j->start));
  TdVlSig *busy = td_vtree_wire(j->m, "design_busy", 1);
  td_vtree_connect(j->m, x, "busy", sig(j, busy));
  j->busy = sig(j, busy);
  for (size_t i = 0; i < j->design->npin; i++) {
    const TdVlogPin *p = &j->design->pin[i];
    if (is_open(j, p->name)) continue;
    td_vtree_connect(j->m, x, p->name, sig(j, td_vtree_pin(j->m, p->name, (int)p->bits, !p->in)));
  }
  for (size_t o = 0; o < n; o++) {
    const TdVlogOpen *p = &j->design->open[o];
    const char *const pin[] = {p->put ? "put" : "take", p->put ? "room" : "valid",
                               p->put ? "in" : "out"};
    TdVlSig **to[] = {&moves[o], &may[o], &data[o]};
    for (int k = 0; k < 3; k++) {
      const char *name = td_text_fmt(j->a, "%s_%s", p->name, pin[k]);
      *to[k] = td_vtree_wire(j->m, name, (int)p->count * (k == 2 ? p->width : 1));
      td_vtree_connect(j->m, x, name, sig(j, *to[k]));
    }
  }
  for (int i = 0; i < j->f->system.n; i++) find_ends(j, i, may, data);
  for (int i = 0; i < j->f->system.n; i++) put_feed(j, i);
  for (size_t o = 0; o < n; o++) drive(j, &j->design->open[o], moves[o], data[o]);
}

/* A pin of the system as one of the whole. */
static void pass(Joint *j, const char *name, int width, bool out) {
  td_vtree_connect(j->m, j->system, name, sig(j, td_vtree_pin(j->m, name, width, out)));
}

static void put_whole(Joint *j, bool axi) {
  const TdMaestroSystem *s = &j->f->system;
  TdMaestroShape shape = td_maestro_rtl_shape(s, j->a);
  TdVlModule *m = j->m;
  j->clk = td_vtree_input(m, "clk", 1);
  j->rst = td_vtree_input(m, "rst", 1);
  j->start = td_vtree_wire(m, "started", 1);
  j->system = td_vtree_instance(m, "tide_dm_system", "system");
  connect_clock(j, j->system);
  td_vtree_connect(m, j->system, "started", sig(j, j->start));
  td_maestro_rtl_pins(m, j->system, axi);
  pass(j, "busy", 1, true);
  pass(j, "host", 1, false);
  pass(j, "host_write", 1, false);
  pass(j, "host_place", shape.place, false);
  pass(j, "host_data", (int)shape.width, false);
  pass(j, "host_q", (int)shape.width, true);
  pass(j, "trace_grant", s->ports, true);
  pass(j, "trace_bank", (int)s->memory.banks, true);
  TdVlSig *words = td_vtree_wire(m, "words", s->n * (int)shape.count);
  td_vtree_connect(m, j->system, "trace_words", sig(j, words));
  put_design(j);
  td_vtree_connect(m, j->system, "others_busy", j->busy);
  td_vtree_assign(m, td_vtree_pin(m, "trace_fire", 1, true), j->fire);
  const TdVl *told = td_vtree_cat(m, j->told, sig(j, words));
  td_vtree_assign(m, td_vtree_pin(m, "trace_words", told->width, true), told);
}

/* The text of the design without the tasks that streamers stand for. */
static const TdVlogText *text_of(const TdMaestroFront *f, const TdTarget *target, TdAffine *affine,
                                 TdArena *a, TdDiag *d) {
  TdSched sched = {.affine = affine, .arena = a, .prog = f->prog, .target = target};
  TdVlogProg p = {.arena = a, .prog = f->prog, .sched = &sched, .control = "handshake"};
  p.without = f->without;
  p.times = td_firing_times(affine, a, f->prog, target, d);
  return p.times ? td_verilog_text_of(&p, d) : NULL;
}

bool td_maestro_front_text(const TdMaestroFront *f, const TdTarget *target, TdAffine *affine,
                           bool axi, TdArena *a, TdMaestroFrontText *out, TdDiag *d) {
  const TdVlogText *text = text_of(f, target, affine, a, d);
  if (!text) return false;
  Joint j = {.f = f, .design = text->top, .a = a, .m = td_vtree_module(a, "tide_dm_front")};
  for (int i = 0; i < f->system.n; i++)
    if (!check_feed(&j, i, d)) return false;
  put_whole(&j, axi);
  TdText top = td_text_new(a);
  td_text_puts(&top, td_maestro_rtl_waived);
  td_text_puts(&top, "// Streamers of a banked memory in front of a design.\n");
  td_vprint_module(&top, j.m);
  size_t n;
  const TdFile *system = td_maestro_rtl_files(&f->system, axi, a, &n, d);
  if (!system) return false;
  TdFile *file = TD_NEWN(a, TdFile, n + text->nfile + 2);
  file[out->nfile++] = (TdFile){"tide_dm_front.v", td_text_str(&top)};
  file[out->nfile++] =
      (TdFile){"tide_dm_streams.v", td_text_fmt(a, "%s%s", td_maestro_rtl_waived, streams)};
  for (size_t i = 0; i < n; i++) file[out->nfile++] = system[i];
  for (size_t i = 0; i < text->nfile; i++) file[out->nfile++] = text->file[i];
  out->file = file;
  out->design = text->top;
  TdMaestroDut dut = {"tide_dm_front", j.told->width, text->top};
  out->moves = dut.moves;
  out->bench = td_maestro_rtl_bench(&f->system, axi, &dut, a);
  return true;
}
