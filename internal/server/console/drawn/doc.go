// Package drawn draws what is sent and what came back, whole and with nothing of it left out, and says what
// differs between two requests.
package drawn
