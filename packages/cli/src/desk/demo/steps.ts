import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What the demonstration knows while it plays: its directories, and the ids that commands have printed. */
export type Scene = {
  readonly workspace: string;
  readonly script: string;
  readonly ids: { approval: string; session: string; proposal: string };
};

/** One step: what is told, what is typed, and what must come of it. */
export type DemoStep = {
  readonly tell: string;
  readonly argv: (scene: Scene) => readonly string[];
  readonly exit: number;
  /** A sentence about the world after the step, read from the disk; it throws when the world is not so. */
  readonly world?: (scene: Scene) => string;
};

const ANSWER = '[{"id":"name","selected":["loadUser"]}]';

/** The demonstration: an agent renames a function, two people decide. Commands are typed as anyone would type them. */
export const DEMO: readonly DemoStep[] = [
  {
    tell: "An agent is to rename a function. It reads the code, which needs no yes, and asks what the new name is. Nobody sits here, so it parks.",
    argv: ({ script }) => ["run", "Rename fetchUser", "--model", `script:${script}`, "--on-ask", "park", "--allow", "Agent(explorer)"],
    exit: 75,
  },
  {
    tell: "In another terminal, on any day, a person sees what waits …",
    argv: () => ["approvals"],
    exit: 0,
  },
  {
    tell: "… and answers. The answer is on disk before the command returns.",
    argv: ({ ids }) => ["approve", ids.approval, "--answers", ANSWER, "--by", "Ada"],
    exit: 0,
  },
  {
    tell: "The run goes on exactly where it stopped: one structural edit of three files, previewed. Applying it needs a person.",
    argv: ({ ids }) => ["resume", ids.session],
    exit: 75,
    world: (scene) => named(scene, "fetchUser", "nothing is written yet"),
  },
  {
    tell: "What was previewed is listed, too …",
    argv: () => ["proposals"],
    exit: 0,
  },
  {
    tell: "… and every change it would make can be read first.",
    argv: ({ ids }) => ["proposals", "show", ids.proposal],
    exit: 0,
  },
  {
    tell: "Yes: exactly what was shown, and only if no file changed since.",
    argv: ({ ids }) => ["approve", ids.approval, "--by", "Ada"],
    exit: 0,
  },
  {
    tell: "It is applied. A helper agent looks for leftovers in the background, and the tests are to run, which needs a yes again.",
    argv: ({ ids }) => ["resume", ids.session],
    exit: 75,
    world: (scene) => named(scene, "loadUser", "the edit was applied, once"),
  },
  {
    tell: "Somebody else says yes this time.",
    argv: ({ ids }) => ["approve", ids.approval, "--by", "Grace"],
    exit: 0,
  },
  {
    tell: "The tests run, the helper's notice is told to the model, and the agent is done.",
    argv: ({ ids }) => ["resume", ids.session],
    exit: 0,
  },
  {
    tell: "Resuming again runs nothing: a yes is used at most once.",
    argv: ({ ids }) => ["resume", ids.session],
    exit: 0,
  },
  {
    tell: "A deny holds in every mode, also in the one that allows everything else.",
    argv: () => ["call", "shell", "--input", '{"command":"git push --force"}', "--mode", "yolo", "--deny", "Shell(git push*)"],
    exit: 1,
  },
  {
    tell: "What was applied can be taken back, as long as nobody changed it since.",
    argv: ({ ids }) => ["undo", ids.proposal],
    exit: 0,
    world: (scene) => named(scene, "fetchUser", "every byte is as it was"),
  },
  {
    tell: "Who decided what is on record, with everything else …",
    argv: ({ ids }) => ["log", ids.session, "--type", "*.answered"],
    exit: 0,
  },
  {
    tell: "… and every record is chained to the one before it, so damage and tampering show.",
    argv: () => ["verify"],
    exit: 0,
  },
];

function named({ workspace }: Scene, name: string, so: string): string {
  const folder = join(workspace, "src");
  const files = readdirSync(folder).filter((file) => readFileSync(join(folder, file), "utf8").includes(name));
  if (files.length !== 3) throw new Error(`${name} stands in ${files.length} files instead of 3`);
  return `${name} stands in 3 files: ${so}.`;
}
