/* clock/model.c - the agents: warps, tensor core, TMA. */
#include "clock/model.h"

#include "base/heap.h"

#include <math.h>
#include <string.h>

struct clock_model *clock_model_create(const struct clock_table *costs) {
    struct clock_model *m = xcalloc(1, sizeof *m);
    m->costs = costs;
    return m;
}

void clock_model_free(struct clock_model *m) {
    if (m)
        clock_l2_free(&m->held);
    for (uint32_t i = 0; m && i < CLOCK_MAX_SMS; i++)
        clock_l1_free(m->sm[i].l1);
    xfree(m);
}

void clock_model_rewind(struct clock_model *m) {
    for (uint32_t i = 0; i < CLOCK_MAX_SMS; i++) {
        struct clock_l1 *l1 = m->sm[i].l1;
        clock_l1_clear(l1); /* a kernel begins with an empty L1 */
        m->sm[i] = (struct clock_sm){.l1 = l1};
    }
    memset(m->asked, 0, sizeof m->asked);
    memset(&m->l2, 0, sizeof m->l2);
    memset(&m->hbm, 0, sizeof m->hbm);
    m->l2_bytes = m->hbm_bytes = 0;
    for (uint32_t i = 0; i < m->held.num; i++)
        m->held.lines[i].ready = 0;
}

struct clock_load clock_load_of(const struct clock_model *m, double cycles) {
    double busy[CLOCK_GPCS] = {0}, all = 0, own = 0;
    uint32_t sms[CLOCK_GPCS] = {0};
    for (uint32_t i = 0; i < CLOCK_MAX_SMS; i++) {
        const uint32_t gpc = clock_gpc(i);
        sms[gpc] += i < m->costs->sms;
        busy[gpc] += m->sm[i].tensor.busy;
        all += m->sm[i].tensor.busy;
    }
    for (uint32_t g = 0; g < CLOCK_GPCS && all > 0; g++)
        own += busy[g] / all * (sms[g] ? busy[g] / sms[g] : 0);
    return cycles > 0 ? (struct clock_load){all / (cycles * m->costs->sms), own / cycles} : (struct clock_load){0};
}

/* --- warps -------------------------------------------------------------------------------------------------------- */

double clock_issue(struct clock_model *m, uint32_t sm, uint32_t warp, double at, double slots, double cycles) {
    const double end = clock_take(&m->sm[sm].issue[warp % 4], at, slots);
    return later(at + cycles, end);
}

/* --- tensor core -------------------------------------------------------------------------------------------------- */

/* Cycles for D's columns. The tensor core makes two columns in a cycle; four if M is 128 for a CTA pair, because each
 * CTA then has only 64 rows. */
static double by_columns(const struct clock_umma *u) {
    return u->cta_group == 2 && u->m == 128 ? u->n / 4.0 : u->n / 2.0;
}

/* An UMMA reads 32 bytes of each of A's rows and B's columns from shared memory. In a pair each CTA reads half of A's
 * rows and half of B's columns. */
double clock_umma_interval(const struct clock_table *t, const struct clock_umma *u, double sharing) {
    const double row = 32, group = u->cta_group == 2 ? 2 : 1;
    const double bytes = ((u->a_in_tmem ? 0 : u->m / group) + u->n / group) * row;
    const double more = group == 2 && u->m == 256 && !u->a_in_tmem ? t->umma_pair_smem : 0;
    const double smem = (bytes / t->umma_smem + more) * (1 + sharing * t->umma_sharing);
    const double math = by_columns(u) * (u->tf32 ? t->tf32 : 1);
    return smem > math ? smem : math;
}

double clock_umma_latency(const struct clock_table *t, const struct clock_umma *u) {
    double base;
    if (u->cta_group == 2 && u->m == 128)
        base = u->a_in_tmem ? t->umma_pair128_ts : t->umma_pair128;
    else if (u->cta_group == 2)
        base = u->a_in_tmem ? t->umma_pair_ts : t->umma_pair;
    else
        base = u->a_in_tmem ? t->umma_ts : u->m == 64 ? t->umma_a64 : t->umma_a;
    /* it was measured from the issue to the end of a wait: subtract the time of the issuing and of the waiting warp */
    return base + by_columns(u) - 2 * t->async - t->wake;
}

/* The share (0 to 1) of [from, to) in which bytes arrive in the SM's shared memory. */
static double arriving(const struct clock_sm *sm, double from, double to) {
    double sum = 0;
    for (uint32_t i = 0; i < CLOCK_ARRIVALS; i++) {
        const double a = fmax(from, sm->arrives[i][0]), b = fmin(to, sm->arrives[i][1]);
        sum += b > a ? b - a : 0;
    }
    return to > from ? sum / (to - from) : 0;
}

double clock_run_umma(struct clock_model *m, uint32_t sm, double at, const struct clock_umma *u, double *done) {
    struct clock_sm *own = &m->sm[sm], *peer = u->cta_group == 2 ? &m->sm[u->peer] : own;
    const double start = fmax(fmax(at, own->tensor.free), peer->tensor.free);
    const double alone = clock_umma_interval(m->costs, u, 0);
    const double sharing = fmax(arriving(own, start, start + alone), arriving(peer, start, start + alone));
    const double interval = clock_umma_interval(m->costs, u, sharing);
    clock_take(&own->tensor, start, interval);
    if (peer != own)
        clock_take(&peer->tensor, start, interval);
    *done = start + clock_umma_latency(m->costs, u) + interval - alone;
    return start;
}

double clock_run_cp(struct clock_model *m, uint32_t sm, double at, uint64_t bytes) {
    return clock_take(&m->sm[sm].tensor, at, (double)bytes / m->costs->tcgen05_cp);
}

double clock_run_ldst(struct clock_model *m, uint32_t sm, uint32_t warp, double at, uint32_t columns) {
    return clock_take(&m->sm[sm].tmem[warp % 4], at, columns * m->costs->tmem_column) + m->costs->tmem_latency;
}

/* --- TMA ---------------------------------------------------------------------------------------------------------- */

/* The TMA of an SM takes up a box: returns when it has asked for the last line. */
static double tma_asks(struct clock_model *m, uint32_t sm, double at, const struct clock_box *box) {
    const struct clock_table *t = m->costs;
    return clock_take(&m->sm[sm].tma, at + t->tma_issue, t->tma_box + clock_lines(box) * t->tma_line);
}

double clock_fetch(struct clock_model *m, uint32_t sm, double at, const struct clock_box *box) {
    const double asked = tma_asks(m, sm, at, box), there = clock_l2_look(m, at, asked, box);
    return clock_l2_send(m, sm, at, asked, there, box) + m->costs->l2_latency;
}

/* The lines come in the order of the requests, the last one at `at`, and pass the SM's port one after the other. */
double clock_arrive(struct clock_model *m, uint32_t sm, double at, const struct clock_box *box) {
    struct clock_sm *to = &m->sm[sm];
    const double lines = clock_lines(box), bytes = lines > 0 ? (double)box->bytes / lines : 0;
    const double line = fmax(m->costs->tma_slot, bytes / m->costs->tma_port), work = lines * line;
    const double first = at - fmax(lines - 1, 0) * m->costs->tma_line;
    const double end = to->port.free = fmax(clock_take(&to->port, first, work), at + line);
    double *span = to->arrives[to->arrivals++ % CLOCK_ARRIVALS];
    span[0] = end - work;
    span[1] = end;
    return end;
}

double clock_store_read(struct clock_model *m, uint32_t sm, double at, const struct clock_box *box) {
    const double asked = tma_asks(m, sm, at, box);
    return clock_take(&m->sm[sm].out, asked, (double)box->bytes / m->costs->tma_read);
}

double clock_store_write(struct clock_model *m, double at, const struct clock_box *box) {
    clock_write_out(m, at, box->bytes, (box->bytes + 31) / 32);
    return fmax(at, m->l2.free) + m->costs->tma_store;
}
