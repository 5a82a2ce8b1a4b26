"use strict";
(() => {
	const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	const dashes = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
	const short = (v) => v === null || v === undefined ? "" : String(parseFloat(v.toPrecision(4)));
	const all = [];

	// Ticks of an axis of logarithms: powers of ten, and 2 and 5 of them where there is room.
	const decades = (lo, hi) => {
		const out = [], few = Math.log10(hi / lo) < 2.5;
		for (let e = Math.floor(Math.log10(lo)); e <= Math.ceil(Math.log10(hi)); e++) {
			for (const m of few ? [1, 2, 5] : [1]) {
				const v = m * Math.pow(10, e);
				if (v >= lo * 0.999 && v <= hi * 1.001) { out.push(v); }
			}
		}
		return out;
	};
	const axis = (of, side) => {
		const a = { side, label: of.label, labelSize: 22, size: side === 3 ? 62 : 44, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif",
			stroke: () => css("--ink"), grid: { stroke: () => css("--line"), width: 1 }, ticks: { stroke: () => css("--line"), width: 1 } };
		if (of.ticks) {
			a.splits = (u, i, lo, hi) => of.ticks.filter((t) => t >= lo && t <= hi);
			a.values = (u, at) => at.map((t) => of.names ? of.names[of.ticks.indexOf(t)] : short(t));
			a.filter = (u, at) => at;
		} else if (of.log) {
			a.splits = (u, i, lo, hi) => decades(lo, hi);
			a.values = (u, at) => at.map(short);
			a.filter = (u, at) => at;
		} else {
			a.values = (u, at) => at.map(short);
			if (of.whole) { a.incrs = [1, 2, 5].flatMap((m) => [1, 10, 100, 1e3, 1e4].map((e) => m * e)).sort((p, q) => p - q); }
		}
		return a;
	};
	// What an axis says of a value: its name where it has one, the percentile where the
	// axis is 1/(1-p), and the category that is next on an axis of those.
	const named = (of, points) => (u, v) => {
		if (v === null || v === undefined) { return ""; }
		const at = of.ticks ? of.ticks.indexOf(points ? Math.round(v) : v) : -1;
		if (at >= 0 && of.names) { return of.names[at]; }
		return of.beyond ? String(parseFloat((100 - 100 / v).toPrecision(v < 100 ? 4 : 7))) : short(v);
	};
	// The intervals of each point, drawn above the lines.
	const intervals = (of) => (u) => {
		const c = u.ctx;
		of.series.forEach((s, k) => {
			if (!s.lo || !u.series[k + 1].show) { return; }
			c.save();
			c.strokeStyle = css("--v" + s.v);
			c.lineWidth = devicePixelRatio;
			s.x.forEach((x, i) => {
				const px = u.valToPos(x, "x", true), lo = u.valToPos(Math.max(s.lo[i], u.scales.y.min), "y", true), hi = u.valToPos(s.hi[i], "y", true), w = 3 * devicePixelRatio;
				c.beginPath();
				c.moveTo(px, lo); c.lineTo(px, hi);
				c.moveTo(px - w, lo); c.lineTo(px + w, lo);
				c.moveTo(px - w, hi); c.lineTo(px + w, hi);
				c.stroke();
			});
			c.restore();
		});
	};
	const draw = (of) => {
		const box = document.getElementById(of.id).querySelector(".plot");
		const data = uPlot.join(of.series.map((s) => [s.x, s.y]));
		let lo = Infinity, hi = -Infinity;
		of.series.forEach((s) => { (s.lo || s.y).forEach((v) => { lo = Math.min(lo, v); }); (s.hi || s.y).forEach((v) => { hi = Math.max(hi, v); }); });
		of.x.whole = of.series.every((s) => s.x.every(Number.isInteger));
		const pad = of.y.log ? 0 : (hi - lo) * 0.06 || Math.abs(hi) * 0.1 || 1;
		const rangeY = () => of.y.log ? [lo > 0 ? lo / 1.08 : hi / 1000, hi * 1.08] : [lo >= 0 && lo < hi / 3 ? 0 : lo - pad, hi + pad];
		const rangeX = (u, a, b) => {
			if (of.points && of.x.ticks) { return [-0.6, of.x.ticks.length - 0.4]; }
			if (a === b) { return of.x.log ? [a / 2, b * 2] : [a - 1, b + 1]; }
			return [a, b];
		};
		const opts = {
			width: box.clientWidth || 600, height: 320, cursor: { drag: { x: true, y: false } },
			scales: { x: { time: false, distr: of.x.log ? 3 : 1, log: 10, range: rangeX }, y: { distr: of.y.log ? 3 : 1, log: 10, range: rangeY } },
			axes: [axis(of.x, 2), axis(of.y, 3)],
			// Named by variables, so that the marks follow the theme, and paper.
			legend: { markers: { stroke: (u, i) => "var(--v" + of.series[i - 1].v + ")", fill: (u, i) => "var(--v" + of.series[i - 1].v + ")" } },
			series: [{ label: of.x.label || "at", value: named(of.x, of.points) }].concat(of.series.map((s) => ({
				label: s.name, stroke: () => css("--v" + s.v), width: of.points ? 0 : 2, dash: of.points ? [] : dashes[s.v % 4], spanGaps: true,
				paths: of.points ? () => null : s.step ? uPlot.paths.stepped({ align: 1 }) : undefined,
				points: { show: of.points || !s.step && s.x.length <= 40, size: of.points ? 7 : 6, stroke: () => css("--v" + s.v), fill: () => css("--v" + s.v) },
				value: (u, v) => short(v),
			}))),
			hooks: { draw: [intervals(of)] },
		};
		const u = new uPlot(opts, data, box);
		all.push(u);
		new ResizeObserver(() => { if (box.clientWidth && box.clientWidth !== u.width) { u.setSize({ width: box.clientWidth, height: 320 }); } }).observe(box);
	};
	JSON.parse(document.getElementById("curves").textContent).forEach(draw);
	const again = () => all.forEach((u) => u.redraw());
	addEventListener("themed", again);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
	matchMedia("print").addEventListener("change", again);
})();
