/* What the checks get in one event for several lanes of a warp they judge as they do what comes lane by lane: each
 * kernel runs for the checks alone, and beside a listener that asks for each lane. */
#include "unit/run_ptx.h"

#include "machine/events.h"

#define KERNEL(count, text)                                                                                            \
    RUN_HEADER                                                                                                         \
    ".visible .entry k() {\n"                                                                                          \
    ".shared .align 1024 .b8 tile[4096]; .shared .align 8 .b64 bar[2]; .reg .pred %p, %q, %f; .reg .b64 %d;\n"         \
    ".reg .b32 %t, %l, %w, %a, %b, %m, %v;\n"                                                                          \
    "mov.u32 %t, %tid.x; and.b32 %l, %t, 31; shr.u32 %w, %t, 5; mov.u32 %b, bar; mov.u32 %a, tile;\n"                  \
    "mad.lo.u32 %a, %l, 4, %a; setp.eq.u32 %p, %w, 0; setp.eq.u32 %q, %w, 1; setp.eq.u32 %f, %t, 0;\n"                 \
    "mov.u32 %m, 0; @%f mbarrier.init.shared.b64 [%b], " count ";\n" text "ret; }\n"
#define ARRIVE "mbarrier.arrive.shared.b64 %d, [%b];\n"
#define WAIT(name, parity) name ": mbarrier.try_wait.parity.shared.b64 %f, [%b], " parity "; @!%f bra " name ";\n"

static uint32_t arrivals, most; /* events, and lanes of one */

static void see(const struct listener *self, const struct event_sync *e) {
    (void)self;
    if (e->kind != SYNC_MBAR_ARRIVE)
        return;
    const uint32_t lanes = (uint32_t)__builtin_popcount(e->by.lanes);
    arrivals++;
    most = lanes > most ? lanes : most;
    CHECK_EQ(e->count % lanes, 0);
}

/* The findings of the kernel; `joins`: for listeners that all do. */
static void findings(const char *ptx, enum mach_check check, bool joins, char *log, size_t size) {
    struct mach_config config = mach_config_b200();
    struct run r;
    config.check = check;
    config.watchdog = 1000000;
    if (run_open_config(&r, ptx, &config)) {
        arrivals = most = 0;
        CHECK(events_attach(r.gpu, &(struct listener){.wants = WANT_MBARRIER, .joins = joins, .sync = see}));
        run_check_races(&r);
        run_kernel(&r, "k", (struct run_shape){.block = 64}, 0, NULL);
        snprintf(log, size, "%s", r.log);
    }
    run_close(&r);
}

static void alike(const char *ptx, const char *id, uint32_t together) {
    static char apart[16384], joined[16384];
    for (enum mach_check check = MACH_CHECK_WARN; check <= MACH_CHECK_STRICT; check++) {
        findings(ptx, check, false, apart, sizeof apart);
        CHECK_EQ(most, 1);
        findings(ptx, check, true, joined, sizeof joined);
        CHECK_EQ(most, together);
        CHECK_STR(joined, apart);
    }
    if (id)
        CHECK_HAS(joined, id);
    else
        CHECK_STR(joined, "");
}

int main(void) {
    /* ordered: the words go through the barrier and back, three times */
    alike(KERNEL("32", "bar.sync 0; @%q bra two;\n"
                       "one: st.shared.u32 [%a], %t;\n" ARRIVE "bar.sync 0; add.u32 %m, %m, 1;\n"
                       "setp.lt.u32 %p, %m, 3; @%p bra one; ret;\n"
                       "two: and.b32 %v, %m, 1;\n" WAIT(
                           "L", "%v") "ld.shared.u32 %v, [%a]; bar.sync 0;\n"
                                      "add.u32 %m, %m, 1; setp.lt.u32 %p, %m, 3; @%p bra two;\n"),
          NULL, 32);
    /* some lanes, twice each */
    alike(KERNEL("14", "bar.sync 0; setp.lt.and.u32 %p, %l, 7, %p; st.shared.u32 [%a], %t;\n"
                       "@%p mbarrier.arrive.shared.b64 %d, [%b], 2;\n" WAIT("L", "0")),
          "shared-race", 7);
    /* the words are written after the arrival */
    alike(KERNEL("32", "bar.sync 0; @%q bra two;\n" ARRIVE "st.shared.u32 [%a], %t; ret;\n"
                       "two:\n" WAIT("L", "0") "ld.shared.u32 %v, [%a];\n"),
          "shared-race", 32);
    /* by other lanes than those that arrive */
    alike(KERNEL("16", "bar.sync 0; @%q bra two; st.shared.u32 [%a], %t;\n"
                       "setp.lt.u32 %p, %l, 16; @%p mbarrier.arrive.shared.b64 %d, [%b]; ret;\n"
                       "two:\n" WAIT("L", "0") "ld.shared.u32 %v, [%a];\n"),
          "shared-race", 16);
    /* before the init is known; into a phase too early; that ends a phase before one who saw the last looks again */
    alike(KERNEL("32", "@%p " ARRIVE), "mbarrier-race", 32);
    alike(KERNEL("32", "bar.sync 0;\n@%p " ARRIVE "@%p " ARRIVE), "mbarrier-phase-missed", 32);
    alike(KERNEL("32", "bar.sync 0; @%q bra two;\n" ARRIVE WAIT(
                           "L", "0") "again: add.u32 %m, %m, 1;\n"
                                     "setp.lt.u32 %p, %m, 9999; @%p bra again;\n" ARRIVE "ret; two:\n" WAIT("M", "0")),
          "mbarrier-phase-missed", 32);
    alike(KERNEL("32", "bar.sync 0; @%q bra two;\n" ARRIVE "again: add.u32 %m, %m, 1;\n"
                       "setp.lt.u32 %p, %m, 9999; @%p bra again;\n" ARRIVE "ret; two:\n" WAIT("M", "0")),
          "mbarrier-phase-missed", 32);
    /* before an inval by a thread that knows of no arrival since the first; and by one that knows of some lanes' */
    alike(KERNEL("32", "bar.sync 0; @%q bra end;\n" ARRIVE WAIT("L", "0") "bar.sync 0;\n" ARRIVE WAIT(
                           "M", "1") "ret;\n"
                                     "end: bar.sync 0; setp.eq.u32 %f, %t, 40; @%f mbarrier.inval.shared.b64 [%b];\n"),
          "mbarrier-race", 32);
    alike(KERNEL("64", "@%f mbarrier.init.shared.b64 [%b+8], 16; bar.sync 0; @%p bra end;\n" ARRIVE ARRIVE
                       "setp.lt.u32 %p, %l, 16; @!%p mbarrier.arrive.shared.b64 %d, [%b+8]; ret;\n"
                       "end: @!%f ret;\n"
                       "N: mbarrier.try_wait.parity.shared.b64 %f, [%b+8], 0; @!%f bra N;\n"
                       "mbarrier.inval.shared.b64 [%b];\n"),
          "mbarrier-inval-unmet", 32);
    return check_report();
}
