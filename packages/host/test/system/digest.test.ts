import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeDigest } from "../../src/system/digest.ts";

const ROWS: readonly (readonly [name: string, text: string, digest: string])[] = [
  ["the empty text", "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
  ["plain text", "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
  ["text beyond ASCII is taken as UTF-8", "é", "4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c"],
  [
    "a lone surrogate is the replacement character, not an error",
    "\ud800",
    "83d544ccc223c057d2bf80d3f2a32982c32c3c0db8e2674820da5064783fb097",
  ],
];

for (const [name, text, digest] of ROWS) test(name, () => assert.equal(nodeDigest.sha256(text), digest));

test("bytes are taken as they are", () => {
  assert.equal(nodeDigest.sha256Bytes?.(Buffer.from("abc")), ROWS[1]?.[2]);
  assert.equal(nodeDigest.sha256Bytes?.(Uint8Array.of(0xff)), "a8100ae6aa1940d0b663bb31cd466142ebbdbd5187131b92d93818987832eb89");
});
