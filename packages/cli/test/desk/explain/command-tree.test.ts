import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JudgedCommand } from "@assent/policy";
import { commandText, commandTree } from "../../../src/desk/explain/command-tree.ts";

function command(words: readonly string[], path: readonly string[] = [], more: Partial<JudgedCommand> = {}): JudgedCommand {
  const argv = words.map((word) => ({ text: word, dynamic: word.includes("$") }));
  return {
    argv,
    path,
    cwd: "/w",
    assignments: [],
    redirections: [],
    class: "unknown",
    operands: [],
    hazards: [],
    verdict: "ask",
    source: "default",
    ...more,
  };
}

describe("the tree of commands", () => {
  const rows: readonly (readonly [string, readonly (readonly [string, readonly string[]])[], readonly (readonly [number, string])[]])[] = [
    ["a lone command has no label", [["ls", []]], [[0, ""]]],
    [
      "joined commands stand beside each other",
      [
        ["a", ["&&[0]"]],
        ["b", ["&&[1]"]],
      ],
      [
        [0, "1. "],
        [0, "2. on success: "],
      ],
    ],
    [
      "a command found in another is shown below it",
      [
        ["sh", []],
        ["sh", ["sh -c"]],
        ["curl", ["sh -c", "sh -c"]],
      ],
      [
        [0, ""],
        [1, "sh -c: "],
        [2, "sh -c: "],
      ],
    ],
    [
      "a script of several commands keeps how they are joined",
      [
        ["x", ["&&[0]"]],
        ["sh", ["&&[1]"]],
        ["a", ["&&[1]", "sh -c", ";[0]"]],
        ["b", ["&&[1]", "sh -c", ";[1]"]],
      ],
      [
        [0, "1. "],
        [0, "2. on success: "],
        [1, "1. sh -c: "],
        [1, "2. sh -c then: "],
      ],
    ],
    [
      "the stages of a pipe in a list stand beside the list",
      [
        ["a", ["&&[0]", "|[0]"]],
        ["b", ["&&[0]", "|[1]"]],
        ["c", ["&&[1]"]],
      ],
      [
        [0, "1. "],
        [0, "2. piped into: "],
        [0, "3. on success: "],
      ],
    ],
  ];
  for (const [name, commands, expected] of rows)
    test(name, () => {
      const tree = commandTree(commands.map(([word, path]) => command([word], path)));
      assert.deepEqual(
        tree.map(({ depth, label }) => [depth, label]),
        expected,
      );
    });
});

describe("a command as one could type it", () => {
  const rows: readonly (readonly [string, JudgedCommand, string])[] = [
    ["plain words stand as they are", command(["git", "log", "-5"]), "git log -5"],
    ["a word with blanks is quoted", command(["grep", "rm -rf /", "a b"]), "grep 'rm -rf /' 'a b'"],
    ["an empty word is seen", command(["echo", ""]), "echo ''"],
    ["what only a shell could tell is not quoted", command(["echo", '"$HOME"']), 'echo "$HOME"'],
    ["assignments come first", command(["make"], [], { assignments: [{ name: "CC", dynamic: false }] }), "CC=… make"],
    [
      "redirections come last, with the usual descriptor left out",
      command(["make"], [], {
        redirections: [
          { fd: "1", op: ">", target: "a b", dynamic: false },
          { fd: "2", op: ">&", target: "1", dynamic: false },
          { fd: "0", op: "<", target: "/dev/null", dynamic: false },
        ],
      }),
      "make >'a b' 2>&1 </dev/null",
    ],
  ];
  for (const [name, given, expected] of rows) test(name, () => assert.equal(commandText(given), expected));
});
