/* alarm.c - an alarm is a thread that waits to be stopped, up to its time. */
#include "base/alarm.h"

#include <signal.h>

#define FOREVER 1e9 /* seconds; what is longer would not fit into a time */

double td_alarm_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *wait_for_end(void *alarm) {
  TdAlarm *a = alarm;
  int late = 0;
  pthread_mutex_lock(&a->lock);
  while (!a->stopped && !late) late = pthread_cond_timedwait(&a->wake, &a->lock, &a->end);
  if (!a->stopped) a->ring(a->ud);
  pthread_mutex_unlock(&a->lock);
  return NULL;
}

/* The time in so many seconds. */
static struct timespec time_in(double seconds) {
  struct timespec t;
  if (!(seconds < FOREVER)) seconds = FOREVER;
  clock_gettime(CLOCK_MONOTONIC, &t);
  time_t whole = (time_t)seconds;
  t.tv_sec += whole;
  t.tv_nsec += (long)((seconds - (double)whole) * 1e9);
  if (t.tv_nsec < 1000000000) return t;
  t.tv_sec++;
  t.tv_nsec -= 1000000000;
  return t;
}

static void init_wake(TdAlarm *a) {
  pthread_condattr_t attr;
  pthread_condattr_init(&attr);
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  pthread_cond_init(&a->wake, &attr);
  pthread_condattr_destroy(&attr);
}

static void destroy(TdAlarm *a) {
  pthread_cond_destroy(&a->wake);
  pthread_mutex_destroy(&a->lock);
}

bool td_alarm_start(TdAlarm *a, double seconds, void (*ring)(void *ud), void *ud) {
  sigset_t all, before;
  *a = (TdAlarm){.end = time_in(seconds), .ring = ring, .ud = ud};
  pthread_mutex_init(&a->lock, NULL);
  init_wake(a);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = pthread_create(&a->thread, NULL, wait_for_end, a) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!started) destroy(a);
  return started;
}

void td_alarm_stop(TdAlarm *a) {
  pthread_mutex_lock(&a->lock);
  a->stopped = true;
  pthread_cond_signal(&a->wake);
  pthread_mutex_unlock(&a->lock);
  pthread_join(a->thread, NULL);
  destroy(a);
}
