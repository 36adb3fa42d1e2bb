package countersign

// WaitingCounts is the event `waiting` of GET /events: how much waits for whom the stream is.
type WaitingCounts struct {
	Approvals  int `json:"approvals" doc:"that they may decide"`
	Recoveries int `json:"recoveries" doc:"runs with an unknown outcome that they may reconcile"`
	Changes    int `json:"changes" doc:"that they may decide"`
}

// Changed is the event `changed` of GET /events: something in scope that changed.
type Changed struct {
	Kind string `json:"kind" doc:"approval or run; there may be more kinds"`
	ID   string `json:"id"`
}

// DeskEvent is one event of GET /events, as SDKs give it: one of them is set.
type DeskEvent struct {
	Waiting *WaitingCounts `json:"waiting,omitempty"`
	Changed *Changed       `json:"changed,omitempty"`
}
