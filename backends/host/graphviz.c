/* graphviz.c - the few functions of libgvc and libcgraph that lay a graph out, found by name. */
#include "backends/host/graphviz.h"

#include <dlfcn.h>
#include <string.h>

/* What is loaded; `gvc` is NULL where something lacks. */
static struct {
  bool tried;
  void *gvc;
  void *(*context)(void);
  void *(*read)(const char *text);
  int (*lay_out)(void *gvc, void *graph, const char *engine);
  int (*render)(void *gvc, void *graph, const char *format, char **text, unsigned *n);
  void (*free_text)(char *text);
  int (*free_layout)(void *gvc, void *graph);
  int (*close)(void *graph);
  int (*quiet)(int level);
} lib;

/* Puts the address of a function into *to; whether it is there. */
static bool find(void *library, const char *name, void *to) {
  void *symbol = library ? dlsym(library, name) : NULL;
  memcpy(to, &symbol, sizeof symbol);
  return symbol;
}

/* Loads both libraries, which stay: libgvc keeps its plugins for the life of the process. */
static void load(void) {
  enum { NOTHING = 2 }; /* of what is wrong with a graph is written to stderr */
  void *gvc = dlopen("libgvc.so.6", RTLD_NOW | RTLD_LOCAL);
  void *graph = dlopen("libcgraph.so.6", RTLD_NOW | RTLD_LOCAL);
  lib.tried = true;
  bool all = find(gvc, "gvContext", &lib.context) && find(gvc, "gvLayout", &lib.lay_out) &&
             find(gvc, "gvRenderData", &lib.render) &&
             find(gvc, "gvFreeRenderData", &lib.free_text) &&
             find(gvc, "gvFreeLayout", &lib.free_layout) && find(graph, "agmemread", &lib.read) &&
             find(graph, "agclose", &lib.close) && find(graph, "agseterr", &lib.quiet);
  if (!all) return;
  lib.quiet(NOTHING);
  lib.gvc = lib.context();
}

/* The text of a graph that was read. */
static const char *render(TdArena *a, void *graph, const char *format) {
  char *text = NULL;
  unsigned n = 0;
  if (lib.lay_out(lib.gvc, graph, "dot") != 0) return NULL;
  const char *made = NULL;
  if (lib.render(lib.gvc, graph, format, &text, &n) == 0 && text) {
    made = td_arena_strndup(a, text, n);
    lib.free_text(text);
  }
  lib.free_layout(lib.gvc, graph);
  return made;
}

const char *td_graphviz_render(TdArena *a, const char *dot, const char *format, TdDiag *d) {
  if (!lib.tried) load();
  void *graph = lib.gvc ? lib.read(dot) : NULL;
  const char *made = graph ? render(a, graph, format) : NULL;
  if (graph) lib.close(graph);
  if (made) return made;
  td_diag_set(d, TD_UNSUPPORTED, "no-graphviz", (TdLoc){0}, "%s",
              lib.gvc ? "Graphviz cannot draw this graph"
                      : "graphs are drawn by Graphviz, which is not here");
  td_diag_help(d, "apt-get install graphviz; text and :dot() need nothing");
  return NULL;
}
