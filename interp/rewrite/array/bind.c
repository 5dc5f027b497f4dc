/* bind.c - bind: the kind of memory that holds an array, here and wherever it is passed whole.
 */
#include "rewrite/array/call_aliases.h"

enum { ARRAY, MEMORY, PORTS, LATENCY };

/* Which attribute an option sets. */
static const TdAttrKind kind_of[] = {
    [MEMORY] = TD_ATTR_STORAGE, [PORTS] = TD_ATTR_PORTS, [LATENCY] = TD_ATTR_LATENCY};

static bool is_equal(const TdAttr *x, const TdAttr *y) {
  return x && y && td_attrs_equal((TdAttrs){x, 1}, (TdAttrs){y, 1});
}

/* Adds attribute x to *attrs, which array number i has: its value was set by no one else than for
 * the array that is named. */
static bool set(const TdPassed *b, size_t i, TdAttr x, TdAttrs *attrs) {
  const TdPlace *p = &b->array.at[i];
  const TdAttr *was = td_attrs_get(td_call_aliases_attrs(&b->array.at[0]), (TdAttrKind)x.kind);
  const TdAttr *own = td_attrs_get(*attrs, (TdAttrKind)x.kind);
  if (own && !is_equal(own, &x) && !is_equal(own, was))
    return td_call_aliases_refuse(
        b, TD_ILLEGAL, "conflict",
        td_text_fmt(b->r->arena, "is '%s' of '%s' too, whose %s is another", p->sym->name,
                    p->unit->sym->name, td_attrs[x.kind].name));
  *attrs = td_attrs_set(b->r->store->arena, *attrs, x);
  return true;
}

/* Checks the options, of which one at least is needed. */
static bool check(const TdPassed *b) {
  const TdArgValue *arg = b->r->arg;
  if (!arg[MEMORY].given && !arg[PORTS].given && !arg[LATENCY].given)
    return td_call_aliases_refuse(b, TD_USAGE, "option",
                                  "is bound to nothing: memory, ports, latency");
  if (arg[PORTS].given && (arg[PORTS].integer < 1 || arg[PORTS].integer > 2))
    return td_call_aliases_refuse(b, TD_USAGE, "ports", "has a memory of 1 port or 2");
  return !arg[LATENCY].given || arg[LATENCY].integer >= 1 ||
         td_call_aliases_refuse(b, TD_USAGE, "latency", "needs at least one cycle for a read");
}

static const TdProg *apply(TdRewrite *r) {
  TdPassed b;
  if (!td_call_aliases_find(&b, r, ARRAY) || !check(&b)) return NULL;
  const TdProg *p = r->prog;
  for (size_t i = 0; i < b.array.n; i++) {
    TdAttrs attrs = td_call_aliases_attrs(&b.array.at[i]);
    for (int k = MEMORY; k <= LATENCY; k++) {
      TdAttr x = {.kind = (uint8_t)kind_of[k], .arg = {{.i = r->arg[k].integer}}};
      if (k == MEMORY && r->arg[k].given)
        x.arg[0].s = td_names_str(r->session->names, r->arg[k].text);
      if (r->arg[k].given && !set(&b, i, x, &attrs)) return NULL;
    }
    p = td_call_aliases_mark(&b, p, i, attrs);
  }
  return p;
}

const TdPrim td_prim_bind = {
    .name = "bind",
    .on = "array",
    .summary = "Choose the memory that holds an array.",
    .args = {{"array", TD_ARG_ARRAY, TD_ARG_NEEDED, "the array", NULL},
             {"memory", TD_ARG_WORD, TD_ARG_OPTION, "the kind of memory", TD_WORDS_MEMORY},
             {"ports", TD_ARG_INT, TD_ARG_OPTION, "ports of each bank, 1 or 2", NULL},
             {"latency", TD_ARG_INT, TD_ARG_OPTION, "cycles of a read", NULL}},
    .rewrite = "A = T[m]  =>  A = T[m] --@ storage(uram) ports(1) latency(2)",
    .legal = "always; what A is passed as, or comes from, is in the same memory and must not be "
             "bound otherwise",
    .errors = "not-an-array option ports latency conflict",
    .example = "s:bind(\"B\", {memory = \"uram\"})",
    .apply = apply,
};
