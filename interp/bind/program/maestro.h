/* maestro.h - what the files about DataMaestro share. */
#ifndef TD_BIND_PROGRAM_MAESTRO_H
#define TD_BIND_PROGRAM_MAESTRO_H

#include "backends/backend.h"
#include "backends/maestro/job.h"
#include "backends/maestro/user.h"
#include "bind/program/unit.h"

#define TD_CLASS_MAESTRO_SYSTEM "tide.maestro.system"
#define TD_CLASS_MAESTRO_JOB "tide.maestro.job"

/* The system at idx. */
const TdMaestroSystem *td_bind_check_maestro(lua_State *L, int idx);

/* td_bind_raise and td_bind_refuse with the place of the user's call, not stdlib's. */
int td_bind_maestro_raise(lua_State *L, TdDiag *d);
int td_bind_maestro_fail(lua_State *L, const char *code, const char *fmt, ...) TD_PRINTF(3, 4);

/* A job; its user values are the system and the kernel. */
typedef struct TdMaestroBox {
  TdArena *arena;
  TdMaestroJob *job; /* NULL until it is compiled */
  const TdProg *prog;
} TdMaestroBox;

/* The job at idx. */
const TdMaestroBox *td_bind_check_maestro_job(lua_State *L, int idx);

/* Options of the table at idx: texts of orders by parameter of u (NULL: none), from its `order`;
 * modes by streamer (-1: none), from its `mode`; numbers by streamer (-1: none), from field `key`.
 */
const char *const *td_bind_maestro_orders(lua_State *L, TdArena *a, int idx, const TdUnit *u);
const int *td_bind_maestro_modes(lua_State *L, TdArena *a, int idx, const TdMaestroSystem *s);
const int64_t *td_bind_maestro_numbers(lua_State *L, TdArena *a, int idx, const char *key,
                                       const TdMaestroSystem *s);
/* maestro_report.c: pushes the report of a run of a system whose streamers have these patterns. */
void td_bind_push_maestro(lua_State *L, const TdMaestroSystem *s, const TdMaestroPattern *p,
                          const TdMaestroReport *r);
/* Pushes files as a list of {name =, text =}. */
void td_bind_push_files(lua_State *L, const TdFile *file, size_t n);
/* maestro_job.c: pushes the registers of streamer i as a table. */
void td_bind_push_pattern(lua_State *L, const TdMaestroSystem *s, int i, const TdMaestroPattern *p);

/* maestro_front.c, maestro_job.c, maestro_report.c: functions of the module on top of the stack. */
void td_bind_open_maestro_front(lua_State *L);
void td_bind_open_maestro_job(lua_State *L);
void td_bind_open_maestro_report(lua_State *L);

#endif
