package config

import (
	"context"
	"fmt"
	"path/filepath"
)

// RewriteRules runs write, which changes the project's permission files on the
// user's own word, and keeps the consent current: if everything that the project
// loosened before was accepted (or it loosened nothing), what it loosens after
// the write is accepted too. If something was open before, it stays open, and
// accepted is false: lictor does not consent to what the user never saw. The
// same holds if anything but the personal permission file changed meanwhile.
//
// Concurrent rewrites wait for each other, so that none takes another's rule for
// a stranger's change. Errors name the file; those of write are returned as
// they are, and then the consent is not touched.
func RewriteRules(ctx context.Context, p Places, o Options, write func() error) (accepted bool, err error) {
	if err := privateFolder(p.HomeDir); err != nil {
		return false, err
	}
	unlock, err := lockFile(filepath.Join(p.HomeDir, "rewrite.lock"))
	if err != nil {
		return false, err
	}
	defer unlock()
	before, err := currentRisk(ctx, p, o)
	if err != nil {
		return false, err
	}
	trust := o.Trust
	if trust == nil {
		trust = OpenTrust(p.Trust)
	}
	hash := before.Hash()
	pin, pinned := trust.Pin(p.Root)
	current := hash == "" || pinned && pin.Hash == hash
	if err := write(); err != nil {
		return false, err
	}
	after, err := currentRisk(ctx, p, o)
	if err != nil {
		return false, fmt.Errorf("the rule was written, but the project cannot be read afterwards: %w", err)
	}
	switch {
	case !current || before.exceptPersonal().Hash() != after.exceptPersonal().Hash():
		return false, nil
	case after.Hash() == hash:
		return true, nil
	case hash == "":
		accepted, err = true, trust.Accept(p.Root, after)
	default:
		accepted, err = trust.Repin(p.Root, hash, after)
	}
	if err != nil {
		return false, fmt.Errorf("the rule was written, but the consent could not be kept current: %w", err)
	}
	return accepted, nil
}

// exceptPersonal is the risk without the allow rules of the personal permission
// file, the only one that lictor writes rules to.
func (r Risk) exceptPersonal() Risk {
	var rest Risk
	for _, item := range r {
		if item.File != FolderName+"/permissions.local.json" || item.Key != "permissions.allow" {
			rest = append(rest, item)
		}
	}
	return rest
}

// currentRisk reads the project and lists what it loosens now.
func currentRisk(ctx context.Context, p Places, o Options) (Risk, error) {
	loaded, err := Read(ctx, p, o)
	if err != nil {
		return nil, err
	}
	return AssessRisk(ctx, o.Rego, loaded)
}
