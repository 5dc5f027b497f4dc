/* inputs.c - a list of [number, input, output]; the session is number 1. */
#include "repl/jupyter/inputs.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>

enum { NUMBER, INPUT, OUTPUT };

void td_inputs_add(json_t *history, json_int_t n, const json_t *input) {
  json_array_append_new(history, json_pack("[I, O, n]", n, input));
}

void td_inputs_show(json_t *history, json_t *output) {
  size_t n = json_array_size(history);
  if (n) json_array_set(json_array_get(history, n - 1), OUTPUT, output);
}

/* The text of an entry. */
static const char *input_of(const json_t *entry) {
  const char *text = json_string_value(json_array_get(entry, INPUT));
  return text ? text : "";
}

/* Whether an entry is one that the request asks for. */
static bool is_wanted(const json_t *entry, const json_t *request) {
  const char *kind = json_string_value(json_object_get(request, "hist_access_type"));
  json_int_t number = json_integer_value(json_array_get(entry, NUMBER));
  if (kind && strcmp(kind, "range") == 0) {
    const json_t *stop = json_object_get(request, "stop");
    return json_integer_value(json_object_get(request, "session")) <= 1 &&
           number >= json_integer_value(json_object_get(request, "start")) &&
           (!json_is_integer(stop) || number < json_integer_value(stop));
  }
  if (!kind || strcmp(kind, "search") != 0) return true;
  const char *pattern = json_string_value(json_object_get(request, "pattern"));
  return fnmatch(pattern ? pattern : "*", input_of(entry), 0) == 0;
}

/* Whether a later entry that is wanted has the same input. */
static bool is_repeated(const json_t *history, size_t at, const json_t *request) {
  const char *input = input_of(json_array_get(history, at));
  for (size_t i = at + 1; i < json_array_size(history); i++) {
    const json_t *entry = json_array_get(history, i);
    if (strcmp(input_of(entry), input) == 0 && is_wanted(entry, request)) return true;
  }
  return false;
}

json_t *td_inputs_answer(const json_t *history, const json_t *request) {
  const json_t *most = json_object_get(request, "n");
  bool unique = json_is_true(json_object_get(request, "unique"));
  bool output = json_is_true(json_object_get(request, "output"));
  json_t *found = json_array();
  for (size_t i = json_array_size(history); i-- > 0;) {
    const json_t *entry = json_array_get(history, i);
    json_t *input = json_array_get(entry, INPUT), *shown = json_array_get(entry, OUTPUT);
    if (json_is_integer(most) && (json_int_t)json_array_size(found) >= json_integer_value(most))
      break;
    if (!is_wanted(entry, request) || (unique && is_repeated(history, i, request))) continue;
    json_t *text = output ? json_pack("[O, O]", input, shown) : json_incref(input);
    json_array_insert_new(found, 0, json_pack("[i, O, o]", 1, json_array_get(entry, NUMBER), text));
  }
  return json_pack("{s:s, s:o}", "status", "ok", "history", found);
}
