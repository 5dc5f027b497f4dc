/* connection.c - reads the connection file. */
#include "repl/jupyter/connection.h"

#include <string.h>

#include "repl/jupyter/own.h"

/* The ports by channel. */
static const char *const ports[TD_CHANNELS] = {"shell_port", "control_port", "stdin_port",
                                               "iopub_port", "hb_port"};

/* The string field of a file, or `otherwise`. */
static const char *field(const json_t *file, const char *name, const char *otherwise) {
  const char *value = json_string_value(json_object_get(file, name));
  return value ? value : otherwise;
}

/* Where a channel is, or NULL. */
static const char *address_of(TdArena *a, const json_t *file, TdChannel channel) {
  const char *transport = field(file, "transport", "tcp"), *ip = field(file, "ip", "127.0.0.1");
  json_int_t port = json_integer_value(json_object_get(file, ports[channel]));
  bool ipc = strcmp(transport, "ipc") == 0;
  if ((!ipc && strcmp(transport, "tcp") != 0) || port < 1 || port > 65535) return NULL;
  return td_text_fmt(a, "%s://%s%c%d", transport, ip, ipc ? '-' : ':', (int)port);
}

bool td_connection_read(TdArena *a, const char *path, TdConnection *out, TdText *why) {
  json_error_t error;
  const json_t *file = td_own(a, json_load_file(path, 0, &error));
  if (!file) {
    td_text_putf(why, "%s: %s", path, error.text);
    return false;
  }
  const char *scheme = field(file, "signature_scheme", "hmac-sha256");
  const char *key = field(file, "key", "");
  if (*key && strcmp(scheme, "hmac-sha256") != 0) {
    td_text_putf(why, "%s: messages are signed by hmac-sha256, not %s", path, scheme);
    return false;
  }
  out->key = (TdBytes){key, strlen(key)};
  for (TdChannel i = 0; i < TD_CHANNELS; i++) {
    out->address[i] = address_of(a, file, i);
    if (out->address[i]) continue;
    td_text_putf(why, "%s: no place for the channel of %s", path, ports[i]);
    return false;
  }
  return true;
}
