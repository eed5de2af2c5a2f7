// Mistakes of the host: tensor maps that the driver refuses.
// On the chip: the same error code, without the reason.
// Rule: the limits of cuTensorMapEncodeTiled (CUDA driver API, tensor map object management).
//
// EXPECT: ^sm100emu: cuTensorMapEncodeTiled: .*16
// EXPECT: ^address: 1$
// EXPECT: ^sm100emu: cuTensorMapEncodeTiled: .*(stride|Stride).*16
// EXPECT: ^stride of 100 bytes: 1$
// EXPECT: ^sm100emu: cuTensorMapEncodeTiled: .*box.*256
// EXPECT: ^box of 257 rows: 1$
// EXPECT: ^sm100emu: cuTensorMapEncodeTiled: .*(swizzle|SWIZZLE).*128
// EXPECT: ^256 bytes of a box under the 128-byte swizzle: 1$
// EXPECT: ^sm100emu: cuTensorMapEncodeTiled: .*rank
// EXPECT: ^rank 6: 1$
// EXPECT: ^all right: 0$
// EXIT: 0
#include "../../common/tensor_map.h"

struct arguments {
    cuuint32_t rank;
    size_t offset; // of the address from a multiple of 256
    cuuint64_t row_bytes;
    cuuint32_t columns, rows; // of the box, elements of 2 bytes
};

static void encode(const char *what, unsigned char *base, struct arguments a) {
    CUtensorMap map;
    cuuint64_t extent[6] = {64, 512, 1, 1, 1, 1}, stride[5] = {a.row_bytes, 65536, 65536, 65536, 65536};
    cuuint32_t box[6] = {a.columns, a.rows, 1, 1, 1, 1}, every[6] = {1, 1, 1, 1, 1, 1};
    CUresult result =
        tensor_map_encoder()(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, a.rank, base + a.offset, extent, stride, box, every,
                             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    printf("%s: %d\n", what, (int)result);
    fflush(stdout);
}

int main(void) {
    unsigned char *base;
    CUDA_CHECK(cudaMalloc((void **)&base, 65536));
    encode("address", base, {2, 8, 128, 64, 128});
    encode("stride of 100 bytes", base, {2, 0, 100, 64, 128});
    encode("box of 257 rows", base, {2, 0, 128, 64, 257});
    encode("256 bytes of a box under the 128-byte swizzle", base, {2, 0, 256, 128, 64});
    encode("rank 6", base, {6, 0, 128, 64, 128});
    encode("all right", base, {2, 0, 128, 64, 128});
    return 0;
}
