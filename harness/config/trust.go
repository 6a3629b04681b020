package config

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"

	"github.com/limpet-dev/limpet/harness/strict"
)

// Roots are the authorities that our own requests trust: the system's and TrustCA. It is nil, which means the
// system's, without TrustCA.
func (b Browser) Roots() (*x509.CertPool, error) {
	if b.TrustCA == "" {
		return nil, nil //nolint:nilnil // nil is crypto/tls's own word for the system's authorities
	}
	own, err := b.authorities()
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // a slim container has none
	}
	for _, c := range own {
		pool.AddCert(c)
	}
	return pool, nil
}

// SPKI are the hashes of public keys that the browser trusts: TrustSPKI and the key of every certificate of TrustCA.
func (b Browser) SPKI() ([]string, error) {
	own, err := b.authorities()
	if err != nil {
		return nil, err
	}
	hashes := append([]string(nil), b.TrustSPKI...)
	for _, c := range own {
		sum := sha256.Sum256(c.RawSubjectPublicKeyInfo)
		hashes = append(hashes, base64.StdEncoding.EncodeToString(sum[:]))
	}
	return hashes, nil
}

// authorities are the certificates of TrustCA.
func (b Browser) authorities() ([]*x509.Certificate, error) {
	if b.TrustCA == "" {
		return nil, nil
	}
	data, err := strict.ReadFile(b.TrustCA)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", b.TrustCA, strict.Reason(err))
	}
	var certs []*x509.Certificate
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s: a certificate in it cannot be read", b.TrustCA)
		}
		certs = append(certs, c)
	}
	if len(certs) == 0 {
		return nil, fmt.Errorf("%s: there is no PEM certificate in it", b.TrustCA)
	}
	return certs, nil
}

// isSPKI reports whether s is a SHA-256 hash in base64.
func isSPKI(s string) bool {
	raw, err := base64.StdEncoding.DecodeString(s)
	return err == nil && len(raw) == sha256.Size
}
