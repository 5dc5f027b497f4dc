# Tide. `make` builds ./tide; `make help` lists the rest. Every path is relative: the checkout may
# lie in a folder with spaces in its name, and PREFIX and DESTDIR may hold spaces too.
MAKEFLAGS += --no-print-directory
CONFIG ?= release
PREFIX ?= /usr/local
TCC ?= 1
LUA ?= lua5.4
B := build/$(CONFIG)
TOP := $(if $(filter release,$(CONFIG)),,$(B)/)
TIDE := $(TOP)tide
JUPYTER := $(TOP)jupyter.so

CFLAGS ?= -O2 -g
CXXFLAGS ?= -O0
SANITIZE = -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
MODE_san = -O1 -Werror $(SANITIZE) -DTD_DEBUG
MODE_hostile = -O1 $(SANITIZE) -DTD_ARENA_CHUNK=1u -DTD_ARENA_PART=SIZE_MAX
MODE_input = -O1 $(SANITIZE) -fsanitize=fuzzer-no-link
MODE_debug = -DTD_DEBUG
MODE_so = -fPIC
MODE := $(MODE_$(CONFIG))
WARN = -Wall -Wextra -Wpedantic -Wshadow -Wconversion
LUA_CFLAGS ?= -I/usr/include/lua5.4
LUA_LIBS ?= -llua5.4
LIBS := -lisl -lffi -lm -ldl
ifeq ($(TCC),0)
NO_TCC := -DTIDE_NO_TCC
else
LIBS += -ltcc
endif
INCLUDES = -D_POSIX_C_SOURCE=200809L -Iinterp -I. -Ibuild $(LUA_CFLAGS) $(NO_TCC)
COMPILE = $(CC) -std=c11 $(INCLUDES) $(CPPFLAGS) $(WARN) $(CFLAGS) $(MODE) -MMD -MP
COMPILE_HLS = $(CXX) -std=c++17 -Ibackends/hls/include $(CPPFLAGS) -Wall -Wextra $(CXXFLAGS) \
  $(if $(MODE),$(SANITIZE)) -MMD -MP
LINK = $(CC) $(CFLAGS) $(MODE) $(LDFLAGS)

# The files of a tree that is four folders deep.
deep = $(wildcard $(1)/*$(2) $(1)/*/*$(2) $(1)/*/*/*$(2))
SRC := $(sort $(filter-out interp/main.c,$(call deep,interp,.c) $(call deep,backends,.c) \
  $(wildcard repl/*.c)))
OBJ := $(SRC:%.c=$(B)/%.o)
JUPYTER_OBJ := $(patsubst %.c,$(B)/%.o,$(sort $(wildcard repl/jupyter/*.c)))
UNIT := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/unit/*.c tests/slow/*.c)))
HLS := $(patsubst %.cpp,$(B)/%,$(sort $(wildcard tests/backend/*/*_test.cpp)))
FUZZ := $(B)/tests/fuzz/fuzz
FUZZ_OBJ := $(patsubst %.c,$(B)/%.o,$(sort $(wildcard tests/fuzz/*.c)))
# What tests/fuzz/wrap.c overrules, to measure refusals of what is right, and counts.
FUZZ_WRAP = -Wl,--wrap=td_verdict_accept,--wrap=td_util_same_value,--wrap=td_loop_carried_loop \
  -Wl,--wrap=td_ctx_tick
HOSTILE := $(B)/hostile
# What tests/hostile/hostile.c lets fail.
HOSTILE_WRAP = -Wl,--wrap=td_ctx_take,--wrap=td_ctx_give,--wrap=td_ctx_tick \
  -Wl,--wrap=td_alarm_start,--wrap=td_alarm_stop
# Programs that libFuzzer drives (CONFIG=input, clang).
INPUT := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/inputs/*_input.c)))
# A file of a primitive defines td_prim_<its name>.
PRIMS := $(shell sed -n 's/^const TdPrim td_prim_\([a-z_]*\) = .*/\1/p' \
  $(sort $(wildcard interp/rewrite/*/*.c)))
# One on graphs of STeP defines td_stp_prim_<its name>.
STP_PRIMS := $(shell cat $(sort $(wildcard interp/step/prim/*.c)) </dev/null | \
  sed -n 's/^const TdPrim td_stp_prim_\([a-z_]*\) = .*/\1/p')

all: $(TIDE) ## build ./tide; TCC=0: without libtcc; V=1 shows the commands

# Each step is a short line; V=1 shows the commands.
Q := $(if $(V),,@)

# Turns standard input into the target, which keeps its time when nothing changed.
UPDATE = mkdir -p $(@D) && cat >$@.new && if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

build/gen/version.h: FORCE
	@{ echo "#define TIDE_VERSION \"$$(cat VERSION)\""; \
	   commit=$$(test -e .git && git rev-parse --short HEAD 2>/dev/null); \
	   echo "#define TIDE_COMMIT \"$$commit\""; \
	   ffi=$$(echo '#include <ffi.h>' | $(CC) -E -C - 2>/dev/null | \
	     sed -n 's/.*libffi \([0-9][0-9.]*[0-9]\).*/\1/p' | head -n 1); \
	   echo "#define TIDE_FFI \"$${ffi:-3}\""; } | { $(UPDATE); }

build/gen/prims.gen.h: FORCE
	@{ echo '#include "rewrite/prim.h"'; \
	   for p in $(PRIMS); do echo "extern const TdPrim td_prim_$$p;"; done; \
	   echo '#define TD_PRIMS {$(PRIMS:%=&td_prim_%,) NULL}'; } | { $(UPDATE); }

build/gen/stp_prims.gen.h: FORCE
	@{ echo '#include "history/prim.h"'; \
	   for p in $(STP_PRIMS); do echo "extern const TdPrim td_stp_prim_$$p;"; done; \
	   echo '#define TD_STP_PRIMS {$(STP_PRIMS:%=&td_stp_prim_%,) NULL}'; } | { $(UPDATE); }

# A target defines td_backend_<its name>; the CPU is the default, and first.
BACKENDS := cpu $(filter-out cpu,$(shell \
  sed -n 's/^const TdBackend td_backend_\([a-z_]*\) = .*/\1/p' $(sort $(wildcard backends/*/*.c))))
build/gen/backends.gen.h: FORCE
	@{ echo '#include "backends/backend.h"'; \
	   for b in $(BACKENDS); do echo "extern const TdBackend td_backend_$$b;"; done; \
	   echo '#define TD_BACKENDS {$(BACKENDS:%=&td_backend_%,) NULL}'; } | { $(UPDATE); }

# How things are compiled, and what goes into the library: when that changes, they are built again.
$(B)/compile: export RECORD = $(COMPILE) $(COMPILE_HLS) $(LIBS) $(LDFLAGS)
$(B)/objects: export RECORD = $(OBJ)
$(B)/compile $(B)/objects: FORCE
	@printf '%s\n' "$$RECORD" | { $(UPDATE); }

$(B)/%.o: %.c $(B)/compile | build/gen/version.h build/gen/prims.gen.h build/gen/stp_prims.gen.h \
  build/gen/backends.gen.h
	@mkdir -p $(@D)
	@echo 'cc $<'
	$(Q)$(COMPILE) -c $< -o $@

$(B)/libtide.a: $(OBJ) $(B)/objects
	@echo 'ar $@'
	@rm -f $@
	$(Q)ar qcs $@ $(OBJ)

# All of the library, for what is loaded later.
$(TIDE): $(B)/interp/main.o $(B)/libtide.a
	@echo 'ld $@'
	$(Q)$(LINK) -rdynamic -o $@ -Wl,--whole-archive $^ -Wl,--no-whole-archive $(LUA_LIBS) $(LIBS)

$(B)/tide.so: $(OBJ)
	@echo 'ld $@'
	$(Q)$(LINK) -shared -o $@ $(OBJ) $(LIBS)

# What it needs of Tide it finds in the program that loads it.
$(JUPYTER_OBJ): MODE += -fPIC
$(JUPYTER): $(JUPYTER_OBJ)
	@echo 'ld $@'
	$(Q)$(LINK) -shared -Wl,-Bsymbolic -o $@ $^ -lzmq -ljansson -lcrypto -lpthread

$(UNIT): %: %.o $(B)/libtide.a
	@echo 'ld $@'
	$(Q)$(LINK) -o $@ $^ $(LUA_LIBS) $(LIBS)

# Pretends to run on another processor.
$(B)/tests/unit/cpu_cache_test: LINK += -Wl,--wrap=fopen

$(FUZZ): $(FUZZ_OBJ) $(B)/libtide.a
	@echo 'ld $@'
	$(Q)$(LINK) $(FUZZ_WRAP) -o $@ $^ $(LUA_LIBS) $(LIBS)

$(HOSTILE): $(B)/tests/hostile/hostile.o $(B)/libtide.a
	@echo 'ld $@'
	$(Q)$(LINK) $(HOSTILE_WRAP) -o $@ $^ $(LUA_LIBS) $(LIBS)

$(INPUT): %: %.o $(B)/libtide.a
	@echo 'ld $@'
	$(Q)$(LINK) -fsanitize=fuzzer -o $@ $^ $(LUA_LIBS) $(LIBS)

$(HLS): $(B)/%: %.cpp $(B)/compile
	@mkdir -p $(@D)
	@echo 'c++ $<'
	$(Q)$(COMPILE_HLS) $< -o $@

-include $(OBJ:.o=.d) $(JUPYTER_OBJ:.o=.d) $(B)/interp/main.d $(UNIT:=.d) $(HLS:=.d) \
  $(FUZZ_OBJ:.o=.d) $(B)/tests/hostile/hostile.d

so: ## build tide.so, a module for a stock lua5.4 (without libtcc)
	@$(MAKE) CONFIG=so TCC=0 build/so/tide.so
	@cp -f build/so/tide.so tide.so

kernel: $(TIDE) $(JUPYTER) ## build the Jupyter kernel, jupyter.so (docs/jupyter.md)

demo: $(TIDE) ## the GEMM from its source to verified schedules, a CPU run and HLS C++
	./$(TIDE) examples/02_gemm.lua

test: all $(UNIT) $(HLS) $(FUZZ) ## all tests; T=parse: those whose path holds `parse`
	@./$(TIDE) tests/run.lua --tide ./$(TIDE) --build $(B) --filter '$(T)' $(RUNFLAGS)

quick: all $(filter $(B)/tests/unit/%,$(UNIT)) ## the short tests, in less than a minute; T=
	@./$(TIDE) tests/run.lua --tide ./$(TIDE) --build $(B) --filter '$(T)' --quick $(RUNFLAGS)

slow: export TIDE_TIMES = $(TIMES)
slow: export TIDE_SEED = $(SEED)
slow: ## the random campaigns of tests/slow, TIMES= (1) as long, from SEED= (1) on; T= as for test
	@$(MAKE) test T=tests/slow/$(T) RUNFLAGS='--limit 86400 $(RUNFLAGS)'

test-full: ## the same with tide.so and the Jupyter kernel, and a skipped test fails
	@$(MAKE) so
	@$(MAKE) kernel
	@$(MAKE) RUNFLAGS='--no-skip $(RUNFLAGS)' test

lint: ## layers, names, budgets, comments, formatting
	@$(LUA) tests/lint.lua

san: export ASAN_OPTIONS = allocator_may_return_null=1
san: export LSAN_OPTIONS = suppressions=$(CURDIR)/tests/leaks.txt:print_suppressions=0
san: ## all tests under ASan, UBSan and LSan, in build/san
	@$(MAKE) CONFIG=san RUNFLAGS='--limit 1800 $(RUNFLAGS)' test

same: $(TIDE) ## REF=commit: examples and tests/prim print and emit what that commit's did
	@LUA_PATH='tests/?.lua;;' $(LUA) tests/same.lua '$(REF)'

hostile: ## in a session RUNS= (60; 0: all) events of each KIND=, from FROM= on, fail in turn
	@$(MAKE) CONFIG=hostile build/hostile/hostile
	build/hostile/hostile $(RUNS:%=-r %) $(KIND:%=-m %) $(FROM:%=-f %) -j $(or $(JOBS),1) \
	  tests/hostile/session.lua tests/hostile/probe.lua

bench: $(TIDE) ## time against the targets and the peers
	@for f in tests/bench/*.lua; do LUA_PATH='tests/?.lua;;' ./$(TIDE) "$$f" || exit; done

fuzz: $(FUZZ) ## random schedules: N= accepted steps, SEED=, FROM= the case to go on with, OPTIONS=
	./$(FUZZ) $(OPTIONS) $(or $(N),20000) $(or $(SEED),1) $(FROM)

inputs: ## libFuzzer on the parser, the .npy reader and the loader, SECONDS= (60) each; needs clang
	@$(MAKE) CONFIG=input CC=clang inputs-build
	@sh tests/inputs/run.sh build/input/tests/inputs $(or $(SECONDS),60)

inputs-build: $(INPUT)

fuzz-plants: ## the faults of tests/fuzz/faults.lua, each in a tree of its own: all are found
	@$(LUA) tests/fuzz/plants.lua $(T)

OUT = .
docs: $(TIDE) ## from the registry: reference, man page, completion for bash, annotations
	@mkdir -p "$(OUT)/build/docs" "$(OUT)/docs" "$(OUT)/stdlib"
	./$(TIDE) doc >"$(OUT)/build/docs/reference.md"
	./$(TIDE) doc --man >"$(OUT)/docs/tide.1"
	./$(TIDE) doc --completion >"$(OUT)/docs/tide.bash"
	./$(TIDE) doc --meta >"$(OUT)/stdlib/tide.meta.lua"

fresh: ## prove ./setup on a bare Debian root (needs root and mmdebstrap)
	@sh tests/fresh.sh

# The installed share/tide mirrors the checkout, as far as a running ./tide reads it.
SHARE = $(DESTDIR)$(PREFIX)/share/tide
MAN = $(DESTDIR)$(PREFIX)/share/man/man1
COMPLETION = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
LUALIB = $(DESTDIR)$(PREFIX)/lib/lua/5.4
LIB = $(DESTDIR)$(PREFIX)/lib/tide

install: all ## PREFIX= (/usr/local) and DESTDIR= are honoured; what so, kernel and docs made, too
	install -d "$(DESTDIR)$(PREFIX)/bin"
	install -m 755 $(TIDE) "$(DESTDIR)$(PREFIX)/bin/tide"
	find stdlib $(wildcard examples/lessons backends/*/include) -type f \
	  -exec install -D -m 644 '{}' "$(SHARE)/{}" \;
	test ! -f tide.so || install -D -m 755 tide.so "$(LUALIB)/tide.so"
	test ! -f jupyter.so || install -D -m 755 jupyter.so "$(LIB)/jupyter.so"
	test ! -f docs/tide.1 || install -D -m 644 docs/tide.1 "$(MAN)/tide.1"
	test ! -f docs/tide.bash || install -D -m 644 docs/tide.bash "$(COMPLETION)/tide"

uninstall: ## remove what install put there
	rm -f "$(DESTDIR)$(PREFIX)/bin/tide" "$(LUALIB)/tide.so" "$(MAN)/tide.1" "$(COMPLETION)/tide"
	rm -rf "$(SHARE)" "$(LIB)"

clean: ## remove all that was built
	rm -rf build tide tide.so jupyter.so docs/tide.1 docs/tide.bash stdlib/tide.meta.lua

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 14

.DELETE_ON_ERROR:
.PHONY: FORCE all so kernel demo test quick slow test-full lint san hostile bench fuzz inputs \
  inputs-build fuzz-plants same docs fresh install uninstall clean help
