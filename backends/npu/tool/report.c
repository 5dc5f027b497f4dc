/* report.c - what a build came to, as JSON: tiles, objectFIFOs, kernels, figures of the model. */
#include <math.h>

#include "backends/npu/tool/files.h"

/* A list whose elements are objects. */
typedef struct List {
  TdText *out;
  bool any;
} List;

static List begin(TdText *out, const char *name) {
  td_text_putf(out, ",\n  \"%s\": [", name);
  return (List){out, false};
}

static void next(List *l) {
  td_text_puts(l->out, l->any ? ",\n    " : "\n    ");
  l->any = true;
}

static void end(List *l) {
  td_text_puts(l->out, l->any ? "\n  ]" : "]");
}

static void put_tiles(const TdNpuPart *m, List *l) {
  TdText *t = l->out;
  for (size_t i = 0; i < m->plan->tile.n; i++) {
    const TdNpuTile *x = &m->plan->tile.at[i];
    const TdTileInfo *k = &td_tiles[x->kind];
    TdNpuUse u = td_npu_verify_use(m->machine, x->col, x->row);
    next(l);
    td_text_putf(t,
                 "{\"name\": \"%s\", \"column\": %lld, \"row\": %lld, \"bytes\": [%lld, %lld], "
                 "\"s2mm\": [%lld, %d], \"mm2s\": [%lld, %d], \"bds\": [%lld, %d], \"locks\": "
                 "[%lld, %d]}",
                 x->name, (long long)x->col, (long long)x->row, (long long)u.bytes,
                 (long long)k->bytes, (long long)u.s2mm, k->s2mm, (long long)u.mm2s, k->mm2s,
                 (long long)u.bds, k->bds, (long long)u.locks, k->locks);
  }
}

static void put_fifos(const TdNpuPart *m, List *l) {
  TdText *t = l->out;
  for (size_t i = 0; i < m->plan->fifo.n; i++) {
    const TdNpuFifo *x = &m->plan->fifo.at[i];
    size_t bytes = td_type_bytes(td_type_scalar(x->type)) * (size_t)x->count;
    next(l);
    td_text_putf(t,
                 "{\"name\": \"%s\", \"bytes\": %zu, \"depth\": %lld, \"from\": \"%s\", \"to\": [",
                 x->name, bytes, (long long)x->depth, m->plan->tile.at[x->from_tile].name);
    for (size_t k = 0; k < x->to_tile.n; k++)
      td_text_putf(t, "%s\"%s\"", k ? ", " : "", m->plan->tile.at[x->to_tile.at[k]].name);
    td_text_puts(t, "]}");
  }
}

static void put_kernels(const TdNpuMade *m, TdText *t) {
  List l = begin(t, "kernels");
  for (size_t i = 0; i < m->kernels->kernel.n; i++) {
    const TdNpuKernel *x = &m->kernels->kernel.at[i];
    double scalar = x->cost->scalar, macs = td_npu_cost_macs(x->cost);
    for (size_t k = 0; k < x->cost->nmac; k++) scalar += x->cost->mac[k].scalar;
    next(&l);
    td_text_putf(t,
                 "{\"name\": \"%s\", \"line\": %u, \"macs\": %.0f, \"cycles\": %.0f, "
                 "\"scalar operations\": %.0f}",
                 x->name, x->loc.line, macs, ceil(td_npu_cost_cycles(x->cost)), scalar);
  }
  end(&l);
}

/* Innermost loops: how many lanes vectors have, or why there are none. */
static void put_loops(const TdNpuMade *m, TdText *t) {
  List l = begin(t, "loops");
  for (size_t i = 0; i < m->kernels->loop.n; i++) {
    const TdNpuLanes *x = &m->kernels->loop.at[i];
    next(&l);
    td_text_putf(t, "{\"loop\": \"%s\", \"line\": %u, \"lanes\": %d, \"turns\": %lld",
                 x->loop->sym->name, x->loop->loc.line, x->lanes, (long long)x->trips);
    td_text_putf(t, x->why ? ", \"why\": \"%s\"}" : "}", x->why);
  }
  end(&l);
}

static void put_model(TdText *t) {
  List l = begin(t, "model");
  for (int i = 0; i < TD_MODELS; i++) {
    next(&l);
    td_text_putf(t, "{\"name\": \"%s\", \"value\": ", td_model[i].name);
    td_text_put_double(t, td_model[i].value);
    td_text_putf(t, ", \"unit\": \"%s\", \"what\": \"%s\"}", td_model[i].unit, td_model[i].what);
  }
  end(&l);
}

const char *td_npu_report(const TdNpuMade *m) {
  TdText t = td_text_new(m->build->arena);
  size_t transfers = 0, designs = m->host->design.n;
  for (size_t i = 0; i < designs; i++) transfers += m->part[i].sequence->transfer.n;
  td_text_putf(&t,
               "{\n  \"device\": \"%s\",\n  \"note\": \"No tool of the vendor has seen these "
               "files; times are of a calibrated model.\",\n  \"transfers\": %zu",
               m->device->name, transfers);
  List tiles = begin(&t, "tiles");
  for (size_t i = 0; i < designs; i++) put_tiles(&m->part[i], &tiles);
  end(&tiles);
  List fifos = begin(&t, "objectfifos");
  for (size_t i = 0; i < designs; i++) put_fifos(&m->part[i], &fifos);
  end(&fifos);
  put_kernels(m, &t);
  put_loops(m, &t);
  put_model(&t);
  td_text_puts(&t, "\n}\n");
  return td_text_str(&t);
}
