package drivers

import "time"

// StorageState is what a driver can read from a context and put into another: cookies and localStorage.
// sessionStorage and IndexedDB are not in it.
type StorageState struct {
	Cookies []Cookie        `json:"cookies"`
	Origins []OriginStorage `json:"origins"`
}

// OriginStorage is the localStorage of one origin.
type OriginStorage struct {
	Origin       string            `json:"origin"` // "https://shop.test"
	LocalStorage map[string]string `json:"localStorage"`
}

// A Cookie is one cookie of a jar.
type Cookie struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Domain is the host. With a leading dot the cookie also goes to sub-domains; without, it is host-only.
	Domain string `json:"domain"`
	Path   string `json:"path"`
	// Expires is the zero time for a session cookie.
	Expires  time.Time `json:"expires,omitzero"`
	Secure   bool      `json:"secure"`
	HTTPOnly bool      `json:"httpOnly"`
	// SameSite is "Strict", "Lax", "None" or empty for unset.
	SameSite string `json:"sameSite,omitempty"`
	// PartitionKey is the top-level site of a partitioned cookie; empty for others.
	PartitionKey string `json:"partitionKey,omitempty"`
}
