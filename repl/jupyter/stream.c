/* stream.c - a pipe in the place of a descriptor. */
#include "repl/jupyter/stream.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "repl/jupyter/utf8.h"

bool td_stream_open(TdStream *s, const char *name, int fd) {
  int ends[2];
  s->name = name;
  s->fd = fd;
  s->from = -1;
  s->n = 0;
  s->was = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (s->was < 0 || pipe(ends) != 0) return false;
  s->from = ends[0];
  fcntl(s->from, F_SETFD, FD_CLOEXEC);
  fcntl(s->from, F_SETFL, O_NONBLOCK);
  bool ok = dup2(ends[1], fd) == fd;
  close(ends[1]);
  return ok;
}

void td_stream_close(TdStream *s) {
  if (s->was >= 0) {
    dup2(s->was, s->fd);
    close(s->was);
  }
  if (s->from >= 0) close(s->from);
  s->was = s->from = -1;
}

bool td_stream_read(TdStream *s, int64_t now) {
  ssize_t got = read(s->from, s->text + s->n, sizeof s->text - s->n);
  if (got <= 0) return false;
  if (!s->n) s->since = now;
  s->n += (size_t)got;
  return true;
}

/* The bytes up to the last whole code point. */
static size_t whole(const TdStream *s) {
  for (size_t back = 1; back <= 3 && back <= s->n; back++)
    if (td_utf8_length(s->text + s->n - back, back) > back) return s->n - back;
  return s->n;
}

json_t *td_stream_take(TdStream *s, TdArena *a, bool all) {
  size_t n = all ? s->n : whole(s);
  if (!n) return NULL;
  json_t *content = json_pack("{s:s, s:o}", "name", s->name, "text", td_utf8_json(a, s->text, n));
  memmove(s->text, s->text + n, s->n - n);
  s->n -= n;
  return content;
}
