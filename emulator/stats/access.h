/* stats/access.h - what an access of a warp costs: wavefronts of shared memory, sectors of global memory.
 *
 * Shared memory has 32 banks of 4 bytes, successive words in successive banks. Lanes that access one word do not
 * conflict (a read is broadcast, of a write one lane wins); each further word of a bank takes the banks once more (CUDA
 * C++ Programming Guide, Compute Capabilities, "Shared Memory": 5.x, to which those after it refer). Once is a
 * wavefront, as Nsight Compute counts them.
 *
 * In which portions wider accesses are served is not stated for this architecture. The guide did for compute capability
 * 2.x: 64-bit accesses by half-warps, 128-bit ones by quarter-warps, each portion with conflicts of its own; 32 x 16
 * bytes are four times what the banks give at once in any case. That is the rule here. Not counted, since no document
 * states them: 64- and 128-bit reads of few different words that hardware may serve in fewer portions, and atomics
 * on one word, which take turns. A matrix of ldmatrix or stmatrix is 8 rows of 16 bytes, a portion.
 *
 * Global memory is accessed by sectors of 32 bytes, aligned, whatever part of them is asked for (CUDA C++ Best
 * Practices Guide, "Coalesced Access to Global Memory": the number of 32-byte transactions necessary to service all of
 * the threads of the warp).
 */
#ifndef STATS_ACCESS_H
#define STATS_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#define STATS_SECTOR 32u

/* Wavefronts of lanes `lanes` at at[l], `size` bytes each (up to 16); in *least how many without bank conflicts. */
uint32_t stats_wavefronts(const uint64_t *at, uint32_t size, uint32_t lanes, uint32_t *least);
/* The same of one portion: `count` accesses at at[i]. */
uint32_t stats_portion(const uint64_t *at, uint32_t size, uint32_t count);

struct stats_piece {
    uint64_t at;
    uint32_t size;
};
/* Sectors that n pieces touch; in *bytes how many different bytes. The pieces may be put in order. */
uint32_t stats_sectors(struct stats_piece *p, uint32_t n, uint64_t *bytes);

#endif
