// Package checkpoint has the texts by which a log's head is shown to others: checkpoints (C2SP
// tlog-checkpoint) as signed notes, the cosignatures of witnesses (C2SP tlog-cosignature, Ed25519),
// and the submission of a checkpoint to a witness (C2SP tlog-witness). It reads no clock and does
// no I/O.
package checkpoint
