/* Entry points that both APIs have, under two names each: cudaFree and cuMemFree, cudaEventQuery and cuEventQuery.
 *
 * Contract. Each function is a whole call: it enters the context, works and leaves it. `call` is the name of the entry
 * point, which decides in whose error codes the result comes (context.h). For runtime/ and driver/ alone.
 */
#ifndef CUDART_CORE_CALLS_H
#define CUDART_CORE_CALLS_H

#include "cudart/core/context.h"

/* "0000:00:00.0", and the device of that name in any of the forms that CUDA takes. */
int rt_call_pci_bus_id(const char *call, char *text, int len, int device);
int rt_call_device_by_pci(const char *call, int *device, const char *text);
/* A number that depends on nothing. */
int rt_call_answer(const char *call, int *out, int value);
/* A call that the emulator does not support, number `stub` of its API's: it is refused, and named the first time. */
int rt_call_unsupported(const char *call, unsigned stub);

/* --- memory: sizes in bytes; a stream of NULL is the default one -------------------------------------------------- */

int rt_call_malloc(const char *call, size_t size, enum rt_memory_type type, void *stream, void **out);
/* Page-locked host memory with these flags of cudaHostAlloc, and which those were: CUDA adds 2, mapped. */
int rt_call_malloc_host(const char *call, size_t size, unsigned flags, void **out);
int rt_call_host_flags(const char *call, unsigned *out, void *host);
/* From `pool`, or from the device's current one where `current` says so. */
int rt_call_malloc_async(const char *call, size_t size, void *pool, bool current, void *stream, void **out);
int rt_call_free(const char *call, void *p, bool host, void *stream);
/* The bytes of device memory that are free, and all; each out may be NULL. */
int rt_call_mem_info(const char *call, size_t *free_bytes, size_t *total_bytes);
/* The device's address of page-locked host memory: the same. */
int rt_call_host_pointer(const char *call, void **out, void *host, unsigned flags);
int rt_call_copy(const char *call, void *dst, const void *src, size_t bytes, int kind, void *stream);
/* `width` elements of 1, 2 or 4 bytes in each of `height` rows. */
int rt_call_fill(const char *call, void *p, size_t pitch, uint32_t value, unsigned element, size_t width, size_t height,
                 void *stream);

/* Advice, and prefetching, about managed memory: there is one copy of it. */
int rt_call_advise(const char *call, const void *p, size_t bytes);

/* --- pools -------------------------------------------------------------------------------------------------------- */

int rt_call_pool_create(const char *call, void **pool, const struct rt_pool_props *props);
int rt_call_pool_destroy(const char *call, void *pool);
int rt_call_pool_trim(const char *call, void *pool);
int rt_call_pool_get(const char *call, void *pool, int attribute, void *value);
int rt_call_pool_set(const char *call, void *pool, int attribute, const void *value);
int rt_call_pool_set_access(const char *call, void *pool, const struct rt_pool_access *list, size_t count);
int rt_call_pool_get_access(const char *call, void *pool, const struct rt_mem_location *location, int *flags);
/* The device's default pool, and the one that allocations come from. */
int rt_call_default_pool(const char *call, void **pool, int device);
int rt_call_current_pool(const char *call, void **pool, int device);
int rt_call_use_pool(const char *call, int device, void *pool);

/* --- streams and events ------------------------------------------------------------------------------------------- */

int rt_call_stream_create(const char *call, unsigned flags, int priority, void **out);
/* destroy: rt_stream_destroy or rt_event_destroy. */
int rt_call_destroy(const char *call, void *handle, rt_destroy_fn *destroy);
/* Query and, where `wait` says so, synchronisation, which gives out what kernels printed. */
int rt_call_on_stream(const char *call, void *stream, bool wait);
int rt_call_event_create(const char *call, unsigned flags, void **out);
int rt_call_event_record(const char *call, void *event, void *stream);
int rt_call_on_event(const char *call, void *event, bool wait);
/* Runs a function of the host program's when the stream's work is done. It runs outside the lock, and no call in it is
 * let in. */
int rt_call_host_function(const char *call, void *stream, void (*function)(void *), void *data);
/* The same, of a function that is handed the stream and a code. */
typedef void rt_callback_fn(void *stream, int status, void *data);
int rt_call_callback(const char *call, void *stream, rt_callback_fn *function, void *data);
/* Host time between two records in milliseconds, since all work is done in between. */
int rt_call_event_elapsed(const char *call, float *ms, void *start, void *end);

/* --- modules, functions, launches --------------------------------------------------------------------------------- */

/* `options`: see jit.h; NULL: none. */
int rt_call_load_image(const char *call, void **module, const void *image, const struct rt_options *options);
int rt_call_load_file(const char *call, void **module, const char *path, const struct rt_options *options);
int rt_call_unload(const char *call, void *module);
int rt_call_module_function(const char *call, void **function, void *module, const char *name);
/* The number of a module's kernels, and the first `most` of them. */
int rt_call_kernel_count(const char *call, unsigned *count, void *module);
int rt_call_kernels(const char *call, void **kernels, unsigned most, void *module);
/* The address and the bytes of a module's variable, which must be a managed one if `managed` says so; each out may be
 * NULL. */
int rt_call_module_variable(const char *call, uint64_t *address, size_t *bytes, void *module, const char *name,
                            bool managed);
/* Finds and loads a function; its handle where `out` is not NULL. */
int rt_call_function(const char *call, void **out, const void *function);
int rt_call_function_name(const char *call, const char **name, const void *function);
/* Offset and bytes of parameter `index` as the kernel reads them; bytes may be NULL. */
int rt_call_param_info(const char *call, const void *function, size_t index, size_t *offset, size_t *bytes);
int rt_call_set_attribute(const char *call, const void *function, int attribute, int value);
int rt_call_launch(const char *call, const void *function, const struct rt_launch *l);
/* shape_error, extra: see struct rt_launch. */
int rt_call_launch_config(const char *call, const struct rt_launch_config *config, const void *function, void **args,
                          void **extra, int shape_error);
int rt_call_max_ctas(const char *call, int *ctas, const void *function, int block_size, size_t dynamic_shared,
                     unsigned flags);
int rt_call_available_shared(const char *call, size_t *bytes, const void *function, int ctas, int threads);
/* most: rt_max_clusters or rt_max_cluster_size. */
int rt_call_max_clusters(const char *call, int *out, const void *function, const struct rt_launch_config *config,
                         rt_max_fn *most);

#endif
