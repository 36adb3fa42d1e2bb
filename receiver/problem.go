package receiver

import (
	"encoding/json"
	"net/http"
)

// problem is an answer of the Receiver's own: {"error": code, "message": text}.
type problem struct {
	status  int
	code    string
	message string
}

func (p problem) write(w http.ResponseWriter) {
	body, _ := json.Marshal(map[string]string{"error": p.code, "message": p.message}) // two texts always encode
	Answer{p.status, "application/json", body}.write(w)
}
