/* hls_stream.h - hls::stream<T, DEPTH>: a FIFO that holds exactly DEPTH tokens and blocks. */
#ifndef TIDE_HLS_STREAM_H
#define TIDE_HLS_STREAM_H

#include "tide_region.h"

namespace hls {

template <class T, int DEPTH = 0> class stream;

/* A stream whose depth is said at run time (2 unless given); what functions take by reference to
 * accept any. */
template <class T> class stream<T, 0> : public tide_csim::channel {
public:
  stream() : stream(nullptr) {}
  explicit stream(const char *name, int most = 2) : channel(name, most), slots(new T[places()]()) {}
  ~stream() { delete[] slots; }

  /* Changes the depth of an empty stream. */
  void set_depth(int most) {
    delete[] slots;
    depth = most;
    slots = new T[places()]();
    fill = head = 0;
  }

  /* These block until they can be done. */
  T read() {
    while (fill == 0) tide_csim::block(*this, tide_csim::wish::read);
    const int at = head;
    head = next(1);
    --fill;
    tide_csim::moved();
    return slots[at];
  }
  void read(T &token) { token = read(); }
  void write(const T &token) {
    while (fill == depth) tide_csim::block(*this, tide_csim::wish::write);
    slots[next(fill)] = token;
    ++fill;
    tide_csim::moved();
  }
  void operator>>(T &token) { token = read(); }
  void operator<<(const T &token) { write(token); }

  /* These do not: they return whether it was done. */
  bool read_nb(T &token) {
    if (empty()) return false;
    token = read();
    return true;
  }
  bool write_nb(const T &token) {
    if (full()) return false;
    write(token);
    return true;
  }

  /* A yes lets the other tasks have their turn first, and is the answer after it. */
  bool empty() const {
    if (fill == 0) tide_csim::poll(*this, tide_csim::wish::read);
    return fill == 0;
  }
  bool full() const {
    if (fill == depth) tide_csim::poll(*this, tide_csim::wish::write);
    return fill == depth;
  }
  size_t size() const { return static_cast<size_t>(fill); }
  size_t capacity() const { return places(); }

private:
  size_t places() const { return static_cast<size_t>(depth); }
  int next(int n) const { return (head + n) % depth; }

  T *slots;
  int head = 0;
};

/* A stream of constant depth. */
template <class T, int DEPTH> class stream : public stream<T, 0> {
  static_assert(DEPTH > 0, "a stream has room for a token");

public:
  stream() : stream<T, 0>(nullptr, DEPTH) {}
  explicit stream(const char *name, int most = DEPTH) : stream<T, 0>(name, most) {}
};

} // namespace hls

#endif
