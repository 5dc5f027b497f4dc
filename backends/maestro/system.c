/* system.c - whether the parts of a system fit together, and what follows from them: ports,
 * widths. Refused by the field that is wrong. */
#include <string.h>

#include "backends/maestro/job.h"

int td_maestro_system_find(const TdMaestroSystem *s, const char *name) {
  for (int i = 0; i < s->n; i++)
    if (strcmp(s->at[i].name, name) == 0) return i;
  return -1;
}

/* Refuses the field of a streamer. */
static bool refuse(TdDiag *d, const TdMaestroStreamer *s, const char *field, const char *why) {
  return td_diag_set(d, TD_USAGE, "maestro-field", (TdLoc){0}, "%s.%s: %s", s->name, field, why);
}

/* Modes divide the banks; addresses have at most 32 bits. */
static bool check_memory(const TdMaestroMemory *m, TdDiag *d) {
  for (int i = 0; i < m->nmode; i++)
    if (m->mode[i].banks < 1 || m->mode[i].banks > m->banks ||
        (m->mode[i].banks & (m->mode[i].banks - 1)))
      return td_diag_set(d, TD_USAGE, "maestro-field", (TdLoc){0},
                         "memory.modes.%s: a group of %lld banks: a power of two that divides the "
                         "%lld banks",
                         m->mode[i].name, (long long)m->mode[i].banks, (long long)m->banks);
  if (!m->nmode)
    return td_diag_set(d, TD_USAGE, "maestro-field", (TdLoc){0}, "memory.modes: there are none");
  if (td_maestro_system_bytes(m) <= INT64_C(1) << 32) return true;
  return td_diag_set(
      d, TD_USAGE, "maestro-field", (TdLoc){0},
      "memory.rows: %lld rows of %lld banks of %lld bytes are more than addresses of "
      "32 bits tell apart",
      (long long)m->rows, (long long)m->banks, (long long)m->word);
}

/* Ports are shared by one reader and one writer with as many channels. */
static bool check_share(const TdMaestroSystem *s, int i, TdDiag *d) {
  const TdMaestroStreamer *x = &s->at[i];
  if (x->shares < 0) return true;
  const TdMaestroStreamer *y = &s->at[x->shares];
  TdArena *a = d->arena;
  if (y->shares >= 0)
    return refuse(d, x, "shares",
                  td_text_fmt(a,
                              "'%s' shares ports itself: ports are one streamer's, whom at most "
                              "one other joins",
                              y->name));
  if (!x->writer || y->writer)
    return refuse(d, x, "shares",
                  td_text_fmt(a,
                              "a writer shares the ports of a reader; '%s' is a "
                              "%s",
                              y->name, y->writer ? "writer" : "reader"));
  if (x->channels != y->channels)
    return refuse(d, x, "shares",
                  td_text_fmt(a, "%lld channels, and '%s' has %lld", (long long)x->channels,
                              y->name, (long long)y->channels));
  for (int k = 0; k < i; k++)
    if (s->at[k].shares == x->shares)
      return refuse(
          d, x, "shares",
          td_text_fmt(a, "'%s' shares the ports of '%s' already", s->at[k].name, y->name));
  return true;
}

/* The width of a streamer's word behind its extensions, the first one nearest the FIFO. */
static bool chain(TdMaestroStreamer *x, int64_t word, TdDiag *d) {
  x->width = x->channels * word * 8;
  for (int i = 0; i < x->next; i++) {
    if (x->writer && x->ext[i].kind == TD_MAESTRO_EXT_BROADCAST)
      return refuse(d, x, td_text_fmt(d->arena, "ext[%d]", i + 1), "a writer has no broadcast");
    const char *why = td_maestro_ext_info[x->ext[i].kind].fits(&x->ext[i], x->width);
    if (why)
      return refuse(d, x, td_text_fmt(d->arena, "ext[%d]", i + 1),
                    td_text_fmt(d->arena, "%s behind %lld bits: %s",
                                td_maestro_ext_info[x->ext[i].kind].name, (long long)x->width,
                                why));
    x->width = x->ext[i].out;
  }
  return true;
}

/* The bits of a word that the array has with the streamer of each role. */
static int64_t array_bits(const TdMaestroArray *x, int role) {
  switch (role) {
  case TD_MAESTRO_A: return x->m * x->k * x->a->w;
  case TD_MAESTRO_B: return x->k * x->n * x->b->w;
  case TD_MAESTRO_E: return x->m * x->n * 8;
  default: return x->m * x->n * x->acc->w;
  }
}

static bool check_array(const TdMaestroSystem *s, TdDiag *d) {
  for (int role = 0; s->array.here && role < TD_MAESTRO_ROLES; role++) {
    int i = td_maestro_system_find(s, td_maestro_role_name[role]);
    if (i < 0) continue;
    const TdMaestroStreamer *x = &s->at[i];
    bool writes = role >= TD_MAESTRO_D;
    if (x->writer != writes)
      return refuse(d, x, "reader",
                    writes ? "the array's results are written" : "the array reads it");
    int64_t bits = array_bits(&s->array, role);
    if (x->width != bits)
      return refuse(d, x, "lanes",
                    td_text_fmt(d->arena,
                                "its channels and extensions make words of %lld bits, and "
                                "the array has %lld",
                                (long long)x->width, (long long)bits));
  }
  return true;
}

/* A writer whose full FIFO accepts when it is popped waits for a grant in the same cycle; if a
 * reader of the array has a pipe too, its request waits for that. */
static bool check_loops(const TdMaestroSystem *s, TdDiag *d) {
  for (int role = TD_MAESTRO_D; s->array.here && role < TD_MAESTRO_ROLES; role++) {
    int w = td_maestro_system_find(s, td_maestro_role_name[role]);
    if (w < 0 || s->at[w].data_full) continue;
    for (int r = TD_MAESTRO_A; r < TD_MAESTRO_D; r++) {
      int i = td_maestro_system_find(s, td_maestro_role_name[r]);
      if (i < 0 || s->at[i].data_full) continue;
      return refuse(
          d, &s->at[w], "cut",
          td_text_fmt(d->arena,
                      "\"pipe\" closes a loop in one cycle: %s accepts, so the array moves, "
                      "so %s is popped, so %s requests, so an arbiter grants, so %s is "
                      "popped, so %s accepts; \"full\" in one of them cuts it",
                      s->at[w].name, s->at[i].name, s->at[i].name, s->at[w].name, s->at[w].name));
    }
  }
  return true;
}

/* Numbers ports: pairs first, then readers, then writers, by name in each. */
static void number_ports(TdMaestroSystem *s) {
  bool paired[TD_MAESTRO_STREAMERS] = {false};
  for (int i = 0; i < s->n; i++)
    if (s->at[i].shares >= 0) paired[s->at[i].shares] = true;
  s->ports = 0;
  for (int pass = 0; pass < 3; pass++)
    for (int i = 0; i < s->n; i++) {
      if (s->at[i].shares >= 0 || (paired[i] ? 0 : s->at[i].writer ? 2 : 1) != pass) continue;
      s->at[i].first = s->ports;
      s->ports += (int)s->at[i].channels;
    }
  for (int i = 0; i < s->n; i++)
    if (s->at[i].shares >= 0) s->at[i].first = s->at[s->at[i].shares].first;
}

/* Words go past the array from a reader to a writer of the same width. */
static bool check_path(const TdMaestroSystem *s, int i, TdDiag *d) {
  const TdMaestroStreamer *x = &s->at[i];
  if (x->from < 0) return true;
  const TdMaestroStreamer *y = &s->at[x->from];
  if (!x->writer || y->writer) return refuse(d, x, "from", "a writer takes the words of a reader");
  if (x->width != y->width)
    return refuse(d, x, "from",
                  td_text_fmt(d->arena, "words of %lld bits, and those of '%s' have %lld",
                              (long long)x->width, y->name, (long long)y->width));
  if (x->data_full || y->data_full) return true;
  return refuse(d, x, "cut",
                td_text_fmt(d->arena,
                            "\"pipe\" closes a loop in one cycle: %s accepts, so %s is popped, so "
                            "it requests, so an arbiter grants, so %s accepts; \"full\" in one of "
                            "them cuts it",
                            x->name, y->name, x->name));
}

bool td_maestro_system_check(TdMaestroSystem *s, TdDiag *d) {
  if (!check_memory(&s->memory, d)) return false;
  for (int i = 0; i < s->n; i++) {
    TdMaestroStreamer *x = &s->at[i];
    x->channels = 1;
    for (int k = 0; k < x->nlane; k++) x->channels *= x->lane[k];
    if (x->channels > TD_MAESTRO_CHANNELS)
      return refuse(d, x, "lanes",
                    td_text_fmt(d->arena, "%lld channels, at most %d", (long long)x->channels,
                                TD_MAESTRO_CHANNELS));
    if (!x->addr_depth) x->addr_depth = x->depth;
    if (!chain(x, s->memory.word, d)) return false;
  }
  for (int i = 0; i < s->n; i++)
    if (!check_share(s, i, d) || !check_path(s, i, d)) return false;
  number_ports(s);
  return check_array(s, d) && check_loops(s, d);
}
