// Makes Node load only the modules in use. fast_bindings.py preloads it into jsii's Node.
"use strict";

// The index.js of a provider loads every module. The lazy-index.js beside it has the same names as getters.
const INDEX = /[\\/]@cdkt[fn][\\/]provider-([^\\/]+)[\\/]lib[\\/]index\.js$/;
// Only CDKTF has it, and uses it for assets of the type ARCHIVE only.
const ARCHIVER = /[\\/]node_modules[\\/]archiver[\\/]index\.js$/;
// Here the framework records where each value was made: a fifth of its time and most of its memory, and no output has it.
const STACK_TRACES = /[\\/]cdk(?:tf|tn)[\\/]lib[\\/]tokens[\\/]private[\\/]stack-trace\.js$/;
// In a thread of this file jsii writes an index of a package into its cache; without it, every start reads the whole
// package.
const INDEX_WRITER = /[\\/]runtime-index-worker\.js$/;
// How long to wait for these threads. node_process.py waits longer.
const MOST_MILLISECONDS = 30_000;

// Below this jsii hangs or fails in the middle. node_process.py has the same number, and looks for this sentence.
const OLDEST = 18;
if (parseInt(process.versions.node, 10) < OLDEST) {
  console.error("nodeless: this Node is too old");
  process.exit(1);
}

try {
  const { accessSync, constants, existsSync, readFileSync, rmSync } = require("fs");
  const Module = require("module");
  const { dirname, join } = require("path");
  const load = require.extensions[".js"];

  // Returns the modules in use, by their name in the provider's index. It reads them from the Python file beside this
  // one (aws.py, helm.py), from lines such as `from cdktf_cdktf_provider_aws.iam_role import ...`; CDK Terrain has the
  // same modules. Without that file, and for all other names, the lazy index is used, which takes longer to load.
  const inUse = (provider) => {
    const file = join(__dirname, `${provider}.py`);
    const line = new RegExp(`^from cdktf_cdktf_provider_${provider}\\.(\\w+) import`, "gm");
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    const names = [...text.matchAll(line)].map((match) => match[1]);
    const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
    return new Map(names.map((name) => [camel(name), `./${name.replaceAll("_", "-")}`]));
  };

  // Returns a proxy that loads the module on first use.
  const deferred = (parent, filename, known = new Map()) => {
    let loaded;
    const whole = () => {
      if (!loaded) {
        loaded = new Module(filename, parent);
        loaded.filename = filename;
        loaded.paths = parent.paths;
        load(loaded, filename);
      }
      return loaded.exports;
    };
    return new Proxy(function () {}, {
      get: (_, name) => (known.has(name) ? parent.require(known.get(name)) : whole()[name]),
      apply: (_, self, values) => Reflect.apply(whole(), self, values),
    });
  };

  // CDK Terrain has one function more than CDKTF: all of them return an empty trace.
  const loadWithoutTraces = (module, filename) => {
    load(module, filename);
    for (const name of Object.keys(module.exports)) module.exports[name] = () => [];
  };

  require.extensions[".js"] = (module, filename) => {
    const [, provider] = INDEX.exec(filename) || [];
    const lazy = join(dirname(filename), "lazy-index.js");
    if (provider && existsSync(lazy)) module.exports = deferred(module, lazy, inUse(provider));
    else if (STACK_TRACES.test(filename)) loadWithoutTraces(module, filename);
    else if (ARCHIVER.test(filename)) module.exports = deferred(module, filename);
    else load(module, filename);
  };

  const isWritable = (folder) => {
    try {
      accessSync(folder, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  };

  // A synthesis is shorter than the writing of an index, and jsii ends the process in the middle of it, at every run.
  // Here the process ends when the indexes are written, where they can be.
  const threads = require("worker_threads");
  const { exit } = process;
  const writing = new Set();
  threads.Worker = class extends threads.Worker {
    constructor(file, options) {
      super(file, options);
      if (!INDEX_WRITER.test(file) || !isWritable(options?.workerData?.packageDir)) return;
      writing.add(this);
      this.once("exit", () => writing.delete(this));
    }
  };
  process.exit = (code) => {
    if (!writing.size) exit(code);
    for (const thread of writing) thread.once("exit", () => writing.size || exit(code));
    setTimeout(exit, MOST_MILLISECONDS, code);
  };

  // jsii's first Node passes its own arguments on to the second, which does the work. With the hook among them,
  // NODE_OPTIONS can be restored, and no other process that Node starts gets the hook.
  const options = process.env.NODE_OPTIONS || "";
  const before = options.replace(/\s*--require "(?:[^"\\]|\\.)*lazy_index\.cjs"$/, "");
  if (before !== options) {
    process.execArgv.push("--require", __filename);
    // Python removes the temporary folder of Node. If Python was killed, Node does it, while the second Node may still
    // be removing its own files there.
    const { ppid } = process;
    const folder = process.env.NODELESS_NODE_FOLDER;
    const remove = () => {
      for (let left = 50; left && process.ppid !== ppid && existsSync(folder); left--) {
        try {
          rmSync(folder, { recursive: true, force: true });
        } catch {
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
        }
      }
    };
    if (folder) process.on("exit", remove);
    if (before) process.env.NODE_OPTIONS = before;
    else delete process.env.NODE_OPTIONS;
  }
} catch {
  // Where this fails, Node loads everything: slower, with the same output.
}
