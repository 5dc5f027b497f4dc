-- hls_batch.lua - many builds for hls compiled as one C++ file with every compiler there is, their
-- warnings being errors, and run on their test benches' data.
--   local batch = require "hls_batch"
--   batch.add("name", program, {A, B})   -- the arguments of the test bench; nil: random ones
--   batch.test(size, {quick = true, flags = ".."})  -- the tests, in groups of 40 by g++ and clang++
-- Quick tests have g++ only look for errors and warnings where clang++ is there to compile and run.
local t = require "tap"
local shell = require "shell"

local batch = {}

local include = "backends/hls/include"
local list = {}

-- The compilers that there are.
local function compilers()
  local found = {}
  for _, name in ipairs {"g++", "clang++"} do
    if os.execute("command -v " .. name .. " >/dev/null 2>&1") then found[#found + 1] = name end
  end
  return found
end

-- Adds a kernel or schedule; returns its module.
function batch.add(name, program, inputs)
  local m = program:build {target = "hls", top = "top" .. #list + 1, inputs = inputs, tool = false}
  list[#list + 1] = {name = name, module = m}
  return m
end

-- Text without includes, guards and the line that names the file.
local function plain(text)
  return (text:gsub("#include[^\n]*\n", ""):gsub("#ifndef KERNEL_H\n#define KERNEL_H\n", "")
    :gsub("\n#endif\n$", "\n"))
end

-- One file of kernels number `first` to `last`: each in a namespace, with its main as `run`.
local function join(first, last)
  local parts = {}
  for _, name in ipairs {"tide_data", "hls_stream", "hls_streamofblocks", "hls_vector",
    "tide_dataflow"} do
    parts[#parts + 1] = ('#include "%s.h"\n'):format(name)
  end
  local calls = {}
  for i = first, last do
    local f = list[i].module.files
    local bench = f["tb.cpp"] or "static int run(int, char **) { return 0; }\n"
    parts[#parts + 1] = ("namespace n%d {\n%s%s%s}\n"):format(i, plain(f["kernel.h"]),
      plain(f["kernel.cpp"]), plain(bench):gsub("int main%(", "static int run("))
    calls[#calls + 1] = ('  { char a[] = "tb", b[] = "%d"; char *v[] = {a, b};\n' ..
      '    if (n%d::run(2, v)) printf("WRONG %d\\n"); }\n'):format(i, i, i)
  end
  parts[#parts + 1] = "int main() {\n" .. table.concat(calls) .. '  puts("DONE");\n}\n'
  return table.concat(parts)
end

-- A folder for a group, with the data of its kernels in folders by number.
local function make_folder(first, last)
  local folder, below = t.tmp("kernels " .. first), {}
  for i = first, last do below[#below + 1] = ("'%s/%d'"):format(folder, i) end
  os.execute("mkdir -p " .. table.concat(below, " "))
  for i = first, last do
    local files = list[i].module.files
    for _, name in ipairs(files) do
      local data = name:match "^data/(.*)$"
      if data then shell.write(("%s/%d/%s"):format(folder, i, data), files[name]) end
    end
  end
  shell.write(folder .. "/all.cpp", join(first, last))
  return folder
end

-- States that a compiler takes kernels first to last without a warning, and that they compute what
-- their data says.
local function run(compiler, folder, flags)
  local said = shell.output(("cd '%s' && %s -std=c++17 -O0 -Wall -Wextra -Werror -Wno-unknown-pragmas %s " ..
    "-ffp-contract=off -I'%s/%s' all.cpp -o all 2>&1"):format(folder, compiler, flags, shell.here, include))
  t.eq(said, "", compiler)
  if flags:find("-fsyntax-only", 1, true) then return end
  said = shell.output(("cd '%s' && ./all 2>&1"):format(folder))
  local wrong = {}
  for i in said:gmatch "WRONG (%d+)" do
    wrong[#wrong + 1] = list[tonumber(i)].name .. "\n" .. list[tonumber(i)].module.source
  end
  t.ok(#wrong == 0, ("%s: wrong:\n%s\n%s"):format(compiler, table.concat(wrong, "\n"), said))
  t.has(said, "DONE")
end

-- The tests of all that was added, `size` kernels at a time.
function batch.test(size, how)
  how = how or {}
  local found = compilers()
  if #found == 0 then return t.skip("kernels compile and compute", "there is no C++ compiler") end
  size = size or 40
  for first = 1, #list, size do
    local last = math.min(first + size - 1, #list)
    local folder = make_folder(first, last)
    for _, compiler in ipairs(found) do
      local looks = how.quick and #found > 1 and compiler == "g++"
      local what = looks and "" or ", and they compute the same"
      local flags = (how.flags or "") .. (looks and " -fsyntax-only" or "")
      t.test(("kernels %d to %d of %d: %s takes them%s"):format(first, last, #list, compiler, what),
        function() run(compiler, folder, flags) end)
    end
  end
end

return batch
