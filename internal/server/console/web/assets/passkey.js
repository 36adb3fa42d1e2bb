// Passkeys: asks the service for a question, the browser for its answer, and sends both by
// the form. Nothing here decides anything.
(function () {
  "use strict";
  if (!window.PublicKeyCredential || !navigator.credentials) return;

  function bytes(text) {
    var raw = atob(text.replace(/-/g, "+").replace(/_/g, "/")), out = new Uint8Array(raw.length);
    for (var i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
    return out;
  }

  function text(buffer) {
    var raw = "";
    new Uint8Array(buffer || []).forEach(function (b) { raw += String.fromCharCode(b); });
    return btoa(raw).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  }

  function key(k) { return Object.assign({}, k, { id: bytes(k.id) }); }

  function dialog(options) {
    options.challenge = bytes(options.challenge);
    if (!options.user) {
      options.allowCredentials = (options.allowCredentials || []).map(key);
      return navigator.credentials.get({ publicKey: options });
    }
    options.user.id = bytes(options.user.id);
    options.excludeCredentials = (options.excludeCredentials || []).map(key);
    return navigator.credentials.create({ publicKey: options });
  }

  function written(credential) {
    var r = credential.response, out = { clientDataJSON: text(r.clientDataJSON) };
    if (r.attestationObject) {
      out.attestationObject = text(r.attestationObject);
      out.transports = r.getTransports ? r.getTransports() : [];
    } else {
      out.authenticatorData = text(r.authenticatorData);
      out.signature = text(r.signature);
      out.userHandle = text(r.userHandle);
    }
    return JSON.stringify({ id: credential.id, rawId: text(credential.rawId), type: credential.type, response: out, clientExtensionResults: {} });
  }

  function ask(form) {
    var body = new URLSearchParams();
    if (form.elements.csrf) body.set("csrf", form.elements.csrf.value);
    return fetch(form.getAttribute("data-ask"), { method: "POST", body: body, credentials: "same-origin" }).then(function (res) {
      if (res.status === 409) throw new Error("Sign in again first, then add the passkey.");
      if (!res.ok) throw new Error("The service did not answer; try again in a while.");
      return res.json();
    });
  }

  function said(e) {
    switch (e.name) {
      case "NotAllowedError": return "No passkey was used. Try again, or sign in another way.";
      case "InvalidStateError": return "This device has a passkey for you already.";
      case "Error": return e.message;
    }
    return "This browser could not do it: " + e.name + ".";
  }

  // What an approval signs: the digest on the page, the decision and the reason, so that
  // whoever has the decision can compute it again.
  function hash(text) {
    return crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  }

  function hex(buffer) {
    return Array.from(new Uint8Array(buffer), function (b) { return b.toString(16).padStart(2, "0"); }).join("");
  }

  function signed(form, decision) {
    var reason = form.elements.reason;
    reason.value = reason.value.replace(/^[\s\u0085]+|[\s\u0085]+$/g, "");
    return hash(reason.value.replace(/\r?\n/g, "\r\n")).then(function (why) { // as a form sends it
      var kind = form.dataset.kind || "decision", state = form.dataset.state, about = [form.dataset.approval, form.dataset.digest];
      return hash(["countersign " + kind + (state ? " v2" : " v1")].concat(about, state ? [state] : [], [decision, hex(why)]).join("\n"));
    }).then(function (challenge) {
      return navigator.credentials.get({ publicKey: {
        challenge: challenge, rpId: form.dataset.rp, userVerification: "required",
        allowCredentials: form.dataset.credentials.split(" ").map(function (id) { return { type: "public-key", id: bytes(id) }; })
      } });
    }).then(function (credential) {
      var r = credential.response;
      return JSON.stringify({ credentialId: text(credential.rawId), authenticatorData: text(r.authenticatorData), clientDataJSON: text(r.clientDataJSON), signature: text(r.signature) });
    });
  }

  document.querySelectorAll("[data-sign]").forEach(function (form) {
    var wrong = form.querySelector("#signs + [role=alert]"), busy = false;
    form.addEventListener("submit", function (e) {
      var decision = e.submitter && e.submitter.value;
      if (decision !== "APPROVED") return;
      e.preventDefault();
      if (busy) return;
      busy = true;
      wrong.hidden = true;
      signed(form, decision).then(function (assertion) {
        form.elements.assertion.value = assertion;
        var chosen = document.createElement("input");
        chosen.type = "hidden";
        chosen.name = "decision";
        chosen.value = decision;
        form.append(chosen);
        form.dispatchEvent(new Event("countersign:sent", { bubbles: true }));
        form.submit();
      }).catch(function (e) {
        busy = false;
        wrong.textContent = e.name === "NotAllowedError" ? "No passkey was used, so nothing is approved. Try again, with a passkey that you added here." : said(e);
        wrong.hidden = false;
      });
    });
  });

  document.querySelectorAll("[data-passkey]").forEach(function (part) {
    var form = part.querySelector("form"), wrong = part.querySelector("[role=alert]");
    part.hidden = false;
    form.addEventListener("submit", function (e) {
      e.preventDefault();
      wrong.hidden = true;
      ask(form).then(function (asked) {
        return dialog(asked.options).then(function (credential) {
          form.elements.question.value = asked.question;
          form.elements.answer.value = written(credential);
          form.dispatchEvent(new Event("countersign:sent", { bubbles: true }));
          form.submit();
        });
      }).catch(function (e) {
        wrong.textContent = said(e);
        wrong.hidden = false;
      });
    });
  });
})();
