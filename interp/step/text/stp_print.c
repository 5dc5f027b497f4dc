/* stp_print.c - a graph as Lua that loads back: a line for each node, its shapes as a comment. */
#include <string.h>

#include "analysis/time/target.h"
#include "ir/num/num.h"
#include "step/text/stp_plan.h"
#include "step/text/stp_print.h"

enum { MOST_SHAPE = 70 }; /* letters of a shape in a comment */

typedef struct Printer {
  TdText *out;
  const TdStpGraph *g;
  const TdStpPlan *plan;
  const TdStpLine *line; /* under way */
} Printer;

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
  const char *word = k == TD_STP_KEY_DEVICE ? td_target_names[n->opt[k]] : word_of(p, n, k);
  td_text_putf(p->out, "%s%s = ", *sep, td_stp_key_name(k));
  if (word)
    td_text_putf(p->out, "\"%s\"", word);
  else if (is_switch(k))
    td_text_puts(p->out, n->opt[k] ? "true" : "false");
  else
    td_text_putf(p->out, "%lld", (long long)n->opt[k]);
  *sep = ", ";
}

/* A tensor's elements from index on, as nested lists. */
static void put_elements(Printer *p, const TdTensor *t, int64_t *index, int dim) {
  if (dim == td_tensor_rank(t)) {
    uint64_t v = td_tensor_get(t, index);
    td_num_print(p->out, t->type->elem, v);
    return;
  }
  td_text_puts(p->out, "{ ");
  for (index[dim] = 0; index[dim] < t->extent[dim]; index[dim]++) {
    if (index[dim]) td_text_puts(p->out, ", ");
    put_elements(p, t, index, dim + 1);
  }
  td_text_puts(p->out, " }");
}

/* A tensor argument of the line, or its extra one: as it is, or an argument of the chunk where
 * there is one, else the type. */
static void put_tensor(Printer *p, bool extra) {
  const TdStpLine *l = p->line;
  const TdStpNode *n = l->item->node;
  const TdStpTensor *first = extra ? &n->extra : &n->tensor;
  bool zero = extra, some = false;
  int64_t *v = TD_NEWN(p->out->arena, int64_t, l->total), index[TD_MAX_RANK] = {0};
  for (size_t k = 0; k < l->total; k++) {
    const TdStpNode *x = td_stp_plan_node(p->plan, l, k);
    const TdTensor *t = extra ? x->extra.data : x->tensor.data;
    zero = zero && (!t || td_stp_plan_is_zero(t));
    some |= t != NULL;
    v[k] = t ? (int64_t)td_stp_plan_data(p->plan, t) : -1;
  }
  if (!extra && first->data && td_stp_plan_is_literal(l, first->data)) {
    td_text_puts(p->out, "tide.tensor(");
    td_type_print(p->out, first->type);
    td_text_puts(p->out, ", ");
    put_elements(p, first->data, index, 0);
    td_text_putc(p->out, ')');
    return;
  }
  if (some && !zero) {
    td_text_puts(p->out, "data[");
    td_stp_plan_put_index(p->out, p->plan, l, v);
    td_text_puts(p->out, "] or ");
  }
  td_type_print(p->out, first->type);
  if (extra || n->op == TD_STP_VALUES) td_text_puts(p->out, "(0)");
}

/* The name of a node that its variable does not tell. */
static bool needs_name(const TdStpLine *l, const Printer *p) {
  const TdStpNode *n = l->item->node;
  if (!n->nout) return strcmp(n->name, td_stp_ops[n->op].name) != 0;
  return strcmp(n->name, l->var) != 0 || l->table || p->plan->fields;
}

/* The options of a node, braces included. */
static void put_options(Printer *p, const TdStpNode *n, bool first) {
  const char *sep = first ? "{ " : ", { ", *start = sep;
  int64_t tile[2] = {n->rows, n->cols};
  if (n->op == TD_STP_LOAD || n->op == TD_STP_LOAD_AT) put_integers(p, "tile", tile, 2, &sep);
  bool whole = n->op == TD_STP_LOAD && n->nshape == 2 && (n->shape[0] < 0 || n->shape[1] < 0);
  if (n->op == TD_STP_LOAD && n->has_shape && !whole) {
    put_integers(p, "shape", n->shape, n->nshape, &sep);
    put_integers(p, "stride", n->stride, n->nshape, &sep);
  }
  if (n->op == TD_STP_STREAMIFY && n->nshape) put_integers(p, "times", n->shape, n->nshape, &sep);
  if (n->nview) {
    put_integers(p, "shape", n->view, n->nview, &sep);
    put_integers(p, "stride", n->stride, n->nview, &sep);
  }
  if (n->has_ref && n->op == TD_STP_STREAMIFY) {
    td_text_putf(p->out, "%sref = ", sep);
    td_stp_plan_put_input(p->out, p->plan, p->line, 1);
    sep = ", ";
  }
  if (n->has_valid) {
    td_text_putf(p->out, "%svalid = ", sep);
    td_stp_plan_put_input(p->out, p->plan, p->line, n->nin - 1);
    sep = ", ";
  }
  for (int k = 0; k < TD_STP_KEYS; k++) put_key(p, n, (TdStpKey)k, &sep);
  if (n->place) {
    td_text_putf(p->out, "%splace = ", sep);
    td_text_put_quoted(p->out, n->place, strlen(n->place));
    sep = ", ";
  }
  if (n->extra.type) {
    td_text_putf(p->out, "%s%s = ", sep, n->op == TD_STP_RESHAPE ? "pad" : "init");
    put_tensor(p, true);
    sep = ", ";
  }
  if (n->is_empty_init) {
    td_text_putf(p->out, "%sinit = fn.empty", sep);
    sep = ", ";
  }
  if (needs_name(p->line, p)) {
    td_text_putf(p->out, "%sname = ", sep);
    td_text_put_quoted(p->out, n->name, strlen(n->name));
    sep = ", ";
  }
  if (sep != start) td_text_puts(p->out, " }");
}

/* Selectors from entry *at on, as nested lists. */
static void put_selectors(Printer *p, const TdStpSelectors *s, int dim, size_t *at) {
  td_text_puts(p->out, "{ ");
  if (dim == s->ndim) {
    for (uint32_t i = s->first[*at]; i < s->first[*at + 1]; i++)
      td_text_putf(p->out, "%s%d", i > s->first[*at] ? ", " : "", s->index[i]);
    ++*at;
  } else {
    for (int64_t i = 0; i < s->extent[dim]; i++) {
      if (i) td_text_puts(p->out, ", ");
      put_selectors(p, s, dim + 1, at);
    }
  }
  td_text_puts(p->out, " }");
}

/* An extent: a number, or that of a stream which stands before. */
static void put_extent(Printer *p, const TdStpExpr *e) {
  int64_t v = 0;
  if (td_stp_expr_is_const(e, &v)) {
    td_text_putf(p->out, "%lld", (long long)v);
    return;
  }
  for (size_t i = 0; i < p->line->item->first; i++) {
    const TdStpNode *n = p->g->node.at[i];
    for (size_t o = 0; o < n->nout; o++)
      for (int k = 0; k < n->out[o].ndim; k++)
        if (n->out[o].dim[k].extent == e && (o == 0 || n->op != TD_STP_RESHAPE)) {
          td_stp_plan_put_ref(p->out, p->plan, (TdStpRef){n->uid, (uint16_t)o});
          td_text_putf(p->out, ".shape[%d]", n->out[o].ndim - k);
          return;
        }
  }
  td_stp_expr_print(p->out, e);
}

/* One argument, of the kind `a`, which is `length` long; *at and *words count streams and integers.
 */
static void put_argument(Printer *p, const char *a, size_t length, size_t *at, int *words) {
  const TdStpNode *n = p->line->item->node;
  if (length == 7 && strncmp(a, "streams", 7) == 0) {
    size_t count = n->op == TD_STP_REASSEMBLE ? n->nin - 1 : n->nin;
    td_stp_plan_put_inputs(p->out, p->plan, p->line, 0, count);
    *at = count;
  } else if (strncmp(a, "stream", 6) == 0) {
    td_stp_plan_put_input(p->out, p->plan, p->line, (*at)++);
  } else if (strncmp(a, "tensor", length) == 0) {
    put_tensor(p, false);
  } else if (strncmp(a, "fn", length) == 0) {
    if (n->fn.prog)
      td_text_putf(p->out, "data[%zu]", td_stp_plan_data(p->plan, n->fn.prog) + 1);
    else
      td_text_puts(p->out, n->fn.name);
  } else if (strncmp(a, "list", length) == 0) {
    size_t entry = 0;
    put_selectors(p, n->sel, 0, &entry);
  } else if (strncmp(a, "word", length) == 0) {
    if (n->tensor.type)
      td_type_print(p->out, n->tensor.type);
    else
      td_text_puts(p->out, "\"selector\"");
  } else if (strncmp(a, "shape", length) == 0) {
    td_text_puts(p->out, "{ ");
    for (int k = n->assumed.ndim; k-- > 0;) {
      put_extent(p, n->assumed.dim[k].extent);
      td_text_puts(p->out, k ? ", " : " }");
    }
  } else if (n->op == TD_STP_FLATTEN) {
    td_text_putf(p->out, "%lld", (long long)((*words)++ ? n->hi : n->lo));
  } else {
    td_text_putf(p->out, "%lld", (long long)n->opt[TD_STP_KEY_N]);
  }
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
    put_argument(p, a, length, &at, &words);
  }
  return some;
}

static void put_line(Printer *p, const TdStpLine *l) {
  const TdStpNode *n = l->item->node;
  bool two = n->op == TD_STP_EAGER_MERGE || n->op == TD_STP_RESHAPE;
  p->line = l;
  td_text_putf(p->out, "%*s", 2 + 2 * (int)l->nloop, "");
  if (n->nout && !l->table && (l->nloop || !p->plan->fields)) td_text_puts(p->out, "local ");
  for (int k = 0; k < (n->nout ? 1 + two : 0); k++) {
    if (k) td_text_puts(p->out, ", ");
    td_stp_plan_put_variable(p->out, p->plan, l, k);
    if (l->table) td_stp_plan_put_own(p->out, p->plan, l);
  }
  td_text_putf(p->out, "%sstep.%s(", n->nout ? " = " : "", td_stp_ops[n->op].name);
  bool some = put_arguments(p, n);
  put_options(p, n, !some);
  td_text_putc(p->out, ')');
  if (n->nout) {
    const char *shape = td_stp_shape_str(p->out->arena, &n->out[0]);
    bool cut = strlen(shape) > MOST_SHAPE;
    td_text_putf(p->out, "  -- %.*s%s", MOST_SHAPE, shape, cut ? ".." : l->nloop ? ", .." : "");
  }
  td_text_putc(p->out, '\n');
}

/* Tables of the lines from `from` on of a loop, before it. */
static void put_tables(Printer *p, const TdStpItem *loop) {
  const char *sep = p->plan->fields ? "  " : "  local ";
  TdText values = td_text_new(p->out->arena);
  for (size_t i = 0; i < p->plan->line.n; i++) {
    const TdStpLine *l = &p->plan->line.at[i];
    if (!l->table || l->loop[0] != loop) continue;
    bool two = l->item->node->op == TD_STP_EAGER_MERGE || l->item->node->op == TD_STP_RESHAPE;
    for (int k = 0; k <= two; k++) {
      td_text_puts(p->out, sep);
      td_stp_plan_put_variable(p->out, p->plan, l, k);
      td_text_puts(&values, values.n ? ", {}" : "{}");
      sep = ", ";
    }
  }
  if (values.n) td_text_putf(p->out, " = %s\n", td_text_str(&values));
}

static void put_items(Printer *p, const TdStpItem *item, size_t n, size_t nest) {
  for (size_t i = 0; i < n; i++) {
    if (item[i].node) {
      put_line(p, td_stp_plan_line(p->plan, &item[i]));
      continue;
    }
    if (!nest) put_tables(p, &item[i]);
    td_text_putf(p->out, "%*sfor %s = 1, %zu do\n", 2 + 2 * (int)nest, "",
                 td_stp_plan_counter(nest), item[i].n);
    put_items(p, item[i].body, item[i].nbody, nest + 1);
    td_text_putf(p->out, "%*send\n", 2 + 2 * (int)nest, "");
  }
}

/* The loops of streams are closed. */
static void put_closes(Printer *p) {
  for (size_t i = 0; i < p->g->node.n; i++) {
    const TdStpNode *n = p->g->node.at[i];
    if (n->op != TD_STP_FEEDBACK || !n->nin) continue;
    td_text_puts(p->out, "  step.close(");
    td_stp_plan_put_ref(p->out, p->plan, (TdStpRef){n->uid, 0});
    td_text_puts(p->out, ", ");
    td_stp_plan_put_ref(p->out, p->plan, n->in[0]);
    td_text_puts(p->out, ")\n");
  }
}

void td_stp_print(TdText *out, const TdStpGraph *g) {
  TdStpPlan plan = td_stp_plan_make(out->arena, g);
  Printer p = {.out = out, .g = g, .plan = &plan};
  td_text_puts(out, "local tide, step = require \"tide\", require \"tide.step\"\n"
                    "local fn <const> = step.fn\n");
  if (plan.data.n) td_text_puts(out, "local data = { ... }\n");
  for (size_t i = 0; i < plan.size.n; i++)
    td_text_putf(out, "local %s = tide.size \"%s\"\n", plan.size.at[i], plan.size.at[i]);
  td_text_puts(out, "local _ENV <const> = setmetatable({ step = step, fn = fn, table = table }, "
                    "{ __index = tide })\n"
                    "return step.graph(function()\n");
  if (plan.fields) td_text_puts(out, "  local n = {}\n");
  put_items(&p, plan.item, plan.nitem, 0);
  put_closes(&p);
  if (g->output.n) {
    td_text_puts(out, "  return ");
    td_stp_plan_put_list(out, &plan, g->output.at, g->output.n);
  }
  td_text_puts(out, g->output.n ? "\nend)\n" : "end)\n");
}

size_t td_stp_print_data(TdArena *a, const TdStpGraph *g, const TdStpDatum **data) {
  TdStpPlan plan = td_stp_plan_make(a, g);
  *data = plan.data.at;
  return plan.data.n;
}
