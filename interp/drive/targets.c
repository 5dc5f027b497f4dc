/* targets.c - the table of targets, as the Makefile lists it. */
#include "backends/backend.h"
#include "gen/backends.gen.h"

const TdBackend *const td_backends[] = TD_BACKENDS;
