/* printed_test.c - runs printed.lua. */
/* [slow] */
#include "session.h"

int main(int argc, char **argv) {
  return session_main(argc, argv, "tests/unit/printed.lua");
}
