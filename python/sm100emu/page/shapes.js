/* shapes.js - how a slice of each kind looks, on the tracks, in the legend and on the map of the whole. */

/* Of these the fill is of one colour, and the text is written on it. */
const WRITTEN = [SHAPE.load, SHAPE.store, SHAPE.umma, SHAPE.ldst, SHAPE.full, SHAPE.bad, SHAPE.plain];
const POINTED = [SHAPE.load, SHAPE.phase, SHAPE.commit, SHAPE.wait]; /* the text ends before their end */
const KINDS = [
    [SHAPE.wait, 'waits'], [SHAPE.works, 'a warp works'], [SHAPE.load, 'copy into shared memory'],
    [SHAPE.store, 'store out of it'], [SHAPE.umma, 'UMMAs'], [SHAPE.commit, 'commit'],
    [SHAPE.ldst, 'load or store of tensor memory'], [SHAPE.phase, 'phase of a barrier, complete at the diamond'],
    [SHAPE.filling, 'being filled'], [SHAPE.full, 'full'], [SHAPE.reading, 'being read'],
    [SHAPE.bad, 'conflict, or never ended'],
];

const BROKEN = [3, 2], WHOLE = [];
const SMALL = 10; /* pixels; narrower ones are plain bars, and of these as high: */
const FLAT = { [SHAPE.phase]: 4, [SHAPE.lasting]: 4, [SHAPE.works]: 4, [SHAPE.commit]: 4 };

function polygon(g, ...points) {
    g.beginPath();
    points.forEach(([x, y], n) => (n ? g.lineTo(x, y) : g.moveTo(x, y)));
    g.closePath();
}

/* From pixel a to pixel b in a row at y. begun: of a phase, from where it is no longer as it began. */
function drawShape(g, theme, shape, color, a, b, y, begun) {
    const h = ROW - 2, wide = b - a, tip = Math.min(5, wide / 2);
    g.fillStyle = theme.palette[shape === SHAPE.wait ? COLOR.wait : color];
    if (wide < SMALL) {
        g.fillRect(a, FLAT[shape] ? y + h - 4 : y, wide, FLAT[shape] || h);
        return;
    }
    g.strokeStyle = theme.edge;
    switch (shape) {
    case SHAPE.load:
        polygon(g, [a, y + 0.5], [b - tip, y + 0.5], [b, y + h / 2], [b - tip, y + h - 0.5], [a, y + h - 0.5]);
        break;
    case SHAPE.store:
        polygon(g, [a + tip, y + 0.5], [b, y + 0.5], [b, y + h - 0.5], [a + tip, y + h - 0.5], [a, y + h / 2]);
        break;
    case SHAPE.ldst:
        g.beginPath();
        g.roundRect(a + 0.5, y + 0.5, wide - 1, h - 1, tip);
        break;
    case SHAPE.works:
        g.fillRect(a, y + 3, wide, 5);
        return;
    case SHAPE.commit:
        g.fillRect(a, y + h / 2 - 1, wide, 3);
        polygon(g, [b - 10, y + h / 2], [b - 5, y], [b, y + h / 2], [b - 5, y + h]);
        break;
    case SHAPE.phase:
    case SHAPE.lasting:
        drawPhase(g, color, a, b, y, begun);
        if (shape === SHAPE.lasting)
            return;
        polygon(g, [b - 8, y + h / 2], [b - 4, y + 1], [b, y + h / 2], [b - 4, y + h - 1]);
        break;
    case SHAPE.filling:
        drawTint(g, a, b, y);
        polygon(g, [a, y + h], [b, y], [b, y + h]);
        g.fill();
        return;
    case SHAPE.reading:
        drawTint(g, a, b, y);
        g.fillRect(a, y, wide, 3);
        g.fillRect(a, y + h - 3, wide, 3);
        return;
    case SHAPE.wait:
        drawWait(g, theme, color, a, b, y);
        return;
    default:
        polygon(g, [a, y + 0.5], [b, y + 0.5], [b, y + h - 0.5], [a, y + h - 0.5]);
    }
    g.fill();
    g.stroke();
}

function drawTint(g, a, b, y) {
    g.globalAlpha = 0.3;
    g.fillRect(a, y, b - a, ROW - 2);
    g.globalAlpha = 1;
}

/* A line, and from its first arrival or announcement on a band and a tint. */
function drawPhase(g, color, a, b, y, begun) {
    const h = ROW - 2, from = Math.max(a, Math.min(b, begun));
    drawTint(g, from, b, y);
    g.fillRect(a, y + h - 2, b - a, 2);
    g.fillRect(from, y + h - 4, b - from, 4);
}

/* Grey in a broken line, and at its end the colour of what it waited for. */
function drawWait(g, theme, color, a, b, y) {
    const h = ROW - 2;
    g.fillStyle = theme.palette[COLOR.wait];
    g.fillRect(a, y, b - a, h);
    if (color !== COLOR.wait) {
        g.fillStyle = theme.palette[color];
        g.fillRect(Math.max(a, b - 5), y, Math.min(5, b - a), h);
    }
    if (b - a < 2 * SMALL)
        return;
    g.setLineDash(BROKEN);
    g.strokeRect(a + 0.5, y + 0.5, b - a - 1, h - 1);
    g.setLineDash(WHOLE);
}
