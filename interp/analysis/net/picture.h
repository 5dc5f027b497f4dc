/* picture.h - boxes and arrows between them, to be drawn. */
#ifndef TD_ANALYSIS_NET_PICTURE_H
#define TD_ANALYSIS_NET_PICTURE_H

#include "base/base.h"

/* In place of a box: the arrow comes from outside, or goes there. */
#define TD_PICTURE_OUTSIDE UINT32_MAX

typedef struct TdPictureArrow {
  uint32_t from, to; /* boxes */
  const char *label;
} TdPictureArrow;

/* All of it is owned by the arena. */
typedef struct TdPicture {
  TdArena *arena;
  const char *title;
  const char **box;
  size_t n;
  TD_VEC(TdPictureArrow) arrow;
} TdPicture;

/* Graphviz text. */
void td_picture_dot(TdText *out, const TdPicture *p);

#endif
