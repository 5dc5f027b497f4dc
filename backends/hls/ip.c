/* ip.c - calls of external IP: a function that takes what the program has and gives the IP what
 * it declares. */
#include <inttypes.h>
#include <string.h>

#include "backends/hls/text.h"
#include "backends/ip/ip.h"

void td_hls_ip_names(TdHlsProg *p, const TdUnit *u) {
  const char *symbol = u->foreign->ip->symbol;
  const char *first = td_arena_strndup(p->w->arena, symbol, strcspn(symbol, ":"));
  td_cname_put(p->w, NULL, first, NULL, NULL);
}

/* Whether the files of x are those of y. */
static bool same_files(const TdIp *x, const TdIp *y) {
  bool same = x->nfile == y->nfile;
  for (size_t i = 0; same && i < x->nfile; i++)
    same = strcmp(x->file[i].name, y->file[i].name) == 0 &&
           strcmp(x->file[i].text, y->file[i].text) == 0;
  return same;
}

/* Notes the source of an IP, once. */
static void note_source(TdHlsProg *p, const TdIp *ip) {
  for (size_t i = 0; i < p->ip.n; i++)
    if (same_files(p->ip.at[i], ip)) return;
  td_vec_push(p->w->arena, &p->ip, ip);
}

void td_hls_ip_put(TdHlsProg *p, const TdUnit *u, const char *name) {
  TdCWriter *w = p->w;
  TdArena *a = w->arena;
  TdIpSide *side = TD_NEWN(a, TdIpSide, u->nparam);
  TdText head = td_text_new(a), body = td_text_new(a);
  td_cfamily_enter(w, u, NULL);
  for (size_t i = 0; i < u->nparam; i++) {
    const TdType *t = u->param[i].type;
    const char *own = td_text_fmt(a, "p%zu", i);
    side[i] = (TdIpSide){own, td_hls_num_cell(w, u->param[i].sym, td_type_scalar(t)), false};
    td_text_putf(&head, "%s%s %s", i ? ", " : "", side[i].cell, own);
    for (int d = 0; t->kind == TD_T_TENSOR && d < t->rank; d++) {
      int64_t n = 0;
      td_type_extent(t, d, &n);
      td_text_putf(&head, "[%" PRId64 "]", n);
    }
  }
  note_source(p, u->foreign->ip);
  td_ip_call(&body, u->foreign->ip, u->param, u->nparam, side);
  if (p->functions.n) td_text_putc(&p->functions, '\n');
  td_text_putf(&p->functions, "// %s of %s\nstatic void %s(%s) {\n#pragma HLS inline\n%s}\n",
               u->foreign->ip->symbol, u->foreign->ip->file[0].name, name, td_text_str(&head),
               td_text_str(&body));
}
