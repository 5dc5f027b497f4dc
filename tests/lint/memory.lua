-- memory.lua - memory comes from arenas; nothing committed names the machine it was written on.
local tree = require "lint.tree"

-- Who may call the C library's allocator, and why.
local allowed = {
  ["interp/base/ctx.c"] = "the one default allocator, which arenas draw from",
}

local allocators = {malloc = true, calloc = true, realloc = true, free = true, strdup = true,
  strndup = true, aligned_alloc = true, posix_memalign = true, reallocarray = true}

-- Calls of the allocator.
local function check_allocators(report)
  for _, path in ipairs(tree.core()) do
    local code = not allowed[path] and tree.code(path) or ""
    for at, before, name in code:gmatch "()([%w_.>]?)%f[%w_]([%a_][%w_]*)%s*%(" do
      if allocators[name] and before ~= "." and before ~= ">" then
        report(path, tree.line_of(code, at), name .. " outside base: take an arena")
      end
    end
  end
end

-- Folders that say nothing about one machine.
local common = {["/"] = true, ["/tmp"] = true, ["/root"] = true, ["/home"] = true, ["/opt"] = true,
  ["/usr"] = true, ["/usr/src"] = true, ["/usr/local"] = true, ["/srv"] = true, ["/var/tmp"] = true}

-- Paths of one machine in what is committed; in documents also of temporary folders.
local function check_paths(report)
  local parent = tree.output "dirname \"$(pwd -P)\"":gsub("\n", "")
  local banned = {"/wo" .. "rk/"}
  if not common[parent] then banned[#banned + 1] = parent .. "/" end
  for _, path in ipairs(tree.files) do
    local text = tree.text(path)
    for _, part in ipairs(path:find "%.md$" and {"/tm" .. "p/", table.unpack(banned)} or banned) do
      local at = text:find("[^%w_.}>)*-]" .. part:gsub("%p", "%%%0"))
      if at then report(path, tree.line_of(text, at), "names a path of one machine: " .. part) end
    end
  end
end

return {
  {"memory: no malloc outside interp/base", check_allocators},
  {"no path of one machine", check_paths},
}
