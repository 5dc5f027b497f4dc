/* line_pty_test.c - the editor as a user sees it, at several widths and in several locales. */
/* [slow] */
#define _XOPEN_SOURCE 700
#include <locale.h>

#include "tests/unit/line_pty.h"

static void test_typing(void) {
  expect("x = 1\r", "got <x = 1>", "typing and Enter");
  expect("for do\r", "..>", "Enter on incomplete text begins a line");
  fact(t.vt.col == 5 + 2, "it is indented");
  expect("y\rend", "..> end", "a closing word goes back to its block");
  expect("\r", "got <for do|  y|end>", "complete text is submitted");
  expect("ab\x1b[D\r", "..> b", "Enter before the end begins a line");
  expect("\x05\r", "got <a|b>", "at the end it submits");
  expect("p\x1b\rq\r", "got <p|q>", "M-Enter begins a line");
}

static void test_editing(void) {
  expect("one two\x17"
         "2\r",
         "got <one 2>", "C-w kills a word");
  expect("\x19\r", "got <two>", "C-y brings it to the next line");
  expect("abc\x1b[D\x14\r\x05\r", "got <acb>", "C-t swaps");
  expect("hello you\x01\x1b"
         "u\x1b"
         "c\r\x05\r",
         "got <HELLO You>", "M-u, M-c");
  expect("abc def\x1f\x1f"
         "x\r",
         "got <x>", "C-_ takes words back");
  expect("abc\x1f\x1b_\r", "got <abc>", "M-_ does them again");
  expect("a(b)", "(b)", "brackets");
  int r = vt_find(&t.vt, 0, "tide> a(b)");
  fact(r >= 0 && strcmp(t.vt.cell[r][7].sgr, "0;1;4") == 0, "the partner of a bracket is shown");
  expect("\x15"
         "9\r",
         "got <9>", "C-u kills the line");
}

static void test_paste(void) {
  expect("\x1b[200~tide> for do\r\n ..>   z\r\n ..> end\r\n\x1b[201~", "..> end",
         "a paste is shown");
  expect("\r", "got <for do|  z|end>", "its prompts are gone; it is one input");
  expect("\x1b[200~a\tb\x01\xff\x1b[201~\r", "got <a", "controls in a paste");
  fact(shows("^A\\xFF"), "are spelled out");
}

static void test_history(void) {
  expect("alpha = 1\r", "got <alpha = 1>", "an input");
  expect("beta = 2\r", "got <beta = 2>", "another");
  fresh();
  expect("\x1b[A", "tide> beta = 2", "Up recalls the newest");
  expect("\x1b[A", "tide> alpha = 1", "and the one before");
  expect("\x1b[B\x1b[B", "tide>", "Down comes back");
  expect("al\x1b[A", "tide> alpha = 1", "Up looks for what starts alike");
  expect("\x15"
         "al",
         "tide> alpha = 1", "a ghost continues what is typed");
  fact(strcmp(t.vt.cell[0][8].sgr, "0;2") == 0 && t.vt.col == 8, "dim, after the cursor");
  expect("\x1b[C\r", "got <alpha = 1>", "Right takes it");
  expect("be\x1b"
         "f\r",
         "got <beta>", "M-f takes a word of it");
  expect("hint\x1b[C\r", "got <hinted at>", "the language can hint too");
  expect("ghost off\r", "got <ghost off>", "a switch");
  fresh();
  expect("alp", "tide> alp", "typing");
  fact(!shows("alpha"), "turns it off");
  type("\x15");
  settle();
}

static void test_multiline_history(void) {
  expect("do\ruu\rend\r", "got <do|  uu|end>", "a block");
  fresh();
  expect("\x1b[A", "..> end", "Up recalls it whole");
  expect("\x1b[Auuu\x1b[B\r", "got <do|  uuuuu|end>", "Up then moves inside");
}

static void test_search(void) {
  fresh();
  expect("\x12"
         "al1",
         "search: al1", "C-r searches");
  fact(shows("> alpha = 1"), "letters in order");
  fact(strncmp(vt_row(&t.vt, 0), "tide> alpha", 11) == 0, "with a preview");
  expect("\r", "tide> alpha = 1", "Enter takes it");
  fact(wait_gone("search:"), "and ends the search");
  expect("\r", "got <alpha = 1>", "then it can be run");
  fresh();
  type("keep\x12zzzz");
  fact(wait_for("search: keepzzzz"), "begins with the draft; what is nowhere");
  type("\x1b");
  fact(wait_gone("search") && shows("tide> keep"), "ESC brings the draft back");
  type("\x15");
  settle();
}

static void test_tab(void) {
  fresh();
  expect("uni\t", "tide> unique", "Tab completes");
  type("\x15pr\t");
  fact(wait_gone("unique") && shows("tide> pri") && !shows("private"), "Tab puts what is common");
  expect("\t", "private...", "Tab again lists");
  expect("\t", "writes its arguments", "Tab chooses, with help");
  expect("\x1b[B", "a machine", "Down chooses the next");
  expect("\r", "tide> printer", "Enter takes it");
  fact(wait_gone("private"), "and closes the list");
  type("\x15pri\t\t\t\x1b");
  fact(wait_gone("print") && shows("tide> pri"), "ESC takes the choice back");
  type("\x15");
  settle();
}

static void test_wide(void) {
  fresh();
  expect("x\xE6\x97\xA5\xE6\x9C\xAC", "tide> x\xE6\x97\xA5\xE6\x9C\xAC", "wide characters");
  fact(wait_col(11), "take two cells");
  expect("\x7f", "tide> x\xE6\x97\xA5", "Backspace deletes one");
  fact(wait_col(9), "and its cells");
  type("\x15\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x9A\x80z");
  fact(wait_col(9), "a ZWJ cluster takes two cells, whatever the terminal thinks");
  type("\x7f\x7f");
  fact(wait_col(6), "and goes at one stroke");
  type("\xF0\x9F\x87\xAB\xF0\x9F\x87\xB7\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA\x7f\x65\xCC\x81");
  fact(wait_col(9), "flags and accents too");
  expect("\r", "got <", "submitted");
}

/* Wide characters at an odd column of a long line, in a window that changes. */
static void test_resize(void) {
  int cols = t.vt.cols, long_cells = 0;
  char text[1024] = "";
  fresh();
  for (; long_cells + 6 < cols * 2 + cols / 2; long_cells += 5)
    strcat(text, "\xE8\xAA\x9E"
                 "abc");
  type(text);
  wait_for(text);
  fact(shows(text) && vt_find(&t.vt, 0, "tide>") == 0, "a long line is wrapped");
  for (int step = 0; step < 3; step++) {
    int to = step == 0 ? cols - 7 : step == 1 ? cols / 2 + 3 : cols;
    vt_resize(&t.vt, PLAIN_ROWS, to);
    set_size(PLAIN_ROWS, to);
    settle();
    wait_for(text);
    int last = (6 + long_cells) / to;
    fact(vt_find(&t.vt, 0, "tide>") == 0 && shows(text), "it is whole at %d columns", to);
    fact(vt_find(&t.vt, 1, "tide>") < 0 && t.vt.row >= last && t.vt.row <= last + 1,
         "and there once");
  }
  type("\x01\x0b");
  fact(wait_gone("abc"), "it can be killed");
}

static void test_tall(void) {
  fresh();
  type("do\r");
  for (int i = 0; i < 40; i++) {
    char line[16];
    snprintf(line, sizeof line, "row%d\r", i);
    type(line);
  }
  wait_for("row39");
  fact(shows("row39") && !shows("row3row"), "a buffer taller than the screen scrolls");
  for (int i = 0; i < 45; i++) type("\x10");
  fact(wait_gone("row39") && shows("tide> do"), "up to its first line");
  type("\x1b>\x7f\x7f"
       "end\r");
  fact(wait_for("got <do|"), "it is submitted");
}

static void test_interrupt(void) {
  fresh();
  expect("precious\x03", "gave up <precious>", "C-c gives an input up");
  expect("\x19\r", "got <precious>", "C-y brings it back");
  expect("escape\r", "escaped <cooked>", "an escape from a hook restores the terminal");
  expect("on\r", "got <on>", "and the session goes on");
}

static void test_above(void) {
  expect("partial\r", "no newline", "output without newline");
  fact(vt_find(&t.vt, 0, "no newlinetide") < 0, "the prompt is in a row of its own");
  expect("job\r", "got <job>", "a job");
  type("typed");
  fact(wait_for("from the job"), "its output appears");
  int r = vt_find(&t.vt, 0, "tide> typed");
  fact(r > 0 && strcmp(vt_row(&t.vt, r - 1), "from the job") == 0 && t.vt.row == r,
       "above the prompt");
  expect("\r", "got <typed>", "which goes on");
}

static void test_stop(pid_t pid) {
  fresh();
  expect("half\x1a", "[stopped 0 cooked]", "C-z stops, the terminal is restored");
  fact(!t.vt.is_pasting, "bracketed paste is off meanwhile");
  fresh();
  type("fg\r");
  fact(wait_for("tide> half"), "fg paints again");
  expect("way\r", "got <halfway>", "and goes on");
  fresh();
  kill(pid, SIGTSTP);
  fact(wait_for("[stopped 0 cooked]"), "SIGTSTP from elsewhere");
  expect("fg\rx\r", "got <x>", "and fg");
}

/* Everything at one width in one locale. */
static void test_all(int cols, const char *locale, bool is_summing) {
  char history[] = "/tmp/tide_line_test_XXXXXX";
  snprintf(t.name, sizeof t.name, "%d %s%s", cols, locale, is_summing ? " sums" : "");
  int fd = mkstemp(history);
  close(fd);
  setenv("TIDE_HISTORY", history, 1);
  setenv("LC_ALL", locale, 1);
  pid_t pid = start(cols, is_summing);
  fact(t.vt.is_pasting, "bracketed paste is on at the prompt");
  test_typing();
  test_editing();
  test_paste();
  test_history();
  test_multiline_history();
  test_search();
  test_tab();
  test_wide();
  test_resize();
  test_tall();
  test_interrupt();
  test_above();
  test_stop(pid);
  expect("\x04", "bye", "C-d on nothing ends");
  fact(wait_for("[exit 0 cooked]"), "the terminal is restored, no memory is left");
  finish();
  start(cols, false);
  expect("\x1b[A", "tide> x", "the history is in the next session");
  expect("\x03", "gave up <x>", "and more");
  expect("exit now\r", "[exit 7 cooked]", "exit restores the terminal");
  finish();
  unlink(history);
}

/* A signal that ends the process while it edits. */
static void test_signal(int sig, const char *name) {
  char ended[64];
  snprintf(t.name, sizeof t.name, "%s", name);
  setenv("TIDE_HISTORY", "", 1);
  pid_t pid = start(80, false);
  type("some");
  settle();
  kill(pid, sig);
  snprintf(ended, sizeof ended, "[killed %d cooked]", sig);
  fact(wait_for(ended) && !t.vt.is_pasting, "the terminal is restored");
  finish();
}

/* SIGINT from elsewhere is Ctrl-C. */
static void test_sigint(void) {
  snprintf(t.name, sizeof t.name, "SIGINT");
  pid_t pid = start(80, false);
  type("some");
  settle();
  kill(pid, SIGINT);
  fact(wait_for("gave up <some>"), "gives the input up");
  expect("\x04", "[exit 0 cooked]", "and kills nothing");
  finish();
}

/* A terminal that is not edited on: no escape reaches it. */
static void test_plain(const char *variable, const char *value) {
  char *old = getenv(variable) ? strdup(getenv(variable)) : NULL;
  snprintf(t.name, sizeof t.name, "%s=%s", variable, value);
  setenv(variable, value, 1);
  start(80, false);
  expect("do\nx\nend\n", "got <do|x|end>", "lines are read until they are complete");
  fact(!t.vt.is_pasting && t.vt.n_held == 0, "no escapes");
  expect("\x04", "[exit 0 cooked]", "C-d ends");
  finish();
  if (old)
    setenv(variable, old, 1);
  else
    unsetenv(variable);
  free(old);
}

/* The style of a number that is typed, and that it can be edited, with a value of NO_COLOR. */
static void test_colours(const char *no_color, const char *sgr) {
  snprintf(t.name, sizeof t.name, "NO_COLOR=%s", no_color ? no_color : "(unset)");
  if (no_color) setenv("NO_COLOR", no_color, 1);
  start(80, false);
  expect("9x\x1b[D", "tide> 9x", "typing");
  int r = vt_find(&t.vt, 0, "tide> 9x");
  fact(r >= 0 && strcmp(t.vt.cell[r][6].sgr, *sgr == '0' && !sgr[1] ? "" : sgr) == 0,
       "the number is coloured where colours are wanted");
  expect("8\r", "x", "moving and inserting");
  expect("\x05\r", "got <98|x>", "is editing");
  expect("\x04", "[exit 0 cooked]", "C-d ends");
  finish();
  unsetenv("NO_COLOR");
}

/* Input from a pipe: no prompt, no escape. */
static void test_pipe(void) {
  int in[2], out[2];
  char got[512];
  size_t n = 0;
  snprintf(t.name, sizeof t.name, "pipe");
  if (pipe(in) < 0 || pipe(out) < 0) return;
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    close(in[1]);
    exit(run_demo());
  }
  close(in[0]);
  close(out[1]);
  ssize_t done = write(in[1], "a\r\ndo\nb\nend\nlast", 16);
  close(in[1]);
  for (ssize_t k; (k = read(out[0], got + n, sizeof got - 1 - n)) > 0;) n += (size_t)k;
  got[n] = 0;
  waitpid(pid, NULL, 0);
  ok(done == 16, "pipe: written");
  is_text(got, "got <a>\ngot <do|b|end>\ngot <last>\nbye\n",
          "pipe: inputs, no prompts, no escapes");
}

/* Milliseconds of a clock that only goes on. */
static double now_ms(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec * 1e3 + (double)at.tv_nsec / 1e6;
}

/* Key to screen on a buffer of 200 lines: from the write of a byte to the last byte painted. */
static void test_speed(void) {
  char block[65536];
  double worst = 0, sum = 0;
  int keys = 200, reads = 0;
  snprintf(t.name, sizeof t.name, "speed");
  start(80, false);
  type("do\r");
  for (int i = 0; i < 200; i++) type("local x = (1 + 2) * 3\r");
  for (int i = 0; i < 10; i++) drain(100);
  for (int i = 0; i < keys; i++) {
    double from = now_ms(), took = 0;
    type("y");
    ssize_t n = read(t.fd, block, sizeof block);
    took = now_ms() - from;
    while (n > 0) {
      vt_feed(&t.vt, block, (size_t)n);
      reads++;
      n = poll(&(struct pollfd){.fd = t.fd, .events = POLLIN}, 1, 5) > 0
              ? read(t.fd, block, sizeof block)
              : 0;
    }
    sum += took;
    if (took > worst) worst = took;
  }
  printf("# key to screen, 200 lines: mean %.3f ms, worst %.3f ms, %d reads for %d keys\n",
         sum / keys, worst, reads, keys);
  fact(reads == keys, "one write for each key");
  type("\x03\x04");
  wait_for("bye");
  finish();
}

int main(void) {
  static const int widths[] = {20, 80, 200};
  static const char *const locales[] = {"C.UTF-8", "C", "de_DE.UTF-8"};
  setenv("TERM", "xterm-256color", 1);
  unsetenv("NO_COLOR");
  unsetenv("XTERM_VERSION");
  unsetenv("STY");
  signal(SIGPIPE, SIG_IGN);
  for (size_t l = 0; l < sizeof locales / sizeof *locales; l++) {
    if (!setlocale(LC_ALL, locales[l])) {
      printf("# no locale %s here\n", locales[l]);
      continue;
    }
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
      test_all(widths[w], locales[l], false);
  }
  setlocale(LC_ALL, "C");
  setrlimit(RLIMIT_CORE, &(struct rlimit){0});
  test_all(80, "C.UTF-8", true);
  test_signal(SIGTERM, "SIGTERM");
  test_signal(SIGHUP, "SIGHUP");
  test_signal(SIGABRT, "SIGABRT");
  test_sigint();
  test_plain("TERM", "dumb");
  test_colours(NULL, "0;33");
  test_colours("", "0;33");
  test_colours("1", "0");
  test_pipe();
  test_speed();
  return done_testing();
}
