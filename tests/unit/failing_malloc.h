/* failing_malloc.h - malloc and realloc that fail when they are told to, for a test that is linked
 * with --wrap=malloc,--wrap=realloc; and the way out of Tide where its memory ends. Included by the
 * test's one file. */
#ifndef TIDE_TESTS_FAILING_MALLOC_H
#define TIDE_TESTS_FAILING_MALLOC_H

#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>

#include "base/ctx.h"

/* What fails while armed: allocation `strike`, counted in `at`; with `on`, all later, too. */
static struct {
  int at, strike;
  bool armed, on;
} failing;

void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__real_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n);

static bool strikes(void) {
  if (!failing.armed) return false;
  bool fails = ++failing.at == failing.strike || (failing.on && failing.at > failing.strike);
  if (fails) errno = ENOMEM;
  return fails;
}

void *__wrap_malloc(size_t n) {
  return strikes() ? NULL : __real_malloc(n);
}

void *__wrap_realloc(void *p, size_t n) {
  return strikes() ? NULL : __real_realloc(p, n);
}

/* From now on allocation `strike` fails. */
static void let_fail(int strike) {
  failing.at = 0;
  failing.strike = strike;
  failing.armed = true;
}

static jmp_buf out;

/* Goes to `out`. */
static void escape(void *unused, TdWhy why) {
  (void)unused;
  longjmp(out, 1 + (int)why);
}

#endif
