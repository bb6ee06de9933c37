// Reading a session: j and k step through the evidence, links scroll to it, the ruler follows the reader.
const links = [...document.querySelectorAll("[data-evidence-link]")];
let at = -1;

function show(index, { move = true } = {}) {
  if (!links.length) return;
  at = (index + links.length) % links.length;
  const link = links[at];
  const key = link.dataset.evidenceLink;
  for (const old of document.querySelectorAll("mark.evidence.current, .step.current")) old.classList.remove("current");
  const step = link.closest(".step");
  step.classList.add("current");
  const marks = document.querySelectorAll(`mark.evidence[data-evidence~="${CSS.escape(key)}"]`);
  for (const mark of marks) {
    mark.classList.add("current");
    for (let fold = mark.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  }
  if (!move) return;
  marks[0]?.scrollIntoView({ block: "center" });
  const side = step.closest(".outcomes");
  if (side.scrollHeight > side.clientHeight)
    side.scrollTo({ top: step.getBoundingClientRect().top - side.getBoundingClientRect().top + side.scrollTop - 80 });
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-evidence-link]");
  if (link) {
    event.preventDefault();
    history.replaceState(null, "", link.getAttribute("href"));
    return show(links.indexOf(link));
  }
  const mark = event.target.closest("mark.evidence");
  if (!mark) return;
  const index = links.findIndex((one) => mark.dataset.evidence.split(" ").includes(one.dataset.evidenceLink));
  if (index >= 0) show(index);
});

document.addEventListener("mouseover", (event) => {
  const step = event.target.closest?.(".step");
  const link = step?.querySelector("[data-evidence-link]");
  if (link && links[at] !== link) show(links.indexOf(link), { move: false });
});

const walk = document.querySelector("[data-evidence-walk]");
if (walk && links.length) {
  walk.hidden = false;
  walk.querySelector("[data-key=j]").addEventListener("click", () => show(at + 1));
  walk.querySelector("[data-key=k]").addEventListener("click", () => show(at < 0 ? -1 : at - 1));
}

const ticks = new Map([...document.querySelectorAll(".ruler a")].map((tick) => [tick.hash.slice(1), tick]));
const seen = new Set();
const watch = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) entry.isIntersecting ? seen.add(entry.target.id) : seen.delete(entry.target.id);
    const first = [...ticks.keys()].find((id) => seen.has(id));
    for (const [id, tick] of ticks) tick.toggleAttribute("aria-current", id === first);
  },
  { rootMargin: "-80px 0px -40% 0px" },
);
for (const turn of document.querySelectorAll("[data-turn]")) watch.observe(turn);

const wanted = location.hash.match(/^#e(\d+)$/);
const linked = wanted ? links.findIndex((link) => link.dataset.evidenceLink === wanted[1]) : -1;
if (linked >= 0) show(linked);
