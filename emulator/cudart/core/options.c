/* Parsing of the options that launcher and library share; contract in options.h. */
#include "cudart/core/options.h"

#include "base/source.h"
#include "clock/load.h"
#include "simd/simd.h"
#include "view/follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_THREADS 1024u
#define MAX_SECONDS 1e9

/* What rt_options says of them in words. */
_Static_assert(MACH_MAX_DEPTH == 16, "the depth of pct");
_Static_assert(MACH_MAX_GPCS == 16 && MACH_B200_SMS == 148 && MAX_THREADS == 1024, "the options' limits");

/* Reads a whole decimal number; false for anything else. */
static bool read_number(const char *text, uint64_t *out) {
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != 0 || text[0] < '0' || text[0] > '9')
        return false;
    *out = v;
    return true;
}

/* The same of the first n characters; false for more digits than such a number has. */
static bool read_part(const char *text, size_t n, uint64_t *out) {
    char digits[24];
    if (n >= sizeof digits)
        return false;
    memcpy(digits, text, n);
    digits[n] = 0;
    return read_number(digits, out);
}

/* SEED,DEPTH or SEED,DEPTH,STEPS */
static bool read_pct(const char *text, struct mach_config *config) {
    uint64_t v[3] = {0};
    for (unsigned i = 0; i < 3; i++) {
        const size_t n = strcspn(text, ",");
        if (!read_part(text, n, &v[i]))
            return false;
        text += n;
        if (*text == 0) {
            config->seed = v[0];
            config->depth = (uint32_t)v[1];
            config->steps = v[2];
            return i > 0 && v[1] >= 1 && v[1] <= MACH_MAX_DEPTH && (i == 1 || v[2] != 0);
        }
        text++;
    }
    return false;
}

static bool parse_schedule(const char *text, struct mach_config *config) {
    if (strcmp(text, "default") == 0)
        config->schedule = MACH_SCHED_DEFAULT;
    else if (strcmp(text, "eager") == 0)
        config->schedule = MACH_SCHED_EAGER;
    else if (strcmp(text, "lazy") == 0)
        config->schedule = MACH_SCHED_LAZY;
    else if (strcmp(text, "model") == 0)
        config->schedule = MACH_SCHED_MODEL;
    else if (strncmp(text, "random:", 7) == 0 && read_number(text + 7, &config->seed))
        config->schedule = MACH_SCHED_RANDOM;
    else if (strncmp(text, "pct:", 4) == 0 && read_pct(text + 4, config))
        config->schedule = MACH_SCHED_PCT;
    else
        return false;
    return true;
}

static bool parse_check(const char *text, struct mach_config *config) {
    static const char *const names[] = {"warn", "strict", "error", "off"};
    static const enum mach_check values[] = {MACH_CHECK_WARN, MACH_CHECK_STRICT, MACH_CHECK_ERROR, MACH_CHECK_OFF};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0) {
            config->check = values[i];
            return true;
        }
    return false;
}

static bool parse_umma(const char *text, struct mach_config *config) {
    static const char *const names[] = {"exact", "fast", "b200"};
    static const enum mach_umma values[] = {MACH_UMMA_EXACT, MACH_UMMA_FAST, MACH_UMMA_B200};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0) {
            config->umma = values[i];
            return true;
        }
    return false;
}

static bool parse_host_vectors(const char *text, struct mach_config *config) {
    static const char *const names[] = {"portable", "avx2", "avx512", "amx"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0) {
            config->host_vectors = (uint32_t)(SIMD_PORTABLE + i);
            return true;
        }
    return false;
}

static bool parse_watchdog(const char *text, struct mach_config *config) {
    return read_number(text, &config->watchdog) && config->watchdog != 0;
}

/* A number of seconds, which may have a fraction. */
static bool parse_timeout(const char *text, struct mach_config *config) {
    char *end;
    const double seconds = *text >= '0' && *text <= '9' ? strtod(text, &end) : 0;
    if (!(seconds >= 1e-3 && seconds <= MAX_SECONDS) || *end != 0)
        return false;
    config->timeout = (uint64_t)(seconds * 1e9);
    return true;
}

/* A number of bytes, or of the unit behind it. */
static bool parse_memory(const char *text, struct mach_config *config) {
    static const char units[] = "KMGT";
    const size_t n = strspn(text, "0123456789");
    uint64_t v;
    const char *unit = text[n] ? strchr(units, text[n]) : NULL;
    const unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (!read_part(text, n, &v) || v == 0 || v > UINT64_MAX >> shift || text[n + (unit != NULL)] != 0)
        return false;
    config->memory = v << shift;
    return true;
}

static bool parse_gpc_sizes(const char *text, struct mach_config *config) {
    uint32_t gpcs = 0, sum = 0;
    for (;; text++) {
        char *end = NULL;
        unsigned long v = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
        if (v == 0 || v > MACH_B200_SMS || gpcs == MACH_MAX_GPCS)
            return false;
        config->gpc_sms[gpcs++] = (uint32_t)v;
        sum += (uint32_t)v;
        text = end;
        if (*text != ',')
            break;
    }
    config->num_gpcs = gpcs;
    return *text == 0 && sum == MACH_B200_SMS;
}

static bool parse_threads(const char *text, struct mach_config *config) {
    uint64_t n;
    if (!read_number(text, &n) || n == 0 || n > MAX_THREADS)
        return false;
    config->threads = (uint32_t)n;
    return true;
}

/* FIRST-LAST, or one number. */
static bool read_range(const char *text, uint32_t range[2]) {
    const size_t n = strcspn(text, "-");
    uint64_t first, last;
    if (!read_part(text, n, &first) || !read_number(text[n] ? text + n + 1 : text, &last) || first > last ||
        last > UINT32_MAX)
        return false;
    range[0] = (uint32_t)first;
    range[1] = (uint32_t)last;
    return true;
}

static bool parse_trace_ctas(const char *text, struct mach_config *config) {
    return config->trace_some_ctas = read_range(text, config->trace_ctas);
}

static bool parse_trace_tiles(const char *text, struct mach_config *config) {
    return config->trace_some_tiles = read_range(text, config->trace_tiles);
}

static bool parse_follow(const char *text, struct mach_config *config) {
    char why[256];
    config->follow = text;
    return follow_parse(text, why, sizeof why);
}

static bool parse_clock(const char *text, struct mach_config *config) {
    struct clock_state state;
    config->clock = text;
    return clock_state_parse(text, &state);
}

bool rt_option_take(const struct rt_option *o, const char *text, struct mach_config *config) {
    if (o->parse)
        return o->parse(text, config);
    *(const char **)((char *)config + o->path) = text;
    return *text != 0;
}

const struct rt_option rt_options[RT_NUM_OPTIONS] = {
    {"--schedule", "SM100EMU_SCHEDULE", parse_schedule, 0,
     "default, eager, lazy, model, random:SEED, pct:SEED,DEPTH or pct:SEED,DEPTH,STEPS (numbers; DEPTH 1 to 16)"},
    {"--check", "SM100EMU_CHECK", parse_check, 0, "warn, strict, error or off"},
    {"--check-json", "SM100EMU_CHECK_JSON", NULL, offsetof(struct mach_config, check_json), "the name of a file"},
    {"--stats-json", "SM100EMU_STATS_JSON", NULL, offsetof(struct mach_config, stats_json), "the name of a file"},
    {"--suppress", "SM100EMU_SUPPRESS", NULL, offsetof(struct mach_config, suppress), "the name of a file"},
    {"--trace", "SM100EMU_TRACE", NULL, offsetof(struct mach_config, trace), "the name of a file"},
    {"--trace-ctas", "SM100EMU_TRACE_CTAS", parse_trace_ctas, 0,
     "a number of a CTA, or the first and the last as 0-15"},
    {"--trace-tiles", "SM100EMU_TRACE_TILES", parse_trace_tiles, 0,
     "a number of a tile, or the first and the last as 0-3"},
    {"--follow", "SM100EMU_FOLLOW", parse_follow, 0,
     "a name as full[0], a shared address as 0x418, tmem:0-255 or tile:3, then perhaps @cta1, @cluster2 or both"},
    {"--clock", "SM100EMU_CLOCK", parse_clock, 0,
     "sustained, burst, boost, or a frequency from 0.1 to 3 GHz as 1.965GHz or 1300MHz"},
    {"--source-root", SOURCE_ROOT, NULL, offsetof(struct mach_config, source_root), "the name of a folder"},
    {"--umma", "SM100EMU_UMMA", parse_umma, 0, "exact, fast or b200"},
    {"--host-vectors", "SM100EMU_HOST_VECTORS", parse_host_vectors, 0, "portable, avx2, avx512 or amx"},
    {"--watchdog", "SM100EMU_WATCHDOG", parse_watchdog, 0, "a number of warp instructions, 1 or more"},
    {"--timeout", "SM100EMU_TIMEOUT", parse_timeout, 0, "a number of seconds, 0.001 to 1e9"},
    {"--memory", "SM100EMU_MEMORY", parse_memory, 0, "a number of bytes, perhaps followed by K, M, G or T"},
    {"--gpc-sizes", "SM100EMU_GPC_SIZES", parse_gpc_sizes, 0, "the SMs of each GPC: up to 16 numbers whose sum is 148"},
    {"--threads", "SM100EMU_THREADS", parse_threads, 0, "a number of host threads, 1 to 1024"},
};
