/* edit.c - path copies by uid: every edit gives a new root and shares what it did not touch. */
#include "ir/edit.h"

#include <assert.h>
#include <string.h>

#include "ir/text/printer.h"

typedef struct Finder {
  uint32_t uid;
  const TdStmt *found;
} Finder;

static bool look(void *ud, const TdStmt *s) {
  Finder *f = ud;
  if (s->uid == f->uid) f->found = s;
  return !f->found;
}

const TdStmt *td_edit_find(TdCtx *c, const TdStmt *root, uint32_t uid) {
  Finder f = {uid, NULL};
  td_walk_stmt(c, root, look, &f);
  return f.found;
}

/* Fills at[depth..] with the way from s down to uid; returns its length, 0 if uid is not below s.
 */
static size_t find_path(TdCtx *c, const TdStmt *s, uint32_t uid, const TdStmt **at, size_t depth) {
  td_ctx_enter(c);
  at[depth] = s;
  size_t n = s->uid == uid ? depth + 1 : 0;
  for (uint32_t i = 0; !n && i < s->nkid; i++) n = find_path(c, s->kid[i], uid, at, depth + 1);
  td_ctx_leave(c);
  return n;
}

TdPath td_edit_path(TdArena *a, const TdStmt *root, uint32_t uid) {
  const TdStmt **at = TD_NEWN(a, const TdStmt *, TD_MAX_DEPTH + 2);
  return (TdPath){at, find_path(td_arena_ctx(a), root, uid, at, 0)};
}

size_t td_edit_loops(TdArena *a, TdPath p, const TdStmt *const **loops) {
  const TdStmt **list = TD_NEWN(a, const TdStmt *, p.n);
  size_t n = 0;
  for (size_t i = 0; i + 1 < p.n; i++)
    if (p.at[i]->kind == TD_STMT_FOR) list[n++] = p.at[i];
  *loops = list;
  return n;
}

/* Position of kid below s. */
static size_t kid_index(const TdStmt *s, const TdStmt *kid) {
  for (uint32_t i = 0; i < s->nkid; i++)
    if (s->kid[i] == kid) return i;
  return 0;
}

/* s with its kids [i, i+drop) replaced by n others. */
static const TdStmt *splice(TdStore *st, const TdStmt *s, size_t i, size_t drop,
                            const TdStmt *const *with, size_t n) {
  size_t total = s->nkid - drop + n;
  const TdStmt **kid = TD_NEWN(st->arena, const TdStmt *, total);
  if (i) memcpy(kid, s->kid, i * sizeof *kid);
  if (n) memcpy(kid + i, with, n * sizeof *kid);
  if (total > i + n) memcpy(kid + i + n, s->kid + i + drop, (total - i - n) * sizeof *kid);
  return td_stmt_with_kids(st, s, kid, total);
}

/* The root after the statement at level `level` of path p became `now`. */
static const TdStmt *rebuild(TdStore *st, TdPath p, size_t level, const TdStmt *now) {
  while (level-- > 0) {
    if (now == p.at[level + 1]) return p.at[0];
    now = splice(st, p.at[level], kid_index(p.at[level], p.at[level + 1]), 1, &now, 1);
  }
  return now;
}

const TdStmt *td_edit_replace(TdStore *st, const TdStmt *root, uint32_t uid,
                              const TdStmt *const *with, size_t n) {
  TdPath p = td_edit_path(st->arena, root, uid);
  assert(p.n > 0);
  if (n == 1) return rebuild(st, p, p.n - 1, with[0]);
  assert(p.n > 1 && p.at[p.n - 2]->kind == TD_STMT_BLOCK);
  const TdStmt *parent = p.at[p.n - 2];
  return rebuild(st, p, p.n - 2, splice(st, parent, kid_index(parent, p.at[p.n - 1]), 1, with, n));
}

const TdStmt *td_edit_insert(TdStore *st, const TdStmt *root, uint32_t uid, bool after,
                             const TdStmt *const *s, size_t n) {
  TdPath p = td_edit_path(st->arena, root, uid);
  assert(p.n > 1 && p.at[p.n - 2]->kind == TD_STMT_BLOCK);
  const TdStmt *parent = p.at[p.n - 2];
  size_t at = kid_index(parent, p.at[p.n - 1]) + after;
  return rebuild(st, p, p.n - 2, splice(st, parent, at, 0, s, n));
}

const TdStmt *td_edit_slice(TdStore *st, const TdStmt *b, size_t lo, size_t hi) {
  return td_stmt_block(st, b->kid + lo, hi - lo, b->loc);
}

typedef struct NameQuery {
  const char *name;
} NameQuery;

static bool declares_other(void *ud, const TdStmt *s) {
  const NameQuery *q = ud;
  return !(s->sym && strcmp(s->sym->name, q->name) == 0);
}

/* Whether a print name is taken in a unit. */
static bool name_taken(TdCtx *c, const TdUnit *u, const char *name) {
  for (size_t i = 0; i < u->nparam; i++)
    if (strcmp(u->param[i].sym->name, name) == 0) return true;
  for (size_t i = 0; i < u->ncoord; i++)
    if (strcmp(u->coord[i]->name, name) == 0) return true;
  for (size_t i = 0; i < u->nstream; i++)
    if (strcmp(u->stream[i].sym->name, name) == 0) return true;
  for (size_t i = 0; i < u->nrun; i++)
    if (strcmp(u->run[i].sym->name, name) == 0) return true;
  if (td_unit_size(u, name)) return true;
  NameQuery q = {name};
  return u->body && !td_walk_stmt(c, u->body, declares_other, &q);
}

bool td_edit_name_hidden(const TdProg *p, const TdUnit *u, const char *name) {
  TdCtx *c = p->store->session->ctx;
  if (name_taken(c, u, name)) return true;
  for (size_t i = 0; i < p->nunit; i++)
    for (size_t k = 0; k < p->unit[i]->nrun; k++)
      if (p->unit[i]->run[k].unit == u->sym && name_taken(c, p->unit[i], name)) return true;
  return false;
}

const char *td_edit_fresh_name(TdStore *st, const TdUnit *u, const char *want) {
  TdCtx *c = st->session->ctx;
  if (!name_taken(c, u, want)) return td_names_str(st->session->names, want);
  for (int i = 1;; i++) {
    const char *name = td_text_fmt(st->arena, "%s_%d", want, i);
    if (!name_taken(c, u, name)) return td_names_str(st->session->names, name);
  }
}

/* Whether name is a word of n. */
static bool is_among(const char *name, const char *const *word, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(name, word[i]) == 0) return true;
  return false;
}

/* Whether name is letters, digits and underscores, not first a digit, and no keyword of Lua. */
static bool is_lua_name(const char *name) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  static const char *const keyword[] = {"and",   "break", "do",       "else", "elseif", "end",
                                        "false", "for",   "function", "goto", "if",     "in",
                                        "local", "nil",   "not",      "or",   "repeat", "return",
                                        "then",  "true",  "until",    "while"};
  size_t n = strspn(name, letters);
  if (n == 0 || is_among(name, keyword, sizeof keyword / sizeof *keyword)) return false;
  while (name[n] && (strchr(letters, name[n]) || (name[n] >= '0' && name[n] <= '9'))) n++;
  return !name[n];
}

bool td_edit_name_fits(const TdProg *p, const char *name) {
  return is_lua_name(name) && strcmp(name, "tide") != 0 &&
         !is_among(name, td_printer_words, TD_PRINTER_WORDS) && !td_prog_find(p, name);
}
