/* rules.js - the PTX ISA's section of an instruction, by how its text begins, and the rule to know there in a
 * sentence. */

const RULES = [
    ['mbarrier.init', '9.7.13.15.9',
        'An mbarrier is initialised with the number of arrivals that each of its phases awaits.'],
    ['mbarrier.inval', '9.7.13.15.10', 'After mbarrier.inval the memory may serve for other things.'],
    ['mbarrier.expect_tx', '9.7.13.15.11',
        'expect-tx raises the tx-count of the current phase by the bytes that are to come.'],
    ['mbarrier.complete_tx', '9.7.13.15.12',
        'complete-tx lowers the tx-count of the current phase by the bytes that have come.'],
    ['mbarrier.arrive_drop', '9.7.13.15.14',
        'An arrival that also lowers the number of arrivals that later phases await.'],
    ['mbarrier.arrive', '9.7.13.15.13',
        'A phase completes when no arrival is pending and the tx-count is zero; the next phase begins at once. ' +
            'With .expect_tx the bytes are expected before the arrival.'],
    ['mbarrier.test_wait', '9.7.13.15.16', 'Asks, without waiting, whether the phase of that parity has completed.'],
    ['mbarrier.try_wait', '9.7.13.15.16',
        'Waits, for a time that the system limits, until the phase of that parity has completed. Only the current ' +
            'phase and the one before can be told apart.'],
    ['cp.async.mbarrier.arrive', '9.7.13.15.15',
        "The mbarrier hears of an arrival when the thread's earlier cp.async have completed."],
    ['cp.async.bulk.tensor', '9.7.9.27.1.2',
        'A tensor copy completes by complete-tx of its bytes on an mbarrier. With .multicast::cluster the data and ' +
            'the signal go to the same offsets in each CTA of the mask; with .cta_group::2 the parity of the CTA ' +
            'that the mbarrier names says which CTA of each pair hears of it.'],
    ['cp.async.bulk.commit_group', '9.7.9.27.2.1',
        "The thread's bulk operations that signal no mbarrier become a group."],
    ['cp.async.bulk.wait_group', '9.7.9.27.2.2',
        'Waits until at most so many of the latest groups are pending; with .read until their sources have been read.'],
    ['cp.async.bulk', '9.7.9.25.4.1',
        'A bulk copy of contiguous bytes; into shared memory it completes by complete-tx on an mbarrier.'],
    ['cp.async.commit_group', '9.7.9.25.3.2', "The thread's earlier cp.async become a group."],
    ['cp.async.wait', '9.7.9.25.3.3', 'Waits until at most so many of the latest groups are pending.'],
    ['cp.async', '9.7.9.25.3.1',
        'A copy that a thread starts and that completes later; a group or an mbarrier tells when.'],
    ['barrier.cluster', '9.7.13.3',
        'All threads of the cluster arrive; nobody passes the wait before the last one has.'],
    ['bar.warp.sync', '9.7.13.2',
        'The lanes of the mask meet, and their memory accesses before it are visible to each other.'],
    ['barrier', '9.7.13.1', 'All threads that take part in the barrier arrive; nobody passes before the last one has.'],
    ['bar', '9.7.13.1', 'All threads that take part in the barrier arrive; nobody passes before the last one has.'],
    ['fence', '9.7.13.4', 'Orders accesses before it and after it; .proxy fences between the ways in which memory ' +
        'is reached, .mbarrier_init publishes initialised mbarriers to the cluster.'],
    ['membar', '9.7.13.4', 'Orders memory accesses before it and after it.'],
    ['elect.sync', '9.7.13.14', 'One lane of the mask is elected.'],
    ['clusterlaunchcontrol.try_cancel', '9.7.13.17', 'Asks for a cluster that has not been launched yet; the ' +
        'answer of 16 bytes comes later, by complete-tx on an mbarrier.'],
    ['clusterlaunchcontrol.query_cancel', '9.7.13.18', 'Reads the answer: whether a cluster was taken, and which.'],
    ['tcgen05.alloc', '9.7.16.7.1', 'One warp allocates columns of tensor memory, a power of two and at least 32, ' +
        'and waits until there are as many. With .cta_group::2 a warp of each CTA of the pair takes part.'],
    ['tcgen05.dealloc', '9.7.16.7.1',
        'All tensor memory must be given back before the kernel exits, when nobody uses it any more.'],
    ['tcgen05.relinquish', '9.7.16.7.1', 'The CTA will not allocate any more.'],
    ['tcgen05.ld', '9.7.16.8.3', 'A warp reads cells of tensor memory, of the 32 lanes that are its own; the ' +
        'registers are there after tcgen05.wait::ld.'],
    ['tcgen05.st', '9.7.16.8.4',
        'A warp writes cells of tensor memory, of the 32 lanes that are its own; done after tcgen05.wait::st.'],
    ['tcgen05.wait', '9.7.16.8.5', "Waits until all earlier tcgen05.ld, or .st, of the thread have completed."],
    ['tcgen05.cp', '9.7.16.9.2', 'Copies from shared memory to tensor memory, asynchronously.'],
    ['tcgen05.shift', '9.7.16.9.3', 'Shifts rows of tensor memory down by one, asynchronously.'],
    ['tcgen05.mma', '9.7.16.10.9.1', 'One thread issues the product; its operands are read later. UMMAs of the ' +
        'same shape and accumulator run in the order of issue. Only a commit tells when they are done.'],
    ['tcgen05.fence', '9.7.16.11.1', 'Orders asynchronous tcgen05 operations with what the threads synchronise by.'],
    ['tcgen05.commit', '9.7.16.12.1', "The mbarrier hears of one arrival when all of the thread's earlier " +
        "asynchronous tcgen05 operations have completed; with .multicast::cluster the mbarrier at this offset in " +
        "each CTA of the mask."],
    ['setmaxnreg', '9.7.19.5',
        'The warps of a warpgroup give registers back to the CTA, or wait until it has enough of them.'],
    ['griddepcontrol', '9.7.13.13', 'Lets dependent grids begin, or waits for the grids that this one depends on.'],
    ['atom', '9.7.13.5', 'Reads and changes memory in one step.'],
    ['red', '9.7.13.6', 'Changes memory in one step.'],
    ['mov', '9.7.9.3', 'Copies a register; a read of a clock depends on time.'],
    ['exit', '9.7.12.7', 'The thread ends.'],
    ['ret', '9.7.12.6', 'Returns; from the kernel, the thread ends.'],
    ['st', '9.7.9.11', 'Stores to memory.'],
    ['ld', '9.7.9.8', 'Loads from memory.'],
];

/* {section, rule} of an instruction's text, or null where the table does not know it. */
function ruleOf(text) {
    const plain = text.replace(/^(@!?%?\w+\s+)/, '').replace(/^\{+\s*/, '');
    const row = RULES.find(([start]) => plain.startsWith(start) && !/[a-z0-9_]/.test(plain[start.length] || ''));
    const loose = row || RULES.find(([start]) => plain.startsWith(start));
    return loose ? { section: loose[1], rule: loose[2] } : null;
}
