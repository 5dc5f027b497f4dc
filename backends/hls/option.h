/* option.h - the options of a build, in the order of their table. */
#ifndef TD_HLS_OPTION_H
#define TD_HLS_OPTION_H

#include "backends/hls/hls.h"
#include "backends/hls/text.h"

enum {
  TD_HLS_TOP,
  TD_HLS_DEVICE,
  TD_HLS_PART,
  TD_HLS_CLOCK,
  TD_HLS_INTERFACE,
  TD_HLS_STYLE,
  TD_HLS_FLOW,
  TD_HLS_TESTBENCH,
  TD_HLS_TOOL,
  TD_HLS_SECONDS,
  TD_HLS_MATH,
  TD_HLS_OPTIONS
};

/* hls.c: the value of an option; the text of a build. */
const char *td_hls_option(const TdBuild *b, int option);
const TdHlsText *td_hls_text(const TdBuild *b);

/* files.c: what `emit` returns. */
const TdFile *td_hls_files_of(const TdBuild *b, size_t *nfile);
/* The folder of Tide's own headers, or NULL with d filled. Owned by a. */
const char *td_hls_files_headers(TdArena *a, TdDiag *d);
/* kernel.h, kernel.cpp and a main as one text; it reads arguments and states from the folder that
 * it is given, calls the top function, and writes there what they are then. */
const char *td_hls_files_program(TdArena *a, const TdHlsText *t);

/* bench.c: main: calls the top function on what is read from a folder, and compares what it
 * wrote with what is there; or, `again`, keeps it and the states there. */
void td_hls_bench_put(TdText *out, const TdHlsText *t, bool again);

/* `name`, with a letter more where a parameter is called so; whether one has elements. */
const char *td_hls_bench_apart(TdArena *a, const TdHlsText *t, const char *name);
bool td_hls_bench_is_there(const TdHlsParam *p);

/* host.c: a main that does the same on a card by XRT. Whether it can: array arguments are all
 * buses, scalars have at most 64 bits. */
const char *td_hls_host_of(TdArena *a, const TdHlsText *t);
bool td_hls_host_can(const TdHlsText *t);

/* data.c: an element of type t, or all of a tensor, as tide_data.h reads and writes them. */
void td_hls_data_put_tensor(TdText *out, const TdTensor *x);
void td_hls_data_put_scalar(TdText *out, const TdType *t, uint64_t v);
/* Takes back the elements; false when there are not as many. */
bool td_hls_data_take(TdTensor *x, const char *text);

/* report.c: the XML of a synthesis as lines of "path value". */
const char *td_hls_report_of(TdArena *a, const char *xml, const char *source);

#endif
