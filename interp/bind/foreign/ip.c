/* ip.c - tide.extern of a C++ source, or one in C without types: what it declares is the
 * parameters, against which the types that the table gives are checked. */
#include <string.h>

#include "backends/host/cache.h"
#include "backends/ip/ip.h"
#include "bind/program/unit.h"

/* A C++ function becoming a unit. */
typedef struct Ip {
  TdStore *st;
  const TdBindIp *in;
  TdIpsigs all; /* of its name */
  TdIpsig sig;  /* the one that is meant */
  TdDiag *d;
} Ip;

/* The name of a parameter in Lua: with a '_' where Lua, or tide.extern, has another use for it. */
static const char *lua_name(const Ip *x, const char *name) {
  static const char *const taken[] = {"and",    "elseif", "end",    "function", "in",      "local",
                                      "model",  "name",   "nil",    "not",      "or",      "pure",
                                      "repeat", "source", "symbol", "then",     "library", "until"};
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
    if (strcmp(name, taken[i]) == 0) return td_text_fmt(x->st->arena, "%s_", name);
  return name;
}

/* Whether a parameter but the i-th has this name. */
static bool is_taken(const TdIpsig *f, size_t i, const char *name) {
  for (size_t k = 0; k < f->param.n; k++)
    if (k != i && strcmp(name, f->param.at[k].name) == 0) return true;
  return false;
}

/* Gives parameter i a name that Lua can use and no other parameter has. */
static void name_param(const Ip *x, const TdIpsig *f, size_t i) {
  TdIpsigParam *p = &f->param.at[i];
  p->name = lua_name(x, p->name);
  while (is_taken(f, i, p->name)) p->name = td_text_fmt(x->st->arena, "%s_", p->name);
}

/* The type that the table gives a parameter, or NULL. */
static const TdParam *given(const Ip *x, const char *name) {
  for (size_t i = 0; i < x->in->nparam; i++)
    if (strcmp(x->in->param[i].sym->name, name) == 0) return &x->in->param[i];
  return NULL;
}

/* The type of a parameter by its declaration; NULL: a pointer, whose shape is not there. */
static const TdType *declared(const Ip *x, const TdIpsigParam *p) {
  if (!p->rank && p->ip.pass == TD_IP_VALUE) return p->elem;
  return p->shaped ? td_type_tensor_of(x->st->session, p->elem, p->rank, p->extent) : NULL;
}

/* Whether the type that the table gives can be the declared one, of which some extents are open. */
static bool fits(const TdIpsigParam *p, const TdType *t) {
  if (t->kind != TD_T_TENSOR || t->elem != p->elem) return false;
  for (int d = 1; d < p->rank; d++) {
    int64_t n = 0;
    if (t->rank != p->rank || !td_type_extent(t, d, &n) || n != p->extent[d]) return false;
  }
  return p->rank ? t->rank == p->rank : t->rank == 1;
}

/* The type of parameter p; NULL with d filled. */
static const TdType *type_of(const Ip *x, const TdIpsigParam *p) {
  const TdParam *g = given(x, p->name);
  const TdType *own = declared(x, p);
  TdArena *a = x->d->arena;
  if (!own && !g) {
    td_diag_set(x->d, TD_USAGE, "ip-shape", p->loc, "'%s' does not say how many elements it has",
                p->name);
    td_diag_help(x->d, "say it in tide.extern: %s = %s[n]", p->name, td_type_str(a, p->elem));
    return NULL;
  }
  if (!g || own == g->type || (!own && fits(p, g->type))) return g ? g->type : own;
  td_diag_set(x->d, TD_USAGE, "ip-type", p->loc, "'%s' is %s here, not %s as in tide.extern",
              p->name, own ? td_type_str(a, own) : td_text_fmt(a, "%s *", p->ip.type),
              td_type_str(a, g->type));
  if (g->loc.source) td_diag_note(x->d, g->loc, "given here");
  return NULL;
}

/* Whether the table names parameters only that the function has. */
static bool check_names(const Ip *x) {
  for (size_t i = 0; i < x->in->nparam; i++) {
    const char *name = x->in->param[i].sym->name;
    bool found = false;
    for (size_t k = 0; k < x->sig.param.n; k++) found |= strcmp(x->sig.param.at[k].name, name) == 0;
    if (!found)
      return td_diag_set(x->d, TD_USAGE, "ip-type", x->sig.loc, "'%s' has no parameter '%s'",
                         x->sig.symbol, name);
  }
  return true;
}

/* Whether a function has parameters of all the types that the table gives. */
static bool takes_given(const Ip *x, const TdIpsig *f) {
  bool all = !f->wrong;
  for (size_t i = 0; all && i < x->in->nparam; i++) {
    const TdParam *g = &x->in->param[i];
    const TdIpsigParam *p = NULL;
    for (size_t k = 0; k < f->param.n; k++)
      if (strcmp(f->param.at[k].name, g->sym->name) == 0) p = &f->param.at[k];
    const TdType *own = p ? declared(x, p) : NULL;
    all = p && (own ? own == g->type : fits(p, g->type));
  }
  return all;
}

/* Finds the function that is meant: the only one, or the only one with the types that the table
 * gives. */
static bool choose(Ip *x) {
  size_t n = 0;
  for (size_t i = 0; i < x->all.n; i++) {
    TdIpsig *f = &x->all.at[i];
    for (size_t k = 0; k < f->param.n; k++) name_param(x, f, k);
    bool fit = x->all.n == 1 || (x->in->nparam && takes_given(x, f));
    if (fit) x->sig = *f;
    n += fit;
  }
  if (n != 1) return td_ipsig_refuse(&x->all, x->d);
  if (x->sig.wrong) *x->d = *x->sig.wrong;
  return !x->sig.wrong;
}

/* The parameters in the order of the function; NULL with d filled. */
static const TdParam *make_params(Ip *x, TdIp *ip) {
  size_t n = x->sig.param.n;
  TdArena *a = x->st->arena;
  TdParam *param = TD_NEWN(a, TdParam, n);
  TdIpParam *pass = TD_NEWN(a, TdIpParam, n);
  if (!check_names(x)) return NULL;
  for (size_t i = 0; i < n; i++) {
    const TdIpsigParam *p = &x->sig.param.at[i];
    const TdType *t = type_of(x, p);
    if (!t) return NULL;
    TdSymKind kind = t->kind == TD_T_TENSOR ? TD_SYM_TENSOR : TD_SYM_SCALAR;
    param[i] = (TdParam){.sym = td_store_sym(x->st, p->name, kind), .type = t, .loc = p->loc};
    pass[i] = p->ip;
    if (t->kind == TD_T_TENSOR && p->ip.pass == TD_IP_VALUE) pass[i].pass = TD_IP_ARRAY;
  }
  ip->param = pass;
  return param;
}

/* The files of the IP as sources of diagnostics. */
static const uint32_t *add_sources(const Ip *x, TdSession *session, const TdIp *ip) {
  uint32_t *source = TD_NEWN(x->st->arena, uint32_t, ip->nfile);
  const char *slash = strrchr(x->in->path, '/');
  int n = slash ? (int)(slash - x->in->path) + 1 : 0;
  for (size_t i = 0; i < ip->nfile; i++) {
    const char *chunk = td_text_fmt(x->st->arena, "@%.*s%s", n, x->in->path, ip->file[i].name);
    const char *text = ip->file[i].text;
    source[i] = td_sources_add(session->sources, chunk, text, strlen(text));
  }
  return source;
}

const TdParam *td_bind_ip(lua_State *L, TdStore *st, const TdBindIp *in, size_t *n,
                          TdForeign *out) {
  TdBind *b = td_bind_enter(L);
  TdDiag d = td_bind_diag(td_bind_arena(L));
  Ip x = {.st = st, .in = in, .d = &d};
  TdIp *ip = TD_NEW(st->arena, TdIp);
  TdIpsigText text = {.session = b->session, .given = in->path, .cxx = in->cxx};
  TdIpShop shop;
  if (!td_cache_read_file(st->arena, in->path))
    td_bind_fail(L, "foreign-file", "cannot read %s, which '%s' is in", in->path, in->symbol);
  ip->source = in->path;
  bool ok = td_ip_files(st->arena, in->path, ip, &d) && td_ip_open(&shop, st->arena, &d);
  if (ok) text.source = add_sources(&x, b->session, ip);
  ok = ok && td_ip_declare(&shop, ip, in->symbol, &text) &&
       td_ipsig_read(st->arena, &text, in->symbol, &x.all, &d) && choose(&x);
  ip->symbol = x.sig.symbol;
  *n = x.sig.param.n;
  const TdParam *param = ok ? make_params(&x, ip) : NULL;
  if (!param || (in->cxx && !td_ip_build(&shop, &text, ip, param, *n, out))) td_bind_raise(L, &d);
  if (!in->cxx) return param;
  out->source = NULL;
  out->ip = ip;
  return param;
}
