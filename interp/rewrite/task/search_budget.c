/* search_budget.c - checks of steps and seconds. */
#include "rewrite/task/search_budget.h"

static bool refuse(TdRewrite *r, const char *code, const char *why) {
  td_util_refuse(r, TD_USAGE, code, td_prog_root(r->prog)->loc, "%s", why);
  return false;
}

bool td_search_budget(TdRewrite *r, const TdArgValue *steps, const TdArgValue *seconds,
                      TdSearchLimits *out) {
  if (steps->given && steps->integer < 1)
    return refuse(r, "steps", "a search takes at least 1 step");
  if (seconds->given && !(seconds->number > 0 && seconds->number < 1e9))
    return refuse(r, "seconds", "a search may be given more than 0 seconds");
  out->steps = steps->given ? (uint64_t)steps->integer : 0;
  out->seconds = seconds->given ? seconds->number : 0;
  return true;
}
