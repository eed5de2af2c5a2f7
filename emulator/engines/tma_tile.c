/* engines/tma_tile.c - tensor copies in tile mode: boxes of 1 to 5 dimensions, gather4, scatter4 (PTX 5.5.3, 9.7.9.27).
 *
 * A box is copied row by row; a row runs along dimension 0. Rows lie one behind the other in shared memory; with a
 * swizzle every row takes the whole span of it (32, 64 or 128 bytes), also when the box is narrower. The swizzle
 * exchanges 16-byte chunks by bits of the shared address itself (5.5.7), whatever the box's place in it.
 *
 * Measured on an H200, where the ISA is silent: the rows of narrow boxes, the value of the NaN fill, what TF32
 * and FTZ types become, that a box begins at a multiple of 16 bytes of its row, stores not before the tensor, and that
 * dimensions end at 2^31, though cuTensorMapEncodeTiled takes 2^32.
 */
#include "base/relaxed.h"
#include "engines/tma_box.h"
#include "engines/tma_copy.h"
#include "simd/line_copy.h"

#include <string.h>

#define MAX_ROW 2048u /* bytes: 256 elements of 8 */

/* Host address of the plane's row `in`, where `bytes` of all its rows up to `out` lie in one allocation: nothing is
 * left to check then. NULL: they may still do so row by row. */
static uint8_t *plane_at(const struct async_op *op, const struct plane *p, uint32_t bytes) {
    if (p->in == p->out)
        return NULL;
    return mem_at(op->cta->gpu->mem, p->addr, (p->out - p->in - 1) * p->stride + bytes);
}

/* In every second line of 128 bytes the halves of each chunk change places. */
static inline bool flipped(uint32_t swizzle, uint32_t a) {
    return swizzle == TMAP_SWIZZLE_128B_ATOM_32B_FLIP_8B && (a & 0x80);
}

/* --- elements ----------------------------------------------------------------------------------------------------- */

/* Fills [0, lo) and [hi, inner) of a row with the value for elements outside the tensor (5.5.3.3). */
static void fill_outside(const struct tile *t, uint8_t *row, uint32_t lo, uint32_t hi) {
    /* the NaN is 0x7ff7 in 16 bits, and two or four of them in wider elements */
    static const uint8_t nan[2] = {0xf7, 0x7f};
    for (uint32_t i = 0; i < t->inner; i++)
        if (i < lo || i >= hi)
            row[i] = t->m.fill_nan ? nan[i % 2] : 0;
}

/* A load rounds the elements of the types TFLOAT32 and TFLOAT32_FTZ to the nearest tf32, ties to even; the fill is left
 * as it is, subnormals stay, a NaN becomes canonical, and a store converts nothing (all measured). */
static void round_tf32(uint8_t *row, uint32_t lo, uint32_t hi) {
    for (uint32_t i = lo; i + 4 <= hi; i += 4) {
        uint32_t v;
        memcpy(&v, row + i, 4);
        const bool nan = (v & 0x7fffffff) > 0x7f800000;
        v = nan ? 0x7fffe000 : (v + 0xfff + (v >> 13 & 1)) & 0xffffe000;
        memcpy(row + i, &v, 4);
    }
}

/* --- global to shared --------------------------------------------------------------------------------------------- */

struct tile_load {
    struct async_op op;
    struct tile tile; /* its box's map is the one below */
    _Alignas(8) uint8_t map[TMAP_BYTES];
    struct tma_place place;
};

/* Bytes [0, t->inner) of a row into their chunks. */
static void scatter_row(struct cta *cta, const struct tile *t, uint32_t at, const uint8_t *row) {
    if (t->m.swizzle == TMAP_SWIZZLE_NONE && t->unit == 16) {
        relaxed_read(cta->smem + at, row, t->inner);
        return;
    }
    for (uint32_t c = 0, from = 0; c < t->width; c += 16, from += t->unit) {
        uint32_t to = simd_swizzled(&t->swizzle, at + c);
        uint8_t *p = cta->smem + to;
        if (flipped(t->m.swizzle, at + c)) {
            relaxed_read(p, row + from + 8, 8);
            relaxed_read(p + 8, row + from, 8);
        } else {
            relaxed_read(p, row + from, t->unit);
            /* the padding is left as it is: uninitialised (5.5.1.1) */
            if (t->unit < 16)
                smem_set_poison(cta, to + t->unit, 16u - t->unit);
        }
    }
}

/* Are the rows what simd_lines() and simd_lines_out() copy? */
static bool is_lines(const struct tile *t) {
    return t->m.swizzle == TMAP_SWIZZLE_128B && t->width == 128 && t->unit == 16;
}

static void cover_bytes(const struct tile_load *l, uint32_t off, uint32_t bytes) {
    smem_clear_poison(l->place.cta, off, bytes);
    tma_tell_shared(&l->op, EFFECT_WRITE, l->place.cta, off, bytes);
}

/* Marks what the box covers as written. */
static void cover(const struct tile_load *l, const struct tile *t) {
    if (tile_dense(t)) {
        cover_bytes(l, l->place.off, (uint32_t)tile_bytes(t));
        return;
    }
    for (uint32_t r = 0; r < t->rows; r++)
        for (uint32_t c = 0; c < t->width; c += 16)
            cover_bytes(l, simd_swizzled(&t->swizzle, l->place.off + r * t->pitch + c), 16);
}

/* A row that does not come as it is: `from` is its byte `lo` in global memory, or NULL where nothing of it is
 * inside. */
static void load_row(struct cta *cta, const struct tile *t, uint32_t at, const uint8_t *from) {
    _Alignas(8) uint8_t buffer[MAX_ROW];
    const uint32_t lo = from ? t->lo : 0, hi = from ? t->hi : 0;
    relaxed_read(buffer + lo, from, hi - lo);
    if (t->m.type == TMAP_TF32 || t->m.type == TMAP_TF32_FTZ)
        round_tf32(buffer, lo, hi);
    fill_outside(t, buffer, lo, hi);
    scatter_row(cta, t, at, buffer);
}

static bool load_plane(const struct tile_load *l, const struct tile *t, uint32_t at, const struct plane *p) {
    struct cta *cta = l->place.cta;
    const uint32_t bytes = t->hi - t->lo;
    if (bytes && p->out > p->in)
        tma_tell_global(&l->op, EFFECT_READ, p->addr, bytes, p->out - p->in, p->stride);
    const bool as_it_is = bytes == t->inner && t->m.type != TMAP_TF32 && t->m.type != TMAP_TF32_FTZ;
    const uint8_t *whole = plane_at(&l->op, p, bytes);
    if (whole && as_it_is && p->out - p->in == t->plane_rows && is_lines(t)) {
        simd_lines(cta->smem, at, t->plane_rows, whole, p->stride);
        return true;
    }
    for (uint32_t r = 0; r < t->plane_rows; r++, at += t->pitch) {
        const uint8_t *from = NULL;
        if (r >= p->in && r < p->out) {
            const uint64_t further = (r - p->in) * p->stride;
            from = whole ? whole + further : tma_global(&l->op, p->addr + further, bytes, false);
            if (!from)
                return false;
        }
        if (from && as_it_is)
            scatter_row(cta, t, at, from);
        else
            load_row(cta, t, at, from);
    }
    return true;
}

static bool load_planes(const struct tile_load *l, const struct tile *t) {
    cover(l, t);
    for (uint32_t i = 0; i < t->planes; i++) {
        const struct plane p = tile_plane(t, i);
        if (!load_plane(l, t, l->place.off + i * t->plane_rows * t->pitch, &p))
            return false;
    }
    return true;
}

static bool run_load(struct async_op *op) {
    const struct tile_load *l = (const struct tile_load *)op;
    const struct tile *t = &l->tile;
    if (!tile_fits(op, t) || !tma_check_place(op, &l->place, tile_extent(t)) || !load_planes(l, t))
        return true;
    /* elements outside the tensor count as well as those inside; the padding of 4- and 6-bit types does not */
    tma_signal(op, &l->place, (uint32_t)t->rows * t->inner);
    return true;
}

static void describe_tile(const struct tile *t, struct event_work *work) {
    work->global = tile_plane(t, 0).addr;
    work->row = t->inner;
}

static void describe_box(const struct tile *t, struct event_work *work) {
    work->coord = t->box.coord;
    work->rank = t->box.rows4 ? TMAP_MAX_RANK : t->box.rank;
    work->map = t->box.map;
    if (t->laid)
        describe_tile(t, work);
}

static void describe_load(const struct async_op *op, struct event_work *work) {
    const struct tile_load *l = (const struct tile_load *)op;
    tma_describe_place(&l->place, tile_whole(&l->tile), work);
    describe_box(&l->tile, work);
}

static const struct async_kind load_kind = {AGENT_TMA, run_load, describe_load};

bool tma_issue_load(struct cta *cta, const struct mach_origin *origin, const struct tma_box *box,
                    const struct tma_target *to) {
    const char *name = "cp.async.bulk.tensor to shared memory";
    struct tma_place places[MACH_MAX_CLUSTER];
    uint32_t n;
    if (!tma_places(cta, origin, name, to, 128, places, &n))
        return false;
    struct tile tile;
    if (n)
        tile_read(cta->island->worker, box, &tile);
    for (uint32_t i = 0; i < n; i++) {
        struct tile_load *l = async_op_create(sizeof *l, &load_kind, name, cta, origin);
        l->tile = tile;
        l->tile.box.map = l->map; /* as it is now: wait_group lets its issuer change it (9.7.9.27.1.2, 9.7.9.27.2.2) */
        relaxed_read(l->map, box->map, sizeof l->map);
        l->place = places[i];
        async_lands(&l->op, places[i].cta, places[i].off, tile_whole(&tile));
        async_issue(tma_load_queue(cta), &l->op);
        if (i == 0)
            tma_tell_map(&l->op, box->map_address);
    }
    return true;
}

/* --- shared to global --------------------------------------------------------------------------------------------- */

struct tile_store {
    struct async_op op;
    struct tile to;
    uint32_t src;
    num_op reduce;
    struct tma_track *track;
};

struct tile_write {
    struct async_op op;
    struct tile tile;
    num_op reduce;
    enum tma_element element;
    struct tma_track *track;
    uint64_t follows; /* number of the operation that read the box */
    uint8_t rows[];   /* the box, row after row as in global memory */
};

/* Where a row is written, and in *bytes how much of it. Elements outside the tensor are not written, but memory is
 * written, and reduced, 16 bytes at a time: where a row ends inside such a chunk, the rest of the chunk takes part
 * (measured on an H200). Behind the end of an allocation that rest is left out. NULL after a fault. */
static uint8_t *written_row(struct tile_write *w, uint64_t addr, uint32_t *bytes) {
    uint8_t *to = mem_at(w->op.cta->gpu->mem, addr, *bytes);
    if (to)
        return to;
    *bytes = w->tile.hi - w->tile.lo;
    return tma_global(&w->op, addr, *bytes, true);
}

static bool write_plane(struct tile_write *w, const struct plane *p, const uint8_t *rows) {
    const struct tile *t = &w->tile;
    const uint32_t end = (t->hi + 15) & ~15u, most = (end < t->inner ? end : t->inner) - t->lo;
    const enum event_effect effect = w->reduce == NUM_OP_NONE ? EFFECT_WRITE : EFFECT_ATOMIC;
    uint8_t *whole = plane_at(&w->op, p, most);
    if (whole)
        tma_tell_global(&w->op, effect, p->addr, most, p->out - p->in, p->stride);
    if (whole && w->reduce == NUM_OP_NONE && most == t->inner &&
        simd_rows_away(whole, p->stride, p->out - p->in, rows + (size_t)p->in * most, most))
        return true;
    for (uint32_t r = p->in; r < p->out; r++) {
        const uint64_t further = (r - p->in) * p->stride;
        const uint8_t *from = rows + (size_t)r * t->inner + t->lo;
        uint32_t bytes = most;
        uint8_t *to = whole ? whole + further : written_row(w, p->addr + further, &bytes);
        if (!to)
            return false;
        if (!whole)
            tma_tell_global(&w->op, effect, p->addr + further, bytes, 1, 0);
        /* the next box mostly lies beside this one, each row in a page of its own; a number, as it may lie outside */
        const uintptr_t next = (uintptr_t)to + bytes;
        for (uintptr_t line = next; whole && line < next + bytes; line += 64)
            __builtin_prefetch((const void *)line, 1, 2);
        if (w->reduce == NUM_OP_NONE)
            relaxed_write(to, from, bytes);
        else
            tma_reduce_bytes(w->reduce, w->element, to, from, bytes);
    }
    return true;
}

static bool run_write(struct async_op *op) {
    struct tile_write *w = (struct tile_write *)op;
    const struct tile *t = &w->tile;
    for (uint32_t i = 0; i < t->planes; i++) {
        const struct plane p = tile_plane(t, i);
        if (!write_plane(w, &p, w->rows + (size_t)i * t->plane_rows * t->inner))
            return true;
    }
    w->track->writing--;
    return true;
}

static void describe_write(const struct async_op *op, struct event_work *work) {
    const struct tile_write *w = (const struct tile_write *)op;
    work->bytes = w->tile.rows * w->tile.inner;
    work->coord = w->tile.box.coord;
    work->rank = w->tile.m.rank;
    work->follows = w->follows;
    describe_tile(&w->tile, work);
}

static const struct async_kind write_kind = {AGENT_TMA, run_write, describe_write};

/* Are the bytes of the row's chunk [to, to + unit) that the tensor gets written? `used`: the row lies inside. */
static bool chunk_written(const struct tile_store *s, const struct tile *t, bool used, uint32_t to, uint32_t from,
                          bool flip) {
    uint32_t lo = 0, hi = 16;
    if (!used || t->hi <= to || t->lo >= to + t->unit)
        return true;
    if (t->unit == 16 && !flip) { /* only what lies inside the tensor must be written */
        lo = t->lo > to ? t->lo - to : 0;
        hi = t->hi < to + 16 ? t->hi - to : 16;
    }
    if (!smem_poisoned(s->op.cta, from + lo, hi - lo))
        return true;
    tma_fault_poison(&s->op, from + lo);
    return false;
}

/* The row at shared offset `at` out of its chunks; `row` takes t->inner bytes. `clean`: all of the box is known to be
 * written. False at bytes never written that the tensor would get. */
static bool gather_row(const struct tile_store *s, const struct tile *t, uint32_t at, bool used, bool clean,
                       uint8_t *row) {
    const uint8_t *smem = s->op.cta->smem;
    for (uint32_t c = 0, to = 0; c < t->width; c += 16, to += t->unit) {
        const uint32_t from = simd_swizzled(&t->swizzle, at + c);
        const bool flip = flipped(t->m.swizzle, at + c);
        if (!clean && !chunk_written(s, t, used, to, from, flip))
            return false;
        if (t->unit == 12)
            tmap_pack6(smem + from, row + to);
        else if (flip) {
            memcpy(row + to, smem + from + 8, 8);
            memcpy(row + to + 8, smem + from, 8);
        } else
            memcpy(row + to, smem + from, 16);
    }
    return true;
}

static bool gather_rows(const struct tile_store *s, const struct tile *t, uint8_t *rows) {
    const bool clean = tile_dense(t) && !smem_poisoned(s->op.cta, s->src, (uint32_t)tile_bytes(t));
    uint32_t at = s->src;
    if (clean && is_lines(t)) {
        simd_lines_out(rows, s->op.cta->smem, at, t->rows);
        return true;
    }
    for (uint32_t i = 0; i < t->planes; i++) {
        const struct plane p = tile_plane(t, i);
        for (uint32_t r = 0; r < t->plane_rows; r++, at += t->pitch, rows += t->inner)
            if (!gather_row(s, t, at, r >= p.in && r < p.out, clean, rows))
                return false;
    }
    return true;
}

DIAG(no_reduction) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "tensor-reduce-type", "9.7.9.27.1.3"),
    .rule = "only some element types of the tensor map have this reduction",
    .reason = "the unit has no such operation.",
};

static bool check_store(const struct tile_store *s, const struct tile *t) {
    if (!tile_check_store(&s->op, t))
        return false;
    if (s->reduce == NUM_OP_NONE || tma_reduce_exists(s->reduce, tma_element_of(t->m.type, s->reduce), false, true))
        return true;
    return mach_fails(s->op.cta->island, &s->op.origin, &no_reduction, "%s: no such reduction for elements of type %s",
                      s->op.name, tmap_type_name(t->m.type));
}

static bool run_store(struct async_op *op) {
    struct tile_store *s = (struct tile_store *)op;
    const struct tile *t = &s->to;
    const struct tma_box box = t->box;
    tile_read(op->cta->island->worker, &box, &s->to); /* as the map is now */
    if (!tile_fits(op, t) || !tma_check_source(op, s->src, tile_extent(t)) || !check_store(s, t))
        return true;
    struct tile_write *w =
        async_op_create_with(sizeof *w, (size_t)t->rows * t->inner, &write_kind, op->name, op->cta, &op->origin);
    w->follows = op->number;
    w->tile = *t;
    w->reduce = s->reduce;
    w->element = tma_element_of(t->m.type, s->reduce);
    w->track = s->track;
    if (!gather_rows(s, t, w->rows)) {
        async_op_free(&w->op);
        return true;
    }
    async_issue(tma_store_queue(op->cta), &w->op);
    s->track->reading--;
    return true;
}

static void describe_store(const struct async_op *op, struct event_work *work) {
    const struct tile_store *s = (const struct tile_store *)op;
    work->bytes = op->src_bytes;
    work->from = op->cta;
    work->from_off = s->src;
    describe_box(&s->to, work);
}

static const struct async_kind store_kind = {AGENT_TMA, run_store, describe_store};

bool tma_issue_store(struct cta *cta, const struct mach_origin *origin, const struct tma_box *box, uint32_t src,
                     num_op reduce, struct tma_track *track) {
    const char *name = reduce == NUM_OP_NONE ? "cp.async.bulk.tensor to global memory" : "cp.reduce.async.bulk.tensor";
    uint32_t off;
    if (!tma_source(cta, origin, name, src, 128, &off))
        return false;
    struct tile_store *s = async_op_create(sizeof *s, &store_kind, name, cta, origin);
    tile_read(cta->island->worker, box, &s->to);
    s->src = off;
    async_reads(&s->op, off, tile_whole(&s->to));
    s->reduce = reduce;
    s->track = track;
    track->reading++;
    track->writing++;
    async_issue(tma_store_queue(cta), &s->op);
    tma_tell_map(&s->op, box->map_address);
    return true;
}
