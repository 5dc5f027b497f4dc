/* hls.c - the backend: its options, and what it takes. */
#include "backends/hls/hls.h"

#include <string.h>

#include "analysis/net/interface.h"
#include "analysis/time/target.h"
#include "backends/hls/option.h"
#include "lower/lower.h"

static const TdOption options[TD_HLS_OPTIONS] = {
    [TD_HLS_TOP] = {"top", TD_OPTION_WORD, "", "name of the top function; else the kernel's"},
    [TD_HLS_DEVICE] = {"device", TD_OPTION_WORD, td_target_parts,
                       "as in estimates: the part and the clock"},
    [TD_HLS_PART] = {"part", TD_OPTION_WORD, "xcu280-fsvh2892-2L-e",
                     "device, by its name in Vitis"},
    [TD_HLS_CLOCK] = {"clock", TD_OPTION_WORD, "10ns", "period or frequency: 3.3, 3.3ns, 300MHz"},
    [TD_HLS_INTERFACE] = {"interface", TD_OPTION_WORD, "m_axi|ap_memory",
                          "array arguments are buses, or memory ports"},
    [TD_HLS_STYLE] = {"style", TD_OPTION_WORD, "default|stp|flp|frp",
                      "of pipelines: stp stalls as a whole, flp is flushed, frp runs free"},
    [TD_HLS_FLOW] = {"flow", TD_OPTION_WORD, "csynth|csim|cosim|export", "how far Vitis HLS goes"},
    [TD_HLS_TESTBENCH] = {"testbench", TD_OPTION_BOOL, "true", "write a test bench with data"},
    [TD_HLS_TOOL] = {"tool", TD_OPTION_BOOL, "true",
                     "run Vitis HLS after writing, if it is on PATH"},
    [TD_HLS_SECONDS] = {"seconds", TD_OPTION_INT, "3600",
                        "most time of Vitis HLS, and of a simulation"},
    [TD_HLS_MATH] = {TD_MATH_OPTION, TD_OPTION_WORD, "library|core", TD_MATH_HELP},
};

/* What the device that is named says of an option; or NULL. */
static const char *by_device(const TdBuild *b, int option) {
  const char *name = b->value ? b->value[TD_HLS_DEVICE] : NULL;
  const TdTarget *t = name ? td_target_find(name) : NULL;
  if (!t || b->value[option]) return NULL;
  if (option == TD_HLS_PART) return t->part;
  if (option != TD_HLS_CLOCK) return NULL;
  return td_text_fmt(b->arena, "%d.%03dns", (int)(t->clock / 1000), (int)(t->clock % 1000));
}

const char *td_hls_option(const TdBuild *b, int option) {
  const char *own = by_device(b, option);
  if (own) return own;
  const char *said = td_backend_option(&td_backend_hls, b, (size_t)option);
  return td_arena_strndup(b->arena, said, strcspn(said, "|"));
}

/* What the options say of the text. */
static TdHlsStyle style_of(const TdBuild *b) {
  const char *pipes = td_hls_option(b, TD_HLS_STYLE);
  return (TdHlsStyle){.top = td_hls_option(b, TD_HLS_TOP),
                      .pipes = strcmp(pipes, "default") == 0 ? NULL : pipes,
                      .ap_memory = strcmp(td_hls_option(b, TD_HLS_INTERFACE), "ap_memory") == 0};
}

/* Whether every array has the banks that it is expected to have where it is passed. */
static bool check_banks(const TdBuild *b) {
  TdAsk q = {td_affine_new(b->arena), b->arena, b->prog, td_prog_root(b->prog)};
  return td_interface_check(&q, b->diag);
}

const TdHlsText *td_hls_text(const TdBuild *b) {
  TdHlsStyle style = style_of(b);
  return td_hls_text_of(b->arena, b->lowered, &style, b->diag);
}

/* Whether text is a number with, perhaps, ns or MHz behind it. */
static bool is_clock(const char *text) {
  size_t n = strspn(text, "0123456789");
  if (text[n] == '.') n += 1 + strspn(text + n + 1, "0123456789");
  const char *unit = text + n;
  return n && strpbrk(text, "123456789") &&
         (!*unit || strcmp(unit, "ns") == 0 || strcmp(unit, "MHz") == 0);
}

/* Whether a name or device can stand in a script. */
static bool is_word(const char *text) {
  return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")] ==
         0;
}

/* Says that option i cannot be what it is. */
static bool refuse(const TdBuild *b, int i, const char *why) {
  return td_diag_set(b->diag, TD_USAGE, "option", (TdLoc){0}, "'%s' is %s, not '%s'",
                     options[i].name, why, td_hls_option(b, i));
}

static bool validate(const TdBuild *b) {
  if (!is_clock(td_hls_option(b, TD_HLS_CLOCK)))
    return refuse(b, TD_HLS_CLOCK, "a period in ns or a frequency, as in \"3.3ns\" or \"300MHz\"");
  if (!is_word(td_hls_option(b, TD_HLS_PART)) || !*td_hls_option(b, TD_HLS_PART))
    return refuse(b, TD_HLS_PART, "the name of a device");
  if (!is_word(td_hls_option(b, TD_HLS_TOP))) return refuse(b, TD_HLS_TOP, "a name");
  return check_banks(b);
}

static void *open_run(const TdBuild *b) {
  return td_hls_run_new(b);
}

static bool call_run(void *run, const TdCallArg *arg, size_t narg, TdDiag *d) {
  return td_hls_run_call(run, arg, narg, d);
}

static void reset_run(void *run) {
  td_hls_run_reset(run);
}

const TdBackend td_backend_hls = {
    .name = "hls",
    .summary = "HLS C++ for Vitis, with test bench and scripts",
    .option = options,
    .noption = TD_HLS_OPTIONS,
    .passes = TD_LOWER_GUARDS | TD_LOWER_COLLECTIVES | TD_LOWER_TENSORS | TD_LOWER_NETWORKS |
              TD_LOWER_CALLS,
    .validate = validate,
    .emit = td_hls_files_of,
    .data = td_hls_files_data,
    .data_option = "testbench",
    .tool = td_hls_tool_run,
    .read_report = td_hls_tool_report,
    .open = open_run,
    .call = call_run,
    .reset = reset_run,
};
