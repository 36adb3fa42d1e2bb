package core

import (
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/runtime/runrepo"
)

// Actor is a principal making one request.
type Actor struct {
	access.Principal
	RequestID string
	Via       string // the chat service in which a person acts; "" for the API and the console
	Account   string // there, by which they act
	Door      string // by which the request came: countersign.DoorAPI and others; "" for the service itself

	Making *Making // a proposed change that is being made for them
	asked  *Asked  // what they ask for, where it may have to be proposed
}

// RunActor is the actor as a run remembers it.
func (a Actor) RunActor() runrepo.Actor {
	return runrepo.Actor{ID: a.ID, RequestID: a.RequestID, Via: a.Via, Door: a.Door, Whole: a.Requester(), Person: a.Person}
}
