//go:build unix

package daemon

import (
	"context"
	"slices"

	"github.com/lictor-policy/lictor/internal/config"
	"github.com/lictor-policy/lictor/internal/netguard"
)

// presets looks at files that are none of lictor's: the presets of network.allow
// stand for the hosts in the user's configuration of package managers. A project
// was accepted with these hosts; with others the user has to be asked again.
type presets struct {
	places config.Places
	cache  netguard.PresetCache
}

func (p *presets) init(places config.Places) error {
	user, err := netguard.CurrentUser()
	if err != nil {
		return err
	}
	user.Home = places.Home
	p.places, p.cache.User = places, user
	return nil
}

// hosts returns the settings' network.allow and what it stands for now; nothing
// if the settings cannot be read, which whoever reads them all has to say.
func (p *presets) hosts() (allow, hosts []string) {
	text, err := config.ReadProjectFile(p.places.Root, config.FolderName+"/settings.json")
	if err != nil {
		return nil, nil
	}
	settings, err := config.ParseSettings(p.places.Settings, text)
	if err != nil || settings.Network == nil || len(settings.Network.Allow) == 0 {
		return nil, nil
	}
	hosts, err = p.cache.Hosts(context.Background(), settings.Network.Allow)
	if err != nil {
		return nil, nil
	}
	return settings.Network.Allow, hosts
}

// same reports whether the entries still stand for these hosts.
func (p *presets) same(allow, hosts []string) bool {
	if len(allow) == 0 {
		return true
	}
	now, err := p.cache.Hosts(context.Background(), allow)
	return err == nil && slices.Equal(now, hosts)
}
