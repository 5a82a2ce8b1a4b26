"use strict";
(() => {
	// The theme: what the system has, until somebody chooses.
	const root = document.documentElement, toggle = document.getElementById("theme");
	if (toggle) {
		toggle.hidden = false;
		toggle.addEventListener("click", () => {
			const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
			root.dataset.theme = dark ? "light" : "dark";
			dispatchEvent(new Event("themed"));
		});
	}

	// Tables: a click on a title sorts the rows below each heading, numbers by their
	// value with its unit's prefix.
	const prefixes = { k: 1e3, K: 1024, M: 1e6, G: 1e9, T: 1e12 };
	const number = (text) => {
		const m = /^[^0-9+\-]{0,2}([+\-]?[0-9]+(?:\.[0-9]+)?)(?:e([+\-]?[0-9]+))?(?:\s?([kKMGT])(?=i?B|bit|\/|$))?/.exec(text.trim());
		if (!m) { return null; }
		return parseFloat(m[1]) * Math.pow(10, m[2] ? parseInt(m[2], 10) : 0) * (prefixes[m[3]] || 1);
	};
	const value = (row, i) => {
		const cell = row.cells[i];
		if (!cell) { return { n: null, t: "" }; }
		const text = cell.dataset.v || cell.textContent;
		return { n: number(text), t: text.trim() };
	};
	for (const table of document.querySelectorAll("table.sortable")) {
		const heads = [...table.tHead.rows[0].cells];
		const first = new Map([...table.tBodies].map((b) => [b, [...b.rows]]));
		heads.forEach((th, i) => {
			const button = document.createElement("button");
			button.type = "button";
			button.textContent = th.textContent || "name";
			button.title = "sort";
			th.textContent = "";
			th.append(button);
			button.addEventListener("click", () => {
				const next = { ascending: "descending", descending: "" }[th.getAttribute("aria-sort")] ?? "ascending";
				heads.forEach((h) => h.removeAttribute("aria-sort"));
				if (next) { th.setAttribute("aria-sort", next); }
				for (const body of table.tBodies) {
					const rows = first.get(body).slice(), head = rows.filter((r) => r.className === "heading");
					let rest = rows.filter((r) => r.className !== "heading");
					if (next) {
						const sign = next === "ascending" ? 1 : -1;
						rest = rest.map((r, k) => ({ r, k, v: value(r, i) })).sort((a, b) => {
							if (a.v.n !== null && b.v.n !== null && a.v.n !== b.v.n) { return sign * (a.v.n - b.v.n); }
							if ((a.v.n === null) !== (b.v.n === null)) { return a.v.n === null ? 1 : -1; }
							return sign * a.v.t.localeCompare(b.v.t) || a.k - b.k;
						}).map((x) => x.r);
					}
					body.append(...head, ...rest);
				}
			});
		});
	}

	// Data that the page carries, for somebody to save.
	const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
	for (const button of document.querySelectorAll("button.save")) {
		button.hidden = false;
		button.addEventListener("click", async () => {
			let blob = new Blob([bytes(button.dataset.gzip)]);
			if (!button.dataset.packed) {
				blob = await new Response(blob.stream().pipeThrough(new DecompressionStream("gzip"))).blob();
			}
			const a = document.createElement("a");
			a.href = URL.createObjectURL(blob);
			a.download = button.dataset.name;
			document.body.append(a);
			a.click();
			a.remove();
			setTimeout(() => URL.revokeObjectURL(a.href), 60000);
		});
	}

	// What is folded is on paper, too.
	addEventListener("beforeprint", () => document.querySelectorAll("details:not(.why)").forEach((d) => { d.open = true; }));
})();
