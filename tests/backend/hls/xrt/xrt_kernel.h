/* xrt_kernel.h - kernels: C++ functions, which a file compiled with the host program names by
 * XRT_KERNEL(top). Registers have as many bits as the next of 8, 16, 32 and 64. */
#ifndef TIDE_FAKE_XRT_KERNEL_H
#define TIDE_FAKE_XRT_KERNEL_H

#include <functional>
#include <map>
#include <type_traits>
#include <utility>

#include "tide_data.h"
#include "xrt_bo.h"

namespace xrt {

/* An argument as the host gives it: a buffer, or the word of a register. */
struct argument {
  int number;
  bo *buffer;
  uint64_t word;
  size_t bytes;
};

/* Bits of a register. */
template <int W> int bits_of(const ap_int<W> *) {
  return W;
}
template <int W> int bits_of(const ap_uint<W> *) {
  return W;
}
template <int W, int I> int bits_of(const ap_fixed<W, I> *) {
  return W;
}
template <int W, int I> int bits_of(const ap_ufixed<W, I> *) {
  return W;
}
template <class T> int bits_of(const T *) {
  return 8 * int(sizeof(T));
}

/* A parameter of type P from its argument. */
template <class P> P parameter_of(const argument &x) {
  std::string name = "argument " + std::to_string(x.number);
  if constexpr (std::is_pointer_v<P>) {
    if (!x.buffer) fail(name + " is an array, and is given a number");
    if (x.buffer->group() != x.number) fail(name + " is given a buffer of another argument");
    if (x.buffer->card().empty() || x.buffer->card().size() % sizeof(*std::declval<P>()))
      fail(name + " is given a buffer of another size");
    return static_cast<P>(static_cast<void *>(x.buffer->card().data()));
  } else {
    P value;
    size_t bytes = 1;
    while (8 * bytes < size_t(bits_of(static_cast<P *>(nullptr)))) bytes *= 2;
    if (x.buffer) fail(name + " is a number, and is given a buffer");
    if (x.bytes != bytes) fail(name + " is given a word of another width");
    tide::take(value, x.word);
    return value;
  }
}

using function = std::function<void(const std::vector<argument> &)>;

template <class... P, size_t... I>
void call(void (*f)(P...), const std::vector<argument> &x, std::index_sequence<I...>) {
  f(parameter_of<P>(x[I])...);
}

template <class... P> function function_of(void (*f)(P...)) {
  return [f](const std::vector<argument> &x) {
    if (x.size() != sizeof...(P)) fail("the kernel has another number of arguments");
    call(f, x, std::index_sequence_for<P...>());
  };
}

inline std::map<std::string, function> &functions() {
  static std::map<std::string, function> all;
  return all;
}

/* Makes a function known. */
struct known {
  known(const char *name, function f) { functions()[name] = std::move(f); }
};
#define XRT_KERNEL(top) static const xrt::known top##_known(#top, xrt::function_of(top));

/* A run: it is over when it was waited for. */
class run {
public:
  run(const function &f_, std::vector<argument> x_) : f(f_), x(std::move(x_)) {}
  ~run() {
    if (!over) fail("a run was not waited for");
  }
  int wait() {
    if (!over) f(x);
    over = true;
    return 0;
  }

private:
  const function &f;
  std::vector<argument> x;
  bool over = false;
};

class kernel {
public:
  kernel(const device &, const uuid &program, const std::string &name) {
    if (!functions().count(name)) fail(program.path + " has no kernel " + name);
    f = &functions()[name];
  }
  int group_id(int number) const { return number; }
  template <class... T> run operator()(T &&...given) {
    std::vector<argument> x;
    (x.push_back(argument_of(int(x.size()), given)), ...);
    return run(*f, std::move(x));
  }

private:
  static argument argument_of(int number, bo &b) { return {number, &b, 0, 0}; }
  template <class T> static argument argument_of(int number, const T &value) {
    static_assert(std::is_arithmetic<T>::value, "a buffer or a number");
    argument x = {number, nullptr, 0, sizeof value};
    if constexpr (std::is_floating_point<T>::value)
      memcpy(&x.word, &value, sizeof value);
    else
      x.word = uint64_t(value);
    return x;
  }
  const function *f;
};

} // namespace xrt

#endif
