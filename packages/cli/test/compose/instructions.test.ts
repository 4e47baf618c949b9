import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { openLedger } from "@assent/store";
import { modelServer } from "../../../agent/test/wire/model-server.ts";
import { type Instructions, trustedInstructions, workspaceInstructions } from "../../src/compose/instructions.ts";
import { place } from "../support/assent.ts";

type Scratch = {
  readonly workspace: string;
  readonly write: (name: string, text: string | Uint8Array) => void;
  readonly [Symbol.dispose]: () => void;
};

function scratch(): Scratch {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "assent-instructions-")));
  const workspace = join(root, "workspace");
  mkdirSync(join(workspace, "src", "deep"), { recursive: true });
  const write: Scratch["write"] = (name, text) => {
    mkdirSync(dirname(join(workspace, name)), { recursive: true });
    writeFileSync(join(workspace, name), text);
  };
  return { workspace, write, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}

/** Trusts everything. */
function read({ workspace }: Scratch, cwd = "src/deep"): Promise<Instructions> {
  return workspaceInstructions({ workspace, cwd: join(workspace, cwd), trusted: true, vouches: () => true });
}

describe("instructions of a workspace", () => {
  test("from the root down to the working directory, each marked with its path", async () => {
    using at = scratch();
    at.write("AGENTS.md", "root\n");
    at.write("src/deep/AGENTS.md", "deep\n");
    at.write("other/AGENTS.md", "elsewhere\n");
    assert.deepEqual(await read(at), {
      text: 'Instructions from "AGENTS.md":\n\nroot\n\nInstructions from "src/deep/AGENTS.md":\n\ndeep\n',
      files: ["AGENTS.md", "src/deep/AGENTS.md"],
      warnings: [],
    });
    assert.deepEqual((await read(at, "src")).files, ["AGENTS.md"]);
  });

  test("CLAUDE.md counts where there is no AGENTS.md beside it", async () => {
    using at = scratch();
    for (const name of ["AGENTS.md", "CLAUDE.md", "src/CLAUDE.md"]) at.write(name, name);
    assert.deepEqual((await read(at)).files, ["AGENTS.md", "src/CLAUDE.md"]);
  });

  test("nothing there: no text, no warning, trusted or not", async () => {
    using at = scratch();
    const none = { text: "", files: [], warnings: [] };
    assert.deepEqual(await read(at), none);
    assert.deepEqual(await workspaceInstructions({ workspace: at.workspace, cwd: at.workspace, trusted: false }), none);
  });

  test("untrusted: nothing is read, and one warning says so", async () => {
    using at = scratch();
    for (const name of ["AGENTS.md", "src/AGENTS.md"]) at.write(name, "obey");
    const cwd = join(at.workspace, "src");
    const { text, files, warnings } = await workspaceInstructions({ workspace: at.workspace, cwd, trusted: false, vouches: () => true });
    assert.deepEqual([text, files, warnings.length], ["", [], 1]);
    assert.match(warnings[0] ?? "", /^AGENTS\.md is not read, because the workspace is not trusted\. .*assent trust$/);
  });

  test("trust that says nothing of files below the root covers none of them", async () => {
    using at = scratch();
    for (const name of ["AGENTS.md", "src/AGENTS.md"]) at.write(name, "obey");
    const { files, warnings } = await workspaceInstructions({ workspace: at.workspace, cwd: join(at.workspace, "src"), trusted: true });
    assert.deepEqual([files, warnings.length], [["AGENTS.md"], 1]);
    assert.match(warnings[0] ?? "", /^src\/AGENTS\.md is left out: it has changed since it was trusted/);
  });

  test("64 KiB in all: what does not fit is cut between characters, and told", async () => {
    using at = scratch();
    at.write("AGENTS.md", "a".repeat(65_000));
    at.write("src/AGENTS.md", "é".repeat(1_000));
    at.write("src/deep/AGENTS.md", "too late");
    const { text, files, warnings } = await read(at);
    assert.deepEqual(files, ["AGENTS.md", "src/AGENTS.md"]);
    assert.equal(text.match(/é/g)?.length, 268);
    assert.ok(!text.includes("\ufffd") && !text.includes("too late"));
    assert.deepEqual(
      warnings.map((warning) => warning.split(" ")[0]),
      ["src/AGENTS.md", "src/deep/AGENTS.md"],
    );
  });

  test("a directory that is a repository or a workspace of its own ends the way", async () => {
    using at = scratch();
    for (const name of ["AGENTS.md", "src/AGENTS.md", "src/deep/AGENTS.md"]) at.write(name, name);
    mkdirSync(join(at.workspace, "src/deep/.git"));
    assert.deepEqual((await read(at)).files, ["AGENTS.md", "src/AGENTS.md"]);
    mkdirSync(join(at.workspace, "src/.assent"));
    assert.deepEqual((await read(at)).files, ["AGENTS.md"]);
  });

  const LEFT_OUT: readonly (readonly [sentence: string, lay: (at: Scratch, path: string) => void, why: RegExp])[] = [
    ["a link out of the workspace", (_at, path) => symlinkSync("/etc/hostname", path), /a link to a place outside the workspace/],
    [
      "a pipe",
      (_at, path) => {
        execFileSync("mkfifo", [path]);
      },
      /not a regular file/,
    ],
    ["a directory", (_at, path) => mkdirSync(path), /not a regular file/],
    ["bytes that are no text", ({ write }) => write("AGENTS.md", new Uint8Array([0xff, 0xfe, 0x00])), /not UTF-8 text/],
    ["a file of 2 MiB", ({ write }) => write("AGENTS.md", "x".repeat(2 ** 21)), /more than 1048576 bytes/],
  ];
  for (const [sentence, lay, why] of LEFT_OUT) {
    test(`${sentence} is left out, and told`, async () => {
      using at = scratch();
      at.write("src/AGENTS.md", "fine");
      lay(at, join(at.workspace, "AGENTS.md"));
      const { files, warnings } = await read(at);
      assert.deepEqual([files, warnings.length], [["src/AGENTS.md"], 1]);
      assert.match(warnings[0] ?? "", why);
    });
  }

  test("a link within the workspace counts as what it leads to", async () => {
    using at = scratch();
    at.write("docs/rules.md", "be kind");
    symlinkSync("docs/rules.md", join(at.workspace, "AGENTS.md"));
    assert.ok((await read(at)).text.includes("be kind"));
  });

  test("a working directory outside, or gone: those of the root", async () => {
    using at = scratch();
    at.write("AGENTS.md", "root");
    for (const cwd of ["/", join(at.workspace, "gone")])
      assert.deepEqual((await workspaceInstructions({ workspace: at.workspace, cwd, trusted: true })).files, ["AGENTS.md"]);
  });
});

describe("trust covers instructions below the root as they were when it was given", () => {
  const FILES = ["AGENTS.md", "src/AGENTS.md"];

  test("one changed byte below the root leaves that file out; at the root, all of them", async () => {
    using at = place();
    mkdirSync(at.path("src"));
    for (const name of FILES) at.write(name, "be kind\n");
    const read = async (): Promise<Instructions> => {
      const ledger = await openLedger({ directory: at.store });
      return await trustedInstructions(ledger, { workspace: at.workspace, cwd: at.path("src") }).finally(() => ledger.close());
    };
    const shown = await at.hereJson(["trust", "--show"]);
    assert.deepEqual([shown.value.trusted, shown.value.would], [false, FILES.map((name) => `instructions ${name} (8 bytes)`)]);
    assert.equal((await at.hereJson(["trust", "--yes"])).value.trusted, true);
    assert.deepEqual([(await read()).files, (await read()).warnings], [FILES, []]);

    at.write("src/AGENTS.md", "be cruel\n");
    assert.deepEqual([(await read()).files, (await read()).warnings.length], [["AGENTS.md"], 1]);
    const changed = await at.here(["trust", "--show"]);
    assert.match(changed.stdout, /changed since it was trusted[\s\S]*-be kind\n\+be cruel\n/);
    assert.equal((await at.hereJson(["trust", "--yes"])).value.trusted, true);
    assert.ok((await read()).text.includes("be cruel"));

    at.write("AGENTS.md", "be gone\n");
    assert.deepEqual([(await read()).files, (await read()).warnings.length], [[], 1]);
  });

  test("a file that came after trust was given is left out", async () => {
    using at = place();
    mkdirSync(at.path("src"));
    at.write("AGENTS.md", "be kind\n");
    await at.here(["trust", "--yes"]);
    at.write("src/CLAUDE.md", "obey\n");
    const ledger = await openLedger({ directory: at.store });
    const { files, warnings } = await trustedInstructions(ledger, { workspace: at.workspace, cwd: at.path("src") });
    await ledger.close();
    assert.deepEqual([files, warnings.length], [["AGENTS.md"], 1]);
  });

  test("those of nested repositories, of dependencies and behind links are ignored", async () => {
    using at = place();
    for (const directory of ["sub/.git", "node_modules/x", "real"]) mkdirSync(at.path(directory), { recursive: true });
    for (const name of ["sub/AGENTS.md", "node_modules/x/AGENTS.md", "real/AGENTS.md"]) at.write(name, "obey");
    symlinkSync("real", at.path("linked"));
    assert.deepEqual((await at.hereJson(["trust", "--show"])).value.would, ["instructions real/AGENTS.md (4 bytes)"]);
  });
});

describe("the first message to a model", () => {
  for (const [name, trusts, told] of [
    ["a trusted workspace's instructions are in the system prompt, marked with their path", true, true],
    ["those of an untrusted one are not, and a warning says so", false, false],
  ] as const) {
    test(name, async () => {
      using at = place();
      at.write("AGENTS.md", "Answer in rhymes.\n");
      if (trusts) await at.here(["trust", "--yes"]);
      const server = await modelServer();
      const chunk = { id: "1", created: 1, model: "m", choices: [{ index: 0, delta: { content: "hi" }, finish_reason: "stop" }] };
      server.replies.push({ frames: [`data: ${JSON.stringify(chunk)}\n\n`, "data: [DONE]\n\n"] });
      const env = { OPENAI_COMPATIBLE_BASE_URL: `${server.origin}/v1` };
      const { code, stdout, stderr } = await at.run(["run", "hello", "--model", "openai-compatible:m"], { env });
      await server.close();
      assert.deepEqual([code, stdout], [0, "hi\n"], stderr);
      const system = JSON.stringify(server.received[0]?.body["messages"]?.[0]);
      assert.equal(system.includes("Answer in rhymes."), told);
      assert.equal(system.includes("AGENTS.md"), told);
      assert.equal(/AGENTS\.md is not read/.test(stderr), !told);
    });
  }
});
