/* Fat-binary reader: layout, choice among images, unpacking, and every way a container can be broken. */
#include "check.h"
#include "cudart/loader/fatbin.h"
#include "unit/cudart/containers.h"

#define PTX(target) "\n\n.version 9.0\n.target " target "\n.address_size 64\n"

/* A copy whose end is the allocation's end, so that the sanitiser sees every read past it. */
static int choose_exact(const uint8_t *bytes, size_t size, struct fatbin_choice *choice, struct fatbin_error *why) {
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    why->text[0] = 0;
    int e = fatbin_choose(copy, size, choice, why);
    free(copy);
    return e;
}

static void expect_choice(const struct container *c, const char *target, enum fatbin_fit fit) {
    struct fatbin_choice choice;
    struct fatbin_error why;
    if (!CHECK_EQ(choose_exact(c->bytes, c->size, &choice, &why), 0)) {
        fprintf(stderr, "    %s\n", why.text);
        return;
    }
    CHECK_STR(choice.target, target);
    CHECK_EQ(choice.fit, fit);
    CHECK_HAS(choice.text, target);
    CHECK_EQ(choice.text[choice.len], 0);
    CHECK_EQ(strlen(choice.text), choice.len);
    free(choice.text);
}

static void expect_refusal(const struct container *c, const char *part) {
    struct fatbin_choice choice;
    struct fatbin_error why;
    CHECK_EQ(choose_exact(c->bytes, c->size, &choice, &why), -1);
    CHECK_HAS(why.text, part);
    CHECK(choice.text == NULL);
}

static void test_fields(void) {
    struct container c;
    struct fatbin_reader r;
    struct fatbin_image image;
    struct fatbin_error why;
    size_t total;
    container_begin(&c);
    container_add(&c, KIND_ELF, 100, 0, "\177ELF....", 8, 0);
    container_add(&c, 7, 100, 0, "unknown!", 8, 0); /* passed over */
    container_ptx(&c, 90, PTX("sm_90"));
    CHECK_EQ(fatbin_open(&r, c.bytes, sizeof c.bytes, &total, &why), 0);
    CHECK_EQ(total, c.size);
    CHECK_EQ(fatbin_next(&r, &image, &why), 1);
    CHECK_EQ(image.kind, FATBIN_ELF);
    CHECK_EQ(image.stored, 8);
    CHECK_EQ(fatbin_next(&r, &image, &why), 1);
    CHECK_EQ(image.kind, FATBIN_PTX);
    CHECK_EQ(image.sm, 90);
    CHECK_EQ(image.ptx_major, 9);
    CHECK_EQ(image.ptx_minor, 0);
    CHECK_EQ(image.packing, FATBIN_PLAIN);
    CHECK_EQ(fatbin_next(&r, &image, &why), 0);
}

static void test_choice(void) {
    struct container c;
    container_begin(&c);
    container_ptx(&c, 90, PTX("sm_90"));
    expect_choice(&c, "sm_90", FATBIN_FIT_GENERIC);
    container_ptx(&c, 100, PTX("sm_100"));
    container_ptx(&c, 80, PTX("sm_80"));
    expect_choice(&c, "sm_100", FATBIN_FIT_GENERIC);
    container_ptx(&c, 100, PTX("sm_100f"));
    container_ptx(&c, 103, PTX("sm_103a"));
    expect_choice(&c, "sm_100f", FATBIN_FIT_FAMILY);
    container_ptx(&c, 100, PTX("sm_100a, debug"));
    expect_choice(&c, "sm_100a", FATBIN_FIT_ARCH);
    container_ptx(&c, 100, PTX("sm_100"));
    container_ptx(&c, 100, PTX("sm_100f"));
    expect_choice(&c, "sm_100a", FATBIN_FIT_ARCH);
}

static void test_refusals(void) {
    struct container c;
    container_begin(&c);
    expect_refusal(&c, "no device code");
    container_add(&c, KIND_ELF, 100, 0, "\177ELF....", 8, 0);
    expect_refusal(&c, "SASS");
    expect_refusal(&c, "code=[sm_100f,compute_100f]");
    container_ptx(&c, 103, PTX("sm_103a"));
    container_ptx(&c, 90, PTX("sm_90a"));
    container_ptx(&c, 120, PTX("sm_120"));
    container_ptx(&c, 120, PTX("sm_103a"));
    expect_refusal(&c, "PTX is for sm_103a, sm_90a, sm_120, which");
    container_begin(&c);
    container_ptx(&c, 100, ".version 9.0\n.entry k() {}");
    expect_refusal(&c, "unknown");
}

static void test_target(void) {
    static const struct {
        const char *text, *target;
        enum fatbin_fit fit;
    } cases[] = {
        {".version 8.6 .target sm_100a", "sm_100a", FATBIN_FIT_ARCH},
        {"// .target sm_90\n/* .target sm_80 */.version 9.0\n.target\tsm_100f,debug", "sm_100f", FATBIN_FIT_FAMILY},
        {".target sm_100 ", "sm_100", FATBIN_FIT_GENERIC},
        {".target sm_103", "sm_103", FATBIN_FIT_NONE},
        {".target sm_101a", "sm_101a", FATBIN_FIT_NONE},
        {".target sm_100x", "sm_100x", FATBIN_FIT_NONE},
        {".target sm_100ab", "sm_100ab", FATBIN_FIT_NONE},
        {".target sm_", "sm_", FATBIN_FIT_NONE},
        {".target compute_100f", "compute_100f", FATBIN_FIT_NONE},
        {".target sm_99999999999999999999999999", "", FATBIN_FIT_NONE},
        {".address_size 64\n.target sm_100a", "", FATBIN_FIT_NONE},
        {"/* never closed .target sm_100a", "", FATBIN_FIT_NONE},
        {"", "", FATBIN_FIT_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char target[24];
        CHECK_EQ(fatbin_target(cases[i].text, strlen(cases[i].text), target, sizeof target), cases[i].fit);
        CHECK_STR(target, cases[i].target);
    }
}

static void test_packed(const char *what, uint64_t flag, size_t (*pack)(const char *, size_t, char *, size_t)) {
    char text[2000] = PTX("sm_100f"), packed[4000];
    struct container c;
    memset(text + strlen(text), '\n', 900);
    size_t plain = strlen(text), size = pack(text, plain, packed, sizeof packed);
    if (size == 0) {
        printf("skipped: lib%s is not installed\n", what);
        return;
    }
    container_begin(&c);
    size_t at = container_add(&c, KIND_PTX, 100, flag, packed, size, plain);
    expect_choice(&c, "sm_100f", FATBIN_FIT_FAMILY);
    put(c.bytes + at + 56, plain + 1, 8); /* says more than there is */
    expect_refusal(&c, "damaged");
    put(c.bytes + at + 56, plain - 1, 8);
    expect_refusal(&c, "damaged");
    put(c.bytes + at + 56, (uint64_t)1 << 40, 8);
    expect_refusal(&c, "bytes uncompressed");
    put(c.bytes + at + 56, plain, 8);
    put(c.bytes + at + 16, size + 100, 4);
    expect_refusal(&c, "compressed bytes in a payload");
    put(c.bytes + at + 16, size, 4);
    memset(c.bytes + at + ENTRY_BYTES, 0xFF, size);
    expect_refusal(&c, "damaged");
}

/* A container that lies about one field. */
static void expect_broken(const struct container *good, size_t offset, uint64_t value, unsigned bytes,
                          const char *part) {
    struct container c = *good;
    put(c.bytes + offset, value, bytes);
    expect_refusal(&c, part);
}

static void test_broken(void) {
    struct container c;
    struct fatbin_choice choice;
    struct fatbin_error why;
    container_begin(&c);
    container_ptx(&c, 100, PTX("sm_100f"));
    container_ptx(&c, 100, PTX("sm_100a"));
    expect_broken(&c, 0, 0x12345678, 4, "magic 0x12345678");
    expect_broken(&c, 4, 2, 2, "version 2");
    expect_broken(&c, 6, 8, 2, "header of 8");
    expect_broken(&c, 6, 0xFFFF, 2, "header of 65535");
    expect_broken(&c, 8, UINT64_MAX, 8, "claims");
    expect_broken(&c, 8, c.size - 15, 8, "claims");
    expect_broken(&c, 16 + 4, 0, 4, "header of 0");
    expect_broken(&c, 16 + 4, 0xFFFFFFFF, 4, "header of");
    expect_broken(&c, 16 + 8, c.size - 16, 8, "an entry has"); /* forgets the entry's own header */
    expect_broken(&c, 16 + 8, UINT64_MAX, 8, "an entry has");
    expect_broken(&c, 16 + 8, UINT64_MAX - ENTRY_BYTES, 8, "an entry has");
    for (size_t n = 0; n < c.size; n++) { /* every truncation */
        CHECK_EQ(choose_exact(c.bytes, n, &choice, &why), -1);
        CHECK(why.text[0] != 0);
    }
    for (size_t i = 0; i < c.size * 8; i++) { /* every single bit, for the sanitiser */
        struct container d = c;
        d.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
        if (choose_exact(d.bytes, d.size, &choice, &why) == 0)
            free(choice.text);
        else
            CHECK(why.text[0] != 0);
    }
}

int main(void) {
    test_fields();
    test_choice();
    test_refusals();
    test_target();
    test_packed("lz4", FLAG_LZ4, pack_lz4);
    test_packed("zstd", FLAG_ZSTD, pack_zstd);
    test_broken();
    return check_report();
}
