// Package webhooks checks the signature of a webhook.
package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	secretForm    = regexp.MustCompile(`^whsec_((?:[A-Za-z0-9+/]{4}){8,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$`)
	timestampForm = regexp.MustCompile(`^[0-9]{1,12}$`)
)

// IsValid returns whether a webhook is genuine. The body has the bytes as they came, before they are parsed.
func IsValid(secret string, header http.Header, body []byte) bool {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	found := secretForm.FindStringSubmatch(secret)
	if found == nil || id == "" || !timestampForm.MatchString(timestamp) {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(found[1])
	seconds, _ := strconv.ParseInt(timestamp, 10, 64)
	if age := time.Now().Unix() - seconds; err != nil || age > 300 || age < -300 {
		return false
	}
	digest := hmac.New(sha256.New, key)
	digest.Write([]byte(id + "." + timestamp + "."))
	digest.Write(body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(digest.Sum(nil)))
	for _, signature := range strings.Split(header.Get("webhook-signature"), " ") {
		if hmac.Equal(expected, []byte(signature)) {
			return true
		}
	}
	return false
}
