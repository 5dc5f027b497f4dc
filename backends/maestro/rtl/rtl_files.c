/* rtl_files.c - what a system is in bits, and the files of its Verilog. */
#include <string.h>

#include "backends/maestro/csr.h"
#include "backends/maestro/rtl/rtl.h"

static int bits_of(int64_t n) {
  int w = 0;
  while (INT64_C(1) << w < n) w++;
  return w;
}

TdMaestroShape td_maestro_rtl_shape(const TdMaestroSystem *s, TdArena *a) {
  const TdMaestroMemory *m = &s->memory;
  TdMaestroShape x = {.width = m->word * 8, .count = 16};
  x.address = bits_of(td_maestro_system_bytes(m));
  x.word = bits_of(m->word);
  x.place = x.address - x.word;
  x.banks = bits_of(m->banks);
  x.rows = x.place - x.banks;
  x.port = bits_of(s->ports) ? bits_of(s->ports) : 1;
  x.high = x.banks + x.word;
  x.mode = m->nmode > 2 ? bits_of(m->nmode) : 1;
  x.registers = (int)td_maestro_csr_map(s, a)->n;
  for (int i = 0; i < m->nmode; i++)
    x.lows |= (int64_t)bits_of(m->mode[i].banks * m->word) << (5 * i);
  x.extra = (int)td_maestro_csr_extra(s, a)->n;
  return x;
}

const char *const td_maestro_rtl_waived = "/* verilator lint_off DECLFILENAME */\n"
                                          "/* verilator lint_off UNUSEDSIGNAL */\n"
                                          "/* verilator lint_off UNUSEDPARAM */\n";

/* The pieces of a text. */
static const char *join(TdArena *a, const char *const *piece) {
  TdText t = td_text_new(a);
  td_text_puts(&t, td_maestro_rtl_waived);
  for (; *piece; piece++) td_text_puts(&t, *piece);
  return td_text_str(&t);
}

/* Says that there is no module of a type. */
static const TdFile *refuse_type(TdArena *a, const TdType *t, TdDiag *d) {
  td_diag_set(d, TD_UNSUPPORTED, "maestro-rtl", (TdLoc){0},
              "array: there are modules of integers and floats, and it has %s", td_type_str(a, t));
  return NULL;
}

/* The modules of a user's kernel, each once. */
static void put_user(TdText *t, const TdMaestroUser *u, TdArena *a) {
  for (size_t i = 0; i < u->nfile; i++)
    if (!strstr(td_text_str(t), u->file[i].text)) td_text_puts(t, u->file[i].text);
  const char *text = td_maestro_rtl_user(u, a);
  if (!strstr(td_text_str(t), text)) td_text_puts(t, text);
}

const TdFile *td_maestro_rtl_files(const TdMaestroSystem *s, bool axi, TdArena *a, size_t *n,
                                   TdDiag *d) {
  const TdType *list[] = {s->array.a, s->array.b, s->array.acc};
  for (int i = 0; s->array.here && i < 3; i++)
    if (!td_type_is_integer(list[i]) &&
        (list[i]->kind != TD_T_FLOAT || td_type_is_integer(s->array.acc)))
      return refuse_type(a, list[i], d);
  const TdFile all[] = {{"tide_dm_system.v", td_text_fmt(a, "%s%s", td_maestro_rtl_waived,
                                                         td_maestro_rtl_top(s, axi, a))},
                        {"tide_dm_stream.v", join(a, td_maestro_rtl_stream)},
                        {"tide_dm_memory.v", join(a, td_maestro_rtl_memory)},
                        {"tide_dm_ext.v", join(a, td_maestro_rtl_ext)},
                        {"tide_dm_array.v", join(a, td_maestro_rtl_array)},
                        {"tide_dm_dot.v", td_text_fmt(a, "%s%s", td_maestro_rtl_waived,
                                                      td_maestro_rtl_dot(&s->array, a))},
                        {"tide_dm_csr.v", join(a, td_maestro_rtl_csr)}};
  TdText user = td_text_new(a);
  for (int i = 0; i < s->n; i++)
    for (int k = 0; k < s->at[i].next; k++)
      if (s->at[i].ext[k].user) put_user(&user, s->at[i].ext[k].user, a);
  *n = sizeof all / sizeof *all;
  if (!user.n) return td_arena_copy(a, all, sizeof all);
  TdFile *more = TD_NEWN(a, TdFile, *n + 1);
  memcpy(more, all, sizeof all);
  more[(*n)++] =
      (TdFile){"tide_dm_user.v", td_text_fmt(a, "%s%s", td_maestro_rtl_waived, td_text_str(&user))};
  return more;
}
