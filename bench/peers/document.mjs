// Generates docs/benchmarks.md and its pictures from results.json. With --print, writes no files and prints them as one JSON object, by path.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bars, lines } from "./svg.mjs";

const here = import.meta.dirname;
const results = JSON.parse(readFileSync(join(here, "results.json"), "utf8"));
const byId = new Map(results.rows.map((row) => [row.id, row]));
const loops = results.rows.filter(({ layer }) => layer === "loop");
const dispatchers = results.rows.filter(({ layer }) => layer === "dispatch");

const WORK_NAMES = {
  "turns 1": "1 turn",
  "turns 10": "10 turns",
  "turns 100": "100 turns",
  "turns 1000": "1,000 turns",
  "batch 100": "100 calls in one turn",
  "approval 10": "10 approvals",
  "cycle 1": "interrupt, store, resume",
};

/** Labels for installed packages that differ from the label of their row. */
const INSTALLED = { "assent-core": "**Assent core**", assent: "**Assent agent, host, store, core and zod**" };

const OUR_WAY = "calls an approver; or parks the call in the ledger, for any process to answer and resume";

/** How each project asks, and what it stores while it waits. */
const WAYS = {
  "assent-core": OUR_WAY,
  "assent-core-sqlite": "the same",
  assent: "the same",
  "assent-sqlite": "the same",
  "assent-sqlite-unsafe": "the same",
  "ai-sdk": "calls `toolApproval`; or ends the run with a request, and the caller stores the messages as JSON",
  "openai-agents": "returns with interruptions; the caller approves and runs again. The state is a `RunState` string",
  "langgraph-memory": "`interrupt()` in the tool, `Command({ resume })`; the checkpointer stores the state",
  mastra: "`requireApproval` suspends the run, `approveToolCallGenerate` resumes it; the storage keeps the state",
  pi: "calls `beforeToolCall`",
  "gemini-cli": "sends a message on its bus, which is answered there",
  "qwen-code": "calls `onConfirm` of the waiting call",
};

/** Texts for projects that cannot resume, instead of "cannot be resumed". */
const NOT_RESUMED = { langgraph: "needs a checkpointer; see the next row", pi: "not in this runtime" };

const LAYERS = [
  ["bare loop", "zod", "–", "–", "history in memory", "–"],
  ["**Assent, memory ledger**", "zod, then frozen and fingerprinted", "modes, rules, safeguards, hooks", "approver or grant; or the call is parked", "every step as an event, in memory", "–"],
  ["**Assent, SQLite**", "the same", "the same", "the same", "every step as an event, hash-chained", "yes: decision and intent, with a full sync for unsafe tools"],
  ["ai", "zod", "a function or a status table", "function, or the run ends", "messages, stored by the caller", "–"],
  ["@openai/agents", "zod as strict JSON Schema", "a function per tool", "the run returns", "`RunState`, stored by the caller", "–"],
  ["@langchain/langgraph", "zod", "–", "–", "messages in the graph state", "–"],
  ["@langchain/langgraph, MemorySaver", "zod", "–", "interrupt", "a checkpoint after every graph step, here in memory", "not in this setup"],
  ["@mastra/core", "zod", "a function per tool or run", "the run suspends", "a snapshot when it suspends, here in memory", "not in this setup"],
  ["pi-agent-core", "JSON Schema", "–", "hook", "transcript in memory", "–"],
  ["gemini-cli-core, Scheduler", "JSON Schema (ajv)", "policy engine", "message bus", "calls in memory", "–"],
  ["qwen-code-core, CoreToolScheduler", "JSON Schema (ajv)", "approval mode, list of tools", "callback", "calls in memory", "–"],
];

const files = {
  "docs/benchmarks.md": page(),
  "docs/pictures/bench-calls.svg": callsPicture(),
  "docs/pictures/bench-growth.svg": growthPicture(),
  "docs/pictures/bench-effects.svg": effectsPicture(),
};
if (process.argv.includes("--print")) process.stdout.write(JSON.stringify(files));
else for (const [path, text] of Object.entries(files)) writeFileSync(join(here, "../..", path), text);

function page() {
  return [
    `<!-- Made from bench/peers/results.json by bench/peers/document.mjs. Do not edit. -->
# Benchmarks

This page compares what Assent and other projects cost when they run a model's tool calls. Read it to see what a call costs, how the cost grows with the conversation, and how often one approval
takes effect.

Every project does the same work: a scripted model without a network, and one tool with three fields that returns a text. Every figure is a **ratio to a bare loop** measured in the same
run. The bare loop calls the model, parses, validates with zod, runs the tool and appends to the history. So a figure shows how much a project adds, not how fast the machine is.

The bare loop takes one or two microseconds per call, and a real model takes seconds per turn. A person does not notice a cost of 100 × the bare loop, unless it grows with the
history.

Ratios compare **processor time**, including helper threads, because it depends little on other load. It does not include waiting; see [wall-clock time](#wall-clock-time) for that. Projects that do
more cost more, so read the figures together with [what each project does](#what-each-project-does).

${provenance()}`,
    `## At a glance

The cost of a call is a multiple of the bare loop. *Growth* is the cost of a call at 1,000 turns divided by its cost at 100 turns; 1.0 means that a longer history costs nothing. *Import* is a
multiple of starting Node. *MB* is the installed size. Calls of a *safe tool* only read. Before each call of an *unsafe tool*, Assent on SQLite waits until its intent is on disk.

${short()}

## What a call costs

![Cost per call at 100 turns](pictures/bench-calls.svg)

Processor time per call as a multiple of the bare loop, for a whole run from the prompt to the last answer: one call in each of 1, 10, 100 and 1,000 turns, and 100 calls in one turn. Each run
includes a new session or thread. Agents, graphs and tools are created once. Assent and pi read the model's answer as a stream. The other loops request whole answers, which is less work.

Projects with a model loop:

${callTable(loops)}

Dispatchers, which get the calls from outside and do not call a model:

${callTable(dispatchers)}

![Cost per call by the number of turns](pictures/bench-growth.svg)

### Wall-clock time

The same work by processor time and by wall-clock time. Wall-clock time includes waiting, mostly for the disk, and is affected by other load on the machine. Small differences mean nothing.

${table(["", "100 turns, processor", "100 turns, wall clock", "100 in one turn, processor", "100 in one turn, wall clock"], clocks())}`,
    `## Asking a person

The first column is a run of ten turns in which code immediately approves every call. The second column is a run that one call interrupts: the project stores its state, everything is created again from
that state, and the run continues to its end. Both are multiples of the bare loop for the same turns, which does not ask.

${table(["", "approved during the run", "interrupt, store, resume", "how"], asked())}

${reasons(["approval 10", "cycle 1"])}`,
    `## One approval, resumed ten times

One call is approved and its state is stored. The state is then resumed ten times in sequence. A second call is resumed ten times in parallel. The table counts effects by what the tool wrote to a file.

![Effects of one approved call](pictures/bench-effects.svg)

${table(["", "effects, in sequence", "effects, in parallel", "refused resumes"], again())}

${againWords()}`,
    `## Import time and size

Import time is the time to start Node with the import, divided by the time to start Node alone. Size is \`node_modules\` as counted by \`du\`, installed without scripts, with zod where a project needs it.

${table(["", "import, × bare node", "packages", "MB"], starting())}`,
    `## What each project does

${table(["", "validates input with", "decides by", "asks by", "records", "on disk before the effect"], LAYERS)}

An expensive row is not a bad result: Assent on SQLite with an unsafe tool waits for the disk before each effect, which no other project does in this setup. A cheap row may do less: a
dispatcher that keeps its calls in memory loses them in a crash.`,
    `## Where other projects are better

${beaten()}

The reasons for the cost of a call with the memory ledger are in [decision 34](decisions/0034-the-pipeline-is-one-straight-function.md).`,
    `## What was not measured

${notRun()}`,
    `## The inbox

\`npm run bench -- inbox\` opens [the page](inbox.md) in Chromium over a record with 50 sessions and 500 open approvals. On two shared cores, in one run:

| | |
|---|---|
| first paint | 180 ms |
| until all 500 are listed | 318 ms |
| from the commit of one more approval to the screen, median of 20 | 31 ms |
| the slowest of 20 | 61 ms |
| memory of the server after 10,000 more events | 18 MB more |
| memory of the page after them | 1.5 MB more |`,
    `## How to measure

\`\`\`sh
npm run bench:peers -- --install   # each peer in its own folder, nothing into the root
npm run bench:peers -- --rounds 3  # writes bench/peers/results.json and this page
\`\`\`

- Each project does each task in its own process. Rounds are interleaved, in changing order, with the bare loop first and last. A figure is the median over all rounds of the ratio within a
  round.
- A process repeats the task until the code is compiled, then measures it. A task that takes longer than 25 seconds is measured in one round, the first time it runs.
- The number of effects is compared with the number of calls. They were equal in every figure on this page${unequal()}.

The benchmarks are not part of continuous integration. The code for each project is in \`bench/peers/\`. Corrections are welcome.
`,
  ].join("\n\n");
}

function short() {
  const rows = [byId.get("assent-core"), ...loops, ...dispatchers.filter((row) => !isOurs(row))].filter(({ id }) => id !== "bare");
  const cells = rows.map((row) => [
    `${name(row)}${row.layer === "dispatch" ? " (dispatcher, no model loop)" : ""}`,
    ...[ratio(row.works["turns 1000"]), ratio(row.works["batch 100"]), growth(row)],
    row.again.inTurn ? `${row.again.inTurn.effects} / ${row.again.atOnce.effects}` : (NOT_RESUMED[row.id] ?? "cannot be resumed"),
    ...startOf(row),
  ]);
  const effects = "effects of one approval resumed ten times, in sequence / in parallel";
  return table(["", "a call, 1,000 turns", "a call, 100 in one turn", "growth", effects, "import", "MB"], cells);
}

function startOf({ import: start, install }) {
  return start ? [start.ratio.toFixed(1), figure(install.megabytes)] : ["", ""];
}

function provenance() {
  const versions = new Map(results.rows.flatMap((row) => Object.entries(row.versions)));
  const named = [...versions].map(([name, version]) => `\`${name}\` ${version}`).join(", ");
  return `Measured on ${results.date} with Node ${results.node.slice(1)} on ${results.platform}, ${results.cores} shared cores, ${results.rounds} ${results.rounds === 1 ? "round" : "rounds"}. The load was ${results.load.least} to ${results.load.most} (median ${Number(results.load.median.toFixed(2))}); the
benchmark itself causes 1 to 2 of it. In the median, the same figure differs by a factor of ${spread().toFixed(1)} between rounds, so compare magnitudes, not digits.

Versions: ${named}.`;
}

/** The median over all figures of the largest round divided by the smallest. */
function spread() {
  const all = results.rows.flatMap(({ id, works }) => (id === "bare" ? [] : Object.values(works).flatMap(({ least, most }) => (least ? [most / least] : []))));
  return all.sort((a, b) => a - b)[all.length >> 1];
}

function callTable(rows) {
  const works = ["turns 1", "turns 10", "turns 100", "turns 1000", "batch 100"];
  const cells = rows.map((row) => [name(row), ...works.map((work) => ratio(row.works[work])), growth(row)]);
  return table(["", "1 turn", "10 turns", "100 turns", "1,000 turns", "100 in one turn", "growth"], cells);
}

function clocks() {
  const both = (row, work) => [ratio(row.works[work]), clock(row.works[work])];
  return results.rows.filter(({ id }) => id !== "bare").map((row) => [name(row), ...both(row, "turns 100"), ...both(row, "batch 100")]);
}

function growth({ works }) {
  const [hundred, thousand] = [works["turns 100"], works["turns 1000"]];
  return hundred.ratio && thousand.ratio ? (thousand.ratio / hundred.ratio).toFixed(1) : "–";
}

function asked() {
  const rows = results.rows.filter(({ id }) => id !== "bare" && id !== "langgraph");
  return rows.map((row) => [name(row), ratio(row.works["approval 10"]), ratio(row.works["cycle 1"]), WAYS[row.id]]);
}

function reasons(works) {
  const byReason = new Map();
  for (const row of results.rows.filter(({ id }) => id !== "bare" && id !== "langgraph"))
    for (const { absent } of works.map((work) => row.works[work])) if (absent) byReason.set(absent, [...(byReason.get(absent) ?? []), row.label]);
  return [...byReason].map(([reason, labels]) => `– (${labels.join("; ")}): ${reason}.`).join("\n");
}

function again() {
  const rows = results.rows.filter(({ id }) => id !== "bare" && id !== "langgraph");
  return rows.map((row) => {
    if (row.again.absent) return [name(row), "–", "–", `– (${row.again.absent})`];
    const { inTurn, atOnce } = row.again;
    const refusals = [refusal("in sequence", inTurn), refusal("in parallel", atOnce)].filter((text) => text !== "");
    return [name(row), String(inTurn.effects), String(atOnce.effects), refusals.join(", ") || "none"];
  });
}

function refusal(when, { refused, why }) {
  return refused > 0 ? `${refused} ${when} (\`${why}\`)` : "";
}

function againWords() {
  return `With \`ai\` and \`@openai/agents\`, the state is a value. Resuming the same value twice runs the call twice, so the code that stores it must remember that it was used. LangGraph and
Mastra keep the state in a store and detect a finished run if resumes come in sequence. LangGraph runs the call again if it is given the id of an older checkpoint, which is intended. In Assent, starting a call is
a compare-and-set in the ledger, and a session has one writer: a later resume finds the result, and a parallel one is refused.`;
}

function starting() {
  return results.rows.filter((row) => row.import).map((row) => [INSTALLED[row.id] ?? name(row), row.import.ratio.toFixed(1), String(row.install.packages), figure(row.install.megabytes)]);
}

/** Computed from the figures, so that the text stays correct. */
function beaten() {
  const texts = [];
  for (const [ours, peers] of [
    [byId.get("assent"), loops],
    [byId.get("assent-core"), dispatchers],
  ]) {
    for (const row of peers) {
      if (row.id.startsWith("assent") || row.id === "bare") continue;
      const wins = Object.entries(WORK_NAMES).filter(([work]) => row.works[work].ratio < ours.works[work].ratio);
      const each = wins.map(([work, words]) => `${words} (${ratio(row.works[work])} versus ${ratio(ours.works[work])})`);
      if (each.length > 0) texts.push(`- **${row.label}** is cheaper than ${ours.label}: ${each.join(", ")}.`);
    }
  }
  const ours = byId.get("assent");
  const peers = results.rows.filter((row) => row.import && !row.id.startsWith("assent"));
  const list = (rows) => rows.map(({ label }) => label).join(", ");
  const faster = peers.filter((row) => row.import.ratio < ours.import.ratio);
  const smaller = peers.filter((row) => row.install.megabytes < ours.install.megabytes);
  const fewer = peers.filter((row) => row.install.packages < ours.install.packages);
  if (faster.length > 0) texts.push(`- Faster to import than \`@assent/agent\`: ${list(faster)}.`);
  if (smaller.length > 0) texts.push(`- Smaller than Assent's agent, host, store, core and zod: ${list(smaller)}.`);
  if (fewer.length > 0) texts.push(`- Fewer packages than Assent's agent: ${list(fewer)}.`);
  const cost = (id) => `${over(id, "assent", "ratio")} times the processor time and ${over(id, "assent", "clock")} times the wall-clock time`;
  texts.push(`- Durability is expensive. Compared with the memory ledger, 100 turns on SQLite take ${cost("assent-sqlite-unsafe")} with an unsafe tool, and ${cost("assent-sqlite")} with a safe one.`);
  return texts.join("\n");
}

function over(id, base, by) {
  return figure(byId.get(id).works["turns 100"][by] / byId.get(base).works["turns 100"][by]);
}

function notRun() {
  const texts = results.notInstalled.map(({ name: of, version, instead, error }) => `- \`${of}\` ${version} does not install: ${error}. We measured ${instead}, the newest version that installs.`);
  for (const row of results.rows)
    for (const [work, words] of Object.entries(WORK_NAMES)) {
      const { absent } = row.works[work];
      if (absent && /Error|longer|not measured/.test(absent)) texts.push(`- ${row.label}, ${words}: ${absent}.`);
    }
  texts.push("- The newest published `@qwen-code/qwen-code-core` is 0.0.14; the program `qwen` bundles a newer core.");
  texts.push("- For the cores of Gemini CLI and Qwen Code, only the schedulers are measured, because their loops require their own providers and settings. LangGraph and Mastra are measured with their in-memory stores, not with databases.");
  texts.push("- pi has a second, durable runtime next to `Agent`: `AgentHarness`, with sessions and recorded intents. It is not measured.");
  return texts.join("\n");
}

function unequal() {
  const odd = results.rows.flatMap((row) => Object.entries(row.works).flatMap(([work, { calls, effects }]) => (calls === effects ? [] : [`${row.label}, ${work}: ${effects} effects of ${calls} calls`])));
  return odd.length > 0 ? `, except ${odd.join("; ")}` : "";
}

function callsPicture() {
  const rows = results.rows.filter((row) => row.works["turns 100"].ratio !== undefined && row.id !== "bare");
  return bars({
    title: "Cost per call at 100 turns, as a multiple of the bare loop",
    note: "Processor time, logarithmic. Shorter is cheaper. The projects do different amounts of work.",
    rows: rows.map((row) => ({ label: row.label, value: row.works["turns 100"].ratio, text: ratio(row.works["turns 100"]), ours: isOurs(row) })),
  });
}

function growthPicture() {
  const works = ["turns 1", "turns 10", "turns 100", "turns 1000"];
  const rows = results.rows.filter(({ id }) => id !== "bare" && id !== "assent-core-sqlite" && id !== "assent-sqlite");
  return lines({
    title: "Cost per call by the number of turns, as a multiple of the bare loop",
    note: "Processor time, both axes logarithmic. Flat or falling: a longer history costs nothing. Rising: each turn costs more than the one before.",
    places: ["1 turn", "10", "100", "1,000"],
    rows: rows.map((row) => ({ label: row.label, values: works.map((work) => row.works[work].ratio), ours: isOurs(row) })),
  });
}

function effectsPicture() {
  const rows = results.rows.filter(({ again: { inTurn } }) => inTurn);
  return bars({
    title: "Effects of one approved call that was resumed ten times",
    linear: true,
    note: "1 is correct. The worse of ten resumes in sequence and ten in parallel.",
    rows: rows.map((row) => {
      const { inTurn, atOnce } = row.again;
      const value = Math.max(inTurn.effects, atOnce.effects);
      return { label: row.label, value, text: inTurn.effects === atOnce.effects ? `${value}` : `${inTurn.effects} in sequence, ${atOnce.effects} in parallel`, ours: isOurs(row) };
    }),
  });
}

function isOurs({ id }) {
  return id.startsWith("assent");
}

function name(row) {
  return isOurs(row) ? `**${row.label}**` : row.label;
}

function ratio({ ratio: value }) {
  return value === undefined ? "–" : `${figure(value)} ×`;
}

function clock({ clock: value }) {
  return value === undefined ? "–" : `${figure(value)} ×`;
}

function figure(value) {
  return value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString("en-US");
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}
