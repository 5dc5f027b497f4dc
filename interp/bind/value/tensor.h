/* tensor.h - what the files about tensors share. */
#ifndef TD_BIND_VALUE_TENSOR_H
#define TD_BIND_VALUE_TENSOR_H

#include "bind/bind.h"

/* type.c: the scalar type at idx, or raises. */
const TdType *td_bind_check_scalar_type(lua_State *L, int idx);

/* scalar.c */
/* The Lua value at idx as a store into an element of type t casts it; false when a store does not:
 * floats into integers, booleans into numbers, anything but a number into the rest. */
bool td_bind_to_stored(lua_State *L, int idx, const TdType *t, uint64_t *bits);
/* Raises that the value at idx is not stored so; where is "" or "entry [2]: ". */
int td_bind_fail_stored(lua_State *L, int idx, const TdType *t, const char *where);

/* tensor.c */
/* The tensor at idx, or raises. */
TdTensorBox *td_bind_check_box(lua_State *L, int idx);
/* Pushes a tensor box with an arena, whose tensor the caller makes in it. */
TdTensorBox *td_bind_push_owner(lua_State *L);
/* Pushes a view that addresses the memory of the tensor at idx as v says. */
TdTensorBox *td_bind_push_view(lua_State *L, int idx, const TdTensor *v);
/* Raises unless every element was written. */
void td_bind_check_written(lua_State *L, const TdTensor *t);
/* The same, and elements are numbers that Lua can hold: of at most 64 bits. */
void td_bind_check_readable(lua_State *L, const TdTensor *t);
/* Raises unless x and y have the same extents. */
void td_bind_check_shapes(lua_State *L, const TdType *x, const TdType *y);
bool td_bind_same_shape(const TdType *x, const TdType *y);
/* "[2][3]" for a vector of n indices that count from `from`. */
void td_bind_put_index(TdText *out, const int64_t *index, int n, int64_t from);

/* state.c */
/* Has the state in box hold what belongs to the kernel that runs, in a native run. */
void td_bind_state_turn(lua_State *L, TdTensorBox *box);
/* What it started with: for the kernel that runs, or (no native run is under way) for all. */
void td_bind_state_reset(lua_State *L, TdTensorBox *box);

/* tensor_fill.c: T[..](x) and T[..]() for the arguments from slot 2 on. */
int td_bind_convert_tensor(lua_State *L, const TdType *t);

/* math.c: operator op on Lua numbers, the arguments from slot 1 on, as Lua's math would
 * compute it; pushes the result. */
int td_bind_scalar_op(lua_State *L, int op);

/* tensor_op.c: raises the fault of an operator on elements, if it is one. */
void td_bind_check_fault(lua_State *L, TdFault fault);

/* Methods of tensors. */
int td_bind_tensor_slice(lua_State *L);
int td_bind_tensor_transpose(lua_State *L);
int td_bind_tensor_set(lua_State *L);
int td_bind_tensor_copy(lua_State *L);
int td_bind_tensor_table(lua_State *L);
int td_bind_tensor_reset(lua_State *L);
int td_bind_tensor_equal(lua_State *L);
int td_bind_tensor_allclose(lua_State *L);
int td_bind_tensor_save(lua_State *L);
int td_bind_tensor_show(lua_State *L);
/* Puts the type and aligned rows: all, as far as 20 KiB go, or the corners of what is big. */
void td_bind_put_tensor(TdText *out, const TdTensor *t, bool all);
int td_bind_tensor_tostring(lua_State *L);

/* Openers; each sets functions of the module table at the top of the stack. */
void td_bind_open_fill(lua_State *L);
void td_bind_open_random(lua_State *L);
void td_bind_open_file(lua_State *L);
void td_bind_open_op(lua_State *L);
void td_bind_open_reduce(lua_State *L);
void td_bind_open_grid(lua_State *L);

#endif
