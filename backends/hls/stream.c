/* stream.c - get, put and slot. A token that is a tensor moves in words, each an hls::vector of
 * as many trailing dimensions as fit one; a stream that holds n tokens holds their words. Blocks
 * are locked, or copied (lock.c). */
#include <inttypes.h>
#include <string.h>

#include "backends/hls/text.h"

static int64_t extent_of(const TdType *t, int d) {
  int64_t v = 1;
  td_type_extent(t, d, &v);
  return v;
}

/* Elements of dimensions lo to hi - 1. */
static int64_t elements(const TdType *t, int lo, int hi) {
  int64_t n = 1;
  for (int d = lo; t->kind == TD_T_TENSOR && d < hi; d++) n *= extent_of(t, d);
  return n;
}

/* "ap_int<8>", or "hls::vector<ap_int<8>, 4>": a word of tokens of type t. */
static const char *word_type(TdCWriter *w, const TdType *t) {
  const char *cell = w->target->cell(w, NULL, td_type_scalar(t));
  int from = td_net_word(t);
  if (t->kind != TD_T_TENSOR || from == t->rank) return cell;
  return td_text_fmt(w->arena, "hls::vector<%s, %" PRId64 ">", cell, elements(t, from, t->rank));
}

/* "ap_int<8>[4]": the type of a block. */
static const char *block_type(TdCWriter *w, const TdType *t) {
  TdText s = td_text_new(w->arena);
  td_text_puts(&s, w->target->cell(w, NULL, td_type_scalar(t)));
  for (int d = 0; d < t->rank; d++) td_text_putf(&s, "[%" PRId64 "]", extent_of(t, d));
  return td_text_str(&s);
}

int64_t td_hls_stream_words(const TdType *port, int64_t depth) {
  if (port->block || port->elem->kind != TD_T_TENSOR) return depth;
  return depth * elements(port->elem, 0, td_net_word(port->elem));
}

const char *td_hls_stream_type(TdCWriter *w, const TdType *port, const char *depth) {
  const char *token = port->block ? block_type(w, port->elem) : word_type(w, port->elem);
  return td_text_fmt(w->arena, "hls::stream%s<%s%s%s>", port->block ? "_of_blocks" : "", token,
                     *depth ? ", " : "", depth);
}

/* The stream that a GET, PUT or SLOT names. */
static const char *stream_of(TdCWriter *w, const TdStmt *s) {
  return td_hls_unit_argument(w, s->expr[0]);
}

/* Which of the streams that are listed one by one s names; NULL: it names another. */
static const char *place_in_list(TdCWriter *w, const TdStmt *s) {
  const TdExpr *e = s->expr[0];
  const TdCName *name = td_cname_of(w, e->sym);
  if (!strchr(name->text, ',')) return NULL;
  const TdExpr *at = td_expr_index(w->session, w->arena, 0, s->loc);
  for (uint32_t d = 0; d < e->nkid; d++)
    at = td_lin_plus(w->session, w->arena,
                     td_lin_times(w->session, w->arena, at, extent_of(name->type, (int)d)),
                     e->kid[d]);
  return w->target->index(w, at).text;
}

/* "Z.read()" */
static const char *read_of(TdCWriter *w, const TdStmt *s) {
  const char *at = place_in_list(w, s);
  if (!at) return td_text_fmt(w->arena, "%s.read()", stream_of(w, s));
  return td_text_fmt(w->arena, "tide::read_of(%s, %s)", at, td_cname_of(w, s->expr[0]->sym)->text);
}

static void put_write(TdCWriter *w, const TdStmt *s, const char *value) {
  const char *at = place_in_list(w, s);
  if (at)
    td_text_line(&w->out, "tide::write_of(%s, %s, %s);", at, value,
                 td_cname_of(w, s->expr[0]->sym)->text);
  else
    td_text_line(&w->out, "%s.write(%s);", stream_of(w, s), value);
}

/* Loops over dimensions lo to hi - 1 of t being written; the indices so far. */
typedef struct Loops {
  TdCWriter *w;
  const TdType *t;
  const TdExpr *index[TD_MAX_RANK];
  const char *name[TD_MAX_RANK];
  int depth; /* blocks that are open */
} Loops;

/* A block, or a loop's body, begins. */
static void indent(Loops *l) {
  l->w->out.indent++;
  l->depth++;
}

/* A loop over dimension d. */
static void open_loop(Loops *l, int d) {
  TdCWriter *w = l->w;
  TdSym v = td_store_sym(w->store, td_text_fmt(w->arena, "i%d", d), TD_SYM_LOOP);
  int64_t n = extent_of(l->t, d);
  l->name[d] = td_cname_declare(w, v);
  l->index[d] = td_expr_var(w->arena, v, td_type_index(w->session), (TdLoc){0});
  td_text_line(&w->out, "for (int %s = 0; %s < %" PRId64 "; %s++) {", l->name[d], l->name[d], n,
               l->name[d]);
  td_crange_push_loop(w, v, td_expr_index(w->session, w->arena, 0, (TdLoc){0}),
                      td_expr_index(w->session, w->arena, n, (TdLoc){0}));
  indent(l);
}

/* Loops over dimensions lo to hi - 1, the innermost, or `each`, with a pragma; none over a
 * dimension of one element. */
static void open(Loops *l, int lo, int hi, bool each, const char *pragma) {
  TdCWriter *w = l->w;
  while (hi > lo && extent_of(l->t, hi - 1) == 1) {
    l->name[--hi] = "0";
    l->index[hi] = td_expr_index(w->session, w->arena, 0, (TdLoc){0});
  }
  for (int d = lo; d < hi; d++) {
    l->name[d] = "0";
    l->index[d] = td_expr_index(w->session, w->arena, 0, (TdLoc){0});
    if (extent_of(l->t, d) == 1) continue;
    open_loop(l, d);
    if (each || d == hi - 1) td_text_line(&w->out, "#pragma HLS %s", pragma);
  }
}

/* Ends all blocks but `outer`. */
static void close(Loops *l, int outer) {
  for (; l->depth > outer; l->depth--) {
    l->w->out.indent--;
    td_text_line(&l->w->out, "}");
  }
}

/* The scope of a word: inside the loops over the first n dimensions, or a block. */
static void open_scope(Loops *l, int n) {
  open(l, 0, n, false, "pipeline II=1");
  if (l->depth) return;
  td_text_line(&l->w->out, "{");
  indent(l);
}

/* The place in a word of the element that the loops are at: "i1 * 4 + i2". */
static const char *place_in_word(Loops *l, int from) {
  TdText t = td_text_new(l->w->arena);
  int64_t stride = elements(l->t, from, l->t->rank);
  for (int d = from; d < l->t->rank; d++) {
    stride /= extent_of(l->t, d);
    if (extent_of(l->t, d) == 1) continue;
    td_text_putf(&t, "%s%s", t.n ? " + " : "", l->name[d]);
    if (stride > 1) td_text_putf(&t, " * %" PRId64, stride);
  }
  return td_text_str(&t);
}

/* The element of a view that the loops are at. */
static const char *element(Loops *l, const TdExpr *view) {
  return td_cexpr_place(l->w, td_ctensor_element(l->w, view, l->index)).text;
}

/* The element of an array called `name` that the loops are at. */
static const char *element_of(Loops *l, const char *name) {
  TdText t = td_text_new(l->w->arena);
  td_text_puts(&t, name);
  for (int d = 0; d < l->t->rank; d++) td_text_putf(&t, "[%s]", l->name[d]);
  return td_text_str(&t);
}

static const char *fresh(TdCWriter *w, const char *want) {
  const char *name = td_cname_fresh(w, want);
  td_cname_put(w, NULL, name, NULL, NULL);
  return name;
}

/* The words of a token, read into a view. */
static void get_words(TdCWriter *w, const TdStmt *s, const TdType *t, const TdExpr *to) {
  Loops l = {.w = w, .t = t};
  int from = td_net_word(t);
  open_scope(&l, from);
  if (from == t->rank) {
    td_text_line(&w->out, "%s = %s;", element(&l, to), read_of(w, s));
  } else {
    const char *word = fresh(w, "word");
    td_text_line(&w->out, "const %s %s = %s;", word_type(w, t), word, read_of(w, s));
    open(&l, from, t->rank, true, "unroll");
    td_text_line(&w->out, "%s = %s[%s];", element(&l, to), word, place_in_word(&l, from));
  }
  close(&l, 0);
}

/* The words of the token that a tensor expression is, written. */
static void put_words(TdCWriter *w, const TdStmt *s, const TdType *t, const TdExpr *e) {
  Loops l = {.w = w, .t = t};
  int from = td_net_word(t);
  open_scope(&l, from);
  const char *word = from < t->rank ? fresh(w, "word") : "";
  if (*word) td_text_line(&w->out, "%s %s;", word_type(w, t), word);
  int outer = l.depth;
  open(&l, from, t->rank, true, "unroll");
  const char *value = w->target->value(w, td_ctensor_element(w, e, l.index)).text;
  if (*word) {
    td_text_line(&w->out, "%s[%s] = %s;", word, place_in_word(&l, from), value);
    close(&l, outer);
    put_write(w, s, word);
  } else {
    put_write(w, s, value);
  }
  close(&l, 0);
}

/* Copies a block that is locked for it: from the stream into `to`, or `value` into the stream. */
static void copy_block(TdCWriter *w, const char *stream, const TdType *t, const TdExpr *to,
                       const TdExpr *value) {
  Loops l = {.w = w, .t = t};
  const char *block = fresh(w, "block");
  td_text_line(&w->out, "{");
  w->out.indent++;
  td_text_line(&w->out, "hls::%s_lock<%s> %s(%s);", to ? "read" : "write", block_type(w, t), block,
               stream);
  open(&l, 0, t->rank, false, "pipeline II=1");
  if (to)
    td_text_line(&w->out, "%s = %s;", element(&l, to), element_of(&l, block));
  else
    td_text_line(&w->out, "%s = %s;", element_of(&l, block),
                 w->target->value(w, td_ctensor_element(w, value, l.index)).text);
  close(&l, 0);
  w->out.indent--;
  td_text_line(&w->out, "}");
}

/* Declares what s gets, and says what it is. */
static const TdExpr *declare(TdHlsProg *p, const TdStmt *s, const TdType *t) {
  td_hls_unit_array(p, s, t);
  return td_expr_whole(p->w->session, p->w->arena, s->sym, t, s->loc);
}

static void put_scalar_get(TdHlsProg *p, const TdStmt *s, const TdType *t) {
  TdCWriter *w = p->w;
  const char *value = read_of(w, s);
  if (s->nexpr > 1) {
    td_text_line(&w->out, "%s = %s;", td_cexpr_place(w, s->expr[1]).text, value);
  } else if (td_map_getp(&p->unused, s->sym)) {
    td_text_line(&w->out, "(void)%s;", value);
  } else {
    const char *name = td_cname_declare(w, s->sym);
    td_text_line(&w->out, "%s %s = %s;", w->target->cell(w, s->sym, t), name, value);
  }
}

/* A buffer as it lies in its stream; a slot's scope ends with its put. */
static void put_lock(TdHlsProg *p, const TdStmt *s, const TdType *t) {
  TdCWriter *w = p->w;
  const char *stream = stream_of(w, s);
  bool slot = s->kind == TD_STMT_SLOT;
  if (slot) {
    td_text_line(&w->out, "{");
    w->out.indent++;
  }
  const char *name = td_cname_fresh(w, s->sym->name);
  td_cname_put(w, s->sym, name, t, NULL);
  td_text_line(&w->out, "hls::%s_lock<%s> %s(%s);", slot ? "write" : "read", block_type(w, t), name,
               stream);
}

static void put_get(TdHlsProg *p, const TdStmt *s, const TdType *t) {
  TdCWriter *w = p->w;
  if (t->kind != TD_T_TENSOR) {
    put_scalar_get(p, s, t);
  } else if (td_map_getp(&p->lock, s->sym)) {
    put_lock(p, s, t);
  } else {
    const TdExpr *to = s->nexpr > 1 ? s->expr[1] : declare(p, s, t);
    size_t known = td_crange_mark(w), names = td_cname_mark(w);
    if (s->expr[0]->type->block)
      copy_block(w, stream_of(w, s), t, to, NULL);
    else
      get_words(w, s, t, to);
    td_crange_release(w, known);
    td_cname_release(w, names);
  }
}

static void put_put(TdHlsProg *p, const TdStmt *s, const TdType *t) {
  TdCWriter *w = p->w;
  const TdExpr *e = s->expr[1];
  const TdExpr *slot = e->kind == TD_EXPR_VIEW ? td_map_getp(&p->slot, e->sym) : NULL;
  if (t->kind != TD_T_TENSOR) {
    put_write(w, s, w->target->value(w, e).text);
    return;
  }
  if (slot && td_hls_lock_ends(s, e->sym, slot)) {
    w->out.indent--;
    td_text_line(&w->out, "}");
    return;
  }
  size_t known = td_crange_mark(w), names = td_cname_mark(w);
  if (s->expr[0]->type->block)
    copy_block(w, stream_of(w, s), t, NULL, e);
  else
    put_words(w, s, t, e);
  td_crange_release(w, known);
  td_cname_release(w, names);
}

void td_hls_stream_put(TdHlsProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  const TdType *t = s->expr[0]->type->elem;
  if (t->kind == TD_T_TENSOR) t = td_cfamily_type(w, t);
  switch (s->kind) {
  case TD_STMT_GET: put_get(p, s, t); break;
  case TD_STMT_PUT: put_put(p, s, t); break;
  default:
    if (td_map_getp(&p->lock, s->sym)) {
      td_map_putp(w->arena, &p->slot, s->sym, (void *)(uintptr_t)s->expr[0]);
      put_lock(p, s, t);
    } else {
      declare(p, s, t);
    }
  }
}
