/* complete.c - completions at the prompt: names, fields, methods, commands. Values are
 * read raw: no user code runs. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "bind/prompt/complete.h"

#define MOST_TABLES 8

void td_complete_add(TdPromptItems *out, const char *name, size_t n, const char *help) {
  TdPromptItem item = {td_arena_strndup(out->arena, name, n), help};
  td_vec_push(out->arena, &out->list, item);
}

void td_complete_add_words(TdPromptItems *out, const char *words, const char *by,
                           const char *help) {
  for (size_t n; *words; words += n) {
    n = strcspn(words, by);
    if (n) td_complete_add(out, words, n, help);
    n += words[n] != 0;
  }
}

static int by_name(const void *x, const void *y) {
  return strcmp(((const TdPromptItem *)x)->insert, ((const TdPromptItem *)y)->insert);
}

/* Keeps the items that go on with the n bytes that are typed, each once, in order. */
static void choose(TdPromptItems *out, const char *typed, size_t n) {
  size_t kept = 0;
  for (size_t i = 0; i < out->list.n; i++)
    if (strncmp(out->list.at[i].insert, typed, n) == 0) out->list.at[kept++] = out->list.at[i];
  out->list.n = kept;
  if (kept) qsort(out->list.at, kept, sizeof *out->list.at, by_name);
  kept = 0;
  for (size_t i = 0; i < out->list.n; i++)
    if (!kept || by_name(&out->list.at[kept - 1], &out->list.at[i]) != 0)
      out->list.at[kept++] = out->list.at[i];
  out->list.n = kept;
}

/* Whether n bytes are a name. */
static bool is_name(const char *s, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!isalnum((unsigned char)s[i]) && s[i] != '_') return false;
  return n && !isdigit((unsigned char)*s);
}

/* Adds the keys of the table at idx that are names; with `callable`, those of functions only. */
static void add_keys(lua_State *L, int idx, bool callable, TdPromptItems *out) {
  for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) {
    size_t n;
    if (lua_type(L, -2) != LUA_TSTRING || (callable && !lua_isfunction(L, -1))) continue;
    const char *key = lua_tolstring(L, -2, &n);
    if (is_name(key, n)) td_complete_add(out, key, n, NULL);
  }
}

/* Replaces the table on top by what field `name` of its metatable holds, read raw; false, and
 * nothing on top, if that is no table. */
static bool to_metafield(lua_State *L, const char *name) {
  bool has = lua_getmetatable(L, -1) != 0;
  if (has) {
    lua_pushstring(L, name);
    lua_rawget(L, -2);
    lua_remove(L, -2);
    lua_remove(L, -2);
  }
  if (has && lua_istable(L, -1)) return true;
  lua_pop(L, 1);
  return false;
}

/* Adds what the class of the value on top, which it keeps, has: fields, or methods. */
static void add_class(lua_State *L, bool callable, TdPromptItems *out) {
  if (!callable && luaL_getmetafield(L, -1, "fields") == LUA_TSTRING) {
    td_complete_add_words(out, lua_tostring(L, -1), " ", NULL);
    lua_pop(L, 1);
  }
  lua_pushvalue(L, -1);
  if (!to_metafield(L, "methods")) return;
  if (callable) add_keys(L, lua_gettop(L), true, out);
  lua_pop(L, 1);
}

void td_complete_add_members(lua_State *L, bool callable, TdPromptItems *out) {
  if (lua_type(L, -1) == LUA_TUSERDATA || lua_type(L, -1) == LUA_TTABLE)
    add_class(L, callable, out);
  if (lua_type(L, -1) == LUA_TUSERDATA) {
    lua_pop(L, 1);
    return;
  }
  bool has = lua_istable(L, -1) || to_metafield(L, "__index");
  for (int i = 0; has && i < MOST_TABLES; i++) {
    add_keys(L, lua_gettop(L), callable, out);
    has = to_metafield(L, "__index");
  }
  if (has) lua_pop(L, 1);
}

void td_complete_push_path(lua_State *L, const TdBefore *b, size_t first, size_t last) {
  lua_pushglobaltable(L);
  for (size_t i = first; i <= last; i += 2) {
    TdColourToken t = b->token.at[i];
    if (!lua_istable(L, -1)) {
      lua_pop(L, 1);
      lua_pushnil(L);
      return;
    }
    lua_pushlstring(L, b->s + t.at, t.end - t.at);
    lua_rawget(L, -2);
    lua_remove(L, -2);
  }
}

/* Fields or methods of what stands before the '.' or ':' that ends the tokens. */
static void complete_member(lua_State *L, const TdBefore *b, TdPromptItems *out) {
  size_t n = b->token.n, first = n - 2;
  bool callable = b->s[b->token.at[n - 1].at] == ':';
  if (n < 2) return;
  TdColourToken last = b->token.at[first];
  if (last.kind == TD_COLOUR_STRING) {
    lua_pushliteral(L, "");
    td_complete_add_members(L, callable, out);
    return;
  }
  if (last.kind != TD_COLOUR_WORD) return;
  while (first > 1 && b->s[b->token.at[first - 1].at] == '.' &&
         b->token.at[first - 2].kind == TD_COLOUR_WORD)
    first -= 2;
  td_complete_push_path(L, b, first, n - 2);
  if (lua_isnil(L, -1))
    lua_pop(L, 1);
  else
    td_complete_add_members(L, callable, out);
}

static bool ends_in_member(const TdBefore *b) {
  if (!b->token.n) return false;
  TdColourToken t = b->token.at[b->token.n - 1];
  bool twice = b->token.n > 1 && b->token.at[b->token.n - 2].end == t.at &&
               b->s[b->token.at[b->token.n - 2].at] == b->s[t.at];
  return t.kind == TD_COLOUR_SIGN && strchr(".:", b->s[t.at]) && !twice;
}

TdBefore td_complete_read(TdArena *a, const char *text, size_t n, size_t from) {
  TdBefore b = {.s = td_arena_strndup(a, text, n), .arena = a, .from = n};
  for (size_t i = from; i < n;) {
    TdColourToken t = td_colour_token(text, n, i);
    i = t.end;
    bool is_last = t.end == n && (t.open || t.kind == TD_COLOUR_WORD || t.kind == TD_COLOUR_NUMBER);
    if (is_last && t.kind == TD_COLOUR_STRING) {
      b.in_string = true;
      b.from = t.at + 1;
      b.in_comment = text[t.at] == '[';
    } else if (is_last && t.kind == TD_COLOUR_WORD) {
      b.from = t.at;
    } else if (is_last) {
      b.in_comment = true;
    } else if (t.kind != TD_COLOUR_SPACE && t.kind != TD_COLOUR_COMMENT) {
      td_vec_push(a, &b.token, t);
    }
  }
  return b;
}

/* Completions of Lua text that begins at byte `from`. */
static void complete_lua(lua_State *L, const char *text, size_t n, size_t from,
                         TdPromptItems *out) {
  TdBefore b = td_complete_read(out->arena, text, n, from);
  TdCallAround c;
  out->from = b.from;
  if (b.in_comment) return;
  if (ends_in_member(&b) && !b.in_string) {
    complete_member(L, &b, out);
    return;
  }
  if (td_complete_find_call(&b, &c) && td_complete_argument(L, &b, &c, out)) return;
  if (b.in_string) return;
  td_complete_add_words(out, td_colour_keywords(), " ", NULL);
  lua_pushglobaltable(L);
  add_keys(L, lua_gettop(L), false, out);
  lua_pop(L, 1);
}

/* Names of settings, or words of the one that was named. */
static void complete_setting(const char *args, size_t n, TdPromptItems *out) {
  size_t name = strcspn(args, " ");
  const TdSetting *s = name < n ? td_setting_find(args, name) : NULL;
  if (s) td_complete_add_words(out, s->words, "|", s->summary);
  for (int i = 0; i < TD_SETTINGS && name >= n; i++)
    td_complete_add(out, td_settings[i].name, strlen(td_settings[i].name), td_settings[i].summary);
}

/* What a command takes; its arguments begin at byte `at`. */
static void complete_command(lua_State *L, const TdCommand *c, const char *text, size_t n,
                             size_t at, TdPromptItems *out) {
  const TdSetting *s = td_setting_find(c->name, strlen(c->name));
  size_t word = n;
  while (word > at && text[word - 1] != ' ') word--;
  out->from = c->takes == TD_TAKES_FILE ? at : word;
  switch (c->takes) {
  case TD_TAKES_NOTHING:
  case TD_TAKES_NUMBER: break;
  case TD_TAKES_FILE: td_complete_add_files(out, text + at, n - at); break;
  case TD_TAKES_SETTING: complete_setting(text + at, n - at, out); break;
  case TD_TAKES_LESSON: td_complete_add_words(out, "next|stop", "|", c->summary); break;
  case TD_TAKES_WORD: td_complete_add_words(out, s ? s->words : "", "|", c->summary); break;
  default: complete_lua(L, text, n, at, out);
  }
}

/* After '?': names that help knows. */
static void complete_question(lua_State *L, const char *text, size_t n, TdPromptItems *out) {
  const char *summary, *name;
  out->from = strspn(text, "?");
  bool command = out->from < n && text[out->from] == ':';
  out->from += command;
  for (size_t i = 0; command && td_commands[i].name; i++)
    td_complete_add(out, td_commands[i].name, strlen(td_commands[i].name), td_commands[i].summary);
  for (size_t i = 0; !command && (name = td_help_name(i, &summary)); i++)
    td_complete_add(out, name, strlen(name), summary);
  if (command) return;
  td_complete_add_library(L, TD_HELP_TEMPLATES, out);
  td_complete_add_library(L, TD_HELP_CODES, out);
}

/* Inputs that are not Lua: commands, questions, lines of the shell; false for Lua. */
static bool complete_special(lua_State *L, const char *text, size_t n, TdPromptItems *out) {
  if (!n || !strchr(":?!", *text) || (n > 1 && text[0] == ':' && text[1] == ':')) return false;
  if (*text == '?') {
    complete_question(L, text, n, out);
    return true;
  }
  if (*text == '!') {
    td_complete_add_shell_words(out, text + 1, n - 1);
    out->from++;
    return true;
  }
  size_t name = 1 + strcspn(text + 1, " "), at = name + strspn(text + name, " ");
  if (name >= n) {
    out->from = 1;
    for (size_t i = 0; td_commands[i].name; i++)
      td_complete_add(out, td_commands[i].name, strlen(td_commands[i].name),
                      td_commands[i].summary);
    return true;
  }
  const TdCommand *c = td_command_find(td_arena_strndup(out->arena, text + 1, name - 1));
  out->from = n;
  if (c) complete_command(L, c, text, n, at, out);
  return true;
}

void td_prompt_complete(lua_State *L, const char *text, size_t cursor, TdPromptItems *out) {
  int top = lua_gettop(L);
  const char *line = td_arena_strndup(out->arena, text, cursor);
  size_t n = strlen(line);
  luaL_checkstack(L, 32, "completion");
  if (!complete_special(L, line, n, out)) complete_lua(L, line, n, 0, out);
  choose(out, line + out->from, n - out->from);
  td_bind_settop(L, top);
}
