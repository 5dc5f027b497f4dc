/* tide_dataflow.h - the calls of a dataflow region. With Tide's own headers they are tasks that run
 * side by side, on streams that hold no more than they say; with the vendor's they are plain calls,
 * as synthesis wants them. */
#ifndef TIDE_DATAFLOW_H
#define TIDE_DATAFLOW_H

#include "hls_stream.h"

#ifdef TIDE_CSIM_H

/* Streams of the region, by name; the region ends, and all its tasks with it, where the scope ends.
 */
#  define TIDE_REGION(...)                                                                         \
    tide_csim::dataflow tide_region;                                                               \
    tide_region.channels(#__VA_ARGS__)(__VA_ARGS__)
/* Bytes of the tasks' local arrays, if they are many. */
#  define TIDE_LOCALS(bytes) tide_region.make_room(bytes)
#  define TIDE_TASK(name, ...) tide_region.call(name, __VA_ARGS__)

#else

#  define TIDE_REGION(...)
#  define TIDE_LOCALS(bytes)
#  define TIDE_TASK(name, ...) __VA_ARGS__

#endif

namespace tide {

/* A token of, or to, the i-th of some streams that are no row of an array. */
template <class T> T read_of(int, hls::stream<T> &last) {
  return last.read();
}
template <class T, class... S> T read_of(int i, hls::stream<T> &first, S &...rest) {
  if (i == 0) return first.read();
  return read_of(i - 1, rest...);
}
template <class V, class T> void write_of(int, const V &value, hls::stream<T> &last) {
  last.write(value);
}
template <class V, class T, class... S>
void write_of(int i, const V &value, hls::stream<T> &first, S &...rest) {
  if (i == 0)
    first.write(value);
  else
    write_of(i - 1, value, rest...);
}

} // namespace tide

#endif
