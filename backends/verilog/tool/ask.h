/* ask.h - questions about a build's text that open tools answer: a folder with the files, commands
 * in it, what they said. */
#ifndef TD_VERILOG_ASK_H
#define TD_VERILOG_ASK_H

#include "backends/host/cache.h"
#include "backends/host/child.h"
#include "backends/verilog/verilog.h"

/* A question under way. */
typedef struct TdVlogAsk {
  const TdBuild *build;
  const TdQuestion *question;
  const char *const *value; /* of its options */
  const TdVlogText *text;
  TdArena *arena;
  TdCache cache;
  const char *folder;
  int seconds; /* most time of a tool */
  TdText lines, out;
  TdDiag *diag;
} TdVlogAsk;

/* Asks: opens a folder that holds the build's files, has fn fill lines of "path value" and what
 * prints, and removes the folder. False with the diagnostic filled. */
bool td_ask(const TdQuestion *q, const TdBuild *b, const char *const *value, TdAnswer *answer,
            bool (*fn)(TdVlogAsk *k));
/* The word of option i. */
const char *td_ask_option(const TdVlogAsk *k, size_t i);

/* Writes a file of the folder; false with the diagnostic filled. */
bool td_ask_write(TdVlogAsk *k, const char *name, const char *text);
/* The file's text; "" where there is none. */
const char *td_ask_read(TdVlogAsk *k, const char *name);
/* Names of the modules' files, one space before each. */
const char *td_ask_files(TdVlogAsk *k);
/* Runs a command line, whose first word is a program, in the folder; what it says is in file
 * `log`. */
TdChildEnd td_ask_run(TdVlogAsk *k, const char *command, const char *log);
/* The same of a tool that has to end well; else false with its first lines, or where it is missing
 * the command that would do it. */
bool td_ask_need(TdVlogAsk *k, const char *command, const char *log);

/* cost.c: the scripts of yosys that count cells, a file for each flow, of a top module and files
 * with one space before each; to a NULL. */
const TdFile *td_cost_scripts(TdArena *a, const char *top, const char *files);
/* fit.c: a module around a top whose ports are a chain of registers, so that it has few pins. */
const char *td_fit_module(TdArena *a, const TdVlogModule *top);

extern const TdQuestion td_verilog_lint, td_verilog_cost, td_verilog_prove;

#endif
