// The page of the runs of a project.

import { count, counted, duration, element, foreign, money } from "./text.js";
import { follow } from "./following.js";

const at = (id) => document.getElementById(id);
const HEAD = ["run", "program", "status", "began", "took", "effects", "cost"];

function show({ folder, count: all, runs }) {
  document.title = `Runs of ${folder}`;
  at("name").replaceChildren(foreign(folder));
  const more = all > runs.length ? `, the newest ${count(runs.length)} of them` : "";
  at("summary").replaceChildren(counted(all, "run") + more);
  const head = element("tr", "", ...HEAD.map((each) => element("th", "", each)));
  at("runs").replaceChildren(element("thead", "", head), element("tbody", "", ...runs.map(row)));
  return true;
}

function row(run) {
  const link = element("a", "code", run.id);
  link.href = `run/${run.id}/`;
  const cells = [link, element("bdi", "", foreign(run.name)), element("span", `status ${run.status}`, run.status)];
  const told = [new Date(run.started * 1000).toLocaleString(), duration((run.updated - run.started) * 1000), count(run.effects), run.cost ? money(run.cost) : ""];
  return element("tr", "", ...cells.map((each) => element("td", "", each)), ...told.map((each) => element("td", "number", each)));
}

let shown = at("data").textContent;
show(JSON.parse(shown));
follow(
  () => "runs",
  (runs) => {
    const told = JSON.stringify(runs);
    if (told !== shown) show(runs);
    shown = told;
    return true;
  },
  (trouble) => at("connection").replaceChildren(foreign(trouble)),
);
