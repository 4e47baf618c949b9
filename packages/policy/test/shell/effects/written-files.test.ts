import assert from "node:assert/strict";
import { test } from "node:test";
import { findWriteTargets } from "../../../src/shell/effects/write-targets.ts";
import { PROGRAMS } from "../../../src/shell/programs/table.ts";
import { seenCommand } from "../../seen-line.ts";

/**
 * What is written, as `REACH-FATE:PATH` (`read`: only read, with all that is below), and the commands that write just that: every option of every program that names a
 * file, a directory, a value that is neither, or what it depends on whether something is written.
 */
const ROWS: readonly (readonly [written: string, commands: string])[] = [
  [
    "self-replaced:x self-replaced:y",
    `tee x y | truncate x y | truncate -s v x y | truncate --size v x y | truncate -r v x y | truncate --reference v x y | rm x y |
rmdir x y | unlink x y | shred x y | shred -n v x y | shred --iterations v x y | shred -s v x y | shred --size v x y |
mkfifo x y | mkfifo -m v x y | mkfifo --mode v x y | rename x y | link x y | sed -i -e v x y | sed -i -f v x y | sed -i -l v x y |
sed -i x y | sed --in-place x y | sed --inplace x y | perl -i -e v x y | perl -i -E v x y | perl -i x y | ruby -i -e v x y |
ruby -i x y | sponge x y | fallocate x y | fallocate -l v x y | fallocate --length v x y | fallocate -o v x y |
fallocate --offset v x y | objcopy x y | strip x y | git worktree add x y | git worktree move x y | git worktree remove x y |
git interpret-trailers --in-place x y | git bundle create x y | pnpm deploy x y | cargo new x y | gsed -i x y | grm x y`,
  ],
  [
    "self-kept:x self-kept:y",
    `touch x y | touch -d v x y | touch --date v x y | touch -r v x y | touch --reference v x y | touch -t v x y | mkdir x y |
mkdir -m v x y | mkdir --mode v x y | chmod x y | chown x y | chgrp x y | chattr x y | setfacl x y | gzip x y | gunzip x y |
bzip2 x y | bunzip2 x y | xz x y | unxz x y | zstd x y | ed x y | ex x y | vi x y | vim x y | nvim x y | nano x y | emacs x y |
prettier -w x y | prettier --write x y | prettier --fix x y | prettier -i x y | prettier --in-place x y | gofmt -w x y |
yq -w x y | jq -w x y | eslint -w x y | stylelint -w x y | biome -w x y | ruff -w x y | shfmt -w x y | goimports -w x y |
clang-format -w x y | autopep8 -w x y | black x y | isort x y | rustfmt x y | dos2unix x y | unix2dos x y | mktemp x y |
mktemp --suffix v x y | meson setup x y | git checkout x y | git checkout -b v x y | git checkout -B v x y | git restore x y |
git rm x y | git init x y | git init -b v x y | git init --branch v x y | git init --initial-branch v x y |
git init -o v x y | git init --origin v x y | git init --depth v x y | git init --reference v x y |
git init -c v x y | git init --config v x y | cargo init x y | view x y`,
  ],
  ["self-replaced:.git/hooks/template self-kept:x self-kept:y", "git init --template v x y"],
  ["self-replaced:.git/hooks/template new-kept:y", "git clone --template v x y"],
  ["all-replaced:x all-replaced:y", `rm -r x y | rm -R x y | rm --recursive x y`],
  [
    "self-replaced:x",
    `mknod x y | mknod -m v x y | mknod --mode v x y | zip x y | script x y | script -c v x y | script -t v x y | script -T v x y |
sqlite3 x y | git merge-file x y`,
  ],
  [
    "all-kept:x all-kept:y",
    `chmod -R x y | chmod --recursive x y | chown -R x y | chown --recursive x y | chgrp -R x y | chgrp --recursive x y |
chattr -R x y | chattr --recursive x y | setfacl -R x y | setfacl --recursive x y | git rm -r x y`,
  ],
  [
    "self-filled:y self-replaced:y/x",
    `cp x y | cp -S v x y | cp --suffix v x y | install x y | install -m v x y | install --mode v x y | install -o v x y |
install --owner v x y | install -g v x y | install --group v x y | install -S v x y | install --suffix v x y | rsync x y |
rsync -e v x y | rsync --rsh v x y | rsync --exclude v x y | rsync --include v x y | scp x y | scp -P v x y | scp -i v x y |
scp -o v x y | scp -F v x y | ditto x y | docker cp x y | kubectl cp x y | gcp x y | ginstall x y | podman cp x y`,
  ],
  [
    "self-filled:dir self-replaced:dir/x self-replaced:dir/y",
    `cp -t dir x y | cp --target-directory dir x y | install -t dir x y | install --target-directory dir x y`,
  ],
  ["some-filled:y self-replaced:y/x", `cp -T x y | cp --no-target-directory x y | install -T x y | install --no-target-directory x y`],
  ["self-filled:y self-replaced:y/a/x", `cp --parents a/x y | rsync -R a/x y | rsync --relative a/x y`],
  [
    "read-kept:x self-filled:y self-replaced:y/x",
    `cp -r x y | cp -R x y | cp -a x y | cp --recursive x y | cp --archive x y | rsync -a x y | rsync -r x y | rsync --archive x y |
rsync --recursive x y | scp -r x y`,
  ],
  ["all-replaced:x self-filled:y self-replaced:y/x", `mv x y | mv -S v x y | mv --suffix v x y | git mv x y | gmv x y`],
  [
    "all-replaced:x all-replaced:y self-filled:dir self-replaced:dir/x self-replaced:dir/y",
    `mv -t dir x y | mv --target-directory dir x y`,
  ],
  ["all-replaced:x self-replaced:y self-replaced:y/x", `mv -T x y | mv --no-target-directory x y`],
  ["some-kept:x self-filled:y self-replaced:y/x", `ln x y | ln -S v x y | ln --suffix v x y | gln x y`],
  ["some-kept:x some-kept:y self-filled:dir self-replaced:dir/x self-replaced:dir/y", `ln -t dir x y | ln --target-directory dir x y`],
  [
    "some-kept:x self-replaced:y self-replaced:y/x",
    `ln -T x y | ln --no-target-directory x y | ln -n x y | ln -h x y | ln --no-dereference x y`,
  ],
  [
    "self-replaced:out",
    `rsync --log-file out | dd of=out | tar -f out | tar --file out | jar -f out | jar --file out | sort -o out | sort --output out |
sort --out out | sort -out out | sort --output-file out | csplit -f out | csplit --prefix out | curl -o out | curl --output out |
curl -D out | curl --dump-header out | curl -c out | curl --cookie-jar out | curl --trace out | curl --trace-ascii out |
curl --stderr out | curl --etag-save out | wget -O out | wget --output-document out | wget -o out | wget --output-file out |
wget -a out | wget --append-output out | prettier --output-file out | openssl -o out | gpg -o out | age -o out | gcc -o out |
cc -o out | ld -o out | as -o out | rustc -o out | shuf -o out | iconv -o out | uudecode -o out | sdiff -o out | xmllint -o out |
xsltproc -o out | pandoc -o out | dot -o out | flex -o out | bison -o out | axel -o out | yt-dlp -o out | pv -o out |
protoc -o out | tree -o out | time -o out | time --output out | strace -o out | strace --output out | ltrace -o out |
ltrace --output out | valgrind --log-file out | valgrind --xml-file out | parallel --joblog out | tsc --outFile out |
tsc --tsBuildInfoFile out | esbuild --outfile out | esbuild --metafile out | strip -o out | less -o out | less -O out |
less --log-file out | less --LOG-FILE out | psql -o out | psql --output out | psql -L out | psql --log-file out | pg_dump -f out |
pg_dump --file out | mysqldump -r out | mysqldump --result-file out | aria2c -o out | aria2c --out out | aria2c -l out |
aria2c --log out | ssh-keygen -f out | find -fprint out | find -fprint0 out | find -fprintf out | find -fls out |
git config -f out | git config --file out | git fast-export --export-marks out | git archive -o out | git archive --output out |
git archive --out out | git archive -out out | git archive --output-file out | git diff --output out | git log --output out |
git show --output out | git stash --output out | git shortlog --output out | git reflog --output out |
git whatchanged --output out | git diff-tree --output out | git diff-index --output out | git diff-files --output out |
git range-diff --output out | pnpm pack --out out | yarn pack -o out | yarn pack --out out | yarn pack --filename out |
yarn pack -f out | bun build --outfile out | pip install --log out | pip install --report out | go build -o out | go test -o out |
go test -coverprofile out | go test -cpuprofile out | go test -memprofile out | docker save -o out | docker save --output out |
docker export -o out | docker export --output out | docker build -o out | docker build --output out | docker build --iidfile out |
gtar -f out | bsdtar -f out | clang -o out | g++ -o out | clang++ -o out`,
  ],
  [
    "self-kept:dir",
    `rsync --backup-dir dir | rsync --partial-dir dir | rsync -T dir | rsync --temp-dir dir | parallel --results dir |
parallel --tmpdir dir | mktemp -p dir | mktemp --tmpdir dir | make -C dir | gmake -C dir | make --directory dir | ninja -C dir | cmake -B dir |
cmake --build dir | cmake --install dir | cmake --prefix dir | meson -C dir | meson --destdir dir | tsc --outDir dir |
tsc --declarationDir dir | esbuild --outdir dir | javac -d dir | javac -s dir | javac -h dir | aria2c -d dir | aria2c --dir dir |
git checkout-index --prefix dir | git read-tree --prefix dir | git subtree -P dir | git subtree --prefix dir |
git clone --separate-git-dir dir | git bugreport -o dir | git bugreport --output-directory dir | npm pack --pack-destination dir |
npm install --prefix dir | npm install -C dir | npm install --dir dir | npm install --cwd dir | npm i --prefix dir |
npm i -C dir | npm i --dir dir | npm i --cwd dir | npm ci --prefix dir | npm ci -C dir | npm ci --dir dir | npm ci --cwd dir |
npm add --prefix dir | npm add -C dir | npm add --dir dir | npm add --cwd dir | npm update --prefix dir | npm update -C dir |
npm update --dir dir | npm update --cwd dir | npm init --prefix dir | npm init -C dir | npm init --dir dir | npm init --cwd dir |
npm uninstall --prefix dir | npm uninstall -C dir | npm uninstall --dir dir | npm uninstall --cwd dir |
pnpm pack --pack-destination dir | pnpm install --prefix dir | pnpm install -C dir | pnpm install --dir dir |
pnpm install --cwd dir | pnpm i --prefix dir | pnpm i -C dir | pnpm i --dir dir | pnpm i --cwd dir | pnpm add --prefix dir |
pnpm add -C dir | pnpm add --dir dir | pnpm add --cwd dir | pnpm update --prefix dir | pnpm update -C dir |
pnpm update --dir dir | pnpm update --cwd dir | pnpm init --prefix dir | pnpm init -C dir | pnpm init --dir dir |
pnpm init --cwd dir | pnpm remove --prefix dir | pnpm remove -C dir | pnpm remove --dir dir | pnpm remove --cwd dir |
yarn install --prefix dir | yarn install -C dir | yarn install --dir dir | yarn install --cwd dir | yarn add --prefix dir |
yarn add -C dir | yarn add --dir dir | yarn add --cwd dir | yarn init --prefix dir | yarn init -C dir | yarn init --dir dir |
yarn init --cwd dir | yarn remove --prefix dir | yarn remove -C dir | yarn remove --dir dir | yarn remove --cwd dir |
bun build --outdir dir | bun install --prefix dir | bun install -C dir | bun install --dir dir | bun install --cwd dir |
bun i --prefix dir | bun i -C dir | bun i --dir dir | bun i --cwd dir | bun add --prefix dir | bun add -C dir |
bun add --dir dir | bun add --cwd dir | bun init --prefix dir | bun init -C dir | bun init --dir dir | bun init --cwd dir |
pip install -t dir | pip install --target dir | pip install --prefix dir | pip install --root dir | pip install --src dir |
pip download -d dir | pip download --dest dir | pip wheel -w dir | pip wheel --wheel-dir dir | cargo install --root dir |
cargo install --target-dir dir | cargo build --target-dir dir | cargo build --out-dir dir | cargo build --artifact-dir dir |
cargo test --target-dir dir | go test -outputdir dir`,
  ],
  [
    "",
    `dd x y | sed x y | awk x y | perl x y | ruby x y | unzip -l x y | unzip -t x y | unzip -p x y | unzip -Z x y | unzip -v x y |
cpio x y | gzip -c x y | gzip --stdout x y | gzip -t x y | gzip --test x y | gzip -l x y | gzip --list x y | sort x y |
csplit x y | curl x y | prettier x y | gofmt x y | yq x y | jq x y | eslint x y | stylelint x y | biome x y | ruff x y |
shfmt x y | goimports x y | clang-format x y | autopep8 x y | tree x y | time x y | time -f v x y | time --format v x y |
strace x y | strace -e v x y | strace -p v x y | strace -u v x y | strace -s v x y | strace -E v x y | strace -P v x y |
strace -S v x y | strace -O v x y | strace -a v x y | strace -b v x y | strace -I v x y | strace -X v x y | ltrace x y |
ltrace -e v x y | ltrace -p v x y | ltrace -u v x y | ltrace -s v x y | ltrace -l v x y | ltrace -n v x y | ltrace -a v x y |
ltrace -F v x y | strace x -o y | ltrace x -o y | time x -o y | valgrind x --log-file y | valgrind x y | parallel x y | make x y | ninja x y | cmake x y | meson x y | tsc x y | esbuild x y | javac x y |
socat x y | less x y | psql x y | pg_dump x y | mysqldump x y | aria2c x y | ssh-keygen x y | find x y | crontab -l x y |
git config --unset --get x y | git config --unset --get-all x y | git config --unset --get-regexp x y |
git config --unset --get-urlmatch x y | git config --unset -l x y | git config --unset --list x y | git config --unset get x y |
git config --unset list x y | git remote x y | git branch x y | git apply --check x y | git apply --stat x y |
git apply --numstat x y | git apply --summary x y | git clean -n x y | git clean --dry-run x y | git checkout-index x y |
git read-tree x y | git subtree x y | git rm --cached x y | git rm -n x y | git rm --dry-run x y | git submodule x y |
git worktree x y | git merge-file -p x y | git merge-file --stdout x y | git interpret-trailers x y | git fast-export x y |
git bugreport x y | git archive x y | git format-patch x y | git bundle x y | git diff x y | git log x y | git show x y |
git stash x y | git shortlog x y | git reflog x y | git whatchanged x y | git diff-tree x y | git diff-index x y |
git diff-files x y | git range-diff x y | npm config x y | npm pack x y | npm install x y | npm i x y | npm ci x y | npm add x y |
npm update x y | npm init x y | npm uninstall x y | pnpm config x y | pnpm pack x y | pnpm install x y | pnpm i x y |
pnpm add x y | pnpm update x y | pnpm init x y | pnpm remove x y | yarn config x y | yarn pack x y | yarn install x y |
yarn add x y | yarn init x y | yarn remove x y | bun build x y | bun install x y | bun i x y | bun add x y | bun init x y |
pip install x y | pip download x y | pip wheel x y | cargo install x y | cargo build x y | cargo test x y | go build x y |
go test x y | docker save x y | docker export x y | docker build x y | gmake x y`,
  ],
  [
    "self-replaced:inplace self-replaced:x self-replaced:y",
    `awk inplace -i v x y | awk inplace -F v x y | awk inplace -v v x y | awk inplace -f v x y | awk inplace x y | gawk inplace x y |
mawk inplace x y | nawk inplace x y`,
  ],
  [
    "some-kept:.",
    `tar x y | tar -x x y | tar --extract x y | tar --get x y | unzip x y | unzip -x v x y | cpio -i x y | cpio --extract x y |
cpio -p x y | cpio --pass-through x y | 7z x y | 7z x x y | 7z e x y | jar x y | jar -x x y | jar --extract x y |
find -delete x y | git apply x y | git am x y | 7za x x y | 7zr x x y`,
  ],
  [
    "some-kept:dir",
    `tar -x -C dir x y | tar -x --directory dir x y | tar -x --one-top-level dir x y | unzip -d dir x y | cpio -i -D dir x y |
cpio -i --directory dir x y | 7z x -o dir x y | jar -x -C dir x y`,
  ],
  ["self-kept:y some-kept:.", `unrar x y | unrar x x y | unrar e x y`],
  [
    "self-replaced:y",
    `ar x y | uniq x y | uniq -f v x y | uniq -s v x y | uniq -w v x y | split x y | split -b v x y | split -l v x y | split -n v x y |
split -a v x y | split -C v x y | xxd x y | xxd -s v x y | xxd -l v x y | xxd -c v x y | ffmpeg x y | ffmpeg -i v x y |
convert x y | magick x y | rclone copy x y | rclone sync x y | rclone copyto x y`,
  ],
  ["self-replaced:x some-kept:.", `patch x y | patch -p v x y | patch -i v x y | patch --input v x y`],
  ["self-replaced:out some-kept:.", `patch -o out | patch --output out | patch -r out`],
  ["self-replaced:x some-kept:dir", `patch -d dir x y | patch --directory dir x y`],
  ["self-replaced:dir/x self-replaced:dir/y", `curl -O --output-dir dir x y | wget -P dir x y | wget --directory-prefix dir x y`],
  [
    "self-replaced:./x self-replaced:./y",
    `curl -O -H v x y | curl -O --header v x y | curl -O -X v x y | curl -O --request v x y | curl -O -d v x y | curl -O --data v x y |
curl -O -u v x y | curl -O --user v x y | curl -O -A v x y | curl -O --user-agent v x y | curl -O -e v x y | curl -O -b v x y |
curl -O x y | curl --remote-name x y | curl --remote-name-all x y | curl -J x y | wget x y`,
  ],
  [
    "self-kept:x",
    `flock x y | flock -w v x y | flock --timeout v x y | flock -E v x y | flock --conflict-exit-code v x y | flock -c v x y |
flock --command v x y | pip3 install -t x y`,
  ],
  [
    // Behind a value that is taken for the command, a program that runs another would have no more options of its own.
    "self-replaced:out",
    `strace -e v -o out x | strace -p v -o out x | strace -u v -o out x | strace -s v -o out x | strace -E v -o out x |
strace -P v -o out x | strace -S v -o out x | strace -O v -o out x | strace -a v -o out x | strace -b v -o out x |
strace -I v -o out x | strace -X v -o out x | ltrace -e v -o out x | ltrace -p v -o out x | ltrace -u v -o out x |
ltrace -s v -o out x | ltrace -l v -o out x | ltrace -n v -o out x | ltrace -a v -o out x | ltrace -F v -o out x |
time -f v -o out x | time --format v -o out x | valgrind --log-file out x | valgrind --xml-file out x`,
  ],
  ["self-replaced:/var/spool/cron", `crontab x y`],
  [
    "self-replaced:.git/config",
    `git config x y | git config --unset x y | git config --unset-all x y | git config --add x y | git config --replace-all x y |
git config -e x y | git config --edit x y | git config --rename-section x y | git config --remove-section x y |
git config set x y | git config unset x y | git config edit x y | git config rename-section x y | git config remove-section x y |
git remote add x y | git remote set-url x y | git remote set-branches x y | git remote rename x y | git remote remove x y |
git remote rm x y | git branch -u x y | git branch --set-upstream-to x y | git branch --unset-upstream x y |
git branch --edit-description x y`,
  ],
  ["self-kept:x self-kept:y some-kept:.", `git clean x y`],
  ["self-replaced:.gitmodules self-kept:x self-kept:y", `git submodule add x y | git submodule set-url x y | git submodule set-branch x y`],
  [
    "new-kept:y",
    `git clone x y | git clone -b v x y | git clone --branch v x y | git clone --initial-branch v x y |
git clone -o v x y | git clone --origin v x y | git clone --depth v x y | git clone --reference v x y | git clone -c v x y |
git clone --config v x y`,
  ],
  ["self-kept:dir self-kept:.", `git init --separate-git-dir dir`],
  ["some-kept:-o", `git format-patch -o -o dir x y`],
  ["some-kept:--output-directory", `git format-patch -o --output-directory dir x y`],
  ["some-kept:x", `git format-patch -o x y | git format-patch --output-directory x y`],
  [
    "self-replaced:~/.npmrc",
    `npm config set x y | npm config delete x y | npm config edit x y | npm config fix x y | npm set x y | pnpm config set x y |
pnpm config delete x y`,
  ],
  ["self-replaced:.yarnrc.yml", `yarn config set x y | yarn config unset x y`],
];

test("every program that writes files has a row here", () => {
  const words = new Set(ROWS.flatMap(([, commands]) => commands.split(/[\s|]+/)));
  const writers = [...PROGRAMS].flatMap(([name, { writes }]) => (writes ? [name] : []));
  assert.deepEqual(
    writers.filter((name) => !words.has(name)),
    [],
  );
});

for (const [written, commands] of ROWS) {
  for (const command of commands.split("|").map((one) => one.trim())) {
    test(`${command} writes ${written || "nothing"}`, () => {
      const targets = findWriteTargets(seenCommand(command));
      const shown = targets.map(({ path, use, reach, fate }) => `${use === "read" ? "read" : reach}-${fate}:${path}`);
      assert.equal(shown.join(" "), written);
    });
  }
}
