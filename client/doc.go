// Package client is the Go SDK of Countersign, version 0.3.0: every operation of
// the API as a method, the twelve that the specification names (section 4) under
// their own names.
//
//	c, err := client.New(client.Config{BaseURL: "https://countersign.example.com", Token: token})
//	run, err := c.StartRun(ctx, countersign.RunStart{PlanID: planID}, client.Key("refund-of-A-48213"))
//	done, err := c.WaitRun(ctx, run.ID)
//
// # Errors
//
// A refusal of the service is an [*Error]: errors.Is(err, client.ErrRevisionConflict)
// tells which. When no whole answer came, the error is a [*ConnectionError] and
// nothing is known of what was asked.
//
// # What is sent again
//
// Reading, and starting a run under the same idempotency key, are sent again
// after a connection failed: both may be repeated without harm. Everything else
// is sent again only when the service said 503 with Retry-After, which it says
// before it changes anything. A start without a key gets one, which the SDK keeps
// over its own repeats and shows in the run and in the error.
//
// # Numbers
//
// JSON values are [countersign.Value]: every number keeps its digits.
package client
