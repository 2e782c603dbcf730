// Annotated source

const KEYWORDS = new Set(`__kernel kernel __global global __local local __constant constant __private private const restrict volatile
  static inline if else for while do switch case default break continue return goto struct union enum typedef sizeof void bool char
  uchar short ushort int uint long ulong float double half size_t unsigned signed image2d_t sampler_t read_only write_only read_write
  __attribute__ __read_only __write_only`.split(/\s+/));

function highlight(text) {
  const parts = [];
  for (const [token] of text.matchAll(/\/\/.*|\/\*.*?\*\/|"(?:\\.|[^"\\])*"|[A-Za-z_]\w*|(?:0x[\da-fA-F]+|\d+\.?\d*(?:e[+-]?\d+)?)\w*|\s+|./g)) {
    const kind = /^\/[/*]/.test(token) ? "c" : token[0] === '"' ? "s" : /^\d/.test(token) ? "n"
      : KEYWORDS.has(token) || /^(?:float|double|half|u?(?:int|char|short|long))\d+$/.test(token) ? "k" : "";
    parts.push(kind ? h("span", { class: kind }, token) : token);
  }
  return h("code", {}, parts);
}

const offset = value => "0x" + value.toString(16).padStart(4, "0");

// The instructions of a line, or of none, with their kernels.
function instructionsOf(data, view, key) {
  const of = kernel => data.kernels[kernel].instructions.filter(i => key ? same(i.line, key) : !i.line).map(i => [kernel, i]);
  return view.kernel === null ? data.kernels.flatMap((_, kernel) => of(kernel)) : of(view.kernel);
}

function genIrOf(data, view, key) {
  const of = kernel => data.kernels[kernel].gen_ir.filter(([at]) => same(at, key)).map(([, text]) => [kernel, text]);
  return view.kernel === null ? data.kernels.flatMap((_, kernel) => of(kernel)) : of(view.kernel);
}

function Code({ data, view, shown, line, most }) {
  const waits = instruction => instruction.waits.map(([at, clocks]) => `${number(clocks)} clocks for ${offset(at)}`).join(", ");
  const of = kernel => view.kernel === null ? data.kernels[kernel].name : undefined;
  const found = text => view.finds(text) ? " found" : "";
  return h(Fragment, {},
    line.reasons.length > 0 && h("tr", { class: "why" }, h("td"), h("td", { colspan: shown.length + 1 }, line.reasons.map(reason => h("div", {}, reason)))),
    view.ir && genIrOf(data, view, line.line).map(([kernel, text]) => h("tr", { class: "code-row ir" + found(text) },
      h("td", { class: "number" }, "IR"), h("td", { class: "code", "data-tip": of(kernel) }, text), shown.map(() => h("td")))),
    instructionsOf(data, view, line.line).map(([kernel, instruction]) => h("tr", { class: "code-row" + found(instruction.text) },
      h("td", { class: "number" }, offset(instruction.offset)),
      h("td", { class: "code", "data-tip": [of(kernel), instruction.waits.length && `waits ${waits(instruction)}`].filter(Boolean).join("; ") || undefined }, instruction.text),
      shown.map(column => h("td", {}, column.cell(instruction, most))))));
}

function Source({ data, view, go }) {
  const lines = view.kernel === null ? data.all : data.lines[view.kernel];
  const used = [...new Set(lines.filter(line => line.line).map(line => line.line[0]))];
  const heat = source => lines.filter(l => l.line && l.line[0] === source).reduce((sum, l) => sum + l.limit, 0);
  const chosen = used.includes(view.source) ? view.source : used.length ? used.reduce((a, b) => heat(b) > heat(a) ? b : a) : null;
  const [shown, menu] = useColumns("source", COSTS);
  const [open, setOpen] = useState(new Set());
  const wanted = useRef(null);
  const hottest = lines.filter(l => l.line && l.line[0] === chosen).reduce((a, b) => !a || b.limit > a.limit ? b : a, null);
  useEffect(() => {
    setOpen(new Set(view.line ? [String(view.line)] : used.length ? [] : ["null"]));
  }, [view.line, view.kernel, chosen]);
  useEffect(() => { if (wanted.current) wanted.current.scrollIntoView({ block: "center" }); }, [view.line, view.asked]);
  const most = { limit: Math.max(0, ...lines.map(line => line.limit)), share: Math.max(0, ...lines.map(line => line.share)) };
  const byLine = new Map(lines.filter(l => l.line && l.line[0] === chosen).map(l => [l.line[1], l]));
  const text = chosen === null ? [] : data.text[chosen];
  const numbers = text.length ? text.map((_, index) => index + 1) : [...byLine.keys()].sort((a, b) => a - b);
  const toggle = id => setOpen(now => { const next = new Set(now); next.delete(id) || next.add(id); return next; });
  const advice = data.advice.filter(a => view.kernel === null || a.kernel === view.kernel);
  const Row = ({ line, label, code, words }) => {
    const id = String(line && line.line);
    const told = line && line.line ? advice.filter(a => same(a.lines[0], line.line)) : [];
    return h(Fragment, {},
      h("tr", { class: [line && "cost", line && open.has(id) && "open", view.finds(words) && "found"].filter(Boolean).join(" ") || undefined,
        ref: view.line && line && same(line.line, view.line) ? wanted : undefined, onClick: line && (() => toggle(id)) },
      h("td", { class: "number", style: line ? { boxShadow: `inset 3px 0 rgba(var(--hot), ${ratio(line.limit, most.limit).toFixed(2)})` } : undefined }, label),
      h("td", { class: "text" }, code), shown.map(column => h("td", {}, line && column.cell(line, most)))),
      told.map(a => h("tr", { class: "advice" }, h("td"), h("td", { colspan: shown.length + 1 }, h(AdviceText, { data, advice: a, named: view.kernel === null })))),
      line && open.has(id) && h(Code, { data, view, shown, line, most }));
  };
  const rest = lines.find(line => !line.line);
  const note = view.kernel !== null && data.kernels[view.kernel].without_lines;
  return h("section", {},
    h("div", { class: "controls" },
      h("select", { id: "kernel", "aria-label": "Kernel", value: view.kernel === null ? "" : String(view.kernel), onChange: event => go({ kernel: event.target.value === "" ? null : +event.target.value, line: null }) },
        h("option", { value: "" }, "all kernels"),
        data.kernels.map((kernel, index) => h("option", { value: String(index) }, `${kernel.name} SIMD${kernel.simd_width} (${percent(kernel.share)})`))),
      used.length > 0 && h("select", { id: "file", "aria-label": "File", value: String(chosen), onChange: event => go({ source: +event.target.value, line: null }) },
        used.map(index => h("option", { value: String(index) }, data.sources[index].name))),
      hottest && h("button", { id: "hottest", onClick: () => go({ line: hottest.line, asked: (view.asked || 0) + 1 }) }, "Hottest line"),
      data.kernels.some(kernel => kernel.gen_ir.length) && h("label", {}, h("input", { id: "ir", type: "checkbox", checked: view.ir, onChange: event => go({ ir: event.target.checked }) }), " Gen IR"),
      menu, h("span", { class: "note" }, note ? `No source lines: ${note}.` : "A click on a line shows its machine code.")),
    shown.some(column => column.id === "spent") && h(SpentLegend, { rows: lines }),
    h("table", { class: "source" },
      h("thead", {}, h("tr", {}, h("th"), h("th", { class: "left" }, "source"), shown.map(column => h("th", { "data-tip": column.tip }, column.head)))),
      h("tbody", {},
        numbers.map(at => h(Row, { key: at, line: byLine.get(at), label: at, words: text[at - 1] || "", code: highlight(text[at - 1] || "") })),
        rest && h(Row, { key: "rest", line: rest, label: "", words: "", code: h("i", {}, used.length ? "instructions of no line" : "machine code") }))));
}
