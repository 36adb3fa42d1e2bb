package main

import (
	"log/slog"
	"net/http"

	"github.com/countersign/countersign/internal/platform/connlimit"
)

// figureCallers bounds the connections for figures; a scraper has one.
const figureCallers = 32

// serveFigures serves the installation's figures on their own address until the function that it
// returns is called: they are there during a graceful stop, and end with the service.
func (s *service) serveFigures() (stop func()) {
	callers := connlimit.New(figureCallers)
	server := &http.Server{
		Handler: callers.Handler(s.api.Figures()), ConnState: callers.ConnState, ConnContext: callers.ConnContext,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaderBytes, DisableGeneralOptionsHandler: true, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(s.figures) // ends with Close below
	}()
	return func() {
		_ = server.Close()
		<-ended
	}
}
