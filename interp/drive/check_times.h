/* check_times.h - a run of a build held against the timed run of the program: the same values in
 * the same cycles. */
#ifndef TD_DRIVE_CHECK_TIMES_H
#define TD_DRIVE_CHECK_TIMES_H

#include "backends/backend.h"
#include "eval/time/timed.h"

typedef struct TdCheckTimes TdCheckTimes;

/* For p on a device, whose streams of the top are ready when a text says (NULL: always), owned by
 * a; NULL with d filled. */
TdCheckTimes *td_check_times_new(TdArena *a, const TdProg *p, const char *device, const char *ready,
                                 TdDiag *d);
/* The timed run on copies of these arguments. */
bool td_check_times_before(TdCheckTimes *c, const TdCallArg *arg, TdDiag *d);
/* Whether the other run left the same in them, and took as long; else d says where it differs. */
bool td_check_times_after(TdCheckTimes *c, const TdCallArg *arg, const TdTimed *other, TdDiag *d);
void td_check_times_reset(TdCheckTimes *c);

#endif
