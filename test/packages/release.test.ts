import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { LONG } from "../support/long.ts";
import { freshTree, installed, PACKAGES, packed, ROOT, ran, scratch, type Tarball } from "./packed.ts";
import { testInstalled } from "./works-installed.ts";

/** The oldest Node that the packages promise to run on. */
const OLDEST = "22.19.0";

let place: string;
let tree: string;
let user: string;
let tarballs: ReadonlyMap<string, Tarball>;
let oldest: string;

// Packs as a release does, and installs from the registry, without our lock. Takes minutes and a network, so only in the long run.
if (LONG)
  describe("packages as a release makes them", () => {
    before(() => {
      place = scratch();
      tree = freshTree(place);
      tarballs = packed(tree, { scripts: true });
      user = installed(place, tarballs, { locked: false });
      oldest = nodeOf(OLDEST);
    });
    after(() => rmSync(place, { recursive: true, force: true }));

    test("every package is packed, after its own checks", () => assert.equal(tarballs.size, PACKAGES.length));

    for (const [, name] of PACKAGES)
      test(`${name} has types that every ESM resolution finds`, () => {
        const attw = join(ROOT, "node_modules/@arethetypeswrong/cli/dist/index.js");
        const { file } = tarballs.get(name) ?? assert.fail("not packed");
        assert.match(ran(place, [process.execPath, attw, file, "--profile", "esm-only", "--format", "ascii"]), /node16 \(from ESM\): 🟢/);
      });

    testInstalled("without a lock, on this Node", () => ({ tree, user, node: process.execPath }));
    testInstalled(`without a lock, on Node ${OLDEST}`, () => ({ tree, user, node: oldest }));
  });

/** Installs a Node from the registry, as the root does for its own. */
function nodeOf(version: string): string {
  const directory = join(place, `node-${version}`);
  const name = `node-linux-${process.arch}`;
  mkdirSync(directory);
  writeFileSync(join(directory, "package.json"), "{}");
  ran(directory, ["npm", "install", "--prefer-offline", "--no-audit", "--no-fund", `${name}@${version}`]);
  const node = join(directory, "node_modules", name, "bin/node");
  assert.equal(ran(directory, [node, "--version"]), `v${version}\n`);
  return node;
}
