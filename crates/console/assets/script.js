// What the console does beyond plain pages: parts that keep themselves up to date, times that stay true, lists that
// filter while one types. Without it everything works, after a reload.
"use strict";

(() => {
  const once = (element, mark) => {
    if (element.dataset[mark]) return false;
    element.dataset[mark] = "yes";
    return true;
  };

  // Parts of a page that shows UTC show it too.
  const inUtc = (address) => {
    if (new URLSearchParams(location.search).get("utc") !== "1" || !address) return address;
    return `${address}${address.includes("?") ? "&" : "?"}utc=1`;
  };

  // <div data-live="/jobs/live" data-every="2"> is replaced by what that address gives, every 2 s while it is seen. An
  // empty address is that of the page.
  // An answer with the header X-Garner-Over ends it: nothing will change any more.
  class Live {
    constructor(element) {
      this.element = element;
      this.every = Math.max(1, Number(element.dataset.every) || 5) * 1000;
      this.failures = 0;
      this.last = null;
      this.announced = element.querySelector("[data-announce]")?.dataset.announce;
      this.plan(this.every);
    }

    plan(wait) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.refresh(), wait);
    }

    async refresh() {
      if (!this.element.isConnected) return;
      if (document.hidden) { this.waiting = true; return; }
      try {
        const response = await fetch(inUtc(this.element.dataset.live) || location.pathname + location.search, { headers: { "X-Garner-Live": "1" }, redirect: "manual" });
        if (response.type === "opaqueredirect" || response.status === 401) { this.say("You are logged out. Reload the page to log in."); return; }
        if (!response.ok) throw new Error(response.status);
        this.show(await response.text());
        this.failures = 0;
        this.say("");
        if (response.headers.has("X-Garner-Over")) {
          if (this.element.dataset.reload !== undefined) location.reload();
          if (this.element.dataset.whole !== undefined) await this.whole();
          return;
        }
        this.plan(this.every);
      } catch {
        this.failures += 1;
        if (this.failures > 1) this.say("The console does not answer; what is shown may be old.");
        this.plan(Math.min(this.every * 2 ** this.failures, 30000));
      }
    }

    // Swaps what has changed, and leaves focus, open details and scroll positions where they are.
    show(html) {
      // Times alone go on by themselves.
      const bare = html.replace(/(<time [^>]*>)[^<]*/g, "$1");
      if (bare === this.last) return;
      this.last = bare;
      const held = this.element.contains(document.activeElement) ? document.activeElement : null;
      const open = [...this.element.querySelectorAll("details[open][id]")].map((one) => one.id);
      const scrolled = [...this.element.querySelectorAll("[data-tail], .scroll")].map((one) => {
        const end = one.scrollHeight - one.scrollTop - one.clientHeight < 8;
        return [one.scrollLeft, one.scrollTop, end && "tail" in one.dataset];
      });
      const fresh = document.createElement("template");
      fresh.innerHTML = html;
      const state = () => this.element.querySelector(".state .badge")?.dataset.state;
      const before = state();
      this.element.replaceChildren(fresh.content);
      // What was said when the page was opened is not true any more.
      if (before && before !== state()) document.querySelector(".flash")?.remove();
      this.announce();
      open.forEach((id) => document.getElementById(id)?.setAttribute("open", ""));
      this.element.querySelectorAll("[data-tail], .scroll").forEach((one, index) => {
        if (!scrolled[index]) return;
        const [left, top, end] = scrolled[index];
        one.scrollLeft = left;
        one.scrollTop = end ? one.scrollHeight : top;
      });
      if (held) {
        const box = held.matches("input[name][value]") ? `input[name="${CSS.escape(held.name)}"][value="${CSS.escape(held.value)}"]` : null;
        const again = box ? this.element.querySelector(box) : held.id ? document.getElementById(held.id)
          : held.getAttribute("href") ? this.element.querySelector(`[href="${CSS.escape(held.getAttribute("href"))}"]`) : null;
        again?.focus({ preventScroll: true });
      }
      begin(this.element);
    }

    // Brings the rest of the page up to date too, once nothing changes any more.
    async whole() {
      const response = await fetch(location.href, { redirect: "error" });
      if (!response.ok) return;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const [fresh, stale] = [page.getElementById("main"), document.getElementById("main")];
      if (!fresh || !stale) return;
      const held = stale.contains(document.activeElement) ? document.activeElement.id : "";
      stale.replaceChildren(...fresh.childNodes);
      document.title = page.title;
      begin(stale);
      lists.lead();
      if (held) document.getElementById(held)?.focus({ preventScroll: true });
    }

    // Tells those who hear the page what has changed, in a line that stays where it is.
    announce() {
      const words = this.element.querySelector("[data-announce]")?.dataset.announce;
      if (!words || words === this.announced) return;
      if (!this.status) {
        this.status = document.createElement("p");
        this.status.className = "hidden";
        this.status.setAttribute("role", "status");
        this.element.before(this.status);
      }
      this.announced = this.status.textContent = words;
    }

    say(message) {
      if (!this.note) {
        if (!message) return;
        this.note = document.createElement("p");
        this.note.className = "stale";
        this.note.setAttribute("role", "status");
        this.element.before(this.note);
      }
      if (this.note.textContent !== message) this.note.textContent = message;
    }
  }

  const lives = [];
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) lives.filter((live) => live.waiting).forEach((live) => { live.waiting = false; live.refresh(); });
  });

  // The same words as in filters.rs.
  const relative = (seconds) => {
    const near = Math.abs(seconds);
    if (near < 10) return "now";
    const [amount, unit] = near < 90 ? [near, "s"] : near < 5400 ? [near / 60, "min"] : near < 129600 ? [near / 3600, "h"] : [near / 86400, "d"];
    const words = `${Math.round(amount)}\u00a0${unit}`;
    return seconds < 0 ? `${words} ago` : `in ${words}`;
  };
  const tell = (root) => root.querySelectorAll("time[data-ago]").forEach((time) => {
    const words = relative(Math.round((Date.parse(time.dateTime) - Date.now()) / 1000));
    if (time.textContent !== words) time.textContent = words;
  });
  setInterval(() => tell(document), 5000);

  // <form data-filter> is sent while one types; the part with the id that it names is swapped, and the address kept.
  const filter = (form) => {
    let timer, latest = 0;
    const send = async () => {
      const number = ++latest;
      const target = document.getElementById(form.dataset.filter);
      const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
      const address = `${form.action.split("?")[0]}?${query}`;
      try {
        const response = await fetch(address, { redirect: "error" });
        if (!response.ok) return;
        const page = new DOMParser().parseFromString(await response.text(), "text/html");
        const fresh = page.getElementById(form.dataset.filter);
        if (number !== latest || !fresh || !target) return;
        target.replaceChildren(...fresh.childNodes);
        history.replaceState(null, "", address);
        lists.note();
        begin(target);
      } catch { /* The button still works. */ }
    };
    form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(send, 250); });
  };

  // <form data-preview="/schedules/preview" data-target="runs"> shows what that address makes of the form while one types.
  // Of the other fields for how often only those are shown that the choice needs.
  const preview = (form) => {
    let timer, latest = 0;
    const send = async () => {
      const number = ++latest;
      const [path, query] = form.dataset.preview.split("?");
      const fields = new URLSearchParams(query);
      new FormData(form).forEach((value, name) => { if (typeof value === "string" && value !== "") fields.set(name, value); });
      try {
        const response = await fetch(`${path}?${fields}`, { redirect: "error" });
        if (!response.ok || number !== latest) return;
        const fresh = document.createElement("template");
        fresh.innerHTML = await response.text();
        if (number !== latest) return;
        document.getElementById(form.dataset.target)?.replaceChildren(fresh.content);
      } catch { /* The button still works. */ }
    };
    const fit = () => form.querySelectorAll("[data-for]").forEach((part) => {
      part.hidden = part.dataset.for !== form.elements.frequency?.value;
    });
    form.addEventListener("input", () => { fit(); clearTimeout(timer); timer = setTimeout(send, 300); });
    fit();
  };

  // <form data-choices="/schedules/new">: once a repository is chosen, its formats and sets are offered.
  const choices = (form) => form.elements.repository?.addEventListener("change", async (event) => {
    const chosen = event.target.value;
    try {
      const response = await fetch(`${form.dataset.choices}?${new URLSearchParams({ repository: chosen })}`, { redirect: "error" });
      if (!response.ok || event.target.value !== chosen) return;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const [fresh, stale] = [page.getElementById("choices"), document.getElementById("choices")];
      if (fresh && stale) stale.replaceChildren(...fresh.childNodes);
    } catch { /* The server checks them when the form is sent. */ }
  });

  // Light and dark without a reload; the server reads the cookie for the next page.
  const theme = (form) => form.addEventListener("submit", (event) => {
    const chosen = event.submitter?.value;
    if (!chosen) return;
    event.preventDefault();
    const secure = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = `garner-theme=${chosen}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
    if (chosen === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
    form.querySelectorAll("button").forEach((button) => button.setAttribute("aria-pressed", String(button.value === chosen)));
  });

  // A form is sent once, however often its button is pressed.
  const single = (form) => form.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    if (form.dataset.sent) { event.preventDefault(); return; }
    form.dataset.sent = "yes";
    setTimeout(() => delete form.dataset.sent, 5000);
  });

  // A menu closes when one goes elsewhere.
  const menu = (details) => {
    document.addEventListener("click", (event) => { if (!details.contains(event.target)) details.open = false; });
    details.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { details.open = false; details.querySelector("summary").focus(); }
    });
  };

  // "/" goes to the search, "?" to the help. Whoever types into a field types them.
  document.addEventListener("keydown", (event) => {
    const writes = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (writes || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    // Lists have keys of their own, which "?" shows there.
    if (event.key === "?" && !document.querySelector("[data-table]")) document.querySelector(".help-link")?.click();
    if (event.key !== "/") return;
    const search = document.getElementById("everywhere");
    if (!search) return;
    event.preventDefault();
    search.focus();
    search.select();
  });

  // A list is left for a page of one of its rows; the way back leads to the same filters, order and page.
  const lists = {
    note: () => {
      if (!document.querySelector("[data-table]")) return;
      const path = location.pathname;
      // A run is in several lists.
      const roots = path === "/imports" ? ["/imports", "/runs"] : [path.startsWith("/runs/") ? "/runs" : path];
      try { roots.forEach((root) => sessionStorage.setItem(`list:${root}`, path + location.search)); } catch { /* It is a convenience. */ }
    },
    lead: () => document.querySelectorAll(".crumbs a[href]").forEach((link) => {
      const url = new URL(link.href);
      if (url.search || url.origin !== location.origin) return;
      try { link.href = sessionStorage.getItem(`list:${url.pathname}`) || link.href; } catch { /* The list as a whole. */ }
    }),
  };

  // A button that fills in the time zone of this browser, unless that is chosen already.
  const ownZone = (button) => {
    const field = document.getElementById(button.dataset.ownZone);
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if (!field || !zone || field.value === zone) return;
    button.querySelector("span").textContent = zone;
    button.hidden = false;
    button.addEventListener("click", () => { field.value = zone; field.form.requestSubmit(); });
  };

  const begin = (root) => {
    root.querySelectorAll("[data-live]").forEach((one) => { if (once(one, "begun")) lives.push(new Live(one)); });
    root.querySelectorAll("form[data-filter]").forEach((one) => { if (once(one, "begun")) filter(one); });
    root.querySelectorAll("form[data-preview]").forEach((one) => { if (once(one, "begun")) preview(one); });
    root.querySelectorAll("form[data-choices]").forEach((one) => { if (once(one, "chooses")) choices(one); });
    root.querySelectorAll("form.theme").forEach((one) => { if (once(one, "begun")) theme(one); });
    root.querySelectorAll("form[method=post]:not(.theme)").forEach((one) => { if (once(one, "single")) single(one); });
    root.querySelectorAll("details.person").forEach((one) => { if (once(one, "begun")) menu(one); });
    root.querySelectorAll("[data-own-zone]").forEach((one) => { if (once(one, "begun")) ownZone(one); });
    root.querySelectorAll("[data-tail]").forEach((one) => { if (once(one, "begun")) one.scrollTop = one.scrollHeight; });
    tell(root);
  };
  begin(document);
  lists.note();
  lists.lead();
})();
