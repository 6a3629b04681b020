package jobfile

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"github.com/limpet-dev/limpet/harness/strict"
)

// Allows reports whether the jobs may go to an address: its host, or a domain above it, is one of Origins.
func (s Scope) Allows(u *url.URL) bool {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	return slices.ContainsFunc(s.Origins, func(o string) bool {
		name, only := o, ""
		if h, p, err := net.SplitHostPort(o); err == nil {
			name, only = h, p
		}
		name = strings.Trim(name, "[]")
		return (only == "" || only == port) && (host == name || !isAddress(name) && strings.HasSuffix(host, "."+name))
	})
}

// scope reads the scope of a file and holds its jobs to it.
func (l *loader) scope(root *strict.Node, jobs []Job) {
	v := variables{env: l.env, faults: &l.faults}
	n := root.Get("scope").Rewrite(v.fill)
	s := Scope{Owner: strings.TrimSpace(n.Get("owner").Text()), Basis: strings.TrimSpace(n.Get("basis").Text()), Expires: l.expiry(n.Get("expires"))}
	for _, o := range n.Get("origins").Items() {
		s.Origins = append(s.Origins, l.host(o))
	}
	explicit := len(s.Origins) > 0
	if !explicit {
		s.Origins = firstHosts(jobs)
	}
	place := root
	if n != nil {
		place = n
	}
	if foreign := slices.IndexFunc(s.Origins, func(o string) bool { return !isLocal(o) }); foreign >= 0 && (s.Owner == "" || s.Basis == "") {
		l.faults.AddKeyf(place, "scope: { owner: who answers for the jobs, basis: on what ground they may go there }",
			"%s is no local test site: scope.owner and scope.basis must say who answers for the jobs, and why they may", s.Origins[foreign])
	}
	for i := range jobs {
		jobs[i].Scope = s
		if jobs[i].Robots == "ignore" && s.Owner == "" {
			l.faults.AddKeyf(place, "add scope.owner: somebody must answer for it", "the job %q ignores robots.txt, and scope names no owner", jobs[i].ID)
		}
	}
	hint := "add it to scope.origins, if the jobs may go there"
	if !explicit {
		hint = "without scope.origins the jobs stay on the hosts of their first steps"
	}
	for _, g := range l.gotos {
		if !s.Allows(g.to) {
			l.faults.Addf(g.node, hint, "%s is outside the scope of these jobs", g.to.Hostname())
		}
	}
	l.gotos = nil
}

// A placedURL is where a goto leads, and where the file says so.
type placedURL struct {
	to   *url.URL
	node *strict.Node
}

// expiry is the end of an authorization: a whole last day, or a point in time.
func (l *loader) expiry(n *strict.Node) time.Time {
	if n == nil {
		return time.Time{}
	}
	end, err := time.Parse(time.RFC3339, n.Text())
	if err != nil {
		day, err := time.Parse(time.DateOnly, n.Text())
		if err != nil {
			l.faults.Addf(n, "", "%q is not a date such as 2027-03-31, nor a time such as 2027-03-31T12:00:00Z", n.Text())
			return time.Time{}
		}
		end = day.AddDate(0, 0, 1) // UTC: a date without a zone must end somewhere
	}
	if !l.now.Before(end) {
		l.faults.Addf(n, "have it renewed, then change the date", "the authorization of these jobs ended on %s", n.Text())
	}
	return end
}

// host is a scope's origin: a host name or address, with a port or without.
func (l *loader) host(n *strict.Node) string {
	text := strings.ToLower(n.Text())
	u, err := url.Parse("//" + text)
	if err != nil || u.Host != text || u.Hostname() == "" || strings.ContainsAny(text, "*@ ") {
		l.faults.Addf(n, "no scheme, no path, no star: a name covers its sub-domains", "%q is not a host name such as shop.example", n.Text())
		return text
	}
	ascii, ok := asciiHost(u.Hostname())
	if !ok {
		l.faults.Addf(n, "", "%q is not a host name such as shop.example", n.Text())
		return text
	}
	return strings.Replace(text, u.Hostname(), ascii, 1)
}

// address is the absolute http or https address of a goto.
func (l *loader) address(n *strict.Node) string {
	if n == nil {
		return ""
	}
	u, problem := parseAddress(n.Text())
	if problem != "" {
		l.faults.Addf(n, "write the whole address: https://shop.example/product/7", "goto: %s", problem)
		return ""
	}
	l.gotos = append(l.gotos, placedURL{to: u, node: n})
	return u.String()
}

// parseAddress says in words what is wrong with an address, and does not repeat it: it may hold a credential.
func parseAddress(text string) (*url.URL, string) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, "this is not an address"
	case u.User != nil:
		return nil, "an address must not carry a user name or a password"
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, "this is not an absolute http or https address"
	}
	ascii, ok := asciiHost(u.Hostname())
	if !ok {
		return nil, "the host name cannot be right"
	}
	if ascii != u.Hostname() {
		u.Host = strings.Replace(u.Host, u.Hostname(), ascii, 1)
	}
	return u, ""
}

// asciiHost is a host name as DNS has it, so that names compare whatever script they are written in.
func asciiHost(host string) (string, bool) {
	if isAddress(host) {
		return host, true
	}
	ascii, err := idna.New(idna.MapForLookup(), idna.BidiRule()).ToASCII(host)
	return ascii, err == nil && ascii != ""
}

func firstHosts(jobs []Job) []string {
	var hosts []string
	for _, j := range jobs {
		if len(j.Steps) == 0 {
			continue
		}
		if u, err := url.Parse(j.Steps[0].URL); err == nil && u.Hostname() != "" && !slices.Contains(hosts, u.Hostname()) {
			hosts = append(hosts, u.Hostname())
		}
	}
	return hosts
}

// originOf is the site that limits are kept for: the registrable domain, an address as it is, and on this machine
// the port too, because there each port is a site of its own.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	if ip, err := netip.ParseAddr(host); err == nil && !ip.IsLoopback() {
		return host
	} else if err == nil || host == "localhost" {
		return strings.ToLower(u.Host)
	}
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return domain
	}
	return host
}

// isLocal reports whether a scope's origin is this machine or a name that is nobody's: RFC 6761, .test and .localhost.
func isLocal(origin string) bool {
	host := origin
	if h, _, err := net.SplitHostPort(origin); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().IsLoopback()
	}
	for _, top := range []string{"localhost", "test"} {
		if host == top || strings.HasSuffix(host, "."+top) {
			return true
		}
	}
	return false
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil
}
