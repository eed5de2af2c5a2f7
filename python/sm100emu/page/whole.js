/* whole.js - above the tracks: a map of all of the time, with the window that the tracks show; and the legend. */

const WHOLE_ROWS = [['engine', 'TMA'], ['engine', 'tensor core'], ['engine', 'tensor memory']];

class Whole {
    constructor(view) {
        this.v = view;
        this.canvas = el('canvas', { class: 'whole', tabindex: 0, role: 'slider', 'aria-orientation': 'horizontal',
            'aria-label': 'The window of time that is shown', 'aria-valuemin': 0 });
        this.canvas.addEventListener('keydown', (e) => this.key(e));
        for (const name of ['pointerdown', 'pointermove'])
            this.canvas.addEventListener(name, (e) => this.drag(e));
    }

    /* A click or a drag brings the middle of the window there. */
    drag(e) {
        if (e.type === 'pointerdown')
            this.canvas.setPointerCapture(e.pointerId);
        else if (!e.buttons)
            return;
        const t = this.v.tracks, box = this.canvas.getBoundingClientRect();
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

    draw() {
        const t = this.v.tracks, theme = this.v.app.theme, ratio = window.devicePixelRatio || 1;
        const w = this.canvas.clientWidth, h = this.canvas.clientHeight, byK = t.byK;
        const key = [w, h, ratio, byK, theme.canvas, [...t.open]].join();
        if (this.drawn !== key || this.of !== this.v.m) {
            this.drawn = key;
            this.of = this.v.m;
            this.picture = this.paint(w, h, ratio, byK);
        }
        if (this.canvas.width !== this.picture.width || this.canvas.height !== this.picture.height)
            Object.assign(this.canvas, { width: this.picture.width, height: this.picture.height });
        const g = this.canvas.getContext('2d', { alpha: false });
        g.setTransform(1, 0, 0, 1, 0, 0);
        g.drawImage(this.picture, 0, 0);
        g.setTransform(ratio, 0, 0, ratio, 0, 0);
        const a = Math.max(0, t.from / this.end * w), b = Math.min(w, t.to / this.end * w);
        g.globalAlpha = 0.55;
        g.fillStyle = theme.canvas;
        g.fillRect(0, 0, a, h);
        g.fillRect(b, 0, w - b, h);
        g.globalAlpha = 1;
        g.strokeStyle = g.fillStyle = theme.cursor;
        g.lineWidth = 2;
        g.strokeRect(a + 1, 1, Math.max(3, b - a - 2), h - 2);
        if (this.v.event >= 0)
            g.fillRect(this.v.m.time[this.v.event] / this.end * w, 0, 2, h);
        this.say();
    }

    say() {
        const t = this.v.tracks, from = Math.max(0, Math.round(t.from)), to = Math.round(Math.min(this.end, t.to));
        const text = (this.v.m.clocked ? 'cycles ' : 'events ') + number(from) + ' to ' + number(to) + ' of ' +
            number(Math.round(this.v.m.end));
        if (this.said === text)
            return;
        this.said = text;
        this.canvas.setAttribute('aria-valuenow', Math.round((from + to) / 2));
        this.canvas.setAttribute('aria-valuemax', Math.round(this.end));
        this.canvas.setAttribute('aria-valuetext', text);
        this.canvas.title = text + ': click or drag to go there';
    }

    /* Copies, UMMAs and tensor memory of the open CTAs. */
    paint(w, h, ratio, byK) {
        const made = document.createElement('canvas'), { m, tracks, app: { theme } } = this.v;
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
        return made;
    }

    bars(g, theme, { x0, x1, byK, byTile }, y, h, w, mode) {
        for (let i = 0; i < x0.length; i++) {
            g.fillStyle = theme.palette[(mode ? byK : byTile)[i]];
            g.fillRect(x0[i] / this.end * w, y, Math.max(1, (x1[i] - x0[i]) / this.end * w), h);
        }
    }
}

/* What colours and shapes mean, of those that the model has; it is as the tracks are drawn. */
class Legend {
    constructor(app) {
        this.app = app;
        this.root = document.getElementById('legend');
        this.drawn = '';
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
        ].filter(Boolean));
    }
}

const KEY_OF = { [SHAPE.wait]: 'wait', [SHAPE.bad]: 'bad' };

function sample(theme, shape, color) {
    const made = el('canvas', { class: 'sample', 'aria-hidden': 'true' }), ratio = window.devicePixelRatio || 1;
    Object.assign(made, { width: 26 * ratio, height: 14 * ratio });
    const g = made.getContext('2d');
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawShape(g, theme, shape, color, 0, 26, 1, 8);
    return made;
}
