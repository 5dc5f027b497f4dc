/* owner.c - the owners of states before and after a step. Method: each execution path to a
 * statement
 * that uses a state is a use, written as the calls that both programs have on the way and the
 * statement; instances are sets of uses. Of each use, and of each two, as many instances hold it
 * (both) after the step as before. */
#include "rewrite/owner.h"

#include <string.h>

#include "rewrite/util.h"

/* A call, run or statement on a path: its uid in the program before the step, or 0. */
typedef struct Link {
  uint32_t id;
  TdLoc loc;
} Link;

/* A path to a statement that uses a state. */
typedef struct Use {
  const Link *link; /* the statement last */
  size_t n;
  size_t instance;
  const TdStmt *decl;
} Use;

/* An instance of a state, at a path of units and runs. */
typedef struct Instance {
  const char *path;
  int64_t weight; /* how many of them a map makes, times the elements of each */
} Instance;

typedef struct Owners {
  TdRewrite *r;
  const TdProg *prog;
  const TdMap *ids; /* (uid + 1) -> uid before; of the program after the step */
  TdMap stateful;   /* unit -> 1: it or one that it uses has states, 2: none */
  TD_VEC(Link) path;
  TD_VEC(Use) use;
  TD_VEC(Instance) instance;
} Owners;

/* The states at the start of a body. */
static size_t states_of(const TdUnit *u) {
  size_t n = 0;
  while (u->body && n < u->body->nkid && u->body->kid[n]->kind == TD_STMT_LOCAL &&
         u->body->kid[n]->cls != TD_LOCAL_AUTO)
    n++;
  return n;
}

static bool has_state(Owners *o, const TdUnit *u);

static bool is_stateless(void *ud, const TdStmt *s) {
  Owners *o = ud;
  if (s->kind == TD_STMT_LOCAL) return s->cls != TD_LOCAL_STATE;
  const TdUnit *u = s->kind == TD_STMT_CALL ? td_prog_unit(o->prog, s->sym) : NULL;
  return !u || !has_state(o, u);
}

/* Whether u, or what it calls or runs, has states. */
static bool has_state(Owners *o, const TdUnit *u) {
  uint64_t known = 0;
  if (td_map_get(&o->stateful, (uint64_t)(uintptr_t)u, &known)) return known == 1;
  bool found = u->body && !td_walk_stmt(o->r->session->ctx, u->body, is_stateless, o);
  for (size_t i = 0; i < u->nrun && !found; i++) {
    const TdUnit *task = td_prog_unit(o->prog, u->run[i].unit);
    found = task && has_state(o, task);
  }
  td_map_put(o->r->arena, &o->stateful, (uint64_t)(uintptr_t)u, found ? 1 : 2);
  return found;
}

/* The instance at a path, made if need be. */
static size_t instance_at(Owners *o, const char *path, const char *state, int64_t weight) {
  const char *whole = td_text_fmt(o->r->arena, "%s/%s", path, state);
  size_t i = 0;
  while (i < o->instance.n && strcmp(o->instance.at[i].path, whole) != 0) i++;
  if (i == o->instance.n) td_vec_push(o->r->arena, &o->instance, ((Instance){whole, weight}));
  return i;
}

/* A unit under way. */
typedef struct Here {
  Owners *o;
  const TdUnit *unit;
  const char *path;
  int64_t weight;
} Here;

static void push(Owners *o, uint32_t uid, TdLoc loc) {
  uint64_t id = 0;
  td_map_get(o->ids, (uint64_t)uid, &id);
  td_vec_push(o->r->arena, &o->path, ((Link){(uint32_t)id, loc}));
}

static bool mentions(const TdStmt *s, TdSym state) {
  for (uint32_t i = 0; i < s->nexpr; i++)
    if (td_walk_uses_expr(s->expr[i], state)) return true;
  return false;
}

/* Notes that statement s uses the state declared by decl. */
static void note_use(const Here *h, const TdStmt *s, const TdStmt *decl) {
  Owners *o = h->o;
  push(o, s->uid, s->loc);
  Use u = {.n = o->path.n, .decl = decl};
  u.link = td_arena_copy(o->r->arena, o->path.at, o->path.n * sizeof(Link));
  u.instance = instance_at(o, h->path, decl->sym->name, h->weight * decl->blob->count);
  td_vec_push(o->r->arena, &o->use, u);
  o->path.n--;
}

static void visit_unit(Owners *o, const TdUnit *u, const char *path, int64_t weight);

static bool visit_stmt(void *ud, const TdStmt *s) {
  const Here *h = ud;
  Owners *o = h->o;
  td_ctx_tick(o->r->session->ctx, 1);
  for (size_t i = 0; i < states_of(h->unit); i++) {
    const TdStmt *decl = h->unit->body->kid[i];
    if (decl->cls == TD_LOCAL_STATE && mentions(s, decl->sym)) note_use(h, s, decl);
  }
  const TdUnit *u = s->kind == TD_STMT_CALL ? td_prog_unit(o->prog, s->sym) : NULL;
  if (!u || !has_state(o, u)) return true;
  push(o, s->uid, s->loc);
  visit_unit(o, u, td_text_fmt(o->r->arena, "%s.%s", h->path, u->sym->name), h->weight);
  o->path.n--;
  return true;
}

/* How many instances a task has; where that is open, a number that other maps do not have. */
static int64_t instances_of(const Owners *o, const TdUnit *design, const TdRun *run) {
  int64_t n = 1, extent;
  for (int d = 0; d < run->rank; d++) {
    if (!td_unit_value(design, run->map[d], &extent)) {
      extent = 7919;
      for (const char *c = td_print_expr_str(o->r->arena, run->map[d]); *c; c++)
        extent = (extent * 31 + *c) % 1000003;
    }
    n = (n * (extent > 0 ? extent : 1)) % ((int64_t)1 << 40);
  }
  return n;
}

/* Notes the uses in u, at a path, and in what it calls or runs. */
static void visit_unit(Owners *o, const TdUnit *u, const char *path, int64_t weight) {
  Here h = {o, u, path, weight};
  td_ctx_enter(o->r->session->ctx);
  if (u->body) td_walk_stmt(o->r->session->ctx, u->body, visit_stmt, &h);
  for (size_t i = 0; i < u->nrun; i++) {
    const TdRun *run = &u->run[i];
    const TdUnit *task = td_prog_unit(o->prog, run->unit);
    if (!task || !has_state(o, task)) continue;
    push(o, run->uid, run->loc);
    visit_unit(o, task, td_text_fmt(o->r->arena, "%s.%s[]", path, run->sym->name),
               weight * instances_of(o, u, run));
    o->path.n--;
  }
  td_ctx_leave(o->r->session->ctx);
}

/* Statements by uid, and how many of the program before the step come of one. */
typedef struct Ids {
  TdArena *arena;
  TdMap family;     /* uid or origin -> how many; and in `member` the last of them */
  TdMap member, id; /* id: uid now -> uid before */
  bool before;
} Ids;

static bool note_id(void *ud, const TdStmt *s) {
  Ids *k = ud;
  uint32_t root = s->origin ? s->origin : s->uid;
  uint64_t n = 0, one = 0;
  if (k->before) {
    td_map_get(&k->family, root, &n);
    td_map_put(k->arena, &k->family, root, n + 1);
    td_map_put(k->arena, &k->member, root, s->uid);
    td_map_put(k->arena, &k->id, s->uid, s->uid);
  } else if (!td_map_get(&k->id, s->uid, NULL) && td_map_get(&k->family, root, &n) && n == 1) {
    td_map_get(&k->member, root, &one);
    td_map_put(k->arena, &k->id, s->uid, one);
  }
  return true;
}

static void note_ids(Ids *k, TdRewrite *r, const TdProg *p, bool before) {
  k->before = before;
  for (size_t i = 0; i < p->nunit; i++) {
    if (p->unit[i]->body) td_walk_stmt(r->session->ctx, p->unit[i]->body, note_id, k);
    for (size_t n = 0; before && n < p->unit[i]->nrun; n++)
      td_map_put(k->arena, &k->id, p->unit[i]->run[n].uid, p->unit[i]->run[n].uid);
  }
}

static Owners owners_of(TdRewrite *r, const TdProg *p, const TdMap *ids) {
  Owners o = {.r = r, .prog = p, .ids = ids};
  const TdUnit *root = td_prog_root(p);
  if (has_state(&o, root)) visit_unit(&o, root, root->sym->name, 1);
  return o;
}

/* The ids that are on some path of o. */
static TdMap ids_on(const Owners *o) {
  TdMap on = {0};
  for (size_t i = 0; i < o->use.n; i++)
    for (size_t k = 0; k < o->use.at[i].n; k++)
      if (o->use.at[i].link[k].id) td_map_put(o->r->arena, &on, o->use.at[i].link[k].id, 1);
  return on;
}

/* A use as both programs can tell it: "uid.uid:line:column of the declaration"; NULL: the statement
 * is not in both. */
static const char *name_of(TdArena *a, const Use *u, const TdMap *x, const TdMap *y) {
  TdText t = td_text_new(a);
  for (size_t k = 0; k < u->n; k++) {
    uint32_t id = u->link[k].id;
    bool both = td_map_get(x, id, NULL) && td_map_get(y, id, NULL);
    if (!both && k + 1 == u->n) return NULL;
    if (both) td_text_putf(&t, "%u.", id);
  }
  td_text_putf(&t, ":%u:%u:%u", u->decl->loc.source, u->decl->loc.line, u->decl->loc.col);
  return td_text_str(&t);
}

/* Uses of one name: the instances that hold them before and after the step. */
typedef struct Element {
  const char *name;
  const Use *use[2];
  TD_VEC(size_t) in[2];
} Element;

typedef struct Compare {
  TdRewrite *r;
  Owners *side[2];
  TD_VEC(Element) at;
} Compare;

static void add_element(Compare *c, int side, const char *name, const Use *u) {
  size_t i = 0;
  TdArena *a = c->r->arena;
  while (i < c->at.n && strcmp(c->at.at[i].name, name) != 0) i++;
  if (i == c->at.n) td_vec_push(a, &c->at, ((Element){.name = name}));
  Element *e = &c->at.at[i];
  e->use[side] = u;
  for (size_t k = 0; k < e->in[side].n; k++)
    if (e->in[side].at[k] == u->instance) return;
  td_vec_push(a, &e->in[side], u->instance);
}

/* How many instances hold both x and y or (`all`) their elements, in all instances of a map. */
static int64_t shared(const Compare *c, int side, const Element *x, const Element *y, bool all) {
  int64_t n = 0;
  for (size_t i = 0; i < x->in[side].n; i++)
    for (size_t k = 0; k < y->in[side].n; k++)
      if (x->in[side].at[i] == y->in[side].at[k])
        n += all ? c->side[side]->instance.at[x->in[side].at[i]].weight : 1;
  return n;
}

/* Whether x and y are together as before. A map may make many of one instance: whoever makes maps
 * of
 * loops has asked that their iterations meet at no element. What makes one of many has as many
 * elements: each its own. */
static bool is_kept(const Compare *c, const Element *x, const Element *y) {
  return shared(c, 0, x, y, false) == shared(c, 1, x, y, false) &&
         shared(c, 0, x, y, true) <= shared(c, 1, x, y, true);
}

/* The first place at which the paths of two uses part; that of the statement if they do not. */
static TdLoc parts_at(const Use *x, const Use *y) {
  size_t k = 0;
  while (k + 1 < x->n && k + 1 < y->n && x->link[k].id == y->link[k].id) k++;
  return x->link[k].loc;
}

/* Refuses: x and y are together in other numbers of instances than before. */
static bool refuse(const Compare *c, const Element *x, const Element *y) {
  TdRewrite *r = c->r;
  const char *state = x->use[0]->decl->sym->name;
  int64_t was = shared(c, 0, x, y, true), is = shared(c, 1, x, y, true);
  TdLoc one = parts_at(x->use[0], y->use[0]), two = parts_at(y->use[0], x->use[0]);
  if (x == y) {
    td_util_refuse(r, TD_ILLEGAL, "state", one,
                   "the state '%s', used on line %u, has %lld elements in all instances, and would "
                   "have %lld",
                   state, x->use[0]->link[x->use[0]->n - 1].loc.line, (long long)was,
                   (long long)is);
    td_diag_note(r->diag, x->use[0]->decl->loc, "the state is this one");
    td_diag_help(r->diag, "make it a tensor that is passed, an element for each instance");
    return false;
  }
  td_util_refuse(r, TD_ILLEGAL, "state", one,
                 is < was ? "lines %u and %u share the state '%s', and would have one each"
                          : "lines %u and %u have a state '%s' each, and would share one",
                 one.line, two.line, state);
  td_diag_note(r->diag, two, "the other use begins here");
  if (is < was)
    td_diag_help(r->diag, "take both into one kernel, or give each a state of its own in the "
                          "source, by an instance: local other = k:as \"other\"");
  else
    td_diag_help(r->diag, "leave one of them in a kernel of its own");
  return false;
}

/* Whether all elements that both sides have are held alike. */
static bool compare(const Compare *c) {
  for (size_t i = 0; i < c->at.n; i++)
    for (size_t k = 0; k <= i; k++) {
      const Element *x = &c->at.at[k], *y = &c->at.at[i];
      if (!x->use[0] || !x->use[1] || !y->use[0] || !y->use[1]) continue;
      if (!is_kept(c, x, y)) return refuse(c, x, y);
    }
  return true;
}

bool td_owner_check(TdRewrite *r, const TdProg *now) {
  Ids ids = {.arena = r->arena};
  if (now == r->prog) return true;
  Owners probe = {.r = r, .prog = r->prog};
  if (!has_state(&probe, td_prog_root(r->prog))) return true;
  note_ids(&ids, r, r->prog, true);
  note_ids(&ids, r, now, false);
  Owners before = owners_of(r, r->prog, &ids.id), after = owners_of(r, now, &ids.id);
  Compare c = {.r = r, .side = {&before, &after}};
  TdMap on[2] = {ids_on(&before), ids_on(&after)};
  for (int side = 0; side < 2; side++)
    for (size_t i = 0; i < c.side[side]->use.n; i++) {
      const Use *u = &c.side[side]->use.at[i];
      const char *name = name_of(r->arena, u, &on[0], &on[1]);
      if (name) add_element(&c, side, name, u);
    }
  return compare(&c);
}
