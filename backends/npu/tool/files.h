/* files.h - what an NPU build writes beside the design and its kernels, and the vendor's tools that
 * read it. */
#ifndef TD_NPU_FILES_H
#define TD_NPU_FILES_H

#include "backends/backend.h"
#include "backends/npu/emit.h"
#include "backends/npu/launch.h"
#include "backends/npu/machine.h"

/* A design as a device of the text. */
typedef struct TdNpuPart {
  const TdNpuPlan *plan;
  const TdNpuSequence *sequence;
  TdNpuMachine *machine;
} TdNpuPart;

/* All that a build came to. */
typedef struct TdNpuMade {
  const TdBuild *build;
  const TdDevice *device;
  const TdNpuHost *host;
  const TdNpuPart *part; /* of each design of the host program */
  const TdNpuKernels *kernels;
  const TdMlir *tree;
  const char *pretty, *generic, *text; /* text: of the kernels */
} TdNpuMade;

/* files.c: the lines by which Peano, aiecc and a C++ compiler are called. */
const char *td_npu_files_makefile(const TdNpuMade *m);
/* A program that runs the design on a card by XRT, and compares. */
const char *td_npu_files_host(const TdNpuMade *m);
/* The design that was built, as Lua, and the steps that the build took besides. */
const char *td_npu_files_schedule(const TdNpuMade *m);
/* The elements of arguments before a run, and of those that are written after it. */
const TdFile *td_npu_files_data(const TdNpuMade *m, const TdCallArg *before, const TdCallArg *after,
                                size_t *nfile);

/* report.c: what the build asks of each tile, its objectFIFOs, what its kernels take, as JSON. */
const char *td_npu_report(const TdNpuMade *m);

/* run_tools.c: runs the tools that are there in the folder of the files; *said: what was done. What
 * they complain of is told by the lines of the user. */
bool td_npu_run_tools(const TdNpuMade *m, const char *folder, int seconds, const char **said);

#endif
