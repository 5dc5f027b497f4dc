/* text.h - what the files that write HLS C++ share. */
#ifndef TD_HLS_TEXT_H
#define TD_HLS_TEXT_H

#include "analysis/order/loop_carried.h"
#include "backends/backend.h"
#include "backends/c/cfamily.h"
#include "lower/net/region.h"

/* An expression in C++. A piece whose TdCType is I32 or I64 is an int or int64_t (indices, small
 * constants); the others have the C++ type of `t`, or, if loose, become the value when converted
 * to it. */
typedef struct TdHlsVal {
  TdPiece p;
  const TdType *t; /* without mode */
  bool loose;
} TdHlsVal;

/* More bits before the point than any type has: all are kept. */
enum { TD_HLS_ALL = 4096 };

/* num.c: the C++ type of scalars of type t, as elements have it and as expressions do. */
const char *td_hls_num_cell(TdCWriter *w, TdSym sym, const TdType *t);
const char *td_hls_num_type(TdCWriter *w, const TdType *t);
/* "(text)". Of two conversions at its start the first is written "(T)": g++ may take "(T(T(x[i])"
 * for a type, and err. */
const char *td_hls_num_group(TdCWriter *w, const char *text);
/* e as an assignment to an element of its type takes it; as an index; as a condition. */
TdPiece td_hls_num_store(TdCWriter *w, const TdExpr *e);
TdPiece td_hls_num_index(TdCWriter *w, const TdExpr *e);
TdPiece td_hls_num_truth(TdCWriter *w, const TdExpr *e);
/* e, exactly, of the C++ type that its type t says: an int, fixed-point number or boolean. */
TdHlsVal td_hls_num_exact(TdCWriter *w, const TdExpr *e);
/* An index or integer bound is an int here rather than an int64_t. */
bool td_hls_num_is_small(TdCWriter *w, const TdExpr *lo, const TdExpr *end);

/* bits.c: shifts, slices, words; of operands that are exact. */
TdHlsVal td_hls_bits_shift(TdCWriter *w, const TdExpr *e, int keep);
TdHlsVal td_hls_bits_slice(TdCWriter *w, const TdExpr *e);
TdHlsVal td_hls_bits_cast(TdCWriter *w, const TdExpr *e);

/* float.c: floats, and what is made of them; and the piece that an element of type t holds. */
TdPiece td_hls_float_of(TdCWriter *w, const TdExpr *e);
TdPiece td_hls_float_compare(TdCWriter *w, const TdExpr *e);
TdHlsVal td_hls_float_to_integer(TdCWriter *w, const TdType *to, const TdExpr *x);
TdPiece td_hls_float_word(TdCWriter *w, const TdType *t, TdPiece value);
TdPiece td_hls_float_of_word(TdCWriter *w, const TdType *t, TdPiece word);

/* An array that lasts from call to call: a static of the file. */
typedef struct TdHlsState {
  const char *name, *text; /* of its file; in C++ */
} TdHlsState;

/* A parameter of the top function: its declaration, e.g. "ap_int<8> A[M][K]". */
typedef struct TdHlsParam {
  const char *name, *text;
  const TdType *type; /* at the program's sizes */
  bool written;
} TdHlsParam;

/* A program as C++. */
typedef struct TdHlsText {
  const char *top;
  const char *sizes; /* of kernel.h: constants */
  const char *body;  /* of kernel.cpp: all functions */
  const TdHlsParam *param;
  size_t nparam;
  const TdHlsState *state;
  size_t nstate;
  const TdIp *const *ip; /* those that it calls, a source once */
  size_t nip;
} TdHlsText;

/* What a user may choose. */
typedef struct TdHlsStyle {
  const char *top;   /* "": the kernel's name */
  bool ap_memory;    /* memory ports for arrays rather than buses */
  const char *pipes; /* style of pipelines: "stp"; NULL: the tool's */
} TdHlsStyle;

/* text.c: a lowered program as C++, owned by a; NULL with d filled. */
const TdHlsText *td_hls_text_of(TdArena *a, const TdLowered *p, const TdHlsStyle *style, TdDiag *d);

/* The program being written: what the hooks reach by the writer's ud. */
typedef struct TdHlsProg {
  TdCWriter *w;
  TdAsk ask;         /* about the unit being written */
  const char **name; /* of the functions, parallel to prog->unit */
  const TdHlsStyle *style;
  TdNetRegions regions;
  const TdNetClass *task;       /* of the unit being written, or NULL */
  const char *ids;              /* "<i, j>", or "" */
  TdMap size;                   /* name -> value, of those that are named */
  TD_VEC(const TdSize *) sizes; /* the same, in order */
  TdMap unused;                 /* locals of the unit that nothing reads */
  TdMap lock;                   /* buffers of block streams that need no copy (lock.c) */
  TdMap slot;                   /* the streams of those that are slots being filled */
  double locals;                /* bytes, at most, of all arrays that functions so far declare */
  TdText statics, functions;
  TD_VEC(const TdStmt *) nest; /* loops around what is being written, outermost first */
  TD_VEC(TdHlsParam) param;    /* of the unit being written */
  TD_VEC(const char *) depth;  /* template parameters of the unit being written */
  TD_VEC(TdHlsState) state;
  TD_VEC(const TdIp *) ip; /* by sources, each once */
} TdHlsProg;

/* unit.c: how numbers, names and statements are written; a unit as a function. */
extern const TdCTarget td_hls_unit_target, td_hls_unit_names;
void td_hls_unit_put(TdHlsProg *p, size_t unit);
/* An argument of a call: a scalar, an array or rows of it, streams. */
const char *td_hls_unit_argument(TdCWriter *w, const TdExpr *e);
/* Declares an array without elements in it. */
void td_hls_unit_array(TdHlsProg *p, const TdStmt *s, const TdType *t);

/* design.c: the body of a region: its streams, and its calls. */
void td_hls_design_put(TdHlsProg *p, const TdNetRegion *r);
/* Declares the streams of a unit that is not a region: of a task that feeds itself. */
void td_hls_design_streams(TdHlsProg *p);

/* stream.c: GET, PUT and SLOT. The type of a stream with tokens of type t; of a parameter that
 * is an array of streams the depth belongs to it (0: any, said by a template parameter). */
void td_hls_stream_put(TdHlsProg *p, const TdStmt *s);
const char *td_hls_stream_type(TdCWriter *w, const TdType *port, const char *depth);
/* Words of a stream that has room for `depth` tokens. */
int64_t td_hls_stream_words(const TdType *port, int64_t depth);

/* ip.c: the function by which a program calls an IP; its files are p->ip's from then on. */
void td_hls_ip_put(TdHlsProg *p, const TdUnit *u, const char *name);
/* Takes the names that an IP has from those that the program may have. */
void td_hls_ip_names(TdHlsProg *p, const TdUnit *u);

/* lock.c: which buffers of block streams in body s can be used where they lie: those that
 * stream_of_blocks hands out one at a time, for as long as they are named. The rest are copied. */
TdMap td_hls_lock_find(const TdAsk *q, TdCtx *c, const TdStmt *s);
/* Whether s hands over all of a slot of the stream. */
bool td_hls_lock_ends(const TdStmt *s, TdSym slot, const TdExpr *stream);
/* "void f(const ap_int<8> A[4])"; arrays that are not written are constant. */
const char *td_hls_unit_signature(TdArena *a, const char *name, const TdHlsParam *param, size_t n);

/* table.c: constant tables and the first values of states: "{{1, 2}, {3, 4}}". */
const char *td_hls_table_of(TdCWriter *w, const TdBlob *b);

/* pragma.c: the lines for a loop inside it, for an array after it is declared (of a parameter
 * its banks: its memory is another's), and for the top function's ports. */
void td_hls_pragma_loop(TdHlsProg *p, const TdStmt *s);
void td_hls_pragma_banks(TdHlsProg *p, const char *name, TdAttrs attrs);
void td_hls_pragma_array(TdHlsProg *p, const char *name, TdAttrs attrs);
void td_hls_pragma_ports(TdHlsProg *p);

/* name.c: words that no name may be; and the C library's functions, which no global may be. */
extern const char *const td_hls_name_words[], *const td_hls_name_functions[];

#endif
