/* print_mark.c - notes of what each piece of a printed text stands for. */
#include "ir/text/printer.h"

void td_printer_mark(TdPrinter *p, TdPrintPiece piece, size_t from, const char *name,
                     const TdType *type, TdLoc loc) {
  if (!p->marks) return;
  TdPrintMark m = {piece, from, p->out->n, name, type, loc};
  td_vec_push(p->out->arena, p->marks, m);
}

void td_printer_move_marks(TdPrinter *p, size_t first, size_t bytes) {
  for (size_t i = first; i < td_printer_marks(p); i++) {
    p->marks->at[i].from += bytes;
    p->marks->at[i].to += bytes;
  }
}

size_t td_printer_marks(const TdPrinter *p) {
  return p->marks ? p->marks->n : 0;
}
