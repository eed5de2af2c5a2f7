/* stats/wavefronts.h - what an access of a warp costs: wavefronts of shared memory, sectors of global memory.
 *
 * Shared memory has 32 banks of 4 bytes, successive words in successive banks. Lanes that access one word do not
 * conflict (a read is broadcast, of a write one lane wins); each further word of a bank takes the banks once more (CUDA
 * C++ Programming Guide, Compute Capabilities, "Shared Memory": 5.x, to which those after it refer). Once is a
 * wavefront, as Nsight Compute counts them.
 *
 * In which portions wider accesses are served the guide stated for compute capability 2.x alone (CUDA 4): 64-bit
 * accesses by half-warps, 128-bit ones by quarter-warps, each portion with conflicts of its own. A matrix of ldmatrix
 * or stmatrix, 8 rows of 16 bytes, is a portion. Of loads two portions become one where every two lanes l and l ^ 1
 * that are active have the same address, or every two lanes l and l ^ 2 (told by NVIDIA of compute capability 7.x:
 * forums.developer.nvidia.com/t/unexpected-shared-memory-bank-conflict/77228). All of this holds on an H200, wavefront
 * by wavefront, for 380 patterns (tests/silicon/wavefronts.h); no B200 was asked. Not counted: that an atom which
 * returns a value takes more turns where lanes have a word in common; red does not.
 *
 * Global memory is accessed by sectors of 32 bytes, aligned, whatever part of them is asked for (CUDA C++ Best
 * Practices Guide, "Coalesced Access to Global Memory": the number of 32-byte transactions necessary to service all of
 * the threads of the warp).
 */
#ifndef STATS_WAVEFRONTS_H
#define STATS_WAVEFRONTS_H

#include <stdbool.h>
#include <stdint.h>

#define STATS_SECTOR 32u

/* Wavefronts of lanes `lanes` at at[l], `size` bytes each (up to 16, and aligned to that), which are loaded or, `load`
 * false, written or updated; in *least how many without bank conflicts. */
uint32_t stats_wavefronts(const uint64_t *at, uint32_t size, uint32_t lanes, bool load, uint32_t *least);
/* The same of one portion: `count` accesses at at[i]. */
uint32_t stats_portion(const uint64_t *at, uint32_t size, uint32_t count);

struct stats_piece {
    uint64_t at;
    uint32_t size;
};
/* Sectors that n pieces touch; in *bytes how many different bytes. The pieces may be put in order. */
uint32_t stats_sectors(struct stats_piece *p, uint32_t n, uint64_t *bytes);

#endif
