/* host.c - the host program: a main that runs the kernel of an .xclbin on a card by XRT, on the
 * files of the test bench. */
#include <string.h>

#include "backends/hls/option.h"

bool td_hls_host_can(const TdHlsText *t) {
  bool can = !strstr(t->body, "interface ap_memory");
  for (size_t i = 0; i < t->nparam; i++)
    can &= t->param[i].type->kind == TD_T_TENSOR || t->param[i].type->w <= 64;
  return can;
}

/* A program being written: names that no parameter has. */
typedef struct Host {
  TdText out;
  const TdHlsText *t;
  const char *files, *device, *top, *wrong;
} Host;

/* A scalar as the word of a register. */
static const char *word_of(TdArena *a, const TdHlsParam *p) {
  const TdType *t = p->type;
  bool half = strncmp(p->text, "half ", strlen("half ")) == 0;
  bool fixed = t->kind == TD_T_FIXED || t->kind == TD_T_UFIXED;
  if (t->kind == TD_T_BOOL || t->kind == TD_T_INDEX || (t->kind == TD_T_FLOAT && t->w > 16))
    return p->name;
  const char *sign = t->kind == TD_T_INT || t->kind == TD_T_FIXED ? "" : "u", *word = p->name;
  if (fixed) word = td_text_fmt(a, "tide::raw(%s)", word);
  if (half) word = td_text_fmt(a, "tide::half_word(%s)", word);
  int bits = 8;
  while (bits < t->w) bits *= 2;
  return td_text_fmt(a, "%sint%d_t(%s.to_%sint64())", sign, bits, word, sign);
}

/* The buffer of an array on the card. */
static const char *buffer_of(const Host *h, const TdHlsParam *p) {
  return td_hls_bench_apart(h->out.arena, h->t, td_text_fmt(h->out.arena, "%s_bo", p->name));
}

/* A parameter: read from its file; an array in a buffer of the card as well. */
static void put_param(Host *h, size_t i) {
  const TdHlsParam *p = &h->t->param[i];
  const char *bo = buffer_of(h, p);
  td_text_line(&h->out, "static %s;", p->text);
  if (td_hls_bench_is_there(p))
    td_text_line(&h->out, "%s.read(\"%s\", %s);", h->files, p->name, p->name);
  if (p->type->kind != TD_T_TENSOR) return;
  td_text_line(&h->out, "xrt::bo %s(%s, sizeof %s, %s.group_id(%zu));", bo, h->device, p->name,
               h->top, i);
  td_text_line(&h->out, "%s.write(%s);", bo, p->name);
  td_text_line(&h->out, "%s.sync(XCL_BO_SYNC_BO_TO_DEVICE);", bo);
}

/* What was written, back and compared. */
static void put_compare(Host *h, const TdHlsParam *p) {
  const char *bo = buffer_of(h, p);
  if (p->type->kind != TD_T_TENSOR || !p->written || !td_hls_bench_is_there(p)) return;
  td_text_line(&h->out, "%s.sync(XCL_BO_SYNC_BO_FROM_DEVICE);", bo);
  td_text_line(&h->out, "%s.read(%s);", bo, p->name);
  td_text_line(&h->out, "%s += %s.compare(\"%s.want\", %s);", h->wrong, h->files, p->name, p->name);
}

/* Puts the arguments on the card, runs the kernel there, and takes them back. */
static void put_run(Host *h) {
  const TdHlsText *t = h->t;
  for (size_t i = 0; i < t->nparam; i++) put_param(h, i);
  td_text_putf(&h->out, "  %s(", h->top);
  for (size_t i = 0; i < t->nparam; i++) {
    const TdHlsParam *p = &t->param[i];
    bool array = p->type->kind == TD_T_TENSOR;
    td_text_putf(&h->out, "%s%s", i ? ", " : "",
                 array ? buffer_of(h, p) : word_of(h->out.arena, p));
  }
  td_text_puts(&h->out, ").wait();\n");
  td_text_line(&h->out, "long %s = 0;", h->wrong);
  for (size_t i = 0; i < t->nparam; i++) put_compare(h, &t->param[i]);
  td_text_line(&h->out, "return %s != 0;", h->wrong);
}

const char *td_hls_host_of(TdArena *a, const TdHlsText *t) {
  Host h = {.out = td_text_new(a), .t = t};
  const char *argc = td_hls_bench_apart(a, t, "argc"), *argv = td_hls_bench_apart(a, t, "argv");
  h.files = td_hls_bench_apart(a, t, "files");
  h.device = td_hls_bench_apart(a, t, "device");
  h.top = td_hls_bench_apart(a, t, "top");
  h.wrong = td_hls_bench_apart(a, t, "wrong");
  td_text_putf(&h.out,
               "// host.cpp - runs %s on a card by XRT, with the data of a folder (data, or as\n"
               "// given), and compares what it wrote with the .want files there.\n"
               "#include \"kernel.h\"\n#include \"tide_data.h\"\n\n#include <xrt/xrt_bo.h>\n"
               "#include <xrt/xrt_device.h>\n#include <xrt/xrt_kernel.h>\n\n",
               t->top);
  td_text_line(&h.out, "int main(int %s, char **%s) {", argc, argv);
  h.out.indent++;
  td_text_line(&h.out, "tide::Data %s(%s > 2 ? %s[2] : \"data\");", h.files, argc, argv);
  td_text_line(&h.out, "xrt::device %s(0);", h.device);
  td_text_line(&h.out,
               "xrt::kernel %s(%s, %s.load_xclbin(%s > 1 ? %s[1] : \"%s.xclbin\"), \"%s\");", h.top,
               h.device, h.device, argc, argv, t->top, t->top);
  put_run(&h);
  h.out.indent--;
  td_text_line(&h.out, "}");
  return td_text_str(&h.out);
}
