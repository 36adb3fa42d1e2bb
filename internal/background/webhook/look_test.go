package webhook

import "context"

// Look does all that is due now, and returns when it is done.
func (s *Sender) Look(ctx context.Context) {
	s.look(ctx)
	s.ended.Wait()
}
