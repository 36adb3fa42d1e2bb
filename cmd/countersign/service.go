package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/countersign/countersign/docs"
	"github.com/countersign/countersign/internal/background/chat"
	"github.com/countersign/countersign/internal/background/indexing"
	"github.com/countersign/countersign/internal/background/notify"
	"github.com/countersign/countersign/internal/background/remind"
	"github.com/countersign/countersign/internal/background/retention"
	"github.com/countersign/countersign/internal/background/slack"
	"github.com/countersign/countersign/internal/background/tokenends"
	"github.com/countersign/countersign/internal/background/webhook"
	"github.com/countersign/countersign/internal/background/witnessing"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/platform/connlimit"
	"github.com/countersign/countersign/internal/platform/issuer"
	"github.com/countersign/countersign/internal/platform/oidc"
	"github.com/countersign/countersign/internal/platform/passkey"
	"github.com/countersign/countersign/internal/platform/periodic"
	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/platform/telemetry/otlp"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/project"
	"github.com/countersign/countersign/internal/runtime/engine"
	"github.com/countersign/countersign/internal/runtime/lease"
	"github.com/countersign/countersign/internal/runtime/outbound"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/runtime/updates"
	"github.com/countersign/countersign/internal/server/console"
	"github.com/countersign/countersign/internal/server/httpapi"
	"github.com/countersign/countersign/internal/server/manual"
	"github.com/countersign/countersign/internal/server/mcp"
	"github.com/countersign/countersign/internal/storage/leveled"
	"github.com/countersign/countersign/internal/storage/measured"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
	"github.com/countersign/countersign/internal/tools/cli"
	"github.com/countersign/countersign/internal/tools/sample"
)

// indexAfter is when the search index begins: a start reads no run that has ended.
const indexAfter = 10 * time.Second

// service is the wired product. open makes it, run serves until the context ends, close releases
// everything.
type service struct {
	cfg         config
	log         *slog.Logger
	unreadable  *unreadable.Records
	owed        time.Duration // how long close waits for what comes of calls in flight
	metrics     *telemetry.Metrics
	exporter    *otlp.Exporter // nil: no traces
	store       store.Store
	opened      store.Store   // the store without its measuring wrapper
	lease       *lease.Keeper // nil: no other process shares the store
	outbound    *outbound.Client
	engine      *engine.Engine
	control     *control.Service
	issuers     *issuer.Set // nil: none is listed
	api         *httpapi.API
	console     *console.Console
	door        *mcp.Handler
	manual      *manual.Manual
	witnesses   *witnessing.Submitter // nil: none cosigns
	tokenends   *tokenends.Watcher
	hooks       *outbound.Client      // of webhooks; nil if no origin is allowed for them
	running     []interface{ Stop() } // background work, in the order in which it began; Stop waits for what is under way
	listener    net.Listener
	certificate *certificate  // nil: no TLS
	figures     net.Listener  // of the installation's figures; nil: none
	address     string        // http://host:port
	first       control.First // the secrets of a new store

	life    context.Context // context of background work
	end     context.CancelFunc
	polling sync.WaitGroup

	madeAdmin bool // this start made the admin address the first realm administrator
}

// start starts work in the background, which close stops. What goes wrong there is logged and
// tried again.
func (s *service) start(b interface {
	Start()
	Stop()
}) {
	b.Start()
	s.running = append(s.running, b)
}

func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// newID makes ids that begin with the time, so that records created together are adjacent in the
// store's indexes and a commit touches few pages; 50 random bits follow.
func newID(kind string) string {
	return kind + "-" + timePart(now()) + strings.ToLower(rand.Text()[:10])
}

// timePart encodes the milliseconds of t in 9 base32 characters that sort by time.
func timePart(t time.Time) string {
	const digits, width = "234567abcdefghijklmnopqrstuvwxyz", 9
	out := [width]byte{}
	for i, ms := width-1, t.UnixMilli(); i >= 0; i, ms = i-1, ms>>5 {
		out[i] = digits[ms&31]
	}
	return string(out[:])
}

func newSecret() (b [32]byte) {
	_, _ = rand.Read(b[:]) // crypto/rand never returns an error
	return b
}

// newSalt makes a salt in the form of a digest, so that comparisons of records can leave out both
// alike.
func newSalt() string {
	b := newSecret()
	return hex.EncodeToString(b[:])
}

func open(ctx context.Context, cfg config, log *slog.Logger) (*service, error) {
	s := &service{cfg: cfg, log: log, unreadable: unreadable.New(log), metrics: telemetry.NewMetrics(version)}
	var err error
	if cfg.CertFile != "" {
		if s.certificate, err = loadCertificate(cfg.CertFile, cfg.KeyFile, log); err != nil {
			return nil, err
		}
	}
	st, err := openStore(ctx, cfg.Store)
	if err != nil {
		return nil, err
	}
	if s.exporter, err = otlp.Start(ctx, cfg.Getenv, version, log); err != nil {
		log.Warn("no traces are sent", "error", err)
	}
	s.opened = st
	s.store = perhapsAgain(leveled.New(measured.New(st, s.metrics, s.exporter.Traces(), log), st, log))
	s.life, s.end = context.WithCancel(context.Background())
	if err := s.wire(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *service) wire(ctx context.Context) error {
	if err := s.join(ctx); err != nil {
		return err
	}
	if err := s.listen(); err != nil { // before Bootstrap: a start that fails must not make secrets that nobody sees
		return err
	}
	l := s.assemble()
	var err error
	if s.first, err = s.control.Bootstrap(ctx, s.cfg.BootstrapToken); err != nil {
		return err
	}
	if err := s.control.EnsureReceiptKey(ctx); err != nil {
		return err
	}
	if err := s.control.EnsureLogKey(ctx); err != nil {
		return err
	}
	if err := s.control.BindCredentials(ctx); err != nil {
		return err
	}
	if err := s.control.NoticeUpgrade(ctx); err != nil {
		return err
	}
	if err := s.control.CountModels(ctx); err != nil {
		return err
	}
	if err := s.control.MarkRuns(ctx); err != nil {
		return err
	}
	if err := s.control.FoldAddresses(ctx); err != nil {
		return err
	}
	if err := s.control.EndOthers(ctx); err != nil {
		return err
	}
	if s.cfg.AdminEmail != "" {
		if s.madeAdmin, err = s.control.EnsureAdmin(ctx, s.cfg.AdminEmail); err != nil {
			return err
		}
	}
	if err := s.control.TellOfBrokenGlass(ctx); err != nil {
		return err
	}
	if err := s.serves(); err != nil {
		return err
	}
	s.notifies()
	s.chats()
	if s.witnesses != nil {
		s.start(s.witnesses)
	}
	s.tells()
	s.start(indexing.New(s.store, s.control, indexAfter, s.log, s.unreadable))
	if err := s.engine.Start(ctx); err != nil {
		return err
	}
	s.archives(l)
	s.running = append(s.running, periodic.Start(control.DropEvery, s.control.DropInstances), periodic.Start(control.LapseEvery, s.control.LapseChanges))
	return nil
}

// caller makes a client that sends requests only to these origins.
func (s *service) caller(origins []string) *outbound.Client {
	return outbound.New(outbound.Config{
		Origins: origins, MayUse: s.cfg.Credentials.Allows,
		Getenv: s.cfg.Secrets.Get, Now: now, UserAgent: "countersign/" + version,
		Calls: s.cfg.MaxActive, Traces: s.exporter.Traces(), Log: s.log,
	})
}

// tells makes the sender of webhooks, if an origin is allowed for them. Its calls share no
// connection with those of steps.
func (s *service) tells() {
	if len(s.cfg.NotifyOrigins) == 0 {
		return
	}
	s.hooks = s.caller(s.cfg.NotifyOrigins)
	s.start(webhook.New(webhook.Config{BaseURL: s.publicURL(), Backoff: webhook.Backoff, Now: now, Log: s.log, Unreadable: s.unreadable}, s.store, s.hooks))
}

// archives makes the archiver, if a retention is set, and what carries redactions on, which may be
// in archives of before.
func (s *service) archives(l *runrepo.Repository) {
	cfg := retention.Config{Keep: s.cfg.Retention, Dir: s.cfg.ArchiveDir, Now: now, Log: s.log, Unreadable: s.unreadable, Receipt: s.control.FiledReceipt}
	if cfg.Dir == "" && !isShared(s.cfg.Store) {
		cfg.Dir = archiveIn(s.cfg.Store)
	}
	s.start(retention.NewRedactor(cfg, s.store))
	if s.cfg.Retention > 0 {
		s.start(retention.New(cfg, s.store, l))
	}
}

// assemble makes the parts of the service. They write nothing before the engine starts or a request
// comes.
func (s *service) assemble() *runrepo.Repository {
	allowed := project.Allowed{
		Origins: s.cfg.Origins, NotifyOrigins: s.cfg.NotifyOrigins, Credentials: s.cfg.Credentials,
		SecretBytes: func(name string) int { return len(s.cfg.Secrets.Get(name)) },
	}
	s.outbound = s.caller(s.cfg.Origins)
	l := runrepo.New(runrepo.Config{Replica: s.replica(), MaxActive: s.cfg.MaxActive, MaxPerTenant: s.cfg.MaxPerTenant, MaxProbes: s.cfg.Quotas.Probes, ApprovalTTL: s.cfg.ApprovalTTL, NewID: newID, NewSalt: newSalt, OriginAllowed: allowed.Origin, Eyes: s.cfg.Eyes, Now: now, Observe: s.metrics.Observe})
	hub := &updates.Hub{}
	s.engine = engine.New(s.store, l, s.outbound, hub, s.log)
	s.engine.Trace(s.exporter.Traces())
	if s.lease != nil {
		s.engine.Share(s.lease, lease.Every)
		s.polling.Go(func() { hub.Poll(s.life, pollEvery, s.reading(l)) })
	}
	useCases := control.Config{
		Allowed: allowed, Eyes: s.cfg.Eyes, RedactFrom: s.cfg.RedactAfter, SignIn: s.cfg.SignInBy, MaxActive: s.cfg.MaxActive, Quotas: s.cfg.Quotas, Version: version,
		NewID: newID, NewSecret: newSecret, Now: now, Shared: s.lease != nil, Life: s.life, Metrics: s.metrics, Unreadable: s.unreadable,
	}
	if len(s.cfg.Witnesses) > 0 {
		s.witnesses = witnessing.New(witnessing.Config{Witnesses: s.cfg.Witnesses, Client: witnessClient(), Now: now, Log: s.log, Unreadable: s.unreadable}, s.store)
		for _, w := range s.cfg.Witnesses {
			useCases.Witnesses = append(useCases.Witnesses, w.Key)
		}
	}
	if bounded, ok := s.opened.(interface{ Readers() int }); ok {
		useCases.Readers = bounded.Readers()
	}
	if s.cfg.Mail != nil {
		useCases.Post = s.cfg.Mail
	}
	if len(s.cfg.TokenIssuers) > 0 {
		s.issuers = issuer.New(issuer.Config{Entries: s.cfg.TokenIssuers, Resource: s.publicURL(), Fetch: issuer.HTTP(s.cfg.TokenIssuers), Now: now})
		useCases.Issuers = s.issuers
	}
	ends := tokenends.Config{BaseURL: s.publicURL(), Now: now, Log: s.log, Unreadable: s.unreadable}
	if s.cfg.Mail != nil {
		ends.Post = s.cfg.Mail
	}
	s.tokenends = tokenends.New(ends, s.store)
	useCases.Ending = func(tenant string) (int, time.Time) {
		found := s.tokenends.Found(tenant)
		return found.Ending, found.Next
	}
	s.control = control.New(useCases, s.store, l, s.engine, hub, s.outbound, s.log)
	return l
}

// notifies makes the recorder of reminders and escalations and, if there is a mail server,
// the sender of mails to approvers.
func (s *service) notifies() {
	s.start(s.tokenends)
	s.start(remind.New(remind.Config{Now: now, Log: s.log, Unreadable: s.unreadable}, s.store))
	if s.cfg.Mail != nil {
		s.start(notify.New(notify.Config{BaseURL: s.publicURL(), Eyes: s.cfg.Eyes, Now: now, Log: s.log, Unreadable: s.unreadable}, s.store, s.cfg.Mail))
	}
}

// chats makes the messages about approvals in Slack, if there is an app.
func (s *service) chats() {
	if s.cfg.Slack == nil {
		return
	}
	adapter := slack.New(slack.Config{URL: s.cfg.Slack.URL, AppToken: s.cfg.Slack.AppToken, BotToken: s.cfg.Slack.BotToken, Log: s.log})
	s.start(chat.New(chat.Config{
		BaseURL: s.publicURL(), Channels: s.cfg.Slack.Channels, Shared: s.lease != nil, NewID: newID, Now: now, Count: s.metrics.ChatAnswer, Log: s.log, Unreadable: s.unreadable,
	}, s.store, s.control, adapter))
}

// serves makes the HTTP API, the console, MCP and the manual.
func (s *service) serves() (err error) {
	s.api, err = httpapi.New(httpapi.Config{BaseURL: s.publicURL(), Issuers: s.issuers.Issuers(), Log: s.log, NewID: newID, Now: now}, s.control)
	if err != nil {
		return err
	}
	s.door = mcp.New(mcp.Config{Version: version, BaseURL: s.publicURL(), Rest: restOfARun, Log: s.log}, s.control)
	s.api.HandleAgents(mcp.Pattern, s.door.Serve)
	s.api.HandleAgents(mcp.RehearsalPattern, s.door.Rehearse)
	pages := console.Config{
		BaseURL: s.publicURL(), HasMail: s.cfg.Mail != nil, ProviderAlone: s.cfg.SignInBy == access.SignInByProvider, TrustedProxies: s.cfg.TrustedProxies, MaxActive: s.cfg.MaxActive, ExampleModel: sample.RefundModel(), Log: s.log, NewID: newID, Now: now,
	}
	if s.cfg.OIDC != nil {
		provider := *s.cfg.OIDC
		provider.RedirectURL, provider.Now = s.publicURL()+console.Prefix+"/oidc/callback", now
		pages.Verifier = oidc.New(provider)
	}
	s.manual = manual.New(manual.Config{
		BaseURL: s.publicURL(), Files: docs.Files, Index: docs.Index, Document: s.api.Document,
		Asset: console.Asset, Theme: console.Theme, Log: s.log,
	})
	if party, err := passkey.New(s.publicURL()); err == nil { // else browsers allow none, and the settings page says so
		s.control.AcceptPasskeys(party)
	}
	s.console, err = console.New(pages, s.control)
	return err
}

// restOfARun is the longest time that a call over MCP waits for its run to end or to wait for a
// person.
const restOfARun = 2 * time.Second

// handler routes browsers to the console, readers to the manual, and other requests to the API.
func (s *service) handler() http.Handler {
	watched := func(h http.Handler, route string) http.Handler {
		return telemetry.Handler(h, route, s.metrics, s.exporter.Traces())
	}
	pages, reader, api := watched(s.console, console.Prefix), watched(s.manual, "manual"), watched(s.api, "none")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		switch {
		case path == console.Prefix || strings.HasPrefix(path, console.Prefix+"/"):
			pages.ServeHTTP(w, r)
		case manual.Serves(path):
			reader.ServeHTTP(w, r)
		case path == "/" && r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html"):
			http.Redirect(w, r, console.Prefix+"/", http.StatusSeeOther)
		default:
			api.ServeHTTP(w, r)
		}
	})
}

func (s *service) listen() error {
	listener, err := net.Listen("tcp", s.cfg.Listen)
	if err != nil {
		return fmt.Errorf("can't listen on %s: %w", s.cfg.Listen, err)
	}
	if s.cfg.MetricsListen != "" {
		if s.figures, err = net.Listen("tcp", s.cfg.MetricsListen); err != nil {
			return errors.Join(fmt.Errorf("can't listen on %s: %w", s.cfg.MetricsListen, err), listener.Close())
		}
	}
	s.listener, s.address = listener, "http://"+listener.Addr().String()
	if s.certificate != nil {
		s.listener = tls.NewListener(listener, &tls.Config{GetCertificate: s.certificate.get, MinVersion: tls.VersionTLS12})
		s.address = "https://" + listener.Addr().String()
	}
	return nil
}

func (s *service) publicURL() string {
	if s.cfg.PublicURL != "" {
		return strings.TrimRight(s.cfg.PublicURL, "/")
	}
	return s.address
}

// openURL is the public address as somebody on this machine can open it: a service that listens on
// all addresses has none of them in its own.
func (s *service) openURL() string {
	address := s.publicURL()
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err != nil || !ip.IsUnspecified() {
		return address
	}
	u.Host = net.JoinHostPort("localhost", u.Port())
	return u.String()
}

// Bounds of one connection.
const (
	headerTimeout  = 10 * time.Second
	readTimeout    = 60 * time.Second
	writeTimeout   = 2 * time.Minute // a probe may take a minute, the longest timeout of a capability
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 64 << 10
)

// run serves until ctx ends, then stops gracefully. If the store fails it returns an error: the next
// start reads the true state from the disk.
func (s *service) run(ctx context.Context) error {
	callers := connlimit.New(connlimit.Room(descriptors()))
	server := &http.Server{
		Handler: callers.Handler(s.handler()), ConnState: callers.ConnState, ConnContext: callers.ConnContext, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes, DisableGeneralOptionsHandler: true, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(s.listener) }()
	if s.figures != nil {
		defer s.serveFigures()()
	}
	select {
	case err := <-ended:
		return err
	case <-s.store.Failed():
		_ = server.Close()
		return failure(s.opened)
	case <-s.lost():
		_ = server.Close()
		s.owed = s.cfg.StopGrace
		return lease.ErrLost
	case <-ctx.Done():
	}
	s.log.Info("stopping", "grace", s.cfg.StopGrace.String())
	return s.stop(server)
}

// failure returns why a store failed, if the store knows.
func failure(s store.Store) error {
	const failed = "the store failed and can't be trusted to write again; the disk is the truth at the next start"
	if knows, ok := s.(interface{ Failure() error }); ok {
		return fmt.Errorf("%s: %w", failed, knows.Failure())
	}
	return errors.New(failed)
}

// stop accepts no new work, waits for calls in flight and commits their outcomes. Reads are served
// meanwhile, unless other processes share the store and can serve them.
func (s *service) stop(server *http.Server) error {
	s.api.Stop()
	s.console.Stop()
	s.door.Stop()
	grace, cancel := context.WithTimeout(context.Background(), s.cfg.StopGrace)
	defer cancel()
	done := make(chan struct{})
	go func() { s.engine.Stop(s.cfg.StopGrace); close(done) }()
	if s.lease == nil {
		<-done
	}
	if server.Shutdown(grace) != nil {
		_ = server.Close()
	}
	<-done
	s.engine = nil
	return nil
}

func (s *service) close() error {
	for _, b := range slices.Backward(s.running) {
		b.Stop()
	}
	if s.hooks != nil {
		s.hooks.Close()
	}
	if s.engine != nil {
		s.engine.Stop(s.owed)
	}
	s.end() // cancels unsent mails, for which control would wait
	if s.control != nil {
		s.control.Close()
	}
	if s.outbound != nil {
		s.outbound.Close()
	}
	s.polling.Wait()
	if s.figures != nil {
		_ = s.figures.Close()
	}
	if s.listener != nil {
		_ = s.listener.Close() // already closed after a graceful stop
	}
	return errors.Join(s.store.Close(), s.exporter.Stop())
}

// newLog logs text on a terminal and JSON elsewhere, unless the settings choose a format.
func newLog(format string, w io.Writer) *slog.Logger {
	if format == "text" || format == "" && cli.Watched(w) {
		return slog.New(telemetry.Log(slog.NewTextHandler(w, nil)))
	}
	return slog.New(telemetry.Log(slog.NewJSONHandler(w, nil)))
}
