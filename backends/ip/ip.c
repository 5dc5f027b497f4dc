/* ip.c - a C wrapper around a C++ function, compiled into a shared object of the cache. */
#include "backends/ip/ip.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/host/compiler.h"
#include "backends/ip/declare.h"
#include "base/home.h"

/* ---- files ---- */

typedef struct Files {
  TdArena *arena;
  const char *folder; /* with its '/', or "" */
  TD_VEC(TdIpFile) list;
  TdDiag *d;
} Files;

static bool add_file(Files *f, const char *name);

/* The name, from the folder of the source, of what a file includes: "in/../b.h" is "b.h". */
static const char *name_of(TdArena *a, const char *file, const char *included) {
  const char *slash = strrchr(file, '/');
  size_t n = slash && *included != '/' ? (size_t)(slash - file) + 1 : 0;
  while (n && strncmp(included, "../", 3) == 0) {
    included += 3;
    n--;
    while (n && file[n - 1] != '/') n--;
  }
  return td_text_fmt(a, "%.*s%s", (int)n, file, included);
}

/* Adds what a file includes in quotes, if it is there. */
static bool add_includes(Files *f, const char *file, const char *text) {
  bool ok = true;
  for (const char *s = text; ok && (s = strstr(s, "#include \"")); s++) {
    const char *name = s + strlen("#include \"");
    size_t n = strcspn(name, "\"\n");
    const char *own = name_of(f->arena, file, td_arena_strndup(f->arena, name, n));
    bool seen = false;
    for (size_t i = 0; i < f->list.n; i++) seen |= strcmp(f->list.at[i].name, own) == 0;
    const char *path = td_text_fmt(f->arena, "%s%s", f->folder, own);
    if (!seen && td_cache_read_file(f->arena, path)) ok = add_file(f, own);
  }
  return ok;
}

static bool add_file(Files *f, const char *name) {
  const char *text = td_cache_read_file(f->arena, td_text_fmt(f->arena, "%s%s", f->folder, name));
  if (strstr(name, "..") || name[0] == '/')
    return td_diag_set(f->d, TD_UNSUPPORTED, "ip-include", (TdLoc){0},
                       "%s%s is outside of the folder of the source, and cannot go with it",
                       f->folder, name);
  td_vec_push(f->arena, &f->list, ((TdIpFile){name, text}));
  return add_includes(f, name, text);
}

bool td_ip_files(TdArena *a, const char *path, TdIp *out, TdDiag *d) {
  const char *slash = strrchr(path, '/');
  size_t n = slash ? (size_t)(slash - path) + 1 : 0;
  char now[4096];
  Files f = {.arena = a, .folder = td_arena_strndup(a, path, n), .d = d};
  out->path = path;
  if (*path != '/' && !getcwd(now, sizeof now))
    return td_diag_set(d, TD_USAGE, "foreign-file", (TdLoc){0}, "the folder of %s is not known",
                       path);
  if (*path != '/') out->path = td_text_fmt(a, "%s/%s", now, path);
  if (!add_file(&f, path + n)) return false;
  out->file = f.list.at;
  out->nfile = f.list.n;
  return true;
}

/* ---- the call ---- */

/* The name that <stdint.h> has for a built-in type, or the same. */
static const char *fixed_name(const char *type) {
  static const char *const names[][2] = {
      {"int", "int32_t"},           {"unsigned", "uint32_t"}, {"unsigned int", "uint32_t"},
      {"short", "int16_t"},         {"signed", "int32_t"},    {"unsigned short", "uint16_t"},
      {"signed char", "int8_t"},    {"long", "int64_t"},      {"unsigned char", "uint8_t"},
      {"unsigned long", "uint64_t"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(type, names[i][0]) == 0) return names[i][1];
  return type;
}

/* Whether the IP takes what the side holds as it is: a reference to an array does not take the
 * pointer that an array parameter is. */
static bool is_straight(const TdIpParam *ip, const TdIpSide *side) {
  return ip->pass != TD_IP_BOUND && strcmp(fixed_name(ip->type), fixed_name(side->cell)) == 0;
}

/* Whether cells of memory hold the words of numbers of this type, which C++ has a class for. */
static bool is_word(const TdParam *p) {
  const TdType *t = td_type_scalar(p->type);
  bool half = t->kind == TD_T_FLOAT && t->w == 16;
  return td_type_is_fixed(t) || half || t->w > 64;
}

/* "a[i0][i1]" for an array of `rank` dimensions. */
static const char *element(TdArena *a, const char *name, int rank) {
  TdText t = td_text_new(a);
  td_text_puts(&t, name);
  for (int d = 0; d < rank; d++) td_text_putf(&t, "[i%d]", d);
  return td_text_str(&t);
}

/* The statement that copies an element between the side and the IP's own array. */
static const char *copy(TdArena *a, const TdParam *p, const TdIpSide *side, bool back) {
  const char *own = element(a, td_text_fmt(a, "ip_%s", side->name), p->type->rank);
  const char *theirs = element(a, side->name, p->type->rank);
  const char *to = back ? theirs : own, *from = back ? own : theirs;
  if (!side->bits || !is_word(p)) return td_text_fmt(a, "%s = %s;", to, from);
  return td_text_fmt(a, "tide_%s(%s, %s);", back ? "put" : "take", to, from);
}

/* Loops over all elements around a statement. */
static void put_loops(TdText *out, const TdType *t, const char *body) {
  for (int d = 0; d < t->rank; d++) {
    int64_t n = 0;
    td_type_extent(t, d, &n);
    td_text_putf(out, "%*sfor (int i%d = 0; i%d < %" PRId64 "; i%d++)\n", 2 * d + 2, "", d, d, n,
                 d);
  }
  td_text_putf(out, "%*s%s\n", 2 * t->rank + 2, "", body);
}

/* The IP's own array for a parameter, filled. */
static void put_own(TdText *out, const TdIpParam *ip, const TdParam *p, const TdIpSide *side) {
  td_text_putf(out, "  %s ip_%s", ip->type, side->name);
  for (int d = 0; d < p->type->rank; d++) {
    int64_t n = 0;
    td_type_extent(p->type, d, &n);
    td_text_putf(out, "[%" PRId64 "]", n);
  }
  td_text_puts(out, ";\n");
  put_loops(out, p->type, copy(out->arena, p, side, false));
}

/* An argument of the call: the side's own, or ours. */
static const char *argument(TdText *out, const TdIpParam *ip, const TdParam *p,
                            const TdIpSide *side) {
  TdArena *a = out->arena;
  bool own = !is_straight(ip, side);
  const char *name = own ? td_text_fmt(a, "ip_%s", side->name) : side->name;
  if (ip->pass == TD_IP_REFERENCE) return td_text_fmt(a, "%s[0]", name);
  if (ip->pass != TD_IP_VALUE || !own) return name;
  if (!side->bits || !is_word(p)) return td_text_fmt(a, "(%s)%s", ip->type, side->name);
  td_text_putf(out, "  %s %s;\n  %s\n", ip->type, name, copy(a, p, side, false));
  return name;
}

void td_ip_call(TdText *out, const TdIp *ip, const TdParam *param, size_t n, const TdIpSide *side) {
  TdText call = td_text_new(out->arena);
  for (size_t i = 0; i < n; i++) {
    bool tensor = param[i].type->kind == TD_T_TENSOR;
    if (tensor && !is_straight(&ip->param[i], &side[i]))
      put_own(out, &ip->param[i], &param[i], &side[i]);
    const char *a = argument(out, &ip->param[i], &param[i], &side[i]);
    td_text_putf(&call, "%s%s", i ? ", " : "", a);
  }
  td_text_putf(out, "  ::%s(%s);\n", ip->symbol, td_text_str(&call));
  for (size_t i = 0; i < n; i++) {
    bool tensor = param[i].type->kind == TD_T_TENSOR;
    if (tensor && !ip->param[i].constant && !is_straight(&ip->param[i], &side[i]))
      put_loops(out, param[i].type, copy(out->arena, &param[i], &side[i], true));
  }
}

/* ---- the wrapper ---- */

/* What every wrapper begins with: numbers that cells hold as words, taken and put. */
static const char head[] =
    "#include <stdint.h>\n"
    "#include \"ap_int.h\"\n"
    "#include \"ap_fixed.h\"\n"
    "#include \"tide_ops.h\"\n"
    "template <int n> struct tide_word { uint64_t at[n]; };\n"
    "template <class T, class W> void tide_take(T &x, const W &word) {\n"
    "  x.range(T::width - 1, 0) = word;\n"
    "}\n"
    "template <class T, int n> void tide_take(T &x, const tide_word<n> &word) {\n"
    "  for (int i = 0; i < n; i++)\n"
    "    x.range(i + 1 < n ? 64 * i + 63 : T::width - 1, 64 * i) = word.at[i];\n"
    "}\n"
    "inline void tide_take(half &x, const uint16_t &word) { x = tide::half_of(ap_uint<16>(word)); "
    "}\n"
    "template <class T, class W> void tide_put(W &word, const T &x) {\n"
    "  word = (W)x.range(T::width - 1, 0);\n"
    "}\n"
    "template <class T, int n> void tide_put(tide_word<n> &word, const T &x) {\n"
    "  ap_int<64 * n + 1> all = x;\n"
    "  for (int i = 0; i < n; i++) word.at[i] = all.range(64 * i + 63, 64 * i).to_uint64();\n"
    "}\n"
    "inline void tide_put(uint16_t &word, const half &x) {\n"
    "  word = (uint16_t)tide::half_word(x).to_uint64();\n"
    "}\n";

/* The type of a memory cell (num.h) in C++. */
static const char *cell_of(TdArena *a, const TdType *t) {
  int64_t bits = 8 * (int64_t)td_type_bytes(t);
  if (t->w > 64) return td_text_fmt(a, "tide_word<%" PRId64 ">", bits / 64);
  if (t->kind == TD_T_FLOAT) return bits == 64 ? "double" : bits == 32 ? "float" : "uint16_t";
  bool no_sign = t->kind == TD_T_UINT || t->kind == TD_T_UFIXED || t->kind == TD_T_BOOL;
  return td_text_fmt(a, "%sint%" PRId64 "_t", no_sign ? "u" : "", bits);
}

/* "const int8_t a[4][8]". */
static void put_param(TdText *out, const TdParam *p, const TdIpSide *side) {
  td_text_putf(out, "%s %s", side->cell, side->name);
  for (int d = 0; p->type->kind == TD_T_TENSOR && d < p->type->rank; d++) {
    int64_t n = 0;
    td_type_extent(p->type, d, &n);
    td_text_putf(out, "[%" PRId64 "]", n);
  }
}

/* The wrapper, as a function of this name. */
static const char *wrapper_of(TdArena *a, const char *name, const TdIp *ip, const TdParam *param,
                              size_t n) {
  TdText t = td_text_new(a);
  TdIpSide *side = TD_NEWN(a, TdIpSide, n);
  td_text_puts(&t, head);
  td_text_putf(&t, "#include \"%s\"\n", ip->path);
  td_text_putf(&t, "extern \"C\" __attribute__((visibility(\"default\"))) void %s(", name);
  for (size_t i = 0; i < n; i++) {
    side[i] =
        (TdIpSide){td_text_fmt(a, "p%zu", i), cell_of(a, td_type_scalar(param[i].type)), true};
    if (i) td_text_puts(&t, ", ");
    put_param(&t, &param[i], &side[i]);
  }
  td_text_puts(&t, ") {\n");
  td_ip_call(&t, ip, param, n, side);
  td_text_puts(&t, "}\n");
  return td_text_str(&t);
}

/* ---- the compiler ---- */

/* Tells the first error that the compiler names a line of one of the files for. */
static bool complain(const TdIpsigText *in, const char *said, TdDiag *d) {
  for (size_t i = 0; i < in->nfile; i++) {
    size_t n = strlen(in->path[i]);
    for (const char *s = said; (s = strstr(s, in->path[i])); s += n) {
      char *end;
      if (s[n] != ':') continue;
      uint32_t line = (uint32_t)strtoul(s + n + 1, &end, 10);
      uint32_t col = *end == ':' ? (uint32_t)strtoul(end + 1, NULL, 10) : 1;
      const char *error = strstr(s, "error: "), *stop = s + strcspn(s, "\n");
      if (!line || !error || error > stop) continue;
      TdLoc at = {in->source[i], line, (uint16_t)col, 1};
      error += strlen("error: ");
      return td_diag_set(d, TD_USAGE, "foreign-source", at, "%.*s", (int)(stop - error), error);
    }
  }
  const char *error = strstr(said, "error: ");
  error = error ? error + strlen("error: ") : said;
  return td_diag_set(d, TD_USAGE, "foreign-source", (TdLoc){0}, "the source does not compile: %.*s",
                     (int)strcspn(error, "\n"), error);
}

/* What a file is made of: from `what`, the compiler, the headers, and the files of the IP. */
static TdText key_of(const TdIpShop *s, const char *what, const TdIp *ip) {
  TdText key = td_text_new(s->cache.arena);
  td_text_putf(&key, "ip\n%s\n%s\n%s", getenv("TIDE_CXX") ? getenv("TIDE_CXX") : "", s->headers,
               what);
  for (size_t i = 0; i < ip->nfile; i++)
    td_text_putf(&key, "%s\n%s\n", ip->file[i].name, ip->file[i].text);
  return key;
}

/* What the compiler is to do: `from` becomes `kept`, by way of `to` in a folder aside. */
typedef struct Job {
  const TdIpsigText *in;
  const char *const *flags; /* ended by NULL */
  const char *from, *to, *kept;
} Job;

/* Its command. */
static const char *const *command(const TdIpShop *s, const Job *j) {
  size_t n, nflag = 0;
  while (j->flags[nflag]) nflag++;
  const char *const all[] = {"-std=c++17", "-w", "-I", s->headers, "-o", j->to, j->from};
  size_t nall = sizeof all / sizeof *all;
  const char **word =
      td_child_words(s->cache.arena, getenv("TIDE_CXX"), "g++", nflag + nall + 1, &n);
  for (size_t i = 0; i < nflag; i++) word[n++] = j->flags[i];
  for (size_t i = 0; i < nall; i++) word[n++] = all[i];
  word[n] = NULL;
  return word;
}

static bool compile(TdIpShop *s, const Job *j) {
  static const TdCompiler cxx = {"C++", "g++", "TIDE_CXX", 120};
  TdArena *a = s->cache.arena;
  const char *log = td_text_fmt(a, "%s.log", j->to);
  TdChildEnd end = td_compiler_run(td_arena_ctx(a), &cxx, command(s, j), log, s->cache.diag);
  if (end == TD_CHILD_DONE) return td_cache_keep(&s->cache, j->to, j->kept);
  if (end != TD_CHILD_FAILED) return false;
  const char *said = td_cache_read_file(a, log);
  return complain(j->in, said ? said : "", s->cache.diag);
}

bool td_ip_open(TdIpShop *s, TdArena *a, TdDiag *d) {
  char home[4096];
  *s = (TdIpShop){.cache = {.cap = 0}};
  if (!td_home_find("backends/hls/include", home, sizeof home))
    return td_diag_set(d, TD_USAGE, "no-headers", (TdLoc){0},
                       "Tide's HLS headers are neither beside the program nor installed");
  s->headers = td_text_fmt(a, "%s/backends/hls/include", home);
  return td_cache_open(&s->cache, a, d);
}

/* The path of a file of the IP. */
static const char *path_of(TdArena *a, const TdIp *ip, size_t i) {
  const char *slash = strrchr(ip->path, '/');
  return td_text_fmt(a, "%.*s/%s", (int)(slash - ip->path), ip->path, ip->file[i].name);
}

/* Fills d where libclang wrote nothing. */
static bool fail_declare(TdIpShop *s, const TdChild *x, TdChildEnd how) {
  TdDiag *d = s->cache.diag;
  if (how != TD_CHILD_FAILED) return false;
  if (x->status == TD_DECLARE_DISK) return td_cache_fail(&s->cache, "cannot write in", "the cache");
  if (x->status != TD_DECLARE_ABSENT)
    return td_diag_set(d, TD_UNSUPPORTED, "clang-failed", (TdLoc){0},
                       x->status > 128 ? "libclang was ended by signal %d on this source"
                                       : "libclang gave up on this source with status %d",
                       x->status > 128 ? x->status - 128 : x->status);
  td_diag_set(d, TD_UNSUPPORTED, "no-clang", (TdLoc){0},
              "declarations are read by libclang, which is not here");
  td_diag_help(d, "apt-get install libclang1-14 libclang-common-14-dev");
  return false;
}

/* Has libclang write what it says into file `to`, in a copy of this process. */
static bool declare(TdIpShop *s, TdDeclare *job) {
  static const TdCompiler clang = {.language = "C++", .seconds = 120};
  TdChild x;
  TdDiag *d = s->cache.diag;
  const char *log = td_text_fmt(s->cache.arena, "%s.log", job->to);
  TdChildEnd how = td_child_start_copy(&x, td_declare_run, job, "libclang", log, clang.seconds);
  if (how == TD_CHILD_RUNS) how = td_compiler_look(&x, &clang, td_arena_ctx(s->cache.arena), d);
  return how == TD_CHILD_DONE || fail_declare(s, &x, how);
}

bool td_ip_declare(TdIpShop *s, const TdIp *ip, const char *symbol, TdIpsigText *in) {
  TdArena *a = s->cache.arena;
  TdText key = key_of(s, in->cxx ? "declarations of C++\n" : "declarations of C\n", ip);
  const char *folder = td_cache_aside(&s->cache), **path = TD_NEWN(a, const char *, ip->nfile);
  if (!folder) return false;
  for (size_t i = 0; i < ip->nfile; i++) path[i] = path_of(a, ip, i);
  in->path = path;
  in->nfile = ip->nfile;
  td_text_putf(&key, "%s\n%s", ip->path, symbol);
  const char *kept = td_cache_path(&s->cache, key.at, key.n, ".decl");
  TdDeclare job = {symbol, path, s->headers, ip->nfile, in->cxx, td_text_fmt(a, "%s/ip", folder)};
  bool before = td_cache_has(&s->cache, kept);
  if (!before && !declare(s, &job)) return false;
  in->text = td_cache_read_file(a, before ? kept : job.to);
  if (!in->text) return td_cache_fail(&s->cache, "cannot read", job.to);
  if (!td_ipsig_check(in, s->cache.diag)) return false;
  return before || !*in->text || td_cache_keep(&s->cache, job.to, kept);
}

bool td_ip_build(TdIpShop *s, const TdIpsigText *in, const TdIp *ip, const TdParam *param, size_t n,
                 TdForeign *out) {
  static const char *const flags[] = {
      "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", NULL};
  TdArena *a = s->cache.arena;
  TdText key = key_of(s, wrapper_of(a, "tide_ip", ip, param, n), ip);
  out->library = td_cache_path(&s->cache, key.at, key.n, ".so");
  out->symbol = td_text_fmt(a, "tide_ip_%016" PRIx64, td_map_hash(key.at, key.n));
  if (td_cache_has(&s->cache, out->library)) return true;
  const char *folder = td_cache_aside(&s->cache);
  if (!folder) return false;
  const char *from = td_text_fmt(a, "%s/wrapper.cpp", folder);
  Job j = {in, flags, from, td_text_fmt(a, "%s/ip.so", folder), out->library};
  if (!td_cache_write_file(from, wrapper_of(a, out->symbol, ip, param, n)))
    return td_cache_fail(&s->cache, "cannot write", from);
  return compile(s, &j);
}
