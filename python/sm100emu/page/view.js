/* view.js - one run on the page: its launch and cluster, its tracks, the state and the event at its cursor. */

const TALL = 0.53, LOWEST = 160; /* of the screen's height have the tracks, and at least so many pixels */

class View {
    constructor(app, run, index) {
        this.app = app;
        this.run = run;
        this.index = index;
        this.logs = run.logs.map((log) => log.clusters.map((cluster) => new Cluster(log, cluster)));
        this.launch = this.cluster = 0;
        this.clocked = true;
        this.k = 1;
        this.rank = 0; /* the CTA in view, and its pair's other one */
        this.cta = 'follow';
        this.shown = -1;
        this.build();
        this.choose();
    }

    get c() {
        return this.m.c;
    }

    get event() {
        return this.k > 0 ? this.m.order[this.k - 1] : -1;
    }

    /* --- elements ------------------------------------------------------------------------------------------------- */

    build() {
        const n = this.index, id = (name) => name + n;
        this.canvas = el('canvas', { id: id('canvas'), tabindex: 0, role: 'application',
            'aria-roledescription': 'timeline',
            'aria-label': 'Timeline of ' + this.run.name, 'aria-describedby': id('sentence') });
        this.whole = new Whole(this);
        this.labels = el('div', { class: 'labels' });
        this.inner = el('div', { class: 'inner' }, this.labels, this.canvas);
        this.scroller = el('div', { class: 'scroller' }, this.inner);
        this.tip = el('div', { class: 'tip', hidden: true });
        this.sentence = el('p', { id: id('sentence'), class: 'sentence', 'aria-live': 'polite' });
        this.position = el('p', { class: 'position' });
        this.state = el('div', { class: 'state' });
        this.detail = el('div', { class: 'detail' });
        this.table = el('details', { class: 'events' }, el('summary', {}, 'Events around the cursor, as a table'));
        this.table.addEventListener('toggle', () => this.fillTable());
        this.window = el('div', { class: 'window' }, this.whole.root, this.scroller, this.tip);
        this.tour = this.run.tour.length ? new Tour(this) : null;
        this.foot = el('div', { class: 'foot' }, this.tour ? this.tour.root : '',
            el('div', { class: 'now' }, this.sentence, this.position)); /* always on the screen */
        this.root = el('section', { class: 'run', 'aria-labelledby': id('title') },
            el('div', { class: 'runhead' }, el('h2', { id: id('title') }, this.run.name), this.pickers()), this.banner(),
            this.window, this.foot,
            el('div', { class: 'panels' },
                el('section', { class: 'panel', 'aria-label': 'State' }, this.stateHead(), this.state),
                el('section', { class: 'panel', 'aria-label': 'Event' }, el('h2', {}, 'This event'), this.detail)),
            this.table);
        new Pointer(this);
        this.scroller.addEventListener('scroll', () => this.app.redraw());
    }

    /* What the run ended with, and what does not fit the page. */
    banner() {
        const said = this.run.said, notes = [];
        if (said)
            notes.push(el('p', { class: 'said' }, el('b', {}, said.level + ': '), said.text,
                said.rule ? ' [' + said.rule + ']' : '', said.at ? ' at ' + said.at + ':' + said.line : '',
                said.count > 1 ? '; ' + (said.count - 1) + ' more' : ''));
        const faults = this.run.logs.filter((log) => log.fault);
        if (faults.length)
            notes.push(el('p', { class: 'said' }, 'The launch ended in a fault (' + faults[0].fault +
                '); what happened up to it is shown.'));
        if (this.run.left_out)
            notes.push(el('p', {}, plural(this.run.left_out, 'cluster') + ' of ' +
                plural(this.run.launches, 'launch', 'launches') + ' did not fit this page.'));
        if (this.run.logs.some((log) => log.cut))
            notes.push(el('p', {}, 'The log is cut: a window was chosen, or there was no more room.'));
        return notes.length ? el('div', { class: 'banner', role: 'note' }, ...notes) : null;
    }

    pickers() {
        const select = (label, options, at, on) => {
            const made = el('select', { onchange: () => on(made.selectedIndex) },
                ...options.map((o, i) => el('option', { selected: i === at }, o)));
            return el('label', options.length > 1 ? {} : { hidden: true }, label + ' ', made);
        };
        this.facts = el('p', { class: 'faint facts' });
        this.pickerRow = el('div', { class: 'pickers' });
        this.makePickers = () => this.pickerRow.replaceChildren(
            select('Launch', this.run.logs.map((log, i) => i + 1 + ': ' + log.kernel), this.launch, (i) => this.pick(i, 0)),
            select('Cluster', this.logs[this.launch].map((c) => c.number + ': CTA (' + c.id.join(', ') + ')' +
                (c.complete ? '' : ', cut off')), this.cluster, (i) => this.pick(this.launch, i)), this.facts);
        this.makePickers();
        return this.pickerRow;
    }

    /* Shows that cluster of that launch. */
    pick(launch, cluster) {
        if (launch === this.launch && cluster === this.cluster)
            return;
        const focused = this.pickerRow.contains(document.activeElement), at = launch === this.launch ? 1 : 0;
        this.launch = launch;
        this.cluster = cluster;
        this.makePickers();
        if (focused)
            this.pickerRow.querySelectorAll('select')[at].focus();
        this.choose();
    }

    stateHead() {
        this.ctaPicker = el('select', { onchange: () => {
            this.cta = this.ctaPicker.value;
            this.refresh();
        } });
        return el('div', { class: 'row' }, el('h2', {}, 'The machine, just now'), el('label', {}, 'CTAs ', this.ctaPicker));
    }

    makeLabels() {
        const made = [], t = this.tracks, narrow = window.innerWidth <= 600, cta = narrow ? '' : 'CTA ';
        if (t.pulled.length) {
            const why = this.tour && this.tour.at >= 0 ? 'Rows of this stop' : 'What ended the wait';
            const head = el('div', { class: 'ctahead' }, !narrow ? why : this.c.ctas > 1 ? 'CTA: row' : 'This stop');
            head.style.top = RULER + 'px';
            made.push(head);
        }
        for (const head of t.heads) {
            const open = t.open.has(head.rank);
            const button = el('button', { type: 'button', class: 'ctahead', 'aria-expanded': String(open),
                onclick: () => this.fold(head.rank) },
                (open ? '▾ ' : '▸ ') + 'CTA ' + head.rank + ', SM ' + this.smOf(head.rank));
            button.style.top = head.y + 'px';
            made.push(button);
        }
        this.m.tracks.forEach((track, n) => {
            if (!t.h[n])
                return;
            const about = this.tour && this.tour.tracks.includes(n);
            const text = (t.pulled.includes(n) && this.c.ctas > 1 ? cta + track.rank + ': ' : '') + track.label;
            const label = el('div', { class: about ? 'label about' : 'label', title: text }, text);
            label.style.top = t.y[n] + 'px';
            made.push(label);
        });
        this.labels.replaceChildren(...made);
        this.inner.style.height = t.height + 'px';
        const room = this.tour && this.tour.at >= 0 ? this.room() : window.innerHeight * TALL;
        const tall = Math.round(Math.max(LOWEST, Math.min(t.height + 2, room))) + 'px';
        this.scroller.style.height = this.canvas.style.height = tall;
    }

    /* Pixels for the tracks between what stays at the top of the screen and what stays at its bottom. */
    room() {
        return window.innerHeight - this.app.headEnd() - this.whole.root.offsetHeight - this.foot.offsetHeight - 6;
    }

    smOf(rank) {
        return this.c.sm[rank];
    }

    /* --- what is shown -------------------------------------------------------------------------------------------- */

    /* The chosen launch and cluster, on the chosen axis. */
    choose() {
        const cluster = this.logs[this.launch][this.cluster];
        const kept = this.m && this.m.c === cluster ? this.event : -1;
        this.m = new Model(cluster, this.clocked);
        if (this.tracks) {
            this.tracks.use(this.m);
        } else {
            this.tracks = new Tracks(this.canvas, this.scroller, this.m, this.app.theme);
        }
        const log = cluster.log;
        this.facts.textContent = log.kernel + ', grid ' + log.grid.join(' x ') +
            ', clusters of ' + clusterText(log, this.m) + ', schedule ' + log.schedule + ', ' +
            plural(cluster.size, 'event') + '; time: ' + this.axisName();
        this.ctaPicker.replaceChildren(
            el('option', { value: 'follow' }, 'of the event'), el('option', { value: 'all' }, 'all'),
            ...Array.from({ length: cluster.ctas }, (_, r) => el('option', { value: r }, String(r))));
        this.ctaPicker.value = this.cta = 'follow';
        this.makeLabels();
        this.rank = Math.max(0, this.m.leader);
        this.begin();
        if (kept >= 0)
            this.k = this.m.place[kept] + 1;
        if (kept >= 0)
            this.tracks.reveal(kept);
        if (this.tour && this.tour.at >= 0 && this.tour.stops[this.tour.at].event === kept)
            this.tour.show();
        this.shown = -1;
        this.app.redraw();
    }

    /* On the first K tiles of the CTA in view, or its first store to tensor memory; the cursor at what begins them. */
    begin() {
        const { event, from, to } = firstView(this.m, this.rank);
        this.k = event >= 0 ? this.m.place[event] + 1 : Math.min(1, this.c.size);
        if (to > from) {
            this.tracks.from = from;
            this.tracks.to = to;
        }
    }

    axisName() {
        return this.m.clocked ? 'model clock (cycles)' : 'order of events';
    }

    timeText(event) {
        return this.m.clocked ? 'cycle ' + number(this.m.time[event].toFixed(1))
            : 'event ' + number(this.m.place[event] + 1);
    }

    fold(rank) {
        const open = this.tracks.open;
        if (!open.delete(rank))
            open.add(rank);
        this.tracks.layout();
        this.makeLabels();
        const button = this.labels.querySelectorAll('button.ctahead')[rank];
        if (button)
            button.focus();
        this.app.redraw();
    }

    /* The state after k events. */
    moveTo(k) {
        this.k = Math.max(0, Math.min(this.c.size, k));
        if (this.event >= 0) {
            if (this.tracks.open.has(this.c.e.rank[this.event]))
                this.rank = this.c.e.rank[this.event];
            this.pullCauses();
            this.tracks.reveal(this.event);
        }
        this.app.redraw();
    }

    /* Of a wait that ends what ended it is in sight: rows of folded CTAs are above all others. A tour has its own rows. */
    pullCauses() {
        const { m, tracks: t } = this, ends = m.beginOf(this.event) >= 0, touring = this.tour && this.tour.at >= 0;
        const rows = (ends ? causeRows(m, this.event) : []).filter((n) => n >= 0 && !t.open.has(m.tracks[n].rank));
        if (touring || (!rows.length && !t.pulled.length))
            return;
        t.pulled = [...new Set(rows)];
        t.layout();
        if (rows.length && t.eventY(this.event) > this.scroller.clientHeight - ROW) { /* too low to be seen with them */
            t.pulled.push(m.home[this.event]);
            t.layout();
        }
        this.makeLabels();
        if (rows.length)
            this.scroller.scrollTop = 0;
    }

    goTo(event) {
        this.app.move(this, this.m.place[event] + 1);
    }

    /* The next place, in a direction, of the sorted ones: k after it; or k where there is none. */
    nextOf(places, direction) {
        const now = this.k - 1, n = direction > 0 ? upper(places, now) : upper(places, now - 1) - 1;
        return n >= 0 && n < places.length ? places[n] + 1 : this.k;
    }

    /* The next event of the same threads or engine. */
    nextOfTrack(direction) {
        const track = this.m.home[this.event];
        if (track === undefined || track < 0)
            return this.k;
        const marks = this.m.tracks[track].marks.event;
        const places = Array.from(marks, (i) => this.m.place[i]).sort((a, b) => a - b);
        return this.nextOf(places, direction);
    }

    /* The next wait that ends: of those that the lesson is about, in the CTA in view; or of all. */
    nextWait(direction, all) {
        const seen = viewed(this.m, this.rank), wanted = (w) => all || (seen.includes(w.rank) && this.m.isLesson(w));
        const places = this.m.waits.filter(wanted).map((w) => this.m.place[w.end]).sort((a, b) => a - b);
        return this.nextOf(places, direction);
    }

    draw() {
        if (this.tracks.width !== this.canvas.clientWidth || this.tracks.tall !== this.canvas.clientHeight)
            this.tracks.resize();
        this.tracks.draw(this.k);
        this.whole.draw();
    }

    /* The panels, where the cursor has moved. */
    refresh() {
        const event = this.event, m = this.m;
        this.shown = this.k;
        this.sentence.replaceChildren(...rich(event < 0 ? 'Before the first event.' : phrase(this.c, event, m) + '.'));
        this.position.textContent = number(this.k) + ' of ' + plural(this.c.size, 'event') +
            (event < 0 ? '' : ', ' + this.timeText(event) + ', ' + this.axisName());
        const ranks = this.cta === 'all' ? Array.from({ length: this.c.ctas }, (_, r) => r)
            : this.cta === 'follow' ? (event < 0 ? [0] : concerned(m, event)) : [Number(this.cta)];
        this.state.replaceChildren(...stateElements(m, this.k, ranks, this.tracks.byK));
        const go = (i) => this.goTo(i);
        this.detail.replaceChildren(...(event < 0 ? [] : detailElements(m, event, this.run.lines, go)));
        this.fillTable();
    }

    fillTable() {
        const old = this.table.querySelector('.wide');
        if (old)
            old.remove();
        if (!this.table.open)
            return;
        const rows = [], m = this.m, from = Math.max(0, this.k - 20), to = Math.min(this.c.size, this.k + 30);
        for (let k = from; k < to; k++) {
            const i = m.order[k], cause = m.cause[i], now = k === this.k - 1;
            const why = cause ? 'event ' + number(m.place[cause - 1] + 1) : '';
            const jump = el('button', { type: 'button', class: 'link', onclick: () => this.goTo(i) }, number(k + 1));
            rows.push(el('tr', { class: now ? 'now' : null, 'aria-current': now ? 'true' : null },
                el('td', {}, jump), el('td', {}, this.timeText(i)), el('td', {}, sentence(this.c, i, m)),
                el('td', {}, this.c.e.cluster[i] ? 'another cluster' : why)));
        }
        const head = ['Event', 'Time', 'What', 'Cause'].map((h) => el('th', { scope: 'col' }, h));
        this.table.append(el('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Events' },
            el('table', {}, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...rows))));
    }
}

/* '4 x 4 x 1 = 16 CTAs (8 pairs)' */
function clusterText(log, m) {
    const size = log.cluster.reduce((a, b) => a * b);
    const pairs = m.paired ? ' (' + plural(size / 2, 'pair') + ')' : '';
    return log.cluster.join(' x ') + ' = ' + plural(size, 'CTA') + pairs;
}

/* The CTA, and the other one of its pair if the model has pairs. */
function viewed(m, rank) {
    return m.paired && (rank ^ 1) < m.c.ctas ? [rank, rank ^ 1].sort((a, b) => a - b) : [rank];
}

/* {event, from, to}: what the page shows at first, of a CTA and its pair. */
function firstView(m, rank) {
    const w = m.c.w, ranks = viewed(m, rank), t = m.time, stages = new Set(m.stages.filter((s) => s.k).map((s) => s.signals)).size;
    const last = Math.min(m.tiles.kTiles - 1, Math.max(2, stages)), begins = [], own = [], ends = [];
    const at = (n) => (n ? t[n - 1] : t[m.order[m.order.length - 1]]);
    for (let i = 0; i < w.agent.length; i++) {
        if (!ranks.includes(w.rank[i]) || !w.issued[i])
            continue;
        if (m.tiles.k[i] >= 0 ? m.tiles.k[i] <= last : !m.tiles.kTiles && w.agent[i] === AGENT.TENSOR_LDST) {
            begins.push(w.issued[i] - 1);
            if (w.rank[i] === rank)
                own.push(w.issued[i] - 1);
            ends.push(m.tiles.kTiles || w.to[i] ? at(w.completed[i]) : at(w.issued[i]));
        }
    }
    if (!begins.length)
        return { event: -1, from: 0, to: 0 };
    const first = (events) => events.reduce((a, b) => (t[b] < t[a] ? b : a));
    const event = first(own.length ? own : begins), from = t[first(begins)];
    const to = m.tiles.kTiles ? Math.max(...ends) : ends.sort((a, b) => a - b)[Math.floor(ends.length / 2)];
    return { event, from: from - (to - from) * 0.06, to: to + (to - from) * 0.04 };
}

/* Mouse, wheel and fingers on the tracks of a view. */
class Pointer {
    constructor(view) {
        this.v = view;
        this.down = new Map();
        const on = (name, f) => view.canvas.addEventListener(name, f.bind(this), { passive: false });
        on('wheel', this.wheel);
        on('pointerdown', this.press);
        on('pointermove', this.moved);
        on('pointerup', this.release);
        on('pointercancel', this.release);
        on('pointerleave', () => { view.tip.hidden = true; });
    }

    place(e) {
        const box = this.v.canvas.getBoundingClientRect();
        return [e.clientX - box.left, e.clientY - box.top];
    }

    /* Zooms; with Shift, or sideways, pans; with Alt scrolls. */
    wheel(e) {
        if (e.altKey)
            return;
        e.preventDefault();
        const t = this.v.tracks, across = e.shiftKey ? e.deltaY || e.deltaX : e.deltaX;
        if (Math.abs(across) > Math.abs(e.deltaY) || e.shiftKey)
            t.pan(across);
        else
            t.zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) * (e.ctrlKey ? 0.01 : 0.004)), this.place(e)[0]);
        this.v.app.linkWindows(this.v);
    }

    press(e) {
        this.v.canvas.setPointerCapture(e.pointerId);
        this.down.set(e.pointerId, this.place(e));
        this.started = this.place(e);
        this.dragged = this.down.size > 1;
    }

    moved(e) {
        const at = this.place(e), before = this.down.get(e.pointerId);
        if (!before) {
            this.hover(at);
            return;
        }
        const t = this.v.tracks, other = [...this.down].find(([id]) => id !== e.pointerId);
        if (Math.hypot(at[0] - this.started[0], at[1] - this.started[1]) > 4)
            this.dragged = true;
        if (other) {
            const gap = (a) => Math.max(12, Math.abs(a[0] - other[1][0]));
            t.zoom(gap(before) / gap(at), (at[0] + other[1][0]) / 2);
        } else if (this.dragged) {
            t.pan(before[0] - at[0]);
            this.scroll(before[1] - at[1]);
        }
        this.down.set(e.pointerId, at);
        this.v.app.linkWindows(this.v);
    }

    /* The tracks, and where they are at an end the page. */
    scroll(pixels) {
        const s = this.v.scroller, before = s.scrollTop;
        s.scrollTop += pixels;
        if (s.scrollTop === before)
            window.scrollBy(0, pixels);
    }

    release(e) {
        const at = this.place(e);
        this.down.delete(e.pointerId);
        if (this.dragged || e.type === 'pointercancel')
            return;
        const hit = this.v.tracks.hit(...at);
        if (hit && hit.head !== undefined)
            this.v.fold(hit.head);
        else if (hit && hit.event >= 0)
            this.v.goTo(hit.event);
    }

    hover(at) {
        const v = this.v, hit = v.tracks.hit(...at);
        v.tip.hidden = !hit || hit.event === undefined || hit.event < 0;
        if (v.tip.hidden)
            return;
        const bar = hit.track.kind === 'barrier' && hit.track.of.kind === OBJECT.MBARRIER ? hit.track.of : null;
        const now = bar && bar.state.at(v.tracks.placeAt(v.tracks.timeAt(at[0])) + 1);
        v.tip.textContent = v.timeText(hit.event) + ': ' + (hit.label ? hit.label + '. ' : '') +
            sentence(v.c, hit.event, v.m) + (now ? '. Here: ' + barrierText(now) : '');
        v.tip.style.left = Math.min(at[0] + 12, v.canvas.clientWidth - 260) + v.canvas.offsetLeft + 'px';
        v.tip.style.top = at[1] + 18 + 'px';
    }
}
