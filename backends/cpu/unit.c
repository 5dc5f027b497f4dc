/* unit.c - a kernel as a C function of numbers: where its memory is, when it looks whether to
 * stop, which loops run side by side. */
#include <inttypes.h>
#include <string.h>

#include "backends/cpu/text.h"

enum {
  STACK_BYTES = 4096,    /* larger locals are in the room */
  INLINE_COUNT = 1024,   /* longer constants, and words, are in the table */
  POLL_EVERY = 1 << 16,  /* statements of a body that keep compilers from little by a look */
  POLL_WITHIN = 1 << 22, /* statements of a loop that must look */
  CHUNK = 1 << 16        /* iterations between looks, at most */
};

static TdCpuProg *prog_of(const TdCWriter *w) {
  return w->ud;
}

int td_cpu_unit_place(TdCpuProg *p, TdLoc loc) {
  for (size_t i = 0; i < p->place.n; i++)
    if (memcmp(&p->place.at[i], &loc, sizeof loc) == 0) return (int)i;
  td_vec_push(p->w->arena, &p->place, loc);
  return (int)p->place.n - 1;
}

static TdPiece guard(TdCWriter *w, TdPiece i, int64_t extent, TdLoc loc) {
  int place = td_cpu_unit_place(prog_of(w), loc);
  return td_cexpr_piece(w, TD_BIND_ATOM, TD_C_I64, "td_index(run, %d, %s, %" PRId64 ")", place,
                        i.text, extent);
}

/* The place of an element of a parameter, told to who watches (watch.c). */
static const char *touch(TdCWriter *w, const TdExpr *load, const char *place, bool write) {
  TdCpuProg *p = prog_of(w);
  if (!p->watch || load->sym->kind != TD_SYM_TENSOR) return place;
  const char *cell = w->target->cell(w, load->sym, load->type);
  return td_text_fmt(w->arena, "(*(%s *)run->host->touch(run, &%s, %d, %d))", cell, place, write,
                     td_cpu_unit_place(p, load->loc));
}

static TdPiece divisor(TdCWriter *w, TdPiece b, TdLoc loc) {
  int place = td_cpu_unit_place(prog_of(w), loc);
  return td_cexpr_piece(w, TD_BIND_ATOM, b.c, "td_nonzero%s(run, %d, %s)", td_cexpr_suffix(b.c),
                        place, b.text);
}

static double work(TdCWriter *w, const TdStmt *call) {
  const TdCpuUnit *u = td_cpu_param_unit(prog_of(w), call->sym);
  return u ? u->work : 1;
}

/* Whether no statement from s on calls a design: its turns are counted in what threads share. */
static bool calls_no_design(void *ud, const TdStmt *s) {
  TdCpuProg *p = ud;
  if (s->kind != TD_STMT_CALL) return true;
  const TdUnit *u = td_cpu_param_unit(p, s->sym)->unit;
  if (u->kind == TD_UNIT_DESIGN) return false;
  return !u->body || td_walk_stmt(p->w->session->ctx, u->body, calls_no_design, p);
}

static bool is_parallel(const TdCWriter *w, const TdStmt *s) {
  return td_attrs_get(s->attrs, TD_ATTR_PARALLEL) && !prog_of(w)->watch &&
         !td_walk_leaves(td_for_body(s)) &&
         td_walk_stmt(w->session->ctx, s, calls_no_design, prog_of(w));
}

/* Statements that one iteration of a loop executes. */
static double body_work(TdCWriter *w, const TdStmt *loop) {
  size_t mark = td_crange_mark(w);
  td_crange_push_loop(w, loop->sym, td_for_lo(loop), td_for_hi(loop));
  double sum = td_crange_work(w, td_for_body(loop));
  td_crange_release(w, mark);
  return sum;
}

/* Iterations between looks of a loop with such a body. */
static int64_t chunk_of(double body) {
  return body * CHUNK > POLL_WITHIN ? (int64_t)(POLL_WITHIN / body) : CHUNK;
}

/* Whether a loop of little bodies would run too long without a look: also one whose iterations
 * nothing bounds, or a number that is too great to reckon with. */
static bool is_long(TdCWriter *w, const TdStmt *s) {
  double body = body_work(w, s), trips = td_crange_trips(w, s, 1e18);
  return body < POLL_EVERY && body * trips > POLL_WITHIN && trips > 2 * (double)chunk_of(body);
}

/* Whether a loop that is long is cut into chunks. */
static bool is_cut(const TdStmt *s) {
  return s->step < CHUNK && !td_walk_leaves(td_for_body(s));
}

/* Whether each iteration of a loop looks. */
static bool must_look(TdCWriter *w, const TdStmt *s) {
  const TdCpuProg *p = prog_of(w);
  if (s == p->cut[0] || body_work(w, s) >= POLL_EVERY) return true;
  return s != p->cut[1] && !is_cut(s) && is_long(w, s);
}

/* Looks whether to stop, where that costs nothing beside the body, or the loop cannot be cut into
 * chunks; a loop without that look may need a word that keeps its iterations in turn. Loops that
 * come here move no tokens: those that do are a task's. */
static void inside(TdCWriter *w, const TdStmt *s) {
  TdCpuProg *p = prog_of(w);
  p->computes = true;
  if (s->kind == TD_STMT_FOR && !must_look(w, s)) {
    if (td_cpu_carry_is_in(p, s)) td_text_line(&w->out, "td_in_turn();");
    return;
  }
  bool side_by_side = s->kind == TD_STMT_FOR && is_parallel(w, s);
  td_text_line(&w->out, "if (td_stopped(run)) %s;",
               side_by_side  ? "continue"
               : p->parallel ? "break"
                             : "return");
}

/* A loop over chunks of iterations around the loop s, which are put as they stand. */
static const TdStmt *chunked(TdCWriter *w, const TdStmt *s) {
  TdCpuProg *p = prog_of(w);
  TdArena *a = w->arena;
  int64_t chunk = chunk_of(body_work(w, s));
  TdSession *se = w->session;
  TdSym v = td_store_sym(w->store, td_text_fmt(a, "%s_from", s->sym->name), TD_SYM_LOOP);
  const TdExpr *from = td_expr_var(a, v, td_type_index(se), s->loc);
  const TdExpr *to = td_lin_plus(se, a, from, td_expr_index(se, a, chunk * s->step, s->loc));
  to = td_expr_op2(a, TD_OP_MIN, td_type_index(se), to, td_for_hi(s));
  const TdStmt *inner = td_stmt_for(w->store, s->sym, from, to, s->step, td_for_body(s), s->loc);
  const TdStmt *outer = td_stmt_for(w->store, v, td_for_lo(s), td_for_hi(s), chunk * s->step,
                                    td_stmt_block(w->store, &inner, 1, s->loc), s->loc);
  p->cut[1] = inner;
  return p->cut[0] = td_stmt_with_attrs(w->store, outer, s->attrs);
}

/* A loop of little bodies that nothing bounds: in chunks too, the next of which begins where the
 * last one ends. */
static void put_far(TdCpuProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  TdSession *se = w->session;
  size_t names = td_cname_mark(w), known = td_crange_mark(w);
  const char *lo = w->target->index(w, td_for_lo(s)).text,
             *hi = w->target->index(w, td_for_hi(s)).text;
  TdSym at[2];
  const TdExpr *v[2];
  const char *name[2], *end = td_cname_fresh(w, td_text_fmt(w->arena, "%s_end", s->sym->name));
  td_cname_put(w, NULL, end, NULL, NULL);
  for (int i = 0; i < 2; i++) {
    const char *want = td_text_fmt(w->arena, "%s_%s", s->sym->name, i ? "to" : "from");
    at[i] = td_store_sym(w->store, want, TD_SYM_LOOP);
    v[i] = td_expr_var(w->arena, at[i], td_type_index(se), s->loc);
    name[i] = td_cname_declare(w, at[i]);
  }
  int64_t chunk = chunk_of(body_work(w, s)) * s->step;
  td_text_line(&w->out, "for (int64_t %s = %s, %s = %s, %s; %s < %s; %s = %s) {", name[0], lo, end,
               hi, name[1], name[0], end, name[0], name[1]);
  td_crange_push_loop(w, at[0], td_for_lo(s), td_for_hi(s));
  td_crange_push_cond(w, td_expr_op2(w->arena, TD_OP_LE, td_type_bool(se), v[1], td_for_hi(s)),
                      true);
  w->out.indent++;
  td_text_line(&w->out, "if (td_stopped(run)) %s;", p->parallel ? "break" : "return");
  td_text_line(&w->out, "%s = td_step(%s, %s, %" PRId64 ");", name[1], name[0], end, chunk);
  p->cut[1] = td_stmt_for(w->store, s->sym, v[0], v[1], s->step, td_for_body(s), s->loc);
  td_cstmt_put_for(w, p->cut[1]);
  w->out.indent--;
  td_text_line(&w->out, "}");
  td_crange_release(w, known);
  td_cname_release(w, names);
}

static TdCpuRoom *room(TdCpuProg *p) {
  return &p->room.at[p->room.n - 1];
}

static void push_room(TdCpuProg *p, const char *prefix) {
  TdCpuRoom r = {.prefix = prefix, .fields = td_text_new(p->w->arena)};
  r.fields.indent = 1;
  td_vec_push(p->w->arena, &p->room, r);
}

static bool holds(const void *const *list, size_t n, const void *x) {
  for (size_t i = 0; i < n; i++)
    if (list[i] == x) return true;
  return false;
}

const char *td_cpu_unit_room_of(TdCpuProg *p, const TdCpuUnit *f) {
  TdCpuRoom *r = room(p);
  if (!f->has_room) return "";
  if (!holds(r->callee.at, r->callee.n, f)) {
    td_vec_push(p->w->arena, &r->callee, f);
    td_text_line(&r->fields, "struct %s_room %s;", f->name, f->name);
  }
  return td_text_fmt(p->w->arena, "&%s%s", r->prefix, f->name);
}

const char *td_cpu_unit_state_of(TdCpuProg *p, const TdCpuUnit *f) {
  if (!f->has_state) return "";
  if (!holds(p->stateful.at, p->stateful.n, f)) {
    td_vec_push(p->w->arena, &p->stateful, f);
    td_text_line(&p->states, "struct %s_state %s;", f->name, f->name);
    td_text_line(&p->resets, "%s_reset(run, &state->%s);", f->name, f->name);
  }
  return td_text_fmt(p->w->arena, "&state->%s", f->name);
}

/* A parallel loop: every thread has a room of its own. */
static void put_parallel(TdCpuProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  TdText before = w->out;
  const char *name = td_text_fmt(w->arena, "room%d", ++p->rooms);
  push_room(p, td_text_fmt(w->arena, "%s->", name));
  w->out = td_text_new(w->arena);
  w->out.indent = before.indent + 1;
  p->parallel++;
  td_text_puts(&w->out, "#pragma omp for\n");
  td_cstmt_put_for(w, s);
  p->parallel--;
  TdText loop = w->out;
  TdCpuRoom own = *room(p);
  p->room.n--;
  w->out = before;
  td_text_puts(&w->out, "#pragma omp parallel num_threads(TD_THREADS)\n");
  td_text_line(&w->out, "{");
  w->out.indent++;
  if (own.fields.n) {
    const char *outer = room(p)->prefix;
    td_text_line(&room(p)->fields, "struct {\n%s  } %s[TD_THREADS];", td_text_str(&own.fields),
                 name);
    td_text_line(&w->out, "__typeof__(%s%s[0]) *restrict %s = &%s%s[td_thread()];", outer, name,
                 name, outer, name);
  }
  w->out.indent--;
  td_text_puts(&w->out, td_text_str(&loop));
  td_text_line(&w->out, "}");
}

/* Whether e is the same in all iterations of a loop around it, but for loop variables. */
static bool is_fixed(void *ud, const TdExpr *e) {
  (void)ud;
  bool name = e->kind == TD_EXPR_VAR && e->sym->kind != TD_SYM_LOCAL;
  return name || e->kind == TD_EXPR_OP || e->kind == TD_EXPR_LIT || e->kind == TD_EXPR_SIZE;
}

/* Whether two indices are near in each iteration of s. */
static bool are_near(TdCWriter *w, const TdStmt *s, const TdExpr *x, const TdExpr *y) {
  size_t known = td_crange_mark(w);
  td_crange_push_loop(w, s->sym, td_for_lo(s), td_for_hi(s));
  bool near = td_crange_is_near(w, x) && td_crange_is_near(w, y);
  td_crange_release(w, known);
  return near;
}

/* The loop s whose body only is an `if x < y` that holds up to some iteration, as a loop up to
 * there, which compilers take for vectors; s itself where it is another. */
static const TdStmt *narrowed(TdCWriter *w, const TdStmt *s) {
  TdArena *a = w->arena;
  TdSession *se = w->session;
  const TdStmt *body = td_for_body(s);
  while (body->kind == TD_STMT_BLOCK && body->nkid == 1) body = body->kid[0];
  if (s->step != 1 || body->kind != TD_STMT_IF || body->nkid != 1) return s;
  const TdExpr *c = body->expr[0];
  if (c->kind != TD_EXPR_OP || c->op != TD_OP_LT || c->kid[0]->type->kind != TD_T_INDEX ||
      c->kid[1]->type->kind != TD_T_INDEX || !td_walk_expr(c, is_fixed, NULL))
    return s;
  const TdExpr *var = td_expr_var(a, s->sym, td_type_index(se), s->loc);
  const TdExpr *end = td_lin_plus(se, a, td_lin_minus(se, a, c->kid[1], c->kid[0]), var);
  if (td_walk_uses_expr(end, s->sym)) return s;
  if (end->kind == TD_EXPR_OP && !are_near(w, s, c->kid[0], end)) return s;
  const TdExpr *hi = td_expr_op2(a, TD_OP_MIN, td_type_index(se), td_for_hi(s), end);
  const TdStmt *loop = td_stmt_for(w->store, s->sym, td_for_lo(s), hi, 1, body->kid[0], s->loc);
  return narrowed(w, td_stmt_with_attrs(w->store, loop, s->attrs));
}

static bool put_for(TdCpuProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  const TdStmt *given = s;
  if (s == p->cut[1]) return false;
  s = narrowed(w, s);
  bool parallel = is_parallel(w, s) && !p->parallel, chunks = is_cut(s) && is_long(w, s);
  if (!parallel && !chunks && s == given) return false;
  bool far = !td_crange_is_near(w, td_for_lo(s)) || !td_crange_is_near(w, td_for_hi(s));
  if (parallel && far && s->step > 1) parallel = false;
  if (chunks && !far) s = chunked(w, s);
  if (chunks && far && parallel) p->cut[0] = s;
  if (chunks && far && !parallel)
    put_far(p, s);
  else if (parallel)
    put_parallel(p, s);
  else
    td_cstmt_put_for(w, s);
  return true;
}

/* Memory of type t in the room, or of the state: declared as a field, named in scope. */
static void put_field(TdCpuProg *p, const TdStmt *s, TdText *fields, const char *prefix) {
  TdCWriter *w = p->w;
  const char *name =
      td_text_fmt(w->arena, "%s_%" PRIu32, td_cname_fresh(w, s->sym->name), s->sym->id);
  td_text_line(fields, "%s;", td_cstmt_array(w, s->sym, s->type, name));
  td_cname_put(w, s->sym, td_text_fmt(w->arena, "%s%s", prefix, name), td_cfamily_type(w, s->type),
               NULL);
}

/* A loop that may also run as a burst stands in the text twice; its memory is one. */
void td_cpu_unit_field(TdCpuProg *p, const TdStmt *s) {
  TdCpuRoom *r = room(p);
  const char *name = td_map_getp(&r->field, s->sym);
  if (name) {
    td_cname_put(p->w, s->sym, name, td_cfamily_type(p->w, s->type), NULL);
    return;
  }
  put_field(p, s, &r->fields, r->prefix);
  name = td_cname_of(p->w, s->sym)->text;
  td_map_putp(p->w->arena, &r->field, s->sym, (void *)(uintptr_t)name);
}

/* The number of a blob's data in the table. */
static int table_entry(TdCpuProg *p, const TdBlob *b) {
  td_vec_push(p->w->arena, &p->table, b->data);
  return (int)p->table.n - 1;
}

static void put_state(TdCpuProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  put_field(p, s, &p->states, "state->");
  const char *cell = w->target->cell(w, s->sym, td_type_scalar(s->type));
  td_text_line(&p->resets, "for (int64_t i = 0; i < %" PRId64 "; i++)", s->blob->count);
  td_text_line(&p->resets, "  ((%s *)%s)[i] = ((const %s *)run->table[%d])[i];", cell,
               td_cname_of(w, s->sym)->text, cell, table_entry(p, s->blob));
}

/* A constant that is too large for the text. */
static void put_constant(TdCpuProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  const char *name = td_cname_fresh(w, s->sym->name);
  td_text_line(&w->out, "%s = run->table[%d];", td_cstmt_pointer(w, s->sym, s->type, name, true),
               table_entry(p, s->blob));
  td_cname_put(w, s->sym, name, td_cfamily_type(w, s->type), NULL);
}

static bool put_local(TdCpuProg *p, const TdStmt *s) {
  if (s->type->kind != TD_T_TENSOR) return false;
  int64_t count = 0;
  td_type_count(td_cfamily_type(p->w, s->type), &count);
  double bytes = (double)count * (double)td_type_bytes(td_type_scalar(s->type));
  bool large = bytes > STACK_BYTES;
  if (large) p->bytes += bytes;
  if (s->cls == TD_LOCAL_STATE)
    put_state(p, s);
  else if (s->cls == TD_LOCAL_CONST && (count > INLINE_COUNT || td_type_scalar(s->type)->w > 64))
    put_constant(p, s);
  else if (s->cls == TD_LOCAL_AUTO && large)
    td_cpu_unit_field(p, s);
  else
    return false;
  return true;
}

/* A store that is watched: what the value reads is touched first, whatever the compiler. */
static bool put_store(TdCpuProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  const TdExpr *to = s->expr[0];
  if (!p->watch || to->sym->kind != TD_SYM_TENSOR) return false;
  const char *cell = w->target->cell(w, to->sym, to->type),
             *value = w->target->value(w, s->expr[1]).text;
  td_text_line(&w->out, "{");
  td_text_line(&w->out, "  %s td_value = %s;", cell, value);
  td_text_line(&w->out, "  %s = td_value;", td_cexpr_touch(w, to, true).text);
  td_text_line(&w->out, "}");
  return true;
}

bool td_cpu_unit_stmt(TdCWriter *w, const TdStmt *s) {
  TdCpuProg *p = prog_of(w);
  switch (s->kind) {
  case TD_STMT_STORE: return put_store(p, s);
  case TD_STMT_FOR: return put_for(p, s);
  case TD_STMT_LOCAL: return put_local(p, s);
  case TD_STMT_CALL: td_cpu_arg_call(p, s); return true;
  default: return false;
  }
}

static const char *const reserved[] = {"run", "room", "state", "me", NULL};

const TdCTarget td_cpu_unit_target = {.reserved = reserved,
                                      .loop_type = "int64_t",
                                      .wraps = true,
                                      .cell = td_cwide_cell,
                                      .value = td_cwide_value,
                                      .index = td_cnum_exact,
                                      .truth = td_cnum_exact,
                                      .guard = guard,
                                      .divisor = divisor,
                                      .touch = touch,
                                      .apart = td_cpu_check_apart,
                                      .stmt = td_cpu_unit_stmt,
                                      .inside = inside,
                                      .work = work};

/* Declares the sizes of u that C can name, once for the whole text. */
static void put_sizes(TdCpuProg *p, const TdUnit *u, TdText *out) {
  TdCWriter *w = p->w;
  for (size_t i = 0; i < u->nsize; i++) {
    const TdSize *s = &u->size[i];
    uint64_t value;
    if (!s->known || s->value < 0 || s->value > INT32_MAX) continue;
    bool there = td_map_get(&p->size, (uint64_t)(uintptr_t)s->name, &value);
    if (there && value != (uint64_t)s->value) continue;
    if (!td_cname_put_size(w, s->name) || there) continue;
    td_map_put(w->arena, &p->size, (uint64_t)(uintptr_t)s->name, (uint64_t)s->value);
    td_text_line(out, "enum { %s = %" PRId64 " };", s->name, s->value);
  }
}

/* "struct f_room { .. };", unless it has no fields; whether it has. */
bool td_cpu_unit_put_struct(TdText *out, const char *unit, const char *what, const TdText *fields) {
  if (!fields->n) return false;
  td_text_line(out, "struct %s_%s {", unit, what);
  td_text_puts(out, td_text_str(fields));
  td_text_line(out, "};");
  return true;
}

void td_cpu_unit_enter(TdCpuProg *p, TdCpuUnit *u, const char *prefix, TdText *out) {
  TdCWriter *w = p->w;
  td_cfamily_enter(w, u->unit, u->map[0] ? u->map : NULL);
  for (size_t i = 0; i < w->prog->nunit; i++) {
    td_cname_put(w, p->unit[i].unit->sym, p->unit[i].name, NULL, NULL);
    if (p->unit[i].task) td_cname_put(w, NULL, p->unit[i].task, NULL, NULL);
  }
  p->rooms = 0;
  p->room.n = p->stateful.n = 0;
  p->lift.n = p->keys = 0;
  p->states = p->resets = p->lifts = w->out = td_text_new(w->arena);
  p->states.indent = p->resets.indent = p->lifts.indent = w->out.indent = 1;
  p->stop = "return";
  push_room(p, prefix);
  put_sizes(p, u->unit, out);
}

void td_cpu_unit_put_state(TdCpuProg *p, TdCpuUnit *u, TdText *out) {
  if (u->has_state) return;
  u->has_state = td_cpu_unit_put_struct(out, u->name, "state", &p->states);
  if (u->has_state)
    td_text_line(out, "static void %s_reset(struct td_run *run, struct %s_state *state) {\n%s}",
                 u->name, u->name, td_text_str(&p->resets));
}

void td_cpu_unit_put(TdCpuProg *p, TdCpuUnit *u, TdText *out) {
  TdCWriter *w = p->w;
  td_cpu_unit_enter(p, u, "room->", out);
  u->work = td_crange_work(w, u->unit->body);
  const char *params = td_cpu_arg_params(p, u);
  td_cpu_check_assumed(p, u);
  td_cstmt_put(w, u->unit->body);
  u->has_room = td_cpu_unit_put_struct(out, u->name, "room", &room(p)->fields);
  td_cpu_unit_put_state(p, u, out);
  td_text_putf(out, "static void %s(struct td_run *run", u->name);
  if (u->has_room) td_text_putf(out, ", struct %s_room *restrict room", u->name);
  if (u->has_state) td_text_putf(out, ", struct %s_state *restrict state", u->name);
  td_text_putf(out, "%s%s) {\n", *params ? ", " : "", params);
  td_text_putf(out, "  %s;\n", p->first ? p->first : "(void)run");
  td_text_puts(out, td_text_str(&p->lifts));
  td_text_puts(out, td_text_str(&w->out));
  td_text_puts(out, "}\n\n");
}
