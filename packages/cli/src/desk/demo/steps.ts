import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export type Scene = {
  readonly workspace: string;
  readonly script: string;
  readonly ids: { approval: string; session: string; proposal: string };
};

export type DemoStep = {
  readonly tell: string;
  readonly argv: (scene: Scene) => readonly string[];
  readonly exit: number;
  /** Throws if the files are not as expected. */
  readonly world?: (scene: Scene) => string;
};

const ANSWER = '[{"id":"name","selected":["loadUser"]}]';

/** An agent renames a function, and two people decide. */
export const DEMO: readonly DemoStep[] = [
  {
    tell: "An agent has to rename a function. It reads the code, which needs no approval, and asks for the new name. No one is at the terminal, so the run is parked.",
    argv: ({ script }) => ["run", "Rename fetchUser", "--model", `script:${script}`, "--on-ask", "park", "--allow", "Agent(explorer)"],
    exit: 75,
  },
  {
    tell: "Later, in another terminal, a person sees what is waiting …",
    argv: () => ["approvals"],
    exit: 0,
  },
  {
    tell: "… and answers. The answer is saved before the command returns.",
    argv: ({ ids }) => ["approve", ids.approval, "--answers", ANSWER, "--by", "Ada"],
    exit: 0,
  },
  {
    tell: "The run continues exactly where it stopped: it previews one structural edit of three files. Applying it needs approval.",
    argv: ({ ids }) => ["resume", ids.session],
    exit: 75,
    world: (scene) => named(scene, "fetchUser", "nothing is written yet"),
  },
  {
    tell: "The previewed change is listed …",
    argv: () => ["proposals"],
    exit: 0,
  },
  {
    tell: "… and a person can read every change it would make.",
    argv: ({ ids }) => ["proposals", "show", ids.proposal],
    exit: 0,
  },
  {
    tell: "Approve it: exactly what was shown, and only if no file changed since.",
    argv: ({ ids }) => ["approve", ids.approval, "--by", "Ada"],
    exit: 0,
  },
  {
    tell: "The edit is applied. A helper agent looks for leftovers in the background. Running the tests needs approval again.",
    argv: ({ ids }) => ["resume", ids.session],
    exit: 75,
    world: (scene) => named(scene, "loadUser", "the edit was applied, once"),
  },
  {
    tell: "This time someone else approves.",
    argv: ({ ids }) => ["approve", ids.approval, "--by", "Grace"],
    exit: 0,
  },
  {
    tell: "The tests run, the model receives the helper's report, and the agent is done.",
    argv: ({ ids }) => ["resume", ids.session],
    exit: 0,
  },
  {
    tell: "Resuming again runs nothing: an approval is used at most once.",
    argv: ({ ids }) => ["resume", ids.session],
    exit: 0,
  },
  {
    tell: "A deny holds in every mode, even in the one that allows everything else.",
    argv: () => ["call", "shell", "--input", '{"command":"git push --force"}', "--mode", "yolo", "--deny", "Shell(git push*)"],
    exit: 1,
  },
  {
    tell: "An applied change can be undone, as long as the files have not changed since.",
    argv: ({ ids }) => ["undo", ids.proposal],
    exit: 0,
    world: (scene) => named(scene, "fetchUser", "every byte is as it was"),
  },
  {
    tell: "The record shows who decided what …",
    argv: ({ ids }) => ["log", ids.session, "--type", "*.answered"],
    exit: 0,
  },
  {
    tell: "… and every event is chained to the one before it, so damage and tampering are detected.",
    argv: () => ["verify"],
    exit: 0,
  },
];

function named({ workspace }: Scene, name: string, so: string): string {
  const folder = join(workspace, "src");
  const files = readdirSync(folder).filter((file) => readFileSync(join(folder, file), "utf8").includes(name));
  if (files.length !== 3) throw new Error(`${name} is in ${files.length} files instead of 3`);
  return `${name} is in 3 files: ${so}.`;
}
