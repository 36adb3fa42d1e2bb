// What the console does beyond links and forms: copying, keys, and a line when a
// live page is not live. Nothing here decides anything, and every page works
// without it.
(function () {
  "use strict";

  function flash(button, word) {
    var old = button.getAttribute("aria-label");
    button.setAttribute("aria-label", word);
    button.title = word;
    setTimeout(function () { button.setAttribute("aria-label", old); button.title = old; }, 2000);
  }

  document.addEventListener("click", function (e) {
    var b = e.target.closest("[data-copy]");
    if (!b || !navigator.clipboard) return;
    var from = document.getElementById(b.getAttribute("data-copy"));
    navigator.clipboard.writeText(from ? from.textContent : "").then(function () { flash(b, "Copied"); });
  });

  document.addEventListener("click", function (e) {
    var b = e.target.closest("dialog [data-close]");
    if (b) b.closest("dialog").close();
  });

  // What is clicked on a diagram that is edited is chosen by its button below; without this
  // the link leads to the button.
  document.addEventListener("click", function (e) {
    var a = e.target.closest('.graph a[href^="#pick-"]');
    var button = a && document.getElementById(a.getAttribute("href").slice(1));
    if (!button) return;
    e.preventDefault();
    button.click();
  });

  var places = { o: "/", d: "/desk", a: "/approvals", c: "/recovery", r: "/runs", p: "/plans", m: "/models", j: "/projects", e: "/agents", l: "/audit" };
  var going = 0;

  function typing(el) { return el.closest("input, textarea, select, [contenteditable]"); }

  function row(step) {
    var rows = Array.prototype.slice.call(document.querySelectorAll("a.row"));
    if (!rows.length) return;
    var at = rows.indexOf(document.activeElement);
    rows[Math.max(0, Math.min(rows.length - 1, at + step))].focus();
  }

  function follow(selector) {
    var a = document.querySelector(selector);
    if (a) a.click();
    return !!a;
  }

  function letter(e) {
    if (going && Date.now() - going < 1500 && places[e.key]) { location.href = "/console" + places[e.key]; return true; }
    going = 0;
    switch (e.key) {
      case "g": going = Date.now(); return true;
      case "j": row(1); return true;
      case "k": row(-1); return true;
      case "/": var q = document.querySelector(".search input"); if (q) { q.focus(); return true; } return false;
      case "[": return follow("a[data-prev]");
      case "]": return follow("a[data-next]");
      case "?": var keys = document.getElementById("keys"); if (keys && keys.showModal) keys.showModal(); return !!keys;
    }
    return false;
  }

  // Names that are found while one types: the arrows go into them and back, Escape puts them away.
  document.addEventListener("keydown", function (e) {
    var find = e.target.closest(".search"), step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (!find) return;
    var all = Array.prototype.slice.call(find.querySelectorAll("input, .names a"));
    if (e.key === "Escape") { var names = find.querySelector(".names"); if (names) names.textContent = ""; if (e.target !== all[0]) all[0].focus(); return; }
    var to = step && all[all.indexOf(e.target) + step];
    if (to) { e.preventDefault(); to.focus(); }
  });

  document.addEventListener("focusout", function (e) {
    var find = e.target.closest(".search"), names = find && find.querySelector(".names");
    if (names && e.relatedTarget && !find.contains(e.relatedTarget)) names.textContent = "";
  });

  // A form that was refused begins at its first wrong field.
  var wrong = document.querySelector('main [aria-invalid="true"]');
  if (wrong) wrong.focus();

  // What was typed and not saved isn't left without a question. A page that a form answered
  // with holds what was typed before.
  var edited = [];

  function answered(form) {
    return [form].concat(Array.prototype.slice.call(form.elements)).some(function (el) {
      var to = el.getAttribute(el === form ? "action" : "formaction");
      return to && new URL(to, location.href).pathname === location.pathname;
    });
  }

  if (document.body.hasAttribute("data-unsaved")) {
    document.querySelectorAll('main form[method="post"]').forEach(function (form) {
      if (form.querySelector("textarea, select, input:not([type=hidden])") && answered(form)) edited.push(form);
    });
  }

  document.addEventListener("input", function (e) {
    var form = e.target.form;
    if (form && form.method === "post" && edited.indexOf(form) < 0) edited.push(form);
  });

  function sent(form) { edited = edited.filter(function (f) { return f !== form; }); }

  document.addEventListener("submit", function (e) { if (!e.defaultPrevented) sent(e.target); });
  document.addEventListener("countersign:sent", function (e) { sent(e.target); }); // by a script, which tells nobody else

  window.addEventListener("beforeunload", function (e) { if (edited.length) e.preventDefault(); });

  // Arrows move among the bars of a record.
  document.addEventListener("keydown", function (e) {
    var bars = e.target.closest("[data-cells]"), step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (!bars || !step || e.ctrlKey || e.metaKey || e.altKey) return;
    var all = Array.prototype.slice.call(bars.querySelectorAll("a")), to = all[all.indexOf(e.target) + step];
    if (to) { e.preventDefault(); to.focus(); }
  });

  // A diagram that is wider than its region begins where the present state is.
  document.querySelectorAll(".graph .g-node.here").forEach(function (node) {
    var region = node.closest(".graph"), at = node.getBoundingClientRect(), frame = region.getBoundingClientRect();
    if (at.right > frame.right || at.left < frame.left) region.scrollLeft += at.left + at.width / 2 - frame.left - frame.width / 2;
  });

  document.addEventListener("keydown", function (e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "Escape" && typing(e.target)) { e.target.blur(); return; }
    if (typing(e.target)) return;
    var player = document.querySelector("[data-player]");
    var move = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last" }[e.key];
    if (player && move && follow("[data-player] a[data-" + move + "]")) { e.preventDefault(); return; }
    if (document.body.hasAttribute("data-keys") && letter(e)) e.preventDefault();
  });

  // The present step of a graph is brought into its region's view, once: nothing
  // moves later.
  var region = document.querySelector("#run-graph .graph");
  var present = region && region.querySelector(".g-node.run, .g-node.wait, .g-node.unc, .g-node.fail");
  if (present) {
    var r = region.getBoundingClientRect(), p = present.getBoundingClientRect();
    region.scrollLeft += p.left - r.left - (r.width - p.width) / 2;
    region.scrollTop += p.top - r.top - (r.height - p.height) / 2;
  }

  // So is the chosen step of a long list.
  var chosen = document.querySelector(".tl--own [aria-current]"), steps = chosen && chosen.closest(".tl--own");
  if (steps) steps.scrollTop += chosen.getBoundingClientRect().top - steps.getBoundingClientRect().top - steps.clientHeight / 3;

  // A live page that is not live says so, above its sentence, until it is again.
  var notLive = document.getElementById("not-live");

  function lost(e) {
    if (!notLive) return;
    var d = e.detail || {};
    if ((d.status || d.ctx && d.ctx.response && d.ctx.response.status) === 401) {
      notLive.textContent = "You have been signed out. Sign in again; this page is no longer live.";
    } else if (notLive.hidden) {
      notLive.textContent = "Not live since " + new Date().toISOString().slice(11, 19) + "\u00a0UTC; trying again.";
    }
    notLive.hidden = false;
  }

  document.addEventListener("htmx:sse:error", lost);
  document.addEventListener("htmx:response:error", lost);
  document.addEventListener("htmx:sse:after:connection", function () { if (notLive) notLive.hidden = true; });
})();
