/* files.c - what people and the vendor's tools need beside the design: a Makefile, a host program
 * with data, the schedule. */
#include "backends/npu/tool/files.h"

#include <inttypes.h>
#include <string.h>

#include "ir/num/num.h"
#include "ir/text/print.h"

const char *td_npu_files_makefile(const TdNpuMade *m) {
  const char *core = m->device->generation == 1 ? "aie2" : "aie2p";
  return td_text_fmt(
      m->build->arena,
      "# Peano's clang++ in PEANO, aiecc.py on PATH, the headers of aie_api in AIE_API, XRT in "
      "XRT.\n"
      "PEANO ?= /opt/peano\nAIE_API ?= /opt/aie_api/include\nXRT ?= /opt/xilinx/xrt\n"
      "CXX ?= g++\n\n"
      "design.xclbin insts.txt: design.mlir kernels.o\n"
      "\taiecc.py --alloc-scheme=basic-sequential --aie-generate-xclbin --no-compile-host \\\n"
      "\t  --xclbin-name=design.xclbin --no-xchesscc --no-xbridge --peano $(PEANO) \\\n"
      "\t  --aie-generate-npu-insts --npu-insts-name=insts.txt design.mlir\n\n"
      "kernels.o: kernels.cc\n"
      "\t$(PEANO)/bin/clang++ --target=%s-none-unknown-elf -O2 -std=c++20 -I $(AIE_API) -c $< "
      "-o $@\n\n"
      "host: host.cpp\n"
      "\t$(CXX) -std=c++17 -O2 -I $(XRT)/include -o $@ $< -L $(XRT)/lib -lxrt_coreutil\n\n"
      "run: host design.xclbin insts.txt\n\t./host design.xclbin insts.txt data\n\n"
      ".PHONY: run\n",
      core);
}

/* ---- the host program ---- */

/* Whether a design writes its parameter i. */
static bool part_writes(const TdNpuPart *x, size_t i) {
  const TdNpuPlan *p = x->plan;
  for (size_t k = 0; k < x->sequence->transfer.n; k++) {
    const TdNpuTransfer *t = &x->sequence->transfer.at[k];
    bool out = p->tile.at[p->fifo.at[t->fifo].from_tile].kind != TD_TILE_SHIM;
    if (out && t->param == i) return true;
  }
  return false;
}

/* Whether a launch writes array i of the host program. */
static bool is_written(const TdNpuMade *m, size_t i) {
  for (size_t k = 0; k < m->host->launch.n; k++) {
    const TdNpuLaunch *l = &m->host->launch.at[k];
    for (size_t q = 0; q < m->host->design.at[l->design]->nparam; q++)
      if ((l->array ? l->array[q] : q) == i && part_writes(&m->part[l->design], q)) return true;
  }
  return false;
}

static const char host_head[] =
    "// host.cpp - runs a design on an NPU by XRT, with the data of a folder, and compares what "
    "it\n"
    "// wrote with the .want files there: host [design.xclbin [insts.txt [data]]]\n"
    "#include <cstdint>\n#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n"
    "#include <fstream>\n#include <string>\n#include <vector>\n\n"
    "#include <xrt/xrt_bo.h>\n#include <xrt/xrt_device.h>\n#include <xrt/xrt_kernel.h>\n\n"
    "// An argument: so many elements of so many bytes; 0: a word that is passed itself. What is\n"
    "// the program's own stays on the device.\n"
    "struct Argument {\n  const char *name;\n  size_t count, cell;\n  bool written, own;\n};\n\n";

static const char host_rest[] =
    "// The words of a file in hexadecimal, each in so many bytes.\n"
    "static std::vector<char> words(const std::string &path, size_t cell) {\n"
    "  std::vector<char> all;\n"
    "  std::ifstream file(path);\n"
    "  if (!file) {\n"
    "    std::fprintf(stderr, \"cannot read %s\\n\", path.c_str());\n"
    "    std::exit(2);\n"
    "  }\n"
    "  for (std::string word; file >> word;) {\n"
    "    std::uint64_t v = std::strtoull(word.c_str(), nullptr, 16);\n"
    "    for (size_t i = 0; i < cell; i++) all.push_back(char(v >> 8 * i));\n"
    "  }\n"
    "  return all;\n"
    "}\n\n"
    "// How many elements differ from those that are wanted; the first is told.\n"
    "static size_t compare(const Argument &a, const char *got, const std::vector<char> &want) {\n"
    "  size_t wrong = want.size() != a.count * a.cell;\n"
    "  for (size_t i = 0; i < a.count && !wrong; i++) {\n"
    "    if (std::memcmp(got + i * a.cell, want.data() + i * a.cell, a.cell) == 0) continue;\n"
    "    if (!wrong++) std::printf(\"%s: element %zu differs\\n\", a.name, i);\n"
    "  }\n"
    "  return wrong;\n"
    "}\n\n"
    "int main(int argc, char **argv) {\n"
    "  const std::string design = argc > 1 ? argv[1] : \"design.xclbin\";\n"
    "  const std::string code = argc > 2 ? argv[2] : \"insts.txt\";\n"
    "  const std::string data = argc > 3 ? argv[3] : \"data\";\n"
    "  xrt::device device(0);\n"
    "  xrt::xclbin xclbin(design);\n"
    "  device.register_xclbin(xclbin);\n"
    "  xrt::hw_context context(device, xclbin.get_uuid());\n"
    "  xrt::kernel kernel(context, \"MLIR_AIE\");\n"
    "  std::vector<char> insts = words(code, 4);\n"
    "  xrt::bo bo_insts(device, insts.size(), XCL_BO_FLAGS_CACHEABLE, kernel.group_id(1));\n"
    "  std::memcpy(bo_insts.map<char *>(), insts.data(), insts.size());\n"
    "  bo_insts.sync(XCL_BO_SYNC_BO_TO_DEVICE);\n"
    "  std::vector<xrt::bo> bo;\n"
    "  xrt::run run(kernel);\n"
    "  run.set_arg(0, 3);\n"
    "  run.set_arg(1, bo_insts);\n"
    "  run.set_arg(2, std::uint32_t(insts.size() / 4));\n"
    "  for (int i = 0; i < ARGUMENTS; i++) {\n"
    "    const Argument &a = arguments[i];\n"
    "    std::vector<char> in;\n"
    "    if (!a.own) in = words(data + \"/\" + a.name + \".txt\", a.cell);\n"
    "    if (!a.count) {\n"
    "      std::uint32_t word;\n"
    "      std::memcpy(&word, in.data(), 4);\n"
    "      run.set_arg(3 + i, word);\n"
    "    }\n"
    "    bo.emplace_back(device, a.count ? a.count * a.cell : 4, XRT_BO_FLAGS_HOST_ONLY, "
    "kernel.group_id(3 + "
    "i));\n"
    "    std::memcpy(bo[i].map<char *>(), in.data(), std::min(in.size(), a.count * a.cell));\n"
    "    if (!a.count) continue;\n"
    "    if (!a.own) bo[i].sync(XCL_BO_SYNC_BO_TO_DEVICE);\n"
    "    run.set_arg(3 + i, bo[i]);\n"
    "  }\n"
    "  run.start();\n"
    "  run.wait();\n"
    "  size_t wrong = 0;\n"
    "  for (int i = 0; i < ARGUMENTS; i++) {\n"
    "    const Argument &a = arguments[i];\n"
    "    if (!a.written || a.own) continue;\n"
    "    bo[i].sync(XCL_BO_SYNC_BO_FROM_DEVICE);\n"
    "    wrong += compare(a, bo[i].map<char *>(), words(data + \"/\" + a.name + \".want.txt\", "
    "a.cell));\n"
    "  }\n"
    "  std::puts(wrong ? \"FAIL\" : \"PASS\");\n"
    "  return wrong != 0;\n"
    "}\n";

/* The elements of array i and their bytes; 0 of a scalar. */
static void size_of(const TdNpuMade *m, size_t i, int64_t *count, size_t *cell) {
  const TdType *t = m->host->array.at[i].type;
  *count = 0;
  if (!td_type_is_scalar(t)) td_type_count(t, count);
  *cell = td_type_is_scalar(t) ? 4 : td_type_bytes(td_type_scalar(t));
}

const char *td_npu_files_host(const TdNpuMade *m) {
  size_t n = m->host->array.n;
  TdText t = td_text_new(m->build->arena);
  td_text_puts(&t, host_head);
  td_text_putf(&t, "enum { ARGUMENTS = %zu };\nstatic const Argument arguments[] = {\n", n);
  for (size_t i = 0; i < n; i++) {
    const TdNpuArray *x = &m->host->array.at[i];
    int64_t count;
    size_t cell;
    size_of(m, i, &count, &cell);
    td_text_putf(&t, "    {\"%s\", %lld, %zu, %s, %s},\n", x->sym->name, (long long)count, cell,
                 is_written(m, i) ? "true" : "false", x->own ? "true" : "false");
  }
  td_text_putf(&t, "};\n\n%s", host_rest);
  return td_text_str(&t);
}

/* ---- data ---- */

/* The bits of all elements, a word a line. */
static const char *elements(TdArena *a, const TdTensor *x) {
  size_t cell = td_type_bytes(td_type_scalar(x->type));
  int64_t index[TD_MAX_RANK] = {0}, n = td_tensor_count(x);
  TdText t = td_text_new(a);
  for (; n > 0; n--, td_tensor_next(x, index)) {
    uint64_t v = 0;
    memcpy(&v, td_tensor_at(x, index), cell);
    td_text_putf(&t, "%0*" PRIx64 "\n", (int)(2 * cell), v);
  }
  return td_text_str(&t);
}

const TdFile *td_npu_files_data(const TdNpuMade *m, const TdCallArg *before, const TdCallArg *after,
                                size_t *nfile) {
  const TdUnit *d = td_prog_root(m->build->prog);
  TdArena *a = m->build->arena;
  TdFile *f = TD_NEWN(a, TdFile, 2 * d->nparam + 1);
  *nfile = 0;
  for (size_t i = 0; i < d->nparam; i++) {
    const char *name = d->param[i].sym->name;
    if (!before[i].tensor) {
      unsigned char word[8] = {0};
      uint32_t w;
      td_num_store(d->param[i].type, word, before[i].scalar);
      memcpy(&w, word, sizeof w);
      f[(*nfile)++] =
          (TdFile){td_text_fmt(a, "data/%s.txt", name), td_text_fmt(a, "%08" PRIx32 "\n", w)};
      continue;
    }
    f[(*nfile)++] = (TdFile){td_text_fmt(a, "data/%s.txt", name), elements(a, before[i].tensor)};
    if (is_written(m, i))
      f[(*nfile)++] =
          (TdFile){td_text_fmt(a, "data/%s.want.txt", name), elements(a, after[i].tensor)};
  }
  return f;
}

/* ---- the schedule ---- */

const char *td_npu_files_schedule(const TdNpuMade *m) {
  const char *steps = m->build->steps;
  TdText t = td_text_new(m->build->arena);
  td_text_puts(&t, "-- The design that was built; what the build added, as steps; both load.\n"
                   "local design = (function(...)\n");
  td_print_prog(&t, m->build->prog);
  td_text_puts(&t, "end)(...)\n");
  if (steps && *steps)
    td_text_putf(&t, "return (function(...)\n%send)(design)\n", steps);
  else
    td_text_puts(&t, "return design\n");
  return td_text_str(&t);
}
