package gateway

import (
	"log/slog"
	"net"
	"net/netip"
	"time"
)

// The defaults of Config and the fixed limits of a port.
const (
	// Linux repeats a SYN after 1, 3 and 7 s (tcp_syn_retries): three lost packets are forgiven.
	defaultDialTimeout = 8 * time.Second
	// Chromium gives up on a tunnel after 30 s. Dialling and answering must end before that, or the evidence of
	// who failed comes after the browser's own error.
	defaultAnswerTimeout  = 20 * time.Second
	defaultIdleTimeout    = 5 * time.Minute
	defaultDrainTimeout   = 30 * time.Second
	defaultMaxConnections = 256 // the most that Edge's MaxConnectionsPerProxy policy lets a browser open

	maxHeadBytes = 32 << 10 // of a request or an answer; Go's and nginx's own limits lie between 8 and 64 KiB
	bufferBytes  = 32 << 10 // of a relay: 0.5 CPU-s per GB; 256 KiB was no faster
	ringSize     = 256      // finished connections kept until Take; a heavy page makes about 100
	headTimeout  = 10 * time.Second
	// A reply on loopback is taken within milliseconds; what is not gone after this is not wanted.
	lingerTimeout = time.Second
	// A browser context that outlived its lease may still dial the old port: nobody gets that number for a while.
	portCoolOff = time.Minute
)

// Config configures a Gateway. The zero value is usable.
type Config struct {
	// AllowPrivate are networks that may be dialled although they are private, such as 127.0.0.0/8 for fixtures.
	// Nil refuses every private, loopback, link-local and metadata address, for every kind of route.
	AllowPrivate []netip.Prefix
	// Hosts maps host names to an address (or address:port) for direct routes, in place of DNS. A name in it may
	// be a single label or end in .local; its address is still judged by AllowPrivate.
	Hosts map[string]string
	// Resolver resolves names for direct routes. Nil means the system's.
	Resolver *net.Resolver
	// DialTimeout bounds name resolution and TCP connect. Zero means 8 s.
	DialTimeout time.Duration
	// AnswerTimeout bounds the provider's answer to CONNECT. Zero means 20 s.
	AnswerTimeout time.Duration
	// IdleTimeout ends a connection without traffic in either direction. Zero means 5 min.
	IdleTimeout time.Duration
	// DrainTimeout is IdleTimeout for a connection of which one side has ended. Zero means 30 s.
	DrainTimeout time.Duration
	// MaxConnections is how many connections one port carries at a time. Zero means 256.
	MaxConnections int
	// AnyPeer lets processes of other users use the ports.
	AnyPeer bool
	// Logger gets one debug line a connection. Nil discards.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	orTime := func(v *time.Duration, d time.Duration) {
		if *v == 0 {
			*v = d
		}
	}
	orTime(&c.DialTimeout, defaultDialTimeout)
	orTime(&c.AnswerTimeout, defaultAnswerTimeout)
	orTime(&c.IdleTimeout, defaultIdleTimeout)
	orTime(&c.DrainTimeout, defaultDrainTimeout)
	if c.MaxConnections == 0 {
		c.MaxConnections = defaultMaxConnections
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}
