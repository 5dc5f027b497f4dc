/* rtl_sim.c - a text with a system in it in Icarus or Verilator: compiled and kept, its memory and
 * registers as files, the cycles and words that come back; and every cycle against the model. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backends/maestro/csr.h"
#include "backends/maestro/rtl/rtl.h"
#include "backends/verilog/verilog.h"

typedef TdMaestroBed Sim;

/* ---- the program ---- */

bool td_maestro_bed_compile(Sim *s, const TdFile *file, size_t n, const char *bench) {
  TdText design = td_text_new(s->tool.arena);
  for (size_t i = 0; i < n; i++) td_text_puts(&design, file[i].text);
  return td_simulator_compile(&s->tool, td_text_str(&design), bench, td_verilog_library_main);
}

/* ---- what goes in ---- */

/* The word at a place, most significant byte first. */
static void put_word(TdText *t, const uint8_t *at, int64_t bytes) {
  for (int64_t b = bytes; b-- > 0;) td_text_putf(t, "%02x", at[b]);
  td_text_putc(t, '\n');
}

static bool is_touched(const uint8_t *at, int64_t bytes) {
  for (int64_t b = 0; b < bytes; b++)
    if (at[b]) return true;
  return false;
}

bool td_maestro_bed_image(Sim *s, const uint8_t *memory, const uint8_t *touched) {
  int64_t w = s->system->memory.word, bytes = td_maestro_system_bytes(&s->system->memory);
  TdText place = td_text_new(s->tool.arena), word = td_text_new(s->tool.arena);
  for (int64_t at = 0; at < bytes; at += w) {
    if (!is_touched(touched + at, w)) continue;
    td_text_putf(&place, "%" PRIx64 "\n", at / w);
    put_word(&word, memory + at, w);
    s->nimage++;
  }
  return td_simulator_write(&s->tool, "place.hex", td_text_str(&place)) &&
         td_simulator_write(&s->tool, "word.hex", td_text_str(&word));
}

void td_maestro_bed_registers(const Sim *s, TdText *t, const TdMaestroWork *work,
                              const TdMaestroPattern *pattern) {
  const TdMaestroCsrs *map = td_maestro_csr_map(s->system, s->tool.arena);
  const TdMaestroCsrs *extra = td_maestro_csr_extra(s->system, s->tool.arena);
  for (size_t i = 0; i < extra->n; i++)
    td_text_putf(t, "%04x%08" PRIx32 "\n", (unsigned)extra->at[i].number,
                 td_maestro_csr_work(work, &extra->at[i]));
  for (size_t i = 0; i < map->n; i++)
    td_text_putf(t, "%04x%08" PRIx32 "\n", (unsigned)map->at[i].number,
                 td_maestro_csr_value(s->system, pattern, &map->at[i]));
}

bool td_maestro_bed_writes(Sim *s, const TdText *t) {
  for (size_t i = 0; i < t->n; i++) s->nwrite += t->at[i] == '\n';
  return td_simulator_write(&s->tool, "write.hex", td_text_str(t));
}

bool td_maestro_bed_reads(Sim *s, const uint8_t *result) {
  int64_t w = s->system->memory.word, bytes = td_maestro_system_bytes(&s->system->memory);
  TdText t = td_text_new(s->tool.arena);
  for (int64_t at = 0; at < bytes; at += w) {
    if (!is_touched(result + at, w)) continue;
    td_text_putf(&t, "%" PRIx64 "\n", at / w);
    s->nread++;
  }
  return td_simulator_write(&s->tool, "read.hex", td_text_str(&t));
}

/* ---- what comes out ---- */

static int digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool td_maestro_bed_back(Sim *s, uint8_t *memory, uint8_t *written) {
  int64_t w = s->system->memory.word;
  if (!s->nread) return true;
  const char *text = td_cache_read_file(s->tool.arena, td_simulator_path(&s->tool, "out"));
  const char *place = td_cache_read_file(s->tool.arena, td_simulator_path(&s->tool, "read.hex"));
  for (size_t i = 0; text && i < s->nread; i++) {
    char *end;
    int64_t at = (int64_t)strtoll(place, &end, 16) * w;
    place = end;
    while (*text == '\n') text++;
    for (int64_t b = w; b-- > 0; text += 2) {
      int high = digit(text[0]), low = high < 0 ? -1 : digit(text[1]);
      if (low < 0)
        return td_diag_set(s->tool.diag, TD_BUG, "verilog-tool", (TdLoc){0},
                           "word %lld of the memory came back undefined", (long long)(at / w));
      memory[at + b] = (uint8_t)(high << 4 | low);
      written[at + b] = 1;
    }
  }
  return text || td_diag_set(s->tool.diag, TD_BUG, "verilog-tool", (TdLoc){0},
                             "the simulation ended before it read the results");
}

/* ---- against the model ---- */

/* Bits of a vector as hexadecimal digits. */
static void put_bits(TdText *t, const uint8_t *bit, int n) {
  for (int d = (n + 3) / 4; d-- > 0;) {
    int v = 0;
    for (int k = 0; k < 4; k++)
      if (4 * d + k < n && bit[4 * d + k]) v |= 1 << k;
    td_text_putf(t, "%x", (unsigned)v);
  }
}

void td_maestro_bed_row(Sim *s, const TdMaestroCycle *c, const uint8_t *moves, int nmove) {
  enum { PORTS = TD_MAESTRO_STREAMERS * TD_MAESTRO_CHANNELS };
  uint8_t grant[PORTS] = {0};
  for (int i = 0; i < s->system->n; i++)
    for (int k = 0; k < s->system->at[i].channels; k++)
      grant[s->system->at[i].first + k] |= (uint8_t)(c->access[i] >> k & 1);
  put_bits(&s->trace, grant, s->system->ports);
  td_text_putc(&s->trace, ' ');
  put_bits(&s->trace, c->bank, (int)s->system->memory.banks);
  td_text_putf(&s->trace, " %d ", c->fire);
  put_bits(&s->trace, moves, nmove);
  for (int i = s->system->n; i-- > 0;) td_text_putf(&s->trace, "%04x", (unsigned)c->words[i]);
  td_text_putc(&s->trace, '\n');
}

/* The first line that differs. */
static bool compare(Sim *s) {
  const char *got = td_cache_read_file(s->tool.arena, td_simulator_path(&s->tool, "trace")),
             *want = td_text_str(&s->trace);
  for (int64_t cycle = 0; got && (*got || *want); cycle++) {
    size_t n = strcspn(got, "\n"), m = strcspn(want, "\n");
    if (n != m || strncmp(got, want, n) != 0)
      return td_diag_set(s->tool.diag, TD_BUG, "maestro-differs", (TdLoc){0},
                         "cycle %lld (grants, banks, fire, words): the model has %.*s, the "
                         "simulation %.*s",
                         (long long)cycle, (int)m, want, (int)n, got);
    got += n + (got[n] == '\n');
    want += m + (want[m] == '\n');
  }
  return got != NULL ||
         td_diag_set(s->tool.diag, TD_BUG, "verilog-tool", (TdLoc){0}, "no trace came");
}

bool td_maestro_bed_run(Sim *s, int64_t *cycles) {
  int64_t rest =
      (int64_t)(s->nimage + s->nwrite + s->nread * (size_t)(1 + s->system->memory.latency));
  int64_t most = 2 * s->cycles + 8 * rest + 1000;
  TdArena *a = s->tool.arena;
  const char *word[] = {
      td_text_fmt(a, "+image=%zu", s->nimage), td_text_fmt(a, "+write=%zu", s->nwrite),
      td_text_fmt(a, "+read=%zu", s->nread),   td_text_fmt(a, "+most=%" PRId64, most),
      td_text_fmt(a, "+trace=%d", s->check),   NULL};
  if (!td_simulator_run(&s->tool, word, s->seconds) || (s->check && !compare(s))) return false;
  const char *text = td_cache_read_file(s->tool.arena, td_simulator_path(&s->tool, "cycles"));
  *cycles = text ? strtoll(text, NULL, 10) : 0;
  return text || td_diag_set(s->tool.diag, TD_BUG, "verilog-tool", (TdLoc){0},
                             "the simulation did not end");
}
