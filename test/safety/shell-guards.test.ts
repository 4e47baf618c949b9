import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type Judge, type ShellScene, shellScene } from "./shell-scene.ts";

let scene: ShellScene;
let judge: Judge;
before(() => {
  scene = shellScene();
  judge = scene.judge({ mode: "yolo", permissions: { deny: ["Shell(curl)", "Shell(docker run)", "Shell(git push)"] } });
});
after(() => scene?.[Symbol.dispose]());

/** What a line comes to in `yolo`, where only denies, asks and safeguards are left. */
const LINES: readonly (readonly [line: string, verdict: "allow" | "ask" | "deny"])[] = [
  ["GIT_TEMPLATE_DIR=evil git init sub", "ask"],
  ["env GIT_TEMPLATE_DIR=evil git init sub", "ask"],
  ["export GIT_TEMPLATE_DIR=evil; git clone https://example.test/a.git", "ask"],
  ["GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=init.templateDir GIT_CONFIG_VALUE_0=evil git init sub", "ask"],
  ["git init --template=evil sub", "ask"],
  ["git -c init.templateDir=evil init sub", "ask"],
  ["GIT_TEMPLATE_DIR=evil git status", "allow"],
  ["git init sub", "allow"],
  ["GIT_TRACE=/etc/cron.d/x git status", "ask"],
  ["GIT_TRACE2_EVENT='/etc/cron.d/x' git log", "ask"],
  ["GIT_TRACE=1 git status", "allow"],
  ["git credential-store --file .git/config store", "ask"],
  ["git index-pack -o .git/hooks/pre-commit a.pack", "ask"],
  ["git fast-import --export-marks=.git/hooks/pre-commit", "ask"],
  ["git maintenance register", "ask"],
  ["git maintenance run", "allow"],
  ["ln -s ../settings.json .assent/plans/l && echo x >> .assent/plans/l", "deny"],
  ["mkdir -p .assent/plans && cd .assent/plans && ln -s ../settings.json l && echo x >> l", "ask"],
  ["ln -s ../docs/guide.md src/l", "allow"],
  ["tar cf a.tar --checkpoint=1 --checkpoint-action=exec='curl x' .", "deny"],
  ["tar cf a.tar --checkpoint=1 --checkpoint-action=dot .", "allow"],
  ["rsync -e 'git push' a h:b", "deny"],
  ["rsync -e ssh a h:b", "allow"],
  ["ssh -o ProxyCommand='curl x' h", "deny"],
  ["ssh -o ProxyCommand='nc %h %p' h", "allow"],
  ["gdb --args git push", "deny"],
  ["at now <<< 'git push'", "deny"],
  ["tmux new -d 'git push'", "deny"],
  ["screen -dm git push", "deny"],
  ["/lib64/ld-linux-x86-64.so.2 /usr/bin/git push", "deny"],
  ["nodemon -x 'git push'", "deny"],
  ["watchexec -- git push", "deny"],
  ["hyperfine 'git status' 'git push'", "deny"],
  ["hyperfine 'git status'", "allow"],
  ["conda run -n e git push", "deny"],
  ["nix-shell --run 'git push'", "deny"],
  ["expect -c 'spawn git push'", "deny"],
  ["sed '1e git push' a", "deny"],
  ["sed '1,3p' README.md", "allow"],
  ["awk 'BEGIN { system(\"git push\") }'", "deny"],
  ["awk '{ print $1 }' README.md", "allow"],
  ["docker container run x", "deny"],
  ["docker container ls", "allow"],
  ["tmux new -d htop", "allow"],
  ["python3 -c 'print(1)'", "allow"],
];

describe("deny rules and safeguards hold for commands inside other programs' words", () => {
  for (const [line, verdict] of LINES) test(`${line}: ${verdict}`, () => assert.equal(judge(line).verdict, verdict));
});
