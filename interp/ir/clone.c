/* clone.c - deep copies of programs from one store into another. */
#include <string.h>

#include "ir/unit.h"

typedef struct Cloner {
  TdStore *to;
  bool keep; /* uids and symbol ids stay */
  TdMap sym; /* old -> new */
  TdMap uid; /* old -> new */
} Cloner;

static TdSym clone_sym(Cloner *c, TdSym s) {
  if (!s) return NULL;
  TdSymbol *copy = td_map_getp(&c->sym, s);
  if (copy) return copy;
  copy = td_arena_copy(c->to->arena, s, sizeof *s);
  if (!c->keep) copy->id = c->to->next_sym++;
  td_map_putp(c->to->arena, &c->sym, s, copy);
  return copy;
}

static uint32_t clone_uid(Cloner *c, uint32_t uid) {
  if (c->keep || !uid) return uid;
  uint64_t v;
  if (!td_map_get(&c->uid, uid, &v)) {
    v = td_store_uid(c->to);
    td_map_put(c->to->arena, &c->uid, uid, v);
  }
  return (uint32_t)v;
}

static const TdExpr *clone_expr(Cloner *c, const TdExpr *e) {
  TdExpr *copy = td_arena_copy(c->to->arena, e, sizeof *e + e->nkid * sizeof *e->kid);
  copy->sym = clone_sym(c, e->sym);
  if (e->kind == TD_EXPR_VIEW)
    copy->u.dim = td_arena_copy(c->to->arena, e->u.dim, e->nkid * sizeof *e->u.dim);
  for (uint32_t i = 0; i < e->nkid; i++) copy->kid[i] = clone_expr(c, e->kid[i]);
  return copy;
}

static const TdExpr *const *clone_exprs(Cloner *c, const TdExpr *const *e, size_t n) {
  const TdExpr **copy = TD_NEWN(c->to->arena, const TdExpr *, n);
  for (size_t i = 0; i < n; i++) copy[i] = clone_expr(c, e[i]);
  return copy;
}

static TdAttrs clone_attrs(Cloner *c, TdAttrs l) {
  TdAttr *at = td_arena_copy(c->to->arena, l.at, l.n * sizeof *at);
  for (size_t i = 0; i < l.n; i++)
    for (int k = 0; td_attrs[at[i].kind].args[k]; k++) {
      TdAttrArg *x = &at[i].arg[k];
      char letter = td_attrs[at[i].kind].args[k];
      if (letter == 'd' && x->ints)
        x->ints = td_attr_ints(c->to->arena, x->ints->at, x->ints->n);
      else if (letter == 'y')
        x->sym = clone_sym(c, x->sym);
    }
  return (TdAttrs){at, l.n};
}

static const TdBlob *clone_blob(Cloner *c, const TdBlob *b) {
  if (!b) return NULL;
  TdBlob *copy = td_arena_copy(c->to->arena, b, sizeof *b);
  copy->data = td_arena_copy(c->to->arena, b->data,
                             (size_t)b->count * td_type_bytes(td_type_scalar(b->type)));
  return copy;
}

static const TdStmt *clone_stmt(Cloner *c, const TdStmt *s) {
  td_ctx_enter(c->to->session->ctx);
  TdStmt *copy = td_arena_copy(c->to->arena, s, sizeof *s);
  copy->uid = clone_uid(c, s->uid);
  copy->origin = clone_uid(c, s->origin);
  copy->sym = clone_sym(c, s->sym);
  copy->attrs = clone_attrs(c, s->attrs);
  copy->blob = clone_blob(c, s->blob);
  copy->expr = clone_exprs(c, s->expr, s->nexpr);
  const TdStmt **kid = TD_NEWN(c->to->arena, const TdStmt *, s->nkid);
  for (uint32_t i = 0; i < s->nkid; i++) kid[i] = clone_stmt(c, s->kid[i]);
  copy->kid = kid;
  td_ctx_leave(c->to->session->ctx);
  return copy;
}

static const TdParam *clone_params(Cloner *c, const TdUnit *u) {
  TdParam *p = td_arena_copy(c->to->arena, u->param, u->nparam * sizeof *p);
  for (size_t i = 0; i < u->nparam; i++) {
    p[i].sym = clone_sym(c, p[i].sym);
    p[i].attrs = clone_attrs(c, p[i].attrs);
  }
  return p;
}

static const TdStream *clone_streams(Cloner *c, const TdUnit *u) {
  TdStream *s = td_arena_copy(c->to->arena, u->stream, u->nstream * sizeof *s);
  for (size_t i = 0; i < u->nstream; i++) {
    s[i].sym = clone_sym(c, s[i].sym);
    s[i].uid = clone_uid(c, s[i].uid);
    s[i].depth = clone_expr(c, s[i].depth);
    s[i].attrs = clone_attrs(c, s[i].attrs);
  }
  return s;
}

static const TdRun *clone_runs(Cloner *c, const TdUnit *u) {
  TdRun *r = td_arena_copy(c->to->arena, u->run, u->nrun * sizeof *r);
  for (size_t i = 0; i < u->nrun; i++) {
    TdRunArg *b = td_arena_copy(c->to->arena, r[i].bind, r[i].nbind * sizeof *b);
    for (size_t k = 0; k < r[i].nbind; k++) {
      b[k].param = clone_sym(c, b[k].param);
      b[k].arg = clone_sym(c, b[k].arg);
      if (b[k].layout) b[k].layout = td_arena_strdup(c->to->arena, b[k].layout);
    }
    r[i].bind = b;
    r[i].sym = clone_sym(c, r[i].sym);
    r[i].unit = clone_sym(c, r[i].unit);
    r[i].uid = clone_uid(c, r[i].uid);
    for (int d = 0; d < r[i].rank; d++) r[i].map[d] = clone_expr(c, r[i].map[d]);
    r[i].attrs = clone_attrs(c, r[i].attrs);
  }
  return r;
}

static const char *clone_text(Cloner *c, const char *s) {
  return s ? td_arena_strdup(c->to->arena, s) : NULL;
}

/* The IP of a unit with n parameters. */
static const TdIp *clone_ip(Cloner *c, const TdIp *ip, size_t n) {
  TdArena *a = c->to->arena;
  TdIp *copy = td_arena_copy(a, ip, sizeof *ip);
  TdIpParam *param = td_arena_copy(a, ip->param, n * sizeof *param);
  TdIpFile *file = td_arena_copy(a, ip->file, ip->nfile * sizeof *file);
  for (size_t i = 0; i < n; i++) param[i].type = clone_text(c, ip->param[i].type);
  for (size_t i = 0; i < ip->nfile; i++)
    file[i] = (TdIpFile){clone_text(c, ip->file[i].name), clone_text(c, ip->file[i].text)};
  copy->source = clone_text(c, ip->source);
  copy->symbol = clone_text(c, ip->symbol);
  copy->path = clone_text(c, ip->path);
  copy->param = param;
  copy->file = file;
  return copy;
}

/* The code of a unit with n parameters. */
static const TdForeign *clone_foreign(Cloner *c, const TdForeign *f, size_t n) {
  if (!f) return NULL;
  TdForeign *copy = td_arena_copy(c->to->arena, f, sizeof *f);
  copy->library = clone_text(c, f->library);
  copy->source = clone_text(c, f->source);
  copy->symbol = clone_text(c, f->symbol);
  copy->model = clone_sym(c, f->model);
  TdCallback *back = td_arena_copy(c->to->arena, f->callback, f->ncallback * sizeof *back);
  for (size_t i = 0; i < f->ncallback; i++)
    back[i].param =
        td_arena_copy(c->to->arena, f->callback[i].param, back[i].nparam * sizeof *back[i].param);
  copy->callback = back;
  if (f->ip) copy->ip = clone_ip(c, f->ip, n);
  return copy;
}

static const TdUnit *clone_unit(Cloner *c, const TdUnit *u) {
  TdUnit *copy = td_unit_copy(c->to, u);
  copy->sym = clone_sym(c, u->sym);
  copy->uid = clone_uid(c, u->uid);
  copy->param = clone_params(c, u);
  TdSym *coord = TD_NEWN(c->to->arena, TdSym, u->ncoord);
  for (size_t i = 0; i < u->ncoord; i++) coord[i] = clone_sym(c, u->coord[i]);
  copy->coord = coord;
  copy->size = td_arena_copy(c->to->arena, u->size, u->nsize * sizeof *u->size);
  copy->assert_ = clone_exprs(c, u->assert_, u->nassert);
  copy->attrs = clone_attrs(c, u->attrs);
  copy->body = u->body ? clone_stmt(c, u->body) : NULL;
  copy->stream = clone_streams(c, u);
  copy->run = clone_runs(c, u);
  copy->foreign = clone_foreign(c, u->foreign, u->nparam);
  return copy;
}

const TdProg *td_clone_prog(TdStore *into, const TdProg *p, bool keep) {
  Cloner c = {.to = into, .keep = keep};
  const TdUnit **unit = TD_NEWN(into->arena, const TdUnit *, p->nunit);
  for (size_t i = 0; i < p->nunit; i++) unit[i] = clone_unit(&c, p->unit[i]);
  if (keep) {
    into->next_uid = p->store->next_uid;
    into->next_sym = p->store->next_sym;
  }
  return td_prog_new(into, unit, p->nunit);
}
