/* unit.c - a kernel as a C++ function: parameters, locals, calls, and where its pragmas stand.
 * Arrays are C arrays and are passed whole or as leading rows. Locals begin undefined, as the
 * program's do; state is static. */
#include <inttypes.h>
#include <string.h>

#include "analysis/range/assume.h"
#include "analysis/order/effects.h"
#include "backends/hls/text.h"

/* What names are made of. */
#define WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

static TdHlsProg *prog_of(const TdCWriter *w) {
  return w->ud;
}

/* A loop over indices that an int may not hold is written with this. */
static const TdCTarget long_loops;

/* A FOR, with the type that its variable needs: the family reads it before it calls `before`. */
static void put_for(TdHlsProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  if (!td_hls_num_is_small(w, td_for_lo(s), td_for_hi(s))) w->target = &long_loops;
  td_vec_push(w->arena, &p->nest, s);
  td_cstmt_put_for(w, s);
  p->nest.n--;
}

static void before(TdCWriter *w, const TdStmt *s) {
  (void)s;
  w->target = &td_hls_unit_target;
}

static void inside(TdCWriter *w, const TdStmt *s) {
  td_hls_pragma_loop(prog_of(w), s);
}

/* "(void)name;" for what nothing reads. */
static void put_use(TdHlsProg *p, TdSym sym, const char *name) {
  if (td_map_getp(&p->unused, sym)) td_text_line(&p->w->out, "(void)%s;", name);
}

/* "<1, 0>": the ids of instance i of the unit being written. */
static const char *ids_of(TdHlsProg *p, uint32_t i) {
  size_t n = p->w->unit->ncoord;
  TdText t = td_text_new(p->w->arena);
  for (size_t k = 0; k < n; k++)
    td_text_putf(&t, "%s%" PRId64, k ? ", " : "<", p->task->coord[i * n + k]);
  if (n) td_text_putc(&t, '>');
  return td_text_str(&t);
}

/* "count_1_0" for "count<1, 0>". */
static const char *file_of(TdArena *a, const char *name, const char *ids) {
  char *s = td_text_fmt(a, "%s%s", name, ids), *to = s;
  for (const char *from = s; *from; from++)
    if (*from != ' ' && *from != '>') *to++ = *from == '<' || *from == ',' ? '_' : *from;
  *to = 0;
  return s;
}

/* Notes a state: of a task, one for each of its instances. */
static void note_state(TdHlsProg *p, const char *name) {
  TdArena *a = p->w->arena;
  for (uint32_t i = 0; i < (*p->ids ? p->task->n : 1); i++) {
    const char *ids = *p->ids ? ids_of(p, i) : "";
    td_vec_push(a, &p->state,
                ((TdHlsState){file_of(a, name, ids), td_text_fmt(a, "%s%s", name, ids)}));
  }
}

/* "template <int i, int j>" and a new line, or "". */
static const char *template_of(TdHlsProg *p) {
  const TdUnit *u = p->w->unit;
  TdText t = td_text_new(p->w->arena);
  if (!*p->ids) return "";
  for (size_t i = 0; i < u->ncoord; i++)
    td_text_putf(&t, "%sint %s", i ? ", " : "template <", td_cname_of(p->w, u->coord[i])->text);
  td_text_puts(&t, ">\n");
  return td_text_str(&t);
}

/* A name for a state that none of the program has. */
static const char *state_name(TdHlsProg *p, const char *want) {
  const char *name = td_cname_fresh(p->w, want);
  for (size_t i = 0, n = 1; i < p->state.n; i++) {
    size_t own = strcspn(p->state.at[i].text, "<");
    if (strlen(name) != own || memcmp(name, p->state.at[i].text, own) != 0) continue;
    name = td_cname_fresh(p->w, td_text_fmt(p->w->arena, "%s_%zu", want, n++));
    i = SIZE_MAX;
  }
  return name;
}

/* A state, before the function: instances of a task have their own. */
static void put_state(TdHlsProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  const char *name = state_name(p, s->sym->name);
  td_text_line(&p->statics, "%sstatic %s = %s;", template_of(p),
               td_cstmt_array(w, s->sym, s->type, name), td_hls_table_of(w, s->blob));
  td_cname_put(w, s->sym, td_text_fmt(w->arena, "%s%s", name, p->ids), td_cfamily_type(w, s->type),
               NULL);
  note_state(p, name);
  if (*p->ids) return;
  td_hls_pragma_array(p, name, s->attrs);
  td_text_line(&w->out, "#pragma HLS reset variable=%s", name);
  put_use(p, s->sym, name);
}

void td_hls_unit_array(TdHlsProg *p, const TdStmt *s, const TdType *t) {
  TdCWriter *w = p->w;
  const char *name = td_cname_fresh(w, s->sym->name);
  int64_t n = 0;
  td_text_line(&w->out, "%s;", td_cstmt_array(w, s->sym, t, name));
  td_cname_put(w, s->sym, name, td_cfamily_type(w, t), NULL);
  td_type_count(td_cfamily_type(w, t), &n);
  p->locals += (double)n * (16 + td_type_scalar(t)->w / 4);
  td_hls_pragma_array(p, name, s->attrs);
  put_use(p, s->sym, name);
}

/* Declares a constant table. */
static void put_table(TdHlsProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  const char *name = td_cname_fresh(w, s->sym->name);
  td_text_line(&w->out, "static const %s = %s;", td_cstmt_array(w, s->sym, s->type, name),
               td_hls_table_of(w, s->blob));
  td_cname_put(w, s->sym, name, td_cfamily_type(w, s->type), NULL);
  td_hls_pragma_array(p, name, s->attrs);
  put_use(p, s->sym, name);
}

static void put_array(TdHlsProg *p, const TdStmt *s) {
  switch (s->cls) {
  case TD_LOCAL_STATE: put_state(p, s); break;
  case TD_LOCAL_CONST: put_table(p, s); break;
  default: td_hls_unit_array(p, s, s->type);
  }
}

static void put_scalar(TdHlsProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  const char *none = s->type->kind == TD_T_BOOL ? "false" : "0";
  const char *value = s->nexpr ? w->target->value(w, s->expr[0]).text : none;
  const char *name = td_cname_declare(w, s->sym);
  td_text_line(&w->out, "%s %s = %s;", w->target->cell(w, s->sym, s->type), name, value);
  put_use(p, s->sym, name);
}

/* An array argument, of elements or streams: by its name, or the rows that the leading indices say.
 */
static const char *rows(TdCWriter *w, const TdExpr *view) {
  const TdCName *base = td_cname_of(w, view->sym);
  TdText t = td_text_new(w->arena);
  td_text_puts(&t, base->text);
  for (uint32_t d = 0; d < view->nkid && view->u.dim[d].out < 0; d++) {
    int64_t extent = 0;
    td_type_extent(base->type, (int)d, &extent);
    td_text_putf(&t, "[%s]", td_cexpr_index(w, view->kid[d], extent, view->loc).text);
  }
  return td_text_str(&t);
}

const char *td_hls_unit_argument(TdCWriter *w, const TdExpr *e) {
  return e->kind == TD_EXPR_VIEW ? rows(w, e) : w->target->value(w, e).text;
}

static void put_call(TdHlsProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  TdText t = td_text_new(w->arena);
  for (uint32_t i = 0; i < s->nexpr; i++)
    td_text_putf(&t, "%s%s", i ? ", " : "", td_hls_unit_argument(w, s->expr[i]));
  td_text_line(&w->out, "%s(%s);", td_cname_of(w, s->sym)->text, td_text_str(&t));
}

/* Whether s stores something in itself, which compilers warn of. */
static bool is_idle(const TdStmt *s) {
  if (s->kind != TD_STMT_STORE && s->kind != TD_STMT_SET) return false;
  const TdExpr *e = s->expr[1];
  while (e->kind == TD_EXPR_CAST && e->type == e->kid[0]->type) e = e->kid[0];
  return td_equal_expr(s->expr[0], e);
}

/* Whether what a scalar is given is written as itself: absolutes and casts may be folded. */
static bool is_itself(TdCWriter *w, const TdStmt *s) {
  if (s->kind != TD_STMT_STORE || s->expr[0]->nkid) return false;
  return strcmp(td_cexpr_place(w, s->expr[0]).text, w->target->value(w, s->expr[1]).text) == 0;
}

static bool stmt(TdCWriter *w, const TdStmt *s) {
  TdHlsProg *p = prog_of(w);
  switch (s->kind) {
  case TD_STMT_FOR: put_for(p, s); return true;
  case TD_STMT_LOCAL:
    if (s->type->kind == TD_T_TENSOR)
      put_array(p, s);
    else
      put_scalar(p, s);
    return true;
  case TD_STMT_CALL: put_call(p, s); return true;
  case TD_STMT_GET:
  case TD_STMT_PUT:
  case TD_STMT_SLOT: td_hls_stream_put(p, s); return true;
  default: return is_idle(s) || is_itself(w, s);
  }
}

#define HOOKS                                                                                      \
  .cell = td_hls_num_cell, .value = td_hls_num_store, .index = td_hls_num_index,                   \
  .truth = td_hls_num_truth, .group = td_hls_num_group, .stmt = stmt, .before = before,            \
  .inside = inside
const TdCTarget td_hls_unit_target = {.reserved = td_hls_name_words, .loop_type = "int", HOOKS};
static const TdCTarget long_loops = {.reserved = td_hls_name_words, .loop_type = "int64_t", HOOKS};
const TdCTarget td_hls_unit_names = {
    .reserved = td_hls_name_words, .functions = td_hls_name_functions, .loop_type = "int", HOOKS};

/* Declares the sizes of u that C++ can name, once for all functions. */
static void put_sizes(TdHlsProg *p, const TdUnit *u) {
  TdCWriter *w = p->w;
  w->target = &td_hls_unit_names;
  for (size_t i = 0; i < u->nsize; i++) {
    const TdSize *s = &u->size[i];
    uint64_t value, key = (uint64_t)(uintptr_t)s->name;
    if (!s->known || s->value < 0 || s->value > INT32_MAX) continue;
    bool there = td_map_get(&p->size, key, &value);
    if (there && value != (uint64_t)s->value) continue;
    if (!td_cname_put_size(w, s->name) || there) continue;
    td_map_put(w->arena, &p->size, key, (uint64_t)s->value);
    td_vec_push(w->arena, &p->sizes, s);
  }
  w->target = &td_hls_unit_target;
}

/* Streams that are no row of an array: each is a parameter, and the text names all of them. */
static TdHlsParam list(TdHlsProg *p, const TdParam *x) {
  TdCWriter *w = p->w;
  TdHlsParam made = {.type = td_cfamily_type(w, x->type)};
  const char *type = td_hls_stream_type(w, made.type, "");
  int64_t n = 1, extent = 1;
  for (int d = 0; d < made.type->rank; d++, n *= extent) td_type_extent(made.type, d, &extent);
  TdText names = td_text_new(w->arena), text = td_text_new(w->arena);
  for (int64_t i = 0; i < n; i++) {
    const char *name = td_cname_fresh(w, td_text_fmt(w->arena, "%s_%" PRId64, x->sym->name, i));
    td_cname_put(w, NULL, name, NULL, NULL);
    td_text_putf(&names, "%s%s", i ? ", " : "", name);
    td_text_putf(&text, "%s%s &%s", i ? ", " : "", type, name);
  }
  made.name = td_text_str(&names);
  made.text = td_text_str(&text);
  td_cname_put(w, x->sym, made.name, made.type, NULL);
  return made;
}

/* A parameter that is a stream, or an array of streams: of these C++ wants to know the depth. */
static TdHlsParam port(TdHlsProg *p, const TdParam *x) {
  TdCWriter *w = p->w;
  if (p->task && p->task->arg.at[x - w->unit->param].listed) return list(p, x);
  const TdType *t = td_cfamily_type(w, x->type);
  const TdAttr *known = td_attrs_get(x->attrs, TD_ATTR_MIN_DEPTH);
  TdHlsParam made = {.type = t, .name = td_cname_fresh(w, x->sym->name)};
  td_cname_put(w, x->sym, made.name, t, NULL);
  const char *depth = "";
  if (known && (t->rank || t->block))
    depth = td_text_fmt(w->arena, "%" PRId64, td_hls_stream_words(t, known->arg[0].i));
  if (!known && (t->rank || t->block)) {
    depth = td_cname_fresh(w, td_text_fmt(w->arena, "%s_depth", made.name));
    td_cname_put(w, NULL, depth, NULL, NULL);
    td_vec_push(w->arena, &p->depth, depth);
  }
  TdText text = td_text_new(w->arena);
  td_text_putf(&text, t->rank ? "%s (&%s)" : "%s &%s", td_hls_stream_type(w, t, depth), made.name);
  for (int d = 0; d < t->rank; d++) {
    int64_t extent = 1;
    td_type_extent(t, d, &extent);
    td_text_putf(&text, "[%" PRId64 "]", extent);
  }
  made.text = td_text_str(&text);
  return made;
}

/* Declares the parameters: arrays that are only read are constant. */
static void put_params(TdHlsProg *p) {
  TdCWriter *w = p->w;
  const TdUnit *u = w->unit;
  const TdEffect *e;
  size_t n = td_effects_of(&p->ask, u->body, &e);
  p->param.n = 0;
  for (size_t i = 0; i < u->nparam; i++) {
    const TdParam *x = &u->param[i];
    const TdEffect *f = td_effects_find(e, n, x->sym);
    TdHlsParam made = {.type = x->type, .written = f && f->write};
    if (x->type->kind == TD_T_TENSOR) {
      made.type = td_cfamily_type(w, x->type);
      made.name = td_cname_fresh(w, x->sym->name);
      made.text = td_cstmt_array(w, x->sym, x->type, made.name);
      td_cname_put(w, x->sym, made.name, made.type, NULL);
    } else if (x->type->kind == TD_T_PORT) {
      made = port(p, x);
    } else {
      made.name = td_cname_declare(w, x->sym);
      made.text = td_text_fmt(w->arena, "%s %s", w->target->cell(w, x->sym, x->type), made.name);
    }
    td_vec_push(w->arena, &p->param, made);
  }
}

/* What find_unused knows: locals by symbol; those that are read are taken out. */
static bool note_local(void *ud, const TdStmt *s) {
  TdHlsProg *p = ud;
  bool got = (s->kind == TD_STMT_GET && s->nexpr == 1) || s->kind == TD_STMT_SLOT;
  if (s->kind == TD_STMT_LOCAL || got)
    td_map_putp(p->w->arena, &p->unused, s->sym, (void *)(uintptr_t)s);
  return true;
}

static bool note_read(void *ud, const TdExpr *e) {
  TdHlsProg *p = ud;
  if (e->sym) td_map_drop(&p->unused, (uint64_t)(uintptr_t)e->sym);
  return true;
}

static bool note_reads(void *ud, const TdStmt *s) {
  for (uint32_t i = 0; i < s->nexpr && !is_idle(s); i++) {
    bool target = i == 0 && (s->kind == TD_STMT_STORE || s->kind == TD_STMT_SET);
    bool local = target && s->expr[0]->sym->kind != TD_SYM_TENSOR;
    for (uint32_t k = 0; local && k < s->expr[0]->nkid; k++)
      td_walk_expr(s->expr[0]->kid[k], note_read, ud);
    if (!local) td_walk_expr(s->expr[i], note_read, ud);
  }
  return true;
}

static void find_unused(TdHlsProg *p, const TdUnit *u) {
  TdCtx *c = p->w->session->ctx;
  p->unused = (TdMap){0};
  td_walk_stmt(c, u->body, note_local, p);
  td_walk_stmt(c, u->body, note_reads, p);
}

const char *td_hls_unit_signature(TdArena *a, const char *name, const TdHlsParam *param, size_t n) {
  enum { COLUMNS = 88 };
  TdText t = td_text_new(a);
  td_text_putf(&t, "void %s(", name);
  size_t line = 0;
  for (size_t i = 0; i < n; i++) {
    bool constant = param[i].type->kind == TD_T_TENSOR && !param[i].written;
    const char *text = td_text_fmt(a, "%s%s", constant ? "const " : "", param[i].text);
    bool full = i && t.n - line + strlen(text) > COLUMNS;
    if (full) line = t.n;
    td_text_putf(&t, "%s%s%s", i ? "," : "", full ? "\n    " : i ? " " : "", text);
  }
  td_text_putc(&t, ')');
  return td_text_str(&t);
}

/* Names the coordinates of a task, and knows their ranges. */
static void put_coords(TdHlsProg *p) {
  TdCWriter *w = p->w;
  const TdUnit *u = w->unit;
  TdText t = td_text_new(w->arena);
  p->ids = "";
  if (!p->task || !u->ncoord) return;
  for (size_t k = 0; k < u->ncoord; k++) {
    int64_t least = p->task->coord[k], most = least;
    for (uint32_t i = 0; i < p->task->n; i++) {
      int64_t v = p->task->coord[i * u->ncoord + k];
      least = v < least ? v : least;
      most = v > most ? v : most;
    }
    td_text_putf(&t, "%s%s", k ? ", " : "<", td_cname_declare(w, u->coord[k]));
    td_crange_push_loop(w, u->coord[k], td_expr_index(w->session, w->arena, least, u->loc),
                        td_expr_index(w->session, w->arena, most + 1, u->loc));
  }
  td_text_putc(&t, '>');
  p->ids = td_text_str(&t);
}

/* What stands before the function: nothing else has its name, or one for each id and depth. */
static const char *linkage(TdHlsProg *p, bool root) {
  TdText t = td_text_new(p->w->arena);
  if (root) return "extern \"C\" ";
  td_text_puts(&t, template_of(p));
  for (size_t i = 0; i < p->depth.n; i++)
    td_text_putf(&t, "%sint %s", i ? ", " : "template <", p->depth.at[i]);
  td_text_puts(&t, p->depth.n ? ">\nstatic " : "static ");
  return td_text_str(&t);
}

/* Whether a text has a word that is `name`. */
static bool has_word(const char *text, const char *name) {
  size_t n = strlen(name);
  for (const char *at = text; (at = strstr(at, name)); at += n) {
    bool starts = at == text || !strchr(WORD, at[-1]), ends = !at[n] || !strchr(WORD, at[n]);
    if (starts && ends) return true;
  }
  return false;
}

/* "(void)name;" for each parameter that the text of the body does not have: nothing uses it, or
 * what did was folded. */
static void put_uses(TdHlsProg *p, const char *body) {
  const TdUnit *u = p->w->unit;
  for (size_t i = 0; i < u->nparam; i++) {
    const TdHlsParam *x = &p->param.at[i];
    if (strchr(x->name, ',') || has_word(body, x->name)) continue;
    td_text_line(&p->w->out, "(void)%s;", x->name);
  }
}

/* Asserts what the unit assumes and not all of its calls prove: in simulations, and of kernels, to
 * whose bounds it is of use, in synthesis too. */
static void put_assumed(TdHlsProg *p, bool region) {
  TdCWriter *w = p->w;
  const TdUnit *u = w->unit;
  if (!u->nassert || u == td_prog_root(w->prog)) return;
  const bool *open = td_assume_open(&p->ask);
  size_t known = w->known.n;
  w->known.n = 0;
  for (size_t i = 0; i < u->nassert; i++) {
    if (!open[i]) continue;
    TdPiece cond = w->target->truth(w, u->assert_[i]);
    if (region) td_text_puts(&w->out, "#ifndef __SYNTHESIS__\n");
    const char *said = td_map_getp(&p->regions.apart, (void *)(uintptr_t)u->uid);
    td_text_line(&w->out, "assert(%s && \"%s%s\");", td_cexpr_operand(w, cond, TD_BIND_ANDAND),
                 said ? "overlap: " : "", said ? said : td_unit_assumes(w->arena, u, i));
    if (region) td_text_puts(&w->out, "#endif\n");
  }
  w->known.n = known;
}

/* Writes the body of the unit: what a region or a kernel does. */
static const char *body_of(TdHlsProg *p, const TdNetRegion *region) {
  TdCWriter *w = p->w;
  TdText head = w->out;
  w->out = td_text_new(w->arena);
  w->out.indent = 1;
  put_assumed(p, region != NULL);
  if (region) {
    td_hls_design_put(p, region);
  } else {
    td_hls_design_streams(p);
    td_cstmt_put(w, w->unit->body);
  }
  const char *body = td_text_str(&w->out);
  w->out = head;
  put_uses(p, body);
  return body;
}

void td_hls_unit_put(TdHlsProg *p, size_t unit) {
  TdCWriter *w = p->w;
  const TdUnit *u = w->prog->unit[unit];
  if (u->foreign) {
    td_hls_ip_put(p, u, p->name[unit]);
    return;
  }
  bool root = unit == w->prog->nunit - 1;
  const TdNetRegion *region = td_map_getp(&p->regions.region, u->sym);
  td_cfamily_enter(w, u, NULL);
  p->ask.unit = u;
  p->task = td_map_getp(&p->regions.task, u->sym);
  p->nest.n = p->depth.n = 0;
  p->lock = td_hls_lock_find(&p->ask, w->session->ctx, u->body);
  p->statics = w->out = td_text_new(w->arena);
  w->out.indent = 1;
  for (size_t i = 0; i < w->prog->nunit; i++)
    td_cname_put(w, w->prog->unit[i]->sym, p->name[i], NULL, NULL);
  put_sizes(p, u);
  find_unused(p, u);
  put_coords(p);
  put_params(p);
  if (root) td_hls_pragma_ports(p);
  if (!root && td_attrs_get(u->attrs, TD_ATTR_INLINE)) td_text_line(&w->out, "#pragma HLS inline");
  for (size_t i = 0; i < u->nparam; i++)
    td_hls_pragma_banks(p, p->param.at[i].name, u->param[i].attrs);
  const char *body = body_of(p, region);
  if (p->functions.n) td_text_putc(&p->functions, '\n');
  if (p->statics.n) td_text_putf(&p->functions, "%s\n", td_text_str(&p->statics));
  td_text_putf(&p->functions, "%s%s {\n%s%s}\n", linkage(p, root),
               td_hls_unit_signature(w->arena, p->name[unit], p->param.at, p->param.n),
               td_text_str(&w->out), body);
}
