// Numbers, words and tables that all views have in common.

const { h, render, Fragment } = preact;
const { useEffect, useMemo, useRef, useState } = preactHooks;

const LINE_BYTES = 64;

const number = value => value.toLocaleString("en-US");
const percent = part => (100 * part).toFixed(part >= 0.0995 || part === 0 ? 0 : 1) + "%";
const decimal = value => value ? value.toFixed(1) : "";
const ratio = (a, b) => b ? a / b : 0;
const factor = gain => gain >= 99.5 ? "100 x and more" : gain >= 9.95 ? `${gain.toFixed(0)} x` : `${gain.toFixed(1)} x`;
const same = (a, b) => Boolean(a && b && a[0] === b[0] && a[1] === b[1]);

// What clocks are spent on, in the order of the bars.
const KINDS = [
  ["issue", "issue"], ["result", "wait for a result"], ["memory", "wait for memory"], ["atomic", "for an atomic"],
  ["slm", "for local memory"], ["sampler", "for the sampler"], ["barrier", "at a barrier"], ["fence", "for a fence"],
  ["other", "other"],
];

// Terms of the cycle model, as docs/statistics.md explains them.
const TERMS = {
  "pipes": "Each EU has two pipes, which execute arithmetic. The limit when instructions are what takes the time: fewer or cheaper ones help.",
  "one pipe": "Only one of an EU's two pipes executes extended math (roots, functions, divisions) and 64-bit floats. The limit when that pipe is busy while the other one may be idle.",
  "send": "An EU sends a register of a message's payload in a clock. The limit when messages carry much data.",
  "data port": "Each subslice has a data port, which accesses a cache line in a clock, or each bank of local memory once. The limit when accesses are uncoalesced, have bank conflicts, or are many.",
  "sampler": "Each subslice has a sampler, which gives four results in a clock.",
  "memory": "One cache line of 64 bytes comes from memory in a clock. The limit when much data is accessed: fewer bytes help.",
  "latency": "No resource is busy all the time: threads wait for results, and too few of them are resident to hide it. More threads, or more independent work in each, help.",
  "issue": "Clocks for which a thread's instruction occupies it.",
  "occupancy": "The part of the hardware threads that can be resident at the same time. Local memory, barriers, large work-groups and scratch memory lessen it.",
  "SIMD": "Work-items of a thread: lanes of its widest instructions.",
};

const tip = text => text ? { "data-tip": text, tabindex: 0 } : {};
const Term = ({ name }) => h("span", TERMS[name] ? { class: "term", ...tip(TERMS[name]) } : {}, name);

// One tooltip for the page, so that no table cuts it off.
function startTips() {
  const box = document.getElementById("tip");
  const show = event => {
    const at = event.target.closest && event.target.closest("[data-tip]");
    box.hidden = !at;
    if (!at) return;
    box.textContent = at.getAttribute("data-tip");
    const { left, bottom, top } = at.getBoundingClientRect();
    const { width, height } = box.getBoundingClientRect();
    box.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 16))}px`;
    box.style.top = `${bottom + height + 12 > innerHeight ? top - height - 6 : bottom + 6}px`;
  };
  for (const kind of ["pointerover", "focusin"]) document.addEventListener(kind, show);
  for (const kind of ["focusout", "scroll"]) document.addEventListener(kind, () => { box.hidden = true; }, true);
}

// Cells

const Share = ({ part, whole }) => part > 0 && h("span", { class: "share" },
  h("i", { style: { width: `${(100 * ratio(part, whole)).toFixed(2)}%` } }), h("span", {}, percent(part)));

const Bar = ({ stalls, clocks }) => {
  const parts = KINDS.filter(([kind]) => stalls[kind]).map(([kind, name]) => [kind, name, ratio(stalls[kind], clocks)]);
  return h("span", { class: "bar", "data-tip": parts.map(([, name, part]) => `${name} ${percent(part)}`).join(", ") },
    parts.map(([kind, , part]) => h("i", { style: { width: `${(100 * part).toFixed(2)}%`, background: `var(--${kind})` } })));
};

const Legend = ({ entries }) => h("div", { class: "legend" },
  entries.map(([colour, name]) => h("span", {}, h("i", { style: { background: colour } }), name)));
const SpentLegend = ({ rows }) => h(Legend, {
  entries: KINDS.filter(([kind]) => rows.some(row => row.stalls[kind])).map(([kind, name]) => [`var(--${kind})`, name]),
});

// The columns that lines and instructions have in common: id, head, explanation, sort key, cell, and the width of the page
// from which they are shown.
const COSTS = [
  { id: "limit", head: "limit", tip: "part of the time of all kernels, by the use of the resource that limits each: what a kernel gains from", key: row => row.limit,
    cell: (row, most) => h(Share, { part: row.limit, whole: most.limit }), from: 0 },
  { id: "time", head: "threads", tip: "part of the time of all kernels, by the clocks that threads issue or wait", key: row => row.share,
    cell: (row, most) => h(Share, { part: row.share, whole: most.share }), from: 640 },
  { id: "spent", head: "spent on", tip: "what the clocks of threads are spent on", key: row => ratio(row.cost.wait, row.cost.clocks),
    cell: row => h(Bar, { stalls: row.stalls, clocks: row.cost.clocks }), from: 640 },
  { id: "lanes", head: "lanes", tip: "part of the lanes that are enabled", key: row => ratio(row.cost.lanes, row.cost.slots), cell: row => row.cost.slots ? percent(ratio(row.cost.lanes, row.cost.slots)) : "", from: 1000 },
  { id: "lines", head: "lines/message", tip: "cache lines of a message that accesses any", key: row => ratio(row.cost.lines, row.cost.line_sends), cell: row => decimal(ratio(row.cost.lines, row.cost.line_sends)), from: 1000 },
  { id: "executed", head: "executions", tip: "executions of instructions, each once per thread", key: row => row.cost.executed, cell: row => number(row.cost.executed), from: 1200 },
  { id: "inclusive", head: "inclusive", tip: "threads' time with that of functions that are called here and inlined", key: row => row.inclusive, cell: row => row.inclusive === undefined ? "" : percent(row.inclusive), from: Infinity },
  { id: "clocks", head: "clocks", tip: "clocks that threads issue or wait", key: row => row.cost.clocks, cell: row => number(row.cost.clocks), from: Infinity },
  { id: "sends", head: "messages", tip: "messages", key: row => row.cost.sends, cell: row => row.cost.sends ? number(row.cost.sends) : "", from: Infinity },
  { id: "port", head: "port clocks", tip: "clocks of the data ports", key: row => row.cost.port, cell: row => row.cost.port ? number(row.cost.port) : "", from: Infinity },
  { id: "bytes", head: "bytes", tip: "bytes of the cache lines of all messages", key: row => row.cost.lines, cell: row => row.cost.lines ? number(row.cost.lines * LINE_BYTES) : "", from: Infinity },
];

// Which columns are shown; a choice is kept by the browser where it can be.
function useColumns(name, columns) {
  const key = `gencl-profile columns ${name}`;
  const [chosen, choose] = useState(() => {
    try { return JSON.parse(localStorage.getItem(key)); } catch { return null; }
  });
  const ids = chosen || columns.filter(column => (column.from || 0) <= innerWidth).map(column => column.id);
  const toggle = id => {
    const now = ids.includes(id) ? ids.filter(other => other !== id) : [...ids, id];
    choose(now);
    try { localStorage.setItem(key, JSON.stringify(now)); } catch { /* The choice lasts as long as the page. */ }
  };
  const menu = h("details", { class: "columns" }, h("summary", {}, "Columns"),
    h("div", {}, columns.filter(column => !column.fixed).map(({ id, head, tip: told }) =>
      h("label", { "data-tip": told }, h("input", { type: "checkbox", "data-column": id, checked: ids.includes(id), onChange: () => toggle(id) }), " ", head))));
  return [columns.filter(column => column.fixed || ids.includes(column.id)), menu];
}

// A table that is sorted by a click on a column's head, with a menu of its columns.
function Table({ name, title, note, columns, rows, open, legend }) {
  const [shown, menu] = useColumns(name, columns);
  const [[by, up], sort] = useState([columns.find(column => column.sorted).id, false]);
  const { key } = columns.find(column => column.id === by);
  const sorted = useMemo(() => {
    const compare = (a, b) => typeof a === "string" ? b.localeCompare(a) : b - a;
    return [...rows].sort((a, b) => (up ? -1 : 1) * compare(key(a), key(b)));
  }, [rows, by, up]);
  const most = { limit: Math.max(0, ...rows.map(row => row.limit || 0)), share: Math.max(0, ...rows.map(row => row.share || 0)) };
  const head = column => h("th", {
    class: `sortable ${column.side || ""}`, scope: "col", "data-tip": column.tip, "data-id": column.id,
    "aria-sort": column.id === by ? (up ? "ascending" : "descending") : undefined,
    onClick: () => sort([column.id, column.id === by && !up]),
  }, column.head);
  return h("section", {}, h("div", { class: "controls" }, h("h2", {}, title, h("small", {}, note)), menu), legend,
    h("div", { class: "scroll" }, h("table", { class: "list", id: name },
      h("thead", {}, h("tr", {}, shown.map(head))),
      h("tbody", {}, sorted.map(row => h("tr", open ? { onClick: () => open(row) } : {},
        shown.map(column => h("td", { class: column.side || "" }, column.cell(row, most)))))))));
}
