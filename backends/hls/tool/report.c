/* report.c - the synthesis report: csynth.xml read as a tree, and what of it people ask for. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "backends/hls/option.h"

enum { DEEPEST = 64 };

/* An element of XML; attributes are passed over. */
typedef struct Node {
  const char *name, *text;
  TD_VEC(const struct Node *) kid;
} Node;

typedef struct Reader {
  TdArena *arena;
  const char *at;
} Reader;

/* Passes over what stands between elements. */
static void skip(Reader *r) {
  for (;;) {
    r->at += strspn(r->at, " \t\r\n");
    bool comment = strncmp(r->at, "<!--", 4) == 0;
    if (!comment && strncmp(r->at, "<?", 2) != 0 && strncmp(r->at, "<!", 2) != 0) return;
    const char *end = strstr(r->at, comment ? "-->" : ">");
    r->at = end ? end + (comment ? 3 : 1) : r->at + strlen(r->at);
  }
}

/* The element at the reader, or NULL where there is none or it does not end. */
static Node *read_node(Reader *r, int depth) {
  skip(r);
  if (*r->at != '<' || r->at[1] == '/' || depth > DEEPEST) return NULL;
  Node *n = TD_NEW(r->arena, Node);
  size_t len = strcspn(r->at + 1, " \t\r\n/>");
  n->name = td_arena_strndup(r->arena, r->at + 1, len);
  n->text = "";
  r->at += 1 + len;
  const char *end = strchr(r->at, '>');
  if (!end) return NULL;
  bool empty = end[-1] == '/';
  r->at = end + 1;
  if (empty) return n;
  for (const Node *k; (k = read_node(r, depth + 1));) td_vec_push(r->arena, &n->kid, k);
  len = strcspn(r->at, "<");
  size_t shown = len;
  while (shown && isspace((unsigned char)r->at[shown - 1])) shown--;
  n->text = td_arena_strndup(r->arena, r->at, shown);
  end = strchr(r->at + len, '>');
  if (!end) return NULL;
  r->at = end + 1;
  return n;
}

static const Node *kid(const Node *n, const char *name) {
  for (size_t i = 0; n && i < n->kid.n; i++)
    if (strcmp(n->kid.at[i]->name, name) == 0) return n->kid.at[i];
  return NULL;
}

/* The report being made. */
typedef struct Report {
  TdArena *arena;
  TdText out;
  const char *source; /* kernel.cpp */
  int loops;
  TD_VEC(const char *) seen; /* loops that were told */
} Report;

/* "path value", where there is a value; a range as its two ends. */
static void put(Report *r, const char *path, const Node *n) {
  const Node *range = kid(n, "range");
  if (range) {
    put(r, td_text_fmt(r->arena, "%s.min", path), kid(range, "min"));
    put(r, td_text_fmt(r->arena, "%s.max", path), kid(range, "max"));
  } else if (n && *n->text) {
    td_text_putf(&r->out, "%s %s\n", path, n->text);
  }
}

/* The variable of the loop on a line of kernel.cpp, or NULL. */
static const char *loop_on(const Report *r, long line) {
  const char *s = r->source;
  for (long i = 1; i < line && *s; i++) {
    s += strcspn(s, "\n");
    s += *s == '\n';
  }
  s += strspn(s, " ");
  if (strncmp(s, "for (", 5) != 0) return strncmp(s, "while (", 7) == 0 ? "while" : NULL;
  s += 5 + strcspn(s + 5, " ");
  s += strspn(s, " ");
  return td_arena_strndup(r->arena, s, strcspn(s, " ;="));
}

/* A loop's name as the program has it: Vitis calls one without a label VITIS_LOOP_<line>_<n>, and
 * joins the names of those that it made one loop of. */
static const char *loop_name(const Report *r, const char *vitis) {
  static const char mark[] = "VITIS_LOOP_";
  TdText t = td_text_new(r->arena);
  for (const char *s = strstr(vitis, mark); s; s = strstr(s, mark)) {
    s += strlen(mark);
    const char *name = loop_on(r, strtol(s, NULL, 10));
    if (name) td_text_putf(&t, "%s%s", t.n ? "_" : "", name);
  }
  return t.n ? td_text_str(&t) : vitis;
}

static bool is_new(Report *r, const char *name) {
  for (size_t i = 0; i < r->seen.n; i++)
    if (strcmp(r->seen.at[i], name) == 0) return false;
  td_vec_push(r->arena, &r->seen, name);
  return true;
}

/* A loop, and those inside it. */
static void put_loop(Report *r, const Node *n) {
  static const char *const fields[][2] = {{"TripCount", "trip"},
                                          {"PipelineII", "ii"},
                                          {"PipelineDepth", "depth"},
                                          {"IterationLatency", "iteration"},
                                          {"Latency", "latency"}};
  if (!kid(n, "TripCount") || !is_new(r, n->name)) return;
  const char *path = td_text_fmt(r->arena, "loops.%d", ++r->loops);
  td_text_putf(&r->out, "%s.name %s\n", path, loop_name(r, n->name));
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    put(r, td_text_fmt(r->arena, "%s.%s", path, fields[i][1]), kid(n, fields[i][0]));
  for (size_t i = 0; i < n->kid.n; i++) put_loop(r, n->kid.at[i]);
}

/* The loops of every function of the report. */
static void put_loops(Report *r, const Node *n) {
  bool loops = strcmp(n->name, "SummaryOfLoopLatency") == 0;
  for (size_t i = 0; i < n->kid.n; i++)
    if (loops)
      put_loop(r, n->kid.at[i]);
    else
      put_loops(r, n->kid.at[i]);
}

/* The element at a path of names separated by '/'. */
static const Node *find(Report *r, const Node *n, const char *path) {
  for (const char *s = path; n && *s;) {
    size_t len = strcspn(s, "/");
    n = kid(n, td_arena_strndup(r->arena, s, len));
    s += len + (s[len] == '/');
  }
  return n;
}

const char *td_hls_report_of(TdArena *a, const char *xml, const char *source) {
  static const char *const facts[][2] = {
      {"UserAssignments/TopModelName", "top"},
      {"UserAssignments/Part", "part"},
      {"UserAssignments/TargetClockPeriod", "clock.target"},
      {"UserAssignments/ClockUncertainty", "clock.uncertainty"},
      {"PerformanceEstimates/SummaryOfTimingAnalysis/EstimatedClockPeriod", "clock.estimated"},
      {"PerformanceEstimates/SummaryOfOverallLatency/Best-caseLatency", "latency.min"},
      {"PerformanceEstimates/SummaryOfOverallLatency/Worst-caseLatency", "latency.max"},
      {"PerformanceEstimates/SummaryOfOverallLatency/Interval-min", "interval.min"},
      {"PerformanceEstimates/SummaryOfOverallLatency/Interval-max", "interval.max"},
      {"AreaEstimates/Resources/BRAM_18K", "resources.bram"},
      {"AreaEstimates/Resources/DSP", "resources.dsp"},
      {"AreaEstimates/Resources/FF", "resources.ff"},
      {"AreaEstimates/Resources/LUT", "resources.lut"},
      {"AreaEstimates/Resources/URAM", "resources.uram"}};
  Reader reader = {a, xml};
  Report r = {.arena = a, .out = td_text_new(a), .source = source};
  const Node *root = read_node(&reader, 0);
  if (!root || strcmp(root->name, "profile") != 0) return NULL;
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
    put(&r, facts[i][1], find(&r, root, facts[i][0]));
  put_loops(&r, root);
  return td_text_str(&r.out);
}
