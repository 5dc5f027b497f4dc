/* relay_own.c - what an instance adds to a gather, where it is a token that it gets itself: it can
 * be got in the loop that passes on those of others, so that the loop is all that there is. */
#include "rewrite/stream/relay_own.h"

#include "ir/edit.h"

TdRelayOwn td_relay_own(TdCtx *c, const TdStmt *block, const TdStmt *move, const TdExpr *inner) {
  TdRelayOwn own = {0}, none = {0};
  for (uint32_t i = 0; inner->kind == TD_EXPR_LOAD && inner->nkid == 0 && i < block->nkid; i++) {
    const TdStmt *s = block->kid[i];
    bool before = i + 1 < block->nkid && block->kid[i + 1] == move;
    if (s->kind == TD_STMT_LOCAL && s->sym == inner->sym && s->init == TD_INIT_NONE)
      own.decl = s;
    else if (before && s->kind == TD_STMT_GET && s->nexpr > 1 && s->expr[1]->sym == inner->sym)
      own.get = s;
    else if (s != move && td_walk_uses(c, s, inner->sym))
      return none;
  }
  return own.decl && own.get ? own : none;
}

const TdStmt *td_relay_without(TdStore *st, const TdStmt *body, const TdRelayOwn *own) {
  body = td_edit_replace(st, body, own->get->uid, NULL, 0);
  return td_edit_replace(st, body, own->decl->uid, NULL, 0);
}
