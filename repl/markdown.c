/* markdown.c - libcmark, loaded on demand, so that neither the build nor the prompt needs it. */
#include "repl/markdown.h"

#include <dlfcn.h>
#include <string.h>

/* What is used of cmark.h: its allocator, the renderer, the option that keeps raw HTML. */
typedef struct Allocator {
  void *(*calloc)(size_t, size_t);
  void *(*realloc)(void *, size_t);
  void (*release)(void *);
} Allocator;
typedef Allocator *AllocatorOf(void);
typedef char *Render(const char *text, size_t n, int options);
enum { KEEP_HTML = 1 << 17 };

/* The shared library, or NULL: by its name for developers, then by that of Debian 12. */
static void *open_library(void) {
  void *library = dlopen("libcmark.so", RTLD_NOW | RTLD_LOCAL);
  return library ? library : dlopen("libcmark.so.0.30.2", RTLD_NOW | RTLD_LOCAL);
}

/* Sets the pointer to a function at `function`, of n bytes, to a symbol of the library (ISO C has
 * no cast for it); false if there is none. */
static bool find(void *library, const char *name, void *function, size_t n) {
  void *symbol = dlsym(library, name);
  memcpy(function, &symbol, n);
  return symbol != NULL;
}

static void close_library(void *library) {
  dlclose(library);
}

bool td_markdown_html(TdText *out, const char *text, size_t n) {
  AllocatorOf *allocator_of;
  Render *render;
  void *library = open_library();
  if (!library) return false;
  td_arena_defer(out->arena, close_library, library);
  if (!find(library, "cmark_get_default_mem_allocator", &allocator_of, sizeof allocator_of) ||
      !find(library, "cmark_markdown_to_html", &render, sizeof render))
    return false;
  char *html = render(text, n, KEEP_HTML);
  td_arena_defer(out->arena, allocator_of()->release, html);
  td_text_puts(out, html);
  return true;
}

bool td_markdown_is_here(void) {
  void *library = open_library();
  if (library) dlclose(library);
  return library != NULL;
}
