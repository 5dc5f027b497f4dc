/* xrt_bo.h - buffers: a part that the host reads and writes, and one that the card does. */
#ifndef TIDE_FAKE_XRT_BO_H
#define TIDE_FAKE_XRT_BO_H

#include <cstring>
#include <memory>
#include <vector>

#include "xrt_device.h"

enum xclBOSyncDirection { XCL_BO_SYNC_BO_TO_DEVICE, XCL_BO_SYNC_BO_FROM_DEVICE };

namespace xrt {

/* A handle: copies are the same buffer. */
class bo {
public:
  bo(const device &, size_t bytes, int group)
      : memory(std::make_shared<parts>(parts{std::vector<unsigned char>(bytes, 0x5a),
                                             std::vector<unsigned char>(bytes, 0xa5), group})) {}
  void write(const void *from) { memcpy(memory->host.data(), from, memory->host.size()); }
  void read(void *to) { memcpy(to, memory->host.data(), memory->host.size()); }
  void sync(xclBOSyncDirection way) {
    if (way == XCL_BO_SYNC_BO_TO_DEVICE)
      memory->card = memory->host;
    else
      memory->host = memory->card;
  }
  /* What the card sees, and the argument that the buffer was made for. */
  std::vector<unsigned char> &card() { return memory->card; }
  int group() const { return memory->group; }

private:
  struct parts {
    std::vector<unsigned char> host, card;
    int group;
  };
  std::shared_ptr<parts> memory;
};

} // namespace xrt

#endif
