package sample

import "net/http"

type returned struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Key    string `json:"key"`
}

// closeReturn answers 200 as for a success, but closes nothing. Real systems do so when they
// queue a job, or when they fail in the wrong place.
func (s *Shop) closeReturn(e Entry, id string) reply {
	if id != OpenReturn {
		return refuse(http.StatusNotFound, "there is no such return")
	}
	return reply{http.StatusOK, returned{id, "pending", e.Key}}
}

func (s *Shop) readReturn(_ Entry, id string) reply {
	if id != OpenReturn {
		return refuse(http.StatusNotFound, "there is no such return")
	}
	r := returned{ID: id, Status: "open"}
	s.last(http.MethodPost, "/returns/"+id+"/close", &r)
	return reply{http.StatusOK, r}
}
