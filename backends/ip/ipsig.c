/* ipsig.c - declarations of a C++ source: namespaces, aliases, constants, functions. */
#include "backends/ip/ipsig.h"

#include <string.h>

#include "backends/ip/iplex.h"

/* A name for a type, `typedef int T;`, `using T = int[4];`, or for a number, `const int N = 4;`. */
typedef struct Alias {
  const char *name, *space; /* space: the namespaces it is in */
  size_t from, to;          /* tokens of the type, or of the number */
  size_t extents, end;      /* tokens of an array type's extents */
  bool type;
  int64_t add; /* to the number */
} Alias;

/* A function that is called like the wanted one: its tokens. */
typedef struct Found {
  size_t name, open, close; /* its name, and its parentheses */
  size_t from;              /* where its declaration begins */
  const char *symbol;
  bool template_, defined;
} Found;

typedef struct Parse {
  TdArena *arena;
  const TdIpsigText *in;
  TdIplex lex;
  size_t at;
  const char *want;
  TdText space;         /* namespaces around: "a::b::" */
  TD_VEC(size_t) brace; /* of each open one, the length of `space` before it */
  TD_VEC(Alias) alias;
  TD_VEC(Found) found;
  const char *inside; /* the namespaces of the function, once it is found */
  TdDiag *d;
} Parse;

static const TdIplexToken *token(const Parse *p, size_t i) {
  return &p->lex.token.at[i < p->lex.token.n ? i : p->lex.token.n - 1];
}

static bool is(const Parse *p, size_t i, const char *text) {
  return strcmp(token(p, i)->text, text) == 0;
}

static TdLoc loc_of(const Parse *p, size_t i) {
  const TdIplexToken *t = token(p, i);
  uint32_t file = t->file < p->in->nfile ? t->file : 0;
  TdLoc l = {p->in->source[file], t->line, (uint16_t)t->col, (uint16_t)t->len};
  return l;
}

static bool refuse(Parse *p, size_t at, const char *code, const char *fmt, ...) TD_PRINTF(4, 5);
static bool refuse(Parse *p, size_t at, const char *code, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  td_diag_vset(p->d, strcmp(code, "ip-function") == 0 ? TD_USAGE : TD_UNSUPPORTED, code,
               loc_of(p, at), fmt, ap);
  va_end(ap);
  return false;
}

/* The token behind what closes the bracket at token i, of which there are two kinds. */
static size_t behind(const Parse *p, size_t i, const char *open, const char *close) {
  size_t depth = 0;
  for (; *token(p, i)->text; i++) {
    depth += is(p, i, open);
    if (is(p, i, close) && --depth == 0) return i + 1;
  }
  return i;
}

/* ---- the declarations of a file ---- */

/* `namespace a::b {`, `namespace {`. */
static void enter_namespace(Parse *p) {
  size_t length = p->space.n;
  for (p->at++; *token(p, p->at)->text && !is(p, p->at, "{") && !is(p, p->at, ";"); p->at++)
    if (token(p, p->at)->word) td_text_putf(&p->space, "%s::", token(p, p->at)->text);
  if (is(p, p->at, "{")) td_vec_push(p->arena, &p->brace, length);
  p->at++;
}

/* Cuts the namespaces back to what they were. */
static void leave_brace(Parse *p) {
  if (p->brace.n) p->space.n = p->brace.at[--p->brace.n];
  p->at++;
}

static void name(Parse *p, const char *text, bool type, size_t from, size_t to) {
  Alias x = {.name = text, .from = from, .to = to, .type = type};
  x.space = td_text_fmt(p->arena, "%.*s", (int)p->space.n, p->space.n ? p->space.at : "");
  td_vec_push(p->arena, &p->alias, x);
}

/* `const int N = 8`, `constexpr int N = 2 * M`: tokens from `from` up to `end`. */
static void take_constant(Parse *p, size_t from, size_t end) {
  size_t equal = from;
  while (equal < end && !is(p, equal, "=") && !is(p, equal, "(")) equal++;
  if (is(p, equal, "=") && equal + 1 < end && equal > from + 1 && token(p, equal - 1)->word)
    name(p, token(p, equal - 1)->text, false, equal + 1, end);
}

/* `enum { M, N = 4 }`: tokens between the braces. */
static void take_enumerators(Parse *p, size_t from, size_t end) {
  size_t first = from, last = from; /* the number before, as tokens */
  int64_t add = 0;
  for (size_t i = from; i < end; add++) {
    size_t stop = i;
    while (stop < end && !is(p, stop, ","))
      stop = is(p, stop, "(") ? behind(p, stop, "(", ")") : stop + 1;
    if (is(p, i + 1, "=")) {
      first = i + 2;
      last = stop;
      add = 0;
    }
    name(p, token(p, i)->text, false, first, last);
    p->alias.at[p->alias.n - 1].add = add;
    i = stop + 1;
  }
}

/* `typedef int row_t[4]`, `using row_t = int[4]`. */
static void take_alias(Parse *p, size_t from, size_t end) {
  size_t stop = from; /* where its extents begin */
  while (stop < end && !is(p, stop, "[")) stop++;
  if (is(p, from, "typedef") && stop > from + 2)
    name(p, token(p, stop - 1)->text, true, from + 1, stop - 1);
  else if (is(p, from, "using") && is(p, from + 2, "=") && stop > from + 3)
    name(p, token(p, from + 1)->text, true, from + 3, stop);
  else
    return;
  p->alias.at[p->alias.n - 1].extents = stop;
  p->alias.at[p->alias.n - 1].end = end;
}

/* What a name stands for at the place where the function is declared: the innermost of its
 * namespaces decides; else there is only one of that name. NULL: nothing that is known. */
static const Alias *find(const Parse *p, const char *text, bool type) {
  const Alias *best = NULL, *any = NULL;
  size_t others = 0;
  for (size_t i = 0; i < p->alias.n; i++) {
    const Alias *x = &p->alias.at[i];
    size_t n = strlen(x->space);
    if (x->type != type || strcmp(x->name, text) != 0) continue;
    if (strncmp(p->inside, x->space, n) == 0 && (!best || n >= strlen(best->space))) best = x;
    others += any && strcmp(any->space, x->space) != 0;
    any = x;
  }
  return best || others ? best : any;
}

/* Whether a function of these namespaces and name is the wanted one. */
static const char *symbol_if_wanted(Parse *p, const char *name) {
  const char *full =
      td_text_fmt(p->arena, "%.*s%s", (int)p->space.n, p->space.n ? p->space.at : "", name);
  size_t n = strlen(full), m = strlen(p->want);
  bool tail = n >= m && strcmp(full + n - m, p->want) == 0;
  return tail && (n == m || full[n - m - 1] == ':') ? full : NULL;
}

/* A declaration up to its `;` or `}`: notes constants, aliases, the function if it is wanted. */
static void take_declaration(Parse *p) {
  size_t from = p->at, open = 0, end = from;
  bool template_ = is(p, from, "template");
  if (template_) end = behind(p, from + 1, "<", ">");
  for (; *token(p, end)->text && !is(p, end, ";") && !is(p, end, "{") && !is(p, end, "}"); end++)
    if (is(p, end, "(")) {
      bool first = !open && end > from && token(p, end - 1)->word;
      if (first) open = end;
      end = behind(p, end, "(", ")") - 1;
    }
  const char *symbol = open ? symbol_if_wanted(p, token(p, open - 1)->text) : NULL;
  if (symbol) {
    Found f = {open - 1,  open,           behind(p, open, "(", ")") - 1, from, symbol,
               template_, is(p, end, "{")};
    td_vec_push(p->arena, &p->found, f);
  } else if (is(p, from, "enum") && is(p, end, "{")) {
    take_enumerators(p, end + 1, behind(p, end, "{", "}") - 1);
  } else if (is(p, end, ";")) {
    take_alias(p, from, end);
    take_constant(p, from, end);
  }
  p->at = is(p, end, "{") ? behind(p, end, "{", "}") : end + is(p, end, ";");
}

static void take_file(Parse *p) {
  while (*token(p, p->at)->text) {
    size_t before = p->at;
    td_ctx_tick(td_arena_ctx(p->arena), 1);
    if (is(p, p->at, "namespace") && !is(p, p->at + 2, "="))
      enter_namespace(p);
    else if (is(p, p->at, "extern") && is(p, p->at + 1, "\"") && is(p, p->at + 2, "{")) {
      td_vec_push(p->arena, &p->brace, p->space.n);
      p->at += 3;
    } else if (is(p, p->at, "}"))
      leave_brace(p);
    else
      take_declaration(p);
    if (p->at == before) p->at++;
  }
}

/* ---- types ---- */

/* A C++ type that is one of Tide's: bits 0: as its arguments say. */
typedef struct Known {
  const char *name;
  char kind; /* i, u, f(loat), b, I, U: ap_int<n>, X, Y: ap_fixed<w, i> */
  int bits;
} Known;
static const Known known[] = {
    {"int8_t", 'i', 8},  {"int16_t", 'i', 16},  {"int32_t", 'i', 32},  {"int64_t", 'i', 64},
    {"uint8_t", 'u', 8}, {"uint16_t", 'u', 16}, {"uint32_t", 'u', 32}, {"uint64_t", 'u', 64},
    {"float", 'f', 32},  {"double", 'f', 64},   {"bool", 'b', 1},      {"ap_int", 'I', 0},
    {"ap_uint", 'U', 0}, {"ap_fixed", 'X', 0},  {"ap_ufixed", 'Y', 0}, {"half", 'f', 16},
    {"size_t", 'u', 64},
};

static bool number(Parse *p, size_t from, size_t end, int64_t *v);

/* x op y, which stays small. */
static bool operate(char op, int64_t x, int64_t y, int64_t *v) {
  switch (op) {
  case '+': *v = x + y; break;
  case '-': *v = x - y; break;
  case '*': *v = x * y; break;
  case '/':
  case '%':
    if (!y) return false;
    *v = op == '/' ? x / y : x % y;
    break;
  default:
    if (x < 0 || y < 0 || y > 31) return false;
    *v = op == '<' ? x << y : x >> y;
  }
  return *v >= -INT32_MAX && *v <= INT32_MAX;
}

/* A literal, the name of a number, or a number in parentheses or behind a sign; *at goes behind it.
 */
static bool operand(Parse *p, size_t *at, size_t end, int64_t *v) {
  size_t i = (*at)++;
  if (i >= end) return false;
  if (is(p, i, "-") || is(p, i, "+")) {
    if (!operand(p, at, end, v)) return false;
    if (is(p, i, "-")) *v = -*v;
    return true;
  }
  if (is(p, i, "(")) {
    *at = behind(p, i, "(", ")");
    return *at <= end && number(p, i + 1, *at - 1, v);
  }
  if (td_iplex_number(token(p, i)->text, v)) return *v >= 0 && *v <= INT32_MAX;
  const Alias *x = token(p, i)->word ? find(p, token(p, i)->text, false) : NULL;
  if (!x) return false;
  *v = 0;
  if (x->to > x->from && (x->to > i || !number(p, x->from, x->to, v))) return false;
  *v += x->add;
  return true;
}

/* How tightly the operator at token i binds, and 2 if it is two tokens long; 0: it is none. */
static int binds(const Parse *p, size_t i, size_t *length) {
  const char *text = token(p, i)->text;
  bool shift = (*text == '<' || *text == '>') && is(p, i + 1, text);
  *length = 1 + shift;
  if (shift) return 1;
  if (!*text || text[1]) return 0;
  return strchr("+-", *text) ? 2 : strchr("*/%", *text) ? 3 : 0;
}

/* Operands with operators that bind at least so tightly. */
static bool operation(Parse *p, size_t *at, size_t end, int least, int64_t *v) {
  size_t length;
  td_ctx_enter(td_arena_ctx(p->arena));
  bool ok = operand(p, at, end, v);
  for (int n; ok && *at < end && (n = binds(p, *at, &length)) >= least;) {
    char op = *token(p, *at)->text;
    int64_t y;
    *at += length;
    ok = operation(p, at, end, n + 1, &y) && operate(op, *v, y, v);
  }
  td_ctx_leave(td_arena_ctx(p->arena));
  return ok;
}

/* The value of tokens from up to end: integers and their names under the operators of C++. */
static bool number(Parse *p, size_t from, size_t end, int64_t *v) {
  return operation(p, &from, end, 1, v) && from == end;
}

/* Whether a token is a word of a built-in integer type. */
static bool is_plain(const Parse *p, size_t i) {
  static const char *const words[] = {"unsigned", "signed", "char", "short", "int", "long"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (is(p, i, words[k])) return true;
  return false;
}

/* int, unsigned, long long..: the words of a built-in integer type. */
static const TdType *plain_integer(Parse *p, size_t from, size_t end) {
  bool no_sign = false, any = false;
  int bits = 32;
  for (size_t i = from; i < end; i++) {
    no_sign |= is(p, i, "unsigned");
    if (is(p, i, "char")) bits = 8;
    if (is(p, i, "short")) bits = 16;
    if (is(p, i, "long")) bits = 64;
    if (!is_plain(p, i)) return NULL;
    any = true;
  }
  TdSession *s = p->in->session;
  return !any ? NULL : no_sign ? td_type_uint(s, bits) : td_type_int(s, bits);
}

/* ap_int<5>, ap_fixed<8, 3>: the name is token `from`; *text is it with its numbers. */
static const TdType *sized(Parse *p, const Known *k, size_t from, size_t end, const char **text) {
  TdSession *s = p->in->session;
  size_t comma = from + 2;
  int64_t w, i;
  if (!is(p, from + 1, "<") || end < from + 4 || !is(p, end - 1, ">")) return NULL;
  while (comma < end - 1 && !is(p, comma, ",")) comma++;
  bool fixed = k->kind == 'X' || k->kind == 'Y';
  if (!number(p, from + 2, comma, &w) || w < 1 || w > (fixed ? 64 : TD_MAX_BITS) ||
      fixed == (comma == end - 1))
    return NULL;
  *text = td_text_fmt(p->arena, "%s<%lld>", k->name, (long long)w);
  if (!fixed) return k->kind == 'I' ? td_type_int(s, (int)w) : td_type_uint(s, (int)w);
  if (!number(p, comma + 1, end - 1, &i) || i < -64 || i > 128) return NULL;
  *text = td_text_fmt(p->arena, "%s<%lld, %lld>", k->name, (long long)w, (long long)i);
  return td_type_fixed(s, k->kind == 'X', (int)w, (int)(w - i));
}

/* Tokens as text: "ap_int < 5 >". */
static const char *text_of(Parse *p, size_t from, size_t end) {
  TdText t = td_text_new(p->arena);
  for (size_t i = from; i < end; i++) {
    bool apart = i > from && token(p, i)->word && token(p, i - 1)->word;
    td_text_putf(&t, "%s%s", apart ? " " : "", token(p, i)->text);
  }
  return td_text_str(&t);
}

/* Extents of array types, as they are found: tokens "[4][N]". */
typedef struct Extents {
  size_t from[TD_MAX_RANK], end[TD_MAX_RANK], n;
} Extents;

/* The type of the elements that tokens from up to end say, aliases followed, and in C++ without
 * them; NULL: Tide has none for it. What aliases say of extents is added. */
static const TdType *type_of(Parse *p, size_t from, size_t end, const char **text, Extents *rows) {
  TdSession *s = p->in->session;
  *text = text_of(p, from, end);
  if (is(p, from, "std") && is(p, from + 1, "::")) from += 2;
  const Alias *x =
      end == from + 1 && rows->n < TD_MAX_RANK ? find(p, token(p, from)->text, true) : NULL;
  if (x) {
    rows->from[rows->n] = x->extents;
    rows->end[rows->n++] = x->end;
    return type_of(p, x->from, x->to, text, rows);
  }
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const Known *k = &known[i];
    if (!is(p, from, k->name)) continue;
    if (!k->bits) return sized(p, k, from, end, text);
    if (end != from + 1) return NULL;
    return k->kind == 'b'   ? td_type_bool(s)
           : k->kind == 'f' ? td_type_float(s, k->bits)
           : k->kind == 'i' ? td_type_int(s, k->bits)
                            : td_type_uint(s, k->bits);
  }
  return plain_integer(p, from, end);
}

/* ---- a parameter ---- */

/* Reads "[4][N]" from token i up to end. */
static bool extents(Parse *p, TdIpsigParam *x, size_t i, size_t end) {
  for (; i < end; x->rank++) {
    size_t close = behind(p, i, "[", "]") - 1;
    if (!is(p, i, "[") || x->rank == TD_MAX_RANK)
      return refuse(p, i, "ip-type", "'%s' is declared in a way that Tide cannot read", x->name);
    if (close == i + 1 && x->rank == 0)
      x->shaped = false;
    else if (!number(p, i + 1, close, &x->extent[x->rank]) || x->extent[x->rank] < 1)
      return refuse(p, i + 1, "ip-type", "extent '%s' of '%s' is no number that Tide can tell",
                    text_of(p, i + 1, close), x->name);
    i = close + 1;
  }
  return true;
}

/* Reads the declarator "*a", "&x", "(&a)[8]", "a[8]", whose tokens are i up to end, of elements
 * that are arrays themselves (`row`), or not. */
static bool declarator(Parse *p, TdIpsigParam *x, size_t i, size_t end, bool row) {
  bool grouped = is(p, i, "("), reference = false;
  i += grouped;
  x->shaped = true;
  for (; is(p, i, "*") || is(p, i, "&"); i++) {
    if (x->ip.pass != TD_IP_VALUE || reference)
      return refuse(p, i, "ip-type", "pointers to pointers have no meaning here");
    if (is(p, i, "&"))
      reference = true;
    else
      x->shaped = false;
    if (is(p, i, "*")) x->ip.pass = TD_IP_ARRAY;
    i += is(p, i + 1, "const");
  }
  if (!token(p, i)->word || i >= end)
    return refuse(p, i, "ip-type", "this parameter has no name, by which a call could give it");
  x->name = token(p, i)->text;
  x->loc = loc_of(p, i);
  i += 1 + grouped;
  if (i < end && x->ip.pass == TD_IP_ARRAY)
    return refuse(p, i, "ip-type", "'%s' is an array of pointers", x->name);
  if (row && x->ip.pass == TD_IP_ARRAY) x->rank = 1;
  if ((i < end || row) && x->ip.pass != TD_IP_ARRAY)
    x->ip.pass = reference ? TD_IP_BOUND : TD_IP_ARRAY;
  if (reference && x->ip.pass == TD_IP_VALUE && !x->ip.constant) {
    x->ip.pass = TD_IP_REFERENCE;
    x->extent[x->rank++] = 1;
    return true;
  }
  return extents(p, x, i, end);
}

/* The token behind a type that begins at token i: the words of a built-in one, or a name and its
 * arguments. */
static size_t behind_type(const Parse *p, size_t i) {
  size_t from = i;
  while (is_plain(p, i)) i++;
  if (i > from) return i + is(p, i, "double");
  while (token(p, i)->word && is(p, i + 1, "::")) i += 2;
  i += token(p, i)->word;
  return is(p, i, "<") ? behind(p, i, "<", ">") : i;
}

/* A parameter, tokens from up to end. */
static bool parameter(Parse *p, TdIpsig *out, size_t from, size_t end) {
  TdIpsigParam x = {.shaped = true};
  Extents rows = {.n = 0};
  bool row = false;
  size_t stop = from;
  while (stop < end && !is(p, stop, "=")) stop++;
  x.ip.constant = is(p, from, "const");
  from += x.ip.constant;
  size_t next = behind_type(p, from);
  x.elem = type_of(p, from, next, &x.ip.type, &rows);
  if (!x.elem) {
    refuse(p, from, "ip-type", "Tide has no type for '%s'", x.ip.type);
    if (strstr(x.ip.type, "stream<"))
      td_diag_help(p->d, "write a function that takes an array, and fills the stream from it");
    return false;
  }
  x.ip.constant |= is(p, next, "const");
  next += is(p, next, "const");
  for (size_t i = 0; i < rows.n; i++) row |= rows.end[i] > rows.from[i];
  if (!declarator(p, &x, next, stop, row)) return false;
  for (size_t i = 0; i < rows.n; i++)
    if (!extents(p, &x, rows.from[i], rows.end[i])) return false;
  td_vec_push(p->arena, &out->param, x);
  return true;
}

/* ---- the function ---- */

static bool parameters(Parse *p, const Found *f, TdIpsig *out) {
  size_t from = f->open + 1, depth = 0;
  if (f->close == from || (f->close == from + 1 && is(p, from, "void"))) return true;
  for (size_t i = from; i <= f->close; i++) {
    if (is(p, i, "(")) i = behind(p, i, "(", ")") - 1;
    if (is(p, i, "[")) i = behind(p, i, "[", "]") - 1;
    bool end = i == f->close || (depth == 0 && is(p, i, ","));
    if (end && !parameter(p, out, from, i)) return false;
    if (end) from = i + 1;
    depth += is(p, i, "<");
    depth -= depth && is(p, i, ">");
  }
  return true;
}

/* Whether two functions take the same types. */
static bool same_types(const TdIpsig *x, const TdIpsig *y) {
  bool same = x->param.n == y->param.n;
  for (size_t i = 0; same && i < x->param.n; i++)
    same = x->param.at[i].elem == y->param.at[i].elem &&
           x->param.at[i].ip.pass == y->param.at[i].ip.pass;
  return same;
}

/* Whether it returns nothing. */
static bool check_result(Parse *p, const Found *f) {
  size_t at = f->name;
  while (at > f->from && !is(p, at - 1, "void")) at--;
  return at == f->name ||
         refuse(p, f->name, "ip-function",
                "'%s' returns a value (%s): a function that Tide calls is void and writes its "
                "results",
                f->symbol, text_of(p, f->from, f->name));
}

static bool check_alone(Parse *p, const TdIpsig *first, const Found *f) {
  TdIpsig other = {.symbol = f->symbol};
  const Found *a = &p->found.at[0];
  if (strcmp(a->symbol, f->symbol) != 0) {
    refuse(p, f->name, "ip-function", "'%s' may be %s or %s: name it with its namespace", p->want,
           a->symbol, f->symbol);
    return false;
  }
  if (parameters(p, f, &other) && same_types(first, &other)) return true;
  *p->d = (TdDiag){.arena = p->d->arena};
  refuse(p, f->name, "ip-overload", "'%s' is overloaded: a call from Tide could mean either",
         f->symbol);
  td_diag_note(p->d, loc_of(p, a->name), "the other one");
  td_diag_help(p->d, "give one of them a name of its own");
  return false;
}

/* Whether the source says what the function does. */
static bool check_defined(Parse *p) {
  for (size_t i = 0; i < p->found.n; i++)
    if (p->found.at[i].defined) return true;
  refuse(p, p->found.at[0].name, "ip-function",
         "'%s' is declared here, and not defined in this source", p->found.at[0].symbol);
  td_diag_help(p->d, "name the source that defines it, or include that in quotes");
  return false;
}

bool td_ipsig_read(TdArena *a, const TdIpsigText *in, const char *symbol, TdIpsig *out, TdDiag *d) {
  Parse p = {.arena = a, .in = in, .want = symbol, .space = td_text_new(a), .d = d};
  p.lex = td_iplex_of(a, in->text, in->path, in->nfile);
  take_file(&p);
  if (!p.found.n) {
    td_diag_set(d, TD_USAGE, "ip-function", (TdLoc){0}, "%s has no function '%s'", in->given,
                symbol);
    return false;
  }
  const Found *f = &p.found.at[0];
  p.inside = f->symbol;
  *out = (TdIpsig){.symbol = f->symbol, .loc = loc_of(&p, f->name)};
  for (size_t i = 0; i < p.found.n; i++)
    if (p.found.at[i].template_)
      return refuse(&p, p.found.at[i].name, "ip-template",
                    "'%s' is a template: write a function that calls one instance of it",
                    p.found.at[i].symbol);
  if (!check_result(&p, f) || !parameters(&p, f, out) || !check_defined(&p)) return false;
  for (size_t i = 1; i < p.found.n; i++)
    if (!check_alone(&p, out, &p.found.at[i])) return false;
  return true;
}
