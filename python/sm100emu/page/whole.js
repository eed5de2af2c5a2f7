/* whole.js - above the tracks: a map of all of the time, with the window that the tracks show; and the legend. */

const WHOLE_ROWS = [['engine', 'TMA'], ['engine', 'tensor core'], ['engine', 'tensor memory']];

class Whole {
    constructor(view) {
        this.v = view;
        this.canvas = el('canvas', {});
        this.window = el('div', { class: 'shown' });
        this.mark = el('div', { class: 'mark' });
        this.root = el('div', { class: 'whole', tabindex: 0, role: 'slider', 'aria-orientation': 'horizontal',
            'aria-label': 'The window of time that is shown', 'aria-valuemin': 0 }, this.canvas, this.window, this.mark);
        this.root.addEventListener('keydown', (e) => this.key(e));
        for (const name of ['pointerdown', 'pointermove'])
            this.root.addEventListener(name, (e) => this.drag(e));
    }

    /* A click or a drag brings the middle of the window there. */
    drag(e) {
        if (e.type === 'pointerdown')
            this.root.setPointerCapture(e.pointerId);
        else if (!e.buttons)
            return;
        const t = this.v.tracks, box = this.root.getBoundingClientRect();
        const at = (e.clientX - box.left) / box.width * this.end, span = t.to - t.from;
        t.from = at - span / 2;
        t.to = at + span / 2;
        t.keepInside();
        this.v.app.linkWindows(this.v);
    }

    key(e) {
        const t = this.v.tracks, step = t.width / 5, span = t.to - t.from;
        const acts = {
            ArrowRight: () => t.pan(step), ArrowLeft: () => t.pan(-step), ArrowUp: () => t.pan(step),
            ArrowDown: () => t.pan(-step), PageUp: () => t.pan(4 * step), PageDown: () => t.pan(-4 * step),
            Home: () => { t.from = 0; t.to = span; }, End: () => { t.to = this.end; t.from = t.to - span; },
        };
        if (!acts[e.key] || e.ctrlKey || e.metaKey || e.altKey)
            return;
        acts[e.key]();
        this.v.app.linkWindows(this.v);
        e.preventDefault();
        e.stopPropagation();
    }

    get end() {
        return this.v.m.end * 1.01 || 1;
    }

    /* The picture where it is another; the window and the cursor lie over it. */
    draw() {
        const t = this.v.tracks, theme = this.v.app.theme, ratio = window.devicePixelRatio || 1, byK = t.byK;
        const w = this.canvas.clientWidth, h = this.canvas.clientHeight, place = (x) => Math.round(x / this.end * w);
        const key = [w, h, ratio, byK, theme.canvas, [...t.open]].join();
        if (this.drawn !== key || this.of !== this.v.m) {
            this.drawn = key;
            this.of = this.v.m;
            this.paint(w, h, ratio, byK);
        }
        const a = Math.max(0, place(t.from)), b = Math.min(w, place(t.to)), event = this.v.event;
        this.window.style.transform = 'translateX(' + a + 'px)';
        this.window.style.width = Math.max(4, b - a) + 'px';
        this.mark.style.transform = 'translateX(' + (event < 0 ? -9 : place(this.v.m.time[event])) + 'px)';
        this.say();
    }

    say() {
        const t = this.v.tracks, from = Math.max(0, Math.round(t.from)), to = Math.round(Math.min(this.end, t.to));
        const text = (this.v.m.clocked ? 'cycles ' : 'events ') + number(from) + ' to ' + number(to) + ' of ' +
            number(Math.round(this.v.m.end));
        if (this.said === text)
            return;
        this.said = text;
        this.root.setAttribute('aria-valuenow', Math.round((from + to) / 2));
        this.root.setAttribute('aria-valuemax', Math.round(this.end));
        this.root.setAttribute('aria-valuetext', text);
        this.root.title = text + ': click or drag to go there';
    }

    /* Copies, UMMAs and tensor memory of the open CTAs. */
    paint(w, h, ratio, byK) {
        const { m, tracks, app: { theme } } = this.v, made = this.canvas;
        Object.assign(made, { width: Math.max(1, Math.round(w * ratio)), height: Math.max(1, Math.round(h * ratio)) });
        const g = made.getContext('2d', { alpha: false }), high = Math.floor((h - 6) / WHOLE_ROWS.length);
        g.setTransform(ratio, 0, 0, ratio, 0, 0);
        g.fillStyle = theme.head;
        g.fillRect(0, 0, w, h);
        for (const track of m.tracks.filter((t) => tracks.open.has(t.rank)))
            WHOLE_ROWS.forEach(([kind, label], n) => {
                if (track.kind === kind && track.label === label)
                    track.rows.forEach((row) => this.bars(g, theme, row, 3 + n * high, high - 1, w, byK));
            });
    }

    bars(g, theme, { x0, x1, byK, byTile }, y, h, w, mode) {
        for (let i = 0; i < x0.length; i++) {
            g.fillStyle = theme.palette[(mode ? byK : byTile)[i]];
            g.fillRect(x0[i] / this.end * w, y, Math.max(1, (x1[i] - x0[i]) / this.end * w), h);
        }
    }
}

/* Lines, ticks and arrows: what they say, and how to draw one of them 26 x 14. */
const SIGNS = [
    ['arrivals still to come', (g, theme) => falls(g, theme.mark), 'mbarrier'],
    ['bytes still to come', (g, theme) => falls(g, theme.cursor), 'mbarrier'],
    ['an event', (g, theme) => {
        g.fillStyle = theme.mark;
        [6, 13, 19].forEach((x) => g.fillRect(x, 9, 1, 4));
    }],
    ['what ended a wait', (g, theme) => points(g, theme.arrow)],
    ['causes of this event', (g, theme) => points(g, theme.cursor)],
    ['what it causes', (g, theme) => points(g, theme.effect)],
];

/* A line that falls by steps. */
function falls(g, color) {
    g.strokeStyle = color;
    g.beginPath();
    [[0, 2.5], [9, 2.5], [9, 6.5], [18, 6.5], [18, 11.5], [26, 11.5]].forEach(([x, y]) => g.lineTo(x, y));
    g.stroke();
}

function points(g, color) {
    g.strokeStyle = g.fillStyle = color;
    polygon(g, [25, 7], [18, 3.5], [18, 10.5]);
    g.fill();
    g.fillRect(1, 6.5, 18, 1.5);
}

/* What colours and shapes mean, of those that the model has; it is as the tracks are drawn. */
class Legend {
    constructor(app) {
        this.app = app;
        this.root = document.getElementById('legend');
        this.drawn = '';
        this.button = el('button', { type: 'button', 'aria-expanded': 'false', onclick: () => this.unfold() },
            'All marks');
    }

    /* On a phone only the colours are in sight, and all by this button. */
    unfold() {
        this.button.setAttribute('aria-expanded', String(this.root.classList.toggle('open')));
        this.app.views.forEach((v) => v.makeLabels());
        this.app.redraw();
    }

    draw() {
        const v = this.app.active, byK = v.tracks.byK, key = [byK, this.app.theme.canvas, v.index, v.launch, v.cluster].join();
        if (this.drawn === key)
            return;
        this.drawn = key;
        const { tiles, kTiles } = v.m.tiles, n = Math.min(TILE_COLORS.length, byK ? kTiles : tiles), theme = this.app.theme;
        const seen = new Set(v.m.tracks.flatMap((t) => t.rows.flatMap((r) => [...new Set(r.shape)])));
        const color = n ? TILE_COLORS[0] : COLOR.none, more = (byK ? kTiles : tiles) > n;
        const colors = Array.from({ length: n }, (_, i) =>
            el('span', { class: 'swatch c' + TILE_COLORS[i] }, String(i)));
        this.root.replaceChildren(...[
            n ? el('li', { class: 'colors' }, byK ? 'colour: K tile ' : 'colour: tile of D ', ...colors,
                more ? ' and again' : '') : null,
            ...KINDS.filter(([shape]) => seen.has(shape)).map(([shape, text]) => el('li', {},
                sample(theme, shape, shape === SHAPE.wait || shape === SHAPE.bad ? COLOR[KEY_OF[shape]] : color), text)),
            ...SIGNS.filter(([, , of]) => !of || v.m.hasMbarriers).map(([text, draw]) =>
                el('li', {}, picture((g) => draw(g, theme)), text)),
            el('li', { class: 'fold' }, this.button),
        ].filter(Boolean));
    }
}

const KEY_OF = { [SHAPE.wait]: 'wait', [SHAPE.bad]: 'bad' };

function sample(theme, shape, color) {
    return picture((g) => drawShape(g, theme, shape, color, 0, 26, 1, 8));
}

function picture(draw) {
    const made = el('canvas', { class: 'sample', 'aria-hidden': 'true' }), ratio = window.devicePixelRatio || 1;
    Object.assign(made, { width: 26 * ratio, height: 14 * ratio });
    const g = made.getContext('2d');
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw(g);
    return made;
}
