/* layout.h - layouts as Lua values, for the files of bind that make and take them. */
#ifndef TD_BIND_VALUE_LAYOUT_H
#define TD_BIND_VALUE_LAYOUT_H

#include "bind/bind.h"
#include "ir/layout.h"

struct TdLayoutBox {
  const TdType *type; /* NULL: of digits alone */
  const char *text;   /* "S0R" or an order, the session's; NULL: neither */
  const char *kind;   /* of a partition: "cyclic"; else NULL */
  int64_t factor, lanes;
  bool banked[TD_MAX_RANK]; /* of a partition: the dimensions that it spreads */
  int nmap;
  int64_t map[10];   /* what the axes of "S0R" are, if that is known */
  bool known;        /* `of` is filled; else `lacks` says what it waits for */
  const char *lacks; /* lives as long as the session */
  TdLayout of;
};

/* A layout on the stack; of is l, or is left to be filled. */
TdLayoutBox *td_bind_push_layout(lua_State *L, const TdLayout *l);
/* The layout at idx, or raises. */
const TdLayoutBox *td_bind_check_layout_value(lua_State *L, int idx);
/* Fills box, with scratch in a, with the banks that s:partition of these arguments gives an array
 * of type t; false: a dimension is none of t. */
bool td_bind_layout_banks(lua_State *L, TdArena *a, TdLayoutBox *box, const TdType *t,
                          const int64_t *dims, size_t n, const char *kind, int64_t factor);
/* The layout as Lua that loads. */
const char *td_bind_layout_str(TdArena *a, const TdLayoutBox *box);
/* layout_op.c: the class. */
void td_bind_open_layout_op(lua_State *L);

#endif
