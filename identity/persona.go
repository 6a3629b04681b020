package identity

import "github.com/limpet-dev/limpet/drivers"

// ID is the key of a logical identity, such as "acct-7". It is not a secret.
type ID string

// A Persona is what pages can see of an identity and what must agree with its exit. It is consistency, not
// disguise: the browser still says that it is the browser it is. The zero value follows the lease's country.
type Persona struct {
	Country   string // ISO 3166 alpha-2 in upper case; the lease's when empty
	Locale    string // BCP 47; the country's when empty
	TimeZone  string // IANA; the country's when empty
	Viewport  drivers.Size
	Geo       *drivers.Geolocation
	Exclusive bool // at most one live job of this identity; always so on one machine
}
