/* form.h - a design in NPU form, at its sizes: instances, the streams between them, what each does
 * to them block by block. Host tasks copy between arguments and blocks, tasks in row 1 between
 * blocks, core tasks touch no argument. docs/npu.md. */
#ifndef TD_NPU_FORM_H
#define TD_NPU_FORM_H

#include "analysis/net/devices.h"
#include "ir/desc.h"
#include "ir/ir.h"

#define TD_NPU_NONE UINT32_MAX

typedef enum { TD_NPU_HOST, TD_NPU_MEM, TD_NPU_CORE } TdNpuRole;

/* One stream of blocks. */
typedef struct TdNpuChan {
  TdSym sym;
  TdLoc loc;
  int64_t ordinal; /* in its array */
  const char *name;
  const TdType *type;   /* of the token, with constant extents */
  int64_t count, depth; /* elements of a token; tokens */
  uint32_t from, to;    /* instances */
  int64_t puts, gets;   /* tokens of a run */
} TdNpuChan;

/* What an instance does to a stream, in order. FREE: a block that was got goes back. */
typedef enum { TD_NPU_SLOT, TD_NPU_PUT, TD_NPU_GET, TD_NPU_FREE } TdNpuAct;
typedef struct TdNpuEvent {
  uint8_t act;
  uint32_t chan;
} TdNpuEvent;

/* A block that a host task moves, from (to) argument `param` of the design: its elements, in order,
 * are the argument's at `at`, moved by `shift`. */
typedef struct TdNpuMove {
  uint32_t chan, param;
  const TdDesc *at;
  int64_t shift;
} TdNpuMove;

/* A block that a task in row 1 puts: element i is element map[i] % TD_NPU_PART of token `token[p]`
 * of stream from[p], where p is map[i] / TD_NPU_PART. */
#define TD_NPU_PART ((int64_t)1 << 40)
typedef struct TdNpuFill {
  uint32_t chan;
  size_t n;
  const uint32_t *from;
  const int64_t *token, *map;
} TdNpuFill;

/* A scalar argument that a core uses: a runtime parameter, a word of 32 bits in its memory. Its
 * uses are loads of element 0 of `sym`. */
typedef struct TdNpuScalar {
  TdSym sym;
  size_t param; /* of the design */
  const TdType *type;
} TdNpuScalar;

typedef struct TdNpuInst {
  const TdRun *run;
  const TdUnit *kernel;
  const TdStmt *body; /* at the sizes and ids of the instance */
  const char *name;
  int64_t id[TD_MAX_RANK];
  TdNpuRole role;
  bool placed;
  int64_t col, row;
  TD_VEC(TdNpuEvent) event;
  TD_VEC(TdNpuMove) move;     /* of a host task */
  TD_VEC(TdNpuFill) fill;     /* of one in row 1 */
  TD_VEC(TdNpuScalar) scalar; /* of a core */
} TdNpuInst;

typedef struct TdNpuForm {
  TdArena *arena;
  TdStore *store; /* of statements at sizes and ids */
  const TdProg *prog;
  const TdUnit *design;
  TdDiag *diag;
  TD_VEC(TdNpuChan) chan;
  TD_VEC(TdNpuInst) inst;
} TdNpuForm;

/* blocks.c: p, whose streams of tensors are streams of blocks. */
const TdProg *td_npu_blocks(TdArena *a, const TdProg *p);

/* The design that is p's root, owned by a; NULL with d filled: it is not in NPU form, or its marks
 * name no tiles of the device. */
TdNpuForm *td_npu_form_of(TdArena *a, const TdProg *p, const TdDevice *device, TdDiag *d);
/* place.c: whether marks name tiles that the device has, and cores that no other task has. False
 * with the diagnostic filled. */
bool td_npu_place_check(const TdNpuForm *f, const TdDevice *device);

/* walk.c: does what instance `inst` of the form does, as far as streams and copies go. False with
 * the diagnostic filled. */
bool td_npu_walk(TdNpuForm *f, uint32_t inst);

/* factor.c: lets links arrange the elements of blocks, where they can, for the transfers. */
void td_npu_factor(TdNpuForm *f);
/* Where element i of a fill lies in the blocks that it is made of, one behind the other. */
int64_t td_npu_fill_place(const TdNpuForm *f, const TdNpuFill *x, int64_t i);

/* The value of an index expression or condition where loops have the values of `at` (symbol ->
 * value); false: data decides. */
bool td_npu_value(const TdNpuForm *f, const TdMap *at, const TdExpr *e, int64_t *v);
/* The number of the stream that an expression of it names, or TD_NPU_NONE with the diagnostic
 * filled. */
uint32_t td_npu_chan(const TdNpuForm *f, const TdMap *at, const TdExpr *e, TdLoc loc);
/* Whether s, or something below, moves tokens. */
bool td_npu_moves(const TdNpuForm *f, const TdStmt *s);

#endif
