// static/js/sessions/evidence.js
var links = [...document.querySelectorAll("[data-evidence-link]")], at = -1;
function show(index, { move = !0 } = {}) {
  if (!links.length) return;
  at = (index + links.length) % links.length;
  let link = links[at], key = link.dataset.evidenceLink;
  for (let old of document.querySelectorAll("mark.evidence.current, .step.current")) old.classList.remove("current");
  let step = link.closest(".step");
  step.classList.add("current");
  let marks = document.querySelectorAll(`mark.evidence[data-evidence~="${CSS.escape(key)}"]`);
  for (let mark of marks) {
    mark.classList.add("current");
    for (let fold = mark.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = !0;
  }
  if (!move) return;
  marks[0]?.scrollIntoView({ block: "center" });
  let side = step.closest(".outcomes");
  side.scrollHeight > side.clientHeight && side.scrollTo({ top: step.getBoundingClientRect().top - side.getBoundingClientRect().top + side.scrollTop - 80 });
}
document.addEventListener("click", (event) => {
  let link = event.target.closest("[data-evidence-link]");
  if (link)
    return event.preventDefault(), history.replaceState(null, "", link.getAttribute("href")), show(links.indexOf(link));
  let mark = event.target.closest("mark.evidence");
  if (!mark) return;
  let index = links.findIndex((one) => mark.dataset.evidence.split(" ").includes(one.dataset.evidenceLink));
  index >= 0 && show(index);
});
document.addEventListener("mouseover", (event) => {
  let link = event.target.closest?.(".step")?.querySelector("[data-evidence-link]");
  link && links[at] !== link && show(links.indexOf(link), { move: !1 });
});
var walk = document.querySelector("[data-evidence-walk]");
walk && links.length && (walk.hidden = !1, walk.querySelector("[data-key=j]").addEventListener("click", () => show(at + 1)), walk.querySelector("[data-key=k]").addEventListener("click", () => show(at < 0 ? -1 : at - 1)));
var ticks = new Map([...document.querySelectorAll(".ruler a")].map((tick) => [tick.hash.slice(1), tick])), seen = /* @__PURE__ */ new Set(), watch = new IntersectionObserver(
  (entries) => {
    for (let entry of entries) entry.isIntersecting ? seen.add(entry.target.id) : seen.delete(entry.target.id);
    let first = [...ticks.keys()].find((id) => seen.has(id));
    for (let [id, tick] of ticks) tick.toggleAttribute("aria-current", id === first);
  },
  { rootMargin: "-80px 0px -40% 0px" }
);
for (let turn of document.querySelectorAll("[data-turn]")) watch.observe(turn);
var wanted = location.hash.match(/^#e(\d+)$/), linked = wanted ? links.findIndex((link) => link.dataset.evidenceLink === wanted[1]) : -1;
linked >= 0 && show(linked);
