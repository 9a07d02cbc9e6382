/*
 * The least and greatest numbers of stretches of a row: level 0 has one item for every BLOCK numbers,
 * each further level one for every BLOCK items of the one below. A stretch of any length is answered
 * in some dozens of steps, which makes a view of millions of events as quick as one of a hundred.
 */

const BLOCK = 16;

function levelOf(least, greatest, length) {
    const count = Math.ceil(length / BLOCK);
    const out = { least: new Float64Array(count), greatest: new Float64Array(count) };
    for (let i = 0; i < count; i++) {
        let low = Infinity;
        let high = -Infinity;
        const end = Math.min(length, (i + 1) * BLOCK);
        for (let j = i * BLOCK; j < end; j++) {
            if (least[j] < low) low = least[j];
            if (greatest[j] > high) high = greatest[j];
        }
        out.least[i] = low;
        out.greatest[i] = high;
    }
    return out;
}

export function pyramidOf(row) {
    const levels = [];
    let below = { least: row, greatest: row };
    while (below.least.length > 1) {
        below = levelOf(below.least, below.greatest, below.least.length);
        levels.push(below);
    }
    return { row, levels };
}

/* Of [from, to); not empty. */
export function extremesOf(pyramid, from, to) {
    let low = Infinity;
    let high = -Infinity;
    let least = pyramid.row;
    let greatest = pyramid.row;
    for (let level = 0; from < to; level++) {
        const above = pyramid.levels[level];
        /* Items that are not in a whole block; the rest is the level above. */
        while (from < to && (!above || from % BLOCK)) {
            if (least[from] < low) low = least[from];
            if (greatest[from] > high) high = greatest[from];
            from++;
        }
        while (from < to && to % BLOCK) {
            to--;
            if (least[to] < low) low = least[to];
            if (greatest[to] > high) high = greatest[to];
        }
        from /= BLOCK;
        to /= BLOCK;
        if (above) ({ least, greatest } = above);
    }
    return { low, high };
}

/* Calls visit(i) for every number of [from, to) that is at most `limit`, in order, until it returns
 * false. Blocks without one are skipped. */
export function visitAtMost(pyramid, from, to, limit, visit) {
    const { row, levels } = pyramid;
    let at = from;
    while (at < to) {
        let level = 0;
        let size = BLOCK;
        while (level < levels.length && at % size === 0 && levels[level].least[at / size] > limit) {
            level++;
            size *= BLOCK;
        }
        if (level) {
            at += size / BLOCK;
            continue;
        }
        if (row[at] <= limit && !visit(at)) return false;
        at++;
    }
    return true;
}
