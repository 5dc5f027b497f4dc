/* stp_plan.c - variables, indices and lists of a printed graph.
 *
 * A node in a loop is a local of its iteration; read from outside, a list of streams that stands
 * before all loops, at the number of its iteration. Which of them a line reads in each of its own
 * iterations is fitted by a sum of multiples of the loop variables; what no sum fits is a list of
 * its own, in which the iteration looks up. */
#include <string.h>

#include "step/text/stp_plan.h"

enum { MOST_LOCALS = 120, MOST_LITERAL = 1024 };

static const char *const counters[TD_STP_NEST] = {"i", "j", "k", "l", "m", "q"};

const char *td_stp_plan_counter(size_t k) {
  return counters[k];
}

/* ---- the lines ---- */

static size_t stride_of(const TdStpItem *loop) {
  return loop->span / loop->n;
}

const TdStpNode *td_stp_plan_node(const TdStpPlan *p, const TdStpLine *l, size_t k) {
  size_t at = l->item->first;
  for (size_t i = l->nloop; i-- > 0; k /= l->loop[i]->n)
    at += k % l->loop[i]->n * stride_of(l->loop[i]);
  return p->g->node.at[at];
}

static void add_lines(TdStpPlan *p, TdStpItem *item, size_t n, const TdStpLine *around) {
  for (size_t i = 0; i < n; i++) {
    TdStpLine l = *around;
    l.item = &item[i];
    if (item[i].node) {
      td_vec_push(p->arena, &p->line, l);
      continue;
    }
    l.loop[l.nloop++] = &item[i];
    l.total *= item[i].n;
    add_lines(p, item[i].body, item[i].nbody, &l);
  }
}

/* By place: the line of each node, and which of its nodes it is. */
static void place_nodes(TdStpPlan *p) {
  for (size_t i = 0; i < p->g->node.n; i++) p->place[p->g->node.at[i]->uid] = i;
  for (size_t i = 0; i < p->line.n; i++)
    for (size_t k = 0; k < p->line.at[i].total; k++) {
      size_t at = p->place[td_stp_plan_node(p, &p->line.at[i], k)->uid];
      p->line_of[at] = (uint32_t)i;
      p->which[at] = (uint32_t)k;
    }
}

const TdStpLine *td_stp_plan_line(const TdStpPlan *p, const TdStpItem *item) {
  return &p->line.at[p->line_of[item->first]];
}

static TdStpLine *line_of(const TdStpPlan *p, TdStpRef r) {
  return &p->line.at[p->line_of[p->place[r.uid]]];
}

/* Whether line t stands in the iteration that line l is in. */
static bool is_near(const TdStpLine *t, const TdStpLine *l) {
  for (size_t k = 0; k < t->nloop; k++)
    if (k >= l->nloop || t->loop[k] != l->loop[k]) return false;
  return true;
}

/* Which lines are lists of streams. */
static void find_tables(TdStpPlan *p) {
  for (size_t i = 0; i < p->line.n; i++) {
    const TdStpLine *l = &p->line.at[i];
    for (size_t k = 0; k < l->total; k++) {
      const TdStpNode *n = td_stp_plan_node(p, l, k);
      bool late = n->op == TD_STP_FEEDBACK;
      for (size_t q = 0; q < n->nin; q++) {
        TdStpLine *t = line_of(p, n->in[q]);
        if (t->nloop && (late || !is_near(t, l))) t->table = true;
      }
    }
    if (l->nloop && l->item->node->op == TD_STP_FEEDBACK) p->line.at[i].table = true;
  }
  for (size_t i = 0; i < p->g->output.n; i++) {
    TdStpLine *t = line_of(p, p->g->output.at[i]);
    if (t->nloop) t->table = true;
  }
}

/* ---- variables ---- */

static bool is_word(const char *text) {
  static const char words[] =
      "and|break|do|else|elseif|end|false|for|function|goto|if|in|local|nil|not|or|repeat|return|"
      "then|true|until|while|bool|fixed|ufixed|tide|step|fn|data|table|n|tensor|bf16";
  if (td_text_is_listed(words, text)) return true;
  for (size_t k = 0; k < TD_STP_NEST; k++)
    if (strcmp(counters[k], text) == 0) return true;
  return (*text == 'i' || *text == 'u' || *text == 'f') &&
         strspn(text + 1, "0123456789") == strlen(text + 1);
}

/* A name of Lua like `name`, other than all that were taken. */
static const char *free_variable(TdArena *a, TdMap *taken, const char *name, uint32_t ordinal) {
  TdText t = td_text_new(a);
  for (const char *c = name; *c; c++) {
    bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
    bool digit = *c >= '0' && *c <= '9';
    td_text_putc(&t, letter || (digit && c != name) ? *c : '_');
  }
  if (!*name) td_text_putc(&t, '_');
  if (ordinal) td_text_putf(&t, "_%u", ordinal);
  uint64_t found;
  while (is_word(td_text_str(&t)) || td_map_get(taken, td_map_hash(td_text_str(&t), t.n), &found))
    td_text_putc(&t, '_');
  td_map_put(a, taken, td_map_hash(td_text_str(&t), t.n), 1);
  return td_text_str(&t);
}

static const char *second_suffix(const TdStpNode *n) {
  return n->op == TD_STP_RESHAPE ? "_padding" : "_from";
}

/* Gives each line a variable of its own. */
static void name_lines(TdStpPlan *p) {
  TdMap taken = {0}, count = {0};
  size_t locals = 0;
  for (size_t i = 0; i < p->size.n; i++)
    td_map_put(p->arena, &taken, td_map_hash(p->size.at[i], strlen(p->size.at[i])), 1);
  for (size_t i = 0; i < p->line.n; i++) {
    uint64_t key = (uint64_t)(uintptr_t)p->line.at[i].item->node->name, n = 0;
    td_map_get(&count, key, &n);
    td_map_put(p->arena, &count, key, n + 1);
  }
  for (size_t i = 0; i < p->line.n; i++) {
    TdStpLine *l = &p->line.at[i];
    const TdStpNode *n = l->item->node;
    uint64_t many = 0;
    td_map_get(&count, (uint64_t)(uintptr_t)n->name, &many);
    if (!n->nout) continue;
    l->var = free_variable(p->arena, &taken, n->name, many > 1 ? n->ordinal : 0);
    if (n->nout == 2) {
      const char *second = td_text_fmt(p->arena, "%s%s", l->var, second_suffix(n));
      td_map_put(p->arena, &taken, td_map_hash(second, strlen(second)), 1);
    }
    if (!l->nloop || l->table) locals += n->nout == 2 ? 2 : 1;
  }
  p->fields = locals > MOST_LOCALS;
}

/* ---- tensors ---- */

bool td_stp_plan_is_zero(const TdTensor *t) {
  int64_t n = td_tensor_count(t), index[TD_MAX_RANK] = {0};
  if (n < 1) return true;
  do {
    if (td_tensor_get(t, index)) return false;
  } while (td_tensor_next(t, index));
  return true;
}

bool td_stp_plan_is_literal(const TdStpLine *l, const TdTensor *t) {
  return !l->nloop && l->item->node->op == TD_STP_VALUES && td_tensor_count(t) <= MOST_LITERAL;
}

static void add_data(TdStpPlan *p, TdMap *seen, TdStpDatum x) {
  const void *of = x.tensor ? (const void *)x.tensor : x.prog;
  if (!of || td_map_getp(seen, of)) return;
  td_vec_push(p->arena, &p->data, x);
  td_map_putp(p->arena, seen, of, (void *)(uintptr_t)of);
}

static void collect_data(TdStpPlan *p) {
  TdMap seen = {0};
  for (size_t i = 0; i < p->g->node.n; i++) {
    const TdStpNode *n = p->g->node.at[i];
    const TdStpLine *l = &p->line.at[p->line_of[i]];
    const TdTensor *t = n->tensor.data, *x = n->extra.data;
    if (t && !td_stp_plan_is_literal(l, t)) add_data(p, &seen, (TdStpDatum){t, NULL});
    if (x && !td_stp_plan_is_zero(x)) add_data(p, &seen, (TdStpDatum){x, NULL});
    add_data(p, &seen, (TdStpDatum){NULL, n->fn.prog});
  }
}

size_t td_stp_plan_data(const TdStpPlan *p, const void *of) {
  for (size_t i = 0; i < p->data.n; i++)
    if (p->data.at[i].tensor == of || p->data.at[i].prog == of) return i;
  return 0;
}

/* Collects the sizes of an expression. */
static void find_sizes(TdStpPlan *p, const TdExpr *e) {
  for (uint32_t i = 0; i < e->nkid; i++) find_sizes(p, e->kid[i]);
  for (size_t i = 0; e->kind == TD_EXPR_SIZE && i < p->size.n; i++)
    if (!strcmp(p->size.at[i], e->u.name)) return;
  if (e->kind == TD_EXPR_SIZE) td_vec_push(p->arena, &p->size, e->u.name);
}

TdStpPlan td_stp_plan_make(TdArena *a, const TdStpGraph *g) {
  TdStpPlan p = {.arena = a, .g = g};
  p.nitem = td_stp_fold(a, g, &p.item);
  add_lines(&p, p.item, p.nitem, &(TdStpLine){.total = 1});
  p.place = TD_NEWN(a, size_t, g->by_uid.n + 1);
  p.line_of = TD_NEWN(a, uint32_t, g->node.n + 1);
  p.which = TD_NEWN(a, uint32_t, g->node.n + 1);
  place_nodes(&p);
  find_tables(&p);
  for (size_t i = 0; i < g->node.n; i++) {
    const TdType *t = g->node.at[i]->tensor.type;
    for (int d = 0; t && t->kind == TD_T_TENSOR && d < t->rank; d++) find_sizes(&p, t->dim[d]);
  }
  name_lines(&p);
  collect_data(&p);
  return p;
}

/* ---- indices ---- */

/* Fits value[k], k over all iterations of l, by c[0] + sum of c[1 + level] * counter. */
static bool fit(const TdStpLine *l, const int64_t *value, int64_t *c) {
  size_t step = l->total;
  c[0] = value[0] + 1;
  for (size_t i = 0; i < l->nloop; i++) {
    step /= l->loop[i]->n;
    c[i + 1] = value[step] - value[0];
    c[0] -= c[i + 1];
  }
  for (size_t k = 0; k < l->total; k++) {
    int64_t v = c[0] - 1;
    size_t rest = k;
    for (size_t i = l->nloop; i-- > 0; rest /= l->loop[i]->n)
      v += c[i + 1] * ((int64_t)(rest % l->loop[i]->n) + 1);
    if (v != value[k]) return false;
  }
  return true;
}

static void put_sum(TdText *out, const TdStpLine *l, const int64_t *c) {
  bool some = false;
  for (size_t i = 0; i < l->nloop; i++) {
    if (!c[i + 1]) continue;
    int64_t v = c[i + 1];
    if (some) td_text_puts(out, v < 0 ? " - " : " + ");
    if (some && v < 0) v = -v;
    if (v != 1) td_text_putf(out, "%lld * ", (long long)v);
    td_text_puts(out, counters[i]);
    some = true;
  }
  if (!some)
    td_text_putf(out, "%lld", (long long)c[0]);
  else if (c[0])
    td_text_putf(out, " %c %lld", c[0] < 0 ? '-' : '+', (long long)(c[0] < 0 ? -c[0] : c[0]));
}

/* The number of the iteration, counted through. */
static void put_number(TdText *out, const TdStpLine *l) {
  int64_t *value = TD_NEWN(out->arena, int64_t, l->total), c[TD_STP_NEST + 1] = {0};
  for (size_t k = 0; k < l->total; k++) value[k] = (int64_t)k;
  fit(l, value, c);
  put_sum(out, l, c);
}

void td_stp_plan_put_index(TdText *out, const TdStpPlan *p, const TdStpLine *l,
                           const int64_t *value) {
  int64_t c[TD_STP_NEST + 1] = {0};
  (void)p;
  if (fit(l, value, c)) {
    put_sum(out, l, c);
    return;
  }
  td_text_puts(out, "({ ");
  for (size_t k = 0; k < l->total; k++)
    td_text_putf(out, "%s%lld", k ? ", " : "", (long long)value[k] + 1);
  td_text_puts(out, " })[");
  put_number(out, l);
  td_text_putc(out, ']');
}

void td_stp_plan_put_own(TdText *out, const TdStpPlan *p, const TdStpLine *l) {
  (void)p;
  td_text_putc(out, '[');
  put_number(out, l);
  td_text_putc(out, ']');
}

/* ---- streams ---- */

static bool is_list(const TdStpNode *n) {
  return n->op == TD_STP_PARTITION || n->op == TD_STP_PARALLELIZE;
}

void td_stp_plan_put_variable(TdText *out, const TdStpPlan *p, const TdStpLine *l, bool second) {
  if (p->fields && (!l->nloop || l->table)) td_text_puts(out, "n.");
  td_text_puts(out, l->var);
  if (second) td_text_puts(out, second_suffix(l->item->node));
}

void td_stp_plan_put_ref(TdText *out, const TdStpPlan *p, TdStpRef r) {
  const TdStpLine *l = line_of(p, r);
  bool list = is_list(l->item->node);
  td_stp_plan_put_variable(out, p, l, !list && r.out);
  if (l->table) td_text_putf(out, "[%u]", p->which[p->place[r.uid]] + 1);
  if (list) td_text_putf(out, "[%d]", r.out + 1);
}

/* One line's nodes' input: the streams that it is in all iterations. */
static const TdStpRef *inputs_of(const TdStpPlan *p, const TdStpLine *at, size_t input) {
  TdStpRef *r = TD_NEWN(p->arena, TdStpRef, at->total);
  for (size_t k = 0; k < at->total; k++) r[k] = td_stp_plan_node(p, at, k)->in[input];
  return r;
}

/* Streams r[k] of one line, by iteration of line `at`; where `from` is not 0, the list of those
 * from the index on, so many. */
static void put_streams(TdText *out, const TdStpPlan *p, const TdStpLine *at, const TdStpRef *r) {
  const TdStpLine *t = line_of(p, r[0]);
  bool list = is_list(t->item->node), same = true;
  for (size_t k = 1; k < at->total; k++)
    same &= line_of(p, r[k]) == t && (list || r[k].out == r[0].out);
  if (!same) {
    td_text_puts(out, "({ ");
    for (size_t k = 0; k < at->total; k++) {
      if (k) td_text_puts(out, ", ");
      td_stp_plan_put_ref(out, p, r[k]);
    }
    td_text_puts(out, " })[");
    put_number(out, at);
    td_text_putc(out, ']');
    return;
  }
  int64_t *v = TD_NEWN(p->arena, int64_t, at->total);
  td_stp_plan_put_variable(out, p, t, !list && r[0].out);
  if (t->table) {
    for (size_t k = 0; k < at->total; k++) v[k] = p->which[p->place[r[k].uid]];
    td_text_putc(out, '[');
    td_stp_plan_put_index(out, p, at, v);
    td_text_putc(out, ']');
  }
  if (!list) return;
  for (size_t k = 0; k < at->total; k++) v[k] = r[k].out;
  td_text_putc(out, '[');
  td_stp_plan_put_index(out, p, at, v);
  td_text_putc(out, ']');
}

void td_stp_plan_put_input(TdText *out, const TdStpPlan *p, const TdStpLine *at, size_t input) {
  put_streams(out, p, at, inputs_of(p, at, input));
}

/* The place of a stream in the list of streams that its variable is: outputs of a node, or nodes of
 * a line; -1 where it is no list. */
static int64_t place_in(const TdStpPlan *p, TdStpRef r, const TdStpLine *at) {
  const TdStpLine *l = line_of(p, r);
  if (is_list(l->item->node)) return is_near(l, at) && !l->table ? r.out : -1;
  return l->table ? (int64_t)p->which[p->place[r.uid]] : -1;
}

/* Whether streams r[0 .. n - 1] are a stretch of one list. */
static bool is_stretch(const TdStpPlan *p, const TdStpRef *r, size_t n, const TdStpLine *at) {
  const TdStpLine *l = line_of(p, r[0]);
  bool list = is_list(l->item->node);
  int64_t from = place_in(p, r[0], at);
  if (from < 0 || n < 2) return false;
  for (size_t k = 1; k < n; k++) {
    if (line_of(p, r[k]) != l || place_in(p, r[k], at) != from + (int64_t)k) return false;
    if (list ? r[k].uid != r[0].uid : r[k].out != r[0].out) return false;
  }
  return true;
}

/* A stretch of n streams of the list that r[k] begins in iteration k. */
static void put_stretch(TdText *out, const TdStpPlan *p, const TdStpLine *at, const TdStpRef *r,
                        size_t n) {
  const TdStpLine *l = line_of(p, r[0]);
  bool list = is_list(l->item->node), whole = n == (list ? l->item->node->nout : l->total);
  if (!whole) td_text_puts(out, "table.move(");
  td_stp_plan_put_variable(out, p, l, !list && r[0].out);
  if (whole) return;
  int64_t *v = TD_NEWN(p->arena, int64_t, at->total);
  for (size_t k = 0; k < at->total; k++) v[k] = place_in(p, r[k], at);
  td_text_puts(out, ", ");
  td_stp_plan_put_index(out, p, at, v);
  td_text_puts(out, ", ");
  for (size_t k = 0; k < at->total; k++) v[k] += (int64_t)n - 1;
  td_stp_plan_put_index(out, p, at, v);
  td_text_puts(out, ", 1, {})");
}

void td_stp_plan_put_inputs(TdText *out, const TdStpPlan *p, const TdStpLine *at, size_t first,
                            size_t n) {
  bool stretch = true;
  const TdStpLine *l = line_of(p, td_stp_plan_node(p, at, 0)->in[first]);
  for (size_t k = 0; stretch && k < at->total; k++) {
    const TdStpRef *r = td_stp_plan_node(p, at, k)->in + first;
    stretch = line_of(p, r[0]) == l && is_stretch(p, r, n, at);
  }
  if (stretch) {
    put_stretch(out, p, at, inputs_of(p, at, first), n);
    return;
  }
  td_text_puts(out, "{ ");
  for (size_t i = 0; i < n; i++) {
    if (i) td_text_puts(out, ", ");
    td_stp_plan_put_input(out, p, at, first + i);
  }
  td_text_puts(out, " }");
}

void td_stp_plan_put_list(TdText *out, const TdStpPlan *p, const TdStpRef *r, size_t n) {
  const TdStpLine outside = {.total = 1};
  if (is_stretch(p, r, n, &outside)) {
    td_text_puts(out, "table.unpack(");
    put_stretch(out, p, &outside, r, n);
    td_text_putc(out, ')');
    return;
  }
  for (size_t i = 0; i < n; i++) {
    if (i) td_text_puts(out, ", ");
    td_stp_plan_put_ref(out, p, r[i]);
  }
}
