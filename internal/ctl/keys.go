package ctl

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// Names in the two ends' certificates. They prove nothing; they tell another
// TLS service from an agent with another secret.
const (
	agentName  = "netdelta agent"
	clientName = "netdelta client"
)

// alpn names the protocol within TLS (RFC 7301).
const alpn = "netdelta-control"

var (
	errOtherKey  = errors.New("the other end's key comes from another secret")
	errOtherName = errors.New("the other end is not netdelta")
)

// keyPair derives one end's key pair from the secret: HKDF (RFC 5869) with
// SHA-256 gives the seed of an Ed25519 key (RFC 8032). The secret has its full
// entropy already, so that no slow hash is needed.
func keyPair(s Secret, name string) (ed25519.PrivateKey, error) {
	seed, err := hkdf.Key(sha256.New, []byte(s.Reveal()), []byte("netdelta control 1"), name, ed25519.SeedSize)
	if err != nil {
		return nil, fmt.Errorf("derive a key from the secret: %w", err)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// certificate wraps a key so that TLS can carry it. Nothing in it but the key
// is believed.
func certificate(key ed25519.PrivateKey, name string) (tls.Certificate, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Unix(0, 0),
		// "No well-defined expiration date" (RFC 5280, 4.1.2.5).
		NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// tlsConfig is TLS for the end of that name: version 1.3 only, and the other
// end must prove that it has the other key of the same secret. There is no
// authority and no host name to check, and no ticket that would stand for the
// proof later on.
func tlsConfig(s Secret, own, other string) (*tls.Config, error) {
	key, err := keyPair(s, own)
	if err != nil {
		return nil, err
	}
	cert, err := certificate(key, own)
	if err != nil {
		return nil, err
	}
	peer, err := keyPair(s, other)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		Certificates:           []tls.Certificate{cert},
		MinVersion:             tls.VersionTLS13,
		NextProtos:             []string{alpn},
		SessionTicketsDisabled: true,
		ClientAuth:             tls.RequireAnyClientCert,
		InsecureSkipVerify:     true, // VerifyConnection does it
		VerifyConnection:       pin(peer.Public().(ed25519.PublicKey), other),
	}, nil
}

// pin accepts a peer that has the key. TLS has it prove that.
func pin(key ed25519.PublicKey, name string) func(tls.ConnectionState) error {
	return func(c tls.ConnectionState) error {
		if len(c.PeerCertificates) == 0 {
			return errOtherName
		}
		cert := c.PeerCertificates[0]
		got, ok := cert.PublicKey.(ed25519.PublicKey)
		switch {
		case ok && bytes.Equal(got, key):
			return nil
		case ok && cert.Subject.CommonName == name:
			return errOtherKey
		}
		return errOtherName
	}
}
