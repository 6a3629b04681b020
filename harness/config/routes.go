package config

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
	"golang.org/x/text/currency"
	"golang.org/x/text/language"

	"github.com/limpet-dev/limpet/harness/provider"
	"github.com/limpet-dev/limpet/harness/strict"
)

// provider reads one entry of providers.
func (l *loader) provider(n *strict.Node) ProviderConfig {
	credential := n.Get("credential")
	p := ProviderConfig{
		Name:       l.name(n.Get("name")),
		Use:        n.Get("use").Text(),
		Username:   l.secret(credential.Get("username")),
		Password:   l.secret(credential.Get("password")),
		Next:       l.unresolved(credential.Get("next")),
		Endpoints:  n.Get("endpoints").Texts(),
		PricePerGB: l.price(n.Get("price_per_gb")),
	}
	for _, c := range n.Get("countries").Items() {
		p.Countries = append(p.Countries, l.country(c))
	}
	if p.Use == "" {
		p.Definition = l.definition(n)
	} else {
		l.use(n, p.Use)
	}
	if n.Faulty() {
		return p
	}
	if _, err := p.Provider(); err != nil {
		l.faults.Addf(n, "", "%s", sentence(err))
	}
	return p
}

// use checks an entry that takes its definition from the catalogue.
func (l *loader) use(n *strict.Node, name string) {
	var known []string
	for _, d := range provider.Catalogue() {
		known = append(known, d.Name)
	}
	if _, err := provider.Lookup(name); err != nil {
		l.faults.Addf(n.Get("use"), strict.DidYouMean(name, known), "%q is not in the catalogue of providers", name)
	}
	for _, v := range n.Items() {
		if !overridable(v.Key()) {
			l.faults.AddKeyf(v, "leave use out to spell a product out", "%s comes from the catalogue's %s", v.Key(), name)
		}
	}
}

// overridable reports whether a key goes with use: the rest describes the product, which use names.
func overridable(key string) bool {
	switch key {
	case "name", "use", "credential", "endpoints", "countries", "price_per_gb":
		return true
	}
	return strings.HasPrefix(key, "x-")
}

// definition reads a product that is spelt out in the entry itself.
func (l *loader) definition(n *strict.Node) *provider.Definition {
	if n.Get("kind") == nil {
		l.faults.AddKeyf(n, "add use: and an entry of the catalogue, or kind: connect and the product's grammar", "nothing says which product this provider is")
		return nil
	}
	own := n
	for _, key := range []string{"use", "credential", "price_per_gb"} {
		own = own.Without(key)
	}
	own = own.Rewrite(func(v *strict.Node) string {
		if v.Key() == "max_ttl" || v.Key() == "idle_limit" {
			return l.duration(v).String() // as the YAML reader knows it, which has no days
		}
		return v.Text()
	})
	text, err := json.Marshal(own.Value())
	if err != nil {
		l.faults.Addf(n, "", "it cannot be read: %v", err)
		return nil
	}
	var def provider.Definition
	if err := yaml.Load(text, &def); err != nil { // JSON is YAML
		l.faults.Addf(n, "", "this is not the definition of a provider: %v", sentence(err))
		return nil
	}
	return &def
}

// exit reads one entry of exits.
func (l *loader) exit(n *strict.Node) Exit {
	credential := n.Get("credential")
	e := Exit{
		Name:     l.name(n.Get("name")),
		Direct:   n.Get("direct").Bool(),
		Country:  l.country(n.Get("country")),
		Username: l.secret(credential.Get("username")),
		Password: l.secret(credential.Get("password")),
	}
	address := n.Get("url")
	switch {
	case e.Direct && address != nil:
		l.faults.AddKeyf(address, "keep url, or direct: true", "a direct exit has no proxy")
	case e.Direct && credential != nil:
		l.faults.AddKeyf(credential, "", "a direct exit has nothing to log in to")
	case address != nil:
		l.address(&e, address)
	case !e.Direct:
		l.faults.AddKeyf(n, "add url: http://host:port of a proxy, or direct: true", "nothing says where this exit leaves")
	}
	return e
}

// address reads the proxy of an exit. A credential in it is refused unless the whole address is a reference.
func (l *loader) address(e *Exit, n *strict.Node) {
	text := n.Text()
	scheme, _, _ := strings.Cut(text, ":")
	referred := scheme == "env" || scheme == "file" || scheme == "exec"
	if referred {
		text = l.secret(n).Reveal()
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		l.faults.Addf(n, "", "url: this is not the address of a proxy, such as http://127.0.0.1:3128")
		return
	}
	if u.User != nil {
		if !referred {
			l.faults.Addf(n, "write credential: { username: env:…, password: env:… } beside url, or the whole url as a reference",
				"url: an address in this file must not carry a credential")
			return
		}
		password, _ := u.User.Password()
		e.Username, e.Password = provider.NewSecret(u.User.Username()), provider.NewSecret(password)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5":
		l.faults.Addf(n, "", "url: a proxy is spoken to by http, https or socks5")
	case u.Port() == "":
		l.faults.Addf(n, "write it, even if it is the usual one: http://127.0.0.1:3128", "url: the port is missing")
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "":
		l.faults.Addf(n, "", "url: the address of a proxy ends with its port")
	}
	e.Protocol, e.Endpoint = u.Scheme, u.Host
}

// name is the name of a provider or an exit: they share one space, because an intent names either.
func (l *loader) name(n *strict.Node) string {
	if n == nil {
		return ""
	}
	switch {
	case l.names[n.Text()]:
		l.faults.Addf(n, "providers and exits share their names", "the name %q is already used", n.Text())
	case strings.ContainsAny(n.Text(), "/ \t"):
		l.faults.Addf(n, "", "%q: a name has no slash and no space", n.Text())
	}
	l.names[n.Text()] = true
	return n.Text()
}

func (l *loader) country(n *strict.Node) string {
	if n == nil {
		return ""
	}
	if r, err := language.ParseRegion(n.Text()); err != nil || !r.IsCountry() || r.Canonicalize().String() != n.Text() {
		l.faults.Addf(n, "", "%q is not a country of two capital letters, such as DE", n.Text())
	}
	return n.Text()
}

func (l *loader) price(n *strict.Node) Price {
	if n == nil {
		return Price{}
	}
	amount, code, _ := strings.Cut(n.Text(), " ")
	v, err := strconv.ParseFloat(amount, 64)
	if unit, unknown := currency.ParseISO(code); err != nil || v < 0 || unknown != nil || unit.String() != code {
		l.faults.Addf(n, "", "%q is not a price such as 4.00 USD", n.Text())
	}
	return Price{Amount: v, Currency: code}
}

// sentence puts an error of several lines on one.
func sentence(err error) string {
	return strings.Join(strings.FieldsFunc(fmt.Sprint(err), func(r rune) bool { return r == '\n' }), "; ")
}
