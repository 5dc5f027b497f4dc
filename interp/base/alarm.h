/* alarm.h - a clock beside the work: calls when a time is up. */
#ifndef TD_ALARM_H
#define TD_ALARM_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/* Owned by the caller, who leaves it in its place between start and stop. */
typedef struct TdAlarm {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  struct timespec end; /* when it rings, on CLOCK_MONOTONIC */
  bool stopped;
  void (*ring)(void *ud);
  void *ud;
} TdAlarm;

/* Seconds of a clock that only goes forward. */
double td_alarm_now(void);

/* Has ring(ud) called in so many seconds, unless the alarm is stopped before, on a thread of its
 * own that no signal reaches. False: no thread is to be had, and nothing is to be stopped. */
bool td_alarm_start(TdAlarm *a, double seconds, void (*ring)(void *ud), void *ud);
/* Ends it: `ring` does not run any more afterwards. */
void td_alarm_stop(TdAlarm *a);

#endif
