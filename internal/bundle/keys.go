package bundle

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The algorithms that a bundle may be signed with.
const (
	AlgEdDSA = "EdDSA"
	AlgES256 = "ES256"
)

// keySuffix ends the name of a public key's file; what stands before it is the
// key's id.
const keySuffix = ".pem"

var keyIDPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

// Key is a public key that may sign bundles.
type Key struct {
	// ID is the name that a signature calls it by: its file without .pem.
	ID string
	// Alg is AlgEdDSA or AlgES256, as the key's type demands. What a signature says
	// about its algorithm does not count.
	Alg string
	// File is where it was read.
	File string

	pem string
}

// Keyring holds the public keys of the keys folders by id.
type Keyring struct {
	keys map[string]Key
	// folders are where they were read, to say where another one belongs.
	folders []string
}

// ReadKeys reads every <id>.pem of the folders: public keys in PKIX form, Ed25519
// or P-256. A folder that does not exist has no keys. It is an error if a file is
// no such key, if two folders have one id, or if a folder or file could be
// written by others than root and the user.
func ReadKeys(folders ...string) (*Keyring, error) {
	ring := &Keyring{keys: make(map[string]Key), folders: folders}
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("keys: %w", pathError(err))
		}
		if err := checkTrusted(folder); err != nil {
			return nil, fmt.Errorf("keys: %w", err)
		}
		for _, entry := range entries {
			if strings.HasPrefix(entry.Name(), ".") {
				continue
			}
			key, err := readKey(filepath.Join(folder, entry.Name()))
			if err != nil {
				return nil, fmt.Errorf("keys: %w", err)
			}
			if other, ok := ring.keys[key.ID]; ok {
				return nil, fmt.Errorf("keys: %s and %s have the same id %q; keep one", other.File, key.File, key.ID)
			}
			ring.keys[key.ID] = key
		}
	}
	return ring, nil
}

// IDs returns the ids of all keys, sorted.
func (k *Keyring) IDs() []string {
	var ids []string
	if k != nil {
		for id := range k.keys {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// wants says where the public key with an id belongs, "" if the ring was read from
// no folder.
func (k *Keyring) wants(id string) string {
	if k == nil || len(k.folders) == 0 || !keyIDPattern.MatchString(id) {
		return ""
	}
	return fmt.Sprintf("; if it is to be trusted, its public half belongs into %s", filepath.Join(k.folders[0], id+keySuffix))
}

// Get returns the key with an id.
func (k *Keyring) Get(id string) (Key, bool) {
	if k == nil {
		return Key{}, false
	}
	key, ok := k.keys[id]
	return key, ok
}

// Add puts a public key in PEM form into the ring.
func (k *Keyring) Add(id string, text []byte) error {
	key, err := parsePublicKey(id, text)
	if err != nil {
		return err
	}
	if k.keys == nil {
		k.keys = make(map[string]Key)
	}
	k.keys[id] = key
	return nil
}

func readKey(file string) (Key, error) {
	id, ok := strings.CutSuffix(filepath.Base(file), keySuffix)
	if !ok || !keyIDPattern.MatchString(id) {
		return Key{}, fmt.Errorf("%s: a keys folder holds files <id>.pem with public keys only; the id is letters, digits, ., _ and -", file)
	}
	if err := checkTrusted(file); err != nil {
		return Key{}, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return Key{}, pathError(err)
	}
	key, err := parsePublicKey(id, text)
	if err != nil {
		return Key{}, fmt.Errorf("%s: %w", file, err)
	}
	key.File = file
	return key, nil
}

func parsePublicKey(id string, text []byte) (Key, error) {
	block, rest := pem.Decode(text)
	switch {
	case block == nil:
		return Key{}, errors.New("no PEM block; a public key starts with -----BEGIN PUBLIC KEY-----")
	case strings.Contains(block.Type, "PRIVATE"):
		return Key{}, errors.New("this is a private key; it belongs to whoever signs and to no other machine")
	case block.Type != "PUBLIC KEY" || strings.TrimSpace(string(rest)) != "":
		return Key{}, fmt.Errorf("a PEM block %q; want exactly one PUBLIC KEY", block.Type)
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return Key{}, fmt.Errorf("the public key cannot be read: %w", err)
	}
	alg, err := algorithm(parsed)
	if err != nil {
		return Key{}, err
	}
	return Key{ID: id, Alg: alg, pem: string(pem.EncodeToMemory(block))}, nil
}

// algorithm returns the one algorithm that a public key may be used with.
func algorithm(key any) (string, error) {
	switch key := key.(type) {
	case ed25519.PublicKey:
		return AlgEdDSA, nil
	case *ecdsa.PublicKey:
		if key.Curve == elliptic.P256() {
			return AlgES256, nil
		}
	}
	return "", errors.New("neither an Ed25519 nor a P-256 key; make one with `lictor bundle keygen`")
}

// SigningKey is a private key that signs bundles.
type SigningKey struct {
	// ID names its public half on the machines that verify.
	ID string
	// Alg is AlgEdDSA or AlgES256.
	Alg string

	private crypto.Signer
}

// ReadSigningKey reads a private key in PKCS #8 PEM form. id is its name; empty
// means the file's name up to its first dot. It is an error if others than the
// user could read the file.
func ReadSigningKey(file, id string) (*SigningKey, error) {
	if id == "" {
		id, _, _ = strings.Cut(filepath.Base(file), ".")
	}
	if !keyIDPattern.MatchString(id) {
		return nil, fmt.Errorf("%s: the key id %q is refused: letters, digits, ., _ and -", file, id)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, pathError(err)
	}
	block, _ := pem.Decode(text)
	if block != nil && block.Type == "PUBLIC KEY" {
		return nil, fmt.Errorf("%s: this is the public key; its private half signs, %s.key%s if `lictor bundle keygen` made it", file, id, keySuffix)
	}
	if err := checkSecret(file); err != nil {
		return nil, err
	}
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, fmt.Errorf("%s: not one PEM block PRIVATE KEY (PKCS #8)", file)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: the private key cannot be read", file)
	}
	private, ok := parsed.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("%s: this key does not sign", file)
	}
	alg, err := algorithm(private.Public())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &SigningKey{ID: id, Alg: alg, private: private}, nil
}

// Keygen makes a key pair in the folder: <id>.key.pem, which signs and which
// only the user can read, and <id>.pem, which goes into the keys folder of every
// machine. alg is AlgEdDSA (the default) or AlgES256. It never overwrites a file.
// It returns both paths.
func Keygen(folder, id, alg string) (private, public string, err error) {
	if !keyIDPattern.MatchString(id) || strings.HasSuffix(id, ".key") {
		return "", "", fmt.Errorf("the key id %q is refused: letters, digits, ., _ and -", id)
	}
	var signer crypto.Signer
	switch alg {
	case AlgEdDSA, "":
		_, signer, err = ed25519.GenerateKey(rand.Reader)
	case AlgES256:
		signer, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	default:
		err = fmt.Errorf("algorithm %q: want %s or %s", alg, AlgEdDSA, AlgES256)
	}
	if err != nil {
		return "", "", err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(signer)
	if err != nil {
		return "", "", err
	}
	open, err := x509.MarshalPKIXPublicKey(signer.Public())
	if err != nil {
		return "", "", err
	}
	private = filepath.Join(folder, id+".key"+keySuffix)
	public = filepath.Join(folder, id+keySuffix)
	if _, err := os.Lstat(public); err == nil {
		return "", "", fmt.Errorf("%s is there already; take another id", public)
	}
	if err := writeNew(private, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600); err != nil {
		return "", "", err
	}
	if err := writeNew(public, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: open}), 0o644); err != nil {
		return "", "", err
	}
	return private, public, nil
}

// writeNew writes a file that must not exist yet.
func writeNew(name string, text []byte, mode fs.FileMode) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; it is not overwritten", name)
	}
	if err != nil {
		return pathError(err)
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}
