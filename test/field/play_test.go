package field

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/test/harness"
)

// played is what came of a case.
type played struct {
	wrong []string // what didn't hold
	blind []string // expectations that would hold of anything
}

// play does what the case says.
func (w *world) play() (p played) {
	for i, s := range w.c.Play {
		where := fmt.Sprintf("play[%d]", i)
		got, err := w.do(s)
		if err != nil {
			p.wrong = append(p.wrong, where+": "+err.Error())
			return p
		}
		for name, path := range s.Keep {
			if text, is := at(got, path).v.(string); is {
				w.set(name, text)
			} else {
				p.wrong = append(p.wrong, fmt.Sprintf("%s: %s is no text in %s", where, path, render(got)))
			}
		}
		w.judge(&p, where, s.Expect, got)
	}
	got, err := w.receiver.seen()
	if err != nil && !w.c.Again {
		p.wrong = append(p.wrong, err.Error())
	}
	w.judge(&p, "received", w.c.Received, got)
	log, err := w.must(w.name("admin"), "GET", "/audit/verify", nil)
	if err != nil || log["intact"] != true {
		p.wrong = append(p.wrong, fmt.Sprintf("the audit log: %v, %v", log, err))
	}
	return p
}

func (w *world) judge(p *played, where string, expect expectations, got any) {
	for _, path := range slices.Sorted(maps.Keys(expect)) {
		seen := at(got, path)
		if wrong := expect[path].wrong(seen, w.fill); wrong != "" {
			p.wrong = append(p.wrong, fmt.Sprintf("%s: %s %s\n        in %s", where, path, wrong, render(got)))
		} else if blind := expect[path].blind(seen, w.fill); blind != "" {
			p.blind = append(p.blind, fmt.Sprintf("%s: %s would hold of %s too", where, path, blind))
		}
	}
}

func (w *world) do(s step) (any, error) {
	token := w.realm
	switch s.As {
	case "":
		token = w.name("operator")
	case "nobody":
		token = ""
	case "realm":
	default:
		if token = w.name(s.As); token == "" {
			return nil, fmt.Errorf("nobody is called %q", s.As)
		}
	}
	switch {
	case s.Call != nil:
		return w.call(*s.Call, token)
	case s.Request != nil:
		return w.send(*s.Request, token)
	case s.Wire != nil:
		all, err := w.exchange(s.Wire.Send.all(w.fill), max(1, s.Wire.Answers))
		return map[string]any{"answers": all}, err
	case s.RPC != nil:
		return w.rpc(*s.RPC, token)
	case s.Import != nil:
		return w.imports(*s.Import)
	case s.Decide != "":
		return w.decide(s.Decide)
	}
	return w.standing()
}

// call makes a run of one capability, and returns it once it stands still.
func (w *world) call(c call, token string) (any, error) {
	body := doc{"capability": c.Capability, "mode": c.Mode, "inputs": normal(c.Inputs, w.fill)}
	if c.Mode == "" {
		body["mode"] = "LIVE"
	}
	if c.Expect != nil {
		body["expectation"] = normal(c.Expect, w.fill)
	}
	if c.Inputs == nil {
		delete(body, "inputs")
	}
	if c.Raw != "" {
		body["inputs"] = json.RawMessage(w.fill(c.Raw))
	}
	path := "/v1/projects/" + w.name("project") + "/runs"
	if c.Plan != "" {
		path, body = "/v1/runs", doc{"planId": w.fill(c.Plan)}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	q := request{Method: "POST", Path: path, Body: text{{Of: string(raw), Times: 1}}}
	if c.Key != "" {
		q.Headers = map[string]string{"Idempotency-Key": c.Key}
	}
	got, err := w.send(q, token)
	if err != nil {
		return nil, err
	}
	id, is := at(got, "body.id").v.(string)
	if !is {
		return got, nil
	}
	w.set("run", id)
	return w.standing()
}

// standing reads the last run until it neither goes on nor will by itself.
func (w *world) standing() (any, error) {
	if w.name("run") == "" {
		return nil, errors.New("there is no run")
	}
	deadline := time.Now().Add(patience)
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		run, err := w.must(w.name("admin"), "GET", "/runs/"+w.name("run"), nil)
		if err != nil {
			return nil, err
		}
		held := at(run, "waitingFor.kind").v == "stop"
		if status := run["status"]; status != "READY" && status != "RUNNING" || held {
			return run, nil
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("the run still goes on: %s", render(run))
		}
		time.Sleep(pause)
	}
}

func (w *world) decide(decision string) (any, error) {
	run, err := w.standing()
	if err != nil {
		return nil, err
	}
	id, is := at(run, "waitingFor.approvalId").v.(string)
	if !is {
		return nil, fmt.Errorf("the run waits for no approval: %s", render(run))
	}
	raw, err := json.Marshal(doc{"decision": decision, "reason": "seen"})
	if err != nil {
		return nil, err
	}
	return w.send(request{Method: "POST", Path: "/v1/approvals/" + id + "/decision", Body: text{{Of: string(raw), Times: 1}}}, w.name("approver"))
}

// rpc sends one MCP message. The result of a call of a tool is under `answer`, whichever way it came.
func (w *world) rpc(m rpc, token string) (any, error) {
	message := doc{"jsonrpc": "2.0", "method": m.Method}
	if m.ID != "none" {
		message["id"] = m.ID
		if m.ID == nil {
			message["id"] = 1
		}
	}
	if m.Params != nil {
		message["params"] = normal(m.Params, w.fill)
	}
	if m.Raw != "" {
		message["params"] = json.RawMessage(w.fill(m.Raw))
	}
	raw, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	q := request{Method: "POST", Path: w.name("door"), Body: text{{Of: string(raw), Times: 1}}, Headers: map[string]string{"Accept": "application/json, text/event-stream"}}
	if m.Door != "" {
		q.Path += "/" + m.Door
	}
	if m.Version != "" {
		q.Headers["MCP-Protocol-Version"] = m.Version
	}
	got, err := w.send(q, token)
	if err != nil {
		return nil, err
	}
	if content, is := at(got, "body.result.structuredContent").v.(map[string]any); is {
		got["answer"] = content
	} else if said, is := at(got, "body.result.content.0.text").v.(string); is {
		if v, err := parse([]byte(said)); err == nil {
			got["answer"] = v
		}
	}
	if id, is := at(got, "answer.runId").v.(string); is {
		w.set("run", id)
	}
	return got, nil
}

// imports runs the importer, and perhaps registers what it proposes at the case's receiver.
func (w *world) imports(r reading) (any, error) {
	dir := w.t.TempDir()
	name := r.Name
	if name == "" {
		name = "openapi.yaml"
	}
	files := map[string]text{name: r.Document}
	maps.Copy(files, r.Files)
	for path, content := range files {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, content.all(w.fill), 0o600); err != nil {
			return nil, err
		}
	}
	id, out := w.name("tenant")+"-imported", filepath.Join(dir, "proposal.json")
	args := []string{"import", "openapi", filepath.Join(dir, name), "--project", id, "--out", out, "-v"}
	for _, flag := range r.Flags {
		args = append(args, w.fill(flag))
	}
	run := harness.Run(w.t, nil, args...)
	got := map[string]any{"exit": jsonInt(run.Status), "out": run.Out, "err": run.Err, "said": strings.ReplaceAll(run.Out+run.Err, dir, "")}
	raw, err := os.ReadFile(out)
	if err != nil {
		return got, nil
	}
	if got["project"], err = parse(raw); err != nil {
		return nil, err
	}
	if !r.Register {
		return got, nil
	}
	project, _ := got["project"].(map[string]any)
	project = maps.Clone(project)
	project["baseUrl"] = w.name("origin")
	project["auth"] = doc{"type": "HMAC", "credentialEnv": harness.SecretEnv}
	if raw, err = json.Marshal(project); err != nil {
		return nil, err
	}
	got["registered"], err = w.send(request{Method: "PUT", Path: "/v1/projects/" + id, Body: text{{Of: string(raw), Times: 1}}}, w.name("admin"))
	return got, err
}
