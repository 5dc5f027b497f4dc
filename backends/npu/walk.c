/* walk.c - does what the instances of a design do to blocks: control and places with numbers, data
 * not at all. */
#include "analysis/range/span.h"
#include "backends/npu/copy.h"

/* A part of a block that was filled. */
typedef struct Piece {
  const TdNpuPairs *pairs;
  int64_t dst, src; /* shifts */
  uint32_t from;    /* token (number in `token`), or */
  uint32_t param;   /* argument of the design */
} Piece;

/* A block that the instance holds. */
typedef struct Token {
  TdSym sym;
  uint32_t chan;
  bool slot, open;
  int64_t number; /* of its stream, from 0 */
  TD_VEC(Piece) piece;
} Token;

/* The last blocks of a stream, and what they came to. */
typedef struct Last {
  uint32_t chan;
  TD_VEC(Piece) piece;
  const int64_t *map;
  const TdDesc *at;
  int64_t least, most; /* place of an element in the argument, as shifts go */
} Last;

typedef struct Walk {
  TdNpuForm *f;
  uint32_t inst;
  TdNpuCopies copies;
  TdMap held; /* symbol -> number of its token + 1 */
  TD_VEC(Token) token;
  TD_VEC(Last) last;
} Walk;

static TdNpuInst *me(const Walk *w) {
  return &w->f->inst.at[w->inst];
}

static bool refuse(const Walk *w, const char *code, TdLoc loc, const char *what) {
  return td_diag_set(w->f->diag, TD_UNSUPPORTED, code, loc, "%s: %s", me(w)->name, what);
}

/* ---- values ---- */

static TdSpan look(void *ud, const TdExpr *e, const TdSpan *index) {
  const TdMap *at = ud;
  uint64_t v;
  (void)index;
  if (e->kind == TD_EXPR_VAR && td_map_get(at, (uint64_t)(uintptr_t)e->sym, &v))
    return td_span_const((int64_t)v);
  return td_span_data(e->type);
}

bool td_npu_value(const TdNpuForm *f, const TdMap *at, const TdExpr *e, int64_t *v) {
  TdSpanEnv env = {.unit = f->design, .look = look, .ud = (void *)(uintptr_t)at};
  TdSpan x = td_span_of(&env, e);
  *v = x.lo;
  return td_span_is_one(x);
}

uint32_t td_npu_chan(const TdNpuForm *f, const TdMap *at, const TdExpr *e, TdLoc loc) {
  const TdStream *s = td_unit_stream(f->design, e->sym);
  int64_t place = 0, extent, v;
  for (uint32_t d = 0; s && d < e->nkid; d++) {
    if (!td_unit_value(f->design, s->type->dim[d], &extent) ||
        !td_npu_value(f, at, e->kid[d], &v)) {
      td_diag_set(f->diag, TD_UNSUPPORTED, "npu-data", loc, "data decides which of '%s' is meant",
                  e->sym->name);
      return TD_NPU_NONE;
    }
    place = place * extent + v;
  }
  for (uint32_t i = 0; s && i < f->chan.n; i++)
    if (f->chan.at[i].sym == e->sym && f->chan.at[i].ordinal == place) return i;
  td_diag_set(f->diag, TD_UNSUPPORTED, "npu-data", loc, "'%s' is no stream of the design",
              e->sym->name);
  return TD_NPU_NONE;
}

static bool moves_none(void *ud, const TdStmt *s) {
  (void)ud;
  return s->kind != TD_STMT_GET && s->kind != TD_STMT_PUT && s->kind != TD_STMT_SLOT;
}

bool td_npu_moves(const TdNpuForm *f, const TdStmt *s) {
  return !td_walk_stmt(f->prog->store->session->ctx, s, moves_none, NULL);
}

/* ---- copies ---- */

static Token *token_of(const Walk *w, TdSym sym) {
  uint64_t k;
  return td_map_get(&w->held, (uint64_t)(uintptr_t)sym, &k) ? &w->token.at[k - 1] : NULL;
}

/* The number of the design's argument that a parameter of the instance is. */
static uint32_t param_of(const Walk *w, TdSym sym) {
  const TdRunArg *b = me(w)->run->bind;
  while (b->param != sym) b++;
  return (uint32_t)(td_unit_param(w->f->design, b->arg) - w->f->design->param);
}

static bool same_pieces(const Piece *x, const Piece *y, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (x[i].pairs != y[i].pairs || x[i].dst != y[i].dst) return false;
  return true;
}

/* The step between places of neighbours along each dimension of a block, of which those that are
 * not moved are -1; false: it has none, or several. */
static bool steps_of(const int64_t *map, const TdType *t, int64_t n, int64_t *step) {
  int64_t inner = 1, extent;
  for (int d = t->rank; d-- > 0; inner *= extent) {
    bool found = false;
    td_type_extent(t, d, &extent);
    step[d] = 0;
    for (int64_t i = 0; i + inner < n; i++) {
      if (i / inner % extent == extent - 1 || map[i] < 0 || map[i + inner] < 0) continue;
      int64_t by = map[i + inner] - map[i];
      if (found && by != step[d]) return false;
      found = true;
      step[d] = by;
    }
    if (!found && extent > 1) return false;
  }
  return true;
}

/* Has a block that an argument fills get what lies between, or beside, the elements that are moved:
 * nothing reads them. False: they lie on no lines. */
static bool fill_up(const Walk *w, uint32_t chan, int64_t *map) {
  const TdNpuChan *c = &w->f->chan.at[chan];
  int64_t step[TD_MAX_RANK], extent, n = c->count, first = 0;
  if (!steps_of(map, c->type, n, step)) return false;
  while (map[first] < 0) first++;
  for (int64_t i = 0; i < n; i++) {
    int64_t at = map[first], x = i, y = first;
    for (int d = c->type->rank; d-- > 0; x /= extent, y /= extent) {
      td_type_extent(c->type, d, &extent);
      at += (x % extent - y % extent) * step[d];
    }
    if (map[i] >= 0 && map[i] != at) return false;
    map[i] = at;
  }
  return true;
}

/* The map of a block's elements that its pieces make: each once, where it is not filled up; NULL:
 * refused. `whose` numbers the pieces' sources. What a host moves is told apart from how far it is
 * shifted. */
static const int64_t *map_of(const Walk *w, const Token *t, const int64_t *whose, TdLoc loc) {
  int64_t n = w->f->chan.at[t->chan].count;
  int64_t *map = TD_NEWN(w->f->arena, int64_t, n);
  for (int64_t i = 0; i < n; i++) map[i] = -1;
  for (size_t i = 0; i < t->piece.n; i++) {
    const Piece *p = &t->piece.at[i];
    for (size_t k = 0; k < p->pairs->n; k++) {
      int64_t at = (t->slot ? p->pairs->dst[k] : p->pairs->src[k]) + p->dst;
      int64_t *cell = at >= 0 && at < n ? &map[at] : NULL;
      if (!cell || *cell >= 0) {
        refuse(w, "npu-copy", loc, "an element of a block is moved twice");
        return NULL;
      }
      *cell = whose[i] * TD_NPU_PART + (t->slot ? p->pairs->src[k] : p->pairs->dst[k]);
      if (me(w)->role == TD_NPU_MEM) *cell += p->src;
    }
  }
  bool all = true;
  for (int64_t i = 0; i < n; i++) all &= map[i] >= 0;
  if (all || (t->slot && me(w)->role == TD_NPU_HOST && fill_up(w, t->chan, map))) return map;
  refuse(w, "npu-copy", loc, "an element of a block is not moved: a DMA moves all");
  return NULL;
}

static Last *last_of(Walk *w, uint32_t chan) {
  for (size_t i = 0; i < w->last.n; i++)
    if (w->last.at[i].chan == chan) return &w->last.at[i];
  Last l = {.chan = chan};
  td_vec_push(w->f->arena, &w->last, l);
  return &w->last.at[w->last.n - 1];
}

/* Whether all that a block came to lies in the argument of its pieces. */
static bool is_within(const Walk *w, const Last *l, const Piece *p) {
  const TdUnit *d = w->f->design;
  int64_t n = 0;
  td_type_count(td_unit_type(w->f->prog->store->session, d, d->param[p->param].type), &n);
  return l->least + p->src >= 0 && l->most + p->src < n;
}

/* Notes what a block came to: a move of a host task. */
static bool note_move(Walk *w, Token *t, TdLoc loc) {
  TdArena *a = w->f->arena;
  Last *l = last_of(w, t->chan);
  const Piece *p = t->piece.at;
  if (!t->piece.n)
    return refuse(w, "npu-copy", loc, "a block is neither filled from nor written to an argument");
  bool known = l->at && l->piece.n == t->piece.n && same_pieces(l->piece.at, p, t->piece.n);
  for (size_t i = 1; known && i < t->piece.n; i++)
    known = p[i].src - p[0].src == l->piece.at[i].src - l->piece.at[0].src;
  if (!known) {
    int64_t *whose = TD_NEWN(a, int64_t, t->piece.n);
    for (size_t i = 0; i < t->piece.n; i++) {
      if (p[i].param != p[0].param || p[i].src != p[0].src)
        return refuse(w, "npu-copy", loc, "a block has parts of several arguments or copies");
      whose[i] = 0;
    }
    const int64_t *map = map_of(w, t, whose, loc);
    TdDesc *at = TD_NEW(a, TdDesc);
    if (!map) return false;
    if (!td_desc_of_places(map, w->f->chan.at[t->chan].count, at))
      return refuse(w, "npu-copy", loc, "places that no descriptor of 24 digits tells");
    l = last_of(w, t->chan);
    l->at = at;
    l->piece.n = 0;
    l->least = l->most = map[0];
    for (int64_t i = 0; i < w->f->chan.at[t->chan].count; i++) {
      l->least = map[i] < l->least ? map[i] : l->least;
      l->most = map[i] > l->most ? map[i] : l->most;
    }
    for (size_t i = 0; i < t->piece.n; i++) td_vec_push(a, &l->piece, p[i]);
  }
  if (!is_within(w, l, p))
    return refuse(w, "npu-copy", loc, "an element of a block is not moved: a DMA moves all");
  TdNpuMove m = {t->chan, p[0].param, l->at, p[0].src};
  td_vec_push(a, &me(w)->move, m);
  return true;
}

/* Notes what a block came to that a task in row 1 puts. */
static bool note_fill(Walk *w, Token *t, TdLoc loc) {
  TdArena *a = w->f->arena;
  Last *l = last_of(w, t->chan);
  const Piece *p = t->piece.at;
  uint32_t *from = TD_NEWN(a, uint32_t, t->piece.n + 1);
  int64_t *token = TD_NEWN(a, int64_t, t->piece.n + 1),
          *whose = TD_NEWN(a, int64_t, t->piece.n + 1);
  size_t n = 0;
  bool known = l->map && l->piece.n == t->piece.n && same_pieces(l->piece.at, p, t->piece.n);
  for (size_t i = 0; i < t->piece.n; i++) {
    const Token *s = &w->token.at[p[i].from];
    size_t k = 0;
    while (k < n && !(from[k] == s->chan && token[k] == s->number)) k++;
    if (k == n) from[k] = s->chan, token[n++] = s->number;
    whose[i] = (int64_t)k;
    known = known && l->piece.at[i].src == p[i].src;
  }
  if (!known) {
    const int64_t *map = map_of(w, t, whose, loc);
    if (!map) return false;
    l = last_of(w, t->chan);
    l->map = map;
    l->piece.n = 0;
    for (size_t i = 0; i < t->piece.n; i++) td_vec_push(a, &l->piece, p[i]);
  }
  TdNpuFill x = {t->chan, n, from, token, l->map};
  td_vec_push(a, &me(w)->fill, x);
  return true;
}

/* A copy: a piece of the block that it fills, or of the one that it takes to an argument. */
static bool copy(Walk *w, const TdStmt *s) {
  int64_t dst, src;
  const TdNpuPairs *p = td_npu_copy_pairs(&w->copies, s, &dst, &src);
  if (!p) return false;
  if (!p->n) return true;
  Token *to = token_of(w, p->to), *from = token_of(w, p->from);
  bool host = me(w)->role == TD_NPU_HOST;
  if (to && from && !host && to->slot && !from->slot) {
    Piece x = {p, dst, src, (uint32_t)(from - w->token.at), 0};
    td_vec_push(w->f->arena, &to->piece, x);
  } else if (to && !from && host && to->slot) {
    Piece x = {p, dst, src, 0, param_of(w, p->from)};
    td_vec_push(w->f->arena, &to->piece, x);
  } else if (from && !to && host && !from->slot) {
    Piece x = {p, src, dst, 0, param_of(w, p->to)};
    td_vec_push(w->f->arena, &from->piece, x);
  } else {
    return refuse(w, "npu-copy", s->loc,
                  host ? "copies other than between an argument and a block"
                       : "copies other than from a block that it got to one that it puts");
  }
  return true;
}

/* ---- streams ---- */

static void event(const Walk *w, TdNpuAct act, uint32_t chan) {
  TdNpuEvent e = {(uint8_t)act, chan};
  td_vec_push(w->f->arena, &me(w)->event, e);
}

static bool take(Walk *w, const TdStmt *s, bool slot) {
  TdNpuForm *f = w->f;
  uint32_t chan = td_npu_chan(f, &w->copies.at, s->expr[0], s->loc);
  if (chan == TD_NPU_NONE) return false;
  if (!s->sym) return refuse(w, "npu-form", s->loc, "a block is got into a place: name it");
  TdNpuChan *c = &f->chan.at[chan];
  uint32_t *end = slot ? &c->from : &c->to;
  if (*end != TD_NPU_NONE && *end != w->inst)
    return refuse(w, "npu-form", s->loc, "a stream has two tasks at one end");
  *end = w->inst;
  Token t = {.sym = s->sym,
             .chan = chan,
             .slot = slot,
             .open = true,
             .number = slot ? c->puts++ : c->gets++};
  td_vec_push(f->arena, &w->token, t);
  td_map_put(f->arena, &w->held, (uint64_t)(uintptr_t)s->sym, w->token.n);
  td_map_put(f->arena, &w->copies.block, (uint64_t)(uintptr_t)s->sym, (uint64_t)(uintptr_t)c->type);
  event(w, slot ? TD_NPU_SLOT : TD_NPU_GET, chan);
  return true;
}

static bool put(Walk *w, const TdStmt *s) {
  Token *t = s->expr[1]->kind == TD_EXPR_VIEW ? token_of(w, s->expr[1]->sym) : NULL;
  uint32_t chan = td_npu_chan(w->f, &w->copies.at, s->expr[0], s->loc);
  if (chan == TD_NPU_NONE) return false;
  if (!t || !t->slot || !t->open || t->chan != chan || !td_expr_keeps_dims(s->expr[1], t->sym))
    return refuse(w, "npu-form", s->loc, "puts what is no slot of the stream");
  t->open = false;
  event(w, TD_NPU_PUT, chan);
  if (me(w)->role == TD_NPU_HOST) return note_move(w, t, s->loc);
  return me(w)->role == TD_NPU_CORE || note_fill(w, t, s->loc);
}

/* The blocks got since `mark` go back. */
static bool release(Walk *w, size_t mark, TdLoc loc) {
  for (size_t i = mark; i < w->token.n; i++) {
    Token *t = &w->token.at[i];
    if (!t->open) continue;
    t->open = false;
    if (t->slot) return refuse(w, "npu-form", loc, "a slot is taken and not put");
    event(w, TD_NPU_FREE, t->chan);
    if (me(w)->role == TD_NPU_HOST && !note_move(w, t, loc)) return false;
  }
  return true;
}

static bool walk(Walk *w, const TdStmt *s);

static bool walk_block(Walk *w, const TdStmt *s) {
  size_t mark = w->token.n;
  for (uint32_t i = 0; i < s->nkid; i++)
    if (!walk(w, s->kid[i])) return false;
  return release(w, mark, s->loc);
}

static bool walk_for(Walk *w, const TdStmt *s) {
  int64_t lo, hi;
  if (!td_npu_value(w->f, &w->copies.at, td_for_lo(s), &lo) ||
      !td_npu_value(w->f, &w->copies.at, td_for_hi(s), &hi))
    return refuse(w, "npu-data", s->loc, "data decides how often blocks move");
  for (int64_t i = lo; i < hi; i += s->step) {
    td_map_put(w->f->arena, &w->copies.at, (uint64_t)(uintptr_t)s->sym, (uint64_t)i);
    if (!walk(w, td_for_body(s))) return false;
  }
  return true;
}

static bool walk(Walk *w, const TdStmt *s) {
  int64_t cond;
  td_ctx_tick(td_arena_ctx(w->f->arena), 1);
  if (!td_npu_moves(w->f, s)) {
    if (me(w)->role == TD_NPU_CORE || (s->kind == TD_STMT_BLOCK && !s->nkid)) return true;
    return copy(w, s);
  }
  switch ((TdStmtKind)s->kind) {
  case TD_STMT_BLOCK: return walk_block(w, s);
  case TD_STMT_FOR: return walk_for(w, s);
  case TD_STMT_IF:
    if (!td_npu_value(w->f, &w->copies.at, s->expr[0], &cond))
      return refuse(w, "npu-data", s->loc, "data decides whether blocks move");
    return cond ? walk(w, s->kid[0]) : s->nkid < 2 || walk(w, s->kid[1]);
  case TD_STMT_GET: return take(w, s, false);
  case TD_STMT_SLOT: return take(w, s, true);
  case TD_STMT_PUT: return put(w, s);
  default: return refuse(w, "npu-data", s->loc, "data decides how often blocks move");
  }
}

bool td_npu_walk(TdNpuForm *f, uint32_t inst) {
  Walk w = {.f = f, .inst = inst, .copies = {.f = f, .inst = inst}};
  return walk(&w, f->inst.at[inst].body);
}
