import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Place, place } from "../../support/assent.ts";
import { converse, say, type Turn } from "../support/conversation.ts";
import { matchesGolden, sinceLastSaid } from "../support/golden.ts";
import type { Screen } from "../support/screen.ts";

const SIZES = [
  [80, 24],
  [160, 50],
] as const;

const COLOURED = `for i in $(seq 12); do printf '\\033[3%dmline %d\\033[0m\\n' $((i % 8)) $i; done`;
const BEFORE = 'export function greet(name: string): string {\n  return "Hello " + name;\n}\n';
const call = (tool: string, id: string, input: object): { readonly tool: string; readonly id: string; readonly input: object } => ({
  tool,
  id,
  input,
});

const TURNS: readonly Turn[] = [
  {
    say: "I look at it first.\n\n- *one*\n- `two`\n\n```ts\nconst a: number = 1; // one\n```\n",
    calls: [call("list", "c1", { path: "." }), call("read", "c2", { file_path: "greet.ts" }), call("shell", "c3", { command: COLOURED })],
  },
  { say: "That is all.", usage: { inputTokens: 1_200, outputTokens: 300 } },
  {
    calls: [
      call("todo", "c4", {
        todos: [
          { id: "1", content: "Read the code", status: "completed" },
          { id: "2", content: "Write the change", status: "in_progress" },
          { id: "3", content: "Test it", status: "pending" },
        ],
      }),
    ],
  },
  { say: "Written down." },
  { calls: [call("edit", "c5", { file_path: "greet.ts", old_string: '"Hello " + name', new_string: "`Hello, $" + "{name}!`" })] },
  { say: "Edited." },
  { calls: [call("write", "c6", { file_path: "src/a.txt", content: "one\n" })] },
  { calls: [call("resolve", "c7", { action: "apply", reason: "it is what was asked for" })] },
  { say: "Applied." },
  { calls: [call("agent", "c8", { description: "Look for tests", prompt: "look", run_in_background: true })] },
  { say: "Started." },
  { say: "It has found them." },
  {
    calls: [
      call("ask", "c9", { questions: [{ id: "db", question: "Which database?", options: [{ label: "SQLite" }, { label: "Postgres" }] }] }),
    ],
  },
  { say: "SQLite it is." },
  { calls: [call("shell", "c10", { command: "rm -rf /" })] },
  { say: "It was denied." },
  { delayMs: 2_000, calls: [call("shell", "c11", { command: "echo one; echo two; sleep 30" })] },
  { error: { status: 400, message: "the model is not well" } },
];

/** Its edits below src are staged, and agents may be started; everything else asks as it does by itself. */
/** Previews depend on the machine: they need bubblewrap. */
const SETTINGS = { preview: "off", proposals: { stage: ["Edit(src/**)"] }, permissions: { allow: ["Edit(src/**)", "Agent"] } };

/** The model has nothing more to say for now. */
async function idle(screen: Screen, shows: string): Promise<string> {
  return await screen.until((now) => now.includes(shows) && now.includes("? keys") && !now.includes("» working"));
}

async function approve(screen: Screen, shows: string): Promise<void> {
  await screen.read((now) => now.includes("Approval needed") && now.includes(shows));
  screen.press("y");
  await screen.until("Enter: Allow once");
  screen.press("enter");
}

type Look = (screen: Screen, golden: (name: string) => void) => Promise<void>;

/** What is done, and which screens are looked at. */
const WALK: readonly Look[] = [
  async (screen, golden) => {
    await idle(screen, "script:../script.json");
    golden("welcome");
  },
  async (screen, golden) => {
    screen.press("?");
    await idle(screen, "run a shell command");
    golden("help");
  },
  async (screen, golden) => {
    await say(screen, "look at it");
    await screen.read("Approval needed");
    golden("card-command");
    await approve(screen, "seq 12");
    await idle(screen, "That is all.");
    golden("tool-blocks");
    screen.press("ctrl+o");
    await screen.until("q goes back");
    golden("tool-blocks-open");
    screen.press("q");
    await idle(screen, "That is all.");
  },
  async (screen, golden) => {
    await say(screen, "write it down");
    await idle(screen, "Written down.");
    golden("todo");
  },
  async (screen, golden) => {
    await say(screen, "change the greeting");
    await screen.read("Approval needed");
    golden("card-edit");
    while (/^… \d+ more line/m.test(screen.lines().join("\n"))) {
      const before = screen.lines().join("\n");
      screen.press("pageDown");
      await screen.until((now) => now !== before);
    }
    await approve(screen, "greet.ts");
    await idle(screen, "Edited.");
    golden("edited");
  },
  async (screen, golden) => {
    await say(screen, "and the rest");
    await idle(screen, "Applied.");
    golden("resolve");
  },
  async (screen, golden) => {
    await say(screen, "start it");
    await screen.until((now) => now.includes("Started.") && now.includes("Look for tests") && now.includes("? keys"));
    golden("task-panel");
    await idle(screen, "It has found them.");
    golden("notice");
  },
  async (screen, golden) => {
    await say(screen, "ask me");
    await screen.read("Other (type your own)");
    golden("ask");
    screen.press("enter");
    await idle(screen, "SQLite it is.");
    golden("asked");
  },
  async (screen, golden) => {
    await say(screen, "remove it all");
    await idle(screen, "It was denied.");
    golden("denied");
  },
  async (screen, golden) => {
    await say(screen, "wait for it");
    await screen.until("» working");
    golden("working");
    await screen.until((now) => now.includes("running ") && /^ +two$/m.test(now));
    golden("running");
    screen.press("escape");
    await idle(screen, "Interrupted.");
    golden("interrupted");
  },
  async (screen, golden) => {
    await say(screen, "again");
    await idle(screen, "the model is not well");
    golden("error");
  },
  async (screen, golden) => {
    screen.type("/mo");
    await screen.until("show or change the model");
    golden("slash");
    screen.press("escape");
    await screen.until((now) => !now.includes("/model"));
    screen.press("ctrl+c");
    await screen.until((now) => !now.includes("/mo"));
    screen.type("@gre");
    await screen.until(/^.*greet\.ts.*$/m);
    golden("file-completion");
    screen.press("escape");
    await screen.until((now) => !now.includes("→ greet.ts"));
    screen.press("ctrl+c");
    await screen.until((now) => !now.includes("@gre"));
  },
];

function setUp(at: Place): void {
  at.write("greet.ts", BEFORE);
}

describe("every screen of assent", { concurrency: 2 }, () => {
  for (const [columns, rows] of SIZES) {
    test(`looks as it did, ${columns}×${rows}`, async () => {
      using at = place();
      setUp(at);
      const agents = { fork: { turns: [{ delayMs: 1_500, say: "They are in test/." }] } };
      using screen = converse(at, { turns: TURNS, agents, settings: SETTINGS, columns, rows });
      for (const look of WALK) await look(screen, (name) => matchesGolden(`assent-${name}-${columns}x${rows}`, sinceLastSaid(screen)));
      screen.press("ctrl+d");
      assert.equal(await screen.exit(), 0);
      matchesGolden(`assent-left-${columns}x${rows}`, sinceLastSaid(screen));
    });
  }
});

test("line by line, for screen readers: everything in order, and nothing is drawn twice", async () => {
  using at = place();
  const turns: readonly Turn[] = [
    { say: "I run **it**.", calls: [call("shell", "c1", { command: "touch made" })] },
    {
      calls: [
        call("ask", "c2", {
          questions: [{ id: "db", question: "Which database?", options: [{ label: "SQLite" }, { label: "Postgres" }] }],
        }),
      ],
    },
    { say: "Postgres it is." },
  ];
  using screen = converse(at, { turns, args: ["--plain"], settings: { preview: "off" }, rows: 50 });
  await screen.until("You:");
  screen.type("go\r");
  await screen.read("Type a letter, then Enter:");
  screen.type("y\r");
  await screen.read("Type a number, then Enter:");
  screen.type("2\r");
  await screen.until(/Postgres it is\.\s+You:/);
  screen.type("/quit\r");
  assert.equal(await screen.exit(), 0);
  matchesGolden("assent-plain-80x50", screen.lines());
  assert.equal(screen.rawBytes().includes("\u001b["), false, "no codes: a reader reads them aloud");
});
