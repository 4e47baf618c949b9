import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import type { ProcessEnd } from "@assent/core";
import { hardenGit } from "../../src/git/hardened-git.ts";
import { createGitOverrides, GitRefusal } from "../../src/git/overrides.ts";
import { createHostProcesses } from "../../src/processes/processes.ts";
import { scrubEnvironment } from "../../src/system/environment.ts";
import { scratch } from "../scratch.ts";

const file = ["/usr/local/bin/git", "/usr/bin/git", "/bin/git"].find(existsSync) ?? "/usr/bin/git";
const processes = createHostProcesses();
const signal = new AbortController().signal;

/** A repository, the user's home, and a program that leaves a mark when it runs. */
type Place = {
  readonly root: string;
  readonly repo: string;
  readonly canary: string;
  readonly env: Readonly<Record<string, string>>;
  readonly git: (...args: readonly string[]) => string;
  readonly within: (directory: string) => Place;
  readonly ran: () => boolean;
};

/** A copy of the repository of `build`. */
function place(t: TestContext): Place {
  return copied(t, "plain");
}

function copied(t: TestContext, template: "plain" | "nested"): Place {
  const root = scratch(t);
  const made = at(root, join(root, "repo"));
  writeFileSync(made.canary, `#!/bin/sh\necho ran >>${root}/mark\nexit 0\n`);
  chmodSync(made.canary, 0o755);
  cpSync(join(templates, "home"), join(root, "home"), { recursive: true });
  cpSync(join(templates, template), made.repo, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  return made;
}

let templates = "";
before(() => {
  templates = realpathSync(mkdtempSync(join(tmpdir(), "assent-test-")));
  mkdirSync(join(templates, "home"));
  writeFileSync(join(templates, "home/.gitconfig"), "[user]\n\tname = n\n\temail = n@example.test\n[init]\n\tdefaultBranch = main\n");
  const made = at(templates, join(templates, "plain"));
  mkdirSync(made.repo);
  build(made);
  addSubmodules(made);
});
after(() => rmSync(templates, { recursive: true, force: true }));

function at(root: string, repo: string): Place {
  const env = scrubEnvironment({ HOME: join(root, "home") }, { path: ["/usr/local/bin", "/usr/bin", "/bin"] });
  const date = { GIT_AUTHOR_DATE: "1700000000 +0000", GIT_COMMITTER_DATE: "1700000000 +0000" };
  const git = (...args: readonly string[]): string =>
    execFileSync(file, args, { cwd: repo, env: { ...env, ...date }, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
  const within = (directory: string): Place => at(root, join(root, directory));
  return { root, repo, canary: join(root, "canary"), env, git, within, ran: () => existsSync(join(root, "mark")) };
}

/** Two commits, a merge, a signed commit of each kind, a stash; `g.bin` has a diff driver, a filter and a merge driver, none of them configured. */
function build({ repo, git }: Place): void {
  git("init", "-q", "--template=");
  writeFileSync(join(repo, ".gitattributes"), "*.bin diff=x filter=y merge=m\n");
  writeFileSync(join(repo, "f.txt"), "a\n");
  writeFileSync(join(repo, "g.bin"), "b\n");
  git("add", "-A");
  git("commit", "-qm", "one");
  git("checkout", "-qb", "side");
  writeFileSync(join(repo, "g.bin"), "b\nside\n");
  git("commit", "-qam", "side");
  git("checkout", "-q", "main");
  writeFileSync(join(repo, "g.bin"), "main\nb\n");
  git("commit", "-qam", "two");
  git("merge", "-q", "side", "-m", "merged", "-X", "ours");
  const person = "n <n@example.test> 1700000000 +0000";
  for (const kind of ["PGP", "SSH"]) {
    const signature = `gpgsig -----BEGIN ${kind} SIGNATURE-----\n U1NI\n -----END ${kind} SIGNATURE-----`;
    const text = `tree ${git("write-tree")}\nauthor ${person}\ncommitter ${person}\n${signature}\n\nsigned\n`;
    writeFileSync(join(repo, ".git/signed"), text);
    git("update-ref", `refs/heads/${kind}`, git("hash-object", "-t", "commit", "-w", ".git/signed"));
  }
  writeFileSync(join(repo, "g.bin"), "stashed\n");
  git("stash", "-q");
  const committed = readFileSync(join(repo, "g.bin"), "utf8");
  writeFileSync(join(repo, "g.bin"), committed.replace("b", "c")); // of the same size: git has to look into it to see the change
}

/** Git looks into a file again when it is not as old as the index says. */
function touched({ repo }: Place, ...names: readonly string[]): void {
  for (const name of names) if (existsSync(join(repo, name))) utimesSync(join(repo, name), 1, Math.random() * 1e9);
}

async function hardened({ repo, env }: Place, args: readonly string[]): Promise<ProcessEnd> {
  const safe = await hardenGit({ processes, file, args, cwd: repo, env }, signal);
  return await processes.run({ file, args: safe, cwd: repo, env }, signal);
}

async function plain({ repo, env }: Place, args: readonly string[]): Promise<ProcessEnd> {
  return await processes.run({ file, args, cwd: repo, env }, signal);
}

/** The same with a submodule of the same kind in `sub`, and one in `sub/sub`. */
function addSubmodules({ root, repo, within }: Place): void {
  cpSync(repo, join(root, "inner"), { recursive: true });
  for (const [into, from] of [
    ["inner", "plain"],
    ["nested", "inner"],
  ] as const) {
    if (into === "nested") cpSync(repo, join(root, into), { recursive: true });
    const { git } = within(into);
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", join(root, from), "sub");
    git("commit", "-qm", "with a submodule", "sub", ".gitmodules");
  }
  within("nested").git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", "--recursive");
}

/** Objects that are not here are fetched from `url`. */
function makePartial({ git }: Place, url: string): void {
  git("config", "core.repositoryformatversion", "1");
  git("config", "extensions.partialClone", "o");
  git("config", "remote.o.promisor", "true");
  git("config", "remote.o.url", url);
}

type Vector = readonly [name: string, prepare: (made: Place) => void, args: readonly string[]];

const textconv = ({ git, canary }: Place): string => git("config", "diff.x.textconv", canary);
const clean = ({ git, canary }: Place): string => git("config", "filter.y.clean", canary);
const driver = ({ git, canary }: Place): string => git("config", "merge.m.driver", canary);
const ABSENT = "1234567890123456789012345678901234567890";

/** In every row plain git runs the canary, which shows that the trap works, and hardened git does not. */
const VECTORS: readonly Vector[] = [
  ["core.fsmonitor", ({ git, canary }) => git("config", "core.fsmonitor", canary), ["status"]],
  ["core.fsmonitor", ({ git, canary }) => git("config", "core.fsmonitor", canary), ["diff"]],
  ["diff.external", ({ git, canary }) => git("config", "diff.external", canary), ["diff"]],
  ["a diff driver's command", ({ git, canary }) => git("config", "diff.x.command", canary), ["diff", "--stat", "-p", "HEAD"]],
  ...[["diff"], ["log", "-p"], ["log", "-S", "side"], ["show", "main~1"], ["blame", "g.bin"], ["stash", "list", "-p"]].map(
    (args): Vector => ["a textconv", textconv, args],
  ),
  ["a textconv", textconv, ["reflog", "show", "-p"]],
  [
    "a textconv",
    (made) => {
      made.git("add", "-A");
      textconv(made);
    },
    ["status", "-v"],
  ],
  ...[["status"], ["diff"], ["blame", "g.bin"], ["ls-files", "-m"], ["describe", "--always", "--dirty"], ["--no-pager", "status"]].map(
    (args): Vector => ["a clean filter", clean, args],
  ),
  [
    "a required clean filter",
    (made) => {
      clean(made);
      made.git("config", "filter.y.required", "true");
    },
    ["status"],
  ],
  ["a filter process", ({ git, canary }) => git("config", "filter.y.process", canary), ["diff"]],
  [
    "a filter in an included file",
    ({ git, canary, repo }) => {
      writeFileSync(join(repo, ".git/more"), `[filter "y"]\n\tclean = ${canary}\n`);
      git("config", "include.path", "more");
    },
    ["status"],
  ],
  [
    "a filter included for this branch",
    ({ git, canary, repo }) => {
      writeFileSync(join(repo, ".git/more"), `[filter "y"]\n\tclean = ${canary}\n`);
      git("config", "includeIf.onbranch:main.path", "more");
    },
    ["status"],
  ],
  [
    "a filter of this work tree alone",
    ({ git, canary }) => {
      git("config", "extensions.worktreeConfig", "true");
      git("config", "--worktree", "filter.y.clean", canary);
    },
    ["status"],
  ],
  [
    "a filter with dots in its name, by the repository's own attributes",
    ({ git, canary, repo }) => {
      mkdirSync(join(repo, ".git/info"), { recursive: true });
      writeFileSync(join(repo, ".git/info/attributes"), "*.bin filter=a.b-C.clean\n");
      git("config", "filter.a.b-C.clean.clean", canary);
    },
    ["status"],
  ],
  [
    "a filter of the user's",
    ({ root, canary }) => appendFileSync(join(root, "home/.gitconfig"), `[filter "y"]\n\tclean = ${canary}\n`),
    ["status"],
  ],
  [
    "log.showSignature with gpg.program",
    ({ git, canary }) => {
      git("config", "log.showSignature", "true");
      git("config", "gpg.program", canary);
    },
    ["log", "PGP"],
  ],
  [
    "a configured format that asks for the signature",
    ({ git, canary }) => {
      git("config", "format.pretty", "%H %GG");
      git("config", "gpg.program", canary);
    },
    ["log", "-1", "PGP"],
  ],
  [
    "a format of the repository's that asks for the signature",
    ({ git, canary }) => {
      git("config", "pretty.mine", "%H %G?");
      git("config", "gpg.openpgp.program", canary);
    },
    ["show", "--format=mine", "PGP"],
  ],
  [
    "an ssh signature",
    ({ git, canary }) => {
      git("config", "log.showSignature", "true");
      git("config", "gpg.ssh.program", canary);
      git("config", "gpg.ssh.allowedSignersFile", "/dev/null");
    },
    ["show", "SSH"],
  ],
  [
    "a merge driver, when merges are made again to be shown",
    (made) => {
      driver(made);
      made.git("config", "log.diffMerges", "remerge");
    },
    ["log", "-m", "-p"],
  ],
  ["a merge driver", driver, ["log", "-p", "--remerge-diff"]],
  [
    "core.alternateRefsCommand",
    ({ git, canary, root, repo }) => {
      git("clone", "-q", "--bare", ".", join(root, "alternate"));
      writeFileSync(join(repo, ".git/objects/info/alternates"), `${root}/alternate/objects\n`);
      git("config", "core.alternateRefsCommand", canary);
    },
    ["rev-list", "--alternate-refs"],
  ],
  [
    "a missing object of a partial clone: remote.uploadpack",
    (made) => {
      makePartial(made, made.root);
      made.git("config", "remote.o.uploadpack", made.canary);
    },
    ["show", ABSENT],
  ],
  [
    "a missing object: an address that is a command",
    (made) => {
      makePartial(made, `ext::${made.canary}`);
      made.git("config", "protocol.ext.allow", "always");
    },
    ["cat-file", "-p", ABSENT],
  ],
  [
    "a missing object: core.sshCommand",
    (made) => {
      makePartial(made, "ssh://nowhere.test/x");
      made.git("config", "protocol.ssh.allow", "always");
      made.git("config", "core.sshCommand", made.canary);
    },
    ["log", ABSENT],
  ],
  ...[["status"], ["diff"], ["add", "-u"], ["add", "-A"], ["add", "."]].map(
    (args): Vector => [
      "a clean filter of a submodule",
      (made) => {
        clean(made.within("repo/sub"));
        made.git("config", "submodule.sub.ignore", "none");
      },
      args,
    ],
  ),
  [
    "a clean filter of a submodule",
    (made) => {
      clean(made.within("repo/sub"));
      made.git("checkout", "-q", "g.bin"); // one change is enough to be dirty, so there must be none before the submodule
    },
    ["describe", "--always", "--dirty"],
  ],
  ["a clean filter of a submodule's submodule", (made) => clean(made.within("repo/sub/sub")), ["add", "-u"]],
  ["core.fsmonitor of a submodule", ({ within, canary }) => within("repo/sub").git("config", "core.fsmonitor", canary), ["add", "-u"]],
  [
    "the differences of a submodule",
    ({ within, git, canary }) => {
      within("repo/sub").git("config", "diff.external", canary);
      git("config", "diff.submodule", "diff");
    },
    ["log", "-p"],
  ],
  [
    "a hook after the index changed",
    ({ repo, canary }) => {
      mkdirSync(join(repo, ".git/hooks"), { recursive: true });
      cpSync(canary, join(repo, ".git/hooks/post-index-change"));
    },
    ["add", "-A"],
  ],
  [
    "fetch: remote.uploadpack",
    ({ git, canary, repo }) => {
      git("config", "remote.origin.url", repo);
      git("config", "remote.origin.uploadpack", canary);
    },
    ["fetch"],
  ],
  [
    "fetch: an address that is a command",
    ({ git, canary }) => {
      git("config", "remote.origin.url", `ext::${canary}`);
      git("config", "protocol.ext.allow", "always");
    },
    ["fetch", "origin"],
  ],
  [
    "fetch: an address rewritten to a command",
    ({ git, canary }) => {
      git("config", "remote.origin.url", "https://nowhere.test/");
      git("config", `url.ext::${canary} .insteadOf`, "https://nowhere.test/");
      git("config", "protocol.ext.allow", "always");
    },
    ["fetch", "origin"],
  ],
  [
    "fetch: core.sshCommand",
    ({ git, canary }) => {
      git("config", "remote.origin.url", "ssh://127.0.0.1:1/x");
      git("config", "core.sshCommand", canary);
    },
    ["fetch"],
  ],
  [
    "fetch: core.gitProxy",
    ({ git, canary }) => {
      git("config", "remote.origin.url", "git://127.0.0.1:1/x");
      git("config", "core.gitProxy", canary);
    },
    ["fetch"],
  ],
  [
    "fetch: a hook on references",
    ({ git, root, repo, canary }) => {
      git("clone", "-q", "--bare", ".", join(root, "other"));
      git("remote", "add", "origin", join(root, "other"));
      mkdirSync(join(repo, ".git/hooks"), { recursive: true });
      cpSync(canary, join(repo, ".git/hooks/reference-transaction"));
    },
    ["fetch"],
  ],
  [
    "fetch: a submodule's remote",
    ({ git, within, root, canary }) => {
      git("clone", "-q", "--bare", ".", join(root, "other"));
      git("config", "remote.origin.url", join(root, "other"));
      git("config", "fetch.recurseSubmodules", "true");
      git("config", "protocol.file.allow", "always");
      within("repo/sub").git("config", "remote.origin.uploadpack", canary);
    },
    ["fetch"],
  ],
  [
    "fetch: core.alternateRefsCommand",
    ({ git, canary, root, repo }) => {
      git("clone", "-q", "--bare", ".", join(root, "alternate"));
      writeFileSync(join(repo, ".git/objects/info/alternates"), `${root}/alternate/objects\n`);
      git("config", "remote.origin.url", join(root, "alternate"));
      git("config", "core.alternateRefsCommand", canary);
    },
    ["fetch"],
  ],
];
for (const [name, prepare, args] of VECTORS) {
  test(`${name}: git ${args.join(" ")} does not run it`, async (t) => {
    const made = copied(t, name.includes("submodule") ? "nested" : "plain");
    prepare(made);
    rmSync(join(made.root, "mark"), { force: true });
    touched(made, "g.bin", "sub/g.bin", "sub/sub/g.bin");
    const refusal = await hardened(made, args).then(
      () => undefined,
      (error: unknown) => error,
    );
    assert.equal(made.ran(), false, "hardened git ran the canary");
    assert.equal(refusal instanceof GitRefusal, name === "fetch: remote.uploadpack", String(refusal));
    rmSync(join(made.repo, ".git/refs/remotes"), { recursive: true, force: true }); // so that there is something to fetch again
    touched(made, "g.bin", "sub/g.bin", "sub/sub/g.bin");
    await plain(made, args);
    assert.equal(made.ran(), true, "plain git did not run the canary: the row proves nothing");
  });
}

/** Nothing is configured that git would have to be kept from: the output is git's own. */
const SAME: readonly (readonly string[])[] = [
  ["status"],
  ["status", "--short", "--branch"],
  ["status", "-v"],
  ["diff"],
  ["diff", "--stat", "HEAD~1", "--", "g.bin"],
  ["log", "--oneline", "--graph", "--all"],
  ["log", "-p", "-m", "-2"],
  ["log", "-1", "--format=%(trailers)%s"],
  ["show", "HEAD"],
  ["show", "HEAD:f.txt"],
  ["stash", "show"],
  ["stash", "show", "-p"],
  ["stash", "list"],
  ["reflog", "show", "main"],
  ["blame", "g.bin"],
  ["branch", "-a", "-v"],
  ["tag", "-l"],
  ["remote", "-v"],
  ["rev-parse", "--show-toplevel"],
  ["describe", "--always", "--dirty"],
  ["ls-files", "-s"],
  ["ls-tree", "HEAD"],
  ["cat-file", "-p", "HEAD"],
  ["merge-base", "main", "side"],
  ["rev-list", "--count", "HEAD"],
  ["shortlog", "-s", "HEAD"],
  ["worktree", "list"],
  ["config", "--get", "user.name"],
  ["config", "--list"],
  ["--no-pager", "--no-optional-locks", "log", "-1"],
  ["--version"],
  ["diff", "--exit-code"],
  ["show", "nonexistent"],
];
test("where there is nothing to keep it from, hardened git says what git says", async (t) => {
  const made = place(t);
  for (const args of SAME) {
    const [expected, found] = [await plain(made, ["--no-pager", ...args]), await hardened(made, args)];
    assert.deepEqual([timeless(found.output), found.exitCode], [timeless(expected.output), expected.exitCode], args.join(" "));
  }
});

/** What is not committed yet is shown with the time of the look. */
function timeless(output: string): string {
  return output.replaceAll(/(?<=Not Committed Yet )[\d: +-]+/g, "");
}

test("a submodule's new commit is still shown, its changed files are not looked at", async (t) => {
  const made = copied(t, "nested");
  const sub = made.within("repo/sub");
  writeFileSync(join(sub.repo, "f.txt"), "changed\n");
  assert.equal((await hardened(made, ["status", "--short"])).output, " M g.bin\n");
  sub.git("commit", "-qam", "further");
  assert.equal((await hardened(made, ["status", "--short"])).output, " M g.bin\n M sub\n");
  assert.match((await hardened(made, ["diff", "sub"])).output, /^\+Subproject commit/m);
});

test("a program that the repository names for fetching is a refusal", async (t) => {
  const made = place(t);
  made.git("config", "remote.origin.url", made.repo);
  made.git("config", "remote.other.uploadpack", made.canary);
  await assert.rejects(hardened(made, ["fetch", "--all"]), /remote\.other\.uploadpack/);
  assert.equal((await hardened(made, ["log", "-1"])).exitCode, 0);
});

const REFUSED: readonly (readonly [name: string, prepare: (made: Place) => void, args: readonly string[], message: RegExp])[] = [
  [
    "a filter whose name holds =",
    ({ git, canary, repo }) => {
      writeFileSync(join(repo, ".gitattributes"), "*.bin filter=a=b\n");
      git("config", "filter.a=b.clean", canary);
    },
    ["status"],
    /filter with a name that cannot be overridden/,
  ],
  [
    "a filter whose name is no text",
    ({ canary, repo }) => {
      writeFileSync(join(repo, ".gitattributes"), Buffer.from([...Buffer.from("*.bin filter="), 0xff, 0x0a]));
      appendFileSync(
        join(repo, ".git/config"),
        Buffer.concat([Buffer.from('[filter "'), Buffer.from([0xff]), Buffer.from(`"]\n\tclean = ${canary}\n`)]),
      );
    },
    ["status"],
    /filter with a name that cannot be overridden/,
  ],
  ["a configuration that does not parse", ({ repo }) => appendFileSync(join(repo, ".git/config"), "[broken\n"), ["status"], /bad config/],
  ["files said to be elsewhere", ({ git, root }) => git("config", "core.worktree", root), ["status"], /another directory/],
  ["a global option that is not known", () => undefined, ["-C", "/", "status"], /option -C is not known/],
  ["a global option with a value", () => undefined, ["-c", "core.fsmonitor=x", "status"], /option -c is not known/],
];
for (const [name, prepare, args, message] of REFUSED) {
  test(`${name}: git does not run at all`, async (t) => {
    const made = place(t);
    prepare(made);
    touched(made, "g.bin");
    await assert.rejects(hardened(made, args), (error: unknown) => error instanceof GitRefusal && message.test(error.message));
    assert.equal(made.ran(), false);
  });
}

test("git does not treat a bare repository inside the workspace as one", async (t) => {
  const made = place(t);
  made.git("clone", "-q", "--bare", ".", join(made.repo, "vendor"));
  const end = await hardened(made.within("repo/vendor"), ["log", "-1"]);
  assert.deepEqual([end.exitCode, /bareRepository/.test(end.output)], [128, true]);
});

const ADDING: readonly (readonly [name: string, args: readonly string[], refused: boolean])[] = [
  ["a file that has to pass a filter", ["add", "g.bin"], true],
  ["everything", ["add", "-A"], true],
  ["everything by its directory", ["add", "."], true],
  ["after --", ["add", "--", "g.bin"], true],
  ["a new file that has to pass a filter", ["add", "new.bin"], true],
  ["a strange pathspec", ["add", ":(top)f.txt"], true],
  ["a file without a filter", ["add", "-v", "f.txt"], false],
  ["a directory without filtered files", ["add", "dir"], false],
];
for (const [name, args, refused] of ADDING) {
  test(`git add, ${name}: ${refused ? "refused, for without its filter it would be another content" : "added"}`, async (t) => {
    const made = place(t);
    clean(made);
    mkdirSync(join(made.repo, "dir"));
    for (const path of ["f.txt", "new.bin", "dir/x"]) writeFileSync(join(made.repo, path), "new\n");
    if (refused) await assert.rejects(hardened(made, args), GitRefusal);
    else assert.equal((await hardened(made, args)).exitCode, 0);
    assert.equal(made.ran(), false);
    assert.equal(made.git("-c", "filter.y.clean=", "diff", "--cached", "--name-only") !== "", !refused);
  });
}

test("git add where no filter is configured adds, as git does", async (t) => {
  const made = place(t);
  assert.deepEqual([(await hardened(made, ["add", "-A"])).exitCode, made.git("diff", "--cached", "--name-only")], [0, "g.bin"]);
});

test("fetch brings what is there", async (t) => {
  const made = place(t);
  made.git("clone", "-q", "--bare", ".", join(made.root, "other"));
  made.git("remote", "add", "origin", join(made.root, "other"));
  const end = await hardened(made, ["fetch", "--prune", "origin"]);
  assert.equal(end.exitCode, 0, end.output);
  assert.equal(made.git("rev-parse", "origin/side"), made.git("rev-parse", "side"));
});

/** A server that wants a name and a password. */
async function guarded(t: TestContext): Promise<string> {
  const server = createServer((_, response) => response.writeHead(401, { "WWW-Authenticate": 'Basic realm="x"' }).end());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("fetch: a credential helper or asking program that the repository names is not run; the user's own helper is", async (t) => {
  const made = place(t);
  const url = await guarded(t);
  made.git("config", "remote.origin.url", `${url}/x`);
  made.git("config", "credential.helper", made.canary);
  made.git("config", `credential.${url}.helper`, made.canary);
  made.git("config", "core.askPass", made.canary);
  assert.notEqual((await hardened(made, ["fetch"])).exitCode, 0);
  assert.equal(made.ran(), false);
  const own = join(made.root, "own");
  writeFileSync(own, `#!/bin/sh\necho "$1" >>${made.root}/asked\n`);
  chmodSync(own, 0o755);
  appendFileSync(join(made.root, "home/.gitconfig"), `[credential "${url}"]\n\thelper = ${own}\n`);
  await hardened(made, ["fetch"]);
  assert.deepEqual([made.ran(), readFileSync(join(made.root, "asked"), "utf8")], [false, "get\n"]);
  await plain(made, ["fetch"]);
  assert.equal(made.ran(), true, "plain git did not run the canary: this proves nothing");
});

test("fetch: the user's own ssh command stays", async (t) => {
  const made = place(t);
  made.git("config", "remote.origin.url", "ssh://127.0.0.1:1/x");
  made.git("config", "core.sshCommand", "false");
  appendFileSync(join(made.root, "home/.gitconfig"), `[core]\n\tsshCommand = ${made.canary}\n`);
  await hardened(made, ["fetch"]);
  assert.equal(made.ran(), true);
});

/** A file outside the repository that git reads because the repository's configuration names it, and a command that shows what stands in it. */
type Reveal = readonly [sentence: string, set: (made: Place, secret: string) => void, args: readonly string[], text: string];

/** In every row plain git shows the text of the file, and hardened git does not. */
const REVEALS: readonly Reveal[] = [
  ["core.attributesFile", ({ git }, secret) => git("config", "core.attributesFile", secret), ["status"], "a -- b!hunter2=1\n"],
  [
    "core.excludesFile",
    ({ git }, secret) => git("config", "core.excludesFile", secret),
    ["ls-files", "-o", "--exclude-standard"],
    "new.txt\n",
  ],
  ["blame.ignoreRevsFile", ({ git }, secret) => git("config", "blame.ignoreRevsFile", secret), ["blame", "f.txt"], "hunter2\n"],
  ["blame.ignoreRevsFile of an included file", includesBlame, ["blame", "f.txt"], "hunter2\n"],
  ["mailmap.file", ({ git }, secret) => git("config", "mailmap.file", secret), ["log", "-1", "--format=%aN"], "hunter2 <n@example.test>\n"],
  ["diff.orderFile", ({ git }, secret) => git("config", "diff.orderFile", secret), ["show", "--format=", "--name-only", "HEAD:"], "z\n"],
  ["include.path", ({ git }, secret) => git("config", "include.path", secret), ["config", "--get", "aws.key"], "[aws]\nkey = hunter2\n"],
  ["include.path with a ~", includesHome, ["config", "--get", "aws.key"], "[aws]\nkey = hunter2\n"],
  ["include.path", ({ git }, secret) => git("config", "include.path", secret), ["status"], "[color]\nui = hunter2\n"],
  [
    "includeIf",
    ({ git }, secret) => git("config", "includeIf.onbranch:main.path", secret),
    ["config", "--get", "aws.key"],
    "[aws]\nkey = hunter2\n",
  ],
  ["a configuration that is a link", linksConfig, ["config", "--get", "aws.key"], "[aws]\nkey = hunter2\n"],
];

function includesBlame({ git, repo }: Place, secret: string): void {
  writeFileSync(join(repo, ".git/more"), `[blame]\n\tignoreRevsFile = ${secret}\n`);
  git("config", "include.path", "more");
}

function includesHome({ git, root }: Place, secret: string): void {
  cpSync(secret, join(root, "home/secret"));
  git("config", "include.path", "~/secret");
}

function linksConfig({ repo, root }: Place, secret: string): void {
  const own = readFileSync(join(repo, ".git/config"), "utf8");
  writeFileSync(secret, own + readFileSync(secret, "utf8"));
  rmSync(join(repo, ".git/config"));
  symlinkSync(join(root, "secret"), join(repo, ".git/config"));
}

for (const [sentence, set, args, text] of REVEALS) {
  test(`git ${args[0]} shows nothing of a file outside the repository: ${sentence}`, async (t) => {
    const made = place(t);
    const secret = join(made.root, "secret");
    writeFileSync(secret, text);
    writeFileSync(join(made.repo, "new.txt"), "new\n");
    const before = await plain(made, args);
    set(made, secret);
    const after = await plain(made, args);
    if (sentence !== "diff.orderFile") assert.notEqual(after.output, before.output, "plain git reads the file");
    const end = await hardened(made, args).catch((error: unknown) => {
      assert.ok(error instanceof GitRefusal, String(error));
      return { output: error.message };
    });
    assert.doesNotMatch(end.output, /hunter2/);
    if ("exitCode" in end) assert.equal(end.output, before.output);
  });
}

test("files inside the repository that its configuration names are read", async (t) => {
  const made = place(t);
  const commit = made.git("rev-parse", "HEAD");
  writeFileSync(join(made.repo, ".ignore-revs"), `${commit}\n`);
  writeFileSync(join(made.repo, ".mailmap-here"), "Renamed <n@example.test>\n");
  writeFileSync(join(made.repo, ".shared"), "[mine]\nkey = v\n");
  made.git("config", "blame.ignoreRevsFile", ".ignore-revs");
  made.git("config", "mailmap.file", ".mailmap-here");
  made.git("config", "include.path", "../.shared");
  assert.equal((await hardened(made, ["log", "-1", "--format=%aN"])).output.trim(), "Renamed");
  assert.equal((await hardened(made, ["config", "--get", "mine.key"])).output.trim(), "v");
  assert.equal((await hardened(made, ["blame", "f.txt"])).exitCode, 0);
});

test("files that the user's own configuration names are read", async (t) => {
  const made = place(t);
  writeFileSync(join(made.root, "map"), "Renamed <n@example.test>\n");
  appendFileSync(join(made.root, "home/.gitconfig"), `[mailmap]\n\tfile = ${join(made.root, "map")}\n`);
  writeFileSync(join(made.root, "other"), "hunter2 <n@example.test>\n");
  made.git("config", "mailmap.file", join(made.root, "other"));
  assert.equal((await hardened(made, ["log", "-1", "--format=%aN"])).output.trim(), "Renamed");
});

test("what holds in every repository; hooks that a configuration names, of newer gits, are off; any signature program is overridden", () => {
  const local = (key: string) => ({ scope: "local", key, value: "x" });
  const made = createGitOverrides([local("hook.a.b.command"), local("gpg.new.program"), local("remote.o.url")], {
    fetches: false,
    leadsOutside: () => false,
  });
  const fixed = [
    ...["core.fsmonitor=false", "diff.autoRefreshIndex=false", "core.hooksPath=/dev/null", "core.pager=cat"],
    ...["log.showSignature=false", "log.diffMerges=separate"],
    ...["gpg.program=false", "gpg.openpgp.program=false", "gpg.x509.program=false", "gpg.ssh.program=false"],
    ...["diff.submodule=short", "diff.ignoreSubmodules=dirty", "status.submoduleSummary=false"],
    ...["submodule.recurse=false", "fetch.recurseSubmodules=false", "core.alternateRefsCommand=true", "core.askPass="],
    ...["http.saveCookies=false", "gc.auto=0", "maintenance.auto=false", "safe.bareRepository=explicit", "protocol.allow=never"],
  ];
  assert.deepEqual(
    createGitOverrides([], { fetches: false, leadsOutside: () => false }).map((pair) => pair.join("=")),
    fixed,
  );
  const named = made.filter(([key]) => /^(hook|gpg\.new|remote)\./.test(key));
  assert.deepEqual(named, [
    ["hook.a.b.command", "true"],
    ["hook.a.b.enabled", "false"],
    ["gpg.new.program", "false"],
  ]);
});

test("the options the contract names are given, with --no-pager", async (t) => {
  const { repo, env } = place(t);
  const args = await hardenGit({ processes, file, args: ["diff", "--stat"], cwd: repo, env }, signal);
  const text = args.join(" ");
  for (const option of ["core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "log.showSignature=false"]) {
    assert.ok(text.includes(`-c ${option} `), option);
  }
  assert.match(text, / --no-pager diff --no-ext-diff --no-textconv --ignore-submodules=dirty --stat$/);
});

test("an abort while the repository is looked at is a refusal", async (t) => {
  const { repo, env } = place(t);
  await assert.rejects(hardenGit({ processes, file, args: ["status"], cwd: repo, env }, AbortSignal.abort()), GitRefusal);
});
