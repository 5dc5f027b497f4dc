/* devices.c - the table of devices. */
#include "analysis/net/devices.h"

#include <string.h>

const TdTileInfo td_tiles[TD_TILES] = {
#define TD_TILE(id, bytes, s2mm, mm2s, bds, locks, dims, wrap, stride, length, queue, ...)         \
  {#id, bytes, s2mm, mm2s, bds, locks, dims, wrap, stride, length, queue, {__VA_ARGS__}},
#include "analysis/net/devices.def"
};

static const TdDevice devices[] = {
#define TD_DEVICE(id, name, number, cols, rows, generation) {name, number, cols, rows, generation},
#include "analysis/net/devices.def"
};

const TdMac td_macs[TD_MACS] = {
#define TD_MAC(id, generation, a, b, c, macs, r, s, t) {generation, a, b, c, macs, r, s, t},
#include "analysis/net/devices.def"
};

const TdModelInfo td_model[TD_MODELS] = {
#define TD_MODEL(id, value, unit, what) {#id, value, unit, what},
#include "analysis/net/devices.def"
};

const TdMac *td_device_mac(int generation, const char *a, const char *b) {
  for (size_t i = 0; i < TD_MACS; i++) {
    const TdMac *x = &td_macs[i];
    bool same = strcmp(x->a, a) == 0 && strcmp(x->b, b) == 0;
    bool turned = strcmp(x->a, b) == 0 && strcmp(x->b, a) == 0;
    if (x->generation == generation && (same || turned)) return x;
  }
  return NULL;
}

const TdDevice *td_device_find(const char *name) {
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
    if (strcmp(devices[i].name, name) == 0) return &devices[i];
  return NULL;
}

const TdDevice *td_device_number(int number) {
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
    if (devices[i].number == number) return &devices[i];
  return NULL;
}

TdTileKind td_device_row(int64_t row) {
  return row == 0 ? TD_TILE_SHIM : row == 1 ? TD_TILE_MEM : TD_TILE_CORE;
}
