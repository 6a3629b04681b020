package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/limpet-dev/limpet/harness/strict"
)

// DefaultFile is the configuration that is read if nobody names one.
const DefaultFile = "limpet.yaml"

// Options say what to load and where secrets come from. The zero value loads DefaultFile if it is there.
type Options struct {
	// File is the configuration. Empty means DefaultFile, and then it is no fault if there is none.
	File string
	// Env looks up env: references. Nil means that nothing is set.
	Env func(name string) (value string, ok bool)
	// ReadFile reads file: references. Nil means strict.ReadFile.
	ReadFile func(name string) ([]byte, error)
	// Run answers the output of the command of an exec: reference. Nil means that it is run, for 10 s at most.
	Run func(ctx context.Context, argv []string) ([]byte, error)
}

// Load reads a configuration and resolves its secrets. The error is strict.Errors and holds every fault.
func Load(ctx context.Context, o Options) (Config, error) {
	file := o.File
	if file == "" {
		file = DefaultFile
	}
	data, err := strict.ReadFile(file)
	if o.File == "" && errors.Is(err, fs.ErrNotExist) {
		return Default(), nil
	}
	if err != nil {
		return Config{}, strict.Errors{{File: file, Message: strict.Reason(err)}}
	}
	return Parse(ctx, file, data, o)
}

// Parse is Load for a configuration in memory. File is its name in faults, and where relative paths begin.
func Parse(ctx context.Context, file string, data []byte, o Options) (Config, error) {
	root, err := strict.Parse(file, data)
	if err != nil {
		return Config{}, err
	}
	l := loader{ctx: ctx, options: o, folder: filepath.Dir(file), names: map[string]bool{}, config: Default()}
	l.config.File = file
	compiledSchema().Check(root, &l.faults)
	l.read(root) //nolint:contextcheck // the loader carries ctx to the commands of exec:
	if err := l.faults.Err(); err != nil {
		return Config{}, err
	}
	return l.config, nil
}

// A loader reads one configuration.
type loader struct {
	ctx     context.Context //nolint:containedctx // lives for one call of Parse; only commands of exec: need it
	options Options
	folder  string
	faults  strict.Faults
	names   map[string]bool // of providers and exits
	config  Config
}

func (l *loader) read(root *strict.Node) {
	c := &l.config
	l.engine(root.Get("engine"))
	l.browser(root.Get("browser"))
	for _, n := range root.Get("providers").Items() {
		c.Providers = append(c.Providers, l.provider(n))
	}
	if root.Get("providers") != nil || root.Get("exits") != nil {
		c.Exits = nil
	}
	for _, n := range root.Get("exits").Items() {
		c.Exits = append(c.Exits, l.exit(n))
	}
	for _, n := range root.Get("origins").Items() {
		l.origin(n)
	}
	for _, n := range root.Get("allow_private").Items() {
		l.private(n)
	}
	c.Classify.InterstitialWait = l.duration(root.Get("classify").Get("interstitial_wait"))
	for _, n := range root.Get("classify").Get("rules").Items() {
		l.rules(n)
	}
	l.later(root)
}

func (l *loader) engine(n *strict.Node) {
	e := &l.config.Engine
	if folder := n.Get("embedded"); folder != nil {
		e.Embedded = l.path(folder.Text())
	}
	cluster := n.Get("nats")
	if cluster == nil {
		return
	}
	if n.Get("embedded") != nil {
		l.faults.AddKeyf(cluster, "keep one of them", "the engine is embedded or a cluster, not both")
	}
	for address := range strings.SplitSeq(cluster.Text(), ",") {
		e.NATS = append(e.NATS, strings.TrimSpace(address))
	}
	e.Creds = l.unresolved(n.Get("creds"))
}

func (l *loader) browser(n *strict.Node) {
	b := &l.config.Browser
	if driver := n.Get("driver"); driver != nil {
		b.Driver = driver.Text()
	}
	b.Executable = n.Get("executable").Text()
	b.Concurrency = n.Get("concurrency").Int()
	b.Recycle = Recycle{Jobs: n.Get("recycle").Get("jobs").Int(), Age: l.duration(n.Get("recycle").Get("age"))}
	b.Sandbox = n.Get("sandbox").Bool()
	b.TrustSPKI = n.Get("trust_spki").Texts()
	if folder := n.Get("playwright"); folder != nil {
		b.Playwright = l.path(folder.Text())
	}
	for _, hash := range n.Get("trust_spki").Items() {
		if !isSPKI(hash.Text()) {
			l.faults.Addf(hash, "the hash of a public key has 44 characters and ends in =", "%q is not a base64 SHA-256 hash", hash.Text())
		}
	}
	if ca := n.Get("trust_ca"); ca != nil {
		b.TrustCA = l.path(ca.Text())
		if _, err := b.authorities(); err != nil {
			l.faults.Addf(ca, "the path is relative to the configuration", "%v", err)
		}
	}
}

func (l *loader) origin(n *strict.Node) {
	perSecond, ok := parseRate(n.Get("rate").Text())
	if n.Get("rate") != nil && !ok {
		l.faults.Addf(n.Get("rate"), "", "%q is not a rate such as 2/s, 30/min or 500/h", n.Get("rate").Text())
	}
	if name := n.Key(); name != strings.ToLower(name) || strings.ContainsAny(name, "/*@ ") || name == "" {
		l.faults.AddKeyf(n, "a registrable domain in lower case, such as shop.example", "%q is not the name of an origin", name)
	}
	l.config.Origins[n.Key()] = Origin{
		PerSecond: perSecond, Burst: n.Get("burst").Int(), Concurrency: n.Get("concurrency").Int(), Robots: n.Get("robots").Text(),
	}
}

// parseRate reads 30/min as half a job a second.
func parseRate(text string) (perSecond float64, ok bool) {
	count, unit, _ := strings.Cut(text, "/")
	seconds := map[string]float64{"s": 1, "min": 60, "h": 3600}[unit]
	v, err := strconv.ParseFloat(count, 64)
	if err != nil || v <= 0 || seconds == 0 {
		return 0, false
	}
	return v / seconds, true
}

func (l *loader) private(n *strict.Node) {
	prefix, err := netip.ParsePrefix(n.Text())
	if err != nil {
		l.faults.Addf(n, "", "%q is not a network such as 127.0.0.0/8", n.Text())
		return
	}
	l.config.AllowPrivate = append(l.config.AllowPrivate, prefix.Masked())
}

// rules finds the files of a pattern. A pattern without a file is a fault: whoever wrote it expects it to work.
func (l *loader) rules(n *strict.Node) {
	files, err := filepath.Glob(l.path(n.Text()))
	if err != nil || len(files) == 0 {
		l.faults.Addf(n, "the path is relative to the configuration; * stands for any name", "no file is called %s", n.Text())
		return
	}
	slices.Sort(files)
	l.config.Classify.Rules = append(l.config.Classify.Rules, files...)
}

// later keeps what other parts of Limpet will act on, and remembers to say that this one does not.
func (l *loader) later(root *strict.Node) {
	c := &l.config
	prometheus, otlp := root.Get("telemetry").Get("prometheus"), root.Get("telemetry").Get("otlp")
	listen := root.Get("console").Get("listen")
	c.Telemetry = Telemetry{Prometheus: prometheus.Text(), OTLP: otlp.Text()}
	c.Console = Console{Listen: listen.Text()}
	for _, n := range []*strict.Node{prometheus, listen} {
		if _, _, err := net.SplitHostPort(n.Text()); n != nil && err != nil {
			l.faults.Addf(n, "", "%q is not host:port, such as 127.0.0.1:8700", n.Text())
		}
	}
	if len(c.Engine.NATS) > 0 {
		c.ignored = append(c.ignored, "engine.nats")
	}
	for _, p := range c.Providers {
		if p.Next != "" {
			c.ignored = append(c.ignored, fmt.Sprintf("credential.next of provider %s", p.Name))
		}
	}
	for _, e := range c.Exits {
		if e.Protocol == "socks5" || e.Protocol == "https" {
			c.ignored = append(c.ignored, fmt.Sprintf("exit %s (%s)", e.Name, e.Protocol))
		}
	}
	for key, n := range map[string]*strict.Node{"telemetry.prometheus": prometheus, "telemetry.otlp": otlp, "console.listen": listen} {
		if n != nil {
			c.ignored = append(c.ignored, key)
		}
	}
	slices.Sort(c.ignored)
}

func (l *loader) duration(n *strict.Node) time.Duration {
	if n == nil {
		return 0
	}
	d, ok := strict.ParseDuration(n.Text())
	if !ok || d == 0 {
		l.faults.Addf(n, "", "%q is not a duration with its unit, such as 500ms, 90s, 10m or 1h", n.Text())
	}
	return d
}

// path is a path of the file, which is relative to the file.
func (l *loader) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(l.folder, p)
}
