# Tide. `make` builds ./tide; `make help` lists the rest.
CC ?= gcc
CFLAGS ?= -O2 -g
WARN = -Wall -Wextra -Wpedantic -Wshadow -Wconversion
LUA_CFLAGS := $(shell pkg-config --cflags lua5.4 2>/dev/null || echo -I/usr/include/lua5.4)
LUA_LIBS := $(shell pkg-config --libs lua5.4 2>/dev/null || echo -llua5.4)
CPPFLAGS += -std=c11 -D_POSIX_C_SOURCE=200809L -Iinterp -I. $(LUA_CFLAGS)
LDLIBS = $(LUA_LIBS) -lisl -lffi -ltcc -lm -ldl
B ?= build/release

SRC := $(sort $(wildcard interp/*/*.c backends/*.c backends/*/*.c repl/*.c interp/build.c interp/check.c))
OBJ := $(SRC:%.c=$(B)/%.o)

all: tide

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(WARN) $(CFLAGS) -MMD -MP -c $< -o $@

$(B)/libtide.a: $(OBJ)
	@rm -f $@
	ar rcs $@ $^

tide: $(B)/interp/main.o $(B)/libtide.a
	$(CC) $(CFLAGS) -rdynamic -o $@ $^ $(LDLIBS)

# One test program for each tests/unit/*.c.
$(B)/tests/unit/%: tests/unit/%.c $(B)/libtide.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(WARN) $(CFLAGS) -MMD -MP -o $@ $< $(B)/libtide.a $(LDLIBS)

-include $(OBJ:.o=.d) $(wildcard $(B)/tests/unit/*.d) $(B)/interp/main.d

.PHONY: all
