/* launch/together.c - launches that overlap (programmatic dependent launch); contract in launch.h.
 *
 * A grid may start once all CTAs of the grid before it in its stream have executed griddepcontrol.launch_dependents or
 * have exited. Its griddepcontrol.wait waits until that grid has completed (PTX ISA 9.7.13.13). So once all CTAs of a
 * launch have done this, it stays where it is, and its call returns. A launch with the attribute then joins it; any
 * other call finishes it first.
 *
 * The seed draws what the ISA leaves open: how long each grid runs before the other goes on, from not at all (the ISA
 * promises no overlap) to as far as it can. CTAs of both share the SMs: those of the later grid take the remaining
 * room. A launch that no other joins has the same results, bit for bit, as a launch in one piece.
 */
#include "base/heap.h"
#include "base/now.h"
#include "launch/state.h"

#include <string.h>

#define LONG_TURN (UINT64_C(1) << 16)
#define MAGNITUDES 12u /* short turns have from 1 to 2^12 instructions */
#define LEADS 64u      /* long turns in a row of the leading grid: it may poll for the other */

/* Which grid has long turns while several overlap: the oldest, the latest, or none (two of four draws). */
enum lead { LEAD_OLDEST, LEAD_LATEST, LEAD_NONE, LEAD_NEITHER, LEADERS };

/* The running launches of a GPU, as long as the GPU. */
struct flights {
    struct launch_state *of[MACH_FLIGHTS]; /* oldest first */
    uint32_t num;
    struct launch_state *latest; /* prerequisite of the next launch; NULL: it has completed */
    uint64_t stream;             /*  its stream */
    uint64_t left_at;            /* time at which the last call returned, in ns */
    /* for the grids that overlap now: */
    enum lead lead;
    uint32_t led;       /* long turns of the leading grid so far */
    uint64_t magnitude; /* limit of the short turns, in instructions */
    uint32_t idle;      /* bits: nothing in these can go on until another grid moves */
    struct island dice; /* its own random numbers */
};

/* --- the gpu as a launch sees it ---------------------------------------------------------------------------------- */

/* Before a launch runs, its values become the GPU's; after that they are kept again. */
static void enter(struct launch_state *st) {
    struct gpu *gpu = st->grid.gpu;
    gpu->flight = st->flight;
    gpu->clock = st->clock;
    gpu->starts = st->starts;
    gpu->steps = st->steps;
    memcpy(gpu->watch, st->watch, sizeof gpu->watch);
    st->took -= now_ns();
}

static void leave(struct launch_state *st) {
    struct gpu *gpu = st->grid.gpu;
    st->clock = gpu->clock;
    st->starts = gpu->starts;
    st->steps = gpu->steps;
    memcpy(st->watch, gpu->watch, sizeof gpu->watch);
    st->took += now_ns();
}

/* A new call: the time that the host spent outside does not count for timeouts and progress lines. */
static void come_back(struct gpu *gpu, const struct flights *f) {
    const uint64_t away = now_ns() - f->left_at;
    gpu->began += away;
    gpu->deadline += gpu->deadline ? away : 0;
    atomic_fetch_add(&gpu->progress_at, away);
}

/* --- which are under way ------------------------------------------------------------------------------------------ */

static struct flights *flights_of(struct gpu *gpu) {
    if (!gpu->flights) {
        gpu->flights = xcalloc(1, sizeof *gpu->flights);
        island_init(&gpu->flights->dice, gpu, UINT32_MAX);
    }
    return gpu->flights;
}

/* A number for a new launch that no running one has. */
static uint32_t free_flight(const struct flights *f) {
    uint32_t used = 0;
    for (uint32_t i = 0; i < f->num; i++)
        used |= 1u << f->of[i]->flight;
    return (uint32_t)__builtin_ctz(~used);
}

/* Begins the launch and adds it to the running ones. */
static struct launch_state *begin(struct gpu *gpu, const struct launch_config *cfg) {
    struct flights *f = flights_of(gpu);
    const uint32_t flight = free_flight(f);
    if (!f->num)
        gpu_begin_launch(gpu);
    gpu->flight = flight;
    gpu->clock = gpu->starts = gpu->steps = 0;
    memset(gpu->watch, 0, sizeof gpu->watch);
    struct launch_state *st = launch_begin(gpu, cfg);
    st->flight = flight;
    st->may_stay = cfg->may_stay && gpu->config.schedule == MACH_SCHED_RANDOM &&
                   launch_kernel_has(cfg->kernel, PTX_MOD_launch_dependents);
    st->before = f->num ? f->latest : NULL;
    st->grid.held = st->before != NULL;
    leave(st);
    st->took = 0;
    f->of[f->num++] = f->latest = st;
    f->stream = cfg->stream;
    return st;
}

static void wake_all(struct launch_state *st) {
    for (uint32_t i = 0; i < st->num_islands; i++)
        for (struct cluster *cl = st->islands[i].resident; cl; cl = cl->next)
            for (uint32_t r = 0; r < cl->num_ctas && launch_started(cl); r++)
                mach_wake(&cl->cta[r]);
}

/* Ends the launch and removes it. */
static void end(struct flights *f, uint32_t i) {
    struct launch_state *st = f->of[i];
    st->took += now_ns();
    f->num--;
    memmove(&f->of[i], &f->of[i + 1], (f->num - i) * sizeof *f->of);
    f->latest = f->latest == st ? NULL : f->latest;
    f->idle = 0;
    for (uint32_t k = 0; k < f->num; k++)
        if (f->of[k]->before == st) {
            f->of[k]->before = NULL;
            f->of[k]->grid.held = false;
            f->of[k]->woken = true;
            wake_all(f->of[k]);
        }
    launch_end(st, f->num == 0);
}

/* --- turns -------------------------------------------------------------------------------------------------------- */

/* Draws how the grids share the time while they overlap. */
static void draw_course(struct flights *f) {
    f->lead = (enum lead)(mach_random(&f->dice) % LEADERS);
    f->magnitude = UINT64_C(1) << mach_random(&f->dice) % (MAGNITUDES + 1);
    f->led = 0;
}

/* Chooses the next launch among those that are not idle; *turn: instructions that it runs. */
static uint32_t pick(struct flights *f, uint64_t *turn) {
    const uint32_t ready = ~f->idle & ((1u << f->num) - 1);
    if (f->num == 1) {
        *turn = LAUNCH_FULL_TURN;
        return 0;
    }
    *turn = LONG_TURN;
    if (f->lead <= LEAD_LATEST && f->led++ < LEADS)
        return f->lead == LEAD_OLDEST ? (uint32_t)__builtin_ctz(ready) : 31 - (uint32_t)__builtin_clz(ready);
    *turn = 1 + mach_random(&f->dice) % f->magnitude;
    for (uint32_t left = (uint32_t)(mach_random(&f->dice) % (uint32_t)__builtin_popcount(ready)), at = ready;;
         at &= at - 1)
        if (!left--)
            return (uint32_t)__builtin_ctz(at);
}

/* Nothing can go on. The oldest launch waits for no other, so it is the one that hangs. */
static void all_idle(struct flights *f) {
    enter(f->of[0]);
    launch_stuck(f->of[0], ROUND_IDLE);
    leave(f->of[0]);
}

/* Runs until `mine` has ended or stays; NULL: until all have ended. */
static void fly(struct gpu *gpu, struct flights *f, const struct launch_state *mine) {
    f->idle = 0;
    for (bool goes_on = true; goes_on && f->num && !gpu->fault;) {
        uint64_t turn;
        if (f->idle == (1u << f->num) - 1) {
            all_idle(f);
            break;
        }
        const uint32_t i = pick(f, &turn);
        struct launch_state *st = f->of[i];
        enter(st);
        const enum launch_round round = launch_round(st, turn);
        f->idle = round == ROUND_IDLE ? f->idle | 1u << i : 0;
        goes_on = st != mine || (round != ROUND_ENDED && round != ROUND_OPEN);
        if (round == ROUND_ENDED && !gpu->fault) {
            end(f, i);
            continue;
        }
        if (round == ROUND_MOVED || atomic_load(&gpu->late) != MACH_IN_TIME)
            launch_stuck(st, round);
        leave(st);
    }
    while (gpu->fault && f->num) {
        enter(f->of[0]);
        end(f, 0);
    }
    f->left_at = now_ns();
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

bool launch_joins(const struct gpu *gpu, const struct launch_config *cfg) {
    const struct flights *f = gpu->flights;
    return f && f->num && f->num < MACH_FLIGHTS && cfg->early && cfg->stream == f->stream;
}

int launch_start(struct gpu *gpu, const struct launch_config *cfg) {
    struct flights *f = flights_of(gpu);
    if (!launch_joins(gpu, cfg) && launch_finish(gpu))
        return gpu->fault;
    if (f->num) {
        come_back(gpu, f);
        draw_course(f);
    }
    const struct launch_state *mine = begin(gpu, cfg);
    fly(gpu, f, mine);
    return gpu->fault;
}

int launch_finish(struct gpu *gpu) {
    struct flights *f = gpu->flights;
    if (!f || !f->num)
        return 0;
    come_back(gpu, f);
    fly(gpu, f, NULL);
    return gpu->fault;
}

int launch_run(struct gpu *gpu, const struct launch_config *cfg) {
    return launch_start(gpu, cfg) ?: launch_finish(gpu);
}
