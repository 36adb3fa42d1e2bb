// Package client is the Go SDK of Countersign, version 0.3.0. It has a method for every operation
// of the API; the twelve operations that the specification names (section 4) have those names.
//
//	c, err := client.New(client.Config{BaseURL: "https://countersign.example.com", Token: token})
//	run, err := c.StartRun(ctx, countersign.RunStart{PlanID: planID}, client.Key("refund-of-A-48213"))
//	done, err := c.WaitRun(ctx, run.ID)
//
// # Errors
//
// A refusal of the service is an [*Error]: errors.Is(err, client.ErrRevisionConflict) tests its
// code. If no complete answer came, the error is a [*ConnectionError], and it is not known
// whether the service did what was asked.
//
// # Repetitions
//
// After a lost connection the client repeats reads, and starts of runs under the same idempotency
// key, since repeating them is harmless. It repeats other requests only after a 503 with
// Retry-After, which the service answers before it changes anything. A start without a key gets a
// new one, which the client uses in all repetitions and which the run and the error contain.
//
// # Numbers
//
// JSON values are [countersign.Value]: every number keeps its digits.
package client
