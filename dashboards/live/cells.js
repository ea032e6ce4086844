"use strict";

// The squares: one for each client of a panel. A square lights up when its client is woken.

const colours = {};
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const notNotified = 0, useful = 2, wasted = 3; // as fanout.Outcome; 1 is pending

// A whole field must not flash more than three times a second; one flash per beat is far from
// that. With reduced motion, pictures follow each other without animation.
const beat = () => calm.matches ? 3000 : 1200;
const litFor = 450, fadedBy = 1150; // ms after a beat

let drawn = 0;
function frame(now) {
	if (now - drawn > 40) { // the measured service may be on this machine
		drawn = now;
		for (const p of panels) if (fades(p, now)) draw(p, now, true);
	}
	if (panels.some(p => fades(p, now))) requestAnimationFrame(frame);
}

// fades reports whether the panel is still changing.
const fades = (p, now) => p.release && !calm.matches && now - p.since < fadedBy + 200;

// grid lays out n cells as squares that fill the width, as large as the height allows.
function grid(n, width) {
	const highest = Math.max(width * 0.4, 150);
	const of = columns => ({ columns, size: width / columns, height: Math.ceil(n / columns) * width / columns });
	let columns = Math.max(1, Math.ceil(width / 44));
	while (of(columns).height > highest) columns++;
	return of(columns);
}

// draw draws the clients, or only those that were woken.
function draw(p, now, onlyWoken) {
	const box = p.canvas, scale = devicePixelRatio || 1, width = box.clientWidth;
	const n = p.outcomes ? p.outcomes.length : p.view.clients;
	const { columns, size, height } = grid(n, width), gap = Math.max(size * 0.16, 0.6);
	if (box.width !== Math.round(width * scale) || box.height !== Math.round(height * scale)) {
		box.width = Math.round(width * scale);
		box.height = Math.round(height * scale);
		box.style.height = height + "px";
		onlyWoken = false;
	}
	const c = box.getContext("2d");
	c.setTransform(scale, 0, 0, scale, 0, 0);
	if (!onlyWoken) c.clearRect(0, 0, width, height);
	for (let i = 0; i < n; i++) {
		const x = i % columns * size, y = Math.floor(i / columns) * size;
		if (onlyWoken && p.outcomes[i] === notNotified) continue;
		if (onlyWoken) c.clearRect(x, y, size, size);
		cell(c, x, y, size - gap, p.outcomes ? p.outcomes[i] : notNotified, calm.matches ? litFor + 1 : now - p.since, colours[p.view.family] || colours.recipe);
	}
}

// cell draws one client, age milliseconds after a release. A client that proceeded stays lit;
// the others turn grey and hollow, and fade.
function cell(c, x, y, size, outcome, age, colour) {
	c.globalAlpha = 1;
	square(c, x, y, size, colours.grid);
	if (outcome === notNotified || age >= fadedBy) return;
	const fading = Math.max(0, (age - litFor) / (fadedBy - litFor));
	c.globalAlpha = calm.matches ? 1 : outcome === wasted ? 1 - fading : 1 - fading ** 4;
	if (outcome === wasted && age > litFor) {
		const line = Math.max(1, size * 0.14);
		c.strokeStyle = colours.muted;
		c.lineWidth = line;
		c.strokeRect(x + line / 2, y + line / 2, size - line, size - line);
		return;
	}
	square(c, x, y, size, colour);
	if (outcome === useful && age > litFor) {
		c.fillStyle = colours.paper;
		c.beginPath();
		c.arc(x + size / 2, y + size / 2, size * 0.2, 0, 7);
		c.fill();
	}
}

function square(c, x, y, size, colour) {
	c.fillStyle = colour;
	if (size < 5) return c.fillRect(x, y, size, size);
	c.beginPath();
	c.roundRect(x, y, size, size, size * 0.18);
	c.fill();
}

function readColours() {
	const style = getComputedStyle(document.documentElement);
	for (const name of ["grid", "muted", "paper", "recipe", "naive", "library", "load"]) colours[name] = style.getPropertyValue("--" + name).trim();
}

function redraw() {
	readColours();
	for (const p of panels) draw(p, performance.now());
	showLatency();
}
