/* vname.c - words that are no names. */
#include "backends/verilog/vname.h"

#include <ctype.h>
#include <string.h>

#include "backends/verilog/verilog.h"

/* IEEE 1800-2017, annex B. */
static const char words[] =
    " accept_on alias always always_comb always_ff always_latch and assert assign assume automatic "
    "before begin bind bins binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle "
    "checker class clocking cmos config const constraint context continue cover covergroup "
    "coverpoint cross deassign default defparam design disable dist do edge else end endcase "
    "endchecker endclass endclocking endconfig endfunction endgenerate endgroup endinterface "
    "endmodule endpackage endprimitive endprogram endproperty endsequence endspecify endtable "
    "endtask enum event eventually expect export extends extern final first_match for force "
    "foreach forever fork forkjoin function generate genvar global highz0 highz1 if iff ifnone "
    "ignore_bins illegal_bins implements implies import incdir include initial inout input inside "
    "instance int integer interconnect interface intersect join join_any join_none large let "
    "liblist library local localparam logic longint macromodule matches medium modport module nand "
    "negedge nettype new nexttime nmos nor noshowcancelled not notif0 notif1 null or output "
    "package packed parameter pmos posedge primitive priority program property protected pull0 "
    "pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase "
    "randsequence rcmos real realtime ref reg reject_on release repeat restrict return rnmos "
    "rpmos rtran rtranif0 rtranif1 s_always s_eventually s_nexttime s_until s_until_with scalared "
    "sequence shortint shortreal showcancelled signed small soft solve specify specparam static "
    "string strong strong0 strong1 struct super supply0 supply1 sync_accept_on sync_reject_on "
    "table tagged task this throughout time timeprecision timeunit tran tranif0 tranif1 tri tri0 "
    "tri1 triand trior trireg type typedef union unique unique0 unsigned until until_with untyped "
    "use uwire var vectored virtual void wait wait_order wand weak weak0 weak1 while wildcard wire "
    "with within wor xnor xor ";

/* Modules that are in no library: of benches, of a module's clock; and pins that all tops have, as
 * Icarus takes a module for what a name in it means. */
static const char *const others[] = {"bench", "clocked", "tide_watch", "tide_fit", "clk",
                                     "rst",   "start",   "busy",       NULL};

bool td_vname_is_reserved(const char *s) {
  char word[64];
  size_t n = strlen(s);
  if (n + 3 > sizeof word) return false;
  word[0] = ' ';
  for (size_t i = 0; i < n; i++) word[i + 1] = (char)tolower((unsigned char)s[i]);
  memcpy(word + n + 1, " ", 2);
  return strstr(words, word) != NULL;
}

const char *td_vname_plain(TdArena *a, const char *s) {
  bool bad = !isalpha((unsigned char)*s);
  char *t = td_text_fmt(a, "%s%s", bad ? "n" : "", s);
  for (char *c = t; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '_') *c = '_';
  return t;
}

bool td_vname_is_module(const char *s) {
  const TdFile *const library[] = {td_verilog_library, td_verilog_floats};
  bool taken = td_vname_is_reserved(s);
  for (int i = 0; i < 2; i++)
    for (const TdFile *f = library[i]; f->name; f++) taken |= strcmp(f->name, s) == 0;
  for (const char *const *w = others; *w; w++) taken |= strcmp(*w, s) == 0;
  return taken;
}

/* s, plain, with a suffix where it is taken. */
static const char *apart(TdArena *a, const char *s, const char *suffix) {
  s = td_vname_plain(a, s);
  return td_vname_is_module(s) ? td_text_fmt(a, "%s_%s", s, suffix) : s;
}

const char *td_vname_module(TdArena *a, const char *s) {
  return apart(a, s, "top");
}

const char *td_vname_scalar(TdArena *a, const char *s) {
  return apart(a, s, "in");
}
