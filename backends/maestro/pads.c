/* pads.c - what whole tiles touch beyond the last iteration of a loop that is no multiple of the
 * array. Iterations too many along k must multiply zeros, those along m and n must store nothing
 * that counts: true where an index leaves its tensor in all of them. Operands are cut down to what
 * the nest touches where that makes it true. */
#include "backends/maestro/job.h"

/* The least index of dimension k of an operand in the first iteration behind a loop's last. */
static int64_t least_behind(const TdMaestroJob *j, const TdMaestroOperand *x, int k, int loop) {
  int64_t least = x->start[k] + x->coef[k][loop] * j->nest.loop[loop].extent;
  for (int l = 0; l < j->nest.nloop; l++)
    if (l != loop && x->coef[k][l] < 0)
      least += x->coef[k][l] * (td_maestro_job_trips(j, l) * j->tile[l] - 1);
  return least;
}

/* Whether every iteration behind a loop's last is outside of the operand. */
static bool leaves(const TdMaestroJob *j, const TdMaestroOperand *x, int loop) {
  for (int k = 0; k < x->rank; k++)
    if (x->coef[k][loop] > 0 && least_behind(j, x, k, loop) >= x->extent[k]) return true;
  return false;
}

/* The loop across the array whose pads would count; -1: there is none. */
static int find_loop(const TdMaestroJob *j) {
  const TdMaestroNest *n = &j->nest;
  for (int i = 0; i < 6; i++) {
    int which = i / 2, l = i % 2 ? j->outer[which] : j->spatial[which];
    if (l < 0 || n->loop[l].extent % j->tile[l] == 0) continue;
    bool pure = which == 2 ? leaves(j, &n->factor[0], l) || leaves(j, &n->factor[1], l)
                           : leaves(j, &n->result, l);
    if (!pure) return l;
  }
  return -1;
}

bool td_maestro_pads_trim(TdMaestroJob *j) {
  TdMaestroPart all = {.lo = {0}};
  if (j->trimmed) return false;
  for (int l = 0; l < j->nest.nloop; l++) all.n[l] = j->nest.loop[l].extent;
  td_maestro_nest_cut(&j->nest, &all);
  return j->trimmed = true;
}

bool td_maestro_pads_settle(TdMaestroJob *j, TdDiag *d) {
  TdMaestroNest *n = &j->nest;
  if (find_loop(j) < 0) return true;
  td_maestro_pads_trim(j);
  int l = find_loop(j);
  if (l < 0) return true;
  int which = 0;
  while (j->spatial[which] != l && j->outer[which] != l) which++;
  td_diag_set(d, TD_UNSUPPORTED, "maestro-pads", n->loop[l].loc,
              "loop '%s' runs %lld times and %lld go across the array: iterations beyond its last "
              "%s that count",
              n->loop[l].name, (long long)n->loop[l].extent, (long long)j->tile[l],
              which == 2 ? "multiply elements" : "store results over others");
  td_diag_help(d, "another loop across %c, or %lld iterations", "mnk"[which],
               (long long)(td_maestro_job_trips(j, l) * j->tile[l]));
  return false;
}
