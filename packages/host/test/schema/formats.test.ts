import assert from "node:assert/strict";
import { test } from "node:test";
import { ajvSchemas } from "../../src/schema/ajv-schemas.ts";

const GOOD: Readonly<Record<string, readonly string[]>> = {
  date: ["2024-02-29", "2000-02-29", "0000-01-01", "1999-12-31"],
  time: ["00:00:00Z", "23:59:60z", "12:30:00.123+02:00"],
  "date-time": ["2024-02-29T12:00:00Z", "2024-01-01t00:00:00.5-11:30", "2024-01-01 00:00:00Z"],
  duration: ["P1Y", "P3D", "PT5M", "P1Y2M3DT4H5M6S", "P2W"],
  email: ["a@b.test", "first.last+tag@sub.example.test"],
  hostname: ["localhost", "a-b.example.test", "1.test"],
  ipv4: ["127.0.0.1", "255.255.255.255"],
  ipv6: ["::1", "2001:db8::1", "::ffff:1.2.3.4"],
  "json-pointer": ["", "/a/b", "/a~0b/~1", "/"],
  "relative-json-pointer": ["0", "1/a", "2#"],
  regex: ["^a+$", ""],
  uri: ["https://example.test/a?b#c", "urn:x:y", "mailto:a@b.test"],
  "uri-reference": ["/a/b", "a?b", "https://example.test", ""],
  uuid: ["123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000"],
};
const BAD: Readonly<Record<string, readonly string[]>> = {
  date: ["2023-02-29", "1900-02-29", "2024-13-01", "2024-00-10", "2024-1-1", "2024-04-31", "x"],
  time: ["24:00:00Z", "12:00:00", "12:60:00Z", "12:00Z"],
  "date-time": ["2024-01-01", "2024-01-01T00:00:00", "2024-02-30T00:00:00Z", "tomorrow"],
  duration: ["P", "PT", "1Y", "P1H", "P1W2D"],
  email: ["a", "@b.test", "a@", ".a@b.test", "a..b@c.test", "a b@c.test", "a@b@"],
  hostname: ["-a.test", "a-.test", "a..b", "", `${"a".repeat(64)}.test`, "a_b"],
  ipv4: ["256.1.1.1", "1.2.3", "01.2.3.4"],
  ipv6: ["::g", "1::2::3", "fe80::1%eth0"],
  "json-pointer": ["a", "/a~2", "/~"],
  "relative-json-pointer": ["01", "-1", "/a"],
  regex: ["(", "[a"],
  uri: ["/a", "example.test", "http://a b", "https://example.test/%zz", "http://[::1", "a\\b:c"],
  "uri-reference": ["a b", "\\\\x"],
  uuid: ["123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400g"],
};

const schemas = ajvSchemas();
const isValid = (format: string, text: string): boolean => schemas.compile({ type: "string", format })(text).length === 0;

test("the same formats have rows on both sides", () => {
  assert.deepEqual(Object.keys(GOOD), Object.keys(BAD));
});
for (const [format, texts] of Object.entries(GOOD)) {
  for (const text of texts) test(`${format} accepts ${JSON.stringify(text)}`, () => assert.equal(isValid(format, text), true));
}
for (const [format, texts] of Object.entries(BAD)) {
  for (const text of texts) test(`${format} refuses ${JSON.stringify(text)}`, () => assert.equal(isValid(format, text), false));
}
