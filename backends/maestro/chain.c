/* chain.c - when beats pass the extensions of a streamer. Extension 0 is nearest the FIFO. A wire
 * passes valid and ready on in the same cycle; one that gathers takes a beat a cycle, and gives
 * from the next cycle on; it takes again with the last beat that it gives. */
#include "backends/maestro/maestro.h"

static bool is_on(const TdMaestroChain *c, int k) {
  return (c->p->ext >> k & 1) && !td_maestro_ext_is_wire(&c->s->ext[k]);
}

/* Counts a beat into extension k. */
static void gather(TdMaestroChain *c, int k) {
  if (++c->in[k] < td_maestro_ext_takes(&c->s->ext[k], c->p->reg[k])) return;
  c->in[k] = 0;
  if (c->s->ext[k].wait)
    c->wait[k] = c->s->ext[k].wait + 1;
  else
    c->left[k] = c->s->ext[k].give;
}

bool td_maestro_chain_tick(TdMaestroChain *c) {
  bool any = false;
  for (int k = 0; k < c->s->next; k++) {
    if (!c->wait[k]) continue;
    any = true;
    if (--c->wait[k] == 0) c->left[k] = c->s->ext[k].give;
  }
  return any;
}

bool td_maestro_chain_is_under_way(const TdMaestroChain *c) {
  for (int k = 0; k < c->s->next; k++)
    if (c->in[k] || c->left[k] || c->link[k] || c->wait[k]) return true;
  return false;
}

/* ---- readers ---- */

/* Whether a beat lies before extension k. */
static bool has_input(const TdMaestroChain *c, int k, bool word) {
  return k == 0 ? word : c->link[k - 1] > 0;
}

/* Whether one lies behind it. */
static bool has_output(const TdMaestroChain *c, int k, bool word) {
  return is_on(c, k) ? c->left[k] > 0 : has_input(c, k, word);
}

/* Takes the beat before extension k; whether it was a word of the FIFO. */
static bool take_input(TdMaestroChain *c, int k) {
  if (k == 0) return true;
  c->link[k - 1]--;
  return false;
}

static bool take_output(TdMaestroChain *c, int k) {
  if (!is_on(c, k)) return take_input(c, k);
  c->left[k]--;
  return false;
}

bool td_maestro_chain_valid(const TdMaestroChain *c, bool word) {
  return c->s->next ? has_output(c, c->s->next - 1, word) : word;
}

bool td_maestro_chain_take(TdMaestroChain *c) {
  for (int k = 0; k < c->s->next; k++) c->start[k] = c->link[k];
  return c->s->next ? take_output(c, c->s->next - 1) : true;
}

bool td_maestro_chain_pull(TdMaestroChain *c, bool word) {
  bool left = false;
  for (int k = c->s->next; k-- > 0;) {
    if (is_on(c, k) && !c->left[k] && !c->wait[k] && has_input(c, k, word)) {
      left |= take_input(c, k);
      gather(c, k);
    }
    if (k > 0 && c->start[k - 1] < 2 && has_output(c, k - 1, word)) {
      left |= take_output(c, k - 1);
      c->link[k - 1]++;
    }
  }
  for (int k = 0; k < c->s->next; k++) c->start[k] = c->link[k];
  return left;
}

/* ---- writers ---- */

/* Whether what comes out of extension k has somewhere to go. */
static bool has_space(const TdMaestroChain *c, int k, bool room) {
  return k == 0 ? room : c->start[k - 1] < 2;
}

/* Whether extension k takes a beat, once it has given that of this cycle. */
static bool takes(const TdMaestroChain *c, int k, bool room) {
  return is_on(c, k) ? !c->left[k] && !c->wait[k] : has_space(c, k, room);
}

/* Puts a beat behind extension k; whether it comes to the FIFO. */
static bool put_output(TdMaestroChain *c, int k) {
  if (k == 0) return true;
  c->link[k - 1]++;
  return false;
}

static bool put_input(TdMaestroChain *c, int k) {
  if (!is_on(c, k)) return put_output(c, k);
  gather(c, k);
  return false;
}

bool td_maestro_chain_drain(TdMaestroChain *c, bool room) {
  bool came = false;
  for (int k = 0; k < c->s->next; k++) c->start[k] = c->link[k];
  for (int k = 0; k < c->s->next; k++) {
    if (is_on(c, k) && c->left[k] && has_space(c, k, room)) {
      came |= put_output(c, k);
      c->left[k]--;
    }
    if (k + 1 < c->s->next && c->start[k] && takes(c, k, room)) {
      came |= put_input(c, k);
      c->link[k]--;
    }
  }
  return came;
}

bool td_maestro_chain_ready(const TdMaestroChain *c, bool room) {
  return c->s->next ? takes(c, c->s->next - 1, room) : room;
}

bool td_maestro_chain_give(TdMaestroChain *c) {
  return c->s->next ? put_input(c, c->s->next - 1) : true;
}
