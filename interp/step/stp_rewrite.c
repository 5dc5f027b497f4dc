/* stp_rewrite.c - what steps on graphs share: names, refusals; the graph as a kind of programs. */
#include "step/stp_depth.h"
#include "step/stp_rewrite.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/stp_prims.gen.h"
#include "history/schedule.h"
#include "step/stp_arrival.h"
#include "step/text/stp_print.h"

const TdPrim *const td_stp_prims[] = TD_STP_PRIMS;

/* Turns of operators in the run that follows a step. */
enum { MOST_TURNS = 300000 };

bool td_stp_rewrite_refuse(TdStpRewrite *r, TdDiagKind kind, const char *code, TdLoc at,
                           const char *fmt, ...) {
  char text[1024];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  return td_diag_set(r->diag, kind, code, at, "%s", text);
}

const char *td_stp_rewrite_name(const TdStpRewrite *r, const TdStpNode *n) {
  return td_stp_graph_name(r->arena, n);
}

/* Tells that nothing has that name, and which is near. */
static void tell_unknown(TdStpRewrite *r, const char *text) {
  const char **names = TD_NEWN(r->arena, const char *, r->g->node.n + 1);
  size_t n = 0;
  TdLoc none = {0};
  for (size_t i = 0; i < r->g->node.n; i++) names[n++] = td_stp_rewrite_name(r, r->g->node.at[i]);
  const char *near = td_text_nearest(text, names, n);
  td_stp_rewrite_refuse(r, TD_USAGE, "step-name", none, "the graph has no node '%s'", text);
  if (near) td_diag_help(r->diag, "did you mean '%s'? g.nodes lists all", near);
}

size_t td_stp_rewrite_family(TdStpRewrite *r, const char *text, const TdStpNode *const **node) {
  size_t stem = strcspn(text, "#"), n = 0;
  unsigned long ordinal = text[stem] ? strtoul(text + stem + 1, NULL, 10) : 0;
  const TdStpNode **found = TD_NEWN(r->arena, const TdStpNode *, r->g->node.n + 1);
  for (size_t i = 0; i < r->g->node.n; i++) {
    const TdStpNode *x = r->g->node.at[i];
    if (strlen(x->name) != stem || strncmp(x->name, text, stem) != 0) continue;
    if (text[stem] && x->ordinal != ordinal && !(ordinal == 1 && !x->ordinal)) continue;
    found[n++] = x;
  }
  if (!n) tell_unknown(r, text);
  *node = found;
  return n;
}

const TdStpNode *td_stp_rewrite_node(TdStpRewrite *r, const char *text) {
  const TdStpNode *const *node;
  size_t n = td_stp_rewrite_family(r, text, &node);
  if (n > 1) {
    td_stp_rewrite_refuse(r, TD_USAGE, "step-name", node[0]->loc, "there are %zu nodes '%s'", n,
                          text);
    td_diag_help(r->diag, "'%s#1' is the first of them", text);
  }
  return n == 1 ? node[0] : NULL;
}

bool td_stp_rewrite_check_order(TdStpRewrite *r, bool allowed) {
  TdStpArrivals found = td_stp_arrival_of(r->arena, r->g);
  if (!found.at.n) return true;
  const TdStpArrival *x = &found.at.at[0];
  const char *source = td_stp_rewrite_name(r, x->source), *shows = td_stp_rewrite_name(r, x->shows);
  if (allowed) {
    td_vec_push(r->arena, &r->note,
                td_text_fmt(r->arena, "'%s' takes what '%s' gathers in another order of arrival",
                            shows, source));
    return true;
  }
  td_stp_rewrite_refuse(
      r, TD_ILLEGAL, "step-order", x->shows->loc,
      "'%s' depends on the order in which elements arrive at '%s', which the step "
      "changes",
      shows, source);
  td_diag_help(r->diag, "{reassociate = true} allows it; order = \"index\" of a reassemble makes "
                        "it one order");
  return false;
}

const TdStpNode *td_stp_rewrite_reader(const TdStpRewrite *r, const TdStpNode *n) {
  const TdStpNode *found = NULL;
  for (size_t i = 0; i < r->g->output.n; i++)
    if (r->g->output.at[i].uid == n->uid) return NULL;
  for (size_t i = 0; i < r->g->node.n; i++)
    for (size_t k = 0; k < r->g->node.at[i]->nin; k++) {
      if (r->g->node.at[i]->in[k].uid != n->uid) continue;
      if (found) return NULL;
      found = r->g->node.at[i];
    }
  return found;
}

/* Whether an operator has an integer option of that name. */
static bool has_option(TdStpOp op, const char *name) {
  size_t n = strlen(name);
  for (const char *o = td_stp_ops[op].options; *o; o += strcspn(o, " "), o += *o == ' ')
    if (strncmp(o, name, n) == 0 && o[n] == ':') return true;
  return false;
}

const TdStpGraph *td_stp_rewrite_set_option(TdStpRewrite *r, const char *family, TdStpKey key,
                                            int64_t value, const char *name) {
  const TdStpNode *const *node;
  size_t n = td_stp_rewrite_family(r, family, &node);
  TdStpEdit e = td_stp_edit_new(r);
  for (size_t i = 0; i < n; i++) {
    bool has = name ? has_option(node[i]->op, name) : node[i]->nout > 0;
    TdLoc at = node[i]->loc;
    if (value < 1)
      td_stp_rewrite_refuse(r, TD_USAGE, "step-option", at, "%s is at least 1, not %lld",
                            td_stp_key_name(key), (long long)value);
    else if (!has)
      td_stp_rewrite_refuse(r, TD_USAGE, "step-option", at, "'%s', a %s, has no option '%s'",
                            td_stp_rewrite_name(r, node[i]), td_stp_ops[node[i]->op].name,
                            td_stp_key_name(key));
    if (value < 1 || !has) return NULL;
    TdStpNode *own = td_stp_edit_node(&e, node[i]->uid);
    own->opt[key] = value;
    own->has |= 1u << key;
  }
  return n ? td_stp_edit_end(&e) : NULL;
}

/* ---- graphs as a kind ---- */

static const void *clone(TdStore *st, const void *p) {
  return td_stp_graph_copy(st->arena, p);
}

/* The settings of the runs after a step: the schedule's, whatever they take; else those by default,
 * for a while, at a memory that serves all at once. */
static TdStpOptions settings(const TdStpRewrite *r) {
  TdStpOptions o = r->tools->given ? r->tools->run : td_stp_run_defaults();
  o.keep = false;
  if (r->tools->given) return o;
  o.most = MOST_TURNS;
  o.memory.field[TD_OFFCHIP_CHANNELS] = 0;
  return o;
}

/* Whether a graph runs to its end at its control; false with d filled. */
static bool ends(TdStpRewrite *r, TdStpGraph *g, TdDiag *d) {
  TdStpOptions o = settings(r);
  TdStpReport report;
  *d = (TdDiag){.arena = r->arena};
  return td_stp_run(r->arena, r->arena, g, &o, &r->tools->calls, &report, d);
}

/* Refuses a step after which a graph that ran to its end stops; not where that takes long. */
static bool check_ends(TdStpRewrite *r, const TdStpGraph *after) {
  TdDiag before, now;
  if (ends(r, (TdStpGraph *)(uintptr_t)after, &now) || !strcmp(now.code, "limit")) return true;
  if (!ends(r, r->g, &before)) return true;
  TdStpOptions o = settings(r);
  o.most = 0;
  td_stp_depth_tell(r->arena, (TdStpGraph *)(uintptr_t)after, &o, &r->tools->calls, &now);
  *r->diag = now;
  return false;
}

static const void *attempt(TdTaking *t) {
  TdStpRewrite r = {.g = (TdStpGraph *)(uintptr_t)t->since->prog,
                    .store = t->store,
                    .arena = t->diag->arena,
                    .tools = t->tools,
                    .arg = t->arg,
                    .diag = t->diag};
  const TdStpNode *open = td_stp_graph_open(r.g);
  if (open) {
    td_stp_rewrite_refuse(&r, TD_USAGE, "step-size", open->loc,
                          "the sizes of '%s' have no values: g:at {..} first",
                          td_stp_rewrite_name(&r, open));
    return NULL;
  }
  const TdStpGraph *p = t->prim->rewire(&r);
  if (p && !check_ends(&r, p)) p = NULL;
  t->made = (const char *const *)r.made.at, t->nmade = r.made.n;
  t->note = (const char *const *)r.note.at, t->nnote = r.note.n;
  t->relative = (const char *const *)r.relative.at, t->nrelative = r.relative.n;
  return p;
}

static void print(TdText *out, const void *p) {
  td_stp_print(out, p);
}

static const char *title(const void *p) {
  (void)p;
  return "graph";
}

const TdKind td_stp_kind = {.name = "STeP graph",
                            .prims = td_stp_prims,
                            .clone = clone,
                            .attempt = attempt,
                            .print = print,
                            .title = title};
