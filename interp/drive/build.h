/* build.h - the pipeline in one function: a program checked, emitted for a target, written, run. */
#ifndef TD_DRIVE_BUILD_H
#define TD_DRIVE_BUILD_H

#include "backends/backend.h"
#include "eval/time/timed.h"

/* A program built for a target. */
typedef struct TdModule TdModule;

/* The backends that there are, NULL-ended; the one of a name, or NULL. */
const TdBackend *const *td_build_targets(void);
const TdBackend *td_build_find(const char *name);

/* p built for x with the values of x's options (td_backend_option) and the memory (or NULL) of its
 * runs with a clock, owned by a, which p must outlive; NULL with d filled. */
TdModule *td_build_new(TdArena *a, const TdProg *p, const TdBackend *x, const char *const *value,
                       const struct TdOffchip *memory, TdDiag *d);
const TdBackend *td_build_target(const TdModule *m);
/* The steps that the build added to the program, as Lua that a schedule logs; "" for none. */
const char *td_build_steps(const TdModule *m);
/* The files, the main one first. */
const TdFile *td_build_files(const TdModule *m, size_t *n);

/* Whether a test bench still lacks arguments; gives it these, and what a run here makes of them:
 * false with d filled when that fails. Or has the files do without. */
bool td_build_wants_data(const TdModule *m);
bool td_build_set_data(TdModule *m, const TdCallArg *arg, TdDiag *d);
bool td_build_drop_data(TdModule *m, TdDiag *d);

/* Writes the files below a folder, which is made, each whole or not at all, and runs the target's
 * tool if it is there. *said tells what was done and what is left to do, owned by the module. False
 * with d filled. */
bool td_build_write(TdModule *m, const char *folder, const char **said, TdDiag *d);
/* What the tool, or the last run here, reported, as lines of "path value"; NULL: nothing. */
const char *td_build_report(const TdModule *m);
/* The same lines of what a tool left in a folder that was written before; NULL: nothing. */
const char *td_build_read_report(TdArena *a, const char *folder);
/* What the last run told about time; NULL: none had a clock. It stays until the next run. */
const TdTimed *td_build_timed(const TdModule *m);
/* The same without a call, of targets that have times without data; NULL with d filled. */
const TdTimed *td_build_simulate(TdModule *m, TdDiag *d);

/* The question of a name that this build answers; NULL: none. Asks it (TdQuestion). */
const TdQuestion *td_build_question(const TdModule *m, const char *name);
bool td_build_ask(const TdModule *m, const TdQuestion *q, const char *const *value,
                  TdAnswer *answer, TdDiag *d);

/* Runs it on arguments that fit the parameters; states last from call to call until reset. */
bool td_build_call(TdModule *m, const TdCallArg *arg, TdDiag *d);
void td_build_reset(TdModule *m);

#endif
