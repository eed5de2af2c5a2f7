/* machine/blocks.c - blocks in a treap: ordered by address, and a heap by a random number, which keeps it shallow;
 * contract in blocks.h.
 *
 * A kernel that knew the numbers could allocate and free in an order that makes the tree a list, and a walk down it end
 * in the guard page of the host's stack: so they hang on one that no kernel sees. No address does.
 */
#include "machine/blocks.h"

#include "base/heap.h"

#include <string.h>
#include <sys/random.h>

struct block_node {
    struct mem_block block;
    uint32_t left, right; /* 0: none */
    uint32_t rank;        /* no child's is greater */
    uint64_t end;         /* of the footprint */
    uint64_t gap, most;   /* free bytes just before the block, and the most of any gap from here down */
};

#define FIRST_CAP 16u /* nodes */
#define TRIES 64u     /* gaps */
enum { END = 1 };     /* the node at the range's end: there is a next one for every gap */

static uint64_t max(uint64_t a, uint64_t b) { return a > b ? a : b; }

static void update(struct block_node *n, uint32_t t) {
    n[t].most = max(n[t].gap, max(n[n[t].left].most, n[n[t].right].most));
}

/* The blocks below `addr` and the others. */
static void split(struct block_node *n, uint32_t t, uint64_t addr, uint32_t *below, uint32_t *rest) {
    if (!t) {
        *below = *rest = 0;
        return;
    }
    if (n[t].block.addr < addr) {
        *below = t;
        split(n, n[t].right, addr, &n[t].right, rest);
    } else {
        *rest = t;
        split(n, n[t].left, addr, below, &n[t].left);
    }
    update(n, t);
}

static uint32_t merge(struct block_node *n, uint32_t a, uint32_t b) {
    if (!a || !b)
        return a | b;
    const bool first = n[a].rank >= n[b].rank;
    const uint32_t t = first ? a : b;
    if (first)
        n[t].right = merge(n, n[t].right, b);
    else
        n[t].left = merge(n, a, n[t].left);
    update(n, t);
    return t;
}

/* The gap before the first block of t becomes `more` bytes longer, or shorter where that wraps. */
static void widen_first(struct block_node *n, uint32_t t, uint64_t more) {
    if (n[t].left)
        widen_first(n, n[t].left, more);
    else
        n[t].gap += more;
    update(n, t);
}

/* What is sought: a multiple of `align` in a gap of `room` bytes or more, with `need` bytes behind it. */
struct wish {
    uint64_t room, need, align;
    unsigned tries;  /* gaps that have room and no such place, before the search ends */
    uint64_t before; /* found: the gap's bytes in front of it */
};

/* The lowest such place below t; 0 when there is none. */
static uint64_t first_fit(const struct block_node *n, uint32_t t, struct wish *w) {
    if (n[t].most < w->room || !w->tries)
        return 0;
    uint64_t at = first_fit(n, n[t].left, w);
    if (at)
        return at;
    const uint64_t addr = n[t].block.addr, from = addr - n[t].gap;
    at = (from + w->align - 1) & ~(w->align - 1);
    if (n[t].gap >= w->room && at >= from && at <= addr && addr - at >= w->need) {
        w->before = at - from;
        return at;
    }
    w->tries -= n[t].gap >= w->room && w->tries;
    return first_fit(n, n[t].right, w);
}

/* The lowest place, unless many gaps have room and none at a multiple of `align`: then the lowest gap that has room
 * wherever it begins, and only if there is none every gap is looked at. A module of 200,000 such variables is placed so
 * in seconds. */
static uint64_t find_place(const struct blocks *b, uint64_t footprint, uint64_t align, uint64_t *before) {
    struct wish w = {.room = footprint, .need = footprint, .align = align, .tries = TRIES};
    uint64_t at = first_fit(b->nodes, b->root, &w);
    if (!at && !w.tries) {
        w.room = footprint + align - 1;
        w.tries = UINT32_MAX;
        at = first_fit(b->nodes, b->root, &w);
        w.room = footprint;
        at = at ? at : first_fit(b->nodes, b->root, &w);
    }
    *before = w.before;
    return at;
}

static uint32_t random_rank(uint32_t i) { /* the finaliser of MurmurHash3: no two have the same */
    i = (i ^ i >> 16) * 0x85ebca6bu;
    i = (i ^ i >> 13) * 0xc2b2ae35u;
    return i ^ i >> 16;
}

static bool room_for_node(struct blocks *b) {
    if (b->spare || b->num < b->cap)
        return true;
    const uint32_t cap = b->cap ? 2 * b->cap : FIRST_CAP;
    struct block_node *nodes = try_calloc(cap, sizeof *nodes);
    b->starved |= !nodes;
    if (!nodes)
        return false;
    if (b->num)
        memcpy(nodes, b->nodes, b->num * sizeof *nodes);
    xfree(b->nodes);
    b->nodes = nodes;
    b->cap = cap;
    return true;
}

/* There is room for it. */
static uint32_t new_node(struct blocks *b) {
    const uint32_t i = b->spare ? b->spare : b->num++;
    if (b->spare)
        b->spare = b->nodes[i].left;
    b->nodes[i] = (struct block_node){.rank = random_rank(i ^ b->secret)};
    return i;
}

bool blocks_open(struct blocks *b, uint64_t base, uint64_t end) {
    memset(b, 0, sizeof *b);
    b->base = base;
    b->end = end;
    if (getrandom(&b->secret, sizeof b->secret, GRND_NONBLOCK) != sizeof b->secret)
        b->secret = (uint32_t)((uintptr_t)b >> 4);
    if (!room_for_node(b)) {
        memset(b, 0, sizeof *b);
        return false;
    }
    new_node(b);
    b->root = new_node(b);
    b->nodes[END].block.addr = b->nodes[END].end = end;
    b->nodes[END].gap = b->nodes[END].most = end - base;
    return true;
}

void blocks_close(struct blocks *b) {
    xfree(b->nodes);
    b->nodes = NULL;
}

uint64_t blocks_place(struct blocks *b, const struct mem_block *what, uint64_t footprint, uint64_t align) {
    uint64_t before = 0;
    const uint64_t at = find_place(b, footprint, align, &before);
    if (!at || !room_for_node(b))
        return 0;
    const uint32_t t = new_node(b);
    struct block_node *n = b->nodes;
    uint32_t below, rest;
    n[t].block = *what;
    n[t].block.addr = at;
    n[t].block.serial = ++b->num_placed;
    n[t].end = at + footprint;
    n[t].gap = n[t].most = before;
    split(n, b->root, at, &below, &rest);
    widen_first(n, rest, 0 - before - footprint);
    b->root = merge(n, merge(n, below, t), rest);
    return at;
}

bool blocks_free(struct blocks *b, uint64_t addr, struct mem_block *was, uint64_t *footprint) {
    const struct mem_block *found = blocks_find(b, addr);
    if (!found || found->addr != addr)
        return false;
    struct block_node *n = b->nodes;
    uint32_t below, here, rest;
    split(n, b->root, addr, &below, &rest);
    split(n, rest, addr + 1, &here, &rest);
    *was = n[here].block;
    *footprint = n[here].end - addr;
    widen_first(n, rest, n[here].gap + *footprint);
    b->root = merge(n, below, rest);
    n[here].left = b->spare;
    b->spare = here;
    struct mem_block *kept = &b->freed[b->num_freed++ % MEM_FREED_KEPT];
    *kept = *was;
    kept->name = NULL; /* the name lives as long as the block */
    return true;
}

const struct mem_block *blocks_find(const struct blocks *b, uint64_t addr) {
    const struct block_node *n = b->nodes;
    const struct mem_block *best = NULL;
    for (uint32_t t = b->root; t;) {
        if (addr < n[t].block.addr) {
            t = n[t].left;
            continue;
        }
        best = &n[t].block;
        if (addr - best->addr < best->size)
            return best;
        t = n[t].right;
    }
    return best != &n[END].block ? best : NULL;
}

void blocks_flag(struct blocks *b, uint64_t addr, uint32_t flags) {
    struct block_node *n = b->nodes;
    uint32_t t = b->root;
    while (t && n[t].block.addr != addr)
        t = addr < n[t].block.addr ? n[t].left : n[t].right;
    if (t)
        n[t].block.flags = flags;
}

bool blocks_freed(const struct blocks *b, uint64_t addr, struct mem_block *out) {
    const uint64_t kept = b->num_freed < MEM_FREED_KEPT ? b->num_freed : MEM_FREED_KEPT;
    for (uint64_t i = 1; i <= kept; i++) {
        const struct mem_block *f = &b->freed[(b->num_freed - i) % MEM_FREED_KEPT];
        if (addr < f->addr || addr - f->addr >= f->size)
            continue;
        *out = *f;
        return true;
    }
    return false;
}
