/* print.c - units and whole programs as a Lua chunk that loads back to the same IR. */
#include <string.h>

#include "ir/num/num.h"
#include "ir/text/printer.h"

#define INLINE_ELEMENTS 64

/* What the chunk has declared so far, by name. */
typedef struct Chunk {
  TdPrinter p;
  TdArena *arena;
  TdMap unit; /* name -> 1 */
  TdMap size; /* name -> const TdSize * */
  TdMap data; /* name -> const TdStmt * (constant or state) */
  TD_VEC(const TdBlob *) large;
  TD_VEC(const char *) arg; /* names of the chunk's arguments, one for each of large */
  const char *builder;      /* the design that is being built, inside its function */
} Chunk;

static bool learn_stmt(void *ud, const TdStmt *s) {
  TdPrinter *p = ud;
  if (s->sym && s->type) td_map_putp(p->out->arena, &p->type, s->sym, (void *)(uintptr_t)s->type);
  return true;
}

/* Learns the types of what unit u declares. */
static void learn(TdPrinter *p, const TdUnit *u) {
  TdArena *a = p->out->arena;
  for (size_t i = 0; i < u->nparam; i++)
    td_map_putp(a, &p->type, u->param[i].sym, (void *)(uintptr_t)u->param[i].type);
  for (size_t i = 0; i < u->nstream; i++)
    td_map_putp(a, &p->type, u->stream[i].sym, (void *)(uintptr_t)u->stream[i].type);
  if (u->body) td_walk_stmt(td_arena_ctx(a), u->body, learn_stmt, p);
}

static void start_line(Chunk *c) {
  for (int i = 0; i < c->p.out->indent; i++) td_text_puts(c->p.out, "  ");
}

static void put_line(Chunk *c, const char *text) {
  td_text_line(c->p.out, "%s", text);
}

/* The elements of a blob as nested tables, one level for each dimension; advances *at. */
static void put_elements(Chunk *c, const TdBlob *b, int dim, const unsigned char **at) {
  const TdType *elem = td_type_scalar(b->type);
  if (dim == b->type->rank) {
    td_printer_number(&c->p, elem, td_num_load(elem, *at));
    *at += td_type_bytes(elem);
    return;
  }
  int64_t n = 0;
  td_type_extent(b->type, dim, &n);
  td_text_putc(c->p.out, '{');
  for (int64_t i = 0; i < n; i++) {
    if (i) td_text_puts(c->p.out, ", ");
    put_elements(c, b, dim + 1, at);
  }
  td_text_putc(c->p.out, '}');
}

/* Whether the chunk has an argument of this name. */
static bool is_argument(const Chunk *c, const char *name) {
  for (size_t i = 0; i < c->arg.n; i++)
    if (strcmp(c->arg.at[i], name) == 0) return true;
  return false;
}

/* Whether something that the program declares outside of its functions goes by this name. */
static bool is_declared(const TdProg *p, const char *name) {
  for (size_t i = 0; i < p->nunit; i++) {
    const TdUnit *u = p->unit[i];
    if (strcmp(u->sym->name, name) == 0) return true;
    for (size_t k = 0; k < u->nsize; k++)
      if (strcmp(u->size[k].name, name) == 0) return true;
    for (size_t k = 0; u->body && k < td_stmt_preamble(u->body); k++)
      if (strcmp(u->body->kid[k]->sym->name, name) == 0) return true;
  }
  return false;
}

/* The argument that brings blob b, called after the tensor `stem`. */
static const char *argument_for(Chunk *c, const TdBlob *b, const char *stem) {
  const char *name = NULL;
  for (int i = 1; !name || is_declared(c->p.prog, name) || is_argument(c, name); i++)
    name = td_text_fmt(c->arena, "%s_%d", stem, i);
  td_vec_push(c->arena, &c->large, b);
  td_vec_push(c->arena, &c->arg, name);
  return name;
}

/* Whether the elements of b stand in the text: few of them, and Lua numbers. */
static bool is_inline(const TdBlob *b) {
  const TdType *elem = td_type_scalar(b->type);
  const unsigned char *at = b->data;
  size_t bytes = td_type_bytes(elem);
  if (b->count > INLINE_ELEMENTS) return false;
  for (int64_t i = 0; i < b->count; i++)
    if (!td_printer_is_plain(elem, td_num_load(elem, at + (size_t)i * bytes))) return false;
  return true;
}

/* "tide.tensor(T, {..})", or the name of a chunk argument. */
static void put_blob(Chunk *c, const TdBlob *b, const char *name) {
  if (!is_inline(b)) {
    td_text_puts(c->p.out, argument_for(c, b, name));
    return;
  }
  const unsigned char *at = b->data;
  td_text_puts(c->p.out, "tide.tensor(");
  td_printer_type(&c->p, b->type);
  td_text_puts(c->p.out, ", ");
  put_elements(c, b, 0, &at);
  td_text_putc(c->p.out, ')');
}

static void put_data(Chunk *c, const TdStmt *s) {
  start_line(c);
  size_t from = c->p.out->n;
  td_text_putf(c->p.out, "local %s = ", s->sym->name);
  if (s->cls == TD_LOCAL_STATE) {
    td_text_puts(c->p.out, "tide.state(");
    td_printer_type(&c->p, s->type);
    td_text_puts(c->p.out, ", ");
  }
  put_blob(c, s->blob, s->sym->name);
  if (s->cls == TD_LOCAL_STATE) td_text_putc(c->p.out, ')');
  td_printer_mark(&c->p, TD_PRINT_SYMBOL, from, s->sym->name, s->type, s->loc);
  td_printer_attrs(&c->p, s->attrs);
  td_text_putc(c->p.out, '\n');
}

static bool same_size(const TdSize *x, const TdSize *y) {
  return x->known == y->known && (!x->known || x->value == y->value);
}

static bool same_data(const TdStmt *x, const TdStmt *y) {
  return x->cls == y->cls && td_equal_blob(x->blob, y->blob) && td_attrs_equal(x->attrs, y->attrs);
}

/* Whether a name that u needs already means something else in the chunk. */
static bool conflicts(const Chunk *c, const TdUnit *u) {
  for (size_t i = 0; i < u->nsize; i++) {
    const char *name = u->size[i].name;
    const TdSize *other = td_map_getp(&c->size, name);
    if (other && !same_size(other, &u->size[i])) return true;
    if (td_map_getp(&c->data, name) || td_map_getp(&c->unit, name)) return true;
  }
  for (size_t i = 0; u->body && i < td_stmt_preamble(u->body); i++) {
    const TdStmt *s = u->body->kid[i], *other = td_map_getp(&c->data, s->sym->name);
    if (other && !same_data(other, s)) return true;
    if (td_map_getp(&c->size, s->sym->name) || td_map_getp(&c->unit, s->sym->name)) return true;
  }
  return false;
}

/* "local M, N = 8, 4" for those of u's sizes that are to be declared. */
static void put_sizes(Chunk *c, const TdUnit *u, bool all) {
  TdText names = td_text_new(c->arena), values = td_text_new(c->arena);
  for (size_t i = 0; i < u->nsize; i++) {
    const TdSize *z = &u->size[i];
    if (!all && td_map_getp(&c->size, z->name)) continue;
    td_text_putf(&names, "%s%s", names.n ? ", " : "", z->name);
    td_text_puts(&values, values.n ? ", " : "");
    if (z->known)
      td_text_putf(&values, "%lld", (long long)z->value);
    else
      td_text_putf(&values, "tide.size \"%s\"", z->name);
    if (!all) td_map_putp(c->arena, &c->size, z->name, (void *)(uintptr_t)z);
  }
  if (names.n) td_text_line(c->p.out, "local %s = %s", td_text_str(&names), td_text_str(&values));
}

/* Declares what u needs; what the chunk already has is skipped unless `all`, and what is new is
 * noted unless `all`. */
static void put_needs(Chunk *c, const TdUnit *u, bool all) {
  put_sizes(c, u, all);
  for (size_t i = 0; u->body && i < td_stmt_preamble(u->body); i++) {
    const TdStmt *s = u->body->kid[i];
    if (!all && td_map_getp(&c->data, s->sym->name)) continue;
    put_data(c, s);
    if (!all) td_map_putp(c->arena, &c->data, s->sym->name, (void *)(uintptr_t)s);
  }
}

static void put_asserts(Chunk *c, const TdUnit *u) {
  for (size_t i = 0; i < u->nassert; i++) {
    start_line(c);
    td_text_puts(c->p.out, "tide.assume(");
    td_printer_expr(&c->p, u->assert_[i], NULL);
    td_text_puts(c->p.out, ")\n");
  }
}

/* "function(A, B, i)" with its body and "end,". */
static void put_function(Chunk *c, const TdUnit *u) {
  start_line(c);
  td_text_puts(c->p.out, "function(");
  for (size_t i = 0; i < u->nparam; i++)
    td_text_putf(c->p.out, "%s%s", i ? ", " : "", u->param[i].sym->name);
  for (size_t i = 0; i < u->ncoord; i++)
    td_text_putf(c->p.out, "%s%s", u->nparam + i ? ", " : "", u->coord[i]->name);
  td_text_putc(c->p.out, ')');
  td_printer_attrs(&c->p, u->attrs);
  td_text_putc(c->p.out, '\n');
  c->p.out->indent++;
  put_asserts(c, u);
  td_printer_stmts(&c->p, u->body, td_stmt_preamble(u->body));
  c->p.out->indent--;
  put_line(c, "end,");
}

/* "A = i8[M][K], --@ ...". */
static void put_param(Chunk *c, const TdParam *q) {
  start_line(c);
  size_t from = c->p.out->n;
  td_text_putf(c->p.out, "%s = ", q->sym->name);
  td_printer_type(&c->p, q->type);
  td_printer_mark(&c->p, TD_PRINT_SYMBOL, from, q->sym->name, q->type, q->loc);
  td_text_putc(c->p.out, ',');
  td_printer_attrs(&c->p, q->attrs);
  td_text_putc(c->p.out, '\n');
}

static void put_kernel(Chunk *c, const TdUnit *u, const char *before) {
  td_text_line(c->p.out, "%s%s = tide.kernel {", before, u->sym->name);
  c->p.out->indent++;
  for (size_t i = 0; i < u->nparam; i++) put_param(c, &u->param[i]);
  put_function(c, u);
  c->p.out->indent--;
  put_line(c, "}");
}

static void put_field(Chunk *c, const char *key, const char *value) {
  if (!value) return;
  start_line(c);
  td_text_putf(c->p.out, "%s = ", key);
  td_text_put_quoted(c->p.out, value, strlen(value));
  td_text_puts(c->p.out, ",\n");
}

/* "f64(f64, i32[8])" of types, NULL: nothing is given. */
static void put_types(Chunk *c, const TdType *result, const TdType *const *type, size_t n) {
  if (result)
    td_printer_type(&c->p, result);
  else
    td_text_puts(c->p.out, "tide.void");
  td_text_putc(c->p.out, '(');
  for (size_t i = 0; i < n; i++) {
    if (i) td_text_puts(c->p.out, ", ");
    td_printer_type(&c->p, type[i]);
  }
  td_text_putc(c->p.out, ')');
}

/* The signature of a foreign unit. */
static void put_signature(Chunk *c, const TdUnit *u) {
  const TdForeign *f = u->foreign;
  size_t given = f->returns, back = 0, n = u->nparam - given + f->ncallback;
  start_line(c);
  put_types(c, f->returns ? td_type_scalar(u->param[0].type) : NULL, NULL, 0);
  c->p.out->n--;
  for (size_t i = 0; i < n; i++) {
    const TdCallback *b =
        back < f->ncallback && f->callback[back].at == i ? &f->callback[back++] : NULL;
    if (i) td_text_puts(c->p.out, ", ");
    if (b)
      put_types(c, b->result, b->param, b->nparam);
    else
      td_printer_type(&c->p, u->param[given++].type);
  }
  td_text_puts(c->p.out, "),\n");
}

static void put_extern(Chunk *c, const TdUnit *u, const char *before) {
  td_text_line(c->p.out, "%s%s = tide.extern {", before, u->sym->name);
  c->p.out->indent++;
  const TdIp *ip = u->foreign->ip;
  put_field(c, "library", ip ? NULL : u->foreign->library);
  put_field(c, "source", ip ? ip->source : u->foreign->source);
  put_field(c, "symbol", ip ? ip->symbol : u->foreign->symbol);
  if (u->foreign->pure) put_line(c, "pure = true,");
  if (u->foreign->process) put_line(c, "process = true,");
  if (u->foreign->model) td_text_line(c->p.out, "model = %s,", u->foreign->model->name);
  if (u->foreign->signature)
    put_signature(c, u);
  else
    for (size_t i = 0; i < u->nparam; i++) put_param(c, &u->param[i]);
  c->p.out->indent--;
  start_line(c);
  td_text_putc(c->p.out, '}');
  td_printer_attrs(&c->p, u->attrs);
  td_text_putc(c->p.out, '\n');
}

/* "{P, Q" of extents, open for more fields. */
static void put_extents(Chunk *c, const TdExpr *const *dim, int rank) {
  td_text_putc(c->p.out, '{');
  for (int d = 0; d < rank; d++) {
    if (d) td_text_puts(c->p.out, ", ");
    td_printer_index(&c->p, dim[d]);
  }
}

static void put_stream(Chunk *c, const TdStream *s) {
  start_line(c);
  size_t from = c->p.out->n;
  td_text_putf(c->p.out, "local %s = %s:stream(", s->sym->name, c->builder);
  td_printer_type(&c->p, s->type->elem);
  td_text_puts(c->p.out, ", ");
  put_extents(c, s->type->dim, s->type->rank);
  td_text_puts(c->p.out, s->type->rank ? ", depth = " : "depth = ");
  td_printer_index(&c->p, s->depth);
  td_text_puts(c->p.out, s->type->block ? ", block = true})" : "})");
  td_printer_mark(&c->p, TD_PRINT_SYMBOL, from, s->sym->name, s->type, s->loc);
  td_printer_attrs(&c->p, s->attrs);
  td_text_putc(c->p.out, '\n');
}

static const TdRunArg *bind_of(const TdRun *r, TdSym param) {
  for (size_t i = 0; i < r->nbind; i++)
    if (r->bind[i].param == param) return &r->bind[i];
  return NULL;
}

static void put_run(Chunk *c, const TdRun *r) {
  const TdUnit *k = td_prog_unit(c->p.prog, r->unit);
  bool scoped = conflicts(c, k);
  if (scoped) put_line(c, "do");
  c->p.out->indent += scoped;
  if (scoped) put_needs(c, k, true);
  start_line(c);
  td_text_putf(c->p.out, "%s.%s = tide.task {", c->builder, r->sym->name);
  td_printer_attrs(&c->p, r->attrs);
  td_text_putc(c->p.out, '\n');
  c->p.out->indent++;
  if (r->rank) {
    start_line(c);
    td_text_puts(c->p.out, "map = ");
    put_extents(c, r->map, r->rank);
    td_text_puts(c->p.out, "},\n");
  }
  for (size_t i = 0; i < k->nparam; i++) {
    const TdRunArg *b = bind_of(r, k->param[i].sym);
    start_line(c);
    size_t from = c->p.out->n;
    td_text_putf(c->p.out, "%s = %s", k->param[i].sym->name, b->arg->name);
    if (b->layout) td_text_putf(c->p.out, ":layout \"%s\"", b->layout);
    td_printer_mark(&c->p, TD_PRINT_SYMBOL, from, k->param[i].sym->name, k->param[i].type, r->loc);
    td_text_putc(c->p.out, ',');
    td_printer_attrs(&c->p, k->param[i].attrs);
    td_text_putc(c->p.out, '\n');
  }
  put_function(c, k);
  c->p.out->indent--;
  put_line(c, "}");
  c->p.out->indent -= scoped;
  if (scoped) put_line(c, "end");
}

/* Whether an argument or stream of the design goes by this name. */
static bool is_inside(const TdUnit *u, const char *name) {
  for (size_t i = 0; i < u->nparam; i++)
    if (strcmp(u->param[i].sym->name, name) == 0) return true;
  for (size_t i = 0; i < u->nstream; i++)
    if (strcmp(u->stream[i].sym->name, name) == 0) return true;
  return false;
}

static void put_design(Chunk *c, const TdUnit *u, const char *before) {
  c->builder = "d";
  for (int i = 1; is_inside(u, c->builder); i++) c->builder = td_text_fmt(c->arena, "d_%d", i);
  td_text_line(c->p.out, "%s%s = tide.design(function(%s)", before, u->sym->name, c->builder);
  c->p.out->indent++;
  put_asserts(c, u);
  for (size_t i = 0; i < u->nparam; i++) {
    const TdParam *q = &u->param[i];
    start_line(c);
    size_t from = c->p.out->n;
    td_text_putf(c->p.out, "local %s = %s:arg(", q->sym->name, c->builder);
    td_printer_type(&c->p, q->type);
    td_text_putc(c->p.out, ')');
    td_printer_mark(&c->p, TD_PRINT_SYMBOL, from, q->sym->name, q->type, q->loc);
    td_printer_attrs(&c->p, u->param[i].attrs);
    td_text_putc(c->p.out, '\n');
  }
  for (size_t i = 0; i < u->nstream; i++) put_stream(c, &u->stream[i]);
  for (size_t i = 0; i < u->nrun; i++) put_run(c, &u->run[i]);
  c->p.out->indent--;
  start_line(c);
  td_text_puts(c->p.out, "end)");
  td_printer_attrs(&c->p, u->attrs);
  td_text_putc(c->p.out, '\n');
}

static void put_unit(Chunk *c, const TdUnit *u, const char *before) {
  learn(&c->p, u);
  for (size_t i = 0; i < u->nrun; i++) {
    const TdUnit *k = td_prog_unit(c->p.prog, u->run[i].unit);
    if (k) learn(&c->p, k);
  }
  if (u->kind == TD_UNIT_KERNEL)
    put_kernel(c, u, before);
  else if (u->kind == TD_UNIT_DESIGN)
    put_design(c, u, before);
  else
    put_extern(c, u, before);
}

/* A unit with what it needs before it; in a scope of its own when a name is taken. */
static void put_unit_with_needs(Chunk *c, const TdUnit *u) {
  bool scoped = conflicts(c, u);
  if (scoped) {
    td_text_line(c->p.out, "local %s", u->sym->name);
    put_line(c, "do");
    c->p.out->indent++;
  }
  put_needs(c, u, scoped);
  for (size_t i = 0; i < u->nrun; i++) {
    const TdUnit *k = td_prog_unit(c->p.prog, u->run[i].unit);
    if (k && !conflicts(c, k)) put_needs(c, k, false);
  }
  put_unit(c, u, scoped ? "" : "local ");
  if (scoped) {
    c->p.out->indent--;
    put_line(c, "end");
  }
}

/* Whether u is the kernel of some run, which prints it inside its design. */
static bool is_task_kernel(const TdProg *p, const TdUnit *u) {
  for (size_t i = 0; i < p->nunit; i++)
    for (size_t k = 0; k < p->unit[i]->nrun; k++)
      if (p->unit[i]->run[k].unit == u->sym) return true;
  return false;
}

/* The words that name something in u, so that they cannot stand for types. */
static uint32_t hidden_words(const TdUnit *u) {
  uint32_t hidden = 0;
  for (int w = 0; w < TD_PRINTER_WORDS; w++) {
    bool found = is_inside(u, td_printer_words[w]);
    for (size_t i = 0; i < u->ncoord; i++)
      found |= strcmp(u->coord[i]->name, td_printer_words[w]) == 0;
    hidden |= (uint32_t)found << w;
  }
  return hidden;
}

static Chunk chunk_new(TdText *out, const TdProg *p) {
  TdArena *a = out->arena;
  Chunk c = {.arena = a, .builder = "d"};
  c.p = (TdPrinter){.out = out, .session = p->store->session, .prog = p};
  for (size_t i = 0; i < p->nunit; i++) c.p.hidden |= hidden_words(p->unit[i]);
  return c;
}

static void put_units(Chunk *c) {
  const TdProg *p = c->p.prog;
  for (size_t i = 0; i < p->nunit; i++) {
    if (is_task_kernel(p, p->unit[i])) continue;
    td_text_putc(c->p.out, '\n');
    put_unit_with_needs(c, p->unit[i]);
    td_map_put(c->arena, &c->unit, (uint64_t)(uintptr_t)p->unit[i]->sym->name, 1);
  }
  td_text_putc(c->p.out, '\n');
}

/* "local i8, f32 = tide.i8, tide.f32" for the words that were used. */
static void put_words(TdText *out, uint32_t words) {
  if (!words) return;
  TdText right = td_text_new(out->arena);
  td_text_puts(out, "local ");
  for (int i = 0, n = 0; i < TD_PRINTER_WORDS; i++) {
    if (!(words >> i & 1)) continue;
    td_text_putf(out, "%s%s", n ? ", " : "", td_printer_words[i]);
    td_text_putf(&right, "%stide.%s", n++ ? ", " : "", td_printer_words[i]);
  }
  td_text_putf(out, " = %s\n", td_text_str(&right));
}

void td_print_prog(TdText *out, const TdProg *p) {
  td_print_marked(out, p, NULL);
}

void td_print_marked(TdText *out, const TdProg *p, TdPrintMarks *marks) {
  TdText body = td_text_new(out->arena);
  Chunk c = chunk_new(&body, p);
  c.p.marks = marks;
  put_units(&c);
  td_text_puts(out, "local tide = require \"tide\"\n");
  put_words(out, c.p.words);
  for (size_t i = 0; i < c.arg.n; i++) td_text_putf(out, "%s%s", i ? ", " : "local ", c.arg.at[i]);
  if (c.arg.n) td_text_puts(out, " = ...\n");
  td_printer_move_marks(&c.p, 0, out->n);
  td_text_puts(out, td_text_str(&body));
  td_text_putf(out, "return %s\n", td_prog_root(p)->sym->name);
}

size_t td_print_constants(TdArena *a, const TdProg *p, const TdBlob *const **blobs) {
  TdText body = td_text_new(a);
  Chunk c = chunk_new(&body, p);
  put_units(&c);
  *blobs = (const TdBlob *const *)c.large.at;
  return c.large.n;
}

void td_print_unit(TdText *out, const TdProg *p, const TdUnit *u) {
  Chunk c = chunk_new(out, p);
  put_unit(&c, u, "");
}
