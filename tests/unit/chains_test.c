/* chains_test.c - runs chains.lua. */
/* [slow] */
#include "session.h"

int main(int argc, char **argv) {
  return session_main(argc, argv, "tests/unit/chains.lua");
}
