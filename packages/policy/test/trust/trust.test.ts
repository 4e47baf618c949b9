import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { type By, memoryLedger } from "@assent/core";
import fc from "fast-check";
import { listActivations } from "../../src/trust/activations.ts";
import { CONFIGURATION_LIMITS, findConfigurationFiles, readProjectConfiguration } from "../../src/trust/project-configuration.ts";
import {
  createTrustGranted,
  createTrustRevoked,
  describeUntrusted,
  diffConfiguration,
  isTrusted,
  isTrustedFile,
  readTrustState,
} from "../../src/trust/trust.ts";
import { scratch } from "../scratch.ts";

const BY: By = { kind: "person", user: "me", name: "me", door: "test", pid: 1 };
const AT = "2026-01-01T00:00:00.000Z";

function write(root: string, name: string, content: string | Uint8Array = ""): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), content);
}

const names = (root: string): readonly string[] => readProjectConfiguration(root).files.map(({ name }) => name);

test("configuration is all of .assent but the plans, the instructions and the servers at the top, in the order of their names", (t) => {
  const root = scratch(t);
  for (const name of ["b.json", "hooks/x.sh", "tools/deep/y.ts", "agents/z.md", "settings.json", "plans/today.md"])
    write(root, `.assent/${name}`);
  for (const name of ["AGENTS.md", "CLAUDE.md", ".mcp.json", ".env", ".envrc", "src/AGENTS.md", "sub/.assent/settings.json"])
    write(root, name);
  assert.deepEqual(names(root), [
    ".assent/agents/z.md",
    ".assent/b.json",
    ".assent/hooks/x.sh",
    ".assent/settings.json",
    ".assent/tools/deep/y.ts",
    ".mcp.json",
    "AGENTS.md",
    "CLAUDE.md",
  ]);
});

test("a workspace without configuration has an empty one, and a digest of its own", (t) => {
  const root = scratch(t);
  const { files, problems, digest } = readProjectConfiguration(root);
  assert.deepEqual([files, problems], [[], []]);
  assert.match(digest, /^[0-9a-f]{64}$/);
});

test("the digest is the same for the same names and bytes, and another for any other", () => {
  const contents = fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), fc.uint8Array({ maxLength: 4 }), { maxKeys: 4 });
  fc.assert(
    fc.property(contents, contents, (one, other) => {
      const digests = [one, other].map((files) => {
        using place = temporary();
        for (const [name, bytes] of Object.entries(files)) write(place.root, `.assent/${name}`, bytes);
        return readProjectConfiguration(place.root).digest;
      });
      const same = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
      assert.equal(digests[0] === digests[1], same);
    }),
    { numRuns: 30 },
  );
});

function sorted(files: Readonly<Record<string, Uint8Array>>): readonly (readonly [string, readonly number[]])[] {
  return Object.entries(files)
    .map(([name, bytes]) => [name, [...bytes]] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
}

function temporary(): { readonly root: string; [Symbol.dispose]: () => void } {
  const after: (() => void)[] = [];
  const root = scratch({ after: (end: () => void) => after.push(end) } as never);
  return {
    root,
    [Symbol.dispose]: () => {
      for (const end of after) end();
    },
  };
}

/** Files with their content, links with their target, names of FIFOs. */
type Layout = {
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly links?: Readonly<Record<string, string>>;
  readonly fifos?: readonly string[];
};

function layOut(root: string, { files = {}, links = {}, fifos = [] }: Layout): void {
  for (const [name, content] of Object.entries(files)) write(root, name, content);
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, name));
  for (const name of fifos) execFileSync("mkfifo", [join(root, name)]);
}

const MANY = Object.fromEntries(Array.from({ length: CONFIGURATION_LIMITS.files + 1 }, (_, i) => [`.assent/f${i}`, ""]));

const PROBLEMS: readonly (readonly [name: string, layout: Layout, problem: RegExp])[] = [
  ["a FIFO is never waited for", { files: { ".assent/a": "" }, fifos: [".assent/pipe"] }, /^\.assent\/pipe is not a regular file$/],
  [
    "a FIFO instead of the settings",
    { files: { ".assent/a": "" }, fifos: [".assent/settings.json"] },
    /settings.json is not a regular file/,
  ],
  ["a FIFO instead of instructions", { fifos: ["AGENTS.md"] }, /^AGENTS.md is not a regular file$/],
  ["a link instead of .assent", { files: { "other/settings.json": "" }, links: { ".assent": "other" } }, /^\.assent is a link$/],
  ["a file instead of .assent", { files: { ".assent": "" } }, /^\.assent is not a directory$/],
  [
    "a link to a file outside",
    { files: { ".assent/a": "" }, links: { ".assent/b": "/etc/hostname" } },
    /^\.assent\/b is a link to a place outside/,
  ],
  ["a link to a directory", { files: { ".assent/a": "" }, links: { ".assent/b": ".." } }, /^\.assent\/b is a link to something/],
  ["a loop of links", { files: { ".assent/a": "" }, links: { ".assent/b": "b" } }, /^\.assent\/b is a broken link/],
  [
    "instructions behind a link out of the workspace",
    { links: { "AGENTS.md": "/etc/hostname" } },
    /^AGENTS.md is a link to a place outside/,
  ],
  ["more files than anybody looks through", { files: MANY }, /more than 1000/],
  ["more bytes than are kept", { files: { ".assent/a": Buffer.alloc(CONFIGURATION_LIMITS.bytes + 1) } }, /larger than/],
  ["deeper than anybody looks", { files: { [`.assent/${"d/".repeat(CONFIGURATION_LIMITS.depth + 1)}a`]: "" } }, /too deep/],
];
for (const [name, layout, problem] of PROBLEMS) {
  test(`${name}: it cannot be trusted`, (t) => {
    const root = scratch(t);
    layOut(root, layout);
    const configuration = readProjectConfiguration(root);
    assert.match(configuration.problems.join("\n"), problem);
    assert.equal(isTrusted({ ...createTrustGranted(configuration, BY, AT).body, at: AT }, configuration), false);
  });
}

test("a name that is not UTF-8 makes the configuration one that cannot be trusted", (t) => {
  const root = scratch(t);
  write(root, ".assent/a");
  writeFileSync(Buffer.concat([Buffer.from(join(root, ".assent/")), Buffer.from([0xff])]), "");
  assert.match(readProjectConfiguration(root).problems.join("\n"), /^\.assent contains a name that is not UTF-8/);
});

test("a file that may not be read makes the configuration one that cannot be trusted", (t) => {
  const root = scratch(t);
  write(root, ".assent/settings.json");
  chmodSync(join(root, ".assent/settings.json"), 0);
  const source = `
    import { readProjectConfiguration } from "../../src/trust/project-configuration.ts";
    if (process.getuid() === 0) process.setuid(54321);
    console.log(readProjectConfiguration(${JSON.stringify(root)}).problems.join());`;
  chmodSync(root, 0o755);
  chmodSync(join(root, ".assent"), 0o755);
  const argv = ["--conditions=@assent/source", "--input-type=module", "-e", source];
  assert.match(
    execFileSync(process.execPath, argv, { cwd: import.meta.dirname, encoding: "utf8" }),
    /settings.json cannot be read: EACCES/,
  );
});

test("a workspace that cannot be looked at vouches for nothing", () => {
  const { files, problems } = findConfigurationFiles(`/${"x".repeat(300)}`);
  assert.deepEqual(
    [files, problems.map((one) => one.replace(/(ENAMETOOLONG).*/u, "$1"))],
    [[], [".mcp.json", "AGENTS.md", "CLAUDE.md", ".assent"].map((name) => `${name} cannot be inspected: ENAMETOOLONG`)],
  );
});

test("exactly as many files, bytes and directories as the limits say are kept", (t) => {
  const root = scratch(t);
  const deepest = `.assent/${"d/".repeat(CONFIGURATION_LIMITS.depth)}a`;
  write(root, deepest);
  write(root, ".assent/large", Buffer.alloc(CONFIGURATION_LIMITS.bytes));
  for (let i = 2; i < CONFIGURATION_LIMITS.files; i++) write(root, `.assent/f${i}`);
  const { files, problems } = readProjectConfiguration(root);
  assert.deepEqual([files.length, problems, files.some(({ name }) => name === deepest)], [CONFIGURATION_LIMITS.files, [], true]);
  write(root, ".assent/one-more");
  write(root, ".assent/two-more");
  assert.deepEqual(readProjectConfiguration(root).problems, ["there are more than 1000 configuration files"]);
});

test("a link inside the workspace counts as the file it leads to", (t) => {
  const root = scratch(t);
  write(root, "AGENTS.md", "one");
  symlinkSync("AGENTS.md", join(root, "CLAUDE.md"));
  const before = readProjectConfiguration(root);
  assert.deepEqual(before.problems, []);
  assert.deepEqual(
    before.files.map(({ name, bytes }) => [name, Buffer.from(bytes).toString()]),
    [
      ["AGENTS.md", "one"],
      ["CLAUDE.md", "one"],
    ],
  );
});

async function trusted(root: string): Promise<ReturnType<typeof memoryLedger>> {
  const ledger = memoryLedger();
  await ledger.answer([createTrustGranted(readProjectConfiguration(root), BY, AT)]);
  return ledger;
}

test("trust holds for exactly these bytes; one changed byte, a new file or a missing one, and it is void", async (t) => {
  const root = scratch(t);
  write(root, ".assent/settings.json", "{}");
  write(root, "AGENTS.md", "be kind");
  const ledger = await trusted(root);
  const holds = async (): Promise<boolean> => (await readTrustState(ledger, root)).trusted;
  assert.equal(await holds(), true);
  write(root, "AGENTS.md", "be kinD");
  assert.equal(await holds(), false);
  write(root, "AGENTS.md", "be kind");
  assert.equal(await holds(), true);
  write(root, ".assent/new");
  assert.equal(await holds(), false);
  rmSync(join(root, ".assent/new"));
  rmSync(join(root, "AGENTS.md"));
  assert.equal(await holds(), false);
});

test("plans and files that are no configuration change nothing", async (t) => {
  const root = scratch(t);
  write(root, ".assent/settings.json", "{}");
  const ledger = await trusted(root);
  for (const name of [".assent/plans/a.md", ".env", ".envrc", "src/AGENTS.md"]) write(root, name, "x");
  assert.equal((await readTrustState(ledger, root)).trusted, true);
});

test("trust that was taken back is gone, and can be given again", async (t) => {
  const root = scratch(t);
  write(root, ".assent/settings.json", "{}");
  const ledger = await trusted(root);
  await ledger.answer([createTrustRevoked(root, BY, AT)]);
  const { trusted: holds, record } = await readTrustState(ledger, root);
  assert.deepEqual([holds, record], [false, undefined]);
  await ledger.answer([createTrustGranted(readProjectConfiguration(root), BY, AT)]);
  assert.equal((await readTrustState(ledger, root)).trusted, true);
});

const SAME = { ".assent/settings.json": "{}" };

/** Beside the trusted workspace `ws`. */
const ELSEWHERE: readonly (readonly [name: string, directory: string, files: Layout["files"]])[] = [
  ["a subdirectory with its own .assent", "ws/sub", SAME],
  ["a nested repository", "ws/nested", { ...SAME, ".git/HEAD": "" }],
  ["a submodule", "ws/module", { ...SAME, ".git": "gitdir: ../.git/modules/module\n" }],
  ["a directory around it", "", SAME],
  ["a copy", "copy", { ...SAME, ".git/HEAD": "" }],
  ["a repository whose commondir points to the trusted one", "evil", { ...SAME, ".git/commondir": "../../ws/.git" }],
  ["a worktree whose .git file points to the trusted one", "tree", { ...SAME, ".git": "gitdir: ../ws/.git\n" }],
];
for (const [name, directory, files = {}] of ELSEWHERE) {
  test(`trust is not inherited by ${name}`, async (t) => {
    const parent = scratch(t);
    layOut(join(parent, "ws"), { files: { ...SAME, ".git/HEAD": "" } });
    const ledger = await trusted(join(parent, "ws"));
    layOut(join(parent, directory), { files });
    assert.equal((await readTrustState(ledger, join(parent, directory))).trusted, false);
    assert.equal((await readTrustState(ledger, join(parent, "ws"))).trusted, true);
  });
}

test("another directory with the same bytes at the same path is not trusted", async (t) => {
  const parent = scratch(t);
  const root = join(parent, "ws");
  write(root, ".assent/settings.json", "{}");
  const ledger = await trusted(root);
  renameSync(root, join(parent, "old"));
  write(root, ".assent/settings.json", "{}");
  assert.equal((await readTrustState(ledger, root)).trusted, false);
});

test("what is recorded is what was read: a change between the question and the record is not trusted", async (t) => {
  const root = scratch(t);
  write(root, ".assent/settings.json", "{}");
  const shown = readProjectConfiguration(root);
  write(root, ".assent/settings.json", `{"mode":"yolo"}`);
  const ledger = memoryLedger();
  await ledger.answer([createTrustGranted(shown, BY, AT)]);
  const state = await readTrustState(ledger, root);
  assert.equal(state.trusted, false);
  assert.deepEqual(state.record?.files, [{ name: ".assent/settings.json", text: "{}" }]);
});

test("reading a trusted file again tells whether it is still the same", async (t) => {
  const root = scratch(t);
  write(root, ".assent/settings.json", "{}");
  const state = await readTrustState(await trusted(root), root);
  assert.equal(isTrustedFile(state, ".assent/settings.json", Buffer.from("{}")), true);
  assert.equal(isTrustedFile(state, ".assent/settings.json", Buffer.from("{} ")), false);
  assert.equal(isTrustedFile(state, ".assent/other", Buffer.from("{}")), false);
  assert.equal(isTrustedFile({ ...state, trusted: false }, ".assent/settings.json", Buffer.from("{}")), false);
});

test("the difference names what changed, came and went; bytes that are no text are named by their size", (t) => {
  const root = scratch(t);
  write(root, ".assent/a", "old\n");
  write(root, ".assent/gone", "x");
  write(root, ".assent/same", Buffer.from([0xff]));
  const { files } = createTrustGranted(readProjectConfiguration(root), BY, AT).body;
  write(root, ".assent/a", "new\n");
  rmSync(join(root, ".assent/gone"));
  write(root, ".assent/bytes", Buffer.from([0xff, 0xfe]));
  assert.deepEqual(diffConfiguration(files, readProjectConfiguration(root)), [
    { name: ".assent/a", before: "old\n", after: "new\n" },
    { name: ".assent/bytes", before: null, after: "[2 bytes of binary data: //4=…]\n" },
    { name: ".assent/gone", before: "x", after: null },
  ]);
});

const SETTINGS = `{
  // comments are fine
  "mode": "yolo",
  "model": "evil:gpt",
  "permissions": { "allow": ["Shell", { "rule": "Edit(src/**)" }], "deny": ["Shell(curl)"], "ask": ["Shell(git push)"], "protect": ["x"] },
  "hooks": { "PreToolUse": [{ "matcher": "*", "hooks": [{ "type": "command", "command": "./canary.sh", "args": ["a b"], "env": { "X": "1" } }] }] },
}`;

test("the question lists rules by text, hooks and servers by what they start, settings by value, files by name", (t) => {
  const root = scratch(t);
  write(root, ".assent/settings.json", SETTINGS);
  write(root, ".assent/tools/t.ts", "throw 1");
  write(root, ".assent/agents/a.md");
  write(root, ".assent/hooks/x.sh");
  write(root, "AGENTS.md", "obey");
  write(
    root,
    ".mcp.json",
    `{"mcpServers": {"one": {"command": "npx", "args": ["-y", "evil"], "env": {"KEY": "v"}}, "two": {"url": "https://evil.test/mcp"}}}`,
  );
  assert.deepEqual(listActivations(readProjectConfiguration(root)), [
    "agent .assent/agents/a.md",
    "file .assent/hooks/x.sh",
    "allow Shell",
    "allow Edit(src/**)",
    "hook PreToolUse: ./canary.sh a b (with X=1)",
    'setting mode = "yolo"',
    'setting model = "evil:gpt"',
    "tool .assent/tools/t.ts",
    "server one: npx -y evil (with KEY=v)",
    "server two: https://evil.test/mcp",
    "instructions AGENTS.md (4 bytes)",
  ]);
});

const ODD: readonly (readonly [name: string, file: string, content: string | Uint8Array, lines: RegExp])[] = [
  ["settings that do not parse", ".assent/settings.json", "{", /^broken settings: \.assent\/settings\.json:1:\d+: /],
  ["settings that are no UTF-8", ".assent/settings.json", Buffer.from([0x7b, 0xff]), /^broken settings: /],
  ["hooks of an unknown shape", ".assent/settings.json", `{"hooks": {"Stop": {"run": "./x"}}}`, /^hook Stop: \{"run":"\.\/x"\}$/],
  ["servers of an unknown shape", ".mcp.json", `[1]`, /^servers of \.mcp\.json$/],
  ["a server that is not an object", ".mcp.json", `{"mcpServers": {"x": "y"}}`, /^server x: "y"$/],
  ["keys that mean a prototype", ".mcp.json", `{"mcpServers": {"__proto__": {"command": "x"}}}`, /^server|^servers/],
];
for (const [name, file, content, lines] of ODD) {
  test(`${name} are shown all the same`, (t) => {
    const root = scratch(t);
    write(root, file, content);
    assert.match(listActivations(readProjectConfiguration(root)).join("\n"), lines);
    assert.equal(Reflect.get({}, "command"), undefined);
  });
}

const WARNED: readonly (readonly [name: string, file: string | undefined, warned: boolean])[] = [
  ["no configuration", undefined, false],
  ["settings alone, of which the settings tell", ".assent/settings.json", false],
  ["instructions, of which their reader tells", "AGENTS.md", false],
  ["tools", ".assent/tools/x.ts", true],
  ["agents", ".assent/agents/x.md", true],
  ["servers", ".mcp.json", true],
];
for (const [name, file, warned] of WARNED) {
  test(`an untrusted workspace with ${name} gives ${warned ? "one" : "no"} warning; a trusted one that changed always does`, async (t) => {
    const root = scratch(t);
    if (file !== undefined) write(root, file, "{}");
    const warning = describeUntrusted(await readTrustState(memoryLedger(), root));
    assert.equal(warning?.includes("is not trusted") ?? false, warned);
    const ledger = await trusted(root);
    assert.equal(describeUntrusted(await readTrustState(ledger, root)), undefined);
    write(root, "AGENTS.md", "changed");
    assert.match(describeUntrusted(await readTrustState(ledger, root)) ?? "", /changed since it was trusted.*assent trust$/);
  });
}
