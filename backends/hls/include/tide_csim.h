/* tide_csim.h - runs the tasks of a dataflow region in turn, each until it blocks. */
#ifndef TIDE_CSIM_H
#define TIDE_CSIM_H

#include "tide_fiber.h"
#include <stdio.h>

/* Bytes of stack for a task whose region does not say otherwise. */
#ifndef TIDE_CSIM_STACK
#  define TIDE_CSIM_STACK (256 * 1024)
#endif

namespace tide_csim {

/* A name that is kept; long ones are cut. */
class label {
public:
  explicit label(const char *s) { add(s != nullptr ? s : "(unnamed)"); }
  const char *c_str() const { return at; }

  /* This name with "[i]" after it. */
  label element(size_t i) const {
    char index[24];
    snprintf(index, sizeof index, "[%zu]", i);
    label r = *this;
    r.add(index);
    return r;
  }

private:
  void add(const char *s) {
    while (*s != '\0' && used + 1 < sizeof at) at[used++] = *s++;
  }
  char at[64] = "";
  size_t used = 0;
};

/* What all streams have: a name, and how many of `depth` places are taken. Not copied: tasks share
 * it. */
struct channel {
  channel(const char *name, int places) : called(name), depth(places) {}
  channel(const channel &) = delete;
  channel &operator=(const channel &) = delete;
  label called;
  int fill = 0, depth;
};

enum class wish { read, write };

class region;

/* A task of a region: where it is, and while it is paused, what for. */
class process {
public:
  process(const char *name, size_t stack) : called(name), body(&process::enter, this, stack) {}
  process(const process &) = delete;
  process &operator=(const process &) = delete;
  virtual ~process() = default;
  virtual void work() = 0;

  label called;
  fiber body;
  process *next = nullptr;
  bool done = false;
  const channel *on = nullptr;
  wish want = wish::read;
  const process *outer = nullptr;
  const region *inner = nullptr;

private:
  static void enter(void *self) { static_cast<process *>(self)->work(); }
};

/* The task that runs now (null: plain sequential code), and how often anything moved or was polled
 * in vain. */
struct progress {
  process *running = nullptr;
  uint64_t moves = 0, polls = 0;
};
inline progress now;

/* To be called whenever a channel's fill changes. */
inline void moved() {
  ++now.moves;
}

/* A task by its path: one of a region inside another task is "outer/inner". */
inline void print_path(const process &p) {
  if (p.outer != nullptr) print_path(*p.outer);
  fprintf(stderr, "%s%s", p.outer != nullptr ? "/" : "", p.called.c_str());
}

/* Tells what a task waits for; null is plain sequential code. */
inline void print_blocked(const process *p, const channel &c, wish want) {
  fprintf(stderr, "deadlock: task ");
  if (p != nullptr) print_path(*p);
  fprintf(stderr, "%s waits to %s stream %s (fill %d of %d)\n", p == nullptr ? "main" : "",
          want == wish::read ? "read" : "write", c.called.c_str(), c.fill, c.depth);
}

/* Ends a simulation that cannot go on. */
[[noreturn]] inline void stop() {
  fflush(stdout);
  exit(3);
}

/* Leaves the running task until its next turn. */
inline void pause_for(const channel &c, wish want) {
  process *self = now.running;
  self->on = &c;
  self->want = want;
  self->body.pause();
  self->on = nullptr;
}

/* Lets others run because c is not ready to be read or written; callers look again after it. */
inline void block(const channel &c, wish want) {
  if (now.running != nullptr) return pause_for(c, want);
  print_blocked(nullptr, c, want);
  stop();
}

/* The same after a question was answered no, so that a task may ask in a loop. */
inline void poll(const channel &c, wish want) {
  if (now.running == nullptr) return;
  ++now.polls;
  pause_for(c, want);
}

/* Tasks that start together; run() returns when all have ended. Regions nest: a task may run one of
 * its own. */
class region {
public:
  explicit region(size_t stack_bytes = TIDE_CSIM_STACK) : stack(stack_bytes) {}
  region(const region &) = delete;
  region &operator=(const region &) = delete;
  ~region() { clear(); }

  /* Has the tasks that are added from now on find so many bytes of stack more. */
  void make_room(size_t bytes) { stack += bytes; }

  /* Adds the task body(), to be called by run(). */
  template <class F> void task(const char *name, F body) {
    struct process_of final : process {
      process_of(const char *n, size_t bytes, const F &f) : process(n, bytes), function(f) {}
      void work() override { function(); }
      F function;
    };
    *last = new process_of(name, stack, body);
    last = &(*last)->next;
  }

  /* Runs the tasks in the order they were added, in rounds, each until it ends or blocks. A round
   * in which nothing moves is a deadlock, or for a region inside a task the time to let that task's
   * siblings run. */
  void run() {
    int idle = 0;
    for (progress before = now; round(); before = now) {
      if (now.moves != before.moves) {
        idle = 0;
      } else if (now.running != nullptr) {
        give_way();
      } else if (now.polls == before.polls || ++idle > most_idle) {
        print_tasks();
        stop();
      }
    }
    clear();
  }

private:
  /* Rounds of polling in vain that are taken for a deadlock. */
  static constexpr int most_idle = 1000000;

  /* Gives each task its turn; returns whether any has not ended. */
  bool round() {
    bool alive = false;
    for (process *p = first; p != nullptr; p = p->next) {
      if (!p->done) turn(*p);
      alive |= !p->done;
    }
    return alive;
  }

  void turn(process &p) {
    process *self = now.running;
    p.outer = self;
    now.running = &p;
    p.done = p.body.resume();
    now.running = self;
    if (p.body.intact()) return;
    fprintf(stderr, "task %s needs more than %zu bytes of stack\n", p.called.c_str(), stack);
    stop();
  }

  void give_way() {
    process *self = now.running;
    self->inner = this;
    self->body.pause();
    self->inner = nullptr;
  }

  /* One line for each task that waits, here and in inner regions. */
  void print_tasks() const {
    for (const process *p = first; p != nullptr; p = p->next) {
      if (p->on != nullptr) print_blocked(p, *p->on, p->want);
      if (p->inner != nullptr) p->inner->print_tasks();
    }
  }

  void clear() {
    while (first != nullptr) {
      process *p = first;
      first = p->next;
      delete p;
    }
    last = &first;
  }

  size_t stack;
  process *first = nullptr, **last = &first;
};

/* Names a stream; the elements of an array of streams are named "Z[0][1]". */
inline void name(channel &c, const label &text) {
  c.called = text;
}
template <class C, size_t N> void name(C (&array)[N], const label &text) {
  for (size_t i = 0; i < N; ++i) name(array[i], text.element(i));
}
template <class C> void name(C &c, const char *text) {
  name(c, label(text));
}

/* Returns how many streams, of one or an array, hold tokens; reports each of them. */
inline int leftovers(const channel &c) {
  if (c.fill == 0) return 0;
  fprintf(stderr, "leftover: stream %s holds %d of %d tokens\n", c.called.c_str(), c.fill, c.depth);
  return 1;
}
template <class C, size_t N> int leftovers(const C (&array)[N]) {
  int n = 0;
  for (const C &c : array) n += leftovers(c);
  return n;
}

/* Whether all these streams and arrays of streams are empty; reports those that are not. */
template <class... C> bool check_empty(const C &...channels) {
  return (0 + ... + leftovers(channels)) == 0;
}

} // namespace tide_csim

#endif
