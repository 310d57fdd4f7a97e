// The console's own script: theme, times, live updates, forms, keyboard, palette, plots.
// Text of others is only ever set as text; markup comes from the server and goes through htmx.
(() => {
  const root = document.documentElement;
  const $ = (selector, from = document) => from.querySelector(selector);
  const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];
  const csrf = () => $('meta[name="csrf"]')?.content ?? "";
  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const icon = (name, kind = "i") => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("class", kind); svg.setAttribute("aria-hidden", "true");
    const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
    use.setAttribute("href", `/static/vendor/icons.svg#${name}`);
    svg.append(use);
    return svg;
  };

  // Advice has its commands in backticks.
  const advice = (text) => text.split("`").map((part, at) => at % 2 ? make("code", {}, part) : part);

  // Times: in the zone of the browser, UTC on hover.
  const two = (number) => String(number).padStart(2, "0");
  const clock = (time) => `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
  // A time of another day has its date, one of another year the year.
  function dayOf(time) {
    const now = new Date();
    if (time.toDateString() === now.toDateString()) return "";
    const day = time.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
    return time.getFullYear() === now.getFullYear() ? `${day}, ${clock(time).slice(0, 5)}` : `${day} ${time.getFullYear()}`;
  }
  function localTimes(from = document) {
    for (const element of $$("time[datetime]", from)) {
      const time = new Date(element.getAttribute("datetime"));
      if (Number.isNaN(time.getTime())) continue;
      const style = element.dataset.style;
      const date = time.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });
      const text = style === "date" ? `${date}, ${clock(time)}`
        : dayOf(time) || (style === "second" ? clock(time) : `${clock(time)}.${String(time.getMilliseconds()).padStart(3, "0")}`);
      if (element.textContent !== text) element.textContent = text;
    }
  }

  // The theme: light, dark, or as the system has it, also when that changes.
  const darkSystem = matchMedia("(prefers-color-scheme: dark)");
  const themeKept = () => { try { return localStorage.getItem("theme") ?? "system"; } catch { return "system"; } };
  function setTheme(theme) {
    try { if (theme === "system") localStorage.removeItem("theme"); else localStorage.setItem("theme", theme); } catch { /* a browser without storage */ }
    showTheme(theme);
  }
  function showTheme(theme) {
    root.dataset.theme = theme === "system" ? (darkSystem.matches ? "dark" : "light") : theme;
    tellTheme(theme);
    drawAll();
  }
  const tellTheme = (theme) => $$("[data-theme-set]").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.themeSet === theme)));
  darkSystem.addEventListener("change", () => { if (themeKept() === "system") showTheme("system"); });

  // Toasts.
  function toast(text, { bad = false, detail = "", action = null, link = "" } = {}) {
    const body = make("p", {}, make("b", {}, text));
    if (detail) body.append(make("br"), ...advice(detail));
    if (link) body.append(" ", make("a", { class: "link", href: link }, "Job"));
    const box = make("div", { class: bad ? "toast bad" : "toast" }, icon(bad ? "circle-alert" : "circle-check"), body);
    if (action) {
      const button = make("button", { class: "btn sm", type: "button" }, action.title);
      button.addEventListener("click", () => { box.remove(); action.run(); });
      box.append(button);
    }
    const close = make("button", { class: "btn ghost sq sm", type: "button", "aria-label": "Close" }, icon("x"));
    close.addEventListener("click", () => box.remove());
    box.append(close);
    $("#toasts")?.append(box);
    if (!bad) setTimeout(() => box.remove(), 8000);
  }

  // Browsers have a clipboard only under TLS and on this machine.
  function copyText(text) {
    const failed = () => toast("The browser does not allow to copy", { bad: true });
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => toast("Copied"), failed); else failed();
  }

  // Requests that change something.
  async function call(method, path, body) {
    const answer = await fetch(path, {
      method, credentials: "same-origin",
      headers: { "X-CSRF-Token": csrf(), ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const type = answer.headers.get("Content-Type") ?? "";
    const value = type.includes("json") ? await answer.json() : null;
    if (answer.status === 401) tellLost(401);
    if (!answer.ok) throw Object.assign(new Error(value?.error?.detail ?? `HTTP ${answer.status}`), { error: value?.error });
    return value;
  }
  function valuesOf(form) {
    const values = {};
    for (const field of form.elements) {
      if (!field.name || field.hasAttribute("data-skip") || field.disabled) continue;
      if (field.type === "radio") { if (field.checked) values[field.name] = field.value; continue; }
      if (form.hasAttribute("data-changed") && unchanged(field)) continue;
      if (field.type === "checkbox") { if (field.checked || field.hasAttribute("data-truth")) values[field.name] = field.checked; continue; }
      if (field.hasAttribute("data-list")) { values[field.name] = field.value.split(/[\s,]+/).filter(Boolean); continue; }
      if (field.hasAttribute("data-json")) { if (field.value) values[field.name] = JSON.parse(field.value); continue; }
      if (field.hasAttribute("data-unchanged-null") && field.value === field.defaultValue) continue;
      if (field.value === "" && field.dataset.empty) { values[field.name] = Number(field.dataset.empty); continue; }
      if (field.value === "" && !(form.hasAttribute("data-changed") && field.type === "text")) continue;
      if (field.type === "number") { values[field.name] = Number(field.value); continue; }
      const prefix = field.dataset.prefix ?? "";
      values[field.name] = prefix && !field.value.includes("\\") ? prefix + field.value : field.value;
    }
    if (form.hasAttribute("data-selection")) Object.assign(values, chosenMessages());
    if ($("[data-for-good]:checked", form)) { values.kind = "remove"; delete values.target; }
    return values;
  }
  const unchanged = (field) => field.type === "checkbox" ? field.checked === field.defaultChecked
    : field.tagName === "SELECT" ? [...field.options].every((option) => option.selected === option.defaultSelected)
      : field.value === field.defaultValue;
  async function submit(form) {
    const [method, path] = form.dataset.api.split(" ");
    const buttons = $$("button", form);
    buttons.forEach((button) => { button.disabled = true; });
    $(".refusal", form)?.remove();
    try {
      const values = valuesOf(form);
      const result = await call(method, path, method === "DELETE" && !Object.keys(values).length ? undefined : values);
      if (!form.hasAttribute("data-keep")) form.closest("dialog")?.close();
      const done = form.dataset.done ?? "Done";
      const words = form.hasAttribute("data-count") && result?.count !== undefined ? counted(result.count, done)
        : form.hasAttribute("data-job") ? jobWords(result, done) : done;
      if (form.dataset.show && result) { show(form, result); return; }
      remember(words, form.hasAttribute("data-job") ? result : null);
      const then = form.dataset.then;
      if (then === "job" && result?.id) location.assign(`/jobs/${encodeURIComponent(result.id)}`);
      else if (then) location.assign(then); else location.reload();
    } catch (problem) {
      refuse(form, problem);
    } finally {
      buttons.forEach((button) => { button.disabled = false; });
    }
  }
  // A refusal is told in the dialog that asked: toasts are behind it.
  function refuse(form, problem) {
    const known = problem.error;
    const detail = known ? [known.remedy, known.code ? `${known.name} ${known.code}` : ""].filter(Boolean).join(" ") : "";
    if (!form.closest("dialog")) { toast(problem.message, { bad: true, detail }); return; }
    const words = make("p", {}, make("b", {}, problem.message));
    if (detail) words.append(make("br"), ...advice(detail));
    form.insertBefore(make("div", { class: "notice bad refusal", role: "alert" }, icon("circle-alert"), words), form.lastElementChild);
  }
  function show(form, { token }) {
    const target = $(form.dataset.show);
    target.hidden = false;
    $("[data-value]", target).textContent = token;
    $("[data-copy]", target).dataset.copy = token;
    target.focus();
  }
  const number = (value) => value.toLocaleString("en-US");
  const counted = (count, words) => `${number(count)} ${count === 1 ? words.replace("messages", "message") : words}`;
  // A short job is told as done, a long one as begun.
  function jobWords(job, done) {
    if (job.state === "running") return `The job runs: ${counted(job.messages, "messages")}`;
    return job.refused ? `${counted(job.done, done)}, ${number(job.refused)} refused` : counted(job.done, done);
  }
  // What was done is told on the page that follows.
  const remember = (words, job = null) => {
    try { sessionStorage.setItem("toast", JSON.stringify({ words, job: job?.id ?? "", undo: ["move", "copy"].includes(job?.kind) && job.done > 0, reasons: Object.keys(job?.reasons ?? {}) })); } catch { /* not told then */ }
  };
  function recall() {
    let told = null;
    try {
      told = JSON.parse(sessionStorage.getItem("toast"));
      sessionStorage.removeItem("toast");
    } catch { /* as above */ }
    if (!told) return;
    const undo = { title: "Undo", run: () => call("POST", `/api/v1/jobs/${encodeURIComponent(told.job)}/undo`).then((back) => { remember(`${back.undone === 1 ? "1 message is" : `${number(back.undone)} messages are`} back${back.gone ? `, ${number(back.gone)} were gone` : ""}`); location.reload(); }, (problem) => toast(problem.message, { bad: true })) };
    toast(told.words, { bad: told.reasons.length > 0, detail: told.reasons[0] ?? "", action: told.undo ? undo : null, link: told.job ? `/jobs/${encodeURIComponent(told.job)}` : "" });
  }

  // A dialog that removes everything names the number that there is now, not when the page was made.
  async function openDialog(dialog) {
    if (!dialog) return;
    dialog.showModal();
    if (!dialog.dataset.fresh) return;
    const answer = await fetch(dialog.dataset.fresh, { credentials: "same-origin" }).catch(() => null);
    if (!answer?.ok) return;
    const { messages } = await answer.json();
    $$("[data-now]", dialog).forEach((element) => { element.textContent = number(messages); });
    $$("[data-now-words]", dialog).forEach((element) => { element.textContent = messages === 1 ? "message" : "messages"; });
    const typed = $("[data-typed]", dialog);
    typed.hidden = messages <= 100;
    const input = $("input", typed);
    input.required = !typed.hidden;
    input.pattern = number(messages).replaceAll(",", ",?");
  }

  // A file of messages: it is checked first, and sent with the second press.
  async function upload(form) {
    const button = $("[data-go]", form);
    const told = $("[data-checked]", form);
    const file = $("input[type=file]", form).files[0];
    const post = async (query) => {
      const answer = await fetch(`${form.dataset.upload}${query}`, { method: "POST", credentials: "same-origin", headers: { "X-CSRF-Token": csrf(), "Content-Type": "application/octet-stream" }, body: file });
      const value = await answer.json();
      if (!answer.ok) throw Object.assign(new Error(value.error.detail), { error: value.error });
      return value;
    };
    button.disabled = true;
    try {
      if (form.dataset.ready) {
        const job = await post("");
        remember(jobWords(job, "messages sent"), job);
        location.reload();
        return;
      }
      const plan = await post("&dry_run=true");
      const reasons = Object.entries(plan.reasons).map(([reason, count]) => `${number(count)}: ${reason}`);
      told.textContent = `${counted(plan.messages, "messages")} in the file, ${number(plan.done)} would be accepted${plan.refused ? `, ${number(plan.refused)} refused. ${reasons.join(" ")}` : "."}`;
      if (plan.done) { form.dataset.ready = "yes"; button.textContent = `Send ${number(plan.done)}`; }
    } catch (problem) {
      told.textContent = `${problem.message} ${problem.error?.remedy ?? ""}`;
    } finally {
      button.disabled = false;
    }
  }

  // Definitions: what a file would change is shown first, what is lost before all else.
  const actions = { delete: ["delete", "bad"], recreate: ["replace", "warn"], change: ["change", "info"], create: ["create", "ok"], missing: ["missing here", "warn"], unlisted: ["stays", ""] };
  const actionOrder = Object.keys(actions);
  const mostShown = 500;
  const made = (changes) => changes.filter(({ action }) => action !== "unlisted" && action !== "missing");
  const changeCount = (changes) => changes.length === 1 ? "1 change" : `${number(changes.length)} changes`;
  let plan = null;
  const planWords = (words) => { $("[data-plan-words]").textContent = words; };
  function planRow({ action, kind, name, property, before, after }) {
    const [word, tone] = actions[action];
    const what = action === "delete" && property ? `with ${before} ${before === "1" ? "message" : "messages"}` : property ? `${property}: ${before || "nothing"} → ${after || "nothing"}` : action === "unlisted" ? "not in the file" : "";
    return make("tr", {}, make("td", {}, make("span", { class: `tag ${tone}` }, word)), make("td", { class: "dim" }, kind === "machine" ? "queue manager" : kind), make("td", { class: "mono break" }, visible(name)), make("td", { class: "break" }, visible(what)));
  }
  function showPlan(changes) {
    const parts = actionOrder.map((action) => [action, changes.filter((change) => change.action === action)]).filter(([, some]) => some.length);
    const sorted = parts.flatMap(([, some]) => some);
    const said = { unlisted: "not in the file", missing: "missing here" };
    planWords(made(changes).length ? parts.map(([action, some]) => `${number(some.length)} ${said[action] ?? `to ${actions[action][0]}`}`).join(", ") : "Nothing: all of it is so already");
    const heads = ["What", "Kind", "Name", "Details"].map((title) => make("th", {}, title));
    const table = make("table", { class: "t slim" }, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...sorted.slice(0, mostShown).map(planRow)));
    const more = sorted.length > mostShown ? [make("p", { class: "dim panel-body pad" }, ...advice(`${number(sorted.length - mostShown)} more are not shown; \`openmsmq diff\` lists all.`))] : [];
    $("[data-plan-rows]").replaceChildren(...(sorted.length ? [table, ...more] : []));
    const button = $("[data-apply-plan]");
    button.hidden = !made(changes).length;
    button.textContent = `Apply ${changeCount(made(changes))}…`;
  }
  function refusePlan(problem) {
    const known = problem.error ?? {};
    const words = make("div", {}, make("b", {}, visible(problem.message)), ...(known.code ? [" ", make("span", { class: "faint mono" }, `${known.name} ${known.code}`)] : []));
    for (const text of [known.cause, known.remedy]) if (text) words.append(make("p", {}, ...advice(text)));
    planWords("Refused");
    $("[data-apply-plan]").hidden = true;
    $("[data-plan-rows]").replaceChildren(make("div", { class: "panel-body" }, make("div", { class: "notice bad", role: "alert" }, icon("circle-alert"), words)));
  }
  async function askForPlan(form) {
    const box = $("#plan");
    const button = $("[data-show-plan]", form);
    const wait = setTimeout(() => planWords("Checking…"), 150);
    button.disabled = true;
    box.hidden = false;
    plan = null;
    try {
      const values = valuesOf(form);
      const { changes } = await call("POST", "/api/v1/definitions/diff", values);
      plan = { values, changes };
      showPlan(changes);
    } catch (problem) { refusePlan(problem); } finally { clearTimeout(wait); button.disabled = false; }
    box.focus();
    box.scrollIntoView({ block: "nearest" });
  }
  // The file or an option is another one: what is shown is not what would be done.
  function dropPlan() {
    if (!plan) return;
    plan = null;
    $("[data-apply-plan]").hidden = true;
    planWords("The file or an option has changed since: show it again");
  }
  // Messages come and go; how many are lost, the dialog tells.
  const sameAs = (changes) => JSON.stringify(changes.map((change) => change.action === "delete" ? { ...change, property: "", before: "" } : change));
  // It is made anew before it is confirmed: what was shown may be old.
  async function confirmPlan() {
    const { values, changes: shown } = plan;
    try {
      const { changes } = await call("POST", "/api/v1/definitions/diff", values);
      plan = { values, changes };
      showPlan(changes);
      if (sameAs(changes) !== sameAs(shown)) { planWords("It is different now; look at it again"); return; }
    } catch (problem) { plan = null; refusePlan(problem); return; }
    const dialog = $("#apply");
    const changes = made(plan.changes);
    const lost = changes.filter(({ action }) => action === "delete");
    const messages = lost.reduce((sum, { property, before }) => sum + (property ? Number(before.replaceAll(",", "")) : 0), 0);
    const stays = plan.changes.filter(({ action }) => action === "unlisted").length;
    $("[data-number]", dialog).textContent = changeCount(changes);
    $("[data-kept]", dialog).textContent = stays ? `What the file does not list stays: ${number(stays)}.` : "";
    $("[data-losses]", dialog).hidden = !lost.length;
    $("[data-losses-words]", dialog).textContent = `${number(lost.length)} to delete${messages ? `, with ${counted(messages, "messages")}` : ""}`;
    // Those that hold messages come first.
    const names = [...lost.filter(({ property }) => property), ...lost.filter(({ property }) => !property)].slice(0, 12).map(({ kind, name, property, before }) => make("li", {}, visible(`${kind} ${name}${property ? `, ${before} ${before === "1" ? "message" : "messages"}` : ""}`)));
    if (lost.length > names.length) names.push(make("li", {}, `and ${number(lost.length - names.length)} more`));
    $("[data-losses-list]", dialog).replaceChildren(...names);
    $("[data-losses-after]", dialog).textContent = messages ? "The messages cannot be brought back." : "";
    const typed = $("[data-typed]", dialog);
    const asked = messages > 100 ? messages : lost.length;
    typed.hidden = asked <= 100;
    $("[data-asked]", dialog).textContent = number(asked);
    $("[data-asked-words]", dialog).textContent = messages > 100 ? "messages that are lost" : "things that are deleted";
    const input = $("input", typed);
    input.value = ""; input.required = !typed.hidden; input.pattern = number(asked).replaceAll(",", ",?");
    const go = $("[data-go]", dialog);
    go.classList.toggle("danger", lost.length > 0); go.classList.toggle("primary", !lost.length);
    $(".refusal", dialog)?.remove();
    dialog.showModal();
  }
  async function applyPlan(form) {
    const go = $("[data-go]", form);
    go.disabled = true;
    $(".refusal", form)?.remove();
    try {
      const { changes } = await call("POST", "/api/v1/definitions/apply", plan.values);
      remember(`${changeCount(made(changes))} made`);
      location.reload();
    } catch (problem) { refuse(form, problem); } finally { go.disabled = false; }
  }

  // A further condition of a filter, in the address; the chips of the page remove them.
  function addCondition(form) {
    const { property, operator, value } = Object.fromEntries(new FormData(form));
    const address = new URL(location.href);
    const words = address.searchParams.get(form.dataset.condition)?.trim() ?? "";
    const others = /\bor\b/i.test(words) ? `(${words})` : words;
    const text = /^[\w.:+-]+$/.test(value) ? value : `"${value.replaceAll('"', '""')}"`;
    address.searchParams.set(form.dataset.condition, [others, `${property} ${operator} ${text}`].filter(Boolean).join(" and "));
    for (const name of ["after", "message", "open", "retry"]) address.searchParams.delete(name);
    location.assign(address);
  }

  // Rows: selection, and the message beside the list.
  const boxes = () => $$("[data-rows] tbody input.check");
  const selection = () => boxes().filter((box) => box.checked).map((box) => box.value);
  // All messages of the queue or all that match its filter, also those that are not shown.
  const whole = () => Number($('[data-whole][aria-pressed="true"]')?.dataset.whole ?? 0);
  // What a job takes: the messages that are marked, or all that match.
  function chosenMessages() {
    if (!whole()) return { lookup_ids: selection() };
    const where = $("[data-whole]").dataset.where;
    return where ? { where: JSON.parse(where) } : {};
  }
  const sources = () => JSON.parse($("#selbar").dataset.sources);
  const refusedToast = (problem) => toast(problem.message, { bad: true, detail: problem.error?.remedy ?? "" });
  // How many match a filter says the dry run of a job.
  async function selectWhole(button) {
    if (button.dataset.where) {
      button.disabled = true;
      try {
        const plan = await call("POST", "/api/v1/jobs", { kind: "save", sources: sources(), where: JSON.parse(button.dataset.where), dry_run: true });
        button.dataset.whole = plan.messages;
      } catch (problem) { refusedToast(problem); return; } finally { button.disabled = false; }
    }
    boxes().forEach((box) => { box.checked = true; });
    button.setAttribute("aria-pressed", "true");
    tellSelection();
  }
  // Marked messages are saved at once, all that match by a job.
  function exportChosen(path) {
    if (!whole()) { location.assign(`${path}?${selection().map((id) => `lookup_id=${id}`).join("&")}`); return; }
    call("POST", "/api/v1/jobs", { kind: "save", sources: sources(), ...chosenMessages() })
      .then((job) => location.assign(`/jobs/${encodeURIComponent(job.id)}`), refusedToast);
  }
  function tellSelection() {
    if (boxes().some((box) => !box.checked)) $("[data-whole]")?.removeAttribute("aria-pressed");
    const chosen = { length: whole() || selection().length };
    $$("[data-selected]").forEach((element) => { element.textContent = number(chosen.length); });
    $$("[data-stay]").forEach((element) => { const left = Math.max(0, Number(element.dataset.stay) - chosen.length); element.textContent = left === 1 ? "1 message stays in the queue." : `${number(left)} messages stay in the queue.`; });
    $$("[data-plural]").forEach((element) => { element.textContent = chosen.length === 1 ? "message" : "messages"; });
    const bar = $("#selbar");
    if (bar) bar.hidden = chosen.length === 0;
    for (const form of $$("form[data-confirm-above]")) {
      const confirm = $("[data-confirm]", form);
      const needed = chosen.length > Number(form.dataset.confirmAbove);
      confirm.hidden = !needed;
      const input = $("input", confirm);
      input.required = needed;
      input.pattern = number(chosen.length).replaceAll(",", ",?");
      input.title = number(chosen.length);
    }
  }
  // One request at a time; of those asked for meanwhile the last one counts.
  let paneWanted = null;
  let paneBusy = false;
  let paneWait;
  async function loadPane(pane) {
    if (paneBusy) return;
    paneBusy = true;
    try {
      while (paneWanted) {
        const href = paneWanted;
        paneWanted = null;
        await htmx.ajax("GET", href, { source: pane, target: pane, select: "#right > *", swap: "innerHTML" });
      }
    } catch { /* told below */ } finally { paneBusy = false; }
    clearTimeout(paneWait);
    if (!pane.firstElementChild || $(".skel-pane", pane)) tellPane(pane);
    pane.toggleAttribute("data-shown", new URLSearchParams(location.search).has("message"));
    localTimes(pane);
  }
  // Nobody answered with a message: the pane says so, and asks again when the page goes on.
  function tellPane(pane) {
    const again = make("button", { class: "btn", type: "button", "data-pane-again": "" }, icon("rotate-ccw"), "Try again");
    pane.replaceChildren(make("div", { class: "empty", role: "alert" }, icon("unplug"), make("b", {}, "The message cannot be shown now"), make("p", {}, "The queue manager or the console does not answer."), again));
  }
  const askForPane = () => { if ($("#right [data-pane-again]")) openInPane(location.href, { push: false }); };
  async function openInPane(href, { push = true, row = null } = {}) {
    const pane = $("#right");
    if (!pane) { location.assign(href); return; }
    const shown = pane.firstElementChild;
    clearTimeout(paneWait);
    paneWait = setTimeout(() => {
      // The answer can be there before htmx has ended the request: it is never covered.
      if (pane.firstElementChild !== shown) return;
      const skeleton = make("div", { class: "skel-pane", "aria-busy": "true" });
      for (let at = 0; at < 7; at += 1) skeleton.append(make("div", { class: "skel" }));
      pane.replaceChildren(skeleton);
    }, 150);
    if (row) {
      $$('[data-rows] tr[aria-selected="true"]').forEach((other) => other.removeAttribute("aria-selected"));
      row.setAttribute("aria-selected", "true");
    }
    if (push) history.pushState({ pane: true }, "", href);
    paneWanted = href;
    await loadPane(pane);
  }
  addEventListener("popstate", () => {
    if (!$("#right") || !location.pathname.startsWith("/queues/")) { location.reload(); return; }
    const wanted = new URLSearchParams(location.search).get("message");
    const row = wanted ? document.getElementById(`m-${wanted}`) : null;
    openInPane(location.href, { push: false, row });
    if (!wanted) $("#right").removeAttribute("data-shown");
  });

  // New messages never move rows: a line says how many came, and shows them when it is pressed.
  function tellNewer() {
    const rows = $("#rows");
    const button = $("[data-newer]");
    const now = $("[data-arrived-now]");
    if (!rows || !button || !now) return;
    const came = Number(now.dataset.arrivedNow) - Number($("[data-listed]", rows)?.dataset.listed ?? now.dataset.arrivedNow);
    button.hidden = !(came > 0);
    if (came > 0) button.textContent = `${number(came)} new, show`;
  }
  async function showNewer() {
    const rows = $("#rows");
    if (!rows) return;
    const chosen = new Set(selection());
    const focused = document.activeElement?.closest("tr[id]")?.id;
    await htmx.ajax("GET", location.href, { source: rows, target: rows, select: "#rows > *", swap: "innerHTML" });
    boxes().forEach((box) => { box.checked = chosen.has(box.value); });
    const row = focused ? document.getElementById(focused) : null;
    if (row) $("a[href]", row)?.focus();
    localTimes(rows); tellSelection(); tellNewer();
  }

  // Live updates: parts of the page come as HTML and are morphed into place.
  let live = true;
  const missed = new Map();
  let missedCounts = {};
  // In a long first pane the queue that is open is shown once; then people scroll as they like.
  let currentShown = false;
  function showCurrent() {
    const current = currentShown ? null : $("#side-queues [aria-current]");
    if (current) { current.scrollIntoView({ block: "nearest" }); currentShown = true; }
  }
  // The latest comes last: a list after the rows that it has anew.
  function hold(id, html) { missed.delete(id); missed.set(id, html); }
  async function patch(parts) {
    for (const [id, html] of parts) {
      const target = document.getElementById(id);
      if (!target) { if (missed.size) hold(id, html); continue; }
      // Nothing moves under the pointer: a list that is pointed at waits, and its rows with it.
      const list = target.closest("[data-still]:hover");
      if (list && (target === list || missed.has(list.id))) { hold(id, html); continue; }
      missed.delete(id);
      await htmx.swap({ sourceElement: target, target, text: html, swap: "innerMorph" });
      localTimes(target);
    }
    showCurrent();
    tellNewer();
    if (!$("#stale .notice")) askForPane();
  }
  // What came while the page was paused or pointed at; the server sends a part only once.
  function catchUp() {
    if (live && missed.size) patch([...missed]);
  }
  function counts(values) {
    for (const [key, [text, tone]] of Object.entries(values)) {
      for (const element of $$(`[data-count="${key}"]`)) {
        if (element.textContent !== text) element.textContent = text;
        element.classList.toggle("bad", tone === "bad" && text !== "");
        element.classList.toggle("warn", tone === "warn" && text !== "");
      }
    }
  }
  function setLive(on) {
    live = on;
    const button = $("[data-live-toggle]");
    if (!button) return;
    button.setAttribute("aria-pressed", String(on));
    $("[data-live-word]", button).textContent = on ? "Live" : "Paused";
    $("use", button).setAttribute("href", `/static/vendor/icons.svg#${on ? "pause" : "play"}`);
    button.title = on ? "Pause live updates (P)" : "Resume live updates (P)";
    if (!on) return;
    drawAll(); counts(missedCounts); catchUp();
  }
  document.addEventListener("mouseout", catchUp);
  document.addEventListener("patch", (event) => {
    const { parts, nav } = JSON.parse(event.detail.data);
    if (!live) {
      (parts ?? []).forEach(([id, html]) => hold(id, html));
      missedCounts = nav ?? missedCounts;
      return;
    }
    counts(nav ?? {});
    patch(parts ?? []);
  });

  // A page that is not live any more says so: the console is away, or the session has ended.
  let heard = Date.now();
  let ended = false;
  function tellLost(status) {
    const button = $("[data-live-toggle]");
    if (!button || ended) return;
    ended = status === 401;
    button.setAttribute("data-lost", "");
    $("[data-live-word]", button).textContent = "Not live";
    const title = ended ? "Your session has ended" : status ? "Live updates are refused" : "The console does not answer";
    const words = `What is shown is from ${clock(new Date(heard))}. ${ended ? "Sign in again to go on." : "The page goes on by itself when it can."}`;
    const notice = make("div", { class: "notice warn", role: "status" }, icon("unplug"), make("div", { class: "grow" }, make("b", {}, title), make("p", {}, words)));
    if (ended) notice.append(make("a", { class: "btn sm", href: location.href }, "Sign in"));
    $("#stale").replaceChildren(notice);
  }
  document.addEventListener("htmx:sse:error", ({ detail }) => tellLost(detail.status));
  // The first request for updates is an ordinary one, which htmx does not make again.
  function askAgain({ target, detail }) {
    if (target.id !== "feed") return;
    tellLost(detail.ctx?.response?.status);
    setTimeout(() => { if (target.isConnected) htmx.ajax("GET", target.getAttribute("hx-sse:connect"), { source: target }); }, 2000);
  }
  document.addEventListener("htmx:response:error", askAgain);
  document.addEventListener("htmx:error", askAgain);
  document.addEventListener("htmx:sse:after:connection", () => {
    // Another session has another CSRF token.
    if (ended) { location.reload(); return; }
    const button = $("[data-live-toggle]");
    if (!button?.hasAttribute("data-lost")) return;
    button.removeAttribute("data-lost");
    $("#stale").replaceChildren();
    setLive(live);
  });
  document.addEventListener("patch", () => { heard = Date.now(); });

  // Plots: columns of numbers from the server, drawn by uPlot.
  const tenth = (value) => Math.round(value * 10) / 10;
  const compact = (value) => value >= 1e6 ? `${tenth(value / 1e6)} M` : value >= 1e3 ? `${tenth(value / 1e3)} k` : `${value}`;
  const formats = { count: compact, ms: (value) => `${value} ms`, seconds: (value) => `${value} s` };
  async function draw(element) {
    let columns;
    let range;
    try {
      const answer = await fetch(element.dataset.plot, { credentials: "same-origin" });
      if (!answer.ok) return;
      ({ columns, range } = await answer.json());
    } catch { return; }
    if (!element.clientWidth) return;
    element.replaceChildren();
    if (columns[0].length < 2) { element.append(make("p", { class: "faint plot-none" }, "No figures yet")); return; }
    const axis = { stroke: css("--text-3"), font: `11px ${css("--sans")}`, ticks: { show: false }, grid: { stroke: css("--line-soft"), width: 1 } };
    const format = formats[element.dataset.format] ?? compact;
    new uPlot({
      width: element.clientWidth - 12, height: element.clientHeight - 8, padding: [8, 26, 0, 0],
      legend: { show: false }, cursor: { y: false, points: { size: 6 }, sync: { key: "page" } },
      scales: { x: { range: () => range }, y: { range: (_, low, high) => [0, Math.max(high, element.dataset.format === "ms" ? 0.1 : 1) * 1.12] } },
      axes: [{ ...axis, size: 24, grid: { show: false }, space: 90, values: (_, at) => at.map((t) => clock(new Date(t * 1000)).slice(0, range[1] - range[0] > 300 ? 5 : 8)) },
        { ...axis, size: 46, space: 34, values: (_, at) => at.map((value) => format(Math.round(value * 1000) / 1000)) }],
      series: [{}, ...columns.slice(1).map((_, at) => ({ stroke: css(`--plot-${at + 1}`), width: 1.5, points: { show: false }, fill: at === 0 ? `color-mix(in oklab, ${css("--plot-1")} 10%, transparent)` : undefined }))],
    }, columns, element);
    const keys = $$(".legend > span", element.closest(".panel") ?? element);
    if (keys.length < 3) keys.forEach((key, at) => {
      const last = columns[at + 1]?.at(-1);
      if (last === undefined) return;
      const value = $("b", key) ?? key.appendChild(make("b"));
      value.textContent = format(last >= 100 ? Math.round(last) : Math.round(last * 100) / 100);
    });
  }
  const drawAll = () => { $$("[data-plot]").forEach(draw); };

  // The palette.
  let options = [];
  let chosen = 0;
  function choose(at) {
    chosen = Math.max(0, Math.min(at, options.length - 1));
    options.forEach((option, index) => {
      option.element.setAttribute("aria-selected", String(index === chosen));
      if (index === chosen) { option.element.scrollIntoView({ block: "nearest" }); $("#palette input").setAttribute("aria-activedescendant", option.element.id); }
    });
  }
  let asked = 0;
  async function search(text) {
    const turn = ++asked;
    const answer = await fetch(`/palette?text=${encodeURIComponent(text)}`, { credentials: "same-origin" });
    if (!answer.ok || turn !== asked) return;
    const list = $("#palette-list");
    list.replaceChildren();
    options = [];
    for (const group of (await answer.json()).groups) {
      list.append(make("li", { class: "g", role: "presentation" }, group.title));
      for (const entry of group.entries) {
        const element = make("li", { role: "option", id: `p-${options.length}`, "aria-selected": "false" }, icon(entry.icon), make("span", { class: "grow cut" }, entry.title), make("span", { class: "faint num" }, entry.note));
        element.addEventListener("click", () => location.assign(entry.href));
        list.append(element);
        options.push({ element, href: entry.href });
      }
    }
    choose(0);
  }
  function openPalette() {
    const palette = $("#palette");
    if (!palette || palette.open) return;
    palette.showModal();
    $("input", palette).value = "";
    search("");
  }

  // Keyboard.
  const rows = () => $$("[data-rows] tbody tr");
  function currentRow() {
    return document.activeElement?.closest("[data-rows] tbody tr") ?? $('[data-rows] tr[aria-selected="true"]');
  }
  function step(by) {
    const all = rows();
    if (!all.length) return;
    const at = all.indexOf(currentRow());
    const next = all[Math.max(0, Math.min(all.length - 1, at + by))] ?? all[0];
    $("a[href]", next)?.focus();
    next.scrollIntoView({ block: "nearest" });
  }
  const places = { o: "/", q: "/queues", d: "/dead-letters", s: "/outgoing", f: "/find", j: "/jobs" };
  let going = 0;
  document.addEventListener("keydown", (event) => {
    const palette = $("#palette");
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") { event.preventDefault(); openPalette(); return; }
    if (palette?.open) {
      if (event.key === "ArrowDown") { event.preventDefault(); choose(chosen + 1); }
      if (event.key === "ArrowUp") { event.preventDefault(); choose(chosen - 1); }
      if (event.key === "Enter" && options[chosen]) { event.preventDefault(); location.assign(options[chosen].href); }
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input:not(.check), textarea, select") || $("dialog[open]")) return;
    const key = event.key;
    if (going && performance.now() - going < 1500 && places[key]) { location.assign(places[key]); return; }
    going = key === "g" ? performance.now() : 0;
    if (key === "Delete" || key === "Backspace") event.target.closest("[data-chip]")?.click();
    const turn = $(`[data-key="${CSS.escape(key)}"]`);
    if (turn) { turn.click(); return; }
    if (key === "j" || key === "k") { event.preventDefault(); step(key === "j" ? 1 : -1); }
    if (key === "x") { const box = currentRow() && $("input.check", currentRow()); if (box) { box.checked = !box.checked; tellSelection(); } }
    if (key === "p") setLive(!live);
    if (key === "/") { const filter = $("[data-filter]") ?? $("[data-narrow]"); if (filter) { event.preventDefault(); filter.focus(); } }
    if (key === "n") $("[data-newer]:not([hidden])")?.click();
    if (key === "?") $("#keys")?.showModal();
  });

  document.addEventListener("click", (event) => {
    const at = (selector) => event.target.closest(selector);
    if (at("[data-theme-toggle]")) setTheme(root.dataset.theme === "dark" ? "light" : "dark");
    if (at("[data-theme-set]")) setTheme(at("[data-theme-set]").dataset.themeSet);
    if (at("[data-live-toggle]")) setLive(!live);
    if (at("[data-reload]")) location.reload();
    if (at("[data-newer]")) showNewer();
    if (at("[data-apply-plan]")) confirmPlan();
    if (at("[data-pane-again]")) askForPane();
    const all = at("[data-whole]");
    if (all) selectWhole(all);
    for (const menu of $$("details.menu[open]")) if (!menu.contains(event.target) || at("a, button")) menu.open = false;
    const open = at("[data-open]");
    if (open) { if (open.dataset.open === "palette") openPalette(); else openDialog(document.getElementById(open.dataset.open)); }
    const ask = at("[data-ask]");
    if (ask) { const dialog = document.getElementById(ask.dataset.ask); $("form", dialog).dataset.api = `${ask.dataset.method ?? "POST"} ${ask.dataset.path}`; $("[data-what]", dialog).textContent = ask.dataset.what; dialog.showModal(); }
    if (at("[data-close]")) { at("dialog")?.close(); if (at("[data-reload-on-close]")) location.reload(); }
    const copy = at("[data-copy]");
    if (copy) copyText(copy.dataset.copy);
    if (at("[data-copy-code]")) copyText($$(".l", at("[data-copy-code]").closest(".msg-sec").parentElement).map((line) => line.textContent).join("\n"));
    const download = at("[data-export]");
    if (download) exportChosen(download.dataset.export);
    const paneLink = at("a[data-pane-link]");
    if (paneLink && $("#right")?.contains(paneLink) && !event.metaKey && !event.ctrlKey && event.button === 0) { event.preventDefault(); openInPane(paneLink.href, {}); return; }
    const row = at("[data-pane] tbody tr");
    if (row && !at("input") && !event.metaKey && !event.ctrlKey && event.button === 0) {
      const link = $("a[href]", row);
      if (link) { event.preventDefault(); link.focus(); openInPane(link.href, { row }); }
    }
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-all]")) boxes().forEach((box) => { box.checked = event.target.checked; });
    if (event.target.matches("input.check")) tellSelection();
    const file = event.target.closest("[data-upload] input[type=file]");
    if (file) { delete file.form.dataset.ready; $("[data-go]", file.form).textContent = "Check the file"; $("[data-checked]", file.form).textContent = ""; }
    const defined = event.target.closest("[data-definitions]");
    if (defined) {
      const { text, prune, force } = defined.elements;
      force.disabled = !prune.checked;
      event.target.files?.[0]?.text().then((words) => { text.value = words; });
      dropPlan();
    }
    const jump = event.target.closest("[data-jump]");
    if (jump) jump.form.requestSubmit();
  });
  document.addEventListener("input", (event) => {
    if (event.target.closest("#palette")) search(event.target.value);
    if (event.target.closest("[data-definitions]")) dropPlan();
    const first = event.target.closest("[name=first]");
    const retried = first && $("[data-first-of]", first.form);
    if (retried) { const most = Number(retried.dataset.firstOf); retried.textContent = number(Math.min(Number(first.value) || most, most)); }
    const narrow = event.target.closest("[data-narrow]");
    if (narrow) {
      const text = narrow.value.toLowerCase();
      for (const link of $$("a", $(narrow.dataset.narrow))) link.hidden = !link.textContent.toLowerCase().includes(text);
    }
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.dataset.api) { event.preventDefault(); submit(form); }
    if (form.dataset.condition) { event.preventDefault(); addCondition(form); }
    if (form.dataset.upload) { event.preventDefault(); upload(form); }
    if (form.hasAttribute("data-definitions")) { event.preventDefault(); askForPlan(form); }
    if (form.hasAttribute("data-apply")) { event.preventDefault(); applyPlan(form); }
    if (form.hasAttribute("data-sign-out")) { event.preventDefault(); call("POST", "/sign-out").then(() => location.assign("/sign-in")); }
  });
  let drawWait;
  addEventListener("resize", () => { clearTimeout(drawWait); drawWait = setTimeout(drawAll, 150); });
  setInterval(() => { if (live && !document.hidden) drawAll(); }, 15000);

  // A search that goes on: rows as they are found, how far it is, and a button that stops it.
  async function find(box) {
    const rows = $("tbody", box);
    const bar = $("progress", box);
    const words = $("[data-progress]", box);
    const stop = $("[data-stop]", box);
    const control = new AbortController();
    const needle = (box.dataset.text ?? "").toLowerCase();
    let found = 0;
    let last = { looked_at: 0, total: 0 };
    let ended = false;
    stop.addEventListener("click", () => control.abort());
    const marked = (text) => {
      const at = needle ? text.toLowerCase().indexOf(needle) : -1;
      if (at < 0 || text.toLowerCase().length !== text.length) return [text];
      return [text.slice(0, at), make("mark", {}, text.slice(at, at + needle.length)), text.slice(at + needle.length)];
    };
    const short = (queue) => queue.replace(/^private\$\\/, "");
    function take(part) {
      if (part.problem) { $("[data-problem]", box).hidden = false; $("[data-problem] b", box).textContent = part.problem; }
      $("[data-skeleton]", box)?.remove();
      for (const { queue, kind, message } of part.hits) {
        const href = kind === "outgoing" ? `/outgoing/${encodeURIComponent(queue)}` : `/queues/${encodeURIComponent(queue)}/messages/${message.lookup_id}`;
        const time = make("time", { datetime: message.arrived_time, "data-style": "date", title: `${message.arrived_time} UTC` });
        const label = make("bdi", {}, ...(message.label ? marked(visible(message.label)) : ["no label"]));
        rows.append(make("tr", {}, make("td", { class: "cut" }, make("a", { class: message.label ? "name" : "faint", href }, label)), make("td", { class: "cut mono dim" }, visible(short(queue))), make("td", { class: "num dim" }, sizeText(message.body_size)), make("td", { class: "num dim" }, time)));
      }
      found += part.hits.length;
      last = part;
      if (part.hits.length) { $("table", box).hidden = false; localTimes(rows); }
      bar.max = Math.max(1, part.total); bar.value = part.looked_at;
      const percent = part.total ? Math.floor(100 * part.looked_at / part.total) : 100;
      words.textContent = `Searching, ${percent} %: ${number(part.looked_at)} of ${number(part.total)}, ${number(found)} found`;
      if (part.not_searched?.length) { const note = $("[data-not-searched]", box); note.hidden = false; $("p", note).textContent = `${number(part.not_searched.length)} places were not searched: ${visible(part.not_searched.slice(0, 3).join("; "))}`; }
      ended = part.ended;
    }
    try {
      const answer = await fetch(box.dataset.find, { credentials: "same-origin", signal: control.signal });
      if (!answer.ok) {
        const { error } = await answer.json();
        take({ hits: [], looked_at: 0, total: 0, ended: true, problem: `${error.detail} ${error.remedy}` });
      } else {
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        let rest = "";
        for (;;) {
          const { value, done } = await reader.read();
          if (done) break;
          const lines = (rest + value).split("\n");
          rest = lines.pop();
          lines.forEach((line) => take(JSON.parse(line)));
        }
      }
    } catch (problem) {
      if (problem.name !== "AbortError") { $("[data-problem]", box).hidden = false; $("[data-problem] b", box).textContent = "The connection to the console was lost."; }
    }
    $("[data-skeleton]", box)?.remove();
    bar.hidden = true; stop.hidden = true;
    const looked = `looked at ${number(last.looked_at)} of ${number(last.total)}`;
    const limit = Number(box.dataset.limit);
    words.textContent = ended ? `${number(found)} found, ${looked}${last.seconds ? ` in ${last.seconds.toFixed(2)} s` : ""}${found >= limit ? `; the first ${number(limit)} are shown` : ""}` : `Stopped: ${number(found)} found, ${looked}`;
    if (!found && $("[data-problem]", box).hidden) { const none = $("[data-none]", box); none.hidden = false; $("b", none).textContent = `None of ${number(last.looked_at)} messages matches`; }
    box.setAttribute("data-ended", "");
  }
  // What hides or turns other text is made visible.
  const visible = (text) => text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const sizeText = (bytes) => bytes < 1024 ? `${bytes} B` : bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
  $$("[data-find]").forEach(find);

  // A page that could not be shown: it is shown when the queue manager answers again.
  async function awaitReturn() {
    try {
      const answer = await fetch(location.href, { credentials: "same-origin" });
      if (answer.status !== 503) { location.reload(); return; }
    } catch { /* the console itself is away */ }
    setTimeout(awaitReturn, 2000);
  }
  if ($("[data-await-return]")) setTimeout(awaitReturn, 2000);

  localTimes();
  tellTheme(themeKept());
  showCurrent();
  // In narrow windows the bar of pages and the tabs of a queue scroll.
  $$(".side [aria-current], .tabs [aria-current]").forEach((link) => link.scrollIntoView({ block: "nearest", inline: "center" }));
  tellSelection();
  recall();
  drawAll();
  if (new URLSearchParams(location.search).get("message")) $("#right")?.setAttribute("data-shown", "");
  $("dialog[data-open-now]")?.showModal();
})();
