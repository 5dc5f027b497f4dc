-- hls_host.lua - the host program of an HLS build: C++ that compiles against the part of XRT's interface that it uses,
-- declared here; it has never been run on a card.
local t = require "tap"
local shell = require "shell"
local tide = require "tide"
local i8, i32, f16, f32, task, grid = tide.i8, tide.i32, tide.f16, tide.f32, tide.task, tide.grid

local xrt = {
  ["xrt/xrt_device.h"] = [[
#pragma once
#include <string>
namespace xrt {
struct uuid {};
struct device {
  explicit device(unsigned index);
  uuid load_xclbin(const std::string &path);
};
}]],
  ["xrt/xrt_bo.h"] = [[
#pragma once
#include <cstddef>
#include <xrt/xrt_device.h>
enum xclBOSyncDirection { XCL_BO_SYNC_BO_TO_DEVICE, XCL_BO_SYNC_BO_FROM_DEVICE };
namespace xrt {
struct bo {
  bo(const device &where, size_t bytes, int group);
  void write(const void *from);
  void read(void *to);
  void sync(xclBOSyncDirection way);
};
}]],
  ["xrt/xrt_kernel.h"] = [[
#pragma once
#include <type_traits>
#include <xrt/xrt_bo.h>
namespace xrt {
struct run { int wait() const; };
template <typename T>
constexpr bool fits = std::is_arithmetic<T>::value || std::is_same<T, bo>::value;
struct kernel {
  kernel(const device &where, const uuid &program, const std::string &name);
  int group_id(int argument) const;
  template <typename... T> run operator()(T &&...) {
    static_assert((fits<std::decay_t<T>> && ...), "a buffer or a number");
    return run();
  }
};
}]],
}

-- What the compiler says of the host program of a build among the declarations above; "" if nothing.
local function complaints(m)
  local folder = os.tmpname()
  shell.plant(folder, xrt)
  m:write(folder)
  local said = shell.output(("c++ -std=c++17 -fsyntax-only -Wall -Wextra -Werror -Wno-unknown-pragmas "
    .. "-Ibackends/hls/include -I%s %s/host.cpp 2>&1"):format(folder, folder))
  shell.output("rm -r " .. folder)
  return said
end

local function build(k, options)
  options = options or {}
  options.target, options.tool = "hls", false
  return k:build(options)
end

t.test("arrays are buffers, scalars are words of their width", function()
  local k = tide.kernel {
    name = "mixed", n = i32, m = tide.uint(12), x = f32, h = f16, q = tide.fixed(10, 3), b = tide.bool,
    A = i8[4][3], B = tide.int(5)[6], C = tide.bool[2],
    function(n, m, x, h, q, b, A, B, C)
      for i = 0, 5 do B[i] = tide.int(5)(n + m + A[i % 4][1]) end
      C[0] = b
      C[1] = x > 0 and h > 0 and q > 0
    end,
  }
  local m = build(k)
  local text = m.files["host.cpp"]
  t.eq(complaints(m), "")
  t.has(text, "top(int32_t(n.to_int64()), uint16_t(m.to_uint64()), x, uint16_t(tide::half_word(h).to_uint64()), "
    .. "int16_t(tide::raw(q).to_int64()), b, A_bo, B_bo, C_bo).wait();")
  t.eq(select(2, text:gsub("TO_DEVICE", "")), 3)
  t.eq(select(2, text:gsub("FROM_DEVICE", "")), 2)
  t.ok(not text:find("A.want", 1, true) and text:find("B.want", 1, true))
  t.has(m.files.Makefile, "-k mixed")
end)

t.test("names that the program has are left to the arguments", function()
  local k = tide.kernel {
    name = "names", files = i32[2], top = i32[2], device = i32, wrong = i32[2], argv = i32, files_bo = i32[2],
    function(files, top, device, wrong, argv, files_bo)
      for i = 0, 1 do files[i] = top[i] + device + wrong[i] + argv + files_bo[i] end
    end,
  }
  t.eq(complaints(build(k)), "")
end)

t.test("a design, and a kernel whose arrays are memory ports, which has none", function()
  local function pipe()
    return tide.design(function(d)
      local Z = d:stream(i32, {2})
      d.a = task {map = {2}, A = i32[2]:layout "S0", function(A, p) Z[p]:put(A[0]) end}
      d.b = task {B = i32[2], function(B) for p in grid(2) do B[p] = Z[p]:get() end end}
    end)
  end
  t.eq(complaints(build(pipe())), "")
  local double = tide.kernel {name = "double", A = i32[4], function(A) for i = 0, 3 do A[i] = A[i] * 2 end end}
  t.ok(build(double).files["host.cpp"])
  local ports = build(double, {interface = "ap_memory"})
  t.eq(ports.files["host.cpp"], nil)
  t.ok(not ports.files.Makefile:find("xclbin", 1, true))
  t.eq(build(double, {testbench = false}).files["host.cpp"], nil)
end)

t.done()
