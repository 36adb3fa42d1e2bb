package control

import "github.com/countersign/countersign/internal/control/core"

// What callers name of the rooms.

// Actor is a principal making one request.
type Actor = core.Actor

// Config holds the settings of the use cases and what they depend on.
type Config = core.Config

// ErrTooMany refuses an attempt beyond a limit on signing in.
var ErrTooMany = core.ErrTooMany

// List is the requested page of a list.
type List = core.List

// Masks reports whether sensitive fields are masked for the actor, whose only role is VIEWER then.
func Masks(a Actor) bool { return core.Masks(a) }

// Postbox sends a mail to one address.
type Postbox = core.Postbox

// Prober sends the two kinds of request that belong to no step: health checks and a reviewer's probes.
type Prober = core.Prober
