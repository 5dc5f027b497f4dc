/* xrt_device.h - a card for host programs in tests: what they use of XRT, in one process. A kernel
 * is the C++ function of its name; buffers have a memory of their own on the card, which holds
 * rubbish until it is synchronised. What a card could not do ends the program and is told. */
#ifndef TIDE_FAKE_XRT_DEVICE_H
#define TIDE_FAKE_XRT_DEVICE_H

#include <cstdio>
#include <cstdlib>
#include <string>

namespace xrt {

[[noreturn]] inline void fail(const std::string &what) {
  fprintf(stderr, "xrt: %s\n", what.c_str());
  exit(3);
}

/* A program that was loaded. */
struct uuid {
  std::string path;
};

struct device {
  explicit device(unsigned index) {
    if (index) fail("there is one card, number 0");
  }
  uuid load_xclbin(const std::string &path) { return {path}; }
};

} // namespace xrt

#endif
