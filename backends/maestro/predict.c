/* predict.c - the cycles of a job without running it: start + tiles * (steps + lost) + drain. What
 * a tile loses to conflicts depends on where operands lie, and is the same for all tiles behind the
 * first: runs of few tiles tell it. */
#include "backends/maestro/maestro.h"

enum { WARM = 8, PERIOD = 16 };

/* A run of the first n tiles. */
static bool run_tiles(const TdMaestroRun *r, int64_t n, TdMaestroReport *out, TdDiag *d) {
  TdMaestroRun part = *r;
  part.tiles = n;
  return td_maestro_model_run(&part, out, d);
}

bool td_maestro_predict(const TdMaestroRun *r, TdMaestroLaw *out, TdDiag *d) {
  TdMaestroReport a, b;
  int64_t few = WARM, many = WARM + PERIOD, tiles = r->work.tiles;
  *out = (TdMaestroLaw){.exact = r->work.path || tiles <= many};
  if (out->exact) few = many = tiles = 0;
  if (!run_tiles(r, many, &b, d)) return false;
  double tile = 0;
  if (!out->exact) {
    if (!run_tiles(r, few, &a, d)) return false;
    tile = (double)(b.cycles - a.cycles) / PERIOD;
  }
  out->window = (b.fires ? (double)(b.last - b.first + 1) : 0) + tile * (double)(tiles - many);
  out->cycles = (double)b.cycles + tile * (double)(tiles - many);
  if (r->work.tiles) out->lost = out->window / (double)r->work.tiles - (double)r->work.steps;
  return true;
}
