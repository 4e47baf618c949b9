import assert from "node:assert/strict";
import { test } from "node:test";
import { type ReadTable, readOptions } from "../../../src/shell/programs/reads.ts";

const TABLE: ReadTable = {
  operands: "files",
  options: "-a -b --all -n= --lines= -I[=] --color[=] --merged=? --arg== -f=path --file=path -NUMBER",
  unsafe: { writes_file: "-o= --output=" },
};

/** Options with their values, operands (`--` in their midst), hazards. */
function short(args: string, table: ReadTable = TABLE): string {
  const { found, operands, before, hazards } = readOptions(args.split(" ").filter(Boolean), table);
  const options = [...found].map(([name, values]) => [name, ...values].join("="));
  return [
    ...options,
    "/",
    ...operands.slice(0, before),
    ...(before < operands.length ? ["--", ...operands.slice(before)] : []),
    ...hazards.map(({ id }) => id),
  ].join(" ");
}

const ROWS: readonly (readonly [sentence: string, args: string, reading: string])[] = [
  ["letters are taken apart", "-ab x", "-a -b / x"],
  ["after a letter with a value the rest is the value", "-an5", "-a -n=5 /"],
  ["a value may be the next word", "-n 5 --lines 6 x", "-n=5 --lines=6 / x"],
  ["an optional value is in the same word only", "-I -Ix --color --color=y z", "-I==x --color=y / z"],
  ["an option that takes what is left takes one word, or none", "--merged x y", "--merged=x / y"],
  ["an option that takes what is left may be the last", "x --merged", "--merged / x"],
  ["two words", "--arg x y z", "--arg=x=y / z"],
  ["digits", "-20 x", "-NUMBER=20 / x"],
  ["a negative number may be a value", "-n -5", "-n=-5 /"],
  ["options stand anywhere before --", "x -a -- -b --y", "-a / x -- -b --y"],
  ["a dash is an operand", "- -a", "-a / -"],
  ["-- may be nothing but a value only where a program takes it", "-n -- x", "-n=-- / x unmodelled_option"],
  ["an unknown letter makes the whole word unsafe", "-axb", "-a / unmodelled_option"],
  ["an unsafe letter in a cluster is found", "-aox", "-a -o=x / writes_file"],
  ["an unsafe option is named by what it does", "--output=x y", "--output=x / y writes_file"],
  ["an abbreviation is unknown", "--outp=x --col", "/ unmodelled_option unmodelled_option"],
  ["a value on an option without one is unknown", "--all=x", "/ unmodelled_option"],
  ["a value that looks like an option is doubtful", "-n --output=x", "-n=--output=x / unmodelled_option"],
  ["a missing value is doubtful", "-n", "-n / unmodelled_option"],
  ["a missing second word is doubtful", "--arg x", "--arg=x / unmodelled_option"],
];

for (const [sentence, args, reading] of ROWS) test(sentence, () => assert.equal(short(args), reading));

test("a value may begin with a dash if the program says so", () => {
  assert.equal(short("-n --output=x y", { ...TABLE, dashValues: true }), "-n=--output=x / y");
});

test("with loose letters only digits may follow a letter", () => {
  const table: ReadTable = { ...TABLE, looseLetters: true };
  assert.equal(short("-n5 x", table), "-n=5 / x");
  assert.equal(short("-no x y", table), "/ x y unmodelled_option");
});

test("values that are files are reported", () => {
  assert.deepEqual(readOptions(["-fa", "-f", "b", "--file=c", "--file", "d"], TABLE).paths, ["a", "b", "c", "d"]);
});
