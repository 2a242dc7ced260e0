// Check the signature of a webhook. It needs Java 8 and no library.
import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public final class Webhooks {
    private static final Pattern SECRET =
        Pattern.compile("whsec_((?:[A-Za-z0-9+/]{4}){8,}+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)");

    /** Return whether a webhook is genuine. `body` has the bytes as they came, before they are parsed. */
    public static boolean isValid(String secret, Map<String, String> headers, byte[] body)
            throws GeneralSecurityException {
        String id = headers.getOrDefault("webhook-id", "");
        String timestamp = headers.getOrDefault("webhook-timestamp", "");
        Matcher key = SECRET.matcher(secret == null ? "" : secret);
        if (!key.matches() || id.isEmpty() || !timestamp.matches("[0-9]{1,12}")) {
            return false;
        }
        if (Math.abs(Instant.now().getEpochSecond() - Long.parseLong(timestamp)) > 300) {
            return false;
        }
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(Base64.getDecoder().decode(key.group(1)), "HmacSHA256"));
        mac.update((id + "." + timestamp + ".").getBytes(UTF_8));
        byte[] expected = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes(UTF_8);
        for (String signature : headers.getOrDefault("webhook-signature", "").split(" ")) {
            if (MessageDigest.isEqual(expected, signature.getBytes(UTF_8))) {
                return true;
            }
        }
        return false;
    }
}
