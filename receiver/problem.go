package receiver

import (
	"encoding/json"
	"net/http"
)

// problem is an error that the Receiver answers: {"error": code, "message": text}.
type problem struct {
	status  int
	code    string
	message string
}

func (p problem) write(w http.ResponseWriter) {
	body, _ := json.Marshal(map[string]string{"error": p.code, "message": p.message}) // encoding two strings can't fail
	Answer{p.status, "application/json", body}.write(w)
}
