import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, dirname, join } from "node:path";
import { test } from "node:test";
import { openScreen } from "../../packages/cli/test/tui/support/screen.ts";
import { ENTRIES, PACKAGES, ROOT, ran } from "./packed.ts";

/** Packages that are installed in a folder, the Node that runs them, and the sources they were made from. */
export type Installation = { readonly user: string; readonly node: string; readonly tree: string };

type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** What a README shows: a program, and what it prints. */
export function readmeOf(folder: string): { readonly text: string; readonly program?: string; readonly prints?: string } {
  const text = readFileSync(join(ROOT, "packages", folder, "README.md"), "utf8");
  const [, program, prints] = /```ts\n([\s\S]*?)```\n\nIt prints\n\n```\n([\s\S]*?)```/.exec(text) ?? [];
  return { text, ...(program !== undefined && { program }), ...(prints !== undefined && { prints }) };
}

const SCRIPT = {
  turns: [
    { calls: [{ tool: "ast_edit", id: "c1", input: { ops: [{ pat: "oldName($$$A)", out: "newName($$$A)" }], paths: ["src"] } }] },
    { expect: { toolChoice: "resolve" }, calls: [{ tool: "resolve", input: { action: "apply", reason: "It is what was asked for." } }] },
    { say: "Renamed." },
  ],
};

/** Writes down at the end what was loaded. */
const LOOK = `
const files = [];
const load = (url, context, next) => (files.push(url), next(url, context));
process.getBuiltinModule("node:module").registerHooks({ load });
const tell = () => JSON.stringify({ files, modules: process.moduleLoadList });
process.on("exit", () => process.getBuiltinModule("node:fs").writeFileSync("loaded.json", tell()));
`;

/** Registers the tests of what a person does who installed the packages. The installation is made when the tests run. */
export function testInstalled(label: string, made: () => Installation): void {
  const environment = ({ user, node }: Installation): Record<string, string> => ({
    PATH: [join(user, "node_modules/.bin"), dirname(node), "/usr/bin", "/bin"].join(delimiter),
    HOME: user,
    ASSENT_STORE: join(user, "store"),
    TMPDIR: user,
  });
  const start = (cwd: string, [file = "", ...args]: readonly string[], more: Record<string, string | undefined> = {}): Ran => {
    const { status, stdout, stderr } = spawnSync(file, args, { cwd, encoding: "utf8", env: { ...environment(made()), ...more } });
    return { code: status, stdout, stderr };
  };
  /** A workspace of its own, below the folder in which the packages are. */
  const workspace = (): string => {
    const directory = mkdtempSync(join(made().user, "workspace-"));
    mkdirSync(join(directory, "src"));
    writeFileSync(join(directory, "src/a.js"), "export const a = oldName(1);\n");
    writeFileSync(join(directory, "script.json"), JSON.stringify(SCRIPT));
    return directory;
  };

  test(`${label}: every entry exports the names that its source exports`, () => {
    const code = `for (const name of ${JSON.stringify(ENTRIES)}) console.log(JSON.stringify([name, Object.keys(await import(name))]));`;
    const names = ["--input-type=module", "-e", code];
    const { stdout, stderr } = start(made().user, ["node", ...names]);
    assert.equal(stderr, "");
    assert.equal(stdout, ran(made().tree, [process.execPath, "--conditions=@assent/source", ...names]));
    assert.equal(stdout.split("\n").length, ENTRIES.length + 1);
  });

  for (const [folder, name] of PACKAGES.filter(([, id]) => id !== "assent")) {
    test(`${label}: the program in the README of ${name} prints what stands there`, () => {
      const { user } = made();
      const { program = "", prints } = readmeOf(folder);
      const file = join(user, `readme-${folder}.ts`);
      writeFileSync(file, program);
      rmSync(join(user, "assent-state"), { recursive: true, force: true });
      const { code, stdout, stderr } = start(user, ["node", "--disable-warning=ExperimentalWarning", file]);
      assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: prints, stderr: "" });
    });
  }

  test(`${label}: the commands in the README of assent end well`, () => {
    const commands = [...readmeOf("cli").text.matchAll(/^assent .*$/gm)].map(([line]) => line);
    assert.ok(commands.length >= 4);
    const at = workspace();
    for (const command of commands) {
      const { code, stdout, stderr } = start(at, ["bash", "-c", command]);
      assert.deepEqual({ code, stderr }, { code: 0, stderr: "" }, `${command}\n${stdout}`);
    }
  });

  test(`${label}: assent says its version`, () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    assert.deepEqual(start(made().user, ["assent", "--version"]), { code: 0, stdout: `${version}\n`, stderr: "" });
  });

  test(`${label}: assent call read shows a file`, () => {
    const read = ["assent", "call", "read", "--input", '{"file_path":"src/a.js"}'];
    assert.deepEqual(start(workspace(), read), { code: 0, stdout: "1→export const a = oldName(1);\n", stderr: "" });
  });

  test(`${label}: assent run plays a script, whose structural edit is previewed and applied`, () => {
    const at = workspace();
    const run = start(at, ["assent", "run", "rename", "--model", "script:script.json", "--mode", "yolo"]);
    assert.deepEqual(run, { code: 0, stdout: "Renamed.\n", stderr: "" });
    assert.equal(readFileSync(join(at, "src/a.js"), "utf8"), "export const a = newName(1);\n");
  });

  test(`${label}: assent call runs a custom tool in its thread, and stops one that loops`, () => {
    const at = workspace();
    const tool = (name: string, body: string): string =>
      `{ name: "${name}", description: "D.", parameters: zod.object({ n: zod.number().default(2) }), execute: async (id, { n }) => { ${body} } }`;
    const double = tool("double", 'return { content: [{ type: "text", text: String(2 * n) }] };');
    writeFileSync(
      join(at, "tools.mjs"),
      `export default ({ zod }) => [${double}, { ...${tool("loop", "while (true) {}")}, timeoutMs: 100 }];`,
    );
    const call = (name: string) => start(at, ["assent", "call", name, "--tool", "tools.mjs", "--mode", "yolo"]);
    assert.deepEqual(call("double"), { code: 0, stdout: "4\n", stderr: "" });
    assert.match(call("loop").stderr, /timed out|time limit|within/);
  });

  test(`${label}: a run loads few files of ours, and of Node what it uses`, () => {
    const at = workspace();
    writeFileSync(join(at, "look.mjs"), LOOK);
    const program = join(made().user, "node_modules/assent/bin/assent.js");
    const run = ["node", "--import", "./look.mjs", program, "run", "rename", "--model", "script:script.json", "--mode", "yolo"];
    assert.deepEqual(start(at, run), { code: 0, stdout: "Renamed.\n", stderr: "" });
    const { files, modules }: Record<"files" | "modules", readonly string[]> = JSON.parse(readFileSync(join(at, "loaded.json"), "utf8"));
    const ours = files.filter((file) => /\/node_modules\/(?:@assent\/\w+|assent)\//.test(file));
    assert.ok(ours.length > 5 && ours.length <= 13, ours.join("\n")); // three of them are core
    assert.ok(modules.includes("NativeModule crypto") && !modules.includes("NativeModule internal/crypto/webcrypto"), modules.join("\n"));
  });

  for (const [provider, key, path, header] of [
    ["anthropic", "ANTHROPIC_API_KEY", "/v1/messages", "x-api-key"],
    ["google", "GEMINI_API_KEY", "/v1/models/m:streamGenerateContent?alt=sse", "x-goog-api-key"],
    ["openai", "OPENAI_API_KEY", "/v1/responses", "authorization"],
    ["openai-compatible", "OPENAI_COMPATIBLE_API_KEY", "/v1/chat/completions", "authorization"],
  ] as const)
    test(`${label}: assent speaks to ${provider}, whose package is not installed but part of it, without all of Node's fetch`, async () => {
      assert.ok(!existsSync(join(made().user, "node_modules/@ai-sdk", provider)));
      const variable = provider === "google" ? "GOOGLE_GENERATIVE_AI_BASE_URL" : key.replace("API_KEY", "BASE_URL");
      const at = workspace();
      writeFileSync(join(at, "look.mjs"), LOOK);
      const look = { NODE_OPTIONS: "--import ./look.mjs" };
      const run = await refused(at, provider, (base) => ({ ...environment(made()), ...look, [key]: "the-key", [variable]: base }));
      const [asked] = run.asked;
      assert.deepEqual({ url: asked?.url, times: run.asked.length, code: run.code }, { url: path, times: 1, code: 1 }, run.stderr);
      assert.match(String(asked?.headers[header]), /^(?:Bearer )?the-key$/);
      assert.match(String(asked?.headers["user-agent"]), /ai-sdk/);
      const { modules }: Record<"modules", readonly string[]> = JSON.parse(readFileSync(join(at, "loaded.json"), "utf8"));
      assert.ok(modules.includes("NativeModule http") && !modules.includes("NativeModule internal/deps/undici/undici"));
    });

  for (const [sentence, mode, expected] of [
    ["is kept in a state directory of the user's own that is there", 0o700, true],
    ["is not kept where others could write", 0o770, false],
  ] as const)
    test(`${label}: what was compiled ${sentence}`, () => {
      const at = workspace();
      const own = { ASSENT_STORE: undefined, XDG_STATE_HOME: at };
      const read = ["assent", "call", "read", "--input", '{"file_path":"src/a.js"}'];
      assert.equal(start(at, read, own).code, 0);
      assert.ok(!existsSync(join(at, "assent/compiled")), "the first start has nowhere to keep it");
      chmodSync(join(at, "assent"), mode);
      assert.equal(start(at, read, own).code, 0);
      assert.equal(existsSync(join(at, "assent/compiled")), expected);
      assert.equal(start(at, ["assent", "verify"], own).code, 0);
    });

  for (const [named, flags, more] of [
    ["--store", ["--store", "state"], { ASSENT_STORE: undefined }],
    ["ASSENT_STORE", [], {}],
  ] as const)
    test(`${label}: nothing that was compiled is read or kept in a store that ${named} names: it may come from somebody else`, () => {
      const at = workspace();
      const store = join(at, "state");
      const env = { ...more, ...(named === "ASSENT_STORE" && { ASSENT_STORE: store }) };
      for (let round = 0; round < 2; round += 1)
        assert.equal(start(at, ["assent", "call", "read", "--input", '{"file_path":"src/a.js"}', ...flags], env).code, 0);
      assert.ok(existsSync(join(store, "ledger.db")));
      assert.ok(!existsSync(join(store, "compiled")));
    });

  test(`${label}: the terminal interface opens, answers and ends, and nothing else writes on its screen`, async () => {
    const at = workspace();
    const installation = made();
    const program = [join(installation.user, "node_modules/.bin/assent"), "--model", "script:script.json"];
    const other = `process.exit(require("node:child_process").spawnSync(${JSON.stringify(installation.node)}, ${JSON.stringify(program)}, { stdio: "inherit" }).status)`;
    using screen = openScreen({ cwd: at, env: environment(installation), program: ["-e", other] });
    await screen.until((now) => now.includes("script:script.json") && now.includes("? keys"));
    assert.doesNotMatch(screen.rawBytes(), /Warning/);
    screen.press("ctrl+d");
    assert.equal(await screen.exit(), 0);
  });
}

type Refused = { readonly asked: readonly IncomingMessage[]; readonly code: number | null; readonly stderr: string };

/** A run whose provider, a server on this machine, lets nobody in. */
async function refused(cwd: string, provider: string, environmentFor: (base: string) => NodeJS.ProcessEnv): Promise<Refused> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    request.resume();
    response.writeHead(401, { "content-type": "application/json" }).end('{"error":{"message":"no"}}');
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  // Parsing: a server on a port has an address of this kind.
  const { port } = server.address() as AddressInfo;
  const env = environmentFor(`http://127.0.0.1:${port}/v1`);
  try {
    const child = spawn("assent", ["run", "go", "--json", "--model", `${provider}:m`], { cwd, env, stdio: ["ignore", "ignore", "pipe"] });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    const code = await new Promise<number | null>((ended) => child.once("close", ended));
    return { asked, code, stderr };
  } finally {
    server.close();
  }
}
