// Two small charts as SVG text. Scales are logarithmic where the field spans several powers of ten.

const OURS = "#1f6feb";
const THEIRS = "#8c959f";
const PLAIN = "#24292f";
const FAINT = "#d0d7de";
const LINES = ["#cf222e", "#bf8700", "#1a7f37", "#8250df", "#953800", "#0a7ea4", "#a40e6f", "#57606a", "#6e7781", "#116329"];
const FONT = 'font-family="ui-sans-serif, system-ui, sans-serif"';

/** Horizontal bars, shortest first; `ours` are coloured. `rows`: { label, value, text, ours }. */
export function bars({ title, note, rows, linear = false }) {
  const sorted = [...rows].sort((a, b) => a.value - b.value);
  const [width, left, right, top, step] = [760, 250, linear ? 150 : 90, 68, 24];
  const height = top + sorted.length * step + 16;
  const most = Math.max(...sorted.map(({ value }) => value), 10);
  const part = (value) => (linear ? value / most : Math.log10(Math.max(value, 1)) / Math.log10(most));
  const scale = (value) => part(value) * (width - left - right);
  const body = [];
  for (let power = 1; power <= most; power *= 10) {
    const x = tenth(left + scale(power));
    body.push(`<line x1="${x}" y1="${top - 6}" x2="${x}" y2="${height - 12}" stroke="${FAINT}"/>`);
    body.push(text({ x, y: top - 10, size: 10, anchor: "middle", fill: THEIRS }, power.toLocaleString("en-US")));
  }
  sorted.forEach(({ label, value, text: told, ours }, at) => {
    const y = top + at * step;
    const length = tenth(Math.max(scale(value), 2));
    body.push(text({ x: left - 8, y: y + 15, size: 12, anchor: "end", fill: PLAIN, bold: ours }, label));
    body.push(`<rect x="${left}" y="${y + 4}" width="${length}" height="${step - 8}" rx="2" fill="${ours ? OURS : THEIRS}"/>`);
    body.push(text({ x: tenth(left + length + 6), y: y + 15, size: 12, anchor: "start", fill: PLAIN }, told));
  });
  return picture({ width, height, title, note }, body);
}

/** Lines over the same places. `places`: labels of the x axis. `rows`: { label, values, ours }, a value may be undefined. */
export function lines({ title, note, places, rows }) {
  const [width, left, right, top, bottom] = [760, 56, 250, 54, 40];
  const height = 420;
  const all = rows.flatMap(({ values }) => values.filter((value) => value !== undefined));
  const [low, high] = [Math.min(...all), Math.max(...all)].map(Math.log10);
  const x = (at) => tenth(left + (at / (places.length - 1)) * (width - left - right));
  const y = (value) => tenth(top + (1 - (Math.log10(value) - low) / (high - low)) * (height - top - bottom));
  const body = [];
  for (let power = 10 ** Math.ceil(low); power <= 10 ** high; power *= 10) {
    body.push(`<line x1="${left}" y1="${y(power)}" x2="${width - right}" y2="${y(power)}" stroke="${FAINT}"/>`);
    body.push(text({ x: left - 6, y: y(power) + 4, size: 10, anchor: "end", fill: THEIRS }, power.toLocaleString("en-US")));
  }
  places.forEach((place, at) => body.push(text({ x: x(at), y: height - 18, size: 11, anchor: "middle", fill: PLAIN }, place)));
  const taken = [];
  const ends = rows.map((row, at) => ({ row, colour: row.ours ? OURS : LINES[at % LINES.length], ...last(row.values) }));
  for (const { row, colour, value, at } of ends.sort((a, b) => b.value - a.value)) {
    const points = row.values.flatMap((each, place) => (each === undefined ? [] : [`${x(place)},${y(each)}`]));
    body.push(`<polyline points="${points.join(" ")}" fill="none" stroke="${colour}" stroke-width="${row.ours ? 3 : 1.5}"/>`);
    let place = y(value) + 4;
    while (taken.some((other) => Math.abs(other - place) < 13)) place += 1;
    taken.push(place);
    body.push(text({ x: x(at) + 8, y: tenth(place), size: 11, anchor: "start", fill: colour, bold: row.ours }, row.label));
  }
  return picture({ width, height, title, note }, body);
}

function last(values) {
  const at = values.findLastIndex((value) => value !== undefined);
  return { at, value: values[at] };
}

function picture({ width, height, title, note }, body) {
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" ${FONT}>`;
  const heading = [text({ x: 12, y: 20, size: 14, anchor: "start", fill: PLAIN, bold: true }, title), text({ x: 12, y: 36, size: 11, anchor: "start", fill: "#57606a" }, note)];
  return [head, `<title>${escape(title)}</title>`, `<rect width="${width}" height="${height}" rx="6" fill="#ffffff"/>`, ...heading, ...body, "</svg>", ""].join("\n");
}

function text({ x, y, size, anchor, fill, bold }, told) {
  return `<text x="${x}" y="${y}" font-size="${size}" text-anchor="${anchor}" fill="${fill}"${bold ? ' font-weight="600"' : ""}>${escape(told)}</text>`;
}

function escape(told) {
  return told.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function tenth(value) {
  return Math.round(value * 10) / 10;
}
