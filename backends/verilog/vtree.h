/* vtree.h - Verilog as a tree: modules, signals, assignments, clocked blocks. Expressions have a
 * width, and operands of an operator have the same one, so that no tool has to guess. */
#ifndef TD_VTREE_H
#define TD_VTREE_H

#include "base/base.h"

/* A wire, register or port. */
typedef struct TdVlSig {
  const char *name;
  int width;
  bool reg, input, output;
  bool gone;                       /* after all it is not declared */
  bool *used;                      /* of each bit: something reads it */
  int64_t reads;                   /* how often it is (vdead.c) */
  const struct TdVlItem *assigned; /* the item that assigns it */
} TdVlSig;

typedef enum {
  TD_VL_SIG,
  TD_VL_CONST,
  TD_VL_SLICE,
  TD_VL_UNARY,
  TD_VL_BINARY,
  TD_VL_PICK,
  TD_VL_CAT,
  TD_VL_REPEAT
} TdVlKind;

/* An expression: an unsigned number of `width` bits; `is_signed` operators look at it otherwise. */
typedef struct TdVl TdVl;
struct TdVl {
  TdVlKind kind;
  const char *op;
  bool is_signed; /* BINARY: operands are signed */
  int width, lo;  /* lo: of SLICE; REPEAT: how often */
  uint64_t bits;  /* CONST */
  TdVlSig *sig;
  const TdVl *x, *y, *z;
};

typedef enum { TD_VL_SET, TD_VL_IF, TD_VL_CASE, TD_VL_BLOCK } TdVlDoKind;

/* A statement of a clocked block. CASE: of x, label[i] does kid[i]. IF: kid[0], else kid[1]. */
typedef struct TdVlDo TdVlDo;
struct TdVlDo {
  TdVlDoKind kind;
  TdVlSig *to;
  const TdVl *x;
  TD_VEC(const TdVlDo *) kid;
  TD_VEC(const char *) label;
};

typedef struct TdVlPort {
  const char *name, *text;
  const TdVl *x;
} TdVlPort;

typedef enum { TD_VL_ASSIGN, TD_VL_ALWAYS, TD_VL_INSTANCE, TD_VL_LOOP, TD_VL_NOTE } TdVlItemKind;

/* A thing in a module, or in a generate loop. */
typedef struct TdVlItem TdVlItem;
struct TdVlItem {
  TdVlItemKind kind;
  const char *note; /* said above it */
  TdVlSig *to;
  const TdVl *x;
  const TdVlDo *act;
  const char *module, *name;
  TD_VEC(TdVlPort) param;
  TD_VEC(TdVlPort) port;
  const char *variable; /* of LOOP: genvar, from 0 to before `count` */
  int64_t count;
  struct TdVlScope *scope;
};

typedef struct TdVlScope {
  TD_VEC(TdVlSig *) sig;
  TD_VEC(TdVlItem *) item;
} TdVlScope;

/* Pins that whoever connects the module names by what they belong to: "A_q", "A_we1", "A_3_q". */
typedef struct TdVlFamily {
  const char *base;
  const char *const *word; /* "q", "we", to a NULL */
  bool banks;              /* a number may stand before the word */
} TdVlFamily;

typedef struct TdVlModule {
  TdArena *arena;
  const char *name;
  TdText head; /* comment lines */
  TdVlScope top, *scope;
  TdMap names; /* those that are taken, in lower case */
  TD_VEC(const char *) name_list;
  TD_VEC(TdVlFamily) family;
  TD_VEC(TdVlPort) constant; /* localparams */
} TdVlModule;

/* A new module; a name that no keyword and nothing else in it has, made from `want`. */
TdVlModule *td_vtree_module(TdArena *a, const char *name);
const char *td_vtree_name(TdVlModule *m, const char *want);

/* The base of a family, made from `want`, of whose pins none has the name of anything else, now or
 * later; a pin, called exactly so. */
const char *td_vtree_family(TdVlModule *m, const char *want, const char *const *word, bool banks);
TdVlSig *td_vtree_pin(TdVlModule *m, const char *name, int width, bool out);

/* A signal, declared where m->scope is; name as is, or made fresh. */
TdVlSig *td_vtree_wire(TdVlModule *m, const char *want, int width);
TdVlSig *td_vtree_reg(TdVlModule *m, const char *want, int width);
TdVlSig *td_vtree_input(TdVlModule *m, const char *want, int width);
TdVlSig *td_vtree_output(TdVlModule *m, const char *want, int width);

/* Expressions. */
const TdVl *td_vtree_sig(TdVlModule *m, TdVlSig *s);
const TdVl *td_vtree_const(TdVlModule *m, int width, uint64_t bits);
/* A constant that is written as a name. */
const TdVl *td_vtree_label(TdVlModule *m, int width, uint64_t bits, const char *label);
const TdVl *td_vtree_unary(TdVlModule *m, const char *op, int width, const TdVl *x);
const TdVl *td_vtree_binary(TdVlModule *m, const char *op, int width, const TdVl *x, const TdVl *y);
const TdVl *td_vtree_signed(TdVlModule *m, const char *op, int width, const TdVl *x, const TdVl *y);
const TdVl *td_vtree_pick(TdVlModule *m, const TdVl *c, const TdVl *x, const TdVl *y);
/* high next to low. */
const TdVl *td_vtree_cat(TdVlModule *m, const TdVl *high, const TdVl *low);
/* `width` bits from lo up; what is no signal becomes a wire. */
const TdVl *td_vtree_slice(TdVlModule *m, const TdVl *x, int lo, int width);
/* x on so many bits: cut, or extended by its sign or by zeros. */
const TdVl *td_vtree_fit(TdVlModule *m, const TdVl *x, int width, bool is_signed);
/* Conditions; NULL is true (of and), false (of or). */
const TdVl *td_vtree_and(TdVlModule *m, const TdVl *x, const TdVl *y);
const TdVl *td_vtree_or(TdVlModule *m, const TdVl *x, const TdVl *y);
const TdVl *td_vtree_not(TdVlModule *m, const TdVl *x);
/* Whether x is a constant. */
bool td_vtree_is_const(const TdVl *x, uint64_t *bits);
/* x as a signal: itself if it is one, or a new wire. */
TdVlSig *td_vtree_named(TdVlModule *m, const char *want, const TdVl *x);

/* Items. */
void td_vtree_assign(TdVlModule *m, TdVlSig *to, const TdVl *x);
TdVlItem *td_vtree_always(TdVlModule *m, const char *note, const TdVlDo *act);
TdVlItem *td_vtree_instance(TdVlModule *m, const char *module, const char *name);
void td_vtree_param(TdVlModule *m, TdVlItem *i, const char *name, int64_t value);
void td_vtree_connect(TdVlModule *m, TdVlItem *i, const char *port, const TdVl *x);
/* The same for an output, which is no use of s. */
void td_vtree_take(TdVlModule *m, TdVlItem *i, const char *port, const TdVlSig *s);

/* Statements. */
TdVlDo *td_vtree_block(TdVlModule *m);
void td_vtree_add(TdVlModule *m, TdVlDo *block, const TdVlDo *one);
TdVlDo *td_vtree_set(TdVlModule *m, TdVlSig *to, const TdVl *x);
TdVlDo *td_vtree_if(TdVlModule *m, const TdVl *c, const TdVlDo *then, const TdVlDo *otherwise);

/* vdead.c: leaves out wires that nothing reads. */
void td_vdead_drop(TdVlModule *m);

/* vprint.c: the module's text. What nothing reads is gathered so that linters do not ask. */
void td_vprint_module(TdText *out, TdVlModule *m);

#endif
