"use strict";

// The page shows the last event: its texts as they are, and one release per beat, in all panels
// at the same time, so that the forms can be compared side by side.

const el = id => document.getElementById(id);
const panels = []; // state of each panel
let last = null;   // event

function text(node, words) {
	if (node.textContent !== words) node.textContent = words;
}

// marks are shapes for readers who do not see colours, as in the charts of results.
const marks = {
	recipe: "M6 1a5 5 0 1 0 .01 0z", naive: "M6 1 11.5 11H.5z", library: "M1 1h10v10H1z", load: "M6 0 12 6 6 12 0 6z",
};

function makePanels(views) {
	el("panels").replaceChildren();
	panels.length = 0;
	readColours();
	for (const v of views) {
		const node = el("panel").content.cloneNode(true).firstElementChild;
		el("panels").append(node);
		const find = s => node.querySelector(s);
		find(".mark path").setAttribute("d", marks[v.family] || marks.recipe);
		text(find(".form"), v.form);
		const kind = v.family === "recipe" ? "herd-avoiding" : v.family;
		text(find(".family"), v.on ? kind + " on " + v.on : kind);
		const canvas = find("canvas");
		panels.push({ node, canvas, find, view: v, shown: 0, turn: 0, release: null, since: 0, releases: 0, largest: 0 });
	}
}

const same = views => last && last.heading && panels.length === views.length &&
	views.every((v, i) => v.form === last.panels[i].form && v.on === last.panels[i].on);

function show(e) {
	e.panels ||= [];
	const other = !same(e.panels) || e.heading !== last.heading;
	if (other) makePanels(e.panels);
	last = e;
	text(el("heading"), e.heading);
	text(el("ahead"), e.ahead);
	showFinding(e.finding);
	e.panels.forEach((v, i) => showPanel(panels[i], v));
	showLatency();
	showFigures(e);
	showHealth(e.health || []);
	showState(e.over ? ["■", e.stopping ? "stopped" : "finished"] : e.stopping ? ["◐", "stopping: waiting for rounds in progress"] :
		e.panels.some(v => v.state === "running") ? ["●", "running"] : ["◌", "preparing: clients connect and warm up"]);
	el("stop").disabled = e.over || e.stopping;
	if (other) turn();
	if (e.over) finish(e);
}

// finish offers the report, which the page holds: the command that made it has ended.
function finish(e) {
	el("sure").close();
	el("stop").hidden = true;
	el("end").hidden = false;
	text(el("end").querySelector("b"), (e.stopping ? "Stopped." : "Finished.") + (e.report ? "" : " There is no report."));
	el("end").querySelector("span").hidden = !e.report;
	if (!e.report) return;
	el("open").href = el("save").href = URL.createObjectURL(new Blob([e.report.html], { type: "text/html" }));
	el("save").download = e.report.name;
}

function showState([sign, words]) {
	text(document.querySelector("#state .sign"), sign);
	text(document.querySelector("#state .text"), words);
	document.title = sign + " " + (last ? last.heading : "stampede, live");
}

function showFinding(lines) {
	const box = el("finding");
	while (box.children.length > lines.length) box.lastElementChild.remove();
	lines.forEach((line, i) => {
		if (!box.children[i]) {
			box.append(document.createElement("p"));
			box.children[i].className = "lead";
		}
		text(box.children[i], line);
	});
}

function showPanel(p, v) {
	p.node.className = v.family + " " + v.state;
	p.view = v;
	const replayed = v.state === "over" && (v.releases || []).length > 0 && !calm.matches;
	text(p.find(".progress"), (v.state === "running" ? "● " : v.state === "over" ? "■ " : "◌ ") + v.progress +
		(replayed ? "; replayed" : ""));
	text(p.find(".woken b"), v.woken);
	text(p.find(".woken span"), v.woken_by);
	if (!p.release) draw(p, performance.now());
}

// showLatency draws the latency of all panels over time, with the same axes.
function showLatency() {
	const box = el("latency"), of = last && last.latency, drawing = box.querySelector(":scope > svg");
	box.querySelector("p").hidden = of;
	drawing.style.display = of ? "" : "none";
	text(box.querySelector("h2"), of ? of.title : "Latency over time");
	if (!of) return box.querySelector(".lines").replaceChildren();
	const width = box.clientWidth, height = 190, left = 56, right = 16, above = 10, below = 24;
	const x = at => (left + at * (width - left - right)).toFixed(1), y = at => (height - below - at * (height - above - below)).toFixed(1);
	const nodes = [], keys = [];
	for (const m of of.y) {
		nodes.push(shape("path", { class: "rule", d: `M${x(0)} ${y(m.at)}H${x(1)}` }),
			shape("text", { x: left - 8, y: +y(m.at) + 4, "text-anchor": "end" }, m.label));
	}
	for (const m of of.x) nodes.push(shape("text", { x: x(m.at), y: height - 4, "text-anchor": m.at < 1 ? "middle" : "end" }, m.label));
	of.lines.forEach((l, i) => {
		const v = panels[i].view;
		if (v.state === "next") return;
		const mark = marks[v.family] || marks.recipe;
		if (l.pieces) {
			const d = l.pieces.map(p => p.map(([a, b], k) => (k ? "L" : "M") + x(a) + " " + y(b)).join("") + "h.01").join("");
			const [a, b] = l.pieces.at(-1).at(-1);
			nodes.push(shape("path", { class: "line " + v.family, d }),
				...l.pieces.filter(p => p.length === 1).map(([[a, b]]) => shape("circle", { class: "end " + v.family, cx: x(a), cy: y(b), r: 3 })),
				shape("path", { class: "end " + v.family, d: mark, transform: `translate(${x(a) - 5} ${y(b) - 5}) scale(.83)` }));
		}
		const key = document.createElement("span"), sign = shape("svg", { class: "mark", viewBox: "0 0 12 12", "aria-hidden": "true" });
		sign.append(shape("path", { d: mark }));
		key.className = v.family;
		key.append(sign, ` ${v.form}${v.on ? " on " + v.on : ""} ${l.latest || "n/a"}`);
		keys.push(key);
	});
	drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
	drawing.setAttribute("height", height);
	drawing.setAttribute("aria-label", of.title + ", at last:" + keys.map(k => k.textContent).join(","));
	drawing.replaceChildren(...nodes);
	box.querySelector(".lines").replaceChildren(...keys);
}

// shape returns a part of a drawing.
function shape(kind, attributes, words) {
	const part = document.createElementNS(document.querySelector("svg").namespaceURI, kind);
	for (const [name, value] of Object.entries(attributes)) part.setAttribute(name, value);
	if (words) part.textContent = words;
	return part;
}

function showFigures(e) {
	const table = el("figures"), ratio = (e.rows || []).some(r => r.ratio);
	const cells = rows => (rows || []).map(r => [r.name, ...r.values, ...ratio ? [r.ratio || "–"] : []]);
	fill(table.tHead, [["", ...e.panels.map(v => v.form + (v.on ? " on " + v.on : "")), ...ratio ? ["×"] : []]], "col");
	fill(table.tBodies[0], cells(e.rows), "row");
	fill(table.tBodies[1], cells(e.more), "row");
}

function fill(body, rows, scope) {
	while (body.rows.length > rows.length) body.deleteRow(-1);
	rows.forEach((cells, i) => {
		const row = body.rows[i] || body.insertRow();
		while (row.cells.length > cells.length) row.lastElementChild.remove();
		cells.forEach((words, j) => {
			if (!row.cells[j]) {
				const cell = document.createElement(scope === "col" || j === 0 ? "th" : "td");
				if (cell.tagName === "TH") cell.scope = scope;
				row.append(cell);
			}
			text(row.cells[j], words);
		});
	});
}

function showHealth(remarks) {
	const list = el("health");
	while (list.children.length > remarks.length) list.lastElementChild.remove();
	remarks.forEach((r, i) => {
		if (!list.children[i]) {
			const item = document.createElement("li");
			item.append(document.createElement("span"), document.createElement("span"));
			item.firstElementChild.className = "sign";
			item.firstElementChild.setAttribute("aria-hidden", "true");
			list.append(item);
		}
		list.children[i].className = r.doubt ? "doubt" : "";
		text(list.children[i].children[0], r.doubt ? "▲" : i ? "" : "✓");
		text(list.children[i].children[1], r.text);
	});
}

// turn lights up the next release in every panel that has one: the latest release of a run in
// progress, once, and all kept releases of a finished run, one after the other.
function turn() {
	const now = performance.now();
	for (const p of panels) {
		const all = p.view.releases || [];
		if (!all.length) continue;
		let next = all.at(-1);
		if (p.view.state !== "running") {
			if (calm.matches && p.release) continue;
			next = all[p.turn++ % all.length];
		} else if (next.n === p.shown) {
			continue;
		}
		light(p, next, now);
	}
	requestAnimationFrame(frame);
}

function light(p, release, now) {
	if (release.n > p.shown) {
		p.releases++;
		p.shown = release.n;
	}
	p.largest = Math.max(p.largest, release.woken);
	Object.assign(p.node.dataset, { releases: p.releases, largest: p.largest, woken: release.woken });
	p.release = release;
	p.outcomes = [];
	for (let i = 0; i < release.cells.length; i += 2) for (let n = release.cells[i + 1]; n > 0; n--) p.outcomes.push(release.cells[i]);
	p.since = now;
	text(p.find(".words"), "Example: one write " + release.words + ".");
	p.canvas.setAttribute("aria-label", p.view.form + ": one write " + release.words);
	draw(p, now);
}

// speak updates the text for screen readers, slowly enough to be read aloud.
function speak() {
	if (last) text(el("words"), panels.filter(p => p.release).map(p => `${p.view.form}: one write ${p.release.words}.`).join(" "));
}

async function stop() {
	el("really").disabled = true;
	try {
		const token = document.querySelector("meta[name=stampede-token]").content;
		const answer = await fetch("stop", { method: "POST", headers: { "Stampede-Token": token } });
		if (!answer.ok) throw new Error(await answer.text());
		el("sure").close();
	} catch (e) {
		text(el("refused"), "The run was not stopped: " + e.message);
	}
	el("really").disabled = false;
}

function connect() {
	const events = new EventSource("events");
	events.onmessage = m => {
		show(JSON.parse(m.data));
		if (last.over) events.close();
	};
	events.onerror = () => {
		showState(["◌", events.readyState === EventSource.CLOSED ? "no answer: reload the page" : "connection lost: reconnecting"]);
		el("stop").disabled = true;
	};
}

el("stop").onclick = () => { text(el("refused"), ""); el("sure").showModal(); };
el("all").onclick = () => {
	const folded = el("more").hidden = !el("more").hidden;
	el("all").setAttribute("aria-expanded", !folded);
	text(el("all"), folded ? "All figures" : "Fewer figures");
};
el("keep").onclick = () => el("sure").close();
el("really").onclick = stop;
matchMedia("(prefers-color-scheme: dark)").onchange = redraw;
addEventListener("resize", redraw);
(function beats() { turn(); setTimeout(beats, beat()); })();
setInterval(speak, 5000);
connect();
