/* events.c - the cycles in which tokens move, as the FIFOs of a simulation print them: "put" or
 * "get", the path of the FIFO, the time. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backends/verilog/verilog.h"
#include "eval/time/timed.h"

/* Two units of time a cycle; the first cycle of a run is the bench's sixth, or the one after the
 * start that a shell tells. */
enum { PERIOD = 2, FIRST = 5 };

/* The cycles of one end of a stream. */
typedef struct Cycles {
  TD_VEC(int64_t) at;
} Cycles;

/* "Z[1][2]", number i of a box. */
static const char *label(TdArena *a, const TdVlogStream *s, int64_t i) {
  int64_t at[TD_MAX_RANK];
  TdText t = td_text_new(a);
  td_text_puts(&t, s->name);
  for (int d = s->rank; d-- > 0; i /= s->n[d]) at[d] = s->lo[d] + i % s->n[d];
  for (int d = 0; d < s->rank; d++) td_text_putf(&t, "[%" PRId64 "]", at[d]);
  return td_text_str(&t);
}

/* The number of the stream that a path names, "clocked.run.dut.Z_streams[3].fifo", or -1. */
static int64_t number_of(const TdVlogModule *top, const char *path, size_t n) {
  int64_t first = 0;
  for (size_t i = 0; i < top->nstream; i++) {
    const TdVlogStream *s = &top->stream[i];
    size_t length = strlen(s->scope);
    for (const char *c = path; c + length + 2 < path + n; c++)
      if (*c == '.' && strncmp(c + 1, s->scope, length) == 0 && c[length + 1] == '[')
        return first + strtoll(c + length + 2, NULL, 10);
    first += s->count;
  }
  return -1;
}

/* The greatest fill at the end of a cycle. */
static int64_t most_of(const Cycles *put, const Cycles *got) {
  int64_t most = 0;
  for (size_t i = 0, k = 0; i < put->at.n; i++) {
    while (k < got->at.n && got->at.at[k] <= put->at.at[i]) k++;
    int64_t fill = (int64_t)(i + 1) - (int64_t)k;
    most = fill > most ? fill : most;
  }
  return most;
}

void td_verilog_events_read(TdArena *a, const TdVlogModule *top, const char *said, TdTimed *out) {
  int64_t all = 0, k = 0, first = FIRST;
  for (size_t i = 0; i < top->nstream; i++) all += top->stream[i].count;
  Cycles *put = TD_NEWN(a, Cycles, all + 1), *got = TD_NEWN(a, Cycles, all + 1);
  TdTimedStream *stream = TD_NEWN(a, TdTimedStream, all + 1);
  for (const char *c = said; *c; c += strcspn(c, "\n"), c += *c == '\n') {
    if (strncmp(c, "start ", 6) == 0) first = strtoll(c + 6, NULL, 10) / PERIOD + 1;
    bool is_put = strncmp(c, "put ", 4) == 0, is_get = strncmp(c, "get ", 4) == 0;
    if (!is_put && !is_get) continue;
    size_t n = strcspn(c + 4, " \n");
    int64_t number = number_of(top, c + 4, n);
    if (number < 0 || number >= all) continue;
    int64_t cycle = strtoll(c + 4 + n, NULL, 10) / PERIOD - first;
    td_vec_push(a, is_put ? &put[number].at : &got[number].at, cycle);
  }
  for (size_t i = 0; i < top->nstream; i++)
    for (int64_t m = 0; m < top->stream[i].count; m++, k++) {
      TdTimedStream s = {.name = label(a, &top->stream[i], m), .depth = top->stream[i].depth};
      s.put = put[k].at.at;
      s.got = got[k].at.at;
      s.nput = put[k].at.n;
      s.ngot = got[k].at.n;
      s.tokens = (int64_t)s.nput;
      s.beats = 1;
      s.most = most_of(&put[k], &got[k]);
      stream[k] = s;
    }
  out->stream = stream;
  out->nstream = (size_t)all;
  out->kept = true;
}
