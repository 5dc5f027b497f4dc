/* npy_input.c - any bytes as a .npy file: refused with a reason, or a tensor that is written and
 * read again as it was (libFuzzer). */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "ir/text/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static jmp_buf out;

static void escape(void *ud, TdWhy why) {
  (void)ud;
  longjmp(out, (int)why + 1);
}

/* A file in memory with n bytes, by a path. */
static int file_of(const uint8_t *data, size_t n, char path[32]) {
  int fd = memfd_create("npy", 0);
  if (fd < 0 || write(fd, data, n) != (ssize_t)n) abort();
  snprintf(path, 32, "/proc/self/fd/%d", fd);
  return fd;
}

/* Whether two tensors of one type hold the same. */
static bool is_same(const TdTensor *x, const TdTensor *y) {
  int64_t at[TD_MAX_RANK] = {0};
  if (td_tensor_count(x) == 0) return td_tensor_count(y) == 0;
  do
    if (td_tensor_get(x, at) != td_tensor_get(y, at)) return false;
  while (td_tensor_next(x, at));
  return true;
}

/* Reads the file; a tensor is written to a second file and read from it. */
static void try(TdSession *s, TdArena *a, const char *path) {
  TdDiag d = {.arena = a};
  char name[] = "/tmp/tide-npy-XXXXXX";
  TdTensor *t = td_npy_read(s, a, path, NULL, &d);
  if (!t && !d.kind) abort();
  if (!t) return;
  close(mkstemp(name));
  TdTensor *again = td_npy_write(s, name, t, &d) ? td_npy_read(s, a, name, t->type, &d) : NULL;
  unlink(name);
  if (!again || !is_same(t, again)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  char path[32];
  int fd = file_of(data, n, path);
  TdCtx *c = td_ctx_new();
  td_ctx_set_memory_limit(c, (size_t)64 << 20);
  td_ctx_set_escape(c, escape, NULL);
  TdSession *volatile s = NULL;
  TdArena *volatile a = NULL;
  if (!setjmp(out)) {
    s = td_session_new(c);
    a = td_arena_new(c);
    try(s, a, path);
  }
  td_arena_free_scratch(c);
  td_arena_free(a);
  td_session_free(s);
  td_ctx_free(c);
  close(fd);
  return 0;
}
