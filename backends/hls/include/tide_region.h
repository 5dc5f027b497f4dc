/* tide_region.h - what TIDE_REGION and TIDE_TASK stand for when simulated. */
#ifndef TIDE_REGION_H
#define TIDE_REGION_H

#include "tide_csim.h"
#include <string.h>
#include <tuple>
#include <type_traits>

namespace tide_csim {

/* How a task keeps an argument: what tasks share by reference, numbers by value. */
template <class A>
using kept = std::conditional_t<std::is_array<A>::value || std::is_base_of<channel, A>::value, A &,
                                std::remove_const_t<A>>;

/* A region that names its streams, and runs when its scope ends; tokens that are left then end the
 * program. */
class dataflow : public region {
public:
  ~dataflow() {
    run();
    int left = 0;
    while (first != nullptr) {
      streams *s = first;
      left += s->count();
      first = s->next;
      delete s;
    }
    if (left == 0) return;
    fflush(stdout);
    exit(4);
  }

  /* channels("Z, y")(Z, y) */
  auto channels(const char *names) {
    return [this, names](auto &...c) {
      const char *rest = names;
      (void)rest;
      (add(c, &rest), ...);
    };
  }

  /* call("pe[0]", f)(x, y) adds the task f(x, y). */
  template <class F> auto call(const char *name, F f) {
    return [this, name, f](auto &&...x) {
      std::tuple<kept<std::remove_reference_t<decltype(x)>>...> held(x...);
      this->task(name, [f, held]() mutable { std::apply(f, held); });
    };
  }

private:
  /* A stream or an array of streams. */
  struct streams {
    virtual ~streams() = default;
    virtual int count() const = 0;
    streams *next = nullptr;
  };
  template <class C> struct streams_of final : streams {
    explicit streams_of(const C &x) : c(x) {}
    int count() const override { return leftovers(c); }
    const C &c;
  };

  /* Takes the first of the names left. */
  template <class C> void add(C &c, const char **names) {
    char text[64] = "";
    const size_t n = strcspn(*names, ",");
    memcpy(text, *names, n < sizeof text ? n : sizeof text - 1);
    *names += n;
    *names += strspn(*names, ", ");
    name(c, text);
    *last = new streams_of<C>(c);
    last = &(*last)->next;
  }

  streams *first = nullptr, **last = &first;
};

} // namespace tide_csim

#endif
