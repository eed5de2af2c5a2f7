/* state.js - how everything stands after k events, as elements: stages of shared memory, columns of tensor memory,
 * barriers, masks and warps. */

/* An element with attributes (on...: listeners) and children, texts or elements. */
function el(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {}))
        if (name.startsWith('on'))
            made.addEventListener(name.slice(2), value);
        else if (value !== null && value !== undefined && value !== false)
            made.setAttribute(name, value === true ? '' : value);
    made.append(...children.filter((c) => c !== null && c !== undefined && c !== false));
    return made;
}

/* The CTAs that event i concerns: who does it, whose object it is, whom it reaches. */
function concerned(m, i) {
    const c = m.c, e = c.e, found = new Set([e.rank[i]]);
    if (e.object[i] && c.o.kind[e.object[i] - 1] === OBJECT.MBARRIER)
        found.add(c.o.rank[e.object[i] - 1]);
    if (e.op[i])
        for (const rank of [...receivers(c, e.op[i] - 1), ...listeners(c, e.op[i] - 1)])
            if (found.size < 4)
                found.add(rank);
    if (e.op[i] && c.w.cta_group[e.op[i] - 1] === 2)
        found.add(c.w.rank[e.op[i] - 1] ^ 1);
    return [...found].filter((r) => r < c.ctas).sort((a, b) => a - b);
}

/* The panel's content for the CTAs `ranks` after k events; the last of them, if any, marks what it is about. */
function stateElements(m, k, ranks, byK) {
    const event = k > 0 ? m.order[k - 1] : -1;
    return [
        section('Shared memory', ranks.map((rank) => stageRow(m, k, rank, byK)).filter(Boolean),
            'no copy writes to it in this log'),
        section('Tensor memory', ranks.map((rank) => tmemRow(m, k, rank, byK)).filter(Boolean),
            'none is allocated in this log'),
        section('Barriers', [barrierTable(m, k, ranks, event)].filter(Boolean), 'no mbarrier'),
        event >= 0 && m.c.e.op[event] ? section('CTAs that it reaches', [masks(m.c, m.c.e.op[event] - 1)]) : null,
        section('Warps', [warpList(m, k, ranks)].filter(Boolean), 'none'),
    ].filter(Boolean);
}

function section(title, parts, empty) {
    return el('section', {}, el('h3', {}, title), ...(parts.length ? parts : [el('p', { class: 'faint' }, empty)]));
}

function stageRow(m, k, rank, byK) {
    const stages = m.stages.filter((s) => s.rank === rank);
    if (!stages.length)
        return null;
    const boxes = stages.map((s) => {
        const state = s.state.at(k), op = s.by.at(k);
        const title = s.name + ': ' + STAGE_STATE[state] + (op ? ', last by ' + operationLabel(m.c, op - 1) : '') +
            ', bytes 0x' + s.from.toString(16) + ' to 0x' + (s.to - 1).toString(16);
        return el('li', { class: 'box ' + boxClass(m, STAGE_SHAPE[state], op, byK), title }, el('b', {}, s.name), ' ',
            STAGE_STATE[state]);
    });
    return el('div', { class: 'ofcta' }, el('h4', {}, 'CTA ' + rank), el('ul', { class: 'boxes' }, ...boxes));
}

function tmemRow(m, k, rank, byK) {
    const ranges = m.tmem.filter((t) => t.rank === rank);
    if (!ranges.length)
        return null;
    const boxes = ranges.map((t) => {
        const state = t.state.at(k), color = boxClass(m, TMEM_SHAPE[state], t.by.at(k), byK);
        const box = el('li', { class: 'box ' + color, title: t.name + ': ' + TMEM_STATE[state] },
            el('b', {}, t.from + '-' + (t.to - 1)), ' ', TMEM_STATE[state]);
        box.style.flexGrow = t.to - t.from;
        return box;
    });
    return el('div', { class: 'ofcta' }, el('h4', {}, 'CTA ' + rank), el('ul', { class: 'boxes columns' }, ...boxes));
}

/* In the colour of the tile that operation `op` works for, as the tracks have it. */
function boxClass(m, shape, op, byK) {
    const n = op ? (byK ? m.tiles.k : m.tiles.tile)[op - 1] : NO_TILE;
    return shape === SHAPE.bad ? 'c' + COLOR.bad : shape === null || shape === SHAPE.plain || n < 0 ? 'plain'
        : 'c' + TILE_COLORS[n % TILE_COLORS.length];
}

function barrierTable(m, k, ranks, event) {
    const rows = [];
    for (const b of m.bars) {
        const s = b.kind === OBJECT.MBARRIER && ranks.includes(b.rank) ? b.state.at(k) : null;
        if (!s)
            continue;
        const now = event >= 0 && m.c.e.object[event] === b.object;
        rows.push(el('tr', { class: now ? 'now' : null },
            el('th', { scope: 'row' }, m.c.objectName(b.object)), el('td', {}, String(b.rank)),
            el('td', {}, s.phase + ' (parity ' + s.phase % 2 + ')'), el('td', {}, s.pending + ' of ' + s.expected),
            el('td', {}, number(s.tx))));
    }
    if (!rows.length)
        return null;
    const head = ['Barrier', 'CTA', 'Current phase', 'Arrivals to come', 'Bytes to come'];
    return el('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Barriers' },
        el('table', {}, el('thead', {}, el('tr', {}, ...head.map((h) => el('th', { scope: 'col' }, h)))),
            el('tbody', {}, ...rows)));
}

/* The CTAs of the cluster as a grid, x down and y to the right as the lessons draw it: who receives, who hears. */
function masks(c, i) {
    const [nx, ny] = c.log.cluster, to = receivers(c, i), heard = listeners(c, i), rows = [];
    for (let x = 0; x < nx; x++) {
        const cells = [];
        for (let rank = x; rank < c.ctas && cells.length < ny * c.log.cluster[2]; rank += nx) {
            const words = [rank === c.w.rank[i] ? 'issues' : '', to.includes(rank) && !c.w.ctas[i] ? 'receives' : '',
                heard.includes(rank) ? 'hears' : ''].filter(Boolean);
            cells.push(el('td', { class: words.length ? 'reached' : null }, el('b', {}, String(rank)),
                ' ' + (words.join(', ') || '-')));
        }
        rows.push(el('tr', {}, el('th', { scope: 'row' }, 'x ' + x), ...cells));
    }
    const mask = (list) => '0x' + list.reduce((sum, r) => sum + (1 << r), 0).toString(16).padStart(4, '0');
    const text = operationLabel(c, i) + ': ' + (c.w.ctas[i] || heard.length ? 'heard by ' + mask(heard) : '') +
        (to.length && !c.w.ctas[i] ? (heard.length ? ', ' : '') + 'received by ' + mask(to) : '');
    return el('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'CTAs that are reached' },
        el('p', {}, text), el('table', { class: 'mask' }, el('tbody', {}, ...rows)));
}

function warpList(m, k, ranks) {
    const warps = m.sortedWarps().filter((w) => ranks.includes(w.rank));
    if (!warps.length)
        return null;
    return el('ul', { class: 'warps' }, ...warps.map((w) => {
        const open = w.state.at(k);
        return el('li', {}, el('b', {}, capital(warpText(m.c, w.rank, w.warp))), ' ',
            ...(open.length ? rich(open.map((i) => waitPhrase(m.c, i, i, m)).join('; ')) : ['runs']));
    }));
}

/* --- the panel of one event: where, what, why --------------------------------------------------------------------- */

/* view: what is told to go to an event; lines: sources of the page */
function detailElements(m, event, lines, go) {
    const c = m.c, site = c.site(c.e.site[event]), parts = [];
    parts.push(...causeElements(m, event, go), ...phaseElements(m, event, go));
    if (site && site.file)
        parts.push(...sourceElements(site, lines));
    if (site && site.text) {
        const rule = ruleOf(site.text);
        parts.push(el('h3', {}, 'PTX'), el('p', { class: 'faint' }, site.ptx + ':' + site.ptx_line),
            el('pre', { tabindex: 0 }, el('code', {}, site.text)));
        if (rule)
            parts.push(el('h3', {}, 'The rule'), el('p', {}, rule.rule + ' (PTX ISA ' + rule.section + ')'));
    }
    return parts;
}

function causeElements(m, event, go) {
    const list = [];
    for (let at = event, depth = 0; depth < 6 && m.cause[at]; depth++) {
        const cause = m.why(at) - 1, other = m.c.e.cluster[at];
        if (other) {
            list.push(el('li', {}, 'event ' + (cause + 1) + ' of cluster ' + (other - 1)));
            break;
        }
        list.push(el('li', {}, el('button', { type: 'button', class: 'link', onclick: () => go(cause) },
            ...rich(phrase(m.c, cause, m)))));
        at = cause;
    }
    if (!list.length)
        return [el('h3', {}, 'Why now'), el('p', { class: 'faint' },
            'It waited for nothing: its threads came to this line, or the launch began.')];
    return [el('h3', {}, 'Why now, and what led to that'), el('ol', { class: 'causes' }, ...list)];
}

/* Of an event at an mbarrier: all that its phase took, arrivals and bytes, by whom. */
function phaseElements(m, event, go) {
    const e = m.c.e, b = m.bars[e.object[event] - 1];
    if (!b || b.kind !== OBJECT.MBARRIER || e.class[event] !== CLASS.SYNC || e.kind[event] === SYNC.MBAR_TEST)
        return [];
    if (!b.byPhase) {
        b.byPhase = new Map();
        for (const i of b.marks)
            if (e.kind[i] !== SYNC.MBAR_PHASE)
                b.byPhase.set(e.phase[i], [...(b.byPhase.get(e.phase[i]) || []), i]);
    }
    const took = b.byPhase.get(e.phase[event]) || [];
    const what = (i) => (e.kind[i] === SYNC.MBAR_EXPECT_TX ? 'expects ' + plural(e.value[i], 'byte')
        : e.kind[i] === SYNC.MBAR_COMPLETE_TX ? plural(e.value[i], 'byte') : plural(e.count[i], 'arrival'));
    return [el('h3', {}, 'Phase ' + e.phase[event] + ' of ', ...rich(objectText(m.c, b.object))),
        el('ol', { class: 'causes' },
        ...took.map((i) => el('li', {}, el('button', { type: 'button', class: 'link',
            'aria-current': i === event ? 'true' : null, onclick: () => go(i) }, what(i) + ': ' + whoText(m.c, i)))))];
}

function sourceElements(site, lines) {
    const made = [el('h3', {}, 'The line')];
    for (const [file, line] of [[site.file, site.line], ...site.from]) {
        const kept = lines[file] || {}, shown = [];
        for (let n = line - 3; n <= line + 3; n++)
            if (kept[n] !== undefined)
                shown.push(el('span', { class: n === line ? 'here' : null }, String(n).padStart(5) + '  ' + kept[n]));
        made.push(el('p', { class: 'faint' },
            (made.length > 1 ? 'from ' : '') + file + ':' + line + (shown.length ? '' : ' (not found)')));
        if (shown.length)
            made.push(el('pre', { tabindex: 0 }, el('code', {}, ...shown)));
    }
    return made;
}
