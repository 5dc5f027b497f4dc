/* compose.c - compose: the steps of another schedule, replayed on the kernel where it is
 * called. */
#include <string.h>

#include "rewrite/take.h"
#include "rewrite/util.h"

enum { SCHEDULE, ID };

/* A replay under way. */
typedef struct Replay {
  TdRewrite *r;
  const char *path;      /* how the kernel is named here */
  const TdVersion *sub;  /* the version whose step is replayed */
  const TdProg *there;   /* the program that the step began with in the other schedule */
  const TdProg *prog;    /* so far */
  TdMap name;            /* interned name that the other schedule made -> the one made here */
  const TdArgValue *arg; /* of the step, mapped */
} Replay;

/* The other schedule's versions, oldest first; the first is as captured. */
static size_t list_versions(TdArena *a, const TdVersion *last, const TdVersion ***out) {
  size_t n = (size_t)last->step + 1;
  *out = TD_NEWN(a, const TdVersion *, n);
  for (const TdVersion *v = last; v; v = v->parent) (*out)[v->step] = v;
  return n;
}

/* What a name that the other schedule made is called here. */
static const char *name_here(const Replay *p, const char *name) {
  const char *now = td_map_getp(&p->name, td_names_str(p->r->session->names, name));
  return now ? now : name;
}

/* A search for a call of a unit. */
typedef struct Called {
  TdSym unit;
  bool found;
} Called;

static bool look_call(void *ud, const TdStmt *s) {
  Called *c = ud;
  c->found |= s->kind == TD_STMT_CALL && s->sym == c->unit;
  return !c->found;
}

/* The name by which a unit is called. */
static const char *call_name(const TdUnit *u) {
  return u->stem ? u->stem : u->sym->name;
}

/* The name by which `from` calls a unit, or runs it as a task; NULL if it does neither. */
static const char *name_below(const Replay *p, const TdUnit *from, const TdUnit *u) {
  Called c = {.unit = u->sym};
  for (size_t i = 0; i < from->nrun; i++)
    if (from->run[i].unit == u->sym) return from->run[i].sym->name;
  if (from->body) td_walk_stmt(p->r->session->ctx, from->body, look_call, &c);
  return c.found ? call_name(u) : NULL;
}

/* The path of unit u of the other schedule, behind that of `from`; NULL if `from` does not reach
 * it. */
static const char *path_below(const Replay *p, const TdUnit *from, const TdUnit *u,
                              const char *path) {
  if (from == u) return path;
  for (size_t i = 0; i < p->there->nunit; i++) {
    const TdUnit *next = p->there->unit[i];
    const char *name = next == from ? NULL : name_below(p, from, next);
    if (!name) continue;
    const char *below = td_text_fmt(p->r->arena, "%s%s:", path, name_here(p, name));
    const char *found = path_below(p, next, u, below);
    if (found) return found;
  }
  return NULL;
}

/* "FFN1:systolic:" for a unit that the other schedule sees: below the kernel that is its root. */
static const char *unit_here(const Replay *p, const TdUnit *u) {
  const char *root = td_text_fmt(p->r->arena, "%s:", p->path);
  const char *path = path_below(p, td_prog_root(p->there), u, root);
  return path ? path : root;
}

/* The last part of a spec, after its units: "band/i#1", its names being those here. */
static const char *tail_here(const Replay *p, const char *spec) {
  const char *colon = strrchr(spec, ':'), *tail = colon ? colon + 1 : spec;
  const char *slash = strchr(tail, '/'), *name = slash ? slash + 1 : tail;
  const char *hash = strchr(name, '#');
  const char *bare = hash ? td_arena_strndup(p->r->arena, name, (size_t)(hash - name)) : name;
  return td_text_fmt(p->r->arena, "%.*s%s%s", (int)(name - tail), tail, name_here(p, bare),
                     hash ? hash : "");
}

/* The unit of the loop, band, task or callee that a step names, in which its array is looked up
 * first; NULL: none. */
static const TdUnit *unit_beside(const Replay *p, const TdPrimStep *step) {
  TdDiag quiet = {.arena = p->r->arena};
  for (int i = 0; i < TD_PRIM_ARGS && step->prim->args[i].kind != TD_ARG_END; i++) {
    TdArgKind kind = step->prim->args[i].kind;
    const char *spec = step->arg[i].names ? step->arg[i].names[0] : step->arg[i].text;
    bool names = kind == TD_ARG_LOOP || kind == TD_ARG_BAND || kind == TD_ARG_UNIT;
    const TdUnit *unit = NULL;
    TdPlace *band = NULL;
    size_t n = 0;
    if (!names || !spec) continue;
    if (kind == TD_ARG_UNIT && td_cursor_unit(p->r->arena, p->there, spec, &unit, &quiet))
      return unit;
    if (td_cursor_band(p->r->arena, p->there, spec, &band, &n, &quiet)) return band->unit;
  }
  return NULL;
}

/* A spec of the other schedule as one of this; what it does not find there stays as it is. */
static const char *spec_here(const Replay *p, TdArgKind kind, const char *spec,
                             const TdUnit *beside) {
  TdDiag quiet = {.arena = p->r->arena};
  const TdProg *there = p->there;
  TdPlace at = {0}, *band = &at;
  size_t n = 1;
  bool found = false;
  if (kind == TD_ARG_UNIT && td_cursor_unit(p->r->arena, there, spec, &at.unit, &quiet)) {
    const char *path = unit_here(p, at.unit);
    return td_arena_strndup(p->r->arena, path, strlen(path) - 1);
  }
  if (kind == TD_ARG_LOOP)
    found = td_cursor_loop(p->r->arena, there, spec, &at, &quiet);
  else if (kind == TD_ARG_BAND || kind == TD_ARG_UNIT)
    found = td_cursor_band(p->r->arena, there, spec, &band, &n, &quiet);
  else if (kind == TD_ARG_ARRAY)
    found = td_cursor_array(p->r->arena, there, spec, beside, &at, &quiet);
  if (!found) return tail_here(p, spec);
  return td_text_fmt(p->r->arena, "%s%s", unit_here(p, band->unit), tail_here(p, spec));
}

static bool is_spec(TdArgKind kind) {
  return kind == TD_ARG_LOOP || kind == TD_ARG_BAND || kind == TD_ARG_ARRAY ||
         kind == TD_ARG_UNIT || kind == TD_ARG_STREAM;
}

/* The arguments of a step in the terms of this schedule. A kernel left out is the root, there. */
static TdArgValue *map_args(const Replay *p, const TdPrimStep *step) {
  TdArgValue *arg = td_arena_copy(p->r->arena, step->arg, TD_PRIM_ARGS * sizeof *arg);
  const TdUnit *beside = unit_beside(p, step);
  for (int i = 0; i < TD_PRIM_ARGS && step->prim->args[i].kind != TD_ARG_END; i++) {
    TdArgKind kind = step->prim->args[i].kind;
    if (!arg[i].given && kind == TD_ARG_UNIT)
      arg[i] = (TdArgValue){.given = true, .text = p->path};
    else if (arg[i].text && is_spec(kind))
      arg[i].text = spec_here(p, kind, arg[i].text, beside);
    const char **names = TD_NEWN(p->r->arena, const char *, arg[i].n);
    if (!arg[i].names || !is_spec(kind)) continue;
    for (size_t k = 0; k < arg[i].n; k++) names[k] = spec_here(p, kind, arg[i].names[k], beside);
    arg[i].names = names;
  }
  return arg;
}

/* The Lua text of a step as it is replayed. */
static const char *call_text(const Replay *p, const TdPrimStep *step) {
  TdText t = td_text_new(p->r->arena);
  td_schedule_call(&t, step->prim, p->arg);
  return td_text_str(&t);
}

/* The step of this schedule after which `s` was gone, or no longer as it is in `old`; NULL if there
 * is none. */
static const TdVersion *changed_by(const Replay *p, const TdStmt *old, TdSym unit) {
  const TdVersion *last = NULL;
  for (const TdVersion *v = p->r->since; v && v->parent; v = v->parent) {
    const TdUnit *u = td_prog_unit(v->parent->prog, unit);
    const TdStmt *s = u && u->body ? td_edit_find(p->r->session->ctx, u->body, old->uid) : NULL;
    last = v;
    if (s && !td_attrs_equal(s->attrs, old->attrs)) break;
    if (s) last = NULL;
  }
  return last;
}

/* A search for a loop whose attribute, set before the replay, a step of it changes. */
typedef struct Clash {
  const Replay *p;
  const TdUnit *unit, *now; /* before the replay, after the step */
  const TdStmt *loop;
} Clash;

static bool is_kept(void *ud, const TdStmt *s) {
  Clash *k = ud;
  const TdStmt *now = td_edit_find(k->p->r->session->ctx, k->now->body, s->uid);
  for (size_t i = 0; now && i < s->attrs.n && !k->loop; i++) {
    const TdAttr *x = td_attrs_get(now->attrs, (TdAttrKind)s->attrs.at[i].kind);
    TdAttrs one = {&s->attrs.at[i], 1}, other = {x, 1};
    if (x && s->kind == TD_STMT_FOR && !td_attrs_equal(one, other)) k->loop = s;
  }
  return !k->loop;
}

/* Refuses a step that sets otherwise what a step of this schedule has set. */
static bool check_clash(const Replay *p, const TdPrimStep *step) {
  const TdProg *before = p->r->prog;
  for (size_t i = 0; i < before->nunit; i++) {
    Clash k = {.p = p, .unit = before->unit[i], .now = td_prog_unit(p->prog, before->unit[i]->sym)};
    if (!k.unit->body || !k.now || !k.now->body) continue;
    td_walk_stmt(p->r->session->ctx, k.unit->body, is_kept, &k);
    if (!k.loop) continue;
    const TdVersion *by = changed_by(p, k.loop, k.unit->sym);
    td_util_refuse(p->r, TD_ILLEGAL, "conflict", k.loop->loc,
                   "%s sets otherwise what '%s' has from %s", call_text(p, step), k.loop->sym->name,
                   by ? by->call : "its kernel");
    return false;
  }
  return true;
}

/* The first step of this schedule since which a loop or array of the kernel is gone, for a note. */
static void blame(const Replay *p, const TdPrimStep *step) {
  const TdVersion *v = p->r->since;
  TdLoc none = {0};
  td_diag_note(p->r->diag, none, "replaying %s", call_text(p, step));
  for (; v && v->parent; v = v->parent) {
    TdDiag quiet = {.arena = p->r->arena};
    TdPlace at;
    for (int i = 0; i < TD_PRIM_ARGS && step->prim->args[i].kind == TD_ARG_LOOP; i++) {
      const char *spec = p->arg[i].names ? p->arg[i].names[0] : p->arg[i].text;
      if (spec && td_cursor_loop(p->r->arena, v->parent->prog, spec, &at, &quiet) &&
          !td_cursor_loop(p->r->arena, v->prog, spec, &at, &quiet)) {
        td_diag_note(p->r->diag, none, "'%s' went with step %d: %s", spec, v->step, v->call);
        return;
      }
    }
  }
}

/* Learns what the units that a whole step made there are called here, where it made as many in the
 * same order: an unfolded loop's design is named after the kernel. */
static void learn_units(Replay *p, const TdProg *before) {
  const TdProg *after = p->sub->prog;
  size_t k = 0;
  for (size_t i = 0; i < after->nunit; i++) {
    if (td_prog_unit(p->there, after->unit[i]->sym)) continue;
    while (k < p->prog->nunit && td_prog_unit(before, p->prog->unit[k]->sym)) k++;
    if (k == p->prog->nunit) return;
    const char *was = td_names_str(p->r->session->names, call_name(after->unit[i]));
    const char *now = call_name(p->prog->unit[k++]);
    if (!td_map_getp(&p->name, was))
      td_map_putp(p->r->arena, &p->name, was, (void *)(uintptr_t)now);
  }
}

/* Does one step here, and learns what its names became. */
static bool replay_step(Replay *p, const TdPrimStep *step) {
  TdRewrite *r = p->r, inner = *r;
  bool part = step->before != NULL;
  p->there = part ? step->before : p->sub->parent->prog;
  p->arg = map_args(p, step);
  inner.prog = p->prog;
  inner.arg = p->arg;
  inner.replays = true;
  memset(&inner.made, 0, sizeof inner.made);
  memset(&inner.did, 0, sizeof inner.did);
  memset(&inner.naming, 0, sizeof inner.naming);
  const TdProg *now = td_take_run(&inner, step->prim);
  r->note.at = inner.note.at;
  r->note.n = inner.note.n;
  r->note.cap = inner.note.cap;
  r->used_value |= inner.used_value;
  if (!now) {
    blame(p, step);
    return false;
  }
  const char *const *made = part ? step->made : p->sub->made;
  size_t nmade = part ? step->nmade : p->sub->nmade;
  for (size_t i = 0; i < inner.made.n && i < nmade; i++) {
    const char *was = td_names_str(r->session->names, made[i]);
    td_map_putp(r->arena, &p->name, was, (void *)(uintptr_t)inner.made.at[i]);
    td_vec_push(r->arena, &r->made, inner.made.at[i]);
  }
  const TdProg *before = p->prog;
  TdPrimStep whole = {step->prim, p->arg, before, inner.made.at, inner.made.n};
  if (!inner.did.n) td_vec_push(r->arena, &inner.did, whole);
  p->prog = now;
  if (!part) learn_units(p, before);
  for (size_t i = 0; now != before && i < inner.did.n; i++)
    td_vec_push(r->arena, &r->did, inner.did.at[i]);
  return check_clash(p, step);
}

/* The name here of the kernel that the other schedule began with, as the instance `id` if that is
 * not NULL: several may have been captured under one name, of which the same one, or else the only
 * one that takes the same, is meant. */
static const char *name_of_kernel(const TdRewrite *r, const TdUnit *kernel, const char *id) {
  typedef bool Alike(TdCtx *, const TdUnit *, const TdUnit *);
  static Alike *const alike[] = {td_equal_renamed, td_equal_signature};
  const char *instance = id ? id : kernel->instance;
  const char *name = id ? id : kernel->stem ? kernel->stem : kernel->sym->name;
  const TdVersion *first = r->since;
  while (first->parent) first = first->parent;
  const TdProg *was = first->prog;
  for (size_t k = 0; k < sizeof alike / sizeof *alike; k++) {
    const TdUnit *found = NULL;
    size_t n = 0;
    for (size_t i = 0; i < was->nunit; i++) {
      const TdUnit *u = was->unit[i];
      if (u->instance != instance || (u->sym->name != name && u->stem != name)) continue;
      if (alike[k](r->session->ctx, u, kernel)) found = u, n++;
    }
    if (n == 1) return found->sym->name;
  }
  return name;
}

static const TdProg *apply(TdRewrite *r) {
  const TdVersion **version;
  size_t n = list_versions(r->arena, r->arg[SCHEDULE].schedule, &version);
  const TdUnit *root = td_prog_root(version[0]->prog), *u;
  Replay p = {.r = r, .prog = r->prog};
  const char *id = r->arg[ID].given ? td_names_str(r->session->names, r->arg[ID].text) : NULL;
  p.path = name_of_kernel(r, root, id);
  if (!td_cursor_unit(r->arena, r->prog, p.path, &u, r->diag)) return NULL;
  for (size_t i = 1; i < n; i++) {
    p.sub = version[i];
    for (size_t k = 0; k < p.sub->ndid; k++)
      if (!replay_step(&p, &p.sub->did[k])) return NULL;
  }
  return p.prog;
}

const TdPrim td_prim_compose = {
    .name = "compose",
    .on = "kernel",
    .summary = "Replay the steps of another schedule on the kernel where it is called.",
    .args = {{"schedule", TD_ARG_SCHEDULE, TD_ARG_NEEDED, "a schedule of that kernel", NULL},
             {"id", TD_ARG_NAME, TD_ARG_OPTION,
              "the instance, where the kernel is called under several names", NULL}},
    .rewrite = "s:compose(tide.schedule(f):split(\"i\", 4))  =>  s:split(\"f:i\", 4)",
    .legal = "each step is legal where it is replayed, and sets nothing otherwise that a step of "
             "this schedule has set",
    .errors = "conflict no-unit no-loop",
    .example = "s:compose(tide.schedule(gemm):pipeline(\"k\"))",
    .apply = apply,
};
