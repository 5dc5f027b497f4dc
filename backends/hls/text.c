/* text.c - a whole program as HLS C++: functions, callees first; the last is the top. */
#include "backends/hls/text.h"
#include "lower/lower.h"

#include <inttypes.h>
#include <string.h>

static bool is_task(const TdHlsProg *p, size_t i) {
  return td_map_getp(&p->regions.task, p->w->prog->unit[i]->sym) != NULL;
}

static void name_unit(TdHlsProg *p, size_t i, const char *want) {
  p->name[i] = td_cname_fresh(p->w, want);
  td_cname_put(p->w, p->w->prog->unit[i]->sym, p->name[i], NULL, NULL);
}

/* Gives each unit the name of its function. Classes of a task are numbered in their order. */
static void name_units(TdHlsProg *p) {
  TdCWriter *w = p->w;
  size_t n = w->prog->nunit;
  p->name = TD_NEWN(w->arena, const char *, n);
  w->target = &td_hls_unit_names;
  const char *top = *p->style->top ? p->style->top : w->prog->unit[n - 1]->sym->name;
  name_unit(p, n - 1, top);
  for (size_t i = n - 1; i-- > 0;)
    if (!is_task(p, i)) name_unit(p, i, w->prog->unit[i]->sym->name);
  for (size_t i = 0; i + 1 < n; i++)
    if (is_task(p, i)) name_unit(p, i, w->prog->unit[i]->sym->name);
  w->target = &td_hls_unit_target;
}

/* Whether the line of s, within text, is a pragma or a comment. */
static bool is_aside(const char *text, const char *s) {
  while (s > text && s[-1] != '\n') s--;
  s += strspn(s, " ");
  return *s == '#' || *s == '/';
}

/* Whether some statement of a text has `name` as a word. */
static bool has_word(const char *text, const char *name) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  for (const char *s = text; (s = strstr(s, name)); s++) {
    bool word = (s == text || !strchr(letters, s[-1])) && strspn(s, letters) == strlen(name);
    if (word && !is_aside(text, s)) return true;
  }
  return false;
}

/* The sizes that the functions name, as constants. */
static const char *sizes_of(TdHlsProg *p) {
  TdText t = td_text_new(p->w->arena);
  for (size_t i = 0; i < p->sizes.n; i++)
    if (has_word(td_text_str(&p->functions), p->sizes.at[i]->name))
      td_text_line(&t, "constexpr int %s = %" PRId64 ";", p->sizes.at[i]->name,
                   p->sizes.at[i]->value);
  return td_text_str(&t);
}

const TdHlsText *td_hls_text_of(TdArena *a, const TdLowered *lowered, const TdHlsStyle *style,
                                TdDiag *d) {
  const TdProg *prog = lowered->prog;
  TdHlsProg p = {.style = style,
                 .regions = lowered->regions,
                 .ask = {.affine = td_affine_new(a), .arena = a, .prog = prog},
                 .functions = td_text_new(a)};
  p.w = td_cfamily_new(a, prog, &td_hls_unit_target, &p, d);
  for (size_t i = 0; i < prog->nunit; i++)
    if (prog->unit[i]->foreign) td_hls_ip_names(&p, prog->unit[i]);
  name_units(&p);
  for (size_t i = 0; i < prog->nunit && !td_diag_failed(d); i++) td_hls_unit_put(&p, i);
  if (td_diag_failed(d)) return NULL;
  TdHlsText *t = TD_NEW(a, TdHlsText);
  *t = (TdHlsText){.top = p.name[prog->nunit - 1],
                   .sizes = sizes_of(&p),
                   .body = td_text_str(&p.functions),
                   .param = p.param.at,
                   .nparam = p.param.n,
                   .state = p.state.at,
                   .nstate = p.state.n,
                   .ip = p.ip.at,
                   .nip = p.ip.n};
  return t;
}
