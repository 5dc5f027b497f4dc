/* mini.h - small programs as text, for tests of the IR without the frontend:
 *   for i = 0, N { .. }   half open; `, 2` is a step      if i < j and x .. { .. } else { .. }
 *   S: A[i][j] = A[i - 1][j] + 1;   local t = A[i];   local b[8];   while x > 0 { .. }   break;
 *   get v <- Z[i];   put Z[i] <- v;   call f(A, B);   return;
 * A name means the same symbol, and the same uid, in every text parsed with one Mini: the text
 * after a rewrite speaks of the statements before it. Stores without a label are numbered, as are
 * `if` and `while`; get, put and call go by their line. */
#ifndef MINI_H
#define MINI_H

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"

typedef struct MiniName {
  const char *name;
  TdSym sym;
  const TdType *type; /* of an array or scalar; NULL for loops and labels */
  uint32_t uid;
} MiniName;

typedef struct Mini {
  TdSession *s;
  TdStore *st;
  TdArena *a;
  const char *at; /* text to come */
  uint32_t line;
  int stores, headers;
  TD_VEC(MiniName) name;
  TD_VEC(const TdUnit *) callee;
  TdUnit *unit;
} Mini;

/* Ends the test program. */
static inline void mini_fail(const Mini *m, const char *what) {
  printf("Bail out! %s at: %.40s\n", what, m->at);
  exit(1);
}

/* The entry of a name, or NULL. */
static inline MiniName *mini_find(Mini *m, const char *name) {
  for (size_t i = 0; i < m->name.n; i++)
    if (strcmp(m->name.at[i].name, name) == 0) return &m->name.at[i];
  return NULL;
}

/* The entry of a name, made if need be. */
static inline MiniName *mini_name(Mini *m, const char *name, TdSymKind kind, const TdType *type) {
  MiniName *n = mini_find(m, name);
  if (n) return n;
  td_vec_push(m->a, &m->name,
              ((MiniName){td_arena_strdup(m->a, name), td_store_sym(m->st, name, kind), type,
                          td_store_uid(m->st)}));
  return &m->name.at[m->name.n - 1];
}

/* Skips blanks, counting lines. */
static inline void mini_skip(Mini *m) {
  for (; isspace((unsigned char)*m->at); m->at++) m->line += *m->at == '\n';
}

/* Takes `token` if it comes next. */
static inline bool mini_take(Mini *m, const char *token) {
  mini_skip(m);
  size_t n = strlen(token);
  if (strncmp(m->at, token, n) != 0) return false;
  if (isalpha((unsigned char)*token) && (isalnum((unsigned char)m->at[n]) || m->at[n] == '_'))
    return false;
  m->at += n;
  return true;
}

/* Takes `token`, which must come next. */
static inline void mini_need(Mini *m, const char *token) {
  if (!mini_take(m, token)) mini_fail(m, token);
}

/* The line under way. */
static inline TdLoc mini_loc(const Mini *m) {
  return (TdLoc){.source = 1, .line = m->line};
}

/* Takes an identifier, or returns NULL. */
static inline const char *mini_word(Mini *m) {
  mini_skip(m);
  const char *from = m->at;
  if (!isalpha((unsigned char)*from) && *from != '_') return NULL;
  while (isalnum((unsigned char)*m->at) || *m->at == '_') m->at++;
  return td_arena_strndup(m->a, from, (size_t)(m->at - from));
}

static inline const TdExpr *mini_expr(Mini *m);
static inline const TdExpr *mini_or(Mini *m);

/* An operator with the type that promotion gives. */
static inline const TdExpr *mini_op(Mini *m, TdOp op, const TdExpr *const *kid, int n) {
  const TdType *t[3];
  TdDiag d = {.arena = m->a};
  for (int i = 0; i < n; i++) t[i] = kid[i]->type;
  const TdType *type = td_promote_op(m->s, (int)op, t, n, mini_loc(m), &d);
  if (!type) mini_fail(m, d.message);
  return td_expr_op(m->a, op, type, kid, n, mini_loc(m));
}

/* The same for two operands. */
static inline const TdExpr *mini_op2(Mini *m, TdOp op, const TdExpr *x, const TdExpr *y) {
  const TdExpr *kid[] = {x, y};
  return mini_op(m, op, kid, 2);
}

/* "[i][j]" after an array. */
static inline int mini_indices(Mini *m, const TdExpr **index) {
  int n = 0;
  while (mini_take(m, "[")) {
    index[n++] = mini_expr(m);
    mini_need(m, "]");
  }
  return n;
}

/* Whether the unit has a size of this name. */
static inline bool mini_is_size(const Mini *m, const char *name) {
  for (size_t i = 0; i < m->unit->nsize; i++)
    if (strcmp(m->unit->size[i].name, name) == 0) return true;
  return false;
}

/* A load, a variable, a size, or min, max, not of something. */
static inline const TdExpr *mini_named(Mini *m, const char *word) {
  bool min = strcmp(word, "min") == 0;
  if (min || strcmp(word, "max") == 0) {
    mini_need(m, "(");
    const TdExpr *x = mini_expr(m);
    mini_need(m, ",");
    const TdExpr *y = mini_expr(m);
    mini_need(m, ")");
    return mini_op2(m, min ? TD_OP_MIN : TD_OP_MAX, x, y);
  }
  MiniName *n = mini_find(m, word);
  if (!n && mini_is_size(m, word)) return td_expr_size(m->s, m->a, word, mini_loc(m));
  if (!n) mini_fail(m, word);
  if (!n->type || n->sym->kind == TD_SYM_SCALAR)
    return td_expr_var(m->a, n->sym, n->type ? n->type : td_type_index(m->s), mini_loc(m));
  const TdExpr *index[TD_MAX_RANK];
  TdLoc loc = mini_loc(m);
  int rank = mini_indices(m, index);
  if (rank != n->type->rank) return td_expr_whole(m->s, m->a, n->sym, n->type, loc);
  return td_expr_load(m->a, n->sym, td_type_scalar(n->type), index, rank, loc);
}

/* Numbers, names, parentheses, minus. */
static inline const TdExpr *mini_primary(Mini *m) {
  mini_skip(m);
  if (mini_take(m, "(")) {
    const TdExpr *e = mini_or(m);
    mini_need(m, ")");
    return e;
  }
  if (mini_take(m, "-")) {
    const TdExpr *x = mini_primary(m);
    int64_t v;
    if (td_expr_is_const(x, &v)) return td_expr_index(m->s, m->a, -v, mini_loc(m));
    return mini_op(m, TD_OP_NEG, &x, 1);
  }
  if (isdigit((unsigned char)*m->at)) {
    char *end;
    long long v = strtoll(m->at, &end, 10);
    m->at = end;
    return td_expr_index(m->s, m->a, v, mini_loc(m));
  }
  const char *word = mini_word(m);
  if (!word) mini_fail(m, "expression");
  return mini_named(m, word);
}

/* Products, // and %. */
static inline const TdExpr *mini_product(Mini *m) {
  const TdExpr *x = mini_primary(m);
  for (;;) {
    if (mini_take(m, "*"))
      x = mini_op2(m, TD_OP_MUL, x, mini_primary(m));
    else if (mini_take(m, "//"))
      x = mini_op2(m, TD_OP_FLOORDIV, x, mini_primary(m));
    else if (mini_take(m, "%"))
      x = mini_op2(m, TD_OP_MOD, x, mini_primary(m));
    else
      return x;
  }
}

/* Sums. */
static inline const TdExpr *mini_expr(Mini *m) {
  const TdExpr *x = mini_product(m);
  for (;;) {
    if (mini_take(m, "+"))
      x = mini_op2(m, TD_OP_ADD, x, mini_product(m));
    else if (mini_take(m, "-"))
      x = mini_op2(m, TD_OP_SUB, x, mini_product(m));
    else
      return x;
  }
}

/* Comparisons and not. */
static inline const TdExpr *mini_compare(Mini *m) {
  if (mini_take(m, "not")) {
    const TdExpr *x = mini_compare(m);
    return mini_op(m, TD_OP_NOT, &x, 1);
  }
  const TdExpr *x = mini_expr(m);
  if (mini_take(m, "==")) return mini_op2(m, TD_OP_EQ, x, mini_expr(m));
  if (mini_take(m, "~=")) return mini_op2(m, TD_OP_NE, x, mini_expr(m));
  if (mini_take(m, "<=")) return mini_op2(m, TD_OP_LE, x, mini_expr(m));
  if (mini_take(m, "<")) return mini_op2(m, TD_OP_LT, x, mini_expr(m));
  if (mini_take(m, ">=")) {
    const TdExpr *y = mini_expr(m);
    return mini_op2(m, TD_OP_LE, y, x);
  }
  if (mini_take(m, ">")) {
    const TdExpr *y = mini_expr(m);
    return mini_op2(m, TD_OP_LT, y, x);
  }
  return x;
}

/* and, or; both bind alike. */
static inline const TdExpr *mini_or(Mini *m) {
  const TdExpr *x = mini_compare(m);
  for (;;) {
    if (mini_take(m, "and"))
      x = mini_op2(m, TD_OP_AND, x, mini_compare(m));
    else if (mini_take(m, "or"))
      x = mini_op2(m, TD_OP_OR, x, mini_compare(m));
    else
      return x;
  }
}

/* s under the uid that its name has. */
static inline const TdStmt *mini_as(Mini *m, const TdStmt *s, uint32_t uid) {
  TdStmt *c = td_arena_copy(m->a, s, sizeof *s);
  c->uid = uid;
  return c;
}

static inline const TdStmt *mini_stmt(Mini *m);

/* Statements up to `}` or the end of the text. */
static inline const TdStmt *mini_list(Mini *m, bool braces) {
  TD_VEC(const TdStmt *) kid = {0};
  if (braces) mini_need(m, "{");
  for (mini_skip(m); *m->at && *m->at != '}'; mini_skip(m)) td_vec_push(m->a, &kid, mini_stmt(m));
  if (braces) mini_need(m, "}");
  return td_stmt_block(m->st, kid.at, kid.n, mini_loc(m));
}

/* The loop variable is known in the body only by its name's symbol. */
static inline const TdStmt *mini_for(Mini *m) {
  TdLoc loc = mini_loc(m);
  const char *v = mini_word(m);
  mini_need(m, "=");
  const TdExpr *lo = mini_expr(m);
  mini_need(m, ",");
  const TdExpr *hi = mini_expr(m);
  int64_t step = 1;
  if (mini_take(m, ",")) td_expr_is_const(mini_expr(m), &step);
  MiniName n = *mini_name(m, v, TD_SYM_LOOP, NULL);
  const TdStmt *body = mini_list(m, true);
  return mini_as(m, td_stmt_for(m->st, n.sym, lo, hi, step, body, loc), n.uid);
}

/* The uid of the next `if` or `while` of a text. */
static inline uint32_t mini_header(Mini *m) {
  char label[24];
  snprintf(label, sizeof label, "#h%d", m->headers++);
  return mini_name(m, label, TD_SYM_LOCAL, NULL)->uid;
}

/* After `if`. */
static inline const TdStmt *mini_if(Mini *m) {
  TdLoc loc = mini_loc(m);
  uint32_t uid = mini_header(m);
  const TdExpr *cond = mini_or(m);
  const TdStmt *then = mini_list(m, true), *other = NULL;
  if (mini_take(m, "else")) other = mini_list(m, true);
  return mini_as(m, td_stmt_if(m->st, cond, then, other, loc), uid);
}

/* e as a value of type t. */
static inline const TdExpr *mini_cast(Mini *m, const TdType *t, const TdExpr *e) {
  return e->type == t ? e : td_expr_cast(m->a, t, e, true);
}

/* Locals are f32, or tensors of f32; `local u of t;` is a copy of the declaration of t. */
static inline const TdStmt *mini_local(Mini *m) {
  TdLoc loc = mini_loc(m);
  const char *v = mini_word(m), *from = mini_take(m, "of") ? mini_word(m) : NULL;
  const TdExpr *dim[TD_MAX_RANK], *value = NULL;
  int rank = mini_indices(m, dim);
  const TdType *f32 = td_type_float(m->s, 32);
  const TdType *t = rank ? td_type_tensor(m->s, f32, rank, dim) : f32;
  if (mini_take(m, "=")) value = mini_cast(m, f32, mini_expr(m));
  mini_need(m, ";");
  MiniName *n = mini_name(m, v, TD_SYM_LOCAL, t);
  TdLocalInit init = !value ? TD_INIT_NONE : rank ? TD_INIT_FILL : TD_INIT_VALUE;
  TdStmt *s = td_arena_copy(m->a, td_stmt_local(m->st, n->sym, t, init, value, loc), sizeof *s);
  s->uid = n->uid;
  if (from) s->origin = mini_find(m, from)->uid;
  return s;
}

/* "Z[i]" as the end of a stream. */
static inline const TdExpr *mini_stream(Mini *m) {
  const char *word = mini_word(m);
  MiniName *n = word ? mini_find(m, word) : NULL;
  if (!n || n->type->kind != TD_T_PORT) mini_fail(m, "stream");
  const TdExpr *index[TD_MAX_RANK];
  TdViewDim dim[TD_MAX_RANK];
  int rank = mini_indices(m, index);
  for (int d = 0; d < rank; d++) dim[d] = (TdViewDim){1, -1};
  const TdType *t = td_type_port(m->s, n->type->elem, 0, NULL, n->type->block);
  return td_expr_view(m->a, n->sym, t, index, dim, rank, mini_loc(m));
}

/* After `put` or `get`. */
static inline const TdStmt *mini_token(Mini *m, bool put) {
  TdLoc loc = mini_loc(m);
  char label[16];
  snprintf(label, sizeof label, "#t%u", loc.line);
  if (put) {
    const TdExpr *z = mini_stream(m);
    mini_need(m, "<-");
    const TdExpr *e = mini_expr(m);
    mini_need(m, ";");
    const TdStmt *s = td_stmt_put(m->st, z, mini_cast(m, z->type->elem, e), loc);
    return mini_as(m, s, mini_name(m, label, TD_SYM_LOCAL, NULL)->uid);
  }
  const char *v = mini_word(m);
  mini_need(m, "<-");
  const TdExpr *z = mini_stream(m);
  mini_need(m, ";");
  MiniName *n = mini_name(m, v, TD_SYM_LOCAL, z->type->elem);
  return mini_as(m, td_stmt_get(m->st, z, n->sym, n->type, NULL, loc), n->uid);
}

/* After `call`. */
static inline const TdStmt *mini_call(Mini *m) {
  TdLoc loc = mini_loc(m);
  const char *name = mini_word(m);
  MiniName *n = mini_find(m, name);
  if (!n) mini_fail(m, "no such unit");
  const TdExpr *arg[8];
  size_t narg = 0;
  mini_need(m, "(");
  do arg[narg++] = mini_expr(m);
  while (mini_take(m, ","));
  mini_need(m, ")");
  mini_need(m, ";");
  char label[24];
  snprintf(label, sizeof label, "#c%u", loc.line);
  TdSym sym = n->sym;
  return mini_as(m, td_stmt_call(m->st, sym, arg, narg, loc),
                 mini_name(m, label, TD_SYM_LOCAL, NULL)->uid);
}

/* "S: A[i] = e;", element by element or a whole tensor; "T of S: .." is a copy of S. */
static inline const TdStmt *mini_store(Mini *m, const char *word) {
  char label[24];
  TdLoc loc = mini_loc(m);
  const char *from = mini_take(m, "of") ? mini_word(m) : NULL;
  if (mini_take(m, ":")) {
    snprintf(label, sizeof label, "#%s", word);
    word = mini_word(m);
  } else {
    snprintf(label, sizeof label, "#%d", m->stores);
  }
  m->stores++;
  const TdExpr *place = mini_named(m, word);
  mini_need(m, "=");
  const TdExpr *e = mini_expr(m);
  mini_need(m, ";");
  const TdStmt *s;
  if (place->kind == TD_EXPR_VIEW)
    s = td_stmt_set(m->st, place, e, loc);
  else
    s = td_stmt_store(m->st, place, mini_cast(m, place->type, e), loc);
  TdStmt *c = td_arena_copy(m->a, s, sizeof *s);
  c->uid = mini_name(m, label, TD_SYM_LOCAL, NULL)->uid;
  if (from) c->origin = mini_find(m, td_text_fmt(m->a, "#%s", from))->uid;
  return c;
}

/* One statement. */
static inline const TdStmt *mini_stmt(Mini *m) {
  TdLoc loc = mini_loc(m);
  if (mini_take(m, "for")) return mini_for(m);
  if (mini_take(m, "if")) return mini_if(m);
  if (mini_take(m, "local")) return mini_local(m);
  if (mini_take(m, "get")) return mini_token(m, false);
  if (mini_take(m, "put")) return mini_token(m, true);
  if (mini_take(m, "call")) return mini_call(m);
  if (mini_take(m, "while")) {
    uint32_t uid = mini_header(m);
    const TdExpr *cond = mini_or(m);
    return mini_as(m, td_stmt_while(m->st, cond, mini_list(m, true), false, loc), uid);
  }
  bool leave = mini_take(m, "break");
  if (leave || mini_take(m, "return")) {
    mini_need(m, ";");
    return td_stmt_jump(m->st, leave ? TD_STMT_BREAK : TD_STMT_RETURN, loc);
  }
  const char *word = mini_word(m);
  if (!word) mini_fail(m, "statement");
  return mini_store(m, word);
}

/* A list of statements as a block; lines count from 1, labels from #0. */
static inline const TdStmt *mini_parse(Mini *m, const char *text) {
  m->at = text;
  m->line = 1;
  m->stores = m->headers = 0;
  return mini_list(m, false);
}

/* The only statement of a text. */
static inline const TdStmt *mini_one(Mini *m, const char *text) {
  return mini_parse(m, text)->kid[0];
}

/* An expression or condition by itself. */
static inline const TdExpr *mini_index(Mini *m, const char *text) {
  m->at = text;
  return mini_or(m);
}

/* "M=8 N": sizes with and without a value. */
static inline void mini_sizes(Mini *m, const char *text) {
  TD_VEC(TdSize) size = {0};
  m->at = text;
  for (const char *w; (w = mini_word(m));) {
    TdSize s = {.name = td_names_str(m->s->names, w)};
    if (mini_take(m, "=")) s.known = td_expr_is_const(mini_primary(m), &s.value);
    td_vec_push(m->a, &size, s);
  }
  m->unit->size = size.at;
  m->unit->nsize = size.n;
}

/* "A[M][K] idx:i32[N] n:index Z<[4]": f32 tensors, typed things, streams of f32. */
static inline void mini_params(Mini *m, const char *text) {
  TD_VEC(TdParam) param = {0};
  m->at = text;
  for (const char *w; (w = mini_word(m));) {
    const TdType *t = td_type_float(m->s, 32);
    if (mini_take(m, ":")) {
      const char *type = mini_word(m);
      t = strcmp(type, "i32") == 0  ? td_type_int(m->s, 32)
          : strcmp(type, "i8") == 0 ? td_type_int(m->s, 8)
                                    : td_type_index(m->s);
    }
    bool stream = mini_take(m, "<");
    const TdExpr *dim[TD_MAX_RANK];
    int rank = mini_indices(m, dim);
    TdSymKind kind = stream ? TD_SYM_STREAM : rank ? TD_SYM_TENSOR : TD_SYM_SCALAR;
    if (stream)
      t = td_type_port(m->s, t, rank, dim, false);
    else if (rank)
      t = td_type_tensor(m->s, t, rank, dim);
    MiniName *n = mini_name(m, w, kind, t);
    td_vec_push(m->a, &param, ((TdParam){.sym = n->sym, .type = t}));
  }
  m->unit->param = param.at;
  m->unit->nparam = param.n;
}

/* Adds a fact to the unit. */
static inline void mini_assert(Mini *m, const char *cond) {
  const TdExpr **all = TD_NEWN(m->a, const TdExpr *, m->unit->nassert + 1);
  for (size_t i = 0; i < m->unit->nassert; i++) all[i] = m->unit->assert_[i];
  all[m->unit->nassert++] = mini_index(m, cond);
  m->unit->assert_ = all;
}

/* A new Mini around a kernel without a body. */
static inline Mini *mini_new(TdSession *s, const char *sizes, const char *params) {
  TdStore *st = td_store_new(s);
  Mini *m = TD_NEW(st->arena, Mini);
  *m = (Mini){.s = s, .st = st, .a = st->arena};
  m->unit = TD_NEW(m->a, TdUnit);
  m->unit->kind = TD_UNIT_KERNEL;
  m->unit->sym = td_store_sym(st, "k", TD_SYM_UNIT);
  mini_sizes(m, sizes);
  mini_params(m, params);
  return m;
}

/* Frees all that m made. */
static inline void mini_free(Mini *m) {
  td_store_free(m->st);
}

/* Makes what m holds a callee named `name`, and starts another unit with m's symbols forgotten. */
static inline void mini_callee(Mini *m, const char *name, const char *sizes, const char *params) {
  m->unit->sym = td_store_sym(m->st, name, TD_SYM_UNIT);
  td_vec_push(m->a, &m->callee, m->unit);
  m->unit = TD_NEW(m->a, TdUnit);
  m->unit->kind = TD_UNIT_KERNEL;
  m->unit->sym = td_store_sym(m->st, "k", TD_SYM_UNIT);
  m->name.n = 0;
  mini_sizes(m, sizes);
  mini_params(m, params);
  for (size_t i = 0; i < m->callee.n; i++) {
    MiniName *n = mini_name(m, m->callee.at[i]->sym->name, TD_SYM_UNIT, NULL);
    n->sym = m->callee.at[i]->sym;
  }
}

/* The kernel with a body, in a program with its callees. */
static inline const TdProg *mini_prog(Mini *m, const TdStmt *body) {
  TD_VEC(const TdUnit *) all = {0};
  for (size_t i = 0; i < m->callee.n; i++) td_vec_push(m->a, &all, m->callee.at[i]);
  m->unit->body = body;
  td_vec_push(m->a, &all, (const TdUnit *)m->unit);
  return td_prog_new(m->st, all.at, all.n);
}

#endif
