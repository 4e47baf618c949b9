import { type Program, sameRow, type Writes } from "../program.ts";

const TAR_FILES: Writes = {
  options: "-f=file --file=file -C=into --directory=into --one-top-level=into",
  spreads: true,
  only: "-x --extract --get",
  bare: true,
};

/** Programs that pack and unpack files. */
export const ARCHIVES: Readonly<Record<string, Program>> = {
  tar: {
    version: "--version",
    writes: TAR_FILES,
    runs: {
      how: "options",
      options: `-f= --file= -C= --directory= -T= --files-from= -X= --exclude-from= --checkpoint-action= -b= -g= -K= -L= -N= -V= -H= -I=script
      --use-compress-program=script --to-command=script -F=script --info-script=script --new-volume-script=script --rmt-command=script
      --rsh-command=script`,
      text: /^(?:--checkpoint-a[a-z]*=)?exec=([\s\S]*)$/,
    },
    match: {
      options: "-f= --file= -C= --directory= -T= --files-from= -X= --exclude-from=",
      synonyms: ["-x --extract --get", "-c --create", "-f --file", "-C --directory", "-P --absolute-names"],
    },
  },
  ...sameRow("gtar bsdtar", { writes: TAR_FILES }),
  zip: {
    writes: { operands: "first" },
    runs: { how: "options", options: "-b= --temp-path= -i= -x= -n= -t= -tt= -TT=script --unzip-command=script", text: /^-TT=?([\s\S]+)$/ },
  },
  unzip: { writes: { options: "-d=into -x=", spreads: true, never: "-l -t -p -Z -v" } },
  cpio: { writes: { options: "-D=into --directory=into", spreads: true, only: "-i --extract -p --pass-through" } },
  ...sameRow("7z 7za 7zr", { writes: { options: "-o=into", spreads: true, only: "x e" } }),
  unrar: { writes: { operands: "last", spreads: true, only: "x e", keeps: true } },
  jar: { writes: { options: "-f=file --file=file -C=into", spreads: true, only: "-x --extract", bare: true } },
  ar: { writes: { operands: "second" } },
  ...sameRow("gzip gunzip bzip2 bunzip2 xz unxz zstd", {
    writes: { operands: "all", never: "-c --stdout -t --test -l --list", keeps: true },
  }),
  patch: {
    writes: { operands: "first", options: "-o=file --output=file -r=file -d=into --directory=into -p= -i= --input=", spreads: true },
  },
};
