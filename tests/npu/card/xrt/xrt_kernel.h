/* xrt_kernel.h - as much of XRT as host.cpp calls, on a card that is no card: a run has the program
 * that the variable CARD names interpret the design beside the .xclbin, on files of the buffers. */
#ifndef CARD_XRT_H
#define CARD_XRT_H

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

enum { XCL_BO_FLAGS_CACHEABLE = 1, XRT_BO_FLAGS_HOST_ONLY = 2 };
enum xclBOSyncDirection { XCL_BO_SYNC_BO_TO_DEVICE, XCL_BO_SYNC_BO_FROM_DEVICE };

namespace xrt {

struct uuid {};

struct xclbin {
  std::string path;
  xclbin(const std::string &p) : path(p) {
    if (!std::ifstream(p)) throw std::runtime_error("no such xclbin: " + p);
  }
  uuid get_uuid() const { return {}; }
};

struct device {
  std::shared_ptr<std::string> path = std::make_shared<std::string>();
  device(int) {}
  uuid register_xclbin(const xclbin &x) {
    *path = x.path;
    return {};
  }
};

struct hw_context {
  device card;
  hw_context(const device &d, const uuid &) : card(d) {}
};

/* What the host sees, and what the card sees: sync copies. */
struct bo {
  std::shared_ptr<std::vector<char>> host, card;
  bool scalar = false;
  bo(const device &, size_t n, int, int)
      : host(std::make_shared<std::vector<char>>(n)), card(std::make_shared<std::vector<char>>(n)) {
  }
  template <typename T> T map() { return reinterpret_cast<T>(host->data()); }
  void sync(xclBOSyncDirection d) {
    if (d == XCL_BO_SYNC_BO_TO_DEVICE)
      *card = *host;
    else
      *host = *card;
  }
};

struct kernel {
  device card;
  kernel(const hw_context &c, const std::string &name) : card(c.card) {
    if (name != "MLIR_AIE") throw std::runtime_error("no such kernel: " + name);
  }
  int group_id(int i) const { return i; }
};

struct run {
  kernel k;
  std::vector<bo> arg;
  int opcode = 0;
  run(const kernel &x) : k(x) {}
  void set_arg(int i, int v) {
    if (i == 0) opcode = v;
  }
  void set_arg(int i, std::uint32_t v) {
    if (i < 3) return;
    bo word(k.card, 0, 0, 0);
    word.card->resize(4);
    *reinterpret_cast<std::uint32_t *>(word.card->data()) = v;
    word.scalar = true;
    arg.push_back(word);
  }
  void set_arg(int i, const bo &b) {
    if (i >= 3) arg.push_back(b);
  }
  void start() {}
  void wait() {
    std::string folder = *k.card.path;
    folder = folder.find('/') == std::string::npos ? "." : folder.substr(0, folder.rfind('/'));
    std::string command = std::string(std::getenv("CARD")) + " '" + folder + "'";
    if (opcode != 3) throw std::runtime_error("another opcode");
    for (size_t i = 0; i < arg.size(); i++) {
      std::string path = folder + "/card" + std::to_string(i);
      std::ofstream(path, std::ios::binary).write(arg[i].card->data(), long(arg[i].card->size()));
      command += (arg[i].scalar ? " =" : " ") + std::to_string(arg[i].card->size());
    }
    if (std::system(command.c_str())) throw std::runtime_error("the card failed");
    for (size_t i = 0; i < arg.size(); i++) {
      std::string path = folder + "/card" + std::to_string(i);
      std::ifstream(path, std::ios::binary).read(arg[i].card->data(), long(arg[i].card->size()));
    }
  }
};

} // namespace xrt

#endif
