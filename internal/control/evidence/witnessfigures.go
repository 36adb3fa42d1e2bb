package evidence

import (
	"context"

	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/evidence/checkpoint"
	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// witnessed are the figures of how far witnesses have cosigned the tenant's log; none where no witness
// is in the settings.
func (s *MetricService) witnessed(ctx context.Context, a core.Actor) (out []telemetry.Metric, err error) {
	if len(s.Config.Witnesses) == 0 {
		return nil, nil
	}
	err = s.View(ctx, a, access.ReadMetrics, func(tx store.Tx) (err error) {
		out, err = s.cosignedFigures(tx, a.Tenant, "countersign_audit_", "the tenant's audit log")
		return err
	})
	return out, err
}

// cosignedFigures: an age is there once there is a head; what isn't cosigned is counted from the
// first record on.
func (s *MetricService) cosignedFigures(tx store.Tx, log, prefix, of string) (out []telemetry.Metric, err error) {
	size, err := audit.Size(tx, log)
	if err != nil {
		return nil, err
	}
	key, _, err := records.LogKeys.Get(tx, store.Realm, records.LogKeyID)
	if err != nil {
		return nil, err
	}
	q := records.NewestCosigned(key.Epoch)
	q.Limit = cosignedLooked
	var heads []records.Cosigned
	err = records.CosignedHeads.EachReadable(tx, log, q, cosignedLooked, func(c *records.Cosigned) error { heads = append(heads, *c); return nil }, passOver)
	if err != nil {
		return nil, err
	}
	cosigned := int64(0)
	if len(heads) > 0 {
		cosigned = min(heads[0].Size, size)
		out = append(out, telemetry.Metric{Name: prefix + "cosigned_age_seconds", Help: "Since when the last cosignature of the newest cosigned head of " + of + " was given.", Value: s.Config.Now().Sub(heads[0].At).Seconds()})
	}
	out = append(out, telemetry.Metric{Name: prefix + "uncosigned_records", Help: "Records of " + of + " that no cosigned head contains.", Value: float64(size - cosigned)})
	rewound, err := rewoundBy(tx, s.Config.Witnesses, log)
	if err != nil {
		return nil, err
	}
	out = append(out, telemetry.Metric{Name: prefix + "rewound", Help: "Witnesses that have cosigned what " + of + " is not any more.", Value: float64(len(rewound))})
	for _, w := range s.Config.Witnesses {
		for _, h := range heads {
			if by := checkpoint.Cosignatures(h.Checkpoint, []checkpoint.Key{w}); len(by) > 0 {
				out = append(out, telemetry.Metric{Name: prefix + "witness_age_seconds", Help: "By witness: since when it last cosigned " + of + ".", Label: "witness", Is: w.Name(), Value: s.Config.Now().Sub(by[0].At).Seconds()})
				break
			}
		}
	}
	return out, nil
}
