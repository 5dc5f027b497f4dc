/* complete_file.c - names of files, as strings and commands take them and as words of the
 * shell.
 */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "bind/prompt/complete.h"

#define MOST_FILES 1000

void td_complete_add_files(TdPromptItems *out, const char *path, size_t n) {
  size_t dir = n;
  while (dir && path[dir - 1] != '/') dir--;
  const char *folder = dir ? td_arena_strndup(out->arena, path, dir) : "./";
  DIR *d = opendir(folder);
  struct stat st;
  for (struct dirent *e; d && out->list.n < MOST_FILES && (e = readdir(d));) {
    bool is_hidden = *e->d_name == '.' && path[dir] != '.';
    if (is_hidden || strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    bool is_folder =
        stat(td_text_fmt(out->arena, "%s%s", folder, e->d_name), &st) == 0 && S_ISDIR(st.st_mode);
    const char *name =
        td_text_fmt(out->arena, "%.*s%s%s", (int)dir, path, e->d_name, is_folder ? "/" : "");
    td_complete_add(out, name, strlen(name), NULL);
  }
  if (d) closedir(d);
}

/* Where the last word of a line of the shell begins, behind the quote that it may open with, which
 * goes to *quote, else 0. */
static size_t last_word(const char *line, size_t n, char *quote) {
  size_t from = 0;
  *quote = 0;
  for (size_t i = 0; i < n; i++) {
    if (*quote && line[i] == *quote)
      *quote = 0;
    else if (!*quote && (line[i] == '\'' || line[i] == '"'))
      *quote = line[i], from = i + 1;
    else if (!*quote && line[i] == '\\')
      i++;
    else if (!*quote && line[i] == ' ')
      from = i + 1;
  }
  return from;
}

/* A word of the shell without the backslashes of its bytes. */
static const char *unescaped(TdArena *a, const char *word, size_t n) {
  TdText t = td_text_new(a);
  for (size_t i = 0; i < n; i++) {
    if (word[i] == '\\' && i + 1 < n) i++;
    td_text_putc(&t, word[i]);
  }
  return td_text_str(&t);
}

/* A name as a word of the shell, with a backslash before each byte that the shell would read. */
static const char *escaped(TdArena *a, const char *name) {
  TdText t = td_text_new(a);
  for (; *name; name++) {
    if (strchr(" \t'\"\\$`&|;<>()*?[]#!{}", *name)) td_text_putc(&t, '\\');
    td_text_putc(&t, *name);
  }
  return td_text_str(&t);
}

void td_complete_add_shell_words(TdPromptItems *out, const char *line, size_t n) {
  char quote;
  out->from = last_word(line, n, &quote);
  const char *word = line + out->from;
  size_t size = n - out->from;
  if (!quote) {
    word = unescaped(out->arena, word, size);
    size = strlen(word);
  }
  td_complete_add_files(out, word, size);
  for (size_t i = 0; !quote && i < out->list.n; i++)
    out->list.at[i].insert = escaped(out->arena, out->list.at[i].insert);
}
