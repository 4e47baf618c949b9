import type { SETTINGS } from "../../src/settings/settings.ts";

/** What a number too large for any is read as. */
export const HUGE: number = Number.POSITIVE_INFINITY;

/** Good values with what is read, and values of a wrong type. */
export type Samples = { readonly good: readonly [value: unknown, read?: unknown][]; readonly wrong: readonly unknown[] };

/** Samples of every key. The first that is not the default is what an untrusted project tries to set. */
export const SAMPLES: Readonly<Record<keyof typeof SETTINGS, Samples>> = {
  version: { good: [], wrong: [] },
  policyVersion: { good: [["2026-11-03"], ["v2 of the shop"]], wrong: ["", " 1", "a\nb", "x".repeat(65), 3, null] },
  mode: { good: [["default"], ["plan"], ["auto-edit"], ["yolo"]], wrong: ["YOLO", "", 1, null, ["plan"]] },
  model: { good: [["a:b"]], wrong: [1, "", "  ", null, {}] },
  onAsk: { good: [["deny"], ["park"], ["fail"]], wrong: ["allow", true] },
  store: {
    good: [["postgres://u@h/db?schema=team"], ["postgresql://h/db"], ["/a"], ["~/b"]],
    wrong: [1, "", "b", "mysql://h", "postgres:x", null],
  },
  answersFrom: { good: [[["terminal", "inbox", "dialog:claude"]], [[]]], wrong: ["terminal", ["anywhere"], ["host:"], [1]] },
  audit: {
    good: [
      [[{ file: "/var/log/a.jsonl" }, { webhook: "https://h.example/x", secret: "env:KEY" }]],
      [[{ otlp: "http://127.0.0.1:4318/v1/logs", token: "file:/t" }, { otlp: "http://[::1]:1" }]],
      [[]],
    ],
    wrong: [
      ...[{}, "/a", [{}], [{ file: "a" }], [{ file: "/a", otlp: "https://h" }], [{ otlp: 1 }]],
      ...["http://h.example", "ftp://h", "h", "https://u:p@h", "http://127.0.0.1.example"].map((otlp) => [{ otlp }]),
      ...["A B", "env:A B", "file:a", "whsec_abc"].map((secret) => [{ webhook: "https://h", secret }]),
      [{ webhook: "https://h" }],
    ],
  },
  "permissions.deny": { good: [[[]]], wrong: ["x", {}, null] },
  "permissions.ask": { good: [[[]]], wrong: ["x", {}, null] },
  "permissions.allow": { good: [[[]]], wrong: [] },
  "permissions.readOnlyHint": { good: [["allow"], ["ask"]], wrong: ["deny", false] },
  "permissions.protect": { good: [[["*.sql"]], [["*.sql", "~/x"]]], wrong: ["*.sql", [""], [1], {}] },
  "permissions.sensitive": { good: [[["secret/**"]]], wrong: ["x", [null]] },
  "permissions.lock": { good: [[["yolo"]]], wrong: ["yolo", ["admin"]] },
  additionalDirectories: { good: [[["/a", "~/b"]]], wrong: ["/a", ["b"], ["./b"], ["~b"], ["/a\0"]] },
  hooks: { good: [[{}]], wrong: [[], "x", null] },
  stopHookLimit: { good: [[1], [100]], wrong: [0, 101, 1.5, "8"] },
  secretEnv: { good: [[["MY_*", "A"]]], wrong: ["A", ["A B"], ["A[B]"], ["A?"], [""]] },
  "shell.env": {
    good: [[["CI", "MY_VAR", "RUST_LOG"]]],
    wrong: [
      "CI",
      ["1A"],
      ["A=B"],
      ...["BASH_ENV", "ENV", "IFS", "LD_PRELOAD", "DYLD_X", "ASSENT_STORE", "OPENAI_API_KEY", "GH_TOKEN", "X_SECRET", "PGPASSWORD"].map(
        (name) => [name],
      ),
      ...[
        "NODE_OPTIONS",
        "NODE_PATH",
        "PYTHONPATH",
        "PERL5LIB",
        "RUBYOPT",
        "GIT_SSH",
        "npm_config_x",
        "PAGER",
        "EDITOR",
        "VISUAL",
        "LESSOPEN",
      ].map((name) => [name]),
    ],
  },
  "shell.path": { good: [[["/opt/bin"]]], wrong: ["/opt/bin", ["bin"], ["~/bin"], ["."]] },
  sandbox: { good: [["prefer"], ["off"], ["require"]], wrong: ["on", true, null] },
  allowConfined: { good: [[true], [false]], wrong: [1, "true"] },
  "confined.writable": { good: [[["/a", "~/b"]]], wrong: ["/a", ["b"], ["~b"]] },
  "confined.network": { good: [[[]]], wrong: [] },
  preview: { good: [["off"], ["offer"], ["always"]], wrong: ["on", true] },
  "proposals.resolver": { good: [["both"], ["model"], ["person"]], wrong: ["none"] },
  "proposals.steering": { good: [["force"], ["remind-then-force"], ["remind"], ["none"]], wrong: ["off"] },
  "proposals.stage": { good: [[[]]], wrong: ["x"] },
  "astEdit.maxFiles": { good: [[1], [10_000]], wrong: [0, -1, 1.5, "1", HUGE] },
  "astEdit.maxChanges": { good: [[5]], wrong: [0, "1"] },
  "ask.timeout": { good: [[0], [0.5], [9e9, 2_147_483]], wrong: [-1, "1", HUGE] },
  "ask.notify": { good: [["on"], ["off"]], wrong: [true] },
  "tasks.maxRunning": { good: [[1], [100]], wrong: [0, 101] },
  "tasks.onAsk": { good: [["deny"], ["bubble"], ["park"]], wrong: ["ask"] },
  "tools.maxConcurrency": { good: [[1], [100]], wrong: [0, 101, "10"] },
  "tools.timeoutMs": { good: [[1]], wrong: [0, 0.5, "1"] },
  "tools.loadTimeout": { good: [[2.5]], wrong: [-1, "10"] },
  "tools.blockTimeout": { good: [[2.5]], wrong: [-1, "10"] },
  "tools.watch": { good: [[true], [false]], wrong: [0, "true"] },
  maxCostUsd: { good: [[0], [1.25]], wrong: [-0.01, "1", null] },
  maxConsecutiveToolCalls: { good: [[3], [0, 5]], wrong: [-1, 1.5] },
  editor: { good: [["code --wait"]], wrong: [1, ""] },
  "tui.theme": { good: [["auto"], ["light"], ["dark"]], wrong: ["blue"] },
  "tui.keys": { good: [[{ submit: "ctrl+s" }]], wrong: [[], { submit: 1 }, "x"] },
  "recovery.retryIdempotent": { good: [[true]], wrong: ["yes"] },
  mcpServers: {
    good: [
      [
        { files: { command: "npx", args: ["-y", "x", ""], env: { A: "" }, timeout: 5, enabledTools: ["a"], trust: true } },
        {
          files: {
            type: "stdio",
            command: "npx",
            args: ["-y", "x", ""],
            env: { A: "" },
            timeout: 5,
            enabledTools: ["a"],
            trust: true,
          },
        },
      ],
      [{ web: { url: "https://x/mcp" } }, { web: { type: "http", url: "https://x/mcp", headers: {} } }],
      [{ old: { type: "sse", url: "http://x/sse", headers: { A: "b" } } }],
    ],
    wrong: [
      [],
      "x",
      { a: "npx" },
      { a: {} },
      { a: { command: "x", url: "http://x" } },
      { a: { command: "x", type: "http" } },
      { a: { command: "x", args: [1] } },
      { a: { command: "x", env: { A: 1 } } },
      { a: { command: "x", timeout: 0 } },
      { a: { url: "ftp://x" } },
      { "": { command: "x" } },
      { ["a".repeat(33)]: { command: "x" } },
      { "a b": { command: "x" }, "a.b": { command: "x" } },
      { A: { command: "x" }, a: { command: "x" } },
    ],
  },
  "mcp.trusted": { good: [[["tracker", "a-b_c"]]], wrong: ["tracker", ["a__b"], ["a b"], ["x".repeat(33)]] },
  "mcp.startWait": { good: [[0], [2.5]], wrong: [-1, "10"] },
  "redaction.patterns": {
    good: [
      [
        [
          { name: "x", prefix: "sk-" },
          { name: "y", literal: "l", key: "k" },
        ],
      ],
    ],
    wrong: [{}, ["sk-"], [{ name: "x" }], [{ prefix: "x" }], [{ name: "x", key: 1 }]],
  },
  "telemetry.content": { good: [[true]], wrong: [1] },
};
