import assert from "node:assert/strict";
import { test } from "node:test";
import { objections, sampleWorkspace } from "../sample-workspace.ts";

/** Why a line is not proven to read only (`refused`: the strict reader or the expansion of patterns; else a class and hazards), and such lines. */
const ASKING: readonly (readonly [why: string, lines: string])[] = [
  [
    "outside_workspace",
    `
ls /
sha256sum ../x
test -f ../x
test a.txt -nt /etc/passwd
ls ..
ls -LR /
cat ../x
cat /etc/passwd
grep -e x /etc/passwd
grep x /etc/passwd
grep --include='*' --file ../x a.txt
grep --exclude-from=/etc/passwd x a.txt
rg -L foo
rg --follow foo
rg foo /etc
rg -e foo /etc
rg --files /etc
find / -name id_rsa
find .. -name x
find -L .
find . -follow
find -files0-from x
find . -newer /etc/passwd
find . -samefile /etc/passwd
tree -l
tree --fromfile x
du -L /etc
du -X /etc/passwd .
diff --to-file=/etc/passwd a.txt
diff --from-file /etc/passwd a.txt
diff a.txt /etc/passwd
diff -X /etc/passwd a.txt b.txt
cmp a.txt /etc/passwd
sed -n -e p -- -i a.txt /etc/passwd
sed -n 5p /etc/passwd
awk '{print}' /etc/passwd
jq . /etc/passwd
git diff --no-index /etc/passwd /dev/null
git diff /etc/passwd /dev/null
git diff -- /etc/passwd /dev/null
git diff ../x
git grep --no-index foo
git status /etc
git ls-files /etc
cd /etc
cd ..
column /etc/passwd
paste a.txt /etc/passwd
comm /etc/passwd a.txt
stat /etc/passwd
realpath --relative-to=/etc a.txt
realpath /etc
readlink /etc/x
nl /etc/passwd
tac /etc/passwd
fold /etc/passwd
rev /etc/passwd
cut -f1 /etc/passwd`,
  ],
  [
    "other_shell",
    `
ls '~'`,
  ],
  [
    "sensitive_file",
    `
sha256sum .env
test -f .env
cat .env
cat .ENV
git config --get credential.helper
git config --get http.https://example.test/.extraheader
git config --list
git config -l
git show HEAD:.env
git show HEAD:./.env
git show :.env
git log -p -- .env
git diff .env
grep -rn KEY --include=.env .
grep -r KEY --include '.env*'
rg -g .env KEY
rg --iglob .ENV KEY
git log -L 1,2:.env`,
  ],
  [
    "outside_workspace sensitive_file",
    `
cat /proc/self/environ
cat /dev/sda
grep -f /etc/shadow a.txt
grep -rf /etc/shadow .
grep --file=/etc/shadow a.txt`,
  ],
  [
    "other_system_path other_shell outside_workspace",
    String.raw`
cat '\\attacker\share\x'`,
  ],
  [
    "other_system_path outside_workspace",
    `
cat C:x`,
  ],
  [
    "path_unresolved",
    `
cat ''`,
  ],
  [
    "unknown unmodelled_option",
    String.raw`
git worktree list x
sha256sum -c sums.txt
md5sum --check sums.txt
test
test -f a.txt -a -f b.txt
test -t 1
test -f a.txt b.txt
tail +2f README.md
tail +f README.md
tail +2 README.md
cat -/*
xxd -r x y
git log --diff-merges=remerge
git show --diff-merges=r
git rev-parse --show-superproject-working-tree
jq -n '$ ENV.PATH'
tail -f README.md
tail -F README.md
tail --follow=name README.md
tail --pid=1 README.md
tail --retry README.md
tail -fn 5 README.md
tail -qf README.md
wc --files0-from=README.md
wc --files0-from README.md
head --byt=5 README.md
grep -D read x a.txt
grep --fil=README.md a.txt
rg -f /etc/passwd foo
rg --ignore-file=/etc/passwd foo
rg -g --pre=./x foo
rg -e --pre=./x foo
find . -D exec
find . -Ofoo
find . x -name
find . -exe id \;
sort --outp=x a.txt
sort -S 1 a.txt
sort --files0-from=x
sort --parallel=4 a.txt
sort --random-source=/dev/zero a.txt
sort --batch-size=2 a.txt
tree -Lo 2 out.txt
tree -LR 1
tree -aL2o out
file -m x README.md
file -f x
du --files0-from=x
df --sync
id root
whoami x
uname x
sed 's/x/id/e' a.txt
sed -n 's/a/b/w out' a.txt
sed -n 's/a/b/gw out' a.txt
sed -n 's/a/b/e' a.txt
sed -n 'w out' a.txt
sed -n '1w out' a.txt
sed -n 'e id' a.txt
sed -n '1e id' a.txt
sed -n 'r /etc/passwd' a.txt
sed -n 'R /etc/passwd' a.txt
sed -n 'W out' a.txt
sed -n 'F' a.txt
sed --in s/a/b/ a.txt
sed -n -f x a.txt
sed -nf x a.txt
sed -n --file=x a.txt
sed -n -e 's/a/b\' -e 'w out' a.txt
sed -n '/[/]w out/p' a.txt
sed -n 's/[/]/x/w out' a.txt
sed -n '/a/w out' a.txt
sed -n '/a\/p;w out' a.txt
sed -n 'p;w out' a.txt
sed -n '{p;w out' a.txt
sed -n 'p}w out' a.txt
sed -n '{p}w out' a.txt
sed -n '1!w out' a.txt
sed -n 's/a/b/;e' a.txt
sed -n 's/a/b/m;e id' a.txt
sed -n 'y/a/b/w' a.txt
sed -n 'y/w/e/;w out' a.txt
sed -n 'b;w out' a.txt
sed -n ':a;w out' a.txt
sed -n '$!{e id' a.txt
sed -n '\xax w out' a.txt
sed -n 's/\c\/p;w out' a.txt
sed -n "s/a\nb/c/;w x" a.txt
sed -n
awk '{print | "sh"}' a.txt
awk 'BEGIN{"id" | getline}'
awk '{print > "out"}' a.txt
awk '{print >> "out"}' a.txt
awk 'BEGIN{system("id")}'
awk 'BEGIN{while((getline l < "/etc/passwd"))print l}'
awk -f x.awk a.txt
awk -fx.awk a.txt
awk -v x=1 -f x.awk
awk 'BEGIN{print ENVIRON["HOME"]}'
awk 'BEGIN{ARGV[1]="/etc/passwd";ARGC=2}{print}'
awk 'BEGIN{f="sys" "tem";@f("id")}'
awk '@include "x"' a.txt
awk '@load "x"' a.txt
awk 'BEGIN{print SYMTAB["ENV" "IRON"]["HOME"]}'
awk -i inplace '{print}' a.txt
awk -e 'x' a.txt
awk --file=x a.txt
awk -vx 'print' a.txt
awk -W exec=x
awk
jq -f x package.json
jq --from-file x package.json
jq -nf x
jq -L . 'import "x" as x; .' package.json
jq --rawfile a /etc/passwd '$a' package.json
jq --slurpfile a /etc/passwd '$a' package.json
jq -n env
jq -n '$ENV.HOME'
jq -n 'env.HOME'
jq -n '"\(env.HOME)"'
jq -n '[env]'
jq 'input_filename' package.json
jq 'import "x" as x; .' package.json
jq 'include "x"; .' package.json
jq --args . x
jq --run-tests x
git log --outp=x
git log -O/etc/passwd
git diff -O x
git log --stdin
git log --pretty=evil
git config alias.q '!id'
git config --global core.pager ./x
git config --get-regexp .
git config user.name x
git config --get user.name --file x
git config -f x --get a.b
git config --get a.b value
git config --unset a.b
git config -e
git branch --edit-description
git branch --list -d x
git cat-file --batch
git blame --contents /etc/passwd a.txt
git blame --contents=/etc/passwd a.txt
git blame -S x a.txt
git blame --ignore-revs-file=/etc/passwd a.txt
git blame --ignore-revs-file /etc/passwd a.txt
git shortlog
git shortlog -sn
git grep -f /etc/passwd
git log -S --output=x
git log --grep --output=x
git log -n --output=x
git log --author --ext-diff
git branch --contains --edit-description
git branch --merged -d
git diff --submodule=diff
git log --remerge-diff
git rev-parse --parseopt
seq inf
seq 1 infinity
seq nan`,
  ],
  [
    "unknown opaque_program",
    `
git logout
git push
git pull
git clone x
git stash drop
git stash clear
git rebase -x id HEAD~1
git bisect run ./x
git remote add x y
git remote show origin
git remote update
git remote set-url x y
git remote get-url
git remote rm x
git reflog expire --all
git reflog delete x
git worktree add x
git worktree prune
git ls-remote .
git ls-remote --upload-pack='id;:' .
git archive --remote=. HEAD
git submodule foreach id
git difftool
git mergetool
git filter-branch --tree-filter id
git init
git gc
git daemon
git whatchanged
git help log`,
  ],
  [
    "unknown runs_program",
    String.raw`
git branch --format='%(*describe)'
rg --pre ./x foo
rg --pre=./x foo src
rg --pre-glob '*' foo
rg --hostname-bin ./x foo
rg -z foo
rg -nz foo
rg --search-zip foo
find . -exec id \;
find . -ok id \;
find . -okdir id \;
sort --compress-program=./x a.txt
sort --compress-program ./x a.txt
file -z README.md
file -bz README.md
diff -l a.txt b.txt
diff --paginate a.txt b.txt
git log -p --ext-diff
git diff --textconv
git log --show-signature
git log --format='%h %G?'
find . -execdir id {} +
git log --format=%G?
git log --format %G?
git log --format='%+G?'
git log --format='%-GS'
git log --format='% GS'
git log --pretty=format:%GG
git log --format='%(describe)'
git log --pretty='%C(auto)%G?'
git branch --format='%(signature:grade)'
git branch --sort=signature
git tag --format='%(signature)'
git tag --sort '%(signature)'
git cat-file --textconv HEAD:a.txt
git cat-file --filters HEAD:a.txt
git grep -O foo
git grep -Oless foo
git grep --open-files-in-pager=x foo
git grep --textconv foo`,
  ],
  [
    "refused brace_or_glob",
    `
ls {a,b}
ls [ab]
rm *
make *
cd s*
{ ls; }`,
  ],
  [
    "write writes_file",
    `
find . -name '*.tmp' -delete
find . -fprint out.txt
find . -fprint0 out.txt
find . -fprintf out.txt '%p'
find . -fls out.txt
sort -o a.txt a.txt
sort a.txt -o a.txt
sort -oa.txt a.txt
sort -no a.txt a.txt
sort --output=x a.txt
sort --output x a.txt
sort -T /tmp a.txt
uniq a.txt out.txt
uniq -c a.txt out.txt
uniq -- a.txt out.txt
tree -o out.txt
tree -R -L 1
file -p README.md
date -s 2020-01-01
date --set=2020-01-01
date 010100002020
sed -ni p a.txt
sed -i s/a/b/ a.txt
sed --in-place s/a/b/ a.txt
sed -nip a.txt
sed -n -i p a.txt
git log --output x -p
git log --output=x
git describe --dirty
git describe --broken
git show --output=x HEAD
git stash show --output=x`,
  ],
  [
    "write writes_file unmodelled_option",
    `
file -C -m x
sed -i 'w x' a.txt`,
  ],
  [
    "write unmodelled_option writes_file",
    `
date -f README.md
date -r README.md`,
  ],
  [
    "opaque opaque_program",
    `
npm test -- --x
npm install
npm run build
npm t
npm test --prefix x
npm -v x
node x.js
node -e 1
python3 -c 1
python3 -v
bash -v
yarn --version
ls; node
env
env ls
xargs ls`,
  ],
  [
    "unknown",
    `
cargo --version
tee x`,
  ],
  [
    "refused state_builtin",
    `
printf -v x y
pushd src
popd
eval ls
source x
. x
export A=b
command ls
exec ls
set -x
read x
test -v x`,
  ],
  [
    "unknown path_program",
    `
./ls
bin/cat README.md
/bin/cat README.md`,
  ],
  [
    "unknown git_global_option",
    `
git -c core.pager=./x log
git -C /tmp status
git --git-dir=/tmp/x status
git --work-tree=/ status
git --exec-path=/tmp status
git --config-env=core.pager=X log
git -p status
git --paginate log
git --bare log
git --namespace=x log
git --no-pager -c x=y log
git
git --help
git --no-pager`,
  ],
  [
    "write",
    `
git fetch
git fetch origin
git add -A
git add .`,
  ],
  [
    "write runs_program",
    `
git fetch --upload-pack=./x origin`,
  ],
  [
    "write unmodelled_option",
    `
git fetch ./x
git fetch https://x/y
git fetch 'ext::sh -c id'
git fetch origin +refs/heads/a:refs/heads/b
git fetch --upload-pa=x origin
git add -p
git add -i
git add -e`,
  ],
  [
    "write runs_hooks",
    `
git commit -m x
git commit --amend
git checkout main
git checkout -- a.txt
git switch main
git restore a.txt
git stash
git stash push
git stash pop
git stash apply
git rm a.txt
git mv a.txt c.txt
git branch new
git tag v1
git merge --ff-only x
git merge x`,
  ],
  [
    "write unmodelled_option runs_hooks",
    `
git branch -d x
git branch -D x
git branch -m x
git branch -f x
git branch -u origin/main
git tag -d v1
git tag -a v1
git tag -v v1
git tag -s v1`,
  ],
  [
    "cwd_unknown",
    `
cd
cd -
cd a b
cd ''`,
  ],
  [
    "refused other_shell",
    `
cd ~
ls =id
ls a=~
ls a:~
ls %COMSPEC%`,
  ],
  [
    "refused unmodelled_construct",
    `
time ls
! ls
(ls)
if ls; then id; fi`,
  ],
  [
    "refused background",
    `
true &`,
  ],
  [
    "refused substitution",
    `
ls $(id)
ls <(id)`,
  ],
  [
    "refused expansion",
    `
ls $x
echo $HOMES
ls "$x"`,
  ],
  [
    "refused redirection",
    `
ls > x
ls >> x
ls 2> x
ls &> x
ls >& x
cat < missing.txt
cat < src
ls | cat < a.txt
cat << EOF`,
  ],
  [
    "refused assignment",
    `
FOO=bar ls`,
  ],
  [
    "refused outside_workspace",
    `
ls /etc/*
ls ../*
cat src/../../*`,
  ],
];

for (const [why, lines] of ASKING) {
  test(`commands that ask because of "${why}" are not proven to only read`, (t) => {
    const place = sampleWorkspace(t);
    const rows = lines.trim().split("\n");
    assert.deepEqual(
      rows.map((line) => [line, [...new Set(objections(line, place))].join(" ")]),
      rows.map((line) => [line, why]),
    );
  });
}
