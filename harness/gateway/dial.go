package gateway

import (
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/provider"
)

// A dialer connects to provider gateways and, for direct routes, to origins. Both race the address families as RFC
// 8305 asks (net.Dialer, 300 ms).
type dialer struct {
	gateway net.Dialer // the operator chose the endpoint, and it may be private
	origin  net.Dialer
	hosts   map[string]string
}

func newDialer(cfg Config, g *guard) *dialer {
	return &dialer{
		gateway: net.Dialer{Timeout: cfg.DialTimeout},
		origin:  net.Dialer{Timeout: cfg.DialTimeout, Resolver: cfg.Resolver, ControlContext: g.control},
		hosts:   g.hosts,
	}
}

// dial opens the upstream leg of a connection to target: to the provider's gateway, or to the origin itself.
func (d *dialer) dial(ctx context.Context, route provider.Route, target string) (*net.TCPConn, *fault) {
	if route.Kind == provider.Connect {
		conn, err := d.gateway.DialContext(ctx, "tcp", route.Endpoint)
		if err != nil {
			return nil, &fault{
				class:  classify.GatewayUnreachable,
				detail: fmt.Sprintf("%s at %s: %s", route.Source, route.Endpoint, cause(err)),
			}
		}
		return asTCP(conn)
	}
	conn, err := d.origin.DialContext(ctx, "tcp", d.mapped(target))
	if err != nil {
		return nil, dialFault(err)
	}
	return asTCP(conn)
}

// mapped is target after Config.Hosts.
func (d *dialer) mapped(target string) string {
	host, port, err := net.SplitHostPort(target)
	if err != nil {
		return target
	}
	to, ok := d.hosts[strings.TrimSuffix(strings.ToLower(host), ".")]
	if !ok {
		return target
	}
	if _, _, err := net.SplitHostPort(to); err == nil {
		return to
	}
	return net.JoinHostPort(to, port)
}

func asTCP(conn net.Conn) (*net.TCPConn, *fault) {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil, &fault{class: classify.Connect, detail: fmt.Sprintf("dialled a %T", conn)}
	}
	return tcp, nil
}
