/* scale.c - the quantiser: recognised in what a kernel stores, by form, and its arithmetic.
 * clamp(((sum - zp_in) * mult >> shift) + zp_out) in 8 bits. */
#include "backends/maestro/job.h"

/* e without casts that keep every value. */
static const TdExpr *bare(const TdExpr *e) {
  while (e->kind == TD_EXPR_CAST && td_promote_holds(e->type, e->kid[0]->type)) e = e->kid[0];
  return e;
}

/* Whether e is an integer constant, or a size that has a value. */
static bool constant(const TdUnit *u, const TdExpr *e, int64_t *v) {
  while (e->kind == TD_EXPR_CAST) e = e->kid[0];
  if (e->kind == TD_EXPR_SIZE) return td_unit_value(u, e, v);
  if (e->kind != TD_EXPR_LIT || !(td_type_is_integer(e->type) || e->type->kind == TD_T_INDEX))
    return false;
  *v = (int64_t)e->u.bits;
  return true;
}

/* The other operand of `op` with a constant on either side (only the right one unless it commutes);
 * e itself, and *v = none, where e is no such operator. */
static const TdExpr *peel(const TdUnit *u, const TdExpr *e, TdOp op, bool either, int64_t none,
                          int64_t *v) {
  *v = none;
  e = bare(e);
  if (e->kind != TD_EXPR_OP || e->op != op) return e;
  if (constant(u, e->kid[1], v)) return bare(e->kid[0]);
  if (either && constant(u, e->kid[0], v)) return bare(e->kid[1]);
  return e;
}

/* What a constant is added to, or taken from. */
static const TdExpr *peel_offset(const TdUnit *u, const TdExpr *e, int64_t *v) {
  const TdExpr *x = peel(u, e, TD_OP_ADD, true, 0, v);
  if (x != bare(e)) return x;
  x = peel(u, e, TD_OP_SUB, false, 0, v);
  *v = -*v;
  return x;
}

/* The limits of a clamp, in either nesting, inside those of the type. */
static const TdExpr *peel_clamp(const TdUnit *u, const TdExpr *e, const TdType *t,
                                TdMaestroScale *s) {
  bool is_signed = td_type_is_signed(t);
  s->lo = is_signed ? -128 : 0;
  s->hi = is_signed ? 127 : 255;
  for (int i = 0; i < 2; i++) {
    int64_t lo, hi;
    e = peel(u, e, TD_OP_MIN, true, INT64_MAX, &hi);
    e = peel(u, e, TD_OP_MAX, true, INT64_MIN, &lo);
    if (hi < s->hi) s->hi = hi;
    if (lo > s->lo) s->lo = lo;
  }
  return e;
}

/* Whether the clamp that was said keeps the type, so that the store cuts nothing. */
static bool says_clamp(const TdUnit *u, const TdExpr *e, const TdType *t) {
  int64_t v;
  bool low = false, high = false;
  e = bare(e);
  if (t->saturate) return true;
  for (int i = 0; i < 2; i++) {
    const TdExpr *was = e;
    e = peel(u, e, TD_OP_MIN, true, INT64_MAX, &v);
    high |= e != was && v <= (td_type_is_signed(t) ? 127 : 255);
    was = e;
    e = peel(u, e, TD_OP_MAX, true, INT64_MIN, &v);
    low |= e != was && v >= (td_type_is_signed(t) ? -128 : 0);
  }
  return low && high;
}

/* A value of each column: of the table that a load takes, by a loop; NULL: the same for all. The
 * table is a constant, or a parameter. */
typedef struct Table {
  const TdExpr *load;
  const TdBlob *blob;
  int param, loop; /* param: its number plus one */
} Table;

/* Whether e takes an element of a constant table, or of a parameter, by a loop alone. */
static bool read_table(const TdMaestroNest *n, const TdExpr *e, Table *t) {
  e = bare(e);
  if (e->kind != TD_EXPR_LOAD || e->nkid != 1 || bare(e->kid[0])->kind != TD_EXPR_VAR) return false;
  *t = (Table){.load = e, .loop = -1};
  for (uint32_t i = 0; i < n->unit->body->nkid; i++) {
    const TdStmt *s = n->unit->body->kid[i];
    if (s->kind == TD_STMT_LOCAL && s->cls == TD_LOCAL_CONST && s->sym == e->sym) t->blob = s->blob;
  }
  for (size_t i = 0; i < n->unit->nparam; i++)
    if (n->unit->param[i].sym == e->sym && td_type_is_integer(e->type)) t->param = (int)i + 1;
  for (int l = 0; l < n->nloop; l++)
    if (n->loop[l].sym == bare(e->kid[0])->sym) t->loop = l;
  return (t->blob || t->param) && t->loop >= 0;
}

/* The other operand of `op` where one is a table. */
static const TdExpr *peel_table(const TdMaestroNest *n, const TdExpr *e, TdOp op, bool either,
                                Table *t) {
  e = bare(e);
  *t = (Table){0};
  if (e->kind != TD_EXPR_OP || e->op != op) return e;
  if (read_table(n, e->kid[1], t)) return bare(e->kid[0]);
  if (either && read_table(n, e->kid[0], t)) return bare(e->kid[1]);
  *t = (Table){0};
  return e;
}

/* A constant table's value in an iteration of its loop. */
static int64_t value_of(const TdMaestroNest *n, const Table *t, int64_t i) {
  const TdMaestroLoop *l = &n->loop[t->loop];
  TdTensor x = {.type = t->blob->type, .data = (unsigned char *)t->blob->data};
  x.extent[0] = t->blob->count;
  x.stride[0] = 1;
  int64_t index[TD_MAX_RANK] = {l->lo + l->step * i};
  return (int64_t)td_tensor_get(&x, index);
}

/* Of a column that no element is stored of. */
static const TdMaestroColumn no_column = {0, 1};

/* Whether the quantiser can multiply and shift by these. */
static const char *check_column(TdMaestroColumn c) {
  if (c.shift < 1 || c.shift > 62)
    return "the quantiser shifts right: tide.asr(sum * mult, shift) with a shift from 1";
  if (c.mult < 0 || c.mult > INT64_C(1) << (c.shift - 1) || c.mult >= INT64_C(1) << 31)
    return "the quantiser keeps 32 bits: mult is at most 2 ^ (shift - 1)";
  return NULL;
}

/* Refuses tiles of columns that differ. */
static bool refuse_tiles(const TdMaestroNest *n, const TdExpr *load, int across, int64_t columns,
                         TdDiag *d) {
  td_diag_set(d, TD_UNSUPPORTED, "maestro-columns", load->loc,
              "'%s' differs between tiles: the quantiser has a multiplier and shift for each of "
              "%lld columns, and keeps them for a job",
              load->sym->name, (long long)columns);
  td_diag_help(d, "a job for each %lld iterations of '%s'", (long long)columns,
               n->loop[across].name);
  return false;
}

/* Notes the columns whose values are given with a call: no more than there are. */
static bool note_given(const TdMaestroNest *n, const Table *mult, const Table *shift, int across,
                       int64_t columns, TdMaestroWork *w, TdDiag *d) {
  const TdMaestroLoop *l = &n->loop[across];
  if (l->extent > columns)
    return refuse_tiles(n, (mult->param ? mult : shift)->load, across, columns, d);
  w->given = (TdMaestroGiven){mult->param, shift->param, l->lo, l->step, l->extent};
  return true;
}

/* Fills the columns: all tiles that a job makes have the same. */
static bool fill_columns(const TdMaestroNest *n, const Table *mult, const Table *shift, int across,
                         int64_t columns, TdMaestroWork *w, TdDiag *d) {
  const Table *some = mult->load ? mult : shift;
  int64_t extent = across >= 0 ? n->loop[across].extent : 1;
  for (int i = 0; i < 2; i++) {
    const Table *t = i ? shift : mult;
    if (t->load && t->loop != across)
      return td_diag_set(d, TD_UNSUPPORTED, "maestro-store", t->load->loc,
                         "a value for each '%s': the quantiser has one for each column of the "
                         "array, n = \"%s\"",
                         n->loop[t->loop].name, n->loop[t->loop].name);
  }
  bool given = mult->param || shift->param;
  if (given && !note_given(n, mult, shift, across, columns, w, d)) return false;
  if (!some->load) extent = columns;
  for (int64_t i = extent; i < columns; i++) w->column[i] = no_column;
  for (int64_t i = 0; i < extent; i++) {
    TdMaestroColumn c = {w->scale.mult, w->scale.shift}, *to = &w->column[i % columns];
    if (mult->blob) c.mult = value_of(n, mult, i);
    if (shift->blob) c.shift = value_of(n, shift, i);
    const char *why = given ? NULL : check_column(c);
    if (why) return td_diag_set(d, TD_UNSUPPORTED, "maestro-store", n->post->loc, "%s", why);
    if (i >= columns && (to->mult != c.mult || to->shift != c.shift))
      return refuse_tiles(n, some->load, across, columns, d);
    *to = c;
  }
  return true;
}

bool td_maestro_scale_fill(const TdMaestroJob *j, TdTensor *const *param, TdMaestroWork *w,
                           TdDiag *d) {
  *w = j->work;
  const TdMaestroGiven *g = &w->given;
  for (int64_t i = 0; i < TD_MAESTRO_COLUMNS && (g->mult || g->shift); i++) {
    TdMaestroColumn *c = &w->column[i];
    int64_t index[TD_MAX_RANK] = {g->first + g->step * i};
    if (i >= g->n) {
      *c = no_column;
      continue;
    }
    if (g->mult) c->mult = (int64_t)td_tensor_get(param[g->mult - 1], index);
    if (g->shift) c->shift = (int64_t)td_tensor_get(param[g->shift - 1], index);
    const char *why = check_column(*c);
    if (why)
      return td_diag_set(d, TD_USAGE, "maestro-store", (TdLoc){0},
                         "column %lld, mult %lld and shift %lld: %s", (long long)index[0],
                         (long long)c->mult, (long long)c->shift, why);
  }
  return true;
}

/* Reads all but the values of tables; NULL, or why there is no such quantiser. */
static const char *read_scale(const TdMaestroNest *n, TdMaestroScale *s, Table *mult,
                              Table *shift) {
  const TdType *t = n->result.elem;
  if (!td_type_is_integer(t) || t->w != 8)
    return "what is stored is neither the sum nor 8 bits of the quantiser";
  const TdExpr *e = n->post;
  while (e->kind == TD_EXPR_CAST && e->type->w == 8) e = e->kid[0];
  if (!says_clamp(n->unit, e, t))
    return "the quantiser clamps: what is stored has no limits of its type";
  *s = (TdMaestroScale){0};
  e = peel_clamp(n->unit, e, t, s);
  e = peel_offset(n->unit, e, &s->zp_out);
  const TdExpr *was = e;
  e = peel(n->unit, e, TD_OP_ASR, false, 0, &s->shift);
  if (e == was) e = peel_table(n, e, TD_OP_ASR, false, shift);
  if (e == was) return check_column((TdMaestroColumn){0});
  e = peel(n->unit, e, TD_OP_MUL, true, 1, &s->mult);
  if (e != bare(n->post_acc)) e = peel_table(n, e, TD_OP_MUL, true, mult);
  e = peel(n->unit, e, TD_OP_SUB, false, 0, &s->zp_in);
  if (e != bare(n->post_acc))
    return "the quantiser computes ((sum - zp_in) * mult >> shift) + zp_out";
  return s->zp_in ? "the quantiser keeps 32 bits: zp_in is 0 there" : NULL;
}

bool td_maestro_scale_read(const TdMaestroNest *n, int across, int64_t columns, TdMaestroWork *w,
                           TdDiag *d) {
  Table mult = {0}, shift = {0};
  const char *why = read_scale(n, &w->scale, &mult, &shift);
  if (why) return td_diag_set(d, TD_UNSUPPORTED, "maestro-store", n->post->loc, "%s", why);
  return fill_columns(n, &mult, &shift, across, columns, w, d);
}

bool td_maestro_scale_registers(const TdUnit *u, const TdExpr *e, const TdExpr *value,
                                int64_t *reg) {
  int64_t half;
  TdMaestroScale s;
  while (e->kind == TD_EXPR_CAST && e->type->w == 8) e = e->kid[0];
  e = peel_clamp(u, e, e->type, &s);
  e = peel_offset(u, e, &reg[2]);
  const TdExpr *was = e;
  e = peel(u, e, TD_OP_ASR, false, 0, &reg[3]);
  if (e == was || reg[3] < 1 || reg[3] > 31) return false;
  e = peel(u, e, TD_OP_ADD, true, 0, &half);
  e = peel(u, e, TD_OP_MUL, true, 1, &reg[1]);
  e = peel(u, e, TD_OP_SUB, false, 0, &reg[0]);
  return e == bare(value) && half == INT64_C(1) << (reg[3] - 1) && reg[1] >= 0 &&
         reg[1] < INT64_C(1) << 32;
}

uint64_t td_maestro_scale_of(const TdMaestroScale *s, TdMaestroColumn c, int64_t sum) {
  int64_t v = (sum - s->zp_in) * c.mult;
  v >>= c.shift - 1;
  v = (int32_t)(uint32_t)v;
  v >>= 1;
  v += s->zp_out;
  return (uint64_t)(v < s->lo ? s->lo : v > s->hi ? s->hi : v);
}
