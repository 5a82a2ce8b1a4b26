// Package proto holds the control protocol's definition, control.proto; the Go
// code that is generated from it is in the directories below.
package proto

//go:generate protoc -I .. --go_out=.. --go_opt=module=netdelta --connect-go_out=.. --connect-go_opt=module=netdelta ../proto/control.proto
