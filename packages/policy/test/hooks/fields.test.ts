import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readHookFields } from "../../src/hooks/fields.ts";

const COMMAND = { type: "command", command: "x" };
const FUNCTION = { type: "function", function: "guard" };

type Row = readonly [sentence: string, hook: object, fault: readonly [field: string, expected?: string] | undefined];

const ROWS: readonly Row[] = [
  ["a command", COMMAND, undefined],
  ["a function", FUNCTION, undefined],
  ["no type", { command: "x" }, ["type", "command or function"]],
  ["another type", { type: "prompt" }, ["type", "command or function"]],
  ["a type that is not a string", { type: 1 }, ["type", "command or function"]],
  ["an unknown field", { ...COMMAND, shell: "x" }, ["shell"]],
  ["a field that every object has", { ...COMMAND, toString: "x" }, ["toString"]],
  ["a command that is empty", { ...COMMAND, command: " " }, ["command", "a string that is not empty"]],
  ["a command with a NUL", { ...COMMAND, command: "a\0" }, ["command", "a string that is not empty"]],
  ["a command of a function", { ...FUNCTION, command: "x" }, ["command"]],
  ["a function of a command", { ...COMMAND, function: "x" }, ["function"]],
  ["arguments", { ...COMMAND, args: ["a", ""] }, undefined],
  ["arguments that are a text", { ...COMMAND, args: "a" }, ["args", "a list of strings"]],
  ["an argument that is not a string", { ...COMMAND, args: ["a", 1] }, ["args", "a list of strings"]],
  ["arguments of a function", { ...FUNCTION, args: [] }, ["args"]],
  ["variables", { ...COMMAND, env: { A: "b" } }, undefined],
  ["variables in a list", { ...COMMAND, env: ["A"] }, ["env", "an object of strings by variable name"]],
  ["a variable that is not a string", { ...COMMAND, env: { A: 1 } }, ["env", "an object of strings by variable name"]],
  ["a variable whose name has a sign", { ...COMMAND, env: { "A=": "b" } }, ["env", "an object of strings by variable name"]],
  ["a variable without a name", { ...COMMAND, env: { "": "b" } }, ["env", "an object of strings by variable name"]],
  ["a variable whose name has a NUL", { ...COMMAND, env: { "A\0": "b" } }, ["env", "an object of strings by variable name"]],
  ["variables of a function", { ...FUNCTION, env: {} }, ["env"]],
  ["variables to pass on", { ...COMMAND, passEnv: ["A"] }, undefined],
  ["a variable to pass on, with a value", { ...COMMAND, passEnv: ["A=b"] }, ["passEnv", "a list of variable names"]],
  ["a variable to pass on, without a name", { ...COMMAND, passEnv: [""] }, ["passEnv", "a list of variable names"]],
  ["variables to pass on to a function", { ...FUNCTION, passEnv: [] }, ["passEnv"]],
  ["the longest time", { ...COMMAND, timeout: 3600 }, undefined],
  ["a longer time", { ...COMMAND, timeout: 3601 }, ["timeout", "a number of seconds, at most 3600"]],
  ["a time that is not a number", { ...COMMAND, timeout: "3" }, ["timeout", "a number of seconds, at most 3600"]],
  ["what a failure does", { ...COMMAND, onFailure: "warn" }, undefined],
  ["a failure that does something else", { ...COMMAND, onFailure: "ask" }, ["onFailure", "block or warn"]],
  ["an async hook", { ...FUNCTION, async: true }, undefined],
  ["async as a word", { ...FUNCTION, async: "yes" }, ["async", "true or false"]],
  ["a name and a condition", { ...FUNCTION, name: "n", if: "Shell(ls)" }, undefined],
  ["a name that is empty", { ...COMMAND, name: "" }, ["name", "a string that is not empty"]],
  ["a condition that is not a string", { ...COMMAND, if: true }, ["if", "a string that is not empty"]],
];

describe("the fields of a hook", () => {
  for (const [sentence, hook, fault] of ROWS) {
    test(`${sentence} ${fault ? "is a fault" : "is read"}`, () => {
      const read = readHookFields({ ...hook });
      const [field, expected] = fault ?? [];
      assert.deepEqual(read, fault ? { faults: [{ field, ...(expected !== undefined && { expected }) }] } : { hook });
    });
  }

  test("every fault is reported", () => {
    const read = readHookFields({ type: "command", command: 1, args: 2, x: 3 });
    assert.deepEqual("faults" in read && read.faults.map(({ field }) => field), ["command", "args", "x"]);
  });
});
