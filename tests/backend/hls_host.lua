-- hls_host.lua - the host program of an HLS build, run end to end: with a card in the process (tests/backend/hls/xrt,
-- headers of XRT's names whose kernels are the C++ functions), on the data of the test bench. It has never met a real
-- card.
-- [slow]
local t = require "tap"
local shell = require "shell"
local tide = require "tide"
local i8, i32, f16, f32, task, grid = tide.i8, tide.i32, tide.f16, tide.f32, tide.task, tide.grid

-- A folder with the files of a build, and the headers under the name that XRT gives them.
local function folder_of(m)
  local folder = t.tmp "host"
  os.execute(("rm -rf '%s' && mkdir -p '%s'"):format(folder, folder))
  m:write(folder)
  os.execute(("ln -s '%s/tests/backend/hls/xrt' '%s/xrt'"):format(shell.here, folder))
  local top = m.files["host.cpp"]:match "^// host.cpp %- runs ([%w_]+) "
  local text = '#include "kernel.h"\n#include <xrt/xrt_kernel.h>\nXRT_KERNEL(%s)\n'
  shell.write(folder .. "/card.cpp", text:format(top))
  return folder
end

-- What the host program in a folder says when it is compiled with the kernel and run, and whether it found all right;
-- what the compiler says, if anything.
local function run(folder)
  local said = shell.output(([[cd '%s' && for f in host kernel card; do
    test $f.o -nt $f.cpp || c++ -std=c++17 -O0 -ffp-contract=off -Wall -Wextra -Werror -Wno-unknown-pragmas \
      -I'%s/backends/hls/include' -I. -c $f.cpp -o $f.o 2>&1; done; c++ *.o -o host 2>&1]]):format(folder, shell.here))
  if said ~= "" then return said, false end
  said = shell.output(("cd '%s' && ./host 2>&1 && echo RIGHT"):format(folder))
  return said, said:find("RIGHT", 1, true) ~= nil
end

-- States that the host program of a build computes what the CPU did.
local function runs(m)
  local said, right = run(folder_of(m))
  t.ok(right, said)
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
  t.ok(runs(m))
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
  t.ok(runs(build(k)))
end)

t.test("a design, and a kernel whose arrays are memory ports, which has none", function()
  local function pipe()
    return tide.design(function(d)
      local Z = d:stream(i32, {2})
      d.a = task {map = {2}, A = i32[2]:layout "S0", function(A, p) Z[p]:put(A[0]) end}
      d.b = task {B = i32[2], function(B) for p in grid(2) do B[p] = Z[p]:get() end end}
    end)
  end
  t.ok(runs(build(pipe())))
  local double = tide.kernel {name = "double", A = i32[4], function(A) for i = 0, 3 do A[i] = A[i] * 2 end end}
  t.ok(build(double).files["host.cpp"])
  local ports = build(double, {interface = "ap_memory"})
  t.eq(ports.files["host.cpp"], nil)
  t.ok(not ports.files.Makefile:find("xclbin", 1, true))
  t.eq(build(double, {testbench = false}).files["host.cpp"], nil)
end)

t.test("every kind of number in a register and in a buffer", function()
  local types = {tide.int(3), tide.uint(17), tide.i64, tide.u64, tide.fixed(33, 40), tide.ufixed(6, -2), f16, tide.bf16,
    f32, tide.f64, tide.bool}
  local params, body, names = {}, {}, {}
  for i in ipairs(types) do
    params[#params + 1] = ("x%d = T[%d], A%d = T[%d][5], B%d = T[%d][5],"):format(i, i, i, i, i, i)
    body[#body + 1] = ("B%d[0] = x%d for i = 1, 4 do B%d[i] = A%d[5 - i] end"):format(i, i, i, i)
    names[#names + 1] = ("x%d, A%d, B%d"):format(i, i, i)
  end
  local text = ('local tide, T = ... return tide.kernel {name = "kinds", %s function(%s) %s end}'):format(
    table.concat(params, " "), table.concat(names, ", "), table.concat(body, " "))
  local said = runs(build(assert(load(text, "=kinds"))(tide, types)))
  t.eq(select(2, said:gsub("5 of 5 elements are right", "")), #types)
end)

t.test("a systolic array, blocks, feedback", function()
  local gemm = tide.kernel {name = "gemm", A = i8[3][4], B = i8[4][2], C = i32[3][2], function(A, B, C)
    for i, j in grid(3, 2, "PE") do
      for k = 0, 3 do C[i][j] = C[i][j] + A[i][k] * B[k][j] end
    end
  end}
  local s = tide.schedule(gemm)
  local _, row = s:buffer_at("A", "j")
  local _, column = s:buffer_at("B", "j")
  local _, pe = s:unfold("PE", {0, 1})
  s:relay(row, pe, {axis = 1}):relay(column, pe, {axis = 0})
  t.ok(runs(build(s)))
  t.ok(runs(build(tide.design(function(d)
    local Z, back = d:stream(i32[4], {block = true}), d:stream(i32)
    d.a = task {A = i32[3][4], function(A)
      for n in grid(3) do
        local b = Z:slot()
        for i in grid(4) do b[i] = A[n][i] + n end
        Z:put(b)
        A[n][0] = back:get()
      end
    end}
    d.b = task {B = i32[3][4], function(B)
      for n in grid(3) do
        local b = Z:get()
        for i in grid(4) do B[n][i] = b[i] * 2 end
        back:put(b[3])
      end
    end}
  end))))
end)

-- A host program with a mistake must not pass: the card has a memory of its own, and counts.
t.test("what a card would not forgive is seen", function()
  local k = tide.kernel {name = "add", n = i8, A = i32[4], B = i32[4], function(n, A, B)
    for i = 0, 3 do B[i] = B[i] + A[i] + n end
  end}
  local m = build(k)
  local folder = folder_of(m)
  t.ok(select(2, run(folder)))
  for _, wrong in ipairs {
    {"A_bo.sync(XCL_BO_SYNC_BO_TO_DEVICE);", ";", "elements are right"},
    {"B_bo.sync(XCL_BO_SYNC_BO_TO_DEVICE);", ";", "elements are right"},
    {"B_bo.sync(XCL_BO_SYNC_BO_FROM_DEVICE);", ";", "elements are right"},
    {"int8_t(n.to_int64())", "int16_t(n.to_int64())", "argument 0 is given a word of another width"},
    {"top.group_id(2)", "top.group_id(1)", "argument 2 is given a buffer of another argument"},
    {"sizeof A", "sizeof A - 1", "argument 1 is given a buffer of another size"},
    {", A_bo, B_bo)", ", A_bo)", "another number of arguments"},
    {").wait();", ");", "was not waited for"},
    {', "add");', ', "sub");', "add.xclbin has no kernel sub"},
  } do
    local at, till = m.files["host.cpp"]:find(wrong[1], 1, true)
    t.ok(at, wrong[1])
    local text = m.files["host.cpp"]:sub(1, at - 1) .. wrong[2] .. m.files["host.cpp"]:sub(till + 1)
    shell.write(folder .. "/host.cpp", text)
    os.remove(folder .. "/host.o")
    local said, right = run(folder)
    t.ok(not right, wrong[1])
    t.has(said, wrong[3])
  end
end)

t.done()
