import assert from "node:assert/strict";
import { test } from "node:test";
import { PROGRAMS } from "../../../src/shell/programs/table.ts";
import { objections, sampleWorkspace } from "../sample-workspace.ts";

/** What a coding agent types to look around: one line each. */
const LOOKING = String.raw`
ls
ls -la
ls -la src test
ls -lah
ls -R src
ls -1 src
ls src/*.ts
ls -lt | head -20
ls -d ./*/
ls --color=never -la
ls -la --time-style=long-iso
ls -lhS
ls -A
pwd
pwd -P
cat README.md
cat -n src/a.ts
cat src/a.ts src/b.ts
cat src/*.ts
cat -A README.md
cat package.json | head -50
cat package.json | jq .scripts
cat package.json | jq '.dependencies'
head README.md
head -20 README.md
head -n 20 README.md
head -n20 README.md
head -c 100 README.md
head -n -5 README.md
head --lines=5 README.md
tail README.md
tail -20 README.md
tail -n 20 README.md
tail -n +10 README.md
tail -c 200 README.md
wc -l README.md
wc README.md
wc -l src/*.ts
find . -name '*.ts' | wc -l
grep TODO README.md
grep -n TODO README.md
grep -rn TODO src
grep -rn "TODO" .
grep -rn 'foo bar' src --include='*.ts'
grep -rnE 'foo|bar' src
grep -ri error src
grep -l foo -r src
grep -c foo README.md
grep -A 3 -B 3 foo README.md
grep -A3 foo README.md
grep -C 5 foo README.md
grep -v '^#' README.md
grep -e foo -e bar README.md
grep -o 'a[0-9]*' README.md
grep -w foo README.md
grep --color=never foo README.md
grep -rn --exclude-dir=node_modules --exclude-dir=.git foo .
grep -rnw 'src' -e 'foo'
grep -F 'a.b' README.md
grep -P '\d+' README.md
grep -q foo README.md && echo yes
grep -q foo README.md || echo no
grep -m 1 foo README.md
grep -Hn foo src/a.ts
grep -rl foo src | sort | uniq
grep -rhoE 'import .* from' src | sort | uniq -c | sort -rn | head -20
grep -n "export" src/a.ts | head -20
grep -rn "=> {" src
grep -n -- '--flag' README.md
grep -5 foo README.md
rg TODO
rg TODO src
rg -g '!**/.env' TODO
ls 1>&2
ls src 2>&1 </dev/null
rg -n TODO src
rg -i foo
rg -l foo src
rg --files
rg --files src | head
rg --files -g '*.ts'
rg -g '*.ts' foo
rg -t ts foo
rg -A 3 -B 2 foo src
rg -C3 foo
rg -w foo
rg -F 'a.b(' src
rg --hidden foo
rg --no-ignore foo
rg -c foo
rg --count-matches foo src
rg -e foo -e bar
rg -uu foo
rg -o 'foo\w+' src
rg --json foo
rg --type=ts 'export function'
rg 'export (const|function)' src -n
rg -nS foo src test
rg --max-depth=2 foo
rg -U 'a\nb' src
rg -v foo README.md
rg --stats foo
rg --sort=path foo
rg -M 200 foo
rg -m 1 foo
find .
find . -type f
find . -name '*.ts' -type f
find src -name "*.ts"
find . -type d -maxdepth 2
find . -maxdepth 1
find . -maxdepth 2 -not -path './node_modules/*'
find . -path ./node_modules -prune -o -name '*.ts' -print
find . -name '*.ts' -not -path '*/node_modules/*'
find . -iname '*readme*'
find . -size +1M
find . -mtime -7
find . -newer README.md
find . -empty
find . -type f \( -name '*.ts' -o -name '*.js' \)
find . -name '*.ts' -print0
find . -type f -printf '%f\n'
find . -type f -name '*.json' | head -20
find src -type f | sort
find . -type f -newermt '2024-01-01'
find . -regex '.*\.ts'
find . -perm 644
find . -type l
find . -mmin -60 -type f
find . \! -name x
sed -n '1,20p' README.md
sed -n 5p README.md
sed -n '5,10p;11q' README.md
sed -n '/foo/p' README.md
sed -n '/start/,/end/p' README.md
sed -n '$p' README.md
sed -n '$=' README.md
sed -n -e '1p' -e '3p' README.md
sed -nE '/foo|bar/p' README.md
sed -n 's/foo/bar/p' README.md
sed -n 's/.*"version": "\(.*\)".*/\1/p' package.json
sed -n 's|a/b|c|gp' README.md
sed -n '10,+5p' README.md
sed -n '/foo/{p;q}' README.md
sed -n '/foo/{n;p}' README.md
sed -n '1~2p' README.md
sed -n '2!p' README.md
sed -n '/[a-z]/p' README.md
sed -n '/^export/p' src/a.ts
sed -n 200,260p src/index.ts
sed -n '/[[:space:]]foo/p' README.md
awk '{print $1}' data.txt
awk -F: '{print $1}' data.txt
awk -F, '{print $2}' data.txt
awk 'NR==5' README.md
awk 'NR==1,NR==10' README.md
awk '{print NR": "$0}' README.md
awk '/foo/ {print $2}' README.md
awk '{sum+=$1} END {print sum}' data.txt
awk '{print $NF}' data.txt
awk -v n=5 'NR==n' README.md
awk 'length($0) < 80' README.md
awk '!seen[$0]++' data.txt
awk 'BEGIN{FS=","} {print $1}' data.txt
awk '{printf "%s\n", $1}' data.txt
awk -F'\t' '{print $1 "," $2}' data.txt
awk '{count[$1]++} END {for (k in count) print k, count[k]}' data.txt
sort a.txt
sort -u a.txt
sort -n a.txt
sort -rn a.txt
sort -k2 a.txt
sort -k 2,2n -t , a.txt
sort -t: -k3 a.txt
sort --reverse a.txt
sort -h a.txt
sort a.txt | uniq
sort a.txt | uniq -c | sort -rn
sort -V a.txt
uniq a.txt
uniq -c a.txt
uniq -d a.txt
cut -d: -f1 a.txt
cut -d ' ' -f 1,2 a.txt
cut -f2 a.txt
cut -c1-10 a.txt
cut -d, -f2- a.txt
tr a-z A-Z
cat a.txt | tr -d '\n'
cat a.txt | tr '[:lower:]' '[:upper:]'
cat a.txt | tr -s ' '
nl a.txt
nl -ba a.txt
rev a.txt
tac a.txt
fold -w 80 a.txt
column -t a.txt
column -t -s, data.txt
comm a.txt b.txt
comm -12 a.txt b.txt
paste a.txt b.txt
paste -sd, a.txt
basename src/a.ts
basename src/a.ts .ts
dirname src/a.ts
seq 5
seq 1 10
seq 1 2 10
stat README.md
stat -c %s README.md
stat -c '%n %s' src/a.ts src/b.ts
file README.md
file -b README.md
file --mime-type README.md
du -sh src
du -sh .
du -h --max-depth=1
du -ah src | sort -h
du -d 1 -h .
df -h
df -h .
tree
tree -L 2
tree -a -L 2 -I 'node_modules|.git'
tree src
tree -d
tree -L 3 --dirsfirst
realpath README.md
realpath src
readlink -f README.md
diff a.txt b.txt
diff -u a.txt b.txt
diff -ru src test
diff -q a.txt b.txt
diff -y a.txt b.txt
diff --unified=5 a.txt b.txt
diff -w a.txt b.txt
cmp a.txt b.txt
sha256sum package.json
sha1sum src/a.ts src/b.ts
md5sum README.md
test -f package.json
test -d src && ls src
test -e none || echo none
which node
which -a python3
whoami
id
id -un
uname
uname -a
date
date +%Y-%m-%d
date -u +%FT%TZ
date '+%Y-%m-%d %H:%M:%S'
date -I
echo hello
echo "hello world"
echo -n hi
echo -e 'a\tb'
echo "=== src ===" && ls src
echo ---
echo '--- a ---'; cat a.txt
printf '%s\n' a b
printf "a\n"
true
false || echo no
node --version
node -v
npm -v
npm --version
npm ls
python3 --version
python3 -V
tsc --version
git --version
jq . package.json
jq .name package.json
jq -r .version package.json
jq -r '.scripts | keys[]' package.json
jq '.a.b[0]' package.json
jq -c . data.txt
jq '.dependencies | length' package.json
jq -r '.scripts.test' package.json
jq 'map(select(.a == 1))' data.txt
jq -s . data.txt
jq -r '.[] | "\(.a) \(.b)"' data.txt
jq --arg n foo '.[$n]' package.json
jq -e .x package.json
jq 'to_entries[]' package.json
jq '.include' package.json
jq keys package.json
git status
git status -s
git status -sb
git status --short
git status --porcelain
git status --porcelain=v2 --branch
git status --ignored
git status -uno
git status -uall
git status src
git log
git log -5
git log -n 5
git log --oneline
git log --oneline -20
git log --oneline --graph --all
git log --oneline --decorate -10
git log -p
git log -p -1
git log -p -- src/index.ts
git log --stat
git log --stat -3
git log --author='Ann'
git log --author Ann --oneline
git log --since='2 weeks ago'
git log --since=2024-01-01 --until=2024-02-01
git log --grep=fix
git log --grep fix -i
git log --format='%H %an %s'
git log --pretty=format:'%h %s'
git log --pretty=oneline
git log --format=%s -1
git log main..HEAD
git log origin/main..HEAD --oneline
git log HEAD~5..HEAD
git log --follow src/a.ts
git log --name-only -5
git log --name-status
git log -S foo
git log -S'foo bar' --oneline
git log -G 'foo.*bar'
git log -L 1,10:src/a.ts
git log --merges
git log --no-merges --first-parent
git log --reverse
git log --date=short --format='%ad %s'
git log --diff-filter=D --summary
git log -1 --format=%cd
git log --all --oneline -- src/a.ts
git log --abbrev-commit
git log -10 --pretty=format:"%h - %an, %ar : %s"
git log --graph --pretty=format:'%Cred%h%Creset -%C(yellow)%d%Creset %s' --abbrev-commit
git log v1.0..v2.0
git log --shortstat
git --no-pager log -5
git --no-pager diff
git --no-pager log --oneline -n 10
git diff
git diff --stat
git diff --cached
git diff --staged
git diff HEAD
git diff HEAD~1
git diff HEAD~1 --stat
git diff HEAD~3 HEAD
git diff main...HEAD
git diff main HEAD -- src
git diff -- src/a.ts
git diff src/a.ts
git diff --name-only
git diff --name-only HEAD~1
git diff --name-status main
git diff -w
git diff -U10
git diff --word-diff
git diff --color=never
git diff --no-color
git diff --check
git diff --cached --stat
git diff --numstat
git diff --shortstat
git diff a.txt b.txt
git diff --ignore-all-space
git diff -M HEAD~1
git diff --diff-filter=AM --name-only
git show
git show HEAD
git show HEAD --stat
git show HEAD~1
git show abc1234
git show HEAD:README.md
git show --name-only HEAD
git show --stat --oneline HEAD
git show -s --format=%B HEAD
git show 'HEAD^'
git show 'stash@{0}'
git show HEAD~2 -- src
git branch
git branch -a
git branch -v
git branch -vv
git branch -r
git branch --list
git branch --list 'feature/*'
git branch --show-current
git branch --contains HEAD
git branch --merged
git branch --merged main
git branch --sort=-committerdate
git branch --format='%(refname:short)'
git branch -a --contains abc123
git tag
git tag -l
git tag -l 'v1.*'
git tag --list
git tag -n
git tag --sort=-creatordate
git tag --contains HEAD
git remote
git remote -v
git remote get-url origin
git rev-parse HEAD
git rev-parse --abbrev-ref HEAD
git rev-parse --show-toplevel
git rev-parse --short HEAD
git rev-parse --verify main
git rev-parse --is-inside-work-tree
git describe
git describe --tags
git describe --tags --always
git describe --tags --abbrev=0
git ls-files
git ls-files src
git ls-files '*.ts'
git ls-files -m
git ls-files --others --exclude-standard
git ls-files | wc -l
git ls-files -s
git ls-tree HEAD
git ls-tree -r HEAD --name-only
git ls-tree -r --name-only HEAD src
git cat-file -t HEAD
git cat-file -p HEAD
git cat-file -s HEAD
git merge-base main HEAD
git merge-base --is-ancestor main HEAD
git rev-list --count HEAD
git rev-list HEAD --max-count=5
git rev-list main..HEAD
git shortlog -sn HEAD
git shortlog -sn --all
git shortlog -sne HEAD
git blame README.md
git blame -L 10,20 README.md
git blame -w src/a.ts
git blame HEAD~1 -- src/a.ts
git reflog
git reflog -10
git reflog show
git reflog show main
git stash list
git stash show
git stash show -p
git stash show 'stash@{1}'
git worktree list
git config --get user.name
git config --get remote.origin.url
git config --list --name-only
git grep TODO
git grep -n TODO -- src
git grep -l foo
cd src && ls
cd src && grep -n foo a.ts
ls -la && git status
git status && git diff --stat
git log --oneline -5; git status -s
ls nothere 2>/dev/null || echo missing
cat nothere 2>/dev/null
grep -rn foo src 2>/dev/null | head -5
ls # list files
sha224sum README.md
sha384sum README.md
sha512sum README.md
ls *.md
cat *.txt
grep foo *.ts
grep -rn foo --include=*.ts .
find . -name *.ts
find . ! -name '*.ts'
find . -name '*.ts' | xargs grep foo
find . -name '*.ts' -print0 | xargs -0 wc -l
find src -exec grep -l foo {} +
find src -type f -exec head -5 {} \;
git ls-files | grep -v test | xargs cat
ls | xargs -I{} echo {}
ls | xargs -n 1 basename
xargs cat < a.txt
wc -l < README.md
tr a-z A-Z < README.md
sed p README.md
sed 's/a/b/g' a.txt
sed -e 's/^ *//' -e '/^$/d' a.txt
sed '1i first' a.txt
sed 'y/abc/xyz/' a.txt
awk '$3 > 10 {print $1}' a.txt
awk '/a|b/ {print}' a.txt
awk 'NR > 1 || /x/ {n++} END {print n}' a.txt
[ -f README.md ]
[ ! -d docs ]
[ a = b ] || echo no
echo $HOME "$PWD"
command -v git
type -a git
nproc
uptime -p
free -h
hostname
arch
tty
logname
users
groups
clear
lscpu
lsblk
cal
expr 1 + 2
sleep 5
jobs
history
ps
ps aux
ps -aux
ps -ef
ps axf
ps -eo pid,ppid,cmd --sort=-pcpu
ps -p 1 -o pid=
pgrep -fl node
xxd README.md
xxd -ps -l 16 README.md
od -c README.md
od -A x -t x1z README.md
base64 README.md
base32 -d a.txt
strings -n 8 README.md
hexdump -C README.md
cksum README.md
expand a.txt
unexpand -a a.txt
join a.txt b.txt
egrep 'a|b' README.md
fgrep -r x src
less README.md
more README.md
git -C src status
git -C src/../docs log -1
git diff HEAD^
git show v1^{commit}
git stash show -p stash@{0}
git log @{u}..
git for-each-ref --sort=-committerdate --format='%(refname:short)'
git show-ref --tags
git check-ignore -v src
git check-attr -a README.md
git config user.name
git config --get remote.origin.url
git count-objects -vH
git symbolic-ref --short HEAD
npm ls --depth=0
npm list react
npm ls --all --json
npm explain react
npm root
npm run
docker ps -a
docker images
docker logs --tail 20 web
docker version
kubectl get pods
kubectl get pods,svc -n web -o wide
kubectl logs web --tail=20
gh pr list --state open
gh pr view 12 --json title
gh issue list -R owner/name
gh run view 12
java -version
curl --version
`;

test("every program that Assent knows to only read has a line here", () => {
  const words = new Set(LOOKING.split(/[\s;|&]+/));
  const readers = [...PROGRAMS].flatMap(([name, { reads }]) => (reads ? [name] : []));
  assert.deepEqual(
    readers.filter((name) => !words.has(name)),
    [],
  );
});

test("commands that only look are proven to only read", (t) => {
  const place = sampleWorkspace(t);
  const lines = LOOKING.trim().split("\n");
  const asked = lines.map((line) => ({ line, why: objections(line, place) })).filter(({ why }) => why.length > 0);
  assert.ok(lines.length > 400);
  assert.deepEqual(asked, []);
});
