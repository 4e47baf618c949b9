import assert from "node:assert/strict";
import { test } from "node:test";
import { errorTypeOf, messageOf } from "../../../src/model/result/thrown.ts";

const unreadable = Object.defineProperty(new Error("m"), "code", {
  get: () => {
    throw new Error("no");
  },
});

const types: readonly (readonly [string, unknown, string])[] = [
  ["ENOENT", Object.assign(new Error("m"), { code: "ENOENT" }), "file_not_found"],
  ["EACCES", Object.assign(new Error("m"), { code: "EACCES" }), "permission_denied"],
  ["EPERM", Object.assign(new Error("m"), { code: "EPERM" }), "permission_denied"],
  ["ENOSPC", Object.assign(new Error("m"), { code: "ENOSPC" }), "no_space_left"],
  ["EISDIR", Object.assign(new Error("m"), { code: "EISDIR" }), "target_is_directory"],
  ["ENOTDIR", Object.assign(new Error("m"), { code: "ENOTDIR" }), "path_is_not_a_directory"],
  ["EEXIST", Object.assign(new Error("m"), { code: "EEXIST" }), "attempt_to_create_existing_file"],
  ["another code", Object.assign(new Error("m"), { code: "EPIPE" }), "execution_failed"],
  ["a code that every object has", Object.assign(new Error("m"), { code: "constructor" }), "execution_failed"],
  ["a plain error", new Error("m"), "execution_failed"],
  ["no error", "text", "execution_failed"],
  ["a failure's own type", Object.assign(new Error("m"), { type: "web_fetch_failed", code: "ENOENT" }), "web_fetch_failed"],
  ["a custom tool's own type", Object.assign(new Error("m"), { type: "x_quota" }), "x_quota"],
  ["a type that a body cannot have", Object.assign(new Error("m"), { type: "denied_by_rule" }), "execution_failed"],
  ["a code that cannot be read", unreadable, "execution_failed"],
];
for (const [name, thrown, expected] of types) test(`the type of ${name} is ${expected}`, () => assert.equal(errorTypeOf(thrown), expected));

const unspeakable = {
  toString: () => {
    throw new Error("no");
  },
};
const messages: readonly (readonly [string, unknown, string])[] = [
  ["an error", new TypeError("m"), "m"],
  ["a text", "t", "t"],
  ["nothing", undefined, "undefined"],
  ["a symbol", Symbol("s"), "Symbol(s)"],
  ["what cannot be said", unspeakable, "unknown error"],
  ["an object without a prototype", Object.create(null), "unknown error"],
  ["half a surrogate pair", new Error("\ud800"), "\ufffd"],
];
for (const [name, thrown, expected] of messages) test(`the message of ${name}`, () => assert.equal(messageOf(thrown), expected));
