import { type Program, sameRow, TO_OUTPUT } from "../program.ts";

/** Programs that talk to other machines. */
export const NETWORK: Readonly<Record<string, Program>> = {
  curl: {
    version: "--version -V",
    writes: {
      operands: "names",
      options: `-o=file --output=file -D=file --dump-header=file -c=file --cookie-jar=file --trace=file --trace-ascii=file --stderr=file
      --etag-save=file --output-dir=into -H= --header= -X= --request= -d= --data= -u= --user= -A= --user-agent= -e= -b=`,
      only: "-O --remote-name --remote-name-all -J",
    },
    match: {
      options: `-X= --request= -d= --data= --data-raw= --data-binary= --data-urlencode= -H= --header= -o= --output= -T= --upload-file= -u= --user= -F=
      --form= -x= --proxy= -A= --user-agent= -b= --cookie= -c= --cookie-jar= -e= --referer= -m= --max-time= -K= --config= --url= -w=
      --write-out= -E= --cert= --cacert= --resolve= --connect-timeout= --retry=`,
      synonyms: [
        ...["-X --request", "-d --data", "-H --header", "-o --output", "-O --remote-name", "-T --upload-file", "-u --user", "-F --form"],
        ...["-k --insecure", "-L --location", "-x --proxy", "-K --config"],
      ],
    },
  },
  wget: {
    version: "--version -V",
    writes: {
      operands: "names",
      options: `-O=file --output-document=file -o=file --output-file=file -a=file --append-output=file -P=into --directory-prefix=into`,
    },
    match: {
      options: `-O= --output-document= -P= --directory-prefix= -o= --output-file= -i= --input-file= -U= --user-agent= -t= --tries= -T= --timeout=`,
      synonyms: ["-O --output-document", "-P --directory-prefix", "-i --input-file", "-r --recursive", "-m --mirror"],
    },
  },
  ...sameRow("axel yt-dlp gpg age", { writes: TO_OUTPUT }),
  openssl: { version: "version", writes: TO_OUTPUT },
  aria2c: { writes: { options: "-o=file --out=file -l=file --log=file -d=place --dir=place" } },
  rsync: {
    writes: {
      operands: "to",
      options: `--log-file=file --backup-dir=place --partial-dir=place -T=place --temp-dir=place -e= --rsh= --exclude= --include=`,
      deep: "-a -r --archive --recursive",
      whole: "-R --relative",
    },
    runs: {
      how: "options",
      options: `-f= --filter= -T= --temp-dir= -B= --block-size= -M= --remote-option= --exclude= --include= -e=script --rsh=script --rsync-path=script`,
    },
    match: {
      options: "-e= --rsh= -f= --filter= --exclude= --include= -T= --temp-dir=",
      synonyms: ["-a --archive", "-r --recursive", "-e --rsh", "-n --dry-run"],
    },
  },
  scp: { writes: { operands: "to", options: "-P= -i= -o= -F=", deep: "-r" }, runs: { how: "ssh" } },
  ...sameRow("sftp autossh slogin", { runs: { how: "ssh" } }),
  ssh: { version: "-V", runs: { how: "ssh" }, opaque: true },
  mosh: { opaque: true },
  ...sameRow("nc ncat netcat", { runs: { how: "options", options: "-p= -s= -w= -e=script -c=script --exec=script --sh-exec=script" } }),
  socat: { writes: { script: /(?:create|g?open|file):([^,]+)/gi }, runs: { how: "options", text: /^(?:exec|system|shell):([^,]+)/i } },
  rclone: {
    subcommands: sameRow("copy sync copyto", { writes: { operands: "last" } }),
  },
  "ssh-keygen": { writes: { options: "-f=file" } },
};
