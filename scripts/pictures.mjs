// The pictures of the documentation, taken from the real program on a terminal of its own: docs/pictures/*.svg, and *.png where rsvg-convert is installed.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BIN } from "../packages/cli/test/support/assent.ts";
import { say } from "../packages/cli/test/tui/support/conversation.ts";
import { openScreen } from "../packages/cli/test/tui/support/screen.ts";
import { screenPicture } from "../packages/cli/test/tui/support/screen-picture.ts";

const OUT = fileURLToPath(new URL("../docs/pictures/", import.meta.url));
const CACHE = fileURLToPath(new URL("../node_modules/.cache/assent-test", import.meta.url));

const HOME = "/home/ada";

const CART = `import { priceOf } from "./price.ts";

/** What a cart costs, in cents. */
export function total(items: readonly string[]): number {
  let sum = 0;
  for (const item of items) sum += priceOf(item);
  return sum;
}

export const CURRENCY = "EUR";
`;
const FASTER = CART.replace(
  "  let sum = 0;\n  for (const item of items) sum += priceOf(item);\n  return sum;",
  "  return items.reduce((sum, item) => sum + priceOf(item), 0);",
).replace('"EUR"', '"EUR" as const');
const call = (tool, id, input) => ({ tool, id, input });
const TESTS = `printf '\\033[32m✓\\033[0m total of an empty cart\\n\\033[32m✓\\033[0m total of two items\\n\\033[31m✗\\033[0m currency is a constant\\n'`;
const DATABASE = {
  id: "db",
  header: "Database",
  question: "Where should carts be kept?",
  recommended: 0,
  options: [
    { label: "SQLite", description: "one file, nothing to install", preview: "DATABASE_URL=file:./shop.db" },
    { label: "Postgres", description: "a server of its own; better for many writers" },
    { label: "Memory", description: "gone after a restart; for tests only" },
  ],
};
const CHECKS = {
  id: "checks",
  header: "Checks",
  multi: true,
  question: "Which checks before a commit?",
  options: [{ label: "types" }, { label: "tests" }],
};
const TODOS = [
  { id: "1", content: "Read how totals are made", status: "completed" },
  { id: "2", content: "Run the tests", status: "in_progress" },
  { id: "3", content: "Make the total simpler", status: "pending" },
];

const idle = (screen, shows) => screen.until((now) => now.includes(shows) && now.includes("? keys") && !now.includes("» working"));

/** Each picture: how large, what the model says, and how to come to the screen that is taken. */
const PICTURES = [
  {
    name: "conversation",
    title: "A conversation: what the model says, and what it did, each with who allowed it",
    columns: 100,
    rows: 40,
    settings: { permissions: { allow: ["Shell(sh check.sh)"] } },
    turns: [
      {
        say: "I look at how totals are made, then I run the tests.",
        calls: [
          call("todo", "c1", { todos: TODOS }),
          call("read", "c2", { file_path: "src/cart.ts" }),
          call("search", "c3", { pattern: "total\\(", path: "src" }),
          call("shell", "c4", { command: "sh check.sh" }),
        ],
      },
      {
        say: 'One test **fails**: `CURRENCY` is not a constant type yet. The smallest change:\n\n```ts\nexport const CURRENCY = "EUR" as const;\n```\n\nShall I make it?',
        usage: { inputTokens: 8_200, outputTokens: 640 },
      },
    ],
    come: async (screen) => {
      await say(screen, "why is the build red?");
      await idle(screen, "Shall I make it?");
    },
  },
  {
    name: "approval-command",
    title: "A command waits for a person: what it is, why it asks, and every answer: once, always, edit first, no",
    columns: 100,
    rows: 26,
    turns: [{ say: "The tests pass. I publish it.", calls: [call("shell", "c1", { command: "npm publish --access public" })] }],
    come: async (screen) => {
      await say(screen, "release it");
      await screen.read("Approval needed");
      screen.press("y");
      await screen.until("> y");
    },
  },
  {
    name: "effect",
    title: "What a command does, on a copy of the workspace: its output, every change as a diff, and a yes that writes exactly these bytes",
    columns: 110,
    rows: 44,
    turns: [
      {
        say: "I rename the currency everywhere and clean up.",
        calls: [call("shell", "c1", { command: "sed -i s/CURRENCY/currency/ src/*.ts && rm check.sh && echo cleaned" })],
      },
    ],
    come: async (screen) => {
      await say(screen, "rename CURRENCY");
      await screen.read("Show me what it would do");
      screen.press("v");
      await screen.until("> v");
      screen.press("enter");
      await screen.read("It does not run the command again");
      screen.press("y");
      await screen.until("> y");
    },
  },
  {
    name: "containment",
    title: "A command that would run confined: the card says what it can change and that it has no network",
    columns: 100,
    rows: 26,
    settings: { sandbox: "require" },
    turns: [{ say: "I run the check.", calls: [call("shell", "c1", { command: "sh check.sh --write" })] }],
    come: async (screen) => {
      await say(screen, "check it");
      await screen.read("Approval needed");
      screen.press("y");
      await screen.until("> y");
    },
  },
  {
    name: "approval-diff",
    title: "A change waits for a person: side by side, with the words that change",
    columns: 140,
    rows: 44,
    turns: [
      { calls: [call("read", "c1", { file_path: "src/cart.ts" })] },
      { say: "I make the total simpler.", calls: [call("write", "c2", { file_path: "src/cart.ts", content: FASTER })] },
    ],
    come: async (screen) => {
      await say(screen, "make the total simpler");
      await screen.read("Approval needed");
      screen.press("y");
      await screen.until("> y");
    },
  },
  {
    name: "proposal",
    title: "A previewed change of several files on a small terminal: one file is left out",
    columns: 80,
    rows: 24,
    settings: { proposals: { resolver: "person", steering: "none" } },
    turns: [
      { calls: [call("ast_edit", "c1", { ops: [{ pat: "priceOf", out: "centsOf" }], paths: ["src"] })] },
      { say: "The new name is ready for your review." },
    ],
    come: async (screen) => {
      await say(screen, "rename priceOf to centsOf");
      await screen.read("Apply this change?");
      screen.press("h");
      await screen.until("> h");
      screen.press("enter");
      await screen.until(">[x]");
      screen.press("right");
      await screen.until("src/price.ts. Tab");
      screen.press("tab");
      await screen.until("changes will be applied");
    },
  },
  {
    name: "ask",
    title: "The model asks: tabs for several questions, a preview, a recommended answer, room for one's own",
    columns: 100,
    rows: 30,
    turns: [{ say: "Two things to decide first.", calls: [call("ask", "c1", { questions: [DATABASE, CHECKS] })] }],
    come: async (screen) => {
      await say(screen, "keep carts between visits");
      await screen.read("Other (type your own)");
      screen.press("p");
      await screen.until("shop.db");
    },
  },
  {
    name: "tasks",
    title: "A preview that was applied, and an agent at work in the background",
    columns: 100,
    rows: 36,
    settings: { proposals: { stage: ["Edit(src/**)"] }, permissions: { allow: ["Edit(src/**)", "Agent"] } },
    agents: { fork: { turns: [{ delayMs: 60_000, say: "found" }] } },
    turns: [
      { calls: [call("read", "c1", { file_path: "src/cart.ts" })] },
      { say: "I show the change before it is made.", calls: [call("write", "c2", { file_path: "src/cart.ts", content: FASTER })] },
      { calls: [call("resolve", "c3", { action: "apply", reason: "The preview is what was asked for, and nothing else changes." })] },
      { calls: [call("agent", "c4", { description: "Look for other totals", prompt: "look", run_in_background: true })] },
      { say: "Applied. An agent looks for other places meanwhile." },
    ],
    come: async (screen) => {
      await say(screen, "make the total simpler, then look for others");
      await screen.until((now) => now.includes("meanwhile.") && now.includes("Look for other totals") && now.includes("? keys"));
    },
  },
  {
    name: "guard",
    title: "A command of Claude Code waits for a person, who looks at it and approves it in another terminal",
    columns: 100,
    rows: 30,
    shell: true,
    come: async (screen, at) => {
      const tool = { tool_name: "Bash", tool_input: { command: "npm publish --access public" }, tool_use_id: "toolu_1" };
      const event = { hook_event_name: "PreToolUse", session_id: "shop", cwd: at.workspace, ...tool };
      const hook = spawn(process.execPath, [BIN, "hook", "claude"], {
        cwd: at.workspace,
        env: at.env,
        stdio: ["pipe", "ignore", "ignore"],
      });
      hook.stdin.end(JSON.stringify(event));
      const enter = async (line, shows) => {
        await screen.until((now) => now.trimEnd().endsWith("$"));
        screen.type(`${line}\r`);
        return screen.until(shows);
      };
      const waiting = () => spawnSync(process.execPath, [BIN, "approvals", "--json"], { env: at.env, encoding: "utf8" }).stdout;
      while (!waiting().includes('"id"')) await new Promise((resolve) => setTimeout(resolve, 100));
      const [, id] = /(a_\w+)/.exec(await enter("assent approvals", /a_\w+/)) ?? [];
      await enter(`assent approvals show ${id}`, "fingerprint  ");
      await enter(`assent approve ${id}`, "continues");
      await screen.until((now) => now.trimEnd().endsWith("$"));
    },
  },
];

function shop() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "ada-")));
  const workspace = join(root, "shop");
  for (const [name, text] of Object.entries({
    "src/cart.ts": CART,
    "check.sh": `${TESTS}\n`,
    "src/price.ts": "export const priceOf = (item: string): number => item.length * 100;\n",
  })) {
    mkdirSync(dirname(join(workspace, name)), { recursive: true });
    writeFileSync(join(workspace, name), text);
  }
  mkdirSync(join(workspace, ".git"));
  return { root, workspace, env: { PATH: process.env.PATH, HOME: root, ASSENT_STORE: join(root, "store"), NODE_COMPILE_CACHE: CACHE } };
}

/** The script and the settings stand where a reader would put them: the screen names them. */
function open({ workspace, root, env }, { turns, agents, settings, columns, rows }) {
  writeFileSync(join(workspace, "demo.json"), JSON.stringify({ turns, allowUnused: true, ...(agents && { agents }) }));
  if (settings) writeFileSync(join(root, "policy.json"), JSON.stringify({ version: 1, ...settings }));
  const args = [...(settings ? ["--policy", "../policy.json"] : []), "--model", "script:demo.json"];
  return openScreen({ cwd: workspace, env: { ...env, EDITOR: "vi" }, args, columns, rows });
}

/** A shell in which `assent` is found. */
function openShell({ workspace, root, env }, { columns, rows }) {
  mkdirSync(join(root, "bin"));
  const quoted = [process.execPath, BIN].map((word) => `"${word}"`).join(" ");
  writeFileSync(join(root, "bin/assent"), `#!/bin/sh\nexec ${quoted} "$@"\n`, { mode: 0o755 });
  const shell = { ...env, PATH: `${join(root, "bin")}:${env.PATH}`, PS1: "$ " };
  return openScreen({ cwd: workspace, env: shell, file: "/bin/sh", program: ["-i"], columns, rows });
}

/** The row with a home in place of the temporary directory, which has another name each time. */
function atHome(row, root) {
  const from = row
    .map(({ text }) => text || " ")
    .join("")
    .indexOf(root);
  if (from === -1) return row;
  const home = [...HOME].map((text, at) => ({ ...row[from + at], text }));
  const rest = row.slice(from + root.length);
  return [...row.slice(0, from), ...home, ...rest, ...Array(root.length - HOME.length).fill({ ...row.at(-1), text: " " })];
}

async function take({ name, title, come, ...opening }) {
  const at = shop();
  try {
    using screen = opening.shell ? openShell(at, opening) : open(at, opening);
    if (!opening.shell) await idle(screen, "script:");
    await come(screen, at);
    const file = join(OUT, `${name}.svg`);
    writeFileSync(
      file,
      screenPicture(
        screen.cells().map((row) => atHome(row, at.root)),
        title,
      ),
    );
    const { error, status } = spawnSync("rsvg-convert", ["--zoom", "1.5", file, "-o", file.replace(/svg$/, "png")]);
    process.stdout.write(`${name}${error || status !== 0 ? " (no PNG: rsvg-convert is not installed)" : ""}\n`);
  } finally {
    rmSync(at.root, { recursive: true, force: true });
  }
}

const wanted = process.argv.slice(2);
mkdirSync(OUT, { recursive: true });
for (const picture of PICTURES) if (wanted.length === 0 || wanted.includes(picture.name)) await take(picture);
