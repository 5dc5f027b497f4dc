/* scope_label.c - labels, gotos and breaks. */
#include "frontend/lua/scope.h"

/* The label of this name that a goto here could go back to, or NULL. */
static const TdScopeLabel *find_label(const TdScope *s, const char *name) {
  for (size_t i = s->fn->first_label; i < s->labels.n; i++)
    if (s->labels.at[i].stmt->label == name) return &s->labels.at[i];
  return NULL;
}

size_t td_scope_label_declare(TdScope *s, const TdAstStmt *label) {
  const TdScopeLabel *same = find_label(s, label->label);
  if (same && !td_diag_failed(s->diag)) {
    td_diag_set(s->diag, TD_USAGE, "label-repeated", label->loc,
                "label '%s' is already defined on line %u", label->label, same->stmt->loc.line);
    td_diag_note(s->diag, same->stmt->loc, "defined here");
  }
  TdScopeLabel l = {.stmt = label, .variables = s->fn->variables};
  td_vec_push(s->arena, &s->labels, l);
  return s->labels.n - 1;
}

/* Gives g its label, or reports that it would enter the scope of a variable. */
static void land(TdScope *s, const TdScopeGoto *g, const TdScopeLabel *label) {
  g->stmt->jump.label = label->stmt;
  if (g->variables >= label->variables || td_diag_failed(s->diag)) return;
  const TdAstLocal *v = s->variables.at[s->fn->first + g->variables];
  td_diag_set(s->diag, TD_USAGE, "goto-scope", g->stmt->loc,
              "goto '%s' jumps into the scope of local '%s'", g->stmt->jump.name, v->name);
  td_diag_note(s->diag, v->loc, "'%s' is declared here, before the label", v->name);
}

void td_scope_label_place(TdScope *s, size_t label, bool last) {
  TdScopeLabel *l = &s->labels.at[label];
  const TdScopeBlock *b = s->fn->block;
  if (last) l->variables = b->variables;
  size_t kept = b->gotos;
  for (size_t i = b->gotos; i < s->gotos.n; i++) {
    TdScopeGoto g = s->gotos.at[i];
    if (g.stmt->jump.name == l->stmt->label)
      land(s, &g, l);
    else
      s->gotos.at[kept++] = g;
  }
  s->gotos.n = kept;
}

void td_scope_label_goto(TdScope *s, TdAstStmt *stmt) {
  const TdScopeLabel *label = find_label(s, stmt->jump.name);
  if (label) {
    stmt->jump.label = label->stmt;
    return;
  }
  TdScopeGoto g = {.stmt = stmt, .variables = s->fn->variables};
  td_vec_push(s->arena, &s->gotos, g);
}

bool td_scope_label_in_loop(const TdScope *s) {
  for (const TdScopeBlock *b = s->fn->block; b; b = b->outer)
    if (b->is_loop) return true;
  return false;
}
