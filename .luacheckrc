-- .luacheckrc - luacheck for Tide: plain Lua 5.4 everywhere, since nothing of Tide is a global.
std = "lua54"
max_line_length = false -- tests/lint.lua measures lines
ignore = {"431"} -- the parameters of a kernel are called like the tensors it is given
-- Tests catch what a program prints.
files["tests"] = {globals = {"print"}}
-- Programs of the language shadow, overwrite and leave unused what plain Lua would not.
files["tests/lang"] = {ignore = {"212", "213", "311", "4", "511", "581"}}
files["tests/slow"] = files["tests/lang"]
-- Programs that must be refused say things that no good program says.
files["tests/reject"] = {ignore = {"1", "2", "3", "5"}}
