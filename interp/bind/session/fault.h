/* fault.h - errors of plain Lua that nobody caught: what Lua's message names, where that stands,
 * and what was meant. */
#ifndef TD_BIND_SESSION_FAULT_H
#define TD_BIND_SESSION_FAULT_H

#include "bind/bind.h"

/* What the code did with the value that Lua complains about. */
typedef enum {
  TD_FAULT_OTHER,
  TD_FAULT_CALL,
  TD_FAULT_INDEX,
  TD_FAULT_ARITHMETIC,
  TD_FAULT_BITWISE,
  TD_FAULT_CONCAT,
  TD_FAULT_LENGTH,
  TD_FAULT_COMPARE,
  TD_FAULT_DIVIDE,
  TD_FAULT_ARGUMENT /* gave it to a function */
} TdFaultUse;

/* An error of plain Lua. */
typedef struct TdLuaFault {
  lua_State *L;
  int level; /* of the Lua function that it happened in; -1: its stack is gone */
  TdArena *arena;
  const char *message; /* without its place */
  uint32_t source, line;
  TdFaultUse use;
  const char *name;   /* of the value, as Lua's message has it, or NULL */
  bool is_nil;        /* the value is nil */
  const char *callee; /* of the call that raised it, or NULL */
  int argument;       /* ARGUMENT: its number, from 1 */
} TdLuaFault;

/* fault_place.c: what a message names in the source; NULL when that is not clear. In *user the
 * operator, call or index around it. */
const TdAstExpr *td_fault_operand(const TdLuaFault *f, const TdAstExpr **user);
/* The place to point at: that of the operand, else of the call that raised the error. */
TdLoc td_fault_place(const TdLuaFault *f, const TdAstExpr *operand, const TdAstExpr *user);

/* fault_words.c: what the message says, in the words of Tide. */
const char *td_fault_words(const TdLuaFault *f);

/* fault_meant.c: the name that was meant instead of the operand's, or NULL. */
const char *td_fault_meant(const TdLuaFault *f, const TdAstExpr *operand);
/* Pushes the value of an expression of the function at f's level, read raw; false, and nothing on
 * the stack, where running code would tell. */
bool td_fault_push_value(const TdLuaFault *f, const TdAstExpr *e);

#endif
