/* interface_draw.c - the arrays of a program and where they go, as a table and as a picture. */
#include "analysis/order/effects.h"
#include "analysis/net/interface.h"
#include "analysis/net/picture.h"

/* "cyclic 4", or for each of several dimensions "(complete, in one bank)". */
static const char *banks_text(TdArena *a, const TdInterface *g, const TdInterfaceArray *x) {
  const TdBanksNode *n = g->banks.node.at + x->first;
  if (x->type->rank == 1) return td_banks_str(a, n[0].banks);
  TdText t = td_text_new(a);
  for (int d = 0; d < x->type->rank; d++)
    td_text_putf(&t, "%s%s", d ? ", " : "(", td_banks_str(a, n[d].banks));
  td_text_putc(&t, ')');
  return td_text_str(&t);
}

void td_interface_print(TdText *out, const TdInterface *g) {
  TdArena *a = out->arena;
  const TdUnit *unit = NULL;
  td_text_putf(out, "%zu arrays, passed at %zu places\n", g->array.n, g->pass.n);
  for (uint32_t i = 0; i < g->array.n; i++) {
    const TdInterfaceArray *x = &g->array.at[i];
    if (x->at.unit != unit) td_text_putf(out, "  %s\n", x->at.unit->sym->name);
    unit = x->at.unit;
    td_text_putf(out, "    %s: %s, %s\n", x->at.sym->name, td_type_str(a, x->type),
                 banks_text(a, g, x));
    for (size_t k = 0; k < g->pass.n; k++)
      if (g->pass.at[k].of == i)
        td_text_putf(out, "      as %s\n", td_interface_name(a, g, g->pass.at[k].as));
  }
}

/* Whether what is passed as a parameter is read, and written; unknown code does both. */
static void way_of(const TdAsk *q, const TdInterfaceArray *as, bool *read, bool *write) {
  const TdUnit *u = as->at.unit;
  const TdEffect *e, *found;
  *read = *write = true;
  if (!u->body) return;
  TdAsk inside = {q->affine, q->arena, q->prog, u};
  size_t n = td_effects_of(&inside, u->body, &e);
  found = td_effects_find(e, n, as->at.sym);
  *read = found && found->read;
  *write = found && found->write;
}

/* The arrays that are passed, or are what is passed, and the ways of data between them. */
static TdPicture picture_of(const TdAsk *q, const TdInterface *g) {
  TdArena *a = q->arena;
  TdPicture p = {.arena = a, .title = q->unit->sym->name};
  uint32_t *box = TD_NEWN(a, uint32_t, g->array.n);
  p.box = TD_NEWN(a, const char *, g->array.n);
  for (size_t i = 0; i < g->pass.n; i++) box[g->pass.at[i].of] = box[g->pass.at[i].as] = 1;
  for (uint32_t i = 0; i < g->array.n; i++) {
    if (!box[i]) continue;
    p.box[p.n] =
        td_text_fmt(a, "%s %s", td_interface_name(a, g, i), banks_text(a, g, &g->array.at[i]));
    box[i] = (uint32_t)p.n++;
  }
  for (size_t i = 0; i < g->pass.n; i++) {
    const TdInterfacePass *pass = &g->pass.at[i];
    bool read, write;
    way_of(q, &g->array.at[pass->as], &read, &write);
    const char *line = td_text_fmt(a, "line %u", (unsigned)pass->loc.line);
    TdPictureArrow in = {box[pass->of], box[pass->as], line}, out = {in.to, in.from, line};
    if (read) td_vec_push(a, &p.arrow, in);
    if (write) td_vec_push(a, &p.arrow, out);
  }
  return p;
}

void td_interface_dot(TdText *out, const TdAsk *q, const TdInterface *g) {
  TdPicture p = picture_of(q, g);
  td_picture_dot(out, &p);
}
