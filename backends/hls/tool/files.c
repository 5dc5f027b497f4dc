/* files.c - what a build writes: the kernel, its test bench, and scripts that run them. */
#include "backends/hls/option.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "backends/host/cache.h"
#include "base/home.h"
#include "gen/version.h"

/* Files being collected. */
typedef struct Files {
  const TdBuild *b;
  const TdHlsText *t;
  TD_VEC(TdFile) list;
} Files;

static void add(Files *f, const char *name, const char *text) {
  td_vec_push(f->b->arena, &f->list, ((TdFile){name, text}));
}

static const char *option(const Files *f, int i) {
  return td_hls_option(f->b, i);
}

static bool is_on(const Files *f, int i) {
  return strcmp(option(f, i), "true") == 0;
}

/* Whether a text calls a function of hls_math.h: what else is in namespace hls are streams. */
static bool has_math(const char *text) {
  static const char *const other[] = {"stream", "vector", "read_lock", "write_lock"};
  while ((text = strstr(text, "hls::"))) {
    bool found = false;
    text += strlen("hls::");
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
      found |= strncmp(text, other[i], strlen(other[i])) == 0;
    if (!found) return true;
  }
  return false;
}

static bool has_regions(const TdHlsText *t) {
  return strstr(t->body, "TIDE_REGION") != NULL;
}

/* The include lines that a text needs. */
static void put_includes(TdText *out, const TdHlsText *t) {
  static const char *const needs[][2] = {{"ap_fixed<", "ap_fixed.h"},
                                         {"ap_ufixed<", "ap_fixed.h"},
                                         {"half ", "hls_half.h"},
                                         {"half(", "hls_half.h"},
                                         {"hls::stream_of_blocks<", "hls_streamofblocks.h"},
                                         {"hls::vector<", "hls_vector.h"},
                                         {"tide::", "tide_ops.h"}};
  const char *last = "";
  td_text_puts(out, "#include \"ap_int.h\"\n");
  for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
    if (!strstr(t->body, needs[i][0]) || strcmp(last, needs[i][1]) == 0) continue;
    td_text_putf(out, "#include \"%s\"\n", needs[i][1]);
    last = needs[i][1];
  }
  if (has_math(t->body)) td_text_puts(out, "#include \"hls_math.h\"\n");
  if (has_regions(t))
    td_text_puts(out, "#include \"hls_stream.h\"\n#include \"tide_dataflow.h\"\n");
  if (strstr(t->body, "assert(")) td_text_puts(out, "#include <assert.h>\n");
  td_text_puts(out, "#include <stdint.h>\n");
}

/* Constants and the prototype. */
static void put_header(TdText *out, const TdHlsText *t) {
  put_includes(out, t);
  td_text_putf(out, "\n%s%s", t->sizes, *t->sizes ? "\n" : "");
  td_text_putf(out, "extern \"C\" %s;\n",
               td_hls_unit_signature(out->arena, t->top, t->param, t->nparam));
}

/* What tells one text of the files of an IP from another. */
static uint64_t hash_of(const TdIp *ip) {
  uint64_t hash = 0;
  for (size_t i = 0; i < ip->nfile; i++)
    hash = td_map_mix(hash, td_map_hash(ip->file[i].text, strlen(ip->file[i].text)));
  return hash;
}

/* Includes the sources of IP: those beside the kernel, or, `aside`, where they are, so that the
 * program is another when they change. */
static void put_sources(TdText *out, const TdHlsText *t, bool aside) {
  for (size_t i = 0; i < t->nip; i++) {
    const TdIp *ip = t->ip[i];
    if (aside)
      td_text_putf(out, "#include \"%s\" // %016" PRIx64 "\n", ip->path, hash_of(ip));
    else
      td_text_putf(out, "#include \"%s\"\n", ip->file[0].name);
  }
  if (t->nip) td_text_putc(out, '\n');
}

const char *td_hls_files_program(TdArena *a, const TdHlsText *t) {
  TdText out = td_text_new(a);
  put_header(&out, t);
  td_text_puts(&out, "#include \"tide_data.h\"\n\n");
  put_sources(&out, t, true);
  td_text_puts(&out, t->body);
  td_hls_bench_put(&out, t, true);
  return td_text_str(&out);
}

static void add_kernel(Files *f) {
  TdText h = td_text_new(f->b->arena), cpp = td_text_new(f->b->arena);
  td_text_putf(&cpp, "// kernel.cpp - %s, written by Tide " TIDE_VERSION ".\n", f->t->top);
  td_text_puts(&cpp, "#include \"kernel.h\"\n\n");
  put_sources(&cpp, f->t, false);
  td_text_puts(&cpp, f->t->body);
  add(f, "kernel.cpp", td_text_str(&cpp));
  td_text_putf(&h, "// kernel.h - %s, written by Tide " TIDE_VERSION ".\n", f->t->top);
  td_text_puts(&h, "#ifndef KERNEL_H\n#define KERNEL_H\n\n");
  put_header(&h, f->t);
  td_text_puts(&h, "\n#endif\n");
  add(f, "kernel.h", td_text_str(&h));
}

static void add_bench(Files *f) {
  TdText t = td_text_new(f->b->arena);
  td_text_putf(&t, "// tb.cpp - calls %s with the data of a folder (data, or as given)\n",
               f->t->top);
  td_text_puts(&t, "// and compares what it wrote with the .want files there.\n");
  td_text_puts(&t, "#include \"kernel.h\"\n#include \"tide_data.h\"\n\n");
  td_hls_bench_put(&t, f->t, false);
  add(f, "tb.cpp", td_text_str(&t));
}

/* Whether there is a host program. */
static bool has_host(const Files *f) {
  return is_on(f, TD_HLS_TESTBENCH) && td_hls_host_can(f->t);
}

/* The sources of IP, and what they include. Two of one name must be one file. */
static void add_sources(Files *f) {
  for (size_t i = 0; i < f->t->nip; i++)
    for (size_t k = 0; k < f->t->ip[i]->nfile; k++) {
      const TdIpFile *x = &f->t->ip[i]->file[k];
      const TdFile *was = NULL;
      for (size_t n = 0; n < f->list.n && !was; n++)
        if (strcmp(f->list.at[n].name, x->name) == 0) was = &f->list.at[n];
      if (!was)
        add(f, x->name, x->text);
      else if (strcmp(was->text, x->text) != 0)
        td_diag_set(f->b->diag, TD_USAGE, "ip-files", (TdLoc){0},
                    "the build would have two files named %s: rename the one of %s", x->name,
                    f->t->ip[i]->source);
    }
}

/* Copies a header of Tide's own. */
static void add_own(Files *f, const char *folder, const char *name) {
  const char *path = td_text_fmt(f->b->arena, "%s/%s", folder, name);
  const char *text = td_cache_read_file(f->b->arena, path);
  if (text)
    add(f, name, text);
  else
    td_diag_set(f->b->diag, TD_USAGE, "no-headers", (TdLoc){0}, "cannot read %s", path);
}

static void add_tcl(Files *f) {
  TdText t = td_text_new(f->b->arena);
  const char *flow = option(f, TD_HLS_FLOW);
  bool bench = is_on(f, TD_HLS_TESTBENCH), csim = strcmp(flow, "csim") == 0;
  td_text_puts(&t, "# run.tcl - in this folder: vitis_hls -f run.tcl\n");
  td_text_putf(&t, "open_project -reset hls\nset_top %s\nadd_files kernel.cpp\n", f->t->top);
  if (bench) td_text_puts(&t, "add_files -tb tb.cpp\nadd_files -tb data\n");
  td_text_puts(&t, "open_solution -reset solution\n");
  td_text_putf(&t, "set_part {%s}\ncreate_clock -period %s\n", option(f, TD_HLS_PART),
               option(f, TD_HLS_CLOCK));
  if (bench) td_text_puts(&t, "csim_design\n");
  if (!csim) td_text_puts(&t, "csynth_design\n");
  if (strcmp(flow, "cosim") == 0) td_text_puts(&t, "cosim_design\n");
  if (strcmp(flow, "export") == 0) td_text_puts(&t, "export_design -format ip_catalog\n");
  td_text_puts(&t, "exit\n");
  add(f, "run.tcl", td_text_str(&t));
}

/* The same for v++, which takes settings instead of a script. */
static void add_config(Files *f) {
  TdText t = td_text_new(f->b->arena);
  td_text_puts(&t, "# hls_config.cfg - in this folder:\n");
  td_text_puts(&t, "# v++ --compile --mode hls --config hls_config.cfg --work_dir hls\n");
  td_text_putf(&t, "part=%s\n\n[hls]\nclock=%s\nflow_target=vivado\n", option(f, TD_HLS_PART),
               option(f, TD_HLS_CLOCK));
  td_text_putf(&t, "syn.file=kernel.cpp\nsyn.top=%s\n", f->t->top);
  if (is_on(f, TD_HLS_TESTBENCH)) td_text_puts(&t, "tb.file=tb.cpp\ntb.file=data\n");
  add(f, "hls_config.cfg", td_text_str(&t));
}

static void add_makefile(Files *f) {
  TdText t = td_text_new(f->b->arena);
  td_text_puts(&t,
               "# make: simulates the kernel on data/ with the headers of Tide, no vendor tool\n"
               "# needed. make synth: runs Vitis HLS.\n"
               "TIDE_INCLUDE ?= /usr/local/share/tide/backends/hls/include\n"
               "CXX ?= g++\n"
               "CXXFLAGS ?= -O1 -Wall\n\n"
               "csim: tb\n\t./tb data\n\n"
               "tb: tb.cpp kernel.cpp kernel.h\n"
               "\t$(CXX) -std=c++17 -ffp-contract=off -Wno-unknown-pragmas $(CXXFLAGS) -I. \\\n"
               "\t  -I\"$(TIDE_INCLUDE)\" -o $@ tb.cpp kernel.cpp\n\n"
               "synth:\n\tvitis_hls -f run.tcl\n\n");
  if (has_host(f))
    td_text_putf(&t,
                 "# make card PLATFORM=..: the kernel for a card by v++, and the host program;\n"
                 "# then ./host %s.xclbin\n"
                 "card: host %s.xclbin\n\n"
                 "host: host.cpp kernel.h\n"
                 "\t$(CXX) -std=c++17 -Wno-unknown-pragmas -I. -I\"$(XILINX_HLS)/include\" \\\n"
                 "\t  -I\"$(XILINX_XRT)/include\" -o $@ host.cpp -L\"$(XILINX_XRT)/lib\" \\\n"
                 "\t  -lxrt_coreutil -pthread\n\n"
                 "%s.xo: kernel.cpp kernel.h\n"
                 "\tv++ -c -t hw --platform $(PLATFORM) -k %s -o $@ kernel.cpp\n\n"
                 "%s.xclbin: %s.xo\n"
                 "\tv++ -l -t hw --platform $(PLATFORM) -o $@ $<\n\n",
                 f->t->top, f->t->top, f->t->top, f->t->top, f->t->top, f->t->top);
  td_text_puts(&t, has_host(f) ? ".PHONY: csim synth card\n" : ".PHONY: csim synth\n");
  add(f, "Makefile", td_text_str(&t));
}

/* What stands where and what to run. */
static void add_readme(Files *f) {
  TdText t = td_text_new(f->b->arena);
  td_text_putf(&t, "# %s: HLS C++ written by Tide " TIDE_VERSION "\n\n", f->t->top);
  td_text_puts(&t,
               "- `kernel.cpp`, `kernel.h`: the kernel; its last function is the top.\n"
               "- `tb.cpp`, `data/`: a test bench; `X.dat` is read, `X.want.dat` is what X must\n"
               "  hold afterwards (from Tide's reference run).\n"
               "- `run.tcl`, `hls_config.cfg`: for `vitis_hls -f run.tcl`, or for v++.\n"
               "- `make`: simulates here, with g++ and Tide's own headers (TIDE_INCLUDE names\n"
               "  their folder, backends/hls/include).\n");
  if (has_host(f))
    td_text_puts(
        &t, "- `host.cpp`: a program that runs the kernel on a card by XRT, on the same data;\n"
            "  `make card PLATFORM=..` builds it and the .xclbin (v++ and XRT needed).\n");
  td_text_puts(&t,
               "\n"
               "Arrays are row-major. An array argument is a bus (m_axi) of its own; one in banks\n"
               "is a memory port for each bank (ap_memory); scalars are registers. Nothing is\n"
               "copied: what a kernel should hold on chip, `buffer_at` puts there. x // 0 and\n"
               "x % 0 are 0; an index out of range is not caught. Simulate with g++ or Vitis;\n"
               "compilers need -Wno-unknown-pragmas to be silent about `#pragma HLS`.\n\n");
  if (has_regions(f->t))
    td_text_puts(
        &t, "The top is a dataflow region. Tide's headers run its tasks side by side on streams\n"
            "of the declared depth, and tell a deadlock; Vitis's own C simulation runs them in\n"
            "turn, which is not enough where streams lead back: a comment in the region says\n"
            "so. `tide_dataflow.h` makes the calls plain ones for Vitis.\n\n");
  td_text_puts(&t,
               "Tide's own tests compile and simulate such text, but have never run Vitis HLS.\n");
  add(f, "README.md", td_text_str(&t));
}

const char *td_hls_files_headers(TdArena *a, TdDiag *d) {
  char home[4096];
  if (td_home_find("backends/hls/include", home, sizeof home))
    return td_text_fmt(a, "%s/backends/hls/include", home);
  td_diag_set(d, TD_USAGE, "no-headers", (TdLoc){0},
              "Tide's HLS headers are neither beside the program nor installed");
  return NULL;
}

const TdFile *td_hls_files_of(const TdBuild *b, size_t *nfile) {
  Files f = {.b = b, .t = td_hls_text(b)};
  if (!f.t) return NULL;
  bool bench = is_on(&f, TD_HLS_TESTBENCH), ops = strstr(f.t->body, "tide::") != NULL;
  add_kernel(&f);
  add_sources(&f);
  if (bench) add_bench(&f);
  if (has_host(&f)) add(&f, "host.cpp", td_hls_host_of(b->arena, f.t));
  bool region = has_regions(f.t);
  const char *folder = bench || ops || region ? td_hls_files_headers(b->arena, b->diag) : "";
  if (!folder) return NULL;
  if (bench || ops) add_own(&f, folder, "tide_ops.h");
  if (region) add_own(&f, folder, "tide_dataflow.h");
  if (bench) add_own(&f, folder, "tide_data.h");
  add_tcl(&f);
  add_config(&f);
  if (bench) add_makefile(&f);
  add_readme(&f);
  *nfile = f.list.n;
  return td_diag_failed(b->diag) ? NULL : f.list.at;
}

/* A file of arguments: an element on each line. */
static void add_data(Files *f, size_t i, const char *suffix, const TdCallArg *arg) {
  TdText t = td_text_new(f->b->arena);
  if (arg->tensor)
    td_hls_data_put_tensor(&t, arg->tensor);
  else
    td_hls_data_put_scalar(&t, f->t->param[i].type, arg->scalar);
  add(f, td_text_fmt(f->b->arena, "data/%s%s.dat", f->t->param[i].name, suffix), td_text_str(&t));
}

const TdFile *td_hls_files_data(const TdBuild *b, const TdCallArg *before, const TdCallArg *after,
                                size_t *nfile) {
  Files f = {.b = b, .t = td_hls_text(b)};
  if (!f.t) return NULL;
  for (size_t i = 0; i < f.t->nparam; i++) {
    add_data(&f, i, "", &before[i]);
    if (f.t->param[i].written) add_data(&f, i, ".want", &after[i]);
  }
  *nfile = f.list.n;
  return f.list.at;
}
