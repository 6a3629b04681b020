// Package identity keeps a persona, its session and its jar together for exactly as long as their lease lives.
package identity
