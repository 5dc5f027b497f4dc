/* layout_op.c - what layouts can do: places of coordinates, algebra, overlaps, conflicts of banks,
 * pictures. */
#include <string.h>

#include "bind/program/unit.h"
#include "bind/value/layout.h"

/* The layout at idx with places, or raises with what it lacks. */
static const TdLayout *check_known(lua_State *L, int idx) {
  const TdLayoutBox *box = td_bind_check_layout_value(L, idx);
  if (!box->known)
    td_bind_refuse(L, TD_USAGE, "layout", NULL, "%s has no places yet: %s",
                   td_bind_layout_str(td_bind_arena(L), box), box->lacks);
  return &box->of;
}

/* Raises a refusal of an operation, or pushes what it made. */
static int push_made(lua_State *L, bool ok, const char *code, const char *help,
                     const TdLayout *made, const char *why) {
  if (!ok) return td_bind_refuse(L, TD_USAGE, code, help, "%s", why);
  int64_t lo, hi;
  td_layout_range(made, &lo, &hi);
  td_bind_push_layout(L, made)->known = true;
  return 1;
}

/* Raises: a coordinate, or an ordinal, that is out of range. */
static int out_of_range(lua_State *L, const char *what, int64_t v, int64_t n) {
  return td_bind_refuse(L, TD_USAGE, "layout-index", NULL, "%s is %lld, and goes from 0 to %lld",
                        what, (long long)v, (long long)n - 1);
}

/* The ordinal that the arguments from slot 2 on are: one for each coordinate, or itself. */
static int64_t read_ordinal(lua_State *L, const TdLayout *l) {
  int n = lua_gettop(L) - 1;
  int64_t ordinal = 0, count = td_layout_count(l);
  if (n != l->rank && n != 1)
    td_bind_refuse(L, TD_USAGE, "layout-index", "L(i, j), or L(ordinal)",
                   "%d coordinates are given, and the layout has %d", n, l->rank);
  for (int r = 0; r < n; r++) {
    int ok;
    int64_t v = lua_tointegerx(L, r + 2, &ok),
            extent = n == l->rank ? td_layout_extent(l, r) : count;
    if (!ok)
      td_bind_refuse(L, TD_USAGE, "layout-index", NULL, "a coordinate is an integer, not %s",
                     td_bind_words(L, r + 2));
    if (v < 0 || v >= extent)
      out_of_range(L,
                   n == l->rank ? td_text_fmt(td_bind_arena(L), "coordinate %d", r) : "the ordinal",
                   v, extent);
    ordinal = ordinal * extent + v;
  }
  return ordinal;
}

/* Pushes a place: a number, or the value of each axis by name. */
static void push_place(lua_State *L, const TdLayout *l, int64_t place) {
  if (!l->naxis) {
    lua_pushinteger(L, place);
    return;
  }
  lua_createtable(L, 0, l->naxis);
  for (int k = 0; k < l->naxis; k++)
    td_bind_set_integer(L, l->axis[k].name, td_layout_on(l, place, k));
}

static int l_call(lua_State *L) {
  const TdLayout *l = check_known(L, 1);
  push_place(L, l, td_desc_place(&l->at, read_ordinal(L, l)));
  return 1;
}

static int l_len(lua_State *L) {
  lua_pushinteger(L, td_layout_count(check_known(L, 1)));
  return 1;
}

static int l_eq(lua_State *L) {
  const TdLayoutBox *x = td_bind_test_layout(L, 1), *y = td_bind_test_layout(L, 2);
  bool same = x && y;
  if (same && x->known && y->known)
    same = td_layout_same(&x->of, &y->of);
  else if (same)
    same = x->known == y->known && x->type == y->type && x->text == y->text;
  lua_pushboolean(L, same);
  return 1;
}

static int l_normal(lua_State *L) {
  TdLayout out;
  const char *why;
  const TdLayout *l = check_known(L, 1);
  bool ok = td_layout_normal(td_bind_arena(L), l, &out, &why);
  return push_made(L, ok, "layout", NULL, &out, why);
}

static int l_inverse(lua_State *L) {
  TdLayout out;
  const char *why = NULL;
  const TdLayout *l = check_known(L, 1);
  bool ok = td_layout_inverse(td_bind_arena(L), l, &out, &why);
  return push_made(L, ok, "no-inverse",
                   "an inverse exists where the places are [0, #L), each once: {{4, 1}, {8, 4}}",
                   &out, why);
}

/* L:compose(M): L(M(i)); L:compose(M, N, ..): by coordinate. */
static int l_compose(lua_State *L) {
  TdLayout out;
  const char *why = NULL;
  const TdLayout *l = check_known(L, 1), *m[TD_LAYOUT_RANK];
  int n = lua_gettop(L) - 1;
  for (int i = 0; i < n && i < TD_LAYOUT_RANK; i++) m[i] = check_known(L, i + 2);
  TdArena *a = td_bind_arena(L);
  bool ok = n == 1                ? td_layout_compose(a, l, m[0], &out, &why)
            : n <= TD_LAYOUT_RANK ? td_layout_compose_each(a, l, m, n, &out, &why)
                                  : (why = "too many layouts are given", false);
  return push_made(L, ok, "carry",
                   "L:compose(M)(i) is L(M(i)): M's strides must be made of L's digits", &out, why);
}

static int l_divide(lua_State *L) {
  TdLayout out;
  const char *why = NULL;
  const TdLayout *l = check_known(L, 1), *m = check_known(L, 2);
  bool ok = td_layout_divide(td_bind_arena(L), l, m, &out, &why);
  return push_made(L, ok, "carry", "the tile reaches ordinals of L, as {{4, 2}}", &out, why);
}

static int l_product(lua_State *L) {
  TdLayout out;
  const char *why = NULL;
  const TdLayout *l = check_known(L, 1), *m = check_known(L, 2);
  bool ok = td_layout_product(td_bind_arena(L), l, m, &out, &why);
  return push_made(L, ok, "carry", "L:product(M) is #M copies of L, in M's order", &out, why);
}

static int l_complement(lua_State *L) {
  TdLayout out;
  const char *why = NULL;
  const TdLayout *l = check_known(L, 1);
  int64_t n = luaL_checkinteger(L, 2);
  if (n < 1 || n > INT64_C(1) << 56) out_of_range(L, "the number of places", n, INT64_C(1) << 56);
  bool ok = td_layout_complement(td_bind_arena(L), l, n, &out, &why);
  return push_made(L, ok, "no-complement",
                   "each digit must step over all that lies inside it: {{4, 6}, {2, 1}}", &out,
                   why);
}

/* Reads integers from slot 2 on, one for each coordinate. */
static void read_each(lua_State *L, const TdLayout *l, const char *what, int64_t *v) {
  int n = lua_gettop(L) - 1;
  if (n != l->rank)
    td_bind_refuse(L, TD_USAGE, "layout-index", NULL,
                   "%d %s are given, and the layout has %d "
                   "coordinates",
                   n, what, l->rank);
  for (int r = 0; r < n; r++) v[r] = luaL_checkinteger(L, r + 2);
}

static int l_permute(lua_State *L) {
  TdLayout out;
  int64_t order[TD_LAYOUT_RANK];
  const char *why = NULL;
  const TdLayout *l = check_known(L, 1);
  read_each(L, l, "places", order);
  bool ok = td_layout_permute(td_bind_arena(L), l, order, l->rank, &out, &why);
  return push_made(L, ok, "layout-index", "L:permute(1, 0) turns two coordinates round", &out, why);
}

static int l_tile(lua_State *L) {
  TdLayout out;
  int64_t size[TD_LAYOUT_RANK];
  const char *why = NULL;
  const TdLayout *l = check_known(L, 1);
  read_each(L, l, "sizes", size);
  bool ok = td_layout_tile(td_bind_arena(L), l, size, &out, &why);
  return push_made(L, ok, "layout-tile", "take sizes that divide the coordinates", &out, why);
}

/* L:slice(3, {}, {2, 5}): a coordinate at one value goes, {} or nil keeps it, a half-open range
 * keeps part, as slices of tensors do. */
static int l_slice(lua_State *L) {
  TdLayout out;
  int64_t lo[TD_LAYOUT_RANK], hi[TD_LAYOUT_RANK];
  bool kept[TD_LAYOUT_RANK];
  const char *why = NULL;
  const TdLayout *l = check_known(L, 1);
  if (lua_gettop(L) - 1 > l->rank)
    td_bind_refuse(L, TD_USAGE, "layout-index", "L:slice(3, {}, {2, 5})",
                   "%d coordinates are given, and the layout has %d", lua_gettop(L) - 1, l->rank);
  lua_settop(L, l->rank + 1);
  for (int r = 0; r < l->rank; r++) {
    lo[r] = 0;
    hi[r] = td_layout_extent(l, r) - 1;
    kept[r] = !lua_isinteger(L, r + 2);
    if (!kept[r]) {
      lo[r] = hi[r] = lua_tointeger(L, r + 2);
    } else if (lua_istable(L, r + 2) && lua_rawlen(L, r + 2) > 0) {
      lua_rawgeti(L, r + 2, 1);
      lua_rawgeti(L, r + 2, 2);
      lo[r] = luaL_checkinteger(L, -2);
      hi[r] = luaL_checkinteger(L, -1) - 1;
      lua_pop(L, 2);
    } else if (!lua_isnil(L, r + 2) && !lua_istable(L, r + 2)) {
      td_bind_refuse(L, TD_USAGE, "layout-index", "L:slice(3, {}, {2, 5})",
                     "a coordinate is sliced at an integer, {} or {lo, hi}, not %s",
                     td_bind_words(L, r + 2));
    }
  }
  bool ok = td_layout_slice(td_bind_arena(L), l, lo, hi, kept, &out, &why);
  return push_made(L, ok, "layout-index", "L:slice(3, {}, {2, 5})", &out, why);
}

/* Raises where places are more than are looked at one by one. */
static int too_large(lua_State *L) {
  return td_bind_refuse(L, TD_LIMIT, "too-large", "take a slice of it first",
                        "the layout has more places than are looked at one by one");
}

/* L:overlaps(M): false, or true and {place =, left =, right =}. */
static int l_overlaps(lua_State *L) {
  const TdLayout *l = check_known(L, 1), *m = check_known(L, 2);
  TdLayoutMeet meet;
  TdLayoutAnswer answer = td_layout_overlap(td_bind_arena(L), l, m, &meet);
  if (answer == TD_LAYOUT_TOO_LARGE) return too_large(L);
  lua_pushboolean(L, answer == TD_LAYOUT_YES);
  if (answer == TD_LAYOUT_NO) return 1;
  lua_createtable(L, 0, 3);
  push_place(L, l, meet.place);
  lua_setfield(L, -2, "place");
  td_bind_set_integer(L, "left", meet.left);
  td_bind_set_integer(L, "right", meet.right);
  return 2;
}

/* Pushes the witness of a conflict; its text is what it says. */
static void push_conflict(lua_State *L, TdArena *a, const TdLayout *l, const TdLayoutConflict *c) {
  lua_createtable(L, 0, 6);
  td_bind_set_integer(L, "cycle", c->cycle);
  td_bind_set_integer(L, "cycles", c->cycles);
  td_bind_set_integer(L, "ways", c->ways);
  td_bind_set_integer(L, "bank", c->bank);
  lua_createtable(L, 2, 0);
  lua_createtable(L, 2, 0);
  for (int k = 0; k < 2; k++) {
    lua_pushinteger(L, c->lane[k]);
    lua_rawseti(L, -3, k + 1);
    push_place(L, l, c->place[k]);
    lua_rawseti(L, -2, k + 1);
  }
  lua_setfield(L, -3, "places");
  lua_setfield(L, -2, "lanes");
  td_bind_set_string(
      L, "text",
      td_text_fmt(a,
                  "cycle %lld: lanes %lld and %lld reach places %lld and %lld of bank %lld, which "
                  "%lld lanes want; so it is in %lld cycle%s",
                  (long long)c->cycle, (long long)c->lane[0], (long long)c->lane[1],
                  (long long)c->place[0], (long long)c->place[1], (long long)c->bank,
                  (long long)c->ways, (long long)c->cycles, c->cycles == 1 ? "" : "s"));
}

static bool has_banks(const TdLayout *l) {
  for (int k = 0; k < l->naxis; k++)
    if (strncmp(l->axis[k].name, "bank", 4) == 0) return true;
  return false;
}

/* L:conflicts {lanes = f, banks = n, word = w}: nil, or the worst cycle. */
static int l_conflicts(lua_State *L) {
  static const char *const options[] = {"lanes", "banks", "word", NULL};
  static const char help[] = "L:conflicts {lanes = 8, banks = 8}";
  lua_settop(L, 2);
  const TdLayout *l = check_known(L, 1);
  int64_t lanes = 0, banks = 0, word = 1;
  TdLayoutConflict c;
  if (!td_bind_check_options(L, 2, options) || !td_bind_opt_integer(L, 2, "lanes", &lanes))
    td_bind_refuse(L, TD_USAGE, "layout-banks", help,
                   "lanes says how many ordinals one cycle takes");
  td_bind_opt_integer(L, 2, "banks", &banks);
  td_bind_opt_integer(L, 2, "word", &word);
  if (lanes < 1 || lanes > 1024 || banks < 0 || word < 1)
    td_bind_refuse(L, TD_USAGE, "layout-banks", help,
                   "lanes (1 to 1024), banks and word are positive");
  if (!banks && !has_banks(l))
    td_bind_refuse(L, TD_USAGE, "layout-banks", help,
                   "banks is not given, and the layout has no axis of banks");
  TdArena *a = td_bind_arena(L);
  TdLayoutAnswer answer = td_layout_conflict(a, l, lanes, banks, word, &c);
  if (answer == TD_LAYOUT_TOO_LARGE) return too_large(L);
  if (answer == TD_LAYOUT_NO) {
    lua_pushnil(L);
    return 1;
  }
  push_conflict(L, a, l, &c);
  luaL_setmetatable(L, "tide.conflict");
  return 1;
}

static int l_conflict_tostring(lua_State *L) {
  lua_getfield(L, 1, "text");
  return 1;
}

/* L:addresses(): the places in order, as numbers. */
static int l_addresses(lua_State *L) {
  const TdLayout *l = check_known(L, 1);
  int64_t n = td_layout_count(l);
  if (n > TD_LAYOUT_MOST) return too_large(L);
  lua_createtable(L, (int)n, 0);
  for (int64_t i = 0; i < n; i++) {
    lua_pushinteger(L, td_desc_place(&l->at, i));
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* Calls a function of stdlib's drawings of layouts, the upvalue, with the arguments. */
static int l_draw(lua_State *L) {
  check_known(L, 1);
  lua_settop(L, 2);
  td_stdlib_push_module(L, "tide.tool.places");
  lua_getfield(L, -1, lua_tostring(L, lua_upvalueindex(1)));
  lua_insert(L, 1);
  lua_settop(L, 3);
  lua_call(L, 2, 1);
  return 1;
}

/* Pushes {{8, 128}, ..}: each digit, or axis, as a pair. */
static void push_digits(lua_State *L, const TdLayout *l) {
  lua_createtable(L, l->at.n, 0);
  for (int k = 0; k < l->at.n; k++) {
    lua_createtable(L, 2, 0);
    lua_pushinteger(L, l->at.at[k].n);
    lua_rawseti(L, -2, 1);
    lua_pushinteger(L, l->at.at[k].s);
    lua_rawseti(L, -2, 2);
    lua_rawseti(L, -2, k + 1);
  }
}

static void push_axes(lua_State *L, const TdLayout *l) {
  lua_createtable(L, l->naxis, 0);
  for (int k = 0; k < l->naxis; k++) {
    lua_createtable(L, 2, 0);
    lua_pushstring(L, l->axis[k].name);
    lua_rawseti(L, -2, 1);
    lua_pushinteger(L, l->axis[k].n);
    lua_rawseti(L, -2, 2);
    lua_rawseti(L, -2, k + 1);
  }
}

static void push_shape(lua_State *L, const TdLayout *l) {
  lua_createtable(L, l->rank, 0);
  for (int r = 0; r < l->rank; r++) {
    lua_pushinteger(L, td_layout_extent(l, r));
    lua_rawseti(L, -2, r + 1);
  }
}

/* Pushes a field; false when that is none. */
static bool push_field(lua_State *L, const TdLayoutBox *box, const char *key) {
  if (strcmp(key, "type") == 0 && box->type)
    td_bind_push_type(L, box->type);
  else if (strcmp(key, "text") == 0 && box->text)
    lua_pushstring(L, box->text);
  else if (strcmp(key, "known") == 0)
    lua_pushboolean(L, box->known);
  else if (strcmp(key, "kind") == 0 && box->kind)
    lua_pushstring(L, box->kind);
  else if (strcmp(key, "factor") == 0 && box->factor)
    lua_pushinteger(L, box->factor);
  else if (strcmp(key, "shape") == 0 && box->known)
    push_shape(L, &box->of);
  else if (strcmp(key, "digits") == 0 && box->known)
    push_digits(L, &box->of);
  else if (strcmp(key, "offset") == 0 && box->known)
    lua_pushinteger(L, box->of.at.offset);
  else if (strcmp(key, "place") == 0 && box->known)
    push_axes(L, &box->of);
  else
    return false;
  return true;
}

static const char fields[] = "type text known kind factor shape digits offset place";

static int l_index(lua_State *L) {
  const TdLayoutBox *box = luaL_checkudata(L, 1, TD_CLASS_LAYOUT);
  const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
  if (push_field(L, box, key)) return 1;
  for (const char *f = fields; *f; f += strcspn(f, " "), f += *f == ' ') {
    if (strlen(key) != strcspn(f, " ") || strncmp(f, key, strlen(key)) != 0) continue;
    lua_pushnil(L);
    return 1;
  }
  return td_bind_method(L, TD_CLASS_LAYOUT, key);
}

static int l_tostring(lua_State *L) {
  lua_pushstring(L, td_bind_layout_str(td_bind_arena(L), td_bind_check_layout_value(L, 1)));
  return 1;
}

void td_bind_open_layout_op(lua_State *L) {
  static const luaL_Reg meta[] = {{"__index", l_index}, {"__tostring", l_tostring},
                                  {"__call", l_call},   {"__len", l_len},
                                  {"__eq", l_eq},       {NULL, NULL}};
  static const luaL_Reg methods[] = {{"normal", l_normal},
                                     {"inverse", l_inverse},
                                     {"compose", l_compose},
                                     {"permute", l_permute},
                                     {"slice", l_slice},
                                     {"tile", l_tile},
                                     {"divide", l_divide},
                                     {"product", l_product},
                                     {"complement", l_complement},
                                     {"overlaps", l_overlaps},
                                     {"conflicts", l_conflicts},
                                     {"addresses", l_addresses},
                                     {NULL, NULL}};
  static const char *const drawings[] = {"grid", "svg", "html"};
  static const luaL_Reg conflict[] = {{"__tostring", l_conflict_tostring}, {NULL, NULL}};
  td_bind_class(L, "tide.conflict", conflict, NULL);
  lua_pop(L, 1);
  td_bind_class(L, TD_CLASS_LAYOUT, meta, methods);
  td_bind_class_fields(L, fields);
  lua_getfield(L, -1, "methods");
  for (int i = 0; i < 3; i++) {
    lua_pushstring(L, drawings[i]);
    lua_pushcclosure(L, l_draw, 1);
    lua_setfield(L, -2, drawings[i]);
  }
  lua_pop(L, 2);
}
