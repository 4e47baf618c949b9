/** What deny and ask rules know of a program's options, so that no spelling of one hides from them. Options are separated by blanks. */
export type ProgramOptions = {
  /** Options that take the next word as their value. */
  readonly values?: string;
  /** Options that never do. */
  readonly flags?: string;
  /** Spellings of the same option. */
  readonly synonyms?: readonly string[];
  /** What its sub-commands take after their name. */
  readonly subs?: Readonly<Record<string, Omit<ProgramOptions, "subs">>>;
};

const GIT_SUBS: NonNullable<ProgramOptions["subs"]> = {
  push: {
    values: "-o --push-option --repo --receive-pack --exec",
    flags:
      "-f --force -u --set-upstream -d --delete -n --dry-run -q --quiet -v --verbose --all --mirror --tags --follow-tags --atomic --prune --no-verify --force-with-lease --force-if-includes --thin --no-thin --porcelain --progress -4 -6",
    synonyms: ["-f --force", "-d --delete", "-u --set-upstream", "-n --dry-run", "-o --push-option", "-q --quiet", "-v --verbose"],
  },
  commit: {
    values:
      "-m --message -F --file -C --reuse-message -c --reedit-message --author --date -t --template --fixup --squash --trailer --cleanup --pathspec-from-file",
    flags:
      "-a --all -p --patch -n --no-verify --verify --amend -q --quiet -v --verbose -s --signoff --allow-empty --allow-empty-message --no-edit -e --edit --dry-run",
    synonyms: ["-a --all", "-n --no-verify", "-m --message", "-F --file", "-s --signoff", "-p --patch", "-S --gpg-sign"],
  },
  reset: { flags: "--hard --soft --mixed --keep --merge -q --quiet -p --patch -N", synonyms: ["-q --quiet", "-p --patch"] },
  clean: {
    values: "-e --exclude",
    flags: "-d -f --force -i --interactive -n --dry-run -q --quiet -x -X",
    synonyms: ["-f --force", "-n --dry-run", "-i --interactive"],
  },
  checkout: {
    values: "-b -B --orphan --conflict",
    flags: "-f --force -q --quiet -m --merge --ours --theirs -d --detach -p --patch",
    synonyms: ["-f --force", "-p --patch"],
  },
  switch: {
    values: "-c -C --create --force-create --orphan",
    flags: "-f --force --discard-changes -d --detach",
    synonyms: ["-f --force --discard-changes", "-c --create", "-C --force-create"],
  },
  branch: {
    values: "-u --set-upstream-to --sort --format --contains --points-at",
    flags: "-d -D -m -M -c -C -f --force -a --all -r --remotes --delete --move --copy --list -l",
    synonyms: ["-d --delete -D", "-f --force", "-m --move -M", "-c --copy -C"],
  },
  tag: {
    values: "-m --message -F --file -u --local-user --sort --format",
    flags: "-a -s -f --force -d --delete -l --list",
    synonyms: ["-f --force", "-d --delete", "-a --annotate", "-s --sign"],
  },
  stash: { values: "-m --message", synonyms: ["-u --include-untracked", "-a --all"] },
  add: {
    flags: "-A --all -u --update -f --force -n --dry-run -v --verbose -p --patch -i -e",
    synonyms: ["-A --all", "-f --force", "-u --update"],
  },
  rm: { flags: "-f --force -r -n --dry-run --cached -q --quiet", synonyms: ["-f --force", "-n --dry-run"] },
  mv: { flags: "-f --force -k -n --dry-run -v --verbose", synonyms: ["-f --force"] },
  fetch: {
    values: "--depth --deepen --shallow-since -o --server-option -j --jobs --upload-pack",
    synonyms: ["-f --force", "-p --prune", "-t --tags", "-a --append"],
  },
  pull: { values: "-s --strategy -X --strategy-option --depth --upload-pack", synonyms: ["-r --rebase", "-f --force", "-n --no-stat"] },
  merge: { values: "-m -F -s --strategy -X --strategy-option", synonyms: ["-s --strategy"] },
  rebase: { values: "-x --exec --onto -s --strategy -X --strategy-option", synonyms: ["-i --interactive", "-x --exec"] },
  remote: { synonyms: ["-v --verbose"] },
  worktree: { values: "-b -B --reason", synonyms: ["-f --force"] },
  log: { values: "-n --max-count --author --committer --grep --since --until --after --before --format --skip -S -G -L" },
};

const SYSTEM_PACKAGES: ProgramOptions = {
  values: "-c --config-file -o --option -t --target-release --default-release",
  synonyms: ["-y --yes --assume-yes", "-q --quiet", "-s --simulate --dry-run"],
};

const DELETING: ProgramOptions = { synonyms: ["-r -R --recursive", "-f --force", "-i --interactive", "-d --dir", "-v --verbose"] };
const CONTAINERS: ProgramOptions = {
  values: "-H --host -c --context -l --log-level --config --tlscacert --tlscert --tlskey",
  flags: "-D --debug --tls --tlsverify -v --version",
  synonyms: ["-f --force", "-a --all", "-v --volume", "-d --detach", "-i --interactive", "-t --tty", "-p --publish"],
};

/** By name of the program. */
export const PROGRAM_OPTIONS: Readonly<Record<string, ProgramOptions>> = {
  git: {
    values: "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source --list-cmds --exec-path",
    flags:
      "-p -P --paginate --no-pager --bare --no-replace-objects --no-lazy-fetch --no-optional-locks --no-advice --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --html-path --man-path --info-path -v --version -h --help",
    subs: GIT_SUBS,
  },
  npm: {
    values: "--prefix -C -w --workspace --loglevel --registry --userconfig --globalconfig --cache --tag --otp --access --script-shell",
    flags:
      "-g --global -s --silent -d -dd -ddd -q --quiet -y --yes -f --force -D -S -O -E --workspaces --ignore-scripts --no-audit --no-fund",
    synonyms: ["-g --global", "-f --force", "-D --save-dev", "-S --save", "-y --yes", "-w --workspace"],
  },
  pnpm: {
    values: "-C --dir -F --filter --reporter --loglevel --config.registry",
    flags: "-r --recursive -w --workspace-root -s --silent",
    synonyms: ["-g --global", "-f --force", "-r --recursive", "-D --save-dev"],
  },
  yarn: { values: "--cwd --registry --cache-folder --modules-folder", flags: "-s --silent --offline", synonyms: ["-f --force"] },
  docker: CONTAINERS,
  podman: CONTAINERS,
  nerdctl: CONTAINERS,
  kubectl: {
    values:
      "-n --namespace --context --cluster --kubeconfig --user -s --server --token --as --as-group --request-timeout -v --v --cache-dir --certificate-authority --client-certificate --client-key --profile --profile-output --tls-server-name",
    flags: "--insecure-skip-tls-verify --match-server-version --warnings-as-errors",
    synonyms: ["-n --namespace", "-f --filename", "-l --selector", "-A --all-namespaces", "-o --output", "-R --recursive"],
  },
  helm: {
    values:
      "-n --namespace --kube-context --kubeconfig --kube-token --kube-apiserver --registry-config --repository-config --repository-cache --burst-limit",
    flags: "--debug",
    synonyms: ["-n --namespace", "-f --values", "-i --install"],
  },
  cargo: {
    values: "--color --config -Z -C --manifest-path --target-dir --explain",
    flags: "-q --quiet -v --verbose -vv --locked --offline --frozen",
    synonyms: ["-p --package", "-r --release", "-j --jobs"],
  },
  go: { values: "-C" },
  gh: { values: "-R --repo --hostname", synonyms: ["-R --repo", "-X --method", "-f --raw-field", "-F --field", "-y --yes"] },
  aws: {
    values: "--profile --region --endpoint-url --output --query --color --ca-bundle --cli-read-timeout --cli-connect-timeout",
    flags: "--debug --no-verify-ssl --no-paginate --no-sign-request --no-cli-pager",
  },
  gcloud: {
    values: "--project --account --configuration --format --verbosity --impersonate-service-account --billing-project --region --zone",
    flags: "-q --quiet",
    synonyms: ["-q --quiet"],
  },
  az: { values: "--subscription --output -o --query --verbosity", flags: "--debug --only-show-errors --verbose" },
  terraform: { values: "-chdir" },
  systemctl: {
    values: "-H --host -M --machine -t --type -s --signal -p --property -n --lines -o --output --root --state --job-mode",
    flags: "--user --system --global --no-pager --now -q --quiet -f --force",
    synonyms: ["-f --force", "-s --signal"],
  },
  apt: SYSTEM_PACKAGES,
  "apt-get": SYSTEM_PACKAGES,
  dnf: { values: "-c --config -x --exclude --installroot --releasever", synonyms: ["-y --assumeyes"] },
  yum: { values: "-c --config -x --exclude --installroot --releasever", synonyms: ["-y --assumeyes"] },
  brew: { synonyms: ["-f --force"] },
  pip: {
    values: "--python --log --proxy --cert --cache-dir --timeout --retries",
    synonyms: ["-y --yes", "-U --upgrade", "-r --requirement", "-i --index-url"],
  },
  pip3: {
    values: "--python --log --proxy --cert --cache-dir --timeout --retries",
    synonyms: ["-y --yes", "-U --upgrade", "-r --requirement", "-i --index-url"],
  },
  make: {
    values: "-C --directory -f --file --makefile -I --include-dir -o --old-file -W --what-if -E --eval",
    flags: "-B -e -i -k -n -q -r -R -s -S -t -w --always-make --dry-run --silent",
    synonyms: ["-f --file --makefile", "-C --directory", "-n --dry-run --just-print --recon"],
  },
  rm: DELETING,
  cp: { synonyms: ["-r -R --recursive", "-f --force", "-a --archive", "-i --interactive"] },
  mv: { values: "-t --target-directory -S --suffix", synonyms: ["-f --force", "-i --interactive", "-n --no-clobber"] },
  chmod: { synonyms: ["-R --recursive"] },
  chown: { synonyms: ["-R --recursive"] },
  chgrp: { synonyms: ["-R --recursive"] },
  ln: { values: "-t --target-directory -S --suffix", synonyms: ["-s --symbolic", "-f --force"] },
  curl: {
    values:
      "-X --request -d --data --data-raw --data-binary --data-urlencode -H --header -o --output -T --upload-file -u --user -F --form -x --proxy -A --user-agent -b --cookie -c --cookie-jar -e --referer -m --max-time -K --config --url -w --write-out -E --cert --cacert --resolve --connect-timeout --retry",
    synonyms: [
      "-X --request",
      "-d --data",
      "-H --header",
      "-o --output",
      "-O --remote-name",
      "-T --upload-file",
      "-u --user",
      "-F --form",
      "-k --insecure",
      "-L --location",
      "-x --proxy",
      "-K --config",
    ],
  },
  wget: {
    values: "-O --output-document -P --directory-prefix -o --output-file -i --input-file -U --user-agent -t --tries -T --timeout",
    synonyms: ["-O --output-document", "-P --directory-prefix", "-i --input-file", "-r --recursive", "-m --mirror"],
  },
  rsync: {
    values: "-e --rsh -f --filter --exclude --include -T --temp-dir",
    synonyms: ["-a --archive", "-r --recursive", "-e --rsh", "-n --dry-run"],
  },
  sed: {
    values: "-e --expression -f --file -l --line-length",
    synonyms: ["-i --in-place", "-n --quiet --silent", "-e --expression", "-E -r --regexp-extended", "-f --file"],
  },
  tar: {
    values: "-f --file -C --directory -T --files-from -X --exclude-from",
    synonyms: ["-x --extract --get", "-c --create", "-f --file", "-C --directory", "-P --absolute-names"],
  },
  kill: { values: "-s --signal -n", synonyms: ["-9 -KILL -SIGKILL", "-15 -TERM -SIGTERM", "-s --signal"] },
  pkill: { values: "-s --signal -u -t -g", synonyms: ["-9 -KILL -SIGKILL", "-f --full"] },
  killall: { values: "-s --signal -u", synonyms: ["-9 -KILL -SIGKILL"] },
  crontab: { values: "-u", synonyms: ["-r --remove", "-e --edit"] },
};

/** Spellings that hold where a program's own do not say otherwise. */
export const COMMON_SYNONYMS: readonly string[] = ["-f --force", "-r -R --recursive"];

/** Programs whose first operand is a sub-command. */
export const SUBCOMMANDS: ReadonlySet<string> = new Set(
  "git npm pnpm yarn docker podman kubectl helm cargo go gh aws gcloud az terraform systemctl apt apt-get brew pip pip3".split(" "),
);
