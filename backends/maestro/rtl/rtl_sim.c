/* rtl_sim.c - a text with a system in it in Icarus or Verilator: compiled and kept, its memory and
 * registers as files, the cycles and words that come back; and every cycle against the model. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backends/host/child.h"
#include "backends/maestro/csr.h"
#include "backends/maestro/rtl/rtl.h"
#include "backends/verilog/verilog.h"

enum { COMPILE_SECONDS = 600 };

typedef TdMaestroBed Sim;

static const char *path(const Sim *s, const char *name) {
  return td_text_fmt(s->a, "%s/%s", s->folder, name);
}

static bool write_file(Sim *s, const char *name, const TdText *t) {
  const char *file = path(s, name);
  return td_cache_write_file(file, td_text_str(t)) ||
         td_cache_fail(&s->cache, "cannot write", file);
}

/* Runs a tool; false with what it said first. */
static bool run_tool(Sim *s, const char *const *word, int seconds) {
  int status;
  const char *log = path(s, "log");
  TdChildEnd end = td_child_run(td_arena_ctx(s->a), word, log, seconds, &status);
  const char *said = td_cache_read_file(s->a, log);
  if (end == TD_CHILD_DONE) return true;
  if (end == TD_CHILD_ABSENT)
    return td_diag_set(s->d, TD_UNSUPPORTED, "no-tool", (TdLoc){0}, "%s is not on PATH", word[0]);
  if (end == TD_CHILD_LATE || end == TD_CHILD_STOPPED)
    return td_diag_set(s->d, TD_LIMIT, end == TD_CHILD_LATE ? "verilog-time" : "interrupted",
                       (TdLoc){0}, "%s did not end in time", word[0]);
  return td_diag_set(s->d, TD_BUG, "verilog-tool", (TdLoc){0}, "%s: %.300s", word[0],
                     said ? said : "");
}

/* ---- the program ---- */

static const char *compile_aside(Sim *s, bool icarus) {
  TdText design = td_text_new(s->a), bench = td_text_new(s->a), run = td_text_new(s->a);
  td_text_puts(&design, s->design);
  td_text_puts(&bench, s->bench);
  td_text_puts(&run, td_verilog_library_main);
  if (!write_file(s, "design.sv", &design) || !write_file(s, "bench.sv", &bench) ||
      !write_file(s, "bench.cpp", &run))
    return NULL;
  const char *to = path(s, icarus ? "run.vvp" : "obj/Vbench");
  const char *by_icarus[] = {"iverilog",
                             "-g2012",
                             "-DTIDE_CLOCK",
                             "-s",
                             "clocked",
                             "-o",
                             to,
                             path(s, "design.sv"),
                             path(s, "bench.sv"),
                             NULL};
  const char *by_verilator[] = {"verilator",
                                "--cc",
                                "--exe",
                                "--build",
                                "-j",
                                "2",
                                "--top-module",
                                "bench",
                                "-Mdir",
                                path(s, "obj"),
                                "-Wno-fatal",
                                "-Wno-lint",
                                "-MAKEFLAGS",
                                "OPT_FAST=-O1",
                                path(s, "design.sv"),
                                path(s, "bench.sv"),
                                path(s, "bench.cpp"),
                                NULL};
  return run_tool(s, icarus ? by_icarus : by_verilator, COMPILE_SECONDS) ? to : NULL;
}

bool td_maestro_bed_open(Sim *s) {
  return td_cache_open(&s->cache, s->a, s->d) && (s->folder = td_cache_aside(&s->cache));
}

bool td_maestro_bed_compile(Sim *s, const TdFile *file, size_t n, const char *bench) {
  bool icarus = strcmp(s->sim, "verilator") != 0;
  TdText all = td_text_new(s->a), key = td_text_new(s->a);
  for (size_t i = 0; i < n; i++) td_text_puts(&all, file[i].text);
  s->design = td_text_str(&all);
  s->bench = bench;
  td_text_putf(&key, "%s\n%s", s->design, s->bench);
  const char *kept = td_cache_path(&s->cache, key.at, key.n, icarus ? ".vvp" : ".vsim");
  if (!td_cache_has(&s->cache, kept)) {
    const char *made = compile_aside(s, icarus);
    if (!made || !td_cache_keep(&s->cache, made, kept)) return false;
  }
  s->program = kept;
  return true;
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
  TdText place = td_text_new(s->a), word = td_text_new(s->a);
  for (int64_t at = 0; at < bytes; at += w) {
    if (!is_touched(touched + at, w)) continue;
    td_text_putf(&place, "%" PRIx64 "\n", at / w);
    put_word(&word, memory + at, w);
    s->nimage++;
  }
  return write_file(s, "place.hex", &place) && write_file(s, "word.hex", &word);
}

void td_maestro_bed_registers(const Sim *s, TdText *t, const TdMaestroWork *work,
                              const TdMaestroPattern *pattern) {
  const TdMaestroCsrs *map = td_maestro_csr_map(s->system, s->a);
  const TdMaestroCsrs *extra = td_maestro_csr_extra(s->system, s->a);
  for (size_t i = 0; i < extra->n; i++)
    td_text_putf(t, "%04x%08" PRIx32 "\n", (unsigned)extra->at[i].number,
                 td_maestro_csr_work(work, &extra->at[i]));
  for (size_t i = 0; i < map->n; i++)
    td_text_putf(t, "%04x%08" PRIx32 "\n", (unsigned)map->at[i].number,
                 td_maestro_csr_value(s->system, pattern, &map->at[i]));
}

bool td_maestro_bed_writes(Sim *s, const TdText *t) {
  for (size_t i = 0; i < t->n; i++) s->nwrite += t->at[i] == '\n';
  return write_file(s, "write.hex", t);
}

bool td_maestro_bed_reads(Sim *s, const uint8_t *result) {
  int64_t w = s->system->memory.word, bytes = td_maestro_system_bytes(&s->system->memory);
  TdText t = td_text_new(s->a);
  for (int64_t at = 0; at < bytes; at += w) {
    if (!is_touched(result + at, w)) continue;
    td_text_putf(&t, "%" PRIx64 "\n", at / w);
    s->nread++;
  }
  return write_file(s, "read.hex", &t);
}

/* ---- what comes out ---- */

static int digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool td_maestro_bed_back(Sim *s, uint8_t *memory, uint8_t *written) {
  int64_t w = s->system->memory.word;
  if (!s->nread) return true;
  const char *text = td_cache_read_file(s->a, path(s, "out"));
  const char *place = td_cache_read_file(s->a, path(s, "read.hex"));
  for (size_t i = 0; text && i < s->nread; i++) {
    char *end;
    int64_t at = (int64_t)strtoll(place, &end, 16) * w;
    place = end;
    while (*text == '\n') text++;
    for (int64_t b = w; b-- > 0; text += 2) {
      int high = digit(text[0]), low = high < 0 ? -1 : digit(text[1]);
      if (low < 0)
        return td_diag_set(s->d, TD_BUG, "verilog-tool", (TdLoc){0},
                           "word %lld of the memory came back undefined", (long long)(at / w));
      memory[at + b] = (uint8_t)(high << 4 | low);
      written[at + b] = 1;
    }
  }
  return text || td_diag_set(s->d, TD_BUG, "verilog-tool", (TdLoc){0},
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
  const char *got = td_cache_read_file(s->a, path(s, "trace")), *want = td_text_str(&s->trace);
  for (int64_t cycle = 0; got && (*got || *want); cycle++) {
    size_t n = strcspn(got, "\n"), m = strcspn(want, "\n");
    if (n != m || strncmp(got, want, n) != 0)
      return td_diag_set(s->d, TD_BUG, "maestro-differs", (TdLoc){0},
                         "cycle %lld (grants, banks, fire, words): the model has %.*s, the "
                         "simulation %.*s",
                         (long long)cycle, (int)m, want, (int)n, got);
    got += n + (got[n] == '\n');
    want += m + (want[m] == '\n');
  }
  return got != NULL || td_diag_set(s->d, TD_BUG, "verilog-tool", (TdLoc){0}, "no trace came");
}

bool td_maestro_bed_run(Sim *s, int64_t *cycles) {
  int64_t rest =
      (int64_t)(s->nimage + s->nwrite + s->nread * (size_t)(1 + s->system->memory.latency));
  bool icarus = strcmp(s->sim, "verilator") != 0;
  int64_t most = 2 * s->cycles + 8 * rest + 1000;
  const char *dir = td_text_fmt(s->a, "+dir=%s", s->folder);
  const char *count[] = {
      td_text_fmt(s->a, "+image=%zu", s->nimage), td_text_fmt(s->a, "+write=%zu", s->nwrite),
      td_text_fmt(s->a, "+read=%zu", s->nread), td_text_fmt(s->a, "+most=%" PRId64, most),
      td_text_fmt(s->a, "+trace=%d", s->check)};
  const char *by_icarus[] = {"vvp",    s->program, dir,      count[0], count[1],
                             count[2], count[3],   count[4], NULL};
  const char *by_verilator[] = {s->program, dir,      count[0], count[1],
                                count[2],   count[3], count[4], NULL};
  if (!run_tool(s, icarus ? by_icarus : by_verilator, s->seconds) || (s->check && !compare(s)))
    return false;
  const char *text = td_cache_read_file(s->a, path(s, "cycles"));
  *cycles = text ? strtoll(text, NULL, 10) : 0;
  return text ||
         td_diag_set(s->d, TD_BUG, "verilog-tool", (TdLoc){0}, "the simulation did not end");
}
