import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { readSettingsFile } from "../../src/settings/read-file.ts";
import { scratch } from "../scratch.ts";

const MiB = 1_048_576;

describe("reading a settings file", () => {
  test("a missing file is not a problem", (t) => {
    const directory = scratch(t);
    assert.deepEqual(readSettingsFile(join(directory, "none.json")), { absent: true });
    assert.deepEqual(readSettingsFile(join(directory, "a", "none.json")), { absent: true });
    writeFileSync(join(directory, "file"), "");
    assert.deepEqual(readSettingsFile(join(directory, "file", "none.json")), { absent: true });
  });

  test("a byte order mark is skipped and remembered", (t) => {
    const file = join(scratch(t), "settings.json");
    writeFileSync(file, "\uFEFF{}");
    assert.deepEqual(readSettingsFile(file), { text: "{}", mark: "\uFEFF" });
    writeFileSync(file, "{}");
    assert.deepEqual(readSettingsFile(file), { text: "{}", mark: "" });
  });

  test("1 MiB is read, one byte more is not", (t) => {
    const file = join(scratch(t), "settings.json");
    writeFileSync(file, `{}${" ".repeat(MiB - 2)}`);
    const reading = readSettingsFile(file);
    assert.ok("text" in reading && reading.text.length === MiB);
    writeFileSync(file, `{}${" ".repeat(MiB - 1)}`);
    assert.equal(faultOf(file)?.type, "settings_syntax");
  });

  test("a byte that is not UTF-8 is reported with its place", (t) => {
    const file = join(scratch(t), "settings.json");
    writeFileSync(file, Buffer.concat([Buffer.from('{\n "é": "'), Buffer.from([0xff]), Buffer.from('"}')]));
    assert.deepEqual([faultOf(file)?.type, faultOf(file)?.place], ["settings_syntax", { line: 2, column: 8 }]);
  });

  const odd: readonly [sentence: string, make: (path: string) => void][] = [
    ["a directory", (path) => mkdirSync(path)],
    ["a FIFO, without blocking", (path) => execFileSync("mkfifo", [path])],
    ["a link that leads nowhere", (path) => symlinkSync(`${path}.gone`, path)],
    ["a loop of links", (path) => symlinkSync(path, path)],
  ];
  for (const [sentence, make] of odd) {
    test(`${sentence} exists and cannot be read`, (t) => {
      const path = join(scratch(t), "settings.json");
      make(path);
      assert.equal(faultOf(path)?.type, "settings_unreadable");
    });
  }

  const told: readonly [sentence: string, make: (path: string) => void, message: string, hint: string][] = [
    ["a directory", (path) => mkdirSync(path), "F cannot be read: it is not a regular file", "Make it a file you can read, or remove it."],
    [
      "a link that leads nowhere",
      (path) => symlinkSync("gone", path),
      "F cannot be read: ENOENT: no such file or directory, open 'F'",
      "Make it a file you can read, or remove it.",
    ],
    [
      "a byte that is no UTF-8",
      (path) => writeFileSync(path, Buffer.from([0x7b, 0xff])),
      "This byte is not valid UTF-8.",
      "Save the file as UTF-8.",
    ],
    [
      "a file of more than 1 MiB",
      (path) => writeFileSync(path, " ".repeat(MiB + 1)),
      "F is larger than 1 MiB (1048576 bytes).",
      "Remove settings you don't need.",
    ],
  ];
  for (const [sentence, make, message, hint] of told) {
    test(`the message about ${sentence}`, (t) => {
      const file = join(scratch(t), "settings.json");
      make(file);
      const fault = faultOf(file);
      assert.deepEqual([fault?.message.replaceAll(file, "F"), fault?.hint], [message, hint]);
    });
  }

  test("a file without the right to read it", (t) => {
    const file = join(scratch(t), "settings.json");
    writeFileSync(file, "{}");
    chmodSync(file, 0);
    const reading = readSettingsFile(file);
    assert.ok(process.getuid?.() === 0 ? "text" in reading : "fault" in reading);
  });
});

describe("who may write it", () => {
  const rows: readonly [mode: number, secure: boolean][] = [
    [0o600, true],
    [0o644, true],
    [0o444, true],
    [0o664, false],
    [0o646, false],
    [0o666, false],
    [0o620, false],
    [0o602, false],
  ];
  for (const [mode, secure] of rows) {
    test(`mode ${mode.toString(8)} ${secure ? "may be read" : "can be written by others"}`, (t) => {
      const file = join(scratch(t), "settings.json");
      writeFileSync(file, "{}");
      chmodSync(file, mode);
      const owner = statSync(file).uid;
      const message = faultOf(file, owner)?.message;
      assert.equal(message, secure ? undefined : `Other users can change ${file}. Run: chmod go-w ${file}`);
      assert.equal(faultOf(file), undefined, "without an owner nobody asks");
    });
  }

  test("a file of another user is insecure with any mode", (t) => {
    const file = join(scratch(t), "settings.json");
    writeFileSync(file, "{}");
    chmodSync(file, 0o600);
    const { uid } = statSync(file);
    assert.equal(faultOf(file, uid + 1)?.type, "settings_insecure");
    assert.match(faultOf(file, uid + 1)?.message ?? "", /belongs to user \d+, who can change it. Run: chown /);
    assert.equal(faultOf(file, 4_242)?.hint, `chown 4242 ${file}`);
    if (uid !== 0) assert.equal(faultOf(file, 0)?.hint, `chown root ${file}`);
  });

  test("a link is judged by where it leads", (t) => {
    const directory = scratch(t);
    const [file, link] = [join(directory, "real.json"), join(directory, "settings.json")];
    writeFileSync(file, "{}");
    chmodSync(file, 0o666);
    symlinkSync(file, link);
    assert.equal(faultOf(link, statSync(file).uid)?.type, "settings_insecure");
  });
});

type Fault = { readonly type: string; readonly message: string; readonly hint: string; readonly place: object };

function faultOf(file: string, owner?: number): Fault | undefined {
  const reading = readSettingsFile(file, owner);
  return "fault" in reading ? reading.fault : undefined;
}
