/* order.c - the orders of a job's operands: as the user says them, or such that tiles fill
 * words and channels; with room for what the array takes beyond the tensor. */
#include "backends/maestro/job.h"

#include <string.h>

const TdMaestroTile td_maestro_tile[TD_MAESTRO_ROLES] = {{0, 2}, {1, 2}, {0, 1}, {0, 1}, {0, 1}};
static const char *const made_name[3] = {"_m", "_n", "_k"};

int64_t td_maestro_order_across(const TdMaestroJob *j, int which) {
  const TdMaestroArray *x = &j->system->array;
  return which == 0 ? x->m : which == 1 ? x->n : x->k;
}

/* A dimension of one element that a loop moves. */
static bool add_dimension(TdMaestroOperand *x, int loop, TdDiag *d) {
  if (x->rank == TD_MAX_RANK)
    return td_diag_set(d, TD_UNSUPPORTED, "maestro-order", x->loc,
                       "'%s' has too many dimensions for one more", x->sym->name);
  memset(x->coef[x->rank], 0, sizeof x->coef[x->rank]);
  x->coef[x->rank][loop] = 1;
  x->start[x->rank] = 0;
  x->extent[x->rank++] = 1;
  return true;
}

bool td_maestro_order_complete(TdMaestroJob *j, TdDiag *d) {
  TdMaestroNest *n = &j->nest;
  for (int which = 0; which < 3; which++) {
    if (j->spatial[which] >= 0) continue;
    if (n->nloop == TD_MAESTRO_NEST_LOOPS)
      return td_diag_set(d, TD_UNSUPPORTED, "maestro-kernel", n->result.loc, "too many loops");
    int l = n->nloop++;
    n->loop[l] = (TdMaestroLoop){.name = made_name[which], .extent = 1, .reduces = which == 2};
    for (int i = l; i > 0; i--) j->temporal[i] = j->temporal[i - 1];
    j->temporal[0] = l;
    j->tile[l] = td_maestro_order_across(j, which);
    j->spatial[which] = l;
    j->made[which] = true;
    for (int role = 0; role < TD_MAESTRO_ROLES; role++) {
      TdMaestroOperand *x = (TdMaestroOperand *)j->stream[role].x;
      bool has = td_maestro_tile[role].row == which || td_maestro_tile[role].column == which;
      if (x && has && !add_dimension(x, l, d)) return false;
    }
  }
  return true;
}

/* Whether more than one loop moves dimension k of an operand, or one by more than an element: no
 * block of it may be made then. */
static bool is_mixed(const TdMaestroJob *j, const TdMaestroOperand *x, int k) {
  int loops = 0;
  for (int l = 0; l < j->nest.nloop; l++) {
    if (!x->coef[k][l] || (j->nest.loop[l].extent == 1 && j->tile[l] == 1)) continue;
    loops += x->coef[k][l] == 1 ? 1 : 2;
  }
  return loops > 1;
}

/* One more than the greatest index of dimension k, with whole tiles. */
static int64_t needed(const TdMaestroJob *j, const TdMaestroOperand *x, int k) {
  int64_t most = x->start[k] + 1;
  for (int l = 0; l < j->nest.nloop; l++) {
    int64_t last = td_maestro_job_trips(j, l) * j->tile[l] - 1;
    if (x->coef[k][l] > 0) most += x->coef[k][l] * last;
  }
  return most;
}

static const char *name_of(const TdOrder *names, int k, TdArena *a) {
  return names ? names->name[k] : td_text_fmt(a, "d%d", k);
}

/* A dimension that no block is made of, with room for what sticks out, in whole multiples of unit.
 */
static void put_whole(TdText *t, const TdMaestroJob *j, const TdMaestroOperand *x, int k,
                      int64_t unit, const char *name) {
  int64_t room = (needed(j, x, k) + unit - 1) / unit * unit;
  td_text_putf(t, " %s", name);
  if (room > x->extent[k]) td_text_putf(t, "%%%lld", (long long)room);
}

/* Row by row, with room for what sticks out. */
static const char *row_major(const TdMaestroJob *j, const TdMaestroOperand *x, const TdOrder *names,
                             TdArena *a) {
  TdText t = td_text_new(a);
  for (int k = 0; k < x->rank; k++) td_text_putf(&t, "%s ", name_of(names, k, a));
  td_text_puts(&t, "->");
  for (int k = 0; k < x->rank; k++) put_whole(&t, j, x, k, 1, name_of(names, k, a));
  return td_text_str(&t);
}

/* A block of a dimension: so many values of it go across the array. */
typedef struct Block {
  int dim;
  int64_t n;
  bool made, column; /* column: its values are side by side in a word */
} Block;

/* The blocks of an operand's tile, outermost first; how many. */
static int list_blocks(const TdMaestroJob *j, int role, Block *b) {
  const TdMaestroOperand *x = j->stream[role].x;
  const int which[2] = {td_maestro_tile[role].row, td_maestro_tile[role].column};
  int n = 0;
  for (int i = 0; i < 4; i++) {
    int w = which[i / 2], l = i % 2 ? j->spatial[w] : j->outer[w], dim = -1;
    for (int k = 0; l >= 0 && k < x->rank; k++)
      if (x->coef[k][l]) dim = k;
    if (dim >= 0 && j->tile[l] > 1) b[n++] = (Block){dim, j->tile[l], j->made[w], i > 1};
  }
  return n;
}

/* The values of a dimension that stand side by side in a word. */
static int64_t inmost(const Block *b, int n, int dim) {
  while (n > 0 && (b[n - 1].dim != dim || !b[n - 1].column)) n--;
  return n > 0 ? b[n - 1].n : 1;
}

const char *td_maestro_order_fitting(const TdMaestroJob *j, int role, const TdOrder *names,
                                     TdArena *a) {
  const TdMaestroOperand *x = j->stream[role].x;
  TdText t = td_text_new(a);
  if (role >= TD_MAESTRO_FROM) return row_major(j, x, names, a);
  Block b[4];
  int n = list_blocks(j, role, b);
  for (int k = 0; k < x->rank; k++) td_text_putf(&t, "%s ", name_of(names, k, a));
  td_text_puts(&t, "->");
  for (int k = 0; k < x->rank; k++) {
    int i = 0;
    while (i < n && b[i].dim != k) i++;
    if (i == n)
      put_whole(&t, j, x, k, 1, name_of(names, k, a));
    else if (!is_mixed(j, x, k) && !b[i].made)
      td_text_putf(&t, " %s/%lld", name_of(names, k, a), (long long)b[i].n);
  }
  for (int i = 0; i < n; i++) {
    int first = 0;
    while (b[first].dim != b[i].dim) first++;
    if (first < i) continue;
    if (is_mixed(j, x, b[i].dim))
      put_whole(&t, j, x, b[i].dim, inmost(b, n, b[i].dim), name_of(names, b[i].dim, a));
    else
      td_text_putf(&t, " %s%%%lld", name_of(names, b[i].dim, a), (long long)b[i].n);
  }
  return td_text_str(&t);
}

/* What the user says, with the dimensions that were made: those of rows outside of the innermost
 * part, those of columns inside of all. */
static const char *with_made(const TdMaestroJob *j, int role, const char *said, TdArena *a) {
  const char *arrow = strstr(said, "->");
  if (!arrow) return said;
  TdText left = td_text_new(a), right = td_text_new(a);
  td_text_putn(&left, said, (size_t)(arrow - said));
  const char *end = arrow + strlen(arrow);
  while (end > arrow + 2 && end[-1] == ' ') end--;
  const char *last = end;
  while (last > arrow + 2 && last[-1] != ' ') last--;
  int row = td_maestro_tile[role].row, column = td_maestro_tile[role].column;
  bool both = j->made[row] && j->made[column];
  td_text_putn(&right, arrow + 2, (size_t)((both ? end : last) - arrow - 2));
  for (int w = 0; w < 3; w++)
    if (j->made[w] && (w == row || w == column)) td_text_putf(&left, "%s ", made_name[w]);
  if (j->made[row])
    td_text_putf(&right, " %s%%%lld ", made_name[row], (long long)td_maestro_order_across(j, row));
  if (!both) td_text_putn(&right, last, (size_t)(end - last));
  if (j->made[column])
    td_text_putf(&right, " %s%%%lld", made_name[column],
                 (long long)td_maestro_order_across(j, column));
  return td_text_fmt(a, "%s->%s", td_text_str(&left), td_text_str(&right));
}

/* The last part of an order's right side as a block of the array, so that rows which were made
 * stand outside of it. */
static const char *tiled(const TdMaestroJob *j, int role, const char *said, TdArena *a) {
  int row = td_maestro_tile[role].row, column = td_maestro_tile[role].column;
  const char *end = said + strlen(said);
  while (end > said && end[-1] == ' ') end--;
  const char *last = end;
  while (last > said && last[-1] != ' ' && last[-1] != '>') last--;
  if (!j->made[row] || j->made[column] || j->outer[column] >= 0 || !strstr(said, "->") ||
      strcspn(last, "/%: ") < strlen(last))
    return said;
  long long n = (long long)td_maestro_order_across(j, column);
  int len = (int)(end - last);
  return td_text_fmt(a, "%.*s%.*s/%lld %.*s%%%lld", (int)(last - said), said, len, last, n, len,
                     last, n);
}

/* The order x->order with room for whole tiles in the dimensions that have too little. */
static const char *padded(const TdMaestroJob *j, const TdMaestroStream *x, TdArena *a) {
  const TdOrder *o = &x->order.order;
  TdText t = td_text_new(a);
  for (int k = 0; k < o->nname; k++) td_text_putf(&t, "%s ", o->name[k]);
  td_text_puts(&t, "->");
  for (int i = 0; i < o->nplace; i++) {
    const TdOrderPlace *p = &o->place[i];
    int64_t room = needed(j, x->x, p->name);
    td_text_putf(&t, " %s", td_order_part(a, o, i));
    if (!p->mod && room > x->order.room[p->name])
      td_text_putf(&t, "%%%lld", (long long)((room + p->div - 1) / p->div));
    if (p->pitch) td_text_putf(&t, ":%lld", (long long)p->pitch);
  }
  return td_text_str(&t);
}

static bool read_bytes(TdMaestroStream *x, TdArena *a, const char **why) {
  return td_order_read_bytes(a, x->text, x->x->extent, x->x->rank, x->element, &x->order, why);
}

bool td_maestro_order_read(TdMaestroJob *j, int role, const char *said, TdMaestroTry how,
                           TdArena *a, TdDiag *d) {
  TdMaestroStream *x = &j->stream[role];
  const TdMaestroOperand *o = x->x;
  const char *why;
  bool array = role < TD_MAESTRO_FROM;
  if (said && array && how == TD_MAESTRO_TILED) said = tiled(j, role, said, a);
  x->text = said && !array ? said
            : said         ? with_made(j, role, said, a)
                           : td_maestro_order_fitting(j, role, NULL, a);
  x->element = (int64_t)td_type_bytes(o->elem);
  bool ok = read_bytes(x, a, &why);
  if (ok && how != TD_MAESTRO_AS_SAID) {
    x->text = padded(j, x, a);
    ok = read_bytes(x, a, &why);
  }
  if (ok) return true;
  td_diag_set(d, TD_USAGE, "maestro-order", (TdLoc){0}, "the order of '%s': %s", o->sym->name, why);
  td_diag_help(d, "dimensions -> digits, outermost first: \"%s\"",
               td_maestro_order_fitting(j, role, NULL, a));
  return false;
}
