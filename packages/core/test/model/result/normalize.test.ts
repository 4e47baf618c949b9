import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Json } from "../../../src/model/json/json.ts";
import { jsonResult, normalizeResult, readPlainResult } from "../../../src/model/result/normalize.ts";
import { type Display, resultValue, type ToolResult } from "../../../src/model/result/result.ts";

const unkept = (why: string): ToolResult => {
  const message = `Tool 't' ran, but its result could not be kept: ${why}.`;
  return { content: `Error: ${message}`, display: message, error: { message, type: "invalid_tool_result" } };
};
const json = (value: Json): ToolResult => ({ content: [{ type: "json", value }], value });
const cycle: Record<string, unknown> = {};
cycle["self"] = cycle;
const big = (bytes: number): string => "A".repeat(Math.ceil(bytes / 3) * 4);
const diff = { type: "file_diff", fileDiff: "-a", fileName: "a", originalContent: null, newContent: "" } as const;

const ODD_PART = "of its content is not a text, image, file or json part";
const ENDLESS = "it has more than 512 levels, or contains itself";
const failed = (message: string): ToolResult => ({ content: `Error: ${message}`, error: { message, type: "unknown" } });
class Point {
  readonly x: number;
  readonly y: number;
  constructor(x: number, y: number) {
    this.x = x;
    this.y = y;
  }
}

const rows: readonly (readonly [name: string, returned: unknown, expected: ToolResult, warnings?: number])[] = [
  ["a text", "s", { content: "s", display: "s" }],
  ["a blank text becomes (no output), the display stays", " \n", { content: "(no output)", display: " \n" }],
  ["no parts become (no output)", { content: [] }, { content: "(no output)" }],
  ["blank parts become (no output)", { content: [{ type: "text", text: " " }] }, { content: "(no output)" }],
  ["the display of blank content is not touched", { content: "", display: "d" }, { content: "(no output)", display: "d" }],
  [
    "an image is something",
    { content: [{ type: "image", mediaType: "image/png", data: "" }] },
    { content: [{ type: "image", mediaType: "image/png", data: "" }] },
  ],
  [
    "a failure with blank content says its message",
    { content: " ", error: { message: "m", type: "unknown" } },
    { content: "Error: m", error: { message: "m", type: "unknown" } },
  ],
  [
    "a failure without content says its message",
    { error: { message: "m", type: "unknown" } },
    { content: "Error: m", error: { message: "m", type: "unknown" } },
  ],
  [
    "a failure is passed on regardless of its content",
    { content: "All is well.", error: { message: "m", type: "permission_denied" } },
    { content: "All is well.", error: { message: "m", type: "permission_denied" } },
  ],
  [
    "a failure without a type is unknown",
    { content: "c", error: { message: "m" } },
    { content: "c", error: { message: "m", type: "unknown" } },
  ],
  [
    "a failure of an unlisted type is unknown",
    { content: "c", error: { message: "m", type: "oops" } },
    { content: "c", error: { message: "m", type: "unknown" } },
  ],
  [
    "a type that every object has is unknown",
    { content: "c", error: { message: "m", type: "toString" } },
    { content: "c", error: { message: "m", type: "unknown" } },
  ],
  [
    "a custom tool's own type is kept",
    { content: "c", error: { message: "m", type: "x_quota_2" } },
    { content: "c", error: { message: "m", type: "x_quota_2" } },
  ],
  [
    "a custom type of 61 characters is unknown",
    { content: "c", error: { message: "m", type: `x_${"a".repeat(61)}` } },
    { content: "c", error: { message: "m", type: "unknown" } },
  ],
  ["an error that is a text is a failure", { content: "c", error: "m" }, { content: "c", error: { message: "m", type: "unknown" } }],
  ["an error that is null is none", { content: "c", error: null }, { content: "c" }],
  ["an error that is neither is not a result", { content: "c", error: 1 }, unkept("its error is not an object or a text")],
  ["content that is a number", { content: 1 }, unkept("its content is not a text or a list of parts")],
  ["a part of an unknown type", { content: [{ type: "video", data: "" }] }, unkept(`part 1 ${ODD_PART}`)],
  ["a text part without text", { content: [{ type: "text" }] }, unkept(`part 1 ${ODD_PART}`)],
  ["an image without a media type", { content: [{ type: "image", data: "" }] }, unkept(`part 1 ${ODD_PART}`)],
  ["a json part that is not JSON", { content: [{ type: "json", value: () => 1 }] }, unkept("it is a function, which JSON cannot carry")],
  ["a json part that contains itself", { content: [{ type: "json", value: cycle }] }, unkept(ENDLESS)],
  ["an object is a value", { id: 7, tags: ["a"], none: undefined }, json({ id: 7, tags: ["a"] })],
  ["an empty object is a value", {}, json({})],
  ["a list is a value", [{ type: "text", text: "x" }], json([{ type: "text", text: "x" }])],
  ["a number is a value", 7, json(7)],
  ["a boolean is a value", false, json(false)],
  ["null is a value", null, json(null)],
  ["an error that is null does not hide the other fields", { data: [1], error: null }, json({ data: [1], error: null })],
  ["an error that is false does not hide the other fields", { data: [1], error: false }, json({ data: [1], error: false })],
  ["a date in a value is its text in JSON", { at: new Date(0) }, json({ at: "1970-01-01T00:00:00.000Z" })],
  ["an instance of a class is its own fields", new Point(1, 2), json({ x: 1, y: 2 })],
  ["one json part is the value", { content: [{ type: "json", value: [1] }] }, json([1])],
  ["text for the model beside a value", { content: "2 rows", value: [1, 2] }, { content: "2 rows", value: [1, 2] }],
  ["a failure may have a value", { error: "m", value: { code: 3 } }, { ...failed("m"), value: { code: 3 } }],
  ["nothing is not a result", undefined, unkept("it returned nothing")],
  ["a function", () => 1, unkept("it is a function, which JSON cannot carry")],
  ["a function in a value", { rows: [{ f: () => 1 }] }, unkept("the value at /rows/0/f is a function, which JSON cannot carry")],
  ["a symbol", Symbol("x"), unkept("it is a symbol, which JSON cannot carry")],
  ["a bigint", { id: 1n }, unkept("the value at /id is a bigint, which JSON cannot carry")],
  ["NaN", { mean: Number.NaN }, unkept("the value at /mean is NaN")],
  ["Infinity", [Number.POSITIVE_INFINITY], unkept("the value at /0 is Infinity")],
  ["an undefined item, which JSON would turn into null", [1, undefined], unkept("the value at /1 is undefined")],
  ["a hole in a list", new Array(1), unkept("the value at /0 is undefined")],
  ["a value that contains itself", cycle, unkept(ENDLESS)],
  [
    "a map, which JSON would turn into an empty object",
    { m: new Map([[1, 2]]) },
    unkept("the value at /m is a Map, which JSON cannot carry"),
  ],
  ["an error that is returned", new Error("m"), unkept("it is an Error, which JSON cannot carry")],
  [
    "a value beside text that is not JSON",
    { content: "c", value: { f: () => 1 } },
    unkept("the value at /f is a function, which JSON cannot carry"),
  ],
  ["a value that no record can hold is given as text", { ns: 1.7e18 }, { content: [{ type: "text", text: '{"ns":1700000000000000000}' }] }],
  ["a value beside text that no record can hold is dropped with a warning", { content: "c", value: 1.7e18 }, { content: "c" }, 1],
  [
    "all parts are kept",
    {
      content: [
        { type: "text", text: "a" },
        { type: "file", mediaType: "a/b", data: "QQ==", name: "n" },
        { type: "json", value: { a: [1] } },
      ],
    },
    {
      content: [
        { type: "text", text: "a" },
        { type: "file", mediaType: "a/b", data: "QQ==", name: "n" },
        { type: "json", value: { a: [1] } },
      ],
    },
  ],
  [
    "a json part that no record can hold is given as text",
    { content: [{ type: "json", value: { ns: 1.7e18 } }] },
    { content: [{ type: "text", text: '{"ns":1700000000000000000}' }] },
  ],
  [
    "an image of more than 20 MB is only named",
    { content: [{ type: "image", mediaType: "image/png", data: big(20_000_001) }] },
    { content: [{ type: "text", text: "[image/png, 20000001 bytes: too large to show]" }] },
  ],
  [
    "a file of more than 20 MB is only named",
    { content: [{ type: "file", mediaType: "a/b", data: big(20_000_004) }] },
    { content: [{ type: "text", text: "[a/b, 20000004 bytes: too large to show]" }] },
  ],
  ["a model override is kept on success", { content: "c", modelOverride: "m9" }, { content: "c", modelOverride: "m9" }],
  ["a blank model override is none", { content: "c", modelOverride: " " }, { content: "c" }],
  [
    "a model override is ignored on failure",
    { content: "c", modelOverride: "m9", error: { message: "m", type: "unknown" } },
    { content: "c", error: { message: "m", type: "unknown" } },
  ],
  ["details are kept", { content: "c", details: { a: undefined, b: null } }, { content: "c", details: { b: null } }],
  ["details that are null are JSON", { content: "c", details: null }, { content: "c", details: null }],
  ["details that are not JSON are dropped with a warning", { content: "c", details: { f: () => 1 } }, { content: "c" }, 1],
  ["a display of a known type is kept", { content: "c", display: diff }, { content: "c", display: diff }],
  ...["todo_list", "plan_summary", "task_execution", "ansi_output", "tool_progress"].map(
    (type) =>
      [
        `a display of the type ${type} is kept`,
        { content: "c", display: { type } },
        { content: "c", display: { type } as Display },
      ] as const,
  ),
  [
    "a failure without a message has one",
    { error: {} },
    { content: "Error: unknown error", error: { message: "unknown error", type: "unknown" } },
  ],
  ["a display of an unknown type is dropped with a warning", { content: "c", display: { type: "hologram" } }, { content: "c" }, 1],
  [
    "files of the full output are kept",
    { content: "c", spilled: [{ path: "/o", size: 1, sha256: "x" }] },
    { content: "c", spilled: [{ path: "/o", size: 1, sha256: "x" }] },
  ],
  ["malformed files of the full output are dropped with a warning", { content: "c", spilled: ["/o"] }, { content: "c" }, 1],
  ["lone surrogates are replaced in a text", "a\ud800", { content: "a\ufffd", display: "a\ufffd" }],
  [
    "lone surrogates are replaced in parts, errors and displays",
    { content: [{ type: "text", text: "\udc00" }], display: "\udc00", error: { message: "\udc00", type: "unknown" } },
    { content: [{ type: "text", text: "\ufffd" }], display: "\ufffd", error: { message: "\ufffd", type: "unknown" } },
  ],
  ["unknown fields are left out", { content: "c", isError: true }, { content: "c" }],
];
for (const [name, returned, expected, warnings = 0] of rows) {
  test(name, () => {
    const normalised = normalizeResult("t", returned);
    assert.deepEqual(normalised.result, expected);
    assert.equal(normalised.warnings.length, warnings);
  });
}

test("an image of exactly 20 MB is shown", () => {
  const data = `${big(20_000_000).slice(0, -1)}=`;
  assert.deepEqual(normalizeResult("t", { content: [{ type: "image", mediaType: "i", data }] }).result.content, [
    { type: "image", mediaType: "i", data },
  ]);
});

test("a result that cannot be read is not a result, and says why", () => {
  const returned = Object.defineProperty({}, "content", {
    get: () => {
      throw new Error("boom");
    },
  });
  assert.deepEqual(normalizeResult("t", returned), { result: unkept("boom"), warnings: [], unkept: true });
});

test("a plain function's value is a result whatever fields it has", () => {
  const document = { content: "text", error: "none" };
  assert.deepEqual(normalizeResult("t", jsonResult(document)).result, json(document));
  assert.deepEqual(normalizeResult("t", jsonResult("s")).result, { content: "s", display: "s", value: "s" });
  assert.deepEqual(normalizeResult("t", jsonResult(undefined)).result, { content: "(no output)" });
  assert.deepEqual(
    normalizeResult(
      "t",
      jsonResult(() => 1),
    ).result,
    unkept("it is a function, which JSON cannot carry"),
  );
});

test("a preview gives a text, a result or a preview, and no other value", () => {
  const message = "Tool 't' returned no valid result.";
  const refused = { content: `Error: ${message}`, display: message, error: { message, type: "invalid_tool_result" } };
  assert.deepEqual(readPlainResult("t", "s"), { content: "s", display: "s" });
  assert.deepEqual(readPlainResult("t", { content: "c" }), { content: "c" });
  for (const value of [{ label: "x" }, 7, undefined, { content: 1 }]) assert.deepEqual(readPlainResult("t", value), refused);
});

test("the value of a result or a recorded end", () => {
  assert.equal(resultValue({ content: "c" }), undefined);
  assert.equal(resultValue({ content: "c", value: null }), null);
  assert.deepEqual(resultValue({ content: [{ type: "json", value: [1] }] }), [1]);
  assert.equal(
    resultValue({
      content: [
        { type: "json", value: 1 },
        { type: "text", text: "t" },
      ],
    }),
    undefined,
  );
});

test("law: every value a body returns becomes a result with content, and normalising it again changes nothing", () => {
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.record({ content: fc.anything(), error: fc.anything() }, { requiredKeys: [] })), (returned) => {
      const { result } = normalizeResult("t", returned);
      assert.ok(typeof result.content === "string" ? result.content.trim() !== "" : result.content.length > 0);
      assert.deepEqual(normalizeResult("t", result), { result, warnings: [] });
    }),
  );
});
