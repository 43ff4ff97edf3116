// Package audit writes lictor's audit log and reads it back: one JSON line per
// verdict, per execution and per hook run, redacted before it is hashed, each
// line chained to the one before it over its exact bytes.
//
// # Files
//
// Every root has a folder, ~/.lictor/audit/<name>-<hash>/ (0700). In it every
// process writes its own segment (0600, 0400 once it is finished); commands
// that live for a moment share one segment under a lock. A segment starts with
// a header line and, if its writer could say goodbye, ends with an end line.
// The checkpoints of a log live beside it, in
// ~/.lictor/audit/checkpoints/<name>-<hash>/.
//
// # The line
//
//	{"v":1,"seq":N,"ts":"…","seg":"…","type":"…", … ,"prev":"<64 hex>","hash":"<64 hex>"}
//
// hash is always the last member: SHA-256 over the bytes of the line before
// `,"hash":`. prev is the hash of the line before, and seq is the line's number
// in its file, so that nothing has to be parsed to verify a log.
//
// # What it can and cannot show
//
// The chain alone shows a changed, removed, inserted or reordered line. It does
// not show a cut tail, a removed file, an older copy put back, or a log that
// was rewritten from its first line: for those there are checkpoints (a cut
// tail and a removed file), signatures (a rewritten log, if the key is out of
// the writer's reach) and anchors (the output of [Head], kept elsewhere). Who
// owns the account that writes the log owns everything on this machine that
// could speak against him; only an anchor elsewhere does not lie for him.
//
// # Writing
//
// [Open] gives a [Log]; [Log.Verdict], [Log.Intent], [Log.Result], [Log.Hook]
// and [Log.Record] append to it and are safe for concurrent use. In mandatory
// mode an error of Intent means that the call must not run.
//
// # Reading
//
// [Show], [Collect], [Calls] and [Export] read events, [Verify] checks a log
// and changes nothing, [Head] prints what to anchor elsewhere, [Ack] records
// that a person has seen a finding.
package audit
