/* Poison of shared memory: any sequence of writes and reads as a byte map has it, whatever is known of whole KiB. */
#include "machine/machine.h"

#include "tests/check.h"

#include <string.h>

#define BYTES (40u * 1024u)

static uint64_t state = 1;

static uint32_t draw(uint32_t below) {
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

int main(void) {
    struct mach_config c = mach_config_b200();
    struct gpu *gpu = gpu_create(&c);
    struct island isl;
    struct cluster cl;
    struct sm *sm = &gpu->sms[0];
    static bool bad[MACH_SMEM_FIRST + BYTES];
    island_init(&isl, gpu, 0);
    cluster_init(&cl, &isl, (struct diag_dim3){0, 0, 0}, (struct diag_dim3){1, 1, 1}, &sm);
    struct cta *cta = &cl.cta[0];
    cta_alloc_smem(cta, BYTES);
    memset(bad, 1, sizeof bad);
    for (unsigned i = 0; i < 20000; i++) {
        uint32_t n = draw(3) ? 1 + draw(64) : 1 + draw(8192), off = MACH_SMEM_FIRST + draw(BYTES - n + 1);
        if (!draw(4)) { /* whole KiB */
            off = off & ~1023u;
            n = (n + 1023) & ~1023u;
            n = off + n > cta->smem_end ? cta->smem_end - off : n;
        }
        bool any = false;
        switch (draw(5)) {
        case 0:
            smem_clear_poison(cta, off, n);
            memset(bad + off, 0, n);
            break;
        case 1:
            n = n > 100 && draw(8) ? 100 : n; /* else nothing would ever be clean */
            smem_set_poison(cta, off, n);
            memset(bad + off, 1, n);
            break;
        case 2: { /* a bit of the map, as an instruction sets it */
            bool v = draw(2);
            smem_settle(cta, off, 1);
            uint8_t *byte = &cta->smem_poison[off / 8], bit = (uint8_t)(1u << off % 8);
            *byte = (uint8_t)(v ? *byte | bit : *byte & ~bit);
            bad[off] = v;
            if (v)
                smem_doubt(cta, off, 1);
            break;
        }
        case 3: /* the bits, as an instruction reads them */
            smem_settle(cta, off, n);
            for (uint32_t k = off; k < off + n; k++)
                any |= (cta->smem_poison[k / 8] >> k % 8 & 1) != bad[k];
            CHECK(!any);
            break;
        default:
            for (uint32_t k = off; k < off + n; k++)
                any |= bad[k];
            CHECK_EQ(smem_poisoned(cta, off, n), any);
            CHECK(!smem_known_clean(cta, off, n) || !any);
        }
    }
    cluster_release(&cl);
    island_close(&isl);
    gpu_destroy(gpu);
    return check_report();
}
