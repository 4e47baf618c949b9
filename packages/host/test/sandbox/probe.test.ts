import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { withoutProgram } from "../../../../test/support/programs.ts";
import { probeSandbox } from "../../src/sandbox/probe.ts";
import { createSystemCallFilter } from "../../src/sandbox/seccomp.ts";
import { scratch } from "../scratch.ts";

test("a probe runs a real command and says how to confine others", { skip: withoutProgram("bwrap") }, async () => {
  const probe = await probeSandbox();
  assert.equal(probe.works, true);
});

test("on another system the probe says that only Linux can confine commands", async () => {
  assert.deepEqual(await probeSandbox({ platform: "darwin" }), {
    works: false,
    reason: "Commands can be confined only on Linux; this is darwin.",
  });
});

test("without bubblewrap the probe names the package to install", async (t) => {
  const probe = await probeSandbox({ directories: [scratch(t)] });
  assert.match(probe.works ? "" : probe.reason, /not installed\. Install the package bubblewrap/);
});

/** What bubblewrap prints on machines that refuse it. */
const FAILURES: readonly (readonly [name: string, message: string, reason: RegExp])[] = [
  [
    "blocked user namespaces",
    "No permissions to create a new namespace, likely because the kernel does not allow it.",
    /max_user_namespaces/,
  ],
  ["a refused uid map", "setting up uid map: Permission denied", /AppArmor/],
  ["a container that masks /proc", "Can't mount proc on /newroot/proc: Operation not permitted", /masks parts of \/proc/],
  ["a refused loopback interface", "loopback: Failed RTM_NEWADDR: Operation not permitted", /loopback interface/],
  ["a refused filter", "prctl(PR_SET_SECCOMP): Invalid argument", /filter of system calls/],
  ["an unknown failure", "something new", /could not be set up\. Bubblewrap reported: bwrap: something new/],
];
for (const [name, message, reason] of FAILURES) {
  test(`the probe explains ${name}`, async (t) => {
    const directory = scratch(t);
    writeFileSync(join(directory, "bwrap"), `#!/bin/sh\necho "bwrap: ${message}" >&2\nexit 1\n`);
    chmodSync(join(directory, "bwrap"), 0o755);
    const probe = await probeSandbox({ directories: [directory] });
    assert.match(probe.works ? "" : probe.reason, reason);
  });
}

test("a launcher that does not confine is not accepted", async (t) => {
  const directory = scratch(t);
  const script = `#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\n"$@"\ncode=$?\necho "{ \\"exit-code\\": $code }" >&5\nexit $code\n`;
  writeFileSync(join(directory, "bwrap"), script);
  chmodSync(join(directory, "bwrap"), 0o755);
  const probe = await probeSandbox({ directories: [directory] });
  assert.match(probe.works ? "" : probe.reason, /not confined as expected/);
});

test("the filter of system calls exists for the processors we know", () => {
  assert.equal((createSystemCallFilter("x64")?.length ?? 1) % 8, 0);
  assert.equal((createSystemCallFilter("arm64")?.length ?? 1) % 8, 0);
  assert.equal(createSystemCallFilter("riscv64"), undefined);
});
