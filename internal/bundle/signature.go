package bundle

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"

	opabundle "github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/lictor-policy/lictor/internal/eval"
)

// scope is the audience that a signature must name, so that a bundle signed for
// another program does not count here.
const scope = "lictor/managed"

// signaturesDocument is .signatures.json.
type signaturesDocument struct {
	Signatures []string `json:"signatures"`
	Plugin     string   `json:"plugin,omitempty"`
}

// readSignature returns the id of the key that the bundle says it was signed
// with, and the token. They prove nothing yet.
func readSignature(text []byte) (id, token string, err error) {
	if err := checkJSON(text); err != nil {
		return "", "", err
	}
	var document signaturesDocument
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&document); err != nil {
		return "", "", errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if document.Plugin != "" && document.Plugin != "_default" {
		return "", "", fmt.Errorf("signed by the plugin %q, which is not known here", document.Plugin)
	}
	if len(document.Signatures) != 1 {
		return "", "", fmt.Errorf("%d signatures, want exactly one", len(document.Signatures))
	}
	pieces := strings.Split(document.Signatures[0], ".")
	if len(pieces) != 3 {
		return "", "", errors.New("the signature is no JWT")
	}
	// `opa sign` writes the id into the claims, where it once belonged.
	var header, claims struct {
		KID   string `json:"kid"`
		KeyID string `json:"keyid"`
	}
	for i, into := range []any{&header, &claims} {
		raw, err := base64.RawURLEncoding.DecodeString(pieces[i])
		if err != nil || json.Unmarshal(raw, into) != nil {
			return "", "", errors.New("the signature is no JWT")
		}
	}
	if id := cmp.Or(header.KID, claims.KeyID); id != "" {
		return id, document.Signatures[0], nil
	}
	return "", "", errors.New("the signature names no key; sign with `lictor bundle sign`, or give `opa sign` a claims file with keyid and scope")
}

// verify checks signature, scope and the digest of every file, with the key that
// the signature names and the algorithm that this key's type demands.
func verify(f files, ring *Keyring) (Key, error) {
	id, token, err := readSignature(f[signaturesFile])
	if err != nil {
		return Key{}, err
	}
	key, ok := ring.Get(id)
	if !ok {
		return Key{}, fmt.Errorf("signed with the key %q, which is not in the keys folder (known: %s)%s", id, orNone(ring.IDs()), ring.wants(id))
	}
	config := opabundle.NewVerificationConfig(map[string]*opabundle.KeyConfig{
		id: {Key: key.pem, Algorithm: key.Alg, Scope: scope},
	}, id, scope, nil)
	digests, err := opabundle.VerifyBundleSignature(opabundle.SignaturesConfig{Signatures: []string{token}}, config)
	if err != nil {
		return Key{}, verifyError(err)
	}
	for _, name := range f.names() {
		if name == signaturesFile {
			continue
		}
		// It takes what it verified from the digests.
		if err := opabundle.VerifyBundleFile(name, *bytes.NewBuffer(f[name]), digests); err != nil {
			return Key{}, verifyError(err)
		}
	}
	if missing := sortedKeys(digests); len(missing) > 0 {
		return Key{}, fmt.Errorf("%s was signed and is not there: a file was taken away after it was signed", strings.Join(missing, ", "))
	}
	return key, nil
}

// readOPA reads the files with OPA's own bundle reader.
func readOPA(f files) (opabundle.Bundle, error) {
	packed, err := f.archive()
	if err != nil {
		return opabundle.Bundle{}, err
	}
	return opabundle.NewReader(bytes.NewReader(packed)).
		WithSizeLimitBytes(maxFileSize + 1).
		WithCapabilities(eval.Capabilities()).
		WithSkipBundleVerification(true).
		Read()
}

// verifyError puts what a person has to do behind OPA's words.
func verifyError(err error) error {
	text := err.Error()
	switch {
	case strings.Contains(text, "scope mismatch"):
		return fmt.Errorf("%w: it was not signed for %s", err, scope)
	case strings.Contains(text, "digest mismatch"):
		return fmt.Errorf("%w: the file was changed after it was signed", err)
	case strings.Contains(text, "not included in bundle signature"):
		return fmt.Errorf("%w: the file was added after it was signed", err)
	}
	return err
}

// sign returns the text of .signatures.json for the files.
func sign(f files, key *SigningKey) ([]byte, error) {
	hasher, err := opabundle.NewSignatureHasher(opabundle.SHA256)
	if err != nil {
		return nil, err
	}
	type digest struct {
		Name      string `json:"name"`
		Hash      string `json:"hash"`
		Algorithm string `json:"algorithm"`
	}
	claims := struct {
		Files []digest `json:"files"`
		Scope string   `json:"scope"`
		KeyID string   `json:"keyid"`
	}{Scope: scope, KeyID: key.ID}
	for _, name := range f.names() {
		if name == signaturesFile {
			continue
		}
		var content any = f[name]
		// What a structured file means is signed, not its bytes, as OPA does it.
		if opabundle.IsStructuredDoc(name) {
			if err := util.Unmarshal(f[name], &content); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		sum, err := hasher.HashFile(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		claims.Files = append(claims.Files, digest{name, hex.EncodeToString(sum), string(opabundle.SHA256)})
	}
	token, err := key.token(claims)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(signaturesDocument{Signatures: []string{token}}, "", "  ")
	return append(text, '\n'), err
}

// token makes a compact JWT.
func (k *SigningKey) token(claims any) (string, error) {
	header, err := json.Marshal(map[string]string{"alg": k.Alg, "kid": k.ID, "typ": "JWT"})
	if err != nil {
		return "", err
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode(header) + "." + encode(payload)
	var signature []byte
	if k.Alg == AlgEdDSA {
		signature, err = k.private.Sign(rand.Reader, []byte(signed), crypto.Hash(0))
	} else {
		signature, err = signES256(k.private, []byte(signed))
	}
	if err != nil {
		return "", fmt.Errorf("signing: %w", err)
	}
	return signed + "." + encode(signature), nil
}

// signES256 signs as JWS wants it: both numbers, 32 bytes each.
func signES256(signer crypto.Signer, text []byte) ([]byte, error) {
	private, ok := signer.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("no P-256 key")
	}
	sum := sha256.Sum256(text)
	r, s, err := ecdsa.Sign(rand.Reader, private, sum[:])
	if err != nil {
		return nil, err
	}
	out := make([]byte, 64)
	for i, number := range []*big.Int{r, s} {
		number.FillBytes(out[32*i : 32*(i+1)])
	}
	return out, nil
}

func orNone(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}
