/* hls_streamofblocks.h - hls::stream_of_blocks<T, DEPTH>: DEPTH arrays between two tasks. */
#ifndef TIDE_HLS_STREAMOFBLOCKS_H
#define TIDE_HLS_STREAMOFBLOCKS_H

#include "tide_region.h"

namespace hls {

template <class T> class write_lock;
template <class T> class read_lock;

/* The blocks of type T, an array, in a ring. `fill` counts blocks handed over and not yet freed by
 * the reader. */
template <class T> class block_ring : public tide_csim::channel {
public:
  block_ring(const char *name, int places)
      : channel(name, places), blocks(new T[static_cast<size_t>(places)]()) {}
  ~block_ring() { delete[] blocks; }
  bool empty() const {
    if (!readable()) tide_csim::poll(*this, tide_csim::wish::read);
    return !readable();
  }
  bool full() const {
    if (!writable()) tide_csim::poll(*this, tide_csim::wish::write);
    return !writable();
  }

private:
  friend class write_lock<T>;
  friend class read_lock<T>;
  bool readable() const { return fill > 0 && !reading; }
  bool writable() const { return fill < depth && !writing; }

  T *blocks;
  int head = 0;
  bool reading = false, writing = false;
};

template <class T, int DEPTH = 2> class stream_of_blocks : public block_ring<T> {
  static_assert(DEPTH > 0, "a stream of blocks has a block");

public:
  explicit stream_of_blocks(const char *name = nullptr, int most = DEPTH)
      : block_ring<T>(name, most) {}
};

/* Takes a free block when made, waiting for one, and hands it over when it goes out of scope. */
template <class T> class write_lock {
public:
  explicit write_lock(block_ring<T> &r) : ring(r) {
    while (!r.writable()) tide_csim::block(r, tide_csim::wish::write);
    r.writing = true;
    block = r.blocks + (r.head + r.fill) % r.depth;
  }
  write_lock(const write_lock &) = delete;
  write_lock &operator=(const write_lock &) = delete;
  ~write_lock() {
    ring.writing = false;
    ++ring.fill;
    tide_csim::moved();
  }
  operator T &() { return *block; }
  template <class N> auto &operator[](const N &i) { return (*block)[i]; }

private:
  block_ring<T> &ring;
  T *block;
};

/* Takes the oldest block handed over, waiting for one, to be read only; frees it at the end of its
 * scope. */
template <class T> class read_lock {
public:
  explicit read_lock(block_ring<T> &r) : ring(r) {
    while (!r.readable()) tide_csim::block(r, tide_csim::wish::read);
    r.reading = true;
    block = r.blocks + r.head;
  }
  read_lock(const read_lock &) = delete;
  read_lock &operator=(const read_lock &) = delete;
  ~read_lock() {
    ring.reading = false;
    ring.head = (ring.head + 1) % ring.depth;
    --ring.fill;
    tide_csim::moved();
  }
  operator const T &() const { return *block; }
  template <class N> const auto &operator[](const N &i) const { return (*block)[i]; }

private:
  block_ring<T> &ring;
  const T *block;
};

} // namespace hls

#endif
