/* parse_vs_lua.c - Lua itself as the oracle of the parser: same verdict, functions and values. */
/* [slow] */
/* Arguments: folders whose .lua files are the corpus (default /usr/share/lua and those of the
 * tree); -s SEED, -n MUTATIONS of tokens, and as many of bytes. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <lauxlib.h>
#include <lua.h>

#include "base/base.h"
#include "frontend/lua/lex.h"
#include "frontend/lua/parse.h"
#include "lua_dump.h"
#include "tap.h"

static size_t accepted, compared; /* texts since the last test */

/* ok, with a count of what was compared for it. */
static void all_agree(bool passed, const char *name) {
  ok(passed, name);
  printf("# %zu texts, %zu of them valid\n", compared, accepted);
  fflush(stdout);
  compared = accepted = 0;
}

/* A generator of numbers that are the same everywhere (splitmix64). */
static uint64_t state;

/* A number below n. */
static size_t draw(size_t n) {
  uint64_t x = state += 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return (size_t)((x ^ x >> 31) % n);
}

/* One text and what the two parsers make of it; the strings are owned by the arena. */
typedef struct Case {
  TdCtx *ctx;
  TdArena *arena;
  lua_State *L;
  const TdAst *ast;
  const char *ours, *theirs; /* "rejected", or a line per function */
  const char *our_message, *their_message;
} Case;

/* What Lua makes of a text: "rejected", or a line for each function. */
static const char *lua_verdict(Case *c, const char *text, size_t n) {
  if (luaL_loadbufferx(c->L, text, n, "=x", "t") != LUA_OK) {
    c->their_message = td_arena_strdup(c->arena, lua_tostring(c->L, -1));
    lua_pop(c->L, 1);
    return "rejected";
  }
  TdText out = td_text_new(c->arena);
  dump_functions(c->L, &out);
  lua_pop(c->L, 1);
  return td_text_str(&out);
}

/* The same of our parser, which leaves its tree in c. */
static const char *our_verdict(Case *c, const char *text, size_t n) {
  TdDiag diag = {.arena = c->arena};
  TdSources *sources = td_sources_new(c->arena);
  uint32_t id = td_sources_add(sources, "=x", text, n);
  c->ast = td_parse_chunk(c->arena, td_names_new(c->arena), sources, id, 0, &diag);
  c->our_message = diag.message;
  if (!c->ast) return "rejected";
  TdText out = td_text_new(c->arena);
  for (size_t i = 0; i < c->ast->functions.n; i++) {
    const TdAstFn *fn = c->ast->functions.at[i];
    td_text_putf(&out, "%u-%u %zu%s:", fn->line_defined, fn->last_line_defined, fn->params.n,
                 fn->is_vararg ? "..." : "");
    for (size_t k = 0; k < fn->params.n; k++) td_text_putf(&out, " %s", fn->params.at[k]->name);
    td_text_puts(&out, " |");
    for (size_t k = 0; k < fn->upvals.n; k++) td_text_putf(&out, " %s", fn->upvals.at[k]->name);
    td_text_putc(&out, '\n');
  }
  return td_text_str(&out);
}

/* Has both parsers parse a text; the caller closes the case. */
static Case open_case(lua_State *L, const char *text, size_t n) {
  Case c = {.ctx = td_ctx_new(), .L = L, .our_message = "", .their_message = ""};
  c.arena = td_arena_new(c.ctx);
  c.ours = our_verdict(&c, text, n);
  c.theirs = lua_verdict(&c, text, n);
  accepted += c.ast != NULL;
  compared++;
  return c;
}

/* Frees what a case holds. */
static void close_case(Case *c) {
  td_arena_free(c->arena);
  td_ctx_free(c->ctx);
}

/* Prints text as comment lines of TAP. */
static void print_comment(const char *head, const char *text, size_t n) {
  printf("# %s\n#   ", head);
  for (size_t i = 0; i < n && i < 4000; i++) {
    if (text[i] == '\n')
      printf("\n#   ");
    else if (text[i] >= ' ' || text[i] == '\t')
      putchar(text[i]);
    else
      printf("<%d>", (unsigned char)text[i]);
  }
  putchar('\n');
}

/* Whether both agree on the text; prints the difference if `tell`. */
static bool agree(lua_State *L, const char *text, size_t n, bool tell) {
  Case c = open_case(L, text, n);
  bool same = strcmp(c.ours, c.theirs) == 0;
  if (!same && tell) {
    print_comment("text:", text, n);
    print_comment("Tide:", c.ours, strlen(c.ours));
    print_comment(c.our_message ? c.our_message : "", "", 0);
    print_comment("Lua:", c.theirs, strlen(c.theirs));
    print_comment(c.their_message, "", 0);
  }
  close_case(&c);
  return same;
}

/* The corpus. A token keeps what stands between it and the one before. */

typedef struct Piece {
  const char *at;
  size_t n;
} Piece;

typedef struct Pieces {
  Piece *at;
  size_t n;
} Pieces;

typedef struct File {
  const char *name, *text;
  size_t n;
  Pieces pieces[2]; /* tokens, and bytes */
} File;

typedef struct Corpus {
  TdArena *arena;
  TD_VEC(File) files;
} Corpus;

/* The tokens of a text, up to the first error. */
static Pieces tokens_of(TdArena *a, const char *text, size_t n) {
  TD_VEC(Piece) pieces = {0};
  TdDiag diag = {.arena = a};
  TdLexer lx = td_lex_open(a, td_names_new(a), &diag, 0, text, n);
  const char *from = text;
  for (TdToken tok = td_lex_next(&lx); tok.kind != TD_TOK_EOF; tok = td_lex_next(&lx)) {
    Piece piece = {from, (size_t)(tok.end - from)};
    td_vec_push(a, &pieces, piece);
    from = tok.end;
  }
  return (Pieces){pieces.at, pieces.n};
}

/* The bytes of a text. */
static Pieces bytes_of(TdArena *a, const char *text, size_t n) {
  Pieces p = {TD_NEWN(a, Piece, n), n};
  for (size_t i = 0; i < n; i++) p.at[i] = (Piece){text + i, 1};
  return p;
}

/* Adds the file of at most `size` bytes at path, if it can be read. */
static void add_file(Corpus *c, const char *path, size_t size) {
  FILE *f = fopen(path, "rb");
  if (!f) return;
  char *text = td_arena_alloc(c->arena, size + 1);
  size_t n = fread(text, 1, size, f);
  fclose(f);
  File file = {.name = td_arena_strdup(c->arena, path), .text = text, .n = n};
  file.pieces[0] = tokens_of(c->arena, text, n);
  file.pieces[1] = bytes_of(c->arena, text, n);
  td_vec_push(c->arena, &c->files, file);
}

/* Adds the .lua files under a folder. */
static void add_folder(Corpus *c, const char *folder) {
  DIR *dir = opendir(folder);
  if (!dir) return;
  for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
    if (entry->d_name[0] == '.') continue;
    const char *path = td_text_fmt(c->arena, "%s/%s", folder, entry->d_name);
    const char *dot = strrchr(path, '.');
    struct stat st;
    if (lstat(path, &st) != 0) continue;
    if (S_ISDIR(st.st_mode))
      add_folder(c, path);
    else if (S_ISREG(st.st_mode) && dot && strcmp(dot, ".lua") == 0)
      add_file(c, path, (size_t)st.st_size);
  }
  closedir(dir);
}

/* An order that does not depend on the file system. */
static int by_name(const void *a, const void *b) {
  return strcmp(((const File *)a)->name, ((const File *)b)->name);
}

/* Both agree on each file of the corpus. */
static void test_files(lua_State *L, const Corpus *c) {
  for (size_t i = 0; i < c->files.n; i++)
    all_agree(agree(L, c->files.at[i].text, c->files.at[i].n, true), c->files.at[i].name);
}

/* Mutations. */

/* The text of the pieces. */
static TdText join(TdArena *a, const Pieces *p) {
  TdText t = td_text_new(a);
  for (size_t i = 0; i < p->n; i++) td_text_putn(&t, p->at[i].at, p->at[i].n);
  return t;
}

/* Whether both agree on the text of the pieces; prints the difference if `tell`. */
static bool pieces_agree(lua_State *L, TdArena *a, const Pieces *p, bool tell) {
  TdMark mark = td_arena_mark(a);
  TdText t = join(a, p);
  bool same = agree(L, td_text_str(&t), t.n, tell);
  td_arena_release(a, mark);
  return same;
}

/* A piece to put in place of another: of a file of the corpus, or (`bytes`) any byte. */
static Piece draw_piece(const Pieces *p, const Corpus *c, bool bytes) {
  static char all[256];
  const Pieces *from = draw(2) ? p : &c->files.at[draw(c->files.n)].pieces[bytes];
  if (from->n && !(bytes && draw(2))) return from->at[draw(from->n)];
  size_t x = draw(256);
  all[x] = (char)x;
  return (Piece){bytes ? &all[x] : " ", 1};
}

/* Deletes, duplicates, swaps or replaces one piece, or ends the text at it; p has room for one
 * more. */
static void mutate(Pieces *p, const Corpus *c, bool bytes) {
  size_t i = draw(p->n), k = draw(p->n);
  Piece old = p->at[i];
  switch (draw(9)) {
  case 0: p->n = i ? i : 1; return;
  case 1:
  case 2:
    if (p->n == 1) return;
    p->n--;
    memmove(p->at + i, p->at + i + 1, (p->n - i) * sizeof *p->at);
    return;
  case 3:
  case 4:
    memmove(p->at + i + 1, p->at + i, (p->n - i) * sizeof *p->at);
    p->n++;
    return;
  case 5:
  case 6:
    p->at[i] = p->at[k];
    p->at[k] = old;
    return;
  default: p->at[i] = draw_piece(p, c, bytes);
  }
}

/* Drops runs of pieces for as long as the parsers still disagree. */
static void shrink(lua_State *L, TdArena *a, Pieces *p) {
  Pieces less = {TD_NEWN(a, Piece, p->n), 0};
  for (size_t run = p->n / 2; run; run /= 2) {
    for (size_t i = 0; i + run <= p->n;) {
      less.n = p->n - run;
      memcpy(less.at, p->at, i * sizeof *p->at);
      memcpy(less.at + i, p->at + i + run, (less.n - i) * sizeof *p->at);
      if (pieces_agree(L, a, &less, false)) {
        i += run;
      } else {
        memcpy(p->at, less.at, less.n * sizeof *p->at);
        p->n = less.n;
      }
    }
  }
}

#define MOST_EDITS 3

/* Both agree on `count` files mutated in their tokens or bytes; else the seed and a shrunken text
 * are printed. */
static void test_mutations(lua_State *L, const Corpus *c, uint64_t seed, size_t count, bool bytes) {
  bool same = true;
  size_t i = 0;
  for (; same && i < count; i++) {
    state = seed + i;
    const File *f = &c->files.at[draw(c->files.n)];
    const Pieces *whole = &f->pieces[bytes];
    if (!whole->n) continue;
    TdMark mark = td_arena_mark(c->arena);
    Pieces p = {TD_NEWN(c->arena, Piece, whole->n + MOST_EDITS), whole->n};
    memcpy(p.at, whole->at, p.n * sizeof *p.at);
    for (size_t edits = 1 + draw(MOST_EDITS); edits; edits--) mutate(&p, c, bytes);
    same = pieces_agree(L, c->arena, &p, false);
    if (!same) {
      printf("# seed %llu: %s\n", (unsigned long long)(seed + i), f->name);
      shrink(L, c->arena, &p);
      pieces_agree(L, c->arena, &p, true);
    }
    td_arena_release(c->arena, mark);
  }
  char name[80];
  snprintf(name, sizeof name, "%zu mutations of %s from seed %llu", i, bytes ? "bytes" : "tokens",
           (unsigned long long)seed);
  all_agree(same, name);
}

/* Texts made by repetition. In a template `*:text` stands for n copies of text, `9:text` for 9; '#'
 * in the text is the number of the copy. */

/* The text of a template for n. */
static TdText expand(TdArena *a, const char *template, size_t n) {
  TdText t = td_text_new(a);
  for (const char *s = template; *s; s++) {
    if (*s != '`') {
      td_text_putc(&t, *s);
      continue;
    }
    char *colon;
    size_t copies = s[1] == '*' ? n : strtoul(s + 1, &colon, 10);
    const char *from = strchr(s, ':') + 1, *end = strchr(from, '`');
    for (size_t i = 0; i < copies; i++)
      for (s = from; s < end; s++)
        if (*s == '#')
          td_text_putf(&t, "%zu", i);
        else
          td_text_putc(&t, *s);
    s = end;
  }
  return t;
}

static const struct {
  size_t from, to;
  const char *template;
} limits[] = {
    {197, 203, "`*:local a# `"},
    {197, 203, "`*:local a#<const> = # `"},
    {197, 203, "local a`*:, b#`"},
    {197, 203, "function f(`*:a#,`b) end"},
    {197, 203, "function o:f(`*:a#,`b) end"},
    {192, 203, "for i = 1, 2 do `*:local a# ` end"},
    {192, 203, "for i in x do `*:local a# ` end"},
    {192, 203, "for i`*:, a#` in x do end"},
    {197, 203, "local a`*:, b#` do end local function f() `*:local a# ` end"},
    {197, 203, "do `*:local a# ` end `*:local a# `"},
    {101, 107,
     "`150:local a# ` function f() `150:local b# ` function g() `150:y=a# ` `*:y=b# ` end end"},
    {101, 107,
     "`150:local a# ` function f() `150:local b# ` function g() function h() `150:y=a# ` "
     "`*:y=b# ` end end end"},
    {101, 107,
     "`99:local a#<const> = 1 ` function f() `150:local b# ` function g() `99:y=a# ` "
     "`*:y=b# ` end end"},
    {194, 203, "x = `*:(`1`*:)`"},
    {194, 203, "x = `*:- `1"},
    {194, 203, "x = `*:a..`1"},
    {194, 203, "x = `*:a^`1"},
    {194, 203, "x = `*:{``*:}`"},
    {94, 203, "x = `*:f(``*:)`"},
    {94, 203, "x = `*:a[`1`*:]`"},
    {94, 203, "x = `*:function() return `1`*: end`"},
    {194, 203, "`*:do ``*:end `"},
    {194, 203, "`*:while x do ``*:end `"},
    {194, 203, "`*:repeat ``*:until x `"},
    {194, 203, "`*:if x then ``*:end `"},
    {194, 203, "while x do `*:if x then `break`*: end` end"},
    {60, 203, "`*:for i = 1, 2 do ``*:end `"},
    {194, 203, "`*:a,`a = 1"},
    {94, 203, "`*:a,`a = `*:(`1`*:)`"},
    {194, 203, "`*:::l#::`"},
    {194, 203, "`*:::l#:: ;`"},
    {290, 300, "if x then `*:elseif x then ` end"},
    {290, 300, "x = 1`*:+a` x = a`*:.b`.c() x = f`*:()`"},
    {250, 257, "f(`*:1,`1)"},
    {250, 257, "f(`*:1,`...)"},
    {250, 257, "f(`*:1,`g())"},
    {250, 257, "o:f(`*:1,`1)"},
    {250, 257, "return `*:1,`1"},
    {250, 257, "local a = `*:1,`1"},
    {250, 257, "a = `*:1,`1"},
    {250, 257, "a, b, c = `*:1,`1"},
    {70, 77, "`180:local a# ` `*:x,`x = 1, 2"},
    {195, 210, "local a = {`*:1,` f(`50:1,`1)}"},
    {195, 210, "local a = {`*:1,` `49:2,` f(`*:1,`1)}"},
    {70, 77, "`180:local a# ` f(`*:1,`1)"},
    {70, 77, "`100:local a#<const> = 1 ` `80:local b# ` f(`*:1,`1)"},
    {70, 77, "for i = 1, 2 do `176:local a# ` f(`*:1,`1) end"},
    {70, 77, "for i in x do `175:local a# ` f(`*:1,`1) end"},
    {120, 130, "f(`*:1,` g(`*:1,`1))"},
};

/* Both have each limit at the same number. */
static void test_limits(lua_State *L, TdArena *a) {
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    bool same = true;
    for (size_t n = limits[i].from; same && n <= limits[i].to; n++) {
      TdMark mark = td_arena_mark(a);
      TdText t = expand(a, limits[i].template, n);
      same = agree(L, td_text_str(&t), t.n, true);
      td_arena_release(a, mark);
    }
    all_agree(same, limits[i].template);
  }
}

/* Texts drawn from pieces. */

static const char *const tokens[] = {
    "x ",      "y ",        "f",       "_ENV ",    "1 ",     "2.5 ",   "'s' ",    "...",
    "nil ",    "true ",     "and ",    "break ",   "do ",    "else ",  "elseif ", "end ",
    "for ",    "function ", "goto ",   "if ",      "in ",    "local ", "not ",    "or ",
    "repeat ", "return ",   "then ",   "until ",   "while ", "x = 1 ", "+ ",      "- ",
    "* ",      "// ",       "^ ",      "# ",       "~ ",     "<< ",    "== ",     "< ",
    "= ",      "(",         ")",       "{",        "}",      "[",      "]",       "::",
    "; ",      ":",         ", ",      ".",        "..",     "\n",     "f() ",    "<const>",
    "<close>", "::x:: ",    "goto x ", "local x ",
};
static const char *const jumps[] = {
    "goto a ", "::a:: ",  "goto b ",  "::b:: ",      "local x ", "; ",     "do ",
    "end ",    "repeat ", "until x ", "while x do ", "break ",   "x = 1 ",
};
static const char *const numerals[] = {
    "0", "1",        "9",        "0x",        "a",          "f", "e", "p",  ".", "+",
    "-", "7fffffff", "ffffffff", "922337203", "6854775807", "E", "P", "00", " ",
};
static const char *const strings[] = {
    "\\",  "\\x4", "\\u{", "}",    "\\z",  "0",    "12",   "300",      "a",  "n",
    "q",   "\n",   "\r",   "\r\n", " ",    "'",    "\"",   "[[",       "]]", "[=[",
    "]=]", "]",    "=",    "--",   "--[[", "\xFF", "\\\n", "7fffffff", "..", "é",
};
static const char *const constants[] = {
    "1",   "0",  "-",   "3", "2.5", "0.0", "1e308", "'s'", "nil", "true",   "false", "+",   "-",
    "*",   "/",  "//",  "%", "^",   "&",   "|",     "~",   "<<",  ">>",     "..",    "==",  "<",
    "and", "or", "not", "#", "(",   ")",   "1<<63", "~0",  "64",  "0x1p63", "k",     "...", "-1",
};

typedef struct Soup {
  const char *name, *head, *tail;
  const char *const *pieces;
  size_t n, most, count;
  const char *gap;
} Soup;

#define PIECES(list) list, sizeof list / sizeof *list
static const Soup soups[] = {
    {"tokens", "", "", PIECES(tokens), 8, 60000, ""},
    {"tokens in a function", "local function f(x, ...) local y <const> = 1 ", " end",
     PIECES(tokens), 8, 40000, ""},
    {"jumps", "", "", PIECES(jumps), 8, 60000, ""},
    {"jumps in a loop", "while x do local function x() end ", " end ::a::", PIECES(jumps), 8, 60000,
     ""},
    {"jumps in a repeat", "repeat local y goto a ", " until y", PIECES(jumps), 8, 60000, ""},
    {"numerals", "return ", "", PIECES(numerals), 5, 40000, ""},
    {"strings", "return '", "'", PIECES(strings), 6, 40000, ""},
    {"long strings", "return [[", "]]", PIECES(strings), 6, 20000, ""},
    {"comments", "--", "\nreturn 1", PIECES(strings), 6, 20000, ""},
    {"constants", "local k <const> = 2 ^ 53 local x <const> = ",
     " return x, function() return x end", PIECES(constants), 7, 60000, " "},
};

/* Whether our constant e is the value on top of Lua's stack. */
static bool is_value(lua_State *L, const TdAstExpr *e) {
  size_t n;
  const char *s;
  double x;
  switch (e->kind) {
  case TD_AST_NIL: return lua_isnil(L, -1);
  case TD_AST_BOOL: return lua_isboolean(L, -1) && lua_toboolean(L, -1) == e->boolean;
  case TD_AST_INT: return lua_isinteger(L, -1) && lua_tointeger(L, -1) == e->integer;
  case TD_AST_FLOAT:
    if (lua_type(L, -1) != LUA_TNUMBER || lua_isinteger(L, -1)) return false;
    x = lua_tonumber(L, -1);
    return memcmp(&x, &e->number, sizeof x) == 0;
  case TD_AST_STRING:
    if (lua_type(L, -1) != LUA_TSTRING) return false;
    s = lua_tolstring(L, -1, &n);
    return n == e->string.n && memcmp(s, e->string.at, n) == 0;
  default: return false;
  }
}

/* Ends a run that takes long. */
static void too_long(lua_State *L, lua_Debug *ar) {
  (void)ar;
  luaL_error(L, "too long");
}

/* Whether the first value that the chunk returns, if its source is a constant to us, is that
 * constant in Lua. A run that fails before it returns decides nothing. */
static bool value_agrees(const Case *c, const char *text, size_t n) {
  const TdAstBlock *body = &c->ast->main->body;
  const TdAstStmt *last = body->n ? body->at[body->n - 1] : NULL;
  if (!last || last->kind != TD_AST_RETURN || !last->values.n) return true;
  const TdAstExpr *e = last->values.at[0];
  if (!e->constant) return true;
  lua_settop(c->L, 0);
  lua_sethook(c->L, too_long, LUA_MASKCOUNT, 10000);
  bool same = luaL_loadbufferx(c->L, text, n, "=x", "t") == LUA_OK;
  if (same && lua_pcall(c->L, 0, 1, 0) == LUA_OK) same = is_value(c->L, e->constant);
  if (!same) print_comment("another value:", text, n);
  lua_settop(c->L, 0);
  return same;
}

/* Draws a text of the soup; whether both parsers agree on it and on what it returns. */
static bool taste(lua_State *L, TdArena *a, const Soup *soup) {
  TdMark mark = td_arena_mark(a);
  TdText t = td_text_new(a);
  td_text_puts(&t, soup->head);
  for (size_t k = 1 + draw(soup->most); k; k--) {
    td_text_puts(&t, soup->pieces[draw(soup->n)]);
    td_text_puts(&t, soup->gap);
  }
  td_text_puts(&t, soup->tail);
  const char *text = td_text_str(&t);
  Case c = open_case(L, text, t.n);
  bool same = strcmp(c.ours, c.theirs) == 0 && (!c.ast || value_agrees(&c, text, t.n));
  close_case(&c);
  if (!same) agree(L, text, t.n, true);
  td_arena_release(a, mark);
  return same;
}

/* Both agree on texts drawn at random. */
static void test_soups(lua_State *L, TdArena *a, uint64_t seed) {
  for (size_t i = 0; i < sizeof soups / sizeof *soups; i++) {
    bool same = true;
    for (size_t k = 0; same && k < soups[i].count; k++) {
      state = seed + k;
      same = taste(L, a, &soups[i]);
      if (!same) printf("# seed %llu\n", (unsigned long long)state);
    }
    all_agree(same, soups[i].name);
  }
}

int main(int argc, char **argv) {
  uint64_t seed = 1;
  size_t mutations = 12000;
  TdCtx *ctx = td_ctx_new();
  Corpus c = {.arena = td_arena_new(ctx)};
  bool folders = false;
  for (int i = 1; i < argc; i++) {
    bool has_value = i + 1 < argc;
    if (has_value && strcmp(argv[i], "-s") == 0)
      seed = strtoull(argv[++i], NULL, 10);
    else if (has_value && strcmp(argv[i], "-n") == 0)
      mutations = strtoul(argv[++i], NULL, 10);
    else
      add_folder(&c, argv[i]), folders = true;
  }
  if (!folders) {
    static const char *const tree[] = {"/usr/share/lua", "examples", "stdlib", "tests"};
    for (size_t i = 0; i < sizeof tree / sizeof *tree; i++) add_folder(&c, tree[i]);
  }
  qsort(c.files.at, c.files.n, sizeof *c.files.at, by_name);
  lua_State *L = luaL_newstate();
  test_limits(L, c.arena);
  test_soups(L, c.arena, seed);
  ok(c.files.n > 0, "there are Lua files to compare on");
  test_files(L, &c);
  for (int bytes = 0; c.files.n && bytes < 2; bytes++)
    test_mutations(L, &c, seed, mutations, bytes);
  lua_close(L);
  td_arena_free(c.arena);
  td_ctx_free(ctx);
  return done_testing();
}
