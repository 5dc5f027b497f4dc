/* tty.h - the terminal: raw mode that every way out undoes, signals, size, waiting. */
#ifndef TD_TTY_H
#define TD_TTY_H

#include "base/arena.h"

/* What happened since the last look, besides input. */
enum {
  TD_TTY_INPUT = 1,     /* bytes can be read */
  TD_TTY_WATCHED = 2,   /* the watched file descriptor is readable or was closed */
  TD_TTY_RESIZED = 4,   /* SIGWINCH */
  TD_TTY_LOST = 8,      /* raw mode was undone by a stop or a caught signal */
  TD_TTY_INTERRUPT = 16 /* SIGINT */
};

/* Whether in and out are one terminal that can be edited on: no TERM=dumb. */
bool td_tty_is_able(int in, int out);

/* Whether colours are wanted: no NO_COLOR (https://no-color.org). */
bool td_tty_has_colour(void);

/* Whether rows wider than the window are wrapped anew when it shrinks. */
bool td_tty_is_reflowing(void);

/* Takes the signals of the process, and in raw mode (when `raw`) the terminal, until `life` is
 * freed. One at a time. False when the terminal refuses. */
bool td_tty_open(TdArena *life, int in, int out, bool raw);

/* Raw mode again after TD_TTY_LOST. */
bool td_tty_enter(void);

/* Stops the process group as the terminal's own Ctrl-Z would; returns when it goes on. */
void td_tty_stop(void);

/* Waits for a TD_TTY_* event at most timeout milliseconds (-1: for ever); a watched descriptor of
 * -1 is none. Returns the events, 0 when the time is over. */
int td_tty_wait(int watched, int timeout);

/* Window size; 80 columns of 24 rows when unknown. */
void td_tty_size(int out, int *rows, int *cols);

/* Writes all n bytes, in one write(2) unless the terminal takes less. */
void td_tty_write(int out, const char *s, size_t n);

#endif
