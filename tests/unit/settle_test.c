/* settle_test.c - statements of programs that were rewritten, in the form that loading gives them.
 */
#include <string.h>

#include "build_ir.h"
#include "ir/text/print.h"
#include "ir/text/settle.h"
#include "tap.h"

/* The text of a kernel with this body after it was settled. */
static const char *settled(const TdStmt *body, TdSym x) {
  const TdUnit *u = KERNEL("k", body, P(x, T(B.i32, 4)));
  const TdProg *p = prog(1, (const TdUnit *[]){td_settle_form(B.st, u)});
  TdText t = td_text_new(B.a);
  td_print_unit(&t, p, td_prog_root(p));
  return td_text_str(&t);
}

static void test_arms(void) {
  TdSym x = arg("x");
  const TdExpr *at = LD(x, B.i32, num(0)), *cond = OP(LT, at, lit(B.i32, 3));
  const TdStmt *one = store(at, lit(B.i32, 1)), *two = store(at, lit(B.i32, 2));
  const TdStmt *empty = block(0, NULL);
  const char *kept = settled(BLOCK(td_stmt_if(B.st, cond, BLOCK(one), BLOCK(two), here())), x);
  ok(strstr(kept, "else") && strstr(kept, "x[0] = 2"), "an arm with a statement stays");
  ok(!strstr(settled(BLOCK(td_stmt_if(B.st, cond, BLOCK(one), empty, here())), x), "else"),
     "an arm without statements goes");
  const TdStmt *inner = td_stmt_if(B.st, cond, empty, empty, here());
  kept = settled(BLOCK(td_stmt_if(B.st, cond, BLOCK(inner), empty, here())), x);
  ok(!strstr(kept, "else"), "so do those inside each other");
}

int main(void) {
  build_open();
  test_arms();
  build_close();
  return done_testing();
}
