import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { walkBash } from "../../../src/shell/walk/walk.ts";

const ROWS: readonly (readonly [text: string, words: string, hazards?: string])[] = [
  ["export A=b", "export|A=b"],
  ["export A=$b", "export|<A=$b>", "expansion"],
  ["export A+=b", "export|<A+=b>"],
  ["echo a", "echo|a"],
  ["echo 'a b'", "echo|a b"],
  ["echo $a", "echo|<$a>", "expansion"],
  ["echo *.ts", "echo|<*.ts>"],
];

describe("words of a command in the walk", () => {
  for (const [text, words, hazards = ""] of ROWS) {
    test(text, () => {
      const [first] = walkBash(text).commands;
      assert.equal(first?.argv.map((word) => (word.dynamic ? `<${word.text}>` : word.text)).join("|"), words);
      assert.equal(first?.hazards.map(({ id }) => id).join("|"), hazards);
    });
  }

  test("a hazard of a group's redirection applies to each of its commands", () => {
    const found = walkBash("{ ls; pwd; } > $X").commands.map(({ argv, hazards }) => [argv[0]?.text, hazards.map(({ id }) => id)]);
    const hazards = ["redirection", "unmodelled_construct"];
    assert.deepEqual(
      found.filter(([name]) => name !== undefined),
      [
        ["ls", hazards],
        ["pwd", hazards],
      ],
    );
  });
});
