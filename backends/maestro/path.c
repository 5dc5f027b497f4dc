/* path.c - nests that move words past the array: pooling, sums of two, rescaling, another order.
 * Words are written in the order of the result in memory; the reader follows it, with what is
 * gathered inside of a word's worth of elements; extensions of both compute. */
#include "backends/maestro/job.h"

#include <string.h>

/* An extension that is needed, and its registers. */
typedef struct Need {
  int kind;
  const TdType *type; /* of its elements; NULL: it has none */
  int64_t reg[TD_MAESTRO_ARGS];
} Need;

typedef struct Path {
  TdMaestroJob *j;
  const TdMaestroAsk *ask;
  TdArena *a;
  TdDiag *d;
  Need need[3];
  int nneed;
  TdMaestroPattern from, to; /* extensions and their registers */
  const char *text;          /* the result's order with room for whole words; NULL: as it is said */
} Path;

/* How many elements are gathered into one. */
static int64_t gathered(const TdMaestroNest *n) {
  int64_t count = n->factor[1].used ? 2 : 1;
  for (int l = 0; l < n->nloop; l++)
    if (n->loop[l].reduces) count *= n->loop[l].extent;
  return count;
}

static bool refuse(Path *p, const char *code, const char *why) {
  return td_diag_set(p->d, TD_UNSUPPORTED, code, p->j->nest.result.loc, "%s", why);
}

/* The extension that gathers. */
static bool need_gather(Path *p) {
  const TdMaestroNest *n = &p->j->nest;
  const TdType *e = n->factor[0].elem;
  int64_t count = gathered(n);
  if (n->gather < 0) return true;
  if (n->factor[1].used && n->factor[1].elem != e)
    return refuse(p, "maestro-type", "both operands of a sum have one type");
  if (count > 255) return refuse(p, "maestro-beats", "an extension gathers at most 255 words");
  bool narrow = n->post == n->post_acc || n->result.elem == e;
  Need need = {.kind = TD_MAESTRO_EXT_ADD_WIDE, .type = e, .reg = {count}};
  if (n->gather == TD_OP_MAX)
    need.kind = TD_MAESTRO_EXT_MAXPOOL;
  else if (n->acc == e || e->w == 32 || (n->factor[1].used && narrow))
    need.kind = TD_MAESTRO_EXT_ADD;
  bool wide = need.kind == TD_MAESTRO_EXT_ADD_WIDE;
  if (e->saturate || (n->gather == TD_OP_MAX && n->acc != e) || (wide && !td_type_is_signed(e)) ||
      (wide && !n->factor[1].used && n->acc->w != 32))
    return refuse(p, "maestro-type",
                  "sums wrap on the bits of their elements, or have 32 bits of signed ones; "
                  "a maximum has the type of its elements");
  p->need[p->nneed++] = need;
  return true;
}

/* The extension that makes of the gathered value what is stored. */
static bool need_post(Path *p) {
  const TdMaestroNest *n = &p->j->nest;
  const TdExpr *e = n->post;
  const TdType *from = n->factor[0].elem, *to = n->result.elem;
  if (p->nneed && p->need[0].kind == TD_MAESTRO_EXT_ADD_WIDE) from = NULL;
  while (e != n->post_acc && e->kind == TD_EXPR_CAST) e = e->kid[0];
  if (e == n->post_acc && (from ? to == from : to->w == 32)) return true;
  Need need = {.kind = TD_MAESTRO_EXT_RESCALE_DOWN};
  if (!td_type_is_signed(to) || !(to->w == 8 || to->w == 32) ||
      !td_maestro_scale_registers(n->unit, n->post, n->post_acc, need.reg))
    return refuse(p, "maestro-store",
                  "what is stored is the value itself, or asr((value - zp_in) * mult + "
                  "(1 << shift - 1), shift) + zp_out with a shift of 1 to 31, clamped to 8 bits");
  if (to->w == 32) need.kind = TD_MAESTRO_EXT_RESCALE_UP;
  int64_t bits = from ? from->w : 32;
  if (bits + to->w != 40) return refuse(p, "maestro-type", "a rescale is of 32 bits to 8, or back");
  p->need[p->nneed++] = need;
  return true;
}

/* Whether an extension does what is needed. */
static bool does(const TdMaestroExt *x, const Need *n) {
  return x->kind == n->kind && (!n->type || x->type == n->type);
}

/* Turns on, in the order in which beats pass, the extensions of a streamer that are needed; how
 * many are then done. */
static int match(const TdMaestroStreamer *s, const Need *need, int n, int done,
                 TdMaestroPattern *p) {
  for (int i = 0; i < s->next && done < n; i++) {
    int k = s->writer ? s->next - 1 - i : i;
    if (!does(&s->ext[k], &need[done])) continue;
    p->ext |= UINT32_C(1) << k;
    for (int r = 0; r < TD_MAESTRO_ARGS; r++) p->reg[k][r] = need[done].reg[r];
    done++;
  }
  return done;
}

/* The first writer with a reader that together have all that is needed. */
static bool choose_streamers(Path *p) {
  const TdMaestroSystem *s = p->j->system;
  TdText have = td_text_new(p->a);
  for (int w = 0; w < s->n; w++) {
    int r = s->at[w].from;
    if (r < 0) continue;
    TdMaestroPattern from = {0}, to = {0};
    int done = match(&s->at[r], p->need, p->nneed, 0, &from);
    done = match(&s->at[w], p->need, p->nneed, done, &to);
    td_text_putf(&have, "%s%s to %s", have.n ? ", " : "", s->at[r].name, s->at[w].name);
    if (done < p->nneed) continue;
    p->j->pattern[r] = from;
    p->j->pattern[w] = to;
    p->j->work = (TdMaestroWork){.path = true, .from = r, .to = w};
    return true;
  }
  TdText want = td_text_new(p->a);
  for (int i = 0; i < p->nneed; i++)
    td_text_putf(&want, "%s%s", i ? ", " : "", td_maestro_ext_info[p->need[i].kind].name);
  td_diag_set(p->d, TD_UNSUPPORTED, "maestro-path", p->j->nest.result.loc,
              have.n ? "no path has the extensions that it takes: %s"
                     : "no statement adds a product of two elements, and no writer takes words "
                       "from a reader%s%s",
              p->nneed ? td_text_str(&want) : "", "");
  td_diag_help(p->d,
               have.n ? "paths go %s; ext = {..} of a reader or writer in them"
                      : "maestro.writer {.., from = \"X\"} takes those of reader X%s",
               have.n ? td_text_str(&have) : "");
  return false;
}

/* The loop that alone moves dimension k of the result, by one; -1: there is none. */
static int loop_of(const TdMaestroJob *j, int k) {
  int found = -1;
  for (int l = 0; l < j->nest.nloop; l++) {
    if (!j->nest.result.coef[k][l]) continue;
    if (found >= 0 || j->nest.result.coef[k][l] != 1) return -1;
    found = l;
  }
  return found;
}

/* The digits of the result's order, outermost first, as steps of loops. */
static bool walk_result(Path *p) {
  TdMaestroStream *x = &p->j->stream[TD_MAESTRO_TO];
  const TdOrderBytes *o = &x->order;
  for (int i = 0; i < o->order.nplace; i++) {
    const TdOrderPlace *at = &o->order.place[i];
    int loop = loop_of(p->j, at->name), digit = 0;
    while (digit < o->at.n && o->part[digit] != i) digit++;
    int64_t n = digit < o->at.n ? o->at.at[digit].n : 1;
    if (n == 1) continue;
    if (loop < 0 || p->j->nest.result.start[at->name])
      return refuse(p, "maestro-kernel", "an index of the result is not one loop from 0");
    p->j->tile[loop] = o->room[at->name];
    x->walk[x->nwalk++] = (TdMaestroWalk){loop, n, at->div};
  }
  return true;
}

static bool reduces(const TdMaestroNest *n) {
  for (int l = 0; l < n->nloop; l++)
    if (n->loop[l].reduces && n->loop[l].extent > 1) return true;
  return false;
}

/* The reader's digits: those of the result, and what is gathered outside of a word's elements. */
static bool walk_source(Path *p, int role) {
  const TdMaestroJob *j = p->j;
  TdMaestroStream *x = &p->j->stream[role], *to = &p->j->stream[TD_MAESTRO_TO];
  int64_t inner = j->system->at[x->streamer].channels * j->system->memory.word / x->element;
  int at = to->nwalk;
  if (!reduces(&j->nest)) {
    for (int i = 0; i < at; i++) x->walk[x->nwalk++] = to->walk[i];
    return true;
  }
  TdMaestroWalk list[TD_DESC_DIGITS];
  int n = 0;
  while (inner > 1 && at > 0) {
    TdMaestroWalk w = to->walk[--at];
    int64_t here = w.n < inner ? w.n : inner;
    if (w.n % here || inner % here) break;
    list[n++] = (TdMaestroWalk){w.loop, here, w.step};
    inner /= here;
    if (w.n == here) continue;
    to->walk[at].n = w.n / here;
    to->walk[at].step = w.step * here;
    for (int i = to->nwalk++; i > at + 1; i--) to->walk[i] = to->walk[i - 1];
    to->walk[++at] = (TdMaestroWalk){w.loop, here, w.step};
    break;
  }
  if (inner > 1)
    return refuse(p, "maestro-lanes",
                  "the elements of a word are not whole parts of the result's order");
  for (int i = 0; i < at; i++) x->walk[x->nwalk++] = to->walk[i];
  for (int l = 0; l < j->nest.nloop; l++)
    if (j->nest.loop[l].reduces)
      x->walk[x->nwalk++] = (TdMaestroWalk){l, j->nest.loop[l].extent, 1};
  while (n-- > 0) x->walk[x->nwalk++] = list[n];
  return true;
}

/* Reads the order of a role's operand. */
static bool read_order(Path *p, int role, const TdMaestroOperand *x, int streamer,
                       TdMaestroTry how) {
  TdMaestroStream *s = &p->j->stream[role];
  s->used = true;
  s->x = x;
  s->streamer = streamer;
  s->nwalk = 0;
  const char *said = p->ask->order ? p->ask->order[x->param] : NULL;
  if (role == TD_MAESTRO_TO && p->text) said = p->text;
  s->padded = how != TD_MAESTRO_AS_SAID || (role == TD_MAESTRO_TO && p->text);
  return td_maestro_order_read(p->j, role, said, how, p->a, p->d);
}

/* The order and registers of what is read, with room for what the result's order has room for. */
static bool map_source(Path *p, int role, const TdMaestroOperand *x, TdMaestroPattern *to) {
  TdDiag *d = p->d, first = {.arena = d->arena}, other = {.arena = d->arena};
  bool ok = false;
  for (int how = 0; how <= TD_MAESTRO_PADDED && !ok; how++) {
    p->d = how ? &other : &first;
    ok = read_order(p, role, x, p->j->work.from, (TdMaestroTry)how) && walk_source(p, role) &&
         td_maestro_map_stream(p->j, role, to, p->a, p->d);
  }
  p->d = d;
  if (!ok) *d = first;
  return ok;
}

/* Has the reader go to the other operand after each word of the first. */
static bool add_other(Path *p) {
  TdMaestroJob *j = p->j;
  const TdMaestroStreamer *s = &j->system->at[j->work.from];
  TdMaestroPattern *q = &j->pattern[j->work.from], other = {0};
  if (!map_source(p, TD_MAESTRO_OTHER, &j->nest.factor[1], &other)) return false;
  bool same = other.base == q->base && other.mask == q->mask;
  for (int k = 0; k < s->nlane; k++) same &= other.lane_stride[k] == q->lane_stride[k];
  for (int k = 0; k < s->loops; k++)
    same &= other.bound[k] == q->bound[k] && other.stride[k] == q->stride[k];
  if (!same)
    return refuse(p, "maestro-order", "two operands that are added have the same order in memory");
  if (q->bound[s->loops - 1] > 1)
    return refuse(p, "maestro-loops", "no loop is left to go from one operand to the other");
  for (int64_t k = s->loops; k-- > 1;) {
    q->bound[k] = q->bound[k - 1];
    q->stride[k] = q->stride[k - 1];
  }
  q->bound[0] = 2;
  q->stride[0] = 0;
  return true;
}

/* Orders and registers of all, for the result's order p->text. */
static bool attempt(Path *p) {
  TdMaestroJob *j = p->j;
  int from = j->work.from, to = j->work.to;
  for (int l = 0; l < j->nest.nloop; l++) j->tile[l] = 1;
  j->pattern[from] = p->from;
  j->pattern[to] = p->to;
  if (!read_order(p, TD_MAESTRO_TO, &j->nest.result, to, TD_MAESTRO_AS_SAID) || !walk_result(p) ||
      !map_source(p, TD_MAESTRO_FROM, &j->nest.factor[0], NULL) ||
      (j->nest.factor[1].used && !add_other(p)) ||
      !td_maestro_map_stream(j, TD_MAESTRO_TO, NULL, p->a, p->d))
    return false;
  memcpy(j->pattern[from].reg, p->from.reg, sizeof p->from.reg);
  memcpy(j->pattern[to].reg, p->to.reg, sizeof p->to.reg);
  j->pattern[from].ext = p->from.ext;
  j->pattern[to].ext = p->to.ext;
  return true;
}

/* Elements in a wide word of a streamer whose elements have so many bytes. */
static int64_t elements(const Path *p, int streamer, int64_t bytes) {
  const TdMaestroSystem *s = p->j->system;
  return s->at[streamer].channels * s->memory.word / bytes;
}

static int64_t common(int64_t a, int64_t b) {
  while (b) {
    int64_t r = a % b;
    a = b, b = r;
  }
  return a;
}

/* The order `o` with room for whole wide words: its innermost part has whole words, and part `at`
 * as many values as make the parts from it on whole wide words; NULL: it says itself how many. */
static const char *roomy(const Path *p, const TdOrderBytes *o, int at) {
  const TdOrder *r = &o->order;
  int64_t e = (int64_t)td_type_bytes(p->j->nest.result.elem), inside = 1, n[TD_ORDER_PLACES];
  int64_t read = (int64_t)td_type_bytes(p->j->nest.factor[0].elem);
  int64_t wide = elements(p, p->j->work.from, read), other = elements(p, p->j->work.to, e);
  if (other > wide) wide = other;
  TdText t = td_text_new(p->a);
  for (int k = r->nplace; k-- > 0; inside *= n[k]) {
    const TdOrderPlace *q = &r->place[k];
    n[k] = q->mod ? q->mod : (o->room[q->name] + q->div - 1) / q->div;
    int64_t word = p->j->system->memory.word / e;
    int64_t unit = k == at ? wide / common(wide, inside) : k == r->nplace - 1 ? word : 1;
    if (k < at || n[k] % unit == 0) continue;
    if (q->mod) return NULL;
    n[k] = (n[k] + unit - 1) / unit * unit;
  }
  for (int k = 0; k < r->nname; k++) td_text_putf(&t, "%s ", r->name[k]);
  td_text_puts(&t, "->");
  for (int k = 0; k < r->nplace; k++) {
    const TdOrderPlace *q = &r->place[k];
    td_text_putf(&t, " %s", td_order_part(p->a, r, k));
    if (!q->mod && n[k] * q->div > o->room[q->name]) td_text_putf(&t, "%%%lld", (long long)n[k]);
    if (q->pitch) td_text_putf(&t, ":%lld", (long long)q->pitch);
  }
  return td_text_str(&t);
}

/* Gives the result's order room for whole words: that which takes the least memory. */
static bool make_room(Path *p) {
  TdOrderBytes said = p->j->stream[TD_MAESTRO_TO].order;
  const char *best = NULL;
  int64_t least = 0;
  TdDiag *d = p->d, other = {.arena = d->arena};
  p->d = &other;
  for (int at = said.order.nplace; at-- > 0;) {
    other = (TdDiag){.arena = d->arena};
    p->text = roomy(p, &said, at);
    if (!p->text || !attempt(p)) continue;
    int64_t bytes = p->j->stream[TD_MAESTRO_TO].order.bytes;
    if (!best || bytes < least) best = p->text, least = bytes;
  }
  p->d = d;
  p->text = best;
  return best && attempt(p);
}

/* Whether the loops go through all of the result from its first element on. */
static bool is_whole(const TdMaestroNest *n) {
  for (int k = 0; k < n->result.rank; k++) {
    int64_t last = n->result.start[k];
    if (last) return false;
    for (int l = 0; l < n->nloop; l++) last += n->result.coef[k][l] * (n->loop[l].extent - 1);
    if (last + 1 != n->result.extent[k]) return false;
  }
  return true;
}

bool td_maestro_path_compile(TdMaestroJob *j, const TdMaestroAsk *ask, TdArena *a, TdDiag *d) {
  Path p = {.j = j, .ask = ask, .a = a, .d = d};
  if (!is_whole(&j->nest)) td_maestro_pads_trim(j);
  if (!need_gather(&p) || !need_post(&p) || !choose_streamers(&p)) return false;
  p.from = j->pattern[j->work.from];
  p.to = j->pattern[j->work.to];
  TdDiag first = {.arena = d->arena};
  p.d = &first;
  if (attempt(&p)) return true;
  p.d = d;
  if (strcmp(first.code, "maestro-order") != 0 && make_room(&p)) return true;
  *d = first;
  return false;
}
