/* Driver functions by name: what cuGetProcAddress and cudaGetDriverEntryPoint answer. */
#ifndef CUDART_DRIVER_ENTRY_H
#define CUDART_DRIVER_ENTRY_H

/* The address of driver function `name` ("cuMemAlloc", without a version suffix) as a program of CUDA `version`
 * (12090, 13000) expects it, or NULL. *result is RT_ENTRY_FOUND, RT_ENTRY_NOT_FOUND or RT_ENTRY_VERSION_TOO_OLD. */
void *driver_entry(const char *name, int version, int *result);

#endif
