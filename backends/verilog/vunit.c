/* vunit.c - a kernel as a module. */
#include "backends/verilog/verilog.h"

#include "backends/verilog/vname.h"
#include "backends/verilog/vunit.h"

/* The wires of scalar parameters and coordinates. */
static bool take_params(TdVkUnit *k) {
  const TdUnit *u = k->unit;
  for (size_t i = 0; i < u->nparam; i++) {
    const TdType *t = u->param[i].type;
    if (t->kind == TD_T_TENSOR || t->kind == TD_T_PORT) continue;
    td_map_putp(k->arena, &k->scalar, u->param[i].sym,
                td_vtree_input(k->m, u->param[i].sym->name, t->w));
  }
  enum { COORD_BITS = 16 };
  for (size_t i = 0; i < u->ncoord; i++)
    td_map_putp(k->arena, &k->scalar, u->coord[i],
                td_vtree_input(k->m, u->coord[i]->name, COORD_BITS));
  return true;
}

/* The registers that values wait in. */
static void finish_leaf(TdVkUnit *k, const TdVkLeaf *l) {
  for (size_t i = 0; i < l->kept.n; i++)
    td_vtree_always(k->m,
                    td_text_fmt(k->arena, "%s: stays while %s runs",
                                td_vunit_place(k, l->step->stmt->loc), l->name),
                    l->kept.at[i].act);
  for (size_t i = 0; i < l->firing.n; i++)
    if (l->firing.at[i]->path) finish_leaf(k, l->firing.at[i]->path);
  if (l->wait)
    td_vtree_always(
        k->m,
        td_text_fmt(k->arena, "%s: from cycle to cycle", td_vunit_place(k, l->step->stmt->loc)),
        l->wait);
}

/* Where the box that array a is lies. */
static void put_box(TdVkUnit *k, const TdVkBox *x, TdVlogArray *a) {
  size_t n = k->unit->ncoord;
  int64_t *from = TD_NEWN(k->arena, int64_t, TD_MAX_RANK);
  int64_t *by = TD_NEWN(k->arena, int64_t, TD_MAX_RANK * n + 1);
  for (int d = 0; d < a->rank; d++) {
    if (x->whole[d]) continue;
    from[d] = x->lo[d];
    for (size_t i = 0; i < n; i++) by[(size_t)d * n + i] = x->by[d][i];
  }
  a->from = from;
  a->by = by;
}

/* A memory outside of the module, with the ports that drive and read it. */
static TdVlogArray array_of(TdVkUnit *k, const TdVkStore *s) {
  TdVlogArray a = {.name = s->name, .width = s->element->w, .latency = s->latency};
  a.sym = s->sym;
  if (s->decl && s->decl->cls == TD_LOCAL_STATE) a.state = s->decl->blob;
  a.rank = s->rank;
  a.depth = s->depth;
  a.nbank = s->nbank;
  a.copies = 1;
  a.lo = TD_NEWN(k->arena, int64_t, TD_MAX_RANK);
  for (int d = 0; d < s->rank; d++) {
    a.extent[d] = s->extent[d];
    a.banks[d] = s->banks[d];
    a.block[d] = s->part[d] == TD_PART_BLOCK;
  }
  if (s->box) put_box(k, s->box, &a);
  a.reads = TD_NEWN(k->arena, size_t, s->nbank);
  a.writes = TD_NEWN(k->arena, size_t, s->nbank);
  for (int64_t b = 0; b < s->nbank; b++) {
    a.reads[b] = s->bank[b].ports[0];
    a.writes[b] = s->bank[b].ports[1];
  }
  return a;
}

/* The memories outside, for who connects the module; those of block streams go with their ends. */
static void note_ports(TdVkUnit *k, TdVlogModule *out) {
  TD_VEC(TdVlogArray) list = {0};
  for (size_t i = 0; i < k->store.n; i++) {
    const TdVkStore *s = k->store.at[i];
    if (s->outside && !s->block) td_vec_push(k->arena, &list, array_of(k, s));
  }
  out->array = list.at;
  out->narray = list.n;
}

/* The ends of streams, and scalars. */
static void note_ends(TdVkUnit *k, TdVlogModule *out) {
  TD_VEC(TdVlogPort) port = {0};
  TD_VEC(TdVlogInput) input = {0};
  for (size_t i = 0; i < k->port.n; i++) {
    const TdVkPort *p = k->port.at[i];
    TdVlogPort x = {.sym = p->sym, .name = p->name, .put = p->put, .width = p->part};
    x.count = p->count;
    x.block = p->block;
    x.spare = p->spare;
    x.held = k->held && !p->put;
    x.free = k->free && p->put;
    TdVlogArray a;
    if (p->memory) {
      a = array_of(k, p->memory);
      x.memory = td_arena_copy(k->arena, &a, sizeof a);
    }
    td_vec_push(k->arena, &port, x);
  }
  for (size_t i = 0; i < k->unit->nparam + k->unit->ncoord; i++) {
    bool param = i < k->unit->nparam;
    TdSym sym = param ? k->unit->param[i].sym : k->unit->coord[i - k->unit->nparam];
    const TdVlSig *s = td_map_getp(&k->scalar, sym);
    if (s) td_vec_push(k->arena, &input, ((TdVlogInput){sym, s->name, s->width}));
  }
  out->port = port.at;
  out->nport = port.n;
  out->input = input.at;
  out->ninput = input.n;
}

const char *td_vunit_bank(TdArena *a, const TdVlogArray *x, int64_t b) {
  return x->nbank > 1 ? td_text_fmt(a, "%s_%lld", x->name, (long long)b) : x->name;
}

const char *td_vunit_pin(TdArena *a, const char *bank, const char *what, size_t i) {
  return i ? td_text_fmt(a, "%s_%s%zu", bank, what, i) : td_text_fmt(a, "%s_%s", bank, what);
}

const TdVlogModule *td_vunit_kernel(const TdVlogProg *p, const TdUnit *u, TdDiag *d) {
  TdArena *a = p->arena;
  TdVkUnit *k = TD_NEW(a, TdVkUnit);
  TdVlogModule *out = TD_NEW(a, TdVlogModule);
  *k = (TdVkUnit){.arena = a, .prog = p->prog, .unit = u, .sched = p->sched, .diag = d};
  k->placeless = p->placeless;
  k->held = p->held;
  k->free = p->free;
  k->boxes = p->boxes;
  k->frame = TD_NEW(a, TdVkFrame);
  *k->frame = (TdVkFrame){.unit = u, .ask = {p->sched->affine, a, p->prog, u}};
  k->times = p->times;
  const TdSchedStep *x = td_sched_unit(p->sched, u, d);
  if (!x) return NULL;
  k->m = td_vtree_module(a, p->top && *p->top ? p->top : td_vname_module(a, u->sym->name));
  k->clk = td_vtree_input(k->m, "clk", 1);
  k->rst = td_vtree_input(k->m, "rst", 1);
  k->start = td_vtree_input(k->m, "start", 1);
  k->busy = td_vtree_output(k->m, "busy", 1);
  k->clk->used[0] = k->rst->used[0] = true;
  td_text_line(&k->m->head, "// %s: %s, for %s", td_vunit_place(k, u->loc), u->sym->name,
               p->sched->target->name);
  if (!take_params(k) || !td_vplan_unit(k, x) || !td_vcontrol_open(k)) return NULL;
  for (size_t i = 0; i < k->leaf.n; i++)
    if (!td_vtask_leaf(k, k->leaf.at[i]) || !td_vdata_writes(k, k->leaf.at[i]) ||
        !td_vjump_leaf(k, k->leaf.at[i]))
      return NULL;
  if (!td_vcontrol_tests(k)) return NULL;
  td_vbuffer_finish(k);
  td_vport_finish(k);
  td_vstore_finish(k);
  for (size_t i = 0; i < k->leaf.n; i++) finish_leaf(k, k->leaf.at[i]);
  td_vcontrol_finish(k);
  if (td_diag_failed(d)) return NULL;
  TdText text = td_text_new(a);
  td_vdead_drop(k->m);
  td_vprint_module(&text, k->m);
  out->name = k->m->name;
  out->text = td_text_str(&text);
  out->unit = u;
  out->pace = td_vpace_unit(k);
  note_ports(k, out);
  note_ends(k, out);
  return out;
}
