import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type AgentName, clientFile, type GatewaySetup, guardServers, releaseServers } from "@assent/guard";

const SETUP: GatewaySetup = {
  wrapper: "/state/hooks/assent-mcp",
  options: [],
  ruleName: (name) => [name.replaceAll(/[^A-Za-z0-9-]+/g, "_").replaceAll(/^[_-]+|_+$/g, "")].find((short) => short !== ""),
  addressFile: (group) => `/state/mcp-clients/c${group.replaceAll("/", "-")}.json`,
};

const GEMINI = `{
  // mine
  "theme": "dark",
  "mcpServers": {
    "files": {
      "command": "npx", // started by hand
      "args": ["-y", "server-filesystem", "."],
      "env": { "TOKEN": "$TOKEN" },
      "trust": true
    },
    "old": { "url": "https://old.example.com/sse" },
    "web": { "httpUrl": "https://web.example.com/mcp", "headers": { "X-Key": "$WEB_KEY" }, "timeout": 5000 }
  }
}
`;
const CLAUDE = `{
  "numStartups": 3,
  "mcpServers": {
    "files": { "type": "stdio", "command": "server-files", "args": [], "env": {} },
    "web": { "type": "http", "url": "https://web.example.com/mcp", "headers": { "Authorization": "Bearer \${KEY}" } }
  },
  "projects": { "/w/app": { "allowedTools": [], "mcpServers": { "files": { "command": "other-files" } } } }
}
`;
const OPENCODE = `{
  "$schema": "https://schema.example.com/config.json",
  "mcp": {
    "files": { "type": "local", "command": ["npx", "server-files"], "environment": { "A": "b" }, "enabled": true },
    "web": { "type": "remote", "url": "https://web.example.com/mcp", "headers": { "X": "{env:KEY}" } },
    "team": { "enabled": false }
  }
}
`;
const NESTED = `{ "mcp": { "timeout": 5, "servers": { "files": { "type": "local", "command": ["server-files"] } } } }`;
const CODEX = `# mine
model = "gpt"
notes = """
[mcp_servers.not_one]
"""

[mcp_servers.files]
command = "npx" # by hand
args = [
  "-y", # yes
  'server-files',
]
startup_timeout_sec = 20

[mcp_servers.files.env]
TOKEN = "x"

[mcp_servers."the web"]
url = "https://web.example.com/mcp"
bearer_token_env_var = "WEB_TOKEN"
http_headers = { "X-A" = "b" }
enabled = true

[features]
hooks = true
`;

const guard = (agent: AgentName, text: string, known: Parameters<typeof guardServers>[3] = []) => guardServers(agent, text, SETUP, known);

describe("the configuration of each client", () => {
  const rows: readonly [agent: AgentName, text: string, contains: readonly string[], left: readonly string[]][] = [
    [
      "gemini",
      GEMINI,
      [
        `"args": [\n        "--name=files",\n        "--",\n        "npx",\n        "-y",\n        "server-filesystem",\n        "."\n      ]`,
        '"TOKEN": "$TOKEN"',
        '"--strict-mcp-config",\n        "--mcp-config=/state/mcp-clients/c.json",\n        "web"',
        '"WEB_KEY": "$WEB_KEY"',
        "// mine",
      ],
      [],
    ],
    ["claude", CLAUDE, ['"--",\n        "server-files"', `"KEY": "\${KEY}"`, '"other-files"', '"numStartups": 3'], []],
    [
      "opencode",
      OPENCODE,
      ['"/state/hooks/assent-mcp",\n        "--name=files",\n        "--",\n        "npx"', '"KEY": "{env:KEY}"'],
      ["team"],
    ],
    ["opencode", NESTED, ['"--name=files"'], []],
    [
      "codex",
      CODEX,
      [
        'command = "/state/hooks/assent-mcp"\nargs = ["--name=files", "--", "npx", "-y", "server-files"]',
        "startup_timeout_sec = 20",
        'TOKEN = "x"',
        'args = ["--strict-mcp-config", "--mcp-config=/state/mcp-clients/c.json", "the_web"]\nenv_vars = ["WEB_TOKEN"]',
        "[features]\nhooks = true",
      ],
      [],
    ],
  ];
  for (const [agent, text, contains, left] of rows) {
    test(`${agent}: every server starts behind the gateway (${text.length})`, () => {
      const guarded = guard(agent, text);
      for (const part of contains) assert.ok(guarded.text.includes(part), `${part}\nis not in\n${guarded.text}`);
      assert.deepEqual(
        guarded.left.map(({ name }) => name),
        left,
      );
    });
    test(`${agent}: a second install changes nothing, with and without what the first one knew (${text.length})`, () => {
      const once = guard(agent, text);
      const again = guard(agent, once.text, once.servers);
      assert.deepEqual([again.text, again.servers, again.addresses], [once.text, once.servers, once.addresses]);
      assert.equal(guard(agent, once.text).text, once.text);
    });
    test(`${agent}: uninstall restores every byte (${text.length})`, () => {
      const once = guard(agent, text);
      const again = guard(agent, once.text, once.servers);
      assert.equal(releaseServers(agent, again.text, SETUP, again.servers).text, text);
    });
  }

  test("addresses keep their headers, with variables in one notation", () => {
    assert.deepEqual(guard("gemini", GEMINI).addresses, {
      "": {
        old: { type: "sse", url: "https://old.example.com/sse", headers: {} },
        web: { type: "http", url: "https://web.example.com/mcp", headers: { "X-Key": `\${WEB_KEY}` } },
      },
    });
    assert.deepEqual(guard("codex", CODEX).addresses[""], {
      the_web: { type: "http", url: "https://web.example.com/mcp", headers: { "X-A": "b", Authorization: `Bearer \${WEB_TOKEN}` } },
    });
  });

  test("a server that is added later is picked up, and the others stay", () => {
    const once = guard("claude", CLAUDE);
    const added = once.text
      .replace('"projects"', '"more": 1,\n  "projects"')
      .replace('"mcpServers": {\n', '"mcpServers": {\n    "new": { "command": "fresh" },\n');
    const again = guard("claude", added, once.servers);
    assert.match(again.text, /"--name=new",\s+"--",\s+"fresh"/);
    assert.equal(again.servers.length, once.servers.length + 1);
    const restored = releaseServers("claude", again.text, SETUP, again.servers).text;
    assert.match(restored, /"new": \{ "command": "fresh" \}/);
  });

  test("a file that its client wrote again with other spaces is restored", () => {
    const once = guard("claude", CLAUDE);
    const restored = releaseServers("claude", JSON.stringify(JSON.parse(once.text)), SETUP, once.servers).text;
    assert.deepEqual(JSON.parse(restored), JSON.parse(CLAUDE));
  });

  test("a server that was changed after install gets its program back and keeps the change", () => {
    const once = guard("gemini", GEMINI);
    const restored = releaseServers("gemini", once.text.replace('"trust": true', '"trust": false'), SETUP, once.servers).text;
    assert.match(restored, /"command": "npx"/);
    assert.match(restored, /"trust": false/);
  });
});

describe("a configuration that tries to go around the gateway", () => {
  const wrapper = SETUP.wrapper;
  const args = (agent: AgentName, text: string): readonly string[] => {
    const config = JSON.parse(guard(agent, text).text);
    return config.mcpServers.x.args;
  };
  const rows: readonly [sentence: string, entry: object, expected: readonly string[]][] = [
    [
      "options before the program make it a server like any other",
      { command: wrapper, args: ["--mode", "yolo", "--name=x", "--", "evil"] },
      ["--name=x", "--", wrapper, "--mode", "yolo", "--name=x", "--", "evil"],
    ],
    [
      "another file of servers makes it a server like any other",
      { command: wrapper, args: ["--mcp-config=/tmp/evil.json", "--strict-mcp-config", "x"] },
      ["--name=x", "--", wrapper, "--mcp-config=/tmp/evil.json", "--strict-mcp-config", "x"],
    ],
    ["another record is not kept", { command: wrapper, args: ["--store", "/tmp/other", "--name=x", "--", "p"] }, ["--name=x", "--", "p"]],
    [
      "variables of Assent are set behind it",
      { command: "p", env: { ASSENT_STORE: "/tmp/other", NODE_OPTIONS: "--import /tmp/e.mjs", A: "b" } },
      ["--name=x", "--", "env", "ASSENT_STORE=/tmp/other", "NODE_OPTIONS=--import /tmp/e.mjs", "p"],
    ],
    [
      "a program that looks like an option stays behind the dashes",
      { command: "--http", args: ["--name=y"] },
      ["--name=x", "--", "--http", "--name=y"],
    ],
  ];
  for (const [sentence, entry, expected] of rows)
    test(sentence, () => assert.deepEqual(args("claude", JSON.stringify({ mcpServers: { x: entry } })), expected));

  const refused: readonly [sentence: string, agent: AgentName, text: string, message: RegExp][] = [
    ["two keys of the same name", "claude", '{"mcpServers": {}, "mcpServers": {"x": {"command": "p"}}}', /"mcpServers" more than once/],
    ["text that is not JSON", "gemini", "{", /not valid JSON/],
    ["TOML that is not understood", "codex", '[mcp_servers.x]\ncommand = "p" extra\n', /cannot read line 2/],
    ["a text without an end", "codex", 'a = "x\n[mcp_servers.x]\n', /cannot read line 1/],
    ["a list without an end", "codex", "a = [1, 2\n", /cannot read line/],
  ];
  for (const [sentence, agent, text, message] of refused)
    test(`refused: ${sentence}`, () => assert.throws(() => guard(agent, text), message));

  const left: readonly [sentence: string, agent: AgentName, text: string, reason: RegExp][] = [
    ["a name that rules cannot write", "claude", '{"mcpServers": {"…": {"command": "p"}}}', /rules cannot name it/],
    [
      "names that rules cannot tell apart",
      "claude",
      '{"mcpServers": {"a b": {"command": "p"}, "a.b": {"command": "q"}}}',
      /like another server/,
    ],
    ["headers from a program", "claude", '{"mcpServers": {"x": {"url": "https://x", "headersHelper": "h"}}}', /headersHelper/],
    ["a server inside one line", "codex", 'mcp_servers = { x = { command = "p" } }\n', /write it as one table/],
    ["dotted keys", "codex", '[mcp_servers]\nx.command = "p"\n', /write it as one table/],
    ["tables that are apart", "codex", '[mcp_servers.x]\ncommand = "p"\n[a]\n[mcp_servers.x.env]\nA = "b"\n', /right after it/],
  ];
  for (const [sentence, agent, text, reason] of left)
    test(`left as it is, with the reason: ${sentence}`, () => {
      const guarded = guard(agent, text);
      assert.match(guarded.left.map((one) => one.reason).join(), reason);
    });

  test("a server called __proto__ is one like any other", () => {
    assert.match(guard("claude", '{"mcpServers": {"__proto__": {"command": "p"}}}').text, /--name=proto/);
  });
});

test("files of clients, with the variables that move them", () => {
  const at = { home: "/h", project: "/p", env: { CLAUDE_CONFIG_DIR: "/c", CODEX_HOME: "/x", XDG_CONFIG_HOME: "/g" } };
  const file = (agent: AgentName, scope: "user" | "project", exists = (_: string) => false): string => clientFile(agent, scope, at, exists);
  assert.deepEqual(
    (["claude", "codex", "gemini", "qwen", "opencode"] as const).map((agent) => [file(agent, "user"), file(agent, "project")]),
    [
      ["/c/.claude.json", "/p/.mcp.json"],
      ["/x/config.toml", "/p/.codex/config.toml"],
      ["/h/.gemini/settings.json", "/p/.gemini/settings.json"],
      ["/h/.qwen/settings.json", "/p/.qwen/settings.json"],
      ["/g/opencode/opencode.json", "/p/opencode.json"],
    ],
  );
  assert.equal(
    file("opencode", "project", (path) => path.endsWith("jsonc")),
    "/p/opencode.jsonc",
  );
});
