/* net.c - networks that run: streams are opened, instances take turns in the order of runs and
 * coordinates, each until it stops; a turn in which nothing moves is a deadlock. Emitted programs
 * call this, so that their text holds nothing that is the same in all of them. */
#include "backends/c/runtime/runtime.h"
#include "eval/time/clock.h"

/* A ring of a program with a clock. */
typedef struct Clocked {
  struct td_ring ring;
  int64_t *time;
  TdMoved moved;
} Clocked;

static void *after(void *base, int64_t bytes) {
  return (char *)base + bytes;
}

/* Stream i of an array: its ring, or that of its full buffers. */
static struct td_ring *ring_of(const struct td_rings *s, int64_t i) {
  return after(s->ring, i * s->bytes);
}

/* Its buffers, or NULL where it is a ring. */
static void **buffers_of(const struct td_rings *s, int64_t i) {
  return s->list ? after(ring_of(s, i), 2 * s->ring_bytes) : NULL;
}

static struct td_task *task_of(const struct td_part *p, int64_t i) {
  return after(p->frame, i * p->frame_bytes);
}

/* Opens a pool, all of whose buffers are free. */
static void open_pool(const struct td_rings *s, int64_t i, void *token) {
  struct td_ring *full = ring_of(s, i), *spare = after(full, s->ring_bytes);
  int64_t *list = s->list + 2 * s->depth * i, number = s->number + i;
  *full = (struct td_ring){.token = list, .depth = s->depth, .number = number};
  *spare = (struct td_ring){
      .token = list + s->depth, .depth = s->depth, .fill = s->depth, .number = ~number};
  for (int64_t k = 0; k < s->depth; k++) list[s->depth + k] = k;
  *buffers_of(s, i) = token;
}

static void open_ring(const struct td_run *run, const struct td_rings *s, int64_t i, void *token) {
  struct td_ring *r = ring_of(s, i);
  *r = (struct td_ring){.token = token, .depth = s->depth, .number = s->number + i};
  if (s->ring_bytes != sizeof(Clocked)) return;
  const struct td_timed *timed = run->timed;
  Clocked *c = (Clocked *)(void *)r;
  c->time = timed->open(timed->wire[s->wire + i], &c->moved);
}

static void open_net(struct td_run *run, const struct td_net *n) {
  if (run->watch) td_cpu_watch_open(run, n);
  for (int64_t k = 0; k < n->streams; k++)
    for (int64_t i = 0; i < n->stream[k].n; i++) {
      const struct td_rings *s = &n->stream[k];
      void *token = after(s->token, i * s->token_bytes);
      if (s->list)
        open_pool(s, i, token);
      else
        open_ring(run, s, i, token);
    }
}

/* Notes the first fault. */
static void fail(struct td_run *run, TdCpuFault fault, int64_t place, int64_t a, int64_t b) {
  if (run->fault) return;
  run->place = (int)place;
  run->value[0] = a;
  run->value[1] = b;
  run->fault = (int)fault;
}

/* Notes which instances wait, but for designs, which note their own tasks. */
static void note_waits(struct td_run *run, const struct td_net *n) {
  for (int64_t k = 0; k < n->parts; k++)
    for (int64_t i = 0; i < n->part[k].n; i++) {
      const struct td_task *t = task_of(&n->part[k], i);
      if (t->at < 0 || !t->ring) continue;
      if (run->blocked < 16) {
        int64_t *w = run->wait[run->blocked];
        w[0] = n->part[k].number, w[1] = i, w[2] = t->place;
        w[3] = t->ring->number, w[4] = t->ring->fill, w[5] = t->ring->depth;
      }
      run->blocked++;
    }
}

/* Notes what streams hold. */
static void note_contents(struct td_run *run, const struct td_net *n) {
  for (int64_t k = 0; k < n->streams; k++)
    for (int64_t i = 0; i < n->stream[k].n && run->held < 8; i++) {
      const struct td_ring *r = ring_of(&n->stream[k], i);
      void **buffers = buffers_of(&n->stream[k], i);
      if (!r->fill) continue;
      int64_t *h = run->hold[run->held];
      h[0] = r->number, h[1] = r->fill, h[2] = r->out, h[3] = r->depth;
      run->token[run->held] = buffers ? *buffers : r->token;
      run->buffer[run->held++] = buffers ? r->token : NULL;
    }
}

/* Looks whether streams are empty at the end. */
static void check_left(struct td_run *run, const struct td_net *n) {
  for (int64_t k = 0; k < n->streams; k++)
    for (int64_t i = 0; i < n->stream[k].n; i++) {
      const struct td_ring *r = ring_of(&n->stream[k], i);
      if (!r->fill) continue;
      fail(run, TD_CPU_LEFTOVER, n->stream[k].place, r->number, r->fill);
      run->blocked++;
    }
}

/* One turn of all instances, of which *more have not ended; whether one moved a token. */
static int take_turns(struct td_run *run, const struct td_net *n, int64_t *more) {
  int64_t moved = 0, who = run->who, first = n->first ? *n->first : 0;
  for (int64_t k = 0; k < n->parts; first += n->part[k++].n) {
    run->who = first;
    int64_t did = n->part[k].turn(run, &n->part[k]);
    moved |= did & 1;
    *more -= did >> 1;
  }
  run->who = who;
  return (int)moved;
}

static bool has_stopped(const struct td_run *run) {
  return *run->interrupt || run->fault;
}

/* A caller's own turn goes on as it was. */
static int run_tasks(struct td_run *run, const struct td_net *n) {
  int64_t more = n->tasks;
  int slow = run->slow;
  run->slow = 0;
  for (int moved = 1; more && !has_stopped(run);) {
    if (!moved && run->slow == 2) break;
    run->slow = moved ? 0 : run->slow + 1;
    moved = take_turns(run, n, &more);
  }
  run->slow = slow;
  if (more && !has_stopped(run)) {
    note_waits(run, n);
    fail(run, TD_CPU_DEADLOCK, n->place, more, n->number);
  }
  if (!more) check_left(run, n);
  if (run->fault) note_contents(run, n);
  return !more;
}

/* In the turn that finds a deadlock, a design inside tells its part. */
static int visit_tasks(struct td_run *run, const struct td_net *n, int64_t *more) {
  int moved = take_turns(run, n, more);
  if (*more && !moved && run->slow == 2) {
    note_waits(run, n);
    note_contents(run, n);
  }
  if (!*more) check_left(run, n);
  return moved;
}

const struct td_host td_cpu_net_host = {open_net, run_tasks, visit_tasks, td_cpu_watch_touch};
