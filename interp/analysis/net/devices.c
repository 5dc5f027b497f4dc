/* devices.c - the table of devices. */
#include "analysis/net/devices.h"

#include <string.h>

const TdTileInfo td_tiles[TD_TILES] = {
#define TD_TILE(id, bytes, s2mm, mm2s, bds, locks, dims, wrap, stride, length, queue)              \
  {#id, bytes, s2mm, mm2s, bds, locks, dims, wrap, stride, length, queue},
#include "analysis/net/devices.def"
};

static const TdDevice devices[] = {
#define TD_DEVICE(id, name, number, cols, rows, generation) {name, number, cols, rows, generation},
#include "analysis/net/devices.def"
};

const TdDevice *td_device_find(const char *name) {
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
    if (strcmp(devices[i].name, name) == 0) return &devices[i];
  return NULL;
}

TdTileKind td_device_row(int64_t row) {
  return row == 0 ? TD_TILE_SHIM : row == 1 ? TD_TILE_MEM : TD_TILE_CORE;
}
