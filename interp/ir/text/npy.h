/* npy.h - tensors as NumPy's .npy files: format 1.0 and 2.0 are read, 1.0 is written.
 *
 * An element is stored as the NumPy type of its size: i8 .. u64, f16, f32, f64 and bool as
 * themselves; integers of other widths, fixed point and bf16 as the integer that holds their word;
 * index as int64. Files are row-major and little-endian. What is refused, and by which code:
 * npy-open (cannot be opened), npy-file (no regular file), npy-magic, npy-version, npy-header
 * (malformed, or longer than 64 KiB), npy-order (Fortran order), npy-endian, npy-dtype (structured,
 * object and other types), npy-shape (no dimension, or too many), npy-truncated, npy-extra (bytes
 * behind the data), npy-type (not what was asked for), npy-range (a word that is no value of the
 * type asked for), npy-write (no room, no right), too-wide (more than 64 bits), uninitialised. */
#ifndef TD_IR_TEXT_NPY_H
#define TD_IR_TEXT_NPY_H

#include "ir/tensor.h"

/* The tensor in file path, owned by a, or NULL with d filled. want is NULL, a scalar type that
 * elements must have, or a tensor type whose constant extents must be the file's too. */
TdTensor *td_npy_read(TdSession *s, TdArena *a, const char *path, const TdType *want, TdDiag *d);

/* Writes t. A regular file appears whole or stays as it was; returns false with d filled. */
bool td_npy_write(TdSession *s, const char *path, const TdTensor *t, TdDiag *d);

#endif
