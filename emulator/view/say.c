/* view/say.c - events of a log in words; contract in say.h. */
#include "view/say.h"

#include "base/strbuf.h"
#include "view/names_of.h"

#include <string.h>

struct say say_of(const struct trace_log *log, struct names *names, uint32_t cluster, const struct say_times *times) {
    return (struct say){
        .log = log,
        .c = &log->clusters[cluster],
        .n = names_of(names, cluster),
        .names = names,
        .cluster = cluster,
        .times = times ? &times[cluster] : NULL,
    };
}

static const struct trace_event *event_at(const struct say *t, uint32_t event) { return &t->c->events[event - 1]; }

/* What a wait is for: "an mbarrier" */
static const char *wait_name(uint32_t kind) {
    static const char *const text[WAIT_LAST] = {
        [0] = "something",
        [WAIT_MBARRIER] = "an mbarrier",
        [WAIT_BARRIER] = "a barrier of the CTA",
        [WAIT_CLUSTER] = "the cluster's barrier",
        [WAIT_WARP_SYNC] = "the warp's other lanes",
        [WAIT_TMEM_ALLOC] = "columns of tensor memory",
        [WAIT_PAIR] = "the pair's other CTA",
        [WAIT_REGISTERS] = "registers",
        [WAIT_TMEM_LDST] = "its tcgen05.ld or .st",
        [WAIT_ASYNC] = "its groups of copies",
        [WAIT_JOIN] = "the warp's other lanes",
        [WAIT_ALIGNED] = "the warp's other lanes",
        [WAIT_RIDING] = "the warp's other lanes",
        [WAIT_ROOM] = "room for a try_cancel",
        [WAIT_GRID] = "the grid before this one",
    };
    return kind < WAIT_LAST ? text[kind] : text[0];
}

/* --- objects and operations --------------------------------------------------------------------------------------- */

static void put_object(struct strbuf *w, const struct say *t, uint32_t object) {
    const struct trace_object *o = &t->c->objects[object - 1];
    strbuf_put(w, "%s", t->n->objects[object - 1]);
    if (o->kind != OBJECT_CLUSTER_BARRIER)
        strbuf_put(w, "@cta%u", o->rank);
}

/* An object that an event is about: its CTA is said where it is not the event's. */
static void put_own_object(struct strbuf *w, const struct say *t, const struct trace_event *e) {
    if (e->object && t->c->objects[e->object - 1].rank == e->rank)
        strbuf_put(w, "%s", t->n->objects[e->object - 1]);
    else if (e->object)
        put_object(w, t, e->object);
    else
        strbuf_put(w, "a barrier");
}

/* The unit that carries an operation out: "TMA", "tensor core" */
static const char *unit_name(const struct trace_op *op) {
    static const char *const text[] = {
        [AGENT_THREAD] = "unit",
        [AGENT_CP_ASYNC] = "cp.async",
        [AGENT_TMA] = "TMA",
        [AGENT_BULK] = "TMA",
        [AGENT_TENSOR_CORE] = "tensor core",
        [AGENT_TENSOR_COPY] = "tensor core",
        [AGENT_TENSOR_LDST] = "tensor memory",
        [AGENT_TENSOR_ALLOC] = "tensor memory",
        [AGENT_COMMIT] = "commit",
        [AGENT_CLC] = "launch control",
    };
    return op->agent < sizeof text / sizeof *text ? text[op->agent] : text[AGENT_THREAD];
}

static void put_range(struct strbuf *w, const struct say *t, uint32_t rank, uint32_t off) {
    const struct names_range *r = names_range_at(t->n->smem, t->n->num_smem, rank, off);
    if (r)
        strbuf_put(w, "%s", r->name);
    else
        strbuf_put(w, "0x%x", off);
}

static void put_columns(struct strbuf *w, uint32_t first, uint32_t end) {
    strbuf_put(w, end > first + 1 ? "columns %u-%u" : "column %u", first, end - (end > first));
}

/* The CTAs that the instruction of `op` brings the same to, as bits. */
static uint32_t ctas_of(const struct say *t, const struct trace_op *op) {
    uint32_t bits = 0;
    for (uint32_t i = op->leader; i && i <= t->c->num_ops && t->c->ops[i - 1].leader == op->leader; i++)
        bits |= t->c->ops[i - 1].to ? 1u << (t->c->ops[i - 1].to - 1) % 32 : 0;
    return bits;
}

/* ctas: bits of those that it goes to. */
static void put_copy(struct strbuf *w, const struct say *t, const struct trace_op *op, uint32_t ctas) {
    const char *unit = op->agent == AGENT_TMA ? "TMA" : "bulk";
    if (op->to && op->from) {
        strbuf_put(w, "%s copy ", unit);
        put_range(w, t, op->from - 1, op->from_off);
        strbuf_put(w, " -> ");
        put_range(w, t, op->to - 1, op->to_off);
        strbuf_put(w, " of cta%u", op->to - 1);
    } else if (op->to) {
        strbuf_put(w, "%s load ", unit);
        put_range(w, t, op->to - 1, op->to_off);
        strbuf_put(w, " -> cta");
        strbuf_bits(w, ctas);
    } else if (op->from) {
        strbuf_put(w, "%s %s ", unit, strstr(trace_string(t->log, op->name), "reduce") ? "reduction of" : "store");
        put_range(w, t, op->from - 1, op->from_off);
    } else if (op->follows) {
        strbuf_put(w, "%s store's writes", unit);
    } else {
        strbuf_put(w, "%s", trace_string(t->log, op->name));
    }
}

/* The name of the mbarrier that lies there. */
static void put_mbarrier(struct strbuf *w, const struct say *t, uint32_t rank, uint32_t at) {
    for (uint32_t i = t->c->num_objects; i > 0; i--)
        if (t->c->objects[i - 1].kind == OBJECT_MBARRIER && t->c->objects[i - 1].rank == rank &&
            t->c->objects[i - 1].at == at) {
            strbuf_put(w, "%s", t->n->objects[i - 1]);
            return;
        }
    strbuf_put(w, "mbarrier 0x%x", at);
}

static void put_arrival(struct strbuf *w, const struct say *t, const struct trace_op *op) {
    const char *name = trace_string(t->log, op->name);
    strbuf_put(w, "%s", strncmp(name, "tcgen05.", 8) == 0 ? name + 8 : name);
    if (!op->signals)
        return;
    strbuf_put(w, " -> ");
    put_mbarrier(w, t, op->signals - 1, op->signals_off);
    strbuf_put(w, "@cta");
    strbuf_bits(w, op->ctas ? op->ctas : 1u << (op->signals - 1) % 32);
}

static void put_tensor(struct strbuf *w, const struct say *t, const struct trace_op *op) {
    const uint32_t first = (op->to ? op->to_off : op->from_off) & 0xffff;
    uint32_t end = first + op->n;
    if (op->agent == AGENT_TENSOR_CORE) {
        strbuf_put(w, "UMMA %ux%ux%u, D ", op->m, op->n, op->k);
        names_accumulator(op, &end);
    } else {
        strbuf_put(w, "%s ", trace_string(t->log, op->name));
    }
    put_columns(w, first, end);
}

static void put_op(struct strbuf *w, const struct say *t, uint32_t number, bool whole) {
    const struct trace_op *op = &t->c->ops[number - 1];
    switch ((enum event_agent)op->agent) {
    case AGENT_TMA:
    case AGENT_BULK:
        put_copy(w, t, op, whole ? ctas_of(t, op) : op->to ? 1u << (op->to - 1) % 32 : 0);
        return;
    case AGENT_TENSOR_CORE:
    case AGENT_TENSOR_COPY:
    case AGENT_TENSOR_LDST:
        put_tensor(w, t, op);
        return;
    case AGENT_COMMIT:
        put_arrival(w, t, op);
        return;
    case AGENT_CLC:
        strbuf_put(w, "try_cancel");
        if (op->completed && op->taken)
            strbuf_put(w, ": cluster of CTA (%u,%u,%u)", op->first.x, op->first.y, op->first.z);
        else if (op->completed)
            strbuf_put(w, ": no cluster is left");
        return;
    case AGENT_THREAD:
    case AGENT_CP_ASYNC:
    case AGENT_TENSOR_ALLOC:
        break;
    }
    strbuf_put(w, "%s", trace_string(t->log, op->name));
}

const char *say_op(const struct say *t, uint32_t op, char *buf, size_t size) {
    struct strbuf w = strbuf_in(buf, size);
    put_op(&w, t, op, false);
    return buf;
}

const char *say_instruction(const struct say *t, uint32_t op, char *buf, size_t size) {
    struct strbuf w = strbuf_in(buf, size);
    put_op(&w, t, op, true);
    return buf;
}

/* --- who ---------------------------------------------------------------------------------------------------------- */

bool say_is_phase(const struct trace_event *e) {
    return e->class == TRACE_SYNC &&
           (e->kind == SYNC_MBAR_PHASE || e->kind == SYNC_BAR_PHASE || e->kind == SYNC_CLUSTER_PHASE);
}

static void put_warp(struct strbuf *w, const struct say *t, const struct trace_event *e) {
    char name[64];
    strbuf_put(w, "%s", e->warp == TRACE_NO_WARP ? "hardware" : names_warp(t->n, e->rank, e->warp, name, sizeof name));
}

uint32_t say_rank(const struct say *t, uint32_t event) {
    const struct trace_event *e = event_at(t, event);
    return say_is_phase(e) && e->object ? t->c->objects[e->object - 1].rank : e->rank;
}

const char *say_who(const struct say *t, uint32_t event, char *buf, size_t size) {
    struct strbuf w = strbuf_in(buf, size);
    const struct trace_event *e = event_at(t, event);
    if (say_is_phase(e) && e->object)
        strbuf_put(&w, "%s", t->n->objects[e->object - 1]);
    else if (e->op && !(e->class == TRACE_OP && e->kind == OP_ISSUED))
        strbuf_put(&w, "%s", unit_name(&t->c->ops[e->op - 1]));
    else
        put_warp(&w, t, e);
    return buf;
}

/* --- what --------------------------------------------------------------------------------------------------------- */

/* What the phase lacks. */
static void put_state(struct strbuf *w, const struct say *t, const struct trace_event *e) {
    const uint32_t i = (uint32_t)(e - t->c->events);
    const uint32_t pending = t->times ? t->times->pending[i] : e->pending;
    const int32_t tx = t->times ? t->times->tx[i] : e->tx;
    strbuf_put(w, ", phase %u: ", e->phase);
    if (pending || tx <= 0)
        strbuf_count(w, pending, "arrival");
    if (tx)
        strbuf_put(w, "%s%d bytes", pending || tx <= 0 ? " and " : "", tx);
    strbuf_put(w, " to come");
}

static void put_mbar(struct strbuf *w, const struct say *t, const struct trace_event *e) {
    switch ((enum event_sync_kind)e->kind) {
    case SYNC_MBAR_ARRIVE:
        strbuf_put(w, e->count == 1 ? "arrives at " : "arrives %u times at ", e->count);
        break;
    case SYNC_MBAR_DROP:
        strbuf_put(w, "arrives for good at ");
        break;
    case SYNC_MBAR_EXPECT_TX:
        strbuf_put(w, "expects %llu bytes at ", (unsigned long long)e->value);
        put_own_object(w, t, e);
        strbuf_put(w, ", phase %u", e->phase);
        return;
    case SYNC_MBAR_COMPLETE_TX:
        strbuf_put(w, "brings %llu bytes ", (unsigned long long)e->value);
        if (e->op && t->c->ops[e->op - 1].to && t->c->ops[e->op - 1].agent != AGENT_CLC) {
            strbuf_put(w, "of ");
            put_range(w, t, t->c->ops[e->op - 1].to - 1, t->c->ops[e->op - 1].to_off);
            strbuf_put(w, " ");
        }
        strbuf_put(w, "to ");
        break;
    default:
        strbuf_put(w, "will arrive at ");
        break;
    }
    put_own_object(w, t, e);
    put_state(w, t, e);
}

static void put_test(struct strbuf *w, const struct say *t, const struct trace_event *e) {
    strbuf_put(w, "asks ");
    put_own_object(w, t, e);
    strbuf_put(w, " for the phase of parity %u: %s", e->what, e->count ? "over" : "not yet");
    if (e->times > 1)
        strbuf_put(w, ", %u times", e->times);
}

static void put_group(struct strbuf *w, const struct trace_event *e) {
    const char *copies = e->what & 1 ? "bulk" : "cp.async";
    if (e->kind == SYNC_GROUP_COMMIT)
        strbuf_put(w, "closes a %s group", copies);
    else
        strbuf_put(w, "passes its wait: at most %u %s groups %s", e->what >> 2, copies,
                   e->what & 2 ? "still read their sources" : "are pending");
}

static const char *fence_name(uint32_t fence) {
    static const char *const text[] = {"fence",
                                       "fence.sync_restrict",
                                       "fence.mbarrier_init",
                                       "fence.proxy.alias",
                                       "fence.proxy.async",
                                       "fence.proxy.async (sync_restrict)",
                                       "fence.proxy.tensormap"};
    return text[fence < sizeof text / sizeof *text ? fence : 0];
}

static void put_sync(struct strbuf *w, const struct say *t, const struct trace_event *e) {
    static const char *const text[] = {
        [SYNC_WARP] = "meets the warp's other lanes",
        [SYNC_TCGEN05_LD] = "issues tcgen05.ld",
        [SYNC_TCGEN05_WAIT_LD] = "passes tcgen05.wait::ld",
        [SYNC_TCGEN05_WAIT_ST] = "passes tcgen05.wait::st",
        [SYNC_TCGEN05_USE] = "uses what its tcgen05.ld loads",
        [SYNC_TCGEN05_FENCE_BEFORE] = "tcgen05.fence::before_thread_sync",
        [SYNC_TCGEN05_FENCE_AFTER] = "tcgen05.fence::after_thread_sync",
        [SYNC_GRID_WAIT] = "griddepcontrol.wait",
        [SYNC_GRID_LAUNCH_DEPENDENTS] = "griddepcontrol.launch_dependents",
    };
    switch ((enum event_sync_kind)e->kind) {
    case SYNC_MBAR_ARRIVE:
    case SYNC_MBAR_DROP:
    case SYNC_MBAR_EXPECT_TX:
    case SYNC_MBAR_COMPLETE_TX:
    case SYNC_MBAR_PENDING:
        put_mbar(w, t, e);
        break;
    case SYNC_MBAR_TEST:
        put_test(w, t, e);
        break;
    case SYNC_MBAR_PHASE:
    case SYNC_BAR_PHASE:
    case SYNC_CLUSTER_PHASE:
        strbuf_put(w, "phase %u complete", e->phase);
        break;
    case SYNC_BAR_ARRIVE:
    case SYNC_CLUSTER_ARRIVE:
    case SYNC_BAR_PASS:
    case SYNC_CLUSTER_PASS:
        strbuf_put(w, e->kind == SYNC_BAR_PASS || e->kind == SYNC_CLUSTER_PASS ? "passes " : "arrives at ");
        put_own_object(w, t, e);
        strbuf_put(w, ", phase %u", e->phase);
        break;
    case SYNC_FENCE:
        strbuf_put(w, "%s", fence_name(e->what));
        break;
    case SYNC_GROUP_COMMIT:
    case SYNC_GROUP_WAIT:
        put_group(w, e);
        break;
    case SYNC_WARP:
    case SYNC_TCGEN05_LD:
    case SYNC_TCGEN05_WAIT_LD:
    case SYNC_TCGEN05_WAIT_ST:
    case SYNC_TCGEN05_USE:
    case SYNC_TCGEN05_FENCE_BEFORE:
    case SYNC_TCGEN05_FENCE_AFTER:
    case SYNC_GRID_WAIT:
    case SYNC_GRID_LAUNCH_DEPENDENTS:
        strbuf_put(w, "%s", text[e->kind]);
        break;
    }
}

static void put_wait_object(struct strbuf *w, const struct say *t, const struct trace_event *e) {
    if (e->object)
        put_own_object(w, t, e);
    else
        strbuf_put(w, "%s", wait_name(e->what));
    if (e->object && e->what == WAIT_MBARRIER)
        strbuf_put(w, ", parity %llu", (unsigned long long)e->value);
}

static void put_wait(struct strbuf *w, const struct say *t, const struct trace_event *e) {
    static const char *const how[] = {"waits for ", "waited for ", "gave up for now: ", "goes on without "};
    strbuf_put(w, "%s", how[e->kind & 3]);
    put_wait_object(w, t, e);
}

static void put_life(struct strbuf *w, const struct say *t, const struct trace_event *e) {
    static const char *const text[] = {
        [LIFE_CLUSTER_START] = "the cluster starts",
        [LIFE_CLUSTER_END] = "the cluster ends",
        [LIFE_LANES_EXIT] = "exits",
        [LIFE_TMEM_RELINQUISH] = "gives up allocating tensor memory",
        [LIFE_HEAP_ALLOC] = "malloc",
        [LIFE_HEAP_FREE] = "free",
    };
    const uint32_t column = (uint32_t)e->value & 0xffff; /* e->pending: whose */
    switch ((enum event_life_kind)e->kind) {
    case LIFE_CTA_START:
        strbuf_put(w, "cta%u starts", e->rank);
        break;
    case LIFE_CTA_EXIT:
        strbuf_put(w, "cta%u: the last warp has exited", e->rank);
        break;
    case LIFE_CTA_END:
        strbuf_put(w, "cta%u ends", e->rank);
        break;
    case LIFE_TMEM_ALLOC:
        strbuf_put(w, "has tensor memory ");
        put_columns(w, column, column + (e->count & 0xffff));
        break;
    case LIFE_TMEM_CLOSING:
    case LIFE_TMEM_DEALLOC:
        strbuf_put(w, e->kind == LIFE_TMEM_CLOSING ? "is about to give back " : "gives back ");
        put_columns(w, column, column + (e->count & 0xffff));
        break;
    case LIFE_MBAR_INIT:
    case LIFE_MBAR_INVAL:
        strbuf_put(w, e->kind == LIFE_MBAR_INIT ? "initialises " : "invalidates ");
        put_own_object(w, t, e);
        if (e->object && e->kind == LIFE_MBAR_INIT) {
            strbuf_put(w, " with ");
            strbuf_count(w, t->c->objects[e->object - 1].count, "arrival");
        }
        break;
    case LIFE_REGISTERS:
        strbuf_put(w, "has %u registers a thread", e->count);
        break;
    case LIFE_CLUSTER_START:
    case LIFE_CLUSTER_END:
    case LIFE_LANES_EXIT:
    case LIFE_TMEM_RELINQUISH:
    case LIFE_HEAP_ALLOC:
    case LIFE_HEAP_FREE:
        strbuf_put(w, "%s", text[e->kind]);
        break;
    }
}

static void put_step(struct strbuf *w, const struct say *t, const struct trace_event *e) {
    const char *text = e->site ? trace_string(t->log, t->log->sites[e->site - 1].text) : "";
    if (*text == '@') /* its guard */
        text += strcspn(text, " "), text += strspn(text, " ");
    strbuf_put(w, "comes to %.*s", (int)strcspn(text, " ;"), text);
}

const char *say_what(const struct say *t, uint32_t event, char *buf, size_t size) {
    static const char *const stage[] = {"issues ", "starts ", "completes "};
    struct strbuf w = strbuf_in(buf, size);
    const struct trace_event *e = event_at(t, event);
    char text[160];
    switch ((enum trace_class)e->class) {
    case TRACE_SYNC:
        put_sync(&w, t, e);
        break;
    case TRACE_OP:
        strbuf_put(&w, "%s%s", stage[e->kind % 3], e->op ? say_op(t, e->op, text, sizeof text) : "an operation");
        break;
    case TRACE_WAIT:
        put_wait(&w, t, e);
        break;
    case TRACE_LIFE:
        put_life(&w, t, e);
        break;
    case TRACE_GLOBAL:
        strbuf_put(&w, "%s global memory, %u bytes a lane, %llu sectors",
                   e->kind == EFFECT_READ    ? "reads"
                   : e->kind == EFFECT_WRITE ? "writes"
                                             : "updates",
                   e->count, (unsigned long long)e->value);
        break;
    case TRACE_STEP:
        put_step(&w, t, e);
        break;
    }
    return buf;
}

/* --- why ---------------------------------------------------------------------------------------------------------- */

uint32_t say_cause(const struct say *t, uint32_t event) {
    const struct trace_event *e = event_at(t, event);
    const uint32_t cause = t->times && t->times->causes ? t->times->causes[event - 1] : 0;
    if (cause && cause <= t->c->num_events) {
        const struct trace_event *by = event_at(t, cause);
        const bool of_unit = by->op && !(by->class == TRACE_OP && by->kind == OP_ISSUED);
        if (of_unit || say_is_phase(by) || by->rank != e->rank || by->warp != e->warp)
            return cause;
    }
    /* The emulator runs the operations of a queue one after the other. On the clock one may begin before the last is
     * over: then its issue alone led to it. */
    const bool begins = e->class == TRACE_OP && e->kind == OP_STARTED && e->cause && e->cause <= t->c->num_events;
    if (t->times && begins && t->times->cycle[e->cause - 1] > t->times->cycle[event - 1])
        return 0;
    return e->cluster ? 0 : e->cause;
}

/* An event as the cause of another. */
static void put_brief(struct strbuf *w, const struct say *t, uint32_t event) {
    const struct trace_event *e = event_at(t, event);
    char text[160];
    if (say_is_phase(e) && e->object) {
        strbuf_put(w, "phase %u of ", e->phase);
        put_object(w, t, e->object);
        return;
    }
    if (e->op && (e->class == TRACE_OP || e->class == TRACE_SYNC)) {
        strbuf_put(w, "%scta%u's ", e->class == TRACE_OP && e->kind == OP_ISSUED ? "the issue of " : "",
                   t->c->ops[e->op - 1].rank);
        put_op(w, t, e->op, false);
        return;
    }
    if (e->class == TRACE_LIFE && e->warp == TRACE_NO_WARP) {
        strbuf_put(w, "%s", say_what(t, event, text, sizeof text));
        return;
    }
    put_warp(w, t, e);
    strbuf_put(w, "@cta%u", e->rank);
    if (e->class == TRACE_SYNC &&
        (e->kind <= SYNC_MBAR_PENDING || e->kind == SYNC_BAR_ARRIVE || e->kind == SYNC_CLUSTER_ARRIVE)) {
        strbuf_put(w, "%s", e->kind == SYNC_MBAR_EXPECT_TX || e->kind == SYNC_MBAR_PENDING ? "" : ", which arrives");
        return;
    }
    strbuf_put(w, ", which %s", say_what(t, event, text, sizeof text));
}

const char *say_brief(const struct say *t, uint32_t event, char *buf, size_t size) {
    struct strbuf w = strbuf_in(buf, size);
    put_brief(&w, t, event);
    return buf;
}

const char *say_why(const struct say *t, uint32_t event, char *buf, size_t size) {
    struct strbuf w = strbuf_in(buf, size);
    const struct trace_event *e = event_at(t, event);
    const uint32_t cause = say_cause(t, event);
    if (!cause && e->class == TRACE_WAIT && e->kind == WAIT_TIMED_OUT) {
        strbuf_put(&w, "nothing else could run: its time limit");
        return buf;
    }
    if (!cause && e->class == TRACE_WAIT && e->kind == WAIT_RELEASED) {
        strbuf_put(&w, "they did not come");
        return buf;
    }
    if (!cause) {
        if (e->cause && e->cluster && e->cluster <= t->log->num_clusters) {
            const struct say other = say_of(t->log, t->names, e->cluster - 1, NULL);
            if (e->cause <= other.c->num_events)
                put_brief(&w, &other, e->cause);
            strbuf_put(&w, " of cluster %llu", (unsigned long long)other.c->number);
        }
        return buf;
    }
    if (e->op && event_at(t, cause)->op == e->op && !say_is_phase(e)) /* its own course */
        return buf;
    put_brief(&w, t, cause);
    const uint32_t before = say_is_phase(event_at(t, cause)) ? say_cause(t, cause) : 0;
    if (before) {
        strbuf_put(&w, ", completed by ");
        put_brief(&w, t, before);
    }
    return buf;
}

/* --- where -------------------------------------------------------------------------------------------------------- */

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *say_file(const struct say *t) {
    const struct trace_log *log = t->log;
    for (uint32_t i = 0; i < log->num_sites; i++) {
        const struct trace_call *chain[NAMES_CHAIN];
        const uint32_t n = names_chain(t->names, i + 1, chain);
        if (n && n < NAMES_CHAIN && strcmp(trace_string(log, log->sites[i].func), trace_string(log, log->kernel)) == 0)
            return last_part(trace_string(log, chain[n - 1]->file));
    }
    return log->num_sites ? last_part(trace_string(log, log->sites[0].file)) : "";
}

const char *say_where(const struct say *t, uint32_t number, char *buf, size_t size) {
    struct strbuf w = strbuf_in(buf, size);
    const struct trace_log *log = t->log;
    if (!number)
        return buf;
    const struct trace_site *site = &log->sites[number - 1];
    const struct trace_call *chain[NAMES_CHAIN];
    const uint32_t n = names_chain(t->names, number, chain);
    const char *own = n ? trace_string(log, chain[n - 1]->file) : "";
    const struct trace_call *at = NULL;
    for (uint32_t i = 0; i < n && strcmp(trace_string(log, at ? at->file : site->file), own) != 0; i++)
        at = chain[i];
    const char *file = trace_string(log, at ? at->file : site->file);
    if (*file)
        strbuf_put(&w, "%s:%u", last_part(file), at ? at->line : site->line);
    else if (*trace_string(log, site->ptx))
        strbuf_put(&w, "%s:%u", last_part(trace_string(log, site->ptx)), site->ptx_line);
    return buf;
}
