/* wave.c - value change dumps: all changes of a run in order of time. */
#include "eval/time/wave.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

/* A signal has another value from a cycle on. */
typedef struct Change {
  int64_t cycle;
  size_t signal, order; /* order: of changes of one signal */
  int64_t value;
} Change;

typedef struct Wave {
  TdArena *arena;
  TD_VEC(Change) change;
  TdMap named; /* hashes of names of signals */
} Wave;

static int earlier(const void *x, const void *y) {
  const Change *a = x, *b = y;
  if (a->cycle != b->cycle) return a->cycle < b->cycle ? -1 : 1;
  if (a->signal != b->signal) return a->signal < b->signal ? -1 : 1;
  return a->order < b->order ? -1 : 1;
}

static void add(Wave *w, int64_t cycle, size_t signal, int64_t value) {
  td_vec_push(w->arena, &w->change, ((Change){cycle, signal, w->change.n, value}));
}

/* The fill of a stream: what happens in a cycle shows in the next one. */
static void add_stream(Wave *w, const TdTimedStream *s, size_t signal) {
  size_t put = 0, got = 0;
  add(w, 0, signal, 0);
  while (put < s->nput || got < s->ngot) {
    bool next_put = put < s->nput && (got == s->ngot || s->put[put] <= s->got[got]);
    int64_t cycle = next_put ? s->put[put] : s->got[got];
    while (put < s->nput && s->put[put] == cycle) put++;
    while (got < s->ngot && s->got[got] == cycle) got++;
    add(w, cycle + 1, signal, (int64_t)put - (int64_t)got);
  }
}

/* The state of a task. */
static void add_task(Wave *w, const TdTimedTask *x, size_t signal) {
  if (x->begin) add(w, 0, signal, 0);
  add(w, x->begin, signal, 1);
  for (size_t i = 0; i < x->nwait; i++) {
    add(w, x->wait[i].from, signal, 2 + (int64_t)x->wait[i].why);
    add(w, x->wait[i].from + x->wait[i].cycles, signal, 1);
  }
  add(w, x->end, signal, 0);
}

/* The identifier of a signal: digits of base 94. */
static const char *code(TdArena *a, size_t signal) {
  TdText t = td_text_new(a);
  do td_text_putc(&t, (char)('!' + signal % 94));
  while (signal /= 94);
  return td_text_str(&t);
}

static bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* A name of letters, digits and _ : waves keep brackets for bits, blanks and $ for themselves. */
static const char *plain_name(TdArena *a, const char *name) {
  TdText t = td_text_new(a);
  for (const char *s = name; *s; s++) {
    bool inside = ((unsigned char)*s & 0xc0) == 0x80; /* of a letter beyond ASCII */
    if (*s != ']' && !inside) td_text_putc(&t, is_plain(*s) ? *s : '_');
  }
  return t.n ? td_text_str(&t) : "_";
}

/* The same, but other than those of the signals before. */
static const char *own_name(Wave *w, const char *name) {
  const char *plain = plain_name(w->arena, name), *own = plain;
  for (int n = 2; td_map_get(&w->named, td_map_hash(own, strlen(own)), NULL); n++)
    own = td_text_fmt(w->arena, "%s_%d", plain, n);
  td_map_put(w->arena, &w->named, td_map_hash(own, strlen(own)), 1);
  return own;
}

static int bits_of(int64_t most) {
  int n = 1;
  while (most >> n) n++;
  return n;
}

static void put_variable(Wave *w, TdText *out, const char *name, int bits, size_t signal) {
  td_text_putf(out, "$var wire %d %s %s $end\n", bits, code(w->arena, signal), own_name(w, name));
}

static void put_value(TdText *out, int64_t value, int bits, size_t signal) {
  td_text_putc(out, 'b');
  for (int i = bits; i-- > 0;) td_text_putc(out, value >> i & 1 ? '1' : '0');
  td_text_putf(out, " %s\n", code(out->arena, signal));
}

static int width_of(const TdTimed *t, size_t signal) {
  return signal < t->nstream ? bits_of(t->stream[signal].depth) : 3;
}

void td_wave_vcd(TdText *out, const TdTimed *t) {
  Wave w = {.arena = out->arena};
  td_text_putf(out, "$comment %s on %s: a unit of time is a cycle $end\n$timescale 1ns $end\n",
               plain_name(w.arena, t->design), t->target);
  td_text_putf(out, "$scope module %s $end\n", plain_name(w.arena, t->design));
  for (size_t i = 0; i < t->nstream; i++) {
    put_variable(&w, out, t->stream[i].name, width_of(t, i), i);
    add_stream(&w, &t->stream[i], i);
  }
  for (size_t i = 0; i < t->ntask; i++) {
    put_variable(&w, out, t->task[i].name, width_of(t, t->nstream + i), t->nstream + i);
    add_task(&w, &t->task[i], t->nstream + i);
  }
  td_text_puts(out, "$upscope $end\n$enddefinitions $end\n");
  qsort(w.change.at, w.change.n, sizeof *w.change.at, earlier);
  int64_t now = -1;
  for (size_t i = 0; i < w.change.n; i++) {
    const Change *c = &w.change.at[i], *next = c + 1;
    bool hidden = i + 1 < w.change.n && next->cycle == c->cycle && next->signal == c->signal;
    if (hidden) continue;
    if (c->cycle != now) td_text_putf(out, "#%lld\n", (long long)c->cycle);
    now = c->cycle;
    put_value(out, c->value, width_of(t, c->signal), c->signal);
  }
  if (now < t->cycles) td_text_putf(out, "#%lld\n", (long long)t->cycles);
}
