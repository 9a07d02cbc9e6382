/* Elements of the page. */

export function byId(id) {
    return document.getElementById(id);
}

/* element("button", { class: "x", onclick: f }, "text", child...) */
export function element(name, attributes = {}, ...children) {
    const out = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        if (key.startsWith("on")) out.addEventListener(key.slice(2), value);
        else if (value === true) out.setAttribute(key, "");
        else if (value !== false && value !== undefined) out.setAttribute(key, value);
    }
    out.append(...children);
    return out;
}

/* The live region: what a screen reader says. */
export function say(text) {
    byId("said").textContent = text;
}

/* Makes a canvas as large as its box, in the pixels of the screen; returns what draws on it. */
export function prepare(canvas) {
    const { clientWidth: width, clientHeight: height } = canvas;
    const scale = window.devicePixelRatio || 1;
    const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
    if (canvas.width !== wide || canvas.height !== high) {
        canvas.width = wide;
        canvas.height = high;
    }
    const draw = canvas.getContext("2d");
    draw.setTransform(scale, 0, 0, scale, 0, 0);
    draw.clearRect(0, 0, width, height);
    return { draw, width, height };
}
