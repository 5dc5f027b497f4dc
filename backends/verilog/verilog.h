/* verilog.h - what the files of this target share. */
#ifndef TD_VERILOG_VERILOG_H
#define TD_VERILOG_VERILOG_H

#include "analysis/time/firing.h"
#include "analysis/time/sched.h"
#include "backends/backend.h"

enum {
  TD_VERILOG_DEVICE,
  TD_VERILOG_TOP,
  TD_VERILOG_SIM,
  TD_VERILOG_CHECK,
  TD_VERILOG_MOST,
  TD_VERILOG_SECONDS,
  TD_VERILOG_READY,
  TD_VERILOG_MATH,
  TD_VERILOG_CONTROL,
  TD_VERILOG_INTERFACE,
  TD_VERILOG_CLOCK,
  TD_VERILOG_RESET,
  TD_VERILOG_LOCATION,
  TD_VERILOG_OPTIONS
};
/* The value of an option. */
const char *td_verilog_option(const TdBuild *b, int option);
extern const TdBackend td_backend_verilog;

/* A memory outside of a module, bank by bank: element i of dimension d is in bank i % banks, or
 * (block) i / ceil(extent / banks) of it. */
typedef struct TdVlogArray {
  TdSym sym;
  const char *name;
  int width, latency, rank;
  int64_t extent[TD_MAX_RANK], banks[TD_MAX_RANK];
  bool block[TD_MAX_RANK];
  int64_t depth, nbank;
  size_t *reads, *writes; /* ports of each bank */
  int64_t copies;         /* instances, each with its own; ports lie side by side */
  const int64_t *lo;      /* where each one's begins in the argument, rank numbers each */
  const int64_t *from,
      *by;             /* of a box: where it begins in what the instance is given, rank numbers,
                             * and as many for each of its coordinates; or NULL */
  const TdBlob *state; /* of a state: what it holds before the first call */
} TdVlogArray;

/* An end of a stream, or of `count` of them side by side, in a task's module. */
typedef struct TdVlogPort {
  TdSym sym;
  const char *name;
  bool put;
  int width; /* of a beat */
  int64_t count;
  bool block, spare;         /* of a block stream: numbers of its buffers, full or free ones */
  const TdVlogArray *memory; /* and beside an end of full ones that of their elements, or NULL */
  bool held, free; /* as TdVlogProg says: it tells when it has used a token, asks for no room */
} TdVlogPort;
/* A scalar that a module is given. */
typedef struct TdVlogInput {
  TdSym sym;
  const char *name;
  int width;
} TdVlogInput;

/* The streams of an array as scopes: a box of numbers, row-major. */
typedef struct TdVlogStream {
  const char *scope, *name;
  TdLoc loc;
  int rank;
  int64_t depth, lo[TD_MAX_RANK], n[TD_MAX_RANK], count;
  const TdType *element;     /* of its tokens; NULL: they are numbers of buffers */
  int64_t elements, in_beat; /* of a token; of what moves at once */
} TdVlogStream;

/* A port of a design's module, beside clk, rst, start and busy. */
typedef struct TdVlogPin {
  const char *name;
  int64_t bits;
  bool in;
} TdVlogPin;

/* Ends of a design's streams that none of its tasks holds, as pins: of those that nobody puts to
 * NAME_put, NAME_room and NAME_in, of those that nobody gets from NAME_take, NAME_valid and
 * NAME_out, side by side. */
typedef struct TdVlogOpen {
  size_t stream; /* of the design's */
  const char *name;
  bool put; /* the pins put */
  int width;
  int64_t beats, count, *ordinal; /* in the array of streams */
} TdVlogOpen;

/* Instances of tasks as scopes: what each is called. */
typedef struct TdVlogTask {
  const char *scope, *const *name;
  size_t count;
} TdVlogTask;

/* When a task moves tokens, where it is one pipelined loop of which each iteration gets or puts one
 * at each of its ends: its first firing starts in cycle `first` at the soonest, each `ii` cycles
 * after the one before; puts are `latency` later. */
typedef struct TdVlogPace {
  const char *irregular; /* what it is else, or NULL */
  TdLoc loc;
  int64_t first, latency, ii, trip;
  size_t gets, puts;
} TdVlogPace;

typedef struct TdVlogModule {
  const char *name, *text;
  TdVlogPace pace;
  const TdUnit *unit;
  const TdVlogArray *array;
  size_t narray;
  const TdVlogArray *state; /* memories inside of a top, of its states */
  size_t nstate;
  const TdVlogPort *port;
  size_t nport;
  const TdVlogInput *input;
  size_t ninput;
  const TdVlogStream *stream; /* inside, of a design */
  size_t nstream;
  const TdVlogOpen *open;
  size_t nopen;
  const TdVlogPin *pin; /* of a design */
  size_t npin;
  const TdVlogTask *task; /* the same */
  size_t ntask;
} TdVlogModule;

/* A program on its way to text. */
typedef struct TdVlogProg {
  TdArena *arena;
  const TdProg *prog;
  TdSched *sched;
  const TdTimes *times;
  const char *top;
  const char *around;  /* the module around the top; or NULL */
  const char *control; /* the option's word */
  bool placeless;      /* comments name no file and line */
  bool held;           /* tokens wait in front of the module, not in latches of its own */
  bool free;           /* its puts never wait */
  const bool *without; /* runs of the root that take place outside, their ends open; or NULL */
  bool boxes;          /* its memories are as large as what it touches */
} TdVlogProg;

/* vunit.c: a kernel as a module; NULL with d filled. */
const TdVlogModule *td_vunit_kernel(const TdVlogProg *p, const TdUnit *u, TdDiag *d);

/* Ports of a bank: "A", or "A_3" where there are more; "A_q", "A_q1". */
const char *td_vunit_bank(TdArena *a, const TdVlogArray *x, int64_t b);
const char *td_vunit_pin(TdArena *a, const char *bank, const char *what, size_t i);

/* vdesign.c: a design as a module, and those of its tasks, appended to a list of files. */
typedef struct TdVlogFiles {
  TD_VEC(TdFile) at;
} TdVlogFiles;
/* The design's module; NULL with the diagnostic filled where it is refused. */
const TdVlogModule *td_vdesign_module(const TdVlogProg *p, TdVlogFiles *files, TdDiag *d);

/* A build's text. */
typedef struct TdVlogText {
  const TdVlogModule *top, *core; /* core: without what stands around it */
  const TdFile *file;             /* a module each, the top first */
  size_t nfile;
  const char *bench; /* around the top: memories from files, cycles counted */
  const char *main;  /* the C++ that runs the bench in Verilator */
} TdVlogText;
const TdVlogText *td_verilog_text(const TdBuild *b, TdDiag *d);
/* The same of a program alone, without a bench. */
const TdVlogText *td_verilog_text_of(const TdVlogProg *p, TdDiag *d);
/* bench.c: a bench that drives a top by its interface. */
struct TdShell;
const char *td_verilog_bench(TdArena *a, const TdVlogModule *top, const struct TdShell *o);
/* Pieces of a bench about arrays and scalars: declarations, memories, what is read
 * before and written after, pins of the module. */
typedef struct TdVlogPins {
  const char *decl, *body, *read, *write, *connect;
} TdVlogPins;
/* Those of a top whose arrays are memories. */
TdVlogPins td_verilog_bench_pins(TdArena *a, const TdVlogModule *top);
/* library.c: the modules that texts may use, by name, to a NULL; the bench's C++. */
extern const TdFile td_verilog_library[];
const char *td_library_text(const char *module);
extern const TdFile td_verilog_floats[]; /* float.c: the same, those that use others first */
extern const char *const td_verilog_library_main, *const td_verilog_library_clock;
/* Where element `index` of an array lies. */
void td_verilog_locate(const TdVlogArray *x, const int64_t *index, int64_t *bank, int64_t *at);

/* Element number k, of width bits, of what n hexadecimal digits say, element 0 lowest. */
uint64_t td_verilog_element(const char *digit, size_t n, int64_t k, int width);
/* events.c: what the streams and tasks of a simulation printed: the cycles of tokens, their hashes,
 * when tasks run. */
void td_verilog_events_read(TdArena *a, const TdVlogModule *top, const char *said, TdTimed *out);

/* run.c: the simulation. */
typedef struct TdVlogRun TdVlogRun;
TdVlogRun *td_verilog_run_new(const TdBuild *b);
bool td_verilog_run_call(TdVlogRun *r, const TdCallArg *arg, TdDiag *d);
void td_verilog_run_reset(TdVlogRun *r);
const TdTimed *td_verilog_run_timed(const TdVlogRun *r);
const char *td_verilog_run_report(const TdVlogRun *r);
/* The files of a top's arrays and scalars for a bench in a folder; then what it wrote, to the
 * tensors. */
bool td_verilog_run_write(TdArena *a, const TdVlogModule *top, const char *folder,
                          const TdCallArg *arg, TdDiag *d);
bool td_verilog_run_read(TdArena *a, const TdVlogModule *top, const char *folder,
                         const TdCallArg *arg, TdDiag *d);

#endif
