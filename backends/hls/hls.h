/* hls.h - programs as HLS C++ for Vitis: written, simulated here with g++, synthesised where the
 * tool is. */
#ifndef TD_HLS_H
#define TD_HLS_H

#include "backends/backend.h"

extern const TdBackend td_backend_hls;

/* run.c: a program ready to be simulated, with its state; owned by b->arena. NULL with b->diag
 * filled. It is compiled at its first call. */
typedef struct TdHlsRun TdHlsRun;
TdHlsRun *td_hls_run_new(const TdBuild *b);
/* Calls the top function in a process of its own. The arguments fit the parameters. Tensors that it
 * writes are marked as written. */
bool td_hls_run_call(TdHlsRun *r, const TdCallArg *arg, size_t narg, TdDiag *d);
/* Has states start from their declared values again. */
void td_hls_run_reset(TdHlsRun *r);

/* files.c: the test bench's files: the arguments before a call and, of those written, after it.
 * Owned by b->arena. */
const TdFile *td_hls_files_data(const TdBuild *b, const TdCallArg *before, const TdCallArg *after,
                                size_t *nfile);

/* tool.c: runs Vitis HLS in a folder that holds the files of a build, if it is on PATH and b
 * asks for it. *said is a sentence about what was done, or what to do. *report are lines of
 * "path value", NULL where there is none. False with b->diag filled: it failed. */
bool td_hls_tool_run(const TdBuild *b, const char *folder, const char **said, const char **report);
/* The lines of the report that a tool left in such a folder; NULL: none, or it cannot be read. */
const char *td_hls_tool_report(TdArena *a, const char *folder);

#endif
