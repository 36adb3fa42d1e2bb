package core

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
)

// WellFormed refuses a body that the API's decoder would refuse. The forms of the console make
// bodies in Go, for whoever has a session: what a body may be is the use case's to say, and not
// one door's. A body of whoever has a token was decoded.
func WellFormed[T any](a Actor, body T) error {
	if a.Session == "" {
		return nil
	}
	return exactjson.Conforms(body)
}

// WellKeyed refuses an idempotency key that no caller may choose.
func WellKeyed(key string) error {
	if !countersign.ValidIdempotencyKey(key) {
		return countersign.Errorf(countersign.CodeInvalidRequest, "Idempotency-Key: it is 1 to %d visible ASCII characters", countersign.MaxKeyLength)
	}
	return nil
}
