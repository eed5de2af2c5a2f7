/* libFuzzer target of the fat-binary reader: any bytes as a container, as an image's text and as a whole program. */
#include "cudart/loader/cubin.h"
#include "cudart/loader/elfcheck.h"
#include "cudart/loader/fatbin.h"
#include "cudart/loader/static.h"

#include <stdlib.h>
#include <string.h>

static void ignore(void *ctx, const char *name, uint32_t registers) {
    (void)ctx;
    if (strlen(name) > 1u << 30 || registers == 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a choice promises to its caller. */
static void check_choice(const struct fatbin_choice *choice) {
    if (choice->text == NULL || choice->fit == FATBIN_FIT_NONE || strlen(choice->text) != choice->len)
        abort();
    char target[24];
    if (fatbin_target(choice->text, choice->len, target, sizeof target) != choice->fit ||
        strcmp(target, choice->target) != 0)
        abort();
}

/* Where a jump may be written is code of the file, and one function's alone. */
static void check_static(const uint8_t *data, size_t size) {
    static struct static_runtime runtime;
    char why[512];
    if (static_read(data, size, &runtime, why, sizeof why) != STATIC_FOUND)
        return;
    for (uint32_t i = 0; i < runtime.count; i++) {
        const struct static_function *f = &runtime.functions[i];
        if (f->code < data || f->room > size || f->code > data + (size - f->room))
            abort();
        if (i > 0 && f[-1].address != f->address && f[-1].address + f[-1].room > f->address)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fatbin_reader r;
    struct fatbin_image image;
    struct fatbin_error why;
    struct fatbin_choice choice;
    struct elf_facts facts;
    char target[24], sentence[512];
    if (fatbin_open(&r, data, size, NULL, &why) == 0)
        while (fatbin_next(&r, &image, &why) == 1)
            if (image.payload < data || image.payload + image.stored > data + size)
                abort();
    if (fatbin_choose(data, size, &choice, &why) == 0) {
        check_choice(&choice);
        free(choice.text);
    } else if (choice.text != NULL || why.text[0] == 0) {
        abort();
    }
    fatbin_target((const char *)data, size, target, sizeof target);
    cubin_registers(data, size, ignore, NULL);
    check_static(data, size);
    if (elf_read(data, size, &facts, sentence, sizeof sentence))
        elf_judge(&facts, sentence, sizeof sentence);
    return 0;
}
