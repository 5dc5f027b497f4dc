/* contract.c - contracts of library kernels, read and checked. */
#include "rewrite/kernel/contract.h"

#include <string.h>

#include "affine/uses.h"

/* A contract being read. */
typedef struct Reading {
  TdRewrite *r;
  TdContract *c;
} Reading;

static bool refuse(const Reading *q, const char *code, const TdParam *p, const char *what) {
  td_util_refuse(q->r, TD_ILLEGAL, code, p ? p->loc : q->c->unit->loc, "'%s'%s%s%s %s",
                 q->c->unit->sym->name, p ? " takes '" : "", p ? p->sym->name : "", p ? "'" : "",
                 what);
  return false;
}

/* The order in which a tensor's own dimensions are those that its users know. */
static bool read_order(const Reading *q, TdOperand *o) {
  const TdAttr *x = td_attrs_get(o->param->attrs, TD_ATTR_ORDER);
  int64_t extent[TD_MAX_RANK];
  const char *why;
  for (int d = 0; d < o->type->rank; d++) td_type_extent(o->type, d, &extent[d]);
  if (x) {
    o->arranged = true;
    if (td_order_read(q->r->store->arena, x->arg[0].s, extent, o->type->rank, &o->order, &why))
      return true;
    return refuse(q, "layout", o->param,
                  td_text_fmt(q->r->arena, "in the order \"%s\" as %s: %s", x->arg[0].s,
                              td_type_str(q->r->arena, o->type), why));
  }
  o->order.nname = o->order.nplace = o->type->rank;
  for (int d = 0; d < o->type->rank; d++) {
    o->order.name[d] = td_text_fmt(q->r->store->arena, "%s_%d", o->param->sym->name, d);
    o->order.extent[d] = extent[d];
    o->order.place[d] = (TdOrderPlace){.name = d, .div = 1};
  }
  return true;
}

/* Whether whole vectors fill the innermost dimension. */
static bool read_lanes(const Reading *q, TdOperand *o) {
  const TdAttr *x = td_attrs_get(o->param->attrs, TD_ATTR_LANES);
  int64_t inner = 1;
  o->lanes = x ? x->arg[0].i : 1;
  if (o->type->rank) td_type_extent(o->type, o->type->rank - 1, &inner);
  if (o->lanes >= 1 && inner % o->lanes == 0) return true;
  return refuse(q, "width", o->param,
                td_text_fmt(q->r->arena, "in vectors of %lld, and its innermost dimension has %lld",
                            (long long)o->lanes, (long long)inner));
}

/* Whether a name that several operands share is of one extent. */
static bool check_names(const Reading *q) {
  const TdContract *c = q->c;
  for (size_t i = 0; i < c->n; i++)
    for (size_t k = 0; k < i; k++)
      for (int x = 0; x < c->at[i].order.nname; x++)
        for (int y = 0; y < c->at[k].order.nname; y++) {
          const TdOrder *o = &c->at[i].order, *p = &c->at[k].order;
          if (strcmp(o->name[x], p->name[y]) != 0 || o->extent[x] == p->extent[y]) continue;
          return refuse(q, "layout", c->at[i].param,
                        td_text_fmt(q->r->arena, "with %s = %lld, and '%s' with %s = %lld",
                                    o->name[x], (long long)o->extent[x], c->at[k].param->sym->name,
                                    p->name[y], (long long)p->extent[y]));
        }
  return true;
}

static bool read_operand(const Reading *q, size_t i) {
  TdContract *c = q->c;
  TdOperand *o = &c->at[i];
  o->param = &c->unit->param[i];
  o->type = td_unit_type(q->r->session, c->unit, o->param->type);
  unsigned how = td_uses_param(c->prog, c->unit, o->param->sym);
  o->read = how & TD_USES_READ;
  o->write = how & TD_USES_WRITE;
  o->lanes = 1;
  if (!o->type || o->type->kind == TD_T_PORT)
    return refuse(q, "operands", o->param,
                  o->type ? "which is a stream" : "with a size that has no value");
  if (o->type->kind != TD_T_TENSOR) return true;
  return read_order(q, o) && read_lanes(q, o);
}

bool td_contract_read(TdContract *c, TdRewrite *r, const TdProg *p) {
  Reading q = {r, c};
  *c = (TdContract){.prog = td_clone_prog(r->store, p, false)};
  c->unit = td_prog_root(c->prog);
  c->n = c->unit->nparam;
  c->at = TD_NEWN(r->arena, TdOperand, c->n);
  if (c->unit->kind == TD_UNIT_DESIGN) return refuse(&q, "operands", NULL, "is a design");
  if (c->unit->foreign && !c->unit->foreign->model) {
    refuse(&q, "no-model", NULL, "is foreign, and nothing says what it computes");
    td_diag_help(r->diag, "give tide.extern a model: a kernel that computes the same");
    return false;
  }
  for (size_t i = 0; i < c->n; i++)
    if (!read_operand(&q, i)) return false;
  return check_names(&q);
}

const char *td_contract_text(TdArena *a, const TdOperand *o) {
  TdText t = td_text_new(a);
  td_text_putf(&t, "%s: %s", o->param->sym->name, td_type_str(a, o->type));
  for (int i = 0; o->arranged && i < o->order.nname; i++)
    td_text_putf(&t, "%s%s = %lld", i ? ", " : " of ", o->order.name[i],
                 (long long)o->order.extent[i]);
  td_text_puts(&t, o->write ? o->read ? ", read and written" : ", written" : ", read");
  return td_text_str(&t);
}
