// Plain JavaScript without imports, so that a Node far too old to run Assent can still run this and say what to do.
var wanted = [22, 19];
var found = process.versions.node.split(".").map(Number);

if (found[0] < wanted[0] || (found[0] === wanted[0] && found[1] < wanted[1])) {
  console.error(
    "Assent needs Node 22.19 or newer; this is v" +
      process.versions.node +
      ". Run it through npm (`npm test`, `npm run …`) in the repository, where Node 24 comes with `npm ci`, or install Node 24.",
  );
  process.exit(1);
}
