/* tensor.c - tensors as Lua values: their memory, their elements, their rows. */
#include <inttypes.h>
#include <string.h>

#include "bind/value/tensor.h"
#include "bind/program/unit.h"

#define CLASS_MEMORY "tide.memory"

#define ROWS_KEPT                                                                                  \
  4096 /* views of rows that a tensor keeps; others last while somebody holds them */

enum { OWNER = 1, ROWS }; /* user values of a tensor */

/* A view and what it says. */
typedef struct View {
  TdTensorBox box;
  TdTensor tensor;
} View;

static int l_memory_gc(lua_State *L) {
  TdTensorMemory *memory = lua_touserdata(L, 1);
  td_arena_free(memory->arena);
  memory->arena = NULL;
  return 0;
}

/* Bytes from which on a tensor is asked for before it is made: a refusal has its line. */
#define LARGE ((int64_t)1 << 26)

/* Raises unless a tensor of type t has constant extents and there is memory for it. */
static void check_size(lua_State *L, const TdType *t) {
  int64_t most = (int64_t)1 << 62, bytes = (int64_t)td_type_bytes(td_type_scalar(t)), extent;
  for (int d = 0; d < t->rank; d++) {
    if (!td_type_extent(t, d, &extent))
      td_bind_fail(L, "unbound-size", "a tensor of type %s needs values for its sizes",
                   td_type_str(td_bind_arena(L), t));
    if (extent > 0) most /= extent;
    bytes = most < bytes ? bytes : bytes * extent;
  }
  bool addressed = most >= (int64_t)td_type_bytes(t);
  if (!addressed || (bytes >= LARGE && !td_ctx_has(td_bind_enter(L)->ctx, (size_t)bytes)))
    td_bind_refuse(L, TD_LIMIT, "memory", NULL,
                   "not enough memory: a tensor of type %s is too large",
                   td_type_str(td_bind_arena(L), t));
}

/* Pushes a zeroed tensor box of n bytes without memory. */
static TdTensorBox *push_box(lua_State *L, size_t n) {
  TdTensorBox *b = memset(lua_newuserdatauv(L, n, 2), 0, n);
  luaL_setmetatable(L, TD_CLASS_TENSOR);
  return b;
}

TdTensorBox *td_bind_push_owner(lua_State *L) {
  TdBind *b = td_bind_enter(L);
  TdTensorBox *box = push_box(L, sizeof *box);
  TdTensorMemory *memory = lua_newuserdatauv(L, sizeof *memory, 0);
  *memory = (TdTensorMemory){.rows = ROWS_KEPT};
  luaL_setmetatable(L, CLASS_MEMORY);
  lua_setiuservalue(L, -2, OWNER);
  box->memory = memory;
  memory->arena = td_arena_new(b->ctx);
  return box;
}

TdTensor *td_bind_push_tensor(lua_State *L, const TdType *t, bool declared) {
  check_size(L, t);
  TdTensorBox *box = td_bind_push_owner(L);
  box->tensor = td_tensor_new(box->memory->arena, t, declared);
  td_bind_account(L);
  return box->tensor;
}

TdTensorBox *td_bind_push_view(lua_State *L, int idx, const TdTensor *v) {
  idx = lua_absindex(L, idx);
  const TdTensorBox *base = lua_touserdata(L, idx);
  View *view = (View *)push_box(L, sizeof *view);
  view->tensor = *v;
  view->box.tensor = &view->tensor;
  view->box.memory = base->memory;
  lua_getiuservalue(L, idx, OWNER);
  lua_setiuservalue(L, -2, OWNER);
  return &view->box;
}

TdTensorBox *td_bind_test_tensor(lua_State *L, int idx) {
  TdTensorBox *b = luaL_testudata(L, idx, TD_CLASS_TENSOR);
  if (!b || !b->memory->arena) return NULL;
  if (b->restored) td_bind_state_turn(L, b);
  return b;
}

TdTensorBox *td_bind_check_box(lua_State *L, int idx) {
  TdTensorBox *b = td_bind_test_tensor(L, idx);
  if (!b) td_bind_fail(L, "arguments", "a tensor is expected here, not %s", td_bind_words(L, idx));
  return b;
}

TdTensor *td_bind_check_tensor(lua_State *L, int idx) {
  return td_bind_check_box(L, idx)->tensor;
}

void td_bind_put_index(TdText *out, const int64_t *index, int n, int64_t from) {
  for (int d = 0; d < n; d++) td_text_putf(out, "[%" PRId64 "]", index[d] + from);
}

/* Raises that element `index` of t is read before it is written. */
static int refuse_unwritten(lua_State *L, const TdTensor *t, const int64_t *index) {
  TdText at = td_text_new(td_bind_arena(L));
  td_bind_put_index(&at, index, t->type->rank, 0);
  return td_bind_refuse(L, TD_ILLEGAL, "uninitialised", "T[..](0) starts with zeros",
                        "element %s of a %s is read before it is written", td_text_str(&at),
                        td_type_str(at.arena, t->type));
}

static int refuse_wide(lua_State *L, const TdTensor *t) {
  TdArena *a = td_bind_arena(L);
  return td_bind_refuse(L, TD_USAGE, "too-wide",
                        "store or convert it to a type of at most 64 bits first",
                        "elements of %s have more bits than a Lua number", td_type_str(a, t->type));
}

void td_bind_check_written(lua_State *L, const TdTensor *t) {
  int64_t index[TD_MAX_RANK];
  if (td_tensor_first_unwritten(td_bind_enter(L)->ctx, t, index)) refuse_unwritten(L, t, index);
}

void td_bind_check_readable(lua_State *L, const TdTensor *t) {
  if (td_type_scalar(t->type)->w > 64) refuse_wide(L, t);
  td_bind_check_written(L, t);
}

bool td_bind_same_shape(const TdType *x, const TdType *y) {
  return x->rank == y->rank && memcmp(x->dim, y->dim, x->rank * sizeof *x->dim) == 0;
}

void td_bind_check_shapes(lua_State *L, const TdType *x, const TdType *y) {
  TdArena *a = td_bind_arena(L);
  if (!td_bind_same_shape(x, y))
    td_bind_refuse(L, TD_USAGE, "shapes",
                   "tensors combine when shapes are equal or one side is a scalar",
                   "shapes differ: %s and %s", td_type_str(a, x), td_type_str(a, y));
}

/* The tensor at 1, for metamethods whose first upvalue is the metatable of tensors. */
static TdTensorBox *self(lua_State *L) {
  TdTensorBox *b = lua_touserdata(L, 1);
  bool is_tensor = false;
  if (b && lua_getmetatable(L, 1)) {
    is_tensor = lua_rawequal(L, -1, lua_upvalueindex(1)) && b->memory->arena;
    lua_pop(L, 1);
  }
  if (!is_tensor) return td_bind_check_box(L, 1);
  if (b->restored) td_bind_state_turn(L, b);
  return b;
}

/* The first index of b at stack slot 2, or raises. */
static int64_t check_index(lua_State *L, const TdTensorBox *b) {
  int whole;
  lua_Integer i = lua_tointegerx(L, 2, &whole);
  int64_t extent = b->tensor->extent[0];
  if (!whole)
    td_bind_fail(L, "index-type", "an index must be an integer, not %s", td_bind_words(L, 2));
  if (i < 0 || i >= extent)
    td_bind_refuse(L, TD_ILLEGAL, "index-range", extent ? "indices count from 0" : NULL,
                   "index %lld is out of range: dimension %d has extent %" PRId64, (long long)i,
                   b->above, extent);
  return i;
}

/* Pushes a view of row i of the tensor at 1, which has no such view yet; keeps it in the table on
 * top. */
static void make_row(lua_State *L, TdTensorBox *b, int64_t i) {
  const TdTensor *t = b->tensor;
  const TdType *type = t->type;
  if (!b->row)
    b->row = td_type_tensor(td_bind_enter(L)->session, type->elem, type->rank - 1, type->dim + 1);
  ptrdiff_t skip = (ptrdiff_t)(i * t->stride[0]);
  TdTensor v = {.type = b->row, .data = t->data + skip * (ptrdiff_t)td_type_bytes(type)};
  if (t->written) v.written = t->written + skip;
  for (int d = 1; d < type->rank; d++)
    v.extent[d - 1] = t->extent[d], v.stride[d - 1] = t->stride[d];
  td_bind_push_view(L, 1, &v)->above = b->above + 1;
  lua_pushvalue(L, -1);
  lua_rawseti(L, -3, i + 1);
}

/* Pushes the table of the rows of the tensor at 1. It holds them weakly when they are too many to
 * be kept; the second upvalue is the metatable for that. */
static void push_rows(lua_State *L, TdTensorBox *b) {
  if (lua_getiuservalue(L, 1, ROWS) != LUA_TNIL) return;
  int64_t n = b->tensor->extent[0];
  lua_newtable(L);
  if (n <= b->memory->rows) {
    b->memory->rows -= n;
  } else {
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_setmetatable(L, -2);
  }
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, 1, ROWS);
}

/* Pushes t[i], the same value each time while somebody holds it. */
static int push_row(lua_State *L, TdTensorBox *b, int64_t i) {
  push_rows(L, b);
  if (lua_rawgeti(L, -1, i + 1) == LUA_TNIL) {
    lua_pop(L, 1);
    make_row(L, b, i);
  }
  return 1;
}

/* Pushes a field or method of b; raises when there is none. */
static int push_field(lua_State *L, const TdTensorBox *b, const char *key) {
  if (strcmp(key, "type") == 0) {
    td_bind_push_type(L, b->tensor->type);
    return 1;
  }
  if (strcmp(key, "shape") != 0) return td_bind_method(L, TD_CLASS_TENSOR, key);
  int rank = b->tensor->type->rank;
  lua_createtable(L, rank, 0);
  for (int d = 0; d < rank; d++) {
    lua_pushinteger(L, b->tensor->extent[d]);
    lua_rawseti(L, -2, d + 1);
  }
  return 1;
}

/* t[i], t.field, t:method */
static int l_tensor_index(lua_State *L) {
  TdTensorBox *b = self(L);
  if (lua_type(L, 2) == LUA_TSTRING) return push_field(L, b, lua_tostring(L, 2));
  int64_t i = check_index(L, b);
  const TdTensor *t = b->tensor;
  if (t->type->rank > 1) return push_row(L, b, i);
  const TdType *e = t->type->elem;
  ptrdiff_t p = (ptrdiff_t)(i * t->stride[0]);
  if (t->written && !t->written[p]) return refuse_unwritten(L, t, &i);
  if (e->w > 64) return refuse_wide(L, t);
  td_bind_push_bits(L, e, td_num_load(e, t->data + p * (ptrdiff_t)td_type_bytes(e)));
  return 1;
}

/* t[i] = v */
static int l_tensor_newindex(lua_State *L) {
  TdTensorBox *b = self(L);
  TdTensor *t = b->tensor;
  if (lua_type(L, 2) == LUA_TSTRING)
    td_bind_fail(L, "arguments", "a tensor has no field '%s' to set", lua_tostring(L, 2));
  int64_t i = check_index(L, b);
  if (t->type->rank > 1)
    td_bind_refuse(L, TD_USAGE, "rank", "t[i]:set(x) writes all of a row",
                   "only an element can be assigned: this has %d more dimensions",
                   t->type->rank - 1);
  uint64_t bits;
  if (!td_bind_to_stored(L, 3, t->type->elem, &bits)) td_bind_fail_stored(L, 3, t->type->elem, "");
  td_tensor_put(t, &i, bits);
  return 0;
}

static int l_tensor_len(lua_State *L) {
  lua_pushinteger(L, td_bind_check_tensor(L, 1)->extent[0]);
  return 1;
}

/* Gives the metatable on top the metamethods that reach elements, with their upvalues. */
static void set_access(lua_State *L) {
  static const luaL_Reg access[] = {
      {"__index", l_tensor_index}, {"__newindex", l_tensor_newindex}, {NULL, NULL}};
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  for (const luaL_Reg *f = access; f->name; f++) {
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_pushcclosure(L, f->func, 2);
    lua_setfield(L, -3, f->name);
  }
  lua_pop(L, 1);
}

void td_bind_open_tensor(lua_State *L) {
  static const luaL_Reg memory[] = {{"__gc", l_memory_gc}, {NULL, NULL}};
  static const luaL_Reg meta[] = {
      {"__len", l_tensor_len}, {"__tostring", td_bind_tensor_tostring}, {NULL, NULL}};
  static const luaL_Reg methods[] = {{"slice", td_bind_tensor_slice},
                                     {"transpose", td_bind_tensor_transpose},
                                     {"set", td_bind_tensor_set},
                                     {"copy", td_bind_tensor_copy},
                                     {"table", td_bind_tensor_table},
                                     {"reset", td_bind_tensor_reset},
                                     {"equal", td_bind_tensor_equal},
                                     {"allclose", td_bind_tensor_allclose},
                                     {"save", td_bind_tensor_save},
                                     {"show", td_bind_tensor_show},
                                     {NULL, NULL}};
  td_bind_class(L, CLASS_MEMORY, memory, NULL);
  td_bind_class(L, TD_CLASS_TENSOR, meta, methods);
  td_bind_class_fields(L, "type shape");
  set_access(L);
  lua_pop(L, 2);
  td_bind_open_fill(L);
  td_bind_open_random(L);
  td_bind_open_file(L);
  td_bind_open_op(L);
  td_bind_open_reduce(L);
  td_bind_open_grid(L);
}
