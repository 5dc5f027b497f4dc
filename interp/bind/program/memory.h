/* memory.h - the memory off the chip, as a user says it. */
#ifndef TD_BIND_PROGRAM_MEMORY_H
#define TD_BIND_PROGRAM_MEMORY_H

#include "bind/bind.h"
#include "eval/time/offchip.h"

/* The table of a user's memory: where it lies while a run goes on. */
typedef struct TdBindMemory {
  lua_State *L;
  int at;
} TdBindMemory;

/* Reads the value at idx, "banks" or {model =, channels =, ..} or {request = f, cycles =, answer =,
 * reset =}: into o, which holds the default, and b, which has to stay as long as o is used. */
void td_bind_take_memory(lua_State *L, int idx, TdOffchip *o, TdBindMemory *b);

#endif
