package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/background/witnessing"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/evidence/checkpoint"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// TestTheDoctorSaysHowFarWitnessesHaveCosigned reads what it says of each.
func TestTheDoctorSaysHowFarWitnessesHaveCosigned(t *testing.T) {
	seed := bytes.Repeat([]byte{1}, 32)
	key := checkpoint.NewCosigner("w.example", seed, 0).Key
	log := &records.LogKey{Installation: "inst-1", Seed: seed}
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	with := func(fill func(tx store.Tx) error) string {
		return stored(t, func(tx store.Tx) error {
			_, err := records.LogKeys.Put(tx, store.Realm, records.LogKeyID, log, 0)
			_, failed := records.Tenants.Put(tx, store.Realm, "acme", &countersign.Tenant{ID: "acme"}, 0)
			return errors.Join(err, failed, audit.AppendNow(tx, "acme", make([]countersign.AuditRecord, 3)), fill(tx))
		})
	}
	cosigned := func(size int64, at time.Time) func(store.Tx) error {
		return func(tx store.Tx) error {
			_, err := records.CosignedHeads.Put(tx, "acme", records.CosignedID(0, size), &records.Cosigned{Size: size, At: at}, 0)
			return err
		}
	}
	rewound := func(by checkpoint.Key) func(store.Tx) error {
		return func(tx store.Tx) error {
			r := &records.Rewound{Witness: by.String(), Log: "acme", How: "5 records were cosigned, and the log has 3", At: at}
			_, err := records.Rewinds.Put(tx, store.Realm, records.RewoundID(by.KeyHash(), "acme"), r, 0)
			return errors.Join(err, cosigned(3, at)(tx))
		}
	}
	late := now().Add(-2 * time.Hour).Truncate(time.Second)
	hurried, hurry := context.WithCancel(t.Context())
	hurry()
	whole := with(cosigned(3, at))
	for _, test := range []struct {
		ctx   context.Context
		store string
		want  string
	}{
		{t.Context(), with(rewound(key)), "BROKEN audit_rewound: since 2026-03-01T00:00:00Z the log of tenant acme is not what w.example has cosigned: 5 records were cosigned, and the log has 3: keep the store as it is, and find out who changed it; after a restore of an older state, 'countersign audit epoch --reason WHY' begins a new epoch; ok the heads of 1 audit logs are cosigned, the first of the last ones at 2026-03-01T00:00:00Z: "},
		{t.Context(), with(rewound(checkpoint.NewCosigner("other.example", seed, 0).Key)), "ok the heads of 1 audit logs are cosigned, the first of the last ones at 2026-03-01T00:00:00Z: "},
		{t.Context(), with(func(store.Tx) error { return nil }), "warning 1 audit logs have no cosigned head; 0 have: give each witness the logs' vkeys (logKey of 'countersign contract'), and look at the log of the service"},
		{t.Context(), with(cosigned(2, late)), "warning 1 records of 1 audit logs are in no cosigned head; the oldest of the last ones is of " + late.Format(time.RFC3339) + ": look at the log of the service, and at the witnesses"},
		{t.Context(), whole, "ok the heads of 1 audit logs are cosigned, the first of the last ones at 2026-03-01T00:00:00Z: "},
		{hurried, whole, "BROKEN how far the audit logs are cosigned is not known: store " + whole + ": can't be read: context canceled: look again; if it stays so, restore a backup"},
		{t.Context(), stored(t, func(store.Tx) error { return nil }), ""},
	} {
		var got []string
		for _, f := range checkWitnesses(test.ctx, config{Store: test.store, Witnesses: []witnessing.Witness{{URL: "https://w.example", Key: key}}}) {
			got = append(got, f.State+" "+f.Seen+": "+f.Do)
		}
		if text := strings.Join(got, "; "); text != test.want {
			t.Errorf("\n got %s\nwant %s", text, test.want)
		}
	}
	if found := checkWitnesses(t.Context(), config{Store: whole}); found != nil {
		t.Errorf("without a witness: %v", found)
	}
}
