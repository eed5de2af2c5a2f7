/* Driver functions by name: what cuGetProcAddress and cudaGetDriverEntryPoint answer. The one header of driver/ that
 * runtime/ sees. */
#ifndef CUDART_DRIVER_ENTRY_H
#define CUDART_DRIVER_ENTRY_H

/* The whole call of entry point `call`: *out is the address of driver function `name` ("cuMemAlloc", without a version
 * suffix) as a program of CUDA `version` (12090, 13000) expects it, or NULL. *result, if not NULL, is RT_ENTRY_FOUND,
 * RT_ENTRY_NOT_FOUND or RT_ENTRY_VERSION_TOO_OLD. A function that is missing is an error of the driver's call, and none
 * of the runtime's (measured). No line on stderr: front ends ask for all names that they know, some 400 of them, and
 * call a few. A function that is not supported is found, and refuses by its name when it is called. */
int driver_entry(const char *call, const char *name, void **out, int version, int *result);

#endif
