import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What the demonstration knows while it plays: its directory, and the ids that commands have printed. */
export type Scene = { readonly workspace: string; readonly ids: { approval: string; session: string } };

/** One step: what is told, what is typed, and what must come of it. */
export type DemoStep = {
  readonly tell: string;
  readonly argv: (scene: Scene) => readonly string[];
  readonly exit: number;
  /** A sentence about the world after the step, read from the disk; it throws when the world is not so. */
  readonly world?: (scene: Scene) => string;
};

const FILE = "greetings.txt";
const GREET = `{"command":"echo hello >> ${FILE}"}`;

/** The demonstration, from a first read to the verified record. Commands are typed as anyone would type them. */
export const DEMO: readonly DemoStep[] = [
  {
    tell: "A model wants to read a file. Reading changes nothing, so nobody is asked.",
    argv: () => ["call", "read", "--input", '{"file_path":"notes.txt"}'],
    exit: 0,
  },
  {
    tell: "It wants to run a command that changes something. Nobody sits at this terminal, so the call is parked.",
    argv: () => ["call", "shell", "--input", GREET, "--on-ask", "park"],
    exit: 75,
    world: (scene) => lines(scene, 0, "nothing has run"),
  },
  {
    tell: "In another terminal, on any day, a person sees what waits …",
    argv: () => ["approvals"],
    exit: 0,
  },
  {
    tell: "… and says yes. The answer is on disk before the command returns.",
    argv: ({ ids }) => ["approve", ids.approval, "--by", "Ada"],
    exit: 0,
  },
  {
    tell: "The session goes on exactly where it stopped, and the command runs.",
    argv: ({ ids }) => ["resume", ids.session],
    exit: 0,
    world: (scene) => lines(scene, 1, "it ran once"),
  },
  {
    tell: "Resuming again prints the recorded result. A yes is used at most once.",
    argv: ({ ids }) => ["resume", ids.session],
    exit: 0,
    world: (scene) => lines(scene, 1, "it did not run again"),
  },
  {
    tell: "A deny holds in every mode, also in the one that allows everything else.",
    argv: () => ["call", "shell", "--input", '{"command":"git push --force"}', "--mode", "yolo", "--deny", "shell:command=git push*"],
    exit: 1,
  },
  {
    tell: "A call that makes no sense is refused before anyone judges it, and the model is told what to do.",
    argv: () => ["call", "shel", "--input", "{}"],
    exit: 1,
  },
  {
    tell: "All of it is on record: who proposed, judged, asked, answered, ran.",
    argv: ({ ids }) => ["log", ids.session],
    exit: 0,
  },
  {
    tell: "Every record is chained to the one before it, so damage and tampering show.",
    argv: () => ["verify"],
    exit: 0,
  },
];

function lines({ workspace }: Scene, wanted: number, so: string): string {
  const file = join(workspace, FILE);
  const found = existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
  if (found !== wanted) throw new Error(`${FILE} has ${found} lines instead of ${wanted}`);
  return wanted === 0 ? `${FILE} does not exist: ${so}.` : `${FILE} has ${found} line: ${so}.`;
}
