/* overview.c - what there is, in groups of names; and a group by itself, with what each name does.
 */
#include <string.h>

#include "bind/prompt/prompt.h"
#include "rewrite/prim.h"

enum { WIDTH = 78, INDENT = 13 };

/* Names that are put side by side under a title. */
typedef struct Names {
  TdText *out;
  const char *title;
  size_t column; /* 0: nothing is put yet */
} Names;

static void put_name(Names *n, const char *name) {
  size_t length = strlen(name) + 1;
  if (!n->column) {
    td_text_putf(n->out, "  %-*s", INDENT - 3, n->title);
    n->column = INDENT;
  } else if (n->column + length > WIDTH) {
    td_text_putf(n->out, "\n%*s", INDENT - 1, "");
    n->column = INDENT;
  }
  td_text_putf(n->out, " %s", name);
  n->column += length;
}

static void end_names(const Names *n) {
  if (n->column) td_text_putc(n->out, '\n');
}

/* The name of a method or field of a class behind its sign, or NULL. */
static const char *member_of(const char *name, const char *class) {
  size_t n = strlen(class);
  bool is = strncmp(name, class, n) == 0 && (name[n] == ':' || name[n] == '.');
  return is ? name + n + 1 : NULL;
}

/* What the primitives of a kind are on, each once: `on` of the primitive that names it first. */
static bool is_first(const TdKind *kind, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (strcmp(kind->prims[k]->on, kind->prims[i]->on) == 0) return false;
  return true;
}

static void put_kind(TdText *out, const TdKind *kind) {
  td_text_putf(out, "steps of a schedule s of a %s, as s:%s(..):\n", kind->name,
               kind->prims[0]->name);
  for (size_t i = 0; kind->prims[i]; i++) {
    if (!is_first(kind, i)) continue;
    Names n = {.out = out, .title = kind->prims[i]->on};
    for (size_t k = i; kind->prims[k]; k++)
      if (strcmp(kind->prims[k]->on, n.title) == 0) put_name(&n, kind->prims[k]->name);
    end_names(&n);
  }
}

static void put_class(TdText *out, const char *class) {
  const char *name, *rest, *usage, *summary;
  Names n = {.out = out, .title = class};
  for (size_t i = 0; (name = td_help_function(i, &usage, &summary)); i++)
    if ((rest = member_of(name, class))) put_name(&n, rest);
  for (size_t i = 0; (name = td_help_member(i, &summary)); i++)
    if ((rest = member_of(name, class))) put_name(&n, td_text_fmt(out->arena, ".%s", rest));
  end_names(&n);
}

void td_overview_put(TdText *out) {
  const char *name, *words;
  td_text_puts(out, "?name explains, ?word searches, ?group says what each does, "
                    "?no-loop an error\n");
  for (size_t q = 0; td_help_kind(q); q++) put_kind(out, td_help_kind(q));
  td_text_puts(out, "functions, as tide.kernel; modules, as t2s = require \"tide.t2s\":\n");
  put_class(out, "tide");
  Names modules = {.out = out, .title = "modules"};
  for (size_t i = 0; td_help_modules[i]; i++) put_name(&modules, td_help_modules[i]);
  end_names(&modules);
  td_text_puts(out, "methods and .fields of values, as s:log():\n");
  for (size_t i = 0; (name = td_help_class_row(i, &words)); i++) put_class(out, name);
  td_text_puts(out, "commands of the prompt:\n");
  Names n = {.out = out, .title = "commands"};
  for (int i = 0; td_commands[i].name; i++)
    put_name(&n, td_text_fmt(out->arena, ":%s", td_commands[i].name));
  put_name(&n, "!line");
  end_names(&n);
}

/* Puts a line for a name of a group. */
static bool put_line(TdText *out, const char *name, const char *summary) {
  td_text_putf(out, "  %-14s %s\n", name, summary);
  return true;
}

bool td_overview_put_group(TdText *out, const char *group) {
  const char *name, *usage, *summary, *rest;
  bool found = false;
  for (size_t q = 0; td_help_kind(q); q++)
    for (const TdPrim *const *p = td_help_kind(q)->prims; *p; p++)
      if (strcmp((*p)->on, group) == 0) found |= put_line(out, (*p)->name, (*p)->summary);
  const char *class = strcmp(group, "functions") == 0 ? "tide" : group;
  for (size_t i = 0; (name = td_help_function(i, &usage, &summary)); i++)
    if ((rest = member_of(name, class))) found |= put_line(out, rest, summary);
  for (size_t i = 0; (name = td_help_member(i, &summary)); i++)
    if ((rest = member_of(name, class)))
      found |= put_line(out, td_text_fmt(out->arena, ".%s", rest), summary);
  if (strcmp(group, "commands") != 0) return found;
  for (int i = 0; td_commands[i].name; i++)
    found |=
        put_line(out, td_text_fmt(out->arena, ":%s", td_commands[i].name), td_commands[i].summary);
  return put_line(out, "!line", "runs a line in the shell");
}
