package store

import (
	"crypto/rand"
	"encoding/binary"

	"netdelta/internal/result"
)

// NewID makes an id for a new run. No two processes get the same.
func NewID() string {
	var random [8]byte
	rand.Read(random[:]) // never fails: the program ends where there is no randomness
	return result.RunID(binary.LittleEndian.Uint64(random[:]))
}
