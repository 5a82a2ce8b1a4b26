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
	// value with its unit's prefix. That stands behind the number, or in the row's cell
	// of units where the column's title says so.
	const prefixes = { n: 1e-9, u: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 1024, Mi: 1048576, Gi: 1073741824, Ti: 1099511627776 };
	const scale = (unit) => {
		const m = /^(?:([num])(?=s)|([kMGT])(?=bit|B|\/|$)|([KMGT]i)(?=B))/.exec(unit);
		return m ? prefixes[m[1] || m[2] || m[3]] : 1;
	};
	const number = (text) => {
		const m = /^[^0-9+\-]{0,2}([+\-]?[0-9]+(?:\.[0-9]+)?)(?:e([+\-]?[0-9]+))?\s?(.*)/.exec(text.trim());
		return m ? parseFloat(m[1]) * Math.pow(10, m[2] ? parseInt(m[2], 10) : 0) * scale(m[3]) : null;
	};
	const value = (row, i, units) => {
		const cell = row.cells[i];
		if (!cell) { return { n: null, t: "" }; }
		const text = (cell.dataset.v || cell.textContent).trim(), n = number(text);
		const own = units < 0 || /^[^0-9]*[0-9.]+\s?(?!e[+\-]?[0-9])[A-Za-z%\/]/.test(text);
		return { n: n === null || own ? n : n * scale(row.cells[units].textContent.trim()), t: text };
	};
	for (const table of document.querySelectorAll("table.sortable")) {
		const heads = [...table.tHead.rows[0].cells];
		const first = new Map([...table.tBodies].map((b) => [b, [...b.rows]]));
		heads.forEach((th, i) => {
			const units = th.dataset.units === undefined ? -1 : Number(th.dataset.units);
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
						rest = rest.map((r, k) => ({ r, k, v: value(r, i, units) })).sort((a, b) => {
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

	// What is folded is on paper, too, and folded again behind it. (Without scripts the
	// style sheet does it where the browser can.)
	let folded = [];
	addEventListener("beforeprint", () => {
		folded = [...document.querySelectorAll("details:not(.why):not([open])")];
		folded.forEach((d) => { d.open = true; });
	});
	addEventListener("afterprint", () => folded.forEach((d) => { d.open = false; }));
})();
