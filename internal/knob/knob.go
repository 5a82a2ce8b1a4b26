// Package knob changes settings of a host and undoes that: each kind of setting
// is a file and a row of the table. What a setting was is on disk before it is
// changed, so that whatever ends the process that changed it, the next one can
// put it back.
package knob
