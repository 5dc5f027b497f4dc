/* stp_print.c - a graph as Lua that loads back: a line for each node, its shapes as a comment. */
#include <string.h>

#include "step/stp_print.h"

enum { MOST_LOCALS = 150 };

typedef struct Printer {
  TdText *out;
  const TdStpGraph *g;
  bool fields; /* nodes are fields of a table: more than Lua has locals */
} Printer;

static bool is_list(const TdStpNode *n) {
  return n->op == TD_STP_PARTITION || n->op == TD_STP_PARALLELIZE;
}

/* The variable of a node. */
static void put_variable(Printer *p, const TdStpNode *n) {
  if (p->fields) td_text_puts(p->out, "n.");
  td_text_puts(p->out, n->name);
  if (n->ordinal) td_text_putf(p->out, "_%u", n->ordinal);
  if (!p->fields && !n->ordinal && td_stp_key_find(n->name) != TD_STP_KEYS)
    td_text_putc(p->out, '_');
}

static void put_ref(Printer *p, TdStpRef r) {
  const TdStpNode *n = td_stp_graph_node(p->g, r.uid);
  put_variable(p, n);
  if (is_list(n))
    td_text_putf(p->out, "[%d]", r.out + 1);
  else if (r.out)
    td_text_puts(p->out, n->op == TD_STP_RESHAPE ? "_padding" : "_from");
}

static void put_integers(Printer *p, const char *key, const int64_t *v, int n, const char **sep) {
  td_text_putf(p->out, "%s%s = { ", *sep, key);
  for (int i = 0; i < n; i++) td_text_putf(p->out, "%s%lld", i ? ", " : "", (long long)v[i]);
  td_text_puts(p->out, " }");
  *sep = ", ";
}

/* The word of an option whose kind is a list of words, else NULL. */
static const char *word_of(const Printer *p, const TdStpNode *n, TdStpKey k) {
  const char *name = td_stp_key_name(k);
  size_t length = strlen(name);
  for (const char *o = td_stp_ops[n->op].options; *o; o += strcspn(o, " "), o += *o == ' ') {
    if (strncmp(o, name, length) != 0 || o[length] != ':') continue;
    const char *words = o + length + 1, *end = words + strcspn(words, " ");
    if (!memchr(words, '|', (size_t)(end - words))) return NULL;
    for (int64_t i = n->opt[k]; i > 0; i--) words += strcspn(words, "|") + 1;
    return td_arena_strndup(p->out->arena, words, strcspn(words, "| "));
  }
  return NULL;
}

static bool is_switch(TdStpKey k) {
  return k == TD_STP_KEY_WRITE_BACK || k == TD_STP_KEY_OUTER;
}

static void put_key(Printer *p, const TdStpNode *n, TdStpKey k, const char **sep) {
  bool positional = k == TD_STP_KEY_N && (n->op == TD_STP_REP || n->op == TD_STP_PARALLELIZE);
  if (!(n->has >> k & 1) || positional) return;
  const char *word = word_of(p, n, k);
  td_text_putf(p->out, "%s%s = ", *sep, td_stp_key_name(k));
  if (word)
    td_text_putf(p->out, "\"%s\"", word);
  else if (is_switch(k))
    td_text_puts(p->out, n->opt[k] ? "true" : "false");
  else
    td_text_putf(p->out, "%lld", (long long)n->opt[k]);
  *sep = ", ";
}

/* The options of a node, braces included. */
static void put_options(Printer *p, const TdStpNode *n, bool first) {
  const char *sep = first ? "{ " : ", { ", *start = sep;
  int64_t tile[2] = {n->rows, n->cols};
  if (n->op == TD_STP_LOAD || n->op == TD_STP_LOAD_AT) put_integers(p, "tile", tile, 2, &sep);
  if (n->op == TD_STP_LOAD && n->has_shape) {
    put_integers(p, "shape", n->shape, n->nshape, &sep);
    put_integers(p, "stride", n->stride, n->nshape, &sep);
  }
  if (n->op == TD_STP_STREAMIFY && !n->has_ref) put_integers(p, "times", n->shape, n->nshape, &sep);
  if (n->has_ref && n->op == TD_STP_STREAMIFY) {
    td_text_putf(p->out, "%sref = ", sep);
    put_ref(p, n->in[1]);
    sep = ", ";
  }
  if (n->has_valid) {
    td_text_putf(p->out, "%svalid = ", sep);
    put_ref(p, n->in[n->nin - 1]);
    sep = ", ";
  }
  for (int k = 0; k < TD_STP_KEYS; k++) put_key(p, n, (TdStpKey)k, &sep);
  if (n->extra.type) {
    td_text_putf(p->out, "%s%s = ", sep, n->op == TD_STP_RESHAPE ? "pad" : "init");
    td_type_print(p->out, n->extra.type);
    td_text_puts(p->out, "(0)");
    sep = ", ";
  }
  if (n->is_empty_init) {
    td_text_putf(p->out, "%sinit = fn.empty", sep);
    sep = ", ";
  }
  if (sep != start) td_text_puts(p->out, " }");
}

static void put_list(Printer *p, const TdStpRef *r, size_t n) {
  td_text_puts(p->out, "{ ");
  for (size_t i = 0; i < n; i++) {
    if (i) td_text_puts(p->out, ", ");
    put_ref(p, r[i]);
  }
  td_text_puts(p->out, " }");
}

/* The arguments before the options; false: none was put. */
static bool put_arguments(Printer *p, const TdStpNode *n) {
  size_t at = 0;
  int words = 0;
  bool some = false;
  for (const char *a = td_stp_ops[n->op].args; *a; a += strcspn(a, " "), a += *a == ' ') {
    size_t length = strcspn(a, " ");
    if (length == 7 && strncmp(a, "stream?", 7) == 0 && !n->has_ref) continue;
    if (some) td_text_puts(p->out, ", ");
    some = true;
    if (length == 7 && strncmp(a, "streams", 7) == 0) {
      size_t count = n->op == TD_STP_REASSEMBLE ? n->nin - 1 : n->nin;
      put_list(p, n->in, count);
      at = count;
    } else if (strncmp(a, "stream", 6) == 0) {
      put_ref(p, n->in[at++]);
    } else if (strncmp(a, "tensor", length) == 0) {
      td_type_print(p->out, n->tensor.type);
      if (n->op == TD_STP_VALUES) td_text_puts(p->out, "(0)");
    } else if (strncmp(a, "fn", length) == 0) {
      td_text_puts(p->out, n->fn.name);
    } else if (strncmp(a, "list", length) == 0) {
      td_text_puts(p->out, n->sel->text && *n->sel->text ? n->sel->text : "{}");
    } else if (strncmp(a, "word", length) == 0) {
      if (n->tensor.type)
        td_type_print(p->out, n->tensor.type);
      else
        td_text_puts(p->out, "\"selector\"");
    } else if (strncmp(a, "shape", length) == 0) {
      td_text_puts(p->out, "{ ");
      for (int k = n->assumed.ndim; k-- > 0;) {
        int64_t v = 0;
        td_stp_expr_is_const(n->assumed.dim[k].extent, &v);
        td_text_putf(p->out, "%lld%s", (long long)v, k ? ", " : " }");
      }
    } else if (n->op == TD_STP_FLATTEN) {
      td_text_putf(p->out, "%lld", (long long)(words++ ? n->hi : n->lo));
    } else {
      td_text_putf(p->out, "%lld", (long long)n->opt[TD_STP_KEY_N]);
    }
  }
  return some;
}

static void put_node(Printer *p, const TdStpNode *n) {
  td_text_puts(p->out, "  ");
  if (n->nout) {
    if (!p->fields) td_text_puts(p->out, "local ");
    put_variable(p, n);
    if (n->op == TD_STP_EAGER_MERGE || n->op == TD_STP_RESHAPE) {
      td_text_puts(p->out, ", ");
      put_ref(p, (TdStpRef){n->uid, 1});
    }
    td_text_puts(p->out, " = ");
  }
  td_text_putf(p->out, "step.%s(", td_stp_ops[n->op].name);
  bool some = put_arguments(p, n);
  put_options(p, n, !some);
  td_text_putc(p->out, ')');
  if (n->nout) {
    td_text_puts(p->out, "  -- ");
    td_stp_shape_print(p->out, &n->out[0]);
  }
  td_text_putc(p->out, '\n');
}

void td_stp_print(TdText *out, const TdStpGraph *g) {
  Printer p = {out, g, g->node.n > MOST_LOCALS};
  td_text_puts(out,
               "local tide, step = require \"tide\", require \"tide.step\"\n"
               "local fn <const> = step.fn\n"
               "local _ENV <const> = setmetatable({ step = step, fn = fn }, { __index = tide })\n"
               "return step.graph(function()\n");
  if (p.fields) td_text_puts(out, "  local n = {}\n");
  for (size_t i = 0; i < g->node.n; i++) put_node(&p, g->node.at[i]);
  for (size_t i = 0; i < g->node.n; i++) {
    const TdStpNode *n = g->node.at[i];
    if (n->op != TD_STP_FEEDBACK || !n->nin) continue;
    td_text_puts(out, "  step.close(");
    put_variable(&p, n);
    td_text_puts(out, ", ");
    put_ref(&p, n->in[0]);
    td_text_puts(out, ")\n");
  }
  if (g->output.n) td_text_puts(out, "  return ");
  for (size_t i = 0; i < g->output.n; i++) {
    if (i) td_text_puts(out, ", ");
    put_ref(&p, g->output.at[i]);
  }
  td_text_puts(out, g->output.n ? "\nend)\n" : "end)\n");
}
