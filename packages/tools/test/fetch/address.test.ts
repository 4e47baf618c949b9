import assert from "node:assert/strict";
import { test } from "node:test";
import { isPublicAddress } from "../../src/fetch/public-address.ts";
import { fetcher, inside, server, text } from "./server.ts";

const ADDRESSES: readonly (readonly [what: string, address: string, isPublic: boolean])[] = [
  ["an IPv4 address anybody can reach", "93.184.215.14", true],
  ["just below a private network", "9.255.255.255", true],
  ["just above it", "11.0.0.0", true],
  ["this machine", "127.0.0.1", false],
  ["another address of this machine", "127.255.255.254", false],
  ["no address, which leads to this machine", "0.0.0.0", false],
  ["private 10/8", "10.1.2.3", false],
  ["private 172.16/12, first", "172.16.0.1", false],
  ["private 172.16/12, last", "172.31.255.255", false],
  ["above 172.16/12", "172.32.0.1", true],
  ["private 192.168/16", "192.168.1.1", false],
  ["link-local", "169.254.1.1", false],
  ["metadata of most clouds", "169.254.169.254", false],
  ["metadata in a shared network", "100.100.100.200", false],
  ["shared by a provider's customers, last", "100.127.255.255", false],
  ["above it", "100.128.0.1", true],
  ["services of a cloud for its machines", "168.63.129.16", false],
  ["metadata among protocol assignments", "192.0.0.192", false],
  ["for documents", "203.0.113.7", false],
  ["for measuring", "198.19.0.1", false],
  ["multicast", "224.0.0.251", false],
  ["reserved", "240.0.0.1", false],
  ["broadcast", "255.255.255.255", false],
  ["an IPv6 address anybody can reach", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", true],
  ["this machine by IPv6", "::1", false],
  ["no address by IPv6", "::", false],
  ["link-local by IPv6", "fe80::1", false],
  ["link-local with its interface", "fe80::1%eth0", false],
  ["a public address with an interface", "2606:2800::1%eth0", false],
  ["unique-local", "fd12:3456::1", false],
  ["metadata by IPv6", "fd00:ec2::254", false],
  ["site-local", "fec0::1", false],
  ["multicast by IPv6", "ff02::1", false],
  ["for documents by IPv6", "2001:db8::1", false],
  ["for documents by IPv6, the newer ones", "3fff::1", false],
  ["IPv4 in IPv6, private", "::ffff:10.0.0.1", false],
  ["IPv4 in IPv6, public", "::ffff:93.184.215.14", false],
  ["IPv4 in IPv6, written in hex", "::ffff:7f00:1", false],
  ["IPv4 in IPv6, the old way", "::127.0.0.1", false],
  ["6to4 of a private address", "2002:7f00:1::", false],
  ["Teredo", "2001:0:4136:e378:8000:63bf:3fff:fdd2", false],
  ["translated, private", "64:ff9b::10.0.0.1", false],
  ["translated, this machine", "64:ff9b::7f00:1", false],
  ["translated, metadata", "64:ff9b::a9fe:a9fe", false],
  ["translated, nothing but zeros before", "64:ff9b::1", false],
  ["translated, public", "64:ff9b::5db8:d70e", true],
  ["translated within a private network", "64:ff9b:1::5db8:d70e", false],
  ["a name", "localhost", false],
  ["an address in hex", "0x7f000001", false],
  ["nothing", "", false],
];
for (const [what, address, expected] of ADDRESSES) {
  test(`${what}: ${address} is ${expected ? "" : "not "}public`, () => assert.equal(isPublicAddress(address), expected));
}

const SPELLINGS = [
  "127.0.0.1",
  "127.1",
  "2130706433",
  "0x7f000001",
  "0x7f.0.0.1",
  "017700000001",
  "0177.0.0.1",
  "127.0.0.1.",
  "%31%32%37.0.0.1",
  "１２７.0.0.1",
  "0",
  "[::1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[0:0:0:0:0:0:0:1]",
  "localhost",
  "LOCALHOST.",
];
for (const host of SPELLINGS) {
  test(`${host} is this machine however it is written, and is not fetched`, async (t) => {
    const { port, asked } = await server(t, { "/": text("secret") });
    const result = await fetcher(t, { privateAllowed: () => false })({ url: `http://${host}:${port}/` });
    assert.equal(result.error?.type, "web_fetch_blocked");
    assert.equal(asked.length, 0);
  });
}

test("without a rule no private host is fetched", async (t) => {
  const { origin, asked } = await server(t, { "/": text("secret") });
  const fetch = fetcher(t, { privateAllowed: undefined as never });
  const result = await fetch({ url: `${origin}/` });
  assert.equal(result.error?.type, "web_fetch_blocked");
  assert.match(result.error.message, new RegExp(`an allow rule that names the host permits it: fetch:url=${origin}/\\*$`));
  assert.equal(asked.length, 0);
});

test("a name that leads into a private network is not fetched; the rule that would allow it is named", async (t) => {
  const lookup = async () => [{ address: "10.0.0.7", family: 4 }];
  const result = await fetcher(t, { lookup, privateAllowed: () => false })({ url: "https://wiki.example.test/a" });
  assert.equal(result.error?.type, "web_fetch_blocked");
  assert.match(result.error.message, /wiki\.example\.test leads to 10\.0\.0\.7,.*: WebFetch\(=wiki\.example\.test\)$/);
});

test("one private address among public ones refuses all", async (t) => {
  const lookup = async () => [
    { address: "93.184.215.14", family: 4 },
    { address: "::1", family: 6 },
  ];
  const result = await fetcher(t, { lookup, privateAllowed: () => false })({ url: "http://mixed.test/" });
  assert.equal(result.error?.type, "web_fetch_blocked");
});

test("a host without any address is not fetched", async (t) => {
  const result = await fetcher(t, { lookup: async () => [] })({ url: "http://none.test/" });
  assert.equal(result.error?.type, "web_fetch_failed");
});

test("what allows a private host is asked about the very URL", async (t) => {
  const { port } = await server(t, { "/x": text("inner") });
  const asked: string[] = [];
  const lookup = async () => [{ address: "127.0.0.1", family: 4 }];
  const privateAllowed = (url: string): boolean => asked.push(url) > 0;
  const result = await fetcher(t, { lookup, privateAllowed })({ url: `http://Inner.test.:${port}/x` });
  assert.equal(inside(result), "inner");
  assert.deepEqual(asked, [`http://inner.test:${port}/x`]);
});

test("a name is looked up once, and the address that was checked is the one that is connected to", async (t) => {
  const first = await server(t, { "/": text("first") });
  const second = await server(t, { "/": text("second") }, { host: "127.0.0.2", port: first.port });
  let times = 0;
  const lookup = async () => [{ address: times++ === 0 ? "127.0.0.1" : "127.0.0.2", family: 4 }];
  const result = await fetcher(t, { lookup })({ url: `http://changing.test:${first.port}/` });
  assert.equal(inside(result), "first");
  assert.deepEqual([times, first.asked.length, second.asked.length], [1, 1, 0]);
  assert.equal(first.asked[0]?.headers.host, `changing.test:${first.port}`);
});

test("where the first address does not answer, the next one that was checked is tried", async (t) => {
  const { port } = await server(t, { "/": text("second") }, { host: "127.0.0.2" });
  const lookup = async () => [
    { address: "127.0.0.1", family: 4 },
    { address: "127.0.0.2", family: 4 },
  ];
  assert.equal(inside(await fetcher(t, { lookup })({ url: `http://two.test:${port}/` })), "second");
});
