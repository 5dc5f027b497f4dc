/* stp_op.c - a Lua function for each operator of STeP, its arguments as its row says. */
#include <string.h>

#include "analysis/time/target.h"
#include "bind/step/stp.h"
#include "bind/program/unit.h"

/* A call under way. */
typedef struct Call {
  lua_State *L;
  TdStpBox *box;
  int graph; /* stack slot */
  TdArena *scratch;
  const TdStpOpRow *row;
  TdStpNode node;
  TD_VEC(TdStpRef) in;
} Call;

static int bad(Call *c, int idx, const char *want) {
  return td_bind_refuse(c->L, TD_USAGE, "step-argument",
                        td_text_fmt(c->scratch, "step.%s: %s", c->row->name, c->row->help),
                        "step.%s takes %s here, not %s", c->row->name, want,
                        td_bind_words(c->L, idx));
}

static void take_stream(Call *c, int idx) {
  TdStpStreamBox *s = td_stp_test_stream(c->L, idx);
  if (!s) bad(c, idx, "a stream");
  if (s->box != c->box) td_bind_fail(c->L, "step-argument", "this stream is of another graph");
  td_vec_push(c->box->arena, &c->in, s->ref);
}

static void take_streams(Call *c, int idx) {
  if (!lua_istable(c->L, idx)) bad(c, idx, "a list of streams");
  lua_Integer n = (lua_Integer)lua_rawlen(c->L, idx);
  if (!n) bad(c, idx, "a list of at least one stream");
  for (lua_Integer i = 1; i <= n; i++) {
    lua_rawgeti(c->L, idx, i);
    take_stream(c, lua_gettop(c->L));
    lua_pop(c->L, 1);
  }
}

/* Keeps the value at idx for as long as the graph lives. */
static void keep(Call *c, int idx) {
  lua_State *L = c->L;
  idx = lua_absindex(L, idx);
  lua_getiuservalue(L, c->graph, 1);
  lua_pushvalue(L, idx);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  lua_pop(L, 1);
}

static TdStpTensor take_tensor(Call *c, int idx) {
  TdTensorBox *box = td_bind_test_tensor(c->L, idx);
  const TdType *t = box ? box->tensor->type : td_bind_test_type(c->L, idx);
  if (!t || t->kind != TD_T_TENSOR) bad(c, idx, "a tensor, or the type of one");
  if (box) keep(c, idx);
  return (TdStpTensor){.type = t, .data = box ? box->tensor : NULL};
}

static int64_t take_integer(Call *c, int idx) {
  int whole = 0;
  lua_Integer v = lua_type(c->L, idx) == LUA_TNUMBER ? lua_tointegerx(c->L, idx, &whole) : 0;
  if (!whole) bad(c, idx, "an integer");
  return v;
}

/* A list of integers into v, outermost first; their number. */
static int take_integers(Call *c, int idx, int64_t *v) {
  if (!lua_istable(c->L, idx)) bad(c, idx, "a list of integers");
  int n = (int)lua_rawlen(c->L, idx);
  if (n > TD_STP_RANK) td_bind_fail(c->L, "step-argument", "at most %d integers", TD_STP_RANK);
  for (int i = 0; i < n; i++) {
    lua_rawgeti(c->L, idx, i + 1);
    v[i] = take_integer(c, lua_gettop(c->L));
    if (v[i] < 0) td_bind_fail(c->L, "step-argument", "extents and strides are not negative");
    lua_pop(c->L, 1);
  }
  return n;
}

static void take_shape(Call *c, int idx) {
  lua_State *L = c->L;
  if (!lua_istable(L, idx)) bad(c, idx, "a shape");
  int n = (int)lua_rawlen(L, idx);
  if (n < 1 || n > TD_STP_RANK) bad(c, idx, "a shape of 1 to 8 dimensions");
  c->node.assumed.ndim = n;
  for (int i = 0; i < n; i++) {
    lua_rawgeti(L, idx, i + 1);
    const TdStpExpr *e = td_stp_test_expr(L, -1);
    if (!e) bad(c, lua_gettop(L), "extents: integers, or extents of other streams");
    c->node.assumed.dim[n - 1 - i] = (TdStpDim){.extent = e};
    lua_pop(L, 1);
  }
}

static void take_function(Call *c, int idx) {
  const TdStpFn *f = luaL_testudata(c->L, idx, TD_CLASS_STP_FN);
  if (!f && (td_bind_test_unit(c->L, idx) || td_bind_test_schedule(c->L, idx))) {
    c->node.fn = td_stp_take_kernel(c->L, idx);
    keep(c, -1);
    lua_pop(c->L, 1);
    return;
  }
  if (!f || f->kind == TD_STP_FNS)
    bad(c, idx, "a function of step.fn, or a kernel, schedule or design on tiles");
  c->node.fn = *f;
}

/* ---- selectors ---- */

/* What a list of selectors is made of. */
typedef struct Lists {
  Call *c;
  TdStpSelectors *s;
  TD_VEC(uint32_t) first;
  TD_VEC(int32_t) index;
  TdText text;
  int64_t n;
} Lists;

static bool is_leaf(lua_State *L, int idx) {
  if (lua_rawgeti(L, idx, 1) == LUA_TTABLE) {
    lua_pop(L, 1);
    return false;
  }
  lua_pop(L, 1);
  return true;
}

/* A set of indices, ascending and different. */
static void take_indices(Lists *l, int idx) {
  lua_State *L = l->c->L;
  TdArena *a = l->c->box->arena;
  size_t from = l->index.n;
  td_text_puts(&l->text, "{ ");
  for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, idx); i++) {
    lua_rawgeti(L, idx, i);
    int64_t v = take_integer(l->c, lua_gettop(L));
    lua_pop(L, 1);
    td_text_putf(&l->text, "%s%lld", i > 1 ? ", " : "", (long long)v);
    if (v < 0 || v >= l->n)
      td_bind_fail(L, "step-selector", "a selector of n = %lld has no index %lld", (long long)l->n,
                   (long long)v);
    td_vec_push(a, &l->index, (int32_t)v);
    for (size_t k = l->index.n - 1; k > from && l->index.at[k - 1] >= l->index.at[k]; k--) {
      int32_t t = l->index.at[k];
      if (t == l->index.at[k - 1])
        td_bind_fail(L, "step-selector", "a selector names index %d twice", (int)t);
      l->index.at[k] = l->index.at[k - 1];
      l->index.at[k - 1] = t;
    }
  }
  td_text_puts(&l->text, " }");
}

/* The list at idx, `level` dimensions deep; all lists of one level are of one length. */
static void take_level(Lists *l, int idx, int level) {
  lua_State *L = l->c->L;
  luaL_checkstack(L, 8, "lists");
  idx = lua_absindex(L, idx);
  if (level == l->s->ndim) {
    td_vec_push(l->c->box->arena, &l->first, (uint32_t)l->index.n);
    take_indices(l, idx);
    return;
  }
  lua_Integer n = (lua_Integer)lua_rawlen(L, idx);
  if (l->s->extent[level] >= 0 && l->s->extent[level] != n)
    td_bind_fail(L, "step-selector", "lists of %lld and of %lld selectors in one dimension",
                 (long long)l->s->extent[level], (long long)n);
  l->s->extent[level] = n;
  td_text_puts(&l->text, "{ ");
  for (lua_Integer i = 1; i <= n; i++) {
    if (i > 1) td_text_puts(&l->text, ", ");
    if (lua_rawgeti(L, idx, i) != LUA_TTABLE) bad(l->c, -1, "lists of lists of indices");
    take_level(l, -1, level + 1);
    lua_pop(L, 1);
  }
  td_text_puts(&l->text, " }");
}

/* One-hot selectors from an integer tensor. */
static void take_one_hot(Lists *l, const TdTensor *t) {
  lua_State *L = l->c->L;
  TdArena *a = l->c->box->arena;
  int64_t index[TD_MAX_RANK] = {0}, n = td_tensor_count(t);
  l->s->ndim = td_tensor_rank(t);
  for (int k = 0; k < l->s->ndim; k++) l->s->extent[k] = t->extent[k];
  for (int64_t i = 0; i < n; i++) {
    int64_t v = (int64_t)td_tensor_get(t, index);
    if (v < 0 || v >= l->n)
      td_bind_fail(L, "step-selector", "a selector of n = %lld has no index %lld", (long long)l->n,
                   (long long)v);
    td_vec_push(a, &l->first, (uint32_t)i);
    td_vec_push(a, &l->index, (int32_t)v);
    td_tensor_next(t, index);
  }
}

static void take_selectors(Call *c, int idx, int options) {
  lua_State *L = c->L;
  TdArena *a = c->box->arena;
  int64_t n = 0;
  td_bind_opt_integer(L, options, "n", &n);
  if (n < 1) td_bind_fail(L, "step-selector", "step.selectors needs n = the number of ways");
  Lists l = {.c = c, .s = TD_NEW(a, TdStpSelectors), .text = td_text_new(a), .n = n};
  TdTensorBox *box = td_bind_test_tensor(L, idx);
  for (int k = 0; k < TD_STP_RANK; k++) l.s->extent[k] = -1;
  if (box && td_type_is_integer(box->tensor->type->elem)) {
    take_one_hot(&l, box->tensor);
  } else {
    if (!lua_istable(L, idx)) bad(c, idx, "a list of lists of indices, or an integer tensor");
    lua_pushvalue(L, idx);
    while (!is_leaf(L, -1)) {
      lua_rawgeti(L, -1, 1);
      lua_remove(L, -2);
      if (++l.s->ndim > TD_STP_RANK) bad(c, idx, "lists of at most 8 dimensions");
    }
    lua_pop(L, 1);
    if (!l.s->ndim) l.s->ndim = 1;
    take_level(&l, idx, 0);
  }
  td_vec_push(a, &l.first, (uint32_t)l.index.n);
  l.s->n = l.first.n - 1;
  l.s->first = l.first.at;
  l.s->index = l.index.at;
  l.s->text = td_text_str(&l.text);
  for (int k = 0; k < l.s->ndim; k++)
    if (l.s->extent[k] < 0) l.s->extent[k] = 0;
  c->node.sel = l.s;
}

/* ---- options ---- */

static void set_option(Call *c, const char *name, int64_t v) {
  TdStpKey k = td_stp_key_find(name);
  c->node.opt[k] = v;
  c->node.has |= 1u << k;
}

/* The place of a word among words divided by '|'. */
static int64_t take_word(Call *c, int idx, const char *words, size_t n) {
  const char *text = lua_type(c->L, idx) == LUA_TSTRING ? lua_tostring(c->L, idx) : "";
  int64_t at = 0;
  for (const char *w = words; w < words + n; at++) {
    size_t length = strcspn(w, "| ");
    if (strlen(text) == length && strncmp(w, text, length) == 0) return at;
    w += length + 1;
  }
  return bad(c, idx, td_text_fmt(c->scratch, "one of %.*s", (int)n, words));
}

static void take_pair(Call *c, int idx) {
  int64_t v[TD_STP_RANK];
  if (take_integers(c, idx, v) != 2) bad(c, idx, "{rows, cols}");
  c->node.rows = v[0];
  c->node.cols = v[1];
}

static void take_extra(Call *c, int idx) {
  const TdStpFn *f = luaL_testudata(c->L, idx, TD_CLASS_STP_FN);
  if (f && f->kind == TD_STP_FNS)
    c->node.is_empty_init = true;
  else
    c->node.extra = take_tensor(c, idx);
}

/* One option, of the kind that the row says. */
static void take_option(Call *c, const char *name, const char *kind, size_t n, int idx) {
  if (strncmp(kind, "int", n) == 0) {
    set_option(c, name, take_integer(c, idx));
  } else if (strncmp(kind, "bool", n) == 0) {
    set_option(c, name, lua_toboolean(c->L, idx));
  } else if (strncmp(kind, "pair", n) == 0) {
    take_pair(c, idx);
  } else if (strncmp(kind, "ints", n) == 0) {
    bool stride = strcmp(name, "stride") == 0;
    bool view = c->node.op == TD_STP_STREAMIFY && strcmp(name, "shape") == 0;
    TdStpNode *x = &c->node;
    int count = take_integers(c, idx, stride ? x->stride : view ? x->view : x->shape);
    if (!stride) *(view ? &x->nview : &x->nshape) = count;
    x->has_shape = true;
  } else if (strncmp(kind, "name", n) == 0) {
    if (lua_type(c->L, idx) != LUA_TSTRING) bad(c, idx, "a name");
    c->node.place = td_names_str(td_bind_enter(c->L)->session->names, lua_tostring(c->L, idx));
  } else if (strncmp(kind, "device", n) == 0) {
    set_option(c, name, take_word(c, idx, td_target_words + 1, strlen(td_target_words) - 1));
  } else if (strncmp(kind, "tensor", n) == 0) {
    take_extra(c, idx);
  } else if (strncmp(kind, "stream", n) == 0) {
    take_stream(c, idx);
    if (strcmp(name, "valid") == 0) c->node.has_valid = true;
    if (strcmp(name, "ref") == 0) c->node.has_ref = true;
  } else {
    set_option(c, name, take_word(c, idx, kind, n));
  }
}

/* Refuses a key that is no option of the operator. */
static void check_key(Call *c, const char *key) {
  static const char *const common[] = {"depth", "name"};
  const char *names[32];
  size_t n = 0;
  TdArena *a = c->scratch;
  for (const char *p = c->row->options; *p; p += strcspn(p, " "), p += *p == ' ') {
    names[n] = td_arena_strndup(a, p, strcspn(p, ":"));
    if (strcmp(names[n++], key) == 0) return;
  }
  for (size_t i = 0; i < 2; i++) {
    names[n++] = common[i];
    if (strcmp(common[i], key) == 0) return;
  }
  const char *near = td_text_nearest(key, names, n);
  TdText all = td_text_new(a);
  for (size_t i = 0; i < n; i++) td_text_putf(&all, "%s%s", i ? ", " : "", names[i]);
  td_bind_refuse(c->L, TD_USAGE, "unknown-option",
                 near ? td_text_fmt(a, "did you mean '%s'?", near)
                      : td_text_fmt(a, "there is %s", td_text_str(&all)),
                 "step.%s has no option '%s'", c->row->name, key);
}

static void take_options(Call *c, int idx) {
  lua_State *L = c->L;
  if (lua_isnoneornil(L, idx)) return;
  if (!lua_istable(L, idx)) bad(c, idx, "a table of options");
  for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) bad(c, idx, "options with names");
    check_key(c, lua_tostring(L, -2));
  }
  for (const char *p = c->row->options; *p; p += strcspn(p, " "), p += *p == ' ') {
    size_t n = strcspn(p, ":"), kind = strcspn(p + n + 1, " ");
    const char *name = td_arena_strndup(c->scratch, p, n);
    if (lua_getfield(L, idx, name) != LUA_TNIL)
      take_option(c, name, p + n + 1, kind, lua_gettop(L));
  }
  if (lua_getfield(L, idx, "depth") != LUA_TNIL) set_option(c, "depth", take_integer(c, -1));
  if (lua_getfield(L, idx, "name") == LUA_TSTRING)
    c->node.name = td_names_str(td_bind_enter(L)->session->names, lua_tostring(L, -1));
}

/* ---- calls ---- */

/* The arguments before the options, as the row says; the slot of the options. */
static int take_arguments(Call *c) {
  lua_State *L = c->L;
  TdStpOp op = c->node.op;
  int idx = 1, words = 0;
  for (const char *p = c->row->args; *p; p += strcspn(p, " "), p += *p == ' ') {
    size_t n = strcspn(p, " ");
    if (n == 7 && strncmp(p, "stream?", n) == 0) {
      if (!td_stp_test_stream(L, idx)) continue;
      c->node.has_ref = true;
      take_stream(c, idx++);
    } else if (strncmp(p, "streams", n) == 0 && n == 7) {
      take_streams(c, idx++);
    } else if (strncmp(p, "stream", n) == 0) {
      take_stream(c, idx++);
    } else if (strncmp(p, "tensor", n) == 0) {
      c->node.tensor = take_tensor(c, idx++);
    } else if (strncmp(p, "fn", n) == 0) {
      take_function(c, idx++);
    } else if (strncmp(p, "list", n) == 0) {
      take_selectors(c, idx, idx + 1);
      idx++;
    } else if (strncmp(p, "shape", n) == 0) {
      take_shape(c, idx++);
    } else if (strncmp(p, "word", n) == 0) {
      if (td_bind_test_type(L, idx))
        c->node.tensor.type = td_bind_test_type(L, idx);
      else
        take_word(c, idx, "selector", 8);
      idx++;
    } else if (op == TD_STP_FLATTEN) {
      *(words++ ? &c->node.hi : &c->node.lo) = take_integer(c, idx++);
    } else {
      set_option(c, "n", take_integer(c, idx++));
    }
  }
  return idx;
}

static bool is_alone(const Call *c) {
  return c->node.op == TD_STP_STORE || c->node.op == TD_STP_SINK;
}

/* Rows that say more than their kinds: what options must be there. */
static void check_options(Call *c) {
  TdStpNode *n = &c->node;
  if (n->op == TD_STP_STREAMIFY && n->has_ref && n->nshape > 0)
    td_bind_fail(c->L, "step-argument", "streamify takes either ref = a stream or times = {n}");
  for (int k = 0; n->op == TD_STP_STREAMIFY && k < n->nshape + n->nview; k++)
    if ((k < n->nshape ? n->shape[k] : n->view[k - n->nshape]) < 1)
      td_bind_fail(c->L, "step-argument", "streamify takes extents of at least 1");
  if (n->op == TD_STP_LOAD && n->has_shape && !n->has_ref && n->nshape < 1)
    td_bind_fail(c->L, "step-argument", "the shape of a load has at least one dimension");
  for (int k = 0; k < TD_STP_KEYS; k++)
    if ((n->has >> k & 1) && n->opt[k] < 0)
      td_bind_fail(c->L, "step-argument", "option '%s' is not negative",
                   td_stp_key_name((TdStpKey)k));
  static const TdStpKey least[] = {TD_STP_KEY_PORTS, TD_STP_KEY_BW, TD_STP_KEY_DEPTH,
                                   TD_STP_KEY_AHEAD};
  for (size_t i = 0; i < sizeof least / sizeof *least; i++)
    if ((n->has >> least[i] & 1) && n->opt[least[i]] < 1)
      td_bind_fail(c->L, "step-argument", "option '%s' is at least 1", td_stp_key_name(least[i]));
  if (td_stp_opt(n, TD_STP_KEY_AHEAD, 1) > TD_STP_AHEAD)
    td_bind_fail(c->L, "step-argument", "option 'ahead' is at most %d", TD_STP_AHEAD);
  if (n->op == TD_STP_FEEDBACK && !n->tensor.type && td_stp_opt(n, TD_STP_KEY_N, 0) < 1)
    td_bind_fail(c->L, "step-argument", "a loop of selectors needs n = the number of ways");
  if ((n->has >> TD_STP_KEY_TIME & 1) && n->opt[TD_STP_KEY_TIME] && n->fn.kind != TD_STP_FN_KERNEL)
    td_bind_refuse(c->L, TD_USAGE, "step-argument",
                   "give the function as a kernel, a schedule or a design",
                   "time is of kernels: the cycles of %s are its FLOPs over bw", n->fn.name);
  if (n->op == TD_STP_VALUES && (!n->tensor.data || !td_type_is_integer(n->tensor.type->elem)))
    td_bind_fail(c->L, "step-argument", "step.values takes a tensor of integers, with its data");
}

/* Strides of a shape that is given without: row by row. */
static void settle_stride(Call *c, int options) {
  TdStpNode *n = &c->node;
  bool view = n->op == TD_STP_STREAMIFY;
  if ((n->op != TD_STP_LOAD && !view) || !n->has_shape) return;
  const int64_t *shape = view ? n->view : n->shape;
  int count = view ? n->nview : n->nshape;
  bool given = lua_istable(c->L, options) && lua_getfield(c->L, options, "stride") != LUA_TNIL;
  if (given) {
    if ((int)lua_rawlen(c->L, -1) != count)
      td_bind_fail(c->L, "step-argument", "shape and stride have as many integers");
    return;
  }
  int64_t step = 1;
  for (int k = count; k-- > 0; step *= shape[k]) n->stride[k] = step;
}

/* Pushes what the operator returns. */
static int push_results(Call *c, const TdStpNode *n) {
  lua_State *L = c->L;
  if (is_alone(c)) return 0;
  bool list = n->op == TD_STP_PARTITION || n->op == TD_STP_PARALLELIZE;
  if (list) lua_createtable(L, (int)n->nout, 0);
  for (size_t i = 0; i < n->nout; i++) {
    td_stp_push_stream(L, c->graph, (TdStpRef){n->uid, (uint16_t)i});
    if (list) lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return list ? 1 : (int)n->nout;
}

/* Drops the second result of a call that stands last, x:zip(y:reshape {..}): it is no argument. */
static void drop_second(lua_State *L) {
  int top = lua_gettop(L);
  TdStpStreamBox *x = top > 1 ? td_stp_test_stream(L, top) : NULL;
  TdStpStreamBox *y = x ? td_stp_test_stream(L, top - 1) : NULL;
  if (y && x->box == y->box && x->ref.uid == y->ref.uid && x->ref.out == 1 && !y->ref.out &&
      td_stp_graph_node(x->box->graph, x->ref.uid)->op == TD_STP_RESHAPE)
    lua_settop(L, top - 1);
}

static int l_operator(lua_State *L) {
  TdStpOp op = (TdStpOp)lua_tointeger(L, lua_upvalueindex(1));
  drop_second(L);
  int top = lua_gettop(L);
  TdStpBox *box = td_stp_push_building(L);
  Call c = {.L = L,
            .box = box,
            .graph = top + 1,
            .scratch = td_bind_arena(L),
            .row = &td_stp_ops[op],
            .node = {.op = op}};
  TdStpSite site = td_stp_site(L, box, c.row->name);
  luaL_checkstack(L, 80, "operator");
  int options = take_arguments(&c);
  if (top > options) bad(&c, options + 1, "nothing more");
  if (options <= top) take_options(&c, options);
  settle_stride(&c, options);
  check_options(&c);
  if (!c.node.name)
    c.node.name =
        td_names_str(td_bind_enter(L)->session->names, site.name ? site.name : c.row->name);
  c.node.loc = site.loc;
  c.node.site = site.id;
  c.node.in = c.in.at;
  c.node.nin = c.in.n;
  TdDiag d = td_bind_diag(c.scratch);
  const TdStpNode *n = td_stp_graph_add(box->graph, &c.node, &d);
  if (!n) td_bind_raise(L, &d);
  return push_results(&c, n);
}

/* step.close(loop, y) */
static int l_close(lua_State *L) {
  TdStpStreamBox *loop = td_stp_test_stream(L, 1), *y = td_stp_test_stream(L, 2);
  if (!loop || !y) td_bind_fail(L, "step-argument", "close takes a loop and the stream that it is");
  TdStpBox *box = td_stp_push_building(L);
  TdDiag d = td_bind_diag(td_bind_arena(L));
  if (!td_stp_graph_close(box->graph, loop->ref.uid, y->ref, td_bind_caller(L), &d))
    td_bind_raise(L, &d);
  return 0;
}

void td_stp_set_operators(lua_State *L) {
  for (int k = 0; k < TD_STP_OPS; k++) {
    lua_pushinteger(L, k);
    lua_pushcclosure(L, l_operator, 1);
    lua_setfield(L, -2, td_stp_ops[k].name);
  }
  lua_pushcfunction(L, l_close);
  lua_setfield(L, -2, "close");
}
