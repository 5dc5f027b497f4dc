/* net.c - parts of a network: names, streams, ports. */
#include "lower/net/net.h"

#include <inttypes.h>

bool td_net_refuse(TdNet *n, const char *code, TdLoc loc, const char *help, const char *fmt, ...) {
  if (td_diag_failed(n->diag)) return false;
  va_list ap;
  va_start(ap, fmt);
  td_diag_vset(n->diag, TD_UNSUPPORTED, code, loc, fmt, ap);
  va_end(ap);
  td_diag_help(n->diag, "%s", help);
  return false;
}

bool td_net_is_closer(const TdNet *n, TdSym sym) {
  return td_map_getp(n->closer, sym) != NULL;
}

bool td_net_look(TdNet *n, TdSym sym) {
  bool known = td_unit_param(n->design, sym) != NULL;
  for (size_t i = 0; i < n->design->nstream; i++) known |= n->design->stream[i].sym == sym;
  if (!known || td_net_is_closer(n, sym)) return false;
  td_map_putp(n->arena, n->closer, sym, (void *)(uintptr_t)sym);
  return n->again = true;
}

const char *td_net_label(TdArena *a, const TdNetClass *c, uint32_t instance) {
  TdText t = td_text_new(a);
  td_text_puts(&t, c->task);
  for (int d = 0; d < c->rank; d++)
    td_text_putf(&t, "[%" PRId64 "]", c->id[(size_t)instance * (size_t)c->rank + (size_t)d]);
  return td_text_str(&t);
}

TdSym td_net_stream(TdNet *n, const char *name, const TdType *token, int64_t count, int64_t depth,
                    TdLoc loc) {
  TdSession *s = n->store->session;
  const TdExpr *dim = td_expr_index(s, n->store->arena, count, loc);
  TdStream x = {.sym = td_store_sym(n->store, td_names_str(s->names, name), TD_SYM_STREAM),
                .uid = td_store_uid(n->store),
                .loc = loc,
                .type = td_type_port(s, token, count > 0, &dim, false),
                .depth = td_expr_index(s, n->store->arena, depth, loc)};
  td_vec_push(n->arena, &n->stream, x);
  return x.sym;
}

const TdStream *td_net_find(const TdNet *n, TdSym sym) {
  for (size_t i = 0; i < n->stream.n; i++)
    if (n->stream.at[i].sym == sym) return &n->stream.at[i];
  return NULL;
}

TdSym td_net_port(TdNet *n, TdNetClass *c, const TdType *type, TdNetArg arg) {
  TdUnit *u = c->kernel;
  TdArena *a = n->store->arena;
  const TdStream *s = td_net_find(n, arg.sym);
  TdParam *list = TD_NEWN(a, TdParam, u->nparam + 1);
  for (size_t i = 0; i < u->nparam; i++) list[i] = u->param[i];
  int64_t depth = 0;
  td_unit_value(n->design, s->depth, &depth);
  TdAttr known = {.kind = TD_ATTR_MIN_DEPTH, .arg = {{.i = depth}}};
  const TdAttr *lanes = td_attrs_get(s->attrs, TD_ATTR_LANES);
  TdAttrs attrs = td_attrs_add(a, (TdAttrs){0}, known);
  if (lanes) attrs = td_attrs_add(a, attrs, *lanes);
  TdSym sym = td_store_sym(n->store, arg.sym->name, TD_SYM_STREAM);
  list[u->nparam++] = (TdParam){.sym = sym, .type = type, .attrs = attrs, .loc = s->loc};
  u->param = list;
  td_vec_push(n->arena, &c->arg, arg);
  return sym;
}

void td_net_drop(TdNet *n, TdNetClass *c, size_t k) {
  TdUnit *u = c->kernel;
  TdParam *list = TD_NEWN(n->store->arena, TdParam, u->nparam);
  for (size_t i = 0, to = 0; i < u->nparam; i++) {
    if (i == k) continue;
    c->arg.at[to] = c->arg.at[i];
    list[to++] = u->param[i];
  }
  u->param = list;
  u->nparam--;
  c->arg.n--;
}

/* Whether coordinate k is one number in all instances. */
static bool is_constant(const TdNetClass *c, size_t k) {
  for (uint32_t i = 1; i < c->n; i++)
    if (c->coord[i * c->kernel->ncoord + k] != c->coord[k]) return false;
  return true;
}

void td_net_settle(TdNet *n, TdNetClass *c) {
  TdUnit *u = c->kernel;
  size_t all = u->ncoord, count = 0;
  TdSubst subst = td_subst_new(n->store);
  if (c->is_stateful || !all) return;
  for (size_t k = 0; k < all; k++)
    if (!c->kept && is_constant(c, k)) {
      c->numbered |= td_walk_uses(n->store->session->ctx, u->body, u->coord[k]);
      td_subst_expr(&subst, u->coord[k],
                    td_expr_index(n->store->session, n->store->arena, c->coord[k], u->loc));
    }
  u->body = td_subst_in_stmt(&subst, u->body);
  TdSym *list = TD_NEWN(n->store->arena, TdSym, all);
  int64_t *coord = TD_NEWN(n->arena, int64_t, c->n * all);
  size_t *from = TD_NEWN(n->arena, size_t, all);
  for (size_t k = 0; k < all; k++) {
    if (!td_walk_uses(n->store->session->ctx, u->body, u->coord[k])) continue;
    from[count] = k;
    list[count++] = u->coord[k];
  }
  for (uint32_t i = 0; i < c->n; i++)
    for (size_t k = 0; k < count; k++) coord[i * count + k] = c->coord[i * all + from[k]];
  u->coord = list;
  u->ncoord = count;
  c->coord = coord;
}

/* Bits of a word: what one access to memory brings at most. */
enum { WORD_BITS = 512 };

int td_net_word(const TdType *t) {
  if (t->kind != TD_T_TENSOR) return 0;
  int d = t->rank;
  int64_t n = 1, bits = td_type_scalar(t)->w, extent;
  for (; d > 0 && td_type_extent(t, d - 1, &extent) && bits * n * extent <= WORD_BITS; d--)
    n *= extent;
  return n > 1 ? d : t->rank;
}
