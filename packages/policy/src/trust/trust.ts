import { type By, type Draft, type EventBodies, knownEvent, type Ledger, naming } from "@assent/core";
import { type ConfigurationFile, type ProjectConfiguration, readProjectConfiguration } from "./project-configuration.ts";

/** A person's word that a workspace may configure Assent, with when it was given. */
export type TrustRecord = EventBodies["trust.granted"] & { readonly at: string };

/** How a workspace stands. */
export type TrustState = {
  readonly configuration: ProjectConfiguration;
  /** The newest word, if it was not taken back. */
  readonly record: TrustRecord | undefined;
  /** The word holds for exactly what is there now. */
  readonly trusted: boolean;
};

/** Looks up how a workspace stands: one look into the ledger by its real path, and its configuration files. */
export async function readTrustState(ledger: Ledger, workspace: string): Promise<TrustState> {
  const configuration = readProjectConfiguration(workspace);
  const record = await readTrustRecord(ledger, workspace);
  return { configuration, record, trusted: isTrusted(record, configuration) };
}

/** The word that stands for a workspace. Its files may be references; `ledger.resolve` gives them whole. */
async function readTrustRecord(ledger: Ledger, workspace: string): Promise<TrustRecord | undefined> {
  const key = naming({ type: "trust.revoked", body: { workspace } });
  let record: TrustRecord | undefined;
  if (key === undefined) return undefined;
  for await (const stored of ledger.read({ pos: 0 }, { naming: key })) {
    const event = knownEvent(stored);
    record = event?.type === "trust.granted" ? { ...event.body, at: event.at } : undefined;
  }
  return record;
}

/** Trust is for these bytes in this directory. Something among them that nobody can vouch for makes it void. */
export function isTrusted(record: TrustRecord | undefined, configuration: ProjectConfiguration): boolean {
  const { workspace, device, inode, digest, problems } = configuration;
  if (!record || problems.length > 0) return false;
  return record.workspace === workspace && record.device === device && record.inode === inode && record.digest === digest;
}

/** True if these are the trusted bytes of this file: whoever reads a file again must not act on another one. */
export function isTrustedFile({ trusted, configuration }: TrustState, name: string, bytes: Uint8Array): boolean {
  const file = configuration.files.find((one) => one.name === name);
  return trusted && file !== undefined && Buffer.from(file.bytes).equals(bytes);
}

/** The event that records trust in exactly this configuration, as it was read. */
export function createTrustGranted(configuration: ProjectConfiguration, by: By, at: string): Draft<"trust.granted"> {
  const { workspace, device, inode, digest } = configuration;
  return { type: "trust.granted", v: 1, at, body: { workspace, device, inode, digest, files: configuration.files.map(recordFile), by } };
}

/** The event that takes trust back. */
export function createTrustRevoked(workspace: string, by: By, at: string): Draft<"trust.revoked"> {
  return { type: "trust.revoked", v: 1, at, body: { workspace, by } };
}

type RecordedFile = EventBodies["trust.granted"]["files"][number];

function recordFile({ name, bytes }: ConfigurationFile): RecordedFile {
  const text = decodeText(bytes);
  return text === undefined ? { name, base64: Buffer.from(bytes).toString("base64") } : { name, text };
}

/** Undefined for bytes that are no UTF-8. A byte order mark is part of the text. */
function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (_noText) {
    return undefined;
  }
}

/** A file that differs between what was trusted and what is there. Null: there is none. What is no text is named by its size. */
export type ConfigurationChange = { readonly name: string; readonly before: string | null; readonly after: string | null };

/** What changed since the trusted bytes, by name. `files` are those of the record, whole. */
export function diffConfiguration(
  files: EventBodies["trust.granted"]["files"],
  configuration: ProjectConfiguration,
): readonly ConfigurationChange[] {
  const before = new Map(files.map((file) => [file.name, file]));
  const after = new Map(configuration.files.map((file) => [file.name, recordFile(file)]));
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names.flatMap((name) => {
    const [old, now] = [before.get(name), after.get(name)];
    if (old && now && fileContent(old) === fileContent(now)) return [];
    return [{ name, before: showFile(old), after: showFile(now) }];
  });
}

function fileContent(file: RecordedFile): string {
  return "text" in file ? `text:${file.text}` : `base64:${file.base64}`;
}

function showFile(file: RecordedFile | undefined): string | null {
  if (!file) return null;
  return "text" in file ? file.text : `[${Buffer.from(file.base64, "base64").length} bytes of binary data: ${file.base64.slice(0, 32)}…]\n`;
}

/**
 * One sentence for whoever runs something in a workspace that is not trusted; undefined where there is nothing to say. What its settings say and may not, the settings'
 * own warning tells; instructions are told by whoever would read them.
 */
export function describeUntrusted({ trusted, record, configuration }: TrustState): string | undefined {
  if (trusted || !(record || needsTrust(configuration))) return undefined;
  const why = record ? "changed since it was trusted" : "is not trusted";
  return `The configuration of ${configuration.workspace} ${why}, so only its stricter settings apply. To review and trust it, run: assent trust`;
}

function needsTrust({ files, problems }: ProjectConfiguration): boolean {
  return problems.length > 0 || files.some(({ name }) => name === ".mcp.json" || /^\.assent\/(?:tools|agents)\//.test(name));
}
