/* vdesign.h - a design on its way to a module: its streams as scopes, its classes as modules. */
#ifndef TD_VDESIGN_H
#define TD_VDESIGN_H

#include "backends/verilog/verilog.h"
#include "lower/net/net.h"

/* The streams of an array that some class holds, as a box of scopes. */
typedef struct TdVdStream {
  const TdStream *stream;
  const char *name;
  int rank, width; /* of a beat */
  int64_t depth, beats, elements, latency, lo[TD_MAX_RANK], n[TD_MAX_RANK], count;
  bool *used[2];             /* ends that a task gets from, puts to */
  int32_t *end[2];           /* the instance that gets from, puts to each, by number; -1: none */
  int64_t stay;              /* cycles that tokens stay in those that are delay lines */
  bool *line;                /* which are; NULL: none */
  bool outside, put;         /* its other end is a port of the design; put: which tasks put to */
  const TdVlogArray *memory; /* of a block stream: of the elements of its buffers; or NULL */
  size_t backs;              /* ends that give them back, most */
  size_t ports[2][2];        /* of each bank, most: of who gets, who puts; reads, writes */
} TdVdStream;

typedef struct TdVdDesign {
  const TdVlogProg *p;
  TdArena *arena;
  TdNet *net;
  TdText out;
  TD_VEC(TdVlogPin) pin;
  TD_VEC(TdVdStream) stream;
  TD_VEC(TdVlogArray) array;
  TD_VEC(const char *) module; /* their names */
  TD_VEC(TdVlogTask) task;
  TD_VEC(TdVlogOpen) open;
  bool is_static; /* control is */
  TdDiag *diag;
} TdVdDesign;

/* A box of instances: `count` of them from number `first` on, their ids lo + step * digit. */
typedef struct TdVdBox {
  uint32_t first, count;
  int64_t lo[TD_MAX_RANK], step[TD_MAX_RANK], n[TD_MAX_RANK];
} TdVdBox;

/* vdesign.c: refuses, returning false. */
bool td_vdesign_refuse(TdVdDesign *d, TdLoc loc, const char *what);
/* Adds a pin of the design. */
void td_vdesign_pin(TdVdDesign *d, const char *name, int64_t bits, bool in);
/* A number that each instance of a box has, as an expression of its digits D0, D1; false: it is no
 * affine function of them. */
bool td_vdesign_fit(TdVdDesign *d, const TdNetClass *c, const TdVdBox *b, const int64_t *of,
                    const char **out);
/* The number of parameter `sym` of a class. */
size_t td_vdesign_param(const TdNetClass *c, TdSym sym);

/* The network of a design, prog's root; keep: NULL, or by number the classes whose kernels have the
 * whole body of their task. False: refused. */
bool td_vdesign_net(const TdVdDesign *d, TdStore *store, const TdProg *prog, const bool *keep,
                    TdNet *out);
/* The program of a class alone, with its schedule and times (NULL: refused). */
TdVlogProg td_vdesign_own(TdVdDesign *d, const TdNetClass *c);

/* vkeep.c: makes the classes of d anew where ids decide something that takes time in timed runs, so
 * that their kernels keep it. False: refused. */
bool td_vkeep_settle(TdVdDesign *d);

/* vstream.c: notes a stream array that is used, false: refused; its scopes; the one of a symbol. */
bool td_vstream_note(TdVdDesign *d, const TdStream *s);
void td_vstream_put(TdVdDesign *d, const TdVdStream *w);
TdVdStream *td_vstream_of(TdVdDesign *d, TdSym sym);
/* Notes which instances, numbered from `first` on, hold an end. */
void td_vstream_hold(TdVdDesign *d, const TdNetClass *c, const TdVlogPort *p, int32_t first);
/* Connects an end of a module m: what stands before the instance, and its pins. False: the streams
 * are no affine function of the ids, or it is refused. */
bool td_vstream_connect(TdVdDesign *d, const TdNetClass *c, const TdVdBox *b, const TdVlogModule *m,
                        const TdVlogPort *p, TdText *before, TdText *pins);
/* Ties what no task holds; notes the ends outside as ports of the design. */
void td_vstream_tie(TdVdDesign *d);
void td_vstream_ends(TdVdDesign *d, TdVlogModule *out);

/* vblock.c: block streams. What their tokens are; what module m of a class needs of them; false:
 * refused. */
bool td_vblock_shape(TdVdDesign *d, TdVdStream *w);
bool td_vblock_note(TdVdDesign *d, const TdNetClass *c, const TdVlogModule *m);
/* What a scope has beside its FIFO of full buffers: which are free, and their memory. */
void td_vblock_put(TdVdDesign *d, const TdVdStream *w);
/* The number of an end that gives back, among those of its stream in m. */
size_t td_vblock_back(const TdVlogModule *m, const TdVlogPort *p);
/* Connects the memory of stream number `member` of end p, which is scope `at`; ties what that end
 * does not have; all of an end that no task holds. */
void td_vblock_connect(TdVdDesign *d, const TdVdStream *w, const TdVlogModule *m,
                       const TdVlogPort *p, int64_t member, const char *at, TdText *before,
                       TdText *pins);
void td_vblock_tie(TdVdDesign *d, const TdVdStream *w, int end, const char *label);
/* vpace.c: settles which streams are delay lines. The modules of all classes say how they move
 * tokens; of one that may wait with its puts `waits` becomes true. False: cycles are not known
 * before the run, with the reason in *why. */
bool td_vpace_settle(TdVdDesign *d, const TdVlogModule *const *m, bool *waits, TdDiag *why);

#endif
