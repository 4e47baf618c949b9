// Makes docs/benchmarks.md with its pictures from results.json. --print: as JSON to standard output, path by path, and nothing is written.
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

/** What the installed packages are, where the row's name says something else. */
const INSTALLED = { "assent-core": "**Assent core**", assent: "**Assent agent, host, store, core and zod**" };

const OUR_WAY = "an approver is called; or the call is parked in the ledger, answered by any process, resumed by any other";

/** How each asks, and what it keeps meanwhile. */
const WAYS = {
  "assent-core": OUR_WAY,
  "assent-core-sqlite": "the same",
  assent: "the same",
  "assent-sqlite": "the same",
  "assent-sqlite-unsafe": "the same",
  "ai-sdk": "`toolApproval` is called; or the run ends with a request, and the messages are kept by the caller as JSON",
  "openai-agents": "the run returns with interruptions, is approved and run again; kept as a string of `RunState`",
  "langgraph-memory": "`interrupt()` in the tool, `Command({ resume })`; kept by the checkpointer",
  mastra: "`requireApproval` suspends the run, `approveToolCallGenerate` resumes it; kept by the storage",
  pi: "`beforeToolCall` is called",
  "gemini-cli": "a message on the bus, answered on the bus",
  "qwen-code": "`onConfirm` of the call that waits",
};

/** What stands where nothing of a peer can be resumed, if that is not all there is to say. */
const NOT_RESUMED = { langgraph: "needs a checkpointer: next row", pi: "not in this runtime" };

const LAYERS = [
  ["bare loop", "zod", "–", "–", "history in memory", "–"],
  ["**Assent, memory ledger**", "zod, then frozen and fingerprinted", "modes, rules, guards, hooks", "approver, grants, or parked", "every step as an event, in memory", "–"],
  ["**Assent, SQLite**", "the same", "the same", "the same", "every step as an event, hash-chained", "yes: decision and intent, with a full sync for unsafe tools"],
  ["ai", "zod", "a function or a table of statuses", "function, or the run ends", "messages, the caller's", "–"],
  ["@openai/agents", "zod as strict JSON Schema", "a function per tool", "the run returns", "`RunState`, the caller's", "–"],
  ["@langchain/langgraph", "zod", "–", "–", "messages in the state of the graph", "–"],
  ["@langchain/langgraph, MemorySaver", "zod", "–", "interrupt", "a checkpoint after every step of the graph, here in memory", "not in this setting"],
  ["@mastra/core", "zod", "a function per tool or run", "the run suspends", "a snapshot when it suspends, here in memory", "not in this setting"],
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
# Benchmarks: Assent beside its peers

The same work for Assent and for others that run a model's calls: a scripted model without a network, and one tool with three fields that echoes a text. Every figure is a **ratio
to a bare loop** measured in the same run (ask the model, parse, validate with zod, run the tool, append to the history), so it says how much a layer adds and not how fast
a machine is. The bare loop takes one or two microseconds per call and real models take seconds per turn: a hundred times the bare loop is nothing a person waits for, until it grows
with the history.

Ratios are of **processor time**, helper threads included, because it depends little on who else uses the machine. What waits does not show in it; for that there is
[a table by the clock](#by-the-clock).

Who does more costs more. Read the figures with [what each of them does](#what-the-layers-do) for them.

${provenance()}`,
    `## At a glance

A call's cost is a multiple of the bare loop. Growth is the cost of a call at 1,000 turns divided by its cost at 100. Import is a multiple of starting Node; MB is the installed size.

${short()}

## What a call costs

![Cost per call at 100 turns](pictures/bench-calls.svg)

Processor time per call as a multiple of the bare loop, for a whole run from prompt to last words: one call in each of 1, 10, 100 and 1,000 turns, and 100 calls in one turn. A new session
or thread is part of each run; agents, graphs and tools are made once. *Growth* is the cost per call at 1,000 turns over that at 100: 1.0 means that the history costs nothing.
Assent and pi read the model's answer as a stream; the other loops are asked for whole answers, which is less work.

With a model loop:

${callTable(loops)}

Dispatchers, which are given the calls and have no model to ask:

${callTable(dispatchers)}

![Cost per call by the number of turns](pictures/bench-growth.svg)

### By the clock

The same 100 turns, by processor and by clock. The clock sees what waits, the disk before all, and also everybody else on the machine: small differences mean nothing.

${table(["", "100 turns, processor", "100 turns, clock", "100 in one turn, processor", "100 in one turn, clock"], clocks())}`,
    `## Asking a person

Ten turns, every call approved at once by code. *Interrupt, store, resume*: a run is interrupted by one call, kept in the peer's own form, everything is made anew from what
was kept, and the run goes on to its end. Both as multiples of the bare loop for the same turns, which asks nobody.

${table(["", "approved on the way", "interrupt, store, resume", "how"], asked())}

${reasons(["approval 10", "cycle 1"])}`,
    `## One yes, resumed ten times

One approved call, kept; then resumed ten times, first one after the other, then another one ten times at once. Effects are counted in the world, by what the tool wrote to a file.

![Effects of one approved call](pictures/bench-effects.svg)

${table(["", "effects, one after the other", "effects, at once", "resumes that were refused"], again())}

${againWords()}`,
    `## Starting, and what is installed

Starting Node with the import, over starting Node with nothing. Installed without scripts, as \`du\` counts \`node_modules\`; every peer with zod where it wants one.

${table(["", "import, × bare node", "packages", "MB"], starting())}`,
    `## What the layers do

${table(["", "checks the input", "judges by rules", "asks", "keeps", "on disk before the effect"], LAYERS)}

So the dearest rows are not the worst ones: Assent on SQLite with an unsafe tool waits for the disk before each effect, and nobody else here does that in this setting. And the cheapest are
not the leanest way to the same thing: a dispatcher that keeps its calls in memory has forgotten them after a crash.`,
    `## Where a peer beats Assent

${beaten()}

Why a call on the memory ledger costs what it does is in [decision 34](decisions/0034-the-pipeline-is-one-straight-function.md).`,
    `## What did not run

${notRun()}`,
    `## Measuring

\`\`\`sh
npm run bench:peers -- --install   # each peer in its own folder, nothing into the root
npm run bench:peers -- --rounds 3  # writes bench/peers/results.json and this page
\`\`\`

Each peer does each piece of work in a process of its own, in interleaved rounds in changing order, the bare loop first and last; what is told is the median over the rounds of the ratio
within a round. In a process the work is repeated until its code is compiled, then measured. What takes longer than 25 seconds is measured in one round, as it comes the first time. The number of
effects is compared with the number of calls: they were equal in every figure on this page${unequal()}.
It is not part of continuous integration. What each peer does exactly is in \`bench/peers/\`, one file each; corrections are welcome.
`,
  ].join("\n\n");
}

function short() {
  const rows = [byId.get("assent-core"), ...loops, ...dispatchers.filter((row) => !isOurs(row))].filter(({ id }) => id !== "bare");
  const cells = rows.map((row) => [
    `${name(row)}${row.layer === "dispatch" ? " (dispatcher, no model loop)" : ""}`,
    ...[ratio(row.works["turns 1000"]), ratio(row.works["batch 100"]), growth(row)],
    row.again.inTurn ? `${row.again.inTurn.effects}, at once ${row.again.atOnce.effects}` : (NOT_RESUMED[row.id] ?? "cannot be resumed"),
    ...startOf(row),
  ]);
  const effects = "effects of one approval, resumed ten times in turn, and ten times at once";
  return table(["", "a call, 1,000 turns", "a call, 100 in one turn", "growth", effects, "import", "MB"], cells);
}

function startOf({ import: start, install }) {
  return start ? [start.ratio.toFixed(1), figure(install.megabytes)] : ["", ""];
}

function provenance() {
  const versions = new Map(results.rows.flatMap((row) => Object.entries(row.versions)));
  const named = [...versions].map(([name, version]) => `\`${name}\` ${version}`).join(", ");
  return `Measured ${results.date} with Node ${results.node.slice(1)} on ${results.platform}, ${results.cores} shared cores, ${results.rounds} ${results.rounds === 1 ? "round" : "rounds"}, load ${results.load.least} to ${results.load.most} (median ${Number(results.load.median.toFixed(2))}; the measuring itself is 1 to 2 of it). Between rounds
the same figure differs by a factor of ${spread().toFixed(1)} in the median: read sizes, not digits.

Versions: ${named}.`;
}

/** How far the rounds of one figure are apart, in the middle of all figures. */
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
    const refusals = [refusal("one after the other", inTurn), refusal("at once", atOnce)].filter((told) => told !== "");
    return [name(row), String(inTurn.effects), String(atOnce.effects), refusals.join(", ") || "none"];
  });
}

function refusal(when, { refused, why }) {
  return refused > 0 ? `${refused} ${when} (\`${why}\`)` : "";
}

function againWords() {
  return `For \`ai\` and \`@openai/agents\` the state is a value: who resumes the same value twice means it twice, and whoever keeps it has to remember that it was used. LangGraph and Mastra keep it
in a store and see that a finished run is finished, as long as one resume follows the other; LangGraph runs it again where it is asked to by the id of an older checkpoint, which is a feature.
Assent's claim is a compare-and-set in the ledger and a session has one writer: a later resume finds the result, and one that comes at the same time is refused.`;
}

function starting() {
  return results.rows.filter((row) => row.import).map((row) => [INSTALLED[row.id] ?? name(row), row.import.ratio.toFixed(1), String(row.install.packages), figure(row.install.megabytes)]);
}

/** Said from the figures, so that it stays true. */
function beaten() {
  const told = [];
  for (const [ours, peers] of [
    [byId.get("assent"), loops],
    [byId.get("assent-core"), dispatchers],
  ]) {
    for (const row of peers) {
      if (row.id.startsWith("assent") || row.id === "bare") continue;
      const wins = Object.entries(WORK_NAMES).filter(([work]) => row.works[work].ratio < ours.works[work].ratio);
      const each = wins.map(([work, words]) => `${words} (${ratio(row.works[work])} against ${ratio(ours.works[work])})`);
      if (each.length > 0) told.push(`- **${row.label}** is cheaper than ${ours.label}: ${each.join(", ")}.`);
    }
  }
  const ours = byId.get("assent");
  const peers = results.rows.filter((row) => row.import && !row.id.startsWith("assent"));
  const list = (rows) => rows.map(({ label }) => label).join(", ");
  const faster = peers.filter((row) => row.import.ratio < ours.import.ratio);
  const smaller = peers.filter((row) => row.install.megabytes < ours.install.megabytes);
  const fewer = peers.filter((row) => row.install.packages < ours.install.packages);
  if (faster.length > 0) told.push(`- Importing is faster than that of \`@assent/agent\`: ${list(faster)}.`);
  if (smaller.length > 0) told.push(`- Installed smaller than Assent's agent, host, store, core and zod: ${list(smaller)}.`);
  if (fewer.length > 0) told.push(`- Fewer packages: ${list(fewer)}.`);
  const dear = (id) => `${over(id, "assent", "ratio")} times by the processor and ${over(id, "assent", "clock")} times by the clock`;
  told.push(`- Durability is dear: 100 turns on SQLite cost ${dear("assent-sqlite-unsafe")} what they cost in memory with an unsafe tool, and ${dear("assent-sqlite")} with a safe one.`);
  return told.join("\n");
}

function over(id, base, by) {
  return figure(byId.get(id).works["turns 100"][by] / byId.get(base).works["turns 100"][by]);
}

function notRun() {
  const told = results.notInstalled.map(({ name: of, version, instead, error }) => `- \`${of}\` ${version} does not install: ${error}. Measured instead: ${instead}, the newest that does.`);
  for (const row of results.rows)
    for (const [work, words] of Object.entries(WORK_NAMES)) {
      const { absent } = row.works[work];
      if (absent && /Error|longer|not measured/.test(absent)) told.push(`- ${row.label}, ${words}: ${absent}.`);
    }
  told.push("- The newest published `@qwen-code/qwen-code-core` is 0.0.14; the program `qwen` has moved on and carries a newer core inside.");
  told.push("- Both command line cores are measured at their schedulers, because their loops are bound to their own providers and settings; LangGraph and Mastra with the stores that live in memory, not with their databases.");
  told.push("- pi has a second, durable runtime beside `Agent` (`AgentHarness`, with sessions and recorded intents); it is not measured here.");
  return told.join("\n");
}

function unequal() {
  const odd = results.rows.flatMap((row) => Object.entries(row.works).flatMap(([work, { calls, effects }]) => (calls === effects ? [] : [`${row.label}, ${work}: ${effects} effects of ${calls} calls`])));
  return odd.length > 0 ? `, except ${odd.join("; ")}` : "";
}

function callsPicture() {
  const rows = results.rows.filter((row) => row.works["turns 100"].ratio !== undefined && row.id !== "bare");
  return bars({
    title: "Cost per call at 100 turns, as a multiple of the bare loop",
    note: "Processor time, logarithmic. Shorter is cheaper; what the layers do for it differs.",
    rows: rows.map((row) => ({ label: row.label, value: row.works["turns 100"].ratio, text: ratio(row.works["turns 100"]), ours: isOurs(row) })),
  });
}

function growthPicture() {
  const works = ["turns 1", "turns 10", "turns 100", "turns 1000"];
  const rows = results.rows.filter(({ id }) => id !== "bare" && id !== "assent-core-sqlite" && id !== "assent-sqlite");
  return lines({
    title: "Cost per call by the number of turns, as a multiple of the bare loop",
    note: "Processor time, both axes logarithmic. Flat or falling: the history costs nothing. Rising: every turn pays for those before it.",
    places: ["1 turn", "10", "100", "1,000"],
    rows: rows.map((row) => ({ label: row.label, values: works.map((work) => row.works[work].ratio), ours: isOurs(row) })),
  });
}

function effectsPicture() {
  const rows = results.rows.filter(({ again: { inTurn } }) => inTurn);
  return bars({
    title: "How often one approved call happened when it was resumed ten times",
    linear: true,
    note: "1 is what the person said yes to. The worse of: one after the other, ten at once.",
    rows: rows.map((row) => {
      const { inTurn, atOnce } = row.again;
      const value = Math.max(inTurn.effects, atOnce.effects);
      return { label: row.label, value, text: inTurn.effects === atOnce.effects ? `${value}` : `${inTurn.effects} in turn, ${atOnce.effects} at once`, ours: isOurs(row) };
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
