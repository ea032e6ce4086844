"use strict";

// Every two seconds the page asks for itself again and takes over what is new. A reader keeps the place on the page, and
// the place in a table that is wider than the screen.
const interval = 2000;

async function refresh() {
	let text;
	try {
		const answer = await fetch("/", { cache: "no-store" });
		if (!answer.ok) throw new Error(answer.statusText);
		text = await answer.text();
	} catch {
		ended();
		return;
	}
	const places = [...document.querySelectorAll(".wide")].map(table => table.scrollLeft);
	const now = new DOMParser().parseFromString(text, "text/html");
	document.title = now.title;
	for (const part of ["header", "main", "#result"]) {
		document.querySelector(part)?.replaceWith(document.adoptNode(now.querySelector(part)));
	}
	document.querySelectorAll(".wide").forEach((table, i) => { table.scrollLeft = places[i] || 0; });
	setTimeout(refresh, interval);
}

function ended() {
	document.querySelector("#progress").textContent = "The observation has ended, or cannot be reached: this is what the page saw last.";
	document.body.dataset.ended = "";
}

setTimeout(refresh, interval);
