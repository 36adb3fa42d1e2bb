package apply

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
)

// readAtOnce is how many records are asked for at a time.
const readAtOnce = 8

// Differ reads what the service has of the records and returns what has to be done, in order.
func Differ(ctx context.Context, c *client.Client, records []*Record) ([]*Change, error) {
	found := make([]*Change, len(records))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readAtOnce)
	for i, r := range records {
		g.Go(func() error {
			s, err := read(ctx, c, r.Kind, r.serviceID())
			if err == nil {
				found[i], err = Compare(r, s)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", r.Name(), err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	changes := []*Change{}
	for _, change := range found {
		if change != nil {
			changes = append(changes, change)
		}
	}
	Order(changes)
	return changes, nil
}

// read reads one record; one that isn't there is no error.
func read(ctx context.Context, c *client.Client, kind, id string) (s Stored, err error) {
	switch kind {
	case setting:
		s, err = stored(c.Settings(ctx))(func(x *countersign.TenantSettings) Stored { return Stored{Revision: x.Revision} })
	case group:
		s, err = stored(c.Group(ctx, id))(func(x *countersign.Group) Stored { return Stored{Revision: x.Revision} })
	case model:
		s, err = stored(c.Model(ctx, id))(func(x *countersign.Model) Stored { return Stored{Revision: x.Revision, Retired: x.Retired} })
	case project:
		s, err = stored(c.Project(ctx, id))(func(x *countersign.Project) Stored {
			return Stored{Revision: x.Revision, Retired: x.Retired, Enabled: x.Enabled}
		})
	case agent:
		s, err = stored(c.Agent(ctx, id))(func(x *countersign.AgentWithInstances) Stored {
			return Stored{Revision: x.Revision, Retired: x.Retired, Source: x.SourceRevision, Admitted: x.Status == countersign.AgentAdmitted && !x.Suspended}
		})
	case team:
		s, err = stored(c.Team(ctx, id))(func(x *countersign.Team) Stored { return Stored{Revision: x.Revision, Retired: x.Retired} })
	case webhook:
		s, err = stored(c.Webhook(ctx, id))(func(x *countersign.Webhook) Stored { return Stored{Revision: x.Revision} })
	}
	if errors.Is(err, client.ErrNotFound) {
		return Stored{}, nil
	}
	return s, err
}

func stored[T any](x *T, err error) func(func(*T) Stored) (Stored, error) {
	return func(of func(*T) Stored) (Stored, error) {
		if err != nil {
			return Stored{}, err
		}
		s := of(x)
		s.There, s.Record = true, x
		return s, nil
	}
}
