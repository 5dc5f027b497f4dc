/* events.c - what a simulation prints under TIDE_EVENTS: "put" or "get", the path of the FIFO, the
 * time, the word that moves ("also", "more": a further beat of the token); "begin" or "end", the
 * path of a task, the time. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backends/verilog/verilog.h"
#include "eval/time/timed.h"

/* Two units of time a cycle; the first cycle of a run is the bench's sixth, or the one after the
 * start that a shell tells. */
enum { PERIOD = 2, FIRST = 5 };

/* One end of a stream: the cycles of its tokens, their hashes, elements of the last one so far. */
typedef struct End {
  TD_VEC(int64_t) at;
  TD_VEC(uint64_t) token;
  int64_t element;
} End;

/* A line: what happens, where, when, the digits of the word. */
typedef struct Event {
  const char *what, *path, *digit;
  size_t npath, ndigit;
  int64_t cycle;
} Event;

typedef struct Events {
  TdArena *arena;
  const TdVlogModule *top;
  End *end[2]; /* put, got, of each stream */
  TdTimedTask *task;
  int64_t first;
} Events;

uint64_t td_verilog_element(const char *digit, size_t n, int64_t k, int width) {
  uint64_t v = 0;
  for (int bit = width; bit-- > 0;) {
    int64_t at = k * width + bit;
    char c = digit[n - 1 - (size_t)at / 4];
    int x = c >= 'a' ? c - 'a' + 10 : c - '0';
    v = v << 1 | (uint64_t)(x >> at % 4 & 1);
  }
  return v;
}

/* "Z[1][2]", number i of a box. */
static const char *label(TdArena *a, const TdVlogStream *s, int64_t i) {
  int64_t at[TD_MAX_RANK];
  TdText t = td_text_new(a);
  td_text_puts(&t, s->name);
  for (int d = s->rank; d-- > 0; i /= s->n[d]) at[d] = s->lo[d] + i % s->n[d];
  for (int d = 0; d < s->rank; d++) td_text_putf(&t, "[%" PRId64 "]", at[d]);
  return td_text_str(&t);
}

/* The number that a path gives a scope, "clocked.run.dut.Z_streams[3].fifo", or -1. */
static int64_t number_in(const char *scope, const char *path, size_t n) {
  size_t length = strlen(scope);
  for (const char *c = path; c + length + 2 < path + n; c++)
    if (*c == '.' && strncmp(c + 1, scope, length) == 0 && c[length + 1] == '[')
      return strtoll(c + length + 2, NULL, 10);
  return -1;
}

/* Reads a line; false where it is none of these. */
static bool read_event(const Events *x, const char *line, Event *e) {
  *e = (Event){.what = line};
  size_t word = strcspn(line, " \n");
  if (line[word] != ' ') return false;
  e->path = line + word + 1;
  e->npath = strcspn(e->path, " \n");
  if (e->path[e->npath] != ' ') return false;
  char *after;
  e->cycle = strtoll(e->path + e->npath, &after, 10) / PERIOD - x->first;
  e->digit = after + strspn(after, " ");
  e->ndigit = strcspn(e->digit, "\n");
  return true;
}

static bool is(const Event *e, const char *what) {
  size_t n = strlen(what);
  return strncmp(e->what, what, n) == 0 && e->what[n] == ' ';
}

/* The elements of a word that moves, into the hash of its token. */
static void take_word(const TdVlogStream *s, const Event *e, End *end) {
  uint64_t *hash = &end->token.at[end->token.n - 1];
  for (int64_t k = 0; s->element && k < s->in_beat && end->element < s->elements; k++) {
    uint64_t word = td_verilog_element(e->digit, e->ndigit, k, s->element->w);
    *hash = td_timed_mix(*hash, s->element, td_num_of_word(s->element, word));
    end->element++;
  }
}

/* A word moves at end number i of a stream. */
static void take_token(Events *x, const TdVlogStream *s, int64_t i, const Event *e) {
  bool put = is(e, "put") || is(e, "also");
  End *end = &x->end[!put][i];
  if (is(e, "put") || is(e, "get")) {
    td_vec_push(x->arena, &end->at, e->cycle);
    td_vec_push(x->arena, &end->token, s->element ? 1 : 0);
    end->element = 0;
  }
  if (end->token.n) take_word(s, e, end);
}

static void take_stream(Events *x, const Event *e) {
  int64_t first = 0;
  for (size_t i = 0; i < x->top->nstream; first += x->top->stream[i++].count) {
    const TdVlogStream *s = &x->top->stream[i];
    int64_t number = number_in(s->scope, e->path, e->npath);
    if (number >= 0 && number < s->count) {
      take_token(x, s, first + number, e);
      return;
    }
  }
}

/* A task begins or ends; the last time it ends counts. */
static void take_task(Events *x, const Event *e) {
  TdTimedTask *t = x->task;
  for (size_t i = 0; i < x->top->ntask; t += x->top->task[i++].count) {
    int64_t number = number_in(x->top->task[i].scope, e->path, e->npath);
    if (number < 0 || number >= (int64_t)x->top->task[i].count) continue;
    if (is(e, "begin"))
      t[number].begin = e->cycle;
    else
      t[number].end = e->cycle;
    return;
  }
}

/* The greatest fill at the end of a cycle. */
static int64_t most_of(const End *put, const End *got) {
  int64_t most = 0;
  for (size_t i = 0, k = 0; i < put->at.n; i++) {
    while (k < got->at.n && got->at.at[k] <= put->at.at[i]) k++;
    int64_t fill = (int64_t)(i + 1) - (int64_t)k;
    most = fill > most ? fill : most;
  }
  return most;
}

/* What the report has of stream number k. */
static TdTimedStream stream_of(const Events *x, const TdVlogStream *s, int64_t i, int64_t k) {
  const End *put = &x->end[0][k], *got = &x->end[1][k];
  return (TdTimedStream){.name = label(x->arena, s, i),
                         .depth = s->depth,
                         .tokens = (int64_t)put->at.n,
                         .put = put->at.at,
                         .got = got->at.at,
                         .token = put->token.at,
                         .taken = got->token.at,
                         .nput = put->at.n,
                         .ngot = got->at.n,
                         .beats = 1,
                         .most = most_of(put, got)};
}

void td_verilog_events_read(TdArena *a, const TdVlogModule *top, const char *said, TdTimed *out) {
  int64_t all = 0, k = 0;
  size_t tasks = 0;
  for (size_t i = 0; i < top->nstream; i++) all += top->stream[i].count;
  for (size_t i = 0; i < top->ntask; i++) tasks += top->task[i].count;
  Events x = {.arena = a, .top = top, .first = FIRST};
  for (int i = 0; i < 2; i++) x.end[i] = TD_NEWN(a, End, all + 1);
  x.task = TD_NEWN(a, TdTimedTask, tasks + 1);
  for (const char *c = said; *c; c += strcspn(c, "\n"), c += *c == '\n') {
    Event e;
    if (strncmp(c, "start ", 6) == 0) x.first = strtoll(c + 6, NULL, 10) / PERIOD + 1;
    if (!read_event(&x, c, &e)) continue;
    if (is(&e, "begin") || is(&e, "end"))
      take_task(&x, &e);
    else if (is(&e, "put") || is(&e, "get") || is(&e, "also") || is(&e, "more"))
      take_stream(&x, &e);
  }
  TdTimedStream *stream = TD_NEWN(a, TdTimedStream, all + 1);
  for (size_t i = 0; i < top->nstream; i++)
    for (int64_t m = 0; m < top->stream[i].count; m++, k++)
      stream[k] = stream_of(&x, &top->stream[i], m, k);
  out->stream = stream;
  out->nstream = (size_t)all;
  out->kept = true;
  for (size_t i = 0, t = 0; i < top->ntask; i++)
    for (size_t m = 0; m < top->task[i].count; m++, t++) {
      x.task[t].name = top->task[i].name[m];
      x.task[t].run = top->task[i].name[m];
      x.task[t].busy = x.task[t].end - x.task[t].begin;
    }
  out->part = x.task;
  out->npart = tasks;
}
