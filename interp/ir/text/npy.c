/* npy.c - reading and writing .npy files. */
#include "ir/text/npy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "ir/text/npy_header.h"

#define MAGIC "\x93NUMPY"
#define HEADER_MAX 65536u
#define ALIGNMENT 64u
#define TEMPORARIES 100
enum { PREFIX = 10 }; /* magic, version and length in format 1.0 */

/* A file under way. What is not NULL when its arena goes is closed, and removed. */
typedef struct File {
  FILE *f;
  const char *temporary;
} File;

static void abandon(void *p) {
  File *file = p;
  if (file->f) fclose(file->f);
  if (file->temporary) remove(file->temporary);
}

/* A file owned by scratch arena a, not open yet. */
static File *file_new(TdArena *a) {
  File *file = TD_NEW(a, File);
  td_arena_defer(a, abandon, file);
  return file;
}

/* Fills d with a usage error about a file. */
static bool refuse(TdDiag *d, const char *code, const char *path, const char *why) {
  return td_diag_set(d, TD_USAGE, code, (TdLoc){0}, "%s: %s", path, why);
}

/* The n bytes at p as a little-endian number. */
static uint64_t little(const unsigned char *p, size_t n) {
  uint64_t v = 0;
  for (size_t i = 0; i < n; i++) v |= (uint64_t)p[i] << 8 * i;
  return v;
}

static void put_little(unsigned char *p, size_t n, uint64_t v) {
  for (size_t i = 0; i < n; i++) p[i] = (unsigned char)(v >> 8 * i);
}

/* The element of n bytes at p, in the order of this machine, as a number; and back. */
static uint64_t host(const unsigned char *p, size_t n) {
  uint16_t h;
  uint32_t w;
  uint64_t d;
  switch (n) {
  case 1: return *p;
  case 2: return memcpy(&h, p, n), h;
  case 4: return memcpy(&w, p, n), w;
  default: return memcpy(&d, p, n), d;
  }
}

static void put_host(unsigned char *p, size_t n, uint64_t v) {
  uint16_t h = (uint16_t)v;
  uint32_t w = (uint32_t)v;
  switch (n) {
  case 1: *p = (unsigned char)v; break;
  case 2: memcpy(p, &h, n); break;
  case 4: memcpy(p, &w, n); break;
  default: memcpy(p, &v, n);
  }
}

/* Opens a regular file and tells its size. */
static bool open_file(File *file, const char *path, uint64_t *size, TdDiag *d) {
  struct stat st;
  if (stat(path, &st) != 0) return refuse(d, "npy-open", path, strerror(errno));
  if (S_ISDIR(st.st_mode)) return refuse(d, "npy-file", path, "is a directory");
  if (!S_ISREG(st.st_mode)) return refuse(d, "npy-file", path, "is not a regular file");
  file->f = fopen(path, "rb");
  if (!file->f) return refuse(d, "npy-open", path, strerror(errno));
  *size = (uint64_t)st.st_size;
  return true;
}

/* Reads what stands before the data; *offset is where the data begin. */
static bool read_header(TdArena *scratch, FILE *f, const char *path, TdNpyHeader *h,
                        uint64_t *offset, TdDiag *d) {
  unsigned char prefix[PREFIX + 2];
  if (fread(prefix, 1, PREFIX, f) != PREFIX || memcmp(prefix, MAGIC, 6) != 0)
    return refuse(d, "npy-magic", path, "is no .npy file");
  if ((prefix[6] != 1 && prefix[6] != 2) || prefix[7] != 0)
    return refuse(d, "npy-version", path, "is not of .npy format 1.0 or 2.0");
  size_t more = prefix[6] == 1 ? 0 : 2;
  if (fread(prefix + PREFIX, 1, more, f) != more)
    return refuse(d, "npy-truncated", path, "ends in its header");
  size_t n = (size_t)little(prefix + 8, 2 + more);
  if (n > HEADER_MAX) return refuse(d, "npy-header", path, "has a header of more than 64 KiB");
  char *text = td_arena_alloc(scratch, n);
  if (fread(text, 1, n, f) != n) return refuse(d, "npy-truncated", path, "ends in its header");
  *offset = PREFIX + more + n;
  TdDiag why = {.arena = d->arena};
  return td_npy_header_parse(text, n, h, &why) || refuse(d, why.code, path, why.message);
}

/* Bytes of the data, or false when there are more than any file has. */
static bool data_bytes(const TdNpyHeader *h, size_t bytes, uint64_t *n) {
  bool empty = false;
  *n = bytes;
  for (int k = 0; k < h->rank; k++) empty |= h->extent[k] == 0;
  for (int k = 0; k < h->rank && !empty; k++) {
    if ((uint64_t)h->extent[k] > (uint64_t)INT64_MAX / *n) return false;
    *n *= (uint64_t)h->extent[k];
  }
  if (empty) *n = 0;
  return true;
}

/* The type of the tensor in a file of this header, or NULL when it is not what is wanted. */
static const TdType *type_of(TdSession *s, const TdNpyHeader *h, const TdType *want,
                             const char *path, TdDiag *d) {
  const TdType *e = want ? td_type_scalar(want) : td_npy_header_type(s, h->dtype);
  if (h->rank == 0)
    return refuse(d, "npy-shape", path, "has no dimension: save x.reshape(1)"), NULL;
  const TdType *t = td_type_tensor_of(s, e, h->rank, h->extent);
  const char *dtype = td_npy_header_dtype(e);
  bool same = dtype && strcmp(dtype, h->dtype) == 0;
  bool shaped = want && want->kind == TD_T_TENSOR;
  if (shaped) same &= want->rank == h->rank;
  for (int k = 0; same && shaped && k < h->rank; k++) {
    int64_t extent;
    if (td_type_extent(want, k, &extent)) same = extent == h->extent[k];
  }
  if (same) return t;
  const TdType *has = td_type_reshape(s, t, td_npy_header_type(s, h->dtype));
  td_diag_set(d, TD_USAGE, "npy-type", (TdLoc){0}, "%s: holds %s, not %s", path,
              td_type_str(d->arena, has), td_type_str(d->arena, want));
  return NULL;
}

/* Whether the element at p, in the order of this machine, is the one that holds its value. */
static bool is_canonical(const TdType *e, const unsigned char *p, size_t bytes) {
  unsigned char again[8];
  if (e->kind == TD_T_FLOAT) return true;
  td_num_store(e, again, td_num_load(e, p));
  return memcmp(p, again, bytes) == 0;
}

/* Turns the bytes of the file, which t holds, to the order of this machine, and checks them. */
static bool settle(TdCtx *c, const TdTensor *t, const char *path, TdDiag *d) {
  const TdType *e = t->type->elem;
  size_t bytes = td_type_bytes(e);
  unsigned char *p = t->data;
  bool full = e->w == 8 * bytes;
  for (int64_t i = 0, n = td_tensor_count(t); i < n; i++, p += bytes) {
    td_ctx_tick(c, 1);
    put_host(p, bytes, little(p, bytes));
    if (!full && !is_canonical(e, p, bytes))
      return td_diag_set(d, TD_USAGE, "npy-range", (TdLoc){0}, "%s: element %lld does not fit %s",
                         path, (long long)i, td_type_str(d->arena, e));
  }
  return true;
}

/* The tensor in a file that is open for as long as scratch lives. */
static TdTensor *read_file(TdSession *s, TdArena *scratch, TdArena *a, const char *path,
                           const TdType *want, TdDiag *d) {
  File *file = file_new(scratch);
  TdNpyHeader h;
  uint64_t size = 0, offset = 0, bytes;
  if (!open_file(file, path, &size, d) || !read_header(scratch, file->f, path, &h, &offset, d))
    return NULL;
  const TdType *t = type_of(s, &h, want, path, d);
  if (!t) return NULL;
  if (!data_bytes(&h, td_type_bytes(t), &bytes) || size < offset || size - offset < bytes)
    return refuse(d, "npy-truncated", path, "ends before its data do"), NULL;
  if (size - offset > bytes) return refuse(d, "npy-extra", path, "has bytes behind its data"), NULL;
  TdTensor *x = td_tensor_new(a, t, false);
  if (fread(x->data, 1, (size_t)bytes, file->f) != bytes)
    return refuse(d, "npy-truncated", path, "ends before its data do"), NULL;
  return settle(s->ctx, x, path, d) ? x : NULL;
}

TdTensor *td_npy_read(TdSession *s, TdArena *a, const char *path, const TdType *want, TdDiag *d) {
  TdArena *scratch = td_arena_scratch(s->ctx);
  TdTensor *t = read_file(s, scratch, a, path, want, d);
  td_arena_free(scratch);
  return t;
}

/* Opens path itself when it is a device, else a new file beside it. */
static bool create(TdArena *scratch, File *file, const char *path, TdDiag *d) {
  struct stat st;
  bool exists = stat(path, &st) == 0;
  if (exists && S_ISDIR(st.st_mode)) return refuse(d, "npy-file", path, "is a directory");
  bool direct = exists && !S_ISREG(st.st_mode);
  if (direct) file->f = fopen(path, "wb");
  for (int k = 0; !direct && !file->f && k < TEMPORARIES; k++) {
    const char *name = td_text_fmt(scratch, "%s.tmp%d", path, k);
    file->f = fopen(name, "wbx");
    if (file->f) file->temporary = name;
    if (!file->f && errno != EEXIST) break;
  }
  return file->f || refuse(d, "npy-write", path, strerror(errno));
}

/* Writes everything before the data. */
static bool write_header(TdArena *scratch, FILE *f, const TdType *t) {
  TdText dict = td_text_new(scratch);
  td_npy_header_print(&dict, t);
  while ((PREFIX + dict.n + 1) % ALIGNMENT) td_text_putc(&dict, ' ');
  td_text_putc(&dict, '\n');
  unsigned char prefix[PREFIX] = MAGIC "\x01";
  put_little(prefix + 8, 2, dict.n);
  return fwrite(prefix, 1, PREFIX, f) == PREFIX && fwrite(dict.at, 1, dict.n, f) == dict.n;
}

/* Writes the elements of t in row-major order. */
static bool write_data(TdCtx *c, FILE *f, const TdTensor *t) {
  size_t bytes = td_type_bytes(t->type), n = 0;
  int64_t index[TD_MAX_RANK] = {0};
  unsigned char buffer[16384];
  if (!td_tensor_count(t)) return true;
  do {
    int64_t place = 0;
    for (int d = 0; d < td_tensor_rank(t); d++) place += index[d] * t->stride[d];
    put_little(buffer + n, bytes, host(t->data + (ptrdiff_t)place * (ptrdiff_t)bytes, bytes));
    n += bytes;
    if (n < sizeof buffer) continue;
    td_ctx_tick(c, sizeof buffer / bytes);
    if (fwrite(buffer, 1, n, f) != n) return false;
    n = 0;
  } while (td_tensor_next(t, index));
  return fwrite(buffer, 1, n, f) == n;
}

/* Writes t to a file that is open for as long as scratch lives, and gives it its name. */
static bool write_file(TdSession *s, TdArena *scratch, const char *path, const TdTensor *t,
                       TdDiag *d) {
  File *file = file_new(scratch);
  if (!create(scratch, file, path, d)) return false;
  bool ok = write_header(scratch, file->f, t->type) && write_data(s->ctx, file->f, t);
  FILE *f = file->f;
  file->f = NULL;
  ok &= fclose(f) == 0;
  if (ok && file->temporary) {
    ok = rename(file->temporary, path) == 0;
    if (ok) file->temporary = NULL;
  }
  return ok || refuse(d, "npy-write", path, strerror(errno));
}

bool td_npy_write(TdSession *s, const char *path, const TdTensor *t, TdDiag *d) {
  const TdType *e = td_type_scalar(t->type);
  int64_t index[TD_MAX_RANK];
  if (!td_npy_header_dtype(e))
    return td_diag_set(d, TD_USAGE, "too-wide", (TdLoc){0}, "%s: elements of %s have no dtype",
                       path, td_type_str(d->arena, e));
  if (td_tensor_first_unwritten(s->ctx, t, index))
    return td_diag_set(d, TD_ILLEGAL, "uninitialised", (TdLoc){0},
                       "%s: an element is read before it is written", path);
  TdArena *scratch = td_arena_scratch(s->ctx);
  bool ok = write_file(s, scratch, path, t, d);
  td_arena_free(scratch);
  return ok;
}
