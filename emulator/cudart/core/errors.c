/* Error tables; contract in errors.h. */
#include "cudart/core/errors.h"

#include "cudart/core/abi.h"

#include <stddef.h>

struct entry {
    int code;
    const char *runtime, *driver, *text;
};

static const struct entry entries[] = {
#define ERR(code, runtime, driver, text) {code, runtime, driver, text},
#include "cudart/core/errors.def"
#undef ERR
};

static const struct entry *find(int code) {
    size_t low = 0, high = sizeof entries / sizeof entries[0];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (entries[middle].code == code)
            return &entries[middle];
        if (entries[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const char *rt_error_name(int code) {
    const struct entry *e = find(code);
    return e ? e->runtime : NULL;
}

const char *rt_driver_error_name(int code) {
    const struct entry *e = find(code);
    return e ? e->driver : NULL;
}

const char *rt_error_text(int code) {
    const struct entry *e = find(code);
    return e ? e->text : NULL;
}

int rt_driver_code(int code) {
    if (rt_driver_error_name(code) != NULL)
        return code;
    switch (code) {
    case RT_ERROR_INVALID_DEVICE_FUNCTION:
        return RT_ERROR_INVALID_HANDLE;
    case RT_ERROR_INVALID_SYMBOL:
        return RT_ERROR_NOT_FOUND;
    default:
        return RT_ERROR_INVALID_VALUE; /* 9, 12, 17, 21: what was asked for makes no sense */
    }
}
