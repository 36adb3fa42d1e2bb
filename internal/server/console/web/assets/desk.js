// What pages do as others act: counts and titles are kept, what was decided says so where it
// stands, times tick in the reader's zone. And on the desk: keys move, corrections are counted.
// Nothing here decides anything, and every page works without it.
(function () {
  "use strict";
  var d = document, body = d.body, rail = d.querySelector("[data-rail]"), item = d.querySelector("[data-item]");

  // Times, in the reader's zone, as long as the page is open.
  function span(ms) {
    var s = Math.max(0, Math.floor(ms / 1000)), m = Math.floor(s / 60), h = Math.floor(m / 60);
    if (s < 60) return s + " s";
    if (m < 60) return m + " min";
    if (h < 48) return h + " h" + (m % 60 ? " " + m % 60 + " min" : "");
    return Math.floor(h / 24) + " days";
  }

  var zone = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

  var hour = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }), day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

  function keep(el, text) { if (el.textContent !== text) el.textContent = text; }

  function tick() {
    var now = Date.now();
    d.querySelectorAll("[data-t]").forEach(function (el) {
      var at = Date.parse(el.getAttribute("datetime"));
      switch (el.getAttribute("data-t")) {
        case "ago": keep(el, now - at < 1000 ? "now" : span(now - at) + " ago"); break;
        case "since": keep(el, span(now - at)); break;
        case "until": keep(el, span(at - now)); break;
        case "hour": keep(el, hour.format(at)); break;
        case "day": keep(el, day.format(at)); break;
        case "at": keep(el, zone.format(at) + ", your time"); break;
      }
    });
  }

  tick();
  setInterval(function () { if (!d.hidden) tick(); }, 1000);

  // The title has how much waits, and so have the tabs and the navigation.
  var title = d.title, counts = (body.getAttribute("data-lives") || "").split(" ").map(Number), seen = 0;

  function show(n) {
    var all = n.approvals + n.recoveries + n.changes;
    d.title = all ? "(" + all + ") " + title : title;
    var by = { decide: all, approvals: n.approvals, recovery: n.recoveries, changes: n.changes };
    d.querySelectorAll("[data-live]").forEach(function (el) {
      var count = by[el.getAttribute("data-live")];
      if (count === undefined) return;
      keep(el, String(count));
      el.hidden = !count;
    });
  }

  // What is new waits above the list: no row moves by itself.
  var fresh = d.getElementById("new"), added = {};

  function announce() {
    var n = Object.keys(added).length;
    if (!fresh || !n) return;
    fresh.hidden = false;
    keep(fresh, n + " new, just now: show");
  }

  function get(path) {
    return fetch("/console/desk/" + path, { credentials: "same-origin" }).then(function (res) { return res.ok ? res.text() : Promise.reject(); });
  }

  function parsed(html) { return new DOMParser().parseFromString(html, "text/html").body.firstElementChild; }

  // A row that changed says so where it stands.
  function row(of) {
    var was = rail && rail.querySelector('[data-of="' + CSS.escape(of) + '"]');
    if (!was) return false;
    get("row" + (location.search || "?") + (location.search ? "&" : "") + "of=" + encodeURIComponent(of)).then(function (html) {
      var now = parsed(html);
      if (!now) return;
      if (was.hasAttribute("aria-current")) now.setAttribute("aria-current", "true");
      if (d.activeElement === was) { was.replaceWith(now); now.focus(); } else was.replaceWith(now);
      tick();
    }).catch(function () {});
    return true;
  }

  // What was decided before says what became of it.
  function last() {
    var was = d.getElementById("last");
    if (!was) return;
    get("last?of=" + encodeURIComponent(was.getAttribute("data-last"))).then(function (html) {
      var now = parsed(html);
      if (now) was.replaceWith(now);
    }).catch(function () {});
  }

  // What is shown was decided by somebody else, or looks otherwise now: one sentence above the act.
  // What was typed stays.
  function changed() {
    fetch(location.href, { credentials: "same-origin" }).then(function (res) { return res.ok ? res.text() : Promise.reject(); }).then(function (html) {
      var page = new DOMParser().parseFromString(html, "text/html");
      var now = page.getElementById("flags"), was = d.getElementById("flags"), dock = page.getElementById("decide"), old = d.getElementById("decide");
      if (now && was) was.replaceWith(now);
      if (!dock || !old || dock.querySelector("[data-decides]") || !old.querySelector("[data-decides]")) return tick();
      var typed = old.querySelector("[data-reason]"), text = typed && typed.value;
      old.replaceWith(dock);
      if (text) {
        var kept = d.createElement("pre");
        kept.className = "kept";
        kept.textContent = "You had typed: " + text;
        dock.append(kept);
      }
      dock.setAttribute("role", "status");
      tick();
    }).catch(function () {});
  }

  var later = {};

  // once does something soon, and not again before that.
  function once(name, what) {
    if (later[name]) return;
    later[name] = setTimeout(function () { delete later[name]; what(); }, 300);
  }

  function heard(kind, id) {
    var of = (kind === "run" ? "recovery" : kind) + "/" + id;
    if (item && item.getAttribute("data-item") === of) once("item", changed);
    once("row " + of, function () {
      if (!row(of) && rail && kind === "approval" && !(item && item.getAttribute("data-item") === of)) unknown[of] = true;
    });
    var was = d.getElementById("last");
    if (was && (was.getAttribute("data-run") === id || was.getAttribute("data-last") === of)) once("last", last);
  }

  var unknown = {}, stream = null, began = false;

  // missed looks whether what is shown still waits.
  function missed() {
    var of = item && item.getAttribute("data-item");
    if (!of || !d.querySelector("[data-decides]")) return;
    get("row?of=" + encodeURIComponent(of)).then(function (html) {
      var now = parsed(html);
      if (now && now.classList.contains("it--done")) changed();
    }).catch(function () {});
  }

  function follow() {
    if (stream || !window.EventSource || d.hidden || !body.hasAttribute("data-lives")) return;
    began = false;
    stream = new EventSource("/console/desk/events");
    stream.addEventListener("open", function () { began = false; });
    stream.addEventListener("waiting", function (e) {
      var n = JSON.parse(e.data), more = seen ? n.approvals + n.recoveries - seen.approvals - seen.recoveries : 0;
      if (!seen && rail) more = n.approvals + n.recoveries - Math.max(counts[0] + counts[1], rail.querySelectorAll(".it:not(.it--done)").length); // the page may know of more than its counts did
      if (!began) { // what happened between the page and its stream is looked at once
        began = true;
        last();
        missed();
      }
      seen = n;
      show(n);
      if (more > 0 && rail) setTimeout(function () { Object.keys(unknown).forEach(function (of) { added[of] = true; }); while (Object.keys(added).length < more) added["?" + Object.keys(added).length] = true; announce(); }, 400);
    });
    stream.addEventListener("changed", function (e) { var c = JSON.parse(e.data); heard(c.kind, c.id); });
  }

  function pause() { if (stream) { stream.close(); stream = null; } }

  d.addEventListener("visibilitychange", function () { if (d.hidden) pause(); else follow(); });
  window.addEventListener("pagehide", pause);
  window.addEventListener("pageshow", follow);
  if (body.hasAttribute("data-lives")) show({ approvals: counts[0], recoveries: counts[1], changes: counts[2] });
  follow();

  // Keys move; none decides. On the desk j and k open the next and the previous one.
  function typing(el) { return el.closest("input, textarea, select, [contenteditable]"); }

  d.addEventListener("keydown", function (e) {
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || !body.hasAttribute("data-keys") || !rail || typing(e.target)) return;
    var to = { j: "a[data-next]", k: "a[data-prev]" }[e.key], reason = d.querySelector("[data-reason]");
    if (to && (to = d.querySelector(".desk__r " + to))) { e.preventDefault(); e.stopImmediatePropagation(); to.click(); return; }
    if (e.key === "r" && reason) { e.preventDefault(); reason.focus(); return; }
    if (e.key === "p" && (to = d.querySelector("[data-probe]"))) { e.preventDefault(); to.focus(); return; }
    if (e.key === "s" && (to = d.querySelector("[data-later]"))) { e.preventDefault(); to.click(); }
  }, true);

  // The chosen row is in sight.
  var here = rail && rail.querySelector(".it[aria-current]");
  if (here && rail.scrollHeight > rail.clientHeight) {
    var r = here.getBoundingClientRect(), l = rail.getBoundingClientRect();
    if (r.bottom > l.bottom || r.top < l.top + 80) rail.scrollTop += r.top - l.top - l.height / 3;
  }

  // A recovery's button says what it records; what contradicts the request stands beside "It
  // happened" alone.
  var recovers = d.querySelector("[data-recovers]");

  function records() {
    var chosen = recovers.querySelector('[name="resolution"]:checked'), differs = recovers.querySelector("[data-differs]"), tick = recovers.querySelector('[name="differs"]');
    var happened = !chosen || chosen.value === "CONFIRMED_COMPLETED";
    if (differs) differs.hidden = !happened;
    keep(recovers.querySelector("[data-record]"), !chosen ? "Record it" : { CONFIRMED_NOT_EXECUTED: "Record: it did not happen", ABANDON: "Give up without knowing" }[chosen.value] || (tick && tick.checked ? "Record it with the difference" : "Record: it happened"));
  }

  if (recovers) {
    recovers.addEventListener("change", records);
    records();
  }

  // Corrections: what differs is counted, and a corrected request can't be approved.
  var inputs = d.querySelector("[data-inputs]"), form = d.getElementById("decide-form");

  function count() {
    var n = 0;
    inputs.querySelectorAll("textarea").forEach(function (f) {
      var was = f.getAttribute("data-was"), differs = f.value.replace(/\r\n/g, "\n") !== was, said = f.parentNode.querySelector("[data-asked]");
      n += differs;
      f.closest("tr").classList.toggle("chg", differs);
      said.hidden = !differs;
      keep(said, differs ? was + " as asked" : "");
    });
    var reject = form.querySelector("[data-reject]"), approve = form.querySelector("[data-approve]"), does = form.querySelector("[data-does]");
    keep(reject, n ? "Reject with " + n + (n > 1 ? " corrections" : " correction") : "Reject");
    if (approve) {
      approve.toggleAttribute("data-off", n > 0);
      if (n) approve.setAttribute("aria-disabled", "true"); else approve.removeAttribute("aria-disabled");
    }
    if (!does.hasAttribute("data-first")) does.setAttribute("data-first", does.textContent);
    keep(does, n ? "A correction rejects this request and hands the corrected one to whoever asked, ready to start. Nothing is sent." : does.getAttribute("data-first"));
  }

  if (inputs && form) {
    inputs.addEventListener("input", count);
    inputs.addEventListener("keydown", function (e) {
      if (e.key !== "Escape" || e.target.tagName !== "TEXTAREA") return;
      e.target.value = e.target.getAttribute("data-was");
      count();
    });
    form.addEventListener("submit", function (e) {
      if (e.submitter && e.submitter.getAttribute("aria-disabled") === "true") { e.preventDefault(); e.stopImmediatePropagation(); }
    }, true);
    count();
  }
})();
