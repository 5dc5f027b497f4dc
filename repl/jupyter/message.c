/* message.c - identities, a mark, the signature, four parts of JSON; buffers behind them are not
 * read. */
#include "repl/jupyter/message.h"

#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "repl/jupyter/own.h"

#define MARK "<IDS|MSG>"

enum { HEADER, PARENT, METADATA, CONTENT };

void td_author_begin(TdAuthor *author, TdSigner *signer) {
  unsigned char bytes[16] = {0};
  RAND_bytes(bytes, sizeof bytes);
  for (size_t i = 0; i < sizeof bytes; i++)
    snprintf(author->session + 2 * i, sizeof author->session - 2 * i, "%02x", bytes[i]);
  author->signer = signer;
  author->written = 0;
}

/* Whether identities end here. */
static bool is_mark(TdBytes b) {
  return b.n == strlen(MARK) && memcmp(b.at, MARK, b.n) == 0;
}

/* A part as an object owned by a, or NULL. */
static json_t *object_of(TdArena *a, TdBytes part) {
  json_error_t error;
  json_t *j = td_own(a, json_loadb(part.at, part.n, JSON_ALLOW_NUL, &error));
  return json_is_object(j) ? j : NULL;
}

const char *td_message_read(TdArena *a, TdSigner *signer, const TdFrames *frames, TdMessage *out) {
  size_t mark = 0;
  while (mark < frames->n && !is_mark(frames->at[mark])) mark++;
  if (frames->n < mark + 2 + TD_SIGN_PARTS) return "it has too few parts";
  const TdBytes *signature = &frames->at[mark + 1], *part = signature + 1;
  const char *why = td_signer_refuse(signer, part, *signature);
  if (why) return why;
  const json_t *header = object_of(a, part[HEADER]);
  if (!header || !object_of(a, part[PARENT]) || !object_of(a, part[METADATA]))
    return "a part of it is no JSON object";
  out->content = object_of(a, part[CONTENT]);
  if (!out->content) return "its content is no JSON object";
  out->type = json_string_value(json_object_get(header, "msg_type"));
  if (!out->type) return "its header has no msg_type";
  out->header = part[HEADER];
  out->from = (TdFrames){frames->at, mark, mark};
  return NULL;
}

/* The text of JSON. */
static TdBytes text_of(TdArena *a, const json_t *j) {
  size_t n = json_dumpb(j, NULL, 0, JSON_COMPACT);
  char *at = td_arena_alloc(a, n + 1);
  json_dumpb(j, at, n, JSON_COMPACT);
  return (TdBytes){at, n};
}

/* The time as "2026-01-31T12:00:00.000000Z". */
static const char *date(TdArena *a) {
  struct timespec now;
  struct tm utc;
  char day[32];
  clock_gettime(CLOCK_REALTIME, &now);
  gmtime_r(&now.tv_sec, &utc);
  strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &utc);
  return td_text_fmt(a, "%s.%06ldZ", day, now.tv_nsec / 1000);
}

/* The header of a new message. */
static TdBytes header_of(TdArena *a, TdAuthor *author, const char *type) {
  const char *id = td_text_fmt(a, "%s_%llu", author->session, (unsigned long long)author->written);
  author->written++;
  return text_of(a, td_own(a, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "msg_id", id, "session",
                                        author->session, "username", "tide", "date", date(a),
                                        "msg_type", type, "version", "5.3")));
}

TdFrames td_message_write(TdArena *a, TdAuthor *author, const TdFrames *to, const char *type,
                          TdBytes parent, const json_t *content) {
  static const TdBytes mark = {MARK, sizeof MARK - 1}, nothing = {"{}", 2};
  TdBytes part[TD_SIGN_PARTS] = {header_of(a, author, type), parent.n ? parent : nothing, nothing,
                                 text_of(a, content)};
  char digits[TD_SIGN_DIGITS + 1];
  td_signer_sign(author->signer, part, digits);
  TdBytes signature = {td_arena_strdup(a, digits), strlen(digits)};
  TdFrames out = {0};
  for (size_t i = 0; i < to->n; i++) td_vec_push(a, &out, to->at[i]);
  td_vec_push(a, &out, mark);
  td_vec_push(a, &out, signature);
  for (int i = 0; i < TD_SIGN_PARTS; i++) td_vec_push(a, &out, part[i]);
  return out;
}
