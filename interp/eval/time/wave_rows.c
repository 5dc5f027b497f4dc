/* wave_rows.c - what tasks do over the cycles of a run, as rows of characters and as a picture. */
#include <string.h>

#include "eval/time/wave.h"

/* What a task does: the states of wave.h, with how they are drawn. */
enum { IDLE, BUSY, EMPTY, FULL, MEETING, STATES };
static const char mark[STATES + 1] = ".#efa";
static const char *const colour[STATES] = {"#eeeeee", "#3b7dd8", "#f0c24b", "#d8583b", "#9a6fc9"};
static const char *const meaning[STATES] = {"not running", "busy", "waits for a token",
                                            "waits for room", "allreduce"};

/* Calls for each stretch of cycles in which a task does one thing, in order. */
typedef void Visit(void *ud, int64_t from, int64_t to, int state);
static void visit_task(const TdTimedTask *x, int64_t cycles, Visit *f, void *ud) {
  int64_t now = x->begin;
  if (now) f(ud, 0, now, IDLE);
  for (size_t i = 0; i < x->nwait; i++) {
    const TdTimedWait *w = &x->wait[i];
    if (w->from > now) f(ud, now, w->from, BUSY);
    f(ud, w->from, w->from + w->cycles, EMPTY + (int)w->why);
    now = w->from + w->cycles;
  }
  if (x->end > now) f(ud, now, x->end, BUSY);
  if (cycles > x->end) f(ud, x->end, cycles, IDLE);
}

/* A row of columns under way: cycles spent in each state. */
typedef struct Columns {
  int64_t (*spent)[STATES];
  int64_t cycles;
  int width;
} Columns;

/* The first cycle of a column. */
static int64_t begin_of(const Columns *c, int column) {
  return c->cycles / c->width * column + c->cycles % c->width * column / c->width;
}

static void spend(void *ud, int64_t from, int64_t to, int state) {
  Columns *c = ud;
  int lo = 0, hi = c->width - 1;
  while (lo < hi) {
    int middle = (lo + hi + 1) / 2;
    if (begin_of(c, middle) <= from)
      lo = middle;
    else
      hi = middle - 1;
  }
  for (int i = lo; i < c->width && begin_of(c, i) < to; i++) {
    int64_t a = begin_of(c, i), b = i + 1 < c->width ? begin_of(c, i + 1) : c->cycles;
    c->spent[i][state] += (to < b ? to : b) - (from > a ? from : a);
  }
}

/* What most of the cycles of a column were spent with. */
static int state_of(const int64_t *spent) {
  int most = IDLE;
  for (int s = 0; s < STATES; s++)
    if (spent[s] > spent[most]) most = s;
  return most;
}

/* A row of at most `width` columns for the tasks of t, to be filled; storage from a. */
static Columns columns_of(TdArena *a, const TdTimed *t, int width) {
  Columns c = {.cycles = t->cycles, .width = width < t->cycles ? width : (int)t->cycles};
  c.spent = td_arena_alloc(a, ((size_t)c.width + 1) * sizeof *c.spent);
  return c;
}

static void fill_columns(Columns *c, const TdTimedTask *x) {
  memset(c->spent, 0, (size_t)c->width * sizeof *c->spent);
  visit_task(x, c->cycles, spend, c);
}

/* The letters of a name. */
static int letters(const char *name) {
  int n = 0;
  for (; *name; name++) n += ((unsigned char)*name & 0xc0) != 0x80;
  return n;
}

/* Those of the longest name that is shown. */
static int longest_name(const TdTimed *t) {
  int n = 0;
  for (size_t i = 0; i < t->ntask && i < TD_WAVE_ROWS; i++)
    if (letters(t->task[i].name) > n) n = letters(t->task[i].name);
  return n;
}

void td_wave_timeline(TdText *out, const TdTimed *t, int width) {
  Columns c = columns_of(out->arena, t, width);
  int name = longest_name(t);
  td_text_putf(out, "%-*s  0%*lld\n", name, "", c.width - 1, (long long)t->cycles);
  for (size_t i = 0; i < t->ntask && i < TD_WAVE_ROWS; i++) {
    fill_columns(&c, &t->task[i]);
    const char *own = t->task[i].name;
    td_text_putf(out, "%s%*s  ", own, name - letters(own), "");
    for (int k = 0; k < c.width; k++) td_text_putc(out, mark[state_of(c.spent[k])]);
    td_text_putc(out, '\n');
  }
  if (t->ntask > TD_WAVE_ROWS) td_text_putf(out, "and %zu more tasks\n", t->ntask - TD_WAVE_ROWS);
  for (int s = 0; s < STATES; s++) td_text_putf(out, "%s%c %s", s ? ", " : "", mark[s], meaning[s]);
  td_text_putc(out, '\n');
}

/* ---- pictures ---- */

enum { LEAST_LEFT = 120, WIDE = 760, ROW = 14, LETTER = 6, TICKS = 10 };

/* The cycles [from, to) of a run, to the right of the names. */
typedef struct Picture {
  TdText *out;
  int64_t from, to;
  int left, y;
} Picture;

/* Tenths of a point at which a cycle begins; those outside are at the edges. */
static int64_t at_cycle(const Picture *p, int64_t cycle) {
  int64_t all = p->to - p->from, now = cycle < p->from ? 0 : cycle - p->from;
  if (now > all) now = all;
  return p->left * 10 + (all ? (int64_t)((double)now * (double)(WIDE * 10) / (double)all) : 0);
}

static void put_tenths(TdText *out, int64_t tenths) {
  td_text_putf(out, "%lld.%lld", (long long)(tenths / 10), (long long)(tenths % 10));
}

/* A stretch as a box; what is thinner than a tenth of a point is not there. */
static void draw(void *ud, int64_t from, int64_t to, int state) {
  Picture *p = ud;
  int64_t a = at_cycle(p, from), b = at_cycle(p, to);
  if (b <= a || state == IDLE) return;
  td_text_puts(p->out, "<rect x=\"");
  put_tenths(p->out, a);
  td_text_putf(p->out, "\" y=\"%d\" width=\"", p->y);
  put_tenths(p->out, b - a);
  td_text_putf(p->out,
               "\" height=\"%d\" fill=\"%s\"><title>%s, cycles %lld to %lld</title></rect>\n",
               ROW - 3, colour[state], meaning[state], (long long)from, (long long)to - 1);
}

/* A task as boxes: each stretch, or where there are more than points what it did most in each. */
static void draw_task(Picture *p, const TdTimed *t, const TdTimedTask *x) {
  if (x->nwait <= WIDE / 2 || p->to - p->from < t->cycles) {
    visit_task(x, t->cycles, draw, p);
    return;
  }
  Columns c = columns_of(p->out->arena, t, WIDE);
  fill_columns(&c, x);
  for (int from = 0, to; from < c.width; from = to) {
    int state = state_of(c.spent[from]);
    for (to = from + 1; to < c.width && state_of(c.spent[to]) == state;) to++;
    draw(p, begin_of(&c, from), to < c.width ? begin_of(&c, to) : c.cycles, state);
  }
}

static void put_label(TdText *out, int x, int y, const char *text) {
  td_text_putf(out, "<text x=\"%d\" y=\"%d\">", x, y);
  td_text_put_xml(out, text);
  td_text_puts(out, "</text>\n");
}

/* The changes of a stream's fill within one point of the picture. */
typedef struct Point {
  int64_t first, last; /* tenths of a point at which it changes */
  int64_t most, end;   /* tokens: the most, and after the last change */
} Point;

static void put_step(Picture *p, int64_t at, int64_t fill, int64_t depth) {
  td_text_puts(p->out, "H");
  put_tenths(p->out, at);
  td_text_putf(p->out, "V%d", p->y + ROW - 4 - (int)(fill * (ROW - 4) / depth));
}

/* A point as a step up to its most and one to its end; none was there if `first` is 0. */
static void put_point(Picture *p, const Point *x, int64_t depth) {
  if (!x->first) return;
  put_step(p, x->first, x->most, depth);
  if (x->end != x->most) put_step(p, x->last, x->end, depth);
}

/* The fill of a stream as steps, at most two in each point. */
static void draw_stream(Picture *p, const TdTimedStream *s) {
  size_t put = 0, got = 0;
  int64_t depth = s->depth ? s->depth : 1;
  Point now = {0};
  td_text_putf(p->out, "<path fill=\"none\" stroke=\"#555\" d=\"M%d %d", p->left, p->y + ROW - 4);
  while (put < s->nput || got < s->ngot) {
    bool next_put = put < s->nput && (got == s->ngot || s->put[put] <= s->got[got]);
    int64_t cycle = next_put ? s->put[put] : s->got[got];
    while (put < s->nput && s->put[put] == cycle) put++;
    while (got < s->ngot && s->got[got] == cycle) got++;
    int64_t to = at_cycle(p, cycle + 1), fill = (int64_t)(put - got);
    if (to / 10 != now.first / 10) {
      put_point(p, &now, depth);
      now = (Point){.first = to, .most = fill};
    }
    now.last = to;
    now.end = fill;
    if (fill > now.most) now.most = fill;
  }
  put_point(p, &now, depth);
  td_text_putf(p->out, "H%d\"/>\n", p->left + WIDE);
}

static void put_key(Picture *p) {
  for (int s = BUSY; s < STATES; s++) {
    int x = p->left + (s - 1) * 150;
    td_text_putf(p->out, "<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" fill=\"%s\"/>\n", x,
                 p->y, colour[s]);
    put_label(p->out, x + 14, p->y + 9, meaning[s]);
  }
}

/* The least distance of ticks, 1, 2 or 5 times a power of ten, of which so many are enough. */
static int64_t distance_of(int64_t cycles) {
  static const int64_t steps[] = {1, 2, 5};
  for (int64_t ten = 1;; ten *= 10)
    for (int i = 0; i < 3; i++)
      if (cycles / (ten * steps[i]) <= TICKS) return ten * steps[i];
}

/* The axis: a line and the cycle at each tick, down to y. */
static void put_axis(Picture *p, int y) {
  int64_t distance = distance_of(p->to - p->from);
  for (int64_t c = (p->from + distance - 1) / distance * distance; c <= p->to; c += distance) {
    int64_t x = at_cycle(p, c);
    td_text_puts(p->out, "<path stroke=\"#d8d8d8\" d=\"M");
    put_tenths(p->out, x);
    td_text_putf(p->out, " %dV%d\"/>\n<text text-anchor=\"middle\" x=\"", p->y, y);
    put_tenths(p->out, x);
    td_text_putf(p->out, "\" y=\"%d\">%lld</text>\n", p->y - 2, (long long)c);
  }
}

/* What stands beside a stream: its name, and the most that it held of its depth. */
static const char *stream_label(TdArena *a, const TdTimedStream *s) {
  return td_text_fmt(a, "%s %lld/%lld", s->name, (long long)s->most, (long long)s->depth);
}

/* Room for the longest label. */
static int left_of(TdArena *a, const TdTimed *t, size_t tasks, size_t streams) {
  int n = 0;
  for (size_t i = 0; i < tasks; i++)
    if (letters(t->task[i].name) > n) n = letters(t->task[i].name);
  for (size_t i = 0; i < streams; i++) {
    int m = letters(stream_label(a, &t->stream[i]));
    if (m > n) n = m;
  }
  return n * LETTER + 14 > LEAST_LEFT ? n * LETTER + 14 : LEAST_LEFT;
}

void td_wave_svg(TdText *out, const TdTimed *t, int64_t from, int64_t to) {
  size_t tasks = t->ntask < TD_WAVE_ROWS ? t->ntask : TD_WAVE_ROWS;
  size_t streams = t->nstream < TD_WAVE_ROWS ? t->nstream : TD_WAVE_ROWS;
  int height = (int)(tasks + streams + 5) * ROW;
  Picture p = {.out = out, .from = from, .to = to, .y = 2 * ROW + 6};
  p.left = left_of(out->arena, t, tasks, streams);
  int wide = p.left + WIDE + 20;
  td_text_putf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
               "viewBox=\"0 0 %d %d\" font-family=\"monospace\" font-size=\"10\">\n",
               wide, height, wide, height);
  const char *part = from > 0 || to < t->cycles ? td_text_fmt(out->arena, ", from %lld to %lld",
                                                              (long long)from, (long long)to)
                                                : "";
  put_label(out, 4, ROW - 3,
            td_text_fmt(out->arena, "%s on %s: %lld cycles%s", t->design, t->target,
                        (long long)t->cycles, part));
  put_axis(&p, p.y + (int)(tasks + streams) * ROW);
  for (size_t i = 0; i < tasks; i++, p.y += ROW) {
    put_label(out, 4, p.y + 9, t->task[i].name);
    draw_task(&p, t, &t->task[i]);
  }
  for (size_t i = 0; i < streams; i++, p.y += ROW) {
    put_label(out, 4, p.y + 9, stream_label(out->arena, &t->stream[i]));
    draw_stream(&p, &t->stream[i]);
  }
  p.y += ROW / 2;
  put_key(&p);
  td_text_puts(out, "</svg>\n");
}
