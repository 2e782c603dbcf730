"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("main");
const search = document.getElementById("search");

const LINE_BYTES = 64;

// What clocks are spent on, in the order of the bars.
const KINDS = [
  ["issue", "issue"], ["result", "wait for a result"], ["memory", "wait for memory"], ["atomic", "for an atomic"],
  ["slm", "for local memory"], ["sampler", "for the sampler"], ["barrier", "at a barrier"], ["fence", "for a fence"],
  ["other", "other"],
];

function make(tag, attributes, ...children) {
  const svg = ["svg", "g", "rect", "text", "line", "path", "circle", "title"].includes(tag);
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.filter(child => child !== null && child !== undefined));
  return node;
}

const number = value => value.toLocaleString("en-US");
const percent = part => (100 * part).toFixed(part >= 0.0995 || part === 0 ? 0 : 1) + "%";
const decimal = value => value === 0 ? "" : value.toFixed(1);
const ratio = (a, b) => b ? a / b : 0;

// Cells

const share = (part, whole = 1) => make("td", { class: "share" },
  make("i", { style: `width:${(100 * ratio(part, whole)).toFixed(2)}%` }), make("span", {}, percent(part)));

function bar(stalls, clocks) {
  const parts = KINDS.filter(([kind]) => stalls[kind]).map(([kind, name]) => make("i", {
    style: `width:${(100 * ratio(stalls[kind], clocks)).toFixed(2)}%;background:var(--${kind})`,
    title: `${name}: ${percent(ratio(stalls[kind], clocks))}`,
  }));
  return make("span", { class: "bar" }, ...parts);
}

const legend = () => make("div", { class: "legend" },
  ...KINDS.map(([kind, name]) => make("span", {}, make("i", { style: `background:var(--${kind})` }), name)));

// The columns that lines and instructions have in common.
const COSTS = [
  ["share", "share of the time of all kernels"],
  ["inclusive", "the same with that of functions that are called here and inlined"],
  ["clocks", "clocks of threads that issue or wait"],
  ["executions", "executions, each once per thread"],
  ["lanes", "average of the enabled lanes"],
  ["spent on", "what the clocks are spent on"],
  ["sends", "messages"],
  ["lines/send", "cache lines of a message that accesses any"],
  ["bytes", "bytes of all these cache lines"],
];

function costCells(row, whole) {
  const cost = row.cost;
  return [
    share(row.share, whole),
    make("td", {}, row.inclusive === undefined ? "" : percent(row.inclusive)),
    make("td", {}, number(cost.clocks)),
    make("td", {}, number(cost.executed)),
    make("td", {}, cost.slots ? percent(ratio(cost.lanes, cost.slots)) : ""),
    make("td", {}, bar(row.stalls, cost.clocks)),
    make("td", {}, cost.sends ? number(cost.sends) : ""),
    make("td", {}, decimal(ratio(cost.lines, cost.line_sends))),
    make("td", {}, cost.lines ? number(cost.lines * LINE_BYTES) : ""),
  ];
}

// Tables that are sorted by a click on a column's head: [head, sort key of a row, cell of a row, explanation].
function sortedTable(columns, rows, open) {
  const body = make("tbody");
  const heads = columns.map(([head, key, cell, title, left]) => make("th", {
    class: "sortable" + (left ? " left" : ""), title, onclick: event => sort(event.currentTarget),
  }, head));
  function sort(head) {
    const [, key] = columns[heads.indexOf(head)];
    const up = head.getAttribute("aria-sort") === "descending";
    heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const compare = (a, b) => typeof a === "string" ? b.localeCompare(a) : b - a;
    const sorted = [...rows].sort((a, b) => (up ? -1 : 1) * compare(key(a), key(b)));
    body.replaceChildren(...sorted.map(row => make("tr", { onclick: () => open(row) }, ...columns.map(c => c[2](row)))));
  }
  sort(heads[0]);
  return make("div", { class: "scroll" }, make("table", { class: "list" }, make("thead", {}, make("tr", {}, ...heads)), body));
}

const plain = (name, key, format = number, title) => [name, key, row => make("td", {}, format(key(row))), title];

// Overview

const lineName = line => line.line ? `${data.sources[line.line[0]].name}:${line.line[1]}` : "no line";
const textLines = data.sources.map(source => source.text === null ? [] : source.text.split("\n"));
const lineText = line => line.line ? textLines[line.line[0]][line.line[1] - 1] || "" : "";
const matches = text => search.value && text.toLowerCase().includes(search.value.toLowerCase());

function overview() {
  const top = Math.max(...data.kernels.map(kernel => kernel.share));
  const kernels = sortedTable([
    ["time", k => k.share, k => share(k.share, top), "share of the clocks of all launches"],
    ["kernel", k => k.name, k => make("td", { class: "left" }, make("code", {}, k.name)), "", true],
    plain("launches", k => k.launches),
    plain("clocks", k => k.cycles, number, "clocks of the launches"),
    ["limit", k => k.limit, k => make("td", { class: "left" }, k.limit), "the resource that limits the speed", true],
    plain("SIMD", k => k.simd_width),
    plain("lanes", k => ratio(k.cost.lanes, k.cost.slots), percent, "enabled lanes"),
    ["spent on", k => ratio(k.cost.wait, k.cost.clocks), k => make("td", {}, bar(k.stalls, k.cost.clocks)), "what threads spend their clocks on"],
    plain("occupancy", k => ratio(k.occupancy, k.threads_per_eu), percent, "hardware threads that can be resident"),
    plain("spills", k => k.spill_bytes, number, "bytes of spilled registers of a thread"),
    plain("private", k => k.private_bytes, number, "bytes of a work-item"),
    plain("local", k => k.local_bytes, number, "bytes of a work-group"),
    ["lines", k => k.without_lines, k => make("td", { class: "left wrap" }, k.without_lines), "why it has no source lines", true],
  ], data.kernels, kernel => showSource(data.kernels.indexOf(kernel)));
  const rows = data.all.filter(line => line.line && line.share > 0 && (!search.value || matches(lineText(line)) || matches(lineName(line))));
  const most = Math.max(0, ...rows.map(line => line.share));
  const lines = sortedTable([
    ["share", l => l.share, l => share(l.share, most), COSTS[0][1]],
    ["line", lineName, l => make("td", { class: "left" }, make("code", {}, lineName(l))), "", true],
    ["text", lineText, l => make("td", { class: "left text" }, highlight(lineText(l).trim())), "", true],
    ["spent on", l => ratio(l.cost.wait, l.cost.clocks), l => make("td", {}, bar(l.stalls, l.cost.clocks)), COSTS[5][1]],
    plain("executions", l => l.cost.executed, number, COSTS[3][1]),
    plain("lanes", l => ratio(l.cost.lanes, l.cost.slots), percent, COSTS[4][1]),
    plain("lines/send", l => ratio(l.cost.lines, l.cost.line_sends), decimal, COSTS[7][1]),
    ["why", l => l.reasons.join("; "), l => make("td", { class: "left wrap" }, l.reasons.join("; ")), "", true],
  ], rows, line => showSource(null, line));
  main.replaceChildren(
    make("h2", {}, "Kernels"), kernels,
    make("h2", {}, "Lines", make("small", {}, `${number(rows.length)} with instructions`)), legend(), lines);
}

// Annotated source

const KEYWORDS = new Set(`__kernel kernel __global global __local local __constant constant __private private const restrict volatile
  static inline if else for while do switch case default break continue return goto struct union enum typedef sizeof void bool char
  uchar short ushort int uint long ulong float double half size_t unsigned signed image2d_t sampler_t read_only write_only read_write
  __attribute__ __read_only __write_only`.split(/\s+/));

function highlight(text) {
  const code = make("code");
  for (const [token] of text.matchAll(/\/\/.*|\/\*.*?\*\/|"(?:\\.|[^"\\])*"|[A-Za-z_]\w*|(?:0x[\da-fA-F]+|\d+\.?\d*(?:e[+-]?\d+)?)\w*|\s+|./g)) {
    const kind = /^\/[/*]/.test(token) ? "c" : token[0] === '"' ? "s" : /^\d/.test(token) ? "n"
      : KEYWORDS.has(token) || /^(?:float|double|half|u?(?:int|char|short|long))\d+$/.test(token) ? "k" : "";
    code.append(kind ? make("span", { class: kind }, token) : token);
  }
  return code;
}

const chosen = { kernel: null, source: null, line: null, ir: false };

function showSource(kernel, line) {
  chosen.kernel = kernel;
  chosen.line = line && line.line;
  chosen.source = line ? line.line[0] : null;
  location.hash = "source";
  select("source");
}

// The instructions of a line with their kernels.
function instructionsOf(key) {
  const same = other => key ? other && other[0] === key[0] && other[1] === key[1] : !other;
  const of = kernel => data.kernels[kernel].instructions.filter(i => same(i.line)).map(i => [kernel, i]);
  return chosen.kernel === null ? data.kernels.flatMap((_, kernel) => of(kernel)) : of(chosen.kernel);
}

// The Gen IR of a line with its kernels.
function genIrOf(key) {
  const of = kernel => data.kernels[kernel].gen_ir.filter(([at]) => key && at[0] === key[0] && at[1] === key[1]).map(([, text]) => [kernel, text]);
  return chosen.kernel === null ? data.kernels.flatMap((_, kernel) => of(kernel)) : of(chosen.kernel);
}

const genIrRow = ([kernel, text]) => make("tr", { class: "code-row ir" + (matches(text) ? " found" : "") },
  make("td", { colspan: COSTS.length }), make("td", { class: "number" }, "IR"),
  make("td", { class: "left code", title: chosen.kernel === null ? data.kernels[kernel].name : undefined }, text));

const offset = value => "0x" + value.toString(16).padStart(4, "0");

function instructionRow([kernel, instruction], whole) {
  const waits = instruction.waits.map(([at, clocks]) => `${number(clocks)} for ${offset(at)}`).join(", ");
  return make("tr", { class: "code-row" + (matches(instruction.text) ? " found" : "") },
    ...costCells(instruction, whole),
    make("td", { class: "number", title: waits && `waits: ${waits}` }, offset(instruction.offset)),
    make("td", { class: "left code", title: chosen.kernel === null ? data.kernels[kernel].name : undefined }, instruction.text));
}

function toggle(row, line, whole) {
  if (row.classList.toggle("open")) {
    const why = line.reasons.length ? [make("tr", { class: "why" }, make("td", { colspan: COSTS.length + 1 }), make("td", { class: "left" }, line.reasons.join("; ")))] : [];
    row.after(...why, ...(chosen.ir ? genIrOf(line.line) : []).map(genIrRow), ...instructionsOf(line.line).map(instruction => instructionRow(instruction, whole)));
  } else {
    while (row.nextSibling && /^(code-row|why)/.test(row.nextSibling.className)) row.nextSibling.remove();
  }
}

function source() {
  const lines = chosen.kernel === null ? data.all : data.lines[chosen.kernel];
  const used = [...new Set(lines.filter(line => line.line).map(line => line.line[0]))];
  if (!used.includes(chosen.source)) {
    const heat = source => lines.filter(l => l.line && l.line[0] === source).reduce((sum, l) => sum + l.share, 0);
    chosen.source = used.length ? used.reduce((a, b) => heat(b) > heat(a) ? b : a) : null;
  }
  const most = Math.max(0, ...lines.map(line => line.share));
  const byLine = new Map(lines.filter(l => l.line && l.line[0] === chosen.source).map(l => [l.line[1], l]));
  const text = chosen.source === null ? [] : textLines[chosen.source];
  const numbers = text.length ? text.map((_, index) => index + 1) : [...byLine.keys()].sort((a, b) => a - b);
  const body = make("tbody");
  let wanted = null;
  function add(line, label, code) {
    const row = make("tr", { class: line ? "cost" : "", onclick: line && (() => toggle(row, line, most)) },
      ...(line ? costCells(line, most) : COSTS.map(() => make("td"))), make("td", { class: "number" }, label), make("td", { class: "left" }, code));
    if (!line) row.removeAttribute("class");
    if (matches(code.textContent)) row.classList.add("found");
    body.append(row);
    return row;
  }
  for (const at of numbers) {
    const row = add(byLine.get(at), String(at), highlight(text[at - 1] || ""));
    if (chosen.line && chosen.line[1] === at && byLine.has(at)) {
      wanted = row;
      toggle(row, byLine.get(at), most);
    }
  }
  const rest = lines.find(line => !line.line);
  if (rest) {
    const row = add(rest, "", make("i", {}, used.length ? "instructions of no line" : "machine code"));
    if (!used.length) toggle(row, rest, most);
  }
  const option = (value, label, picked) => make("option", { value, selected: picked && "" }, label);
  const kernels = make("select", { id: "kernel", onchange: event => { chosen.kernel = event.target.value === "" ? null : +event.target.value; chosen.line = null; source(); } },
    option("", "all kernels", chosen.kernel === null),
    ...data.kernels.map((kernel, index) => option(index, `${kernel.name} SIMD${kernel.simd_width} (${percent(kernel.share)})`, chosen.kernel === index)));
  const sources = make("select", { id: "file", onchange: event => { chosen.source = +event.target.value; chosen.line = null; source(); } },
    ...used.map(index => option(index, data.sources[index].name, chosen.source === index)));
  const heads = [...COSTS.map(([head, title]) => make("th", { title }, head)), make("th"), make("th", { class: "left" }, "source; a click shows the machine code")];
  const note = chosen.kernel !== null && data.kernels[chosen.kernel].without_lines;
  main.replaceChildren(
    make("div", { class: "controls" }, kernels, used.length ? sources : null,
      make("button", { id: "hottest", onclick: () => hottest(byLine) }, "Hottest line"),
      data.kernels.some(kernel => kernel.gen_ir.length) ? make("label", {}, make("input", { id: "ir", type: "checkbox", checked: chosen.ir && "",
        onchange: event => { chosen.ir = event.target.checked; source(); } }), " Gen IR") : null),
    make("p", { class: "note" }, note ? `No source lines: ${note}.` : ""), legend(),
    make("table", { class: "source" }, make("thead", {}, make("tr", {}, ...heads)), body));
  if (wanted) wanted.scrollIntoView({ block: "center" });
}

function hottest(byLine) {
  const line = byLine.size ? [...byLine.values()].reduce((a, b) => b.share > a.share ? b : a) : null;
  if (!line) return;
  chosen.line = line.line;
  source();
}

// Flame graph

const ROW = 20;

function flame() {
  const holder = make("div");
  main.replaceChildren(make("h2", {}, "Time of kernels, inlined functions and lines", make("small", {}, "a click enlarges; on the first row, it shows all again")), holder);
  const width = Math.max(600, main.clientWidth - 40);
  const draw = root => {
    const rows = [];
    const path = [];
    for (let node = root; node; node = node.parent) path.unshift(node);
    const place = (node, depth, left, size) => {
      if (size < 0.5) return;
      rows.push([node, depth, left, size]);
      let at = left;
      for (const child of node.children) {
        const part = size * ratio(child.value, node.value);
        place(child, depth + 1, at, part);
        at += part;
      }
    };
    path.slice(0, -1).forEach((node, depth) => rows.push([node, depth, 0, width]));
    place(root, path.length - 1, 0, width);
    const depth = Math.max(...rows.map(row => row[1])) + 1;
    const found = rows.map(([node, level, left, size]) => make("g", { onclick: () => draw(node) },
      make("title", {}, `${node.name}\n${percent(node.value)}`),
      make("rect", { class: "frame", x: left.toFixed(2), y: level * ROW, width: size.toFixed(2), height: ROW - 1, rx: 2, fill: colour(node) }),
      size > 40 ? make("text", { class: "label", x: (left + 4).toFixed(2), y: level * ROW + 14 }, node.name.slice(0, Math.floor((size - 8) / 7))) : null));
    holder.replaceChildren(make("svg", { width, height: depth * ROW, viewBox: `0 0 ${width} ${depth * ROW}` }, ...found));
  };
  const link = node => node.children.forEach(child => { child.parent = node; link(child); });
  link(data.flame);
  draw(data.flame);
}

function colour(node) {
  if (matches(node.name)) return "#b48cff";
  let hash = 0;
  for (const letter of node.name) hash = (hash * 31 + letter.charCodeAt(0)) % 997;
  return `hsl(${20 + hash % 36} ${70 + hash % 20}% ${62 + hash % 12}%)`;
}

// Roofline

function roofline() {
  const { peak, memory, l3 } = data.roofs;
  const points = data.kernels.map(kernel => {
    const float = kernel.cost.flops > 0;
    const operations = float ? kernel.cost.flops : kernel.cost.intops;
    const bytes = kernel.distinct_lines * LINE_BYTES;
    return { kernel, float, x: ratio(operations, bytes), y: ratio(operations, kernel.cycles), bytes };
  }).filter(point => point.x > 0 && point.y > 0);
  const width = 860, height = 460, pad = 60;
  const low = Math.floor(Math.log2(Math.min(0.25, ...points.map(p => p.x)))), high = Math.ceil(Math.log2(Math.max(64, ...points.map(p => p.x)))) + 1;
  const bottom = Math.floor(Math.log2(Math.min(4, ...points.map(p => p.y)))), top = Math.ceil(Math.log2(peak)) + 1;
  const x = value => pad + (Math.log2(value) - low) / (high - low) * (width - 2 * pad);
  const y = value => height - pad - (Math.log2(value) - bottom) / (top - bottom) * (height - 2 * pad);
  const parts = [];
  const slope = -Math.atan2((height - 2 * pad) / (top - bottom), (width - 2 * pad) / (high - low)) * 180 / Math.PI;
  const tick = value => value < 1 ? `1/${1 / value}` : String(value);
  for (let e = low; e <= high; e++) parts.push(make("line", { class: "axis", x1: x(2 ** e), x2: x(2 ** e), y1: pad, y2: height - pad }),
    make("text", { class: "tick", x: x(2 ** e), y: height - pad + 18, "text-anchor": "middle" }, tick(2 ** e)));
  for (let e = bottom; e <= top; e += 2) parts.push(make("line", { class: "axis", x1: pad, x2: width - pad, y1: y(2 ** e), y2: y(2 ** e) }),
    make("text", { class: "tick", x: pad - 8, y: y(2 ** e) + 4, "text-anchor": "end" }, tick(2 ** e)));
  for (const [name, rate] of [["memory", memory], ["L3 cache", l3]]) {
    const knee = Math.min(2 ** high, peak / rate), start = Math.max(2 ** low, 2 ** bottom / rate);
    parts.push(make("path", { class: "roof", d: `M${x(start)},${y(start * rate)} L${x(knee)},${y(knee * rate)} L${x(2 ** high)},${y(Math.min(peak, 2 ** high * rate))}` }),
      make("text", { class: "tick", transform: `translate(${x(start) + 8} ${y(start * rate) - 12}) rotate(${slope})` }, `${name}: ${rate} bytes/clock`));
  }
  parts.push(make("text", { class: "tick", x: width - pad, y: y(peak) - 8, "text-anchor": "end" }, `multiply-add on all lanes: ${peak} operations/clock`),
    make("text", { x: width / 2, y: height - 14, "text-anchor": "middle" }, "operations per byte from memory"),
    make("text", { x: 16, y: height / 2, transform: `rotate(-90 16 ${height / 2})`, "text-anchor": "middle" }, "operations per clock"));
  for (const point of points) {
    const label = `${point.kernel.name}: ${point.y.toFixed(1)} ${point.float ? "floating-point" : "integer"} operations per clock, ${point.x.toFixed(2)} per byte; limit: ${point.kernel.limit}`;
    parts.push(make("g", { onclick: () => showSource(data.kernels.indexOf(point.kernel)), style: "cursor:pointer" }, make("title", {}, label),
      make("circle", { cx: x(point.x), cy: y(point.y), r: 4 + 8 * Math.sqrt(point.kernel.share), fill: `rgba(var(--hot), .75)` }),
      make("text", { x: x(point.x) + 14, y: y(point.y) + 4 }, point.kernel.name)));
  }
  main.replaceChildren(make("h2", {}, "Roofline", make("small", {}, data.device)),
    make("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, ...parts),
    make("p", { class: "note" }, "Each point is a kernel, in the time of its launches as they were. Operations are those of floats, or of integers where a kernel has none of floats. Bytes are those of the cache lines that each launch accesses, each once."));
}

// Timeline

const time = ns => ns >= 1e9 ? `${(ns / 1e9).toFixed(3)} s` : ns >= 1e6 ? `${(ns / 1e6).toFixed(3)} ms` : `${(ns / 1e3).toFixed(1)} us`;

function timeline() {
  const holder = make("div");
  main.replaceChildren(make("h2", {}, "Calls, builds and commands in the host's time", make("small", {}, "a click enlarges; beside a slice, it shows all again")), holder);
  const left = 130, width = Math.max(600, main.clientWidth - 40);
  const end = Math.max(1, ...data.timeline.flatMap(track => track.slices.map(slice => slice[1])));
  const several = new Set(data.timeline.map(track => track.process)).size > 1;
  const draw = (from, to) => {
    const x = at => left + (at - from) / (to - from) * (width - left);
    const parts = [];
    let y = 24;
    for (let step = 0; step <= 8; step++) {
      const at = from + (to - from) * step / 8;
      parts.push(make("text", { class: "tick", x: x(at), y: 14, "text-anchor": step === 8 ? "end" : "start" }, time(at)));
    }
    for (const track of data.timeline) {
      const open = [];
      let depth = 1;
      const rows = [];
      for (const slice of track.slices) {
        while (open.length && open[open.length - 1] <= slice[0]) open.pop();
        open.push(slice[1]);
        depth = Math.max(depth, open.length);
        if (slice[1] < from || slice[0] > to) continue;
        const begin = Math.max(left, x(slice[0])), size = Math.max(1, Math.min(width, x(slice[1])) - begin), top = y + (open.length - 1) * ROW;
        const zoom = event => { event.stopPropagation(); draw(slice[0], Math.max(slice[1], slice[0] + 1)); };
        rows.push(make("g", { onclick: zoom },
          make("title", {}, [slice[2], time(slice[1] - slice[0]), slice[3]].filter(Boolean).join("\n")),
          make("rect", { class: "frame slice", x: begin.toFixed(1), y: top, width: size.toFixed(1), height: ROW - 1, rx: 2, fill: colour({ name: slice[2] }) }),
          size > 40 ? make("text", { class: "label", x: (begin + 4).toFixed(1), y: top + 14 }, slice[2].slice(0, Math.floor((size - 8) / 7))) : null));
      }
      parts.push(make("text", { class: "tick", x: 0, y: y + 14 }, several ? `${track.process}: ${track.name}` : track.name), ...rows);
      y += depth * ROW + 8;
    }
    holder.replaceChildren(make("svg", { width, height: y, viewBox: `0 0 ${width} ${y}`, onclick: () => draw(0, end) }, ...parts));
  };
  draw(0, end);
}

// Tabs

const TABS = [["overview", "Overview", overview], ["source", "Source", source], ["flame", "Flame graph", flame], ["roofline", "Roofline", roofline],
  ...(data.timeline.length ? [["timeline", "Timeline", timeline]] : [])];

function select(name) {
  const [id, , show] = TABS.find(tab => tab[0] === name) || TABS[0];
  document.querySelectorAll("#tabs button").forEach(button => button.setAttribute("aria-selected", button.id === `tab-${id}`));
  show();
}

const current = () => location.hash.slice(1) || "overview";
document.title = `${data.program} on ${data.device}`;
document.getElementById("title").append(data.program, make("small", {}, `on ${data.device}`));
document.getElementById("tabs").append(...TABS.map(([id, name]) =>
  make("button", { id: `tab-${id}`, role: "tab", onclick: () => { history.replaceState(null, "", `#${id}`); select(id); } }, name)));
search.addEventListener("input", () => select(current()));
addEventListener("hashchange", () => { if (document.querySelector(`#tab-${current()}[aria-selected=false]`)) select(current()); });
select(current());
