/* tracks.js - draws the tracks of a Model on a canvas: what is visible, and of what is narrower than a pixel one for
 * all. */

const RULER = 22, HEAD = 20, ROW = 14, GAP = 4, TIGHT = 1;
const LEAST_LETTERS = 5; /* of a label that is cut; a shorter one is dropped */
const MANY_K = 16; /* K tiles in the window from which on colour follows the tile, if there are several ... */
const MOST_K = 200; /* ... and if there are not */

class Tracks {
    /* canvas lies in `scroller` and stays in its window */
    constructor(canvas, scroller, model, theme) {
        this.canvas = canvas;
        this.scroller = scroller;
        this.theme = theme;
        this.arrows = true;
        this.found = null;
        this.joins = false; /* are waits of lanes for each other shown */
        this.follows = 'auto';
        this.open = new Set();
        this.pulled = []; /* tracks that are above all others, together */
        this.use(model);
    }

    use(model) {
        this.m = model;
        this.pulled = [];
        if (!this.open.size)
            for (const rank of viewed(model, Math.max(0, model.leader)))
                this.open.add(rank);
        this.effects = null;
        this.whole = null;
        this.layout();
        this.fit();
    }

    /* Whether colour follows the K tile, or the tile of D: as was asked for, or by how many K tiles the window shows. */
    get byK() {
        if (this.follows !== 'auto')
            return this.follows === 'K tile';
        const { tiles, kTiles } = this.m.tiles, shown = (this.to - this.from) / this.m.end * kTiles;
        return shown < (tiles > 1 ? MANY_K : MOST_K);
    }

    rowsOf(track) {
        return this.joins && track.more && track.more.length ? [...track.rows, ...track.more] : track.rows;
    }

    /* --- where things are ----------------------------------------------------------------------------------------- */

    /* y and height of heads and tracks; tracks of a closed CTA lie on its head. Those that are pulled come first. */
    layout() {
        let y = RULER;
        this.heads = [];
        this.y = new Float64Array(this.m.tracks.length);
        this.h = new Float64Array(this.m.tracks.length);
        y += this.pulled.length ? HEAD : 0;
        for (const n of this.pulled) {
            this.y[n] = y;
            this.h[n] = Math.max(1, this.rowsOf(this.m.tracks[n]).length) * ROW + GAP;
            y += this.h[n];
        }
        this.pulledEnd = y;
        for (let rank = 0; rank < this.m.c.ctas; rank++) {
            const head = { rank, y };
            this.heads.push(head);
            y += HEAD;
            const own = this.m.tracks.filter((t) => t.rank === rank);
            this.m.tracks.forEach((t, n) => {
                if (t.rank !== rank || this.pulled.includes(n))
                    return;
                if (!this.open.has(rank)) {
                    this.y[n] = head.y + HEAD / 2 - ROW / 2;
                    this.h[n] = 0;
                    return;
                }
                this.y[n] = y;
                const next = own[own.indexOf(t) + 1];
                this.h[n] = Math.max(1, this.rowsOf(t).length) * ROW + (next && next.tight ? TIGHT : GAP);
                y += this.h[n];
            });
        }
        this.height = y + GAP;
    }

    resize() {
        const ratio = window.devicePixelRatio || 1;
        this.width = this.canvas.clientWidth;
        this.tall = this.canvas.clientHeight;
        this.canvas.width = Math.max(1, Math.round(this.width * ratio));
        this.canvas.height = Math.max(1, Math.round(this.tall * ratio));
        this.g = this.canvas.getContext('2d', { alpha: false });
        this.g.setTransform(ratio, 0, 0, ratio, 0, 0);
    }

    fit() {
        this.from = 0;
        this.to = this.m.end * 1.01 || 1;
    }

    x(time) {
        return (time - this.from) / (this.to - this.from) * this.width;
    }

    timeAt(x) {
        return this.from + x / this.width * (this.to - this.from);
    }

    /* Zooms by a factor about the pixel x. */
    zoom(factor, x) {
        const at = this.timeAt(x), whole = this.m.end * 1.01 || 1;
        const span = Math.min(whole * 1.2, Math.max(this.m.clocked ? 2 : 4, (this.to - this.from) * factor));
        this.from = at - x / this.width * span;
        this.to = this.from + span;
        this.keepInside();
    }

    pan(pixels) {
        const move = pixels / this.width * (this.to - this.from);
        this.from += move;
        this.to += move;
        this.keepInside();
    }

    keepInside() {
        const span = this.to - this.from, whole = this.m.end * 1.01 || 1;
        const low = Math.min(0, whole - span) - span * 0.1, high = Math.max(whole - span, 0) + span * 0.1;
        this.from = Math.max(low, Math.min(high, this.from));
        this.to = this.from + span;
    }

    /* A window of `span` about an event. */
    around(event, span) {
        this.from = (event < 0 ? 0 : this.m.time[event]) - span / 2;
        this.to = this.from + span;
        this.keepInside();
    }

    /* Brings an event into the window. */
    reveal(event) {
        const t = this.m.time[event], span = this.to - this.from;
        if (t < this.from + span * 0.08 || t > this.to - span * 0.08) {
            this.from = t - span * 0.4;
            this.to = this.from + span;
            this.keepInside();
        }
        const track = this.m.home[event], y = this.eventY(event);
        if (track >= 0 && (y < this.scroller.scrollTop + RULER || y > this.scroller.scrollTop + this.tall - ROW))
            this.scroller.scrollTop = y - this.tall / 2;
    }

    eventY(event) {
        const track = this.m.home[event];
        if (track < 0)
            return this.heads[this.m.c.e.rank[event]] ? this.heads[this.m.c.e.rank[event]].y + HEAD / 2 : RULER;
        return this.y[track] + ROW / 2;
    }

    /* What lies at a pixel of the canvas: {track, event} or {head}, or null. */
    hit(x, y) {
        const at = y + this.scroller.scrollTop, t = this.timeAt(x), reach = 4 / this.width * (this.to - this.from);
        const head = this.heads.find((h) => at >= h.y && at < h.y + HEAD);
        if (head)
            return { head: head.rank };
        const n = this.m.tracks.findIndex((_, k) => this.h[k] && at >= this.y[k] && at < this.y[k] + this.h[k]);
        if (n < 0)
            return null;
        const track = this.m.tracks[n], marks = track.marks, near = nearest(marks.x, t);
        const rows = this.rowsOf(track), row = rows[Math.min(rows.length - 1, Math.floor((at - this.y[n]) / ROW))];
        const mark = near >= 0 && Math.abs(marks.x[near] - t) <= reach ? marks.event[near] : -1;
        if (mark >= 0)
            return { track, event: mark };
        const s = row ? upper(row.x0, t) - 1 : -1;
        if (s >= 0 && t <= row.x1[s] + reach)
            return { track, event: row.event[s], label: row.label[s] };
        return { track, event: -1 };
    }

    /* --- drawing -------------------------------------------------------------------------------------------------- */

    draw(cursor) {
        const g = this.g, top = this.scroller.scrollTop;
        this.byKNow = this.byK;
        g.fillStyle = this.theme.canvas;
        g.fillRect(0, 0, this.width, this.tall);
        g.font = '11px ' + this.theme.font;
        g.textBaseline = 'middle';
        for (const head of this.heads)
            this.drawHead(head, head.y - top);
        if (this.pulled.length)
            this.drawPulled(top);
        this.m.tracks.forEach((track, n) => {
            const y = this.y[n] - top;
            if (this.h[n] && y < this.tall && y + this.h[n] > 0)
                this.drawTrack(track, y, this.h[n]);
        });
        if (this.arrows)
            this.drawWaits(top);
        if (cursor > 0)
            this.drawCursor(this.m.order[cursor - 1], top);
        this.drawRuler();
    }

    drawHead(head, y) {
        if (y > this.tall || y + HEAD < 0)
            return;
        this.g.fillStyle = this.theme.head;
        this.g.fillRect(0, y, this.width, HEAD - 2);
    }

    /* Where the rows begin and end that a stop of the tour is about. */
    drawPulled(top) {
        this.drawHead(null, RULER - top);
        this.g.fillStyle = this.theme.mark;
        this.g.fillRect(0, this.pulledEnd - top - 3, this.width, 1);
    }

    drawTrack(track, y, h) {
        const g = this.g, rows = this.rowsOf(track);
        g.fillStyle = this.theme.line;
        g.fillRect(0, y + h - 1, this.width, 1);
        if (track.under)
            track.under.forEach((row) => this.drawRow(row, y));
        rows.forEach((row, n) => this.drawRow(row, y + n * ROW));
        this.drawMarks(track.marks, y, Math.max(1, rows.length) * ROW);
        if (track.kind === 'barrier')
            this.drawCounts(track.of, y);
    }

    drawRow(row, y) {
        const g = this.g, { palette, ink } = this.theme, scale = this.width / (this.to - this.from);
        const { x0, x1, queued, shape } = row, n = x0.length, color = this.byKNow ? row.byK : row.byTile;
        let i = Math.max(0, upper(x0, this.from) - 1), run = -1, runFrom = 0, runTo = 0, done = -9;
        const flush = () => {
            if (run >= 0) {
                g.fillStyle = palette[run];
                g.fillRect(runFrom, y, Math.max(1, runTo - runFrom), ROW - 2);
            }
            run = -1;
        };
        while (i < n && x0[i] <= this.to) {
            const a = Math.max(-9, (x0[i] - this.from) * scale);
            const b = Math.min(this.width + 9, (x1[i] - this.from) * scale);
            if (b - a < 2) { /* narrow ones of a colour that touch become one */
                const paint = shape[i] === SHAPE.wait ? COLOR.wait : color[i];
                if (run !== paint || a > runTo + 1) {
                    flush();
                    run = paint;
                    runFrom = a;
                }
                runTo = Math.max(a + 1, b);
                i = skip(x0, i, this.from + (a + 1) / scale);
                continue;
            }
            flush();
            if (queued[i] < x0[i]) { /* a line while it is queued, but not across what is before it */
                const from = Math.max(done, (queued[i] - this.from) * scale);
                g.fillStyle = palette[color[i]];
                g.fillRect(from, y + ROW / 2 - 1, Math.max(0, a - from), 1);
            }
            done = Math.max(done, b);
            if (b > -9)
                drawShape(g, this.theme, shape[i], color[i], a, b, y, (row.begun[i] - this.from) * scale);
            const next = i + 1 < n ? (x0[i + 1] - this.from) * scale : b; /* which may cover its end */
            if (Math.min(b, next) - a > 30 && shape[i] !== SHAPE.works && shape[i] !== SHAPE.commit)
                this.write(row.label[i], a, Math.min(next, b - (POINTED.includes(shape[i]) ? 7 : 0)), y,
                    shape[i] === SHAPE.wait ? ink[COLOR.wait] : WRITTEN.includes(shape[i]) ? ink[color[i]]
                        : this.theme.text);
            i++;
        }
        flush();
    }

    write(text, a, b, y, ink) {
        const from = Math.max(a, 0) + 4, shown = fitting(text, Math.floor((Math.min(b, this.width) - from - 2) / 6.2));
        if (!shown)
            return;
        this.g.fillStyle = ink;
        this.g.fillText(shown, from, y + ROW / 2 - 0.5);
    }

    drawMarks(marks, y, h) {
        const g = this.g, scale = this.width / (this.to - this.from), { x } = marks;
        let from = -9, to = -9;
        g.fillStyle = this.theme.mark;
        for (let i = upper(x, this.from - 1e-9); i < x.length && x[i] <= this.to;) {
            const at = Math.floor((x[i] - this.from) * scale);
            if (at > to + 1) {
                g.fillRect(from, y + h - 5, to - from + 1, 4);
                from = at;
            }
            to = at;
            i = skip(x, i, this.from + (at + 1) / scale);
        }
        g.fillRect(from, y + h - 5, to - from + 1, 4);
    }

    /* Of an mbarrier: the share of its arrivals that is pending, as a line that falls, and under it that of its bytes.
     * */
    drawCounts(bar, y) {
        const { place, value } = bar.state;
        if (bar.kind !== OBJECT.MBARRIER || (this.to - this.from > this.m.end / 2 && place.length > 2000))
            return;
        this.drawShare(bar, y, this.theme.mark, (s) => s.pending / (s.expected || 1));
        if (bar.most)
            this.drawShare(bar, y, this.theme.cursor, (s) => s.tx / bar.most);
    }

    drawShare({ state: { place, value } }, y, color, share) {
        const g = this.g, m = this.m, low = Math.max(1, upper(place, this.placeAt(this.from)) - 1);
        g.strokeStyle = color;
        g.beginPath();
        for (let n = low, drawn = 0; n < place.length && drawn < 1500; n++, drawn++) {
            const x = this.x(m.time[m.order[place[n]]]), part = value[n] ? Math.max(0, Math.min(1, share(value[n])))
                : 0;
            if (x > this.width)
                break;
            const next = n + 1 < place.length ? this.x(m.time[m.order[place[n + 1]]]) : this.width;
            g.moveTo(x, y + (ROW - 3) * (1 - part) + 0.5);
            g.lineTo(Math.min(next, this.width), y + (ROW - 3) * (1 - part) + 0.5);
        }
        g.stroke();
    }

    /* How many events have happened at a time, less one. */
    placeAt(time) {
        const m = this.m;
        let low = 0, high = m.order.length;
        while (low < high) {
            const mid = (low + high) >> 1;
            if (m.time[m.order[mid]] <= time)
                low = mid + 1;
            else
                high = mid;
        }
        return low - 1;
    }

    /* An arrow from what ended each wait in the window to its end; of those that end in the same few pixels of a track,
     * one. */
    drawWaits(top) {
        const m = this.m, ends = this.waitEnds(), drawn = new Set();
        const low = upper(ends.x, this.from), high = upper(ends.x, this.to), crowded = high - low > 300;
        this.g.globalAlpha = crowded ? 0.35 : 0.55;
        for (let n = low; n < high && drawn.size < 600;) {
            const end = ends.event[n], x = Math.floor(this.x(ends.x[n]) / 8), key = x * 4096 + m.home[end];
            const hidden = !this.joins && JOINS.includes(m.c.e.what[end]);
            if (m.cause[end] && !hidden && !m.c.e.cluster[end] && !(crowded && drawn.has(key))) {
                drawn.add(key);
                this.arrow(m.why(end) - 1, end, top, this.theme.arrow, 1);
            }
            n = high - low > 20000 ? skip(ends.x, n, this.timeAt(x * 8 + 1)) : n + 1;
        }
        this.g.globalAlpha = 1;
    }

    waitEnds() {
        if (this.endsOf !== this.m) {
            this.endsOf = this.m;
            this.ends = this.m.points(this.m.waits.map((w) => w.end));
        }
        return this.ends;
    }

    arrow(from, to, top, color, width) {
        const g = this.g, x0 = this.x(this.m.time[from]), x1 = this.x(this.m.time[to]);
        const y0 = this.eventY(from) - top, y1 = this.eventY(to) - top;
        if ((y0 < 0 && y1 < 0) || (y0 > this.tall && y1 > this.tall))
            return;
        const bend = Math.max(6, Math.min(40, Math.abs(x1 - x0) / 2));
        g.strokeStyle = g.fillStyle = color;
        g.lineWidth = width;
        g.beginPath();
        g.moveTo(x0, y0);
        g.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
        g.stroke();
        g.beginPath();
        g.moveTo(x1 + 1, y1);
        g.lineTo(x1 - 6, y1 - 3.5);
        g.lineTo(x1 - 6, y1 + 3.5);
        g.fill();
        g.lineWidth = 1;
    }

    /* The current event, the chain of causes that led to it, and what it caused. */
    drawCursor(event, top) {
        const g = this.g, x = this.x(this.m.time[event]);
        g.fillStyle = this.theme.cursor;
        g.fillRect(x - 0.5, RULER, 2, this.tall);
        for (let at = event, depth = 0; depth < 8 && this.m.cause[at] && !this.m.c.e.cluster[at]; depth++) {
            g.globalAlpha = 1 - depth / 9;
            this.arrow(this.m.why(at) - 1, at, top, this.theme.cursor, 2);
            at = this.m.why(at) - 1;
        }
        g.globalAlpha = 1;
        for (const effect of this.effectsOf(event).slice(0, 24))
            this.arrow(event, effect, top, this.theme.effect, 1.5);
        g.strokeStyle = this.theme.cursor;
        g.lineWidth = 2;
        g.strokeRect(x - 4, this.eventY(event) - top - 6, 9, 12);
        g.lineWidth = 1;
    }

    /* The events that have this one as their cause. */
    effectsOf(event) {
        if (!this.effects) {
            this.effects = new Map();
            this.m.cause.forEach((cause, i) => {
                if (!cause || this.m.c.e.cluster[i])
                    return;
                if (!this.effects.has(cause - 1))
                    this.effects.set(cause - 1, []);
                this.effects.get(cause - 1).push(i);
            });
        }
        return this.effects.get(event) || [];
    }

    drawRuler() {
        const g = this.g, span = this.to - this.from, step = niceStep(span / Math.max(2, this.width / 90));
        g.fillStyle = this.theme.canvas;
        g.fillRect(0, 0, this.width, RULER - 2);
        g.fillStyle = this.theme.text;
        for (let t = Math.ceil(Math.max(0, this.from) / step) * step; t <= this.to; t += step) {
            const x = this.x(t);
            g.fillRect(x, RULER - 6, 1, 4);
            g.fillText(number(Math.round(t)), x + 3, RULER / 2 - 1);
        }
        g.fillRect(0, RULER - 2, this.width, 1);
        if (this.found)
            for (const event of this.found.slice(0, 2000)) {
                g.fillStyle = this.theme.cursor;
                g.fillRect(this.x(this.m.time[event]), 0, 2, 5);
            }
    }
}

/* A label in the room of so many letters: of a wait the barrier's name stays longest; what says nothing is dropped. */
function fitting(text, room) {
    const name = text.replace(/^waits (for|at) /, ''), bare = name.replace(/, (parity|phase) \d+$/, '');
    const whole = [text, name, bare].find((t) => t.length <= room);
    return whole !== undefined ? whole : room >= LEAST_LETTERS ? bare.slice(0, room - 1) + '…' : '';
}

function niceStep(wanted) {
    const power = Math.pow(10, Math.floor(Math.log10(Math.max(wanted, 1))));
    return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= wanted) || 10 * power;
}

/* From the i-th of the sorted numbers on, the first behind i that is at least x: near ones by steps, far ones by
 * halves. */
function skip(sorted, i, x) {
    for (let steps = 0; steps < 6; steps++)
        if (++i >= sorted.length || sorted[i] >= x)
            return i;
    let stride = 8, low = i;
    while (low + stride < sorted.length && sorted[low + stride] < x) {
        low += stride;
        stride *= 2;
    }
    let high = Math.min(sorted.length, low + stride);
    while (low < high) {
        const mid = (low + high) >> 1;
        if (sorted[mid] < x)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

function nearest(sorted, x) {
    const n = upper(sorted, x);
    if (!sorted.length)
        return -1;
    if (n === 0)
        return 0;
    return n < sorted.length && sorted[n] - x < x - sorted[n - 1] ? n : n - 1;
}
