/* clock/l1.c - threads' accesses to global memory, and what the L1 of their SM answers of them.
 *
 * L1 has lines of 128 bytes in 4 sectors of 32. A sector is fetched when it is asked for (CUDA C++ Best Practices
 * Guide, "Coalesced Access to Global Memory"). Stores go through to L2, and leave what they wrote in L1. A load that
 * finds every byte there hits; any other fetches the sector ("lazy fetch on read": Khairy et al., Accel-Sim, ISCA 2020,
 * 4.1, measured on Volta; its configurations of Turing and Ampere have the same; it was not measured on a B200). Strong
 * accesses go to L2 (PTX ISA 8.4). Data come back in the order of the requests.
 */
#include "clock/model.h"

#include "base/heap.h"

#include <math.h>
#include <string.h>

enum { WAYS = 4, SECTOR = 0xff }; /* words of a line's first sector */

/* What the L1 of an SM holds, until the launch ends. */
struct clock_l1 {
    uint32_t sets, tick; /* tick: counts lookups */
    struct way {
        uint64_t line;        /* + 1; 0: none */
        double ready;         /* when what was asked for last is there */
        uint32_t words, used; /* bit for each word that it holds; tick of the latest use */
    } ways[];
};

void clock_l1_free(struct clock_l1 *l1) { xfree(l1); }

void clock_l1_clear(struct clock_l1 *l1) {
    if (l1)
        memset(l1->ways, 0, (size_t)l1->sets * WAYS * sizeof *l1->ways);
}

static struct clock_l1 *l1_of(struct clock_model *m, uint32_t sm) {
    struct clock_l1 **l1 = &m->sm[sm].l1;
    if (!*l1) {
        const uint32_t sets = (uint32_t)fmax(1, m->costs->l1_bytes / 128 / WAYS);
        *l1 = xcalloc(1, sizeof **l1 + (size_t)sets * WAYS * sizeof *(*l1)->ways);
        (*l1)->sets = sets;
    }
    return *l1;
}

static struct way *set_of(struct clock_l1 *l1, uint64_t line) {
    const uint64_t key = line * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    return &l1->ways[(key * l1->sets >> 32) * WAYS];
}

/* Prefetches what is known of all lines of an access, which is hardly ever in the host's caches. */
static void expect(struct clock_model *m, struct clock_l1 *l1, const struct clock_access *a) {
    for (uint32_t i = 0; i < a->num; i++) {
        const char *set = (const char *)set_of(l1, a->touches[i].line);
        __builtin_prefetch(set, 1);
        __builtin_prefetch(set + 64, 1);
        clock_l2_expect(m, a->touches[i].line, false);
    }
    for (uint32_t i = 0; i < a->num; i++)
        clock_l2_expect(m, a->touches[i].line, true);
}

/* The line's way. If there is none: NULL, or with `take` a new one in place of the one used longest ago. */
static struct way *find(struct clock_l1 *l1, uint64_t line, bool take) {
    struct way *set = set_of(l1, line), *oldest = set;
    for (struct way *w = set; w < set + WAYS; w++) {
        if (w->line == line + 1) {
            w->used = ++l1->tick;
            return w;
        }
        oldest = w->used < oldest->used ? w : oldest;
    }
    if (!take)
        return NULL;
    *oldest = (struct way){.line = line + 1, .used = ++l1->tick};
    return oldest;
}

static uint32_t sectors_of(uint32_t words) {
    uint32_t n = 0;
    for (; words; words >>= 8)
        n += (words & SECTOR) != 0;
    return n;
}

/* All words of the sectors of these words. */
static uint32_t whole_sectors(uint32_t words) {
    uint32_t all = 0;
    for (uint32_t i = 0; i < 32; i += 8)
        all |= words >> i & SECTOR ? (uint32_t)SECTOR << i : 0;
    return all;
}

static struct clock_touch *touch_line(struct clock_access *a, uint64_t line) {
    const bool above = line > a->highest;
    a->highest = above ? line : a->highest;
    for (uint32_t i = above ? 0 : a->num; i; i--)
        if (a->touches[i - 1].line == line)
            return &a->touches[i - 1];
    if (a->num == CLOCK_TOUCHES)
        return &a->touches[a->num - 1];
    a->touches[a->num] = (struct clock_touch){.line = line};
    return &a->touches[a->num++];
}

static uint32_t words_between(uint64_t from, uint64_t to) {
    return to > from ? (uint32_t)((UINT64_C(1) << to) - (UINT64_C(1) << from)) : 0;
}

void clock_touch_lane(struct clock_access *a, uint64_t address, uint32_t size) {
    for (uint64_t at = address, end = address + size, next; at < end; at = next) {
        struct clock_touch *t = touch_line(a, at / 128);
        next = (at / 128 + 1) * 128 < end ? (at / 128 + 1) * 128 : end;
        const uint64_t from = at % 128, to = from + (next - at);
        t->words |= words_between(from / 4, (to + 3) / 4);
        t->whole |= words_between((from + 3) / 4, to / 4);
    }
}

/* Is the line in that half of L2 that is farther from the SM? Which half a line is in, a hash says that is not known;
 * this is another one. */
static bool is_far(const struct clock_model *m, uint32_t sm, uint64_t line) {
    const uint64_t half = line * UINT64_C(0x9e3779b97f4a7c15) >> 63;
    return half != (2 * sm >= (uint32_t)m->costs->sms);
}

double clock_thread_read(struct clock_model *m, uint32_t sm, double at, const struct clock_access *a) {
    const struct clock_table *t = m->costs;
    struct clock_l1 *l1 = l1_of(m, sm);
    const double out = clock_take(&m->sm[sm].threads, at, a->num * t->thread_line);
    double done = out + t->l1_latency;
    expect(m, l1, a);
    for (uint32_t i = 0; i < a->num; i++) {
        const struct clock_touch *x = &a->touches[i];
        struct way *w = find(l1, x->line, !a->strong);
        const uint32_t fetch = a->strong ? whole_sectors(x->words) : whole_sectors(x->words & ~w->words);
        if (fetch) {
            const uint32_t bytes = 32 * sectors_of(fetch);
            const struct clock_box box = {.address = x->line * 128, .bytes = 128};
            const double there = w && w->words ? out : clock_l2_look(m, at, out, &box); /* a line of L1 is in L2, too */
            const double sent = clock_take(&m->l2, at, bytes / t->l2_rate);
            double back = fmax(there, sent) + t->thread_latency + (is_far(m, sm, x->line) ? t->l2_far : 0);
            if (w && w->words) /* not before what was asked for earlier */
                back = fmax(back, w->ready);
            m->l2_bytes += bytes;
            done = fmax(done, back);
            if (w) {
                w->words |= fetch;
                w->ready = fmax(w->ready, back);
            }
        } else {
            done = fmax(done, w->ready);
        }
    }
    return done;
}

double clock_thread_write(struct clock_model *m, uint32_t sm, double at, const struct clock_access *a) {
    struct clock_l1 *l1 = l1_of(m, sm);
    uint32_t bytes = 0, sectors = 0;
    expect(m, l1, a);
    for (uint32_t i = 0; i < a->num; i++) {
        const struct clock_touch *x = &a->touches[i];
        struct way *w = find(l1, x->line, false);
        if (!w) {
            w = find(l1, x->line, true);
            clock_l2_put(m, x->line, at);
        }
        w->words |= x->whole;
        bytes += 4 * (uint32_t)__builtin_popcount(x->words);
        sectors += sectors_of(x->words);
    }
    clock_write_out(m, at, bytes, sectors);
    return clock_take(&m->sm[sm].threads, at, a->num * m->costs->thread_line);
}
