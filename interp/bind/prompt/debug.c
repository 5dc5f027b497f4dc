/* debug.c - :debug runs a kernel or design by the evaluator, statement by statement, and asks at
 * each stop what to do: step, go on to a line, to a change of a value, to a use of a stream; show
 * values, streams, tasks. The arguments are written when the run ends well, and not before. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bind/prompt/prompt.h"
#include "eval/watch.h"

enum { MOST_INDICES = 8, AROUND = 4 };

/* Where the run stops next: at any statement, at one no deeper in the same task, at a break. */
typedef enum { TO_ANY, TO_NEXT, TO_BREAK } Until;

/* A place to stop at: a line; or a value or stream by its text. */
typedef struct Break {
  uint32_t line;    /* 0: none */
  const char *text; /* "k = 3", "C[0][1]", "Z": as it was typed */
  const char *name; /* of the value or stream */
  int64_t index[MOST_INDICES];
  int n;
  const char *wanted; /* the value to stop at, or NULL: at each change */
  const char *last;   /* what it was, NULL: not seen */
} Break;

typedef struct Debugger {
  lua_State *L;
  TdArena *arena;
  const TdSources *sources;
  Until until;
  size_t depth;
  const void *task; /* that TO_NEXT stays in */
  TD_VEC(Break) at;
  TD_VEC(const char *) watched; /* values shown at each stop */
  const char *last;             /* the command before, which an empty line repeats */
  TdWatchCell cell;             /* that the statement before wrote */
  bool wrote, ran, left;
} Debugger;

typedef enum { GO, STAY, LEAVE } Then;

typedef struct Command {
  const char *name, *usage, *summary;
  Then (*run)(Debugger *g, const TdWatched *w, const char *args);
} Command;

static struct {
  TdPromptAsk *ask;
  void *ud;
} asker;

void td_prompt_set_asker(TdPromptAsk *ask, void *ud) {
  asker.ask = ask;
  asker.ud = ud;
}

static void print(const TdText *t) {
  fwrite(td_text_str(t), 1, t->n, stdout);
  fflush(stdout);
}

static TdText text(const Debugger *g) {
  return td_text_new(g->arena);
}

/* ---- names of values ---- */

/* Reads "C[0][k]" into a break; indices are numbers or variables of the unit. NULL, or what is
 * wrong with it. */
static const char *read_value(const Debugger *g, const TdWatched *w, const char *s, Break *out) {
  size_t n = 0;
  while (isalnum((unsigned char)s[n]) || s[n] == '_') n++;
  if (!n) return "say a name, such as C or C[0][k]";
  out->name = td_arena_strndup(g->arena, s, n);
  out->n = 0;
  for (s += n; *s == '['; s++) {
    char *end;
    const char *from = ++s;
    size_t length = strcspn(s, "]");
    if (s[length] != ']' || out->n == MOST_INDICES) return "an index ends with ']'";
    int64_t v = strtoll(from, &end, 10);
    const char *word = td_arena_strndup(g->arena, from, length);
    if (end != from + length && !td_watch_integer(w, word, &v))
      return td_text_fmt(g->arena, "'%s' is no number and no variable here", word);
    out->index[out->n++] = v;
    s += length;
  }
  s += strspn(s, " ");
  if (*s == '=') s += strspn(s, "= "), out->wanted = *s ? s : NULL;
  return *s && !out->wanted ? "what follows the name is not understood" : NULL;
}

/* The value of a break's name now, or NULL where there is none of it. */
static const char *value_of(const Debugger *g, const TdWatched *w, const Break *b) {
  TdText t = text(g);
  return td_watch_put(&t, w, b->name, b->index, b->n) ? td_text_str(&t) : NULL;
}

/* ---- what is shown ---- */

static void put_stop(Debugger *g, const TdWatched *w, const char *why) {
  TdText t = text(g);
  const char *loops = td_watch_loops(w);
  if (g->wrote) {
    td_text_putf(&t, "%s = ", g->cell.name);
    td_watch_put_cell(&t, &g->cell);
    td_text_putc(&t, '\n');
  }
  if (why) td_text_putf(&t, "stopped: %s\n", why);
  td_text_putf(&t, "%s%s%s\n", td_watch_task(w), *loops ? ": " : "", loops);
  td_diag_print_place(&t, w->stmt->loc, g->sources);
  for (size_t i = 0; i < g->watched.n; i++) {
    Break b = {0};
    const char *v = read_value(g, w, g->watched.at[i], &b) ? NULL : value_of(g, w, &b);
    if (v) td_text_putf(&t, "%s = %s\n", g->watched.at[i], v);
  }
  print(&t);
}

/* ---- commands ---- */

static Then run_step(Debugger *g, const TdWatched *w, const char *args) {
  (void)w, (void)args;
  g->until = TO_ANY;
  return GO;
}

static Then run_next(Debugger *g, const TdWatched *w, const char *args) {
  (void)args;
  g->until = TO_NEXT;
  g->task = w->task;
  g->depth = td_watch_depth(w);
  return GO;
}

static Then run_out(Debugger *g, const TdWatched *w, const char *args) {
  (void)args;
  run_next(g, w, args);
  g->depth -= g->depth > 1;
  return GO;
}

static Then run_continue(Debugger *g, const TdWatched *w, const char *args) {
  (void)w, (void)args;
  g->until = TO_BREAK;
  return GO;
}

static Then say(const char *words) {
  printf("%s\n", words);
  fflush(stdout);
  return STAY;
}

static Then list_breaks(const Debugger *g) {
  for (size_t i = 0; i < g->at.n; i++) printf("%zu  %s\n", i + 1, g->at.at[i].text);
  return g->at.n ? STAY : say("no breakpoints; break 5, break C[0][1], break k = 3, break Z");
}

static Then run_break(Debugger *g, const TdWatched *w, const char *args) {
  if (!*args) return list_breaks(g);
  Break b = {.text = td_arena_strdup(g->arena, args)};
  char *end;
  long line = strtol(args, &end, 10);
  if (end != args && !*end && line > 0) {
    b.line = (uint32_t)line;
  } else {
    const char *wrong = read_value(g, w, b.text, &b);
    if (wrong) return say(wrong);
    b.last = value_of(g, w, &b);
  }
  td_vec_push(g->arena, &g->at, b);
  return STAY;
}

static Then run_delete(Debugger *g, const TdWatched *w, const char *args) {
  (void)w;
  char *end;
  long n = strtol(args, &end, 10);
  if (!*args) {
    g->at.n = g->watched.n = 0;
    return STAY;
  }
  if (*end || n < 1 || (size_t)n > g->at.n) return say("there is no breakpoint of this number");
  g->at.n--;
  memmove(&g->at.at[n - 1], &g->at.at[n], (g->at.n + 1 - (size_t)n) * sizeof *g->at.at);
  return STAY;
}

static Then run_print(Debugger *g, const TdWatched *w, const char *args) {
  TdText t = text(g);
  Break b = {0};
  if (!*args) {
    td_watch_put_all(&t, w);
    print(&t);
    return STAY;
  }
  const char *wrong = read_value(g, w, args, &b), *v = wrong ? NULL : value_of(g, w, &b);
  if (wrong) return say(wrong);
  if (!v) {
    printf("there is no '%s' here; print alone shows what there is\n", args);
    return STAY;
  }
  return say(td_text_fmt(g->arena, "%s = %s", args, v));
}

static Then run_display(Debugger *g, const TdWatched *w, const char *args) {
  if (*args) td_vec_push(g->arena, &g->watched, td_arena_strdup(g->arena, args));
  return *args ? run_print(g, w, args) : say("display takes a value: display C[0][1]");
}

static Then run_list(Debugger *g, const TdWatched *w, const char *args) {
  (void)args;
  TdLoc at = w->stmt->loc;
  uint32_t first = at.line > AROUND ? at.line - AROUND : 1;
  size_t n;
  const char *line;
  for (uint32_t i = first; (line = td_sources_line(g->sources, at.source, i, &n)); i++) {
    if (i > at.line + AROUND) break;
    printf("%s%4u | %.*s\n", i == at.line ? ">" : " ", (unsigned)i, (int)n, line);
  }
  return STAY;
}

static Then run_streams(Debugger *g, const TdWatched *w, const char *args) {
  (void)args;
  TdText t = text(g);
  td_watch_put_streams(&t, w);
  print(&t);
  return STAY;
}

static Then run_tasks(Debugger *g, const TdWatched *w, const char *args) {
  (void)args;
  TdText t = text(g);
  td_watch_put_tasks(&t, w);
  print(&t);
  return STAY;
}

static Then run_quit(Debugger *g, const TdWatched *w, const char *args) {
  (void)g, (void)w, (void)args;
  return LEAVE;
}

static Then run_help(Debugger *g, const TdWatched *w, const char *args);

/* The first command that begins with what was typed is meant. */
static const Command commands[] = {
    {"step", "step", "to the next statement, in whichever task runs", run_step},
    {"next", "next", "to the next statement of this task, over calls and inner blocks", run_next},
    {"out", "out", "out of the innermost block or loop", run_out},
    {"continue", "continue", "to a breakpoint, or the end", run_continue},
    {"break", "break 5 | C[0][1] | k = 3 | Z",
     "stops at a line, a change, a value, a use of a stream", run_break},
    {"delete", "delete [n]", "takes breakpoint n away, or all", run_delete},
    {"print", "print [C[0][k]]", "shows a value, or all", run_print},
    {"display", "display C[0][1]", "shows it at each stop", run_display},
    {"list", "list", "the lines around", run_list},
    {"streams", "streams", "what the streams hold", run_streams},
    {"tasks", "tasks", "the tasks, and what they wait for", run_tasks},
    {"quit", "quit", "ends the run; the arguments are as before", run_quit},
    {"help", "help", "these; an empty line repeats the last", run_help},
};

static Then run_help(Debugger *g, const TdWatched *w, const char *args) {
  (void)g, (void)w, (void)args;
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    printf("  %-32s %s\n", commands[i].usage, commands[i].summary);
  fflush(stdout);
  return STAY;
}

/* Runs a command: its name, or how it begins. */
static Then run_line(Debugger *g, const TdWatched *w, const char *line) {
  size_t n = strcspn(line, " ");
  const char *args = line + n + strspn(line + n, " ");
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    if (strncmp(commands[i].name, line, n) == 0) return commands[i].run(g, w, args);
  printf("there is no '%.*s' here; help lists what there is\n", (int)n, line);
  return STAY;
}

/* Asks until the run is to go on, or to end. */
static bool ask(Debugger *g, const TdWatched *w) {
  for (;;) {
    TdText line = text(g);
    if (!asker.ask || !asker.ask(asker.ud, "debug> ", &line)) return false;
    const char *said = td_text_str(&line);
    said += strspn(said, " \t\n:");
    while (line.n && isspace((unsigned char)line.at[line.n - 1])) line.at[--line.n] = 0;
    if (!*said) said = g->last;
    g->last = said;
    Then then = run_line(g, w, said);
    fflush(stdout);
    if (then != STAY) return then == GO;
  }
}

/* ---- the run ---- */

/* Why a breakpoint stops in front of a statement, or NULL. */
static const char *met(Debugger *g, const TdWatched *w, Break *b) {
  if (b->line)
    return b->line == w->stmt->loc.line ? td_text_fmt(g->arena, "line %u", b->line) : NULL;
  const char *stream = td_watch_stream(w);
  if (stream && (strcmp(stream, b->text) == 0 ||
                 (b->n == 0 && strncmp(stream, b->name, strlen(b->name)) == 0 &&
                  stream[strlen(b->name)] == '[')))
    return td_text_fmt(g->arena, "%s is used", stream);
  const char *now = value_of(g, w, b), *was = b->last;
  bool changed = now && (!was || strcmp(now, was) != 0);
  if (now) b->last = now;
  if (!changed || (b->wanted && strcmp(now, b->wanted) != 0)) return NULL;
  return was ? td_text_fmt(g->arena, "%s: %s -> %s", b->text, was, now)
             : td_text_fmt(g->arena, "%s: %s", b->text, now);
}

/* Called in front of each statement. */
static bool step(void *ud, const TdWatched *w) {
  Debugger *g = ud;
  const char *why = NULL;
  g->ran = true;
  for (size_t i = 0; i < g->at.n; i++) {
    const char *here = met(g, w, &g->at.at[i]);
    if (here && !why) why = here;
  }
  bool stops = why || g->until == TO_ANY ||
               (g->until == TO_NEXT && g->task == w->task && td_watch_depth(w) <= g->depth);
  if (stops) put_stop(g, w, why);
  bool goes = !stops || ask(g, w);
  g->left |= !goes;
  g->wrote = goes && td_watch_target(w, &g->cell);
  return goes;
}

/* Runs the code that is argument 1 with the debugger that is argument 2 looking on. */
static int l_run(lua_State *L) {
  const char *code = lua_tostring(L, 1);
  td_command_push_values(L, code);
  return 0;
}

void td_debug_run(lua_State *L, const char *code, TdText *out) {
  TdBind *b = td_bind_enter(L);
  if (b->watch) td_bind_fail(L, "command", ":debug is under way already");
  if (!asker.ask) td_bind_fail(L, "command", ":debug asks at the prompt, and there is none");
  Debugger g = {.L = L, .arena = td_bind_arena(L), .sources = b->session->sources, .last = "step"};
  TdWatch watch = {step, &g};
  puts("(step, next, out, continue, break, print, list, streams, tasks, quit; help says more)");
  b->watch = &watch;
  lua_pushcfunction(L, td_fault_handle);
  int handler = lua_gettop(L);
  lua_pushcfunction(L, l_run);
  lua_pushstring(L, code);
  bool ok = lua_pcall(L, 1, 0, handler) == LUA_OK;
  b->watch = NULL;
  if (ok && !g.ran)
    td_bind_fail(L, "argument", "nothing was run by statements: :debug takes a call, as k(A, B)");
  if (!ok && !g.left) lua_error(L);
  td_text_puts(out, g.left ? "the run was ended; its arguments are as before\n"
                           : "the run ended; its arguments are written\n");
}
