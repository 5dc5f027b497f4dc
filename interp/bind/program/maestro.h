/* maestro.h - what the files about DataMaestro share. */
#ifndef TD_BIND_PROGRAM_MAESTRO_H
#define TD_BIND_PROGRAM_MAESTRO_H

#include "backends/maestro/job.h"
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

/* maestro_job.c, maestro_report.c: functions of the module on top of the stack. */
void td_bind_open_maestro_job(lua_State *L);
void td_bind_open_maestro_report(lua_State *L);

#endif
