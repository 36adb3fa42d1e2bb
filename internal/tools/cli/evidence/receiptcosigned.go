package evidence

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// A receipt is read again, while none of its heads is cosigned, every cosignedEvery, for
// cosignedWithin: the service shows a log to its witnesses within 25 s, and then every minute.
const (
	cosignedEvery  = 5 * time.Second
	cosignedWithin = 2 * time.Minute
)

var errNotCosigned = errors.New("no witness has cosigned a head of the audit log that contains the receipt within 2 minutes: nothing was kept; look at SVC_PLATFORM_WITNESSES and at 'countersign health', or get the receipt without --cosigned")

// Cosigned reads a receipt again until it has a cosigned head.
func Cosigned(get func(context.Context) ([]byte, error)) func(context.Context) ([]byte, error) {
	return func(ctx context.Context) ([]byte, error) {
		for waited := time.Duration(0); ; waited += cosignedEvery {
			text, err := get(ctx)
			if err != nil || hasCosigned(text) {
				return text, err
			}
			if waited >= cosignedWithin {
				return nil, errNotCosigned
			}
			select {
			case <-time.After(cosignedEvery):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	}
}

func hasCosigned(text []byte) bool {
	var read struct {
		Sections struct {
			Audit struct {
				Cosigned *struct{} `json:"cosigned"`
			} `json:"audit"`
		} `json:"sections"`
	}
	return json.Unmarshal(text, &read) == nil && read.Sections.Audit.Cosigned != nil
}
