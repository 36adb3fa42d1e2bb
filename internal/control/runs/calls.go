package runs

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/platform/line"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/mask"
	"github.com/countersign/countersign/internal/rules/quota"
	"github.com/countersign/countersign/internal/rules/repeat"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// lineEvery is how often the first call of each tenant that waits for a slot looks for one.
const lineEvery = 50 * time.Millisecond

// calledAtMost is how often a call is begun anew because the run that it found isn't found any more.
const calledAtMost = 3

// CallService starts runs for calls over MCP.
type CallService struct {
	*core.Core
	starts *StartService
	line   *line.Line // calls that wait for a slot
}

// NewCalls returns the use cases.
func NewCalls(c *core.Core, starts *StartService) *CallService {
	return &CallService{c, starts, line.New(lineEvery)}
}

// agentCall is what a call over MCP adds to the start of a run.
type agentCall struct {
	words      countersign.AgentWords
	agentID    string
	capability string
}

// CallAgent starts an agent's run for a call over MCP (contract 11, 12.2). The agent is taken as
// it stands: without sessions, the revision that the client saw is unknown, and admission
// still guards, since an agent that changed is PENDING. It waits so long for a slot. Nothing is
// stored meanwhile; queued runs come first, and of those who wait tenants take turns.
func (s *CallService) CallAgent(ctx context.Context, a core.Actor, id string, start countersign.AgentRunStart, words countersign.AgentWords, wait time.Duration) (Started, error) {
	checked := start
	checked.Inputs = nil // values of any kind, which a schema judges
	if err := core.WellFormed(a, checked); err != nil {
		return Started{}, err
	}
	start.ExpectedRevision = 0
	words.Task = repeat.Task(words.Task)
	out, err := s.callAgent(ctx, a, id, start, words)
	if wait <= 0 || countersign.ErrorCode(err) != countersign.CodeCapacity {
		return out, err
	}
	within, enough := context.WithTimeout(ctx, wait)
	defer enough()
	s.line.Wait(within, a.Tenant, func() bool {
		if free := s.Read(within, func(tx store.Tx) error { return s.Repo.Free(tx, a.Tenant, start.Mode) }); free != nil {
			return false
		}
		out, err = s.callAgent(ctx, a, id, start, words)
		return countersign.ErrorCode(err) != countersign.CodeCapacity
	})
	return out, err
}

func (s *CallService) callAgent(ctx context.Context, a core.Actor, id string, start countersign.AgentRunStart, words countersign.AgentWords) (out Started, err error) {
	key, err := repeat.Key(id, start.Capability, start.Mode, start.Inputs, words.Task)
	if err != nil {
		return Started{}, err
	}
	c := s.starts.agentStart(a, id, start, nil, key)
	c.call = &agentCall{words, id, start.Capability}
	c.judged = func(tx store.Tx) error { return judgedAgentRun(tx, a, id, start, neededUnlessRead) }
	for range calledAtMost { // the run that was found may end between two looks, and not be found any more
		if out, err = s.starts.startExecutors(ctx, a, c); !errors.Is(err, errRunGone) {
			break
		}
	}
	return out, err
}

// repeats reports whether a start is a repeat of the run that its key started: over MCP not
// where the agent says that it means to do it again.
func (s startRequest) repeats(tx store.Tx, a core.Actor, earlier *Started) (bool, error) {
	if s.call == nil {
		return true, nil
	}
	if s.again() {
		return false, nil
	}
	return s.finds(tx, a, earlier)
}

// again reports a call that its agent means to do again.
func (s startRequest) again() bool { return s.call != nil && s.call.words.Again != "" }

// maxEarlier bounds the runs of one call that are found behind its latest.
const maxEarlier = 32

// findable are the runs of a claim that a repeat still finds. Of a run that isn't found once
// that holds for good, so none of them is looked at again. They are kept where a call is made
// again: what was sent must be found behind a run that is cancelled before it sends anything.
func (s startRequest) findable(tx store.Tx, a core.Actor, known *records.Claim) (found []string, err error) {
	for _, id := range known.Runs() {
		earlier, err := startedAs(tx, a, id)
		if err != nil {
			return nil, err
		}
		finds, err := s.finds(tx, a, earlier)
		if err != nil {
			return nil, err
		}
		if finds && len(found) < maxEarlier {
			found = append(found, id)
		}
	}
	return found, nil
}

// finds reports that a call over MCP without again is answered with the run.
func (s startRequest) finds(tx store.Tx, a core.Actor, earlier *Started) (bool, error) {
	e := repeat.Earlier{Run: &earlier.Run, Effects: earlier.Effects, SideEffect: true}
	switch {
	case earlier.archived:
		acts, err := s.call.acts(tx, a)
		if err != nil {
			return false, err
		}
		e.SideEffect = acts
	case earlier.Run.Status.IsTerminal():
		whole := earlier.Run
		err := runrepo.EachStep(tx, runrepo.Ref{Tenant: a.Tenant, RunID: whole.ID}, 0, func(step *countersign.StepRun) { whole.Steps = append(whole.Steps, *step) })
		if err != nil {
			return false, err
		}
		e.Run, e.Effects = &whole, whole.Effects()
	}
	return e.Finds(s.at), nil
}

// acts reports that the capability has a side effect, as it is now; one that is gone may have
// had one.
func (c *agentCall) acts(tx store.Tx, a core.Actor) (bool, error) {
	head, _, err := reach.Agent(tx, a, c.agentID)
	if err != nil {
		return true, err
	}
	p, err := core.CurrentSnapshot(tx, a.Tenant, head.ProjectID)
	if err != nil {
		return true, err
	}
	_, capability := mask.TargetOf(p, head.ProjectID, c.capability)
	return capability == nil || capability.HasSideEffect(), nil
}

// OpenCallError is the refusal of a call because a run of the same call is open.
type OpenCallError struct {
	refused *countersign.Error
	RunID   string // "" where the caller may not read it
}

func (e *OpenCallError) Error() string { return e.refused.Error() }

// Unwrap makes it a refusal of the API.
func (e *OpenCallError) Unwrap() error { return e.refused }

// alike is what there is besides the calls of a LIVE start. A call over MCP may be refused for it.
func alike(repo *runrepo.Repository, tx store.Tx, a core.Actor, o startRequest) (repeat.Alike, error) {
	if o.mode != countersign.ModeLive {
		return repeat.Alike{}, nil
	}
	found, err := repo.Alike(tx, a.Tenant, "", o.known.Calls, o.call != nil)
	if err != nil || o.call == nil {
		return found, err
	}
	refused := found.Refusal(o.call.words.Again)
	if refused == nil {
		return found, nil
	}
	if len(found.Open) == 0 || o.call.words.Again == "" {
		return found, refused
	}
	open := &OpenCallError{refused: refused}
	for _, id := range found.Open {
		if _, err := reach.Run(tx, a, id); err == nil {
			open.RunID = id
			break
		} else if countersign.ErrorCode(err) == countersign.CodeInternal {
			return found, err
		}
	}
	return found, open
}

// agentID is the agent whose run is to be started.
func (s startRequest) agentID() string { return strings.TrimPrefix(s.subject, "agent/") }

// checkAgentAsks refuses a LIVE side effect of an agent of which as many runs wait for an
// approval as may.
func (s *StartService) checkAgentAsks(tx store.Tx, tenant string, o startRequest) error {
	if o.op != access.StartAgentRun || o.mode != countersign.ModeLive || !o.known.Acts {
		return nil
	}
	most := s.Config.Quotas.Asking
	n, oldest, err := s.Repo.Asking(tx, tenant, o.agentID(), most)
	if err != nil || n < most {
		return err
	}
	return quota.Exceeded("agent "+o.agentID(), most, "LIVE runs that wait for an approval", "the oldest is "+oldest+": have it decided, or cancel it")
}
