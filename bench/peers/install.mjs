// Installs every peer into its own folder, from its own lock, without running anybody's scripts; and Assent as it would be published, from this repository.
import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const here = import.meta.dirname;
const root = join(here, "../..");
const QUIET = ["--ignore-scripts", "--no-audit", "--no-fund", "--omit-lockfile-registry-resolved"];

const OURS = ["core", "host", "store", "agent"];

/** Gives back what could not be installed, with the first line that says why. */
export function install(folders) {
  const failed = [];
  for (const folder of folders) {
    process.stderr.write(`installing ${folder} …\n`);
    try {
      if (folder === "assent") installAssent();
      else npm([existsSync(join(here, folder, "package-lock.json")) ? "ci" : "install", ...QUIET], join(here, folder));
    } catch (error) {
      const told = `${error.stderr ?? ""}\n${error.stdout ?? ""}\n${error.message}`.split("\n");
      failed.push({ folder, error: told.find((line) => /\berror\b/i.test(line)) ?? error.message });
    }
  }
  return failed;
}

function installAssent() {
  const packed = mkdtempSync(join(tmpdir(), "assent-packed-"));
  try {
    execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: root, stdio: "pipe" });
    for (const name of OURS)
      npm(["pack", "--ignore-scripts", "--silent", "--pack-destination", packed], join(root, "packages", name));
    npm(["install", "--no-save", "--no-package-lock", ...QUIET, ...globSync(join(packed, "*.tgz"))], join(here, "assent"));
  } finally {
    rmSync(packed, { recursive: true });
  }
}

function npm(args, cwd) {
  execFileSync("npm", args, { cwd, stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 26, encoding: "utf8", timeout: 600_000 });
}
