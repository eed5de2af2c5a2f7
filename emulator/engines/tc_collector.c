/* engines/tc_collector.c - the collector buffer of tcgen05.mma, which may hold matrix A (PTX ISA 9.7.16.10,
 * 9.7.16.10.9.1).
 *
 * ::fill puts A into the buffer. ::use and ::lastuse permit the tensor core to take A from there, but it may read
 * memory as well: "reuse is opportunistic". The emulator always reads memory. So a kernel is right if both give the
 * same, and only then. ::lastuse, ::discard and an instruction without the word may empty the buffer.
 */
#include "engines/tc_chain.h"

DIAG(collector_empty) = {
    DIAG_HEAD(STRICT, "tcgen05-collector-empty", "9.7.16.10.9.1"),
    .rule = "tcgen05.mma with .collector::a::use or ::lastuse needs an earlier ::fill. No ::lastuse, ::discard or "
            "tcgen05.mma without such a qualifier may come in between",
    .hint = "Use .collector::a::fill for the first tcgen05.mma of those that share A. If A is new each time, leave out "
            "the qualifier",
    .reason = "the tensor core may read memory all the same. A kernel for NVFP4 from a public competition on B200s "
              "gives each tcgen05.mma ::lastuse and never fills.",
};
DIAG(collector_other) = {
    DIAG_HEAD(WARNING, "tcgen05-collector-other", "9.7.16.10, 9.7.16.10.9.1"),
    .rule = "with .collector::a::use and ::lastuse the tensor core may reuse the A that ::fill read, so it must be the "
            "same matrix",
    .hint = "Use ::fill whenever A changes, as with each step along K. Use ::use only for further columns of B with "
            "the same A",
    .reason = "the tensor core may read the buffer or memory, and one of them holds the wrong A.",
};
DIAG(collector_changed) = {
    DIAG_HEAD(STRICT, "tcgen05-collector-changed", "9.7.16.10, 9.7.16.10.9.1"),
    .rule =
        "the bytes of A must not change between ::fill and the last ::use: the tensor core may still have the old ones",
    .hint = "Free the stage after a tcgen05.commit that follows ::lastuse, or use ::fill again after A has been "
            "overwritten",
    .reason =
        "an example of CuTe DSL (tcgen05/1cta_mma_basic.py, --collector 2) stores to A between the two, and checks "
        "that the new bytes count.",
};

/* The same matrix? The idesc has a part for B as well. */
static bool same_a(const struct tc_collector *c, const struct tc_mma *mma, const struct tc_idesc *id) {
    return c->a == mma->a && c->a_in_tmem == mma->a_in_tmem && c->kind == mma->kind && c->group == mma->group &&
           c->m == id->m && c->elem == id->a && c->mn_major == id->mn_major_a;
}

static bool use(struct cta *cta, const struct mach_origin *origin, const struct tc_mma *mma, const struct tc_idesc *id,
                uint64_t sum) {
    const struct tc_collector *c = &tc_state_of(cta)->collector;
    const char *word = mma->collector == TC_COLLECTOR_USE ? "use" : "lastuse";
    const char *kind = mma->a_in_tmem ? "address" : "descriptor";
    if (!c->filled)
        return mach_warn(cta->island, origin, &collector_empty,
                         ".collector::a::%s, and nothing has filled the buffer%s", word,
                         c->was_filled ? " since it was given up" : "");
    if (!same_a(c, mma, id))
        return mach_warn_pair(cta->island, origin, &c->origin, "the last ::fill, of another A", &collector_other,
                              ".collector::a::%s of the A with %s 0x%llx; the buffer was filled from 0x%llx", word,
                              kind, (unsigned long long)mma->a, (unsigned long long)c->a);
    return c->sum == sum ||
           mach_warn_pair(cta->island, origin, &c->origin, "the last ::fill, of other bytes", &collector_changed,
                          ".collector::a::%s: A (%s 0x%llx) has changed since ::fill", word, kind,
                          (unsigned long long)mma->a);
}

bool tc_collect(struct cta *cta, const struct mach_origin *origin, const struct tc_mma *mma, const struct tc_idesc *id,
                uint64_t sum) {
    struct tc_collector *c = &tc_state_of(cta)->collector;
    const bool uses = mma->collector == TC_COLLECTOR_USE || mma->collector == TC_COLLECTOR_LASTUSE;
    if (uses && !use(cta, origin, mma, id, sum))
        return false;
    if (mma->collector == TC_COLLECTOR_FILL)
        *c = (struct tc_collector){true,   true, mma->a_in_tmem, id->mn_major_a, mma->kind, id->a, mma->group, id->m,
                                   mma->a, sum,  *origin};
    else if (mma->collector != TC_COLLECTOR_USE)
        c->filled = false;
    c->origin.op = NULL; /* which it outlives */
    return true;
}
