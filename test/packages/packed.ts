import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");

/** Every package: its folder, and the name it is installed by. */
export const PACKAGES: readonly (readonly [folder: string, name: string])[] = [
  ["agent", "@assent/agent"],
  ["cli", "assent"],
  ["core", "@assent/core"],
  ["gate", "@assent/gate"],
  ["guard", "@assent/guard"],
  ["host", "@assent/host"],
  ["inbox", "@assent/inbox"],
  ["mcp", "@assent/mcp"],
  ["policy", "@assent/policy"],
  ["sdk", "@assent/sdk"],
  ["store", "@assent/store"],
  ["store-postgres", "@assent/store-postgres"],
  ["tools", "@assent/tools"],
];

/** Everything that can be imported from them. */
export const ENTRIES: readonly string[] = [
  ...PACKAGES.map(([, name]) => name),
  ...["parts", "setup", "testing", "text", "ungoverned"].map((entry) => `@assent/core/${entry}`),
  "@assent/store/parts",
];

/** What is or would be committed below a folder. */
function committed(folder: string): readonly string[] {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", folder];
  const files = execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).split("\0");
  return files.filter((file) => file !== "" && existsSync(join(ROOT, file)));
}

/** A directory to build and install in, outside of any repository. */
export function scratch(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), "assent-packages-")));
}

/** Runs a program to its end; a failure is told with all it wrote. */
export function ran(cwd: string, [file = "", ...args]: readonly string[], env: NodeJS.ProcessEnv = process.env): string {
  const { status, stdout, stderr, error } = spawnSync(file, args, { cwd, encoding: "utf8", env: { ...env, NODE_TEST_CONTEXT: undefined } });
  if (error || status !== 0) throw new Error(`${file} ${args.join(" ")} ended with ${error?.message ?? status}:\n${stdout}\n${stderr}`);
  return stdout;
}

/** The repository as a fresh clone has it, without tests. What is built there touches nobody's work, and nothing old is in it. */
export function freshTree(place: string): string {
  const tree = join(place, "tree");
  const wanted = ["packages", "scripts", "LICENSE", "package.json", "tsconfig.base.json"].flatMap(committed);
  for (const file of wanted.filter((path) => !/^packages\/[^/]+\/test\//.test(path))) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    cpSync(join(ROOT, file), join(tree, file));
  }
  linkModules(tree);
  return tree;
}

/** Third-party packages are the repository's; ours are those of the tree. */
function linkModules(tree: string): void {
  const modules = join(tree, "node_modules");
  mkdirSync(join(modules, "@assent"), { recursive: true });
  const foreign = readdirSync(join(ROOT, "node_modules")).filter((name) => !["assent", "@assent", ".cache"].includes(name));
  for (const name of foreign) symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  for (const [folder, name] of PACKAGES) symlinkSync(join(tree, "packages", folder), join(modules, name));
}

/** A tarball as `npm pack` made it, and what is in it. */
export type Tarball = { readonly name: string; readonly file: string; readonly files: readonly string[] };

/** Builds and packs every package of a tree. With `scripts` each is built and checked again by its own `prepack`, as a release does. */
export function packed(tree: string, { scripts }: { readonly scripts: boolean }): ReadonlyMap<string, Tarball> {
  const to = join(dirname(tree), scripts ? "released" : "tarballs");
  mkdirSync(to);
  ran(tree, ["npm", "run", "build"]);
  const printed = ran(tree, ["npm", "pack", "--workspaces", "--json", "--pack-destination", to, ...(scripts ? [] : ["--ignore-scripts"])]);
  const list: readonly { name: string; filename: string; files: readonly { path: string }[] }[] = JSON.parse(
    printed.slice(printed.search(/^\[$/m)),
  );
  const tarballs = list.map(({ name, filename, files }) => ({
    name,
    file: join(to, filename.replace("@", "").replace("/", "-")),
    files: files.map(({ path }) => path).sort(),
  }));
  return new Map(tarballs.map((tarball) => [tarball.name, tarball]));
}

/** A folder of somebody who installs the tarballs and nothing else. `locked` takes third-party packages of the versions in our lock, from npm's cache where it has them. */
export function installed(place: string, tarballs: ReadonlyMap<string, Tarball>, { locked }: { readonly locked: boolean }): string {
  const user = join(place, locked ? "user" : "user-without-lock");
  mkdirSync(user);
  const dependencies = Object.fromEntries([...tarballs.values()].map(({ name, file }) => [name, `file:${file}`]));
  writeFileSync(join(user, "package.json"), JSON.stringify({ name: "user", version: "1.0.0", type: "module", dependencies }));
  if (locked) writeFileSync(join(user, "package-lock.json"), JSON.stringify(thirdPartyLock()));
  ran(user, ["npm", "install", "--prefer-offline", "--no-audit", "--no-fund"]);
  return user;
}

function thirdPartyLock(): object {
  const lock: { readonly packages: Record<string, { readonly link?: boolean }> } = JSON.parse(
    readFileSync(join(ROOT, "package-lock.json"), "utf8"),
  );
  const foreign = Object.entries(lock.packages).filter(([path, { link }]) => path.startsWith("node_modules/") && link !== true);
  return { name: "user", version: "1.0.0", lockfileVersion: 3, packages: { "": { name: "user" }, ...Object.fromEntries(foreign) } };
}
