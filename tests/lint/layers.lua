-- layers.lua - who may include whom: the order of CONTRIBUTING.md, and no cycle among headers.
local tree = require "lint.tree"

-- Where a library's headers may be seen; everything else in <> is the C library.
local foreign = {
  {"^lua", {bind = true, main = true}},
  {"^lauxlib%.h$", {bind = true, main = true}},
  {"^isl/", {affine = true}},
  {"^libtcc%.h$", {["backends/cpu"] = true}},
  {"^ffi%.h$", {backends = true}},
  {"^zmq%.h$", {jupyter = true}},
  {"^jansson%.h$", {jupyter = true}},
  {"^openssl/", {jupyter = true}},
  {"^cmark%.h$", {repl = true}},
}

local libc = {}
for name in ([[
    assert ctype dirent dlfcn elf errno fcntl fenv float fnmatch ftw glob inttypes langinfo limits locale math
    poll pthread pwd sched setjmp signal spawn stdalign stdarg stdatomic stdbool stddef stdint stdio
    stdlib stdnoreturn string strings sys/file sys/ioctl sys/mman sys/prctl sys/resource sys/select sys/socket
    sys/stat sys/statvfs sys/time sys/types sys/uio sys/un sys/utsname sys/wait termios tgmath
    threads time ucontext uchar unistd wchar wctype]]):gmatch "%S+" do
  libc[name .. ".h"] = true
end

-- The rank of each layer, read from the chain `base < ir < ...` of CONTRIBUTING.md.
local function read_ranks()
  local chain = assert(tree.text "CONTRIBUTING.md":match "`(base < [^`]*)`",
    "CONTRIBUTING.md does not hold the chain of layers")
  local rank, n = {}, 0
  for step in chain:gmatch "[^<]+" do
    n = n + 1
    for layer in step:gmatch "[%w_]+" do rank[layer] = n end
  end
  return rank
end

local rank = read_ranks()

-- Rooms of backends that all of them share.
local shared = {c = true, host = true, ip = true, rtl = true}

-- The layer of a file by its path: a folder of interp, "backends" for what backends share,
-- "backends/NAME", "repl", "jupyter", "main", "tide" for the public header.
local function layer_of(path)
  if path:find "^gen/" then return "gen" end
  if path == "interp/main.c" then return "main" end
  if path == "interp/tide.h" or path == "interp/words.def" then return "tide" end
  if path:find "^repl/jupyter/" then return "jupyter" end
  local room = path:match "^backends/(%w+)/"
  return path:match "^interp/(%w+)/" or path:match "^backends/%w+/include/" and "simulation" or
    room and (shared[room] and "backends" or "backends/" .. room) or path:match "^(%w+)/"
end

local sees_only = {
  tide = {base = true, ir = true},
  frontend = {base = true, ir = true},
  repl = {base = true, ir = true, tide = true},
  jupyter = {base = true, repl = true, tide = true},
  simulation = {},
}

-- Whether a file of one layer may include a header of another.
local function may_see(from, to)
  if from == to or from == "main" or to == "gen" then return true end
  if from == "bind" then return to ~= "main" end
  if from == "drive" then return to ~= "main" and to ~= "bind" and to ~= "tide" end
  if sees_only[from] then return sees_only[from][to] end
  if from:find "^backends" then
    if to == "backends" or (from == "backends/maestro" and to == "backends/verilog") then return true end
    return to ~= "rewrite" and to ~= "step" and rank[to] ~= nil and rank[to] < rank.backends
  end
  return rank[from] ~= nil and rank[to] ~= nil and rank[to] < rank[from]
end

-- The file that `#include "name"` in path means, or nil.
local function resolve(path, name)
  if name:find "^gen/" then return name end
  local places = {path:match "^(.*/)" .. name, "interp/" .. name, name}
  for _, place in ipairs(places) do
    for _, file in ipairs(tree.files) do
      if file == place then return file end
    end
  end
end

-- Reports an include in <> that the layer must not see.
local function check_system(report, path, line, layer, name)
  for _, library in ipairs(foreign) do
    if name:find(library[1]) then
      if not library[2][layer] then
        report(path, line, ("%s does not include <%s>"):format(layer, name))
      end
      return
    end
  end
  if layer ~= "simulation" and not libc[name] then
    report(path, line, ("<%s> is neither of the C library nor a known dependency"):format(name))
  end
end

-- Calls f(line, quote, name) for each include of a file.
local function each_include(path, f)
  for n, line in ipairs(tree.lines(path)) do
    local quote, name = line:match '^%s*#%s*include%s*([<"])([^>"]+)[>"]'
    if name then f(n, quote, name) end
  end
end

-- Every include against the layers.
local function check_layers(report)
  for _, path in ipairs(tree.matching("^interp/.*%.[chd]", "^backends/.*%.[ch]$",
    "^repl/.*%.[ch]$")) do
    local layer = layer_of(path)
    if layer ~= "simulation" and not rank[layer] and not sees_only[layer] and layer ~= "main" and
      not layer:find "^backends/" then
      report(path, 1, "no layer has the folder " .. layer)
    end
    each_include(path, function(line, quote, name)
      if quote == "<" then return check_system(report, path, line, layer, name) end
      local file = resolve(path, name)
      if not file then
        report(path, line, ('"%s" is not in the tree'):format(name))
      elseif not may_see(layer, layer_of(file)) then
        report(path, line, ("%s does not see %s (%s)"):format(layer, layer_of(file), name))
      end
    end)
  end
end

-- What makes a program, and the files of analysis that work on a copy which no answer of theirs holds.
local makers = {"td_prog_new", "td_prog_with", "td_prog_insert", "td_prog_prune", "td_clone_prog"}
local works_on_a_copy = {["interp/analysis/net/flat.c"] = true}

-- analysis answers questions: no file of it makes a program.
local function check_answers(report)
  for _, path in ipairs(tree.matching "^interp/analysis/.*%.c$") do
    for n, line in ipairs(works_on_a_copy[path] and {} or tree.lines(path)) do
      for _, maker in ipairs(makers) do
        if line:find(maker .. "%f[^%w_]%(") or line:find(maker .. "_[%w_]*%(") then
          report(path, n, "analysis makes no program (" .. maker .. "): that is interp/lower's")
        end
      end
    end
  end
end

-- The files that a file includes by quotes.
local function included(path)
  local found = {}
  each_include(path, function(_, quote, name)
    local file = quote == '"' and resolve(path, name)
    if file and not file:find "^gen/" then found[#found + 1] = file end
  end)
  return found
end

-- Headers that include each other, each cycle once.
local function check_cycles(report)
  local depth, trail = {}, {} -- depth in the trail, 0 when done with
  local function visit(path)
    trail[#trail + 1] = path
    depth[path] = #trail
    for _, header in ipairs(included(path)) do
      if not depth[header] then
        visit(header)
      elseif depth[header] > 0 then
        report(path, 1, "include cycle: " .. table.concat(trail, " -> ", depth[header]) .. " -> " ..
          header)
      end
    end
    trail[#trail] = nil
    depth[path] = 0
  end
  for _, path in ipairs(tree.core()) do
    if not depth[path] then visit(path) end
  end
end

return {
  {"layers: every #include is one that CONTRIBUTING.md allows", check_layers},
  {"no header includes itself by a detour", check_cycles},
  {"analysis makes no program", check_answers},
}
