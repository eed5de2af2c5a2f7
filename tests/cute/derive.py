"""derive.py - what the articles print, made anew: the tensors, atoms and masks of a GEMM from its sizes alone.

Each function gives what CuTe prints for the thing of that name, from M, N, K, the tile and the cluster, by the rules
that docs/cute.md explains. printed.txt says which one gives which printed value.
"""

from layout import Basis, Layout, bundle, divide, mode

LANE = 1 << 16  # a step of one lane in a TMEM address
CELL_BITS = 32


def thr_id(ctas):
    return mode(ctas, 1)


def thr_layout_vmnk(ctas):
    return bundle(thr_id(ctas), mode(1, 0), mode(1, 0), mode(1, 0))


def layout_tv(rows, columns, ctas):
    """A, B or C of an MMA of that many CTAs: (CTA, (row, column)) to the place in the MMA's own tile, rows first."""
    return bundle(mode(ctas, rows // ctas), bundle(mode(rows // ctas, 1), mode(columns, rows)))


def local_tile(row_stride, rows, columns, total_columns):
    """The tiles of one CTA of a row-major matrix: (row, column in the tile, tile along K)."""
    inner, outer = divide(Layout(total_columns, 1), columns)
    return bundle(mode(rows, row_stride), inner, outer)


def output_tile(row_stride, rows, columns):
    return bundle(mode(rows, row_stride), mode(columns, 1))


def partition(tile, rows, columns):
    """A tile as ((MMA's row, MMA's column), which MMA along M or N, which along K, ...)."""
    m, rest_m = divide(tile[0], rows)
    k, rest_k = divide(tile[1], columns)
    return bundle(bundle(m, k), rest_m, rest_k, *(tile[i] for i in range(2, len(tile.shape))))


def smem_tile(rows, k_elements, columns):
    """An operand in shared memory, before the swizzle: atoms of 8 rows x one span, one below the other."""
    atom = bundle(mode(8, k_elements), mode(k_elements, 1))
    stacked = bundle(mode(rows // 8, 8 * k_elements), atom[1])
    assert stacked.stride[0] == 8 * atom.stride[0]  # so that the rows of all atoms are one mode
    return partition(bundle(mode(rows, atom.stride[0]), atom[1]), rows, columns)


def descriptors(tile, element_bytes):
    """One SMEM descriptor for each MMA of a tile in shared memory: its start address counts 16 bytes."""
    return bundle(mode(1, 0), tile[1], Layout(tile.shape[2], tile.stride[2] * element_bytes // 16))


def accumulator(rows, columns):
    """A row is a lane, a column a column."""
    return bundle(bundle(mode(rows, LANE), mode(columns, 1)), mode(1, 0), mode(1, 0))


def t2r_source(acc):
    """What a warp's tcgen05.ld.32x32b.x1 reads of it, again and again: 32 lanes and a column at a time."""
    lanes, columns = acc[0][0], acc[0][1]
    return bundle(bundle(mode(32, lanes.stride), mode(1, 0)), columns, acc[1], acc[2])


def t2r_destination(acc):
    """The same in the registers of a thread: one a time."""
    return bundle(bundle(mode(1, 0), mode(1, 0)), mode(acc.shape[0][1], 1), acc[1], acc[2])


def ld_32x32b_x1():
    """Copy_Traits of tcgen05.ld.32x32b.x1, in bits: ValID, SrcLayout, DstLayout."""
    value = bundle(mode(CELL_BITS, 1), mode(32, LANE * CELL_BITS))
    source = bundle(mode(32, 0), mode(32 * CELL_BITS, 1))
    return value, source, bundle(mode(32, CELL_BITS), mode(CELL_BITS, 1))


def tma_source(k_elements, rows, tiles):
    """What the TMA reads: a box of k_elements x rows, K tile after K tile, in coordinates of the tensor map."""
    box = bundle(Layout(k_elements, Basis(1, 0)), Layout(rows, Basis(1, 1)))
    return bundle(bundle(box, mode(1, 0)), Layout(tiles, Basis(k_elements, 0)))


def tma_destination(k_elements, rows):
    """The same bytes in shared memory, seen as elements in a row."""
    inner = bundle(mode(k_elements * rows, 1), mode(1, 0))
    return Layout((inner.shape,), (inner.stride,))


def tma_atom(ctas, elements):
    return bundle(mode(ctas, elements), mode(elements, 1))


def cluster_vmnk(ctas, cluster):
    """tiled_divide of a cluster's shape by the CTAs of an MMA: (V, M, N, K) to the rank."""
    v, m = divide(Layout(cluster[0], 1), ctas)
    n = mode(cluster[1], cluster[0])
    return Layout(((v.shape,), m.shape, n.shape, cluster[2]), ((v.stride,), m.stride, n.stride, 0))


def vmnk(ctas, cluster, rank):
    return tuple(cluster_vmnk(ctas, cluster).coord(rank))


def mask(ctas, cluster, rank, modes):
    """create_tma_multicast_mask<modes>: the ranks that differ from `rank` in these modes alone."""
    own, found = vmnk(ctas, cluster, rank), 0
    for other in range(cluster[0] * cluster[1] * cluster[2]):
        place = vmnk(ctas, cluster, other)
        if all(i in modes or place[i] == own[i] for i in range(4)):
            found |= 1 << other
    return found


def mma_mask(ctas, cluster, rank):
    """Everybody whose MMA reads what this MMA's CTAs have loaded."""
    return mask(ctas, cluster, rank, (0, 2)) | mask(ctas, cluster, rank, (0, 1))


def participants(ctas, cluster):
    """Arrivals that free a tile: one for each MMA along M and N, its own once."""
    shape = cluster_vmnk(ctas, cluster).shape
    return shape[1] + shape[2] - 1
