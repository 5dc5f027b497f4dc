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
  int64_t depth, beats, latency, lo[TD_MAX_RANK], n[TD_MAX_RANK], count;
  bool *used[2];     /* ends that a task gets from, puts to */
  bool outside, put; /* its other end is a port of the design; put: which tasks put to */
} TdVdStream;

typedef struct TdVdDesign {
  const TdVlogProg *p;
  TdArena *arena;
  TdNet *net;
  TdText out, head;
  TD_VEC(TdVdStream) stream;
  TD_VEC(TdVlogArray) array;
  TD_VEC(const char *) module; /* their names */
  TdDiag *diag;
} TdVdDesign;

/* A box of instances: `count` of them from number `first` on, their ids lo + step * digit. */
typedef struct TdVdBox {
  uint32_t first, count;
  int64_t lo[TD_MAX_RANK], step[TD_MAX_RANK], n[TD_MAX_RANK];
} TdVdBox;

/* vdesign.c: refuses, returning false. */
bool td_vdesign_refuse(TdVdDesign *d, TdLoc loc, const char *what);
/* A number that each instance of a box has, as an expression of its digits D0, D1; false: it is no
 * affine function of them. */
bool td_vdesign_fit(TdVdDesign *d, const TdNetClass *c, const TdVdBox *b, const int64_t *of,
                    const char **out);
/* The number of parameter `sym` of a class. */
size_t td_vdesign_param(const TdNetClass *c, TdSym sym);

/* vstream.c: the scopes of a stream array. */
bool td_vstream_put(TdVdDesign *d, const TdStream *s);
/* Connects an end of a module: what stands before the instance, and its pins. False: the streams
 * are no affine function of the ids, or it is refused. */
bool td_vstream_connect(TdVdDesign *d, const TdNetClass *c, const TdVdBox *b, const TdVlogPort *p,
                        TdText *before, TdText *pins);
/* Ties what no task holds; notes the ends outside as ports of the design. */
void td_vstream_tie(TdVdDesign *d);
void td_vstream_ends(TdVdDesign *d, TdVlogModule *out);

#endif
