/* host_tensormap.h - cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col and cuTensorMapReplaceAddress: the rules of
 * cuda.h, each broken alone, and each limit from both sides. A case is named by what is changed of a good map:
 *
 *   rank=2,swizzle=3,box0=64      fields, `pointer` the address itself, `address` what is added to a good one,
 *                                 `map` what is added to the place of the map, `null` which argument is a null pointer:
 *                                 1 map, 2 dims, 3 strides, 4 box, 5 steps (im2col: 4 lower, 6 upper corner)
 *
 * The 128 bytes of a map are compared by encode.c.
 */
#ifndef TESTS_SILICON_HOST_TENSORMAP_H
#define TESTS_SILICON_HOST_TENSORMAP_H

#include "host_calls.h"

/* Of 64-bit numbers alone, so that a change finds its field by a name in a table. */
typedef struct Map {
    uint64_t type, rank, address, pointer, dim[5], stride[4], box[5], step[5], interleave, swizzle, l2, fill, null, map;
    uint64_t lower[3], upper[3], channels, pixels;
} Map;

/* Three-dimensional of f16; the fields beyond are for a higher rank. */
static const Map GOOD_MAP = {
    .type = 6,
    .rank = 3,
    .pointer = UINT64_MAX,
    .dim = {64, 32, 8, 4, 2},
    .stride = {128, 4096, 32768, 131072},
    .box = {64, 8, 2, 1, 1},
    .step = {1, 1, 1, 1, 1},
    .channels = 16,
    .pixels = 16,
};

static const struct MapField {
    const char *name;
    size_t at;
    unsigned count;
} MAP_FIELDS[] = {
    {"type", offsetof(Map, type), 1},
    {"rank", offsetof(Map, rank), 1},
    {"address", offsetof(Map, address), 1},
    {"pointer", offsetof(Map, pointer), 1},
    {"dim", offsetof(Map, dim), 5},
    {"stride", offsetof(Map, stride), 4},
    {"box", offsetof(Map, box), 5},
    {"step", offsetof(Map, step), 5},
    {"interleave", offsetof(Map, interleave), 1},
    {"swizzle", offsetof(Map, swizzle), 1},
    {"l2", offsetof(Map, l2), 1},
    {"fill", offsetof(Map, fill), 1},
    {"null", offsetof(Map, null), 1},
    {"map", offsetof(Map, map), 1},
    {"lower", offsetof(Map, lower), 3},
    {"upper", offsetof(Map, upper), 3},
    {"channels", offsetof(Map, channels), 1},
    {"pixels", offsetof(Map, pixels), 1},
};

/* One `field=value`, up to a comma or the end. */
static void change_field(Map *m, const char *text) {
    for (size_t i = 0; i < sizeof MAP_FIELDS / sizeof *MAP_FIELDS; i++) {
        const struct MapField *f = &MAP_FIELDS[i];
        const size_t length = strlen(f->name);
        if (strncmp(text, f->name, length))
            continue;
        const char *p = text + length;
        const unsigned index = f->count > 1 && *p >= '0' && *p <= '9' ? (unsigned)(*p++ - '0') : 0;
        if (*p != '=' || index >= f->count)
            continue;
        const uint64_t value = strtoull(p + 1, NULL, 0);
        memcpy((char *)m + f->at + 8 * index, &value, sizeof value);
        return;
    }
    die("no field of a tensor map", text);
}

static Map changed_map(const char *changes) {
    Map m = GOOD_MAP;
    for (const char *p = changes; *p && strcmp(p, "good"); p = strchr(p, ',') + 1) {
        change_field(&m, p);
        if (!strchr(p, ','))
            break;
    }
    return m;
}

/* A map in the types of the call. */
typedef struct Arguments {
    uint64_t dims[5], strides[4];
    uint32_t box[5], steps[5];
    int lower[3], upper[3];
    void *address, *place;
} Arguments;

static void make_arguments(const Map *m, DevicePtr memory, char *room, Arguments *a) {
    memcpy(a->dims, m->dim, sizeof a->dims);
    memcpy(a->strides, m->stride, sizeof a->strides);
    for (unsigned i = 0; i < 5; i++) {
        a->box[i] = (uint32_t)m->box[i];
        a->steps[i] = (uint32_t)m->step[i];
    }
    for (unsigned i = 0; i < 3; i++) {
        a->lower[i] = (int)m->lower[i];
        a->upper[i] = (int)m->upper[i];
    }
    a->address = (void *)(uintptr_t)(m->pointer != UINT64_MAX ? m->pointer : memory + m->address);
    a->place = m->null == 1 ? NULL : room + m->map;
}

static Result encode_tiled(const Host *h, const Map *m, DevicePtr memory, char *room) {
    Arguments a;
    make_arguments(m, memory, room, &a);
    return h->cuTensorMapEncodeTiled(a.place, (int)m->type, (unsigned)m->rank, a.address, m->null == 2 ? NULL : a.dims,
                                     m->null == 3 ? NULL : a.strides, m->null == 4 ? NULL : a.box,
                                     m->null == 5 ? NULL : a.steps, (int)m->interleave, (int)m->swizzle, (int)m->l2,
                                     (int)m->fill);
}

static Result encode_im2col(const Host *h, const Map *m, DevicePtr memory, char *room) {
    Arguments a;
    make_arguments(m, memory, room, &a);
    return h->cuTensorMapEncodeIm2col(a.place, (int)m->type, (unsigned)m->rank, a.address, m->null == 2 ? NULL : a.dims,
                                      m->null == 3 ? NULL : a.strides, m->null == 4 ? NULL : a.lower,
                                      m->null == 6 ? NULL : a.upper, (unsigned)m->channels, (unsigned)m->pixels,
                                      m->null == 5 ? NULL : a.steps, (int)m->interleave, (int)m->swizzle, (int)m->l2,
                                      (int)m->fill);
}

static const char *const TILED[] = {
    "good",
    /* rank, null pointers, the map's own place */
    "rank=0",
    "rank=1",
    "rank=2",
    "rank=4",
    "rank=5",
    "rank=6",
    "null=1",
    "null=2",
    "null=3",
    "null=3,rank=1",
    "null=4",
    "null=5",
    "map=32",
    "map=16",
    "map=8",
    "map=1",
    /* the tensor's address: 16 bytes, 32 with the interleaved layout of 32; below 2^57 */
    "pointer=0",
    "pointer=0x1000",
    "address=1",
    "address=4",
    "address=8",
    "address=16",
    "address=32",
    "address=16,interleave=1",
    "address=16,interleave=2,swizzle=1",
    "address=32,interleave=2,swizzle=1",
    "pointer=0x00fffffffffffff0",
    "pointer=0x0100000000000000",
    "pointer=0x01fffffffffffff0",
    "pointer=0x0200000000000000",
    "pointer=0xfffffffffffffff0",
    /* dimensions: 1 to 2^32 */
    "dim0=0",
    "dim0=1",
    "dim0=63",
    "dim0=4294967295",
    "dim0=4294967296",
    "dim0=4294967297",
    "dim1=0",
    "dim1=1",
    "dim1=4294967296",
    "dim1=4294967297",
    "dim2=0",
    "dim2=4294967296",
    "dim2=4294967297",
    "dim2=0xffffffffffffffff",
    "dim3=0",
    "rank=5,dim4=0",
    "rank=5,dim4=4294967296",
    "rank=5,dim4=4294967297",
    /* strides: multiples of 16 (32), below 2^40; they may overlap */
    "stride0=0",
    "stride0=8",
    "stride0=16",
    "stride0=112",
    "stride0=120",
    "stride0=136",
    "stride0=144",
    "stride0=0xfffffffff0",
    "stride0=0x10000000000",
    "stride0=0xfffffffffffffff0",
    "stride1=0",
    "stride1=16",
    "stride1=4080",
    "stride1=4104",
    "stride1=0xfffffffff0",
    "stride1=0x10000000000",
    "stride2=8",
    "rank=5,stride3=131080",
    "rank=5,stride3=0xfffffffff0",
    "rank=5,stride3=0x10000000000",
    "interleave=1,stride0=144",
    "interleave=2,swizzle=1,stride0=144",
    "interleave=2,swizzle=1,stride0=160",
    "interleave=2,swizzle=1,stride1=4112",
    /* the box: 1 to 256 elements, rows of whole 16 bytes, no more than shared memory holds */
    "box0=0",
    "box0=1",
    "box0=4",
    "box0=8",
    "box0=12",
    "box0=24",
    "box0=72",
    "box0=256",
    "box0=257",
    "box0=264",
    "box0=4294967295",
    "box1=0",
    "box1=33",
    "box1=256",
    "box1=257",
    "box2=0",
    "box2=256",
    "box2=257",
    "box3=0",
    "rank=5,box4=0",
    "rank=5,box4=256",
    "rank=5,box4=257",
    "box0=256,box1=228,box2=2",
    "box0=256,box1=229,box2=2",
    "box0=256,box1=256,box2=2",
    "box0=256,box1=256,box2=4,step1=8",
    "interleave=1,box0=8",
    "interleave=1,box0=4",
    "interleave=2,swizzle=1,box0=8",
    "interleave=2,swizzle=1,box0=16",
    "interleave=2,swizzle=1,box0=24",
    /* traversal strides: 1 to 8 */
    "step0=0",
    "step0=2",
    "step0=8",
    "step0=9",
    "step1=0",
    "step1=2",
    "step1=8",
    "step1=9",
    "step1=4294967295",
    "step2=0",
    "step2=3",
    "step2=9",
    "step3=0",
    "step1=8,box1=4",
    "rank=5,step4=0",
    "rank=5,step4=9",
    "interleave=1,step0=2",
    "interleave=1,step0=9",
    /* types; 13 to 15 are packed types of sm_100 */
    "type=0",
    "type=1",
    "type=2",
    "type=3",
    "type=4",
    "type=5",
    "type=7",
    "type=8",
    "type=9",
    "type=10",
    "type=11",
    "type=12",
    "type=13",
    "type=14,dim0=128,box0=128",
    "type=15,dim0=128,box0=128",
    "type=16",
    "type=4294967295",
    "type=0,box0=8",
    "type=0,box0=16",
    "type=4,box0=1",
    "type=4,box0=2",
    "type=8,box0=256,box1=57,box2=2",
    "type=8,box0=256,box1=58,box2=2",
    /* swizzles: a row of the box is no longer than the swizzle's span, but for interleaved layouts */
    "swizzle=1",
    "swizzle=1,box0=8",
    "swizzle=1,box0=16",
    "swizzle=1,box0=24",
    "swizzle=2",
    "swizzle=2,box0=8",
    "swizzle=2,box0=32",
    "swizzle=2,box0=40",
    "swizzle=3",
    "swizzle=3,box0=8",
    "swizzle=3,box0=72",
    "swizzle=3,type=0,box0=128",
    "swizzle=3,type=0,box0=144",
    "swizzle=3,type=8,box0=16",
    "swizzle=3,type=8,box0=18",
    "swizzle=4",
    "swizzle=5",
    "swizzle=6",
    "swizzle=4,box0=72",
    "swizzle=7",
    "swizzle=8",
    "swizzle=4294967295",
    /* interleaved layouts */
    "interleave=1",
    "interleave=1,rank=1",
    "interleave=1,rank=2",
    "interleave=1,rank=5",
    "interleave=1,swizzle=1",
    "interleave=1,swizzle=2",
    "interleave=1,swizzle=3",
    "interleave=2",
    "interleave=2,rank=2,swizzle=1",
    "interleave=2,swizzle=1",
    "interleave=2,swizzle=2",
    "interleave=2,swizzle=3",
    "interleave=3",
    "interleave=4294967295",
    /* L2 promotion, fill: NaN for floating-point types alone */
    "l2=1",
    "l2=2",
    "l2=3",
    "l2=4",
    "l2=4294967295",
    "fill=1",
    "fill=2",
    "fill=4294967295",
    "fill=1,type=0",
    "fill=1,type=1",
    "fill=1,type=2",
    "fill=1,type=3",
    "fill=1,type=4",
    "fill=1,type=5",
    "fill=1,type=7",
    "fill=1,type=8",
    "fill=1,type=9",
    "fill=1,type=10",
    "fill=1,type=11",
    "fill=1,type=12",
    /* two rules at once */
    "rank=0,null=1",
    "swizzle=1,fill=1,type=0",
};

static const char *const IM2COL[] = {
    "rank=4",
    "rank=3",
    "rank=2",
    "rank=5",
    "rank=6",
    "rank=4,null=1",
    "rank=4,channels=0",
    "rank=4,channels=256",
    "rank=4,channels=257",
    "rank=4,channels=4",
    "rank=4,pixels=0",
    "rank=4,pixels=1024",
    "rank=4,pixels=1025",
    "rank=4,lower0=0xffffffffffffff80",
    "rank=4,lower0=0xffffffffffffff7f",
    "rank=4,upper0=127",
    "rank=4,upper0=128",
    "rank=4,upper0=31",
    "rank=4,upper0=32",
    "rank=4,swizzle=1",
    "rank=4,swizzle=1,channels=32",
    "rank=4,step1=9",
    "rank=4,fill=1,type=0",
};

static void replace_address(Host *h, DevicePtr memory, char *room) {
    const struct {
        const char *name;
        uint64_t pointer; /* below 4096: added to the memory's */
        const char *changes;
    } cases[] = {
        {"replace.same", 0, "good"},
        {"replace.16", 16, "good"},
        {"replace.8", 8, "good"},
        {"replace.1", 1, "good"},
        {"replace.16,interleave=1", 16, "interleave=1"},
        {"replace.16,interleave=2,swizzle=1", 16, "interleave=2,swizzle=1"},
        {"replace.32,interleave=2,swizzle=1", 32, "interleave=2,swizzle=1"},
        {"replace.0x01fffffffffffff0", 0x01fffffffffffff0, "good"},
        {"replace.0x0200000000000000", 0x0200000000000000, "good"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Map m = changed_map(cases[i].changes);
        const uint64_t at = cases[i].pointer < 4096 ? memory + cases[i].pointer : cases[i].pointer;
        must(h, encode_tiled(h, &m, memory, room), "cuTensorMapEncodeTiled");
        said(h, cases[i].name, h->cuTensorMapReplaceAddress(room, (void *)(uintptr_t)at));
    }
    const Map m = GOOD_MAP;
    must(h, encode_tiled(h, &m, memory, room), "cuTensorMapEncodeTiled");
    said(h, "replace.null", h->cuTensorMapReplaceAddress(room, NULL));
    memset(room, 0, 128);
    said(h, "replace.zeros", h->cuTensorMapReplaceAddress(room, (void *)(uintptr_t)memory));
}

static void tensormap(Host *h, const void *detail) {
    static _Alignas(128) char room[256];
    DevicePtr memory = 0;
    char name[128];
    (void)detail;
    const Map good = GOOD_MAP;
    said(h, "before_cuInit", encode_tiled(h, &good, 0x10000, room));
    must(h, h->cuInit(0), "cuInit");
    said(h, "without_context", encode_tiled(h, &good, 0x10000, room));
    with_context(h);
    must(h, h->cuMemAlloc_v2(&memory, 1 << 21), "cuMemAlloc");
    for (size_t i = 0; i < sizeof TILED / sizeof *TILED; i++) {
        const Map m = changed_map(TILED[i]);
        snprintf(name, sizeof name, "tiled.%s", TILED[i]);
        said(h, name, encode_tiled(h, &m, memory, room));
    }
    for (size_t i = 0; i < sizeof IM2COL / sizeof *IM2COL; i++) {
        const Map m = changed_map(IM2COL[i]);
        snprintf(name, sizeof name, "im2col.%s", IM2COL[i]);
        said(h, name, encode_im2col(h, &m, memory, room));
    }
    replace_address(h, memory, room);
}

#endif
