import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, describe, test } from "node:test";
import { endHosts, startHost } from "../headless/host.ts";
import { BIN, ended, type Place, place, type Ran } from "../support/assent.ts";

after(endHosts);

/** Twenty commands that each write a line; the fifth removes the store. */
function script(take: string): string {
  const turns = Array.from({ length: 20 }, (_, at) => {
    const command = at === 4 ? take : `echo ${at} >> world`;
    return `  - calls: [{ tool: shell, id: c${at}, input: { command: ${JSON.stringify(command)} } }]\n`;
  });
  return `turns:\n${turns.join("")}  - say: Done.\n`;
}

function worldLines(at: Place): readonly string[] {
  return readFileSync(at.path("world"), "utf8").trim().split("\n");
}

describe("a store that is taken away while it is in use", { concurrency: 2 }, () => {
  const WAYS: readonly (readonly [string, string])[] = [
    ["its database is deleted", 'rm "$STORE/ledger.db"'],
    ["its directory is deleted", 'rm -r "$STORE"'],
    ["its database is moved", 'mv "$STORE/ledger.db" "$STORE/elsewhere"'],
    ["its directory is renamed", 'mv "$STORE" "$STORE.renamed"'],
    ["its database is replaced", 'cp "$STORE/ledger.db" "$STORE/copy" && mv "$STORE/copy" "$STORE/ledger.db"'],
    ["its log is deleted", 'rm "$STORE/ledger.db-wal"'],
    ["its database is emptied", ': > "$STORE/ledger.db"'],
    ["its log is emptied", ': > "$STORE/ledger.db-wal"'],
  ];
  for (const [title, line] of WAYS) {
    test(`${title}: the run ends with store_lost, and no later command runs`, async () => {
      using at = place();
      at.write("take.sh", line);
      at.write("s.yaml", script("bash take.sh"));
      const argv = ["run", "go", "--model", "script:s.yaml", "--mode", "yolo", "--output-format", "stream-json"];
      const { code, stdout, stderr } = await at.run(argv, { env: { STORE: at.store } });
      const result = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
      assert.deepEqual([code, result.type, result.is_error, result.error?.type], [1, "result", true, "store_lost"], stdout.slice(-2_000));
      assert.match(stderr, /Nothing more will run/);
      assert.deepEqual(worldLines(at), ["0", "1", "2", "3"]);
    });
  }

  test("a follower of the record ends with store_lost", async () => {
    using at = place();
    await at.here(["call", "glob", "--input", '{"pattern":"*"}']);
    const follower = at.start(["log", "--follow"]);
    const seen = ended(follower);
    await new Promise((resolve) => follower.stdout?.once("data", resolve));
    rmSync(at.store, { recursive: true });
    const { code, stderr } = await seen;
    assert.equal(code, 1);
    assert.match(stderr, /ledger\.db was deleted or moved while this process was using it/);
  });

  test("a run that waits for an answer ends with store_lost", async () => {
    using at = place();
    at.write("s.yaml", 'turns:\n  - calls: [{ tool: write, id: c1, input: { file_path: x.txt, content: "one" } }]\n  - say: Done.\n');
    const host = startHost(at, ["run", "--model", "script:s.yaml"]);
    await host.ask("initialize");
    host.say("go");
    await host.next("the request", ({ request }) => request?.subtype === "can_use_tool");
    renameSync(join(at.store, "ledger.db"), join(at.store, "elsewhere"));
    assert.equal(await host.exit(), 1);
    const result = host.lines.findLast(({ type }) => type === "result");
    assert.equal(result?.error?.type, "store_lost", host.stderr());
  });
});

/** Commands that open the store, with ids where needed. */
const COMMANDS: readonly (readonly string[])[] = [
  ["approvals"],
  ["approvals", "show", "a_000000"],
  ["approve", "a_000000"],
  ["reject", "a_000000"],
  ["grants"],
  ["grants", "revoke", "g_000000"],
  ["proposals"],
  ["apply", "p_000000"],
  ["discard", "p_000000"],
  ["undo", "p_000000"],
  ["sessions"],
  ["sessions", "export", "s_000000"],
  ["sessions", "fork", "s_000000"],
  ["tasks"],
  ["log"],
  ["log", "--follow"],
  ["resume", "s_000000"],
  ["prune", "--older-than", "1d"],
  ["policy", "diff", "a.json", "b.json", "--ledger"],
  ["tools"],
  ["verify"],
  ["doctor"],
  ["call", "glob", "--input", '{"pattern":"*"}'],
  ["run", "go", "--model", "script:s.yaml"],
];

type Damage = readonly [title: string, types: readonly string[], harm: (store: string) => void];

const file = (store: string): string => join(store, "ledger.db");

/** Damaged files in place of a ledger. */
const DAMAGES: readonly Damage[] = [
  ["a ledger of 0 bytes", ["store_corrupt"], (store) => writeFileSync(file(store), "")],
  ["random bytes", ["store_corrupt"], (store) => writeFileSync(file(store), randomBytes(9_000))],
  [
    "the database of another program",
    ["store_unsafe_location"],
    (store) => {
      rmSync(file(store));
      const database = new DatabaseSync(file(store));
      database.exec("create table notes (text); insert into notes values ('mine')");
      database.close();
      chmodSync(file(store), 0o600);
    },
  ],
  [
    "a directory",
    ["store_unsafe_location"],
    (store) => {
      rmSync(file(store));
      mkdirSync(file(store));
    },
  ],
  ["nothing, where a ledger was", ["store_lost"], (store) => rmSync(file(store))],
];

describe("what is found in place of a ledger is an error of every command that opens it", () => {
  for (const [title, types, harm] of DAMAGES) {
    test(title, async () => {
      using at = place();
      at.write("s.yaml", "turns:\n  - say: Done.\n");
      for (const name of ["a.json", "b.json"]) at.write(name, '{ "version": 1 }');
      await at.here(["call", "glob", "--input", '{"pattern":"*"}']);
      harm(at.store);
      for (const argv of COMMANDS) {
        const { code, stdout, stderr } = await at.here([...argv, "--json"]);
        assert.equal(code, 1, `${argv.join(" ")}: ${stdout}${stderr}`);
        assert.ok(types.some((type) => stdout.includes(type)) || argv[0] === "doctor", `${argv.join(" ")}: ${stdout}${stderr}`);
        assert.match(stdout + stderr, /--store|backup|begin a new store|assent verify/, argv.join(" "));
      }
    });
  }
});

const NOBODY = 65_534;

/** Runs a command as a user without root's access. */
function asPerson(at: Place, argv: readonly string[]): Promise<Ran> {
  const isRoot = process.getuid?.() === 0;
  const env = { ...at.env, NODE_COMPILE_CACHE: "" };
  return ended(spawn(process.execPath, [BIN, ...argv], { cwd: at.workspace, env, ...(isRoot && { uid: NOBODY, gid: NOBODY }) }));
}

describe("a store that may not be read is an error, not an empty one", { concurrency: 2 }, () => {
  for (const [title, path] of [
    ["its ledger", "ledger.db"],
    ["its directory", "."],
  ] as const) {
    test(`${title} has mode 0000`, async () => {
      using at = place();
      await at.here(["call", "glob", "--input", '{"pattern":"*"}']);
      const shut = join(at.store, path);
      if (process.getuid?.() === 0) for (const owned of [at.root, at.workspace, at.store, file(at.store)]) chownSync(owned, NOBODY, NOBODY);
      chmodSync(shut, 0);
      try {
        for (const argv of [["approvals"], ["log"], ["verify"]]) {
          const { code, stdout, stderr } = await asPerson(at, [...argv, "--json"]);
          assert.equal(code, 1, `${argv}: ${stdout}${stderr}`);
          assert.equal(JSON.parse(stdout).error?.type, "store_unreadable", `${argv}: ${stdout}${stderr}`);
        }
      } finally {
        chmodSync(shut, 0o700);
      }
    });
  }
});

test("a store of a newer version is read with a warning", async () => {
  using at = place();
  await at.here(["call", "glob", "--input", '{"pattern":"*"}']);
  const database = new DatabaseSync(file(at.store));
  database.exec("pragma user_version=99");
  database.close();
  const { code, stderr } = await at.here(["approvals"]);
  assert.equal(code, 0);
  assert.match(stderr, /written by a newer Assent \(schema 99/);
});
