import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, test } from "node:test";
import type { Ledger } from "@assent/core";
import { scriptedApprover } from "@assent/core/testing";
import { BIN } from "../../packages/cli/test/support/assent.ts";
import { withoutProgram } from "../support/programs.ts";
import { openRun, type Scene, scene, standings, type Told, written } from "./scene.ts";

/** A directory beside the workspace that nothing may reach, with a secret in it. */
function outside(at: Scene): string {
  const directory = join(at.root, "outside");
  written(join(directory, "secret"), "the secret\n");
  return directory;
}

/** What lies in a directory, with its bytes: to see that nothing changed. */
function contents(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return entry.isFile() ? `${path} ${statSync(path).mode} ${readFileSync(path, "latin1")}` : `${path} ${entry.isSymbolicLink()}`;
    })
    .toSorted();
}

function write(at: Scene, file_path: string, flags: readonly string[]): Promise<Told> {
  return at.call("write", { file_path, content: "written\n" }, flags);
}

describe("paths that lead out of the workspace", () => {
  const WAYS: readonly (readonly [name: string, path: string, make: (at: Scene, out: string) => void])[] = [
    ["a link to a directory", "link/x", (at, out) => symlinkSync(out, at.path("link"))],
    ["a link to a directory, and a new one below", "link/new/deep/x", (at, out) => symlinkSync(out, at.path("link"))],
    [
      "a link to a link",
      "first/x",
      (at, out) => {
        symlinkSync("second", at.path("first"));
        symlinkSync(out, at.path("second"));
      },
    ],
    ["a relative link", "link/x", (at) => symlinkSync("../outside", at.path("link"))],
    ["dots", "a/../../outside/x", () => undefined],
    ["dots behind a directory that is there", "src/../../outside/x", (at) => mkdirSync(at.path("src"))],
    ["its full name", "FULL", () => undefined],
    ["a link to a file that is not there yet", "dangling", (at) => symlinkSync("../outside/x", at.path("dangling"))],
    ["a directory whose name only begins like the workspace", "../workspace-evil/x", (at) => mkdirSync(join(at.root, "workspace-evil"))],
    ["/proc", "/proc/self/cwd/../outside/x", () => undefined],
  ];
  for (const [name, path, make] of WAYS) {
    test(`by ${name}: a person is asked in auto-edit and against every allow rule, the real path is shown, nothing is written`, async (t) => {
      const at = scene(t);
      const out = outside(at);
      make(at, out);
      const before = contents(out);
      const named = path === "FULL" ? join(out, "x") : path;
      at.user({ permissions: { allow: ["Edit(./**)", "Edit(src/**)", "Edit(link/**)", "Edit(/workspace/**)", "write:file_path=link/*"] } });
      for (const flags of [["--mode", "auto-edit"], []]) {
        const told = await write(at, named, [...flags, "--on-ask", "park"]);
        assert.equal(told.outcome, "waiting", `${told.type}: ${told.content}`);
        const [{ inside, real }] = at.last("approval.opened", told.sessionId).facts.paths;
        assert.ok(!inside && real.startsWith(path.startsWith("/proc") ? "/" : dirname(out)) && !real.startsWith(`${at.workspace}/`), real);
      }
      assert.deepEqual(contents(out), before);
      assert.deepEqual(at.rows("call.claimed"), []);
    });
  }

  const HARD: readonly (readonly [name: string, make: (file: string) => void])[] = [
    ["a link in a circle", (file) => symlinkSync("x", file)],
    ["a FIFO", (file) => void execFileSync("mkfifo", [file])],
    [
      "a file with a second name outside",
      (file) => {
        writeFileSync(join(dirname(file), "../outside/twin"), "old\n");
        linkSync(join(dirname(file), "../outside/twin"), file);
      },
    ],
  ];
  for (const [name, make] of HARD) {
    test(`${name}: nothing is written without a person, in auto-edit`, async (t) => {
      const at = scene(t);
      outside(at);
      make(at.path("x"));
      assert.equal((await write(at, "x", ["--mode", "auto-edit"])).type, "denied_unattended");
      assert.equal(lstatSync(at.path("x")).size < 20, true);
    });
  }

  const READS = [
    ...["link/secret", "../outside/secret", "twin", ".env", ".ENV", "sub/.env.local", ".git/config", ".netrc", "id_rsa", "a.pem"],
    ...["credentials-x.json", "secrets.yml", "/proc/self/environ", "/etc/shadow", ".ssh/known_hosts", "my.secret"],
  ];
  for (const path of READS) {
    test(`a read of ${path} asks, and not a byte of it is told, also to a shell line`, async (t) => {
      const at = scene(t);
      const out = outside(at);
      symlinkSync(out, at.path("link"));
      symlinkSync(join(out, "secret"), at.path("twin"));
      if (!path.startsWith("/") && !existsSync(at.path(path))) written(at.path(path), "the secret\n");
      at.user({ permissions: { sensitive: ["*.secret"] } });
      const told = [await at.call("read", { file_path: path }), await at.shell(`cat ${path}`), await at.shell(`grep -r secret ${path}`)];
      for (const { type, content } of told) {
        assert.equal(type, "denied_unattended");
        assert.ok(!content.includes("the secret"));
      }
      assert.deepEqual(at.rows("call.claimed"), []);
    });
  }

  test("names that no file here should have are refused or asked about", async (t) => {
    const at = scene(t);
    for (const path of ["a\nb", "\\\\server\\share\\x", "C:x", "x:stream", "a\u2028b"])
      assert.equal((await write(at, path, ["--mode", "auto-edit"])).type, "denied_unattended", JSON.stringify(path));
    assert.equal((await write(at, "a\0b", ["--mode", "yolo"])).outcome, "invalid");
    assert.deepEqual(readdirSync(at.workspace), [".git"]);
  });
});

describe("the way to an approved file changes before it is written", () => {
  const SWAPS: readonly (readonly [name: string, swap: (at: Scene, home: string) => void])[] = [
    [
      "the directory becomes a link",
      (at, home) => {
        renameSync(at.path("a/b"), at.path("old"));
        symlinkSync(home, at.path("a/b"));
      },
    ],
    [
      "the directory above becomes a link",
      (at, home) => {
        renameSync(at.path("a"), at.path("old"));
        symlinkSync(home, at.path("a"));
        mkdirSync(join(home, "b"));
      },
    ],
    ["the file becomes a link to one that is there", (at, home) => symlinkSync(join(home, "kept"), at.path("a/b/f"))],
    ["the file becomes a link to one that is not", (at, home) => symlinkSync(join(home, "new"), at.path("a/b/f"))],
    ["the file becomes a second name of one outside", (at, home) => linkSync(join(home, "kept"), at.path("a/b/f"))],
    ["the file becomes a FIFO", (at) => void execFileSync("mkfifo", [at.path("a/b/f")])],
    ["another file is put there", (at) => writeFileSync(at.path("a/b/f"), "somebody else's\n")],
  ];

  function prepare(at: Scene): { home: string; untouched: () => void } {
    mkdirSync(at.path("a/b"), { recursive: true });
    const home = join(at.root, "home");
    written(join(home, "kept"), "kept\n");
    return {
      home,
      untouched: () => {
        assert.equal(readFileSync(join(home, "kept"), "utf8"), "kept\n");
        assert.deepEqual(
          readdirSync(home, { recursive: true }).filter((name) => name !== "b"),
          ["kept"],
        );
      },
    };
  }

  for (const [name, swap] of SWAPS) {
    test(`${name} while the approved call is parked: nothing is written there`, async (t) => {
      const at = scene(t);
      const { home, untouched } = prepare(at);
      const parked = await write(at, "a/b/f", ["--on-ask", "park"]);
      assert.equal((await at.does(["approve", parked.approvalId])).code, 0);
      swap(at, home);
      const end = await at.resume(parked.sessionId);
      assert.notEqual(end.outcome, "succeeded");
      untouched();
    });

    test(`${name} after the intent is on disk: nothing is written there`, async (t) => {
      const at = scene(t);
      const { home, untouched } = prepare(at);
      let swapped = false;
      const run = await openRun(at, {
        approver: scriptedApprover({ c1: "approve" }),
        ledger: (ledger): Ledger => ({
          ...ledger,
          claim: async (...args) => {
            const claimed = await ledger.claim(...args);
            if (!swapped) swap(at, home);
            swapped = true;
            return claimed;
          },
        }),
      });
      const [end] = standings(await run.process([{ id: "c1", name: "write", arguments: { file_path: "a/b/f", content: "x" } }]));
      assert.match(end ?? "", /^failed /);
      assert.equal(swapped, true);
      untouched();
      await run.close();
    });
  }
});

/** How a call in yolo ended, where nobody can be asked. */
async function tried(
  at: Scene,
  command: string,
  flags: readonly string[] = [],
): Promise<{ outcome: string; type: string | null; source: string }> {
  const line = command.replace("WORKSPACE", at.workspace);
  const { outcome, type, sessionId } = await at.shell(line, ["--mode", "yolo", "--on-ask", "deny", ...flags]);
  return { outcome, type, source: at.last("call.judged", sessionId).source };
}

describe("Assent's own files are closed in yolo, wherever they lie", () => {
  const PLACES: readonly (readonly [name: string, env: (at: Scene) => Record<string, string>, flags: readonly string[], file: string])[] = [
    ["the user's settings in XDG_CONFIG_HOME", (at) => ({ XDG_CONFIG_HOME: at.path("conf") }), [], "conf/assent/settings.json"],
    ["the file of --policy", () => ({}), ["--policy", "rules.json"], "rules.json"],
    ["a store in the workspace", () => ({}), ["--store", "state"], "state/ledger.db"],
    ["a store of the user's state directory", (at) => ({ ASSENT_STORE: "", XDG_STATE_HOME: at.path("st") }), [], "st/assent/ledger.db"],
  ];
  for (const [name, envOf, given, file] of PLACES) {
    test(`${name}: neither written nor removed, by any spelling of the way`, async (t) => {
      const at = scene(t);
      at.write("rules.json", "{}");
      const options = { env: envOf(at), flags: ["--mode", "yolo", ...given] };
      await at.call("read", { file_path: "rules.json" }, options);
      const inode = (): number | undefined => statSync(at.path(file), { throwIfNoEntry: false })?.ino;
      const before = inode();
      symlinkSync(dirname(at.path(file)), at.path("way"));
      const ways = [file, at.path(file), `./x/../${file}`, `way/${basename(file)}`];
      const told = await Promise.all(ways.map((path) => at.call("write", { file_path: path, content: "x" }, options)));
      const lines = [
        `echo x > ${ways[0]}`,
        `rm -f ${ways[1]}`,
        `sed -i s/a/b/ ${ways[2]}`,
        `cp rules.json ${ways[3]}`,
        `rm -rf ${dirname(file)}/`,
      ];
      for (const line of lines.slice(0, file.includes("/") ? 5 : 4)) told.push(await at.shell(line, options));
      assert.deepEqual(new Set(told.map(({ type }) => type)), new Set(["denied_by_guard"]));
      assert.equal(inode(), before);
    });
  }

  test("the team's settings are closed; nothing is run to see it", async (t) => {
    const at = scene(t);
    const lines = [
      "echo x > /etc/assent/settings.json",
      "rm -rf /etc/assent",
      "cp a /etc/Assent/settings.json",
      "tee /etc/./assent/settings.json",
    ];
    const batch = lines.map((command, id) => JSON.stringify({ id: String(id), tool: "shell", input: { command } })).join("\n");
    const { stdout } = await at.does(["explain", "--mode", "yolo", "--batch", "-"], { input: batch });
    const verdicts = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).verdict);
    assert.deepEqual(verdicts, ["deny", "deny", "deny", "deny"]);
  });

  const ABOVE = [
    ...["cp -r evil/assent ../.config/", "cp -r evil/assent ../.config", "mv evil/assent ../.config/", "rm -rf ../.config"],
    ...["mv ../.config ../gone", "ln -sfn WORKSPACE/evil/assent ../.config/assent", "mv -T evil ../.config", "rsync -a evil/ ../.config/"],
    ...["cp -r evil/. ../.config", "mv .assent gone", "mv evil .assent", "ln -sfn evil .assent", "rm -r .assent", "mv ../store ../gone"],
  ];
  for (const line of ABOVE) {
    test(`the directories above are closed as well: ${line}`, async (t) => {
      const at = scene(t);
      written(at.path("evil/assent/settings.json"), `{"mode":"yolo"}`);
      at.user({ permissions: { deny: ["Shell(curl)"] } });
      at.project({ permissions: { deny: ["Shell(wget)"] } });
      await at.call("read", { file_path: "evil" });
      const before = [...contents(join(at.root, ".config")), ...contents(at.path(".assent"))];
      assert.equal((await tried(at, line)).outcome, "denied");
      assert.deepEqual([...contents(join(at.root, ".config")), ...contents(at.path(".assent"))], before);
      assert.ok(existsSync(join(at.store, "ledger.db")));
    });
  }

  const LINKED = [
    "ln -sfn WORKSPACE/evil ../.config",
    "rm ../.config",
    "unlink ../.config",
    "mv ../.config ../gone",
    "mv ../dotfiles ../gone",
  ];
  for (const line of LINKED) {
    test(`where the user's directory is itself a link, the link is closed too: ${line}`, async (t) => {
      const at = scene(t);
      written(at.path("evil/assent/settings.json"), `{"mode":"yolo"}`);
      at.user({ permissions: { deny: ["Shell(curl)"] } });
      renameSync(join(at.root, ".config"), join(at.root, "dotfiles"));
      symlinkSync("dotfiles", join(at.root, ".config"));
      assert.equal((await at.shell("curl -s x", ["--mode", "yolo"])).type, "denied_by_rule");
      assert.equal((await tried(at, line)).outcome, "denied");
      assert.equal((await at.shell("curl -s x", ["--mode", "yolo"])).type, "denied_by_rule", "the deny still stands");
    });
  }

  test("where the user has no such directory yet, none is brought in", async (t) => {
    const at = scene(t);
    written(at.path("evil/assent/settings.json"), `{"mode":"yolo"}`);
    for (const line of [
      "ln -s WORKSPACE/evil ../.config",
      "cp -r evil ../.config",
      "mv evil ../.config",
      "mkdir -p ../.config && cp -r evil/assent ../.config",
    ])
      assert.equal((await tried(at, line)).outcome, "denied", line);
    assert.ok(!existsSync(join(at.root, ".config/assent")));
  });

  const ELSEWHERE = [
    ...["mv .assent{,2}", "mv {.assent,x}", "cp {x,.assent/settings.json}", "mv .*", "mv $(echo .assent x)", "X='.assent x'; mv $X"],
    ...["echo .assent x | xargs mv", "cp -r $(echo evil .assent)"],
    ...["env -C .assent tee settings.json", "env --chdir=.assent tee settings.json", "nice env -C .assent rm settings.json"],
    ...[
      "cd .assent && tee settings.json",
      "(cd .assent; rm settings.json)",
      "sh -c 'cd .assent; rm settings.json'",
      "pushd .assent; rm settings.json",
    ],
    ...[
      "d=.assent; rm $d/settings.json",
      "rm .assen?/settings.json",
      "echo .assent/settings.json | xargs rm",
      "find . -name settings.json -delete",
    ],
  ];
  for (const line of ELSEWHERE) {
    test(`from another directory, or by a name that only a shell can tell, nothing runs unasked: ${line}`, async (t) => {
      const at = scene(t);
      at.project({ permissions: { deny: ["Shell(curl)"] } });
      assert.equal((await tried(at, line)).outcome, "denied");
      assert.match(readFileSync(at.path(".assent/settings.json"), "utf8"), /curl/);
    });
  }

  test("what an input names as its directory counts", async (t) => {
    const at = scene(t);
    at.project({ permissions: { deny: ["Shell(curl)"] } });
    symlinkSync(".assent", at.path("link"));
    for (const cwd of [".assent", "link", at.path(".assent"), "./x/../.assent"]) {
      const { type } = await at.call("shell", { command: "rm settings.json", cwd }, ["--mode", "yolo"]);
      assert.equal(type, "denied_by_guard", cwd);
    }
    assert.ok(existsSync(at.path(".assent/settings.json")));
  });

  test("the place for plans is open", async (t) => {
    const at = scene(t);
    assert.equal((await write(at, ".assent/plans/a.md", ["--mode", "yolo"])).outcome, "succeeded");
    assert.equal((await write(at, ".assent/plans/../settings.json", ["--mode", "yolo"])).type, "denied_by_guard");
    rmSync(at.path(".assent/plans"), { recursive: true });
    symlinkSync(".", at.path(".assent/plans"));
    assert.equal((await write(at, ".assent/plans/settings.json", ["--mode", "yolo"])).type, "denied_by_guard");
  });
});

describe("control files ask in yolo, with their badge", () => {
  const LINES = [
    ...["cp x/.mcp.json .", "mv x/.mcp.json .", "ln -s x/.mcp.json .", "ln -s x/.mcp.json", "install x/.mcp.json .", "cp -t . x/.mcp.json"],
    ...["cp -r x/hooks .git/", "mv x/hooks .git", "ln -sfn ../x/hooks .git/hooks", "cp x/.bashrc ~", "cp x/.bashrc ..", "cp -r x/. ."],
    ...[
      "echo x > .envrc",
      "tee -a .npmrc < x/a",
      "sed -i s/a/b/ .gitattributes",
      "touch sub/AGENTS.md",
      "mkdir -p .github/workflows && cp x/a .github/workflows",
    ],
    ...["git config core.fsmonitor ./x", "dd if=x/a of=.husky/pre-push", "env -C .git/hooks tee pre-push", "echo x > .VSCODE/Tasks.json"],
  ];
  for (const line of LINES) {
    test(`${line} asks`, async (t) => {
      const at = scene(t);
      written(at.path("x/.mcp.json"), "{}");
      for (const name of ["a", ".bashrc", "hooks/pre-push"]) written(at.path(`x/${name}`), "echo evil\n");
      for (const name of ["sub", ".husky", ".VSCODE", ".git/hooks"]) mkdirSync(at.path(name));
      const before = contents(at.workspace);
      const told = await at.shell(line, ["--mode", "yolo", "--on-ask", "park"]);
      assert.equal(told.outcome, "waiting", `${told.type}`);
      assert.equal(at.last("call.judged", told.sessionId).explicitAsk, true);
      assert.deepEqual(contents(at.workspace), before);
    });
  }

  test("whoever is asked for a write sees that it is a control file", async (t) => {
    const at = scene(t);
    for (const path of [".git/hooks/pre-push", ".mcp.json", "../.bashrc", ".github/workflows/x.yml", "CLAUDE.md"]) {
      const told = await write(at, path, ["--mode", "yolo", "--on-ask", "park"]);
      assert.equal(told.outcome, "waiting", path);
      const { facts, details, source } = at.last("approval.opened", told.sessionId);
      assert.deepEqual([source, facts.paths[0].control], ["control-file", true]);
      assert.match(details.warnings.join(), /control file/);
    }
  });
});

describe("the same names in other letters", () => {
  const NAMES: readonly (readonly [path: string, type: string])[] = [
    [".ASSENT/SETTINGS.JSON", "denied_by_guard"],
    [".assent./settings.json", "denied_by_guard"],
    [".assent /settings.json", "denied_by_guard"],
    [".a\u017f\u017fent/settings.json", "denied_by_guard"],
    [".Git/Hooks/Pre-Push", "denied_unattended"],
    [".git./config", "denied_unattended"],
    [".Mcp.Json", "denied_unattended"],
    ["agents.MD", "denied_unattended"],
    [".EnvRC", "denied_unattended"],
    ["../.BASHRC", "denied_unattended"],
    [".hu\u017fky/pre-push", "denied_unattended"],
  ];
  for (const [path, type] of NAMES) {
    test(`${JSON.stringify(path)} is the protected file, to the write tool and to a shell line in yolo`, async (t) => {
      const at = scene(t);
      assert.equal((await write(at, path, ["--mode", "yolo"])).type, type);
      const { outcome } = await tried(at, `echo x > '${path}'`);
      assert.equal(outcome, "denied");
      assert.ok(!existsSync(at.path(path)));
    });
  }

  for (const rule of ["Read(.env)", "Read(secret.txt)", "Read(caf\u00e9)"]) {
    test(`a deny ${rule} holds for every spelling of the name`, async (t) => {
      const at = scene(t);
      const [, name = ""] = /\((.*)\)/.exec(rule) ?? [];
      at.user({ permissions: { deny: [rule] } });
      for (const spelled of [name, name.toUpperCase(), `./a/../${name}`, `${name}.`, `${name} `, name.normalize("NFD"), `sub//./${name}`])
        assert.equal((await at.call("read", { file_path: spelled }, ["--mode", "yolo"])).type, "denied_by_rule", JSON.stringify(spelled));
      symlinkSync(name, at.path("link"));
      writeFileSync(at.path(name), "the secret\n");
      const { type, content } = await at.call("read", { file_path: "link" }, ["--mode", "yolo"]);
      assert.equal(type, "denied_by_rule", content);
    });
  }
});

describe("files that Assent makes for itself", { skip: withoutProgram("strace") }, () => {
  type Made = { readonly call: string; readonly path: string; readonly line: string };

  /** What a command made, seen by the system. */
  function madeBy(at: Scene, argv: readonly string[]): readonly Made[] {
    const seen = join(at.root, "calls");
    const traced = ["-f", "-qq", "-e", "trace=openat,open,creat,mkdir,mkdirat,mknod,mknodat,symlink,symlinkat", "-o", seen];
    const temporary = join(at.root, "tmp");
    mkdirSync(temporary, { recursive: true });
    const ran = spawnSync("strace", [...traced, process.execPath, BIN, ...argv], {
      cwd: at.workspace,
      env: { ...at.env, NODE_COMPILE_CACHE: "", TMPDIR: temporary },
      encoding: "utf8",
    });
    assert.equal(ran.status, 0, ran.stderr);
    const lines = readFileSync(seen, "utf8").split("\n");
    return lines
      .filter((line) => /O_CREAT|mkdir|mknod|symlink\w*\(|creat\(/.test(line) && !line.includes(" = -1 "))
      .map((line) => ({ line, call: /\d+ +(\w+)\(/.exec(line)?.[1] ?? "", path: /"([^"]*)"/.exec(line)?.[1] ?? "" }));
  }

  const COMMANDS: readonly (readonly [name: string, argv: readonly string[]])[] = [
    ["a written file", ["call", "write", "--input", '{"file_path":"n.txt","content":"x"}', "--mode", "yolo"]],
    ["another written file", ["call", "write", "--input", '{"file_path":"sub/m.txt","content":"y"}', "--mode", "yolo"]],
    ["an allowed pipeline", ["call", "shell", "--input", '{"command":"ls | cat; pwd"}']],
    ["a text for bash", ["call", "shell", "--input", '{"command":"echo $HOME"}', "--mode", "yolo"]],
  ];
  const names: string[] = [];
  for (const [name, argv] of COMMANDS) {
    test(`${name}: everything made on the way is new, has a name nobody can guess, and is the user's alone`, (t) => {
      const at = scene(t);
      const own = (made: readonly Made[]): readonly Made[] => made.filter(({ path }) => !path.startsWith(at.store));
      const made = own(madeBy(at, argv));
      const files = made.filter(({ call }) => !call.startsWith("mkdir"));
      assert.ok(files.length > 0, "there is something to look at");
      for (const { line, call } of files) {
        assert.ok(call.startsWith("mknod") ? line.includes("|0600") : /O_EXCL.*O_NOFOLLOW.*0600/.test(line), line);
        names.push(/assent-([0-9a-f]{24,}|p_[a-z2-7]{20}-d?\d+)/.exec(line)?.[1] ?? assert.fail(line));
      }
      assert.equal(new Set(names).size, names.length, "no name comes twice");
      assert.deepEqual(readdirSync(join(at.root, "tmp")), []);
    });
  }

  test("what is promoted into a settings file goes through new files of the user alone", async (t) => {
    const at = scene(t);
    const file = at.user({});
    const { approvalId, sessionId } = await at.shell("effect x", ["--on-ask", "park"]);
    await at.does(["approve", approvalId, "--remember", "user", "--pattern", "Shell(effect *)"]);
    await at.resume(sessionId);
    const [grant] = JSON.parse((await at.does(["grants", "--json"])).stdout);
    const made = madeBy(at, ["grants", "promote", grant.id, "--to", "user"]).filter(({ path }) => path.startsWith(dirname(file)));
    assert.ok(made.length > 0);
    for (const { line } of made) assert.match(line, /O_EXCL.*0600/);
    assert.match(readFileSync(file, "utf8"), /Shell\(effect \*\)/);
  });

  test("the store is the user's alone, and a link in its place is not followed", async (t) => {
    const at = scene(t);
    await at.call("read", { file_path: "none" });
    assert.equal(statSync(at.store).mode & 0o777, 0o700);
    for (const name of readdirSync(at.store)) assert.equal(statSync(join(at.store, name)).mode & 0o077, 0, name);
    const victim = written(join(at.root, "victim"), "kept\n");
    for (const name of ["ledger.db", "ledger.db-wal", "ledger.db-shm"]) {
      const store = join(at.root, `store-${name}`);
      mkdirSync(store, { mode: 0o700 });
      symlinkSync(victim, join(store, name));
      await at.call("read", { file_path: "none" }, ["--store", store]);
      assert.equal(readFileSync(victim, "utf8"), "kept\n", name);
    }
  });
});
