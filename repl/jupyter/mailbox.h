/* mailbox.h - JSON from one thread to another, over a pipe that can be polled. */
#ifndef TD_REPL_JUPYTER_MAILBOX_H
#define TD_REPL_JUPYTER_MAILBOX_H

#include <jansson.h>
#include <stdbool.h>

typedef struct TdMailbox {
  int from, to; /* ends of the pipe, -1 when closed */
} TdMailbox;

typedef enum { TD_MAIL, TD_MAIL_SIGNAL, TD_MAIL_CLOSED } TdMail;

/* Opens the pipe; false with errno. */
bool td_mailbox_open(TdMailbox *m);
/* Says that nothing more comes; and closes what is left. */
void td_mailbox_end(TdMailbox *m);
void td_mailbox_close(TdMailbox *m);

/* Sends {"type": type, "content": content}; content's reference is taken over. */
void td_mailbox_send(TdMailbox *m, const char *type, json_t *content);
/* Waits for what was sent, a new reference; or says that a signal came, or that nothing will. */
TdMail td_mailbox_receive(TdMailbox *m, json_t **out);
/* The same, for one that SIGINT may have interrupted before: `is_interrupted` is asked when no
 * signal can come between its answer and the wait. */
TdMail td_mailbox_receive_unless(TdMailbox *m, bool (*is_interrupted)(void), json_t **out);

/* The type and content of what was received. */
const char *td_mail_type(const json_t *mail);
json_t *td_mail_content(const json_t *mail);

#endif
