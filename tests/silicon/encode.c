/* encode: the 128 bytes that cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col write, and what
 * cuTensorMapReplaceAddress changes in them, by the driver behind libcuda.so.1 (a GPU's, or the emulator's under its
 * launcher). A line is a call:
 *
 *   NAME error CODE
 *   NAME WORDS...      the map's 64-bit words from the second on without the zeros at its end; the first is the address
 *
 * The name tells all arguments: FAMILY.TYPE.RANKd.DIMS+STRIDES.bBOX@ADDRESS, then what is not usual. All addresses are
 * numbers of no memory: no driver looks there. record.h has the options.
 */
#include "driver.h"
#include "values.h"

enum { MAX_RANK = 5, MAP_WORDS = 16 };
enum { U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16, F32_FTZ, TF32, TF32_FTZ, TYPES };

/* The numbers of cuda.h. */
static const struct {
    const char *name;
    unsigned size;
    bool is_float;
} ELEMENTS[] = {{"u8", 1, false},    {"u16", 2, false}, {"u32", 4, false},   {"s32", 4, false}, {"u64", 8, false},
                {"s64", 8, false},   {"f16", 2, true},  {"f32", 4, true},    {"f64", 8, true},  {"bf16", 2, true},
                {"f32ftz", 4, true}, {"tf32", 4, true}, {"tf32ftz", 4, true}};
_Static_assert(sizeof ELEMENTS / sizeof *ELEMENTS == TYPES, "a row a type");

typedef struct Args {
    unsigned type, rank, interleave, swizzle, l2, fill;
    uint64_t address, dim[MAX_RANK], stride[MAX_RANK - 1];
    uint32_t box[MAX_RANK], step[MAX_RANK];
    bool im2col;
    int lower[3], upper[3];
    uint32_t channels, pixels;
} Args;

typedef struct Bench {
    Driver driver;
    Record record;
    Result (*tiled)(void *map, unsigned type, uint32_t rank, uintptr_t at, const uint64_t *dims,
                    const uint64_t *strides, const uint32_t *box, const uint32_t *steps, unsigned interleave,
                    unsigned swizzle, unsigned l2, unsigned fill);
    Result (*im2col)(void *map, unsigned type, uint32_t rank, uintptr_t at, const uint64_t *dims,
                     const uint64_t *strides, const int *lower, const int *upper, uint32_t channels, uint32_t pixels,
                     const uint32_t *steps, unsigned interleave, unsigned swizzle, unsigned l2, unsigned fill);
    Result (*replace_address)(void *map, uintptr_t at);
} Bench;

/* --- a case ------------------------------------------------------------------------------------------------------- */

#define PUT_LIST(o, lead, format, list, count, join)                                                                   \
    for (unsigned i_ = 0; i_ < (count); i_++)                                                                          \
    fprintf(o, "%s" format, i_ ? (join) : (lead), (list)[i_])

static bool any_but_1(const uint32_t *v, unsigned count) {
    bool any = false;
    for (unsigned i = 0; i < count; i++)
        any = any || v[i] != 1;
    return any;
}

static void put_name(char *name, size_t size, const char *family, const Args *a) {
    FILE *o = checked(fmemopen(name, size, "w"));
    const unsigned rank = a->rank < MAX_RANK ? a->rank : MAX_RANK;
    fprintf(o, "%s.%s.%ud", family, a->type < TYPES ? ELEMENTS[a->type].name : "none", a->rank);
    PUT_LIST(o, ".", "%" PRIu64, a->dim, rank, "x");
    PUT_LIST(o, "+", "%" PRIx64, a->stride, rank ? rank - 1 : 0, "+");
    if (a->im2col) {
        PUT_LIST(o, ".", "%d", a->lower, rank > 2 ? rank - 2 : 0, ",");
        PUT_LIST(o, "..", "%d", a->upper, rank > 2 ? rank - 2 : 0, ",");
        fprintf(o, ".c%u.p%u", a->channels, a->pixels);
    } else {
        PUT_LIST(o, ".b", "%u", a->box, rank, "x");
    }
    if (any_but_1(a->step, rank))
        PUT_LIST(o, ".e", "%u", a->step, rank, "x");
    if (a->interleave)
        fprintf(o, ".i%u", a->interleave);
    if (a->swizzle)
        fprintf(o, ".s%u", a->swizzle);
    if (a->l2)
        fprintf(o, ".l%u", a->l2);
    if (a->fill)
        fprintf(o, ".n%u", a->fill);
    if (a->type > TYPES)
        fprintf(o, ".t%u", a->type);
    fprintf(o, "@%" PRIx64, a->address);
    fclose(o);
}

/* The words of a map from `first` on, without the zeros at its end. */
static void put_map(Bench *b, const char *name, const char *apart, const uint64_t *map, unsigned first) {
    char text[MAP_WORDS * 17 + 1] = "";
    unsigned end = MAP_WORDS;
    while (end > first + 1 && !map[end - 1])
        end--;
    for (unsigned i = first, at = 0; i < end; i++)
        at += (unsigned)snprintf(text + at, sizeof text - at, "%s%" PRIx64, i > first ? " " : "", map[i]);
    put_words(&b->record, name, apart, "%s", text);
}

static const char REFUSED[] = "im2col tensor maps are refused by name";

static Result encode(const Bench *b, const Args *a, uint64_t *map) {
    if (a->im2col)
        return b->im2col(map, a->type, a->rank, a->address, a->dim, a->stride, a->lower, a->upper, a->channels,
                         a->pixels, a->step, a->interleave, a->swizzle, a->l2, a->fill);
    return b->tiled(map, a->type, a->rank, a->address, a->dim, a->stride, a->box, a->step, a->interleave, a->swizzle,
                    a->l2, a->fill);
}

static void encode_case(Bench *b, const char *family, const Args *a) {
    static _Alignas(64) uint64_t map[MAP_WORDS];
    char name[320];
    put_name(name, sizeof name, family, a);
    if (!wanted(&b->record, name))
        return;
    memset(map, 0xa5, sizeof map);
    const char *apart = a->im2col ? REFUSED : NULL;
    const Result e = encode(b, a, map);
    if (e)
        put_words(&b->record, name, apart, "error %d", e);
    else
        put_map(b, name, apart, map, map[0] == a->address);
}

/* --- one field after the other ------------------------------------------------------------------------------------ */

/* Five dimensions and a box of `inner` bytes along the first, with every field other than the next. */
static Args args_of(unsigned type, unsigned rank, unsigned inner) {
    return (Args){.type = type,
                  .rank = rank,
                  .address = UINT64_C(0x7f3502000000),
                  .dim = {1000, 300, 70, 50, 30},
                  .stride = {8000, 2400000, 168000000, 8400000000},
                  .box = {inner / ELEMENTS[type].size, 6, 5, 3, 2},
                  .step = {1, 1, 1, 1, 1},
                  .lower = {-1, -1, -1},
                  .upper = {-1, -1, -1},
                  .channels = inner / ELEMENTS[type].size,
                  .pixels = 40};
}

static void types(Bench *b) {
    for (unsigned type = 0; type < TYPES; type++)
        for (unsigned rank = 1; rank <= MAX_RANK; rank++)
            for (unsigned swizzle = 0; swizzle < 4; swizzle++)
                for (unsigned inner = 16; inner <= 128; inner *= 2) {
                    Args a = args_of(type, rank, inner);
                    a.swizzle = swizzle;
                    encode_case(b, "type", &a);
                }
}

static void flags(Bench *b) {
    for (unsigned type = 0; type < TYPES; type++)
        for (unsigned l2 = 0; l2 <= 4; l2++)
            for (unsigned fill = 0; fill < 3; fill++) {
                Args a = args_of(type, 2 + l2 % 3, 32);
                a.l2 = l2;
                a.fill = fill;
                a.swizzle = fill;
                encode_case(b, "flags", &a);
            }
}

/* INTERLEAVE_32B with another swizzle than 32B is the driver's own (host_apart.h), and left out. */
static void interleaves(Bench *b) {
    for (unsigned type = 0; type < TYPES; type++)
        for (unsigned rank = 2; rank <= MAX_RANK; rank++)
            for (unsigned interleave = 1; interleave <= 3; interleave++)
                for (unsigned swizzle = 0; swizzle < 4; swizzle++) {
                    Args a = args_of(type, rank, 32);
                    if (interleave == 2 && swizzle != 1)
                        continue;
                    a.interleave = interleave;
                    a.swizzle = swizzle;
                    encode_case(b, "interleave", &a);
                }
}

/* Each of a number's bits, and all below it. */
static void numbers(Bench *b) {
    for (unsigned bit = 0; bit <= 41; bit++)
        for (unsigned less = 0; less < 2; less++) {
            for (unsigned i = 0; i < MAX_RANK; i++) {
                Args a = args_of(S32, MAX_RANK, 64), s = a;
                a.dim[i] = (UINT64_C(1) << bit) - less;
                if (bit <= 33 && !(less && bit == 1))
                    encode_case(b, "dim", &a);
                if (i + 1 == MAX_RANK)
                    break;
                s.stride[i] = (UINT64_C(1) << bit) - 16 * less;
                if (bit >= 3 && !(less && bit == 5))
                    encode_case(b, "stride", &s);
            }
        }
    for (unsigned bit = 0; bit < 64; bit++)
        for (unsigned more = 0; more < 2; more++) {
            Args a = args_of(U16, 3, 64);
            a.address = (UINT64_C(1) << bit) + more * UINT64_C(0x123456780);
            encode_case(b, "address", &a);
        }
}

static void boxes(Bench *b) {
    static const uint32_t sizes[] = {0,  1,  2,  3,   4,   8,   12,  15,  16,  31, 32,
                                     48, 63, 64, 100, 127, 128, 200, 255, 256, 257};
    for (unsigned i = 0; i < MAX_RANK; i++)
        for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            Args a = args_of(U8, MAX_RANK, 16);
            if (i && a.box[i] == sizes[k]) /* the good one, once */
                continue;
            a.box[i] = sizes[k];
            encode_case(b, "box", &a);
        }
}

static void steps(Bench *b) {
    for (unsigned i = 0; i < MAX_RANK; i++)
        for (uint32_t step = 0; step <= 9; step++)
            for (unsigned interleave = 0; interleave < 2; interleave++) {
                Args a = args_of(BF16, MAX_RANK, 32);
                a.step[i] = step;
                a.interleave = interleave;
                if (!i || step != 1)
                    encode_case(b, "step", &a);
                for (unsigned k = 0; k < MAX_RANK; k++)
                    a.step[k] = k == i ? step : 2 + (i + k + step) % 7;
                encode_case(b, "steps", &a);
            }
}

/* --- seeded ------------------------------------------------------------------------------------------------------- */

static uint32_t below(uint64_t *seed, uint32_t n) { return (uint32_t)(draw(seed) >> 33) % n; }

/* A number of 1 to `bits` bits, all lengths equally often; a multiple of `unit`. */
static uint64_t number(uint64_t *seed, unsigned bits, unsigned unit) {
    const unsigned length = below(seed, bits) + 1;
    const uint64_t v = draw(seed) & ((UINT64_C(1) << length) - 1);
    return v / unit * unit;
}

static Args draw_args(uint64_t *seed) {
    static const unsigned spans[] = {256, 32, 64, 128};
    const unsigned type = below(seed, TYPES), size = ELEMENTS[type].size;
    Args a = args_of(type, 1 + below(seed, MAX_RANK), 16);
    a.interleave = a.rank > 2 && below(seed, 3) == 0 ? 1 + below(seed, 2) : 0;
    a.swizzle = a.interleave == 2 ? 1 : below(seed, 4);
    a.l2 = below(seed, 4);
    a.fill = ELEMENTS[type].is_float && below(seed, 2);
    const unsigned unit = a.interleave == 2 ? 32 : 16, room = a.interleave ? 256 : spans[a.swizzle];
    a.address = number(seed, 57, unit);
    a.box[0] = 16 / size * (1 + below(seed, room / 16));
    uint64_t bytes = a.box[0] * size;
    for (unsigned i = 0; i < a.rank; i++) {
        a.dim[i] = number(seed, 32, 1) + 1;
        a.step[i] = below(seed, 2) ? 1 : 1 + below(seed, 8);
        if (i) {
            const uint64_t most = 228 * 1024 * a.step[i] / bytes; /* boxes fill shared memory at most */
            a.box[i] = 1 + below(seed, most < 256 ? (uint32_t)(most ? most : 1) : 256);
            bytes *= (a.box[i] + a.step[i] - 1) / a.step[i];
            a.stride[i - 1] = number(seed, 40, unit);
        }
    }
    return a;
}

/* Something that a driver may refuse. */
static void spoil(Args *a, uint64_t *seed) {
    const unsigned i = below(seed, a->rank), size = ELEMENTS[a->type].size;
    switch (below(seed, 14)) {
    case 0:
        a->rank = below(seed, 2) ? 0 : 6;
        break;
    case 1:
        a->type = 16 + below(seed, 16);
        break;
    case 2:
        a->address |= below(seed, 2) ? 8 : UINT64_C(1) << 57;
        break;
    case 3:
        a->dim[i] = below(seed, 2) ? 0 : (UINT64_C(1) << 32) + 1 + draw(seed) % 1000;
        break;
    case 4:
        a->stride[i % 4] += 8;
        break;
    case 5:
        a->stride[i % 4] |= UINT64_C(1) << (40 + below(seed, 24));
        break;
    case 6:
        a->box[i] = below(seed, 2) ? 0 : 257 + below(seed, 256);
        break;
    case 7:
        a->box[0] += size < 16 ? 1 : 0;
        break;
    case 8:
        a->step[i] = below(seed, 2) ? 0 : 9 + below(seed, 100);
        break;
    case 9:
        a->l2 = 4 + below(seed, 4);
        break;
    case 10:
        a->fill = ELEMENTS[a->type].is_float ? 2 + below(seed, 3) : 1;
        break;
    case 11:
        a->swizzle = a->interleave == 2 ? 1 : 1 + below(seed, 3);
        a->box[0] = 256;
        break;
    case 12:
        a->swizzle = 7 + below(seed, 9);
        break;
    default:
        for (unsigned k = 0; k < MAX_RANK; k++)
            a->box[k] = 16 + 16 * below(seed, 16);
    }
}

static void seeded(Bench *b) {
    uint64_t seed = 20261124;
    for (unsigned i = 0; i < 1600; i++) {
        Args a = draw_args(&seed);
        encode_case(b, "random", &a);
        if (i % 4)
            continue;
        spoil(&a, &seed);
        encode_case(b, "spoilt", &a);
    }
}

/* --- im2col ------------------------------------------------------------------------------------------------------- */

static void im2col(Bench *b) {
    static const uint32_t channels[] = {8, 64, 128, 256}, pixels[] = {1, 2, 3, 255, 256, 512, 1023, 1024};
    static const int corners[] = {-128, -16, -15, -8, 0, 1, 7, 15, 16, 127};
    for (unsigned rank = 3; rank <= MAX_RANK; rank++) {
        Args a = args_of(F16, rank, 32), with = a;
        a.im2col = true;
        encode_case(b, "im2col", &a);
        for (unsigned i = 0; i < sizeof channels / sizeof *channels; i++) {
            with = a;
            with.channels = channels[i];
            encode_case(b, "im2col", &with);
        }
        for (unsigned i = 0; i < sizeof pixels / sizeof *pixels; i++) {
            with = a;
            with.pixels = pixels[i];
            encode_case(b, "im2col", &with);
        }
        for (unsigned k = 0; k < rank - 2; k++)
            for (unsigned i = 0; i < sizeof corners / sizeof *corners; i++) {
                with = a;
                with.lower[k] = corners[i];
                encode_case(b, "im2col", &with);
                with = a;
                with.upper[k] = corners[i];
                encode_case(b, "im2col", &with);
            }
        for (unsigned i = 0; i < 4; i++) {
            with = a;
            with.type = i * 3;
            with.channels = 16 / ELEMENTS[with.type].size;
            with.swizzle = i;
            with.l2 = 3 - i;
            with.step[1] = i + 1;
            with.step[rank - 1] = i + 2;
            encode_case(b, "im2col", &with);
        }
    }
}

/* --- cuTensorMapReplaceAddress ------------------------------------------------------------------------------------ */

static void replace_case(Bench *b, const char *of, const uint64_t *from, uint64_t address, const char *apart) {
    static _Alignas(64) uint64_t map[MAP_WORDS];
    char name[64];
    snprintf(name, sizeof name, "replace.%s@%" PRIx64, of, address);
    if (!wanted(&b->record, name))
        return;
    memcpy(map, from, sizeof map);
    const Result e = b->replace_address(map, address);
    unsigned changed = 0;
    for (unsigned i = 0; i < MAP_WORDS; i++)
        changed |= (unsigned)(map[i] != from[i]) << i;
    put_words(&b->record, name, apart, "%d %x %" PRIx64, e, changed, map[0]);
}

/* Of maps of each way to align, and of bytes that are no map. */
static void replace_addresses(Bench *b) {
    static const uint64_t addresses[] = {0x1000,
                                         0x1010,
                                         0x1008,
                                         0x1001,
                                         0x7f0000000000,
                                         UINT64_C(1) << 56,
                                         UINT64_C(1) << 57,
                                         UINT64_MAX & ~UINT64_C(15)};
    for (unsigned i = 0; i < sizeof addresses / sizeof *addresses; i++)
        for (unsigned of = 0; of < 6; of++) {
            static const char *const names[] = {"tiled", "interleave16", "interleave32", "zeros", "ones", "noise"};
            uint64_t map[MAP_WORDS] = {0}, seed = 7;
            Args a = args_of(F32, 3, 32);
            a.interleave = of;
            a.swizzle = 1;
            if (of < 3 && encode(b, &a, map))
                die("cuTensorMapEncodeTiled", names[of]);
            for (unsigned k = 0; of > 3 && k < MAP_WORDS; k++)
                map[k] = of == 4 ? UINT64_MAX : draw(&seed);
            /* noise has the bits of INTERLEAVE_32B by chance */
            replace_case(b, names[of], map, addresses[i],
                         addresses[i] == 0x1010 && (of == 2 || of == 5)
                             ? "cuda.h: the new address must follow the encoder's requirements"
                             : NULL);
        }
}

int main(int argc, char **argv) {
    Bench b = {.record = open_record(argc, argv), .driver = open_driver()};
    const struct {
        const char *name;
        void *slot;
    } calls[] = {{"cuTensorMapEncodeTiled", &b.tiled},
                 {"cuTensorMapEncodeIm2col", &b.im2col},
                 {"cuTensorMapReplaceAddress", &b.replace_address}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *symbol = driver_call(&b.driver, calls[i].name);
        memcpy(calls[i].slot, &symbol, sizeof symbol);
    }
    open_context(&b.driver);
    types(&b);
    flags(&b);
    interleaves(&b);
    numbers(&b);
    boxes(&b);
    steps(&b);
    seeded(&b);
    im2col(&b);
    replace_addresses(&b);
    return close_record(&b.record);
}
