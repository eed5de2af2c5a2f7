/* clock/l2.c - what L2 holds, and HBM. A key is the address of a box, so L2 does not find bytes that came in boxes of
 * another shape. */
#include "clock/model.h"

#include "base/heap.h"
#include "machine/gpcs.h"

#include <math.h>

enum { MOST_ROWS = 256 };

static uint32_t slot_of(const struct clock_l2 *l2, uint64_t key) {
    return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & l2->mask;
}

static void enlarge(struct clock_l2 *l2) {
    const uint32_t cap = l2->cap ? 2 * l2->cap : 1024;
    l2->lines = xrealloc_array(l2->lines, cap, sizeof *l2->lines);
    xfree(l2->table);
    l2->table = xcalloc(4 * (size_t)cap, sizeof *l2->table); /* few lines share a slot */
    l2->cap = cap;
    l2->mask = 4 * cap - 1;
    for (uint32_t i = 0; i < l2->num; i++) {
        uint32_t *head = &l2->table[slot_of(l2, l2->lines[i].key)];
        l2->lines[i].next_hash = *head;
        *head = i + 1;
    }
}

static void take_out(struct clock_l2 *l2, struct clock_line *line) {
    if (line->newer)
        l2->lines[line->newer - 1].older = line->older;
    else
        l2->newest = line->older;
    if (line->older)
        l2->lines[line->older - 1].newer = line->newer;
    else
        l2->oldest = line->newer;
}

static void put_newest(struct clock_l2 *l2, uint32_t n) {
    struct clock_line *line = &l2->lines[n - 1];
    line->newer = 0;
    line->older = l2->newest;
    if (l2->newest)
        l2->lines[l2->newest - 1].newer = n;
    else
        l2->oldest = n;
    l2->newest = n;
}

static void unhash(struct clock_l2 *l2, uint32_t n) {
    uint32_t *at = &l2->table[slot_of(l2, l2->lines[n - 1].key)];
    while (*at != n)
        at = &l2->lines[*at - 1].next_hash;
    *at = l2->lines[n - 1].next_hash;
}

static uint32_t find(const struct clock_l2 *l2, uint64_t key) {
    uint32_t n = l2->cap ? l2->table[slot_of(l2, key)] : 0;
    while (n && l2->lines[n - 1].key != key)
        n = l2->lines[n - 1].next_hash;
    return n;
}

/* The key of a line of 128 bytes. */
static uint64_t key_of(const struct clock_model *m, uint64_t line) {
    const uint64_t granule = (uint64_t)m->costs->hbm_granule;
    return granule == 128 ? line : line * 128 / granule;
}

void clock_l2_expect(const struct clock_model *m, uint64_t line, bool further) {
    const struct clock_l2 *l2 = &m->held;
    if (!l2->cap)
        return;
    const uint32_t *head = &l2->table[slot_of(l2, key_of(m, line))];
    __builtin_prefetch(further && *head ? (const void *)&l2->lines[*head - 1] : head);
}

/* A new line for `key`. If L2 would hold more than `limit` bytes with it, the lines used longest ago leave. */
static struct clock_line *insert(struct clock_l2 *l2, uint64_t key, uint32_t bytes, uint64_t limit) {
    while (l2->oldest && l2->bytes + bytes > limit) {
        const uint32_t n = l2->oldest;
        take_out(l2, &l2->lines[n - 1]);
        unhash(l2, n);
        l2->bytes -= l2->lines[n - 1].bytes;
        l2->lines[n - 1].next_hash = l2->spare;
        l2->lines[n - 1].bytes = 0;
        l2->spare = n;
    }
    uint32_t n = l2->spare;
    if (n)
        l2->spare = l2->lines[n - 1].next_hash;
    else {
        if (l2->num == l2->cap)
            enlarge(l2);
        n = ++l2->num;
    }
    struct clock_line *line = &l2->lines[n - 1];
    uint32_t *head = &l2->table[slot_of(l2, key)];
    *line = (struct clock_line){.key = key, .bytes = bytes, .next_hash = *head};
    *head = n;
    l2->bytes += bytes;
    put_newest(l2, n);
    return line;
}

/* Reads from HBM for `work` cycles; returns the end. L2 writes back the bytes that were written to it while HBM is
 * idle, and at once if it can hold no more of them. */
static double from_hbm(struct clock_model *m, double at, double work) {
    const double idle = at - m->hbm.free, room = m->costs->l2_bytes / m->costs->hbm_rate;
    double written = idle > 0 ? fmin(idle, m->unwritten) : 0;
    if (written > 0)
        clock_take(&m->hbm, m->hbm.free, written);
    m->unwritten -= written;
    written = m->unwritten > room ? m->unwritten - room : 0;
    m->unwritten -= written;
    return clock_take(&m->hbm, at, work + written);
}

/* Looks for `bytes` at `key`, which are asked for in `lines` lines: returns when they are in L2. */
static double look(struct clock_model *m, double at, double asked, uint64_t key, uint64_t bytes, double lines) {
    const struct clock_table *t = m->costs;
    struct clock_l2 *l2 = &m->held;
    const uint32_t n = find(l2, key);
    if (n && l2->lines[n - 1].bytes >= bytes) {
        if (n != l2->newest) {
            take_out(l2, &l2->lines[n - 1]);
            put_newest(l2, n);
        }
        return later(asked, l2->lines[n - 1].ready);
    }
    if (n) { /* this box is larger than the one that is held at its address */
        take_out(l2, &l2->lines[n - 1]);
        unhash(l2, n);
        l2->bytes -= l2->lines[n - 1].bytes;
        l2->lines[n - 1].next_hash = l2->spare;
        l2->spare = n;
    }
    struct clock_line *line = insert(l2, key, (uint32_t)bytes, (uint64_t)t->l2_bytes);
    m->hbm_bytes += bytes;
    line->ready = later(asked, from_hbm(m, at, (double)bytes / t->hbm_rate)) + t->hbm_latency +
                  fmin(lines, t->hbm_lines) * t->hbm_line;
    return line->ready;
}

/* HBM is read in granules, so a row shorter than a granule also brings in bytes of the neighbouring box. A box of more
 * than 256 rows, the most that a dimension may have (5.5.1), has a third dimension: then these bytes are its own. */
double clock_l2_look(struct clock_model *m, double at, double asked, const struct clock_box *box) {
    const uint64_t granule = (uint64_t)m->costs->hbm_granule;
    const uint64_t row = clock_row(box);
    const bool narrow = row && row < granule && box->bytes / row <= MOST_ROWS;
    const uint64_t bytes = narrow ? box->bytes / row * granule : box->bytes;
    return look(m, at, asked, box->address / granule, bytes, clock_lines(box));
}

double clock_l2_line(struct clock_model *m, double at, double asked, uint64_t line) {
    const uint64_t granule = (uint64_t)m->costs->hbm_granule;
    return look(m, at, asked, key_of(m, line), granule > 128 ? granule : 128, 1);
}

/* The GPC on the chip that stands for that of an SM of the emulator. On the chip consecutive clusters are in different
 * GPCs, in turn (learn-cuda's traces of v5 and v6). So are CTAs of a launch without clusters, first one on each TPC
 * ([1] tma2dmcast_throughput: 2, 4 and 8 of them share nothing, of 16 two each). The emulator has GPCs of consecutive
 * SMs (machine/gpcs.h), clusters in turn on them, and single CTAs on one SM after the other. */
static uint32_t gpc_of(const struct clock_model *m, uint32_t sm) {
    static const uint32_t sms[] = MACH_GPC_SMS;
    _Static_assert(sizeof sms / sizeof *sms == CLOCK_GPCS, "one GPC for each of the clock's");
    if (m->single)
        return clock_gpc(2 * (sm % ((uint32_t)m->costs->sms / 2)));
    uint32_t gpc = 0;
    while (gpc + 1 < CLOCK_GPCS && sm >= sms[gpc])
        sm -= sms[gpc++];
    return gpc;
}

double clock_l2_send(struct clock_model *m, uint32_t sm, double at, double asked, double there,
                     const struct clock_box *box) {
    const uint64_t hash = box->address * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    struct clock_asked *same = &m->asked[gpc_of(m, sm) % CLOCK_GPCS][hash % CLOCK_ASKED];
    if (same->address == box->address && same->bytes >= box->bytes && asked < same->sent)
        return same->sent;
    const double sent = clock_take(&m->l2, at, (double)box->bytes / m->costs->l2_rate);
    m->l2_bytes += box->bytes;
    *same = (struct clock_asked){box->address, box->bytes, fmax(sent, there)};
    return same->sent;
}

void clock_l2_put(struct clock_model *m, uint64_t line, double at) {
    struct clock_l2 *l2 = &m->held;
    const uint64_t key = key_of(m, line);
    if (!find(l2, key))
        insert(l2, key, 128, (uint64_t)m->costs->l2_bytes)->ready = at;
}

void clock_write_out(struct clock_model *m, double at, uint64_t bytes, uint64_t sectors) {
    clock_take(&m->l2, at, (double)sectors * 32 / m->costs->l2_rate);
    m->unwritten += (double)bytes / m->costs->hbm_rate;
    m->l2_bytes += sectors * 32;
    m->hbm_bytes += bytes;
}

void clock_l2_free(struct clock_l2 *l2) {
    xfree(l2->lines);
    xfree(l2->table);
    *l2 = (struct clock_l2){0};
}
