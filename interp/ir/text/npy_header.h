/* npy_header.h - the header of a .npy file: a Python dictionary of literals, and its dtypes. */
#ifndef TD_IR_TEXT_NPY_HEADER_H
#define TD_IR_TEXT_NPY_HEADER_H

#include "ir/type.h"

/* What a header says. */
typedef struct TdNpyHeader {
  char dtype[4]; /* kind and bytes, without the order: "i2", "f8", "b1" */
  int rank;
  int64_t extent[TD_MAX_RANK];
} TdNpyHeader;

/* Reads the n bytes of a dictionary; false with d filled when it is malformed or asks for what is
 * not supported. */
bool td_npy_header_parse(const char *text, size_t n, TdNpyHeader *h, TdDiag *d);
/* The dictionary of a tensor type of constant extents whose dtype is known. */
void td_npy_header_print(TdText *out, const TdType *t);

/* The dtype in which elements of scalar type t are stored ("i2"), or NULL beyond 64 bits. */
const char *td_npy_header_dtype(const TdType *t);
/* The type that a dtype means by itself, or NULL. */
const TdType *td_npy_header_type(TdSession *s, const char *dtype);

#endif
