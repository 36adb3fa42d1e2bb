package mcp

import (
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/countersign/countersign"
)

// A run that goes on is a task for clients that take one: its id is the run's, so that nothing
// more is kept of it. The library knows no tasks: what it answers is replaced by what a form
// makes of the run.

// form is what a revision of the protocol makes of tasks.
type form interface {
	// created answers a call; nil where the tool's own answer is given.
	created(t task) any
	// got answers tasks/get.
	got(t task) any
	// cancelled answers tasks/cancel.
	cancelled(t task) any
	// methods are those that there are besides tasks/get and tasks/cancel.
	methods() []string
}

// task is a run as a task, with what the tool answers of it.
type task struct {
	state  runState
	at     time.Time // of the latest change
	result *sdk.CallToolResult
}

// States of a task.
const (
	taskWorking   = "working"
	taskCompleted = "completed"
	taskFailed    = "failed"
	taskCancelled = "cancelled"
)

// status of the task, never input_required: what a person decides is decided in the console.
func (t task) status() string {
	switch t.state.Outcome {
	case outcomeWaiting, outcomeRunning, outcomeHeld:
		return taskWorking
	case outcomeStopped:
		return taskCancelled
	}
	return taskCompleted
}

// message says what the task does, and where a person acts.
func (t task) message() string {
	if t.state.URL == nil {
		return t.state.Message
	}
	return t.state.Message + " " + *t.state.URL
}

// poll is when it is worth asking again, in milliseconds.
func (t task) poll() int {
	if t.state.Outcome == outcomeRunning {
		return 1000
	}
	return 5000
}

// formOf is the form of the client's revision; nil where it takes no tasks.
func formOf(m message) form {
	switch {
	case m.revision >= revision2026:
		return tasks2026{}
	case m.revision == revision2025, m.revision == "":
		return tasks2025{}
	}
	return nil
}

// taskParams are the parameters of each method.
type taskParams struct {
	sdk.ParamsBase
	TaskID string `json:"taskId"`
}

// taskResult stands for an answer that is replaced.
type taskResult struct{ sdk.ResultBase }

// codeMissingCapability says that the client hasn't declared what the method needs.
const codeMissingCapability = -32021

// addTasks registers the methods of tasks.
func (v *toolRequest) addTasks(s *sdk.Server, m message) {
	f := formOf(m)
	if f == nil {
		return
	}
	use := map[string]func(form, string) error{"tasks/get": v.getTask, "tasks/cancel": v.cancelTask, "tasks/result": v.taskResult, "tasks/update": v.updateTask}
	for _, method := range append(f.methods(), "tasks/get", "tasks/cancel") {
		handler := func(_ context.Context, _ *sdk.ServerSession, p *taskParams) (*taskResult, error) {
			if m.revision >= revision2026 && !m.tasks {
				err := v.refuse(codeMissingCapability, "this method is for clients that declare the extension %s", tasksExtension)
				err.Data = json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}`)
				return nil, err
			}
			return &taskResult{}, use[method](f, p.TaskID)
		}
		if err := sdk.AddReceivingCustomMethod(s, method, handler); err != nil {
			v.cfg.Log.Error("the library has this method itself", "method", method, "error", err)
		}
	}
}

// task is a run of this agent as a task. Whoever may not read it is told that there is none.
func (v *toolRequest) task(id string, wait time.Duration) (task, error) {
	if !countersign.ValidID(id) {
		return task{}, v.refuse(jsonrpc.CodeInvalidParams, "taskId: there is no such task")
	}
	ctx, until, end := v.waiting(wait)
	defer end()
	run, err := v.atRest(ctx, id, until, goesOn)
	if err != nil {
		return task{}, v.noTask(err)
	}
	state, err := v.state(run, "")
	if err != nil {
		return task{}, v.noTask(err)
	}
	return v.asTask(state, run)
}

func (v *toolRequest) asTask(state runState, run *countersign.Run) (t task, err error) {
	t = task{state: state, at: run.UpdatedAt}
	t.result, err = result(state)
	return t, err
}

// noTask is a refusal as the protocol says it.
func (v *toolRequest) noTask(err error) error {
	code := countersign.ErrorCode(err)
	switch code.Status() {
	case 403, 404:
		return v.refuse(jsonrpc.CodeInvalidParams, "taskId: there is no such task")
	case 503:
		return v.refuse(jsonrpc.CodeInternalError, "%s", err.Error())
	case 409, 400:
		return v.refuse(jsonrpc.CodeInvalidParams, "%s", err.Error())
	}
	v.cfg.Log.Error("request failed", "requestId", v.actor.RequestID, "path", Pattern, "error", err)
	return v.refuse(jsonrpc.CodeInternalError, "something broke on our side; the log has it under the request id %s", v.actor.RequestID)
}

func (v *toolRequest) getTask(f form, id string) error {
	t, err := v.task(id, 0)
	if err == nil {
		v.instead = f.got(t)
	}
	return err
}

// cancelReason is the reason of a cancel, for which the protocol has no words.
const cancelReason = "the agent's client cancelled its task"

// cancelTask is the cancel of the API.
func (v *toolRequest) cancelTask(f form, id string) error {
	if _, err := v.task(id, 0); err != nil {
		return err
	}
	_, refused := v.control.CancelRun(v.ctx, v.actor, id, cancelReason)
	if countersign.ErrorCode(refused) == countersign.CodeStateConflict {
		if _, asks := f.(tasks2026); asks { // which only asks for it: what has ended stays as it is
			refused = nil
		}
	}
	if refused != nil {
		return v.noTask(refused)
	}
	t, err := v.task(id, 0)
	if err == nil {
		v.instead = f.cancelled(t)
	}
	return err
}

// taskResult answers what the tool answers, once the task has ended.
func (v *toolRequest) taskResult(_ form, id string) error {
	t, err := v.task(id, countersign.MaxCallWait)
	if err != nil {
		return err
	}
	return v.ended(t)
}

func (v *toolRequest) ended(t task) error {
	if t.status() == taskWorking {
		return v.refuse(jsonrpc.CodeInternalError, "the task goes on; ask tasks/get, and again for its result")
	}
	t.result.Meta = sdk.Meta{"io.modelcontextprotocol/related-task": map[string]string{"taskId": t.state.RunID}}
	v.instead = t.result
	return nil
}

// updateTask takes answers to what is never asked.
func (v *toolRequest) updateTask(_ form, id string) error {
	_, err := v.task(id, 0)
	if err == nil {
		v.instead = map[string]any{"resultType": "complete"}
	}
	return err
}

// tasks2025 are those of revision 2025-11-25: the client asks for one with its call.
type tasks2025 struct{}

type task2025 struct {
	TaskID        string    `json:"taskId"`
	Status        string    `json:"status"`
	StatusMessage string    `json:"statusMessage"`
	CreatedAt     time.Time `json:"createdAt"`
	LastUpdatedAt time.Time `json:"lastUpdatedAt"`
	TTL           *int64    `json:"ttl"` // null: it is kept as long as its run
	PollInterval  int       `json:"pollInterval"`
}

func (tasks2025) methods() []string { return []string{"tasks/result"} }

func (tasks2025) of(t task) task2025 {
	status := t.status()
	if status == taskCompleted && t.result.IsError {
		status = taskFailed
	}
	return task2025{t.state.RunID, status, t.message(), t.state.StartedAt, t.at, nil, t.poll()}
}

// created always has a task, which begins as one that works.
func (f tasks2025) created(t task) any {
	begun := f.of(t)
	begun.Status = taskWorking
	return map[string]any{"task": begun, "_meta": map[string]any{"io.modelcontextprotocol/model-immediate-response": t.message()}}
}

func (f tasks2025) got(t task) any       { return f.of(t) }
func (f tasks2025) cancelled(t task) any { return f.of(t) }

// tasks2026 are those of the extension of revision 2026-07-28: the service says which call is one.
type tasks2026 struct{}

type task2026 struct {
	ResultType     string    `json:"resultType"`
	TaskID         string    `json:"taskId"`
	Status         string    `json:"status"`
	StatusMessage  string    `json:"statusMessage"`
	CreatedAt      time.Time `json:"createdAt"`
	LastUpdatedAt  time.Time `json:"lastUpdatedAt"`
	TTLMs          *int64    `json:"ttlMs"` // null: it is kept as long as its run
	PollIntervalMs int       `json:"pollIntervalMs"`

	Result *sdk.CallToolResult `json:"result,omitempty"`
}

func (tasks2026) methods() []string { return []string{"tasks/update"} }

func (tasks2026) of(t task) task2026 {
	return task2026{"complete", t.state.RunID, t.status(), t.message(), t.state.StartedAt, t.at, nil, t.poll(), nil}
}

func (f tasks2026) created(t task) any {
	begun := f.of(t)
	if begun.ResultType = "task"; begun.Status != taskWorking {
		return nil
	}
	return begun
}

func (f tasks2026) got(t task) any {
	out := f.of(t)
	if out.Status == taskCompleted {
		out.Result = t.result
	}
	return out
}

func (tasks2026) cancelled(task) any { return map[string]any{"resultType": "complete"} }
