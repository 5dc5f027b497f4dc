/* offchip.h - the memory off the chip in runs with a clock: a table of functions, request, cycles
 * and answer, by which designs, kernels and graphs of STeP ask one memory the same questions.
 *
 * A port hands over requests of `request` bytes, cycles never falling; the memory says when each is
 * answered, at once or once time has gone on. Who asked sees the answer a cycle later. */
#ifndef TD_EVAL_TIME_OFFCHIP_H
#define TD_EVAL_TIME_OFFCHIP_H

#include "base/arena.h"
#include "base/vec.h"

/* n requests that a port hands over in one cycle, for the lines from an address on; by `id` the
 * answer is known, which is that of the last of them. */
typedef struct TdOffchipAsk {
  int64_t id, port, cycle, address, n;
  bool write;
} TdOffchipAsk;

/* The same ports hand over n requests in every cycle, in the same order, up to `now`, and in so
 * many more (`left`), of which `most` may be skipped. */
typedef struct TdOffchipSteady {
  int64_t now, n, left, most;
  bool begins;  /* they have just begun */
  int64_t next; /* filled: the cycle in which to ask again */
} TdOffchipSteady;

/* What can be said of a memory, by name: cycles if nothing else is said. Those of banks are called
 * as JEDEC calls them (JESD235). */
#define TD_OFFCHIP_FIELDS(X)                                                                       \
  X(CHANNELS, "channels", "memories side by side")                                                 \
  X(REQUEST, "request", "bytes of a request")                                                      \
  X(LATENCY, "latency", "from service to answer")                                                  \
  X(INTERVAL, "interval", "from one request of a channel, or port, to the next")                   \
  X(STARTUP, "startup", "more of each answer")                                                     \
  X(GROUPS, "groups", "groups of banks of a pseudo-channel, of which a channel has two")           \
  X(BANKS, "banks", "banks of a group")                                                            \
  X(LINES, "lines", "requests of a row")                                                           \
  X(HITS, "hits", "requests of an open row that may overtake an older one of its bank")            \
  X(BL, "bl", "of the data of a request")                                                          \
  X(CL, "cl", "from read to data")                                                                 \
  X(CWL, "cwl", "from write to data")                                                              \
  X(RCD, "rcd", "from activate to read or write")                                                  \
  X(RP, "rp", "from precharge to activate")                                                        \
  X(RAS, "ras", "from activate to precharge")                                                      \
  X(RC, "rc", "from activate to activate of a bank")                                               \
  X(WR, "wr", "from the last data written to precharge")                                           \
  X(RTP, "rtp", "from read to precharge")                                                          \
  X(CCDS, "ccds", "from access to access, of other groups")                                        \
  X(CCDL, "ccdl", "from access to access, of one group")                                           \
  X(RRDS, "rrds", "from activate to activate, of other groups")                                    \
  X(RRDL, "rrdl", "from activate to activate, of one group")                                       \
  X(WTRS, "wtrs", "from data written to read, of other groups")                                    \
  X(WTRL, "wtrl", "from data written to read, of one group")                                       \
  X(RTW, "rtw", "from read to write")                                                              \
  X(FAW, "faw", "in which four rows may be activated")                                             \
  X(RFC, "rfc", "of a refresh")                                                                    \
  X(REFI, "refi", "from refresh to refresh; 0: none")

typedef enum {
#define X(NAME, name, help) TD_OFFCHIP_##NAME,
  TD_OFFCHIP_FIELDS(X)
#undef X
      TD_OFFCHIP_NFIELDS
} TdOffchipFieldKind;
typedef struct TdOffchipField {
  const char *name, *help;
} TdOffchipField;
extern const TdOffchipField td_offchip_fields[TD_OFFCHIP_NFIELDS];

typedef struct TdOffchip TdOffchip;

/* A kind of memory. */
typedef struct TdOffchipModel {
  const char *name, *help;
  uint64_t has; /* fields that it reads, by bit */
  int64_t initial[TD_OFFCHIP_NFIELDS];
  /* Before the first request: its state, owned by a. */
  void *(*open)(TdArena *a, const TdOffchip *o);
  /* Takes requests: the cycle in which the last is answered; -1: `answer` tells. */
  int64_t (*request)(void *state, const TdOffchipAsk *ask);
  /* Time goes on until something is answered, to `until` at most: the cycle that it then is. NULL:
   * requests are all answered at once. */
  int64_t (*cycles)(void *state, int64_t until);
  /* The next answer that nobody was told of: whose, and its cycle; false: none. */
  bool (*answer)(void *state, int64_t *id, int64_t *cycle);
  /* Takes requests of one port, per_cycle in each cycle from the ask's on: the cycle in which the
   * last is answered, in closed form; -1, and nothing is taken: what other ports ask has a say.
   * NULL: it always has. */
  int64_t (*burst)(void *state, const TdOffchipAsk *ask, int64_t per_cycle);
  /* Goes on by whole periods, once what happens repeats: by how many cycles. At least one period is
   * left, whose answers are later than all that were skipped. NULL: it never does. */
  int64_t (*skip)(void *state, TdOffchipSteady *s);
} TdOffchipModel;

/* A memory: its kind, what is said of it, and of one that a user made what it is. */
struct TdOffchip {
  const TdOffchipModel *model;
  int64_t field[TD_OFFCHIP_NFIELDS];
  void *own;
};

/* The kinds, NULL at the end: slots, a queue, banks. */
extern const TdOffchipModel *const td_offchip_models[];
extern const TdOffchipModel td_offchip_banks;
/* The kind of a name, or NULL; a memory of that kind as it is by default. */
const TdOffchipModel *td_offchip_find(const char *name);
TdOffchip td_offchip_of(const TdOffchipModel *m);

#endif
