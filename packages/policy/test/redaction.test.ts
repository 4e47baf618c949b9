import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createLineRedactor, createRedactor, createValueRedactor } from "../src/redaction.ts";
import type { Settings } from "../src/settings/settings.ts";

describe("secrets of known forms are hidden without any setting", () => {
  const rows: readonly [sentence: string, text: string, shown: string][] = [
    ["a key of a service", "use sk-ant-api03-AAAABBBB now", "use [redacted: key] now"],
    ["one in quotes", '{"k":"ghp_0123456789abcdef"}', '{"k":"[redacted: key]"}'],
    ["two of them", "AKIAIOSFODNN7EXAMPLE,AIzaSyA-1234567", "[redacted: key],[redacted: key]"],
    ["a bearer header", "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.e30.c2ln", "Authorization: Bearer [redacted: credentials]"],
    ["a PEM block", "a -----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY----- b", "a [redacted: private key] b"],
    ["a PEM block that is cut", "-----BEGIN RSA PRIVATE KEY-----\nMII", "[redacted: private key]"],
    [".env text", "A=1\nDB_PASSWORD=hunter2\nB=2", "A=1\nDB_PASSWORD=[redacted: secret]\nB=2"],
    ["a field of JSON", '{"apiKey": "a b", "x": 1}', '{"apiKey": [redacted: secret], "x": 1}'],
    ["a field of JSON in JSON", '"{\\"token\\":\\"abc\\"}"', '"{\\"token\\":[redacted: secret]}"'],
    ["a quote in a value", '{"token":"a\\"b","c":1}', '{"token":[redacted: secret],"c":1}'],
    ["a user in a URL", "https://me:pw@example.com/x", "https://[redacted: credentials]@example.com/x"],
    [
      "an option",
      "deploy --api-key 'a b' --db-password hunter2 -v",
      "deploy --api-key [redacted: secret] --db-password [redacted: secret] -v",
    ],
    ["an option without a value", "login --with-token < file && run --token -v", "login --with-token < file && run --token -v"],
    ["a header of any scheme", "-H 'Authorization: token abcd1234'", "-H 'Authorization: token [redacted: credentials]'"],
    ["a header without a scheme", '{"Authorization":"abcd1234"}', '{"Authorization":"[redacted: credentials]"}'],
    ["a password of curl", "curl -s -u me:hunter2 https://a.test", "curl -s -u me:[redacted: credentials] https://a.test"],
    ["a word that only sounds so", "a task-force of tokens and a secret", "a task-force of tokens and a secret"],
    ["a beginning alone", "keys begin with sk- or ghp_", "keys begin with sk- or ghp_"],
    ["nothing", "", ""],
  ];
  const redact = createRedactor([]);
  for (const [sentence, text, shown] of rows)
    test(sentence, () => {
      assert.equal(redact(text), shown);
      assert.equal(redact(shown), shown, "a second time changes nothing");
    });
});

describe("redaction.patterns are added", () => {
  type Pattern = Settings["redaction.patterns"][number];
  const rows: readonly [sentence: string, pattern: Omit<Pattern, "name">, text: string, shown: string][] = [
    ["a literal anywhere", { literal: "Project X" }, "Project X? aProject Xa", "[redacted: n]? a[redacted: n]a"],
    ["a literal is not a pattern", { literal: ".*$&" }, "abc .*$&", "abc [redacted: n]"],
    ["a prefix, to the end of the word", { prefix: "cust-" }, "cust-42, x=cust-7/b c", "[redacted: n], x=[redacted: n] c"],
    ["a prefix inside a word does not count", { prefix: "cust-" }, "acust-42", "acust-42"],
    ["a prefix of other characters", { prefix: "#:" }, "see #:a1.", "see [redacted: n]"],
    ["a key, in any case", { key: "Pin" }, "PIN=12; pin: 34, pin 56", "PIN=[redacted: n]; pin: [redacted: n], pin 56"],
    ["a key of JSON", { key: "pin" }, '{"pin":"1 2","pinned":3}', '{"pin":[redacted: n],"pinned":3}'],
    ["a key inside a name does not count", { key: "pin" }, "spin=1", "spin=1"],
    ["a quoted value without an end", { key: "pin" }, 'pin="1 2', "pin=[redacted: n]"],
    ["a key with nothing behind it", { key: "pin" }, "pin=", "pin="],
    ["all that one pattern names", { literal: "L", key: "k" }, "L k=1", "[redacted: n] k=[redacted: n]"],
  ];
  for (const [sentence, pattern, text, shown] of rows)
    test(sentence, () => assert.equal(createRedactor([{ name: "n", ...pattern }])(text), shown));

  const SPLITTING: readonly [sentence: string, pattern: Omit<Pattern, "name">, text: string][] = [
    ["the beginning of a key", { literal: "sk-" }, "use sk-ant-api03-HUNTER2HUNTER2 now"],
    ["the word before credentials", { literal: "Bearer" }, "Authorization: Bearer HUNTER2HUNTER2"],
    ["the name before a value", { literal: "password" }, "password=HUNTER2"],
    ["the sign before a value", { literal: "=" }, "DB_PASSWORD=HUNTER2"],
    ["the first line of a private key", { literal: "BEGIN" }, "-----BEGIN PRIVATE KEY-----\nHUNTER2\n-----END PRIVATE KEY-----"],
    ["the scheme of a URL", { prefix: "https:" }, "https://me:HUNTER2@example.com/x"],
    ["a part of the value of another key", { key: "token" }, "password: 'token=a HUNTER2'"],
  ];
  for (const [sentence, pattern, text] of SPLITTING)
    test(`a pattern for ${sentence} does not uncover the rest of the secret`, () =>
      assert.doesNotMatch(createRedactor([{ name: "n", ...pattern }])(text), /HUNTER2/));

  test("what is hidden is gone, and a second time changes nothing", () => {
    const redact = createRedactor([{ name: "n", prefix: "cust-", key: "pin", literal: "X Y" }]);
    const once = redact('cust-42 pin: "sk-123456789" X Y Bearer 0123456789');
    assert.equal(redact(once), once);
    for (const secret of ["42", "sk-", "X Y", "0123"]) assert.ok(!once.includes(secret), once);
  });

  test("a long text costs no more than it must", () => {
    const redact = createRedactor([{ name: "n", prefix: "a", key: "aa", literal: "ab" }]);
    for (const text of [
      "a",
      "a-",
      "token",
      "curl ",
      "curl -u ",
      "--token ",
      "Authorization: ",
      '\\\\"',
      "-----BEGIN PRIVATE KEY-----",
      "://",
      "Bearer ",
    ])
      assert.ok(redact(text.repeat(50_000)).length <= 2 * text.length * 50_000); // a placeholder may be longer than the secret
  });
});

describe("secrets in JSON values", () => {
  const redact = createValueRedactor([{ name: "project key", literal: "hunter2" }], new Set(["id"]));
  const rows = [
    [
      "a text with a key",
      { command: "curl -H 'Authorization: Bearer abcdefgh12345678'" },
      { command: "curl -H 'Authorization: Bearer [redacted: credentials]'" },
    ],
    [
      "a whole text under a name of secrets",
      { env: { DB_PASSWORD: "x y", api_key: "z" } },
      { env: { DB_PASSWORD: "[redacted: secret]", api_key: "[redacted: secret]" } },
    ],
    [
      "a name in camel case",
      { accessToken: "x", clientSecret: "y", nested: { dbPassword: ["z"] } },
      { accessToken: "[redacted: secret]", clientSecret: "[redacted: secret]", nested: { dbPassword: ["[redacted: secret]"] } },
    ],
    ["a name that is a secret", { hunter2: 1, plain: 2 }, { "[redacted: project key]": 1, plain: 2 }],
    ["a name that only contains such a word stays", { tokenCount: "12", passwordless: "yes" }, { tokenCount: "12", passwordless: "yes" }],
    ["lists and other values", { list: ["hunter2", 1, null, true] }, { list: ["[redacted: project key]", 1, null, true] }],
    ["a kept field", { id: "hunter2" }, { id: "hunter2" }],
  ] as const;
  for (const [name, value, expected] of rows) test(name, () => assert.deepEqual(redact<object>(value), expected));
});

describe("lines of a text are redacted one by one", () => {
  const rows: readonly [sentence: string, lines: readonly string[], shown: readonly string[]][] = [
    ["a secret in a line", ["a", "use sk-ant-api03-AAAABBBB now", "b"], ["a", "use [redacted: key] now", "b"]],
    [
      "a secret over several lines, each of which stays a line",
      ["x -----BEGIN PRIVATE KEY-----", "MII", "", "-----END PRIVATE KEY----- y"],
      ["x [redacted: private key]", "[redacted: private key]", "[redacted: private key]", "[redacted: private key] y"],
    ],
    ["a literal that contains a line break", ["1 ab", "cd 2"], ["1 [redacted: n]", "[redacted: n] 2"]],
    ["no lines", [], []],
  ];
  const redact = createLineRedactor([{ name: "n", literal: "ab\ncd" }]);
  for (const [sentence, lines, shown] of rows) test(sentence, () => assert.deepEqual(redact(lines), shown));
});
