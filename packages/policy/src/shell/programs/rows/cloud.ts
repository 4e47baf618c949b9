import { type Program, sameRow } from "../program.ts";

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

/** Containers, clusters and cloud services. */
export const CLOUD: Readonly<Record<string, Program>> = {
  ...sameRow("docker podman", {
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
  }),
  nerdctl: {
    match: { options: CONTAINER_OPTIONS, synonyms: SAME_CONTAINER_OPTIONS, subcommandSynonyms: SAME_CONTAINER_COMMANDS },
  },
  kubectl: {
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
