/* The image that the stand-in for ptxas writes: what is read of it, and that a cut or damaged one is refused whole.
 * Each image ends where its allocation ends; the sanitiser watches. */
#include "check.h"
#include "cudart/loader/marked.h"

#define PTX ".version 9.0\n.target sm_100a\n"
#define CODE "\177ELF and more"

struct image {
    struct marked_head head;
    char ptx[sizeof PTX];
    char code[sizeof CODE - 1];
} __attribute__((packed));

static struct image good(void) {
    struct image i = {.head = {MARKED_MAGIC, MARKED_VERSION, sizeof i.head, sizeof PTX - 1, sizeof CODE - 1}};
    memcpy(i.ptx, PTX, sizeof PTX);
    memcpy(i.code, CODE, sizeof i.code);
    return i;
}

static bool reads(const struct image *i, size_t size) {
    struct marked out;
    char *copy = malloc(size ? size : 1);
    memcpy(copy, i, size);
    const bool ok = marked_read(copy, size, &out);
    if (ok) {
        CHECK_EQ(out.ptx_len, sizeof PTX - 1);
        CHECK_STR(out.ptx, PTX);
        CHECK_EQ(out.code_len, sizeof CODE - 1);
        CHECK(memcmp(out.code, CODE, out.code_len) == 0);
    }
    free(copy);
    return ok;
}

int main(void) {
    struct image i = good();
    CHECK(reads(&i, sizeof i));
    for (size_t n = 0; n < sizeof i; n++)
        CHECK(!reads(&i, n));
    for (size_t bit = 0; bit < 8 * sizeof i.head; bit++) { /* each of them matters */
        i = good();
        ((unsigned char *)&i)[bit / 8] ^= (unsigned char)(1u << bit % 8);
        struct marked out;
        char *copy = memcpy(malloc(sizeof i), &i, sizeof i);
        if (marked_read(copy, sizeof i, &out)) { /* less of the cubin */
            CHECK(out.ptx_len == sizeof PTX - 1 && out.code_len < sizeof CODE - 1);
        }
        free(copy);
    }
    i = good();
    i.ptx[3] = 0; /* the text ends before its size */
    CHECK(!reads(&i, sizeof i));
    i = good();
    i.head.ptx = UINT64_MAX;
    CHECK(!reads(&i, sizeof i));
    i = good();
    i.head.code = UINT64_MAX;
    CHECK(!reads(&i, sizeof i));
    CHECK(!marked_is("SM100PT", 8) && !marked_is(MARKED_MAGIC, 7) && marked_is(MARKED_MAGIC, 8));
    return check_report();
}
