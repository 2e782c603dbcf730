// Flame graph, roofline and timeline

const ROW = 20;
const LETTER = 6.6;

// The width of an element, in which a graph is drawn.
function useWidth() {
  const holder = useRef(null);
  const [width, setWidth] = useState(1000);
  useEffect(() => {
    const measure = () => { if (holder.current) setWidth(Math.max(320, holder.current.clientWidth)); };
    measure();
    addEventListener("resize", measure);
    return () => removeEventListener("resize", measure);
  }, []);
  return [holder, width];
}

const fitted = (text, size) => text.length * LETTER > size - 8 ? text.slice(0, Math.max(0, Math.floor((size - 8) / LETTER) - 1)) + "…" : text;

const Box = ({ x, y, size, colour, text, told, kind, onClick }) => h("g", { onClick },
  h("rect", { class: "frame " + (kind || ""), x: x.toFixed(2), y, width: Math.max(0.5, size - 0.5).toFixed(2), height: ROW - 1, rx: 2, fill: colour, "data-tip": told }),
  size > 30 && h("text", { class: "label", x: (x + 4).toFixed(2), y: y + 14 }, fitted(text, size)));

function Flame({ data, view }) {
  const [holder, width] = useWidth();
  const [root, enlarge] = useState(data.flame);
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
  const height = ROW * (Math.max(...rows.map(row => row[1])) + 1);
  const label = node => node.line ? `${node.line[1]}: ${data.lineText(node.line).trim()}` : node.name;
  return h("section", {}, h("h2", {}, "Threads' time by kernel, inlined function and line", h("small", {}, "a click enlarges; on a row above, it shows more again")),
    h(Legend, { entries: [["var(--flame-kernel)", "kernel"], ["var(--flame-function)", "inlined function"], ["var(--flame-line)", "source line"]] }),
    h("div", { ref: holder }, h("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, rows.map(([node, depth, left, size]) => h(Box, {
      x: left, y: depth * ROW, size, text: label(node), told: `${node.name}: ${percent(node.value)}${node.line ? ` - ${data.lineText(node.line).trim()}` : ""}`,
      colour: view.finds(label(node)) ? "var(--found)" : `var(--flame-${node.line ? "line" : depth < 2 ? "kernel" : "function"})`, onClick: () => enlarge(node),
    })))));
}

function Roofline({ data, open }) {
  const [holder, available] = useWidth();
  const { peak, memory, l3 } = data.roofs;
  const points = data.kernels.map(kernel => {
    const float = kernel.cost.flops > 0;
    const operations = float ? kernel.cost.flops : kernel.cost.intops;
    return { kernel, float, x: ratio(operations, kernel.distinct_lines * LINE_BYTES), y: ratio(operations, kernel.cycles) };
  }).filter(point => point.x > 0 && point.y > 0);
  const width = Math.min(960, available), height = 460, pad = 60;
  const low = Math.floor(Math.log2(Math.min(0.25, ...points.map(p => p.x)))), high = Math.ceil(Math.log2(Math.max(64, ...points.map(p => p.x)))) + 1;
  const bottom = Math.floor(Math.log2(Math.min(4, ...points.map(p => p.y)))), top = Math.ceil(Math.log2(peak)) + 1;
  const x = value => pad + (Math.log2(value) - low) / (high - low) * (width - 2 * pad);
  const y = value => height - pad - (Math.log2(value) - bottom) / (top - bottom) * (height - 2 * pad);
  const slope = -Math.atan2((height - 2 * pad) / (top - bottom), (width - 2 * pad) / (high - low)) * 180 / Math.PI;
  const tick = value => value < 1 ? `1/${1 / value}` : String(value);
  const range = (from, to, step) => Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);
  const label = point => `${point.kernel.name}: ${point.y.toFixed(1)} ${point.float ? "floating-point" : "integer"} operations per clock, ${point.x.toFixed(2)} per byte; limit: ${point.kernel.limit}`;
  return h("section", { ref: holder }, h("h2", {}, "Roofline", h("small", {}, data.device)),
    h("svg", { width, height, viewBox: `0 0 ${width} ${height}` },
      range(low, high, width < 700 ? 2 : 1).map(e => [h("line", { class: "axis", x1: x(2 ** e), x2: x(2 ** e), y1: pad, y2: height - pad }),
        h("text", { class: "tick", x: x(2 ** e), y: height - pad + 18, "text-anchor": "middle" }, tick(2 ** e))]),
      range(bottom, top, 2).map(e => [h("line", { class: "axis", x1: pad, x2: width - pad, y1: y(2 ** e), y2: y(2 ** e) }),
        h("text", { class: "tick", x: pad - 8, y: y(2 ** e) + 4, "text-anchor": "end" }, tick(2 ** e))]),
      [["memory", memory], ["L3 cache", l3]].map(([name, rate]) => {
        const knee = Math.min(2 ** high, peak / rate), start = Math.max(2 ** low, 2 ** bottom / rate);
        return [h("path", { class: "roof", d: `M${x(start)},${y(start * rate)} L${x(knee)},${y(knee * rate)} L${x(2 ** high)},${y(Math.min(peak, 2 ** high * rate))}` }),
          h("text", { class: "tick", transform: `translate(${x(start) + 8} ${y(start * rate) - 12}) rotate(${slope})` }, `${name}: ${rate} bytes/clock`)];
      }),
      h("text", { class: "tick", x: width - pad, y: y(peak) - 8, "text-anchor": "end" }, `multiply-add on all lanes: ${peak} operations/clock`),
      h("text", { x: width / 2, y: height - 14, "text-anchor": "middle" }, "operations per byte from memory"),
      h("text", { x: 16, y: height / 2, transform: `rotate(-90 16 ${height / 2})`, "text-anchor": "middle" }, "operations per clock"),
      points.map(point => h("g", { class: "point", "data-tip": label(point), onClick: () => open(point.kernel) },
        h("circle", { cx: x(point.x), cy: y(point.y), r: 4 + 8 * Math.sqrt(point.kernel.share), fill: "rgba(var(--hot), .75)" }),
        h("text", { x: x(point.x) + 14, y: y(point.y) + 4 }, point.kernel.name)))),
    h("p", { class: "note" }, "Each point is a kernel, in the time of its launches as they were. Operations are those of floats, or of integers where a kernel has none of floats. Bytes are those of the cache lines that each launch accesses, each once."));
}

const time = ns => ns >= 1e9 ? `${(ns / 1e9).toFixed(3)} s` : ns >= 1e6 ? `${(ns / 1e6).toFixed(3)} ms` : `${(ns / 1e3).toFixed(1)} us`;

// The kinds of slices, as html.rs names them.
const SLICES = [["call", "API call"], ["wait", "API call that waits"], ["build", "build"], ["kernel", "kernel"], ["transfer", "other command"], ["error", "error"]];

function Timeline({ data, view }) {
  const [holder, width] = useWidth();
  const end = Math.max(1, ...data.timeline.flatMap(track => track.slices.map(slice => slice[1])));
  const [[from, to], enlarge] = useState([0, end]);
  const left = width < 700 ? 90 : 130;
  const several = new Set(data.timeline.map(track => track.process)).size > 1;
  const x = at => left + (at - from) / (to - from) * (width - left);
  const steps = width < 700 ? 3 : 8;
  const ticks = Array.from({ length: steps + 1 }, (_, step) => from + (to - from) * step / steps);
  const used = new Set(data.timeline.flatMap(track => track.slices.map(slice => slice[4])));
  let y = 28;
  const tracks = data.timeline.map(track => {
    const open = [];
    let depth = 1;
    const boxes = [];
    for (const [begin, until, name, told, kind] of track.slices) {
      while (open.length && open[open.length - 1] <= begin) open.pop();
      open.push(until);
      depth = Math.max(depth, open.length);
      if (until < from || begin > to) continue;
      const at = Math.max(left, x(begin));
      boxes.push(h(Box, {
        x: at, y: y + (open.length - 1) * ROW, size: Math.max(1, Math.min(width, x(until)) - at), kind: "slice", text: name,
        told: [name, time(until - begin), told].filter(Boolean).join(", "), colour: view.finds(name) ? "var(--found)" : `var(--slice-${kind})`,
        onClick: event => { event.stopPropagation(); enlarge([begin, Math.max(until, begin + 1)]); },
      }));
    }
    const label = h("text", { class: "tick", x: 0, y: y + 14 }, several ? `${track.process}: ${track.name}` : track.name);
    y += depth * ROW + 8;
    return [label, boxes];
  });
  return h("section", {}, h("h2", {}, "Calls, builds and commands in the host's time", h("small", {}, "a click enlarges; beside a slice, it shows all again")),
    h(Legend, { entries: SLICES.filter(([kind]) => used.has(kind)).map(([kind, name]) => [`var(--slice-${kind})`, name]) }),
    h("div", { ref: holder }, h("svg", { width, height: y, viewBox: `0 0 ${width} ${y}`, onClick: () => enlarge([0, end]) },
      ticks.map((at, step) => [h("line", { class: "axis", x1: x(at), x2: x(at), y1: 18, y2: y }),
        h("text", { class: "tick", x: x(at), y: 14, "text-anchor": step === steps ? "end" : "start" }, time(at))]),
      tracks)));
}
