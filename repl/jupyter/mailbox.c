/* mailbox.c - references to JSON go through a pipe: each is written and read at a stroke. */
#include "repl/jupyter/mailbox.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/select.h>
#include <unistd.h>

bool td_mailbox_open(TdMailbox *m) {
  int ends[2];
  *m = (TdMailbox){-1, -1};
  if (pipe(ends) != 0) return false;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  *m = (TdMailbox){ends[0], ends[1]};
  return true;
}

void td_mailbox_end(TdMailbox *m) {
  if (m->to >= 0) close(m->to);
  m->to = -1;
}

void td_mailbox_close(TdMailbox *m) {
  json_t *mail;
  td_mailbox_end(m);
  while (m->from >= 0 && td_mailbox_receive(m, &mail) == TD_MAIL) json_decref(mail);
  if (m->from >= 0) close(m->from);
  m->from = -1;
}

void td_mailbox_send(TdMailbox *m, const char *type, json_t *content) {
  json_t *mail = json_pack("{s:s, s:o}", "type", type, "content", content);
  ssize_t put;
  do put = mail ? write(m->to, &mail, sizeof mail) : 0;
  while (put < 0 && errno == EINTR);
  if (mail && put != sizeof mail) json_decref(mail);
}

TdMail td_mailbox_receive(TdMailbox *m, json_t **out) {
  ssize_t got = read(m->from, out, sizeof *out);
  if (got == sizeof *out) return TD_MAIL;
  return got < 0 && errno == EINTR ? TD_MAIL_SIGNAL : TD_MAIL_CLOSED;
}

TdMail td_mailbox_receive_unless(TdMailbox *m, bool (*is_interrupted)(void), json_t **out) {
  sigset_t interrupt, before;
  fd_set from;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  FD_ZERO(&from);
  FD_SET(m->from, &from);
  pthread_sigmask(SIG_BLOCK, &interrupt, &before);
  bool waits = !is_interrupted() && pselect(m->from + 1, &from, NULL, NULL, NULL, &before) > 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return waits ? td_mailbox_receive(m, out) : TD_MAIL_SIGNAL;
}

const char *td_mail_type(const json_t *mail) {
  return json_string_value(json_object_get(mail, "type"));
}

json_t *td_mail_content(const json_t *mail) {
  return json_object_get(mail, "content");
}
