/* clock/l1.c - threads' accesses to global memory, and which of them the L1 of their SM answers.
 *
 * L1 has lines of 128 bytes in 4 sectors of 32. A sector is fetched when it is asked for (CUDA C++ Best Practices
 * Guide, "Coalesced Access to Global Memory"). Stores go to L2, and L1 keeps what they wrote. A load hits if every byte
 * is in L1; otherwise it fetches the sector. This "lazy fetch on read" was measured on Volta (Khairy et al., Accel-Sim,
 * ISCA 2020, 4.1, whose configurations of Turing and Ampere have it, too), not on a B200. Strong accesses go to L2 (PTX
 * ISA 8.4). Data come back in the order of the requests.
 */
#include "clock/model.h"

#include "base/heap.h"

#include <math.h>
#include <string.h>

enum { WAYS = 4 };

/* What the L1 of an SM holds, until the launch ends. */
struct clock_l1 {
    uint32_t sets, tick; /* tick: counts lookups */
    struct set {
        uint64_t line[WAYS];              /* + 1; 0: none */
        uint32_t words[WAYS], used[WAYS]; /* bit for each word that it holds; tick of the latest use */
        double ready[WAYS];               /* when what was asked for last is there */
    } set[];
};

void clock_l1_free(struct clock_l1 *l1) { xfree(l1); }

void clock_l1_clear(struct clock_l1 *l1) {
    if (l1)
        memset(l1->set, 0, l1->sets * sizeof *l1->set);
}

static struct clock_l1 *l1_of(struct clock_model *m, uint32_t sm) {
    struct clock_l1 **l1 = &m->sm[sm].l1;
    if (!*l1) {
        const uint32_t sets = (uint32_t)fmax(1, m->costs->l1_bytes / 128 / WAYS);
        *l1 = xcalloc(1, sizeof **l1 + sets * sizeof *(*l1)->set);
        (*l1)->sets = sets;
    }
    return *l1;
}

static struct set *set_of(struct clock_l1 *l1, uint64_t line) {
    const uint64_t key = line * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    return &l1->set[key * l1->sets >> 32];
}

void clock_thread_expect(struct clock_model *m, uint32_t sm, const struct clock_touch *touches, uint32_t num,
                         bool further) {
    struct clock_l1 *l1 = l1_of(m, sm);
    for (uint32_t i = 0; i < num; i++) {
        clock_l2_expect(m, touches[i].line, further);
        if (further)
            continue;
        const char *set = (const char *)set_of(l1, touches[i].line);
        __builtin_prefetch(set, 1);
        __builtin_prefetch(set + sizeof(struct set) - 1, 1);
    }
}

/* The way of the line that is looked up; WAYS: none. */
static unsigned find(struct clock_l1 *l1, struct set *set, uint64_t line) {
    unsigned i = 0;
    while (i < WAYS && set->line[i] != line + 1)
        i++;
    if (i < WAYS)
        set->used[i] = ++l1->tick;
    return i;
}

/* A way for a new line, in place of the one used longest ago. */
static unsigned take(struct clock_l1 *l1, struct set *set, uint64_t line) {
    unsigned oldest = 0;
    for (unsigned i = 1; i < WAYS; i++)
        oldest = set->used[i] < set->used[oldest] ? i : oldest;
    set->line[oldest] = line + 1;
    set->used[oldest] = ++l1->tick;
    set->words[oldest] = 0;
    set->ready[oldest] = 0;
    return oldest;
}

/* The first bit of each sector, of 8 words, that has any of these words. */
static uint32_t sectors(uint32_t words) {
    words |= words >> 4;
    words |= words >> 2;
    return (words | words >> 1) & 0x01010101;
}
static uint32_t sectors_of(uint32_t words) { return sectors(words) * 0x01010101 >> 24; }

/* All words of the sectors of these words. */
static uint32_t whole_sectors(uint32_t words) { return sectors(words) * 0xff; }

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
    if ((address | size) % 4 == 0 && address % 128 + size <= 128) { /* mostly */
        struct clock_touch *t = touch_line(a, address / 128);
        const uint32_t words = words_between(address % 128 / 4, (address % 128 + size) / 4);
        t->words |= words;
        t->whole |= words;
        return;
    }
    for (uint64_t at = address, end = address + size, next; at < end; at = next) {
        struct clock_touch *t = touch_line(a, at / 128);
        next = (at / 128 + 1) * 128 < end ? (at / 128 + 1) * 128 : end;
        const uint64_t from = at % 128, to = from + (next - at);
        t->words |= words_between(from / 4, (to + 3) / 4);
        t->whole |= words_between((from + 3) / 4, to / 4);
    }
}

/* Is the line in the half of L2 that is farther from the SM? The chip's hash that chooses the half is not known; this
 * is another one. */
static bool is_far(const struct clock_model *m, uint32_t sm, uint64_t line) {
    const uint64_t half = line * UINT64_C(0x9e3779b97f4a7c15) >> 63;
    return half != (2 * sm >= (uint32_t)m->costs->sms);
}

double clock_thread_read(struct clock_model *m, uint32_t sm, double at, const struct clock_access *a) {
    const struct clock_table *t = m->costs;
    struct clock_l1 *l1 = l1_of(m, sm);
    const double out = clock_take(&m->sm[sm].threads, at, a->num * t->thread_line);
    double done = out + t->l1_latency;
    for (uint32_t i = 0; i < a->num; i++) {
        const struct clock_touch *x = &a->touches[i];
        struct set *set = set_of(l1, x->line);
        unsigned w = find(l1, set, x->line);
        if (w == WAYS && !a->strong)
            w = take(l1, set, x->line);
        const uint32_t held = w < WAYS ? set->words[w] : 0, fetch = whole_sectors(x->words & ~(a->strong ? 0 : held));
        if (!fetch) {
            done = later(done, set->ready[w]);
            continue;
        }
        const uint32_t bytes = 32 * sectors_of(fetch);
        const double there = held ? out : clock_l2_line(m, at, out, x->line); /* a line of L1 is in L2, too */
        const double sent = clock_take(&m->l2, at, bytes / t->l2_rate);
        double back = later(there, sent) + t->thread_latency + (is_far(m, sm, x->line) ? t->l2_far : 0);
        if (held) /* not before what was asked for earlier */
            back = later(back, set->ready[w]);
        m->l2_bytes += bytes;
        done = later(done, back);
        if (w < WAYS) {
            set->words[w] |= fetch;
            set->ready[w] = later(set->ready[w], back);
        }
    }
    return done;
}

double clock_thread_write(struct clock_model *m, uint32_t sm, double at, const struct clock_access *a) {
    struct clock_l1 *l1 = l1_of(m, sm);
    uint32_t bytes = 0, sectors = 0;
    for (uint32_t i = 0; i < a->num; i++) {
        const struct clock_touch *x = &a->touches[i];
        struct set *set = set_of(l1, x->line);
        unsigned w = find(l1, set, x->line);
        if (w == WAYS) {
            w = take(l1, set, x->line);
            clock_l2_put(m, x->line, at);
        }
        set->words[w] |= x->whole;
        bytes += 4 * (uint32_t)__builtin_popcount(x->words);
        sectors += sectors_of(x->words);
    }
    clock_write_out(m, at, bytes, sectors);
    return clock_take(&m->sm[sm].threads, at, a->num * m->costs->thread_line);
}
