/* Driver functions that the emulator does not support: each answers CUDA_ERROR_NOT_SUPPORTED and names itself once. */
#include "cudart/core/calls.h"

enum {
#define DRV(name, symbol, version)
#define STUB(name, symbol, version) STUB_##symbol,
#define PER_THREAD(symbol)
#define STUB_PER_THREAD(symbol) STUB_##symbol,
#include "cudart/driver/entries.def"
    STUB_COUNT
};
_Static_assert((int)STUB_COUNT <= (int)RT_MAX_STUBS, "raise RT_MAX_STUBS");

#define REFUSE(symbol)                                                                                                 \
    RT_API int symbol(void);                                                                                           \
    RT_API int symbol(void) { return rt_call_unsupported(#symbol, STUB_##symbol); }

#define DRV(name, symbol, version)
#define STUB(name, symbol, version) REFUSE(symbol)
#define PER_THREAD(symbol)
#define STUB_PER_THREAD(symbol) REFUSE(symbol)
#include "cudart/driver/entries.def"
