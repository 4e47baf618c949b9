import { canonicalJson, type Json, type JsonObject, LedgerError, messageOf } from "@assent/core";
import { sha256 } from "./chain.ts";

/** A large value outside the events. */
export type Blob = { readonly sha: string; readonly bytes: Uint8Array };

/** `text` is canonical JSON without the blobs. */
export type StoredBody = { readonly text: string; readonly body: JsonObject; readonly blobs: readonly Blob[] };

const VALUE_LIMIT = 65_536;
const BODY_LIMIT = 1_048_576;
const NO_BLOBS: readonly Blob[] = [];

/** Moves values over 64 KiB, and objects with a `$blob` key, into blobs. Throws `event_invalid` or `event_too_large`. */
export function storedBody(type: string, body: JsonObject): StoredBody {
  const text = canonical(type, body);
  if (text.length * 3 <= VALUE_LIMIT || Buffer.byteLength(text) <= VALUE_LIMIT) {
    if (!text.includes('"$blob":')) return { text, body, blobs: NO_BLOBS };
  }
  return cutBody(type, body);
}

function canonical(type: string, body: JsonObject): string {
  try {
    return canonicalJson(body);
  } catch (error) {
    throw new LedgerError("event_invalid", `The body of ${type} ${messageOf(error)}.`, { type });
  }
}

function cutBody(type: string, body: JsonObject): StoredBody {
  const blobs: BlobsBySha = new Map();
  let members = Object.entries(body).flatMap(([key, value]) => (value === undefined ? [] : [cutMember(key, value, blobs)]));
  let text = joinMembers(members);
  if (Buffer.byteLength(text) > BODY_LIMIT) {
    members = members.map((member) => withoutLarge(member, blobs));
    text = joinMembers(members);
  }
  const size = Buffer.byteLength(text);
  if (size > BODY_LIMIT)
    throw new LedgerError("event_too_large", `The body of ${type} has ${size} bytes; ${BODY_LIMIT} are allowed.`, { type, size });
  return { text, body: Object.fromEntries(members.map(({ key, cut }) => [key, cut])), blobs: [...blobs.values()] };
}

type BlobsBySha = Map<string, Blob>;

/** Keeps the canonical text, because bodies can be large. */
type BodyMember = { readonly key: string; readonly value: Json; readonly cut: Json; readonly text: string };

function cutMember(key: string, value: Json, taken: BlobsBySha): BodyMember {
  const cut = hasBlob(value) ? withoutBlobs(value, taken) : value;
  return { key, value, cut, text: canonicalJson(cut) };
}

function joinMembers(members: readonly BodyMember[]): string {
  const sorted = members.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  return `{${sorted.map(({ key, text }) => `${canonicalJson(key)}:${text}`).join(",")}}`;
}

/** True if a part of the value must become a blob. Most large bodies have many small parts, so this looks before anything is copied. */
function hasBlob(value: Json): boolean {
  if (typeof value === "string") return isLarge(value);
  if (typeof value !== "object" || value === null) return false;
  if (isList(value)) return value.some(hasBlob);
  if (Object.hasOwn(value, "$blob")) return true;
  for (const key in value) if (hasBlob(value[key] ?? null)) return true;
  return false;
}

function withoutBlobs(value: Json, taken: BlobsBySha): Json {
  if (typeof value === "string") return isLarge(value) ? takeBlob(value, {}, taken) : value;
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map((item) => withoutBlobs(item, taken));
  if (Object.hasOwn(value, "$blob")) return takeBlob(canonicalJson(value), { json: true }, taken);
  const members = Object.entries(value).flatMap(([key, member]) =>
    member === undefined ? [] : [[key, withoutBlobs(member, taken)] as const],
  );
  return Object.fromEntries(members);
}

/** The member is large because of many small values. */
function withoutLarge(member: BodyMember, taken: BlobsBySha): BodyMember {
  const { value, cut, text } = member;
  if (typeof value !== "object" || value === null || !isLarge(text)) return member;
  const reference = takeBlob(cut === value ? text : canonicalJson(value), { json: true }, taken);
  return { ...member, cut: reference, text: canonicalJson(reference) };
}

function takeBlob(text: string, mark: { readonly json?: true }, taken: BlobsBySha): JsonObject {
  const bytes = Buffer.from(text);
  const sha = sha256(bytes);
  taken.set(sha, { sha, bytes });
  return { $blob: sha, size: bytes.length, ...mark };
}

function isLarge(text: string): boolean {
  return text.length * 3 > VALUE_LIMIT && Buffer.byteLength(text) > VALUE_LIMIT;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

export type BlobRef = { readonly sha: string; readonly size: number; readonly json: boolean };

function blobRef(value: Json): BlobRef | undefined {
  if (typeof value !== "object" || value === null || isList(value)) return undefined;
  const { $blob: sha, size, json } = value;
  return typeof sha === "string" && typeof size === "number" ? { sha, size, json: json === true } : undefined;
}

/** Replaces references by their content. */
export function withBlobs(value: Json, load: (sha: string) => Uint8Array | undefined): Json {
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map((item) => withBlobs(item, load));
  const ref = blobRef(value);
  if (ref) return readBlob(ref, load(ref.sha));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withBlobs(member, load)]));
}

/** Throws `blob_missing` or `blob_corrupt`. */
export function checkedBytes(sha: string, bytes: Uint8Array | undefined): Uint8Array {
  if (!bytes) throw new LedgerError("blob_missing", `The value ${sha} is not in the ledger any more.`, { sha });
  if (sha256(bytes) !== sha) throw new LedgerError("blob_corrupt", `The value ${sha} is damaged and was not used.`, { sha });
  return bytes;
}

function readBlob({ sha, json }: BlobRef, bytes: Uint8Array | undefined): Json {
  const text = Buffer.from(checkedBytes(sha, bytes)).toString();
  // Parsing: the hash matched, so this file wrote it.
  return json ? (JSON.parse(text) as Json) : text;
}

export function* blobRefs(value: Json): Generator<BlobRef> {
  if (typeof value !== "object" || value === null) return;
  const ref = blobRef(value);
  if (ref) yield ref;
  else for (const member of isList(value) ? value : Object.values(value)) yield* blobRefs(member);
}
