-- [slow] npy.lua - tensors as .npy files: what is written, what is read, what is refused and how; against
-- NumPy both ways where there is one.
local t = require "tap"
local shell = require "shell"
local tide = require "tide"
local i8, u8, i16, i32, f32, bool = tide.i8, tide.u8, tide.i16, tide.i32, tide.f32, tide.bool

local read, write = shell.read, shell.write

-- The bytes of a file with this header dictionary and these data.
local function npy(dict, data, version)
  local length = (version or 1) == 1 and "<s2" or "<s4"
  return "\x93NUMPY" .. string.char(version or 1, 0) .. length:pack(dict) .. data
end

local function header(descr, shape, order)
  return ("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n")
    :format(descr, order or "False", shape)
end

local path = t.tmp "tide_npy.npy"

-- Loads a file of these bytes.
local function load_bytes(bytes, T) return tide.load(write(path, bytes), T) end

t.test("what is written is NumPy's format 1.0, aligned to 64", function()
  tide.tensor(i16[2][3], {{1, -2, 3}, {4, 5, 256}}):save(path)
  local bytes = read(path)
  t.eq(bytes:sub(1, 8), "\x93NUMPY\1\0")
  local dict, data = ("<s2"):unpack(bytes, 9)
  t.eq({(data - 1) % 64, dict:sub(-1)}, {0, "\n"})
  t.eq(dict:match "^(.-) *\n$", "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }")
  t.eq(bytes:sub(data), ("<hhhhhh"):pack(1, -2, 3, 4, 5, 256))
end)

t.test("every type comes back", function()
  for _, T in ipairs {i8, i16, i32, tide.i64, u8, tide.u16, tide.u32, tide.u64, tide.f16, f32,
    tide.f64, bool} do
    local x = tide.random(T[3][5], 7)
    x:save(path)
    local y = tide.load(path)
    t.eq({y.type, (y:equal(x))}, {T[3][5], true}, tostring(T))
    t.ok(tide.load(path, T[3][5]):equal(x))
  end
end)

t.test("types that NumPy has not are stored as words, and come back when named", function()
  local stored = {
    [tide.bf16] = tide.u16, [tide.int(5)] = i8, [tide.uint(5)] = u8, [tide.int(33)] = tide.i64,
    [tide.fixed(12, 3)] = i16, [tide.ufixed(20, 4)] = tide.u32, [tide.index] = tide.i64,
    [u8:with {overflow = "saturate"}] = u8,
  }
  for T, container in pairs(stored) do
    local x = tide.random(T[40], 7)
    x:save(path)
    t.eq(tide.load(path).type, container[40], tostring(T))
    local y = tide.load(path, T)
    t.eq({y.type, (y:equal(x))}, {T[40], true}, tostring(T))
  end
end)

t.test("a word that is no value of the type is refused", function()
  tide.tensor(i8[3], {15, -16, 16}):save(path)
  t.eq(tide.load(path)[2], 16)
  t.fails(function() return tide.load(path, tide.int(5)) end,
    {kind = "usage", code = "npy-range", match = "element 2"})
  t.fails(function() return load_bytes(npy(header("|b1", "(2,)"), "\1\2")) end,
    {code = "npy-range"})
  t.eq(load_bytes(npy(header("|b1", "(2,)"), "\1\0")):table(), {true, false})
end)

t.test("what is asked for must be what is there", function()
  i16[2][3](1):save(path)
  local n = tide.size "n"
  for _, T in ipairs {i16, i16[2][3], i16[n][3], i16[n][n]} do
    t.eq(tide.load(path, T).type, i16[2][3])
  end
  for _, T in ipairs {i8, f32, tide.u16, i16[6], i16[3][2], i16[2][3][1], i16[n], tide.int(128)} do
    t.fails(function() return tide.load(path, T) end, {kind = "usage", code = "npy-type"})
  end
  t.fails(function() return tide.load(path, tide.stream(i8)) end, {code = "arguments"})
  t.fails(function() return tide.load(path, 3) end, {code = "arguments"})
end)

t.test("views are saved row-major", function()
  local a = tide.tensor(i8[2][3], {{1, 2, 3}, {4, 5, 6}})
  a:transpose():slice({0, 3, 2}):save(path)
  t.eq(tide.load(path):table(), {{1, 4}, {3, 6}})
end)

t.test("empty tensors", function()
  for _, T in ipairs {i8[0], f32[3][0], i8[0][4][2]} do
    T():save(path)
    t.eq(tide.load(path).type, T)
  end
end)

t.test("more elements than a buffer holds", function()
  local x = tide.random(i32[3][7001], 1)
  x:save(path)
  t.ok(tide.load(path):equal(x))
end)

t.test("headers in any order and spacing, versions 1.0 and 2.0", function()
  local want = {{1, 2}, {3, 4}}
  for _, dict in ipairs {
    "{'descr': '|i1', 'fortran_order': False, 'shape': (2, 2), }",
    "{'shape':(2,2),'fortran_order':False,'descr':'<i1'}",
    '{ "fortran_order" : False , "shape" : ( 2 , 2 , ) , "descr" : "|i1" }   \n',
    "  {'descr': '|i1', 'fortran_order': False, 'shape': (2, 2)}\n",
  } do
    t.eq(load_bytes(npy(dict, "\1\2\3\4")):table(), want)
    t.eq(load_bytes(npy(dict, "\1\2\3\4", 2)):table(), want)
  end
end)

t.test("malformed headers are refused", function()
  for _, dict in ipairs {
    "", "{", "{}", "[]", "{'descr': '|i1', 'fortran_order': False}",
    "{'descr': '|i1', 'fortran_order': False, 'shape': (4)}",
    "{'descr': '|i1', 'fortran_order': False, 'shape': [4]}",
    "{'descr': '|i1', 'fortran_order': False, 'shape': (,)}",
    "{'descr': '|i1', 'fortran_order': False, 'shape': (4,,)}",
    "{'descr': '|i1', 'fortran_order': False, 'shape': (-4,)}",
    "{'descr': '|i1', 'fortran_order': False, 'shape': (4L,)}",
    "{'descr': '|i1', 'fortran_order': False, 'shape': (2 2)}",
    "{'descr': '|i1', 'fortran_order': False, 'shape': (99999999999999999999,)}",
    "{'descr': '|i1', 'fortran_order': False, 'shape': (4,), 'extra': 1}",
    "{'descr': '|i1', 'descr': '|i1', 'fortran_order': False, 'shape': (4,)}",
    "{'descr': '|i1' 'fortran_order': False, 'shape': (4,)}",
    "{'descr': '|i1', 'fortran_order': 0, 'shape': (4,)}",
    "{'shape': (4,), 'fortran_order': False, 'descr': '|i1",
    "{'descr': '|\\i1', 'fortran_order': False, 'shape': (4,)}",
    "{'descr': 1, 'fortran_order': False, 'shape': (4,)}",
    "{'descr': '|i1', 'fortran_order': False, 'shape': (4,)} x",
    "{'descr': '|i1', 'fortran_order': False, 'shape': (4,)}\0",
    "{'descr': '|i1', 'fortran_order': False, 'shape': (4",
  } do
    t.fails(function() return load_bytes(npy(dict, "\1\2\3\4")) end,
      {kind = "usage", code = "npy-header"})
  end
  local long = header("|i1", "(4,)"):gsub("\n", (" "):rep(70000))
  t.fails(function() return load_bytes(npy(long, "\1\2\3\4", 2)) end,
    {code = "npy-header", match = "64 KiB"})
end)

t.test("what is not supported is refused with a reason", function()
  local function refuse(code, descr, shape, order, data)
    t.fails(function() return load_bytes(npy(header(descr, shape, order), data or "")) end,
      {kind = "usage", code = code})
  end
  refuse("npy-order", "<i2", "(2, 3)", "True")
  refuse("npy-endian", ">i2", "(2,)")
  refuse("npy-endian", "=i2", "(2,)")
  refuse("npy-endian", "|i2", "(2,)")
  for _, dtype in ipairs {"|O", "<c8", "<U4", "|S4", "<M8[ns]", "|V8", "<f16", "<i16", "", "<"} do
    refuse("npy-dtype", dtype, "(2,)")
  end
  t.fails(function()
    return load_bytes(npy("{'descr': [('a', '<i2')], 'fortran_order': False, 'shape': (2,), }", ""))
  end, {code = "npy-dtype", match = "structured"})
  refuse("npy-shape", "|i1", "()", nil, "\1")
  refuse("npy-shape", "|i1", "(1, 1, 1, 1, 1, 1, 1, 1, 1)", nil, "\1")
  t.eq(load_bytes(npy(header("|i1", "(1, 1, 1, 1, 1, 1, 1, 1)"), "\5")).shape,
    {1, 1, 1, 1, 1, 1, 1, 1})
end)

t.test("broken files are refused", function()
  local whole = npy(header("<i2", "(2,)"), "\1\0\2\0")
  t.eq(load_bytes(whole):table(), {1, 2})
  t.fails(function() return load_bytes(whole .. "\0") end, {kind = "usage", code = "npy-extra"})
  local _, data = ("<s2"):unpack(whole, 9)
  for n = 0, #whole - 1 do
    local code = n < 10 and "npy-magic" or "npy-truncated"
    t.fails(function() return load_bytes(whole:sub(1, n)) end, {code = code})
  end
  t.fails(function() return load_bytes("PK" .. whole:sub(3)) end, {code = "npy-magic"})
  for _, other in ipairs {
    whole:sub(1, 6) .. "\3" .. whole:sub(8), whole:sub(1, 7) .. "\1" .. whole:sub(9),
  } do
    t.fails(function() return load_bytes(other) end, {code = "npy-version"})
  end
  for _, shape in ipairs {
    "(4611686018427387904,)", "(3037000500, 3037000500, 4)", "(1000000000000,)",
  } do
    t.fails(function() return load_bytes(npy(header("<f8", shape), "")) end,
      {code = "npy-truncated"})
  end
  t.eq(data - 1, #whole - 4)
end)

t.test("files that are not there, folders and devices", function()
  t.fails(function() return tide.load(path .. ".none") end, {kind = "usage", code = "npy-open"})
  local folder = path:match "^(.*)/"
  t.fails(function() return tide.load(folder) end, {code = "npy-file", match = "directory"})
  t.fails(function() return tide.load "/dev/zero" end, {code = "npy-file"})
  t.fails(function() i8[2](0):save(folder) end, {code = "npy-file", match = "directory"})
  t.fails(function() i8[2](0):save(path .. ".none/x.npy") end, {code = "npy-write"})
  t.fails(function() return tide.load "a\0b" end, {code = "arguments"})
  t.fails(function() return tide.load(3) end, {code = "arguments"})
  t.fails(function() i8[2](0):save() end, {code = "arguments"})
end)

t.test("what cannot be saved", function()
  write(path, "before")
  t.fails(function() tide.int(65)[2](0):save(path) end, {code = "too-wide"})
  t.fails(function() i8[2]():save(path) end, {kind = "illegal", code = "uninitialised"})
  t.eq(read(path), "before")
end)

-- Whether a file or folder is there.
local function exists(name)
  local file = io.open(name)
  if file then file:close() end
  return file ~= nil
end

t.test("a full disk: refused, the old file kept, nothing left behind", function()
  local full = io.open("/dev/full", "wb")
  if full then
    full:close()
    t.fails(function() i8[100000](0):save "/dev/full" end, {code = "npy-write"})
  end
  write(path, "before")
  local script = write(t.tmp "tide_npy_full.lua", ([[
    package.path, package.cpath = %q, %q
    local passed, e = pcall(function()
      local tide = require "tide"
      tide.i8[1000000](1):save(%q)
    end)
    os.exit(not passed and e.code == "npy-write")
  ]]):format(package.path, package.cpath, path))
  local command = ([[trap "" XFSZ; ulimit -f 8; '%s' '%s']]):format(arg[-1], script)
  t.eq({os.execute(command)}, {true, "exit", 0})
  t.eq({read(path), exists(path .. ".tmp0")}, {"before", false})
end)

t.test("a file in the way of the temporary one is left alone", function()
  local way = write(t.tmp "tide_npy.npy.tmp0", "mine")
  tide.tensor(i8[2], {3, 4}):save(path)
  t.eq({read(way), tide.load(path):table()}, {"mine", {3, 4}})
  os.remove(way)
end)

-- The Python that has NumPy, or nil.
local function find_python()
  for _, name in ipairs {"python3", "/usr/bin/python3"} do
    if os.execute(name .. " -c 'import numpy' 2>/dev/null") then return name end
  end
end
local python = find_python()

-- Runs lines of Python; x is the path of a file.
local function run_python(lines)
  local head = ("import numpy as np\nx = %q\n"):format(path)
  local script = write(t.tmp "tide_npy.py", head .. lines)
  return os.execute(python .. " '" .. script .. "'")
end

local function numpy_test(name, fn)
  if python then t.test(name, fn) else t.skip(name, "no NumPy") end
end

numpy_test("NumPy reads what is written", function()
  for dtype, T in pairs {int8 = i8, int16 = i16, int32 = i32, int64 = tide.i64, uint8 = u8,
    uint16 = tide.u16, uint32 = tide.u32, uint64 = tide.u64} do
    local last = tostring(T):find("^u") and 250 or -6
    tide.tensor(T[2][3], {{1, 2, 3}, {4, 5, last}}):save(path)
    t.ok(run_python(([=[
a = np.load(x)
w = np.array([[1, 2, 3], [4, 5, %d]]).astype(np.%s)
assert a.dtype == w.dtype and a.shape == w.shape and (a == w).all()
assert not a.flags.fnc]=]):format(last, dtype)))
  end
  for dtype, T in pairs {float16 = tide.f16, float32 = f32, float64 = tide.f64} do
    tide.tensor(T[4], {0.5, -0.0, 1 / 0, -3}):save(path)
    t.ok(run_python(([[
a = np.load(x)
w = np.array([0.5, -0.0, np.inf, -3], np.%s)
assert a.dtype == w.dtype and a.tobytes() == w.tobytes()]]):format(dtype)))
  end
  tide.tensor(bool[2], {true, false}):save(path)
  t.ok(run_python "a = np.load(x)\nassert a.dtype == np.bool_ and a.tolist() == [True, False]")
  i8[0][3]():save(path)
  t.ok(run_python "assert np.load(x).shape == (0, 3)")
end)

numpy_test("what NumPy writes is read", function()
  for dtype, T in pairs {int8 = i8, int16 = i16, int32 = i32, int64 = tide.i64, uint8 = u8,
    uint16 = tide.u16, uint32 = tide.u32, uint64 = tide.u64, float16 = tide.f16, float32 = f32, float64 = tide.f64} do
    t.ok(run_python("np.save(x, np.array([[1, 2, 3], [4, 5, 100]], np." .. dtype .. "))"))
    local a = tide.load(path)
    t.eq(a.type, T[2][3], dtype)
    t.ok(a:equal(tide.tensor(T[2][3], {{1, 2, 3}, {4, 5, 100}})))
  end
  t.ok(run_python "np.save(x, np.array([True, False]))")
  t.eq(tide.load(path):table(), {true, false})
  t.ok(run_python [[
np.lib.format.write_array(open(x, 'wb'), np.arange(4, dtype=np.int16), version=(2, 0))]])
  t.eq(tide.load(path):table(), {0, 1, 2, 3})
  t.ok(run_python "np.save(x, np.zeros((3, 0, 2), np.float32))")
  t.eq(tide.load(path).type, f32[3][0][2])
end)

numpy_test("what NumPy writes and is not supported is refused", function()
  for lines, code in pairs {
    ["np.save(x, np.asfortranarray(np.zeros((2, 3))))"] = "npy-order",
    ["np.save(x, np.zeros(3, '>f4'))"] = "npy-endian",
    ["np.save(x, np.array([{}, []], dtype=object), allow_pickle=True)"] = "npy-dtype",
    ["np.save(x, np.zeros(3, [('a', '<i4'), ('b', '<f4')]))"] = "npy-dtype",
    ["np.save(x, np.zeros(3, np.complex64))"] = "npy-dtype",
    ["np.save(x, np.array(['text']))"] = "npy-dtype",
    ["np.save(x, np.float32(1))"] = "npy-shape",
    ["np.savez(open(x, 'wb'), a=np.zeros(3))"] = "npy-magic",
  } do
    t.ok(run_python(lines))
    t.fails(function() return tide.load(path) end, {code = code})
  end
end)

t.done()
