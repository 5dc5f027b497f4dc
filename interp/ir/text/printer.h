/* printer.h - what the files of the printer share; not for others. */
#ifndef TD_IR_TEXT_PRINTER_H
#define TD_IR_TEXT_PRINTER_H

#include "ir/text/print.h"

/* A text under way, and what is known of the names in it. */
typedef struct TdPrinter {
  TdText *out;
  TdSession *session; /* NULL: print what is there, without simplifying ends of ranges */
  TdMap type;         /* TdSym -> declared TdType, so that views know what is whole; may be empty */
  uint32_t words;     /* bit k: the k-th word of td_printer_words was used */
  uint32_t hidden;    /* bit k: something else in the program goes by that word */
  const TdProg *prog; /* units by symbol, or NULL */
  TdPrintMarks *marks; /* of what is printed, or NULL */
} TdPrinter;

/* Names of types that a printed chunk makes local: "i8", "f32"... */
#define TD_PRINTER_WORDS 14
extern const char *const td_printer_words[TD_PRINTER_WORDS];

/* Whether a value of scalar type t has a text that a Lua number is exact enough for. */
bool td_printer_is_plain(const TdType *t, uint64_t bits);
/* A value as a Lua number or boolean. */
void td_printer_number(TdPrinter *p, const TdType *t, uint64_t bits);
/* Literal e, bare or as T(..). */
void td_printer_literal(TdPrinter *p, const TdExpr *e, bool bare);
/* Type t as Lua; notes which words it uses. */
void td_printer_type(TdPrinter *p, const TdType *t);
/* e where a bare literal would load as `beside` (NULL: by itself). */
void td_printer_expr(TdPrinter *p, const TdExpr *e, const TdType *beside);
/* e inside brackets, braces and bounds: index literals are bare. */
void td_printer_index(TdPrinter *p, const TdExpr *e);
/* Attributes as " --@ a(1) b"; nothing for none. */
void td_printer_attrs(TdPrinter *p, TdAttrs attrs);
/* Statements [from, n) of a block, without its own do and end. */
void td_printer_stmts(TdPrinter *p, const TdStmt *block, size_t from);
/* Marks what was printed since `from`. */
void td_printer_mark(TdPrinter *p, TdPrintPiece piece, size_t from, const char *name,
                     const TdType *type, TdLoc loc);
/* Moves the marks from number `first` on, whose text was moved by some bytes. */
void td_printer_move_marks(TdPrinter *p, size_t first, size_t bytes);
/* How many marks there are. */
size_t td_printer_marks(const TdPrinter *p);
#endif
