import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Place, place } from "../support/assent.ts";

/** Rules that would allow nearly everything. */
const ALLOW = [
  ...[
    "*",
    "yarn *",
    "pnpm *",
    "bun *",
    "corepack *",
    "node *",
    "psql *",
    "docker *",
    "pkill *",
    "make *",
    "ssh *",
    "tmux *",
    "bash *",
    "npm *",
    "python3 *",
    "{workspace}/link *",
    "mkdir *",
    "touch *",
    ..."kill pkill killall make vim tmux screen at batch expect sed claude codex gemini qwen opencode npx cp tee echo"
      .split(" ")
      .map((name) => `${name} *`),
  ].map((line) => `Shell(${line})`),
  ...["Edit(/**)", "Write(/**)", "Read(/**)", "mcp__fs"],
];

const DENIED: readonly string[] = [
  ...["approve a_1", "reject a_1", "trust", "apply p_1", "grants promote g_1", "stats store x", "hook uninstall claude --yes"].map(
    (line) => `assent ${line}`,
  ),
  ...[
    "assent --json approve a_1",
    "assent --store /x approve a_1",
    'assent "app""rove" a_1',
    '"as"sent approve a_1',
    "a\\ssent approve a_1",
  ],
  ...["./node_modules/.bin/assent approve a_1", "node /x/cli/bin/assent.js approve a_1", "node --no-warnings /x/assent.js approve a_1"],
  ...["node /x/node_modules/@assent/cli/dist/bundle/program.js approve a_1", "node --import /x/assent.js -e 1 approve a_1"],
  ...[
    "npx assent approve a_1",
    "npx -y @assent/cli approve a_1",
    "npx @assent/cli@latest approve a_1",
    "npx -p @assent/cli -c 'assent approve a_1'",
    "npx assent mcp add x -- sh -c ./x",
    "npx assent mcp remove x",
  ],
  ...[
    "npm exec -- assent approve a_1",
    "pnpm assent approve a_1",
    "pnpm dlx @assent/cli approve a_1",
    "yarn assent approve a_1",
    "yarn run assent approve a_1",
  ],
  ...[
    "bun run assent approve a_1",
    "bunx assent approve a_1",
    "deno run -A npm:@assent/cli approve a_1",
    "corepack pnpm exec assent approve a_1",
  ],
  ...["env -i assent approve a_1", "nohup assent approve a_1 &", "timeout 5 assent approve a_1", "echo a_1 | xargs assent approve"],
  ...["xargs -a words assent", "xargs -a words assent grants"],
  ...[
    "sh -c 'assent approve a_1'",
    'bash -lc "assent approve a_1"',
    "eval 'assent approve a_1'",
    "bash <<< 'assent approve a_1'",
    "echo 'assent approve a_1' | sh",
  ],
  ...["true && assent approve a_1", "(assent approve a_1)", "if true; then assent approve a_1; fi", "x=approve; assent $x a_1"],
  ...[
    "sudo assent approve a_1",
    "ssh localhost assent approve a_1",
    "ssh localhost 'assent approve a_1'",
    "docker run -v /:/h x assent approve a_1",
  ],
  ...["tmux send-keys 'assent approve a_1' Enter", "tmux new-session -d 'assent approve a_1'", "script -qc 'assent approve a_1' /dev/null"],
  ...[
    "python3 -c \"import os; os.system('assent approve a_1')\"",
    "perl -e 'system(\"assent approve a_1\")'",
    "awk 'BEGIN { system(\"assent approve a_1\") }'",
  ],
  ...[
    "git -c alias.x='!assent approve a_1' x",
    "find . -exec assent approve a_1 ';'",
    "systemd-run --user assent approve a_1",
    "at now <<< 'assent approve a_1'",
  ],
  ...[
    "ASSENT_STORE=/tmp/other assent log",
    "export ASSENT_STORE=/tmp/other",
    "ASSENT_STORE=/tmp/other ls",
    "unset ASSENT_STORE",
    "env -u ASSENT_STORE ls",
  ],
  ...[
    "cat {state}/ledger.db",
    "sqlite3 {state}/ledger.db .dump",
    "cp {state}/ledger.db /tmp/x",
    "rm -rf {state}",
    "cd {state} && rm ledger.db",
    "ln -s {state} /tmp/x",
  ],
  ...["python3 -c \"import sqlite3; sqlite3.connect('{state}/ledger.db')\"", "dd if=/dev/zero of={state}/ledger.db"],
  ...[
    "echo x > {state}/hooks/assent-hook",
    "sed -i s/2/0/ {state}/hooks/assent-hook",
    "chmod -x {state}/hooks/assent-hook",
    "ln -sf /bin/true {state}/hooks/assent-hook",
  ],
  ...["echo x > ~/.config/assent/settings.json", "rm ~/.config/assent/settings.json"],
];

const ON_POSTGRES: readonly string[] = [
  ...[
    "psql postgres://127.0.0.1/record",
    "psql -h 127.0.0.1 -d record",
    'psql "$ASSENT_STORE"',
    "pg_dump postgres://me@127.0.0.1:5432/record",
  ],
  ...["curl postgres://127.0.0.1:5432/record", "PGPASSWORD=x psql -h 127.0.0.1 record"],
];

const ASKED: readonly string[] = [
  ...[
    "$(which assent) approve a_1",
    "A=assent; $A approve a_1",
    'bash -c "$(echo assent approve a_1)"',
    "make -f - <<< 'x: ; assent approve a_1'",
  ],
  ...["node -e 'import(\"/x/cli/bin/assent.js\")' approve a_1", "pkill -f assent", "pkill assent-hook", "kill -9 $(pgrep -f assent-hook)"],
  ...[
    "echo {} > .claude/settings.json",
    "rm -rf .opencode/plugin",
    "echo {} > opencode.json",
    "sed -i s/a/b/ ~/.claude.json",
    "cp x ~/.config/opencode/plugin/a.js",
  ],
  ...["bash answer.sh", "bash ./answer.sh", "python3 answer.py", "npm run answer", "{workspace}/link approve a_1"],
  ...[
    "npm run-script answer",
    "npm --prefix . run answer",
    "npm install",
    "node --run answer",
    "pnpm answer",
    "yarn answer",
    "bun run answer",
  ],
  ...[
    "make",
    "make x",
    "make -f jobs/Makefile",
    "vim -S answer.vim",
    "tmux source-file answer.sh",
    "at -f answer.sh now",
    "batch < answer.sh",
  ],
  ...["ssh localhost < answer.sh", "screen -X readbuf answer.sh", "expect -f answer.sh", "sed -f answer.sed x"],
  ...[
    "kill -9 1234",
    "kill -STOP 1234",
    "kill -9 -1",
    "pkill node",
    "pkill -f hook",
    "pkill -9 sh",
    "killall node",
    "pkill -u me",
    "pkill -f 'n.*e'",
  ],
  ...[
    "claude --bare -p x",
    "claude --mcp-config x.json -p x",
    "codex mcp add x -- sh",
    "sh -c 'claude --bare -p x'",
    "timeout 5 codex -c features.hooks=false exec x",
    "CLAUDE_CODE_SAFE_MODE=1 claude -p x",
    "sh jobs/unguarded.sh",
    "make -f jobs/unguarded.mk",
    "claude --settings x.json",
    "claude plugin install x",
    "codex --dangerously-bypass-hook-trust",
    "codex -c features.hooks=false exec x",
  ],
  ...[
    "gemini hooks disable assent",
    "gemini extensions install x",
    "qwen --safe-mode",
    "CODEX_HOME=/x codex exec y",
    "opencode run --pure x",
    "npx opencode --pure",
  ],
  ...["cp x .env", "echo QWEN_CODE_SAFE_MODE=1 >> .env", "tee .env < x", "cp x ~/.env", "sed -i s/a/b/ .gemini/.env"],
  ...["echo x > /etc/claude-code/managed-settings.json", "git commit -m 'Explain assent approve'", "psql -h other -d shop"],
];

const ALLOWED: readonly string[] = [
  "ls assent",
  "cat docs/assent.md",
  "mkdir assent",
  "touch approve",
  "kill %1",

  "kill -l",
  "pkill -f vite",
  "cp x .env.example",
];

const WRITES: readonly (readonly [verdict: "deny" | "ask", path: string])[] = [
  ...["{state}/ledger.db", "{state}/hooks/assent-hook", "{home}/.config/assent/settings.json", "{workspace}/.assent/settings.json"].map(
    (path) => ["deny", path] as const,
  ),
  ...["{home}/.claude/settings.json", "{home}/.claude.json", "{home}/.codex/hooks.json", "{home}/.config/opencode/plugin/assent.js"].map(
    (path) => ["ask", path] as const,
  ),
  ...[".claude/settings.json", ".claude/settings.local.json", ".codex/config.toml", ".gemini/settings.json", ".qwen/settings.json"].map(
    (path) => ["ask", `{workspace}/${path}`] as const,
  ),
  ...[".env", ".gemini/.env", ".opencode/plugin/x.js", "opencode.json", "opencode.jsonc", ".mcp.json"].map(
    (path) => ["ask", `{workspace}/${path}`] as const,
  ),
  ...["claude-code/managed-settings.json", "codex/config.toml", "gemini-cli/settings.json"].map((path) => ["ask", `/etc/${path}`] as const),
];

/** Files in the workspace that run Assent. */
const SCRIPTS: Readonly<Record<string, string>> = {
  "answer.sh": "cd /tmp\nassent approve a_1\n",
  "answer.py": 'import subprocess\nsubprocess.run(["assent", "grants", "promote", "g_1"])\n',
  "answer.sed": "1e assent approve a_1\n",
  "answer.vim": ":!assent approve a_1\n",
  Makefile: "x:\n\tassent approve a_1\n",
  "jobs/unguarded.sh": "cd /tmp\ncodex -c features.hooks=false exec x\n",
  "jobs/unguarded.mk": "x:\n\tCLAUDE_CODE_SAFE_MODE=1 claude -p x\n",
  "jobs/Makefile": "x:\n\tassent approve a_1\n",
  "package.json": JSON.stringify({ scripts: { answer: "assent approve a_1" } }),
};

/** Judges all calls as a guarded agent's, in one process. */
async function judge(at: Place, calls: readonly object[], store: string): Promise<void> {
  const fill = (text: string): string =>
    text.replaceAll("{state}", at.store).replaceAll("{home}", at.root).replaceAll("{workspace}", at.workspace);
  mkdirSync(join(at.workspace, "jobs"), { recursive: true });
  for (const [name, text] of Object.entries(SCRIPTS)) at.write(name, text);
  symlinkSync(join(import.meta.dirname, "../../bin/assent.js"), join(at.workspace, "link"));
  mkdirSync(join(at.root, ".config/assent"), { recursive: true });
  writeFileSync(join(at.root, ".config/assent/settings.json"), fill(JSON.stringify({ permissions: { allow: ALLOW } })), { mode: 0o600 });
  const file = at.write("calls.jsonl", fill(calls.map((call) => JSON.stringify(call)).join("\n")));
  const { code, stdout, stderr } = await at.run(["policy", "test", file, "--client", "claude", "--store", store], { cwd: at.workspace });
  assert.equal(code, 0, `${stdout}${stderr}`);
}

const lines = (all: readonly string[], expect: string): readonly object[] =>
  all.map((command) => ({ tool: "shell", input: { command }, expect }));

test("commands of a guarded agent that reach Assent's answers, record, wrapper or settings are denied or ask, even if a rule allows them", async () => {
  using at = place();
  await judge(
    at,
    [
      ...lines(DENIED, "deny"),
      ...lines(
        ASKED.filter((line) => !line.startsWith("psql")),
        "ask",
      ),
      ...lines(ALLOWED, "allow"),
    ],
    at.store,
  );
});

test("clients of a database are denied or ask if the record is on PostgreSQL", async () => {
  using at = place();
  await judge(at, [...lines(ON_POSTGRES, "deny"), ...lines(["psql -h other -d shop"], "ask")], "postgres://me:pw@127.0.0.1:5432/record");
});

test("file tools of a guarded agent cannot write Assent's files, and ask before they write the configuration of agents", async () => {
  using at = place();
  const calls = WRITES.flatMap(([expect, path]) => [
    { tool: "write", input: { file_path: path, content: "x" }, expect },
    { tool: "edit", input: { file_path: path, old_string: "a", new_string: "b" }, expect },
    { tool: "edit", input: { files: ["{workspace}/a.ts", path] }, expect }, // apply_patch
  ]);
  await judge(at, calls, at.store);
});
