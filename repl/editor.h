/* editor.h - the state of an editor, which its keys work on. */
#ifndef TD_EDITOR_H
#define TD_EDITOR_H

#include "repl/draft.h"
#include "repl/history.h"
#include "repl/key.h"
#include "repl/kill.h"
#include "repl/line.h"
#include "repl/menu.h"
#include "repl/recall.h"
#include "repl/screen.h"

/* What a key does. */
typedef void TdCommand(TdLine *l);

struct TdLine {
  TdCtx *ctx;
  TdArena *own;  /* this struct and bytes that came */
  TdArena *line; /* of the input being read or returned last */
  TdArena *look; /* what is shown: spans, ghost, list; renewed at each repaint */
  const TdLineHooks *hooks;
  int in, out;
  bool is_able;   /* to edit, on this terminal */
  bool is_up;     /* the prompt is on the terminal and edited */
  bool is_plain;  /* without colours */
  bool has_ghost; /* switched on */
  int watched;
  void (*ready)(void *ud);
  void *ready_ud;
  TdKeys keys;
  TdText typed; /* lines that came unasked, when not editing */
  size_t taken; /* bytes of them returned */
  TdKill kill;
  TdHistory *history;
  TdScreen screen;
  TdRecall recall;
  TdMenu menu;

  const char *prompt, *more; /* of the input being read, as all that follows */
  TdDraft draft;
  size_t entry;    /* of the history that the draft is; its count for none */
  TdText stash;    /* the draft before Up */
  TdText replaced; /* what a choice of the menu stands for */
  size_t yanked;   /* where the last yank begins */
  TdCommand *last; /* the command before this one; NULL when a character was inserted */
  bool has_killed; /* this command killed */
  bool is_after_cx;
  bool is_done;
  TdLineResult result;
};

/* Every command of keymap.def is declared here; move.c, change.c, tab.c, browse.c and submit.c
 * define them. */
#define COMMAND(function, help) TdCommand function;
#include "repl/keymap.def"

/* The command of a key, or NULL. */
TdCommand *td_keymap_find(TdKeyCode code);

/* Inserts what a key typed; a closing word or bracket gets the indent that the language wants. */
void td_change_type(TdLine *l, const char *s, size_t n);

/* Inserts a paste as it is, but for prompts; of a session the first input, the others are entered
 * one after another as if they were pasted next. */
void td_change_paste(TdLine *l, const char *s, size_t n);

/* A key while the list of completions, or the search, is open: whether it was meant for that. */
bool td_tab_key(TdLine *l, const TdKey *key);
bool td_browse_key(TdLine *l, const TdKey *key);

/* Ends the input. */
void td_submit_end(TdLine *l, TdLineResult result);

/* Reads an input in lines as they come, from what is not a terminal to edit on. */
TdLineResult td_plain_read(TdLine *l, TdText *text);

/* What could follow the draft when the cursor is at its end: the rest of the newest input that
 * starts with it, or else what the language says; NULL for nothing. Memory from l->look. */
const char *td_look_ghost(TdLine *l);

/* What is on the terminal while editing, memory from l->look; is_last: for good. */
TdView td_look_view(TdLine *l, bool is_last);

#endif
