/* parse.h - Lua 5.4 chunks to trees; accepts what Lua's own compiler accepts. */
#ifndef TD_FRONTEND_LUA_PARSE_H
#define TD_FRONTEND_LUA_PARSE_H

#include "frontend/lua/ast.h"

/* The chunk is a whole file: a byte order mark and a first line `#...` are passed over. */
#define TD_PARSE_FILE 1u
/* The chunk is an input of the prompt: its last statement may be any expression. */
#define TD_PARSE_INPUT 2u

/* Parses source `source_id` and returns its tree, owned by a, names interned in `names`. On an
 * error returns NULL and fills diag (TD_USAGE), with one of the codes syntax, incomplete,
 * bad-character, bad-number, bad-string, bad-escape, const-assign, attrib-unknown, close-repeated,
 * vararg-outside, break-outside, goto-undefined, goto-scope, label-repeated, too-deep,
 * too-many-locals, too-many-upvalues, too-many-values. Two limits of Lua's code generator are not
 * checked: a loop body of more than 131,071 instructions, and the registers for the inner values of
 * one expression (arguments, list items and local variables are counted). */
const TdAst *td_parse_chunk(TdArena *a, TdNames *names, const TdSources *sources,
                            uint32_t source_id, unsigned flags, TdDiag *diag);

/* Whether parsing failed only because the input ended: more lines could make it valid. */
bool td_parse_is_incomplete(const TdDiag *diag);

#endif
