import { isObject, type Json, type JsonObject, type RunContext, type Schemas } from "@assent/core";
import type { ElicitRequestParams, ElicitResult } from "@modelcontextprotocol/client";

/** A question of the tool `ask`. */
type AskedQuestion = { id: string; question: string; header?: string; options: { label: string; description?: string }[]; multi?: boolean };

type Fields = Readonly<Record<string, JsonObject>>;

const CONTINUE = "Continue";
const DECLINE = "Decline";
const OPENED = "I opened it";
const MOST_OPTIONS = 20;
const MOST_TRIES = 3;
const LONGEST_URL = 1_500;

/** What `elicit` needs to ask a person. */
export type ElicitParts = { readonly server: string; readonly gate: RunContext["gate"]; readonly schemas: Schemas };

/** A server that asks again and again during one call must not keep the person from everything else. */
const MOST_QUESTIONS = 50;
const MOST_REFUSED = 3;

/** Asks for the server of one call, one question after the other. After too many questions, or too many without an answer, all are cancelled. */
export function createElicitor(parts: ElicitParts): (params: ElicitRequestParams) => Promise<ElicitResult> {
  let asked = 0;
  let refused = 0;
  let last: Promise<unknown> = Promise.resolve();
  const askNext = async (params: ElicitRequestParams): Promise<ElicitResult> => {
    if (asked === MOST_QUESTIONS || refused === MOST_REFUSED) return { action: "cancel" };
    asked += 1;
    const result = await elicit(params, parts);
    if (result.action !== "accept") refused += 1;
    return result;
  };
  return (params) => {
    const next = last.then(() => askNext(params));
    last = next.catch(() => undefined); // reported to the server
    return next;
  };
}

/**
 * Turns what a server asks into a question to the person, as a call of `ask` inside the running call: it is recorded, and can be answered wherever questions can.
 * If no person can be asked, or an answer comes from a timeout, the server learns that the request was cancelled.
 */
async function elicit(params: ElicitRequestParams, { server, gate, schemas }: ElicitParts): Promise<ElicitResult> {
  if (params.mode === "url") return await askToOpen(params, { server, gate });
  const properties: Fields = isObject(params.requestedSchema.properties) ? (params.requestedSchema.properties as Fields) : {};
  const required = params.requestedSchema.required ?? [];
  const validate = schemas.compile(params.requestedSchema as JsonObject);
  const warning = Object.entries(properties).some(asksForSecret) ? SECRET_WARNING : "";
  let problem = "";
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const text = `The MCP server ${server} asks: ${params.message.slice(0, LONGEST_MESSAGE)}${warning}${problem}`;
    const first = { ...question("go_on", text, [CONTINUE, DECLINE]), header: server.slice(0, 16) };
    const fields = Object.entries(properties).map(([name, schema], at) => fieldQuestion(`f${at}`, name, schema, required.includes(name)));
    const answers = await ask(gate, [first, ...fields]);
    const decision = answers?.get("go_on")?.[0];
    if (!answers || decision !== CONTINUE) return { action: decision === DECLINE ? "decline" : "cancel" };
    const content = Object.fromEntries(
      Object.entries(properties).flatMap(([name, schema], at) => {
        const value = fieldValue(schema, answers.get(`f${at}`) ?? []);
        return value === undefined ? [] : [[name, value] as const];
      }),
    );
    const [fault] = validate(content);
    if (!fault) return { action: "accept", content: content as Record<string, string | number | boolean | string[]> };
    problem = `\n(The last answer did not fit: ${fault.pointer.slice(1)} ${fault.text}.)`;
  }
  return { action: "cancel" };
}

const LONGEST_MESSAGE = 1_500;
const SECRET_WARNING =
  "\n(Do not enter passwords or keys here: the answer goes to the server and is recorded. A server should ask for them on a web page.)";

function asksForSecret([name, { title }]: readonly [string, JsonObject]): boolean {
  return /pass(?:word|phrase|code)|secret|token|api.?key|credential|\bpin\b|card.?number|\bcvv?\b/i.test(`${name} ${title}`);
}

async function askToOpen(
  { url, message }: Extract<ElicitRequestParams, { mode: "url" }>,
  { server, gate }: Omit<ElicitParts, "schemas">,
): Promise<ElicitResult> {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return { action: "decline" };
  if (url.length > LONGEST_URL) return { action: "decline" }; // the person could not see all of it
  const text = `The MCP server ${server} asks you to open a page of ${new URL(url).host}:\n${url}\n${message}`;
  const answers = await ask(gate, [question("open", text, [OPENED, DECLINE])]);
  const [decision] = answers?.get("open") ?? [];
  if (decision === OPENED) return { action: "accept" };
  return { action: decision === DECLINE ? "decline" : "cancel" };
}

function question(id: string, text: string, labels: readonly string[]): AskedQuestion {
  return { id, question: text.slice(0, 2_000), options: labels.map((label) => ({ label })) };
}

/** Answers by question; undefined if there is none, or if it was chosen by a timeout. */
async function ask(
  gate: RunContext["gate"],
  questions: readonly AskedQuestion[],
): Promise<ReadonlyMap<string, readonly string[]> | undefined> {
  try {
    const { details } = await gate({ name: "ask", arguments: { questions } });
    const results: readonly Json[] =
      isObject(details) && Array.isArray(details["results"])
        ? (details["results"] as Json[])
        : [{ ...Object(details), id: questions[0]?.id }];
    if (results.some((one) => isObject(one) && (one["outcome"] === "timed_out" || one["automatic"] === true))) return undefined;
    return new Map(results.map((one) => [String(Object(one).id), chosenTexts(Object(one))]));
  } catch {
    return undefined; // no person can be asked, or the question was cancelled
  }
}

function chosenTexts({
  selectedOptions,
  customInput,
}: {
  readonly selectedOptions?: unknown;
  readonly customInput?: unknown;
}): readonly string[] {
  const selected = Array.isArray(selectedOptions) ? selectedOptions.map(String) : [];
  return typeof customInput === "string" ? [...selected, customInput] : selected;
}

function fieldQuestion(id: string, name: string, schema: JsonObject, isRequired: boolean): AskedQuestion {
  const title = typeof schema["title"] === "string" ? schema["title"] : name;
  const about = typeof schema["description"] === "string" ? `: ${schema["description"]}` : "";
  const choices = choicesOf(schema);
  return {
    ...question(
      id,
      `${title}${about}${[isRequired ? "" : " (optional)", describeDefault(schema)].join("")}`,
      choices.length > MOST_OPTIONS ? [] : choices.map(({ label }) => label),
    ),
    header: title.slice(0, 16) || name.slice(0, 16),
    ...(schema["type"] === "array" && { multi: true }),
  };
}

type Choice = { readonly label: string; readonly value: string | boolean };

function choicesOf(schema: JsonObject): readonly Choice[] {
  if (schema["type"] === "boolean")
    return [
      { label: "Yes", value: true },
      { label: "No", value: false },
    ];
  const source = schema["type"] === "array" && isObject(schema["items"]) ? (schema["items"] as JsonObject) : schema;
  const titled = [source["oneOf"], source["anyOf"]].find(Array.isArray) ?? [];
  if (titled.length > 0)
    return titled.filter(isObject).map((one) => ({ label: String(one["title"] ?? one["const"]), value: String(one["const"]) }));
  const names = Array.isArray(source["enumNames"]) ? source["enumNames"] : [];
  return Array.isArray(source["enum"])
    ? source["enum"].map((value, at) => ({ label: String(names[at] ?? value), value: String(value) }))
    : [];
}

function describeDefault(schema: JsonObject): string {
  const { default: given } = schema;
  if (given === undefined) return "";
  const labels = [given].flat().map((one) => choicesOf(schema).find(({ value }) => value === one)?.label ?? String(one));
  return ` (without an answer: ${labels.join(", ")})`;
}

/** Without an answer, the default that the question named; undefined if there is none. */
function fieldValue(schema: JsonObject, texts: readonly string[]): Json | undefined {
  if (texts.length === 0) return schema["default"];
  const choices = choicesOf(schema);
  const values = texts.map((text) => choices.find(({ label }) => label === text)?.value ?? text);
  if (schema["type"] === "array") return values;
  const [value] = values;
  const isNumber = schema["type"] === "number" || schema["type"] === "integer";
  return isNumber && typeof value === "string" && value.trim() !== "" ? Number(value) : value;
}
