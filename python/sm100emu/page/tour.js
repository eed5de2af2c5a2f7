/* tour.js - the tour that comes with a run: stop after stop, each an event and what its author says about it. tour.py has
 * found the events. The view goes to the stop, and the rows that it is about are pulled together, above all others:
 * those of the event, of its barrier and of its cause, and those that the stop names.
 */

const ROOM_AROUND = 0.55; /* of the window's width takes what the stop is about ... */
const LEAST = 0.5; /* ... and the window is at least this part of the one on which the page opens */

class Tour {
    constructor(view) {
        this.v = view;
        this.stops = view.run.tour;
        this.at = -1; /* the stop, or -1: the tour is closed */
        this.tracks = []; /* what the stop is about */
        const button = (text, on) => el('button', { type: 'button', onclick: on }, text);
        this.title = el('h3', {});
        this.text = el('p', { 'aria-live': 'polite' });
        this.picker = el('select', { 'aria-label': 'Stop of the tour', onchange: () => this.go(this.picker.selectedIndex) },
            ...this.stops.map((stop, n) => el('option', {}, n + 1 + '. ' + stop.title)));
        this.back = button('◀ Back', () => this.step(-1));
        this.next = button('Next ▶', () => this.step(1));
        this.root = el('section', { class: 'tour', 'aria-label': 'Tour', hidden: true },
            el('div', { class: 'says' }, this.title, this.text),
            el('div', { class: 'controls' }, this.back, this.next, this.picker, button('Close', () => this.close())));
    }

    /* Opens the tour, or goes on. */
    step(direction) {
        const n = this.at + direction;
        if (n >= 0 && n < this.stops.length)
            this.go(n);
    }

    close() {
        this.at = -1;
        this.tracks = this.v.tracks.pulled = [];
        this.root.hidden = true;
        this.v.tracks.layout();
        this.v.makeLabels();
        if (this.v.event >= 0)
            this.v.tracks.reveal(this.v.event);
        this.v.app.toured();
    }

    go(n) {
        const stop = this.stops[n];
        this.at = n;
        this.root.hidden = false;
        this.picker.selectedIndex = n;
        this.back.disabled = n === 0;
        this.next.disabled = n === this.stops.length - 1;
        this.title.textContent = n + 1 + ' of ' + this.stops.length + ': ' + stop.title;
        this.text.replaceChildren(...rich(stop.text));
        this.v.pick(0, 0);
        this.v.goTo(stop.event);
        this.show();
        this.v.app.toured();
    }

    /* The stop in the middle of the window, once the page is where window and text are seen. */
    show() {
        const { v, stops, at } = this, { event } = stops[at];
        this.tracks = this.rows(stops[at]);
        v.tracks.pulled = this.tracks;
        v.tracks.layout();
        v.refresh(); /* how high the sentence is says how much room is left */
        v.makeLabels();
        this.across(event, stops[at].with);
        this.scrollPage();
        v.scroller.scrollTop = 0;
        v.app.redraw();
    }

    /* What the stop is about: the rows of its event, of its barrier, of what caused the event, and those that it names. */
    rows({ event, object, rows }) {
        const { m } = this.v, found = new Set([m.home[event], ...causeRows(m, event)]);
        found.add(m.tracks.findIndex((t) => t.kind === 'barrier' && t.of.object === object));
        for (const [label, rank] of rows)
            found.add(m.tracks.findIndex((t) => t.rank === rank && t.label === label));
        return [...found].filter((n) => n >= 0).sort((a, b) => a - b);
    }

    /* In time: from the beginning of the wait, or of the operation, to its end; or from an earlier stop on. */
    across(event, other) {
        const { m, tracks, rank } = this.v, { e, w } = m.c, op = e.op[event] - 1, t = [m.time[event]];
        const begin = m.beginOf(event), first = firstView(m, rank);
        if (other >= 0)
            t.push(m.time[other]);
        if (begin >= 0)
            t.push(m.time[begin]);
        if (op >= 0)
            t.push(...[w.issued[op], w.started[op], w.completed[op]].filter(Boolean).map((n) => m.time[n - 1]));
        const low = Math.min(...t), high = Math.max(...t);
        const span = Math.max((high - low) / ROOM_AROUND, (first.to - first.from) * LEAST, 8);
        tracks.from = (low + high - span) / 2;
        tracks.to = tracks.from + span;
        tracks.keepInside();
    }

    /* Tracks and text are on the screen together, if it is high enough. */
    scrollPage() {
        const top = this.v.window.getBoundingClientRect().top, free = this.v.app.headEnd();
        window.scrollBy(0, top - free - 2);
    }
}

/* The rows of what caused an event, and of what caused that. */
function causeRows(m, event) {
    const rows = [];
    for (let at = event; rows.length < 2 && m.why(at) && !m.c.e.cluster[at];)
        rows.push(m.home[at = m.why(at) - 1]);
    return rows;
}

/* Text with `code` in it, as elements. */
function rich(text) {
    return text.split('`').map((part, n) => (n % 2 ? el('code', {}, part) : part)).filter((part) => part !== '');
}
