import { clientReads } from "../client-reads.ts";
import { type Program, sameRow } from "../program.ts";
import { type ReadTable, withHazard } from "../reads.ts";

const CONTAINER_VERBS =
  "attach commit cp create diff exec export inspect kill logs pause port rename restart rm run start stats stop top unpause update wait";
const IMAGE_VERBS = "build history import inspect load pull push save tag";

const SAME_CONTAINER_COMMANDS: readonly string[] = [
  ...CONTAINER_VERBS.split(" ").map((verb) => `${verb}, container ${verb}`),
  ...IMAGE_VERBS.split(" ").map((verb) => `${verb}, image ${verb}`),
  "rm, container rm, container remove",
  "rmi, image rm, image remove",
  "ps, container ps, container ls, container list",
  "images, image ls, image list",
  "build, image build, buildx build, builder build",
  "info, system info",
  "events, system events",
];

const CONTAINER_OPTIONS =
  "-H= --host= -c= --context= -l= --log-level= --config= --tlscacert= --tlscert= --tlskey= -D --debug --tls --tlsverify -v --version";
const SAME_CONTAINER_OPTIONS = ["-f --force", "-a --all", "-v --volume", "-d --detach", "-i --interactive", "-t --tty", "-p --publish"];

/** Lists and texts of the local daemon. What shows settings of a container, such as its variables, is not listed. */
const DOCKER_READS: Readonly<Record<string, ReadTable>> = {
  ...sameTables(["ps", "container ls", "container ps", "container list"], {
    operands: "none",
    options: "-a --all -f= --filter= --format= -n= --last= -l --latest --no-trunc -q --quiet -s --size",
  }),
  ...sameTables(["images", "image ls", "image list"], {
    operands: "data",
    options: "-a --all --digests -f= --filter= --format= --no-trunc -q --quiet",
  }),
  ...sameTables(["volume ls", "network ls"], { operands: "none", options: "-f= --filter= --format= -q --quiet --no-trunc" }),
  ...sameTables(["logs", "container logs"], { operands: "data", options: "--since= -n= --tail= -t --timestamps --until=" }),
  ...sameTables(["port", "container port"], { operands: "data" }),
  ...sameTables(["version"], { operands: "none", options: "-f= --format=" }),
};

const KUBECTL_SCOPE = "-n= --namespace= -l= --selector=";

/** Kinds whose content has no credentials. */
const SHOWN_KINDS =
  /^(?:po|pods?|no|nodes?|ns|namespaces?|svc|services?|deploy|deployments?|rs|replicasets?|sts|statefulsets?|ds|daemonsets?|jobs?|cj|cronjobs?|ing|ingress(?:es)?|events?|ev|pvc|persistentvolumeclaims?|pv|persistentvolumes?|sc|storageclass(?:es)?|hpa|endpoints?|ep)$/;

const KUBECTL_READS: Readonly<Record<string, ReadTable>> = {
  get: {
    operands: "data",
    options: `${KUBECTL_SCOPE} -A --all-namespaces -o= --output= --show-labels --sort-by= --field-selector= --no-headers -L= --label-columns=`,
    refine: ({ found, operands: [kinds = "", ...names] }, plain) => {
      const shown = [...(found.get("-o") ?? []), ...(found.get("--output") ?? [])].every(
        (format) => format === "wide" || format === "name",
      );
      const isKnown = kinds.split(",").every((kind) => SHOWN_KINDS.test(kind)) && names.every((name) => !name.includes("/"));
      return shown && isKnown ? plain : withHazard(plain, "sensitive_file", "What kubectl shows may contain credentials");
    },
  },
  describe: {
    operands: "data",
    options: `${KUBECTL_SCOPE} -A --all-namespaces`,
    refine: ({ operands: [kind = "", ...names] }, plain) =>
      /^(?:no|nodes?|ns|namespaces?|svc|services?|ing|ingress(?:es)?|pvc|pv)$/.test(kind) && names.every((name) => !name.includes("/"))
        ? plain
        : withHazard(plain, "sensitive_file", "The description may contain variables with credentials"),
  },
  logs: {
    operands: "data",
    options: "-n= --namespace= -c= --container= --tail= --since= --timestamps -p --previous --all-containers -l= --selector=",
  },
  top: { operands: "data", options: `${KUBECTL_SCOPE} -A --all-namespaces --containers --sort-by= --no-headers` },
  version: { operands: "none", options: "--client -o= --output=" },
  "config current-context": { operands: "none" },
  "config get-contexts": { operands: "none", options: "-o= --output= --no-headers" },
};

function sameTables(names: readonly string[], table: ReadTable): Readonly<Record<string, ReadTable>> {
  return Object.fromEntries(names.map((name) => [name, table]));
}

const CONTAINERS: Program = {
  match: {
    options: CONTAINER_OPTIONS,
    synonyms: SAME_CONTAINER_OPTIONS,
    subcommands: true,
    subcommandSynonyms: SAME_CONTAINER_COMMANDS,
    plugins: true,
  },
  opaque: true,
  subcommands: {
    cp: { writes: { operands: "to" } },
    ...sameRow("save export", { writes: { options: "-o=file --output=file" } }),
    build: { writes: { options: "-o=file --output=file --iidfile=file" } },
  },
};

/** Containers, clusters and cloud services. */
export const CLOUD: Readonly<Record<string, Program>> = {
  docker: { ...CONTAINERS, version: "--version -v", reads: clientReads(DOCKER_READS, "docker") },
  podman: CONTAINERS,
  nerdctl: {
    match: { options: CONTAINER_OPTIONS, synonyms: SAME_CONTAINER_OPTIONS, subcommandSynonyms: SAME_CONTAINER_COMMANDS },
  },
  kubectl: {
    reads: clientReads(KUBECTL_READS, "kubectl"),
    match: {
      options: `-n= --namespace= --context= --cluster= --kubeconfig= --user= -s= --server= --token= --as= --as-group= --request-timeout= -v= --v=
      --cache-dir= --certificate-authority= --client-certificate= --client-key= --profile= --profile-output= --tls-server-name=
      --insecure-skip-tls-verify --match-server-version --warnings-as-errors`,
      synonyms: ["-n --namespace", "-f --filename", "-l --selector", "-A --all-namespaces", "-o --output", "-R --recursive"],
      subcommands: true,
      subcommandSynonyms: ["delete, del"],
    },
    opaque: true,
    subcommands: { cp: { writes: { operands: "to" } } },
  },
  helm: {
    match: {
      options: `-n= --namespace= --kube-context= --kubeconfig= --kube-token= --kube-apiserver= --registry-config= --repository-config=
      --repository-cache= --burst-limit= --debug`,
      synonyms: ["-n --namespace", "-f --values", "-i --install"],
      subcommands: true,
      subcommandSynonyms: ["uninstall, delete, del, un", "list, ls", "repo remove, repo rm"],
    },
  },
  aws: {
    match: {
      options: `--profile= --region= --endpoint-url= --output= --query= --color= --ca-bundle= --cli-read-timeout= --cli-connect-timeout= --debug
      --no-verify-ssl --no-paginate --no-sign-request --no-cli-pager`,
      subcommands: true,
    },
  },
  gcloud: {
    match: {
      options: `--project= --account= --configuration= --format= --verbosity= --impersonate-service-account= --billing-project= --region= --zone= -q
      --quiet`,
      synonyms: ["-q --quiet"],
      subcommands: true,
    },
  },
  az: { match: { options: "--subscription= --output= -o= --query= --verbosity= --debug --only-show-errors --verbose", subcommands: true } },
  terraform: { match: { options: "-chdir=", subcommands: true }, opaque: true },
  ...sameRow("tofu ansible", { opaque: true }),
  vagrant: { runs: { how: "options", options: "-c=script --command=script" } },
  systemctl: {
    match: {
      options: `-H= --host= -M= --machine= -t= --type= -s= --signal= -p= --property= -n= --lines= -o= --output= --root= --state= --job-mode= --user
      --system --global --no-pager --now -q --quiet -f --force`,
      synonyms: ["-f --force", "-s --signal"],
      subcommands: true,
    },
  },
};
