/* tide_fiber.h - a function on a stack of its own that pauses and is resumed; known to ASan. */
#ifndef TIDE_FIBER_H
#define TIDE_FIBER_H

#include "tide_host.h"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#  define TIDE_FIBER_ASAN 1
#elif defined(__has_feature)
#  if __has_feature(address_sanitizer)
#    define TIDE_FIBER_ASAN 1
#  endif
#endif

#ifdef TIDE_FIBER_ASAN
#  include <sanitizer/common_interface_defs.h>
#endif

namespace tide_csim {

/* A stack as the sanitizer wants to hear of it when control moves; without sanitizer nothing. */
struct stack_bounds {
  const void *bottom = nullptr;
  size_t size = 0;
  void *fake = nullptr;

#ifdef TIDE_FIBER_ASAN
  /* Before leaving this stack for `to`; `for_good` frees what the sanitizer keeps for this one. */
  void leave(const stack_bounds &to, bool for_good) {
    __sanitizer_start_switch_fiber(for_good ? nullptr : &fake, to.bottom, to.size);
  }
  /* After arriving on this stack; fills in where control came from. */
  void arrive(stack_bounds &from) {
    __sanitizer_finish_switch_fiber(fake, &from.bottom, &from.size);
  }
#else
  void leave(const stack_bounds &, bool) {}
  void arrive(stack_bounds &) {}
#endif
};

class fiber {
public:
  /* Will call entry(arg), which must not throw, on a stack of `bytes` bytes. */
  fiber(void (*entry)(void *), void *arg, size_t bytes) : function(entry), argument(arg) {
    stack = static_cast<uint64_t *>(malloc(bytes));
    if (stack == nullptr) abort();
    for (size_t i = 0; i < guards; ++i) stack[i] = guard;
    own.bottom = stack;
    own.size = bytes;
    getcontext(&here);
    here.uc_stack.ss_sp = stack;
    here.uc_stack.ss_size = bytes;
    here.uc_link = nullptr;
  }
  fiber(const fiber &) = delete;
  fiber &operator=(const fiber &) = delete;
  ~fiber() { free(stack); }

  /* Runs the function until it pauses or returns. True if it returned: not to be resumed again. */
  bool resume() {
    if (!started) makecontext(&here, &fiber::start, 0);
    started = true;
    entering() = this;
    home.leave(own, false);
    swapcontext(&back, &here);
    stack_bounds from;
    home.arrive(from);
    return returned;
  }

  /* Called on this fiber: returns to whoever resumed it, until the next resume. */
  void pause() {
    own.leave(home, false);
    swapcontext(&here, &back);
    own.arrive(home);
  }

  /* Whether the far end of the stack is as it was: if not, the function needed more than it had. */
  bool intact() const {
    for (size_t i = 0; i < guards; ++i)
      if (stack[i] != guard) return false;
    return true;
  }

private:
  static constexpr size_t guards = 256;
  static constexpr uint64_t guard = 0x7469646566696265;

  static fiber *&entering() {
    static fiber *f;
    return f;
  }

  /* The bottom frame of every fiber. */
  static void start() noexcept {
    fiber *f = entering();
    f->own.arrive(f->home);
    f->function(f->argument);
    f->returned = true;
    f->own.leave(f->home, true);
    setcontext(&f->back);
  }

  void (*function)(void *);
  void *argument;
  uint64_t *stack;
  stack_bounds own, home;
  ucontext_t here, back;
  bool started = false, returned = false;
};

} // namespace tide_csim

#endif
