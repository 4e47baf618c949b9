import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { broadly } from "./broadly.ts";

/** Options are separated by blanks, groups of spellings by commas. */
type Row = readonly [program: string, values: string, flags: string, spellings: string];

const ROWS: readonly Row[] = [
  [
    "git",
    "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source --list-cmds --exec-path",
    "-p -P --paginate --no-pager --bare --no-replace-objects --no-lazy-fetch --no-optional-locks --no-advice --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --html-path --man-path --info-path -v --version -h --help",
    "",
  ],
  [
    "git push",
    "-o --push-option --repo --receive-pack --exec",
    "-f --force -u --set-upstream -d --delete -n --dry-run -q --quiet -v --verbose --all --mirror --tags --follow-tags --atomic --prune --no-verify --force-with-lease --force-if-includes --thin --no-thin --porcelain --progress -4 -6",
    "-f --force, -d --delete, -u --set-upstream, -n --dry-run, -o --push-option, -q --quiet, -v --verbose",
  ],
  [
    "git commit",
    "-m --message -F --file -C --reuse-message -c --reedit-message --author --date -t --template --fixup --squash --trailer --cleanup --pathspec-from-file",
    "-a --all -p --patch -n --no-verify --verify --amend -q --quiet -v --verbose -s --signoff --allow-empty --allow-empty-message --no-edit -e --edit --dry-run",
    "-a --all, -n --no-verify, -m --message, -F --file, -s --signoff, -p --patch, -S --gpg-sign",
  ],
  ["git reset", "", "--hard --soft --mixed --keep --merge -q --quiet -p --patch -N", "-q --quiet, -p --patch"],
  [
    "git clean",
    "-e --exclude",
    "-d -f --force -i --interactive -n --dry-run -q --quiet -x -X",
    "-f --force, -n --dry-run, -i --interactive",
  ],
  [
    "git checkout",
    "-b -B --orphan --conflict",
    "-f --force -q --quiet -m --merge --ours --theirs -d --detach -p --patch",
    "-f --force, -p --patch",
  ],
  [
    "git switch",
    "-c -C --create --force-create --orphan",
    "-f --force --discard-changes -d --detach",
    "-f --force --discard-changes, -c --create, -C --force-create",
  ],
  [
    "git branch",
    "-u --set-upstream-to --sort --format --contains --points-at",
    "-d -D -m -M -c -C -f --force -a --all -r --remotes --delete --move --copy --list -l",
    "-d --delete -D, -f --force, -m --move -M, -c --copy -C",
  ],
  [
    "git tag",
    "-m --message -F --file -u --local-user --sort --format",
    "-a -s -f --force -d --delete -l --list",
    "-f --force, -d --delete, -a --annotate, -s --sign",
  ],
  ["git stash", "-m --message", "", "-u --include-untracked, -a --all"],
  ["git add", "", "-A --all -u --update -f --force -n --dry-run -v --verbose -p --patch -i -e", "-A --all, -f --force, -u --update"],
  ["git rm", "", "-f --force -r -n --dry-run --cached -q --quiet", "-f --force, -n --dry-run"],
  ["git mv", "", "-f --force -k -n --dry-run -v --verbose", "-f --force"],
  [
    "git fetch",
    "--depth --deepen --shallow-since -o --server-option -j --jobs --upload-pack",
    "",
    "-f --force, -p --prune, -t --tags, -a --append",
  ],
  ["git pull", "-s --strategy -X --strategy-option --depth --upload-pack", "", "-r --rebase, -f --force, -n --no-stat"],
  ["git merge", "-m -F -s --strategy -X --strategy-option", "", "-s --strategy"],
  ["git rebase", "-x --exec --onto -s --strategy -X --strategy-option", "", "-i --interactive, -x --exec"],
  ["git remote", "", "", "-v --verbose"],
  ["git worktree", "-b -B --reason", "", "-f --force"],
  ["git log", "-n --max-count --author --committer --grep --since --until --after --before --format --skip -S -G -L", "", ""],
  [
    "npm",
    "--prefix -C -w --workspace --loglevel --registry --userconfig --globalconfig --cache --tag --otp --access --script-shell",
    "-g --global -s --silent -d -dd -ddd -q --quiet -y --yes -f --force -D -S -O -E --workspaces --ignore-scripts --no-audit --no-fund",
    "-g --global, -f --force, -D --save-dev, -S --save, -y --yes, -w --workspace",
  ],
  [
    "pnpm",
    "-C --dir -F --filter --reporter --loglevel --config.registry",
    "-r --recursive -w --workspace-root -s --silent",
    "-g --global, -f --force, -r --recursive, -D --save-dev",
  ],
  ["yarn", "--cwd --registry --cache-folder --modules-folder", "-s --silent --offline", "-f --force"],
  [
    "docker",
    "-H --host -c --context -l --log-level --config --tlscacert --tlscert --tlskey",
    "-D --debug --tls --tlsverify -v --version",
    "-f --force, -a --all, -v --volume, -d --detach, -i --interactive, -t --tty, -p --publish",
  ],
  [
    "podman",
    "-H --host -c --context -l --log-level --config --tlscacert --tlscert --tlskey",
    "-D --debug --tls --tlsverify -v --version",
    "-f --force, -a --all, -v --volume, -d --detach, -i --interactive, -t --tty, -p --publish",
  ],
  [
    "nerdctl",
    "-H --host -c --context -l --log-level --config --tlscacert --tlscert --tlskey",
    "-D --debug --tls --tlsverify -v --version",
    "-f --force, -a --all, -v --volume, -d --detach, -i --interactive, -t --tty, -p --publish",
  ],
  [
    "kubectl",
    "-n --namespace --context --cluster --kubeconfig --user -s --server --token --as --as-group --request-timeout -v --v --cache-dir --certificate-authority --client-certificate --client-key --profile --profile-output --tls-server-name",
    "--insecure-skip-tls-verify --match-server-version --warnings-as-errors",
    "-n --namespace, -f --filename, -l --selector, -A --all-namespaces, -o --output, -R --recursive",
  ],
  [
    "helm",
    "-n --namespace --kube-context --kubeconfig --kube-token --kube-apiserver --registry-config --repository-config --repository-cache --burst-limit",
    "--debug",
    "-n --namespace, -f --values, -i --install",
  ],
  [
    "cargo",
    "--color --config -Z -C --manifest-path --target-dir --explain",
    "-q --quiet -v --verbose -vv --locked --offline --frozen",
    "-p --package, -r --release, -j --jobs",
  ],
  ["go", "-C", "", ""],
  ["gh", "-R --repo --hostname", "", "-R --repo, -X --method, -f --raw-field, -F --field, -y --yes"],
  [
    "aws",
    "--profile --region --endpoint-url --output --query --color --ca-bundle --cli-read-timeout --cli-connect-timeout",
    "--debug --no-verify-ssl --no-paginate --no-sign-request --no-cli-pager",
    "",
  ],
  [
    "gcloud",
    "--project --account --configuration --format --verbosity --impersonate-service-account --billing-project --region --zone",
    "-q --quiet",
    "-q --quiet",
  ],
  ["az", "--subscription --output -o --query --verbosity", "--debug --only-show-errors --verbose", ""],
  ["terraform", "-chdir", "", ""],
  [
    "systemctl",
    "-H --host -M --machine -t --type -s --signal -p --property -n --lines -o --output --root --state --job-mode",
    "--user --system --global --no-pager --now -q --quiet -f --force",
    "-f --force, -s --signal",
  ],
  [
    "apt",
    "-c --config-file -o --option -t --target-release --default-release",
    "",
    "-y --yes --assume-yes, -q --quiet, -s --simulate --dry-run",
  ],
  [
    "apt-get",
    "-c --config-file -o --option -t --target-release --default-release",
    "",
    "-y --yes --assume-yes, -q --quiet, -s --simulate --dry-run",
  ],
  ["dnf", "-c --config -x --exclude --installroot --releasever", "", "-y --assumeyes"],
  ["yum", "-c --config -x --exclude --installroot --releasever", "", "-y --assumeyes"],
  ["brew", "", "", "-f --force"],
  ["pip", "--python --log --proxy --cert --cache-dir --timeout --retries", "", "-y --yes, -U --upgrade, -r --requirement, -i --index-url"],
  ["pip3", "--python --log --proxy --cert --cache-dir --timeout --retries", "", "-y --yes, -U --upgrade, -r --requirement, -i --index-url"],
  [
    "make",
    "-C --directory -f --file --makefile -I --include-dir -o --old-file -W --what-if -E --eval",
    "-B -e -i -k -n -q -r -R -s -S -t -w --always-make --dry-run --silent",
    "-f --file --makefile, -C --directory, -n --dry-run --just-print --recon",
  ],
  ["rm", "", "", "-r -R --recursive, -f --force, -i --interactive, -d --dir, -v --verbose"],
  ["cp", "", "", "-r -R --recursive, -f --force, -a --archive, -i --interactive"],
  ["mv", "-t --target-directory -S --suffix", "", "-f --force, -i --interactive, -n --no-clobber"],
  ["chmod", "", "", "-R --recursive"],
  ["chown", "", "", "-R --recursive"],
  ["chgrp", "", "", "-R --recursive"],
  ["ln", "-t --target-directory -S --suffix", "", "-s --symbolic, -f --force"],
  [
    "curl",
    "-X --request -d --data --data-raw --data-binary --data-urlencode -H --header -o --output -T --upload-file -u --user -F --form -x --proxy -A --user-agent -b --cookie -c --cookie-jar -e --referer -m --max-time -K --config --url -w --write-out -E --cert --cacert --resolve --connect-timeout --retry",
    "",
    "-X --request, -d --data, -H --header, -o --output, -O --remote-name, -T --upload-file, -u --user, -F --form, -k --insecure, -L --location, -x --proxy, -K --config",
  ],
  [
    "wget",
    "-O --output-document -P --directory-prefix -o --output-file -i --input-file -U --user-agent -t --tries -T --timeout",
    "",
    "-O --output-document, -P --directory-prefix, -i --input-file, -r --recursive, -m --mirror",
  ],
  ["rsync", "-e --rsh -f --filter --exclude --include -T --temp-dir", "", "-a --archive, -r --recursive, -e --rsh, -n --dry-run"],
  [
    "sed",
    "-e --expression -f --file -l --line-length",
    "",
    "-i --in-place, -n --quiet --silent, -e --expression, -E -r --regexp-extended, -f --file",
  ],
  [
    "tar",
    "-f --file -C --directory -T --files-from -X --exclude-from",
    "",
    "-x --extract --get, -c --create, -f --file, -C --directory, -P --absolute-names",
  ],
  ["kill", "-s --signal -n", "", "-9 -KILL -SIGKILL, -15 -TERM -SIGTERM, -s --signal"],
  ["pkill", "-s --signal -u -t -g", "", "-9 -KILL -SIGKILL, -f --full"],
  ["killall", "-s --signal -u", "", "-9 -KILL -SIGKILL"],
  ["crontab", "-u", "", "-r --remove, -e --edit"],
];

const listed = (text: string, sign: string): readonly string[] => text.split(sign).filter((part) => part !== "");

describe("options that deny rules know", () => {
  for (const [program, values, flags, spellings] of ROWS) {
    test(`${program}: a known option with a value hides no word, and its value is none`, () => {
      for (const option of listed(values, " ")) {
        assert.equal(broadly(`${program} target`, `${program} ${option} value target`), "yes", option);
        assert.equal(broadly(`${program} target`, `${program} ${option} target other`), "no", option);
      }
    });

    test(`${program}: a known flag hides no word, and takes none as its value`, () => {
      for (const option of listed(flags, " ")) {
        assert.equal(broadly(`${program} target`, `${program} ${option} target`), "yes", option);
        assert.equal(broadly(`${program} target`, `${program} ${option} other target`), "no", option);
      }
    });

    test(`${program}: every spelling of an option is that option`, () => {
      for (const group of listed(spellings, ", ").map((one) => one.split(" "))) {
        for (const one of group)
          for (const other of group) assert.equal(broadly(`${program} ${one}`, `${program} ${other} x`), "yes", `${one} ${other}`);
      }
    });
  }
});
