/* design.h - a design from its builder's source and what the builder did: arguments, streams,
 * tasks. */
#ifndef TD_DESIGN_H
#define TD_DESIGN_H

#include "frontend/capture.h"

/* d:arg(T), or an argument that a task's parameter brought up. */
typedef struct TdDesignArg {
  const char *name;
  const TdType *type;
  const TdAstExpr *source; /* the type's text, or NULL */
  TdLoc loc;
} TdDesignArg;

/* d:stream(T, {extents.., depth =, block =}). */
typedef struct TdDesignStream {
  const char *name;
  const TdType *type;       /* the port type, constant extents */
  const TdAstExpr *token;   /* text of the token type, or NULL */
  const TdAstExpr *options; /* the table constructor, or NULL */
  int64_t depth;
  const TdExpr *of_sizes; /* the depth, where sizes decide it; or NULL */
  TdLoc loc;
} TdDesignStream;

/* A parameter of a task: bound to argument `arg` (index into the design's arguments), perhaps with
 * a layout. */
typedef struct TdDesignBind {
  const char *name;
  size_t arg;
  const char *layout;
  TdLoc loc;
} TdDesignBind;

/* d.name = tide.task { map =, parameters, function }. */
typedef struct TdDesignTask {
  const char *name;
  uintptr_t fn;
  const TdAst *ast;
  const TdAstFn *source;
  const TdAstExpr *table; /* the constructor, or NULL */
  int rank;
  int64_t map[TD_MAX_RANK];
  const TdDesignBind *bind;
  size_t nbind;
  TdLoc loc;
} TdDesignTask;

typedef struct TdDesignSpec {
  TdSession *session;
  const TdHost *host; /* its streams are numbered as in `stream` */
  const char *name;
  uintptr_t builder;
  const TdAst *ast;
  const TdAstFn *source;
  const TdDesignArg *arg;
  size_t narg;
  const TdDesignStream *stream;
  size_t nstream;
  const TdDesignTask *task;
  size_t ntask;
} TdDesignSpec;

/* Captures the design and its tasks' kernels into units; NULL with d filled on failure. */
const TdUnit *td_design_capture(const TdDesignSpec *s, TdUnits *units, TdDiag *d);

#endif
