import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ConfirmationDetails, OpenApproval, Question } from "@assent/core";
import { sampleApproval } from "@assent/core/testing";
import { approvalLines } from "../src/desk/approvals/view.ts";
import { previewText, questionsText } from "../src/desk/questions/view.ts";
import { pressAsk } from "../src/tui/ask/keys.ts";
import { beginAsk } from "../src/tui/ask/state.ts";
import { askLines } from "../src/tui/ask/view.ts";
import { approvalCard } from "../src/tui/cards/approval-card.ts";
import { makeTheme } from "../src/tui/draw/theme.ts";
import { place } from "./support/assent.ts";

const CANVAS = { columns: 80, rows: 200, theme: makeTheme("none") };
const PLAIN = { bold: String, dim: String, red: String, green: String, yellow: String };

/** Lines of a card, as a model might write them into a text. */
const FORGED = [
  "why     FAKE",
  "tool    FAKE",
  "in      FAKE",
  "! FAKE",
  "Warning: FAKE",
  "Approval needed: FAKE",
  "y  yes, FAKE",
  "> y  Yes FAKE",
  "1  FAKE",
  "A question FAKE",
  "Enter chooses FAKE",
  "assent approve FAKE",
];
const TEXT = `harmless\n${FORGED.join("\n")}\n${FORGED.map((line) => `  ${line}`).join("\n")}`;
const LONG = FORGED.map((line) => `${"x".repeat(75)} ${line}`).join(" ");

/** Unmarked rows that begin like lines of the card. */
function imitations(rows: readonly string[]): readonly string[] {
  const shown = rows.flatMap((row) => row.split("\n"));
  assert.ok(
    shown.some((row) => row.includes("FAKE")),
    "the text is shown",
  );
  return shown.filter((row) => FORGED.some((line) => row.replace(/^ {0,4}/, "").startsWith(line)));
}

type Words = (text: string) => Partial<OpenApproval>;
const exec = (command: string, over: Partial<ConfirmationDetails> = {}): Partial<OpenApproval> => ({
  tool: "shell",
  input: { command },
  details: { type: "exec", command, rootCommand: "ls", ...over } as ConfirmationDetails,
});
const info = (prompt: string): ConfirmationDetails => ({ type: "info", prompt });
const APPROVALS: readonly (readonly [name: string, over: Words])[] = [
  ["the description of a command", (text) => exec("ls", { warnings: [`The model says: ${text}`] })],
  ["a command", (text) => exec(text)],
  ["a directory", (text) => exec("ls", { cwd: text } as Partial<ConfirmationDetails>)],
  ["a title", (text) => ({ title: text })],
  ["a prompt", (text) => ({ details: info(text) })],
  ["an address", (text) => ({ details: { ...info("fetch"), urls: [text] } as ConfirmationDetails })],
  ["a plan", (text) => ({ details: { type: "plan", plan: text } as ConfirmationDetails })],
  ["another field of the input", (text) => ({ input: { note: text } })],
  ["the name of a field", (text) => ({ input: { [text]: "x" } })],
  ["the name of an agent", (text) => ({ agentName: text })],
  ["a tool of a server", (text) => ({ details: { type: "mcp", serverName: text, toolName: text, toolDisplayName: text } })],
  [
    "the path of an edit",
    (text) => ({ details: { type: "edit", fileName: text, filePath: text, fileDiff: "", originalContent: "", newContent: "x" } }),
  ],
];

describe("text of a model cannot pass for a line of the card that shows it", () => {
  for (const [name, over] of APPROVALS) {
    for (const text of [TEXT, LONG]) {
      test(`${name}${text === LONG ? ", as one long line" : ""}`, () => {
        const approval = sampleApproval({ ...over(text) });
        const card = approvalCard(approval, { editable: undefined, editor: false });
        const cut = name === "a title" && text === LONG; // a long title is cut
        if (!cut) assert.deepEqual(imitations(card.view(card.begin(), CANVAS)), [], "at the terminal interface");
        assert.deepEqual(imitations(approvalLines(approval, { columns: 80, style: PLAIN })), [], "line by line");
      });
    }
  }

  const QUESTIONS: readonly (readonly [name: string, over: (text: string) => Partial<Question>])[] = [
    ["a question", (question) => ({ question })],
    ["an option", (label) => ({ options: [{ label }, { label: "B" }] })],
    ["what an option means", (description) => ({ options: [{ label: "A", description }, { label: "B" }] })],
    ["the preview of an option", (preview) => ({ options: [{ label: "A", preview }, { label: "B" }] })],
    ["a question that takes a text", (question) => ({ question, options: [] })],
  ];
  for (const [name, over] of QUESTIONS) {
    test(name, () => {
      const question: Question = { id: "q", question: "Which?", options: [{ label: "A" }, { label: "B" }], multi: false, ...over(TEXT) };
      const begun = beginAsk([question]);
      const shown = name.startsWith("the preview") ? pressAsk([question], begun, { name: "p" }).state : begun;
      assert.deepEqual(imitations(askLines({ questions: [question] }, shown, { ...CANVAS, columns: 2_000 })), []);
      const preview = question.options[0]?.preview;
      const text = preview === undefined ? questionsText([question], 2_000) : previewText(preview, 2_000);
      assert.deepEqual(imitations([text]), []);
    });
  }

  test("what assent approvals shows of a request that waits", async () => {
    using at = place();
    const input = JSON.stringify({ command: `touch '${TEXT}'`, description: "harmless\nwhy     FAKE\nassent approve FAKE" });
    const { value } = await at.hereJson(["call", "shell", "--input", input, "--on-ask", "park"]);
    for (const argv of [["approvals", "show", value.approvalId], ["approvals"]]) {
      const { stdout, code } = await at.here(argv);
      assert.equal(code, 0);
      const rows = stdout.split("\n").filter((row) => FORGED.some((line) => row.startsWith(line)));
      assert.deepEqual(rows, []);
    }
  });
});
