/* pragma.c - attributes as Vitis HLS pragmas. Vitis counts dimensions from 1. */
#include <inttypes.h>
#include <string.h>

#include "analysis/order/effects.h"
#include "analysis/range/range.h"
#include "backends/hls/text.h"

/* One pragma line. */
static void put(TdHlsProg *p, const char *fmt, ...) TD_PRINTF(2, 3);
static void put(TdHlsProg *p, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = td_text_vfmt(p->w->arena, fmt, ap);
  va_end(ap);
  td_text_line(&p->w->out, "#pragma HLS %s", text);
}

/* Whether `outer` holds nothing but the loop `inner`, so that Vitis may make one loop of the two.
 */
static bool is_perfect(const TdStmt *outer, const TdStmt *inner) {
  const TdStmt *body = td_for_body(outer);
  return body->nkid == 1 && body->kid[0] == inner;
}

static bool has(const TdSym *list, size_t n, TdSym x) {
  for (size_t i = 0; i < n; i++)
    if (list[i] == x) return true;
  return false;
}

/* Whether the innermost loop, and each around it that Vitis may flatten it into, carries no
 * dependence on array x. */
static bool carries_nothing(TdHlsProg *p, TdSym x) {
  for (size_t i = p->nest.n; i-- > 0;) {
    const TdSym *list;
    size_t n = td_loop_carried_free(&p->ask, p->nest.at[i], &list);
    if (!has(list, n, x)) return false;
    if (i == 0 || !is_perfect(p->nest.at[i - 1], p->nest.at[i])) return true;
  }
  return false;
}

/* "dependence" for arrays that the pipelined loop s both reads and writes, where it is proved that
 * iterations do not meet. */
static void put_dependences(TdHlsProg *p, const TdStmt *s) {
  const TdEffect *e;
  size_t n = td_effects_of(&p->ask, s, &e);
  for (size_t i = 0; i < n; i++) {
    bool shared = e[i].read && e[i].write && !e[i].inside && e[i].kind == TD_CELL_MEMORY;
    if (!shared || !td_cname_of(p->w, e[i].sym)->type || !carries_nothing(p, e[i].sym)) continue;
    put(p, "dependence variable=%s inter false", td_cname_of(p->w, e[i].sym)->text);
  }
}

/* Whether e is no variable and reads nothing: Vitis computes what is made of such. */
static bool is_fixed(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_VAR && e->kind != TD_EXPR_LOAD;
}

/* Trips of a loop from `span` = end - start. */
static int64_t trips(int64_t span, int64_t step) {
  return span <= 0 ? 0 : (span + step - 1) / step;
}

/* How often a loop runs, where Vitis cannot see it. */
static void put_tripcount(TdHlsProg *p, const TdStmt *s) {
  TdSession *session = p->w->session;
  int64_t least, most;
  if (td_walk_expr(td_for_lo(s), is_fixed, NULL) && td_walk_expr(td_for_hi(s), is_fixed, NULL))
    return;
  const TdExpr *span = td_lin_minus(session, p->w->arena, td_for_hi(s), td_for_lo(s));
  if (!td_range_of(&p->ask, s, span, &least, &most)) return;
  put(p, "loop_tripcount min=%" PRId64 " max=%" PRId64, trips(least, s->step),
      trips(most, s->step));
}

void td_hls_pragma_loop(TdHlsProg *p, const TdStmt *s) {
  const TdAttr *pipeline = td_attrs_get(s->attrs, TD_ATTR_PIPELINE);
  const TdAttr *unroll = td_attrs_get(s->attrs, TD_ATTR_UNROLL);
  const TdAttr *bound = td_attrs_get(s->attrs, TD_ATTR_BOUND);
  if (td_attrs_get(s->attrs, TD_ATTR_PARALLEL))
    td_text_line(&p->w->out, "// parallel: its iterations are proved independent");
  if (pipeline)
    put(p, "pipeline II=%" PRId64 "%s%s%s", pipeline->arg[0].i,
        td_attrs_get(s->attrs, TD_ATTR_REWIND) ? " rewind" : "", p->style->pipes ? " style=" : "",
        p->style->pipes ? p->style->pipes : "");
  if (unroll && unroll->arg[0].i > 0)
    put(p, "unroll factor=%" PRId64, unroll->arg[0].i);
  else if (unroll)
    put(p, "unroll");
  if (s->kind == TD_STMT_FOR && pipeline) put_dependences(p, s);
  if (s->kind == TD_STMT_FOR) put_tripcount(p, s);
  if (bound) put(p, "loop_tripcount max=%" PRId64, bound->arg[0].i);
}

/* "ram_1p": a memory by its ports. */
static const char *ram_of(TdAttrs attrs) {
  const TdAttr *ports = td_attrs_get(attrs, TD_ATTR_PORTS);
  return ports && ports->arg[0].i == 1 ? "ram_1p" : "ram_2p";
}

/* " latency=2", or "". */
static const char *latency_of(TdHlsProg *p, TdAttrs attrs) {
  const TdAttr *latency = td_attrs_get(attrs, TD_ATTR_LATENCY);
  return latency ? td_text_fmt(p->w->arena, " latency=%" PRId64, latency->arg[0].i) : "";
}

/* Whether attributes say anything of a memory. */
static bool has_storage(TdAttrs attrs) {
  return td_attrs_get(attrs, TD_ATTR_STORAGE) || td_attrs_get(attrs, TD_ATTR_PORTS) ||
         td_attrs_get(attrs, TD_ATTR_LATENCY);
}

/* The kind, ports and latency of the memory that holds an array. */
static void put_storage(TdHlsProg *p, const char *name, TdAttrs attrs) {
  const TdAttr *kind = td_attrs_get(attrs, TD_ATTR_STORAGE);
  if (!has_storage(attrs)) return;
  const char *impl = kind ? td_text_fmt(p->w->arena, " impl=%s", kind->arg[0].s) : "";
  put(p, "bind_storage variable=%s type=%s%s%s", name, ram_of(attrs), impl, latency_of(p, attrs));
}

/* Whether an array is kept in registers: banks of one element each. */
static bool is_registers(TdAttrs attrs) {
  const TdAttr *kind = td_attrs_get(attrs, TD_ATTR_STORAGE);
  return kind && strcmp(kind->arg[0].s, "register") == 0;
}

void td_hls_pragma_banks(TdHlsProg *p, const char *name, TdAttrs attrs) {
  if (is_registers(attrs)) {
    put(p, "array_partition variable=%s type=complete dim=0", name);
    return;
  }
  for (size_t i = 0; i < attrs.n; i++) {
    const TdAttr *x = &attrs.at[i];
    if (x->kind != TD_ATTR_PARTITION) continue;
    bool complete = strcmp(x->arg[1].s, "complete") == 0;
    const char *factor = complete ? "" : td_text_fmt(p->w->arena, " factor=%" PRId64, x->arg[2].i);
    put(p, "array_partition variable=%s type=%s dim=%" PRId64 "%s", name, x->arg[1].s,
        x->arg[0].i + 1, factor);
  }
}

void td_hls_pragma_array(TdHlsProg *p, const char *name, TdAttrs attrs) {
  td_hls_pragma_banks(p, name, attrs);
  if (!is_registers(attrs)) put_storage(p, name, attrs);
}

/* Elements of an array. */
static int64_t count_of(const TdType *t) {
  int64_t n = 1;
  td_type_count(t, &n);
  return n;
}

/* Arrays are buses, except those in banks, each of which is a memory port of its own; scalars and
 * the start are registers. The memory behind a port has its latency, and its ports. */
void td_hls_pragma_ports(TdHlsProg *p) {
  const TdUnit *u = p->w->unit;
  bool bus = !p->style->ap_memory;
  for (size_t i = 0; i < u->nparam; i++) {
    const char *name = p->param.at[i].name;
    bool array = p->param.at[i].type->kind == TD_T_TENSOR;
    bool banks = td_attrs_get(u->param[i].attrs, TD_ATTR_PARTITION) != NULL;
    if (array && bus && !banks)
      put(p, "interface m_axi port=%s bundle=gmem_%s offset=slave depth=%" PRId64 "%s", name, name,
          count_of(p->param.at[i].type), latency_of(p, u->param[i].attrs));
    else if (array && has_storage(u->param[i].attrs) && !is_registers(u->param[i].attrs))
      put(p, "interface ap_memory port=%s storage_type=%s%s", name, ram_of(u->param[i].attrs),
          latency_of(p, u->param[i].attrs));
    else if (array)
      put(p, "interface ap_memory port=%s", name);
    else if (bus)
      put(p, "interface s_axilite port=%s", name);
  }
  if (bus) put(p, "interface s_axilite port=return");
}
