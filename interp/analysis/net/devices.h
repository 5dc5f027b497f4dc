/* devices.h - arrays of tiles that designs are placed on: devices.def as structs. */
#ifndef TD_ANALYSIS_NET_DEVICES_H
#define TD_ANALYSIS_NET_DEVICES_H

#include "base/base.h"

typedef enum {
#define TD_TILE(id, bytes, s2mm, mm2s, bds, locks, dims, wrap, stride, length, queue, ...)         \
  TD_TILE_##id,
#include "analysis/net/devices.def"
  TD_TILES
} TdTileKind;

/* From a tile to its neighbours. */
typedef enum { TD_WAY_NORTH, TD_WAY_SOUTH, TD_WAY_EAST, TD_WAY_WEST, TD_WAYS } TdWay;

typedef struct TdTileInfo {
  const char *name;
  int64_t bytes;
  int s2mm, mm2s, bds, locks, dims;
  int64_t wrap, stride, length;
  int queue;
  int ports[TD_WAYS]; /* of its switch */
} TdTileInfo;
extern const TdTileInfo td_tiles[TD_TILES];

typedef struct TdDevice {
  const char *name;
  int number, cols, rows, generation;
} TdDevice;
/* The device of a name, or NULL; all names as one text, '|' between them. */
const TdDevice *td_device_find(const char *name);
/* The device of a number in the text, or NULL. */
const TdDevice *td_device_number(int number);
#define TD_DEVICE_NAMES "npu1|npu1_1col|npu1_2col|npu1_3col|npu2"
/* A kind of multiplication that cores of a generation have, by the names of its types. */
typedef struct TdMac {
  int generation;
  const char *a, *b, *c;
  int macs, r, s, t;
} TdMac;
enum {
#define TD_MAC(id, generation, a, b, c, macs, r, s, t) TD_MAC_##id,
#include "analysis/net/devices.def"
  TD_MACS
};
extern const TdMac td_macs[TD_MACS];
/* The row of factors a and b, in either order; or NULL. */
const TdMac *td_device_mac(int generation, const char *a, const char *b);

/* The model of time. */
typedef enum {
#define TD_MODEL(id, value, unit, what) TD_MODEL_##id,
#include "analysis/net/devices.def"
  TD_MODELS
} TdModelFigure;
typedef struct TdModelInfo {
  const char *name;
  double value;
  const char *unit, *what;
} TdModelInfo;
extern const TdModelInfo td_model[TD_MODELS];

/* What the tiles of a row are. */
TdTileKind td_device_row(int64_t row);

#endif
