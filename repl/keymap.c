/* keymap.c - which key calls what. */
#include "repl/editor.h"

typedef struct Key {
  TdKeyCode code;
  const char *name;
  TdCommand *command;
} Key;

typedef struct Help {
  TdCommand *command;
  const char *text;
} Help;

static const Key keys[] = {
#define KEY(code, name, function) {code, name, function},
#include "repl/keymap.def"
};

static const Help helps[] = {
#define COMMAND(function, help) {function, help},
#include "repl/keymap.def"
};

enum { N_KEYS = sizeof keys / sizeof *keys, N_HELPS = sizeof helps / sizeof *helps };

TdCommand *td_keymap_find(TdKeyCode code) {
  for (size_t i = 0; i < N_KEYS; i++)
    if (keys[i].code == code) return keys[i].command;
  return NULL;
}

const char *td_line_key(size_t i, const char **help) {
  if (i >= N_KEYS) return NULL;
  for (size_t k = 0; k < N_HELPS; k++)
    if (helps[k].command == keys[i].command) *help = helps[k].text;
  return keys[i].name;
}
