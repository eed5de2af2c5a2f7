/* replace: which bytes of a tensor map tensormap.replace changes (PTX ISA 9.7.9.28), on the device behind libcuda.so.1:
 * each field with values at its ends, in shared and in global memory, of a map, of zeros, of ones and of seeded bytes.
 * A line
 *
 *   SPACE.OF.FIELD.VALUE COUNT HASH WORDS...
 *
 * has the 16 words of the map afterwards (record.h). Values are those that the field can hold.
 */
#include "driver.h"
#include "values.h"

enum { MAP_WORDS = 16 };

/* What a field takes: from a register `values`, or the immediate that is its text's last word. */
static const uint64_t ADDRESSES[] = {0, 16, 0x7f3502000000, 0xfffffffffffffff0, 0x8000000000000008};
static const uint64_t RANKS[] = {0, 1, 2, 3, 4};
static const uint64_t BOXES[] = {1, 2, 64, 128, 255, 256};
static const uint64_t DIMS[] = {0, 1, 2, 1000, 0x7fffffff, 0x80000000, 0xffffffff};
static const uint64_t STRIDES[] = {0, 16, 0x12345670, 0xffffffff0, 0x1000000000, 0xedcba98760, 0xfffffffff0};
static const uint64_t STEPS[] = {1, 2, 3, 4, 5, 6, 7, 8};

#define VALUES(v) v, sizeof v / sizeof *v
static const struct Field {
    const char *name;
    bool wide;
    unsigned ordinals; /* 0: none */
    const uint64_t *values;
    unsigned count;
    unsigned immediates; /* 0 to this, in place of the values */
} FIELDS[] = {
    {"global_address", true, 0, VALUES(ADDRESSES), 0},
    {"rank", false, 0, VALUES(RANKS), 0},
    {"box_dim", false, 5, VALUES(BOXES), 0},
    {"global_dim", false, 5, VALUES(DIMS), 0},
    {"global_stride", true, 4, VALUES(STRIDES), 0},
    {"element_stride", false, 5, VALUES(STEPS), 0},
    {"elemtype", false, 0, NULL, 0, 13},
    {"interleave_layout", false, 0, NULL, 0, 3},
    {"swizzle_mode", false, 0, NULL, 0, 4},
    {"fill_mode", false, 0, NULL, 0, 2},
};
enum { FIELD_COUNT = sizeof FIELDS / sizeof *FIELDS };

typedef struct Bench {
    Driver driver;
    Record record;
    Handle function;
    DevicePtr map;
} Bench;

/* --- the kernel --------------------------------------------------------------------------------------------------- */

/* One instruction for each field, ordinal, immediate and space, chosen by `op`. */
static void put_arms(FILE *o) {
    unsigned op = 0;
    for (unsigned i = 0; i < FIELD_COUNT; i++) {
        const struct Field *f = &FIELDS[i];
        const unsigned forms = f->immediates ? f->immediates : f->ordinals ? f->ordinals : 1;
        for (unsigned k = 0; k < forms; k++)
            for (unsigned global = 0; global < 2; global++, op++) {
                fprintf(o, "    setp.ne.u32 %%p1, %%op, %u;\n    @%%p1 bra past%u;\n", op, op);
                fprintf(o, "    tensormap.replace.tile.%s.%s.b1024.b%u [%s], ", f->name,
                        global ? "global" : "shared::cta", f->wide ? 64 : 32, global ? "%map" : "room");
                if (f->ordinals || f->immediates)
                    fprintf(o, "%u%s", k, f->ordinals ? ", " : "");
                fprintf(o, "%s;\npast%u:\n", f->immediates ? "" : f->wide ? "%value" : "%low", op);
            }
    }
}

/* The map goes to shared memory, is changed there or where it is, and comes back from the place of the change. */
static char *make_ptx(unsigned major) {
    char *text = NULL;
    size_t size;
    FILE *o = checked(open_memstream(&text, &size));
    fprintf(o,
            ".version 8.7\n.target sm_%u0a\n.address_size 64\n"
            ".visible .entry replace(.param .u64 at, .param .u64 number, .param .u32 which)\n{\n"
            "    .reg .pred %%p<3>;\n    .reg .b32 %%r<4>, %%op, %%low;\n    .reg .b64 %%x<3>, %%map, %%value;\n"
            "    .shared .align 128 .b8 room[128];\n"
            "    ld.param.u64 %%map, [at];\n    ld.param.u64 %%value, [number];\n    cvt.u32.u64 %%low, %%value;\n"
            "    ld.param.u32 %%op, [which];\n    mov.u32 %%r0, %%tid.x;\n    mul.wide.u32 %%x0, %%r0, 4;\n"
            "    add.u64 %%x0, %%x0, %%map;\n    mov.u32 %%r1, room;\n    shl.b32 %%r2, %%r0, 2;\n"
            "    add.u32 %%r1, %%r1, %%r2;\n    ld.global.u32 %%r3, [%%x0];\n    st.shared.u32 [%%r1], %%r3;\n"
            "    bar.warp.sync -1;\n    setp.ne.u32 %%p0, %%r0, 0;\n    @%%p0 bra changed;\n",
            major);
    put_arms(o);
    fprintf(o, "changed:\n    bar.warp.sync -1;\n    and.b32 %%r2, %%op, 1;\n    setp.ne.u32 %%p2, %%r2, 0;\n"
               "    @%%p2 bra done;\n    ld.shared.u32 %%r3, [%%r1];\n    st.global.u32 [%%x0], %%r3;\ndone:\n"
               "    ret;\n}\n");
    if (fclose(o))
        die("memory", "there is none left");
    return text;
}

/* --- cases -------------------------------------------------------------------------------------------------------- */

typedef Result (*EncodeTiled)(void *map, unsigned type, uint32_t rank, uintptr_t at, const uint64_t *dims,
                              const uint64_t *strides, const uint32_t *box, const uint32_t *steps, unsigned interleave,
                              unsigned swizzle, unsigned l2, unsigned fill);

enum { OF_MAP, OF_ZEROS, OF_ONES, OF_NOISE, OFS };

static void make_map(const Bench *b, unsigned of, uint64_t *map) {
    static const uint64_t dims[] = {1000, 300, 70, 50, 30}, strides[] = {8000, 2400000, 168000000, 8400000000};
    static const uint32_t box[] = {8, 6, 5, 3, 2}, steps[] = {2, 3, 1, 8, 5};
    const EncodeTiled encode = (EncodeTiled)(uintptr_t)driver_call(&b->driver, "cuTensorMapEncodeTiled");
    uint64_t seed = 20261124;
    for (unsigned i = 0; i < MAP_WORDS; i++)
        map[i] = of == OF_NOISE ? draw(&seed) : of == OF_ONES ? UINT64_MAX : 0;
    if (of == OF_MAP && encode(map, 11, 5, 0x7f3502001230, dims, strides, box, steps, 0, 1, 2, 1))
        die("cuTensorMapEncodeTiled", "the map");
}

static void replace_case(Bench *b, const char *name, unsigned of, unsigned op, uint64_t value) {
    _Alignas(64) uint64_t map[MAP_WORDS];
    void *params[] = {&b->map, &value, &op};
    if (!wanted(&b->record, name))
        return;
    make_map(b, of, map);
    if (b->driver.memcpy_h_to_d(b->map, map, sizeof map) ||
        b->driver.launch(b->function, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL) || b->driver.ctx_sync() ||
        b->driver.memcpy_d_to_h(map, b->map, sizeof map))
        die(name, "the kernel failed");
    put_outputs(&b->record, name, NULL, map, MAP_WORDS);
}

static void all_cases(Bench *b) {
    static const char *const ofs[OFS] = {"map", "zeros", "ones", "noise"};
    unsigned op = 0;
    for (unsigned i = 0; i < FIELD_COUNT; i++) {
        const struct Field *f = &FIELDS[i];
        const unsigned forms = f->immediates ? f->immediates : f->ordinals ? f->ordinals : 1;
        for (unsigned k = 0; k < forms; k++)
            for (unsigned global = 0; global < 2; global++, op++)
                for (unsigned of = 0; of < OFS; of++)
                    for (unsigned v = 0; v < (f->immediates ? 1 : f->count); v++) {
                        const uint64_t value = f->immediates ? k : f->values[v];
                        char name[96], ordinal[12] = "";
                        if (f->ordinals)
                            snprintf(ordinal, sizeof ordinal, "%u", k);
                        snprintf(name, sizeof name, "%s.%s.%s%s.%" PRIx64, global ? "global" : "shared", ofs[of],
                                 f->name, ordinal, value);
                        replace_case(b, name, of, op, value);
                    }
    }
}

int main(int argc, char **argv) {
    Bench b = {.record = open_record(argc, argv), .driver = open_driver()};
    Result (*attribute)(int *, int, int) =
        (Result(*)(int *, int, int))(uintptr_t)driver_call(&b.driver, "cuDeviceGetAttribute");
    Handle module;
    int major;
    if (attribute(&major, 75, b.driver.device)) /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR */
        die("cuDeviceGetAttribute", "no compute capability");
    open_context(&b.driver);
    char *ptx = make_ptx((unsigned)major);
    if (b.driver.module_load(&module, ptx) || b.driver.module_function(&b.function, module, "replace"))
        die("cuModuleLoadData", "the kernel");
    if (b.driver.mem_alloc(&b.map, sizeof(uint64_t[MAP_WORDS])))
        die("cuMemAlloc", "no memory");
    all_cases(&b);
    free(ptx);
    return close_record(&b.record);
}
