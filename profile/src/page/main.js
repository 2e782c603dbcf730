// The views, and which of them is shown

// A text with code between backticks.
const coded = text => text.split("`").map((part, index) => index % 2 ? h("code", {}, part) : part);

const AdviceText = ({ data, advice, named }) => h("span", {},
  h("b", {}, `at most ${factor(advice.gain)}`), " ", named && h("code", {}, data.kernels[advice.kernel].name + ": "), coded(advice.action), ". ",
  h("span", { class: "dim" }, coded(`${advice.fault}: ${advice.reason}.`)));

const ToDo = ({ data, open }) => data.advice.length > 0 && h("section", { id: "todo" },
  h("h2", {}, "What to do", h("small", {}, "by the time that it saves at most, when nothing else changes")),
  h("ol", {}, data.advice.map(advice => h("li", { onClick: () => open(advice.kernel, advice.lines[0] || null) },
    h("span", { class: "gain" }, h("b", {}, factor(advice.gain)), h("small", {}, "at most")),
    h("div", {},
      h("div", {}, h("code", {}, data.kernels[advice.kernel].name), advice.lines.length > 0 && h("a", {}, ` line ${advice.lines.slice(0, 3).map(line => line[1]).join(", ")}`), ` - ${advice.fault}`),
      h("div", { class: "action" }, coded(advice.action)),
      h("div", { class: "dim" }, coded(advice.reason)),
      advice.lines.length > 0 && h("pre", {}, highlight(data.lineText(advice.lines[0]).trim())))))));

function Overview({ data, view, open }) {
  const rows = useMemo(() => data.all.filter(line => line.line && line.limit + line.share > 0
    && (view.finds(data.lineText(line.line)) || view.finds(data.lineName(line)) || !view.search)), [view.search]);
  const kernels = [
    { id: "kernel", head: "kernel", fixed: true, side: "left", key: k => k.name, cell: k => h("code", {}, k.name) },
    { id: "time", head: "time", sorted: true, tip: "part of the clocks of all launches", key: k => k.share, cell: (k, most) => h(Share, { part: k.share, whole: most.share }) },
    { id: "limit", head: "limit", side: "left", tip: "the resource that limits the speed", key: k => k.limit, cell: k => h(Term, { name: k.limit }) },
    { id: "clocks", head: "clocks", tip: "clocks of the launches", key: k => k.cycles, cell: k => number(k.cycles), from: 640 },
    { id: "launches", head: "launches", key: k => k.launches, cell: k => number(k.launches), from: 640 },
    { id: "spent", head: "spent on", tip: "what threads spend their clocks on", key: k => ratio(k.cost.wait, k.cost.clocks), cell: k => h(Bar, { stalls: k.stalls, clocks: k.cost.clocks }), from: 640 },
    { id: "lanes", head: "lanes", tip: "enabled lanes", key: k => ratio(k.cost.lanes, k.cost.slots), cell: k => percent(ratio(k.cost.lanes, k.cost.slots)), from: 1000 },
    { id: "occupancy", head: "occupancy", tip: TERMS.occupancy, key: k => ratio(k.occupancy, k.threads_per_eu), cell: k => percent(ratio(k.occupancy, k.threads_per_eu)), from: 1000 },
    { id: "simd", head: "SIMD", tip: TERMS.SIMD, key: k => k.simd_width, cell: k => k.simd_width, from: 1000 },
    { id: "spills", head: "spills", tip: "bytes of spilled registers of a thread", key: k => k.spill_bytes, cell: k => number(k.spill_bytes), from: 1200 },
    { id: "private", head: "private", tip: "bytes of private memory of a work-item", key: k => k.private_bytes, cell: k => number(k.private_bytes), from: 1200 },
    { id: "local", head: "local", tip: "bytes of local memory of a work-group", key: k => k.local_bytes, cell: k => number(k.local_bytes), from: 1200 },
    { id: "missing", head: "without lines", side: "left wrap", tip: "why it has no source lines", key: k => k.without_lines, cell: k => k.without_lines, from: data.kernels.some(k => k.without_lines) ? 0 : Infinity },
  ];
  const lines = [
    { id: "line", head: "line", fixed: true, side: "left line", key: data.lineName, cell: l => h(Fragment, {}, highlight(data.lineText(l.line).trim()), h("small", {}, data.lineName(l))) },
    ...COSTS.map(column => ({ ...column, sorted: column.id === "limit" })),
    { id: "why", head: "why", side: "left wrap", key: l => l.reasons.join(), cell: l => l.reasons.map(reason => h("div", {}, reason)), from: 1000 },
  ];
  return h(Fragment, {}, h(ToDo, { data, open }),
    h(Table, { name: "kernels", title: "Kernels", columns: kernels, rows: data.kernels, open: kernel => open(data.kernels.indexOf(kernel), null) }),
    h(Table, { name: "lines", title: "Lines", note: `${number(rows.length)} with instructions`, columns: lines, rows, open: line => open(null, line.line), legend: h(SpentLegend, { rows }) }));
}

function Comparison({ data, view }) {
  const { kernels, lines } = data.comparison;
  const change = part => h("span", { class: part > 0 ? "worse" : "better" }, `${part > 0 ? "+" : ""}${(100 * part).toFixed(1)}%`);
  const columns = [
    { id: "name", head: "kernel or line", fixed: true, side: "left line", key: c => c.name, cell: c => h(Fragment, {}, c.text && highlight(c.text), c.text ? h("small", {}, c.name) : h("code", {}, c.name)) },
    { id: "slowdown", head: "change", sorted: true, tip: "additional clocks, as a part of the kernel's earlier ones", key: c => c.slowdown, cell: c => change(c.slowdown) },
    { id: "before", head: "before", tip: "clocks of a launch in the earlier profile", key: c => c.before, cell: c => number(Math.round(c.before)) },
    { id: "after", head: "now", tip: "clocks of a launch", key: c => c.after, cell: c => number(Math.round(c.after)) },
  ];
  const found = rows => rows.filter(row => !view.search || view.finds(row.name) || view.finds(row.text));
  return h(Fragment, {},
    h(Table, { name: "changed-kernels", title: "Kernels compared with the earlier profile", note: "clocks of a launch", columns, rows: found(kernels) }),
    lines.length ? h(Table, { name: "changed-lines", title: "Lines", note: "their part of these clocks, by the resource that limits the kernel", columns, rows: found(lines) })
      : h("p", { class: "note" }, "No line has changed."));
}

function App({ data }) {
  const tabs = [["overview", "Overview", Overview], ["source", "Source", Source], ["flame", "Flame graph", Flame], ["roofline", "Roofline", Roofline],
    ...(data.timeline.length ? [["timeline", "Timeline", Timeline]] : []), ...(data.comparison ? [["comparison", "Comparison", Comparison]] : [])];
  const current = () => (tabs.find(([id]) => id === location.hash.slice(1)) || tabs[0])[0];
  const [state, setState] = useState({ tab: current(), kernel: null, source: null, line: null, ir: false, search: "" });
  const go = change => setState(now => ({ ...now, ...change }));
  const select = tab => { history.replaceState(null, "", `#${tab}`); go({ tab }); };
  const open = (kernel, line) => { select("source"); go({ kernel, line, source: line ? line[0] : null, asked: (state.asked || 0) + 1 }); scrollTo(0, 0); };
  useEffect(() => { addEventListener("hashchange", () => go({ tab: current() })); dispatchEvent(new Event("shown")); }, []);
  const wanted = state.search.toLowerCase();
  const view = { ...state, finds: text => Boolean(wanted && text && text.toLowerCase().includes(wanted)) };
  const openAt = state.tab === "roofline" ? kernel => open(data.kernels.indexOf(kernel), null) : open;
  return h(Fragment, {},
    h("header", {}, h("h1", {}, data.program, h("small", {}, `on ${data.device}`)),
      h("nav", { role: "tablist" }, tabs.map(([id, name]) => h("button", { id: `tab-${id}`, role: "tab", "aria-selected": String(id === state.tab), onClick: () => select(id) }, name))),
      h("input", { id: "search", type: "search", placeholder: "Search", "aria-label": "Search lines and instructions", spellcheck: false, value: state.search, onInput: event => go({ search: event.target.value }) })),
    h("main", {}, h(tabs.find(([id]) => id === state.tab)[2], { key: state.tab, data, view, go, open: openAt })));
}

// The numbers of a row have no names in the data, and shares of instructions are computed from them.
function unpack(data) {
  const cost = values => Object.fromEntries(data.costs.map((name, index) => [name, values[index] || 0]));
  for (const line of [data.all, ...data.lines].flat()) line.cost = cost(line.cost);
  for (const kernel of data.kernels) {
    kernel.cost = cost(kernel.cost);
    const at = new Map(kernel.instructions.map(instruction => [instruction.offset, instruction]));
    for (const instruction of kernel.instructions) {
      instruction.cost = cost(instruction.cost);
      instruction.share = kernel.share * ratio(instruction.cost.clocks, kernel.cost.clocks);
      instruction.stalls = { issue: instruction.cost.issue };
      for (const [from, clocks] of instruction.waits) {
        const { class: of } = at.get(from) || {};
        const kind = of ? data.stalls[of] || "other" : "result";
        instruction.stalls[kind] = (instruction.stalls[kind] || 0) + clocks;
      }
    }
  }
  data.text = data.sources.map(source => source.text === null ? [] : source.text.split("\n"));
  data.lineText = line => line ? data.text[line[0]][line[1] - 1] || "" : "";
  data.lineName = ({ line }) => line ? `${data.sources[line[0]].name}:${line[1]}` : "no line";
  const link = node => node.children.forEach(child => { child.parent = node; link(child); });
  link(data.flame);
  return data;
}

async function start() {
  const root = document.getElementById("app");
  try {
    const packed = Uint8Array.from(atob(document.getElementById("data").textContent), letter => letter.charCodeAt(0));
    const text = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
    const data = unpack(JSON.parse(text));
    document.title = `${data.program} on ${data.device}`;
    root.replaceChildren();
    render(h(App, { data }), root);
    startTips();
  } catch (error) {
    root.textContent = typeof DecompressionStream === "undefined" ? "This page needs a browser of 2023 or later." : `The page is damaged: ${error}`;
    throw error;
  }
}
start();
