import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { liveProcesses } from "../../../../../test/support/processes.ts";
import { ended, groupRuns, type Place, place, until } from "../../support/assent.ts";
import type { Line } from "../host.ts";

const FLAGS: readonly string[] = ["--model", "script:s.yaml", "--output-format", "stream-json"];
const WHERE = [
  ["foreground", false],
  ["background", true],
] as const;

function scene(command: string, background: boolean): Place {
  const at = place();
  const input = JSON.stringify({ command: command.replaceAll("ROOT", at.path(".")), run_in_background: background });
  at.write(
    "s.yaml",
    `turns: [{ calls: [{ tool: shell, id: c1, input: ${input} }] }, { say: Meanwhile. }, { say: Told. }]\nallowUnused: true`,
  );
  return at;
}

async function log(at: Place, type: string): Promise<readonly Line[]> {
  const { stdout } = await at.here(["log", "--json", "--type", type]);
  return stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
}

const has = (at: Place, name: string): boolean => existsSync(at.path(name)) && readFileSync(at.path(name), "utf8").endsWith("\n");
const numberIn = (at: Place, name: string): number => Number(readFileSync(at.path(name), "utf8"));

function runs(pid: number): boolean {
  return liveProcesses().some((live) => live.pid === pid);
}

type Killed = {
  readonly flags: readonly string[];
  readonly background: boolean;
  readonly running: () => boolean;
  readonly meanwhile?: () => Promise<void>;
};

/** Kills a run while its whole command runs, and resumes it later. */
async function killedAndResumed(at: Place, { flags, running, meanwhile, background }: Killed): Promise<void> {
  const sees = background ? "Meanwhile." : "";
  const child = at.start(["run", "go", ...flags, ...FLAGS]);
  child.stdin?.end();
  const end = ended(child);
  let seen = "";
  child.stdout?.on("data", (text: string) => {
    seen += text;
  });
  await until("all of it runs, and behind its call where it is to", () => running() && seen.includes(sees));
  child.kill("SIGKILL");
  await end;
  assert.ok(running(), "no process was left to end it");
  await meanwhile?.();
  const [session] = (await at.hereJson(["sessions"])).value;
  const went = await at.here(["resume", session.id, ...flags]);
  assert.equal(went.code, 0, went.stderr);
}

/** Checks that the record names the ended process. */
async function isTold(at: Place, background: boolean): Promise<void> {
  const [started] = await log(at, "call.started");
  const { pid } = started?.body ?? {};
  const [ended] = await log(at, background ? "task.ended" : "call.ended");
  if (!background) assert.deepEqual(ended?.body.evidence, { pid, alive: true, killed: true });
  else assert.ok(ended?.body.result.startsWith(`Its process ${pid} and its process group still ran, and were ended.`), ended?.body.result);
}

function running(commands: readonly string[]): readonly string[] {
  const lines = liveProcesses().map(({ command }) => command);
  return commands.filter((command) => lines.some((line) => line.endsWith(`/${command}`) && !line.includes(" -c ")));
}

describe("what a killed run leaves running", { concurrency: 2 }, () => {
  for (const [where, background] of WHERE) {
    test(`every stage of a planned pipeline is ended, in the ${where}`, async () => {
      const stages = [1, 2, 3].map((n) => `sleep ${300 + n}.${process.pid}${Number(background)}`);
      using at = scene(stages.join(" | "), background);
      const flags = stages.flatMap((stage) => ["--allow", `Shell(${stage})`]);
      await killedAndResumed(at, { flags, background, running: () => running(stages).length === 3 });
      await until("all stages are gone", () => running(stages).length === 0);
      await isTold(at, background);
    });

    test(`what runs on in a group whose leader has exited is ended, in the ${where}`, async () => {
      const command =
        "cd ROOT; (echo $BASHPID > member; sleep 300; echo late > late) & echo $$ > leader; until [ -e go ]; do sleep 0.01; done";
      using at = scene(command, background);
      const leaderRuns = (): boolean => has(at, "leader") && runs(numberIn(at, "leader"));
      const memberRuns = (): boolean => has(at, "member") && runs(numberIn(at, "member"));
      const meanwhile = async (): Promise<void> => {
        writeFileSync(at.path("go"), "");
        await until("the leader has exited", () => !leaderRuns());
        assert.ok(memberRuns());
      };
      await killedAndResumed(at, { flags: ["--mode", "yolo"], background, running: () => leaderRuns() && memberRuns(), meanwhile });
      await until("the group is gone", () => !groupRuns(numberIn(at, "leader")));
      assert.equal(existsSync(at.path("late")), false);
      await isTold(at, background);
    });
  }
});

test("what a background command left running in its group is ended with the run", async () => {
  using at = scene("cd ROOT; (echo $BASHPID > member; sleep 300) >/dev/null 2>&1 & echo $$ > leader", true);
  const { code, stderr } = await at.run(["run", "go", "--mode", "yolo", ...FLAGS]);
  assert.equal(code, 0, stderr);
  assert.match(JSON.stringify(await log(at, "notice.queued")), /\[still running: process /);
  await until("the group is gone", () => !groupRuns(numberIn(at, "leader")));
});
