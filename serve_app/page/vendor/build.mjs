// Bundles the libraries of the page into serve_app/page/static/vendor, with their licences.
//
// For maintainers: `make page-vendor`. The output is committed, so that nobody else needs npm.
// Versions are those of package-lock.json; versions.json in the output names them.

import { build } from "esbuild";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "..", "static", "vendor");
const bundles = ["preact", "codemirror", "vega"];

/** The folder under node_modules of the package that an input file belongs to. */
function findPackage(path) {
  const parts = path.split("node_modules/").at(-1).split("/");
  return parts[0].startsWith("@") ? `${parts[0]}/${parts[1]}` : parts[0];
}

/** The text of a package's licence file, or the name of its licence and author. */
async function readLicence(name, description) {
  const folder = join(here, "node_modules", name);
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
  if (file) return readFile(join(folder, file), "utf8");
  const author = description.author?.name ?? description.author ?? "its authors";
  return `${description.license}. Copyright ${author}.\n`;
}

await rm(out, { recursive: true, force: true });
await mkdir(join(out, "licences"), { recursive: true });
const versions = {};
for (const name of bundles) {
  const result = await build({
    entryPoints: [join(here, "entries", `${name}.js`)],
    outfile: join(out, `${name}.js`),
    bundle: true,
    format: "esm",
    minify: true,
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    metafile: true,
    banner: { js: `// Bundled by serve_app/page/vendor/build.mjs. Licences: licences/, versions: versions.json.` },
  });
  const packages = new Set(
    Object.keys(result.metafile.inputs).filter((path) => path.includes("node_modules/")).map(findPackage),
  );
  for (const part of [...packages].sort()) {
    const description = JSON.parse(await readFile(join(here, "node_modules", part, "package.json"), "utf8"));
    versions[part] = { version: description.version, license: description.license, bundle: name };
    await writeFile(join(out, "licences", `${part.replace("/", "__")}.txt`), await readLicence(part, description));
  }
}
await writeFile(join(out, "versions.json"), `${JSON.stringify(versions, null, 1)}\n`);
