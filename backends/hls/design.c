/* design.c - a dataflow region: streams and calls, nothing else, as Vitis wants it. */
#include <inttypes.h>
#include <string.h>

#include "backends/hls/text.h"

/* Bytes of locals that every task has room for in a simulation; and that none has. */
#define FEW_BYTES (64 * 1024)
#define MOST_BYTES 1e9

/* Words separated by commas, in lines. */
typedef struct List {
  TdText text;
  size_t column, n; /* where the next word goes; how many there are */
} List;

static void add(List *l, const char *word) {
  enum { COLUMNS = 96 };
  bool full = l->n && l->column + strlen(word) > COLUMNS;
  if (l->n++) td_text_putc(&l->text, ',');
  if (full) {
    td_text_puts(&l->text, "\n     ");
    l->column = 6;
  }
  l->column += strlen(word) + 2;
  if (l->n > 1) td_text_putc(&l->text, ' ');
  td_text_puts(&l->text, word);
}

/* The banks of the blocks of a stream, or of each stream of an array of this type. */
static void put_banks(TdHlsProg *p, const TdStream *s, const TdType *t, const char *name) {
  int64_t count = 1, extent = 1;
  if (!td_attrs_get(s->attrs, TD_ATTR_PARTITION)) return;
  for (int d = 0; d < t->rank; d++, count *= extent) td_type_extent(t, d, &extent);
  for (int64_t i = 0; i < count; i++) {
    TdText at = td_text_new(p->w->arena);
    int64_t rest = i, below = count;
    td_text_puts(&at, name);
    for (int d = 0; d < t->rank; d++) {
      td_type_extent(t, d, &extent);
      below /= extent;
      td_text_putf(&at, "[%" PRId64 "]", rest / below);
      rest %= below;
    }
    td_hls_pragma_banks(p, td_text_str(&at), s->attrs);
  }
}

/* "hls::stream<ap_int<8>, 2> Z[4];" */
static void put_stream(TdHlsProg *p, const TdStream *s, List *names) {
  TdCWriter *w = p->w;
  const TdType *t = td_cfamily_type(w, s->type);
  int64_t depth = td_hls_stream_words(t, td_cfamily_size(w, s->depth)), extent = 1;
  const char *name = td_cname_fresh(w, s->sym->name);
  const char *type = td_hls_stream_type(w, t, td_text_fmt(w->arena, "%" PRId64, depth));
  td_cname_put(w, s->sym, name, t, NULL);
  TdText dims = td_text_new(w->arena);
  for (int d = 0; d < t->rank; d++) {
    td_type_extent(t, d, &extent);
    td_text_putf(&dims, "[%" PRId64 "]", extent);
  }
  td_text_line(&w->out, "%s %s%s;", type, name, td_text_str(&dims));
  const TdAttr *impl = td_attrs_get(s->attrs, TD_ATTR_IMPL);
  if (impl && !t->block)
    td_text_line(&w->out, "#pragma HLS bind_storage variable=%s type=fifo impl=%s", name,
                 impl->arg[0].s);
  if (t->block) put_banks(p, s, t, name);
  add(names, name);
}

/* The streams that lead back, for whoever simulates with a tool that runs tasks in turn. */
static void put_feedback(TdHlsProg *p, const TdNetRegion *r) {
  TdText t = td_text_new(p->w->arena);
  for (size_t i = 0; i < r->nfeedback; i++)
    td_text_putf(&t, "%s%s", i ? ", " : "", r->feedback[i]->name);
  if (r->nfeedback)
    td_text_line(&p->w->out, "// feedback: %s; a simulation must run the tasks side by side",
                 td_text_str(&t));
}

/* "TIDE_TASK("pe[0][1]", pe<0, 1>)(Z[0], Z[1]);": coordinates are the last arguments of a call. */
static void put_call(TdHlsProg *p, const TdStmt *s, const char *label, const TdNetGiven *given) {
  TdCWriter *w = p->w;
  size_t nparam = td_prog_unit(w->prog, s->sym)->nparam;
  TdText ids = td_text_new(w->arena);
  for (uint32_t i = (uint32_t)nparam; i < s->nexpr; i++)
    td_text_putf(&ids, "%s%s", i > nparam ? ", " : "<", td_hls_unit_argument(w, s->expr[i]));
  if (ids.n) td_text_putc(&ids, '>');
  const char *task = td_text_fmt(w->arena, "TIDE_TASK(\"%s\", %s%s)", label,
                                 td_cname_of(w, s->sym)->text, td_text_str(&ids));
  List arg = {.text = td_text_new(w->arena), .column = strlen(task) + 3};
  for (uint32_t i = 0; i < nparam; i++) {
    if (!given[i].n) add(&arg, td_hls_unit_argument(w, s->expr[i]));
    for (uint32_t k = 0; k < given[i].n; k++) add(&arg, td_hls_unit_argument(w, given[i].at[k]));
  }
  td_text_line(&w->out, "%s(%s);", task, td_text_str(&arg.text));
}

void td_hls_design_streams(TdHlsProg *p) {
  List names = {.text = td_text_new(p->w->arena)};
  for (size_t i = 0; i < p->w->unit->nstream; i++) put_stream(p, &p->w->unit->stream[i], &names);
}

void td_hls_design_put(TdHlsProg *p, const TdNetRegion *r) {
  TdCWriter *w = p->w;
  const TdUnit *u = w->unit;
  List names = {.text = td_text_new(w->arena), .column = strlen("  TIDE_REGION(")};
  td_text_line(&w->out, "#pragma HLS dataflow");
  put_feedback(p, r);
  for (size_t i = 0; i < u->nstream; i++) put_stream(p, &u->stream[i], &names);
  td_text_line(&w->out, "TIDE_REGION(%s);", td_text_str(&names.text));
  if (p->locals > FEW_BYTES && p->locals < MOST_BYTES)
    td_text_line(&w->out, "TIDE_LOCALS(%" PRId64 ");", (int64_t)p->locals);
  for (uint32_t i = 0; i < u->body->nkid; i++)
    put_call(p, u->body->kid[i], r->label[i], r->given[i]);
}
