-- setup.lua - what ./setup installs, as whom, and what it prints without the right to.
local t = require "tap"
local shell = require "shell"
local quote = shell.quote

local root = t.tmp "a tree"

-- Programs that stand for the system's: each notes its call in the file `calls`.
shell.plant(root, {
  ["setup"] = shell.read "setup",
  ["packages"] = "# a list\nrun   make  # builds\nrun   gcc\ntest  git\nfull  yosys\nbench perf\n",
  ["bin/dpkg-query"] = [[#!/bin/sh
for name; do :; done
case " $INSTALLED " in *" $name "*) printf installed ;; *) exit 1 ;; esac
]],
  ["bin/apt-get"] = [[#!/bin/sh
case $1,$2 in
install,-s) test -z "$STALE" -o -e updated ;;
*) echo "apt-get $*" >>calls; test "$1" != update || touch updated ;;
esac
]],
  ["bin/make"] = '#!/bin/sh\necho "make $*" >>calls\n',
  ["bin/nproc"] = "#!/bin/sh\necho 3\n",
  ["bin/id"] = "#!/bin/sh\necho $USER_ID\n",
  ["bin/sudo"] = [[#!/bin/sh
test -n "$SUDO" || exit 1
test "$*" = "-n true" || echo "sudo $*" >>calls
shift
"$@"
]],
})
shell.output(("chmod +x %s/setup %s/bin/*"):format(quote(root), quote(root)))

-- Runs ./setup from another folder in a given environment; returns what it prints, its exit
-- status, and the calls it made.
local function setup(environment, arguments)
  os.remove(root .. "/calls")
  os.remove(root .. "/updated")
  local out, status = shell.output(("cd / && env INSTALLED= STALE= SUDO= %s PATH=%s:\"$PATH\" " ..
    "%s %s 2>&1"):format(environment, quote(root .. "/bin"), quote(root .. "/setup"), arguments))
  return out, status, shell.read(root .. "/calls") or ""
end

t.test("nothing is missing: straight to make, with its arguments", function()
  local _, status, calls = setup("USER_ID=1000 INSTALLED='make gcc'", "demo TCC=0")
  t.eq(status, 0)
  t.eq(calls, "make -j3 demo TCC=0\n")
end)

t.test("root installs exactly what is missing", function()
  local _, status, calls = setup("USER_ID=0 INSTALLED=gcc", "test")
  t.eq(status, 0)
  t.eq(calls, "apt-get install -y --no-install-recommends make git\nmake -j3 test\n")
end)

t.test("the lists grow: demo, test, full; bench has its own", function()
  local lists = {demo = "make gcc", test = "make gcc git", full = "make gcc git yosys", bench = "make gcc perf"}
  for word, names in pairs(lists) do
    local _, _, calls = setup("USER_ID=0", word)
    t.has(calls, "--no-install-recommends " .. names .. "\n")
  end
end)

t.test("package lists are updated only when they do not know a package", function()
  local _, status, calls = setup("USER_ID=0 STALE=1", "demo")
  t.eq(status, 0)
  t.eq(calls,
    "apt-get update\napt-get install -y --no-install-recommends make gcc\nmake -j3 demo\n")
end)

t.test("sudo that asks nothing is used", function()
  local _, status, calls = setup("USER_ID=1000 SUDO=1 INSTALLED=gcc", "demo")
  t.eq(status, 0)
  t.has(calls, "sudo -n env DEBIAN_FRONTEND=noninteractive apt-get install -y")
  t.has(calls, "make -j3 demo")
end)

t.test("without rights: the line to run, and nothing is done", function()
  local out, status, calls = setup("USER_ID=1000 INSTALLED=gcc", "demo </dev/null")
  t.eq(status, 1)
  t.eq(calls, "")
  t.has(out, "\napt-get install -y --no-install-recommends make\n")
  out = setup("USER_ID=1000 STALE=1", "demo </dev/null")
  t.has(out, "\napt-get update && apt-get install -y --no-install-recommends make gcc\n")
end)

t.test("any other word is a usage error", function()
  local out, status = setup("USER_ID=0", "install")
  t.eq(status, 2)
  t.has(out, "usage: ./setup demo|test|full|bench")
end)

t.done()
