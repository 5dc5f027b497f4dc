/* key.h - bytes from a terminal, decoded into keys and pastes. */
#ifndef TD_KEY_H
#define TD_KEY_H

#include "base/text.h"

/* A key: a code point, or one of those below, with modifiers. Ctrl-A is TD_CTRL | 'a'. */
typedef uint32_t TdKeyCode;
enum {
  TD_KEY_NONE = 0x110000,
  TD_KEY_ENTER,
  TD_KEY_TAB,
  TD_KEY_BACKSPACE,
  TD_KEY_ESCAPE,
  TD_KEY_UP,
  TD_KEY_DOWN,
  TD_KEY_RIGHT,
  TD_KEY_LEFT,
  TD_KEY_HOME,
  TD_KEY_END,
  TD_KEY_INSERT,
  TD_KEY_DELETE,
  TD_KEY_PAGE_UP,
  TD_KEY_PAGE_DOWN,
  TD_KEY_PASTE, /* text holds what was pasted */
  TD_KEY_BYTE,  /* text holds a byte that is no UTF-8 */
  TD_SHIFT = 1 << 24,
  TD_ALT = 1 << 25,
  TD_CTRL = 1 << 26,
  TD_AFTER_CX = 1 << 27 /* C-x came before */
};

typedef struct TdKey {
  TdKeyCode code;
  const char *text; /* what it inserts, for a character, a byte or a paste; owned by the decoder */
  size_t n;
} TdKey;

/* Bytes that came and were not yet decoded. Zero-initialised with `arena` set is empty. */
typedef struct TdKeys {
  TdArena *arena;
  TdText in;
  size_t used;    /* bytes of `in` that were decoded */
  size_t scanned; /* bytes of an open paste that hold no end mark */
} TdKeys;

/* Takes n bytes from the terminal. */
void td_key_feed(TdKeys *k, const char *s, size_t n);

/* Puts n bytes before those that wait. */
void td_key_unread(TdKeys *k, const char *s, size_t n);
/* Appends the bytes of Enter and then a paste of `text`. */
void td_key_put_entered(TdText *out, TdText *text);

/* Decodes one key into *key; false when more bytes are needed. `late` says that no more came in
 * time: an ESC is then the key, an unfinished sequence is dropped. */
bool td_key_next(TdKeys *k, bool late, TdKey *key);

/* Whether bytes wait whose meaning the next ones decide, and for which nobody waits long. */
bool td_key_is_unsettled(const TdKeys *k);

#endif
