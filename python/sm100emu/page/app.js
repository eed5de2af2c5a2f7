/* app.js - the page: one run or two, the keys, the search, light and dark. */

const KEYS = [
    ['Right, Left', 'the next event, the one before'],
    ['], [', 'the next phase of a barrier that is completed, the one before'],
    ['Down, Up', 'the next event of the same warp or engine, the one before'],
    ['w, W', 'the next wait for an mbarrier that ends in the CTA in view, the one before'],
    ['v, V', 'the next wait of any kind that ends in any CTA, the one before'],
    ['c', "to the event's cause"],
    ['e', 'to what it caused first'],
    ['Home, End', 'before the first event, to the last'],
    ['+, -', 'zoom'],
    ['Shift Right, Shift Left', 'pan'],
    ['Page Down, Page Up', 'scroll the page; with Shift, the tracks'],
    ['0', 'show all of the time'],
    ['1', 'show the first K tiles again'],
    ['k', 'colour: by K tile, by tile of D, or by how much is shown'],
    ['j', 'show where lanes of a warp wait for each other, or not'],
    ['p', 'play, stop'],
    ['a', 'arrows of cause for every wait, on and off'],
    ['x', 'time: model clock or order of events'],
    ['/', 'search; then n and N: next and previous match'],
    ['d', 'two runs: the first event that the other has not, or has otherwise'],
    ['l', 'two runs: link the steps by event, by time, or not'],
    ['b', 'bright, dark, or as the system has it'],
    ['?', 'these keys'],
];
const TOUR_KEYS = [
    ['t, T', 'the tour: begin, the next stop; the stop before'],
    ['Escape', 'close the tour'],
];
const FOLLOWS = ['auto', 'K tile', 'tile of D'];
const LINKS = ['same event', 'same time', 'off'];
const THEMES = ['system', 'light', 'dark'];
const COLORS = 10;

class App {
    constructor(data) {
        this.data = data;
        this.link = 0;
        this.themeChoice = 0;
        this.theme = {};
        this.readTheme();
        this.views = data.runs.filter((run) => run.logs.length).map((run, i) => new View(this, run, i));
        this.active = this.views[0];
        this.tour = this.active ? this.active.tour : null;
        this.matches = [];
        document.getElementById('runs').replaceChildren(...this.views.map((v) => v.root));
        document.getElementById('runs').classList.toggle('two', this.views.length > 1);
        for (const v of this.views)
            v.root.addEventListener('focusin', () => { this.active = v; });
        this.legend = new Legend(this);
        this.toolbar();
        this.help();
        document.addEventListener('keydown', (e) => this.key(e));
        window.addEventListener('resize', () => {
            this.views.forEach((v) => v.makeLabels());
            this.redraw();
        });
        matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.readTheme());
        this.redraw();
    }

    /* --- light and dark ------------------------------------------------------------------------------------------- */

    readTheme() {
        const root = document.documentElement, choice = THEMES[this.themeChoice];
        if (choice === 'system')
            root.removeAttribute('data-theme');
        else
            root.setAttribute('data-theme', choice);
        const style = getComputedStyle(root), value = (name) => style.getPropertyValue('--' + name).trim();
        for (const name of ['canvas', 'head', 'line', 'mark', 'arrow', 'cursor', 'effect', 'text', 'edge', 'font'])
            this.theme[name] = value(name);
        this.theme.palette = Array.from({ length: COLORS }, (_, i) => value('c' + i));
        this.theme.ink = Array.from({ length: COLORS }, (_, i) => value('i' + i));
        this.redraw();
    }

    /* --- elements ------------------------------------------------------------------------------------------------- */

    toolbar() {
        const button = (text, label, on) =>
            el('button', { type: 'button', onclick: on, title: label, 'aria-label': label }, text);
        const press = (key) => () => this.command(key, false);
        const two = this.views.length > 1;
        this.themeButton = button('Theme: system', 'Theme: system', press('b'));
        this.linkButton = two ? button('Linked: same event', 'Linked: same event', press('l')) : null;
        const clocked = this.views.some((v) => v.c.clocked);
        this.axisButton = clocked ? button('Time: model clock', 'Time: model clock', press('x')) : null;
        this.joinsButton = this.views.some((v) => v.m.tracks.some((t) => t.more && t.more.length))
            ? button('Lanes', 'Where lanes of a warp wait for each other', press('j')) : null;
        if (this.joinsButton)
            this.joinsButton.setAttribute('aria-pressed', 'false');
        this.playButton = button('Play', 'Play', press('p'));
        this.searchField = el('input', { type: 'search', 'aria-label': 'Search events', placeholder: 'Search',
            onkeydown: (e) => {
            if (e.key === 'Enter') {
                this.search(this.searchField.value, e.shiftKey ? -1 : 1);
                e.preventDefault();
            } else if (e.key === 'Escape') {
                this.active.canvas.focus();
            }
            e.stopPropagation();
        } });
        this.searchSays = el('span', { class: 'faint', role: 'status' });
        this.tourButton = this.tour ? button('Tour', 'Tour of ' + this.tour.stops.length + ' stops', () => this.switchTour())
            : null;
        if (this.tourButton)
            this.tourButton.classList.add('lead');
        document.getElementById('toolbar').replaceChildren(...[
            this.tourButton, button('|◀', 'Before the first event', press('Home')),
            button('◀ phase', 'Previous phase of a barrier', press('[')),
            button('◀', 'Previous event', press('ArrowLeft')), button('▶', 'Next event', press('ArrowRight')),
            button('phase ▶', 'Next phase of a barrier', press(']')), button('▶|', 'Last event', press('End')),
            button('wait ▶', 'Next wait', press('w')), this.playButton, button('Cause', 'To the cause', press('c')), button('−', 'Zoom out', press('-')),
            button('+', 'Zoom in', press('+')), button('First', 'The first K tiles', press('1')),
            button('All', 'All of the time', press('0')), this.joinsButton, this.axisButton, this.linkButton,
            two ? button('First difference', 'First difference of the runs', press('d')) : null,
            this.searchField, this.searchSays, this.themeButton, button('?', 'Keys', press('?')),
        ].filter(Boolean));
    }

    help() {
        this.dialog = document.getElementById('help');
        const rows = [...(this.tour ? TOUR_KEYS : []), ...KEYS].map(([key, text]) => el('tr', {}, el('th', { scope: 'row' }, key), el('td', {}, text)));
        const close = el('button', { type: 'button', onclick: () => this.dialog.close() }, 'Close');
        this.dialog.replaceChildren(el('div', { class: 'row' }, el('h2', { id: 'helptitle' }, 'Keys'), close),
            el('table', {}, el('tbody', {}, ...rows)),
            el('p', {}, 'Wheel or two fingers: zoom. Drag, or Shift and wheel: pan. Alt and wheel, or the wheel on ' +
                'the names: scroll. ' +
                'Click: that event. The tracks can be read as a table below each run.'));
    }

    setButton(button, text) {
        if (!button)
            return;
        button.textContent = text;
        button.title = text;
        button.setAttribute('aria-label', text);
    }

    /* --- moving --------------------------------------------------------------------------------------------------- */

    redraw() {
        if (this.frame)
            return;
        this.frame = requestAnimationFrame(() => {
            this.frame = 0;
            for (const v of this.views || []) {
                v.draw();
                if (v.shown !== v.k)
                    v.refresh();
            }
            if (this.legend)
                this.legend.draw();
        });
    }

    /* A view is to be moved after its k-th event, and the other with it. */
    move(view, k) {
        view.moveTo(k);
        const other = this.views.find((v) => v !== view);
        if (!other || LINKS[this.link] === 'off' || view.event < 0) {
            if (other && LINKS[this.link] !== 'off' && view.event < 0)
                other.moveTo(0);
            return;
        }
        if (LINKS[this.link] === 'same event') {
            const there = counterpart(view, other, view.event);
            let before = view.k - 1; /* where it has none: what came before it, and has one */
            while (before > 0 && counterpart(view, other, view.m.order[before]) < 0)
                before--;
            const last = counterpart(view, other, view.m.order[before]);
            if (last >= 0)
                other.moveTo(other.m.place[last] + 1);
            other.root.classList.toggle('without', there < 0);
            view.root.classList.remove('without');
        } else {
            const t = view.m.time[view.event];
            other.moveTo(other.tracks.placeAt(t) + 1);
        }
    }

    /* The other run shows the same window of time. */
    linkWindows(view) {
        for (const v of this.views)
            if (v !== view && LINKS[this.link] !== 'off') {
                v.tracks.from = view.tracks.from;
                v.tracks.to = view.tracks.to;
            }
        this.redraw();
    }

    play() {
        this.playing = !this.playing;
        this.setButton(this.playButton, this.playing ? 'Stop' : 'Play');
        const step = () => {
            if (!this.playing)
                return;
            const v = this.active;
            if (v.k >= v.c.size)
                this.play();
            else {
                this.move(v, v.k + 1);
                setTimeout(step, 250);
            }
        };
        step();
    }

    /* --- keys ----------------------------------------------------------------------------------------------------- */

    key(e) {
        if (e.ctrlKey || e.metaKey || e.altKey || this.dialog.open ||
            /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName))
            return;
        if ((e.key === ' ' || e.key === 'Enter') && e.target.tagName !== 'CANVAS')
            return;
        if (/^(Arrow|Home|End|Page)/.test(e.key) && e.target.closest('pre, .wide, .scroller') &&
            e.target.tagName !== 'CANVAS')
            return;
        if (this.command(e.key, e.shiftKey))
            e.preventDefault();
    }

    /* Does what a key says; whether it says anything. */
    command(key, shift) {
        const v = this.active, t = v.tracks, middle = t.x(v.event >= 0 ? v.m.time[v.event] : 0);
        const centre = middle > 0 && middle < t.width ? middle : t.width / 2;
        const moves = {
            ArrowRight: () => v.k + 1, ArrowLeft: () => v.k - 1,
            ']': () => v.nextOf(v.m.phases, 1), '[': () => v.nextOf(v.m.phases, -1),
            ArrowDown: () => v.nextOfTrack(1), ArrowUp: () => v.nextOfTrack(-1),
            w: () => v.nextWait(1), W: () => v.nextWait(-1), v: () => v.nextWait(1, true), V: () => v.nextWait(-1, true),
            Home: () => 0, End: () => v.c.size, c: () => this.causeOf(v), e: () => this.effectOf(v),
        };
        const acts = {
            '+': () => t.zoom(0.7, centre), '=': () => t.zoom(0.7, centre), '-': () => t.zoom(1 / 0.7, centre),
            0: () => t.fit(), 1: () => v.begin(), k: () => this.switchColor(), j: () => this.switchJoins(),
            a: () => this.views.forEach((w) => { w.tracks.arrows = !w.tracks.arrows; }),
        };
        const rest = {
            p: () => this.play(), x: () => this.switchAxis(), d: () => this.firstDifference(),
            '/': () => this.searchField.focus(), n: () => this.nextMatch(1), N: () => this.nextMatch(-1),
            l: () => this.switchLink(), b: () => this.switchTheme(),
            ...this.tourActs(),
            '?': () => this.dialog.showModal(),
            PageDown: () => this.page(v, shift, 1), PageUp: () => this.page(v, shift, -1),
        };
        if (shift && (key === 'ArrowRight' || key === 'ArrowLeft')) {
            t.pan((key === 'ArrowRight' ? 1 : -1) * t.width / 5);
            this.linkWindows(v);
        } else if (moves[key])
            this.move(v, moves[key]());
        else if (acts[key]) {
            acts[key]();
            this.linkWindows(v);
        } else if (rest[key])
            rest[key]();
        else
            return false;
        return true;
    }

    /* The page, or with Shift the tracks, by most of what is seen of it. */
    page(v, shift, direction) {
        if (shift)
            v.scroller.scrollTop += direction * v.tracks.tall * 0.8;
        else
            window.scrollBy(0, direction * 0.8 * (window.innerHeight - this.headEnd() - v.foot.offsetHeight));
    }

    causeOf(v) {
        const cause = v.event >= 0 ? v.m.why(v.event) : 0;
        return cause && !v.c.e.cluster[v.event] ? v.m.place[cause - 1] + 1 : v.k;
    }

    effectOf(v) {
        const list = v.event >= 0 ? v.tracks.effectsOf(v.event) : [];
        return list.length ? Math.min(...list.map((i) => v.m.place[i])) + 1 : v.k;
    }

    switchAxis() {
        for (const v of this.views) {
            v.clocked = !v.clocked;
            v.choose();
        }
        this.setButton(this.axisButton, 'Time: ' + (this.active.clocked ? 'model clock' : 'order of events'));
    }

    switchColor() {
        const next = FOLLOWS[(FOLLOWS.indexOf(this.active.tracks.follows) + 1) % FOLLOWS.length];
        this.views.forEach((v) => { v.tracks.follows = next; });
        this.shownAgain();
    }

    switchJoins() {
        for (const v of this.views) {
            v.tracks.joins = !v.tracks.joins;
            v.tracks.layout();
            v.makeLabels();
        }
        if (this.joinsButton)
            this.joinsButton.setAttribute('aria-pressed', String(this.active.tracks.joins));
    }

    /* What the keys of a tour do, if there is one; Escape only while it is open. */
    tourActs() {
        const { tour } = this;
        if (!tour)
            return {};
        const acts = { t: () => tour.step(1), T: () => tour.at >= 0 && tour.step(-1) };
        return tour.at < 0 ? acts : { ...acts, Escape: () => tour.close() };
    }

    switchTour() {
        if (this.tour.at < 0)
            this.tour.step(1);
        else
            this.tour.close();
    }

    /* The tour has opened or closed. */
    toured() {
        this.tourButton.setAttribute('aria-pressed', String(this.tour.at >= 0));
        this.redraw();
    }

    /* Where what stays at the top of the screen ends: the header, or on a phone the legend. */
    headEnd() {
        const head = document.querySelector('header'), box = head.getBoundingClientRect();
        return box.height ? box.height : document.getElementById('legend').offsetHeight;
    }

    /* The panels, too, are to be made anew. */
    shownAgain() {
        this.views.forEach((v) => { v.shown = -1; });
        this.redraw();
    }

    switchLink() {
        this.link = (this.link + 1) % LINKS.length;
        this.setButton(this.linkButton, 'Linked: ' + LINKS[this.link]);
    }

    switchTheme() {
        this.themeChoice = (this.themeChoice + 1) % THEMES.length;
        this.setButton(this.themeButton, 'Theme: ' + THEMES[this.themeChoice]);
        this.readTheme();
    }

    /* --- search --------------------------------------------------------------------------------------------------- */

    /* Events whose sentence, place or PTX has the words; then the next one. */
    search(text, direction) {
        const v = this.active, wanted = text.trim().toLowerCase();
        if (wanted !== this.wanted || this.searched !== v.m) {
            this.wanted = wanted;
            this.searched = v.m;
            this.matches = wanted ? Array.from(v.m.order).filter((i) => haystack(v, i).includes(wanted)) : [];
            v.tracks.found = this.matches;
        }
        this.nextMatch(direction);
    }

    nextMatch(direction) {
        const v = this.active, places = this.matches.map((i) => v.m.place[i]);
        if (this.searched === v.m && places.length) {
            const k = v.nextOf(places, direction);
            this.move(v, k === v.k && direction > 0 ? places[0] + 1 : k);
            this.searchSays.textContent = (places.indexOf(v.k - 1) + 1) + ' of ' + number(places.length);
        } else {
            this.searchSays.textContent = this.wanted ? 'not found' : '';
        }
        this.redraw();
    }

    /* --- two runs ------------------------------------------------------------------------------------------------- */

    /* The first event of this run that the other has not, or with other numbers. Waits and polls differ with every
     * schedule, and so they do not count. */
    firstDifference() {
        const [one, two] = this.views;
        if (!two)
            return;
        const found = [[one, two], [two, one]].map(([v, other]) => firstWithout(v, other));
        const at = found[0] >= 0 ? 0 : 1;
        this.searchSays.textContent = found[at] < 0 ? 'the runs do the same' : '';
        if (found[at] >= 0) {
            this.active = this.views[at];
            this.move(this.active, this.active.m.place[found[at]] + 1);
            for (const v of this.views) /* both close enough to be compared */
                v.tracks.around(v.event, Math.min(...this.views.map((w) => w.m.end)) * 0.3);
        }
    }

    /* Draws so many frames while it zooms and pans; milliseconds from frame to frame, and for the drawing alone. */
    async bench(frames) {
        const v = this.active, t = v.tracks, between = [], drawing = [];
        let last = 0;
        for (let n = 0; n < frames; n++) {
            const now = await new Promise(requestAnimationFrame);
            if (last)
                between.push(now - last);
            last = now;
            t.zoom(n % 60 < 30 ? 0.85 : 1 / 0.85, t.width * 0.4);
            t.pan(n % 2 ? 9 : -7);
            const begun = performance.now();
            this.move(v, (n * 7919) % v.c.size);
            v.draw();
            v.refresh();
            drawing.push(performance.now() - begun);
        }
        const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;
        return { frames, between: mean(between), worst: Math.max(...between), drawing: mean(drawing),
            slowest: Math.max(...drawing) };
    }
}

/* What a search looks at. */
function haystack(v, i) {
    const site = v.c.site(v.c.e.site[i]);
    return (sentence(v.c, i, v.m) + ' ' + (site ? site.file + ':' + site.line + ' ' + site.text : '')).toLowerCase();
}

/* --- the same event in another run -------------------------------------------------------------------------------- */

function aboutWhat(c, i) {
    const object = c.e.object[i];
    return object && c.e.class[i] !== CLASS.OP ? c.objectName(object) + '@' + c.o.rank[object - 1] : '';
}

/* A name for each event that it has in any run: who, what, about what, for the how many-th time. */
function eventKeys(v) {
    if (v.keysOf === v.c)
        return v.keys;
    const c = v.c, e = c.e, w = c.w, seen = new Map(), operations = [];
    const count = (key) => {
        seen.set(key, (seen.get(key) || 0) + 1);
        return key + '#' + seen.get(key);
    };
    for (let i = 0; i < w.agent.length; i++)
        operations.push(count('op ' + [w.rank[i], w.warp[i], c.text(w.name[i]), w.to[i]].join(':')));
    v.keys = Array.from({ length: c.size }, (_, i) => {
        const object = aboutWhat(c, i);
        if (e.class[i] === CLASS.SYNC && [SYNC.MBAR_PHASE, SYNC.BAR_PHASE, SYNC.CLUSTER_PHASE].includes(e.kind[i]))
            return count('phase ' + object); /* whoever came last */
        if (e.class[i] === CLASS.LIFE && e.kind[i] === LIFE.CTA_EXIT)
            return count('exit ' + e.pending[i]);
        if (e.op[i])
            return count([operations[e.op[i] - 1], e.class[i], e.kind[i]].join(' '));
        return count([e.rank[i], e.warp[i], e.class[i], e.kind[i], object].join(' '));
    });
    v.keysOf = v.c;
    v.byKey = new Map(v.keys.map((key, i) => [key, i]));
    return v.keys;
}

/* The event of `other` that is event i of v, or -1. */
function counterpart(v, other, i) {
    const key = eventKeys(v)[i];
    eventKeys(other);
    return other.byKey.has(key) ? other.byKey.get(key) : -1;
}

function firstWithout(v, other) {
    const e = v.c.e, f = other.c.e;
    for (const i of v.m.order) {
        const poll = e.class[i] === CLASS.SYNC && e.kind[i] === SYNC.MBAR_TEST;
        if (poll || [CLASS.WAIT, CLASS.STEP, CLASS.GLOBAL].includes(e.class[i]))
            continue;
        const there = counterpart(v, other, i);
        if (there < 0 || Number(e.value[i]) !== Number(f.value[there]) || e.count[i] !== f.count[there] ||
            aboutWhat(v.c, i) !== aboutWhat(other.c, there))
            return i;
    }
    return -1;
}

async function begin() {
    const says = document.getElementById('loading');
    try {
        const data = await unpack(document.getElementById('data').textContent);
        if (!data.runs.some((run) => run.logs.length))
            throw new Error('no launch fits this page');
        window.watch = new App(data);
        window.sentence = sentence;
        says.remove();
    } catch (why) {
        says.textContent = 'This page cannot be shown: ' + why.message;
        throw why;
    }
}

begin();
