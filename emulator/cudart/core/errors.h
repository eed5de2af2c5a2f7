/* Names and descriptions of CUDA's error codes. Pure tables, no state. */
#ifndef CUDART_CORE_ERRORS_H
#define CUDART_CORE_ERRORS_H

/* "cudaErrorInvalidValue", or NULL where the runtime does not know the code. */
const char *rt_error_name(int code);
/* "CUDA_ERROR_INVALID_VALUE", or NULL where the driver does not know the code. */
const char *rt_driver_error_name(int code);
/* "invalid argument", or NULL for an unknown code. */
const char *rt_error_text(int code);
/* The driver's spelling of a runtime code: the few codes that only the runtime knows become the nearest of the
 * driver's, which knows every other under the same number. */
int rt_driver_code(int code);

#endif
