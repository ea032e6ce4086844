"use strict";

// Every two seconds the page asks for itself again and takes over what is new. A reader keeps the place in a table that is
// wider than the screen. One answer that fails may be chance: three in a row are the end.
const interval = 2000, patience = 3;
let failed = 0;

async function refresh() {
	try {
		const answer = await fetch("/", { cache: "no-store" });
		if (!answer.ok) throw new Error(answer.statusText);
		show(new DOMParser().parseFromString(await answer.text(), "text/html"));
		failed = 0;
	} catch {
		if (++failed === patience) {
			document.querySelector("#progress").textContent = "The observation has ended, or cannot be reached: this is what the page saw last.";
			return;
		}
	}
	setTimeout(refresh, interval);
}

function show(now) {
	const places = [...document.querySelectorAll(".wide")].map(table => table.scrollLeft);
	document.title = now.title;
	for (const part of ["header", "main", "#result"]) {
		const fresh = now.querySelector(part);
		if (fresh) document.querySelector(part).replaceWith(document.adoptNode(fresh));
	}
	document.querySelectorAll(".wide").forEach((table, i) => { table.scrollLeft = places[i] || 0; });
}

setTimeout(refresh, interval);
