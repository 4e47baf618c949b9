import { appendFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { By, Clock } from "@assent/core";
import { createSystemClock } from "@assent/host";
import { ProcessTerminal } from "@earendil-works/pi-tui";
import type { ApprovalEditor } from "../../../src/desk/approvals/editor.ts";
import { askQuestioner } from "../../../src/tui/ask/questioner.ts";
import { cardApprover } from "../../../src/tui/cards/approver.ts";
import { createCardStack } from "../../../src/tui/cards/stack.ts";
import type { Canvas } from "../../../src/tui/draw/dialog.ts";
import { makeTheme, themeFromEnvironment } from "../../../src/tui/draw/theme.ts";
import { readKey } from "../../../src/tui/input/read-key.ts";
import { LiveScreen } from "../../../src/tui/screen/live-screen.ts";
import { SCENES } from "./scenes.ts";

/** Arguments for Node that put these scenes on a desk, one after the other; `a+b` puts both there at once. What comes of each is a line of the file. */
export function stage(file: string, scenes: readonly string[]): readonly string[] {
  return ["--conditions=@assent/source", fileURLToPath(import.meta.url), file, ...scenes];
}

/** Everything can be edited, and stands as it was edited: there is no policy here. */
const EDITING: ApprovalEditor = {
  editable: ({ details }) => (details.type === "exec" ? "command" : details.type === "edit" ? "content" : undefined),
  hasEditor: () => true,
  open: async () => ({ message: "There is no editor on this stage." }),
  openText: async () => ({ message: "There is no editor on this stage." }),
  revise: async (asked, edit) => {
    const command = "updatedInput" in edit ? String(edit.updatedInput["command"]) : "";
    return { ...asked, input: { command }, details: { type: "exec", command, rootCommand: "" } };
  },
};

if (process.argv[1] === fileURLToPath(import.meta.url)) await play(process.argv[2] ?? "", process.argv.slice(3));

/** Only what is under test, and nothing of the shell: a desk, a line for keys the desk did not want, and what came of it. */
async function play(file: string, scenes: readonly string[]): Promise<void> {
  const clock: Clock = createSystemClock();
  let draft = "";
  const terminal = new ProcessTerminal();
  const theme = makeTheme(themeFromEnvironment(process.env) ?? "dark");
  const canvas = (): Canvas => ({ columns: terminal.columns, rows: terminal.rows - 2, theme });
  const tui: LiveScreen = new LiveScreen(terminal, {
    frame: () => ({ printed: [], lines: [...desk.view(canvas()), `draft: ${draft}`] }),
    painted: () => desk.painted(canvas()),
  });
  const desk = createCardStack({ clock, changed: () => tui.requestRender() });
  tui.addInputListener((data) => {
    const key = readKey(data);
    if (!key) return { consume: true };
    if (!("pasted" in key) && key.name === "ctrl+n") desk.turn();
    else if (!desk.key(key, canvas())) draft += "name" in key ? key.name : key.pasted;
    tui.requestRender();
    return { consume: true };
  });
  tui.start();
  const by: By = { kind: "person", user: "u", name: "U", door: "tui", pid: 1 };
  const approver = cardApprover({ stack: desk, by, edit: EDITING });
  const questioner = askQuestioner({ stack: desk, clock, by, notify: () => undefined });
  const until = new AbortController().signal;
  const ask = async (name: string): Promise<void> => {
    const scene = SCENES[name];
    if (!scene) throw new Error(`there is no scene ${name}`);
    const answer = await ("approval" in scene
      ? approver.ask(scene.approval, until)
      : questioner.ask(scene.question, until, () => undefined));
    appendFileSync(file, `${JSON.stringify({ scene: name, answer })}\n`);
  };
  for (const scene of scenes) await Promise.all(scene.split("+").map(ask));
  tui.stop();
}
