/* Error tables: order, well-known entries, both spellings, and the way from runtime codes to driver codes. */
#include "check.h"
#include "cudart/core/abi.h"
#include "cudart/core/errors.h"

const char *cudaGetErrorName(int code);
const char *cudaGetErrorString(int code);
int cuGetErrorName(int code, const char **name);
int cuGetErrorString(int code, const char **text);

static void test_order(void) {
    static const int codes[] = {
#define ERR(code, runtime, driver, text) code,
#include "cudart/core/errors.def"
#undef ERR
    };
    size_t n = sizeof codes / sizeof codes[0];
    CHECK_EQ(n, 135); /* 133 of cudaError, 2 of CUresult alone */
    for (size_t i = 1; i < n; i++)
        CHECK(codes[i - 1] < codes[i]); /* the search needs it */
    for (size_t i = 0; i < n; i++)
        CHECK(rt_error_text(codes[i]) != NULL && (rt_error_name(codes[i]) || rt_driver_error_name(codes[i])));
}

static void test_names(void) {
    const char *text;
    CHECK_STR(rt_error_name(0), "cudaSuccess");
    CHECK_STR(rt_error_name(700), "cudaErrorIllegalAddress");
    CHECK_STR(rt_driver_error_name(700), "CUDA_ERROR_ILLEGAL_ADDRESS");
    CHECK_STR(rt_error_text(700), "an illegal memory access was encountered");
    CHECK_STR(rt_error_name(912), "cudaErrorInvalidClusterSize");
    CHECK(rt_error_name(5555) == NULL && rt_driver_error_name(-1) == NULL && rt_error_text(8000) == NULL);
    CHECK_STR(cudaGetErrorName(1), "cudaErrorInvalidValue");
    CHECK_STR(cudaGetErrorString(1), "invalid argument");
    CHECK_STR(cudaGetErrorName(5555), "unrecognized error code");
    CHECK_STR(cudaGetErrorString(5555), "unrecognized error code");
    CHECK_EQ(cuGetErrorName(209, &text), 0);
    CHECK_STR(text, "CUDA_ERROR_NO_BINARY_FOR_GPU");
    CHECK_EQ(cuGetErrorString(1, &text), 0);
    CHECK_STR(text, "invalid argument");
    CHECK_EQ(cuGetErrorName(98, &text), RT_ERROR_INVALID_VALUE); /* the runtime's alone */
    CHECK(text == NULL);
    CHECK_EQ(cuGetErrorString(31337, &text), RT_ERROR_INVALID_VALUE);
}

static void test_driver_codes(void) {
    CHECK_EQ(rt_driver_code(0), 0);
    CHECK_EQ(rt_driver_code(719), 719);
    CHECK_EQ(rt_driver_code(RT_ERROR_INVALID_DEVICE_FUNCTION), RT_ERROR_INVALID_HANDLE);
    CHECK_EQ(rt_driver_code(RT_ERROR_INVALID_SYMBOL), RT_ERROR_NOT_FOUND);
    CHECK_EQ(rt_driver_code(RT_ERROR_INVALID_PITCH), RT_ERROR_INVALID_VALUE);
    for (int code = 0; code < 1000; code++)
        CHECK(rt_error_name(code) == NULL || rt_driver_error_name(rt_driver_code(code)) != NULL);
}

int main(void) {
    test_order();
    test_names();
    test_driver_codes();
    return check_report();
}
