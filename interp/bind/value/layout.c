/* layout.c - layouts as values: tide.layout from a type and a text, from digits, from banks or
 * words; T:layout "S0R"; their fields and what they look like. layout_op.c has what they can do. */
#include "bind/value/layout.h"

#include <ctype.h>
#include <string.h>

#include "ir/order.h"

const TdLayoutBox *td_bind_test_layout(lua_State *L, int idx) {
  return luaL_testudata(L, idx, TD_CLASS_LAYOUT);
}

const TdLayoutBox *td_bind_check_layout_value(lua_State *L, int idx) {
  const TdLayoutBox *box = td_bind_test_layout(L, idx);
  if (!box) td_bind_expect(L, idx, "a layout");
  return box;
}

TdLayoutBox *td_bind_push_layout(lua_State *L, const TdLayout *l) {
  TdLayoutBox *box = lua_newuserdatauv(L, sizeof *box, 0);
  *box = (TdLayoutBox){0};
  if (l) box->of = *l;
  luaL_setmetatable(L, TD_CLASS_LAYOUT);
  return box;
}

const char *td_bind_check_layout(lua_State *L, const TdType *t, const char *text) {
  static const char help[] = "S<axis of map> or R for each dimension, as in \"S0R\"";
  TdArena *a = td_bind_arena(L);
  if (t->kind != TD_T_TENSOR)
    td_bind_refuse(L, TD_USAGE, "layout", help, "only a tensor has a layout, not %s",
                   td_type_str(a, t));
  int rank = 0, by[10] = {0}; /* of each axis, 1 + the dimension that it cuts */
  for (const char *p = text; *p; rank++) {
    bool shard = *p == 'S' && isdigit((unsigned char)p[1]);
    if (!shard && *p != 'R')
      td_bind_refuse(L, TD_USAGE, "layout", help, "layout \"%s\" is not understood at \"%s\"", text,
                     p);
    int *cut = shard ? &by[p[1] - '0'] : NULL;
    if (cut && *cut)
      td_bind_refuse(L, TD_USAGE, "layout", help,
                     "layout \"%s\": dimensions %d and %d are both cut by axis %c", text, *cut - 1,
                     rank, p[1]);
    if (cut) *cut = rank + 1;
    p += shard ? 2 : 1;
  }
  if (rank != t->rank)
    td_bind_refuse(L, TD_USAGE, "layout", help, "layout \"%s\" has %d dimension%s, %s has %d", text,
                   rank, rank == 1 ? "" : "s", td_type_str(a, t), t->rank);
  return td_names_str(td_bind_enter(L)->session->names, text);
}

const char *td_bind_layout_text(lua_State *L, int idx) {
  const TdLayoutBox *box = td_bind_test_layout(L, idx);
  if (!box) return lua_type(L, idx) == LUA_TSTRING ? lua_tostring(L, idx) : NULL;
  if (!box->text)
    td_bind_refuse(L, TD_USAGE, "layout", "tide.layout(T, \"S0R\") or an order has a text",
                   "this layout is digits alone, which no text says");
  return box->text;
}

void td_bind_check_layout_fits(lua_State *L, int idx, const TdType *t) {
  const TdLayoutBox *box = td_bind_test_layout(L, idx);
  const TdType *of = box ? box->type : NULL;
  if (!of || t->kind != TD_T_TENSOR) return;
  bool fits = of->rank == t->rank;
  for (int d = 0; fits && d < t->rank; d++) {
    int64_t have, want;
    fits = !td_type_extent(of, d, &have) || !td_type_extent(t, d, &want) || have == want;
  }
  if (fits) return;
  TdArena *a = td_bind_arena(L);
  td_bind_refuse(
      L, TD_USAGE, "layout",
      td_text_fmt(a, "tide.layout(%s, \"%s\")", td_type_str(a, t), box->text ? box->text : ".."),
      "this layout is of %s, and the tensor is %s", td_type_str(a, of), td_type_str(a, t));
}

/* Fills extents that have values; false: dimension *open has none. */
static bool read_extents(const TdType *t, int64_t *extent, int *open) {
  for (*open = 0; *open < t->rank; ++*open)
    if (!td_type_extent(t, *open, &extent[*open])) return false;
  return true;
}

/* Raises unless t is a tensor of a rank that layouts have. */
static void check_tensor(lua_State *L, const TdType *t) {
  if (t->kind != TD_T_TENSOR || t->rank > TD_LAYOUT_RANK)
    td_bind_refuse(L, TD_USAGE, "layout", "tide.layout(i8[64][64], \"S0R\")",
                   "a tensor type of at most %d dimensions has a layout, not %s", TD_LAYOUT_RANK,
                   td_type_str(td_bind_arena(L), t));
}

/* Raises where the elements of a type are more than places can be counted. */
static void check_size(lua_State *L, const int64_t *extent, int rank) {
  int64_t n = 1;
  for (int d = 0; d < rank; d++) {
    if (extent[d] && n > (INT64_C(1) << 62) / extent[d])
      td_bind_refuse(L, TD_LIMIT, "layout", NULL, "a layout has at most 2^62 places");
    n *= extent[d];
  }
}

/* What the box at the top lacks to have places; its own words. */
static void leave_open(lua_State *L, TdArena *a, TdLayoutBox *box, const TdType *t, int open) {
  box->lacks = td_names_str(
      td_bind_enter(L)->session->names,
      td_text_fmt(a, "the size of dimension %d of %s has no value", open, td_type_str(a, t)));
}

/* Lays `part` and `lanes` out for box's type; raises where they do not fit, at `text`. */
static void spread(lua_State *L, TdArena *a, TdLayoutBox *box, const TdLayoutPart *part,
                   int64_t lanes, const char *help) {
  int64_t extent[TD_MAX_RANK];
  int open;
  const char *why;
  if (!read_extents(box->type, extent, &open)) {
    leave_open(L, a, box, box->type, open);
    return;
  }
  check_size(L, extent, box->type->rank);
  if (!td_layout_spread(a, extent, box->type->rank, part, lanes, &box->of, &why))
    td_bind_refuse(L, TD_USAGE, "layout", help, "%s as %s: %s", td_type_str(a, box->type),
                   box->text ? box->text : "that", why);
  box->known = true;
}

/* Fills the extents of {map = {4, 2}} at idx; returns how many, -1 when it is not given. */
static int read_map(lua_State *L, int idx, int64_t *map) {
  static const char *const options[] = {"map", NULL};
  if (!td_bind_check_options(L, idx, options) || lua_getfield(L, idx, "map") == LUA_TNIL) return -1;
  int n = lua_istable(L, -1) ? (int)lua_rawlen(L, -1) : -1;
  for (int k = 0; k < n && k < 10; k++) {
    lua_rawgeti(L, -1, k + 1);
    map[k] = lua_tointeger(L, -1);
    if (map[k] < 1) n = -1;
    lua_pop(L, 1);
  }
  if (n < 1 || n > 10)
    td_bind_refuse(L, TD_USAGE, "layout", "{map = {4, 2}}", "map is a list of positive integers");
  lua_pop(L, 1);
  return n;
}

/* Gives the box places: by the text "S0R" and a map. */
static void spread_shards(lua_State *L, TdArena *a, TdLayoutBox *box, const int64_t *map, int n) {
  static const char *const axes[] = {"p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9"};
  TdLayoutPart part[TD_MAX_RANK] = {{.how = TD_LIES_WHOLE}};
  const char *p = box->text;
  for (int d = 0; *p; d++, p++) {
    if (*p == 'R') continue;
    int axis = *++p - '0';
    if (axis >= n)
      td_bind_refuse(L, TD_USAGE, "layout", NULL,
                     "layout \"%s\" cuts dimension %d by axis %d, and the map has %d", box->text, d,
                     axis, n);
    part[d] = (TdLayoutPart){TD_LIES_BLOCK, map[axis], axes[axis], axis};
  }
  box->nmap = n;
  for (int k = 0; k < n; k++) box->map[k] = map[k];
  spread(L, a, box, part, 1, "take sizes that the map divides");
}

/* Whether a part of the order is of name n. */
static bool is_part_of(const TdOrderBytes *b, int digit, int name) {
  return b->order.place[b->part[digit]].name == name;
}

/* Gives the box places: by an order, "m k -> m/8 k m%8", whose names are the dimensions. */
static void lay_order(lua_State *L, TdArena *a, TdLayoutBox *box) {
  int64_t extent[TD_MAX_RANK];
  int open;
  const char *why;
  TdOrderBytes b;
  if (!read_extents(box->type, extent, &open)) {
    leave_open(L, a, box, box->type, open);
    return;
  }
  check_size(L, extent, box->type->rank);
  for (int d = 0; d < box->type->rank; d++)
    if (!extent[d]) {
      box->lacks = "a tensor without elements has none";
      return;
    }
  if (!td_order_read_bytes(a, box->text, extent, box->type->rank, 1, &b, &why)) {
    TdDiag d = td_bind_diag(a);
    td_diag_set(&d, TD_USAGE, "layout", td_bind_caller_argument(L, box->text),
                "order \"%s\" of %s: %s", box->text, td_type_str(a, box->type), why);
    td_diag_help(&d,
                 "as in \"m k -> m/8 k/8 m%%8 k%%8\": names of the dimensions, then their parts");
    td_bind_raise(L, &d);
  }
  TdLayout l = {.at = b.at, .rank = b.order.nname};
  for (int name = 0, k = 0; name < l.rank; name++, l.first[name] = k)
    while (k < b.at.n && is_part_of(&b, k, name)) k++;
  box->of = l;
  box->known = true;
}

static const char no_map[] =
    "the map of the tasks is not given: tide.layout(T, \"S0\", {map = {4}})";

/* A type with a text, and {map =} at slot 3. */
static int layout_of_text(lua_State *L, const TdType *t, const char *text) {
  int64_t map[10];
  bool order = strstr(text, "->") || strchr(text, ' ');
  int n = order ? -1 : read_map(L, 3, map);
  check_tensor(L, t);
  text = order ? td_names_str(td_bind_enter(L)->session->names, text)
               : td_bind_check_layout(L, t, text);
  TdArena *a = td_bind_arena(L);
  TdLayoutBox *box = td_bind_push_layout(L, NULL);
  box->type = t;
  box->text = text;
  if (order)
    lay_order(L, a, box);
  else if (n >= 0)
    spread_shards(L, a, box, map, n);
  else
    box->lacks = no_map;
  return 1;
}

/* An integer of the list on top at place i, or raises. */
static int64_t digit_number(lua_State *L, int i) {
  int ok;
  lua_rawgeti(L, -1, i);
  int64_t v = lua_tointegerx(L, -1, &ok);
  if (!ok)
    td_bind_refuse(L, TD_USAGE, "layout", "tide.layout {{8, 128}, {4, 8}}, outermost first",
                   "a digit is {values, stride}, and %s is neither", td_bind_words(L, -1));
  lua_pop(L, 1);
  return v;
}

/* Adds the digit on top. */
static void take_digit(lua_State *L, TdLayout *l) {
  if (!lua_istable(L, -1) || lua_rawlen(L, -1) != 2)
    td_bind_refuse(L, TD_USAGE, "layout", "tide.layout {{8, 128}, {4, 8}}, outermost first",
                   "a digit is {values, stride}");
  TdDigit x = {digit_number(L, 1), digit_number(L, 2)};
  int64_t count = td_layout_count(l), most = INT64_C(1) << 62, far = x.s < 0 ? -x.s : x.s;
  if (x.n < 1)
    td_bind_refuse(L, TD_USAGE, "layout", NULL, "a digit has at least 1 value, not %d", (int)x.n);
  if (l->at.n == TD_DESC_DIGITS || x.n > most / count || far < 0 || (far && x.n > most / far / 64))
    td_bind_refuse(L, TD_LIMIT, "layout", NULL,
                   "a layout has at most %d digits, and places below 2^56", TD_DESC_DIGITS);
  l->at.at[l->at.n++] = x;
}

/* Adds the coordinate on top: a digit, or a list of them. */
static void take_coordinate(lua_State *L, TdLayout *l) {
  if (!lua_istable(L, -1))
    td_bind_refuse(L, TD_USAGE, "layout", "tide.layout {{8, 128}, {4, 8}}, outermost first",
                   "a digit is {values, stride}, not %s", td_bind_words(L, -1));
  if (l->rank == TD_LAYOUT_RANK)
    td_bind_refuse(L, TD_LIMIT, "layout", NULL, "a layout has at most %d coordinates",
                   TD_LAYOUT_RANK);
  bool many = lua_rawgeti(L, -1, 1) == LUA_TTABLE || lua_rawlen(L, -2) == 0;
  lua_pop(L, 1);
  size_t n = many ? lua_rawlen(L, -1) : 1;
  for (size_t i = 1; i <= n; i++) {
    if (many) lua_rawgeti(L, -1, (lua_Integer)i);
    take_digit(L, l);
    if (many) lua_pop(L, 1);
  }
  l->first[++l->rank] = l->at.n;
}

/* Reads place = {{"bank", 4}, {"address", 16}} of the table at 1. */
static void take_axes(lua_State *L, TdLayout *l) {
  static const char help[] = "place = {{\"bank\", 4}, {\"address\", 16}}, outermost first";
  size_t n = lua_getfield(L, 1, "place") == LUA_TTABLE ? lua_rawlen(L, -1) : 0;
  if (n > TD_LAYOUT_AXES || (!n && !lua_isnil(L, -1)))
    td_bind_refuse(L, TD_USAGE, "layout", help, "place is a list of at most %d axes",
                   TD_LAYOUT_AXES);
  for (size_t i = 0; i < n; i++) {
    TdLayoutAxis *x = &l->axis[l->naxis++];
    const char *name = NULL;
    if (lua_rawgeti(L, -1, (lua_Integer)i + 1) == LUA_TTABLE &&
        lua_rawgeti(L, -1, 1) == LUA_TSTRING)
      name = lua_tostring(L, -1);
    if (!name || strlen(name) >= sizeof x->name || lua_rawgeti(L, -2, 2) != LUA_TNUMBER ||
        (x->n = lua_tointeger(L, -1)) < 1)
      td_bind_refuse(L, TD_USAGE, "layout", help, "an axis of places is {name, values}");
    snprintf(x->name, sizeof x->name, "%s", name);
    lua_pop(L, 3);
  }
  lua_pop(L, 1);
}

/* tide.layout {{8, 128}, {{4, 8}, {2, 4}}, offset =, place =} */
static int layout_of_digits(lua_State *L) {
  static const char *const known[] = {"offset", "place"};
  TdLayout l = {.rank = 0};
  int64_t offset = 0, lo, hi, n = 1;
  lua_settop(L, 1);
  for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
    const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : known[0];
    if (strcmp(key, known[0]) != 0 && strcmp(key, known[1]) != 0)
      td_bind_refuse(L, TD_USAGE, "layout", "offset = 3, place = {{\"bank\", 4}, ..}",
                     "a layout has no '%s'", key);
  }
  for (size_t i = 1; i <= lua_rawlen(L, 1); i++) {
    lua_rawgeti(L, 1, (lua_Integer)i);
    take_coordinate(L, &l);
    lua_pop(L, 1);
  }
  if (!td_bind_opt_integer(L, 1, "offset", &offset) && lua_getfield(L, 1, "offset") != LUA_TNIL)
    td_bind_refuse(L, TD_USAGE, "layout", NULL, "offset is an integer, not %s",
                   td_bind_words(L, -1));
  lua_settop(L, 1);
  if (offset > INT64_C(1) << 56 || offset < -(INT64_C(1) << 56))
    td_bind_refuse(L, TD_LIMIT, "layout", NULL, "a place is below 2^56");
  l.at.offset = offset;
  take_axes(L, &l);
  td_layout_range(&l, &lo, &hi);
  for (int k = 0; k < l.naxis; k++) n *= l.axis[k].n;
  if (l.naxis && (lo < 0 || hi >= n))
    td_bind_refuse(L, TD_USAGE, "layout", NULL,
                   "its places are %lld to %lld, and the axes have %lld", (long long)lo,
                   (long long)hi, (long long)n);
  td_bind_push_layout(L, &l)->known = true;
  return 1;
}

/* tide.layout(type, text, {map =}) or tide.layout {digits}; slot 1 is the module's table. */
static int l_layout(lua_State *L) {
  lua_remove(L, 1);
  lua_settop(L, 3);
  if (lua_istable(L, 1)) return layout_of_digits(L);
  const TdType *t = td_bind_check_type(L, 1);
  const char *text = td_bind_layout_text(L, 2);
  if (!text)
    td_bind_refuse(L, TD_USAGE, "layout", "tide.layout(T, \"S0R\"), tide.layout(T, \"m k -> k m\")",
                   "a layout is a text, not %s", td_bind_words(L, 2));
  return layout_of_text(L, t, text);
}

/* T:layout "S0R" or T:layout(L) */
static int l_type_layout(lua_State *L) {
  const TdType *t = td_bind_check_type(L, 1);
  const char *text = td_bind_layout_text(L, 2);
  if (!text) td_bind_fail(L, "layout", "a layout is a string, not %s", td_bind_words(L, 2));
  td_bind_check_layout_fits(L, 2, t);
  text = td_bind_check_layout(L, t, text);
  const TdLayoutBox *from = td_bind_test_layout(L, 2);
  TdArena *a = td_bind_arena(L);
  TdLayoutBox *box = td_bind_push_layout(L, NULL);
  box->type = t;
  box->text = text;
  box->lacks = no_map;
  if (from && from->nmap) spread_shards(L, a, box, from->map, from->nmap);
  return 1;
}

bool td_bind_layout_banks(lua_State *L, TdArena *a, TdLayoutBox *box, const TdType *t,
                          const int64_t *dims, size_t n, const char *kind, int64_t factor) {
  static const char *const axes[] = {"bank0", "bank1", "bank2", "bank3",
                                     "bank4", "bank5", "bank6", "bank7"};
  TdLayoutPart part[TD_MAX_RANK] = {{.how = TD_LIES_WHOLE}};
  bool all = n == 0;
  if (all) n = (size_t)t->rank;
  for (size_t i = 0; i < n; i++) {
    int64_t d = all ? (int64_t)i : dims[i];
    if (d < 0 || d >= t->rank || d >= 8) return false;
    part[d] = (TdLayoutPart){*kind == 'b'                  ? TD_LIES_BLOCK
                             : strcmp(kind, "cyclic") == 0 ? TD_LIES_CYCLIC
                                                           : TD_LIES_COMPLETE,
                             factor, n == 1 ? "bank" : axes[d], (int)d};
  }
  box->type = t;
  box->kind = kind;
  box->factor = factor;
  for (int d = 0; d < t->rank; d++) box->banked[d] = part[d].how != TD_LIES_WHOLE;
  spread(L, a, box, part, 1, "take a factor that divides the dimension");
  return true;
}

/* Reads an integer or a list of them at idx; returns how many. */
static size_t read_dims(lua_State *L, int idx, int64_t *dims) {
  size_t n = lua_istable(L, idx) ? (size_t)lua_rawlen(L, idx) : lua_isnoneornil(L, idx) ? 0 : 1;
  for (size_t i = 0; i < n && i < TD_MAX_RANK; i++) {
    int ok;
    if (lua_istable(L, idx))
      lua_rawgeti(L, idx, (lua_Integer)i + 1);
    else
      lua_pushvalue(L, idx);
    dims[i] = lua_tointegerx(L, -1, &ok);
    if (!ok)
      td_bind_fail(L, "layout", "dimensions are integers from 0, not %s", td_bind_words(L, -1));
    lua_pop(L, 1);
  }
  return n < TD_MAX_RANK ? n : TD_MAX_RANK;
}

/* tide.layout.partition(T, dims, {kind =, factor =}), as s:partition takes them. */
static int l_partition(lua_State *L) {
  static const char *const options[] = {"kind", "factor", NULL};
  static const char *const kinds[] = {"complete", "cyclic", "block", NULL};
  int64_t dims[TD_MAX_RANK], factor = 0;
  lua_settop(L, 3);
  const TdType *t = td_bind_check_type(L, 1);
  int at = lua_istable(L, 2) && lua_isnil(L, 3) && !lua_rawlen(L, 2) ? 2 : 3;
  size_t n = at == 2 ? 0 : read_dims(L, 2, dims);
  bool given =
      td_bind_check_options(L, at, options) && td_bind_opt_integer(L, at, "factor", &factor);
  int kind = given ? 1 : 0;
  if (lua_istable(L, at)) kind = td_bind_opt_word(L, at, "kind", kinds, kind);
  check_tensor(L, t);
  if (kind && factor < 1)
    td_bind_refuse(L, TD_USAGE, "layout", "{kind = \"cyclic\", factor = 4}",
                   "a %s partition has a factor, at least 1", kinds[kind]);
  TdArena *a = td_bind_arena(L);
  TdLayoutBox *box = td_bind_push_layout(L, NULL);
  if (!td_bind_layout_banks(L, a, box, t, dims, n, kinds[kind], factor))
    td_bind_refuse(L, TD_USAGE, "layout", NULL, "%s has dimensions 0 to %d", td_type_str(a, t),
                   t->rank - 1);
  return 1;
}

/* tide.layout.pack(T, n): the last dimension in words of n elements. */
static int l_pack(lua_State *L) {
  const TdType *t = td_bind_check_type(L, 1);
  int64_t n = luaL_checkinteger(L, 2);
  TdLayoutPart part[TD_MAX_RANK] = {{.how = TD_LIES_WHOLE}};
  check_tensor(L, t);
  if (n < 1) td_bind_fail(L, "layout", "a word has at least 1 element");
  TdArena *a = td_bind_arena(L);
  TdLayoutBox *box = td_bind_push_layout(L, NULL);
  box->type = t;
  box->lanes = n;
  spread(L, a, box, part, n, "take a word that divides the last dimension");
  return 1;
}

/* A type as Lua that loads where tide is known. */
static const char *type_text(TdArena *a, const TdType *t) {
  const char *text = td_type_str(a, t);
  return strncmp(text, "tide.", 5) == 0 ? text : td_text_fmt(a, "tide.%s", text);
}

/* The banks of a partition as arguments: "{0, 1}, {kind = \"cyclic\", factor = 4}". */
static void put_banks(TdText *t, const TdLayoutBox *box) {
  td_text_puts(t, "{");
  for (int d = 0, k = 0; d < box->type->rank; d++)
    if (box->banked[d]) td_text_putf(t, "%s%d", k++ ? ", " : "", d);
  td_text_putf(t, "}, {kind = \"%s\"", box->kind);
  if (box->factor) td_text_putf(t, ", factor = %lld", (long long)box->factor);
  td_text_puts(t, "}");
}

const char *td_bind_layout_str(TdArena *a, const TdLayoutBox *box) {
  TdText t = td_text_new(a);
  if (box->kind) {
    td_text_putf(&t, "tide.layout.partition(%s, ", type_text(a, box->type));
    put_banks(&t, box);
    td_text_puts(&t, ")");
  } else if (box->lanes) {
    td_text_putf(&t, "tide.layout.pack(%s, %lld)", type_text(a, box->type), (long long)box->lanes);
  } else if (box->text && (box->nmap || strchr(box->text, '>'))) {
    td_text_putf(&t, "tide.layout(%s, \"%s\"", type_text(a, box->type), box->text);
    for (int k = 0; k < box->nmap; k++)
      td_text_putf(&t, "%s%lld", k ? ", " : ", {map = {", (long long)box->map[k]);
    td_text_puts(&t, box->nmap ? "}})" : ")");
  } else if (box->text) {
    td_text_putf(&t, "%s:layout \"%s\"", type_text(a, box->type), box->text);
  } else {
    td_text_puts(&t, "tide.layout ");
    td_layout_print(&t, &box->of);
  }
  return td_text_str(&t);
}

void td_bind_open_layout(lua_State *L) {
  static const luaL_Reg functions[] = {{"partition", l_partition}, {"pack", l_pack}, {NULL, NULL}};
  td_bind_open_layout_op(L);
  luaL_getmetatable(L, TD_CLASS_TYPE);
  lua_getfield(L, -1, "methods");
  lua_pushcfunction(L, l_type_layout);
  lua_setfield(L, -2, "layout");
  lua_pop(L, 2);
  luaL_newlib(L, functions);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, l_layout);
  lua_setfield(L, -2, "__call");
  lua_setmetatable(L, -2);
  lua_setfield(L, -2, "layout");
}
